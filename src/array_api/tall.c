/* Matrices with many more rows than columns, in blocks of rows: Q and R of each block, then of all R one below
 * the other, whose Q completes those of the blocks (Demmel, Grigori, Hoemmen and Langou,
 * "Communication-optimal parallel and sequential QR", 2012). */

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"

/* Of blocks of rows, unless there are so many columns that twice as many rows take more; and how many times as
 * much a task needs, single precision included. */
#define ROWS_BYTES ((int64_t)8 << 20)
#define TIMES      8

/* Rows of a block; 0: x is not tall. */
static int64_t rows_of_block(const cubed_array *x, uint64_t task_mem)
{
    const int64_t most = task_mem ? (int64_t)(task_mem / TIMES) : INT64_MAX;
    int ndim = x->node.grid.ndim;
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1], chunk = x->chunks[ndim - 2];
    if (n == 0 || n > m / 4) return 0;
    int64_t size = n * (int64_t)cubed_dtype_size(x->node.dtype);
    int64_t rows = cb_max_i64(2 * n, cb_min_i64(ROWS_BYTES, most) / size);
    if (rows > most / size) return 0;
    if (chunk < rows && rows / chunk * chunk >= 2 * n) rows = rows / chunk * chunk;
    return cb_ceil_div(m, rows) * n > m / 2 ? 0 : rows;
}

bool cb_api_is_tall(const cubed_array *x, uint64_t task_mem)
{
    return rows_of_block(x, task_mem) > 0;
}

/* Extents, blocks and symbols of the matrices behind x's other axes. */
typedef struct operand {
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
} operand;

static operand operand_of(const cubed_array *x, int64_t m, int64_t n, int64_t rows)
{
    operand o;
    int batch = x->node.grid.ndim - 2;
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
    int ndim = x->node.grid.ndim;
    for (int d = 0; d < ndim; d++) symbols[d] = d < ndim - 1 ? d : -1;
}

/* Q of each block, and all R one below the other. */
static cubed_status factor_blocks(cubed_array *x, int64_t rows, cubed_array **outs,
                                  cubed_error *err)
{
    int ndim = x->node.grid.ndim, symbols[CUBED_MAX_NDIM];
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1];
    operand q = operand_of(x, m, n, rows), r = operand_of(x, cb_ceil_div(m, rows) * n, n, n);
    set_symbols(x, symbols);
    const cubed_block_input in = {x, symbols, q.chunks};
    const cubed_block_output to[2] = {{x->node.dtype, ndim, q.shape, q.chunks, symbols, NULL},
                                      {x->node.dtype, ndim, r.shape, r.chunks, symbols, NULL}};
    return cubed_blockwise(x->ctx, "qr", NULL, 0, &in, 1, to, 2, outs, err);
}

/* Blocks of q times those of `by`, which has one of n x n for each. */
static cubed_status multiply_blocks(cubed_array *q, cubed_array *by, int64_t rows,
                                    cubed_array **out, cubed_error *err)
{
    int ndim = q->node.grid.ndim, symbols[CUBED_MAX_NDIM];
    int64_t n = q->shape[ndim - 1];
    const cb_matmul_params params = {ndim - 2, 1, 1, 1};
    operand a = operand_of(q, q->shape[ndim - 2], n, rows);
    operand b = operand_of(q, by->shape[ndim - 2], n, n);
    set_symbols(q, symbols);
    const cubed_block_input in[2] = {{q, symbols, a.chunks}, {by, symbols, b.chunks}};
    const cubed_block_output to = {q->node.dtype, ndim, a.shape, a.chunks, symbols, NULL};
    return cubed_blockwise(q->ctx, "matmul", &params, sizeof params, in, 2, &to, 1, out, err);
}

cubed_status cb_api_tall_qr(cubed_array *x, uint64_t task_mem, cubed_array **q, cubed_array **r,
                            cubed_error *err)
{
    int64_t rows = rows_of_block(x, task_mem);
    cubed_array *blocks[2], *of_all = NULL;
    CB_TRY(factor_blocks(x, rows, blocks, err));
    cubed_status st = cubed_qr(blocks[1], false, task_mem, q ? &of_all : NULL, r, err);
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
