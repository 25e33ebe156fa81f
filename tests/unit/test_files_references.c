/* References of kerchunk: places that they may refer to, and invalid references. Records of Parquet are in
 * tests/cli/netcdf.txt. */
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

static cubed_store *open_text(void **state, const char *text)
{
    return open_bytes(*state, text, strlen(text));
}

static void test_kinds_of_references(void **state)
{
    cubed_store *other;
    assert_int_equal(cb_store_open(*state, "memory://t", false, &other, NULL), CUBED_OK);
    put_bytes(other, "a.bin", "abcdefgh", 8);
    cubed_store *s = open_text(
        state,
        " \n{\"version\": 1, \"templates\": {\"u\": \"memory://t\", \"n\": \"a\"}, \"refs\": "
        "{\".zgroup\": {\"zarr_format\": 2}, \"text\": \"some\", \"coded\": "
        "\"base64:AQI=\", \"part\": [\"{{u}}/{{ n }}.bin\", 2, 3], \"below\": "
        "[\"a.bin\", 0, 1], \"whole\": [\"memory://t/a.bin\"], \"gone\": "
        "[\"memory://t/gone\"], \"../out\": \"no key\"}}");
    expect_words(s, ".zgroup", "{\"zarr_format\": 2}");
    expect_object(s, "text", "some", 4);
    expect_object(s, "coded", "\1\2", 2);
    expect_object(s, "part", "cde", 3);
    expect_object(s, "below", "a", 1);
    expect_object(s, "whole", "abcdefgh", 8);
    expect_failure(s, "gone", CUBED_E_FORMAT, "refers to gone in memory://t, which does not exist");
    expect_failure(s, "out", CUBED_E_NOT_FOUND, "has no out");
    cb_store_close(s);
    assert_int_equal(cb_store_del(other, "a.bin", NULL), CUBED_OK);
    cb_store_close(other);
}

/* All reads of an object must be of one version of the object. */
static void test_objects_that_are_written_anew(void **state)
{
    cubed_store *other;
    assert_int_equal(cb_store_open(*state, "memory://t", false, &other, NULL), CUBED_OK);
    put_bytes(other, "a.bin", "abcdefgh", 8);
    cubed_store *s = open_text(state, "{\".zgroup\": \"{}\", \"x/0\": [\"a.bin\", 0, 4], "
                                      "\"x/1\": [\"a.bin\", 4, 4]}");
    expect_object(s, "x/0", "abcd", 4);
    put_bytes(other, "a.bin", "ABCDEFGH", 8);
    expect_failure(s, "x/1", CUBED_E_FORMAT, "was rewritten while it was read");
    cb_store_close(s);
    assert_int_equal(cb_store_del(other, "a.bin", NULL), CUBED_OK);
    cb_store_close(other);
}

static void test_what_is_refused(void **state)
{
#define WITH(reference) "{\".zgroup\": \"{}\", \"x\": " reference "}"
    static const struct {
        const char *text;
        cubed_status status;
        const char *says;
    } cases[] = {
        {WITH("7"), CUBED_E_FORMAT, "the reference x is invalid"},
        {WITH("[\"a\", 1]"), CUBED_E_FORMAT, "the reference x is invalid"},
        {WITH("[\"a\", -1, 2]"), CUBED_E_FORMAT, "the reference x is invalid"},
        {WITH("[\"a\", 1, 2.5]"), CUBED_E_FORMAT, "the reference x is invalid"},
        {WITH("[\"{{u}}/a\", 1, 2]"), CUBED_E_UNSUPPORTED, "templates map names to strings"},
        {WITH("[\"{{u/a\", 1, 2]"), CUBED_E_UNSUPPORTED, "templates map names to strings"},
        {WITH("[\"memory://t/\", 1, 2]"), CUBED_E_FORMAT, "is not the URL of a file"},
        {WITH("[\"none://t/a\", 1, 2]"), CUBED_E_ARG,
         "refers to \"none://t/a\": expected a place in memory://t"},
        {WITH("[\"file:///etc/passwd\", 1, 2]"), CUBED_E_ARG,
         "refers to \"file:///etc/passwd\", which is /etc/passwd: expected"},
        {WITH("\"base64:?\""), CUBED_E_FORMAT, "the reference x is not base64"},
        {"{\"version\": 1, \"gen\": [{}], \"refs\": {\".zgroup\": \"{}\"}}", CUBED_E_UNSUPPORTED,
         "generated references"},
        {"{\"x\": 1}", CUBED_E_UNSUPPORTED, "is JSON, expected kerchunk references"},
        {"{\"x\": ", CUBED_E_FORMAT, "not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(*state, cases[i].text, strlen(cases[i].text), cases[i].status,
                       cases[i].says);
}

/* --- Folders of records ----------------------------------------------------------------------------------- */

#define FOLDER(size, more)                                                                         \
    "{\"record_size\": " size                                                                      \
    ", \"metadata\": {\".zgroup\": {\"zarr_format\": 2}, \"x/.zarray\": "                          \
    "{\"zarr_format\": 2, \"shape\": [6, 4], \"dtype\": \"|u1\", \"order\": \"C\", "               \
    "\"compressor\": "                                                                             \
    "null, \"filters\": null, \"fill_value\": 0" more "}}}"
#define CHUNKS ", \"chunks\": [2, 2]"

static void test_folders_that_are_refused(void **state)
{
    static const struct {
        const char *text;
        cubed_status status;
        const char *says;
    } cases[] = {
        {FOLDER("0", CHUNKS), CUBED_E_FORMAT, "\"record_size\" is 0, expected at least 1"},
        {FOLDER("2", ", \"chunks\": [2]"), CUBED_E_FORMAT, "shape and chunks differ in length"},
        {FOLDER("2", CHUNKS ", \"dimension_separator\": \"/\""), CUBED_E_UNSUPPORTED,
         "\"dimension_separator\" is \"/\", expected \".\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(*state, cases[i].text, strlen(cases[i].text), cases[i].status,
                       cases[i].says);
}

/* Only records that contain the plan's chunks are read. */
static void test_records_of_a_plan(void **state)
{
    static const char text[] = FOLDER("2", CHUNKS);
    const int64_t lo[2] = {2, 0}, hi[2] = {3, 2}, first[2] = {0, 0}, last[2] = {1, 1};
    cubed_store *within = memory_store(&cb_system_allocator), *s;
    cubed_error err = CUBED_ERROR_INIT;
    put_bytes(within, ".zmetadata", text, sizeof text - 1);
    put_bytes(within, "x/refs.0.parq", "damaged", 7);
    if (cb_file_open(*state, within, ".zmetadata", "memory://t/.zmetadata", &s, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    expect_words(s, "x/.zarray", "\"shape\": [6, 4]");
    if (cb_file_know_chunks(s, "x", 2, lo, hi, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(cb_file_know_chunks(s, "x", 2, first, last, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "x/refs.0.parq is not a complete Parquet file"));
    /* A missing record has no references. */
    expect_failure(s, "x/2.1", CUBED_E_NOT_FOUND, "x/2.1");
    expect_failure(s, "x/0.1", CUBED_E_FORMAT, "is not a complete Parquet file");
    const int64_t beyond[2] = {4, 2};
    assert_int_equal(cb_file_know_chunks(s, "x", 2, lo, beyond, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "the chunks of an array do not match its records"));
    cb_store_close(s);
}

static void test_no_memory(void **state)
{
    static const char text[] = "{\".zgroup\": \"{}\", \"x/0\": \"base64:AQI=\", \"x/1\": "
                               "[\"memory://t/a.bin\", 0, 4]}";
    expect_no_memory_is_said(*state, text, sizeof text - 1, "x/0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_references),
        cmocka_unit_test(test_objects_that_are_written_anew),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_folders_that_are_refused),
        cmocka_unit_test(test_records_of_a_plan),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
