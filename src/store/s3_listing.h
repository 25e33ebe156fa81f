/* Listings as S3 has them, and who speaks like it. */
#ifndef CB_STORE_S3_LISTING_H
#define CB_STORE_S3_LISTING_H

#include "store/remote.h"

void cb_s3_put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
CUBED_MUST_CHECK cubed_status cb_s3_read_page(cb_remote *s, cb_remote_call *c,
                                              cubed_store_request *r, cubed_error *err);
/* Of uploads in parts that were not completed. */
void cb_s3_put_uploads_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
CUBED_MUST_CHECK cubed_status cb_s3_read_uploads(cb_remote *s, cb_remote_call *c,
                                                 cubed_store_request *r, cubed_error *err);

#endif
