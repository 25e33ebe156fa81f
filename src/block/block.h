/* Built-in block functions (cubed/sys/block.h): one file per subject, one row each in block.c. */
#ifndef CB_BLOCK_BLOCK_H
#define CB_BLOCK_BLOCK_H

#include "cubed/sys/block.h"

/* Returns NULL if there is no function with this name. */
const cubed_block_fn *cb_block_fn(const char *name);

#endif
