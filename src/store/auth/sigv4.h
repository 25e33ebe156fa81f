/* Signatures of Amazon's version 4 ("AWS4-HMAC-SHA256"), and Google's variant, which uses other names. */
#ifndef CB_STORE_SIGV4_H
#define CB_STORE_SIGV4_H

#include <stdbool.h>
#include <time.h>

#include "base/alloc.h"

typedef struct cb_sigv4 {
    const char *id, *secret;
    const char *token; /* session token; may be NULL */
    const char *region, *service;
    time_t now;
    bool google; /* sign with "GOOG4-HMAC-SHA256" and headers "x-goog-..." */
} cb_sigv4;

/* The request to sign. Path and query are percent-encoded as sent; the query has no '?'. `body` is the hexadecimal digest
 * of the body, or a word that replaces the digest. */
typedef struct cb_sigv4_request {
    const char *method, *path, *query, *body;
} cb_sigv4_request;

/* Signs a request by headers. `headers` contains lines "name: value", each with its terminating NUL and a lower-case name,
 * including the host's. All of them are signed. Adds headers for date, token and signature. */
CUBED_MUST_CHECK cubed_status cb_sigv4_sign(const cb_sigv4 *s, const cb_sigv4_request *r,
                                            cb_buf *headers, cubed_error *err);
/* Signs a request by its query (Amazon only). The service refuses the request if it arrives more than `seconds` after
 * `now`. Appends the request's query and the parts of the signature to `query`. Adds no headers. */
CUBED_MUST_CHECK cubed_status cb_sigv4_sign_query(const cb_sigv4 *s, const cb_sigv4_request *r,
                                                  unsigned seconds, const cb_buf *headers,
                                                  cb_buf *query, cubed_error *err);

#endif
