/* Computes running sums, products, minima and maxima along one axis, and fills missing elements with the last value before them.
 * */
#include "base/error.h"
#include "dtype/scalar.h"
#include "ops/number_steps.h"
#include "ops/ops_pkg.h"

/* Returns the result type of the standard: integers become int64 or uint64, half precision float32; other types are unchanged. */
static cubed_dtype scan_type(cubed_dtype dtype)
{
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL:
    case CUBED_KIND_INT: return CUBED_INT64;
    case CUBED_KIND_UINT: return CUBED_UINT64;
    default: return dtype >= CUBED_DTYPE_COUNT ? CUBED_FLOAT32 : dtype;
    }
}

/* Puts the initial total at the start of the running totals x. */
static cubed_status prepend(cubed_reduction reduction, int axis, cubed_array *x, cubed_array **out,
                            cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *both[2] = {NULL, x};
    cubed_scalar start = cb_scalar_from_i64(x->node.dtype, reduction == CUBED_REDUCE_PROD);
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) shape[d] = d == axis ? 1 : x->shape[d];
    CB_TRY(cubed_array_full(x->ctx, x->node.dtype, ndim, shape, NULL, &start, &both[0], err));
    cubed_status st = cubed_concat(both, 2, axis, out, err);
    cubed_array_unref(both[0]);
    return st;
}

static cubed_status add_scan(cb_reduction kind, cubed_array *x, int axis, cubed_dtype type,
                             cubed_array **out, cubed_error *err)
{
    cubed_array *wide;
    CB_TRY(cb_op_cast(x, type, &wide, err));
    cb_node n = cb_graph_like(wide, CB_NODE_SCAN, type);
    n.reduction = kind;
    n.axis = axis;
    const cb_grid grid = cb_grid_storable(n.grid);
    n.grid = &grid;
    cubed_status st = cb_graph_add(x->ctx, &n, &wide, out, err);
    cubed_array_unref(wide);
    return st;
}

cubed_status cubed_forward_fill(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    cubed_dtype from = x->node.dtype;
    uint32_t mask;
    if (cubed_dtype_kind(from) == CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE,
                       "forward_fill is not defined for %s, expected numbers or times",
                       cubed_dtype_name(from));
    CB_TRY(cb_op_axes("forward_fill", x->node.grid->ndim, &axis, 1, &mask, err));
    if (cubed_dtype_kind(from) < CUBED_KIND_FLOAT) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    if (axis < 0) axis += x->node.grid->ndim;
    if (cb_kernel_has_scan(CB_REDUCE_LAST, from))
        return add_scan(CB_REDUCE_LAST, x, axis, from, out, err);
    /* float32 can represent every number of half precision, and int64 every time */
    const cubed_dtype type =
        cubed_dtype_kind(from) == CUBED_KIND_TIME ? CUBED_INT64 : CUBED_FLOAT32;
    cubed_array *wide;
    CB_TRY(add_scan(CB_REDUCE_LAST, x, axis, type, &wide, err));
    cubed_status st = cb_op_cast(wide, from, out, err);
    cubed_array_unref(wide);
    return st;
}

/* Computes running sums of time differences. They are NaT from the first NaT on. */
static cubed_status running_time(cubed_array *x, int axis, bool include_initial, cubed_array **out,
                                 cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *ints = cb_number_cast(&s, x, CUBED_INT64);
    cubed_array *missing = cb_step_is_nat(&s, ints), *sums[2] = {NULL, NULL};
    cubed_array *const of[2] = {
        cb_number_op(&s, CUBED_OP_WHERE, missing, cb_step_whole(&s, 0), ints),
        cb_number_cast(&s, missing, CUBED_INT64)};
    for (int i = 0; i < 2 && s.st == CUBED_OK; i++)
        cb_step(&s, cubed_cumulative(CUBED_REDUCE_SUM, of[i], axis, include_initial, &sums[i], err),
                &sums[i]);
    cubed_array *lost = cb_number_op(&s, CUBED_OP_GREATER, sums[1], cb_step_whole(&s, 0), NULL);
    cubed_array *y = cb_step_nat_where(&s, lost, sums[0]);
    return cb_steps_end(&s, cb_number_cast(&s, y, x->node.dtype), out);
}

static cb_reduction scan_of(cubed_reduction reduction)
{
    switch (reduction) {
    case CUBED_REDUCE_PROD: return CB_REDUCE_PROD;
    case CUBED_REDUCE_MAX: return CB_REDUCE_MAX;
    case CUBED_REDUCE_MIN: return CB_REDUCE_MIN;
    default: return CB_REDUCE_SUM;
    }
}

cubed_status cubed_cumulative(cubed_reduction reduction, cubed_array *x, int axis,
                              bool include_initial, cubed_array **out, cubed_error *err)
{
    bool extreme = reduction == CUBED_REDUCE_MAX || reduction == CUBED_REDUCE_MIN;
    const char *name = reduction == CUBED_REDUCE_SUM    ? "cumulative_sum"
                       : reduction == CUBED_REDUCE_PROD ? "cumulative_prod"
                       : reduction == CUBED_REDUCE_MAX  ? "cumulative_max"
                                                        : "cumulative_min";
    cubed_dtype from = x->node.dtype, type = scan_type(from);
    uint32_t mask;
    int ndim = x->node.grid->ndim;
    if (reduction != CUBED_REDUCE_SUM && reduction != CUBED_REDUCE_PROD && !extreme)
        return cb_fail(err, CUBED_E_ARG,
                       "cumulative: reduction number %d, expected sum, prod, max or min",
                       (int)reduction);
    if (extreme && include_initial)
        return cb_fail(err, CUBED_E_ARG, "%s has no initial element: leave out include_initial",
                       name);
    if (reduction == CUBED_REDUCE_SUM && cubed_dtype_family(from) == CUBED_TIMEDELTA64)
        return running_time(x, axis, include_initial, out, err);
    if (cubed_dtype_kind(from) > (extreme ? CUBED_KIND_FLOAT : CUBED_KIND_COMPLEX))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name, cubed_dtype_name(from));
    CB_TRY(cb_op_axes(name, ndim, &axis, 1, &mask, err));
    if (axis < 0) axis += ndim;
    cubed_array *scan;
    cubed_status st = add_scan(scan_of(reduction), x, axis, type, &scan, err);
    if (st != CUBED_OK) return st;
    if (extreme) {
        /* `from` can represent every element, because extremes are elements of x */
        st = cb_op_cast(scan, from, out, err);
        cubed_array_unref(scan);
        return st;
    }
    if (!include_initial) {
        *out = scan;
        return CUBED_OK;
    }
    st = prepend(reduction, axis, scan, out, err);
    cubed_array_unref(scan);
    return st;
}
