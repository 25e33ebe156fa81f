/* Attributes as JSON while an expression is built. If out of memory, the expression fails with CUBED_E_NOMEM at its end, as for
 * expr_text. Callers need not check, and no attribute is lost silently. */
#ifndef CUBED_LANG_EXPR_JSON_H
#define CUBED_LANG_EXPR_JSON_H

#include <jansson.h>

#include "lang/expr_builder.h"

/* Return a new object, or a copy of `v`, which may be NULL. NULL if out of memory. */
json_t *expr_json_object(expr_builder *b);
json_t *expr_json_copy(expr_builder *b, const json_t *v);
/* Returns the attributes of x, a new reference; NULL if out of memory. */
json_t *expr_json_attrs(expr_builder *b, const cubed_array *x);
/* Set a member of an object to a value, which the object then owns, or to a string. */
void expr_json_put(expr_builder *b, json_t *object, const char *name, json_t *value);
void expr_json_put_text(expr_builder *b, json_t *object, const char *name, const char *fmt, ...)
    CUBED_PRINTF(4, 5);
/* Removes an attribute and its recorded type. `name` may be the attribute's own key, which is freed last. */
void expr_json_drop_attribute(json_t *attrs, const char *name);
/* Returns x with the attributes `attrs`; NULL: no attributes. Error messages do not contain a position in the text. */
CUBED_MUST_CHECK cubed_status expr_json_describe(expr_builder *b, cubed_array *x,
                                                 const json_t *attrs, cubed_array **out);

#endif
