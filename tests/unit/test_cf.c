/* Packed values, missing ones, characters, calendars and units of time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cubed/cubed.h"

static cubed_context *make_context(void)
{
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    return ctx;
}

/* Decodes four elements with these attributes. Returns the type, and stores the values as float64 in `out`. */
static cubed_dtype decode(cubed_context *ctx, cubed_dtype dtype, const void *data,
                          const char *attrs,
                          double out[4], /* NOLINT(readability-non-const-parameter): the result */
                          char *left, size_t cap)
{
    const int64_t shape[1] = {4};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *plain, *packed, *x, *y;
    cubed_plan *plan;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, 1, shape, NULL, NULL, data, &plain, &err),
                     CUBED_OK);
    assert_int_equal(cubed_array_with_attrs(plain, attrs, &packed, &err), CUBED_OK);
    cubed_array_unref(plain);
    if (cubed_cf_decode(packed, &x, &err) != CUBED_OK) fail_msg("%s: %s", attrs, err.message);
    cubed_array_unref(packed);
    cubed_dtype decoded = cubed_array_dtype(x);
    snprintf(left, cap, "%s", cubed_array_attrs(x));
    assert_int_equal(cubed_astype(x, CUBED_FLOAT64, &y, &err), CUBED_OK);
    cubed_target t = {.array = y, .data = out};
    o.allowed_mem = (uint64_t)64 << 20;
    o.max_workers = 1;
    assert_int_equal(cubed_plan_new(ctx, &t, 1, &o, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, &err), CUBED_OK);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
    return decoded;
}

static void test_decoding(void **state)
{
    (void)state;
    static const int8_t bytes[4] = {-128, -1, 0, 127};
    static const int64_t longs[4] = {INT64_MIN, -1, 0, INT64_MAX};
    static const uint64_t unsigneds[4] = {0, 1, INT64_MAX, UINT64_MAX};
    static const float floats[4] = {1e20F, -1, 0, 0.1F};
    static const double doubles[4] = {1e20, -1, 0, 0.1};
    static const bool bools[4] = {true, false, true, false};
    const double nan_ = (double)NAN;
    /* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of reading */
    const struct {
        cubed_dtype dtype;
        const void *data;
        const char *attrs;
        cubed_dtype decoded;
        double v[4];
        const char *left;
    } cases[] = {
        {CUBED_INT8,
         bytes,
         "{\"scale_factor\": 0.5, \"add_offset\": 10, \"units\": \"K\"}",
         CUBED_FLOAT64,
         {-54, 9.5, 10, 73.5},
         "units"},
        {CUBED_INT8,
         bytes,
         "{\"_FillValue\": -128, \"scale_factor\": [2.0]}",
         CUBED_FLOAT64,
         {nan_, -2, 0, 254},
         NULL},
        {CUBED_INT8,
         bytes,
         "{\"_FillValue\": -128.0, \"missing_value\": [127, -1]}",
         CUBED_FLOAT32,
         {nan_, nan_, 0, nan_},
         NULL},
        /* A missing value that the type cannot represent marks no element. */
        {CUBED_INT8,
         bytes,
         "{\"_FillValue\": 255, \"missing_value\": 0.5}",
         CUBED_FLOAT32,
         {-128, -1, 0, 127},
         NULL},
        {CUBED_INT8, bytes, "{\"_FillValue\": 1e300}", CUBED_FLOAT32, {-128, -1, 0, 127}, NULL},
        {CUBED_INT64,
         longs,
         "{\"_FillValue\": -9223372036854775808}",
         CUBED_FLOAT64,
         {nan_, -1, 0, 9223372036854775807.0},
         NULL},
        {CUBED_INT64,
         longs,
         "{\"_FillValue\": 9223372036854775807}",
         CUBED_FLOAT64,
         {-9223372036854775808.0, -1, 0, nan_},
         NULL},
        {CUBED_UINT64,
         unsigneds,
         "{\"_FillValue\": 9223372036854775807}",
         CUBED_FLOAT64,
         {0, 1, nan_, 18446744073709551615.0},
         NULL},
        {CUBED_UINT64,
         unsigneds,
         "{\"_FillValue\": -1}",
         CUBED_FLOAT64,
         {0, 1, 9223372036854775807.0, 18446744073709551615.0},
         NULL},
        /* float32 that is not packed keeps its type; the comparison is in float32. */
        {CUBED_FLOAT32,
         floats,
         "{\"_FillValue\": 1e20, \"valid_min\": -5}",
         CUBED_FLOAT32,
         {nan_, -1, 0, (double)0.1F},
         "valid_min"},
        {CUBED_FLOAT32,
         floats,
         "{\"missing_value\": 0.1}",
         CUBED_FLOAT32,
         {(double)1e20F, -1, 0, nan_},
         NULL},
        {CUBED_FLOAT32,
         floats,
         "{\"scale_factor\": 2, \"valid_min\": -5}",
         CUBED_FLOAT64,
         {(double)1e20F * 2, -2, 0, (double)0.1F * 2},
         NULL},
        {CUBED_FLOAT64,
         doubles,
         "{\"_FillValue\": \"NaN\"}",
         CUBED_FLOAT64,
         {1e20, -1, 0, 0.1},
         NULL},
        /* Missing values NaN and 1e20, in the spelling that Xarray uses for format 3. */
        {CUBED_FLOAT64,
         doubles,
         "{\"_FillValue\": \"AAAAAAAA+H8=\"}",
         CUBED_FLOAT64,
         {1e20, -1, 0, 0.1},
         NULL},
        {CUBED_FLOAT64,
         doubles,
         "{\"_FillValue\": \"QIy1eB2vFUQ=\"}",
         CUBED_FLOAT64,
         {nan_, -1, 0, 0.1},
         NULL},
        {CUBED_FLOAT64,
         doubles,
         "{\"_FillValue\": \"QIy1eB2v*UQ=\"}",
         CUBED_FLOAT64,
         {1e20, -1, 0, 0.1},
         "_FillValue"},
        /* _Unsigned, both ways; _FillValue has the bits of the stored type. */
        {CUBED_INT8,
         bytes,
         "{\"_Unsigned\": \"true\", \"_FillValue\": -1, \"valid_range\": [0, 250]}",
         CUBED_FLOAT32,
         {128, nan_, 0, 127},
         "valid_range"},
        {CUBED_INT8,
         bytes,
         "{\"_Unsigned\": \"true\", \"units\": \"K\"}",
         CUBED_UINT8,
         {128, 255, 0, 127},
         "units"},
        {CUBED_INT8, bytes, "{\"_Unsigned\": \"false\"}", CUBED_INT8, {-128, -1, 0, 127}, NULL},
        {CUBED_UINT64,
         unsigneds,
         "{\"_Unsigned\": \"false\", \"scale_factor\": 0.5}",
         CUBED_FLOAT64,
         {0, 0.5, 4611686018427387904.0, -0.5},
         NULL},
        {CUBED_UINT64,
         unsigneds,
         "{\"_FillValue\": 18446744073709551615}",
         CUBED_FLOAT64,
         {0, 1, 9223372036854775807.0, nan_},
         NULL},
        {CUBED_INT8, bytes, "{\"dtype\": \"bool\"}", CUBED_BOOL, {1, 1, 0, 1}, NULL},
        /* One of the two values of a bool is missing. */
        {CUBED_BOOL, bools, "{\"_FillValue\": true}", CUBED_FLOAT64, {nan_, 0, nan_, 0}, NULL},
        {CUBED_BOOL, bools, "{\"missing_value\": 0}", CUBED_FLOAT64, {1, nan_, 1, nan_}, NULL},
        /* A fill value NaN marks no integer. An integer scale keeps integers as integers. */
        {CUBED_INT8,
         bytes,
         "{\"_FillValue\": \"NaN\", \"scale_factor\": 2}",
         CUBED_INT64,
         {-256, -2, 0, 254},
         NULL},
        {CUBED_INT8,
         bytes,
         "{\"_FillValue\": -1, \"scale_factor\": 2}",
         CUBED_FLOAT64,
         {-256, nan_, 0, 254},
         NULL},
        /* These attributes do not change the elements. */
        {CUBED_INT8, bytes, "{\"units\": \"K\"}", CUBED_INT8, {-128, -1, 0, 127}, "units"},
        {CUBED_INT8,
         bytes,
         "{\"scale_factor\": \"x\"}",
         CUBED_INT8,
         {-128, -1, 0, 127},
         "scale_factor"},
        {CUBED_BOOL, bools, "{\"_FillValue\": 3}", CUBED_FLOAT64, {1, 0, 1, 0}, NULL},
    };
    cubed_context *ctx = make_context();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double out[4];
        char left[200];
        cubed_dtype dtype =
            decode(ctx, cases[k].dtype, cases[k].data, cases[k].attrs, out, left, sizeof left);
        if (dtype != cases[k].decoded)
            fail_msg("%s gives %s", cases[k].attrs, cubed_dtype_name(dtype));
        for (int i = 0; i < 4; i++) {
            double v = cases[k].v[i];
            if (isnan(v) ? !isnan(out[i]) : out[i] != v)
                fail_msg("%s: element %d is %.17g, not %.17g", cases[k].attrs, i, out[i], v);
        }
        if (cases[k].left ? !strstr(left, cases[k].left) : strcmp(left, "{}") != 0)
            fail_msg("%s leaves %s", cases[k].attrs, left);
    }
    cubed_context_unref(ctx);
}

/* --- Packings ------------------------------------------------------------------------------------- */

static cubed_cf_packing *packing_of(cubed_context *ctx, cubed_dtype dtype, const char *attrs)
{
    static const double data[2] = {0};
    const int64_t shape[1] = {2};
    cubed_array *plain, *x;
    cubed_cf_packing *out;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, 1, shape, NULL, NULL, data, &plain, NULL),
                     CUBED_OK);
    assert_int_equal(cubed_array_with_attrs(plain, attrs, &x, NULL), CUBED_OK);
    assert_int_equal(cubed_cf_packing_of(x, &out, NULL), CUBED_OK);
    cubed_array_unref(plain);
    cubed_array_unref(x);
    return out;
}

static void test_packings(void **state)
{
    (void)state;
    static const char base[] = "{\"scale_factor\": 0.5, \"add_offset\": 1.0, \"_FillValue\": -1}";
    static const struct {
        cubed_dtype dtype;
        const char *attrs;
        bool equal;
    } others[] = {
        {CUBED_INT16,
         "{\"units\": \"K\", \"_FillValue\": -1, \"add_offset\": 1.0, \"scale_factor\": [0.5]}",
         true},
        {CUBED_INT16, "{\"scale_factor\": 0.5, \"add_offset\": 2.0, \"_FillValue\": -1}", false},
        {CUBED_INT16, "{\"scale_factor\": 0.25, \"add_offset\": 1.0, \"_FillValue\": -1}", false},
        {CUBED_INT16, "{\"scale_factor\": 0.5, \"add_offset\": 1.0, \"_FillValue\": -2}", false},
        {CUBED_INT16, "{\"scale_factor\": 0.5, \"add_offset\": 1.0}", false},
        {CUBED_INT32, "{\"scale_factor\": 0.5, \"add_offset\": 1.0, \"_FillValue\": -1}", false},
        {CUBED_INT16,
         "{\"_Unsigned\": \"true\", \"scale_factor\": 0.5, \"add_offset\": 1.0, \"_FillValue\": "
         "-1}",
         false},
    };
    cubed_context *ctx = make_context();
    cubed_cf_packing *first = packing_of(ctx, CUBED_INT16, base);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cubed_cf_packing *p = packing_of(ctx, others[i].dtype, others[i].attrs);
        assert_non_null(p);
        if (cubed_cf_packing_equal(first, p) != others[i].equal) fail_msg("%s", others[i].attrs);
        cubed_cf_packing_free(p);
    }
    cubed_cf_packing_free(first);
    assert_null(packing_of(ctx, CUBED_INT16, "{\"units\": \"K\", \"scale_factor\": [1.0, 2.0]}"));
    cubed_cf_packing_free(NULL);
    cubed_context_unref(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char data[6] = "abcdef";
    const int64_t shape[2] = {6, 0};
    cubed_context *ctx = make_context();
    cubed_error err = CUBED_ERROR_INIT;
    cubed_dtype one, two;
    cubed_array *x, *y;
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 1, &one, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 2, &two, NULL), CUBED_OK);
    const cubed_cf_packing packing = {.stored = CUBED_INT16, .dtype = CUBED_FLOAT32};
    static const struct {
        bool texts;
        int ndim;
        cubed_status status;
    } cases[] = {{true, 1, CUBED_E_TYPE}, {false, 0, CUBED_E_ARG}, {false, 2, CUBED_E_ARG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t three[1] = {3};
        assert_int_equal(cubed_array_from_memory(ctx, cases[i].texts ? two : one, cases[i].ndim,
                                                 cases[i].texts ? three : shape, NULL, NULL, data,
                                                 &x, &err),
                         CUBED_OK);
        assert_int_equal(cubed_cf_join_characters(x, &y, &err), cases[i].status);
        assert_int_equal(cubed_cf_unpack(x, &packing, &y, &err), CUBED_E_TYPE);
        cubed_array_unref(x);
    }
    cubed_context_unref(ctx);
}

static void test_characters(void **state)
{
    (void)state;
    static const char data[2][2][3] = {{"ab", "cde"}, {"", "f"}};
    const int64_t shape[3] = {2, 2, 3}, chunks[3] = {1, 2, 2};
    const char *const names[3] = {"a", "b", "length"};
    char got[12], text[CUBED_DTYPE_TEXT_CAP];
    cubed_context *ctx = make_context();
    cubed_dtype one;
    cubed_array *x, *named, *y;
    cubed_plan *plan;
    assert_int_equal(cubed_dtype_fixed(CUBED_BYTES, 1, &one, NULL), CUBED_OK);
    assert_int_equal(cubed_array_from_memory(ctx, one, 3, shape, NULL, chunks, data, &x, NULL),
                     CUBED_OK);
    assert_int_equal(cubed_array_with_dim_names(x, names, &named, NULL), CUBED_OK);
    assert_int_equal(cubed_cf_join_characters(named, &y, NULL), CUBED_OK);
    assert_string_equal(cubed_dtype_text(cubed_array_dtype(y), text), "S3");
    assert_int_equal(cubed_array_ndim(y), 2);
    assert_string_equal(cubed_array_dim_name(y, 1), "b");
    const cubed_target t = {.array = y, .data = got};
    assert_int_equal(cubed_plan_new(ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    assert_memory_equal(got, data, sizeof got);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_array_unref(named);
    cubed_array_unref(y);
    cubed_context_unref(ctx);
}

/* --- Time ----------------------------------------------------------------------------------------- */

static void test_units(void **state)
{
    (void)state;
    /* `time`: the date that 1.5 means in these units; NULL if the units are refused. */
    static const struct {
        const char *units, *calendar, *time;
    } cases[] = {
        {"days since 2000-05-01", "standard", "2000-05-02T12:00:00"},
        {"DAYS SINCE 2000-5-1", "standard", "2000-05-02T12:00:00"},
        {"  days   since\t2000-05-01  ", "standard", "2000-05-02T12:00:00"},
        {"days since 2000/05/01", "standard", "2000-05-02T12:00:00"},
        {"days since 20000501", "standard", "2000-05-02T12:00:00"},
        {"days since 2000-05-01T06:00Z", "standard", "2000-05-02T18:00:00"},
        {"days since 2000-05-01 06", "standard", "2000-05-02T18:00:00"},
        {"days since 2000-05-01 0600", "standard", "2000-05-02T18:00:00"},
        {"days since 2000-05-01  06:00 +01:00", "standard", "2000-05-02T17:00:00"},
        {"days since 2000-05-01 12:00:00.0 -7:00", "standard", "2000-05-03T07:00:00"},
        {"days since 2000-05-01 6:0:0.5", "standard", "2000-05-02T18:00:00.500"},
        {"days since 2000-05-01 00:00:00 gmt", "standard", "2000-05-02T12:00:00"},
        {"hours since 2000-05", "standard", "2000-05-01T01:30:00"},
        {"Hrs since 2000", "standard", "2000-01-01T01:30:00"},
        {"minute since +2000-01-01", "standard", "2000-01-01T00:01:30"},
        {"secs since 2000-01-01", "standard", "2000-01-01T00:00:01.500"},
        {"msecs since 2000-01-01", "standard", "2000-01-01T00:00:00.001500"},
        {"nanoseconds since 2000-01-01", "standard", "2000-01-01T00:00:00"},
        {"weeks since 2000-01-01", "standard", "2000-01-11T12:00:00"},
        {"days since 1-1-1", "noleap", "0001-01-02T12:00:00"},
        {"days since -5-01-01", "julian", "-005-01-02T12:00:00"},
        {"months since 2000-01-01", "360_day", "2000-02-16T00:00:00"},
        {"Months since 2000-02-30", "360_Day", "2000-04-15T00:00:00"},
        {"common_years since 2000-01-01", "365_day", "2001-07-02T12:00:00"},
        {"days since 2000-02-29", "all_leap", "2000-03-01T12:00:00"},
        {"days since 1582-10-04", "gregorian", "1582-10-15T12:00:00"},
        {"days since 1582-10-04", "proleptic_gregorian", "1582-10-05T12:00:00"},
        {"months since 2000-01-01", "standard", NULL},
        {"common_years since 2000-01-01", "standard", NULL},
        {"years since 2000-01-01", "standard", NULL},
        {"fortnights since 2000-01-01", "standard", NULL},
        {"days since 2000-02-30", "standard", NULL},
        {"days since 2000-02-29", "noleap", NULL},
        {"days since 2000-13-01", "standard", NULL},
        {"days since 2000-01-01 25:00", "standard", NULL},
        {"days since 2000-01-01 CEST", "standard", NULL},
        {"seconds since 2000-01-01", "standard", "2000-01-01T00:00:01.500"},
        {"milliseconds since 2000-01-01", "360_day", "2000-01-01T00:00:00.001500"},
        {"seconds since 1969-12-31 23:59:57.7", "standard", "1969-12-31T23:59:59.200"},
        {"days since yesterday", "standard", NULL},
        {"days since", "standard", NULL},
        {"days since 290000-12-31", "all_leap", "290001-01-01T12:00:00"},
        {"days since -290000-01-01", "360_day", "-290000-01-02T12:00:00"},
        /* These dates are too far away: their distance in microseconds does not fit in int64. */
        {"days since 290001-01-01", "standard", NULL},
        {"days since 9999999-01-01", "standard", NULL},
        {"days sincere 2000-01-01", "standard", NULL},
        {"day as %Y%m%d.%f", "standard", NULL},
        {"", "standard", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_calendar calendar;
        cubed_time_axis axis;
        int64_t us;
        char text[CUBED_TIME_TEXT_CAP];
        assert_true(cubed_calendar_parse(cases[i].calendar, &calendar));
        const cubed_status st = cubed_time_units_parse(cases[i].units, calendar, &axis, &err);
        if ((st == CUBED_OK) != (cases[i].time != NULL)) fail_msg("%s: %d", cases[i].units, st);
        if (st != CUBED_OK && !strstr(err.message, cases[i].units)) fail_msg("%s", err.message);
        if (st != CUBED_OK) continue;
        assert_true(cubed_time_of_float(&axis, 1.5, &us));
        cubed_time_text(calendar, us, text);
        if (strcmp(text, cases[i].time) != 0) fail_msg("%s: %s", cases[i].units, text);
    }
}

static void test_nanoseconds(void **state)
{
    (void)state;
    cubed_time_axis axis;
    int64_t us, base;
    assert_int_equal(
        cubed_time_units_parse("ns since 1970-01-01", CUBED_CALENDAR_STANDARD, &axis, NULL),
        CUBED_OK);
    assert_true(cubed_time_of_int(&axis, 0, &base));
    assert_true(cubed_time_of_int(&axis, 1700000000123456789, &us));
    assert_true(us - base == 1700000000123456);
    assert_true(cubed_time_of_int(&axis, -1, &us));
    assert_true(us - base == -1);
    assert_true(cubed_time_of_float(&axis, 1500, &us));
    assert_true(us - base == 2);
    assert_false(cubed_time_of_float(&axis, (double)NAN, &us));
}

/* Processor seconds to read a packing with n missing values, each of them given twice. */
static double time_of_missing(cubed_context *ctx, int n)
{
    static const double zero;
    const int64_t shape[1] = {1};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *plain, *x;
    cubed_cf_packing *p;
    char *text = malloc((size_t)n * 24 + 64), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"missing_value\": [0");
    for (int i = 0; i < 2 * n; i++) at += sprintf(at, ", %d", i % n);
    sprintf(at, "]}");
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, NULL, &zero, &plain, &err),
        CUBED_OK);
    assert_int_equal(cubed_array_with_attrs(plain, text, &x, &err), CUBED_OK);
    const clock_t begun = clock();
    if (cubed_cf_packing_of(x, &p, &err) != CUBED_OK) fail_msg("%s", err.message);
    const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    assert_int_equal(p->nmissing, n);
    for (int i = 0; i < n; i += n / 10) assert_true(p->missing[i].value.f64 == i);
    cubed_cf_packing_free(p);
    cubed_array_unref(x);
    cubed_array_unref(plain);
    free(text);
    return seconds;
}

/* A file may list any number of missing values. The time to read them must not grow quadratically. */
static void test_long_lists_of_missing_values(void **state)
{
    cubed_context *ctx;
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    const double some = time_of_missing(ctx, 10000), many = time_of_missing(ctx, 80000);
    cubed_context_unref(ctx);
    if (many > 30 * some + 0.05) fail_msg("%g s, and of eight times as many %g s", some, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_packings),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_nanoseconds),
        cmocka_unit_test(test_long_lists_of_missing_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
