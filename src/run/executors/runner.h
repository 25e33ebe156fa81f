/* Runs tasks in this process. */
#ifndef CB_RUN_RUNNER_H
#define CB_RUN_RUNNER_H

#include "chunks/ahead.h"
#include "chunks/offers.h"
#include "cubed/sys/executor.h"
#include "exec/vm/coop.h"
#include "run/places/io.h"

/* Environment of the tasks in this process: the plan, the open stores of the run, and the cancel flag. */
typedef struct cb_task_env {
    cubed_plan *plan;
    cb_io *io;
    const cubed_cancel *cancel; /* may be NULL */
} cb_task_env;

/* Announces a range of tasks that this worker will run, so that `ahead` prefetches their input chunks. */
void cb_runner_expect(const cb_task_env *env, cb_ahead *ahead, const cubed_task_range *range);
/* Runs one task and fills in its report. `helper` allows other workers to decode chunks for this task; NULL: they do not. */
void cb_runner_run_task(const cb_task_env *env, cb_arena *arena, cb_ahead *ahead, cb_helper *helper,
                        int stage, int64_t task, cubed_task_report *report);
/* Runs one member's part of a cooperative task, a task that several workers (members) run together. Every member calls this
 * function with the same task, until a report has an error. The report of member 0 covers the whole task. */
void cb_runner_run_member(const cb_task_env *env, cb_arena *arena, int stage, int64_t task,
                          cb_coop *coop, unsigned member, cubed_task_report *report);

#endif
