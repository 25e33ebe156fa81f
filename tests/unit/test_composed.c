/* Functions that are composed of other functions: close and missing numbers, ranges and means with weights, differences of
 * neighbours, gradients, integrals, unwrapped angles, interpolation; arithmetic of times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"

typedef struct fixture {
    cubed_context *ctx;
    cubed_error err;
    int nmade;
    cubed_array *made[64];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.err = CUBED_ERROR_INIT};
    assert_int_equal(cubed_context_new(NULL, &f.ctx, &f.err), CUBED_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < f->nmade; i++) cubed_array_unref(f->made[i]);
    cubed_context_unref(f->ctx);
    return 0;
}

static cubed_array *keep(fixture *f, cubed_array *x)
{
    assert_true(f->nmade < 64);
    return f->made[f->nmade++] = x;
}

/* Makes a vector in chunks of three elements. */
static cubed_array *vector(fixture *f, cubed_dtype dtype, int64_t n, const void *data)
{
    const int64_t chunk = 3;
    cubed_array *x;
    assert_int_equal(cubed_array_from_memory(f->ctx, dtype, 1, &n, NULL, &chunk, data, &x, &f->err),
                     CUBED_OK);
    return keep(f, x);
}

static cubed_array *number(fixture *f, double value)
{
    const cubed_scalar v = {.f64 = value};
    cubed_array *x;
    assert_int_equal(cubed_array_full(f->ctx, CUBED_FLOAT64, 0, NULL, NULL, &v, &x, &f->err),
                     CUBED_OK);
    return keep(f, x);
}

static cubed_dtype time_type(cubed_dtype family, cubed_unit unit, int multiple)
{
    cubed_dtype dtype;
    assert_int_equal(cubed_dtype_time(family, unit, multiple, &dtype, NULL), CUBED_OK);
    return dtype;
}

/* Checks the type and number of elements of y, and all of its elements. Releases y. */
static void check(fixture *f, cubed_status st, cubed_array *y, cubed_dtype dtype, int64_t n,
                  const void *want)
{
    unsigned char got[256];
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_target target = {.array = y, .data = got};
    cubed_plan *plan = NULL;
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    assert_int_equal(cubed_array_dtype(y), dtype);
    int64_t size = 1;
    for (int d = 0; d < cubed_array_ndim(y); d++) size *= cubed_array_shape(y)[d];
    assert_int_equal(size, n);
    st = cubed_plan_new(f->ctx, &target, 1, &options, &plan, &f->err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, &f->err);
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    assert_memory_equal(got, want, (size_t)n * cubed_dtype_size(dtype));
}

static void refused(fixture *f, cubed_status st, cubed_status want, const char *message)
{
    assert_int_equal(st, want);
    if (!strstr(f->err.message, message)) fail_msg("%s, expected %s", f->err.message, message);
}

#define CHECK(call, dtype, n, want)                                                                \
    do {                                                                                           \
        cubed_array *y = NULL;                                                                     \
        cubed_status st_ = (call);                                                                 \
        check(f, st_, y, dtype, n, want);                                                          \
    } while (0)
#define REFUSED(call, status, message)                                                             \
    do {                                                                                           \
        cubed_array *y = NULL;                                                                     \
        refused(f, call, status, message);                                                         \
    } while (0)

static void test_close(void **state)
{
    fixture *f = *state;
    static const double a[] = {1, 1.00002, NAN, INFINITY, -INFINITY, 0, 100};
    static const double b[] = {1.000009, 1, NAN, INFINITY, INFINITY, 1e-9, 100.0009};
    cubed_array *x = vector(f, CUBED_FLOAT64, 7, a), *z = vector(f, CUBED_FLOAT64, 7, b);
    CHECK(cubed_isclose(x, z, NULL, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){true, false, false, true, false, true, true}));
    cubed_close_options o = CUBED_CLOSE_OPTIONS_INIT;
    o.equal_nan = true;
    CHECK(cubed_isclose(x, z, &o, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){true, false, true, true, false, true, true}));
    CHECK(cubed_allclose(x, z, &o, &y, &f->err), CUBED_BOOL, 1, ((bool[]){false}));
    CHECK(cubed_allclose(x, x, &o, &y, &f->err), CUBED_BOOL, 1, ((bool[]){true}));
    /* A scalar tolerance is rounded once, to 0.1F. An array of tolerances is used in float64. */
    static const float c[] = {1.1F, 0.9F, 1.2F};
    const float one = 1;
    const double size = 1;
    cubed_array *single = vector(f, CUBED_FLOAT32, 3, c), *unit = vector(f, CUBED_FLOAT32, 1, &one);
    o = (cubed_close_options){.struct_size = sizeof o, .atol = 0.1, .magnitude = &size};
    const bool near[] = {1.1F - 1.0F <= 0.1F, 1.0F - 0.9F <= 0.1F, false};
    CHECK(cubed_isclose(single, unit, &o, &y, &f->err), CUBED_BOOL, 3, near);
    const double infinite = INFINITY;
    o.magnitude = &infinite;
    CHECK(cubed_isclose(x, number(f, INFINITY), &o, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){false, false, false, true, false, false, false}));
    o.struct_size = 0;
    REFUSED(cubed_isclose(x, z, &o, &y, &f->err), CUBED_E_ARG, "isclose: options.struct_size is 0");
    static const int64_t when[] = {1};
    cubed_array *date = vector(f, time_type(CUBED_DATETIME64, CUBED_UNIT_D, 1), 1, when);
    REFUSED(cubed_allclose(x, date, NULL, &y, &f->err), CUBED_E_TYPE,
            "allclose is not defined for float64 and datetime64[D], expected numbers");
}

static void test_unknown_modes(void **state)
{
    fixture *f = *state;
    static const int64_t numbers[] = {0, 1, 0}, shape[] = {3};
    cubed_array *x = vector(f, CUBED_INT64, 3, numbers), *y = NULL;
    const cubed_bounds_mode bounds = (cubed_bounds_mode)7;
    cubed_area_options area = CUBED_AREA_OPTIONS_INIT;
    area.edges = (cubed_cell_edges)7;
    refused(f, cubed_choose(x, &x, 1, (cubed_choose_mode)7, &y, &f->err), CUBED_E_ARG,
            "choose: mode number 7, expected 0 to 2");
    refused(f, cubed_convolve(x, x, (cubed_convolve_mode)7, &y, &f->err), CUBED_E_ARG,
            "convolve: mode number 7, expected 0 to 2");
    refused(f, cubed_correlate(x, x, (cubed_convolve_mode)-1, &y, &f->err), CUBED_E_ARG,
            "correlate: mode number -1, expected 0 to 2");
    refused(f, cubed_ravel_multi_index(&x, 1, shape, &bounds, false, &y, &f->err), CUBED_E_ARG,
            "ravel_multi_index: mode of axis 0 is number 7, expected 0 to 2");
    refused(f, cubed_grid_area(x, x, &area, &y, &f->err), CUBED_E_ARG,
            "gridarea: edges are number 7, expected 0 to 1");
    assert_null(y);
}

static void test_nan_to_num(void **state)
{
    fixture *f = *state;
    static const float a[] = {NAN, INFINITY, -INFINITY, -1, 0};
    cubed_array *x = vector(f, CUBED_FLOAT32, 5, a);
    CHECK(cubed_nan_to_num(x, NULL, NULL, NULL, &y, &f->err), CUBED_FLOAT32, 5,
          ((float[]){0, 3.4028234663852886e38F, -3.4028234663852886e38F, -1, 0}));
    static const double b[] = {NAN, INFINITY, 3, -INFINITY};
    cubed_array *z = vector(f, CUBED_COMPLEX128, 2, b);
    CHECK(cubed_nan_to_num(z, number(f, 7), number(f, 8), number(f, -8), &y, &f->err),
          CUBED_COMPLEX128, 2, ((double[]){7, 8, 3, -8}));
    static const int64_t whole[] = {1, 2};
    CHECK(cubed_nan_to_num(vector(f, CUBED_INT64, 2, whole), number(f, 7), NULL, NULL, &y, &f->err),
          CUBED_INT64, 2, whole);
    static const struct {
        cubed_dtype dtype;
        uint16_t infinite;
        float most;
    } halves[] = {{CUBED_FLOAT16, 0x7c00, 65504}, {CUBED_BFLOAT16, 0x7f80, 3.3895314e38F}};
    for (int i = 0; i < 2; i++)
        CHECK(cubed_nan_to_num(vector(f, halves[i].dtype, 1, &halves[i].infinite), NULL, NULL, NULL,
                               &y, &f->err),
              CUBED_FLOAT32, 1, &halves[i].most);
}

static void test_ranges_and_means(void **state)
{
    fixture *f = *state;
    static const double a[] = {3, -1, 8, 2}, w[] = {1, 0, 2, 1};
    cubed_array *x = vector(f, CUBED_FLOAT64, 4, a), *weights = vector(f, CUBED_FLOAT64, 4, w);
    CHECK(cubed_ptp(x, NULL, &y, &f->err), CUBED_FLOAT64, 1, ((double[]){9}));
    cubed_array *total = NULL;
    CHECK(cubed_average(x, weights, NULL, &y, &total, &f->err), CUBED_FLOAT64, 1,
          ((double[]){5.25}));
    check(f, CUBED_OK, total, CUBED_FLOAT64, 1, (double[]){4});
    CHECK(cubed_average(x, NULL, NULL, &y, &total, &f->err), CUBED_FLOAT64, 1, ((double[]){3}));
    check(f, CUBED_OK, total, CUBED_FLOAT64, 1, (double[]){4});
    static const int64_t when[] = {5, 90};
    const cubed_dtype date = time_type(CUBED_DATETIME64, CUBED_UNIT_S, 1);
    const cubed_dtype span = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_S, 1);
    CHECK(cubed_ptp(vector(f, date, 2, when), NULL, &y, &f->err), span, 1, ((int64_t[]){85}));
    REFUSED(cubed_average(x, vector(f, CUBED_FLOAT64, 3, w), NULL, &y, NULL, &f->err), CUBED_E_ARG,
            "average: weights have shape (3), expected the shape");
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = (int[]){0};
    o.naxes = 1;
    REFUSED(cubed_average(x, vector(f, CUBED_FLOAT64, 3, w), &o, &y, NULL, &f->err), CUBED_E_ARG,
            "average: weights have shape (3), expected the shape");
    REFUSED(cubed_field_reduce(x, NULL, (cubed_field_statistic)11, NULL, &y, &f->err), CUBED_E_ARG,
            "field_reduce: statistic number 11, expected 0 to 10");
    REFUSED(cubed_average(vector(f, span, 2, when), vector(f, CUBED_FLOAT64, 2, w), NULL, &y, NULL,
                          &f->err),
            CUBED_E_TYPE, "average is not defined for timedelta64[s] with weights of float64");
}

static void test_differences(void **state)
{
    fixture *f = *state;
    static const int64_t a[] = {1, 4, 9, 16}, end[] = {7};
    cubed_array *x = vector(f, CUBED_INT64, 4, a), *last = vector(f, CUBED_INT64, 1, end);
    CHECK(cubed_ediff1d(x, NULL, NULL, &y, &f->err), CUBED_INT64, 3, ((int64_t[]){3, 5, 7}));
    CHECK(cubed_ediff1d(x, last, last, &y, &f->err), CUBED_INT64, 5, ((int64_t[]){7, 3, 5, 7, 7}));
    REFUSED(cubed_ediff1d(x, NULL, number(f, 1), &y, &f->err), CUBED_E_TYPE,
            "ediff1d: to_end has type float64, which cannot be cast to int64");
    CHECK(cubed_trapezoid(x, NULL, NULL, -1, &y, &f->err), CUBED_FLOAT64, 1, ((double[]){21.5}));
    CHECK(cubed_trapezoid(x, NULL, number(f, 0.5), 0, &y, &f->err), CUBED_FLOAT64, 1,
          ((double[]){10.75}));
    CHECK(cubed_trapezoid(x, x, NULL, 0, &y, &f->err), CUBED_FLOAT64, 1, ((double[]){127.5}));
    REFUSED(cubed_trapezoid(x, number(f, 1), NULL, 0, &y, &f->err), CUBED_E_ARG,
            "trapezoid: x has no dimensions");
    REFUSED(cubed_trapezoid(x, NULL, NULL, 1, &y, &f->err), CUBED_E_AXIS, "trapezoid");
}

static void test_gradient(void **state)
{
    fixture *f = *state;
    static const double a[] = {0, 1, 4, 9, 16};
    static const int64_t at[] = {0, 1, 3, 4, 6};
    cubed_array *x = vector(f, CUBED_FLOAT64, 5, a), *where = vector(f, CUBED_INT64, 5, at);
    CHECK(cubed_gradient(x, NULL, 0, 1, &y, &f->err), CUBED_FLOAT64, 5,
          ((double[]){1, 2, 4, 6, 7}));
    CHECK(cubed_gradient(x, number(f, 0.5), -1, 2, &y, &f->err), CUBED_FLOAT64, 5,
          ((double[]){0, 4, 8, 12, 16}));
    /* The gradient of a parabola is exact, also for uneven coordinates. */
    static const double squares[] = {0, 1, 9, 16, 36};
    double got[5];
    cubed_array *curve = NULL, *of = vector(f, CUBED_FLOAT64, 5, squares);
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan = NULL;
    assert_int_equal(cubed_gradient(of, where, 0, 2, &curve, &f->err), CUBED_OK);
    const cubed_target target = {.array = curve, .data = got};
    assert_int_equal(cubed_plan_new(f->ctx, &target, 1, &options, &plan, &f->err), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, &f->err), CUBED_OK);
    for (int i = 0; i < 5; i++) assert_true(fabs(got[i] - 2 * (double)at[i]) < 1e-12);
    cubed_plan_unref(plan);
    cubed_array_unref(curve);
    /* Differences of coordinates do not wrap, although the coordinates are unsigned. */
    static const uint8_t descending[] = {200, 100, 0};
    CHECK(cubed_gradient(vector(f, CUBED_FLOAT64, 3, a), vector(f, CUBED_UINT8, 3, descending), 0,
                         1, &y, &f->err),
          CUBED_FLOAT64, 3, ((double[]){-0.01, -0.02, -0.03}));
    REFUSED(cubed_gradient(x, NULL, 0, 3, &y, &f->err), CUBED_E_ARG,
            "gradient: edge_order is 3, expected 1 or 2");
    REFUSED(cubed_gradient(vector(f, CUBED_FLOAT64, 2, a), NULL, 0, 2, &y, &f->err), CUBED_E_ARG,
            "gradient: axis 0 has 2 elements, expected at least 3");
    REFUSED(
        cubed_gradient(vector(f, CUBED_FLOAT64, 4, a), where, 0, 1, &y, &f->err), CUBED_E_ARG,
        "gradient: 5 coordinates are given for axis 0, expected one for each of its 4 elements");
}

static void test_unwrap(void **state)
{
    fixture *f = *state;
    static const double a[] = {0, 350, 10, 200, 20};
    static const int64_t b[] = {0, 3, 2, 1};
    const cubed_scalar four = {.i64 = 4};
    cubed_array *period, *x = vector(f, CUBED_FLOAT64, 5, a);
    assert_int_equal(cubed_array_full(f->ctx, CUBED_INT64, 0, NULL, NULL, &four, &period, &f->err),
                     CUBED_OK);
    keep(f, period);
    CHECK(cubed_unwrap(x, number(f, 360), NULL, 0, &y, &f->err), CUBED_FLOAT64, 5,
          ((double[]){0, -10, 10, -160, 20 - 360}));
    CHECK(cubed_unwrap(x, number(f, 360), number(f, 345), 0, &y, &f->err), CUBED_FLOAT64, 5,
          ((double[]){0, -10, -350, -160, -340}));
    CHECK(cubed_unwrap(vector(f, CUBED_INT64, 4, b), period, NULL, 0, &y, &f->err), CUBED_INT64, 4,
          ((int64_t[]){0, -1, -2, -3}));
    REFUSED(cubed_unwrap(x, x, NULL, 0, &y, &f->err), CUBED_E_ARG,
            "unwrap: period is not a real number");
    cubed_array *z;
    assert_int_equal(cubed_astype(x, CUBED_COMPLEX128, &z, &f->err), CUBED_OK);
    keep(f, z);
    REFUSED(cubed_unwrap(z, period, NULL, 0, &y, &f->err), CUBED_E_TYPE,
            "unwrap is not defined for complex128, expected real numbers");
}

static void test_interp(void **state)
{
    fixture *f = *state;
    static const double at[] = {-1, 0, 0.5, 2, 5, NAN}, xp[] = {0, 1, 3}, fp[] = {0, 10, 30};
    cubed_array *x = vector(f, CUBED_FLOAT64, 6, at), *points = vector(f, CUBED_FLOAT64, 3, xp);
    cubed_array *values = vector(f, CUBED_FLOAT64, 3, fp);
    CHECK(cubed_interp(x, points, values, NULL, &y, &f->err), CUBED_FLOAT64, 6,
          ((double[]){0, 0, 5, 20, 30, (double)NAN}));
    cubed_interp_options o = CUBED_INTERP_OPTIONS_INIT;
    o.left = number(f, -7);
    o.right = number(f, 7);
    CHECK(cubed_interp(x, points, values, &o, &y, &f->err), CUBED_FLOAT64, 6,
          ((double[]){-7, 0, 5, 20, 7, (double)NAN}));
    const double period = 4, none = 0;
    o.period = &period;
    CHECK(cubed_interp(x, points, values, &o, &y, &f->err), CUBED_FLOAT64, 6,
          ((double[]){30, 0, 5, 20, 10, (double)NAN}));
    o.period = &none;
    REFUSED(cubed_interp(x, points, values, &o, &y, &f->err), CUBED_E_ARG,
            "interp: period is 0, expected more than 0");
    REFUSED(cubed_interp(x, points, x, NULL, &y, &f->err), CUBED_E_ARG,
            "interp: xp has 3 points and fp 6 values");
}

/* Arithmetic of times in their common unit; NaT propagates. */
static void test_times(void **state)
{
    fixture *f = *state;
    static const int64_t months[] = {0, 1, -1, 362, INT64_MIN}; /* 2000-03 */
    static const int64_t days[] = {31, 31, -31, 11017, 5};      /* 2000-03-01 is day 11017 */
    static const int64_t apart[] = {-31, 0, 0, 0, INT64_MIN};
    const cubed_dtype month = time_type(CUBED_DATETIME64, CUBED_UNIT_M, 1);
    const cubed_dtype day = time_type(CUBED_DATETIME64, CUBED_UNIT_D, 1);
    const cubed_dtype span = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_D, 1);
    cubed_array *m = vector(f, month, 5, months), *d = vector(f, day, 5, days);
    CHECK(cubed_elementwise(CUBED_OP_SUBTRACT, (cubed_array *[]){m, d}, 2, &y, &f->err), span, 5,
          apart);
    CHECK(cubed_elementwise(CUBED_OP_LESS, (cubed_array *[]){m, d}, 2, &y, &f->err), CUBED_BOOL, 5,
          ((bool[]){true, false, false, false, false}));
    CHECK(cubed_elementwise(CUBED_OP_NOT_EQUAL, (cubed_array *[]){m, d}, 2, &y, &f->err),
          CUBED_BOOL, 5, ((bool[]){true, false, false, false, true}));
    /* The common unit of 36 hours and two days is 12 hours. */
    static const int64_t some[] = {1, -7, INT64_MIN};
    const cubed_dtype two = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_D, 2);
    const cubed_dtype hours = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_H, 36);
    const cubed_dtype half = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_H, 12);
    cubed_array *a = vector(f, two, 3, some), *b = vector(f, hours, 3, some);
    CHECK(cubed_elementwise(CUBED_OP_ADD, (cubed_array *[]){a, b}, 2, &y, &f->err), half, 3,
          ((int64_t[]){7, -49, INT64_MIN}));
    CHECK(cubed_elementwise(CUBED_OP_DIVIDE, (cubed_array *[]){a, b}, 2, &y, &f->err),
          CUBED_FLOAT64, 3, ((double[]){4.0 / 3, 28.0 / 21, (double)NAN}));
    CHECK(cubed_elementwise(CUBED_OP_DIVIDE, (cubed_array *[]){a, number(f, 2)}, 2, &y, &f->err),
          two, 3, ((int64_t[]){0, -3, INT64_MIN}));
    CHECK(cubed_elementwise(CUBED_OP_ABS, &a, 1, &y, &f->err), two, 3,
          ((int64_t[]){1, 7, INT64_MIN}));
    CHECK(cubed_elementwise(CUBED_OP_ISFINITE, &a, 1, &y, &f->err), CUBED_BOOL, 3,
          ((bool[]){true, true, false}));
    /* Rounding is downwards, also if neither unit is a multiple of the other. */
    CHECK(cubed_astype(b, two, &y, &f->err), two, 3, ((int64_t[]){0, -6, INT64_MIN}));
    REFUSED(cubed_elementwise(CUBED_OP_ADD, (cubed_array *[]){m, d}, 2, &y, &f->err), CUBED_E_TYPE,
            "add is not defined for datetime64[M] and datetime64[D]");
    REFUSED(cubed_elementwise(CUBED_OP_SQRT, &a, 1, &y, &f->err), CUBED_E_TYPE,
            "sqrt is not defined for timedelta64[2D]");
    const cubed_dtype years = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_Y, 1);
    cubed_array *long_spans = vector(f, years, 3, some);
    REFUSED(cubed_elementwise(CUBED_OP_ADD, (cubed_array *[]){a, long_spans}, 2, &y, &f->err),
            CUBED_E_TYPE, "months and days have no common unit");
    const cubed_dtype tiny = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_AS, 1);
    REFUSED(cubed_astype(long_spans, tiny, &y, &f->err), CUBED_E_UNSUPPORTED,
            "times in Y cannot be converted to as");
    REFUSED(cubed_elementwise(CUBED_OP_ADD, (cubed_array *[]){a, vector(f, tiny, 3, some)}, 2, &y,
                              &f->err),
            CUBED_E_ARG, "one unit is too many of the other");
}

/* Quantiles of times are truncated from the nearer of two elements; NaT gives NaT. */
static void test_quantiles_of_times(void **state)
{
    fixture *f = *state;
    const cubed_dtype day = time_type(CUBED_DATETIME64, CUBED_UNIT_D, 1);
    static const int64_t days[] = {40, 0, 17, -3}, none[] = {1, INT64_MIN};
    static const double q[] = {0, 0.4, 0.6, 1};
    cubed_array *x = vector(f, day, 4, days), *missing = vector(f, day, 2, none);
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    o.keepdims = true;
    /* The quantiles are at positions 0, 1.2, 1.8 and 3 of -3, 0, 17, 40. Both middle ones, 0 + 3.4 and 17 - 3.4, are
     * truncated. */
    CHECK(cubed_quantiles(x, q, 4, &o, &y, &f->err), day, 4, ((int64_t[]){-3, 3, 14, 40}));
    CHECK(cubed_quantile(x, 0.6, NULL, &y, &f->err), day, 1, ((int64_t[]){14}));
    CHECK(cubed_quantiles(x, q, 0, NULL, &y, &f->err), day, 0, NULL);
    CHECK(cubed_quantile(missing, 0.5, NULL, &y, &f->err), day, 1, ((int64_t[]){INT64_MIN}));
    o.method = CUBED_QUANTILE_HIGHER;
    CHECK(cubed_quantile(x, 0.4, &o, &y, &f->err), day, 1, ((int64_t[]){17}));
    o.method = CUBED_QUANTILE_HAZEN;
    REFUSED(cubed_quantile(x, 0.4, &o, &y, &f->err), CUBED_E_TYPE,
            "quantile: method 'hazen' is not defined for datetime64[D], expected 'linear'");
    REFUSED(cubed_quantile(x, 1.5, NULL, &y, &f->err), CUBED_E_ARG, "q is 1.5");
    o.method = CUBED_QUANTILE_LINEAR;
    o.skip_nan = true;
    static const int64_t gaps[] = {40, INT64_MIN, 0, 17, INT64_MIN, -3};
    cubed_array *known = vector(f, day, 6, gaps);
    CHECK(cubed_quantiles(known, q, 4, &o, &y, &f->err), day, 4, ((int64_t[]){-3, 3, 14, 40}));
    CHECK(cubed_quantile(missing, 0.4, &o, &y, &f->err), day, 1, ((int64_t[]){1}));
    CHECK(cubed_quantile(vector(f, day, 1, none + 1), 0.4, &o, &y, &f->err), day, 1,
          ((int64_t[]){INT64_MIN}));
    o.method = CUBED_QUANTILE_WEIBULL;
    REFUSED(cubed_quantile(known, 0.4, &o, &y, &f->err), CUBED_E_TYPE,
            "quantile: method 'weibull' is not defined for times if missing ones are skipped");
    o.method = CUBED_QUANTILE_LINEAR;
    cubed_array *nothing = NULL;
    const cubed_slice no_days = {0, 0, 1, false};
    assert_int_equal(cubed_slice_array(x, &no_days, &nothing, &f->err), CUBED_OK);
    keep(f, nothing);
    REFUSED(cubed_quantile(nothing, 0.5, NULL, &y, &f->err), CUBED_E_ARG,
            "quantile: the array of datetime64[D] has no elements, expected at least one");
}

/* Casts between months and days. Dates are converted by the calendar, time differences by the mean length of a month. */
static void test_time_casts(void **state)
{
    fixture *f = *state;
    const cubed_dtype month = time_type(CUBED_DATETIME64, CUBED_UNIT_M, 1);
    const cubed_dtype day = time_type(CUBED_DATETIME64, CUBED_UNIT_D, 1);
    static const int64_t days[] = {0, -1, 11015, 11016, 11017, -719468, INT64_MIN};
    cubed_array *d = vector(f, day, 7, days);
    CHECK(cubed_astype(d, month, &y, &f->err), month, 7,
          ((int64_t[]){0, -1, 361, 361, 362, -1970 * 12 + 2, INT64_MIN}));
    const cubed_dtype years = time_type(CUBED_DATETIME64, CUBED_UNIT_Y, 4);
    CHECK(cubed_astype(d, years, &y, &f->err), years, 7,
          ((int64_t[]){0, -1, 7, 7, 7, -493, INT64_MIN}));
    CHECK(cubed_astype(d, CUBED_FLOAT64, &y, &f->err), CUBED_FLOAT64, 7,
          ((double[]){0, -1, 11015, 11016, 11017, -719468, (double)INT64_MIN}));
    const cubed_dtype span = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_Y, 1);
    const cubed_dtype two = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_D, 2);
    static const int64_t some[] = {1, -7, INT64_MIN};
    CHECK(cubed_astype(vector(f, span, 3, some), two, &y, &f->err), two, 3,
          ((int64_t[]){182, -1279, INT64_MIN}));
    static const int64_t spans[] = {182, -1279, INT64_MIN};
    CHECK(cubed_astype(vector(f, two, 3, spans), span, &y, &f->err), span, 3,
          ((int64_t[]){0, -8, INT64_MIN}));
    static const float numbers[] = {1.5F, -2, (float)NAN};
    CHECK(cubed_astype(vector(f, CUBED_FLOAT32, 3, numbers), two, &y, &f->err), two, 3,
          ((int64_t[]){1, -2, INT64_MIN}));
}

/* Positions of extremes, sets and running sums of times. NaT counts as one element, is both the largest and the smallest, and
 * propagates. */
static void test_order_of_times(void **state)
{
    fixture *f = *state;
    const cubed_dtype day = time_type(CUBED_DATETIME64, CUBED_UNIT_D, 1);
    const cubed_dtype hour = time_type(CUBED_DATETIME64, CUBED_UNIT_H, 1);
    const cubed_dtype span = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_D, 1);
    static const int64_t some[] = {4, 9, INT64_MIN, 9, -3, INT64_MIN, 4};
    cubed_array *x = vector(f, day, 7, some), *spans = vector(f, span, 7, some);
    CHECK(cubed_argmax(x, NULL, false, &y, &f->err), CUBED_INT64, 1, ((int64_t[]){2}));
    CHECK(cubed_argmin(x, NULL, false, &y, &f->err), CUBED_INT64, 1, ((int64_t[]){2}));
    CHECK(cubed_argmax(vector(f, day, 2, some), NULL, false, &y, &f->err), CUBED_INT64, 1,
          ((int64_t[]){1}));
    CHECK(cubed_cumulative(CUBED_REDUCE_SUM, spans, 0, true, &y, &f->err), span, 8,
          ((int64_t[]){0, 4, 13, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}));
    REFUSED(cubed_cumulative(CUBED_REDUCE_SUM, x, 0, false, &y, &f->err), CUBED_E_TYPE,
            "cumulative_sum is not defined for datetime64");
    static const int64_t hours[] = {96, INT64_MIN, 217};
    cubed_array *among = vector(f, hour, 3, hours);
    CHECK(cubed_isin(x, among, false, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){true, false, false, false, false, false, true}));
    CHECK(cubed_isin(x, among, true, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){false, true, true, true, true, true, false}));
    REFUSED(cubed_isin(x, spans, false, &y, &f->err), CUBED_E_TYPE,
            "isin is not defined for datetime64[D] and timedelta64[D]");
}

/* Bytes are ordered as unsigned numbers, padding does not count, and equal elements keep their order. */
static void test_order_of_texts(void **state)
{
    fixture *f = *state;
    cubed_dtype two, three;
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 2, &two, &f->err), CUBED_OK);
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 3, &three, &f->err), CUBED_OK);
    static const char some[] = "b\0"
                               "\xff\0"
                               "ab"
                               "\0\0"
                               "ab"
                               "a\0"
                               "b";
    static const char others[] = "ab\0"
                                 "\0\0\0"
                                 "abc"
                                 "\xff\0";
    cubed_array *x = vector(f, two, 7, some), *among = vector(f, three, 4, others);
    CHECK(cubed_sort(x, 0, false, &y, &f->err), two, 7,
          "\0\0"
          "a\0"
          "ab"
          "ab"
          "b\0"
          "b\0"
          "\xff");
    CHECK(cubed_argsort(x, 0, false, &y, &f->err), CUBED_INT64, 7,
          ((int64_t[]){3, 5, 2, 4, 0, 6, 1}));
    CHECK(cubed_argsort(x, 0, true, &y, &f->err), CUBED_INT64, 7,
          ((int64_t[]){1, 0, 6, 2, 4, 5, 3}));
    CHECK(cubed_isin(x, among, false, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){false, true, true, true, true, false, false}));
    CHECK(cubed_isin(x, among, true, &y, &f->err), CUBED_BOOL, 7,
          ((bool[]){true, false, false, false, false, true, true}));
    static const char ordered[] = "\0\0"
                                  "a\0"
                                  "ab"
                                  "ab"
                                  "b\0"
                                  "b\0"
                                  "\xff";
    cubed_array *line = vector(f, two, 7, ordered);
    CHECK(cubed_searchsorted(line, among, false, NULL, &y, &f->err), CUBED_INT64, 4,
          ((int64_t[]){2, 0, 4, 6}));
    CHECK(cubed_searchsorted(line, among, true, NULL, &y, &f->err), CUBED_INT64, 4,
          ((int64_t[]){4, 1, 4, 7}));
    REFUSED(cubed_searchsorted(line, number(f, 1), false, NULL, &y, &f->err), CUBED_E_TYPE,
            "searchsorted is not defined for bytes and float64");
    REFUSED(cubed_isin(line, number(f, 1), false, &y, &f->err), CUBED_E_TYPE,
            "isin: bytes and float64 have no common type to compare");
}

/* Strings are compared only with strings of their kind. A choice has the larger of both lengths. Positions are those of the first
 * extreme. */
static void test_choices_of_texts(void **state)
{
    fixture *f = *state;
    cubed_dtype two, three, five;
    const int64_t n = 4;
    const cubed_reduce_options all = CUBED_REDUCE_OPTIONS_INIT;
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 2, &two, &f->err), CUBED_OK);
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 3, &three, &f->err), CUBED_OK);
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 5, &five, &f->err), CUBED_OK);
    cubed_array *x = vector(f, two, 4, "b\0ab\xff\0ab"),
                *y3 = vector(f, three, 4, "b\0\0abcaa\0abc");
    cubed_array *filled;
    assert_int_equal(cubed_array_full_text(f->ctx, three, 1, &n, NULL, "abc", &filled, &f->err),
                     CUBED_OK);
    cubed_array *equal;
    assert_int_equal(
        cubed_elementwise(CUBED_OP_EQUAL, (cubed_array *[]){filled, y3}, 2, &equal, &f->err),
        CUBED_OK);
    CHECK(cubed_array_full_text(f->ctx, three, 1, &n, NULL, "abc", &y, &f->err), three, 4,
          "abcabcabcabc");
    CHECK(cubed_elementwise(CUBED_OP_LESS, (cubed_array *[]){x, y3}, 2, &y, &f->err), CUBED_BOOL, 4,
          ((bool[]){false, true, false, true}));
    CHECK(cubed_elementwise(CUBED_OP_WHERE, (cubed_array *[]){equal, x, y3}, 3, &y, &f->err), three,
          4, "b\0\0ab\0aa\0ab\0");
    CHECK(cubed_reduce(CUBED_REDUCE_MAX, x, &all, &y, &f->err), two, 1, "\xff");
    CHECK(cubed_reduce(CUBED_REDUCE_MIN, y3, &all, &y, &f->err), three, 1, "aa");
    CHECK(cubed_argmin(x, NULL, false, &y, &f->err), CUBED_INT64, 1, ((int64_t[]){1}));
    CHECK(cubed_elementwise(CUBED_OP_ADD, (cubed_array *[]){x, y3}, 2, &y, &f->err), five, 4,
          "bb\0\0\0ababc\xff"
          "aa\0\0ababc");
    REFUSED(cubed_elementwise(CUBED_OP_SUBTRACT, (cubed_array *[]){x, y3}, 2, &y, &f->err),
            CUBED_E_TYPE, "subtract is not defined for bytes");
    REFUSED(cubed_array_full_text(f->ctx, CUBED_INT64, 1, &n, NULL, "12345678", &y, &f->err),
            CUBED_E_TYPE, "is not a type of bytes, strings or records");
    cubed_array_unref(equal);
    cubed_array_unref(filled);
}

/* The spacing of regular dates has a unit, which derivatives by dates lose; irregular dates have no product. */
static void test_gradients_of_times(void **state)
{
    fixture *f = *state;
    const cubed_dtype date = time_type(CUBED_DATETIME64, CUBED_UNIT_S, 1);
    const cubed_dtype span = time_type(CUBED_TIMEDELTA64, CUBED_UNIT_S, 1);
    static const int64_t values[] = {1, 2, 9}, even[] = {4, 6, 8}, uneven[] = {1, 2, 5};
    static const double numbers[] = {1, 2, 9}, apart[] = {1, 2, 5};
    cubed_array *dates = vector(f, date, 3, values), *x = vector(f, CUBED_FLOAT64, 3, numbers);
    CHECK(cubed_gradient(dates, vector(f, date, 3, even), 0, 1, &y, &f->err), span, 3,
          ((int64_t[]){0, 2, 3}));
    CHECK(cubed_gradient(dates, vector(f, CUBED_FLOAT64, 3, apart), 0, 1, &y, &f->err), span, 3,
          ((int64_t[]){1, 1, 2}));
    CHECK(cubed_gradient(x, vector(f, span, 3, even), 0, 1, &y, &f->err), CUBED_FLOAT64, 3,
          ((double[]){0.5, 2, 3.5}));
    REFUSED(cubed_gradient(dates, vector(f, date, 3, uneven), 0, 1, &y, &f->err), CUBED_E_TYPE,
            "multiply is not defined for timedelta64[s] and timedelta64[s]");
    REFUSED(cubed_gradient(x, vector(f, date, 3, even), 0, 1, &y, &f->err), CUBED_E_TYPE,
            "divide is not defined for float64 and timedelta64[s]");
}

/* A slice can drop an axis only if it selects one element. */
static void test_slices_that_drop_axes(void **state)
{
    fixture *f = *state;
    const double values[] = {1, 2, 3};
    cubed_array *x = vector(f, CUBED_FLOAT64, 3, values);
    const cubed_slice two = {0, 2, 1, true}, one = {1, 1, 1, true};
    REFUSED(cubed_slice_array(x, &two, &y, &f->err), CUBED_E_ARG,
            "slice: cannot drop axis 0, which has 2 elements, expected 1");
    CHECK(cubed_slice_array(x, &one, &y, &f->err), CUBED_FLOAT64, 1, ((double[]){2}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slices_that_drop_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_modes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nan_to_num, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges_and_means, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gradient, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unwrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interp, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quantiles_of_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_casts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choices_of_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gradients_of_times, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
