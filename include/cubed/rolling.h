/* Reductions of windows that move along axes. */
#ifndef CUBED_ROLLING_H
#define CUBED_ROLLING_H

#include "cubed/groupby.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A window around each element: the element, `before` elements before it and `after` elements after it. */
typedef struct cubed_window {
    int axis; /* negative: counted from the last axis */
    int64_t before, after;
} cubed_window;

typedef struct cubed_rolling_options {
    size_t struct_size;
    /* Minimum number of elements; windows with fewer elements give NaN; ignored by count. */
    int64_t min_count;
    double correction; /* divisor of var and std: N - correction */
} cubed_rolling_options;
#define CUBED_ROLLING_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cubed_rolling_options), 1, 0.0                                                      \
    }

/* Reduces the elements that are not NaN in a window around each element of x, along one or more axes. There are no elements
 * beyond the ends of the array. The result has x's shape, and x's type if that is a floating-point type, else float64; counts
 * are int64. It is stored.
 *
 * reduction  count, sum, prod, mean, var, std, min or max
 *
 * x is read block by block, with the elements around each block. A block is at least as long as its windows, or as long as the
 * axis. Elements are combined in float64, about twice for each axis regardless of the length of the windows. Elements are never
 * subtracted (block/block_rolling.c cites the algorithm), so results do not depend on chunks. Variances are merged by Chan's
 * formula.
 *
 * Errors: CUBED_E_ARG for another reduction, for no windows, and for a window of negative extent; CUBED_E_AXIS for an axis that
 * x does not have; CUBED_E_TYPE unless x has real numbers or bools. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rolling_reduce(cubed_array *x,
                                                             const cubed_window *windows, int n,
                                                             cubed_group_reduction reduction,
                                                             const cubed_rolling_options *options,
                                                             cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
