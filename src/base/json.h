/* Thin glue over jansson: typed lookups that say what is wrong and where.
 * `where` names the document in messages ("u/.zarray"). */
#ifndef CB_BASE_JSON_H
#define CB_BASE_JSON_H

#include <jansson.h>

#include "cubed/base.h"

/* Parses `size` bytes; NaN, Infinity and -Infinity literals (which zarr-python 2 wrote) become the
 * strings of the same spelling. CUBED_E_FORMAT with line and column. *out is the caller's
 * (json_decref). */
CUBED_MUST_CHECK cubed_status cb_json_parse(const char *where, const char *text, size_t size,
                                            json_t **out, cubed_error *err);
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
