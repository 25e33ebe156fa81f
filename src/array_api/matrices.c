/* Linear algebra: functions of whole matrices, which are the last two axes. */
#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"
#include "linalg/linalg_functions.h"
#include "plan/context.h"

/* --- Operands --------------------------------------------------------------------------------------- */

/* Integers and half precision are taken for floats. */
static cubed_status compute_dtype(const char *name, cubed_dtype x, cubed_dtype *out,
                                  cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x);
    if (kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name, cubed_dtype_name(x));
    *out = kind == CUBED_KIND_COMPLEX ? x : CUBED_FLOAT64;
    if (kind == CUBED_KIND_FLOAT && x != CUBED_FLOAT64) *out = CUBED_FLOAT32;
    return CUBED_OK;
}

static cubed_dtype complex_dtype(cubed_dtype x)
{
    return cb_dtype_real(x) == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
}

/* x in the type that is computed with; a reference that the caller drops. */
static cubed_status matrices(const char *name, cubed_array *x, bool square, cubed_array **out,
                             cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_dtype dtype = x->node.dtype;
    if (ndim < 2)
        return cb_fail(err, CUBED_E_LINALG, "%s: an array of %d dimensions, expected at least 2",
                       name, ndim);
    if (square && x->shape[ndim - 2] != x->shape[ndim - 1])
        return cb_fail(err, CUBED_E_LINALG,
                       "%s: matrices of %" PRId64 " x %" PRId64 ", expected square ones", name,
                       x->shape[ndim - 2], x->shape[ndim - 1]);
    CB_TRY(compute_dtype(name, dtype, &dtype, err));
    return cubed_astype(x, dtype, out, err);
}

/* --- One call --------------------------------------------------------------------------------------- */

/* A result: for each matrix one of rows x columns, a vector (core 1) or a number (core 0). */
typedef struct result {
    cubed_dtype dtype;
    int core;
    int64_t extent[2];
} result;

/* A function on matrices, and its results. */
typedef struct job {
    const char *function;
    const void *params;
    size_t params_size;
    const result *results;
    int nout;
} job;

/* Every call gets so many whole matrices as make a block. */
static cubed_status apply(const job *j, cubed_array *x, cubed_array **outs, cubed_error *err)
{
    const result *r = j->results;
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

/* Like apply; outs[i] is NULL for a result that is not wanted. */
static cubed_status apply_to(const job *j, cubed_array *x, cubed_array **const *outs,
                             cubed_error *err)
{
    cubed_array *made[3];
    CB_TRY(apply(j, x, made, err));
    for (int i = 0; i < j->nout; i++) {
        if (outs[i])
            *outs[i] = made[i];
        else
            cubed_array_unref(made[i]);
    }
    return CUBED_OK;
}

/* Whether a task holds one matrix of x (and of b, if there is one), what a function makes of it, and the chunks
 * that it comes from. */
static cubed_status fits(const job *j, const cubed_array *x, const cubed_array *b,
                         uint64_t task_mem, bool *out, cubed_error *err)
{
    const result *r = j->results;
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

/* --- Triangular factors ------------------------------------------------------------------------------ */

cubed_status cubed_cholesky(cubed_array *x, bool upper, uint64_t task_mem, cubed_array **out,
                            cubed_error *err)
{
    cubed_array *a;
    const cb_cholesky_params params = {upper};
    bool whole;
    CB_TRY(matrices("cholesky", x, true, &a, err));
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const result r = {a->node.dtype, 2, {n, n}};
    const job j = {"cholesky", &params, sizeof params, &r, 1};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? apply(&j, a, out, err) : cb_api_panel_cholesky(a, upper, task_mem, out, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_lu(cubed_array *x, cubed_array **p, cubed_array **l, cubed_array **u,
                      cubed_error *err)
{
    cubed_array *a, **const outs[3] = {p, l, u};
    int ndim = x->node.grid->ndim;
    CB_TRY(matrices("lu", x, false, &a, err));
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1], k = cb_min_i64(m, n);
    const cubed_dtype dtype = a->node.dtype;
    const result r[3] = {{dtype, 2, {m, m}}, {dtype, 2, {m, k}}, {dtype, 2, {k, n}}};
    cubed_status st = apply_to(&(job){"lu", NULL, 0, r, 3}, a, outs, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_det(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a;
    bool whole;
    CB_TRY(matrices("det", x, true, &a, err));
    const result r = {a->node.dtype, 0, {0, 0}};
    const job j = {"det", NULL, 0, &r, 1};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? apply(&j, a, out, err)
                   : cb_api_panel_slogdet(a, task_mem, NULL, NULL, out, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_slogdet(cubed_array *x, uint64_t task_mem, cubed_array **sign,
                           cubed_array **logabsdet, cubed_error *err)
{
    cubed_array *a, **const outs[2] = {sign, logabsdet};
    bool whole;
    CB_TRY(matrices("slogdet", x, true, &a, err));
    const result r[2] = {{a->node.dtype, 0, {0, 0}}, {cb_dtype_real(a->node.dtype), 0, {0, 0}}};
    const job j = {"slogdet", NULL, 0, r, 2};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? apply_to(&j, a, outs, err)
                   : cb_api_panel_slogdet(a, task_mem, sign, logabsdet, NULL, err);
    cubed_array_unref(a);
    return st;
}

cubed_status cubed_inv(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a;
    bool whole;
    CB_TRY(matrices("inv", x, true, &a, err));
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const result r = {a->node.dtype, 2, {n, n}};
    const job j = {"inv", NULL, 0, &r, 1};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK)
        st = whole ? apply(&j, a, out, err) : cb_api_panel_inv(a, task_mem, out, err);
    cubed_array_unref(a);
    return st;
}

/* --- solve ------------------------------------------------------------------------------------------- */

/* Axes of extent 1 in front, up to ndim dimensions; x is replaced. */
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

/* Both have the same number of dimensions and the same type. */
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
    const result r = {a->node.dtype, 2, {n, m}};
    bool whole;
    CB_TRY(fits(&(job){"solve", NULL, 0, &r, 1}, a, b, task_mem, &whole, err));
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
    CB_TRY(compute_dtype(name, dtype, &dtype, err));
    CB_GO(matrices(name, x1, true, &a, err));
    CB_GO(cubed_astype(a, dtype, &x, err));
    cubed_array_unref(a);
    a = x;
    x = NULL;
    int64_t n = x1->shape[x1->node.grid->ndim - 1],
            rows = n2 > 0 ? x2->shape[n2 > 1 ? n2 - 2 : 0] : 0;
    if (n2 == 0) {
        st = cb_fail(err, CUBED_E_ARG,
                     "%s: the right side has no dimensions, expected one at least", name);
        goto out;
    }
    if (rows != n) {
        st = cb_fail(err, CUBED_E_LINALG,
                     "%s: matrices of %" PRId64 " x %" PRId64 " and %" PRId64 " equations", name, n,
                     n, rows);
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

/* --- Orthogonal factors ------------------------------------------------------------------------------ */

cubed_status cubed_qr(cubed_array *x, bool complete, uint64_t task_mem, cubed_array **q,
                      cubed_array **r, cubed_error *err)
{
    cubed_array *a, **const outs[2] = {q, r};
    int ndim = x->node.grid->ndim;
    bool whole, in_rows = false;
    CB_TRY(matrices("qr", x, false, &a, err));
    int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1];
    int64_t columns = complete ? m : cb_min_i64(m, n);
    const result results[2] = {{a->node.dtype, 2, {m, columns}}, {a->node.dtype, 2, {columns, n}}};
    const job j = {"qr", NULL, 0, results, 2};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !complete) st = cb_api_tall_fits(a, task_mem, &in_rows, err);
    if (st == CUBED_OK && in_rows)
        st = cb_api_tall_qr(a, task_mem, q, r, err);
    else if (st == CUBED_OK)
        st = whole ? apply_to(&j, a, outs, err) : cb_api_panel_qr(a, complete, task_mem, q, r, err);
    cubed_array_unref(a);
    return st;
}

static cubed_status whole_svd(cubed_array *a, bool full_matrices, cubed_array **u, cubed_array **s,
                              cubed_array **vh, cubed_error *err)
{
    cubed_array **const outs[3] = {u, s, vh};
    int ndim = a->node.grid->ndim;
    int64_t m = a->shape[ndim - 2], n = a->shape[ndim - 1], k = cb_min_i64(m, n);
    const result results[3] = {{a->node.dtype, 2, {m, full_matrices ? m : k}},
                               {cb_dtype_real(a->node.dtype), 1, {k, 0}},
                               {a->node.dtype, 2, {full_matrices ? n : k, n}}};
    return apply_to(&(job){"svd", NULL, 0, results, 3}, a, outs, err);
}

/* x's adjoint in its place. */
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

/* Of a wide matrix, by its adjoint `tall`: what is on the right there is on the left here. */
static cubed_status wide_svd(cubed_array *tall, uint64_t task_mem, cubed_array **u, cubed_array **s,
                             cubed_array **vh, cubed_error *err)
{
    CB_TRY(cb_api_tall_svd(tall, task_mem, vh, s, u, err));
    cubed_status st = u ? adjoin(u, err) : CUBED_OK;
    if (st == CUBED_OK && vh) st = adjoin(vh, err);
    if (st == CUBED_OK) return st;
    if (u) cubed_array_unref(*u);
    if (s) cubed_array_unref(*s);
    if (vh) cubed_array_unref(*vh);
    return st;
}

/* a or its adjoint, whichever is tall; NULL if neither is. */
static cubed_status tall_of(cubed_array *a, cubed_array **tall, cubed_error *err)
{
    *tall = cubed_array_ref(a);
    if (cb_api_is_tall(a)) return CUBED_OK;
    cubed_status st = adjoin(tall, err);
    if (st == CUBED_OK && cb_api_is_tall(*tall)) return CUBED_OK;
    cubed_array_unref(*tall);
    *tall = NULL;
    return st;
}

cubed_status cubed_svd(cubed_array *x, bool full_matrices, uint64_t task_mem, cubed_array **u,
                       cubed_array **s, cubed_array **vh, cubed_error *err)
{
    cubed_array *a, *tall = NULL;
    CB_TRY(matrices("svd", x, false, &a, err));
    cubed_status st = full_matrices ? CUBED_OK : tall_of(a, &tall, err);
    if (st == CUBED_OK && !tall)
        st = whole_svd(a, full_matrices, u, s, vh, err);
    else if (st == CUBED_OK)
        st = cb_api_is_tall(a) ? cb_api_tall_svd(tall, task_mem, u, s, vh, err)
                               : wide_svd(tall, task_mem, u, s, vh, err);
    cubed_array_unref(a);
    cubed_array_unref(tall);
    return st;
}

cubed_status cubed_svdvals(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *a, *tall;
    CB_TRY(matrices("svdvals", x, false, &a, err));
    cubed_status st = tall_of(a, &tall, err);
    int ndim = a->node.grid->ndim;
    const int64_t m = a->shape[ndim - 2], n = a->shape[ndim - 1];
    const result r = {cb_dtype_real(a->node.dtype), 1, {cb_min_i64(m, n), 0}};
    const job j = {"svdvals", NULL, 0, &r, 1};
    bool whole = true, in_rows = false, in_band = false;
    if (st == CUBED_OK && tall) st = cb_api_tall_fits(tall, task_mem, &in_rows, err);
    if (st == CUBED_OK && in_rows) {
        cubed_array_unref(a);
        st = cb_api_tall_qr(tall, task_mem, NULL, &a, err);
        if (st != CUBED_OK) a = NULL;
    }
    if (st == CUBED_OK) st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !whole && !in_rows && m < n) st = adjoin(&a, err);
    if (st == CUBED_OK && !whole) st = cb_api_band_values(a, false, task_mem, &in_band, out, err);
    if (st == CUBED_OK && !in_band) st = apply(&j, a, out, err);
    cubed_array_unref(tall);
    cubed_array_unref(a);
    return st;
}

/* --- Eigenvalues ------------------------------------------------------------------------------------- */

static cubed_status eigen(const char *name, cubed_array *x, bool hermitian,
                          cubed_array **const *outs, int nout, cubed_error *err)
{
    cubed_array *a;
    CB_TRY(matrices(name, x, true, &a, err));
    cubed_dtype dtype = a->node.dtype;
    int64_t n = x->shape[x->node.grid->ndim - 1];
    const result r[2] = {{hermitian ? cb_dtype_real(dtype) : complex_dtype(dtype), 1, {n, 0}},
                         {hermitian ? dtype : complex_dtype(dtype), 2, {n, n}}};
    cubed_status st = apply_to(&(job){name, NULL, 0, r, nout}, a, outs, err);
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
    CB_TRY(matrices("eigvalsh", x, true, &a, err));
    const result r = {cb_dtype_real(a->node.dtype), 1, {x->shape[x->node.grid->ndim - 1], 0}};
    const job j = {"eigvalsh", NULL, 0, &r, 1};
    cubed_status st = fits(&j, a, NULL, task_mem, &whole, err);
    if (st == CUBED_OK && !whole) st = cb_api_band_values(a, true, task_mem, &in_band, out, err);
    if (st == CUBED_OK && !in_band) st = apply(&j, a, out, err);
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
