#include "chunks/fetch.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "mem/arena.h"
#include "mem/pages.h"

/* Interval at which a waiting reader checks for cancellation. */
#define LOOK_NS 20000000L

typedef enum state { UNUSED, COMING, THERE } state;

typedef struct part {
    int64_t number;
    /* position and size, within the request, of the bytes that the reader needs; 0 and SIZE_MAX: the whole object */
    size_t at, size;
    bool taken;
} part;

struct cb_fetch {
    cb_fetcher *fetcher;
    state state;
    const void *owner;
    int64_t task;
    /* taken: bytes of the buffer including this struct; cap: maximum size of the object */
    size_t taken, cap;
    unsigned users; /* number of threads that wait for the buffer, use it or cancel it */
    unsigned left;  /* number of parts that a reader uses or may still take */
    unsigned nparts;
    int node;
    cb_cache_kind kind;
    cubed_store *store;
    cubed_range range;
    cubed_object_version version;
    cubed_store_request request;
    cubed_error err;
    part parts[CB_FETCH_PARTS];
    char path[4096];
};

_Static_assert(sizeof(cb_fetch) <= CB_FETCH_HEADER && CB_FETCH_HEADER % CB_ARENA_ALIGN == 0,
               "CB_FETCH_HEADER");

struct cb_fetcher {
    const cubed_allocator *alloc;
    cb_mutex lock;
    cb_cond came;
    cb_budget used;
    unsigned n CB_GUARDED_BY(&lock), cap;
    cb_fetch **all CB_GUARDED_BY(&lock);
};

/* Takes no lock: the pool is not yet shared with other threads. */
cb_fetcher *cb_fetcher_new(const cubed_allocator *a, unsigned buffers,
                           size_t limit) CB_UNCHECKED_LOCKS
{
    cb_fetcher *f = cb_alloc_zero(a, sizeof *f);
    if (!f) return NULL;
    f->alloc = a;
    f->cap = buffers;
    f->all = cb_alloc_zero(a, buffers * sizeof(cb_fetch *));
    if (!f->all) {
        cb_free(a, f, sizeof *f);
        return NULL;
    }
    cb_budget_init(&f->used, limit);
    cb_mutex_init(&f->lock);
    cb_cond_init(&f->came);
    return f;
}

const cb_budget *cb_fetcher_used(const cb_fetcher *f) { return &f->used; }

static void *data_of(cb_fetch *x) { return (char *)x + CB_FETCH_HEADER; }

static void drop_buffer(cb_fetcher *f, unsigned i) CB_REQUIRES(&f->lock)
{
    cb_fetch *x = f->all[i];
    const size_t taken = x->taken;
    f->all[i] = f->all[--f->n];
    cb_pages_unmap(x, taken);
    cb_budget_give(&f->used, taken);
}

/* Marks a buffer without users as unused. */
static void mark_unused(cb_fetch *x)
{
    if (x->state == THERE && x->left == 0 && x->users == 0) x->state = UNUSED;
}

static void give_up(cb_fetch *x)
{
    for (unsigned k = 0; k < x->nparts; k++) {
        if (!x->parts[k].taken) x->left--;
        x->parts[k].taken = true;
    }
    mark_unused(x);
}

/* Cancels a dropped request. Releases the lock during the call into the store. */
static void cancel(cb_fetcher *f, cb_fetch *x) CB_REQUIRES(&f->lock)
{
    x->users++;
    cb_mutex_unlock(&f->lock);
    cb_store_cancel(x->store, &x->request);
    cb_mutex_lock(&f->lock);
    x->users--;
    mark_unused(x);
}

static cb_fetch *find_owned(const cb_fetcher *f, const void *owner, int64_t task)
    CB_REQUIRES(&f->lock)
{
    for (unsigned i = 0; i < f->n; i++) {
        cb_fetch *x = f->all[i];
        if (x->state != UNUSED && x->owner == owner && x->task < task) return x;
    }
    return NULL;
}

void cb_fetch_drop(cb_fetcher *f, const void *owner, int64_t task)
{
    cb_fetch *x;
    cb_mutex_lock(&f->lock);
    while ((x = find_owned(f, owner, task)) != NULL) {
        x->owner = NULL;
        give_up(x);
        if (x->state == COMING && x->left == 0) cancel(f, x);
    }
    cb_mutex_unlock(&f->lock);
}

void cb_fetcher_free(cb_fetcher *f)
{
    if (!f) return;
    cb_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->n; i++) {
        if (f->all[i]->state == UNUSED) continue;
        give_up(f->all[i]);
        if (f->all[i]->state == COMING) cancel(f, f->all[i]);
    }
    for (unsigned i = 0; i < f->n; i++) {
        while (f->all[i]->state == COMING) cb_cond_wait(&f->came, &f->lock);
    }
    while (f->n > 0) drop_buffer(f, 0);
    cb_free(f->alloc, f->all, f->cap * sizeof(cb_fetch *));
    cb_mutex_unlock(&f->lock);
    cb_cond_destroy(&f->came);
    cb_mutex_destroy(&f->lock);
    cb_free(f->alloc, f, sizeof *f);
}

/* --- Requesting -------------------------------------------------------------------------------------------- */

static bool is_of(const cb_fetch *x, cb_cache_key key)
{
    return x->state != UNUSED && x->node == key.node && x->kind == key.kind;
}

/* Returns the part for `key` that no reader has taken. */
static part *find_part(cb_fetch *x, cb_cache_key key)
{
    for (unsigned k = 0; is_of(x, key) && k < x->nparts; k++) {
        if (x->parts[k].number == key.number && !x->parts[k].taken) return &x->parts[k];
    }
    return NULL;
}

static cb_fetch *find(const cb_fetcher *f, cb_cache_key key, part **out) CB_REQUIRES(&f->lock)
{
    for (unsigned i = 0; i < f->n; i++) {
        *out = find_part(f->all[i], key);
        if (*out) return f->all[i];
    }
    return NULL;
}

/* Finds an unused buffer of the same size, or allocates one. If the limit is reached, frees other unused buffers first. */
static cb_fetch *find_buffer(cb_fetcher *f, size_t cap) CB_REQUIRES(&f->lock)
{
    const size_t taken = cb_pages_round(cb_sat_add(CB_FETCH_HEADER, cap));
    for (unsigned i = 0; i < f->n; i++) {
        if (f->all[i]->state == UNUSED && f->all[i]->taken == taken) return f->all[i];
    }
    while (f->n == f->cap || !cb_budget_take(&f->used, taken)) {
        unsigned i = 0;
        while (i < f->n && f->all[i]->state != UNUSED) i++;
        if (i == f->n || taken > f->used.limit) return NULL;
        drop_buffer(f, i);
    }
    cb_fetch *x = cb_pages_map(taken);
    if (!x) {
        cb_budget_give(&f->used, taken);
        return NULL;
    }
    x->fetcher = f;
    x->taken = taken;
    x->cap = taken - CB_FETCH_HEADER;
    f->all[f->n++] = x;
    return x;
}

static bool may_have_more(const cb_fetcher *f, const cb_fetch_batch *b, const cubed_store *s)
    CB_REQUIRES(&f->lock)
{
    const uint32_t most = s->vt->max_in_flight ? s->vt->max_in_flight : CUBED_STORE_IN_FLIGHT;
    unsigned owned = 0, coming = 0;
    for (unsigned i = 0; i < f->n; i++) {
        const cb_fetch *x = f->all[i];
        owned += x->state != UNUSED && x->owner == b->owner;
        coming += x->state == COMING && x->store->vt == s->vt;
    }
    return owned < b->most && coming < most && b->n < CB_FETCH_BATCH;
}

static void came(cubed_store_request *r)
{
    cb_fetch *x = r->data;
    cb_fetcher *f = x->fetcher;
    /* CUBED_E_EXISTS means that the object no longer has the requested version */
    if (r->status == CUBED_E_EXISTS)
        r->status = cb_fail(&x->err, CUBED_E_FORMAT, "%s of %s was replaced while it was read",
                            x->path, x->store->url);
    cb_mutex_lock(&f->lock);
    x->state = THERE;
    mark_unused(x);
    cb_cond_broadcast(&f->came);
    cb_mutex_unlock(&f->lock);
}

static void prepare(cb_fetch *x, const cb_fetch_batch *b, const cb_fetch_what *w)
{
    x->state = COMING;
    x->owner = b->owner;
    x->task = b->task;
    x->users = 0;
    x->node = w->key.node;
    x->kind = w->key.kind;
    x->store = w->store;
    x->range = w->range;
    x->version = w->version ? *w->version : (cubed_object_version){""};
    x->nparts = x->left = 1;
    x->parts[0] = (part){w->key.number, 0, w->range.size, false};
    x->err = (cubed_error)CUBED_ERROR_INIT;
    snprintf(x->path, sizeof x->path, "%s", w->path);
    x->request = (cubed_store_request){.op = CUBED_STORE_GET,
                                       .key = x->path,
                                       .if_match = *x->version.text ? x->version.text : NULL,
                                       .ranges = w->range.size ? &x->range : NULL,
                                       .nranges = w->range.size > 0,
                                       .dst = data_of(x),
                                       .cap = w->range.size ? w->range.size : w->cap,
                                       .err = &x->err,
                                       .complete = came,
                                       .data = x};
}

/* Adds a range to the previous request if it begins close enough to the end of that request. */
static bool join(cb_fetch *x, const cb_fetch_batch *b, const cb_fetch_what *w)
{
    const uint64_t gap = w->store->vt->gap ? w->store->vt->gap : CUBED_STORE_GAP;
    const uint64_t end = x->range.offset + x->range.size;
    if (w->range.size == 0 || x->range.size == 0 || !is_of(x, w->key) || x->store != w->store ||
        w->key.kind != CB_CACHE_CHUNK || x->nparts == CB_FETCH_PARTS || w->range.offset < end ||
        w->range.offset - end > gap)
        return false;
    const uint64_t at = w->range.offset - x->range.offset;
    if (at + w->range.size > x->cap || !w->version ||
        strcmp(x->version.text, w->version->text) != 0 || strcmp(x->path, w->path) != 0)
        return false;
    x->parts[x->nparts++] = (part){w->key.number, (size_t)at, w->range.size, false};
    x->left++;
    x->task = b->task;
    x->range.size = x->request.cap = (size_t)at + w->range.size;
    return true;
}

static bool is_cached(cb_cache *c, cb_cache_key key)
{
    cb_cache_entry *e;
    const cb_cache_found found = c ? cb_cache_look(c, key, &e) : CB_CACHE_FULL;
    if (found == CB_CACHE_HIT) cb_cache_unpin(c, e);
    return found != CB_CACHE_FULL;
}

/* Requests a chunk, unless it is in the cache or being loaded into it. A thread that loads a chunk into the cache creates the
 * cache entry before it looks for the chunk in this pool. So a chunk that is cached is never requested twice. */
static cb_fetch_answer ask(cb_fetcher *f, cb_fetch_batch *b, const cb_fetch_what *w)
    CB_REQUIRES(&f->lock)
{
    part *other;
    cb_fetch *x;
    if (w->cached && (find(f, w->key, &other) || is_cached(b->cache, w->key)))
        return CB_FETCH_NEEDLESS;
    if (b->n > 0 && join(b->asked[b->n - 1], b, w)) return CB_FETCH_ASKED;
    if (!may_have_more(f, b, w->store)) return CB_FETCH_LATER;
    x = find_buffer(f, w->cap);
    if (!x) return CB_FETCH_LATER;
    prepare(x, b, w);
    b->asked[b->n++] = x;
    return CB_FETCH_ASKED;
}

cb_fetch_answer cb_fetch_ask(cb_fetcher *f, cb_fetch_batch *b, const cb_fetch_what *what)
{
    cb_mutex_lock(&f->lock);
    const cb_fetch_answer answer = ask(f, b, what);
    cb_mutex_unlock(&f->lock);
    return answer;
}

void cb_fetch_submit(cb_fetch_batch *b)
{
    cubed_store_request *requests[CB_FETCH_BATCH];
    for (unsigned i = 0, n; i < b->n; i += n) {
        for (n = 0; i + n < b->n && b->asked[i + n]->store == b->asked[i]->store; n++)
            requests[n] = &b->asked[i + n]->request;
        cb_store_begin(b->asked[i]->store, requests, n);
    }
    b->n = 0;
}

/* --- Taking ------------------------------------------------------------------------------------------------ */

static void show(cb_fetch *x, const part *p, cb_zarr_fetched *out)
{
    const size_t got = x->request.got > p->at ? x->request.got - p->at : 0;
    *out = (cb_zarr_fetched){.status = x->request.status,
                             .err = &x->err,
                             .data = (const char *)data_of(x) + p->at,
                             .size = p->size && p->size < got ? p->size : got,
                             .info = x->request.info};
}

/* Waits until the object arrives. Returns false if `cancel` is set. */
static bool wait_for(cb_fetcher *f, const cb_fetch *x, const cubed_cancel *cancel)
    CB_REQUIRES(&f->lock)
{
    while (x->state == COMING) {
        if (cancel && cubed_cancel_is_set(cancel)) return false;
        if (cancel)
            (void)cb_cond_wait_until(&f->came, &f->lock, cb_clock_ns() + LOOK_NS);
        else
            cb_cond_wait(&f->came, &f->lock);
    }
    return true;
}

static const cubed_error interrupted = {.status = CUBED_E_CANCELLED, .message = "interrupted"};

cb_fetch *cb_fetch_take(cb_fetcher *f, cb_cache_key key, const cubed_cancel *cancel,
                        cb_zarr_fetched *out)
{
    part *p;
    cb_mutex_lock(&f->lock);
    cb_fetch *x = find(f, key, &p);
    if (x) {
        p->taken = true;
        x->users++;
        if (wait_for(f, x, cancel))
            show(x, p, out);
        else
            *out = (cb_zarr_fetched){.status = CUBED_E_CANCELLED, .err = &interrupted};
    }
    cb_mutex_unlock(&f->lock);
    return x;
}

cb_fetch *cb_fetch_try(cb_fetcher *f, cb_cache_key key, cb_zarr_fetched *out)
{
    part *p;
    cb_mutex_lock(&f->lock);
    cb_fetch *x = find(f, key, &p);
    if (x && x->state == COMING) x = NULL;
    if (x) {
        p->taken = true;
        x->users++;
        show(x, p, out);
    }
    cb_mutex_unlock(&f->lock);
    return x;
}

void *cb_fetch_room(cb_fetch *x, size_t behind)
{
    return (char *)data_of(x) + cb_arena_round(behind);
}

void cb_fetch_done(cb_fetcher *f, cb_fetch *x)
{
    cb_mutex_lock(&f->lock);
    x->users--;
    x->left--;
    mark_unused(x);
    cb_mutex_unlock(&f->lock);
}
