/* Filters of images: each element becomes a function of the elements around it. */
#ifndef CUBED_FILTERS_H
#define CUBED_FILTERS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements beyond the ends of an axis, by the names of scipy.ndimage. */
typedef enum cubed_filter_boundary {
    CUBED_BOUNDARY_REFLECT,  /* d c b a | a b c d | d c b a */
    CUBED_BOUNDARY_NEAREST,  /* a a a a | a b c d | d d d d */
    CUBED_BOUNDARY_WRAP,     /* a b c d | a b c d | a b c d */
    CUBED_BOUNDARY_CONSTANT, /* v v v v | a b c d | v v v v */
    CUBED_BOUNDARY_COUNT
} cubed_filter_boundary;

typedef struct cubed_filter_options {
    size_t struct_size;
    cubed_filter_boundary boundary;
    double value; /* CUBED_BOUNDARY_CONSTANT */
} cubed_filter_options;
#define CUBED_FILTER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_filter_options), CUBED_BOUNDARY_REFLECT, 0.0                                  \
    }

/* All filters: the result has x's shape and type. Blocks are read with the elements around them, which are part of the
 * projection. Sums and means are computed in float64 along one axis after another and stored in x's type between two axes;
 * integers are truncated as by cubed_astype. bool is filtered as uint8, half precision as float32.
 * Stored.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_TYPE for times and strings; CUBED_E_ARG for a value that x's type does not have, and for a filter that
 * reaches farther than an axis is long. */

/* Smooths x by Gaussians, or takes derivatives of Gaussians.
 *
 * sigma     standard deviation for each axis, 0 or more; axes with 0 stay as they are
 * order     order of the derivative for each axis; NULL: 0
 * truncate  number of standard deviations at which Gaussians end */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_gaussian(cubed_array *x, const double *sigma,
                                                              const int *order, double truncate,
                                                              const cubed_filter_options *options,
                                                              cubed_array **out, cubed_error *err);
/* Correlates x with `n` weights along an axis: each element becomes the weighted sum of its neighbours. Negative axes count
 * from the last. Weight n / 2 + origin multiplies the element itself and must exist. A convolution has the weights in
 * reverse order. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_filter_correlate1d(cubed_array *x, int axis, const double *weights, int64_t n, int64_t origin,
                         const cubed_filter_options *options, cubed_array **out, cubed_error *err);
/* Means of boxes. size has an extent for each axis, at least 1; element extent / 2 of a box is the element itself. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_mean(cubed_array *x, const int64_t *size,
                                                          const cubed_filter_options *options,
                                                          cubed_array **out, cubed_error *err);

typedef enum cubed_filter_rank_kind {
    CUBED_FILTER_MINIMUM,
    CUBED_FILTER_MEDIAN, /* for an even number of elements, the greater of the two in the middle */
    CUBED_FILTER_MAXIMUM,
    CUBED_FILTER_RANKS
} cubed_filter_rank_kind;
/* Minimum, median or maximum of boxes, for real numbers and bool. NaN is greater than all numbers. Boxes are placed as by
 * cubed_filter_mean.
 *
 * footprint  a byte for each element of a box in C order: 0 if the element is ignored. At least one is not 0. NULL: no
 *            element is ignored */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_rank(
    cubed_array *x, cubed_filter_rank_kind kind, const int64_t *size, const uint8_t *footprint,
    const cubed_filter_options *options, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
