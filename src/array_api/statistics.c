/* Ranges and weighted means; covariances and correlations, which are products of rows minus their means. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "dtype/scalar.h"
#include "ops/shapes.h"
#include "ops/steps.h"

static const cubed_reduce_options all = CUBED_REDUCE_OPTIONS_INIT;

/* Returns a 0-d number of the array's type. */
static cubed_array *number(cb_steps *s, const cubed_array *like, double value)
{
    cubed_array *y = cb_step_float(s, value);
    return cb_step_cast(s, y, like->node.dtype);
}

/* Reduces each row, and returns the results as a column. */
static cubed_array *of_rows(cb_steps *s, cubed_reduction reduction, cubed_array *x)
{
    static const int second = 1;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = &second;
    o.naxes = 1;
    o.keepdims = true;
    return x ? cb_step_reduce(s, reduction, x, &o) : NULL;
}

static cubed_array *conj_transposed(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (!x) return NULL;
    y = cb_step(s, cubed_matrix_transpose(x, &y, s->err), &y);
    if (cubed_dtype_kind(x->node.dtype) != CUBED_KIND_COMPLEX || !y) return y;
    return cb_step_op(s, CUBED_OP_CONJ, y, NULL, NULL);
}

/* Computes the products of all pairs of rows of x, weighted unless w is NULL, divided by n. If there is one row, the result is
 * 0-d. */
static cubed_array *products(cb_steps *s, cubed_array *x, cubed_array *w, cubed_array *n)
{
    cubed_array *left = w ? cb_step_binary(s, CUBED_OP_MULTIPLY, x, w) : x,
                *t = conj_transposed(s, x);
    cubed_array *y = NULL;
    if (left && t) y = cb_step(s, cubed_matmul(left, t, &y, s->err), &y);
    y = cb_step_binary(s, CUBED_OP_DIVIDE, y, n);
    if (!y || y->shape[0] != 1) return y;
    cubed_array *one = NULL;
    return cb_step(s, cubed_squeeze(y, NULL, 0, &one, s->err), &one);
}

static cubed_status check_weights(const char *name, const cubed_array *w, int64_t n,
                                  cubed_error *err)
{
    char shape[CB_SHAPE_TEXT_CAP], type[CUBED_DTYPE_TEXT_CAP];
    if (!w) return CUBED_OK;
    const cubed_kind kind = cubed_dtype_kind(w->node.dtype);
    const bool counts = strcmp(name, "fweights") == 0;
    if (w->node.grid->ndim != 1 || w->shape[0] != n)
        return cb_fail(err, CUBED_E_ARG,
                       "cov: %s have shape %s, expected (%lld): one for each "
                       "observation",
                       name, cb_shape_text(w, shape), (long long)n);
    if (counts && kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "cov: fweights are %s, expected integers",
                       cubed_dtype_text(w->node.dtype, type));
    return CUBED_OK;
}

static cubed_array *covariances(cb_steps *s, cubed_array *x, const cubed_cov_options *o)
{
    const int64_t n = x->shape[1];
    if (!o->fweights && !o->aweights) {
        const double free = (double)n > o->ddof ? (double)n - o->ddof : 0;
        cubed_array *centred =
            cb_step_binary(s, CUBED_OP_SUBTRACT, x, of_rows(s, CUBED_REDUCE_MEAN, x));
        return products(s, centred, NULL, number(s, x, free));
    }
    cubed_array *f = o->fweights ? cb_step_cast(s, o->fweights, CUBED_FLOAT64) : NULL;
    cubed_array *a = o->aweights ? cb_step_cast(s, o->aweights, CUBED_FLOAT64) : NULL;
    cubed_array *w = f && a ? cb_step_binary(s, CUBED_OP_MULTIPLY, f, a) : f ? f : a;
    cubed_array *total = w ? cb_step_reduce(s, CUBED_REDUCE_SUM, w, &all) : NULL;
    cubed_array *mean = of_rows(s, CUBED_REDUCE_SUM, cb_step_binary(s, CUBED_OP_MULTIPLY, x, w));
    cubed_array *centred =
        cb_step_binary(s, CUBED_OP_SUBTRACT, x, cb_step_binary(s, CUBED_OP_DIVIDE, mean, total));
    cubed_array *lost = cb_step_float(s, o->ddof);
    if (o->ddof != 0 && a) {
        cubed_array *squares = cb_step_binary(s, CUBED_OP_MULTIPLY, w, a);
        squares = squares ? cb_step_reduce(s, CUBED_REDUCE_SUM, squares, &all) : NULL;
        lost = cb_step_binary(s, CUBED_OP_DIVIDE,
                              cb_step_binary(s, CUBED_OP_MULTIPLY, squares, lost), total);
    }
    cubed_array *free = cb_step_binary(s, CUBED_OP_SUBTRACT, total, lost);
    return products(s, centred, w, cb_step_binary(s, CUBED_OP_MAXIMUM, free, cb_step_float(s, 0)));
}

/* Returns x as floats in two dimensions. */
static cubed_array *observations(cb_steps *s, const char *name, cubed_array *x)
{
    cubed_array *y = NULL;
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind > CUBED_KIND_COMPLEX)
        s->st = cb_fail(s->err, CUBED_E_TYPE, "%s is not defined for %s, expected numbers", name,
                        cubed_dtype_name(x->node.dtype));
    else if (x->node.grid->ndim < 1 || x->node.grid->ndim > 2)
        s->st = cb_fail(s->err, CUBED_E_ARG, "%s: the array has %d dimensions, expected 1 or 2",
                        name, x->node.grid->ndim);
    if (s->st != CUBED_OK) return NULL;
    if (x->node.grid->ndim == 1) x = cb_step(s, cubed_expand_dims(x, 0, &y, s->err), &y);
    return x && kind < CUBED_KIND_FLOAT ? cb_step_cast(s, x, CUBED_FLOAT64) : x;
}

static cubed_status take_options(const char *name, const cubed_array *x,
                                 const cubed_cov_options *given, cubed_cov_options *o,
                                 cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    *o = (cubed_cov_options)CUBED_COV_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE(name, given, o, err));
    if (ndim == 0) return CUBED_OK; /* the covariance refuses arrays without axes later */
    CB_TRY(check_weights("fweights", o->fweights, x->shape[ndim - 1], err));
    return check_weights("aweights", o->aweights, x->shape[ndim - 1], err);
}

cubed_status cubed_cov(cubed_array *x, const cubed_cov_options *options, cubed_array **out,
                       cubed_error *err)
{
    cubed_cov_options o;
    CB_TRY(take_options("cov", x, options, &o, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *rows = observations(&s, "cov", x);
    return cb_steps_end(&s, rows ? covariances(&s, rows, &o) : NULL, out);
}

cubed_status cubed_corrcoef(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const cubed_cov_options o = CUBED_COV_OPTIONS_INIT;
    cubed_array *d = NULL, *row = NULL, *column = NULL;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *rows = observations(&s, "corrcoef", x);
    cubed_array *c = rows ? covariances(&s, rows, &o) : NULL;
    if (!c) return cb_steps_end(&s, NULL, out);
    if (c->node.grid->ndim == 0)
        return cb_steps_end(&s, cb_step_binary(&s, CUBED_OP_DIVIDE, c, c), out);
    const bool is_complex = cubed_dtype_kind(c->node.dtype) == CUBED_KIND_COMPLEX;
    d = cb_step(&s, cubed_diagonal(c, 0, &d, err), &d);
    if (d && is_complex) d = cb_step_op(&s, CUBED_OP_ABS, d, NULL, NULL);
    if (d) d = cb_step_op(&s, CUBED_OP_SQRT, d, NULL, NULL);
    if (d) column = cb_step(&s, cubed_expand_dims(d, 1, &column, err), &column);
    if (d) row = cb_step(&s, cubed_expand_dims(d, 0, &row, err), &row);
    cubed_array *y =
        cb_step_binary(&s, CUBED_OP_DIVIDE, cb_step_binary(&s, CUBED_OP_DIVIDE, c, column), row);
    if (y && !is_complex) { /* limit coefficients to -1 and 1, which rounding may exceed */
        y = cb_step_binary(&s, CUBED_OP_MAXIMUM, y, number(&s, y, -1));
        y = y ? cb_step_binary(&s, CUBED_OP_MINIMUM, y, number(&s, y, 1)) : NULL;
    }
    return cb_steps_end(&s, y, out);
}

/* --- Ranges and weighted means ------------------------------------------------------------------------------ */

cubed_status cubed_ptp(cubed_array *x, const cubed_reduce_options *options, cubed_array **out,
                       cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *most = cb_step_reduce(&s, CUBED_REDUCE_MAX, x, options);
    cubed_array *least = cb_step_reduce(&s, CUBED_REDUCE_MIN, x, options);
    return cb_steps_end(&s, cb_step_binary(&s, CUBED_OP_SUBTRACT, most, least), out);
}

/* Returns a constant of the given type in x's shape and chunks. */
static cubed_array *full_like(cb_steps *s, const cubed_array *x, cubed_dtype dtype, double value)
{
    const cubed_scalar v = cb_scalar_from_double(dtype, value);
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s,
                   cubed_array_full(s->ctx, dtype, x->node.grid->ndim, x->shape,
                                    cubed_array_chunks(x), &v, &y, s->err),
                   &y);
}

/* Computes means. *total receives the number of elements of each mean. */
static cubed_array *plain_mean(cb_steps *s, cubed_array *x, const cubed_reduce_options *o,
                               cubed_array **total)
{
    cubed_array *y = cb_step_reduce(s, CUBED_REDUCE_MEAN, x, o);
    double n = 1, m = 1;
    if (!y || !total) return y;
    for (int d = 0; d < x->node.grid->ndim; d++) n *= (double)x->shape[d];
    for (int d = 0; d < y->node.grid->ndim; d++) m *= (double)y->shape[d];
    if (cubed_dtype_kind(y->node.dtype) != CUBED_KIND_TIME)
        *total = full_like(s, y, y->node.dtype, m > 0 ? n / m : 0);
    else
        *total = cb_step_cast(s, full_like(s, y, CUBED_INT64, m > 0 ? n / m : 0), y->node.dtype);
    return y;
}

static cubed_array *weighted_mean(cb_steps *s, cubed_array *x, cubed_array *w,
                                  const cubed_reduce_options *o, cubed_array **total)
{
    cubed_dtype type = cubed_dtype_promote(x->node.dtype, w->node.dtype);
    if (type != CUBED_DTYPE_COUNT && cubed_dtype_kind(x->node.dtype) < CUBED_KIND_FLOAT)
        type = cubed_dtype_promote(type, CUBED_FLOAT64);
    if (type == CUBED_DTYPE_COUNT || cubed_dtype_kind(type) > CUBED_KIND_COMPLEX) {
        char a[CUBED_DTYPE_TEXT_CAP], b[CUBED_DTYPE_TEXT_CAP];
        s->st = cb_fail(s->err, CUBED_E_TYPE, "average is not defined for %s with weights of %s",
                        cubed_dtype_text(x->node.dtype, a), cubed_dtype_text(w->node.dtype, b));
        return NULL;
    }
    w = cb_api_weights_of(s, "average", x, w, o->axes, o->naxes);
    if (!w) return NULL;
    x = cb_step_cast(s, x, type);
    w = cb_step_cast(s, w, type);
    if (!x) return NULL;
    *total = cb_step_binary(s, CUBED_OP_MULTIPLY, w, full_like(s, x, type, 1));
    *total = *total ? cb_step_reduce(s, CUBED_REDUCE_SUM, *total, o) : NULL;
    cubed_array *y = cb_step_binary(s, CUBED_OP_MULTIPLY, x, w);
    y = y ? cb_step_reduce(s, CUBED_REDUCE_SUM, y, o) : NULL;
    return cb_step_binary(s, CUBED_OP_DIVIDE, y, *total);
}

cubed_status cubed_average(cubed_array *x, cubed_array *weights,
                           const cubed_reduce_options *options, cubed_array **out,
                           cubed_array **total, cubed_error *err)
{
    const cubed_reduce_options *o = options ? options : &all;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *sum = NULL;
    cubed_array *y = weights ? weighted_mean(&s, x, weights, o, &sum)
                             : plain_mean(&s, x, o, total ? &sum : NULL);
    if (s.st == CUBED_OK && total) *total = cubed_array_ref(sum);
    return cb_steps_end(&s, y, out);
}
