/* Uploads in parts as S3 has them, and who speaks like it: begun, sent, completed or aborted, and listed. */
#ifndef CB_STORE_S3_UPLOAD_H
#define CB_STORE_S3_UPLOAD_H

#include "store/services/remote.h"

/* What of an object, or of a bucket, such a call means: "" for others. */
void cb_s3_put_upload_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query);
/* Makes the body of CB_REMOTE_COMPLETE: the parts, with what their replies said. */
bool cb_s3_put_parts(cb_remote_call *c, bool checksums);
/* Of dialects. */
bool cb_s3_read_upload(cb_remote_call *c);
CUBED_MUST_CHECK cubed_status cb_s3_read_uploads(cb_remote *s, cb_remote_call *c,
                                                 cubed_store_request *r, cubed_error *err);
/* Appends what an element of the reply has; false: it has none. */
bool cb_s3_put_element(const cb_remote_call *c, const char *name, cb_buf *out);

#endif
