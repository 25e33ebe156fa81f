/* The registry of executors, which run tasks. It contains the executors of this library, and those that a program added to a
 * context. */
#ifndef CB_RUN_EXECUTORS_EXECUTOR_H
#define CB_RUN_EXECUTORS_EXECUTOR_H

#include "cubed/sys/executor.h"
#include "run/executors/runner.h"

/* Arguments to open an executor of this library: the public arguments, and internal arguments. */
typedef struct cb_executor_args {
    cubed_executor_args head;
    cb_task_env env;
    /* an earlier run of the plan began all targets in stores; also true if no target is in a store */
    bool resume;
} cb_executor_args;

extern const cubed_executor_vtable cb_executor_threads;
extern const cubed_executor_vtable cb_executor_single;
extern const cubed_executor_vtable cb_executor_processes;
/* The following executors exist only in builds with HTTP. */
extern const cubed_executor_vtable cb_executor_lambda;
extern const cubed_executor_vtable cb_executor_http;

/* Returns the maximum number of tasks per range, such that all reports of a range, including one error, fit into a message of
 * max_message_bytes bytes. 0 bytes means that messages are unlimited. */
int64_t cb_executor_most_tasks(uint64_t max_message_bytes);
/* Finds an executor by name. CUBED_E_ARG if there is no such executor.
 *
 * name          NULL: the default executor
 * executor_ctx  receives the pointer `ctx` with which a program added the executor */
CUBED_MUST_CHECK cubed_status cb_executor_find(const cubed_context *ctx, const char *name,
                                               const cubed_executor_vtable **out,
                                               void **executor_ctx, cubed_error *err);

#endif
