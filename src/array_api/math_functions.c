/* Elementwise functions composed of a few operations: angles, powers of 2, extremes that skip NaN, parts of complex
 * numbers. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "ops/steps.h"

#define PI 3.14159265358979323846

static cubed_kind kind_of(const cubed_array *x) { return cubed_dtype_kind(x->node.dtype); }

/* Casts integers and bools to float64. */
static cubed_array *as_floats(cb_steps *s, cubed_array *x)
{
    return kind_of(x) < CUBED_KIND_FLOAT ? cb_step_cast(s, x, CUBED_FLOAT64) : x;
}

/* Multiplies x by a number. The result has the type that NumPy's promotion gives for x and a Python float. */
/* --- Angles ------------------------------------------------------------------------------------------- */

/* Fails for complex numbers, times and strings. */
static cubed_status check_real(const char *name, const cubed_array *x, cubed_error *err)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    if (kind_of(x) <= CUBED_KIND_FLOAT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected real numbers", name,
                   cubed_dtype_text(x->node.dtype, text));
}

/* Converts an angle. Refuses times: scaling would give differences of times. */
static cubed_status scale_angle(const char *name, cubed_array *x, double by, cubed_array **out,
                                cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    CB_TRY(check_real(name, x, err));
    return cb_steps_end(&s, cb_step_by(&s, CUBED_OP_MULTIPLY, x, by), out);
}

cubed_status cubed_deg2rad(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return scale_angle("deg2rad", x, PI / 180, out, err);
}

cubed_status cubed_rad2deg(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return scale_angle("rad2deg", x, 180 / PI, out, err);
}

cubed_status cubed_angle(cubed_array *x, bool degrees, cubed_array **out, cubed_error *err)
{
    const cubed_dtype dtype = cubed_dtype_promote(x->node.dtype, CUBED_COMPLEX64);
    cb_steps s = {.ctx = x->ctx, .err = err};
    char text[CUBED_DTYPE_TEXT_CAP];
    if (dtype == CUBED_DTYPE_COUNT)
        return cb_fail(err, CUBED_E_TYPE, "angle is not defined for %s, expected numbers",
                       cubed_dtype_text(x->node.dtype, text));
    cubed_array *z = cb_step_cast(&s, x, dtype);
    cubed_array *im = cb_step_op(&s, CUBED_OP_IMAG, z, NULL, NULL);
    cubed_array *re = cb_step_op(&s, CUBED_OP_REAL, z, NULL, NULL);
    cubed_array *y = cb_step_op(&s, CUBED_OP_ATAN2, im, re, NULL);
    return cb_steps_end(&s, degrees ? cb_step_by(&s, CUBED_OP_MULTIPLY, y, 180 / PI) : y, out);
}

cubed_status cubed_sinc(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *a = cb_step_by(&s, CUBED_OP_MULTIPLY, as_floats(&s, x), PI);
    cubed_array *none = a ? cb_step_number(&s, a, 0) : NULL,
                *one = a ? cb_step_number(&s, a, 1) : NULL;
    cubed_array *zero = cb_step_op(&s, CUBED_OP_EQUAL, a, none, NULL);
    cubed_array *y = cb_step_op(&s, CUBED_OP_WHERE, zero, one, a);
    y = cb_step_op(&s, CUBED_OP_DIVIDE, cb_step_op(&s, CUBED_OP_SIN, a, NULL, NULL), y, NULL);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_WHERE, zero, one, y), out);
}

/* --- Numbers ------------------------------------------------------------------------------------------ */

cubed_status cubed_exp2(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_POW, cb_step_number(&s, x, 2), x, NULL), out);
}

cubed_status cubed_fabs(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    if (kind_of(x) == CUBED_KIND_COMPLEX)
        return cb_fail(
            err, CUBED_E_TYPE,
            "fabs is not defined for %s, expected real numbers: use abs for complex numbers",
            cubed_dtype_name(x->node.dtype));
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_ABS, as_floats(&s, x), NULL, NULL), out);
}

cubed_status cubed_rint(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_ROUND, as_floats(&s, x), NULL, NULL), out);
}

cubed_array *cb_api_complex_beyond(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b)
{
    const cubed_op beyond = op == CUBED_OP_MAXIMUM ? CUBED_OP_GREATER : CUBED_OP_LESS;
    cubed_array *re_a = cb_step_op(s, CUBED_OP_REAL, a, NULL, NULL);
    cubed_array *re_b = cb_step_op(s, CUBED_OP_REAL, b, NULL, NULL);
    cubed_array *im_a = cb_step_op(s, CUBED_OP_IMAG, a, NULL, NULL);
    cubed_array *im_b = cb_step_op(s, CUBED_OP_IMAG, b, NULL, NULL);
    cubed_array *by_re = cb_step_op(s, beyond, re_a, re_b, NULL);
    cubed_array *by_im = cb_step_op(s, beyond, im_a, im_b, NULL);
    cubed_array *even = cb_step_op(s, CUBED_OP_EQUAL, re_a, re_b, NULL);
    by_im = cb_step_op(s, CUBED_OP_LOGICAL_AND, even, by_im, NULL);
    return cb_step_op(s, CUBED_OP_LOGICAL_OR, by_re, by_im, NULL);
}

/* Returns the larger or smaller of two elements, and ignores a single NaN. */
static cubed_status skip_nan(cubed_op op, cubed_array *a, cubed_array *b, cubed_array **out,
                             cubed_error *err)
{
    cb_steps s = {.ctx = a->ctx, .err = err};
    const bool is_complex = kind_of(a) == CUBED_KIND_COMPLEX || kind_of(b) == CUBED_KIND_COMPLEX;
    cubed_array *y = is_complex
                         ? cb_step_op(&s, CUBED_OP_WHERE, cb_api_complex_beyond(&s, op, a, b), a, b)
                         : cb_step_op(&s, op, a, b, NULL);
    cubed_array *a_nan = cb_step_op(&s, CUBED_OP_ISNAN, a, NULL, NULL);
    cubed_array *b_nan = cb_step_op(&s, CUBED_OP_ISNAN, b, NULL, NULL);
    y = cb_step_op(&s, CUBED_OP_WHERE, b_nan, a, y);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_WHERE, a_nan, b, y), out);
}

cubed_status cubed_fmax(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    return skip_nan(CUBED_OP_MAXIMUM, x1, x2, out, err);
}

cubed_status cubed_fmin(cubed_array *x1, cubed_array *x2, cubed_array **out, cubed_error *err)
{
    return skip_nan(CUBED_OP_MINIMUM, x1, x2, out, err);
}

/* --- Properties --------------------------------------------------------------------------------------- */

static cubed_status equals(const char *name, cubed_array *x, double value, cubed_array **out,
                           cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    CB_TRY(check_real(name, x, err));
    cubed_array *number = cb_step_number(&s, x, value);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_EQUAL, x, number, NULL), out);
}

cubed_status cubed_isposinf(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return equals("isposinf", x, INFINITY, out, err);
}

cubed_status cubed_isneginf(cubed_array *x, cubed_array **out, cubed_error *err)
{
    return equals("isneginf", x, -INFINITY, out, err);
}

/* Returns an array of x's shape and chunks in which each element has the same bool. */
static cubed_status constant(cubed_array *x, bool value, cubed_array **out, cubed_error *err)
{
    const cubed_scalar element = {.b = value};
    return cubed_array_full(x->ctx, CUBED_BOOL, x->node.grid->ndim, x->shape, cubed_array_chunks(x),
                            &element, out, err);
}

static cubed_status compare_imag(cubed_array *x, cubed_op op, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *im = cb_step_op(&s, CUBED_OP_IMAG, x, NULL, NULL);
    cubed_array *zero = im ? cb_step_number(&s, im, 0) : NULL;
    return cb_steps_end(&s, cb_step_op(&s, op, im, zero, NULL), out);
}

cubed_status cubed_isreal(cubed_array *x, cubed_array **out, cubed_error *err)
{
    if (kind_of(x) != CUBED_KIND_COMPLEX) return constant(x, true, out, err);
    return compare_imag(x, CUBED_OP_EQUAL, out, err);
}

cubed_status cubed_iscomplex(cubed_array *x, cubed_array **out, cubed_error *err)
{
    if (kind_of(x) != CUBED_KIND_COMPLEX) return constant(x, false, out, err);
    return compare_imag(x, CUBED_OP_NOT_EQUAL, out, err);
}

cubed_status cubed_isnat(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    char text[CUBED_DTYPE_TEXT_CAP];
    if (kind_of(x) != CUBED_KIND_TIME)
        return cb_fail(err, CUBED_E_TYPE, "isnat: x is of type %s, expected dates or times",
                       cubed_dtype_text(x->node.dtype, text));
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_ISNAN, x, NULL, NULL), out);
}
