/* Reductions that skip NaN. They consist of plain reductions, with a neutral element in place of NaN, and of counts. The
 * reductions of one result share their pass over the input. They are computed in float64 or complex128, like plain reductions. */
#include <math.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "ops/ops_pkg.h"
#include "ops/steps.h"

/* Creates a constant of a type. */
static cubed_array *constant(cb_steps *s, cubed_dtype dtype, double value)
{
    cubed_array *out = NULL;
    return cb_step(s, cb_op_scalar(s->ctx, dtype, value, &out, s->err), &out);
}

/* Creates a complex constant whose parts are both `value`, or a real constant. */
static cubed_array *in_all_parts(cb_steps *s, cubed_dtype dtype, double value)
{
    cubed_scalar v;
    if (dtype == CUBED_COMPLEX64)
        v.c64[0] = v.c64[1] = (float)value;
    else if (dtype == CUBED_COMPLEX128)
        v.c128[0] = v.c128[1] = value;
    else
        return constant(s, dtype, value);
    return cb_step_scalar(s, dtype, &v);
}

/* Computes nanmin or nanmax. Infinity replaces NaN. If all elements are NaN, the result is NaN. */
static cubed_array *extreme(cb_steps *s, cubed_reduction which, cubed_array *x, cubed_array *is_nan,
                            const cubed_reduce_options *o)
{
    cubed_dtype t = x->node.dtype;
    cubed_reduce_options plain = *o;
    cubed_array *neutral =
        in_all_parts(s, t, which == CUBED_REDUCE_MIN ? (double)INFINITY : -(double)INFINITY);
    cubed_array *seen = cb_step_op(s, CUBED_OP_WHERE, is_nan, neutral, x);
    cubed_array *found = cb_step_reduce(s, which, seen, &plain);
    cubed_array *none = cb_step_reduce(s, CUBED_REDUCE_ALL, is_nan, &plain);
    return cb_step_op(s, CUBED_OP_WHERE, none, in_all_parts(s, t, (double)NAN), found);
}

static cubed_array *sum_of(cb_steps *s, cubed_reduction which, cubed_array *x, cubed_array *is_nan,
                           const cubed_reduce_options *o)
{
    cubed_array *neutral = constant(s, x->node.dtype, which == CUBED_REDUCE_PROD ? 1 : 0);
    return cb_step_reduce(s, which, cb_step_op(s, CUBED_OP_WHERE, is_nan, neutral, x), o);
}

/* Returns the number of elements that are not NaN, as float64. */
static cubed_array *count_of(cb_steps *s, cubed_array *is_nan, const cubed_reduce_options *o)
{
    cubed_array *present = cb_step_op(s, CUBED_OP_LOGICAL_NOT, is_nan, NULL, NULL);
    return cb_step_cast(s, cb_step_reduce(s, CUBED_REDUCE_SUM, present, o), CUBED_FLOAT64);
}

/* Returns the sum of squared deviations from the mean of all elements that are not NaN. */
static cubed_array *squares_of(cb_steps *s, cubed_array *x, const cubed_reduce_options *o)
{
    cubed_array *out = NULL;
    uint32_t reduced;
    const int ndim = x->node.grid->ndim;
    cubed_status st = cb_op_reduce_axes("nanvar", ndim, o, &reduced, s->err);
    if (st == CUBED_OK) st = cb_op_reduce("nanvar", x, CB_REDUCE_NAN_M2, reduced, &out, s->err);
    if (st == CUBED_OK && o->keepdims) {
        st = cb_op_restore_axes(&out, x, reduced, s->err);
        if (st != CUBED_OK) cubed_array_unref(out);
    }
    return cb_step(s, st, &out);
}

static cubed_array *variance(cb_steps *s, cubed_array *x, cubed_array *is_nan,
                             const cubed_reduce_options *o)
{
    cubed_array *sum = squares_of(s, x, o);
    cubed_array *zero = constant(s, CUBED_FLOAT64, 0);
    cubed_array *freedom = cb_step_op(s, CUBED_OP_SUBTRACT, count_of(s, is_nan, o),
                                      constant(s, CUBED_FLOAT64, o->correction), NULL);
    cubed_array *enough = cb_step_op(s, CUBED_OP_GREATER, freedom, zero, NULL);
    return cb_step_op(s, CUBED_OP_WHERE, enough, cb_step_op(s, CUBED_OP_DIVIDE, sum, freedom, NULL),
                      constant(s, CUBED_FLOAT64, (double)NAN));
}

cubed_status cubed_nan_reduce(cubed_reduction which, cubed_array *x,
                              const cubed_reduce_options *options, cubed_array **out,
                              cubed_error *err)
{
    cubed_dtype t = x->node.dtype;
    cubed_kind kind = cubed_dtype_kind(t);
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("nan_reduce", options, &o, err));
    if (which == CUBED_REDUCE_ALL || which == CUBED_REDUCE_ANY)
        return cb_fail(err, CUBED_E_ARG, "reduction nan%s does not exist",
                       cubed_reduction_name(which));
    if (kind == CUBED_KIND_TIME) return cb_op_reduce_time(which, x, true, options, out, err);
    bool ordered = which == CUBED_REDUCE_MIN || which == CUBED_REDUCE_MAX;
    /* This call also checks the axes and the type. Its output is the result if no element can be NaN. */
    cubed_array *plain;
    CB_TRY(cubed_reduce(which, x, options, &plain, err));
    if (kind < CUBED_KIND_FLOAT) {
        *out = plain;
        return CUBED_OK;
    }
    cubed_dtype result = plain->node.dtype;
    cubed_array_unref(plain);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x, *r;
    if (!ordered)
        y = cb_step_cast(&s, x, kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64);
    cubed_array *is_nan = cb_step_op(&s, CUBED_OP_ISNAN, y, NULL, NULL);
    if (!is_nan) return cb_steps_end(&s, NULL, out);
    switch (which) {
    case CUBED_REDUCE_MIN:
    case CUBED_REDUCE_MAX: r = extreme(&s, which, x, is_nan, &o); break;
    case CUBED_REDUCE_SUM:
    case CUBED_REDUCE_PROD: r = sum_of(&s, which, y, is_nan, &o); break;
    case CUBED_REDUCE_MEAN:
        r = cb_step_op(&s, CUBED_OP_DIVIDE, sum_of(&s, CUBED_REDUCE_SUM, y, is_nan, &o),
                       count_of(&s, is_nan, &o), NULL);
        break;
    default:
        r = variance(&s, y, is_nan, &o);
        if (which == CUBED_REDUCE_STD) r = cb_step_op(&s, CUBED_OP_SQRT, r, NULL, NULL);
        break;
    }
    return cb_steps_end(&s, cb_step_cast(&s, r, result), out);
}

cubed_status cubed_count_nonzero(cubed_array *x, const cubed_reduce_options *options,
                                 cubed_array **out, cubed_error *err)
{
    cubed_array *truth;
    CB_TRY(cubed_astype(x, CUBED_BOOL, &truth, err));
    cubed_status st = cubed_reduce(CUBED_REDUCE_SUM, truth, options, out, err);
    cubed_array_unref(truth);
    return st;
}
