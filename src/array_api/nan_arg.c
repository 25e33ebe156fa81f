/* Positions of extreme values among elements that are not NaN. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/checks.h"

static const char none_there[] = "All-NaN slice encountered";

/* Finds the first complex number that equals the extreme of the elements without NaN. NaN equals no element. */
static cubed_status nan_arg_complex(cubed_reduction extremum, cubed_array *x, const int *axis,
                                    bool keepdims, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = axis;
    o.naxes = axis ? 1 : 0;
    o.keepdims = true;
    cubed_array *extreme = NULL, *y = NULL, *any = NULL;
    extreme = cb_step(&s, cubed_nan_reduce(extremum, x, &o, &extreme, err), &extreme);
    cubed_array *found = cb_step_op(&s, CUBED_OP_EQUAL, x, extreme, NULL);
    if (found) y = cb_step(&s, cubed_argmax(found, axis, keepdims, &y, err), &y);
    o.keepdims = keepdims;
    if (found) any = cb_step(&s, cubed_reduce(CUBED_REDUCE_ANY, found, &o, &any, err), &any);
    y = cb_step_required(&s, y, any, none_there);
    return cb_steps_end(&s, y, out);
}

static cubed_status nan_arg(cubed_reduction extremum, cubed_array *x, const int *axis,
                            bool keepdims, cubed_array **out, cubed_error *err)
{
    const bool largest = extremum == CUBED_REDUCE_MAX;
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX)
        return nan_arg_complex(extremum, x, axis, keepdims, out, err);
    if (cubed_dtype_kind(x->node.dtype) != CUBED_KIND_FLOAT)
        return largest ? cubed_argmax(x, axis, keepdims, out, err)
                       : cubed_argmin(x, axis, keepdims, out, err);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = axis;
    o.naxes = axis ? 1 : 0;
    o.keepdims = keepdims;
    cubed_array *is_nan = cb_step_op(&s, CUBED_OP_ISNAN, x, NULL, NULL), *y = NULL, *any = NULL;
    cubed_array *neutral = cb_step_float(&s, largest ? -(double)INFINITY : (double)INFINITY);
    neutral = cb_step_cast(&s, neutral, x->node.dtype);
    cubed_array *seen = cb_step_op(&s, CUBED_OP_WHERE, is_nan, neutral, x);
    if (seen)
        y = cb_step(&s,
                    largest ? cubed_argmax(seen, axis, keepdims, &y, err)
                            : cubed_argmin(seen, axis, keepdims, &y, err),
                    &y);
    cubed_array *present = cb_step_op(&s, CUBED_OP_LOGICAL_NOT, is_nan, NULL, NULL);
    if (present) any = cb_step(&s, cubed_reduce(CUBED_REDUCE_ANY, present, &o, &any, err), &any);
    y = cb_step_required(&s, y, any, none_there);
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_nanargmin(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                             cubed_error *err)
{
    return nan_arg(CUBED_REDUCE_MIN, x, axis, keepdims, out, err);
}

cubed_status cubed_nanargmax(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                             cubed_error *err)
{
    return nan_arg(CUBED_REDUCE_MAX, x, axis, keepdims, out, err);
}
