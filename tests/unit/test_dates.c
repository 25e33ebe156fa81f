/* Dates as people write them: cubed_time_span_parse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <cmocka.h>

#include "cubed/calendar.h"

static int64_t day(cubed_calendar c, int64_t year, int month, int d)
{
    return cubed_calendar_days(c, year, month, d) * CUBED_US_PER_DAY;
}

static void test_forms_of_a_day(void **state)
{
    static const char *const same[] = {
        "2020-01-05", "2020-1-5", "2020/1/5",       "20200105",   "5 Jan 2020",  "05 JAN 2020",
        "5-Jan-2020", "5jan2020", "5 January 2020", "Jan 5 2020", "Jan 5, 2020", "January 5,2020"};
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        int64_t first = 0, after = 0;
        assert_true(cubed_time_span_parse(same[i], CUBED_CALENDAR_360, &first, &after));
        assert_int_equal(first, day(CUBED_CALENDAR_360, 2020, 1, 5));
        assert_int_equal(after, day(CUBED_CALENDAR_360, 2020, 1, 6));
    }
}

static void test_months_and_times(void **state)
{
    static const char *const months[] = {"2020-12",       "2020-12", "Dec 2020",
                                         "december 2020", "Dec2020", "Dec-2020"};
    const int64_t begin = day(CUBED_CALENDAR_NOLEAP, 2020, 12, 1);
    int64_t first, after;
    (void)state;
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        assert_true(cubed_time_span_parse(months[i], CUBED_CALENDAR_NOLEAP, &first, &after));
        assert_int_equal(first, begin);
        assert_int_equal(after, day(CUBED_CALENDAR_NOLEAP, 2021, 1, 1));
    }
    assert_true(cubed_time_span_parse("1 Dec 2020 12:30", CUBED_CALENDAR_NOLEAP, &first, &after));
    assert_int_equal(first, begin + INT64_C(45000000000));
    assert_int_equal(after, first + 60000000);
    assert_true(cubed_time_span_parse("850", CUBED_CALENDAR_NOLEAP, &first, &after));
    assert_int_equal(first, day(CUBED_CALENDAR_NOLEAP, 850, 1, 1));
}

static void test_texts_that_are_no_dates(void **state)
{
    static const char *const wrong[] = {
        "",          "5/1/2020", "5/1/20",      "20-01-05",    "202001",      "Jan",
        "Jan 20",    "5 Jan",    "5 Jan 20",    "32 Jan 2020", "0 Jan 2020",  "31 Feb 2020",
        "Janu 2020", "5 5 2020", "5 Jan 2020x", "Jan 5x2020",  "Jan 2020 12", "123 Jan 2020"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t first, after;
        const bool is_date =
            cubed_time_span_parse(wrong[i], CUBED_CALENDAR_STANDARD, &first, &after);
        if (is_date) fail_msg("\"%s\" was taken for a date", wrong[i]);
    }
}

static void test_units_have_no_names_of_months(void **state)
{
    cubed_time_axis axis = {.base = 7, .unit = 8, .divide = 9};
    (void)state;
    assert_int_equal(
        cubed_time_units_parse("days since 5 Jan 2020", CUBED_CALENDAR_STANDARD, &axis, NULL),
        CUBED_E_ARG);
    /* An error leaves the output unchanged. */
    assert_int_equal(axis.base, 7);
    assert_int_equal(axis.unit, 8);
    assert_int_equal(axis.divide, 9);
    assert_int_equal(
        cubed_time_units_parse("days since 1-1-1", CUBED_CALENDAR_STANDARD, &axis, NULL), CUBED_OK);
}

/* Numbers of floats are rounded to the nearest microsecond, integers in nanoseconds are rounded down. */
static void test_nanoseconds(void **state)
{
    cubed_time_axis axis;
    int64_t us = 0;
    (void)state;
    assert_int_equal(cubed_time_units_parse("nanoseconds since 1970-01-01", CUBED_CALENDAR_STANDARD,
                                            &axis, NULL),
                     CUBED_OK);
    assert_true(cubed_time_of_float(&axis, 1999.0, &us));
    assert_int_equal(us - axis.base, 2);
    assert_true(cubed_time_of_int(&axis, 1999, &us));
    assert_int_equal(us - axis.base, 1);
    assert_true(cubed_time_of_int(&axis, -1, &us));
    assert_int_equal(us - axis.base, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_a_day),
        cmocka_unit_test(test_months_and_times),
        cmocka_unit_test(test_texts_that_are_no_dates),
        cmocka_unit_test(test_units_have_no_names_of_months),
        cmocka_unit_test(test_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
