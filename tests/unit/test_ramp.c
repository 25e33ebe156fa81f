/* Workers of a service that starts them step by step (run/driver/ramp.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <cmocka.h>

#include "run/driver/ramp.h"

enum { WORKERS = 10000, AT_ONCE = 1000, PER_SECOND = 100 };
#define SECOND INT64_C(1000000000)

/* Submits ranges as long as there are workers for them. Returns the number of ranges in flight. */
static unsigned fill(cb_ramp *r, unsigned busy, int64_t now)
{
    while (cb_ramp_has_worker(r, busy, now)) cb_ramp_submit(r, busy++);
    return busy;
}

static void test_all_at_once(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, 3, 0, 0, 0);
    assert_true(cb_ramp_has_worker(&r, 1000000, 0));
}

static void test_the_documented_ramp(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, WORKERS, AT_ONCE, PER_SECOND, 5);
    assert_int_equal(fill(&r, 0, 5), AT_ONCE);
    assert_int_equal(fill(&r, AT_ONCE, 5 + SECOND), AT_ONCE + PER_SECOND);
    /* The service saves at most AT_ONCE unused starts. */
    assert_int_equal(fill(&r, 0, 5 + 1000 * SECOND), 2 * AT_ONCE + PER_SECOND);
    /* There is a worker for each range, because workers that have started are used again. */
    assert_true(cb_ramp_has_worker(&r, 2 * AT_ONCE, 5 + 1000 * SECOND));
}

static void test_no_more_than_there_are(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, 7, AT_ONCE, PER_SECOND, 0);
    assert_int_equal(fill(&r, 0, 0), 7);
    assert_int_equal(fill(&r, 7, 100 * SECOND), 7);
}

/* If only a tenth of the requested workers report tasks, no more workers are requested until nearly all have started. */
static void test_a_service_that_is_slower(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, WORKERS, AT_ONCE, PER_SECOND, 0);
    const unsigned busy = fill(&r, 0, 0);
    for (unsigned i = 0; i < AT_ONCE / 10; i++) cb_ramp_report(&r, i, 1e9);
    assert_int_equal(fill(&r, busy, 10 * SECOND), busy);
    for (unsigned i = 0; i < AT_ONCE; i++) cb_ramp_report(&r, i, 1e9);
    assert_true(fill(&r, busy, 11 * SECOND) > busy);
}

/* If ranges are long, missing reports do not mean that workers have not started. */
static void test_long_ranges(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, WORKERS, AT_ONCE, PER_SECOND, 0);
    const unsigned busy = fill(&r, 0, 0);
    cb_ramp_report(&r, 0, 600e9);
    assert_int_equal(fill(&r, busy, 2 * SECOND), busy + 2 * PER_SECOND);
}

/* Reports with the number of an unknown worker are ignored. */
static void test_odd_reports(void **state)
{
    cb_ramp r;
    (void)state;
    cb_ramp_begin(&r, WORKERS, AT_ONCE, PER_SECOND, 0);
    const unsigned busy = fill(&r, 0, 0);
    cb_ramp_report(&r, UINT32_MAX, 1e9);
    cb_ramp_report(&r, WORKERS, 1e9);
    assert_int_equal(fill(&r, busy, 10 * SECOND), busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_the_documented_ramp),
        cmocka_unit_test(test_no_more_than_there_are),
        cmocka_unit_test(test_a_service_that_is_slower),
        cmocka_unit_test(test_long_ranges),
        cmocka_unit_test(test_odd_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
