#include "report/record.h"

#include <string.h>
#include <time.h>

#include "report/report_text.h"

cubed_status report_open(cubed_plan *plan, report **out, cubed_error *err)
{
    report *r = text_alloc(1, sizeof *r, err);
    *out = NULL;
    if (!r) return CUBED_E_NOMEM;
    cubed_plan_get_info(plan, &r->info);
    r->plan = cubed_plan_ref(plan);
    r->group = 1;
    r->nlanes = r->info.max_workers < RECORD_LANES ? (int)r->info.max_workers : RECORD_LANES;
    if (r->nlanes < 1) r->nlanes = 1;
    for (int l = 0; l < RECORD_LANES; l++) r->open[l] = -1;
    cubed_status st = CUBED_OK;
    r->stage = text_alloc((size_t)r->info.num_stages, sizeof *r->stage, err);
    if (!r->stage) st = CUBED_E_NOMEM;
    for (int i = 0; i < r->info.num_stages && st == CUBED_OK; i++) {
        record_stage *s = &r->stage[i];
        st = cubed_plan_get_stage(plan, i, &s->info, err);
        /* Each task has its own bin if there are few tasks. Otherwise a stage has bins in proportion to its tasks. */
        int64_t n = s->info.num_tasks;
        if (r->info.num_tasks > RECORD_BINS)
            n = (int64_t)((double)n / (double)r->info.num_tasks * RECORD_BINS);
        s->first_bin = r->nbins;
        s->nbins = n > 1 ? (int)n : 1;
        r->nbins += s->nbins;
    }
    if (st == CUBED_OK) {
        r->bin = text_alloc((size_t)r->nbins, sizeof *r->bin, err);
        if (!r->bin) st = CUBED_E_NOMEM;
    }
    if (st == CUBED_OK)
        *out = r;
    else
        report_close(r);
    return st;
}

void report_expect(report *r, const report_requests *requests) { r->requests = *requests; }

void report_close(report *r)
{
    if (!r) return;
    cubed_plan_unref(r->plan);
    text_free(r->stage);
    text_free(r->bin);
    text_free(r);
}

/* Merges mark b into mark a. A mark is a rectangle of the timeline that shows consecutive tasks, and b follows a on the same
 * lane. */
static void merge(record_mark *a, const record_mark *b)
{
    if (b->stage == a->stage) {
        a->leader_ns += b->leader_ns;
    } else if (b->leader_ns > a->leader_ns) {
        a->stage = b->stage;
        a->leader_ns = b->leader_ns;
        a->mixed = true;
    } else {
        a->mixed = true;
    }
    a->mixed = a->mixed || b->mixed;
    if (b->host != a->host) a->host = -1;
    a->tasks += b->tasks;
    a->failed += b->failed;
    a->shared += b->shared;
    a->busy_ns += b->busy_ns;
    if (b->start_ns < a->start_ns) a->start_ns = b->start_ns;
    if (b->end_ns > a->end_ns) a->end_ns = b->end_ns;
    if (b->measured > a->measured) a->measured = b->measured;
}

static int64_t all_of(const record_mark *m) { return m->tasks + m->failed + m->shared; }

/* Merges adjacent marks until half of the marks are free, or until no lane can be merged further. */
static void make_room(report *r)
{
    while (r->nmarks > RECORD_MARKS / 2) {
        int n = 0;
        r->group *= 2;
        for (int l = 0; l < RECORD_LANES; l++) r->open[l] = -1;
        for (int i = 0; i < r->nmarks; i++) {
            record_mark m = r->mark[i];
            int last = r->open[m.lane];
            if (last >= 0 && all_of(&r->mark[last]) + all_of(&m) <= r->group) {
                merge(&r->mark[last], &m);
                continue;
            }
            r->open[m.lane] = n;
            r->mark[n++] = m;
        }
        r->nmarks = n;
    }
}

static int lane_of(const report *r, unsigned worker)
{
    int64_t lane = worker;
    if (r->info.max_workers > RECORD_LANES) lane = lane * RECORD_LANES / r->info.max_workers;
    return lane < r->nlanes ? (int)lane : r->nlanes - 1;
}

static void add_mark(report *r, const cubed_event *e, int lane, bool shared, int host)
{
    bool failed = e->kind == CUBED_EVENT_TASK_RETRY;
    record_mark m = {.lane = lane,
                     .stage = e->stage,
                     .task = e->task,
                     .host = host,
                     .tasks = !failed && !shared,
                     .failed = failed && !shared,
                     .shared = shared,
                     .start_ns = e->time_ns - e->duration_ns,
                     .end_ns = e->time_ns,
                     .busy_ns = e->duration_ns,
                     .leader_ns = e->duration_ns,
                     .measured = e->measured_mem};
    int last = r->open[m.lane];
    if (last >= 0 && all_of(&r->mark[last]) < r->group) {
        merge(&r->mark[last], &m);
        return;
    }
    if (r->nmarks == RECORD_MARKS) make_room(r);
    r->open[m.lane] = r->nmarks;
    r->mark[r->nmarks++] = m;
}

/* Adds a mark on the lane of each worker that ran the task. Only one of the marks counts the task. */
static void add_marks(report *r, const cubed_event *e, int host)
{
    const int own = lane_of(r, e->worker);
    add_mark(r, e, own, false, host);
    if (e->coop < 2) return;
    for (int lane = 0, last = lane_of(r, e->coop - 1); lane <= last; lane++) {
        if (lane != own) add_mark(r, e, lane, true, host);
    }
}

static void count(record_stage *s, const cubed_event *e)
{
    int64_t start = e->time_ns - e->duration_ns;
    if (!s->start_ns || start < s->start_ns) s->start_ns = start;
    if (e->time_ns > s->end_ns) s->end_ns = e->time_ns;
    s->busy_ns += e->duration_ns;
    if (e->kind == CUBED_EVENT_TASK_RETRY) {
        s->failed++;
        return;
    }
    s->ended++;
    if (e->measured_mem > s->measured) s->measured = e->measured_mem;
    s->bytes_read += e->bytes_read;
    s->bytes_written += e->bytes_written;
    s->stored_read += e->stored_read;
    s->stored_written += e->stored_written;
}

static record_bin *bin_of(report *r, int stage, int64_t task)
{
    const record_stage *s = &r->stage[stage];
    int64_t n = s->info.num_tasks;
    int64_t i = task < n ? task * s->nbins / n : s->nbins - 1;
    return &r->bin[s->first_bin + i];
}

static void keep_failure(report *r, const cubed_event *e)
{
    if (r->nfailures == RECORD_FAILURES) return;
    r->failure[r->nfailures].stage = e->stage;
    r->failure[r->nfailures].task = e->task;
    r->failure[r->nfailures].kind = e->failure;
    snprintf(r->failure[r->nfailures].message, sizeof r->failure[0].message, "%s",
             e->message ? e->message : "");
    r->nfailures++;
}

/* Counts the event for the machine whose name is HOST in "HOST:PID". Returns the index of the machine. */
static int count_host(report *r, const cubed_event *e)
{
    const char *name = e->host ? e->host : "this machine", *end = strrchr(name, ':');
    size_t n = end ? (size_t)(end - name) : strlen(name);
    if (n >= sizeof r->host[0].name) n = sizeof r->host[0].name - 1;
    int i = 0;
    while (i < r->nhosts &&
           (strlen(r->host[i].name) != n || strncmp(r->host[i].name, name, n) != 0))
        i++;
    if (i == RECORD_HOSTS) i--;
    if (i == r->nhosts) {
        r->nhosts++;
        if (r->nhosts == RECORD_HOSTS)
            snprintf(r->host[i].name, sizeof r->host[i].name, "all others");
        else
            snprintf(r->host[i].name, sizeof r->host[i].name, "%.*s", (int)n, name);
    }
    const bool failed = e->kind == CUBED_EVENT_TASK_RETRY;
    r->host[i].tasks += !failed;
    r->host[i].failed += failed;
    r->host[i].busy_ns += e->duration_ns;
    return i;
}

/* Records information that an engine adds to events. */
static int count_engine(report *r, const cubed_event *e)
{
    r->backups += e->backup;
    return count_host(r, e);
}

/* Keeps the slowest tasks. If several took equally long, tasks that ended earlier come first. */
static void keep_slow(report *r, const cubed_event *e)
{
    int at = r->nslowest;
    while (at > 0 && r->slowest[at - 1].ns < e->duration_ns) at--;
    if (at == RECORD_SLOWEST) return;
    if (r->nslowest < RECORD_SLOWEST) r->nslowest++;
    for (int i = r->nslowest - 1; i > at; i--) r->slowest[i] = r->slowest[i - 1];
    r->slowest[at].stage = e->stage;
    r->slowest[at].task = e->task;
    r->slowest[at].ns = e->duration_ns;
    r->slowest[at].worker = e->worker;
    r->slowest[at].measured = e->measured_mem;
}

void report_event(void *report_of_run, const cubed_event *e)
{
    report *r = report_of_run;
    if (!r->start_ns) {
        r->start_ns = e->time_ns;
        r->wall_start = (int64_t)time(NULL);
    }
    if (e->time_ns > r->end_ns) r->end_ns = e->time_ns;
    if (e->intermediate_mem > r->intermediate_peak) r->intermediate_peak = e->intermediate_mem;
    if (e->stage < 0 || e->stage >= r->info.num_stages || e->task < 0) return;
    record_stage *s = &r->stage[e->stage];
    record_bin *b = bin_of(r, e->stage, e->task);
    switch (e->kind) {
    case CUBED_EVENT_TASK_RESUMED:
        b->resumed++;
        s->resumed++;
        r->total.resumed++;
        break;
    case CUBED_EVENT_TASK_RETRY:
    case CUBED_EVENT_TASK_END:
        if (e->worker >= r->workers) r->workers = e->worker + 1;
        if (e->coop > r->workers) r->workers = e->coop;
        count(s, e);
        count(&r->total, e);
        add_marks(r, e, count_engine(r, e));
        if (e->kind == CUBED_EVENT_TASK_RETRY) {
            keep_failure(r, e);
            break;
        }
        b->ended++;
        if (e->measured_mem > b->measured) b->measured = e->measured_mem;
        keep_slow(r, e);
        break;
    default: break;
    }
}
