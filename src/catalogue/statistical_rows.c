/* Rows of statistics: running totals, means, quantiles, covariances, and counts of values. */
#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/array_api.h"
#include "cubed/fields.h"
#include "ops/shapes.h"
#include "ops/steps.h"
#include "rows.h"

#define CATEGORY .category = "statistical"

#define AXES PARAM_AXES("axis", 0, "Axes along which to compute. None: all.")
#define KEEPDIMS                                                                                   \
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element.")
#define WEIGHTS                                                                                    \
    PARAM_WEIGHTS("weights", NAMED,                                                                \
                  "Weight of each element, or of each position along the reduced axes in the "     \
                  "order of `axis`. None: 1.")

/* Reads the axes from argument i, and keepdims from argument k. */
static cubed_reduce_options reduced(const cb_call *c, int i, int k, int room[CUBED_MAX_NDIM])
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, i, room, &o.naxes);
    o.keepdims = cb_call_bool(c, k);
    return o;
}

/* --- Running totals ------------------------------------------------------------------------------------ */

#define RUNNING_AXIS(NOTES)                                                                        \
    PARAM_ARRAY("x", "Input array."),                                                              \
        PARAM_AXIS_OR_NONE("axis", 0, "Axis along which to compute. None: " NOTES)
#define TOTAL_TYPE(FLAGS) PARAM_DTYPE("dtype", FLAGS, "Type of the result.")
#define INITIAL                                                                                    \
    PARAM_BOOL("include_initial", NAMED, false,                                                    \
               "Whether the result begins with 0 for sums, or 1 for products.")

static const cubed_param running_params[] = {RUNNING_AXIS("the only one."), TOTAL_TYPE(NAMED),
                                             INITIAL, PARAM_DEVICE};
static const cubed_param numpy_running_params[] = {RUNNING_AXIS("the flattened array."),
                                                   TOTAL_TYPE(0), INITIAL};

/* Casts x to a type. If `dtype` is NULL, returns x itself. */
static cubed_status cast(cubed_array *x, const cubed_dtype *dtype, cubed_array **out,
                         cubed_error *err)
{
    if (dtype) return cubed_astype(x, *dtype, out, err);
    *out = cubed_array_ref(x);
    return CUBED_OK;
}

/* Computes running totals of x along an axis, in the type of the call. */
static cubed_status run_totals(const cb_call *c, cubed_array *x, int axis)
{
    const cubed_dtype *dtype = cb_call_dtype(c, 2);
    cubed_array *terms, *totals = NULL;
    CB_TRY(cast(x, dtype, &terms, c->err));
    cubed_status st = cubed_cumulative((cubed_reduction)c->which, terms, axis, cb_call_bool(c, 3),
                                       &totals, c->err);
    if (st == CUBED_OK) st = cast(totals, dtype, c->out, c->err);
    cubed_array_unref(totals);
    cubed_array_unref(terms);
    return st;
}

static cubed_status call_cumulative(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int axis;
    CB_TRY(cb_call_only_axis(c, 1, cubed_array_ndim(x), &axis));
    return run_totals(c, x, axis);
}

static const cubed_param extreme_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_REQUIRED_AXIS("axis", 0, "Axis along which to compute."),
};

static cubed_status call_running_extreme(const cb_call *c)
{
    return cubed_cumulative((cubed_reduction)c->which, cb_call_array(c, 0), cb_call_axis(c, 1),
                            false, c->out, c->err);
}

/* Computes running totals along an axis, or, without an axis, of the flattened array. */
static cubed_status run_numpy_totals(const cb_call *c, cubed_array *x)
{
    const int64_t all = -1;
    cubed_array *line;
    if (cb_call_has(c, 1)) return run_totals(c, x, cb_call_axis(c, 1));
    CB_TRY(cubed_reshape(x, 1, &all, &line, c->err));
    cubed_status st = run_totals(c, line, 0);
    cubed_array_unref(line);
    return st;
}

static cubed_status call_numpy_totals(const cb_call *c)
{
    return run_numpy_totals(c, cb_call_array(c, 0));
}

/* Replaces NaN in x by the neutral element of the sum or product. */
static cubed_status replace_nan(const cb_call *c, cubed_array **out)
{
    cubed_array *x = cb_call_array(c, 0), *in[3] = {NULL, NULL, x};
    const cubed_value neutral = {.kind = CUBED_VALUE_FLOAT,
                                 .as.real = c->which == CUBED_REDUCE_PROD};
    const cubed_dtype dtype = cubed_number_dtype(&neutral, cubed_array_dtype(x), false);
    cubed_scalar value;
    /* cannot fail: floating-point types represent 0 and 1 */
    (void)cubed_number_scalar(&neutral, dtype, &value);
    cubed_status st = cubed_elementwise(CUBED_OP_ISNAN, &x, 1, &in[0], c->err);
    if (st == CUBED_OK) st = cubed_array_full(c->ctx, dtype, 0, NULL, NULL, &value, &in[1], c->err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, in, 3, out, c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

static cubed_status call_nan_totals(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *terms;
    if (cubed_dtype_kind(cubed_array_dtype(x)) < CUBED_KIND_FLOAT ||
        cubed_dtype_kind(cubed_array_dtype(x)) > CUBED_KIND_COMPLEX)
        return run_numpy_totals(c, x);
    CB_TRY(replace_nan(c, &terms));
    cubed_status st = run_numpy_totals(c, terms);
    cubed_array_unref(terms);
    return st;
}

/* --- Means and ranges ---------------------------------------------------------------------------------- */

static const cubed_param ptp_params[] = {PARAM_ARRAY("x", "Input array."), AXES, KEEPDIMS};

static cubed_status call_ptp(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, 2, room);
    return cubed_ptp(cb_call_array(c, 0), &o, c->out, c->err);
}

static const cubed_param average_params[] = {PARAM_LIKE("x", "Input array."), AXES, WEIGHTS,
                                             KEEPDIMS};

static cubed_status call_average(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, 3, room);
    return cubed_average(cb_call_array(c, 0), cb_call_array(c, 2), &o, &c->out[0], &c->out[1],
                         c->err);
}

/* --- Quantiles ----------------------------------------------------------------------------------------- */

enum { SKIP_NAN = 1, PERCENT = 2 };

/* Parameters of quantiles. `MOST` is the maximum of q: 1, or 100 for percentiles. */
#define QUANTILE_PARAMS(MOST, NOTES)                                                               \
    {                                                                                              \
        PARAM_ARRAY("x", "Real numbers, or times."),                                               \
            {PARAM_IN("q", ACCEPTS(FLOAT) | ACCEPTS(FLOATS),                                       \
                      CUBED_PARAM_REQUIRED | CUBED_PARAM_LABELS, 0, MOST, NOTES)},                 \
            AXES,                                                                                  \
            PARAM_CHOICE(                                                                          \
                "method", NAMED, CUBED_QUANTILE_LINEAR, cb_quantile_methods,                       \
                "Method of interpolation between elements, by its name in NumPy or CDO."),         \
            KEEPDIMS, WEIGHTS, PARAM_TASK_MEM                                                      \
    }

static const cubed_param quantile_params[] =
    QUANTILE_PARAMS(1, "Quantile, from 0 to 1: the fraction of the elements below it.");
static const cubed_param percentile_params[] =
    QUANTILE_PARAMS(100, "Percentile, from 0 to 100: the percentage of the elements below it.");
static const cubed_param median_params[] = {PARAM_ARRAY("x", "Numbers, or differences of times."),
                                            AXES, KEEPDIMS, WEIGHTS, PARAM_TASK_MEM};

/* Parameters of upstream Cubed's nanmedian, which are positional or named. */
static const cubed_param nanmedian_params[] = {
    PARAM_NAMED_ARRAY("x", "Numbers, or differences of times."), AXES,
    PARAM_BOOL("keepdims", 0, false, "Whether to keep the reduced axes, with one element."),
    WEIGHTS, PARAM_TASK_MEM};

static cubed_status call_median(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, 1, room, &o.naxes);
    o.keepdims = cb_call_bool(c, 2);
    o.skip_nan = c->which;
    o.task_mem = cb_call_task_mem(c);
    if (cb_call_has(c, 3))
        return cubed_weighted_median(cb_call_array(c, 0), cb_call_array(c, 3), &o, c->out, c->err);
    return cubed_median(cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_quantile(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, 2, room, &o.naxes);
    o.method = (cubed_quantile_method)cb_call_choice(c, 3);
    o.keepdims = cb_call_bool(c, 4);
    o.skip_nan = c->which & SKIP_NAN;
    o.task_mem = cb_call_task_mem(c);
    return cb_call_quantiles(c, cb_call_array(c, 5), c->which & PERCENT ? 100 : 1, &o);
}

/* --- Covariances --------------------------------------------------------------------------------------- */

#define VARIABLES                                                                                  \
    PARAM_BOOL("rowvar", 0, true, "Whether rows are variables and columns are observations.")
#define OBSERVED                                                                                   \
    PARAM_AXES("axis", NAMED,                                                                      \
               "Axes of observations. At most one other axis may exist: that of variables. None: " \
               "rows or columns, by `rowvar`.")
#define MORE                                                                                       \
    PARAM_OPTIONAL_ARRAY("y", 0, "More variables, which are appended. None: no more variables.")

static const cubed_param cov_params[] = {
    PARAM_LIKE("m", "Variables and their observations."),
    MORE,
    VARIABLES,
    PARAM_BOOL("bias", 0, false,
               "Whether to divide by the number n of observations, instead of n - 1."),
    {PARAM(
        "ddof", ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
        "Subtracted from the number of observations in the divisor. None: follows from `bias`.")},
    PARAM_WEIGHTS("fweights", 0,
                  "Number of times that each observation was made: integers. None: once."),
    PARAM_WEIGHTS("aweights", 0, "Weight of each observation. None: equal weights."),
    PARAM_DTYPE("dtype", NAMED, "Type of the result. None: at least float64, or complex128."),
    OBSERVED,
};
static const cubed_param corrcoef_params[] = {
    PARAM_LIKE("x", "Variables and their observations."),
    MORE,
    VARIABLES,
    PARAM_DTYPE("dtype", NAMED, "Type of the result. None: at least float64, or complex128."),
    OBSERVED,
};

/* Axes of observations. `n` is 0 if the call gives no axes. */
typedef struct observed {
    int n, axes[CUBED_MAX_NDIM];
    uint32_t mask;
} observed;

static cubed_status get_observed(const cb_call *c, int i, int at, observed *o)
{
    int room[CUBED_MAX_NDIM], axis;
    const int ndim = cubed_array_ndim(cb_call_array(c, i));
    const int *axes = cb_call_axes(c, at, room, &o->n);
    o->mask = 0;
    for (int k = 0; k < o->n; k++) {
        CB_TRY(cb_call_check_axis(c, at, ndim, axes[k], &axis));
        if (o->mask >> axis & 1)
            return cb_call_blame(c, at,
                                 cb_fail(c->err, CUBED_E_AXIS,
                                         "%s: axis has %d twice, expected each axis once",
                                         c->function->name, axis));
        o->mask |= UINT32_C(1) << axis;
        o->axes[k] = axis;
    }
    if (ndim - o->n > 1)
        return cb_call_blame(
            c, at,
            cb_fail(c->err, CUBED_E_ARG,
                    "%s: %s has %d axes, and axis names %d of them, expected all or all but one",
                    c->function->name, c->function->params[i].name, ndim, o->n));
    return CUBED_OK;
}

/* Returns the variables as rows of a matrix, after merging the axes of observations. */
static cubed_array *join_observed(cb_steps *s, const cb_call *c, int i, int at)
{
    cubed_array *x = cb_call_array(c, i);
    const int ndim = cubed_array_ndim(x);
    int order[CUBED_MAX_NDIM] = {0}, n = 0;
    int64_t shape[2] = {1, 1};
    observed o;
    s->st = get_observed(c, i, at, &o);
    if (s->st != CUBED_OK) return NULL;
    for (int d = 0; d < ndim; d++) {
        if (o.mask >> d & 1) continue;
        order[n++] = d;
        shape[0] = cubed_array_shape(x)[d];
    }
    for (int k = 0; k < o.n; k++) {
        order[n++] = o.axes[k];
        shape[1] *= cubed_array_shape(x)[o.axes[k]];
    }
    return cb_step_reshaped(s, cb_step_permuted(s, x, order), 2, shape);
}

/* Returns the weights of observations as a vector. The argument has one dimension, or one for each axis of observations. */
static cubed_array *join_weights(cb_steps *s, const cb_call *c, int i, int at)
{
    cubed_array *w = cb_call_array(c, i), *x = cb_call_array(c, 0);
    char is[CB_SHAPE_TEXT_CAP], wanted[CB_SHAPE_TEXT_CAP];
    int64_t extents[CUBED_MAX_NDIM], all = 1;
    observed o;
    if (!w || !cb_call_has(c, at) || s->st != CUBED_OK) return w;
    s->st = get_observed(c, 0, at, &o);
    if (s->st != CUBED_OK) return NULL;
    bool fits = cubed_array_ndim(w) == o.n;
    for (int k = 0; k < o.n; k++) {
        extents[k] = cubed_array_shape(x)[o.axes[k]];
        all *= extents[k];
        fits = fits && cubed_array_shape(w)[k] == extents[k];
    }
    if (fits) return o.n == 1 ? w : cb_step_reshaped(s, w, 1, &all);
    s->st = cb_call_blame(c, i,
                          cb_fail(c->err, CUBED_E_ARG,
                                  "%s: %s have shape %s, expected %s, as the axes of observations",
                                  c->function->name, c->function->params[i].name,
                                  cb_shape_text(w, is), cb_extents_text(o.n, extents, wanted)));
    return NULL;
}

/* Gets the variables of the array at position i as rows. `at` is the position of the axes of observations. */
static cubed_array *get_rows(cb_steps *s, const cb_call *c, int i, int at)
{
    if (s->st != CUBED_OK) return NULL;
    if (cb_call_has(c, at)) return join_observed(s, c, i, at);

    static const int swapped[2] = {1, 0};
    cubed_array *x = cb_call_array(c, i), *rows = NULL;
    const int ndim = cubed_array_ndim(x);
    if (ndim > 2)
        s->st =
            cb_call_blame(c, i,
                          cb_fail(c->err, CUBED_E_ARG, "%s: %s has %d axes, expected at most two",
                                  c->function->name, c->function->params[i].name, ndim));
    if (s->st != CUBED_OK) return NULL;
    rows = cb_step(s, cubed_atleast(x, 2, &rows, c->err), &rows);
    return ndim == 2 && !cb_call_bool(c, 2) ? cb_step_permuted(s, rows, swapped) : rows;
}

/* Gets the variables of both arrays as rows, in the type for computations. Argument `dtype` gives the type of the result, and the
 * next argument the axes of observations. */
static cubed_array *get_observations(cb_steps *s, const cb_call *c, int dtype)
{
    const bool is_pair = cb_call_has(c, 1);
    cubed_array *parts[2] = {get_rows(s, c, 0, dtype + 1),
                             is_pair ? get_rows(s, c, 1, dtype + 1) : NULL};
    cubed_array *x = cb_step_concat(s, parts, is_pair ? 2 : 1, 0);
    if (!x) return NULL;
    if (cb_call_has(c, dtype)) return cb_step_cast(s, x, *cb_call_dtype(c, dtype));
    const cubed_dtype own = cubed_array_dtype(x), wide = cubed_dtype_promote(own, CUBED_FLOAT64);
    return cubed_dtype_is_valid(wide) ? cb_step_cast(s, x, wide) : x;
}

static cubed_status call_cov(const cb_call *c)
{
    cubed_cov_options o = CUBED_COV_OPTIONS_INIT;
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    o.ddof = cb_call_has(c, 4) ? cb_call_real(c, 4) : cb_call_bool(c, 3) ? 0 : 1;
    o.fweights = join_weights(&s, c, 5, 8);
    o.aweights = join_weights(&s, c, 6, 8);
    cubed_array *rows = get_observations(&s, c, 7), *made = NULL;
    if (rows) made = cb_step(&s, cubed_cov(rows, &o, &made, c->err), &made);
    return cb_steps_end(&s, made, c->out);
}

static cubed_status call_corrcoef(const cb_call *c)
{
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    cubed_array *rows = get_observations(&s, c, 3), *made = NULL;
    if (rows) made = cb_step(&s, cubed_corrcoef(rows, &made, c->err), &made);
    return cb_steps_end(&s, made, c->out);
}

/* --- Empirical orthogonal functions -------------------------------------------------------------------- */

static const cubed_param eofs_params[] = {
    PARAM_NAMED_ARRAY("x", "Anomalies: fields at several times."),
    PARAM_REQUIRED_INT("n", 0, "Number of functions."),
    PARAM_OPTIONAL_ARRAY("weights", 0,
                         "Weights of cells, such as areas, which broadcast to a field of `x`. "
                         "None: 1."),
    {PARAM("axis", ACCEPTS(INT), NAMED | CUBED_PARAM_AXIS, "The axis of times."), INT_DEFAULT(0)},
    PARAM_TASK_MEM,
};

static cubed_status call_eofs(const cb_call *c)
{
    int axis;
    CB_TRY(cb_call_check_axis(c, 3, cubed_array_ndim(cb_call_array(c, 0)), (int)cb_call_int(c, 3),
                              &axis));
    return cubed_eofs(cb_call_array(c, 0), cb_call_array(c, 2), cb_call_int(c, 1), axis,
                      cb_call_task_mem(c), &c->out[0], &c->out[1], &c->out[2], c->err);
}

/* --- Counts of values ---------------------------------------------------------------------------------- */

/* Maximum number of bins of equal width. Their edges are in memory, 8 bytes each. */
#define MOST_BINS 1000000

static const cubed_param histogram_params[] = {
    PARAM_ARRAY("x", "Real numbers."),
    {PARAM(
        "bins", ACCEPTS(INT) | ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
        "Edges of the bins in ascending order, or the number of bins of equal width in `range`.")},
    {PARAM("range", ACCEPTS(FLOATS) | ACCEPTS(NONE), NAMED,
           "The first and the last edge, if `bins` is a number.")},
    WEIGHTS,
};

/* Counts elements in bins of equal width. */
static cubed_status count_equal(const cb_call *c)
{
    const cubed_value *range = &c->values[2];
    const int64_t bins = cb_call_int(c, 1);
    if (bins < 1 || bins > MOST_BINS)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "histogram: bins is %lld, expected 1 to %d bins",
                                     (long long)bins, MOST_BINS));
    if (range->n != 2)
        return cb_call_blame(
            c, 2,
            cb_fail(
                c->err, CUBED_E_ARG,
                "histogram: bins is a number and range is missing, expected range=(first, last)"));
    double first = range->as.reals[0], last = range->as.reals[1];
    if (!isfinite(first) || !isfinite(last) || first > last)
        return cb_call_blame(
            c, 2,
            cb_fail(c->err, CUBED_E_ARG,
                    "histogram: range is (%g, %g), expected two finite ascending numbers", first,
                    last));
    /* As in NumPy, a range of width 0 is widened. Otherwise its bins would contain only elements equal to the last edge. */
    if (first == last) {
        first -= 0.5;
        last += 0.5;
    }
    const size_t bytes = (size_t)(bins + 1) * sizeof(double);
    double *edges = cb_alloc(&c->ctx->alloc, bytes);
    if (!edges)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %lld edges", (long long)bins + 1);
    for (int64_t i = 0; i < bins; i++)
        edges[i] = first + (double)i * ((last - first) / (double)bins);
    edges[bins] = last;
    cubed_status st =
        cubed_histogram(cb_call_array(c, 0), edges, bins, cb_call_array(c, 3), c->out, c->err);
    cb_free(&c->ctx->alloc, edges, bytes);
    return st;
}

static cubed_status call_histogram(const cb_call *c)
{
    const cubed_value *bins = &c->values[1];
    if (bins->kind == CUBED_VALUE_INT) return count_equal(c);
    if (cb_call_has(c, 2))
        return cb_call_blame(
            c, 2,
            cb_fail(c->err, CUBED_E_ARG,
                    "histogram: range and edges are both given, expected one of the two"));
    if (bins->n < 2)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "histogram: bins has %d edges, expected at least 2", bins->n));
    return cubed_histogram(cb_call_array(c, 0), bins->as.reals, bins->n - 1, cb_call_array(c, 3),
                           c->out, c->err);
}

static const cubed_param bincount_params[] = {
    PARAM_ARRAY("x", "Integers from 0 to `length` - 1."),
    PARAM_REQUIRED_INT("length", 0,
                       "Number of integers to count: one more than the largest element."),
    WEIGHTS,
};

static cubed_status call_bincount(const cb_call *c)
{
    return cubed_bincount(cb_call_array(c, 0), cb_call_int(c, 1), cb_call_array(c, 2), c->out,
                          c->err);
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define TOTALS                                                                                     \
    "The shape of `x`, one longer along the axis with `include_initial`. Integers become int64 "   \
    "or "                                                                                          \
    "uint64."
#define LINE_TOTALS "The shape of `x`, or one dimension. Integers become int64 or uint64."
#define RANGE_TYPE  "The shape of `x` without the reduced axes; the type of `x`."
#define QUANTILES                                                                                  \
    "The shape of `x` without the reduced axes; the axes of `q` come first. float64 for integers " \
    "and bools. For floats the type of `x`, or the type that `x` and `q` promote to if `q` is an " \
    "array. NaN if there are no elements."
#define MEDIANS                                                                                    \
    "The shape of `x` without the reduced axes: float64 for integers and bools, else the type of " \
    "`x`."
#define MATRIX "``(n, n)`` for n variables; `dtype`, or float64 or complex128."

#define QUANTILE(NAME, SUMMARY, LIST, WHICH)                                                       \
    {                                                                                              \
        {(NAME),                                                                                   \
         CATEGORY,                                                                                 \
         .summary = (SUMMARY),                                                                     \
         .returns = QUANTILES,                                                                     \
         PARAMS(LIST),                                                                             \
         .attrs = CUBED_ATTRS_REDUCE},                                                             \
            .call = call_quantile, .which = (WHICH)                                                \
    }

static const cb_row rows[] = {
    {{"average", CATEGORY, .summary = "Weighted means.",
      .returns = "The shape of `x` without the reduced axes: float64 for integers, else the type "
                 "that `x` and `weights` "
                 "promote to; also the sums of the weights.",
      PARAMS(average_params), .results = {"mean", "sum_of_weights"}, .nextra = 1,
      .attrs = CUBED_ATTRS_REDUCE, .cell_method = "mean"},
     .call = call_average},
    {{"bincount", CATEGORY, .summary = "The number of occurrences of each integer from 0.",
      .returns = "``(length,)``: int64, or float64 with `weights`.", PARAMS(bincount_params)},
     .call = call_bincount},
    {{"corrcoef", CATEGORY, .summary = "Pearson's correlation coefficients of variables.",
      .returns = MATRIX, PARAMS(corrcoef_params)},
     .call = call_corrcoef},
    {{"cov", CATEGORY, .summary = "The covariance matrix of variables.", .returns = MATRIX,
      PARAMS(cov_params)},
     .call = call_cov},
    {{"cumprod", CATEGORY, .summary = "Cumulative products along an axis.", .returns = LINE_TOTALS,
      PARAMS(numpy_running_params)},
     .call = call_numpy_totals,
     .which = CUBED_REDUCE_PROD},
    {{"cumsum", CATEGORY, .summary = "Cumulative sums along an axis.", .returns = LINE_TOTALS,
      PARAMS(numpy_running_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_numpy_totals,
     .which = CUBED_REDUCE_SUM},
    {{"cumulative_max", CATEGORY,
      .summary = "Cumulative maxima along an axis; NaN from the first NaN on.",
      .returns = "The shape and type of `x`.", PARAMS(extreme_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_running_extreme,
     .which = CUBED_REDUCE_MAX},
    {{"cumulative_min", CATEGORY,
      .summary = "Cumulative minima along an axis; NaN from the first NaN on.",
      .returns = "The shape and type of `x`.", PARAMS(extreme_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_running_extreme,
     .which = CUBED_REDUCE_MIN},
    {{"cumulative_prod", CATEGORY, .summary = "Cumulative products along an axis.",
      .returns = TOTALS, PARAMS(running_params)},
     .call = call_cumulative,
     .which = CUBED_REDUCE_PROD},
    {{"cumulative_sum", CATEGORY, .summary = "Cumulative sums along an axis.", .returns = TOTALS,
      PARAMS(running_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_cumulative,
     .which = CUBED_REDUCE_SUM},
    {{"eofs", CATEGORY,
      .summary =
          "Empirical orthogonal functions: the patterns that explain most of the variance of "
          "a series of fields.",
      .returns = "Fields ``(n, ...)``, the variance that each explains ``(n,)``, and their "
                 "coefficients ``(times, n)``: float64 for integers, else the type that `x` and "
                 "`weights` promote to.",
      PARAMS(eofs_params), .results = {"patterns", "variances", "coefficients"}},
     .call = call_eofs},
    {{"histogram", CATEGORY, .summary = "The number of elements in each bin.",
      .returns = "One element for each bin: int64, or the type of `weights`.",
      PARAMS(histogram_params)},
     .call = call_histogram},
    {{"median", CATEGORY,
      .summary = "The median: the middle element, or the mean of the two middle elements.",
      .returns = MEDIANS, PARAMS(median_params), .attrs = CUBED_ATTRS_REDUCE,
      .cell_method = "median"},
     .call = call_median},
    {{"nancumprod", CATEGORY, .summary = "Cumulative products in which NaN counts as 1.",
      .returns = LINE_TOTALS, PARAMS(numpy_running_params)},
     .call = call_nan_totals,
     .which = CUBED_REDUCE_PROD},
    {{"nancumsum", CATEGORY, .summary = "Cumulative sums in which NaN counts as 0.",
      .returns = LINE_TOTALS, PARAMS(numpy_running_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_nan_totals,
     .which = CUBED_REDUCE_SUM},
    {{"nanmedian", CATEGORY, .summary = "The median of the elements that are not NaN, or not NaT.",
      .returns = MEDIANS, PARAMS(nanmedian_params), .attrs = CUBED_ATTRS_REDUCE,
      .cell_method = "median"},
     .call = call_median,
     .which = SKIP_NAN},
    QUANTILE("nanpercentile", "Percentiles of the elements that are not NaN, or not NaT.",
             percentile_params, PERCENT | SKIP_NAN),
    QUANTILE("nanquantile", "Quantiles of the elements that are not NaN, or not NaT.",
             quantile_params, SKIP_NAN),
    QUANTILE("percentile", "Percentiles; NaN if an element is NaN.", percentile_params, PERCENT),
    {{"ptp", CATEGORY, .summary = "The range: the largest element minus the smallest.",
      .returns = RANGE_TYPE, PARAMS(ptp_params), .attrs = CUBED_ATTRS_REDUCE,
      .cell_method = "range"},
     .call = call_ptp},
    QUANTILE("quantile", "Quantiles; NaN if an element is NaN.", quantile_params, 0),
};

const cb_rows cb_statistical_rows = ROWS(rows);
