/* Statistics of samples, compared with results of SciPy 1.17. */
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
    cubed_array *x, *y; /* two samples of 8 float64 elements */
    cubed_array *grid;  /* the first 6 elements of x and of y as an int16 array of shape (2, 6) */
} fixture;

static const double first[] = {2, 4, 7, 8, 12, 13, 17, 30};
static const double second[] = {1, 5, 6, 9, 10, 11, 15, 20};

static cubed_array *from(fixture *f, cubed_dtype dtype, int ndim, const int64_t *shape,
                         const void *data)
{
    const int64_t chunks[] = {shape[0] > 3 ? 3 : shape[0], 4};
    cubed_array *x;
    assert_int_equal(
        cubed_array_from_memory(f->ctx, dtype, ndim, shape, NULL, chunks, data, &x, &f->err),
        CUBED_OK);
    return x;
}

static int set_up(void **state)
{
    static fixture f;
    static const int16_t both[] = {2, 4, 7, 8, 12, 13, 1, 5, 6, 9, 10, 11};
    f = (fixture){.err = CUBED_ERROR_INIT};
    assert_int_equal(cubed_context_new(NULL, &f.ctx, &f.err), CUBED_OK);
    f.x = from(&f, CUBED_FLOAT64, 1, &(int64_t){8}, first);
    f.y = from(&f, CUBED_FLOAT64, 1, &(int64_t){8}, second);
    f.grid = from(&f, CUBED_INT16, 2, (int64_t[]){2, 6}, both);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    cubed_array_unref(f->x);
    cubed_array_unref(f->y);
    cubed_array_unref(f->grid);
    cubed_context_unref(f->ctx);
    return 0;
}

/* Compares all n elements of y, float64, for any number of axes. */
static void check(fixture *f, cubed_status st, cubed_array *y, int ndim, int n, const double *want)
{
    double got[8];
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    const cubed_target target = {.array = y, .data = got};
    cubed_plan *plan = NULL;
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    assert_int_equal(cubed_array_ndim(y), ndim);
    assert_int_equal(cubed_array_dtype(y), CUBED_FLOAT64);
    st = cubed_plan_new(f->ctx, &target, 1, &options, &plan, &f->err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, &f->err);
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    for (int i = 0; i < n; i++) {
        const bool same =
            isnan(want[i]) ? isnan(got[i]) : fabs(got[i] - want[i]) <= 1e-12 * fabs(want[i]);
        if (!same) fail_msg("element %d is %.17g, expected %.17g", i, got[i], want[i]);
    }
}

#define CHECK(call, ndim, n, ...)                                                                  \
    do {                                                                                           \
        cubed_array *out = NULL;                                                                   \
        cubed_status st_ = (call);                                                                 \
        check(f, st_, out, ndim, n, (const double[]){__VA_ARGS__});                                \
    } while (0)
#define REFUSED(call, status, text)                                                                \
    do {                                                                                           \
        cubed_array *out = NULL;                                                                   \
        assert_int_equal(call, status);                                                            \
        if (!strstr(f->err.message, text)) fail_msg("%s, expected %s", f->err.message, text);      \
    } while (0)

/* Returns the options to reduce along the last axis. */
static cubed_reduce_options along_rows(void)
{
    static const int axis = -1;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = &axis;
    o.naxes = 1;
    return o;
}

static void test_moments(void **state)
{
    fixture *f = *state;
    cubed_reduce_options o = along_rows();
    const double about = 1.5;
    CHECK(cubed_moment(f->x, 2, NULL, NULL, &out, &f->err), 0, 1, 69.234375);
    CHECK(cubed_moment(f->x, 2, &about, NULL, &out, &f->err), 0, 1, 171.75);
    CHECK(cubed_moment(f->x, 0, NULL, NULL, &out, &f->err), 0, 1, 1);
    CHECK(cubed_moment(f->x, 1, NULL, NULL, &out, &f->err), 0, 1, 0);
    CHECK(cubed_moment(f->x, 1, &about, NULL, &out, &f->err), 0, 1, 10.125);
    CHECK(cubed_skew(f->x, true, NULL, &out, &f->err), 0, 1, 1.0589963099931154);
    CHECK(cubed_skew(f->x, false, NULL, &out, &f->err), 0, 1, 1.3208004552840289);
    CHECK(cubed_kurtosis(f->x, CUBED_KURTOSIS_FISHER | CUBED_KURTOSIS_BIAS, NULL, &out, &f->err), 0,
          1, 0.32311985462184234);
    CHECK(cubed_kurtosis(f->x, 0, NULL, &out, &f->err), 0, 1, 5.0785516947058689);
    CHECK(cubed_skew(f->grid, true, &o, &out, &f->err), 1, 2, 0.0042257712736423949,
          -0.52698603939220789);
    o.keepdims = true;
    CHECK(cubed_kurtosis(f->grid, CUBED_KURTOSIS_FISHER | CUBED_KURTOSIS_BIAS, &o, &out, &f->err),
          2, 2, -1.3650000000000002, -0.95999999999999952);
    /* If all elements are equal, skewness and kurtosis are undefined. */
    static const float equal[] = {0.1F, 0.1F, 0.1F};
    cubed_array *flat = from(f, CUBED_FLOAT32, 1, &(int64_t){3}, equal), *wide = NULL;
    cubed_array *skewness = NULL;
    assert_int_equal(cubed_skew(flat, true, NULL, &skewness, &f->err), CUBED_OK);
    assert_int_equal(cubed_array_dtype(skewness), CUBED_FLOAT32);
    const cubed_status st = cubed_astype(skewness, CUBED_FLOAT64, &wide, &f->err);
    check(f, st, wide, 0, 1, (double[]){(double)NAN});
    cubed_array_unref(skewness);
    cubed_array_unref(flat);
}

static void test_normality(void **state)
{
    fixture *f = *state;
    cubed_reduce_options o = along_rows();
    CHECK(cubed_skewtest(f->x, NULL, &out, &f->err), 0, 1, 1.7556183703069521);
    CHECK(cubed_kurtosistest(f->x, NULL, &out, &f->err), 0, 1, 1.3553626007929462);
    CHECK(cubed_normaltest(f->x, NULL, &out, &f->err), 0, 1, 4.9192036417874574);
    CHECK(cubed_kurtosistest(f->grid, &o, &out, &f->err), 1, 2, -0.85003034136648936,
          -0.066508371648823159);
    REFUSED(cubed_skewtest(f->grid, &o, &out, &f->err), CUBED_E_ARG,
            "skewtest: there are 6 elements, expected at least 8");
    REFUSED(cubed_normaltest(f->grid, &o, &out, &f->err), CUBED_E_ARG,
            "skewtest: there are 6 elements");
    const int none = 2;
    o.axes = &none;
    REFUSED(cubed_skew(f->grid, true, &o, &out, &f->err), CUBED_E_AXIS, "skew: axis 2");
    o.struct_size = 1;
    REFUSED(cubed_moment(f->x, 2, NULL, &o, &out, &f->err), CUBED_E_ARG,
            "moment: options.struct_size is 1");
}

static void test_means(void **state)
{
    fixture *f = *state;
    cubed_array *df = NULL;
    const cubed_scalar ten = {.f64 = 10};
    cubed_array *popmean, *few = from(f, CUBED_FLOAT64, 1, &(int64_t){5}, second);
    assert_int_equal(
        cubed_array_full(f->ctx, CUBED_FLOAT64, 0, NULL, NULL, &ten, &popmean, &f->err), CUBED_OK);
    CHECK(cubed_ttest_1samp(f->x, popmean, NULL, &out, &f->err), 0, 1, 0.51670361178615676);
    CHECK(cubed_ttest_1samp(f->x, NULL, NULL, &out, &f->err), 0, 1, 3.6964181458548135);
    CHECK(cubed_ttest_rel(f->x, f->y, NULL, &out, &f->err), 0, 1, 1.6329931618554523);
    CHECK(cubed_ttest_ind(f->x, few, true, NULL, &out, NULL, &f->err), 0, 1, 1.283492685377311);
    CHECK(cubed_ttest_ind(f->x, few, false, NULL, &out, &df, &f->err), 0, 1, 1.5386975418173745);
    check(f, CUBED_OK, df, 0, 1, (double[]){9.9128938796173482});
    CHECK(cubed_ttest_ind(f->x, few, true, NULL, &out, &df, &f->err), 0, 1, 1.283492685377311);
    check(f, CUBED_OK, df, 0, 1, (double[]){11});
    CHECK(cubed_f_oneway((cubed_array *[]){f->x, few, f->y}, 3, NULL, &out, &f->err), 0, 1,
          0.95634943907772474);
    REFUSED(cubed_ttest_rel(f->x, few, NULL, &out, &f->err), CUBED_E_ARG,
            "ttest_rel: the samples have 8 and 5 elements, expected equal numbers");
    REFUSED(cubed_f_oneway(&f->x, 1, NULL, &out, &f->err), CUBED_E_ARG,
            "f_oneway: there are 1 samples, expected at least 2");
    cubed_array_unref(popmean);
    cubed_array_unref(few);
}

static void test_counts(void **state)
{
    fixture *f = *state;
    static const double counts[] = {0, 4, 8};
    cubed_reduce_options o = along_rows();
    cubed_array *some = from(f, CUBED_FLOAT64, 1, &(int64_t){3}, counts);
    CHECK(cubed_power_divergence(f->x, NULL, 1, NULL, &out, &f->err), 0, 1, 47.645161290322577);
    CHECK(cubed_power_divergence(f->x, f->y, 1, NULL, &out, &f->err), 0, 1, 7.5080808080808081);
    CHECK(cubed_power_divergence(f->grid, NULL, 1, &o, &out, &f->err), 1, 2, 12.173913043478258,
          10);
    CHECK(cubed_power_divergence(f->x, NULL, -0.5, NULL, &out, &f->err), 0, 1, 46.86044602422939);
    CHECK(cubed_power_divergence(f->x, f->y, -1, NULL, &out, &f->err), 0, 1, -26.179691975505499);
    /* 0 log 0 is 0. */
    CHECK(cubed_power_divergence(some, NULL, 0, NULL, &out, &f->err), 0, 1, 11.090354888959125);
    cubed_array *complex_numbers = NULL;
    assert_int_equal(cubed_astype(some, CUBED_COMPLEX128, &complex_numbers, &f->err), CUBED_OK);
    REFUSED(cubed_power_divergence(some, complex_numbers, 1, NULL, &out, &f->err), CUBED_E_TYPE,
            "power_divergence: the type of x is complex128, expected real numbers");
    cubed_array_unref(complex_numbers);
    cubed_array_unref(some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_moments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_normality, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_means, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
