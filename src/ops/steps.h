/* Expressions of many operations: references are kept until all is written, and the first failure makes
 * every later step return NULL. */
#ifndef CB_STEPS_H
#define CB_STEPS_H

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
cubed_array *cb_step_reduce(cb_steps *s, cubed_reduction reduction, cubed_array *x,
                            const cubed_reduce_options *options);
/* Elements start, start + step, ... along an axis; NULL of NULL. */
cubed_array *cb_step_part(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                          int64_t step);
cubed_array *cb_step_concat(cb_steps *s, cubed_array *const *parts, int n, int axis);
/* Of times as int64, where the least one is NaT: where it is; x with it where the condition holds. */
cubed_array *cb_step_is_nat(cb_steps *s, cubed_array *x);
cubed_array *cb_step_nat_where(cb_steps *s, cubed_array *condition, cubed_array *x);
/* The type that dates, or spans of time, are compared in; `name` is for messages. */
CUBED_MUST_CHECK cubed_status cb_op_common_time(const char *name, const cubed_array *a,
                                                const cubed_array *b, cubed_dtype *out,
                                                cubed_error *err);
/* int64 by int64, towards 0, as differences of times are divided by numbers. */
cubed_array *cb_step_divided_time(cb_steps *s, cubed_array *x, cubed_array *n);
/* Scalars: float64, int64. */
cubed_array *cb_step_float(cb_steps *s, double value);
cubed_array *cb_step_whole(cb_steps *s, int64_t value);
/* A number in the type that Python's floats have beside an array: float64 beside integers, bools and times, else its
 * own; NULL of NULL. */
cubed_array *cb_step_number(cb_steps *s, const cubed_array *beside, double value);
cubed_array *cb_step_scalar(cb_steps *s, cubed_dtype dtype, const cubed_scalar *value);
/* Gives up all that was made, but for one more reference of x in *out; returns the status. */
cubed_status cb_steps_end(cb_steps *s, cubed_array *x, cubed_array **out);
/* The same for n of them; those whose place is NULL are not wanted. */
cubed_status cb_steps_end_all(cb_steps *s, cubed_array *const *x, cubed_array **const *outs, int n);

#endif
