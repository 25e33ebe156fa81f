/* Horizontal grids, weights between two grids, and arrays on another grid.
 *
 * Grids and weights are computed immediately, in memory from the context's allocator, because they determine which parts of an
 * array a result reads. cubed_remap is lazy. */
#ifndef CUBED_REMAP_H
#define CUBED_REMAP_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Grids --------------------------------------------------------------------------------------------- */

/* A horizontal grid: cells on the sphere, with centres and, optionally, corners. Threads may share it, because it does not
 * change after cubed_grid_set_mask. The context must outlive it. */
typedef struct cubed_grid cubed_grid;

/* The cells of a grid, in degrees.
 *
 * Regular grid: shape[0] latitudes and shape[1] longitudes, both strictly monotonic (longitudes may jump by 360 degrees), and
 * two bounds of each number.
 *
 * Other grids: a latitude and a longitude for each cell, in C order, and `corners` bounds of each cell, in order around the
 * cell; corners may be repeated. */
typedef struct cubed_grid_cells {
    size_t struct_size;
    bool regular;
    int ndim; /* number of dimensions: 1 or 2; 2 for a regular grid */
    int64_t shape[2];
    const double *lat, *lon;
    /* Bounds: corners per cell (2 for a regular grid), or 0. Without bounds, the cells of a regular grid end midway between
     * centres. The outermost cells extend as far outwards as inwards; a cell whose next neighbour would be beyond a pole ends
     * at the pole. */
    int corners;
    const double *lat_bounds, *lon_bounds;
    /* True for each cell in use, in C order; NULL: all cells. Masked cells of a source have no weights, as if their values were
     * missing: the other weights are scaled. Masked cells of a target have no value. */
    const bool *mask;
} cubed_grid_cells;
#define CUBED_GRID_CELLS_INIT                                                                      \
    {                                                                                              \
        sizeof(cubed_grid_cells), true, 2, {0, 0}, NULL, NULL, 0, NULL, NULL, NULL                 \
    }

/* Creates a grid; all numbers are copied.
 *
 * out  receives the grid, which cubed_grid_free frees before the last reference to `ctx` is released
 *
 * Errors: CUBED_E_ARG for numbers that are not finite, latitudes beyond the poles, or axes that are not monotonic;
 * CUBED_E_UNSUPPORTED for too many cells or corners. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_new(cubed_context *ctx,
                                                       const cubed_grid_cells *cells,
                                                       cubed_grid **out, cubed_error *err);
/* Creates a grid of two dimensions from a regular grid whose latitudes and longitudes refer to a rotated pole. This is the grid
 * mapping rotated_latitude_longitude of the CF conventions.
 *
 * cells  regular, in degrees of the rotated grid
 * pole   grid_north_pole_latitude, grid_north_pole_longitude and north_pole_grid_longitude (0 if the file has none), in
 *        degrees; NULL: the grid is not rotated, and the result is that of cubed_grid_new
 *
 * Errors: those of cubed_grid_new; CUBED_E_ARG for a pole that is not on the earth, and for cells that are not regular. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_new_rotated(cubed_context *ctx,
                                                               const cubed_grid_cells *cells,
                                                               const double pole[3],
                                                               cubed_grid **out, cubed_error *err);
/* Creates the grid that a string describes: a CDO grid name, or the contents of a grid description file.
 *
 * "r360x180"     regular: 360 longitudes from 0, 180 latitudes from south to north. An odd number of latitudes includes the
 *                poles, an even number begins half a step from them.
 * "global_0.25"  regular: steps of 0.25 degrees from the date line and the south pole
 * "n80", "F80"   Gaussian: 160 latitudes from north to south, 320 longitudes from 0
 * "lon=10_lat=50"  one point
 *
 * A description has a line "key = value" for each key: gridtype (lonlat, gaussian, curvilinear or unstructured), gridsize,
 * xsize, ysize, xfirst, xinc, xvals, xbounds, yfirst, yinc, yvals, ybounds, nvertex, mask (0 for cells that are not in use),
 * and xunits and yunits (degrees or radians). Values may continue on the next lines; # begins a comment.
 *
 * Errors: CUBED_E_ARG for any other string; CUBED_E_UNSUPPORTED for a description with another gridtype of CDO. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_parse(cubed_context *ctx, const char *text,
                                                         cubed_grid **out, cubed_error *err);
/* Creates a grid from arrays of float64 or float32 in memory (cubed_array_from_memory), which are read immediately. `lat` and
 * `lon` with two dimensions are the cells of a curvilinear grid. With one dimension they are the cells of an unstructured
 * grid if `unstructured` is set, otherwise the axes of a regular grid. Bounds have one more dimension, of corners; if either
 * is NULL, the grid has no bounds.
 *
 * Errors: CUBED_E_ARG if shapes do not agree, or if an array is not in memory; CUBED_E_TYPE for another type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_from_arrays(cubed_array *lat, cubed_array *lon,
                                                               cubed_array *lat_bounds,
                                                               cubed_array *lon_bounds,
                                                               bool unstructured, cubed_grid **out,
                                                               cubed_error *err);
/* Creates four arrays of a grid's numbers, in degrees: latitudes, longitudes, bounds of latitudes, bounds of longitudes. If the
 * grid has no bounds, the last dimension of the bounds has no elements. out[4] are new references for the caller. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_arrays(cubed_context *ctx,
                                                          const cubed_grid *grid, cubed_array **out,
                                                          cubed_error *err);
/* Sets the mask of a grid from an array of bools in memory: false for cells that are not in use. The array has the shape of
 * data on the grid. Call this function before the grid is used.
 *
 * Errors: CUBED_E_TYPE if the array has another type; CUBED_E_ARG if it has another shape, or is not in memory. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_set_mask(cubed_grid *grid, cubed_array *mask,
                                                            cubed_error *err);
/* Creates an array of bools from the mask of a grid, in the shape of data on the grid. *out is a new reference for the caller;
 * NULL if the grid has no mask. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_mask(cubed_context *ctx, const cubed_grid *grid,
                                                        cubed_array **out, cubed_error *err);
/* Frees a grid. NULL is allowed. */
CUBED_API void cubed_grid_free(cubed_grid *grid);
/* Gets the cells of a grid; the numbers belong to the grid. out->struct_size must be set, else CUBED_E_ARG. Bounds of a regular
 * grid are always set, unless they were not given and an axis has only one number. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_get(const cubed_grid *grid,
                                                       cubed_grid_cells *out, cubed_error *err);

/* --- Weights ------------------------------------------------------------------------------------------- */

typedef enum cubed_remap_method {
    CUBED_REMAP_NEAREST, /* the value of the nearest centre; the first one if several are equally near */
    CUBED_REMAP_BILINEAR, /* interpolates between the four centres around a point, in longitude and latitude */
    CUBED_REMAP_DISTANCE, /* means of the nearest centres, weighted by the inverse of the distance */
    CUBED_REMAP_CONSERVATIVE, /* means over the areas that cells share */
    CUBED_REMAP_BICUBIC, /* interpolates between the 16 centres around a point, by cubic polynomials in longitude and latitude */
    CUBED_REMAP_CONSERVATIVE2, /* means over the areas that cells share, with a linear gradient inside each cell of the source */
    CUBED_REMAP_LARGEST, /* the value that has the largest part of a cell's area, such as a class */
    CUBED_REMAP_METHODS
} cubed_remap_method;

typedef struct cubed_weights_options {
    size_t struct_size;
    cubed_remap_method method;
    int neighbours; /* number of centres for CUBED_REMAP_DISTANCE; at least 1 */
    /* Maximum bytes of the weights, and of the index of the source's cells while the weights are computed; 0: no limit. */
    uint64_t memory;
} cubed_weights_options;
#define CUBED_WEIGHTS_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cubed_weights_options), CUBED_REMAP_BILINEAR, 4, 0                                  \
    }

/* A sparse matrix with a row for each cell of the target, in C order, and a column for each cell of the source. Never
 * changes. */
typedef struct cubed_weights cubed_weights;

/* Creates the weights of a method. The sum of each row is 1, or the row is empty if the cell of the target has no value.
 *
 * - Nearest and distance: distance weights are inverse straight-line distances, as in CDO; CDO rounds their squares to float32.
 * - Bilinear: the source must be regular or have two dimensions. Beyond the outermost latitudes of a regular source that goes
 *   around the earth, the weights are inverse great-circle distances to the four nearest centres, as in CDO.
 * - Bicubic: the grids have the same restrictions as for bilinear weights. Weights may be negative.
 * - Conservative and largest: both grids must have bounds.
 * - Conservative of second order: as conservative, with a gradient inside each cell that fits the differences to its
 *   neighbours. Weights may be negative.
 *
 * Edges of cells are parts of great circles, with one exception, as in CDO: cells of any grid that lie between two latitudes
 * and two longitudes have these circles of latitude as edges. Edges of a cell must not cross.
 *
 * Masked cells have no weights. Nearest and distance weights use the other centres; the rows of other methods are scaled. A row
 * with a negative weight is empty if one of its cells is masked.
 *
 * options  NULL: the defaults
 * out      freed with cubed_weights_unref
 *
 * Errors: CUBED_E_UNSUPPORTED if a grid does not have the properties that the method needs. CUBED_E_BUDGET if options->memory
 * is too little: immediately if the sizes of the grids show this, otherwise when the weights exceed the limit. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weights_new(cubed_context *ctx,
                                                          const cubed_grid *source,
                                                          const cubed_grid *target,
                                                          const cubed_weights_options *options,
                                                          cubed_weights **out, cubed_error *err);

/* The shape of weights: dimensions of both grids. */
typedef struct cubed_weights_shape {
    int source_ndim, target_ndim; /* 1 or 2 */
    int64_t source[2], target[2];
} cubed_weights_shape;

/* Creates weights from `n` links in any order, such as the links of a file. A link is a target cell (row), a source cell (column)
 * and a weight. The weights of links between the same cells are added. Weights of 0 are left out.
 *
 * rows, columns  positions of cells in C order, from 0
 *
 * Errors: CUBED_E_INDEX if a link is outside the grids; CUBED_E_ARG if a weight is not finite, or `n` is negative. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weights_from_links(
    cubed_context *ctx, const cubed_weights_shape *shape, int64_t n, const int64_t *rows,
    const int64_t *columns, const double *values, cubed_weights **out, cubed_error *err);
/* Creates weights from links in arrays in memory: rows and columns of int64, values of float64. The weights of links between the
 * same cells are added. Weights of 0 are left out. Errors: those of cubed_weights_from_links; CUBED_E_ARG unless the arrays have
 * one dimension and the same length. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_weights_from_arrays(const cubed_weights_shape *shape, cubed_array *rows, cubed_array *columns,
                          cubed_array *values, cubed_weights **out, cubed_error *err);
/* Declares that the weights copy elements, as weights of CUBED_REMAP_NEAREST do: each row copies the element of its only
 * weight. Call it before the weights are used.
 *
 * Errors: CUBED_E_ARG if a row has several weights, or a weight that is not 1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weights_set_nearest(cubed_weights *weights,
                                                                  cubed_error *err);
/* Creates three arrays with the links of the weights (cubed_weights_from_links), sorted by row: rows and columns as int64, and
 * values as float64. out[3] receives new references. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weights_arrays(cubed_weights *weights,
                                                             cubed_array **out, cubed_error *err);
/* Returns the number of weights, and gets the rows of the matrix. Outputs may be NULL; the arrays belong to the weights.
 *
 * shape    receives the dimensions of both grids
 * starts   receives the position of the first weight of each row, followed by the number of weights
 * columns  receives the column of each weight
 * values   receives the value of each weight */
CUBED_API int64_t cubed_weights_get(const cubed_weights *weights, cubed_weights_shape *shape,
                                    const int64_t **starts, const int32_t **columns,
                                    const double **values);
/* Take an additional reference to weights and return them; release a reference (NULL is allowed). Thread-safe. */
CUBED_API cubed_weights *cubed_weights_ref(cubed_weights *weights);
CUBED_API void cubed_weights_unref(cubed_weights *weights);

/* --- Arrays -------------------------------------------------------------------------------------------- */

typedef struct cubed_remap_options {
    size_t struct_size;
    /* True: NaN in the source are skipped, and the other weights of the target cell are scaled to the same sum. False: a NaN in
     * a source cell makes every target cell NaN that has a weight for the source cell. */
    bool skipna;
    /* With skipna: the largest part of a cell's weights, from 0 to 1, that may be missing. A cell without any value is always
     * NaN. A cell with a negative weight is NaN if any of its values is missing. */
    double na_threshold;
    uint64_t task_mem; /* bytes that a task may use; 0: unknown */
    /* Copies a value instead of computing a mean: the value whose weights have the largest sum in the target cell; the first
     * one if several have this sum. For weights of CUBED_REMAP_LARGEST. */
    bool largest;
} cubed_remap_options;
#define CUBED_REMAP_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_remap_options), true, 1.0, 0, false                                           \
    }

/* Creates an array on the target's grid. The last axes of x are the source's grid; in the result they are the target's grid.
 * Other axes keep their extents. The result is stored.
 *
 * Sums are computed in float64. The result has x's type if that is a float, and float64 for integers and bools. If all cells of
 * the target have a value, CUBED_REMAP_NEAREST keeps any type of x, and CUBED_REMAP_LARGEST keeps integers and bools.
 *
 * If a plane is larger than a quarter of the task's memory, the result is computed in bands along the target's first dimension,
 * and each band reads a part of the source. The array holds a reference to the weights.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_ARG if the last axes are not the source's grid, or if na_threshold is not from 0 to 1; CUBED_E_TYPE for
 * complex numbers, times and strings, unless values are copied. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_remap(cubed_array *x, cubed_weights *weights,
                                                    const cubed_remap_options *options,
                                                    cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
