/* Compares numbers with a tolerance, and replaces NaN by numbers. */
#include <float.h>
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

/* Returns true where |a - b| is at most the tolerance. The result has no meaning where b is infinite. */
static cubed_array *near(cb_steps *s, cubed_array *a, cubed_array *b, const cubed_close_options *o)
{
    cubed_array *off = cb_step_op(s, CUBED_OP_SUBTRACT, a, b, NULL);
    off = cb_step_op(s, CUBED_OP_ABS, off, NULL, NULL);
    if (o->magnitude) {
        const double most =
            isfinite(*o->magnitude) ? o->atol + o->rtol * *o->magnitude : (double)NAN;
        return cb_step_op(s, CUBED_OP_LESS_EQUAL, off, cb_step_number(s, off, most), NULL);
    }
    cubed_array *most = cb_step_op(s, CUBED_OP_ABS, b, NULL, NULL);
    most = cb_step_op(s, CUBED_OP_MULTIPLY, cb_step_number(s, most, o->rtol), most, NULL);
    most = cb_step_op(s, CUBED_OP_ADD, cb_step_number(s, most, o->atol), most, NULL);
    most = cb_step_op(s, CUBED_OP_LESS_EQUAL, off, most, NULL);
    return cb_step_op(s, CUBED_OP_LOGICAL_AND, most,
                      cb_step_op(s, CUBED_OP_ISFINITE, b, NULL, NULL), NULL);
}

static cubed_array *close(cb_steps *s, cubed_array *a, cubed_array *b, const cubed_close_options *o)
{
    cubed_array *y = cb_step_op(s, CUBED_OP_EQUAL, a, b, NULL);
    cubed_array *real =
        cubed_dtype_kind(b->node.dtype) < CUBED_KIND_FLOAT ? cb_step_cast(s, b, CUBED_FLOAT64) : b;
    y = cb_step_op(s, CUBED_OP_LOGICAL_OR, y, near(s, a, real, o), NULL);
    if (!o->equal_nan) return y;
    cubed_array *nan = cb_step_op(s, CUBED_OP_ISNAN, a, NULL, NULL);
    nan = cb_step_op(s, CUBED_OP_LOGICAL_AND, nan, cb_step_op(s, CUBED_OP_ISNAN, b, NULL, NULL),
                     NULL);
    return cb_step_op(s, CUBED_OP_LOGICAL_OR, y, nan, NULL);
}

static cubed_status find_close(const char *name, cubed_array *a, cubed_array *b,
                               const cubed_close_options *options, bool all, cubed_array **out,
                               cubed_error *err)
{
    cubed_close_options taken = CUBED_CLOSE_OPTIONS_INIT;
    const cubed_close_options *o = &taken;
    char left[CUBED_DTYPE_TEXT_CAP], right[CUBED_DTYPE_TEXT_CAP];
    CB_TRY(CB_OPTIONS_TAKE(name, options, &taken, err));
    if (cubed_dtype_kind(a->node.dtype) > CUBED_KIND_COMPLEX ||
        cubed_dtype_kind(b->node.dtype) > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s and %s, expected numbers", name,
                       cubed_dtype_text(a->node.dtype, left),
                       cubed_dtype_text(b->node.dtype, right));
    cb_steps s = {.ctx = a->ctx, .err = err};
    cubed_array *y = close(&s, a, b, o);
    return cb_steps_end(&s, all ? cb_step_reduce(&s, CUBED_REDUCE_ALL, y, NULL) : y, out);
}

cubed_status cubed_isclose(cubed_array *a, cubed_array *b, const cubed_close_options *options,
                           cubed_array **out, cubed_error *err)
{
    return find_close("isclose", a, b, options, false, out, err);
}

cubed_status cubed_allclose(cubed_array *a, cubed_array *b, const cubed_close_options *options,
                            cubed_array **out, cubed_error *err)
{
    return find_close("allclose", a, b, options, true, out, err);
}

/* --- Replacement of NaN by numbers ------------------------------------------------------------------------- */

static double largest(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_FLOAT16: return 65504;
    case CUBED_BFLOAT16: return 0x1.fep127;
    case CUBED_FLOAT32: return FLT_MAX;
    default: return DBL_MAX;
    }
}

static cubed_array *without_nan(cb_steps *s, cubed_array *x, cubed_array *nan, cubed_array *posinf,
                                cubed_array *neginf)
{
    const double most = largest(x->node.dtype);
    if (!nan) nan = cb_step_number(s, x, 0);
    if (!posinf) posinf = cb_step_number(s, x, most);
    neginf = neginf ? cb_step_cast(s, neginf, x->node.dtype) : cb_step_number(s, x, -most);
    cubed_array *is_low = cb_step_op(s, CUBED_OP_SIGNBIT, x, NULL, NULL);
    cubed_array *y = cb_step_op(s, CUBED_OP_WHERE, is_low, neginf, posinf);
    y = cb_step_op(s, CUBED_OP_WHERE, cb_step_op(s, CUBED_OP_ISNAN, x, NULL, NULL), nan, y);
    return cb_step_op(s, CUBED_OP_WHERE, cb_step_op(s, CUBED_OP_ISFINITE, x, NULL, NULL), x, y);
}

cubed_status cubed_nan_to_num(cubed_array *x, cubed_array *nan, cubed_array *posinf,
                              cubed_array *neginf, cubed_array **out, cubed_error *err)
{
    const cubed_dtype dtype = x->node.dtype;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    cb_steps s = {.ctx = x->ctx, .err = err};
    if (neginf && cubed_dtype_kind(neginf->node.dtype) == CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE,
                       "nan_to_num: neginf is of type %s, expected a real number",
                       cubed_dtype_name(neginf->node.dtype));
    if (kind == CUBED_KIND_FLOAT)
        return cb_steps_end(&s, without_nan(&s, x, nan, posinf, neginf), out);
    if (kind != CUBED_KIND_COMPLEX) return cb_steps_end(&s, x, out);
    cubed_scalar i = {.c128 = {0, 1}};
    if (dtype == CUBED_COMPLEX64) i = (cubed_scalar){.c64 = {0, 1}};
    cubed_array *parts[2];
    for (int k = 0; k < 2; k++) {
        parts[k] = cb_step_op(&s, k ? CUBED_OP_IMAG : CUBED_OP_REAL, x, NULL, NULL);
        if (parts[k]) parts[k] = without_nan(&s, parts[k], nan, posinf, neginf);
    }
    parts[1] = cb_step_op(&s, CUBED_OP_MULTIPLY, parts[1], cb_step_scalar(&s, dtype, &i), NULL);
    return cb_steps_end(&s, cb_step_op(&s, CUBED_OP_ADD, parts[0], parts[1], NULL), out);
}
