/* Reductions with NumPy's options `dtype`, `initial` and `where`: the type of the result, an additional element, and a mask of
 * the elements that are reduced. */
#ifndef CB_CHOSEN_REDUCTIONS_H
#define CB_CHOSEN_REDUCTIONS_H

#include "cubed/array_api.h"

typedef struct cb_chosen_options {
    const char *name; /* name of the function, for messages */
    cubed_reduction reduction;
    bool skip_nan;
    cubed_reduce_options reduce;
    const cubed_dtype
        *dtype; /* type of the reduced elements and of the result; NULL: the function's own type */
    cubed_array *
        initial; /* 0-d array with an additional element; NULL: no such element. For CUBED_REDUCE_SUM to CUBED_REDUCE_MAX
                  * only */
    cubed_array *
        where; /* bool mask of the selected elements, broadcast to x's shape; NULL: all elements are selected */
} cb_chosen_options;

/* Reduces x with NumPy's options `dtype`, `initial` and `where`. The mean of no elements is NaN; min and max of no elements
 * need `initial`. Elements become bools for `all` and `any`: NaN, NaT and strings that are not empty are true.
 *
 * Errors: CUBED_E_TYPE for a mask of another type than bool; CUBED_E_ARG for shapes that do not fit. */
CUBED_MUST_CHECK cubed_status cb_reduce_chosen(cubed_array *x, const cb_chosen_options *options,
                                               cubed_array **out, cubed_error *err);

#endif
