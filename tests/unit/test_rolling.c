/* Reductions of windows, compared with plain loops: any chunks, axes and lengths; bits that do not depend on chunks; refusals. */
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
#include "random_test.h"
#include "slow.h"

enum { NDIM = 3 };

static cubed_context *new_context(const char *isa)
{
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    o.isa = isa;
    assert_int_equal(cubed_context_new(&o, &ctx, &err), CUBED_OK);
    return ctx;
}

static int64_t count_of(const int64_t *shape) { return shape[0] * shape[1] * shape[2]; }

static cubed_status roll(cubed_context *ctx, cubed_dtype dtype, const int64_t *shape,
                         const int64_t *chunks, const void *data, const cubed_window *windows,
                         int n, cubed_group_reduction reduction, const cubed_rolling_options *o,
                         void *to, cubed_error *err)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x = NULL, *y = NULL;
    cubed_plan *plan = NULL;
    cubed_status st = cubed_array_from_memory(ctx, dtype, NDIM, shape, NULL, chunks, data, &x, err);
    if (st == CUBED_OK) st = cubed_rolling_reduce(x, windows, n, reduction, o, &y, err);
    cubed_target target = {.array = y, .data = to};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &target, 1, &options, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}

/* Computes the reduction of one window in two passes, skipping NaN. */
static double expected(const double *x, const int64_t *shape, const int64_t *at,
                       const int64_t (*window)[2], cubed_group_reduction reduction,
                       const cubed_rolling_options *o)
{
    double n = 0, sum = 0, prod = 1, least = INFINITY, most = -INFINITY, squares = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = at[0] - window[0][0]; i <= at[0] + window[0][1]; i++) {
            for (int64_t j = at[1] - window[1][0]; j <= at[1] + window[1][1]; j++) {
                for (int64_t k = at[2] - window[2][0]; k <= at[2] + window[2][1]; k++) {
                    if (i < 0 || j < 0 || k < 0 || i >= shape[0] || j >= shape[1] || k >= shape[2])
                        continue;
                    const double v = x[(i * shape[1] + j) * shape[2] + k];
                    if (isnan(v)) continue;
                    if (pass == 1) {
                        squares += (v - sum / n) * (v - sum / n);
                        continue;
                    }
                    n++;
                    sum += v;
                    prod *= v;
                    least = fmin(least, v);
                    most = fmax(most, v);
                }
            }
        }
    }
    if (reduction == CUBED_GROUP_COUNT) return n;
    if (n < (double)o->min_count) return NAN;
    switch (reduction) {
    case CUBED_GROUP_SUM: return sum;
    case CUBED_GROUP_PROD: return prod;
    case CUBED_GROUP_MEAN: return sum / n;
    case CUBED_GROUP_MIN: return n > 0 ? least : NAN;
    case CUBED_GROUP_MAX: return n > 0 ? most : NAN;
    default: break;
    }
    if (n == 0 || n - o->correction <= 0) return NAN;
    const double var = squares / (n - o->correction);
    return reduction == CUBED_GROUP_STD ? sqrt(var) : var;
}

static void check_close(double got, double wanted, double tolerance)
{
    const bool same = isnan(wanted)
                          ? isnan(got)
                          : got == wanted || fabs(got - wanted) <= tolerance * (1 + fabs(wanted));
    if (!same) fail_msg("%.17g, expected %.17g", got, wanted);
}

static void check_all(cubed_context *ctx, unsigned seed)
{
    const int64_t shape[NDIM] = {1 + pick(9), 1 + pick(9), 1 + pick(40)};
    const int64_t chunks[NDIM] = {1 + pick((int)shape[0]), 1 + pick((int)shape[1]),
                                  1 + pick((int)shape[2])};
    const int64_t n = count_of(shape);
    const bool single = pick(2);
    cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    cubed_window windows[NDIM];
    int64_t around[NDIM][2] = {{0, 0}, {0, 0}, {0, 0}};
    int nwindows = 0;
    double x[9 * 9 * 40], out[9 * 9 * 40];
    float x4[9 * 9 * 40], out4[9 * 9 * 40];
    int64_t counts[9 * 9 * 40];
    for (int64_t i = 0; i < n; i++) {
        x4[i] = pick(7) == 0 ? NAN : (float)(pick(2000) - 1000) / 64;
        x[i] = (double)x4[i];
    }
    for (int d = 0; d < NDIM; d++) {
        if (pick(2) == 0 && (nwindows > 0 || d < NDIM - 1)) continue;
        around[d][0] = pick((int)(shape[d] + 3));
        around[d][1] = pick((int)(shape[d] + 3));
        windows[nwindows++] = (cubed_window){pick(2) ? d : d - NDIM, around[d][0], around[d][1]};
    }
    o.min_count = pick(4);
    o.correction = pick(3);
    for (cubed_group_reduction r = CUBED_GROUP_COUNT; r <= CUBED_GROUP_MAX; r++) {
        cubed_error err = CUBED_ERROR_INIT;
        void *to = r == CUBED_GROUP_COUNT ? (void *)counts : single ? (void *)out4 : (void *)out;
        cubed_status st = roll(ctx, single ? CUBED_FLOAT32 : CUBED_FLOAT64, shape, chunks,
                               single ? (void *)x4 : (void *)x, windows, nwindows, r, &o, to, &err);
        if (st != CUBED_OK) fail_msg("seed %u: %s", seed, err.message);
        for (int64_t i = 0; i < n; i++) {
            const int64_t at[NDIM] = {i / shape[2] / shape[1], i / shape[2] % shape[1],
                                      i % shape[2]};
            const double wanted = expected(x, shape, at, (const int64_t(*)[2])around, r, &o);
            const double got = r == CUBED_GROUP_COUNT ? (double)counts[i]
                               : single               ? (double)out4[i]
                                                      : out[i];
            /* Products beyond the type's range depend on the order. */
            if (r == CUBED_GROUP_PROD && (wanted == 0 ? isnan(got) : !(fabs(wanted) < 1e30)))
                continue;
            /* The tolerance covers rounding: squared deviations depend on the difference from the mean. */
            check_close(got, wanted, single ? 2e-5 : 1e-11);
        }
    }
}

static void test_windows_of_any_length(void **state)
{
    cubed_context *ctx = new_context(NULL);
    (void)state;
    for (unsigned seed = 0; seed < 60 / SLOW; seed++) {
        random_state = seed;
        check_all(ctx, seed);
    }
    cubed_context_unref(ctx);
}

/* Neither chunks nor the instruction set change a bit of a sum or a variance. */
static void test_bits_do_not_depend_on_chunks(void **state)
{
    static const cubed_group_reduction reductions[] = {CUBED_GROUP_SUM, CUBED_GROUP_VAR};
    enum { N = 1000, COLUMNS = 20 };
    const int64_t shape[NDIM] = {1, N, COLUMNS}, whole[NDIM] = {1, N, COLUMNS};
    const cubed_window windows[2] = {{1, 12, 7}, {2, 1, 1}};
    const cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    static double x[N * COLUMNS], first[N * COLUMNS], other[N * COLUMNS];
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    random_state = 5;
    for (int i = 0; i < N * COLUMNS; i++)
        x[i] = ldexp(pick(1 << 20) / (double)(1 << 20) - 0.5, pick(60));
    for (int r = 0; r < 2; r++) {
        cubed_context *best = new_context(NULL);
        assert_int_equal(
            roll(best, CUBED_FLOAT64, shape, whole, x, windows, 2, reductions[r], &o, first, &err),
            CUBED_OK);
        for (int64_t chunk = 1; chunk < N; chunk = chunk * 3 + 1) {
            const int64_t chunks[NDIM] = {1, chunk, 1 + chunk % COLUMNS};
            assert_int_equal(roll(best, CUBED_FLOAT64, shape, chunks, x, windows, 2, reductions[r],
                                  &o, other, &err),
                             CUBED_OK);
            assert_memory_equal(first, other, sizeof first);
        }
        cubed_context_unref(best);
#if defined(__x86_64__)
        cubed_context *least = new_context("x86-64-v2");
        assert_int_equal(
            roll(least, CUBED_FLOAT64, shape, whole, x, windows, 2, reductions[r], &o, other, &err),
            CUBED_OK);
        assert_memory_equal(first, other, sizeof first);
        cubed_context_unref(least);
#endif
    }
}

/* After a window has passed large elements, they must not affect later results. */
static void test_what_is_large_leaves_no_trace(void **state)
{
    const int64_t shape[NDIM] = {1, 1, 8}, chunks[NDIM] = {1, 1, 3};
    const double x[8] = {1e300, INFINITY, 1, 2, 3, NAN, 5, 6};
    const cubed_window window = {-1, 1, 0};
    const cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    const double sums[8] = {1e300, INFINITY, INFINITY, 3, 5, 3, 5, 11};
    double out[8];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = new_context(NULL);
    (void)state;
    assert_int_equal(
        roll(ctx, CUBED_FLOAT64, shape, chunks, x, &window, 1, CUBED_GROUP_SUM, &o, out, &err),
        CUBED_OK);
    assert_memory_equal(out, sums, sizeof out);
    cubed_context_unref(ctx);
}

static void test_types(void **state)
{
    static const cubed_dtype types[][2] = {{CUBED_BOOL, CUBED_FLOAT64},
                                           {CUBED_INT8, CUBED_FLOAT64},
                                           {CUBED_UINT64, CUBED_FLOAT64},
                                           {CUBED_FLOAT16, CUBED_FLOAT16},
                                           {CUBED_FLOAT32, CUBED_FLOAT32}};
    const cubed_window window = {0, 1, 1};
    const cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    const int64_t shape[1] = {4};
    const uint64_t data[4] = {0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = new_context(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cubed_array *x, *y;
        assert_int_equal(
            cubed_array_from_memory(ctx, types[i][0], 1, shape, NULL, NULL, data, &x, &err),
            CUBED_OK);
        assert_int_equal(cubed_rolling_reduce(x, &window, 1, CUBED_GROUP_MEAN, &o, &y, &err),
                         CUBED_OK);
        assert_int_equal(cubed_array_dtype(y), types[i][1]);
        cubed_array_unref(y);
        assert_int_equal(cubed_rolling_reduce(x, &window, 1, CUBED_GROUP_COUNT, &o, &y, &err),
                         CUBED_OK);
        assert_int_equal(cubed_array_dtype(y), CUBED_INT64);
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
    cubed_context_unref(ctx);
}

static void expect_refused(cubed_array *x, const cubed_window *windows, int n,
                           cubed_group_reduction reduction, cubed_status status, const char *text)
{
    const cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *y = NULL;
    assert_int_equal(cubed_rolling_reduce(x, windows, n, reduction, &o, &y, &err), status);
    if (!strstr(err.message, text)) fail_msg("\"%s\" has no \"%s\"", err.message, text);
}

static void test_what_is_refused(void **state)
{
    const int64_t shape[1] = {4};
    const double data[8] = {0};
    const cubed_window good = {0, 1, 1}, twice[2] = {{0, 1, 1}, {-1, 1, 1}}, behind = {1, 1, 1},
                       negative = {0, -1, 1};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = new_context(NULL);
    cubed_array *x, *z;
    (void)state;
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, NULL, data, &x, &err),
        CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_COMPLEX128, 1, shape, NULL, NULL, data, &z, &err),
        CUBED_OK);
    expect_refused(x, &good, 1, CUBED_GROUP_FIRST, CUBED_E_ARG,
                   "reduction is first, expected count");
    expect_refused(x, &good, 0, CUBED_GROUP_SUM, CUBED_E_ARG, "0 windows");
    expect_refused(x, twice, 2, CUBED_GROUP_SUM, CUBED_E_ARG, "axis 0 is given twice");
    expect_refused(x, &behind, 1, CUBED_GROUP_SUM, CUBED_E_AXIS, "axis 1 is out of range for 1");
    expect_refused(x, &negative, 1, CUBED_GROUP_SUM, CUBED_E_ARG, "-1 elements before");
    expect_refused(z, &good, 1, CUBED_GROUP_SUM, CUBED_E_TYPE, "complex128");
    cubed_array_unref(x);
    cubed_array_unref(z);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_of_any_length),
        cmocka_unit_test(test_bits_do_not_depend_on_chunks),
        cmocka_unit_test(test_what_is_large_leaves_no_trace),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
