/* Codecs against known bytes, and their configurations parsed and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codec_test.h"

/* --- Known bytes ------------------------------------------------------------------------------------ */

static void test_byte_order(void **state)
{
    static const int64_t two = 2;
    static const uint8_t in[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const struct {
        int item, unit;
        uint8_t out[16];
    } cases[] = {
        {2, 2, {1, 0, 3, 2}},
        {4, 4, {3, 2, 1, 0, 7, 6, 5, 4}},
        {8, 8, {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}},
        /* The bytes of the two parts of a complex number are reversed separately. */
        {8, 4, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12}},
        {1, 1, {0, 1}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cb_codec_chain c;
        uint8_t out[16], back[16];
        size_t item = (size_t)cases[k].item, unit = (size_t)cases[k].unit;
        assert_int_equal(parse_v3("[" BIG "]", item, unit, 1, &two, &c, NULL), CUBED_OK);
        assert_int_equal(cb_codec_chain_is_raw(&c), unit == 1);
        assert_int_equal(encode(&c, in, out), 2 * item);
        assert_memory_equal(out, cases[k].out, 2 * item);
        assert_int_equal(decode(&c, out, 2 * item, back, NULL), CUBED_OK);
        assert_memory_equal(back, in, 2 * item);
        assert_int_equal(decode(&c, out, 2 * item - 1, back, NULL), CUBED_E_FORMAT);
        assert_int_equal(parse_v3("[" LITTLE "]", item, unit, 1, &two, &c, NULL), CUBED_OK);
        assert_true(cb_codec_chain_is_raw(&c));
        /* A raw chunk has exactly one valid length. */
        uint8_t larger[17] = {0};
        assert_int_equal(decode(&c, larger, 2 * item + 1, back, NULL), CUBED_E_FORMAT);
        assert_int_equal(decode(&c, larger, 2 * item - 1, back, NULL), CUBED_E_FORMAT);
    }
    cb_codec_chain c;
    assert_int_equal(parse_v3("[\"bytes\"]", 1, 1, 1, &two, &c, NULL), CUBED_OK);
    assert_int_equal(parse_v3("[\"bytes\"]", 2, 2, 1, &two, &c, NULL), CUBED_E_FORMAT);
}

/* Every permutation, for shapes around the size of tiles, element by element. */
static void test_transpose(void **state)
{
    static const int64_t shapes[][3] = {{2, 3, 4}, {1, 33, 2}, {40, 1, 35}, {5, 64, 32}};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (size_t p = 0; p < sizeof orders / sizeof *orders; p++) {
            const int64_t *s = shapes[k];
            const int *o = orders[p];
            cb_codec_chain c;
            char text[256];
            snprintf(
                text, sizeof text,
                "[{\"name\": \"transpose\", \"configuration\": {\"order\": [%d, %d, %d]}}, " LITTLE
                "]",
                o[0], o[1], o[2]);
            assert_int_equal(parse_v3(text, 2, 2, 3, s, &c, NULL), CUBED_OK);
            assert_int_equal(cb_codec_chain_is_raw(&c), p == 0);
            size_t n = (size_t)(s[0] * s[1] * s[2]);
            uint16_t *in = malloc(2 * n), *out = malloc(2 * n), *back = malloc(2 * n);
            for (size_t i = 0; i < n; i++) in[i] = (uint16_t)(i * 7);
            assert_int_equal(encode(&c, in, out), 2 * n);
            int64_t i[3];
            size_t at = 0;
            for (i[o[0]] = 0; i[o[0]] < s[o[0]]; i[o[0]]++) {
                for (i[o[1]] = 0; i[o[1]] < s[o[1]]; i[o[1]]++) {
                    for (i[o[2]] = 0; i[o[2]] < s[o[2]]; i[o[2]]++)
                        assert_int_equal(out[at++], in[(i[0] * s[1] + i[1]) * s[2] + i[2]]);
                }
            }
            assert_int_equal(decode(&c, out, 2 * n, back, NULL), CUBED_OK);
            assert_memory_equal(back, in, 2 * n);
            free(in);
            free(out);
            free(back);
        }
    }
}

static void test_order_f(void **state)
{
    static const int64_t shape[2] = {2, 3};
    static const uint8_t in[6] = {1, 2, 3, 4, 5, 6}, f[6] = {1, 4, 2, 5, 3, 6};
    static const uint16_t wide[6] = {1, 2, 3, 4, 5, 6};
    static const uint8_t wide_f[12] = {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6};
    uint8_t out[12], back[12];
    cb_codec_chain c;
    (void)state;
    assert_int_equal(parse_v2("null", false, true, 1, 2, shape, &c, NULL), CUBED_OK);
    assert_int_equal(encode(&c, in, out), 6);
    assert_memory_equal(out, f, 6);
    assert_int_equal(decode(&c, out, 6, back, NULL), CUBED_OK);
    assert_memory_equal(back, in, 6);
    assert_int_equal(parse_v2("null", true, true, 2, 2, shape, &c, NULL), CUBED_OK);
    assert_int_equal(encode(&c, wide, out), 12);
    assert_memory_equal(out, wide_f, 12);
    /* Arrays with at most one axis have the same elements in any order, so no step is needed. */
    assert_int_equal(parse_v2("null", false, true, 8, 1, shape, &c, NULL), CUBED_OK);
    assert_true(cb_codec_chain_is_raw(&c));
    assert_int_equal(parse_v2("null", false, true, 8, 0, shape, &c, NULL), CUBED_OK);
    assert_true(cb_codec_chain_is_raw(&c));
    assert_int_equal(c.chunk_bytes, 8);
}

/* Tests the published check value of the polynomial, and all lengths near the size of a machine word. */
static void test_crc32c(void **state)
{
    uint8_t text[32], out[36], back[32];
    (void)state;
    memcpy(text, "123456789", 9);
    for (int64_t n = 1; n <= 32; n++) {
        cb_codec_chain c;
        assert_int_equal(parse_v3("[\"bytes\", \"crc32c\"]", 1, 1, 1, &n, &c, NULL), CUBED_OK);
        for (int64_t i = n == 9 ? 9 : 0; i < n; i++) text[i] = (uint8_t)('1' + i);
        assert_int_equal(encode(&c, text, out), (size_t)n + 4);
        uint32_t crc = 0xFFFFFFFFu;
        for (int64_t i = 0; i < n; i++) {
            crc ^= text[i];
            for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
        }
        crc = ~crc;
        if (n == 9) assert_int_equal(crc, 0xE3069283u);
        for (int k = 0; k < 4; k++) assert_int_equal(out[n + k], crc >> 8 * k & 255);
        out[n] ^= 1;
        assert_int_equal(decode(&c, out, (size_t)n + 4, back, NULL), CUBED_E_FORMAT);
    }
}

/* Tests float16 and bfloat16, whose mantissas have different lengths. */
static void test_bitround_of_halves(void **state)
{
    static const struct {
        cubed_dtype dtype;
        int keepbits;
        uint16_t value, rounded;
    } cases[] = {
        {CUBED_FLOAT16, 7, 0x3f81, 0x3f80},  {CUBED_FLOAT16, 0, 0x7c01, 0x7c01}, /* NaN */
        {CUBED_BFLOAT16, 7, 0x3f81, 0x3f81}, {CUBED_BFLOAT16, 0, 0x7c01, 0x7c00},
        {CUBED_BFLOAT16, 3, 0x3fff, 0x4000}, {CUBED_BFLOAT16, 3, 0x7f81, 0x7f81}, /* NaN */
        {CUBED_BFLOAT16, 8, 0, 0},                                                /* it has 7 */
    };
    const int64_t one = 1;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[200];
        cb_codec_chain c;
        cubed_error err = CUBED_ERROR_INIT;
        snprintf(text, sizeof text,
                 "[{\"name\": \"numcodecs.bitround\", \"configuration\": {\"keepbits\": %d}}, %s]",
                 cases[k].keepbits, LITTLE);
        json_t *doc = json(text);
        cb_codec_array array = {2, 2, 1, &one, NULL, cases[k].dtype, NULL};
        cubed_status st = cb_codec_chain_parse_v3("test", doc, &array, &c, &err);
        json_decref(doc);
        if (cases[k].keepbits == 8) {
            assert_int_equal(st, CUBED_E_FORMAT);
            assert_non_null(strstr(err.message, "expected 0 to 7"));
            continue;
        }
        assert_int_equal(st, CUBED_OK);
        cb_codec_chain_fix(&c);
        assert_int_equal(encode(&c, &cases[k].value, packed), 2);
        assert_int_equal(packed[0] | packed[1] << 8, cases[k].rounded);
    }
}

/* --- Configurations --------------------------------------------------------------------------------- */

static void test_v3_there_and_back(void **state)
{
    static const int64_t shape[3] = {2, 3, 4};
    static const char *const same[] = {
        "[" LITTLE "]",
        "[" BIG "]",
        "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 2, 0]}}, " LITTLE "]",
        "[" LITTLE
        ", {\"name\": \"zstd\", \"configuration\": {\"level\": -3, \"checksum\": true}}]",
        "[" LITTLE ", {\"name\": \"gzip\", \"configuration\": {\"level\": 6}}, {\"name\": "
        "\"crc32c\"}]",
        "[" LITTLE ", {\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 9}}]",
        "[" LITTLE ", {\"name\": \"numcodecs.lz4\", \"configuration\": {\"acceleration\": -2}}]",
        "[" LITTLE ", {\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 8}}]",
        "[" LITTLE ", {\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 9}}]",
        "[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"typesize\": 4, \"cname\": "
        "\"blosclz\", \"clevel\": 0, \"shuffle\": \"bitshuffle\", \"blocksize\": 65536}}]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cb_codec_chain c;
        json_t *in = json(same[i]), *out;
        assert_int_equal(parse_v3(same[i], 8, 8, 3, shape, &c, NULL), CUBED_OK);
        assert_int_equal(cb_codec_chain_print_v3(&c, &out, NULL), CUBED_OK);
        if (!json_equal(in, out)) fail_msg("%s is written otherwise", same[i]);
        json_decref(in);
        json_decref(out);
    }
}

static void test_v2_there_and_back(void **state)
{
    static const struct {
        size_t item;
        const char *in, *out;
    } cases[] = {
        {4, "null", "null"},
        {4, "{\"id\": \"zlib\", \"level\": 1}", "{\"id\": \"zlib\", \"level\": 1}"},
        {4, "{\"id\": \"gzip\", \"level\": 9}", "{\"id\": \"gzip\", \"level\": 9}"},
        {4, "{\"id\": \"lz4\"}", "{\"id\": \"lz4\", \"acceleration\": 1}"},
        {4, "{\"id\": \"bz2\", \"level\": 5}", "{\"id\": \"bz2\", \"level\": 5}"},
        {4, "{\"id\": \"zstd\", \"level\": 0}", "{\"id\": \"zstd\", \"level\": 0}"},
        {4,
         "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 2, \"blocksize\": 0}",
         "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 2, \"blocksize\": "
         "0}"},
        /* The automatic choice: bit shuffle for bytes, byte shuffle otherwise. */
        {4, "{\"id\": \"blosc\", \"cname\": \"lz4hc\", \"shuffle\": -1}",
         "{\"id\": \"blosc\", \"cname\": \"lz4hc\", \"clevel\": 5, \"shuffle\": 1, \"blocksize\": "
         "0}"},
        {1, "{\"id\": \"blosc\", \"cname\": \"zlib\", \"shuffle\": -1}",
         "{\"id\": \"blosc\", \"cname\": \"zlib\", \"clevel\": 5, \"shuffle\": 2, \"blocksize\": "
         "0}"},
    };
    static const int64_t shape[2] = {40, 30};
    (void)state;
    fill(false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_codec_chain c;
        json_t *expected = json(cases[i].out), *filters, *out;
        assert_int_equal(parse_v2(cases[i].in, true, true, cases[i].item, 2, shape, &c, NULL),
                         CUBED_OK);
        assert_int_equal(cb_codec_chain_print_v2(&c, &filters, &out, NULL), CUBED_OK);
        assert_true(json_is_null(filters));
        if (!json_equal(out, expected)) fail_msg("%s is written otherwise", cases[i].in);
        json_decref(out);
        json_decref(expected);
        size_t size = encode(&c, plain, packed);
        assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
        assert_memory_equal(unpacked, plain, c.chunk_bytes);
    }
}

static void test_filters(void **state)
{
    static const int64_t two = 2;
    static const uint32_t in[2] = {0x01020304, 0x05060708};
    static const uint8_t big[8] = {1, 5, 2, 6, 3, 7, 4, 8};
    static const char text[] = "[{\"id\": \"shuffle\", \"elementsize\": 4}]";
    static const char *const compressors[] = {"null", "{\"id\": \"zlib\", \"level\": 1}"};
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    uint8_t back[8];
    (void)state;
    for (int k = 0; k < 2; k++) {
        json_t *filters = json(text), *compressor = json(compressors[k]), *f, *z;
        assert_int_equal(
            cb_codec_chain_parse_v2(
                "test",
                &(cb_codec_v2){.big_endian = true, .filters = filters, .compressor = compressor},
                &(cb_codec_array){4, 4, 1, &two, NULL, CUBED_FLOAT64, NULL}, &c, &err),
            CUBED_OK);
        cb_codec_chain_fix(&c);
        assert_int_equal(cb_codec_chain_print_v2(&c, &f, &z, &err), CUBED_OK);
        assert_true(json_equal(f, filters) && json_equal(z, compressor));
        size_t size = encode(&c, in, packed);
        if (k == 0) assert_memory_equal(packed, big, 8);
        assert_int_equal(decode(&c, packed, size, back, &err), CUBED_OK);
        assert_memory_equal(back, in, 8);
        assert_int_equal(decode(&c, packed, size - 1, back, &err), CUBED_E_FORMAT);
        json_decref(filters);
        json_decref(compressor);
        json_decref(f);
        json_decref(z);
    }
}

static void test_wrong_configurations(void **state)
{
    static const int64_t shape[2] = {4, 5};
    static const struct {
        const char *text, *says;
        cubed_status status;
    } v3[] = {
        {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [0]}}, " LITTLE "]", "2 axes",
         CUBED_E_FORMAT},
        {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [0, 2]}}, " LITTLE "]",
         "permutation", CUBED_E_FORMAT},
        {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [0, 1.0]}}, " LITTLE "]",
         "permutation", CUBED_E_FORMAT},
        {"[{\"name\": \"transpose\", \"configuration\": {\"order\": \"K\"}}, " LITTLE "]", "\"K\"",
         CUBED_E_FORMAT},
        {"[{\"name\": \"transpose\"}, " LITTLE "]", "2 axes", CUBED_E_FORMAT},
        {"[" LITTLE ", " LITTLE "]", "bytes", CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}]",
         "transpose", CUBED_E_FORMAT},
        {"[{\"name\": \"gzip\"}, " LITTLE "]", "gzip", CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"gzip\", \"configuration\": [1]}]", "not an object",
         CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"gzip\", \"configuration\": {\"level\": \"1\"}}]", "level",
         CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"zstd\", \"configuration\": {\"level\": 23}}]", "23",
         CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 0}}]",
         "\"level\" is 0", CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"numcodecs.lz4\", \"configuration\": {\"acceleration\": "
         "2147483648}}]",
         "2147483648", CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"\"}}]", "lz4hc",
         CUBED_E_UNSUPPORTED},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz\"}}]", "\"lz\"",
         CUBED_E_UNSUPPORTED},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"cname\": 4}}]", "cname",
         CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"shuffle\": \"byte\"}}]",
         "\"byte\"", CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"typesize\": 256}}]", "256",
         CUBED_E_FORMAT},
        {"[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"blocksize\": -1}}]", "-1",
         CUBED_E_FORMAT},
        {"[7]", "name", CUBED_E_FORMAT},
        {"[" LITTLE ", \"sharding_indexed\"]", "sharding_indexed", CUBED_E_FORMAT},
        {"[" LITTLE ", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]",
         "20 codecs", CUBED_E_UNSUPPORTED},
    };
    cb_codec_chain c;
    (void)state;
    for (size_t i = 0; i < sizeof v3 / sizeof *v3; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        if (parse_v3(v3[i].text, 8, 8, 2, shape, &c, &err) != v3[i].status)
            fail_msg("%s: %s", v3[i].text, err.message);
        if (!strstr(err.message, v3[i].says)) fail_msg("%s: %s", v3[i].text, err.message);
        assert_memory_equal(err.message, "test", 4);
    }
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(parse_v2("{\"id\": \"jpeg2k\"}", false, false, 8, 2, shape, &c, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "jpeg2k"));
    assert_int_equal(parse_v2("{\"level\": 1}", false, false, 8, 2, shape, &c, &err),
                     CUBED_E_FORMAT);
    json_t *filters = json("[{\"id\": \"shuffle\"}, {\"id\": \"vlen\"}]");
    assert_int_equal(cb_codec_chain_parse_v2(
                         "test", &(cb_codec_v2){.filters = filters},
                         &(cb_codec_array){8, 8, 2, shape, NULL, CUBED_FLOAT64, NULL}, &c, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "filter \"vlen\""));
    json_decref(filters);
}

/* Sizes that no library supports are refused before any allocation. */
static void test_huge_chunks(void **state)
{
    static const int64_t two_gib[2] = {1 << 16, 1 << 15}, four_gib[2] = {1 << 16, 1 << 16};
    static const int64_t absurd[2] = {INT64_MAX, 2}, large[2] = {INT64_MAX / 8, 1};
    cb_codec_chain c;
    (void)state;
    assert_int_equal(parse_v3("[\"bytes\", {\"name\": \"blosc\"}]", 1, 1, 2, two_gib, &c, NULL),
                     CUBED_E_FORMAT);
    assert_int_equal(parse_v3("[\"bytes\", \"gzip\"]", 1, 1, 2, two_gib, &c, NULL), CUBED_OK);
    assert_int_equal(parse_v3("[\"bytes\", \"gzip\"]", 1, 1, 2, four_gib, &c, NULL),
                     CUBED_E_FORMAT);
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.lz4\"]", 1, 1, 2, two_gib, &c, NULL),
                     CUBED_E_FORMAT);
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.bz2\"]", 1, 1, 2, two_gib, &c, NULL),
                     CUBED_OK);
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.bz2\"]", 1, 1, 2, four_gib, &c, NULL),
                     CUBED_E_FORMAT);
    assert_int_equal(parse_v3("[\"bytes\", \"zstd\"]", 1, 1, 2, four_gib, &c, NULL), CUBED_OK);
    assert_true(cb_codec_chain_bound(&c) > (size_t)1 << 32);
    assert_int_equal(parse_v3("[\"bytes\"]", 1, 1, 2, absurd, &c, NULL), CUBED_E_FORMAT);
    assert_int_equal(parse_v3("[" LITTLE "]", 16, 8, 2, large, &c, NULL), CUBED_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_order),        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_order_f),           cmocka_unit_test(test_crc32c),
        cmocka_unit_test(test_v3_there_and_back), cmocka_unit_test(test_v2_there_and_back),
        cmocka_unit_test(test_filters),           cmocka_unit_test(test_wrong_configurations),
        cmocka_unit_test(test_huge_chunks),       cmocka_unit_test(test_bitround_of_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
