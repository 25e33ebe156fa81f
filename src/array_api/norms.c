/* Linear algebra composed of other functions: norms, condition numbers, ranks, pseudo-inverses, powers, diagonals. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "dtype/scalar.h"

/* --- Steps ------------------------------------------------------------------------------------------- */

static cubed_reduce_options along(const int *axes, int naxes, bool keepdims)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = axes;
    o.naxes = naxes;
    o.keepdims = keepdims;
    return o;
}

static cubed_array *reduced(cb_steps *s, cubed_reduction what, cubed_array *x, int axis,
                            bool keepdims)
{
    const cubed_reduce_options o = along(&axis, 1, keepdims);
    return cb_step_reduce(s, what, x, &o);
}

static cubed_array *new_axis(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_expand_dims(x, axis, &y, s->err), &y);
}

static cubed_array *singular_values(cb_steps *s, cubed_array *x, uint64_t task_mem)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_svdvals(x, task_mem, &y, s->err), &y);
}

/* --- Norms of vectors -------------------------------------------------------------------------------- */

/* Returns |x| in double precision, in which squares of single precision neither overflow nor lose digits. */
static cubed_array *magnitudes(cb_steps *s, const char *name, cubed_array *x)
{
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    if (kind > CUBED_KIND_COMPLEX && s->st == CUBED_OK)
        s->st = cb_fail(s->err, CUBED_E_TYPE, "%s is not defined for %s", name,
                        cubed_dtype_name(x->node.dtype));
    x = cb_step_cast(s, x, kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64);
    return cb_step_unary(s, CUBED_OP_ABS, x);
}

/* Casts y to float32 if x has single precision. */
static cubed_array *as_precise_as(cb_steps *s, const cubed_array *x, cubed_array *y)
{
    const cubed_dtype dtype = x->node.dtype;
    const bool is_double = cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT || dtype == CUBED_FLOAT64 ||
                           dtype == CUBED_COMPLEX128;
    return is_double ? y : cb_step_cast(s, y, CUBED_FLOAT32);
}

/* Computes (sum of y**ord)**(1/ord). */
static cubed_array *power_sum(cb_steps *s, cubed_array *y, double ord,
                              const cubed_reduce_options *o)
{
    if (ord == 1) return cb_step_reduce(s, CUBED_REDUCE_SUM, y, o);
    y = ord == 2 ? cb_step_unary(s, CUBED_OP_SQUARE, y) : cb_step_by(s, CUBED_OP_POW, y, ord);
    y = cb_step_reduce(s, CUBED_REDUCE_SUM, y, o);
    return ord == 2 ? cb_step_unary(s, CUBED_OP_SQRT, y) : cb_step_by(s, CUBED_OP_POW, y, 1 / ord);
}

static cubed_array *norm_of(cb_steps *s, cubed_array *y, double ord, const cubed_reduce_options *o)
{
    if (isinf(ord)) return cb_step_reduce(s, ord > 0 ? CUBED_REDUCE_MAX : CUBED_REDUCE_MIN, y, o);
    if (ord != 0) return power_sum(s, y, ord, o);
    y = cb_step_reduce(s, CUBED_REDUCE_SUM, cb_step_by(s, CUBED_OP_NOT_EQUAL, y, 0), o);
    return cb_step_cast(s, y, CUBED_FLOAT64);
}

cubed_status cubed_vector_norm(cubed_array *x, double ord, const int *axes, int naxes,
                               bool keepdims, cubed_array **out, cubed_error *err)
{
    if (isnan(ord)) return cb_fail(err, CUBED_E_ARG, "vector_norm: ord is NaN, expected a number");
    cb_steps s = {.ctx = x->ctx, .err = err};
    const cubed_reduce_options o = along(axes, naxes, keepdims);
    cubed_array *y = norm_of(&s, magnitudes(&s, "vector_norm", x), ord, &o);
    return cb_steps_end(&s, as_precise_as(&s, x, y), out);
}

/* --- Norms of matrices ------------------------------------------------------------------------------- */

/* Sums magnitudes along one axis, and returns the largest or smallest of the sums. */
static cubed_array *sums_norm(cb_steps *s, cubed_array *x, int axis, cubed_reduction of_sums)
{
    cubed_array *y = reduced(s, CUBED_REDUCE_SUM, magnitudes(s, "matrix_norm", x), axis, true);
    y = reduced(s, of_sums, y, axis == -1 ? -2 : -1, true);
    return as_precise_as(s, x, y);
}

static cubed_array *singular_norm(cb_steps *s, cubed_array *x, cubed_reduction of_values,
                                  uint64_t task_mem)
{
    return new_axis(s, reduced(s, of_values, singular_values(s, x, task_mem), -1, true), -1);
}

static cubed_array *frobenius_norm(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_vector_norm(x, 2, (const int[]){-2, -1}, 2, true, &y, s->err), &y);
}

/* Computes the norms of matrices in the last two axes. In the result, these axes have extent 1. */
static cubed_array *norm_of_matrices(cb_steps *s, cubed_array *x, cubed_matrix_norm_ord ord,
                                     uint64_t task_mem)
{
    switch (ord) {
    case CUBED_NORM_FRO: return frobenius_norm(s, x);
    case CUBED_NORM_NUC: return singular_norm(s, x, CUBED_REDUCE_SUM, task_mem);
    case CUBED_NORM_1: return sums_norm(s, x, -2, CUBED_REDUCE_MAX);
    case CUBED_NORM_MINUS_1: return sums_norm(s, x, -2, CUBED_REDUCE_MIN);
    case CUBED_NORM_2: return singular_norm(s, x, CUBED_REDUCE_MAX, task_mem);
    case CUBED_NORM_MINUS_2: return singular_norm(s, x, CUBED_REDUCE_MIN, task_mem);
    case CUBED_NORM_INF: return sums_norm(s, x, -1, CUBED_REDUCE_MAX);
    case CUBED_NORM_MINUS_INF: return sums_norm(s, x, -1, CUBED_REDUCE_MIN);
    }
    s->st = cb_fail(s->err, CUBED_E_ARG,
                    "matrix_norm: ord is number %d, expected a cubed_matrix_norm_ord", (int)ord);
    return NULL;
}

static cubed_array *without_matrices(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_squeeze(x, (const int[]){-2, -1}, 2, &y, s->err), &y);
}

static bool has_empty_matrices(const cubed_array *x)
{
    int ndim = x->node.grid->ndim;
    return x->shape[ndim - 2] == 0 || x->shape[ndim - 1] == 0;
}

cubed_status cubed_matrix_norm(cubed_array *x, cubed_matrix_norm_ord ord, bool keepdims,
                               uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    CB_TRY(cb_check_matrices("matrix_norm", x, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = norm_of_matrices(&s, x, ord, task_mem);
    return cb_steps_end(&s, keepdims ? y : without_matrices(&s, y), out);
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

/* Computes the norms of matrices whose axes are `axes`. */
static cubed_status norm_in(cubed_array *x, const int axes[2], cubed_matrix_norm_ord ord,
                            bool keepdims, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cubed_array *last = NULL, *y = NULL;
    cb_steps s = {.ctx = x->ctx, .err = err};
    uint32_t mask;
    CB_TRY(cb_api_axes("norm", x->node.grid->ndim, axes, 2, &mask, err));
    last = cb_step(&s, cubed_moveaxis(x, axes, (const int[]){-2, -1}, 2, &last, err), &last);
    if (last) y = without_matrices(&s, norm_of_matrices(&s, last, ord, task_mem));
    for (int d = 0; d < x->node.grid->ndim && keepdims; d++) {
        if (mask >> d & 1) y = new_axis(&s, y, d);
    }
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_norm(cubed_array *x, const cubed_norm_options *options, uint64_t task_mem,
                        cubed_array **out, cubed_error *err)
{
    cubed_norm_options taken = CUBED_NORM_OPTIONS_INIT;
    const cubed_norm_options *o = &taken;
    CB_TRY(CB_OPTIONS_TAKE("norm", options, &taken, err));
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

/* Divides the largest singular value by the smallest, or the smallest by the largest. As in NumPy, the result is infinite
 * where all singular values are 0. */
static cubed_array *ratio(cb_steps *s, cubed_array *x, bool reverse, uint64_t task_mem)
{
    cubed_array *values = singular_values(s, x, task_mem), *end[2] = {NULL, NULL};
    if (!values) return NULL;
    const int axis = values->node.grid->ndim - 1;
    for (int i = 0; i < 2 && s->st == CUBED_OK; i++) {
        cubed_array *one =
            cb_step_part(s, values, axis, i == 0 ? 0 : values->shape[axis] - 1, 1, 1);
        if (one) end[i] = cb_step(s, cubed_squeeze(one, &axis, 1, &end[i], s->err), &end[i]);
    }
    cubed_array *y = cb_step_binary(s, CUBED_OP_DIVIDE, end[reverse], end[!reverse]);
    return cb_step_op(s, CUBED_OP_WHERE, cb_step_by(s, CUBED_OP_EQUAL, end[0], 0),
                      cb_step_number(s, end[0], HUGE_VAL), y);
}

cubed_status cubed_cond(cubed_array *x, cubed_matrix_norm_ord ord, uint64_t task_mem,
                        cubed_array **out, cubed_error *err)
{
    cubed_array *y = NULL, *inverse = NULL;
    CB_TRY(cb_check_matrices("cond", x, err));
    if (has_empty_matrices(x))
        return cb_fail(err, CUBED_E_LINALG,
                       "cond: the matrices have no elements, expected at least one");
    cubed_dtype dtype;
    CB_TRY(cb_floating("cond", x, NULL, &dtype, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    x = cb_step_cast(&s, x, dtype);
    if (s.st == CUBED_OK && (ord == CUBED_NORM_2 || ord == CUBED_NORM_MINUS_2)) {
        y = ratio(&s, x, ord == CUBED_NORM_MINUS_2, task_mem);
    } else if (s.st == CUBED_OK) {
        inverse = cb_step(&s, cubed_inv(x, task_mem, &inverse, err), &inverse);
        if (inverse)
            y = cb_step_binary(&s, CUBED_OP_MULTIPLY, norm_of_matrices(&s, x, ord, task_mem),
                               norm_of_matrices(&s, inverse, ord, task_mem));
        y = without_matrices(&s, y);
    }
    return cb_steps_end(&s, y, out);
}

/* --- Ranks and pseudo-inverses ----------------------------------------------------------------------- */

/* Returns true for singular values (along the last axis) larger than rtol times the largest one. The default of rtol is the
 * larger number of rows or columns of x, times the epsilon of the values' type. */
static cubed_array *significant(cb_steps *s, const cubed_array *x, cubed_array *values,
                                cubed_array *rtol)
{
    if (s->st != CUBED_OK) return NULL;
    const int ndim = x->node.grid->ndim;
    const double longest = (double)cb_max_i64(x->shape[ndim - 2], x->shape[ndim - 1]);
    cubed_array *limit = reduced(s, CUBED_REDUCE_MAX, values, -1, true);
    limit = rtol ? cb_step_binary(s, CUBED_OP_MULTIPLY, limit, new_axis(s, rtol, -1))
                 : cb_step_by(s, CUBED_OP_MULTIPLY, limit,
                              longest * cb_dtype_epsilon(values->node.dtype));
    return cb_step_binary(s, CUBED_OP_GREATER, values, limit);
}

/* Returns zeros of the given shape, for an empty x. */
static cubed_status zeros(const cubed_array *x, cubed_dtype dtype, int ndim, const int64_t *shape,
                          cubed_array **out, cubed_error *err)
{
    const cubed_scalar zero = {{0}};
    return cubed_array_full(x->ctx, dtype, ndim, shape, NULL, &zero, out, err);
}

cubed_status cubed_matrix_rank(cubed_array *x, cubed_array *rtol, uint64_t task_mem,
                               cubed_array **out, cubed_error *err)
{
    CB_TRY(cb_check_matrices("matrix_rank", x, err));
    if (has_empty_matrices(x))
        return zeros(x, CUBED_INT64, x->node.grid->ndim - 2, x->shape, out, err);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *values = singular_values(&s, x, task_mem);
    cubed_array *count = reduced(&s, CUBED_REDUCE_SUM, significant(&s, x, values, rtol), -1, false);
    return cb_steps_end(&s, count, out);
}

/* Returns the pseudo-inverse of empty matrices, which has the shape of their transpose. */
static cubed_array *empty_inverse(cb_steps *s, const cubed_array *x, cubed_dtype dtype)
{
    const int ndim = x->node.grid->ndim;
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    memcpy(shape, x->shape, sizeof shape);
    shape[ndim - 2] = x->shape[ndim - 1];
    shape[ndim - 1] = x->shape[ndim - 2];
    return cb_step(s, zeros(x, dtype, ndim, shape, &y, s->err), &y);
}

cubed_status cubed_pinv(cubed_array *x, cubed_array *rtol, uint64_t task_mem, cubed_array **out,
                        cubed_error *err)
{
    CB_TRY(cb_check_matrices("pinv", x, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *svd[3];
    cb_step_svd(&s, x, task_mem, svd);
    cubed_array *u = svd[0], *values = svd[1], *vh = svd[2];
    if (u && has_empty_matrices(x))
        return cb_steps_end(&s, empty_inverse(&s, x, u->node.dtype), out);
    cubed_array *inverse =
        cb_step_op(&s, CUBED_OP_WHERE, significant(&s, x, values, rtol),
                   cb_step_unary(&s, CUBED_OP_RECIPROCAL, values), cb_step_number(&s, values, 0));
    u = cb_step_binary(&s, CUBED_OP_MULTIPLY, cb_step_adjoint(&s, u), new_axis(&s, inverse, -1));
    return cb_steps_end(&s, cb_step_product(&s, cb_step_adjoint(&s, vh), u), out);
}

/* --- Powers ------------------------------------------------------------------------------------------ */

static cubed_array *identities(cb_steps *s, cubed_array *x)
{
    const int ndim = x->node.grid->ndim;
    const int64_t n = x->shape[ndim - 1];
    cubed_array *eye = NULL;
    eye = cb_step(
        s, cubed_array_eye(x->ctx, n, n, 0, x->node.dtype, x->chunks + ndim - 2, &eye, s->err),
        &eye);
    return cb_step_broadcast(s, eye, ndim, x->shape);
}

cubed_status cubed_matrix_power(cubed_array *x, int64_t n, uint64_t task_mem, cubed_array **out,
                                cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    cubed_array *square = x, *inverse = NULL, *power = NULL;
    CB_TRY(cb_check_matrices("matrix_power", x, err));
    if (x->shape[ndim - 2] != x->shape[ndim - 1])
        return cb_fail(err, CUBED_E_LINALG,
                       "matrix_power: the matrices are %" PRId64 " x %" PRId64
                       ", expected square matrices",
                       x->shape[ndim - 2], x->shape[ndim - 1]);
    cb_steps s = {.ctx = x->ctx, .err = err};
    if (n == 0) return cb_steps_end(&s, identities(&s, x), out);
    if (n < 0) square = cb_step(&s, cubed_inv(x, task_mem, &inverse, err), &inverse);
    for (uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n; left && s.st == CUBED_OK; left >>= 1) {
        if (left & 1) power = power ? cb_step_product(&s, power, square) : square;
        if (left > 1) square = cb_step_product(&s, square, square);
    }
    return cb_steps_end(&s, power, out);
}

/* --- Diagonals --------------------------------------------------------------------------------------- */

/* Gets the square part of x whose main diagonal is the requested diagonal. */
static cubed_status square_of(const char *name, cubed_array *x, int64_t offset, cubed_array **out,
                              cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int ndim = x->node.grid->ndim;
    CB_TRY(cb_check_matrices(name, x, err));
    int64_t rows = x->shape[ndim - 2], columns = x->shape[ndim - 1];
    int64_t top = cb_min_i64(rows, offset < -rows ? rows : cb_max_i64(0, -offset));
    int64_t left = cb_min_i64(columns, cb_max_i64(0, offset));
    int64_t length = cb_min_i64(rows - top, columns - left);
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[ndim - 2] = (cubed_slice){top, length, 1, false};
    slices[ndim - 1] = (cubed_slice){left, length, 1, false};
    return cubed_slice_array(x, slices, out, err);
}

/* Returns true if the axis has one chunk, or begins with a chunk of full length. */
static bool begins_with_chunk(const cb_axis *a)
{
    return a->starts ? a->n == 1 : a->first == a->chunk || a->extent <= a->first;
}

/* Returns a block length along the diagonal of the square such that a block reads only chunks on the diagonal. It is the chunk
 * length of the axis with longer chunks, or of the axis that begins with a whole chunk. CB_API_BLOCK_BYTES limits the block; then
 * its length is a multiple of the other axis's chunk length. */
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

/* Extracts the main diagonals of square matrices, block by block. */
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
    const cubed_block_operation operation = {
        .function = "diagonal", .inputs = &in, .nin = 1, .outputs = &of, .nout = 1};
    return cubed_blockwise(square->ctx, &operation, out, err);
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
    cubed_array *y = NULL;
    cb_steps s = {.ctx = x->ctx, .err = err};
    y = cb_step(&s, diagonal("trace", x, offset, &y, err), &y);
    if (dtype) y = cb_step_cast(&s, y, *dtype);
    y = reduced(&s, CUBED_REDUCE_SUM, y, -1, false);
    return cb_steps_end(&s, dtype ? cb_step_cast(&s, y, *dtype) : y, out);
}

/* --- Products of vectors ----------------------------------------------------------------------------- */

cubed_status cubed_outer(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    if (x1->node.grid->ndim != 1 || x2->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG,
                       "outer: the arrays have %d and %d dimensions, expected 1 and 1",
                       x1->node.grid->ndim, x2->node.grid->ndim);
    cb_steps s = {.ctx = x1->ctx, .err = err};
    return cb_steps_end(&s, cb_step_binary(&s, CUBED_OP_MULTIPLY, cb_step_column(&s, x1), x2), out);
}

/* Multiplies element i of each vector of x1 by element k of the corresponding vector of x2. In the result, the axis of the
 * vectors has extent 1. */
static cubed_array *product_of(cb_steps *s, cubed_array *x1, int64_t i, cubed_array *x2, int64_t k,
                               int axis)
{
    return cb_step_binary(s, CUBED_OP_MULTIPLY,
                          cb_step_part(s, x1, x1->node.grid->ndim + axis, i, 1, 1),
                          cb_step_part(s, x2, x2->node.grid->ndim + axis, k, 1, 1));
}

cubed_status cubed_cross(cubed_array *x1, cubed_array *x2, int axis, cubed_array **out,
                         cubed_error *err)
{
    cubed_array *part[3] = {NULL, NULL, NULL}, *y = NULL;
    int n1 = x1->node.grid->ndim, n2 = x2->node.grid->ndim;
    if (axis >= 0 || n1 + axis < 0 || n2 + axis < 0)
        return cb_fail(
            err, CUBED_E_AXIS,
            "cross: axis %d, expected an axis of both arrays, counted from the end: -1, ...", axis);
    if (x1->shape[n1 + axis] != 3 || x2->shape[n2 + axis] != 3)
        return cb_fail(err, CUBED_E_ARG,
                       "cross: the vectors have %" PRId64 " and %" PRId64
                       " elements, expected 3 and 3",
                       x1->shape[n1 + axis], x2->shape[n2 + axis]);
    cb_steps s = {.ctx = x1->ctx, .err = err};
    for (int i = 0; i < 3; i++) {
        const int64_t k = (i + 1) % 3, l = (i + 2) % 3;
        part[i] = cb_step_binary(&s, CUBED_OP_SUBTRACT, product_of(&s, x1, k, x2, l, axis),
                                 product_of(&s, x1, l, x2, k, axis));
    }
    if (s.st == CUBED_OK) y = cb_step_concat(&s, part, 3, part[0]->node.grid->ndim + axis);
    return cb_steps_end(&s, y, out);
}
