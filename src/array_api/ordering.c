/* The k largest or smallest elements of a line, and sorting by several keys. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "ops/shapes.h"
#include "ops/steps.h"

static cubed_array *sorted(cb_steps *s, cubed_array *x, int axis, bool positions, uint64_t task_mem)
{
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    cubed_array *y = NULL;
    o.positions = positions;
    o.task_mem = task_mem;
    if (!x || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_sort_with(x, axis, &o, &y, s->err), &y);
}

static cubed_array *taken_along(cb_steps *s, cubed_array *x, cubed_array *at, int axis)
{
    cubed_array *y = NULL;
    if (!x || !at || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_take_along_axis(x, at, axis, &y, s->err), &y);
}

/* --- Largest elements ---------------------------------------------------------------------------------- */

typedef struct topk {
    cb_steps *s;
    int64_t count; /* k, at most the extent of the axis */
    bool largest, positions;
    uint64_t task_mem;
} topk;

/* Returns the `n` largest or smallest elements of a sorted axis: its last or its first elements. */
static cubed_array *ends_of(const topk *t, cubed_array *x, int axis, int64_t n)
{
    return x ? cb_step_part(t->s, x, axis, t->largest ? x->shape[axis] - n : 0, n, 1) : NULL;
}

/* Splits an axis of x into two: the chunks, and the elements of a chunk. */
static cubed_array *split_axis(cb_steps *s, cubed_array *x, int axis, int64_t chunk)
{
    int64_t shape[CUBED_MAX_NDIM + 1];
    const int ndim = x ? x->node.grid->ndim : 0;
    for (int d = 0; d < ndim; d++) shape[d > axis ? d + 1 : d] = x->shape[d];
    if (!x) return NULL;
    shape[axis] = x->shape[axis] / chunk;
    shape[axis + 1] = chunk;
    return cb_step_reshaped(s, x, ndim + 1, shape);
}

static cubed_array *merge_axes(cb_steps *s, cubed_array *x, int axis)
{
    int64_t shape[CUBED_MAX_NDIM];
    const int ndim = x ? x->node.grid->ndim : 0;
    for (int d = 0; d < ndim; d++) shape[d > axis ? d - 1 : d] = x->shape[d];
    if (!x) return NULL;
    shape[axis] = x->shape[axis] * x->shape[axis + 1];
    return cb_step_reshaped(s, x, ndim - 1, shape);
}

/* Concatenates the candidates of whole chunks and of the last, shorter chunk. The candidates of whole chunks have an
 * additional axis for the chunks. */
static cubed_array *together(const topk *t, cubed_array *head, cubed_array *tail, int axis)
{
    cubed_array *const parts[2] = {merge_axes(t->s, head, axis), tail};
    return parts[0] && tail ? cb_step_concat(t->s, parts, 2, axis) : NULL;
}

/* Returns the numbers 0, extent, 2 * extent, ..., along axis 0 of an array of ndim dimensions. */
static cubed_array *chunk_starts(const topk *t, int64_t count, int64_t extent, int ndim)
{
    const cubed_scalar step = {.i64 = extent};
    int64_t shape[CUBED_MAX_NDIM] = {count};
    cubed_array *number = NULL, *line = NULL;
    for (int d = 1; d < ndim; d++) shape[d] = 1;
    if (t->s->st != CUBED_OK) return NULL;
    cb_step(t->s, cubed_array_index(t->s->ctx, 1, &count, &count, 0, &number, t->s->err), &number);
    line =
        cb_step_op(t->s, CUBED_OP_MULTIPLY, number, cb_step_scalar(t->s, CUBED_INT64, &step), NULL);
    return cb_step_reshaped(t->s, line, ndim, shape);
}

/* Sorts each chunk of a long axis separately, and selects the candidates of each. *x receives the candidates, *at their
 * positions. */
static void reduce_chunks(const topk *t, int axis, cubed_array **x, cubed_array **at)
{
    cb_steps *s = t->s;
    const int64_t n = (*x)->shape[axis], chunk = (*x)->chunks[axis], whole = n / chunk * chunk;
    const int64_t rest = n - whole, left = cb_min_i64(t->count, rest);
    cubed_array *head = split_axis(s, cb_step_part(s, *x, axis, 0, whole, 1), axis, chunk);
    cubed_array *tail = cb_step_part(s, *x, axis, whole, rest, 1);
    cubed_array *first =
        ends_of(t, sorted(s, head, axis + 1, t->positions, t->task_mem), axis + 1, t->count);
    cubed_array *last = ends_of(t, sorted(s, tail, axis, t->positions, t->task_mem), axis, left);
    if (!t->positions || !first || !last) {
        *x = together(t, first, last, axis);
        return;
    }
    *x = together(t, taken_along(s, head, first, axis + 1), taken_along(s, tail, last, axis), axis);
    first = cb_step_op(s, CUBED_OP_ADD, first,
                       chunk_starts(t, whole / chunk, chunk, first->node.grid->ndim - axis), NULL);
    last = cb_step_op(s, CUBED_OP_ADD, last, cb_step_whole(s, whole), NULL);
    *at = together(t, first, last, axis);
}

cubed_status cubed_topk(cubed_array *x, int64_t k, int axis, bool positions, uint64_t task_mem,
                        cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    topk t = {.s = &s, .largest = k > 0, .positions = positions, .task_mem = task_mem};
    cubed_array *at = NULL, *found = NULL;
    CB_TRY(cb_api_axis(positions ? "argtopk" : "topk", x->node.grid->ndim, &axis, err));
    const int64_t n = x->shape[axis], wanted = k < 0 ? -cb_max_i64(k, -INT64_MAX) : k;
    const int64_t chunk = x->chunks[axis];
    t.count = cb_min_i64(wanted, n);
    /* The additional axis of chunks must not exceed the maximum number of dimensions. */
    const bool in_chunks = chunk < n && t.count <= chunk / 2 && x->node.grid->ndim < CUBED_MAX_NDIM;
    if (in_chunks) reduce_chunks(&t, axis, &x, &at);
    cubed_array *y = ends_of(&t, sorted(&s, x, axis, positions, task_mem), axis, t.count);
    if (at) y = taken_along(&s, at, y, axis);
    if (t.largest && y && s.st == CUBED_OK)
        y = cb_step(&s, cubed_flip(y, &axis, 1, &found, err), &found);
    return cb_steps_end(&s, y, out);
}

/* --- Several keys -------------------------------------------------------------------------------------- */

static cubed_status check_keys(cubed_array *const *keys, int n, cubed_error *err)
{
    if (n < 1)
        return cb_fail(err, CUBED_E_ARG, "lexsort: no keys are given, expected at least one");
    for (int i = 1; i < n; i++) {
        char first[CB_SHAPE_TEXT_CAP], other[CB_SHAPE_TEXT_CAP];
        const int ndim = keys[0]->node.grid->ndim;
        if (keys[i]->node.grid->ndim == ndim &&
            memcmp(keys[i]->shape, keys[0]->shape, (size_t)ndim * sizeof *keys[0]->shape) == 0)
            continue;
        return cb_fail(err, CUBED_E_ARG, "lexsort: keys have shapes %s and %s, expected one shape",
                       cb_shape_text(keys[0], first), cb_shape_text(keys[i], other));
    }
    return CUBED_OK;
}

cubed_status cubed_lexsort(cubed_array *const *keys, int n, int axis, uint64_t task_mem,
                           cubed_array **out, cubed_error *err)
{
    CB_TRY(check_keys(keys, n, err));
    CB_TRY(cb_api_axis("lexsort", keys[0]->node.grid->ndim, &axis, err));
    cb_steps s = {.ctx = keys[0]->ctx, .err = err};
    cubed_array *order = sorted(&s, keys[0], axis, true, task_mem);
    for (int i = 1; i < n && s.st == CUBED_OK; i++) {
        cubed_array *key = taken_along(&s, keys[i], order, axis);
        order = taken_along(&s, order, sorted(&s, key, axis, true, task_mem), axis);
    }
    return cb_steps_end(&s, order, out);
}
