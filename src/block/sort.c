/* Sorts along one axis, or computes the positions that sort it, line by line (sort_line.h). */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "block/sort_line.h"

/* The shape of x as (outer, n, inner), where n is the extent of the sorted axis. */
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
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    if (p->axis < 0 || p->axis >= x->ndim || x->ndim != y->ndim || p->descending >> 1)
        return cb_fail(err, CUBED_E_FORMAT, "axis %d is out of range for %d dimensions",
                       (int)p->axis, x->ndim);
    for (int d = 0; d < x->ndim; d++) {
        if (x->shape[d] != y->shape[d])
            return cb_fail(err, CUBED_E_FORMAT, "the blocks have different shapes");
    }
    if (x->shape[p->axis] > UINT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "the axis has more than 2**32 - 1 elements");
    return CUBED_OK;
}

static cubed_status check_sort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(check_axis(call, err));
    if (call->in[0].dtype != call->out[0].dtype)
        return cb_fail(err, CUBED_E_FORMAT, "the type of the result does not match the function");
    return CUBED_OK;
}

static cubed_status check_argsort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    CB_TRY(check_axis(call, err));
    if (call->out[0].dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT, "the type of the result does not match the function");
    return CUBED_OK;
}

/* Number of bytes of adjacent lines whose keys are computed together, so that each cache line is read and written once. */
#define LINES_BYTES 64

static bool by_values(const cubed_block_call *call, bool positions)
{
    return !positions && !cb_sort_needs_positions(call->in[0].dtype);
}

static int lines_at_a_time(const layout *s, cubed_dtype dtype)
{
    return (int)cb_min_i64(s->inner, LINES_BYTES / (int64_t)cubed_dtype_size(dtype));
}

/* Returns the bytes from the start of a line to the start of the next, so that lines do not all start at the same offset in a
 * page. */
static size_t line_stride(const layout *s, cubed_dtype dtype)
{
    size_t bytes = cb_sat_mul((size_t)s->n, cubed_dtype_size(dtype));
    return cb_sat_add(bytes, 127) & ~(size_t)63;
}

/* Returns the bytes of scratch memory that a call needs. Unless `scratch` is NULL, divides it into the arrays of *room. Sorts of
 * values without positions also need memory for the keys of several lines, unless the lines of the result are contiguous and hold
 * the keys. */
static size_t make_room(const cubed_block_call *call, bool positions, void *scratch,
                        cb_sort_room *room)
{
    const cb_sort_params *p = call->params;
    const cubed_dtype dtype = call->in[0].dtype;
    layout s = layout_of(&call->in[0], p->axis);
    if (!by_values(call, positions))
        return cb_sort_room_make(s.n, dtype, CB_SORT_KEYS | CB_SORT_POSITIONS, scratch, room);
    size_t one = cb_sort_room_make(s.n, dtype, CB_SORT_SPARE, scratch, room);
    if (scratch) room->keys = (char *)scratch + one;
    if (s.inner <= 1) return one;
    return cb_sat_add(one, cb_sat_mul((size_t)lines_at_a_time(&s, dtype), line_stride(&s, dtype)));
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

/* Destination of a line's elements. */
typedef struct target {
    char *to;
    int64_t stride;
} target;

/* Sorts `lines` adjacent lines, starting with the given one. */
static void put_values(const cb_kernels *k, const cb_line *l, int lines, const target *t,
                       size_t keys_stride, const cb_sort_room *r)
{
    const size_t size = cubed_dtype_size(l->dtype);
    const cb_order_width *w = cb_order_width_of(size);
    cb_order_seen seen = {false, false};
    const cb_order_lines of = {l->from, l->stride, l->n, lines, r->keys, keys_stride};
    w->make_lines(&of, &l->order, &seen);
    for (int i = 0; i < lines; i++) {
        char *keys = r->keys + (size_t)i * keys_stride;
        cb_order_sort(k, size, keys, l->n, r->temp);
        w->make_values(keys, l->n, &l->order, seen, l->from + (size_t)i * size, l->stride);
    }
    w->put_lines(r->keys, keys_stride, l->n, lines, t->to, t->stride);
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

static void each_line(const cb_kernels *kernels, const cubed_block_call *call, bool positions)
{
    const cb_sort_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    layout s = layout_of(x, p->axis);
    int64_t size = (int64_t)cubed_dtype_size(x->dtype), step = (int64_t)cubed_dtype_size(y->dtype);
    const bool values = by_values(call, positions);
    const int64_t at_a_time = values ? cb_max_i64(1, lines_at_a_time(&s, x->dtype)) : 1;
    cb_sort_room r;
    make_room(call, positions, call->scratch, &r);
    for (int64_t i = 0; i < s.outer; i++) {
        for (int64_t k = 0; k < s.inner && !cubed_block_cancelled(call); k += at_a_time) {
            int64_t at = i * s.n * s.inner + k;
            cb_line l = cb_line_of((const char *)x->data + at * size, s.inner * size, s.n, x->dtype,
                                   p->descending);
            target t = {(char *)y->data + at * step, s.inner * step};
            if (values && s.inner == 1) {
                cb_sort_values(kernels, &l, t.to, &r);
                continue;
            }
            if (values) {
                put_values(kernels, &l, (int)cb_min_i64(at_a_time, s.inner - k), &t,
                           line_stride(&s, x->dtype), &r);
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
    (void)err;
    each_line(ctx, call, false);
    return CUBED_OK;
}

static cubed_status run_argsort(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)err;
    each_line(ctx, call, true);
    return CUBED_OK;
}

const cubed_block_fn cb_block_sort = {
    .name = "sort", .check = check_sort, .need = need_sort, .run = run_sort, .divisible = true};
const cubed_block_fn cb_block_argsort = {.name = "argsort",
                                         .check = check_argsort,
                                         .need = need_argsort,
                                         .run = run_argsort,
                                         .divisible = true};
