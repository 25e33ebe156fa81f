/* A store over another store that completes requests from a separate thread: each some time after it was made, or all in any
 * order. It counts the requests. Tests can hold requests or make them fail. */
#ifndef CB_TEST_LATER_STORE_H
#define CB_TEST_LATER_STORE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/core/store.h"

enum { LATER_PAGE = 3 };

typedef enum later_kind { LATER_NONE, LATER_ANY, LATER_GETS, LATER_CHUNKS } later_kind;

typedef struct later_handle {
    cubed_store head;
    struct later_store *s;
} later_handle;

typedef struct later_store {
    later_handle own;
    cubed_store_vtable
        vt; /* pointer of the registered scheme: this struct, for all stores of the scheme */
    cubed_store *inner;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    cubed_store_request *waiting; /* sorted by time; the first is the next to complete */
    int64_t delay_ns;
    unsigned seed; /* not 0: complete in random order, immediately; listings have pages */
    bool closing;
    later_kind held;     /* complete only when they are cancelled */
    int in_flight, most; /* maximum number of chunk reads at one time */
    int gets, ranges;    /* reads of chunks; of these, reads of parts of objects */
    int requests[5];     /* number of requests by operation */
    int submitted;       /* of all */
    int cancelled;
    /* Of the next requests of a kind: number of the first that fails, from 0, and how many fail; milliseconds after which they
     * may be retried (0: the failure is permanent). */
    later_kind failing;
    int fail, failures;
    uint32_t retry_after_ms;
} later_store;

static inline bool later_is(later_kind kind, const cubed_store_request *r)
{
    const bool get = r->op == CUBED_STORE_GET;
    switch (kind) {
    case LATER_NONE: return false;
    case LATER_ANY: return true;
    case LATER_GETS: return get;
    default: return get && (strstr(r->key, "/c/") || strncmp(r->key, "c/", 2) == 0);
    }
}

/* --- Listings in pages -------------------------------------------------------------------------------- */

typedef struct later_page {
    const cubed_store_request *r;
    char last[256];
    int told;
    bool more;
} later_page;

static inline cubed_status later_tell(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    later_page *p = ctx;
    if (p->r->page && strcmp(e->key, p->r->page) <= 0) return CUBED_OK;
    p->more = p->told == LATER_PAGE;
    if (p->more) return CUBED_OK;
    p->told++;
    snprintf(p->last, sizeof p->last, "%s", e->key);
    return p->r->entry(p->r->entry_ctx, e, err);
}

/* Keys of the store in memory are sorted: a page ends after the last reported key. */
static inline void later_list(later_store *s, cubed_store_request *r)
{
    later_page p = {.r = r};
    cubed_store_request all = {.op = CUBED_STORE_LIST,
                               .key = r->key,
                               .delimiter = r->delimiter,
                               .entry = later_tell,
                               .entry_ctx = &p};
    r->status = cb_store_do(s->inner, &all, r->err);
    if (r->next_page && p.more) snprintf(r->next_page, CUBED_STORE_PAGE_CAP, "%s", p.last);
}

/* --- Requests ----------------------------------------------------------------------------------------- */

static inline void later_complete(later_store *s, cubed_store_request *r, cubed_status st)
{
    if (st == CUBED_OK && (r->op != CUBED_STORE_LIST || !s->seed)) {
        s->inner->vt->submit(s->inner, &r, 1);
        return;
    }
    if (st == CUBED_OK)
        later_list(s, r);
    else
        r->status = cb_fail(r->err, st,
                            st == CUBED_E_IO ? "the network is gone" : "the request was cancelled");
    if (r->err && st == CUBED_E_IO) {
        r->err->transient = s->retry_after_ms > 0;
        r->err->retry_after_ms = s->retry_after_ms;
    }
    r->complete(r);
}

/* The time when a request completes is stored in the field that the store may use. */
static inline int64_t later_due(const cubed_store_request *r) { return (intptr_t)r->store_data; }

static inline cubed_store_request *later_take(later_store *s, cubed_store_request **at)
{
    cubed_store_request *r = *at;
    *at = r->next;
    s->in_flight -= later_is(LATER_CHUNKS, r);
    return r;
}

static inline void *later_run(void *ctx)
{
    later_store *s = ctx;
    pthread_mutex_lock(&s->lock);
    while (!s->closing || s->waiting) {
        cubed_store_request **at = &s->waiting;
        cubed_status st = s->closing ? CUBED_E_CANCELLED : CUBED_OK;
        while (*at && !s->closing && later_is(s->held, *at)) at = &(*at)->next;
        if (!*at) {
            pthread_cond_wait(&s->came, &s->lock);
            continue;
        }
        const int64_t due = later_due(*at);
        if (cb_clock_ns() < due && !s->closing) {
            const struct timespec until = {due / 1000000000, due % 1000000000};
            pthread_cond_timedwait(&s->came, &s->lock, &until);
            continue;
        }
        cubed_store_request *r = later_take(s, at);
        if (st == CUBED_OK && s->failures > 0 && later_is(s->failing, r) && s->fail-- <= 0) {
            s->failures--;
            st = CUBED_E_IO;
        }
        pthread_mutex_unlock(&s->lock);
        later_complete(s, r, st);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static inline void later_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    later_store *s = ((later_handle *)store)->s;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i], **at = &s->waiting;
        const bool chunk = later_is(LATER_CHUNKS, r);
        const int64_t due = s->seed ? rand_r(&s->seed) : cb_clock_ns() + s->delay_ns;
        r->store_data = (void *)(intptr_t)due;
        while (*at && later_due(*at) <= due) at = &(*at)->next;
        r->next = *at;
        *at = r;
        s->gets += chunk;
        s->ranges += chunk && r->nranges > 0;
        s->in_flight += chunk;
        s->requests[r->op]++;
        if (s->in_flight > s->most) s->most = s->in_flight;
    }
    s->submitted += (int)n;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
}

static inline void later_cancel(cubed_store *store, cubed_store_request *request)
{
    later_store *s = ((later_handle *)store)->s;
    pthread_mutex_lock(&s->lock);
    cubed_store_request **at = &s->waiting;
    while (*at && *at != request) at = &(*at)->next;
    const bool found = *at != NULL;
    if (found) (void)later_take(s, at);
    s->cancelled += found;
    pthread_mutex_unlock(&s->lock);
    if (found) later_complete(s, request, CUBED_E_CANCELLED);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

/* Requests in flight are cancelled. The inner store is closed, too. */
static inline void later_free(later_store *s)
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

static inline void later_close(cubed_store *store)
{
    later_handle *h = (later_handle *)store;
    if (h == &h->s->own)
        later_free(h->s);
    else
        free(h);
}

static inline cubed_status later_open(const cubed_store_vtable *vt,
                                      const cubed_store_open_args *args, cubed_store **out,
                                      cubed_error *err)
{
    later_handle *h = calloc(1, sizeof *h);
    if (!h) return cb_fail(err, CUBED_E_NOMEM, "no memory");
    *h = (later_handle){{.vt = vt, .alloc = args->alloc, .url = "later://test"}, vt->ctx};
    *out = &h->head;
    return CUBED_OK;
}

/* Opens the store over a new store in memory. */
static inline later_store *later_new(const char *scheme)
{
    pthread_condattr_t by_clock;
    later_store *s = calloc(1, sizeof *s);
    if (!s || pthread_condattr_init(&by_clock) ||
        pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC) ||
        pthread_mutex_init(&s->lock, NULL) || pthread_cond_init(&s->came, &by_clock) ||
        cb_store_open_memory(&cb_system_allocator, scheme, &s->inner, NULL) != CUBED_OK)
        abort();
    pthread_condattr_destroy(&by_clock);
    s->vt = (cubed_store_vtable){.struct_size = sizeof s->vt,
                                 .version = CUBED_STORE_VERSION,
                                 .scheme = scheme,
                                 .ctx = s,
                                 .open = later_open,
                                 .close = later_close,
                                 .submit = later_submit,
                                 .cancel = later_cancel};
    s->own = (later_handle){{&s->vt, &cb_system_allocator, "later://test"}, s};
    if (pthread_create(&s->thread, NULL, later_run, s)) abort();
    return s;
}

/* --- Settings for tests ------------------------------------------------------------------------------- */

static inline void later_reset(later_store *s, int64_t delay_ns)
{
    pthread_mutex_lock(&s->lock);
    s->delay_ns = delay_ns;
    s->most = s->gets = s->ranges = s->cancelled = s->failures = s->submitted = 0;
    memset(s->requests, 0, sizeof s->requests);
    pthread_mutex_unlock(&s->lock);
}

static inline void later_hold(later_store *s, later_kind held)
{
    pthread_mutex_lock(&s->lock);
    s->held = held;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
}

/* Makes `many` requests of a kind fail, from request number `which` on, counted from now. */
static inline void later_fail(later_store *s, later_kind kind, int which, int failures,
                              uint32_t retry_after_ms)
{
    pthread_mutex_lock(&s->lock);
    s->failing = kind;
    s->fail = which;
    s->failures = failures;
    s->retry_after_ms = retry_after_ms;
    pthread_mutex_unlock(&s->lock);
}

#endif
