/* Ranges of longitudes, compared with a search of all elements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/longitudes.h"

#define CAP 72

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *attrs;
        bool are;
    } cases[] = {
        {"x", "{\"units\": \"degrees_east\"}", true},
        {"x", "{\"units\": \"degree_E\", \"standard_name\": \"longitude\"}", true},
        {"x", "{\"units\": \"degrees\", \"standard_name\": \"longitude\"}", true},
        {"rlon", "{\"units\": \"degrees\", \"standard_name\": \"grid_longitude\"}", true},
        {"lon", "{}", true},
        {"longitude", "{\"units\": \"degrees\"}", true},
        {"lon", "{\"units\": \"m\"}", false},
        {"lon", "{\"units\": \"degrees_north\"}", false},
        {"lon", "{\"standard_name\": \"latitude\"}", false},
        {"lat", "{\"units\": \"degrees\"}", false},
        {"x", "{}", false},
        {"lon", "{\"units\": \"degrees_east\", \"scale_factor\": 0.1}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *attrs = json_loads(cases[i].attrs, 0, NULL);
        if (longitudes_are(cases[i].name, attrs) != cases[i].are)
            fail_msg("%s %s", cases[i].name, cases[i].attrs);
        json_decref(attrs);
    }
}

static void test_rounding(void **state)
{
    (void)state;
    assert_true(longitudes_round(0.1, 24) == (double)0.1F);
    assert_true(longitudes_round(-359.9, 24) == (double)-359.9F);
    assert_true(longitudes_round(0.1, 53) == 0.1);
    assert_true(longitudes_round(0, 11) == 0);
    assert_true(longitudes_round(1.0 / 3, 8) == 0.333984375);
    assert_true(isinf(longitudes_round((double)INFINITY, 24)));
    assert_true(fabs(longitudes_apart(359, 1) - 2) < 1e-12);
    assert_true(fabs(longitudes_apart(-170, 170) - 20) < 1e-12);
}

/* Returns true if x plus a multiple of 360 is between west and east. */
static bool is_between(int x, int west, int east)
{
    for (int k = -4; k <= 4; k++) {
        if (x + 360 * k >= west && x + 360 * k <= east) return true;
    }
    return false;
}

/* Checks the labels of a range: each belongs to its element, and labels increase (or decrease) by less than 360. */
static void check_labels(const double *v, int64_t n, const longitudes_range *r, int sign)
{
    int64_t at[CAP];
    double label[CAP];
    const int64_t count = longitudes_place(v, n, r, at, label);
    assert_int_equal(count, r->n - r->closed);
    for (int64_t k = 0; k < count; k++) {
        assert_true(longitudes_apart(label[k], v[at[k]]) < 1e-9);
        assert_true(label[k] >= -180 - 1e-9 && label[k] < 540);
        if (k > 0) assert_true(sign * (label[k] - label[k - 1]) > 0);
    }
    assert_true(fabs(label[count - 1] - label[0]) < 360);
}

static void check_range(const double *v, int64_t n, int sign, bool global, int west, int east)
{
    longitudes_range r;
    int64_t expected = 0;
    const longitudes_result result = longitudes_find(v, n, west, east, 53, &r);
    const int to = east < west ? east + (west - east + 359) / 360 * 360 : east;
    if (to - west > 360) {
        assert_int_equal(result, LONGITUDES_TOO_WIDE);
        return;
    }
    for (int64_t i = 0; i < n; i++) expected += is_between((int)v[i], west, to);
    if (expected == 0) {
        assert_int_equal(result, LONGITUDES_NONE);
        return;
    }
    if (result == LONGITUDES_HOLE) {
        assert_false(global);
        return;
    }
    assert_int_equal(result, LONGITUDES_FOUND);
    assert_int_equal(r.n, expected);
    for (int64_t k = 0; k < r.n; k++) assert_true(is_between((int)v[(r.first + k) % n], west, to));
    if (r.wraps) check_labels(v, n, &r, sign);
}

/* From 0 to n - 1. */
static int below(uint64_t *seed, int n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((*seed >> 33) % (uint64_t)n);
}

static void test_ranges(void **state)
{
    (void)state;
    static const int starts[] = {0, -180, -90, 5}, steps[] = {5, 10, 30, 120};
    double v[CAP + 1];
    uint64_t seed = 1;
    for (int k = 0; k < 40000; k++) {
        const int step = steps[below(&seed, 4)], start = starts[below(&seed, 4)];
        const int sign = below(&seed, 2) ? 1 : -1, all = 360 / step;
        const int64_t n = below(&seed, 2) ? all : 1 + below(&seed, all);
        for (int64_t i = 0; i < n; i++) {
            v[sign > 0 ? i : n - 1 - i] = start + (double)i * step;
        }
        check_range(v, n, sign, n == all, below(&seed, 900) - 450, below(&seed, 900) - 450);
    }
}

static void test_meridians_at_both_ends(void **state)
{
    (void)state;
    double v[37];
    longitudes_range r;
    for (int i = 0; i < 37; i++) v[i] = 10 * i;
    assert_int_equal(longitudes_find(v, 37, 350, 10, 53, &r), LONGITUDES_FOUND);
    assert_true(r.wraps && r.closed && r.first == 35 && r.n == 4);
    check_labels(v, 37, &r, 1);
    assert_int_equal(longitudes_find(v, 37, 0, 360, 53, &r), LONGITUDES_FOUND);
    assert_true(!r.wraps && r.n == 37);
}

static void test_jumps_within(void **state)
{
    (void)state;
    /* The numbers jump at the end, but the meridians are in order. */
    static const double v[] = {0, 90, 180, -90};
    longitudes_range r;
    assert_int_equal(longitudes_find(v, 4, 170, 280, 53, &r), LONGITUDES_FOUND);
    assert_true(r.first == 2 && r.n == 2 && !r.wraps);
    assert_int_equal(longitudes_find(v, 4, -100, 10, 53, &r), LONGITUDES_FOUND);
    assert_true(r.first == 3 && r.n == 2 && r.wraps);
    static const double wrong[] = {0, 90, 45, 180};
    assert_int_equal(longitudes_find(wrong, 4, -10, 50, 53, &r), LONGITUDES_UNORDERED);
    static const double twice[] = {0, 100, 200, 300, 400};
    assert_int_equal(longitudes_find(twice, 5, -10, 50, 53, &r), LONGITUDES_UNORDERED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_ranges),       cmocka_unit_test(test_meridians_at_both_ends),
        cmocka_unit_test(test_jumps_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
