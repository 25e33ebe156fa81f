/* Linear algebra with factors: triangular systems, least squares, and arrays reshaped to matrices. */
#include <inttypes.h>
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"
#include "dtype/scalar.h"

static cubed_array *without_axis(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_squeeze(x, &axis, 1, &y, s->err), &y);
}

/* --- Triangular systems ------------------------------------------------------------------------------------ */

enum { ROWS = 1, COLUMNS = 2 };

/* Reverses rows, columns, or both. For vectors, COLUMNS reverses the elements. */
static cubed_array *flipped(cb_steps *s, cubed_array *x, unsigned which)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    const int axes[2] = {which & COLUMNS ? -1 : -2, -2}, n = which == (ROWS | COLUMNS) ? 2 : 1;
    return cb_step(s, cubed_flip(x, axes, n, &y, s->err), &y);
}

cubed_status cubed_solve_triangular(cubed_array *a, cubed_array *b, unsigned flags,
                                    uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    static const char name[] = "solve_triangular";
    const bool lower = flags & CUBED_TRIANGLE_LOWER;
    const bool unit_diagonal = flags & CUBED_TRIANGLE_UNIT_DIAGONAL;
    const int ndim = a->node.grid->ndim;
    cubed_array *part = NULL, *eye = NULL, *y = NULL;
    cb_steps s = {.ctx = a->ctx, .err = err};
    cubed_dtype dtype;
    CB_TRY(cb_check_flags(name, flags, CUBED_TRIANGLE_LOWER | CUBED_TRIANGLE_UNIT_DIAGONAL, err));
    CB_TRY(cb_floating(name, a, b, &dtype, err));
    if (ndim < 2 || b->node.grid->ndim == 0 || a->shape[ndim - 2] != a->shape[ndim - 1])
        /* cb_api_solve reports errors in the operands. */
        return cb_api_solve(name, a, b, task_mem, out, err);
    const int64_t n = a->shape[ndim - 1];
    a = cb_step_cast(&s, a, dtype);
    if (s.st == CUBED_OK)
        part = cb_step(&s,
                       lower ? cubed_tril(a, unit_diagonal ? -1 : 0, &part, err)
                             : cubed_triu(a, unit_diagonal ? 1 : 0, &part, err),
                       &part);
    if (s.st == CUBED_OK && unit_diagonal) {
        eye = cb_step(&s, cubed_array_eye(s.ctx, n, n, 0, dtype, NULL, &eye, err), &eye);
        part = cb_step_binary(&s, CUBED_OP_ADD, part, eye);
    }
    /* LU decomposition of an upper triangle needs no pivoting, because elements below the diagonal are 0. So a lower
     * triangle is flipped. */
    const unsigned along = b->node.grid->ndim == 1 ? COLUMNS : ROWS;
    if (lower) part = flipped(&s, part, ROWS | COLUMNS);
    if (lower) b = flipped(&s, b, along);
    if (s.st == CUBED_OK) y = cb_step(&s, cb_api_solve(name, part, b, task_mem, &y, err), &y);
    return cb_steps_end(&s, lower ? flipped(&s, y, along) : y, out);
}

/* --- Least squares ----------------------------------------------------------------------------------------- */

static cubed_array *sum_along_rows(cb_steps *s, cubed_array *x)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = (const int[]){0};
    o.naxes = 1;
    return cb_step_reduce(s, CUBED_REDUCE_SUM, x, &o);
}

/* Returns the solution x of a x = b with the smallest norm. *kept receives true for singular values that count as nonzero. */
static cubed_array *least_norm(cb_steps *s, cubed_array *const svd[3], cubed_array *b, double limit,
                               cubed_array **kept)
{
    cubed_array *u = svd[0], *values = svd[1], *vh = svd[2];
    if (s->st != CUBED_OK) return NULL;
    const cubed_dtype dtype = values->node.dtype;
    cubed_array *largest = cb_step_part(s, values, 0, 0, cb_min_i64(1, values->shape[0]), 1);
    largest = cb_step_binary(s, CUBED_OP_MULTIPLY, largest, cb_step_number(s, values, limit));
    *kept = cb_step_binary(s, CUBED_OP_GREATER, values, largest);
    cubed_array *by = cb_step_op(s, CUBED_OP_WHERE, *kept, values, cb_step_number(s, values, 1));
    by = cb_step_binary(s, CUBED_OP_DIVIDE, cb_step_cast(s, *kept, dtype), by);
    b = cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_column(s, by),
                       cb_step_product(s, cb_step_adjoint(s, u), b));
    return cb_step_product(s, cb_step_adjoint(s, vh), b);
}

/* Replaces infinite elements of b by NaN. As in LAPACK, every linear combination of such elements is then NaN. */
static cubed_array *without_infinities(cb_steps *s, cubed_array *b)
{
    const cubed_kind kind = cubed_dtype_kind(b->node.dtype);
    if (kind != CUBED_KIND_FLOAT && kind != CUBED_KIND_COMPLEX) return b;
    cubed_array *is_infinite = cb_step_unary(s, CUBED_OP_ISINF, b);
    return cb_step_op(s, CUBED_OP_WHERE, is_infinite, cb_step_number(s, b, NAN), b);
}

cubed_status cubed_lstsq(cubed_array *a, cubed_array *b, const double *rcond, uint64_t task_mem,
                         cubed_array **x, cubed_array **residuals, cubed_array **rank,
                         cubed_array **s, cubed_error *err)
{
    const int ndim = a->node.grid->ndim, of_b = b->node.grid->ndim;
    cubed_array *svd[3] = {NULL, NULL, NULL}, *kept = NULL;
    cb_steps steps = {.ctx = a->ctx, .err = err}, *to = &steps;
    if (ndim != 2)
        return cb_fail(err, CUBED_E_LINALG, "lstsq: a has %d dimensions, expected 2", ndim);
    if (of_b != 1 && of_b != 2)
        return cb_fail(err, CUBED_E_LINALG, "lstsq: b has %d dimensions, expected 1 or 2", of_b);
    const int64_t m = a->shape[0], n = a->shape[1];
    if (b->shape[0] != m)
        return cb_fail(err, CUBED_E_LINALG,
                       "lstsq: a has %" PRId64 " rows and b %" PRId64 ", expected equal numbers", m,
                       b->shape[0]);
    cubed_dtype dtype;
    CB_TRY(cb_floating("lstsq", a, b, &dtype, err));
    const double precision = cb_dtype_epsilon(dtype), longest = (double)cb_max_i64(m, n);
    const double limit = !rcond ? longest * precision : *rcond == -1 ? precision : *rcond;
    a = cb_step_cast(to, a, dtype);
    b = cb_step_column(to, cb_step_cast(to, without_infinities(to, b), dtype));
    cb_step_svd(to, a, task_mem, svd);
    cubed_array *found = least_norm(to, svd, b, limit, &kept);
    cubed_array *left = cb_step_binary(to, CUBED_OP_SUBTRACT, b, cb_step_product(to, a, found));
    left = cb_step_unary(to, CUBED_OP_ABS, left);
    left = sum_along_rows(to, cb_step_binary(to, CUBED_OP_MULTIPLY, left, left));
    if (m <= n) left = cb_step_part(to, left, 0, 0, 0, 1);
    cubed_array *const made[] = {of_b == 1 ? without_axis(to, found, 1) : found, left,
                                 cb_step_cast(to, sum_along_rows(to, kept), CUBED_INT32), svd[1]};
    return cb_steps_end_all(to, made, (cubed_array * *const[]){x, residuals, rank, s}, 4);
}

/* --- Arrays as matrices ------------------------------------------------------------------------------------ */

/* Multiplies the extents of n axes from `first` on. */
static cubed_status extent_of(const char *name, const cubed_array *x, int first, int n,
                              int64_t *out, cubed_error *err)
{
    if (!cb_count(n, x->shape + first, out)) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: the matrix has more than 2**63 rows or columns",
                   name);
}

cubed_status cubed_tensorinv(cubed_array *a, int ind, uint64_t task_mem, cubed_array **out,
                             cubed_error *err)
{
    const int ndim = a->node.grid->ndim;
    if (ind < 1) return cb_fail(err, CUBED_E_ARG, "tensorinv: ind is %d, expected 1 or more", ind);
    if (ind > ndim) ind = ndim; /* like NumPy, limit ind to the number of axes */
    int64_t shape[2], exchanged[CUBED_MAX_NDIM];
    CB_TRY(extent_of("tensorinv", a, 0, ind, &shape[0], err));
    CB_TRY(extent_of("tensorinv", a, ind, ndim - ind, &shape[1], err));
    if (shape[0] != shape[1])
        return cb_fail(err, CUBED_E_LINALG,
                       "tensorinv: the matrix is %" PRId64 " x %" PRId64
                       ", expected a square matrix",
                       shape[0], shape[1]);
    for (int d = 0; d < ndim; d++)
        exchanged[d] = a->shape[d < ndim - ind ? d + ind : d - ndim + ind];
    cb_steps s = {.ctx = a->ctx, .err = err};
    cubed_array *x = cb_step_reshaped(&s, a, 2, shape), *y = NULL;
    if (s.st == CUBED_OK) y = cb_step(&s, cubed_inv(x, task_mem, &y, err), &y);
    return cb_steps_end(&s, cb_step_reshaped(&s, y, ndim, exchanged), out);
}

/* Moves the given axes of x after the other axes. */
static cubed_array *moved_behind(cb_steps *s, cubed_array *x, const int *axes, int n)
{
    const int ndim = x->node.grid->ndim;
    int order[CUBED_MAX_NDIM], at = 0;
    uint32_t mask;
    s->st = cb_api_axes("tensorsolve", ndim, axes, n, &mask, s->err);
    if (s->st != CUBED_OK) return NULL;
    for (int d = 0; d < ndim; d++) {
        if (!(mask >> d & 1)) order[at++] = d;
    }
    for (int i = 0; i < n; i++) order[at++] = axes[i] < 0 ? axes[i] + ndim : axes[i];
    return cb_step_permuted(s, x, order);
}

/* Solves linear equations with coefficients x and right-hand sides b. Indices of the first `of_b` axes of x stand for the
 * equations, and indices of its other axes for the unknowns. */
static cubed_array *solved(cb_steps *s, cubed_array *x, cubed_array *b, int of_b, uint64_t task_mem)
{
    const int ndim = x->node.grid->ndim;
    int64_t rows, n, equations;
    cubed_array *y = NULL;
    s->st = extent_of("tensorsolve", x, 0, of_b, &rows, s->err);
    if (s->st == CUBED_OK) s->st = extent_of("tensorsolve", x, of_b, ndim - of_b, &n, s->err);
    if (s->st == CUBED_OK)
        s->st = extent_of("tensorsolve", b, 0, b->node.grid->ndim, &equations, s->err);
    if (s->st == CUBED_OK && (rows != n || equations != n))
        s->st = cb_fail(s->err, CUBED_E_LINALG,
                        "tensorsolve: a is a matrix of %" PRId64 " x %" PRId64 " and b has %" PRId64
                        " elements, expected a square matrix and one element of b for each row",
                        rows, n, equations);
    if (s->st != CUBED_OK) return NULL;
    cubed_array *matrix = cb_step_reshaped(s, x, 2, (const int64_t[]){n, n});
    cubed_array *vector = cb_step_reshaped(s, b, 1, &n);
    if (s->st == CUBED_OK)
        y = cb_step(s, cb_api_solve("tensorsolve", matrix, vector, task_mem, &y, s->err), &y);
    return cb_step_reshaped(s, y, ndim - of_b, x->shape + of_b);
}

cubed_status cubed_tensorsolve(cubed_array *a, cubed_array *b, const int *axes, int naxes,
                               uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = a->ctx, .err = err};
    const int ndim = a->node.grid->ndim, of_b = b->node.grid->ndim;
    cubed_array *x = naxes > 0 ? moved_behind(&s, a, axes, naxes) : a;
    if (s.st == CUBED_OK) x = solved(&s, x, b, of_b < ndim ? of_b : ndim, task_mem);
    return cb_steps_end(&s, x, out);
}
