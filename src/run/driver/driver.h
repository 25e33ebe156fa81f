/* Which ranges of a run may be worked on next, given what became of others: see driver.c. Used by one thread. */
#ifndef CB_RUN_DRIVER_H
#define CB_RUN_DRIVER_H

#include "run/places/io.h"
#include "run/places/notes.h"

typedef struct cb_driver cb_driver;

/* All of it outlives the driver. */
typedef struct cb_driver_args {
    cubed_plan *plan;
    cb_io *io;
    const cubed_run_options *options; /* of which the executor is somebody else's affair */
    cubed_run_stats *stats;           /* counters are added to */
    unsigned workers;                 /* that there is to be work for */
    int64_t most_tasks;               /* of a range */
    unsigned slots;                   /* ranges that may be in flight, at least 1 */
    unsigned range_ms;                /* that a range is to take: cubed_executor_caps */
    uint32_t start_ms, most_ms;       /* start_ms and range_ms of cubed_executor */
    bool retries;   /* ranges that fail for a reason that may pass are tried again */
    bool backups;   /* ranges that take far longer than others are given to a second worker */
    int64_t window; /* tasks that are held while they wait; 0: CB_RUN_WINDOW */
    const cb_notes *
        notes; /* of a run in parts: what has been done. NULL: intermediates are this driver's to free */
} cb_driver_args;

/* Looks for what an earlier run has done, if there may be something. Events begin. */
CUBED_MUST_CHECK cubed_status cb_driver_new(const cb_driver_args *args, cb_driver **out,
                                            cubed_error *err);
void cb_driver_free(cb_driver *d);
/* The next range that may run, which is in flight from now on; false: none for the time being. */
CUBED_MUST_CHECK cubed_status cb_driver_next(cb_driver *d, cubed_task_range *range, bool *got,
                                             cubed_error *err);
/* What became of a task. Those that came already are ignored. The error of one that cannot be tried again. */
CUBED_MUST_CHECK cubed_status cb_driver_report(cb_driver *d, const cubed_task_report *r,
                                               cubed_error *err);
/* Nothing more will be heard of a range. */
CUBED_MUST_CHECK cubed_status cb_driver_lose(cb_driver *d, uint64_t token, const cubed_error *why,
                                             cubed_error *err);
/* A range in flight that has taken so long that it is to be lost, and why; false: none for the time being. */
bool cb_driver_overdue(cb_driver *d, uint64_t *token, cubed_error *why);
/* All tasks are done. */
bool cb_driver_is_over(const cb_driver *d);
/* Ranges in flight, and those that wait to be tried again. */
unsigned cb_driver_in_flight(const cb_driver *d);
unsigned cb_driver_waiting(const cb_driver *d);
/* The last event. */
void cb_driver_end(const cb_driver *d, cubed_status st, const cubed_error *why);
CUBED_MUST_CHECK cubed_status cb_driver_cancelled(const cb_driver *d, cubed_error *err);

#endif
