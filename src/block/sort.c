/* Sorting along one axis, and the positions that sort it.
 *
 * Elements are turned into keys (order.h), sorted, and turned back. Complex numbers have two keys: positions are sorted by one after the other, and by which parts
 * are NaN, as NumPy has it: all numbers, then those with a NaN imaginary part, then those with a NaN
 * real part, then both. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/order.h"
#include "block/params.h"

/* --- One line -------------------------------------------------------------------------------------- */

/* A line along the axis: n elements, `stride` bytes apart. */
typedef struct line {
    const char *from;
    char *to;
    int64_t from_stride, to_stride;
    int64_t n;
    size_t size;
} line;

static void copy_out(const line *l, const char *dense, size_t size)
{
    if (l->to_stride == (int64_t)size) {
        memcpy(l->to, dense, (size_t)l->n * size);
        return;
    }
    for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_stride, dense + (size_t)i * size, size);
}

/* Scratch of a line, in order. */
typedef struct room {
    char *keys, *spare;
    uint32_t *pos, *spare_pos;
} room;

static void sort_line(const line *l, const cb_order *o, const room *r)
{
    const cb_order_width *w = cb_order_width_of(l->size);
    cb_order_seen seen = {false, false};
    /* Where the result is dense the keys need no room of their own. */
    char *keys = l->to_stride == (int64_t)l->size ? l->to : r->keys;
    w->make_keys(l->from, l->from_stride, l->n, o, keys, &seen);
    w->sort_keys(keys, NULL, l->n, r->spare, NULL);
    w->make_values(keys, l->n, o, seen, l->from, l->from_stride);
    if (keys != l->to) copy_out(l, keys, l->size);
}

/* Positions sorted by the keys of one part of the elements, stable against their order so far. */
static void sort_positions(const line *l, size_t offset, size_t size, const cb_order *o, bool again,
                           const room *r)
{
    const cb_order_width *w = cb_order_width_of(size);
    cb_order_seen seen = {false, false};
    char *keys = r->keys;
    w->make_keys(l->from + offset, l->from_stride, l->n, o, keys, &seen);
    if (again) { /* keys in the order of the positions */
        for (int64_t i = 0; i < l->n; i++)
            memcpy(r->spare + (size_t)i * size, keys + (size_t)r->pos[i] * size, size);
        memcpy(keys, r->spare, (size_t)l->n * size);
    }
    w->sort_keys(keys, r->pos, l->n, r->spare, r->spare_pos);
}

static bool is_nan_part(const char *x, size_t size)
{
    double d;
    float f;
    if (size == sizeof d) {
        memcpy(&d, x, size);
        return d != d;
    }
    memcpy(&f, x, size);
    return f != f;
}

static void sort_complex_positions(const line *l, const cb_order *o, const room *r)
{
    size_t part = l->size / 2;
    int64_t count[4] = {0}, sum = 0;
    sort_positions(l, part, part, o, false, r);
    sort_positions(l, 0, part, o, true, r);
    uint8_t *class = (uint8_t *)r->keys;
    for (int64_t i = 0; i < l->n; i++) {
        const char *x = l->from + (int64_t)r->pos[i] * l->from_stride;
        int c = 2 * is_nan_part(x, part) + is_nan_part(x + part, part);
        class[i] = (uint8_t)(o->descending ? 3 - c : c);
        count[class[i]]++;
    }
    for (int c = 0; c < 4; c++) {
        int64_t here = count[c];
        count[c] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < l->n; i++) r->spare_pos[count[class[i]]++] = r->pos[i];
    memcpy(r->pos, r->spare_pos, (size_t)l->n * sizeof *r->pos);
}

static void find_positions(const line *l, const cb_order *o, bool is_complex, const room *r)
{
    for (int64_t i = 0; i < l->n; i++) r->pos[i] = (uint32_t)i;
    if (is_complex)
        sort_complex_positions(l, o, r);
    else
        sort_positions(l, 0, l->size, o, false, r);
}

/* --- Blocks ---------------------------------------------------------------------------------------- */

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

static size_t rounded(size_t bytes) { return (cb_sat_add(bytes, 63)) & ~(size_t)63; }

static bool is_complex(cubed_dtype dtype) { return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX; }

/* Room for one line; lists that the call does not need are left out. */
static size_t make_room(const cubed_block_call *call, bool positions, void *scratch, room *out)
{
    const cb_sort_params *p = call->params;
    const cubed_block *x = &call->in[0];
    layout s = layout_of(x, p->axis);
    positions = positions || is_complex(x->dtype);
    size_t n = (size_t)s.n, bytes = rounded(cb_sat_mul(n, cb_order_key_size(x->dtype)));
    size_t keys = positions || s.inner > 1 ? bytes : 0;
    size_t pos = positions ? rounded(cb_sat_mul(n, sizeof(uint32_t))) : 0;
    char *at = scratch;
    if (at)
        *out = (room){at, at + keys, (uint32_t *)(at + keys + bytes),
                      (uint32_t *)(at + keys + bytes + pos)};
    return cb_sat_add(cb_sat_add(keys, bytes), cb_sat_add(pos, pos));
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

static void put_elements(const line *l, const uint32_t *pos)
{
    for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_stride, l->from + (int64_t)pos[i] * l->from_stride, l->size);
}

static void put_positions(const line *l, const uint32_t *pos)
{
    for (int64_t i = 0; i < l->n; i++) *(int64_t *)(l->to + i * l->to_stride) = pos[i];
}

static void each_line(const cubed_block_call *call, bool positions)
{
    const cb_sort_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    layout s = layout_of(x, p->axis);
    cb_order o = cb_order_of(x->dtype, p->descending);
    int64_t size = (int64_t)cubed_dtype_size(x->dtype), step = (int64_t)cubed_dtype_size(y->dtype);
    room r;
    make_room(call, positions, call->scratch, &r);
    for (int64_t i = 0; i < s.outer; i++) {
        for (int64_t k = 0; k < s.inner; k++) {
            int64_t at = i * s.n * s.inner + k;
            line l = {.from = (const char *)x->data + at * size,
                      .to = (char *)y->data + at * step,
                      .from_stride = s.inner * size,
                      .to_stride = s.inner * step,
                      .n = s.n,
                      .size = (size_t)size};
            if (!positions && !is_complex(x->dtype)) {
                sort_line(&l, &o, &r);
                continue;
            }
            find_positions(&l, &o, is_complex(x->dtype), &r);
            if (positions)
                put_positions(&l, r.pos);
            else
                put_elements(&l, r.pos);
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
