/* Running plans. */
#ifndef CUBED_RUN_H
#define CUBED_RUN_H

#include "cubed/cancel.h"
#include "cubed/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cubed_event_kind {
    CUBED_EVENT_PLAN_START,
    CUBED_EVENT_STAGE_START, /* the first of its tasks starts */
    CUBED_EVENT_TASK_START,
    CUBED_EVENT_TASK_RETRY, /* it failed with status and message; `again`: it will run again */
    CUBED_EVENT_TASK_END,
    CUBED_EVENT_STAGE_END, /* the last of its tasks ended */
    CUBED_EVENT_PLAN_END,
    CUBED_EVENT_TASK_RESUMED /* an earlier run did it: it does not run */
} cubed_event_kind;

/* Fields that do not concern a kind are 0 (stage and task: -1). */
typedef struct cubed_event {
    cubed_event_kind kind;
    int64_t time_ns; /* monotonic clock; starts may be reported late, in order per worker */
    int stage;
    int64_t task;
    unsigned worker;
    /* The worker's machine and process, "HOST:PID"; NULL: of this one. Valid during the callback. */
    const char *host;
    /* Of the first task of a range: how long it waited for a worker since it was given to the executor. */
    int64_t queued_ns;
    bool backup;   /* one of two workers that were given the task */
    unsigned coop; /* workers that made it together: mostly 1, else all of the run, 0 to coop - 1 */
    unsigned attempt;        /* 0 for the first */
    int64_t duration_ns;     /* TASK_END, STAGE_END, PLAN_END */
    uint64_t bytes_read;     /* TASK_END: decoded bytes of chunks that the task read */
    uint64_t bytes_written;  /* TASK_END: decoded bytes of chunks that it wrote */
    uint64_t stored_read;    /* TASK_END: encoded bytes from stores */
    uint64_t stored_written; /* TASK_END: encoded bytes to stores */
    /* TASK_END: high-water mark of its arena and library charges; of a cooperative task, of the worker with most */
    uint64_t measured_mem;
    uint64_t projected_mem; /* TASK_END: the bound */
    /* TASK_END: what a user's function said that it took by itself, and what of projected_mem is for that */
    uint64_t function_mem, function_projected;
    uint64_t intermediate_mem; /* intermediates held in memory now */
    cubed_status status;       /* TASK_RETRY, PLAN_END */
    cubed_failure failure;     /* with status */
    const char *message;       /* with status; valid during the callback */
    /* TASK_RETRY: the task will run again, or another worker has it; else the run fails with it. */
    bool again;
} cubed_event;

/* Called from the thread that called cubed_run only, between other work: be quick. */
typedef void (*cubed_event_fn)(void *ctx, const cubed_event *event);

/* Seconds after which a run on another machine that was not heard of counts as gone, unless options say others: the next run
 * that wants to write there takes its places over. A run is heard of ten times as often. */
#define CUBED_RUN_SILENCE 600

/* What a run leaves for another run to resume if it is interrupted or fails after at least one task (except with
 * CUBED_E_INTERNAL).
 *
 * CHUNKS         chunks of targets, where they belong, next to a record that names the plan. Chunks of an array that will
 *                replace another are next to that one.
 * INTERMEDIATES  chunks of intermediates that are in the work directory
 * RECORD         after a complete run, the record of each target: a run that resumes it then finds that all is done
 *
 * A run that is killed leaves all of them. */
#define CUBED_KEEP_CHUNKS        1u
#define CUBED_KEEP_INTERMEDIATES 2u
#define CUBED_KEEP_RECORD        4u

/* What an executor can do, and what not. All false and 0: its workers are processes elsewhere, which share a work
 * directory and stores. */
typedef struct cubed_executor_caps {
    bool
        shares_memory; /* workers are threads of this process: its memory is theirs, and its bound */
    bool maps_memory; /* workers are processes that map what results and sources in memory are in */
    bool
        shares_tasks; /* several workers can make one task together: cubed_plan_options.share_tasks */
    bool remote; /* workers may be on other machines: this one's memory is no limit of theirs */
    bool enforces_memory;   /* a worker that takes more than allowed_mem fails, and nobody else */
    bool retries_itself;    /* what it reports as failed it has tried again: the driver does not */
    bool takes_command;     /* it starts cubed_run_options.worker_command for each worker */
    bool finds_plan;        /* its workers get the plan where cubed_plan_fetch finds it */
    unsigned max_workers;   /* 0: as many as are asked for */
    unsigned max_in_flight; /* ranges that it takes at a time; 0: any number */
    uint64_t
        max_message_bytes; /* of a range, with the plan unless it is found, or the reports of one; 0: any number */
    /* How long a range is to take, to be worth what it costs to send it, of which it is so many times: by the plan's
     * estimate, and of functions by how long their tasks took before. 0: it costs little. */
    unsigned range_ms;
#define CUBED_RANGE_OVERHEADS 20
} cubed_executor_caps;
/* Those of the executor of that name (NULL: the default). CUBED_E_ARG if there is none. `ctx` may be NULL: the library's
 * own are known without. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_executor_get_caps(const cubed_context *ctx,
                                                                const char *name,
                                                                cubed_executor_caps *caps,
                                                                cubed_error *err);
/* The name of executor number i, those of this library first, the default one before others; NULL: there are no
 * more. `ctx` as above. */
CUBED_API const char *cubed_executor_name(const cubed_context *ctx, int i);

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
    const char *host; /* of cubed_event, until the executor is asked for another report */
    unsigned
        coop; /* workers that made it together, this one among them: 1 but where they share tasks */
    int64_t start_ns, end_ns;
    uint64_t bytes_read, bytes_written, stored_read, stored_written;
    uint64_t measured_mem, function_mem; /* of a cooperative task: of the worker that took most */
    uint64_t cache_peak;                 /* of its process, so far: see cubed_run_stats */
    /* Of a worker that limits no memory by itself: bytes that its process held for code before its first task of the run, if
     * they leave less of allowed_mem than a task needs, else 0; and tasks that the process performs now. */
    uint64_t process_mem;
    uint32_t process_tasks;
    cubed_error error; /* status CUBED_OK if it is done */
} cubed_task_report;

typedef struct cubed_run_options {
    size_t struct_size;
    /* A name of cubed_executor_name: "threads" (default when NULL), "single-threaded", "processes" or "lambda:FUNCTION"
     * (of AWS, by its name or ARN), or one that was
     * added (cubed/sys/executor.h). */
    const char *executor;
    /* Of a task whose failure is transient, lost or timed out, 255 at most. Those that are preempted are tried again a hundred
     * times, whatever is here; others never. */
    int retries;
    cubed_event_fn on_event;
    void *event_ctx;
    const cubed_cancel *cancel; /* when it is set the run stops; NULL: nobody stops it */
    unsigned keep;              /* CUBED_KEEP_*; 0: all that an unfinished run wrote is removed */
    /* Take up what an earlier run of the same plan left: tasks whose chunks exist do not run; if all has been done,
     * nothing. Limits, executor and workers may differ: where that makes for other intermediates, those of the earlier run
     * are made anew. The contents of arrays in memory count. CUBED_E_EXISTS if the
     * metadata of a source has been written anew since, and of a target with chunks of another plan, unless it is
     * to be overwritten. Plans that read from functions begin anew, as nobody knows what these would give. */
    bool resume;
    /* Of executors that take it: the program that is started for each worker, and its arguments up to NULL. One
     * more argument is added, the number of a descriptor, for it to call cubed_worker_serve with.
     * It must be of this version. */
    const char *const *worker_command;
    /* Of executors that were added: what it is opened with, in the place of what it was added with. NULL: that. */
    void *executor_ctx;
    /* Of executors whose workers are elsewhere: while a worker has nothing to do, a range that has taken far longer than
     * others of its stage is given to it, too; of every 20 workers one at most does so. Whoever is first counts. */
    bool backups;
    /* How long a task may take, in milliseconds; 0: any time. The worker ends one that takes longer, or itself if that
     * does not help, and it is tried again as after an I/O error. Not for executors in this process. */
    uint32_t task_timeout_ms;
    /* After how many seconds without a sign of life another machine's run counts as gone; 0: CUBED_RUN_SILENCE. This run
     * gives one every tenth of it. */
    uint32_t silence_seconds;
    /* Takes targets over from runs that may still be at work: see cubed_takeover_options. */
    bool take_over;
} cubed_run_options;
#define CUBED_RUN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cubed_run_options), NULL, 2, NULL, NULL, NULL, 0, false, NULL, NULL, true, 0, 0,    \
            false                                                                                  \
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
    bool is_region; /* a part of an array that exists: nothing claims it */
    /* Chunks of a region that other writers may share; 0 for whole arrays. */
    int64_t shared_chunks;
    /* Requests for the record of the claim, at most, except signs of life (one in each tenth of the silence) and one for each
     * 1,000 objects that are replaced. 0 for directories, which have no requests. */
    uint64_t claim_requests;
    uint64_t chunk_requests; /* for each chunk, in addition to its put */
    uint64_t bytes;          /* of the new array, decoded */
    bool may_replace;        /* an array that is there exists until the new one is complete */
    bool copies;             /* the new array is copied to its place, and exists twice meanwhile */
} cubed_promise;
/* The promise of target number i. Makes no requests, so a service that ignores conditions is not found out. CUBED_E_NOT_FOUND
 * if there are no more targets in stores. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_promise(const cubed_plan *plan, int i,
                                                               cubed_promise *out,
                                                               cubed_error *err);
/* A sentence without a point, for people: text[cap], terminating NUL included. */
CUBED_API void cubed_promise_text(const cubed_promise *promise, char *text, size_t cap);
#define CUBED_PROMISE_TEXT_CAP 384
/* "conditions", "exchange", "lock", "process" or "none". */
CUBED_API const char *cubed_fence_name(cubed_fence fence);

typedef struct cubed_run_stats {
    double seconds;
    int64_t num_tasks;
    int64_t num_retries;
    int64_t num_backups; /* ranges that were given to a second worker */
    int64_t num_resumed; /* tasks that an earlier run had done */
    /* That workers were busy with tasks, with attempts that failed or were of no use, and that times the allowed memory in
     * 1e9 bytes: what services charge for. Then, that ranges waited for a worker. */
    double worker_seconds, gb_seconds, queue_seconds;
    unsigned num_workers;
    uint64_t measured_mem; /* the most any task used */
    uint64_t function_mem; /* the most a user's function said that it took */
    /* The most by which one took more than the projection has for it, and in which stage. */
    uint64_t function_excess;
    int function_excess_stage;
    uint64_t process_mem;   /* largest cubed_task_report.process_mem */
    uint32_t process_tasks; /* largest cubed_task_report.process_tasks */
    uint64_t
        process_excess; /* bytes by which such a process may exceed allowed_mem for each of these tasks */
    uint64_t projected_mem;     /* the most any task was projected to use */
    uint64_t intermediate_peak; /* the most intermediates held in memory at a time */
    uint64_t cache_peak; /* the most memory, in one process, of chunks kept to be read again */
    uint64_t intermediate_spilled; /* bytes of intermediates written to the work directory */
    uint64_t bytes_read, bytes_written;
    uint64_t stored_read, stored_written;
} cubed_run_stats;

/* The most memory that was resident in this process so far, in bytes, by the operating system. */
CUBED_API uint64_t cubed_peak_rss(void);
/* The memory that is resident now; 0 if the system does not tell. Before a run starts, what the reserved_mem of all
 * workers in this process is to cover. */
CUBED_API uint64_t cubed_resident_mem(void);
/* Private memory of this process, resident or not; 0 if the system does not tell. Of a worker process before its first
 * task, what reserved_mem is to cover: the system limits it to allowed_mem. */
CUBED_API uint64_t cubed_private_mem(void);

/* Resident memory of this process: of no file, and of mapped files; 0 if the system does not tell. */
typedef struct cubed_resident {
    uint64_t anonymous, files;
} cubed_resident;
CUBED_API cubed_resident cubed_resident_kinds(void);
/* Counts as memory of code (programs, libraries and their tables) what became resident since `before`, such as by an import;
 * all zero: all that is resident, before the process has data. Thread-safe, as the next two functions. */
CUBED_API void cubed_code_count(cubed_context *ctx, cubed_resident before);
/* Counts all resident bytes of this process, which has no data yet, as memory of code. */
CUBED_API void cubed_code_measured(cubed_context *ctx, uint64_t resident);
/* The resident bytes of code if they exceed `limit`, else 0. Also counts mapped files of libraries. */
CUBED_API uint64_t cubed_code_above(const cubed_context *ctx, uint64_t limit);

/* Loads the code of the plan's functions on blocks, and the libraries that the code imports, as a run in this process
 * does before its first task. Callers measure the effect on this process's memory. The code stays loaded until a run of the
 * plan has ended. */
CUBED_API void cubed_plan_load_functions(const cubed_plan *plan);

/* Runs the plan to its end. Targets' metadata is written when all of their chunks are, so that no
 * half-written array looks whole; what else an error or cancellation leaves says `keep`. An array that is overwritten
 * can be read until the new one, which is made beside it, is whole and takes its place. A target that another run
 * is writing is CUBED_E_EXISTS, with who that is. `options`
 * and `stats` may be NULL. One plan may be run several times, not at the same time. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run(cubed_plan *plan,
                                                  const cubed_run_options *options,
                                                  cubed_run_stats *stats, cubed_error *err);

/* A run in parts, of somebody else's scheduler: begun once, worked on by any number of processes (cubed_work, in
 * cubed/sys/message.h), in any order that stages allow, and finished. They share the plan's bytes (cubed_plan_save), the
 * run's name and its work directory; each call may be repeated, also at the same time, and those that come after the end
 * are errors. Results in memory and sources that are functions are CUBED_E_UNSUPPORTED, a plan without a work directory
 * is CUBED_E_ARG. */
#define CUBED_RUN_NAME_CAP 33 /* bytes of a run's name, with its zero */
/* Claims the targets, so that no other run writes there. `run`: letters, digits, "-", "_" and ".", which nobody else
 * uses in the work directory; NULL for a new name. `name` is what it is called. `takeover` may be NULL. CUBED_E_EXISTS if
 * another run writes to a target, or something is there that may not be replaced. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_begin(cubed_plan *plan, const char *run,
                                                        const cubed_takeover_options *takeover,
                                                        char name[CUBED_RUN_NAME_CAP],
                                                        cubed_error *err);
/* The plan of a run whose executor's workers find it (cubed_executor_caps.finds_plan), with what it reads of the driver's
 * memory: `work_dir` and `key` are those of cubed_executor_args. Its code is welcome: who may write to the work
 * directory may run programs here. CUBED_E_NOT_FOUND if the run is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_fetch(cubed_context *ctx, const char *work_dir,
                                                         const char *key, cubed_plan **out,
                                                         cubed_error *err);
/* Checks that every task has been done and every chunk is there (CUBED_E_NOT_FOUND says what is not), writes metadata,
 * puts new arrays in the places of those that they replace, and removes intermediates. Once more: nothing. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_finish(cubed_plan *plan, const char *run,
                                                         cubed_error *err);

/* Which ranges of such a run may be worked on, for a program that brings them to workers of its own: begin, then until
 * cubed_run_is_over, submit what cubed_run_ready gives and tell cubed_run_report what became of it, then finish. Ranges
 * are given when the chunks that they read exist, without barriers between stages, and later stages first; what fails
 * for a reason that may pass is given again, after a pause. Used by one thread at a time. It writes nothing: what workers
 * have done they have noted, so a driver that dies is replaced by another one of the same run. */
typedef struct cubed_driver cubed_driver;
typedef struct cubed_driver_options {
    size_t struct_size;
    unsigned
        workers; /* that there is to be work for, which makes ranges smaller; 0: the plan's max_workers */
    unsigned
        max_in_flight; /* ranges that have been given and not reported; 0: four for each worker */
    int retries;       /* as in cubed_run_options, like those below */
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
/* Finds what has been done of a run that has begun. `options` may be NULL; `stats` too, else it outlives the driver.
 * CUBED_E_NOT_FOUND if the run has not begun, or is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_driver_new(cubed_plan *plan, const char *run,
                                                         const cubed_driver_options *options,
                                                         cubed_run_stats *stats, cubed_driver **out,
                                                         cubed_error *err);
CUBED_API void cubed_driver_free(cubed_driver *driver); /* NULL is allowed */
/* At most `cap` ranges that may be worked on now, each in flight until all of its tasks, or one that failed, are
 * reported. *n == 0: none until something is reported, or a pause is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_ready(cubed_driver *driver,
                                                        cubed_task_range *ranges, int cap, int *n,
                                                        cubed_error *err);
/* What became of a task of a range in flight, in order. What was reported already, and ranges that are not in flight, are
 * ignored: a range may be worked on twice. Fails as a task does that is not tried again; the driver is of no use then. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_report(cubed_driver *driver,
                                                         const cubed_task_report *report,
                                                         cubed_error *err);
/* Nothing more will be heard of a range, for people: `why`. What is not reported of it is tried again. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_run_lost(cubed_driver *driver, uint64_t token,
                                                       const char *why, cubed_error *err);
/* Whether all tasks are done, so that the run can be finished. */
CUBED_API bool cubed_run_is_over(const cubed_driver *driver);

/* The plan's id, 32 digits: it names what is computed, through which arrays, and where their chunks lie. Reads all
 * arrays in memory. "" if the plan reads from functions, of which nobody knows what they give. */
#define CUBED_PLAN_ID_CAP 33
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_id(const cubed_plan *plan,
                                                          char id[CUBED_PLAN_ID_CAP],
                                                          cubed_error *err);

/* Serves as a worker of another process's cubed_run with the executor "processes", until that
 * closes the connection or `cancel` (may be NULL) is set. Descriptor `fd` is the connection, those
 * after it are results in memory. Where the system can (Linux), the process's private memory is
 * limited to the plan's allowed_mem: this is for programs that do nothing else. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_worker_serve(cubed_context *ctx, int fd,
                                                           const cubed_cancel *cancel,
                                                           cubed_error *err);

/* The Zarr format of the array that a run has begun at `url`, and that another one may go on with; 0 if there is none. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unfinished_format(cubed_context *ctx, const char *url,
                                                                int *format, cubed_error *err);

/* One process's right to extend an array. */
typedef struct cubed_hold cubed_hold;
/* Holds the array at `url` (STORE::PATH), until cubed_place_release, against other processes that hold it, too: who reads an
 * array's shape, makes it longer and writes the new elements holds it meanwhile, so that two of them do not write the same
 * elements. Runs that write the array are not kept out. The hold of a process that is gone counts no more. A thread of the
 * holder gives a sign of life ten times as often as `takeover` requires.
 *
 * takeover  when the hold of a process on another machine counts no more; NULL: the defaults
 *
 * Errors: CUBED_E_EXISTS if another process, or another thread, holds the array; the message names it. CUBED_E_UNSUPPORTED if
 * a process that was silent held it on a store that ignores conditions.
 * Ownership: *out is the caller's. Thread safety: any thread. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_place_hold(cubed_context *ctx, const char *url,
                                                         const cubed_takeover_options *takeover,
                                                         cubed_hold **out, cubed_error *err);
/* Frees it, which may be NULL. Does nothing in a forked child of the process that holds the place. */
CUBED_API void cubed_place_release(cubed_hold *hold);

typedef enum cubed_leftover {
    CUBED_LEFTOVER_CHUNKS, /* of an array that was never finished, or one that was replaced */
    CUBED_LEFTOVER_INTERMEDIATES,
    CUBED_LEFTOVER_FILE,   /* which was being written, under a temporary name */
    CUBED_LEFTOVER_UPLOAD, /* of an object in parts, which was not completed */
    /* of a run in parts that was not finished: it stays, without CUBED_CLEAN_DETACHED */
    CUBED_LEFTOVER_RUN,
    /* of a silent run on a store that ignores conditions: it stays, without cubed_takeover_options.take_over */
    CUBED_LEFTOVER_SILENT
} cubed_leftover;
/* Told of everything that is removed, and of runs that stay: a path in the store, and what it is. */
typedef void (*cubed_clean_fn)(void *ctx, const char *path, cubed_leftover what);
#define CUBED_CLEAN_DRY_RUN  1u /* only tell */
#define CUBED_CLEAN_DETACHED 2u /* runs in parts, too, which nobody is known to work on */
/* Removes what runs that were killed or kept it (CUBED_KEEP_*) left below `url`, a target's STORE or
 * STORE::PATH or a work directory, files under temporary names and uploads in parts whose writer is gone (or, if it was on another
 * machine or in another container, or that is not known, that are a day old), and no more. Arrays that are whole, whatever else has metadata, and
 * what runs at work have there stay. A dry run writes nothing, so it does not find out whether the store ignores conditions.
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
