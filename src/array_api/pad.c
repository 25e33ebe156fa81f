/* Padding with NumPy's modes, from views of the array and of reductions along an axis. */
#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

static const char *const mode_names[] = {
#define CUBED_PAD(NAME, name, number) [number] = #name,
#include "cubed/pads.def"
#undef CUBED_PAD
};

bool cubed_pad_mode_parse(const char *name, cubed_pad_mode *mode)
{
    for (int i = 0; i < CUBED_PAD_MODE_COUNT; i++) {
        if (strcmp(name, mode_names[i]) == 0) {
            *mode = (cubed_pad_mode)i;
            return true;
        }
    }
    return false;
}

/* An axis and its padding before and after. */
typedef struct padding {
    const cubed_pad_options *o;
    int axis;
    int64_t width[2];
} padding;

/* Maximum number of periods of a line that are concatenated; more periods are tiled. Each end may add parts of two more
 * periods. */
enum { MOST_PERIODS = 8, MOST_PARTS = 2 * (MOST_PERIODS + 2) };

/* Concatenates up to MOST_PARTS parts, except those that are NULL or empty. */
static cubed_array *joined(cb_steps *s, const padding *p, cubed_array *const *parts, int n)
{
    cubed_array *some[MOST_PARTS];
    int nsome = 0;
    for (int i = 0; i < n; i++) {
        if (parts[i] && parts[i]->shape[p->axis] > 0) some[nsome++] = parts[i];
    }
    return cb_step_concat(s, some, nsome, p->axis);
}

/* Repeats x, whose extent along the axis is 1, n times. Returns NULL if n is 0. */
static cubed_array *spread(cb_steps *s, const padding *p, cubed_array *x, int64_t n)
{
    int64_t shape[CUBED_MAX_NDIM];
    if (!x || n == 0) return NULL;
    memcpy(shape, x->shape, sizeof *shape * (size_t)x->node.grid->ndim);
    shape[p->axis] = n;
    return cb_step_broadcast(s, x, x->node.grid->ndim, shape);
}

/* --- Modes -------------------------------------------------------------------------------------------- */

static cubed_array *constant(cb_steps *s, const padding *p, cubed_array *x)
{
    static const cubed_scalar zeros[2] = {{{0}}, {{0}}};
    const bool given = p->o->mode == CUBED_PAD_CONSTANT && p->o->constant_values;
    const cubed_scalar *values = given ? p->o->constant_values[p->axis] : zeros;
    const bool same = memcmp(values[0].bytes, values[1].bytes, sizeof values->bytes) == 0;
    for (int side = 0; side < 2 && x; side++) {
        int64_t before[CUBED_MAX_NDIM] = {0}, after[CUBED_MAX_NDIM] = {0};
        cubed_array *y = NULL;
        if (p->width[side] == 0 || (side == 1 && same && p->width[0] > 0)) continue;
        if (side == 0 || same) before[p->axis] = p->width[0];
        if (side == 1 || same) after[p->axis] = p->width[1];
        x = cb_step(s, cubed_pad(x, before, after, &values[side], &y, s->err), &y);
    }
    return x;
}

/* Pads with a constant string or bytes, which cubed_pad does not support. */
static cubed_array *constant_texts(cb_steps *s, const padding *p, cubed_array *x)
{
    const int ndim = x->node.grid->ndim;
    const bool given = p->o->mode == CUBED_PAD_CONSTANT && p->o->constant_texts;
    cubed_array *parts[3] = {NULL, x, NULL};
    int64_t shape[CUBED_MAX_NDIM];
    memcpy(shape, x->shape, sizeof *shape * (size_t)ndim);
    for (int side = 0; side < 2 && s->st == CUBED_OK; side++) {
        cubed_array *y = NULL;
        if (p->width[side] == 0) continue;
        const cubed_status st =
            given ? cubed_array_full_text(s->ctx, x->node.dtype, 0, NULL, NULL,
                                          p->o->constant_texts[p->axis][side], &y, s->err)
                  : cb_op_zero(s->ctx, x->node.dtype, &y, s->err);
        shape[p->axis] = p->width[side];
        parts[side ? 2 : 0] = cb_step_broadcast(s, cb_step(s, st, &y), ndim, shape);
    }
    return s->st == CUBED_OK ? joined(s, p, parts, 3) : NULL;
}

static cubed_array *edge(cb_steps *s, const padding *p, cubed_array *x)
{
    const int64_t n = x->shape[p->axis];
    cubed_array *parts[] = {spread(s, p, cb_step_part(s, x, p->axis, 0, 1, 1), p->width[0]), x,
                            spread(s, p, cb_step_part(s, x, p->axis, n - 1, 1, 1), p->width[1])};
    return joined(s, p, parts, 3);
}

/* Pads a line periodically. */
static cubed_array *periodic(cb_steps *s, const padding *p, cubed_array *x)
{
    const int64_t n = x->shape[p->axis], start = -p->width[0], stop = n + p->width[1];
    /* A period starts at the first element. In reflect mode, the elements at which the line is reflected are not repeated. */
    const int64_t skipped = p->o->mode == CUBED_PAD_REFLECT;
    const int64_t back = p->o->mode == CUBED_PAD_WRAP ? 0 : n - 2 * skipped, length = n + back;
    cubed_array *period[2] = {x, NULL}, *parts[MOST_PARTS];
    int nparts = 0;
    if (back > 0) period[1] = cb_step_part(s, x, p->axis, n - 1 - skipped, back, -1);
    if (s->st != CUBED_OK) return NULL;
    if ((stop - start) / length > MOST_PERIODS) {
        const int64_t first = (length - p->width[0] % length) % length;
        int64_t times[CUBED_MAX_NDIM];
        cubed_array *many = NULL, *one = joined(s, p, period, 2);
        for (int d = 0; d < x->node.grid->ndim; d++) times[d] = 1;
        times[p->axis] = (first + stop - start + length - 1) / length;
        if (one)
            many = cb_step(s, cubed_tile(one, times, x->node.grid->ndim, &many, s->err), &many);
        return cb_step_part(s, many, p->axis, first, stop - start, 1);
    }
    int64_t at = -((p->width[0] + length - 1) / length) * length;
    while (at < stop) {
        for (int i = 0; i < 2; i++) {
            const int64_t extent = i ? back : n;
            const int64_t low = cb_max_i64(start - at, 0), high = cb_min_i64(stop - at, extent);
            if (low < high)
                parts[nparts++] = cb_step_part(s, period[i], p->axis, low, high - low, 1);
            at += extent;
        }
    }
    return joined(s, p, parts, nparts);
}

/* Pads with a statistic of the elements at each end. */
static cubed_array *statistic(cb_steps *s, const padding *p, cubed_array *x)
{
    const cubed_dtype dtype = x->node.dtype;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const bool is_whole = kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
    const cubed_pad_mode mode = p->o->mode;
    const bool rounds = is_whole && (mode == CUBED_PAD_MEAN || mode == CUBED_PAD_MEDIAN);
    cubed_quantile_options quantile = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_reduce_options reduce = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *y = NULL;
    quantile.axes = reduce.axes = &p->axis;
    quantile.naxes = reduce.naxes = 1;
    quantile.keepdims = reduce.keepdims = true;
    quantile.task_mem = p->o->task_mem;
    if (!x) return NULL;
    if (rounds) x = cb_step_cast(s, x, CUBED_FLOAT64);
    if (mode != CUBED_PAD_MEDIAN)
        y = cb_step_reduce(s,
                           mode == CUBED_PAD_MAXIMUM   ? CUBED_REDUCE_MAX
                           : mode == CUBED_PAD_MINIMUM ? CUBED_REDUCE_MIN
                                                       : CUBED_REDUCE_MEAN,
                           x, &reduce);
    else if (x)
        y = cb_step(s, cubed_median(x, &quantile, &y, s->err), &y);
    if (rounds) y = cb_step_op(s, CUBED_OP_ROUND, y, NULL, NULL);
    return cb_step_cast(s, y, dtype);
}

static cubed_array *statistics(cb_steps *s, const padding *p, cubed_array *x)
{
    const int64_t n = x->shape[p->axis];
    cubed_array *parts[3] = {NULL, x, NULL};
    for (int side = 0; side < 2; side++) {
        if (p->width[side] == 0 || s->st != CUBED_OK) continue;
        const int64_t given = p->o->stat_length ? p->o->stat_length[p->axis][side] : -1;
        const int64_t k = given < 0 ? n : cb_min_i64(given, n);
        cubed_array *some = cb_step_part(s, x, p->axis, side ? n - k : 0, k, 1);
        if (some) parts[side ? 2 : 0] = spread(s, p, statistic(s, p, some), p->width[side]);
    }
    return joined(s, p, parts, 3);
}

/* Returns linearly spaced padding from the end value to the edge element of x, which is not included. */
static cubed_array *ramp(cb_steps *s, const padding *p, cubed_array *x, int side)
{
    const int64_t n = x->shape[p->axis], count = p->width[side];
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const bool is_complex = kind == CUBED_KIND_COMPLEX;
    const cubed_dtype wide = is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    cubed_scalar end = {.c128 = {0}};
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    cubed_array *share = NULL;
    if (p->o->end_values) end = p->o->end_values[p->axis][side];
    for (int d = 0; d < x->node.grid->ndim; d++) shape[d] = chunks[d] = 1;
    shape[p->axis] = count;
    chunks[p->axis] = cb_max_i64(1, cb_min_i64(count, cubed_array_chunks(x)[p->axis]));
    share = cb_step(
        s, cubed_array_index(s->ctx, x->node.grid->ndim, shape, chunks, 0, &share, s->err), &share);
    share = cb_step_cast(s, share, CUBED_FLOAT64);
    if (side) share = cb_step_part(s, share, p->axis, count - 1, count, -1);
    share = cb_step_op(s, CUBED_OP_DIVIDE, share, cb_step_float(s, (double)count), NULL);
    cubed_array *last = cb_step_scalar(s, wide, &end);
    cubed_array *y = cb_step_part(s, x, p->axis, side ? n - 1 : 0, 1, 1);
    if (y) y = cb_step_cast(s, y, wide);
    y = cb_step_op(s, CUBED_OP_SUBTRACT, y, last, NULL);
    y = cb_step_op(s, CUBED_OP_MULTIPLY, share, y, NULL);
    y = cb_step_op(s, CUBED_OP_ADD, y, last, NULL);
    if (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT)
        y = cb_step_op(s, CUBED_OP_FLOOR, y, NULL, NULL);
    return cb_step_cast(s, y, x->node.dtype);
}

static cubed_array *ramps(cb_steps *s, const padding *p, cubed_array *x)
{
    cubed_array *parts[3] = {NULL, x, NULL};
    for (int side = 0; side < 2; side++) {
        if (p->width[side] > 0 && s->st == CUBED_OK) parts[side ? 2 : 0] = ramp(s, p, x, side);
    }
    return joined(s, p, parts, 3);
}

/* Checks that the mode supports the type of x and the extent of x along the axis. */
static cubed_status check(const padding *p, const cubed_array *x, cubed_error *err)
{
    const cubed_pad_mode mode = p->o->mode;
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const bool of_none = mode == CUBED_PAD_CONSTANT || mode == CUBED_PAD_EMPTY ||
                         mode == CUBED_PAD_MEAN || mode == CUBED_PAD_MEDIAN;
    char text[CUBED_DTYPE_TEXT_CAP];
    if (mode == CUBED_PAD_LINEAR_RAMP && kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "pad with mode '%s' is not defined for %s",
                       mode_names[mode], cubed_dtype_text(x->node.dtype, text));
    if (x->shape[p->axis] == 0 && !of_none)
        return cb_fail(err, CUBED_E_ARG,
                       "pad: an axis without elements cannot be padded with mode '%s'",
                       mode_names[mode]);
    return CUBED_OK;
}

static cubed_array *padded(cb_steps *s, const padding *p, cubed_array *x)
{
    s->st = check(p, x, s->err);
    if (s->st != CUBED_OK) return NULL;
    switch (p->o->mode) {
    case CUBED_PAD_CONSTANT:
    case CUBED_PAD_EMPTY:
        return cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TEXT ? constant_texts(s, p, x)
                                                                  : constant(s, p, x);
    case CUBED_PAD_EDGE: return edge(s, p, x);
    case CUBED_PAD_LINEAR_RAMP: return ramps(s, p, x);
    case CUBED_PAD_REFLECT:
    case CUBED_PAD_SYMMETRIC:
    case CUBED_PAD_WRAP: return x->shape[p->axis] == 1 ? edge(s, p, x) : periodic(s, p, x);
    default: return statistics(s, p, x);
    }
}

cubed_status cubed_pad_with(cubed_array *x, const int64_t *before, const int64_t *after,
                            const cubed_pad_options *options, cubed_array **out, cubed_error *err)
{
    cubed_pad_options taken = CUBED_PAD_OPTIONS_INIT;
    const cubed_pad_options *o = &taken;
    const int ndim = x->node.grid->ndim;
    CB_TRY(CB_OPTIONS_TAKE("pad", options, &taken, err));
    if ((unsigned)o->mode >= CUBED_PAD_MODE_COUNT)
        return cb_fail(err, CUBED_E_ARG, "pad: unknown mode number %d", (int)o->mode);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x;
    for (int d = 0; d < ndim && s.st == CUBED_OK; d++) {
        const padding p = {o, d, {before[d], after[d]}};
        if (before[d] < 0 || after[d] < 0)
            s.st = cb_fail(err, CUBED_E_ARG,
                           "pad_width of axis %d is (%" PRId64 ", %" PRId64 "), expected 0 or more",
                           d, before[d], after[d]);
        else if (before[d] > 0 || after[d] > 0)
            y = padded(&s, &p, y);
    }
    return cb_steps_end(&s, y, out);
}
