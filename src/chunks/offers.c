#include "chunks/offers.h"

#include "base/error.h"
#include "base/pool.h"
#include "chunks/state.h"

/* Minimum size of a chunk that is offered to other workers. A smaller chunk is decoded faster than another worker wakes up. */
#define LEAST_CHUNK ((size_t)256 << 10)
/* Limits of the search for chunks that a worker will need. */
#define STEPS_AHEAD  4
#define CHUNKS_AHEAD 256

bool cb_node_is_offered(const cubed_plan *p, int node)
{
    const cb_storage *s = p->storage[node];
    return s && s->array && cb_chunk_bytes(p, node) >= LEAST_CHUNK &&
           !cb_codec_chain_is_raw(&s->meta.codecs);
}

/* Returns the maximum number of workers that decode chunks for others: one per processor, or all if they wait for a store. */
static unsigned most_making(const cubed_plan *p, unsigned workers)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_is_offered(p, i) && cb_node_waits_for(p, i)) return workers;
    }
    return cb_cpu_count();
}

static void free_workers(const cubed_allocator *a, cb_offers *all, unsigned allocated)
{
    for (unsigned i = 0; i < all->n; i++) cb_cond_destroy(&all->workers[i].wake);
    cb_free(a, all->workers, allocated * sizeof *all->workers);
    cb_free(a, all->places, allocated * sizeof *all->places);
    *all = (cb_offers){.n = 0};
}

cubed_status cb_chunks_begin_offers(cb_chunks *c, unsigned workers, cb_mutex *lock,
                                    cubed_error *err)
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    cb_offers *all = &c->offers;
    *all = (cb_offers){.chunks = c, .lock = lock, .most = most_making(c->plan, workers)};
    all->workers = cb_alloc_zero(a, workers * sizeof *all->workers);
    all->places = cb_alloc_zero(a, workers * sizeof *all->places);
    bool ok = all->workers && all->places;
    for (; ok && all->n < workers; all->n += ok) {
        cb_helper *w = &all->workers[all->n];
        *w = (cb_helper){.offers = all, .place = &all->places[all->n], .node = -1};
        atomic_store(w->place, -1);
        for (int k = 0; k < CB_OFFERS_EACH; k++) w->held[k].by = w;
        ok = cb_cond_init(&w->wake);
    }
    if (ok) return CUBED_OK;
    free_workers(a, all, workers);
    return cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", workers);
}

void cb_chunks_end_offers(cb_chunks *c)
{
    free_workers(&c->plan->ctx->alloc, &c->offers, c->offers.n);
}

cb_helper *cb_chunks_helper(const cb_chunks *c, unsigned index)
{
    return c->offers.workers ? &c->offers.workers[index] : NULL;
}

/* --- Sleeping workers --------------------------------------------------------------------------------- */

static void unlink_worker(cb_helper *w)
{
    if (w->previous)
        w->previous->next = w->next;
    else
        *w->list = w->next;
    if (w->next) w->next->previous = w->previous;
    w->list = NULL;
}

static void link_worker(cb_helper *w, cb_helper **list)
{
    w->list = list;
    w->previous = NULL;
    w->next = *list;
    if (w->next) w->next->previous = w;
    *list = w;
}

static void make_ready(cb_helper *w)
{
    unlink_worker(w);
    link_worker(w, &w->offers->ready);
}

static void wake(cb_helper *w)
{
    unlink_worker(w);
    cb_cond_signal(&w->wake);
}

void cb_offers_wake(cb_offers *all)
{
    cb_helper *w = all->ready ? all->ready : all->full;
    if (w) wake(w);
}

void cb_offers_wake_all(cb_offers *all)
{
    while (all->ready || all->full) cb_offers_wake(all);
}

/* Records that a chunk may be available for decoding, and wakes a worker for it, unless enough workers decode. */
static void announce(cb_offers *all) CB_REQUIRES(all->lock)
{
    all->events++;
    if (all->making < all->most && all->ready) wake(all->ready);
}

/* --- Offers ------------------------------------------------------------------------------------------- */

static void free_offer(cb_offer *o)
{
    cb_helper *w = o->by;
    o->state = CB_OFFER_NONE;
    if (w->list == &w->offers->full) make_ready(w);
    if (w->waits) cb_cond_signal(&w->wake);
}

/* Removes an offer from the list of the worker that it is for. */
static void detach(cb_offer *o)
{
    if (!o->to) return;
    cb_offer **at = &o->to->first;
    while (*at != o) at = &(*at)->next;
    *at = o->next;
    o->to = NULL;
}

/* Withdraws the chunks that are ready or being loaded for a worker's steps before `step`. The worker no longer needs them. */
static void withdraw(cb_helper *w, int64_t step) CB_REQUIRES(w->offers->lock)
{
    for (cb_offer *o = w->first, *next; o; o = next) {
        next = o->next;
        if (o->step >= step || o->state == CB_OFFER_USED) continue;
        detach(o);
        if (o->state != CB_OFFER_MADE) free_offer(o);
    }
}

static cb_offer *find(const cb_helper *w, int node, int64_t chunk)
{
    for (cb_offer *o = w->first; o; o = o->next) {
        if (o->node == node && o->chunk == chunk) return o;
    }
    return NULL;
}

/* --- Workers with a task ------------------------------------------------------------------------------ */

/* A position in one number, so that it is read as a whole. */
#define TASK_BITS 40

static int64_t place_of(int stage, int64_t task)
{
    if (task >> TASK_BITS || stage >= 1 << (62 - TASK_BITS)) return -1;
    return ((int64_t)stage << TASK_BITS) | task;
}

/* Returns true if no worker is idle. Then there are no offers, and no worker to wake. A worker that becomes idle later sees the
 * position that the caller published before. */
static bool is_alone(cb_helper *w) { return atomic_load(&w->offers->idle) == 0; }

void cb_offers_begin(cb_helper *w, int stage, int64_t task)
{
    cb_offers *all = w->offers;
    atomic_store(&w->step, 0);
    atomic_store(&w->node, -1);
    atomic_store(w->place, place_of(stage, task));
    if (is_alone(w)) return;
    cb_mutex_lock(all->lock);
    /* Chunks of this task may be smaller, so workers that could hold no other chunk may help. */
    while (all->full) make_ready(all->full);
    announce(all);
    cb_mutex_unlock(all->lock);
}

void cb_offers_step(cb_helper *w, int64_t step)
{
    if (atomic_load(w->place) < 0) return;
    atomic_store(&w->step, step);
    atomic_store(&w->node, -1);
    if (is_alone(w)) return;
    cb_mutex_lock(w->offers->lock);
    withdraw(w, step);
    announce(w->offers);
    cb_mutex_unlock(w->offers->lock);
}

void cb_offers_end(cb_helper *w)
{
    if (atomic_load(w->place) < 0) return;
    atomic_store(w->place, -1);
    if (is_alone(w)) return;
    cb_mutex_lock(w->offers->lock);
    withdraw(w, INT64_MAX);
    cb_mutex_unlock(w->offers->lock);
}

static void give_back(void *offers, void *offer)
{
    cb_offers *all = offers;
    cb_offer *o = offer;
    cb_mutex_lock(all->lock);
    detach(o);
    free_offer(o);
    announce(all);
    cb_mutex_unlock(all->lock);
}

cubed_status cb_chunks_take_offer(cb_chunks *c, const cb_chunk_reader *r, const cb_want *want,
                                  cb_taken_offer *out, cubed_error *err)
{
    cb_helper *w = r->helper;
    cb_offers *all = w->offers;
    const int node = want->node;
    const int64_t chunk = cb_grid_ravel(c->plan->ir.nodes[node].grid, want->idx);
    cb_offer *o;
    *out = (cb_taken_offer){.data = NULL};
    if (atomic_load(w->place) < 0 || !cb_node_is_offered(c->plan, node)) return CUBED_OK;
    atomic_store(&w->chunk, chunk);
    atomic_store(&w->node, node);
    if (is_alone(w)) return CUBED_OK;
    cb_mutex_lock(all->lock);
    while ((o = find(w, node, chunk)) != NULL && o->state == CB_OFFER_MADE) {
        w->waits = true;
        cb_cond_wait(&w->wake, all->lock);
        w->waits = false;
    }
    if (o && o->state != CB_OFFER_READY) o = NULL;
    if (o) o->state = CB_OFFER_USED;
    cb_mutex_unlock(all->lock);
    if (!o) return CUBED_OK;
    r->count->stored_read += o->count.stored_read;
    r->count->missing += o->count.missing;
    r->count->present += o->count.present;
    if (c->plan->reused[node]) {
        out->cached = true;
        give_back(all, o);
        return CUBED_OK;
    }
    out->data = o->data;
    const cubed_status st = cb_arena_defer(r->arena, give_back, all, o, err);
    if (st != CUBED_OK) give_back(all, o);
    return st;
}

/* --- Workers without a task --------------------------------------------------------------------------- */

/* Maximum number of chunks that a search returns. */
#define CHUNKS_FOUND 64

/* Chunks that a worker will read, in order, found without the lock. */
typedef struct search {
    cb_helper *of;
    int64_t step;
    bool behind; /* the search has passed the worker's current chunk */
    int looked, n;
    struct {
        int node;
        int64_t chunk, step;
    } found[CHUNKS_FOUND];
} search;

/* Adds one chunk that the worker will read. Returns true to continue the search. */
static bool look(search *s, int node, int64_t chunk)
{
    const cb_helper *w = s->of;
    const cb_chunks *c = w->offers->chunks;
    if (!s->behind) {
        s->behind = node == atomic_load(&w->node) && chunk == atomic_load(&w->chunk);
        return true;
    }
    if (c->plan->reused[node] && cb_chunks_is_kept(c, node, chunk)) return true;
    s->found[s->n].node = node;
    s->found[s->n].chunk = chunk;
    s->found[s->n].step = s->step;
    return ++s->n < CHUNKS_FOUND;
}

static cubed_status visit(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    search *s = ctx;
    const cubed_plan *p = s->of->offers->chunks->plan;
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    if (!cb_node_is_offered(p, node) || cb_box_count(chunks) == 0) return CUBED_OK;
    for (int d = 0; d < chunks->ndim; d++) idx[d] = chunks->lo[d];
    do {
        if (s->looked++ == CHUNKS_AHEAD ||
            !look(s, node, cb_grid_ravel(p->ir.nodes[node].grid, idx)))
            return CUBED_E_CANCELLED; /* not an error: the search ends here */
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Finds the next chunks of a worker. The worker may proceed meanwhile. */
static void find_chunks(cb_helper *w, search *s)
{
    const cb_chunks *c = w->offers->chunks;
    const int64_t place = atomic_load(w->place), step = atomic_load(&w->step);
    bool there = place >= 0;
    s->of = w;
    s->looked = s->n = 0;
    for (s->step = step; there && s->step < step + STEPS_AHEAD; s->step++) {
        s->behind = s->step > step || atomic_load(&w->node) < 0;
        if (c->options.visit(c->plan, (int)(place >> TASK_BITS),
                             place & (((int64_t)1 << TASK_BITS) - 1), s->step, &there, visit,
                             s) != CUBED_OK)
            return;
    }
}

/* Returns the number of the first chunk found that no worker decodes, after one that is left to the worker itself, so that this
 * worker need not wait. Returns -1 if there is none. */
static int first_free(const search *s)
{
    bool left = false;
    for (int i = 0; i < s->n; i++) {
        if (find(s->of, s->found[i].node, s->found[i].chunk)) continue;
        if (left) return i;
        left = true;
    }
    return -1;
}

static bool holds_nothing(const cb_helper *w)
{
    for (int k = 0; k < CB_OFFERS_EACH; k++) {
        if (w->held[k].state != CB_OFFER_NONE) return false;
    }
    return true;
}

/* Reserves room in the arena for as many chunks as fit in addition to the memory for decoding one. */
static void make_room(cb_helper *w, cb_arena *arena, size_t bytes, size_t beside)
{
    const size_t left = arena->cap.arena - arena->used;
    const size_t room = left > beside ? (left - beside) / cb_arena_round(bytes) : 0;
    w->arena = arena;
    w->mark = cb_arena_mark(arena);
    w->bytes = bytes;
    for (w->nheld = 0; w->nheld < CB_OFFERS_EACH && (size_t)w->nheld < room; w->nheld++) {
        if (cb_arena_alloc(arena, bytes, "a chunk for another worker", &w->held[w->nheld].data,
                           NULL) != CUBED_OK)
            break;
    }
}

/* Returns an offer with memory for a chunk, unless the chunk is cached; NULL if no offer is free now. */
static cb_offer *new_offer(cb_helper *w, cb_arena *arena, int node) CB_REQUIRES(w->offers->lock)
{
    const cubed_plan *p = w->offers->chunks->plan;
    const bool kept = p->reused[node];
    const size_t bytes = cb_chunk_bytes(p, node);
    if (!kept && w->nheld > 0 && w->bytes < bytes) {
        if (!holds_nothing(w)) return NULL;
        cb_offers_clear(w);
    }
    if (!kept && w->nheld == 0) make_room(w, arena, bytes, cb_read_need(p, node).arena);
    for (int k = 0; k < (kept ? CB_OFFERS_EACH : w->nheld); k++) {
        if (w->held[k].state == CB_OFFER_NONE) return &w->held[k];
    }
    return NULL;
}

/* Loads a chunk without holding the lock. Ignores errors, because the worker that needs the chunk gets them itself. */
static bool bring(cb_chunks *c, cb_offer *o, cb_arena *arena)
{
    const size_t mark = cb_arena_mark(arena);
    const cb_chunk_reader reader = {.arena = arena, .count = &o->count};
    int64_t idx[CUBED_MAX_NDIM];
    o->count = (cb_task_count){.bytes_read = 0};
    cb_grid_unravel(c->plan->ir.nodes[o->node].grid, o->chunk, idx);
    const bool there = cb_chunks_bring(c, &reader, o->node, idx, o->data);
    cb_arena_release(arena, mark);
    return there;
}

/* Decodes chunk i of a search. Returns false if this worker cannot hold it now. */
static bool decode(cb_helper *w, const search *s, int i, cb_arena *arena)
    CB_REQUIRES(w->offers->lock)
{
    cb_offers *all = w->offers;
    cb_offer *o = new_offer(w, arena, s->found[i].node);
    if (!o) {
        w->is_full = true;
        if (all->ready) wake(all->ready); /* another worker may hold the chunk */
        return false;
    }
    o->state = CB_OFFER_MADE;
    o->node = s->found[i].node;
    o->chunk = s->found[i].chunk;
    o->step = s->found[i].step;
    o->to = s->of;
    o->next = s->of->first;
    s->of->first = o;
    all->making++;
    announce(w->offers); /* the search may have found more chunks than this worker decodes */
    cb_mutex_unlock(w->offers->lock);
    const bool there = bring(all->chunks, o, arena);
    cb_mutex_lock(w->offers->lock);
    all->making--;
    if (!o->to) {
        o->state = CB_OFFER_NONE;
    } else {
        o->state = there ? CB_OFFER_READY : CB_OFFER_FAILED;
        if (o->to->waits) cb_cond_signal(&o->to->wake);
    }
    return true;
}

void cb_offers_enter(cb_helper *w) { atomic_fetch_add(&w->offers->idle, 1); }

bool cb_offers_make(cb_helper *w, cb_arena *arena)
{
    cb_offers *all = w->offers;
    const uint64_t events = all->events;
    search s;
    w->is_full = false;
    if (all->making >= all->most) return false;
    for (unsigned i = 0; i < all->n; i++) {
        if (atomic_load(&all->places[i]) < 0) continue;
        cb_mutex_unlock(w->offers->lock);
        find_chunks(&all->workers[i], &s);
        cb_mutex_lock(w->offers->lock);
        const int first = first_free(&s);
        if (first >= 0) return decode(w, &s, first, arena) || all->events != events;
    }
    return all->events != events;
}

void cb_offers_sleep(cb_helper *w)
{
    link_worker(w, w->is_full ? &w->offers->full : &w->offers->ready);
    while (w->list) cb_cond_wait(&w->wake, w->offers->lock);
}

void cb_offers_clear(cb_helper *w)
{
    for (int k = 0; k < CB_OFFERS_EACH; k++) {
        cb_offer *o = &w->held[k];
        if (o->state == CB_OFFER_USED) cb_offers_wake(w->offers);
        while (o->state == CB_OFFER_USED) {
            w->waits = true;
            cb_cond_wait(&w->wake, w->offers->lock);
            w->waits = false;
        }
        detach(o);
        o->state = CB_OFFER_NONE;
    }
    if (w->nheld > 0) cb_arena_release(w->arena, w->mark);
    w->nheld = 0;
}

void cb_offers_leave(cb_helper *w)
{
    atomic_fetch_sub(&w->offers->idle, 1);
    announce(w->offers);
}
