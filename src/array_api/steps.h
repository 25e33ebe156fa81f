/* Expressions of many operations: references are kept until all is written, and the first failure makes
 * every later step return NULL. */
#ifndef CB_API_STEPS_H
#define CB_API_STEPS_H

#include "cubed/array.h"

typedef struct cb_steps {
    cubed_context *ctx;
    cubed_error *err;
    cubed_status st;
    size_t n, cap;
    cubed_array **made;
} cb_steps;

/* Keeps what a function has made in *x; NULL if it failed. */
cubed_array *cb_step(cb_steps *s, cubed_status st, cubed_array *const *x);
/* Operands that are not there are NULL. */
cubed_array *cb_step_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b, cubed_array *c);
cubed_array *cb_step_cast(cb_steps *s, cubed_array *x, cubed_dtype dtype);
cubed_array *cb_step_reshaped(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape);
cubed_array *cb_step_permuted(cb_steps *s, cubed_array *x, const int *order);
cubed_array *cb_step_broadcast(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape);
/* Whether these are a signed integer type and uint64, which no integer type holds both. */
bool cb_steps_mix_uint64(cubed_dtype a, cubed_dtype b);
/* Of such types: which elements of x, of one, are beyond the other one (uint64, or int64 for all signed ones). */
cubed_array *cb_step_beyond(cb_steps *s, cubed_array *x);
/* Scalars. */
cubed_array *cb_step_float(cb_steps *s, double value);
cubed_array *cb_step_scalar(cb_steps *s, cubed_dtype dtype, const cubed_scalar *value);
/* x, stored, where all elements of `holds`, of its shape, are true; a run fails with CUBED_E_ARG and the text,
 * of less than 200 characters, otherwise. */
cubed_array *cb_step_required(cb_steps *s, cubed_array *x, cubed_array *holds, const char *text);
/* Positions along an axis from its start, stored: a run fails with CUBED_E_INDEX if one is not in it. */
cubed_array *cb_step_wrapped(cb_steps *s, cubed_array *positions, int axis, int64_t extent);
/* Texts x, those of `value` where the mask is true; all have x's shape. */
cubed_array *cb_step_replaced_texts(cb_steps *s, cubed_array *x, cubed_array *mask,
                                    cubed_array *value);
/* Gives up all that was made, but for one more reference of x in *out; returns the status. */
cubed_status cb_steps_end(cb_steps *s, cubed_array *x, cubed_array **out);

#endif
