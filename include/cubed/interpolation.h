/* Interpolation of images by B-splines: values between elements, and scaled, shifted or rotated images. */
#ifndef CUBED_INTERPOLATION_H
#define CUBED_INTERPOLATION_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of elements beyond the ends of an axis, with the names of scipy.ndimage. */
typedef enum cubed_spline_boundary {
    CUBED_SPLINE_REFLECT, /* d c b a | a b c d | d c b a */
    CUBED_SPLINE_MIRROR,  /* d c b | a b c d | c b a */
    CUBED_SPLINE_NEAREST, /* a a a a | a b c d | d d d d */
    CUBED_SPLINE_WRAP,    /* periodic: the last element is the first of the next period */
    CUBED_SPLINE_CONSTANT, /* positions beyond the ends have `value`, without interpolation towards it */
    CUBED_SPLINE_GRID_WRAP,     /* a b c d | a b c d | a b c d */
    CUBED_SPLINE_GRID_CONSTANT, /* v v v v | a b c d | v v v v */
    CUBED_SPLINE_BOUNDARIES
} cubed_spline_boundary;

typedef struct cubed_spline_options {
    size_t struct_size;
    int order; /* 0 to 5 */
    cubed_spline_boundary boundary;
    double value, imaginary; /* value beyond the ends, and its imaginary part */
    bool prefilter; /* false: x already has spline coefficients, from cubed_spline_filter */
    const cubed_dtype *dtype; /* type of the result; NULL: x's type */
} cubed_spline_options;
#define CUBED_SPLINE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_spline_options), 3, CUBED_SPLINE_CONSTANT, 0.0, 0.0, true, NULL               \
    }

/* Rules for all functions:
 * - They accept numbers and bool. Values are computed in float64. Results of integer types are rounded, halves away from 0, and
 *   limited to the range of the type.
 * - Splines of order 2 and more need coefficients (cubed_spline_filter), which are stored in float64.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_TYPE for times and strings, and for a complex image with a real result type; CUBED_E_ARG for an order or
 * boundary out of range, an image without axes, and an empty image. */

/* Computes the coefficients of the splines through x's elements, along the axes whose bit is set in `axes`. Orders 0 and 1
 * only cast x to the type of the result. The recursive filter is applied as a finite convolution, truncated where its
 * response is less than 2**-60. A block is therefore read with 24 to 50 elements around it. CUBED_E_AXIS for a bit of an axis
 * that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_spline_filter(cubed_array *x, uint32_t axes,
                                                            const cubed_spline_options *options,
                                                            cubed_array **out, cubed_error *err);

/* Maps elements of a result to positions in an image with the same number of axes. */
typedef struct cubed_affine {
    /* matrix: ndim rows of ndim factors; position = matrix * index + offset. factors: if `matrix` is NULL, one factor for each
     * axis; position = (index + offset) * factor. */
    const double *matrix, *factors;
    const double *offset; /* NULL: 0 */
    bool
        centred; /* with `factors`: positions and indices count from the edges of elements, not from their centres */
    uint32_t kept; /* bit d: no interpolation along axis d of x; the nearest element is used */
    const int64_t *shape; /* shape of the result; NULL: x's shape */
} cubed_affine;
/* Computes values of x at the positions of an affine map. A block of the result reads only the part of x that its positions
 * reach. With CUBED_SPLINE_WRAP and CUBED_SPLINE_GRID_WRAP a block that wraps around an axis reads the whole axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_affine_transform(cubed_array *x,
                                                               const cubed_affine *map,
                                                               const cubed_spline_options *options,
                                                               cubed_array **out, cubed_error *err);
/* Computes values of x at coordinates. The first axis of `coordinates` has an element for each axis of x: the position along
 * this axis, a real number. The result has the other axes of `coordinates`. A coordinate of NaN counts as beyond the ends.
 *
 * Because coordinates may be anywhere, each block of the result reads all of x, one chunk after another. CUBED_E_ARG if the
 * first axis has another extent than the number of x's axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_map_coordinates(cubed_array *x,
                                                              cubed_array *coordinates,
                                                              const cubed_spline_options *options,
                                                              cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
