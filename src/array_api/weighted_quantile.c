/* Quantiles of elements with weights: the first element in sorted order at which the cumulative weight reaches a share of the
 * total weight. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/checks.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/ops_pkg.h"
#include "ops/shapes.h"
#include "ops/steps.h"

#define EXPECTED                                                                                   \
    ": weights are negative, NaN, infinite or all 0, expected a positive sum of numbers"

typedef struct weighted {
    cb_steps *s;
    const char *name;     /* name of the function, for messages */
    const char *expected; /* message of a run with invalid weights */
    const cubed_quantile_options *o;
    uint32_t reduced;
    /* index of the last axis of x, w and missing, into which all reduced axes are merged; it is the axis of the lines */
    int axis;
    int64_t elements; /* number of elements that are reduced together */
    /* The elements, their weights, and whether each element is NaN, with the reduced axes as the last axis. `missing` is NULL
     * if the type has no NaN. */
    cubed_array *x, *w, *missing;
} weighted;

static cubed_array *not_a_number(weighted *q, const cubed_array *like)
{
    return cb_step_cast(q->s, cb_step_float(q->s, NAN), like->node.dtype);
}

/* Reduces each line, keeping its axis with extent 1. */
static cubed_array *along(weighted *q, cubed_reduction reduction, cubed_array *x)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = &q->axis;
    o.naxes = 1;
    o.keepdims = true;
    return x ? cb_step_reduce(q->s, reduction, x, &o) : NULL;
}

/* Moves the reduced axes of x after the other axes, and merges them into one axis. */
static cubed_array *as_lines(weighted *q, cubed_array *x)
{
    int order[CUBED_MAX_NDIM] = {0}, n = 0;
    int64_t shape[CUBED_MAX_NDIM + 1];
    if (!x) return NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < x->node.grid->ndim; d++) {
            if ((int)(q->reduced >> d & 1) == pass) order[n++] = d;
        }
    }
    for (int d = 0; d < q->axis; d++) shape[d] = x->shape[order[d]];
    shape[q->axis] = q->elements;
    return cb_step_reshaped(q->s, cb_step_permuted(q->s, x, order), q->axis + 1, shape);
}

/* --- Weights ---------------------------------------------------------------------------------------------- */

/* Returns the sum of the weights of each line. The run fails if a weight is invalid. */
static cubed_array *total_weight(weighted *q)
{
    cb_steps *s = q->s;
    cubed_array *zero = cb_step_float(s, 0), *finite = NULL;
    if (q->missing && q->o->skip_nan) q->w = cb_step_where(q->s, q->missing, zero, q->w);
    if (q->w) finite = cb_step_op(s, CUBED_OP_ISFINITE, q->w, NULL, NULL);
    cubed_array *valid = cb_step_binary(q->s, CUBED_OP_LOGICAL_AND, finite,
                                        cb_step_binary(q->s, CUBED_OP_GREATER_EQUAL, q->w, zero));
    cubed_array *total =
        along(q, CUBED_REDUCE_SUM, cb_step_where(q->s, valid, q->w, cb_step_float(s, NAN)));
    cubed_array *fits = cb_step_binary(q->s, CUBED_OP_GREATER, total, zero);
    if (q->missing && q->o->skip_nan) { /* the quantile is NaN if all elements are missing */
        cubed_array *none =
            cb_step_binary(q->s, CUBED_OP_LOGICAL_AND, along(q, CUBED_REDUCE_ALL, q->missing),
                           cb_step_binary(q->s, CUBED_OP_EQUAL, total, zero));
        fits = cb_step_binary(q->s, CUBED_OP_LOGICAL_OR, fits, none);
    }
    return total && fits ? cb_step_required(s, total, fits, q->expected) : NULL;
}

/* --- Quantiles -------------------------------------------------------------------------------------------- */

static cubed_array *taken(weighted *q, cubed_array *x, cubed_array *at)
{
    cubed_array *y = NULL;
    if (!x || !at) return NULL;
    return cb_step(q->s, cubed_take_along_axis(x, at, q->axis, &y, q->s->err), &y);
}

static cubed_array *cumulative_sum(weighted *q, cubed_array *x)
{
    cubed_array *y = NULL;
    if (!x) return NULL;
    return cb_step(q->s, cubed_cumulative(CUBED_REDUCE_SUM, x, q->axis, false, &y, q->s->err), &y);
}

/* Returns, for each line, the position of the first sorted element at which the cumulative share of the weight reaches p (if
 * `below` is CUBED_OP_LESS) or exceeds p (if it is CUBED_OP_LESS_EQUAL). */
static cubed_array *positions(weighted *q, cubed_array *share, double p, cubed_op below)
{
    cb_steps *s = q->s;
    cubed_array *before;
    if (!share) return NULL;
    if (p == 0) below = CUBED_OP_LESS_EQUAL; /* skip leading elements whose weight is 0 */
    before = cb_step_binary(q->s, below, share, cb_step_float(s, p));
    cubed_array *at =
        along(q, CUBED_REDUCE_SUM, before ? cb_step_cast(s, before, CUBED_INT64) : NULL);
    return cb_step_binary(q->s, CUBED_OP_MINIMUM, at, cb_step_whole(s, q->elements - 1));
}

/* Reshapes an array with one value per line to the shape of the result. */
static cubed_array *as_result(weighted *q, cubed_array *value, const cubed_array *x)
{
    cb_steps *s = q->s;
    cubed_array *y = NULL;
    if (!value) return NULL;
    s->st = cubed_squeeze(value, &q->axis, 1, &y, s->err);
    if (s->st == CUBED_OK && q->o->keepdims) {
        s->st = cb_op_restore_axes(&y, x, q->reduced, s->err);
        if (s->st != CUBED_OK) cubed_array_unref(y);
    }
    return cb_step(s, s->st, &y);
}

/* Returns true for each line whose quantile is NaN, or NULL if no line can have such a quantile. */
static cubed_array *lost(weighted *q, cubed_array *share)
{
    if (!q->missing) return NULL;
    if (!q->o->skip_nan) return along(q, CUBED_REDUCE_ANY, q->missing);
    cubed_array *last = share ? cb_step_part(q->s, share, q->axis, q->elements - 1, 1, 1) : NULL;
    cubed_array *none = last ? cb_step_op(q->s, CUBED_OP_ISNAN, last, NULL, NULL) : NULL;
    return cb_step_binary(q->s, CUBED_OP_LOGICAL_OR, along(q, CUBED_REDUCE_ALL, q->missing), none);
}

/* Sorted elements of each line, and the cumulative share of the weight at each. */
typedef struct sorted {
    cubed_array *x, *share, *nan_lines;
} sorted;

static sorted sort_lines(weighted *q, cubed_array *x, cubed_array *weights)
{
    cb_steps *s = q->s;
    const sorted none = {NULL, NULL, NULL};
    sorted y = none;
    cubed_sort_options order = CUBED_SORT_OPTIONS_INIT;
    cubed_array *at = NULL;
    order.positions = true;
    order.task_mem = q->o->task_mem;
    q->x = as_lines(q, x);
    q->w = cb_api_weights_of(s, q->name, x, weights, q->o->axes, q->o->naxes);
    q->w = q->w ? cb_step_cast(s, q->w, CUBED_FLOAT64) : NULL;
    q->w = as_lines(q, q->w ? cb_step_broadcast(s, q->w, x->node.grid->ndim, x->shape) : NULL);
    if (!q->x || !q->w) return none;
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT)
        q->missing = cb_step_op(s, CUBED_OP_ISNAN, q->x, NULL, NULL);
    cubed_array *total = total_weight(q);
    if (!total) return none;
    at = cb_step(s, cubed_sort_with(q->x, q->axis, &order, &at, s->err), &at);
    y.x = taken(q, q->x, at);
    y.share = cb_step_binary(q->s, CUBED_OP_DIVIDE, cumulative_sum(q, taken(q, q->w, at)), total);
    y.nan_lines = lost(q, y.share);
    return y;
}

/* Reshapes one value per line to the shape of the result, and casts it to a type. Lines without a valid quantile get NaN. */
static cubed_array *finished(weighted *q, const sorted *in, cubed_array *value,
                             const cubed_array *x, cubed_dtype dtype)
{
    if (q->missing) value = cb_step_where(q->s, in->nan_lines, not_a_number(q, x), value);
    /* The selection returns float32 for half precision, so the result is cast back. */
    value = value ? cb_step_cast(q->s, value, dtype) : NULL;
    return as_result(q, value, x);
}

static cubed_array *quantiles(weighted *q, cubed_array *x, cubed_array *weights, const double *p,
                              int n)
{
    cb_steps *s = q->s;
    cubed_array *y = NULL;
    const sorted in = sort_lines(q, x, weights);
    if (s->st != CUBED_OK) return NULL;
    cubed_array **found = cb_alloc(&x->ctx->alloc, (size_t)n * sizeof(cubed_array *) + 1);
    if (!found) s->st = cb_fail(s->err, CUBED_E_NOMEM, "no memory for quantiles");
    for (int i = 0; i < n && s->st == CUBED_OK; i++) {
        cubed_array *value = taken(q, in.x, positions(q, in.share, p[i], CUBED_OP_LESS));
        found[i] = finished(q, &in, value, x, x->node.dtype);
    }
    if (s->st == CUBED_OK) y = cb_step(s, cubed_stack(found, n, 0, &y, s->err), &y);
    if (found) cb_free(&x->ctx->alloc, found, (size_t)n * sizeof(cubed_array *) + 1);
    return y;
}

static cubed_array *median(weighted *q, cubed_array *x, cubed_array *weights)
{
    static const cubed_op bounds[2] = {CUBED_OP_LESS, CUBED_OP_LESS_EQUAL};
    cb_steps *s = q->s;
    const sorted in = sort_lines(q, x, weights);
    const bool is_float = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT;
    cubed_array *half[2];
    for (int i = 0; i < 2; i++) {
        half[i] = taken(q, in.x, positions(q, in.share, 0.5, bounds[i]));
        half[i] = half[i] ? cb_step_cast(s, half[i], CUBED_FLOAT64) : NULL;
    }
    /* Halving equal elements would lose subnormal bits. */
    cubed_array *is_one = cb_step_binary(q->s, CUBED_OP_EQUAL, half[0], half[1]);
    cubed_array *mean = cb_step_binary(
        q->s, CUBED_OP_ADD, cb_step_binary(q->s, CUBED_OP_MULTIPLY, half[0], cb_step_float(s, 0.5)),
        cb_step_binary(q->s, CUBED_OP_MULTIPLY, half[1], cb_step_float(s, 0.5)));
    return finished(q, &in, cb_step_where(q->s, is_one, half[0], mean), x,
                    is_float ? x->node.dtype : CUBED_FLOAT64);
}

/* Checks the weights and sets the other members of *w. */
static cubed_status begin(weighted *w, const cubed_array *x, const cubed_array *weights,
                          cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    const char *name = w->name;
    const cubed_quantile_options *o = w->o;
    w->elements = 1;
    if (ndim + 1 > CUBED_MAX_NDIM)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "%s: several quantiles of an array with %d dimensions, expected fewer dimensions", name,
            ndim);
    if (cubed_dtype_kind(weights->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s: weights are of type %s, expected real numbers", name,
                       cubed_dtype_name(weights->node.dtype));
    if (o->axes)
        CB_TRY(cb_api_axes(name, ndim, o->axes, o->naxes, &w->reduced, err));
    else
        w->reduced = (uint32_t)((uint64_t)1 << ndim) - 1;
    w->axis = ndim - __builtin_popcount(w->reduced);
    for (int d = 0; d < ndim; d++) {
        if (w->reduced >> d & 1) w->elements *= x->shape[d];
    }
    if (w->elements == 0)
        return cb_fail(err, CUBED_E_ARG, "%s: the array has no elements, so weights sum to 0",
                       name);
    return CUBED_OK;
}

cubed_status cubed_weighted_quantiles(cubed_array *x, cubed_array *weights, const double *q, int n,
                                      const cubed_quantile_options *options, cubed_array **out,
                                      cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("quantile", options, &o, err));
    if (o.method != CUBED_QUANTILE_INVERTED_CDF)
        return cb_fail(err, CUBED_E_ARG,
                       "quantile: weights are given, but method is not 'inverted_cdf', the only "
                       "one with weights");
    if (n < 1) return cb_fail(err, CUBED_E_ARG, "quantile: %d quantiles, expected 1 or more", n);
    for (int i = 0; i < n; i++) {
        if (!(q[i] >= 0 && q[i] <= 1))
            return cb_fail(err, CUBED_E_ARG, "quantile: q is %g, expected 0 to 1", q[i]);
    }
    cb_steps s = {.ctx = x->ctx, .err = err};
    weighted w = {.s = &s, .name = "quantile", .expected = "quantile" EXPECTED, .o = &o};
    CB_TRY(begin(&w, x, weights, err));
    return cb_steps_end(&s, quantiles(&w, x, weights, q, n), out);
}

cubed_status cubed_weighted_median(cubed_array *x, cubed_array *weights,
                                   const cubed_quantile_options *options, cubed_array **out,
                                   cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("median", options, &o, err));
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "median with weights: x is %s, expected real numbers",
                       cubed_dtype_name(x->node.dtype));
    cb_steps s = {.ctx = x->ctx, .err = err};
    weighted w = {.s = &s, .name = "median", .expected = "median" EXPECTED, .o = &o};
    CB_TRY(begin(&w, x, weights, err));
    return cb_steps_end(&s, median(&w, x, weights), out);
}
