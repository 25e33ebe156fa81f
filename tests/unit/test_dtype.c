/* Promotion against the standard's lattice, written out, and casts of single values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "dtype/scalar.h"

/* Rows and columns: bool i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16, by their numbers. */
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
    assert_int_equal(cubed_dtype_parse("float16", &none, NULL), CUBED_E_TYPE);
    assert_true(cubed_dtype_can_cast(CUBED_FLOAT64, CUBED_FLOAT32));
    assert_true(cubed_dtype_can_cast(CUBED_INT64, CUBED_FLOAT32));
    assert_false(cubed_dtype_can_cast(CUBED_FLOAT32, CUBED_INT64));
    assert_false(cubed_dtype_can_cast(CUBED_INT8, CUBED_UINT8));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
