#include "chunks/offers.h"

#include <limits.h>

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

/* Returns the maximum number of workers that execute tasks or decode chunks for others. More workers than processors would only
 * interrupt each other, unless they wait for a store. A worker that executes a task alone gets help even on one processor. */
static unsigned most_active(const cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_is_offered(p, i) && cb_node_waits_for(p, i)) return UINT_MAX;
    }
    const unsigned processors = cb_cpu_count();
    return processors < 2 ? 2 : processors;
}

cubed_status cb_chunks_begin_offers(cb_chunks *c, unsigned workers, cb_offer_sync sync,
                                    cubed_error *err)
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    cb_helper *all = cb_alloc_zero(a, workers * sizeof *all);
    if (!all) return cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", workers);
    c->offers = (cb_offers){.chunks = c,
                            .n = workers,
                            .workers = all,
                            .most = most_active(c->plan),
                            .lock = sync.lock,
                            .idle = sync.idle,
                            .decoded = sync.decoded};
    for (unsigned i = 0; i < workers; i++) all[i] = (cb_helper){.offers = &c->offers, .stage = -1};
    return CUBED_OK;
}

void cb_chunks_end_offers(cb_chunks *c)
{
    cb_free(&c->plan->ctx->alloc, c->offers.workers, c->offers.n * sizeof *c->offers.workers);
    c->offers = (cb_offers){.n = 0};
}

cb_helper *cb_chunks_helper(const cb_chunks *c, unsigned index)
{
    return c->offers.workers ? &c->offers.workers[index] : NULL;
}

static bool may_decode(const cb_offers *all) CB_REQUIRES(all->lock)
{
    return all->active < all->most;
}

/* Wakes one idle worker, because there may be a chunk to decode, or free memory for a chunk. A woken worker that finds a chunk
 * wakes the next worker. */
static void wake_one(cb_offers *all) CB_REQUIRES(all->lock)
{
    all->passed = 0;
    if (may_decode(all)) cb_cond_signal(all->idle);
}

/* --- Workers with a task ------------------------------------------------------------------------------ */

/* Withdraws the chunks that are ready or being loaded for a worker's steps before `step`. The worker no longer needs them. */
static void withdraw(cb_helper *w, int64_t step)
{
    for (unsigned i = 0; i < w->offers->n; i++) {
        for (int k = 0; k < CB_OFFERS_EACH; k++) {
            cb_offer *o = &w->offers->workers[i].held[k];
            if (o->to != w || o->step >= step) continue;
            if (o->state == CB_OFFER_READY || o->state == CB_OFFER_FAILED) o->state = CB_OFFER_NONE;
            if (o->state != CB_OFFER_USED) o->to = NULL;
        }
    }
}

void cb_offers_begin(cb_helper *w, int stage, int64_t task)
{
    cb_mutex_lock(w->offers->lock);
    w->stage = stage;
    w->offers->active++;
    w->task = task;
    w->step = 0;
    w->node = -1;
    wake_one(w->offers);
    cb_mutex_unlock(w->offers->lock);
}

void cb_offers_step(cb_helper *w, int64_t step)
{
    if (w->stage < 0) return;
    cb_mutex_lock(w->offers->lock);
    w->step = step;
    w->node = -1;
    withdraw(w, step);
    wake_one(w->offers);
    cb_mutex_unlock(w->offers->lock);
}

void cb_offers_end(cb_helper *w)
{
    if (w->stage < 0) return;
    cb_mutex_lock(w->offers->lock);
    w->stage = -1;
    w->offers->active--;
    withdraw(w, INT64_MAX);
    wake_one(w->offers);
    cb_mutex_unlock(w->offers->lock);
}

static cb_offer *find(const cb_helper *w, int node, int64_t chunk)
{
    for (unsigned i = 0; i < w->offers->n; i++) {
        for (int k = 0; k < CB_OFFERS_EACH; k++) {
            cb_offer *o = &w->offers->workers[i].held[k];
            if (o->state != CB_OFFER_NONE && o->to == w && o->node == node && o->chunk == chunk)
                return o;
        }
    }
    return NULL;
}

static void give_back(void *offers, void *offer)
{
    cb_offers *all = offers;
    cb_offer *o = offer;
    cb_mutex_lock(all->lock);
    o->state = CB_OFFER_NONE;
    o->to = NULL;
    cb_cond_broadcast(all->decoded);
    wake_one(all);
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
    if (w->stage < 0 || !cb_node_is_offered(c->plan, node)) return CUBED_OK;
    cb_mutex_lock(all->lock);
    w->node = node;
    w->chunk = chunk;
    while ((o = find(w, node, chunk)) != NULL && o->state == CB_OFFER_MADE)
        cb_cond_wait(all->decoded, all->lock);
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

/* A search for a chunk that another worker will need. */
typedef struct search {
    const cb_helper *of;
    int64_t step;
    bool behind; /* the search has passed the last chunk that the worker requested */
    /* the search has skipped one chunk, which the worker will decode itself, so that it does not wait */
    bool left;
    int looked;
    int node; /* the node and the chunk that were found; node is -1 if none was found */
    int64_t chunk;
} search;

/* Decides whether to decode a chunk that the worker will need. Returns true to continue the search with the next chunk. */
static bool look(search *s, int node, int64_t chunk)
{
    const cb_helper *w = s->of;
    if (!s->behind) {
        s->behind = node == w->node && chunk == w->chunk;
        return true;
    }
    if (find(w, node, chunk)) return true;
    const cb_chunks *c = w->offers->chunks;
    if (c->plan->reused[node] && cb_chunks_is_kept(c, node, chunk)) return true;
    if (!s->left) {
        s->left = true;
        return true;
    }
    s->node = node;
    s->chunk = chunk;
    return false;
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
            return CUBED_E_CANCELLED; /* this status only ends the search */
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

static bool find_wanted(const cb_helper *w, search *s)
{
    const cb_chunks *c = w->offers->chunks;
    bool there = true;
    *s = (search){.of = w, .node = -1};
    for (s->step = w->step; there && s->step < w->step + STEPS_AHEAD; s->step++) {
        s->behind = s->step > w->step || w->node < 0;
        if (c->options.visit(c->plan, w->stage, w->task, s->step, &there, visit, s) != CUBED_OK)
            return s->node >= 0;
    }
    return false;
}

static bool is_idle(const cb_helper *w)
{
    for (int k = 0; k < CB_OFFERS_EACH; k++) {
        if (w->held[k].state != CB_OFFER_NONE) return false;
    }
    return true;
}

/* Reserves memory in the arena for as many decoded chunks as fit, in addition to the memory that decoding a chunk needs. */
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

/* Returns a free offer, with memory for the chunk unless the chunk will be cached. Returns NULL if no offer is free now. */
static cb_offer *free_offer(cb_helper *w, cb_arena *arena, int node) CB_REQUIRES(w->offers->lock)
{
    const cubed_plan *p = w->offers->chunks->plan;
    const bool kept = p->reused[node];
    const size_t bytes = cb_chunk_bytes(p, node);
    if (!kept && w->nheld > 0 && w->bytes < bytes) {
        if (!is_idle(w)) return NULL;
        cb_offers_leave(w);
    }
    if (!kept && w->nheld == 0) make_room(w, arena, bytes, cb_read_need(p, node).arena);
    for (int k = 0; k < (kept ? CB_OFFERS_EACH : w->nheld); k++) {
        if (w->held[k].state == CB_OFFER_NONE) return &w->held[k];
    }
    return NULL;
}

/* Loads a chunk without holding the lock. Ignores errors, because the worker that needs the chunk loads it again and reports
 * them. */
static bool load_chunk(cb_chunks *c, cb_offer *o, cb_arena *arena)
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

bool cb_offers_make(cb_helper *w, cb_arena *arena)
{
    search s = {.node = -1};
    if (!may_decode(w->offers)) return false;
    for (unsigned i = 0; i < w->offers->n && s.node < 0; i++) {
        if (w->offers->workers[i].stage >= 0) (void)find_wanted(&w->offers->workers[i], &s);
    }
    if (s.node < 0) return false;
    cb_offer *o = free_offer(w, arena, s.node);
    if (!o) {
        /* If no chunk fits in this worker's arena, none fits in any other, because all arenas have the same size. */
        if (w->nheld > 0 && w->offers->passed++ < w->offers->n) cb_cond_signal(w->offers->idle);
        return false;
    }
    w->offers->active++;
    wake_one(w->offers);
    o->state = CB_OFFER_MADE;
    o->to = s.of;
    o->node = s.node;
    o->chunk = s.chunk;
    o->step = s.step;
    cb_mutex_unlock(w->offers->lock);
    const bool there = load_chunk(w->offers->chunks, o, arena);
    cb_mutex_lock(w->offers->lock);
    w->offers->active--;
    if (!o->to)
        o->state = CB_OFFER_NONE;
    else
        o->state = there ? CB_OFFER_READY : CB_OFFER_FAILED;
    cb_cond_broadcast(w->offers->decoded);
    return true;
}

void cb_offers_leave(cb_helper *w)
{
    for (int k = 0; k < CB_OFFERS_EACH; k++) {
        while (w->held[k].state == CB_OFFER_USED) {
            cb_cond_signal(w->offers->idle); /* another worker may take the task that is waiting */
            cb_cond_wait(w->offers->decoded, w->offers->lock);
        }
        w->held[k].state = CB_OFFER_NONE;
        w->held[k].to = NULL;
    }
    if (w->nheld > 0) cb_arena_release(w->arena, w->mark);
    w->nheld = 0;
}
