/* Areas of grid cells, missing elements of fields, and statistics of fields with weights. All functions are lazy: they return
 * arrays, which a plan computes.
 *
 * Missing elements are NaN. They and their weights are left out, unless the comment of a function states otherwise. */
#ifndef CUBED_FIELDS_H
#define CUBED_FIELDS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Areas ------------------------------------------------------------------------------------------------------- */

/* Radius of the Earth that CDO uses, in metres. */
#define CUBED_EARTH_RADIUS 6371000.0

/* Lines that form the edges of cells between corners of different longitudes. */
typedef enum cubed_cell_edges {
    CUBED_EDGES_GREAT_CIRCLES, /* arcs of great circles, which are the shortest lines, as in CDO */
    CUBED_EDGES_LATITUDES      /* circles of latitude */
} cubed_cell_edges;

typedef struct cubed_area_options {
    size_t struct_size;
    cubed_array *lat_bounds, *lon_bounds; /* NULL: bounds are midpoints between neighbours */
    cubed_cell_edges edges;
    double radius; /* radius of the sphere; areas have its units squared */
} cubed_area_options;
#define CUBED_AREA_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_area_options), NULL, NULL, CUBED_EDGES_GREAT_CIRCLES, CUBED_EARTH_RADIUS      \
    }

/* Computes the areas of the cells of a grid on a sphere, as float64. Angles are in degrees. `lat` and `lon` are the centres of
 * cells, in one of two forms:
 * - The axes of a regular or Gaussian grid: 1-D, without bounds, or with bounds of shape (n, 2). The result has shape (nlat,
 *   nlon).
 * - One element for each cell: `lat` and `lon` have the same shape, and their bounds have an additional last axis of at least 3
 *   corners. The result has the shape of `lat`.
 *
 * Without bounds, cells end at midpoints between neighbours, and cells of the outermost latitudes extend as far outwards as
 * inwards. Outermost edges beyond latitude 88 degrees are moved to the pole, as in CDO. Longitudes may jump by 360 degrees.
 * Cells that are 180 degrees wide or wider have circles of latitude as edges. A cell that is given by corners may contain a
 * pole. The area is NaN if a coordinate of the cell is not finite.
 *
 * Errors: CUBED_E_ARG if shapes do not fit, if an axis of one element has no bounds, or if `edges` is CUBED_EDGES_LATITUDES for
 * cells with corners. CUBED_E_TYPE unless all arrays have real numbers. A run fails with CUBED_E_ARG if a latitude is not from
 * -90 to 90 or a longitude not from -3600 to 3600, if an axis without bounds is not in order, or if edges cross. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grid_area(cubed_array *lat, cubed_array *lon,
                                                        const cubed_area_options *options,
                                                        cubed_array **out, cubed_error *err);

/* --- Missing elements -------------------------------------------------------------------------------------------- */

typedef struct cubed_fill_options {
    size_t struct_size;
    int neighbours; /* number of elements in a mean, 1 to 64; 1: the nearest element */
    /* true: 1-D latitudes and longitudes describe cells; false: they describe axes */
    bool unstructured;
} cubed_fill_options;
#define CUBED_FILL_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_fill_options), 4, false                                                       \
    }

/* Replaces missing elements of fields by means of the nearest elements of the same field that are not missing, weighted by the
 * inverse of their distance, as CDO's `setmisstodis`, and with one neighbour as `setmisstonn`. The distance is that of a straight
 * line through the sphere. Among equally near elements, the first ones in C order are used.
 *
 * x         fields along the last axes, any number of them. NaN marks missing elements. A task holds whole fields, and 50 bytes
 *           for each cell
 * lat, lon  in degrees: axes of a regular grid, or coordinates of the cells, which have the shape of a field
 *
 * A missing element stays missing if all elements of its field are missing, or if the coordinates of its cell are not finite.
 * Elements of cells whose coordinates are not finite do not contribute to means. The result has the type of x; integers and
 * bools stay as they are.
 *
 * Errors: CUBED_E_ARG if shapes do not fit or `neighbours` is out of range; CUBED_E_TYPE unless all arrays have real numbers. A
 * run fails with CUBED_E_ARG if a latitude is not from -90 to 90 or a longitude not from -3600 to 3600. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fill_missing(cubed_array *x, cubed_array *lat,
                                                           cubed_array *lon,
                                                           const cubed_fill_options *options,
                                                           cubed_array **out, cubed_error *err);

/* --- Statistics ---------------------------------------------------------------------------------------------------- */

/* Statistics of the elements x that are not missing, with weights w. W is the sum of these weights, M the weighted mean. */
typedef enum cubed_field_statistic {
    CUBED_FIELD_MEAN,     /* sum of w x / W */
    CUBED_FIELD_AVG,      /* the mean; NaN if an element is missing */
    CUBED_FIELD_SUM,      /* sum of x without weights; NaN if all elements are missing */
    CUBED_FIELD_INTEGRAL, /* sum of w x; NaN if all elements are missing */
    CUBED_FIELD_MIN,      /* without weights */
    CUBED_FIELD_MAX,      /* without weights */
    CUBED_FIELD_RANGE,    /* the largest element minus the smallest */
    CUBED_FIELD_VAR,      /* sum of w (x - M)^2 / W */
    CUBED_FIELD_VAR1, /* sum of w (x - M)^2 W / (W^2 - sum of w^2); without weights the divisor is n - 1 */
    CUBED_FIELD_STD, /* the square root of VAR */
    CUBED_FIELD_STD1 /* the square root of VAR1 */
} cubed_field_statistic;

typedef struct cubed_field_options {
    size_t struct_size;
    const int *axes; /* NULL: all axes; negative numbers count from the last axis */
    int naxes;
    bool keepdims;
} cubed_field_options;
#define CUBED_FIELD_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_field_options), NULL, 0, false                                                \
    }

/* Reduces x along axes, in float64. The result has x's type if that is a floating-point type; MIN and MAX always keep x's type.
 * Otherwise the result is float64. VAR, VAR1, STD and STD1 read x twice.
 *
 * weights  one for each element along the axes, in the order of `axes`, or an array that broadcasts to x's shape; NULL: 1. An
 *          element whose weight is NaN is left out. SUM, MIN, MAX and RANGE do not accept weights.
 *
 * Errors: CUBED_E_TYPE unless x and weights have real numbers; CUBED_E_AXIS for an axis that x does not have; CUBED_E_ARG for
 * weights of another shape, and for weights of a statistic that does not accept them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_field_reduce(cubed_array *x, cubed_array *weights,
                                                           cubed_field_statistic which,
                                                           const cubed_field_options *options,
                                                           cubed_array **out, cubed_error *err);

/* Computes empirical orthogonal functions (EOFs) of a series of fields, as CDO's `eof`: the n patterns that explain most of the
 * variance about zero. For variances about the mean, pass anomalies. A cell with a missing element in any field is missing in
 * all patterns.
 *
 * weights       weights of the cells, in a shape that broadcasts to the shape of a field (the axes of x except `axis`). They
 *               are divided by their sum over cells that are not missing. NULL: 1
 * axis          axis of the times in x
 * patterns      n fields. For each field, the sum of squares times weights is 1, and the sum of the elements is not negative.
 * variances     n numbers in descending order: the mean squares of the coefficients
 * coefficients  shape (times, n): x is approximately the sum of the coefficients times the patterns
 *
 * Errors: CUBED_E_ARG if n exceeds the number of times or of cells; CUBED_E_TYPE unless x and weights have real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eofs(cubed_array *x, cubed_array *weights, int64_t n,
                                                   int axis, uint64_t task_mem,
                                                   cubed_array **patterns, cubed_array **variances,
                                                   cubed_array **coefficients, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
