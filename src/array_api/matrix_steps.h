/* Steps of expressions of matrices. */
#ifndef CB_API_MATRIX_STEPS_H
#define CB_API_MATRIX_STEPS_H

#include "ops/steps.h"

/* Fails with CUBED_E_LINALG if x has fewer than two axes. `name` is for messages. */
CUBED_MUST_CHECK cubed_status cb_check_matrices(const char *name, const cubed_array *x,
                                                cubed_error *err);
/* Sets the type in which a and b are computed: their promoted type, or a's type if b is NULL. Integers and bools are computed in
 * float64. */
CUBED_MUST_CHECK cubed_status cb_floating(const char *name, const cubed_array *a,
                                          const cubed_array *b, cubed_dtype *out, cubed_error *err);
cubed_array *cb_step_product(cb_steps *s, cubed_array *a, cubed_array *b);
cubed_array *cb_step_adjoint(cb_steps *s, cubed_array *x);
/* Returns a vector as a matrix of one column; a matrix unchanged. */
cubed_array *cb_step_column(cb_steps *s, cubed_array *x);
/* Sets `out` to u, s and vh of the reduced singular value decomposition of x (cubed_svd). The entries are NULL after a
 * failure. */
void cb_step_svd(cb_steps *s, cubed_array *x, uint64_t task_mem, cubed_array *out[3]);

#endif
