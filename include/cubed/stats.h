/* Statistics of samples, with SciPy's names: real numbers along axes (options NULL: all of them). Lazy, as all of
 * cubed/array.h. Integers are computed as float64, others in their type. `correction` of the options is not used.
 * CUBED_E_TYPE for other types than real numbers. */
#ifndef CUBED_STATS_H
#define CUBED_STATS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Moments ---------------------------------------------------------------------------------------- */

/* The mean of powers of distances from the mean, or from *center, if that is not NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_moment(cubed_array *x, double order,
                                                     const double *center,
                                                     const cubed_reduce_options *options,
                                                     cubed_array **out, cubed_error *err);
/* The skewness, and the kurtosis (3 of a normal distribution, 0 with `fisher`): NaN of elements that are all equal.
 * Without `bias` they are corrected for few elements. Each reads x twice. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_skew(cubed_array *x, bool bias,
                                                   const cubed_reduce_options *options,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_kurtosis(cubed_array *x, bool fisher, bool bias,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);

/* --- Statistics of tests ------------------------------------------------------------------------------ */

/* How far the skewness (of 8 elements at least), and the kurtosis (of 5), are from those of a normal distribution, as
 * one is distributed whose deviation is 1; and the sum of both squares. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_skewtest(cubed_array *x,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_kurtosistest(cubed_array *x,
                                                           const cubed_reduce_options *options,
                                                           cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_normaltest(cubed_array *x,
                                                         const cubed_reduce_options *options,
                                                         cubed_array **out, cubed_error *err);

/* Student's t of a mean that is expected to be `popmean`, which broadcasts with the means (NULL: 0). One degree of
 * freedom less than there are elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_1samp(cubed_array *x, cubed_array *popmean,
                                                          const cubed_reduce_options *options,
                                                          cubed_array **out, cubed_error *err);
/* The same of the differences of two measurements of as many elements, expected to be 0. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_rel(cubed_array *a, cubed_array *b,
                                                        const cubed_reduce_options *options,
                                                        cubed_array **out, cubed_error *err);
/* Student's t of two samples with one variance, or Welch's; the degrees of freedom of this one in *df, of that
 * elements less 2 (a number). df NULL: nobody asks. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_ttest_ind(cubed_array *a, cubed_array *b,
                                                        bool equal_var,
                                                        const cubed_reduce_options *options,
                                                        cubed_array **out, cubed_array **df,
                                                        cubed_error *err);
/* F of n samples, two at least, which are expected to have one mean. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_f_oneway(cubed_array *const *samples, int n,
                                                       const cubed_reduce_options *options,
                                                       cubed_array **out, cubed_error *err);
/* The distance of counts from those that are expected (NULL: all equal), by the statistic of Cressie and Read with this
 * power: 1 is chi-square, 0 the logarithm of likelihoods (float64, as that of -1). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_power_divergence(cubed_array *observed,
                                                               cubed_array *expected, double power,
                                                               const cubed_reduce_options *options,
                                                               cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
