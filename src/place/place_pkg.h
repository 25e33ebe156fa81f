/* Declarations for the files of src/place only. */
#ifndef CB_PLACE_PLACE_PKG_H
#define CB_PLACE_PLACE_PKG_H

#include "place/place.h"

/* Returns the host in a URL, after "://"; NULL if the URL has no scheme. */
const char *cb_url_authority(const char *url);
/* Returns the path in a file: URL; NULL for other URLs. */
const char *cb_url_of_file(const char *url);
/* Appends text with %XX decoded. CUBED_E_ARG for an invalid encoding, and for bytes that no name may contain. */
CUBED_MUST_CHECK cubed_status cb_url_decode(const char *url, const char *from, size_t n,
                                            cb_buf *out, cubed_error *err);
/* Appends the path of a local store as a file: URL, with '%' and ':' percent-encoded. */
void cb_url_put_file(const char *path, cb_buf *out);

/* Fill in store, text, ids and missing, for the path of a local store and for a URL with a host. */
CUBED_MUST_CHECK cubed_status cb_place_find_local(cb_zone *zone, const char *root, cb_place *p,
                                                  cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_place_find_url(cb_zone *zone, const char *url, cb_place *p,
                                                cubed_error *err);

#endif
