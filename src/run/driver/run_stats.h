/* Statistics of a run. */
#ifndef CB_RUN_STATS_H
#define CB_RUN_STATS_H

#include "cubed/sys/executor.h"
#include "run/places/io.h"

/* Sets the totals in *stats after the end of a run that began at time start_ns (cb_clock_ns). `io` may be NULL. */
void cb_run_finish_stats(const cubed_plan *plan, const cb_io *io, int64_t start_ns,
                         cubed_run_stats *stats);
/* Adds the costs of a completed task. */
void cb_run_add_task(cubed_run_stats *stats, const cubed_task_report *r);
/* Adds the part of a report that concerns the worker's process, such as its memory. Call it also if the task failed. */
void cb_run_add_process(const cubed_plan *plan, cubed_run_stats *stats, const cubed_task_report *r);

#endif
