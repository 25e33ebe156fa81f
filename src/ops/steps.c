#include "ops/steps.h"

#include "base/error.h"
#include "dtype/scalar.h"
#include "plan/graph.h"

cubed_array *cb_step_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b, cubed_array *c)
{
    cubed_array *args[3] = {a, b, c}, *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_elementwise(op, args, c ? 3 : b ? 2 : 1, &y, s->err), &y);
}

cubed_array *cb_step_unary(cb_steps *s, cubed_op op, cubed_array *a)
{
    return a ? cb_step_op(s, op, a, NULL, NULL) : NULL;
}

cubed_array *cb_step_binary(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b)
{
    return a && b ? cb_step_op(s, op, a, b, NULL) : NULL;
}

cubed_array *cb_step_by(cb_steps *s, cubed_op op, cubed_array *a, double b)
{
    return cb_step_binary(s, op, a, cb_step_number(s, a, b));
}

cubed_array *cb_step_where(cb_steps *s, cubed_array *condition, cubed_array *a, cubed_array *b)
{
    return condition && a && b ? cb_step_op(s, CUBED_OP_WHERE, condition, a, b) : NULL;
}

cubed_array *cb_step_cast(cb_steps *s, cubed_array *x, cubed_dtype dtype)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_astype(x, dtype, &y, s->err), &y);
}

cubed_array *cb_step_reshaped(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || !x) return NULL;
    return cb_step(s, cubed_reshape(x, ndim, shape, &y, s->err), &y);
}

cubed_array *cb_step_permuted(cb_steps *s, cubed_array *x, const int *order)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || !x) return NULL;
    return cb_step(s, cubed_permute_dims(x, order, &y, s->err), &y);
}

cubed_array *cb_step_broadcast(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || !x) return NULL;
    return cb_step(s, cubed_broadcast_to(x, ndim, shape, &y, s->err), &y);
}

cubed_array *cb_step_reduce(cb_steps *s, cubed_reduction reduction, cubed_array *x,
                            const cubed_reduce_options *options)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_reduce(reduction, x, options, &y, s->err), &y);
}

cubed_array *cb_step_part(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                          int64_t step)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (!x || s->st != CUBED_OK) return NULL;
    if (start == 0 && step == 1 && len == x->shape[axis]) return x;
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[axis] = (cubed_slice){start, len, step, false};
    return cb_step(s, cubed_slice_array(x, slices, &y, s->err), &y);
}

bool cb_steps_mix_uint64(cubed_dtype a, cubed_dtype b)
{
    return (a == CUBED_UINT64 && cubed_dtype_kind(b) == CUBED_KIND_INT) ||
           (b == CUBED_UINT64 && cubed_dtype_kind(a) == CUBED_KIND_INT);
}

cubed_array *cb_step_beyond(cb_steps *s, cubed_array *x)
{
    const bool is_unsigned = x->node.dtype == CUBED_UINT64;
    const cubed_scalar zero = {.i64 = 0}, most = {.u64 = INT64_MAX};
    return cb_step_op(s, is_unsigned ? CUBED_OP_GREATER : CUBED_OP_LESS, x,
                      cb_step_scalar(s, x->node.dtype, is_unsigned ? &most : &zero), NULL);
}

cubed_array *cb_step_number(cb_steps *s, const cubed_array *beside, double value)
{
    if (!beside) return NULL;
    const cubed_kind kind = cubed_dtype_kind(beside->node.dtype);
    const bool has_it = kind == CUBED_KIND_FLOAT || kind == CUBED_KIND_COMPLEX;
    const cubed_dtype dtype = has_it ? beside->node.dtype : CUBED_FLOAT64;
    const cubed_scalar v = cb_scalar_from_double(dtype, value);
    return cb_step_scalar(s, dtype, &v);
}
