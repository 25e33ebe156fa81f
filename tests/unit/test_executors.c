/* Capabilities of executors, and rules for adding executors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/executor.h"
#include "cubed/sys/raised.h"

static cubed_status no_open(const cubed_executor_args *args, cubed_executor **out, cubed_error *err)
{
    (void)args;
    (void)out;
    (void)err;
    return CUBED_E_UNSUPPORTED;
}

static cubed_status no_submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    (void)ex;
    (void)range;
    (void)err;
    return CUBED_OK;
}

static cubed_status no_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                            bool *got, cubed_error *err)
{
    (void)ex;
    (void)timeout_ms;
    (void)report;
    *got = false;
    (void)err;
    return CUBED_OK;
}

static void no_close(cubed_executor *ex) { (void)ex; }

static const cubed_executor_vtable good = {.struct_size = sizeof good,
                                           .name = "mine",
                                           .caps = {.remote = true, .max_in_flight = 7},
                                           .open = no_open,
                                           .submit = no_submit,
                                           .poll = no_poll,
                                           .close = no_close};

static cubed_context *new_context(void)
{
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_context_new(NULL, &ctx, &err), CUBED_OK);
    return ctx;
}

static void expect_refused(const cubed_executor_vtable *vt, cubed_status status, const char *text)
{
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_context_add_executor(ctx, vt, NULL, &err), status);
    if (!strstr(err.message, text)) fail_msg("\"%s\" has no \"%s\"", err.message, text);
    assert_string_equal(cubed_executor_name(ctx, 3), "lambda");
    assert_string_equal(cubed_executor_name(ctx, 4), "http");
    assert_null(cubed_executor_name(ctx, 5));
    cubed_context_unref(ctx);
}

static cubed_status save_nothing(uint64_t raised, cubed_source_sink put, void *sink, void *ctx,
                                 cubed_error *err)
{
    (void)raised, (void)put, (void)sink, (void)ctx, (void)err;
    return CUBED_OK;
}

static uint64_t load_nothing(const void *data, size_t size, void *ctx)
{
    (void)data, (void)size, (void)ctx;
    return 0;
}

static void test_what_errors_stand_for_is_of_this_version(void **state)
{
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_raised_fn fn = {.struct_size = sizeof fn,
                          .version = CUBED_RAISED_VERSION,
                          .save = save_nothing,
                          .load = load_nothing};
    (void)state;
    assert_int_equal(cubed_context_set_raised_fn(ctx, &fn, &err), CUBED_OK);
    fn.version++;
    assert_int_equal(cubed_context_set_raised_fn(ctx, &fn, &err), CUBED_E_ARG);
    fn.version--;
    fn.struct_size -= sizeof(void *);
    assert_int_equal(cubed_context_set_raised_fn(ctx, &fn, &err), CUBED_E_ARG);
    fn.struct_size = sizeof fn;
    fn.load = NULL;
    assert_int_equal(cubed_context_set_raised_fn(ctx, &fn, &err), CUBED_E_ARG);
    assert_string_equal(err.message, "a cubed_raised_fn needs the functions save and load");
    cubed_context_unref(ctx);
}

static void test_what_cannot_be_is_refused(void **state)
{
    cubed_executor_vtable vt = good;
    (void)state;
    vt.struct_size -= sizeof(void *);
    expect_refused(&vt, CUBED_E_ARG, "another version of cubed/sys/executor.h");
    vt.struct_size += 2 * sizeof(void *);
    expect_refused(&vt, CUBED_E_ARG, "struct_size is");
    vt = good;
    vt.poll = NULL;
    expect_refused(&vt, CUBED_E_ARG, "needs a name, open, submit, poll and close");
    vt = good;
    vt.name = "";
    expect_refused(&vt, CUBED_E_ARG, "needs a name");
    vt = good;
    vt.caps.shares_memory = true;
    expect_refused(&vt, CUBED_E_ARG, "both shared memory and remote workers");
    vt = good;
    vt.caps.maps_memory = true;
    expect_refused(&vt, CUBED_E_ARG, "map memory");
    vt = good;
    vt.caps.shares_tasks = true;
    expect_refused(&vt, CUBED_E_ARG, "share tasks");
    vt = good;
    vt.caps.max_message_bytes = 1000;
    expect_refused(&vt, CUBED_E_ARG, "takes messages of 1000 bytes");
    vt = good;
    vt.name = "threads";
    expect_refused(&vt, CUBED_E_EXISTS, "\"threads\" already");
}

static void test_added_executors_are_known(void **state)
{
    cubed_context *ctx = new_context(), *other = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_executor_caps caps;
    (void)state;
    assert_int_equal(cubed_executor_get_caps(ctx, "mine", &caps, &err), CUBED_E_ARG);
    assert_int_equal(cubed_executor_get_caps(NULL, "mine", &caps, NULL), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "threads, single-threaded, processes"));
    assert_int_equal(cubed_context_add_executor(ctx, &good, NULL, &err), CUBED_OK);
    assert_int_equal(cubed_context_add_executor(ctx, &good, NULL, &err), CUBED_E_EXISTS);
    assert_int_equal(cubed_executor_get_caps(ctx, "mine", &caps, &err), CUBED_OK);
    assert_true(caps.remote);
    assert_int_equal(caps.max_in_flight, 7);
    assert_string_equal(cubed_executor_name(ctx, 5), "mine");
    assert_null(cubed_executor_name(other, 5));
    assert_null(cubed_executor_name(ctx, -1));
    assert_int_equal(cubed_executor_get_caps(NULL, NULL, &caps, &err), CUBED_OK);
    assert_true(caps.shares_memory && caps.shares_tasks);
    cubed_context_unref(ctx);
    cubed_context_unref(other);
}

/* Runs that other processes cannot do are refused before the executor is opened. */
static void test_results_in_memory_need_shared_memory(void **state)
{
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan;
    double numbers[3];
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_plan_options p = CUBED_PLAN_OPTIONS_INIT;
    (void)state;
    o.executor = "mine";
    p.work_dir = "/tmp";
    assert_int_equal(cubed_context_add_executor(ctx, &good, NULL, &err), CUBED_OK);
    assert_int_equal(cubed_array_arange(ctx, 0, 3, 1, CUBED_FLOAT64, NULL, &x, &err), CUBED_OK);
    const cubed_target target = {.array = x, .data = numbers};
    assert_int_equal(cubed_plan_new(ctx, &target, 1, &p, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_run(plan, &o, NULL, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no results in memory"));
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

/* Settings for workers are sent with each range: a plan that does not fit in a message together with a range is refused before
 * it begins. */
static void test_plans_larger_than_messages(void **state)
{
    static double numbers[1000];
    const int64_t n = 1000;
    cubed_executor_vtable vt = good;
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_plan_options p = CUBED_PLAN_OPTIONS_INIT;
    (void)state;
    vt.caps.max_message_bytes = 5000;
    o.executor = vt.name;
    p.work_dir = "/tmp";
    assert_int_equal(cubed_context_add_executor(ctx, &vt, NULL, &err), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &n, NULL, NULL, numbers, &x, &err),
        CUBED_OK);
    const cubed_target target = {.array = x, .url = "/tmp/cubed-is-never-written"};
    assert_int_equal(cubed_plan_new(ctx, &target, 1, &p, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_run(plan, &o, NULL, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "executor mine takes messages of at most 5000"));
    assert_non_null(
        strstr(err.message, "write arrays in memory (8000 bytes of the plan) to a store"));
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cannot_be_is_refused),
        cmocka_unit_test(test_what_errors_stand_for_is_of_this_version),
        cmocka_unit_test(test_added_executors_are_known),
        cmocka_unit_test(test_results_in_memory_need_shared_memory),
        cmocka_unit_test(test_plans_larger_than_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
