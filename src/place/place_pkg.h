/* For the files of src/place only. */
#ifndef CB_PLACE_PLACE_PKG_H
#define CB_PLACE_PLACE_PKG_H

#include "place/place.h"

/* Where the host begins in a URL ("://" and what is in front of it are behind us), NULL if it has no scheme. */
const char *cb_url_authority(const char *url);
/* Where the path begins in a file: URL; NULL if it is none. */
const char *cb_url_of_file(const char *url);
/* Appends the text with %XX decoded. CUBED_E_ARG for what is no encoding, and for bytes that no name has. */
CUBED_MUST_CHECK cubed_status cb_url_decode(const char *url, const char *from, size_t n,
                                            cb_buf *out, cubed_error *err);
/* The path of a local store as a file: URL in which nothing has another meaning. */
void cb_url_put_file(const char *path, cb_buf *out);

/* Fills in store, text, ids and missing: of the path of a local store, and of a URL with a host. */
CUBED_MUST_CHECK cubed_status cb_place_find_local(cb_zone *zone, const char *root, cb_place *p,
                                                  cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_place_find_url(cb_zone *zone, const char *url, cb_place *p,
                                                cubed_error *err);

#endif
