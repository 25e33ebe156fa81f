/* A task of a copy holds its output chunks one beside the other and scatters what it reads into them, so
 * that every source chunk is decoded once and every element moved once.
 *
 * A team divides the output chunks among the arenas of its members, who take source chunks in turn, each
 * with a buffer of its own, and write into the chunks of all. Who is fewer than the plan's team makes the
 * chunks in rounds, as many at a time as there is memory for. */
#include "exec/copy_run.h"

#include <string.h>

#include "base/error.h"
#include "exec/resume.h"

typedef struct copier {
    const cb_task *t;
    cb_team *team;
    const cb_load *load;
    const cb_grid *grid; /* of the output */
    size_t item_size, chunk_bytes;
    /* In C order, the chunks of the task that this round makes. */
    int64_t first, last;
} copier;

/* Where output chunk number k of the task is: members have every size-th of the round. */
static char *chunk_at(const copier *c, int64_t k)
{
    int64_t n = k - c->first, size = c->team->size;
    return c->team->members[n % size].chunks + (size_t)(n / size) * c->chunk_bytes;
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
    cb_box one = {.ndim = c->team->chunks.ndim};
    for (int d = 0; d < one.ndim; d++) {
        one.lo[d] = idx[d];
        one.hi[d] = idx[d] + 1;
    }
    cb_stage_elements(c->t->stage, &one, box);
}

/* A chunk of the task in the grid of the output. */
static void output_index(const copier *c, const int64_t *idx, int64_t *at)
{
    const cb_stage_out *out = &c->t->stage->outs[0];
    for (int d = 0; d < c->grid->ndim; d++) at[d] = out->axis[d] < 0 ? 0 : idx[out->axis[d]];
}

/* How it lies in memory, by axis of the domain. */
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

/* What the task's chunks take of source chunk `idx`, as a box of them; false: nothing. */
static bool chunks_of(const copier *c, const int64_t *idx, const cb_box *domain, cb_box *out)
{
    const cb_grid *g = &c->t->plan->ir.nodes[c->load->node].grid;
    cb_box part = *domain, elements;
    cb_grid_box(g, idx, &elements);
    for (int d = 0; d < g->ndim; d++) {
        const cb_map *m = c->load->map;
        int j = m->dim[d].axis;
        if (j >= 0)
            cb_load_preimage(m->dim[d].offset, m->dim[d].stride, elements.lo[d], elements.hi[d],
                             &part.lo[j], &part.hi[j]);
    }
    if (cb_box_empty(&part)) return false;
    cb_grid_cover(&c->t->stage->kept, &part, out);
    return true;
}

/* Whether the round makes any of these chunks. */
static bool concerns(const copier *c, const cb_box *some)
{
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, some->lo, sizeof idx);
    do {
        int64_t k = chunk_number(&c->team->chunks, idx);
        if (k >= c->first && k < c->last) return true;
    } while (cb_odometer_next(some, idx));
    return false;
}

static void scatter(const copier *c, const int64_t *source_idx, const cb_pinned *held,
                    const cb_box *into)
{
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, into->lo, sizeof idx);
    do {
        int64_t k = chunk_number(&c->team->chunks, idx);
        if (k < c->first || k >= c->last) continue;
        cb_view view = {.base = chunk_at(c, k)};
        cb_box box;
        chunk_strides(c, idx, view.stride);
        chunk_elements(c, idx, &box);
        cb_load_place(c->t, c->load, source_idx, held, &box, &view);
    } while (cb_odometer_next(into, idx));
}

/* Takes source chunks until there are no more. */
static cubed_status read_chunks(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    const cb_grid *g = &t->plan->ir.nodes[c->load->node].grid;
    int64_t extents[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    cb_box domain, image, cover, into;
    void *buffer;
    cb_stage_elements(t->stage, &c->team->chunks, &domain);
    cb_map_image(c->load->map, &domain, &image);
    cb_grid_cover(g, &image, &cover);
    for (int d = 0; d < domain.ndim; d++) extents[d] = domain.hi[d] - domain.lo[d];
    CB_TRY(
        cb_arena_alloc(t->arena, cb_load_bytes(t->plan, c->load, extents), "chunk", &buffer, err));
    int64_t n = cb_box_count(&cover), k;
    while ((k = atomic_fetch_add(&c->team->next, 1)) < n) {
        size_t mark = cb_arena_mark(t->arena);
        cb_pinned held;
        CB_TRY(cb_task_check(t, err));
        chunk_index(&cover, k, idx);
        if (!chunks_of(c, idx, &domain, &into) || !concerns(c, &into)) continue;
        CB_TRY(cb_load_chunk(t, c->load, idx, &image, buffer, &held, err));
        scatter(c, idx, &held, &into);
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

/* Memory for this member's chunks of the round. */
static cubed_status take_share(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    int64_t size = c->team->size, own = c->first + t->member;
    size_t n = own < c->last ? (size_t)((c->last - own + size - 1) / size) : 0;
    void *p;
    CB_TRY(cb_arena_alloc(t->arena, n * c->chunk_bytes, "output chunks", &p, err));
    c->team->members[t->member].chunks = p;
    for (int64_t k = own; k < c->last; k += size) {
        int64_t idx[CUBED_MAX_NDIM];
        chunk_index(&c->team->chunks, k, idx);
        if (!is_whole(c, idx)) memset(chunk_at(c, k), 0, c->chunk_bytes);
    }
    return CUBED_OK;
}

static cubed_status write_share(const copier *c, cubed_error *err)
{
    const cb_task *t = c->t;
    const int node = t->stage->outs[0].node;
    for (int64_t k = c->first + t->member; k < c->last; k += c->team->size) {
        int64_t idx[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM];
        chunk_index(&c->team->chunks, k, idx);
        output_index(c, idx, at);
        CB_TRY(cb_task_check(t, err));
        CB_TRY(cb_chunks_put(t->chunks, node, at, chunk_at(c, k), t->arena, t->count, err));
    }
    return CUBED_OK;
}

/* Every member does the same number of steps, whoever fails. */
static bool step(const copier *c, cubed_status (*part)(const copier *c, cubed_error *err))
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = part(c, &why);
    if (st != CUBED_OK) cb_team_fail(c->team, st, &why);
    return cb_team_meet(c->team);
}

static bool run_round(const copier *c)
{
    size_t mark = cb_arena_mark(c->t->arena), inner;
    if (c->t->member == 0) atomic_store(&c->team->next, 0);
    bool ok = step(c, take_share);
    inner = cb_arena_mark(c->t->arena);
    ok = ok && step(c, read_chunks);
    cb_arena_release(c->t->arena, inner);
    ok = ok && step(c, write_share);
    cb_arena_release(c->t->arena, mark);
    return ok;
}

/* The first of the team finds out what is to be made. */
static cubed_status agree_on_chunks(const copier *c, cubed_error *err)
{
    return c->t->member == 0 ? cb_task_skip_present(c->t, &c->team->chunks, err) : CUBED_OK;
}

static cubed_status run(const cb_task *t, cb_team *team, const cb_box *chunks, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_branch *b = &s->tail.branches[0];
    const cb_stage_out *out = &s->outs[0];
    const cb_node *n = &t->plan->ir.nodes[out->node];
    copier c = {.t = t,
                .team = team,
                .load = &b->loads[b->results[0]],
                .grid = &n->grid,
                .item_size = cubed_dtype_size(n->dtype),
                .chunk_bytes = cb_chunk_bytes(t->plan, out->node)};
    if (t->member == 0) team->chunks = *chunks;
    if (step(&c, agree_on_chunks)) {
        int64_t count = cb_box_count(&team->chunks), round = cb_copy_share(s) * team->size;
        for (; c.first < count; c.first = c.last) {
            c.last = cb_min_i64(count, c.first + round);
            if (!run_round(&c)) break;
        }
    }
    return cb_team_result(team, err);
}

cubed_status cb_copy_task(const cb_task *t, const cb_box *chunks, cubed_error *err)
{
    cb_team alone;
    cb_member self;
    if (t->team) return run(t, t->team, chunks, err);
    CB_TRY(cb_team_init(&alone, &self, err));
    cb_team_begin(&alone, 1);
    cubed_status st = run(t, &alone, chunks, err);
    cb_team_destroy(&alone);
    return st;
}
