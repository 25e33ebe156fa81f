/* Decides how many workers of a service a driver may use. Services such as AWS Lambda start a limited number of workers
 * immediately, and then a limited number per second. Used by one thread (ramp.c). */
#ifndef CB_RUN_RAMP_H
#define CB_RUN_RAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { CB_RAMP_SECONDS = 64 };

typedef struct cb_ramp {
    unsigned workers; /* maximum number of workers */
    /* The fields ramp_workers and ramp_per_second of cubed_executor_caps. If at_once is 0, all workers start immediately. */
    unsigned at_once, per_second;
    double spare; /* number of workers that the service could start immediately at time spare_ns */
    int64_t start_ns, spare_ns;
    unsigned asked;  /* workers requested from the service */
    unsigned seen;   /* workers that have reported a task */
    double usual_ns; /* moving average of the time in nanoseconds that a worker needs for a range */
    int64_t second;  /* the current second; asked_at has entries for the seconds before it */
    unsigned asked_at
        /* `asked` at the end of each second; the index is the second modulo CB_RAMP_SECONDS. */
        [CB_RAMP_SECONDS];
} cb_ramp;

void cb_ramp_begin(cb_ramp *r, unsigned workers, unsigned at_once, unsigned per_second,
                   int64_t now_ns);
/* Returns true if one more range should be submitted now, while `busy` workers have a range each: a requested worker has no
 * range, or the service can start another worker now. Returns false if a worker that becomes idle is expected to run the range
 * earlier than a new worker: all workers are in use, the service cannot start another one yet, or workers that were requested
 * earlier have not reported in time. Always true if at_once is 0. */
bool cb_ramp_has_worker(cb_ramp *r, unsigned busy, int64_t now_ns);
/* Records that a range is submitted while `busy` other workers have a range each. The service may start a worker for it. */
void cb_ramp_submit(cb_ramp *r, unsigned busy);
/* Records a report of worker number `worker` (from 0), which shows that this worker has started. `taken_ns` is the estimated time
 * in nanoseconds that the worker needs for its whole range. */
void cb_ramp_report(cb_ramp *r, unsigned worker, double taken_ns);

#endif
