/* Attributes and elements of arrays, for the expression language and for the command. */
#ifndef CUBED_LANG_ARRAYS_H
#define CUBED_LANG_ARRAYS_H

#include <jansson.h>

#include "cubed/cubed.h"

/* Parses a JSON text of attributes. Integers beyond int64 become reals. Returns a new reference, or NULL. */
json_t *lang_attributes(const char *text);
/* Returns the string of an attribute, or NULL if there is no such string. Valid as long as `attrs`. */
const char *lang_attribute_text(const json_t *attrs, const char *name);
/* Returns true if a list of strings, which ends with NULL, contains `text`. Returns false if `text` is NULL. */
bool lang_is_one_of(const char *text, const char *const *list);
/* Returns one element as JSON: NaN and infinities as strings, complex numbers as pairs, integers beyond int64 as strings of
 * digits. Returns NULL if memory is exhausted. */
json_t *lang_element_json(cubed_dtype dtype, const void *p);
/* Returns the axis named `name`, or -1 if x has no such axis. `name` may be NULL. */
int lang_axis_named(const cubed_array *x, const char *name);
/* Computes all elements of a small array now, in this thread. */
CUBED_MUST_CHECK cubed_status lang_compute_small(cubed_context *ctx, cubed_array *x, void *to,
                                                 cubed_error *err);
/* Sets *err, which may be NULL, to an error with this message. Returns `status`. */
cubed_status lang_fail(cubed_error *err, cubed_status status, const char *fmt, ...)
    CUBED_PRINTF(3, 4);
/* Reads all elements of x as float64 into new memory, which the caller frees with lang_free, even after an error. `memory`:
 * maximum bytes that reading may use; 0: no limit. */
CUBED_MUST_CHECK cubed_status lang_read_numbers(cubed_context *ctx, cubed_array *x, uint64_t memory,
                                                double **out, int64_t *n, cubed_error *err);
/* Creates an array of float64 numbers in memory from lang_alloc. Takes ownership of the numbers, even after an error. `names` and
 * `attrs`, a JSON text, may be NULL. */
CUBED_MUST_CHECK cubed_status lang_own_array(cubed_context *ctx, int ndim, const int64_t *shape,
                                             const char *const *names, const char *attrs,
                                             double *data, cubed_array **out, cubed_error *err);

#endif
