/* Functions of the Python Array API standard that work on whole blocks. Lazy, as all of
 * cubed/array.h. Results are stored, in chunks that their functions choose. */
#ifndef CUBED_ARRAY_API_H
#define CUBED_ARRAY_API_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Sorting ---------------------------------------------------------------------------------------- */

/* The elements in order along an axis (which may be negative), and the positions (int64) that put them in
 * order. Equal elements stay in theirs, also descending, and zeros of either sign are equal. NaN counts as
 * larger than all numbers, "not a time" as larger than all times; complex numbers are ordered by their
 * real parts, then by their imaginary ones; texts by bytes and code points. An axis is in one block: a task needs memory for three times
 * its elements. Arrays of one dimension that are more than that are sorted in parts: x is read once for each
 * few bits of its elements, and once for each part. Not complex numbers. */
typedef struct cubed_sort_options {
    size_t struct_size;
    bool descending;
    bool positions;    /* argsort */
    uint64_t task_mem; /* what tasks may use, where that is known: as in cubed_quantile_options */
} cubed_sort_options;
#define CUBED_SORT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_sort_options), false, false, 0                                                \
    }
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sort_with(cubed_array *x, int axis,
                                                        const cubed_sort_options *options,
                                                        cubed_array **out, cubed_error *err);
/* Without knowing what tasks may use. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sort(cubed_array *x, int axis, bool descending,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argsort(cubed_array *x, int axis, bool descending,
                                                      cubed_array **out, cubed_error *err);

/* --- Manipulation and differences ------------------------------------------------------------------- */

/* Axes sources[i] become axes destinations[i], the others keep their order around them. n pairs. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_moveaxis(cubed_array *x, const int *sources,
                                                       const int *destinations, int n,
                                                       cubed_array **out, cubed_error *err);
/* x repetitions[i] times along each axis; of n and x's dimensions the fewer get 1 in front. More than
 * 16 times is a reshape, which may store x in other chunks before (cubed_reshape). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tile(cubed_array *x, const int64_t *repetitions,
                                                   int n, cubed_array **out, cubed_error *err);
/* The n-th differences of neighbours along an axis; of bools whether they differ. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_diff(cubed_array *x, int axis, int64_t n,
                                                   cubed_array **out, cubed_error *err);

/* The differences of neighbours of x in one dimension, between others (NULL: none), which are cast to x's type:
 * CUBED_E_TYPE if that does not hold them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ediff1d(cubed_array *x, cubed_array *to_begin,
                                                      cubed_array *to_end, cubed_array **out,
                                                      cubed_error *err);
/* The integral of y along an axis by trapezia, between points x: of y's shape, or in one dimension along the axis. x NULL:
 * they are dx apart, a number or what broadcasts with the trapezia (NULL: 1). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_trapezoid(cubed_array *y, cubed_array *x,
                                                        cubed_array *dx, int axis,
                                                        cubed_array **out, cubed_error *err);
/* Derivatives along an axis by differences of second order in the interior and of edge_order (1 or 2) at its ends, of
 * elements that are `spacing` apart: a number (0-d; NULL: 1), or in one dimension the coordinates of the axis. Of f's
 * shape and type, integers as float64. CUBED_E_ARG for axes of fewer than edge_order + 1 elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_gradient(cubed_array *f, cubed_array *spacing,
                                                       int axis, int edge_order, cubed_array **out,
                                                       cubed_error *err);
/* Angles along an axis less whole periods, so that none is more than half a period from the one in front of it; steps of
 * less than `discont` stay (NULL: half a period). Both are real numbers (cubed_array_full without dimensions). Integers
 * with a whole period become int64, others float64. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unwrap(cubed_array *p, cubed_array *period,
                                                     cubed_array *discont, int axis,
                                                     cubed_array **out, cubed_error *err);

/* --- Positions -------------------------------------------------------------------------------------- */

/* As cubed_argmin and cubed_argmax, of the elements that are not NaN. A run fails with CUBED_E_ARG where there
 * are none. Stored. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nanargmin(cubed_array *x, const int *axis,
                                                        bool keepdims, cubed_array **out,
                                                        cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nanargmax(cubed_array *x, const int *axis,
                                                        bool keepdims, cubed_array **out,
                                                        cubed_error *err);

/* --- Order statistics ------------------------------------------------------------------------------- */

/* What a quantile is that lies between two elements (cubed/quantiles.def). */
typedef enum cubed_quantile_method {
#define CUBED_QUANTILE(NAME, name, number, discrete) CUBED_QUANTILE_##NAME = (number),
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
    CUBED_QUANTILE_METHOD_COUNT
} cubed_quantile_method;
/* By NumPy's names. false if there is none of that name. */
CUBED_API bool cubed_quantile_method_parse(const char *name, cubed_quantile_method *method);

typedef struct cubed_quantile_options {
    size_t struct_size;
    const int *axes; /* may be negative, no repeats; NULL: all */
    int naxes;
    bool keepdims;
    bool skip_nan; /* of the elements that are not NaN; else one NaN makes NaN */
    cubed_quantile_method method;
    /* What tasks may use (allowed_mem without reserved_mem), where that is known; 0: it is not. Where the
     * elements of one result take up to a quarter of it (at most 256 MiB; not known: 32 MiB) a task brings
     * them together, and needs about three times as much. Otherwise x is read once for each few bits of
     * its elements, 8 to 16 at a time, as memory allows for their counts. */
    uint64_t task_mem;
} cubed_quantile_options;
#define CUBED_QUANTILE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_quantile_options), NULL, 0, false, false, CUBED_QUANTILE_LINEAR, 0            \
    }

/* The exact quantiles q[0..n), each from 0 to 1, of real numbers: in front of the result's axes there is one
 * of n elements. Of type float64; discrete methods keep x's. NaN of nothing. Zeros of either sign are equal:
 * the result has +0. Of times with the method "linear", truncated from the nearer element, and with discrete ones: NaT
 * where one is among the elements. With skip_nan missing times are skipped, and NaT is the result if all are missing;
 * lines are sorted (cubed_sort_with), and methods are "linear", "lower", "higher" and "nearest" (others: CUBED_E_TYPE).
 * CUBED_E_ARG for a q out of range, and for times of no elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_quantiles(cubed_array *x, const double *q, int n,
                                                        const cubed_quantile_options *options,
                                                        cubed_array **out, cubed_error *err);
/* The same of one q, without the axis in front, and of x's type if that is of floats. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_quantile(cubed_array *x, double q,
                                                       const cubed_quantile_options *options,
                                                       cubed_array **out, cubed_error *err);

/* The quantiles q[0..n) of elements with weights: the first elements in order up to which that share of the weight lies. The
 * method is CUBED_QUANTILE_INVERTED_CDF. Weights are real numbers, of x's shape or of that of the reduced axes. Lines come
 * whole and are sorted (cubed_sort_with). The result has x's type, and an axis of n elements in front. With skip_nan the
 * weights of NaN do not count.
 *
 * Errors: CUBED_E_ARG for a q out of range, weights of another shape, and no elements; a run fails with it if a weight is
 * negative or not finite, or if all weights of a line are 0. CUBED_E_TYPE for weights that are no real numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_weighted_quantiles(
    cubed_array *x, cubed_array *weights, const double *q, int n,
    const cubed_quantile_options *options, cubed_array **out, cubed_error *err);

/* That of 0.5 and the method "linear": the mean of the two elements in the middle. Of differences of times, too,
 * truncated; NaT where one is, or with skip_nan where all are. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_median(cubed_array *x,
                                                     const cubed_quantile_options *options,
                                                     cubed_array **out, cubed_error *err);

/* --- Covariances ------------------------------------------------------------------------------------- */

typedef struct cubed_cov_options {
    size_t struct_size;
    /* The divisor is the number of observations (or the sum of weights) less this, 0 at least. */
    double ddof;
    /* How often each observation was made, and how much it counts: a number for each column. NULL: once, the same */
    cubed_array *fweights, *aweights;
} cubed_cov_options;
#define CUBED_COV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_cov_options), 1, NULL, NULL                                                   \
    }

/* The covariance matrix of variables, which are rows of x; one row is one number without axes. Of x's type, of integers
 * float64; with weights of at least double precision. CUBED_E_ARG for more than two axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cov(cubed_array *x, const cubed_cov_options *options,
                                                  cubed_array **out, cubed_error *err);
/* Pearson's correlation coefficients: covariances divided by the roots of their diagonal. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_corrcoef(cubed_array *x, cubed_array **out,
                                                       cubed_error *err);

/* --- Ranges and weighted means ------------------------------------------------------------------------ */

/* The largest element less the smallest: of dates a difference of times. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ptp(cubed_array *x,
                                                  const cubed_reduce_options *options,
                                                  cubed_array **out, cubed_error *err);
/* The mean with weights, of x's shape or, of one axis, in one dimension (NULL: cubed_mean): of the type that both promote
 * to, integers as float64. Also the sum of the weights in *total, if that is not NULL; where it is 0 the mean is NaN or
 * infinite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_average(cubed_array *x, cubed_array *weights,
                                                      const cubed_reduce_options *options,
                                                      cubed_array **out, cubed_array **total,
                                                      cubed_error *err);

/* --- Numbers that are close, or none ------------------------------------------------------------------ */

typedef struct cubed_close_options {
    size_t struct_size;
    double rtol, atol;
    bool equal_nan; /* NaN are close to NaN */
    /* |b| of a number b (0-d) that has a's precision for want of its own, as numbers in programs have: the tolerance
     * is rounded once. NULL: b is an array like a. */
    const double *magnitude;
} cubed_close_options;
#define CUBED_CLOSE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_close_options), 1e-5, 1e-8, false, NULL                                       \
    }

/* Bool: whether |a - b| <= atol + rtol * |b|; infinities are close to themselves alone. CUBED_E_TYPE for others than
 * numbers. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isclose(cubed_array *a, cubed_array *b,
                                                      const cubed_close_options *options,
                                                      cubed_array **out, cubed_error *err);
/* Whether all are, without axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_allclose(cubed_array *a, cubed_array *b,
                                                       const cubed_close_options *options,
                                                       cubed_array **out, cubed_error *err);
/* x with numbers in the place of NaN (NULL: 0), infinity and minus infinity (NULL: the largest and the least that x's
 * type has), also in parts of complex numbers. They broadcast, and are promoted, as in CUBED_OP_WHERE. Other types have
 * none of them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nan_to_num(cubed_array *x, cubed_array *nan,
                                                         cubed_array *posinf, cubed_array *neginf,
                                                         cubed_array **out, cubed_error *err);

/* --- Elements around an array ------------------------------------------------------------------------- */

/* What they are (cubed/pads.def): a constant; the nearest element; zeros; a ramp down to a value; the largest, mean,
 * median or smallest along the axis; the array's elements, mirrored about the last one or behind it, or from its
 * other end. */
typedef enum cubed_pad_mode {
#define CUBED_PAD(NAME, name, number) CUBED_PAD_##NAME = (number),
#include "cubed/pads.def"
#undef CUBED_PAD
    CUBED_PAD_MODE_COUNT
} cubed_pad_mode;
/* By NumPy's names. false if there is none of that name. */
CUBED_API bool cubed_pad_mode_parse(const char *name, cubed_pad_mode *mode);

/* Of each axis what is in front of it and what is behind: [axis][0] and [axis][1]. */
typedef struct cubed_pad_options {
    size_t struct_size;
    cubed_pad_mode mode;
    const cubed_scalar (*constant_values)[2]; /* of x's type; NULL: 0 */
    /* Where ramps end, which the edge does not repeat: float64, or complex128 of complex x. NULL: 0 */
    const cubed_scalar (*end_values)[2];
    const int64_t (*stat_length)[2]; /* of how many elements statistics are; -1, or NULL: of all */
    uint64_t task_mem;               /* as in cubed_quantile_options, for medians */
} cubed_pad_options;
#define CUBED_PAD_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_pad_options), CUBED_PAD_CONSTANT, NULL, NULL, NULL, 0                         \
    }

/* x with before[ndim] and after[ndim] elements around it, one axis after the other, of x's type: means, medians and
 * ramps of integers are rounded, the last ones downwards. CUBED_E_ARG for widths below 0, and for axes without
 * elements where the mode is of some; CUBED_E_TYPE where it is not defined for x's type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pad_with(cubed_array *x, const int64_t *before,
                                                       const int64_t *after,
                                                       const cubed_pad_options *options,
                                                       cubed_array **out, cubed_error *err);

/* --- Counts of values --------------------------------------------------------------------------------- */

/* int64 of `bins` elements: how many real numbers are between edges[i] and edges[i + 1], which is not included
 * but in the last bin. Edges may be equal, but do not descend (CUBED_E_ARG); NaN and what is beyond them is
 * not counted. Numbers are compared as float64. With `weights` (NULL: none; of x's shape) their sums, of their
 * type (of bool: int64), which are made in int64, uint64 or float64. Reads x once. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_histogram(cubed_array *x, const double *edges,
                                                        int64_t bins, cubed_array *weights,
                                                        cubed_array **out, cubed_error *err);
/* int64 of `length` elements: how many elements of x, which are integers or bools, are i; or, as float64,
 * the sums of their weights. A run fails with CUBED_E_ARG if one is below 0 or not below length. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_bincount(cubed_array *x, int64_t length,
                                                       cubed_array *weights, cubed_array **out,
                                                       cubed_error *err);

/* --- Linear algebra --------------------------------------------------------------------------------- */

/* Operands are promoted to a common type, which is the result's; integers wrap, bools are and-ed and
 * or-ed. Products of matrices are made block by block, summing over one block of the summed axes after
 * another; floats of less than 64 bits are summed in their own type there, and in float64 where one
 * operand has nothing but summed axes. */

/* Of matrices in the last two axes, the others broadcast; a vector on the left or right is one row or
 * one column, which the result lacks. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matmul(cubed_array *x1, cubed_array *x2,
                                                     cubed_array **out, cubed_error *err);
/* Sums over pairs of axes; the result has the other axes of x1, then those of x2. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensordot(cubed_array *x1, cubed_array *x2,
                                                        const int *axes1, const int *axes2,
                                                        int naxes, cubed_array **out,
                                                        cubed_error *err);
/* Sums of products over indices that are named by letters, as NumPy's einsum has them: a letter for each axis of each of
 * n operands, separated by commas, "..." for axes that broadcast, and after "->" the letters of the result; without it
 * those that come once, in order. A letter that comes twice in an operand takes its diagonal; axes of extent 1 broadcast.
 * CUBED_E_ARG for subscripts that do not fit the operands. */
#define CUBED_EINSUM_MAX_OPERANDS 64
typedef struct cubed_einsum_options {
    size_t struct_size;
    const cubed_dtype
        *dtype; /* of products, sums and the result; NULL: what all operands promote to */
    /* From left to right; else always the two that share an index, if any do, whose product has the fewest elements more
     * than they. */
    bool in_order;
    /* Which operands each step multiplies, bit k operand k; what it makes becomes the last of them. NULL: one step. */
    const uint64_t *steps;
    int nsteps;
} cubed_einsum_options;
#define CUBED_EINSUM_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_einsum_options), NULL, false, NULL, 0                                         \
    }
/* `options` may be NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_einsum(const char *subscripts,
                                                     cubed_array *const *operands, int n,
                                                     const cubed_einsum_options *options,
                                                     cubed_array **out, cubed_error *err);
/* Sum of conj(x1) * x2 over an axis of both, counted from the end (-1: the last); the others broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_vecdot(cubed_array *x1, cubed_array *x2, int axis,
                                                     cubed_array **out, cubed_error *err);

/* x, if every element of `holds`, which is bool and of x's shape, is true. Otherwise the run fails with CUBED_E_ARG
 * and the message, of at most 199 bytes, which the position of the first false element follows. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_require(cubed_array *x, cubed_array *holds,
                                                      const char *message, cubed_array **out,
                                                      cubed_error *err);

/* Cross products of vectors of 3 elements along an axis of both, counted from the end. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cross(cubed_array *x1, cubed_array *x2, int axis,
                                                    cubed_array **out, cubed_error *err);
/* Of two vectors: a matrix of all products. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_outer(cubed_array *x1, cubed_array *x2,
                                                    cubed_array **out, cubed_error *err);
/* A view with the last two axes exchanged. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_transpose(cubed_array *x, cubed_array **out,
                                                               cubed_error *err);
/* Of the matrices in the last two axes, the diagonal `offset` right of the main one, or its sum (of
 * `dtype`, NULL: as cubed_reduce has it). Of x's chunks those are read through which it goes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_diagonal(cubed_array *x, int64_t offset,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_trace(cubed_array *x, int64_t offset,
                                                    const cubed_dtype *dtype, cubed_array **out,
                                                    cubed_error *err);

/* Functions of matrices, which are the last two axes. They compute in double precision; float32 and complex64
 * are rounded once, integers are taken for float64. The same matrix gives the same bits wherever it stands.
 * Outputs that are more than one may be NULL if they are not wanted.
 *
 * `task_mem` as in cubed_sort_options; 0: not known. A matrix that a task holds is whole in a block: it takes
 * memory for about four of it. Others are factored in panels of columns, as wide as `task_mem` allows, by
 * cholesky, det, slogdet, inv, solve and qr; each reads the panels left of it, so that n x n elements in p
 * panels are read p / 3 times (cholesky: p / 6; qr: 2 p / 3). A task must hold one column: a plan is
 * refused if it does not. svdvals and eigvalsh make a band matrix of theirs, in as few as sixteen
 * panels, which read and write what is left of it twice; a task must hold the band, 16 wide at least, and wide enough
 * for 128 panels. Other singular values and eigenvalues are of matrices that a task holds, but for those with many more
 * rows than columns, or the reverse (svd, and what is made of it): runs refuse what does not fit. */

/* The triangular factor with positive diagonal of Hermitian matrices, of which one triangle is read: the
 * one that is made. A run fails with CUBED_E_ARG if one is not positive definite. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cholesky(cubed_array *x, bool upper,
                                                       uint64_t task_mem, cubed_array **out,
                                                       cubed_error *err);
/* Of matrices of any shape (n x m, k the smaller extent): a permutation p (n x n), l (n x k) with ones on the diagonal and
 * none of its elements more than 1, u (k x m), whose product is the matrix. One that a task cannot hold is refused by
 * the run. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lu(cubed_array *x, cubed_array **p, cubed_array **l,
                                                 cubed_array **u, cubed_error *err);
/* Determinants; their signs (of complex matrices: on the unit circle; 0 of singular ones) and the logarithms
 * of their absolute values. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_det(cubed_array *x, uint64_t task_mem,
                                                  cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_slogdet(cubed_array *x, uint64_t task_mem,
                                                      cubed_array **sign, cubed_array **logabsdet,
                                                      cubed_error *err);
/* A run fails with CUBED_E_ARG if a matrix is singular. x2: one vector, or matrices whose other axes
 * broadcast with those of x1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_inv(cubed_array *x, uint64_t task_mem,
                                                  cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_solve(cubed_array *x1, cubed_array *x2,
                                                    uint64_t task_mem, cubed_array **out,
                                                    cubed_error *err);
/* Q with orthonormal columns, as many as x has rows if `complete`, else the smaller number of both; R upper
 * triangular with a real diagonal. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_qr(cubed_array *x, bool complete, uint64_t task_mem,
                                                 cubed_array **q, cubed_array **r,
                                                 cubed_error *err);
/* Singular vectors are the columns of u and the rows of vh, all of them or so many as there are singular
 * values, which descend. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svd(cubed_array *x, bool full_matrices,
                                                  uint64_t task_mem, cubed_array **u,
                                                  cubed_array **s, cubed_array **vh,
                                                  cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svdvals(cubed_array *x, uint64_t task_mem,
                                                      cubed_array **out, cubed_error *err);
/* Of Hermitian matrices, of which the lower triangle is read: real eigenvalues, which ascend, and
 * orthonormal eigenvectors as columns. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigh(cubed_array *x, cubed_array **values,
                                                   cubed_array **vectors, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigvalsh(cubed_array *x, uint64_t task_mem,
                                                       cubed_array **out, cubed_error *err);
/* Of any square matrices: complex numbers, also where all eigenvalues are real; eigenvectors of length 1 as
 * columns. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eig(cubed_array *x, cubed_array **values,
                                                  cubed_array **vectors, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_eigvals(cubed_array *x, cubed_array **out,
                                                      cubed_error *err);
/* Singular values up to rtol times the largest one count as 0. rtol: one number or one for each matrix;
 * NULL: the larger number of rows and columns times the type's epsilon. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_rank(cubed_array *x, cubed_array *rtol,
                                                          uint64_t task_mem, cubed_array **out,
                                                          cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_pinv(cubed_array *x, cubed_array *rtol,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_power(cubed_array *x, int64_t n,
                                                           uint64_t task_mem, cubed_array **out,
                                                           cubed_error *err);

/* x of a x = b: `a` is the upper (lower) triangle of matrices, whose other elements are not looked at, nor is the diagonal
 * if it is one of ones. As cubed_solve otherwise. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_solve_triangular(cubed_array *a, cubed_array *b,
                                                               bool lower, bool unit_diagonal,
                                                               uint64_t task_mem, cubed_array **out,
                                                               cubed_error *err);
/* The x of least norm that brings a x nearest to b, of a matrix and a vector or the columns of a matrix; of each column
 * the sum of squares of what is left (of none, unless `a` has more rows than columns); how many singular values are more
 * than *rcond times the largest one, as int32; and those values. rcond NULL: the larger extent times the type's epsilon,
 * -1: that epsilon. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lstsq(cubed_array *a, cubed_array *b,
                                                    const double *rcond, uint64_t task_mem,
                                                    cubed_array **x, cubed_array **residuals,
                                                    cubed_array **rank, cubed_array **s,
                                                    cubed_error *err);
/* The inverse of `a` as a matrix whose rows are its first `ind` axes, with the others' extents in front; x of a x = b,
 * summed over x's axes: those of `a` behind as many as b has, after some are moved to its end (naxes 0: none). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensorinv(cubed_array *a, int ind, uint64_t task_mem,
                                                        cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_tensorsolve(cubed_array *a, cubed_array *b,
                                                          const int *axes, int naxes,
                                                          uint64_t task_mem, cubed_array **out,
                                                          cubed_error *err);
/* The product of n matrices, of which the first and the last may be vectors, in the order that takes the fewest
 * multiplications. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_multi_dot(cubed_array *const *arrays, int n,
                                                        cubed_array **out, cubed_error *err);

typedef struct cubed_svd_compressed_options {
    size_t struct_size;
    /* How often vectors are multiplied with the matrix and its adjoint: two passes each time. */
    int64_t n_power_iter;
    int64_t n_oversamples; /* how many vectors there are beside the k */
    int64_t seed;          /* of the vectors */
    bool coerce_signs;     /* the sums of right vectors are positive; not of complex matrices */
} cubed_svd_compressed_options;
#define CUBED_SVD_COMPRESSED_OPTIONS_INIT                                                          \
    {                                                                                              \
        sizeof(cubed_svd_compressed_options), 0, 10, 0, true                                       \
    }
/* About the k largest singular values of one matrix of any size, and their vectors, by its products with random
 * vectors. `options` may be NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_svd_compressed(
    cubed_array *x, int64_t k, const cubed_svd_compressed_options *options, uint64_t task_mem,
    cubed_array **u, cubed_array **s, cubed_array **vh, cubed_error *err);

typedef enum cubed_matrix_norm_ord {
    CUBED_NORM_FRO,
    CUBED_NORM_NUC,
    CUBED_NORM_1,
    CUBED_NORM_MINUS_1,
    CUBED_NORM_2,
    CUBED_NORM_MINUS_2,
    CUBED_NORM_INF,
    CUBED_NORM_MINUS_INF
} cubed_matrix_norm_ord;
/* By its name, "fro" or "nuc", or else by a number: 1, 2, infinity or their negatives. CUBED_E_ARG for others. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_norm_parse(const char *name, double number,
                                                                cubed_matrix_norm_ord *out,
                                                                cubed_error *err);

CUBED_API CUBED_MUST_CHECK cubed_status cubed_matrix_norm(cubed_array *x, cubed_matrix_norm_ord ord,
                                                          bool keepdims, uint64_t task_mem,
                                                          cubed_array **out, cubed_error *err);
typedef struct cubed_norm_options {
    size_t struct_size;
    /* One of them, as of cubed_matrix_norm_parse; both NULL: the root of the sum of squares. */
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
/* Of matrices in two axes, rows first, of vectors along others. axes NULL: the matrix, if there are two axes and a name
 * or number; else all elements. `options` may be NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_norm(cubed_array *x,
                                                   const cubed_norm_options *options,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
/* The norm times that of the inverse; of CUBED_NORM_2 the largest singular value over the smallest one, of -2 the
 * reverse, both infinite of zeros. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cond(cubed_array *x, cubed_matrix_norm_ord ord,
                                                   uint64_t task_mem, cubed_array **out,
                                                   cubed_error *err);
/* Over all elements along some axes (NULL: all); ord may be any number, infinite, too. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_vector_norm(cubed_array *x, double ord,
                                                          const int *axes, int naxes, bool keepdims,
                                                          cubed_array **out, cubed_error *err);

/* --- Indexing and searching ------------------------------------------------------------------------- */

/* The elements at positions along an axis, from its end if they are negative; positions are integers. A
 * run fails with CUBED_E_INDEX if one is out of range. Positions in memory, as int64, that lie in up to 256
 * runs with equal steps (also 0: repeated) are a concatenation of views, which fuses and reads only chunks with
 * wanted elements; x is stored before if it is computed and read more than once. Its chunks are as long as those
 * of x; a single run by steps of 1 or -1 has the chunks of a slice. Of other positions x is read once for every
 * block of positions, in its own chunks. The result is stored in blocks of at most 32 MiB, which are as long as
 * possible along the axis and have x's chunks along the others. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_take(cubed_array *x, cubed_array *positions, int axis,
                                                   cubed_array **out, cubed_error *err);
/* The same with positions for every line along the axis; the other axes broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_take_along_axis(cubed_array *x,
                                                              cubed_array *positions, int axis,
                                                              cubed_array **out, cubed_error *err);
/* Arrays of positions for several axes at once: positions[ndim] has an array for each axis of x, or NULL for
 * all of it; they broadcast against each other. Their axes are where the first of x's was if these lie next to
 * each other, else in front: as NumPy has x[i, :, j]. A run fails with CUBED_E_INDEX if a position is out of
 * range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_gather(cubed_array *x, cubed_array *const *positions,
                                                     cubed_array **out, cubed_error *err);
/* x with elements of `value` where the mask, of bool, is true: both broadcast to x's shape. The value is cast to
 * x's type, which the result has, as it has x's chunks; texts are cut or padded to x's length. CUBED_E_TYPE for
 * times that are not of x's unit, and texts of another kind. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_replace(cubed_array *x, cubed_array *mask,
                                                      cubed_array *value, cubed_array **out,
                                                      cubed_error *err);
/* x with `value`, which broadcasts to the shape that cubed_gather gives, at those positions: x[i, :, j] =
 * value. Where positions are equal the last one in C order counts. Types as in cubed_replace. For each block of x all
 * positions are read, in order. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_scatter(cubed_array *x, cubed_array *const *positions,
                                                      cubed_array *value, cubed_array **out,
                                                      cubed_error *err);
/* x with `value`, which broadcasts to what cubed_slice_array gives (further axes in front may have extent 1), at the
 * elements of these slices[ndim]: x[1:5, ::2, 3] = value. Types as in cubed_replace. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_assign(cubed_array *x, const cubed_slice *slices,
                                                     cubed_array *value, cubed_array **out,
                                                     cubed_error *err);
/* x with `values`, in one dimension, where the mask, of bool and x's shape, is true, in C order, types as in
 * cubed_replace. A run fails with CUBED_E_ARG if there are more values or fewer. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_scatter_mask(cubed_array *x, cubed_array *mask,
                                                           cubed_array *values, cubed_array **out,
                                                           cubed_error *err);
/* int64: how many elements of a mask of bool, in one dimension, are true in front of each block of `chunk`
 * elements (of the last one, which may be shorter, too), and how many there are in all. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_mask_offsets(cubed_array *mask, int64_t chunk,
                                                           cubed_array **out, cubed_error *err);
/* The elements of x where the mask, of bool and as long as x, is true; both have one dimension. There are
 * `count` of them: a run fails with CUBED_E_ARG if there are others. `offsets`: those of the mask for x's
 * chunks, for instance as the run had them that found out `count`; NULL: the run that makes the result reads
 * the mask twice. A task makes one chunk, and reads the blocks of x and the mask that its elements are in. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_compress(cubed_array *x, cubed_array *mask,
                                                       cubed_array *offsets, int64_t count,
                                                       cubed_array **out, cubed_error *err);
/* Where shapes depend on values they are counted by a run of the caller's: `..._offsets` and `..._total` make
 * the array to compute, which the function then takes with the count, its last element. `task_mem` as in
 * cubed_sort_options, the same in both. */

/* int64: coordinates of the elements that are not 0, in C order, one array for each dimension of x in outs.
 * CUBED_E_ARG if x has none. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nonzero_offsets(cubed_array *x, cubed_array **out,
                                                              cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_nonzero(cubed_array *x, cubed_array *offsets,
                                                      int64_t count, cubed_array **outs,
                                                      cubed_error *err);
/* What is NULL is not wanted. In one dimension of `count` elements but for `inverse`, which has x's shape. */
typedef struct cubed_unique_outputs {
    cubed_array **values;  /* different elements in order; NaN are all different */
    cubed_array **indices; /* int64: where each of them is first, in C order */
    cubed_array **inverse; /* int64: which of them each element of x is */
    cubed_array **counts;  /* int64: how often each of them is there */
} cubed_unique_outputs;
/* x is sorted, as cubed_sort_with does it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unique_offsets(cubed_array *x, uint64_t task_mem,
                                                             cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unique(cubed_array *x, cubed_array *offsets,
                                                     int64_t count, uint64_t task_mem,
                                                     const cubed_unique_outputs *outs,
                                                     cubed_error *err);
/* Bool, in the shape of x1: which of its elements are among those of x2 (with `invert`: are not). NaN is among
 * nothing. Texts are looked for among texts of their kind, of any length. Nothing is counted. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_isin(cubed_array *x1, cubed_array *x2, bool invert,
                                                   cubed_array **out, cubed_error *err);
/* Each element along an axis (NULL: of x in one dimension) as often as `repeats` says, integers or bools: one
 * for each, or one for all. `total` is their sum; -1, which the first function gives where some are negative,
 * is CUBED_E_ARG. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat_total(cubed_array *x, cubed_array *repeats,
                                                           const int *axis, cubed_array **out,
                                                           cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_repeat_each(cubed_array *x, cubed_array *repeats,
                                                          const int *axis, int64_t total,
                                                          cubed_array **out, cubed_error *err);
/* int64: where elements of x2 would be inserted into x1, which is sorted in one dimension, so that it
 * stays sorted: in front of those that are equal, or behind them if `right`. NaN is behind all numbers.
 * `sorter` (may be NULL): positions that sort x1. Texts are looked for among texts of their kind, of any length. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_searchsorted(cubed_array *x1, cubed_array *x2,
                                                           bool right, cubed_array *sorter,
                                                           cubed_array **out, cubed_error *err);

typedef struct cubed_interp_options {
    size_t struct_size;
    /* Values in front of the first point, and behind the last one; NULL: those there. */
    cubed_array *left, *right;
    /* Of x and xp, whose points are then in any order; more than 0. NULL: there is none */
    const double *period;
} cubed_interp_options;
#define CUBED_INTERP_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_interp_options), NULL, NULL, NULL                                             \
    }
/* float64, or complex128 of complex fp, in x's shape: values at x on straight lines between points xp, which ascend, with
 * values fp. All points are read for each block of x. CUBED_E_ARG where xp and fp are no vectors of one length, or
 * empty. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_interp(cubed_array *x, cubed_array *xp,
                                                     cubed_array *fp,
                                                     const cubed_interp_options *options,
                                                     cubed_array **out, cubed_error *err);

/* --- Fourier transforms ------------------------------------------------------------------------------ */

/* Which of the two directions is divided by the number of elements n: the inverse, both by sqrt(n), or the
 * forward one. */
typedef enum cubed_fft_norm {
    CUBED_FFT_BACKWARD,
    CUBED_FFT_ORTHO,
    CUBED_FFT_FORWARD
} cubed_fft_norm;

/* Discrete Fourier transforms along an axis, which may be negative: of complex numbers; of real ones (rfft,
 * ihfft: n / 2 + 1 complex numbers); of the same, to real ones (irfft, hfft). n is the number of elements that
 * are transformed, or that come out where these are real: the input is cut or gets zeros behind it
 * accordingly. NULL: all there are, and 2 (m - 1) for m elements that become real ones. Where complex numbers
 * are expected others are taken for such; float32 and complex64 stay single precision, but are transformed in
 * double and rounded once per axis. Any length is fast, powers of 2, 3, 5, 7 and 11 are fastest. An axis is in
 * one block: a task needs memory for it three times, and for 3 to 22 times one line along it. Where that is
 * more than `task_mem`, or there are more than 2**28 elements, the axis becomes a matrix of about as many rows
 * as columns (Bailey's four steps). Its two transforms are rounded one after the other, so that last bits
 * depend on task_mem; x is read and stored up to nine times. A number of elements without factors that fit is
 * padded to one that has them (Bluestein), in double precision; more than 2**30 of them are
 * CUBED_E_UNSUPPORTED. */
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
    const int64_t *s; /* n of each axis; -1 or s NULL: as n NULL */
    const int *axes;  /* each once; of real numbers the last one; NULL: all, and s is NULL, too */
    int naxes;
    cubed_fft_norm norm;
    uint64_t task_mem; /* what tasks may use, where that is known; 0: an axis is in one block */
} cubed_fft_options;
#define CUBED_FFT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_fft_options), NULL, NULL, 0, CUBED_FFT_BACKWARD, 0                            \
    }
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fft_with(cubed_transform transform, cubed_array *x,
                                                       const cubed_fft_options *options,
                                                       cubed_array **out, cubed_error *err);
/* Along one axis, without knowing what tasks may use. */
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
/* The same along several axes, each once; those with real numbers along the last one of the list. axes NULL:
 * all, and s must be NULL, too. s[naxes] as n above, -1: as if s were NULL. Axes that are small together are
 * transformed in one pass, others in one each. */
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
/* Frequencies of the elements of cubed_fft, and of those of cubed_rfft, for samples at a distance of d.
 * dtype: float32 or float64. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fftfreq(cubed_context *ctx, int64_t n, double d,
                                                      cubed_dtype dtype, cubed_array **out,
                                                      cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rfftfreq(cubed_context *ctx, int64_t n, double d,
                                                       cubed_dtype dtype, cubed_array **out,
                                                       cubed_error *err);
/* Views with the frequency 0 in the middle of these axes (NULL: of all), and the way back. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_fftshift(cubed_array *x, const int *axes, int naxes,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ifftshift(cubed_array *x, const int *axes, int naxes,
                                                        cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
