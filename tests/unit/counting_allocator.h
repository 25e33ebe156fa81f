/* An allocator that counts the bytes that are allocated. */
#ifndef CB_TESTS_COUNTING_ALLOCATOR_H
#define CB_TESTS_COUNTING_ALLOCATOR_H

#include "base/alloc.h"

/* Thread-safe. */
typedef struct counting {
    int64_t now, most;
} counting;

static inline void count_bytes(counting *c, int64_t change)
{
    int64_t now = __atomic_add_fetch(&c->now, change, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&c->most, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&c->most, &most, now, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

static inline void *counting_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *p = cb_system_allocator.resize(NULL, ptr, old_size, new_size);
    if (p) count_bytes(ctx, (int64_t)new_size - (int64_t)(ptr ? old_size : 0));
    return p;
}

static inline void counting_free(void *ctx, void *ptr, size_t size)
{
    cb_system_allocator.free(NULL, ptr, size);
    if (ptr) count_bytes(ctx, -(int64_t)size);
}

/* The allocator refers to *c. */
static inline cubed_allocator counting_allocator(counting *c)
{
    return (cubed_allocator){c, counting_resize, counting_free};
}

#endif
