/* Functions that take numbers, shapes and types beside arrays. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

/* A number for all, or an array of numbers. */
static cubed_status repeat(expr_builder *b, const expr *e, cubed_array *x, const int *axis,
                           cubed_array **out)
{
    expr_value times;
    EXPR_TRY(expr_build_value(b, e->child[1], &times));
    if (!times.array && times.kind != EXPR_INT)
        return expr_reject(b, e->child[1], "expected a whole number, or an array of them");
    const bool changes = times.array || times.i != 1;
    cubed_status st = times.array ? expr_repeat_each(b, e, x, times.array, axis, out)
                                  : expr_located(b, e, cubed_repeat(x, times.i, axis, out, b->err));
    cubed_array_unref(times.array);
    if (st == CUBED_OK && axis && changes)
        expr_note_cut(b, e, x, *axis < 0 ? *axis + cubed_array_ndim(x) : *axis);
    return st;
}

static cubed_status call_repeat(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", NULL};
    int n, naxes, axes[CUBED_MAX_NDIM] = {0};
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = expr_get_axes(b, e, n > 2 ? e->child[2] : NULL, x, &naxes, axes);
    if (st == CUBED_OK && naxes > 1) st = expr_reject(b, e, "expected one axis, or none");
    if (st == CUBED_OK) st = repeat(b, e, x, naxes == 1 ? axes : NULL, out);
    cubed_array_unref(x);
    return st;
}

static const expr_function functions[] = {
    {.name = "repeat", .fn = call_repeat},
    {.name = NULL},
};

const expr_function *const *expr_function_tables(void)
{
    static const expr_function *const tables[] = {functions,
                                                  expr_view_functions,
                                                  expr_block_functions,
                                                  expr_group_functions,
                                                  expr_calendar_functions,
                                                  expr_select_functions,
                                                  NULL};
    return tables;
}

const expr_function *expr_find_function(const char *name)
{
    for (const expr_function *const *t = expr_function_tables(); *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (strcmp(f->name, name) == 0) return f;
        }
    }
    return NULL;
}
