/* Frequencies of Fourier transforms, and their order. */
#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "base/error.h"

static cubed_status check(const char *name, int64_t n, double d, cubed_dtype dtype,
                          cubed_error *err)
{
    if (n < 1 || d == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: n is %" PRId64 " and d is %g, expected n >= 1 and d not 0", name, n, d);
    if (dtype != CUBED_FLOAT32 && dtype != CUBED_FLOAT64)
        return cb_fail(err, CUBED_E_TYPE, "%s: expected dtype float32 or float64, got %s", name,
                       cubed_dtype_name(dtype));
    return CUBED_OK;
}

/* Creates an array of `step` times k, for the integers k from `first` to `last`. */
static cubed_status multiples(cubed_context *ctx, int64_t first, int64_t last, double step,
                              cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    cubed_array *args[2] = {NULL, NULL}, *wide = NULL;
    const cubed_scalar unit = {.f64 = step};
    cubed_status st;
    CB_GO(cubed_array_arange(ctx, (double)first, (double)last + 1, 1, CUBED_FLOAT64, NULL, &args[0],
                             err));
    CB_GO(cubed_array_full(ctx, CUBED_FLOAT64, 0, NULL, NULL, &unit, &args[1], err));
    CB_GO(cubed_elementwise(CUBED_OP_MULTIPLY, args, 2, &wide, err));
    CB_GO(cubed_astype(wide, dtype, out, err));
out:
    cubed_array_unref(args[0]);
    cubed_array_unref(args[1]);
    cubed_array_unref(wide);
    return st;
}

cubed_status cubed_fftfreq(cubed_context *ctx, int64_t n, double d, cubed_dtype dtype,
                           cubed_array **out, cubed_error *err)
{
    cubed_array *rising;
    CB_TRY(check("fftfreq", n, d, dtype, err));
    CB_TRY(multiples(ctx, -(n / 2), (n - 1) / 2, 1.0 / ((double)n * d), dtype, &rising, err));
    cubed_status st = cubed_ifftshift(rising, NULL, 0, out, err);
    cubed_array_unref(rising);
    return st;
}

cubed_status cubed_rfftfreq(cubed_context *ctx, int64_t n, double d, cubed_dtype dtype,
                            cubed_array **out, cubed_error *err)
{
    CB_TRY(check("rfftfreq", n, d, dtype, err));
    return multiples(ctx, 0, n / 2, 1.0 / ((double)n * d), dtype, out, err);
}

/* Swaps the halves of axes. If an extent is odd, the middle element is in the first half, or in the second half for the
 * inverse. */
static cubed_status swap_halves(const char *name, cubed_array *x, const int *axes, int naxes,
                                bool inverse, cubed_array **out, cubed_error *err)
{
    int all[CUBED_MAX_NDIM];
    int64_t shifts[CUBED_MAX_NDIM];
    if (!axes) naxes = x->node.grid->ndim;
    if (naxes > CUBED_MAX_NDIM) return cb_fail(err, CUBED_E_ARG, "%s: %d axes", name, naxes);
    for (int i = 0; i < naxes; i++) {
        all[i] = axes ? axes[i] : i;
        CB_TRY(cb_api_axis(name, x->node.grid->ndim, &all[i], err));
        int64_t half = x->shape[all[i]] / 2;
        shifts[i] = inverse ? -half : half;
    }
    return cubed_roll(x, shifts, all, naxes, out, err);
}

cubed_status cubed_fftshift(cubed_array *x, const int *axes, int naxes, cubed_array **out,
                            cubed_error *err)
{
    return swap_halves("fftshift", x, axes, naxes, false, out, err);
}

cubed_status cubed_ifftshift(cubed_array *x, const int *axes, int naxes, cubed_array **out,
                             cubed_error *err)
{
    return swap_halves("ifftshift", x, axes, naxes, true, out, err);
}
