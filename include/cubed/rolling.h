/* Reductions of windows that move along axes. */
#ifndef CUBED_ROLLING_H
#define CUBED_ROLLING_H

#include "cubed/groupby.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each element with so many in front of it and behind it. */
typedef struct cubed_window {
    int axis; /* may be negative */
    int64_t before, after;
} cubed_window;

typedef struct cubed_rolling_options {
    size_t struct_size;
    int64_t min_count; /* NaN where a window has fewer elements; not of count */
    double correction; /* var, std: divisor is N - correction */
} cubed_rolling_options;
#define CUBED_ROLLING_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cubed_rolling_options), 1, 0.0                                                      \
    }

/* For each element of x the reduction (count, sum, prod, mean, var, std, min or max; CUBED_E_ARG for others) of what is
 * not NaN in its window along one or more axes. Beyond the array's ends there is nothing. Of x's shape; of x's type if
 * that is of floats, else float64; counts are int64. CUBED_E_TYPE for what is no real number or bool.
 *
 * x is read block by block, with what is around each; a block is as long as its windows at least, or as long as the axis.
 * Elements are joined in float64, about twice for each axis whatever the windows' lengths, and never taken away again
 * (block/block_rolling.c has the source): results do not depend on chunks. Variances are merged by Chan's formula. Stored. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_rolling_reduce(cubed_array *x,
                                                             const cubed_window *windows, int n,
                                                             cubed_group_reduction reduction,
                                                             const cubed_rolling_options *options,
                                                             cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
