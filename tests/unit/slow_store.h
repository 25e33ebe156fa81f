/* A store that completes each request from a thread of its own, some time after it was made: as many at once as are
 * asked for. It counts them. What it holds lies in another store. */
#ifndef CB_TEST_SLOW_STORE_H
#define CB_TEST_SLOW_STORE_H

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/store.h"

typedef struct slow_store {
    cubed_store_vtable vt; /* whose ctx is this: all stores of the scheme are one */
    cubed_store *inner;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    cubed_store_request *waiting; /* the first is due first */
    int64_t delay_ns;
    bool closing, held;  /* held: chunks are not completed but by being cancelled */
    int in_flight, most; /* chunks that are read, at one time */
    int gets, ranges;    /* of chunks; of those, parts of objects */
    int heads, lists, cancelled;
    /* Which of the next gets of chunks fails, from 0 on (-1: none), and how often; the time after which it may be
     * tried again (0: it fails for good). */
    int fail, failures;
    uint32_t retry_after_ms;
} slow_store;

typedef struct slow_handle {
    cubed_store head;
    slow_store *s;
} slow_handle;

static inline bool slow_is_chunk(const cubed_store_request *r)
{
    return r->op == CUBED_STORE_GET && (strstr(r->key, "/c/") || strncmp(r->key, "c/", 2) == 0);
}

static inline void slow_complete(slow_store *s, cubed_store_request *r, cubed_status st)
{
    if (st == CUBED_OK) {
        s->inner->vt->submit(s->inner, &r, 1);
        return;
    }
    r->status =
        cb_fail(r->err, st, st == CUBED_E_CANCELLED ? "it was cancelled" : "the line is cut");
    if (r->err && st == CUBED_E_IO) {
        r->err->transient = s->retry_after_ms > 0;
        r->err->retry_after_ms = s->retry_after_ms;
    }
    r->complete(r);
}

/* When a request is due is where the store may keep a pointer. */
static inline int64_t slow_due(const cubed_store_request *r) { return (intptr_t)r->store_data; }

static inline void *slow_run(void *ctx)
{
    slow_store *s = ctx;
    pthread_mutex_lock(&s->lock);
    while (!s->closing || s->waiting) {
        cubed_store_request *r = s->waiting;
        if (!r) {
            pthread_cond_wait(&s->came, &s->lock);
            continue;
        }
        const int64_t due = slow_due(r);
        if (cb_clock_ns() < due && !s->closing) {
            const struct timespec until = {due / 1000000000, due % 1000000000};
            pthread_cond_timedwait(&s->came, &s->lock, &until);
            continue;
        }
        const bool chunk = slow_is_chunk(r), fails = chunk && s->failures > 0 && s->fail-- <= 0;
        s->failures -= fails;
        s->in_flight -= chunk;
        s->waiting = r->next;
        pthread_mutex_unlock(&s->lock);
        slow_complete(s, r, fails ? CUBED_E_IO : CUBED_OK);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static inline void slow_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    slow_store *s = ((slow_handle *)store)->s;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i], **at = &s->waiting;
        const bool chunk = slow_is_chunk(r);
        r->store_data =
            (void *)(intptr_t)(cb_clock_ns() +
                               (chunk && s->held ? INT64_C(3600000000000) : s->delay_ns));
        while (*at && slow_due(*at) <= slow_due(r)) at = &(*at)->next;
        r->next = *at;
        *at = r;
        s->gets += chunk;
        s->ranges += chunk && r->nranges > 0;
        s->in_flight += chunk;
        s->heads += r->op == CUBED_STORE_HEAD;
        s->lists += r->op == CUBED_STORE_LIST;
        if (s->in_flight > s->most) s->most = s->in_flight;
    }
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
}

static inline void slow_cancel(cubed_store *store, cubed_store_request *request)
{
    slow_store *s = ((slow_handle *)store)->s;
    pthread_mutex_lock(&s->lock);
    cubed_store_request **at = &s->waiting;
    while (*at && *at != request) at = &(*at)->next;
    const bool found = *at != NULL;
    if (found) {
        *at = request->next;
        s->in_flight -= slow_is_chunk(request);
        s->cancelled++;
    }
    pthread_mutex_unlock(&s->lock);
    if (found) slow_complete(s, request, CUBED_E_CANCELLED);
}

static inline void slow_close(cubed_store *store) { free(store); }

static inline cubed_status slow_open(const cubed_store_vtable *vt,
                                     const cubed_store_open_args *args, cubed_store **out,
                                     cubed_error *err)
{
    slow_handle *h = calloc(1, sizeof *h);
    if (!h) return cb_fail(err, CUBED_E_NOMEM, "no memory");
    h->head = (cubed_store){.vt = vt, .alloc = args->alloc, .url = "slow://test"};
    h->s = vt->ctx;
    *out = &h->head;
    return CUBED_OK;
}

static inline slow_store *slow_new(uint32_t max_in_flight)
{
    pthread_condattr_t by_clock;
    slow_store *s = calloc(1, sizeof *s);
    if (!s || pthread_condattr_init(&by_clock) ||
        pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC) ||
        pthread_mutex_init(&s->lock, NULL) || pthread_cond_init(&s->came, &by_clock) ||
        cb_store_open_memory(&cb_system_allocator, "slow", &s->inner, NULL) != CUBED_OK)
        abort();
    pthread_condattr_destroy(&by_clock);
    s->vt = (cubed_store_vtable){.struct_size = sizeof s->vt,
                                 .version = CUBED_STORE_VERSION,
                                 .flags = CUBED_STORE_OF_PROCESS,
                                 .scheme = "slow",
                                 .ctx = s,
                                 .max_in_flight = max_in_flight,
                                 .open = slow_open,
                                 .close = slow_close,
                                 .submit = slow_submit,
                                 .cancel = slow_cancel};
    if (pthread_create(&s->thread, NULL, slow_run, s)) abort();
    return s;
}

static inline void slow_free(slow_store *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->came);
    cb_store_close(s->inner);
    free(s);
}

static inline void slow_reset(slow_store *s, int64_t delay_ns)
{
    pthread_mutex_lock(&s->lock);
    s->delay_ns = delay_ns;
    s->most = s->gets = s->ranges = s->heads = s->lists = s->cancelled = 0;
    s->fail = -1;
    s->failures = 0;
    pthread_mutex_unlock(&s->lock);
}

static inline void slow_hold_chunks(slow_store *s, bool held)
{
    pthread_mutex_lock(&s->lock);
    s->held = held;
    pthread_mutex_unlock(&s->lock);
}

/* Get number `which` of a chunk, counted from now on, fails. */
static inline void slow_fail(slow_store *s, int which, int failures, uint32_t retry_after_ms)
{
    pthread_mutex_lock(&s->lock);
    s->fail = which;
    s->failures = failures;
    s->retry_after_ms = retry_after_ms;
    pthread_mutex_unlock(&s->lock);
}

#endif
