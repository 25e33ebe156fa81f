/* Rows of reductions by group and over moving windows. */
#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/groupby.h"
#include "cubed/rolling.h"
#include "rows.h"

#define CATEGORY .category = "groups"

/* --- Groups ------------------------------------------------------------------------------------------- */

/* Values of choices: a cubed_group_reduction, combined with SKIP_NAN if it skips NaN, or ORDER with the flags of an order
 * statistic. */
enum { SKIP_NAN = 1 << 8, ORDER = 1 << 9, PERCENT = 1 << 10, MEDIAN = 1 << 11 };

#define NAMED_ALIKE(NAME, WHICH)                                                                   \
    {NAME, (WHICH)}, { "nan" NAME, (WHICH) | SKIP_NAN }

static const cubed_choice reductions[] = {
    NAMED_ALIKE("count", CUBED_GROUP_COUNT),
    NAMED_ALIKE("sum", CUBED_GROUP_SUM),
    NAMED_ALIKE("prod", CUBED_GROUP_PROD),
    NAMED_ALIKE("mean", CUBED_GROUP_MEAN),
    NAMED_ALIKE("median", ORDER | MEDIAN),
    NAMED_ALIKE("quantile", ORDER),
    NAMED_ALIKE("percentile", ORDER | PERCENT),
    NAMED_ALIKE("var", CUBED_GROUP_VAR),
    NAMED_ALIKE("std", CUBED_GROUP_STD),
    NAMED_ALIKE("min", CUBED_GROUP_MIN),
    NAMED_ALIKE("max", CUBED_GROUP_MAX),
    {"any", CUBED_GROUP_ANY},
    {"all", CUBED_GROUP_ALL},
    NAMED_ALIKE("first", CUBED_GROUP_FIRST),
    NAMED_ALIKE("last", CUBED_GROUP_LAST),
    NAMED_ALIKE("argmin", CUBED_GROUP_ARGMIN),
    NAMED_ALIKE("argmax", CUBED_GROUP_ARGMAX),
    {NULL, 0},
};

enum {
    X,
    LABELS,
    REDUCTION,
    AXIS,
    NGROUPS,
    SKIPNA,
    CORRECTION,
    DDOF,
    MIN_COUNT,
    Q,
    METHOD,
    FILL,
    FILL_ABSENT,
    DTYPE
};

#define OPTIONAL(NAME, KINDS, NOTES)                                                               \
    {                                                                                              \
        PARAM(NAME, (KINDS) | ACCEPTS(NONE), NAMED, NOTES)                                         \
    }

static const cubed_param groupby_params[] = {
    [X] = PARAM_NAMED_ARRAY("x", "Input array."),
    [LABELS] = PARAM_NAMED_ARRAY(
        "labels",
        "Group number of each element, from 0; a negative number is in no group. "
        "Expressions also accept labels of other types, and determine `ngroups` from the labels."),
    [REDUCTION] = {PARAM("reduction", ACCEPTS(CHOICE), CUBED_PARAM_REQUIRED | CUBED_PARAM_RULE,
                         "The reduction of each group."),
                   .choices = reductions},
    [AXIS] = PARAM_AXES("axis", NAMED,
                        "Axes of `x` that the axes of the labels belong to. None: the first axes."),
    [NGROUPS] = {PARAM_IN("ngroups", ACCEPTS(INT), NAMED | CUBED_PARAM_REQUIRED, 0, INFINITY,
                          "Number of groups.")},
    [SKIPNA] = OPTIONAL("skipna", ACCEPTS(BOOL),
                        "Whether missing elements are skipped. None: if the name of the reduction "
                        "begins with ``nan``."),
    [CORRECTION] = OPTIONAL(
        "correction", ACCEPTS(FLOAT),
        "For var and std: subtracted from the number of elements in the divisor. None: 0."),
    [DDOF] = OPTIONAL("ddof", ACCEPTS(FLOAT), "NumPy's name of `correction`."),
    [MIN_COUNT] = OPTIONAL("min_count", ACCEPTS(INT),
                           "Minimum number of elements; smaller groups become `fill_value`. None: "
                           "the number that the reduction needs."),
    [Q] = OPTIONAL("q", ACCEPTS(FLOAT) | ACCEPTS(FLOATS),
                   "For quantiles from 0 to 1, for percentiles from 0 to 100. A list becomes the "
                   "first axis of the result."),
    [METHOD] =
        {PARAM("method", ACCEPTS(CHOICE) | ACCEPTS(NONE), NAMED,
               "For quantiles and percentiles: interpolation between elements. None: ``linear``."),
         .choices = cb_quantile_methods},
    [FILL] = OPTIONAL("fill_value", NUMBERS,
                      "Value of groups with too few elements. None: NaN, NaT, -1 for positions, "
                      "false for any, true for all, 0 for other integers."),
    [FILL_ABSENT] = PARAM_BOOL(
        "fill_absent", NAMED, false,
        "Whether groups without elements are `fill_value` also for counts, sums and products."),
    [DTYPE] = PARAM_DTYPE("dtype", NAMED, "Type of the result. None: the same as without groups."),
    PARAM_TASK_MEM,
};

/* Fails if the call has an option that the reduction does not support. */
static cubed_status refuse_option(const cb_call *c, int i, bool is_known)
{
    static const char *const owners[] = {[CORRECTION] = "var and std",
                                         [DDOF] = "var and std",
                                         [MIN_COUNT] = "other reductions",
                                         [Q] = "quantiles and percentiles",
                                         [METHOD] = "quantiles and percentiles"};
    if (is_known || !cb_call_has(c, i)) return CUBED_OK;
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG, "groupby: %s is an option of %s, not of %s",
                                 c->function->params[i].name, owners[i],
                                 cb_call_choice_name(c, REDUCTION)));
}

static cubed_status check_options(const cb_call *c)
{
    const int which = cb_call_choice(c, REDUCTION), plain = which & ~SKIP_NAN;
    const bool is_order = which & ORDER, takes_q = is_order && !(which & MEDIAN);
    const bool spreads = plain == CUBED_GROUP_VAR || plain == CUBED_GROUP_STD;
    CB_TRY(refuse_option(c, CORRECTION, spreads));
    CB_TRY(refuse_option(c, DDOF, spreads));
    CB_TRY(refuse_option(c, MIN_COUNT, !is_order));
    CB_TRY(refuse_option(c, Q, takes_q));
    CB_TRY(refuse_option(c, METHOD, takes_q));
    if (cb_call_has(c, CORRECTION) && cb_call_has(c, DDOF))
        return cb_call_blame(
            c, DDOF,
            cb_fail(
                c->err, CUBED_E_TYPE,
                "groupby: ddof and correction are the same parameter, expected one of the two"));
    if (takes_q && !cb_call_has(c, Q))
        return cb_fail(c->err, CUBED_E_TYPE,
                       "groupby: q is missing, expected a number or a list of numbers");
    return CUBED_OK;
}

/* Reads the axes of the labels, as nonnegative numbers. Each axis may occur once. */
static cubed_status take_axes(const cb_call *c, int axes[CUBED_MAX_NDIM], int *n)
{
    const int ndim = cubed_array_ndim(cb_call_array(c, X));
    const int nlabels = cubed_array_ndim(cb_call_array(c, LABELS));
    uint32_t seen = 0;
    if (!cb_call_axes(c, AXIS, axes, n)) {
        *n = nlabels;
        for (int i = 0; i < nlabels; i++) axes[i] = i;
    }
    if (*n < 1 || *n != nlabels)
        return cb_call_blame(c, cb_call_has(c, AXIS) ? AXIS : LABELS,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "groupby: labels have %d dimensions for %d axes, expected "
                                     "equal numbers, at least 1",
                                     nlabels, *n));
    for (int i = 0; i < *n; i++) {
        CB_TRY(cb_call_check_axis(c, AXIS, ndim, axes[i], &axes[i]));
        if (seen >> axes[i] & 1)
            return cb_call_blame(
                c, AXIS, cb_fail(c->err, CUBED_E_ARG, "groupby: axis %d is given twice", axes[i]));
        seen |= 1U << axes[i];
    }
    return CUBED_OK;
}

/* Computes an order statistic of groups. A task needs all elements of a group, so the labels' axes are moved next to each
 * other, in the order of the labels. */
static cubed_status order_statistic(const cb_call *c, const int *axes, int naxes)
{
    const int which = cb_call_choice(c, REDUCTION);
    const cubed_value *q = &c->values[Q];
    const double half = 0.5, scale = which & PERCENT ? 100 : 1;
    const int n = q->kind == CUBED_VALUE_FLOATS ? q->n : 1, front = 0;
    const bool wide = cb_call_has(c, DTYPE) && *cb_call_dtype(c, DTYPE) == CUBED_FLOAT64;
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *together = NULL, *all = NULL;
    int side[CUBED_MAX_NDIM], first = axes[0];
    double *parts = cb_alloc(&c->ctx->alloc, ((size_t)n + 1) * sizeof *parts);
    if (!parts) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %d quantiles", n);
    for (int i = 0; i < n; i++)
        parts[i] = (which & MEDIAN                  ? half
                    : q->kind == CUBED_VALUE_FLOATS ? q->as.reals[i]
                                                    : cb_call_real(c, Q)) /
                   scale;
    for (int i = 1; i < naxes; i++) first = axes[i] < first ? axes[i] : first;
    for (int i = 0; i < naxes; i++) side[i] = first + i;
    o.skip_nan = cb_call_has(c, SKIPNA) ? cb_call_bool(c, SKIPNA) : (which & SKIP_NAN) != 0;
    o.task_mem = cb_call_task_mem(c);
    if (cb_call_has(c, METHOD)) o.method = (cubed_quantile_method)cb_call_choice(c, METHOD);
    const cubed_groups groups = {cb_call_array(c, LABELS), first, cb_call_int(c, NGROUPS)};
    cubed_status st = cubed_moveaxis(cb_call_array(c, X), axes, side, naxes, &together, c->err);
    if (st == CUBED_OK)
        st = cubed_group_quantiles(together, &groups, parts, n, wide, &o, &all, c->err);
    if (st == CUBED_OK && q->kind == CUBED_VALUE_FLOATS) {
        c->out[0] = all;
        all = NULL;
    } else if (st == CUBED_OK) {
        st = cubed_squeeze(all, &front, 1, c->out, c->err);
    }
    cubed_array_unref(together);
    cubed_array_unref(all);
    cb_free(&c->ctx->alloc, parts, ((size_t)n + 1) * sizeof *parts);
    return st;
}

static bool is_inexact(cubed_dtype dtype) { return cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT; }

/* Returns true if a number is not an integer, so integer types cannot have it as fill value. */
static bool is_fraction(const cubed_value *v)
{
    return v->kind == CUBED_VALUE_FLOAT &&
           !(v->as.real == floor(v->as.real) && isfinite(v->as.real));
}

/* Gets the input of a reduction whose results have the type of x. If the result must be floating-point, integers become
 * float64. */
static cubed_status take_input(const cb_call *c, cubed_group_reduction which, cubed_array **out)
{
    cubed_array *x = cb_call_array(c, X);
    const cubed_dtype *dtype = cb_call_dtype(c, DTYPE);
    const bool has_elements = which == CUBED_GROUP_SUM || which == CUBED_GROUP_PROD ||
                              which == CUBED_GROUP_MIN || which == CUBED_GROUP_MAX ||
                              which == CUBED_GROUP_FIRST || which == CUBED_GROUP_LAST;
    const bool is_whole = cubed_dtype_kind(cubed_array_dtype(x)) < CUBED_KIND_FLOAT;
    const bool becomes = dtype ? is_inexact(*dtype) : is_fraction(&c->values[FILL]);
    if (!has_elements || !is_whole || !becomes) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    return cubed_astype(x, CUBED_FLOAT64, out, c->err);
}

static cubed_status take_fill(const cb_call *c, cubed_group_reduction which, cubed_dtype dtype,
                              cubed_scalar *room, const cubed_scalar **out)
{
    char shown[64];
    *out = NULL;
    if (!cb_call_has(c, FILL)) return CUBED_OK;
    CB_TRY(cubed_group_result_dtype(which, dtype, &dtype, c->err));
    *out = room;
    if (cubed_number_scalar(&c->values[FILL], dtype, room)) return CUBED_OK;
    cubed_value_format(&c->values[FILL], shown, sizeof shown);
    return cb_call_blame(c, FILL,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "groupby: fill_value is %s, expected a value of %s", shown,
                                 cubed_dtype_name(dtype)));
}

static cubed_status plain_reduction(const cb_call *c, const int *axes, int naxes)
{
    const int which = cb_call_choice(c, REDUCTION);
    const cubed_group_reduction reduction = (cubed_group_reduction)(which & ~SKIP_NAN);
    cubed_group_options o = CUBED_GROUP_OPTIONS_INIT;
    cubed_array *x = NULL;
    cubed_scalar fill;
    CB_TRY(take_input(c, reduction, &x));
    cubed_status st = take_fill(c, reduction, cubed_array_dtype(x), &fill, &o.fill);
    o.skip_nan = cb_call_has(c, SKIPNA) ? cb_call_bool(c, SKIPNA) : (which & SKIP_NAN) != 0;
    if (cb_call_has(c, CORRECTION)) o.correction = cb_call_real(c, CORRECTION);
    if (cb_call_has(c, DDOF)) o.correction = cb_call_real(c, DDOF);
    if (cb_call_has(c, MIN_COUNT)) o.min_count = cb_call_int(c, MIN_COUNT);
    o.task_mem = cb_call_task_mem(c);
    o.fill_absent = cb_call_bool(c, FILL_ABSENT);
    if (st == CUBED_OK)
        st = cubed_groupby_reduce(x, cb_call_array(c, LABELS), axes, naxes, cb_call_int(c, NGROUPS),
                                  reduction, &o, c->out, c->err);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_groupby(const cb_call *c)
{
    int axes[CUBED_MAX_NDIM], n;
    const cubed_dtype *dtype = cb_call_dtype(c, DTYPE);
    CB_TRY(check_options(c));
    CB_TRY(take_axes(c, axes, &n));
    CB_TRY(cb_call_choice(c, REDUCTION) & ORDER ? order_statistic(c, axes, n)
                                                : plain_reduction(c, axes, n));
    cubed_array *made = c->out[0];
    if (!dtype || *dtype == cubed_array_dtype(made)) return CUBED_OK;
    c->out[0] = NULL;
    const cubed_status st = cubed_astype(made, *dtype, c->out, c->err);
    cubed_array_unref(made);
    return st;
}

/* --- Windows ------------------------------------------------------------------------------------------ */

static const cubed_choice rolled[] = {
    {"count", CUBED_GROUP_COUNT}, {"sum", CUBED_GROUP_SUM}, {"prod", CUBED_GROUP_PROD},
    {"mean", CUBED_GROUP_MEAN},   {"var", CUBED_GROUP_VAR}, {"std", CUBED_GROUP_STD},
    {"min", CUBED_GROUP_MIN},     {"max", CUBED_GROUP_MAX}, {NULL, 0}};

enum { WINDOW = 1, ROLLED, ROLLED_AXIS, CENTER, MIN_PERIODS, ROLLED_DDOF, AFTER };

static const cubed_param rolling_params[] = {
    PARAM_NAMED_ARRAY("x", "Real numbers."),
    [WINDOW] = {PARAM_IN("window", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 1, INFINITY,
                         "Number of elements in a window, along each axis.")},
    [ROLLED] = {PARAM("reduction", ACCEPTS(CHOICE), CUBED_PARAM_REQUIRED | CUBED_PARAM_RULE,
                      "The reduction of each window."),
                .choices = rolled},
    [ROLLED_AXIS] =
        PARAM_AXES("axis", NAMED, "An axis for each window length. None: the first axis."),
    [CENTER] = PARAM_BOOL(
        "center", NAMED, false,
        "Whether windows are centred on their elements. False: windows end at their elements."),
    [MIN_PERIODS] = {PARAM("min_periods", ACCEPTS(INT) | ACCEPTS(NONE), NAMED,
                           "Minimum number of elements that are not NaN; other windows become NaN. "
                           "None: the full window.")},
    [ROLLED_DDOF] = {PARAM(
                         "ddof", ACCEPTS(FLOAT), NAMED,
                         "For var and std: subtracted from the number of elements in the divisor."),
                     FLOAT_DEFAULT(0)},
    [AFTER] = {PARAM_IN(
        "after", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), NAMED, 0, INFINITY,
        "Number of elements of a window after the element to which it belongs, along each axis. "
        "None: follows from `center`.")},
};

/* Reads the windows along axes. *most receives the product of their lengths. */
static cubed_status take_windows(const cb_call *c, cubed_window windows[CUBED_MAX_NDIM], int *n,
                                 int64_t *most)
{
    int axes[CUBED_MAX_NDIM] = {0}, naxes, nafter = 0;
    const int64_t *length = cb_call_ints(c, WINDOW, n), *after = NULL;
    const bool has_axes = cb_call_axes(c, ROLLED_AXIS, axes, &naxes) != NULL;
    if (!has_axes && *n == 1) naxes = 1;
    if (cb_call_has(c, AFTER)) after = cb_call_ints(c, AFTER, &nafter);
    if (*n != naxes || *n > CUBED_MAX_NDIM)
        return cb_call_blame(c, has_axes ? ROLLED_AXIS : WINDOW,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "rolling: there are %d lengths of windows and %d axes, "
                                     "expected an axis for each length",
                                     *n, naxes));
    if (after && nafter != *n)
        return cb_call_blame(c, AFTER,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "rolling: after has %d numbers, expected one for each of %d "
                                     "lengths",
                                     nafter, *n));
    *most = 1;
    for (int i = 0; i < *n; i++) {
        const int64_t half = cb_call_bool(c, CENTER) ? (length[i] - 1) / 2 : 0;
        const int64_t behind = after ? after[i] : half;
        if (behind >= length[i])
            return cb_call_blame(c, AFTER,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "rolling: after is %lld, expected less than the length of "
                                         "the window, %lld",
                                         (long long)behind, (long long)length[i]));
        windows[i] = (cubed_window){axes[i], length[i] - 1 - behind, behind};
        if (__builtin_mul_overflow(*most, length[i], most))
            return cb_call_blame(
                c, WINDOW,
                cb_fail(c->err, CUBED_E_ARG, "rolling: windows have more than 2**63 elements"));
    }
    return CUBED_OK;
}

static cubed_status call_rolling(const cb_call *c)
{
    cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    cubed_window windows[CUBED_MAX_NDIM];
    int n;
    CB_TRY(take_windows(c, windows, &n, &o.min_count));
    if (cb_call_has(c, MIN_PERIODS)) o.min_count = cb_call_int(c, MIN_PERIODS);
    o.correction = cb_call_real(c, ROLLED_DDOF);
    return cubed_rolling_reduce(cb_call_array(c, 0), windows, n,
                                (cubed_group_reduction)cb_call_choice(c, ROLLED), &o, c->out,
                                c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

static const cb_row rows[] = {
    {{"groupby", CATEGORY, .summary = "Reduces the elements that have the same label.",
      .returns = "The axis of groups replaces the first of the labels' axes; the other axes of the "
                 "labels are removed. Several quantiles become the first axis.",
      PARAMS(groupby_params)},
     .call = call_groupby},
    {{"rolling", CATEGORY, .summary = "Reduces a window of elements for each element.",
      .returns = "The shape of `x`: floats, or int64 for counts.", PARAMS(rolling_params),
      .coords = CUBED_COORDS_WINDOWS},
     .call = call_rolling},
};

const cb_rows cb_groups_rows = ROWS(rows);
