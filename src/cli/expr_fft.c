/* Fourier transforms. */
#include <string.h>

#include "cli.h"
#include "expr_builder.h"

static cubed_status get_norm(expr_builder *b, const expr *call, cubed_fft_norm *out)
{
    static const char *const names[] = {"backward", "ortho", "forward"};
    const expr *e = expr_keyword(call, "norm");
    *out = CUBED_FFT_BACKWARD;
    if (!e || e->kind == EXPR_NONE) return CUBED_OK;
    for (int i = 0; e->kind == EXPR_STRING && i < 3; i++) {
        if (strcmp(e->text, names[i]) != 0) continue;
        *out = (cubed_fft_norm)i;
        return CUBED_OK;
    }
    return expr_reject(b, e, "expected \"backward\", \"ortho\" or \"forward\"");
}

/* The argument number `at` or that name; NULL if there is none or it is None. */
static const expr *get_optional(const expr *call, int n, int at, const char *name)
{
    const expr *e = n > at ? call->child[at] : expr_keyword(call, name);
    return e && e->kind != EXPR_NONE ? e : NULL;
}

/* --- Along one axis -------------------------------------------------------------------------------- */

static cubed_status transform(expr_builder *b, const expr *e, cubed_transform which, cubed_array *x,
                              cubed_fft_options *o, cubed_array **out)
{
    o->task_mem = b->host->task_mem;
    EXPR_TRY(get_norm(b, e, &o->norm));
    return expr_located(b, e, cubed_fft_with(which, x, o, out, b->err));
}

static cubed_status along_axis(expr_builder *b, const expr *e, cubed_transform which,
                               cubed_array **out)
{
    static const char *const names[] = {"n", "axis", "dim", "norm", NULL};
    int count, axis = -1;
    int64_t n;
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &count));
    const expr *length = get_optional(e, count, 1, "n");
    if (length) EXPR_TRY(expr_get_int(b, length, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_axis(b, e, count > 2 ? e->child[2] : NULL, x, -1, &axis);
    o.s = length ? &n : NULL;
    o.axes = &axis;
    o.naxes = 1;
    if (st == CUBED_OK) st = transform(b, e, which, x, &o, out);
    if (st == CUBED_OK) expr_note_cut(b, x, axis < 0 ? axis + cubed_array_ndim(x) : axis);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_fft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_FFT, out);
}

static cubed_status call_ifft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_IFFT, out);
}

static cubed_status call_rfft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_RFFT, out);
}

static cubed_status call_irfft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_IRFFT, out);
}

static cubed_status call_hfft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_HFFT, out);
}

static cubed_status call_ihfft(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axis(b, e, CUBED_TRANSFORM_IHFFT, out);
}

/* --- Along several ---------------------------------------------------------------------------------- */

/* axes= or the positional argument; *n is -1 if there is none of them. */
static cubed_status get_axes(expr_builder *b, const expr *e, int *n, int axes[CUBED_MAX_NDIM])
{
    int64_t list[CUBED_MAX_NDIM];
    *n = -1;
    if (!e) return CUBED_OK;
    EXPR_TRY(expr_get_ints(b, e, n, list));
    for (int i = 0; i < *n; i++) {
        if (list[i] < -CUBED_MAX_NDIM || list[i] >= CUBED_MAX_NDIM)
            return expr_reject(b, e, "an axis is out of range");
        axes[i] = (int)list[i];
    }
    return CUBED_OK;
}

static void note_cuts(expr_builder *b, const cubed_array *x, const int *axes, int naxes)
{
    int ndim = cubed_array_ndim(x);
    for (int i = 0; i < (naxes < 0 ? ndim : naxes); i++) {
        int d = naxes < 0 ? i : axes[i];
        expr_note_cut(b, x, d < 0 ? d + ndim : d);
    }
}

static cubed_status along_axes(expr_builder *b, const expr *e, cubed_transform which,
                               cubed_array **out)
{
    static const char *const names[] = {"s", "axes", "norm", NULL};
    int count, naxes, nlengths = -1, axes[CUBED_MAX_NDIM];
    int64_t s[CUBED_MAX_NDIM];
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &count));
    const expr *lengths = get_optional(e, count, 1, "s");
    if (lengths) EXPR_TRY(expr_get_ints(b, lengths, &nlengths, s));
    EXPR_TRY(get_axes(b, get_optional(e, count, 2, "axes"), &naxes, axes));
    if (lengths && naxes >= 0 && nlengths != naxes)
        return expr_reject(b, lengths, "expected one length for each axis");
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    o.s = lengths ? s : NULL;
    o.axes = naxes < 0 ? NULL : axes;
    o.naxes = naxes < 0 ? 0 : naxes;
    cubed_status st = transform(b, e, which, x, &o, out);
    if (st == CUBED_OK) note_cuts(b, x, axes, naxes);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_fftn(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axes(b, e, CUBED_TRANSFORM_FFT, out);
}

static cubed_status call_ifftn(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axes(b, e, CUBED_TRANSFORM_IFFT, out);
}

static cubed_status call_rfftn(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axes(b, e, CUBED_TRANSFORM_RFFT, out);
}

static cubed_status call_irfftn(expr_builder *b, const expr *e, cubed_array **out)
{
    return along_axes(b, e, CUBED_TRANSFORM_IRFFT, out);
}

/* --- Frequencies ----------------------------------------------------------------------------------- */

typedef cubed_status (*frequencies)(cubed_context *ctx, int64_t n, double d, cubed_dtype dtype,
                                    cubed_array **out, cubed_error *err);

static cubed_status make_frequencies(expr_builder *b, const expr *e, frequencies fn,
                                     cubed_array **out)
{
    static const char *const names[] = {"d", "dtype", NULL};
    int count;
    int64_t n;
    expr_value d = expr_literal(EXPR_FLOAT, 0, 1, 0);
    cubed_dtype dtype;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &count));
    EXPR_TRY(expr_get_int(b, e->child[0], &n));
    const expr *distance = get_optional(e, count, 1, "d");
    if (distance) EXPR_TRY(expr_get_number(b, distance, &d));
    EXPR_TRY(expr_get_dtype(b, e, CUBED_FLOAT64, &dtype));
    return expr_located(b, e, fn(b->ctx, n, d.re, dtype, out, b->err));
}

static cubed_status call_fftfreq(expr_builder *b, const expr *e, cubed_array **out)
{
    return make_frequencies(b, e, cubed_fftfreq, out);
}

static cubed_status call_rfftfreq(expr_builder *b, const expr *e, cubed_array **out)
{
    return make_frequencies(b, e, cubed_rfftfreq, out);
}

typedef cubed_status (*shift)(cubed_array *x, const int *axes, int naxes, cubed_array **out,
                              cubed_error *err);

static cubed_status swap_halves(expr_builder *b, const expr *e, shift fn, cubed_array **out)
{
    static const char *const names[] = {"axes", NULL};
    int count, naxes, axes[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &count));
    EXPR_TRY(get_axes(b, get_optional(e, count, 1, "axes"), &naxes, axes));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, fn(x, naxes < 0 ? NULL : axes, naxes < 0 ? 0 : naxes, out, b->err));
    if (st == CUBED_OK) note_cuts(b, x, axes, naxes);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_fftshift(expr_builder *b, const expr *e, cubed_array **out)
{
    return swap_halves(b, e, cubed_fftshift, out);
}

static cubed_status call_ifftshift(expr_builder *b, const expr *e, cubed_array **out)
{
    return swap_halves(b, e, cubed_ifftshift, out);
}

static const struct {
    const char *name;
    expr_function fn;
} functions[] = {
    {"fft", call_fft},           {"ifft", call_ifft},           {"rfft", call_rfft},
    {"irfft", call_irfft},       {"hfft", call_hfft},           {"ihfft", call_ihfft},
    {"fftn", call_fftn},         {"ifftn", call_ifftn},         {"rfftn", call_rfftn},
    {"irfftn", call_irfftn},     {"fftfreq", call_fftfreq},     {"rfftfreq", call_rfftfreq},
    {"fftshift", call_fftshift}, {"ifftshift", call_ifftshift},
};

expr_function expr_find_fft_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) return functions[i].fn;
    }
    return NULL;
}
