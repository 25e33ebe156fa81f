/* When a request has taken so long that it is worth asking again: a rule from how long others took. */
#ifndef CB_STORE_HEDGE_H
#define CB_STORE_HEDGE_H

#include <stdint.h>

#include "base/lock.h"
#include "cubed/base.h"

/* Of so many the latest are known. One in CB_HEDGE_EVERY may be sent twice. */
enum { CB_HEDGE_KNOWN = 64, CB_HEDGE_LEAST = 20, CB_HEDGE_EVERY = 20 };

/* Shared by the clients of a context. Thread-safe. */
typedef struct cb_hedge {
    cb_mutex lock;
    int64_t took[CB_HEDGE_KNOWN] CB_GUARDED_BY(&lock); /* nanoseconds until a reply began */
    uint64_t n CB_GUARDED_BY(&lock);                   /* replies noted so far */
    uint64_t asked CB_GUARDED_BY(&lock), twice CB_GUARDED_BY(&lock);
    int64_t limit CB_GUARDED_BY(&lock); /* 0 if too few replies are known */
} cb_hedge;

CUBED_MUST_CHECK cubed_status cb_hedge_init(cb_hedge *h, cubed_error *err);
void cb_hedge_free(cb_hedge *h);
/* A request is sent for the first time. */
void cb_hedge_ask(cb_hedge *h);
/* A reply began after so many nanoseconds. */
void cb_hedge_note(cb_hedge *h, int64_t took);
/* Nanoseconds without a word after which a request may be sent a second time; 0: none may be now. */
int64_t cb_hedge_after(cb_hedge *h);
/* One is to be; false: there have been enough. */
bool cb_hedge_spend(cb_hedge *h);

#endif
