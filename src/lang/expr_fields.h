/* Functions of fields, which find axes and weights by coordinates. */
#ifndef CUBED_LANG_EXPR_FIELDS_H
#define CUBED_LANG_EXPR_FIELDS_H

#include "lang/expr_builder.h"

/* Builds a call of a function of the category "fields" whose first argument is an array with coordinates. *is_one is false for
 * other calls, which are not built. */
cubed_status expr_fields_build(expr_builder *b, const expr *e, const cubed_function *function,
                               cubed_array **out, bool *is_one);

#endif
