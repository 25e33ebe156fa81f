/* Value of a part of an expression while arrays are built: an array or a literal. Like Python scalars in the array API standard,
 * a literal gets the type of the array that it is combined with. */
#ifndef CUBED_LANG_EXPR_VALUE_H
#define CUBED_LANG_EXPR_VALUE_H

#include "lang/expr.h"

typedef struct expr_value {
    cubed_array *array; /* owned; NULL for a literal */
    expr_kind
        kind; /* kind of a literal: EXPR_BOOL, EXPR_INT (i and re), EXPR_FLOAT, EXPR_COMPLEX */
    int64_t i;
    double re, im;
} expr_value;

/* Creates a literal. EXPR_BOOL and EXPR_INT use only `i`, other kinds only `re` and `im`. */
expr_value expr_literal(expr_kind kind, int64_t i, double re, double im);

/* Converts a literal to a value of the catalogue. */
cubed_value expr_literal_value(const expr_value *v);

/* Returns the type of a literal that is combined with `other`, or that is alone if `other` is NULL. */
cubed_dtype expr_literal_dtype(const expr_value *v, const cubed_array *other);

/* Returns the type of a literal that is compared with `other`. The type can represent every integer literal. */
cubed_dtype expr_literal_wide_dtype(const expr_value *v, const cubed_array *other);

/* Converts a literal to a type from expr_literal_dtype. Returns false if the type cannot represent the value. */
bool expr_literal_scalar(const expr_value *v, cubed_dtype dtype, cubed_scalar *out);

/* Arithmetic of literals, as in Python except that integers are limited to int64. Both functions return NULL or an
 * error message. `op` is one of + - * / p. */
const char *expr_literal_negate(const expr_value *v, expr_value *out);
const char *expr_literal_combine(char op, const expr_value *x, const expr_value *y,
                                 expr_value *out);

#endif
