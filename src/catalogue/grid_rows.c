/* Rows of functions that create positions on grids. */
#include <string.h>

#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "grids"

#define CHUNKS                                                                                     \
    {                                                                                              \
        PARAM_IN("chunks", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0, 1, INFINITY,           \
                 "Lengths of chunks, one for each axis. None: chunks of about 128 MiB.")           \
    }

/* --- Coordinates -------------------------------------------------------------------------------------- */

enum { SWAPPED, AS_GIVEN };
static const cubed_choice indexings[] = {{"xy", SWAPPED}, {"ij", AS_GIVEN}, {NULL, 0}};

static const cubed_param meshgrid_params[] = {
    {PARAM("arrays", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED | CUBED_PARAM_VARIADIC,
           "Coordinates along the axes of the grid.")},
    PARAM_CHOICE("indexing", NAMED, SWAPPED, indexings,
                 "Order of the first two axes: ``\"xy\"`` swaps them, ``\"ij\"`` keeps the order "
                 "of the arrays."),
    PARAM_BOOL("sparse", NAMED, false, "Whether each array has one element along all other axes."),
    PARAM_BOOL("copy", NAMED, true, "Accepted for compatibility with NumPy; has no effect."),
};

static cubed_status call_meshgrid(const cb_call *c)
{
    const cubed_value *v = &c->values[0];
    cubed_array **out;
    CB_TRY(cb_call_results(c, v->n, &out));
    const unsigned flags = (cb_call_choice(c, 1) == SWAPPED ? CUBED_MESHGRID_SWAPPED : 0) |
                           (cb_call_bool(c, 2) ? CUBED_MESHGRID_SPARSE : 0);
    return cubed_meshgrid(v->as.arrays, v->n, flags, out, c->err);
}

static const cubed_param indices_params[] = {
    {PARAM_IN("dimensions", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 0, INFINITY,
              "Shape of the grid.")},
    PARAM_DTYPE("dtype", 0, "Type of the elements. None: int64."),
    PARAM_BOOL("sparse", 0, false, "Whether each array has one element along all other axes."),
    CHUNKS,
};

static cubed_status call_indices(const cb_call *c)
{
    int n;
    const int64_t *shape = cb_call_ints(c, 0, &n), *chunks;
    const cubed_dtype dtype = cb_call_has(c, 1) ? *cb_call_dtype(c, 1) : CUBED_INT64;
    cubed_array **out;
    CB_TRY(cb_call_chunks(c, 3, n, &chunks));
    if (n > CUBED_MAX_NDIM)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_UNSUPPORTED,
                                     "indices: %d dimensions, expected at most %d", n,
                                     CUBED_MAX_NDIM));
    CB_TRY(cb_call_results(c, n, &out));
    if (cb_call_bool(c, 2)) return cubed_indices_sparse(c->ctx, n, shape, dtype, out, c->err);
    return cubed_indices(c->ctx, n, shape, chunks, dtype, out, c->err);
}

/* --- Triangles ---------------------------------------------------------------------------------------- */

static const cubed_param triangle_params[] = {
    {PARAM_IN("n", ACCEPTS(INT), CUBED_PARAM_REQUIRED, 0, INFINITY, "Number of rows.")},
    PARAM_INT("k", 0, 0,
              "Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below."),
    {PARAM_IN("m", ACCEPTS(INT) | ACCEPTS(NONE), 0, 0, INFINITY,
              "Number of columns. None: the number of rows.")},
    {PARAM_IN("chunks", ACCEPTS(INT) | ACCEPTS(NONE), 0, 1, INFINITY,
              "Length of chunks. None: chunks of about 128 MiB.")},
};

/* Computes the results of tril_indices, or of triu_indices if c->which is true. */
static cubed_status call_triangle(const cb_call *c)
{
    const int64_t rows = cb_call_int(c, 0), columns = cb_call_int(c, cb_call_has(c, 2) ? 2 : 0);
    const int64_t chunk = cb_call_has(c, 3) ? cb_call_int(c, 3) : 0;
    return cubed_triangle_indices(c->ctx, rows, columns, cb_call_int(c, 1), c->which,
                                  chunk > 0 ? &chunk : NULL, c->out, c->err);
}

/* --- Flat positions ----------------------------------------------------------------------------------- */

#define ORDER                                                                                      \
    PARAM_CHOICE("order", 0, false, orders,                                                        \
                 "Order of the flattened elements: ``\"C\"``, the last axis varies fastest, or "   \
                 "``\"F\"``, the first axis.")
static const cubed_choice orders[] = {{"C", false}, {"F", true}, {NULL, 0}};
static const cubed_choice modes[] = {{"raise", CUBED_BOUNDS_UNCHECKED},
                                     {"wrap", CUBED_BOUNDS_WRAP},
                                     {"clip", CUBED_BOUNDS_CLIP},
                                     {NULL, 0}};

static const cubed_param ravel_params[] = {
    {PARAM("multi_index", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED,
           "An array of integers for each axis, which are broadcast, or one array whose first axis "
           "holds them.")},
    {PARAM_IN("dims", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 0, INFINITY,
              "Shape of the array to which the positions refer.")},
    {PARAM("mode", ACCEPTS(CHOICE) | ACCEPTS(LIST), 0,
           "Treatment of positions out of range, for all axes or one for each. ``\"raise\"`` does "
           "not check them."),
     CHOICE_DEFAULT(CUBED_BOUNDS_UNCHECKED), .choices = modes},
    ORDER,
};

/* Gets the modes of n axes, from one mode for all axes or a list. */
static cubed_status get_modes(const cb_call *c, int n, cubed_bounds_mode out[CUBED_MAX_NDIM])
{
    const cubed_value *v = &c->values[2];
    char shown[64];
    bool known = v->kind == CUBED_VALUE_CHOICE || v->n == n;
    for (int d = 0; d < n && known; d++) {
        const cubed_choice *choice = modes;
        out[d] = (cubed_bounds_mode)v->as.integer;
        if (v->kind == CUBED_VALUE_CHOICE) continue;
        const cubed_value *item = &v->as.items[d];
        known = item->kind == CUBED_VALUE_STRING;
        while (known && choice->name && strcmp(choice->name, item->as.string) != 0) choice++;
        known = known && choice->name;
        out[d] = (cubed_bounds_mode)choice->number;
    }
    if (known) return CUBED_OK;
    cubed_value_format(v, shown, sizeof shown);
    return cb_call_blame(c, 2,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "ravel_multi_index: mode is %s, expected 'raise', 'wrap' or "
                                 "'clip', or a list with one of these for each of %d axes",
                                 shown, n));
}

static cubed_status call_ravel_multi_index(const cb_call *c)
{
    const cubed_value *v = &c->values[0];
    cubed_bounds_mode each[CUBED_MAX_NDIM];
    int n;
    const int64_t *shape = cb_call_ints(c, 1, &n);
    if (v->n != n || n < 1 || n > CUBED_MAX_NDIM)
        return cb_call_blame(
            c, 0,
            cb_fail(c->err, CUBED_E_ARG,
                    "ravel_multi_index: there are %d positions for %d axes, expected equal numbers",
                    v->n, n));
    CB_TRY(get_modes(c, n, each));
    return cubed_ravel_multi_index(v->as.arrays, n, shape, each, cb_call_choice(c, 3), c->out,
                                   c->err);
}

static const cubed_param unravel_params[] = {
    {PARAM("indices", ACCEPTS(ARRAY),
           CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE,
           "Positions in the flattened array. They are not checked.")},
    {PARAM_IN("shape", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 0, INFINITY,
              "Shape of the array to which the positions refer.")},
    ORDER,
};

static cubed_status call_unravel_index(const cb_call *c)
{
    int n;
    const int64_t *shape = cb_call_ints(c, 1, &n);
    cubed_array **out;
    CB_TRY(cb_call_results(c, n, &out));
    return cubed_unravel_index(cb_call_array(c, 0), n, shape, cb_call_choice(c, 2), out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define TRIANGLE                                                                                   \
    .returns = "int64, one dimension. A task uses memory for one number for each row.",            \
    PARAMS(triangle_params), .results = {"rows", "columns"}

static const cb_row rows[] = {
    {{"indices", CATEGORY, .summary = "The positions along each axis of a grid.",
      .returns = "One array for each axis, in the shape of the grid.", PARAMS(indices_params),
      .any_results = true},
     .call = call_indices},
    {{"meshgrid", CATEGORY,
      .summary = "Coordinates of all points of a grid, from the coordinates along its axes.",
      .returns = "Arrays in the shape of the grid, with the types of the inputs. Views.",
      PARAMS(meshgrid_params), .any_results = true},
     .call = call_meshgrid},
    {{"ravel_multi_index", CATEGORY,
      .summary =
          "Converts positions along each axis of a shape to positions in the flattened array.",
      .returns = "int64; the positions are broadcast.", PARAMS(ravel_params)},
     .call = call_ravel_multi_index},
    {{"tril_indices", CATEGORY,
      .summary = "Row and column numbers of the lower triangle of a matrix, up to diagonal `k`.",
      TRIANGLE},
     .call = call_triangle,
     .which = false},
    {{"triu_indices", CATEGORY,
      .summary = "Row and column numbers of the upper triangle of a matrix, from diagonal `k` on.",
      TRIANGLE},
     .call = call_triangle,
     .which = true},
    {{"unravel_index", CATEGORY,
      .summary =
          "Converts positions in a flattened array to positions along each axis of its shape.",
      .returns = "For each axis an int64 array in the shape of `indices`.", PARAMS(unravel_params),
      .any_results = true},
     .call = call_unravel_index},
};

const cb_rows cb_grid_rows = ROWS(rows);
