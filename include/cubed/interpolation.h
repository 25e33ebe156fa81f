/* Interpolation of images by B-splines: values between elements, and images that are scaled, moved or rotated. */
#ifndef CUBED_INTERPOLATION_H
#define CUBED_INTERPOLATION_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements beyond the ends of an axis, by the names of scipy.ndimage. */
typedef enum cubed_spline_boundary {
    CUBED_SPLINE_REFLECT,   /* d c b a | a b c d | d c b a */
    CUBED_SPLINE_MIRROR,    /* d c b | a b c d | c b a */
    CUBED_SPLINE_NEAREST,   /* a a a a | a b c d | d d d d */
    CUBED_SPLINE_WRAP,      /* periodic: the last element is the first of the next period */
    CUBED_SPLINE_CONSTANT,  /* positions beyond the ends have the value; no position is between */
    CUBED_SPLINE_GRID_WRAP, /* a b c d | a b c d | a b c d */
    CUBED_SPLINE_GRID_CONSTANT, /* v v v v | a b c d | v v v v */
    CUBED_SPLINE_BOUNDARIES
} cubed_spline_boundary;

typedef struct cubed_spline_options {
    size_t struct_size;
    int order; /* 0 to 5 */
    cubed_spline_boundary boundary;
    double value, imaginary; /* element beyond the ends */
    bool prefilter; /* false: x has coefficients of splines, as cubed_spline_filter makes them */
    const cubed_dtype *dtype; /* type of the result; NULL: x's type */
} cubed_spline_options;
#define CUBED_SPLINE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_spline_options), 3, CUBED_SPLINE_CONSTANT, 0.0, 0.0, true, NULL               \
    }

/* All functions: for numbers and bool. Values are computed in float64. Results of integer types are rounded, halves away
 * from 0, and limited to the type. Splines of order 2 and more need coefficients, which are stored in float64.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_TYPE for times and strings, and for a real type of the result of a complex image; CUBED_E_ARG for an order
 * or boundary out of range, an image without axes, and an empty one. */

/* Coefficients of the splines through x's elements along axes: those whose bit is set in `axes`. Orders 0 and 1 return x.
 * The recursive filter is applied as the sum of its response, which ends where it is less than 2**-60: a block is read with
 * 24 to 50 elements around it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_spline_filter(cubed_array *x, uint32_t axes,
                                                            const cubed_spline_options *options,
                                                            cubed_array **out, cubed_error *err);

/* Positions in an image for the elements of a result with as many axes. */
typedef struct cubed_affine {
    /* ndim rows of ndim factors: position = matrix * index + offset. NULL: `factors`, one for each axis: position =
     * (index + offset) * factor. */
    const double *matrix, *factors;
    const double *offset; /* NULL: 0 */
    bool centred;  /* positions of `factors` count from the edges of elements, not from centres */
    uint32_t kept; /* bit d: the nearest element along axis d of x is taken */
    const int64_t *shape; /* shape of the result; NULL: x's shape */
} cubed_affine;
/* Values of x at the positions of an affine map. A block of the result is made of the part of x that it reaches. With
 * CUBED_SPLINE_WRAP and CUBED_SPLINE_GRID_WRAP a block that wraps around an axis needs all of it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_affine_transform(cubed_array *x,
                                                               const cubed_affine *map,
                                                               const cubed_spline_options *options,
                                                               cubed_array **out, cubed_error *err);
/* Values of x at coordinates: an array of real numbers, whose first axis has the position along each axis of x. The result has
 * its other axes. Coordinates may be any arrays: each block of the result reads all of x, one chunk after another. A
 * coordinate of NaN counts as one beyond the ends. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_map_coordinates(cubed_array *x,
                                                              cubed_array *coordinates,
                                                              const cubed_spline_options *options,
                                                              cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
