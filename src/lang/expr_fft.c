/* Fourier transforms. */
#include <string.h>

#include "lang/expr_builder.h"

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

static cubed_status along_axis(expr_builder *b, const expr *e, int which, cubed_array **out)
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
    if (st == CUBED_OK) st = transform(b, e, (cubed_transform)which, x, &o, out);
    if (st == CUBED_OK) expr_note_cut(b, e, x, axis < 0 ? axis + cubed_array_ndim(x) : axis);
    cubed_array_unref(x);
    return st;
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

static void note_cuts(expr_builder *b, const expr *e, const cubed_array *x, const int *axes,
                      int naxes)
{
    int ndim = cubed_array_ndim(x);
    for (int i = 0; i < (naxes < 0 ? ndim : naxes); i++) {
        int d = naxes < 0 ? i : axes[i];
        expr_note_cut(b, e, x, d < 0 ? d + ndim : d);
    }
}

static cubed_status along_axes(expr_builder *b, const expr *e, int which, cubed_array **out)
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
    cubed_status st = transform(b, e, (cubed_transform)which, x, &o, out);
    if (st == CUBED_OK) note_cuts(b, e, x, axes, naxes);
    cubed_array_unref(x);
    return st;
}

/* --- Frequencies ----------------------------------------------------------------------------------- */

static cubed_status make_frequencies(expr_builder *b, const expr *e, int real, cubed_array **out)
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
    return expr_located(
        b, e, (real ? cubed_rfftfreq : cubed_fftfreq)(b->ctx, n, d.re, dtype, out, b->err));
}

static cubed_status swap_halves(expr_builder *b, const expr *e, int back, cubed_array **out)
{
    static const char *const names[] = {"axes", NULL};
    int count, naxes, axes[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &count));
    EXPR_TRY(get_axes(b, get_optional(e, count, 1, "axes"), &naxes, axes));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e,
                     (back ? cubed_ifftshift : cubed_fftshift)(x, naxes < 0 ? NULL : axes,
                                                               naxes < 0 ? 0 : naxes, out, b->err));
    if (st == CUBED_OK) note_cuts(b, e, x, axes, naxes);
    cubed_array_unref(x);
    return st;
}

const expr_function expr_fft_functions[] = {
    {"fft", NULL, along_axis, CUBED_TRANSFORM_FFT},
    {"ifft", NULL, along_axis, CUBED_TRANSFORM_IFFT},
    {"rfft", NULL, along_axis, CUBED_TRANSFORM_RFFT},
    {"irfft", NULL, along_axis, CUBED_TRANSFORM_IRFFT},
    {"hfft", NULL, along_axis, CUBED_TRANSFORM_HFFT},
    {"ihfft", NULL, along_axis, CUBED_TRANSFORM_IHFFT},
    {"fftn", NULL, along_axes, CUBED_TRANSFORM_FFT},
    {"ifftn", NULL, along_axes, CUBED_TRANSFORM_IFFT},
    {"rfftn", NULL, along_axes, CUBED_TRANSFORM_RFFT},
    {"irfftn", NULL, along_axes, CUBED_TRANSFORM_IRFFT},
    {"fftfreq", NULL, make_frequencies, false},
    {"rfftfreq", NULL, make_frequencies, true},
    {"fftshift", NULL, swap_halves, false},
    {"ifftshift", NULL, swap_halves, true},
    {.name = NULL},
};
