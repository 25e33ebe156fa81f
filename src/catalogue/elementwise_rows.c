/* Rows of the elementwise functions, generated from the rows of cubed/ops.def. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "literal.h"
#include "rows.h"

#define OPERAND(NAME, NOTES)                                                                       \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(ARRAY) | NUMBERS, CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY,    \
              NOTES)                                                                               \
    }

static const cubed_param params_1[] = {OPERAND("x", "Input array.")};
static const cubed_param params_2[] = {OPERAND("x1", "The first operand."),
                                       OPERAND("x2", "The second operand.")};
static const cubed_param params_3[] = {
    OPERAND("condition", "Bools: true selects the element of `x1`, false the element of `x2`."),
    OPERAND("x1", "Elements where the condition is true."),
    OPERAND("x2", "Elements where the condition is false.")};

/* Calls an elementwise operation. A number is converted to the type of its promotion with the first array. The condition of
 * `where` keeps its own type, and is not the first array. */
static cubed_status call_elementwise(const cb_call *c)
{
    const cubed_op op = (cubed_op)c->which;
    const int n = c->function->nparams, first = op == CUBED_OP_WHERE ? 1 : 0;
    cubed_array *in[3] = {NULL, NULL, NULL};
    cubed_status st = CUBED_OK;
    if (first > 0)
        st = cb_call_number(c, 0, cubed_number_dtype(&c->values[0], CUBED_BOOL, false), &in[0]);
    if (st == CUBED_OK)
        st = cb_call_operands(c, first, n - 1, cubed_op_takes_any_integer(op), in + first);
    if (st == CUBED_OK) st = cubed_elementwise(op, in, n, c->out, c->err);
    for (int i = 0; i < n; i++) cubed_array_unref(in[i]);
    return st;
}

static const cubed_param params_round[] = {
    OPERAND("x", "Input array."),
    {PARAM_IN("decimals", ACCEPTS(INT), 0, -1000, 1000,
              "Number of decimal places; negative numbers round before the decimal point."),
     INT_DEFAULT(0)},
};

static cubed_status call_round(const cb_call *c)
{
    cubed_array *x = NULL;
    CB_TRY(cb_call_operands(c, 0, 0, false, &x));
    cubed_status st = cubed_round(x, (int)cb_call_int(c, 1), c->out, c->err);
    cubed_array_unref(x);
    return st;
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define RETURNS_SAME "The type of the operands, which are broadcast and promoted."
#define RETURNS_BOOL "bool; the operands are broadcast."
#define RETURNS_FLOAT                                                                              \
    "float64 for integers, else the type of the operands, which are broadcast and promoted."
#define RETURNS_REAL  "The type of the operand; the real type of complex numbers."
#define RETURNS_LAST2 "The type that `x1` and `x2` promote to, which are broadcast."

/* Macros that determine, at compile time, how an operation changes attributes. */
#define KEEPS_UNITS(OP)                                                                            \
    ((OP) == CUBED_OP_ABS || (OP) == CUBED_OP_NEGATIVE || (OP) == CUBED_OP_POSITIVE ||             \
     (OP) == CUBED_OP_ROUND || (OP) == CUBED_OP_FLOOR || (OP) == CUBED_OP_CEIL ||                  \
     (OP) == CUBED_OP_TRUNC || (OP) == CUBED_OP_REAL || (OP) == CUBED_OP_IMAG ||                   \
     (OP) == CUBED_OP_CONJ)
#define SHARES_UNITS(OP)                                                                           \
    ((OP) == CUBED_OP_ADD || (OP) == CUBED_OP_SUBTRACT || (OP) == CUBED_OP_MAXIMUM ||              \
     (OP) == CUBED_OP_MINIMUM || (OP) == CUBED_OP_HYPOT || (OP) == CUBED_OP_REMAINDER ||           \
     (OP) == CUBED_OP_WHERE)
#define SCALES_UNITS(OP) ((OP) == CUBED_OP_MULTIPLY || (OP) == CUBED_OP_DIVIDE)
#define ATTRS(OP)                                                                                  \
    (KEEPS_UNITS(OP)    ? CUBED_ATTRS_SAME                                                         \
     : SHARES_UNITS(OP) ? CUBED_ATTRS_SHARED                                                       \
     : SCALES_UNITS(OP) ? CUBED_ATTRS_SCALE                                                        \
                        : CUBED_ATTRS_NONE)

/* `round` is the only operation whose function has more parameters than the operation has operands. */
#define IS_ROUND(NAME) (CUBED_OP_##NAME == CUBED_OP_ROUND)

/* Operations for random numbers are internal, and have no row. */
#define ROW_SAME(NAME, TEXT, ARITY, RESULT, SUMMARY)                                               \
    {{.name = (TEXT),                                                                              \
      .category = "elementwise",                                                                   \
      .summary = (SUMMARY),                                                                        \
      .returns = RETURNS_##RESULT,                                                                 \
      .params = IS_ROUND(NAME) ? params_round : params_##ARITY,                                    \
      .nparams = IS_ROUND(NAME) ? 2 : (ARITY),                                                     \
      .attrs = ATTRS(CUBED_OP_##NAME),                                                             \
      .first_operand = (ARITY) == 3},                                                              \
     .call = IS_ROUND(NAME) ? call_round : call_elementwise,                                       \
     .which = CUBED_OP_##NAME},
#define ROW_BOOL  ROW_SAME
#define ROW_FLOAT ROW_SAME
#define ROW_REAL  ROW_SAME
#define ROW_LAST2 ROW_SAME
#define ROW_INDEX(...)
#define ROW_INDEX_F32(...)
#define ROW_INDEX_INT(...)

static const cb_row rows[] = {
#define CUBED_OP(NAME, name, number, arity, accepts, result, summary)                              \
    ROW_##result(NAME, #name, arity, result, summary)
#include "cubed/ops.def"
#undef CUBED_OP
};

const cb_rows cb_elementwise_rows = ROWS(rows);
