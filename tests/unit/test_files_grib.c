/* Files of GRIB messages as stores: their arrays, coordinates and chunks, and the reasons why variables are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files/grib_library.h"
#include "files_test.h"
#include "grib_test.h"

/* Positions in the message of edition 1: octets of section 1, and of the grid in section 2. */
enum {
    TABLE = 11,
    PARAMETER = 16,
    LEVEL_TYPE = 17,
    LEVEL = 18,
    YEAR = 20,
    MONTH = 21,
    HOUR = 23,
    STEP = 26,
    NUMBER = 57,
    GRID_TYPE = 65,
    COLUMNS = 66,
    ROWS = 68,
    SCAN = 87
};

typedef struct change {
    int at;
    uint8_t byte;
} change;

typedef struct file {
    uint8_t bytes[16 * MOST];
    size_t size;
} file;

/* Appends the message of edition 1 with up to three changed bytes. */
static void append(file *f, change a, change b, change c)
{
    message m = decoded(grib_edition1);
    const change all[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        if (all[i].at) m.bytes[all[i].at] = all[i].byte;
    }
    assert_true(f->size + m.size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, m.bytes, m.size);
    f->size += m.size;
    free(m.bytes);
}

static const change none = {0, 0};

static cubed_status do_nothing(const cb_eccodes *e, void *ctx, cubed_error *err)
{
    (void)e, (void)ctx, (void)err;
    return CUBED_OK;
}

/* Skips a test if the machine does not have ecCodes. */
static void need_library(void)
{
    if (cb_eccodes_run(do_nothing, NULL, NULL) != CUBED_OK) skip();
}

static cubed_store *open_file(cb_stores *stores, const file *f)
{
    return open_bytes(stores, f->bytes, f->size);
}

/* Checks elements of 8 bytes of an array that is stored among the metadata. */
static void expect_doubles(cubed_store *s, const char *key, const double *values, size_t n)
{
    expect_object(s, key, values, n * sizeof *values);
}

static void expect_integers(cubed_store *s, const char *key, const int64_t *values, size_t n)
{
    expect_object(s, key, values, n * sizeof *values);
}

/* 2020-02-29T12:00:00 */
#define NOON     ((int64_t)1582977600)
#define HOURS(n) ((int64_t)(n)*3600)

static void test_one_field(void **state)
{
    file f = {.size = 0};
    static const double latitudes[] = {60, 50}, longitudes[] = {0, 60, 120, 180, 240, 300};
    static const double level = 850;
    static const int64_t time = NOON;
    uint8_t chunk[4 + MOST] = {0};
    need_library();
    append(&f, none, none, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "zarr.json", "\"GRIB_edition\": \"1\"");
    expect_words(s, "zarr.json", "\"GRIB_centre\": \"ecmf\"");
    expect_words(s, "t2m/zarr.json", "\"shape\":[2,6]");
    expect_words(s, "t2m/zarr.json", "\"data_type\":\"float32\"");
    expect_words(s, "t2m/zarr.json", "\"dimension_names\":[\"latitude\", \"longitude\"]");
    expect_words(s, "t2m/zarr.json", "\"GRIB_shortName\": \"2t\"");
    expect_words(s, "t2m/zarr.json", "\"simple\":true,\"columns\":false,\"serpents\":false");
    memcpy(chunk + 4, f.bytes, f.size);
    expect_object(s, "t2m/c/0/0", chunk, f.size + 4);
    expect_doubles(s, "latitude/c/0", latitudes, 2);
    expect_doubles(s, "longitude/c/0", longitudes, 6);
    expect_doubles(s, "isobaricInhPa/c", &level, 1);
    expect_words(s, "isobaricInhPa/zarr.json", "\"units\": \"hPa\"");
    expect_integers(s, "time/c", &time, 1);
    cb_store_close(s);
}

/* Files may begin with a heading, and may have other bytes between messages. */
static void test_bytes_between_messages(void **state)
{
    static const char heading[] = "ZCZC 001\r\r\nHTDL85\r\r\n";
    file f = {.size = sizeof heading};
    const int64_t times[] = {NOON - HOURS(6), NOON};
    need_library();
    memcpy(f.bytes, heading, sizeof heading);
    append(&f, none, none, none);
    memset(f.bytes + f.size, 'x', 2000);
    f.size += 2000;
    append(&f, (change){HOUR, 6}, none, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"shape\":[2,2,6]");
    expect_integers(s, "time/c/0", times, 2);
    cb_store_close(s);
}

static void test_levels_and_times(void **state)
{
    file f = {.size = 0};
    static const double levels[] = {850, 594}; /* pressures descend */
    need_library();
    for (int i = 0; i < 4; i++)
        append(&f, (change){LEVEL, i % 2 ? 3 : 2}, (change){HOUR, i / 2 ? 6 : 12}, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"shape\":[2,2,2,6]");
    expect_words(s, "t2m/zarr.json",
                 "\"dimension_names\":[\"time\", \"isobaricInhPa\", \"latitude\", \"longitude\"]");
    expect_doubles(s, "isobaricInhPa/c/0", levels, 2);
    cb_store_close(s);
    /* Levels above the ground ascend. */
    static const double heights[] = {594, 850};
    f.size = 0;
    for (int i = 0; i < 2; i++)
        append(&f, (change){LEVEL, i ? 2 : 3}, (change){LEVEL_TYPE, 105}, none);
    s = open_file(*state, &f);
    expect_words(s, "heightAboveGround/zarr.json", "\"positive\": \"up\"");
    expect_doubles(s, "heightAboveGround/c/0", heights, 2);
    cb_store_close(s);
}

static void test_members(void **state)
{
    file f = {.size = 0};
    static const int64_t members[] = {0, 1, 2};
    need_library();
    for (int i = 2; i >= 0; i--) append(&f, (change){NUMBER, (uint8_t)i}, none, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"shape\":[3,2,6]");
    expect_words(s, "t2m/zarr.json", "\"dimension_names\":[\"number\", \"latitude\"");
    expect_integers(s, "number/c/0", members, 3);
    expect_words(s, "number/zarr.json", "\"standard_name\": \"realization\"");
    cb_store_close(s);
}

/* A forecast has its valid times; forecasts that overlap have reference times and steps. */
static void test_forecasts(void **state)
{
    file f = {.size = 0};
    const int64_t valid[] = {NOON, NOON + HOURS(6)};
    const double steps[] = {0, 6};
    need_library();
    append(&f, none, none, none);
    append(&f, (change){STEP, 6}, none, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"dimension_names\":[\"time\", \"latitude\"");
    expect_integers(s, "time/c/0", valid, 2);
    expect_doubles(s, "step/c/0", steps, 2);
    expect_integers(s, "forecast_reference_time/c", valid, 1);
    cb_store_close(s);
    append(&f, (change){HOUR, 18}, none, none);
    append(&f, (change){HOUR, 18}, (change){STEP, 6}, none);
    const int64_t times[] = {NOON, NOON + HOURS(6), NOON + HOURS(6), NOON + HOURS(12)};
    s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"shape\":[2,2,2,6]");
    expect_words(s, "t2m/zarr.json",
                 "\"dimension_names\":[\"forecast_reference_time\", \"step\", \"latitude\"");
    expect_integers(s, "forecast_reference_time/c/0", valid, 2);
    expect_words(s, "time/zarr.json", "\"shape\":[2,2]");
    expect_integers(s, "time/c/0/0", times, 4);
    cb_store_close(s);
}

/* Variables whose fields do not fill a product of coordinates are listed, and refused with the reason. */
static void test_refused_variables(void **state)
{
    file f = {.size = 0};
    need_library();
    append(&f, none, none, none);
    append(&f, (change){HOUR, 6}, (change){LEVEL, 2}, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json",
                 "no message has number 0, time 2020-02-29T06:00:00, isobaricInhPa 850");
    cb_store_close(s);
    f.size = 0;
    append(&f, none, none, none);
    append(&f, (change){NUMBER, 1}, none, none);
    append(&f, (change){NUMBER, 1}, none, none);
    s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json",
                 "messages 2 and 3 have the same coordinates (number 1, time 2020-02-29T12:00:00, "
                 "isobaricInhPa 850)");
    cb_store_close(s);
}

/* Parameters and grids are variables and coordinates of their own; equal names are numbered. */
static void test_several_variables(void **state)
{
    file f = {.size = 0};
    need_library();
    append(&f, none, none, none);
    append(&f, (change){LEVEL_TYPE, 105}, none, none);
    append(&f, (change){PARAMETER, 130}, none, none);
    append(&f, (change){PARAMETER, 130}, (change){ROWS + 1, 6}, (change){COLUMNS + 1, 2});
    append(&f, (change){PARAMETER, 250}, (change){TABLE, 250}, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m_2/zarr.json", "\"GRIB_typeOfLevel\": \"heightAboveGround\"");
    expect_words(s, "t/zarr.json", "\"dimension_names\":[\"latitude\", \"longitude\"]");
    expect_words(s, "t_2/zarr.json", "\"dimension_names\":[\"latitude_2\", \"longitude_2\"]");
    expect_words(s, "param250.250/zarr.json", "\"GRIB_shortName\": \"param250.250\"");
    cb_store_close(s);
}

/* Values in columns, and rows in alternating order. */
static void test_orders_of_values(void **state)
{
    file f = {.size = 0};
    need_library();
    append(&f, (change){SCAN, 0x20}, none, none);
    cubed_store *s = open_file(*state, &f);
    expect_words(s, "t2m/zarr.json", "\"columns\":true,\"serpents\":false");
    cb_store_close(s);
    message m = decoded(grib_edition2);
    m.bytes[108] = 0x10;
    s = open_bytes(*state, m.bytes, m.size);
    expect_words(s, "zarr.json", "\"GRIB_edition\": \"2\"");
    expect_words(s, "t/zarr.json", "\"columns\":false,\"serpents\":true");
    cb_store_close(s);
    free(m.bytes);
}

static void test_damaged_files(void **state)
{
    static const struct {
        change a, b;
        const char *says;
    } cases[] = {
        {{MONTH, 13}, {0, 0}, "message 1 at byte 0: the dataDate of a field is 20201329"},
        {{HOUR, 30}, {0, 0}, "the dataDate or dataTime of a field is not valid"},
        {{GRID_TYPE, 50}, {0, 0}, "a field has 0 points, expected 1 to 134217728"},
        {{SCAN, 0x40}, {0, 0}, "ecCodes cannot compute the points of the grid"},
        {{COLUMNS, 200}, {ROWS, 250}, "points"},
        {{62, 12}, {0, 0}, "message 1 at byte 0"},
        {{7, 2}, {0, 0}, "message 1 at byte 0"},
    };
    need_library();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = {.size = 0};
        cubed_error err = CUBED_ERROR_INIT;
        cubed_store *within = memory_store(&cb_system_allocator), *s = NULL;
        append(&f, cases[i].a, cases[i].b, none);
        put_bytes(within, "file", f.bytes, f.size);
        const cubed_status st = cb_file_open(*state, within, "file", "memory://t/file", &s, &err);
        if (st == CUBED_OK || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: status %d, \"%s\"", i, st, err.message);
    }
    file f = {.size = 0};
    append(&f, none, none, none);
    const size_t n = f.size;
    append(&f, none, none, none);
    expect_refused(*state, f.bytes, f.size - 3, CUBED_E_FORMAT, "message 2 at byte 132");
    expect_refused(*state, f.bytes, n - 1, CUBED_E_FORMAT, "it is truncated, so copy it again");
    /* A gap that is too short for a message ends the file. */
    memcpy(f.bytes + n, "GRI", 3);
    cubed_store *s = open_bytes(*state, f.bytes, n + 3);
    expect_words(s, "t2m/zarr.json", "\"shape\":[2,6]");
    cb_store_close(s);
}

static void test_no_memory(void **state)
{
    file f = {.size = 0};
    need_library();
    append(&f, none, none, none);
    append(&f, (change){HOUR, 6}, none, none);
    append(&f, (change){PARAMETER, 130}, (change){STEP, 6}, (change){NUMBER, 1});
    expect_no_memory_is_said(*state, f.bytes, f.size, "t2m/c/1/0/0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_field),         cmocka_unit_test(test_bytes_between_messages),
        cmocka_unit_test(test_levels_and_times),  cmocka_unit_test(test_members),
        cmocka_unit_test(test_forecasts),         cmocka_unit_test(test_refused_variables),
        cmocka_unit_test(test_several_variables), cmocka_unit_test(test_orders_of_values),
        cmocka_unit_test(test_damaged_files),     cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
