/* Reductions of dates and of differences of times: those of the int64 that they are, where the least one, NaT,
 * stands for what NaN is of floats. */
#include "base/error.h"
#include "ops/ops_pkg.h"
#include "ops/steps.h"

static cubed_array *whole(cb_steps *s, int64_t value)
{
    const cubed_scalar v = {.i64 = value};
    return cb_step_scalar(s, CUBED_INT64, &v);
}

/* NaT where the condition holds. */
static cubed_array *nat_where(cb_steps *s, cubed_array *condition, cubed_array *x)
{
    return cb_step_op(s, CUBED_OP_WHERE, condition, whole(s, INT64_MIN), x);
}

static cubed_array *is_nat(cb_steps *s, cubed_array *x)
{
    return cb_step_op(s, CUBED_OP_EQUAL, x, whole(s, INT64_MIN), NULL);
}

/* NaT is the least of all: the smallest is NaT where one is, the largest where all are. */
static cubed_array *extreme(cb_steps *s, cubed_reduction which, cubed_array *x, bool skip_nan,
                            const cubed_reduce_options *o)
{
    const bool is_least = which == CUBED_REDUCE_MIN;
    cubed_array *seen = x;
    if (is_least && skip_nan)
        seen = cb_step_op(s, CUBED_OP_WHERE, is_nat(s, x), whole(s, INT64_MAX), x);
    cubed_array *found = cb_step_reduce(s, which, seen, o);
    if (is_least != skip_nan) return found;
    cubed_array *other = cb_step_reduce(s, is_least ? CUBED_REDUCE_MAX : CUBED_REDUCE_MIN, x, o);
    return nat_where(s, is_nat(s, other), found);
}

cubed_array *cb_step_divided_time(cb_steps *s, cubed_array *x, cubed_array *n)
{
    cubed_array *q = cb_step_op(s, CUBED_OP_FLOOR_DIVIDE, x, n, NULL);
    cubed_array *is_below = cb_step_op(s, CUBED_OP_LESS, q, whole(s, 0), NULL);
    cubed_array *is_part =
        cb_step_op(s, CUBED_OP_NOT_EQUAL, cb_step_op(s, CUBED_OP_MULTIPLY, q, n, NULL), x, NULL);
    is_below = cb_step_op(s, CUBED_OP_LOGICAL_AND, is_below, is_part, NULL);
    return cb_step_op(s, CUBED_OP_ADD, q, cb_step_cast(s, is_below, CUBED_INT64), NULL);
}

static cubed_array *total(cb_steps *s, cubed_reduction which, cubed_array *x, bool skip_nan,
                          const cubed_reduce_options *o)
{
    cubed_array *missing = is_nat(s, x), *known;
    cubed_array *sum = cb_step_reduce(s, CUBED_REDUCE_SUM,
                                      cb_step_op(s, CUBED_OP_WHERE, missing, whole(s, 0), x), o);
    if (which == CUBED_REDUCE_MEAN) {
        known = cb_step_op(s, CUBED_OP_LOGICAL_NOT, missing, NULL, NULL);
        known = cb_step_reduce(s, CUBED_REDUCE_SUM, known, o);
        sum = nat_where(s, cb_step_op(s, CUBED_OP_EQUAL, known, whole(s, 0), NULL),
                        cb_step_divided_time(s, sum, known));
    }
    if (skip_nan) return sum;
    return nat_where(s, cb_step_reduce(s, CUBED_REDUCE_ANY, missing, o), sum);
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
    cubed_array *ints = cb_step_cast(&s, x, CUBED_INT64);
    cubed_array *y = is_extreme ? extreme(&s, which, ints, skip_nan, options)
                                : total(&s, which, ints, skip_nan, options);
    return cb_steps_end(&s, cb_step_cast(&s, y, dtype), out);
}
