/* Functions of the Python Array API standard, and of NumPy, that work on whole blocks. All are lazy: they return arrays, which
 * a plan computes. Results of functions on blocks are stored, in chunks that the functions choose. Views and results of
 * elementwise operations, such as cubed_isclose, are not stored.
 *
 * Negative axes count from the last axis. Errors of all functions: CUBED_E_AXIS for an axis that an array does not have,
 * CUBED_E_ARG for an unknown number of an enumeration. */
#ifndef CUBED_ARRAY_API_H
#define CUBED_ARRAY_API_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Sorting ---------------------------------------------------------------------------------------- */

/* Options of cubed_sort_with, which sorts the elements along an axis or gets the int64 positions that sort them. The order:
 * - The order is stable, also if it is descending.
 * - NaN is larger than all numbers, NaT larger than all times. Zeros of either sign are equal.
 * - Complex numbers are ordered by real parts, then by imaginary parts; strings by bytes or code points.
 *
 * A task sorts a block that holds the whole axis. It needs three times the memory of the block's elements. A longer axis is
 * sorted in parts, which are then merged. Each merge reads and writes every element once. */
typedef struct cubed_sort_options {
    size_t struct_size;
    bool descending;
    /* return the positions that sort the elements, instead of the elements (argsort) */
    bool positions;
    uint64_t task_mem; /* bytes that tasks may use (allowed_mem without reserved_mem); 0: unknown */
} cubed_sort_options;
#define CUBED_SORT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_sort_options), false, false, 0                                                \
    }
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sort_with(cubed_array *x, int axis,
                                                        const cubed_sort_options *options,
                                                        cubed_array **out, cubed_error *err);
/* Sort the elements along an axis, or get the int64 positions that sort them, with a `task_mem` of 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sort(cubed_array *x, int axis, bool descending,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argsort(cubed_array *x, int axis, bool descending,
                                                      cubed_array **out, cubed_error *err);

/* Gets the k largest elements along an axis, in descending order. A negative k gets the -k smallest elements, in ascending
 * order. The result has at most as many elements as the axis. NaN counts as the largest number. If the axis has chunks of 2 * k
 * elements or more, each chunk is sorted alone. Then the k candidates of all chunks are sorted.
 *
 * positions  gets the int64 positions of these elements instead of the elements
 * task_mem   bytes that tasks may use; 0: unknown */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_topk(cubed_array *x, int64_t k, int axis,
                                                   bool positions, uint64_t task_mem,
                                                   cubed_array **out, cubed_error *err);
/* Gets the int64 positions that sort elements along an axis by several keys. keys[n - 1] is the primary key; elements with
 * equal keys are sorted by keys[n - 2], and so on. All keys have the same shape; their types may differ. `task_mem` is the
 * number of bytes that tasks may use; 0: unknown. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lexsort(cubed_array *const *keys, int n, int axis,
                                                      uint64_t task_mem, cubed_array **out,
                                                      cubed_error *err);

/* --- Choices ---------------------------------------------------------------------------------------- */

/* Effect of an element of `numbers` outside 0 to n - 1 (cubed_choose). */
typedef enum cubed_choose_mode {
    CUBED_CHOOSE_RAISE, /* the run fails with CUBED_E_INDEX */
    CUBED_CHOOSE_WRAP,  /* the number is taken modulo n */
    CUBED_CHOOSE_CLIP   /* the number is clipped to the nearest choice */
} cubed_choose_mode;
/* Gets each element from one of n arrays (`choices`), n >= 1. `numbers` gives the number of the choice for each element: an
 * integer or bool, 0 to n - 1. All arrays are broadcast, and choices are promoted.
 *
 * Errors: CUBED_E_TYPE if `numbers` has another type, or the choices have no common type; CUBED_E_ARG if the shapes do not
 * broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_choose(cubed_array *numbers,
                                                     cubed_array *const *choices, int n,
                                                     cubed_choose_mode mode, cubed_array **out,
                                                     cubed_error *err);
/* Gets each element from choices[i], where conditions[i] is the first of n conditions, n >= 1, that is true at the element. If
 * no condition is true, the element is that of `fallback`. All arrays are broadcast, and choices are promoted. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_select(cubed_array *const *conditions,
                                                     cubed_array *const *choices, int n,
                                                     cubed_array *fallback, cubed_array **out,
                                                     cubed_error *err);

/* --- Manipulation and differences ------------------------------------------------------------------- */

/* Moves axes sources[i] to destinations[i], for n pairs; the other axes keep their order in the remaining positions. A view. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_moveaxis(cubed_array *x, const int *sources,
                                                       const int *destinations, int n,
                                                       cubed_array **out, cubed_error *err);
/* Repeats x repetitions[i] times along each axis. If n differs from the number of x's dimensions, the shorter one of x's shape
 * and `repetitions` is extended by ones at its front. For more than 16 repetitions along an axis, the
 * function reshapes x, and may first store it with other chunks (cubed_reshape). CUBED_E_ARG for a negative number,
 * CUBED_E_UNSUPPORTED for more than CUBED_MAX_NDIM repetitions. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tile(cubed_array *x, const int64_t *repetitions,
                                                   int n, cubed_array **out, cubed_error *err);
/* Computes the n-th differences of neighbouring elements along an axis. For bools, a difference is true if the neighbours
 * differ. If n is 0, the result is x itself. CUBED_E_ARG for a negative n. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_diff(cubed_array *x, int axis, int64_t n,
                                                   cubed_array **out, cubed_error *err);

/* Computes the differences of neighbours of x, flattened. The elements of `to_begin` are prepended to the result and those of
 * `to_end` appended, cast to x's type; NULL adds nothing. CUBED_E_TYPE if x's type cannot hold the added elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ediff1d(cubed_array *x, cubed_array *to_begin,
                                                      cubed_array *to_end, cubed_array **out,
                                                      cubed_error *err);
/* Integrates y along an axis by the trapezoidal rule.
 *
 * x   sample points: an array of y's shape, or 1-D along the axis; NULL: the points are `dx` apart
 * dx  distance between the points if x is NULL: a number, or an array that broadcasts with the trapezoids; NULL: 1 */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_trapezoid(cubed_array *y, cubed_array *x,
                                                        cubed_array *dx, int axis,
                                                        cubed_array **out, cubed_error *err);
/* Computes derivatives along an axis by differences of second order in the interior and of edge_order (1 or 2) at the ends.
 *
 * spacing  distance between neighbouring elements (0-d; NULL: 1), or the 1-D coordinates of the elements along the axis
 *
 * The result has f's shape and type; integers give float64, dates give differences of times. CUBED_E_ARG for an axis of fewer
 * than edge_order + 1 elements, for another edge_order, and for coordinates of another length than the axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_gradient(cubed_array *f, cubed_array *spacing,
                                                       int axis, int edge_order, cubed_array **out,
                                                       cubed_error *err);
/* Shifts in the result of cubed_convolve and cubed_correlate, for vectors of m and n elements, m >= n. */
typedef enum cubed_convolve_mode {
    CUBED_CONVOLVE_FULL, /* all m + n - 1 shifts at which the vectors overlap */
    CUBED_CONVOLVE_SAME, /* the m shifts in the middle */
    CUBED_CONVOLVE_VALID /* the shifts at which the shorter vector overlaps completely */
} cubed_convolve_mode;
/* Compute sums of products of two vectors that are shifted against each other: with v reversed (convolve), or with the
 * conjugate of v (correlate). A 0-d array is a vector of one element. The result has the type that both promote to.
 *
 * The longer vector is read once for each element of the shorter vector, which has at most 16,384 elements. If some elements of
 * the shorter vector are not known to be finite, products with the padding are excluded from the sums, because 0 * infinity is
 * NaN. The ends of the result then cost several times as much time. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_convolve(cubed_array *a, cubed_array *v,
                                                       cubed_convolve_mode mode, cubed_array **out,
                                                       cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_correlate(cubed_array *a, cubed_array *v,
                                                        cubed_convolve_mode mode, cubed_array **out,
                                                        cubed_error *err);
/* Rounds to the nearest multiple of 10**-decimals, halves to the even multiple. The result has x's type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_round(cubed_array *x, int decimals, cubed_array **out,
                                                    cubed_error *err);

/* Unwraps angles along an axis: subtracts whole periods, so that no angle is more than half a period from the angle before it.
 * Steps of less than `discont` (NULL: half a period) do not change. `period` and `discont` are constant real numbers (0-d,
 * cubed_array_full), else CUBED_E_ARG. If p and `period` are integers, the result is int64. Otherwise integers and bools count
 * as float64, and the result has the type that p and `period` promote to. CUBED_E_TYPE unless p has real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unwrap(cubed_array *p, cubed_array *period,
                                                     cubed_array *discont, int axis,
                                                     cubed_array **out, cubed_error *err);

/* --- Pieces and axes ---------------------------------------------------------------------------------- */

/* Splits x along an axis into n pieces. Piece i has the elements from bounds[i] up to, but not including, bounds[i + 1], so
 * `bounds` has n + 1 entries. Bounds are as in Python's slices: negative bounds count from the end, and bounds beyond the axis
 * are clipped to it. out[n] receives views. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_split(cubed_array *x, int axis, const int64_t *bounds,
                                                    int n, cubed_array **out, cubed_error *err);
/* Splits x into one array for each element along an axis, without the axis. `out` must have room for one array per element of
 * the axis. The arrays are views. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unstack(cubed_array *x, int axis, cubed_array **out,
                                                      cubed_error *err);
/* Broadcasts n arrays to one shape; each keeps its type. out[n] are views. CUBED_E_ARG if their shapes do not broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_broadcast_arrays(cubed_array *const *x, int n,
                                                               cubed_array **out, cubed_error *err);
/* Adds axes of extent 1 until x has at least `least` axes (1 to 3). The result is a view. A vector of n elements becomes 1 x n
 * or 1 x n x 1; a matrix of m x n becomes m x n x 1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_atleast(cubed_array *x, int least, cubed_array **out,
                                                      cubed_error *err);
/* Gets the k-th diagonal of a matrix (k > 0: to the right of the main diagonal). For a vector, creates the matrix with the
 * vector on this diagonal and zeros elsewhere. CUBED_E_ARG for other numbers of axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_diag(cubed_array *x, int64_t k, cubed_array **out,
                                                   cubed_error *err);
/* Changes the shape of x, whose elements keep their C order. If the new shape has more elements, x's elements are repeated; if
 * it has fewer, the remaining elements are dropped. If x has no elements, the result is zeros. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_resize(cubed_array *x, int ndim, const int64_t *shape,
                                                     cubed_array **out, cubed_error *err);
/* Removes the elements at n positions along an axis. Negative positions count from the end, and equal ones count once.
 * CUBED_E_INDEX for a position beyond the axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_delete(cubed_array *x, const int64_t *positions,
                                                     int64_t n, int axis, cubed_array **out,
                                                     cubed_error *err);
/* Inserts values, which are cast to x's type and broadcast, before the elements at n positions along an axis. Positions
 * refer to x: negative positions count from the end, and x's extent is the position after the last element. A single position
 * receives all values along the axis. CUBED_E_INDEX for a position beyond the axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_insert(cubed_array *x, const int64_t *positions,
                                                     int64_t n, cubed_array *values, int axis,
                                                     cubed_array **out, cubed_error *err);

/* --- Positions -------------------------------------------------------------------------------------- */

/* Return the int64 position of the smallest (largest) element that is not NaN along *axis. If `axis` is NULL, positions count
 * the elements of the whole array in C order. If several elements are equal, the result is the position of the first one.
 * CUBED_E_ARG if there are no elements; a run fails with CUBED_E_ARG if all elements are NaN. For types with NaN the result is
 * stored. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nanargmin(cubed_array *x, const int *axis,
                                                        bool keepdims, cubed_array **out,
                                                        cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nanargmax(cubed_array *x, const int *axis,
                                                        bool keepdims, cubed_array **out,
                                                        cubed_error *err);

/* --- Order statistics ------------------------------------------------------------------------------- */

/* Definition of a quantile between two elements (cubed/quantiles.def). */
typedef enum cubed_quantile_method {
#define CUBED_QUANTILE(NAME, name, number, discrete) CUBED_QUANTILE_##NAME = (number),
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
    CUBED_QUANTILE_METHOD_COUNT
} cubed_quantile_method;
/* Looks up a method by NumPy's name. Returns false if no method has that name. */
CUBED_API bool cubed_quantile_method_parse(const char *name, cubed_quantile_method *method);

typedef struct cubed_quantile_options {
    size_t struct_size;
    const int *
        axes; /* axes to reduce, each at most once; negative numbers count from the last axis; NULL: all axes */
    int naxes;
    bool keepdims;
    /* True: missing elements (NaN) are skipped; false: one NaN makes the result NaN. */
    bool skip_nan;
    cubed_quantile_method method;
    /* Bytes that tasks may use (allowed_mem without reserved_mem); 0: unknown. It selects the algorithm:
     * - If the elements of one result need at most a quarter of task_mem, and at most 256 MiB (32 MiB if task_mem is unknown),
     *   a task reads these elements together. It needs about three times their size.
     * - Otherwise x is read once for every 4 to 16 bits of its element type, depending on the memory for counts. */
    uint64_t task_mem;
} cubed_quantile_options;
#define CUBED_QUANTILE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_quantile_options), NULL, 0, false, false, CUBED_QUANTILE_LINEAR, 0            \
    }

/* Computes the exact quantiles q[0..n), each from 0 to 1, of real numbers or times. The result has an axis of n elements in
 * front of the remaining axes.
 *
 * Real numbers: the result is float64; discrete methods keep x's type. The quantile of no elements is NaN. Zeros of either sign
 * are equal: the result has +0.
 *
 * Times: the methods are the discrete ones, and "linear", which truncates the distance between the quantile and the nearer
 * element. NaT among the elements gives NaT. With skip_nan, missing times are skipped, the result is NaT if all are missing,
 * and the lines along the reduced axes are sorted (cubed_sort_with).
 *
 * Errors: CUBED_E_ARG for a q out of range, and for times without elements; CUBED_E_TYPE for skip_nan of times with a method
 * other than "linear", "lower", "higher" and "nearest". */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_quantiles(cubed_array *x, const double *q, int n,
                                                        const cubed_quantile_options *options,
                                                        cubed_array **out, cubed_error *err);
/* Computes one exact quantile q, from 0 to 1, of real numbers or times. The result has the remaining axes only. It has x's
 * type if that is a floating-point type, and otherwise the type of cubed_quantiles. Options and errors: see cubed_quantiles. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_quantile(cubed_array *x, double q,
                                                       const cubed_quantile_options *options,
                                                       cubed_array **out, cubed_error *err);

/* Computes the quantiles q[0..n) of weighted elements. A quantile is the smallest element with a positive weight for which the
 * weights of all elements up to it sum to at least q times the total weight. `options->method` must be
 * CUBED_QUANTILE_INVERTED_CDF. The result has x's type, and an axis of n elements in front.
 *
 * weights  real numbers of x's shape, or of the shape of the reduced axes; with skip_nan the weights of NaN are ignored
 *
 * All elements of a result are sorted together (cubed_sort_with).
 *
 * Errors: CUBED_E_ARG for another method, a q out of range, weights of another shape, and no elements; a run fails with
 * CUBED_E_ARG if a weight is negative or not finite, or if all weights of one result are 0. CUBED_E_TYPE for weights that are
 * not real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weighted_quantiles(
    cubed_array *x, cubed_array *weights, const double *q, int n,
    const cubed_quantile_options *options, cubed_array **out, cubed_error *err);

/* Computes the median: the quantile of 0.5 by the method "linear", the mean of the two middle elements. `options->method` is
 * ignored. Real numbers: see cubed_quantile. Differences of times give a truncated result; NaT gives NaT, with skip_nan only if
 * all elements are NaT. Complex numbers are ordered by real parts first, and the lines along the reduced axes are sorted
 * (cubed_sort_with). CUBED_E_TYPE for dates. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_median(cubed_array *x,
                                                     const cubed_quantile_options *options,
                                                     cubed_array **out, cubed_error *err);
/* Computes the median of real numbers with weights: the smallest element for which the weights of all elements up to it sum to
 * more than half of the total weight. If the sum at an element is exactly half, the result is the mean of this element and the
 * next one. So equal weights give cubed_median. The result has the type of cubed_median.
 *
 * weights  real numbers of x's shape, or of the shape of the reduced axes
 *
 * Errors: CUBED_E_ARG for weights of another shape, and no elements; a run fails with CUBED_E_ARG if a weight is negative or
 * not finite, or if all weights of one result are 0. CUBED_E_TYPE unless x and weights have real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weighted_median(cubed_array *x, cubed_array *weights,
                                                              const cubed_quantile_options *options,
                                                              cubed_array **out, cubed_error *err);

/* --- Covariances ------------------------------------------------------------------------------------- */

typedef struct cubed_cov_options {
    size_t struct_size;
    /* The divisor is the number of observations, or the sum of the weights, minus ddof; at least 0. */
    double ddof;
    /* For each observation (column of x): number of repetitions (fweights, integers), and weight (aweights). 1-D; NULL: 1. */
    cubed_array *fweights, *aweights;
} cubed_cov_options;
#define CUBED_COV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_cov_options), 1, NULL, NULL                                                   \
    }

/* Computes the covariance matrix of variables, which are the rows of x; one row gives one number. The result has x's type,
 * float64 for integers, and at least double precision with weights. CUBED_E_ARG for more than two axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cov(cubed_array *x, const cubed_cov_options *options,
                                                  cubed_array **out, cubed_error *err);
/* Computes Pearson's correlation coefficients: covariances divided by the square roots of their diagonal. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_corrcoef(cubed_array *x, cubed_array **out,
                                                       cubed_error *err);

/* --- Ranges and weighted means ------------------------------------------------------------------------ */

/* Computes the largest element minus the smallest over `options->axes` (options NULL: all axes). The result for dates is a
 * time difference. CUBED_E_ARG if there are no elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ptp(cubed_array *x,
                                                  const cubed_reduce_options *options,
                                                  cubed_array **out, cubed_error *err);
/* Computes the weighted mean over `options->axes` (options NULL: all axes). The result has the type that both operands promote
 * to; integers give float64. If the weights have the sum 0, the result is NaN or infinity.
 *
 * weights  of x's shape, or one for each element along the reduced axes, in their order; NULL: all weights are 1
 * total    receives the sums of the weights; may be NULL */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_average(cubed_array *x, cubed_array *weights,
                                                      const cubed_reduce_options *options,
                                                      cubed_array **out, cubed_array **total,
                                                      cubed_error *err);

typedef struct cubed_weighted_options {
    size_t struct_size;
    const int *axes; /* NULL: all axes; negative numbers count from the last axis */
    int naxes;
    bool keepdims;
    bool skip_nan; /* true: elements that are NaN are skipped, with their weights */
    /* The divisor of var and std is W - correction * (sum of w^2) / W, at least 0; W is the sum of the weights w. With a
     * correction of 1, the variance equals cubed_cov with aweights. */
    double correction;
    cubed_array *
        where; /* bools that broadcast to x's shape: true for the elements to include; NULL: all elements */
} cubed_weighted_options;
#define CUBED_WEIGHTED_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_weighted_options), NULL, 0, false, false, 0.0, NULL                           \
    }
/* Computes CUBED_REDUCE_MEAN, CUBED_REDUCE_VAR or CUBED_REDUCE_STD of elements with weights, in double precision. The result
 * has the type that both operands promote to, float64 for integers. Variances of complex numbers are real: the sums of the
 * variances of both parts. If the weights have the sum 0, the result is NaN.
 *
 * weights  real numbers of x's shape, or one for each element along the reduced axes, in their order
 *
 * Errors: CUBED_E_TYPE unless x has numbers, weights have real numbers and `where` has bools; CUBED_E_ARG for another reduction
 * or weights of another shape; CUBED_E_AXIS for an axis that x does not have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weighted_reduce(cubed_reduction reduction,
                                                              cubed_array *x, cubed_array *weights,
                                                              const cubed_weighted_options *options,
                                                              cubed_array **out, cubed_error *err);

/* --- Close, missing and infinite numbers -------------------------------------------------------------- */

typedef struct cubed_close_options {
    size_t struct_size;
    double rtol, atol;
    bool equal_nan; /* count NaN as close to NaN */
    /* |b| if b is a number without a precision, such as a literal in a program, which is passed as a 0-d array in a's
     * precision. The tolerance is then computed from this |b| in double precision and rounded once. NULL: b is an array with
     * its own precision. */
    const double *magnitude;
} cubed_close_options;
#define CUBED_CLOSE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_close_options), 1e-5, 1e-8, false, NULL                                       \
    }

/* Computes, as bool, whether |a - b| <= atol + rtol * |b|; an infinity is close only to an equal infinity. CUBED_E_TYPE
 * unless both are numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isclose(cubed_array *a, cubed_array *b,
                                                      const cubed_close_options *options,
                                                      cubed_array **out, cubed_error *err);
/* Computes, as a 0-d bool, whether |a - b| <= atol + rtol * |b| for all elements. Options and errors: see cubed_isclose. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_allclose(cubed_array *a, cubed_array *b,
                                                       const cubed_close_options *options,
                                                       cubed_array **out, cubed_error *err);
/* Replaces NaN, infinity and minus infinity by numbers, also in the parts of complex numbers. Arrays of other types are
 * returned unchanged.
 *
 * nan     replaces NaN; NULL: 0
 * posinf  replaces infinity; NULL: the largest number of x's type
 * neginf  replaces minus infinity, cast to x's type; NULL: the smallest number of x's type
 *
 * The replacements broadcast; `nan` and `posinf` are promoted as in CUBED_OP_WHERE. CUBED_E_TYPE if `neginf` is complex. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nan_to_num(cubed_array *x, cubed_array *nan,
                                                         cubed_array *posinf, cubed_array *neginf,
                                                         cubed_array **out, cubed_error *err);

/* --- Angles, extremes and parts of numbers ------------------------------------------------------------ */

/* Convert degrees to radians, and back. Integers give float64. CUBED_E_TYPE unless x has real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_deg2rad(cubed_array *x, cubed_array **out,
                                                      cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rad2deg(cubed_array *x, cubed_array **out,
                                                      cubed_error *err);
/* Computes the angles of complex numbers in radians or degrees; CUBED_E_TYPE unless x has numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_angle(cubed_array *x, bool degrees, cubed_array **out,
                                                    cubed_error *err);
/* Computes sin(pi x) / (pi x), which is 1 at 0, as floats. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sinc(cubed_array *x, cubed_array **out,
                                                   cubed_error *err);
/* Computes 2 to the power of x, as floats. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_exp2(cubed_array *x, cubed_array **out,
                                                   cubed_error *err);
/* Compute absolute values (fabs), and the nearest whole numbers, halves to even (rint), as floats. CUBED_E_TYPE for
 * cubed_fabs of complex numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fabs(cubed_array *x, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rint(cubed_array *x, cubed_array **out,
                                                   cubed_error *err);
/* Compute the larger and the smaller of two elements. If one element is NaN, the result is the other element. Complex numbers
 * are ordered by their real parts, then by their imaginary parts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fmax(cubed_array *x1, cubed_array *x2,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fmin(cubed_array *x1, cubed_array *x2,
                                                   cubed_array **out, cubed_error *err);
/* Compute, as bool, which elements are infinity (isposinf), or minus infinity (isneginf). CUBED_E_TYPE for complex numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isposinf(cubed_array *x, cubed_array **out,
                                                       cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isneginf(cubed_array *x, cubed_array **out,
                                                       cubed_error *err);
/* Compute, as bool, which elements have an imaginary part of 0 (isreal), or one that is not 0 (iscomplex). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isreal(cubed_array *x, cubed_array **out,
                                                     cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_iscomplex(cubed_array *x, cubed_array **out,
                                                        cubed_error *err);
/* Computes which dates and times are "not a time"; CUBED_E_TYPE for other types. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isnat(cubed_array *x, cubed_array **out,
                                                    cubed_error *err);

/* --- Grids -------------------------------------------------------------------------------------------- */

/* Flags of cubed_meshgrid. */
#define CUBED_MESHGRID_SWAPPED 1u /* array 0 is along axis 1, and array 1 along axis 0 */
#define CUBED_MESHGRID_SPARSE  2u /* results have one element along the other axes */
/* Creates coordinate arrays of a grid from the coordinates of its n axes. out[n] receives views of the shape of the grid. A 0-d
 * array is an axis of extent 1, and an array of several axes is flattened, as in NumPy. CUBED_E_ARG for unknown flags,
 * CUBED_E_UNSUPPORTED for more than CUBED_MAX_NDIM axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_meshgrid(cubed_array *const *x, int n, unsigned flags,
                                                       cubed_array **out, cubed_error *err);
/* Create an array for each axis of a shape: the positions of elements along the axis. out[ndim] have that shape (cubed_indices),
 * or one element along the other axes (cubed_indices_sparse). `chunks` NULL: automatic. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_indices(cubed_context *ctx, int ndim,
                                                      const int64_t *shape, const int64_t *chunks,
                                                      cubed_dtype dtype, cubed_array **out,
                                                      cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_indices_sparse(cubed_context *ctx, int ndim,
                                                             const int64_t *shape,
                                                             cubed_dtype dtype, cubed_array **out,
                                                             cubed_error *err);
/* Creates the row numbers (out[0]) and column numbers (out[1]) of the elements in the lower or upper triangle of a matrix, as
 * int64. The triangle includes the k-th diagonal (k > 0: to the right of the main diagonal). A task holds a number for each row
 * of the matrix. `chunk` NULL: automatic. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_triangle_indices(cubed_context *ctx, int64_t rows,
                                                               int64_t columns, int64_t k,
                                                               bool upper, const int64_t *chunk,
                                                               cubed_array **out, cubed_error *err);
/* Effect of a position that is out of range along its axis. */
typedef enum cubed_bounds_mode {
    CUBED_BOUNDS_UNCHECKED,
    CUBED_BOUNDS_WRAP, /* the position is taken modulo the extent */
    CUBED_BOUNDS_CLIP, /* the position is clipped to the first or last */
    CUBED_BOUNDS_MODE_COUNT
} cubed_bounds_mode;
/* Computes int64 positions in a flattened array from positions x[n] along each of its n axes, n >= 1. The arrays have integers
 * and broadcast. modes[n] is the effect of positions beyond each axis. The flattened array is in C order, or in Fortran order
 * (the first axis varies fastest) if `first_fastest` is true.
 *
 * Errors: CUBED_E_TYPE unless x has integers; CUBED_E_ARG for a shape of 2**63 elements or more. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ravel_multi_index(
    cubed_array *const *x, int n, const int64_t *shape, const cubed_bounds_mode *modes,
    bool first_fastest, cubed_array **out, cubed_error *err);
/* Computes positions along the n axes of a shape from positions x in the flattened array: out[n], int64. The array is
 * flattened in C order, or in Fortran order if `first_fastest` is set. Positions beyond the shape are not checked.
 * CUBED_E_TYPE unless x has integers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unravel_index(cubed_array *x, int n,
                                                            const int64_t *shape,
                                                            bool first_fastest, cubed_array **out,
                                                            cubed_error *err);

typedef struct cubed_spaced_options {
    size_t struct_size;
    int64_t num;   /* number of elements along the new axis */
    bool endpoint; /* the last number is `stop` */
    /* true: a geometric series (the quotients of adjacent numbers are equal); false: the differences are equal */
    bool geometric;
    int axis; /* position of the new axis in the result */
    const cubed_dtype *
        dtype; /* type of the result; for an integer type, numbers in equal steps are rounded down. NULL: the type of the
                * computation */
} cubed_spaced_options;
#define CUBED_SPACED_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_spaced_options), 50, true, false, 0, NULL                                     \
    }
/* Creates series of `num` numbers between the elements of two arrays, along a new axis. The arrays broadcast. Integers count as
 * float64; geometric series have at least the type float64 or complex128. A geometric series is NaN if one of its ends is 0.
 * CUBED_E_ARG if `num` is negative. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_spaced(cubed_array *start, cubed_array *stop,
                                                     const cubed_spaced_options *options,
                                                     cubed_array **out, cubed_error *err);

/* --- Elements around an array ------------------------------------------------------------------------- */

/* Elements that pad an array, with NumPy's names (cubed/pads.def).
 *
 * CONSTANT                        cubed_pad_options.constant_values
 * EDGE                            the nearest element
 * EMPTY                           zeros
 * LINEAR_RAMP                     a ramp from the nearest element to cubed_pad_options.end_values
 * MAXIMUM, MEAN, MEDIAN, MINIMUM  this statistic of the elements along the axis
 * REFLECT, SYMMETRIC              the elements, mirrored without (REFLECT) or with (SYMMETRIC) the element at the edge
 * WRAP                            the elements, continued periodically */
typedef enum cubed_pad_mode {
#define CUBED_PAD(NAME, name, number) CUBED_PAD_##NAME = (number),
#include "cubed/pads.def"
#undef CUBED_PAD
    CUBED_PAD_MODE_COUNT
} cubed_pad_mode;
/* Looks up a mode by NumPy's name. Returns false if no mode has that name. */
CUBED_API bool cubed_pad_mode_parse(const char *name, cubed_pad_mode *mode);

/* Options for each axis: [axis][0] before its first element, [axis][1] after its last. */
typedef struct cubed_pad_options {
    size_t struct_size;
    cubed_pad_mode mode;
    const cubed_scalar (*constant_values)[2]; /* constants, as elements of x's type; NULL: 0 */
    /* Values at the ends of ramps: float64, or complex128 if x is complex. NULL: 0 */
    const cubed_scalar (*end_values)[2];
    const int64_t (*stat_length)[2]; /* number of elements of each statistic; -1 or NULL: all */
    uint64_t task_mem;               /* memory of a task for medians: see cubed_quantile_options */
    /* Replaces constant_values if x has bytes or strings: elements as in cubed_array_full_text. NULL: empty strings */
    const void *const (*constant_texts)[2];
} cubed_pad_options;
#define CUBED_PAD_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_pad_options), CUBED_PAD_CONSTANT, NULL, NULL, NULL, 0, NULL                   \
    }

/* Pads x with before[ndim] and after[ndim] elements, which options->mode selects, one axis after another. The result has x's
 * type. Means, medians and ramps of integers are rounded, ramps downwards.
 *
 * Errors: CUBED_E_ARG for a negative width, and for an axis without elements if the mode needs one; CUBED_E_TYPE if the mode
 * is not defined for x's type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pad_with(cubed_array *x, const int64_t *before,
                                                       const int64_t *after,
                                                       const cubed_pad_options *options,
                                                       cubed_array **out, cubed_error *err);

/* --- Counts of values --------------------------------------------------------------------------------- */

/* Counts the real numbers from edges[i] up to edges[i + 1] for each of `bins` bins (1 to 2**31 - 1), as int64. Only the last
 * bin includes its upper edge. `edges` has bins + 1 numbers, which may be equal but must not descend (CUBED_E_ARG). NaN and
 * numbers outside of the edges are not counted. Numbers are compared as float64. Reads x once.
 *
 * weights  of x's shape: the result is then the sums of the weights, in their type (bool: int64), computed in int64, uint64
 *          or float64. NULL: counts */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_histogram(cubed_array *x, const double *edges,
                                                        int64_t bins, cubed_array *weights,
                                                        cubed_array **out, cubed_error *err);
/* Counts, for each i from 0 to length - 1, the elements of x (integers or bools) that equal i, as int64. With `weights`
 * (NULL: none), sums the weights of these elements instead, as float64. A run fails with CUBED_E_ARG if an element is
 * negative or not less than `length`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_bincount(cubed_array *x, int64_t length,
                                                       cubed_array *weights, cubed_array **out,
                                                       cubed_error *err);

/* --- Linear algebra --------------------------------------------------------------------------------- */

/* Rules for all products:
 * - Operands are promoted to a common type, which is the result's type.
 * - Integers wrap. Bools are multiplied by "and", and summed by "or".
 * - Products of matrices are computed block by block: the blocks along the summed axes are added in order.
 * - Floats of less than 64 bits are summed in their own type; in float64 if one operand has no axes except the summed ones.
 * - CUBED_E_ARG if extents do not agree, CUBED_E_TYPE for types without products. */

/* Multiplies the matrices in the last two axes; the other axes broadcast. A vector on the left or right is one row or one
 * column, and its axis is not in the result. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matmul(cubed_array *x1, cubed_array *x2,
                                                     cubed_array **out, cubed_error *err);
/* Sums products over naxes pairs of axes: axes1[i] of x1 with axes2[i] of x2. The result has the other axes of x1, then those
 * of x2. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensordot(cubed_array *x1, cubed_array *x2,
                                                        const int *axes1, const int *axes2,
                                                        int naxes, cubed_array **out,
                                                        cubed_error *err);
/* Subscripts of cubed_einsum, as in NumPy: "ij,jk->ik" is the product of two matrices.
 * - Letters name indices. Each of n operands has a letter for each axis; operands are separated by commas.
 * - "..." represents axes that broadcast.
 * - The letters of the result follow "->". Without "->" the result has the letters that occur once, in alphabetical order.
 * - A letter that occurs twice in an operand takes its diagonal.
 * - Axes of extent 1 broadcast. */
#define CUBED_EINSUM_MAX_OPERANDS 64
typedef struct cubed_einsum_options {
    size_t struct_size;
    const cubed_dtype *
        dtype; /* type of products, sums and the result; NULL: the type that all operands promote to */
    /* Multiplies from left to right. If false, each step chooses a pair of operands, if possible a pair that shares an index.
     * The choice minimises the number of elements of the product minus those of both operands. */
    bool in_order;
    /* For each step, the operands that it multiplies: bit k is set for operand number k. The product becomes the last operand.
     * NULL: one step multiplies all operands. */
    const uint64_t *steps;
    int nsteps;
} cubed_einsum_options;
#define CUBED_EINSUM_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_einsum_options), NULL, false, NULL, 0                                         \
    }
/* Sums products of n operands (1 to 64) over the indices that `subscripts` names. `options` may be NULL. CUBED_E_ARG for
 * subscripts that do not fit the operands. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_einsum(const char *subscripts,
                                                     cubed_array *const *operands, int n,
                                                     const cubed_einsum_options *options,
                                                     cubed_array **out, cubed_error *err);
/* Sums conj(x1) * x2 over an axis of both, which counts from the end (-1: the last; CUBED_E_AXIS for 0 or more); the other
 * axes broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_vecdot(cubed_array *x1, cubed_array *x2, int axis,
                                                     cubed_array **out, cubed_error *err);

/* Returns x if every element of `holds`, a bool array of x's shape, is true. Otherwise the run fails with CUBED_E_ARG and
 * `message`, followed by the position of the first false element. CUBED_E_ARG if `holds` has another type or shape, or if
 * `message` has more than 199 bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_require(cubed_array *x, cubed_array *holds,
                                                      const char *message, cubed_array **out,
                                                      cubed_error *err);

/* Computes cross products of vectors of 3 elements along an axis of both, which counts from the end (-1: the last;
 * CUBED_E_AXIS for 0 or more). CUBED_E_ARG for vectors of another length. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cross(cubed_array *x1, cubed_array *x2, int axis,
                                                    cubed_array **out, cubed_error *err);
/* Computes the matrix of all products of the elements of two vectors. CUBED_E_ARG unless both have one axis. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_outer(cubed_array *x1, cubed_array *x2,
                                                    cubed_array **out, cubed_error *err);
/* Exchanges the last two axes: a view. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_transpose(cubed_array *x, cubed_array **out,
                                                               cubed_error *err);
/* Get the diagonal of the matrices in the last two axes (cubed_diagonal), or its sum (cubed_trace). `offset` is the number of
 * the diagonal, counted to the right from the main diagonal. *dtype is the type of the sum; NULL: the type that cubed_reduce
 * chooses. Only chunks that the diagonal crosses are read. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_diagonal(cubed_array *x, int64_t offset,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_trace(cubed_array *x, int64_t offset,
                                                    const cubed_dtype *dtype, cubed_array **out,
                                                    cubed_error *err);

/* Functions of matrices in the last two axes. They compute in double precision: float32 and complex64 are rounded once,
 * integers are cast to float64. The same matrix gives the same bits at any position. If a function has several outputs, any of
 * them may be NULL. CUBED_E_LINALG for fewer than two axes, and for matrices that are not square if the function needs square
 * ones.
 *
 * `task_mem` is the number of bytes that tasks may use; 0: unknown. If a task has memory for about four matrices, a block holds
 * a whole matrix. Larger matrices are computed as follows:
 * - cholesky, det, slogdet, inv, solve and qr factor a matrix in panels of columns, as wide as `task_mem` allows. Each panel
 *   reads all panels to the left of it. So the n x n elements of a matrix in p panels are read p / 3 times (cholesky: p / 6;
 *   qr: 2 p / 3). A plan is refused if a task cannot hold one column.
 * - svdvals and eigvalsh reduce a matrix to a band matrix, in at least sixteen panels. Each panel reads and writes the
 *   remaining matrix twice. A task must hold the band, which is at least 16 wide, and wide enough for 128 panels.
 * - The other functions of singular values and eigenvalues need a task that holds the matrix. Exceptions are svd, and functions
 *   based on it, for matrices with many more rows than columns, or the reverse. A run refuses a matrix that does not fit. */

/* Computes the triangular factor, with a positive diagonal, of Hermitian matrices. Only the triangle that is returned is
 * read. A run fails with CUBED_E_LINALG if a matrix is not positive definite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cholesky(cubed_array *x, bool upper,
                                                       uint64_t task_mem, cubed_array **out,
                                                       cubed_error *err);
/* Factors matrices of any shape, n x m with smaller extent k, into the product p l u. p is a permutation (n x n). l is a lower
 * triangle (n x k) with ones on the diagonal and no element larger than 1. u is an upper triangle (k x m). The run refuses a
 * matrix that a task cannot hold. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lu(cubed_array *x, cubed_array **p, cubed_array **l,
                                                 cubed_array **u, cubed_error *err);
/* Compute determinants (cubed_det), or the signs of determinants and the logarithms of their absolute values (cubed_slogdet).
 * Signs of complex determinants are on the unit circle; the sign is 0 if the matrix is singular. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_det(cubed_array *x, uint64_t task_mem,
                                                  cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slogdet(cubed_array *x, uint64_t task_mem,
                                                      cubed_array **sign, cubed_array **logabsdet,
                                                      cubed_error *err);
/* Invert matrices (cubed_inv), and solve equations x1 y = x2 for y (cubed_solve). x2 is one vector, or matrices whose other
 * axes broadcast with those of x1. A run fails with CUBED_E_LINALG if a matrix is singular. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_inv(cubed_array *x, uint64_t task_mem,
                                                  cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_solve(cubed_array *x1, cubed_array *x2,
                                                    uint64_t task_mem, cubed_array **out,
                                                    cubed_error *err);
/* Factors matrices into Q R. The columns of Q are orthonormal. Their number is the number of x's rows if `complete` is true,
 * otherwise the smaller extent of x. R is upper triangular with a real diagonal. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_qr(cubed_array *x, bool complete, uint64_t task_mem,
                                                 cubed_array **q, cubed_array **r,
                                                 cubed_error *err);
/* Compute singular values, which descend, and singular vectors: the columns of u and the rows of vh, all of them
 * (full_matrices) or one for each singular value. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svd(cubed_array *x, bool full_matrices,
                                                  uint64_t task_mem, cubed_array **u,
                                                  cubed_array **s, cubed_array **vh,
                                                  cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svdvals(cubed_array *x, uint64_t task_mem,
                                                      cubed_array **out, cubed_error *err);
/* Compute real eigenvalues in ascending order, and orthonormal eigenvectors (columns), of Hermitian matrices. Only the lower
 * triangle of a matrix is read. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigh(cubed_array *x, cubed_array **values,
                                                   cubed_array **vectors, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigvalsh(cubed_array *x, uint64_t task_mem,
                                                       cubed_array **out, cubed_error *err);
/* Compute eigenvalues of any square matrices, complex even if all are real, and eigenvectors of length 1 (columns). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eig(cubed_array *x, cubed_array **values,
                                                  cubed_array **vectors, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigvals(cubed_array *x, cubed_array **out,
                                                      cubed_error *err);
/* Compute the rank, or the pseudo-inverse. Singular values up to rtol times the largest singular value count as 0. `rtol` is
 * one number, or one number for each matrix; NULL: the larger extent times the type's epsilon. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_rank(cubed_array *x, cubed_array *rtol,
                                                          uint64_t task_mem, cubed_array **out,
                                                          cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pinv(cubed_array *x, cubed_array *rtol,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
/* Computes the n-th power of square matrices in the last two axes, by repeated squaring. n 0: identity matrices. n < 0: powers of
 * the inverses. CUBED_E_LINALG if the matrices are not square. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_power(cubed_array *x, int64_t n,
                                                           uint64_t task_mem, cubed_array **out,
                                                           cubed_error *err);

/* Flags of cubed_solve_triangular. */
#define CUBED_TRIANGLE_LOWER         1u
#define CUBED_TRIANGLE_UNIT_DIAGONAL 2u /* the diagonal consists of ones, and is not read */
/* Solves a x = b, where `a` is the upper triangle of a matrix, or the lower triangle with CUBED_TRIANGLE_LOWER. Elements
 * outside the triangle are not read. b is one vector, or matrices whose other axes broadcast with those of `a`. A run fails
 * with CUBED_E_LINALG if a matrix is singular. CUBED_E_ARG for unknown flags. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_solve_triangular(cubed_array *a, cubed_array *b,
                                                               unsigned flags, uint64_t task_mem,
                                                               cubed_array **out, cubed_error *err);
/* Solves least-squares problems.
 *
 * b          a vector, or the columns of a matrix; an infinite element makes the solution of its column NaN
 * rcond      singular values up to *rcond times the largest one count as 0; NULL: the larger extent times the type's epsilon;
 *            -1: that epsilon
 * x          receives the solution of least norm
 * residuals  receives the sum of the squared residuals of each column; empty unless `a` has more rows than columns
 * rank       receives the number of singular values that do not count as 0, as int32
 * s          receives the singular values
 *
 * Errors: CUBED_E_LINALG unless `a` has two axes and b has one or two, with as many rows as `a`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lstsq(cubed_array *a, cubed_array *b,
                                                    const double *rcond, uint64_t task_mem,
                                                    cubed_array **x, cubed_array **residuals,
                                                    cubed_array **rank, cubed_array **s,
                                                    cubed_error *err);
/* cubed_tensorinv inverts `a` as a matrix: its first `ind` axes, ind >= 1, are the rows, and the other axes are the columns.
 * The result has the extents of these other axes first. CUBED_E_LINALG unless the matrix is square.
 *
 * cubed_tensorsolve moves `axes` of `a` to its end (naxes 0: no axes), and solves a x = b. The first b.ndim axes of `a` are
 * those of b. The other axes are those of x; the product is summed over them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensorinv(cubed_array *a, int ind, uint64_t task_mem,
                                                        cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensorsolve(cubed_array *a, cubed_array *b,
                                                          const int *axes, int naxes,
                                                          uint64_t task_mem, cubed_array **out,
                                                          cubed_error *err);
/* Multiplies n matrices, n >= 2, in the order with the fewest multiplications. The first and the last may be vectors. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_multi_dot(cubed_array *const *arrays, int n,
                                                        cubed_array **out, cubed_error *err);

typedef struct cubed_svd_compressed_options {
    size_t struct_size;
    /* Number of power iterations: each multiplies the vectors by the matrix and by its adjoint, in two passes over the
     * matrix. */
    int64_t n_power_iter;
    int64_t n_oversamples; /* number of random vectors in addition to k */
    int64_t seed;          /* seed of the random vectors */
    /* changes the signs of pairs of singular vectors so that the sum of each right singular vector is not negative; ignored for
     * complex matrices */
    bool coerce_signs;
} cubed_svd_compressed_options;
#define CUBED_SVD_COMPRESSED_OPTIONS_INIT                                                          \
    {                                                                                              \
        sizeof(cubed_svd_compressed_options), 0, 10, 0, true                                       \
    }
/* Computes approximately the k largest singular values of one matrix of any size, and their vectors, from its products with
 * random vectors. `options` may be NULL. CUBED_E_ARG for another number of axes, and for a k less than 1 or more than the
 * smaller extent. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svd_compressed(
    cubed_array *x, int64_t k, const cubed_svd_compressed_options *options, uint64_t task_mem,
    cubed_array **u, cubed_array **s, cubed_array **vh, cubed_error *err);

/* Norms of matrices. Sums of rows and columns are sums of absolute values. */
typedef enum cubed_matrix_norm_ord {
    CUBED_NORM_FRO,      /* root of the sum of the squared absolute values */
    CUBED_NORM_NUC,      /* sum of the singular values */
    CUBED_NORM_1,        /* largest sum of a column */
    CUBED_NORM_MINUS_1,  /* smallest sum of a column */
    CUBED_NORM_2,        /* largest singular value */
    CUBED_NORM_MINUS_2,  /* smallest singular value */
    CUBED_NORM_INF,      /* largest sum of a row */
    CUBED_NORM_MINUS_INF /* smallest sum of a row */
} cubed_matrix_norm_ord;
/* Gets a norm by its name, "fro" or "nuc". If `name` is NULL, gets it by its number: 1, 2, infinity or their negatives.
 * CUBED_E_ARG for other names and numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_norm_parse(const char *name, double number,
                                                                cubed_matrix_norm_ord *out,
                                                                cubed_error *err);

/* Computes a norm of the matrices in the last two axes. With `keepdims` these axes stay, with an extent of 1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_norm(cubed_array *x, cubed_matrix_norm_ord ord,
                                                          bool keepdims, uint64_t task_mem,
                                                          cubed_array **out, cubed_error *err);
typedef struct cubed_norm_options {
    size_t struct_size;
    /* The norm by its name ("fro", "nuc") or by its number. If both are NULL, the norm is the root of the sum of squares. */
    const char *name;
    const double *number;
    const int *axes;
    int naxes;
    bool keepdims;
} cubed_norm_options;
#define CUBED_NORM_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_norm_options), NULL, NULL, NULL, 0, false                                     \
    }
/* Computes norms of matrices along two axes, rows first, or of vectors along another number of axes. If `options->axes` is
 * NULL, x is one matrix if it has two axes and a norm is given; otherwise all elements are one vector. `options` may be NULL.
 * CUBED_E_ARG for a norm of vectors that is given by name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_norm(cubed_array *x,
                                                   const cubed_norm_options *options,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
/* Computes the condition number: the norm of the matrix times the norm of its inverse. For CUBED_NORM_2 this is the largest
 * singular value divided by the smallest, and for CUBED_NORM_MINUS_2 the inverse ratio; infinite for matrices of zeros.
 * CUBED_E_LINALG for matrices without elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cond(cubed_array *x, cubed_matrix_norm_ord ord,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
/* Computes norms of the vectors along axes[naxes] (NULL: all axes). `ord` may be any number, including infinity, except NaN
 * (CUBED_E_ARG). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_vector_norm(cubed_array *x, double ord,
                                                          const int *axes, int naxes, bool keepdims,
                                                          cubed_array **out, cubed_error *err);

/* --- Indexing and searching ------------------------------------------------------------------------- */

/* Takes the elements at integer positions along an axis; negative positions count from its end. A run fails with CUBED_E_INDEX
 * if a position is out of range. CUBED_E_ARG unless `positions` has one axis, CUBED_E_TYPE unless it has integers.
 *
 * For positions in regular steps, the result is a concatenation of views. It is fused, and reads only chunks with requested
 * elements:
 * - `positions` must be an array of int64 in memory, and consist of at most 256 sequences with equal steps (a step may be 0). If
 *   there are more than 16 sequences, they must have at least 4 positions on average.
 * - If x is computed, and there are more positions than elements along the axis, x is stored first.
 * - The chunks of the result are as long as those of x. If there is a single sequence with a step of 1 or -1, the result has the
 *   chunks of a slice.
 *
 * For other positions, x is read once for every block of positions, in its own chunks. The result is stored in blocks of at
 * most 32 MiB. Blocks are as long as possible along the axis, and have x's chunks along the other axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_take(cubed_array *x, cubed_array *positions, int axis,
                                                   cubed_array **out, cubed_error *err);
/* Takes the elements at integer positions along an axis, with separate positions for every line along the axis. Negative
 * positions count from the end of the axis. x and `positions` have the same number of axes; the other axes broadcast, else
 * CUBED_E_ARG. A run fails with CUBED_E_INDEX if a position is out of range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_take_along_axis(cubed_array *x,
                                                              cubed_array *positions, int axis,
                                                              cubed_array **out, cubed_error *err);
/* Takes elements by arrays of positions along several axes, as NumPy's x[i, :, j]. A run fails with CUBED_E_INDEX if a position
 * is out of range.
 *
 * positions  for each axis of x an array of positions, or NULL for the whole axis; the arrays broadcast against each other
 *
 * If the axes of x with positions are neighbours, the axes of the position arrays replace them. Otherwise the axes of the
 * position arrays are in front. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_gather(cubed_array *x, cubed_array *const *positions,
                                                     cubed_array **out, cubed_error *err);
/* Replaces the elements of x where the bool `mask` is true by elements of `value`; both broadcast to x's shape. The value
 * is cast to x's type; the result has x's type and chunks. Strings are truncated or padded to x's length. CUBED_E_TYPE for
 * times in another unit than x's, and for strings of another kind. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_replace(cubed_array *x, cubed_array *mask,
                                                      cubed_array *value, cubed_array **out,
                                                      cubed_error *err);
/* Replaces the elements at the positions that cubed_gather takes: x[i, :, j] = value. `value` broadcasts to the shape of
 * cubed_gather's result, and is cast to x's type. If positions are equal, the last one in C order is used. All positions are
 * read, in order, for each block of x. CUBED_E_TYPE for times in another unit than x's, and for strings of another kind. A run
 * fails with CUBED_E_INDEX if a position is out of range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_scatter(cubed_array *x, cubed_array *const *positions,
                                                      cubed_array *value, cubed_array **out,
                                                      cubed_error *err);
/* Replaces the elements of slices[ndim]: x[1:5, ::2, 3] = value. `value` broadcasts to the shape of cubed_slice_array's
 * result, and is cast to x's type; additional axes at its front may have extent 1. CUBED_E_TYPE for times in another unit
 * than x's, and for strings of another kind. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_assign(cubed_array *x, const cubed_slice *slices,
                                                     cubed_array *value, cubed_array **out,
                                                     cubed_error *err);
/* Kinds of entries of a key, by their selection. */
typedef enum cubed_key_kind {
    CUBED_KEY_SLICE,     /* a slice of the next axis; an integer is a slice that drops the axis */
    CUBED_KEY_NEW,       /* a new axis of extent 1 */
    CUBED_KEY_POSITIONS, /* positions along the next axis */
    CUBED_KEY_FLAG,      /* positions along a new axis of extent 1, such as those of a 0-D mask */
    CUBED_KEY_GAP, /* selects nothing; separates the entries before it from the entries after it */
} cubed_key_kind;
/* An entry of a key: NumPy's x[key] has a list of them. */
typedef struct cubed_key {
    cubed_key_kind kind;
    cubed_slice slice; /* the slice, for CUBED_KEY_SLICE */
    /* For CUBED_KEY_POSITIONS and CUBED_KEY_FLAG: integer positions; borrowed. */
    cubed_array *positions;
    /* true: the caller guarantees that all positions are in range, so the run does not check them */
    bool checked;
} cubed_key;
/* Selects x[key] in NumPy's order of axes. Axes without an entry are selected as a whole. Arrays of positions broadcast against
 * each other.
 *
 * in_front  the axes of the position arrays are in front, as in the second case below
 *
 * The place of the axes of the position arrays in the result:
 * - If the arrays of positions and the integers are neighbours in the key, their axes replace the first of these entries.
 * - If other entries separate them, the axes of the position arrays are in front.
 *
 * Errors: CUBED_E_INDEX for more entries than axes, for slices that leave an axis, and for positions that do not broadcast. A
 * run fails with CUBED_E_INDEX if a position is out of range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_index(cubed_array *x, const cubed_key *keys, int n,
                                                    bool in_front, cubed_array **out,
                                                    cubed_error *err);
/* Replaces the elements that cubed_index selects: x[key] = value. `value` broadcasts to the shape of cubed_index's result, and
 * is cast to x's type; additional axes at its front may have extent 1. If positions are equal, the last one in C order is used.
 *
 * Errors: those of cubed_index; CUBED_E_TYPE for times in another unit than x's, and for strings of another kind; CUBED_E_ARG
 * if the value does not fit; the message has both shapes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_index_assign(cubed_array *x, const cubed_key *keys,
                                                           int n, cubed_array *value,
                                                           cubed_array **out, cubed_error *err);
/* Replaces the elements of x where the mask, bool and of x's shape, is true by the 1-D `values`, in C order. The values are
 * cast to x's type. CUBED_E_TYPE for times in another unit than x's, and for strings of another kind. A run fails with
 * CUBED_E_ARG if the number of values differs from the number of true elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_scatter_mask(cubed_array *x, cubed_array *mask,
                                                           cubed_array *values, cubed_array **out,
                                                           cubed_error *err);
/* Replaces x[mask] = value for a bool mask of the first axes of x: the value replaces every selected row. If the mask has all
 * axes of x, the value may also have one dimension. Its elements then replace the selected elements in C order. Additional axes
 * at the front of the value may have extent 1. The value is cast to x's type.
 *
 * Errors: CUBED_E_TYPE for times in another unit than x's, and for strings of another kind; CUBED_E_ARG if the mask or the
 * value does not fit; the message has both shapes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_assign_where(cubed_array *x, cubed_array *mask,
                                                           cubed_array *value, cubed_array **out,
                                                           cubed_error *err);
/* Counts the true elements of a 1-D bool mask as int64. The result has the number of true elements in front of each block of
 * `chunk` elements, and as its last element the number in the whole mask. chunk >= 1; the last block may be shorter. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_mask_offsets(cubed_array *mask, int64_t chunk,
                                                           cubed_array **out, cubed_error *err);
/* Selects the elements of 1-D x where the mask, bool and of x's length, is true. A task produces one chunk, and reads only the
 * blocks of x and the mask that contain its elements.
 *
 * offsets  result of cubed_mask_offsets for x's chunks, for example from the run that determined `count`; NULL: the run that
 *          computes the result reads the mask twice
 * count    number of true elements; a run fails with CUBED_E_ARG if the mask has another number of them */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_compress(cubed_array *x, cubed_array *mask,
                                                       cubed_array *offsets, int64_t count,
                                                       cubed_array **out, cubed_error *err);
/* The shapes of the following results depend on values, so they are computed in two steps. First the caller computes, in a run,
 * the array that a function `..._offsets` or `..._total` creates. Then the main function creates the result from this array and
 * its last element.
 *
 * `task_mem` is the number of bytes that tasks may use; 0: unknown. Pass the same value to both functions. */

/* Get the int64 coordinates of the elements that are not 0, in C order: outs receives one array for each dimension of x. First
 * compute the array of cubed_nonzero_offsets in a run. Then pass it to cubed_nonzero as `offsets`, and its last element as
 * `count`. CUBED_E_ARG if x has no dimensions. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nonzero_offsets(cubed_array *x, cubed_array **out,
                                                              cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nonzero(cubed_array *x, cubed_array *offsets,
                                                      int64_t count, cubed_array **outs,
                                                      cubed_error *err);
/* Outputs of cubed_unique; NULL: not requested. They are 1-D with `count` elements, except `inverse`, which has x's shape. */
typedef struct cubed_unique_outputs {
    cubed_array **
        /* Receives the distinct elements in ascending order; every NaN is distinct unless equal_nan is set. */
        values;
    cubed_array *
        /* Receives, as int64, the position of the first occurrence of each distinct element, in C order. */
        *indices;
    cubed_array **inverse; /* receives, as int64, the position in `values` of each element of x */
    /* Receives, as int64, the number of occurrences of each distinct element. */
    cubed_array **counts;
} cubed_unique_outputs;
typedef struct cubed_unique_options {
    size_t struct_size;
    bool equal_nan;    /* all NaN count as one element, as in NumPy */
    uint64_t task_mem; /* bytes that tasks may use (allowed_mem without reserved_mem); 0: unknown */
} cubed_unique_options;
#define CUBED_UNIQUE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_unique_options), false, 0                                                     \
    }
/* Get the distinct elements of x, which both functions sort (cubed_sort_with). First compute the array of cubed_unique_offsets
 * in a run. Then pass it to cubed_unique as `offsets`, and its last element as `count`. Pass the same options to both
 * functions; NULL: the defaults. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unique_offsets(cubed_array *x,
                                                             const cubed_unique_options *options,
                                                             cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unique(cubed_array *x, cubed_array *offsets,
                                                     int64_t count,
                                                     const cubed_unique_options *options,
                                                     const cubed_unique_outputs *outs,
                                                     cubed_error *err);
/* Operations on two sets. */
typedef enum cubed_set_operation {
    CUBED_SET_UNION,        /* the elements of either set */
    CUBED_SET_INTERSECTION, /* the elements of both sets */
    CUBED_SET_DIFFERENCE,   /* the elements of the first set that the second does not have */
    CUBED_SET_EXCLUSIVE     /* the elements of exactly one set */
} cubed_set_operation;
typedef struct cubed_set_options {
    size_t struct_size;
    /* the elements of each operand are known to be distinct; a difference then keeps their order */
    bool assume_unique;
    uint64_t task_mem; /* bytes that tasks may use (allowed_mem without reserved_mem); 0: unknown */
} cubed_set_options;
#define CUBED_SET_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_set_options), false, 0                                                        \
    }
/* Outputs of cubed_set; NULL: not requested. They are 1-D with `count` elements. */
typedef struct cubed_set_outputs {
    cubed_array **values; /* receives the distinct elements in ascending order */
    /* For an intersection only, int64: position of the first occurrence of each element in x1 and in x2, in C order. */
    cubed_array **indices1, **indices2;
} cubed_set_outputs;
/* Get the distinct elements that the set operation selects from two arrays, in ascending order. First compute the array of
 * cubed_set_offsets in a run. Then pass it to cubed_set as `offsets`, and its last element as `count`. Pass the same options to
 * both functions; NULL: the defaults.
 *
 * The arrays are promoted, except that a difference has the type of x1. All NaN of an array count as one element, which equals
 * NaN of the other array only in a union. CUBED_E_ARG if positions are requested from an operation other than an intersection. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_set_offsets(cubed_set_operation operation,
                                                          cubed_array *x1, cubed_array *x2,
                                                          const cubed_set_options *options,
                                                          cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_set(cubed_set_operation operation, cubed_array *x1,
                                                  cubed_array *x2, cubed_array *offsets,
                                                  int64_t count, const cubed_set_options *options,
                                                  const cubed_set_outputs *outs, cubed_error *err);
/* Computes, as bool in x1's shape, whether each element of x1 is among the elements of x2 (with `invert`: is not). NaN equals
 * no element. Strings are compared with strings of their kind, of any length. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isin(cubed_array *x1, cubed_array *x2, bool invert,
                                                   cubed_array **out, cubed_error *err);
/* Repeat each element along *axis. If `axis` is NULL, x is flattened first. `repeats` has the numbers of repetitions, integers
 * or bools: one for each element, or one for all. First compute the 0-d array of cubed_repeat_total in a run. Then pass its
 * value, the sum of the numbers, to cubed_repeat_each as `total`. The sum is -1 if a number is negative, and a `total` of -1 is
 * CUBED_E_ARG. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat_total(cubed_array *x, cubed_array *repeats,
                                                           const int *axis, cubed_array **out,
                                                           cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat_each(cubed_array *x, cubed_array *repeats,
                                                          const int *axis, int64_t total,
                                                          cubed_array **out, cubed_error *err);
/* Gets the int64 positions at which to insert the elements of x2 into x1, which is 1-D and sorted, so that x1 stays sorted. NaN
 * is larger than all numbers. Strings are compared with strings of their kind, of any length.
 *
 * right   the position is after equal elements of x1; false: before them
 * sorter  positions that sort x1; NULL: x1 is sorted */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_searchsorted(cubed_array *x1, cubed_array *x2,
                                                           bool right, cubed_array *sorter,
                                                           cubed_array **out, cubed_error *err);

typedef struct cubed_interp_options {
    size_t struct_size;
    /* Values before the first point and after the last; NULL: the values of those points. */
    cubed_array *left, *right;
    /* Period of x and xp, more than 0; the points may then be in any order. NULL: no period */
    const double *period;
} cubed_interp_options;
#define CUBED_INTERP_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_interp_options), NULL, NULL, NULL                                             \
    }
/* Interpolates linearly at x between the ascending points xp with values fp. The result has x's shape and is float64, or
 * complex128 if fp is complex. All points are read for each block of x. NaN gives NaN. CUBED_E_ARG unless xp and fp are
 * vectors of one length, and not empty. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_interp(cubed_array *x, cubed_array *xp,
                                                     cubed_array *fp,
                                                     const cubed_interp_options *options,
                                                     cubed_array **out, cubed_error *err);

/* --- Fourier transforms ------------------------------------------------------------------------------ */

/* Scaling of transforms of n elements. */
typedef enum cubed_fft_norm {
    CUBED_FFT_BACKWARD, /* the inverse transform is divided by n */
    CUBED_FFT_ORTHO,    /* both transforms are divided by sqrt(n) */
    CUBED_FFT_FORWARD   /* the forward transform is divided by n */
} cubed_fft_norm;

/* Discrete Fourier transforms along an axis (negative: from the last).
 *
 * FFT, IFFT    n complex numbers to n complex numbers
 * RFFT, IHFFT  n real numbers to n / 2 + 1 complex numbers
 * IRFFT, HFFT  n / 2 + 1 complex numbers to n real numbers
 *
 * The input is truncated, or padded with zeros at its end, to the length that n requires. If n is NULL, the whole input of m
 * elements is used; IRFFT and HFFT then have n = 2 (m - 1). If complex numbers are expected, other numbers are cast to complex.
 * float32 and complex64 stay single precision, but are transformed in double precision and rounded once per axis. Any length is
 * fast; powers of 2, 3, 5, 7 and 11 are fastest.
 *
 * A block holds a whole axis. A task needs three times the memory of the block, and 3 to 22 times the memory of one line along
 * the axis. If this exceeds `task_mem`, or if n exceeds 2**28, the transform uses Bailey's four-step algorithm. The axis
 * becomes a matrix with about as many rows as columns, which are transformed in two passes. Each pass rounds, so the last bits
 * depend on task_mem. x is read and stored up to nine times. If no factor of n fits in a task, the transform uses Bluestein's
 * algorithm, in double precision: the axis is padded to a length that has such factors. CUBED_E_UNSUPPORTED if n then exceeds
 * 2**30. */
typedef enum cubed_transform {
    CUBED_TRANSFORM_FFT,
    CUBED_TRANSFORM_IFFT,
    CUBED_TRANSFORM_RFFT,
    CUBED_TRANSFORM_IRFFT,
    CUBED_TRANSFORM_HFFT,
    CUBED_TRANSFORM_IHFFT
} cubed_transform;

typedef struct cubed_fft_options {
    size_t struct_size;
    const int64_t
        /* Length n of the transform for each axis: the number of real elements if one side is real. -1: the same length as for
         * `n` NULL above. NULL: -1 for all axes. */
        *s;
    const int *
        /* Axes to transform, each at most once. The last one is the axis of real numbers. NULL: all axes, and then s must be
         * NULL. */
        axes;
    int naxes;
    cubed_fft_norm norm;
    uint64_t task_mem; /* bytes that tasks may use; 0: unknown, and a block holds a whole axis */
} cubed_fft_options;
#define CUBED_FFT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_fft_options), NULL, NULL, 0, CUBED_FFT_BACKWARD, 0                            \
    }
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fft_with(cubed_transform transform, cubed_array *x,
                                                       const cubed_fft_options *options,
                                                       cubed_array **out, cubed_error *err);
/* Transform along one axis, with a `task_mem` of 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fft(cubed_array *x, const int64_t *n, int axis,
                                                  cubed_fft_norm norm, cubed_array **out,
                                                  cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ifft(cubed_array *x, const int64_t *n, int axis,
                                                   cubed_fft_norm norm, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rfft(cubed_array *x, const int64_t *n, int axis,
                                                   cubed_fft_norm norm, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_irfft(cubed_array *x, const int64_t *n, int axis,
                                                    cubed_fft_norm norm, cubed_array **out,
                                                    cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_hfft(cubed_array *x, const int64_t *n, int axis,
                                                   cubed_fft_norm norm, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ihfft(cubed_array *x, const int64_t *n, int axis,
                                                    cubed_fft_norm norm, cubed_array **out,
                                                    cubed_error *err);
/* Transform along several axes, each once. For real numbers, the last axis of the list is the axis of n real numbers. If `axes`
 * is NULL, all axes are transformed, and `s` must be NULL. s[naxes] has the length n for each axis; -1: the same length as for
 * `n` NULL above. Short axes are transformed together in one pass, other axes in one pass each. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fftn(cubed_array *x, const int64_t *s,
                                                   const int *axes, int naxes, cubed_fft_norm norm,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ifftn(cubed_array *x, const int64_t *s,
                                                    const int *axes, int naxes, cubed_fft_norm norm,
                                                    cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rfftn(cubed_array *x, const int64_t *s,
                                                    const int *axes, int naxes, cubed_fft_norm norm,
                                                    cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_irfftn(cubed_array *x, const int64_t *s,
                                                     const int *axes, int naxes,
                                                     cubed_fft_norm norm, cubed_array **out,
                                                     cubed_error *err);
/* Compute the frequencies of the elements of cubed_fft and of cubed_rfft, for n samples with spacing d. dtype: float32 or
 * float64. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fftfreq(cubed_context *ctx, int64_t n, double d,
                                                      cubed_dtype dtype, cubed_array **out,
                                                      cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rfftfreq(cubed_context *ctx, int64_t n, double d,
                                                       cubed_dtype dtype, cubed_array **out,
                                                       cubed_error *err);
/* Move frequency 0 to the middle of axes[naxes] (NULL: all axes), and back. The results are views. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fftshift(cubed_array *x, const int *axes, int naxes,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ifftshift(cubed_array *x, const int *axes, int naxes,
                                                        cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
