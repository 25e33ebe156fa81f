/* Elementwise functions that consist of a few operations. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "math"

#define INPUT                                                                                      \
    {                                                                                              \
        PARAM("x", ACCEPTS(ARRAY),                                                                 \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE, "Input array.") \
    }

static const cubed_param one_params[] = {INPUT};
static const cubed_param two_params[] = {
    PARAM_OPERAND("x1", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "The first operand."),
    PARAM_OPERAND("x2", CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY, "The second operand."),
};
static const cubed_param angle_params[] = {
    PARAM_LIKE("x", "Numbers."),
    PARAM_BOOL("deg", 0, false, "Whether angles are in degrees."),
};

typedef cubed_status (*function_of_one)(cubed_array *x, cubed_array **out, cubed_error *err);
static const function_of_one functions[] = {
    cubed_deg2rad,  cubed_exp2,   cubed_fabs,    cubed_iscomplex, cubed_isnat, cubed_isneginf,
    cubed_isposinf, cubed_isreal, cubed_rad2deg, cubed_rint,      cubed_sinc};
enum { DEG2RAD, EXP2, FABS, ISCOMPLEX, ISNAT, ISNEGINF, ISPOSINF, ISREAL, RAD2DEG, RINT, SINC };

static cubed_status call_one(const cb_call *c)
{
    return functions[c->which](cb_call_array(c, 0), c->out, c->err);
}

static cubed_status call_angle(const cb_call *c)
{
    return cubed_angle(cb_call_array(c, 0), cb_call_bool(c, 1), c->out, c->err);
}

/* Calls fmin, or fmax if c->which is true. */
static cubed_status call_extreme(const cb_call *c)
{
    cubed_array *in[2] = {NULL, NULL};
    if (!cb_call_array(c, 0) && !cb_call_array(c, 1))
        return cb_call_blame(c, 0,
                             cb_fail(c->err, CUBED_E_TYPE,
                                     "%s: x1 and x2 are numbers, expected at least one array",
                                     c->function->name));
    cubed_status st = cb_call_operands(c, 0, 1, false, in);
    if (st == CUBED_OK) st = (c->which ? cubed_fmax : cubed_fmin)(in[0], in[1], c->out, c->err);
    cubed_array_unref(in[0]);
    cubed_array_unref(in[1]);
    return st;
}

/* Builds a mask that is true for NaN and NaT. Integers, bools and strings are never missing. */
static cubed_status find_missing(const cb_call *c, cubed_array **out)
{
    const cubed_scalar no = {.b = false};
    cubed_array *x = cb_call_array(c, 0), *twice[2] = {x, x};
    const cubed_kind kind = cubed_dtype_kind(cubed_array_dtype(x));
    if (kind == CUBED_KIND_TIME)
        return cubed_elementwise(CUBED_OP_NOT_EQUAL, twice, 2, out, c->err);
    if (kind == CUBED_KIND_TEXT)
        return cubed_array_full(c->ctx, CUBED_BOOL, cubed_array_ndim(x), cubed_array_shape(x),
                                cubed_array_chunks(x), &no, out, c->err);
    return cubed_elementwise(CUBED_OP_ISNAN, &x, 1, out, c->err);
}

/* Calls isnull, or notnull if c->which is true. */
static cubed_status call_missing(const cb_call *c)
{
    cubed_array *missing;
    if (!c->which) return find_missing(c, c->out);
    CB_TRY(find_missing(c, &missing));
    const cubed_status st = cubed_elementwise(CUBED_OP_LOGICAL_NOT, &missing, 1, c->out, c->err);
    cubed_array_unref(missing);
    return st;
}

static cubed_status call_fix(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    return cubed_elementwise(CUBED_OP_TRUNC, &x, 1, c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define REALS                                                                                      \
    "The shape of `x`: float32 for bool and integers of up to two bytes, float64 for other "       \
    "integers, else the real type of `x`."
#define FLOATS  "The shape of `x`: float64 for integers and bools, else the type of `x`."
#define BOOLS   "bool, of the shape of `x`."
#define EXTREME "The type of the operands, which are broadcast and promoted."

static const cb_row rows[] = {
    {{"angle", CATEGORY, .summary = "The angles of complex numbers, in radians or degrees.",
      .returns = REALS, PARAMS(angle_params)},
     .call = call_angle},
    {{"deg2rad", CATEGORY, .summary = "Degrees as radians.", .returns = FLOATS, PARAMS(one_params)},
     .call = call_one,
     .which = DEG2RAD},
    {{"exp2", CATEGORY, .summary = "2 to the power of each element.", .returns = FLOATS,
      PARAMS(one_params)},
     .call = call_one,
     .which = EXP2},
    {{"fabs", CATEGORY, .summary = "Absolute values, as floats.", .returns = FLOATS,
      PARAMS(one_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_one,
     .which = FABS},
    {{"fix", CATEGORY, .summary = "Elements rounded towards zero.",
      .returns = "The shape and type of `x`.", PARAMS(one_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_fix},
    {{"fmax", CATEGORY, .summary = "The larger of two elements; if one is NaN, the other.",
      .returns = EXTREME, PARAMS(two_params), .attrs = CUBED_ATTRS_SHARED},
     .call = call_extreme,
     .which = true},
    {{"fmin", CATEGORY, .summary = "The smaller of two elements; if one is NaN, the other.",
      .returns = EXTREME, PARAMS(two_params), .attrs = CUBED_ATTRS_SHARED},
     .call = call_extreme,
     .which = false},
    {{"iscomplex", CATEGORY, .summary = "Whether elements have an imaginary part.",
      .returns = BOOLS, PARAMS(one_params)},
     .call = call_one,
     .which = ISCOMPLEX},
    {{"isnat", CATEGORY, .summary = "Whether dates and times are NaT, \"not a time\".",
      .returns = BOOLS, PARAMS(one_params)},
     .call = call_one,
     .which = ISNAT},
    {{"isneginf", CATEGORY, .summary = "Whether elements are minus infinity.", .returns = BOOLS,
      PARAMS(one_params)},
     .call = call_one,
     .which = ISNEGINF},
    {{"isnull", CATEGORY,
      .summary = "Whether elements are NaN or NaT: false for integers, bools and strings.",
      .returns = BOOLS, PARAMS(one_params)},
     .call = call_missing,
     .which = false},
    {{"isposinf", CATEGORY, .summary = "Whether elements are plus infinity.", .returns = BOOLS,
      PARAMS(one_params)},
     .call = call_one,
     .which = ISPOSINF},
    {{"isreal", CATEGORY, .summary = "Whether elements have no imaginary part.", .returns = BOOLS,
      PARAMS(one_params)},
     .call = call_one,
     .which = ISREAL},
    {{"notnull", CATEGORY,
      .summary = "Whether elements are neither NaN nor NaT: true for integers, bools and strings.",
      .returns = BOOLS, PARAMS(one_params)},
     .call = call_missing,
     .which = true},
    {{"rad2deg", CATEGORY, .summary = "Radians as degrees.", .returns = FLOATS, PARAMS(one_params)},
     .call = call_one,
     .which = RAD2DEG},
    {{"rint", CATEGORY,
      .summary = "Elements rounded to the nearest integer, halves to the even integer, as floats.",
      .returns = FLOATS, PARAMS(one_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_one,
     .which = RINT},
    {{"sinc", CATEGORY, .summary = "``sin(pi x) / (pi x)``, which is 1 at 0.", .returns = FLOATS,
      PARAMS(one_params)},
     .call = call_one,
     .which = SINC},
};

const cb_rows cb_math_rows = ROWS(rows);
