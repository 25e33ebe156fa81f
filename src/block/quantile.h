/* What quantiles are, for both ways to find them: in a line of elements, and by counting. */
#ifndef CB_BLOCK_QUANTILE_H
#define CB_BLOCK_QUANTILE_H

#include "block/order.h"
#include "block/params.h"

/* The quantiles behind the parameters. */
static inline const double *cb_quantile_list(const cb_quantile_params *p)
{
    return (const double *)(p + 1);
}

/* Method, numbers and type. */
CUBED_MUST_CHECK cubed_status cb_quantile_check(const cb_quantile_params *p, size_t size,
                                                cubed_error *err);
/* The type of quantiles of elements of type x. */
cubed_dtype cb_quantile_dtype(int method, cubed_dtype x);

/* Between element `at` of n > 0 in order and the one behind it, `part` of the way. */
typedef struct cb_quantile_place {
    int64_t at;
    double part;
} cb_quantile_place;
cb_quantile_place cb_quantile_find(int method, int64_t n, double q);
/* There, from the keys of both elements. */
cubed_scalar cb_quantile_value(int method, cubed_dtype x, const uint64_t keys[2], double part);
/* Of nothing, or with NaN among the elements. */
cubed_scalar cb_quantile_nan(int method, cubed_dtype x);

#endif
