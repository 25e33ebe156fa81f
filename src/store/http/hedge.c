#include "store/http/hedge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A request is repeated if its reply takes more than TIMES the 95th percentile of reply times. A server under load may need up to
 * this time for a normal request, and must not receive additional requests. Repeating a request before FLOOR nanoseconds saves no
 * time. */
enum { PERCENT = 95, TIMES = 2, FLOOR = 50 * 1000000 };

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

void cb_hedge_init(cb_hedge *h)
{
    *h = (cb_hedge){.n = 0};
    cb_mutex_init(&h->lock);
}

void cb_hedge_free(cb_hedge *h) { cb_mutex_destroy(&h->lock); }

void cb_hedge_ask(cb_hedge *h)
{
    cb_mutex_lock(&h->lock);
    if (h->credit < CB_HEDGE_BURST * CB_HEDGE_EVERY) h->credit++;
    cb_mutex_unlock(&h->lock);
}

static void note(cb_hedge *h, int64_t took) CB_REQUIRES(&h->lock)
{
    int64_t sorted[CB_HEDGE_KNOWN];
    h->took[h->n++ % CB_HEDGE_KNOWN] = took;
    const size_t n = h->n < CB_HEDGE_KNOWN ? (size_t)h->n : CB_HEDGE_KNOWN;
    /* Update the percentile every 8 replies. With small reads, sorting for each reply would be noticeable. */
    if (n < CB_HEDGE_LEAST || (h->limit && h->n % 8 != 0)) return;
    memcpy(sorted, h->took, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_size);
    const int64_t slow = sorted[n * PERCENT / 100];
    h->limit = slow > INT64_MAX / TIMES ? INT64_MAX : TIMES * slow;
    if (h->limit < FLOOR) h->limit = FLOOR;
}

void cb_hedge_note(cb_hedge *h, int64_t took)
{
    cb_mutex_lock(&h->lock);
    note(h, took);
    cb_mutex_unlock(&h->lock);
}

static bool may_spend(const cb_hedge *h) CB_REQUIRES(&h->lock)
{
    return h->credit >= CB_HEDGE_EVERY;
}

int64_t cb_hedge_after(cb_hedge *h)
{
    cb_mutex_lock(&h->lock);
    const int64_t after = may_spend(h) ? h->limit : 0;
    cb_mutex_unlock(&h->lock);
    return after;
}

bool cb_hedge_spend(cb_hedge *h)
{
    cb_mutex_lock(&h->lock);
    const bool may = may_spend(h);
    if (may) h->credit -= CB_HEDGE_EVERY;
    cb_mutex_unlock(&h->lock);
    return may;
}
