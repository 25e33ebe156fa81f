/* Definitions of quantiles, shared by both algorithms: selection in a line of elements, and counting. */
#ifndef CB_BLOCK_QUANTILE_H
#define CB_BLOCK_QUANTILE_H

#include "block/block_order.h"
#include "block/params.h"
#include "cubed/sys/block.h"

/* Returns the list of quantiles, which is stored after the parameters. */
static inline const double *cb_quantile_list(const cb_quantile_params *p)
{
    return (const double *)(p + 1);
}

/* Checks method, quantiles and type. */
CUBED_MUST_CHECK cubed_status cb_quantile_check(const cb_quantile_params *p, size_t size,
                                                cubed_error *err);
/* Returns the type of the results. */
cubed_dtype cb_quantile_dtype(const cb_quantile_params *p);

/* Position of a quantile among n > 0 ordered elements: after element `at`, a fraction `part` of the way to the next. */
typedef struct cb_quantile_place {
    int64_t at;
    double part;
} cb_quantile_place;
cb_quantile_place cb_quantile_find(int method, int64_t n, double q);
/* Returns the value of a quantile, an element of type `result`, from the keys of the two elements next to its place. */
cubed_scalar cb_quantile_value(int method, cubed_dtype x, cubed_dtype result,
                               const uint64_t keys[2], double part);
/* Returns the result for lines without elements and for lines that contain NaN: NaN or NaT. */
cubed_scalar cb_quantile_nan(const cb_quantile_params *p);

/* --- Lines that are entirely in a block --------------------------------------------------------------- */

/* A block as (outer, n, inner), where n combines the axes of the parameters. */
typedef struct cb_quantile_layout {
    int64_t outer, n, inner;
} cb_quantile_layout;
cb_quantile_layout cb_quantile_layout_of(const cb_quantile_params *p, const cubed_block *x);
/* Checks axes and type of a block. */
CUBED_MUST_CHECK cubed_status cb_quantile_check_lines(const cb_quantile_params *p,
                                                      const cubed_block *x, cubed_error *err);
/* Return the number of adjacent lines whose keys are made together, and the distance in bytes between their keys: an odd number
 * of cache lines, so that lines written simultaneously use different cache sets. */
int64_t cb_quantile_lines(int64_t inner, size_t key_size);
size_t cb_quantile_stride(int64_t n, size_t key_size);
/* Makes keys of up to `most` lines, starting at line `first` of an outer position. Returns the number of lines. */
int cb_quantile_make_keys(const cb_quantile_layout *s, const cubed_block *x, int64_t outer,
                          int64_t first, int64_t most, char *keys);
/* Computes all quantiles of n keys, which may be reordered, and writes them to out, `step` bytes apart. `spare` is as large
 * as the keys. */
void cb_quantile_of_keys(const cb_quantile_params *p, cubed_dtype result, char *keys, int64_t n,
                         void *spare, char *out, size_t step);

#endif
