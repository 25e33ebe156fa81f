/* What parts of an expression are while arrays are built from it: arrays, or literals. Literals are
 * weak, as Python scalars are in the standard: they take the type of the array they meet. */
#ifndef CUBED_LANG_EXPR_VALUE_H
#define CUBED_LANG_EXPR_VALUE_H

#include "lang/expr.h"

typedef struct expr_value {
    cubed_array *array; /* owned; NULL for a literal */
    expr_kind kind; /* literals: EXPR_BOOL, EXPR_INT (both: i, and re), EXPR_FLOAT, EXPR_COMPLEX */
    int64_t i;
    double re, im;
} expr_value;

/* Of EXPR_BOOL and EXPR_INT only `i` counts, of the others `re` and `im`. */
expr_value expr_literal(expr_kind kind, int64_t i, double re, double im);

/* A literal as a value of the catalogue. */
cubed_value expr_literal_value(const expr_value *v);

/* The type that a literal takes beside `other`, or alone if that is NULL. */
cubed_dtype expr_literal_dtype(const expr_value *v, const cubed_array *other);

/* The same, but one that has its value: that in which it is compared with `other`. */
cubed_dtype expr_literal_wide_dtype(const expr_value *v, const cubed_array *other);

/* The literal in a type that expr_literal_dtype gave; false if the type does not have the value. */
bool expr_literal_scalar(const expr_value *v, cubed_dtype dtype, cubed_scalar *out);

/* Arithmetic of literals, as Python's but that integers end at int64. Both return NULL, or what is
 * wrong. `op` is one of + - * / p. */
const char *expr_literal_negate(const expr_value *v, expr_value *out);
const char *expr_literal_combine(char op, const expr_value *x, const expr_value *y,
                                 expr_value *out);

#endif
