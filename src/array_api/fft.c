/* Fourier transforms. */
#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* Axes are transformed in one pass as long as a block does not get larger than this: one that is whole along
 * many axes cannot be cut where memory is short. */
#define TOGETHER_BYTES ((int64_t)8 << 20)

typedef struct transform {
    const char *name;
    bool real_in, real_out, forward;
    cubed_fft_norm norm;
} transform;

/* The type that x is transformed in. */
static cubed_status input_dtype(const transform *t, cubed_dtype x, cubed_dtype *out,
                                cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x);
    if (kind > CUBED_KIND_COMPLEX || (kind == CUBED_KIND_COMPLEX && t->real_in))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", t->name, cubed_dtype_name(x));
    bool is_single = x == CUBED_COMPLEX64 || (kind == CUBED_KIND_FLOAT && x != CUBED_FLOAT64);
    if (t->real_in)
        *out = is_single ? CUBED_FLOAT32 : CUBED_FLOAT64;
    else
        *out = is_single ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    return CUBED_OK;
}

static int32_t scale_of(const transform *t)
{
    if (t->norm == CUBED_FFT_ORTHO) return CB_FFT_SCALE_SQRT;
    return (t->norm == CUBED_FFT_FORWARD) == t->forward ? CB_FFT_SCALE_N : CB_FFT_SCALE_ONE;
}

/* Makes an axis of x as long as it takes. */
static cubed_status resize(cubed_array *x, int axis, int64_t extent, cubed_array **out,
                           cubed_error *err)
{
    int ndim = x->node.grid.ndim;
    if (extent == x->shape[axis]) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    if (extent < x->shape[axis]) {
        cubed_slice slices[CUBED_MAX_NDIM];
        for (int d = 0; d < ndim; d++)
            slices[d] = (cubed_slice){0, d == axis ? extent : x->shape[d], 1, false};
        return cubed_slice_array(x, slices, out, err);
    }
    int64_t before[CUBED_MAX_NDIM] = {0}, after[CUBED_MAX_NDIM] = {0};
    const cubed_scalar zero = {{0}};
    after[axis] = extent - x->shape[axis];
    return cubed_pad(x, before, after, &zero, out, err);
}

/* --- One pass -------------------------------------------------------------------------------------- */

static cubed_dtype other_precision(const transform *t, cubed_dtype x)
{
    if (t->real_in) return x == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    return x == CUBED_COMPLEX64 ? CUBED_FLOAT32 : CUBED_FLOAT64;
}

/* Transforms x along the axes of the mask; n is by axis. real_axis: -1 of complex numbers only. */
static cubed_status pass(const transform *t, cubed_array *x, uint32_t mask, const int64_t *n,
                         int real_axis, cubed_array **out, cubed_error *err)
{
    cubed_dtype dtype = real_axis < 0 ? x->node.dtype : other_precision(t, x->node.dtype);
    cubed_dtype larger = t->real_out ? x->node.dtype : dtype;
    int ndim = x->node.grid.ndim;
    int64_t chunks[CUBED_MAX_NDIM], out_chunks[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cb_fft_params params = {.real_axis = real_axis, .forward = t->forward, .scale = scale_of(t)};
    cb_api_blocks(x, mask, cubed_dtype_size(larger), chunks);
    for (int d = 0; d < ndim; d++) {
        bool whole = mask >> d & 1;
        symbols[d] = whole ? -1 : d;
        params.n[d] = whole ? n[d] : 0;
        shape[d] = x->shape[d];
        if (d == real_axis) shape[d] = t->real_in ? n[d] / 2 + 1 : n[d];
        out_chunks[d] = whole ? shape[d] : chunks[d];
    }
    const char *function = real_axis < 0 ? "fft" : t->real_in ? "rfft" : "irfft";
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype, ndim, shape, out_chunks, symbols, x->node.dim_names};
    return cubed_blockwise(x->ctx, function, &params, sizeof params, &in, 1, &to, 1, out, err);
}

/* `first`, and as many of the other axes as fit. */
static uint32_t together(const cubed_array *x, uint32_t mask, const int64_t *n, int first)
{
    uint32_t taken = 1u << first;
    int64_t left = TOGETHER_BYTES / (int64_t)(2 * sizeof(double)) / n[first];
    for (int d = x->node.grid.ndim - 1; d >= 0; d--) {
        if (!(mask >> d & 1) || taken >> d & 1 || n[d] > left) continue;
        taken |= 1u << d;
        left /= n[d];
    }
    return taken;
}

static int last_of(uint32_t mask) { return 31 - __builtin_clz(mask); }

static cubed_status pass_on(const transform *t, cubed_array **x, uint32_t mask, const int64_t *n,
                            int real_axis, cubed_error *err)
{
    cubed_array *y;
    CB_TRY(pass(t, *x, mask, n, real_axis, &y, err));
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* Real numbers are among the first or the last ones. *x is replaced. */
static cubed_status all_passes(const transform *t, cubed_array **x, uint32_t mask, const int64_t *n,
                               int real_axis, cubed_error *err)
{
    uint32_t with_real = real_axis < 0 ? 0 : together(*x, mask, n, real_axis);
    if (t->real_in) CB_TRY(pass_on(t, x, with_real, n, real_axis, err));
    for (uint32_t rest = mask & ~with_real; rest;) {
        uint32_t some = together(*x, rest, n, last_of(rest));
        CB_TRY(pass_on(t, x, some, n, -1, err));
        rest &= ~some;
    }
    return t->real_out ? pass_on(t, x, with_real, n, real_axis, err) : CUBED_OK;
}

/* --- All ------------------------------------------------------------------------------------------- */

static cubed_status lengths(const transform *t, const cubed_array *x, const int64_t *s,
                            const int *axes, int naxes, int64_t *n, uint32_t *mask,
                            cubed_error *err)
{
    *mask = 0;
    for (int i = 0; i < naxes; i++) {
        int axis = axes[i];
        CB_TRY(cb_api_axis(t->name, x->node.grid.ndim, &axis, err));
        if (*mask >> axis & 1)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d comes twice", t->name, axis);
        *mask |= 1u << axis;
        bool real_out = t->real_out && i == naxes - 1;
        n[axis] = real_out ? 2 * (x->shape[axis] - 1) : x->shape[axis];
        if (s && s[i] != -1) n[axis] = s[i];
        if (n[axis] < 1)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: %" PRId64 " elements along axis %d, expected >= 1", t->name,
                           n[axis], axis);
    }
    return CUBED_OK;
}

static cubed_status apply(const transform *t, cubed_array *x, const int64_t *s, const int *axes,
                          int naxes, cubed_array **out, cubed_error *err)
{
    int64_t n[CUBED_MAX_NDIM] = {0};
    cubed_dtype dtype = x->node.dtype;
    uint32_t mask;
    CB_TRY(input_dtype(t, x->node.dtype, &dtype, err));
    CB_TRY(lengths(t, x, s, axes, naxes, n, &mask, err));
    bool real = t->real_in || t->real_out;
    if (real && naxes < 1) return cb_fail(err, CUBED_E_ARG, "%s: no axis", t->name);
    int real_axis = -1;
    if (real)
        real_axis = axes[naxes - 1] < 0 ? axes[naxes - 1] + x->node.grid.ndim : axes[naxes - 1];
    cubed_array *y;
    CB_TRY(cubed_astype(x, dtype, &y, err));
    cubed_status st = CUBED_OK;
    for (int d = 0; d < x->node.grid.ndim; d++) {
        cubed_array *resized;
        if (!(mask >> d & 1)) continue;
        CB_GO(resize(y, d, t->real_out && d == real_axis ? n[d] / 2 + 1 : n[d], &resized, err));
        cubed_array_unref(y);
        y = resized;
    }
    CB_GO(all_passes(t, &y, mask, n, real_axis, err));
    *out = cubed_array_ref(y);
out:
    cubed_array_unref(y);
    return st;
}

static cubed_status along_axes(const transform *t, cubed_array *x, const int64_t *s,
                               const int *axes, int naxes, cubed_array **out, cubed_error *err)
{
    int all[CUBED_MAX_NDIM];
    if (axes) return apply(t, x, s, axes, naxes, out, err);
    if (s) return cb_fail(err, CUBED_E_ARG, "%s: lengths without axes", t->name);
    for (int d = 0; d < x->node.grid.ndim; d++) all[d] = d;
    return apply(t, x, NULL, all, x->node.grid.ndim, out, err);
}

cubed_status cubed_fft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                       cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"fft", false, false, true, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_ifft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"ifft", false, false, false, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_rfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"rfft", true, false, true, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_irfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                         cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"irfft", false, true, false, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_hfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"hfft", false, true, true, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_ihfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                         cubed_array **out, cubed_error *err)
{
    return apply(&(transform){"ihfft", true, false, false, norm}, x, n, &axis, 1, out, err);
}

cubed_status cubed_fftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                        cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(&(transform){"fftn", false, false, true, norm}, x, s, axes, naxes, out, err);
}

cubed_status cubed_ifftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                         cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(&(transform){"ifftn", false, false, false, norm}, x, s, axes, naxes, out,
                      err);
}

cubed_status cubed_rfftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                         cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(&(transform){"rfftn", true, false, true, norm}, x, s, axes, naxes, out, err);
}

cubed_status cubed_irfftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                          cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(&(transform){"irfftn", false, true, false, norm}, x, s, axes, naxes, out,
                      err);
}

/* --- Frequencies ----------------------------------------------------------------------------------- */

/* Whole numbers from `first` to `last` over n d. */
static cubed_status frequencies(const char *name, cubed_context *ctx, int64_t first, int64_t last,
                                int64_t n, double d, cubed_dtype dtype, cubed_array **out,
                                cubed_error *err)
{
    cubed_array *args[2] = {NULL, NULL}, *wide = NULL;
    cubed_status st;
    if (n < 1 || d == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: %" PRId64 " samples at a distance of %g, expected some", name, n, d);
    if (dtype != CUBED_FLOAT32 && dtype != CUBED_FLOAT64)
        return cb_fail(err, CUBED_E_TYPE, "%s makes float32 and float64, not %s", name,
                       cubed_dtype_name(dtype));
    const cubed_scalar unit = {.f64 = 1.0 / ((double)n * d)};
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
    CB_TRY(frequencies("fftfreq", ctx, -(n / 2), (n - 1) / 2, n, d, dtype, &rising, err));
    cubed_status st = cubed_ifftshift(rising, NULL, 0, out, err);
    cubed_array_unref(rising);
    return st;
}

cubed_status cubed_rfftfreq(cubed_context *ctx, int64_t n, double d, cubed_dtype dtype,
                            cubed_array **out, cubed_error *err)
{
    return frequencies("rfftfreq", ctx, 0, n / 2, n, d, dtype, out, err);
}

/* Halves of axes change places; where they differ the first one is the longer one, or the shorter one of
 * the inverse. */
static cubed_status swap_halves(const char *name, cubed_array *x, const int *axes, int naxes,
                                bool inverse, cubed_array **out, cubed_error *err)
{
    int all[CUBED_MAX_NDIM];
    int64_t shifts[CUBED_MAX_NDIM];
    if (!axes) naxes = x->node.grid.ndim;
    if (naxes > CUBED_MAX_NDIM) return cb_fail(err, CUBED_E_ARG, "%s: %d axes", name, naxes);
    for (int i = 0; i < naxes; i++) {
        all[i] = axes ? axes[i] : i;
        CB_TRY(cb_api_axis(name, x->node.grid.ndim, &all[i], err));
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
