/* Arithmetic on lazy arrays. Each function replaces an array by the result of an operation on it. */
#ifndef CUBED_CLI_ARRAY_STEPS_H
#define CUBED_CLI_ARRAY_STEPS_H

#include "cubed/cubed.h"

/* Replaces *x by op(*x, y). On an error, *x is unchanged. */
cubed_status step_with_array(cubed_op op, cubed_array **x, cubed_array *y, cubed_error *err);
/* Replaces *x by op(*x, number), with a number of type `dtype`. On an error, *x is unchanged. */
cubed_status step_with_number(cubed_op op, cubed_array **x, cubed_dtype dtype, cubed_scalar number,
                              cubed_error *err);

#endif
