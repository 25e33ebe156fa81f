/* Reductions: the rows of cubed/reductions.def, each also of the elements that are not NaN. */
#include "base/error.h"
#include "cubed/stats.h"
#include "rows.h"

#define CATEGORY .category = "reduction"

#define COMMON                                                                                     \
    PARAM_ARRAY("x", "Input array."), PARAM_AXES("axis", 0, "Axes that are reduced. None: all."),  \
        PARAM_BOOL("keepdims", NAMED, false, "Keep the axes, with one element.")
#define DIVISOR(NAME, NOTES)                                                                       \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(FLOAT) | ACCEPTS(NONE), NAMED, NOTES)                                  \
    }

static const cubed_param plain_params[] = {COMMON};
static const cubed_param spread_params[] = {
    COMMON,
    DIVISOR("correction", "Subtracted from the number of elements in the divisor. None: 0."),
    DIVISOR("ddof", "NumPy's name of `correction`."),
    PARAM_OPTIONAL_ARRAY("where", NAMED, "Bools: true for the elements that count. None: all."),
};

static cubed_status take_options(const cb_call *c, int room[CUBED_MAX_NDIM],
                                 cubed_reduce_options *o)
{
    *o = (cubed_reduce_options)CUBED_REDUCE_OPTIONS_INIT;
    o->axes = cb_call_axes(c, 1, room, &o->naxes);
    o->keepdims = cb_call_bool(c, 2);
    if (c->function->params != spread_params) return CUBED_OK;
    if (cb_call_has(c, 3) && cb_call_has(c, 4))
        return cb_call_blame(
            c, 4,
            cb_fail(c->err, CUBED_E_TYPE,
                    "%s: ddof and correction are the same parameter, expected one of the two",
                    c->function->name));
    if (cb_call_has(c, 3)) o->correction = cb_call_real(c, 3);
    if (cb_call_has(c, 4)) o->correction = cb_call_real(c, 4);
    return CUBED_OK;
}

/* Whether the variance is one of chosen elements, or of complex numbers. */
static bool is_chosen(const cb_call *c)
{
    const cubed_dtype dtype = cubed_array_dtype(cb_call_array(c, 0));
    return c->function->params == spread_params &&
           (cb_call_has(c, 5) || cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX);
}

static cubed_status call_variance(const cb_call *c, bool skip_nan, const cubed_reduce_options *o)
{
    cubed_variance_options options = CUBED_VARIANCE_OPTIONS_INIT;
    options.axes = o->axes;
    options.naxes = o->naxes;
    options.keepdims = o->keepdims;
    options.correction = o->correction;
    options.root = c->which == CUBED_REDUCE_STD;
    options.skip_nan = skip_nan;
    return cubed_variance(cb_call_array(c, 0), cb_call_array(c, 5), &options, c->out, c->err);
}

static cubed_status call_reduce(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_reduce_options o;
    CB_TRY(take_options(c, room, &o));
    if (is_chosen(c)) return call_variance(c, false, &o);
    return cubed_reduce((cubed_reduction)c->which, cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_nan_reduce(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_reduce_options o;
    CB_TRY(take_options(c, room, &o));
    if (is_chosen(c)) return call_variance(c, true, &o);
    return cubed_nan_reduce((cubed_reduction)c->which, cb_call_array(c, 0), &o, c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define SUM_TYPE   "Without the axes: int64 or uint64 for integers and bools, else the type of `x`."
#define FLOAT_TYPE "Without the axes: float64 for integers and bools, else the type of `x`."
#define SAME_TYPE  "Without the axes, of the type of `x`."
#define BOOL_TYPE  "bool, without the axes."

#define ROW(NAME, TEXT, SUMMARY, RETURNS, LIST, CALL, ...)                                         \
    {                                                                                              \
        {TEXT, CATEGORY, .summary = SUMMARY, .returns = RETURNS, PARAMS(LIST), __VA_ARGS__},       \
            .call = CALL, .which = CUBED_REDUCE_##NAME                                             \
    }
/* The reduction, and that of the elements that are not NaN. */
#define BOTH(NAME, TEXT, SUMMARY, RETURNS, LIST, ...)                                              \
    ROW(NAME, TEXT, SUMMARY ".", RETURNS, LIST, call_reduce, __VA_ARGS__),                         \
        ROW(NAME, "nan" TEXT, SUMMARY " that are not NaN.", RETURNS, LIST, call_nan_reduce,        \
            __VA_ARGS__)

static const cb_row rows[] = {
    BOTH(SUM, "sum", "Sums of the elements", SUM_TYPE, plain_params, .attrs = CUBED_ATTRS_REDUCE,
         .cell_method = "sum"),
    BOTH(PROD, "prod", "Products of the elements", SUM_TYPE, plain_params,
         .attrs = CUBED_ATTRS_NONE),
    BOTH(MIN, "min", "The smallest of the elements", SAME_TYPE, plain_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "minimum"),
    BOTH(MAX, "max", "The largest of the elements", SAME_TYPE, plain_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "maximum"),
    BOTH(MEAN, "mean", "Means of the elements", FLOAT_TYPE, plain_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "mean"),
    BOTH(VAR, "var", "Variances of the elements", FLOAT_TYPE, spread_params,
         .attrs = CUBED_ATTRS_SQUARE, .cell_method = "variance"),
    BOTH(STD, "std", "Standard deviations of the elements", FLOAT_TYPE, spread_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "standard_deviation"),
    ROW(ALL, "all", "Whether all elements are true, or not 0.", BOOL_TYPE, plain_params,
        call_reduce, .attrs = CUBED_ATTRS_NONE),
    ROW(ANY, "any", "Whether an element is true, or not 0.", BOOL_TYPE, plain_params, call_reduce,
        .attrs = CUBED_ATTRS_NONE),
};

/* Each reduction has its row: a new one in reductions.def needs one here. */
_Static_assert(CUBED_REDUCE_COUNT == 9 && sizeof rows / sizeof *rows == 2 * 7 + 2,
               "rows and cubed/reductions.def differ");

const cb_rows cb_reduction_rows = ROWS(rows);
