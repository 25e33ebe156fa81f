/* Quantiles of numbers, of which those of times consist. */
#ifndef CB_API_NUMBER_QUANTILES_H
#define CB_API_NUMBER_QUANTILES_H

#include "array_api/api_pkg.h"
#include "cubed/array_api.h"

/* The quantiles that a caller wants of an array. */
typedef struct cb_quantiles {
    const double *q;
    int n;
    bool in_front; /* the result has an axis for the quantiles, the first one; else n is 1 */
    cubed_quantile_options o;
    uint32_t reduced; /* the axes of `o`, as bits */
} cb_quantiles;

/* The name of a method, as in cubed/quantiles.def. */
const char *cb_api_quantile_method_name(cubed_quantile_method method);

CUBED_MUST_CHECK cubed_status cb_api_number_quantiles(cubed_array *x, const cb_quantiles *wanted,
                                                      cubed_array **out, cubed_error *err);

#endif
