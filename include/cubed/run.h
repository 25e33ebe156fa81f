/* Running plans: events, executors, options, statistics, runs in parts, and cleaning up. */
#ifndef CUBED_RUN_H
#define CUBED_RUN_H

#include "cubed/cancel.h"
#include "cubed/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of events of a run. */
typedef enum cubed_event_kind {
    CUBED_EVENT_PLAN_START,
    CUBED_EVENT_STAGE_START, /* the stage's first task starts */
    CUBED_EVENT_TASK_START,
    CUBED_EVENT_TASK_RETRY, /* a task failed: `status` and `message` give the cause, and `again` whether it will run again */
    CUBED_EVENT_TASK_END,
    CUBED_EVENT_STAGE_END, /* the stage's last task ended */
    CUBED_EVENT_PLAN_END,
    CUBED_EVENT_TASK_RESUMED /* the task is skipped because an earlier run completed it */
} cubed_event_kind;

/* An event of a run. Fields that do not apply to the kind of event are 0; `stage` and `task` are then -1. */
typedef struct cubed_event {
    cubed_event_kind kind;
    /* Nanoseconds of the monotonic clock. The start of a task may be reported late, but events of one worker are in order. */
    int64_t time_ns;
    int stage;
    int64_t task;
    unsigned worker;
    /* Machine and process of the worker, "HOST:PID"; NULL: this process. Valid during the callback. */
    const char *host;
    /* For the first task of a range: nanoseconds between its submission to the executor and its start. */
    int64_t queued_ns;
    /* The task's range was also given to a second worker (cubed_run_options.backups). The event reports one of the two
     * attempts. */
    bool backup;
    /* Number of workers that performed the task together: usually 1. If a cooperative task is performed by several workers,
     * their numbers are 0 to coop - 1. */
    unsigned coop;
    unsigned attempt; /* 0 for the first attempt */
    /* Duration of the task, stage or plan; for TASK_END, STAGE_END and PLAN_END. */
    int64_t duration_ns;
    uint64_t bytes_read;     /* TASK_END: decoded bytes of the chunks that the task read */
    uint64_t bytes_written;  /* TASK_END: decoded bytes of the chunks that the task stored */
    uint64_t stored_read;    /* TASK_END: encoded bytes read from stores */
    uint64_t stored_written; /* TASK_END: encoded bytes written to stores */
    /* TASK_END: peak bytes of the task's arena (its buffers) and of memory that libraries allocated. For a cooperative task:
     * the peak of the worker that used the most memory. */
    uint64_t measured_mem;
    uint64_t projected_mem; /* TASK_END: bound on measured_mem */
    /* TASK_END, for user-defined functions. function_mem: bytes that a function reported as its own memory. function_projected:
     * the part of projected_mem that is reserved for functions. */
    uint64_t function_mem, function_projected;
    uint64_t intermediate_mem; /* bytes of intermediates that are in memory now */
    /* Reason for a retry or for the end of a failed plan; for TASK_RETRY and PLAN_END. */
    cubed_status status;
    cubed_failure failure; /* kind of failure that belongs to `status` */
    const char *message;   /* message that belongs to `status`; valid during the callback */
    /* TASK_RETRY. True: the task will run again, or another worker already performs it. False: the run fails because of this
     * error. */
    bool again;
} cubed_event;

/* Receives events. The library calls it only in the thread that called cubed_run, between other work, so it must return
 * quickly. */
typedef void (*cubed_event_fn)(void *ctx, const cubed_event *event);

/* Default number of seconds after the last heartbeat (an update of the run's record) until a run on another machine counts as
 * ended. The next run that writes to the same targets then takes these targets over. A run writes a heartbeat ten times in this
 * period. */
#define CUBED_RUN_SILENCE 600

/* Bits of cubed_run_options.keep: objects that an interrupted or failed run keeps, so that a later run can resume it. Nothing
 * is kept if no task completed, or after CUBED_E_INTERNAL.
 *
 * CHUNKS         chunks of targets, at their final place, next to a record that names the plan. If the target replaces an
 *                existing array, the new chunks are next to that array.
 * INTERMEDIATES  chunks of intermediates that are in the work directory
 * RECORD         after a complete run, the record of each target. A run that resumes detects by this record that everything is
 *                done.
 *
 * A run that is killed leaves all three. */
#define CUBED_KEEP_CHUNKS        1u
#define CUBED_KEEP_INTERMEDIATES 2u
#define CUBED_KEEP_RECORD        4u

/* Capabilities of an executor. If all are false or 0, the workers are separate processes that share only a work directory and
 * stores with the driver. */
typedef struct cubed_executor_caps {
    /* Workers are threads of this process: they share its memory and its memory limit. */
    bool shares_memory;
    /* Workers are processes on this machine. Results in memory, and sources in memory that are too large for the plan's bytes,
     * are files that the workers map. */
    bool maps_memory;
    /* Several workers can perform one task together: see cubed_plan_options.share_tasks. */
    bool shares_tasks;
    /* Workers may be on other machines, so the memory of this machine does not limit them. */
    bool remote;
    /* A worker that uses more than allowed_mem fails without affecting other processes. */
    bool enforces_memory;
    /* The executor retries tasks itself. The driver does not retry a task that the executor reports as failed. */
    bool retries_itself;
    bool takes_command;   /* the executor starts cubed_run_options.worker_command for each worker */
    bool finds_plan;      /* workers load the plan with cubed_plan_fetch */
    unsigned max_workers; /* 0: no limit */
    /* maximum number of ranges in flight (submitted, not yet reported); 0: no limit */
    unsigned max_in_flight;
    /* Maximum size of a message in bytes; 0: no limit. A message to a worker contains a range of tasks and, unless
     * `finds_plan` is set, the plan. A message to the driver contains the reports about the tasks of a range. */
    uint64_t max_message_bytes;
    /* Intended duration of a range in milliseconds, so that submitting the range costs little in comparison: about
     * CUBED_RANGE_OVERHEADS times the duration of a submission. The driver estimates durations of tasks from the plan, and for
     * user-defined functions from earlier tasks. 0: the cost of a submission is negligible. */
    unsigned range_ms;
#define CUBED_RANGE_OVERHEADS 20
    /* For services that start workers step by step. ramp_workers: number of workers that the service starts immediately.
     * ramp_per_second: number of further workers that it starts per second. The driver submits at most as many ranges as workers
     * can have started, and fewer if workers start more slowly. ramp_workers 0: all workers start immediately, or the executor
     * queues ranges until a worker is idle. */
    unsigned ramp_workers, ramp_per_second;
} cubed_executor_caps;
/* Gets the capabilities of an executor.
 *
 * ctx   may be NULL: only the library's own executors are found
 * name  NULL: the default executor
 *
 * Errors: CUBED_E_ARG if there is no executor of that name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_executor_get_caps(const cubed_context *ctx,
                                                                const char *name,
                                                                cubed_executor_caps *caps,
                                                                cubed_error *err);
/* Returns the name of executor number `i`, from 0, or NULL if `i` is too large. The library's own executors come first,
 * beginning with the default. `ctx` may be NULL: only the library's own executors are found. */
CUBED_API const char *cubed_executor_name(const cubed_context *ctx, int i);

/* A range of tasks of one stage, first to last - 1, which a worker executes once, in this order. Reports of the range contain
 * its `token`. */
typedef struct cubed_task_range {
    uint64_t token;
    int stage;
    int64_t first, last;
} cubed_task_range;

/* The result of one task of a range. An executor gives one report for each task, in order. After a report with an error, the
 * executor neither executes nor reports the remaining tasks of the range. */
typedef struct cubed_task_report {
    uint64_t token;
    int64_t task;
    unsigned worker;
    /* Machine and process of the worker, "HOST:PID"; NULL: this process. Valid until the next report is requested. */
    const char *host;
    /* Number of workers that performed the task together, including this one; 1 unless the executor shares tasks. */
    unsigned coop;
    int64_t start_ns, end_ns;
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
    uint64_t measured_mem,
        function_mem;    /* peak bytes; for a cooperative task, the highest peak of its workers */
    uint64_t cache_peak; /* peak of the worker's process so far: see cubed_run_stats */
    /* For workers whose memory is not limited.
     * process_mem    bytes of code (programs and libraries) that the process held before its first task of the run; 0 if they
     *                fit into allowed_mem together with the memory of a task
     * process_tasks  number of tasks that the process is executing now */
    uint64_t process_mem;
    uint32_t process_tasks;
    cubed_error error; /* error.status is CUBED_OK if the task is complete */
} cubed_task_report;

/* Results of an update: see cubed_run_options.update. */
#define CUBED_UPDATE_TEXT_CAP 256
typedef struct cubed_update {
    /* True: only tasks that depend on changed chunks have run. False: everything was recomputed, and the arrays were replaced. */
    bool in_place;
    /* Reason why everything was recomputed; "" if in_place is true, or if there was no array yet. */
    char why[CUBED_UPDATE_TEXT_CAP];
    /* Reason why the record of the sources' versions could not be written; "" if it was written. Without this record, the next
     * update recomputes everything. */
    char no_record[CUBED_UPDATE_TEXT_CAP];
    int64_t num_checked; /* stored objects of the sources whose versions were compared */
    int64_t num_changed; /* objects of num_checked that were new or had another version */
    uint64_t bytes_read; /* bytes of sources and results that were read to compute versions */
} cubed_update;

typedef struct cubed_run_options {
    size_t struct_size;
    /* Name of the executor; NULL: the default, "threads". The library has "threads", "single-threaded", "processes", and
     * "lambda:FUNCTION" (a function of AWS Lambda, by its name or ARN). Programs can add executors (cubed/sys/executor.h). */
    const char *executor;
    /* Number of retries of a task after a transient failure, a lost worker or a timeout; at most 255. A preempted task is
     * always retried, up to 100 times. Other failures are not retried. */
    int retries;
    cubed_event_fn on_event;
    void *event_ctx;
    const cubed_cancel
        *cancel;   /* stops the run when it is set; NULL: the run cannot be cancelled */
    unsigned keep; /* bits CUBED_KEEP_*; 0: an unfinished run removes everything that it wrote */
    /* Resumes an earlier run of the same plan: tasks whose chunks exist are skipped. If the earlier run is complete, nothing is
     * done.
     *
     * Plans are the same only if their arrays in memory have the same contents. Limits, executor and number of workers may
     * differ; intermediates that differ for this reason are recomputed. A plan that reads from functions starts from the
     * beginning, because their values may have changed.
     *
     * CUBED_E_EXISTS if the metadata of a source has changed since the earlier run, or if a target has chunks of another plan
     * and may not be overwritten. */
    bool resume;
    /* For executors with `takes_command`: program and arguments of a worker, terminated by NULL. The executor appends one
     * argument, the number of a file descriptor, which the program passes to cubed_worker_serve. The program must use this
     * version of the library. */
    const char *const *worker_command;
    /* For executors that the program added: argument for opening the executor. NULL: the argument that was passed to
     * cubed_context_add_executor. */
    void *executor_ctx;
    /* Lets idle workers repeat ranges of other workers; the first result is used. Only for executors whose workers neither
     * share nor map memory (cubed_executor_caps), and that do not retry tasks themselves.
     * - Slow ranges: a range that takes far longer than other ranges of its stage. At most one worker in 20, but at least one
     *   worker, repeats such ranges at the same time.
     * - Last ranges of a stage, before they are slow: only if the service starts workers step by step
     *   (cubed_executor_caps.ramp_workers), and at most a tenth of the stage's tasks. */
    bool backups;
    /* Time limit of a task in milliseconds; 0: no limit. The worker ends a task that exceeds the limit, or exits if that fails,
     * and the task is retried as after an I/O error. Not for executors whose workers are in this process. */
    uint32_t task_timeout_ms;
    /* Number of seconds without a heartbeat after which a run on another machine counts as ended; 0: CUBED_RUN_SILENCE. This
     * run writes a heartbeat ten times in this period. */
    uint32_t silence_seconds;
    /* Takes over targets from other runs that may still write to them: see cubed_takeover_options.take_over. */
    bool take_over;
    /* Updates the targets: recomputes only chunks whose sources have changed since an earlier run with this option. That run
     * left a record next to each target. If sources have grown, the targets grow as well. The result has the same bits as the
     * result of a full run.
     *
     * To detect changes, versions of the sources' chunks are compared: ETags or generations in object stores, otherwise hashes
     * of the stored bytes. Changed chunks are replaced in the existing array, one by one; the array's metadata are written
     * last. If other chunks might also differ, everything is recomputed and the array is replaced, for which its target must
     * have `overwrite` set.
     *
     * An update that was interrupted is continued by the next one. CUBED_E_ARG with `resume`, results in memory or regions. */
    bool update;
    cubed_update *updated; /* receives the results of the update; may be NULL */
} cubed_run_options;
#define CUBED_RUN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_run_options), NULL, 2, NULL, NULL, NULL, 0, false, NULL, NULL, true, 0, 0,    \
            false, false, NULL                                                                     \
    }

/* Conditions under which a run takes over a place (the location of an array) from a process that may still write there. The
 * state of such a process is unknown, because it is on another machine or in another container. A run that takes over a place
 * prevents late writes by that process if the store supports this.
 *
 * silence_seconds  seconds without a heartbeat after which the process counts as ended; 0: CUBED_RUN_SILENCE
 * take_over        the caller guarantees that the process has ended. The place is taken over immediately, even on a store that
 *                  ignores the conditions of puts and so cannot prevent late writes. Without take_over the call fails on such a
 *                  store.
 *
 * A place is never taken over from a process that is still running on this machine, or from a run in parts that is not
 * finished. */
typedef struct cubed_takeover_options {
    size_t struct_size;
    uint32_t silence_seconds;
    bool take_over;
} cubed_takeover_options;
#define CUBED_TAKEOVER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_takeover_options), 0, false                                                   \
    }

/* Protection from late writes: writes by a run whose target another run has taken over, or to a chunk that another process has
 * written in the meantime.
 *
 * NONE        no protection, because the user's option conditional_put turns off the conditions of puts
 * CONDITIONS  each put names the version of the object that it replaces
 * EXCHANGE    a takeover exchanges the directory, so late writes go to the old directory
 * LOCK        for regions: writers of a chunk lock its file
 * PROCESS     no other process can access the store */
typedef enum cubed_fence {
    CUBED_FENCE_NONE,
    CUBED_FENCE_CONDITIONS,
    CUBED_FENCE_EXCHANGE,
    CUBED_FENCE_LOCK,
    CUBED_FENCE_PROCESS
} cubed_fence;

/* The protection of a target in a store from late writes (cubed_fence), and the cost of this protection. */
typedef struct cubed_promise {
    const char *url; /* lives as long as the plan */
    cubed_fence fence;
    bool is_region; /* the target is a region of an existing array, so no run claims it */
    /* Number of chunks of a region that other writers may also write; 0 for whole arrays. */
    int64_t shared_chunks;
    /* Maximum number of requests for the claim: the record by which the run reserves the target for itself. 0 for directories,
     * which need no requests. Not included are the heartbeats, which update the record ten times in `silence_seconds`, and
     * one request for each 1,000 replaced objects. */
    uint64_t claim_requests;
    uint64_t chunk_requests; /* requests for each chunk, in addition to its put */
    uint64_t bytes;          /* decoded bytes of the new array */
    /* An existing array remains in place until the new array is complete. */
    bool may_replace;
    bool
        copies; /* the new array is copied to its final place, so that two copies exist temporarily */
} cubed_promise;
/* Gets the protection of target number `i` from late writes, and its cost. Makes no requests, so it cannot detect a service
 * that ignores conditions.
 *
 * Errors: CUBED_E_NOT_FOUND if `i` is not less than the number of targets in stores. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_promise(const cubed_plan *plan, int i,
                                                               cubed_promise *out,
                                                               cubed_error *err);
/* Describes the protection of a target as a sentence without a full stop. Writes the sentence into text[cap] with a terminating
 * NUL; truncates a longer sentence. */
CUBED_API void cubed_promise_text(const cubed_promise *promise, char *text, size_t cap);
#define CUBED_PROMISE_TEXT_CAP 384
/* Returns "conditions", "exchange", "lock", "process" or "none". */
CUBED_API const char *cubed_fence_name(cubed_fence fence);

/* Returns the start time of a process on this machine in clock ticks after the start of the machine; 0 if the process does
 * not run, or if the system does not report it. */
CUBED_API uint64_t cubed_process_start(int64_t pid);

/* Statistics of a run. */
typedef struct cubed_run_stats {
    double seconds;
    int64_t num_tasks;
    int64_t num_retries;
    int64_t num_backups; /* ranges that a second worker repeated */
    int64_t num_resumed; /* tasks that an earlier run had completed */
    /* worker_seconds: time that workers spent on tasks, including failed and repeated attempts. gb_seconds: worker_seconds
     * times allowed_mem in units of 1e9 bytes, which services charge for. queue_seconds: time that ranges waited for a worker. */
    double worker_seconds, gb_seconds, queue_seconds;
    unsigned num_workers;
    uint64_t measured_mem; /* peak memory of a task, over all tasks */
    /* Largest amount of memory that a user-defined function reported as its own. */
    uint64_t function_mem;
    /* function_excess: bytes by which the memory that a user-defined function reported exceeds its projection; the maximum over
     * all tasks. function_excess_stage: number of the stage of this maximum. */
    uint64_t function_excess;
    int function_excess_stage;
    uint64_t process_mem;   /* largest cubed_task_report.process_mem */
    uint32_t process_tasks; /* largest cubed_task_report.process_tasks */
    /* Bytes by which the memory of a worker's process may exceed process_tasks * allowed_mem; 0 if it cannot exceed this
     * memory. */
    uint64_t process_excess;
    uint64_t projected_mem;        /* largest projection of a task that ran */
    uint64_t intermediate_peak;    /* peak bytes of intermediates in memory */
    uint64_t cache_peak;           /* peak bytes of cached decoded chunks in one process */
    uint64_t intermediate_spilled; /* bytes of intermediates written to the work directory */
    uint64_t bytes_read, bytes_written;
    uint64_t stored_read, stored_written;
    /* num_throttled: number of requests of this process that services refused because there were too many. The library repeated
     * these requests; they do not count as retries. throttle_limit: smallest number of concurrent requests to which the library
     * limited itself at the end; 0: no request was refused. */
    uint64_t num_throttled;
    unsigned throttle_limit;
} cubed_run_stats;

/* Returns the peak resident memory of this process in bytes, as reported by the operating system. */
CUBED_API uint64_t cubed_peak_rss(void);
/* Returns the resident memory of this process in bytes; 0 if the system does not report it. Before a run starts, the
 * reserved_mem of all workers in this process must cover this memory. */
CUBED_API uint64_t cubed_resident_mem(void);
/* Returns the memory of this machine in bytes, or the limit of this process's cgroups or address space if that is lower. */
CUBED_API uint64_t cubed_machine_mem(void);
/* Returns the private memory of this process in bytes, resident or not; 0 if the system does not report it. The reserved_mem
 * of a worker process must cover the private memory that it has before its first task, because the system limits private
 * memory to allowed_mem. */
CUBED_API uint64_t cubed_private_mem(void);

/* Resident bytes of this process in anonymous memory and in mapped files; 0 if the system does not report them. */
typedef struct cubed_resident {
    uint64_t anonymous, files;
} cubed_resident;
CUBED_API cubed_resident cubed_resident_kinds(void);
/* Counts the memory that became resident since `before` as memory of code (programs, libraries and their tables). Call it, for
 * example, after an import. If both numbers of `before` are 0, counts all resident memory; use this in a process that has no
 * data yet. Thread-safe. */
CUBED_API void cubed_code_count(cubed_context *ctx, cubed_resident before);
/* Declares that `resident` bytes of this process are memory of code. Call it in a process that has no data yet. Thread-safe. */
CUBED_API void cubed_code_measured(cubed_context *ctx, uint64_t resident);
/* Returns the resident bytes of code (programs, libraries and their tables) if they exceed `limit`, otherwise 0. Mapped files
 * of libraries count as code. Thread-safe. */
CUBED_API uint64_t cubed_code_above(cubed_context *ctx, uint64_t limit);

/* Loads the code of the plan's functions on blocks, and the libraries that the code imports, as a run in this process does
 * before its first task. The caller can then measure the effect on this process's memory. The code stays loaded until a run
 * of the plan has ended. Errors of the code are reported by the run. */
CUBED_API void cubed_plan_load_functions(const cubed_plan *plan);

/* Runs a plan to completion.
 *
 * Writes the metadata of a target after all of its chunks, so a partly written array never looks complete. `options->keep`
 * determines what remains after an error or cancellation. An array that is overwritten stays readable until the new array,
 * which is written next to it, is complete and replaces it.
 *
 * plan     may be run again later, but not concurrently
 * options  NULL: the defaults
 * stats    receives the statistics of the run; may be NULL
 *
 * Errors: CUBED_E_EXISTS if another run is writing a target; the message names that run. Also the errors of stores, codecs
 * and user-defined functions, with the stage and the task in `err`.
 * Ownership: borrows all arguments. Thread safety: one run per plan at a time. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run(cubed_plan *plan,
                                                  const cubed_run_options *options,
                                                  cubed_run_stats *stats, cubed_error *err);

/* --- Runs in parts: an external scheduler distributes tasks to processes ---
 *
 * A run in parts is begun once (cubed_run_begin), executed by any number of processes (cubed_work in cubed/sys/message.h) in any
 * order that the stages allow, and finished once (cubed_run_finish). All processes need the plan's bytes (cubed_plan_save), the
 * name of the run and its work directory. Each call may be repeated, even while the same call is running. After the end of the
 * run cubed_run_finish does nothing, and every other call is an error.
 *
 * Errors: CUBED_E_UNSUPPORTED for results in memory and for sources that are functions; CUBED_E_ARG for a plan without a
 * work directory. */
#define CUBED_RUN_NAME_CAP 33 /* size of the name of a run, including the terminating NUL */
/* Begins a run in parts: claims its targets, so that no other run writes to them.
 *
 * run       name for the run, of letters, digits, "-", "_" and "."; no other run in the work directory may have the name. NULL:
 *           the library generates a name
 * takeover  conditions for taking over targets from a run on another machine that writes no heartbeats; NULL: the defaults
 * name      receives the name of the run
 *
 * Errors: CUBED_E_EXISTS if another run writes to a target, or if a target exists and may not be overwritten. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_begin(cubed_plan *plan, const char *run,
                                                        const cubed_takeover_options *takeover,
                                                        char name[CUBED_RUN_NAME_CAP],
                                                        cubed_error *err);
/* Loads the plan of a run, and the driver's memory that the plan reads, from the work directory. For workers of an executor
 * with cubed_executor_caps.finds_plan. Code in the plan is accepted: anyone who can write to the work directory can run
 * programs on this machine.
 *
 * work_dir, key  work_dir and plan_key of cubed_executor_args
 *
 * Errors: CUBED_E_NOT_FOUND if the run is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_fetch(cubed_context *ctx, const char *work_dir,
                                                         const char *key, cubed_plan **out,
                                                         cubed_error *err);
/* Finishes a run in parts. Checks that every task is done and every chunk exists, and writes the metadata. Then moves new arrays
 * to the places of the arrays that they replace, and removes intermediates. A second call does nothing.
 *
 * Errors: CUBED_E_NOT_FOUND if a task or a chunk is missing; the message names it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_finish(cubed_plan *plan, const char *run,
                                                         cubed_error *err);

/* The driver of a run in parts: decides which ranges of tasks may run now, for a program that sends the ranges to its own
 * workers.
 *
 * 1. Call cubed_run_begin, and create the driver.
 * 2. Until cubed_run_is_over: submit the ranges of cubed_run_ready, and pass the result of each task to cubed_run_report.
 * 3. Call cubed_run_finish.
 *
 * A range is ready when the chunks that it reads exist. There are no barriers between stages, and tasks of later stages come
 * first. A range with a transient failure becomes ready again after a pause. The driver writes nothing, because workers record
 * completed tasks. So a new driver for the same run can replace a driver that has died. Used by one thread at a time. */
typedef struct cubed_driver cubed_driver;
typedef struct cubed_driver_options {
    size_t struct_size;
    /* Number of workers; a larger number makes ranges smaller; 0: the plan's max_workers. */
    unsigned workers;
    /* Maximum number of ranges in flight (submitted, not yet reported); 0: four per worker. */
    unsigned max_in_flight;
    int retries; /* this and the following fields have the same meaning as in cubed_run_options */
    cubed_event_fn on_event;
    void *event_ctx;
    const cubed_cancel *cancel;
    uint64_t max_message_bytes; /* see cubed_executor_caps */
    bool backups;               /* see cubed_run_options */
} cubed_driver_options;
#define CUBED_DRIVER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cubed_driver_options), 0, 0, 2, NULL, NULL, NULL, 0, true                           \
    }
/* Creates a driver for a run that has begun, and determines which tasks are done.
 *
 * options  NULL: the defaults
 * stats    receives statistics during the run, so it must outlive the driver; may be NULL
 * out      receives the driver, which cubed_driver_free frees
 *
 * Errors: CUBED_E_NOT_FOUND if the run has not begun, or is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_driver_new(cubed_plan *plan, const char *run,
                                                         const cubed_driver_options *options,
                                                         cubed_run_stats *stats, cubed_driver **out,
                                                         cubed_error *err);
/* Frees a driver; NULL is allowed. If the run is not over, on_event gets CUBED_EVENT_PLAN_END with CUBED_E_CANCELLED. The run
 * itself continues to exist, and a new driver can continue it. */
CUBED_API void cubed_driver_free(cubed_driver *driver);
/* Gets at most `cap` ranges that are ready. A range is in flight from then on, until all of its tasks, or one failed task, are
 * reported. *n receives the number of ranges. It is 0 if no range is ready before the next report or the end of a pause.
 *
 * Errors: CUBED_E_CANCELLED if the run is cancelled; CUBED_E_ARG if an earlier call has failed, because the driver can then no
 * longer be used. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_ready(cubed_driver *driver,
                                                        cubed_task_range *ranges, int cap, int *n,
                                                        cubed_error *err);
/* Reports the result of a task of a range in flight, in the order of its tasks. Ignores results that were reported already,
 * and ranges that are not in flight, because a range may be performed twice.
 *
 * Errors: the error of a failed task that is not retried; the driver can then no longer be used. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_report(cubed_driver *driver,
                                                         const cubed_task_report *report,
                                                         cubed_error *err);
/* Reports that a range is lost: its worker will send no more reports. `why` is the reason, for messages. Unreported tasks of
 * the range are retried. CUBED_E_IO with this reason if a task has no retries left. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_lost(cubed_driver *driver, uint64_t token,
                                                       const char *why, cubed_error *err);
/* Returns whether all tasks are done, so that the run can be finished. */
CUBED_API bool cubed_run_is_over(const cubed_driver *driver);

#define CUBED_PLAN_ID_CAP 33
/* Gets the ID of a plan, 32 hexadecimal digits and a terminating NUL. The ID is a hash of the computation, its intermediates
 * and the places of their chunks. All arrays in memory are read to compute the ID. "" if the plan reads from functions, because
 * their values are not known. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_id(const cubed_plan *plan,
                                                          char id[CUBED_PLAN_ID_CAP],
                                                          cubed_error *err);

/* Runs this process as a worker for the executor "processes" of another process, until that process closes the connection.
 *
 * fd      file descriptor of the connection; the descriptors after it are the files of results in memory, and then of large
 *         sources in memory (cubed_executor_caps.maps_memory)
 * cancel  ends the service when it is set; may be NULL
 *
 * On Linux this limits the private memory of the process to the plan's allowed_mem, and the process is killed when its parent
 * ends. So the process should do nothing else. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_worker_serve(cubed_context *ctx, int fd,
                                                           const cubed_cancel *cancel,
                                                           cubed_error *err);

/* Checks whether `url` has an unfinished array, which a run has begun and a later run can complete. Sets *format to the Zarr
 * format of this array (2 or 3), or to 0 if there is no such array, even if nothing exists at `url`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unfinished_format(cubed_context *ctx, const char *url,
                                                                int *format, cubed_error *err);

/* The exclusive right of a process to extend an array (see cubed_place_hold). */
typedef struct cubed_hold cubed_hold;
/* Reserves the array at `url` (STORE::PATH) for this process until cubed_place_release. Another call for the array fails in the
 * meantime. A process that extends an array holds the array from before it reads the shape until it has written the new
 * elements. So two processes do not write the same elements.
 *
 * A hold does not exclude runs that write the array. The hold of a process that has ended is ignored. A thread of the holder
 * writes heartbeats ten times as often as `takeover` requires.
 *
 * takeover  conditions under which the hold of a process on another machine is ignored; NULL: the defaults
 *
 * Errors: CUBED_E_EXISTS if another process, or another thread, holds the array; the message names it. CUBED_E_UNSUPPORTED if
 * the holder writes no more heartbeats, but the store ignores the conditions of puts.
 * Ownership: *out is the caller's. Thread safety: any thread. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_place_hold(cubed_context *ctx, const char *url,
                                                         const cubed_takeover_options *takeover,
                                                         cubed_hold **out, cubed_error *err);
/* Ends a hold and frees it; NULL is allowed. Does nothing in a forked child of the process that holds the place. */
CUBED_API void cubed_place_release(cubed_hold *hold);

/* Kinds of leftovers of interrupted runs: see cubed_clean. */
typedef enum cubed_leftover {
    CUBED_LEFTOVER_CHUNKS, /* chunks of an array that was never finished, or that was replaced */
    CUBED_LEFTOVER_INTERMEDIATES,
    CUBED_LEFTOVER_FILE,   /* an incomplete file under a temporary name */
    CUBED_LEFTOVER_UPLOAD, /* an incomplete multipart upload */
    /* an unfinished run in parts: kept unless CUBED_CLEAN_DETACHED is set */
    CUBED_LEFTOVER_RUN,
    /* a run that writes no more heartbeats, in a store that ignores conditions: kept unless
     * cubed_takeover_options.take_over is set */
    CUBED_LEFTOVER_SILENT
} cubed_leftover;
/* Receives the path in the store and the kind of each leftover that cubed_clean removes, and of each run that is kept. */
typedef void (*cubed_clean_fn)(void *ctx, const char *path, cubed_leftover what);
#define CUBED_CLEAN_DRY_RUN  1u /* report leftovers, and remove nothing */
#define CUBED_CLEAN_DETACHED 2u /* also remove runs in parts that no known process executes */
/* Removes leftovers of interrupted runs below `url` (a target's STORE or STORE::PATH, or a work directory):
 * - chunks and intermediates that runs kept (CUBED_KEEP_*), or left when they were killed;
 * - files under temporary names, and multipart uploads, if their writer has ended. If the writer is unknown, or was on another
 *   machine or in another container, they are removed after one day.
 *
 * Complete arrays, all other objects with metadata, and the objects of running runs are kept. A dry run writes nothing, so it
 * cannot detect a store that ignores conditions.
 *
 * flags     CUBED_CLEAN_*; CUBED_E_ARG for other flags
 * takeover  conditions under which runs of other machines count as ended; NULL: the defaults
 * fn        receives each leftover; may be NULL */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_clean(cubed_context *ctx, const char *url,
                                                    unsigned flags,
                                                    const cubed_takeover_options *takeover,
                                                    cubed_clean_fn fn, void *fn_ctx,
                                                    cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
