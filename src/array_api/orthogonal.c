/* QR and singular value decompositions of matrices, which are in the last two axes of arrays.
 *
 * A matrix that fits in a task is decomposed by one call. A matrix with many more rows than columns is decomposed in two steps.
 * The first step computes Q and R of each block of rows. The second step computes Q and R of a matrix that consists of all R, one
 * below the other. The Q of the matrix is the product of the Qs of both steps (Demmel, Grigori, Hoemmen and Langou,
 * "Communication-optimal parallel and sequential QR", 2012). Other matrices are decomposed in panels of columns
 * (panel_factors.c). */
#include "array_api/api_pkg.h"
#include "array_api/matrix_calls.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"
#include "block/params.h"

/* --- Tall matrices ----------------------------------------------------------------------------------- */

/* Size in bytes of blocks of rows, unless the minimum number of rows needs more. */
#define ROWS_BYTES ((int64_t)8 << 20)

/* Returns the minimum number of rows per block for which all R together have at most half as many rows as x. */
static int64_t fewest_rows(const cubed_array *x)
{
    int64_t m = x->shape[x->node.grid->ndim - 2], n = x->shape[x->node.grid->ndim - 1];
    return cb_ceil_div(m, m / (2 * n));
}

static bool is_tall(const cubed_array *x)
{
    int64_t m = x->shape[x->node.grid->ndim - 2], n = x->shape[x->node.grid->ndim - 1];
    return n > 0 && n <= m / 4;
}

/* Computes the memory of a task that factors a block of `rows` rows. The block may be computed from a tile of the same size. */
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

/* Chooses the number of rows of a block of a tall x: as many as fit in a task, and at least the minimum. */
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

static cubed_status tall_fits(const cubed_array *x, uint64_t task_mem, bool *out, cubed_error *err)
{
    uint64_t bytes = 0;
    *out = is_tall(x);
    if (!*out || task_mem == 0) return CUBED_OK;
    CB_TRY(block_bytes(x, fewest_rows(x), &bytes, err));
    *out = bytes <= task_mem;
    return CUBED_OK;
}

/* Shape and blocks of an operand: batch axes as in x, then the axes of the matrices. */
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

/* Computes Q of each block, and a matrix of all R, one below the other. */
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

/* Multiplies each block of rows of q by the corresponding n x n block of `by`. */
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

static cubed_status tall_qr(cubed_array *x, uint64_t task_mem, cubed_array **q, cubed_array **r,
                            cubed_error *err)
{
    int64_t rows;
    bool fits;
    cubed_array *blocks[2], *of_all = NULL;
    CB_TRY(rows_of_block(x, task_mem, &rows, err));
    CB_TRY(tall_fits(x, task_mem, &fits, err));
    CB_TRY(factor_blocks(x, rows, blocks, err));
    /* If the blocks do not fit in a task, the plan is refused with the memory that they need. With the memory limit, cubed_qr
     * would use another algorithm for the matrix of all R, and the error would report the needs of that algorithm. */
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

/* --- QR ---------------------------------------------------------------------------------------------- */

cubed_status cubed_qr(cubed_array *x, bool complete, uint64_t task_mem, cubed_array **q,
                      cubed_array **r, cubed_error *err)
{
    cubed_array *a, **const outs[2] = {q, r};
    int ndim = x->node.grid->ndim;
    bool whole, in_rows = false;
    CB_TRY(cb_matrix_operand("qr", x, false, &a, err));
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1];
    int64_t columns = complete ? m : cb_min_i64(m, n);
    const cb_matrix_result results[2] = {{a->node.dtype, 2, {m, columns}},
                                         {a->node.dtype, 2, {columns, n}}};
    const cb_matrix_job j = {"qr", NULL, 0, results, 2};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !complete) st = tall_fits(a, task_mem, &in_rows, err);
    if (st == CUBED_OK && in_rows)
        st = tall_qr(a, task_mem, q, r, err);
    else if (st == CUBED_OK)
        st = whole ? cb_matrix_apply_to(&j, a, outs, err)
                   : cb_api_panel_qr(a, complete, task_mem, q, r, err);
    cubed_array_unref(a);
    return st;
}

/* --- Singular values --------------------------------------------------------------------------------- */

static cubed_status whole_svd(cubed_array *a, bool full_matrices, cubed_array **u, cubed_array **s,
                              cubed_array **vh, cubed_error *err)
{
    cubed_array **const outs[3] = {u, s, vh};
    int ndim = a->node.grid->ndim;
    int64_t m = a->shape[ndim - 2], n = a->shape[ndim - 1], k = cb_min_i64(m, n);
    const cb_matrix_result results[3] = {{a->node.dtype, 2, {m, full_matrices ? m : k}},
                                         {cb_dtype_real(a->node.dtype), 1, {k, 0}},
                                         {a->node.dtype, 2, {full_matrices ? n : k, n}}};
    return cb_matrix_apply_to(&(cb_matrix_job){"svd", NULL, 0, results, 3}, a, outs, err);
}

/* Decomposes a tall matrix. Its left singular vectors are the product of Q and the left singular vectors of R. */
static cubed_status tall_svd(cubed_array *x, uint64_t task_mem, cubed_array **u, cubed_array **s,
                             cubed_array **vh, cubed_error *err)
{
    cubed_array *q = NULL, *r, *inner = NULL;
    CB_TRY(tall_qr(x, task_mem, u ? &q : NULL, &r, err));
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

/* Replaces x by its adjoint. */
static cubed_status adjoin(cubed_array **x, cubed_error *err)
{
    cubed_array *conj = NULL, *adjoint = NULL;
    CB_TRY(cubed_elementwise(CUBED_OP_CONJ, x, 1, &conj, err));
    cubed_status st = cubed_matrix_transpose(conj, &adjoint, err);
    cubed_array_unref(conj);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = adjoint;
    return CUBED_OK;
}

/* Decomposes a wide matrix by its adjoint, `tall`: left and right vectors are exchanged. */
static cubed_status wide_svd(cubed_array *tall, uint64_t task_mem, cubed_array **u, cubed_array **s,
                             cubed_array **vh, cubed_error *err)
{
    CB_TRY(tall_svd(tall, task_mem, vh, s, u, err));
    cubed_status st = u ? adjoin(u, err) : CUBED_OK;
    if (st == CUBED_OK && vh) st = adjoin(vh, err);
    if (st == CUBED_OK) return st;
    if (u) cubed_array_unref(*u);
    if (s) cubed_array_unref(*s);
    if (vh) cubed_array_unref(*vh);
    return st;
}

/* Sets *tall to `a` or to the adjoint of `a` if one of them is tall (has many more rows than columns), otherwise to NULL. */
static cubed_status tall_of(cubed_array *a, cubed_array **tall, cubed_error *err)
{
    *tall = cubed_array_ref(a);
    if (is_tall(a)) return CUBED_OK;
    cubed_status st = adjoin(tall, err);
    if (st == CUBED_OK && is_tall(*tall)) return CUBED_OK;
    cubed_array_unref(*tall);
    *tall = NULL;
    return st;
}

cubed_status cubed_svd(cubed_array *x, bool full_matrices, uint64_t task_mem, cubed_array **u,
                       cubed_array **s, cubed_array **vh, cubed_error *err)
{
    cubed_array *a, *tall = NULL;
    CB_TRY(cb_matrix_operand("svd", x, false, &a, err));
    cubed_status st = full_matrices ? CUBED_OK : tall_of(a, &tall, err);
    if (st == CUBED_OK && !tall)
        st = whole_svd(a, full_matrices, u, s, vh, err);
    else if (st == CUBED_OK)
        st = is_tall(a) ? tall_svd(tall, task_mem, u, s, vh, err)
                        : wide_svd(tall, task_mem, u, s, vh, err);
    cubed_array_unref(a);
    cubed_array_unref(tall);
    return st;
}

cubed_status cubed_svdvals(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a, *tall;
    CB_TRY(cb_matrix_operand("svdvals", x, false, &a, err));
    cubed_status st = tall_of(a, &tall, err);
    int ndim = a->node.grid->ndim;
    const int64_t m = a->shape[ndim - 2], n = a->shape[ndim - 1];
    const cb_matrix_result r = {cb_dtype_real(a->node.dtype), 1, {cb_min_i64(m, n), 0}};
    const cb_matrix_job j = {"svdvals", NULL, 0, &r, 1};
    bool whole = true, in_rows = false, in_band = false;
    if (st == CUBED_OK && tall) st = tall_fits(tall, task_mem, &in_rows, err);
    if (st == CUBED_OK && in_rows) {
        cubed_array_unref(a);
        st = tall_qr(tall, task_mem, NULL, &a, err);
        if (st != CUBED_OK) a = NULL;
    }
    if (st == CUBED_OK) st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !whole && !in_rows && m < n) st = adjoin(&a, err);
    if (st == CUBED_OK && !whole) st = cb_api_band_values(a, false, task_mem, &in_band, out, err);
    if (st == CUBED_OK && !in_band) st = cb_matrix_apply(&j, a, out, err);
    cubed_array_unref(tall);
    cubed_array_unref(a);
    return st;
}

void cb_step_svd(cb_steps *s, cubed_array *x, uint64_t task_mem, cubed_array *out[3])
{
    cubed_status st = s->st;
    if (st == CUBED_OK) st = cubed_svd(x, false, task_mem, &out[0], &out[1], &out[2], s->err);
    for (int i = 0; i < 3; i++) out[i] = cb_step(s, st, &out[i]);
}
