/* Rows of functions that remap arrays to other horizontal grids. */
#include "cubed/remap.h"

#include <limits.h>

#include "base/checked.h"
#include "base/error.h"
#include "grid/grid.h"
#include "rows.h"

#define CATEGORY .category = "remapping"

static const cubed_choice methods[] = {
    {"bilinear", CUBED_REMAP_BILINEAR}, {"nearest", CUBED_REMAP_NEAREST},
    {"distance", CUBED_REMAP_DISTANCE}, {"conservative", CUBED_REMAP_CONSERVATIVE},
    {"bicubic", CUBED_REMAP_BICUBIC},   {"conservative2", CUBED_REMAP_CONSERVATIVE2},
    {"largest", CUBED_REMAP_LARGEST},   {NULL, 0}};

#define PARAM_METHOD                                                                               \
    PARAM_CHOICE("method", 0, CUBED_REMAP_BILINEAR, methods,                                       \
                 "``bilinear``: interpolation between four centres; ``nearest``: the nearest "     \
                 "centre; ``distance``: a mean of several centres, weighted by inverse distance; " \
                 "``conservative``: a mean weighted by shared areas; ``bicubic``: interpolation "  \
                 "between 16 centres; ``conservative2``: ``conservative`` of second order, with "  \
                 "gradients; ``largest``: the value with the largest shared area.")
#define PARAM_NEIGHBOURS                                                                           \
    {                                                                                              \
        PARAM_IN("neighbours", ACCEPTS(INT), NAMED, 1, 64,                                         \
                 "Number of centres for ``\"distance\"``."),                                       \
            INT_DEFAULT(4)                                                                         \
    }
#define PARAM_MISSING                                                                              \
    PARAM_BOOL("skipna", NAMED, true,                                                              \
               "Whether source cells with NaN are left out, and the remaining weights of a "       \
               "target cell are scaled up."),                                                      \
    {                                                                                              \
        PARAM_IN("na_threshold", ACCEPTS(FLOAT), NAMED, 0, 1,                                      \
                 "With `skipna`: largest part of the weights of a target cell, from 0 to 1, that " \
                 "may belong to source cells with NaN. If it is exceeded, the result is NaN."),    \
            FLOAT_DEFAULT(1)                                                                       \
    }

static const char target_notes[] = "Name of a grid (``\"r360x180\"``, ``\"global_0.25\"``, "
                                   "``\"n80\"``), or the text of a grid description file.";

static cubed_weights_options weights_options(const cb_call *c, int method, int neighbours)
{
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    o.method = (cubed_remap_method)cb_call_choice(c, method);
    o.neighbours = (int)cb_call_int(c, neighbours);
    o.memory = cb_call_task_mem(c);
    return o;
}

static cubed_remap_options remap_options(const cb_call *c, int skipna)
{
    cubed_remap_options o = CUBED_REMAP_OPTIONS_INIT;
    o.skipna = cb_call_bool(c, skipna);
    o.na_threshold = cb_call_real(c, skipna + 1);
    o.task_mem = cb_call_task_mem(c);
    return o;
}

/* --- Grids --------------------------------------------------------------------------------------------- */

static const cubed_param grid_params[] = {
    {PARAM("grid", ACCEPTS(STRING), CUBED_PARAM_REQUIRED, target_notes)},
};

static cubed_status call_grid(const cb_call *c)
{
    cubed_grid *grid;
    CB_TRY(cb_call_blame(c, 0, cubed_grid_parse(c->ctx, c->values[0].as.string, &grid, c->err)));
    cubed_status st = cubed_grid_arrays(c->ctx, grid, c->out, c->err);
    cubed_grid_free(grid);
    return st;
}

/* --- Weights ------------------------------------------------------------------------------------------- */

static const cubed_param weights_params[] = {
    {PARAM("source", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED,
           "Latitudes and longitudes in degrees, and optionally the bounds of both: arrays in "
           "memory.")},
    {PARAM("target", ACCEPTS(ARRAYS), CUBED_PARAM_REQUIRED,
           "Latitudes and longitudes of the target, like `source`.")},
    PARAM_METHOD,
    PARAM_NEIGHBOURS,
    PARAM_BOOL("source_unstructured", NAMED, false,
               "Whether latitudes and longitudes of one dimension belong to single cells (an "
               "unstructured grid), not to axes."),
    PARAM_BOOL("target_unstructured", NAMED, false, "Like `source_unstructured`, for the target."),
    PARAM_OPTIONAL_ARRAY("source_mask", NAMED,
                         "Bools in memory: true for cells of the source that are in use. All other "
                         "cells have no weights. None: all cells are in use."),
    PARAM_OPTIONAL_ARRAY("target_mask", NAMED,
                         "Bools in memory: true for cells of the target that are in use. All other "
                         "cells have no value. None: all cells are in use."),
    PARAM_TASK_MEM,
};

/* Creates the grid of argument i, with the mask of argument `mask`. */
static cubed_status grid_of(const cb_call *c, int i, bool unstructured, int mask, cubed_grid **out)
{
    const cubed_value *v = &c->values[i];
    if (v->n != 2 && v->n != 4)
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: %s has %d arrays, expected 2, or 4 with bounds",
                                     c->function->name, c->function->params[i].name, v->n));
    cubed_array *const *a = v->as.arrays;
    CB_TRY(
        cb_call_blame(c, i,
                      cubed_grid_from_arrays(a[0], a[1], v->n == 4 ? a[2] : NULL,
                                             v->n == 4 ? a[3] : NULL, unstructured, out, c->err)));
    if (!cb_call_has(c, mask)) return CUBED_OK;
    return cb_call_blame(c, mask, cubed_grid_set_mask(*out, cb_call_array(c, mask), c->err));
}

/* Checks the memory for n weights as arrays. In addition to the weights, there are three lists, and two of them are copied. */
static cubed_status check_arrays(const cb_call *c, int64_t n)
{
    return cb_weights_check_memory(cb_sat_mul((size_t)n, 12 + 16 + 24), cb_call_task_mem(c),
                                   c->err);
}

static cubed_status call_weights(const cb_call *c)
{
    cubed_grid *source = NULL, *target = NULL;
    cubed_weights *w = NULL;
    const cubed_weights_options o = weights_options(c, 2, 3);
    cubed_status st;
    CB_GO(grid_of(c, 0, cb_call_bool(c, 4), 6, &source));
    CB_GO(grid_of(c, 1, cb_call_bool(c, 5), 7, &target));
    CB_GO(cubed_weights_new(c->ctx, source, target, &o, &w, c->err));
    CB_GO(check_arrays(c, cubed_weights_get(w, NULL, NULL, NULL, NULL)));
    CB_GO(cubed_weights_arrays(w, c->out, c->err));
out:
    cubed_grid_free(source);
    cubed_grid_free(target);
    cubed_weights_unref(w);
    return st;
}

static const cubed_param apply_params[] = {
    PARAM_ARRAY("x", "Values; the last axes are the grid of the source."),
    PARAM_NAMED_ARRAY("rows", "Positions of cells of the target in C order: an array in memory."),
    PARAM_NAMED_ARRAY("columns",
                      "Positions of cells of the source in C order: an array in memory."),
    PARAM_NAMED_ARRAY("weights", "Weights: element k is the weight of the source cell "
                                 "``columns[k]`` in the target cell ``rows[k]``."),
    {PARAM_IN("shape", ACCEPTS(INTS), CUBED_PARAM_REQUIRED, 1, INFINITY,
              "Shape of the target: one extent or two.")},
    {PARAM_IN("ndim", ACCEPTS(INT), NAMED, 1, 2,
              "Number of the last axes of x that are the grid of the source."),
     INT_DEFAULT(2)},
    PARAM_BOOL("nearest", NAMED, false,
               "Whether each row copies one element, which keeps the type of x."),
    PARAM_BOOL("largest", NAMED, false,
               "Whether each row copies the value whose weights have the largest sum."),
    PARAM_MISSING,
    PARAM_TASK_MEM,
};

/* Checks the memory for links from arrays, which are copied and sorted before they become weights. */
static cubed_status check_links(const cb_call *c)
{
    const cubed_array *rows = cb_call_array(c, 1);
    size_t cells = 1, n = 1;
    int ndim;
    const int64_t *shape = cb_call_ints(c, 4, &ndim), *extents = cubed_array_shape(rows);
    for (int d = 0; d < ndim; d++) cells = cb_sat_mul(cells, (size_t)shape[d]);
    for (int d = 0; d < cubed_array_ndim(rows); d++) n = cb_sat_mul(n, (size_t)extents[d]);
    /* Bytes per link: three copies, its position, and its weight. Bytes per cell: two starts of rows, and space for four
     * weights. */
    const size_t need = cb_sat_add(cb_sat_mul(n, 24 + 8 + 12), cb_sat_mul(cells, 16 + 4 * 12));
    return cb_weights_check_memory(need, cb_call_task_mem(c), c->err);
}

static cubed_status call_apply(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const int ndim = (int)cb_call_int(c, 5), all = cubed_array_ndim(x);
    cubed_remap_options o = remap_options(c, 8);
    int n;
    const int64_t *shape = cb_call_ints(c, 4, &n), *extents = cubed_array_shape(x);
    cubed_weights_shape s = {
        .source_ndim = ndim, .target_ndim = n, .source = {1, 1}, .target = {1, 1}};
    cubed_weights *w;
    if (n < 1 || n > 2)
        return cb_call_blame(c, 4,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: shape has %d extents, expected 1 or 2", c->function->name,
                                     n));
    if (all < ndim)
        return cb_fail(c->err, CUBED_E_ARG, "%s: x has %d dimensions, expected at least %d",
                       c->function->name, all, ndim);
    for (int d = 0; d < ndim; d++) s.source[d] = extents[all - ndim + d];
    for (int d = 0; d < n; d++) s.target[d] = shape[d];
    o.largest = cb_call_bool(c, 7);
    CB_TRY(check_links(c));
    CB_TRY(cubed_weights_from_arrays(&s, cb_call_array(c, 1), cb_call_array(c, 2),
                                     cb_call_array(c, 3), &w, c->err));
    cubed_status st = cb_call_bool(c, 6) ? cubed_weights_set_nearest(w, c->err) : CUBED_OK;
    if (st == CUBED_OK) st = cubed_remap(x, w, &o, c->out, c->err);
    cubed_weights_unref(w);
    return st;
}

/* --- Both ---------------------------------------------------------------------------------------------- */

static const cubed_param remap_params[] = {
    PARAM_ARRAY("x", "Values; the last two axes are latitude and longitude."),
    {PARAM("target", ACCEPTS(STRING), CUBED_PARAM_REQUIRED, target_notes)},
    PARAM_METHOD,
    {PARAM("lat", ACCEPTS(FLOATS), NAMED | CUBED_PARAM_REQUIRED, "Latitudes of x, in degrees.")},
    {PARAM("lon", ACCEPTS(FLOATS), NAMED | CUBED_PARAM_REQUIRED, "Longitudes of x, in degrees.")},
    PARAM_NEIGHBOURS,
    PARAM_MISSING,
    PARAM_TASK_MEM,
};

static cubed_status call_remap(const cb_call *c)
{
    const cubed_value *lat = &c->values[3], *lon = &c->values[4];
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    cubed_grid *source = NULL, *target = NULL;
    cubed_weights *w = NULL;
    const cubed_weights_options o = weights_options(c, 2, 5);
    const cubed_remap_options r = remap_options(c, 6);
    cubed_status st;
    cells.shape[0] = lat->n;
    cells.shape[1] = lon->n;
    cells.lat = lat->as.reals;
    cells.lon = lon->as.reals;
    CB_GO(cb_call_blame(c, 1, cubed_grid_parse(c->ctx, c->values[1].as.string, &target, c->err)));
    CB_GO(cubed_grid_new(c->ctx, &cells, &source, c->err));
    CB_GO(cubed_weights_new(c->ctx, source, target, &o, &w, c->err));
    CB_GO(cubed_remap(cb_call_array(c, 0), w, &r, c->out, c->err));
out:
    cubed_grid_free(source);
    cubed_grid_free(target);
    cubed_weights_unref(w);
    return st;
}

static const cb_row rows[] = {
    {{"apply_weights", CATEGORY,
      .summary = "An array on another grid: products with a sparse matrix of weights.",
      .returns = "The axes of x before its grid, and the axes of the target. The type of x if it "
                 "is a floating-point type; float64 for integers.",
      PARAMS(apply_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_apply},
    {{"grid_coordinates", CATEGORY,
      .summary = "Coordinates of a named grid, and their bounds, in degrees.",
      .returns =
          "Latitudes and longitudes of axes or cells, and bounds with one more axis. In memory.",
      PARAMS(grid_params), .results = {"lat", "lon", "lat_bounds", "lon_bounds"}},
     .call = call_grid},
    {{"remap", CATEGORY, .summary = "An array on another horizontal grid.",
      .returns = "The axes of x before its grid, and the axes of the target. The type of x if it "
                 "is a floating-point type; float64 for integers.",
      PARAMS(remap_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_remap},
    {{"remap_weights", CATEGORY,
      .summary = "Weights that interpolate arrays from one grid to another.",
      .returns = "Positions of cells of the target and the source in C order (int64), and weights "
                 "(float64). In memory.",
      PARAMS(weights_params), .results = {"rows", "columns", "weights"}},
     .call = call_weights},
};

const cb_rows cb_remap_rows = ROWS(rows);
