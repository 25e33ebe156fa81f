/* Divides arrays into blocks for functions. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "context/context.h"

#define MOST_LINE_BYTES ((uint64_t)256 << 20)

uint64_t cb_api_line_bytes(uint64_t task_mem)
{
    if (task_mem == 0) return (uint64_t)CB_API_BLOCK_BYTES;
    return task_mem / 4 < MOST_LINE_BYTES ? task_mem / 4 : MOST_LINE_BYTES;
}

void cb_api_blocks(const cubed_array *x, uint32_t whole, size_t item_size,
                   int64_t chunks[CUBED_MAX_NDIM])
{
    cb_api_blocks_within(x, whole, CB_API_BLOCK_BYTES, item_size, chunks);
}

void cb_api_blocks_within(const cubed_array *x, uint32_t whole, int64_t bytes, size_t item_size,
                          int64_t chunks[CUBED_MAX_NDIM])
{
    int64_t left = cb_max_i64(1, bytes / (int64_t)item_size);
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) {
        if (whole >> d & 1) left = cb_max_i64(1, left / cb_max_i64(1, x->shape[d]));
    }
    /* Shorten the last axes last, because their elements are contiguous. */
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t extent = cb_max_i64(1, x->shape[d]);
        if (whole >> d & 1) {
            chunks[d] = extent;
            continue;
        }
        chunks[d] = cb_min_i64(left, cb_min_i64(extent, x->chunks[d]));
        left = cb_max_i64(1, left / chunks[d]);
    }
}

static size_t block_bytes(const cubed_block *b)
{
    size_t bytes = cubed_dtype_size(b->dtype);
    for (int d = 0; d < b->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)b->shape[d]);
    return bytes;
}

cubed_status cb_api_call_bytes(const char *function, const cubed_block_call *call,
                               const cubed_array *const *from, uint64_t *out, cubed_error *err)
{
    const cubed_block_fn *fn;
    void *fn_ctx;
    size_t chunk = 0, bytes = 0;
    CB_TRY(cb_context_find_block_fn(from[0]->ctx, function, &fn, &fn_ctx, err));
    CB_TRY(fn->check(call, fn_ctx, err));
    for (int i = 0; i < call->nin; i++) {
        const size_t item = cubed_dtype_size(from[i]->node.dtype);
        const size_t n = (size_t)cb_grid_max_chunk(from[i]->node.grid);
        chunk = cb_max_size(chunk, cb_sat_mul(2 * item, n));
        bytes = cb_sat_add(bytes, block_bytes(&call->in[i]));
    }
    for (int i = 0; i < call->nout; i++) bytes = cb_sat_add(bytes, block_bytes(&call->out[i]));
    *out = cb_sat_add(cb_sat_add(bytes, chunk), fn->need(call, fn_ctx).scratch);
    return CUBED_OK;
}

cubed_status cb_api_axis(const char *what, int ndim, int *axis, cubed_error *err)
{
    if (*axis < -ndim || *axis >= ndim)
        return cb_fail(err, CUBED_E_AXIS, "%s: axis %d is out of range for %d dimension%s", what,
                       *axis, ndim, ndim == 1 ? "" : "s");
    if (*axis < 0) *axis += ndim;
    return CUBED_OK;
}

cubed_status cb_api_axes(const char *what, int ndim, const int *axes, int n, uint32_t *mask,
                         cubed_error *err)
{
    *mask = 0;
    for (int i = 0; i < n; i++) {
        int axis = axes[i];
        CB_TRY(cb_api_axis(what, ndim, &axis, err));
        if (*mask >> axis & 1)
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d is given twice", what, axis);
        *mask |= 1u << axis;
    }
    return CUBED_OK;
}
