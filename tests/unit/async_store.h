/* A store that completes requests in any order, from a thread of its own, over another one. */
#ifndef CB_TEST_ASYNC_STORE_H
#define CB_TEST_ASYNC_STORE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/store.h"

enum { ASYNC_PAGE = 3 };

typedef struct async_store {
    cubed_store head;
    cubed_store *inner;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    cubed_store_request *waiting;
    unsigned seed;
    bool held, closing; /* held: nothing is completed but what is cancelled */
    bool gets_only;     /* what fails */
    int submitted, fail_next, requests[5];
    uint32_t retry_after_ms; /* of those that fail; 0: for good */
} async_store;

typedef struct async_page {
    const cubed_store_request *r;
    char last[256];
    int told;
    bool more;
} async_page;

static inline cubed_status async_tell(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    async_page *p = ctx;
    if (p->r->page && strcmp(e->key, p->r->page) <= 0) return CUBED_OK;
    p->more = p->told == ASYNC_PAGE;
    if (p->more) return CUBED_OK;
    p->told++;
    snprintf(p->last, sizeof p->last, "%s", e->key);
    return p->r->entry(p->r->entry_ctx, e, err);
}

/* Keys of the store in memory are in order: a page ends with the last one that was told. */
static inline void async_list(async_store *s, cubed_store_request *r)
{
    async_page p = {.r = r};
    cubed_store_request all = {.op = CUBED_STORE_LIST,
                               .key = r->key,
                               .delimiter = r->delimiter,
                               .entry = async_tell,
                               .entry_ctx = &p};
    r->status = cb_store_do(s->inner, &all, r->err);
    if (r->next_page && p.more) snprintf(r->next_page, CUBED_STORE_PAGE_CAP, "%s", p.last);
}

static inline void async_serve(async_store *s, cubed_store_request *r, bool fails)
{
    if (fails) {
        r->status = cb_fail(r->err, CUBED_E_IO, "the network is gone");
        if (r->err) {
            r->err->transient = s->retry_after_ms > 0;
            r->err->retry_after_ms = s->retry_after_ms;
        }
        r->complete(r);
    } else if (r->op == CUBED_STORE_LIST) {
        async_list(s, r);
        r->complete(r);
    } else {
        s->inner->vt->submit(s->inner, &r, 1);
    }
}

static inline void *async_run(void *ctx)
{
    async_store *s = ctx;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->closing && (s->held || !s->waiting)) pthread_cond_wait(&s->came, &s->lock);
        if (!s->waiting && s->closing) break;
        cubed_store_request **at = &s->waiting;
        size_t n = 0;
        for (cubed_store_request *r = s->waiting; r; r = r->next) n++;
        for (size_t k = (size_t)rand_r(&s->seed) % n; k > 0; k--) at = &(*at)->next;
        cubed_store_request *r = *at;
        *at = r->next;
        const bool cancelled = s->closing, fails = !cancelled && s->fail_next > 0 &&
                                                   (!s->gets_only || r->op == CUBED_STORE_GET);
        s->fail_next -= fails;
        pthread_mutex_unlock(&s->lock);
        if (cancelled) {
            r->status = cb_fail(r->err, CUBED_E_CANCELLED, "the store was closed");
            r->complete(r);
        } else {
            async_serve(s, r, fails);
        }
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static inline void async_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    async_store *s = (async_store *)store;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        requests[i]->next = s->waiting;
        s->waiting = requests[i];
        s->requests[requests[i]->op]++;
    }
    s->submitted += (int)n;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
}

static inline void async_cancel(cubed_store *store, cubed_store_request *request)
{
    async_store *s = (async_store *)store;
    pthread_mutex_lock(&s->lock);
    cubed_store_request **at = &s->waiting;
    while (*at && *at != request) at = &(*at)->next;
    const bool found = *at != NULL;
    if (found) *at = request->next;
    pthread_mutex_unlock(&s->lock);
    if (!found) return;
    request->status = cb_fail(request->err, CUBED_E_CANCELLED, "the request was cancelled");
    request->complete(request);
}

/* The next `n` gets fail: for good, or so that they may be tried again after a while. */
static inline void async_fail_gets(async_store *s, int n, uint32_t retry_after_ms)
{
    pthread_mutex_lock(&s->lock);
    s->fail_next = n;
    s->retry_after_ms = retry_after_ms;
    s->gets_only = true;
    pthread_mutex_unlock(&s->lock);
}

static inline void async_hold(async_store *s, bool held)
{
    pthread_mutex_lock(&s->lock);
    s->held = held;
    pthread_cond_signal(&s->came);
    pthread_mutex_unlock(&s->lock);
}

static inline void async_close(cubed_store *store)
{
    async_store *s = (async_store *)store;
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

static const cubed_store_vtable async_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .scheme = "async",
    .close = async_close,
    .submit = async_submit,
    .cancel = async_cancel,
};

/* The inner store goes with it. */
static inline async_store *async_over(cubed_store *inner)
{
    async_store *s = calloc(1, sizeof *s);
    if (!s || pthread_mutex_init(&s->lock, NULL) || pthread_cond_init(&s->came, NULL)) abort();
    s->head = (cubed_store){&async_vtable, &cb_system_allocator, "async://test"};
    s->inner = inner;
    s->seed = 1;
    if (pthread_create(&s->thread, NULL, async_run, s)) abort();
    return s;
}

#endif
