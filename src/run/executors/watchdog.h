/* Ends tasks that take longer than they may. They are told as by a run that is cancelled: waits for stores and loops look
 * at that. Who does not end for as long again, CB_STUCK_NS at most, is stuck in code that nobody can end, and what is left
 * is to end the process. */
#ifndef CB_RUN_WATCHDOG_H
#define CB_RUN_WATCHDOG_H

#include "cubed/run.h"

#include "base/alloc.h"

#define CB_STUCK_NS ((int64_t)5000000000)
/* Of a process that ended because a task was stuck: that of timeout(1). */
#define CB_STUCK_STATUS 124

typedef struct cb_watchdog cb_watchdog;

typedef struct cb_watchdog_args {
    const cubed_allocator *alloc;
    const cubed_cancel *cancel; /* of all tasks; may be NULL */
    uint32_t limit_ms;
    bool ends_process;   /* of a stuck task */
    cubed_cancel *stuck; /* else set for it; may be NULL */
} cb_watchdog_args;

/* limit_ms 0: *out is NULL, which the other functions take. */
CUBED_MUST_CHECK cubed_status cb_watchdog_new(const cb_watchdog_args *args, cb_watchdog **out,
                                              cubed_error *err);
void cb_watchdog_free(cb_watchdog *w);
/* What its task looks at, in the place of `cancel`. */
const cubed_cancel *cb_watchdog_cancel(const cb_watchdog *w, const cubed_cancel *cancel);
/* A task begins, and ends. The report of one that was ended says so. */
void cb_watchdog_begin(cb_watchdog *w);
void cb_watchdog_end(cb_watchdog *w, cubed_task_report *report);

#endif
