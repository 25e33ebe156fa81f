/* Listings as S3 has them, and who speaks like it. */
#ifndef CB_STORE_S3_LISTING_H
#define CB_STORE_S3_LISTING_H

#include "store/services/remote.h"

void cb_s3_put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
CUBED_MUST_CHECK cubed_status cb_s3_read_page(cb_remote *s, cb_remote_call *c,
                                              cubed_store_request *r, cubed_error *err);
/* The same, of a service whose listings tell versions by another element than ETag. */
CUBED_MUST_CHECK cubed_status cb_s3_read_entries(const cb_remote *s, cb_remote_call *c,
                                                 cubed_store_request *r, const char *element,
                                                 cubed_error *err);

/* For other lists. */

/* That names begin with what the call asks for. */
void cb_s3_put_prefix(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
/* The name that an element has, and as it is spelled there; false: there is none. Both are emptied before. */
bool cb_s3_put_name(cb_buf *name, cb_buf *text, cb_xml_part in, const char *element);
/* After the last page: CUBED_E_IO if the listing says that it is truncated, but has no such token. */
CUBED_MUST_CHECK cubed_status cb_s3_check_end(cb_xml_part all, const char *token, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_s3_malformed(cubed_error *err);

#endif
