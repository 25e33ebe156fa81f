/* An allocator in which one allocation fails. */
#ifndef CB_TESTS_FAILING_ALLOCATOR_H
#define CB_TESTS_FAILING_ALLOCATOR_H

#include "base/alloc.h"

/* Allocation number `at` fails, from 1 on. `calls` counts allocations, and `live` the bytes that are not freed, by the sizes
 * that the caller states. Thread-safe. */
typedef struct failing {
    long at, calls;
    size_t live;
} failing;

/* Whether this thread is in the function below, which calls the C library's allocator. */
static _Thread_local bool failing_is_resizing;

static inline void *failing_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    failing *f = ctx;
    if (__atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED) == f->at) return NULL;
    failing_is_resizing = true;
    void *p = cb_system_allocator.resize(NULL, ptr, old_size, new_size);
    failing_is_resizing = false;
    if (p) __atomic_add_fetch(&f->live, new_size - (ptr ? old_size : 0), __ATOMIC_RELAXED);
    return p;
}

static inline void failing_free(void *ctx, void *ptr, size_t size)
{
    failing *f = ctx;
    if (ptr) __atomic_sub_fetch(&f->live, size, __ATOMIC_RELAXED);
    cb_system_allocator.free(NULL, ptr, size);
}

/* The allocator refers to *f. */
static inline cubed_allocator failing_allocator(failing *f)
{
    return (cubed_allocator){f, failing_resize, failing_free};
}

#endif
