#include "store/hedge.h"

#include <stdlib.h>
#include <string.h>

/* Twice the 95th percentile is beyond what a loaded server does by itself: asking it once more would be wrong. Below
 * the floor there is nothing to win. */
enum { PERCENT = 95, TIMES = 2, FLOOR = 50 * 1000000 };

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

void cb_hedge_ask(cb_hedge *h) { h->asked++; }

void cb_hedge_note(cb_hedge *h, int64_t took)
{
    int64_t sorted[CB_HEDGE_KNOWN];
    h->took[h->n++ % CB_HEDGE_KNOWN] = took;
    const size_t n = h->n < CB_HEDGE_KNOWN ? (size_t)h->n : CB_HEDGE_KNOWN;
    /* Percentiles move slowly: sorting for each would be seen in profiles of small reads. */
    if (n < CB_HEDGE_LEAST || (h->limit && h->n % 8 != 0)) return;
    memcpy(sorted, h->took, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_size);
    const int64_t slow = sorted[n * PERCENT / 100];
    h->limit = slow > INT64_MAX / TIMES ? INT64_MAX : TIMES * slow;
    if (h->limit < FLOOR) h->limit = FLOOR;
}

int64_t cb_hedge_after(const cb_hedge *h)
{
    return (h->twice + 1) * CB_HEDGE_EVERY <= h->asked ? h->limit : 0;
}

void cb_hedge_spend(cb_hedge *h) { h->twice++; }
