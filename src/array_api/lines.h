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

/* Finds the elements just below and above each quantile without sorting. Each element has a key, an integer that sorts like the
 * element. Several passes over x count the keys by their next bits, from the highest bits to the lowest (block/key_counts.c).
 *
 * memory  bytes of a task. The counts use at most a quarter of it, if that is enough for 4 bits in each pass
 * state   receives the result: the axes of x that are not reduced, in x's chunks, and an axis for the keys that were found */
CUBED_MUST_CHECK cubed_status cb_api_count_keys(const cb_lines *l, const cb_quantile_params *p,
                                                size_t params_size, uint64_t memory,
                                                cubed_array **state, cubed_error *err);

#endif
