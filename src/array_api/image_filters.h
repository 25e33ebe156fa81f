/* Filters from which other image functions are composed. */
#ifndef CB_IMAGE_FILTERS_H
#define CB_IMAGE_FILTERS_H

#include "cubed/filters.h"

/* n weights for the neighbours of an element along one axis. The element itself is at n / 2 + origin. */
typedef struct cb_filter_line {
    int axis;
    const double *weights;
    int64_t n, origin;
} cb_filter_line;

/* Correlate x with weights along one axis, or with weights for each element of a box, on behalf of another function. `name` is
 * its name in messages; other arguments and errors: see cubed_filter_correlate1d and cubed_filter_correlate. */
CUBED_MUST_CHECK cubed_status cb_filter_correlate1d(const char *name, cubed_array *x,
                                                    const cb_filter_line *line,
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

/* Computes the minimum or maximum of the elements of a structure, for any real type. Maxima add the structure's heights to the
 * elements, minima subtract them. `name` is the function's name in messages. Errors: those of cubed_filter_rank. */
CUBED_MUST_CHECK cubed_status cb_filter_extreme(const char *name, cubed_array *x, bool greatest,
                                                const cubed_structure *structure,
                                                const cubed_filter_options *options,
                                                cubed_array **out, cubed_error *err);

#endif
