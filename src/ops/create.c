/* Creates arrays that are computed from the positions of their elements. */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* Computes op(a, b) if `st` is CUBED_OK. Releases a and b, even after an error. Each may be NULL if `st` is an error. */
static cubed_status consume(cubed_status st, cubed_op op, cubed_array *a, cubed_array *b,
                            cubed_array **out, cubed_error *err)
{
    cubed_array *args[2] = {a, b};
    if (st == CUBED_OK) st = cubed_elementwise(op, args, 2, out, err);
    cubed_array_unref(a);
    cubed_array_unref(b);
    return st;
}

/* Computes start + step * k for k = 0 .. n-1, in float64. */
static cubed_status ramp(cubed_context *ctx, double start, double step, int64_t n,
                         const int64_t *chunk, cubed_array **out, cubed_error *err)
{
    cubed_array *k = NULL, *f = NULL, *c = NULL, *scaled = NULL;
    CB_TRY(cubed_array_index(ctx, 1, &n, chunk, 0, &k, err));
    cubed_status st = cubed_astype(k, CUBED_FLOAT64, &f, err);
    cubed_array_unref(k);
    if (st == CUBED_OK) st = cb_op_scalar(ctx, CUBED_FLOAT64, step, &c, err);
    st = consume(st, CUBED_OP_MULTIPLY, f, c, &scaled, err);
    c = NULL;
    if (st == CUBED_OK) st = cb_op_scalar(ctx, CUBED_FLOAT64, start, &c, err);
    return consume(st, CUBED_OP_ADD, scaled, c, out, err);
}

static cubed_status check_numbers(cubed_dtype dtype, cubed_error *err)
{
    if (cubed_dtype_is_valid(dtype) && dtype != CUBED_BOOL &&
        cubed_dtype_kind(dtype) <= CUBED_KIND_COMPLEX)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "arange: dtype %d is not a numeric type", (int)dtype);
}

cubed_status cubed_array_ramp(cubed_context *ctx, cubed_dtype type, const cubed_scalar *start,
                              const cubed_scalar *step, int64_t n, cubed_dtype dtype,
                              const int64_t *chunk, cubed_array **out, cubed_error *err)
{
    cubed_array *k = NULL, *c = NULL, *scaled = NULL, *made = NULL;
    const bool whole = type == CUBED_INT64;
    if (type != CUBED_INT64 && type != CUBED_FLOAT64)
        return cb_fail(err, CUBED_E_TYPE,
                       "arange: the type of computation is %d, expected int64 or float64",
                       (int)type);
    CB_TRY(check_numbers(dtype, err));
    cubed_status st = CUBED_OK;
    if (whole) {
        CB_GO(cubed_array_index(ctx, 1, &n, chunk, 0, &k, err));
        st = cubed_array_full(ctx, type, 0, NULL, NULL, step, &c, err);
        CB_GO(consume(st, CUBED_OP_MULTIPLY, k, c, &scaled, err));
        k = c = NULL;
        st = cubed_array_full(ctx, type, 0, NULL, NULL, start, &c, err);
        CB_GO(consume(st, CUBED_OP_ADD, scaled, c, &made, err));
    } else {
        CB_GO(ramp(ctx, start->f64, step->f64, n, chunk, &made, err));
    }
    st = cubed_astype(made, dtype, out, err);
out:
    cubed_array_unref(made);
    return st;
}

cubed_status cubed_array_arange(cubed_context *ctx, double start, double stop, double step,
                                cubed_dtype dtype, const int64_t *chunk, cubed_array **out,
                                cubed_error *err)
{
    CB_TRY(check_numbers(dtype, err));
    if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "arange: from %g to %g by %g, expected finite numbers and a step that is "
                       "not 0",
                       start, stop, step);
    double length = ceil((stop - start) / step);
    if (length >= 0x1p60)
        return cb_fail(err, CUBED_E_ARG, "arange: from %g to %g by %g has more than 2**60 elements",
                       start, stop, step);
    cubed_array *f = NULL;
    CB_TRY(ramp(ctx, start, step, length > 0 ? (int64_t)length : 0, chunk, &f, err));
    cubed_status st = cubed_astype(f, dtype, out, err);
    cubed_array_unref(f);
    return st;
}

cubed_status cubed_array_linspace(cubed_context *ctx, double start, double stop, int64_t num,
                                  bool endpoint, const int64_t *chunk, cubed_array **out,
                                  cubed_error *err)
{
    if (num < 0)
        return cb_fail(err, CUBED_E_ARG, "linspace: num is %" PRId64 ", expected >= 0", num);
    if (!isfinite(start) || !isfinite(stop))
        return cb_fail(err, CUBED_E_ARG, "linspace: from %g to %g, expected finite numbers", start,
                       stop);
    int64_t steps = endpoint ? num - 1 : num;
    double step = steps > 0 ? (stop - start) / (double)steps : 0;
    if (!endpoint || num < 2) return ramp(ctx, start, step, num, chunk, out, err);
    /* The last element is exactly `stop`, regardless of rounding. */
    cubed_array *args[3] = {NULL, NULL, NULL}, *k = NULL, *last = NULL;
    cubed_scalar end = {.i64 = num - 1};
    cubed_status st = CUBED_OK;
    CB_GO(cubed_array_index(ctx, 1, &num, chunk, 0, &k, err));
    CB_GO(cubed_array_full(ctx, CUBED_INT64, 0, NULL, NULL, &end, &last, err));
    st =
        consume(CUBED_OK, CUBED_OP_EQUAL, cubed_array_ref(k), cubed_array_ref(last), &args[0], err);
    if (st != CUBED_OK) goto out;
    CB_GO(cb_op_scalar(ctx, CUBED_FLOAT64, stop, &args[1], err));
    CB_GO(ramp(ctx, start, step, num, chunk, &args[2], err));
    CB_GO(cubed_elementwise(CUBED_OP_WHERE, args, 3, out, err));
out:
    for (int i = 0; i < 3; i++) cubed_array_unref(args[i]);
    cubed_array_unref(k);
    cubed_array_unref(last);
    return st;
}

/* Creates two arrays that broadcast to the shape of a matrix: row index plus k, and column index. */
static cubed_status positions(cubed_context *ctx, int64_t rows, int64_t columns, int64_t k,
                              cubed_array **row, cubed_array **column, cubed_error *err)
{
    int64_t down[2] = {rows, 1}, across[2] = {1, columns};
    *row = *column = NULL;
    CB_TRY(cubed_array_index(ctx, 2, down, NULL, k, row, err));
    cubed_status st = cubed_array_index(ctx, 2, across, NULL, 0, column, err);
    if (st != CUBED_OK) cubed_array_unref(*row);
    return st;
}

cubed_status cubed_array_eye(cubed_context *ctx, int64_t rows, int64_t columns, int64_t k,
                             cubed_dtype dtype, const int64_t *chunks, cubed_array **out,
                             cubed_error *err)
{
    cubed_array *row, *column, *diagonal, *eye;
    int64_t shape[2] = {rows, columns};
    if (rows < 0 || columns < 0)
        return cb_fail(err, CUBED_E_ARG, "eye: shape (%" PRId64 ", %" PRId64 "), expected >= 0",
                       rows, columns);
    if ((unsigned)dtype >= CUBED_DTYPE_COUNT)
        return cb_fail(err, CUBED_E_TYPE, "eye: unknown dtype %d", (int)dtype);
    CB_TRY(positions(ctx, rows, columns, k, &row, &column, err));
    CB_TRY(consume(CUBED_OK, CUBED_OP_EQUAL, row, column, &diagonal, err));
    cubed_status st = cubed_astype(diagonal, dtype, &eye, err);
    cubed_array_unref(diagonal);
    if (st != CUBED_OK) return st;
    int64_t chosen[2];
    cb_auto_chunks(2, shape, cubed_dtype_size(dtype), CB_AUTO_CHUNK_BYTES, chosen);
    st = cubed_rechunk(eye, chunks ? chunks : chosen, out, err);
    cubed_array_unref(eye);
    return st;
}

cubed_status cb_op_zero(cubed_context *ctx, cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    static const char nothing[4]; /* an empty string of one code point */
    const cubed_scalar zero = {.c128 = {0, 0}};
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cubed_array *number;
    if (kind == CUBED_KIND_TEXT) {
        cubed_dtype one;
        CB_TRY(cubed_dtype_fixed(cubed_dtype_family(dtype), 1, &one, err));
        return cubed_array_full_text(ctx, one, 0, NULL, NULL, nothing, out, err);
    }
    if (kind == CUBED_KIND_RECORD) {
        void *zeros = cb_alloc_zero(&ctx->alloc, cubed_dtype_size(dtype));
        if (!zeros) return cb_fail(err, CUBED_E_NOMEM, "out of memory: a record");
        const cubed_status st = cubed_array_full_text(ctx, dtype, 0, NULL, NULL, zeros, out, err);
        cb_free(&ctx->alloc, zeros, cubed_dtype_size(dtype));
        return st;
    }
    if (kind != CUBED_KIND_TIME)
        return cubed_array_full(ctx, dtype, 0, NULL, NULL, &zero, out, err);
    CB_TRY(cubed_array_full(ctx, CUBED_INT64, 0, NULL, NULL, &zero, &number, err));
    cubed_status st = cubed_astype(number, dtype, out, err);
    cubed_array_unref(number);
    return st;
}

/* Computes where(column <= row + k, x, 0) for tril, or where(column >= row + k, x, 0) for triu. */
static cubed_status triangle(const char *what, cubed_op keep, cubed_array *x, int64_t k,
                             cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_array *args[3] = {NULL, x, NULL}, *row, *column;
    if (ndim < 2)
        return cb_fail(err, CUBED_E_ARG, "%s: the array has %d dimension%s, expected at least 2",
                       what, ndim, ndim == 1 ? "" : "s");
    CB_TRY(positions(x->ctx, x->shape[ndim - 2], x->shape[ndim - 1], k, &row, &column, err));
    CB_TRY(consume(CUBED_OK, keep, column, row, &args[0], err));
    cubed_status st = cb_op_zero(x->ctx, x->node.dtype, &args[2], err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, args, 3, out, err);
    cubed_array_unref(args[0]);
    cubed_array_unref(args[2]);
    return st;
}

cubed_status cubed_tril(cubed_array *x, int64_t k, cubed_array **out, cubed_error *err)
{
    return triangle("tril", CUBED_OP_LESS_EQUAL, x, k, out, err);
}

cubed_status cubed_triu(cubed_array *x, int64_t k, cubed_array **out, cubed_error *err)
{
    return triangle("triu", CUBED_OP_GREATER_EQUAL, x, k, out, err);
}
