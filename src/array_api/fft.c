/* Fourier transforms. */
#include <inttypes.h>

#include "array_api/fft.h"
#include "base/error.h"
#include "base/struct_size.h"

/* Maximum size of a block for which several axes are transformed in one pass. Axes that do not fit are transformed in
 * other passes, because a block with several whole axes cannot be divided if memory is short. */
#define TOGETHER_BYTES ((int64_t)8 << 20)

/* Gets the type in which x is transformed. Complex transforms accept real numbers. */
static cubed_status input_dtype(const cb_transform *t, cubed_dtype x, int naxes, cubed_dtype *out,
                                cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x);
    if (kind > CUBED_KIND_COMPLEX || (kind == CUBED_KIND_COMPLEX && t->real_in))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", t->name, cubed_dtype_name(x));
    bool is_single = x == CUBED_COMPLEX64 || (kind == CUBED_KIND_FLOAT && x != CUBED_FLOAT64);
    if (t->real_in || (kind != CUBED_KIND_COMPLEX && !t->real_out && naxes > 0))
        *out = is_single ? CUBED_FLOAT32 : CUBED_FLOAT64;
    else
        *out = is_single ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    return CUBED_OK;
}

/* Truncates or pads an axis of x to an extent. */
static cubed_status resize(cubed_array *x, int axis, int64_t extent, cubed_array **out,
                           cubed_error *err)
{
    int ndim = x->node.grid->ndim;
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

/* --- Passes ---------------------------------------------------------------------------------------- */

/* Returns a mask of axes to transform in one pass: `first`, and as many other axes of `mask` as fit. */
static uint32_t together(const cb_transform *t, const cubed_array *x, uint32_t mask,
                         const int64_t *n, int first)
{
    uint32_t taken = 1u << first;
    uint64_t bytes = TOGETHER_BYTES;
    if (!cb_fft_fits(t, x, n[first])) return taken;
    if (t->task_mem > 0 && t->task_mem / 8 < bytes) bytes = t->task_mem / 8;
    int64_t left = (int64_t)bytes / (int64_t)(2 * sizeof(double)) / n[first];
    for (int d = x->node.grid->ndim - 1; d >= 0; d--) {
        if (!(mask >> d & 1) || taken >> d & 1 || n[d] > left) continue;
        taken |= 1u << d;
        left /= n[d];
    }
    return taken;
}

static int last_of(uint32_t mask) { return 31 - __builtin_clz(mask); }

/* Transforms the axes in the mask, which include `axis`, and replaces *x. If the input or the result is real, `axis` is its axis
 * of real numbers. */
static cubed_status pass_on(const cb_transform *t, cubed_array **x, uint32_t mask, const int64_t *n,
                            int axis, cb_fft_kind kind, cubed_error *err)
{
    cubed_array *y;
    if (mask == 1u << axis) {
        CB_TRY(cb_fft_axis(t, *x, axis, n[axis], kind, &y, err));
    } else {
        const cb_fft_pass pass = {.kind = kind,
                                  .mask = mask,
                                  .n = n,
                                  .real_axis = kind == CB_FFT_COMPLEX ? -1 : axis,
                                  .twiddle_axis = -1,
                                  .block_bytes = CB_API_BLOCK_BYTES};
        CB_TRY(cb_fft_blocks(t, *x, &pass, &y, err));
    }
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* Transforms all axes in the mask and replaces *x. The axis of real numbers is transformed first if the input is real, last
 * if the result is. */
static cubed_status all_passes(const cb_transform *t, cubed_array **x, uint32_t mask,
                               const int64_t *n, int real_axis, cubed_error *err)
{
    uint32_t with_real = real_axis < 0 ? 0 : together(t, *x, mask, n, real_axis);
    if (t->real_in) CB_TRY(pass_on(t, x, with_real, n, real_axis, CB_FFT_FROM_REAL, err));
    for (uint32_t rest = mask & ~with_real; rest;) {
        int axis = last_of(rest);
        uint32_t some = together(t, *x, rest, n, axis);
        CB_TRY(pass_on(t, x, some, n, axis, CB_FFT_COMPLEX, err));
        rest &= ~some;
    }
    return t->real_out ? pass_on(t, x, with_real, n, real_axis, CB_FFT_TO_REAL, err) : CUBED_OK;
}

/* --- All ------------------------------------------------------------------------------------------- */

static cubed_status lengths(const cb_transform *t, const cubed_array *x, const int64_t *s,
                            const int *axes, int naxes, int64_t *n, uint32_t *mask,
                            cubed_error *err)
{
    *mask = 0;
    for (int i = 0; i < naxes; i++) {
        int axis = axes[i];
        CB_TRY(cb_api_axis(t->name, x->node.grid->ndim, &axis, err));
        if (*mask >> axis & 1)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d is given twice", t->name, axis);
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

static cubed_status apply(const cb_transform *t, cubed_array *x, const int64_t *s, const int *axes,
                          int naxes, cubed_array **out, cubed_error *err)
{
    int64_t n[CUBED_MAX_NDIM] = {0};
    cubed_dtype dtype = x->node.dtype;
    uint32_t mask;
    CB_TRY(input_dtype(t, x->node.dtype, naxes, &dtype, err));
    CB_TRY(lengths(t, x, s, axes, naxes, n, &mask, err));
    bool real = t->real_in || t->real_out;
    if (real && naxes < 1) return cb_fail(err, CUBED_E_ARG, "%s: no axis", t->name);
    int real_axis = -1;
    if (real)
        real_axis = axes[naxes - 1] < 0 ? axes[naxes - 1] + x->node.grid->ndim : axes[naxes - 1];
    cubed_array *y;
    CB_TRY(cubed_astype(x, dtype, &y, err));
    cubed_status st = CUBED_OK;
    for (int d = 0; d < x->node.grid->ndim; d++) {
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

static const cb_transform transforms[] = {
    [CUBED_TRANSFORM_FFT] = {.name = "fft", .forward = true},
    [CUBED_TRANSFORM_IFFT] = {.name = "ifft"},
    [CUBED_TRANSFORM_RFFT] = {.name = "rfft", .real_in = true, .forward = true},
    [CUBED_TRANSFORM_IRFFT] = {.name = "irfft", .real_out = true},
    [CUBED_TRANSFORM_HFFT] = {.name = "hfft", .real_out = true, .forward = true},
    [CUBED_TRANSFORM_IHFFT] = {.name = "ihfft", .real_in = true},
};

cubed_status cubed_fft_with(cubed_transform transform, cubed_array *x,
                            const cubed_fft_options *options, cubed_array **out, cubed_error *err)
{
    cubed_fft_options taken = CUBED_FFT_OPTIONS_INIT;
    const cubed_fft_options *o = &taken;
    int all[CUBED_MAX_NDIM], ndim = x->node.grid->ndim;
    CB_TRY(CB_OPTIONS_TAKE("fft", options, &taken, err));
    if ((unsigned)transform >= sizeof transforms / sizeof *transforms ||
        (unsigned)o->norm > CUBED_FFT_FORWARD)
        return cb_fail(err, CUBED_E_ARG,
                       "fft: transform is %d and norm is %d, expected a cubed_fft_transform and a "
                       "cubed_fft_norm",
                       (int)transform, (int)o->norm);
    cb_transform t = transforms[transform];
    t.norm = o->norm;
    t.task_mem = o->task_mem;
    if (o->axes) return apply(&t, x, o->s, o->axes, o->naxes, out, err);
    if (o->s)
        return cb_fail(err, CUBED_E_ARG, "%s: lengths are given without axes, expected both",
                       t.name);
    for (int d = 0; d < ndim; d++) all[d] = d;
    return apply(&t, x, NULL, all, ndim, out, err);
}

/* Transforms along axes with default options and an unknown memory limit of tasks. */
static cubed_status along_axes(cubed_transform transform, cubed_array *x, const int64_t *s,
                               const int *axes, int naxes, cubed_fft_norm norm, cubed_array **out,
                               cubed_error *err)
{
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    o.s = s;
    o.axes = axes;
    o.naxes = naxes;
    o.norm = norm;
    return cubed_fft_with(transform, x, &o, out, err);
}

cubed_status cubed_fft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                       cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_FFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_ifft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_IFFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_rfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_RFFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_irfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                         cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_IRFFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_hfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                        cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_HFFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_ihfft(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                         cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_IHFFT, x, n, &axis, 1, norm, out, err);
}

cubed_status cubed_fftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                        cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_FFT, x, s, axes, naxes, norm, out, err);
}

cubed_status cubed_ifftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                         cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_IFFT, x, s, axes, naxes, norm, out, err);
}

cubed_status cubed_rfftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                         cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_RFFT, x, s, axes, naxes, norm, out, err);
}

cubed_status cubed_irfftn(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                          cubed_fft_norm norm, cubed_array **out, cubed_error *err)
{
    return along_axes(CUBED_TRANSFORM_IRFFT, x, s, axes, naxes, norm, out, err);
}
