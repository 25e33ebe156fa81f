/* Selects elements by arrays of positions. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/checks.h"
#include "base/error.h"
#include "block/params.h"

static cubed_status check_positions(const char *name, const cubed_array *x, cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s: positions are %s, expected integers", name,
                   cubed_dtype_name(x->node.dtype));
}

static bool has_elements(int ndim, const int64_t *shape)
{
    bool some = true;
    for (int d = 0; d < ndim; d++) some = some && shape[d] > 0;
    return some;
}

/* Replaces positions by a copy that a separate stage checks. An empty result has no tasks, so no other task would check the
 * positions. */
static cubed_status check_apart(cubed_array **positions, int axis, int64_t extent, cubed_error *err)
{
    cb_steps s = {.ctx = (*positions)->ctx, .err = err};
    cubed_array *checked = NULL;
    CB_TRY(cb_steps_end(&s, cb_step_wrapped(&s, *positions, axis, extent), &checked));
    cubed_array_unref(*positions);
    *positions = checked;
    return CUBED_OK;
}

/* The description of a take from x along one axis. The result has x's shape, except along this axis. */
typedef struct taking {
    const char *function;
    int axis;
    const int64_t *shape, *chunks; /* shape and chunks of the result */
    const int *symbols;            /* symbols of the result's axes */
    /* true: positions have as many axes as x; false: they are a vector */
    bool along;
} taking;

static cubed_status pick(const taking *t, cubed_array *x, cubed_array *positions, cubed_array **out,
                         cubed_error *err)
{
    const char *name = t->function;
    const int axis = t->axis;
    const int64_t *shape = t->shape, *chunks = t->chunks;
    const bool along = t->along;
    int ndim = x->node.grid->ndim, from[CUBED_MAX_NDIM];
    int64_t blocks[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM];
    cubed_array *wide;
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s of %d dimensions", name, ndim);
    if (x->shape[axis] == 0 && shape[axis] > 0)
        return cb_fail(err, CUBED_E_INDEX, "%s: axis %d has no elements", name, axis);
    CB_TRY(cubed_astype(positions, CUBED_INT64, &wide, err));
    cubed_status st = CUBED_OK;
    /* If the result is empty, check positions only for a take by a vector, because NumPy's take_along_axis does not check
     * them. */
    if (!along && positions->shape[0] > 0 && !has_elements(ndim, shape))
        CB_GO(check_apart(&wide, axis, x->shape[axis], err));
    for (int d = 0; d < ndim; d++) {
        /* The symbol of the axis is contracted: the function visits the blocks of x along the axis one after another. */
        from[d] = d == axis ? ndim : d;
        int64_t extent = cb_max_i64(1, x->shape[d]);
        blocks[d] = cb_min_i64(extent, d == axis ? x->chunks[d] : chunks[d]);
        if (along) at[d] = cb_min_i64(chunks[d], cb_max_i64(1, positions->shape[d]));
    }
    if (!along) at[0] = chunks[axis];
    const cb_take_params params = {axis, 0, x->shape[axis]};
    const cubed_block_input in[2] = {{x, from, blocks},
                                     {wide, along ? t->symbols : t->symbols + axis, at}};
    const cubed_block_output to = {x->node.dtype, ndim,       shape,
                                   chunks,        t->symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = name,
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    CB_GO(cubed_blockwise(x->ctx, &operation, out, err));
out:
    cubed_array_unref(wide);
    return st;
}

/* Sets the blocks of the result, each of at most CB_API_BLOCK_BYTES. On entry, `chunks` has x's chunks, except along the axis,
 * where it has the whole extent. A block first gets the length of x's chunks along the axis, then the lengths along the other
 * axes, from the last to the first. If memory remains, the block becomes longer along the axis, because each block reads x along
 * the whole axis. */
static void choose_blocks(const cubed_array *x, int axis, const int64_t *shape, int64_t *chunks)
{
    int64_t left = CB_API_BLOCK_BYTES / (int64_t)cubed_dtype_size(x->node.dtype);
    const int64_t all = chunks[axis];
    chunks[axis] = cb_max_i64(1, cb_min_i64(left, cb_min_i64(x->chunks[axis], all)));
    left /= chunks[axis];
    for (int d = x->node.grid->ndim - 1; d >= 0; d--) {
        if (d == axis) continue;
        int64_t extent = cb_max_i64(1, shape[d]);
        chunks[d] = cb_max_i64(1, cb_min_i64(left, cb_min_i64(chunks[d], extent)));
        left /= chunks[d];
    }
    chunks[axis] = cb_min_i64(all, chunks[axis] * cb_max_i64(1, left));
}

/* --- Known positions -----------------------------------------------------------------------------------
 *
 * Positions often form runs with equal steps or repeated values: days of a month, hours of a day, positions of a label. Each run
 * becomes a view, so operations fuse, and only chunks with selected elements are read. */

/* Each run costs a node and a branch. So views are not used for more than MOST_RUNS runs, or for more than FEW_RUNS runs whose
 * average length is below LONG_RUN. */
enum { MOST_RUNS = 256, FEW_RUNS = 16, LONG_RUN = 4 };

typedef struct run {
    int64_t start, step, n;
} run;

static int64_t position(const cb_node *n, int64_t i)
{
    int64_t at;
    memcpy(&at, (const char *)n->data + i * n->strides[0], sizeof at);
    return at;
}

/* Finds the runs of positions and returns their number. Returns 0 if there are too many runs or none, or if positions are
 * unknown or out of range. */
static int find_runs(const cubed_array *positions, int64_t extent, run runs[MOST_RUNS])
{
    const cb_node *node = &positions->node;
    const int64_t n = positions->shape[0];
    int count = 0;
    if (node->kind != CB_NODE_MEMORY || node->dtype != CUBED_INT64) return 0;
    for (int64_t i = 0; i < n;) {
        int64_t at = position(node, i), last = at;
        if (at < -extent || at >= extent || count == MOST_RUNS) return 0;
        run *r = &runs[count++];
        *r = (run){at < 0 ? at + extent : at, 0, 1};
        for (i++; i < n; i++, r->n++) {
            at = position(node, i);
            /* A run ends where the sign of the positions changes. So all positions of a run are in range if the first and
             * the last are. */
            if ((at < 0) != (last < 0) || at < -extent || at >= extent) break;
            if (r->n == 1)
                r->step = at - last;
            else if (at - last != r->step)
                break;
            last = at;
        }
    }
    return count <= FEW_RUNS || n / count >= LONG_RUN ? count : 0;
}

static cubed_status view_run(cubed_array *x, int axis, const run *r, cubed_array **out,
                             cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *one;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
        shape[d] = x->shape[d];
    }
    shape[axis] = r->n;
    slices[axis] = (cubed_slice){r->start, r->n, r->step, false};
    if (r->step != 0) return cubed_slice_array(x, slices, out, err);
    slices[axis] = (cubed_slice){r->start, 1, 1, false};
    CB_TRY(cubed_slice_array(x, slices, &one, err));
    cubed_status st = cubed_broadcast_to(one, x->node.grid->ndim, shape, out, err);
    cubed_array_unref(one);
    return st;
}

/* Returns true if x is neither stored nor constant: each read computes its elements again. */
static bool is_virtual(const cubed_array *x)
{
    while (x->node.kind == CB_NODE_VIEW) x = x->in[0];
    return !cb_node_is_source(&x->node) && !cb_node_stores_itself(&x->node) &&
           !cb_node_is(&x->node, CB_KIND_CONSTANT);
}

/* Returns an array for repeated reads: x, or a stored copy if each read would compute x again. */
static cubed_status computed_once(cubed_array *x, cubed_array **out, cubed_error *err)
{
    if (!is_virtual(x)) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    cb_node n = cb_graph_like(x, CB_NODE_COPY, x->node.dtype);
    cb_node_store(&n, CB_WHY_BLOCK_INPUT);
    return cb_graph_add(x->ctx, &n, &x, out, err);
}

/* Replaces the chunks along an axis by regular ones. Nothing is copied, because the values are computed in these chunks. */
static cubed_status set_chunks(cubed_array **x, int axis, int64_t chunk, cubed_error *err)
{
    cb_grid grid = cb_grid_copy((*x)->node.grid);
    cubed_array *y;
    grid.axis[axis] = cb_axis_regular((*x)->shape[axis], chunk);
    cb_node n = (*x)->node;
    n.grid = &grid;
    CB_TRY(cb_graph_add((*x)->ctx, &n, (*x)->in, &y, err));
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

static cubed_status take_runs(cubed_array *x, int axis, const run *runs, int n, int64_t total,
                              cubed_array **out, cubed_error *err)
{
    cubed_array *views[MOST_RUNS] = {NULL}, *from, *joined = NULL;
    cubed_status st = CUBED_OK;
    if (total > x->shape[axis])
        CB_TRY(computed_once(x, &from, err));
    else
        from = cubed_array_ref(x);
    for (int i = 0; i < n; i++) CB_GO(view_run(from, axis, &runs[i], &views[i], err));
    CB_GO(cubed_concat(views, n, axis, &joined, err));
    /* Chunks as short as the runs would be tiny, so regular chunks replace them. A single slice or flip keeps the chunks of x. */
    if (n > 1 || (runs[0].step != 1 && runs[0].step != -1))
        CB_GO(set_chunks(&joined, axis, cb_min_i64(x->chunks[axis], total), err));
    *out = joined;
    joined = NULL;
out:
    for (int i = 0; i < n; i++) cubed_array_unref(views[i]);
    cubed_array_unref(joined);
    cubed_array_unref(from);
    return st;
}

cubed_status cubed_take(cubed_array *x, cubed_array *positions, int axis, cubed_array **out,
                        cubed_error *err)
{
    run runs[MOST_RUNS];
    int ndim = x->node.grid->ndim, symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    CB_TRY(cb_api_axis("take", ndim, &axis, err));
    CB_TRY(check_positions("take", positions, err));
    if (positions->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "take: positions have %d dimensions, expected 1",
                       positions->node.grid->ndim);
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d;
        shape[d] = d == axis ? positions->shape[0] : x->shape[d];
        /* Blocks of positions are as long as possible, because each of them reads all of x. */
        chunks[d] = d == axis ? cb_max_i64(1, shape[d]) : x->chunks[d];
    }
    int n = find_runs(positions, x->shape[axis], runs);
    if (n > 0) return take_runs(x, axis, runs, n, positions->shape[0], out, err);
    choose_blocks(x, axis, shape, chunks);
    const taking t = {"take", axis, shape, chunks, symbols, false};
    return pick(&t, x, positions, out, err);
}

cubed_status cubed_take_along_axis(cubed_array *x, cubed_array *positions, int axis,
                                   cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim, symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    CB_TRY(cb_api_axis("take_along_axis", ndim, &axis, err));
    CB_TRY(check_positions("take_along_axis", positions, err));
    if (positions->node.grid->ndim != ndim)
        return cb_fail(err, CUBED_E_ARG,
                       "take_along_axis: positions have %d dimensions, expected %d",
                       positions->node.grid->ndim, ndim);
    for (int d = 0; d < ndim; d++) {
        int64_t a = x->shape[d], b = positions->shape[d];
        if (d != axis && a != b && a != 1 && b != 1)
            return cb_fail(err, CUBED_E_ARG,
                           "take_along_axis: axis %d has %lld elements and %lld positions, "
                           "expected equal numbers or 1",
                           d, (long long)a, (long long)b);
        symbols[d] = d;
        shape[d] = d == axis || a == 1 ? b : a;
        chunks[d] = d == axis ? cb_max_i64(1, b) : a == 1 ? positions->chunks[d] : x->chunks[d];
    }
    choose_blocks(x, axis, shape, chunks);
    const taking t = {"take_along_axis", axis, shape, chunks, symbols, true};
    return pick(&t, x, positions, out, err);
}
