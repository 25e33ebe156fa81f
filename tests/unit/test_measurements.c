/* Measurements of labelled objects through the typed interface: labels of every kind, chunks of every size, wrong arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"

enum { ROWS = 5, COLUMNS = 7, N = ROWS * COLUMNS };
static const int64_t shape[] = {ROWS, COLUMNS};

static int setup(void **state)
{
    cubed_context *ctx;
    if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) return -1;
    *state = ctx;
    return 0;
}

static int teardown(void **state)
{
    cubed_context_unref(*state);
    return 0;
}

static cubed_array *array(cubed_context *ctx, cubed_dtype dtype, const void *data, int64_t chunk)
{
    const int64_t chunks[] = {chunk, chunk};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    if (cubed_array_from_memory(ctx, dtype, 2, shape, NULL, chunks, data, &x, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return x;
}

static void compute(cubed_context *ctx, cubed_array *x, void *to)
{
    const cubed_target t = {.array = x, .data = to};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan *plan;
    o.max_workers = 2;
    o.allowed_mem = (uint64_t)64 << 20;
    if (cubed_plan_new(ctx, &t, 1, &o, &plan, &err) != CUBED_OK ||
        cubed_run(plan, NULL, &stats, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_plan_unref(plan);
}

static void fill(double *x, int64_t *labels)
{
    for (int i = 0; i < N; i++) {
        x[i] = (i * 37) % 101 - 50;
        labels[i] = i * 11 % 4 == 3 ? INT64_MAX : i * 11 % 4 - 1;
    }
}

static const int64_t wanted[] = {INT64_MAX, -1, 77, 1, INT64_MIN, -1};
enum { WANTED = sizeof wanted / sizeof *wanted };

/* Returns the sum of the elements of a label. Sets *least to the position of the first minimum; -1: no elements. */
static double expected(const double *x, const int64_t *labels, int64_t label, int *least)
{
    double sum = 0;
    *least = -1;
    for (int i = 0; i < N; i++) {
        if (labels[i] != label) continue;
        sum += x[i];
        if (*least < 0 || x[i] < x[*least]) *least = i;
    }
    return sum;
}

static void test_labels_of_the_whole_range(void **state)
{
    const int64_t chunk_sizes[] = {1, 3, 7}, index_shape[] = {2, 3};
    double x[N];
    int64_t labels[N];
    fill(x, labels);
    for (int k = 0; k < 3; k++) {
        cubed_array *a = array(*state, CUBED_FLOAT64, x, chunk_sizes[k]);
        cubed_array *by = array(*state, CUBED_INT64, labels, chunk_sizes[2 - k]);
        const cubed_objects objects = {by, wanted, 2, index_shape};
        cubed_array *sums = NULL, *places = NULL;
        double sum[WANTED];
        int64_t place[WANTED][2];
        assert_int_equal(cubed_measure_objects(a, &objects, CUBED_MEASURE_SUM, 0, &sums, NULL),
                         CUBED_OK);
        assert_int_equal(
            cubed_measure_objects(a, &objects, CUBED_MEASURE_MINIMUM_POSITION, 0, &places, NULL),
            CUBED_OK);
        assert_int_equal(cubed_array_ndim(sums), 2);
        assert_int_equal(cubed_array_ndim(places), 3);
        compute(*state, sums, sum);
        compute(*state, places, place);
        for (int i = 0; i < WANTED; i++) {
            int least;
            assert_true(sum[i] == expected(x, labels, wanted[i], &least));
            if (least < 0) least = 0;
            assert_int_equal(place[i][0], least / COLUMNS);
            assert_int_equal(place[i][1], least % COLUMNS);
        }
        cubed_array_unref(sums);
        cubed_array_unref(places);
        cubed_array_unref(a);
        cubed_array_unref(by);
    }
}

/* Medians that do not fit in a task are counted. */
static void test_counted_medians_are_those_of_gathered_elements(void **state)
{
    const int64_t index_shape[] = {WANTED};
    double x[N], made[2][WANTED];
    int64_t labels[N];
    fill(x, labels);
    x[4] = (double)NAN;
    cubed_array *a = array(*state, CUBED_FLOAT64, x, 2),
                *by = array(*state, CUBED_INT64, labels, 3);
    const cubed_objects objects = {by, wanted, 1, index_shape};
    for (int k = 0; k < 2; k++) {
        cubed_array *median = NULL;
        assert_int_equal(
            cubed_measure_objects(a, &objects, CUBED_MEASURE_MEDIAN, k ? 256 : 0, &median, NULL),
            CUBED_OK);
        compute(*state, median, made[k]);
        cubed_array_unref(median);
    }
    for (int i = 0; i < WANTED; i++)
        assert_true(made[0][i] == made[1][i] || (isnan(made[0][i]) && isnan(made[1][i])));
    assert_true(isnan(made[0][2]) && !isnan(made[0][0]));
    cubed_array_unref(a);
    cubed_array_unref(by);
}

static void test_wrong_arguments(void **state)
{
    double x[N];
    int64_t labels[N];
    fill(x, labels);
    cubed_array *a = array(*state, CUBED_FLOAT64, x, 3), *made = NULL;
    const cubed_objects reals = {.labels = a}, no_labels = {.index = wanted};
    const cubed_objects no_index = {.ndim = 1}, all = {.labels = NULL};
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_measure_objects(a, &reals, CUBED_MEASURE_SUM, 0, &made, &err),
                     CUBED_E_TYPE);
    assert_non_null(strstr(err.message, "sum_labels: labels are float64, expected integers"));
    assert_int_equal(cubed_measure_objects(a, &no_index, CUBED_MEASURE_SUM, 0, &made, &err),
                     CUBED_E_ARG);
    assert_int_equal(cubed_measure_objects(a, &all, CUBED_MEASUREMENTS, 0, &made, &err),
                     CUBED_E_ARG);
    assert_int_equal(cubed_histogram_objects(a, &no_labels, 0, 1, 2, 0, &made, &err), CUBED_E_ARG);
    assert_int_equal(cubed_histogram_objects(a, &all, 0, INFINITY, 2, 0, &made, &err), CUBED_E_ARG);
    assert_int_equal(cubed_histogram_objects(a, &all, 0, 1, 0, 0, &made, &err), CUBED_E_ARG);
    assert_null(made);
    cubed_array_unref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_of_the_whole_range),
        cmocka_unit_test(test_counted_medians_are_those_of_gathered_elements),
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
