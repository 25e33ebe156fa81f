/* Ends tasks that exceed their time limit. The watchdog sets the task's cancel flag, as if the run were cancelled. Loops, and
 * waits for stores, check this flag.
 *
 * If the task does not end within the same time again (at most CB_STUCK_NS), it is stuck in code that cannot be interrupted. Then
 * only the end of the process stops the task. */
#ifndef CB_RUN_WATCHDOG_H
#define CB_RUN_WATCHDOG_H

#include "cubed/run.h"

#include "base/alloc.h"

#define CB_STUCK_NS ((int64_t)5000000000)
/* Exit status of a process that ended because a task was stuck. timeout(1) has the same exit status. */
#define CB_STUCK_STATUS 124

typedef struct cb_watchdog cb_watchdog;

typedef struct cb_watchdog_args {
    const cubed_allocator *alloc;
    const cubed_cancel *cancel; /* cancels all tasks; may be NULL */
    uint32_t limit_ms;          /* time limit of a task in milliseconds; 0: no limit */
    int64_t end_ns;    /* time by cb_clock_ns() at which every task must have ended; 0: no limit */
    bool ends_process; /* end the process if a task is stuck */
    cubed_cancel *stuck; /* set if a task is stuck and ends_process is false; may be NULL */
} cb_watchdog_args;

/* Creates a watchdog. If limit_ms and end_ns are 0, sets *out to NULL, which the other functions accept. */
CUBED_MUST_CHECK cubed_status cb_watchdog_new(const cb_watchdog_args *args, cb_watchdog **out,
                                              cubed_error *err);
void cb_watchdog_free(cb_watchdog *w);
/* Returns the cancel flag that tasks must check: the watchdog's flag, or `cancel` if there is no watchdog (NULL). */
const cubed_cancel *cb_watchdog_cancel(const cb_watchdog *w, const cubed_cancel *cancel);
/* Call cb_watchdog_begin before and cb_watchdog_end after each task. cb_watchdog_end sets the error in the task's report if the
 * task exceeded its limit. */
void cb_watchdog_begin(cb_watchdog *w);
void cb_watchdog_end(cb_watchdog *w, cubed_task_report *report);

#endif
