#define _GNU_SOURCE
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

typedef struct pool_thread {
    pthread_t id;
    cb_pool_fn fn;
    void *ctx;
    unsigned index;
} pool_thread;

struct cb_pool {
    const cubed_allocator *alloc;
    size_t size;
    unsigned n;
    pool_thread threads[];
};

static void *thread_main(void *arg)
{
    pool_thread *t = arg;
    t->fn(t->ctx, t->index);
    return NULL;
}

/* Workers inherit the mask of the thread that starts them: signals stay with the caller's. */
static int start_blocked(pool_thread *t, const pthread_attr_t *attr)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* cannot fail with these arguments */
    int rc = pthread_create(&t->id, attr, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

cubed_status cb_pool_start(const cubed_allocator *a, unsigned n, size_t stack_size, cb_pool_fn fn,
                           void (*stop)(void *ctx), void *ctx, cb_pool **out, cubed_error *err)
{
    size_t size;
    if (n == 0 || cb_mul_size(n, sizeof(pool_thread), &size) ||
        cb_add_size(size, sizeof(cb_pool), &size))
        return cb_fail(err, CUBED_E_ARG, "cannot start %u threads", n);
    cb_pool *pool = cb_alloc_zero(a, size);
    if (!pool) return cb_fail(err, CUBED_E_NOMEM, "no memory for %u threads", n);
    pool->alloc = a;
    pool->size = size;
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc == 0) {
        rc = pthread_attr_setstacksize(&attr, stack_size ? stack_size : (size_t)256 << 10);
        while (rc == 0 && pool->n < n) {
            pool_thread *t = &pool->threads[pool->n];
            *t = (pool_thread){.fn = fn, .ctx = ctx, .index = pool->n};
            rc = start_blocked(t, &attr);
            if (rc == 0) pool->n++;
        }
        pthread_attr_destroy(&attr);
    }
    if (rc != 0) {
        unsigned started = pool->n;
        if (stop) stop(ctx);
        cb_pool_join(pool);
        return cb_fail_errno(err, rc, "cannot start thread %u of %u", started + 1, n);
    }
    *out = pool;
    return CUBED_OK;
}

void cb_pool_join(cb_pool *pool)
{
    if (!pool) return;
    for (unsigned i = 0; i < pool->n; i++) pthread_join(pool->threads[i].id, NULL);
    cb_free(pool->alloc, pool, pool->size);
}

unsigned cb_cpu_count(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}
