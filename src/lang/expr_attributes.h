/* Attributes set by an expression, and units after arithmetic with a number. */
#ifndef CUBED_LANG_EXPR_ATTRIBUTES_H
#define CUBED_LANG_EXPR_ATTRIBUTES_H

#include "lang/expr_json.h"

/* set_attrs(x, units="degC", comment=None): the same elements with other attributes. */
#define EXPR_SET_ATTRS "set_attrs"

/* Sets the attributes of a set_attrs call in *attrs, which becomes a new object if NULL. A value of None removes its
 * attribute. */
void expr_put_attributes(expr_builder *b, const expr *call, json_t **attrs);

/* Returns true if an expression may set this attribute. Returns false for attributes that describe how elements are stored, or
 * that name axes. */
bool expr_may_set_attribute(const char *name);

/* Returns true if `units` is one of the names of degrees Celsius. */
bool expr_is_celsius(const char *units);

/* Changes the attribute `units` after an operation of an array and a number. Adding 273.15 converts degC to K, and
 * subtracting it converts K to degC. Any other number may be a conversion of units. So the units are removed, except if the
 * operation changes at most the sign of values.
 *
 * function  "add", "subtract", "multiply" or "divide"; other functions change nothing
 * first, second  the operands, of which the first is the number if number_first
 * attrs     may be NULL */
void expr_units_with_number(expr_builder *b, const char *function, const expr *first,
                            const expr *second, bool number_first, json_t *attrs);

#endif
