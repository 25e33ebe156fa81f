/* Signatures of Amazon's version 4 ("AWS4-HMAC-SHA256"), and Google's of the same make with names of its own. */
#ifndef CB_STORE_SIGV4_H
#define CB_STORE_SIGV4_H

#include <stdbool.h>
#include <time.h>

#include "base/alloc.h"

typedef struct cb_sigv4 {
    const char *id, *secret;
    const char *token; /* of a session; NULL: none */
    const char *region, *service;
    time_t now;
    bool google; /* "GOOG4-HMAC-SHA256", and headers "x-goog-..." */
} cb_sigv4;

/* What there is to sign. Path and query are encoded as they are sent, the query without its '?'; `body` is the digest of
 * the body in digits, or a word that stands for it. */
typedef struct cb_sigv4_request {
    const char *method, *path, *query, *body;
} cb_sigv4_request;

/* `headers` are lines "name: value", each with its zero, of lower-case names, that of the host among them. All are
 * signed; those of date, token and signature are added. */
CUBED_MUST_CHECK cubed_status cb_sigv4_sign(const cb_sigv4 *s, const cb_sigv4_request *r,
                                            cb_buf *headers, cubed_error *err);
/* Amazon's signature in the query, by which a service refuses the request when it is `seconds` older than `now`. Appends the query
 * of the request, and then the signature's parts, to `query`. Adds no headers. */
CUBED_MUST_CHECK cubed_status cb_sigv4_sign_query(const cb_sigv4 *s, const cb_sigv4_request *r,
                                                  unsigned seconds, const cb_buf *headers,
                                                  cb_buf *query, cubed_error *err);

#endif
