/* The same elements in another order, shape, type or other chunks. */
#include <string.h>

#include "lang/expr_builder.h"

typedef cubed_status (*view_fn)(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out);

static cubed_status view_permute(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM], ndim = cubed_array_ndim(x);
    EXPR_TRY(expr_get_axes(b, e, arg, x, &n, axes));
    if (n < 0) {
        for (n = 0; n < ndim; n++) axes[n] = ndim - 1 - n;
    }
    if (n != ndim) return expr_reject(b, e, "the axes must name every dimension");
    return expr_located(b, e, cubed_permute_dims(x, axes, out, b->err));
}

static cubed_status view_flip(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                              cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_axes(b, e, arg, x, &n, axes));
    EXPR_TRY(expr_located(b, e, cubed_flip(x, n < 0 ? NULL : axes, n, out, b->err)));
    for (int i = 0, ndim = cubed_array_ndim(x); i < (n < 0 ? ndim : n); i++) {
        const int d = n < 0 ? i : axes[i] < 0 ? axes[i] + ndim : axes[i];
        const int64_t extent = cubed_array_shape(x)[d];
        if (extent > 1)
            expr_note_part(b, e, e->child[0], x, d, (cubed_slice){extent - 1, extent, -1, false});
    }
    return CUBED_OK;
}

static cubed_status view_squeeze(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_axes(b, e, arg, x, &n, axes));
    return expr_located(b, e, cubed_squeeze(x, n < 0 ? NULL : axes, n, out, b->err));
}

static cubed_status view_expand(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out)
{
    int64_t axis = 0;
    const expr *k = arg ? arg : expr_keyword(e, "axis");
    if (k) EXPR_TRY(expr_get_int(b, k, &axis));
    if (axis < -CUBED_MAX_NDIM || axis > CUBED_MAX_NDIM)
        return expr_reject(b, e, "axis out of range");
    return expr_located(b, e, cubed_expand_dims(x, (int)axis, out, b->err));
}

static cubed_status view_broadcast(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                   cubed_array **out)
{
    int n;
    int64_t shape[CUBED_MAX_NDIM];
    if (!arg) return expr_reject(b, e, "broadcast_to takes a shape");
    EXPR_TRY(expr_get_ints(b, arg, &n, shape));
    return expr_located(b, e, cubed_broadcast_to(x, n, shape, out, b->err));
}

static cubed_status view_rechunk(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                 cubed_array **out)
{
    int n;
    int64_t chunks[CUBED_MAX_NDIM];
    if (!arg) return expr_reject(b, e, "rechunk takes chunks");
    EXPR_TRY(expr_get_ints(b, arg, &n, chunks));
    if (n != cubed_array_ndim(x))
        return expr_reject(b, arg, "expected one chunk length per dimension");
    return expr_located(b, e, cubed_rechunk(x, chunks, out, b->err));
}

static cubed_status view_astype(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out)
{
    cubed_dtype dtype;
    if (!arg || arg->kind != EXPR_STRING)
        return expr_reject(b, e, "astype takes a type's name in quotes");
    EXPR_TRY(expr_located(b, arg, cubed_dtype_parse(arg->text, &dtype, b->err)));
    return expr_located(b, e, cubed_astype(x, dtype, out, b->err));
}

enum { PERMUTE, FLIP, SQUEEZE, EXPAND, BROADCAST, RECHUNK, ASTYPE };

static cubed_status call_view(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    static const struct {
        view_fn fn;
        const char *keywords[3];
    } views[] = {
        [PERMUTE] = {view_permute, {"axis", "dim", NULL}},
        [FLIP] = {view_flip, {"axis", "dim", NULL}},
        [SQUEEZE] = {view_squeeze, {"axis", "dim", NULL}},
        [EXPAND] = {view_expand, {"axis", NULL}},
        [BROADCAST] = {view_broadcast, {NULL}},
        [RECHUNK] = {view_rechunk, {NULL}},
        [ASTYPE] = {view_astype, {NULL}},
    };
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, views[which].keywords, &n));
    EXPR_TRY(which == ASTYPE ? expr_get_array(b, e->child[0], &x)
                             : expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = views[which].fn(b, e, n > 1 ? e->child[1] : NULL, x, out);
    cubed_array_unref(x);
    return st;
}

const expr_function expr_view_functions[] = {
    {"permute_dims", NULL, call_view, PERMUTE},
    {"transpose", NULL, call_view, PERMUTE},
    {"flip", NULL, call_view, FLIP},
    {"squeeze", NULL, call_view, SQUEEZE},
    {"expand_dims", NULL, call_view, EXPAND},
    {"broadcast_to", NULL, call_view, BROADCAST},
    {"rechunk", NULL, call_view, RECHUNK},
    {"astype", NULL, call_view, ASTYPE},
    {.name = NULL},
};
