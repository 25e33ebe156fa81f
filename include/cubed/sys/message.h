/* Messages between a run's driver and its workers, as bytes: for adapters of engines.
 *
 * Numbers are little-endian, of fixed width, at fixed offsets. Signed numbers are two's complement. A reader refuses
 * other versions. The plan is sent separately (cubed_plan_save); messages contain its ID.
 *
 * A range to run, CUBED_RANGE_BYTES:
 *     0  "CBDR"     4  version, 16 bits     6  1 if driven, else 0, 16 bits     8  token, 64 bits
 *    16  first     24  last, 64 bits each  32  stage, 32 bits   36  timeout_ms, 32 bits
 *    40  name of the run, padded with zeros, 40 bytes           80  ID of the plan, padded with zeros, 40 bytes
 *
 * The report of a task, CUBED_REPORT_BYTES and the data after them:
 *     0  "CBDT"     4  version, 16 bits     6  zero, 16 bits     8  token, 64 bits
 *    16  task      24  start_ns            32  end_ns           40  bytes_read
 *    48  bytes_written                     56  stored_read      64  stored_written
 *    72  measured_mem                      80  function_mem     88  cache_peak, 64 bits each
 *    96  worker   100  coop               104  status          108  os_errno, 32 bits each
 *   112  enough_mem, 64 bits              120  retry_after_ms  124  failure, 32 bits each
 *   128  bytes of the message             132  bytes of the raised object, 32 bits each
 *   136  origins, 8 of 32 bits            168  process_mem, 64 bits
 *   176  process_tasks, 32 bits           180  zero, 32 bits
 *   184  the message, then the raised object (cubed/sys/raised.h)
 *
 * Times are nanoseconds of the worker's monotonic clock, between -2^60 and 2^60.
 *
 * A worker that is started without arguments gets everything in one message: the bytes of the range, then the URL of the work
 * directory, the key of the plan in it (both as in cubed_executor_args), the library's version, and storage options, all except
 * the last with a terminating NUL. The worker answers with a header, and reports:
 *     0  ns to add to its clock for time since 1970, 64 bits     8  bytes of its name, 32 bits     12  the name, then reports
 */
#ifndef CUBED_SYS_MESSAGE_H
#define CUBED_SYS_MESSAGE_H

#include "cubed/run.h"
#include "cubed/sys/raised.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUBED_MESSAGE_VERSION 3
#define CUBED_RANGE_BYTES     120
#define CUBED_REPORT_BYTES    184
#define CUBED_REPORT_MOST                                                                          \
    (CUBED_REPORT_BYTES + sizeof(((cubed_error *)0)->message) + CUBED_RAISED_BYTES)

/* A range with its run and its plan. */
typedef struct cubed_range_message {
    cubed_task_range range;
    uint32_t timeout_ms; /* see cubed_run_options */
    char run[40];  /* name of the run: at most CUBED_RUN_NAME_CAP bytes, terminating NUL included */
    char plan[40]; /* the ID of cubed_plan_get_id; "": unknown */
    /* the driver gets a report of every task (cubed_run), so workers neither write nor read records of completed tasks */
    bool driven;
} cubed_range_message;

/* Writes a range as bytes. Names of the run and the plan are truncated to 39 bytes. */
CUBED_API void cubed_range_write(const cubed_range_message *message,
                                 uint8_t bytes[CUBED_RANGE_BYTES]);
/* Reads a range from its bytes. CUBED_E_UNSUPPORTED for another version, CUBED_E_FORMAT for bytes that are not a range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_range_read(const void *bytes, size_t size,
                                                         cubed_range_message *message,
                                                         cubed_error *err);

/* Writes a report: passes its bytes to `put`, in parts. The raised object (cubed/sys/raised.h) is left out if it cannot be
 * saved, or exceeds CUBED_RAISED_BYTES. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_write(const cubed_context *ctx,
                                                           const cubed_task_report *report,
                                                           cubed_source_sink put, void *sink,
                                                           cubed_error *err);
/* Gets the size of the report whose first CUBED_REPORT_BYTES bytes are given. CUBED_E_UNSUPPORTED for another version,
 * CUBED_E_FORMAT for bytes that are not a report. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_size(const void *bytes, size_t *size,
                                                          cubed_error *err);
/* Reads the first report in `bytes`; *used receives its size. CUBED_E_UNSUPPORTED for another version, CUBED_E_FORMAT for bytes
 * that are not a complete report. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_read(const cubed_context *ctx,
                                                          const void *bytes, size_t size,
                                                          cubed_task_report *report, size_t *used,
                                                          cubed_error *err);

/* Reads a whole object, such as a message or the bytes of a plan, at STORE/KEY or STORE::KEY in any store. Passes it to `put`
 * in one part. CUBED_E_NOT_FOUND if there is no object, CUBED_E_FORMAT if it has more than `max` bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_object_read(cubed_context *ctx, const char *url,
                                                          size_t max, cubed_source_sink put,
                                                          void *sink, cubed_error *err);
/* Writes a whole object at STORE/KEY or STORE::KEY, and replaces an existing object. A worker answers in this way if it can
 * reach its driver only through stores. In a directory, only this user can read the object. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_object_write(cubed_context *ctx, const char *url,
                                                           const void *bytes, size_t size,
                                                           cubed_error *err);

/* Executes the ranges of messages. A worker caches the plan of the last message and keeps its run open, so many messages of one
 * run read the plan and the run's records only once. Used by one thread at a time; a process may have several workers. */
typedef struct cubed_worker cubed_worker;
typedef struct cubed_worker_options {
    size_t struct_size;
    bool allow_code; /* accepts plans with code: see cubed_plan_load_code */
    /* Maximum size in bytes of the reports of one message; 0: no limit. Exceptions of Python functions that
     * do not fit are left out. See cubed_executor_caps. */
    uint64_t max_message_bytes;
    /* Skips tasks that workers of the run have recorded as done. There are no reports of these tasks. For callers that read
     * only the last report, such as a batch system that restarts a job. */
    bool skip_done;
    /* Ends this process with status 124 if a task is stuck. A task is cancelled after the time limit of its message; it is
     * stuck if it does not end within the same time again, at most 5 s. For programs that do nothing else. */
    bool ends_process;
    /* Flag that is set if a task is stuck and `ends_process` is false; another thread that polls it may end the process. May be
     * NULL. */
    cubed_cancel *stuck;
    /* The plan of all messages, which the caller has loaded or fetched (cubed_plan_fetch). Workers of one plan share its open
     * run. NULL: each message is passed with its plan. */
    cubed_plan *plan;
    /* Lets the operating system limit the private memory of this process while tasks run (RLIMIT_DATA). The limit is the plan's
     * allowed_mem, or the memory held before its first task plus allowed_mem - reserved_mem, if that is more. For processes
     * that do nothing else, on Linux. */
    bool limits_memory;
} cubed_worker_options;
#define CUBED_WORKER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_worker_options), false, 0, false, false, NULL, NULL, false                    \
    }
/* Creates a worker. `options` may be NULL; `ctx` may be NULL if the options name a plan, else CUBED_E_ARG. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_worker_new(cubed_context *ctx,
                                                         const cubed_worker_options *options,
                                                         cubed_worker **out, cubed_error *err);
CUBED_API void cubed_worker_free(cubed_worker *worker); /* Frees a worker. NULL is allowed. */

/* Input of one call of cubed_work. */
typedef struct cubed_work_input {
    size_t struct_size;
    /* The bytes of cubed_plan_save. NULL if the worker was created for a plan, or if the message is complete, as for executors
     * with `finds_plan`: the worker then fetches the plan that the message names. */
    const void *plan;
    size_t plan_size;
    const void *
        message; /* the bytes of cubed_range_write, followed by the data for a worker that fetches the plan */
    size_t message_size;
    const cubed_cancel *cancel; /* cancels the tasks, as in cubed_run_options */
    /* Time limit of the call in milliseconds; 0: no limit. A task that is running when the time is over is ended. A task other
     * than the first does not begin if it might not end in time, judged by the longest task so far. The last report then has
     * the failure "preempted". */
    uint32_t time_ms;
} cubed_work_input;
#define CUBED_WORK_INPUT_INIT                                                                      \
    {                                                                                              \
        sizeof(cubed_work_input), NULL, 0, NULL, 0, NULL, 0                                        \
    }

/* Runs the tasks of a message's range in this thread. The chunks that the tasks read must exist; intermediates are in the work
 * directory. The call changes no metadata and removes nothing. It may be repeated, also at the same time in another process.
 *
 * reports  receives the reports of the tasks, one after another; if the worker fetches plans, the reports follow a header. They
 *          belong to the worker until its next call.
 *
 * The last report has the error if a task failed, if the run has not begun or is over (CUBED_E_NOT_FOUND), or if the plan is
 * not the expected one, cannot be loaded, or is of another version of the library.
 *
 * Errors of the call itself: an unreadable message; CUBED_E_ARG if a plan is passed to a worker that was created for a plan. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_work(cubed_worker *worker,
                                                   const cubed_work_input *input,
                                                   const void **reports, size_t *reports_size,
                                                   cubed_error *err);

/* Runs this process as a worker in AWS Lambda: executes invocations until the runtime interface fails or the call is cancelled.
 * An invocation is the JSON object {"cubed": MESSAGE}. MESSAGE is a message with everything that a worker needs, in base64.
 *
 * api  HOST:PORT of the runtime interface, the value of AWS_LAMBDA_RUNTIME_API
 *
 * Errors: CUBED_E_UNSUPPORTED in a library without libcurl. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lambda_serve(cubed_context *ctx, const char *api,
                                                           const cubed_cancel *cancel,
                                                           cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
