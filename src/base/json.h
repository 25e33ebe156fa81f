/* Parses JSON with jansson, and gets members of a required type, with precise errors. `where` names the document in messages
 * ("u/.zarray"). */
#ifndef CB_BASE_JSON_H
#define CB_BASE_JSON_H

#include <jansson.h>

#include "base/alloc.h"

/* Parses `size` bytes. NaN, Infinity and -Infinity, which Python writes, become strings. Integers that do not fit in int64 become
 * strings with a marker, which cb_json_dump removes. Invalid JSON fails with CUBED_E_FORMAT; the message has the line and the
 * column. The caller owns *out (json_decref). */
CUBED_MUST_CHECK cubed_status cb_json_parse(const char *where, const char *text, size_t size,
                                            json_t **out, cubed_error *err);
/* Parses `size` bytes that need not be JSON, such as a reply of a server. Sets *out to NULL if they are not valid JSON. `text`
 * may be NULL if `size` is 0. The only error is CUBED_E_NOMEM. */
CUBED_MUST_CHECK cubed_status cb_json_try(const char *where, const char *text, size_t size,
                                          json_t **out, cubed_error *err);
/* Appends JSON with jansson's `flags`; reals have 17 digits. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_json_dump(const json_t *v, size_t flags, cb_buf *out);
/* Returns the number of bytes that jansson allocates for a document; 0 for NULL. */
size_t cb_json_bytes(const json_t *v);
/* Returns the decimal digits of an integer that does not fit in int64; NULL for all other values. */
const char *cb_json_big(const json_t *v);
/* Add a value to an object or a list and take ownership of it. Set *ok to false if out of memory, or if the value or the
 * container is NULL, so that no document is incomplete. */
void cb_json_put(json_t *object, const char *key, json_t *value, bool *ok);
void cb_json_add(json_t *list, json_t *value, bool *ok);
/* For the end of a function that builds a document: returns v if `ok` is true; otherwise frees v and returns NULL. */
json_t *cb_json_if(bool ok, json_t *v);
/* Make a shallow and a deep copy. Return NULL if out of memory, and for NULL. Jansson's own copies may lack members if out of
 * memory. */
json_t *cb_json_copy(const json_t *v);
json_t *cb_json_deep_copy(const json_t *v);
/* Creates a JSON integer up to uint64. Returns a new reference. */
json_t *cb_json_uint64(uint64_t v);
/* Creates a JSON list of integers. Returns a new reference, or NULL if out of memory. */
json_t *cb_json_ints(int n, const int64_t *v);
/* Get the member `key` of an object. CUBED_E_FORMAT if it is missing or has another type: "<where>: "key" must be a string,
 * is ...". */
CUBED_MUST_CHECK cubed_status cb_json_get_string(const char *where, const json_t *obj,
                                                 const char *key, const char **out,
                                                 cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_json_get_int(const char *where, const json_t *obj, const char *key,
                                              int64_t *out, cubed_error *err);
/* Gets a list of at most CUBED_MAX_NDIM integers >= min. */
CUBED_MUST_CHECK cubed_status cb_json_get_ints(const char *where, const json_t *obj,
                                               const char *key, int64_t min, int *n,
                                               int64_t out[CUBED_MAX_NDIM], cubed_error *err);

#endif
