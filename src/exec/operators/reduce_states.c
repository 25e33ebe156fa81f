/* Keeps the states of a reduction's levels, and merges them. plan/reduction.h fixes the order of all operations in this file. */
#include "exec/operators/reducer.h"

#include <string.h>

#include "base/error.h"

/* --- Memory --------------------------------------------------------------------------------------- */

/* Returns true if the stage merges states that earlier stages stored. */
static bool merges(const cb_stage *s) { return s->reduce->list[0].states >= 0; }

/* Returns the number of levels of states that a task keeps. */
static int levels_of(const cb_stage *s)
{
    const cb_stage_reduce *r = s->reduce;
    const int top = r->to ? cb_reduce_depth(r->to) : cb_reduce_levels(cb_stage_nblocks(s));
    return (int)cb_max_i64(1, top - cb_reduce_depth(r->from));
}

static cubed_status planes_frame(const cb_stage_reduction *reduction, size_t count, cb_arena *arena,
                                 cb_state *out, cubed_error *err)
{
    const size_t bytes = cb_sat_mul(count, cubed_dtype_size(reduction->dtype));
    for (int i = 0; i < reduction->nplanes; i++)
        CB_TRY(cb_arena_alloc(arena, bytes, "reduction state", &out->plane[i], err));
    return CUBED_OK;
}

cb_view cb_view_of_planes(const cb_stage_reduction *reduction, const cb_state *state,
                          const cb_box *kept)
{
    char *const *plane = (char *const *)state->plane;
    cb_view view = {.base = plane[0]};
    int64_t extents[CUBED_MAX_NDIM];
    for (int j = 0; j < kept->ndim; j++) extents[j] = kept->hi[j] - kept->lo[j];
    cb_dense_strides(kept->ndim, extents, cubed_dtype_size(reduction->dtype), view.stride + 1);
    if (reduction->nplanes > 1) view.stride[0] = plane[1] - plane[0];
    return view;
}

cubed_status cb_states_frame(const cb_stage *s, const cb_box *kept, cb_arena *arena, cb_state **out,
                             cubed_error *err)
{
    const cb_stage_reduce *r = s->reduce;
    size_t count = 1;
    void *p;
    CB_TRY(cb_arena_alloc(arena, (size_t)r->n * sizeof **out, "states", &p, err));
    *out = p;
    for (int d = 0; d < kept->ndim; d++)
        count = cb_sat_mul(count, (size_t)(kept->hi[d] - kept->lo[d]));
    for (int k = 0; k < r->n; k++) {
        cb_state state;
        CB_TRY(planes_frame(&r->list[k], count, arena, &state, err));
        if (*out) (*out)[k] = state;
    }
    return CUBED_OK;
}

static cubed_status lanes_frame(const cb_stage *s, cb_arena *arena, void **lanes, cubed_error *err)
{
    return cb_arena_alloc(arena, (size_t)s->reduce->n * CB_LANES_BYTES, "lanes", lanes, err);
}

/* Allocates memory for a stored state, and for one of its chunks. */
static cubed_status stored_frame(const cubed_plan *p, const cb_stage_reduction *reduction,
                                 int64_t count, cb_arena *arena, cb_state *state, void **chunk,
                                 cubed_error *err)
{
    CB_TRY(planes_frame(reduction, (size_t)count, arena, state, err));
    CB_TRY(cb_arena_alloc(arena, cb_chunk_bytes(p, reduction->states), "chunk", chunk, err));
    if (!cb_arena_measures(arena)) return CUBED_OK;
    cb_need read = cb_read_need(p, reduction->states);
    read.arena = cb_sat_add(read.arena, CB_CHUNKS_PIN_BYTES);
    cb_arena_may_take(arena, read);
    return CUBED_OK;
}

cubed_status cb_reduce_frame(const cb_frame *f, cubed_error *err)
{
    const cb_stage_reduce *r = f->stage->reduce;
    const int groups = r->groups;
    cb_box kept = {.ndim = f->box.ndim - groups};
    size_t count = 1;
    for (int d = 0; d < kept.ndim; d++) {
        kept.lo[d] = f->box.lo[d + groups];
        kept.hi[d] = f->box.hi[d + groups];
        count = cb_sat_mul(count, (size_t)(kept.hi[d] - kept.lo[d]));
    }
    for (int l = 0; l < levels_of(f->stage) - 1; l++) {
        cb_state *states;
        CB_TRY(cb_states_frame(f->stage, &kept, f->arena, &states, err));
    }
    if (!merges(f->stage)) {
        void *lanes;
        CB_TRY(lanes_frame(f->stage, f->arena, &lanes, err));
        return cb_reduce_block_frame(f, err);
    }
    if (cb_stage_nblocks(f->stage) == 0 && f->arena->kind == CB_ARENA_LEAST) return CUBED_OK;
    for (int k = 0; k < r->n; k++) {
        size_t mark = cb_arena_mark(f->arena);
        cb_state state;
        void *chunk;
        count = cb_min_size(count, INT64_MAX);
        CB_TRY(stored_frame(f->plan, &r->list[k], (int64_t)count, f->arena, &state, &chunk, err));
        cb_arena_release(f->arena, mark);
    }
    return CUBED_OK;
}

/* --- Levels --------------------------------------------------------------------------------------- */

static void clear_level(cb_reducer *f, int level)
{
    for (int k = 0; k < f->s->reduce->n; k++)
        cb_reducer_fns(f, k)->init(f->state[level][k].plane, (size_t)f->nkept);
    f->taken[level] = 0;
    f->children[level] = 0;
}

static cubed_status make_lanes(cb_reducer *f, cubed_error *err)
{
    void *p;
    CB_TRY(lanes_frame(f->s, f->t->arena, &p, err));
    f->lanes = p;
    for (int k = 0; k < f->s->reduce->n; k++) {
        void *lanes = f->lanes + (size_t)k * CB_LANES_BYTES;
        if (cb_reducer_fns(f, k)->lanes) cb_reducer_fns(f, k)->init(&lanes, CB_LANES);
    }
    return CUBED_OK;
}

/* Merges the state of a complete level into the level above, where it counts as one child. */
static void close_level(cb_reducer *f, int level)
{
    for (int k = 0; k < f->s->reduce->n; k++) {
        cb_reducer_fns(f, k)->merge(f->state[level + 1][k].plane, f->state[level][k].plane,
                                    (size_t)f->nkept, f->taken[level + 1], f->taken[level]);
    }
    f->taken[level + 1] += f->taken[level];
    f->children[level + 1]++;
    clear_level(f, level);
}

static void add_child(cb_reducer *f, int level)
{
    f->children[level]++;
    for (; level + 1 < f->levels && f->children[level] == CB_REDUCE_GROUP; level++)
        close_level(f, level);
}

static void close_all(cb_reducer *f)
{
    for (int l = 0; l + 1 < f->levels; l++) {
        if (f->children[l] > 0) close_level(f, l);
    }
}

/* --- Merging stored states ------------------------------------------------------------------------ */

/* Returns the number of values in the blocks of group g, which were reduced into its state. */
static int64_t group_count(const cb_grid *reduced, int64_t span, int64_t g)
{
    const int64_t n = cb_grid_count(reduced), first = g * span;
    int64_t count = 0;
    for (int64_t b = first; b < first + cb_min_i64(n - first, span); b++) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_box box;
        cb_grid_unravel(reduced, b, idx);
        cb_grid_box(reduced, idx, &box);
        count += cb_box_count(&box);
    }
    return count;
}

/* Gathers the states of group g from their chunks, over the box without reduced axes. */
static cubed_status read_states(const cb_reducer *f, int k, int64_t g, const cb_state *state,
                                void *chunk, cubed_error *err)
{
    const cb_stage_reduction *reduction = &f->s->reduce->list[k];
    const int nkept = f->kept->ndim;
    const cb_view planes = cb_view_of_planes(reduction, state, f->kept);
    cb_map map = {.ndim_in = nkept + 1, .ndim_out = nkept + 2, .dim = {{-1, g, 0}}};
    cb_box box = {.ndim = nkept + 1, .hi = {reduction->nplanes}};
    for (int d = 0; d <= nkept; d++) {
        map.dim[d + 1].axis = d;
        map.dim[d + 1].stride = 1;
    }
    memcpy(box.lo + 1, f->kept->lo, (size_t)nkept * sizeof *box.lo);
    memcpy(box.hi + 1, f->kept->hi, (size_t)nkept * sizeof *box.hi);
    const cb_load load = {
        .kind = CB_LOAD_STORED, .dtype = reduction->dtype, .node = reduction->states, .map = &map};
    return cb_load_gather(f->t, &load, &box, &planes, chunk, err);
}

static cubed_status merge_states(cb_reducer *f, cubed_error *err)
{
    const cb_task *t = f->t;
    cb_grid reduced = cb_reduced_grid(f->s->reduce->domain, f->s->reduce->reduced);
    int64_t first, last;
    cb_stage_task_blocks(f->s, f->task_box, &first, &last);
    for (int64_t g = first; g < last; g++) {
        int64_t count = group_count(&reduced, f->s->reduce->from, g);
        CB_TRY(cb_task_check(t, err));
        for (int k = 0; k < f->s->reduce->n; k++) {
            const cb_stage_reduction *reduction = &f->s->reduce->list[k];
            size_t mark = cb_arena_mark(t->arena);
            cb_state state;
            void *chunk;
            CB_TRY(stored_frame(t->plan, reduction, f->nkept, t->arena, &state, &chunk, err));
            CB_TRY(read_states(f, k, g, &state, chunk, err));
            cb_reducer_fns(f, k)->merge(f->state[0][k].plane, state.plane, (size_t)f->nkept,
                                        f->taken[0], count);
            cb_arena_release(t->arena, mark);
        }
        f->taken[0] += count;
        add_child(f, 0);
    }
    return CUBED_OK;
}

cubed_status cb_reduce_task(const cb_task *t, const cb_box *task_box, const cb_box *kept,
                            cb_state *top, cubed_error *err)
{
    cb_reducer f = {
        .t = t, .s = t->stage, .task_box = task_box, .kept = kept, .nkept = cb_box_count(kept)};
    f.levels = levels_of(t->stage);
    size_t mark = cb_arena_mark(t->arena);
    for (int l = 0; l < f.levels; l++) {
        f.state[l] = top;
        if (l < f.levels - 1) CB_TRY(cb_states_frame(f.s, kept, t->arena, &f.state[l], err));
        clear_level(&f, l);
    }
    if (merges(f.s)) {
        CB_TRY(merge_states(&f, err));
    } else {
        int64_t first, last;
        CB_TRY(make_lanes(&f, err));
        cb_stage_task_blocks(t->stage, task_box, &first, &last);
        for (int64_t b = first; b < last; b++) {
            CB_TRY(cb_task_check(t, err));
            if (t->helper) cb_offers_step(t->helper, b - first);
            CB_TRY(cb_reduce_block(&f, b, err));
            add_child(&f, 0);
        }
    }
    close_all(&f);
    /* The sum of no elements is +0.0, although the neutral element of the sum is -0.0. */
    for (int k = 0; k < t->stage->reduce->n && f.taken[f.levels - 1] == 0; k++) {
        const cb_stage_reduction *reduction = &t->stage->reduce->list[k];
        if (reduction->kind == CB_REDUCE_SUM)
            memset(top[k].plane[0], 0, (size_t)f.nkept * cubed_dtype_size(reduction->dtype));
    }
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}
