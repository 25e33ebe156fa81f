/* Functions that take numbers, shapes and types beside arrays. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

/* k= or the positional argument number `at`; 0 if neither is there. */
static cubed_status get_diagonal(expr_builder *b, const expr *call, int n, int at, int64_t *k)
{
    const expr *e = n > at ? call->child[at] : expr_keyword(call, "k");
    *k = 0;
    return e ? expr_get_int(b, e, k) : CUBED_OK;
}

static cubed_status call_roll(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", NULL};
    int n, naxes, nshifts, axes[CUBED_MAX_NDIM];
    int64_t shifts[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    EXPR_TRY(expr_get_ints(b, e->child[1], &nshifts, shifts));
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = expr_get_axes(b, e, n > 2 ? e->child[2] : NULL, x, &naxes, axes);
    if (st == CUBED_OK && naxes < 0) st = expr_reject(b, e, "roll takes axis= or dim=");
    if (st == CUBED_OK && nshifts != naxes && nshifts != 1)
        st = expr_reject(b, e->child[1], "expected one shift, or one for each axis");
    for (int i = 1; st == CUBED_OK && i < naxes && nshifts == 1; i++) shifts[i] = shifts[0];
    if (st == CUBED_OK) st = expr_located(b, e, cubed_roll(x, shifts, axes, naxes, out, b->err));
    for (int i = 0; i < naxes && st == CUBED_OK; i++)
        expr_note_cut(b, e, x, axes[i] < 0 ? axes[i] + cubed_array_ndim(x) : axes[i]);
    cubed_array_unref(x);
    return st;
}

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

static cubed_status call_tile(expr_builder *b, const expr *e, cubed_array **out)
{
    int n, ntimes;
    int64_t times[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 2, NULL, &n));
    EXPR_TRY(expr_get_ints(b, e->child[1], &ntimes, times));
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_tile(x, times, ntimes, out, b->err));
    for (int i = 1; st == CUBED_OK && i <= ntimes && i <= cubed_array_ndim(x); i++) {
        if (times[ntimes - i] != 1) expr_note_cut(b, e, x, cubed_array_ndim(x) - i);
    }
    cubed_array_unref(x);
    return st;
}

static cubed_status get_some_axes(expr_builder *b, const expr *e, int *n, int axes[CUBED_MAX_NDIM])
{
    int64_t numbers[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_ints(b, e, n, numbers));
    for (int i = 0; i < *n; i++) {
        if (numbers[i] < -CUBED_MAX_NDIM || numbers[i] >= CUBED_MAX_NDIM)
            return expr_reject(b, e, "an axis is out of range");
        axes[i] = (int)numbers[i];
    }
    return CUBED_OK;
}

static cubed_status call_moveaxis(expr_builder *b, const expr *e, cubed_array **out)
{
    int n, nfrom, nto, from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 3, 3, NULL, &n));
    EXPR_TRY(get_some_axes(b, e->child[1], &nfrom, from));
    EXPR_TRY(get_some_axes(b, e->child[2], &nto, to));
    if (nfrom != nto) return expr_reject(b, e, "expected as many sources as destinations");
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_moveaxis(x, from, to, nto, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_diff(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "n", NULL};
    int n, axis = -1;
    int64_t times = 1;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    const expr *order = expr_keyword(e, "n");
    if (order) EXPR_TRY(expr_get_int(b, order, &times));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_axis(b, e, NULL, x, -1, &axis);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_diff(x, axis, times, out, b->err));
    if (st == CUBED_OK && times > 0) {
        /* Each difference has the label of its later element, as in Xarray. */
        const int d = axis < 0 ? axis + cubed_array_ndim(x) : axis;
        const int64_t extent = cubed_array_shape(x)[d];
        if (times < extent)
            expr_note_part(b, e, e->child[0], x, d, (cubed_slice){times, extent - times, 1, false});
        else
            expr_note_cut(b, e, x, d);
    }
    cubed_array_unref(x);
    return st;
}

static cubed_status call_reshape(expr_builder *b, const expr *e, cubed_array **out)
{
    int n, ndim;
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 2, NULL, &n));
    EXPR_TRY(expr_get_ints(b, e->child[1], &ndim, shape));
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_reshape(x, ndim, shape, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_stack(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", NULL};
    int n;
    int64_t axis = 0;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    const expr *list = e->child[0], *where = n > 1 ? e->child[1] : expr_keyword(e, "axis");
    if (list->kind != EXPR_TUPLE || list->n == 0)
        return expr_reject(b, list, "expected a list of arrays");
    if (where) EXPR_TRY(expr_get_int(b, where, &axis));
    if (axis < -CUBED_MAX_NDIM || axis > CUBED_MAX_NDIM)
        return expr_reject(b, where, "an axis is out of range");
    cubed_array **arrays;
    EXPR_TRY(expr_alloc(b, e, list->n, sizeof *arrays, &arrays));
    cubed_status st = expr_get_moved_list(b, e, list, arrays);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_stack(arrays, list->n, (int)axis, out, b->err));
    for (int i = 0; i < list->n; i++) cubed_array_unref(arrays[i]);
    lang_free(arrays);
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

/* How many whole numbers there are from start in steps, stop not included; false if the step is 0, or there
 * are too many. */
static bool count_whole(int64_t start, int64_t stop, int64_t step, int64_t *out)
{
    if (step == 0) return false;
    bool up = step > 0;
    uint64_t span = up ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t by = up ? (uint64_t)step : -(uint64_t)step;
    if (up ? stop <= start : stop >= start) span = 0;
    uint64_t count = span / by + (span % by != 0);
    *out = (int64_t)count;
    return count <= (uint64_t)1 << 60;
}

static cubed_status call_arange(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dtype", NULL};
    int n;
    expr_value v[3];
    cubed_dtype dtype;
    bool whole = true;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &n));
    for (int i = 0; i < n; i++) {
        EXPR_TRY(expr_get_number(b, e->child[i], &v[i]));
        whole = whole && v[i].kind == EXPR_INT;
    }
    EXPR_TRY(expr_get_dtype(b, e, whole ? CUBED_INT64 : CUBED_FLOAT64, &dtype));
    if (whole) {
        cubed_scalar from = {.i64 = n > 1 ? v[0].i : 0}, by = {.i64 = n > 2 ? v[2].i : 1};
        int64_t count;
        if (count_whole(from.i64, v[n > 1].i, by.i64, &count))
            return expr_located(
                b, e,
                cubed_array_ramp(b->ctx, CUBED_INT64, &from, &by, count, dtype, NULL, out, b->err));
    }
    double start = n > 1 ? v[0].re : 0, stop = v[n > 1].re;
    double step = n > 2 ? v[2].re : 1;
    return expr_located(b, e,
                        cubed_array_arange(b->ctx, start, stop, step, dtype, NULL, out, b->err));
}

static cubed_status call_linspace(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"endpoint", NULL};
    int n;
    int64_t num = 0;
    expr_value v[2];
    EXPR_TRY(expr_check_args(b, e, 3, 3, names, &n));
    const expr *endpoint = expr_keyword(e, "endpoint");
    if (endpoint && endpoint->kind != EXPR_BOOL)
        return expr_reject(b, endpoint, "expected True or False");
    for (int i = 0; i < 2; i++) EXPR_TRY(expr_get_number(b, e->child[i], &v[i]));
    EXPR_TRY(expr_get_int(b, e->child[2], &num));
    return expr_located(b, e,
                        cubed_array_linspace(b->ctx, v[0].re, v[1].re, num,
                                             !endpoint || endpoint->integer, NULL, out, b->err));
}

static cubed_status call_eye(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"k", "dtype", NULL};
    int n;
    int64_t rows, columns, k;
    cubed_dtype dtype;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &n));
    EXPR_TRY(expr_get_int(b, e->child[0], &rows));
    columns = rows;
    if (n > 1) EXPR_TRY(expr_get_int(b, e->child[1], &columns));
    EXPR_TRY(get_diagonal(b, e, n, 2, &k));
    EXPR_TRY(expr_get_dtype(b, e, CUBED_FLOAT64, &dtype));
    return expr_located(b, e, cubed_array_eye(b->ctx, rows, columns, k, dtype, NULL, out, b->err));
}

static cubed_status triangle(expr_builder *b, const expr *e, int lower, cubed_array **out)
{
    static const char *const names[] = {"k", NULL};
    int n;
    int64_t k;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    EXPR_TRY(get_diagonal(b, e, n, 1, &k));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st =
        expr_located(b, e, lower ? cubed_tril(x, k, out, b->err) : cubed_triu(x, k, out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status filled(expr_builder *b, const expr *e, const expr *what, expr_value v,
                           cubed_dtype missing, cubed_array **out)
{
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    cubed_dtype dtype;
    cubed_scalar s;
    EXPR_TRY(expr_get_ints(b, e->child[0], &ndim, shape));
    EXPR_TRY(expr_get_dtype(b, e, missing, &dtype));
    EXPR_TRY(expr_get_scalar(b, what, &v, dtype, &s));
    return expr_located(b, e, cubed_array_full(b->ctx, dtype, ndim, shape, NULL, &s, out, b->err));
}

static cubed_status call_full(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dtype", NULL};
    int n;
    expr_value v;
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    EXPR_TRY(expr_get_number(b, e->child[1], &v));
    return filled(b, e, e->child[1], v, v.kind == EXPR_INT ? CUBED_INT64 : CUBED_FLOAT64, out);
}

static cubed_status call_zeros(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dtype", NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    return filled(b, e, e, expr_literal(EXPR_INT, 0, 0, 0), CUBED_FLOAT64, out);
}

static cubed_status call_ones(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dtype", NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    return filled(b, e, e, expr_literal(EXPR_INT, 1, 1, 0), CUBED_FLOAT64, out);
}

static const expr_function functions[] = {
    {.name = "roll", .fn = call_roll},
    {.name = "repeat", .fn = call_repeat},
    {.name = "reshape", .fn = call_reshape},
    {.name = "tile", .fn = call_tile},
    {.name = "moveaxis", .fn = call_moveaxis},
    {.name = "diff", .fn = call_diff},
    {.name = "stack", .fn = call_stack},
    {.name = "pad", .fn = call_pad},
    {.name = "arange", .fn = call_arange},
    {.name = "linspace", .fn = call_linspace},
    {.name = "eye", .fn = call_eye},
    {"tril", NULL, triangle, true},
    {"triu", NULL, triangle, false},
    {.name = "full", .fn = call_full},
    {.name = "zeros", .fn = call_zeros},
    {.name = "ones", .fn = call_ones},
    {.name = NULL},
};

const expr_function *const *expr_function_tables(void)
{
    static const expr_function *const tables[] = {functions,
                                                  expr_view_functions,
                                                  expr_random_functions,
                                                  expr_block_functions,
                                                  expr_composed_functions,
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
