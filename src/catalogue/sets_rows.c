/* Set functions, and functions that select elements by value. The number of selected elements is computed first. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "sets"

/* Returns the number of elements of an array. */
static int64_t size_of(const cubed_array *x)
{
    int64_t n = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) n *= cubed_array_shape(x)[d];
    return n;
}

static cubed_status flatten(const cb_call *c, cubed_array *x, cubed_array **out)
{
    const int64_t all = size_of(x);
    return cubed_reshape(x, 1, &all, out, c->err);
}

/* --- Distinct elements --------------------------------------------------------------------------------- */

enum { INDICES = 1, INVERSE = 2, COUNTS = 4 };

static const cubed_param unique_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_BOOL("equal_nan", NAMED, false, "Whether all NaN count as one element, as in NumPy."),
    COUNTED_PARAMS,
};

static cubed_unique_options unique_options(const cb_call *c)
{
    cubed_unique_options o = CUBED_UNIQUE_OPTIONS_INIT;
    o.equal_nan = cb_call_bool(c, 1);
    o.task_mem = cb_call_task_mem(c);
    return o;
}

static cubed_status count_unique(const cb_call *c, int64_t *most)
{
    const cubed_unique_options o = unique_options(c);
    *most = size_of(cb_call_array(c, 0));
    return cubed_unique_offsets(cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_unique(const cb_call *c)
{
    const cubed_unique_options o = unique_options(c);
    cb_counted known;
    int n = 0;
    cubed_unique_outputs outs = {.values = &c->out[n++]};
    if (c->which & INDICES) outs.indices = &c->out[n++];
    if (c->which & INVERSE) outs.inverse = &c->out[n++];
    if (c->which & COUNTS) outs.counts = &c->out[n++];
    CB_TRY(cb_call_counted(c, &known));
    return cubed_unique(cb_call_array(c, 0), known.offsets, known.count, &o, &outs, c->err);
}

/* --- Two sets ------------------------------------------------------------------------------------------ */

#define TWO_SETS PARAM_LIKE("ar1", "The first set."), PARAM_LIKE("ar2", "The second set.")
#define ASSUME_UNIQUE                                                                              \
    PARAM_BOOL("assume_unique", 0, false, "Whether the elements of each set are distinct.")

#define UNNAMED_LIKE(NAME, NOTES)                                                                  \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY),                                                                \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE, NOTES)          \
    }

static const cubed_param union_params[] = {UNNAMED_LIKE("x1", "The first set."),
                                           UNNAMED_LIKE("x2", "The second set."), COUNTED_PARAMS};
static const cubed_param set_params[] = {TWO_SETS, ASSUME_UNIQUE, COUNTED_PARAMS};
static const cubed_param in1d_params[] = {
    TWO_SETS, ASSUME_UNIQUE,
    PARAM_BOOL("invert", 0, false,
               "Whether to return the opposite: true for elements that are not in `ar2`.")};

static cubed_set_options set_options(const cb_call *c)
{
    cubed_set_options o = CUBED_SET_OPTIONS_INIT;
    o.assume_unique = c->which != CUBED_SET_UNION && cb_call_bool(c, 2);
    o.task_mem = cb_call_task_mem(c);
    return o;
}

static cubed_status count_set(const cb_call *c, int64_t *most)
{
    const cubed_set_options o = set_options(c);
    cubed_array *x1 = cb_call_array(c, 0), *x2 = cb_call_array(c, 1);
    const int64_t n1 = size_of(x1), n2 = size_of(x2);
    *most = c->which == CUBED_SET_DIFFERENCE     ? n1
            : c->which == CUBED_SET_INTERSECTION ? (n1 < n2 ? n1 : n2)
                                                 : n1 + n2;
    return cubed_set_offsets((cubed_set_operation)c->which, x1, x2, &o, c->out, c->err);
}

static cubed_status call_set(const cb_call *c)
{
    const cubed_set_options o = set_options(c);
    const bool has_positions = c->which == CUBED_SET_INTERSECTION;
    const cubed_set_outputs outs = {.values = &c->out[0],
                                    .indices1 = has_positions ? &c->out[1] : NULL,
                                    .indices2 = has_positions ? &c->out[2] : NULL};
    cb_counted known;
    CB_TRY(cb_call_counted(c, &known));
    return cubed_set((cubed_set_operation)c->which, cb_call_array(c, 0), cb_call_array(c, 1),
                     known.offsets, known.count, &o, &outs, c->err);
}

static cubed_status call_in1d(const cb_call *c)
{
    cubed_array *line;
    CB_TRY(flatten(c, cb_call_array(c, 0), &line));
    cubed_status st = cubed_isin(line, cb_call_array(c, 1), cb_call_bool(c, 3), c->out, c->err);
    cubed_array_unref(line);
    return st;
}

/* --- Elements that are not 0 --------------------------------------------------------------------------- */

static const cubed_param positions_params[] = {UNNAMED_LIKE("x", "Input array."), COUNTED_PARAMS};

/* Forms of the result: one array of positions per axis, or positions in the flattened array. */
enum { IN_ROWS, IN_ONE_LINE };

static cubed_status as_counted(const cb_call *c, cubed_array **out)
{
    cubed_array *x = cb_call_array(c, 0);
    if (c->which == IN_ONE_LINE) return flatten(c, x, out);
    *out = cubed_array_ref(x);
    return CUBED_OK;
}

static cubed_status count_positions(const cb_call *c, int64_t *most)
{
    cubed_array *x;
    CB_TRY(as_counted(c, &x));
    *most = size_of(x);
    cubed_status st = cubed_nonzero_offsets(x, c->out, c->err);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_positions(const cb_call *c)
{
    cubed_array *x, *coordinates[CUBED_MAX_NDIM] = {NULL};
    cb_counted known;
    CB_TRY(cb_call_counted(c, &known));
    CB_TRY(as_counted(c, &x));
    const int ndim = cubed_array_ndim(x);
    cubed_status st = cubed_nonzero(x, known.offsets, known.count, coordinates, c->err);
    const bool made = st == CUBED_OK;
    if (made && c->which == IN_ONE_LINE)
        *c->out = cubed_array_ref(coordinates[0]);
    else if (made)
        st = cubed_stack(coordinates, ndim, 1, c->out, c->err);
    for (int d = 0; d < ndim && made; d++) cubed_array_unref(coordinates[d]);
    cubed_array_unref(x);
    return st;
}

static const cubed_param nonzero_params[] = {PARAM_ARRAY("x", "Input array."), COUNTED_PARAMS};

static cubed_status call_nonzero(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), **coordinates;
    cb_counted known;
    CB_TRY(cb_call_counted(c, &known));
    CB_TRY(cb_call_results(c, cubed_array_ndim(x), &coordinates));
    return cubed_nonzero(x, known.offsets, known.count, coordinates, c->err);
}

/* --- Selection by masks -------------------------------------------------------------------------------- */

/* Flattened elements, and the mask that selects some of them. */
typedef struct masked {
    cubed_array *x, *mask;
} masked;

static void drop(masked *m)
{
    cubed_array_unref(m->x);
    cubed_array_unref(m->mask);
}

static cubed_status count_masked(const cb_call *c, const masked *m)
{
    return cubed_mask_offsets(m->mask, cubed_array_chunks(m->x)[0], c->out, c->err);
}

static cubed_status pick_masked(const cb_call *c, const masked *m, const cb_counted *known)
{
    const cubed_slice none = {0, 0, 1, false};
    if (known->count == 0 && known->offsets) return cubed_slice_array(m->x, &none, c->out, c->err);
    return cubed_compress(m->x, m->mask, known->offsets, known->count, c->out, c->err);
}

static const cubed_param compress_params[] = {
    PARAM_ARRAY("x", "Input array, of one dimension."),
    PARAM_ARRAY("mask", "Bools: true for the elements to select."),
    {PARAM_IN("count", ACCEPTS(INT), 0, -1, INFINITY,
              "Number of true elements; -1: compute it first."),
     INT_DEFAULT(-1)},
    PARAM_OFFSETS,
    PARAM_TASK_MEM,
};

static cubed_status count_compress(const cb_call *c, int64_t *most)
{
    const masked m = {cb_call_array(c, 0), cb_call_array(c, 1)};
    if (cubed_array_ndim(m.x) != 1)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "compress: x has %d dimensions, expected one: reshape(x, -1)",
                                     cubed_array_ndim(m.x)));
    *most = size_of(m.x);
    return count_masked(c, &m);
}

static cubed_status call_compress(const cb_call *c)
{
    const masked m = {cb_call_array(c, 0), cb_call_array(c, 1)};
    cb_counted known;
    CB_TRY(cb_call_counted(c, &known));
    return pick_masked(c, &m, &known);
}

static const cubed_param extract_params[] = {
    PARAM_LIKE("condition", "An array, whose nonzero elements select elements of `x`."),
    PARAM_LIKE("x", "Input array."),
    COUNTED_PARAMS,
};

/* Flattens x and the condition. If x is longer, truncates it to the length of the condition. The caller releases *m, even
 * after an error. */
static cubed_status line_up(const cb_call *c, masked *m)
{
    cubed_array *line, *part;
    CB_TRY(flatten(c, cb_call_array(c, 0), &line));
    cubed_status st = cubed_astype(line, CUBED_BOOL, &m->mask, c->err);
    cubed_array_unref(line);
    if (st == CUBED_OK) st = flatten(c, cb_call_array(c, 1), &m->x);
    if (st != CUBED_OK || size_of(m->mask) >= size_of(m->x)) return st;
    const cubed_slice front = {0, size_of(m->mask), 1, false};
    CB_TRY(cubed_slice_array(m->x, &front, &part, c->err));
    cubed_array_unref(m->x);
    m->x = part;
    return CUBED_OK;
}

static cubed_status count_extract(const cb_call *c, int64_t *most)
{
    masked m = {NULL, NULL};
    cubed_status st = line_up(c, &m);
    if (st == CUBED_OK) {
        *most = size_of(m.mask);
        st = *most > size_of(m.x) ? cubed_nonzero_offsets(m.mask, c->out, c->err)
                                  : count_masked(c, &m);
    }
    drop(&m);
    return st;
}

static cubed_status call_extract(const cb_call *c)
{
    masked m = {NULL, NULL};
    cb_counted known;
    CB_TRY(cb_call_counted(c, &known));
    cubed_status st = line_up(c, &m);
    if (st == CUBED_OK && size_of(m.mask) > size_of(m.x)) {
        /* If the condition is true after the end of x, the run fails. */
        cubed_array *at;
        st = cubed_nonzero(m.mask, known.offsets, known.count, &at, c->err);
        if (st == CUBED_OK) {
            st = cubed_take(m.x, at, 0, c->out, c->err);
            cubed_array_unref(at);
        }
    } else if (st == CUBED_OK) {
        st = pick_masked(c, &m, &known);
    }
    drop(&m);
    return st;
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define COUNTED        .counts = true, .coords = CUBED_COORDS_CUT
#define ONE_DIMENSION  "One dimension, of the type of `x`."
#define BOTH_DIMENSION "One dimension, of the type that both promote to."
#define SET_ROW(NAME, OPERATION, LIST, SUMMARY, RETURNS, ...)                                      \
    {                                                                                              \
        {NAME,         CATEGORY, .summary = (SUMMARY), .returns = (RETURNS),                       \
         PARAMS(LIST), COUNTED,  __VA_ARGS__},                                                     \
            .call = call_set, .which = (OPERATION), .count = count_set                             \
    }

static const cb_row rows[] = {
    {{"argwhere", CATEGORY, .summary = "Positions of elements that are not zero, one per row.",
      .returns = "int64: each row has a position for each axis.", PARAMS(positions_params),
      COUNTED},
     .call = call_positions,
     .which = IN_ROWS,
     .count = count_positions},
    {{"compress", CATEGORY, .summary = "Elements of a vector where a mask is true.",
      .returns = ONE_DIMENSION, PARAMS(compress_params), COUNTED, .attrs = CUBED_ATTRS_VIEW},
     .call = call_compress,
     .count = count_compress},
    {{"extract", CATEGORY,
      .summary = "Elements of a flattened array where the flattened condition is true.",
      .returns = ONE_DIMENSION, PARAMS(extract_params), COUNTED, .attrs = CUBED_ATTRS_VIEW,
      .first_operand = 1},
     .call = call_extract,
     .count = count_extract},
    {{"flatnonzero", CATEGORY,
      .summary = "Positions in the flattened array of elements that are not zero.",
      .returns = "int64, of one dimension.", PARAMS(positions_params), COUNTED},
     .call = call_positions,
     .which = IN_ONE_LINE,
     .count = count_positions},
    {{"in1d", CATEGORY,
      .summary = "Whether each element of a flattened array is among those of another array.",
      .returns = "bool, one dimension. Always false for NaN and NaT.", PARAMS(in1d_params),
      .coords = CUBED_COORDS_CUT},
     .call = call_in1d},
    SET_ROW("intersect1d", CUBED_SET_INTERSECTION, set_params,
            "Distinct elements that are in both arrays, in ascending order.",
            BOTH_DIMENSION " Positions are int64, in the flattened arrays; the first one of "
                           "equal elements.",
            .results = {"values", "indices1", "indices2"}, .nextra = 2),
    {{"nonzero", CATEGORY, .summary = "Positions of the elements that are not 0, in C order.",
      .returns = "For each axis an int64 array of one dimension.", PARAMS(nonzero_params),
      .any_results = true, COUNTED},
     .call = call_nonzero,
     .which = IN_ROWS,
     .count = count_positions},
    SET_ROW("setdiff1d", CUBED_SET_DIFFERENCE, set_params,
            "Distinct elements of one array that are not in another one, in ascending order.",
            "One dimension, of the type of `ar1`.", .attrs = CUBED_ATTRS_VIEW),
    SET_ROW("setxor1d", CUBED_SET_EXCLUSIVE, set_params,
            "Distinct elements that are in only one of two arrays, in ascending order.",
            BOTH_DIMENSION, .attrs = CUBED_ATTRS_SHARED),
    SET_ROW("union1d", CUBED_SET_UNION, union_params,
            "Distinct elements of two arrays, in ascending order.", BOTH_DIMENSION,
            .attrs = CUBED_ATTRS_SHARED),
    {{"unique_all", CATEGORY,
      .summary =
          "Distinct elements in ascending order, with first positions, inverse indices and counts.",
      .returns = "Values have the type of `x`; positions and counts are int64.",
      PARAMS(unique_params), .results = {"values", "indices", "inverse_indices", "counts"},
      COUNTED},
     .call = call_unique,
     .which = INDICES | INVERSE | COUNTS,
     .count = count_unique},
    {{"unique_counts", CATEGORY,
      .summary = "Distinct elements in ascending order, and their counts.",
      .returns = "Values have the type of `x`; counts are int64.", PARAMS(unique_params),
      .results = {"values", "counts"}, COUNTED},
     .call = call_unique,
     .which = COUNTS,
     .count = count_unique},
    {{"unique_inverse", CATEGORY,
      .summary = "Distinct elements in ascending order, and the index among them of each element.",
      .returns = "Values have the type of `x`; indices are int64, in the shape of `x`.",
      PARAMS(unique_params), .results = {"values", "inverse_indices"}, COUNTED},
     .call = call_unique,
     .which = INVERSE,
     .count = count_unique},
    {{"unique_values", CATEGORY, .summary = "Distinct elements, in ascending order.",
      .returns = ONE_DIMENSION, PARAMS(unique_params), COUNTED, .attrs = CUBED_ATTRS_VIEW},
     .call = call_unique,
     .count = count_unique},
};

const cb_rows cb_sets_rows = ROWS(rows);
