#define _GNU_SOURCE
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"

#define LEAST_STACK ((size_t)8 << 20)

typedef struct pool_thread {
    pthread_t id;
    char *stack; /* memory of the stack, with a guard page below */
    cb_pool_fn fn;
    void *ctx;
    unsigned index;
} pool_thread;

struct cb_pool {
    const cubed_allocator *alloc;
    size_t size;
    size_t stack_size, guard;
    unsigned n;
    pool_thread threads[];
};

static void *thread_main(void *arg)
{
    pool_thread *t = arg;
    t->fn(t->ctx, t->index);
    return NULL;
}

/* Returns the stack size of a main thread, which user-defined functions and libraries expect. */
static size_t stack_size(size_t page)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur < LEAST_STACK || limit.rlim_cur > SIZE_MAX / 4)
        return LEAST_STACK;
    return (size_t)limit.rlim_cur / page * page;
}

/* Stacks of the C library are not used, because they may get huge pages before the thread can disable huge pages. */
static char *map_stack(const cb_pool *pool)
{
    size_t size = pool->guard + pool->stack_size;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return NULL;
    (void)madvise(stack, size, MADV_NOHUGEPAGE); /* fails on systems without huge pages */
    if (mprotect(stack, pool->guard, PROT_NONE) == 0) return stack;
    munmap(stack, size);
    return NULL;
}

static void unmap_stack(const cb_pool *pool, pool_thread *t)
{
    if (t->stack) munmap(t->stack, pool->guard + pool->stack_size);
    t->stack = NULL;
}

/* Starts a thread with signals blocked, so that the caller's threads handle them. A new thread inherits the signal mask of its
 * creator. */
static int start_thread(const cb_pool *pool, pool_thread *t, pthread_attr_t *attr)
{
    sigset_t all, old;
    t->stack = map_stack(pool);
    int rc =
        t->stack ? pthread_attr_setstack(attr, t->stack + pool->guard, pool->stack_size) : ENOMEM;
    if (rc == 0) {
        sigfillset(&all);
        /* Do not block SIGBUS: a thread's access to memory may raise it, and a handler may exist. */
        sigdelset(&all, SIGBUS);
        pthread_sigmask(SIG_SETMASK, &all, &old); /* cannot fail with these arguments */
        rc = pthread_create(&t->id, attr, thread_main, t);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (rc != 0) unmap_stack(pool, t);
    return rc;
}

cubed_status cb_pool_start(const cubed_allocator *a, unsigned n, cb_pool_fn fn,
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
    pool->guard = (size_t)sysconf(_SC_PAGESIZE);
    pool->stack_size = stack_size(pool->guard);
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc == 0) {
        while (rc == 0 && pool->n < n) {
            pool_thread *t = &pool->threads[pool->n];
            *t = (pool_thread){.fn = fn, .ctx = ctx, .index = pool->n};
            rc = start_thread(pool, t, &attr);
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
    for (unsigned i = 0; i < pool->n; i++) {
        pthread_join(pool->threads[i].id, NULL);
        unmap_stack(pool, &pool->threads[i]);
    }
    cb_free(pool->alloc, pool, pool->size);
}

typedef struct each {
    cb_pool_each_fn fn;
    void *ctx;
    size_t n;
    atomic_size_t next; /* next index to run; `n` or more: all indices are taken */
    cb_mutex lock;
    size_t failed CB_GUARDED_BY(&lock); /* lowest index that failed; `n` if none failed */
    cubed_error err CB_GUARDED_BY(&lock);
} each;

static void run_each(void *ctx, unsigned index)
{
    each *e = ctx;
    (void)index;
    for (size_t i; (i = atomic_fetch_add(&e->next, 1)) < e->n;) {
        cubed_error err = CUBED_ERROR_INIT;
        err.status = e->fn(e->ctx, i, &err);
        if (err.status == CUBED_OK) continue;
        atomic_store(&e->next, e->n);
        cb_mutex_lock(&e->lock);
        if (i < e->failed) {
            e->failed = i;
            e->err = err;
        }
        cb_mutex_unlock(&e->lock);
    }
}

/* Reads `failed` without the lock, after all threads have been joined. */
cubed_status cb_pool_each(const cubed_allocator *a, size_t n, unsigned threads, cb_pool_each_fn fn,
                          void *ctx, cubed_error *err) CB_UNCHECKED_LOCKS
{
    each e = {.fn = fn, .ctx = ctx, .n = n, .failed = n, .err = CUBED_ERROR_INIT};
    const unsigned others = n < threads ? (unsigned)n - (n > 0) : threads - (threads > 0);
    cb_pool *pool = NULL;
    cb_mutex_init(&e.lock);
    cubed_status st = others ? cb_pool_start(a, others, run_each, NULL, &e, &pool, err) : CUBED_OK;
    if (st == CUBED_OK) run_each(&e, 0);
    cb_pool_join(pool);
    cb_mutex_destroy(&e.lock);
    if (st != CUBED_OK || e.failed == n) return st;
    if (err) *err = e.err;
    return e.err.status;
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
