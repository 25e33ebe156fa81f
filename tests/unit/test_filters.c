/* Filters of images: values, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "block/params.h"
#include "cubed/cubed.h"

enum { N = 7 };
static const int64_t length = N, chunk = 2;
static const double line[N] = {1, 5, 2, NAN, 4, 3, 9};

static cubed_context *ctx;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cubed_context_unref(ctx);
    return 0;
}

static cubed_array *vector(cubed_dtype dtype, const void *data)
{
    cubed_array *x;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, 1, &length, NULL, &chunk, data, &x, NULL),
                     CUBED_OK);
    return x;
}

/* Takes over y. */
static void compute(cubed_array *y, void *to)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_target target = {.array = y, .data = to};
    cubed_plan *plan = NULL;
    cubed_status st = cubed_plan_new(ctx, &target, 1, &options, &plan, &err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, &err);
    if (st != CUBED_OK) fail_msg("%s", err.message);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
}

static void test_ranks(void **state)
{
    static const double want[CUBED_FILTER_RANKS][N] = {
        [CUBED_FILTER_MINIMUM] = {1, 1, 2, 2, 3, 3, 3},
        [CUBED_FILTER_MEDIAN] = {1, 2, 5, 4, 4, 4, 9},
        [CUBED_FILTER_MAXIMUM] = {5, 5, NAN, NAN, NAN, 9, 9}};
    const int64_t size = 3;
    const uint8_t all[3] = {1, 1, 1};
    double got[N];
    (void)state;
    /* each filter with a box and with a footprint */
    for (int kind = 0; kind < 2 * CUBED_FILTER_RANKS; kind++) {
        cubed_array *x = vector(CUBED_FLOAT64, line), *y;
        assert_int_equal(cubed_filter_rank(x, (cubed_filter_rank_kind)(kind / 2), &size,
                                           kind % 2 ? all : NULL, NULL, &y, NULL),
                         CUBED_OK);
        compute(y, got);
        for (int i = 0; i < N; i++) {
            const double w = want[kind / 2][i];
            assert_true(got[i] == w || (isnan(got[i]) && isnan(w)));
        }
        cubed_array_unref(x);
    }
}

static void test_constant_boundary(void **state)
{
    const uint8_t bytes[N] = {0, 90, 30, 60, 0, 0, 255}, want[N] = {50, 40, 60, 30, 20, 85, 105};
    const int64_t size = 3;
    uint8_t got[N];
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    cubed_array *x = vector(CUBED_UINT8, bytes), *y;
    (void)state;
    o.boundary = CUBED_BOUNDARY_CONSTANT;
    o.value = 60;
    assert_int_equal(cubed_filter_mean(x, &size, &o, &y, NULL), CUBED_OK);
    compute(y, got);
    assert_memory_equal(got, want, N);
    o.value = 0.5;
    /* A value that the type cannot represent is used unchanged: (0.5 + 0 + 90) / 3, truncated. */
    assert_int_equal(cubed_filter_mean(x, &size, &o, &y, NULL), CUBED_OK);
    compute(y, got);
    assert_int_equal(got[0], 30);
    assert_int_equal(got[N - 1], 85);
    cubed_array_unref(x);
}

static void test_derivatives_of_a_line(void **state)
{
    /* The first derivative of equal steps is the step, the second derivative is 0. */
    double steps[N], got[N];
    const double sigma = 1;
    (void)state;
    for (int i = 0; i < N; i++) steps[i] = 3 * i;
    for (int order = 1; order <= 2; order++) {
        cubed_array *x = vector(CUBED_FLOAT64, steps), *y;
        assert_int_equal(cubed_filter_gaussian(x, &sigma, &order, 3, NULL, &y, NULL), CUBED_OK);
        compute(y, got);
        /* The Gaussian is sampled at seven points. */
        assert_true(fabs(got[3] - (order == 1 ? 3 : 0)) < 0.3);
        cubed_array_unref(x);
    }
}

static void expect_doubles(cubed_array *y, const double want[N])
{
    double got[N];
    compute(y, got);
    for (int i = 0; i < N; i++) assert_true(got[i] == want[i]);
}

static const double hills[N] = {1, 5, 2, 0, 4, 3, 9};

static void test_weights_and_ranks(void **state)
{
    static const double weights[] = {1, 0, -2}, want[N] = {-9, -3, 5, -6, -6, -14, -15};
    static const double second[N] = {5, 2, 2, 2, 3, 4, 3}, after[N] = {5, 5, 2, 4, 4, 9, 9};
    static const double ranked[N] = {1, 2, 2, 2, 3, 4, 9};
    static const int8_t shifted[N] = {-3, 5, -6, -6, -14, -3, 1};
    const int64_t three = 3, two = 2, one = -1;
    const cubed_dtype byte = CUBED_INT8;
    cubed_array *x = vector(CUBED_FLOAT64, hills), *y;
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    int8_t small[N];
    (void)state;
    assert_int_equal(cubed_filter_correlate(x, weights, &three, NULL, &y, NULL), CUBED_OK);
    expect_doubles(y, want);
    assert_int_equal(cubed_filter_percentile(x, -50, &three, NULL, NULL, &y, NULL), CUBED_OK);
    expect_doubles(y, ranked);
    assert_int_equal(cubed_filter_by_rank(x, -2, &three, NULL, NULL, &y, NULL), CUBED_OK);
    expect_doubles(y, ranked);
    o.boundary = CUBED_BOUNDARY_MIRROR;
    assert_int_equal(cubed_filter_by_rank(x, 1, &three, NULL, &o, &y, NULL), CUBED_OK);
    expect_doubles(y, second);
    o.origins = &one;
    assert_int_equal(cubed_filter_by_rank(x, 1, &two, NULL, &o, &y, NULL), CUBED_OK);
    expect_doubles(y, after);
    o.dtype = &byte;
    assert_int_equal(cubed_filter_correlate(x, weights, &three, &o, &y, NULL), CUBED_OK);
    assert_int_equal(cubed_array_dtype(y), CUBED_INT8);
    compute(y, small);
    assert_memory_equal(small, shifted, N);
    cubed_array_unref(x);
}

static void test_derivatives_and_morphology(void **state)
{
    static const double sobel[N] = {4, 1, -5, 2, 3, 5, 6}, laplace[N] = {4, -7, 1, 6, -5, 7, -6};
    static const double opened[N] = {1, 2, 2, 0, 3, 3, 3}, lowered[N] = {0, 1, 1, -1, 0, 2, 3};
    static const double heights[] = {0, 1};
    const int64_t three = 3, two = 2;
    const uint8_t flags[] = {1, 1, 1};
    const cubed_structure box = {&three, flags, NULL}, pair = {&two, NULL, heights};
    bool shrunk[N];
    cubed_array *x = vector(CUBED_FLOAT64, hills), *y;
    cubed_binary_options b = CUBED_BINARY_OPTIONS_INIT;
    (void)state;
    assert_int_equal(cubed_filter_derivative(x, CUBED_FILTER_SOBEL, 0, NULL, &y, NULL), CUBED_OK);
    expect_doubles(y, sobel);
    assert_int_equal(cubed_filter_laplace(x, 1, NULL, &y, NULL), CUBED_OK);
    expect_doubles(y, laplace);
    assert_int_equal(cubed_filter_laplace(x, 2, NULL, &y, NULL), CUBED_E_AXIS);
    const cubed_structure two_wide = {&two, NULL, NULL};
    assert_int_equal(cubed_grey_morphology(x, CUBED_MORPHOLOGY_OPENING, &two_wide, NULL, &y, NULL),
                     CUBED_OK);
    expect_doubles(y, opened);
    assert_int_equal(cubed_grey_morphology(x, CUBED_MORPHOLOGY_EROSION, &pair, NULL, &y, NULL),
                     CUBED_OK);
    expect_doubles(y, lowered);
    b.iterations = 2;
    assert_int_equal(cubed_binary_morphology(x, CUBED_MORPHOLOGY_EROSION, &box, &b, &y, NULL),
                     CUBED_OK);
    compute(y, shrunk);
    for (int i = 0; i < N; i++) assert_false(shrunk[i]);
    b.iterations = 0;
    assert_int_equal(cubed_binary_morphology(x, CUBED_MORPHOLOGY_EROSION, &box, &b, &y, NULL),
                     CUBED_E_ARG);
    assert_int_equal(cubed_binary_morphology(x, CUBED_MORPHOLOGY_GRADIENT, &box, NULL, &y, NULL),
                     CUBED_E_ARG);
    assert_int_equal(cubed_binary_hit_or_miss(x, &box, NULL, NULL, NULL, &y, NULL), CUBED_OK);
    compute(y, shrunk);
    for (int i = 0; i < N; i++) assert_int_equal(shrunk[i], i == 1 || i == 5);
    cubed_array_unref(x);
}

static void test_what_is_refused(void **state)
{
    const double negative = -1;
    const int64_t none = 0, three = 3;
    const uint8_t nothing[3] = {0, 0, 0};
    cubed_array *x = vector(CUBED_FLOAT64, line), *y;
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    (void)state;
    o.boundary = CUBED_BOUNDARY_COUNT;
    assert_int_equal(cubed_filter_gaussian(x, &negative, NULL, 4, NULL, &y, NULL), CUBED_E_ARG);
    assert_int_equal(cubed_filter_mean(x, &none, NULL, &y, NULL), CUBED_E_ARG);
    assert_int_equal(cubed_filter_mean(x, &three, &o, &y, NULL), CUBED_E_ARG);
    assert_int_equal(cubed_filter_rank(x, CUBED_FILTER_MEDIAN, &three, nothing, NULL, &y, NULL),
                     CUBED_E_ARG);
    assert_int_equal(cubed_filter_rank(x, CUBED_FILTER_RANKS, &three, NULL, NULL, &y, NULL),
                     CUBED_E_ARG);
    cubed_array_unref(x);
}

/* Parameters come from saved plans. A halo that no pass removes would be written beyond the result. */
static void test_parameters_of_a_plan(void **state)
{
    cb_filter_params p = {.kind = CB_FILTER_MEAN, .before = {1}, .after = {1}, .axes = 1};
    const int symbol = 0;
    const cubed_block_halo around = {1, 1, true}, *const halos[] = {&around};
    const int64_t padded = N + 2;
    double more[N + 2] = {0};
    cubed_array *x, *y;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &padded, NULL, NULL, more, &x, NULL),
        CUBED_OK);
    const cubed_block_input in = {x, &symbol, &length};
    const cubed_block_output to = {CUBED_FLOAT64, 1, &length, &length, &symbol, NULL};
    const cubed_block_operation operation = {.function = "filter",
                                             .params = &p,
                                             .params_size = sizeof p,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1,
                                             .halos = halos};
    if (cubed_blockwise(ctx, &operation, &y, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_array_unref(y);
    p.axes = 0;
    assert_int_equal(cubed_blockwise(ctx, &operation, &y, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "axis 0 has a halo, but is not filtered"));
    /* A footprint without a true element is refused. */
    struct {
        cb_filter_params head;
        double numbers[3];
    } box = {p, {NAN, NAN, NAN}};
    box.head.kind = CB_FILTER_LEAST;
    cubed_block_operation boxes = operation;
    boxes.params = &box;
    boxes.params_size = sizeof box;
    assert_int_equal(cubed_blockwise(ctx, &boxes, &y, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "the box has no true element"));
    cubed_array_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constant_boundary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_derivatives_of_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_weights_and_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_derivatives_and_morphology, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parameters_of_a_plan, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
