/* A connection to a server with Redis's protocol (RESP 2). Sends commands and reads replies into the caller's memory. */
#ifndef CB_STORE_RESP_H
#define CB_STORE_RESP_H

#include "base/alloc.h"
#include "store/http/pace.h"

typedef struct cb_resp {
    struct cb_resp *next; /* next connection in the owner's list */
    int fd, timeout_ms;
    unsigned sharing; /* number of connections in use */
    cb_pace pace;     /* measures the speed of the current request */
    uint64_t moved;   /* bytes sent and received by the request */
    size_t at, n;     /* unread bytes of `ahead` */
    char ahead[16 << 10];
} cb_resp;

/* Limits of replies: bytes of a line (a number or an error), bytes of a string, and number of replies in an array. The
 * limit of strings is also the server's default (proto-max-bulk-len). */
enum {
    CB_RESP_MOST_LINE = 64 << 10,
    CB_RESP_MOST_BULK = 512 << 20,
    CB_RESP_MOST_REPLIES = 1 << 20
};

/* Memory of a request: a connection (kept for reuse), the system's resolver, and lists of arguments. */
enum { CB_RESP_REQUEST_BYTES = sizeof(cb_resp) + (48 << 10) };

/* An argument of a command in two parts. */
typedef struct cb_resp_arg {
    const void *bytes;
    size_t size;
    const void *rest;
    size_t rest_size;
} cb_resp_arg;

/* Creates an argument from a string. */
static inline cb_resp_arg cb_resp_text(const char *text)
{
    return (cb_resp_arg){text, __builtin_strlen(text), NULL, 0};
}

typedef struct cb_resp_reply {
    char type;      /* '+', '-', ':', '$', '*'; '_': null */
    int64_t number; /* value of ':'; length in bytes of '$'; count of replies that follow '*' */
    char text[256]; /* text of '+' and '-' */
} cb_resp_reply;

/* Opens a connection. Errors of this and the following functions are CUBED_E_IO. Errors of the network are transient; unknown
 * hosts and invalid replies are not. The connection cannot be used after an error. */
CUBED_MUST_CHECK cubed_status cb_resp_open(const char *host, const char *port, int timeout_ms,
                                           cb_resp *c, cubed_error *err);
void cb_resp_close(cb_resp *c);
/* Begins a request. `sharing` is the number of connections in use, among which the required speed is divided. */
void cb_resp_begin(cb_resp *c, unsigned sharing);
CUBED_MUST_CHECK cubed_status cb_resp_send(cb_resp *c, const cb_resp_arg *args, size_t n,
                                           cubed_error *err);
/* Reads the head of a reply. For type '$' the bytes must be read next. */
CUBED_MUST_CHECK cubed_status cb_resp_read(cb_resp *c, cb_resp_reply *r, cubed_error *err);
/* Parses the head of a reply from its first byte and the rest of its line, without line break. CUBED_E_IO if it is not
 * valid. */
CUBED_MUST_CHECK cubed_status cb_resp_parse(char type, const char *line, cb_resp_reply *r,
                                            cubed_error *err);
/* Reads the bytes of a '$' reply: discards the first `skip`, stores up to `cap` in dst, and discards the rest. */
CUBED_MUST_CHECK cubed_status cb_resp_take(cb_resp *c, const cb_resp_reply *r, size_t skip,
                                           void *dst, size_t cap, cubed_error *err);

#endif
