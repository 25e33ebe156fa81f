/* The driver: every task runs once, when its input exists, whatever the stages read and however few waiting tasks are held;
 * also after failures; and the memory of the driver. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "counting_allocator.h"
#include "cubed/cubed.h"
#include "exec/plan/limits.h"
#include "exec/plan/stage.h"
#include "plan_test.h"
#include "random_test.h"
#include "remove_dir.h"
#include "run/driver/driver.h"
#include "run/driver/schedule.h"
#include "slow.h"
#include "test_path.h"

static const char raw[] = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";

enum { SIDE = 24, ARRAYS = 20, SLOTS = 5, MEM = 40000 };

typedef struct fixture {
    char dir[64], out[128];
    counting bytes;
    cubed_allocator alloc;
    cubed_context *ctx;
    double data[SIDE * SIDE], result[SIDE * SIDE], again[SIDE * SIDE];
    /* For the event callback: */
    int ends, cancel_after;
    cubed_cancel cancel;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    test_path(f->dir, sizeof f->dir, "cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    f->alloc = counting_allocator(&f->bytes);
    o.allocator = &f->alloc;
    for (int i = 0; i < SIDE * SIDE; i++) f->data[i] = i * 7 % 31 - 15;
    *state = f;
    return cubed_context_new(&o, &f->ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    assert_int_equal(f->bytes.now, 0);
    int rc = remove_dir(f->dir);
    free(f);
    return rc;
}

/* --- Random plans --------------------------------------------------------------------------------------- */

static cubed_array *source(const fixture *f)
{
    const int64_t shape[] = {SIDE, SIDE}, chunk[] = {between(1, SIDE), between(1, SIDE)};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunk, f->data, &x, &err),
         &err);
    return x;
}

/* Computes sums along an axis, and broadcasts them to the shape of x. */
static cubed_status sums(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    const int64_t shape[] = {SIDE, SIDE};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *sum;
    o.axes = &axis;
    o.naxes = 1;
    o.keepdims = true;
    CB_TRY(cubed_reduce(CUBED_REDUCE_SUM, x, &o, &sum, err));
    cubed_status st = cubed_broadcast_to(sum, 2, shape, out, err);
    cubed_array_unref(sum);
    return st;
}

static cubed_status halves(cubed_array *x, cubed_array *y, int axis, cubed_array **out,
                           cubed_error *err)
{
    cubed_slice half[2] = {{0, SIDE, 1, false}, {0, SIDE, 1, false}};
    cubed_array *part[2];
    half[axis].len = SIDE / 3;
    CB_TRY(cubed_slice_array(x, half, &part[0], err));
    half[axis] = (cubed_slice){SIDE / 3, SIDE - SIDE / 3, 1, false};
    CB_TRY(cubed_slice_array(y, half, &part[1], err));
    cubed_status st = cubed_concat(part, 2, axis, out, err);
    cubed_array_unref(part[0]);
    cubed_array_unref(part[1]);
    return st;
}

static cubed_array *random_step(cubed_array *x, cubed_array *y)
{
    const int64_t chunk[] = {between(1, SIDE), between(1, SIDE)};
    const int axes[] = {1, 0}, axis = (int)between(0, 1);
    cubed_array *const args[] = {x, y};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *out = NULL;
    switch (between(0, 9)) {
    case 0: must(cubed_permute_dims(x, axes, &out, &err), &err); break;
    case 1: must(cubed_flip(x, NULL, 0, &out, &err), &err); break;
    case 2: must(cubed_rechunk(x, chunk, &out, &err), &err); break;
    case 3: must(cubed_sort(x, axis, between(0, 1), &out, &err), &err); break;
    case 4: must(cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &out, &err), &err); break;
    case 5: must(cubed_matmul(x, y, &out, &err), &err); break;
    case 6: must(sums(x, axis, &out, &err), &err); break;
    case 7: must(halves(x, y, axis, &out, &err), &err); break;
    default: must(cubed_cumulative(CUBED_REDUCE_SUM, x, axis, false, &out, &err), &err);
    }
    return out;
}

static cubed_plan *plan_of(const fixture *f, cubed_array *const *x, int n, const char *url)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_target t[2] = {{.array = x[0], .url = url, .codecs = raw}, {.array = x[1], .data = NULL}};
    cubed_plan *plan;
    o.allowed_mem = MEM;
    o.reserved_mem = 0;
    o.max_workers = 2;
    o.work_dir = f->dir;
    if (cubed_plan_new(f->ctx, t, n, &o, &plan, &err) == CUBED_OK) return plan;
    assert_int_equal(err.status, CUBED_E_BUDGET);
    return NULL;
}

/* Makes a random plan with one or two targets. One target may be computed from the other. Returns NULL if the plan does not fit
 * in memory. */
static cubed_plan *random_plan(fixture *f, const char *url)
{
    const int n = (int)between(3, ARRAYS), ntargets = url ? 1 : (int)between(1, 2);
    cubed_array *x[ARRAYS] = {source(f), source(f)};
    cubed_error err = CUBED_ERROR_INIT;
    for (int i = 2; i < n; i++) x[i] = random_step(x[between(i / 2, i - 1)], x[between(0, i - 1)]);
    cubed_array *const results[] = {x[n - 1], x[n - 2]};
    cubed_plan *plan = plan_of(f, results, ntargets, url);
    for (int t = 0; plan && !url && t < ntargets; t++)
        must(cubed_plan_bind_result(plan, t, t ? f->again : f->result, sizeof f->result, &err),
             &err);
    for (int i = 0; i < n; i++) cubed_array_unref(x[i]);
    return plan;
}

/* --- An executor that runs nothing ---------------------------------------------------------------------- */

/* Reports tasks of random ranges, some of them as failed, and records which chunks were written. */
typedef struct fake {
    cubed_executor head;
    const cubed_plan *plan;
    cubed_task_range ranges[SLOTS];
    int n, failures;
    /* silent: number of ranges for which nothing was reported; given_up: number of ranges that the driver has cancelled */
    int silent, given_up;
    bool repeats; /* the next poll repeats the last report */
    cubed_task_report last;
    bool **runs;    /* runs[stage][task] is true if the task is done */
    bool **written; /* written[node][chunk] is true if the chunk of the stored node exists */
    int64_t ndone;
} fake;

static cubed_status check_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    const fake *x = ctx;
    const cb_node *n = &x->plan->ir.nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    memcpy(idx, chunks->lo, sizeof idx);
    do assert_true(!n->stored || x->written[node][cb_grid_ravel(n->grid, idx)]);
    while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

static cubed_status note_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    const fake *x = ctx;
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    memcpy(idx, chunks->lo, sizeof idx);
    do x->written[node][cb_grid_ravel(x->plan->ir.nodes[node].grid, idx)] = true;
    while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

static cubed_status fake_submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    fake *x = (fake *)ex;
    const cb_stage *s = &x->plan->stages[range->stage];
    assert_true(x->n < SLOTS);
    assert_true(0 <= range->first && range->first < range->last && range->last <= s->ntasks);
    for (int64_t t = range->first; t < range->last; t++) {
        assert_false(x->runs[range->stage][t]);
        must(cb_stage_task_reads(x->plan, s, t, check_chunks, x, err), err);
    }
    if (x->silent > 0 && between(0, 1))
        x->silent--;
    else
        x->ranges[x->n++] = *range;
    return CUBED_OK;
}

static cubed_status fake_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                              bool *got, cubed_error *err)
{
    fake *x = (fake *)ex;
    (void)timeout_ms;
    if (x->repeats) {
        x->repeats = false;
        *report = x->last;
        *got = true;
        return CUBED_OK;
    }
    if (x->n == 0) {
        assert_true(x->head.start_ms > 0);
        *got = false;
        return usleep(1000) == 0 ? CUBED_OK : CUBED_E_INTERNAL;
    }
    const int k = (int)between(0, x->n - 1);
    cubed_task_range *r = &x->ranges[k];
    const cb_stage *s = &x->plan->stages[r->stage];
    memset(report, 0, sizeof *report);
    report->token = r->token;
    report->task = r->first;
    *got = true;
    const bool fails = x->failures > 0 && between(0, 20) == 0;
    if (fails) {
        x->failures--;
        report->error.status = CUBED_E_IO;
        report->error.transient = true;
    } else {
        assert_false(x->runs[r->stage][r->first]);
        x->runs[r->stage][r->first] = true;
        x->ndone++;
        must(cb_stage_task_writes(x->plan, s, r->first, note_chunks, x, err), err);
    }
    if (++r->first == r->last || fails) *r = x->ranges[--x->n];
    x->repeats = between(0, 9) == 0;
    x->last = *report;
    return CUBED_OK;
}

static void fake_close(cubed_executor *ex) { (void)ex; }

static void fake_give_up(cubed_executor *ex, uint64_t token)
{
    fake *x = (fake *)ex;
    x->given_up++;
    for (int i = x->n - 1; i >= 0; i--) {
        if (x->ranges[i].token == token) x->ranges[i] = x->ranges[--x->n];
    }
}

static const cubed_executor_vtable fake_vtable = {.struct_size = sizeof fake_vtable,
                                                  .name = "fake",
                                                  .submit = fake_submit,
                                                  .poll = fake_poll,
                                                  .close = fake_close,
                                                  .give_up = fake_give_up};

static bool **flags(int n, int64_t (*count)(const cubed_plan *, int), const cubed_plan *plan)
{
    bool **all = calloc((size_t)n + 1, sizeof *all);
    for (int i = 0; i < n; i++) all[i] = calloc((size_t)count(plan, i) + 1, 1);
    return all;
}

static void free_flags(bool **all, int n)
{
    for (int i = 0; i < n; i++) free(all[i]);
    free(all);
}

static int64_t tasks_of(const cubed_plan *p, int stage) { return p->stages[stage].ntasks; }

static int64_t chunks_of(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->stored ? cb_grid_count(n->grid) : 0;
}

/* Checks that all chunks of intermediates were read as often as planned, so none is left. */
static void check_readers(const cubed_plan *p, const cb_io *io)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        for (int64_t c = 0; cb_node_is_intermediate(&p->ir.nodes[i]) && c < chunks_of(p, i); c++)
            assert_false(cb_chunks_has_readers(cb_io_chunks(io), i, c));
    }
}

static void drive(cubed_plan *plan, int64_t window, int failures, int silent)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats = {0};
    cubed_plan_info info;
    cb_io *io;
    fake x = {.head = {.vt = &fake_vtable, .slots = SLOTS, .workers = 2},
              .plan = plan,
              .failures = failures,
              .silent = silent,
              .runs = flags(plan->nstages, tasks_of, plan),
              .written = flags(plan->ir.nnodes, chunks_of, plan)};
    o.retries = failures;
    if (silent > 0) {
        o.retries = 255;
        o.task_timeout_ms = 1;
        x.head.start_ms = 20;
    }
    cubed_plan_get_info(plan, &info);
    must(cb_io_open(plan, &(cb_io_options){.mode = CB_IO_RUN}, &io, &err), &err);
    const cb_schedule_args args = {.plan = plan,
                                   .io = io,
                                   .executor = &x.head,
                                   .options = &o,
                                   .stats = &stats,
                                   .window = window};
    must(cb_schedule_run(&args, &err), &err);
    assert_int_equal(x.n, 0);
    assert_int_equal(x.ndone, info.num_tasks);
    assert_int_equal(stats.num_tasks, info.num_tasks);
    assert_int_equal(stats.num_retries, failures - x.failures + x.given_up);
    assert_true(x.given_up >= silent - x.silent);
    check_readers(plan, io);
    cb_io_close(io);
    free_flags(x.runs, plan->nstages);
    free_flags(x.written, plan->ir.nnodes);
}

/* Ranges that were lost without a report are repeated, and the run ends. */
static void test_silence(void **state)
{
    fixture *f = *state;
    int plans = 0;
    random_state = 5;
    for (int i = 0; i < 20; i++) {
        cubed_plan *plan = random_plan(f, NULL);
        if (!plan) continue;
        drive(plan, 0, 0, 3);
        plans++;
        cubed_plan_unref(plan);
    }
    assert_true(plans > 5);
}

static void test_random(void **state)
{
    static const int64_t windows[] = {1, 2, 3, 7, 40, 0};
    fixture *f = *state;
    int plans = 0, stages = 0, waiting = 0;
    random_state = 3;
    for (int i = 0; i < 1000 / SLOW; i++) {
        cubed_plan *plan = random_plan(f, NULL);
        if (!plan) continue;
        plans++;
        stages += plan->nstages;
        for (int k = 0; k < plan->nstages; k++) waiting += plan->stages[k].level > 0;
        for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
            drive(plan, windows[k], i % 20 == 0 && windows[k] == 3, 0);
        cubed_plan_unref(plan);
    }
    assert_true(plans > 300 / SLOW && stages > 2 * plans && waiting > plans);
}

/* Returns the next range of the driver. If there is none yet, waits. */
static cubed_task_range next_range(cb_driver *d)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_task_range range;
    bool got = false;
    while (!got) {
        must(cb_driver_next(d, &range, &got, &err), &err);
        if (!got) usleep(1000);
    }
    return range;
}

static cubed_status copy_block(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    memcpy(call->out[0].data, call->in[0].data, (size_t)call->in[0].shape[0] * sizeof(int64_t));
    return CUBED_OK;
}

/* A driver of one stage of 512 tasks. */
typedef struct driven {
    cubed_run_stats stats;
    int64_t *data;
    cubed_array *x;
    cubed_plan *plan;
    cb_io *io;
    cb_driver *d;
} driven;

/* `range_ms`: intended duration of the ranges of a user-defined function. If it is 0, the plan has numbers that the library
 * makes. */
static void begin_driving(const fixture *f, const cubed_run_options *o, unsigned range_ms,
                          driven *t)
{
    static const cubed_block_fn fn = {.struct_size = sizeof fn,
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "copy",
                                      .run = copy_block,
                                      .code = true};
    const cubed_kernel kernel = {.name = fn.name};
    const int64_t n = 4096, chunk = 8;
    cubed_plan_options limits = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    *t = (driven){.data = calloc((size_t)n, sizeof *t->data)};
    assert_non_null(t->data);
    must(cubed_array_index(f->ctx, 1, &n, &chunk, 0, &t->x, &err), &err);
    if (range_ms) {
        cubed_array *x = t->x;
        must(cubed_context_add_block_fn(f->ctx, &fn, &err), &err);
        must(cubed_map_blocks(f->ctx, &kernel, &x, 1, CUBED_INT64, NULL, &t->x, &err), &err);
        cubed_array_unref(x);
    }
    limits.max_workers = 2;
    const cubed_target target = {.array = t->x, .data = t->data};
    must(cubed_plan_new(f->ctx, &target, 1, &limits, &t->plan, &err), &err);
    must(cb_io_open(t->plan, &(cb_io_options){.mode = CB_IO_RUN}, &t->io, &err), &err);
    const cb_driver_args args = {.plan = t->plan,
                                 .io = t->io,
                                 .options = o,
                                 .stats = &t->stats,
                                 .workers = 2,
                                 .most_tasks = 32,
                                 .slots = 2,
                                 .range_ms = range_ms,
                                 .retries = true};
    must(cb_driver_new(&args, &t->d, &err), &err);
}

static void end_driving(driven *t)
{
    cb_driver_free(t->d);
    cb_io_close(t->io);
    cubed_plan_unref(t->plan);
    cubed_array_unref(t->x);
    free(t->data);
}

/* A failed task is retried alone, and the tasks after it form a range that need not wait for it. */
static void test_split(void **state)
{
    const cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    driven t;
    begin_driving(*state, &o, 0, &t);
    cb_driver *d = t.d;
    const cubed_task_range whole = next_range(d);
    assert_true(whole.last - whole.first > 3);
    cubed_task_report r = {.token = whole.token, .task = whole.first};
    must(cb_driver_report(d, &r, &err), &err);
    r.task++;
    r.error.status = CUBED_E_IO;
    r.error.transient = true;
    must(cb_driver_report(d, &r, &err), &err);
    assert_int_equal(cb_driver_waiting(d), 2);
    assert_int_equal(t.stats.num_retries, 1);
    int found = 0;
    for (int tries = 0; found < 2 && tries < 10000; tries++) {
        const cubed_task_range again = next_range(d);
        if (again.first == r.task) {
            found++;
            assert_int_equal(again.last, r.task + 1);
        } else if (again.first == r.task + 1) {
            found++;
            assert_int_equal(again.last, whole.last);
        }
        for (int64_t k = again.first; k < again.last; k++) {
            const cubed_task_report done = {.token = again.token, .task = k};
            must(cb_driver_report(d, &done, &err), &err);
        }
        if (cb_driver_is_over(d)) break;
    }
    assert_int_equal(found, 2);
    end_driving(&t);
}

/* Takes the next range, and reports all of its tasks with a duration of `task_ms` each. Returns the number of tasks. */
static int64_t drive_range(cb_driver *d, int64_t task_ms)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_task_range range = next_range(d);
    for (int64_t k = range.first; k < range.last; k++) {
        const cubed_task_report r = {
            .token = range.token, .task = k, .start_ns = 1000, .end_ns = 1000 + task_ms * 1000000};
        must(cb_driver_report(d, &r, &err), &err);
    }
    return range.last - range.first;
}

/* The duration of a user-defined function is unknown until some of its tasks have ended: until then ranges have one task,
 * afterwards as many as are worth sending, as long as all workers have work. */
static void test_ranges_of_functions(void **state)
{
    const cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    driven t;
    begin_driving(*state, &o, 100, &t);
    const cubed_task_range first = next_range(t.d);
    assert_int_equal(first.last - first.first, 1);
    assert_int_equal(drive_range(t.d, 10), 1);
    assert_int_equal(drive_range(t.d, 10), 11); /* tasks of 10 ms in a range of about 100 ms */
    assert_int_equal(drive_range(t.d, 1000), 11);
    for (int i = 0; i < 20; i++) assert_int_equal(drive_range(t.d, 1000), 1);
    int64_t last = 0, most = 0;
    while (t.stats.num_tasks < 511) {
        last = drive_range(t.d, 5);
        most = last > most ? last : most;
    }
    assert_in_range(most, 15, 21); /* ranges became longer, because old durations are forgotten */
    /* the last ranges are short, so that all workers have work until the end */
    assert_in_range(last, 1, 2);
    end_driving(&t);
}

/* Returns the number of attempts of task 0, which always fails in this way. *st is the error of the run, or CUBED_OK if it has
 * not failed after three attempts. */
static int attempts_of(const fixture *f, cubed_failure failure, cubed_status status,
                       cubed_status *st, cubed_error *err)
{
    /* by default, two more attempts after the first one */
    const cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    driven t;
    int tried = 0;
    begin_driving(f, &o, 0, &t);
    *st = CUBED_OK;
    while (*st == CUBED_OK && tried < 3) {
        const cubed_task_range range = next_range(t.d);
        for (int64_t k = range.first; k < range.last && *st == CUBED_OK; k++) {
            cubed_task_report r = {.token = range.token, .task = k, .measured_mem = 77};
            if (k == 0) {
                r.error = (cubed_error){.status = status, .message = "why", .failure = failure};
                tried++;
            }
            *st = cb_driver_report(t.d, &r, err);
            if (k == 0) break;
        }
    }
    end_driving(&t);
    return tried;
}

static void test_failures_decide_about_retries(void **state)
{
    const fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    assert_int_equal(attempts_of(f, CUBED_FAILURE_PERMANENT, CUBED_E_IO, &st, &err), 1);
    assert_int_equal(st, CUBED_E_IO);
    assert_int_equal(attempts_of(f, CUBED_FAILURE_PERMANENT, CUBED_E_NOMEM, &st, &err), 1);
    assert_int_equal(st, CUBED_E_NOMEM); /* the run reports the status of the failed task */
    assert_non_null(strstr(err.message, "why (the task was projected to need "));
    assert_non_null(strstr(err.message, " bytes, and 77 were measured"));
    assert_int_equal(attempts_of(f, CUBED_FAILURE_TRANSIENT, CUBED_E_IO, &st, &err), 3);
    assert_int_equal(st, CUBED_E_IO);
    assert_int_equal(attempts_of(f, CUBED_FAILURE_LOST, CUBED_E_IO, &st, &err), 3);
    assert_int_equal(st, CUBED_E_IO);
    assert_int_equal(attempts_of(f, CUBED_FAILURE_TIMED_OUT, CUBED_E_IO, &st, &err), 3);
    assert_int_equal(st, CUBED_E_IO);
    /* A task that is preempted as often is still retried. */
    assert_int_equal(attempts_of(f, CUBED_FAILURE_PREEMPTED, CUBED_E_CANCELLED, &st, &err), 3);
    assert_int_equal(st, CUBED_OK);
}

/* --- Resuming ------------------------------------------------------------------------------------------- */

static void on_event(void *ctx, const cubed_event *e)
{
    fixture *f = ctx;
    if (e->kind == CUBED_EVENT_TASK_END && ++f->ends == f->cancel_after)
        cubed_cancel_set(&f->cancel);
}

static cubed_status run(fixture *f, cubed_plan *plan, bool resume, int64_t window,
                        cubed_run_stats *stats, cubed_error *err)
{
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cb_io *io = NULL;
    cubed_executor *ex = NULL;
    cubed_status st;
    *stats = (cubed_run_stats){0};
    o.resume = resume;
    o.cancel = &f->cancel;
    o.on_event = on_event;
    o.event_ctx = f;
    f->ends = 0;
    cubed_cancel_clear(&f->cancel);
    const cb_io_options storage = {
        .mode = CB_IO_RUN, .resume = resume, .keep = CUBED_KEEP_CHUNKS | CUBED_KEEP_INTERMEDIATES};
    CB_TRY(cb_io_open(plan, &storage, &io, err));
    const cubed_executor_vtable *vt = between(0, 1) ? &cb_executor_threads : &cb_executor_single;
    const cb_executor_args args = {.head = {.struct_size = sizeof args.head,
                                            .plan = plan,
                                            .workers = plan->max_workers,
                                            .cancel = o.cancel},
                                   .env = {plan, io, o.cancel}};
    st = vt->open(&args.head, &ex, err);
    if (st == CUBED_OK) {
        const cb_schedule_args driver = {.plan = plan,
                                         .io = io,
                                         .executor = ex,
                                         .options = &o,
                                         .stats = stats,
                                         .window = window};
        st = cb_schedule_run(&driver, err);
        ex->vt->close(ex);
    }
    if (st == CUBED_OK)
        st = cb_io_commit(io, err);
    else
        cb_io_keep(io);
    cb_io_close(io);
    return st;
}

static void read_back(fixture *f, bool again)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan;
    must(cubed_array_open(f->ctx, f->out, &x, &err), &err);
    const cubed_target t = {.array = x, .data = again ? f->again : f->result};
    must(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, &err), &err);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    char path[160];
    snprintf(path, sizeof path, "%s", f->out);
    assert_int_equal(remove_dir(path), 0);
}

static void test_resume(void **state)
{
    fixture *f = *state;
    int64_t resumed = 0, interrupted = 0;
    random_state = 5;
    for (int i = 0; i < 60 / SLOW; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_run_stats stats;
        cubed_plan_info info;
        cubed_plan *plan = random_plan(f, f->out);
        if (!plan) continue;
        cubed_plan_get_info(plan, &info);
        f->cancel_after = 0;
        must(run(f, plan, false, 0, &stats, &err), &err);
        read_back(f, false);
        bool resume = false;
        for (cubed_status st = CUBED_E_CANCELLED; st != CUBED_OK; resume = true) {
            f->cancel_after = (int)between(1, 1 + info.num_tasks);
            st = run(f, plan, resume, between(1, 9), &stats, &err);
            resumed += stats.num_resumed;
            interrupted += st != CUBED_OK;
            if (st != CUBED_OK) assert_int_equal(st, CUBED_E_CANCELLED);
            if (st == CUBED_OK)
                assert_int_equal(stats.num_tasks + stats.num_resumed, info.num_tasks);
        }
        read_back(f, true);
        assert_memory_equal(f->again, f->result, sizeof f->result);
        cubed_plan_unref(plan);
    }
    assert_true(resumed > 200 / SLOW && interrupted > 20 / SLOW);
}

/* --- Memory --------------------------------------------------------------------------------------------- */

/* A run allocates the memory that plans count. */
static void test_counted(void **state)
{
    enum { N = 500, BESIDE = 24 << 10 /* memory of the driver, for any plan */ };
    const int64_t shape[] = {N, N}, chunk[] = {1, 1};
    const cubed_scalar one = {.f64 = 1};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x, *y, *z;
    cubed_plan *plan;
    cubed_run_options r = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats = {0};
    cb_io *io;
    must(cubed_array_full(f->ctx, CUBED_FLOAT64, 2, shape, chunk, &one, &x, &err), &err);
    must(cubed_cumulative(CUBED_REDUCE_SUM, x, 0, false, &y, &err), &err);
    must(cubed_cumulative(CUBED_REDUCE_SUM, y, 1, false, &z, &err), &err);
    const cubed_target t = {.array = z, .url = f->out};
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    must(cb_io_open(plan, &(cb_io_options){.mode = CB_IO_RUN}, &io, &err), &err);
    cb_io_close(io);
    fake w = {.head = {.vt = &fake_vtable, .slots = SLOTS, .workers = 2},
              .plan = plan,
              .runs = flags(plan->nstages, tasks_of, plan),
              .written = flags(plan->ir.nnodes, chunks_of, plan)};
    const int64_t before = f->bytes.most = f->bytes.now;
    must(cb_io_open(plan, &(cb_io_options){.mode = CB_IO_RUN}, &io, &err), &err);
    const cb_schedule_args args = {
        .plan = plan, .io = io, .executor = &w.head, .options = &r, .stats = &stats};
    must(cb_schedule_run(&args, &err), &err);
    const int64_t counted = (int64_t)cb_plan_run_bytes(plan);
    assert_in_range(f->bytes.most - before, counted * 9 / 10, counted + BESIDE);
    assert_true(counted > (int64_t)12 * N * N);
    cb_io_close(io);
    free_flags(w.runs, plan->nstages);
    free_flags(w.written, plan->ir.nnodes);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_array_unref(y);
    cubed_array_unref(z);
}

/* Memory does not grow with tasks, or with the chunks that they read. */
static void test_large(void **state)
{
    const int64_t shape[] = {10000000, 10000000};
    const cubed_scalar one = {.f64 = 1};
    fixture *f = *state;
    for (int64_t side = 500; side <= 20000; side *= 2) {
        for (uint64_t mem = 50 << 20; mem <= (uint64_t)1 << 30; mem *= 4) {
            const int64_t chunk[] = {side, side};
            cubed_error err = CUBED_ERROR_INIT;
            cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
            cubed_array *x, *y;
            cubed_plan *plan;
            cubed_plan_info info;
            o.allowed_mem = mem;
            o.reserved_mem = 0;
            o.max_workers = 2;
            must(cubed_array_full(f->ctx, CUBED_FLOAT64, 2, shape, chunk, &one, &x, &err), &err);
            must(cubed_matmul(x, x, &y, &err), &err);
            const cubed_target t = {.array = y};
            must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
            cubed_plan_get_info(plan, &info);
            assert_true(info.num_tasks > 100000);
            assert_in_range(cb_plan_metadata(plan), 1, 1 << 20);
            cubed_plan_unref(plan);
            cubed_array_unref(x);
            cubed_array_unref(y);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
        cmocka_unit_test_setup_teardown(test_silence, setup, teardown),
        cmocka_unit_test_setup_teardown(test_split, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranges_of_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures_decide_about_retries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
