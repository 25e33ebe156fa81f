/* Arguments of a call, bound to the function's parameters and checked. */
#ifndef CB_CATALOGUE_CHECK_H
#define CB_CATALOGUE_CHECK_H

#include "cubed/catalogue.h"

/* The values of all parameters of a call, and the memory that they need. `items` is the list of arrays of a variadic parameter;
 * cb_bound_free frees it. */
typedef struct cb_bound {
    cubed_value values[CUBED_MAX_PARAMS];
    int numbers[CUBED_MAX_PARAMS]; /* 1 + the argument number of each parameter; 0 if not given */
    cubed_array **items;
    size_t nitems;
} cb_bound;

/* Binds the arguments of a call to the function's parameters, checks them, and fills in defaults: *out has one value for each
 * parameter. Requires that *out is zeroed. Call cb_bound_free even after an error. */
CUBED_MUST_CHECK cubed_status cb_bind(cubed_context *ctx, const cubed_function *f,
                                      const cubed_argument *arguments, int n, cb_bound *out,
                                      cubed_error *err);
void cb_bound_free(cubed_context *ctx, cb_bound *bound);

#endif
