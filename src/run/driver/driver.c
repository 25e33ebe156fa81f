/* The driver of a run: decides which ranges may run next, and handles their reports. The loops that send ranges to workers are
 * in its callers, schedule.c and parts_driver.c.
 *
 * The driver keeps one record for each range that is in flight or waits for a retry. */
#include "run/driver/driver.h"
#include "run/driver/run_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "exec/plan/operations.h"
#include "exec/plan/operator.h"
#include "run/driver/ramp.h"
#include "run/driver/ready.h"
#include "run/executors/executor.h"
#include "run/executors/watchdog.h"

#define FIRST_DELAY_NS ((int64_t)50000000)
/* Maximum number of attempts of a task that are not counted as failures because the machine was preempted. The number is limited
 * because a task that ends its own worker, by exit status 0 or SIGTERM, looks like a preemption. */
#define MOST_PREEMPTIONS 100
/* No new ranges begin while this many ranges wait for a retry. */
#define MAX_RETRIES 256

/* A backup is a copy of a slow range that an idle worker runs (find_straggler). At most one worker in WORKERS_PER_BACKUP runs
 * a backup, but one backup is always allowed. */
#define WORKERS_PER_BACKUP 20
/* A range is slow if it takes SLOW_TIMES the mean of its stage, until SLOW_KNOWN tasks have ended. From then on it is slow if it
 * takes SLOW_MORE times the time within which all but SLOW_SHARE of the ranges end. So copies start early in stages whose tasks
 * take equally long. In stages whose tasks differ, there are few copies. SLOW_GAIN is the weight of one range in the estimate of
 * that time. */
#define SLOW_TIMES    1.5
#define SLOW_MORE     1.1
#define SLOW_SHARE    0.05
#define SLOW_KNOWN    64
#define SLOW_GAIN     0.05
#define SLOW_LEAST_NS ((int64_t)1000000000)
#define LOOK_NS       ((int64_t)50000000)
/* Maximum number of new backups in one check for slow ranges, because each backup is found by a search of all ranges. */
#define BACKUPS_PER_LOOK 32
/* Limits for early backups, which are copies of ranges that are not slow yet: see find_early.
 * - EARLY_SHARE: maximum fraction of a stage's tasks that are copied.
 * - EARLY_DONE: fraction of the stage's tasks that must be complete before the first copy, so that only the last tasks are
 *   copied.
 * - EARLY_BUSY: fraction of the workers. If more workers are busy, no tasks are copied. */
#define EARLY_SHARE 0.1
#define EARLY_DONE  0.8
#define EARLY_BUSY  0.95

typedef struct stage_state {
    int64_t done;
    int64_t started; /* tasks that began, plus tasks of early backups; retries do not count */
    int64_t start_ns;
    int64_t timed, timed_ns; /* tasks of ranges that completed, and their total duration */
    /* Estimate of the duration of a task in seconds within which all but SLOW_SHARE of the ranges end */
    double most;
} stage_state;

_Static_assert(sizeof(stage_state) + 32 <= CB_RUN_STAGE_BYTES, "what a run keeps of a stage");

/* A range that a worker runs. */
typedef struct in_flight {
    bool used;
    uint8_t attempts;  /* failed attempts of task `next`, limited by the retries option */
    uint8_t preempted; /* preempted attempts of task `next`, not counted as failures */
    int stage;
    /* number of the range in this slot; identifies late reports of earlier ranges */
    uint32_t serial;
    /* the unfinished tasks, `next` to `last` - 1; in a released slot, `next` links the free list (cb_driver) */
    int64_t next, last;
    int64_t first, given_ns;
    int64_t due_ns; /* deadline after which the range is lost */
    /* 1 + the slot of the copy of this range that another worker runs; 0: there is no copy */
    uint32_t twin;
    /* The copy of the range was completed first, so reports for this range are ignored. */
    bool late;
    bool early; /* the range is an early backup, or has one */
} in_flight;

/* A range that waits for a retry. Its first task failed, or it consists of the tasks after a failed one. */
typedef struct retry {
    in_flight range;
    int64_t due_ns;
} retry;

struct cb_driver {
    cb_driver_args a;
    cubed_plan *p;
    const cubed_allocator *alloc;
    int64_t ntasks, ndone;
    stage_state *stages;
    cb_ready *ready;
    in_flight *flights; /* ranges in flight, one entry per slot */
    retry *retries;     /* capacity: MAX_RETRIES, plus one per slot */
    unsigned nflights, nretries, busy;
    unsigned fresh;   /* slots from this one on are unused */
    int64_t released; /* head of the free list of slots, linked through `next`; -1: end */
    int64_t start_ns;
    unsigned backups; /* copies in flight, including late ones and excluding early backups */
    /* calm_ns: time at which a worker became idle; since then, every range in flight is being worked on. look_ns, early_ns,
     * look_due_ns: times of the next checks for stragglers, for early backups and for overdue ranges. */
    int64_t calm_ns, look_ns, early_ns, look_due_ns;
    int64_t most_ns; /* maximum duration of any range so far */
    cb_ramp ramp;
};

static int64_t now_of(const cb_driver *d)
{
    return d->a.clock ? d->a.clock->now(d->a.clock->ctx) : cb_clock_ns();
}

/* --- Events ------------------------------------------------------------------------------------------- */

static void emit(const cb_driver *d, const cubed_event *e)
{
    cubed_event full = *e;
    if (!d->a.options->on_event) return;
    full.intermediate_mem = cb_chunks_intermediates(cb_io_chunks(d->a.io))->used;
    d->a.options->on_event(d->a.options->event_ctx, &full);
}

/* Reports an event of the plan. `why` is NULL if nothing failed. */
static void emit_plan(const cb_driver *d, cubed_event_kind kind, const cubed_error *why)
{
    int64_t now = now_of(d);
    cubed_event e = {.kind = kind,
                     .time_ns = now,
                     .stage = -1,
                     .task = -1,
                     .status = why ? why->status : CUBED_OK,
                     .failure = why ? cubed_failure_of(why) : CUBED_FAILURE_PERMANENT,
                     .message = why ? why->message : NULL};
    if (kind == CUBED_EVENT_PLAN_END) e.duration_ns = now - d->start_ns;
    emit(d, &e);
}

static void emit_stage(const cb_driver *d, cubed_event_kind kind, int stage, int64_t time_ns)
{
    cubed_event e = {.kind = kind, .time_ns = time_ns, .stage = stage, .task = -1};
    if (kind == CUBED_EVENT_STAGE_END) e.duration_ns = time_ns - d->stages[stage].start_ns;
    emit(d, &e);
}

/* Returns the projected memory of a user-defined function in a task, or 0 if the stage has none. */
static uint64_t function_projected(const cb_stage *s)
{
    return cb_stage_code(s) ? s->call->need.library : 0;
}

/* If the report is of the first task of a range, returns how long the range waited before this task started. Returns 0 for other
 * tasks. Never returns a negative time, although clocks of other machines may be slow. */
static int64_t queued_ns(const in_flight *f, const cubed_task_report *r)
{
    return r->task == f->first && r->start_ns > f->given_ns ? r->start_ns - f->given_ns : 0;
}

static void count_time(const cb_driver *d, const in_flight *f, const cubed_task_report *r)
{
    cubed_run_stats *s = d->a.stats;
    const double seconds = (double)(r->end_ns - r->start_ns) * 1e-9;
    s->worker_seconds += seconds * (r->coop ? r->coop : 1);
    s->queue_seconds += (double)queued_ns(f, r) * 1e-9;
}

static bool may_be_transient(cubed_failure failure)
{
    return failure != CUBED_FAILURE_PERMANENT && failure != CUBED_FAILURE_MEMORY;
}

static bool may_try_again(const cb_driver *d, const in_flight *f, cubed_failure failure)
{
    if (!d->a.retries || !may_be_transient(failure)) return false;
    return failure == CUBED_FAILURE_PREEMPTED ? f->preempted < MOST_PREEMPTIONS
                                              : f->attempts < d->a.options->retries;
}

/* Reports the events of a task. `f` is the state of the range before the report. If `again` is set, the failed task will be
 * retried. */
static void emit_task(const cb_driver *d, const in_flight *f, const cubed_task_report *r,
                      bool again)
{
    const cb_stage *s = &d->p->stages[f->stage];
    cubed_event e = {.kind = CUBED_EVENT_TASK_START,
                     .time_ns = r->start_ns,
                     .stage = f->stage,
                     .task = r->task,
                     .worker = r->worker,
                     .host = r->host,
                     .queued_ns = queued_ns(f, r),
                     .backup = f->twin != 0,
                     .coop = r->coop,
                     .attempt = (unsigned)f->attempts + f->preempted};
    emit(d, &e);
    e.kind = r->error.status == CUBED_OK ? CUBED_EVENT_TASK_END : CUBED_EVENT_TASK_RETRY;
    e.time_ns = r->end_ns;
    e.duration_ns = r->end_ns - r->start_ns;
    e.bytes_read = r->bytes_read;
    e.bytes_written = r->bytes_written;
    e.stored_read = r->stored_read;
    e.stored_written = r->stored_written;
    e.measured_mem = r->measured_mem;
    e.function_mem = r->function_mem;
    e.function_projected = function_projected(s);
    e.projected_mem = cb_plan_projected(d->p, s);
    e.status = r->error.status;
    if (e.status != CUBED_OK) {
        e.failure = cubed_failure_of(&r->error);
        e.message = r->error.message;
        e.again = again;
    }
    emit(d, &e);
}

/* --- Submitting --------------------------------------------------------------------------------------- */

static void *table(const cb_driver *d, size_t n, size_t size, cubed_error *err, cubed_status *st)
{
    void *p = cb_alloc_zero(d->alloc, n * size);
    if (!p) *st = cb_fail(err, CUBED_E_NOMEM, "no memory for a schedule of %zu entries", n);
    return p;
}

static size_t max_retries(const cb_driver *d) { return (size_t)d->nflights + MAX_RETRIES; }

static cubed_status make_tables(cb_driver *d, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    for (int i = 0; i < d->p->nstages; i++) {
        if (cb_add_i64(d->ntasks, d->p->stages[i].ntasks, &d->ntasks))
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the plan has more tasks than can be counted: choose larger chunks");
    }
    d->nflights = d->a.slots;
    d->stages = table(d, (size_t)d->p->nstages, sizeof *d->stages, err, &st);
    if (st == CUBED_OK) d->flights = table(d, d->nflights, sizeof *d->flights, err, &st);
    if (st == CUBED_OK) d->retries = table(d, max_retries(d), sizeof *d->retries, err, &st);
    return st;
}

static bool take_retry(cb_driver *d, in_flight *range)
{
    int64_t now = d->nretries ? now_of(d) : 0;
    for (unsigned i = 0; i < d->nretries; i++) {
        if (d->retries[i].due_ns > now) continue;
        *range = d->retries[i].range;
        d->retries[i] = d->retries[--d->nretries];
        return true;
    }
    return false;
}

/* Sets the next range to run: a retry that is due, otherwise tasks that are ready. */
static cubed_status next_range(cb_driver *d, in_flight *range, cubed_error *err)
{
    *range = (in_flight){.used = false};
    if (take_retry(d, range)) return CUBED_OK;
    if (d->nretries >= MAX_RETRIES) return CUBED_OK;
    CB_TRY(cb_ready_take(d->ready, &range->stage, &range->next, &range->last, err));
    range->used = range->next < range->last;
    return CUBED_OK;
}

static uint64_t token_of(unsigned slot, const in_flight *f)
{
    return (uint64_t)f->serial << 32 | slot;
}

/* Returns the number of an unused slot, in constant time. */
static unsigned take_slot(cb_driver *d)
{
    const int64_t slot = d->released;
    d->busy++;
    if (slot < 0) return d->fresh++;
    d->released = d->flights[slot].next;
    return (unsigned)slot;
}

static void release_slot(cb_driver *d, unsigned slot)
{
    d->flights[slot].used = false;
    d->flights[slot].next = d->released;
    d->released = slot;
    if (d->busy-- == d->a.workers && (d->a.backups || d->a.start_ms)) d->calm_ns = now_of(d);
}

/* Counts the duration of a range of n tasks. Also adjusts s->most, the estimated duration per task that a share SLOW_SHARE of the
 * ranges exceeds. If the range took longer per task, the estimate grows by the fraction SLOW_GAIN * (1 - SLOW_SHARE).
 * Otherwise it shrinks by the fraction SLOW_GAIN * SLOW_SHARE (H. Robbins and S. Monro, A Stochastic Approximation Method,
 * 1951). */
static void count_duration(stage_state *s, int64_t n, int64_t ns)
{
    const double seconds = (double)ns * 1e-9 / (double)n;
    if (s->timed == 0) s->most = seconds;
    s->most *= 1 + SLOW_GAIN * (seconds > s->most ? 1 - SLOW_SHARE : -SLOW_SHARE);
    s->timed += n;
    s->timed_ns += ns;
}

/* Returns the duration per task, in seconds, from which a range counts as slow. */
static double slow_seconds(const stage_state *s)
{
    const double mean = (double)s->timed_ns * 1e-9 / (double)s->timed;
    return s->timed < SLOW_KNOWN ? SLOW_TIMES * mean : SLOW_MORE * fmax(s->most, mean);
}

/* Returns the mean duration of ranges of n tasks of the stage, in nanoseconds. */
static double usual_ns(const stage_state *s, int64_t n)
{
    return (double)s->timed_ns / (double)s->timed * (double)n;
}

/* Returns the time by which a range exceeds the mean duration of ranges of its stage, or 0 if the range is not slow or has a
 * copy. */
static int64_t excess_of(const cb_driver *d, const in_flight *f, int64_t now)
{
    const stage_state *s = &d->stages[f->stage];
    if (!f->used || f->twin || f->late || s->timed == 0) return 0;
    const int64_t n = f->last - f->first;
    /* If the number of workers grows with time (ramp.h), a range is sent only if a worker is idle, so ranges do not wait for a
     * worker. */
    const int64_t since = d->a.ramp_workers ? f->given_ns : cb_max_i64(f->given_ns, d->calm_ns);
    const int64_t taken = now - since;
    if (taken < SLOW_LEAST_NS || (double)taken * 1e-9 < slow_seconds(s) * (double)n) return 0;
    return taken - (int64_t)usual_ns(s, n);
}

/* Finds the range that is expected to end last, if nothing else can run and a worker is idle. The range is then given to that
 * worker as well. This is the rule of LATE (M. Zaharia et al., Improving MapReduce Performance in Heterogeneous Environments,
 * OSDI 2008). Ranges of a stage are compared with each other, because an engine reports nothing about a range before it ends.
 *
 * There are few backups, because most slow tasks are slow for a reason that also affects a second worker. A task may run twice at
 * the same time without harm. Only the first report of its completion counts. */
static in_flight *find_straggler(cb_driver *d)
{
    in_flight *worst = NULL;
    int64_t most = 0;
    const unsigned share = d->a.workers / WORKERS_PER_BACKUP;
    if (!d->a.backups || d->busy >= d->a.workers || d->backups >= (share ? share : 1)) return NULL;
    const int64_t now = now_of(d);
    if (now < d->look_ns) return NULL;
    for (unsigned i = 0; i < d->fresh; i++) {
        const int64_t excess = excess_of(d, &d->flights[i], now);
        if (excess <= most) continue;
        most = excess;
        worst = &d->flights[i];
    }
    d->look_ns = now + (worst ? LOOK_NS / BACKUPS_PER_LOOK : LOOK_NS);
    return worst;
}

/* Returns true if other stages read an output of the stage. */
static bool has_readers(const cb_driver *d, const cb_stage *s)
{
    for (int o = 0; o < s->nouts; o++) {
        if (cb_node_is_intermediate(&d->p->ir.nodes[s->outs[o].node])) return true;
    }
    return false;
}

/* Returns true if the driver may submit a second copy of the range, although the range is not slow yet. */
static bool may_copy_early(const cb_driver *d, const in_flight *f)
{
    const stage_state *s = &d->stages[f->stage];
    const cb_stage *stage = &d->p->stages[f->stage];
    const int64_t n = f->last - f->first;
    const double all = (double)stage->ntasks, copied = (double)(s->started - stage->ntasks);
    if (!f->used || f->twin || f->late || f->early || f->next > f->first || copied < 0)
        return false;
    return s->timed >= SLOW_KNOWN && (double)s->done >= EARLY_DONE * all &&
           copied + (double)n <= EARLY_SHARE * all && usual_ns(s, n) >= SLOW_LEAST_NS &&
           has_readers(d, stage);
}

/* Finds a range to copy although it is not slow, if nothing else can run and many workers of a service are idle. It is the range
 * that began last among stages whose tasks have all begun. The copy is given to an idle worker.
 *
 * A lost range is detected only at its deadline, and a slow range even later. A copy that begins now ends before a copy that
 * begins after such a detection (G. Ananthanarayanan et al., Effective Straggler Mitigation: Attack of the Clones, NSDI 2013).
 * Other stages must read the results of the range. The slower of the two copies then ends while these stages run, so the end of
 * the run does not wait for it. */
static in_flight *find_early(cb_driver *d)
{
    in_flight *newest = NULL;
    if (!d->a.backups || !d->ramp.at_once || d->busy >= EARLY_BUSY * d->a.workers) return NULL;
    const int64_t now = now_of(d);
    if (now < d->early_ns) return NULL;
    for (unsigned i = 0; i < d->fresh; i++) {
        in_flight *f = &d->flights[i];
        if (newest && f->given_ns <= newest->given_ns) continue;
        if (may_copy_early(d, f)) newest = f;
    }
    d->early_ns = now + (newest ? LOOK_NS / BACKUPS_PER_LOOK : LOOK_NS);
    return newest;
}

/* --- Overdue ranges ------------------------------------------------------------------------------------ */

/* A time in nanoseconds that is never reached. */
#define FOREVER_NS ((int64_t)1 << 61)

static int64_t nanoseconds(double ms)
{
    return ms < (double)FOREVER_NS / 1e6 ? (int64_t)(ms * 1e6) : FOREVER_NS;
}

/* Returns the maximum duration of a range of `ntasks` tasks. A task that exceeds its time limit may continue for the same time
 * again, but at most for CB_STUCK_NS (watchdog.h). */
static int64_t may_take_ns(const cb_driver *d, int64_t ntasks)
{
    const double limit = d->a.options->task_timeout_ms, stuck = CB_STUCK_NS / 1e6;
    int64_t most = d->a.most_ms ? nanoseconds(d->a.most_ms) : FOREVER_NS;
    if (limit > 0)
        most = cb_min_i64(most,
                          nanoseconds((double)ntasks * (limit + (limit < stuck ? limit : stuck))));
    return most;
}

static int64_t may_wait_ns(const cb_driver *d) { return nanoseconds(d->a.start_ms); }

/* Returns the deadline of a range that is submitted now. The deadline includes the time of the ranges that the worker must run
 * first. */
static int64_t due_ns(cb_driver *d, const in_flight *f)
{
    const int64_t own = may_take_ns(d, f->last - f->next);
    if (d->a.start_ms == 0 || own == FOREVER_NS) return INT64_MAX;
    d->most_ns = cb_max_i64(d->most_ns, own);
    const unsigned before = d->busy / d->a.workers;
    return f->given_ns + may_wait_ns(d) + own +
           nanoseconds((double)before * (double)d->most_ns / 1e6);
}

/* Returns true if the range should have ended by now. If any worker is idle, assumes that the worker of this range runs no other
 * range before it. */
static bool is_overdue(const cb_driver *d, const in_flight *f, int64_t now)
{
    if (!f->used || f->due_ns == INT64_MAX) return false;
    if (now >= f->due_ns) return true;
    return d->busy < d->a.workers && now - cb_max_i64(f->given_ns, d->calm_ns) >=
                                         may_wait_ns(d) + may_take_ns(d, f->last - f->first);
}

bool cb_driver_overdue(cb_driver *d, uint64_t *token, cubed_error *why)
{
    if (d->most_ns == 0) return false;
    const int64_t now = now_of(d);
    if (now < d->look_due_ns) return false;
    for (unsigned i = 0; i < d->fresh; i++) {
        const in_flight *f = &d->flights[i];
        if (!is_overdue(d, f, now)) continue;
        *token = token_of(i, f);
        *why = (cubed_error)CUBED_ERROR_INIT;
        (void)cb_fail(why, CUBED_E_IO,
                      "tasks %" PRId64 " to %" PRId64
                      " sent no report for %.3g s, which is longer than their time limit: they are "
                      "considered lost",
                      f->next, f->last - 1, (double)(now - f->given_ns) * 1e-9);
        why->os_errno = ETIMEDOUT;
        why->failure = CUBED_FAILURE_LOST;
        return true;
    }
    d->look_due_ns = now + LOOK_NS;
    return false;
}

static unsigned fly(cb_driver *d, in_flight f)
{
    f.given_ns = now_of(d);
    f.due_ns = due_ns(d, &f);
    const unsigned slot = take_slot(d);
    f.serial = d->flights[slot].serial + 1;
    f.first = f.next;
    d->flights[slot] = f;
    return slot;
}

static unsigned back_up(cb_driver *d, in_flight *worst, bool early)
{
    worst->early = early;
    in_flight twin = *worst;
    twin.twin = 1 + (uint32_t)(worst - d->flights);
    const unsigned slot = fly(d, twin);
    worst->twin = 1 + slot;
    d->backups += !early;
    d->a.stats->num_backups++;
    return slot;
}

/* Returns the number of workers that the ranges in flight occupy if each worker has its share of them. */
static unsigned busy_workers(const cb_driver *d)
{
    return (unsigned)((uint64_t)d->busy * d->a.workers / d->nflights);
}

static bool may_submit(cb_driver *d)
{
    if (d->busy == d->nflights) return false;
    /* Without a ramp, reads no clock, because this function is called for each range. */
    return d->ramp.at_once == 0 || cb_ramp_has_worker(&d->ramp, busy_workers(d), now_of(d));
}

cubed_status cb_driver_next(cb_driver *d, cubed_task_range *range, bool *got, cubed_error *err)
{
    in_flight f;
    *got = false;
    if (!may_submit(d)) return CUBED_OK;
    const unsigned waiting = d->nretries;
    CB_TRY(next_range(d, &f, err));
    const bool retried = d->nretries < waiting;
    in_flight *straggler = f.used ? NULL : find_straggler(d);
    in_flight *copied = f.used || straggler ? straggler : find_early(d);
    if (!f.used && !copied) return CUBED_OK;
    cb_ramp_submit(&d->ramp, busy_workers(d));
    const unsigned slot = copied ? back_up(d, copied, !straggler) : fly(d, f);
    const in_flight *given = &d->flights[slot];
    stage_state *s = &d->stages[given->stage];
    if (s->started == 0) {
        s->start_ns = now_of(d);
        emit_stage(d, CUBED_EVENT_STAGE_START, given->stage, s->start_ns);
    }
    if (!straggler && !retried) s->started += given->last - given->next;
    *range = (cubed_task_range){token_of(slot, given), given->stage, given->next, given->last};
    *got = true;
    return CUBED_OK;
}

/* --- Reports ------------------------------------------------------------------------------------------ */

static void count_done(cb_driver *d, int stage)
{
    d->ndone++;
    if (++d->stages[stage].done == d->p->stages[stage].ntasks)
        emit_stage(d, CUBED_EVENT_STAGE_END, stage, now_of(d));
}

static cubed_status task_done(cb_driver *d, int stage, const cubed_task_report *r, cubed_error *err)
{
    cubed_run_stats *stats = d->a.stats;
    cb_run_add_task(stats, r);
    uint64_t projected = function_projected(&d->p->stages[stage]);
    if (r->function_mem > projected && r->function_mem - projected > stats->function_excess) {
        stats->function_excess = r->function_mem - projected;
        stats->function_excess_stage = stage;
    }
    cb_ready_timed(d->ready, stage, r->end_ns - r->start_ns);
    CB_TRY(cb_ready_done(d->ready, stage, r->task, err));
    count_done(d, stage);
    return CUBED_OK;
}

/* Schedules a retry of a range. The pause before a retry doubles with each attempt, and has a random part. So tasks that
 * failed at the same time, for example because a store was overloaded, are not retried at the same time. */
static void put_retry(cb_driver *d, const in_flight *range, unsigned attempts, int64_t least_ns)
{
    const int64_t now = now_of(d), pause = FIRST_DELAY_NS << cb_min_i64(attempts, 10);
    uint64_t chance = ((uint64_t)now ^ (uint64_t)range->next << 20) * UINT64_C(0x9e3779b97f4a7c15);
    chance = (chance ^ chance >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32;
    const int64_t delay = pause / 2 + (int64_t)(chance % (uint64_t)pause);
    d->retries[d->nretries++] = (retry){*range, now + cb_max_i64(delay, least_ns)};
}

static cubed_status fail_run(const cb_driver *d, const in_flight *f, const cubed_task_report *r,
                             cubed_error *err)
{
    if (!err) return r->error.status;
    *err = r->error;
    err->failed_stage = f->stage + 1;
    err->failed_task = r->task;
    if (cubed_failure_of(err) == CUBED_FAILURE_MEMORY)
        cb_note(err,
                " (the task was projected to need %" PRIu64 " bytes, and %" PRIu64
                " were measured; it is not tried again with as much)",
                cb_plan_projected(d->p, &d->p->stages[f->stage]), r->measured_mem);
    cb_plan_say_origins(d->p, f->stage, err);
    return r->error.status;
}

/* Handles a failed task. `f` is a copy of the range, made when its first task failed. */
static cubed_status task_failed(cb_driver *d, const in_flight *f, const cubed_task_report *r,
                                cubed_error *err)
{
    const cubed_failure failure = cubed_failure_of(&r->error);
    const bool counts = failure != CUBED_FAILURE_PREEMPTED;
    if (!may_try_again(d, f, failure)) return fail_run(d, f, r, err);
    in_flight again = {.used = true,
                       .attempts = (uint8_t)(f->attempts + counts),
                       .preempted = (uint8_t)(f->preempted + !counts),
                       .stage = f->stage,
                       .next = r->task,
                       .last = f->last};
    const int64_t least = (int64_t)r->error.retry_after_ms * 1000000;
    /* Puts the tasks after the failed one into a separate range. So another worker may run them, and they do not fail with this
     * task. */
    if (f->last - r->task > 1 && d->nretries + 2 <= MAX_RETRIES) {
        in_flight rest = again;
        rest.attempts = rest.preempted = 0;
        rest.next = again.last = r->task + 1;
        put_retry(d, &rest, 0, least);
    }
    put_retry(d, &again, f->attempts, least);
    d->a.stats->num_retries++;
    return CUBED_OK;
}

static in_flight *find(cb_driver *d, uint64_t token)
{
    const uint32_t slot = (uint32_t)token;
    if (slot >= d->nflights || !d->flights[slot].used) return NULL;
    return d->flights[slot].serial == token >> 32 ? &d->flights[slot] : NULL;
}

/* Handles the end of a range. The range was completed, or failed. */
static void end_range(cb_driver *d, in_flight *f, in_flight *twin, bool failed)
{
    stage_state *s = &d->stages[f->stage];
    if (!f->early && (f->late || (twin && failed))) d->backups--;
    if (twin) {
        twin->twin = 0;
        twin->late = !failed;
        /* If one of two copies failed, the other one may be copied again before it is slow. */
        if (failed) twin->early = false;
    } else if (!failed && !f->late && d->a.backups) {
        count_duration(s, f->last - f->first, now_of(d) - f->given_ns);
    }
    release_slot(d, (unsigned)(f - d->flights));
}

cubed_status cb_driver_report(cb_driver *d, const cubed_task_report *r, cubed_error *err)
{
    in_flight *f = find(d, r->token);
    if (!f || r->task < f->next) return CUBED_OK;
    if (r->task > f->next)
        return cb_fail(err, CUBED_E_ARG,
                       "a report of task %" PRId64
                       " of stage %d arrived before the report of task %" PRId64,
                       r->task, f->stage, f->next);
    const bool failed = r->error.status != CUBED_OK;
    in_flight *twin = f->twin ? &d->flights[f->twin - 1] : NULL;
    const in_flight was = *f;
    cb_run_add_process(d->p, d->a.stats, r);
    if (!failed)
        cb_ramp_report(&d->ramp, r->worker,
                       (double)(r->end_ns - r->start_ns) * (double)(f->last - f->first));
    f->next++;
    f->attempts = f->preempted = 0;
    if (failed || f->next == f->last) end_range(d, f, twin, failed);
    count_time(d, &was, r);
    /* Ignore the report if the other copy of the range has already completed the task. */
    if (was.late || (twin && r->task < twin->next)) return CUBED_OK;
    const cubed_failure failure = cubed_failure_of(&r->error);
    if (r->error.status != CUBED_E_CANCELLED || failure == CUBED_FAILURE_PREEMPTED)
        emit_task(d, &was, r,
                  failed &&
                      ((twin && may_be_transient(failure)) || may_try_again(d, &was, failure)));
    if (!failed) return task_done(d, was.stage, r, err);
    /* the other copy of the range continues, so no retry is needed */
    if (twin && may_be_transient(failure)) {
        d->a.stats->num_retries++;
        return CUBED_OK;
    }
    return task_failed(d, &was, r, err);
}

cubed_status cb_driver_lose(cb_driver *d, uint64_t token, const cubed_error *why, cubed_error *err)
{
    const in_flight *f = find(d, token);
    cubed_task_report r = {.token = token, .error = *why};
    if (!f) return CUBED_OK;
    r.task = f->next;
    r.start_ns = r.end_ns = now_of(d);
    return cb_driver_report(d, &r, err);
}

cubed_status cb_driver_cancelled(const cb_driver *d, cubed_error *err)
{
    return cb_fail(err, CUBED_E_CANCELLED, "interrupted after %" PRId64 " of %" PRId64 " tasks",
                   d->ndone, d->ntasks);
}

/* Handles a task that an earlier run completed. */
static cubed_status task_resumed(void *ctx, int stage, int64_t task, cubed_error *err)
{
    cb_driver *d = ctx;
    const cubed_cancel *cancel = d->a.options->cancel;
    cubed_event e = {
        .kind = CUBED_EVENT_TASK_RESUMED, .time_ns = now_of(d), .stage = stage, .task = task};
    if (cubed_cancel_is_set(cancel)) return cb_driver_cancelled(d, err);
    CB_TRY(cb_io_beat(d->a.io, err));
    emit(d, &e);
    d->a.stats->num_resumed++;
    count_done(d, stage);
    return CUBED_OK;
}

/* --- Beginning and end of a run ------------------------------------------------------------------------- */

bool cb_driver_is_over(const cb_driver *d) { return d->ndone == d->ntasks; }

unsigned cb_driver_in_flight(const cb_driver *d) { return d->busy; }

unsigned cb_driver_waiting(const cb_driver *d) { return d->nretries; }

void cb_driver_end(const cb_driver *d, cubed_status st, const cubed_error *why)
{
    cubed_error full = *why;
    full.status = st;
    emit_plan(d, CUBED_EVENT_PLAN_END, st == CUBED_OK ? NULL : &full);
}

cubed_status cb_driver_new(const cb_driver_args *args, cb_driver **out, cubed_error *err)
{
    const cubed_allocator *alloc = &args->plan->ctx->alloc;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st;
    cb_driver *d = cb_alloc_zero(alloc, sizeof *d);
    if (!d) return cb_fail(err, CUBED_E_NOMEM, "no memory for the driver of a run");
    d->a = *args;
    d->p = args->plan;
    d->alloc = alloc;
    d->released = -1;
    d->start_ns = now_of(d);
    cb_ramp_begin(&d->ramp, args->workers, args->ramp_workers, args->ramp_per_second, d->start_ns);
    const cb_ready_args ready = {.plan = args->plan,
                                 .chunks = cb_io_chunks(args->io),
                                 .workers = args->workers,
                                 .range_ms = args->range_ms,
                                 .most_tasks = args->most_tasks,
                                 .window = args->window ? args->window : CB_RUN_WINDOW,
                                 .notes = args->notes,
                                 .cancel = args->options->cancel,
                                 .resumed = args->options->resume || args->notes ||
                                                    cb_chunks_updates(cb_io_chunks(args->io))
                                                ? task_resumed
                                                : NULL,
                                 .ctx = d};
    emit_plan(d, CUBED_EVENT_PLAN_START, NULL);
    CB_GO(make_tables(d, &why));
    CB_GO(cb_ready_new(&ready, &d->ready, &why));
    *out = d;
    return CUBED_OK;
out:
    cb_driver_end(d, st, &why);
    if (err) *err = why;
    cb_driver_free(d);
    return st;
}

void cb_driver_free(cb_driver *d)
{
    if (!d) return;
    cb_ready_free(d->ready);
    cb_free(d->alloc, d->stages, (size_t)d->p->nstages * sizeof *d->stages);
    cb_free(d->alloc, d->flights, d->nflights * sizeof *d->flights);
    cb_free(d->alloc, d->retries, max_retries(d) * sizeof *d->retries);
    cb_free(d->alloc, d, sizeof *d);
}
