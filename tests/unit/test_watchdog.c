/* Time limits of tasks: cancelled tasks, stuck tasks, and runs that end first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "failing_allocator.h"
#include "run/executors/watchdog.h"

enum { LIMIT_MS = 20, LONG_MS = 60000 };

static cb_watchdog *new_watchdog(cb_watchdog_args args)
{
    cb_watchdog *w;
    cubed_error err = CUBED_ERROR_INIT;
    args.alloc = &cb_system_allocator;
    if (cb_watchdog_new(&args, &w, &err) != CUBED_OK) fail_msg("%s", err.message);
    return w;
}

/* Waits until the flag is set, at most 20 seconds. */
static void wait_for(const cubed_cancel *flag)
{
    const int64_t end = cb_clock_ns() + (int64_t)20000000000;
    while (!cubed_cancel_is_set(flag) && cb_clock_ns() < end) usleep(1000);
    assert_true(cubed_cancel_is_set(flag));
}

static void fail_as_cancelled(cubed_task_report *r)
{
    r->error = (cubed_error)CUBED_ERROR_INIT;
    (void)cb_fail(&r->error, CUBED_E_CANCELLED, "cancelled");
}

static void test_no_limit(void **state)
{
    cubed_cancel cancel = CUBED_CANCEL_INIT;
    cubed_task_report r = {.task = 1};
    (void)state;
    cb_watchdog *w = new_watchdog((cb_watchdog_args){.cancel = &cancel});
    assert_null(w);
    assert_ptr_equal(cb_watchdog_cancel(w, &cancel), &cancel);
    fail_as_cancelled(&r);
    cb_watchdog_begin(w);
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.status, CUBED_E_CANCELLED);
    cb_watchdog_free(w);
}

static void test_task_in_time(void **state)
{
    cubed_task_report r = {.task = 1};
    (void)state;
    cb_watchdog *w = new_watchdog((cb_watchdog_args){.limit_ms = LONG_MS});
    const cubed_cancel *flag = cb_watchdog_cancel(w, NULL);
    assert_non_null(flag);
    for (int i = 0; i < 3; i++) {
        cb_watchdog_begin(w);
        assert_false(cubed_cancel_is_set(flag));
        fail_as_cancelled(&r);
        cb_watchdog_end(w, &r);
        assert_int_equal(r.error.status, CUBED_E_CANCELLED);
    }
    cb_watchdog_free(w);
}

static void test_task_that_takes_too_long(void **state)
{
    cubed_task_report r = {.task = 7};
    (void)state;
    cb_watchdog *w = new_watchdog((cb_watchdog_args){.limit_ms = LIMIT_MS});
    const cubed_cancel *flag = cb_watchdog_cancel(w, NULL);
    cb_watchdog_begin(w);
    wait_for(flag);
    fail_as_cancelled(&r);
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.status, CUBED_E_IO);
    assert_int_equal(r.error.os_errno, ETIMEDOUT);
    assert_int_equal(r.error.failure, CUBED_FAILURE_TIMED_OUT);
    assert_string_equal(r.error.message, "task 7 took longer than its time limit of 0.02 s");
    /* The next task has the whole time again. A task that ended well after its limit has ended well. */
    cb_watchdog_begin(w);
    assert_false(cubed_cancel_is_set(flag));
    wait_for(flag);
    r.error = (cubed_error)CUBED_ERROR_INIT;
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.status, CUBED_OK);
    cb_watchdog_free(w);
}

/* The end of the run limits a task whose own limit is later, or that has no limit of its own. */
static void test_end_of_run(void **state)
{
    const uint32_t limits[] = {0, LONG_MS};
    (void)state;
    for (int i = 0; i < 2; i++) {
        cubed_task_report r = {.task = 2};
        cb_watchdog *w = new_watchdog((cb_watchdog_args){
            .limit_ms = limits[i], .end_ns = cb_clock_ns() + (int64_t)LIMIT_MS * 1000000});
        cb_watchdog_begin(w);
        wait_for(cb_watchdog_cancel(w, NULL));
        fail_as_cancelled(&r);
        cb_watchdog_end(w, &r);
        assert_int_equal(r.error.failure, CUBED_FAILURE_TIMED_OUT);
        /* A task that begins after the end is cancelled at once. */
        cb_watchdog_begin(w);
        wait_for(cb_watchdog_cancel(w, NULL));
        cb_watchdog_end(w, &r);
        cb_watchdog_free(w);
    }
}

/* If the whole run is cancelled, its tasks are cancelled, and they have not exceeded their limits. */
static void test_cancelled_run(void **state)
{
    cubed_cancel cancel = CUBED_CANCEL_INIT;
    cubed_task_report r = {.task = 3};
    (void)state;
    cb_watchdog *w = new_watchdog((cb_watchdog_args){.cancel = &cancel, .limit_ms = LONG_MS});
    const cubed_cancel *flag = cb_watchdog_cancel(w, &cancel);
    assert_ptr_not_equal(flag, &cancel);
    cb_watchdog_begin(w);
    assert_false(cubed_cancel_is_set(flag));
    cubed_cancel_set(&cancel);
    wait_for(flag);
    fail_as_cancelled(&r);
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.status, CUBED_E_CANCELLED);
    /* A task that begins later is cancelled from its start. */
    cb_watchdog_begin(w);
    assert_true(cubed_cancel_is_set(flag));
    cb_watchdog_end(w, &r);
    cb_watchdog_free(w);
    /* The task exceeds its limit, and the run is cancelled before the task ends. */
    cubed_cancel_clear(&cancel);
    w = new_watchdog((cb_watchdog_args){.cancel = &cancel, .limit_ms = LIMIT_MS});
    cb_watchdog_begin(w);
    wait_for(cb_watchdog_cancel(w, &cancel));
    cubed_cancel_set(&cancel);
    fail_as_cancelled(&r);
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.status, CUBED_E_CANCELLED);
    cb_watchdog_free(w);
}

static void test_stuck_task(void **state)
{
    cubed_cancel stuck = CUBED_CANCEL_INIT;
    cubed_task_report r = {.task = 4};
    (void)state;
    cb_watchdog *w = new_watchdog((cb_watchdog_args){.limit_ms = LIMIT_MS, .stuck = &stuck});
    cb_watchdog_begin(w);
    wait_for(&stuck);
    assert_true(cubed_cancel_is_set(cb_watchdog_cancel(w, NULL)));
    fail_as_cancelled(&r);
    cb_watchdog_end(w, &r);
    assert_int_equal(r.error.failure, CUBED_FAILURE_TIMED_OUT);
    cb_watchdog_free(w);
    /* A process that does nothing else ends. */
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cb_watchdog_args args = {
            .alloc = &cb_system_allocator, .limit_ms = LIMIT_MS, .ends_process = true};
        if (cb_watchdog_new(&args, &w, NULL) != CUBED_OK) _exit(1);
        cb_watchdog_begin(w);
        sleep(30);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CB_STUCK_STATUS);
}

static void test_no_memory(void **state)
{
    failing f = {.at = 1};
    const cubed_allocator a = failing_allocator(&f);
    const cb_watchdog_args args = {.alloc = &a, .limit_ms = LIMIT_MS};
    cubed_error err = CUBED_ERROR_INIT;
    cb_watchdog *w;
    (void)state;
    assert_int_equal(cb_watchdog_new(&args, &w, &err), CUBED_E_NOMEM);
    assert_string_equal(err.message, "no memory to watch tasks");
    assert_null(w);
    assert_int_equal(f.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_limit),
        cmocka_unit_test(test_task_in_time),
        cmocka_unit_test(test_task_that_takes_too_long),
        cmocka_unit_test(test_end_of_run),
        cmocka_unit_test(test_cancelled_run),
        cmocka_unit_test(test_stuck_task),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
