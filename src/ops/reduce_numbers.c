/* Reductions of numbers, composed of the kernel's reductions. A mean is a sum and a division. A variance is a sum of squared
 * deviations and a division. States of floats are float64, so float32 loses no precision. */

#include "base/error.h"
#include "base/struct_size.h"
#include "ops/ops_pkg.h"
#include "plan/reduction.h"

/* Returns the type of the reduction's state. */
static cubed_dtype state_type(cubed_reduction reduction, cubed_dtype dtype)
{
    cubed_kind kind = cubed_dtype_kind(dtype);
    switch (reduction) {
    case CUBED_REDUCE_MIN:
    case CUBED_REDUCE_MAX: return dtype;
    case CUBED_REDUCE_ALL:
    case CUBED_REDUCE_ANY: return CUBED_BOOL;
    case CUBED_REDUCE_SUM:
    case CUBED_REDUCE_PROD:
        if (kind == CUBED_KIND_BOOL || kind == CUBED_KIND_INT) return CUBED_INT64;
        if (kind == CUBED_KIND_UINT) return CUBED_UINT64;
        break;
    default: break;
    }
    return kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64;
}

static bool is_extreme(cubed_reduction reduction)
{
    return reduction == CUBED_REDUCE_MIN || reduction == CUBED_REDUCE_MAX;
}

/* Returns the type of the result. */
static cubed_dtype result_type(cubed_reduction reduction, cubed_dtype dtype)
{
    cubed_kind kind = cubed_dtype_kind(dtype);
    bool small_float = dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
    if (is_extreme(reduction)) return dtype;
    if (reduction == CUBED_REDUCE_ALL || reduction == CUBED_REDUCE_ANY) return CUBED_BOOL;
    if (small_float) return dtype;
    return kind < CUBED_KIND_FLOAT ? state_type(reduction, dtype) : dtype;
}

static cb_reduction kernel_reduce(cubed_reduction reduction)
{
    switch (reduction) {
    case CUBED_REDUCE_PROD: return CB_REDUCE_PROD;
    case CUBED_REDUCE_MIN:
    case CUBED_REDUCE_ALL: return CB_REDUCE_MIN;
    case CUBED_REDUCE_MAX:
    case CUBED_REDUCE_ANY: return CB_REDUCE_MAX;
    case CUBED_REDUCE_VAR:
    case CUBED_REDUCE_STD: return CB_REDUCE_M2;
    default: return CB_REDUCE_SUM;
    }
}

static cubed_status add_reduce(cubed_array *x, cb_reduction kind, uint32_t reduced,
                               cubed_array **out, cubed_error *err)
{
    const char *names[CUBED_MAX_NDIM] = {NULL};
    const cb_grid grid = cb_reduce_kept_grid(x->node.grid, reduced);
    cb_node n = {.kind = CB_NODE_REDUCE,
                 .dtype = x->node.dtype,
                 .grid = &grid,
                 .reduction = kind,
                 .reduced = reduced,
                 .ninputs = 1,
                 .dim_names = names};
    for (int d = 0, k = 0; d < x->node.grid->ndim; d++) {
        if (!(reduced >> d & 1)) names[k++] = x->node.dim_names[d];
    }
    return cb_graph_add(x->ctx, &n, &x, out, err);
}

cubed_status cb_op_reduce(const char *what, cubed_array *x, cb_reduction kind, uint32_t reduced,
                          cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_array *wider;
    if (reduced) return add_reduce(x, kind, reduced, out, err);
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: no axis is reduced, so x has %d dimensions, expected fewer", what,
                       ndim);
    CB_TRY(cb_op_expand_dims(x, ndim, NULL, &wider, err));
    cubed_status st = add_reduce(wider, kind, (uint32_t)1 << ndim, out, err);
    cubed_array_unref(wider);
    return st;
}

cubed_status cb_op_reduce_axes(const char *what, int ndim, const cubed_reduce_options *options,
                               uint32_t *mask, cubed_error *err)
{
    if (options->axes) return cb_op_axes(what, ndim, options->axes, options->naxes, mask, err);
    *mask = ndim == 32 ? UINT32_MAX : ((uint32_t)1 << ndim) - 1;
    return CUBED_OK;
}

int64_t cb_op_reduce_count(const cubed_array *x, uint32_t reduced)
{
    int64_t count, extents[CUBED_MAX_NDIM];
    int n = 0;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (reduced >> d & 1) extents[n++] = x->shape[d];
    }
    return cb_count(n, extents, &count) ? INT64_MAX : count;
}

/* Replaces *x by the result of op(*x, value). */
static cubed_status apply(cubed_op op, cubed_array **x, double value, cubed_error *err)
{
    cubed_array *scalar, *result;
    CB_TRY(cb_op_scalar((*x)->ctx, (*x)->node.dtype, value, &scalar, err));
    cubed_array *args[2] = {*x, scalar};
    cubed_status st = cb_op_numbers(op, args, 2, &result, err);
    cubed_array_unref(scalar);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = result;
    return CUBED_OK;
}

static cubed_status replace(cubed_array **x, cubed_array *by)
{
    cubed_array_unref(*x);
    *x = by;
    return CUBED_OK;
}

/* Converts the reduction's state to the result. */
static cubed_status finish(cubed_reduction reduction, cubed_array **x, int64_t count,
                           double correction, cubed_error *err)
{
    if (reduction == CUBED_REDUCE_MEAN) CB_TRY(apply(CUBED_OP_DIVIDE, x, (double)count, err));
    if (reduction == CUBED_REDUCE_VAR || reduction == CUBED_REDUCE_STD) {
        double divisor = (double)count - correction;
        CB_TRY(apply(CUBED_OP_DIVIDE, x, divisor > 0 ? divisor : 0, err));
    }
    if (reduction == CUBED_REDUCE_STD) {
        cubed_array *root;
        CB_TRY(cb_op_numbers(CUBED_OP_SQRT, x, 1, &root, err));
        return replace(x, root);
    }
    return CUBED_OK;
}

cubed_status cb_op_restore_axes(cubed_array **x, const cubed_array *from, uint32_t reduced,
                                cubed_error *err)
{
    for (int d = 0; d < from->node.grid->ndim; d++) {
        cubed_array *wider;
        if (!(reduced >> d & 1)) continue;
        CB_TRY(cb_op_expand_dims(*x, d, from->node.dim_names[d], &wider, err));
        CB_TRY(replace(x, wider));
    }
    return CUBED_OK;
}

cubed_status cb_op_reduce_numbers(cubed_reduction reduction, cubed_array *x,
                                  const cubed_reduce_options *options, cubed_array **out,
                                  cubed_error *err)
{
    cubed_reduce_options taken = CUBED_REDUCE_OPTIONS_INIT;
    const cubed_reduce_options *o = &taken;
    const char *name = cubed_reduction_name(reduction);
    const cubed_dtype dtype = x->node.dtype;
    uint32_t reduced;
    CB_TRY(CB_OPTIONS_TAKE(name, options, &taken, err));
    if (dtype == CUBED_FLOAT16 || dtype == CUBED_BFLOAT16) {
        cubed_array *wide;
        CB_TRY(cb_op_cast_plain(x, CUBED_FLOAT32, &wide, err));
        const cubed_status wide_st = cb_op_reduce_numbers(reduction, wide, o, out, err);
        cubed_array_unref(wide);
        return wide_st;
    }
    if (!cb_reduce_accepts(reduction, dtype))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name,
                       cubed_dtype_name(dtype));
    CB_TRY(cb_op_reduce_axes(name, x->node.grid->ndim, o, &reduced, err));
    const int64_t count = cb_op_reduce_count(x, reduced);
    if (count == 0 && is_extreme(reduction))
        return cb_fail(err, CUBED_E_ARG, "%s of no elements: a reduced axis has extent 0", name);

    cubed_array *a = NULL, *b = NULL;
    cubed_status st;
    CB_GO(cb_op_cast_plain(x, state_type(reduction, dtype), &a, err));
    CB_GO(cb_op_reduce(name, a, kernel_reduce(reduction), reduced, &b, err));
    CB_GO(replace(&a, b));
    CB_GO(finish(reduction, &a, count, o->correction, err));
    CB_GO(cb_op_cast_plain(a, result_type(reduction, dtype), &b, err));
    CB_GO(replace(&a, b));
    if (o->keepdims) CB_GO(cb_op_restore_axes(&a, x, reduced, err));
    *out = a;
    a = NULL;
out:
    cubed_array_unref(a);
    return st;
}
