#include "exec/vm/helping.h"

#include "base/error.h"
#include "base/lock.h"
#include "exec/plan/operator.h"

/* Smaller chunks are decoded faster than other workers wake up. */
#define LEAST_CHUNK ((size_t)256 << 10)
/* Fewer chunks are not worth a thread. */
#define LEAST_CHUNKS 4
/* Maximum distance of the search ahead of a worker. */
#define STEPS_AHEAD  4
#define CHUNKS_AHEAD 256

static bool decodes(const cubed_plan *p, int node)
{
    const cb_storage *s = p->storage[node];
    return s && s->array && cb_chunk_bytes(p, node) >= LEAST_CHUNK &&
           !cb_codec_chain_is_raw(&s->meta.codecs);
}

/* Operands that are read directly, and copies of unchanged data, do not use loads (cb_load_chunk). */
static bool comes_by_loads(const cb_stage *s)
{
    return s->op->visit && !s->call && !cb_stage_copied(s);
}

bool cb_help_is_worth(const cubed_plan *p)
{
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        if (!comes_by_loads(s) || s->chunks_read < LEAST_CHUNKS) continue;
        for (int k = 0; k < s->ninputs; k++) {
            if (decodes(p, s->inputs[k])) return true;
        }
    }
    return false;
}

cubed_status cb_help_init(cb_help *h, const cubed_plan *p, cb_chunks *chunks, unsigned workers,
                          cb_mutex *lock, cb_cond *changed, cubed_error *err)
{
    const cubed_allocator *a = &p->ctx->alloc;
    *h = (cb_help){.plan = p, .chunks = chunks, .n = workers, .lock = lock, .changed = changed};
    if (workers < 2 || !cb_help_is_worth(p)) return CUBED_OK;
    h->decodes = cb_alloc_zero(a, (size_t)p->ir.nnodes * sizeof *h->decodes);
    h->workers = cb_alloc_zero(a, workers * sizeof *h->workers);
    if (!h->decodes || !h->workers) {
        cb_help_destroy(h);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", workers);
    }
    for (int i = 0; i < p->ir.nnodes; i++) h->decodes[i] = decodes(p, i);
    for (unsigned i = 0; i < workers; i++) h->workers[i].help = h;
    return CUBED_OK;
}

void cb_help_destroy(cb_help *h)
{
    if (!h->plan) return;
    const cubed_allocator *a = &h->plan->ctx->alloc;
    cb_free(a, h->decodes, (size_t)h->plan->ir.nnodes * sizeof *h->decodes);
    cb_free(a, h->workers, h->n * sizeof *h->workers);
    h->decodes = NULL;
    h->workers = NULL;
}

/* --- Workers with a task ------------------------------------------------------------------------------ */

/* Withdraws chunks that are ready for a worker before a step, or being loaded for it: they are no longer useful to it. */
static void withdraw(cb_helper *w, int64_t step)
{
    for (unsigned i = 0; i < w->help->n; i++) {
        for (int k = 0; k < CB_HELP_OFFERS; k++) {
            cb_offer *o = &w->help->workers[i].offers[k];
            if (o->to != w || o->step >= step) continue;
            if (o->state == CB_OFFER_READY || o->state == CB_OFFER_FAILED) o->state = CB_OFFER_NONE;
            if (o->state != CB_OFFER_USED) o->to = NULL;
        }
    }
}

void cb_help_begin(cb_helper *w, const cb_stage *stage, int64_t task)
{
    bool any = false;
    for (int i = 0; i < stage->ninputs && !any; i++) any = w->help->decodes[stage->inputs[i]];
    if (!any || !comes_by_loads(stage)) return;
    cb_mutex_lock(w->help->lock);
    w->stage = stage;
    w->task = task;
    w->step = 0;
    w->node = -1;
    cb_cond_broadcast(w->help->changed);
    cb_mutex_unlock(w->help->lock);
}

void cb_help_step(cb_helper *w, int64_t step)
{
    if (!w->stage) return;
    cb_mutex_lock(w->help->lock);
    w->step = step;
    w->node = -1;
    withdraw(w, step);
    cb_cond_broadcast(w->help->changed);
    cb_mutex_unlock(w->help->lock);
}

void cb_help_end(cb_helper *w)
{
    if (!w->stage) return;
    cb_mutex_lock(w->help->lock);
    w->stage = NULL;
    withdraw(w, INT64_MAX);
    cb_cond_broadcast(w->help->changed);
    cb_mutex_unlock(w->help->lock);
}

static cb_offer *find(const cb_helper *w, int node, int64_t chunk)
{
    for (unsigned i = 0; i < w->help->n; i++) {
        for (int k = 0; k < CB_HELP_OFFERS; k++) {
            cb_offer *o = &w->help->workers[i].offers[k];
            if (o->state != CB_OFFER_NONE && o->to == w && o->node == node && o->chunk == chunk)
                return o;
        }
    }
    return NULL;
}

static void give_back(void *help, void *offer)
{
    cb_help *h = help;
    cb_offer *o = offer;
    cb_mutex_lock(h->lock);
    o->state = CB_OFFER_NONE;
    o->to = NULL;
    cb_cond_broadcast(h->changed);
    cb_mutex_unlock(h->lock);
}

cubed_status cb_help_take(cb_helper *w, cb_want *want, cb_arena *arena, cb_task_count *count,
                          cubed_error *err)
{
    cb_help *h = w->help;
    const int node = want->node;
    const int64_t chunk = cb_grid_ravel(h->plan->ir.nodes[node].grid, want->idx);
    cb_offer *o;
    if (!w->stage || !h->decodes[node]) return CUBED_OK;
    cb_mutex_lock(h->lock);
    w->node = node;
    w->chunk = chunk;
    while ((o = find(w, node, chunk)) != NULL && o->state == CB_OFFER_MADE)
        cb_cond_wait(h->changed, h->lock);
    if (o && o->state != CB_OFFER_READY) o = NULL;
    if (o) o->state = CB_OFFER_USED;
    cb_mutex_unlock(h->lock);
    if (!o) return CUBED_OK;
    count->stored_read += o->count.stored_read;
    count->missing += o->count.missing;
    count->present += o->count.present;
    if (h->plan->reused[node]) {
        want->reuse = true; /* also if no other block will read it */
        give_back(h, o);
        return CUBED_OK;
    }
    want->there = o->data;
    const cubed_status st = cb_arena_defer(arena, give_back, h, o, err);
    if (st != CUBED_OK) give_back(h, o);
    return st;
}

/* --- Workers without ---------------------------------------------------------------------------------- */

/* A search for a chunk that another worker will need. */
typedef struct search {
    const cb_helper *of;
    int64_t step;
    bool behind; /* its current chunk has been passed */
    bool left;   /* one is left for the worker itself, which would wait otherwise */
    int looked;
    int node; /* found */
    int64_t chunk;
} search;

/* Returns true to continue. */
static bool look(search *s, int node, int64_t chunk)
{
    const cb_helper *w = s->of;
    if (!s->behind) {
        s->behind = node == w->node && chunk == w->chunk;
        return true;
    }
    if (find(w, node, chunk)) return true;
    if (w->help->plan->reused[node] && cb_chunks_is_kept(w->help->chunks, node, chunk)) return true;
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
    const cb_help *h = s->of->help;
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    if (!h->decodes[node] || cb_box_count(chunks) == 0) return CUBED_OK;
    for (int d = 0; d < chunks->ndim; d++) idx[d] = chunks->lo[d];
    do {
        if (s->looked++ == CHUNKS_AHEAD ||
            !look(s, node, cb_grid_ravel(h->plan->ir.nodes[node].grid, idx)))
            return CUBED_E_CANCELLED; /* not an error: the search ends here */
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

static bool find_wanted(const cb_helper *w, search *s)
{
    cb_box kept;
    bool there = true;
    *s = (search){.of = w, .node = -1};
    cb_stage_task_box(w->stage, w->task, &kept);
    for (s->step = w->step; there && s->step < w->step + STEPS_AHEAD; s->step++) {
        s->behind = s->step > w->step || w->node < 0;
        if (w->stage->op->visit(w->help->plan, w->stage, &kept, s->step, &there, visit, s, NULL) !=
            CUBED_OK)
            return s->node >= 0;
    }
    return false;
}

static bool is_idle(const cb_helper *w)
{
    for (int k = 0; k < CB_HELP_OFFERS; k++) {
        if (w->offers[k].state != CB_OFFER_NONE) return false;
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
    for (w->noffers = 0; w->noffers < CB_HELP_OFFERS && (size_t)w->noffers < room; w->noffers++) {
        if (cb_arena_alloc(arena, bytes, "a chunk for another worker", &w->offers[w->noffers].data,
                           NULL) != CUBED_OK)
            break;
    }
}

/* Returns an offer with memory for a chunk, unless the chunk is cached; NULL if there is none now. */
static cb_offer *free_offer(cb_helper *w, cb_arena *arena, int node) CB_REQUIRES(w->help->lock)
{
    const bool kept = w->help->plan->reused[node];
    const size_t bytes = cb_chunk_bytes(w->help->plan, node);
    if (!kept && w->noffers > 0 && w->bytes < bytes) {
        if (!is_idle(w)) return NULL;
        cb_help_leave(w);
    }
    if (!kept && w->noffers == 0)
        make_room(w, arena, bytes, cb_read_need(w->help->plan, node).arena);
    for (int k = 0; k < (kept ? CB_HELP_OFFERS : w->noffers); k++) {
        if (w->offers[k].state == CB_OFFER_NONE) return &w->offers[k];
    }
    return NULL;
}

/* Runs without the lock. */
static bool bring(cb_help *h, cb_offer *o, cb_arena *arena)
{
    const size_t mark = cb_arena_mark(arena);
    int64_t idx[CUBED_MAX_NDIM];
    cb_pinned out;
    const cb_want want = {.node = o->node, .idx = idx, .buffer = o->data};
    o->count = (cb_task_count){.bytes_read = 0};
    cb_grid_unravel(h->plan->ir.nodes[o->node].grid, o->chunk, idx);
    /* The worker that needs the chunk will get the error itself. */
    const bool there =
        h->plan->reused[o->node]
            ? cb_chunks_bring(h->chunks, o->node, idx, arena, &o->count)
            : cb_chunks_want(h->chunks, &want, arena, &out, &o->count, NULL) == CUBED_OK;
    cb_arena_release(arena, mark);
    return there;
}

bool cb_help_others(cb_helper *w, cb_arena *arena)
{
    search s = {.node = -1};
    for (unsigned i = 0; i < w->help->n && s.node < 0; i++) {
        if (w->help->workers[i].stage) (void)find_wanted(&w->help->workers[i], &s);
    }
    cb_offer *o = s.node < 0 ? NULL : free_offer(w, arena, s.node);
    if (!o) return false;
    o->state = CB_OFFER_MADE;
    o->to = s.of;
    o->node = s.node;
    o->chunk = s.chunk;
    o->step = s.step;
    cb_mutex_unlock(w->help->lock);
    const bool there = bring(w->help, o, arena);
    cb_mutex_lock(w->help->lock);
    if (!o->to)
        o->state = CB_OFFER_NONE;
    else
        o->state = there ? CB_OFFER_READY : CB_OFFER_FAILED;
    cb_cond_broadcast(w->help->changed);
    return true;
}

void cb_help_leave(cb_helper *w)
{
    for (int k = 0; k < CB_HELP_OFFERS; k++) {
        while (w->offers[k].state == CB_OFFER_USED) cb_cond_wait(w->help->changed, w->help->lock);
        w->offers[k].state = CB_OFFER_NONE;
        w->offers[k].to = NULL;
    }
    if (w->noffers > 0) cb_arena_release(w->arena, w->mark);
    w->noffers = 0;
}
