/* The codec of GRIB fields: its configuration, the orders of values, values and points of ecCodes, and damaged chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "codec/codec_pkg.h"
#include "files/grib_library.h"
#include "grib_test.h"

enum { NUMBER = 4 }; /* bytes in front of the message: the number of the field */

static const int64_t rows_and_columns[] = {2, 6};

static cubed_codec_ctx context_of(cubed_dtype dtype, size_t item)
{
    return (cubed_codec_ctx){
        .item_size = item, .unit_size = item, .ndim = 2, .shape = rows_and_columns, .dtype = dtype};
}

static cubed_status parse(const char *json, const cubed_codec_ctx *ctx, cubed_codec_conf *conf,
                          cubed_error *err)
{
    memset(conf, 0, sizeof *conf);
    return cb_codec_grib.parse(json, 3, ctx, conf, err);
}

static void test_configurations(void **state)
{
    static const struct {
        const char *json;
        cubed_status status;
        const char *says;
    } wrong[] = {
        {"[", CUBED_E_FORMAT, "cubed.grib"},
        {"{}", CUBED_E_FORMAT, "\"var\""},
        {"{\"var\": 1, \"most\": 5}", CUBED_E_FORMAT, "\"var\""},
        {"{\"var\": \"height\", \"most\": 5}", CUBED_E_FORMAT,
         "\"var\" is \"height\", expected values, latitudes or longitudes"},
        {"{\"var\": \"values\"}", CUBED_E_FORMAT, "\"most\""},
        {"{\"var\": \"values\", \"most\": 0}", CUBED_E_FORMAT, "\"most\" is 0, expected 1 to"},
        {"{\"var\": \"values\", \"most\": 4294967296}", CUBED_E_FORMAT, "\"most\" is 4294967296"},
        {"{\"refused\": \"too many coefficients\"}", CUBED_E_UNSUPPORTED, "too many coefficients"},
    };
    static const char right[] =
        "{\"var\": \"longitudes\", \"simple\": true, \"columns\": true, \"serpents\": true, "
        "\"most\": 4294967295}";
    cubed_codec_conf conf;
    char json[256];
    cubed_codec_ctx x = context_of(CUBED_FLOAT64, 8);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cubed_status st = parse(wrong[i].json, &x, &conf, &err);
        if (st != wrong[i].status || !strstr(err.message, wrong[i].says))
            fail_msg("%s: status %d, \"%s\"", wrong[i].json, st, err.message);
    }
    assert_int_equal(parse(right, &x, &conf, NULL), CUBED_OK);
    assert_int_equal(cb_codec_grib.print(&conf, 3, &x, json, sizeof json, NULL), CUBED_OK);
    assert_string_equal(json, right);
    assert_int_equal(cb_codec_grib.print(&conf, 3, &x, json, sizeof right - 1, NULL), CUBED_E_ARG);
    assert_true(cb_codec_grib.bound(&conf, &x, 96) == (size_t)UINT32_MAX + NUMBER);
    /* types and shapes that no field has */
    cubed_error err = CUBED_ERROR_INIT;
    x.swapped = true;
    assert_int_equal(parse(right, &x, &conf, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "elements of float64 in big-endian order with 2 dim"));
    x = context_of(CUBED_INT32, 4);
    assert_int_equal(parse(right, &x, &conf, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "elements of int32 with"));
    x = context_of(CUBED_FLOAT32, 4);
    x.ndim = 0;
    assert_int_equal(parse(right, &x, &conf, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "0 dimensions, expected float32 or float64"));
}

/* A chunk with one field, and the memory to decode it. */
typedef struct field {
    cubed_codec_ctx ctx;
    cubed_codec_conf conf;
    uint8_t *chunk;
    size_t size;
    double out[POINTS]; /* also room for float32 */
} field;

static void make_field(field *f, const char *text, cubed_dtype dtype, const char *json)
{
    message m = decoded(text);
    f->ctx = context_of(dtype, dtype == CUBED_FLOAT32 ? 4 : 8);
    cubed_error err = CUBED_ERROR_INIT;
    if (parse(json, &f->ctx, &f->conf, &err) != CUBED_OK) fail_msg("%s", err.message);
    f->size = NUMBER + m.size;
    f->chunk = calloc(1, f->size);
    assert_non_null(f->chunk);
    memcpy(f->chunk + NUMBER, m.bytes, m.size);
    free(m.bytes);
    for (int i = 0; i < POINTS; i++) f->out[i] = -1;
}

static cubed_status decode(field *f, cubed_error *err)
{
    const size_t raw = POINTS * f->ctx.item_size;
    const cubed_codec_need need = cb_codec_grib.decode_need(&f->conf, &f->ctx, raw);
    void *scratch = need.arena ? aligned_alloc(64, (need.arena + 63) / 64 * 64) : NULL;
    size_t got = 0;
    const cubed_codec_call call = {.conf = &f->conf,
                                   .ctx = &f->ctx,
                                   .src = f->chunk,
                                   .src_size = f->size,
                                   .dst = f->out,
                                   .dst_cap = raw,
                                   .scratch = scratch,
                                   .scratch_size = need.arena};
    const cubed_status st = cb_codec_grib.decode(&call, &got, err);
    if (st == CUBED_OK) assert_int_equal(got, raw);
    free(scratch);
    return st;
}

/* Value i of the message, in the order of the message. */
static bool is_value(double v, int i)
{
    return i == HOLE ? isnan(v) : fabs(v - (270 + 2.5 * i)) < 0.01;
}

#define SIMPLE "{\"var\": \"values\", \"simple\": true, \"most\": 512"

static void test_orders_of_values(void **state)
{
    field f;
    (void)state;
    make_field(&f, grib_edition1, CUBED_FLOAT64, SIMPLE "}");
    assert_int_equal(cb_codec_grib.decode_need(&f.conf, &f.ctx, 96).arena, 0);
    assert_int_equal(decode(&f, NULL), CUBED_OK);
    for (int i = 0; i < POINTS; i++) assert_true(is_value(f.out[i], i));
    free(f.chunk);
    make_field(&f, grib_edition2, CUBED_FLOAT32, SIMPLE "}");
    assert_int_equal(decode(&f, NULL), CUBED_OK);
    for (int i = 0; i < POINTS; i++) assert_true(is_value((double)((float *)f.out)[i], i));
    free(f.chunk);
    make_field(&f, grib_edition1, CUBED_FLOAT64, SIMPLE ", \"columns\": true}");
    assert_int_equal(decode(&f, NULL), CUBED_OK);
    for (int i = 0; i < POINTS; i++) assert_true(is_value(f.out[i % 2 * 6 + i / 2], i));
    free(f.chunk);
    make_field(&f, grib_edition1, CUBED_FLOAT64, SIMPLE ", \"serpents\": true}");
    assert_int_equal(decode(&f, NULL), CUBED_OK);
    for (int i = 0; i < POINTS; i++) assert_true(is_value(f.out[i < 6 ? i : 17 - i], i));
    free(f.chunk);
    make_field(&f, grib_edition1, CUBED_FLOAT64, SIMPLE ", \"columns\": true, \"serpents\": true}");
    assert_int_equal(decode(&f, NULL), CUBED_OK);
    for (int i = 0; i < POINTS; i++) {
        const int column = i / 2, row = column % 2 ? 1 - i % 2 : i % 2;
        assert_true(is_value(f.out[row * 6 + column], i));
    }
    free(f.chunk);
}

static void test_damaged_chunks(void **state)
{
    field f;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    make_field(&f, grib_edition2, CUBED_FLOAT64, SIMPLE "}");
    f.chunk[0] = 1;
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "fewer fields than when the file was opened"));
    f.chunk[0] = 0;
    const size_t size = f.size;
    f.size = NUMBER - 1;
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    assert_string_equal(err.message, "3 bytes are not a GRIB field of 96 bytes");
    f.size = size - 1;
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    f.size = size;
    f.chunk[NUMBER + 46] = 13; /* points of the grid */
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    assert_string_equal(err.message, "a GRIB field of 13 points, expected 12");
    f.chunk[NUMBER + 46] = 12;
    f.chunk[NUMBER + 153] = 3; /* complex packing */
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "is not simple packing, as in the other fields"));
    free(f.chunk);
    /* a message larger than any in the file when it was opened */
    make_field(&f, grib_edition1, CUBED_FLOAT64,
               "{\"var\": \"values\", \"simple\": true, \"most\": 131}");
    assert_int_equal(decode(&f, &err), CUBED_E_FORMAT);
    assert_string_equal(err.message, "136 bytes are not a GRIB field of 96 bytes");
    size_t got = 1;
    assert_int_equal(cb_codec_grib.encode(NULL, &got, &err), CUBED_E_UNSUPPORTED);
    assert_int_equal(got, 0);
    assert_string_equal(err.message, "cannot write GRIB: choose other codecs");
    free(f.chunk);
}

static cubed_status do_nothing(const cb_eccodes *e, void *ctx, cubed_error *err)
{
    (void)e, (void)ctx, (void)err;
    return CUBED_OK;
}

/* Values in other packings, and points, are those of ecCodes. */
static void test_library(void **state)
{
    const char *const texts[] = {grib_edition1, grib_edition2};
    field f;
    (void)state;
    if (cb_eccodes_run(do_nothing, NULL, NULL) != CUBED_OK) skip();
    for (int e = 0; e < 2; e++) {
        make_field(&f, texts[e], CUBED_FLOAT64, "{\"var\": \"latitudes\", \"most\": 512}");
        assert_int_equal(decode(&f, NULL), CUBED_OK);
        for (int i = 0; i < POINTS; i++) assert_true(f.out[i] == (i < 6 ? 60 : 50));
        free(f.chunk);
        make_field(&f, texts[e], CUBED_FLOAT64, "{\"var\": \"longitudes\", \"most\": 512}");
        assert_int_equal(decode(&f, NULL), CUBED_OK);
        for (int i = 0; i < POINTS; i++) assert_true(f.out[i] == i % 6 * 60);
        free(f.chunk);
    }
    /* IEEE floats of edition 2, template 5.4: the values of the data section are five ones, and the hole */
    static const uint8_t section5[12] = {0, 0, 0, 12, 5, 0, 0, 0, 11, 0, 4, 1};
    make_field(&f, grib_edition2, CUBED_FLOAT64, "{\"var\": \"values\", \"most\": 512}");
    const size_t before = 143 + NUMBER, bitmap = 8, floats = (size_t)(POINTS - 1) * 4;
    const size_t size = before + sizeof section5 + bitmap + 5 + floats + 4;
    uint8_t *m = calloc(1, size), *at = m + before;
    assert_non_null(m);
    memcpy(m, f.chunk, before);
    memcpy(at, section5, sizeof section5);
    at += sizeof section5;
    memcpy(at, f.chunk + NUMBER + 164, bitmap);
    at += bitmap;
    at[3] = 5 + floats;
    at[4] = 7;
    at += 5;
    for (int i = 0; i < POINTS - 1; i++, at += 4) memcpy(at, "\x3f\xc0\0\0", 4); /* 1.5 */
    memcpy(at, "7777", 4);
    m[NUMBER + 15] = (uint8_t)(size - NUMBER);
    free(f.chunk);
    f.chunk = m;
    f.size = size;
    cubed_error err = CUBED_ERROR_INIT;
    if (decode(&f, &err) != CUBED_OK) fail_msg("%s", err.message);
    for (int i = 0; i < POINTS; i++) assert_true(i == HOLE ? isnan(f.out[i]) : f.out[i] == 1.5);
    /* an unknown precision */
    m[before + 11] = 9;
    assert_int_not_equal(decode(&f, &err), CUBED_OK);
    assert_non_null(strstr(err.message, "GRIB message"));
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_orders_of_values),
        cmocka_unit_test(test_damaged_chunks),
        cmocka_unit_test(test_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
