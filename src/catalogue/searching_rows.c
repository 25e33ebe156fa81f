/* Order and search: sorted elements, and positions of elements. */
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "searching"

/* --- Sorting ------------------------------------------------------------------------------------------- */

static const cubed_param sort_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXIS("axis", 0, -1, "Axis that is sorted along; negative ones count from the last."),
    PARAM_BOOL("descending", NAMED, false, "Whether to sort from the largest to the smallest."),
    PARAM_BOOL("stable", NAMED, true,
               "Whether equal elements stay in order; they do in both cases."),
    PARAM_TASK_MEM,
};

static cubed_status call_sort(const cb_call *c)
{
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    o.descending = cb_call_bool(c, 2);
    o.positions = c->which;
    o.task_mem = cb_call_task_mem(c);
    return cubed_sort_with(cb_call_array(c, 0), cb_call_axis(c, 1), &o, c->out, c->err);
}

/* --- Extremes ------------------------------------------------------------------------------------------ */

static const cubed_param extreme_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXIS_OR_NONE("axis", 0,
                       "Axis along which to compute; None: the elements in one dimension."),
    PARAM_BOOL("keepdims", NAMED, false, "Keep the axis, with one element."),
};

typedef cubed_status (*extreme_fn)(cubed_array *x, const int *axis, bool keepdims,
                                   cubed_array **out, cubed_error *err);

static cubed_status extreme(const cb_call *c, extreme_fn fn)
{
    int room;
    return fn(cb_call_array(c, 0), cb_call_one_axis(c, 1, &room), cb_call_bool(c, 2), c->out,
              c->err);
}

/* Whether elements may be NaN. */
static bool has_nan(const cb_call *c)
{
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(cb_call_array(c, 0)));
    return kind == CUBED_KIND_FLOAT || kind == CUBED_KIND_COMPLEX;
}

static cubed_status call_argmin(const cb_call *c) { return extreme(c, cubed_argmin); }
static cubed_status call_argmax(const cb_call *c) { return extreme(c, cubed_argmax); }
static cubed_status call_nanargmin(const cb_call *c)
{
    return extreme(c, has_nan(c) ? cubed_nanargmin : cubed_argmin);
}
static cubed_status call_nanargmax(const cb_call *c)
{
    return extreme(c, has_nan(c) ? cubed_nanargmax : cubed_argmax);
}

static const cubed_param count_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXES("axis", 0, "Axes along which to count. None: all."),
    PARAM_BOOL("keepdims", NAMED, false, "Keep the axes, with one element."),
};

static cubed_status call_count_nonzero(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, 1, room, &o.naxes);
    o.keepdims = cb_call_bool(c, 2);
    return cubed_count_nonzero(cb_call_array(c, 0), &o, c->out, c->err);
}

/* --- Places in order ----------------------------------------------------------------------------------- */

static const cubed_choice sides[] = {{"left", false}, {"right", true}, {NULL, 0}};

static const cubed_param searchsorted_params[] = {
    PARAM_OPERAND("x1", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,
                  "Elements in ascending order, in one dimension."),
    PARAM_OPERAND("x2", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "Elements to look for."),
    PARAM_CHOICE("side", 0, false, sides, "The position among equal elements."),
    PARAM_OPTIONAL_ARRAY("sorter", 0, "Positions that sort `x1`. None: `x1` is in order."),
};

static cubed_status call_searchsorted(const cb_call *c)
{
    cubed_array *in[2] = {NULL, NULL};
    cubed_status st = cb_call_operands(c, 0, 1, true, in);
    if (st == CUBED_OK)
        st = cubed_searchsorted(in[0], in[1], cb_call_choice(c, 2), cb_call_array(c, 3), c->out,
                                c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

static const cubed_param isin_params[] = {
    PARAM_OPERAND("x1", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "Elements to look for."),
    PARAM_OPERAND("x2", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,
                  "Elements among which to look."),
    PARAM_BOOL("assume_unique", 0, false, "NumPy's; without effect."),
    PARAM_BOOL("invert", NAMED, false, "Whether elements that are not in `x2` are true."),
};

static cubed_status call_isin(const cb_call *c)
{
    cubed_array *in[2] = {NULL, NULL};
    cubed_status st = cb_call_operands(c, 0, 1, true, in);
    if (st == CUBED_OK) st = cubed_isin(in[0], in[1], cb_call_bool(c, 3), c->out, c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define POSITION                                                                                   \
    "int64, without the axis (`keepdims`: with one element along it). For None positions count "   \
    "in C order."

static const cb_row rows[] = {
    {{"argmax", CATEGORY, .summary = "The position of the largest element, the first of several.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_argmax},
    {{"argmin", CATEGORY, .summary = "The position of the smallest element, the first of several.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_argmin},
    {{"argsort", CATEGORY,
      .summary = "The positions that put the elements along an axis in order; equal ones keep "
                 "theirs.",
      .returns = "int64, of the shape of `x`.", PARAMS(sort_params), .coords = CUBED_COORDS_CUT},
     .call = call_sort,
     .which = true},
    {{"count_nonzero", CATEGORY, .summary = "Numbers of elements that are not 0.",
      .returns = "int64, without the axes (`keepdims`: with one element along them).",
      PARAMS(count_params)},
     .call = call_count_nonzero},
    {{"isin", CATEGORY, .summary = "Whether elements of `x1` are among those of `x2`.",
      .returns = "bool, of the shape of `x1`. NaN and NaT are among none.", PARAMS(isin_params)},
     .call = call_isin},
    {{"nanargmax", CATEGORY,
      .summary = "The position of the largest element that is not NaN, the first of several.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_nanargmax},
    {{"nanargmin", CATEGORY,
      .summary = "The position of the smallest element that is not NaN, the first of several.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_nanargmin},
    {{"searchsorted", CATEGORY,
      .summary =
          "The positions at which elements of `x2` would be put into `x1` so that it stays sorted.",
      .returns = "int64, of the shape of `x2`.", PARAMS(searchsorted_params)},
     .call = call_searchsorted},
    {{"sort", CATEGORY, .summary = "The elements in order along an axis, NaN last.",
      .returns = "The shape and type of `x`.", PARAMS(sort_params), .attrs = CUBED_ATTRS_VIEW,
      .coords = CUBED_COORDS_CUT},
     .call = call_sort},
};

const cb_rows cb_searching_rows = ROWS(rows);
