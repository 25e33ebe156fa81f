/* Statistics of samples of real numbers along axes, with SciPy's names. All functions are lazy: they return arrays, which a plan
 * computes. If `options` is NULL, all axes are reduced. Integers are converted to float64, other types are not converted.
 * `correction` of cubed_reduce_options is not used. All functions except cubed_variance fail with CUBED_E_TYPE if the elements
 * are not real numbers. */
#ifndef CUBED_STATS_H
#define CUBED_STATS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Moments ---------------------------------------------------------------------------------------- */

/* Computes moments: the mean of the `order`-th powers of the distances from the mean, or from *center if `center` is not
 * NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_moment(cubed_array *x, double order,
                                                     const double *center,
                                                     const cubed_reduce_options *options,
                                                     cubed_array **out, cubed_error *err);
/* Flags of cubed_kurtosis. */
#define CUBED_KURTOSIS_FISHER 1u /* a normal distribution has kurtosis 0; without this flag, 3 */
#define CUBED_KURTOSIS_BIAS   2u /* the result is not corrected for the bias of small samples */
/* Compute the skewness and the kurtosis; NaN if all elements are equal. The result is corrected for the number of elements,
 * unless `bias` or CUBED_KURTOSIS_BIAS is set. Each reads x twice. CUBED_E_ARG for unknown flags. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_skew(cubed_array *x, bool bias,
                                                   const cubed_reduce_options *options,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_kurtosis(cubed_array *x, unsigned flags,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);

/* --- Variances ---------------------------------------------------------------------------------------- */

typedef struct cubed_variance_options {
    size_t struct_size;
    const int *axes; /* NULL: all axes; negative numbers count from the last axis */
    int naxes;
    bool keepdims;
    bool root;         /* compute the standard deviation, the square root of the variance */
    bool skip_nan;     /* NaN is skipped; false: one NaN makes the result NaN */
    double correction; /* the divisor is the number of elements minus `correction` */
} cubed_variance_options;
#define CUBED_VARIANCE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_variance_options), NULL, 0, false, false, false, 0.0                          \
    }
/* Computes variances. The variance of complex numbers is the sum of the variances of both parts.
 *
 * where  bools that broadcast to x's shape: true for the elements to include; NULL: all elements
 *
 * Errors: CUBED_E_TYPE if x has no numbers or `where` no bools; CUBED_E_ARG if `where` does not broadcast. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_variance(cubed_array *x, cubed_array *where,
                                                       const cubed_variance_options *options,
                                                       cubed_array **out, cubed_error *err);

/* --- Statistics of tests ------------------------------------------------------------------------------ */

/* Compute test statistics for samples from a normal distribution.
 *
 * cubed_skewtest      the z-score of the skewness; for at least 8 elements
 * cubed_kurtosistest  the z-score of the kurtosis; for at least 5 elements
 * cubed_normaltest    the sum of the squares of both */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_skewtest(cubed_array *x,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_kurtosistest(cubed_array *x,
                                                           const cubed_reduce_options *options,
                                                           cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_normaltest(cubed_array *x,
                                                         const cubed_reduce_options *options,
                                                         cubed_array **out, cubed_error *err);

/* Computes Student's t of the mean of a sample.
 *
 * popmean  expected value of the mean; broadcasts with the means; NULL: 0
 *
 * The degrees of freedom are the number of elements minus 1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_1samp(cubed_array *x, cubed_array *popmean,
                                                          const cubed_reduce_options *options,
                                                          cubed_array **out, cubed_error *err);
/* Computes Student's t of two paired samples: of the mean of the differences a - b, whose expected value is 0. The degrees of
 * freedom are the number of pairs minus 1. CUBED_E_ARG if the samples have different numbers of elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_rel(cubed_array *a, cubed_array *b,
                                                        const cubed_reduce_options *options,
                                                        cubed_array **out, cubed_error *err);
/* Computes Student's t of two samples with equal variances (equal_var), or Welch's t for unequal variances.
 *
 * df  receives the degrees of freedom: the number of elements minus 2 as a 0-d array, or for Welch's t an array of the
 *     result's shape; may be NULL */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_ind(cubed_array *a, cubed_array *b,
                                                        bool equal_var,
                                                        const cubed_reduce_options *options,
                                                        cubed_array **out, cubed_array **df,
                                                        cubed_error *err);
/* Computes the statistic F of a one-way analysis of variance of n samples, n >= 2 (else CUBED_E_ARG). The null hypothesis is
 * that all samples have the same expected mean. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_f_oneway(cubed_array *const *samples, int n,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);
/* Computes the distance of observed counts from expected counts by the statistic of Cressie and Read. Its parameter is `power`:
 * 1 is chi-square, 0 the log-likelihood ratio. `expected` NULL: all counts are expected to be equal. Powers 0 and -1 give
 * float64. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_power_divergence(cubed_array *observed,
                                                               cubed_array *expected, double power,
                                                               const cubed_reduce_options *options,
                                                               cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
