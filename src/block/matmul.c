/* Products of matrices in batches, and differences of a matrix and a product. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "kernel/kernel.h"

/* Checks the axes. a has the axes batch, rows, summed; b has batch, summed, columns; c has batch, rows, columns. */
static cubed_status check_axes(const cubed_block_call *call, const cb_matmul_params *p,
                               cubed_error *err)
{
    const cubed_block *a = &call->in[0], *b = &call->in[1], *c = &call->out[0];
    const int32_t batch = p->batch, m = p->rows, k = p->summed, n = p->columns;
    if (batch < 0 || m < 0 || k < 0 || n < 0 || a->ndim != (int64_t)batch + m + k ||
        b->ndim != (int64_t)batch + k + n || c->ndim != (int64_t)batch + m + n)
        return cb_fail(err, CUBED_E_FORMAT, "the dimensions of operands do not match the function");
    bool same = true;
    for (int d = 0; d < batch; d++) {
        same = same && (a->shape[d] == c->shape[d] || a->shape[d] == 1) &&
               (b->shape[d] == c->shape[d] || b->shape[d] == 1);
    }
    for (int d = batch; d < batch + m; d++) same = same && a->shape[d] == c->shape[d];
    for (int d = batch; d < batch + k; d++) same = same && a->shape[d + m] == b->shape[d];
    for (int d = batch; d < batch + n; d++) same = same && b->shape[d + k] == c->shape[d + m];
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_kernels *kernels = ctx;
    if (call->params_size != sizeof(cb_matmul_params) || call->nin != 2 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    cubed_dtype type = call->in[0].dtype;
    if (type != call->in[1].dtype || type != call->out[0].dtype)
        return cb_fail(err, CUBED_E_FORMAT, "the operands have different types");
    if (type >= CUBED_DTYPE_COUNT || !kernels->gemm[type])
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(type));
    return check_axes(call, call->params, err);
}

static int64_t extent_of(const cubed_block *x, int first, int n)
{
    int64_t extent = 1;
    for (int d = first; d < first + n; d++) extent *= x->shape[d];
    return extent;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_matmul_params *p = call->params;
    const cubed_block *a = &call->in[0], *b = &call->in[1];
    (void)ctx;
    size_t scratch = cb_gemm_scratch(a->dtype, extent_of(a, p->batch, p->rows),
                                     extent_of(b, p->batch + p->summed, p->columns),
                                     extent_of(a, p->batch + p->rows, p->summed));
    return (cubed_block_need){scratch, 0};
}

/* Returns the matrix of x that belongs to matrix number `i` of c, after broadcasting of the batch axes. */
static const char *matrix_of(const cubed_block *x, const cubed_block *c, int batch, int64_t i)
{
    int64_t at = 0, stride = extent_of(x, batch, x->ndim - batch);
    for (int d = batch - 1; d >= 0; d--) {
        if (x->shape[d] != 1) at += i % c->shape[d] * stride;
        stride *= x->shape[d];
        i /= c->shape[d];
    }
    return (const char *)x->data + at * (int64_t)cubed_dtype_size(x->dtype);
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_kernels *kernels = ctx;
    const cb_matmul_params *p = call->params;
    const cubed_block *a = &call->in[0], *b = &call->in[1], *c = &call->out[0];
    int64_t m = extent_of(a, p->batch, p->rows), k = extent_of(a, p->batch + p->rows, p->summed);
    int64_t n = extent_of(b, p->batch + p->summed, p->columns);
    int64_t count = extent_of(c, 0, p->batch), size = (int64_t)cubed_dtype_size(c->dtype);
    (void)err;
    if (!c->data) return CUBED_OK;
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        const cb_gemm g = {.m = m,
                           .n = n,
                           .k = k,
                           .a = matrix_of(a, c, p->batch, i),
                           .b = matrix_of(b, c, p->batch, i),
                           .c = (char *)c->data + i * m * n * size,
                           .lda = k,
                           .ldb = n,
                           .ldc = n,
                           .mode = call->first ? CB_GEMM_SET : CB_GEMM_ADD,
                           .scratch = call->scratch,
                           .cancel = call->cancel};
        kernels->gemm[c->dtype](&g);
    }
    return CUBED_OK;
}

/* --- subtract_product: c = x - a b, one matrix each in the last two axes ----------------------------- */

static cubed_status check_update(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_kernels *kernels = ctx;
    if (call->params_size != 0 || call->nin != 3 || call->nout != 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *a = &call->in[1], *b = &call->in[2], *c = &call->out[0];
    const cubed_dtype type = c->dtype;
    if (x->dtype != type || a->dtype != type || b->dtype != type)
        return cb_fail(err, CUBED_E_FORMAT, "the operands have different types");
    if (type >= CUBED_DTYPE_COUNT || !kernels->gemm[type])
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(type));
    const int n = c->ndim;
    if (n < 2 || x->ndim != n || a->ndim != n || b->ndim != n)
        return cb_fail(err, CUBED_E_FORMAT, "the dimensions of operands do not match the function");
    bool same = true;
    for (int d = 0; d < n; d++) {
        same = same && x->shape[d] == c->shape[d];
        if (d < n - 2) same = same && a->shape[d] == c->shape[d] && b->shape[d] == c->shape[d];
    }
    same = same && a->shape[n - 2] == c->shape[n - 2] && b->shape[n - 1] == c->shape[n - 1] &&
           a->shape[n - 1] == b->shape[n - 2];
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
}

static cubed_block_need need_update(const cubed_block_call *call, void *ctx)
{
    const cubed_block *a = &call->in[1], *c = &call->out[0];
    const int n = c->ndim;
    (void)ctx;
    const size_t scratch =
        cb_gemm_scratch(c->dtype, c->shape[n - 2], c->shape[n - 1], a->shape[n - 1]);
    return (cubed_block_need){cb_sat_add(scratch, 63) & ~(size_t)63, 0};
}

static cubed_status run_update(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_kernels *kernels = ctx;
    const cubed_block *x = &call->in[0], *a = &call->in[1], *b = &call->in[2], *c = &call->out[0];
    const int batch = c->ndim - 2;
    const int64_t m = c->shape[batch], n = c->shape[batch + 1], k = a->shape[batch + 1];
    const int64_t count = extent_of(c, 0, batch), size = (int64_t)cubed_dtype_size(c->dtype);
    (void)err;
    if (!c->data) return CUBED_OK;
    memcpy(c->data, x->data, (size_t)(count * m * n * size));
    for (int64_t i = 0; i < count && !cubed_block_cancelled(call); i++) {
        const cb_gemm g = {.m = m,
                           .n = n,
                           .k = k,
                           .a = (const char *)a->data + i * m * k * size,
                           .b = (const char *)b->data + i * k * n * size,
                           .c = (char *)c->data + i * m * n * size,
                           .lda = k,
                           .ldb = n,
                           .ldc = n,
                           .mode = CB_GEMM_SUBTRACT,
                           .scratch = call->scratch,
                           .cancel = call->cancel};
        kernels->gemm[c->dtype](&g);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_subtract_product = {.name = "subtract_product",
                                                  .check = check_update,
                                                  .need = need_update,
                                                  .run = run_update,
                                                  .divisible = true};
const cubed_block_fn cb_block_matmul = {
    .name = "matmul", .check = check, .need = need, .run = run, .divisible = true};
