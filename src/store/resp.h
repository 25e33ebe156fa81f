/* A connection to a server that speaks Redis's protocol (RESP 2): commands are sent, replies read into the caller's memory. */
#ifndef CB_STORE_RESP_H
#define CB_STORE_RESP_H

#include "base/alloc.h"

typedef struct cb_resp {
    struct cb_resp *next; /* the owner's */
    int fd;
    size_t at, n; /* of what has been read ahead */
    char ahead[16 << 10];
} cb_resp;

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
CUBED_MUST_CHECK cubed_status cb_resp_send(cb_resp *c, const cb_resp_arg *args, size_t n,
                                           cubed_error *err);
/* The head of a reply; bytes of one of type '$' are to be read next. */
CUBED_MUST_CHECK cubed_status cb_resp_read(cb_resp *c, cb_resp_reply *r, cubed_error *err);
/* Its bytes: `skip` of them nowhere, then up to `cap` to dst, the rest nowhere. */
CUBED_MUST_CHECK cubed_status cb_resp_take(cb_resp *c, const cb_resp_reply *r, size_t skip,
                                           void *dst, size_t cap, cubed_error *err);

#endif
