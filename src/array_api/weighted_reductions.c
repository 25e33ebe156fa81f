/* Means, variances and standard deviations of elements with weights. */
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/shapes.h"
#include "ops/steps.h"

/* Operands of a weighted reduction, cast to float64 or complex128. Elements that are not reduced are replaced by 0. */
typedef struct weighted {
    cb_steps *s;
    cubed_array *x, *w;
    cubed_reduce_options reduce;
} weighted;

static cubed_array *sum(const weighted *a, cubed_array *x, bool keepdims)
{
    cubed_reduce_options o = a->reduce;
    o.keepdims = keepdims;
    return x ? cb_step_reduce(a->s, CUBED_REDUCE_SUM, x, &o) : NULL;
}

cubed_array *cb_api_weights_of(cb_steps *s, const char *name, const cubed_array *x, cubed_array *w,
                               const int *axes, int naxes)
{
    char own[CB_SHAPE_TEXT_CAP], theirs[CB_SHAPE_TEXT_CAP];
    const int ndim = x->node.grid->ndim;
    uint32_t mask;
    if (w->node.grid->ndim == ndim &&
        memcmp(w->shape, x->shape, sizeof *x->shape * (size_t)ndim) == 0)
        return w;
    if (axes) s->st = cb_api_axes(name, ndim, axes, naxes, &mask, s->err);
    cubed_array *y = cb_api_weights(s, x, w, axes, naxes);
    if (!y && s->st == CUBED_OK)
        s->st = cb_fail(s->err, CUBED_E_ARG,
                        "%s: weights have shape %s, expected the shape %s of the array, or one "
                        "weight for each element along the axes, in their order",
                        name, cb_shape_text(w, theirs), cb_shape_text(x, own));
    return y;
}

/* Returns the squared distances from the mean. For complex numbers, adds the squares of both parts. */
static cubed_array *squares(const weighted *a, cubed_array *mean)
{
    cubed_array *away = cb_step_binary(a->s, CUBED_OP_SUBTRACT, a->x, mean);
    if (!away || cubed_dtype_kind(away->node.dtype) != CUBED_KIND_COMPLEX)
        return cb_step_binary(a->s, CUBED_OP_MULTIPLY, away, away);
    cubed_array *re = cb_step_unary(a->s, CUBED_OP_REAL, away),
                *im = cb_step_unary(a->s, CUBED_OP_IMAG, away);
    return cb_step_binary(a->s, CUBED_OP_ADD, cb_step_binary(a->s, CUBED_OP_MULTIPLY, re, re),
                          cb_step_binary(a->s, CUBED_OP_MULTIPLY, im, im));
}

static cubed_array *reduced(const weighted *a, cubed_reduction which,
                            const cubed_weighted_options *o)
{
    const bool is_mean = which == CUBED_REDUCE_MEAN, keep = is_mean ? o->keepdims : true;
    cubed_array *total = sum(a, a->w, keep);
    cubed_array *y =
        cb_step_binary(a->s, CUBED_OP_DIVIDE,
                       sum(a, cb_step_binary(a->s, CUBED_OP_MULTIPLY, a->x, a->w), keep), total);
    if (is_mean || !y) return y;
    y = sum(a, cb_step_binary(a->s, CUBED_OP_MULTIPLY, squares(a, y), a->w), o->keepdims);
    if (!o->keepdims) total = sum(a, a->w, false);
    if (o->correction != 0) {
        cubed_array *lost =
            sum(a, cb_step_binary(a->s, CUBED_OP_MULTIPLY, a->w, a->w), o->keepdims);
        lost = cb_step_binary(a->s, CUBED_OP_DIVIDE, lost, total);
        lost = cb_step_binary(a->s, CUBED_OP_MULTIPLY, lost, cb_step_float(a->s, o->correction));
        total = cb_step_binary(a->s, CUBED_OP_MAXIMUM,
                               cb_step_binary(a->s, CUBED_OP_SUBTRACT, total, lost),
                               cb_step_float(a->s, 0));
    }
    y = cb_step_binary(a->s, CUBED_OP_DIVIDE, y, total);
    return which == CUBED_REDUCE_STD ? cb_step_unary(a->s, CUBED_OP_SQRT, y) : y;
}

/* Returns a mask of x's shape that is true for the elements to reduce. Returns NULL if all elements are reduced, or after an
 * error. */
static cubed_array *counted(const weighted *a, const char *name, const cubed_weighted_options *o)
{
    cubed_array *mask = NULL;
    const cubed_kind kind = cubed_dtype_kind(a->x->node.dtype);
    if (o->where) {
        mask = cb_step_broadcast(a->s, o->where, a->x->node.grid->ndim, a->x->shape);
        if (!mask) a->s->st = cb_context(a->s->err, a->s->st, "%s: where", name);
    }
    if (!o->skip_nan || kind < CUBED_KIND_FLOAT || a->s->st != CUBED_OK) return mask;
    cubed_array *known =
        cb_step_unary(a->s, CUBED_OP_LOGICAL_NOT, cb_step_unary(a->s, CUBED_OP_ISNAN, a->x));
    return mask ? cb_step_binary(a->s, CUBED_OP_LOGICAL_AND, mask, known) : known;
}

static cubed_array *made(cb_steps *s, cubed_reduction which, const char *name, cubed_array *x,
                         cubed_array *w, const cubed_weighted_options *o)
{
    cubed_dtype type = cubed_dtype_promote(x->node.dtype, w->node.dtype);
    if (cubed_dtype_kind(x->node.dtype) < CUBED_KIND_FLOAT)
        type = cubed_dtype_promote(type, CUBED_FLOAT64);
    const bool is_complex = cubed_dtype_kind(type) == CUBED_KIND_COMPLEX;
    weighted a = {.s = s, .x = x, .reduce = CUBED_REDUCE_OPTIONS_INIT};
    a.reduce.axes = o->axes;
    a.reduce.naxes = o->naxes;
    w = cb_api_weights_of(s, name, x, w, o->axes, o->naxes);
    w = w ? cb_step_cast(s, w, CUBED_FLOAT64) : NULL;
    a.w = w ? cb_step_broadcast(s, w, x->node.grid->ndim, x->shape) : NULL;
    cubed_array *mask = a.w ? counted(&a, name, o) : NULL;
    if (s->st != CUBED_OK) return NULL;
    a.x = cb_step_cast(s, x, is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64);
    if (mask && a.x) {
        cubed_array *zero = cb_step_float(s, 0);
        a.x = cb_step_op(s, CUBED_OP_WHERE, mask, a.x, cb_step_cast(s, zero, a.x->node.dtype));
        a.w = cb_step_op(s, CUBED_OP_WHERE, mask, a.w, zero);
    }
    if (is_complex && which != CUBED_REDUCE_MEAN)
        type = type == CUBED_COMPLEX64 ? CUBED_FLOAT32 : CUBED_FLOAT64;
    cubed_array *y = a.x && a.w ? reduced(&a, which, o) : NULL;
    return y ? cb_step_cast(s, y, type) : NULL;
}

cubed_status cubed_weighted_reduce(cubed_reduction which, cubed_array *x, cubed_array *weights,
                                   const cubed_weighted_options *options, cubed_array **out,
                                   cubed_error *err)
{
    cubed_weighted_options o = CUBED_WEIGHTED_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("weighted_reduce", options, &o, err));
    if (which != CUBED_REDUCE_MEAN && which != CUBED_REDUCE_VAR && which != CUBED_REDUCE_STD)
        return cb_fail(err, CUBED_E_ARG,
                       "weighted_reduce: reduction number %d, expected CUBED_REDUCE_MEAN, "
                       "CUBED_REDUCE_VAR or CUBED_REDUCE_STD",
                       (int)which);
    const char *name = which == CUBED_REDUCE_MEAN  ? "mean"
                       : which == CUBED_REDUCE_VAR ? "var"
                                                   : "std";
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s with weights: x is %s, expected numbers", name,
                       cubed_dtype_name(x->node.dtype));
    if (cubed_dtype_kind(weights->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s: weights are of type %s, expected real numbers", name,
                       cubed_dtype_name(weights->node.dtype));
    if (o.where && o.where->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "%s: where is of type %s, expected bool", name,
                       cubed_dtype_name(o.where->node.dtype));
    cb_steps s = {.ctx = x->ctx, .err = err};
    return cb_steps_end(&s, made(&s, which, name, x, weights, &o), out);
}
