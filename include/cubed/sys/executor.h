/* Executors, for people who add one.
 *
 * The driver owns order, retries, resume and events; an executor only moves ranges of tasks. It is used by
 * one thread (the driver's); how it runs them is its own affair: in this process by cubed_runner, in others by
 * cubed_work (cubed/sys/message.h), which is told the plan's bytes, the run's name and the range.
 */
#ifndef CUBED_SYS_EXECUTOR_H
#define CUBED_SYS_EXECUTOR_H

#include "cubed/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_executor cubed_executor;

/* What an executor works with; all of it outlives it. */
typedef struct cubed_executor_args {
    size_t struct_size;
    cubed_plan *plan;
    unsigned workers;           /* that the plan is for, but no more than capabilities say */
    const cubed_cancel *cancel; /* may be NULL */
    void *ctx;                  /* what cubed_context_add_executor was given */
    /* Of executors that do not share memory: what their workers are told. */
    const char *run;        /* the run's name */
    const void *plan_bytes; /* as of cubed_plan_save */
    size_t plan_size;
    const char *const *worker_command; /* of cubed_run_options; may be NULL */
    /* Of those with cubed_executor_caps.finds_plan: where cubed_plan_fetch finds it, in less than 400 bytes beside the
     * directory's URL. */
    const char *work_dir, *plan_key;
    /* What was asked for: the executor's name, or that, a colon and what it is to be. */
    const char *name;
    uint32_t task_timeout_ms; /* of cubed_run_options: goes into messages of ranges */
} cubed_executor_args;

typedef struct cubed_executor_vtable {
    size_t struct_size; /* sizeof(cubed_executor_vtable): what it was made for */
    const char *name;   /* "threads" */
    cubed_executor_caps caps;
    /* Nothing has to be undone if it fails. */
    cubed_status (*open)(const cubed_executor_args *args, cubed_executor **out, cubed_error *err);
    /* Never blocks; the driver keeps at most `slots` ranges in flight. */
    cubed_status (*submit)(cubed_executor *ex, const cubed_task_range *range, cubed_error *err);
    /* Waits until a task is done or timeout_ms is over (*got false then). */
    cubed_status (*poll)(cubed_executor *ex, int timeout_ms, cubed_task_report *report, bool *got,
                         cubed_error *err);
    /* Stops what runs as soon as it can, and waits for it; frees the executor. */
    void (*close)(cubed_executor *ex);
    /* The driver has given up a range (cubed_executor.start_ms), which may be submitted again: nobody waits for it any
     * more, `close` neither. May be NULL. */
    void (*give_up)(cubed_executor *ex, uint64_t token);
} cubed_executor_vtable;

/* The head of every executor's own struct. */
struct cubed_executor {
    const cubed_executor_vtable *vt;
    unsigned slots; /* ranges it wants in flight, at least 1 */
    unsigned workers;
    /* How long a range may wait for a worker that has nothing else to do; 0: the executor itself reports each range that
     * is lost. A range of which nothing is heard for so long and for all that it may take (range_ms, or the time limits
     * of its tasks, and before it those of ranges that workers have to do first) is given up. */
    uint32_t start_ms;
    uint32_t range_ms; /* that a range may take, whatever is in it; 0: any time */
};

/* Plans of this context can be run by the executor `vt->name` from now on, with `ctx` in what it is opened with. The
 * vtable is borrowed and outlives the context. CUBED_E_ARG if it was made for another version of this header, lacks a
 * function, or says of itself what cannot be; CUBED_E_EXISTS if there is one of that name. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_executor(cubed_context *ctx,
                                                                   const cubed_executor_vtable *vt,
                                                                   void *executor_ctx,
                                                                   cubed_error *err);

/* Runs tasks in this process, one at a time, within the memory of one worker. For executors that share memory: one for
 * each of their threads. `args`: those that the executor was opened with. */
typedef struct cubed_runner cubed_runner;
CUBED_API CUBED_MUST_CHECK cubed_status cubed_runner_new(const cubed_executor_args *args,
                                                         cubed_runner **out, cubed_error *err);
/* These tasks are next, in order: what they read is fetched while others run. Not needed. */
CUBED_API void cubed_runner_expect(cubed_runner *runner, const cubed_task_range *range);
/* Sets all of *report but the range's token and the worker's number. */
CUBED_API void cubed_runner_run(cubed_runner *runner, int stage, int64_t task,
                                cubed_task_report *report);
CUBED_API void cubed_runner_free(cubed_runner *runner); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
