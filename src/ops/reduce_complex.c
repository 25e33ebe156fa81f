/* The largest and the smallest complex number, by real parts and then by imaginary ones, as NumPy compares them. */
#include <math.h>

#include "base/error.h"
#include "ops/ops_pkg.h"
#include "ops/steps.h"

static cubed_array *number(cb_steps *s, cubed_dtype dtype, double re, double im)
{
    cubed_scalar v = {.f64 = re};
    if (dtype == CUBED_FLOAT32) v.f32 = (float)re;
    if (dtype == CUBED_COMPLEX64) {
        v.c64[0] = (float)re;
        v.c64[1] = (float)im;
    } else if (dtype == CUBED_COMPLEX128) {
        v.c128[0] = re;
        v.c128[1] = im;
    }
    return cb_step_scalar(s, dtype, &v);
}

/* x, of which the reduced axes have extent 1, without them. */
static cubed_array *squeezed(cb_steps *s, cubed_array *x, uint32_t reduced)
{
    int axes[CUBED_MAX_NDIM], n = 0;
    cubed_array *y = NULL;
    if (!x) return NULL;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (reduced >> d & 1) axes[n++] = d;
    }
    return cb_step(s, cubed_squeeze(x, axes, n, &y, s->err), &y);
}

cubed_status cb_op_reduce_complex(cubed_reduction which, cubed_array *x, bool skip_nan,
                                  const cubed_reduce_options *options, cubed_array **out,
                                  cubed_error *err)
{
    const cubed_dtype dtype = x->node.dtype;
    const cubed_dtype real = dtype == CUBED_COMPLEX64 ? CUBED_FLOAT32 : CUBED_FLOAT64;
    const double worst = which == CUBED_REDUCE_MAX ? -(double)INFINITY : (double)INFINITY;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    uint32_t reduced;
    if (options) o = *options;
    CB_TRY(cb_op_reduce_axes(cubed_reduction_name(which), x->node.grid->ndim, &o, &reduced, err));
    cubed_reduce_options kept = o;
    kept.keepdims = true;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *none = number(&s, real, worst, 0);
    cubed_array *missing = cb_step_op(&s, CUBED_OP_ISNAN, x, NULL, NULL);
    cubed_array *re = cb_step_op(&s, CUBED_OP_REAL, x, NULL, NULL);
    re = cb_step_op(&s, CUBED_OP_WHERE, missing, none, re);
    cubed_array *best = cb_step_reduce(&s, which, re, &kept);
    cubed_array *at_best = cb_step_op(&s, CUBED_OP_EQUAL, re, best, NULL);
    at_best = cb_step_op(&s, CUBED_OP_LOGICAL_AND, at_best,
                         cb_step_op(&s, CUBED_OP_LOGICAL_NOT, missing, NULL, NULL), NULL);
    cubed_array *im = cb_step_op(&s, CUBED_OP_IMAG, x, NULL, NULL);
    im = cb_step_reduce(&s, which, cb_step_op(&s, CUBED_OP_WHERE, at_best, im, none), &o);
    if (!o.keepdims) best = squeezed(&s, best, reduced);
    cubed_array *y = cb_step_op(&s, CUBED_OP_MULTIPLY, im, number(&s, dtype, 0, 1), NULL);
    y = cb_step_op(&s, CUBED_OP_ADD, best, y, NULL);
    cubed_array *lost =
        cb_step_reduce(&s, skip_nan ? CUBED_REDUCE_ALL : CUBED_REDUCE_ANY, missing, &o);
    cubed_array *nan = number(&s, dtype, (double)NAN, (double)NAN);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_WHERE, lost, nan, y), out);
}
