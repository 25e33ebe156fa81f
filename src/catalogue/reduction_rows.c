/* Reductions. Each row of cubed/reductions.def gives a function, and a function that skips NaN. */
#include "array_api/chosen_reductions.h"
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "reduction"

#define COMMON                                                                                     \
    PARAM_ARRAY("x", "Input array."), PARAM_AXES("axis", 0, "Axes that are reduced. None: all."),  \
        PARAM_BOOL("keepdims", NAMED, false,                                                       \
                   "Whether to keep the reduced axes, with one element.")
#define DIVISOR(NAME, NOTES)                                                                       \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(FLOAT) | ACCEPTS(NONE), NAMED, NOTES)                                  \
    }

#define TYPE PARAM_DTYPE("dtype", NAMED, "Type of the result, and of the computation.")
#define INITIAL                                                                                    \
    {                                                                                              \
        PARAM("initial", ACCEPTS(ARRAY) | NUMBERS | ACCEPTS(NONE), NAMED,                          \
              "A value that is reduced together with the elements. None: no value.")               \
    }
#define WHERE                                                                                      \
    PARAM_OPTIONAL_ARRAY("where", NAMED, "Bools: true for the elements to include. None: all.")

#define WEIGHTS                                                                                    \
    PARAM_WEIGHTS("weights", NAMED,                                                                \
                  "Weight of each element, or of each position along the reduced axes in the "     \
                  "order of `axis`. None: 1.")

static const cubed_param total_params[] = {COMMON, TYPE, INITIAL, WHERE};
static const cubed_param extreme_params[] = {COMMON, INITIAL, WHERE};
static const cubed_param mean_params[] = {COMMON, TYPE, WHERE, WEIGHTS};
static const cubed_param truth_params[] = {COMMON, WHERE};
static const cubed_param spread_params[] = {
    COMMON,
    DIVISOR("correction", "Subtracted from the number of elements in the divisor. None: 0."),
    DIVISOR("ddof", "NumPy's name of `correction`."),
    WHERE,
    TYPE,
    WEIGHTS,
};

/* Indices of parameters in the function's list; 0 if the function does not have the parameter. */
typedef struct places {
    const cubed_param *params;
    int correction, ddof, type, initial, where, weights;
} places;
static const places all_places[] = {{total_params, .type = 3, .initial = 4, .where = 5},
                                    {extreme_params, .initial = 3, .where = 4},
                                    {mean_params, .type = 3, .where = 4, .weights = 5},
                                    {truth_params, .where = 3},
                                    {spread_params, 3, 4, .where = 5, .type = 6, .weights = 7}};

static const places *get_places(const cubed_function *f)
{
    const places *p = all_places;
    while (p->params != f->params) p++;
    return p;
}

static bool has(const cb_call *c, int i) { return i > 0 && cb_call_has(c, i); }

static cubed_status take_options(const cb_call *c, const places *at, int room[CUBED_MAX_NDIM],
                                 cubed_reduce_options *o)
{
    *o = (cubed_reduce_options)CUBED_REDUCE_OPTIONS_INIT;
    o->axes = cb_call_axes(c, 1, room, &o->naxes);
    o->keepdims = cb_call_bool(c, 2);
    if (has(c, at->correction) && has(c, at->ddof))
        return cb_call_blame(
            c, at->ddof,
            cb_fail(c->err, CUBED_E_TYPE,
                    "%s: ddof and correction are the same parameter, expected one of the two",
                    c->function->name));
    if (has(c, at->correction)) o->correction = cb_call_real(c, at->correction);
    if (has(c, at->ddof)) o->correction = cb_call_real(c, at->ddof);
    return CUBED_OK;
}

/* Returns true if the engine's own reduction suffices: it supports the elements, and the call has no dtype, initial value or
 * mask. */
static bool is_plain(const cb_call *c, const places *at)
{
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(cb_call_array(c, 0)));
    const bool needs_more = at->params == truth_params ? kind >= CUBED_KIND_COMPLEX
                            : at->correction           ? kind == CUBED_KIND_COMPLEX
                                                       : false;
    return !needs_more && !has(c, at->type) && !has(c, at->initial) && !has(c, at->where);
}

/* Returns the type of the result: dtype if given, x's type for extremes, else the 64-bit type of integer sums and products. */
static cubed_dtype type_with_initial(const cb_call *c, const places *at)
{
    const cubed_dtype own = cubed_array_dtype(cb_call_array(c, 0));
    if (has(c, at->type)) return *cb_call_dtype(c, at->type);
    if (at->params == extreme_params) return own;
    return cubed_dtype_kind(own) == CUBED_KIND_UINT ? CUBED_UINT64 : CUBED_INT64;
}

/* Gets the initial value. A number has its default type. Fails if the result's integer type cannot represent an integer. */
static cubed_status get_initial(const cb_call *c, const places *at, cubed_array **out)
{
    const int i = at->initial;
    if (!has(c, i)) return CUBED_OK;
    const cubed_value *v = &c->values[i];
    const cubed_dtype dtype = type_with_initial(c, at);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cubed_scalar scalar;
    char shown[64];
    if (v->kind == CUBED_VALUE_INT && (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) &&
        !cubed_number_scalar(v, dtype, &scalar)) {
        cubed_value_format(v, shown, sizeof shown);
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: initial is %s, which type %s cannot represent",
                                     c->function->name, shown, cubed_dtype_name(dtype)));
    }
    return cb_call_number(c, i, cubed_number_dtype(v, CUBED_BOOL, false), out);
}

/* Computes the weighted reduction of x in the type that the call requests. */
static cubed_status reduce_weighted(const cb_call *c, const places *at,
                                    const cubed_reduce_options *reduce, bool skip_nan)
{
    const cubed_dtype *dtype = has(c, at->type) ? cb_call_dtype(c, at->type) : NULL;
    cubed_weighted_options o = CUBED_WEIGHTED_OPTIONS_INIT;
    cubed_array *x = cubed_array_ref(cb_call_array(c, 0)), *cast = NULL, *made = NULL;
    o.axes = reduce->axes;
    o.naxes = reduce->naxes;
    o.keepdims = reduce->keepdims;
    o.correction = reduce->correction;
    o.skip_nan = skip_nan;
    o.where = has(c, at->where) ? cb_call_array(c, at->where) : NULL;
    cubed_status st = CUBED_OK;
    if (dtype && cubed_dtype_kind(*dtype) != CUBED_KIND_FLOAT &&
        cubed_dtype_kind(*dtype) != CUBED_KIND_COMPLEX)
        st = cb_call_blame(c, at->type,
                           cb_fail(c->err, CUBED_E_TYPE,
                                   "%s: dtype is %s, expected a floating-point or complex type, "
                                   "because there are weights",
                                   c->function->name, cubed_dtype_name(*dtype)));
    if (dtype && st == CUBED_OK) {
        st = cubed_astype(x, *dtype, &cast, c->err);
        cubed_array_unref(x);
        x = cast;
    }
    if (st == CUBED_OK)
        st = cubed_weighted_reduce((cubed_reduction)c->which, x, cb_call_array(c, at->weights), &o,
                                   dtype ? &made : c->out, c->err);
    if (dtype && st == CUBED_OK) st = cubed_astype(made, *dtype, c->out, c->err);
    cubed_array_unref(made);
    cubed_array_unref(x);
    return st;
}

static cubed_status reduce(const cb_call *c, bool skip_nan)
{
    const places *at = get_places(c->function);
    int room[CUBED_MAX_NDIM];
    cubed_array *x = cb_call_array(c, 0), *initial = NULL;
    cb_chosen_options o = {
        .name = c->function->name, .reduction = (cubed_reduction)c->which, .skip_nan = skip_nan};
    CB_TRY(take_options(c, at, room, &o.reduce));
    if (has(c, at->weights)) return reduce_weighted(c, at, &o.reduce, skip_nan);
    if (is_plain(c, at))
        return (skip_nan ? cubed_nan_reduce : cubed_reduce)(o.reduction, x, &o.reduce, c->out,
                                                            c->err);
    if (has(c, at->type)) o.dtype = cb_call_dtype(c, at->type);
    if (has(c, at->where)) o.where = cb_call_array(c, at->where);
    CB_TRY(get_initial(c, at, &initial));
    o.initial = initial;
    const cubed_status st = cb_reduce_chosen(x, &o, c->out, c->err);
    cubed_array_unref(initial);
    return st;
}

static cubed_status call_reduce(const cb_call *c) { return reduce(c, false); }
static cubed_status call_nan_reduce(const cb_call *c) { return reduce(c, true); }

/* --- Rows --------------------------------------------------------------------------------------------- */

#define SUM_TYPE                                                                                   \
    "The shape of `x` without the reduced axes: int64 or uint64 for integers and bools, else the " \
    "type of `x`."
#define FLOAT_TYPE                                                                                 \
    "The shape of `x` without the reduced axes: float64 for integers and bools, else the type of " \
    "`x`."
#define SAME_TYPE "The shape of `x` without the reduced axes; the type of `x`."
#define BOOL_TYPE "bool, without the axes."

#define ROW(NAME, TEXT, SUMMARY, RETURNS, LIST, CALL, ...)                                         \
    {                                                                                              \
        {TEXT, CATEGORY, .summary = SUMMARY, .returns = RETURNS, PARAMS(LIST), __VA_ARGS__},       \
            .call = CALL, .which = CUBED_REDUCE_##NAME                                             \
    }
/* Rows of a reduction, and of its variant that skips NaN. */
#define BOTH(NAME, TEXT, SUMMARY, RETURNS, LIST, ...)                                              \
    ROW(NAME, TEXT, SUMMARY ".", RETURNS, LIST, call_reduce, __VA_ARGS__),                         \
        ROW(NAME, "nan" TEXT, SUMMARY " that are not NaN.", RETURNS, LIST, call_nan_reduce,        \
            __VA_ARGS__)

static const cb_row rows[] = {
    BOTH(SUM, "sum", "Sums of the elements", SUM_TYPE, total_params, .attrs = CUBED_ATTRS_REDUCE,
         .cell_method = "sum"),
    BOTH(PROD, "prod", "Products of the elements", SUM_TYPE, total_params,
         .attrs = CUBED_ATTRS_NONE),
    BOTH(MIN, "min", "The smallest of the elements", SAME_TYPE, extreme_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "minimum"),
    BOTH(MAX, "max", "The largest of the elements", SAME_TYPE, extreme_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "maximum"),
    BOTH(MEAN, "mean", "Means of the elements", FLOAT_TYPE, mean_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "mean"),
    BOTH(VAR, "var", "Variances of the elements", FLOAT_TYPE, spread_params,
         .attrs = CUBED_ATTRS_SQUARE, .cell_method = "variance"),
    BOTH(STD, "std", "Standard deviations of the elements", FLOAT_TYPE, spread_params,
         .attrs = CUBED_ATTRS_REDUCE, .cell_method = "standard_deviation"),
    ROW(ALL, "all", "Whether all elements are true, or not 0.", BOOL_TYPE, truth_params,
        call_reduce, .attrs = CUBED_ATTRS_NONE),
    ROW(ANY, "any", "Whether an element is true, or not 0.", BOOL_TYPE, truth_params, call_reduce,
        .attrs = CUBED_ATTRS_NONE),
};

/* A new row in reductions.def requires rows here. */
_Static_assert(CUBED_REDUCE_COUNT == 9 && sizeof rows / sizeof *rows == 2 * 7 + 2,
               "rows and cubed/reductions.def differ");

const cb_rows cb_reduction_rows = ROWS(rows);
