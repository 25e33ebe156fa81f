/* Functions that build an expression of lazy arrays, of any type, step by step. number_steps.h has those for numbers. */
#ifndef CB_STEPS_H
#define CB_STEPS_H

#include "ops/number_steps.h"

/* Returns an operation. Unused operands are NULL. */
cubed_array *cb_step_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b, cubed_array *c);
/* Return an operation with one operand, with two operands, or with an array and a number. The number has the type that a Python
 * float has in an operation with the array. Return NULL if an operand is NULL. */
cubed_array *cb_step_unary(cb_steps *s, cubed_op op, cubed_array *a);
cubed_array *cb_step_binary(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b);
cubed_array *cb_step_by(cb_steps *s, cubed_op op, cubed_array *a, double b);
/* Returns an array with the elements of a where the condition is true, and of b elsewhere. Returns NULL if an operand is NULL. */
cubed_array *cb_step_where(cb_steps *s, cubed_array *condition, cubed_array *a, cubed_array *b);
cubed_array *cb_step_cast(cb_steps *s, cubed_array *x, cubed_dtype dtype);
cubed_array *cb_step_reshaped(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape);
cubed_array *cb_step_permuted(cb_steps *s, cubed_array *x, const int *order);
cubed_array *cb_step_broadcast(cb_steps *s, cubed_array *x, int ndim, const int64_t *shape);
/* Returns true if one type is a signed integer type and the other is uint64, because they have no common integer type. */
bool cb_steps_mix_uint64(cubed_dtype a, cubed_dtype b);
/* Returns a bool for each element of x, an operand of mixed integer types (cb_steps_mix_uint64). The result is true for elements
 * that the other type cannot represent: negative elements if x is signed, elements that exceed int64 if x is uint64, even if the
 * other type is shorter than int64. */
cubed_array *cb_step_beyond(cb_steps *s, cubed_array *x);
cubed_array *cb_step_reduce(cb_steps *s, cubed_reduction reduction, cubed_array *x,
                            const cubed_reduce_options *options);
/* Selects elements start, start + step, ... along an axis. Returns NULL if x is NULL. */
cubed_array *cb_step_part(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                          int64_t step);
cubed_array *cb_step_concat(cb_steps *s, cubed_array *const *parts, int n, int axis);
/* Creates a 0-d zero of any type: an empty string, or the epoch of dates. */
CUBED_MUST_CHECK cubed_status cb_op_zero(cubed_context *ctx, cubed_dtype dtype, cubed_array **out,
                                         cubed_error *err);
/* Returns a number in the type that a Python float has in an operation with an array: float64 for integers, bools and times,
 * otherwise the array's type. Returns NULL if `beside` is NULL. */
cubed_array *cb_step_number(cb_steps *s, const cubed_array *beside, double value);

#endif
