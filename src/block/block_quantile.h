/* Definitions of quantiles. Two algorithms share them: one selects among the keys of a whole line (block_quantile.c), the other
 * counts keys of lines that do not fit in a block (key_counts.c). Keys are unsigned integers with the order of the elements
 * (block_order.h). */
#ifndef CB_BLOCK_QUANTILE_H
#define CB_BLOCK_QUANTILE_H

#include "block/block_order.h"
#include "block/params.h"
#include "cubed/sys/block.h"

/* Returns the list of p->count probabilities, which is stored after the parameters. */
static inline const double *cb_quantile_list(const cb_quantile_params *p)
{
    return (const double *)(p + 1);
}

/* Checks method, quantiles and type. */
CUBED_MUST_CHECK cubed_status cb_quantile_check(const cb_quantile_params *p, size_t size,
                                                cubed_error *err);
/* Returns the type of the results. */
cubed_dtype cb_quantile_dtype(const cb_quantile_params *p);

/* Position of a quantile among n > 0 sorted elements: at element `at`, or between it and the next one. `part` is the fraction of
 * the distance to the next element, 0 <= part < 1. */
typedef struct cb_quantile_place {
    int64_t at;
    double part;
} cb_quantile_place;
/* Returns the position of quantile q (0 to 1) by a cubed_quantile_method. */
cb_quantile_place cb_quantile_find(int method, int64_t n, double q);
/* Returns the value of a quantile as type `result`. `keys` are the keys of two elements of type x: element `at` of the quantile's
 * position, and the element after it. `part` is the member of the position. */
cubed_scalar cb_quantile_value(int method, cubed_dtype x, cubed_dtype result,
                               const uint64_t keys[2], double part);
/* Returns the result for lines without elements and for lines that contain NaN: NaN or NaT. */
cubed_scalar cb_quantile_nan(const cb_quantile_params *p);

/* --- Lines that are entirely in a block --------------------------------------------------------------- */

/* The shape of a block as three extents. n: number of elements along the axes of the quantile, which the parameters name. outer,
 * inner: number of positions along the axes before and after these axes. A line consists of the n elements at one outer and one
 * inner position. */
typedef struct cb_quantile_layout {
    int64_t outer, n, inner;
} cb_quantile_layout;
cb_quantile_layout cb_quantile_layout_of(const cb_quantile_params *p, const cubed_block *x);
/* Checks axes and type of a block. */
CUBED_MUST_CHECK cubed_status cb_quantile_check_lines(const cb_quantile_params *p,
                                                      const cubed_block *x, cubed_error *err);
/* cb_quantile_lines returns the number of adjacent lines whose keys are computed together. cb_quantile_stride returns the
 * distance in bytes between the keys of two such lines. It is an odd number of cache lines, so that lines that are written
 * simultaneously use different cache sets. */
int64_t cb_quantile_lines(int64_t inner, size_t key_size);
size_t cb_quantile_stride(int64_t n, size_t key_size);
/* Creates the keys of up to `most` lines of one outer position, from inner position `first` on. Writes them to `keys`,
 * cb_quantile_stride bytes apart. Returns the number of lines. */
int cb_quantile_make_keys(const cb_quantile_layout *s, const cubed_block *x, int64_t outer,
                          int64_t first, int64_t most, char *keys);
/* Computes all quantiles of n keys, which may be reordered, and writes them to out, `step` bytes apart. `temp` is as large
 * as the keys. */
void cb_quantile_of_keys(const cb_quantile_params *p, cubed_dtype result, char *keys, int64_t n,
                         void *temp, char *out, size_t step);

#endif
