/* The driver of a run: receives reports of completed and failed tasks, and decides which ranges (consecutive tasks of a stage)
 * run next. It does not communicate with workers. Used by one thread (driver.c). */
#ifndef CB_RUN_DRIVER_H
#define CB_RUN_DRIVER_H

#include "run/places/io.h"
#include "run/places/notes.h"

typedef struct cb_driver cb_driver;

/* A replaceable clock, so that tests can simulate workers without waiting. Times are in nanoseconds. */
typedef struct cb_run_clock {
    int64_t (*now)(void *ctx);
    void (*pause)(void *ctx, int64_t ns);
    void *ctx;
} cb_run_clock;

/* Arguments of cb_driver_new. All objects that they point to must outlive the driver. */
typedef struct cb_driver_args {
    cubed_plan *plan;
    cb_io *io;
    const cubed_run_options *options; /* options of the run; `executor` is ignored */
    cubed_run_stats *stats;           /* statistics to which counters are added */
    unsigned workers;                 /* number of workers that should always have a range */
    int64_t most_tasks;               /* maximum tasks per range */
    unsigned slots;                   /* maximum ranges in flight, at least 1 */
    unsigned range_ms;                /* intended duration of a range (cubed_executor_caps) */
    uint32_t start_ms, most_ms;       /* start_ms and range_ms of cubed_executor */
    /* The fields of the same names of cubed_executor_caps. */
    unsigned ramp_workers, ramp_per_second;
    bool retries; /* retry ranges that fail with a transient error */
    /* copy a range to a second worker if it takes much longer than other ranges of its stage */
    bool backups;
    /* maximum number of tasks that are held in memory until they run (ready.c); 0: CB_RUN_WINDOW */
    int64_t window;
    const cb_run_clock *clock; /* NULL: the clock of this machine */
    /* completed tasks of a run in parts; NULL for a whole run, in which the driver frees intermediates */
    const cb_notes *notes;
} cb_driver_args;

/* Creates the driver of a run. If the run resumes an earlier run, looks for the output of that run. Reports the first events to
 * the user's callback. */
CUBED_MUST_CHECK cubed_status cb_driver_new(const cb_driver_args *args, cb_driver **out,
                                            cubed_error *err);
void cb_driver_free(cb_driver *d);
/* Gets a range to submit to a worker: the next range that may run, or the unfinished tasks of a slow range, which a second worker
 * then also runs. The range then counts as in flight. Sets *got to false if no range can run now. */
CUBED_MUST_CHECK cubed_status cb_driver_next(cb_driver *d, cubed_task_range *range, bool *got,
                                             cubed_error *err);
/* Handles a report that a task is complete or has failed. Ignores duplicate reports. Returns the task's error if the task is not
 * retried; the run then fails. */
CUBED_MUST_CHECK cubed_status cb_driver_report(cb_driver *d, const cubed_task_report *r,
                                               cubed_error *err);
/* Handles the loss of a range in flight, identified by its token: no more reports will arrive for it, because of `why`. */
CUBED_MUST_CHECK cubed_status cb_driver_lose(cb_driver *d, uint64_t token, const cubed_error *why,
                                             cubed_error *err);
/* Looks for a range in flight that has exceeded its time limit. Sets *token to the range and *why to the reason, for a call of
 * cb_driver_lose. Returns false if there is no such range. */
bool cb_driver_overdue(cb_driver *d, uint64_t *token, cubed_error *why);
/* Returns true if all tasks are done. */
bool cb_driver_is_over(const cb_driver *d);
/* cb_driver_in_flight returns the number of ranges that are submitted and not complete. cb_driver_waiting returns the number of
 * ranges that failed or were lost, and wait to be retried. */
unsigned cb_driver_in_flight(const cb_driver *d);
unsigned cb_driver_waiting(const cb_driver *d);
/* Reports the end of the run, with its status and error, to the user's callback. */
void cb_driver_end(const cb_driver *d, cubed_status st, const cubed_error *why);
CUBED_MUST_CHECK cubed_status cb_driver_cancelled(const cb_driver *d, cubed_error *err);

#endif
