/* Picking elements by arrays of positions. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

static cubed_status check_positions(const char *name, const cubed_array *x, cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s: positions are %s, expected integers", name,
                   cubed_dtype_name(x->node.dtype));
}

/* Positions as int64 to function `name`. The result has x's axes with `extent` in place of one of them;
 * symbols of the positions' axes are theirs in the result. */
static cubed_status pick(const char *name, cubed_array *x, cubed_array *positions, int axis,
                         const int64_t *shape, int64_t *chunks, const int *symbols, bool along,
                         cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid.ndim, from[CUBED_MAX_NDIM];
    int64_t blocks[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM];
    cubed_array *wide;
    if (ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s of %d dimensions", name, ndim);
    if (x->shape[axis] == 0 && shape[axis] > 0)
        return cb_fail(err, CUBED_E_INDEX, "%s: axis %d has no elements", name, axis);
    CB_TRY(cubed_astype(positions, CUBED_INT64, &wide, err));
    for (int d = 0; d < ndim; d++) {
        from[d] = d == axis ? ndim : d; /* its blocks come one after another */
        int64_t extent = cb_max_i64(1, x->shape[d]);
        blocks[d] = cb_min_i64(extent, d == axis ? x->chunks[d] : chunks[d]);
        if (along) at[d] = cb_min_i64(chunks[d], cb_max_i64(1, positions->shape[d]));
    }
    if (!along) at[0] = chunks[axis];
    const cb_take_params params = {axis, 0, x->shape[axis]};
    const cubed_block_input in[2] = {{x, from, blocks},
                                     {wide, along ? symbols : symbols + axis, at}};
    const cubed_block_output to = {x->node.dtype, ndim, shape, chunks, symbols, x->node.dim_names};
    cubed_status st =
        cubed_blockwise(x->ctx, name, &params, sizeof params, in, 2, &to, 1, out, err);
    cubed_array_unref(wide);
    return st;
}

/* Blocks of the result: of axes as chunked, within the bytes of a block. */
static void choose_blocks(const cubed_array *x, const int64_t *shape, int64_t *chunks)
{
    int64_t left = CB_API_BLOCK_BYTES / (int64_t)cubed_dtype_size(x->node.dtype);
    for (int d = x->node.grid.ndim - 1; d >= 0; d--) {
        int64_t extent = cb_max_i64(1, shape[d]);
        chunks[d] = cb_max_i64(1, cb_min_i64(left, cb_min_i64(chunks[d], extent)));
        left /= chunks[d];
    }
}

cubed_status cubed_take(cubed_array *x, cubed_array *positions, int axis, cubed_array **out,
                        cubed_error *err)
{
    int ndim = x->node.grid.ndim, symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    CB_TRY(cb_api_axis("take", ndim, &axis, err));
    CB_TRY(check_positions("take", positions, err));
    if (positions->node.grid.ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "take: positions have %d dimensions, expected 1",
                       positions->node.grid.ndim);
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d;
        shape[d] = d == axis ? positions->shape[0] : x->shape[d];
        /* Every block of positions reads all of x: let them be few. */
        chunks[d] = d == axis ? cb_max_i64(1, shape[d]) : x->chunks[d];
    }
    choose_blocks(x, shape, chunks);
    return pick("take", x, positions, axis, shape, chunks, symbols, false, out, err);
}

cubed_status cubed_take_along_axis(cubed_array *x, cubed_array *positions, int axis,
                                   cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid.ndim, symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    CB_TRY(cb_api_axis("take_along_axis", ndim, &axis, err));
    CB_TRY(check_positions("take_along_axis", positions, err));
    if (positions->node.grid.ndim != ndim)
        return cb_fail(err, CUBED_E_ARG,
                       "take_along_axis: positions have %d dimensions, expected %d",
                       positions->node.grid.ndim, ndim);
    for (int d = 0; d < ndim; d++) {
        int64_t a = x->shape[d], b = positions->shape[d];
        if (d != axis && a != b && a != 1 && b != 1)
            return cb_fail(err, CUBED_E_ARG,
                           "take_along_axis: axis %d has %lld elements and %lld positions", d,
                           (long long)a, (long long)b);
        symbols[d] = d;
        shape[d] = d == axis || a == 1 ? b : a;
        chunks[d] = d == axis ? cb_max_i64(1, b) : a == 1 ? positions->chunks[d] : x->chunks[d];
    }
    choose_blocks(x, shape, chunks);
    return pick("take_along_axis", x, positions, axis, shape, chunks, symbols, true, out, err);
}
