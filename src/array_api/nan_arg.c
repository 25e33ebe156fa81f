/* Positions of extreme values among those that are not NaN. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/steps.h"

static const char none_there[] = "All-NaN slice encountered";

/* x, where all elements of `holds` are true: a run fails otherwise. */
static cubed_array *required(cb_steps *s, cubed_array *x, cubed_array *holds)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    const int ndim = x->node.grid.ndim;
    cb_api_blocks(x, 0, cubed_dtype_size(x->node.dtype), chunks);
    for (int d = 0; d < ndim; d++) symbols[d] = d;
    const cubed_block_input in[2] = {{x, symbols, chunks}, {holds, symbols, chunks}};
    const cubed_block_output to = {x->node.dtype, ndim,    x->shape,
                                   chunks,        symbols, x->node.dim_names};
    return cb_step(s,
                   cubed_blockwise(s->ctx, "require", none_there, sizeof none_there, in, 2, &to, 1,
                                   &y, s->err),
                   &y);
}

static cubed_status nan_arg(bool largest, cubed_array *x, const int *axis, bool keepdims,
                            cubed_array **out, cubed_error *err)
{
    if (cubed_dtype_kind(x->node.dtype) != CUBED_KIND_FLOAT)
        return largest ? cubed_argmax(x, axis, keepdims, out, err)
                       : cubed_argmin(x, axis, keepdims, out, err);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_fold_options o = CUBED_FOLD_OPTIONS_INIT;
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
    if (present) any = cb_step(&s, cubed_reduce(CUBED_FOLD_ANY, present, &o, &any, err), &any);
    y = required(&s, y, any);
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_nanargmin(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                             cubed_error *err)
{
    return nan_arg(false, x, axis, keepdims, out, err);
}

cubed_status cubed_nanargmax(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                             cubed_error *err)
{
    return nan_arg(true, x, axis, keepdims, out, err);
}
