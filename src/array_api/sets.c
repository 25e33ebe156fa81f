/* Sets of elements: groups of equal elements, which are adjacent after sorting. */
#include "array_api/sets.h"
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "ops/steps.h"

static cubed_status cut(cubed_array *x, int64_t from, int64_t len, cubed_array **out,
                        cubed_error *err)
{
    const cubed_slice slice = {from, len, 1, false};
    return cubed_slice_array(x, &slice, out, err);
}

/* Returns true where both an element of `behind` and the preceding element, in `front`, are NaN. */
static cubed_status find_both_nan(cubed_array *behind, cubed_array *front, cubed_array **out,
                                  cubed_error *err)
{
    cb_steps s = {.ctx = behind->ctx, .err = err};
    cubed_array *a = cb_step_op(&s, CUBED_OP_ISNAN, behind, NULL, NULL);
    cubed_array *b = cb_step_op(&s, CUBED_OP_ISNAN, front, NULL, NULL);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_LOGICAL_AND, a, b, NULL), out);
}

/* Sets elements of *differs to false where an element of `behind` and the preceding element, in `front`, are both NaN. */
static cubed_status join_nan(cubed_array *behind, cubed_array *front, cubed_array **differs,
                             cubed_error *err)
{
    cubed_array *both = NULL, *apart = NULL, *left = NULL;
    cubed_status st = find_both_nan(behind, front, &both, err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_LOGICAL_NOT, &both, 1, &apart, err);
    cubed_array *const pair[2] = {*differs, apart};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_LOGICAL_AND, pair, 2, &left, err);
    cubed_array_unref(both);
    cubed_array_unref(apart);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*differs);
    *differs = left;
    return CUBED_OK;
}

/* Returns true for elements that differ from the preceding one: the first element, every NaN (with `equal_nan` only the
 * first NaN), and only the first NaT. */
static cubed_status find_first(cubed_array *sorted, bool equal_nan, cubed_array **out,
                               cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(sorted->node.dtype);
    if (kind == CUBED_KIND_TIME) {
        cubed_array *ints;
        CB_TRY(cubed_astype(sorted, CUBED_INT64, &ints, err));
        const cubed_status time_st = find_first(ints, equal_nan, out, err);
        cubed_array_unref(ints);
        return time_st;
    }
    const cubed_scalar yes = {.b = true};
    const int64_t n = sorted->shape[0], one = 1, none = 0;
    if (n <= 1)
        return cubed_array_full(sorted->ctx, CUBED_BOOL, 1, n ? &one : &none, &one, &yes, out, err);
    cubed_array *front = NULL, *behind = NULL, *first = NULL, *differs = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(cut(sorted, 1, n - 1, &behind, err));
    CB_GO(cut(sorted, 0, n - 1, &front, err));
    cubed_array *const pair[2] = {behind, front};
    CB_GO(cubed_elementwise(CUBED_OP_NOT_EQUAL, pair, 2, &differs, err));
    if (equal_nan && (kind == CUBED_KIND_FLOAT || kind == CUBED_KIND_COMPLEX))
        CB_GO(join_nan(behind, front, &differs, err));
    CB_GO(cubed_array_full(sorted->ctx, CUBED_BOOL, 1, &one, &one, &yes, &first, err));
    cubed_array *const parts[2] = {first, differs};
    CB_GO(cubed_concat(parts, 2, 0, out, err));
out:
    cubed_array_unref(front);
    cubed_array_unref(behind);
    cubed_array_unref(first);
    cubed_array_unref(differs);
    return st;
}

cubed_array *cb_step_first(cb_steps *s, cubed_array *sorted, bool equal_nan)
{
    cubed_array *y = NULL;
    if (!sorted || s->st != CUBED_OK) return NULL;
    return cb_step(s, find_first(sorted, equal_nan, &y, s->err), &y);
}

/* The flattened elements, the sorted elements, and whether each is the first of its group. */
typedef struct groups {
    cubed_array *flat, *sorted, *first, *offsets;
    cubed_array *order; /* NULL if not requested */
    int64_t chunk, count;
    uint64_t task_mem;
} groups;

static void drop(groups *g)
{
    cubed_array_unref(g->flat);
    cubed_array_unref(g->sorted);
    cubed_array_unref(g->first);
    cubed_array_unref(g->order);
}

static cubed_status sort_values(cubed_array *x, uint64_t task_mem, cubed_array **out,
                                cubed_error *err)
{
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    o.task_mem = task_mem;
    return cubed_sort_with(x, 0, &o, out, err);
}

/* Sorts the elements, and their positions if `order` is set. The values are sorted separately in both cases, so that the sorted
 * chunks do not depend on the requested results. The caller drops g, even after an error. */
static cubed_status make_groups(cubed_array *x, bool order, const cubed_unique_options *o,
                                groups *g, cubed_error *err)
{
    const uint64_t task_mem = o->task_mem;
    *g = (groups){.task_mem = task_mem};
    CB_TRY(cb_api_flatten(x, &g->flat, err));
    CB_TRY(sort_values(g->flat, task_mem, &g->sorted, err));
    g->chunk = g->sorted->chunks[0];
    if (order) {
        cubed_array_unref(g->sorted);
        g->sorted = NULL;
        CB_TRY(cb_api_sort_runs(g->flat, NULL, 0, false, task_mem, &g->sorted, &g->order, err));
    }
    return find_first(g->sorted, o->equal_nan, &g->first, err);
}

cubed_status cubed_unique_offsets(cubed_array *x, const cubed_unique_options *options,
                                  cubed_array **out, cubed_error *err)
{
    cubed_unique_options taken = CUBED_UNIQUE_OPTIONS_INIT;
    groups g;
    CB_TRY(CB_OPTIONS_TAKE("unique", options, &taken, err));
    cubed_status st = make_groups(x, false, &taken, &g, err);
    if (st == CUBED_OK) st = cubed_mask_offsets(g.first, g.chunk, out, err);
    drop(&g);
    return st;
}

/* Returns the sizes of groups, which are differences between the starts of adjacent groups. */
static cubed_status count_each(const groups *g, cubed_array **out, cubed_error *err)
{
    const cubed_scalar n = {.i64 = g->flat->shape[0]};
    const int64_t one = 1;
    cubed_array *starts = NULL, *end = NULL, *ends = NULL, *next = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(cb_api_positions(g->first, g->offsets, g->chunk, g->count, &starts, err));
    CB_GO(cubed_array_full(g->flat->ctx, CUBED_INT64, 1, &one, &one, &n, &end, err));
    cubed_array *const parts[2] = {starts, end};
    CB_GO(cubed_concat(parts, 2, 0, &ends, err));
    CB_GO(cut(ends, 1, g->count, &next, err));
    cubed_array *const pair[2] = {next, starts};
    CB_GO(cubed_elementwise(CUBED_OP_SUBTRACT, pair, 2, out, err));
out:
    cubed_array_unref(starts);
    cubed_array_unref(end);
    cubed_array_unref(ends);
    cubed_array_unref(next);
    return st;
}

/* Returns the group number of each element, in the shape of x. Running sums over the sorted elements number the groups;
 * sorting by position restores the order. */
static cubed_status number_groups(const cubed_array *x, const groups *g, cubed_array **out,
                                  cubed_error *err)
{
    cubed_array *back = NULL, *sums = NULL, *shaped = NULL;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *flags = cb_step_cast(&s, g->first, CUBED_INT64);
    if (s.st == CUBED_OK)
        cb_step(&s, cubed_cumulative(CUBED_REDUCE_SUM, flags, 0, false, &sums, err), &sums);
    cubed_array *rank = cb_step_op(&s, CUBED_OP_SUBTRACT, sums, cb_step_whole(&s, 1), NULL);
    if (s.st == CUBED_OK)
        cb_step(&s, cb_api_sort_runs(g->order, rank, 0, false, g->task_mem, NULL, &back, err),
                &back);
    if (s.st == CUBED_OK)
        cb_step(&s, cubed_reshape(back, x->node.grid->ndim, x->shape, &shaped, err), &shaped);
    return cb_steps_end(&s, shaped, out);
}

cubed_status cubed_unique(cubed_array *x, cubed_array *offsets, int64_t count,
                          const cubed_unique_options *options, const cubed_unique_outputs *outs,
                          cubed_error *err)
{
    cubed_unique_options taken = CUBED_UNIQUE_OPTIONS_INIT;
    groups g;
    CB_TRY(CB_OPTIONS_TAKE("unique", options, &taken, err));
    cubed_array *values = NULL, *indices = NULL, *inverse = NULL, *counts = NULL;
    cubed_status st = make_groups(x, outs->indices || outs->inverse, &taken, &g, err);
    g.offsets = offsets;
    g.count = count;
    if (st != CUBED_OK) goto out;
    if (outs->values) CB_GO(cb_api_pick(g.sorted, g.first, offsets, g.chunk, count, &values, err));
    if (outs->indices) CB_GO(cb_api_pick(g.order, g.first, offsets, g.chunk, count, &indices, err));
    if (outs->inverse) CB_GO(number_groups(x, &g, &inverse, err));
    if (outs->counts) CB_GO(count_each(&g, &counts, err));
    if (outs->values) *outs->values = cubed_array_ref(values);
    if (outs->indices) *outs->indices = cubed_array_ref(indices);
    if (outs->inverse) *outs->inverse = cubed_array_ref(inverse);
    if (outs->counts) *outs->counts = cubed_array_ref(counts);
out:
    cubed_array_unref(values);
    cubed_array_unref(indices);
    cubed_array_unref(inverse);
    cubed_array_unref(counts);
    drop(&g);
    return st;
}

/* --- Membership --------------------------------------------------------------------------------------- */

/* Divides x and the members by their chunks, and compares each block of x with all blocks of the members. */
static cubed_status find_members(cubed_array *x, cubed_array *among, const cb_isin_params *params,
                                 cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim, others = among->node.grid->ndim;
    const size_t item = cubed_dtype_size(x->node.dtype);
    int64_t chunks[CUBED_MAX_NDIM], blocks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cb_api_blocks(x, 0, item, chunks);
    cb_api_blocks(among, 0, item, blocks);
    for (int d = 0; d < ndim + others; d++) symbols[d] = d;
    const cubed_block_input in[2] = {{x, symbols, chunks}, {among, symbols + ndim, blocks}};
    const cubed_block_output to = {CUBED_BOOL, ndim, x->shape, chunks, symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = "isin",
                                             .params = params,
                                             .params_size = sizeof *params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

/* Casts x to the type of the comparison, and flattens it if `flat`. Strings are not cast. */
static cubed_status make_comparable(cubed_array *x, bool flat, cubed_dtype type, cubed_array **out,
                                    cubed_error *err)
{
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TEXT) type = x->node.dtype;
    if (!flat) return cubed_astype(x, type, out, err);
    cubed_array *line;
    CB_TRY(cb_api_flatten(x, &line, err));
    cubed_status st = cubed_astype(line, type, out, err);
    cubed_array_unref(line);
    return st;
}

/* Gets the type of the comparison. If integers have no common integer type, it is uint64, and *positive is true: after the cast,
 * a value that the other type cannot represent has its highest bit set. */
static cubed_status comparable_type(const cubed_array *x1, const cubed_array *x2, cubed_dtype *type,
                                    bool *positive, cubed_error *err)
{
    const cubed_dtype a = x1->node.dtype, b = x2->node.dtype;
    *type = cubed_dtype_promote(a, b);
    *positive = cb_steps_mix_uint64(a, b);
    if (*positive) *type = CUBED_UINT64;
    if (cubed_dtype_kind(a) == CUBED_KIND_TEXT && cubed_dtype_family(a) == cubed_dtype_family(b))
        return CUBED_OK;
    if (*type > CUBED_DTYPE_COUNT && cubed_dtype_kind(*type) == CUBED_KIND_FLOAT)
        *type = CUBED_FLOAT32;
    if (*type < CUBED_DTYPE_COUNT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "isin: %s and %s have no common type to compare",
                   cubed_dtype_name(a), cubed_dtype_name(b));
}

/* Compares times as int64 in a common unit. NaT is not a member of any set. */
static cubed_status find_times(cubed_array *x1, cubed_array *x2, bool invert, cubed_array **out,
                               cubed_error *err)
{
    cubed_dtype type;
    CB_TRY(cb_op_common_time("isin", x1, x2, &type, err));
    cb_steps s = {.ctx = x1->ctx, .err = err};
    cubed_array *a = cb_step_cast(&s, cb_step_cast(&s, x1, type), CUBED_INT64), *found = NULL;
    cubed_array *b = cb_step_cast(&s, cb_step_cast(&s, x2, type), CUBED_INT64);
    cubed_array *there = cb_step_op(&s, CUBED_OP_ISFINITE, x1, NULL, NULL);
    if (s.st == CUBED_OK) cb_step(&s, cubed_isin(a, b, false, &found, err), &found);
    cubed_array *y = cb_step_op(&s, CUBED_OP_LOGICAL_AND, found, there, NULL);
    return cb_steps_end(&s, invert ? cb_step_op(&s, CUBED_OP_LOGICAL_NOT, y, NULL, NULL) : y, out);
}

cubed_status cubed_isin(cubed_array *x1, cubed_array *x2, bool invert, cubed_array **out,
                        cubed_error *err)
{
    if (cubed_dtype_kind(x1->node.dtype) == CUBED_KIND_TIME ||
        cubed_dtype_kind(x2->node.dtype) == CUBED_KIND_TIME)
        return find_times(x1, x2, invert, out, err);
    const int ndim = x1->node.grid->ndim;
    const cubed_scalar none = {.b = invert};
    cubed_dtype type;
    bool positive, empty = false;
    CB_TRY(comparable_type(x1, x2, &type, &positive, err));
    for (int d = 0; d < x2->node.grid->ndim; d++) empty = empty || x2->shape[d] == 0;
    if (empty) return cubed_array_full(x1->ctx, CUBED_BOOL, ndim, x1->shape, NULL, &none, out, err);
    /* x and the members need different axes, so the sum of their dimensions is limited. */
    const bool flat = ndim == CUBED_MAX_NDIM;
    const bool flat_members = ndim + x2->node.grid->ndim > CUBED_MAX_NDIM;
    const cb_isin_params params = {invert, positive};
    cubed_array *x = NULL, *among = NULL, *found = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(make_comparable(x1, flat, type, &x, err));
    CB_GO(make_comparable(x2, flat_members, type, &among, err));
    CB_GO(find_members(x, among, &params, &found, err));
    if (flat)
        st = cubed_reshape(found, ndim, x1->shape, out, err);
    else
        *out = cubed_array_ref(found);
out:
    cubed_array_unref(x);
    cubed_array_unref(among);
    cubed_array_unref(found);
    return st;
}
