/* Matrices with many more rows than columns, in blocks of rows: Q and R of each block, then of all R one below
 * the other, whose Q completes those of the blocks (Demmel, Grigori, Hoemmen and Langou,
 * "Communication-optimal parallel and sequential QR", 2012). */

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* Of blocks of rows, unless there are so many columns that as few rows as a block may have take more. */
#define ROWS_BYTES ((int64_t)8 << 20)

/* As few rows of a block as leave R with half of x's rows at most. */
static int64_t fewest_rows(const cubed_array *x)
{
    int64_t m = x->shape[x->node.grid->ndim - 2], n = x->shape[x->node.grid->ndim - 1];
    return cb_ceil_div(m, m / (2 * n));
}

bool cb_api_is_tall(const cubed_array *x)
{
    int64_t m = x->shape[x->node.grid->ndim - 2], n = x->shape[x->node.grid->ndim - 1];
    return n > 0 && n <= m / 4;
}

/* What a task holds that factors a block of so many rows, which may be computed from a tile of as many. */
static cubed_status block_bytes(const cubed_array *x, int64_t rows, uint64_t *bytes,
                                cubed_error *err)
{
    static const int64_t index[2] = {0, 0};
    const int64_t n = x->shape[x->node.grid->ndim - 1];
    const int64_t block[2] = {rows, n}, square[2] = {n, n};
    const cubed_dtype dtype = x->node.dtype;
    cubed_block in = {NULL, dtype, 2, block, index};
    cubed_block out[2] = {{NULL, dtype, 2, block, index}, {NULL, dtype, 2, square, index}};
    const cubed_block_call call = {
        .nin = 1, .nout = 2, .in = &in, .out = out, .first = true, .last = true, .index = index};
    CB_TRY(cb_api_call_bytes("qr", &call, &x, bytes, err));
    const size_t elements = cb_sat_mul((size_t)rows, (size_t)n);
    *bytes = cb_sat_add(*bytes, cb_sat_mul(elements, cubed_dtype_size(dtype)));
    return CUBED_OK;
}

/* Rows of a block of x, which is tall: as many as fit, and at least the fewest. */
static cubed_status rows_of_block(const cubed_array *x, uint64_t task_mem, int64_t *out,
                                  cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    const int64_t size = x->shape[ndim - 1] * (int64_t)cubed_dtype_size(x->node.dtype);
    const int64_t fewest = fewest_rows(x), chunk = x->chunks[ndim - 2];
    int64_t rows = cb_max_i64(fewest, ROWS_BYTES / size);
    for (; task_mem > 0 && rows > fewest; rows = cb_max_i64(fewest, rows / 8 * 7)) {
        uint64_t bytes;
        CB_TRY(block_bytes(x, rows, &bytes, err));
        if (bytes <= task_mem) break;
    }
    if (chunk < rows && rows / chunk * chunk >= fewest) rows = rows / chunk * chunk;
    *out = rows;
    return CUBED_OK;
}

cubed_status cb_api_tall_fits(const cubed_array *x, uint64_t task_mem, bool *out, cubed_error *err)
{
    uint64_t bytes = 0;
    *out = cb_api_is_tall(x);
    if (!*out || task_mem == 0) return CUBED_OK;
    CB_TRY(block_bytes(x, fewest_rows(x), &bytes, err));
    *out = bytes <= task_mem;
    return CUBED_OK;
}

/* Extents, blocks and symbols of the matrices behind x's other axes. */
typedef struct operand {
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
} operand;

static operand operand_of(const cubed_array *x, int64_t m, int64_t n, int64_t rows)
{
    operand o;
    int batch = x->node.grid->ndim - 2;
    for (int d = 0; d < batch; d++) {
        o.shape[d] = x->shape[d];
        o.chunks[d] = 1;
    }
    o.shape[batch] = m;
    o.shape[batch + 1] = n;
    o.chunks[batch] = rows;
    o.chunks[batch + 1] = n;
    return o;
}

static void set_symbols(const cubed_array *x, int *symbols)
{
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) symbols[d] = d < ndim - 1 ? d : -1;
}

/* Q of each block, and all R one below the other. */
static cubed_status factor_blocks(cubed_array *x, int64_t rows, cubed_array **outs,
                                  cubed_error *err)
{
    int ndim = x->node.grid->ndim, symbols[CUBED_MAX_NDIM];
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1];
    operand q = operand_of(x, m, n, rows), r = operand_of(x, cb_ceil_div(m, rows) * n, n, n);
    set_symbols(x, symbols);
    const cubed_block_input in = {x, symbols, q.chunks};
    const cubed_block_output to[2] = {{x->node.dtype, ndim, q.shape, q.chunks, symbols, NULL},
                                      {x->node.dtype, ndim, r.shape, r.chunks, symbols, NULL}};
    const cubed_block_operation operation = {
        .function = "qr", .inputs = &in, .nin = 1, .outputs = to, .nout = 2};
    return cubed_blockwise(x->ctx, &operation, outs, err);
}

/* Blocks of q times those of `by`, which has one of n x n for each. */
static cubed_status multiply_blocks(cubed_array *q, cubed_array *by, int64_t rows,
                                    cubed_array **out, cubed_error *err)
{
    int ndim = q->node.grid->ndim, symbols[CUBED_MAX_NDIM];
    int64_t n = q->shape[ndim - 1];
    const cb_matmul_params params = {ndim - 2, 1, 1, 1};
    operand a = operand_of(q, q->shape[ndim - 2], n, rows);
    operand b = operand_of(q, by->shape[ndim - 2], n, n);
    set_symbols(q, symbols);
    const cubed_block_input in[2] = {{q, symbols, a.chunks}, {by, symbols, b.chunks}};
    const cubed_block_output to = {q->node.dtype, ndim, a.shape, a.chunks, symbols, NULL};
    const cubed_block_operation operation = {.function = "matmul",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(q->ctx, &operation, out, err);
}

cubed_status cb_api_tall_qr(cubed_array *x, uint64_t task_mem, cubed_array **q, cubed_array **r,
                            cubed_error *err)
{
    int64_t rows;
    bool fits;
    cubed_array *blocks[2], *of_all = NULL;
    CB_TRY(rows_of_block(x, task_mem, &rows, err));
    CB_TRY(cb_api_tall_fits(x, task_mem, &fits, err));
    CB_TRY(factor_blocks(x, rows, blocks, err));
    /* What does not fit as it is, is refused when it is planned: by what these blocks need, not by another way
     * for all R. */
    cubed_status st = cubed_qr(blocks[1], false, fits ? task_mem : 0, q ? &of_all : NULL, r, err);
    if (st == CUBED_OK && q) {
        st = multiply_blocks(blocks[0], of_all, rows, q, err);
        if (st != CUBED_OK && r) cubed_array_unref(*r);
    }
    cubed_array_unref(of_all);
    cubed_array_unref(blocks[0]);
    cubed_array_unref(blocks[1]);
    return st;
}

/* The same for singular vectors, which are those of R times Q. */
cubed_status cb_api_tall_svd(cubed_array *x, uint64_t task_mem, cubed_array **u, cubed_array **s,
                             cubed_array **vh, cubed_error *err)
{
    cubed_array *q = NULL, *r, *inner = NULL;
    CB_TRY(cb_api_tall_qr(x, task_mem, u ? &q : NULL, &r, err));
    cubed_status st = cubed_svd(r, false, task_mem, u ? &inner : NULL, s, vh, err);
    if (st == CUBED_OK && u) {
        st = cubed_matmul(q, inner, u, err);
        if (st != CUBED_OK && s) cubed_array_unref(*s);
        if (st != CUBED_OK && vh) cubed_array_unref(*vh);
    }
    cubed_array_unref(q);
    cubed_array_unref(r);
    cubed_array_unref(inner);
    return st;
}
