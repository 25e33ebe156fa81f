/* Functions of numbers: comparison with tolerance, limits, differences, integrals and interpolation. */
#include <math.h>

#include "base/error.h"
#include "cubed/array_api.h"
#include "literal.h"
#include "rows.h"

#define CATEGORY .category = "numeric"

#define OPTIONAL (ACCEPTS(ARRAY) | NUMBERS | ACCEPTS(NONE))
#define PARAM_OPTIONAL_OPERAND(NAME, FLAGS, NOTES)                                                 \
    {                                                                                              \
        PARAM(NAME, OPTIONAL, FLAGS, NOTES)                                                        \
    }

static void unref_all(cubed_array **arrays, int n)
{
    for (int i = 0; i < n; i++) cubed_array_unref(arrays[i]);
}

/* Gets the operand at position i as an array, or NULL for None. A number is converted to the type that it has in an operation
 * with type `beside`. */
static cubed_status optional_operand(const cb_call *c, int i, cubed_dtype beside, cubed_array **out)
{
    *out = NULL;
    return cb_call_has(c, i) ? cb_call_operand(c, i, beside, out) : CUBED_OK;
}

/* Returns the type for computations: float64 for integers and bools, otherwise the type itself. */
static cubed_dtype float_type(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT ? CUBED_FLOAT64 : dtype;
}

/* --- Closeness ----------------------------------------------------------------------------------------- */

static const cubed_param close_params[] = {
    PARAM_OPERAND("a", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "The first operand."),
    PARAM_OPERAND("b", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "The second operand."),
    {PARAM("rtol", ACCEPTS(FLOAT), 0, "Tolerance relative to `b`."), FLOAT_DEFAULT(1e-5)},
    {PARAM("atol", ACCEPTS(FLOAT), 0, "Absolute tolerance."), FLOAT_DEFAULT(1e-8)},
    PARAM_BOOL("equal_nan", 0, false, "Whether NaN equals NaN."),
};

/* Returns the magnitude of the number at position i. */
static double magnitude_of(const cb_call *c, int i)
{
    const cubed_value *v = &c->values[i];
    switch (v->kind) {
    case CUBED_VALUE_COMPLEX: return hypot(v->as.complex_parts[0], v->as.complex_parts[1]);
    case CUBED_VALUE_BOOL: return v->as.boolean;
    default: return fabs(cb_call_real(c, i));
    }
}

static cubed_status call_close(const cb_call *c)
{
    cubed_close_options o = CUBED_CLOSE_OPTIONS_INIT;
    cubed_array *in[2] = {NULL, NULL};
    const bool is_number = !cb_call_array(c, 1);
    const double magnitude = is_number ? magnitude_of(c, 1) : 0;
    if (is_number && !cb_call_array(c, 0))
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_TYPE,
                                     "%s: a and b are numbers, expected at least one array",
                                     c->function->name));
    o.rtol = cb_call_real(c, 2);
    o.atol = cb_call_real(c, 3);
    o.equal_nan = cb_call_bool(c, 4);
    if (is_number) o.magnitude = &magnitude;
    cubed_status st = cb_call_operands(c, 0, 1, true, in);
    if (st == CUBED_OK)
        st = (c->which ? cubed_allclose : cubed_isclose)(in[0], in[1], &o, c->out, c->err);
    unref_all(in, 2);
    return st;
}

/* --- Limits -------------------------------------------------------------------------------------------- */

static const cubed_param clip_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_OPTIONAL_OPERAND("min", 0, "Lower limit. None: no limit."),
    PARAM_OPTIONAL_OPERAND("max", 0, "Upper limit. None: no limit."),
};

/* Returns true if a limit has no effect, because it is an integer beyond the range of x's type. */
static bool is_no_limit(const cb_call *c, int i)
{
    const cubed_value *v = &c->values[i];
    const cubed_dtype dtype = cubed_array_dtype(cb_call_array(c, 0));
    return v->kind == CUBED_VALUE_INT && (i == 2) == (v->as.integer > 0) &&
           cubed_number_dtype(v, dtype, true) != cubed_number_dtype(v, dtype, false);
}

static cubed_status call_clip(const cb_call *c)
{
    static const cubed_op ops[] = {CUBED_OP_MAXIMUM, CUBED_OP_MINIMUM};
    cubed_array *x = cubed_array_ref(cb_call_array(c, 0));
    cubed_status st = CUBED_OK;
    for (int i = 1; i <= 2 && st == CUBED_OK; i++) {
        cubed_array *in[2] = {x, NULL}, *made = NULL;
        if (!cb_call_has(c, i) || is_no_limit(c, i)) continue;
        st = cb_call_operand(c, i, cubed_array_dtype(x), &in[1]);
        if (st == CUBED_OK) st = cubed_elementwise(ops[i - 1], in, 2, &made, c->err);
        if (st == CUBED_OK) x = made;
        cubed_array_unref(in[1]);
        if (st == CUBED_OK) cubed_array_unref(in[0]);
    }
    if (st == CUBED_OK)
        *c->out = x;
    else
        cubed_array_unref(x);
    return st;
}

static const cubed_param nan_params[] = {
    PARAM_LIKE("x", "Input array."),
    {PARAM("value", ACCEPTS(ARRAY) | NUMBERS, 0, "Number in place of NaN."), FLOAT_DEFAULT(0)},
    PARAM_OPTIONAL_OPERAND("posinf", NAMED,
                           "Number in place of infinity. None: the largest number."),
    PARAM_OPTIONAL_OPERAND("neginf", NAMED,
                           "Number in place of minus infinity. None: the smallest number."),
};

/* Returns the type of the parts of complex numbers. Other types are returned unchanged. */
static cubed_dtype part_type(cubed_dtype dtype)
{
    return dtype == CUBED_COMPLEX64    ? CUBED_FLOAT32
           : dtype == CUBED_COMPLEX128 ? CUBED_FLOAT64
                                       : dtype;
}

static cubed_status call_nan_to_num(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *in[3] = {NULL, NULL, NULL};
    const cubed_dtype part = part_type(cubed_array_dtype(x));
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 3 && st == CUBED_OK; i++) st = optional_operand(c, 1 + i, part, &in[i]);
    if (st == CUBED_OK) st = cubed_nan_to_num(x, in[0], in[1], in[2], c->out, c->err);
    unref_all(in, 3);
    return st;
}

/* --- Differences --------------------------------------------------------------------------------------- */

static const cubed_param trapezoid_params[] = {
    PARAM_LIKE("y", "Values."),
    PARAM_OPTIONAL_ARRAY("x", 0, "Points of the values. None: evenly spaced, with distance `dx`."),
    {PARAM("dx", ACCEPTS(ARRAY) | NUMBERS, 0, "Distance between points if there is no `x`."),
     FLOAT_DEFAULT(1)},
    PARAM_AXIS("axis", 0, -1,
               "Axis along which to integrate; negative numbers count from the last."),
};

static cubed_status call_trapezoid(const cb_call *c)
{
    cubed_array *y = cb_call_array(c, 0), *x = cb_call_array(c, 1), *dx = NULL;
    if (!x) CB_TRY(cb_call_operand(c, 2, cubed_array_dtype(y), &dx));
    cubed_status st = cubed_trapezoid(y, x, dx, cb_call_axis(c, 3), c->out, c->err);
    cubed_array_unref(dx);
    return st;
}

static const cubed_param gradient_params[] = {
    PARAM_ARRAY("f", "Real or complex numbers."),
    {PARAM("spacing", OPTIONAL, CUBED_PARAM_LIKE,
           "Distance between neighbours, or coordinates along the axis. None: 1.")},
    PARAM_AXIS_OR_NONE("axis", NAMED, "Axis along which to compute. None: the only axis."),
    {PARAM_IN("edge_order", ACCEPTS(INT), NAMED, 1, 2, "Order of differences at the ends."),
     INT_DEFAULT(1)},
};

static cubed_status call_gradient(const cb_call *c)
{
    cubed_array *f = cb_call_array(c, 0), *spacing;
    int axis;
    CB_TRY(cb_call_only_axis(c, 2, cubed_array_ndim(f), &axis));
    /* The distance may be fractional, so it is a float64 if f has integers. */
    CB_TRY(optional_operand(c, 1, float_type(cubed_array_dtype(f)), &spacing));
    cubed_status st = cubed_gradient(f, spacing, axis, (int)cb_call_int(c, 3), c->out, c->err);
    cubed_array_unref(spacing);
    return st;
}

#define FULL_TURN 6.283185307179586

static const cubed_param unwrap_params[] = {
    PARAM_LIKE("p", "Angles."),
    PARAM_OPTIONAL_OPERAND("discont", 0, "Smaller steps are not changed. None: half a period."),
    PARAM_AXIS("axis", 0, -1, "Axis along which to compute; negative numbers count from the last."),
    {PARAM("period", ACCEPTS(ARRAY) | NUMBERS, NAMED, "Length of a full turn."),
     FLOAT_DEFAULT(FULL_TURN)},
};

static cubed_status call_unwrap(const cb_call *c)
{
    cubed_array *p = cb_call_array(c, 0), *in[2] = {NULL, NULL};
    const cubed_dtype dtype = cubed_array_dtype(p);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    /* The type in which steps are computed. */
    const cubed_dtype steps = kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT ? CUBED_INT64
                              : kind == CUBED_KIND_FLOAT                        ? dtype
                                                                                : CUBED_FLOAT64;
    cubed_status st = cb_call_operand(c, 3, steps, &in[0]);
    if (st == CUBED_OK) st = optional_operand(c, 1, steps, &in[1]);
    if (st == CUBED_OK) st = cubed_unwrap(p, in[0], in[1], cb_call_axis(c, 2), c->out, c->err);
    unref_all(in, 2);
    return st;
}

/* --- Convolution and correlation ------------------------------------------------------------------------- */

static const cubed_choice convolve_modes[] = {{"full", CUBED_CONVOLVE_FULL},
                                              {"same", CUBED_CONVOLVE_SAME},
                                              {"valid", CUBED_CONVOLVE_VALID},
                                              {NULL, 0}};

#define SLIDING_PARAMS(MODE)                                                                       \
    {                                                                                              \
        PARAM_LIKE("a", "The first vector."), PARAM_LIKE("v", "The second vector."),               \
            PARAM_CHOICE("mode", 0, CUBED_CONVOLVE_##MODE, convolve_modes,                         \
                         "Part of the result: all (``\"full\"``), as long as the longer vector "   \
                         "(``\"same\"``), or only complete overlaps (``\"valid\"``).")             \
    }

static const cubed_param convolve_params[] = SLIDING_PARAMS(FULL);
static const cubed_param correlate_params[] = SLIDING_PARAMS(VALID);

static cubed_status call_convolve(const cb_call *c)
{
    return (c->which ? cubed_correlate : cubed_convolve)(cb_call_array(c, 0), cb_call_array(c, 1),
                                                         (cubed_convolve_mode)cb_call_choice(c, 2),
                                                         c->out, c->err);
}

/* --- Interpolation ------------------------------------------------------------------------------------- */

#define POINTS(NAME, NOTES)                                                                        \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | NUMBERS, CUBED_PARAM_REQUIRED | CUBED_PARAM_LIKE, NOTES)      \
    }
#define END(NAME, NOTES)                                                                           \
    {                                                                                              \
        PARAM(NAME, OPTIONAL, CUBED_PARAM_LIKE, NOTES)                                             \
    }

static const cubed_param interp_params[] = {
    POINTS("x", "Points at which to interpolate."),
    POINTS("xp",
           "Points of the given values, in ascending order, or in any order with a `period`."),
    POINTS("fp", "Real or complex values at the points `xp`."),
    END("left", "Value before the first point. None: the value at the first point."),
    END("right", "Value after the last point. None: the value at the last point."),
    {PARAM("period", ACCEPTS(FLOAT) | ACCEPTS(NONE), 0, "Period of `x` and `xp`.")},
};

static cubed_status call_interp(const cb_call *c)
{
    cubed_array *in[5] = {NULL, NULL, NULL, NULL, NULL};
    const double period = cb_call_has(c, 5) ? fabs(cb_call_real(c, 5)) : 0;
    cubed_interp_options o = CUBED_INTERP_OPTIONS_INIT;
    cubed_status st = CUBED_OK;
    /* A number gets its default type, independently of the types of the arrays. */
    for (int i = 0; i < 5 && st == CUBED_OK; i++) st = optional_operand(c, i, CUBED_BOOL, &in[i]);
    o.left = in[3];
    o.right = in[4];
    if (cb_call_has(c, 5)) o.period = &period;
    if (st == CUBED_OK) st = cubed_interp(in[0], in[1], in[2], &o, c->out, c->err);
    unref_all(in, 5);
    return st;
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define SAME         "The shape and type of `x`."
#define SLIDING_TYPE "One dimension, of the type that both promote to."

static const cb_row rows[] = {
    {{"allclose", CATEGORY, .summary = "Whether all elements are close, by the rule of `isclose`.",
      .returns = "bool, without axes.", PARAMS(close_params)},
     .call = call_close,
     .which = true},
    {{"clip", CATEGORY, .summary = "Each element limited to the range from `min` to `max`.",
      .returns = "The type that all promote to. An integer limit that no value of the type exceeds "
                 "has no effect.",
      PARAMS(clip_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_clip},
    {{"convolve", CATEGORY, .summary = "The convolution of two vectors.", .returns = SLIDING_TYPE,
      PARAMS(convolve_params), .coords = CUBED_COORDS_CUT},
     .call = call_convolve},
    {{"correlate", CATEGORY,
      .summary = "The cross-correlation of two vectors, the second conjugated.",
      .returns = SLIDING_TYPE, PARAMS(correlate_params), .coords = CUBED_COORDS_CUT},
     .call = call_convolve,
     .which = true},
    {{"gradient", CATEGORY,
      .summary = "The derivative along an axis by differences of second order.",
      .returns = "The shape and type of `f`; float64 for integers.", PARAMS(gradient_params)},
     .call = call_gradient},
    {{"interp", CATEGORY, .summary = "Linear interpolation between values at given points.",
      .returns = "float64 or complex128, in the shape of `x`.", PARAMS(interp_params)},
     .call = call_interp},
    {{"isclose", CATEGORY,
      .summary =
          "Whether ``abs(a - b) <= atol + rtol * abs(b)``. An infinity is close only to itself.",
      .returns = "bool; the operands are broadcast.", PARAMS(close_params)},
     .call = call_close},
    {{"nan_to_num", CATEGORY,
      .summary = "Replaces NaN and infinities by numbers, also in the parts of complex numbers.",
      .returns = SAME, PARAMS(nan_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_nan_to_num},
    {{"trapezoid", CATEGORY, .summary = "The integral along an axis by the trapezoidal rule.",
      .returns = "Without the axis: float64 for integers, else the type of `y`.",
      PARAMS(trapezoid_params)},
     .call = call_trapezoid},
    {{"unwrap", CATEGORY,
      .summary =
          "Unwraps angles: adds multiples of the period so that no step exceeds half a period.",
      .returns = "The shape of `p`: for integers int64, or float64 if the period is not an "
                 "integer; else the type of `p`.",
      PARAMS(unwrap_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_unwrap},
};

const cb_rows cb_numeric_rows = ROWS(rows);
