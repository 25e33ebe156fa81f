/* Creates the nodes of functions on whole blocks of arrays. */
#include "cubed/blockwise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exec/operators/operands.h"
#include "ops/blockwise_array.h"
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
    out->reach = NULL;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        out->symbol[d] = in->symbols[d];
        out->halo[d] = halo ? halo[d] : (cubed_block_halo){0, 0, false};
        int64_t extent = x->shape[d];
        if (out->halo[d].padded) {
            if (!in->chunks)
                return cb_fail(err, CUBED_E_ARG, "input %d is padded, but its chunks are NULL",
                               number);
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

/* Lists with an entry for each input; NULL if no input has a gather or a reach (plan/blockwise.h). */
typedef struct ways {
    const cb_gather *gathers;
    const cb_reach *const *reaches;
} ways;

/* Creates the operation's node in the zone, and checks it. */
static cubed_status make_node(cubed_context *ctx, cb_zone *zone, const cubed_block_operation *op,
                              const ways *w, cb_blockwise *out, cubed_error *err)
{
    const cubed_block_cuts cuts = op->cuts ? *op->cuts : (cubed_block_cuts){NULL, NULL};
    const cubed_block_fn *fn;
    void *fn_ctx;
    cubed_block_need need;
    cb_symbols symbols;
    *out = (cb_blockwise){.function = op->function,
                          .params = cb_zone_memdup(zone, op->params, op->params_size),
                          .params_size = op->params_size,
                          .in = cb_zone_alloc(zone, (size_t)op->nin * sizeof *out->in),
                          .nin = op->nin,
                          .out = cb_zone_alloc(zone, (size_t)op->nout * sizeof *out->out),
                          .nout = op->nout};
    if (!out->in || !out->out || !out->params)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
    CB_TRY(cb_context_find_block_fn(ctx, op->function, &fn, &fn_ctx, err));
    for (int i = 0; i < op->nin; i++) {
        if (op->inputs[i].array->ctx != ctx)
            return cb_fail(err, CUBED_E_ARG, "input %d is of another context", i);
        CB_TRY(set_input(zone, &op->inputs[i], op->halos ? op->halos[i] : NULL,
                         w->gathers ? &w->gathers[i] : NULL, cuts.in ? cuts.in[i] : NULL, i,
                         &out->in[i], err));
    }
    for (int i = 0; i < op->nout; i++)
        CB_TRY(
            set_output(zone, &op->outputs[i], cuts.out ? cuts.out[i] : NULL, i, &out->out[i], err));
    for (int i = 0; w->reaches && i < op->nin; i++) {
        cb_block_operand *x = &out->in[i];
        if (!w->reaches[i]) continue;
        if (op->inputs[i].array->node.grid->ndim != out->out[0].blocks.ndim)
            return cb_fail(err, CUBED_E_ARG,
                           "input %d has %d axes and the output %d, expected equal numbers", i,
                           op->inputs[i].array->node.grid->ndim, out->out[0].blocks.ndim);
        *x = out->out[0];
        x->dtype = op->inputs[i].array->node.dtype;
        x->reach = w->reaches[i];
    }
    CB_TRY(cb_blockwise_symbols(out, &symbols, err));
    return cb_block_ask(zone, fn, fn_ctx, out, &symbols, &need, err);
}

static cubed_status add_nodes(cubed_context *ctx, const cubed_block_operation *op, const ways *w,
                              cubed_array **outs, cubed_error *err)
{
    const int nin = op->nin, nout = op->nout;
    cb_blockwise block;
    cb_zone *zone;
    int made = 0;
    if (nin < 0 || nout < 1)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: there are %d inputs and %d outputs, expected at least 0 and 1",
                       op->function, nin, nout);
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_array **arrays = cb_zone_alloc(zone, ((size_t)nin + (size_t)nout) * sizeof *arrays);
    cubed_status st;
    if (!arrays) {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
        goto out;
    }
    st = make_node(ctx, zone, op, w, &block, err);
    if (st != CUBED_OK) {
        st = cb_context(err, st, "%s", op->function);
        goto out;
    }
    for (int i = 0; i < nin; i++) arrays[i] = op->inputs[i].array;
    for (; made < nout; made++) {
        cb_node n = {.kind = CB_NODE_BLOCKWISE,
                     .dtype = block.out[made].dtype,
                     .grid = &block.out[made].blocks,
                     .ninputs = nin,
                     .block = &block,
                     .output = made,
                     .dim_names = op->outputs[made].dim_names};
        CB_GO(cb_graph_add(ctx, &n, arrays, &arrays[nin + made], err));
    }
    memcpy(outs, arrays + nin, (size_t)nout * sizeof(cubed_array *));
out:
    for (int k = 0; st != CUBED_OK && k < made; k++) cubed_array_unref(arrays[nin + k]);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_blockwise(cubed_context *ctx, const cubed_block_operation *op,
                             cubed_array **outs, cubed_error *err)
{
    return add_nodes(ctx, op, &(ways){NULL, NULL}, outs, err);
}

cubed_status cb_blockwise_gather(cubed_context *ctx, const cubed_block_operation *op,
                                 const cb_gather *gathers, cubed_array **outs, cubed_error *err)
{
    return add_nodes(ctx, op, &(ways){gathers, NULL}, outs, err);
}

cubed_status cb_blockwise_reach(cubed_context *ctx, const cubed_block_operation *op,
                                const cb_reach *const *reaches, cubed_array **outs,
                                cubed_error *err)
{
    return add_nodes(ctx, op, &(ways){NULL, reaches}, outs, err);
}
