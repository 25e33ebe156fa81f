/* Quantiles of numbers or times. */
#include "array_api/complex_median.h"
#include "array_api/time_quantiles.h"
#include "base/error.h"
#include "base/struct_size.h"

static cubed_status take_axes(const cubed_array *x, const cubed_quantile_options *o,
                              uint32_t *reduced, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (o->axes) return cb_api_axes("quantile", ndim, o->axes, o->naxes, reduced, err);
    *reduced = (uint32_t)((uint64_t)1 << ndim) - 1;
    return CUBED_OK;
}

static cubed_status quantiles(cubed_array *x, const double *q, int n, bool in_front,
                              const cubed_quantile_options *options, cubed_array **out,
                              cubed_error *err)
{
    cb_quantiles wanted = {.q = q, .n = n, .in_front = in_front, .o = CUBED_QUANTILE_OPTIONS_INIT};
    const cubed_quantile_options *o = &wanted.o;
    const int ndim = x->node.grid->ndim;
    CB_TRY(CB_OPTIONS_TAKE("quantile", options, &wanted.o, err));
    if (n < 0)
        return cb_fail(err, CUBED_E_ARG,
                       "quantile: the number of quantiles is %d, expected 0 or more", n);
    if (ndim + in_front > CUBED_MAX_NDIM)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "quantile: several quantiles add an axis, but x has %d dimensions, expected fewer",
            ndim);
    CB_TRY(take_axes(x, o, &wanted.reduced, err));
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TIME)
        return cb_api_time_quantiles(x, &wanted, out, err);
    return cb_api_number_quantiles(x, &wanted, out, err);
}

cubed_status cubed_quantiles(cubed_array *x, const double *q, int n,
                             const cubed_quantile_options *options, cubed_array **out,
                             cubed_error *err)
{
    return quantiles(x, q, n, true, options, out, err);
}

cubed_status cubed_quantile(cubed_array *x, double q, const cubed_quantile_options *options,
                            cubed_array **out, cubed_error *err)
{
    return quantiles(x, &q, 1, false, options, out, err);
}

cubed_status cubed_median(cubed_array *x, const cubed_quantile_options *options, cubed_array **out,
                          cubed_error *err)
{
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    char text[CUBED_DTYPE_TEXT_CAP];
    CB_TRY(CB_OPTIONS_TAKE("median", options, &o, err));
    o.method = CUBED_QUANTILE_LINEAR;
    if (cubed_dtype_family(x->node.dtype) == CUBED_TIMEDELTA64)
        return cb_api_time_median(x, &o, out, err);
    if (cubed_dtype_family(x->node.dtype) == CUBED_DATETIME64)
        return cb_fail(err, CUBED_E_TYPE, "median is not defined for %s: use quantile(x, 0.5)",
                       cubed_dtype_text(x->node.dtype, text));
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX) {
        uint32_t reduced;
        CB_TRY(take_axes(x, &o, &reduced, err));
        return cb_api_complex_median(x, reduced, &o, out, err);
    }
    return cubed_quantile(x, 0.5, &o, out, err);
}
