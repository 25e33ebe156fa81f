/* The real driver with simulated workers, by a clock that is simulated.
 *
 * Usage: simulate [TASKS [WORKERS]]
 *            a sum in a tree, with stragglers, losses and reports that come twice: prints reports per second, the
 *            memory, and how busy workers were
 *        simulate --plan PLAN READ WRITE CALL START MORE
 *            a plan for its number of workers, whose tasks take the processor time that the plan expects, and the store
 *            READ and WRITE MB/s of each worker; a range takes CALL seconds more, a worker's first one START, and beyond
 *            the first MORE workers as many come in 10 seconds: prints seconds, and those of workers */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "cubed/cubed.h"
#include "plan/reduction.h"
#include "run/driver/schedule.h"

enum {
    STRAGGLES = 100,
    LOST = 1000,
    TWICE = 100,
    SLOWER = 20,
    STRETCH = 2
}; /* one of so many; times */
enum { TASK_NS = 100000000, START_NS = 100000000 };

/* A range at a worker; of the heap, the one that reports next comes first. */
typedef struct flight {
    int64_t at, each; /* when its next task is done, and how long one takes */
    cubed_task_range range;
} flight;

/* How long things take, in seconds; of the stages, of each one task. */
typedef struct model {
    double *task;
    double call, start, more;
} model;

typedef struct simulation {
    cubed_executor head;
    const model *model; /* NULL: TASK_NS and START_NS */
    unsigned begun;     /* workers that have had a range */
    flight *heap;
    unsigned n;
    int64_t now, busy, reports;
    uint64_t random;
    cubed_task_report twice; /* to come again */
    bool again;
} simulation;

static unsigned chance(simulation *s, unsigned of)
{
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((s->random >> 33) % of);
}

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

/* Until a range's first task begins. A worker that has not had one comes when no other is free. */
static int64_t wait_of(simulation *s)
{
    const model *m = s->model;
    if (!m) return START_NS;
    if (s->begun >= s->head.workers || s->n <= s->begun) return (int64_t)(m->call * 1e9);
    const double late = fmax(0, s->begun++ - m->more) / m->more * 10;
    return (int64_t)((m->start + m->call) * 1e9) + cb_max_i64(0, (int64_t)(late * 1e9) - s->now);
}

static cubed_status submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    simulation *s = (simulation *)ex;
    unsigned i = s->n++;
    const int64_t usual = s->model ? (int64_t)(s->model->task[range->stage] * 1e9) : TASK_NS;
    /* Within half of the usual; where requests are many, within a tenth. */
    const double spread = s->model ? 0.1 : 0.5;
    const double times = 1 + spread * (2e-6 * chance(s, 1000000) - 1);
    flight f = {.each = (int64_t)((double)usual * times), .range = *range};
    (void)err;
    if (chance(s, STRAGGLES) == 0) f.each *= s->model ? STRETCH : SLOWER;
    f.at = s->now + wait_of(s) + f.each;
    for (; i > 0 && s->heap[(i - 1) / 2].at > f.at; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = f;
    return CUBED_OK;
}

static cubed_status poll_next(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                              bool *got, cubed_error *err)
{
    simulation *s = (simulation *)ex;
    (void)timeout_ms;
    (void)err;
    *got = s->again || s->n > 0;
    if (!*got) return CUBED_OK; /* pauses pass by the real clock */
    s->reports++;
    if (s->again) {
        *report = s->twice;
        s->again = false;
        return CUBED_OK;
    }
    flight *f = &s->heap[0];
    const bool lost = !s->model && chance(s, LOST) == 0; /* pauses are of the real clock */
    s->now = f->at;
    s->busy += f->each;
    *report = (cubed_task_report){.token = f->range.token, .task = f->range.first++, .coop = 1};
    report->end_ns = s->now;
    report->start_ns = s->now - f->each;
    if (lost) {
        report->error.status = CUBED_E_IO;
        report->error.transient = true;
    }
    s->again = chance(s, TWICE) == 0;
    if (s->again) s->twice = *report;
    f->at += f->each;
    if (lost || f->range.first == f->range.last) *f = s->heap[--s->n];
    if (s->n > 0) sift_down(s, 0);
    return CUBED_OK;
}

static void close_it(cubed_executor *ex) { (void)ex; }

static const cubed_executor_vtable vtable = {.struct_size = sizeof vtable,
                                             .name = "simulated",
                                             .caps = {.remote = true},
                                             .submit = submit,
                                             .poll = poll_next,
                                             .close = close_it};

static cubed_status run(cubed_context *ctx, int64_t tasks, unsigned workers, cubed_error *err)
{
    const int64_t chunk = 16, n = tasks * CB_REDUCE_GROUP * chunk;
    simulation s = {.head = {.vt = &vtable, .slots = workers, .workers = workers},
                    .heap = calloc(workers, sizeof(flight)),
                    .random = 1};
    cubed_plan_options limits = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_array *x = NULL, *sum = NULL;
    cubed_plan *plan = NULL;
    cb_io *io = NULL;
    int64_t result;
    limits.max_workers = workers;
    limits.allowed_mem = (uint64_t)2 << 30;
    limits.other_machines = true;
    o.retries = 10;
    cubed_status st = cubed_array_index(ctx, 1, &n, &chunk, 0, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_SUM, x, NULL, &sum, err);
    const cubed_target target = {.array = sum, .data = &result};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &target, 1, &limits, &plan, err);
    if (st == CUBED_OK) st = cb_io_open(plan, &(cb_io_options){.mode = CB_IO_RUN}, &io, err);
    const int64_t start = cb_clock_ns();
    if (st == CUBED_OK) {
        const cb_schedule_args args = {plan, io, &s.head, &o, &stats, 0};
        st = cb_schedule_run(&args, err);
    }
    const double seconds = (double)(cb_clock_ns() - start) * 1e-9;
    if (st == CUBED_OK)
        printf("%" PRId64 " tasks, %u workers, %" PRId64 " tried again: %.0f reports/s, %.0f MB, "
               "%.1f s simulated, workers busy %.0f %%\n",
               stats.num_tasks, workers, stats.num_retries, (double)s.reports / seconds,
               (double)cubed_peak_rss() * 1e-6, (double)s.now * 1e-9,
               100.0 * (double)s.busy / (double)s.now / workers);
    cb_io_close(io);
    cubed_plan_unref(plan);
    cubed_array_unref(sum);
    cubed_array_unref(x);
    free(s.heap);
    return st;
}

/* Of which no chunk is looked at: what is read need not be there. */
static cubed_status run_plan(cubed_context *ctx, const void *bytes, size_t size, const double *of,
                             cubed_error *err)
{
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_plan_info info;
    cubed_plan *plan;
    cb_io *io = NULL;
    cubed_status st = cubed_plan_load(ctx, bytes, size, &plan, err);
    if (st != CUBED_OK) return st;
    cubed_plan_get_info(plan, &info);
    model m = {calloc((size_t)info.num_stages, sizeof(double)), of[2], of[3], of[4]};
    simulation s = {.head = {.vt = &vtable, .slots = info.max_workers, .workers = info.max_workers},
                    .model = &m,
                    .heap = calloc(info.max_workers, sizeof(flight)),
                    .random = 1};
    double least = 0;
    for (int i = 0; i < info.num_stages && st == CUBED_OK; i++) {
        cubed_stage_info t;
        st = cubed_plan_get_stage(plan, i, &t, err);
        if (st != CUBED_OK) break;
        m.task[i] = (t.compute_seconds + t.read_seconds + t.write_seconds +
                     (double)t.bytes_read * 1e-6 / of[0] + (double)t.bytes_written * 1e-6 / of[1]) /
                    (double)t.num_tasks;
        least += m.task[i] * (double)t.num_tasks;
    }
    o.backups = false; /* the driver's clock is the real one */
    o.retries = 10;
    if (st == CUBED_OK) st = cb_io_open(plan, &(cb_io_options){.mode = CB_IO_DRIVER}, &io, err);
    if (st == CUBED_OK) {
        const cb_schedule_args args = {plan, io, &s.head, &o, &stats, 0};
        st = cb_schedule_run(&args, err);
    }
    if (st == CUBED_OK)
        printf("%u workers, %d stages, %" PRId64 " tasks, %" PRId64
               " tried again: %.1f s, %.0f worker-seconds of tasks, %.0f without stragglers\n",
               info.max_workers, info.num_stages, stats.num_tasks, stats.num_retries,
               (double)s.now * 1e-9, (double)s.busy * 1e-9, least);
    cb_io_close(io);
    cubed_plan_unref(plan);
    free(m.task);
    free(s.heap);
    return st;
}

static cubed_status read_plan(cubed_context *ctx, char **argv, cubed_error *err)
{
    static char bytes[1 << 22];
    double of[5];
    FILE *f = fopen(argv[2], "rb");
    const size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) (void)fclose(f);
    for (int i = 0; i < 5; i++) of[i] = strtod(argv[3 + i], NULL);
    return run_plan(ctx, bytes, size, of, err);
}

int main(int argc, char **argv)
{
    const bool is_plan = argc == 8 && strcmp(argv[1], "--plan") == 0;
    const int64_t tasks = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000000;
    const unsigned workers = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100000;
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = is_plan ? read_plan(ctx, argv, &err) : run(ctx, tasks, workers, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) fprintf(stderr, "simulate: %s\n", err.message);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
