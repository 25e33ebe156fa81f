/* Attributes and elements of arrays, for the expression language and for the command. */
#ifndef CUBED_LANG_ARRAYS_H
#define CUBED_LANG_ARRAYS_H

#include <jansson.h>

#include "cubed/cubed.h"

/* Parses a JSON text of attributes. Integers beyond int64 become reals. Returns a new reference, or NULL. */
json_t *lang_attributes(const char *text);
/* Returns the string of an attribute, or NULL if there is none. Valid as long as `attrs`. */
const char *lang_attribute_text(const json_t *attrs, const char *name);
/* Returns whether a list that ends with NULL contains a string. Returns false if `text` is NULL. */
bool lang_is_one_of(const char *text, const char *const *list);
/* Returns one element as JSON: NaN and infinities as strings, complex numbers as pairs, integers beyond int64 as strings of
 * digits. Returns NULL if memory is exhausted. */
json_t *lang_element_json(cubed_dtype dtype, const void *p);
/* Returns the axis named `name`, or -1 if there is none. `name` may be NULL. */
int lang_axis_named(const cubed_array *x, const char *name);
/* Computes all elements of a small array now, in this thread. */
CUBED_MUST_CHECK cubed_status lang_compute_small(cubed_context *ctx, cubed_array *x, void *to,
                                                 cubed_error *err);

#endif
