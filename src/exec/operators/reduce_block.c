/* Reduces blocks to states. plan/reduction.h fixes the order of all operations here. */
#include "exec/operators/reducer.h"

#include <string.h>

#include "base/error.h"

/* Source of the values of a block. If `vm` is not NULL, it computes the values while they are reduced. Otherwise the arrays
 * `values` contain them. */
typedef struct source {
    cb_vm *vm;
    char *const *values;
} source;

/* Elements of a vector. ROWS: each element belongs to another state. RUN: all elements belong to one reduced run, a contiguous
 * sequence of elements that is reduced to one state. RUNS: the vector consists of whole short runs, each of another state. */
typedef enum how { ROWS, RUN, RUNS } how;

typedef struct block_loop {
    cb_reducer *f;
    source from;
    int rows;                        /* number of rows that are reduced together */
    cb_vm *row[CB_REDUCE_MOST_ROWS]; /* virtual machine of each row */
    int ndim, inner;                 /* vectors extend along the axes from `inner` on */
    int64_t extent[CUBED_MAX_NDIM];
    /* number of elements of a run; for RUNS, number of elements of all adjacent runs */
    int64_t run;
    int64_t step; /* number of elements of a vector */
    how how;
    int64_t reduced_run; /* RUN, RUNS */
    /* Index of the state of element 0 among the states of the block, and the distance from it to the next state along each
     * axis. The states of a run are adjacent. */
    int64_t first_state, state_stride[CUBED_MAX_NDIM];
    /* The position of an element is its index in C order along the reduced axes of the whole domain. `origin`: position of
     * element 0 of the block. `place`: difference between the positions of adjacent elements along each axis. */
    int64_t origin, place[CUBED_MAX_NDIM];
    /* For RUN and RUNS: number of elements of a reduced run with consecutive positions. */
    int64_t straight;
} block_loop;

static void seek(const block_loop *b, const int64_t *idx, int64_t *at)
{
    if (b->from.vm) {
        cb_vm_seek(b->from.vm, idx);
        return;
    }
    *at = 0;
    for (int d = 0; d < b->inner; d++) *at = *at * b->extent[d] + idx[d];
    *at *= b->run;
}

static const void *vector(const block_loop *b, int reduction, int64_t at, int64_t p,
                          const void **factor)
{
    if (b->from.vm) return cb_vm_result(b->from.vm, reduction, factor);
    *factor = NULL;
    return b->from.values[reduction] +
           (size_t)(at + p) * cubed_dtype_size(b->f->s->reduce->list[reduction].value);
}

/* Returns the index of the state to which element p of the run belongs. `idx` has the outer indices of the run. */
static int64_t kept_position(const block_loop *b, const int64_t *idx, int64_t p)
{
    int64_t at = b->first_state;
    for (int d = 0; d < b->inner; d++) at += idx[d] * b->state_stride[d];
    return at + (b->how == ROWS ? p : p / b->reduced_run);
}

static int64_t position(const block_loop *b, const int64_t *idx, int64_t p)
{
    int64_t at = b->origin;
    for (int d = b->ndim - 1; d >= b->inner; d--) {
        at += p % b->extent[d] * b->place[d];
        p /= b->extent[d];
    }
    for (int d = 0; d < b->inner; d++) at += idx[d] * b->place[d];
    return at;
}

static void reduce_positions(const block_loop *b, const cb_reduce_fns *fns, const cb_state *s,
                             const void *x, const int64_t *idx, int64_t p, size_t n)
{
    size_t r = (size_t)b->reduced_run, straight = (size_t)b->straight;
    if (b->how == ROWS) {
        fns->rows(s->plane, x, n, position(b, idx, p));
        return;
    }
    if (b->how == RUNS && r == straight) {
        fns->runs(s->plane, x, r, n / r, position(b, idx, p));
        return;
    }
    for (size_t q = 0, piece; q < n; q += piece) {
        size_t state = b->how == RUNS ? q / r : 0;
        piece = cb_min_size(n - q, straight - ((size_t)p + q) % straight);
        void *planes[2] = {(int64_t *)s->plane[0] + state, (int64_t *)s->plane[1] + state};
        fns->run(planes, (const int64_t *)x + q, piece, position(b, idx, p + (int64_t)q));
    }
}

/* Returns true if the partial results of the lanes are combined before element `end`. This is done at the end of each stretch
 * of a run and at the end of the run. */
static bool joins(const block_loop *b, int64_t end)
{
    return end == b->run || end % CB_STRETCH == 0;
}

static void reduce_run(const block_loop *b, int reduction, void *const *state, const void *x,
                       int64_t p, size_t n, int64_t count)
{
    const cb_reduce_fns *fns = cb_reducer_fns(b->f, reduction);
    void *lanes = b->f->lanes + (size_t)reduction * CB_LANES_BYTES;
    if (!fns->lanes) {
        fns->run(state, x, n, count);
        return;
    }
    fns->lanes(lanes, x, n);
    if (joins(b, p + (int64_t)n)) fns->join(state, lanes);
}

static void reduce_product(const block_loop *b, int reduction, void *state, const void *x,
                           const void *y, int64_t p, size_t n)
{
    const cb_kernels *k = b->f->t->kernels;
    const cb_product_fns *fns = &k->sum_of_products[b->f->s->reduce->list[reduction].value];
    void *lanes = b->f->lanes + (size_t)reduction * CB_LANES_BYTES;
    size_t r = (size_t)b->reduced_run;
    switch (b->how) {
    case ROWS: fns->rows(state, x, y, n); break;
    case RUN:
        fns->lanes(lanes, x, y, n);
        if (joins(b, p + (int64_t)n)) cb_reducer_fns(b->f, reduction)->join(&state, lanes);
        break;
    case RUNS: fns->runs(state, x, y, r, n / r); break;
    }
}

static void reduce_vector(const block_loop *b, const int64_t *idx, int64_t at, int64_t p, size_t n,
                          int64_t count)
{
    int64_t kept = kept_position(b, idx, p);
    cb_reducer *f = b->f;
    if (b->from.vm) cb_vm_vector(b->from.vm, p, n);
    for (int k = 0; k < f->s->reduce->n; k++) {
        const cb_stage_reduction *reduction = &f->s->reduce->list[k];
        const cb_reduce_fns *fns = cb_reducer_fns(f, k);
        size_t r = (size_t)b->reduced_run;
        cb_state s;
        const void *factor, *x = vector(b, k, at, p, &factor);
        for (int i = 0; i < reduction->nplanes; i++)
            s.plane[i] =
                (char *)f->state[0][k].plane[i] + (size_t)kept * cubed_dtype_size(reduction->dtype);
        if (cb_reduce_has_position(reduction->kind)) {
            reduce_positions(b, fns, &s, x, idx, p, n);
            continue;
        }
        if (factor) {
            reduce_product(b, k, s.plane[0], x, factor, p, n);
            continue;
        }
        switch (b->how) {
        case ROWS: fns->rows(s.plane, x, n, count); break;
        case RUN: reduce_run(b, k, s.plane, x, p, n, count); break;
        case RUNS: fns->runs(s.plane, x, r, n / r, count); break;
        }
    }
}

/* Advances idx over the kept or the reduced outer axes in C order. Does not change the other axes. */
static bool next_of(const block_loop *b, bool reduced, int64_t *idx)
{
    for (int d = b->inner - 1; d >= 0; d--) {
        if ((b->f->s->reduce->reduced >> d & 1) != reduced) continue;
        if (++idx[d] < b->extent[d]) return true;
        idx[d] = 0;
    }
    return false;
}

/* A panel is a part of a run of states. All rows are reduced into the states of one panel before the next panel, so that these
 * states stay in the processor's cache. The order of elements within a state does not depend on the panel. PANEL: maximum
 * number of states of a panel. */
enum { PANEL_VECTORS = 16, PANEL = PANEL_VECTORS * CB_VECTOR };

/* Prefetches the start of the next row into the processor's cache. Within a row, the processor prefetches by itself. */
static void prefetch_next_row(const block_loop *b, const int64_t *idx, int64_t p)
{
    int64_t next[CUBED_MAX_NDIM];
    memcpy(next, idx, sizeof next);
    if (b->from.vm && next_of(b, true, next)) cb_vm_prefetch(b->from.vm, next, p);
}

static int64_t panel_of(const block_loop *b)
{
    if (b->how == RUN) return b->run;
    return b->how == ROWS ? PANEL : PANEL_VECTORS * b->step;
}

static void reduce_loop(const block_loop *b)
{
    int64_t idx[CUBED_MAX_NDIM] = {0}, at = 0;
    const int64_t panel = panel_of(b);
    do {
        for (int64_t p0 = 0; p0 < b->run; p0 += panel) {
            int64_t p1 = cb_min_i64(b->run, p0 + panel), count = b->f->taken[0];
            do {
                seek(b, idx, &at);
                for (int64_t p = p0; p < p1 && !cb_task_cancelled(b->f->t); p += b->step) {
                    size_t n = (size_t)cb_min_i64(b->step, p1 - p);
                    if (p + b->step >= p1) prefetch_next_row(b, idx, p0);
                    reduce_vector(b, idx, at, p, n, count);
                    if (b->how == RUN) count += (int64_t)n;
                }
                if (b->how == ROWS) count++;
                if (b->how == RUNS) count += b->reduced_run;
            } while (next_of(b, true, idx) && !cb_task_cancelled(b->f->t));
        }
    } while (next_of(b, false, idx) && !cb_task_cancelled(b->f->t));
}

/* Reduces rows of chunks that are decoded piecewise. Each row is read in its stored order, so that each piece is decoded once.
 * Several rows are reduced into one part of the states before the next part, so that the states stay in the processor's cache.
 * Each state still receives its elements in the order of the rows. */
static cubed_status reduce_rows(block_loop *b, cubed_error *err)
{
    int64_t idx[CUBED_MAX_NDIM] = {0}, at[CB_REDUCE_MOST_ROWS][CUBED_MAX_NDIM];
    CB_CHECK(b->how == ROWS, err);
    do {
        int64_t count = b->f->taken[0];
        for (bool more = true; more && !cb_task_cancelled(b->f->t);) {
            int64_t there[CB_REDUCE_MOST_ROWS] = {0};
            int n = 0;
            for (; more && n < b->rows; more = next_of(b, true, idx), n++) {
                memcpy(at[n], idx, sizeof idx);
                cb_vm_seek(b->row[n], idx);
            }
            for (int64_t p = 0; p < b->run && !cb_task_cancelled(b->f->t); p += b->step) {
                const size_t length = (size_t)cb_min_i64(b->step, b->run - p);
                for (int k = 0; k < n; k++) {
                    b->from.vm = b->row[k];
                    if (p == there[k]) {
                        there[k] = b->run;
                        CB_TRY(cb_vm_bring(b->from.vm, p, b->step, &there[k], err));
                    }
                    reduce_vector(b, at[k], 0, p, length, count + k);
                }
            }
            count += n;
        }
    } while (next_of(b, false, idx) && !cb_task_cancelled(b->f->t));
    return CUBED_OK;
}

static cubed_status reduce_pieces(block_loop *b, cubed_error *err)
{
    const cubed_status st = reduce_rows(b, err);
    for (int k = 0; k < b->rows; k++) cb_vm_unpin(b->row[k]);
    return st;
}

static void set_positions(block_loop *b, const cb_box *box)
{
    const cb_stage_reduce *s = b->f->s->reduce;
    int64_t place = 1;
    bool straight = true;
    b->straight = 1;
    for (int d = b->ndim - 1; d >= 0; d--) {
        if (!(s->reduced >> d & 1)) {
            straight = straight && b->extent[d] == 1;
            continue;
        }
        b->place[d] = place;
        b->origin += box->lo[d] * place;
        place *= s->domain->axis[d].extent;
        if (b->extent[d] == 1) continue;
        straight = straight && b->place[d] == b->straight && b->straight < b->reduced_run;
        if (straight) b->straight *= b->extent[d];
    }
}

/* Sets the positions of the states of a part of a block. Returns the last axis along which the part has fewer states than the
 * block, or 0 if there is no such axis. */
static int set_states(block_loop *b, const cb_box *block, const cb_box *part)
{
    int64_t stride = 1;
    int cut = 0;
    for (int d = b->ndim - 1; d >= 0; d--) {
        if (b->f->s->reduce->reduced >> d & 1) continue;
        b->state_stride[d] = stride;
        b->first_state += (part->lo[d] - block->lo[d]) * stride;
        stride *= block->hi[d] - block->lo[d];
        if (cut < d && block->hi[d] - block->lo[d] != b->extent[d]) cut = d;
    }
    return cut;
}

/* Sets the order in which the elements of a block, or of a part of it, are visited. The order in which the elements of a state
 * are reduced depends only on the extents of the block's reduced axes. Neither the number of short runs in a panel nor the
 * ends of runs of rows change it. */
static void set_walk(block_loop *b, uint32_t reduced, int cut)
{
    bool inner_reduced;
    b->inner = cb_reduce_inner(b->f->s->reduce->domain, reduced, &inner_reduced);
    if (!inner_reduced && b->inner < cut) b->inner = cut;
    b->run = 1;
    for (int d = b->inner; d < b->ndim; d++) b->run *= b->extent[d];
    b->step = CB_VECTOR;
    b->how = inner_reduced ? RUN : ROWS;
    b->reduced_run = b->run;
    if (!inner_reduced || b->run >= CB_VECTOR || b->run == 0) return;
    b->how = RUNS;
    b->step = CB_VECTOR / b->run * b->run;
    while (b->inner > cut && b->run < PANEL &&
           (!(reduced >> (b->inner - 1) & 1) || b->extent[b->inner - 1] == 1))
        b->run *= b->extent[--b->inner];
}

/* Allocates arrays for the values of a block that overlaps several branches: pointers, views, and the elements. */
static cubed_status values_frame(const cb_stage *s, const int64_t *extents, cb_arena *arena,
                                 char ***values, cb_view **outs, cubed_error *err)
{
    const cb_stage_reduce *r = s->reduce;
    void *p;
    CB_TRY(cb_arena_alloc(arena, (size_t)r->n * sizeof **values, "values", &p, err));
    *values = p;
    CB_TRY(cb_arena_alloc(arena, (size_t)r->n * sizeof **outs, "views", &p, err));
    *outs = p;
    for (int k = 0; k < r->n; k++) {
        size_t bytes = cubed_dtype_size(r->list[k].value);
        for (int d = 0; d < r->domain->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)extents[d]);
        CB_TRY(cb_arena_alloc(arena, bytes, "values of a block", &p, err));
        if (*values) (*values)[k] = p;
    }
    return CUBED_OK;
}

/* Sets the block for which memory is measured: the first block of the task for a lower bound (CB_ARENA_LEAST), otherwise a
 * block of the maximum extents. Returns false for a lower bound of a task without blocks. */
static bool measured_block(const cb_frame *f, cb_box *block)
{
    const cb_stage_reduce *r = f->stage->reduce;
    int64_t first, last;
    if (f->arena->kind == CB_ARENA_LEAST) {
        cb_stage_task_blocks(f->stage, &f->box, &first, &last);
        if (first < last) cb_stage_block(f->stage, &f->box, first, block);
        return first < last;
    }
    *block = (cb_box){.ndim = r->domain->ndim};
    for (int d = 0, k = r->groups; d < r->domain->ndim; d++) {
        const bool reduced = r->reduced >> d & 1;
        block->hi[d] = reduced ? cb_blocks_most(&(cb_blocks){&r->domain->axis[d], 1, NULL})
                               : f->box.hi[k] - f->box.lo[k];
        k += !reduced;
    }
    return true;
}

/* Measures the memory of a block whose values are evaluated before they are reduced. The block may be anywhere in the domain. */
static cubed_status evaluated_frame(const cb_frame *f, int64_t *extents, cubed_error *err)
{
    const cb_stage_reduce *r = f->stage->reduce;
    char **values;
    cb_view one, *outs, *views = &one;
    const cb_box box = cb_box_whole(r->domain->ndim, extents);
    CB_TRY(values_frame(f->stage, extents, f->arena, &values, &outs, err));
    return cb_evaluate_frame(f->plan, &(cb_evaluation){.prog = &r->body}, &box, true, f->arena,
                             &views, err);
}

/* Measures the memory of a block of these extents that is reduced branch by branch. */
static cubed_status branches_frame(const cb_frame *f, const int64_t *extents, cubed_error *err)
{
    const cb_stage_reduce *r = f->stage->reduce;
    for (int i = 0; i < r->body.nbranches; i++) {
        const cb_branch *b = &r->body.branches[i];
        const size_t mark = cb_arena_mark(f->arena);
        int64_t part[CUBED_MAX_NDIM];
        for (int d = 0; d < r->domain->ndim; d++)
            part[d] = cb_min_i64(extents[d], b->hi[d] - b->lo[d]);
        CB_TRY(cb_reduce_goes_along(r, b)
                   ? cb_branch_frame(f->plan, &r->body, b, part, f->arena, err)
                   : evaluated_frame(f, part, err));
        cb_arena_release(f->arena, mark);
    }
    return CUBED_OK;
}

cubed_status cb_reduce_block_frame(const cb_frame *f, cubed_error *err)
{
    const cb_program *body = &f->stage->reduce->body;
    int64_t extents[CUBED_MAX_NDIM];
    cb_box block;
    if (!measured_block(f, &block)) return CUBED_OK;
    const cb_stage_reduce *r = f->stage->reduce;
    for (int d = 0; d < block.ndim; d++) extents[d] = block.hi[d] - block.lo[d];
    if (r->slice > 0) extents[r->slice_axis] = cb_min_i64(extents[r->slice_axis], r->slice);
    if (body->nbranches == 1) {
        for (int k = 0; k < r->rows; k++)
            CB_TRY(cb_branch_frame(f->plan, body, &body->branches[0], extents, f->arena, err));
        return CUBED_OK;
    }
    /* The values of a block in one branch are computed while they are reduced. Such a block needs no memory for values, so the
     * lower bound of this memory is 0. */
    if (f->arena->kind == CB_ARENA_LEAST) return CUBED_OK;
    return r->apart ? branches_frame(f, extents, err) : evaluated_frame(f, extents, err);
}

/* Chooses the longest possible vectors, if their length does not change the order in which values are reduced. This is so for
 * ROWS, and for a RUN whose reductions all have lanes. Otherwise the length stays as set_walk() has set it. */
static void set_step(block_loop *b)
{
    if (!b->from.vm || b->how == RUNS) return;
    for (int k = 0; k < b->f->s->reduce->n && b->how == RUN; k++) {
        if (!cb_reducer_fns(b->f, k)->lanes) return;
    }
    b->step = cb_vm_longest(b->from.vm);
}

/* Evaluates the values of a block that overlaps several branches into dense arrays. */
static cubed_status evaluate_values(const cb_reducer *f, const cb_box *block, char ***values,
                                    cubed_error *err)
{
    const cb_stage_reduce *r = f->s->reduce;
    int64_t extents[CUBED_MAX_NDIM];
    cb_view *outs;
    for (int d = 0; d < block->ndim; d++) extents[d] = block->hi[d] - block->lo[d];
    CB_TRY(values_frame(f->s, extents, f->t->arena, values, &outs, err));
    for (int k = 0; k < r->n; k++) {
        outs[k].base = (*values)[k];
        cb_dense_strides(block->ndim, extents, cubed_dtype_size(r->list[k].value), outs[k].stride);
    }
    return cb_evaluate(f->t, &(cb_evaluation){.prog = &r->body, .outs = outs}, block, err);
}

static const cb_branch *single_branch(const cb_program *prog, const cb_box *block)
{
    int i, last;
    for (cb_program_branches(prog, block, &i, &last); i < last; i++) {
        bool inside = true;
        for (int d = 0; d < block->ndim && inside; d++)
            inside =
                block->lo[d] >= prog->branches[i].lo[d] && block->hi[d] <= prog->branches[i].hi[d];
        if (inside) return &prog->branches[i];
    }
    return NULL;
}

/* Reduces a part of a block that is within `branch`. If `branch` is NULL, first evaluates the values of the part into dense
 * arrays, and then reduces them. */
static cubed_status reduce_part(cb_reducer *f, const cb_box *block, const cb_box *part,
                                const cb_branch *branch, cubed_error *err)
{
    const cb_task *t = f->t;
    size_t mark = cb_arena_mark(t->arena);
    cubed_status st = CUBED_OK;
    block_loop b = {.f = f, .ndim = part->ndim};
    bool pieces = false;
    for (int d = 0; d < b.ndim; d++) b.extent[d] = part->hi[d] - part->lo[d];
    set_walk(&b, f->s->reduce->reduced, set_states(&b, block, part));
    set_positions(&b, part);
    if (branch) {
        b.rows = f->s->reduce->rows;
        for (int k = 0; k < b.rows; k++)
            CB_GO(cb_vm_open_runs(t, &f->s->reduce->body, branch, part, b.inner, &b.row[k], err));
        b.from.vm = b.row[0];
    } else {
        char **values;
        CB_GO(evaluate_values(f, part, &values, err));
        b.from.values = values;
    }
    set_step(&b);
    for (int v = 0; branch && v < branch->nloads && !pieces; v++)
        pieces = branch->loads[v].kind == CB_LOAD_STORED && branch->loads[v].piecewise;
    if (cb_box_count(part) > 0) {
        if (pieces)
            CB_GO(reduce_pieces(&b, err));
        else
            reduce_loop(&b);
    }
    CB_GO(cb_task_check(t, err));
out:
    cb_arena_release(t->arena, mark);
    return st;
}

/* Reduces a block that overlaps several branches. */
static cubed_status reduce_branches(cb_reducer *f, const cb_box *block, cubed_error *err)
{
    const cb_stage_reduce *r = f->s->reduce;
    int i, last;
    if (!r->apart) return reduce_part(f, block, block, NULL, err);
    for (cb_program_branches(&r->body, block, &i, &last); i < last; i++) {
        const cb_branch *b = &r->body.branches[i];
        cb_box part;
        cb_branch_part(b, block, &part);
        if (cb_box_empty(&part)) continue;
        CB_TRY(reduce_part(f, block, &part, cb_reduce_goes_along(r, b) ? b : NULL, err));
    }
    return CUBED_OK;
}

static cubed_status reduce_box(cb_reducer *f, const cb_box *box, cubed_error *err)
{
    const cb_branch *branch = single_branch(&f->s->reduce->body, box);
    int64_t reduced = 1;
    for (int d = 0; d < box->ndim; d++) {
        if (f->s->reduce->reduced >> d & 1) reduced *= box->hi[d] - box->lo[d];
    }
    CB_TRY(branch ? reduce_part(f, box, box, branch, err) : reduce_branches(f, box, err));
    f->taken[0] += reduced;
    return CUBED_OK;
}

cubed_status cb_reduce_block(cb_reducer *f, int64_t block, cubed_error *err)
{
    const cb_stage_reduce *r = f->s->reduce;
    const int d = r->slice_axis;
    cb_box box;
    cb_stage_block(f->s, f->task_box, block, &box);
    if (r->slice == 0) return reduce_box(f, &box, err);
    for (const int64_t end = box.hi[d]; box.lo[d] < end; box.lo[d] = box.hi[d]) {
        box.hi[d] = cb_min_i64(end, box.lo[d] + r->slice);
        CB_TRY(reduce_box(f, &box, err));
    }
    return CUBED_OK;
}
