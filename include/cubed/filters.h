/* Filters of images: each element becomes a function of the elements around it. */
#ifndef CUBED_FILTERS_H
#define CUBED_FILTERS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of elements beyond the ends of an axis, with the names of scipy.ndimage. */
typedef enum cubed_filter_boundary {
    CUBED_BOUNDARY_REFLECT,  /* d c b a | a b c d | d c b a */
    CUBED_BOUNDARY_NEAREST,  /* a a a a | a b c d | d d d d */
    CUBED_BOUNDARY_WRAP,     /* a b c d | a b c d | a b c d */
    CUBED_BOUNDARY_CONSTANT, /* v v v v | a b c d | v v v v */
    CUBED_BOUNDARY_MIRROR,   /* d c b | a b c d | c b a */
    CUBED_BOUNDARY_COUNT
} cubed_filter_boundary;

typedef struct cubed_filter_options {
    size_t struct_size;
    cubed_filter_boundary boundary;
    double value; /* value beyond the ends for CUBED_BOUNDARY_CONSTANT */
    /* A boundary for each axis; NULL: `boundary` for all axes. */
    const cubed_filter_boundary *boundaries;
    /* Shift of the box for each axis; NULL: 0. Element number extent / 2 + origin of a box is placed on the filtered element,
     * and must exist. Ignored by functions that have an argument `origin`, or no box. */
    const int64_t *origins;
    const cubed_dtype *dtype; /* type of the result; NULL: x's type */
} cubed_filter_options;
#define CUBED_FILTER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_filter_options), CUBED_BOUNDARY_REFLECT, 0.0, NULL, NULL, NULL                \
    }

/* Rules for all filters:
 * - The result has x's shape, and x's type unless options name another type. It is stored.
 * - Blocks are read with the elements around them, which are part of the projection (the memory bound of a task).
 * - Sums and means are computed in float64 along one axis after another. Between two axes they are stored in the result's type;
 *   integers are truncated as by cubed_astype.
 * - bool is converted to uint8 for filtering, half precision to float32.
 * - If the result has another type than x, or `value` is not of x's type, elements are read as float64.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_TYPE for times and strings; CUBED_E_AXIS for an axis, or a bit of `axes`, that x does not have; CUBED_E_ARG
 * for origins outside a box, and for an unknown boundary. */

/* Smooths x with Gaussians, or computes Gaussian derivatives.
 *
 * sigma     standard deviation in elements for each axis, 0 or more; axes with 0 are not filtered
 * order     order of the derivative for each axis; NULL: 0
 * truncate  number of standard deviations at which Gaussians end; truncate * sigma is less than 2^20 */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_gaussian(cubed_array *x, const double *sigma,
                                                              const int *order, double truncate,
                                                              const cubed_filter_options *options,
                                                              cubed_array **out, cubed_error *err);
/* Correlates x with `n` weights (1 to 2^20) along an axis: each element becomes the weighted sum of its neighbours. Negative
 * axes count from the last. Weight number n / 2 + origin multiplies the element itself and must exist. For a convolution,
 * pass the weights in reverse order. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_filter_correlate1d(cubed_array *x, int axis, const double *weights, int64_t n, int64_t origin,
                         const cubed_filter_options *options, cubed_array **out, cubed_error *err);
/* Correlates x with an array of weights, which has `shape` and x's number of dimensions. Weights with a magnitude of at most
 * 2**-52 count as 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_correlate(cubed_array *x,
                                                               const double *weights,
                                                               const int64_t *shape,
                                                               const cubed_filter_options *options,
                                                               cubed_array **out, cubed_error *err);
/* Computes the mean of a box around each element. `size` has the extent of the box for each axis, at least 1. Element number
 * extent / 2 + origin (options->origins) of the box is placed on the filtered element. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_mean(cubed_array *x, const int64_t *size,
                                                          const cubed_filter_options *options,
                                                          cubed_array **out, cubed_error *err);

/* The element of a box that cubed_filter_rank computes. */
typedef enum cubed_filter_rank_kind {
    CUBED_FILTER_MINIMUM,
    CUBED_FILTER_MEDIAN, /* for an even number of elements, the greater of the two in the middle */
    CUBED_FILTER_MAXIMUM,
    CUBED_FILTER_RANKS
} cubed_filter_rank_kind;
/* Computes the minimum, median or maximum of a box around each element, for real numbers and bool. NaN is greater than all
 * numbers. `size` has the extent of the box for each axis. Element number extent / 2 + origin (options->origins) of the box is
 * placed on the filtered element.
 *
 * footprint  a byte for each element of a box in C order: 0 if the element is ignored. At least one is not 0. NULL: no element
 *            is ignored */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_rank(
    cubed_array *x, cubed_filter_rank_kind kind, const int64_t *size, const uint8_t *footprint,
    const cubed_filter_options *options, cubed_array **out, cubed_error *err);

/* Selects the element of a given rank from a box around each element, among the elements that the footprint does not ignore.
 * `size` and `footprint`: see cubed_filter_rank. Rank 0 is the smallest element; negative ranks count from the greatest, which
 * is -1. CUBED_E_ARG for a rank that the elements do not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_by_rank(cubed_array *x, int64_t rank,
                                                             const int64_t *size,
                                                             const uint8_t *footprint,
                                                             const cubed_filter_options *options,
                                                             cubed_array **out, cubed_error *err);
/* Selects the element at a percentile (-100 to 100; 50 is the median) from a box around each element, among the elements that
 * the footprint does not ignore. `size` and `footprint`: see cubed_filter_rank. Negative percentiles count from 100. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_percentile(
    cubed_array *x, double percentile, const int64_t *size, const uint8_t *footprint,
    const cubed_filter_options *options, cubed_array **out, cubed_error *err);

/* --- Derivatives --------------------------------------------------------------------------------------- */

typedef enum cubed_filter_derivative_kind {
    /* differences along an axis, summed along all other axes with weights 1, 1, 1 */
    CUBED_FILTER_PREWITT,
    /* differences along an axis, summed along all other axes with weights 1, 2, 1 */
    CUBED_FILTER_SOBEL,
    CUBED_FILTER_DERIVATIVES
} cubed_filter_derivative_kind;
/* Computes the derivative `kind` along an axis; negative axes count from the last. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_filter_derivative(cubed_array *x, cubed_filter_derivative_kind kind, int axis,
                        const cubed_filter_options *options, cubed_array **out, cubed_error *err);
/* Computes the sum of second differences along the axes whose bit is set in `axes`. If no bit is set, the result is x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_laplace(cubed_array *x, uint32_t axes,
                                                             const cubed_filter_options *options,
                                                             cubed_array **out, cubed_error *err);
/* Computes the sum of second Gaussian derivatives along the axes whose bit is set in `axes`; other axes are not filtered. The
 * derivative along an axis uses the boundary of that axis for all axes that its Gaussian smooths.
 *
 * sigma     standard deviation in elements for each axis of x, 0 or more
 * truncate  number of standard deviations at which Gaussians end */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_gaussian_laplace(
    cubed_array *x, uint32_t axes, const double *sigma, double truncate,
    const cubed_filter_options *options, cubed_array **out, cubed_error *err);
/* Computes the magnitude of the gradient from first Gaussian derivatives along the axes whose bit is set in `axes`. All axes
 * are smoothed. `sigma` and `truncate`: see cubed_filter_gaussian. CUBED_E_TYPE for results of bool or complex numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_filter_gaussian_gradient(
    cubed_array *x, uint32_t axes, const double *sigma, double truncate,
    const cubed_filter_options *options, cubed_array **out, cubed_error *err);

/* --- Morphology ---------------------------------------------------------------------------------------- */

/* A structuring element: a box and a footprint, which selects elements of the box. */
typedef struct cubed_structure {
    const int64_t *size; /* extent for each axis */
    const uint8_t *
        footprint; /* a byte for each element in C order: 0 if the element is ignored; NULL: no element is ignored */
    /* A number for each element, which dilations add and erosions subtract, in float64. NULL: 0. Must be NULL for binary
     * functions. */
    const double *heights;
} cubed_structure;

/* Functions of morphology. */
typedef enum cubed_morphology {
    CUBED_MORPHOLOGY_EROSION,   /* minimum of elements minus heights */
    CUBED_MORPHOLOGY_DILATION,  /* maximum of elements plus heights, with the structure mirrored */
    CUBED_MORPHOLOGY_OPENING,   /* dilation of the erosion */
    CUBED_MORPHOLOGY_CLOSING,   /* erosion of the dilation */
    CUBED_MORPHOLOGY_GRADIENT,  /* dilation minus erosion */
    CUBED_MORPHOLOGY_LAPLACE,   /* dilation plus erosion minus twice x */
    CUBED_MORPHOLOGY_WHITE_HAT, /* x minus its opening */
    CUBED_MORPHOLOGY_BLACK_HAT, /* closing of x minus x */
    CUBED_MORPHOLOGIES
} cubed_morphology;

/* Applies a function of grey-scale morphology, for real numbers and bool. Differences of integers wrap around. WHITE_HAT and
 * BLACK_HAT of bool are computed as exclusive or; CUBED_E_TYPE for GRADIENT and LAPLACE of bool. `options` are those of
 * filters. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_grey_morphology(cubed_array *x,
                                                              cubed_morphology which,
                                                              const cubed_structure *structure,
                                                              const cubed_filter_options *options,
                                                              cubed_array **out, cubed_error *err);

typedef struct cubed_binary_options {
    size_t struct_size;
    int64_t
        iterations; /* number of repetitions of each erosion and dilation, at least 1; each repetition is stored */
    cubed_array *
        mask; /* array of x's shape: only elements that are not 0 in the mask may change; NULL: all elements */
    bool border;            /* value beyond the ends */
    const int64_t *origins; /* shift of the structure for each axis; NULL: 0 */
} cubed_binary_options;
#define CUBED_BINARY_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_binary_options), 1, NULL, false, NULL                                         \
    }
/* Computes the erosion, dilation, opening or closing of the elements that are not 0, for real numbers and bool. The result is
 * bool.
 *
 * options  NULL: the defaults
 *
 * Errors: CUBED_E_TYPE for other types; CUBED_E_ARG for iterations less than 1, because their number would depend on values. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_binary_morphology(cubed_array *x, cubed_morphology which, const cubed_structure *structure,
                        const cubed_binary_options *options, cubed_array **out, cubed_error *err);
/* Finds the positions at which all elements that `hit` selects are not 0, and all elements that `miss` selects are 0. The
 * result is bool.
 *
 * miss     NULL: all elements of the box of `hit` that its footprint ignores
 * origins  shifts of `hit` and of `miss`; NULL: 0 */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_binary_hit_or_miss(
    cubed_array *x, const cubed_structure *hit, const cubed_structure *miss,
    const int64_t *hit_origins, const int64_t *miss_origins, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
