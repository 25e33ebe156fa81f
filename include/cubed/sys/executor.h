/* The vtable of an executor, for people who add one.
 *
 * The driver owns order, retries, resume and events; an executor only moves tasks. It is used by
 * one thread (the driver's); how it runs tasks is its own affair.
 */
#ifndef CUBED_SYS_EXECUTOR_H
#define CUBED_SYS_EXECUTOR_H

#include "cubed/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_executor cubed_executor;

/* A range of tasks first..last-1 of one stage, to be run in order, once. `token` comes back. */
typedef struct cubed_task_range {
    uint64_t token;
    int stage;
    int64_t first, last;
} cubed_task_range;

/* What became of one task of a range: one report for each, in order. After a report with an error
 * the rest of that range does not run and is not reported. */
typedef struct cubed_task_report {
    uint64_t token;
    int64_t task;
    unsigned worker;
    unsigned
        team; /* workers that made it together, this one among them: 1 but where they share tasks */
    int64_t start_ns, end_ns;
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
    uint64_t measured_mem, function_mem; /* of a team: of the worker that took most */
    uint64_t cache_peak;                 /* of its process, so far: see cubed_run_stats */
    cubed_error error;                   /* status CUBED_OK if it is done */
} cubed_task_report;

typedef struct cubed_executor_vtable {
    const char *name; /* "threads" */
    /* Never blocks; the driver keeps at most `slots` ranges in flight. */
    cubed_status (*submit)(cubed_executor *ex, const cubed_task_range *range, cubed_error *err);
    /* Waits until a task is done or timeout_ms is over (*got false then). */
    cubed_status (*poll)(cubed_executor *ex, int timeout_ms, cubed_task_report *report, bool *got,
                         cubed_error *err);
    /* Stops what runs as soon as it can, and waits for it; frees the executor. */
    void (*close)(cubed_executor *ex);
} cubed_executor_vtable;

/* The head of every executor's own struct. */
struct cubed_executor {
    const cubed_executor_vtable *vt;
    unsigned slots; /* ranges it wants in flight, at least 1 */
    unsigned workers;
};

#ifdef __cplusplus
}
#endif

#endif
