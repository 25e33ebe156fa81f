/* Linear algebra of matrices, which are in the last two axes of arrays: triangular factors, determinants, inverses, linear
 * systems and eigenvalues. */
#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_calls.h"
#include "base/error.h"
#include "block/params.h"
#include "context/context.h"
#include "linalg/linalg_functions.h"

static cubed_dtype complex_dtype(cubed_dtype x)
{
    return cb_dtype_real(x) == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
}

/* --- Triangular factors ------------------------------------------------------------------------------ */

cubed_status cubed_cholesky(cubed_array *x, bool upper, uint64_t task_mem, cubed_array **out,
                            cubed_error *err)
{
    cubed_array *a;
    const cb_cholesky_params params = {upper};
    bool whole;
    CB_TRY(cb_matrix_operand("cholesky", x, true, &a, err));
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const cb_matrix_result r = {a->node.dtype, 2, {n, n}};
    const cb_matrix_job j = {"cholesky", &params, sizeof params, &r, 1};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? cb_matrix_apply(&j, a, out, err)
                   : cb_api_panel_cholesky(a, upper, task_mem, out, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_lu(cubed_array *x, cubed_array **p, cubed_array **l, cubed_array **u,
                      cubed_error *err)
{
    cubed_array *a, **const outs[3] = {p, l, u};
    int ndim = x->node.grid->ndim;
    CB_TRY(cb_matrix_operand("lu", x, false, &a, err));
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1], k = cb_min_i64(m, n);
    const cubed_dtype dtype = a->node.dtype;
    const cb_matrix_result r[3] = {{dtype, 2, {m, m}}, {dtype, 2, {m, k}}, {dtype, 2, {k, n}}};
    cubed_status st = cb_matrix_apply_to(&(cb_matrix_job){"lu", NULL, 0, r, 3}, a, outs, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_det(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a;
    bool whole;
    CB_TRY(cb_matrix_operand("det", x, true, &a, err));
    const cb_matrix_result r = {a->node.dtype, 0, {0, 0}};
    const cb_matrix_job j = {"det", NULL, 0, &r, 1};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? cb_matrix_apply(&j, a, out, err)
                   : cb_api_panel_slogdet(a, task_mem, NULL, NULL, out, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_slogdet(cubed_array *x, uint64_t task_mem, cubed_array **sign,
                           cubed_array **logabsdet, cubed_error *err)
{
    cubed_array *a, **const outs[2] = {sign, logabsdet};
    bool whole;
    CB_TRY(cb_matrix_operand("slogdet", x, true, &a, err));
    const cb_matrix_result r[2] = {{a->node.dtype, 0, {0, 0}},
                                   {cb_dtype_real(a->node.dtype), 0, {0, 0}}};
    const cb_matrix_job j = {"slogdet", NULL, 0, r, 2};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? cb_matrix_apply_to(&j, a, outs, err)
                   : cb_api_panel_slogdet(a, task_mem, sign, logabsdet, NULL, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_inv(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a;
    bool whole;
    CB_TRY(cb_matrix_operand("inv", x, true, &a, err));
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const cb_matrix_result r = {a->node.dtype, 2, {n, n}};
    const cb_matrix_job j = {"inv", NULL, 0, &r, 1};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? cb_matrix_apply(&j, a, out, err) : cb_api_panel_inv(a, task_mem, out, err);
    cubed_array_unref(a);
    return st;
}

/* --- solve ------------------------------------------------------------------------------------------- */

/* Replaces x: adds leading axes of extent 1, up to ndim dimensions. */
static cubed_status widen(cubed_array **x, int ndim, cubed_error *err)
{
    while ((*x)->node.grid->ndim < ndim) {
        cubed_array *wider;
        CB_TRY(cubed_expand_dims(*x, 0, &wider, err));
        cubed_array_unref(*x);
        *x = wider;
    }
    return CUBED_OK;
}

/* Solves block by block. a and b must have the same number of dimensions and the same type. */
static cubed_status solve_blocks(const char *name, cubed_array *a, cubed_array *b,
                                 uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    int ndim = a->node.grid->ndim, batch = ndim - 2, symbols[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM], chunks[3][CUBED_MAX_NDIM];
    int64_t n = a->shape[ndim - 1], m = b->shape[ndim - 1];
    int64_t largest =
        cb_max_i64(1, n * cb_max_i64(n, m) * (int64_t)cubed_dtype_size(a->node.dtype));
    int64_t left = CB_API_BLOCK_BYTES / largest;
    for (int d = ndim - 1; d >= 0; d--) {
        const cubed_array *longer = a->shape[d] == 1 ? b : a;
        symbols[d] = d < batch ? d : -1;
        shape[d] = d < batch ? longer->shape[d] : b->shape[d];
        if (d < batch && a->shape[d] != b->shape[d] && a->shape[d] != 1 && b->shape[d] != 1)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: shapes do not broadcast: axis %d is %" PRId64 " and %" PRId64, name,
                           d, a->shape[d], b->shape[d]);
        chunks[2][d] = cb_max_i64(1, shape[d]);
        if (d < batch)
            chunks[2][d] = cb_max_i64(1, cb_min_i64(left, cb_min_i64(longer->chunks[d], shape[d])));
        if (d < batch) left /= chunks[2][d];
        chunks[0][d] = d < batch ? cb_min_i64(chunks[2][d], a->shape[d]) : a->shape[d];
        chunks[1][d] = d < batch ? cb_min_i64(chunks[2][d], b->shape[d]) : b->shape[d];
        chunks[0][d] = cb_max_i64(1, chunks[0][d]);
        chunks[1][d] = cb_max_i64(1, chunks[1][d]);
    }
    const cb_matrix_result r = {a->node.dtype, 2, {n, m}};
    bool whole;
    CB_TRY(cb_matrix_fits(&(cb_matrix_job){"solve", NULL, 0, &r, 1}, a, b, task_mem, &whole, err));
    if (!whole) return cb_api_panel_solve(a, b, shape, task_mem, out, err);
    const cubed_block_input in[2] = {{a, symbols, chunks[0]}, {b, symbols, chunks[1]}};
    const cubed_block_output to = {a->node.dtype, ndim, shape, chunks[2], symbols, NULL};
    const cubed_block_operation operation = {
        .function = "solve", .inputs = in, .nin = 2, .outputs = &to, .nout = 1};
    return cubed_blockwise(a->ctx, &operation, out, err);
}

cubed_status cb_api_solve(const char *name, cubed_array *x1, cubed_array *x2, uint64_t task_mem,
                          cubed_array **out, cubed_error *err)
{
    cubed_array *a = NULL, *b = NULL, *x = NULL, *column = NULL;
    int n2 = x2->node.grid->ndim, ndim = x1->node.grid->ndim > n2 ? x1->node.grid->ndim : n2;
    cubed_dtype dtype = cubed_dtype_promote(x1->node.dtype, x2->node.dtype);
    cubed_status st;
    CB_TRY(cb_matrix_dtype(name, dtype, &dtype, err));
    CB_GO(cb_matrix_operand(name, x1, true, &a, err));
    CB_GO(cubed_astype(a, dtype, &x, err));
    cubed_array_unref(a);
    a = x;
    x = NULL;
    int64_t n = x1->shape[x1->node.grid->ndim - 1],
            rows = n2 > 0 ? x2->shape[n2 > 1 ? n2 - 2 : 0] : 0;
    if (n2 == 0) {
        st = cb_fail(err, CUBED_E_ARG,
                     "%s: the right side has no dimensions, expected at least one", name);
        goto out;
    }
    if (rows != n) {
        st = cb_fail(err, CUBED_E_LINALG,
                     "%s: the matrices are %" PRId64 " x %" PRId64
                     " and the right side has %" PRId64 " rows, expected equal numbers",
                     name, n, n, rows);
        goto out;
    }
    CB_GO(cubed_astype(x2, dtype, &b, err));
    if (n2 == 1) {
        CB_GO(cubed_expand_dims(b, 1, &column, err));
        cubed_array_unref(b);
        b = column;
    }
    CB_GO(widen(&a, ndim, err));
    CB_GO(widen(&b, ndim, err));
    CB_GO(solve_blocks(name, a, b, task_mem, n2 == 1 ? &x : out, err));
    if (n2 == 1) CB_GO(cubed_squeeze(x, (const int[]){-1}, 1, out, err));
out:
    cubed_array_unref(a);
    cubed_array_unref(b);
    cubed_array_unref(x);
    return st;
}

cubed_status cubed_solve(cubed_array *x1, cubed_array *x2, uint64_t task_mem, cubed_array **out,
                         cubed_error *err)
{
    return cb_api_solve("solve", x1, x2, task_mem, out, err);
}

/* --- Eigenvalues ------------------------------------------------------------------------------------- */

static cubed_status eigen(const char *name, cubed_array *x, bool hermitian,
                          cubed_array **const *outs, int nout, cubed_error *err)
{
    cubed_array *a;
    CB_TRY(cb_matrix_operand(name, x, true, &a, err));
    cubed_dtype dtype = a->node.dtype;
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const cb_matrix_result r[2] = {
        {hermitian ? cb_dtype_real(dtype) : complex_dtype(dtype), 1, {n, 0}},
        {hermitian ? dtype : complex_dtype(dtype), 2, {n, n}}};
    cubed_status st = cb_matrix_apply_to(&(cb_matrix_job){name, NULL, 0, r, nout}, a, outs, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_eigh(cubed_array *x, cubed_array **values, cubed_array **vectors,
                        cubed_error *err)
{
    return eigen("eigh", x, true, (cubed_array * *const[]){values, vectors}, 2, err);
}

cubed_status cubed_eigvalsh(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a;
    bool whole, in_band = false;
    CB_TRY(cb_matrix_operand("eigvalsh", x, true, &a, err));
    const cb_matrix_result r = {
        cb_dtype_real(a->node.dtype), 1, {x->shape[x->node.grid->ndim - 1], 0}};
    const cb_matrix_job j = {"eigvalsh", NULL, 0, &r, 1};
    cubed_status st = cb_matrix_fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !whole) st = cb_api_band_values(a, true, task_mem, &in_band, out, err);
    if (st == CUBED_OK && !in_band) st = cb_matrix_apply(&j, a, out, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_eig(cubed_array *x, cubed_array **values, cubed_array **vectors,
                       cubed_error *err)
{
    return eigen("eig", x, false, (cubed_array * *const[]){values, vectors}, 2, err);
}

cubed_status cubed_eigvals(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return eigen("eigvals", x, false, &out, 1, err);
}
