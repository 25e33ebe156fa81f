/* Quantiles of dates and of differences of times. */
#ifndef CB_API_TIME_QUANTILES_H
#define CB_API_TIME_QUANTILES_H

#include "array_api/number_quantiles.h"

/* Quantiles of times, in x's type. A quantile is NaT if one of the elements is NaT, or with `skip_nan` if all are.
 * Elements of which missing ones are skipped are sorted, because lines then have different lengths. CUBED_E_TYPE for
 * methods that give numbers between elements, except linear; CUBED_E_ARG if there are no elements. */
CUBED_MUST_CHECK cubed_status cb_api_time_quantiles(cubed_array *x, const cb_quantiles *wanted,
                                                    cubed_array **out, cubed_error *err);
/* The median of differences of times: the mean of the two elements in the middle, truncated as in NumPy. */
CUBED_MUST_CHECK cubed_status cb_api_time_median(cubed_array *x, const cubed_quantile_options *o,
                                                 cubed_array **out, cubed_error *err);

#endif
