/* Joins arrays of characters to strings. */
#include "base/error.h"
#include "cubed/blockwise.h"
#include "cubed/cf.h"
#include "plan/graph.h"

cubed_status cubed_cf_join_characters(cubed_array *x, cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim, last = ndim - 1;
    int symbols[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    char text[CUBED_DTYPE_TEXT_CAP];
    cubed_dtype dtype;
    cubed_array *y = NULL;
    if (cubed_dtype_family(x->node.dtype) != CUBED_BYTES || cubed_dtype_size(x->node.dtype) != 1)
        return cb_fail(err, CUBED_E_TYPE, "join_characters: the type is %s, expected S1",
                       cubed_dtype_text(x->node.dtype, text));
    if (ndim == 0 || x->shape[last] == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "join_characters: the array is empty, expected a last axis of characters");
    CB_TRY(cubed_dtype_fixed(CUBED_BYTES, x->shape[last], &dtype, err));
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d == last ? -1 : d;
        chunks[d] = d == last ? x->shape[d] : cubed_array_chunks(x)[d];
    }
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype, last, x->shape, chunks, symbols, x->node.dim_names};
    const cubed_block_operation operation = {
        .function = "join_characters", .inputs = &in, .nin = 1, .outputs = &to, .nout = 1};
    CB_TRY(cubed_blockwise(x->ctx, &operation, &y, err));
    const cubed_status st = cubed_array_with_attrs(y, cubed_array_attrs(x), out, err);
    cubed_array_unref(y);
    return st;
}
