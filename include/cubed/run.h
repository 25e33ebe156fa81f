/* Running plans: events, executors, options, statistics, runs in parts, and cleaning up. */
#ifndef CUBED_RUN_H
#define CUBED_RUN_H

#include "cubed/cancel.h"
#include "cubed/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cubed_event_kind {
    CUBED_EVENT_PLAN_START,
    CUBED_EVENT_STAGE_START, /* the stage's first task starts */
    CUBED_EVENT_TASK_START,
    CUBED_EVENT_TASK_RETRY, /* a task failed; `status` and `message` say why, `again` whether it will run again */
    CUBED_EVENT_TASK_END,
    CUBED_EVENT_STAGE_END, /* the stage's last task ended */
    CUBED_EVENT_PLAN_END,
    CUBED_EVENT_TASK_RESUMED /* an earlier run completed the task: it does not run */
} cubed_event_kind;

/* An event of a run. A field that does not apply to the kind of event is 0; `stage` and `task` are -1. */
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
    bool backup; /* the task was given to two workers, and this is one of them */
    /* Number of workers that performed the task together: 1, or all workers 0 to coop - 1 of the run. */
    unsigned coop;
    unsigned attempt;        /* 0 for the first attempt */
    int64_t duration_ns;     /* TASK_END, STAGE_END, PLAN_END */
    uint64_t bytes_read;     /* TASK_END: decoded bytes of the chunks that the task read */
    uint64_t bytes_written;  /* TASK_END: decoded bytes of the chunks that the task wrote */
    uint64_t stored_read;    /* TASK_END: encoded bytes read from stores */
    uint64_t stored_written; /* TASK_END: encoded bytes written to stores */
    /* TASK_END: peak bytes of the task's arena and of memory that libraries allocated. For a cooperative task: of the
     * worker that used most. */
    uint64_t measured_mem;
    uint64_t projected_mem; /* TASK_END: bound on measured_mem */
    /* TASK_END: bytes that a user-defined function reported as its own, and bytes of projected_mem that are for such
     * functions */
    uint64_t function_mem, function_projected;
    uint64_t intermediate_mem; /* bytes of intermediates that are in memory now */
    cubed_status status;       /* TASK_RETRY, PLAN_END */
    cubed_failure failure;     /* with status */
    const char *message;       /* with status; valid during the callback */
    /* TASK_RETRY: the task will run again, or another worker performs it; false: the run fails because of it. */
    bool again;
} cubed_event;

/* Receives events. The library calls it only in the thread that called cubed_run, between other work, so it must return
 * quickly. */
typedef void (*cubed_event_fn)(void *ctx, const cubed_event *event);

/* Default number of seconds without a sign of life after which a run on another machine counts as gone. Then the next run
 * that writes to its targets takes them over. A run gives a sign of life ten times in this period. */
#define CUBED_RUN_SILENCE 600

/* Bits of cubed_run_options.keep: what an interrupted or failed run leaves for a later run to resume. Nothing is left if no
 * task completed, or after CUBED_E_INTERNAL.
 *
 * CHUNKS         chunks of targets, at their final place, next to a record that names the plan. Chunks of an array that
 *                will replace another one are next to that array.
 * INTERMEDIATES  chunks of intermediates that are in the work directory
 * RECORD         after a complete run, the record of each target: a run that resumes it finds that everything is done
 *
 * A run that is killed leaves all three. */
#define CUBED_KEEP_CHUNKS        1u
#define CUBED_KEEP_INTERMEDIATES 2u
#define CUBED_KEEP_RECORD        4u

/* Capabilities of an executor. If all are false or 0, its workers are processes elsewhere that share a work directory and
 * stores. */
typedef struct cubed_executor_caps {
    /* Workers are threads of this process: its memory is theirs, and its bound. */
    bool shares_memory;
    /* Workers are processes that map the files of results and of sources in memory. */
    bool maps_memory;
    /* Several workers can perform one task together: see cubed_plan_options.share_tasks. */
    bool shares_tasks;
    /* Workers may be on other machines, so the memory of this machine does not limit them. */
    bool remote;
    /* A worker that uses more than allowed_mem fails, and no other process does. */
    bool enforces_memory;
    /* The executor has already retried a task that it reports as failed: the driver does not. */
    bool retries_itself;
    bool takes_command;   /* the executor starts cubed_run_options.worker_command for each worker */
    bool finds_plan;      /* workers load the plan with cubed_plan_fetch */
    unsigned max_workers; /* 0: no limit */
    unsigned max_in_flight; /* largest number of ranges that are submitted at a time; 0: no limit */
    /* Largest message: a range with its plan (unless the executor finds the plan), or the reports of a range; 0: no limit. */
    uint64_t max_message_bytes;
    /* Duration of a range, in milliseconds, that justifies the cost of submitting it: about CUBED_RANGE_OVERHEADS times
     * that cost. Estimated by the plan; for user-defined functions, by the duration of earlier tasks. 0: submitting costs
     * little. */
    unsigned range_ms;
#define CUBED_RANGE_OVERHEADS 20
} cubed_executor_caps;
/* Gets the capabilities of an executor.
 *
 * ctx   may be NULL: then only the library's own executors are known
 * name  NULL: the default executor
 *
 * Errors: CUBED_E_ARG if there is no executor of that name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_executor_get_caps(const cubed_context *ctx,
                                                                const char *name,
                                                                cubed_executor_caps *caps,
                                                                cubed_error *err);
/* Returns the name of executor number `i`, or NULL if there are fewer. The library's own executors come first, beginning
 * with the default. `ctx` may be NULL, as above. */
CUBED_API const char *cubed_executor_name(const cubed_context *ctx, int i);

/* A range of tasks of one stage, first to last - 1, which a worker performs once, in this order. Reports of the range
 * repeat `token`. */
typedef struct cubed_task_range {
    uint64_t token;
    int stage;
    int64_t first, last;
} cubed_task_range;

/* The result of one task of a range. An executor gives one report for each task, in order. After a report with an error it
 * neither performs nor reports the rest of the range. */
typedef struct cubed_task_report {
    uint64_t token;
    int64_t task;
    unsigned worker;
    const char *host; /* as in cubed_event; valid until the executor is asked for another report */
    /* Number of workers that performed the task together, including this one; 1 unless the executor shares tasks. */
    unsigned coop;
    int64_t start_ns, end_ns;
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
    uint64_t measured_mem,
        function_mem; /* peak bytes; for a cooperative task, those of the worker with the highest peak */
    uint64_t cache_peak; /* peak of the worker's process so far: see cubed_run_stats */
    /* For workers that do not limit their memory: bytes of code that the process held before its first task of the run, if
     * they leave less of allowed_mem than a task needs, else 0; and the number of tasks that the process performs now. */
    uint64_t process_mem;
    uint32_t process_tasks;
    cubed_error error; /* status CUBED_OK if the task is done */
} cubed_task_report;

/* What an update has found: see cubed_run_options.update. */
#define CUBED_UPDATE_TEXT_CAP 256
typedef struct cubed_update {
    /* Only tasks that depend on chunks which changed have run. False: everything was recomputed, and the arrays replaced. */
    bool in_place;
    /* Reason why everything was recomputed; "" if it was not, or if there was no array yet. */
    char why[CUBED_UPDATE_TEXT_CAP];
    /* Reason why the next update will recompute everything: the record of sources could not be written; otherwise "". */
    char no_record[CUBED_UPDATE_TEXT_CAP];
    int64_t num_checked; /* stored objects of the sources, of which versions were compared, */
    int64_t num_changed; /* and those that were new or had another version */
    uint64_t bytes_read; /* bytes of sources and results that were read to get versions */
} cubed_update;

typedef struct cubed_run_options {
    size_t struct_size;
    /* Name of the executor: "threads" (NULL: the default), "single-threaded", "processes", "lambda:FUNCTION" (a function of
     * AWS Lambda, by its name or ARN), or an executor that the program added (cubed/sys/executor.h). */
    const char *executor;
    /* Number of retries of a task after a failure that is transient, a lost worker or a timeout; at most 255. A preempted
     * task is retried up to a hundred times in any case. Other failures are not retried. */
    int retries;
    cubed_event_fn on_event;
    void *event_ctx;
    const cubed_cancel
        *cancel;   /* stops the run when it is set; NULL: the run cannot be cancelled */
    unsigned keep; /* bits CUBED_KEEP_*; 0: an unfinished run removes everything that it wrote */
    /* Resumes an earlier run of the same plan: tasks whose chunks exist do not run. A complete run does nothing. Limits,
     * executor and number of workers may differ; if the intermediates differ because of that, they are recomputed. The
     * contents of arrays in memory are compared, too. A plan that reads from functions starts again, because their values
     * are not known to be the same. CUBED_E_EXISTS if the metadata of a source has changed since, or if a target has chunks
     * of another plan and is not to be overwritten. */
    bool resume;
    /* For executors with `takes_command`: program and arguments of a worker, terminated by NULL. The executor appends one
     * argument, the number of a file descriptor, which the program passes to cubed_worker_serve. The program must have this
     * library's version. */
    const char *const *worker_command;
    /* For executors that the program added: the argument to open it with, instead of the one that it was added with. NULL:
     * that one. */
    void *executor_ctx;
    /* For executors whose workers are elsewhere: an idle worker may repeat a range that takes far longer than other ranges
     * of its stage; at most one of every 20 workers does. The first result counts. */
    bool backups;
    /* Time limit of a task in milliseconds; 0: none. The worker ends a task that exceeds it, or ends itself if that fails,
     * and the task is retried as after an I/O error. Not for executors in this process. */
    uint32_t task_timeout_ms;
    /* Seconds without a sign of life after which another machine's run counts as gone; 0: CUBED_RUN_SILENCE. This run gives
     * a sign of life ten times in this period. */
    uint32_t silence_seconds;
    /* Takes targets over from runs that may still write to them: see cubed_takeover_options. */
    bool take_over;
    /* Recomputes only chunks whose sources have changed since an earlier run with this option, which left a record next to
     * each target. Sources may have grown: the targets then grow, too. The result has the same bits as that of a whole run.
     *
     * Versions of chunks are compared: ETags or generations in object stores, otherwise hashes of the stored bytes. Chunks
     * that change are replaced in the array, one by one, and its metadata last. If it is not certain that other chunks
     * would be the same, everything is recomputed and the array is replaced; for that, it must be `overwrite`.
     *
     * Not with `resume`, results in memory or regions (CUBED_E_ARG). An update that was interrupted is continued by the
     * next one. */
    bool update;
    cubed_update *updated; /* receives what the update has found; may be NULL */
} cubed_run_options;
#define CUBED_RUN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_run_options), NULL, 2, NULL, NULL, NULL, 0, false, NULL, NULL, true, 0, 0,    \
            false, false, NULL                                                                     \
    }

/* When a place may be taken over from a process that may still write there: one of another machine or container, whose
 * state is not known. A run that takes a place over excludes late writes where the store can.
 *
 * silence_seconds  seconds without a sign of life after which the process counts as gone; 0: CUBED_RUN_SILENCE
 * take_over        the caller knows that the process has ended. The place is taken at once. It is also taken on a store that
 *                  ignores the conditions of puts, which does not exclude late writes. Without take_over the call fails there.
 *
 * A process that is known to run is never replaced: a process of this machine, and runs in parts until they are finished. */
typedef struct cubed_takeover_options {
    size_t struct_size;
    uint32_t silence_seconds;
    bool take_over;
} cubed_takeover_options;
#define CUBED_TAKEOVER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_takeover_options), 0, false                                                   \
    }

/* What excludes writes that come after another run has taken the target, or another process has written the chunk.
 *
 * NONE        nothing: the user said that puts have no conditions (conditional_put)
 * CONDITIONS  each put names the version of the object that it replaces
 * EXCHANGE    a takeover exchanges the directory, and late writes go to the old one
 * LOCK        regions: writers of a chunk lock its file
 * PROCESS     no other process reaches the store */
typedef enum cubed_fence {
    CUBED_FENCE_NONE,
    CUBED_FENCE_CONDITIONS,
    CUBED_FENCE_EXCHANGE,
    CUBED_FENCE_LOCK,
    CUBED_FENCE_PROCESS
} cubed_fence;

/* How a target in a store is protected, and what that costs. */
typedef struct cubed_promise {
    const char *url; /* lives as long as the plan */
    cubed_fence fence;
    bool is_region; /* a part of an existing array: no run claims it */
    /* Number of chunks of a region that other writers may share; 0 for whole arrays. */
    int64_t shared_chunks;
    /* Largest number of requests for the record of the claim, without signs of life (one in each tenth of the silence) and
     * without one request for each 1,000 objects that are replaced. 0 for directories, which have no requests. */
    uint64_t claim_requests;
    uint64_t chunk_requests; /* requests for each chunk, in addition to its put */
    uint64_t bytes;          /* decoded bytes of the new array */
    bool may_replace;        /* an existing array stays in place until the new array is complete */
    bool copies; /* the new array is copied to its place, so two copies exist meanwhile */
} cubed_promise;
/* Gets the promise of target number `i`. Makes no requests, so it does not find out whether a service ignores conditions.
 *
 * Errors: CUBED_E_NOT_FOUND if there are no more targets in stores. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_promise(const cubed_plan *plan, int i,
                                                               cubed_promise *out,
                                                               cubed_error *err);
/* Writes a promise as a sentence without a full stop into text[cap], terminating NUL included. */
CUBED_API void cubed_promise_text(const cubed_promise *promise, char *text, size_t cap);
#define CUBED_PROMISE_TEXT_CAP 384
/* Returns "conditions", "exchange", "lock", "process" or "none". */
CUBED_API const char *cubed_fence_name(cubed_fence fence);

typedef struct cubed_run_stats {
    double seconds;
    int64_t num_tasks;
    int64_t num_retries;
    int64_t num_backups; /* ranges that a second worker repeated */
    int64_t num_resumed; /* tasks that an earlier run had completed */
    /* Seconds that workers spent on tasks, including failed and repeated attempts; that time multiplied by the allowed
     * memory in 1e9 bytes, which services charge for; and seconds that ranges waited for a worker. */
    double worker_seconds, gb_seconds, queue_seconds;
    unsigned num_workers;
    uint64_t measured_mem; /* peak memory of a task, over all tasks */
    /* Largest amount of memory that a user-defined function reported as its own. */
    uint64_t function_mem;
    /* Largest excess of such a function over the projection for it, and the stage where it happened. */
    uint64_t function_excess;
    int function_excess_stage;
    uint64_t process_mem;   /* largest cubed_task_report.process_mem */
    uint32_t process_tasks; /* largest cubed_task_report.process_tasks */
    /* Bytes by which such a process may exceed allowed_mem for each of these tasks. */
    uint64_t process_excess;
    uint64_t projected_mem;        /* largest projection of a task that ran */
    uint64_t intermediate_peak;    /* peak bytes of intermediates in memory */
    uint64_t cache_peak;           /* peak bytes of cached decoded chunks in one process */
    uint64_t intermediate_spilled; /* bytes of intermediates written to the work directory */
    uint64_t bytes_read, bytes_written;
    uint64_t stored_read, stored_written;
    /* Requests of this process that services refused because of their rate or number. They were repeated, and count as no
     * retries. throttle_limit is the smallest number of requests at once that a service allowed at the end; 0: none was
     * refused. */
    uint64_t num_throttled;
    unsigned throttle_limit;
} cubed_run_stats;

/* Returns the peak resident memory of this process in bytes, as the operating system reports it. */
CUBED_API uint64_t cubed_peak_rss(void);
/* Returns the resident memory of this process in bytes; 0 if the system does not report it. Before a run starts, this is
 * what the reserved_mem of all workers in this process must cover. */
CUBED_API uint64_t cubed_resident_mem(void);
/* Returns the memory of this machine in bytes, or the lowest limit of the cgroups and the address space of this process. */
CUBED_API uint64_t cubed_machine_mem(void);
/* Returns the private memory of this process in bytes, resident or not; 0 if the system does not report it. For a worker
 * process before its first task, this is what reserved_mem must cover: the system limits private memory to allowed_mem. */
CUBED_API uint64_t cubed_private_mem(void);

/* Resident bytes of this process: anonymous memory, and mapped files; 0 if the system does not report them. */
typedef struct cubed_resident {
    uint64_t anonymous, files;
} cubed_resident;
CUBED_API cubed_resident cubed_resident_kinds(void);
/* Counts the memory that became resident since `before`, such as by an import, as memory of code (programs, libraries and
 * their tables). If `before` is all zero, counts all resident memory: for a process that has no data yet. Thread-safe, like
 * the next two functions. */
CUBED_API void cubed_code_count(cubed_context *ctx, cubed_resident before);
/* Counts `resident` bytes of this process, which has no data yet, as memory of code. */
CUBED_API void cubed_code_measured(cubed_context *ctx, uint64_t resident);
/* Returns the resident bytes of code if they exceed `limit`, else 0. Mapped files of libraries count, too. */
CUBED_API uint64_t cubed_code_above(const cubed_context *ctx, uint64_t limit);

/* Loads the code of the plan's functions on blocks, and the libraries that the code imports, as a run in this process does
 * before its first task. The caller can then measure the effect on this process's memory. The code stays loaded until a run
 * of the plan has ended. */
CUBED_API void cubed_plan_load_functions(const cubed_plan *plan);

/* Runs a plan to completion.
 *
 * Writes the metadata of a target after all of its chunks, so a partly written array never looks complete. `options->keep`
 * says what remains after an error or cancellation. An array that is overwritten stays readable until the new one, which is
 * made next to it, is complete and takes its place.
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

/* --- Runs in parts: an external scheduler brings tasks to processes ---
 *
 * A run in parts is begun once (cubed_run_begin), worked on by any number of processes (cubed_work in cubed/sys/message.h)
 * in any order that the stages allow, and finished once (cubed_run_finish). The processes share the plan's bytes
 * (cubed_plan_save), the name of the run and its work directory. Each call may be repeated, also concurrently. After
 * the end of the run cubed_run_finish does nothing, and every other call is an error.
 *
 * Errors: CUBED_E_UNSUPPORTED for results in memory and for sources that are functions; CUBED_E_ARG for a plan without a
 * work directory. */
#define CUBED_RUN_NAME_CAP 33 /* size of the name of a run, including the terminating NUL */
/* Begins a run in parts: claims its targets, so that no other run writes to them.
 *
 * run       name for the run, of letters, digits, "-", "_" and "."; no other run in the work directory may have the name.
 *           NULL if the library is to make a new name
 * takeover  when targets may be taken over from a run on another machine that gives no signs of life; NULL for the defaults
 * name      receives the name of the run
 *
 * Errors: CUBED_E_EXISTS if another run writes to a target, or if a target exists and is not to be overwritten. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_begin(cubed_plan *plan, const char *run,
                                                        const cubed_takeover_options *takeover,
                                                        char name[CUBED_RUN_NAME_CAP],
                                                        cubed_error *err);
/* Loads the plan of a run for a worker of an executor with `finds_plan`, together with the driver's memory that the plan
 * reads. Code in the plan is accepted: whoever may write to the work directory may run programs here.
 *
 * work_dir, key  those of cubed_executor_args
 *
 * Errors: CUBED_E_NOT_FOUND if the run is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_fetch(cubed_context *ctx, const char *work_dir,
                                                         const char *key, cubed_plan **out,
                                                         cubed_error *err);
/* Finishes a run in parts: checks that every task is done and every chunk exists, writes the metadata, moves new arrays
 * to the places of the arrays that they replace, and removes intermediates. A second call does nothing.
 *
 * Errors: CUBED_E_NOT_FOUND if a task or a chunk is missing; the message names it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_finish(cubed_plan *plan, const char *run,
                                                         cubed_error *err);

/* The driver of a run in parts: decides which ranges of tasks may run now, for a program that brings them to workers of its
 * own.
 *
 * Call cubed_run_begin. Then, until cubed_run_is_over, submit the ranges of cubed_run_ready and pass the result of each
 * task to cubed_run_report. Then call cubed_run_finish. A range is ready when the chunks that it reads exist: there are no
 * barriers between stages, and later stages come first. A range with a transient failure becomes ready again after a pause.
 * The driver writes nothing, because workers record what they have done; so a driver that dies can be replaced by a new one
 * for the same run. Used by one thread at a time. */
typedef struct cubed_driver cubed_driver;
typedef struct cubed_driver_options {
    size_t struct_size;
    /* Number of workers to provide with work: more workers make ranges smaller; 0: the plan's max_workers. */
    unsigned workers;
    /* Largest number of ranges that are submitted and not yet reported; 0: four per worker. */
    unsigned max_in_flight;
    int retries; /* this and the following fields: as in cubed_run_options */
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
/* Makes a driver for a run that has begun, and finds the tasks that are done.
 *
 * options  NULL: the defaults
 * stats    receives statistics while the run goes on, so it must outlive the driver; may be NULL
 *
 * Errors: CUBED_E_NOT_FOUND if the run has not begun, or is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_driver_new(cubed_plan *plan, const char *run,
                                                         const cubed_driver_options *options,
                                                         cubed_run_stats *stats, cubed_driver **out,
                                                         cubed_error *err);
CUBED_API void cubed_driver_free(cubed_driver *driver); /* NULL is allowed */
/* Gets at most `cap` ranges that are ready. A range is in flight until all of its tasks, or one that failed, are reported.
 * *n is 0 if no range is ready before another report or the end of a pause. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_ready(cubed_driver *driver,
                                                        cubed_task_range *ranges, int cap, int *n,
                                                        cubed_error *err);
/* Reports the result of a task of a range in flight, in the order of its tasks. Ignores results that were reported already,
 * and ranges that are not in flight: a range may be performed twice.
 *
 * Errors: those of a failed task that is not retried; then the driver cannot be used any more. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_report(cubed_driver *driver,
                                                         const cubed_task_report *report,
                                                         cubed_error *err);
/* Reports that a range is lost: its worker will send no more reports. `why` is for messages. Tasks of the range that were
 * not reported are retried. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_lost(cubed_driver *driver, uint64_t token,
                                                       const char *why, cubed_error *err);
/* Returns whether all tasks are done, so that the run can be finished. */
CUBED_API bool cubed_run_is_over(const cubed_driver *driver);

/* Gets the ID of a plan, 32 hexadecimal digits and a terminating NUL. It identifies the computation, the arrays in between
 * and the places of their chunks. Reads all arrays in memory to do so. "" if the plan reads from functions, because their
 * values are not known. */
#define CUBED_PLAN_ID_CAP 33
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_id(const cubed_plan *plan,
                                                          char id[CUBED_PLAN_ID_CAP],
                                                          cubed_error *err);

/* Serves as a worker of the executor "processes" of another process, until that process closes the connection.
 *
 * fd      file descriptor of the connection; the descriptors after it are results in memory
 * cancel  ends the service when it is set; may be NULL
 *
 * On Linux this limits the private memory of the process to the plan's allowed_mem, so the process should do nothing else. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_worker_serve(cubed_context *ctx, int fd,
                                                           const cubed_cancel *cancel,
                                                           cubed_error *err);

/* Looks for an unfinished array at `url`: one that a run has begun, and that a later run can complete. Sets *format to the
 * Zarr format of this array (2 or 3), or to 0 if there is no such array. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unfinished_format(cubed_context *ctx, const char *url,
                                                                int *format, cubed_error *err);

/* The exclusive right of a process to extend an array. */
typedef struct cubed_hold cubed_hold;
/* Holds the array at `url` (STORE::PATH) until cubed_place_release, against other callers of this function. A process that
 * reads an array's shape, makes the array longer and writes the new elements holds it meanwhile, so that two processes do
 * not write the same elements. Runs that write the array are not excluded. The hold of a process that has ended does not
 * count. A thread of the holder gives signs of life ten times as often as `takeover` requires.
 *
 * takeover  when the hold of a process on another machine does not count any more; NULL: the defaults
 *
 * Errors: CUBED_E_EXISTS if another process, or another thread, holds the array; the message names it. CUBED_E_UNSUPPORTED
 * if a silent process held it in a store that ignores conditions.
 * Ownership: *out is the caller's. Thread safety: any thread. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_place_hold(cubed_context *ctx, const char *url,
                                                         const cubed_takeover_options *takeover,
                                                         cubed_hold **out, cubed_error *err);
/* Ends a hold and frees it. NULL is allowed. Does nothing in a forked child of the process that holds the place. */
CUBED_API void cubed_place_release(cubed_hold *hold);

typedef enum cubed_leftover {
    CUBED_LEFTOVER_CHUNKS, /* chunks of an array that was never finished, or of one that was replaced */
    CUBED_LEFTOVER_INTERMEDIATES,
    CUBED_LEFTOVER_FILE,   /* a file that was being written, under a temporary name */
    CUBED_LEFTOVER_UPLOAD, /* an upload in parts that was not completed */
    /* a run in parts that was not finished: stays unless CUBED_CLEAN_DETACHED is set */
    CUBED_LEFTOVER_RUN,
    /* a silent run in a store that ignores conditions: stays unless cubed_takeover_options.take_over is set */
    CUBED_LEFTOVER_SILENT
} cubed_leftover;
/* Receives the path in the store and the kind of everything that cubed_clean removes, and of runs that stay. */
typedef void (*cubed_clean_fn)(void *ctx, const char *path, cubed_leftover what);
#define CUBED_CLEAN_DRY_RUN  1u /* report, and remove nothing */
#define CUBED_CLEAN_DETACHED 2u /* also remove runs in parts that no process is known to work on */
/* Removes what interrupted runs left below `url` (a target's STORE or STORE::PATH, or a work directory): chunks and
 * intermediates that runs kept (CUBED_KEEP_*) or left when they were killed, files under temporary names, and uploads in
 * parts. A file or an upload is removed if its writer has ended; if the writer was on another machine or in another
 * container, or is not known, only after a day. Complete arrays, everything else with metadata, and the objects of running
 * runs stay. A dry run writes nothing, so it does not find out whether a store ignores conditions.
 *
 * flags     CUBED_CLEAN_*
 * takeover  which runs of other machines count as gone; NULL: the defaults
 * fn        may be NULL */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_clean(cubed_context *ctx, const char *url,
                                                    unsigned flags,
                                                    const cubed_takeover_options *takeover,
                                                    cubed_clean_fn fn, void *fn_ctx,
                                                    cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
