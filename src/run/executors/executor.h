/* The executors of this library, one row each. */
#ifndef CB_RUN_EXECUTORS_EXECUTOR_H
#define CB_RUN_EXECUTORS_EXECUTOR_H

#include "cubed/sys/executor.h"
#include "exec/vm/ahead.h"
#include "exec/vm/coop.h"
#include "exec/vm/helping.h"
#include "run/places/io.h"

/* What tasks need to run in this process. */
typedef struct cb_task_env {
    cubed_plan *plan;
    cb_io *io;
    const cubed_cancel *cancel; /* may be NULL */
} cb_task_env;

/* Arguments to open an executor of this library: the public ones and internal ones. */
typedef struct cb_executor_args {
    cubed_executor_args head;
    cb_task_env env;
    bool resume; /* an earlier run of the plan began all targets */
} cb_executor_args;

extern const cubed_executor_vtable cb_executor_threads;
extern const cubed_executor_vtable cb_executor_single;
extern const cubed_executor_vtable cb_executor_processes;
extern const cubed_executor_vtable cb_executor_lambda; /* if built with HTTP */

/* Maximum number of tasks in a range so that their reports, including one error, fit into a message of `max_message_bytes`
 * (0: unlimited). */
int64_t cb_executor_most_tasks(uint64_t max_message_bytes);
/* Finds the executor of that name (NULL: the default) and the context that it was added with. CUBED_E_ARG if there is
 * none. */
CUBED_MUST_CHECK cubed_status cb_executor_find(const cubed_context *ctx, const char *name,
                                               const cubed_executor_vtable **out,
                                               void **executor_ctx, cubed_error *err);

/* Tells functions on blocks that no more tasks follow. */
void cb_run_say_ended(const cubed_plan *plan);

/* Prefetches the input chunks of the worker's next tasks. */
void cb_executor_expect(const cb_task_env *env, cb_ahead *ahead, const cubed_task_range *range);
/* Runs one task and fills its report. `help`: lets other workers decode for it; may be NULL. */
void cb_executor_run_task(const cb_task_env *env, cb_arena *arena, cb_ahead *ahead, cb_helper *help,
                          int stage, int64_t task, cubed_task_report *report);
/* Runs the part of member number `member` in a cooperative task. The report of the first member covers all members. Every
 * member calls this with the same task, until a report has an error. */
void cb_executor_run_member(const cb_task_env *env, cb_arena *arena, int stage, int64_t task,
                            cb_coop *coop, unsigned member, cubed_task_report *report);

#endif
