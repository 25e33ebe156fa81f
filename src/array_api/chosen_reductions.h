/* Reductions in another type, from a first value, and of elements that a mask chooses. */
#ifndef CB_CHOSEN_REDUCTIONS_H
#define CB_CHOSEN_REDUCTIONS_H

#include "cubed/array_api.h"

typedef struct cb_chosen_options {
    const char *name; /* name of the function, for messages */
    cubed_reduction reduction;
    bool skip_nan;
    cubed_reduce_options reduce;
    const cubed_dtype
        *dtype; /* in which elements are reduced, and of the result; NULL: the function's */
    cubed_array *
        initial; /* 0-d, one more element; NULL: none. CUBED_REDUCE_SUM to CUBED_REDUCE_MAX take it */
    cubed_array *where; /* bool, broadcast to the shape; NULL: all elements are chosen */
} cb_chosen_options;

/* As NumPy's functions with `dtype`, `initial` and `where`. Without an element the mean is NaN; min and max need `initial`.
 * Elements become bools for `all` and `any`: NaN, NaT and strings that are not empty are true.
 *
 * Errors: CUBED_E_TYPE for a mask of another type than bool; CUBED_E_ARG for shapes that do not fit. */
CUBED_MUST_CHECK cubed_status cb_reduce_chosen(cubed_array *x, const cb_chosen_options *options,
                                               cubed_array **out, cubed_error *err);

#endif
