/* Quantiles of numbers, which the quantiles of times also use. */
#ifndef CB_API_NUMBER_QUANTILES_H
#define CB_API_NUMBER_QUANTILES_H

#include "array_api/api_pkg.h"
#include "cubed/array_api.h"

/* The requested quantiles of an array. */
typedef struct cb_quantiles {
    const double *q;
    int n;
    /* The result has a leading axis for the quantiles. If false, there is one quantile (n is 1). */
    bool in_front;
    cubed_quantile_options o;
    uint32_t reduced; /* bit d: `o` names axis d as a reduced axis */
} cb_quantiles;

/* Returns the name of a method, as in cubed/quantiles.def. */
const char *cb_api_quantile_method_name(cubed_quantile_method method);

/* Computes quantiles of numbers. */
CUBED_MUST_CHECK cubed_status cb_api_number_quantiles(cubed_array *x, const cb_quantiles *wanted,
                                                      cubed_array **out, cubed_error *err);

#endif
