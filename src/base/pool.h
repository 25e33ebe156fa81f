/* A pool of threads that each run one function. */
#ifndef CB_BASE_POOL_H
#define CB_BASE_POOL_H

#include "cubed/base.h"

typedef struct cb_pool cb_pool;
/* Called once by each of the n threads; index 0..n-1. */
typedef void (*cb_pool_fn)(void *ctx, unsigned index);

/* Starts n >= 1 threads with signals blocked. Each has a stack like a main thread: the system's limit, or 8 MiB if the limit is
 * lower or absent. Only pages that a thread touches use memory. They are small pages, even if the system prefers huge pages. If a
 * thread cannot be started, calls `stop(ctx)` (may be NULL), joins the running threads, and returns CUBED_E_NOMEM or
 * CUBED_E_IO. */
CUBED_MUST_CHECK cubed_status cb_pool_start(const cubed_allocator *a, unsigned n, cb_pool_fn fn,
                                            void (*stop)(void *ctx), void *ctx, cb_pool **out,
                                            cubed_error *err);
/* Waits for all threads to return and frees the pool. */
void cb_pool_join(cb_pool *pool);

/* Calls fn(ctx, i) for each i from 0 to n-1 in up to `threads` threads, including the caller's. After a failure no further
 * calls begin. Returns the error with the lowest i. */
typedef cubed_status (*cb_pool_each_fn)(void *ctx, size_t i, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_pool_each(const cubed_allocator *a, size_t n, unsigned threads,
                                           cb_pool_each_fn fn, void *ctx, cubed_error *err);

/* Returns the number of cores that this process may run on, at least 1. */
unsigned cb_cpu_count(void);

#endif
