#include "simulated_workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/error.h"
#include "run/executors/invoke.h"

#define SECOND 1e9

/* AWS is the example, because its documentation is the most complete. The values are from the documentation of 2025, if it has
 * them. */
const sim_parameter sim_parameters[SIM_NPARAMETERS] = {
    [SIM_BURST] = {"workers that start at once", "", CB_LAMBDA_RAMP_WORKERS,
                   "AWS Lambda Developer Guide, \"Lambda scaling behavior\": 1,000 environments "
                   "every 10 seconds, refilled continuously, never more than 1,000 saved"},
    [SIM_RAMP] = {"further workers", "1/s", CB_LAMBDA_RAMP_PER_SECOND,
                  "AWS Lambda Developer Guide, \"Lambda scaling behavior\", as above"},
    [SIM_START] =
        {"start of a worker", "s", 0.5,
         "AWS Lambda Developer Guide, \"Lambda execution environment\": a cold start takes "
         "from less than 100 ms to more than 1 s"},
    [SIM_CALL] = {"call of a worker", "s", CB_INVOKE_OVERHEAD_MS / 1e3,
                  "src/run/executors/invoke.h: an empty invocation; AWS states none"},
    [SIM_LATENCY] = {"latency of GET and PUT", "s", 0.15,
                     "Amazon S3 User Guide, \"Best practices design patterns: optimizing Amazon S3 "
                     "performance\": 100 to 200 ms for small objects"},
    [SIM_BANDWIDTH] = {"bandwidth of a worker", "MB/s", 75,
                       "Klimovic et al., \"Understanding Ephemeral Storage for Serverless "
                       "Analytics\", USENIX ATC 2018: 600 Mbit/s per function"},
    [SIM_GETS] = {"GETs of a prefix", "1/s", 5500,
                  "Amazon S3 User Guide, \"optimizing Amazon S3 performance\": at least 5,500 GET "
                  "per second and partitioned prefix"},
    [SIM_PUTS] = {"PUTs of a prefix", "1/s", 3500,
                  "Amazon S3 User Guide, as above: at least 3,500 PUT"},
    [SIM_SLOW] = {"share of slow tasks", "", 0.01,
                  "assumed; Dean and Barroso, \"The Tail at Scale\", CACM 2013, study the 99th "
                  "percentile"},
    [SIM_SLOWER] = {"duration of a slow task", "times", 3, "assumed; services publish none"},
    [SIM_LOST] = {"share of lost tasks", "", 0.01, "assumed; services publish none"},
};

sim_model sim_model_of(uint64_t seed)
{
    sim_model m = {.twice = 0.01, .seed = seed};
    for (int i = 0; i < SIM_NPARAMETERS; i++) m.value[i] = sim_parameters[i].value;
    return m;
}

/* --- The work of tasks -------------------------------------------------------------------------------- */

enum { MOST_ARRAYS = 16 };

/* Number of requests that each task of a stage sends to one prefix. */
typedef struct requests {
    int prefix;
    double n;
} requests;

typedef struct stage_work {
    double seconds; /* duration of a task if no request has to wait */
    int ngets, nputs;
    requests gets[MOST_ARRAYS], puts[MOST_ARRAYS];
} stage_work;

/* A prefix of an object store: the times at which it will have served all requests so far. */
typedef struct key_prefix {
    double get_ns, put_ns;
    double rates; /* factor of the documented rate, as if the prefix were that many prefixes */
} key_prefix;

/* A range that a worker has, or that waits for a worker which has not started. The heap is ordered by the time of the next
 * event. */
typedef struct flight {
    /* at: time of the next event; began: if a task ends then, the time when that task started */
    int64_t at, began;
    unsigned worker;
    /* true: the next event is the end of a task; false: the start of the first task */
    bool running;
    bool is_late; /* the range waits for a worker that has not started */
    cubed_task_range range;
} flight;

enum { MOST_PREFIXES = 64 };
/* number of the prefix of intermediates; each other prefix belongs to one array */
#define WORK_PREFIX 0

typedef struct simulation {
    cubed_executor head;
    sim_model model;
    const stage_work *work; /* work of a task, by stage */
    key_prefix prefixes[MOST_PREFIXES];
    int array[MOST_PREFIXES]; /* ID of the array that each prefix belongs to */
    int nprefixes;
    flight *heap;
    unsigned n, cap;
    cubed_task_range *queue; /* ring buffer of ranges that any worker may execute */
    unsigned queue_first, nqueue;
    unsigned *idle; /* stack of idle workers */
    unsigned nidle, begun, late;
    /* number of workers that may start, and the time for which this number was computed */
    double starts, starts_ns;
    int64_t now;
    uint64_t random;
    cubed_task_report twice; /* arrives again */
    bool again;
    sim_result *result;
} simulation;

/* Between 0 and 1. */
static double chance(simulation *s)
{
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(s->random >> 40) / (double)(1 << 24);
}

static int prefix_of(simulation *s, int array)
{
    int i = 1;
    while (i < s->nprefixes && s->array[i] != array) i++;
    if (i == MOST_PREFIXES) return MOST_PREFIXES - 1;
    if (i == s->nprefixes) s->array[s->nprefixes++] = array;
    return i;
}

static void add_requests(simulation *s, const cubed_stored_info *a, double n, requests *list,
                         int *count)
{
    const int prefix = a->is_source || a->is_target ? prefix_of(s, a->id) : WORK_PREFIX;
    if (*count < MOST_ARRAYS) list[(*count)++] = (requests){prefix, n};
}

static cubed_status describe_stage(simulation *s, const cubed_plan *plan, int stage, stage_work *w,
                                   cubed_error *err)
{
    const double *v = s->model.value;
    cubed_stage_info t;
    cubed_stored_info a;
    CB_TRY(cubed_plan_get_stage(plan, stage, &t, err));
    const double n = (double)cb_max_i64(1, t.num_tasks), each = 1e-6 / v[SIM_BANDWIDTH] / n;
    w->seconds = s->model.task_seconds > 0
                     ? s->model.task_seconds
                     : (t.compute_seconds + t.read_seconds + t.write_seconds) / n +
                           ((double)t.bytes_read + (double)t.bytes_written) * each +
                           v[SIM_LATENCY] * ((t.chunks_read > 0) + (t.chunks_written > 0));
    for (int i = 0; i < t.num_inputs; i++) {
        CB_TRY(cubed_plan_get_input(plan, stage, i, &a, err));
        add_requests(s, &a, (double)t.chunks_read / n / t.num_inputs, w->gets, &w->ngets);
    }
    for (int i = 0; i < t.num_outputs; i++) {
        CB_TRY(cubed_plan_get_output(plan, stage, i, &a, err));
        add_requests(s, &a, (double)t.chunks_written / n / t.num_outputs, w->puts, &w->nputs);
    }
    return CUBED_OK;
}

/* Returns the time when a prefix will have served n more requests. It serves requests one after another at its rate. */
static double serve(double *served_ns, double now, double n, double rate)
{
    *served_ns = fmax(*served_ns, now) + n / rate * SECOND;
    return *served_ns;
}

/* Returns the time when a task ends that begins now. */
static int64_t end_of_task(simulation *s, int stage)
{
    const double *v = s->model.value, now = (double)s->now;
    const stage_work *w = &s->work[stage];
    double seconds = w->seconds * (0.9 + 0.2 * chance(s));
    if (chance(s) < v[SIM_SLOW]) seconds *= v[SIM_SLOWER];
    double end = now + seconds * SECOND;
    for (int i = 0; i < w->ngets; i++) {
        key_prefix *p = &s->prefixes[w->gets[i].prefix];
        end = fmax(end, serve(&p->get_ns, now, w->gets[i].n, v[SIM_GETS] * p->rates));
    }
    for (int i = 0; i < w->nputs; i++) {
        key_prefix *p = &s->prefixes[w->puts[i].prefix];
        end = fmax(end, serve(&p->put_ns, now, w->puts[i].n, v[SIM_PUTS] * p->rates));
    }
    return (int64_t)end;
}

/* --- Workers ------------------------------------------------------------------------------------------ */

static void sift_down(simulation *s, unsigned i)
{
    const flight f = s->heap[i];
    for (unsigned child = 2 * i + 1; child < s->n; child = 2 * i + 1) {
        if (child + 1 < s->n && s->heap[child + 1].at < s->heap[child].at) child++;
        if (s->heap[child].at >= f.at) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = f;
}

static void push(simulation *s, flight f)
{
    unsigned i = s->n++;
    for (; i > 0 && s->heap[(i - 1) / 2].at > f.at; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = f;
}

/* Returns the time when the service starts one more worker. Starts are limited by a token bucket: at most SIM_BURST tokens,
 * refilled at the rate SIM_RAMP. */
static int64_t next_start(simulation *s)
{
    const double *v = s->model.value, now = (double)s->now;
    if (now > s->starts_ns) {
        s->starts = fmin(v[SIM_BURST], s->starts + (now - s->starts_ns) / SECOND * v[SIM_RAMP]);
        s->starts_ns = now;
    }
    s->starts -= 1;
    return (int64_t)(now + fmax(0, -s->starts / v[SIM_RAMP]) * SECOND);
}

static void give(simulation *s, const cubed_task_range *range, unsigned worker)
{
    const int64_t at = s->now + (int64_t)(s->model.value[SIM_CALL] * SECOND);
    push(s, (flight){.at = at, .worker = worker, .range = *range});
}

/* Gives the range to an idle worker, or else to the next worker that starts, which may be much later. If all workers have
 * started, the range waits for any of them. */
static cubed_status submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    simulation *s = (simulation *)ex;
    const double *v = s->model.value;
    (void)err;
    if (s->nidle > 0) {
        give(s, range, s->idle[--s->nidle]);
    } else if (s->begun < s->head.workers) {
        const int64_t start = next_start(s);
        const bool is_late = start > s->now;
        push(s, (flight){.at = start + (int64_t)((v[SIM_START] + v[SIM_CALL]) * SECOND),
                         .worker = s->begun++,
                         .is_late = is_late,
                         .range = *range});
        s->late += is_late;
        s->result->most_late = cb_max_i64(s->result->most_late, s->late);
    } else {
        s->queue[(s->queue_first + s->nqueue++) % s->cap] = *range;
    }
    return CUBED_OK;
}

static void end_range(simulation *s)
{
    const unsigned worker = s->heap[0].worker;
    s->heap[0] = s->heap[--s->n];
    if (s->n > 0) sift_down(s, 0);
    if (s->nqueue == 0) {
        s->idle[s->nidle++] = worker;
        return;
    }
    give(s, &s->queue[s->queue_first], worker);
    s->queue_first = (s->queue_first + 1) % s->cap;
    s->nqueue--;
}

static void begin_task(simulation *s)
{
    flight *f = &s->heap[0];
    s->late -= f->is_late;
    f->is_late = false;
    f->running = true;
    f->began = s->now;
    f->at = end_of_task(s, f->range.stage);
    sift_down(s, 0);
}

static void end_task(simulation *s, cubed_task_report *report)
{
    flight *f = &s->heap[0];
    const bool lost = chance(s) < s->model.value[SIM_LOST];
    s->result->busy += (double)(f->at - f->began) / SECOND;
    *report = (cubed_task_report){.token = f->range.token,
                                  .task = f->range.first++,
                                  .start_ns = f->began,
                                  .end_ns = f->at,
                                  .worker = f->worker,
                                  .coop = 1};
    if (lost) {
        report->error.status = CUBED_E_IO;
        report->error.failure = CUBED_FAILURE_LOST;
    }
    s->again = chance(s) < s->model.twice;
    if (s->again) s->twice = *report;
    if (lost || f->range.first == f->range.last)
        end_range(s);
    else
        begin_task(s);
}

static cubed_status poll_next(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                              bool *got, cubed_error *err)
{
    simulation *s = (simulation *)ex;
    const int64_t until = s->now + (int64_t)timeout_ms * 1000000;
    (void)err;
    *got = true;
    s->result->reports++;
    if (s->again) {
        *report = s->twice;
        s->again = false;
        return CUBED_OK;
    }
    while (s->n > 0 && s->heap[0].at <= until) {
        s->now = s->heap[0].at;
        if (s->heap[0].running) {
            end_task(s, report);
            return CUBED_OK;
        }
        begin_task(s);
    }
    s->result->reports--;
    s->now = until;
    *got = false;
    return CUBED_OK;
}

static void close_it(cubed_executor *ex) { (void)ex; }

static const cubed_executor_vtable vtable = {
    .struct_size = sizeof vtable,
    .name = "simulated",
    /* as of the executor "lambda" */
    .caps = {.remote = true, .range_ms = 1000, .ramp_workers = 1000, .ramp_per_second = 100},
    .submit = submit,
    .poll = poll_next,
    .close = close_it};

static int64_t now_of(void *ctx) { return ((simulation *)ctx)->now; }

static void pause_of(void *ctx, int64_t ns) { ((simulation *)ctx)->now += ns; }

/* --- Runs --------------------------------------------------------------------------------------------- */

/* Returns the seconds after which the workers have done this much work, if they start as the service allows. */
static double seconds_for(const sim_model *m, unsigned workers, double work)
{
    const double *v = m->value, burst = fmin(v[SIM_BURST], workers);
    const double full = (workers - burst) / v[SIM_RAMP];
    const double until_full = burst * full + v[SIM_RAMP] * full * full / 2;
    const double t = work < until_full
                         ? (sqrt(burst * burst + 2 * v[SIM_RAMP] * work) - burst) / v[SIM_RAMP]
                         : full + (work - until_full) / workers;
    return t + v[SIM_START] + v[SIM_CALL];
}

static double possible_seconds(const simulation *s, const cubed_plan *plan, int nstages)
{
    double work = 0, gets[MOST_PREFIXES] = {0}, puts[MOST_PREFIXES] = {0};
    for (int i = 0; i < nstages; i++) {
        cubed_stage_info t;
        const stage_work *w = &s->work[i];
        if (cubed_plan_get_stage(plan, i, &t, NULL) != CUBED_OK) continue;
        work += w->seconds * (double)t.num_tasks;
        for (int k = 0; k < w->ngets; k++)
            gets[w->gets[k].prefix] += w->gets[k].n * (double)t.num_tasks;
        for (int k = 0; k < w->nputs; k++)
            puts[w->puts[k].prefix] += w->puts[k].n * (double)t.num_tasks;
    }
    double least = seconds_for(&s->model, s->head.workers, work);
    for (int k = 0; k < s->nprefixes; k++) {
        const key_prefix *p = &s->prefixes[k];
        least = fmax(least, gets[k] / s->model.value[SIM_GETS] / p->rates);
        least = fmax(least, puts[k] / s->model.value[SIM_PUTS] / p->rates);
    }
    return least;
}

static cubed_status run(simulation *s, cubed_plan *plan, const cubed_plan_info *info,
                        stage_work *work, cubed_error *err)
{
    const cb_run_clock clock = {.now = now_of, .pause = pause_of, .ctx = s};
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cb_io *io = NULL;
    for (int i = 0; i < info->num_stages; i++) CB_TRY(describe_stage(s, plan, i, &work[i], err));
    s->result->possible = possible_seconds(s, plan, info->num_stages);
    o.retries = 10;
    CB_TRY(cb_io_open(plan, &(cb_io_options){.mode = CB_IO_DRIVER}, &io, err));
    const cb_schedule_args args = {.plan = plan,
                                   .io = io,
                                   .executor = &s->head,
                                   .options = &o,
                                   .stats = &s->result->stats,
                                   .clock = &clock};
    const cubed_status st = cb_schedule_run(&args, err);
    s->result->seconds = (double)s->now / SECOND;
    cb_io_close(io);
    return st;
}

cubed_status sim_run(cubed_plan *plan, const sim_model *model, sim_result *result, cubed_error *err)
{
    cubed_plan_info info;
    cubed_plan_get_info(plan, &info);
    memset(result, 0, sizeof *result);
    const unsigned workers = info.max_workers, slots = 2 * workers;
    simulation s = {.head = {.vt = &vtable, .slots = workers, .workers = workers},
                    .model = *model,
                    .nprefixes = 1,
                    .heap = calloc(slots, sizeof(flight)),
                    .cap = slots,
                    .queue = calloc(slots, sizeof(cubed_task_range)),
                    .idle = calloc(workers, sizeof(unsigned)),
                    .starts = model->value[SIM_BURST],
                    .random = model->seed,
                    .result = result};
    stage_work *work = calloc((size_t)info.num_stages + 1, sizeof *work);
    s.work = work;
    for (int i = 0; i < MOST_PREFIXES; i++) s.prefixes[i].rates = 1;
    for (int i = 0; i < 4; i++) (void)chance(&s);
    cubed_status st = CUBED_E_NOMEM;
    if (s.heap && s.queue && s.idle && work) st = run(&s, plan, &info, work, err);
    free(s.heap);
    free(s.queue);
    free(s.idle);
    free(work);
    return st;
}

/* --- The means ---------------------------------------------------------------------------------------- */

static cubed_status open_source(cubed_context *ctx, const char *dir, const char *name,
                                const char *metadata, cubed_array **out, cubed_error *err)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/.zarray", dir, name);
    FILE *f = fopen(path, "w");
    const bool written = f && fputs(metadata, f) >= 0;
    if ((f && fclose(f) != 0) || !written) return CUBED_E_IO;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return cubed_array_open(ctx, path, out, err);
}

static cubed_status mean_of(cubed_array *x, cubed_array *y, cubed_array **out, cubed_error *err)
{
    const int axis = 0;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *product;
    o.axes = &axis;
    o.naxes = 1;
    CB_TRY(cubed_elementwise(CUBED_OP_MULTIPLY, (cubed_array *[]){x, y}, 2, &product, err));
    const cubed_status st = cubed_reduce(CUBED_REDUCE_MEAN, product, &o, out, err);
    cubed_array_unref(product);
    return st;
}

cubed_status sim_means(cubed_context *ctx, const char *dir, int64_t times, int64_t step,
                       const char *compressor, unsigned workers, cubed_plan **out, cubed_error *err)
{
    char metadata[1024], work[512], urls[3][512];
    cubed_array *u = NULL, *v = NULL, *means[3] = {NULL};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_target targets[3];
    snprintf(metadata, sizeof metadata,
             "{\"zarr_format\": 2, \"shape\": [%" PRId64 ", 1, 987, 1920], \"chunks\": [%" PRId64
             ", 1, 987, 1920], \"dtype\": \"<f8\", \"compressor\": %s, \"fill_value\": 0, "
             "\"filters\": null, \"order\": \"C\"}",
             times, step, compressor);
    snprintf(work, sizeof work, "%s/work", dir);
    o.max_workers = workers;
    o.other_machines = true;
    o.allowed_mem = 2000000000;
    o.work_dir = work;
    cubed_status st = open_source(ctx, dir, "u", metadata, &u, err);
    if (st == CUBED_OK) st = open_source(ctx, dir, "v", metadata, &v, err);
    for (int i = 0; i < 3 && st == CUBED_OK; i++) {
        st = mean_of(i == 1 ? v : u, i == 0 ? u : v, &means[i], err);
        snprintf(urls[i], sizeof urls[i], "%s/mean%d", dir, i);
        targets[i] = (cubed_target){.array = means[i], .url = urls[i]};
    }
    if (st == CUBED_OK) st = cubed_plan_new(ctx, targets, 3, &o, out, err);
    for (int i = 0; i < 3; i++) cubed_array_unref(means[i]);
    cubed_array_unref(v);
    cubed_array_unref(u);
    return st;
}
