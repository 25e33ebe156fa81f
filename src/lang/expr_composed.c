/* Differences of neighbours between other elements. */
#include "lang/expr_builder.h"

/* A number, a list or an array by keyword, or positional; NULL if it is not there. */
static cubed_status get_optional(expr_builder *b, const expr *call, const expr *positional,
                                 const char *name, const cubed_array *like, cubed_array **out)
{
    const expr *e = expr_keyword(call, name);
    *out = NULL;
    if (e && positional) return expr_reject(b, e, "the argument comes twice");
    if (!e) e = positional;
    return e && e->kind != EXPR_NONE ? expr_get_elements(b, e, like, out) : CUBED_OK;
}

static void note_axis(expr_builder *b, const expr *e, const cubed_array *x, int axis)
{
    expr_note_cut(b, e, x, axis < 0 ? axis + cubed_array_ndim(x) : axis);
}

static cubed_status call_ediff1d(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"to_begin", "to_end", NULL};
    cubed_array *x, *ends[2] = {NULL, NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++)
        st = get_optional(b, e, NULL, names[i], x, &ends[i]);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_ediff1d(x, ends[0], ends[1], out, b->err));
    if (st == CUBED_OK && cubed_array_ndim(x) == 1) note_axis(b, e, x, 0);
    cubed_array_unref(ends[0]);
    cubed_array_unref(ends[1]);
    cubed_array_unref(x);
    return st;
}

const expr_function expr_composed_functions[] = {
    {.name = "ediff1d", .fn = call_ediff1d},
    {.name = NULL},
};
