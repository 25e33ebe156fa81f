/* What quantiles are, for both ways to find them: in a line of elements, and by counting. */
#ifndef CB_BLOCK_QUANTILE_H
#define CB_BLOCK_QUANTILE_H

#include "block/block_order.h"
#include "block/params.h"
#include "cubed/sys/block.h"

/* The quantiles behind the parameters. */
static inline const double *cb_quantile_list(const cb_quantile_params *p)
{
    return (const double *)(p + 1);
}

/* Method, numbers and type. */
CUBED_MUST_CHECK cubed_status cb_quantile_check(const cb_quantile_params *p, size_t size,
                                                cubed_error *err);
/* The type of the quantiles. */
cubed_dtype cb_quantile_dtype(const cb_quantile_params *p);

/* Between element `at` of n > 0 in order and the one behind it, `part` of the way. */
typedef struct cb_quantile_place {
    int64_t at;
    double part;
} cb_quantile_place;
cb_quantile_place cb_quantile_find(int method, int64_t n, double q);
/* There, from the keys of both elements, as an element of type `result`. */
cubed_scalar cb_quantile_value(int method, cubed_dtype x, cubed_dtype result,
                               const uint64_t keys[2], double part);
/* Of nothing, or with NaN among the elements. */
cubed_scalar cb_quantile_nan(const cb_quantile_params *p);

/* --- Lines in a block ------------------------------------------------------------------------------- */

/* A block as (outer, n, inner), n the axes of the parameters together. */
typedef struct cb_quantile_layout {
    int64_t outer, n, inner;
} cb_quantile_layout;
cb_quantile_layout cb_quantile_layout_of(const cb_quantile_params *p, const cubed_block *x);
/* Axes and type of a block. */
CUBED_MUST_CHECK cubed_status cb_quantile_check_lines(const cb_quantile_params *p,
                                                      const cubed_block *x, cubed_error *err);
/* How many lines beside each other are made keys together, and the bytes from one of them to the next: an
 * odd number of cache lines, so that lines that are written side by side lie in different sets of the
 * cache. */
int64_t cb_quantile_lines(int64_t inner, size_t key_size);
size_t cb_quantile_stride(int64_t n, size_t key_size);
/* Keys of up to `most` lines from line `first` of an outer position on; returns how many there are. */
int cb_quantile_make_keys(const cb_quantile_layout *s, const cubed_block *x, int64_t outer,
                          int64_t first, int64_t most, char *keys);
/* All quantiles of n keys, which may be moved, to out, `step` bytes apart. `spare` is as large as the keys. */
void cb_quantile_of_keys(const cb_quantile_params *p, cubed_dtype result, char *keys, int64_t n,
                         void *spare, char *out, size_t step);

#endif
