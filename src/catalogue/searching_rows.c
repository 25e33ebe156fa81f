/* Sorting and searching: sorted elements, and positions of elements. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "searching"

/* --- Sorting ------------------------------------------------------------------------------------------- */

static const cubed_param sort_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXIS("axis", 0, -1, "Axis along which to sort; negative numbers count from the last."),
    PARAM_BOOL("descending", NAMED, false, "Whether to sort from the largest to the smallest."),
    PARAM_BOOL("stable", NAMED, true, "Whether equal elements keep their order. They always do."),
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

/* An axis, or None for the flattened array. */
#define LINE_AXIS                                                                                  \
    {                                                                                              \
        PARAM("axis", ACCEPTS(INT) | ACCEPTS(NONE), CUBED_PARAM_AXIS,                              \
              "Axis along which to compute. None: the flattened array."),                          \
            INT_DEFAULT(-1)                                                                        \
    }

static const cubed_param partition_params[] = {
    PARAM_LIKE("a", "Input array."),
    {PARAM("kth", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED,
           "Positions in the result that hold the same element as in the sorted array.")},
    LINE_AXIS,
    PARAM_TASK_MEM,
};

static cubed_status check_kth(const cb_call *c, int64_t extent)
{
    int n;
    const int64_t *kth = cb_call_ints(c, 1, &n);
    for (int i = 0; i < n; i++) {
        if (kth[i] >= -extent && kth[i] < extent) continue;
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: kth is %lld, out of range for %lld elements",
                                     c->function->name, (long long)kth[i], (long long)extent));
    }
    return CUBED_OK;
}

/* Implements partition and argpartition (c->which) by sorting all elements, which satisfies their contracts. */
static cubed_status call_partition(const cb_call *c)
{
    const int64_t all = -1;
    int axis = 0;
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    cubed_array *x = cubed_array_ref(cb_call_array(c, 0));
    cubed_status st = CUBED_OK;
    if (cb_call_has(c, 2)) {
        st = cb_call_check_axis(c, 2, cubed_array_ndim(x), cb_call_int(c, 2), &axis);
    } else {
        cubed_array_unref(x);
        x = NULL;
        st = cubed_reshape(cb_call_array(c, 0), 1, &all, &x, c->err);
    }
    o.positions = c->which;
    o.task_mem = cb_call_task_mem(c);
    if (st == CUBED_OK) st = check_kth(c, cubed_array_shape(x)[axis]);
    if (st == CUBED_OK) st = cubed_sort_with(x, axis, &o, c->out, c->err);
    cubed_array_unref(x);
    return st;
}

static const cubed_param topk_params[] = {
    PARAM_LIKE("a", "Input array."),
    PARAM_REQUIRED_INT("k", 0,
                       "Number of elements; a negative number selects the smallest elements."),
    PARAM_AXIS("axis", 0, -1, "Axis along which to compute; negative numbers count from the last."),
    PARAM_TASK_MEM,
};

static cubed_status call_topk(const cb_call *c)
{
    return cubed_topk(cb_call_array(c, 0), cb_call_int(c, 1), cb_call_axis(c, 2), c->which,
                      cb_call_task_mem(c), c->out, c->err);
}

static const cubed_param lexsort_params[] = {
    {PARAM("keys", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED,
           "Arrays of one shape. The last one is the first key to sort by.")},
    PARAM_AXIS("axis", 0, -1, "Axis along which to sort; negative numbers count from the last."),
    PARAM_TASK_MEM,
};

static cubed_status call_lexsort(const cb_call *c)
{
    const cubed_value *keys = &c->values[0];
    return cubed_lexsort(keys->as.arrays, keys->n, cb_call_axis(c, 1), cb_call_task_mem(c), c->out,
                         c->err);
}

static const cubed_param sort_complex_params[] = {PARAM_LIKE("a", "Input array."), PARAM_TASK_MEM};

static cubed_status call_sort_complex(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *terms;
    const cubed_dtype dtype = cubed_array_dtype(x);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const bool is_small =
        (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) && cubed_dtype_size(dtype) <= 2;
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    o.task_mem = cb_call_task_mem(c);
    CB_TRY(cubed_astype(x,
                        kind == CUBED_KIND_COMPLEX ? dtype
                        : is_small                 ? CUBED_COMPLEX64
                                                   : CUBED_COMPLEX128,
                        &terms, c->err));
    cubed_status st = cubed_sort_with(terms, -1, &o, c->out, c->err);
    cubed_array_unref(terms);
    return st;
}

/* --- Choices ------------------------------------------------------------------------------------------- */

static const cubed_choice choose_modes[] = {{"raise", CUBED_CHOOSE_RAISE},
                                            {"wrap", CUBED_CHOOSE_WRAP},
                                            {"clip", CUBED_CHOOSE_CLIP},
                                            {NULL, 0}};

static const cubed_param choose_params[] = {
    PARAM_LIKE("a", "Integers: the number of the array to select from."),
    {PARAM("choices", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED, "Arrays that broadcast with `a`.")},
    PARAM_CHOICE("mode", 0, CUBED_CHOOSE_RAISE, choose_modes,
                 "Treatment of numbers out of range: an error when computed (``\"raise\"``), the "
                 "remainder (``\"wrap\"``), or the nearest choice (``\"clip\"``)."),
};

static cubed_status call_choose(const cb_call *c)
{
    const cubed_value *choices = &c->values[1];
    return cubed_choose(cb_call_array(c, 0), choices->as.arrays, choices->n,
                        (cubed_choose_mode)cb_call_choice(c, 2), c->out, c->err);
}

static const cubed_param select_params[] = {
    {PARAM("condlist", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED, "Conditions: arrays of bools.")},
    {PARAM("choicelist", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED, "An array for each condition.")},
    {PARAM("default", ACCEPTS(ARRAY) | NUMBERS, 0, "Elements where no condition is true."),
     INT_DEFAULT(0)},
};

static cubed_status call_select(const cb_call *c)
{
    const cubed_value *conditions = &c->values[0], *choices = &c->values[1];
    if (conditions->n != choices->n || choices->n < 1)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "select: there are %d conditions and %d choices, expected "
                                     "equal numbers, at least 1",
                                     conditions->n, choices->n));
    cubed_array *fallback = NULL;
    CB_TRY(cb_call_operand(c, 2, cubed_array_dtype(choices->as.arrays[0]), &fallback));
    cubed_status st = cubed_select(conditions->as.arrays, choices->as.arrays, choices->n, fallback,
                                   c->out, c->err);
    cubed_array_unref(fallback);
    return st;
}

/* --- Extremes ------------------------------------------------------------------------------------------ */

static const cubed_param extreme_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXIS_OR_NONE("axis", 0, "Axis along which to compute. None: the flattened array."),
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the axis, with one element."),
};

typedef cubed_status (*extreme_fn)(cubed_array *x, const int *axis, bool keepdims,
                                   cubed_array **out, cubed_error *err);

static cubed_status extreme(const cb_call *c, extreme_fn fn)
{
    int room;
    return fn(cb_call_array(c, 0), cb_call_one_axis(c, 1, &room), cb_call_bool(c, 2), c->out,
              c->err);
}

/* Returns true if the elements may be NaN. */
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
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element."),
};

static cubed_status call_count_nonzero(const cb_call *c)
{
    int room[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = cb_call_axes(c, 1, room, &o.naxes);
    o.keepdims = cb_call_bool(c, 2);
    return cubed_count_nonzero(cb_call_array(c, 0), &o, c->out, c->err);
}

/* --- Positions in sorted arrays ------------------------------------------------------------------------ */

static const cubed_choice sides[] = {{"left", false}, {"right", true}, {NULL, 0}};

static const cubed_param searchsorted_params[] = {
    PARAM_OPERAND("x1", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,
                  "Elements in ascending order, in one dimension."),
    PARAM_OPERAND("x2", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "Elements to look for."),
    PARAM_CHOICE(
        "side", 0, false, sides,
        "Whether the position is before (``\"left\"``) or after (``\"right\"``) equal elements."),
    PARAM_OPTIONAL_ARRAY("sorter", 0, "Positions that sort `x1`. None: `x1` is sorted."),
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
                  "Elements to compare with."),
    PARAM_BOOL("assume_unique", 0, false, "Accepted for compatibility with NumPy; has no effect."),
    PARAM_BOOL("invert", NAMED, false,
               "Whether to return the opposite: true for elements that are not in `x2`."),
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
    "int64, without the axis; with `keepdims`, the axis has one element. Without an axis, "        \
    "positions are in the flattened array."

static const cb_row rows[] = {
    {{"argmax", CATEGORY,
      .summary = "The position of the largest element; the first one if several are equal.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_argmax},
    {{"argmin", CATEGORY,
      .summary = "The position of the smallest element; the first one if several are equal.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_argmin},
    {{"argpartition", CATEGORY,
      .summary = "The positions of the elements in the order in which `partition` returns them.",
      .returns = "int64, of the shape of `a`, or of one dimension.", PARAMS(partition_params),
      .coords = CUBED_COORDS_CUT},
     .call = call_partition,
     .which = true},
    {{"argsort", CATEGORY,
      .summary =
          "The positions that sort the elements along an axis. Equal elements keep their order.",
      .returns = "int64, of the shape of `x`.", PARAMS(sort_params), .coords = CUBED_COORDS_CUT},
     .call = call_sort,
     .which = true},
    {{"argtopk", CATEGORY, .summary = "The positions of the elements that `topk` returns.",
      .returns = "int64, with `k` elements along the axis, or all if there are fewer.",
      PARAMS(topk_params), .coords = CUBED_COORDS_CUT},
     .call = call_topk,
     .which = true},
    {{"choose", CATEGORY, .summary = "Selects each element from one of several arrays, by number.",
      .returns = "The type that the choices promote to, and the shape that all broadcast to.",
      PARAMS(choose_params)},
     .call = call_choose},
    {{"count_nonzero", CATEGORY, .summary = "Numbers of elements that are not 0.",
      .returns = "int64, without the axes; with `keepdims`, the axes have one element.",
      PARAMS(count_params)},
     .call = call_count_nonzero},
    {{"isin", CATEGORY, .summary = "Whether elements of `x1` are among those of `x2`.",
      .returns = "bool, in the shape of `x1`. Always false for NaN and NaT.", PARAMS(isin_params)},
     .call = call_isin},
    {{"lexsort", CATEGORY,
      .summary = "The positions that sort elements along an axis by several keys.",
      .returns = "int64, of the shape of each key.", PARAMS(lexsort_params),
      .coords = CUBED_COORDS_CUT},
     .call = call_lexsort},
    {{"nanargmax", CATEGORY, .summary = "The position of the first largest element, ignoring NaN.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_nanargmax},
    {{"nanargmin", CATEGORY, .summary = "The position of the first smallest element, ignoring NaN.",
      .returns = POSITION, PARAMS(extreme_params)},
     .call = call_nanargmin},
    {{"partition", CATEGORY,
      .summary = "Partitions the elements along an axis: the smallest before position `kth`.",
      .returns = "The type of `a`, and its shape, or one dimension.", PARAMS(partition_params),
      .attrs = CUBED_ATTRS_VIEW, .coords = CUBED_COORDS_CUT},
     .call = call_partition},
    {{"searchsorted", CATEGORY,
      .summary = "The positions at which elements of `x2` can be inserted into `x1` so that it "
                 "stays sorted.",
      .returns = "int64, of the shape of `x2`.", PARAMS(searchsorted_params)},
     .call = call_searchsorted},
    {{"select", CATEGORY,
      .summary = "Elements of the array that belongs to the first true condition, or a default.",
      .returns = "The type that the choices and the default promote to, and the shape that all "
                 "broadcast to.",
      PARAMS(select_params)},
     .call = call_select},
    {{"sort", CATEGORY, .summary = "Sorts the elements along an axis, NaN last.",
      .returns = "The shape and type of `x`.", PARAMS(sort_params), .attrs = CUBED_ATTRS_VIEW,
      .coords = CUBED_COORDS_CUT},
     .call = call_sort},
    {{"sort_complex", CATEGORY,
      .summary = "Converts the elements to complex numbers, and sorts them along the last axis.",
      .returns = "complex64 for integers of up to two bytes, else complex128, or the type of `a`.",
      PARAMS(sort_complex_params), .attrs = CUBED_ATTRS_VIEW, .coords = CUBED_COORDS_CUT},
     .call = call_sort_complex},
    {{"topk", CATEGORY, .summary = "The largest elements along an axis, the largest first.",
      .returns = "The type of `a`, with `k` elements along the axis, or all if there are fewer.",
      PARAMS(topk_params), .attrs = CUBED_ATTRS_VIEW, .coords = CUBED_COORDS_CUT},
     .call = call_topk},
};

const cb_rows cb_searching_rows = ROWS(rows);
