/* Functions that rearrange elements, and differences of adjacent elements, as combinations of views. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"

cubed_status cubed_moveaxis(cubed_array *x, const int *sources, const int *destinations, int n,
                            cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim, order[CUBED_MAX_NDIM];
    uint32_t from, to;
    CB_TRY(cb_api_axes("moveaxis: source", ndim, sources, n, &from, err));
    CB_TRY(cb_api_axes("moveaxis: destination", ndim, destinations, n, &to, err));
    for (int i = 0; i < n; i++) {
        int source = sources[i], destination = destinations[i];
        CB_TRY(cb_api_axis("moveaxis: source", ndim, &source, err));
        CB_TRY(cb_api_axis("moveaxis: destination", ndim, &destination, err));
        order[destination] = source;
    }
    for (int d = 0, rest = 0; d < ndim; d++) {
        if (to >> d & 1) continue;
        while (from >> rest & 1) rest++;
        order[d] = rest++;
    }
    return cubed_permute_dims(x, order, out, err);
}

static cubed_status cut_to_nothing(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, d == axis ? 0 : x->shape[d], 1, false};
    return cubed_slice_array(x, slices, out, err);
}

/* Repeats an axis `times` times: broadcasts x along a new axis, and merges the new axis with the old one. */
static cubed_status tile_axis(cubed_array *x, int axis, int64_t times, cubed_array **out,
                              cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    int64_t shape[CUBED_MAX_NDIM + 1];
    cubed_array *apart, *wide;
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "tile: x has %d dimensions, expected fewer", ndim);
    CB_TRY(cubed_expand_dims(x, axis, &apart, err));
    memcpy(shape, apart->shape, sizeof *shape * (size_t)(ndim + 1));
    shape[axis] = times;
    cubed_status st = cubed_broadcast_to(apart, ndim + 1, shape, &wide, err);
    cubed_array_unref(apart);
    CB_TRY(st);
    memcpy(shape, x->shape, sizeof *shape * (size_t)ndim);
    if (cb_mul_i64(shape[axis], times, &shape[axis]))
        st = cb_fail(err, CUBED_E_ARG,
                     "tile: axis %d, repeated %lld times, would have more than 2**63 elements",
                     axis, (long long)times);
    else
        st = cubed_reshape(wide, ndim, shape, out, err);
    cubed_array_unref(wide);
    return st;
}

/* Maximum number of repetitions that are concatenated. A concatenation is a view and keeps the chunks. */
enum { JOINED = 16 };

cubed_status cubed_tile(cubed_array *x, const int64_t *repetitions, int n, cubed_array **out,
                        cubed_error *err)
{
    int ndim = n > x->node.grid->ndim ? n : x->node.grid->ndim;
    int64_t times[CUBED_MAX_NDIM];
    if (ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "tile: the result would have %d dimensions, which is too many", ndim);
    for (int d = 0; d < ndim; d++) {
        times[d] = d < ndim - n ? 1 : repetitions[d - (ndim - n)];
        if (times[d] < 0)
            return cb_fail(err, CUBED_E_ARG,
                           "tile: the number of repetitions is %lld, expected 0 or more",
                           (long long)times[d]);
    }
    cubed_array *now = cubed_array_ref(x);
    cubed_status st = CUBED_OK;
    while (st == CUBED_OK && now->node.grid->ndim < ndim) {
        cubed_array *before = now;
        st = cubed_expand_dims(before, 0, &now, err);
        cubed_array_unref(before);
    }
    for (int d = 0; d < ndim && st == CUBED_OK; d++) {
        cubed_array *before = now, *parts[JOINED];
        if (times[d] == 1) continue;
        if (times[d] == 0) {
            st = cut_to_nothing(before, d, &now, err);
        } else if (times[d] <= JOINED) {
            for (int i = 0; i < (int)times[d]; i++) parts[i] = before;
            st = cubed_concat(parts, (int)times[d], d, &now, err);
        } else {
            st = tile_axis(before, d, times[d], &now, err);
        }
        cubed_array_unref(before);
    }
    if (st == CUBED_OK) *out = now;
    return st;
}

/* Computes first differences: x without its first element along the axis, minus x without its last. */
static cubed_status diff_once(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *pair[2];
    cubed_op op = x->node.dtype == CUBED_BOOL ? CUBED_OP_BITWISE_XOR : CUBED_OP_SUBTRACT;
    int64_t rest = cb_max_i64(0, x->shape[axis] - 1);
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[axis] = (cubed_slice){0, rest, 1, false};
    CB_TRY(cubed_slice_array(x, slices, &pair[1], err));
    slices[axis].start = x->shape[axis] - rest;
    cubed_status st = cubed_slice_array(x, slices, &pair[0], err);
    if (st == CUBED_OK) {
        st = cubed_elementwise(op, pair, 2, out, err);
        cubed_array_unref(pair[0]);
    }
    cubed_array_unref(pair[1]);
    return st;
}

cubed_status cubed_diff(cubed_array *x, int axis, int64_t n, cubed_array **out, cubed_error *err)
{
    CB_TRY(cb_api_axis("diff", x->node.grid->ndim, &axis, err));
    if (n < 0)
        return cb_fail(err, CUBED_E_ARG, "diff: n is %lld, expected 0 or more", (long long)n);
    cubed_array *now = cubed_array_ref(x);
    for (int64_t i = 0; i < n; i++) {
        cubed_array *before = now;
        cubed_status st = diff_once(before, axis, &now, err);
        /* if an axis is empty, all further differences are also empty */
        bool last = st == CUBED_OK && now->shape[axis] == 0;
        cubed_array_unref(before);
        CB_TRY(st);
        if (last) break;
    }
    *out = now;
    return CUBED_OK;
}
