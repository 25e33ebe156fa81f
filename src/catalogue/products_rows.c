/* Rows of products of arrays, and of functions of polynomials. */
#include <float.h>

#include "base/checked.h"
#include "base/error.h"
#include "cubed/array_api.h"
#include "literal.h"
#include "ops/steps.h"
#include "rows.h"

#define CATEGORY .category = "products"

/* Maximum number of arrays into which an array is split, because each array is part of the plan. */
#define MOST_PARTS 16384

#define OPERAND(NAME, NOTES)                                                                       \
    PARAM_OPERAND(NAME, CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, NOTES)
#define UNNAMED(NAME, NOTES)                                                                       \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY),                                                                \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE, NOTES)          \
    }

static cubed_array *flip(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *out = NULL;
    return x ? cb_step(s, cubed_flip(x, &axis, 1, &out, s->err), &out) : NULL;
}

static cubed_array *expand(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *out = NULL;
    return x ? cb_step(s, cubed_expand_dims(x, axis, &out, s->err), &out) : NULL;
}

static cubed_array *stack(cb_steps *s, cubed_array *const *parts, int n, int axis)
{
    cubed_array *out = NULL;
    return cb_step(s, cubed_stack(parts, n, axis, &out, s->err), &out);
}

static cubed_array *reduce_sum(cb_steps *s, cubed_array *x, const int *axis)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = axis;
    o.naxes = axis != NULL;
    return x ? cb_step_reduce(s, CUBED_REDUCE_SUM, x, &o) : NULL;
}

static cubed_array *multiply(cb_steps *s, cubed_array *a, cubed_array *b)
{
    return cb_step_op(s, CUBED_OP_MULTIPLY, a, b, NULL);
}

static cubed_array *divide(cb_steps *s, cubed_array *a, cubed_array *b)
{
    return cb_step_op(s, CUBED_OP_DIVIDE, a, b, NULL);
}

/* Creates a 0-d number of a type that can represent it. */
static cubed_array *number(cb_steps *s, cubed_dtype dtype, int64_t value)
{
    const cubed_value v = {.kind = CUBED_VALUE_INT, .as.integer = value};
    cubed_scalar scalar;
    if (cubed_number_scalar(&v, dtype, &scalar)) return cb_step_scalar(s, dtype, &scalar);
    s->st = cb_fail(s->err, CUBED_E_TYPE, "type %s cannot represent the number %lld",
                    cubed_dtype_name(dtype), (long long)value);
    return NULL;
}

/* --- Two arrays ---------------------------------------------------------------------------------------- */

static const cubed_param pair_params[] = {OPERAND("a", "The first operand."),
                                          OPERAND("b", "The second operand.")};

enum { DOT, INNER };

/* Sums over the last axis of the first array. In the second array, `dot` sums over the second last axis, and `inner` over the
 * last one. */
static cubed_status sum_products(const cb_call *c, cubed_array *const in[2])
{
    const int last = cubed_array_ndim(in[0]) - 1, n = cubed_array_ndim(in[1]);
    if (last < 0 || n == 0) return cubed_elementwise(CUBED_OP_MULTIPLY, in, 2, c->out, c->err);
    if (c->which == DOT && (n == 1 || (last < 2 && n == 2)))
        return cubed_matmul(in[0], in[1], c->out, c->err);
    const int other = c->which == DOT ? n - 2 : n - 1;
    return cubed_tensordot(in[0], in[1], &last, &other, 1, c->out, c->err);
}

static cubed_status call_dot(const cb_call *c)
{
    cubed_array *in[2] = {NULL, NULL};
    cubed_status st = cb_call_operands(c, 0, 1, false, in);
    if (st == CUBED_OK) st = sum_products(c, in);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

static const cubed_param vdot_params[] = {UNNAMED("x1", "The first operand."),
                                          UNNAMED("x2", "The second operand.")};

static cubed_status call_vdot(const cb_call *c)
{
    const int64_t all = -1;
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    cubed_array *a = cb_step_reshaped(&s, cb_call_array(c, 0), 1, &all);
    cubed_array *b = cb_step_reshaped(&s, cb_call_array(c, 1), 1, &all);
    if (a && cubed_dtype_kind(cubed_array_dtype(a)) == CUBED_KIND_COMPLEX)
        a = cb_step_op(&s, CUBED_OP_CONJ, a, NULL, NULL);
    cubed_array *products = multiply(&s, a, b), *sum = reduce_sum(&s, products, NULL);
    if (sum) sum = cb_step_cast(&s, sum, cubed_array_dtype(products));
    return cb_steps_end(&s, sum, c->out);
}

static const cubed_param kron_params[] = {UNNAMED("a", "The first operand."),
                                          UNNAMED("b", "The second operand.")};

/* Inserts leading axes into x up to ndim axes. Then inserts an axis of extent 1 at every second position, from `first` on. */
static cubed_array *spread(cb_steps *s, cubed_array *x, int ndim, int first)
{
    while (x && cubed_array_ndim(x) < ndim) x = expand(s, x, 0);
    for (int d = 0; d < ndim; d++) x = expand(s, x, 2 * d + first);
    return x;
}

static cubed_status call_kron(const cb_call *c)
{
    cubed_array *a = cb_call_array(c, 0), *b = cb_call_array(c, 1);
    const int na = cubed_array_ndim(a), nb = cubed_array_ndim(b), ndim = na > nb ? na : nb;
    int64_t shape[CUBED_MAX_NDIM];
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    for (int d = 0; d < ndim; d++) {
        const int64_t n = d + na < ndim ? 1 : cubed_array_shape(a)[d + na - ndim];
        const int64_t m = d + nb < ndim ? 1 : cubed_array_shape(b)[d + nb - ndim];
        if (cb_mul_i64(n, m, &shape[d]))
            return cb_fail(
                c->err, CUBED_E_ARG,
                "kron: axis %d of the result would have %lld x %lld elements, more than 2**63", d,
                (long long)n, (long long)m);
    }
    cubed_array *left = spread(&s, a, ndim, 1), *right = spread(&s, b, ndim, 0);
    cubed_array *made = multiply(&s, left, right);
    return cb_steps_end(&s, made ? cb_step_reshaped(&s, made, ndim, shape) : NULL, c->out);
}

/* --- Polynomials --------------------------------------------------------------------------------------- */

static const cubed_param polyval_params[] = {
    PARAM_LIKE("p", "Coefficients, highest power first."),
    PARAM_LIKE("x", "Points."),
};

/* Returns element k of a vector, as a 0-d array. */
static cubed_array *element(cb_steps *s, cubed_array *x, int64_t k)
{
    const cubed_slice one = {k, 1, 1, true};
    cubed_array *out = NULL;
    return cb_step(s, cubed_slice_array(x, &one, &out, s->err), &out);
}

static cubed_status call_polyval(const cb_call *c)
{
    cubed_array *p = cb_call_array(c, 0), *x = cb_call_array(c, 1);
    if (cubed_array_ndim(p) != 1)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG, "polyval: p has %d axes, expected 1",
                                     cubed_array_ndim(p)));
    const int64_t n = cubed_array_shape(p)[0];
    if (n > MOST_PARTS)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "polyval: there are %lld coefficients, expected at most %d",
                                     (long long)n, MOST_PARTS));
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    cubed_array *out = number(&s, cubed_array_dtype(x), 0);
    for (int64_t k = 0; k < n && out; k++)
        out = cb_step_op(&s, CUBED_OP_ADD, multiply(&s, out, x), element(&s, p, k), NULL);
    if (n == 0 && out) out = cb_step_broadcast(&s, out, cubed_array_ndim(x), cubed_array_shape(x));
    return cb_steps_end(&s, out, c->out);
}

static const cubed_param vander_params[] = {
    PARAM_LIKE("x", "Points, in one dimension."),
    {PARAM_IN("N", ACCEPTS(INT) | ACCEPTS(NONE), 0, 0, MOST_PARTS,
              "Number of columns. None: the number of rows.")},
    PARAM_BOOL("increasing", 0, false, "Whether powers increase from left to right."),
};

/* Returns ones in the shape and chunks of x. */
static cubed_array *ones_like(cb_steps *s, cubed_array *x)
{
    const cubed_value one = {.kind = CUBED_VALUE_INT, .as.integer = 1};
    const cubed_dtype dtype = cubed_array_dtype(x);
    cubed_scalar scalar;
    cubed_array *out = NULL;
    if (!cubed_number_scalar(&one, dtype, &scalar)) return number(s, dtype, 1);
    return cb_step(s,
                   cubed_array_full(s->ctx, dtype, cubed_array_ndim(x), cubed_array_shape(x),
                                    cubed_array_chunks(x), &scalar, &out, s->err),
                   &out);
}

/* Returns the powers 0 to n - 1 of a vector's elements, as n columns. `n` must be at least 1. */
static cubed_array *powers(const cb_call *c, cb_steps *s, cubed_array *x, int n)
{
    cubed_array *ones = ones_like(s, x), *table, *out = NULL;
    cubed_array **factors = ones ? cb_call_arrays(c, n) : NULL;
    if (!factors) {
        if (ones) s->st = cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %d powers", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) factors[i] = cubed_array_ref(i == 0 ? ones : x);
    table = stack(s, factors, n, 1);
    cb_call_arrays_free(c, factors, n);
    if (table)
        out = cb_step(s, cubed_cumulative(CUBED_REDUCE_PROD, table, 1, false, &out, c->err), &out);
    return out ? cb_step_cast(s, out, cubed_array_dtype(x)) : NULL;
}

/* Casts a vector to the type to which its type and `with` promote, or to float64 if there is no such type. */
static cubed_array *widen(cb_steps *s, cubed_array *x, cubed_dtype with)
{
    const cubed_dtype wide = cubed_dtype_promote(cubed_array_dtype(x), with);
    return cb_step_cast(s, x, cubed_dtype_is_valid(wide) ? wide : CUBED_FLOAT64);
}

static cubed_status call_vander(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    if (cubed_array_ndim(x) != 1)
        return cb_call_blame(
            c, 0,
            cb_fail(c->err, CUBED_E_ARG, "vander: x has %d axes, expected 1", cubed_array_ndim(x)));
    const int64_t n = cb_call_has(c, 1) ? cb_call_int(c, 1) : cubed_array_shape(x)[0];
    if (n > MOST_PARTS)
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "vander: x has %lld elements, expected at most %d without N",
                                     (long long)n, MOST_PARTS));
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    if (cubed_dtype_kind(cubed_array_dtype(x)) < CUBED_KIND_FLOAT) x = widen(&s, x, CUBED_INT64);
    cubed_array *out = NULL;
    if (x && n == 0)
        out = cb_step_part(&s, stack(&s, &x, 1, 1), 1, 0, 0, 1);
    else if (x)
        out = powers(c, &s, x, (int)n);
    return cb_steps_end(&s, out && n > 0 && !cb_call_bool(c, 2) ? flip(&s, out, 1) : out, c->out);
}

enum { FIT_X, FIT_Y, FIT_DEG, FIT_RCOND, FIT_FULL, FIT_W, FIT_COV };
enum { NO_COVARIANCE, SCALED, UNSCALED };
static const cubed_choice covariances[] = {{"unscaled", UNSCALED}, {NULL, 0}};

static const cubed_param polyfit_params[] = {
    PARAM_LIKE("x", "Points, in one dimension."),
    PARAM_LIKE("y", "Values at the points. If it has two axes, each column is fitted separately."),
    {PARAM_IN("deg", ACCEPTS(INT), CUBED_PARAM_REQUIRED, 0, MOST_PARTS - 1,
              "Degree of the polynomial.")},
    {PARAM("rcond", ACCEPTS(FLOAT) | ACCEPTS(NONE), 0,
           "Singular values below this fraction of the largest one count as 0. None: the number of "
           "points times the machine epsilon of float64.")},
    PARAM_BOOL("full", 0, false,
               "Whether to also return residuals, rank, singular values and `rcond`."),
    PARAM_OPTIONAL_ARRAY("w", 0, "Weight of each point, which multiplies its residual."),
    {PARAM("cov", ACCEPTS(BOOL) | ACCEPTS(CHOICE), 0,
           "Whether to also return the covariance of the coefficients. ``\"unscaled\"`` omits the "
           "factor that makes the reduced chi-square 1."),
     BOOL_DEFAULT(false), .choices = covariances},
    PARAM_TASK_MEM,
};

/* A least-squares fit of values by powers of points. The columns of `left` are the weighted powers divided by `scale`;
 * `right` has the weighted values. */
typedef struct fit {
    int64_t n; /* number of points */
    int order; /* number of coefficients of a polynomial */
    cubed_array *left, *right, *scale;
} fit;

static cubed_status check_points(const cb_call *c)
{
    const cubed_array *x = cb_call_array(c, FIT_X), *y = cb_call_array(c, FIT_Y);
    const cubed_array *w = cb_call_array(c, FIT_W);
    const int nx = cubed_array_ndim(x), ny = cubed_array_ndim(y);
    if (nx != 1 || cubed_array_shape(x)[0] == 0)
        return cb_call_blame(c, FIT_X,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "polyfit: x has %d axes%s, expected a vector of points", nx,
                                     nx == 1 ? " and no elements" : ""));
    const int64_t n = cubed_array_shape(x)[0];
    if ((ny != 1 && ny != 2) || cubed_array_shape(y)[0] != n)
        return cb_call_blame(c, FIT_Y,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "polyfit: y has %d axes and %lld rows, expected 1 or 2 axes "
                                     "and a row for each of %lld points",
                                     ny, (long long)(ny ? cubed_array_shape(y)[0] : 0),
                                     (long long)n));
    if (w && (cubed_array_ndim(w) != 1 || cubed_array_shape(w)[0] != n))
        return cb_call_blame(c, FIT_W,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "polyfit: w has a different shape from x, expected one weight "
                                     "for each of %lld points",
                                     (long long)n));
    return CUBED_OK;
}

static void set_up(const cb_call *c, cb_steps *s, fit *f)
{
    const int front = 0;
    cubed_array *x = widen(s, cb_call_array(c, FIT_X), CUBED_FLOAT64);
    cubed_array *y = widen(s, cb_call_array(c, FIT_Y), CUBED_FLOAT64);
    cubed_array *w = cb_call_array(c, FIT_W);
    f->n = cubed_array_shape(cb_call_array(c, FIT_X))[0];
    f->order = (int)cb_call_int(c, FIT_DEG) + 1;
    f->left = x ? flip(s, powers(c, s, x, f->order), 1) : NULL;
    f->right = y;
    if (w && f->left && y) {
        w = cb_step_cast(s, w, CUBED_FLOAT64);
        cubed_array *column = expand(s, w, 1);
        f->left = multiply(s, f->left, column);
        f->right = multiply(s, y, cubed_array_ndim(y) == 2 ? column : w);
    }
    cubed_array *sums = reduce_sum(s, multiply(s, f->left, f->left), &front);
    f->scale = cb_step_op(s, CUBED_OP_SQRT, sums, NULL, NULL);
    f->left = divide(s, f->left, f->scale);
}

/* Computes the covariance of the coefficients. If y has several columns, the last axis of the result has one covariance for
 * each. */
static cubed_array *covariance(const cb_call *c, cb_steps *s, const fit *f, cubed_array *residuals,
                               int kind)
{
    static const int swapped[2] = {1, 0};
    cubed_array *turned = cb_step_permuted(s, f->left, swapped), *product = NULL, *base = NULL;
    if (turned) product = cb_step(s, cubed_matmul(turned, f->left, &product, c->err), &product);
    if (product) base = cb_step(s, cubed_inv(product, cb_call_task_mem(c), &base, c->err), &base);
    base = divide(s, divide(s, base, expand(s, f->scale, 1)), f->scale);
    if (!base) return NULL;
    cubed_array *factor =
        kind == UNSCALED
            ? cb_step_number(s, base, 1)
            : divide(s, residuals, cb_step_number(s, residuals, (double)(f->n - f->order)));
    const bool several = cubed_array_ndim(cb_call_array(c, FIT_Y)) == 2;
    return multiply(s, several ? expand(s, base, 2) : base, factor);
}

static int covariance_kind(const cb_call *c)
{
    const cubed_value *v = &c->values[FIT_COV];
    if (v->kind == CUBED_VALUE_CHOICE) return cb_call_choice(c, FIT_COV);
    return v->as.boolean ? SCALED : NO_COVARIANCE;
}

static cubed_status call_polyfit(const cb_call *c)
{
    enum { SOLUTION, RESIDUALS, RANK, SINGULAR_VALUES, PARTS };
    const bool full = cb_call_bool(c, FIT_FULL);
    const int kind = full ? NO_COVARIANCE : covariance_kind(c);
    const int n = full ? PARTS : kind == NO_COVARIANCE ? 1 : 2;
    cubed_array *made[PARTS] = {NULL}, **out;
    fit f = {.n = 0};
    CB_TRY(check_points(c));
    const double smallest = DBL_EPSILON * (double)cubed_array_shape(cb_call_array(c, FIT_X))[0];
    const double rcond = cb_call_has(c, FIT_RCOND) ? cb_call_real(c, FIT_RCOND) : smallest;
    cb_steps s = {.ctx = c->ctx, .err = c->err};
    set_up(c, &s, &f);
    if (kind == SCALED && f.n <= f.order && s.st == CUBED_OK)
        s.st = cb_call_blame(c, FIT_COV,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "polyfit: there are %lld points, expected more than %d for a "
                                     "covariance; cov=\"unscaled\" does not need more",
                                     (long long)f.n, f.order));
    if (s.st == CUBED_OK) {
        const cubed_status st =
            cubed_lstsq(f.left, f.right, &rcond, cb_call_task_mem(c), &made[SOLUTION],
                        &made[RESIDUALS], &made[RANK], &made[SINGULAR_VALUES], c->err);
        for (int i = 0; i < PARTS; i++) made[i] = cb_step(&s, st, &made[i]);
    }
    cubed_array *scale = f.scale;
    if (made[SOLUTION] && cubed_array_ndim(made[SOLUTION]) == 2) scale = expand(&s, scale, 1);
    made[SOLUTION] = divide(&s, made[SOLUTION], scale);
    if (kind != NO_COVARIANCE && made[SOLUTION])
        made[1] = covariance(c, &s, &f, made[RESIDUALS], kind);
    if (s.st == CUBED_OK) s.st = cb_call_results(c, n, &out);
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, made);
    cubed_array **const outs[PARTS] = {&out[0], n > 1 ? &out[1] : NULL, full ? &out[2] : NULL,
                                       full ? &out[3] : NULL};
    return cb_steps_end_all(&s, made, outs, n);
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define PROMOTED "The type that both promote to."

static const cb_row rows[] = {
    {{"dot", CATEGORY, .summary = "Products of vectors, matrices and numbers, like numpy.dot.",
      .returns = PROMOTED, PARAMS(pair_params)},
     .call = call_dot,
     .which = DOT},
    {{"inner", CATEGORY,
      .summary =
          "Sums of products over the last axes of two arrays. Numbers multiply all elements.",
      .returns = PROMOTED, PARAMS(pair_params)},
     .call = call_dot,
     .which = INNER},
    {{"kron", CATEGORY,
      .summary = "The Kronecker product: each element of `a` multiplied by the whole of `b`.",
      .returns = PROMOTED, PARAMS(kron_params), .coords = CUBED_COORDS_CUT},
     .call = call_kron},
    {{"polyfit", CATEGORY,
      .summary = "Coefficients of the polynomial that fits points best in the least-squares sense.",
      .returns = "``(deg + 1,)``, or ``(deg + 1, k)`` for k columns of values; with `full` also "
                 "residuals, rank, singular values and `rcond`; with `cov` also ``(deg + 1, deg + "
                 "1)``, or ``(deg + 1, deg + 1, k)``.",
      PARAMS(polyfit_params), .any_results = true, .coords = CUBED_COORDS_CUT},
     .call = call_polyfit},
    {{"polyval", CATEGORY, .summary = "Values of a polynomial at points.",
      .returns = "The shape of `x`, and the type that both promote to.", PARAMS(polyval_params),
      .first_operand = 1},
     .call = call_polyval},
    {{"vander", CATEGORY, .summary = "Powers of points as columns of a matrix.",
      .returns = "``(n, N)``, the type of `x`; int64 for smaller integers and bools.",
      PARAMS(vander_params), .coords = CUBED_COORDS_CUT},
     .call = call_vander},
    {{"vdot", CATEGORY,
      .summary = "The sum of products of two flattened arrays, of which the first is conjugated.",
      .returns = "A number of the type that both promote to.", PARAMS(vdot_params)},
     .call = call_vdot},
};

const cb_rows cb_products_rows = ROWS(rows);
