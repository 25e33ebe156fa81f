/* Uploads in parts with the S3 protocol: begin, send parts, complete or abort, list. */
#ifndef CB_STORE_S3_UPLOAD_H
#define CB_STORE_S3_UPLOAD_H

#include "store/services/remote.h"

/* Appends the query of a call for an upload; nothing for other calls. */
void cb_s3_put_upload_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
/* Creates the body of CB_REMOTE_COMPLETE: the list of parts, with the data of their replies. */
bool cb_s3_put_parts(cb_remote_call *c, bool checksums);
/* Functions of dialects. */
bool cb_s3_read_upload(cb_remote_call *c);
CUBED_MUST_CHECK cubed_status cb_s3_read_uploads(cb_remote *s, cb_remote_call *c,
                                                 cubed_store_request *r, cubed_error *err);
/* Appends the content of an element of the reply. Returns false if there is none. */
bool cb_s3_put_element(const cb_remote_call *c, const char *name, cb_buf *out);

#endif
