/* Performs whole runs in which each allocation fails in turn. The result is right, or there is an error. All memory is freed, no
 * partly written array looks complete, and the next run succeeds. */
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

#include "fault_steps.h"
#include "whole_runs.h"

static const char *executor;

/* Runs the plan in a separate context, whose allocator fails. */
static cubed_status run_once(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    fixture f = *(fixture *)ctx;
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    o.allocator = a;
    cubed_status st = cubed_context_new(&o, &f.ctx, err);
    if (st != CUBED_OK) return st;
    st = run(&f, executor, 0, err);
    cubed_context_unref(f.ctx);
    return st;
}

/* Checks what a failed run leaves: it must not prevent the next run. */
static void check_left(void *ctx, cubed_status st)
{
    fixture *f = ctx;
    cubed_error err = CUBED_ERROR_INIT;
    if (st != CUBED_OK && !looks_whole(f) && run(f, "single-threaded", 0, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    check_output(f);
    remove_tree(f->out);
}

static void test_kinds_of_stages(void **state)
{
    static const struct {
        const char *name;
        shape_of_work work;
    } kinds[] = {{"as it is", AS_IT_IS}, {"sorted", SORTED}, {"picked", PICKED},
                 {"reshaped", RESHAPED}, {"totals", TOTALS}, {"grouped", GROUPED}};
    fixture *f = *state;
    executor = "single-threaded";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        expect_work(f, kinds[k].work);
        f->spill = k % 2;
        const long n = fail_each_allocation(kinds[k].name, run_once, check_left, f);
        assert_true(n > 100);
    }
}

static void test_threads(void **state)
{
    fixture *f = *state;
    expect_work(f, AS_IT_IS);
    executor = "threads";
    fail_each_allocation("threads", run_once, check_left, f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kinds_of_stages),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
