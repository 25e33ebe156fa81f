/* What a run's driver and its workers tell each other, as bytes: for people who write adapters of engines.
 *
 * Numbers are little-endian and of fixed width, at fixed places; whoever reads another version says so. Signed ones are
 * two's complement. The plan goes by itself (cubed_plan_save): these name it.
 *
 * A range to be run, CUBED_RANGE_BYTES:
 *     0  "CBDR"     4  version, 16 bits     6  1 if driven, else 0, 16 bits     8  token, 64 bits
 *    16  first     24  last, 64 bits each  32  stage, 32 bits   36  timeout_ms, 32 bits
 *    40  the run's name, zeros behind it, 40 bytes              80  the plan's id, the same
 *
 * What became of one task, CUBED_REPORT_BYTES, and what is behind them:
 *     0  "CBDT"     4  version, 16 bits     6  zero, 16 bits     8  token, 64 bits
 *    16  task      24  start_ns            32  end_ns           40  bytes_read
 *    48  bytes_written                     56  stored_read      64  stored_written
 *    72  measured_mem                      80  function_mem     88  cache_peak, 64 bits each
 *    96  worker   100  coop               104  status          108  os_errno, 32 bits each
 *   112  enough_mem, 64 bits              120  retry_after_ms  124  failure, 32 bits each
 *   128  bytes of the message             132  bytes of what was raised, 32 bits each
 *   136  origins, 8 of 32 bits            168  process_mem, 64 bits
 *   176  process_tasks, 32 bits           180  zero, 32 bits
 *   184  the message, then what was raised (cubed/sys/raised.h)
 *
 * Times are of the worker's own clock, which has no date.
 *
 * A worker that is started with nothing is told in one message, behind the range's bytes: the URL of the work directory,
 * the key of the plan in it (both: cubed_executor_args), the library's version, and options of stores, each but the last
 * with a zero behind it. It answers with a head, and reports:
 *     0  nanoseconds from its clock to 1970's, 64 bits      8  bytes of its name, 32 bits     12  the name, then reports
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

/* A range, whose it is, and of what. */
typedef struct cubed_range_message {
    cubed_task_range range;
    uint32_t timeout_ms; /* see cubed_run_options */
    char run[40];        /* a name of at most CUBED_RUN_NAME_CAP bytes with its zero */
    char plan[40];       /* what cubed_plan_get_id gives; "": not known */
    bool driven;         /* by one that hears of every task (cubed_run): nobody reads notes */
} cubed_range_message;

CUBED_API void cubed_range_write(const cubed_range_message *message,
                                 uint8_t bytes[CUBED_RANGE_BYTES]);
/* CUBED_E_UNSUPPORTED for another version, CUBED_E_FORMAT for what is none. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_range_read(const void *bytes, size_t size,
                                                         cubed_range_message *message,
                                                         cubed_error *err);

/* `put` is given the bytes, in parts. What was raised is left out if it cannot be saved, or is larger than
 * CUBED_RAISED_BYTES. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_write(const cubed_context *ctx,
                                                           const cubed_task_report *report,
                                                           cubed_source_sink put, void *sink,
                                                           cubed_error *err);
/* How long the report is that begins with these CUBED_REPORT_BYTES. Fails as the next one. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_size(const void *bytes, size_t *size,
                                                          cubed_error *err);
/* The first report of those in `bytes`, and how long it was. CUBED_E_UNSUPPORTED for another version, CUBED_E_FORMAT for
 * what is none, or is not whole. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_report_read(const cubed_context *ctx,
                                                          const void *bytes, size_t size,
                                                          cubed_task_report *report, size_t *used,
                                                          cubed_error *err);

/* The whole object at a URL of any store, STORE/KEY or STORE::KEY: a message, or a plan's bytes, that a worker is pointed
 * to. `put` is given them in one. CUBED_E_NOT_FOUND if there is none, CUBED_E_FORMAT above `max` bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_object_read(cubed_context *ctx, const char *url,
                                                          size_t max, cubed_source_sink put,
                                                          void *sink, cubed_error *err);
/* Puts a whole object there, in place of one that there is: a worker's answer to one that hears of it by stores alone.
 * In a directory only this user can read it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_object_write(cubed_context *ctx, const char *url,
                                                           const void *bytes, size_t size,
                                                           cubed_error *err);

/* Who works on what messages say. It keeps the plan of the last one, and its run open: with many messages of a run both are
 * read once. Used by one thread at a time; a process may have several. */
typedef struct cubed_worker cubed_worker;
typedef struct cubed_worker_options {
    size_t struct_size;
    bool allow_code; /* in plans: see cubed_plan_load_code */
    /* Of the reports of one message: what does not fit of what was raised is left out; 0: any number. See
     * cubed_executor_caps. */
    uint64_t max_message_bytes;
    /* Tasks that workers of the run have noted as done do not run, and are not reported: for who looks at the last
     * report alone, such as a batch system that starts a job again. */
    bool skip_done;
    /* A task that takes longer than its message says is told to end. If it does not for as long again, 5 s at most, the
     * process ends, with status 124: of programs that do nothing else. */
    bool ends_process;
} cubed_worker_options;
#define CUBED_WORKER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_worker_options), false, 0, false, false                                       \
    }
/* `options` may be NULL. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_worker_new(cubed_context *ctx,
                                                         const cubed_worker_options *options,
                                                         cubed_worker **out, cubed_error *err);
CUBED_API void cubed_worker_free(cubed_worker *worker); /* NULL is allowed */

/* Runs the tasks of a message's range in this thread, by the plan's bytes (cubed_plan_save), and gives their reports, one
 * after another, which are the worker's until its next call. Chunks that tasks read must exist: intermediates are read
 * from and written to the work directory. It touches no metadata and removes nothing, and may be repeated, also at the
 * same time elsewhere. What fails is in the last report: also that the run has not begun or is over
 * (CUBED_E_NOT_FOUND), or that the plan is another one, or cannot be loaded here. Only of a message that cannot be read
 * nothing can be reported. `cancel` as in cubed_run_options. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_work(cubed_worker *worker, const void *plan,
                                                   size_t plan_size, const void *message,
                                                   size_t message_size, const cubed_cancel *cancel,
                                                   const void **reports, size_t *reports_size,
                                                   cubed_error *err);
/* The same of a message with all that is needed, by the plan that it names, which is fetched (cubed_plan_fetch) once for
 * the messages of a run: *answer, reports with a head, is the worker's until its next call. A message of another version
 * of the library is answered with that error. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_work_told(cubed_worker *worker, const void *message,
                                                        size_t size, const cubed_cancel *cancel,
                                                        const void **answer, size_t *answer_size,
                                                        cubed_error *err);
/* The same with a plan that is there already (cubed_plan_fetch); reports are for cubed_plan_free_bytes. `stuck` (may be
 * NULL) is set in the place of the process's end: who looks at it from another thread may end that. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_work_message(cubed_plan *plan, const void *message,
                                                           size_t size, const cubed_cancel *cancel,
                                                           cubed_cancel *stuck, void **reports,
                                                           size_t *reports_size, cubed_error *err);

/* A worker in AWS Lambda: performs invocations ({"cubed": a message of cubed_work_told in base64}) that the runtime's
 * interface at `api` (HOST:PORT, AWS_LAMBDA_RUNTIME_API there) gives, until it fails or is cancelled.
 * CUBED_E_UNSUPPORTED in a library without libcurl. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_lambda_serve(cubed_context *ctx, const char *api,
                                                           const cubed_cancel *cancel,
                                                           cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
