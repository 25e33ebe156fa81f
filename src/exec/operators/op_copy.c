/* Operator for copies: the stage has one output, and only loads elements. Either a task gathers source chunks into its output,
 * one at a time, or it reads a source chunk directly into the output chunk with the same elements. Tasks of several chunks
 * scatter instead, if they are cooperative or if that needs no more memory: a task holds all of its output chunks and copies each
 * source chunk into them. So every source chunk is decoded once and every element is moved once.
 *
 * A cooperative task divides the output chunks among the arenas of its members. Members read source chunks in turn, each into
 * its own buffer, and copy them into the chunks of all members. If there are fewer members than planned, they compute the
 * chunks in rounds, each with as many chunks as fit in memory. */
#include <string.h>

#include "base/error.h"
#include "exec/vm/frames.h"
#include "exec/vm/resume.h"

/* --- Planning ------------------------------------------------------------------------------------- */

static const cb_load *load_of(const cb_stage *s)
{
    const cb_branch *b = &s->tail.branches[0];
    return &b->loads[b->results[0]];
}

/* Returns true if chunks are read directly into the output. */
static bool is_in_place(const cubed_plan *p, const cb_stage *s)
{
    if (s->tail.nbranches != 1 || !cb_stage_is_single(s)) return false;
    const cb_load *l = load_of(s);
    const cb_node *out = &p->ir.nodes[s->outs[0].node];
    if (out->to_memory || l->reshape || !cb_map_is_identity(l->map)) return false;
    const cb_grid *from = p->ir.nodes[l->node].grid;
    if (cb_grid_is_irregular(from) || cb_grid_is_irregular(out->grid)) return false;
    for (int d = 0; d < from->ndim; d++) {
        if (from->axis[d].chunk != out->grid->axis[d].chunk ||
            from->axis[d].first != out->grid->axis[d].first ||
            from->axis[d].clipped != out->grid->axis[d].clipped)
            return false;
    }
    return true;
}

static bool may_scatter(const cubed_plan *p, const cb_stage *s)
{
    return s->tail.nbranches == 1 && !cb_stage_is_single(s) &&
           !p->ir.nodes[s->outs[0].node].to_memory && !load_of(s)->reshape;
}

static void prepare(const cubed_plan *p, cb_stage *s)
{
    cb_stage_prepare_tail(p, s);
    s->op = &cb_operator_copy;
    if (!may_scatter(p, s)) {
        s->coop = 1;
        return;
    }
    const cb_need gathered = cb_stage_measure(p, s, NULL, CB_ARENA_MOST, NULL);
    s->op = &cb_operator_scatter;
    if (s->coop == 1 && cb_stage_measure(p, s, NULL, CB_ARENA_MOST, NULL).arena > gathered.arena)
        s->op = &cb_operator_copy;
}

/* --- Gathering ------------------------------------------------------------------------------------ */

/* Returns true if the stage only concatenates chunks: each task stores one output chunk, which consists of adjacent pieces of
 * the input. */
static bool is_part(const cubed_plan *p, const cb_stage *s)
{
    return s->tail.nbranches == 1 && !p->ir.nodes[s->outs[0].node].to_memory &&
           cb_stage_is_single(s) && p->ir.nodes[load_of(s)->node].why == CB_WHY_SPREAD &&
           !load_of(s)->reshape && cb_map_is_identity(load_of(s)->map);
}

typedef struct gathered {
    void *data; /* buffer with the elements of the output */
} gathered;

_Static_assert(sizeof(gathered) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

static cubed_status gather_frame(const cb_frame *f, void *out, cubed_error *err)
{
    gathered *b = out;
    const cb_evaluation tail = {.prog = &f->stage->tail, .gather = true};
    cb_view one, *views = &one;
    CB_TRY(cb_output_frame(f, 0, &b->data, err));
    if (!cb_arena_measures(f->arena)) return CUBED_OK;
    if (is_in_place(f->plan, f->stage))
        cb_arena_may_take(f->arena, cb_read_need(f->plan, load_of(f->stage)->node));
    else if (f->arena->kind != CB_ARENA_LEAST || !is_part(f->plan, f->stage))
        /* if the pieces are adjacent in memory, the task stores the chunk from that memory and needs no buffer */
        CB_TRY(cb_evaluate_frame(f->plan, &tail, &f->box, f->largest, f->arena, &views, err));
    return cb_writings_frame(f, err);
}

static cubed_status read_in_place(const cb_task *t, const cb_box *kept, void *to, cubed_error *err)
{
    const int node = load_of(t->stage)->node;
    const cb_grid *g = t->plan->ir.nodes[node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    const cb_want want = {.node = node, .idx = idx, .buffer = to};
    cb_pinned pinned;
    for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], kept->lo[d]);
    CB_TRY(cb_task_want(t, &want, &pinned, err));
    if (pinned.data != to) memcpy(to, pinned.data, cb_chunk_bytes_at(t->plan, node, idx));
    return CUBED_OK;
}

/* Returns the address of the output chunk if its pieces are already adjacent in memory, in the chunk's layout. Returns NULL
 * otherwise. */
static const char *find_together(const cb_task *t, const cb_box *kept)
{
    const cb_stage *s = t->stage;
    const cb_node *out = &t->plan->ir.nodes[s->outs[0].node];
    if (!is_part(t->plan, s)) return NULL;
    for (int d = 0; d < out->grid->ndim; d++) {
        /* The part of the chunk after the end of the array must be zero, but memory that is used in place cannot be changed. */
        if (kept->hi[d] - kept->lo[d] != out->grid->axis[d].chunk) return NULL;
    }
    return cb_chunks_together(t->chunks, load_of(s)->node, kept, t->count);
}

static bool reads(const cb_stage *s, int node)
{
    int k = 0;
    while (k < s->ninputs && s->inputs[k] != node) k++;
    return k < s->ninputs;
}

bool cb_stage_joins(const cubed_plan *p, const cb_stage *s, int *from, int *to)
{
    if (s->op != &cb_operator_copy || !is_part(p, s)) return false;
    *from = load_of(s)->node;
    *to = s->outs[0].node;
    const cb_node *in = &p->ir.nodes[*from], *out = &p->ir.nodes[*to];
    if (!out->is_target || out->region || !cb_node_is_intermediate(in)) return false;
    for (int d = 0; d < out->grid->ndim; d++) {
        if (out->grid->axis[d].extent != out->grid->axis[d].chunk) return false;
    }
    for (int i = 0; i < p->nstages; i++) {
        if (&p->stages[i] != s && reads(&p->stages[i], *from)) return false;
    }
    return true;
}

static cubed_status gather(const cb_task *t, int64_t task, cubed_error *err)
{
    cb_frame f;
    cb_box chunks;
    gathered b;
    cb_view out;
    bool joined = false;
    cb_frame_init(&f, t);
    CB_TRY(cb_task_begin(t, task, &chunks, &f.box, err));
    CB_TRY(gather_frame(&f, &b, err));
    if (is_part(t->plan, t->stage))
        CB_TRY(cb_chunks_end_join(t->chunks, load_of(t->stage)->node, &joined, t->count, err));
    if (joined) return CUBED_OK;
    out.base = b.data;
    cb_output_open(t, 0, &f.box, NULL, &out);
    const cb_evaluation tail = {.prog = &t->stage->tail, .outs = &out, .gather = true};
    const char *there = find_together(t, &f.box);
    if (there) /* The cast is safe, because the store only reads the chunk. */
        out.base = (char *)(uintptr_t)there;
    else
        CB_TRY(is_in_place(t->plan, t->stage) ? read_in_place(t, &f.box, out.base, err)
                                              : cb_evaluate(t, &tail, &f.box, err));
    return cb_outputs_write(t, &f.box, &out, &chunks, err);
}

/* --- Scattering ----------------------------------------------------------------------------------- */

typedef struct copier {
    const cb_task *t;
    cb_coop *coop;
    const cb_load *load;
    const cb_grid *grid; /* grid of the output's chunks */
    size_t item_size, chunk_bytes;
    /* Chunks of the task in this round, in C order. */
    int64_t first, last;
} copier;

/* Returns the address of output chunk number k of the task. Member m of `size` members has chunks m, m + size, ... of the
 * round. */
static char *chunk_at(const copier *c, int64_t k)
{
    int64_t n = k - c->first, size = c->coop->size;
    return c->coop->members[n % size].chunks + (size_t)(n / size) * c->chunk_bytes;
}

static void chunk_index(const cb_box *chunks, int64_t k, int64_t *idx)
{
    for (int d = chunks->ndim - 1; d >= 0; d--) {
        int64_t n = chunks->hi[d] - chunks->lo[d];
        idx[d] = chunks->lo[d] + k % n;
        k /= n;
    }
}

static int64_t chunk_number(const cb_box *chunks, const int64_t *idx)
{
    int64_t k = 0;
    for (int d = 0; d < chunks->ndim; d++)
        k = k * (chunks->hi[d] - chunks->lo[d]) + idx[d] - chunks->lo[d];
    return k;
}

static void chunk_elements(const copier *c, const int64_t *idx, cb_box *box)
{
    cb_box one = {.ndim = c->coop->chunks.ndim};
    for (int d = 0; d < one.ndim; d++) {
        one.lo[d] = idx[d];
        one.hi[d] = idx[d] + 1;
    }
    cb_stage_elements(c->t->stage, &one, box);
}

/* Converts the index of a chunk from the task's grid to the grid of the output. */
static void output_index(const copier *c, const int64_t *idx, int64_t *at)
{
    const cb_stage_out *out = &c->t->stage->outs[0];
    for (int d = 0; d < c->grid->ndim; d++) at[d] = out->axis[d] < 0 ? 0 : idx[out->axis[d]];
}

/* Sets the strides of an output chunk in bytes, by axis of the domain. */
static void chunk_strides(const copier *c, const int64_t *idx, int64_t *stride)
{
    const cb_stage_out *out = &c->t->stage->outs[0];
    int64_t at[CUBED_MAX_NDIM], extents[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
    output_index(c, idx, at);
    cb_grid_stored(c->grid, at, extents);
    cb_dense_strides(c->grid->ndim, extents, c->item_size, dense);
    for (int d = 0; d < c->grid->ndim; d++) {
        if (out->axis[d] >= 0) stride[out->axis[d]] = dense[d];
    }
}

/* Sets the box of the task's chunks that use source chunk `idx`. Returns false if no chunk uses it. */
static bool chunks_of(const copier *c, const int64_t *idx, const cb_box *domain, cb_box *out)
{
    cb_box part = *domain, elements;
    cb_grid_box(c->t->plan->ir.nodes[c->load->node].grid, idx, &elements);
    if (!cb_map_preimage(c->load->map, &elements, &part)) return false;
    cb_grid_cover(c->t->stage->kept, &part, out);
    return true;
}

/* Returns true if this round computes any chunk of the box `some`. */
static bool computes_any(const copier *c, const cb_box *some)
{
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, some->lo, sizeof idx);
    do {
        int64_t k = chunk_number(&c->coop->chunks, idx);
        if (k >= c->first && k < c->last) return true;
    } while (cb_odometer_next(some, idx));
    return false;
}

static void place(const copier *c, const int64_t *source_idx, const cb_pinned *pinned,
                  const cb_box *into)
{
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, into->lo, sizeof idx);
    do {
        int64_t k = chunk_number(&c->coop->chunks, idx);
        if (k < c->first || k >= c->last) continue;
        cb_view view = {.base = chunk_at(c, k)};
        cb_box box;
        chunk_strides(c, idx, view.stride);
        chunk_elements(c, idx, &box);
        cb_load_place(c->t, c->load, source_idx, pinned, &box, &view);
    } while (cb_odometer_next(into, idx));
}

/* Returns the maximum number of output chunks that one of the workers of a cooperative task holds. */
static int64_t share_of(const cb_stage *s)
{
    size_t chunks = 1;
    for (int d = 0; d < s->kept->ndim; d++) {
        int64_t n = cb_min_i64(s->task_chunks[d], cb_axis_count(&s->kept->axis[d]));
        chunks = cb_sat_mul(chunks, (size_t)n);
    }
    return cb_ceil_div((int64_t)cb_min_size(chunks, INT64_MAX - s->coop), s->coop);
}

typedef struct scattered {
    void *chunks; /* chunks of the member, adjacent in memory */
} scattered;

_Static_assert(sizeof(scattered) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

static cubed_status share_frame(const cubed_plan *p, const cb_stage *s, int64_t n, cb_arena *arena,
                                void **chunks, cubed_error *err)
{
    const size_t bytes = cb_sat_mul((size_t)n, cb_chunk_bytes(p, s->outs[0].node));
    return cb_arena_alloc(arena, bytes, "output chunks", chunks, err);
}

static cubed_status source_frame(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                 cb_arena *arena, void **buffer, cubed_error *err)
{
    int64_t extents[CUBED_MAX_NDIM];
    for (int d = 0; d < kept->ndim; d++) extents[d] = kept->hi[d] - kept->lo[d];
    return cb_load_frame(p, load_of(s), extents, arena, buffer, NULL, err);
}

/* Allocates the buffers of one member of the task for a round. */
static cubed_status scatter_frame(const cb_frame *f, void *out, cubed_error *err)
{
    scattered *b = out;
    int64_t n = share_of(f->stage);
    void *buffer;
    if (!f->largest) {
        cb_box chunks;
        cb_grid_cover(f->stage->kept, &f->box, &chunks);
        n = cb_min_i64(n, cb_box_count(&chunks));
    }
    CB_TRY(share_frame(f->plan, f->stage, n, f->arena, &b->chunks, err));
    size_t mark = cb_arena_mark(f->arena);
    CB_TRY(source_frame(f->plan, f->stage, &f->box, f->arena, &buffer, err));
    cb_arena_release(f->arena, mark);
    if (cb_arena_measures(f->arena))
        cb_arena_may_take(f->arena, cb_write_need(f->plan, f->stage->outs[0].node));
    return CUBED_OK;
}

/* Prefetches the source chunks that members will read next. Prefetches at most the limit of one worker times the number of
 * members. */
static void prefetch_sources(const copier *c, const cb_box *cover, const cb_box *domain)
{
    const cb_task *t = c->t;
    const int64_t n = cb_box_count(cover), most = (int64_t)t->plan->fetch_depth * c->coop->size;
    cb_fetch_batch batch = {.owner = c->coop, .most = (unsigned)most};
    if (!t->coop || c->load->subread || !cb_chunks_may_ask(t->chunks, c->load->node)) return;
    while (batch.n < CB_FETCH_BATCH) {
        const int64_t next = atomic_load(&c->coop->next);
        int64_t asked = atomic_load(&c->coop->asked), idx[CUBED_MAX_NDIM];
        const int64_t k = cb_max_i64(asked, next);
        cb_box into;
        if (k >= cb_min_i64(n, next + most)) break;
        if (!atomic_compare_exchange_weak(&c->coop->asked, &asked, k + 1)) continue;
        chunk_index(cover, k, idx);
        if (chunks_of(c, idx, domain, &into) && computes_any(c, &into))
            (void)cb_chunks_ask(t->chunks, &batch, c->load->node, idx, t->count);
    }
    cb_fetch_submit(&batch);
}

/* Reads source chunks that no other member has begun, one after another, and copies them to the output chunks. */
static cubed_status read_chunks(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    const cb_grid *g = t->plan->ir.nodes[c->load->node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    cb_box domain, image, cover, into;
    void *buffer;
    cb_stage_elements(t->stage, &c->coop->chunks, &domain);
    cb_map_image(c->load->map, &domain, &image);
    cb_grid_cover(g, &image, &cover);
    CB_TRY(source_frame(t->plan, t->stage, &domain, t->arena, &buffer, err));
    int64_t n = cb_box_count(&cover), k;
    while ((k = atomic_fetch_add(&c->coop->next, 1)) < n) {
        size_t mark = cb_arena_mark(t->arena);
        cb_pinned pinned;
        CB_TRY(cb_task_check(t, err));
        chunk_index(&cover, k, idx);
        if (!chunks_of(c, idx, &domain, &into) || !computes_any(c, &into)) continue;
        prefetch_sources(c, &cover, &domain);
        CB_TRY(cb_load_chunk(t, c->load, idx, &image, buffer, &pinned, err));
        place(c, idx, &pinned, &into);
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
}

static bool is_whole(const copier *c, const int64_t *idx)
{
    cb_box box;
    chunk_elements(c, idx, &box);
    return (size_t)cb_box_count(&box) * c->item_size == c->chunk_bytes;
}

/* Allocates this member's chunks of the round. Sets the part of a chunk after the array's end to zero. */
static cubed_status take_share(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    int64_t size = c->coop->size, own = c->first + t->member;
    int64_t n = own < c->last ? cb_ceil_div(c->last - own, size) : 0;
    void *p;
    CB_TRY(share_frame(t->plan, t->stage, n, t->arena, &p, err));
    c->coop->members[t->member].chunks = p;
    for (int64_t k = own; k < c->last; k += size) {
        int64_t idx[CUBED_MAX_NDIM];
        chunk_index(&c->coop->chunks, k, idx);
        if (!is_whole(c, idx)) memset(chunk_at(c, k), 0, c->chunk_bytes);
    }
    return CUBED_OK;
}

static cubed_status write_share(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    const int node = t->stage->outs[0].node;
    for (int64_t k = c->first + t->member; k < c->last; k += c->coop->size) {
        int64_t idx[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM];
        chunk_index(&c->coop->chunks, k, idx);
        output_index(c, idx, at);
        CB_TRY(cb_task_check(t, err));
        CB_TRY(cb_chunks_put(t->chunks, node, at, chunk_at(c, k), t->arena, t->count, err));
    }
    return CUBED_OK;
}

/* Runs one step of a member of the cooperative task. Every member runs the same number of steps, even if a member fails. */
static bool step(const copier *c, cubed_status (*part)(const copier *c, cubed_error *err))
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = part(c, &why);
    if (st != CUBED_OK) cb_coop_fail(c->coop, st, &why);
    return cb_coop_meet(c->coop);
}

static bool run_round(const copier *c)
{
    size_t mark = cb_arena_mark(c->t->arena), inner;
    if (c->t->member == 0) {
        atomic_store(&c->coop->next, 0);
        atomic_store(&c->coop->asked, 0);
    }
    bool ok = step(c, take_share);
    inner = cb_arena_mark(c->t->arena);
    ok = ok && step(c, read_chunks);
    if (c->t->member == 0) cb_chunks_forget(c->t->chunks, c->coop, INT64_MAX);
    cb_arena_release(c->t->arena, inner);
    ok = ok && step(c, write_share);
    cb_arena_release(c->t->arena, mark);
    return ok;
}

/* Lets the first member of a cooperative task choose the chunks that all members compute in this round. */
static cubed_status choose_round(const copier *c, cubed_error *err)
{
    return c->t->member == 0 ? cb_task_skip_present(c->t, &c->coop->chunks, err) : CUBED_OK;
}

static cubed_status scatter_together(const cb_task *t, cb_coop *coop, const cb_box *chunks,
                                     cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_stage_out *out = &s->outs[0];
    const cb_node *n = &t->plan->ir.nodes[out->node];
    copier c = {.t = t,
                .coop = coop,
                .load = load_of(s),
                .grid = n->grid,
                .item_size = cubed_dtype_size(n->dtype),
                .chunk_bytes = cb_chunk_bytes(t->plan, out->node)};
    if (t->member == 0) coop->chunks = *chunks;
    if (step(&c, choose_round)) {
        int64_t count = cb_box_count(&coop->chunks), round = share_of(s) * coop->size;
        for (; c.first < count; c.first = c.last) {
            c.last = cb_min_i64(count, c.first + round);
            if (!run_round(&c)) break;
        }
    }
    return cb_coop_result(coop, err);
}

static cubed_status scatter(const cb_task *t, int64_t task, cubed_error *err)
{
    cb_coop alone;
    cb_member self;
    cb_box chunks;
    cb_stage_task_chunks(t->stage, task, &chunks);
    if (t->coop) return scatter_together(t, t->coop, &chunks, err);
    cb_coop_init(&alone, &self);
    cb_coop_begin(&alone, 1);
    cubed_status st = scatter_together(t, &alone, &chunks, err);
    cb_coop_destroy(&alone);
    return st;
}

/* --- The rows ------------------------------------------------------------------------------------- */

const cb_operator cb_operator_copy = {
    .name = "copy",
    .compile = cb_stage_compile_tail,
    .prepare = prepare,
    .frame = gather_frame,
    .reads = cb_stage_read_tail,
    .visit = cb_stage_visit_tail,
    .run = gather,
    .joined = &cb_operator_map,
    .adds_up = true,
    .tiles = true,
    .local = true,
    .by_blocks = true,
    .cooperates = true,
    .copies = true,
};

const cb_operator cb_operator_scatter = {
    .name = "scatter",
    .compile = cb_stage_compile_tail,
    .prepare = prepare,
    .frame = scatter_frame,
    .reads = cb_stage_read_tail,
    .visit = cb_stage_visit_tail,
    .run = scatter,
    .joined = &cb_operator_map,
    .adds_up = true,
    .tiles = true,
    .local = true,
    .cooperates = true,
    .copies = true,
};
