/* Empirical orthogonal functions: the singular vectors of a series of weighted fields. */
#include <inttypes.h>
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "base/error.h"
#include "cubed/fields.h"

/* A matrix with a row for each time and a column for each cell. */
typedef struct cells {
    cb_steps *s;
    cubed_array *rows;    /* the elements; 0 in columns with a missing element */
    cubed_array *missing; /* bool for each column: it has a missing element */
    /* square root of each column's share of the total weight; NULL if all are 1 */
    cubed_array *scale;
    int ndim; /* number of dimensions of a field */
    int64_t shape[CUBED_MAX_NDIM], n;
} cells;

static cubed_array *nan_of(cb_steps *s, const cubed_array *beside)
{
    return cb_step_number(s, beside, (double)NAN);
}

static cubed_array *along(cb_steps *s, cubed_reduction which, cubed_array *x, int axis)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = (const int[]){axis};
    o.naxes = 1;
    return x ? cb_step_reduce(s, which, x, &o) : NULL;
}

/* Creates the matrix c->rows of x, which has a floating-point type and times along `axis`. Does nothing if x is NULL. */
static void flatten(cells *c, cubed_array *x, int axis)
{
    if (!x) return;
    const int64_t times = x->shape[axis];
    int order[CUBED_MAX_NDIM];
    order[0] = axis;
    c->n = 1;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (d == axis) continue;
        order[c->ndim + 1] = d;
        c->shape[c->ndim++] = x->shape[d];
        c->n *= x->shape[d];
    }
    cubed_array *rows = cb_step_permuted(c->s, x, order);
    rows = rows ? cb_step_reshaped(c->s, rows, 2, (const int64_t[]){times, c->n}) : NULL;
    cubed_array *is_nan = cb_step_op(c->s, CUBED_OP_ISNAN, rows, NULL, NULL);
    c->missing = along(c->s, CUBED_REDUCE_ANY, is_nan, 0);
    c->rows = cb_step_op(c->s, CUBED_OP_WHERE, c->missing, cb_step_number(c->s, rows, 0), rows);
}

/* Multiplies the columns by the square roots of their shares of the total weight. */
static void weigh(cells *c, cubed_array *weights, cubed_dtype dtype)
{
    if (!weights || !c->rows) return;
    cubed_array *w = cb_step_broadcast(c->s, cb_step_cast(c->s, weights, dtype), c->ndim, c->shape);
    w = w ? cb_step_reshaped(c->s, w, 1, &c->n) : NULL;
    cubed_array *there =
        cb_step_op(c->s, CUBED_OP_WHERE, c->missing, cb_step_number(c->s, w, 0), w);
    cubed_array *sum = along(c->s, CUBED_REDUCE_SUM, there, 0);
    w = cb_step_op(c->s, CUBED_OP_DIVIDE, w, sum, NULL);
    c->scale = cb_step_op(c->s, CUBED_OP_SQRT, w, NULL, NULL);
    cubed_array *scaled = cb_step_op(c->s, CUBED_OP_MULTIPLY, c->rows, c->scale, NULL);
    c->rows = cb_step_op(c->s, CUBED_OP_WHERE, c->missing, cb_step_number(c->s, scaled, 0), scaled);
}

/* Returns 1 for each row whose sum is not negative, else -1. */
static cubed_array *signs_of(cb_steps *s, cubed_array *rows)
{
    cubed_array *sums = along(s, CUBED_REDUCE_SUM, rows, 1);
    cubed_array *is_low = cb_step_op(s, CUBED_OP_LESS, sums, cb_step_number(s, sums, 0), NULL);
    return cb_step_op(s, CUBED_OP_WHERE, is_low, cb_step_number(s, sums, -1),
                      cb_step_number(s, sums, 1));
}

/* Returns the first n patterns, which are rows of vh, in the shape of a field. */
static cubed_array *patterns_of(const cells *c, cubed_array *vh, int64_t n)
{
    int64_t shape[CUBED_MAX_NDIM] = {n};
    for (int d = 0; d < c->ndim; d++) shape[d + 1] = c->shape[d];
    if (c->scale) vh = cb_step_op(c->s, CUBED_OP_DIVIDE, vh, c->scale, NULL);
    vh = cb_step_op(c->s, CUBED_OP_WHERE, c->missing, nan_of(c->s, vh), vh);
    return vh ? cb_step_reshaped(c->s, vh, c->ndim + 1, shape) : NULL;
}

static cubed_status check(const cubed_array *x, const cubed_array *weights, int64_t n, int *axis,
                          cubed_dtype *dtype, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (*axis < -ndim || *axis >= ndim || ndim < 2)
        return cb_fail(err, CUBED_E_ARG,
                       "eofs: axis is %d of %d axes, expected one of at least two axes", *axis,
                       ndim);
    *axis += *axis < 0 ? ndim : 0;
    CB_TRY(cb_floating("eofs", x, weights, dtype, err));
    if (cubed_dtype_kind(*dtype) == CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "eofs: x or weights are complex, expected real numbers");
    const int64_t times = x->shape[*axis];
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= d == *axis ? 1 : x->shape[d];
    const int64_t least = times < size ? times : size;
    if (n < 1 || n > least)
        return cb_fail(err, CUBED_E_ARG,
                       "eofs: n is %" PRId64 ", expected 1 to %" PRId64
                       ", the smaller of the numbers of times and of cells",
                       n, least);
    return CUBED_OK;
}

cubed_status cubed_eofs(cubed_array *x, cubed_array *weights, int64_t n, int axis,
                        uint64_t task_mem, cubed_array **patterns, cubed_array **variances,
                        cubed_array **coefficients, cubed_error *err)
{
    cubed_dtype dtype;
    CB_TRY(check(x, weights, n, &axis, &dtype, err));
    cb_steps steps = {.ctx = x->ctx, .err = err}, *s = &steps;
    cells c = {.s = s};
    cubed_array *svd[3] = {NULL, NULL, NULL}, *made[3];
    const double times = (double)x->shape[axis];
    flatten(&c, cb_step_cast(s, x, dtype), axis);
    weigh(&c, weights, dtype);
    cb_step_svd(s, c.rows, task_mem, svd);
    cubed_array *u = cb_step_part(s, svd[0], 1, 0, n, 1),
                *values = cb_step_part(s, svd[1], 0, 0, n, 1);
    cubed_array *vh = cb_step_part(s, svd[2], 0, 0, n, 1), *signs = signs_of(s, vh);
    cubed_array *square = cb_step_op(s, CUBED_OP_SQUARE, values, NULL, NULL);
    vh = cb_step_op(s, CUBED_OP_MULTIPLY, vh, cb_step_column(s, signs), NULL);
    made[0] = patterns_of(&c, vh, n);
    made[1] = cb_step_op(s, CUBED_OP_DIVIDE, square, cb_step_number(s, square, times), NULL);
    made[2] = cb_step_op(s, CUBED_OP_MULTIPLY, u,
                         cb_step_op(s, CUBED_OP_MULTIPLY, values, signs, NULL), NULL);
    return cb_steps_end_all(s, made, (cubed_array * *const[]){patterns, variances, coefficients},
                            3);
}
