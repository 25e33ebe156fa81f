/* Coordinates of nonzero elements. */
#include "array_api/api_pkg.h"
#include "base/error.h"

cubed_status cb_api_flatten(cubed_array *x, cubed_array **out, cubed_error *err)
{
    int64_t n = 1;
    for (int d = 0; d < x->node.grid->ndim; d++) n *= x->shape[d];
    return cubed_reshape(x, 1, &n, out, err);
}

cubed_status cb_api_pick(cubed_array *x, cubed_array *mask, cubed_array *offsets, int64_t chunk,
                         int64_t count, cubed_array **out, cubed_error *err)
{
    const cubed_slice none = {0, 0, 1, false};
    cubed_array *same;
    if (count == 0) return cubed_slice_array(x, &none, out, err);
    CB_TRY(cubed_rechunk(x, &chunk, &same, err));
    cubed_status st = cubed_compress(same, mask, offsets, count, out, err);
    cubed_array_unref(same);
    return st;
}

cubed_status cb_api_positions(cubed_array *mask, cubed_array *offsets, int64_t chunk, int64_t count,
                              cubed_array **out, cubed_error *err)
{
    cubed_array *places;
    CB_TRY(cubed_array_index(mask->ctx, 1, mask->shape, &chunk, 0, &places, err));
    cubed_status st = cb_api_pick(places, mask, offsets, chunk, count, out, err);
    cubed_array_unref(places);
    return st;
}

static cubed_status make_mask(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cubed_array *mask;
    if (x->node.grid->ndim == 0)
        return cb_fail(err, CUBED_E_ARG, "nonzero: x has no axes, expected one or more");
    CB_TRY(cubed_astype(x, CUBED_BOOL, &mask, err));
    cubed_status st = cb_api_flatten(mask, out, err);
    cubed_array_unref(mask);
    return st;
}

cubed_status cubed_nonzero_offsets(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cubed_array *mask;
    CB_TRY(make_mask(x, &mask, err));
    cubed_status st = cubed_mask_offsets(mask, mask->chunks[0], out, err);
    cubed_array_unref(mask);
    return st;
}

/* Computes at / stride % extent. An extent of 0 means no remainder. */
static cubed_status one_coordinate(cubed_array *at, int64_t stride, int64_t extent,
                                   cubed_array **out, cubed_error *err)
{
    const cubed_scalar by[2] = {{.i64 = stride}, {.i64 = extent}};
    const cubed_op ops[2] = {CUBED_OP_FLOOR_DIVIDE, CUBED_OP_REMAINDER};
    cubed_array *now = cubed_array_ref(at);
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++) {
        cubed_array *number, *next = NULL;
        if (by[i].i64 == (i == 0 ? 1 : 0)) continue;
        st = cubed_array_full(at->ctx, CUBED_INT64, 0, NULL, NULL, &by[i], &number, err);
        if (st != CUBED_OK) break;
        cubed_array *const pair[2] = {now, number};
        st = cubed_elementwise(ops[i], pair, 2, &next, err);
        cubed_array_unref(number);
        if (st != CUBED_OK) break;
        cubed_array_unref(now);
        now = next;
    }
    if (st == CUBED_OK)
        *out = now;
    else
        cubed_array_unref(now);
    return st;
}

static cubed_status coordinates(const cubed_array *x, cubed_array *at, cubed_array **outs,
                                cubed_error *err)
{
    int64_t stride = 1;
    for (int d = x->node.grid->ndim - 1; d >= 0; d--) {
        /* The coordinate along the first axis needs no remainder. */
        cubed_status st = one_coordinate(at, stride, d ? x->shape[d] : 0, &outs[d], err);
        if (st != CUBED_OK) {
            for (d++; d < x->node.grid->ndim; d++) {
                cubed_array_unref(outs[d]);
                outs[d] = NULL;
            }
            return st;
        }
        /* Unsigned, because the product may overflow if an axis is empty. It is not used then. */
        stride = (int64_t)((uint64_t)stride * (uint64_t)cb_max_i64(1, x->shape[d]));
    }
    return CUBED_OK;
}

cubed_status cubed_nonzero(cubed_array *x, cubed_array *offsets, int64_t count, cubed_array **outs,
                           cubed_error *err)
{
    cubed_array *mask, *at;
    CB_TRY(make_mask(x, &mask, err));
    cubed_status st = cb_api_positions(mask, offsets, mask->chunks[0], count, &at, err);
    cubed_array_unref(mask);
    CB_TRY(st);
    st = coordinates(x, at, outs, err);
    cubed_array_unref(at);
    return st;
}
