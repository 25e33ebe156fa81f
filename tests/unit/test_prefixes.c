/* Prefixes of intermediates: their number, and how evenly chunks are spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "chunks/prefixes.h"

static void test_the_number_of_prefixes(void **state)
{
    static const struct {
        int64_t chunks;
        unsigned prefixes;
    } cases[] = {{0, 1},        {1, 1},        {1024, 1},      {1025, 2},
                 {2048, 2},     {2049, 4},     {10000, 16},    {100000, 128},
                 {262144, 256}, {262145, 256}, {1 << 30, 256}, {INT64_MAX, 256}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cb_prefixes(cases[i].chunks), cases[i].prefixes);
}

/* Checks n chunks `first`, `first` + `stride`, ...: no prefix gets more than 1.25 times its share. */
static void check_balance(int64_t first, int64_t stride, int64_t n, unsigned prefixes)
{
    int64_t counts[CB_MOST_PREFIXES] = {0};
    for (int64_t i = 0; i < n; i++) {
        const unsigned k = cb_prefix_of(first + i * stride, prefixes);
        assert_true(k < prefixes);
        counts[k]++;
    }
    for (unsigned k = 0; k < prefixes; k++) assert_true(counts[k] * prefixes * 4 <= n * 5);
}

/* Tasks that run at the same time read neighbours, or a column of a grid. */
static void test_chunks_are_spread_evenly(void **state)
{
    static const int64_t strides[] = {1, 2, 10, 100, 128, 256, 377, 610, 987, 1000, 1024, 65536};
    (void)state;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        for (unsigned prefixes = 2; prefixes <= CB_MOST_PREFIXES; prefixes *= 2)
            check_balance((int64_t)i * 12345, strides[i], (int64_t)prefixes * CB_PREFIX_CHUNKS,
                          prefixes);
    }
}

/* Checks the rates of a run with 10,000 workers. Each puts a chunk within one second, and reads it five times in another
 * second. */
static void test_limits_of_a_service_hold_for_a_wave_of_tasks(void **state)
{
    enum { WORKERS = 10000 };
    (void)state;
    for (int64_t chunks = WORKERS; chunks <= INT64_C(100) * WORKERS; chunks *= 10) {
        int64_t counts[CB_MOST_PREFIXES] = {0}, most = 0;
        const unsigned n = cb_prefixes(chunks);
        for (int64_t i = 0; i < WORKERS; i++) counts[cb_prefix_of(chunks / 2 + i, n)]++;
        for (unsigned k = 0; k < n; k++) most = counts[k] > most ? counts[k] : most;
        assert_true(most <= 3500);
        assert_true(5 * most <= 5500);
    }
}

/* Keys are part of what a run leaves for the next one, so they must not change. */
static void test_prefixes_stay_as_they_are(void **state)
{
    static const unsigned expected[] = {175, 193, 206, 237, 202};
    (void)state;
    for (int64_t i = 0; i < 5; i++) assert_int_equal(cb_prefix_of(i, 256), expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_number_of_prefixes),
        cmocka_unit_test(test_chunks_are_spread_evenly),
        cmocka_unit_test(test_limits_of_a_service_hold_for_a_wave_of_tasks),
        cmocka_unit_test(test_prefixes_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
