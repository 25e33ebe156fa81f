/* Functions on whole blocks of arrays. */
#include "cubed/blockwise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exec/operands.h"
#include "ops/blockwise.h"
#include "ops/ops_pkg.h"

static cubed_status set_input(cb_zone *zone, const cubed_block_input *in,
                              const cubed_block_halo *halo, const cb_gather *gather,
                              const cubed_chunk_list *cut, int number, cb_block_operand *out,
                              cubed_error *err)
{
    const cubed_array *x = in->array;
    char what[32];
    (void)snprintf(what, sizeof what, "input %d", number);
    out->dtype = x->node.dtype;
    out->blocks = cb_grid_copy(x->node.grid);
    out->gather = gather ? *gather : (cb_gather){.most = 0};
    for (int d = 0; d < x->node.grid->ndim; d++) {
        out->symbol[d] = in->symbols[d];
        out->halo[d] = halo ? halo[d] : (cubed_block_halo){0, 0, false};
        int64_t extent = x->shape[d];
        if (out->halo[d].padded) {
            if (!in->chunks)
                return cb_fail(err, CUBED_E_ARG, "input %d is padded: chunks is NULL", number);
            extent -= out->halo[d].before + out->halo[d].after;
            if (extent < 0)
                return cb_fail(err, CUBED_E_ARG,
                               "axis %d of input %d has %" PRId64
                               " elements, less than its padding",
                               d, number, x->shape[d]);
        }
        if (in->symbols[d] < 0) {
            out->blocks.axis[d] = cb_axis_regular(extent, cb_max_i64(1, extent));
        } else if (cut && cut[d].lengths) {
            CB_TRY(cb_op_axis(what, zone, d, extent, &cut[d], &out->blocks.axis[d], err));
        } else if (in->chunks) {
            if (in->chunks[d] < 1)
                return cb_fail(err, CUBED_E_ARG,
                               "chunks[%d] of input %d is %" PRId64 ", expected >= 1", d, number,
                               in->chunks[d]);
            out->blocks.axis[d] = cb_axis_regular(extent, in->chunks[d]);
        }
    }
    return CUBED_OK;
}

static cubed_status set_output(cb_zone *zone, const cubed_block_output *of,
                               const cubed_chunk_list *cut, int number, cb_block_operand *out,
                               cubed_error *err)
{
    char what[32];
    (void)snprintf(what, sizeof what, "output %d", number);
    if (!cubed_dtype_is_valid(of->dtype))
        return cb_fail(err, CUBED_E_TYPE, "%s has type number %d", what, (int)of->dtype);
    CB_TRY(cb_check_shape(what, of->ndim, of->shape, of->dtype, err));
    for (int d = 0; d < of->ndim; d++) {
        if (of->chunks[d] < 1)
            return cb_fail(err, CUBED_E_ARG, "chunks[%d] of %s is %" PRId64 ", expected >= 1", d,
                           what, of->chunks[d]);
        out->symbol[d] = of->symbols[d];
    }
    out->dtype = of->dtype;
    out->blocks = cb_grid_regular(of->ndim, of->shape, of->chunks);
    for (int d = 0; cut && d < of->ndim; d++) {
        if (cut[d].lengths)
            CB_TRY(cb_op_axis(what, zone, d, of->shape[d], &cut[d], &out->blocks.axis[d], err));
    }
    return CUBED_OK;
}

/* The operation in the zone, checked. */
static cubed_status make_operation(cubed_context *ctx, cb_zone *zone, cb_blockwise *op,
                                   const cubed_block_input *inputs,
                                   const cubed_block_halo *const *halos, const cb_gather *gathers,
                                   const cubed_block_output *outputs, const cubed_block_cuts *cuts,
                                   cubed_error *err)
{
    const cubed_block_fn *fn;
    void *fn_ctx;
    cubed_block_need need;
    cb_symbols symbols;
    op->in = cb_zone_alloc(zone, (size_t)op->nin * sizeof *op->in);
    op->out = cb_zone_alloc(zone, (size_t)op->nout * sizeof *op->out);
    op->params = cb_zone_memdup(zone, op->params, op->params_size);
    if (!op->in || !op->out || !op->params)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
    CB_TRY(cb_context_find_block_fn(ctx, op->function, &fn, &fn_ctx, err));
    for (int i = 0; i < op->nin; i++) {
        if (inputs[i].array->ctx != ctx)
            return cb_fail(err, CUBED_E_ARG, "input %d is of another context", i);
        CB_TRY(set_input(zone, &inputs[i], halos ? halos[i] : NULL, gathers ? &gathers[i] : NULL,
                         cuts && cuts->in ? cuts->in[i] : NULL, i, &op->in[i], err));
    }
    for (int i = 0; i < op->nout; i++)
        CB_TRY(set_output(zone, &outputs[i], cuts && cuts->out ? cuts->out[i] : NULL, i,
                          &op->out[i], err));
    CB_TRY(cb_blockwise_symbols(op, &symbols, err));
    return cb_block_ask(zone, fn, fn_ctx, op, &symbols, &need, err);
}

static cubed_status add(cubed_context *ctx, const char *function, const void *params,
                        size_t params_size, const cubed_block_input *inputs,
                        const cubed_block_halo *const *halos, const cb_gather *gathers, int nin,
                        const cubed_block_output *outputs, int nout, const cubed_block_cuts *cuts,
                        cubed_array **outs, cubed_error *err)
{
    cb_blockwise op = {.function = function,
                       .params = params,
                       .params_size = params_size,
                       .nin = nin,
                       .nout = nout};
    cb_zone *zone;
    int made = 0;
    if (nin < 0 || nout < 1)
        return cb_fail(err, CUBED_E_ARG, "%s: %d inputs and %d outputs", function, nin, nout);
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_array **arrays = cb_zone_alloc(zone, ((size_t)nin + (size_t)nout) * sizeof *arrays);
    cubed_status st;
    if (!arrays) {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
        goto out;
    }
    st = make_operation(ctx, zone, &op, inputs, halos, gathers, outputs, cuts, err);
    if (st != CUBED_OK) {
        st = cb_context(err, st, "%s", function);
        goto out;
    }
    for (int i = 0; i < nin; i++) arrays[i] = inputs[i].array;
    for (; made < nout; made++) {
        cb_node n = {.kind = CB_NODE_BLOCKWISE,
                     .dtype = op.out[made].dtype,
                     .grid = &op.out[made].blocks,
                     .ninputs = nin,
                     .block = &op,
                     .output = made,
                     .dim_names = outputs[made].dim_names};
        CB_GO(cb_graph_add(ctx, &n, arrays, &arrays[nin + made], err));
    }
    memcpy(outs, arrays + nin, (size_t)nout * sizeof(cubed_array *));
out:
    for (int k = 0; st != CUBED_OK && k < made; k++) cubed_array_unref(arrays[nin + k]);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_blockwise(cubed_context *ctx, const char *function, const void *params,
                             size_t params_size, const cubed_block_input *inputs, int nin,
                             const cubed_block_output *outputs, int nout, cubed_array **outs,
                             cubed_error *err)
{
    return add(ctx, function, params, params_size, inputs, NULL, NULL, nin, outputs, nout, NULL,
               outs, err);
}

cubed_status cubed_blockwise_overlap(cubed_context *ctx, const char *function, const void *params,
                                     size_t params_size, const cubed_block_input *inputs,
                                     const cubed_block_halo *const *halos, int nin,
                                     const cubed_block_output *outputs, int nout,
                                     const cubed_block_cuts *cuts, cubed_array **outs,
                                     cubed_error *err)
{
    return add(ctx, function, params, params_size, inputs, halos, NULL, nin, outputs, nout, cuts,
               outs, err);
}

cubed_status cb_blockwise_gather(cubed_context *ctx, const char *function, const void *params,
                                 size_t params_size, const cubed_block_input *inputs,
                                 const cb_gather *gathers, int nin,
                                 const cubed_block_output *outputs, int nout, cubed_array **outs,
                                 cubed_error *err)
{
    return add(ctx, function, params, params_size, inputs, NULL, gathers, nin, outputs, nout, NULL,
               outs, err);
}
