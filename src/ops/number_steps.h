/* Expressions of several operations on numbers.
 *
 * Code calls one function (a step) after another, without checking for errors: after the first failure, every step returns NULL.
 * A cb_steps holds references to all intermediate arrays until cb_steps_end. Operations on times and strings are built from the
 * steps in this header, so these steps must not use operations on times and strings. Steps for arrays of any type are in
 * steps.h. */
#ifndef CB_NUMBER_STEPS_H
#define CB_NUMBER_STEPS_H

#include "cubed/array.h"

typedef struct cb_steps {
    cubed_context *ctx;
    cubed_error *err;
    cubed_status st; /* status of the first step that failed */
    size_t n, cap;
    cubed_array **made;
} cb_steps;

/* Takes ownership of *x, the result of a function that returned `st`. Returns *x, or NULL if `st` is an error. */
cubed_array *cb_step(cb_steps *s, cubed_status st, cubed_array *const *x);
/* Ends the steps: releases all intermediate arrays, and returns the status of the first failed step or CUBED_OK. *out receives a
 * reference to the result x. */
cubed_status cb_steps_end(cb_steps *s, cubed_array *x, cubed_array **out);
/* Like cb_steps_end, for n results: *outs[i] receives a reference to x[i]. outs[i] is NULL for a result that the caller does not
 * need. CUBED_E_INTERNAL if a needed result is NULL although no step failed. */
cubed_status cb_steps_end_all(cb_steps *s, cubed_array *const *x, cubed_array **const *outs, int n);

/* Return a 0-d constant of a given type, of float64, or of int64. */
cubed_array *cb_step_scalar(cb_steps *s, cubed_dtype dtype, const cubed_scalar *value);
cubed_array *cb_step_float(cb_steps *s, double value);
cubed_array *cb_step_whole(cb_steps *s, int64_t value);

/* Returns an elementwise operation on numbers. b and c are NULL if the operation has fewer operands. */
cubed_array *cb_number_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b, cubed_array *c);
/* Returns a cast between numbers, or between a time and its int64. */
cubed_array *cb_number_cast(cb_steps *s, cubed_array *x, cubed_dtype dtype);
cubed_array *cb_number_reduce(cb_steps *s, cubed_reduction reduction, cubed_array *x,
                              const cubed_reduce_options *options);

/* Times as int64 numbers, of which the smallest means NaT (not a time).
 *
 * cb_step_is_nat     true for each element that is NaT
 * cb_step_nat_where  x, in which elements are replaced by NaT where the condition is true */
cubed_array *cb_step_is_nat(cb_steps *s, cubed_array *x);
cubed_array *cb_step_nat_where(cb_steps *s, cubed_array *condition, cubed_array *x);
/* Returns the quotient of two int64 arrays, rounded towards 0, as NumPy divides time differences by integers. */
cubed_array *cb_step_divided_time(cb_steps *s, cubed_array *x, cubed_array *n);
/* Gets the common type for comparing dates or time differences (time.c). `name` is for messages. */
CUBED_MUST_CHECK cubed_status cb_op_common_time(const char *name, const cubed_array *a,
                                                const cubed_array *b, cubed_dtype *out,
                                                cubed_error *err);
/* Gets the common type for comparing elements of two types of one family: dates or time differences. `name` is for messages.
 * CUBED_E_TYPE if they have no common type. */
CUBED_MUST_CHECK cubed_status cb_op_common_time_type(const char *name, cubed_dtype a, cubed_dtype b,
                                                     cubed_dtype *out, cubed_error *err);

#endif
