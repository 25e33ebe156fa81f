/* Sorting along one axis, and the positions that sort it: line by line (sort_line.h). */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "block/sort_line.h"

/* x as (outer, n, inner). */
typedef struct layout {
    int64_t outer, n, inner;
} layout;

static layout layout_of(const cubed_block *x, int64_t axis)
{
    layout s = {1, x->shape[axis], 1};
    for (int d = 0; d < x->ndim; d++) {
        if (d < axis) s.outer *= x->shape[d];
        if (d > axis) s.inner *= x->shape[d];
    }
    return s;
}

static cubed_status check_axis(const cubed_block_call *call, cubed_error *err)
{
    const cb_sort_params *p = call->params;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT, "other parameters or operands than it takes");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    if (p->axis < 0 || p->axis >= x->ndim || x->ndim != y->ndim || p->descending >> 1)
        return cb_fail(err, CUBED_E_FORMAT, "axis %d of %d dimensions", (int)p->axis, x->ndim);
    for (int d = 0; d < x->ndim; d++) {
        if (x->shape[d] != y->shape[d])
            return cb_fail(err, CUBED_E_FORMAT, "blocks of different shapes");
    }
    if (x->shape[p->axis] > UINT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "an axis of more than 2**32 - 1 elements");
    if (cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE, "it is not defined for %s", cubed_dtype_name(x->dtype));
    return CUBED_OK;
}

static cubed_status check_sort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(check_axis(call, err));
    if (call->in[0].dtype != call->out[0].dtype)
        return cb_fail(err, CUBED_E_FORMAT, "a result of another type");
    return CUBED_OK;
}

static cubed_status check_argsort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(check_axis(call, err));
    if (call->out[0].dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT, "a result of another type");
    return CUBED_OK;
}

/* Room for one line. Where the result is dense, keys of values need none of their own. */
static size_t make_room(const cubed_block_call *call, bool positions, void *scratch,
                        cb_sort_room *room)
{
    const cb_sort_params *p = call->params;
    const cubed_block *x = &call->in[0];
    layout s = layout_of(x, p->axis);
    positions = positions || cb_sort_needs_positions(x->dtype);
    return cb_sort_room_make(s.n, x->dtype, positions || s.inner > 1, positions, scratch, room);
}

static cubed_block_need need_sort(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){make_room(call, false, NULL, NULL), 0};
}

static cubed_block_need need_argsort(const cubed_block_call *call, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){make_room(call, true, NULL, NULL), 0};
}

/* Where the elements of a line go. */
typedef struct target {
    char *to;
    int64_t stride;
} target;

static void put_values(const cb_line *l, const target *t, const cb_sort_room *r)
{
    int64_t size = (int64_t)cubed_dtype_size(l->dtype);
    if (t->stride == size) {
        cb_sort_values(l, t->to, r);
        return;
    }
    cb_sort_values(l, r->keys, r);
    for (int64_t i = 0; i < l->n; i++)
        memcpy(t->to + i * t->stride, r->keys + i * size, (size_t)size);
}

static void put_elements(const cb_line *l, const target *t, const uint32_t *pos)
{
    size_t size = cubed_dtype_size(l->dtype);
    for (int64_t i = 0; i < l->n; i++)
        memcpy(t->to + i * t->stride, l->from + (int64_t)pos[i] * l->stride, size);
}

static void put_positions(const cb_line *l, const target *t, const uint32_t *pos)
{
    for (int64_t i = 0; i < l->n; i++) *(int64_t *)(t->to + i * t->stride) = pos[i];
}

static void each_line(const cubed_block_call *call, bool positions)
{
    const cb_sort_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    layout s = layout_of(x, p->axis);
    int64_t size = (int64_t)cubed_dtype_size(x->dtype), step = (int64_t)cubed_dtype_size(y->dtype);
    cb_sort_room r;
    make_room(call, positions, call->scratch, &r);
    for (int64_t i = 0; i < s.outer; i++) {
        for (int64_t k = 0; k < s.inner; k++) {
            int64_t at = i * s.n * s.inner + k;
            cb_line l = cb_line_of((const char *)x->data + at * size, s.inner * size, s.n, x->dtype,
                                   p->descending);
            target t = {(char *)y->data + at * step, s.inner * step};
            if (!positions && !cb_sort_needs_positions(x->dtype)) {
                put_values(&l, &t, &r);
                continue;
            }
            cb_sort_positions(&l, &r);
            if (positions)
                put_positions(&l, &t, r.pos);
            else
                put_elements(&l, &t, r.pos);
        }
    }
}

static cubed_status run_sort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    each_line(call, false);
    return CUBED_OK;
}

static cubed_status run_argsort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    each_line(call, true);
    return CUBED_OK;
}

const cubed_block_fn cb_block_sort = {
    .name = "sort", .check = check_sort, .need = need_sort, .run = run_sort, .divisible = true};
const cubed_block_fn cb_block_argsort = {.name = "argsort",
                                         .check = check_argsort,
                                         .need = need_argsort,
                                         .run = run_argsort,
                                         .divisible = true};
