/* The real driver with simulated workers: a sum in a tree, whose tasks take some time by a clock that is simulated, with
 * stragglers, losses and reports that come twice.
 *
 * Usage: simulate [TASKS [WORKERS]]    prints reports per second, the memory, and how busy workers were */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cubed/cubed.h"
#include "plan/reduction.h"
#include "run/schedule.h"

enum { STRAGGLES = 100, LOST = 1000, TWICE = 100, SLOWER = 20 }; /* one of so many; times */
enum { TASK_NS = 100000000, START_NS = 100000000 };

/* A range at a worker; of the heap, the one that reports next comes first. */
typedef struct flight {
    int64_t at, each; /* when its next task is done, and how long one takes */
    cubed_task_range range;
} flight;

typedef struct simulation {
    cubed_executor head;
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

static cubed_status submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    simulation *s = (simulation *)ex;
    unsigned i = s->n++;
    flight f = {.each = TASK_NS / 2 + chance(s, TASK_NS), .range = *range};
    (void)err;
    if (chance(s, STRAGGLES) == 0) f.each *= SLOWER;
    f.at = s->now + START_NS + f.each;
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
    const bool lost = chance(s, LOST) == 0;
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
    simulation s = {
        .head = {&vtable, workers, workers}, .heap = calloc(workers, sizeof(flight)), .random = 1};
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

int main(int argc, char **argv)
{
    const int64_t tasks = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000000;
    const unsigned workers = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100000;
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = run(ctx, tasks, workers, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) fprintf(stderr, "simulate: %s\n", err.message);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
