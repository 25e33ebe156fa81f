/* A connection to a server that speaks Redis's protocol (RESP 2): commands are sent, replies read into the caller's memory. */
#ifndef CB_STORE_RESP_H
#define CB_STORE_RESP_H

#include "base/alloc.h"
#include "store/http/pace.h"

typedef struct cb_resp {
    struct cb_resp *next; /* the owner's */
    int fd, timeout_ms;
    unsigned sharing; /* connections that are in use */
    cb_pace pace;     /* of the request */
    uint64_t moved;   /* bytes of the request, both ways */
    size_t at, n;     /* of what has been read ahead */
    char ahead[16 << 10];
} cb_resp;

/* Limits of replies: bytes of a line (a number, or an error), bytes of a string, and replies in an array. The server's own
 * limit of strings is the same (proto-max-bulk-len). */
enum {
    CB_RESP_MOST_LINE = 64 << 10,
    CB_RESP_MOST_BULK = 512 << 20,
    CB_RESP_MOST_REPLIES = 1 << 20
};

/* Memory of a request: a connection, which is kept, what the system's resolver takes to find its server, and lists of what
 * is asked for. */
enum { CB_RESP_REQUEST_BYTES = sizeof(cb_resp) + (48 << 10) };

/* One argument of a command, whose second part lies elsewhere. */
typedef struct cb_resp_arg {
    const void *bytes;
    size_t size;
    const void *rest;
    size_t rest_size;
} cb_resp_arg;

/* Arguments from a text. */
static inline cb_resp_arg cb_resp_text(const char *text)
{
    return (cb_resp_arg){text, __builtin_strlen(text), NULL, 0};
}

typedef struct cb_resp_reply {
    char type;      /* '+', '-', ':', '$', '*'; '_': nothing */
    int64_t number; /* of ':'; bytes of '$'; replies that follow of '*' */
    char text[256]; /* of '+' and '-' */
} cb_resp_reply;

/* Errors are CUBED_E_IO, and may pass; the connection is of no use then. */
CUBED_MUST_CHECK cubed_status cb_resp_open(const char *host, const char *port, int timeout_ms,
                                           cb_resp *c, cubed_error *err);
void cb_resp_close(cb_resp *c);
/* A request begins, on one of so many connections that are in use. */
void cb_resp_begin(cb_resp *c, unsigned sharing);
CUBED_MUST_CHECK cubed_status cb_resp_send(cb_resp *c, const cb_resp_arg *args, size_t n,
                                           cubed_error *err);
/* The head of a reply; bytes of one of type '$' are to be read next. */
CUBED_MUST_CHECK cubed_status cb_resp_read(cb_resp *c, cb_resp_reply *r, cubed_error *err);
/* The head of a reply from its first byte and the rest of its line, without the line break. CUBED_E_IO if it is none. */
CUBED_MUST_CHECK cubed_status cb_resp_parse(char type, const char *line, cb_resp_reply *r,
                                            cubed_error *err);
/* Its bytes: `skip` of them nowhere, then up to `cap` to dst, the rest nowhere. */
CUBED_MUST_CHECK cubed_status cb_resp_take(cb_resp *c, const cb_resp_reply *r, size_t skip,
                                           void *dst, size_t cap, cubed_error *err);

#endif
