/* argmin and argmax: the first position of the extreme value. NaN counts as the extreme, as in NumPy. */
#include <inttypes.h>

#include "base/error.h"
#include "ops/ops_pkg.h"
#include "ops/steps.h"

/* Maximum number of positions in an array of floats. A position has the type in which values are compared, and float64 represents
 * all integers only up to this limit. */
#define MAX_FLOAT_POSITIONS ((int64_t)1 << 53)

static cubed_dtype compared_as(cubed_dtype dtype)
{
    if (dtype == CUBED_UINT64) return CUBED_UINT64;
    return cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT ? CUBED_FLOAT64 : CUBED_INT64;
}

/* Finds the first position of the extreme, or of a NaN, among complex numbers. They are ordered by real parts, then by imaginary
 * parts. */
static cubed_status arg_complex(cb_reduction kind, cubed_array *x, const cubed_reduce_options *o,
                                bool keepdims, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_reduce_options whole = *o;
    whole.naxes = o->axes ? 1 : 0;
    whole.keepdims = true;
    const bool largest = kind == CB_REDUCE_ARGMAX;
    cubed_array *y = NULL,
                *extreme =
                    cb_step_reduce(&s, largest ? CUBED_REDUCE_MAX : CUBED_REDUCE_MIN, x, &whole);
    cubed_array *is_nan = cb_step_op(&s, CUBED_OP_ISNAN, x, NULL, NULL);
    cubed_array *found = cb_step_op(&s, CUBED_OP_EQUAL, x, extreme, NULL);
    found = cb_step_op(&s, CUBED_OP_LOGICAL_OR, found, is_nan, NULL);
    if (found) y = cb_step(&s, cubed_argmax(found, o->axes, keepdims, &y, err), &y);
    return cb_steps_end(&s, y, out);
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
        return cb_op_arg_text(name, kind, x, axis, keepdims, out, err);
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_dtype type = compared_as(x->node.dtype);
    cubed_array *wide = NULL, *found = NULL;
    cubed_status st = CUBED_OK;
    o.axes = axis;
    o.naxes = 1;
    CB_TRY(cb_op_reduce_axes(name, ndim, &o, &reduced, err));
    for (int d = 0; d < ndim; d++) {
        if ((reduced >> d & 1) && x->shape[d] == 0)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d has no elements, expected at least one",
                           name, d);
    }
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX)
        return arg_complex(kind, x, &o, keepdims, out, err);
    int64_t count = cb_op_reduce_count(x, reduced);
    if (type == CUBED_FLOAT64 && count > MAX_FLOAT_POSITIONS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: %" PRId64 " elements of %s are reduced, expected at most 2**53", name,
                       count, cubed_dtype_name(x->node.dtype));
    CB_GO(cb_op_cast(x, type, &wide, err));
    CB_GO(cb_op_reduce(name, wide, kind, reduced, &found, err));
    CB_GO(cb_op_cast(found, CUBED_INT64, out, err));
    if (!keepdims) goto out;
    st = cb_op_restore_axes(out, x, reduced, err);
    if (st != CUBED_OK) {
        cubed_array_unref(*out);
        *out = NULL;
    }
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
