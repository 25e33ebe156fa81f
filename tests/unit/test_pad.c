/* Elements around arrays, compared with plain loops: every mode, any chunks and widths; axes of one element and of none; dates
 * and complex numbers, also their extremes, sums and medians; refusals. */
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

enum { NDIM = 2, MOST = 8192 };

static cubed_context *new_context(void)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, &err), CUBED_OK);
    return ctx;
}

/* Computes all elements of y and releases y. */
static cubed_status compute(cubed_context *ctx, cubed_array *y, void *to, cubed_error *err)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_target target = {.array = y, .data = to};
    cubed_plan *plan = NULL;
    cubed_status st = cubed_plan_new(ctx, &target, 1, &options, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    return st;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double statistic(cubed_pad_mode mode, const double *line, int64_t n)
{
    double sorted[64], sum = 0;
    memcpy(sorted, line, sizeof *line * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int64_t i = 0; i < n; i++) sum += line[i];
    if (mode == CUBED_PAD_MAXIMUM) return sorted[n - 1];
    if (mode == CUBED_PAD_MINIMUM) return sorted[0];
    if (mode == CUBED_PAD_MEAN) return sum / (double)n;
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* Returns the index of the element that is at position i of the line, which is padded at both ends without limit. */
static int64_t source_of(cubed_pad_mode mode, int64_t i, int64_t n)
{
    if (mode == CUBED_PAD_EDGE || n == 1) return i < 0 ? 0 : i < n ? i : n - 1;
    const int64_t period = mode == CUBED_PAD_WRAP        ? n
                           : mode == CUBED_PAD_SYMMETRIC ? 2 * n
                                                         : 2 * n - 2;
    const int64_t at = (i % period + period) % period;
    if (at < n) return at;
    return mode == CUBED_PAD_SYMMETRIC ? period - 1 - at : period - at;
}

/* Pads one line of n elements with `before` and `after` elements. This is the reference. */
static void pad_line(const double *line, int64_t n, int64_t before, int64_t after,
                     cubed_pad_mode mode, const double *ends, const int64_t *lengths, bool whole,
                     double *to)
{
    for (int64_t k = 0; k < before + n + after; k++) {
        const int64_t i = k - before, side = i >= n;
        const int64_t width = side ? after : before,
                      from_end = side ? before + n + after - 1 - k : k;
        const int64_t length = lengths[side] < 0 || lengths[side] > n ? n : lengths[side];
        double v = 0;
        if (i >= 0 && i < n) {
            v = line[i];
        } else if (mode == CUBED_PAD_CONSTANT) {
            v = ends[side];
        } else if (mode == CUBED_PAD_LINEAR_RAMP) {
            const double edge = line[side ? n - 1 : 0];
            v = (double)from_end / (double)width * (edge - ends[side]) + ends[side];
            if (whole) v = floor(v);
        } else if (mode == CUBED_PAD_EDGE || mode >= CUBED_PAD_REFLECT) {
            v = line[source_of(mode, i, n)];
        } else if (mode != CUBED_PAD_EMPTY) {
            v = statistic(mode, side ? line + n - length : line, length);
            if (whole) v = nearbyint(v);
        }
        to[k] = v;
    }
}

static void pad_plainly(const double *x, const int64_t *shape, const int64_t *before,
                        const int64_t *after, cubed_pad_mode mode, double (*ends)[2],
                        int64_t (*lengths)[2], bool whole, double *to)
{
    double halfway[MOST], line[64], wide[256];
    const int64_t rows = before[0] + shape[0] + after[0], columns = before[1] + shape[1] + after[1];
    for (int64_t j = 0; j < shape[1]; j++) {
        for (int64_t i = 0; i < shape[0]; i++) line[i] = x[i * shape[1] + j];
        pad_line(line, shape[0], before[0], after[0], mode, ends[0], lengths[0], whole, wide);
        for (int64_t i = 0; i < rows; i++) halfway[i * shape[1] + j] = wide[i];
    }
    for (int64_t i = 0; i < rows; i++)
        pad_line(halfway + i * shape[1], shape[1], before[1], after[1], mode, ends[1], lengths[1],
                 whole, to + i * columns);
}

static void random_case(cubed_context *ctx, int number)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    const bool whole = pick(2);
    const cubed_dtype dtype = whole ? CUBED_INT32 : CUBED_FLOAT64;
    int64_t shape[NDIM], chunks[NDIM], before[NDIM], after[NDIM], lengths[NDIM][2];
    double x[256], expected[MOST], ends[NDIM][2], got[MOST];
    int32_t ints[MOST];
    cubed_scalar constants[NDIM][2] = {{{{0}}}}, ramps[NDIM][2] = {{{{0}}}};
    cubed_array *a = NULL, *y = NULL;
    o.mode = (cubed_pad_mode)(number % CUBED_PAD_MODE_COUNT);
    for (int d = 0; d < NDIM; d++) {
        shape[d] = 1 + pick(7);
        chunks[d] = 1 + pick((int)shape[d]);
        before[d] = pick(2) ? 0 : pick(pick(4) ? 5 : 30);
        after[d] = pick(2) ? 0 : pick(pick(4) ? 5 : 30);
        for (int side = 0; side < 2; side++) {
            lengths[d][side] = pick(2) ? -1 : 1 + pick(9);
            ends[d][side] = pick(9) - 4;
            ramps[d][side].f64 = ends[d][side];
            if (whole)
                constants[d][side].i32 = (int32_t)ends[d][side];
            else
                constants[d][side].f64 = ends[d][side];
        }
    }
    const int64_t count = shape[0] * shape[1];
    const int64_t all = (before[0] + shape[0] + after[0]) * (before[1] + shape[1] + after[1]);
    for (int64_t i = 0; i < count; i++) {
        x[i] = whole ? pick(100) - 50 : pick(1000) / 8.0 - 60;
        ints[i] = (int32_t)x[i];
    }
    pad_plainly(x, shape, before, after, o.mode, ends, lengths, whole, expected);
    o.constant_values = (const cubed_scalar(*)[2])constants;
    o.end_values = (const cubed_scalar(*)[2])ramps;
    o.stat_length = (const int64_t(*)[2])lengths;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, NDIM, shape, NULL, chunks,
                                             whole ? (void *)ints : (void *)x, &a, &err),
                     CUBED_OK);
    if (cubed_pad_with(a, before, after, &o, &y, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(cubed_array_dtype(y), dtype);
    for (int d = 0; d < NDIM; d++)
        assert_int_equal(cubed_array_shape(y)[d], before[d] + shape[d] + after[d]);
    int32_t *whole_got = (int32_t *)(void *)got;
    if (compute(ctx, y, got, &err) != CUBED_OK) fail_msg("%s", err.message);
    for (int64_t i = 0; i < all; i++) {
        const double v = whole ? whole_got[i] : got[i];
        if (!(fabs(v - expected[i]) <= 1e-12 * fabs(expected[i])))
            fail_msg("case %d, mode %d: element %d is %g, expected %g", number, (int)o.mode, (int)i,
                     v, expected[i]);
    }
    cubed_array_unref(a);
}

static void test_modes(void **state)
{
    (void)state;
    cubed_context *ctx = new_context();
    random_state = 17;
    for (int i = 0; i < 400; i++) random_case(ctx, i);
    cubed_context_unref(ctx);
}

static cubed_array *vector(cubed_context *ctx, cubed_dtype dtype, int64_t n, const void *data)
{
    cubed_error err = CUBED_ERROR_INIT;
    const int64_t chunk = 2;
    cubed_array *x = NULL;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, 1, &n, NULL, &chunk, data, &x, &err),
                     CUBED_OK);
    return x;
}

static cubed_dtype time_type(cubed_dtype family)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_dtype dtype;
    assert_int_equal(cubed_dtype_time(family, CUBED_UNIT_S, 1, &dtype, &err), CUBED_OK);
    return dtype;
}

/* NaT behaves like NaN, and propagates unless it is skipped. */
static void test_times(void **state)
{
    (void)state;
    enum { NAT = 3 };
    static const int64_t data[] = {5, -7, 12, INT64_MIN, 9, -8};
    static const struct {
        cubed_reduction reduction;
        bool skip_nan;
        int64_t of_all, without_nat;
    } cases[] = {
        {CUBED_REDUCE_MIN, false, INT64_MIN, -7}, {CUBED_REDUCE_MAX, false, INT64_MIN, 12},
        {CUBED_REDUCE_SUM, false, INT64_MIN, 10}, {CUBED_REDUCE_MEAN, false, INT64_MIN, 3},
        {CUBED_REDUCE_MIN, true, -8, -7},         {CUBED_REDUCE_MAX, true, 12, 12},
        {CUBED_REDUCE_SUM, true, 11, 10},         {CUBED_REDUCE_MEAN, true, 2, 3},
    };
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *y = NULL;
    const cubed_dtype difference = time_type(CUBED_TIMEDELTA64), date = time_type(CUBED_DATETIME64);
    cubed_array *all = vector(ctx, difference, 6, data), *some = vector(ctx, difference, 3, data);
    cubed_array *missing = vector(ctx, difference, 1, data + NAT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got[3];
        cubed_array *of[] = {all, some, missing};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(cases[i].skip_nan
                                 ? cubed_nan_reduce(cases[i].reduction, of[k], NULL, &y, &err)
                                 : cubed_reduce(cases[i].reduction, of[k], NULL, &y, &err),
                             CUBED_OK);
            assert_int_equal(cubed_array_dtype(y), difference);
            assert_int_equal(compute(ctx, y, &got[k], &err), CUBED_OK);
        }
        assert_int_equal(got[0], cases[i].of_all);
        assert_int_equal(got[1], cases[i].without_nat);
        assert_int_equal(
            got[2], cases[i].skip_nan && cases[i].reduction == CUBED_REDUCE_SUM ? 0 : INT64_MIN);
    }
    /* The median is the mean of the two middle elements, rounded towards 0. */
    int64_t middle;
    cubed_array *pair = vector(ctx, difference, 2, data);
    assert_int_equal(cubed_median(pair, NULL, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, &middle, &err), CUBED_OK);
    assert_int_equal(middle, -1);
    assert_int_equal(cubed_median(all, NULL, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, &middle, &err), CUBED_OK);
    assert_int_equal(middle, INT64_MIN);
    cubed_array *dates = vector(ctx, date, 6, data);
    assert_int_equal(cubed_median(dates, NULL, &y, &err), CUBED_E_TYPE);
    assert_int_equal(cubed_reduce(CUBED_REDUCE_MEAN, dates, NULL, &y, &err), CUBED_E_TYPE);
    assert_non_null(strstr(err.message, "mean is not defined for datetime64[s]"));
    assert_int_equal(cubed_nan_reduce(CUBED_REDUCE_STD, all, NULL, &y, &err), CUBED_E_TYPE);

    const int64_t before = 1, after = 2;
    cubed_scalar constants[1][2] = {{{.i64 = 4}, {.i64 = INT64_MIN}}};
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    int64_t got[9];
    o.constant_values = (const cubed_scalar(*)[2])constants;
    assert_int_equal(cubed_pad_with(dates, &before, &after, &o, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    assert_int_equal(got[0], 4);
    assert_memory_equal(got + 1, data, sizeof data);
    assert_int_equal(got[8], INT64_MIN);
    o.mode = CUBED_PAD_MAXIMUM;
    assert_int_equal(cubed_pad_with(some, &before, &after, &o, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    assert_int_equal(got[0], 12);
    o.mode = CUBED_PAD_LINEAR_RAMP;
    assert_int_equal(cubed_pad_with(dates, &before, &after, &o, &y, &err), CUBED_E_TYPE);
    cubed_array *arrays[] = {all, some, missing, pair, dates};
    for (int i = 0; i < 5; i++) cubed_array_unref(arrays[i]);
    cubed_context_unref(ctx);
}

/* Complex numbers are ordered by real parts, then by imaginary parts. A number with NaN in either part counts as NaN. */
static void test_complex(void **state)
{
    (void)state;
    static const double data[][2] = {{1, 5}, {3, -2}, {3, 4}, {-1, 0}, {-1, -6}, {NAN, 2}};
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    const int64_t before = 2, after = 0;
    cubed_scalar ends[1][2] = {{{.c128 = {1, 1}}, {.c128 = {0, 0}}}};
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    cubed_array *y = NULL, *x = vector(ctx, CUBED_COMPLEX128, 6, data);
    cubed_array *known = vector(ctx, CUBED_COMPLEX128, 5, data);
    double got[16];
    for (int skip = 0; skip < 2; skip++) {
        cubed_array *of = skip ? x : known;
        assert_int_equal(skip ? cubed_nan_reduce(CUBED_REDUCE_MAX, of, NULL, &y, &err)
                              : cubed_reduce(CUBED_REDUCE_MAX, of, NULL, &y, &err),
                         CUBED_OK);
        assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
        assert_true(got[0] == 3 && got[1] == 4);
        assert_int_equal(skip ? cubed_nan_reduce(CUBED_REDUCE_MIN, of, NULL, &y, &err)
                              : cubed_reduce(CUBED_REDUCE_MIN, of, NULL, &y, &err),
                         CUBED_OK);
        assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
        assert_true(got[0] == -1 && got[1] == -6);
    }
    assert_int_equal(cubed_reduce(CUBED_REDUCE_MIN, x, NULL, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    assert_true(isnan(got[0]) && isnan(got[1]));
    o.mode = CUBED_PAD_LINEAR_RAMP;
    o.end_values = (const cubed_scalar(*)[2])ends;
    assert_int_equal(cubed_pad_with(known, &before, &after, &o, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    assert_true(got[0] == 1 && got[1] == 1 && got[2] == 1 && got[3] == 3);
    cubed_array_unref(x);
    cubed_array_unref(known);
    cubed_context_unref(ctx);
}

static void test_edges(void **state)
{
    (void)state;
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    const cubed_scalar seven = {.f64 = 7};
    const int64_t one = 1, minus = -1, many = 100, nothing = 0;
    const double data[] = {1, 2, 3, 4};
    double got[256];
    cubed_pad_mode mode;
    cubed_array *y = NULL, *x = vector(ctx, CUBED_FLOAT64, 4, data), *scalar = NULL, *none = NULL;
    /* Padding an array without axes returns the array itself. */
    assert_int_equal(cubed_array_full(ctx, CUBED_FLOAT64, 0, NULL, NULL, &seven, &scalar, &err),
                     CUBED_OK);
    assert_int_equal(cubed_pad_with(scalar, NULL, NULL, NULL, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    assert_true(got[0] == 7);
    /* An axis without elements can be padded only in modes that do not use elements. */
    assert_int_equal(cubed_array_full(ctx, CUBED_FLOAT64, 1, &nothing, NULL, &seven, &none, &err),
                     CUBED_OK);
    for (int m = 0; m < CUBED_PAD_MODE_COUNT; m++) {
        const bool needs_none = m == CUBED_PAD_CONSTANT || m == CUBED_PAD_EMPTY ||
                                m == CUBED_PAD_MEAN || m == CUBED_PAD_MEDIAN;
        o.mode = (cubed_pad_mode)m;
        assert_int_equal(cubed_pad_with(none, &one, &one, &o, &y, &err),
                         needs_none ? CUBED_OK : CUBED_E_ARG);
        if (!needs_none) continue;
        assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
        assert_true(m == CUBED_PAD_CONSTANT || m == CUBED_PAD_EMPTY ? got[1] == 0 : isnan(got[1]));
    }
    /* Many periods. */
    o.mode = CUBED_PAD_REFLECT;
    assert_int_equal(cubed_pad_with(x, &many, &many, &o, &y, &err), CUBED_OK);
    assert_int_equal(compute(ctx, y, got, &err), CUBED_OK);
    for (int64_t i = 0; i < 204; i++)
        assert_true(got[i] == data[source_of(CUBED_PAD_REFLECT, i - 100, 4)]);
    assert_int_equal(cubed_pad_with(x, &minus, &one, &o, &y, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "pad_width of axis 0 is (-1, 1)"));
    o.mode = CUBED_PAD_MODE_COUNT;
    assert_int_equal(cubed_pad_with(x, &one, &one, &o, &y, &err), CUBED_E_ARG);
    o.struct_size = 1;
    assert_int_equal(cubed_pad_with(x, &one, &one, &o, &y, &err), CUBED_E_ARG);
    assert_true(cubed_pad_mode_parse("linear_ramp", &mode) && mode == CUBED_PAD_LINEAR_RAMP);
    assert_false(cubed_pad_mode_parse("ramp", &mode));
    cubed_array_unref(x);
    cubed_array_unref(scalar);
    cubed_array_unref(none);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
