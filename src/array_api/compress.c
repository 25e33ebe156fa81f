/* Selects elements by masks. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* Number of elements of the mask that a task counts, rounded down to a multiple of `chunk`. If `chunk` is larger, a task counts
 * `chunk` elements. */
#define COUNTED ((int64_t)1 << 12)
/* A result with fewer than LEAST_TASKS chunks is split into LEAST_TASKS chunks, so that more tasks run in parallel. The chunks
 * have at least SHORT_CHUNK elements. */
#define LEAST_TASKS 8
#define SHORT_CHUNK 4096

static cubed_status check_mask(const char *name, const cubed_array *mask, cubed_error *err)
{
    if (mask->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "%s: the mask has %d dimensions, expected 1", name,
                       mask->node.grid->ndim);
    if (mask->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "%s: the mask is %s, expected bool", name,
                       cubed_dtype_name(mask->node.dtype));
    return CUBED_OK;
}

cubed_status cubed_mask_offsets(cubed_array *mask, int64_t chunk, cubed_array **out,
                                cubed_error *err)
{
    CB_TRY(check_mask("mask_offsets", mask, err));
    if (chunk < 1)
        return cb_fail(err, CUBED_E_ARG, "mask_offsets: chunk is %lld, expected >= 1",
                       (long long)chunk);
    const int64_t extent = mask->shape[0], n = cb_ceil_div(extent, chunk);
    const int64_t per_task = cb_max_i64(1, COUNTED / chunk);
    const int64_t block = cb_min_i64(cb_max_i64(1, extent), per_task * chunk);
    const cb_count_true_params params = {chunk};
    const int symbol = 0;
    const cubed_block_input in = {mask, &symbol, &block};
    const cubed_block_output to = {CUBED_INT64, 1, &n, &per_task, &symbol, NULL};
    cubed_array *counts;
    const cubed_block_operation operation = {.function = "count_true",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1};
    CB_TRY(cubed_blockwise(mask->ctx, &operation, &counts, err));
    cubed_status st = cubed_cumulative(CUBED_REDUCE_SUM, counts, 0, true, out, err);
    cubed_array_unref(counts);
    return st;
}

static int64_t choose_chunk(const cubed_array *x, int64_t count)
{
    int64_t chunk = x->chunks[0], few = cb_ceil_div(count, LEAST_TASKS);
    if (few < chunk) chunk = cb_min_i64(chunk, cb_max_i64(few, SHORT_CHUNK));
    return cb_max_i64(1, cb_min_i64(chunk, count));
}

static cubed_status pick(cubed_array *x, cubed_array *mask, cubed_array *offsets, int64_t count,
                         cubed_array **out, cubed_error *err)
{
    const int64_t chunk = choose_chunk(x, count);
    const cb_grid blocks = cb_grid_regular(1, x->shape, x->chunks);
    const int64_t whole = cb_max_i64(1, offsets->shape[0]);
    cb_block_operand in[3] = {
        {.dtype = x->node.dtype, .blocks = blocks},
        {.dtype = CUBED_BOOL, .blocks = blocks},
        {.dtype = CUBED_INT64,
         .blocks = cb_grid_regular(1, offsets->shape, &whole),
         .symbol = {-1}},
    };
    cb_block_operand to = {
        .dtype = x->node.dtype, .blocks = cb_grid_regular(1, &count, &chunk), .symbol = {-1}};
    const cb_blockwise op = {
        .function = "compress", .params = "", .nin = 3, .nout = 1, .in = in, .out = &to};
    cb_node n = cb_graph_like(x, CB_NODE_COMPRESS, x->node.dtype);
    cubed_array *inputs[3] = {x, mask, offsets};
    n.grid = &to.blocks;
    n.ninputs = 3;
    n.block = &op;
    return cb_graph_add(x->ctx, &n, inputs, out, err);
}

cubed_status cubed_compress(cubed_array *x, cubed_array *mask, cubed_array *offsets, int64_t count,
                            cubed_array **out, cubed_error *err)
{
    CB_TRY(check_mask("compress", mask, err));
    if (x->node.grid->ndim != 1 || x->shape[0] != mask->shape[0])
        return cb_fail(
            err, CUBED_E_ARG,
            "compress: x and mask differ in shape, expected one dimension with the same length");
    if (count < 0 || count > x->shape[0])
        return cb_fail(err, CUBED_E_ARG, "compress: count is %lld, expected 0 to %lld",
                       (long long)count, (long long)x->shape[0]);
    if (offsets) {
        int64_t n = cb_ceil_div(x->shape[0], x->chunks[0]) + 1;
        if (offsets->node.dtype != CUBED_INT64 || offsets->node.grid->ndim != 1 ||
            offsets->shape[0] != n)
            return cb_fail(err, CUBED_E_ARG,
                           "compress: offsets have another type or shape than expected: int64 with "
                           "%lld elements, one more than the number of chunks of x",
                           (long long)n);
        return pick(x, mask, offsets, count, out, err);
    }
    CB_TRY(cubed_mask_offsets(mask, x->chunks[0], &offsets, err));
    cubed_status st = pick(x, mask, offsets, count, out, err);
    cubed_array_unref(offsets);
    return st;
}
