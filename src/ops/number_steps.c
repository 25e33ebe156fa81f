#include "ops/number_steps.h"

#include "base/error.h"
#include "ops/ops_pkg.h"

cubed_array *cb_step(cb_steps *s, cubed_status st, cubed_array *const *x)
{
    if (s->st != CUBED_OK) {
        /* release the new array if an earlier step failed */
        if (st == CUBED_OK) cubed_array_unref(*x);
        return NULL;
    }
    s->st = st;
    if (st != CUBED_OK) return NULL;
    if (!cb_list_grow(&s->ctx->alloc, &s->made, s->n, &s->cap, sizeof(cubed_array *))) {
        cubed_array_unref(*x);
        s->st = cb_fail(s->err, CUBED_E_NOMEM, "no memory for an operation");
        return NULL;
    }
    return s->made[s->n++] = *x;
}

cubed_status cb_steps_end_all(cb_steps *s, cubed_array *const *x, cubed_array **const *outs, int n)
{
    for (int i = 0; i < n && s->st == CUBED_OK; i++) {
        if (outs[i] && !x[i])
            s->st = cb_fail(s->err, CUBED_E_INTERNAL, "bug: an operation has no result");
    }
    for (int i = 0; i < n && s->st == CUBED_OK; i++) {
        if (outs[i]) *outs[i] = cubed_array_ref(x[i]);
    }
    for (size_t i = 0; i < s->n; i++) cubed_array_unref(s->made[i]);
    cb_free(&s->ctx->alloc, s->made, s->cap * sizeof(cubed_array *));
    return s->st;
}

cubed_status cb_steps_end(cb_steps *s, cubed_array *x, cubed_array **out)
{
    return cb_steps_end_all(s, &x, &out, 1);
}

/* --- Constants --- */

cubed_array *cb_step_scalar(cb_steps *s, cubed_dtype dtype, const cubed_scalar *value)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_array_full(s->ctx, dtype, 0, NULL, NULL, value, &y, s->err), &y);
}

cubed_array *cb_step_float(cb_steps *s, double value)
{
    const cubed_scalar v = {.f64 = value};
    return cb_step_scalar(s, CUBED_FLOAT64, &v);
}

cubed_array *cb_step_whole(cb_steps *s, int64_t value)
{
    const cubed_scalar v = {.i64 = value};
    return cb_step_scalar(s, CUBED_INT64, &v);
}

/* --- Numbers --- */

cubed_array *cb_number_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b, cubed_array *c)
{
    cubed_array *args[3] = {a, b, c}, *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cb_op_numbers(op, args, c ? 3 : b ? 2 : 1, &y, s->err), &y);
}

cubed_array *cb_number_cast(cb_steps *s, cubed_array *x, cubed_dtype dtype)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cb_op_cast_plain(x, dtype, &y, s->err), &y);
}

cubed_array *cb_number_reduce(cb_steps *s, cubed_reduction reduction, cubed_array *x,
                              const cubed_reduce_options *options)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cb_op_reduce_numbers(reduction, x, options, &y, s->err), &y);
}

/* --- Times as int64 --- */

cubed_array *cb_step_is_nat(cb_steps *s, cubed_array *x)
{
    return cb_number_op(s, CUBED_OP_EQUAL, x, cb_step_whole(s, INT64_MIN), NULL);
}

cubed_array *cb_step_nat_where(cb_steps *s, cubed_array *condition, cubed_array *x)
{
    return cb_number_op(s, CUBED_OP_WHERE, condition, cb_step_whole(s, INT64_MIN), x);
}

cubed_array *cb_step_divided_time(cb_steps *s, cubed_array *x, cubed_array *n)
{
    cubed_array *q = cb_number_op(s, CUBED_OP_FLOOR_DIVIDE, x, n, NULL);
    cubed_array *is_below = cb_number_op(s, CUBED_OP_LESS, q, cb_step_whole(s, 0), NULL);
    cubed_array *is_part = cb_number_op(s, CUBED_OP_NOT_EQUAL,
                                        cb_number_op(s, CUBED_OP_MULTIPLY, q, n, NULL), x, NULL);
    is_below = cb_number_op(s, CUBED_OP_LOGICAL_AND, is_below, is_part, NULL);
    return cb_number_op(s, CUBED_OP_ADD, q, cb_number_cast(s, is_below, CUBED_INT64), NULL);
}
