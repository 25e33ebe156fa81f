/* Hedging: a request whose reply is late is sent a second time, and only one of the two replies is used, usually the one that
 * begins first. These functions decide, from the response times of other requests, when a request is sent a second time. */
#ifndef CB_STORE_HEDGE_H
#define CB_STORE_HEDGE_H

#include <stdint.h>

#include "base/lock.h"
#include "cubed/base.h"

/* CB_HEDGE_KNOWN  number of latest replies whose response times are used
 * CB_HEDGE_LEAST  minimum number of replies before a request may be sent twice
 * CB_HEDGE_EVERY  at most one in CB_HEDGE_EVERY requests is sent twice
 * CB_HEDGE_BURST  maximum number of second requests that may be saved for later. Without this maximum, a service that slows down
 *                 would immediately receive 5 % of all earlier requests again. */
enum { CB_HEDGE_KNOWN = 64, CB_HEDGE_LEAST = 20, CB_HEDGE_EVERY = 20, CB_HEDGE_BURST = 8 };

/* Shared by the clients of a context. Thread-safe. */
typedef struct cb_hedge {
    cb_mutex lock;
    /* Nanoseconds from a request to the beginning of its reply. */
    int64_t took[CB_HEDGE_KNOWN] CB_GUARDED_BY(&lock);
    uint64_t n CB_GUARDED_BY(&lock); /* number of recorded replies */
    int credit CB_GUARDED_BY(
        /* Credit for second requests, counted in first requests; at most CB_HEDGE_BURST * CB_HEDGE_EVERY. */
        &lock);
    int64_t limit CB_GUARDED_BY(
        &lock); /* duration after which a second request is sent; 0: too few replies so far */
} cb_hedge;

void cb_hedge_init(cb_hedge *h);
void cb_hedge_free(cb_hedge *h);
/* Records that a request is sent for the first time. CB_HEDGE_EVERY such requests allow one second request. */
void cb_hedge_ask(cb_hedge *h);
/* Records the nanoseconds until a reply began. */
void cb_hedge_note(cb_hedge *h, int64_t took);
/* Returns the time in nanoseconds that a request must wait for its reply before it may be sent a second time; 0 if no request
 * may be sent a second time now. */
int64_t cb_hedge_after(cb_hedge *h);
/* Asks for permission to send a second request. Returns true and counts the request, or returns false if too many second requests
 * were sent. */
bool cb_hedge_spend(cb_hedge *h);

#endif
