#include "array_api/known_lines.h"

#include "ops/ops_pkg.h"

/* Merges all reduced axes of x to one axis, and sets *axis to its index. It is the last axis, unless only one axis is reduced. */
static cubed_array *as_lines(cb_steps *s, cubed_array *x, uint32_t reduced, int *axis)
{
    const int ndim = x->node.grid->ndim;
    int order[CUBED_MAX_NDIM], n = 0;
    int64_t shape[CUBED_MAX_NDIM + 1];
    if (__builtin_popcount(reduced) == 1) {
        *axis = __builtin_ctz(reduced);
        return x;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < ndim; d++) {
            if ((int)(reduced >> d & 1) != pass) continue;
            if (pass == 0) shape[n] = x->shape[d];
            order[n++] = d;
        }
        if (pass == 0) *axis = n;
    }
    shape[*axis] = 1;
    for (int d = *axis; d < ndim; d++) shape[*axis] *= x->shape[order[d]];
    return cb_step_reshaped(s, cb_step_permuted(s, x, order), *axis + 1, shape);
}

void cb_known_lines_sort(cb_known_lines *l, uint64_t task_mem,
                         cubed_array *(*is_missing)(cb_steps *s, cubed_array *lines))
{
    cb_steps *s = l->s;
    cubed_array *sorted = NULL, *lines = as_lines(s, l->x, l->reduced, &l->axis);
    cubed_reduce_options along = CUBED_REDUCE_OPTIONS_INIT;
    cubed_sort_options order = CUBED_SORT_OPTIONS_INIT;
    order.task_mem = task_mem;
    along.axes = &l->axis;
    along.naxes = 1;
    along.keepdims = true;
    if (!lines) return;
    l->sorted = cb_step(s, cubed_sort_with(lines, l->axis, &order, &sorted, s->err), &sorted);
    cubed_array *is_known = cb_step_op(s, CUBED_OP_LOGICAL_NOT, is_missing(s, lines), NULL, NULL);
    l->known = cb_step_reduce(s, CUBED_REDUCE_SUM, cb_step_cast(s, is_known, CUBED_INT64), &along);
}

cubed_array *cb_known_lines_result(cb_known_lines *l, cubed_array *y)
{
    cb_steps *s = l->s;
    cubed_array *result = NULL;
    if (!y || s->st != CUBED_OK) return NULL;
    s->st = cubed_squeeze(y, &l->axis, 1, &result, s->err);
    if (s->st == CUBED_OK && l->keepdims) {
        s->st = cb_op_restore_axes(&result, l->x, l->reduced, s->err);
        if (s->st != CUBED_OK) cubed_array_unref(result);
    }
    return cb_step(s, s->st, &result);
}

cubed_array *cb_known_lines_take(cb_known_lines *l, cubed_array *at)
{
    cb_steps *s = l->s;
    cubed_array *y = NULL;
    at = cb_step_op(s, CUBED_OP_MAXIMUM, at, cb_step_whole(s, 0), NULL);
    if (!at || !l->sorted) return NULL;
    y = cb_step(s, cubed_take_along_axis(l->sorted, at, l->axis, &y, s->err), &y);
    return cb_known_lines_result(l, y);
}
