/* Types of attributes: inferred, stated, and as each format of metadata spells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "dtype/attribute.h"

#define TYPES(s) "\"_nczarr_attr\": {\"types\": {" s "}}"

static cubed_attribute *get(const char *attrs, cubed_dtype dtype)
{
    cubed_attribute *a = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_attribute_get(attrs, "a", dtype, &a, &err) != CUBED_OK) fail_msg("%s", err.message);
    return a;
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *attrs;
        cubed_dtype of, dtype;
        bool is_stated;
        double first;
    } cases[] = {
        {"{\"a\": 3}", CUBED_DTYPE_COUNT, CUBED_INT32, false, 3},
        {"{\"a\": 3.0}", CUBED_DTYPE_COUNT, CUBED_FLOAT64, false, 3},
        {"{\"a\": 3000000000}", CUBED_DTYPE_COUNT, CUBED_INT64, false, 3e9},
        {"{\"a\": 18446744073709551615}", CUBED_DTYPE_COUNT, CUBED_UINT64, false, 0x1p64},
        {"{\"a\": [1, 0.5]}", CUBED_DTYPE_COUNT, CUBED_FLOAT64, false, 1},
        {"{\"a\": [\"NaN\", 0.5]}", CUBED_DTYPE_COUNT, CUBED_FLOAT64, false, (double)NAN},
        {"{\"a\": 0.01, " TYPES("\"a\": \"<f4\"") "}", CUBED_INT16, CUBED_FLOAT32, true,
         (double)0.01F},
        {"{\"a\": 0, " TYPES("\"a\": \">f8\"") "}", CUBED_INT16, CUBED_FLOAT64, true, 0},
        {"{\"a\": 7.0, " TYPES("\"a\": \"|u1\"") "}", CUBED_INT16, CUBED_UINT8, true, 7},
        {"{\"a\": \"-Infinity\", " TYPES("\"a\": \"<f4\"") "}", CUBED_INT16, CUBED_FLOAT32, true,
         -HUGE_VAL},
        {"{\"a\": 300, " TYPES("\"a\": \"|u1\"") "}", CUBED_INT16, CUBED_INT32, false, 300},
        {"{\"a\": 3, " TYPES("\"a\": \"<c8\"") "}", CUBED_INT16, CUBED_INT32, false, 3},
        {"{\"a\": 3, \"_NCZARR_ATTR\": {\"types\": {\"a\": \"<i2\"}}}", CUBED_DTYPE_COUNT,
         CUBED_INT16, true, 3},
        {"{\"a\": 3, \"_attribute_types\": \"{\\\"a\\\": \\\"<i8\\\"}\"}", CUBED_DTYPE_COUNT,
         CUBED_INT64, true, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_attribute *a = get(cases[i].attrs, cases[i].of);
        assert_int_equal(a->kind, CUBED_ATTRIBUTE_NUMBERS);
        assert_int_equal(a->dtype, cases[i].dtype);
        assert_int_equal(a->is_stated, cases[i].is_stated);
        cubed_scalar s = {.u64 = 0};
        memcpy(&s, a->numbers, cubed_dtype_size(a->dtype));
        double first = a->dtype == CUBED_FLOAT32   ? (double)s.f32
                       : a->dtype == CUBED_FLOAT64 ? s.f64
                       : a->dtype == CUBED_UINT64  ? (double)s.u64
                                                   : (double)s.i64;
        assert_true(first == cases[i].first || (isnan(first) && isnan(cases[i].first)));
        cubed_attribute_free(a);
    }
}

static void test_type_of_the_variable(void **state)
{
    (void)state;
    cubed_attribute *a;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(
        cubed_attribute_get("{\"valid_range\": [0, 9]}", "valid_range", CUBED_UINT8, &a, &err),
        CUBED_OK);
    assert_int_equal(a->dtype, CUBED_UINT8);
    assert_int_equal(a->n, 2);
    assert_memory_equal(a->numbers, "\0\x09", 2);
    cubed_attribute_free(a);
    assert_int_equal(cubed_attribute_get("{\"_FillValue\": \"AAAAAAAA+H8=\"}", "_FillValue",
                                         CUBED_FLOAT32, &a, &err),
                     CUBED_OK);
    assert_int_equal(a->dtype, CUBED_FLOAT32);
    assert_true(isnan(*(const float *)a->numbers));
    cubed_attribute_free(a);
    assert_int_equal(cubed_attribute_get("{}", "a", CUBED_INT8, &a, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "\"a\""));
    assert_int_equal(cubed_attribute_get("{", "a", CUBED_INT8, &a, &err), CUBED_E_FORMAT);
    assert_int_equal(cubed_attribute_get("{\"b\": 1, " TYPES("\"b\": \"<i2\"") "}",
                                         CUBED_ATTRIBUTE_TYPES, CUBED_INT8, &a, &err),
                     CUBED_E_NOT_FOUND);
}

static void test_strings(void **state)
{
    (void)state;
    cubed_attribute *a = get("{\"a\": \"text\"}", CUBED_INT8);
    assert_int_equal(a->kind, CUBED_ATTRIBUTE_CHARS);
    assert_int_equal(a->n, 4);
    assert_string_equal(a->strings[0], "text");
    cubed_attribute_free(a);
    a = get("{\"a\": \"text\", " TYPES("\"a\": \"|S128\"") "}", CUBED_INT8);
    assert_int_equal(a->kind, CUBED_ATTRIBUTE_STRINGS);
    assert_int_equal(a->n, 1);
    cubed_attribute_free(a);
    a = get("{\"a\": [\"one\", \"two\"]}", CUBED_INT8);
    assert_int_equal(a->kind, CUBED_ATTRIBUTE_STRINGS);
    assert_int_equal(a->n, 2);
    assert_string_equal(a->strings[1], "two");
    cubed_attribute_free(a);
    a = get("{\"a\": {\"b\": [true, null]}}", CUBED_INT8);
    assert_int_equal(a->kind, CUBED_ATTRIBUTE_JSON);
    assert_string_equal(a->strings[0], "{\"b\": [true, null]}");
    assert_int_equal(a->n, strlen(a->strings[0]));
    cubed_attribute_free(a);
    cubed_attribute_free(NULL);
}

static json_t *parse(const char *text)
{
    json_t *v = NULL;
    assert_int_equal(cb_json_parse("test", text, strlen(text), &v, NULL), CUBED_OK);
    return v;
}

/* In format 3, types are not recorded if readers infer them anyway. */
static void test_stow(void **state)
{
    (void)state;
    json_t *v = parse("{\"n\": 1, \"s\": 2.5, \"valid_min\": 1, \"t\": \"x\"}");
    assert_true(cb_attributes_state(v, "n", "<i4"));
    assert_true(cb_attributes_state(v, "s", "<f4"));
    assert_true(cb_attributes_state(v, "t", ">S1"));
    assert_true(cb_attributes_state(v, "valid_min", "<i2"));
    assert_true(cb_attributes_state(v, "gone", "<i2"));
    json_t *same = json_deep_copy(v);
    assert_true(cb_attributes_stow(v, CUBED_INT16));
    assert_string_equal(json_string_value(json_object_get(v, CB_ATTRIBUTE_TYPES_V3)),
                        "{\"s\":\"<f4\"}");
    assert_null(json_object_get(v, CUBED_ATTRIBUTE_TYPES));
    assert_true(cb_attributes_gather(v));
    assert_null(json_object_get(v, CB_ATTRIBUTE_TYPES_V3));
    assert_int_equal(cb_attribute_type_of(v, "s", CUBED_INT16).dtype, CUBED_FLOAT32);
    json_decref(v);
    cb_attributes_prune(same);
    const json_t *types = json_object_get(json_object_get(same, CUBED_ATTRIBUTE_TYPES), "types");
    assert_int_equal(json_object_size(types), 4);
    json_object_clear(same);
    cb_attributes_prune(same);
    assert_int_equal(json_object_size(same), 0);
    json_decref(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_type_of_the_variable),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_stow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
