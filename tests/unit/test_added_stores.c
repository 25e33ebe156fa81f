/* Stores that a program adds, and stores in memory: plans that use them, and processes that refuse them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "cubed/cubed.h"
#include "later_store.h"
#include "plan/plan.h"
#include "plan_test.h"

enum { N = 40, CHUNK = 10, LISTED = 256 };

typedef struct added {
    later_store *store;
    cubed_context *ctx;
} added;

static int setup(void **state)
{
    added *a = calloc(1, sizeof *a);
    if (!a) return -1;
    a->store = later_new("later");
    a->store->seed = 1;
    *state = a;
    return cubed_context_new(NULL, &a->ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int teardown(void **state)
{
    added *a = *state;
    cubed_context_unref(a->ctx);
    later_free(a->store);
    free(a);
    return 0;
}

/* Negates the array at `from`, or the numbers from 0 on, to `to`. */
static cubed_status negate(cubed_context *ctx, const char *from, const cubed_target *to,
                           const cubed_run_options *options, cubed_run_stats *stats,
                           cubed_error *err)
{
    static const int64_t shape[1] = {N}, chunks[1] = {CHUNK};
    cubed_array *x = NULL, *y = NULL;
    cubed_plan *plan = NULL;
    cubed_target target = *to;
    cubed_status st = from ? cubed_array_open(ctx, from, &x, err)
                           : cubed_array_index(ctx, 1, shape, chunks, 0, &x, err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, err);
    target.array = y;
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &target, 1, NULL, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, options, stats, err);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
    return st;
}

static void write_and_read(cubed_context *ctx, const char *url, bool again)
{
    cubed_error err = CUBED_ERROR_INIT;
    int64_t back[N];
    const cubed_target in_store = {.url = url, .overwrite = again}, in_memory = {.data = back};
    must(negate(ctx, NULL, &in_store, NULL, NULL, &err), &err);
    must(negate(ctx, url, &in_memory, NULL, NULL, &err), &err);
    for (int i = 0; i < N; i++) assert_int_equal(back[i], i);
    assert_int_equal(negate(ctx, NULL, &(cubed_target){.url = url}, NULL, NULL, &err),
                     CUBED_E_EXISTS);
}

static void test_a_store_that_completes_later(void **state)
{
    added *a = *state;
    cubed_error err = CUBED_ERROR_INIT;
    must(cubed_context_add_store(a->ctx, &a->store->vt, &err), &err);
    write_and_read(a->ctx, "later://here/x", false);
    /* The store cannot replace arrays, and reports that before anything is changed. */
    const cubed_target again = {.url = "LATER://here/x", .overwrite = true};
    assert_int_equal(negate(a->ctx, NULL, &again, NULL, NULL, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "later"));
}

/* Projections include the memory that a store states: for a get and a put of each worker, and for prefetches. */
static void test_memory_of_requests(void **state)
{
    enum { REQUEST = 3 << 20, PROCESS = 5 << 20 };
    added *a = *state;
    cubed_error err = CUBED_ERROR_INIT;
    uint64_t with[2];
    must(cubed_context_add_store(a->ctx, &a->store->vt, &err), &err);
    must(negate(a->ctx, NULL, &(cubed_target){.url = "later://here/x"}, NULL, NULL, &err), &err);
    for (int i = 0; i < 2; i++) {
        cubed_array *x, *y;
        cubed_plan *plan;
        int64_t back[N];
        must(cubed_array_open(a->ctx, "later://here/x", &x, &err), &err);
        must(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err), &err);
        const cubed_target target = {.array = y, .data = back};
        must(cubed_plan_new(a->ctx, &target, 1, NULL, &plan, &err), &err);
        with[i] = plan->metadata;
        cubed_plan_unref(plan);
        cubed_array_unref(y);
        cubed_array_unref(x);
        /* Set the members as if the store had stated its memory when it was added. */
        a->store->vt.request_bytes = REQUEST;
        a->store->vt.process_bytes = PROCESS;
    }
    assert_true(with[1] >= with[0] + PROCESS + 2 * (uint64_t)REQUEST);
}

static cubed_status read_failing(added *a, int failures, uint32_t retry_after_ms, int retries,
                                 int64_t *retried, double *seconds, cubed_error *err)
{
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats;
    cubed_array *x, *y;
    cubed_plan *plan;
    int64_t back[N];
    must(cubed_array_open(a->ctx, "later://here/x", &x, err), err);
    must(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, err), err);
    const cubed_target target = {.array = y, .data = back};
    must(cubed_plan_new(a->ctx, &target, 1, NULL, &plan, err), err);
    /* A run first reads the version of its source; that request must not fail. */
    later_fail(a->store, LATER_GETS, 0, failures, retry_after_ms);
    o.retries = retries;
    o.executor = "single-threaded";
    const int64_t before = cb_clock_ns();
    cubed_status st = cubed_run(plan, &o, &stats, err);
    *seconds = (double)(cb_clock_ns() - before) * 1e-9;
    *retried = stats.num_retries;
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
    later_fail(a->store, LATER_NONE, 0, 0, 0);
    return st;
}

/* A store's error determines whether and when tasks are retried. */
static void test_retries(void **state)
{
    added *a = *state;
    cubed_error err = CUBED_ERROR_INIT;
    int64_t retried;
    double seconds;
    must(cubed_context_add_store(a->ctx, &a->store->vt, &err), &err);
    must(negate(a->ctx, NULL, &(cubed_target){.url = "later://here/x"}, NULL, NULL, &err), &err);
    must(read_failing(a, 1, 1, 2, &retried, &seconds, &err), &err);
    assert_int_equal(retried, 1);
    must(read_failing(a, 1, 700, 2, &retried, &seconds, &err), &err);
    assert_int_equal(retried, 1);
    assert_true(seconds >= 0.7);
    assert_int_equal(read_failing(a, 1000, 1, 1, &retried, &seconds, &err), CUBED_E_IO);
    assert_in_range(retried, 1, N / CHUNK);
    assert_true(err.transient);
    assert_int_equal(read_failing(a, 1, 0, 9, &retried, &seconds, &err), CUBED_E_IO);
    assert_int_equal(retried, 0);
    assert_non_null(strstr(err.message, "the network is gone"));
}

static void test_vtables_that_are_refused(void **state)
{
    added *a = *state;
    cubed_error err = CUBED_ERROR_INIT;
    static const char *const schemes[] = {"", "Later", "1x", "a b", "a/b", "+x"};
    cubed_store_vtable vt = a->store->vt;
    vt.version = CUBED_STORE_VERSION + 1;
    assert_int_equal(cubed_context_add_store(a->ctx, &vt, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "version 9"));
    assert_non_null(strstr(err.message, "expected version 8"));
    vt = a->store->vt;
    vt.struct_size -= sizeof(void *);
    assert_int_equal(cubed_context_add_store(a->ctx, &vt, &err), CUBED_E_ARG);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        vt = a->store->vt;
        vt.scheme = schemes[i];
        assert_int_equal(cubed_context_add_store(a->ctx, &vt, &err), CUBED_E_ARG);
    }
    vt = a->store->vt;
    vt.submit = NULL;
    assert_int_equal(cubed_context_add_store(a->ctx, &vt, &err), CUBED_E_ARG);
    vt = a->store->vt;
    vt.scheme = "memory";
    assert_int_equal(cubed_context_add_store(a->ctx, &vt, &err), CUBED_E_EXISTS);
    must(cubed_context_add_store(a->ctx, &a->store->vt, &err), &err);
    assert_int_equal(cubed_context_add_store(a->ctx, &a->store->vt, &err), CUBED_E_EXISTS);
    /* The error for an unknown store lists the known ones. */
    cubed_array *x;
    assert_int_equal(cubed_array_open(a->ctx, "s9://b/x", &x, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "s9"));
    assert_non_null(strstr(err.message, ", later://"));
}

static void test_memory(void **state)
{
    cubed_context *ctx = ((added *)*state)->ctx;
    cubed_error err = CUBED_ERROR_INIT;
    write_and_read(ctx, "memory://Name/g/x", false);
    write_and_read(ctx, "memory://Name/g/x", true);
    write_and_read(ctx, "memory://Name::h", false);
    write_and_read(ctx, "memory://whole", false);
    write_and_read(ctx, "memory://whole", true);
    /* All spellings are the same place, and names are case-sensitive. */
    const cubed_target same = {.url = "MEMORY://Name/./g/%78"},
                       other = {.url = "memory://name/g/x"};
    assert_int_equal(negate(ctx, NULL, &same, NULL, NULL, &err), CUBED_E_EXISTS);
    must(negate(ctx, NULL, &other, NULL, NULL, &err), &err);
    must(negate(ctx, NULL, &(cubed_target){.url = "memory://n::a b"}, NULL, NULL, &err), &err);
    const cubed_target spaced = {.url = "memory://n/a%20b"};
    assert_int_equal(negate(ctx, NULL, &spaced, NULL, NULL, &err), CUBED_E_EXISTS);
    assert_int_equal(negate(ctx, "memory://other/x", &same, NULL, NULL, &err), CUBED_E_NOT_FOUND);
    assert_int_equal(negate(ctx, "memory://", &same, NULL, NULL, &err), CUBED_E_ARG);
    /* Neither store survives a power failure, is visible to other processes, or is memory in addition to the limits. */
    const cubed_target durable = {.url = "memory://Name/d", .durable = true};
    assert_int_equal(negate(ctx, NULL, &durable, NULL, NULL, &err), CUBED_E_ARG);
    static const char *const command[] = {"false", NULL};
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.executor = "processes";
    o.worker_command = command;
    const cubed_target free_place = {.url = "memory://Name/p"};
    assert_int_equal(negate(ctx, NULL, &free_place, &o, NULL, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "memory://Name/p is in the memory of this process"));
    cubed_array *x;
    cubed_plan *plan;
    int64_t back[N];
    void *bytes;
    size_t size;
    must(cubed_array_open(ctx, "memory://whole", &x, &err), &err);
    const cubed_target to_memory = {.array = x, .data = back};
    cubed_plan_options po = CUBED_PLAN_OPTIONS_INIT;
    po.work_dir = "memory://work";
    assert_int_equal(cubed_plan_new(ctx, &to_memory, 1, &po, &plan, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "work_dir is memory://work"));
    must(cubed_plan_new(ctx, &to_memory, 1, NULL, &plan, &err), &err);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_E_UNSUPPORTED);
    cubed_plan_unref(plan);
    /* Data that stays in memory counts as results of the plan. */
    const cubed_target stays = {.array = x, .url = "memory://Name/p"};
    cubed_plan_info info;
    must(cubed_plan_new(ctx, &stays, 1, NULL, &plan, &err), &err);
    cubed_plan_get_info(plan, &info);
    assert_int_equal(info.result_bytes, N * 8);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void set(cubed_store *s, const char *key)
{
    assert_int_equal(cb_store_put(s, key, key, strlen(key), NULL), CUBED_OK);
}

static cubed_status note(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    char *text = ctx;
    const size_t n = strlen(text);
    (void)size;
    (void)err;
    snprintf(text + n, LISTED - n, "%s ", key);
    return CUBED_OK;
}

/* Exchanges prefixes, also with prefixes whose names have another length, or that are empty. */
static void test_swapping_in_memory(void **state)
{
    cubed_store *s, *up;
    char text[LISTED] = "", name[8], back[32];
    size_t got;
    (void)state;
    assert_int_equal(cb_store_open_memory(&cb_system_allocator, "m", &s, NULL), CUBED_OK);
    set(s, "a/new/0");
    set(s, "a/u/c/0");
    set(s, "a/u/c/1");
    set(s, "a/u2");
    assert_int_equal(cb_store_swap(s, "a/new", "a/u", NULL), CUBED_OK);
    assert_int_equal(cb_store_list(s, "", note, text, NULL), CUBED_OK);
    assert_string_equal(text, "a/new/c/0 a/new/c/1 a/u/0 a/u2 ");
    assert_int_equal(cb_store_get(s, "a/u/0", 0, back, 32, &got, NULL), CUBED_OK);
    assert_memory_equal(back, "a/new/0", got);
    assert_int_equal(cb_store_swap(s, "a/new", "b", NULL), CUBED_OK);
    text[0] = 0;
    assert_int_equal(cb_store_list(s, "", note, text, NULL), CUBED_OK);
    assert_string_equal(text, "a/u/0 a/u2 b/c/0 b/c/1 ");
    assert_int_equal(cb_store_around(s, "b/c", &up, name, sizeof name, NULL), CUBED_OK);
    assert_string_equal(name, "c");
    text[0] = 0;
    assert_int_equal(cb_store_list(up, name, note, text, NULL), CUBED_OK);
    assert_string_equal(text, "c/0 c/1 ");
    cb_store_close(up);
    assert_int_equal(cb_store_around(s, "", &up, name, sizeof name, NULL), CUBED_E_ARG);
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_store_that_completes_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_of_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_retries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vtables_that_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test(test_swapping_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
