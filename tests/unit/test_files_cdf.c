/* Files of NetCDF's classic format, whose arrays grow record by record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files_test.h"

/* netCDF4, format="NETCDF3_CLASSIC", as zlib.compress(bytes, 9) in base64: dimensions t without an end and x of 3;
 * int16 a(t, x) = [[1, 2, 3], [4, 5, 6]], float64 b(t) = [0.5, 1.5] with fill_value=-1.0 and valid = int16 [1, 2];
 * title = "a test" */
static const char records[] =
    "eNpzdnFjZGBgYAJiLijNWMIAB4wVEJoZiHlAfCBmLcksyUmFiIPUsyUqlKQWQzRxw8xIRMgzQPXBAMgsDiC+ARJPQpXn"
    "gbkl3i0zJycsMacUYhEbSM3+D3AzWMsSczJTEOYxAU1ggqoDmf0AzGdmYLF/ANXBwsAKkrX/AeECAICkEy8=";

/* Positions in that file: COUNT of the number of records, DIMENSIONS of the dimension numbers of a, and BEGIN of the start of
 * a. */
enum { SIZE = 248, COUNT = 4, DIMENSIONS = 96, BEGIN = 120 };

static void expect_records(cubed_store *s)
{
    expect_words(s, "zarr.json", "\"title\": \"a test\"");
    expect_words(s, "a/zarr.json", "\"shape\":[2,3]");
    expect_words(s, "a/zarr.json", "\"data_type\":\"int16\"");
    expect_words(s, "a/zarr.json", "\"dimension_names\":[\"t\", \"x\"]");
    expect_words(s, "a/zarr.json", "{\"endian\":\"big\"}");
    expect_object(s, "a/c/0/0", "\0\1\0\2\0\3\0\4\0\5\0\6", 12);
    expect_words(s, "b/zarr.json", "\"_FillValue\": \"AAAAAAAA8L8=\"");
    expect_words(s, "b/zarr.json", "\"valid\": [1, 2]");
    expect_object(s, "b/c/0", "\x3f\xe0\0\0\0\0\0\0\x3f\xf8\0\0\0\0\0", 16);
}

static void test_records(void **state)
{
    unsigned char *bytes = inflated(records, SIZE);
    cubed_store *s = open_bytes(*state, bytes, SIZE);
    expect_records(s);
    cb_store_close(s);
    free(bytes);
}

/* If a file is still being written, its length determines the number of records. */
static void test_streams(void **state)
{
    unsigned char *bytes = inflated(records, SIZE);
    memset(bytes + COUNT, 0xff, 4);
    cubed_store *s = open_bytes(*state, bytes, SIZE);
    expect_records(s);
    cb_store_close(s);
    s = open_bytes(*state, bytes, SIZE - 1);
    expect_words(s, "a/zarr.json", "\"shape\":[1,3]");
    expect_object(s, "b/c/0", "\x3f\xe0\0\0\0\0\0", 8);
    cb_store_close(s);
    free(bytes);
}

static void test_damaged_files(void **state)
{
    static const struct {
        int at;
        uint8_t byte;
        const char *says;
    } cases[] = {
        {COUNT, 9, "the file ends within a"},
        {BEGIN, 1, "the file ends within a"},
        {DIMENSIONS + 3, 5, "a dimension that does not exist"},
        {DIMENSIONS + 7, 0, "records along a dimension other than the first"},
        {DIMENSIONS - 1, 200, "a has more than"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *bytes = inflated(records, SIZE);
        bytes[cases[i].at] = cases[i].byte;
        expect_refused(*state, bytes, SIZE, i == 4 ? CUBED_E_UNSUPPORTED : CUBED_E_FORMAT,
                       cases[i].says);
        free(bytes);
    }
    /* Truncated at any position. */
    unsigned char *bytes = inflated(records, SIZE);
    for (size_t n = 8; n < SIZE; n++)
        expect_refused(*state, bytes, n, CUBED_E_FORMAT, "memory://t/file");
    free(bytes);
}

static void test_no_memory(void **state)
{
    unsigned char *bytes = inflated(records, SIZE);
    expect_no_memory_is_said(*state, bytes, SIZE, "b/zarr.json");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
