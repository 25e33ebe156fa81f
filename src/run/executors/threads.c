/* Executor with a pool of threads, each with its own arena. A bounded queue contains the ranges for the threads, and another
 * one their reports. If the next range consists of cooperative tasks, each worker that requests work becomes a member of these
 * tasks. A task starts when all workers are members; if there are more members than planned, the share of each is smaller. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/pool.h"
#include "exec/vm/helping.h"
#include "run/executors/executor.h"

/* Maximum number of ranges in flight per worker: the worker runs one range, prefetches chunks of the next, and a third one waits
 * in the queue. So no worker is idle while the driver is busy. */
#define RANGES_PER_WORKER 3
/* Capacity of the queue of reports for the driver; workers wait when it is full. */
#define REPORTS_PER_WORKER 64

typedef struct threads {
    cubed_executor head;
    cb_task_env env;
    cb_pool *pool;
    cb_arena **arenas; /* one per worker */
    bool has_offers;   /* workers decode chunks for each other */
    cb_mutex lock;
    /* work: a range arrived, or an idle worker may find a chunk to decode. done: a report arrived. room: reports were fetched.
     * complete: all members have joined. decoded: a chunk was decoded for another worker, or is no longer used. */
    cb_cond work, done, room, complete, decoded;
    bool stop CB_GUARDED_BY(&lock);
    cb_coop coop;
    cb_member *members;                /* one per worker */
    bool forming CB_GUARDED_BY(&lock); /* a cooperative task waits for members */
    unsigned joined CB_GUARDED_BY(&lock);
    cubed_task_range *ranges CB_GUARDED_BY(&lock); /* ring buffer */
    size_t range_cap, range_at CB_GUARDED_BY(&lock), range_n CB_GUARDED_BY(&lock);
    cubed_task_report *reports CB_GUARDED_BY(&lock); /* ring buffer */
    size_t report_cap, report_at CB_GUARDED_BY(&lock), report_n CB_GUARDED_BY(&lock);
} threads;

/* The work of one worker: a range that it runs alone, or a cooperative task that it runs with other workers. */
typedef struct job {
    cubed_task_range range;
    cb_ahead ahead;
    cb_coop *coop; /* NULL: alone */
    unsigned member;
} job;

static void pop_range(threads *t) CB_REQUIRES(&t->lock)
{
    t->range_at = (t->range_at + 1) % t->range_cap;
    t->range_n--;
}

static bool is_shared(const threads *t, int stage)
{
    return t->head.workers > 1 && t->env.plan->stages[stage].coop > 1;
}

/* Makes this worker a member of the cooperative tasks of the next range, and waits until all workers are members. Returns
 * false when the executor closes. */
static bool join_coop(threads *t, job *out) CB_REQUIRES(&t->lock)
{
    if (!t->forming) t->joined = 0;
    t->forming = true;
    out->coop = &t->coop;
    out->member = t->joined++;
    if (t->joined == t->head.workers) {
        cb_coop_begin(&t->coop, t->joined);
        pop_range(t);
        t->forming = false;
        cb_cond_broadcast(&t->complete);
    }
    while (t->forming && !t->stop) cb_cond_wait(&t->complete, &t->lock);
    return !t->forming;
}

/* Sets a job to the next range, which stays in the queue. */
static void begin_job(const threads *t, job *out) CB_REQUIRES(&t->lock)
{
    out->range = t->ranges[t->range_at];
    out->coop = NULL;
    out->member = 0;
}

/* Decodes chunks for other workers. The lock that protects the list of helpers is the lock of the executor. */
static bool decode_for_others(cb_helper *w, cb_arena *arena)
{
    cb_mutex_assume_held(w->offers->lock);
    return cb_offers_make(w, arena);
}

static void leave_help(cb_helper *w)
{
    cb_mutex_assume_held(w->offers->lock);
    cb_offers_leave(w);
}

/* Decodes chunks for other workers until a range is available or the executor closes. */
static void wait_for_range(threads *t, unsigned index) CB_REQUIRES(&t->lock)
{
    cb_helper *w = cb_chunks_helper(cb_io_chunks(t->env.io), index);
    while (t->range_n == 0 && !t->stop) {
        if (!w || !decode_for_others(w, t->arenas[index])) cb_cond_wait(&t->work, &t->lock);
        /* leave_help waits until no worker uses this worker's arena; meanwhile, another worker may take the range */
        if (w && (t->range_n > 0 || t->stop)) leave_help(w);
    }
}

/* Takes the next job. Returns false when the executor closes. */
static bool take_job(threads *t, unsigned index, job *out)
{
    cb_mutex_lock(&t->lock);
    wait_for_range(t, index);
    bool ok = !t->stop;
    if (ok) {
        begin_job(t, out);
        if (is_shared(t, out->range.stage))
            ok = join_coop(t, out);
        else
            pop_range(t);
    }
    cb_mutex_unlock(&t->lock);
    return ok;
}

/* When a worker begins the last task of its range, it also takes another waiting range, so that the chunks of that range are
 * prefetched. If another worker becomes idle, this delays the range by at most the duration of that task. */
static bool take_next(threads *t, job *now, job *next)
{
    if (!now->ahead.chunks) return false;
    cb_mutex_lock(&t->lock);
    const bool ok = t->range_n > 0 && !t->stop && !is_shared(t, t->ranges[t->range_at].stage);
    if (ok) {
        begin_job(t, next);
        pop_range(t);
    }
    cb_mutex_unlock(&t->lock);
    if (!ok) return false;
    cb_runner_expect(&t->env, &next->ahead, &next->range);
    cb_ahead_go_on(&now->ahead, &next->ahead);
    return true;
}

/* Copies a report. Omits the error message of a successful task, because the message is the largest part of a report. */
static void copy_report(cubed_task_report *to, const cubed_task_report *from)
{
    memcpy(to, from, offsetof(cubed_task_report, error));
    if (to->error.status != CUBED_OK || from->error.status != CUBED_OK) to->error = from->error;
}

static bool give_report(threads *t, const cubed_task_report *report)
{
    cb_mutex_lock(&t->lock);
    while (t->report_n == t->report_cap && !t->stop) cb_cond_wait(&t->room, &t->lock);
    bool ok = !t->stop;
    if (ok) {
        copy_report(&t->reports[(t->report_at + t->report_n) % t->report_cap], report);
        if (t->report_n++ == 0) cb_cond_signal(&t->done);
    }
    cb_mutex_unlock(&t->lock);
    return ok;
}

static void worker(void *ctx, unsigned index)
{
    threads *t = ctx;
    job jobs[2] = {{.ahead.chunks = NULL}, {.ahead.chunks = NULL}}, *j = &jobs[0], *next = &jobs[1];
    cb_helper *helper = cb_chunks_helper(cb_io_chunks(t->env.io), index);
    bool has_next = false;
    cubed_task_report report;
    memset(&report, 0, sizeof report);
    report.worker = index;
    bool open = true; /* a member of a cooperative task continues it even if the queue is closed */
    while (open && (has_next || take_job(t, index, j))) {
        if (!has_next && !j->coop) cb_runner_expect(&t->env, &j->ahead, &j->range);
        has_next = false;
        report.token = j->range.token;
        for (int64_t task = j->range.first; task < j->range.last && (open || j->coop); task++) {
            if (j->coop) {
                cb_runner_run_member(&t->env, t->arenas[index], j->range.stage, task, j->coop,
                                     j->member, &report);
            } else {
                if (task == j->range.last - 1) has_next = take_next(t, j, next);
                cb_runner_run_task(&t->env, t->arenas[index], &j->ahead, helper, j->range.stage,
                                   task, &report);
            }
            if (open && j->member == 0) open = give_report(t, &report);
            if (report.error.status != CUBED_OK) break;
        }
        if (has_next) {
            job *const done = j;
            j = next;
            next = done;
        }
    }
    cb_ahead_end(&jobs[0].ahead);
    cb_ahead_end(&jobs[1].ahead);
}

static cubed_status threads_submit(cubed_executor *ex, const cubed_task_range *range,
                                   cubed_error *err)
{
    threads *t = (threads *)ex;
    cb_mutex_lock(&t->lock);
    bool room = t->range_n < t->range_cap;
    if (room) {
        t->ranges[(t->range_at + t->range_n++) % t->range_cap] = *range;
        if (is_shared(t, range->stage))
            cb_cond_broadcast(&t->work);
        else
            cb_cond_signal(&t->work);
    }
    cb_mutex_unlock(&t->lock);
    CB_CHECK(room, err);
    return CUBED_OK;
}

static cubed_status threads_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                                 bool *got, cubed_error *err)
{
    threads *t = (threads *)ex;
    const int64_t deadline = cb_clock_ns() + (int64_t)timeout_ms * 1000000;
    (void)err;
    cb_mutex_lock(&t->lock);
    while (t->report_n == 0 && cb_cond_wait_until(&t->done, &t->lock, deadline)) {
    }
    *got = t->report_n > 0;
    if (*got) {
        copy_report(report, &t->reports[t->report_at]);
        t->report_at = (t->report_at + 1) % t->report_cap;
        if (t->report_n-- == t->report_cap) cb_cond_broadcast(&t->room);
    }
    cb_mutex_unlock(&t->lock);
    return CUBED_OK;
}

static void stop_workers(void *ctx)
{
    threads *t = ctx;
    cb_mutex_lock(&t->lock);
    t->stop = true;
    cb_cond_broadcast(&t->work);
    cb_cond_broadcast(&t->room);
    cb_cond_broadcast(&t->complete);
    cb_mutex_unlock(&t->lock);
}

/* Takes no lock, because the workers have ended. */
static void threads_free(threads *t) CB_UNCHECKED_LOCKS
{
    const cubed_allocator *a = &t->env.plan->ctx->alloc;
    if (t->has_offers) cb_chunks_end_offers(cb_io_chunks(t->env.io));
    for (unsigned i = 0; t->arenas && i < t->head.workers; i++)
        cb_spare_give(&t->env.plan->ctx->spare, t->arenas[i]);
    cb_free(a, t->arenas, t->head.workers * sizeof *t->arenas);
    cb_coop_destroy(&t->coop);
    cb_free(a, t->members, t->head.workers * sizeof *t->members);
    cb_free(a, t->ranges, t->range_cap * sizeof *t->ranges);
    cb_free(a, t->reports, t->report_cap * sizeof *t->reports);
    cb_cond_destroy(&t->work);
    cb_cond_destroy(&t->done);
    cb_cond_destroy(&t->room);
    cb_cond_destroy(&t->complete);
    cb_cond_destroy(&t->decoded);
    cb_mutex_destroy(&t->lock);
    cb_free(a, t, sizeof *t);
}

static void threads_close(cubed_executor *ex)
{
    threads *t = (threads *)ex;
    stop_workers(t);
    cb_pool_join(t->pool);
    threads_free(t);
}

static void init_locks(threads *t)
{
    cb_mutex_init(&t->lock);
    cb_cond_init(&t->work);
    cb_cond_init(&t->done);
    cb_cond_init(&t->room);
    cb_cond_init(&t->complete);
    cb_cond_init(&t->decoded);
    cb_coop_init(&t->coop, t->members);
}

static bool is_one_task(const cubed_plan *p)
{
    int64_t n = 0;
    for (int i = 0; i < p->nstages; i++) {
        if (p->stages[i].ntasks > 1 || p->stages[i].coop > 1) return false;
        n += p->stages[i].ntasks;
    }
    return n <= 1;
}

/* Takes no lock, because the workers are started last. */
static cubed_status threads_open(const cubed_executor_args *args, cubed_executor **out,
                                 cubed_error *err) CB_UNCHECKED_LOCKS
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    unsigned n = args->workers;
    /* A pool of threads costs more than it saves if there is a single task and no other worker can decode chunks for it. */
    if (is_one_task(args->plan) && (n < 2 || !cb_plan_is_helped(args->plan)))
        return cb_executor_single.open(args, out, err);
    cubed_status st = CUBED_OK;
    threads *t = cb_alloc_zero(a, sizeof *t);
    if (!t) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    t->head =
        (cubed_executor){.vt = &cb_executor_threads, .slots = RANGES_PER_WORKER * n, .workers = n};
    t->env = ((const cb_executor_args *)args)->env;
    t->range_cap = t->head.slots;
    t->report_cap = (size_t)REPORTS_PER_WORKER * n;
    t->ranges = cb_alloc_zero(a, t->range_cap * sizeof *t->ranges);
    t->reports = cb_alloc_zero(a, t->report_cap * sizeof *t->reports);
    t->arenas = cb_alloc_zero(a, n * sizeof *t->arenas);
    t->members = cb_alloc_zero(a, n * sizeof *t->members);
    init_locks(t);
    if (!t->ranges || !t->reports || !t->arenas || !t->members) {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", n);
        goto out;
    }
    for (unsigned i = 0; i < n; i++) {
        CB_GO(cb_spare_take(&args->plan->ctx->spare, a, args->plan->need, &t->arenas[i], err));
        /* also used when the worker decodes chunks before its first task */
        t->arenas[i]->cancel = t->env.cancel;
    }
    if (n > 1 && cb_plan_is_helped(args->plan)) {
        const cb_offer_sync sync = {.lock = &t->lock, .idle = &t->work, .decoded = &t->decoded};
        CB_GO(cb_chunks_begin_offers(cb_io_chunks(t->env.io), n, sync, err));
        t->has_offers = true;
    }
    CB_GO(cb_pool_start(a, n, worker, stop_workers, t, &t->pool, err));
    *out = &t->head;
    return CUBED_OK;
out:
    threads_free(t);
    return st;
}

const cubed_executor_vtable cb_executor_threads = {
    .struct_size = sizeof cb_executor_threads,
    .name = "threads",
    .caps = {.shares_memory = true, .shares_tasks = true},
    .open = threads_open,
    .submit = threads_submit,
    .poll = threads_poll,
    .close = threads_close,
};
