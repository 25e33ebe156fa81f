/* Chunks flow: a task may run as soon as the intermediate chunks that it reads exist. There are no
 * barriers between stages.
 *
 * Invariants:
 *  - waiting[t] is the number of reads of task t whose chunk has not been written yet; a task is
 *    handed to the executor once, when it is 0 (again after a retry).
 *  - Every read of an intermediate chunk is one edge, also when a task reads a chunk twice; a chunk
 *    is freed when as many reads are done as it has edges.
 *  - Ready tasks of later stages go first: they free what earlier ones keep. */
#include "runtime/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

/* More reads of intermediate chunks than this are not kept track of one by one; nor more tasks. */
#define MAX_EDGES ((uint32_t)1 << 28)
#define MAX_TASKS ((int64_t)UINT32_MAX)
/* Tasks of less work than this are handed over together. */
#define RANGE_BYTES    ((uint64_t)1 << 20)
#define RANGE_TASKS    32
#define POLL_MS        50
#define FIRST_DELAY_NS ((int64_t)50000000)

typedef struct stage_state {
    int64_t base; /* number of its first task among all */
    int64_t done, started;
    uint32_t *ready; /* tasks of this stage that may run: a queue */
    int64_t head, tail;
    int64_t batch; /* tasks to a range */
    int64_t start_ns;
} stage_state;

/* Chunks of a stored array and the tasks that read them. Without tables: nobody does. */
typedef struct chunk_readers {
    int64_t nchunks;
    uint32_t *first; /* nchunks + 1: edges of chunk c are first[c]..first[c+1]-1 */
    uint32_t *fill;  /* nchunks: where the next edge of c goes, while they are collected */
} chunk_readers;

_Static_assert(sizeof(stage_state) <= CB_RUN_STAGE_BYTES, "what a run keeps of a stage");

typedef struct in_flight {
    bool used;
    int stage;
    int64_t next, last; /* tasks that have not reported */
} in_flight;

/* Tasks that failed, to be run again at a time. */
typedef struct retry {
    int stage;
    int64_t first, last;
    int64_t due_ns;
} retry;

typedef struct driver {
    const cb_schedule_args *a;
    cubed_plan *p;
    const cubed_allocator *alloc;
    int64_t ntasks, ndone;
    stage_state *stages;
    int latest; /* no stage behind this one has tasks that are ready */
    uint32_t *waiting;
    chunk_readers *readers; /* one per node */
    uint32_t *edges;        /* task numbers */
    uint32_t nedges;
    in_flight *flights; /* one per slot: the token */
    unsigned nflights;
    retry *retries;
    unsigned nretries, retry_cap;
    uint8_t *attempts; /* per task */
    bool *resumed;     /* per task, in a run that resumes another one: it need not run */
    uint32_t *queue;   /* memory of the ready queues */
    int64_t start_ns;
} driver;

/* --- Events ------------------------------------------------------------------------------------------- */

static void emit(const driver *d, const cubed_event *e)
{
    cubed_event full = *e;
    if (!d->a->options->on_event) return;
    full.tier_mem = cb_io_tier(d->a->io)->used;
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
    return s->call && s->call->fn->code ? s->call->need.library : 0;
}

static void emit_task(driver *d, int stage, const cubed_task_report *r)
{
    const cb_stage *s = &d->p->stages[stage];
    unsigned attempt = d->attempts[d->stages[stage].base + r->task];
    cubed_event e = {.kind = CUBED_EVENT_TASK_START,
                     .time_ns = r->start_ns,
                     .stage = stage,
                     .task = r->task,
                     .worker = r->worker,
                     .team = r->team,
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

/* --- Who reads what ----------------------------------------------------------------------------------- */

typedef struct read_walk {
    driver *d;
    int64_t task; /* among all */
    enum { COUNT, FILL, RELEASE } what;
} read_walk;

static void *table(driver *d, size_t n, size_t size, cubed_error *err, cubed_status *st)
{
    size_t bytes;
    void *p = cb_mul_size(n ? n : 1, size, &bytes) ? NULL : cb_alloc_zero(d->alloc, bytes);
    if (!p) *st = cb_fail(err, CUBED_E_NOMEM, "no memory for a schedule of %zu entries", n);
    return p;
}

static cubed_status walk_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    read_walk *w = ctx;
    driver *d = w->d;
    const cb_node *n = &d->p->ir.nodes[node];
    if (!n->stored) return CUBED_OK;
    chunk_readers *r = &d->readers[node];
    int64_t idx[CUBED_MAX_NDIM];
    cubed_status st = CUBED_OK;
    if (!r->fill && w->what == COUNT) {
        r->nchunks = cb_grid_count(&n->grid);
        r->fill = table(d, (size_t)r->nchunks, sizeof *r->fill, err, &st);
        if (st != CUBED_OK) return st;
    }
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        int64_t c = cb_grid_ravel(&n->grid, idx);
        switch (w->what) {
        case COUNT:
            r->fill[c]++;
            d->waiting[w->task]++;
            if (++d->nedges > MAX_EDGES)
                return cb_fail(err, CUBED_E_UNSUPPORTED,
                               "the plan's tasks read intermediate chunks more than %" PRIu32
                               " times: choose larger chunks",
                               MAX_EDGES);
            break;
        case FILL: d->edges[r->fill[c]++] = (uint32_t)w->task; break;
        case RELEASE:
            if (!n->is_target) cb_io_release(d->a->io, node, c);
            break;
        }
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

static cubed_status walk_all(driver *d, int what, cubed_error *err)
{
    read_walk w = {.d = d, .what = what};
    for (int i = 0; i < d->p->nstages; i++) {
        const cb_stage *s = &d->p->stages[i];
        for (int64_t t = 0; t < s->ntasks; t++) {
            w.task = d->stages[i].base + t;
            CB_TRY(cb_stage_task_reads(d->p, s, t, walk_chunks, &w, err));
        }
    }
    return CUBED_OK;
}

static void free_fill(const driver *d, chunk_readers *r)
{
    cb_free(d->alloc, r->fill, (size_t)(r->nchunks ? r->nchunks : 1) * sizeof *r->fill);
    r->fill = NULL;
}

static cubed_status make_edges(driver *d, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    d->readers = table(d, (size_t)d->p->ir.nnodes, sizeof *d->readers, err, &st);
    if (st != CUBED_OK) return st;
    CB_TRY(walk_all(d, COUNT, err));
    d->edges = table(d, (size_t)d->nedges, sizeof *d->edges, err, &st);
    if (st != CUBED_OK) return st;
    uint32_t at = 0;
    for (int i = 0; i < d->p->ir.nnodes; i++) {
        chunk_readers *r = &d->readers[i];
        if (!r->fill) continue;
        r->first = table(d, (size_t)r->nchunks + 1, sizeof *r->first, err, &st);
        if (st != CUBED_OK) return st;
        for (int64_t c = 0; c < r->nchunks; c++) {
            uint32_t count = r->fill[c];
            if (cb_node_is_intermediate(&d->p->ir.nodes[i]))
                cb_io_set_readers(d->a->io, i, c, count);
            r->first[c] = r->fill[c] = at;
            at += count;
        }
        r->first[r->nchunks] = at;
    }
    CB_TRY(walk_all(d, FILL, err));
    for (int i = 0; i < d->p->ir.nnodes; i++) free_fill(d, &d->readers[i]);
    return CUBED_OK;
}

/* --- Ready tasks -------------------------------------------------------------------------------------- */

static int stage_of(const driver *d, int64_t task)
{
    int lo = 0, hi = d->p->nstages - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (d->stages[mid].base <= task)
            lo = mid;
        else
            hi = mid - 1;
    }
    /* Stages without tasks have the base of the next one. */
    while (d->p->stages[lo].ntasks == 0) lo--;
    return lo;
}

static void make_ready(driver *d, int64_t task)
{
    if (d->resumed && d->resumed[task]) return;
    int stage = stage_of(d, task);
    stage_state *s = &d->stages[stage];
    if (stage > d->latest) d->latest = stage;
    s->ready[s->tail++] = (uint32_t)(task - s->base);
}

static cubed_status make_stages(driver *d, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    d->stages = table(d, (size_t)d->p->nstages, sizeof *d->stages, err, &st);
    if (st != CUBED_OK) return st;
    for (int i = 0; i < d->p->nstages; i++) {
        const cb_stage *s = &d->p->stages[i];
        d->stages[i].base = d->ntasks;
        if (cb_add_i64(d->ntasks, s->ntasks, &d->ntasks) || d->ntasks > MAX_TASKS)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the plan has more than %" PRId64 " tasks: choose larger chunks",
                           MAX_TASKS);
        if (s->ntasks == 0) continue;
        uint64_t each = cb_sat_add(s->bytes_read, s->bytes_written) / (uint64_t)s->ntasks;
        int64_t batch = (int64_t)(RANGE_BYTES / (each + 1)) + 1;
        int64_t share = s->ntasks / (4 * (int64_t)d->a->executor->workers);
        /* Nobody knows how long a user's function takes. */
        if (s->call && s->call->fn->code) batch = 1;
        if (s->team > 1) batch = 1;
        d->stages[i].batch = cb_max_i64(1, cb_min_i64(cb_min_i64(batch, RANGE_TASKS), share));
    }
    d->waiting = table(d, (size_t)d->ntasks, sizeof *d->waiting, err, &st);
    if (st == CUBED_OK) d->attempts = table(d, (size_t)d->ntasks, 1, err, &st);
    if (st == CUBED_OK) d->queue = table(d, (size_t)d->ntasks, sizeof *d->queue, err, &st);
    if (st != CUBED_OK) return st;
    for (int i = 0; i < d->p->nstages; i++) d->stages[i].ready = d->queue + d->stages[i].base;
    d->nflights = d->a->executor->slots;
    d->flights = table(d, d->nflights, sizeof *d->flights, err, &st);
    return st;
}

/* The next range to run: a retry that is due, else ready tasks of the latest stage. */
static bool next_range(driver *d, cubed_task_range *range)
{
    int64_t now = d->nretries ? cb_clock_ns() : 0;
    for (unsigned i = 0; i < d->nretries; i++) {
        retry r = d->retries[i];
        if (r.due_ns > now) continue;
        d->retries[i] = d->retries[--d->nretries];
        *range = (cubed_task_range){0, r.stage, r.first, r.last};
        return true;
    }
    for (; d->latest >= 0; d->latest--) {
        int i = d->latest;
        stage_state *s = &d->stages[i];
        if (s->head == s->tail) continue;
        int64_t first = s->ready[s->head++], last = first + 1;
        while (s->head < s->tail && last - first < s->batch && s->ready[s->head] == last) {
            s->head++;
            last++;
        }
        *range = (cubed_task_range){0, i, first, last};
        return true;
    }
    return false;
}

static cubed_status submit_ready(driver *d, unsigned *busy, cubed_error *err)
{
    while (*busy < d->nflights) {
        cubed_task_range range;
        if (!next_range(d, &range)) return CUBED_OK;
        unsigned slot = 0;
        while (d->flights[slot].used) slot++;
        range.token = slot;
        d->flights[slot] = (in_flight){true, range.stage, range.first, range.last};
        ++*busy;
        stage_state *s = &d->stages[range.stage];
        if (s->started == 0) {
            s->start_ns = cb_clock_ns();
            emit_stage(d, CUBED_EVENT_STAGE_START, range.stage, s->start_ns);
        }
        s->started += range.last - range.first;
        CB_TRY(d->a->executor->vt->submit(d->a->executor, &range, err));
    }
    return CUBED_OK;
}

/* --- Reports ------------------------------------------------------------------------------------------ */

static cubed_status wake_readers(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    driver *d = ctx;
    const chunk_readers *r = &d->readers[node];
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    if (!r->first) return CUBED_OK;
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        int64_t c = cb_grid_ravel(&d->p->ir.nodes[node].grid, idx);
        for (uint32_t e = r->first[c]; e < r->first[c + 1]; e++) {
            if (--d->waiting[d->edges[e]] == 0) make_ready(d, d->edges[e]);
        }
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Its chunks exist, or nobody needs them any more. */
static cubed_status finish_task(driver *d, int stage, int64_t task, cubed_error *err)
{
    const cb_stage *s = &d->p->stages[stage];
    read_walk w = {.d = d, .task = d->stages[stage].base + task, .what = RELEASE};
    CB_TRY(cb_stage_task_writes(d->p, s, task, wake_readers, d, err));
    CB_TRY(cb_stage_task_reads(d->p, s, task, walk_chunks, &w, err));
    d->ndone++;
    if (++d->stages[stage].done == s->ntasks)
        emit_stage(d, CUBED_EVENT_STAGE_END, stage, cb_clock_ns());
    return CUBED_OK;
}

static cubed_status task_done(driver *d, int stage, const cubed_task_report *r, cubed_error *err)
{
    cubed_run_stats *stats = d->a->stats;
    stats->num_tasks++;
    stats->bytes_read += r->bytes_read;
    stats->bytes_written += r->bytes_written;
    stats->stored_read += r->stored_read;
    stats->stored_written += r->stored_written;
    if (r->measured_mem > stats->measured_mem) stats->measured_mem = r->measured_mem;
    if (r->function_mem > stats->function_mem) stats->function_mem = r->function_mem;
    if (r->cache_peak > stats->cache_peak) stats->cache_peak = r->cache_peak;
    uint64_t projected = function_projected(&d->p->stages[stage]);
    if (r->function_mem > projected && r->function_mem - projected > stats->function_excess) {
        stats->function_excess = r->function_mem - projected;
        stats->function_excess_stage = stage;
    }
    return finish_task(d, stage, r->task, err);
}

/* --- Resuming ----------------------------------------------------------------------------------------- */

/* Clears *ctx's task's mark if one of these chunks must be made. */
static cubed_status look_for_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    read_walk *w = ctx;
    driver *d = w->d;
    const cb_node *n = &d->p->ir.nodes[node];
    const chunk_readers *r = &d->readers[node];
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        int64_t c = cb_grid_ravel(&n->grid, idx);
        bool found;
        CB_TRY(cb_io_find_whole(d->a->io, node, c, &found, err));
        if (found) continue;
        bool wanted = !cb_node_is_intermediate(n);
        for (uint32_t e = r->first ? r->first[c] : 0; r->first && e < r->first[c + 1]; e++)
            wanted = wanted || !d->resumed[d->edges[e]];
        if (wanted) d->resumed[w->task] = false;
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Finds out which tasks an earlier run has done, from the last stage up: an intermediate's chunk
 * that is gone is wanted only if one of its readers has to run. */
static cubed_status find_resumed(driver *d, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    d->resumed = table(d, (size_t)d->ntasks, sizeof *d->resumed, err, &st);
    if (st != CUBED_OK) return st;
    memset(d->resumed, true, (size_t)d->ntasks * sizeof *d->resumed);
    for (int i = d->p->nstages - 1; i >= 0; i--) {
        const cb_stage *s = &d->p->stages[i];
        for (int64_t t = 0; t < s->ntasks; t++) {
            read_walk w = {.d = d, .task = d->stages[i].base + t};
            CB_TRY(cb_stage_task_writes(d->p, s, t, look_for_chunks, &w, err));
        }
    }
    return CUBED_OK;
}

static cubed_status skip_resumed(driver *d, cubed_error *err)
{
    for (int i = 0; i < d->p->nstages; i++) {
        for (int64_t t = 0; t < d->p->stages[i].ntasks; t++) {
            if (!d->resumed[d->stages[i].base + t]) continue;
            cubed_event e = {
                .kind = CUBED_EVENT_TASK_RESUMED, .time_ns = cb_clock_ns(), .stage = i, .task = t};
            emit(d, &e);
            d->a->stats->num_resumed++;
            CB_TRY(finish_task(d, i, t, err));
        }
    }
    return CUBED_OK;
}

/* Errors that may pass: a read or write that failed, but not for lack of space or permission. */
static bool may_pass(const cubed_error *e)
{
    static const int final[] = {ENOSPC, EFBIG, EROFS, EACCES, EPERM, EDQUOT};
    if (e->status != CUBED_E_IO) return false;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (e->os_errno == final[i]) return false;
    }
    return true;
}

static cubed_status task_failed(driver *d, int stage, const in_flight *f,
                                const cubed_task_report *r, cubed_error *err)
{
    uint8_t *attempts = &d->attempts[d->stages[stage].base + r->task];
    /* They are counted in a byte; so many take hours. */
    if (!may_pass(&r->error) || *attempts == UINT8_MAX || *attempts >= d->a->options->retries) {
        if (err) *err = r->error;
        cb_plan_say_origins(d->p, stage, err);
        return r->error.status;
    }
    if (d->nretries == d->retry_cap) {
        unsigned cap = d->retry_cap ? 2 * d->retry_cap : 8;
        retry *wider =
            cb_resize(d->alloc, d->retries, d->retry_cap * sizeof *wider, cap * sizeof *wider);
        if (!wider) return cb_fail(err, CUBED_E_NOMEM, "no memory to retry a task");
        d->retries = wider;
        d->retry_cap = cap;
    }
    int64_t delay = FIRST_DELAY_NS << cb_min_i64(*attempts, 10);
    d->retries[d->nretries++] = (retry){stage, r->task, f->last, cb_clock_ns() + delay};
    ++*attempts;
    d->a->stats->num_retries++;
    return CUBED_OK;
}

static cubed_status take_report(driver *d, const cubed_task_report *r, unsigned *busy,
                                cubed_error *err)
{
    in_flight *f = &d->flights[r->token];
    int stage = f->stage;
    CB_CHECK(f->used && r->task == f->next, err);
    bool failed = r->error.status != CUBED_OK;
    f->next++;
    if (failed || f->next == f->last) {
        f->used = false;
        --*busy;
    }
    if (r->error.status != CUBED_E_CANCELLED) emit_task(d, stage, r);
    return failed ? task_failed(d, stage, f, r, err) : task_done(d, stage, r, err);
}

static cubed_status cancelled(const driver *d, cubed_error *err)
{
    return cb_fail(err, CUBED_E_CANCELLED, "interrupted after %" PRId64 " of %" PRId64 " tasks",
                   d->ndone, d->ntasks);
}

static cubed_status loop(driver *d, cubed_error *err)
{
    unsigned busy = 0;
    const cubed_cancel *cancel = d->a->options->cancel;
    while (d->ndone < d->ntasks) {
        cubed_task_report report;
        bool got;
        if (cubed_cancel_is_set(cancel)) return cancelled(d, err);
        CB_TRY(submit_ready(d, &busy, err));
        if (busy == 0) {
            CB_CHECK(d->nretries > 0, err); /* else tasks wait for each other */
            cb_sleep_ns(FIRST_DELAY_NS / 10);
            continue;
        }
        CB_TRY(d->a->executor->vt->poll(d->a->executor, POLL_MS, &report, &got, err));
        cb_io_beat(d->a->io);
        if (!got) continue;
        cubed_status st = take_report(d, &report, &busy, err);
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
    const cubed_allocator *a = d->alloc;
    for (int i = 0; d->readers && i < d->p->ir.nnodes; i++) {
        chunk_readers *r = &d->readers[i];
        cb_free(a, r->first, ((size_t)r->nchunks + 1) * sizeof *r->first);
        free_fill(d, r);
    }
    size_t ntasks = (size_t)(d->ntasks ? d->ntasks : 1);
    cb_free(a, d->readers, (size_t)(d->p->ir.nnodes ? d->p->ir.nnodes : 1) * sizeof *d->readers);
    cb_free(a, d->edges, (size_t)(d->nedges ? d->nedges : 1) * sizeof *d->edges);
    cb_free(a, d->stages, (size_t)(d->p->nstages ? d->p->nstages : 1) * sizeof *d->stages);
    cb_free(a, d->waiting, ntasks * sizeof *d->waiting);
    cb_free(a, d->attempts, ntasks);
    cb_free(a, d->resumed, ntasks * sizeof *d->resumed);
    cb_free(a, d->queue, ntasks * sizeof *d->queue);
    cb_free(a, d->flights, d->nflights * sizeof *d->flights);
    cb_free(a, d->retries, d->retry_cap * sizeof *d->retries);
}

cubed_status cb_schedule_run(const cb_schedule_args *args, cubed_error *err)
{
    driver d = {
        .a = args, .p = args->plan, .alloc = &args->plan->ctx->alloc, .start_ns = cb_clock_ns()};
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st;
    emit_plan(&d, CUBED_EVENT_PLAN_START, CUBED_OK, NULL);
    CB_GO(make_stages(&d, &why));
    CB_GO(make_edges(&d, &why));
    if (args->options->resume) CB_GO(find_resumed(&d, &why));
    for (int64_t t = 0; t < d.ntasks; t++) {
        if (d.waiting[t] == 0) make_ready(&d, t);
    }
    if (d.resumed) CB_GO(skip_resumed(&d, &why));
    CB_GO(loop(&d, &why));
out:
    emit_plan(&d, CUBED_EVENT_PLAN_END, st, st == CUBED_OK ? NULL : why.message);
    if (st != CUBED_OK && err) *err = why;
    release(&d);
    return st;
}
