/* Declarations shared by the two algorithms for quantiles: sorting lines (number_quantiles.c) and counting keys
 * (count_keys.c). */
#ifndef CB_API_LINES_H
#define CB_API_LINES_H

#include "array_api/api_pkg.h"
#include "block/block_quantile.h"

/* An array whose axes `first` to `first + n - 1` are reduced. For each axis of x, the structure has the number of that axis in
 * the caller's array. */
typedef struct cb_lines {
    cubed_array *x; /* a reference */
    int first, n;
    int axis[CUBED_MAX_NDIM];
} cb_lines;

static inline bool cb_lines_reduces(const cb_lines *l, int d)
{
    return d >= l->first && d < l->first + l->n;
}

/* Finds the keys next to the quantiles by counting in passes over x (block/key_counts.c). *state has the axes of x that are not
 * reduced, in x's chunks, and an axis of numbers. A task's counts use about a quarter of `memory`, if that is enough for 8 bits
 * at a time. */
CUBED_MUST_CHECK cubed_status cb_api_count_keys(const cb_lines *l, const cb_quantile_params *p,
                                                size_t params_size, uint64_t memory,
                                                cubed_array **state, cubed_error *err);

#endif
