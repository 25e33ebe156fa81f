/* Rows of statistics of samples: moments, and test statistics without p-values. */
#include "cubed/stats.h"

#include "base/error.h"
#include "rows.h"

#define CATEGORY .category = "stats"

#define SAMPLE PARAM_NAMED_ARRAY("a", "The sample: real numbers.")
#define AXIS                                                                                       \
    PARAM_AXES("axis", 0,                                                                          \
               "Axes of the observations of a sample. None: all elements are one sample.")
#define KEEPDIMS                                                                                   \
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element.")
/* A second operand, which may be an array or a number. */
#define OPERAND(NAME, FLAGS, NOTES)                                                                \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | NUMBERS, FLAGS, NOTES)                                        \
    }

/* Reads the axes from argument i, and keepdims from the next argument. */
static cubed_reduce_options reduced(const cb_call *c, int i, int room[CUBED_MAX_NDIM])
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, i, room, &o.naxes);
    o.keepdims = cb_call_bool(c, i + 1);
    return o;
}

/* --- Moments ------------------------------------------------------------------------------------------ */

static const cubed_param moment_params[] = {
    SAMPLE,
    {PARAM("order", ACCEPTS(FLOAT), 0, "The power."), FLOAT_DEFAULT(1)},
    AXIS,
    KEEPDIMS,
    {PARAM("center", ACCEPTS(FLOAT) | ACCEPTS(NONE), NAMED,
           "Point from which differences are taken. None: the mean.")},
};

static cubed_status call_moment(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 2, room);
    const double center = cb_call_has(c, 4) ? cb_call_real(c, 4) : 0;
    return cubed_moment(cb_call_array(c, 0), cb_call_real(c, 1), cb_call_has(c, 4) ? &center : NULL,
                        &o, c->out, c->err);
}

#define BIAS PARAM_BOOL("bias", NAMED, true, "False corrects for the bias of small samples.")

static const cubed_param skew_params[] = {SAMPLE, AXIS, KEEPDIMS, BIAS};

static cubed_status call_skew(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, room);
    return cubed_skew(cb_call_array(c, 0), cb_call_bool(c, 3), &o, c->out, c->err);
}

static const cubed_param kurtosis_params[] = {
    SAMPLE,
    AXIS,
    KEEPDIMS,
    BIAS,
    PARAM_BOOL("fisher", NAMED, true,
               "Whether to subtract 3, the kurtosis of a normal distribution."),
};

static cubed_status call_kurtosis(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, room);
    const unsigned flags = (cb_call_bool(c, 4) ? CUBED_KURTOSIS_FISHER : 0) |
                           (cb_call_bool(c, 3) ? CUBED_KURTOSIS_BIAS : 0);
    return cubed_kurtosis(cb_call_array(c, 0), flags, &o, c->out, c->err);
}

/* --- Tests -------------------------------------------------------------------------------------------- */

static const cubed_param normality_params[] = {SAMPLE, AXIS, KEEPDIMS};

typedef cubed_status (*of_one_fn)(cubed_array *x, const cubed_reduce_options *options,
                                  cubed_array **out, cubed_error *err);

static cubed_status of_one(const cb_call *c, of_one_fn fn)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, room);
    return fn(cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_skewtest(const cb_call *c) { return of_one(c, cubed_skewtest); }
static cubed_status call_kurtosistest(const cb_call *c) { return of_one(c, cubed_kurtosistest); }
static cubed_status call_normaltest(const cb_call *c) { return of_one(c, cubed_normaltest); }

typedef cubed_status (*of_two_fn)(cubed_array *a, cubed_array *b,
                                  const cubed_reduce_options *options, cubed_array **out,
                                  cubed_error *err);

/* Calls a function of two operands. The second, at position 1, is an array or a number. */
static cubed_status of_two(const cb_call *c, of_two_fn fn)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 2, room);
    cubed_array *a = cb_call_array(c, 0), *b;
    CB_TRY(cb_call_operand(c, 1, cubed_array_dtype(a), &b));
    cubed_status st = fn(a, b, &o, c->out, c->err);
    cubed_array_unref(b);
    return st;
}

static const cubed_param one_sample_params[] = {
    SAMPLE, OPERAND("popmean", CUBED_PARAM_REQUIRED, "The expected mean."), AXIS, KEEPDIMS};
static const cubed_param related_params[] = {
    SAMPLE, OPERAND("b", CUBED_PARAM_REQUIRED, "The second sample."), AXIS, KEEPDIMS};
static const cubed_param independent_params[] = {
    SAMPLE, OPERAND("b", CUBED_PARAM_REQUIRED, "The second sample."), AXIS, KEEPDIMS,
    PARAM_BOOL("equal_var", NAMED, true, "Whether the variances are equal. False: Welch's test.")};

static cubed_status call_ttest_1samp(const cb_call *c) { return of_two(c, cubed_ttest_1samp); }
static cubed_status call_ttest_rel(const cb_call *c) { return of_two(c, cubed_ttest_rel); }

static cubed_status call_ttest_ind(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 2, room);
    cubed_array *a = cb_call_array(c, 0), *b;
    CB_TRY(cb_call_operand(c, 1, cubed_array_dtype(a), &b));
    cubed_status st = cubed_ttest_ind(a, b, cb_call_bool(c, 4), &o, &c->out[0], &c->out[1], c->err);
    cubed_array_unref(b);
    return st;
}

#define COUNTS PARAM_NAMED_ARRAY("f_obs", "Observed counts.")
#define EXPECTED                                                                                   \
    {                                                                                              \
        PARAM("f_exp", ACCEPTS(ARRAY) | NUMBERS | ACCEPTS(NONE), 0,                                \
              "Expected counts. None: equal counts.")                                              \
    }

static const cubed_param chisquare_params[] = {COUNTS, EXPECTED, AXIS, KEEPDIMS};
static const cubed_param divergence_params[] = {
    COUNTS,
    EXPECTED,
    AXIS,
    KEEPDIMS,
    {PARAM("lambda_", ACCEPTS(FLOAT), NAMED, "The power; 1 is chi-square."), FLOAT_DEFAULT(1)}};

static cubed_status divergence(const cb_call *c, double power)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 2, room);
    cubed_array *observed = cb_call_array(c, 0), *expected = NULL;
    if (cb_call_has(c, 1)) CB_TRY(cb_call_operand(c, 1, cubed_array_dtype(observed), &expected));
    cubed_status st = cubed_power_divergence(observed, expected, power, &o, c->out, c->err);
    cubed_array_unref(expected);
    return st;
}

static cubed_status call_chisquare(const cb_call *c) { return divergence(c, 1); }
static cubed_status call_power_divergence(const cb_call *c)
{
    return divergence(c, cb_call_real(c, 4));
}

static const cubed_param oneway_params[] = {
    {PARAM("samples", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC,
           "The samples, each an array.")},
    PARAM_AXES(
        "axis", NAMED,
        "Axes of the observations of a sample. None: all elements of an array are one sample."),
    KEEPDIMS,
};

static cubed_status call_f_oneway(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    const cubed_reduce_options o = reduced(c, 1, room);
    return cubed_f_oneway(c->values[0].as.arrays, c->values[0].n, &o, c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define MOMENT                                                                                     \
    "The shape of the sample without the reduced axes: float64 for integers, else the type of "    \
    "the sample. NaN if there are no elements."
#define STATISTIC                                                                                  \
    "The shape of the sample without the reduced axes: float64 for integers, else the type of "    \
    "the sample."

static const cb_row rows[] = {
    {{"chisquare", CATEGORY,
      .summary = "The chi-square statistic: the distance of observed from expected counts.",
      .returns = STATISTIC, PARAMS(chisquare_params)},
     .call = call_chisquare},
    {{"f_oneway", CATEGORY, .summary = "The F statistic for equal means of two or more samples.",
      .returns = STATISTIC, PARAMS(oneway_params)},
     .call = call_f_oneway},
    {{"kurtosis", CATEGORY,
      .summary = "The kurtosis: 0 for a normal distribution; NaN if all elements are equal.",
      .returns = MOMENT, PARAMS(kurtosis_params)},
     .call = call_kurtosis},
    {{"kurtosistest", CATEGORY,
      .summary = "The z-score of the kurtosis of at least 5 elements, for a normal distribution.",
      .returns = STATISTIC, PARAMS(normality_params)},
     .call = call_kurtosistest},
    {{"moment", CATEGORY,
      .summary =
          "The moment: the mean of a power of the differences from the mean, or from `center`.",
      .returns = MOMENT, PARAMS(moment_params)},
     .call = call_moment},
    {{"normaltest", CATEGORY,
      .summary = "The sum of the squares of skewtest and kurtosistest, of at least 8 elements.",
      .returns = STATISTIC, PARAMS(normality_params)},
     .call = call_normaltest},
    {{"power_divergence", CATEGORY,
      .summary = "The Cressie-Read power divergence of observed from expected counts.",
      .returns = STATISTIC, PARAMS(divergence_params)},
     .call = call_power_divergence},
    {{"skew", CATEGORY,
      .summary = "The skewness: 0 for a normal distribution; NaN if all elements are equal.",
      .returns = MOMENT, PARAMS(skew_params)},
     .call = call_skew},
    {{"skewtest", CATEGORY,
      .summary = "The z-score of the skewness of at least 8 elements, for a normal distribution.",
      .returns = STATISTIC, PARAMS(normality_params)},
     .call = call_skewtest},
    {{"ttest_1samp", CATEGORY, .summary = "Student's t for a sample with the mean `popmean`.",
      .returns = STATISTIC, PARAMS(one_sample_params)},
     .call = call_ttest_1samp},
    {{"ttest_ind", CATEGORY, .summary = "Student's or Welch's t for equal means of two samples.",
      .returns = "t and the degrees of freedom, without the axes.", PARAMS(independent_params),
      .results = {"t", "df"}, .nextra = 1},
     .call = call_ttest_ind},
    {{"ttest_rel", CATEGORY, .summary = "Student's t for equal means of paired samples.",
      .returns = STATISTIC, PARAMS(related_params)},
     .call = call_ttest_rel},
};

const cb_rows cb_stats_rows = ROWS(rows);
