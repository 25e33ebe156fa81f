/* Decides, from the response times of other requests, when a slow request is sent a second time. */
#ifndef CB_STORE_HEDGE_H
#define CB_STORE_HEDGE_H

#include <stdint.h>

#include "base/lock.h"
#include "cubed/base.h"

/* Number of latest replies used, and minimum number needed. At most one request in CB_HEDGE_EVERY is sent twice. Unused second
 * requests accumulate, but at most CB_HEDGE_BURST of them. Otherwise a service that slows down would receive 5 % of all
 * earlier requests at once. */
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

CUBED_MUST_CHECK cubed_status cb_hedge_init(cb_hedge *h, cubed_error *err);
void cb_hedge_free(cb_hedge *h);
/* Counts a request that is sent for the first time. */
void cb_hedge_ask(cb_hedge *h);
/* Records the nanoseconds until a reply began. */
void cb_hedge_note(cb_hedge *h, int64_t took);
/* Returns the nanoseconds without a reply after which a request may be sent a second time; 0: not allowed now. */
int64_t cb_hedge_after(cb_hedge *h);
/* Counts a second request. Returns false, and does not count it, if too many second requests were sent. */
bool cb_hedge_spend(cb_hedge *h);

#endif
