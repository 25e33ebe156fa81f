#ifndef KERNEL_H
#define KERNEL_H

#include <cubed/cubed.h>
#include <cubed/sys/block.h>

typedef struct limits {
    double low, high;
} limits;

/* Exported by kernel.so. A program that is linked with kernel.c can register the kernel by its address. */
CUBED_API extern const cubed_block_fn between;

#endif
