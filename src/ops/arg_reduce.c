/* argmin and argmax: the least position at which the extreme value stands. NaN is the extreme where
 * there is one, as in NumPy. */
#include <inttypes.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* The position has the type in which values are compared: float64 counts no further. */
#define MAX_FLOAT_POSITIONS ((int64_t)1 << 53)

static cubed_dtype compared_as(cubed_dtype dtype)
{
    if (dtype == CUBED_UINT64) return CUBED_UINT64;
    return cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT ? CUBED_FLOAT64 : CUBED_INT64;
}

static cubed_status arg_reduce(const char *name, cb_reduction kind, cubed_array *x, const int *axis,
                               bool keepdims, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    uint32_t reduced;
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TIME) {
        cubed_array *ordered;
        CB_TRY(cb_op_ordered_time(x, kind == CB_REDUCE_ARGMAX, &ordered, err));
        const cubed_status time_st = arg_reduce(name, kind, ordered, axis, keepdims, out, err);
        cubed_array_unref(ordered);
        return time_st;
    }
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TEXT)
        return cb_op_arg_text(name, kind == CB_REDUCE_ARGMAX, x, axis, keepdims, out, err);
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_dtype type = compared_as(x->node.dtype);
    cubed_array *wide = NULL, *found = NULL;
    cubed_status st = CUBED_OK;
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name,
                       cubed_dtype_name(x->node.dtype));
    o.axes = axis;
    o.naxes = 1;
    CB_TRY(cb_op_reduce_axes(name, ndim, &o, &reduced, err));
    for (int d = 0; d < ndim; d++) {
        if ((reduced >> d & 1) && x->shape[d] == 0)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d has no elements, expected at least one",
                           name, d);
    }
    int64_t count = cb_op_reduce_count(x, reduced);
    if (type == CUBED_FLOAT64 && count > MAX_FLOAT_POSITIONS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s over %" PRId64 " elements of %s, at most 2**53", name, count,
                       cubed_dtype_name(x->node.dtype));
    CB_GO(cb_op_cast(x, type, &wide, err));
    CB_GO(cb_op_reduce(name, wide, kind, reduced, &found, err));
    CB_GO(cb_op_cast(found, CUBED_INT64, out, err));
    if (!keepdims) goto out;
    st = cb_op_restore_axes(out, x, reduced, err);
    if (st != CUBED_OK) cubed_array_unref(*out);
out:
    cubed_array_unref(wide);
    cubed_array_unref(found);
    return st;
}

cubed_status cubed_argmin(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                          cubed_error *err)
{
    return arg_reduce("argmin", CB_REDUCE_ARGMIN, x, axis, keepdims, out, err);
}

cubed_status cubed_argmax(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                          cubed_error *err)
{
    return arg_reduce("argmax", CB_REDUCE_ARGMAX, x, axis, keepdims, out, err);
}
