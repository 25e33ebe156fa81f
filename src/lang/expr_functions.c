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

/* One number for all, a pair for all, or a pair for each axis: which expression each of an axis is. */
static cubed_status get_pairs(expr_builder *b, const expr *e, int ndim, const expr *(*out)[2])
{
    const bool each = e->kind == EXPR_TUPLE && e->n > 0 && e->child[0]->kind == EXPR_TUPLE;
    if (each && e->n != ndim) return expr_reject(b, e, "expected a pair for each dimension");
    for (int d = 0; d < ndim; d++) {
        const expr *of = each ? e->child[d] : e;
        const bool one = of->kind != EXPR_TUPLE;
        if (!one && of->n != 2)
            return expr_reject(b, e, "expected a number, or pairs (before, after)");
        for (int side = 0; side < 2; side++) out[d][side] = one ? of : of->child[side];
    }
    return CUBED_OK;
}

static cubed_status get_whole_pairs(expr_builder *b, const expr *e, int ndim, int64_t (*out)[2])
{
    const expr *pairs[CUBED_MAX_NDIM][2];
    EXPR_TRY(get_pairs(b, e, ndim, pairs));
    for (int i = 0; i < 2 * ndim; i++)
        EXPR_TRY(expr_get_int(b, pairs[i / 2][i % 2], &out[i / 2][i % 2]));
    return CUBED_OK;
}

static cubed_status get_typed_pairs(expr_builder *b, const expr *e, int ndim, cubed_dtype dtype,
                                    cubed_scalar (*out)[2])
{
    const expr *pairs[CUBED_MAX_NDIM][2];
    EXPR_TRY(get_pairs(b, e, ndim, pairs));
    for (int i = 0; i < 2 * ndim; i++) {
        const expr *number = pairs[i / 2][i % 2];
        expr_value v;
        EXPR_TRY(expr_get_number(b, number, &v));
        EXPR_TRY(expr_get_scalar(b, number, &v, dtype, &out[i / 2][i % 2]));
    }
    return CUBED_OK;
}

static cubed_status pad(expr_builder *b, const expr *e, cubed_array *x, cubed_array **out)
{
    static const char *const keywords[] = {"constant_values", "end_values"};
    const int ndim = cubed_array_ndim(x);
    const cubed_dtype dtype = cubed_array_dtype(x);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const cubed_dtype types[] = {kind == CUBED_KIND_TIME ? CUBED_INT64 : dtype,
                                 kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64};
    int64_t widths[CUBED_MAX_NDIM][2], lengths[CUBED_MAX_NDIM][2];
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    cubed_scalar values[2][CUBED_MAX_NDIM][2];
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    const expr *mode = expr_keyword(e, "mode"), *length = expr_keyword(e, "stat_length");
    const expr *given[2];
    o.task_mem = b->host->task_mem;
    if (mode && (mode->kind != EXPR_STRING || !cubed_pad_mode_parse(mode->text, &o.mode)))
        return expr_reject(b, mode,
                           "expected one of NumPy's modes, as \"edge\", \"reflect\", \"mean\"");
    EXPR_TRY(get_whole_pairs(b, e->child[1], ndim, widths));
    for (int i = 0; i < 2; i++) {
        given[i] = expr_keyword(e, keywords[i]);
        if (given[i]) EXPR_TRY(get_typed_pairs(b, given[i], ndim, types[i], values[i]));
    }
    if (given[0]) o.constant_values = (const cubed_scalar(*)[2])values[0];
    if (given[1]) o.end_values = (const cubed_scalar(*)[2])values[1];
    if (length) {
        EXPR_TRY(get_whole_pairs(b, length, ndim, lengths));
        o.stat_length = (const int64_t(*)[2])lengths;
    }
    for (int d = 0; d < ndim; d++) {
        before[d] = widths[d][0];
        after[d] = widths[d][1];
    }
    EXPR_TRY(expr_located(b, e, cubed_pad_with(x, before, after, &o, out, b->err)));
    for (int d = 0; d < ndim; d++) {
        if (before[d] || after[d]) expr_note_cut(b, e, x, d);
    }
    return CUBED_OK;
}

static cubed_status call_pad(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"mode", "constant_values", "end_values", "stat_length",
                                        NULL};
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = pad(b, e, x, out);
    cubed_array_unref(x);
    return st;
}

static const expr_function functions[] = {
    {.name = "repeat", .fn = call_repeat},
    {.name = "pad", .fn = call_pad},
    {.name = NULL},
};

const expr_function *const *expr_function_tables(void)
{
    static const expr_function *const tables[] = {functions,
                                                  expr_view_functions,
                                                  expr_block_functions,
                                                  expr_set_functions,
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
