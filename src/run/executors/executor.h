/* The executors of this library: one row each. */
#ifndef CB_RUN_EXECUTORS_EXECUTOR_H
#define CB_RUN_EXECUTORS_EXECUTOR_H

#include "cubed/sys/executor.h"
#include "exec/vm/ahead.h"
#include "exec/vm/coop.h"
#include "exec/vm/helping.h"
#include "run/places/io.h"

/* What runs a task in this process. */
typedef struct cb_task_env {
    cubed_plan *plan;
    cb_io *io;
    const cubed_cancel *cancel; /* may be NULL */
} cb_task_env;

/* What an executor of this library is opened with: what others see, and what is behind it. */
typedef struct cb_executor_args {
    cubed_executor_args head;
    cb_task_env env;
    bool resume; /* an earlier run of the plan began all targets */
} cb_executor_args;

extern const cubed_executor_vtable cb_executor_threads;
extern const cubed_executor_vtable cb_executor_single;
extern const cubed_executor_vtable cb_executor_processes;
extern const cubed_executor_vtable cb_executor_lambda; /* where there is HTTP */

/* Tasks of a range whose reports have room in a message of so many bytes (0: any number), an error's among them. */
int64_t cb_executor_most_tasks(uint64_t max_message_bytes);
/* The one of that name (NULL: the default), and what it was added with. CUBED_E_ARG if there is none. */
CUBED_MUST_CHECK cubed_status cb_executor_find(const cubed_context *ctx, const char *name,
                                               const cubed_executor_vtable **out,
                                               void **executor_ctx, cubed_error *err);

/* Tells functions on blocks that no more tasks come. */
void cb_run_say_ended(const cubed_plan *plan);

/* Says which tasks a worker runs next: what they read is asked for ahead of them. */
void cb_executor_expect(const cb_task_env *env, cb_ahead *ahead, const cubed_task_range *range);
/* Runs one task and fills its report: what all of them have in common. `help`: others may decode for it, or NULL. */
void cb_executor_run_task(const cb_task_env *env, cb_arena *arena, cb_ahead *ahead, cb_helper *help,
                          int stage, int64_t task, cubed_task_report *report);
/* The part of member number `member` of a cooperative task. Its first one's report is of all of them; to be called
 * by every member with the same task, until a report has an error. */
void cb_executor_run_member(const cb_task_env *env, cb_arena *arena, int stage, int64_t task,
                            cb_coop *coop, unsigned member, cubed_task_report *report);

#endif
