/* Promotion against the standard's lattice, written out, and casts of single values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/calendar.h"
#include "dtype/element.h"
#include "dtype/record_fields.h"
#include "dtype/scalar.h"

/* Entry i lists the types to which type i is promoted with each other type, both in the order of type numbers. */
static void test_promotion(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
        "complex128",
        "int8 int8 int16 int32 int64 int16 int32 int64 float64 float32 float64 complex64 "
        "complex128",
        "int16 int16 int16 int32 int64 int16 int32 int64 float64 float32 float64 complex64 "
        "complex128",
        "int32 int32 int32 int32 int64 int32 int32 int64 float64 float64 float64 complex128 "
        "complex128",
        "int64 int64 int64 int64 int64 int64 int64 int64 float64 float64 float64 complex128 "
        "complex128",
        "uint8 int16 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
        "complex128",
        "uint16 int32 int32 int32 int64 uint16 uint16 uint32 uint64 float32 float64 complex64 "
        "complex128",
        "uint32 int64 int64 int64 int64 uint32 uint32 uint32 uint64 float64 float64 complex128 "
        "complex128",
        "uint64 float64 float64 float64 float64 uint64 uint64 uint64 uint64 float64 float64 "
        "complex128 complex128",
        "float32 float32 float32 float64 float64 float32 float32 float64 float64 float32 float64 "
        "complex64 complex128",
        "float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 "
        "complex128 complex128",
        "complex64 complex64 complex64 complex128 complex128 complex64 complex64 complex128 "
        "complex128 complex64 complex128 complex64 complex128",
        "complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 "
        "complex128 complex128 complex128 complex128 complex128"};
    for (int a = 0; a < CUBED_DTYPE_COUNT; a++) {
        const char *at = expected[a];
        for (int b = 0; b < CUBED_DTYPE_COUNT; b++) {
            const char *name =
                cubed_dtype_name(cubed_dtype_promote((cubed_dtype)a, (cubed_dtype)b));
            size_t n = strcspn(at, " ");
            assert_int_equal(strlen(name), n);
            assert_memory_equal(name, at, n);
            at += n + (at[n] == ' ');
        }
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) {
        cubed_dtype back;
        assert_int_equal(cubed_dtype_parse(cubed_dtype_name((cubed_dtype)i), &back, NULL),
                         CUBED_OK);
        assert_int_equal(back, i);
    }
    cubed_dtype none;
    assert_int_equal(cubed_dtype_parse("float128", &none, NULL), CUBED_E_TYPE);
    assert_true(cubed_dtype_can_cast(CUBED_FLOAT64, CUBED_FLOAT32));
    assert_true(cubed_dtype_can_cast(CUBED_INT64, CUBED_FLOAT32));
    assert_false(cubed_dtype_can_cast(CUBED_FLOAT32, CUBED_INT64));
    assert_false(cubed_dtype_can_cast(CUBED_INT8, CUBED_UINT8));
}

static void test_stored_types(void **state)
{
    static const struct {
        const char *name;
        size_t size;
        cubed_kind kind;
    } good[] = {{"float16", 2, CUBED_KIND_FLOAT},
                {"bfloat16", 2, CUBED_KIND_FLOAT},
                {"datetime64[ns]", 8, CUBED_KIND_TIME},
                {"timedelta64[10us]", 8, CUBED_KIND_TIME},
                {"datetime64", 8, CUBED_KIND_TIME},
                {"S1", 1, CUBED_KIND_TEXT},
                {"U7", 28, CUBED_KIND_TEXT},
                {"S8388607", 8388607, CUBED_KIND_TEXT},
                {"timedelta64[32767as]", 8, CUBED_KIND_TIME}};
    static const char *const wrong[] = {
        "S0",  "U-1",           "S8388608",         "S5x",           "S",
        "U05", "datetime64[]",  "datetime64[0s]",   "datetime64[q]", "datetime64[32768s]",
        "M8",  "datetime64[ns", "timedelta64(ns)",  "datetime32",    "timedelta64[generic]",
        "",    "datetime64ns]", "datetime64[-1ns]", "float 16",      "S99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cubed_dtype t;
        char text[CUBED_DTYPE_TEXT_CAP];
        assert_int_equal(cubed_dtype_parse(good[i].name, &t, NULL), CUBED_OK);
        assert_true(cubed_dtype_is_valid(t));
        assert_int_equal(cubed_dtype_size(t), good[i].size);
        assert_int_equal(cubed_dtype_kind(t), good[i].kind);
        assert_string_equal(cubed_dtype_text(t, text), good[i].name);
        assert_int_equal(cubed_dtype_promote(t, t), t);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cubed_dtype t;
        if (cubed_dtype_parse(wrong[i], &t, NULL) != CUBED_E_TYPE) fail_msg("%s", wrong[i]);
    }
    /* Type numbers that a plan may contain. */
    static const int numbers[] = {
        -1, 13, 15, 18, 32, 34, 35, 36, 255, 32 | 14 << 8 | 1 << 12, 32 | 3 << 8, INT32_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_false(cubed_dtype_is_valid((cubed_dtype)numbers[i]));
    assert_int_equal(cubed_dtype_promote(CUBED_FLOAT16, CUBED_INT16), CUBED_FLOAT32);
    assert_int_equal(cubed_dtype_promote(CUBED_FLOAT16, CUBED_BFLOAT16), CUBED_FLOAT32);
    assert_int_equal(cubed_dtype_promote(CUBED_INT64, CUBED_BFLOAT16), CUBED_FLOAT64);
    cubed_dtype day;
    assert_int_equal(cubed_dtype_time(CUBED_DATETIME64, CUBED_UNIT_D, 1, &day, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_promote(day, CUBED_INT64), CUBED_DTYPE_COUNT);
    assert_int_equal(cubed_dtype_time(CUBED_INT64, CUBED_UNIT_D, 1, &day, NULL), CUBED_E_ARG);
    assert_int_equal(cubed_dtype_fixed(CUBED_DATETIME64, 1, &day, NULL), CUBED_E_ARG);
}

static void expect_text(cubed_dtype dtype, const void *element, const char *expected)
{
    char text[64];
    size_t n = cubed_element_text(dtype, element, NULL, 0);
    assert_int_equal(n, strlen(expected));
    assert_int_equal(cubed_element_text(dtype, element, text, sizeof text), n);
    assert_string_equal(text, expected);
    assert_int_equal(cubed_element_text(dtype, element, text, 3), n);
    assert_int_equal(strlen(text), n < 2 ? n : 2);
}

static void test_element_text(void **state)
{
    static const struct {
        const char *type;
        int64_t value;
        const char *text;
    } times[] = {{"datetime64[ns]", 0, "1970-01-01T00:00:00.000000000"},
                 {"datetime64[ns]", -1, "1969-12-31T23:59:59.999999999"},
                 {"datetime64[ns]", INT64_MAX, "2262-04-11T23:47:16.854775807"},
                 {"datetime64[ns]", INT64_MIN, "NaT"},
                 {"datetime64[25s]", 4, "1970-01-01T00:01:40"},
                 {"datetime64[h]", 25, "1970-01-02T01"},
                 {"datetime64[m]", 61, "1970-01-01T01:01"},
                 {"datetime64[D]", 11016, "2000-02-29"},
                 {"datetime64[W]", 1, "1970-01-08"},
                 {"datetime64[M]", -1, "1969-12"},
                 {"datetime64[3M]", 5, "1971-04"},
                 {"datetime64[Y]", 30, "2000"},
                 {"datetime64[as]", -1, "1969-12-31T23:59:59.999999999999999999"},
                 {"datetime64[fs]", 1, "1970-01-01T00:00:00.000000000000001"},
                 {"datetime64", 7, "7"},
                 {"timedelta64[ns]", -12, "-12"},
                 {"timedelta64[D]", INT64_MIN, "NaT"}};
    (void)state;
    cubed_dtype t;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(cubed_dtype_parse(times[i].type, &t, NULL), CUBED_OK);
        expect_text(t, &times[i].value, times[i].text);
    }
    assert_int_equal(cubed_dtype_parse("S5", &t, NULL), CUBED_OK);
    expect_text(t, "ab\0c\0", "ab\\x00c");
    expect_text(t, "\0\0\0\0\0", "");
    expect_text(t, "a\xe4\n\0\0", "a\\xe4\\x0a");
    assert_int_equal(cubed_dtype_parse("U4", &t, NULL), CUBED_OK);
    expect_text(t, (const uint32_t[]){0x41, 0xe4, 0x6f22, 0x1d11e}, "A\u00e4\u6f22\U0001d11e");
    expect_text(t, (const uint32_t[]){0xd800, 0x110000, 0x85, 0}, "\\U0000d800\\U00110000\\x85");
    assert_int_equal(cubed_element_text(CUBED_INT64, "", NULL, 0), 0);
}

static void test_text_order(void **state)
{
    cubed_dtype s2, s4, u1, u2;
    (void)state;
    assert_int_equal(cubed_dtype_parse("S2", &s2, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_parse("S4", &s4, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_parse("U1", &u1, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_parse("U2", &u2, NULL), CUBED_OK);
    assert_true(cb_text_compare(s2, "ab", "ab") == 0);
    assert_true(cb_text_compare(s2, "a\0", "ab") < 0);
    assert_true(cb_text_compare(s2, "b\0", "ab") > 0);
    assert_true(cb_text_compare(s2, "\0\0", "a\0") < 0);
    assert_true(cb_text_compare(s2, "\xe4\0", "zz") > 0);
    assert_true(cb_text_compare_two(s2, "ab", s4, "ab\0\0") == 0);
    assert_true(cb_text_compare_two(s2, "ab", s4, "ab\0c") < 0);
    assert_true(cb_text_compare_two(s4, "abc\0", s2, "ab") > 0);
    /* Strings are ordered by code points, not by their bytes. */
    assert_true(cb_text_compare(u1, (const uint32_t[]){0x100}, (const uint32_t[]){0xff}) > 0);
    assert_true(cb_text_compare(u1, (const uint32_t[]){0x1d11e}, (const uint32_t[]){0xffff}) > 0);
    assert_true(
        cb_text_compare_two(u2, (const uint32_t[]){0x61, 0}, u1, (const uint32_t[]){0x61}) == 0);
    assert_true(cb_text_compare_two(u1, (const uint32_t[]){0x61}, u2, (const uint32_t[]){0x61, 1}) <
                0);
}

static void test_casts(void **state)
{
    (void)state;
    cubed_scalar v, out;
    assert_int_equal(cb_scalar_from_double(CUBED_INT8, -3.9).i8, -3);
    assert_int_equal(cb_scalar_from_double(CUBED_UINT64, 1.8e19).u64, 18000000000000000000u);
    assert_true(cb_scalar_from_double(CUBED_BOOL, (double)NAN).b);
    assert_int_equal(cb_scalar_from_double(CUBED_INT64, (double)NAN).i64, INT64_MIN);
    assert_int_equal(cb_scalar_from_i64(CUBED_UINT8, -1).u8, 255);
    assert_true(cb_scalar_from_i64(CUBED_FLOAT32, 16777217).f32 == 16777216.0f);
    v = (cubed_scalar){.c128 = {2.5, -1}};
    cb_scalar_cast(CUBED_COMPLEX128, &v, CUBED_FLOAT32, &out);
    assert_true(out.f32 == 2.5f);
    v = (cubed_scalar){.u64 = UINT64_MAX};
    cb_scalar_cast(CUBED_UINT64, &v, CUBED_FLOAT64, &out);
    assert_true(out.f64 == 18446744073709551616.0);
}

static void test_dates_of_days(void **state)
{
    static const struct {
        int64_t days, year;
        int month, day;
    } cases[] = {{0, 1970, 1, 1},       {-1, 1969, 12, 31},     {11016, 2000, 2, 29},
                 {-25509, 1900, 2, 28}, {-25508, 1900, 3, 1},   {-141427, 1582, 10, 15},
                 {-719468, 0, 3, 1},    {-719469, 0, 2, 29},    {-719528, 0, 1, 1},
                 {-719529, -1, 12, 31}, {2932896, 9999, 12, 31}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t year;
        int month, day;
        cubed_date_of_days(cases[i].days, &year, &month, &day);
        assert_int_equal(year, cases[i].year);
        assert_int_equal(month, cases[i].month);
        assert_int_equal(day, cases[i].day);
    }
}

static void test_records(void **state)
{
    static const char *const bad[] = {"[]",
                                      "{}",
                                      "[[\"a\"]]",
                                      "[[\"a\", \"<f4\", 2, 3]]",
                                      "[[\"\", \"<f4\"]]",
                                      "[[\"a\", \"<f4\"], [\"a\", \"<f4\"]]",
                                      "[[\"a\", \"|O\"]]",
                                      "[[\"a\", \"<f4\", [0]]]",
                                      "[[\"a\", \"<f4\", [\"x\"]]]",
                                      "[[\"a\", \"<f8\", [4611686018427387904, 4]]]",
                                      "[[\"a\", \"<f8\", [8192]]]",
                                      "[[\"a\", []]]"};
    static const char text[] = "[[\"a\", \"<i2\"], [\"b\", \">f8\", [2, 3]], [\"c\", [[\"x\", "
                               "\"|S3\"], [\"y\", \"<M8[s]\"]], 2]]";
    (void)state;
    cubed_dtype dtype;
    json_t *fields;
    cb_field f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_not_equal(cb_record_parse("here", bad[i], &fields, &dtype, &err), CUBED_OK);
        assert_memory_equal(err.message, "here: ", 6);
    }
    assert_int_equal(cb_record_parse("here", text, &fields, &dtype, NULL), CUBED_OK);
    assert_int_equal(cubed_dtype_family(dtype), CUBED_RECORD);
    assert_int_equal(cubed_dtype_size(dtype), 2 + 48 + 2 * 11);
    assert_true(cb_record_find(fields, "b", &f) && f.big_endian && f.offset == 2 && f.ndim == 2);
    assert_true(f.shape[1] == 3 && cb_field_bytes(&f) == 48 && cb_field_is_swapped(&f));
    assert_true(cb_record_find(fields, "c", &f) && f.offset == 50 && f.count == 2 && f.fields);
    assert_true(cb_record_find(f.fields, "y", &f) && f.offset == 3);
    assert_false(cb_record_find(fields, "d", &f));
    json_decref(fields);
}

/* Days of dates are the inverse of dates of days, also before year 0, and count on beyond the end of a month. */
static void test_days_of_dates(void **state)
{
    (void)state;
    for (int64_t days = -1500000; days < 1500000; days += 97) {
        int64_t year;
        int month, day;
        cubed_date_of_days(days, &year, &month, &day);
        assert_int_equal(cb_days_of_date(year, month, day), days);
    }
    assert_int_equal(cb_days_of_date(1970, 1, 1), 0);
    assert_int_equal(cb_days_of_date(2000, 2, 31), cb_days_of_date(2000, 3, 2));
    assert_int_equal(cb_days_of_date(0, 3, 1) - cb_days_of_date(0, 2, 28), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates_of_days), cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_stored_types),
        cmocka_unit_test(test_element_text),  cmocka_unit_test(test_casts),
        cmocka_unit_test(test_text_order),    cmocka_unit_test(test_records),
        cmocka_unit_test(test_days_of_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
