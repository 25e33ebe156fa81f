/* A run with an external scheduler: ranges in any order, repeated, lost, failing, and drivers that end. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/block.h"
#include "cubed/sys/message.h"
#include "plan_test.h"
#include "random_test.h"
#include "remove_dir.h"
#include "run/driver/run_parts.h"
#include "run/places/notes.h"
#include "test_path.h"

enum { ROWS = 61, COLUMNS = 37, N = ROWS * COLUMNS, MOST = 64 };

typedef struct fixture {
    cubed_context *ctx;
    cubed_worker *workers[2];
    char folder[64], out[96], work[96];
    double expected[N], got[N];
} fixture;

/* Plans x - mean(x, axis=0), with the result in memory or in a store with other chunks. */
static cubed_plan *new_plan(const fixture *f, void *data)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {7, 5}, out[2] = {10, 20};
    const cubed_target to =
        data ? (cubed_target){.data = data} : (cubed_target){.url = f->out, .chunks = out};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = 3;
    o.work_dir = f->work;
    must(cubed_array_random(f->ctx, 2, shape, chunks, 5, &x, &err), &err);
    return new_deviations(f->ctx, x, to, o);
}

static void expect_result(fixture *f)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan;
    memset(f->got, 0, sizeof f->got);
    must(cubed_array_open(f->ctx, f->out, &x, &err), &err);
    const cubed_target t = {.array = x, .data = f->got};
    must(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, &err), &err);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    assert_memory_equal(f->got, f->expected, sizeof f->got);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(rmdir(f->work), 0); /* succeeds because the work directory is empty */
}

static cubed_work_input input(const void *plan, size_t plan_size,
                              const uint8_t message[CUBED_RANGE_BYTES])
{
    return (cubed_work_input){sizeof(cubed_work_input), plan, plan_size, message,
                              CUBED_RANGE_BYTES,        NULL, 0};
}

/* Works as a separate worker, which receives only bytes. */
static void work_on(const cubed_plan *plan, cubed_worker *worker, const cubed_range_message *m,
                    const void **reports, size_t *size)
{
    cubed_error err = CUBED_ERROR_INIT;
    uint8_t bytes[CUBED_RANGE_BYTES];
    void *data;
    size_t data_size;
    cubed_range_write(m, bytes);
    must(cubed_plan_save(plan, &data, &data_size, &err), &err);
    const cubed_work_input in = input(data, data_size, bytes);
    must(cubed_work(worker, &in, reports, size, &err), &err);
    cubed_plan_free_bytes(plan, data, data_size);
}

static void work(const cubed_plan *plan, cubed_worker *worker, const cubed_task_range *range,
                 const char *run, const void **reports, size_t *size)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_range_message m = {.range = *range};
    snprintf(m.run, sizeof m.run, "%s", run);
    must(cubed_plan_get_id(plan, m.plan, &err), &err);
    work_on(plan, worker, &m, reports, size);
}

/* Reports all results to the driver, or all except the last one. */
static void tell(cubed_driver *d, const cubed_context *ctx, const void *reports, size_t size,
                 bool all)
{
    cubed_error err = CUBED_ERROR_INIT;
    const char *at = reports;
    while (size > 0) {
        cubed_task_report r;
        size_t used;
        must(cubed_report_read(ctx, at, size, &r, &used, &err), &err);
        assert_int_equal(r.error.status, CUBED_OK);
        if (all || used < size) must(cubed_run_report(d, &r, &err), &err);
        at += used;
        size -= used;
    }
}

static void work_and_tell(const fixture *f, int worker, const cubed_plan *plan,
                          const cubed_task_range *range, const char *run, cubed_driver *d)
{
    const void *reports;
    size_t size;
    work(plan, f->workers[worker], range, run, &reports, &size);
    tell(d, f->ctx, reports, size, true);
}

typedef struct count {
    int starts, ends, tasks;
} count;

static void on_event(void *ctx, const cubed_event *e)
{
    count *c = ctx;
    c->starts += e->kind == CUBED_EVENT_PLAN_START;
    c->ends += e->kind == CUBED_EVENT_PLAN_END;
    c->tasks += e->kind == CUBED_EVENT_TASK_END || e->kind == CUBED_EVENT_TASK_RESUMED;
}

/* Runs until the run is over, or until some ranges are done; returns whether it is over. */
static bool drive(fixture *f, cubed_plan *plan, const char *run, int most, count *events)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_driver *d;
    cubed_task_range flight[MOST];
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    int n = 0, got, done = 0;
    o.on_event = on_event;
    o.event_ctx = events;
    o.retries = 20;
    o.max_in_flight = 1 + (unsigned)pick(MOST);
    must(cubed_driver_new(plan, run, &o, NULL, &d, &err), &err);
    while (!cubed_run_is_over(d) && done < most) {
        must(cubed_run_ready(d, flight + n, MOST - n, &got, &err), &err);
        n += got;
        if (n == 0) continue; /* wait: lost ranges become ready again after a pause */
        const int k = pick(n);
        const cubed_task_range range = flight[k];
        const void *reports = NULL;
        size_t size = 0;
        flight[k] = flight[--n];
        const int fate = pick(8);
        for (unsigned i = 0; i <= (fate == 0); i++) /* also twice */
            work(plan, f->workers[pick(2)], &range, run, &reports, &size);
        tell(d, f->ctx, reports, size, fate != 1);
        if (fate == 1) must(cubed_run_lost(d, range.token, "nobody knows", &err), &err);
        if (fate <= 2) tell(d, f->ctx, reports, size, true); /* sends reports late or twice */
        done++;
    }
    const bool over = cubed_run_is_over(d);
    cubed_driver_free(d);
    return over;
}

static void test_any_scheduler_gets_the_same(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 12; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        char run[CUBED_RUN_NAME_CAP];
        count events = {0};
        cubed_plan_info info;
        random_state = (uint64_t)i;
        cubed_plan *plan = new_plan(f, NULL);
        cubed_plan_get_info(plan, &info);
        must(cubed_run_begin(plan, NULL, NULL, run, &err), &err);
        int drivers = 1;
        while (!drive(f, plan, run, i % 2 ? 1000000 : 9, &events)) drivers++;
        assert_int_equal(events.starts, drivers);
        assert_int_equal(events.ends, drivers);
        if (i % 2) assert_int_equal(events.tasks, info.num_tasks);
        if (i % 2 == 0) assert_true(drivers > 1);
        must(cubed_run_finish(plan, run, &err), &err);
        must(cubed_run_finish(plan, run, &err), &err);
        cubed_plan_unref(plan);
        expect_result(f);
    }
}

/* Executes all ready ranges. If `but_one`, leaves out the first, so that the ranges that wait for it do not become ready. */
static cubed_task_range work_on_all(fixture *f, const cubed_plan *plan, cubed_driver *d,
                                    const char *run, bool but_one)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_task_range flight[MOST];
    int n = 0, got;
    while (!cubed_run_is_over(d)) {
        must(cubed_run_ready(d, flight + n, MOST - n, &got, &err), &err);
        n += got;
        if (but_one && n == 1) break;
        work_and_tell(f, 0, plan, &flight[--n], run, d);
    }
    return flight[0];
}

/* Waits some seconds for a range that is given to a second worker. */
static bool wait_for_backup(cubed_driver *d, int ms, cubed_task_range *range)
{
    cubed_error err = CUBED_ERROR_INIT;
    int got = 0;
    for (int i = 0; i < ms && !got; i += 10) {
        usleep(10000);
        must(cubed_run_ready(d, range, 1, &got, &err), &err);
    }
    return got;
}

/* Runs a plan with a slow range and its backup. One of the two reports first; the other is lost or reports later. */
static void run_with_backup(fixture *f, bool backup_first, bool other_is_lost)
{
    cubed_error err = CUBED_ERROR_INIT;
    char run[CUBED_RUN_NAME_CAP];
    cubed_driver *d;
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_run_stats stats;
    cubed_plan_info info;
    cubed_task_range both[2], none;
    count events = {0};
    int got;
    cubed_plan *plan = new_plan(f, NULL);
    cubed_plan_get_info(plan, &info);
    o.on_event = on_event;
    o.event_ctx = &events;
    o.retries = 0;
    must(cubed_run_begin(plan, NULL, NULL, run, &err), &err);
    must(cubed_driver_new(plan, run, &o, &stats, &d, &err), &err);
    both[0] = work_on_all(f, plan, d, run, true);
    assert_true(wait_for_backup(d, 20000, &both[1]));
    assert_int_equal(both[0].stage, both[1].stage);
    assert_int_equal(both[0].first, both[1].first);
    assert_int_equal(both[0].last, both[1].last);
    assert_true(both[0].token != both[1].token);
    /* No second backup is given: at most one worker in twenty may have one. */
    must(cubed_run_ready(d, &none, 1, &got, &err), &err);
    assert_int_equal(got, 0);
    if (other_is_lost)
        must(cubed_run_lost(d, both[!backup_first].token, "it was ended", &err), &err);
    work_and_tell(f, 1, plan, &both[backup_first], run, d);
    if (!other_is_lost) { /* late */
        work_and_tell(f, 0, plan, &both[!backup_first], run, d);
    }
    (void)work_on_all(f, plan, d, run, false);
    assert_int_equal(events.tasks, info.num_tasks);
    assert_int_equal(stats.num_tasks, info.num_tasks);
    assert_int_equal(stats.num_backups, 1);
    assert_int_equal(stats.num_retries, other_is_lost);
    cubed_driver_free(d);
    must(cubed_run_finish(plan, run, &err), &err);
    cubed_plan_unref(plan);
    expect_result(f);
}

static void test_stragglers_have_backups(void **state)
{
    run_with_backup(*state, true, false);
    run_with_backup(*state, false, false);
    run_with_backup(*state, true, true);
    run_with_backup(*state, false, true);
}

/* Executes ready ranges. Ranges that repeat one of `late` are appended to `twins` instead. Returns the length of `twins`. */
static int sort_out(fixture *f, const cubed_plan *plan, cubed_driver *d, const char *run,
                    const cubed_task_range *late, int nlate, cubed_task_range *twins, int ntwins)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_task_range ready[MOST];
    int got;
    must(cubed_run_ready(d, ready, MOST, &got, &err), &err);
    for (int i = 0; i < got; i++) {
        bool is_twin = false;
        for (int k = 0; k < nlate; k++)
            is_twin |= ready[i].stage == late[k].stage && ready[i].first == late[k].first;
        if (is_twin) {
            assert_true(ntwins < MOST);
            twins[ntwins++] = ready[i];
            continue;
        }
        work_and_tell(f, 0, plan, &ready[i], run, d);
    }
    return ntwins;
}

/* At most one of twenty workers has a backup, however many ranges are late. */
static void test_backups_are_few(void **state)
{
    enum { WORKERS = 40, SHARE = WORKERS / 20, LATE = 8 };
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    char run[CUBED_RUN_NAME_CAP];
    cubed_driver *d;
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_run_stats stats;
    cubed_task_range late[MOST], twins[MOST];
    int n;
    cubed_plan *plan = new_plan(f, NULL);
    o.workers = WORKERS;
    must(cubed_run_begin(plan, NULL, NULL, run, &err), &err);
    must(cubed_driver_new(plan, run, &o, &stats, &d, &err), &err);
    must(cubed_run_ready(d, late, MOST, &n, &err), &err);
    assert_true(n > LATE + 1);
    for (; n > LATE; n--) {
        work_and_tell(f, 0, plan, &late[n - 1], run, d);
    }
    int ntwins = 0, told = 0;
    /* After the maximum number of backups, no further one is given for a second. */
    for (int i = 0, more = 0; i < 1000 && more < 100; i++, usleep(10000), more += ntwins >= SHARE)
        ntwins = sort_out(f, plan, d, run, late, n, twins, ntwins);
    assert_int_equal(ntwins, SHARE);
    /* Whenever a backup ends, its original range is complete too, and another backup may be given. */
    for (int i = 0; i < 2000 && !cubed_run_is_over(d); i++, usleep(10000)) {
        ntwins = sort_out(f, plan, d, run, late, n, twins, ntwins);
        assert_true(ntwins - told <= SHARE);
        if (told == ntwins) continue;
        for (int k = 0; k < n; k++) {
            if (late[k].stage != twins[told].stage || late[k].first != twins[told].first) continue;
            work_and_tell(f, 1, plan, &twins[told], run, d);
            work_and_tell(f, 0, plan, &late[k], run, d);
        }
        told++;
    }
    assert_true(cubed_run_is_over(d));
    assert_int_equal(stats.num_backups, LATE);
    cubed_driver_free(d);
    must(cubed_run_finish(plan, run, &err), &err);
    cubed_plan_unref(plan);
    expect_result(f);
}

static void test_backups_can_be_declined(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    char run[CUBED_RUN_NAME_CAP];
    cubed_driver *d;
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_task_range range, none;
    cubed_plan *plan = new_plan(f, NULL);
    o.backups = false;
    must(cubed_run_begin(plan, NULL, NULL, run, &err), &err);
    must(cubed_driver_new(plan, run, &o, NULL, &d, &err), &err);
    range = work_on_all(f, plan, d, run, true);
    assert_false(wait_for_backup(d, 1500, &none));
    work_and_tell(f, 0, plan, &range, run, d);
    (void)work_on_all(f, plan, d, run, false);
    cubed_driver_free(d);
    must(cubed_run_finish(plan, run, &err), &err);
    cubed_plan_unref(plan);
    expect_result(f);
}

static void test_what_workers_are_told_wrong(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_plan(f, NULL);
    void *data;
    size_t data_size;
    cubed_range_message m = {.range = {.token = 77, .first = 0, .last = 1}, .run = "monday"};
    const struct {
        const char *run, *plan;
        int stage;
        int64_t last;
        cubed_status status;
        const char *text;
    } cases[] = {
        {"tuesday", "", 0, 1, CUBED_E_NOT_FOUND, "run tuesday does not write"},
        {"monday", "0123", 0, 1, CUBED_E_ARG, "the message belongs to plan 0123"},
        {"monday", "", 99, 1, CUBED_E_INDEX, "stage 99"},
        {"monday", "", 0, 1000000, CUBED_E_INDEX, "stage 0 has tasks 0 to"},
        {"/", "", 0, 1, CUBED_E_ARG, "the run's name is \"/\""},
    };
    char name[CUBED_RUN_NAME_CAP];
    must(cubed_run_begin(plan, "monday", NULL, name, &err), &err);
    must(cubed_plan_save(plan, &data, &data_size, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[CUBED_RANGE_BYTES];
        const void *reports;
        size_t size, used;
        cubed_task_report r;
        snprintf(m.run, sizeof m.run, "%s", cases[i].run);
        snprintf(m.plan, sizeof m.plan, "%s", cases[i].plan);
        m.range.stage = cases[i].stage;
        m.range.last = cases[i].last;
        cubed_range_write(&m, bytes);
        const cubed_work_input in = input(data, data_size, bytes);
        must(cubed_work(f->workers[0], &in, &reports, &size, &err), &err);
        must(cubed_report_read(f->ctx, reports, size, &r, &used, &err), &err);
        assert_int_equal(used, size);
        assert_int_equal(r.token, 77);
        assert_int_equal(r.error.status, cases[i].status);
        if (!strstr(r.error.message, cases[i].text))
            fail_msg("\"%s\" has no \"%s\"", r.error.message, cases[i].text);
    }
    /* A worker that was made for a plan accepts only messages without a plan. If it has no context, it uses that of the plan. */
    cubed_worker_options own = CUBED_WORKER_OPTIONS_INIT;
    cubed_worker *made;
    own.plan = plan;
    must(cubed_worker_new(NULL, &own, &made, &err), &err);
    cubed_range_message ours = {.range = {.token = 6, .last = 1}, .run = "monday"};
    uint8_t alone[CUBED_RANGE_BYTES];
    const void *answer;
    size_t answer_size, read;
    cubed_task_report report;
    cubed_range_write(&ours, alone);
    const cubed_work_input twice = input(data, data_size, alone), once = input(NULL, 0, alone);
    assert_int_equal(cubed_work(made, &twice, &answer, &answer_size, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "expected a message without a plan"));
    must(cubed_work(made, &once, &answer, &answer_size, &err), &err);
    must(cubed_report_read(f->ctx, answer, answer_size, &report, &read, &err), &err);
    assert_int_equal(report.token, 6);
    cubed_worker_free(made);
    /* A worker that limits its memory does so only while it executes tasks. */
    struct rlimit before, after;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    own.limits_memory = true;
    must(cubed_worker_new(NULL, &own, &made, &err), &err);
    for (int i = 0; i < 2; i++) {
        must(cubed_work(made, &once, &answer, &answer_size, &err), &err);
        must(cubed_report_read(f->ctx, answer, answer_size, &report, &read, &err), &err);
        assert_int_equal(report.error.status, CUBED_OK);
        assert_int_equal(getrlimit(RLIMIT_DATA, &after), 0);
        assert_true(after.rlim_cur == before.rlim_cur && after.rlim_max == before.rlim_max);
    }
    cubed_worker_free(made);
    own.limits_memory = false;
    own.plan = NULL;
    assert_int_equal(cubed_worker_new(NULL, &own, &made, &err), CUBED_E_ARG);
    /* Lost ranges can be reported even if the plan cannot be read here. */
    cubed_range_message any = {.range = {.token = 5, .last = 1}, .run = "monday"};
    uint8_t bytes[CUBED_RANGE_BYTES];
    const void *reports;
    size_t size, used;
    cubed_task_report r;
    cubed_range_write(&any, bytes);
    ((uint8_t *)data)[8]++;
    const cubed_work_input in = input(data, data_size, bytes);
    must(cubed_work(f->workers[1], &in, &reports, &size, &err), &err);
    must(cubed_report_read(f->ctx, reports, size, &r, &used, &err), &err);
    assert_int_equal(r.error.status, CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(r.error.message, "version"));
    cubed_plan_free_bytes(plan, data, data_size);
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(remove_dir(f->work), 0);
}

static int asked; /* number of times that a plan with the function below was compiled */

static cubed_block_need count_asked(const cubed_block_call *largest, void *ctx)
{
    (void)largest;
    (void)ctx;
    asked++;
    return (cubed_block_need){0, 0};
}

static cubed_status copy_block(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    memcpy(call->out[0].data, call->in[0].data, (size_t)call->in[0].shape[0] * sizeof(double));
    return CUBED_OK;
}

/* Makes a plan of three tasks, each of which copies a block with a user-defined function. */
static cubed_plan *new_copy(fixture *f, const cubed_block_fn *fn)
{
    const cubed_kernel kernel = {.name = fn->name};
    const int64_t chunk = 10;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *y;
    cubed_plan *plan;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.work_dir = f->work;
    must(cubed_context_add_block_fn(f->ctx, fn, &err), &err);
    must(cubed_array_arange(f->ctx, 0, 30, 1, CUBED_FLOAT64, &chunk, &x, &err), &err);
    must(cubed_map_blocks(f->ctx, &kernel, &x, 1, CUBED_FLOAT64, NULL, &y, &err), &err);
    const cubed_target t = {.array = y, .url = f->out};
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    cubed_array_unref(y);
    cubed_array_unref(x);
    return plan;
}

/* If several messages of a run contain the same plan, it is loaded once. */
static void test_plans_are_loaded_once(void **state)
{
    static const cubed_block_fn fn = {.struct_size = sizeof(cubed_block_fn),
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "copy",
                                      .need = count_asked,
                                      .run = copy_block};
    static const char *const runs[] = {"once", "once", "once", "other", "other", "once"};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_copy(f, &fn);
    char name[CUBED_RUN_NAME_CAP];
    int before = 0;
    must(cubed_run_begin(plan, "once", NULL, name, &err), &err);
    for (int i = 0; i < 6; i++) {
        const cubed_task_range range = {.token = 1, .first = i % 3, .last = i % 3 + 1};
        const void *reports;
        size_t size, used;
        cubed_task_report r;
        before = asked;
        work(plan, f->workers[0], &range, runs[i], &reports, &size);
        must(cubed_report_read(f->ctx, reports, size, &r, &used, &err), &err);
        const bool begun = strcmp(runs[i], "once") == 0;
        assert_int_equal(r.error.status, begun ? CUBED_OK : CUBED_E_NOT_FOUND);
        const bool again = i > 0 && strcmp(runs[i], runs[i - 1]) == 0;
        assert_int_equal(asked == before, again);
    }
    must(cubed_run_finish(plan, name, &err), &err);
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(remove_dir(f->work), 0);
}

static int ended; /* number of times that functions of plans were informed of the end of a run */

static void count_ended(const void *params, size_t params_size, void *ctx)
{
    (void)params;
    (void)params_size;
    (void)ctx;
    ended++;
}

static cubed_status work_on_task(const fixture *f, const cubed_plan *plan, int64_t task,
                                 bool driven)
{
    cubed_error err = CUBED_ERROR_INIT;
    const void *reports;
    size_t size, used;
    cubed_task_report r;
    const cubed_range_message m = {
        .range = {.first = task, .last = task + 1}, .run = "open", .driven = driven};
    work_on(plan, f->workers[0], &m, &reports, &size);
    must(cubed_report_read(f->ctx, reports, size, &r, &used, &err), &err);
    return r.error.status;
}

/* A worker keeps a run open, but detects that the run was removed, was replaced under its name, or is over. */
static void test_runs_stay_open_while_they_last(void **state)
{
    static const cubed_block_fn fn = {.struct_size = sizeof(cubed_block_fn),
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "copy until the end",
                                      .need = count_asked,
                                      .run = copy_block,
                                      .ended = count_ended};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_copy(f, &fn);
    char name[CUBED_RUN_NAME_CAP];
    must(cubed_run_begin(plan, "open", NULL, name, &err), &err);
    assert_int_equal(work_on_task(f, plan, 0, false), CUBED_OK);
    assert_int_equal(work_on_task(f, plan, 1, false), CUBED_OK);
    assert_int_equal(ended, 0);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(remove_dir(f->work), 0);
    assert_int_equal(work_on_task(f, plan, 2, false), CUBED_E_NOT_FOUND);
    assert_int_equal(ended, 1);
    must(cubed_run_begin(plan, "open", NULL, name, &err), &err);
    for (int64_t i = 0; i < 3; i++) assert_int_equal(work_on_task(f, plan, i, i == 2), CUBED_OK);
    /* Tasks that a driver gives to workers leave no notes. */
    assert_int_equal(cubed_run_finish(plan, name, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "task 2 of stage 0"));
    assert_int_equal(work_on_task(f, plan, 2, false), CUBED_OK);
    assert_int_equal(ended, 1);
    must(cubed_run_finish(plan, name, &err), &err);
    assert_int_equal(work_on_task(f, plan, 2, false), CUBED_E_NOT_FOUND);
    assert_int_equal(ended, 2);
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(rmdir(f->work), 0);
}

static cubed_status copy_slowly(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    if (call->out[0].data) (void)usleep(*(const useconds_t *)ctx);
    return copy_block(call, NULL, err);
}

/* A worker that skips completed tasks compares the time that is left with its longest task, also after a skipped task. */
static void test_no_task_begins_late_after_a_skipped_one(void **state)
{
    static useconds_t pause;
    static const cubed_block_fn fn = {.struct_size = sizeof(cubed_block_fn),
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "copy slowly",
                                      .ctx = &pause,
                                      .run = copy_slowly};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_copy(f, &fn);
    char name[CUBED_RUN_NAME_CAP];
    cubed_worker_options o = CUBED_WORKER_OPTIONS_INIT;
    cubed_worker *worker;
    uint8_t bytes[CUBED_RANGE_BYTES];
    const void *reports;
    void *data;
    size_t data_size, size, used;
    cubed_task_report first, last;
    must(cubed_run_begin(plan, "open", NULL, name, &err), &err);
    assert_int_equal(work_on_task(f, plan, 1, false), CUBED_OK);
    o.skip_done = true;
    must(cubed_worker_new(f->ctx, &o, &worker, &err), &err);
    cubed_range_write(&(cubed_range_message){.range = {.first = 0, .last = 3}, .run = "open"},
                      bytes);
    must(cubed_plan_save(plan, &data, &data_size, &err), &err);
    cubed_work_input in = input(data, data_size, bytes);
    in.time_ms = 4000;
    pause = 1800000; /* in us: task 0 ends in time on a busy machine too, and task 2 would not */
    must(cubed_work(worker, &in, &reports, &size, &err), &err);
    must(cubed_report_read(f->ctx, reports, size, &first, &used, &err), &err);
    assert_int_equal(first.error.status, CUBED_OK);
    assert_int_equal(first.task, 0);
    must(cubed_report_read(f->ctx, (const char *)reports + used, size - used, &last, &used, &err),
         &err);
    assert_int_equal(last.task, 2);
    assert_int_equal(last.error.failure, CUBED_FAILURE_PREEMPTED);
    assert_non_null(strstr(last.error.message, "task 2 did not start"));
    pause = 0;
    assert_int_equal(work_on_task(f, plan, 0, false), CUBED_OK);
    assert_int_equal(work_on_task(f, plan, 2, false), CUBED_OK);
    must(cubed_run_finish(plan, name, &err), &err);
    cubed_worker_free(worker);
    cubed_plan_free_bytes(plan, data, data_size);
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(rmdir(f->work), 0);
}

/* A worker writes its note to the folder that it opened, not to a folder that has the name now. */
static void test_late_notes(void **state)
{
    static const char other[] = "other", note[] = "done/0/0-1";
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_plan(f, NULL);
    char name[CUBED_RUN_NAME_CAP], folder[512] = "", moved[128], path[1024];
    cb_io *io;
    must(cubed_run_begin(plan, "late", NULL, name, &err), &err);
    must(cb_parts_open(plan, CB_IO_WORKER, name, &io, &err), &err);
    must(cb_io_spill(io, &err), &err);
    DIR *d = opendir(f->work);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        if (*e->d_name != '.') snprintf(folder, sizeof folder, "%s/%s", f->work, e->d_name);
    }
    closedir(d);
    snprintf(moved, sizeof moved, "%s/%s", f->work, other);
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    must(cb_note_done(io, &(cubed_task_range){.stage = 0, .first = 0, .last = 1}, &err), &err);
    snprintf(path, sizeof path, "%s/%s", folder, note);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/%s", moved, note);
    assert_int_equal(access(path, F_OK), 0);
    /* Notes in the new folder are not read. */
    cb_notes *notes;
    must(cb_notes_read(io, plan, &notes, &err), &err);
    assert_int_equal(cb_notes_missing(notes, 0, 0), 1);
    cb_notes_free(notes);
    cb_io_close(io);
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(remove_dir(f->work), 0);
}

/* Ranges have so few tasks that their reports fit in a message. */
static void test_ranges_fit_messages(void **state)
{
    enum { LEAST = CUBED_REPORT_BYTES + sizeof(((cubed_error *)0)->message) };
    const struct {
        uint64_t bytes;
        int64_t tasks;
    } cases[] = {{0, 18}, {LEAST, 1}, {LEAST + 2 * CUBED_REPORT_BYTES + 1, 3}};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_plan(f, NULL);
    char name[CUBED_RUN_NAME_CAP];
    must(cubed_run_begin(plan, "fits", NULL, name, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
        cubed_driver *d;
        cubed_task_range range;
        int n;
        o.workers = 1;
        o.max_message_bytes = cases[i].bytes;
        must(cubed_driver_new(plan, name, &o, NULL, &d, &err), &err);
        must(cubed_run_ready(d, &range, 1, &n, &err), &err);
        assert_int_equal(n, 1);
        assert_int_equal(range.last - range.first, cases[i].tasks);
        cubed_driver_free(d);
    }
    cubed_plan_unref(plan);
    assert_int_equal(remove_dir(f->out), 0);
    assert_int_equal(remove_dir(f->work), 0);
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_error err = CUBED_ERROR_INIT;
    if (!f || cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    for (int i = 0; i < 2; i++) must(cubed_worker_new(f->ctx, NULL, &f->workers[i], &err), &err);
    test_path(f->folder, sizeof f->folder, "cubed-protocol-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    snprintf(f->work, sizeof f->work, "%s/work", f->folder);
    cubed_plan *plan = new_plan(f, f->expected);
    if (cubed_run(plan, NULL, NULL, &err) != CUBED_OK) return -1;
    cubed_plan_unref(plan);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *f = *state;
    const int rc = remove_dir(f->folder);
    for (int i = 0; i < 2; i++) cubed_worker_free(f->workers[i]);
    cubed_context_unref(f->ctx);
    free(f);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_scheduler_gets_the_same),
        cmocka_unit_test(test_stragglers_have_backups),
        cmocka_unit_test(test_backups_are_few),
        cmocka_unit_test(test_backups_can_be_declined),
        cmocka_unit_test(test_what_workers_are_told_wrong),
        cmocka_unit_test(test_plans_are_loaded_once),
        cmocka_unit_test(test_runs_stay_open_while_they_last),
        cmocka_unit_test(test_no_task_begins_late_after_a_skipped_one),
        cmocka_unit_test(test_late_notes),
        cmocka_unit_test(test_ranges_fit_messages),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
