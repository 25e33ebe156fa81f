#include "array_api/matrix_calls.h"

#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "base/error.h"

cubed_status cb_matrix_dtype(const char *name, cubed_dtype x, cubed_dtype *out, cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x);
    if (kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name, cubed_dtype_name(x));
    *out = kind == CUBED_KIND_COMPLEX ? x : CUBED_FLOAT64;
    if (kind == CUBED_KIND_FLOAT && x != CUBED_FLOAT64) *out = CUBED_FLOAT32;
    return CUBED_OK;
}

cubed_status cb_matrix_operand(const char *name, cubed_array *x, bool square, cubed_array **out,
                               cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_dtype dtype = x->node.dtype;
    if (ndim < 2)
        return cb_fail(err, CUBED_E_LINALG, "%s: the array has %d dimensions, expected at least 2",
                       name, ndim);
    if (square && x->shape[ndim - 2] != x->shape[ndim - 1])
        return cb_fail(err, CUBED_E_LINALG,
                       "%s: the matrices are %" PRId64 " x %" PRId64 ", expected square matrices",
                       name, x->shape[ndim - 2], x->shape[ndim - 1]);
    CB_TRY(cb_matrix_dtype(name, dtype, &dtype, err));
    return cubed_astype(x, dtype, out, err);
}

cubed_status cb_matrix_apply(const cb_matrix_job *j, cubed_array *x, cubed_array **outs,
                             cubed_error *err)
{
    const cb_matrix_result *r = j->results;
    int ndim = x->node.grid->ndim, batch = ndim - 2, symbols[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM], shape[3][CUBED_MAX_NDIM], out_chunks[3][CUBED_MAX_NDIM];
    cubed_block_output to[3];
    cb_api_blocks(x, 3u << batch, cubed_dtype_size(x->node.dtype), chunks);
    for (int d = 0; d < ndim; d++) symbols[d] = d < batch ? d : -1;
    for (int i = 0; i < j->nout; i++) {
        for (int d = 0; d < batch + r[i].core; d++) {
            shape[i][d] = d < batch ? x->shape[d] : r[i].extent[d - batch];
            out_chunks[i][d] = d < batch ? chunks[d] : cb_max_i64(1, shape[i][d]);
        }
        to[i] = (cubed_block_output){r[i].dtype,    batch + r[i].core, shape[i],
                                     out_chunks[i], symbols,           NULL};
    }
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_operation operation = {.function = j->function,
                                             .params = j->params,
                                             .params_size = j->params_size,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = to,
                                             .nout = j->nout};
    return cubed_blockwise(x->ctx, &operation, outs, err);
}

cubed_status cb_matrix_apply_to(const cb_matrix_job *j, cubed_array *x, cubed_array **const *outs,
                                cubed_error *err)
{
    cubed_array *made[3];
    CB_TRY(cb_matrix_apply(j, x, made, err));
    for (int i = 0; i < j->nout; i++) {
        if (outs[i])
            *outs[i] = made[i];
        else
            cubed_array_unref(made[i]);
    }
    return CUBED_OK;
}

cubed_status cb_matrix_fits(const cb_matrix_job *j, const cubed_array *x, const cubed_array *b,
                            uint64_t task_mem, bool *out, cubed_error *err)
{
    const cb_matrix_result *r = j->results;
    static const int64_t index[2] = {0, 0};
    const cubed_array *const from[2] = {x, b};
    cubed_block blocks[5];
    uint64_t bytes;
    const int nin = b ? 2 : 1;
    *out = true;
    if (task_mem == 0) return CUBED_OK;
    for (int i = 0; i < nin + j->nout; i++) {
        const cubed_array *a = i < nin ? from[i] : NULL;
        blocks[i] =
            a ? (cubed_block){NULL, a->node.dtype, 2, a->shape + a->node.grid->ndim - 2, index}
              : (cubed_block){NULL, r[i - nin].dtype, r[i - nin].core, r[i - nin].extent, index};
    }
    const cubed_block_call call = {.nin = nin,
                                   .nout = j->nout,
                                   .in = blocks,
                                   .out = blocks + nin,
                                   .params = j->params,
                                   .params_size = j->params_size,
                                   .first = true,
                                   .last = true,
                                   .index = index};
    CB_TRY(cb_api_call_bytes(j->function, &call, from, &bytes, err));
    *out = bytes <= task_mem;
    return CUBED_OK;
}
