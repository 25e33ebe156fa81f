/* A pool of threads that run one function each. */
#ifndef CB_BASE_POOL_H
#define CB_BASE_POOL_H

#include "cubed/base.h"

typedef struct cb_pool cb_pool;
/* Runs in each of the n threads once; index 0..n-1. */
typedef void (*cb_pool_fn)(void *ctx, unsigned index);

/* Starts n >= 1 threads with signals blocked and the stack of a main thread: what the system limits that
 * to, or 8 MiB where it is not limited, or to less. Only pages that are touched take memory, one by one
 * also where the system prefers huge ones. If a thread cannot be
 * started those that run are told nothing: `stop(ctx)` (may be NULL) is called, then they are
 * joined, and CUBED_E_NOMEM or CUBED_E_IO is returned. */
CUBED_MUST_CHECK cubed_status cb_pool_start(const cubed_allocator *a, unsigned n, cb_pool_fn fn,
                                            void (*stop)(void *ctx), void *ctx, cb_pool **out,
                                            cubed_error *err);
/* Waits for all of them to return, and frees the pool. */
void cb_pool_join(cb_pool *pool);

/* Calls fn(ctx, i) for each i from 0 to n-1, in up to `threads` threads, of which the caller's is one. After a failure
 * nothing more is begun; that of the least i is returned. */
typedef cubed_status (*cb_pool_each_fn)(void *ctx, size_t i, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_pool_each(const cubed_allocator *a, size_t n, unsigned threads,
                                           cb_pool_each_fn fn, void *ctx, cubed_error *err);

/* Cores that this process may run on, at least 1. */
unsigned cb_cpu_count(void);

#endif
