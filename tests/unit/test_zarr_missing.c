/* Markers of missing values, converted between both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "dtype/scalar.h"
#include "zarr_test.h"

/* Doubles in base64, the spelling of attributes in format 3. */
#define B9999   "AAAAAICHw0A="
#define BMINUS1 "AAAAAAAA8L8="
#define BTENTH  "mpmZmZmZuT8="

/* has_fill: `fill` is the fill value; otherwise there is none. attrs: attributes as JSON; NULL: none. */
typedef struct marks {
    bool has_fill;
    double fill;
    const char *attrs;
} marks;

static cubed_scalar scalar_of(cubed_dtype dtype, double value)
{
    const cubed_scalar wide = {.f64 = value};
    cubed_scalar x = {.u64 = 0};
    cb_scalar_cast(CUBED_FLOAT64, &wide, dtype, &x);
    return x;
}

static void expect_marks(int from, int to, cubed_dtype dtype, marks given, marks expected)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_missing m = {.from = from,
                         .dtype = dtype,
                         .has_fill = given.has_fill,
                         .fill = scalar_of(dtype, given.fill),
                         .attrs = given.attrs};
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    if (cb_zarr_convert_missing(&m, to, zone, &err) != CUBED_OK) fail_msg("%s", err.message);
    if (!expected.attrs) {
        assert_null(m.attrs);
    } else {
        assert_non_null(m.attrs);
        assert_string_equal(m.attrs, expected.attrs);
    }
    assert_int_equal(m.has_fill, expected.has_fill);
    if (m.has_fill) {
        cubed_scalar back;
        cb_scalar_cast(dtype, &m.fill, CUBED_FLOAT64, &back);
        assert_true(back.f64 == expected.fill || (isnan(back.f64) && isnan(expected.fill)));
    }
    cb_zone_free(zone);
}

static void test_to_format_3(void **state)
{
    (void)state;
    /* The fill value becomes the attribute, whatever the attribute was. */
    expect_marks(2, 3, CUBED_FLOAT64, (marks){true, 9999, NULL},
                 (marks){true, 9999, "{\"_FillValue\": \"" B9999 "\"}"});
    expect_marks(2, 3, CUBED_FLOAT32, (marks){true, -1, "{\"_FillValue\": 5, \"a\": 1}"},
                 (marks){true, -1, "{\"_FillValue\": \"" BMINUS1 "\", \"a\": 1}"});
    expect_marks(2, 3, CUBED_INT16, (marks){true, -7, "{\"a\": 1}"},
                 (marks){true, -7, "{\"a\": 1, \"_FillValue\": -7}"});
    expect_marks(2, 3, CUBED_COMPLEX128, (marks){true, 9999, NULL},
                 (marks){true, 9999, "{\"_FillValue\": [\"" B9999 "\", \"AAAAAAAAAAA=\"]}"});
    /* No fill value, but an attribute. */
    expect_marks(2, 3, CUBED_FLOAT64, (marks){false, 0, "{\"_FillValue\": -1}"},
                 (marks){false, 0, "{\"_FillValue\": \"" BMINUS1 "\"}"});
    expect_marks(2, 3, CUBED_FLOAT64, (marks){false, 0, NULL}, (marks){false, 0, NULL});
    /* If no marker exists before, none exists afterwards. */
    expect_marks(2, 3, CUBED_FLOAT64, (marks){false, 0, "{\"_FillValue\": [1]}"},
                 (marks){false, 0, "{\"_FillValue\": [1]}"});
    /* A copy within format 3 changes nothing. */
    expect_marks(3, 3, CUBED_FLOAT64, (marks){true, 0, "{\"_FillValue\": \"" B9999 "\"}"},
                 (marks){true, 0, "{\"_FillValue\": \"" B9999 "\"}"});
}

static void test_to_format_2(void **state)
{
    (void)state;
    /* The attribute becomes the fill value, if the type can represent it. */
    expect_marks(3, 2, CUBED_FLOAT64, (marks){true, 0, "{\"_FillValue\": \"" B9999 "\", \"a\": 1}"},
                 (marks){true, 9999, "{\"a\": 1}"});
    expect_marks(3, 2, CUBED_FLOAT32, (marks){true, 0, "{\"_FillValue\": \"NaN\", \"a\": 1}"},
                 (marks){true, NAN, "{\"a\": 1}"});
    expect_marks(3, 2, CUBED_UINT8, (marks){true, 0, "{\"_FillValue\": 255, \"a\": 1}"},
                 (marks){true, 255, "{\"a\": 1}"});
    expect_marks(3, 2, CUBED_COMPLEX64,
                 (marks){true, 0, "{\"_FillValue\": [\"" B9999 "\", 0], \"a\": 1}"},
                 (marks){true, 9999, "{\"a\": 1}"});
    /* 0.1 is between two float32 numbers: it stays an attribute, as a number. */
    expect_marks(3, 2, CUBED_FLOAT32, (marks){true, 0, "{\"_FillValue\": \"" BTENTH "\"}"},
                 (marks){false, 0, "{\"_FillValue\": 0.10000000000000001}"});
    expect_marks(3, 2, CUBED_COMPLEX64, (marks){true, 0, "{\"_FillValue\": [0.1, 0]}"},
                 (marks){false, 0, "{\"_FillValue\": [0.10000000000000001, 0.0]}"});
    expect_marks(3, 2, CUBED_COMPLEX64, (marks){true, 0, "{\"_FillValue\": [true, 0]}"},
                 (marks){false, 0, "{\"_FillValue\": [true, 0]}"});
    /* The array was cast to integers, but has the attribute of the real numbers. A value that the type does not have, such as 300
     * for uint8, is no marker. */
    expect_marks(3, 2, CUBED_INT32, (marks){true, 0, "{\"_FillValue\": \"" BTENTH "\"}"},
                 (marks){false, 0, "{\"_FillValue\": 0.10000000000000001}"});
    expect_marks(3, 2, CUBED_UINT8, (marks){true, 0, "{\"_FillValue\": 300}"},
                 (marks){false, 0, "{\"_FillValue\": 300}"});
    /* Without an attribute, only NaN is missing. NaN is always missing. */
    expect_marks(3, 2, CUBED_FLOAT64, (marks){true, 0, NULL}, (marks){false, 0, NULL});
    expect_marks(3, 2, CUBED_FLOAT64, (marks){true, NAN, NULL}, (marks){true, NAN, NULL});
    /* A copy within format 2 changes nothing. */
    expect_marks(2, 2, CUBED_INT16, (marks){true, 3, "{\"_FillValue\": 4}"},
                 (marks){true, 3, "{\"_FillValue\": 4}"});
}

static void test_attributes_that_are_no_json(void **state)
{
    (void)state;
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_missing m = {.from = 3, .dtype = CUBED_FLOAT64, .attrs = "{\"a\": "};
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_zarr_convert_missing(&m, 2, zone, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "attributes"));
    cb_zone_free(zone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_format_3),
        cmocka_unit_test(test_to_format_2),
        cmocka_unit_test(test_attributes_that_are_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
