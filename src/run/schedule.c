/* The driver: hands tasks that may run (ready.c) to the executor, and hears what became of them.
 *
 * What it keeps of tasks is one record for each range in flight, or to be tried again. */
#include "run/schedule.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "exec/operator.h"
#include "run/ready.h"

#define POLL_MS        50
#define FIRST_DELAY_NS ((int64_t)50000000)
/* While so many ranges wait to be tried again no others are begun. */
#define MAX_RETRIES 256

typedef struct stage_state {
    int64_t done, started;
    int64_t start_ns;
} stage_state;

_Static_assert(sizeof(stage_state) + 32 <= CB_RUN_STAGE_BYTES, "what a run keeps of a stage");

/* Of a range the first task that has not reported may have failed before. */
typedef struct in_flight {
    bool used;
    uint8_t attempts; /* of task `next` that failed, no more than may be asked for */
    int stage;
    int64_t next, last; /* tasks that have not reported */
} in_flight;

/* A range whose first task failed, to be run again at a time. */
typedef struct retry {
    in_flight range;
    int64_t due_ns;
} retry;

typedef struct driver {
    const cb_schedule_args *a;
    cubed_plan *p;
    const cubed_allocator *alloc;
    int64_t ntasks, ndone;
    stage_state *stages;
    cb_ready *ready;
    in_flight *flights; /* one per slot: the token */
    retry *retries;     /* MAX_RETRIES, and one per slot */
    unsigned nflights, nretries, busy;
    int64_t start_ns;
} driver;

/* --- Events ------------------------------------------------------------------------------------------- */

static void emit(const driver *d, const cubed_event *e)
{
    cubed_event full = *e;
    if (!d->a->options->on_event) return;
    full.intermediate_mem = cb_chunks_intermediates(cb_io_chunks(d->a->io))->used;
    d->a->options->on_event(d->a->options->event_ctx, &full);
}

static void emit_plan(const driver *d, cubed_event_kind kind, cubed_status status,
                      const char *message)
{
    int64_t now = cb_clock_ns();
    cubed_event e = {.kind = kind,
                     .time_ns = now,
                     .stage = -1,
                     .task = -1,
                     .status = status,
                     .message = message};
    if (kind == CUBED_EVENT_PLAN_END) e.duration_ns = now - d->start_ns;
    emit(d, &e);
}

static void emit_stage(const driver *d, cubed_event_kind kind, int stage, int64_t time_ns)
{
    cubed_event e = {.kind = kind, .time_ns = time_ns, .stage = stage, .task = -1};
    if (kind == CUBED_EVENT_STAGE_END) e.duration_ns = time_ns - d->stages[stage].start_ns;
    emit(d, &e);
}

/* What of a task's projection is for a user's function. */
static uint64_t function_projected(const cb_stage *s)
{
    return cb_stage_code(s) ? s->call->need.library : 0;
}

static void emit_task(const driver *d, int stage, unsigned attempt, const cubed_task_report *r)
{
    const cb_stage *s = &d->p->stages[stage];
    cubed_event e = {.kind = CUBED_EVENT_TASK_START,
                     .time_ns = r->start_ns,
                     .stage = stage,
                     .task = r->task,
                     .worker = r->worker,
                     .coop = r->coop,
                     .attempt = attempt};
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
    e.function_projected = function_projected(&d->p->stages[stage]);
    e.projected_mem = s->need.arena + s->need.library;
    e.status = r->error.status;
    e.message = r->error.status == CUBED_OK ? NULL : r->error.message;
    emit(d, &e);
}

/* --- Submitting --------------------------------------------------------------------------------------- */

static void *table(const driver *d, size_t n, size_t size, cubed_error *err, cubed_status *st)
{
    void *p = cb_alloc_zero(d->alloc, n * size);
    if (!p) *st = cb_fail(err, CUBED_E_NOMEM, "no memory for a schedule of %zu entries", n);
    return p;
}

static size_t max_retries(const driver *d) { return (size_t)d->nflights + MAX_RETRIES; }

static cubed_status make_tables(driver *d, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    for (int i = 0; i < d->p->nstages; i++) {
        if (cb_add_i64(d->ntasks, d->p->stages[i].ntasks, &d->ntasks))
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the plan has more tasks than can be counted: choose larger chunks");
    }
    const cubed_executor *ex = d->a->executor;
    const unsigned most = ex->vt->caps.max_in_flight;
    d->nflights = most && most < ex->slots ? most : ex->slots;
    d->stages = table(d, (size_t)d->p->nstages, sizeof *d->stages, err, &st);
    if (st == CUBED_OK) d->flights = table(d, d->nflights, sizeof *d->flights, err, &st);
    if (st == CUBED_OK) d->retries = table(d, max_retries(d), sizeof *d->retries, err, &st);
    return st;
}

static bool take_retry(driver *d, in_flight *range)
{
    int64_t now = d->nretries ? cb_clock_ns() : 0;
    for (unsigned i = 0; i < d->nretries; i++) {
        if (d->retries[i].due_ns > now) continue;
        *range = d->retries[i].range;
        d->retries[i] = d->retries[--d->nretries];
        return true;
    }
    return false;
}

/* The next range to run: a retry that is due, else tasks that are ready. */
static cubed_status next_range(driver *d, in_flight *range, cubed_error *err)
{
    *range = (in_flight){.used = false};
    if (take_retry(d, range)) return CUBED_OK;
    if (d->nretries >= MAX_RETRIES) return CUBED_OK;
    CB_TRY(cb_ready_take(d->ready, &range->stage, &range->next, &range->last, err));
    range->used = range->next < range->last;
    return CUBED_OK;
}

static cubed_status submit_ready(driver *d, cubed_error *err)
{
    while (d->busy < d->nflights) {
        in_flight f;
        unsigned slot = 0;
        CB_TRY(next_range(d, &f, err));
        if (!f.used) return CUBED_OK;
        while (d->flights[slot].used) slot++;
        d->flights[slot] = f;
        d->busy++;
        stage_state *s = &d->stages[f.stage];
        if (s->started == 0) {
            s->start_ns = cb_clock_ns();
            emit_stage(d, CUBED_EVENT_STAGE_START, f.stage, s->start_ns);
        }
        s->started += f.last - f.next;
        const cubed_task_range range = {slot, f.stage, f.next, f.last};
        CB_TRY(d->a->executor->vt->submit(d->a->executor, &range, err));
    }
    return CUBED_OK;
}

/* --- Reports ------------------------------------------------------------------------------------------ */

static void count_done(driver *d, int stage)
{
    d->ndone++;
    if (++d->stages[stage].done == d->p->stages[stage].ntasks)
        emit_stage(d, CUBED_EVENT_STAGE_END, stage, cb_clock_ns());
}

static cubed_status task_done(driver *d, int stage, const cubed_task_report *r, cubed_error *err)
{
    cubed_run_stats *stats = d->a->stats;
    cb_run_add_task(stats, r);
    uint64_t projected = function_projected(&d->p->stages[stage]);
    if (r->function_mem > projected && r->function_mem - projected > stats->function_excess) {
        stats->function_excess = r->function_mem - projected;
        stats->function_excess_stage = stage;
    }
    CB_TRY(cb_ready_done(d->ready, stage, r->task, err));
    count_done(d, stage);
    return CUBED_OK;
}

static cubed_status task_failed(driver *d, const in_flight *f, unsigned attempts,
                                const cubed_task_report *r, cubed_error *err)
{
    const bool again_here = !d->a->executor->vt->caps.retries_itself;
    if (!again_here || !r->error.transient || (int)attempts >= d->a->options->retries) {
        if (err) *err = r->error;
        cb_plan_say_origins(d->p, f->stage, err);
        return r->error.status;
    }
    const int64_t delay = cb_max_i64(FIRST_DELAY_NS << cb_min_i64(attempts, 10),
                                     (int64_t)r->error.retry_after_ms * 1000000);
    const in_flight again = {.used = true,
                             .attempts = (uint8_t)(attempts + 1),
                             .stage = f->stage,
                             .next = r->task,
                             .last = f->last};
    d->retries[d->nretries++] = (retry){again, cb_clock_ns() + delay};
    d->a->stats->num_retries++;
    return CUBED_OK;
}

static cubed_status take_report(driver *d, const cubed_task_report *r, cubed_error *err)
{
    in_flight *f = &d->flights[r->token];
    const unsigned attempts = f->attempts;
    CB_CHECK(f->used && r->task == f->next, err);
    bool failed = r->error.status != CUBED_OK;
    f->next++;
    f->attempts = 0;
    if (failed || f->next == f->last) {
        f->used = false;
        d->busy--;
    }
    if (r->error.status != CUBED_E_CANCELLED) emit_task(d, f->stage, attempts, r);
    return failed ? task_failed(d, f, attempts, r, err) : task_done(d, f->stage, r, err);
}

static cubed_status cancelled(const driver *d, cubed_error *err)
{
    return cb_fail(err, CUBED_E_CANCELLED, "interrupted after %" PRId64 " of %" PRId64 " tasks",
                   d->ndone, d->ntasks);
}

/* A task that an earlier run has done. */
static cubed_status task_resumed(void *ctx, int stage, int64_t task, cubed_error *err)
{
    driver *d = ctx;
    const cubed_cancel *cancel = d->a->options->cancel;
    cubed_event e = {
        .kind = CUBED_EVENT_TASK_RESUMED, .time_ns = cb_clock_ns(), .stage = stage, .task = task};
    if (cubed_cancel_is_set(cancel)) return cancelled(d, err);
    cb_io_beat(d->a->io);
    emit(d, &e);
    d->a->stats->num_resumed++;
    count_done(d, stage);
    return CUBED_OK;
}

static cubed_status loop(driver *d, cubed_error *err)
{
    const cubed_cancel *cancel = d->a->options->cancel;
    while (d->ndone < d->ntasks) {
        cubed_task_report report;
        bool got;
        if (cubed_cancel_is_set(cancel)) return cancelled(d, err);
        CB_TRY(submit_ready(d, err));
        if (d->busy == 0) {
            if (d->ndone == d->ntasks) break; /* an earlier run had done what was left */
            CB_CHECK(d->nretries > 0, err);   /* else tasks wait for each other */
            cb_sleep_ns(FIRST_DELAY_NS / 10);
            continue;
        }
        CB_TRY(d->a->executor->vt->poll(d->a->executor, POLL_MS, &report, &got, err));
        cb_io_beat(d->a->io);
        if (!got) continue;
        cubed_status st = take_report(d, &report, err);
        if (st == CUBED_E_CANCELLED) { /* a function may have done it */
            uint64_t raised = report.error.raised;
            st = cancelled(d, err);
            if (err) err->raised = raised;
        }
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

static void release(driver *d)
{
    cb_ready_free(d->ready);
    cb_free(d->alloc, d->stages, (size_t)d->p->nstages * sizeof *d->stages);
    cb_free(d->alloc, d->flights, d->nflights * sizeof *d->flights);
    cb_free(d->alloc, d->retries, max_retries(d) * sizeof *d->retries);
}

cubed_status cb_schedule_run(const cb_schedule_args *args, cubed_error *err)
{
    driver d = {
        .a = args, .p = args->plan, .alloc = &args->plan->ctx->alloc, .start_ns = cb_clock_ns()};
    const cb_ready_args ready = {.plan = args->plan,
                                 .chunks = cb_io_chunks(args->io),
                                 .workers = args->executor->workers,
                                 .window = args->window ? args->window : CB_RUN_WINDOW,
                                 .cancel = args->options->cancel,
                                 .resumed = args->options->resume ? task_resumed : NULL,
                                 .ctx = &d};
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st;
    emit_plan(&d, CUBED_EVENT_PLAN_START, CUBED_OK, NULL);
    CB_GO(make_tables(&d, &why));
    CB_GO(cb_ready_new(&ready, &d.ready, &why));
    CB_GO(loop(&d, &why));
out:
    emit_plan(&d, CUBED_EVENT_PLAN_END, st, st == CUBED_OK ? NULL : why.message);
    if (st != CUBED_OK && err) *err = why;
    release(&d);
    return st;
}
