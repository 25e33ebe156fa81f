/* A run by a scheduler of one's own: ranges in any order, twice, lost, failing, and drivers that leave. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/message.h"
#include "remove_dir.h"

enum { ROWS = 61, COLUMNS = 37, N = ROWS * COLUMNS, MOST = 64 };

typedef struct fixture {
    cubed_context *ctx;
    char folder[64], out[96], work[96];
    double expected[N], got[N];
} fixture;

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

static void must(cubed_status st, const cubed_error *err)
{
    if (st != CUBED_OK) fail_msg("%s: %s", cubed_status_str(st), err->message);
}

/* x - mean(x, axis=0) over another grid, in several stages. */
static cubed_plan *new_plan(const fixture *f, bool to_memory, void *data)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {7, 5}, out[2] = {10, 20};
    const int axis = 0;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *m, *y;
    cubed_plan *plan;
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    r.axes = &axis;
    r.naxes = 1;
    r.keepdims = true;
    o.optimize = false;
    o.max_workers = 3;
    o.allowed_mem = 100 << 20;
    o.work_dir = f->work;
    must(cubed_array_random(f->ctx, 2, shape, chunks, 5, &x, &err), &err);
    must(cubed_reduce(CUBED_REDUCE_MEAN, x, &r, &m, &err), &err);
    cubed_array *both[2] = {x, m};
    must(cubed_elementwise(CUBED_OP_SUBTRACT, both, 2, &y, &err), &err);
    cubed_target t = {.array = y, .chunks = out};
    if (to_memory)
        t = (cubed_target){.array = y, .data = data};
    else
        t.url = f->out;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    cubed_array_unref(y);
    cubed_array_unref(m);
    cubed_array_unref(x);
    return plan;
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
    assert_int_equal(rmdir(f->work), 0); /* nothing is left there */
}

/* A worker: it has nothing but bytes. */
static void work(const cubed_plan *plan, cubed_context *ctx, const cubed_task_range *range,
                 const char *run, void **reports, size_t *size)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_range_message m = {.range = *range};
    uint8_t bytes[CUBED_RANGE_BYTES];
    void *data;
    size_t data_size;
    cubed_plan *own;
    snprintf(m.run, sizeof m.run, "%s", run);
    must(cubed_plan_get_id(plan, m.plan, &err), &err);
    cubed_range_write(&m, bytes);
    must(cubed_plan_save(plan, &data, &data_size, &err), &err);
    must(cubed_plan_load(ctx, data, data_size, &own, &err), &err);
    cubed_plan_free_bytes(plan, data, data_size);
    must(cubed_work_message(own, bytes, sizeof bytes, NULL, reports, size, &err), &err);
    cubed_plan_unref(own);
}

/* Tells the driver all of it, or what comes before the last one. */
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

/* Runs until it is over, or until some ranges are done; whether it is over. */
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
    o.max_in_flight = 1 + random_below(MOST);
    must(cubed_driver_new(plan, run, &o, NULL, &d, &err), &err);
    while (!cubed_run_is_over(d) && done < most) {
        must(cubed_run_ready(d, flight + n, MOST - n, &got, &err), &err);
        n += got;
        if (n == 0) continue; /* what was lost is given again after a pause */
        const int k = (int)random_below((unsigned)n);
        const cubed_task_range range = flight[k];
        void *reports = NULL;
        size_t size = 0;
        flight[k] = flight[--n];
        const unsigned fate = random_below(8);
        for (unsigned i = 0; i <= (fate == 0); i++) { /* also twice */
            if (reports) cubed_plan_free_bytes(plan, reports, size);
            work(plan, f->ctx, &range, run, &reports, &size);
        }
        tell(d, f->ctx, reports, size, fate != 1);
        if (fate == 1) must(cubed_run_lost(d, range.token, "nobody knows", &err), &err);
        if (fate <= 2) tell(d, f->ctx, reports, size, true); /* late, and once more */
        cubed_plan_free_bytes(plan, reports, size);
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
        cubed_plan *plan = new_plan(f, false, NULL);
        cubed_plan_get_info(plan, &info);
        must(cubed_run_begin(plan, NULL, run, &err), &err);
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

static void test_what_workers_are_told_wrong(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_plan(f, false, NULL);
    cubed_range_message m = {.range = {.token = 77, .first = 0, .last = 1}, .run = "monday"};
    const struct {
        const char *run, *plan;
        int stage;
        int64_t last;
        cubed_status status;
        const char *text;
    } cases[] = {
        {"tuesday", "", 0, 1, CUBED_E_NOT_FOUND, "run tuesday does not write"},
        {"monday", "0123", 0, 1, CUBED_E_ARG, "the message is of plan 0123"},
        {"monday", "", 99, 1, CUBED_E_INDEX, "stage 99"},
        {"monday", "", 0, 1000000, CUBED_E_INDEX, "stage 0 has tasks 0 to"},
        {"/", "", 0, 1, CUBED_E_ARG, "the run's name is \"/\""},
    };
    char name[CUBED_RUN_NAME_CAP];
    must(cubed_run_begin(plan, "monday", name, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[CUBED_RANGE_BYTES];
        void *reports;
        size_t size, used;
        cubed_task_report r;
        snprintf(m.run, sizeof m.run, "%s", cases[i].run);
        snprintf(m.plan, sizeof m.plan, "%s", cases[i].plan);
        m.range.stage = cases[i].stage;
        m.range.last = cases[i].last;
        cubed_range_write(&m, bytes);
        must(cubed_work_message(plan, bytes, sizeof bytes, NULL, &reports, &size, &err), &err);
        must(cubed_report_read(f->ctx, reports, size, &r, &used, &err), &err);
        assert_int_equal(used, size);
        assert_int_equal(r.token, 77);
        assert_int_equal(r.error.status, cases[i].status);
        if (!strstr(r.error.message, cases[i].text))
            fail_msg("\"%s\" has no \"%s\"", r.error.message, cases[i].text);
        cubed_plan_free_bytes(plan, reports, size);
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
    snprintf(f->folder, sizeof f->folder, "/tmp/cubed-protocol-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    snprintf(f->work, sizeof f->work, "%s/work", f->folder);
    cubed_plan *plan = new_plan(f, true, f->expected);
    if (cubed_run(plan, NULL, NULL, &err) != CUBED_OK) return -1;
    cubed_plan_unref(plan);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *f = *state;
    const int rc = remove_dir(f->folder);
    cubed_context_unref(f->ctx);
    free(f);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_scheduler_gets_the_same),
        cmocka_unit_test(test_what_workers_are_told_wrong),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
