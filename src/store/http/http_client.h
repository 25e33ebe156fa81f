/* HTTP client: a thread that sends calls, retries them and keeps connections. The remote stores of a context share a few
 * clients (store/http/net.h).
 *
 * The owner of a call fills it in, and gets it back by `done`. All functions of a call except cb_http_submit are called by
 * the client's thread, so they must not block. */
#ifndef CB_STORE_HTTP_CLIENT_H
#define CB_STORE_HTTP_CLIENT_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "store/http/address.h"
#include "store/http/hedge.h"
#include "store/http/throttle.h"

/* Maximum number of calls in flight of all clients of a context; further calls wait. Requests sent a second time are not
 * counted (store/http/hedge.h). */
enum { CB_HTTP_MOST = 64 };
/* Memory in bytes, measured by tests/unit/test_remote_memory.c:
 *
 * CB_HTTP_REQUEST_BYTES  of a call in flight in addition to its body and reply; includes its TLS connection, which is kept after
 *                        the call
 * CB_HTTP_PROCESS_BYTES  of a process, once: clients, libcurl and certificates, including those of requests for credentials */
enum { CB_HTTP_REQUEST_BYTES = 320 << 10, CB_HTTP_PROCESS_BYTES = 3 << 20 };

/* Certificates and proxies. NULL: the system's certificates, no proxy. */
typedef struct cb_http_way {
    const char *ca_file, *proxy, *plain_proxy, *no_proxy; /* plain_proxy: proxy for http:// URLs */
} cb_http_way;

typedef struct cb_http cb_http;
typedef struct cb_http_call cb_http_call;

/* Destination of a range of the object. If there is only one piece, `offset` may be CUBED_RANGE_SUFFIX (the last `size` bytes of
 * the object) until the reply arrives. */
typedef struct cb_http_piece {
    uint64_t offset;
    size_t size, got;
    char *dst;
} cb_http_piece;

typedef enum cb_http_ready {
    CB_HTTP_GO,
    CB_HTTP_WAIT, /* the call waits for cb_http_wake */
    CB_HTTP_NO,   /* the call failed: see status and error */
} cb_http_ready;

typedef enum cb_http_verdict {
    CB_HTTP_DONE,
    CB_HTTP_AGAIN, /* the call is retried immediately, with a changed request */
    /* The call is retried as after a transient fault; `error` describes the fault if retries fail. */
    CB_HTTP_LATER,
    /* The service refused the call because there are too many calls: retry when the throttle allows it. This does not count as
     * an attempt. Without a throttle, the same as CB_HTTP_LATER. */
    CB_HTTP_THROTTLED,
} cb_http_verdict;

typedef struct cb_http_functions {
    /* Sets URL and headers before each attempt. */
    cb_http_ready (*prepare)(cb_http_call *c);
    /* Examines a complete reply (code, headers, and text or pieces), and decides whether the call is done or retried. */
    cb_http_verdict (*judge)(cb_http_call *c);
    void (*done)(cb_http_call *c);
} cb_http_functions;

struct cb_http_call {
    const cb_http_functions *fns;
    const char *method;
    const void *body;
    size_t body_size;
    cb_buf before, behind; /* bytes that are sent before and after the body */
    /* Destinations of the bodies of replies 200 and 206, in ascending order without overlap. If npieces is 0, these bodies go
     * to `text`, like the bodies of other replies. */
    cb_http_piece *pieces;
    size_t npieces;
    /* the only piece must hold the whole object; if the object is longer, nothing is read and `total` is set */
    bool whole;
    /* maximum size in bytes of the text of a successful reply; 0: CB_HTTP_MOST_TEXT */
    size_t most_text;
    bool patient; /* the server may need a long time before it replies */
    bool follows; /* the client follows redirects */
    cb_address_kind
        limit; /* limit on addresses, for a call that follows redirects (store/http/http_redirect.h) */
    cb_throttle *
        throttle; /* limits the calls in flight to the service; outlives the call; NULL: no limit */
    cb_http_way way;
    uint32_t connect_ms, stall_ms; /* 0: default */
    uint32_t
        refused_ms; /* maximum milliseconds for which the service may refuse all calls that this throttle limits; 0: default */

    /* Set by prepare: header lines "name: value", each with its terminating NUL. */
    cb_buf url, headers;
    uint64_t keys_fetched; /* identifies the keys in the headers (store/auth/credentials.h) */

    /* The reply. `total` is the size of the object, UINT64_MAX if unknown. */
    int code;     /* 0: no reply */
    cb_buf reply; /* header lines; names in lower case */
    cb_buf text;
    uint64_t total;
    /* Content length, even of the reply to a HEAD request, which has no body; -1 if unknown. */
    int64_t length;
    bool too_long; /* `whole` is set, and the object is longer than the only piece */
    int attempts;
    /* kind of the farthest server in the last attempt, if the call follows redirects */
    cb_address_kind farthest;

    /* Result of a failed call. */
    cubed_status status;
    cubed_error error;

    /* Private to the client. */
    struct cb_http_call *next;
    atomic_bool cancelled;
    /* `transfer`: the running transfer; `second`: the transfer of the same request that was sent again, or NULL */
    struct cb_http_transfer *transfer, *second;
    /* The call is a read that has not been sent twice yet. */
    bool may_hedge;
    int64_t not_before;
    int64_t
        entered; /* time when the throttle began to count the call; 0: the throttle does not count it now */
    int refusals;  /* number of replies judged as CB_HTTP_THROTTLED */
    uint64_t sent; /* bytes sent of the body, including `before` and `behind` */
    uint64_t at;   /* offset in the object of the next byte of the body */
    uint64_t end;  /* offset in the object of the body's end; UINT64_MAX: unknown */
    size_t header_bytes, header_lines;
    size_t piece;
    int stop; /* reason for stopping, a cb_http_stop (store/http/http_reply.h) */
};

/* Creates a client for at most `most` simultaneous calls; `most` >= 1. `hedge` decides which reads are sent twice, and must
 * outlive the client; NULL: no read is sent twice. */
CUBED_MUST_CHECK cubed_status cb_http_new(const cubed_allocator *a, unsigned most, cb_hedge *hedge,
                                          cb_http **out, cubed_error *err);
/* Requires that no call is in flight. */
void cb_http_free(cb_http *h);
/* Returns true if the client's thread is in this process. Returns false after a fork, in the child. */
bool cb_http_is_here(const cb_http *h);
/* Returns the number of calls that are submitted and not done. */
unsigned cb_http_calls(const cb_http *h);
void cb_http_call_init(cb_http_call *c, const cubed_allocator *a);
void cb_http_call_free(cb_http_call *c);
/* Submits a call. May be called from any thread and from `done`. */
void cb_http_submit(cb_http *h, cb_http_call *c);
/* Makes the client's thread complete the calls whose `cancelled` has been set. */
void cb_http_look_at_cancelled(cb_http *h);
/* Makes the client's thread prepare waiting calls (CB_HTTP_WAIT) again. */
void cb_http_wake(cb_http *h);
/* Returns the value of a header in the reply, or NULL. `name` is in lower case. */
const char *cb_http_header(const cb_http_call *c, const char *name);
/* Returns the value of a date header in seconds since 1970; 0 if missing. "date" is the time of the reply. */
int64_t cb_http_date(const cb_http_call *c, const char *name);
/* Adds a header. */
void cb_http_put_header(cb_http_call *c, const char *name, const char *value);
/* Returns the path of the system's file of certificates. NULL if one of the paths known to libcurl exists, or if no file is
 * found. */
const char *cb_http_find_certificates(const char *known_file, const char *known_folder);

#endif
