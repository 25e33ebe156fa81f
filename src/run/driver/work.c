/* Worker of a run in parts: runs the tasks of a range. The same range may run repeatedly and concurrently, because chunks are
 * put as a whole and have the same bytes each time. Completed tasks are noted in the run's folder before the last task of the
 * range is reported. No notes are written if a driver gets all reports, because that driver checks only chunks. */
#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/sys/message.h"
#include "exec/operators/finish.h"
#include "exec/plan/limits.h"
#include "run/driver/memory_limit.h"
#include "run/driver/run_parts.h"
#include "run/executors/runner.h"
#include "run/executors/told.h"
#include "run/executors/watchdog.h"
#include "run/places/notes.h"

/* An answer to a message: the reports of the range's tasks. */
typedef struct answer {
    const cubed_context *ctx;
    cb_buf bytes;
    uint64_t most; /* maximum size of `bytes`; 0: unlimited */
    bool failed;   /* the last report contains an error */
    bool skip_done, ends_process, limits_memory;
    /* write notes of completed tasks, because another process reads them (cubed_range_message) */
    bool notes;
    cubed_cancel *stuck;
    /* arrival of this message, and deadline of its answer; end_ns 0: no deadline */
    int64_t begin_ns, end_ns;
    int64_t longest; /* duration in ns of the message's longest task so far */
} answer;

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    cb_buf *b = sink;
    cb_buf_put(b, data, size);
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for reports") : CUBED_OK;
}

static cubed_status put_report(answer *to, const cubed_task_report *r, cubed_error *err)
{
    const size_t before = to->bytes.size;
    cubed_task_report bare = *r;
    to->failed = r->error.status != CUBED_OK;
    CB_TRY(cubed_report_write(to->ctx, r, append, &to->bytes, err));
    if (to->most == 0 || to->bytes.size <= to->most) return CUBED_OK;
    to->bytes.size = before;
    bare.error.raised = 0;
    return cubed_report_write(to->ctx, &bare, append, &to->bytes, err);
}

static cubed_status check_range(const cubed_plan *plan, const cubed_task_range *r, cubed_error *err)
{
    if (r->stage < 0 || r->stage >= plan->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d does not exist: the plan has %d stages",
                       r->stage, plan->nstages);
    const int64_t ntasks = plan->stages[r->stage].ntasks;
    if (r->first < 0 || r->last < r->first || r->last > ntasks)
        return cb_fail(err, CUBED_E_INDEX,
                       "tasks %" PRId64 " to %" PRId64
                       " do not exist: stage %d has tasks 0 to %" PRId64,
                       r->first, r->last, r->stage, ntasks);
    return CUBED_OK;
}

/* --- Deadlines ------------------------------------------------------------------------------------------ */

/* 1 / ANSWER_PART of a message's time, at most ANSWER_NS, is reserved for sending its answer. */
#define ANSWER_PART 10
#define ANSWER_NS   ((int64_t)1000000000)

/* Returns the time at which the last task of the message must have ended; 0: no limit. */
static int64_t last_moment(const answer *to)
{
    if (to->end_ns == 0) return 0;
    const int64_t kept = cb_min_i64((to->end_ns - to->begin_ns) / ANSWER_PART, ANSWER_NS);
    return to->end_ns - kept;
}

/* Returns true if a task might miss the deadline, because it may take a quarter longer than the longest task before it. The first
 * task of a message may use all of the time. */
static bool is_too_late(const answer *to)
{
    if (to->end_ns == 0 || to->longest == 0) return false;
    return cb_clock_ns() + to->longest + to->longest / 4 > last_moment(to);
}

/* Reports a task that was not begun, because the time is too short. Another worker will get the task, and the attempt is not
 * counted. */
static cubed_status put_too_late(answer *to, const cubed_task_range *range, int64_t task,
                                 cubed_error *err)
{
    cubed_task_report r = {.token = range->token, .task = task, .coop = 1};
    r.start_ns = r.end_ns = cb_clock_ns();
    (void)cb_fail(&r.error, CUBED_E_CANCELLED,
                  "task %" PRId64 " did not start, because the worker's time limit is near", task);
    r.error.failure = CUBED_FAILURE_PREEMPTED;
    return put_report(to, &r, err);
}

/* Runs the tasks of a range from task *next on, and puts their reports. On return, *next is the first task that was not run. It
 * has a report only if it did not start because the worker's time limit was near. */
static cubed_status run_tasks(answer *to, const cb_task_env *env, cb_watchdog *watchdog,
                              const cubed_task_range *range, int64_t *next, cubed_error *err)
{
    cb_arena *arena;
    cb_ahead ahead = {.chunks = NULL};
    cubed_status st = CUBED_OK;
    CB_TRY(cb_arena_new(&env->plan->ctx->alloc, env->plan->need, &arena, err));
    cb_runner_expect(env, &ahead, range);
    while (st == CUBED_OK && *next < range->last) {
        cubed_task_report r = {.token = range->token};
        if (is_too_late(to)) {
            st = put_too_late(to, range, *next, err);
            break;
        }
        cb_watchdog_begin(watchdog);
        cb_runner_run_task(env, arena, &ahead, NULL, range->stage, *next, &r);
        cb_watchdog_end(watchdog, &r);
        r.process_mem = atomic_load(&env->plan->worker.held_mem);
        r.process_tasks = atomic_load(&env->plan->ctx->working);
        const bool failed = r.error.status != CUBED_OK;
        cubed_task_range done = *range;
        done.last = *next + !failed;
        if (to->notes && done.last > done.first && (failed || done.last == range->last)) {
            const cubed_status noted = cb_note_done(env->io, &done, failed ? NULL : &r.error);
            if (!failed) r.error.status = noted;
        }
        st = r.error.status;
        to->longest = cb_max_i64(to->longest, r.end_ns - r.start_ns);
        /* The task was cancelled because the machine was preempted. If the run had been cancelled, it would not have requested
         * the task. */
        if (st == CUBED_E_CANCELLED && cubed_cancel_is_set(env->cancel))
            r.error.failure = CUBED_FAILURE_PREEMPTED;
        if (st != CUBED_OK && err) *err = r.error;
        ++*next;
        const cubed_status heard = put_report(to, &r, st == CUBED_OK ? err : NULL);
        if (st == CUBED_OK) st = heard;
    }
    cb_ahead_end(&ahead);
    cb_arena_free(arena);
    return st;
}

/* Runs the tasks of a range that are not noted as done, and puts their reports. *next is set as by run_tasks. */
static cubed_status run_missing(answer *to, const cb_task_env *env, cb_watchdog *watchdog,
                                const cubed_task_range *range, int64_t *next, cubed_error *err)
{
    const int stage = range->stage;
    cb_notes *notes;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_notes_read(env->io, env->plan, &notes, err));
    cubed_task_range part = *range;
    part.first = cb_notes_missing(notes, stage, part.first);
    while (st == CUBED_OK && part.first < range->last) {
        part.last = part.first;
        while (part.last < range->last && cb_notes_missing(notes, stage, part.last) == part.last)
            part.last++;
        *next = part.first;
        st = run_tasks(to, env, watchdog, &part, next, err);
        if (*next < part.last) break; /* the time is too short for more tasks */
        part.first = cb_notes_missing(notes, stage, part.last);
    }
    cb_notes_free(notes);
    return st;
}

/* --- Keeping a run open for the next message ------------------------------------------------------------ */

static void close_opened(cubed_plan *plan)
{
    cb_io_close(atomic_exchange(&plan->worker.opened, NULL));
    cb_run_say_ended(plan);
}

/* Loads the user-defined functions of the plan. If this process then has too little memory for a task, records the memory that
 * its code uses. Measures it before the first run, when a worker has only code and the plan in memory. Does not measure a
 * process that drives runs, because it may have data in memory. */
static void load_functions(cubed_plan *plan)
{
    cb_code_memory *code = &plan->ctx->code;
    const uint64_t worker = cb_plan_worker_mem(plan), resident = cb_resident();
    if (!atomic_load(&code->drives) && atomic_load(&code->measured) == 0)
        cb_code_measured(code, resident - cb_min_size(resident, plan->metadata_mem));
    cubed_plan_load_functions(plan);
    const uint64_t room = plan->allowed_mem > worker ? plan->allowed_mem - worker : 0;
    atomic_store(&plan->worker.held_mem, cb_code_above(code, room));
}

/* Opens a run, or continues the open one. Opening reads one record per target, which takes longer than many tasks. */
static cubed_status open_run(cubed_plan *plan, const cubed_range_message *m, cb_io **out,
                             cubed_error *err)
{
    *out = atomic_exchange(&plan->worker.opened, NULL);
    /* Equal names may belong to different runs, because users who run a plan in parts may reuse a name. cb_io_go_on detects
     * this. Drivers choose a new name for each run. */
    if (*out && strcmp(cb_io_run(*out), m->run) == 0 && cb_io_go_on(*out, m->driven))
        return CUBED_OK;
    cb_io_close(*out);
    *out = NULL;
    load_functions(plan);
    return cb_parts_open(plan, CB_IO_WORKER, m->run, out, err);
}

/* Keeps the run open for the next message. Closes it after a failure, because its arrays may now be in other places. */
static void leave_run(cubed_plan *plan, cb_io *io, bool failed)
{
    atomic_store(&plan->worker.close_opened, close_opened);
    if (io && !failed) {
        cb_io_rest(io);
        /* the run that another thread with the same plan has kept open; may be NULL */
        io = atomic_exchange(&plan->worker.opened, io);
    }
    cb_io_close(io);
    if (failed) close_opened(plan);
}

static cubed_status work(cubed_plan *plan, const cubed_range_message *m, const cubed_cancel *cancel,
                         answer *to, int64_t *next, cubed_error *err)
{
    const cb_watchdog_args limit = {.alloc = &plan->ctx->alloc,
                                    .cancel = cancel,
                                    .limit_ms = m->timeout_ms,
                                    .end_ns = last_moment(to),
                                    .ends_process = to->ends_process,
                                    .stuck = to->stuck};
    cb_watchdog *watchdog = NULL;
    cb_io *io = NULL;
    cubed_status st;
    CB_GO(check_range(plan, &m->range, err));
    CB_GO(open_run(plan, m, &io, err));
    if (*m->plan && strcmp(m->plan, cb_io_plan(io)) != 0)
        CB_GO(cb_fail(err, CUBED_E_ARG,
                      "the message belongs to plan %s, but this worker has plan %s", m->plan,
                      cb_io_plan(io)));
    CB_GO(cb_watchdog_new(&limit, &watchdog, err));
    if (to->limits_memory) CB_GO(cb_memory_limit_begin(plan, err));
    const cb_task_env env = {
        .plan = plan, .io = io, .cancel = cb_watchdog_cancel(watchdog, cancel)};
    CB_GO((to->skip_done ? run_missing : run_tasks)(to, &env, watchdog, &m->range, next, err));
out:
    if (to->limits_memory) cb_memory_limit_end(plan);
    cb_watchdog_free(watchdog);
    leave_run(plan, io, st != CUBED_OK);
    return st;
}

/* Runs the range and puts the reports. If why->status is an error, the plan could not be loaded, and the reports have this
 * error. */
static cubed_status reply(cubed_plan *plan, const cubed_range_message *m,
                          const cubed_cancel *cancel, answer *to, cubed_error *why,
                          cubed_error *err)
{
    int64_t next = m->range.first;
    cubed_status st = why->status;
    to->notes = !m->driven;
    if (st == CUBED_OK) {
        atomic_fetch_add(&plan->ctx->working, 1);
        cb_spare_begin(&plan->ctx->spare);
        cb_spare_drop(&plan->ctx->spare);
        st = work(plan, m, cancel, to, &next, why);
        cb_spare_end(&plan->ctx->spare);
        atomic_fetch_sub(&plan->ctx->working, 1);
    }
    if (st != CUBED_OK && !to->failed) {
        cubed_task_report r = {.token = m->range.token, .task = next, .coop = 1, .error = *why};
        r.error.status = st;
        r.start_ns = r.end_ns = cb_clock_ns();
        return put_report(to, &r, err);
    }
    return to->bytes.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for reports") : CUBED_OK;
}

/* --- Workers and the plans that messages name ---------------------------------------------------------- */

struct cubed_worker {
    cubed_context *ctx;
    bool allow_code;
    bool has_plan; /* the worker was created for `plan` */
    /* Plan, hash and run of the last message. A plan holds the state that its sources had when the run began. */
    cubed_plan *plan;
    XXH128_hash_t hash;
    char run[sizeof(((cubed_range_message *)0)->run)];
    cb_buf key; /* key of a fetched plan; empty if the plan was given */
    answer to;
};

static void forget_plan(cubed_worker *w)
{
    cubed_plan_unref(w->plan);
    w->plan = NULL;
    w->hash = (XXH128_hash_t){0, 0};
    w->key.size = 0;
}

static cubed_status load(cubed_worker *w, const char *run, const void *bytes, size_t size,
                         cubed_error *err)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    if (w->plan && XXH128_isEqual(hash, w->hash) && strcmp(run, w->run) == 0) return CUBED_OK;
    forget_plan(w);
    CB_TRY(cb_plan_load(w->ctx, bytes, size, w->allow_code ? CB_TRUST_CODE : CB_TRUST_DATA,
                        &w->plan, err));
    w->hash = hash;
    memcpy(w->run, run, sizeof w->run);
    return cb_plan_keep_id(w->plan, err);
}

static cubed_status fetch(cubed_worker *w, const cb_told *told, cubed_error *err)
{
    if (strcmp(told->version, CUBED_VERSION_STRING) != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the driver has version %.40s of cubed, this worker has %s: install the "
                       "same one",
                       told->version, CUBED_VERSION_STRING);
    CB_TRY(cb_net_take_options(&w->ctx->stores.net, told->options, err));
    if (w->plan && w->key.size > 0 && strcmp(w->key.data, told->plan_key) == 0) return CUBED_OK;
    forget_plan(w);
    CB_TRY(cubed_plan_fetch(w->ctx, told->work_dir, told->plan_key, &w->plan, err));
    cb_buf_put(&w->key, told->plan_key, strlen(told->plan_key) + 1);
    if (!w->key.failed) return CUBED_OK;
    forget_plan(w);
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan's key");
}

/* Performs the range of a message that names its plan. Fetches the plan, and puts the reports (cubed_work). */
static cubed_status work_named(cubed_worker *w, const cubed_work_input *in, cubed_error *err)
{
    cubed_range_message m;
    cubed_error why = CUBED_ERROR_INIT;
    cb_buf text; /* text with a terminating NUL */
    cb_told told;
    cubed_status st;
    cb_buf_init(&text, &w->ctx->alloc);
    cb_answer_begin(&w->to.bytes);
    cb_buf_put(&text, in->message, in->message_size);
    cb_buf_put(&text, "", 1);
    if (text.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a message"));
    CB_GO(cubed_range_read(in->message, cb_min_size(in->message_size, CUBED_RANGE_BYTES), &m, err));
    CB_GO(cb_told_read(text.data, in->message_size, &told, err));
    why.status = fetch(w, &told, &why);
    CB_GO(reply(w->plan, &m, in->cancel, &w->to, &why, err));
out:
    if (text.data) explicit_bzero(text.data, text.size); /* the options may hold secrets */
    cb_buf_free(&text);
    return st;
}

/* Performs the range of a message, and puts the reports (cubed_work). Requires a worker that was created for a plan, or a message
 * with a plan. */
static cubed_status work_planned(cubed_worker *w, const cubed_work_input *in, cubed_error *err)
{
    cubed_range_message m;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cubed_range_read(in->message, in->message_size, &m, err));
    if (in->plan) why.status = load(w, m.run, in->plan, in->plan_size, &why);
    return reply(w->plan, &m, in->cancel, &w->to, &why, err);
}

cubed_status cubed_work(cubed_worker *w, const cubed_work_input *input, const void **reports,
                        size_t *reports_size, cubed_error *err)
{
    cubed_work_input in = CUBED_WORK_INPUT_INIT;
    CB_TRY(CB_OPTIONS_TAKE("work", input, &in, err));
    if (in.plan && w->has_plan)
        return cb_fail(err, CUBED_E_ARG,
                       "work: the worker was made for a plan, expected a message without a plan");
    w->to.bytes.size = 0;
    w->to.failed = false;
    w->to.begin_ns = cb_clock_ns();
    w->to.end_ns = in.time_ms ? w->to.begin_ns + (int64_t)in.time_ms * 1000000 : 0;
    CB_TRY((in.plan || w->has_plan ? work_planned : work_named)(w, &in, err));
    *reports = w->to.bytes.data;
    *reports_size = w->to.bytes.size;
    return CUBED_OK;
}

cubed_status cubed_worker_new(cubed_context *ctx, const cubed_worker_options *options,
                              cubed_worker **out, cubed_error *err)
{
    cubed_worker_options o = CUBED_WORKER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("worker", options, &o, err));
    if (o.plan) ctx = o.plan->ctx;
    if (!ctx) return cb_fail(err, CUBED_E_ARG, "worker: expected a context or a plan");
    cubed_worker *w = cb_alloc_zero(&ctx->alloc, sizeof *w);
    if (!w) return cb_fail(err, CUBED_E_NOMEM, "no memory for a worker");
    w->ctx = cubed_context_ref(ctx);
    w->allow_code = o.allow_code;
    w->has_plan = o.plan;
    if (o.plan) w->plan = cubed_plan_ref(o.plan);
    w->to = (answer){.ctx = ctx,
                     .most = o.max_message_bytes,
                     .skip_done = o.skip_done,
                     .ends_process = o.ends_process,
                     .limits_memory = o.limits_memory,
                     .stuck = o.stuck};
    cb_buf_init(&w->to.bytes, &ctx->alloc);
    cb_buf_init(&w->key, &ctx->alloc);
    *out = w;
    return CUBED_OK;
}

void cubed_worker_free(cubed_worker *w)
{
    if (!w) return;
    cubed_context *ctx = w->ctx;
    cubed_plan_unref(w->plan);
    cb_buf_free(&w->key);
    cb_buf_free(&w->to.bytes);
    cb_free(&ctx->alloc, w, sizeof *w);
    cubed_context_unref(ctx);
}
