/* Images at other positions: chunks and plans do not change the values, forged plans are refused or stay in their memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "cubed/cubed.h"

enum { ROWS = 13, COLUMNS = 17, HIGH = 9, WIDE = 11, CELLS = HIGH * WIDE };
static const int64_t shape[] = {ROWS, COLUMNS}, result_shape[] = {HIGH, WIDE};

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

static cubed_array *make(cubed_context *ctx, const double *data, const int64_t *chunks,
                         const cubed_spline_options *options)
{
    static const double matrix[] = {0.9, -1.1, 0.7, 1.3}, offset[] = {4.25, -3.5};
    const cubed_affine map = {.matrix = matrix, .offset = offset, .shape = result_shape};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x = NULL, *y = NULL;
    if (cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err) !=
            CUBED_OK ||
        cubed_affine_transform(x, &map, options, &y, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_array_unref(x);
    return y;
}

static cubed_plan *plan_of(cubed_context *ctx, cubed_array *x, void *result)
{
    cubed_target t = {.array = x, .data = result};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    o.max_workers = 2;
    o.allowed_mem = (uint64_t)64 << 20;
    if (cubed_plan_new(ctx, &t, 1, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    return plan;
}

static void run_plan(cubed_plan *plan)
{
    cubed_run_stats stats;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_run(plan, NULL, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_true(stats.measured_mem <= stats.projected_mem);
}

static void test_chunks(void **state)
{
    static const int64_t chunks[][2] = {{ROWS, COLUMNS}, {4, 5}, {1, 3}, {7, 1}};
    double data[ROWS * COLUMNS], whole[CELLS], result[CELLS];
    for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = (i * 37 % 101) / 8.0;
    for (int order = 0; order <= 3; order++) {
        for (int boundary = 0; boundary < CUBED_SPLINE_BOUNDARIES; boundary++) {
            cubed_spline_options o = CUBED_SPLINE_OPTIONS_INIT;
            o.order = order;
            o.boundary = (cubed_spline_boundary)boundary;
            o.value = 3;
            for (int k = 0; k < 4; k++) {
                cubed_array *x = make(*state, data, chunks[k], &o);
                double *to = k ? result : whole;
                cubed_plan *plan = plan_of(*state, x, to);
                run_plan(plan);
                if (k) assert_memory_equal(whole, result, sizeof whole);
                cubed_plan_unref(plan);
                cubed_array_unref(x);
            }
        }
    }
}

/* A loaded plan gives the same bits. A plan with a flipped bit is refused, or runs within its memory. */
static void test_flipped_bits(void **state)
{
    enum { HEADER = 16, SUM = 12 };
    static const int64_t chunks[] = {4, 5};
    double data[ROWS * COLUMNS] = {0}, result[CELLS], other[CELLS];
    cubed_spline_options o = CUBED_SPLINE_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *again;
    void *bytes;
    size_t size;
    int loaded = 0;
    o.order = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = i;
    cubed_array *x = make(*state, data, chunks, &o);
    cubed_plan *plan = plan_of(*state, x, result);
    run_plan(plan);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    assert_int_equal(cubed_plan_load(*state, bytes, size, &again, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(again, 0, other, sizeof other, &err), CUBED_OK);
    run_plan(again);
    assert_memory_equal(result, other, sizeof result);
    cubed_plan_unref(again);
    uint8_t *b = bytes;
    /* Flip only every third bit, because each case runs a plan. */
    for (size_t bit = (size_t)8 * HEADER; bit < 8 * size; bit += 3) {
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
        uint32_t sum = (uint32_t)crc32(0, b + HEADER, (uInt)(size - HEADER));
        for (int k = 0; k < 4; k++) b[SUM + k] = (uint8_t)(sum >> (8 * k));
        if (cubed_plan_load(*state, bytes, size, &again, &err) == CUBED_OK) {
            cubed_run_stats stats;
            loaded++;
            if (cubed_plan_bind_result(again, 0, other, sizeof other, &err) == CUBED_OK &&
                cubed_run(again, NULL, &stats, &err) == CUBED_OK)
                assert_true(stats.measured_mem <= stats.projected_mem);
            cubed_plan_unref(again);
        }
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(loaded > 0);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void test_refusals(void **state)
{
    static const int64_t chunks[] = {4, 5};
    static const double bad[] = {1, 0.0 / 0.0};
    static const struct {
        cubed_affine map;
        const char *message;
    } cases[] = {{{.matrix = NULL}, "matrix and factors are NULL"},
                 {{.factors = bad}, "the matrix contains"}};
    double data[ROWS * COLUMNS] = {0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *y;
    assert_int_equal(
        cubed_array_from_memory(*state, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err),
        CUBED_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(cubed_affine_transform(x, &cases[k].map, NULL, &y, &err), CUBED_E_ARG);
        if (!strstr(err.message, cases[k].message)) fail_msg("%s", err.message);
    }
    cubed_spline_options o = CUBED_SPLINE_OPTIONS_INIT;
    o.boundary = CUBED_SPLINE_BOUNDARIES;
    assert_int_equal(cubed_spline_filter(x, 1, &o, &y, &err), CUBED_E_ARG);
    assert_int_equal(cubed_spline_filter(x, 4, NULL, &y, &err), CUBED_E_AXIS);
    cubed_array_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flipped_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
