/* The same elements in another type or other chunks. */
#include <string.h>

#include "lang/expr_builder.h"

typedef cubed_status (*view_fn)(expr_builder *b, const expr *e, const expr *arg, cubed_array *x,
                                cubed_array **out);

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

enum { RECHUNK, ASTYPE };

static cubed_status call_view(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    static const view_fn views[] = {[RECHUNK] = view_rechunk, [ASTYPE] = view_astype};
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, NULL, &n));
    EXPR_TRY(which == ASTYPE ? expr_get_array(b, e->child[0], &x)
                             : expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = views[which](b, e, n > 1 ? e->child[1] : NULL, x, out);
    cubed_array_unref(x);
    return st;
}

const expr_function expr_view_functions[] = {
    {"rechunk", NULL, call_view, RECHUNK},
    {"astype", NULL, call_view, ASTYPE},
    {.name = NULL},
};
