/* Variances of the elements that a mask selects, and of complex numbers. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/stats.h"
#include "ops/steps.h"

/* Replaces elements of x by NaN where `hidden` is true. Returns x if `hidden` is NULL. */
static cubed_array *without(cb_steps *s, cubed_array *x, cubed_array *hidden)
{
    if (!hidden || !x) return x;
    cubed_array *seen = cb_step_op(s, CUBED_OP_WHERE, hidden, cb_step_number(s, x, (double)NAN), x);
    /* Operations on half precision return float32, so the result is cast back. */
    return cb_step_cast(s, seen, x->node.dtype);
}

static cubed_array *variance_of_part(cb_steps *s, cubed_array *x, cubed_array *hidden,
                                     bool skip_nan, const cubed_reduce_options *o)
{
    cubed_array *seen = without(s, x, hidden), *out = NULL;
    if (!seen) return NULL;
    const cubed_status st = hidden || skip_nan
                                ? cubed_nan_reduce(CUBED_REDUCE_VAR, seen, o, &out, s->err)
                                : cubed_reduce(CUBED_REDUCE_VAR, seen, o, &out, s->err);
    return cb_step(s, st, &out);
}

/* Computes the variance of the elements that `mask` selects, or of all elements if `mask` is NULL. */
static cubed_array *variance(cb_steps *s, cubed_array *x, cubed_array *mask, bool skip_nan,
                             const cubed_reduce_options *o)
{
    const bool is_complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    cubed_array *hidden = mask ? cb_step_op(s, CUBED_OP_LOGICAL_NOT, mask, NULL, NULL) : NULL;
    cubed_array *missing = cb_step_op(s, CUBED_OP_ISNAN, x, NULL, NULL), *out;
    if (mask) missing = cb_step_op(s, CUBED_OP_LOGICAL_AND, missing, mask, NULL);
    if ((mask && !hidden) || !missing) return NULL;
    /* A complex number is missing if its real or imaginary part is NaN. */
    if (skip_nan && is_complex)
        hidden = hidden ? cb_step_op(s, CUBED_OP_LOGICAL_OR, hidden, missing, NULL) : missing;
    if (is_complex) {
        cubed_array *part[2] = {cb_step_op(s, CUBED_OP_REAL, x, NULL, NULL),
                                cb_step_op(s, CUBED_OP_IMAG, x, NULL, NULL)};
        for (int i = 0; i < 2; i++) part[i] = variance_of_part(s, part[i], hidden, skip_nan, o);
        out = cb_step_op(s, CUBED_OP_ADD, part[0], part[1], NULL);
    } else {
        out = variance_of_part(s, x, hidden, skip_nan, o);
    }
    /* If the mask selects a NaN, the result is NaN. */
    if (mask && !skip_nan) out = without(s, out, cb_step_reduce(s, CUBED_REDUCE_ANY, missing, o));
    return out;
}

cubed_status cubed_variance(cubed_array *x, cubed_array *where,
                            const cubed_variance_options *options, cubed_array **out,
                            cubed_error *err)
{
    cubed_variance_options own = CUBED_VARIANCE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("variance", options, &own, err));
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const char *name = own.root ? "std" : "var";
    cubed_reduce_options reduce = CUBED_REDUCE_OPTIONS_INIT;
    reduce.axes = own.axes;
    reduce.naxes = own.naxes;
    reduce.keepdims = own.keepdims;
    reduce.correction = own.correction;
    if (kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s: x is %s, expected numbers", name,
                       cubed_dtype_name(x->node.dtype));
    if (where && where->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "%s: where is %s, expected bool", name,
                       cubed_dtype_name(where->node.dtype));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = kind < CUBED_KIND_FLOAT ? cb_step_cast(&s, x, CUBED_FLOAT64) : x;
    cubed_array *mask = where ? cb_step_broadcast(&s, where, x->node.grid->ndim, x->shape) : NULL;
    if (where && !mask && y) s.st = cb_context(err, s.st, "%s: where", name);
    cubed_array *found =
        y && (mask || !where) ? variance(&s, y, mask, own.skip_nan, &reduce) : NULL;
    if (own.root && found) {
        const cubed_dtype dtype = found->node.dtype;
        found = cb_step_cast(&s, cb_step_op(&s, CUBED_OP_SQRT, found, NULL, NULL), dtype);
    }
    return cb_steps_end(&s, found, out);
}
