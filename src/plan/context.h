/* The context: see cubed/context.h. Immutable after it is made but for its reference count. */
#ifndef CB_PLAN_CONTEXT_H
#define CB_PLAN_CONTEXT_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "cubed/context.h"
#include "kernel/kernel.h"

struct cubed_context {
    atomic_int refs;
    cubed_allocator alloc;
    cb_kernels kernels;
};

#endif
