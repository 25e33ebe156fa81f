/* Functions that use differences of adjacent elements: gradients, integrals, and unwrapping of angles. */
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "dtype/scalar.h"
#include "ops/steps.h"

static cubed_array *times(cb_steps *s, double number, cubed_array *x)
{
    return cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_number(s, x, number), x);
}

static cubed_array *differences(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *y = NULL;
    if (!x || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_diff(x, axis, 1, &y, s->err), &y);
}

/* Reshapes a vector to ndim - axis dimensions, so that it broadcasts along `axis` of arrays with ndim dimensions. */
static cubed_array *lined(cb_steps *s, cubed_array *x, int ndim, int axis)
{
    int64_t shape[CUBED_MAX_NDIM];
    if (!x) return NULL;
    for (int d = axis; d < ndim; d++) shape[d - axis] = d == axis ? x->shape[0] : 1;
    return ndim - axis == 1 ? x : cb_step_reshaped(s, x, ndim - axis, shape);
}

/* --- Prepended and appended elements ------------------------------------------------------------------------ */

/* Casts to x's type the elements that ediff1d prepends or appends, and flattens them. */
static cubed_status more(cb_steps *s, const char *name, const cubed_array *x, cubed_array *y,
                         cubed_array **out)
{
    char a[CUBED_DTYPE_TEXT_CAP], b[CUBED_DTYPE_TEXT_CAP];
    const cubed_dtype from = y->node.dtype, to = x->node.dtype;
    const bool is_time = cubed_dtype_kind(from) == CUBED_KIND_TIME
                             ? cubed_dtype_family(from) == cubed_dtype_family(to)
                             : cubed_dtype_kind(from) <= CUBED_KIND_UINT &&
                                   cubed_dtype_family(to) == CUBED_TIMEDELTA64;
    cubed_array *flat = NULL;
    if (!is_time && !cubed_dtype_can_cast(from, to))
        return s->st = cb_fail(s->err, CUBED_E_TYPE,
                               "ediff1d: %s has type %s, which cannot be cast to %s", name,
                               cubed_dtype_text(from, a), cubed_dtype_text(to, b));
    y = cb_step(s, cb_api_flatten(y, &flat, s->err), &flat);
    *out = y ? cb_step_cast(s, y, to) : NULL;
    return s->st;
}

cubed_status cubed_ediff1d(cubed_array *x, cubed_array *to_begin, cubed_array *to_end,
                           cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *parts[3], *flat = NULL;
    int n = 0;
    flat = cb_step(&s, cb_api_flatten(x, &flat, err), &flat);
    if (flat && to_begin && more(&s, "to_begin", x, to_begin, &parts[n]) == CUBED_OK) n++;
    parts[n] = differences(&s, flat, 0);
    n++;
    if (s.st == CUBED_OK && to_end && more(&s, "to_end", x, to_end, &parts[n]) == CUBED_OK) n++;
    return cb_steps_end(&s, cb_step_concat(&s, parts, n, 0), out);
}

/* --- Integrals ---------------------------------------------------------------------------------------------- */

/* Returns the distances between adjacent points along the axis. The result broadcasts with the differences of y. */
static cubed_array *distances(cb_steps *s, const cubed_array *y, cubed_array *x, int axis)
{
    const int ndim = y->node.grid->ndim, own = x->node.grid->ndim;
    if (own == 0) {
        s->st = cb_fail(s->err, CUBED_E_ARG,
                        "trapezoid: x has no dimensions, expected one, or those of y");
        return NULL;
    }
    cubed_array *d = differences(s, x, own == ndim ? axis : own - 1);
    return own == 1 ? lined(s, d, ndim, axis) : d;
}

cubed_status cubed_trapezoid(cubed_array *y, cubed_array *x, cubed_array *dx, int axis,
                             cubed_array **out, cubed_error *err)
{
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    CB_TRY(cb_api_axis("trapezoid", y->node.grid->ndim, &axis, err));
    cb_steps s = {.ctx = y->ctx, .err = err};
    const int64_t n = y->shape[axis], rest = n > 0 ? n - 1 : 0;
    cubed_array *d = x ? distances(&s, y, x, axis) : dx ? dx : cb_step_number(&s, y, 1);
    cubed_array *middle =
        cb_step_binary(&s, CUBED_OP_ADD, cb_step_part(&s, y, axis, n - rest, rest, 1),
                       cb_step_part(&s, y, axis, 0, rest, 1));
    middle = cb_step_binary(&s, CUBED_OP_MULTIPLY, d, middle);
    middle = cb_step_binary(&s, CUBED_OP_DIVIDE, middle, cb_step_number(&s, middle, 2));
    o.axes = &axis;
    o.naxes = 1;
    return cb_steps_end(&s, cb_step_reduce(&s, CUBED_REDUCE_SUM, middle, &o), out);
}

/* --- Gradients ---------------------------------------------------------------------------------------------- */

typedef struct line {
    cb_steps *s;
    cubed_array *f;
    int axis;
} line;

static cubed_array *part(const line *l, int64_t start, int64_t n)
{
    return cb_step_part(l->s, l->f, l->axis, start, n, 1);
}

/* Computes weighted sums of three adjacent elements, at n positions from `start` on. The sign of term number `minus` is
 * negative. */
static cubed_array *weighed(const line *l, int64_t start, cubed_array *const w[3], int minus,
                            int64_t n)
{
    cubed_array *y = NULL;
    for (int i = 0; i < 3; i++) {
        cubed_array *term = cb_step_binary(l->s, CUBED_OP_MULTIPLY, w[i], part(l, start + i, n));
        y = i == 0 ? term
                   : cb_step_binary(l->s, i == minus ? CUBED_OP_SUBTRACT : CUBED_OP_ADD, y, term);
    }
    return y;
}

static cubed_array *even_end(const line *l, bool is_last, cubed_array *h, int edge_order)
{
    static const double weights[2][3] = {{-1.5, 2, 0.5}, {0.5, 2, 1.5}};
    const int64_t n = l->f->shape[l->axis], at = is_last ? n - 1 - edge_order : 0;
    cubed_array *y, *w[3];
    if (edge_order == 1) {
        y = cb_step_binary(l->s, CUBED_OP_SUBTRACT, part(l, at + 1, 1), part(l, at, 1));
    } else {
        for (int i = 0; i < 3; i++) w[i] = cb_step_number(l->s, l->f, weights[is_last][i]);
        y = weighed(l, at, w, is_last ? 1 : 2, 1);
    }
    return cb_step_binary(l->s, CUBED_OP_DIVIDE, y, h);
}

static cubed_array *even(const line *l, cubed_array *h, int edge_order)
{
    const int64_t n = l->f->shape[l->axis];
    cubed_array *inner =
        cb_step_binary(l->s, CUBED_OP_SUBTRACT, part(l, 2, n - 2), part(l, 0, n - 2));
    inner = cb_step_binary(l->s, CUBED_OP_DIVIDE, inner, times(l->s, 2, h));
    cubed_array *parts[] = {even_end(l, false, h, edge_order), inner,
                            even_end(l, true, h, edge_order)};
    return cb_step_concat(l->s, parts, 3, l->axis);
}

/* Returns true if coordinates in memory are evenly spaced, and sets *distance. */
static bool are_even(const cubed_array *x, double *distance)
{
    const cb_node *node = &x->node;
    const cubed_dtype dtype = node->dtype;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const bool is_whole = kind != CUBED_KIND_FLOAT && dtype != CUBED_UINT64;
    const cubed_dtype work = is_whole ? CUBED_INT64 : CUBED_FLOAT64;
    cubed_scalar before = {0}, v = {0}, here;
    if (node->kind != CB_NODE_MEMORY || node->grid->ndim != 1 ||
        (kind > CUBED_KIND_FLOAT && kind != CUBED_KIND_TIME))
        return false;
    for (int64_t i = 0; i < x->shape[0]; i++, before = here) {
        memcpy(&v, (const char *)node->data + i * node->strides[0], cubed_dtype_size(dtype));
        if (kind == CUBED_KIND_TIME)
            here = v;
        else
            cb_scalar_cast(dtype, &v, work, &here);
        if (i == 0) continue;
        double d = is_whole ? (double)(int64_t)((uint64_t)here.i64 - (uint64_t)before.i64)
                            : here.f64 - before.f64;
        if (kind == CUBED_KIND_FLOAT) { /* rounds to the coordinates' type */
            cubed_scalar rounded = cb_scalar_from_double(dtype, d), wide;
            cb_scalar_cast(dtype, &rounded, CUBED_FLOAT64, &wide);
            d = wide.f64;
        }
        if (i == 1) *distance = d;
        if (d != *distance) return false;
    }
    return x->shape[0] > 1;
}

/* Returns the type of differences of dates or time differences. */
static cubed_dtype span_type(cb_steps *s, cubed_dtype dtype)
{
    cubed_unit unit;
    int multiple;
    cubed_dtype span = dtype;
    cubed_dtype_get_time(dtype, &unit, &multiple);
    if (s->st == CUBED_OK)
        s->st = cubed_dtype_time(CUBED_TIMEDELTA64, unit, multiple, &span, s->err);
    return span;
}

/* Returns the distance of evenly spaced coordinates, by which differences are divided. For dates, the distance has a unit. */
static cubed_array *even_distance(cb_steps *s, const cubed_array *f, const cubed_array *x,
                                  double distance)
{
    const cubed_scalar v = {.i64 = (int64_t)distance};
    if (cubed_dtype_family(x->node.dtype) != CUBED_DATETIME64)
        return cb_step_number(s, f, distance);
    return cb_step_scalar(s, span_type(s, x->node.dtype), &v);
}

/* Computes distances between adjacent coordinates along the axis, in a type that does not wrap around. Like NumPy, converts time
 * differences to numbers. */
static cubed_array *spacings(const line *l, cubed_array *x)
{
    const cubed_dtype dtype = x->node.dtype;
    const bool whole = cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT ||
                       cubed_dtype_family(dtype) == CUBED_TIMEDELTA64;
    if (whole) x = cb_step_cast(l->s, x, dtype == CUBED_UINT64 ? CUBED_FLOAT64 : CUBED_INT64);
    cubed_array *d = differences(l->s, x, 0);
    if (d && whole) d = cb_step_cast(l->s, d, CUBED_FLOAT64);
    return lined(l->s, d, l->f->node.grid->ndim, l->axis);
}

/* Sets the weights of three adjacent elements, at distances a and b, in the derivative of the parabola through them at element
 * number `at`. The weights are for `weighed`: the sign of weight number 2 (if `at` is 0) or 1 (if `at` is 2) is reversed. */
static void parabola(cb_steps *s, cubed_array *a, cubed_array *b, int at, cubed_array *w[3])
{
    const cubed_op add = CUBED_OP_ADD, by = CUBED_OP_DIVIDE, mul = CUBED_OP_MULTIPLY;
    cubed_array *sum = cb_step_binary(s, add, a, b), *top[3];
    if (at == 0) {
        top[0] = cb_step_unary(s, CUBED_OP_NEGATIVE, cb_step_binary(s, add, times(s, 2, a), b));
        top[1] = sum;
        top[2] = a;
    } else if (at == 1) {
        top[0] = cb_step_unary(s, CUBED_OP_NEGATIVE, b);
        top[1] = cb_step_binary(s, CUBED_OP_SUBTRACT, b, a);
        top[2] = a;
    } else {
        top[0] = b;
        top[1] = sum;
        top[2] = cb_step_binary(s, add, times(s, 2, b), a);
    }
    w[0] = cb_step_binary(s, by, top[0], cb_step_binary(s, mul, a, sum));
    w[1] = cb_step_binary(s, by, top[1], cb_step_binary(s, mul, a, b));
    w[2] = cb_step_binary(s, by, top[2], cb_step_binary(s, mul, b, sum));
}

static cubed_array *uneven(const line *l, cubed_array *x, int edge_order)
{
    static const int minus[] = {2, -1, 1};
    const int64_t n = l->f->shape[l->axis];
    cubed_array *d = spacings(l, x), *w[3], *parts[3];
    if (!d) return NULL;
    /* the first element, the elements in the middle, the last element */
    for (int i = 0; i < 3; i++) {
        const int64_t first = i == 2 ? n - 1 - edge_order : 0, many = i == 1 ? n - 2 : 1;
        cubed_array *h = cb_step_part(l->s, d, 0, first, many, 1);
        if (i != 1 && edge_order == 1) {
            cubed_array *y =
                cb_step_binary(l->s, CUBED_OP_SUBTRACT, part(l, first + 1, 1), part(l, first, 1));
            parts[i] = cb_step_binary(l->s, CUBED_OP_DIVIDE, y, h);
        } else {
            parabola(l->s, h, cb_step_part(l->s, d, 0, first + 1, many, 1), i, w);
            parts[i] = weighed(l, first, w, minus[i], many);
        }
    }
    return cb_step_concat(l->s, parts, 3, l->axis);
}

static cubed_status check_gradient(const cubed_array *f, const cubed_array *spacing, int axis,
                                   int edge_order, cubed_error *err)
{
    const int64_t n = f->shape[axis];
    if (edge_order != 1 && edge_order != 2)
        return cb_fail(err, CUBED_E_ARG, "gradient: edge_order is %d, expected 1 or 2", edge_order);
    if (n < edge_order + 1)
        return cb_fail(err, CUBED_E_ARG,
                       "gradient: axis %d has %lld elements, expected at least %d", axis,
                       (long long)n, edge_order + 1);
    if (!spacing || spacing->node.grid->ndim == 0) return CUBED_OK;
    if (spacing->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG,
                       "gradient: coordinates of axis %d have %d dimensions, expected 1", axis,
                       spacing->node.grid->ndim);
    if (spacing->shape[0] != n)
        return cb_fail(err, CUBED_E_ARG,
                       "gradient: %lld coordinates are given for axis %d, expected one for each of "
                       "its %lld elements",
                       (long long)spacing->shape[0], axis, (long long)n);
    return CUBED_OK;
}

cubed_status cubed_gradient(cubed_array *f, cubed_array *spacing, int axis, int edge_order,
                            cubed_array **out, cubed_error *err)
{
    CB_TRY(cb_api_axis("gradient", f->node.grid->ndim, &axis, err));
    CB_TRY(check_gradient(f, spacing, axis, edge_order, err));
    cb_steps s = {.ctx = f->ctx, .err = err};
    if (cubed_dtype_kind(f->node.dtype) < CUBED_KIND_FLOAT)
        f = cb_step_cast(&s, f, CUBED_FLOAT64);
    else if (cubed_dtype_kind(f->node.dtype) == CUBED_KIND_TIME)
        f = cb_step_cast(&s, f, span_type(&s, f->node.dtype));
    if (!f) return cb_steps_end(&s, NULL, out);
    const line l = {&s, f, axis};
    const cubed_dtype dtype = f->node.dtype;
    double distance = 0;
    if (!spacing)
        spacing = cb_step_number(&s, f, 1);
    else if (are_even(spacing, &distance))
        spacing = even_distance(&s, f, spacing, distance);
    cubed_array *y = spacing && spacing->node.grid->ndim ? uneven(&l, spacing, edge_order)
                                                         : even(&l, spacing, edge_order);
    if (y && cubed_dtype_kind(y->node.dtype) != CUBED_KIND_TIME) {
        /* quotients of times have no unit, but the result has the type of f */
        y = cb_step_cast(&s, y, dtype);
    }
    return cb_steps_end(&s, y, out);
}

/* --- Unwrapped angles ---------------------------------------------------------------------------------------- */

static cubed_status number_in(const char *name, const cubed_array *x, double *out, cubed_error *err)
{
    cubed_scalar v;
    if (x->node.kind != CB_NODE_FULL || x->node.grid->ndim > 0 ||
        cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_ARG, "unwrap: %s is not a real number", name);
    cb_scalar_cast(x->node.dtype, &x->node.value, CUBED_FLOAT64, &v);
    *out = v.f64;
    return CUBED_OK;
}

static cubed_array *number_like(cb_steps *s, const cubed_array *x, double value)
{
    const cubed_scalar v = cb_scalar_from_double(x->node.dtype, value);
    return cb_step_scalar(s, x->node.dtype, &v);
}

/* Subtracts whole periods from the differences of adjacent elements, so that each difference is from minus half a period to half
 * a period. Computes in integers if `whole` is set. */
static cubed_array *turned(cb_steps *s, const cubed_array *a, cubed_array *step,
                           cubed_array *period, double turn, bool whole)
{
    const double half = whole ? floor(turn / 2) : turn / 2;
    cubed_array *h = number_like(s, period, half);
    cubed_array *y =
        cb_step_binary(s, CUBED_OP_REMAINDER, cb_step_binary(s, CUBED_OP_ADD, step, h), period);
    y = cb_step_binary(s, CUBED_OP_SUBTRACT, y, h);
    if (whole && half * 2 != turn) return y;
    /* a difference of exactly half a period keeps its sign */
    cubed_array *ahead = cb_step_binary(s, CUBED_OP_EQUAL, y, number_like(s, period, -half));
    ahead = cb_step_binary(s, CUBED_OP_LOGICAL_AND, ahead,
                           cb_step_binary(s, CUBED_OP_GREATER, step, number_like(s, period, 0)));
    return cb_step_op(s, CUBED_OP_WHERE, ahead, number_like(s, a, half), y);
}

cubed_status cubed_unwrap(cubed_array *p, cubed_array *period, cubed_array *discont, int axis,
                          cubed_array **out, cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(p->node.dtype);
    double turn, least = 0;
    char text[CUBED_DTYPE_TEXT_CAP];
    CB_TRY(cb_api_axis("unwrap", p->node.grid->ndim, &axis, err));
    CB_TRY(number_in("period", period, &turn, err));
    if (discont) CB_TRY(number_in("discont", discont, &least, err));
    if (kind > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "unwrap is not defined for %s, expected real numbers",
                       cubed_dtype_text(p->node.dtype, text));
    const bool is_whole = (kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) &&
                          cubed_dtype_kind(period->node.dtype) < CUBED_KIND_FLOAT;
    cb_steps s = {.ctx = p->ctx, .err = err};
    cubed_array *a = p;
    if (kind != CUBED_KIND_FLOAT) a = cb_step_cast(&s, p, is_whole ? CUBED_INT64 : CUBED_FLOAT64);
    cubed_array *step = differences(&s, a, axis), *jump;
    if (!step) return cb_steps_end(&s, NULL, out);
    if (!is_whole && cubed_dtype_kind(period->node.dtype) < CUBED_KIND_FLOAT)
        period = cb_step_float(&s, turn);
    if (!period) return cb_steps_end(&s, NULL, out);
    jump = cb_step_binary(&s, CUBED_OP_SUBTRACT, turned(&s, a, step, period, turn, is_whole), step);
    cubed_array *far = cb_step_op(&s, CUBED_OP_ABS, step, NULL, NULL);
    if (!discont)
        discont = is_whole ? cb_step_float(&s, turn / 2) : number_like(&s, period, turn / 2);
    far = cb_step_binary(&s, CUBED_OP_LESS, far, discont);
    jump = cb_step_op(&s, CUBED_OP_WHERE, far, number_like(&s, a, 0), jump);
    if (jump) {
        cubed_array *sum = NULL;
        jump = cb_step(&s, cubed_cumulative(CUBED_REDUCE_SUM, jump, axis, false, &sum, err), &sum);
    }
    const int64_t n = a->shape[axis];
    cubed_array *first = cb_step_part(&s, a, axis, 0, n > 0, 1);
    cubed_array *rest = cb_step_part(&s, a, axis, n > 0, n > 0 ? n - 1 : 0, 1);
    cubed_array *parts[] = {first, cb_step_binary(&s, CUBED_OP_ADD, rest, jump)};
    return cb_steps_end(&s, cb_step_concat(&s, parts, 2, axis), out);
}
