/* Calls of an HTTP client that get whole objects, or put an object as their body, and report success by code 200. */
#ifndef CUBED_HTTP_WHOLE_H
#define CUBED_HTTP_WHOLE_H

#include "store/http/http_client.h"

typedef struct whole_call {
    cb_http_call http; /* the first */
    const char *url;
    cb_http_piece piece;
} whole_call;

static inline cb_http_ready whole_prepare(cb_http_call *c)
{
    cb_buf_puts(&c->url, ((whole_call *)c)->url);
    return CB_HTTP_GO;
}

static inline cb_http_verdict whole_judge(cb_http_call *c)
{
    c->status = c->code == 200 ? CUBED_OK : CUBED_E_IO;
    return CB_HTTP_DONE;
}

/* Bytes go to `piece`; if it has no memory, they become text. `fns` has the two functions above. */
static inline void whole_init(whole_call *w, const cb_http_functions *fns, const char *url,
                              cb_http_piece piece, const cubed_allocator *a)
{
    cb_http_call_init(&w->http, a);
    w->http.fns = fns;
    w->url = url;
    w->piece = piece;
    if (!piece.dst) return;
    w->http.pieces = &w->piece;
    w->http.npieces = 1;
    w->http.whole = true;
}

#endif
