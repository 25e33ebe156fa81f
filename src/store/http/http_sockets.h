/* Which of a client's connections is served next, over libcurl's interface of events.
 *
 * Served in turns, transfers of equal length that began together would all end together: nobody had work before that, and
 * nothing would be asked for meanwhile. So who began first is served first while there is more than can be taken, as who
 * asks wants it in that order. Replies begin at once, though, and nobody waits for longer than a fraction of a second. */
#ifndef CB_STORE_HTTP_SOCKETS_H
#define CB_STORE_HTTP_SOCKETS_H

#include "base/alloc.h"
#include "store/http/curl.h"

/* Of a transfer: what CURLOPT_PRIVATE of its handle points to begins with it. By cb_clock_ns(). */
typedef struct cb_turn {
    int64_t began, heard; /* heard: when the latest bytes came; 0: none did */
    int64_t served;       /* the latest time, if it was ready */
} cb_turn;

typedef struct cb_sockets cb_sockets;

/* Of `multi`, which outlives it, and so many transfers at once; both are used by one thread. */
CUBED_MUST_CHECK cubed_status cb_sockets_new(const cubed_allocator *a, CURLM *multi,
                                             unsigned transfers, cb_sockets **out,
                                             cubed_error *err);
/* When `multi` has no handles any more. */
void cb_sockets_free(cb_sockets *s);
/* Does what time has come for, and serves the next; false: nothing is ready. */
bool cb_sockets_serve(cb_sockets *s);

#endif
