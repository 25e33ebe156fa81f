/* Reductions of dates and time differences, which are computed as int64. The smallest number, NaT, corresponds to NaN of
 * floats. */
#include "base/error.h"
#include "ops/number_steps.h"
#include "ops/ops_pkg.h"

/* Computes an extreme. NaT is the smallest number, so a plain minimum is NaT if any element is NaT. A plain maximum is NaT only
 * if all elements are NaT. */
static cubed_array *extreme(cb_steps *s, cubed_reduction which, cubed_array *x, bool skip_nan,
                            const cubed_reduce_options *o)
{
    const bool is_least = which == CUBED_REDUCE_MIN;
    cubed_array *seen = x;
    if (is_least && skip_nan)
        seen =
            cb_number_op(s, CUBED_OP_WHERE, cb_step_is_nat(s, x), cb_step_whole(s, INT64_MAX), x);
    cubed_array *found = cb_number_reduce(s, which, seen, o);
    if (is_least != skip_nan) return found;
    cubed_array *other = cb_number_reduce(s, is_least ? CUBED_REDUCE_MAX : CUBED_REDUCE_MIN, x, o);
    return cb_step_nat_where(s, cb_step_is_nat(s, other), found);
}

static cubed_array *total(cb_steps *s, cubed_reduction which, cubed_array *x, bool skip_nan,
                          const cubed_reduce_options *o)
{
    cubed_array *missing = cb_step_is_nat(s, x), *known;
    cubed_array *sum = cb_number_reduce(
        s, CUBED_REDUCE_SUM, cb_number_op(s, CUBED_OP_WHERE, missing, cb_step_whole(s, 0), x), o);
    if (which == CUBED_REDUCE_MEAN) {
        known = cb_number_op(s, CUBED_OP_LOGICAL_NOT, missing, NULL, NULL);
        known = cb_number_reduce(s, CUBED_REDUCE_SUM, known, o);
        sum =
            cb_step_nat_where(s, cb_number_op(s, CUBED_OP_EQUAL, known, cb_step_whole(s, 0), NULL),
                              cb_step_divided_time(s, sum, known));
    }
    if (skip_nan) return sum;
    return cb_step_nat_where(s, cb_number_reduce(s, CUBED_REDUCE_ANY, missing, o), sum);
}

cubed_status cb_op_ordered_time(cubed_array *x, bool largest, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *ints = cb_number_cast(&s, x, CUBED_INT64);
    if (largest)
        ints = cb_number_op(&s, CUBED_OP_WHERE, cb_step_is_nat(&s, ints),
                            cb_step_whole(&s, INT64_MAX), ints);
    return cb_steps_end(&s, ints, out);
}

cubed_status cb_op_reduce_time(cubed_reduction which, cubed_array *x, bool skip_nan,
                               const cubed_reduce_options *options, cubed_array **out,
                               cubed_error *err)
{
    const cubed_dtype dtype = x->node.dtype;
    const bool is_extreme = which == CUBED_REDUCE_MIN || which == CUBED_REDUCE_MAX;
    const bool is_total = which == CUBED_REDUCE_SUM || which == CUBED_REDUCE_MEAN;
    char text[CUBED_DTYPE_TEXT_CAP];
    if (!is_extreme && !(is_total && cubed_dtype_family(dtype) == CUBED_TIMEDELTA64))
        return cb_fail(err, CUBED_E_TYPE, "%s%s is not defined for %s", skip_nan ? "nan" : "",
                       cubed_reduction_name(which), cubed_dtype_text(dtype, text));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *ints = cb_number_cast(&s, x, CUBED_INT64);
    cubed_array *y = is_extreme ? extreme(&s, which, ints, skip_nan, options)
                                : total(&s, which, ints, skip_nan, options);
    return cb_steps_end(&s, cb_number_cast(&s, y, dtype), out);
}
