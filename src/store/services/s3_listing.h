/* Listings in the S3 format. */
#ifndef CB_STORE_S3_LISTING_H
#define CB_STORE_S3_LISTING_H

#include "store/services/remote.h"

void cb_s3_put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
CUBED_MUST_CHECK cubed_status cb_s3_read_page(cb_remote *s, cb_remote_call *c,
                                              cubed_store_request *r, cubed_error *err);
/* Reads a page of a listing, for services that return versions in `element` instead of ETag. */
CUBED_MUST_CHECK cubed_status cb_s3_read_entries(const cb_remote *s, cb_remote_call *c,
                                                 cubed_store_request *r, const char *element,
                                                 cubed_error *err);

/* Helpers for lists of objects and of unfinished uploads. */

/* Appends the query that limits a list to names with the call's prefix. */
void cb_s3_put_prefix(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
/* Gets the name in an element: decoded in `name`, as spelled there in `text`. CUBED_E_IO if the element has no name. Empties
 * both buffers first. */
CUBED_MUST_CHECK cubed_status cb_s3_put_name(cb_buf *name, cb_buf *text, cb_xml_part in,
                                             const char *element, cubed_error *err);
/* Checks a listing that has no `token` element: CUBED_E_IO if it claims to be truncated. */
CUBED_MUST_CHECK cubed_status cb_s3_check_end(cb_xml_part all, const char *token, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_s3_malformed(cubed_error *err);

#endif
