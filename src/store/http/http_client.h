/* HTTP: a thread that sends calls, tries them again, and keeps connections. The remote stores of a context have a few
 * (store/http/net.h).
 *
 * A call is made by its owner, who fills in what it is, and gets it back by `done`. All functions of a call but
 * cb_http_submit are called in the client's thread, which does nothing else meanwhile: they do not block. */
#ifndef CB_STORE_HTTP_CLIENT_H
#define CB_STORE_HTTP_CLIENT_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "store/http/address.h"
#include "store/http/hedge.h"

/* Calls at once of the stores' clients together; more wait. A few requests more are those that are sent twice (store/http/hedge.h). */
enum { CB_HTTP_MOST = 64 };
/* Memory of a call that is under way beside its body and reply, with its connection, of TLS and kept when it is over; and,
 * once in a process, of the client, libcurl's own, and certificates that are believed, also by who asks for credentials.
 * Measured by tests/unit/test_remote_memory.c. */
enum { CB_HTTP_REQUEST_BYTES = 320 << 10, CB_HTTP_PROCESS_BYTES = 3 << 20 };

/* How servers are reached and believed; NULL: no proxy, the system's certificates. */
typedef struct cb_http_way {
    const char *ca_file, *proxy, *plain_proxy, *no_proxy; /* plain: to http:// */
} cb_http_way;

typedef struct cb_http cb_http;
typedef struct cb_http_call cb_http_call;

/* Where bytes of the object go. `offset` may be CUBED_RANGE_SUFFIX, of one piece alone, until a reply has come. */
typedef struct cb_http_piece {
    uint64_t offset;
    size_t size, got;
    char *dst;
} cb_http_piece;

typedef enum cb_http_ready {
    CB_HTTP_GO,
    CB_HTTP_WAIT, /* for cb_http_wake */
    CB_HTTP_NO,   /* status and error say why */
} cb_http_ready;

typedef enum cb_http_verdict {
    CB_HTTP_DONE,
    CB_HTTP_AGAIN, /* at once, as something else is sent */
    CB_HTTP_LATER, /* as a fault that may pass; error says what it is if it does not */
} cb_http_verdict;

typedef struct cb_http_functions {
    /* Before each attempt: URL and headers. */
    cb_http_ready (*prepare)(cb_http_call *c);
    /* A reply has come whole: code, headers, and text or pieces. */
    cb_http_verdict (*judge)(cb_http_call *c);
    void (*done)(cb_http_call *c);
} cb_http_functions;

struct cb_http_call {
    const cb_http_functions *fns;
    const char *method;
    const void *body;
    size_t body_size;
    cb_buf before, behind; /* the body: what is sent around it */
    /* Bodies of replies 200 and 206 go there: ascending, and apart. None: they are text, as those of other replies. */
    cb_http_piece *pieces;
    size_t npieces;
    bool
        whole; /* the one piece is the object, if it is not longer: else nothing comes, and `total` tells */
    size_t most_text;      /* bytes of the reply's text, if it succeeds; 0: CB_HTTP_MOST_TEXT */
    bool patient;          /* the server may work long before it replies */
    bool follows;          /* redirections are followed by the client */
    cb_address_kind limit; /* of a call that follows (store/http/http_redirect.h) */
    cb_http_way way;
    uint32_t connect_ms, stall_ms; /* 0: as long as is usual */

    /* By prepare: headers are lines "name: value", each with its zero. */
    cb_buf url, headers;

    /* The reply. `total` is that of the object, UINT64_MAX if it is not known. */
    int code;     /* 0: none came */
    cb_buf reply; /* header lines, names in lower case */
    cb_buf text;
    uint64_t total;
    /* Of the body, also of one that was not sent (HEAD); -1: the server does not tell. */
    int64_t length;
    bool too_long; /* `whole` was not */
    int attempts;
    cb_address_kind farthest; /* of the servers that the last attempt asked, if the call follows */

    /* Of calls that came to nothing. */
    cubed_status status;
    cubed_error error;

    /* The client's. */
    struct cb_http_call *next;
    atomic_bool cancelled;
    struct cb_http_transfer *transfer, *second; /* second: the same request, sent again */
    bool may_hedge;                             /* a read that has not been sent twice */
    int64_t not_before;
    uint64_t sent; /* of the body with what is around it */
    uint64_t at;   /* of the object: the next byte of the body */
    uint64_t end;  /* of the object: where the body ends; UINT64_MAX: not known */
    size_t header_bytes, header_lines;
    size_t piece;
    int stop; /* cb_http_stop (store/http/http_reply.h) */
};

/* `most` calls at once, at least 1. By `hedge`, which outlives it, some are sent twice (store/http/hedge.h); NULL: none are. */
CUBED_MUST_CHECK cubed_status cb_http_new(const cubed_allocator *a, unsigned most, cb_hedge *hedge,
                                          cb_http **out, cubed_error *err);
/* No call is under way. */
void cb_http_free(cb_http *h);
/* Whether it is one of this process: of a child that was forked it is not. */
bool cb_http_is_here(const cb_http *h);
/* Calls that were submitted and are not done. */
unsigned cb_http_calls(const cb_http *h);
void cb_http_call_init(cb_http_call *c, const cubed_allocator *a);
void cb_http_call_free(cb_http_call *c);
/* From any thread, also from within `done`. */
void cb_http_submit(cb_http *h, cb_http_call *c);
/* Calls whose `cancelled` has been set are given back. */
void cb_http_look_at_cancelled(cb_http *h);
/* Calls that wait are prepared again. */
void cb_http_wake(cb_http *h);
/* What the reply says, NULL if it does not. Names are in lower case. */
const char *cb_http_header(const cb_http_call *c, const char *name);
/* A header that is a date ("date": when the reply was sent) in seconds since 1970; 0: it does not say. */
int64_t cb_http_date(const cb_http_call *c, const char *name);
/* Adds a header. */
void cb_http_put_header(cb_http_call *c, const char *name, const char *value);
/* The file of certificates that this system believes in; NULL: one of those that libcurl knows is there, or none is. */
const char *cb_http_find_certificates(const char *known_file, const char *known_folder);

#endif
