#include "run/driver/ramp.h"

#define SECOND_NS ((int64_t)1000000000)
/* Time that a worker may need to start, in addition to the time of its first range. */
#define START_NS SECOND_NS
/* For each SEEN_PER_PROBE workers that have reported, one more worker is requested than the service seems to allow. This shows
 * whether the service starts workers again. */
enum { SEEN_PER_PROBE = 16 };
/* usual_ns is a moving average with the weight 1 / USUAL_OF for a new range. */
enum { USUAL_OF = 64 };

void cb_ramp_begin(cb_ramp *r, unsigned workers, unsigned at_once, unsigned per_second,
                   int64_t now_ns)
{
    *r = (cb_ramp){.workers = workers,
                   .at_once = at_once,
                   .per_second = per_second,
                   .spare = at_once,
                   .start_ns = now_ns,
                   .spare_ns = now_ns};
}

/* Advances the state to the current second, and adds the workers that the service has allowed since the last call.
 * asked_at[second] is the number of workers that were requested until the end of that second. */
static void advance(cb_ramp *r, int64_t now_ns)
{
    const int64_t second = (now_ns - r->start_ns) / SECOND_NS;
    if (now_ns > r->spare_ns) {
        r->spare += (double)(now_ns - r->spare_ns) * 1e-9 * r->per_second;
        if (r->spare > r->at_once) r->spare = r->at_once;
        r->spare_ns = now_ns;
    }
    if (second - r->second > CB_RAMP_SECONDS) r->second = second - CB_RAMP_SECONDS;
    while (r->second < second) {
        r->asked_at[r->second % CB_RAMP_SECONDS] = r->asked;
        r->second++;
    }
}

/* Returns the number of workers that should have reported a task until now_ns. */
static unsigned expected(const cb_ramp *r, int64_t now_ns)
{
    const double until_ns = (double)(now_ns - r->start_ns - START_NS) - r->usual_ns;
    if (r->usual_ns <= 0 || until_ns < SECOND_NS) return 0;
    const int64_t second =
        (int64_t)until_ns / SECOND_NS - 1; /* the last second that ended before until_ns */
    return second < r->second - CB_RAMP_SECONDS ? 0 : r->asked_at[second % CB_RAMP_SECONDS];
}

bool cb_ramp_has_worker(cb_ramp *r, unsigned busy, int64_t now_ns)
{
    if (r->at_once == 0) return true;
    advance(r, now_ns);
    if (busy < r->asked) return true;
    if (r->asked == r->workers || r->spare < 1) return false;
    return expected(r, now_ns) <= r->seen + r->seen / SEEN_PER_PROBE;
}

void cb_ramp_submit(cb_ramp *r, unsigned busy)
{
    if (r->at_once == 0 || busy < r->asked) return;
    r->asked++;
    r->spare -= 1;
}

void cb_ramp_report(cb_ramp *r, unsigned worker, double taken_ns)
{
    if (worker >= r->seen && worker < r->workers) r->seen = worker + 1;
    r->usual_ns = r->usual_ns > 0 ? r->usual_ns + (taken_ns - r->usual_ns) / USUAL_OF : taken_ns;
}
