/* The order of everything here is fixed by plan/reduction.h. */
#include "exec/reduce_run.h"

#include <string.h>

#include "base/error.h"
#include "plan/reduction.h"

_Static_assert(sizeof(cb_state) <= CB_STATE_BYTES, "CB_STATE_BYTES");

typedef struct folder {
    const cb_task *t;
    const cb_stage *s;
    const cb_box *task_box; /* with the groups of PARTIAL in front */
    const cb_box *kept;     /* without */
    int64_t nkept;          /* elements of the kept box */
    int levels;
    cb_state *state[CB_REDUCE_MAX_LEVELS];  /* [level][reduction]; the last one is the result */
    int64_t taken[CB_REDUCE_MAX_LEVELS];    /* values reduced into each state of the level */
    int64_t children[CB_REDUCE_MAX_LEVELS]; /* blocks (level 0) or states of the level below */
    char *
        lanes; /* of the run that is reduced, CB_LANES_BYTES for each reduction; neutral between runs */
} folder;

static const cb_reduce_fns *fns_of(const folder *f, int reduction)
{
    const cb_stage_reduction *of = &f->s->reductions[reduction];
    if (of->value == CUBED_FLOAT32 && of->dtype == CUBED_FLOAT64)
        return &f->t->kernels->reduce_float32[of->kind];
    return &f->t->kernels->reduction[of->kind][of->dtype];
}

static void clear_level(folder *f, int level)
{
    for (int k = 0; k < f->s->nreductions; k++)
        fns_of(f, k)->init(f->state[level][k].plane, (size_t)f->nkept);
    f->taken[level] = 0;
    f->children[level] = 0;
}

static cubed_status make_levels(folder *f, cb_state *top, cubed_error *err)
{
    const cb_task *t = f->t;
    for (int l = 0; l < f->levels; l++) {
        bool is_top = l == f->levels - 1;
        void *p;
        if (is_top) {
            f->state[l] = top;
        } else {
            CB_TRY(cb_arena_alloc(t->arena, (size_t)f->s->nreductions * sizeof(cb_state), "states",
                                  &p, err));
            f->state[l] = p;
        }
        for (int k = 0; k < f->s->nreductions && !is_top; k++) {
            const cb_stage_reduction *reduction = &f->s->reductions[k];
            for (int i = 0; i < reduction->nplanes; i++) {
                CB_TRY(cb_arena_alloc(t->arena,
                                      (size_t)f->nkept * cubed_dtype_size(reduction->dtype),
                                      "reduction state", &p, err));
                f->state[l][k].plane[i] = p;
            }
        }
        clear_level(f, l);
    }
    return CUBED_OK;
}

static cubed_status make_lanes(folder *f, cubed_error *err)
{
    void *p;
    CB_TRY(
        cb_arena_alloc(f->t->arena, (size_t)f->s->nreductions * CB_LANES_BYTES, "lanes", &p, err));
    f->lanes = p;
    for (int k = 0; k < f->s->nreductions; k++) {
        void *lanes = f->lanes + (size_t)k * CB_LANES_BYTES;
        if (fns_of(f, k)->lanes) fns_of(f, k)->init(&lanes, CB_LANES);
    }
    return CUBED_OK;
}

/* A level that has taken in all its children becomes one child of the level above. */
static void close_level(folder *f, int level)
{
    for (int k = 0; k < f->s->nreductions; k++) {
        fns_of(f, k)->merge(f->state[level + 1][k].plane, f->state[level][k].plane,
                            (size_t)f->nkept, f->taken[level + 1], f->taken[level]);
    }
    f->taken[level + 1] += f->taken[level];
    f->children[level + 1]++;
    clear_level(f, level);
}

static void add_child(folder *f, int level)
{
    f->children[level]++;
    for (; level + 1 < f->levels && f->children[level] == CB_REDUCE_GROUP; level++)
        close_level(f, level);
}

static void close_all(folder *f)
{
    for (int l = 0; l + 1 < f->levels; l++) {
        if (f->children[l] > 0) close_level(f, l);
    }
}

/* --- One block --------------------------------------------------------------------------------------- */

/* Where the values of a block come from: a running program, or dense arrays when the block crosses
 * branches and was evaluated beforehand. */
typedef struct source {
    cb_vm *vm;
    char *const *values;
} source;

/* What a vector holds: elements of as many states, a piece of one reduced run, or whole short ones,
 * each of another state. */
typedef enum how { ROWS, RUN, RUNS } how;

typedef struct block_loop {
    folder *f;
    source from;
    int ndim, inner; /* vectors go along the axes from `inner` */
    int64_t extent[CUBED_MAX_NDIM];
    int64_t run;  /* their elements; RUNS: of all runs side by side */
    int64_t step; /* elements of a vector */
    how how;
    int64_t reduced_run; /* RUN, RUNS */
    /* Positions of elements, in C order of the reduced axes of the whole domain. */
    int64_t origin, place[CUBED_MAX_NDIM];
    int64_t straight; /* RUN, RUNS: elements of a reduced run whose positions follow one another */
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

static const void *vector(const block_loop *b, int reduction, int64_t at, int64_t p)
{
    if (b->from.vm) return cb_vm_result(b->from.vm, reduction);
    return b->from.values[reduction] +
           (size_t)(at + p) * cubed_dtype_size(b->f->s->reductions[reduction].value);
}

/* The state that position p of the run at these outer indices goes to. */
static int64_t kept_position(const block_loop *b, const int64_t *idx, int64_t p)
{
    int64_t at = 0;
    for (int d = 0; d < b->inner; d++) {
        if (!(b->f->s->reduced >> d & 1)) at = at * b->extent[d] + idx[d];
    }
    return b->how == ROWS ? at * b->run + p : (at * b->run + p) / b->reduced_run;
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

/* The lanes are joined where a stretch or the run ends. */
static void reduce_run(const block_loop *b, int reduction, void *const *state, const void *x,
                       int64_t p, size_t n, int64_t count)
{
    const cb_reduce_fns *fns = fns_of(b->f, reduction);
    void *lanes = b->f->lanes + (size_t)reduction * CB_LANES_BYTES;
    int64_t end = p + (int64_t)n;
    if (!fns->lanes) {
        fns->run(state, x, n, count);
        return;
    }
    fns->lanes(lanes, x, n);
    if (end == b->run || end % CB_STRETCH == 0) fns->join(state, lanes);
}

static void reduce_vector(const block_loop *b, const int64_t *idx, int64_t at, int64_t p, size_t n,
                          int64_t count)
{
    int64_t kept = kept_position(b, idx, p);
    folder *f = b->f;
    if (b->from.vm) cb_vm_vector(b->from.vm, p, n);
    for (int k = 0; k < f->s->nreductions; k++) {
        const cb_stage_reduction *reduction = &f->s->reductions[k];
        const cb_reduce_fns *fns = fns_of(f, k);
        size_t r = (size_t)b->reduced_run;
        cb_state s;
        const void *x = vector(b, k, at, p);
        for (int i = 0; i < reduction->nplanes; i++)
            s.plane[i] =
                (char *)f->state[0][k].plane[i] + (size_t)kept * cubed_dtype_size(reduction->dtype);
        if (cb_reduce_has_position(reduction->kind)) {
            reduce_positions(b, fns, &s, x, idx, p, n);
            continue;
        }
        switch (b->how) {
        case ROWS: fns->rows(s.plane, x, n, count); break;
        case RUN: reduce_run(b, k, s.plane, x, p, n, count); break;
        case RUNS: fns->runs(s.plane, x, r, n / r, count); break;
        }
    }
}

/* Outer axes split into kept and reduced ones, each walked in C order with the other at rest. */
static bool next_of(const block_loop *b, bool reduced, int64_t *idx)
{
    for (int d = b->inner - 1; d >= 0; d--) {
        if ((b->f->s->reduced >> d & 1) != reduced) continue;
        if (++idx[d] < b->extent[d]) return true;
        idx[d] = 0;
    }
    return false;
}

/* Elements of a run that are reduced together over all reduced rows, so that their states stay in
 * the cache. Element order within a state is the same for any panel. */
enum { PANEL_VECTORS = 16, PANEL = PANEL_VECTORS * CB_VECTOR };

/* The processor brings what follows by itself within a row, not where the next one starts. */
static void prefetch_next_row(const block_loop *b, const int64_t *idx, int64_t p)
{
    int64_t next[CUBED_MAX_NDIM];
    memcpy(next, idx, sizeof next);
    if (b->from.vm && next_of(b, true, next)) cb_vm_prefetch(b->from.vm, next, p);
}

static void reduce_loop(const block_loop *b)
{
    int64_t idx[CUBED_MAX_NDIM] = {0}, at = 0;
    int64_t panel = b->how == RUN ? b->run : PANEL_VECTORS * b->step;
    if (b->run == 0) return;
    for (int d = 0; d < b->inner; d++) {
        if (b->extent[d] == 0) return;
    }
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

static void set_positions(block_loop *b, const cb_box *box)
{
    const cb_stage *s = b->f->s;
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
        place *= s->domain.axis[d].extent;
        if (b->extent[d] == 1) continue;
        straight = straight && b->place[d] == b->straight && b->straight < b->reduced_run;
        if (straight) b->straight *= b->extent[d];
    }
}

/* How a block is walked. Which order a reduction has depends on the extents of the block's reduced axes
 * alone; how many short runs go into a panel does not change it. */
static void set_walk(block_loop *b, uint32_t reduced)
{
    bool inner_reduced;
    b->inner = cb_reduce_inner(&b->f->s->domain, reduced, &inner_reduced);
    b->run = 1;
    for (int d = b->inner; d < b->ndim; d++) b->run *= b->extent[d];
    b->step = CB_VECTOR;
    b->how = inner_reduced ? RUN : ROWS;
    b->reduced_run = b->run;
    if (!inner_reduced || b->run >= CB_VECTOR || b->run == 0) return;
    b->how = RUNS;
    b->step = CB_VECTOR / b->run * b->run;
    while (b->inner > 0 && b->run < PANEL &&
           (!(reduced >> (b->inner - 1) & 1) || b->extent[b->inner - 1] == 1))
        b->run *= b->extent[--b->inner];
}

/* Evaluates a block that crosses branches into dense arrays. */
static cubed_status evaluate_values(const folder *f, const cb_box *block, char **values,
                                    cubed_error *err)
{
    const cb_task *t = f->t;
    const cb_program *prog = &f->s->body;
    int64_t extents[CUBED_MAX_NDIM], count = cb_box_count(block);
    cb_view *outs;
    void *p;
    for (int d = 0; d < block->ndim; d++) extents[d] = block->hi[d] - block->lo[d];
    CB_TRY(cb_arena_alloc(t->arena, (size_t)f->s->nreductions * sizeof *outs, "views", &p, err));
    outs = p;
    for (int k = 0; k < f->s->nreductions; k++) {
        CB_TRY(cb_arena_alloc(t->arena, (size_t)count * cubed_dtype_size(f->s->reductions[k].value),
                              "values of a block", &p, err));
        values[k] = p;
    }
    int i, last;
    for (cb_program_branches(prog, block, &i, &last); i < last; i++) {
        cb_box part;
        cb_branch_part(&prog->branches[i], block, &part);
        if (cb_box_empty(&part)) continue;
        for (int k = 0; k < f->s->nreductions; k++) {
            cb_dense_strides(block->ndim, extents, cubed_dtype_size(f->s->reductions[k].value),
                             outs[k].stride);
            outs[k].base = values[k];
            for (int d = 0; d < block->ndim; d++)
                outs[k].base += (part.lo[d] - block->lo[d]) * outs[k].stride[d];
        }
        size_t mark = cb_arena_mark(t->arena);
        cb_vm *vm;
        CB_TRY(cb_vm_open(t, prog, &prog->branches[i], &part, NULL, outs, -1, &vm, err));
        CB_TRY(cb_vm_store(vm, false, err));
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
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

static cubed_status reduce_block(folder *f, int64_t block, cubed_error *err)
{
    const cb_task *t = f->t;
    size_t mark = cb_arena_mark(t->arena);
    cubed_status st = CUBED_OK;
    cb_box box;
    block_loop b = {.f = f, .ndim = f->s->domain.ndim};
    int64_t reduced = 1;
    cb_stage_block(f->s, f->task_box, block, &box);
    for (int d = 0; d < b.ndim; d++) {
        b.extent[d] = box.hi[d] - box.lo[d];
        if (f->s->reduced >> d & 1) reduced *= b.extent[d];
    }
    set_walk(&b, f->s->reduced);
    set_positions(&b, &box);
    const cb_branch *branch = single_branch(&f->s->body, &box);
    if (branch) {
        CB_GO(cb_vm_open(t, &f->s->body, branch, &box, NULL, NULL, b.inner, &b.from.vm, err));
    } else {
        void *p;
        CB_GO(cb_arena_alloc(t->arena, (size_t)f->s->nreductions * sizeof(char *), "values", &p,
                             err));
        CB_GO(evaluate_values(f, &box, p, err));
        b.from.values = p;
    }
    reduce_loop(&b);
    CB_GO(cb_task_check(t, err));
    f->taken[0] += reduced;
out:
    cb_arena_release(t->arena, mark);
    return st;
}

/* --- Merging stored states ----------------------------------------------------------------------------- */

/* Values behind group g: those of its blocks. */
static int64_t group_count(const cb_grid *reduced, int64_t g)
{
    int64_t n = cb_grid_count(reduced), count = 0;
    for (int64_t b = g * CB_REDUCE_GROUP; b < cb_min_i64(n, (g + 1) * CB_REDUCE_GROUP); b++) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_box box;
        cb_grid_unravel(reduced, b, idx);
        cb_grid_box(reduced, idx, &box);
        count += cb_box_count(&box);
    }
    return count;
}

/* The states of group g over the kept box, gathered from the chunks that hold them. */
static cubed_status read_states(const folder *f, int k, int64_t g, void *const *planes, void *chunk,
                                cubed_error *err)
{
    const cb_task *t = f->t;
    const cb_stage_reduction *reduction = &f->s->reductions[k];
    const cb_grid *grid = &t->plan->ir.nodes[reduction->states].grid;
    size_t size = cubed_dtype_size(reduction->dtype);
    int nkept = f->kept->ndim;
    int64_t extents[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
    cb_box want = {.ndim = grid->ndim}, cover;
    want.lo[0] = g;
    want.hi[0] = g + 1;
    want.hi[1] = reduction->nplanes;
    for (int d = 0; d < nkept; d++) {
        want.lo[d + 2] = f->kept->lo[d];
        want.hi[d + 2] = f->kept->hi[d];
    }
    for (int d = 0; d < nkept; d++) extents[d] = f->kept->hi[d] - f->kept->lo[d];
    cb_dense_strides(nkept, extents, size, dense);
    cb_grid_cover(grid, &want, &cover);
    memcpy(idx, cover.lo, sizeof idx);
    do {
        const cb_want wanted = {.node = reduction->states, .idx = idx, .buffer = chunk};
        cb_pinned held;
        cb_box have, part;
        CB_TRY(cb_chunks_want(t->chunks, &wanted, t->arena, &held, t->count, err));
        cb_grid_box(grid, idx, &have);
        cb_box_intersect(&have, &want, &part);
        for (int i = 0; i < reduction->nplanes; i++) {
            const char *from = held.data + i * held.stride[1];
            char *to = planes[i];
            int64_t shape[CUBED_MAX_NDIM];
            for (int d = 0; d < nkept; d++) {
                shape[d] = part.hi[d + 2] - part.lo[d + 2];
                from += (part.lo[d + 2] - have.lo[d + 2]) * held.stride[d + 2];
                to += (part.lo[d + 2] - f->kept->lo[d]) * dense[d];
            }
            cb_copy_box(nkept, shape, size, to, dense, from, held.stride + 2);
        }
    } while (cb_odometer_next(&cover, idx));
    return CUBED_OK;
}

static cubed_status merge_states(folder *f, cubed_error *err)
{
    const cb_task *t = f->t;
    cb_grid reduced = cb_reduced_grid(&f->s->domain, f->s->reduced);
    int64_t groups = cb_ceil_div(cb_grid_count(&reduced), CB_REDUCE_GROUP);
    for (int64_t g = 0; g < groups; g++) {
        int64_t count = group_count(&reduced, g);
        for (int k = 0; k < f->s->nreductions; k++) {
            const cb_stage_reduction *reduction = &f->s->reductions[k];
            size_t mark = cb_arena_mark(t->arena);
            cb_state state;
            void *p, *chunk;
            for (int i = 0; i < reduction->nplanes; i++) {
                CB_TRY(cb_arena_alloc(t->arena,
                                      (size_t)f->nkept * cubed_dtype_size(reduction->dtype),
                                      "stored state", &p, err));
                state.plane[i] = p;
            }
            CB_TRY(cb_arena_alloc(t->arena, cb_chunk_bytes(t->plan, reduction->states), "chunk",
                                  &chunk, err));
            CB_TRY(read_states(f, k, g, state.plane, chunk, err));
            fns_of(f, k)->merge(f->state[0][k].plane, state.plane, (size_t)f->nkept, f->taken[0],
                                count);
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
    folder f = {
        .t = t, .s = t->stage, .task_box = task_box, .kept = kept, .nkept = cb_box_count(kept)};
    f.levels = cb_stage_levels(t->stage);
    size_t mark = cb_arena_mark(t->arena);
    CB_TRY(make_levels(&f, top, err));
    if (t->stage->merge) {
        CB_TRY(merge_states(&f, err));
    } else {
        int64_t first, last;
        CB_TRY(make_lanes(&f, err));
        cb_stage_task_blocks(t->stage, task_box, &first, &last);
        for (int64_t b = first; b < last; b++) {
            CB_TRY(cb_task_check(t, err));
            CB_TRY(reduce_block(&f, b, err));
            add_child(&f, 0);
        }
    }
    close_all(&f);
    /* The sum of nothing is +0.0, though its neutral element is -0.0. */
    for (int k = 0; k < t->stage->nreductions && f.taken[f.levels - 1] == 0; k++) {
        const cb_stage_reduction *reduction = &t->stage->reductions[k];
        if (reduction->kind == CB_REDUCE_SUM)
            memset(top[k].plane[0], 0, (size_t)f.nkept * cubed_dtype_size(reduction->dtype));
    }
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}
