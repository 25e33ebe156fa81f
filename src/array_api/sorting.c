/* Sorting functions. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

static cubed_status along_axis(const char *name, cubed_array *x, int axis, bool descending,
                               cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    CB_TRY(cb_api_axis(name, x->node.grid.ndim, &axis, err));
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name,
                       cubed_dtype_name(x->node.dtype));
    cb_api_blocks(x, 1u << axis, cubed_dtype_size(x->node.dtype), chunks);
    for (int d = 0; d < x->node.grid.ndim; d++) symbols[d] = d == axis ? -1 : d;
    const cb_sort_params params = {axis, descending};
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype,  x->node.grid.ndim, x->shape,
                                   chunks, symbols,           x->node.dim_names};
    return cubed_blockwise(x->ctx, name, &params, sizeof params, &in, 1, &to, 1, out, err);
}

cubed_status cubed_sort(cubed_array *x, int axis, bool descending, cubed_array **out,
                        cubed_error *err)
{
    return along_axis("sort", x, axis, descending, x->node.dtype, out, err);
}

cubed_status cubed_argsort(cubed_array *x, int axis, bool descending, cubed_array **out,
                           cubed_error *err)
{
    return along_axis("argsort", x, axis, descending, CUBED_INT64, out, err);
}
