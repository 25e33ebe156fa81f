/* The loop between driver and executor: submits ranges of tasks to the executor, and passes its reports to the driver
 * (schedule.c). */
#ifndef CB_RUN_SCHEDULE_H
#define CB_RUN_SCHEDULE_H

#include "run/driver/driver.h"
#include "run/executors/executor.h"

typedef struct cb_schedule_args {
    cubed_plan *plan;
    cb_io *io;
    cubed_executor *executor;
    const cubed_run_options *options;
    cubed_run_stats *stats; /* statistics to which counters are added */
    /* maximum number of tasks that are held in memory until they run (ready.c); 0: CB_RUN_WINDOW */
    int64_t window;
    const cb_run_clock *clock; /* NULL: the clock of this machine */
} cb_schedule_args;

/* Runs all tasks of the plan. */
CUBED_MUST_CHECK cubed_status cb_schedule_run(const cb_schedule_args *args, cubed_error *err);

#endif
