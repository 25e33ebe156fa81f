/* Filters from which other image functions are composed. */
#ifndef CB_IMAGE_FILTERS_H
#define CB_IMAGE_FILTERS_H

#include "cubed/filters.h"

/* Correlate x with weights along one axis, or with weights for each element of a box, on behalf of another function. `name` is
 * its name in messages; other arguments and errors: see cubed_filter_correlate1d and cubed_filter_correlate. */
CUBED_MUST_CHECK cubed_status cb_filter_correlate1d(const char *name, cubed_array *x, int axis,
                                                    const double *weights, int64_t n,
                                                    int64_t origin,
                                                    const cubed_filter_options *options,
                                                    cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_filter_correlate(const char *name, cubed_array *x,
                                                  const double *weights, const int64_t *shape,
                                                  const cubed_filter_options *options,
                                                  cubed_array **out, cubed_error *err);

/* Correlates x along every axis d whose bit is set in `axes`, with the same n weights along each of these axes. n is odd. */
CUBED_MUST_CHECK cubed_status cb_filter_correlate_axes(const char *name, cubed_array *x,
                                                       uint32_t axes, const double *weights, int n,
                                                       const cubed_filter_options *options,
                                                       cubed_array **out, cubed_error *err);

/* Computes the minimum or maximum of boxes, for any real type.
 *
 * name       function, for messages
 * size       extent of the box for each axis
 * footprint  a byte for each element of a box, 0 if the element is ignored; NULL: no element is ignored
 * added      a number for each element of a box: maxima add it to the element, minima subtract it; NULL: 0
 *
 * Errors: those of cubed_filter_rank. */
CUBED_MUST_CHECK cubed_status cb_filter_extreme(const char *name, cubed_array *x, bool greatest,
                                                const int64_t *size, const uint8_t *footprint,
                                                const double *added,
                                                const cubed_filter_options *options,
                                                cubed_array **out, cubed_error *err);

#endif
