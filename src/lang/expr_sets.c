/* Functions whose shapes depend on values, which are counted when the expression is built. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

/* The numbers of an array, computed now: as an array of them, and the last one. */
typedef struct counted {
    cubed_array *numbers;
    int64_t last;
} counted;

/* The last number is at most `most`. Takes over the reference of x, of one dimension or none; *out has nothing after a
 * failure. */
static cubed_status count_now(expr_builder *b, const expr *e, cubed_array *x, int64_t most,
                              counted *out)
{
    *out = (counted){.numbers = NULL};
    cubed_status st =
        b->host->count
            ? expr_located(
                  b, e,
                  b->host->count(b->host->count_ctx, x, most, &out->numbers, &out->last, b->err))
            : expr_reject(b, e, "how many elements there are would have to be computed first");
    if (st != CUBED_OK) out->numbers = NULL;
    cubed_array_unref(x);
    return st;
}

static int64_t elements_of(const cubed_array *x)
{
    int64_t n = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) n *= cubed_array_shape(x)[d];
    return n;
}

static cubed_status pick(expr_builder *b, const expr *e, cubed_array *x, cubed_array *mask,
                         cubed_array **out)
{
    const cubed_slice none = {0, 0, 1, false};
    cubed_array *offsets;
    counted c;
    EXPR_TRY(
        expr_located(b, e, cubed_mask_offsets(mask, cubed_array_chunks(x)[0], &offsets, b->err)));
    EXPR_TRY(count_now(b, e, offsets, elements_of(x), &c));
    cubed_status st = c.last == 0 ? cubed_slice_array(x, &none, out, b->err)
                                  : cubed_compress(x, mask, c.numbers, c.last, out, b->err);
    cubed_array_unref(c.numbers);
    return expr_located(b, e, st);
}

static cubed_status get_count(expr_builder *b, const expr *e, int positional, int64_t *count)
{
    const expr *c = positional > 2 ? e->child[2] : expr_keyword(e, "count");
    *count = -1;
    return c ? expr_get_int(b, c, count) : CUBED_OK;
}

/* compress(x, mask, count=): the count is computed if it is not there. */
static cubed_status call_compress(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"count", NULL};
    int n;
    int64_t count;
    cubed_array *x = NULL, *mask = NULL;
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    EXPR_TRY(get_count(b, e, n, &count));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_array(b, e->child[1], &mask);
    bool known = n > 2 || expr_keyword(e, "count");
    if (st == CUBED_OK && !known && cubed_array_ndim(x) != 1)
        st = expr_reject(b, e, "expected one dimension: reshape(x, -1)");
    if (st == CUBED_OK && known)
        st = expr_located(b, e, cubed_compress(x, mask, NULL, count, out, b->err));
    if (st == CUBED_OK && !known) st = pick(b, e, x, mask, out);
    cubed_array_unref(x);
    cubed_array_unref(mask);
    return st;
}

/* --- Coordinates and sets ------------------------------------------------------------------------------- */

/* outs has room for `names` arrays, which must be as many as x has dimensions. */
static cubed_status nonzero(expr_builder *b, const expr *e, int names, cubed_array **outs)
{
    int n;
    cubed_array *x, *offsets;
    counted c = {.numbers = NULL};
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = CUBED_OK;
    if (cubed_array_ndim(x) != names)
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                       "nonzero makes %d arrays of an array of %d dimensions, %d are named",
                       cubed_array_ndim(x), cubed_array_ndim(x), names);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_nonzero_offsets(x, &offsets, b->err));
    if (st == CUBED_OK) st = count_now(b, e, offsets, elements_of(x), &c);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_nonzero(x, c.numbers, c.last, outs, b->err));
    cubed_array_unref(c.numbers);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_nonzero_tuple(expr_builder *b, const expr *e, cubed_array **outs)
{
    return nonzero(b, e, b->nnames, outs);
}

static cubed_status unique(expr_builder *b, const expr *e, const cubed_unique_outputs *outs)
{
    const uint64_t task_mem = b->host->task_mem;
    int n;
    cubed_array *x, *offsets;
    counted c = {.numbers = NULL};
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_unique_offsets(x, task_mem, &offsets, b->err));
    if (st == CUBED_OK) st = count_now(b, e, offsets, elements_of(x), &c);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_unique(x, c.numbers, c.last, task_mem, outs, b->err));
    cubed_array_unref(c.numbers);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_unique_values(expr_builder *b, const expr *e, cubed_array **out)
{
    const cubed_unique_outputs o = {.values = out};
    return unique(b, e, &o);
}

static cubed_status call_unique_counts(expr_builder *b, const expr *e, cubed_array **outs)
{
    const cubed_unique_outputs o = {.values = &outs[0], .counts = &outs[1]};
    return unique(b, e, &o);
}

static cubed_status call_unique_inverse(expr_builder *b, const expr *e, cubed_array **outs)
{
    const cubed_unique_outputs o = {.values = &outs[0], .inverse = &outs[1]};
    return unique(b, e, &o);
}

static cubed_status call_unique_all(expr_builder *b, const expr *e, cubed_array **outs)
{
    const cubed_unique_outputs o = {&outs[0], &outs[1], &outs[2], &outs[3]};
    return unique(b, e, &o);
}

cubed_status expr_get_elements(expr_builder *b, const expr *e, const cubed_array *like,
                               cubed_array **out)
{
    if (expr_is_texts(e)) return expr_get_texts(b, e, like, out);
    if (e->kind != EXPR_TUPLE) {
        expr_value v = {.array = NULL};
        EXPR_TRY(expr_build_value(b, e, &v));
        /* Whole numbers are compared as such, also those that the other type does not have. */
        bool whole = like && v.kind == EXPR_INT &&
                     cubed_dtype_kind(cubed_array_dtype(like)) <= CUBED_KIND_UINT;
        EXPR_TRY(expr_operand(b, e, &v, whole ? NULL : like));
        *out = v.array;
        return CUBED_OK;
    }
    if (e->n == 0) return expr_reject(b, e, "expected numbers, or an array");
    cubed_array **made;
    EXPR_TRY(expr_alloc(b, e, e->n, sizeof *made, &made));
    cubed_status st = CUBED_OK;
    int n = 0;
    for (; n < e->n && st == CUBED_OK; n++) {
        made[n] = NULL;
        st = expr_get_elements(b, e->child[n], like, &made[n]);
    }
    if (st == CUBED_OK) st = expr_located(b, e, cubed_stack(made, n, 0, out, b->err));
    for (int i = 0; i < n; i++) cubed_array_unref(made[i]);
    lang_free(made);
    return st;
}

cubed_status expr_repeat_each(expr_builder *b, const expr *e, cubed_array *x, cubed_array *repeats,
                              const int *axis, cubed_array **out)
{
    cubed_array *total;
    counted c;
    EXPR_TRY(expr_located(b, e, cubed_repeat_total(x, repeats, axis, &total, b->err)));
    /* As many elements as x has: how often each is repeated is not bounded. */
    EXPR_TRY(count_now(b, e, total, elements_of(x), &c));
    cubed_array_unref(c.numbers);
    return expr_located(b, e, cubed_repeat_each(x, repeats, axis, c.last, out, b->err));
}

const expr_function expr_set_functions[] = {
    {.name = "compress", .fn = call_compress},
    {.name = "unique_values", .fn = call_unique_values},
    {"nonzero", NULL, nonzero, 1},
    {.name = NULL},
};

expr_tuple_function expr_find_set_tuple(const char *name, int *nout)
{
    static const struct {
        const char *name;
        int nout;
        expr_tuple_function fn;
    } rows[] = {
        {"unique_counts", 2, call_unique_counts},
        {"unique_inverse", 2, call_unique_inverse},
        {"unique_all", 4, call_unique_all},
        {"nonzero", EXPR_ANY_NUMBER, call_nonzero_tuple},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        *nout = rows[i].nout;
        return rows[i].fn;
    }
    return NULL;
}
