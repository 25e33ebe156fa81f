/* Statistics of a run. */
#ifndef CB_RUN_STATS_H
#define CB_RUN_STATS_H

#include "cubed/sys/executor.h"
#include "run/places/io.h"

/* What a run has taken, when it is over; io may be NULL. */
void cb_run_finish_stats(const cubed_plan *plan, const cb_io *io, int64_t start_ns,
                         cubed_run_stats *stats);
/* Adds what a task that is done has taken. */
void cb_run_add_task(cubed_run_stats *stats, const cubed_task_report *r);
/* Notes what a report says of the worker's process, whatever became of the task. */
void cb_run_add_process(const cubed_plan *plan, cubed_run_stats *stats, const cubed_task_report *r);

#endif
