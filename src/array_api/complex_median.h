/* Medians of complex numbers. */
#ifndef CB_COMPLEX_MEDIAN_H
#define CB_COMPLEX_MEDIAN_H

#include "array_api/api_pkg.h"

/* Computes the middle element of complex numbers along the axes in `reduced` (bit d), or the mean of the two middle elements.
 * Elements are ordered by real parts, then by imaginary parts. The result is NaN + NaN i if an element is NaN. With skip_nan, it
 * is NaN + NaN i only if all elements are NaN. */
CUBED_MUST_CHECK cubed_status cb_api_complex_median(cubed_array *x, uint32_t reduced,
                                                    const cubed_quantile_options *o,
                                                    cubed_array **out, cubed_error *err);

/* Creates complex numbers of the given type from real and imaginary parts. */
cubed_array *cb_api_join_parts(cb_steps *s, cubed_array *re, cubed_array *im, cubed_dtype dtype);

#endif
