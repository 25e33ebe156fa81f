/* Linear algebra that is made of other functions: norms, condition numbers, ranks, pseudo-inverses, powers, diagonals. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"

/* --- Steps ------------------------------------------------------------------------------------------- */

/* What becomes of an array, one step after another: each drops its operand. */
static cubed_status become(cubed_array **x, cubed_status st, cubed_array *y)
{
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

static cubed_status unary(cubed_op op, cubed_array **x, cubed_error *err)
{
    cubed_array *y = NULL;
    cubed_status st = cubed_elementwise(op, x, 1, &y, err);
    return become(x, st, y);
}

static cubed_status binary(cubed_op op, cubed_array **x, cubed_array *with, cubed_error *err)
{
    cubed_array *y = NULL, *args[2] = {*x, with};
    cubed_status st = cubed_elementwise(op, args, 2, &y, err);
    return become(x, st, y);
}

static cubed_status with_number(cubed_op op, cubed_array **x, double number, cubed_error *err)
{
    cubed_scalar v = {.f64 = number};
    cubed_array *scalar;
    if ((*x)->node.dtype == CUBED_FLOAT32) v = (cubed_scalar){.f32 = (float)number};
    CB_TRY(cubed_array_full((*x)->ctx, (*x)->node.dtype, 0, NULL, NULL, &v, &scalar, err));
    cubed_status st = binary(op, x, scalar, err);
    cubed_array_unref(scalar);
    return st;
}

static cubed_status cast(cubed_array **x, cubed_dtype dtype, cubed_error *err)
{
    cubed_array *y = NULL;
    cubed_status st = cubed_astype(*x, dtype, &y, err);
    return become(x, st, y);
}

static cubed_status reduction(cubed_reduction what, cubed_array **x, const int *axes, int naxes,
                              bool keepdims, cubed_error *err)
{
    cubed_array *y = NULL;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = axes;
    o.naxes = naxes;
    o.keepdims = keepdims;
    cubed_status st = cubed_reduce(what, *x, &o, &y, err);
    return become(x, st, y);
}

static cubed_status new_axis(cubed_array **x, int axis, cubed_error *err)
{
    cubed_array *y = NULL;
    cubed_status st = cubed_expand_dims(*x, axis, &y, err);
    return become(x, st, y);
}

/* *out takes over x, which is dropped after a failure. */
static cubed_status hand_over(cubed_status st, cubed_array *x, cubed_array **out)
{
    if (st == CUBED_OK)
        *out = x;
    else
        cubed_array_unref(x);
    return st;
}

/* --- Norms of vectors -------------------------------------------------------------------------------- */

static bool is_double(cubed_dtype dtype)
{
    cubed_kind kind = cubed_dtype_kind(dtype);
    return kind < CUBED_KIND_FLOAT || dtype == CUBED_FLOAT64 || dtype == CUBED_COMPLEX128;
}

/* |x| in double precision, where squares of single precision neither overflow nor lose digits. */
static cubed_status magnitudes(const char *name, cubed_array *x, cubed_array **out,
                               cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name,
                       cubed_dtype_name(x->node.dtype));
    CB_TRY(
        cubed_astype(x, kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64, out, err));
    cubed_status st = unary(CUBED_OP_ABS, out, err);
    return hand_over(st, *out, out);
}

/* (sum of y**ord)**(1/ord) */
static cubed_status power_sum(cubed_array **y, double ord, const int *axes, int naxes,
                              bool keepdims, cubed_error *err)
{
    if (ord == 2) {
        CB_TRY(unary(CUBED_OP_SQUARE, y, err));
        CB_TRY(reduction(CUBED_REDUCE_SUM, y, axes, naxes, keepdims, err));
        return unary(CUBED_OP_SQRT, y, err);
    }
    if (ord != 1) CB_TRY(with_number(CUBED_OP_POW, y, ord, err));
    CB_TRY(reduction(CUBED_REDUCE_SUM, y, axes, naxes, keepdims, err));
    return ord == 1 ? CUBED_OK : with_number(CUBED_OP_POW, y, 1 / ord, err);
}

static cubed_status norm_of(cubed_array **y, double ord, const int *axes, int naxes, bool keepdims,
                            cubed_error *err)
{
    if (isinf(ord))
        return reduction(ord > 0 ? CUBED_REDUCE_MAX : CUBED_REDUCE_MIN, y, axes, naxes, keepdims,
                         err);
    if (ord != 0) return power_sum(y, ord, axes, naxes, keepdims, err);
    CB_TRY(with_number(CUBED_OP_NOT_EQUAL, y, 0, err));
    CB_TRY(reduction(CUBED_REDUCE_SUM, y, axes, naxes, keepdims, err));
    return cast(y, CUBED_FLOAT64, err);
}

cubed_status cubed_vector_norm(cubed_array *x, double ord, const int *axes, int naxes,
                               bool keepdims, cubed_array **out, cubed_error *err)
{
    cubed_array *y;
    if (isnan(ord)) return cb_fail(err, CUBED_E_ARG, "vector_norm: ord is not a number");
    CB_TRY(magnitudes("vector_norm", x, &y, err));
    cubed_status st = norm_of(&y, ord, axes, naxes, keepdims, err);
    if (st == CUBED_OK && !is_double(x->node.dtype)) st = cast(&y, CUBED_FLOAT32, err);
    return hand_over(st, y, out);
}

/* --- Norms of matrices ------------------------------------------------------------------------------- */

/* From sums along one axis the largest or least one. */
static cubed_status sums_norm(cubed_array *x, int axis, cubed_reduction of_sums, cubed_array **out,
                              cubed_error *err)
{
    int other = axis == -1 ? -2 : -1;
    cubed_array *y;
    CB_TRY(magnitudes("matrix_norm", x, &y, err));
    cubed_status st = reduction(CUBED_REDUCE_SUM, &y, &axis, 1, true, err);
    if (st == CUBED_OK) st = reduction(of_sums, &y, &other, 1, true, err);
    if (st == CUBED_OK && !is_double(x->node.dtype)) st = cast(&y, CUBED_FLOAT32, err);
    return hand_over(st, y, out);
}

static cubed_status singular_norm(cubed_array *x, cubed_reduction of_values, uint64_t task_mem,
                                  cubed_array **out, cubed_error *err)
{
    cubed_array *s;
    CB_TRY(cubed_svdvals(x, task_mem, &s, err));
    cubed_status st = reduction(of_values, &s, (const int[]){-1}, 1, true, err);
    if (st == CUBED_OK) st = new_axis(&s, -1, err);
    return hand_over(st, s, out);
}

static cubed_status matrix_norm(cubed_array *x, cubed_matrix_norm_ord ord, uint64_t task_mem,
                                cubed_array **out, cubed_error *err)
{
    switch (ord) {
    case CUBED_NORM_FRO: return cubed_vector_norm(x, 2, (const int[]){-2, -1}, 2, true, out, err);
    case CUBED_NORM_NUC: return singular_norm(x, CUBED_REDUCE_SUM, task_mem, out, err);
    case CUBED_NORM_1: return sums_norm(x, -2, CUBED_REDUCE_MAX, out, err);
    case CUBED_NORM_MINUS_1: return sums_norm(x, -2, CUBED_REDUCE_MIN, out, err);
    case CUBED_NORM_2: return singular_norm(x, CUBED_REDUCE_MAX, task_mem, out, err);
    case CUBED_NORM_MINUS_2: return singular_norm(x, CUBED_REDUCE_MIN, task_mem, out, err);
    case CUBED_NORM_INF: return sums_norm(x, -1, CUBED_REDUCE_MAX, out, err);
    case CUBED_NORM_MINUS_INF: return sums_norm(x, -1, CUBED_REDUCE_MIN, out, err);
    }
    return cb_fail(err, CUBED_E_ARG, "matrix_norm: ord is number %d", (int)ord);
}

/* x has matrices at all. */
static cubed_status check_matrices(const char *name, const cubed_array *x, cubed_error *err)
{
    if (x->node.grid->ndim >= 2) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "%s: an array of %d dimensions, expected at least 2", name,
                   x->node.grid->ndim);
}

static bool has_empty_matrices(const cubed_array *x)
{
    int ndim = x->node.grid->ndim;
    return x->shape[ndim - 2] == 0 || x->shape[ndim - 1] == 0;
}

cubed_status cubed_matrix_norm(cubed_array *x, cubed_matrix_norm_ord ord, bool keepdims,
                               uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *kept;
    CB_TRY(check_matrices("matrix_norm", x, err));
    CB_TRY(matrix_norm(x, ord, task_mem, &kept, err));
    if (keepdims) return hand_over(CUBED_OK, kept, out);
    cubed_status st = cubed_squeeze(kept, (const int[]){-2, -1}, 2, out, err);
    cubed_array_unref(kept);
    return st;
}

cubed_status cubed_matrix_norm_parse(const char *name, double number, cubed_matrix_norm_ord *out,
                                     cubed_error *err)
{
    static const struct {
        const char *name;
        double number;
        cubed_matrix_norm_ord ord;
    } rows[] = {
        {"fro", 0, CUBED_NORM_FRO},       {"nuc", 0, CUBED_NORM_NUC},
        {NULL, 1, CUBED_NORM_1},          {NULL, -1, CUBED_NORM_MINUS_1},
        {NULL, 2, CUBED_NORM_2},          {NULL, -2, CUBED_NORM_MINUS_2},
        {NULL, HUGE_VAL, CUBED_NORM_INF}, {NULL, -HUGE_VAL, CUBED_NORM_MINUS_INF},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool is_it = name ? rows[i].name && strcmp(rows[i].name, name) == 0
                                : !rows[i].name && rows[i].number == number;
        if (!is_it) continue;
        *out = rows[i].ord;
        return CUBED_OK;
    }
    static const char expected[] = "expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf";
    if (name) return cb_fail(err, CUBED_E_ARG, "ord is %s, %s", name, expected);
    return cb_fail(err, CUBED_E_ARG, "ord is %g, %s", number, expected);
}

/* Of matrices in any two axes. */
static cubed_status norm_in(cubed_array *x, const int axes[2], cubed_matrix_norm_ord ord,
                            bool keepdims, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *last = NULL, *norm = NULL;
    uint32_t mask;
    CB_TRY(cb_api_axes("norm", x->node.grid->ndim, axes, 2, &mask, err));
    CB_TRY(cubed_moveaxis(x, axes, (const int[]){-2, -1}, 2, &last, err));
    cubed_status st = cubed_matrix_norm(last, ord, false, task_mem, &norm, err);
    cubed_array_unref(last);
    for (int d = 0; d < x->node.grid->ndim && keepdims && st == CUBED_OK; d++) {
        if (mask >> d & 1) st = new_axis(&norm, d, err);
    }
    return hand_over(st, norm, out);
}

cubed_status cubed_norm(cubed_array *x, const cubed_norm_options *options, uint64_t task_mem,
                        cubed_array **out, cubed_error *err)
{
    const cubed_norm_options usual = CUBED_NORM_OPTIONS_INIT, *o = options ? options : &usual;
    const bool is_given = o->name || o->number;
    const bool is_matrix = !o->axes && is_given && x->node.grid->ndim == 2;
    cubed_matrix_norm_ord ord = CUBED_NORM_FRO;
    if (is_matrix || (o->axes && o->naxes == 2)) {
        if (is_given)
            CB_TRY(cubed_matrix_norm_parse(o->name, o->number ? *o->number : 0, &ord, err));
        return norm_in(x, is_matrix ? (const int[]){0, 1} : o->axes, ord, o->keepdims, task_mem,
                       out, err);
    }
    if (o->name)
        return cb_fail(err, CUBED_E_ARG, "norm: ord is %s, expected a number for vectors", o->name);
    return cubed_vector_norm(x, o->number ? *o->number : 2, o->axes, o->naxes, o->keepdims, out,
                             err);
}

/* --- Condition numbers ------------------------------------------------------------------------------- */

/* The largest singular value over the smallest one, or the reverse. */
static cubed_array *ratio(cb_steps *s, cubed_array *x, bool reverse, uint64_t task_mem)
{
    cubed_array *values = NULL, *end[2] = {NULL, NULL};
    values = cb_step(s, cubed_svdvals(x, task_mem, &values, s->err), &values);
    if (!values) return NULL;
    const int axis = values->node.grid->ndim - 1;
    for (int i = 0; i < 2 && s->st == CUBED_OK; i++) {
        cubed_array *one =
            cb_step_part(s, values, axis, i == 0 ? 0 : values->shape[axis] - 1, 1, 1);
        if (one) end[i] = cb_step(s, cubed_squeeze(one, &axis, 1, &end[i], s->err), &end[i]);
    }
    return cb_step_op(s, CUBED_OP_DIVIDE, end[reverse], end[!reverse], NULL);
}

cubed_status cubed_cond(cubed_array *x, cubed_matrix_norm_ord ord, uint64_t task_mem,
                        cubed_array **out, cubed_error *err)
{
    cubed_array *y = NULL, *inverse = NULL, *norm[2] = {NULL, NULL};
    CB_TRY(check_matrices("cond", x, err));
    if (has_empty_matrices(x))
        return cb_fail(err, CUBED_E_ARG, "cond: matrices without elements, expected some");
    cubed_dtype dtype;
    CB_TRY(cb_floating("cond", x, NULL, &dtype, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    x = cb_step_cast(&s, x, dtype);
    if (s.st == CUBED_OK && (ord == CUBED_NORM_2 || ord == CUBED_NORM_MINUS_2)) {
        y = ratio(&s, x, ord == CUBED_NORM_MINUS_2, task_mem);
    } else if (s.st == CUBED_OK) {
        inverse = cb_step(&s, cubed_inv(x, task_mem, &inverse, err), &inverse);
        for (int i = 0; i < 2 && s.st == CUBED_OK; i++)
            norm[i] = cb_step(
                &s, cubed_matrix_norm(i == 0 ? x : inverse, ord, false, task_mem, &norm[i], err),
                &norm[i]);
        y = cb_step_op(&s, CUBED_OP_MULTIPLY, norm[0], norm[1], NULL);
    }
    return cb_steps_end(&s, y, out);
}

/* --- Ranks and pseudo-inverses ----------------------------------------------------------------------- */

/* Which singular values, along the last axis of s, count as such: more than rtol (NULL: the number of rows
 * or columns of x, whichever is larger, times its type's epsilon) times the largest one. */
static cubed_status significant(const cubed_array *x, cubed_array *s, cubed_array *rtol,
                                cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    double longest = (double)cb_max_i64(x->shape[ndim - 2], x->shape[ndim - 1]);
    cubed_array *limit = cubed_array_ref(s), *per_matrix = NULL;
    cubed_status st = reduction(CUBED_REDUCE_MAX, &limit, (const int[]){-1}, 1, true, err);
    if (st != CUBED_OK) goto out;
    if (!rtol) {
        CB_GO(with_number(CUBED_OP_MULTIPLY, &limit,
                          longest * (is_double(x->node.dtype) ? 0x1p-52 : 0x1p-23), err));
    } else {
        per_matrix = cubed_array_ref(rtol);
        CB_GO(new_axis(&per_matrix, -1, err));
        CB_GO(binary(CUBED_OP_MULTIPLY, &limit, per_matrix, err));
    }
    cubed_array *args[2] = {s, limit};
    CB_GO(cubed_elementwise(CUBED_OP_GREATER, args, 2, out, err));
out:
    cubed_array_unref(limit);
    cubed_array_unref(per_matrix);
    return st;
}

/* Zeros in x's place: it has no elements. */
static cubed_status zeros(const cubed_array *x, cubed_dtype dtype, int ndim, const int64_t *shape,
                          cubed_array **out, cubed_error *err)
{
    const cubed_scalar zero = {{0}};
    return cubed_array_full(x->ctx, dtype, ndim, shape, NULL, &zero, out, err);
}

cubed_status cubed_matrix_rank(cubed_array *x, cubed_array *rtol, uint64_t task_mem,
                               cubed_array **out, cubed_error *err)
{
    cubed_array *s, *counts = NULL;
    CB_TRY(check_matrices("matrix_rank", x, err));
    if (has_empty_matrices(x))
        return zeros(x, CUBED_INT64, x->node.grid->ndim - 2, x->shape, out, err);
    CB_TRY(cubed_svdvals(x, task_mem, &s, err));
    cubed_status st = significant(x, s, rtol, &counts, err);
    cubed_array_unref(s);
    if (st == CUBED_OK) st = reduction(CUBED_REDUCE_SUM, &counts, (const int[]){-1}, 1, false, err);
    return hand_over(st, counts, out);
}

/* conj(x)^T */
static cubed_status adjoint(cubed_array **x, cubed_error *err)
{
    cubed_array *y = NULL;
    CB_TRY(unary(CUBED_OP_CONJ, x, err));
    cubed_status st = cubed_matrix_transpose(*x, &y, err);
    return become(x, st, y);
}

cubed_status cubed_pinv(cubed_array *x, cubed_array *rtol, uint64_t task_mem, cubed_array **out,
                        cubed_error *err)
{
    cubed_array *u = NULL, *s = NULL, *vh = NULL, *counts = NULL, *where[3] = {NULL, NULL, NULL};
    int ndim = x->node.grid->ndim;
    cubed_status st;
    CB_TRY(check_matrices("pinv", x, err));
    CB_TRY(cubed_svd(x, false, task_mem, &u, &s, &vh, err));
    if (has_empty_matrices(x)) {
        int64_t shape[CUBED_MAX_NDIM];
        memcpy(shape, x->shape, sizeof shape);
        shape[ndim - 2] = x->shape[ndim - 1];
        shape[ndim - 1] = x->shape[ndim - 2];
        st = zeros(x, u->node.dtype, ndim, shape, out, err);
        goto out;
    }
    CB_GO(significant(x, s, rtol, &where[0], err));
    CB_GO(zeros(x, s->node.dtype, 0, NULL, &where[2], err));
    CB_GO(unary(CUBED_OP_RECIPROCAL, &s, err));
    where[1] = cubed_array_ref(s);
    CB_GO(cubed_elementwise(CUBED_OP_WHERE, where, 3, &counts, err));
    CB_GO(new_axis(&counts, -1, err));
    CB_GO(adjoint(&u, err));
    CB_GO(binary(CUBED_OP_MULTIPLY, &u, counts, err));
    CB_GO(adjoint(&vh, err));
    CB_GO(cubed_matmul(vh, u, out, err));
out:
    cubed_array_unref(u);
    cubed_array_unref(s);
    cubed_array_unref(vh);
    cubed_array_unref(counts);
    for (int i = 0; i < 3; i++) cubed_array_unref(where[i]);
    return st;
}

/* --- Powers ------------------------------------------------------------------------------------------ */

static cubed_status identities(cubed_array *x, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    int64_t n = x->shape[ndim - 1];
    cubed_array *eye;
    CB_TRY(cubed_array_eye(x->ctx, n, n, 0, x->node.dtype, x->chunks + ndim - 2, &eye, err));
    cubed_status st = cubed_broadcast_to(eye, ndim, x->shape, out, err);
    cubed_array_unref(eye);
    return st;
}

static cubed_status multiply(cubed_array **x, cubed_array *by, cubed_error *err)
{
    cubed_array *y = NULL;
    cubed_status st = cubed_matmul(*x, by, &y, err);
    return become(x, st, y);
}

cubed_status cubed_matrix_power(cubed_array *x, int64_t n, uint64_t task_mem, cubed_array **out,
                                cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_array *square, *power = NULL;
    cubed_status st = CUBED_OK;
    CB_TRY(check_matrices("matrix_power", x, err));
    if (x->shape[ndim - 2] != x->shape[ndim - 1])
        return cb_fail(err, CUBED_E_ARG,
                       "matrix_power: matrices of %" PRId64 " x %" PRId64 ", expected square ones",
                       x->shape[ndim - 2], x->shape[ndim - 1]);
    if (n == 0) return identities(x, out, err);
    if (n < 0)
        CB_TRY(cubed_inv(x, task_mem, &square, err));
    else
        square = cubed_array_ref(x);
    for (uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n; left && st == CUBED_OK; left >>= 1) {
        if (left & 1 && !power)
            power = cubed_array_ref(square);
        else if (left & 1)
            st = multiply(&power, square, err);
        if (st == CUBED_OK && left > 1) st = multiply(&square, square, err);
    }
    cubed_array_unref(square);
    return hand_over(st, power, out);
}

/* --- Diagonals --------------------------------------------------------------------------------------- */

cubed_status cubed_matrix_transpose(cubed_array *x, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim, axes[CUBED_MAX_NDIM];
    CB_TRY(check_matrices("matrix_transpose", x, err));
    for (int d = 0; d < ndim; d++) axes[d] = d;
    axes[ndim - 2] = ndim - 1;
    axes[ndim - 1] = ndim - 2;
    return cubed_permute_dims(x, axes, out, err);
}

/* The square whose main diagonal is the one that is wanted. */
static cubed_status square_of(const char *name, cubed_array *x, int64_t offset, cubed_array **out,
                              cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int ndim = x->node.grid->ndim;
    CB_TRY(check_matrices(name, x, err));
    int64_t rows = x->shape[ndim - 2], columns = x->shape[ndim - 1];
    int64_t top = cb_min_i64(rows, offset < -rows ? rows : cb_max_i64(0, -offset));
    int64_t left = cb_min_i64(columns, cb_max_i64(0, offset));
    int64_t length = cb_min_i64(rows - top, columns - left);
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[ndim - 2] = (cubed_slice){top, length, 1, false};
    slices[ndim - 1] = (cubed_slice){left, length, 1, false};
    return cubed_slice_array(x, slices, out, err);
}

/* Whether chunks begin where an axis does, or there is one. */
static bool begins_with_chunk(const cb_axis *a)
{
    return a->starts ? a->n == 1 : a->first == a->chunk || a->extent <= a->first;
}

/* How the square's diagonal is cut, so that of its chunks only those are read through which it goes: as the axis
 * that has the longer chunks, or as the one whose chunks begin where it does. Blocks may be long where chunks are
 * flat: then they are as long as whole numbers of the other axis's chunks make CB_API_BLOCK_BYTES. */
static int64_t diagonal_block(const cubed_array *square)
{
    const int ndim = square->node.grid->ndim;
    const cb_axis *rows = &square->node.grid->axis[ndim - 2], *columns = rows + 1;
    int64_t least = cb_min_i64(rows->chunk, columns->chunk);
    int64_t most = cb_max_i64(rows->chunk, columns->chunk);
    if (begins_with_chunk(rows) && !begins_with_chunk(columns)) most = rows->chunk;
    if (begins_with_chunk(columns) && !begins_with_chunk(rows)) most = columns->chunk;
    int64_t size = (int64_t)cubed_dtype_size(square->node.dtype);
    for (int d = 0; d < ndim - 2; d++) {
        if (cb_mul_i64(size, cb_max_i64(1, square->chunks[d]), &size)) return least;
    }
    int64_t side = (int64_t)sqrt((double)CB_API_BLOCK_BYTES / (double)size) / least * least;
    return cb_max_i64(1, cb_min_i64(most, cb_max_i64(least, side)));
}

/* The diagonals of squares, block by block. */
static cubed_status main_diagonal(cubed_array *square, cubed_array **out, cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM], ndim = square->node.grid->ndim;
    memcpy(chunks, square->chunks, sizeof chunks);
    chunks[ndim - 2] = chunks[ndim - 1] = diagonal_block(square);
    for (int d = 0; d < ndim; d++) symbols[d] = d == ndim - 1 ? d - 1 : d;
    const cubed_block_input in = {square, symbols, chunks};
    const cubed_block_output of = {square->node.dtype,    ndim - 1, square->shape, chunks, symbols,
                                   square->node.dim_names};
    return cubed_blockwise(square->ctx, "diagonal", NULL, 0, &in, 1, &of, 1, out, err);
}

static cubed_status diagonal(const char *name, cubed_array *x, int64_t offset, cubed_array **out,
                             cubed_error *err)
{
    cubed_array *square;
    CB_TRY(square_of(name, x, offset, &square, err));
    cubed_status st = main_diagonal(square, out, err);
    cubed_array_unref(square);
    return st;
}

cubed_status cubed_diagonal(cubed_array *x, int64_t offset, cubed_array **out, cubed_error *err)
{
    return diagonal("diagonal", x, offset, out, err);
}

cubed_status cubed_trace(cubed_array *x, int64_t offset, const cubed_dtype *dtype,
                         cubed_array **out, cubed_error *err)
{
    cubed_array *y;
    CB_TRY(diagonal("trace", x, offset, &y, err));
    cubed_status st = dtype ? cast(&y, *dtype, err) : CUBED_OK;
    if (st == CUBED_OK) st = reduction(CUBED_REDUCE_SUM, &y, (const int[]){-1}, 1, false, err);
    if (st == CUBED_OK && dtype) st = cast(&y, *dtype, err);
    return hand_over(st, y, out);
}

/* --- Products of vectors ----------------------------------------------------------------------------- */

cubed_status cubed_outer(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    cubed_array *column;
    if (x1->node.grid->ndim != 1 || x2->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "outer: arrays of %d and %d dimensions, expected 1",
                       x1->node.grid->ndim, x2->node.grid->ndim);
    CB_TRY(cubed_expand_dims(x1, 1, &column, err));
    cubed_status st = binary(CUBED_OP_MULTIPLY, &column, x2, err);
    return hand_over(st, column, out);
}

/* The element number i of vectors along an axis, which stays. */
static cubed_status component(cubed_array *x, int axis, int64_t i, cubed_array **out,
                              cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[ndim + axis] = (cubed_slice){i, 1, 1, false};
    return cubed_slice_array(x, slices, out, err);
}

/* x1[i] x2[k] - x1[k] x2[i] */
static cubed_status minor(cubed_array *x1, cubed_array *x2, int axis, int64_t i, int64_t k,
                          cubed_array **out, cubed_error *err)
{
    cubed_array *part[4] = {NULL, NULL, NULL, NULL};
    cubed_status st;
    CB_GO(component(x1, axis, i, &part[0], err));
    CB_GO(component(x2, axis, k, &part[1], err));
    CB_GO(component(x1, axis, k, &part[2], err));
    CB_GO(component(x2, axis, i, &part[3], err));
    CB_GO(binary(CUBED_OP_MULTIPLY, &part[0], part[1], err));
    CB_GO(binary(CUBED_OP_MULTIPLY, &part[2], part[3], err));
    CB_GO(binary(CUBED_OP_SUBTRACT, &part[0], part[2], err));
    *out = cubed_array_ref(part[0]);
out:
    for (int p = 0; p < 4; p++) cubed_array_unref(part[p]);
    return st;
}

cubed_status cubed_cross(cubed_array *x1, cubed_array *x2, int axis, cubed_array **out,
                         cubed_error *err)
{
    cubed_array *part[3] = {NULL, NULL, NULL};
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim;
    cubed_status st = CUBED_OK;
    if (axis >= 0 || n1 + axis < 0 || n2 + axis < 0)
        return cb_fail(err, CUBED_E_ARG,
                       "cross: axis %d, expected one of both from the end: -1, ...", axis);
    if (x1->shape[n1 + axis] != 3 || x2->shape[n2 + axis] != 3)
        return cb_fail(err, CUBED_E_ARG,
                       "cross: vectors of %" PRId64 " and %" PRId64 " elements, expected 3",
                       x1->shape[n1 + axis], x2->shape[n2 + axis]);
    for (int i = 0; i < 3; i++) CB_GO(minor(x1, x2, axis, (i + 1) % 3, (i + 2) % 3, &part[i], err));
    CB_GO(cubed_concat(part, 3, part[0]->node.grid->ndim + axis, out, err));
out:
    for (int i = 0; i < 3; i++) cubed_array_unref(part[i]);
    return st;
}
