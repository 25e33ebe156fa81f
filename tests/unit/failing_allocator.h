/* An allocator of which one allocation fails. */
#ifndef CB_TESTS_FAILING_ALLOCATOR_H
#define CB_TESTS_FAILING_ALLOCATOR_H

#include "base/alloc.h"

/* Allocation number `at` fails, from 1 up; `calls` counts them. Threads may share it. */
typedef struct failing {
    long at, calls;
} failing;

static inline void *failing_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    failing *f = ctx;
    if (__atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED) == f->at) return NULL;
    return cb_system_allocator.resize(NULL, ptr, old_size, new_size);
}

static inline void failing_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    cb_system_allocator.free(NULL, ptr, size);
}

/* It refers to *f. */
static inline cubed_allocator failing_allocator(failing *f)
{
    return (cubed_allocator){f, failing_resize, failing_free};
}

#endif
