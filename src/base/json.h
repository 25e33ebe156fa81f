/* Thin glue over jansson: typed lookups that say what is wrong and where.
 * `where` names the document in messages ("u/.zarray"). */
#ifndef CB_BASE_JSON_H
#define CB_BASE_JSON_H

#include <jansson.h>

#include "base/alloc.h"

/* Parses `size` bytes; NaN, Infinity and -Infinity literals (which Python writes) become the
 * strings of the same spelling, and stay strings. Integers that int64 cannot hold become strings
 * that start with a mark, which cb_json_dump takes away again. CUBED_E_FORMAT with line and column.
 * *out is the caller's (json_decref). */
CUBED_MUST_CHECK cubed_status cb_json_parse(const char *where, const char *text, size_t size,
                                            json_t **out, cubed_error *err);
/* Appends text with jansson's `flags`, reals with 17 digits; false when there is no memory. */
CUBED_MUST_CHECK bool cb_json_dump(const json_t *v, size_t flags, cb_buf *out);
/* Bytes that a document takes, as jansson allocates it; 0 of NULL. */
size_t cb_json_bytes(const json_t *v);
/* The decimal digits of an integer that int64 cannot hold; NULL for everything else. */
const char *cb_json_big(const json_t *v);
/* Puts a value, which is taken over, into an object or at the end of a list. Sets *ok to false without memory, also if the value
 * or the object is NULL: documents are complete or are not made. */
void cb_json_put(json_t *object, const char *key, json_t *value, bool *ok);
void cb_json_add(json_t *list, json_t *value, bool *ok);
/* v if `ok`, else NULL: then v is freed. */
json_t *cb_json_if(bool ok, json_t *v);
/* A copy of the outermost object or list, whose members are shared, and of all of them. NULL without memory, and of NULL: Jansson's
 * own copies may lack members then. */
json_t *cb_json_copy(const json_t *v);
json_t *cb_json_deep_copy(const json_t *v);
/* An integer of any size up to uint64: a new reference. */
json_t *cb_json_uint64(uint64_t v);
/* A list of integers: a new reference; NULL without memory. */
json_t *cb_json_ints(int n, const int64_t *v);
/* Each getter fails with CUBED_E_FORMAT "<where>: \"key\" must be a string, is ..." */
CUBED_MUST_CHECK cubed_status cb_json_get_string(const char *where, const json_t *obj,
                                                 const char *key, const char **out,
                                                 cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_json_get_int(const char *where, const json_t *obj, const char *key,
                                              int64_t *out, cubed_error *err);
/* An array of at most CUBED_MAX_NDIM integers >= min. */
CUBED_MUST_CHECK cubed_status cb_json_get_ints(const char *where, const json_t *obj,
                                               const char *key, int64_t min, int *n,
                                               int64_t out[CUBED_MAX_NDIM], cubed_error *err);

#endif
