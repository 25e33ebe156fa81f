/* Functions whose shapes depend on values, which are counted when the expression is built. */
#include <string.h>

#include "cli.h"
#include "expr_builder.h"

/* How a mask picks from arrays in chunks of one extent. */
typedef struct picked {
    cubed_array *mask, *offsets;
    int64_t chunk, count;
} picked;

static void drop_picked(picked *p)
{
    cubed_array_unref(p->mask);
    cubed_array_unref(p->offsets);
}

/* The numbers of the offsets, computed now, as an array of them. */
static cubed_status compute_offsets(expr_builder *b, const expr *e, cubed_array *offsets,
                                    picked *out)
{
    const int64_t n = cubed_array_shape(offsets)[0];
    if (!b->host->compute)
        return expr_reject(b, e, "how many elements there are would have to be computed first");
    int64_t *data = cli_alloc((size_t)n * sizeof *data);
    cubed_status st =
        expr_located(b, e, b->host->compute(b->host->compute_ctx, offsets, data, b->err));
    if (st == CUBED_OK) {
        out->count = data[n - 1];
        st = expr_located(b, e,
                          cubed_array_from_memory(b->ctx, CUBED_INT64, 1, &n, NULL, NULL, data,
                                                  &out->offsets, b->err));
    }
    if (st == CUBED_OK)
        cubed_array_set_owner(out->offsets, cli_free, data);
    else
        cli_free(data);
    return st;
}

/* Takes a reference to the mask; out is to be dropped in any case. */
static cubed_status count_mask(expr_builder *b, const expr *e, cubed_array *mask, int64_t chunk,
                               picked *out)
{
    cubed_array *offsets;
    *out = (picked){.mask = cubed_array_ref(mask), .chunk = chunk};
    EXPR_TRY(expr_located(b, e, cubed_mask_offsets(mask, chunk, &offsets, b->err)));
    cubed_status st = compute_offsets(b, e, offsets, out);
    cubed_array_unref(offsets);
    return st;
}

static cubed_status pick(expr_builder *b, const expr *e, cubed_array *x, const picked *p,
                         cubed_array **out)
{
    const cubed_slice none = {0, 0, 1, false};
    cubed_array *same;
    if (p->count == 0) return expr_located(b, e, cubed_slice_array(x, &none, out, b->err));
    EXPR_TRY(expr_located(b, e, cubed_rechunk(x, &p->chunk, &same, b->err)));
    cubed_status st =
        expr_located(b, e, cubed_compress(same, p->mask, p->offsets, p->count, out, b->err));
    cubed_array_unref(same);
    return st;
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
    picked p = {.mask = NULL};
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    EXPR_TRY(get_count(b, e, n, &count));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_array(b, e->child[1], &mask);
    bool counted = n > 2 || expr_keyword(e, "count");
    if (st == CUBED_OK && !counted && cubed_array_ndim(x) != 1)
        st = expr_reject(b, e, "expected one dimension: reshape(x, -1)");
    if (st == CUBED_OK && counted)
        st = expr_located(b, e, cubed_compress(x, mask, NULL, count, out, b->err));
    if (st == CUBED_OK && !counted) st = count_mask(b, e, mask, cubed_array_chunks(x)[0], &p);
    if (st == CUBED_OK && !counted) st = pick(b, e, x, &p, out);
    drop_picked(&p);
    cubed_array_unref(x);
    cubed_array_unref(mask);
    return st;
}

/* --- Sets -------------------------------------------------------------------------------------------- */

/* The elements in order, and which of them are the first of equal ones. */
static cubed_status sort_all(expr_builder *b, const expr *e, cubed_array **sorted, picked *first)
{
    const int64_t all = -1;
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    cubed_array *x, *flat = NULL, *flags = NULL;
    o.task_mem = b->host->task_mem;
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_reshape(x, 1, &all, &flat, b->err));
    if (st == CUBED_OK) st = expr_located(b, e, cubed_sort_with(flat, 0, &o, sorted, b->err));
    if (st == CUBED_OK) st = expr_located(b, e, cubed_first_of_equals(*sorted, &flags, b->err));
    if (st == CUBED_OK) st = count_mask(b, e, flags, cubed_array_chunks(*sorted)[0], first);
    cubed_array_unref(x);
    cubed_array_unref(flat);
    cubed_array_unref(flags);
    return st;
}

static cubed_status call_unique_values(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    cubed_array *sorted = NULL;
    picked first = {.mask = NULL};
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    cubed_status st = sort_all(b, e, &sorted, &first);
    if (st == CUBED_OK) st = pick(b, e, sorted, &first, out);
    drop_picked(&first);
    cubed_array_unref(sorted);
    return st;
}

/* Numbers of elements from where each group begins to where the next one does. */
static cubed_status count_groups(expr_builder *b, const expr *e, const picked *first, int64_t n,
                                 cubed_array **out)
{
    const cubed_scalar total = {.i64 = n};
    const int64_t one = 1;
    const cubed_slice later = {1, first->count, 1, false};
    cubed_array *places = NULL, *starts = NULL, *end = NULL, *ends = NULL, *next = NULL;
    cubed_status st =
        expr_located(b, e, cubed_array_index(b->ctx, 1, &n, &first->chunk, 0, &places, b->err));
    if (st == CUBED_OK) st = pick(b, e, places, first, &starts);
    if (st == CUBED_OK)
        st = expr_located(
            b, e, cubed_array_full(b->ctx, CUBED_INT64, 1, &one, &one, &total, &end, b->err));
    cubed_array *const parts[2] = {starts, end};
    if (st == CUBED_OK) st = expr_located(b, e, cubed_concat(parts, 2, 0, &ends, b->err));
    if (st == CUBED_OK) st = expr_located(b, e, cubed_slice_array(ends, &later, &next, b->err));
    cubed_array *const pair[2] = {next, starts};
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_elementwise(CUBED_OP_SUBTRACT, pair, 2, out, b->err));
    cubed_array_unref(places);
    cubed_array_unref(starts);
    cubed_array_unref(end);
    cubed_array_unref(ends);
    cubed_array_unref(next);
    return st;
}

static cubed_status call_unique_counts(expr_builder *b, const expr *e, cubed_array **outs)
{
    int n;
    cubed_array *sorted = NULL;
    picked first = {.mask = NULL};
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    cubed_status st = sort_all(b, e, &sorted, &first);
    if (st == CUBED_OK) st = pick(b, e, sorted, &first, &outs[0]);
    if (st == CUBED_OK) {
        st = count_groups(b, e, &first, cubed_array_shape(sorted)[0], &outs[1]);
        if (st != CUBED_OK) cubed_array_unref(outs[0]);
    }
    drop_picked(&first);
    cubed_array_unref(sorted);
    return st;
}

expr_function expr_find_set_function(const char *name)
{
    if (strcmp(name, "compress") == 0) return call_compress;
    return strcmp(name, "unique_values") == 0 ? call_unique_values : NULL;
}

expr_tuple_function expr_find_set_tuple(const char *name, int *nout)
{
    if (strcmp(name, "unique_counts") != 0) return NULL;
    *nout = 2;
    return call_unique_counts;
}
