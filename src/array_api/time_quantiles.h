/* Quantiles of dates and time differences. */
#ifndef CB_API_TIME_QUANTILES_H
#define CB_API_TIME_QUANTILES_H

#include "array_api/number_quantiles.h"

/* Computes quantiles of times, in x's type. A quantile is NaT if an element is NaT; with `skip_nan` only if all elements are
 * NaT. If missing elements are skipped, lines are sorted, because they then have different lengths. CUBED_E_TYPE for methods
 * that interpolate between elements, except "linear"; CUBED_E_ARG if there are no elements. */
CUBED_MUST_CHECK cubed_status cb_api_time_quantiles(cubed_array *x, const cb_quantiles *wanted,
                                                    cubed_array **out, cubed_error *err);
/* Computes the median of time differences: the mean of the two middle elements, truncated as in NumPy. */
CUBED_MUST_CHECK cubed_status cb_api_time_median(cubed_array *x, const cubed_quantile_options *o,
                                                 cubed_array **out, cubed_error *err);

#endif
