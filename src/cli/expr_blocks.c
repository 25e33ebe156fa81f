/* Functions that work on whole blocks: sorting, products of matrices, searching. */
#include <string.h>

#include "cli.h"
#include "expr_builder.h"

static cubed_status get_bool(expr_builder *b, const expr *call, const char *name, bool *out)
{
    const expr *e = expr_keyword(call, name);
    if (e && e->kind != EXPR_BOOL) return expr_reject(b, e, "expected True or False");
    *out = e && e->integer;
    return CUBED_OK;
}

/* One axis, positional or by axis= or dim=; `missing` if there is none. */
static cubed_status get_axis(expr_builder *b, const expr *call, const expr *positional,
                             const cubed_array *x, int missing, int *out)
{
    int n, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_axes(b, call, positional, x, &n, axes));
    if (n != 1 && n != -1) return expr_reject(b, call, "expected one axis");
    *out = n == 1 ? axes[0] : missing;
    return CUBED_OK;
}

typedef cubed_status (*sort_fn)(cubed_array *x, int axis, bool descending, cubed_array **out,
                                cubed_error *err);

static cubed_status call_sorting(expr_builder *b, const expr *e, sort_fn fn, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "descending", "stable", NULL};
    bool descending = false, stable = true; /* it always is */
    int n, axis = -1;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(get_bool(b, e, "descending", &descending));
    EXPR_TRY(get_bool(b, e, "stable", &stable));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = get_axis(b, e, n > 1 ? e->child[1] : NULL, x, -1, &axis);
    if (st == CUBED_OK) st = expr_located(b, e, fn(x, axis, descending, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_sort(expr_builder *b, const expr *e, cubed_array **out)
{
    return call_sorting(b, e, cubed_sort, out);
}

static cubed_status call_argsort(expr_builder *b, const expr *e, cubed_array **out)
{
    return call_sorting(b, e, cubed_argsort, out);
}

static const struct {
    const char *name;
    expr_function fn;
} functions[] = {
    {"sort", call_sort},
    {"argsort", call_argsort},
};

expr_function expr_find_block_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) return functions[i].fn;
    }
    return NULL;
}
