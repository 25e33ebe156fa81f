/* The rows of the superinstruction table: every inner operation with every outer one. */
#ifndef CB_KERNEL_SUPER_H
#define CB_KERNEL_SUPER_H

#include "kernel/kernel.h"

#define CB_SUPER_INNERS 6
#define CB_SUPER_OUTERS 12

extern const cb_super cb_super_rows[CB_SUPER_INNERS * CB_SUPER_OUTERS];

#endif
