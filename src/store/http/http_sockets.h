/* A scheduler: chooses which connection of an HTTP client is read next, with libcurl's event interface.
 *
 * If connections were read in turn, transfers of equal length that began together would all end together. Until then, tasks would
 * have no input, and would request nothing more. Callers need objects in the order of their requests. So the oldest transfer is
 * read first while more data is available than can be read. There are two exceptions: the first bytes of every reply are read
 * immediately, and no transfer waits longer than a fraction of a second. */
#ifndef CB_STORE_HTTP_SOCKETS_H
#define CB_STORE_HTTP_SOCKETS_H

#include "base/alloc.h"
#include "store/http/curl.h"

/* Times of a transfer by cb_clock_ns(). The struct at CURLOPT_PRIVATE of its handle begins with it. */
typedef struct cb_turn {
    int64_t began, heard; /* heard: time of the latest bytes; 0: none yet */
    int64_t served;       /* latest time when the transfer was read, or had nothing to read */
} cb_turn;

typedef struct cb_sockets cb_sockets;

/* Creates the scheduler of `multi`, which must outlive the scheduler, for a maximum number of simultaneous transfers. Both are
 * used by one thread only. */
CUBED_MUST_CHECK cubed_status cb_sockets_new(const cubed_allocator *a, CURLM *multi,
                                             unsigned transfers, cb_sockets **out,
                                             cubed_error *err);
/* Requires that `multi` has no handles. */
void cb_sockets_free(cb_sockets *s);
/* Runs expired timers and reads the next connection. Returns false if nothing is ready. */
bool cb_sockets_serve(cb_sockets *s);

#endif
