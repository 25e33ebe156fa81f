/* Interface for programs that add an executor.
 *
 * The driver decides order, retries, resume and events; an executor only passes ranges of tasks to workers. Only the driver's
 * thread calls the functions of an executor. The executor runs tasks in this process by cubed_runner, or in other processes by
 * cubed_work (cubed/sys/message.h). It passes the plan's bytes to cubed_work, and a message that names the run and the
 * range. */
#ifndef CUBED_SYS_EXECUTOR_H
#define CUBED_SYS_EXECUTOR_H

#include "cubed/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_executor cubed_executor;

/* Arguments that an executor is opened with. They outlive the executor. */
typedef struct cubed_executor_args {
    size_t struct_size;
    cubed_plan *plan;
    unsigned workers;           /* number of workers of the plan, at most caps.max_workers */
    const cubed_cancel *cancel; /* may be NULL */
    /* cubed_run_options.executor_ctx, or else the executor_ctx of cubed_context_add_executor */
    void *ctx;
    /* For executors that do not share memory: data for their workers. */
    const char *run;        /* name of the run */
    const void *plan_bytes; /* the bytes of cubed_plan_save */
    size_t plan_size;
    const char *const *worker_command; /* see cubed_run_options; may be NULL */
    /* For executors with cubed_executor_caps.finds_plan: arguments of cubed_plan_fetch, less than 400 bytes in addition to
     * the URL of the work directory. */
    const char *work_dir, *plan_key;
    /* The requested executor: its name, or its name, a colon and a parameter. */
    const char *name;
    uint32_t task_timeout_ms; /* see cubed_run_options; sent with each range */
} cubed_executor_args;

/* A kind of executor: its name, capabilities and functions. */
typedef struct cubed_executor_vtable {
    size_t struct_size; /* sizeof(cubed_executor_vtable) */
    const char *name;   /* "threads" */
    cubed_executor_caps caps;
    /* Opens an executor. After a failure there is nothing to close. */
    cubed_status (*open)(const cubed_executor_args *args, cubed_executor **out, cubed_error *err);
    /* Submits a range without blocking. The driver keeps at most `slots` ranges in flight. */
    cubed_status (*submit)(cubed_executor *ex, const cubed_task_range *range, cubed_error *err);
    /* Waits for the next report, at most timeout_ms milliseconds. *got is true if *report was set, and false after a
     * timeout. */
    cubed_status (*poll)(cubed_executor *ex, int timeout_ms, cubed_task_report *report, bool *got,
                         cubed_error *err);
    /* Stops the tasks that are running as soon as possible, waits for their end, and frees the executor. */
    void (*close)(cubed_executor *ex);
    /* Called when the driver stops waiting for a range (cubed_executor.start_ms). The driver may submit the range again. From
     * then on no function, including `close`, may wait for the range. May be NULL. */
    void (*give_up)(cubed_executor *ex, uint64_t token);
} cubed_executor_vtable;

/* Base of every executor: the first member of the executor's own structure. */
struct cubed_executor {
    const cubed_executor_vtable *vt;
    /* maximum number of ranges in flight (submitted, not yet reported), at least 1 */
    unsigned slots;
    unsigned workers;
    /* Time in milliseconds that a range may wait for an idle worker; 0: the executor reports each lost range itself, so the
     * driver waits for every range. Otherwise the driver stops waiting for a range if no report arrives within the sum of:
     * - start_ms,
     * - the maximum duration of the range: range_ms, or the sum over its tasks of the time limit and of the time that a task has
     *   to end after this limit (as long as the limit, at most 5 s), if that is less,
     * - the maximum duration of the ranges that its worker executes before it.
     * If a range has no maximum duration, the driver waits for it. */
    uint32_t start_ms;
    uint32_t range_ms; /* time limit of a range in milliseconds; 0: no limit */
};

/* Adds an executor to a context: plans of the context can be run by the executor `vt->name`, which is opened with
 * executor_ctx. The vtable is borrowed and must outlive the context.
 *
 * Errors: CUBED_E_ARG if the vtable was compiled for another version of this header, lacks a function, or has contradictory
 * capabilities; CUBED_E_EXISTS if an executor has this name. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_executor(cubed_context *ctx,
                                                                   const cubed_executor_vtable *vt,
                                                                   void *executor_ctx,
                                                                   cubed_error *err);

/* Runs tasks in this process, one at a time, within the memory of one worker. For executors that share memory
 * (cubed_executor_caps.shares_memory): each of their threads has a runner. */
typedef struct cubed_runner cubed_runner;
/* Creates a runner. `args` are those that the executor was opened with. The caller frees it with cubed_runner_free. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_runner_new(const cubed_executor_args *args,
                                                         cubed_runner **out, cubed_error *err);
/* Announces the next tasks, in order, so that their chunks are prefetched while earlier tasks run. Optional. */
CUBED_API void cubed_runner_expect(cubed_runner *runner, const cubed_task_range *range);
/* Runs a task. Sets all members of *report except the range's token and the worker's number. */
CUBED_API void cubed_runner_run(cubed_runner *runner, int stage, int64_t task,
                                cubed_task_report *report);
CUBED_API void cubed_runner_free(cubed_runner *runner); /* Frees a runner. NULL is allowed. */

#ifdef __cplusplus
}
#endif

#endif
