/* Linear interpolation between given points. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

/* Returns element i of a vector, as a 0-d array. */
static cubed_array *element(cb_steps *s, cubed_array *x, int64_t i)
{
    const cubed_slice at = {i, 1, 1, true};
    cubed_array *y = NULL;
    if (!x || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_slice_array(x, &at, &y, s->err), &y);
}

static cubed_array *differences(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    if (!x || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_diff(x, 0, 1, &y, s->err), &y);
}

/* Takes elements of a vector at flattened positions. The result has the shape of `like`, if `like` is not NULL. */
static cubed_array *taken(cb_steps *s, cubed_array *x, cubed_array *flat, const cubed_array *like)
{
    cubed_array *y = NULL;
    if (!x || !flat || s->st != CUBED_OK) return NULL;
    y = cb_step(s, cubed_take(x, flat, 0, &y, s->err), &y);
    return like ? cb_step_reshaped(s, y, like->node.grid->ndim, like->shape) : y;
}

typedef struct points {
    cubed_array *x, *y;
} points;

/* Sorts the points by position within a period. Adds the last point before the first one and the first point after the last
 * one, shifted by one period. */
static points around(cb_steps *s, points p, double period)
{
    cubed_array *order = NULL, *turn = cb_step_float(s, period), *parts[3];
    p.x = cb_step_binary(s, CUBED_OP_REMAINDER, p.x, turn);
    if (p.x) order = cb_step(s, cubed_argsort(p.x, 0, false, &order, s->err), &order);
    p.x = taken(s, p.x, order, NULL);
    p.y = taken(s, p.y, order, NULL);
    if (!p.x || !p.y) return (points){NULL, NULL};
    const int64_t n = p.x->shape[0];
    parts[0] = cb_step_binary(s, CUBED_OP_SUBTRACT, cb_step_part(s, p.x, 0, n - 1, 1, 1), turn);
    parts[1] = p.x;
    parts[2] = cb_step_binary(s, CUBED_OP_ADD, cb_step_part(s, p.x, 0, 0, 1, 1), turn);
    p.x = cb_step_concat(s, parts, 3, 0);
    parts[0] = cb_step_part(s, p.y, 0, n - 1, 1, 1);
    parts[1] = p.y;
    parts[2] = cb_step_part(s, p.y, 0, 0, 1, 1);
    p.y = cb_step_concat(s, parts, 3, 0);
    return p;
}

/* Interpolates at positions between the first and the last point. */
static cubed_array *between(cb_steps *s, cubed_array *at, points p)
{
    const int64_t n = p.x->shape[0];
    cubed_array *j = NULL, *flat = NULL;
    j = cb_step(s, cubed_searchsorted(p.x, at, true, NULL, &j, s->err), &j);
    j = cb_step_binary(s, CUBED_OP_SUBTRACT, j, cb_step_whole(s, 1));
    j = cb_step_binary(s, CUBED_OP_MINIMUM,
                       cb_step_binary(s, CUBED_OP_MAXIMUM, j, cb_step_whole(s, 0)),
                       cb_step_whole(s, n - 2));
    if (j) flat = cb_step(s, cb_api_flatten(j, &flat, s->err), &flat);
    cubed_array *slopes =
        cb_step_binary(s, CUBED_OP_DIVIDE, differences(s, p.y), differences(s, p.x));
    cubed_array *way = cb_step_binary(s, CUBED_OP_SUBTRACT, at, taken(s, p.x, flat, at));
    cubed_array *base = taken(s, p.y, flat, at), *slope = taken(s, slopes, flat, at);
    cubed_array *y =
        cb_step_binary(s, CUBED_OP_ADD, cb_step_binary(s, CUBED_OP_MULTIPLY, slope, way), base);
    /* at a given point, the result is the point's value, even if the slope is infinite or NaN */
    y = cb_step_where(s, cb_step_binary(s, CUBED_OP_EQUAL, way, cb_step_float(s, 0)), base, y);
    return cb_step_where(s, cb_step_binary(s, CUBED_OP_EQUAL, at, element(s, p.x, n - 1)),
                         element(s, p.y, n - 1), y);
}

/* Broadcasts a single value to the shape of `at`. */
static cubed_array *everywhere(cb_steps *s, const cubed_array *at, cubed_array *y)
{
    cubed_array *zeros = NULL;
    const cubed_scalar zero = {.c128 = {0}};
    if (!y || s->st != CUBED_OK) return NULL;
    zeros = cb_step(s,
                    cubed_array_full(s->ctx, y->node.dtype, at->node.grid->ndim, at->shape,
                                     cubed_array_chunks(at), &zero, &zeros, s->err),
                    &zeros);
    return cb_step_binary(s, CUBED_OP_ADD, zeros, y);
}

static cubed_status check_interp(const cubed_array *x, const cubed_array *xp, const cubed_array *fp,
                                 const double *period, cubed_error *err)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    if (xp->node.grid->ndim != 1 || fp->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "interp: xp has %d dimensions and fp %d, expected 1 and 1",
                       xp->node.grid->ndim, fp->node.grid->ndim);
    if (xp->shape[0] != fp->shape[0])
        return cb_fail(err, CUBED_E_ARG,
                       "interp: xp has %lld points and fp %lld values, expected equal numbers",
                       (long long)xp->shape[0], (long long)fp->shape[0]);
    if (xp->shape[0] == 0)
        return cb_fail(err, CUBED_E_ARG, "interp: xp is empty, expected at least one point");
    const struct {
        const char *name;
        cubed_dtype dtype;
        cubed_kind most;
    } given[] = {{"x", x->node.dtype, CUBED_KIND_FLOAT},
                 {"xp", xp->node.dtype, CUBED_KIND_FLOAT},
                 {"fp", fp->node.dtype, CUBED_KIND_COMPLEX}};
    for (int i = 0; i < 3; i++) {
        if (cubed_dtype_kind(given[i].dtype) > given[i].most)
            return cb_fail(err, CUBED_E_TYPE, "interp: %s is of type %s, expected %s",
                           given[i].name, cubed_dtype_text(given[i].dtype, text),
                           i < 2 ? "real numbers" : "numbers");
    }
    if (period && !(*period > 0))
        return cb_fail(err, CUBED_E_ARG, "interp: period is %g, expected more than 0", *period);
    return CUBED_OK;
}

cubed_status cubed_interp(cubed_array *x, cubed_array *xp, cubed_array *fp,
                          const cubed_interp_options *options, cubed_array **out, cubed_error *err)
{
    cubed_interp_options taken = CUBED_INTERP_OPTIONS_INIT;
    const cubed_interp_options *o = &taken;
    CB_TRY(CB_OPTIONS_TAKE("interp", options, &taken, err));
    CB_TRY(check_interp(x, xp, fp, o->period, err));
    const bool is_complex = cubed_dtype_kind(fp->node.dtype) == CUBED_KIND_COMPLEX;
    const cubed_dtype dtype = is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *at = cb_step_cast(&s, x, CUBED_FLOAT64), *left = NULL, *right = NULL;
    points p = {cb_step_cast(&s, xp, CUBED_FLOAT64), cb_step_cast(&s, fp, dtype)};
    if (o->period) {
        at = cb_step_binary(&s, CUBED_OP_REMAINDER, at, cb_step_float(&s, *o->period));
        p = around(&s, p, *o->period);
    } else {
        if (o->left) left = cb_step_cast(&s, o->left, dtype);
        if (o->right) right = cb_step_cast(&s, o->right, dtype);
    }
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, out);
    const int64_t n = p.x->shape[0];
    if (!left) left = element(&s, p.y, 0);
    if (!right) right = element(&s, p.y, n - 1);
    cubed_array *y = n == 1 ? everywhere(&s, at, element(&s, p.y, 0)) : between(&s, at, p);
    y = cb_step_where(&s, cb_step_binary(&s, CUBED_OP_GREATER, at, element(&s, p.x, n - 1)), right,
                      y);
    y = cb_step_where(&s, cb_step_binary(&s, CUBED_OP_LESS, at, element(&s, p.x, 0)), left, y);
    const cubed_scalar nan = {.c128 = {(double)NAN, 0}};
    y = cb_step_where(&s, cb_step_op(&s, CUBED_OP_ISNAN, at, NULL, NULL),
                      cb_step_scalar(&s, dtype, &nan), y);
    return cb_steps_end(&s, y, out);
}
