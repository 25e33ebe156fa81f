/* Plans with Python functions: the command loads such plans, and a process of the Python package runs their tasks. */
#ifndef CUBED_CLI_PYTHON_TASKS_H
#define CUBED_CLI_PYTHON_TASKS_H

#include "cubed/cubed.h"
#include "cubed/sys/block.h"

/* The function "python" of a context. Must live as long as the context, because it owns the structure that the context refers
 * to. */
typedef struct python_functions {
    cubed_block_fn fn;
    bool found; /* a plan that was loaded has Python functions */
} python_functions;

/* Adds a function called "python" to a context, so that the context can load plans with Python functions. This process cannot
 * run the function. Sources that are Python objects stay unknown to the context. */
CUBED_MUST_CHECK cubed_status python_add_functions(cubed_context *ctx, python_functions *f,
                                                   cubed_error *err);

/* Calls python_add_functions, and then loads a saved plan, which may have Python functions. Errors: those of
 * cubed_plan_load_code if `allow_code` is set, otherwise those of cubed_plan_load. */
CUBED_MUST_CHECK cubed_status python_load_plan(cubed_context *ctx, python_functions *f,
                                               const void *data, size_t size, bool allow_code,
                                               cubed_plan **plan, cubed_error *err);
/* Fails with CUBED_E_UNSUPPORTED: this process runs no Python functions. */
CUBED_MUST_CHECK cubed_status python_refuse(cubed_error *err);

/* A range of tasks of a plan for a process of the Python package. */
typedef struct python_range {
    const void *plan; /* serialised plan */
    size_t plan_size;
    const uint8_t *message; /* range message (cubed/sys/message.h) */
    size_t message_size;
    bool skip_done; /* skip completed tasks */
} python_range;

/* Runs a range in a new process of python_name(), within the plan's memory limit, and waits for it. Ends the process on
 * cli_cancel. *reports gets the reports of the tasks, which the caller frees with cli_free.
 *
 * Errors: CUBED_E_IO if the process cannot be started, or ends without reports. CUBED_E_CANCELLED on cli_cancel.
 * CUBED_E_NOMEM. Does not return if a task exceeds its time limit: this process then ends with the exit status of timeout(1). */
CUBED_MUST_CHECK cubed_status python_perform(const python_range *range, void **reports,
                                             size_t *reports_size, cubed_error *err);

#endif
