/* Decides how many workers of a service a driver may use, while the service starts workers step by step (ramp.c). Used by one
 * thread. */
#ifndef CB_RUN_RAMP_H
#define CB_RUN_RAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { CB_RAMP_SECONDS = 64 };

typedef struct cb_ramp {
    unsigned workers; /* maximum */
    /* The fields ramp_workers and ramp_per_second of cubed_executor_caps. If at_once is 0, all workers start at once. */
    unsigned at_once, per_second;
    double spare; /* workers that the service can start at time spare_ns */
    int64_t start_ns, spare_ns;
    unsigned asked;  /* workers that the service was asked to start */
    unsigned seen;   /* workers that have reported a task */
    double usual_ns; /* moving average of the time in nanoseconds that a worker needs for a range */
    int64_t second;  /* the current second; asked_at has entries for the seconds before it */
    unsigned asked_at
        /* `asked` at the end of each second; the index is the second modulo CB_RAMP_SECONDS. */
        [CB_RAMP_SECONDS];
} cb_ramp;

void cb_ramp_begin(cb_ramp *r, unsigned workers, unsigned at_once, unsigned per_second,
                   int64_t now_ns);
/* Returns whether a worker can take one more range while `busy` workers have a range each. If it returned true too early, the
 * range would wait for a worker that has not started, although another worker becomes idle before. */
bool cb_ramp_has_worker(cb_ramp *r, unsigned busy, int64_t now_ns);
/* Counts the worker of a range that is submitted while `busy` other workers have a range each. */
void cb_ramp_submit(cb_ramp *r, unsigned busy);
/* Counts a report. `worker` is the number of the worker, from 0. `taken_ns` is the estimated time that the worker needs for
 * its whole range. */
void cb_ramp_report(cb_ramp *r, unsigned worker, double taken_ns);

#endif
