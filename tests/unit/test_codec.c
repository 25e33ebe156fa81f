/* Every codec: encodes and decodes in its declared memory; and damaged bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

static const char *const chains[] = {
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]",
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 0, 1]}}, "
    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"zstd\", \"configuration\": {\"level\": 1}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"zstd\", \"configuration\": {\"level\": 19, \"checksum\": true}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"gzip\", \"configuration\": {\"level\": 9}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 1}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"numcodecs.lz4\", \"configuration\": {\"acceleration\": 3}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 1}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 9}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 8}}, "
    "{\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"crc32c\"}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": "
    "\"shuffle\"}}]",
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"blosc\", \"configuration\": {\"cname\": \"zstd\", \"clevel\": 9, \"shuffle\": "
    "\"bitshuffle\"}}, {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}, "
    "{\"name\": \"crc32c\"}]",
};
enum { NCHAINS = (int)(sizeof chains / sizeof *chains) };

static cubed_status parse(const char *text, const int64_t *shape, cb_codec_chain *c)
{
    json_t *doc;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cb_json_parse("test", text, strlen(text), &doc, &err);
    if (st != CUBED_OK) return st;
    st = cb_codec_chain_parse_v3(
        "test", doc, &(cb_codec_array){8, 8, 3, shape, NULL, CUBED_FLOAT64, NULL}, c, &err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

/* Fills `data` with noise, or with compressible numbers. */
static void make_data(uint64_t *data, size_t n, bool noise)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        data[i] = noise ? x : i / 7;
    }
}

static void test_round_trips(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {33, 1, 40}, {64, 64, 33}};
    for (int k = 0; k < NCHAINS; k++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            cb_codec_chain c;
            cubed_error err = CUBED_ERROR_INIT;
            cb_arena *enc, *dec;
            assert_int_equal(parse(chains[k], shapes[s], &c), CUBED_OK);
            size_t n = c.chunk_bytes / 8, got;
            uint64_t *data = malloc(n * 8 + 8), *back = malloc(n * 8 + 8);
            void *bytes = malloc(cb_codec_chain_bound(&c) + 8);
            assert_int_equal(
                cb_arena_new(&cb_system_allocator, cb_codec_chain_encode_need(&c), &enc, NULL),
                CUBED_OK);
            assert_int_equal(
                cb_arena_new(&cb_system_allocator, cb_codec_chain_decode_need(&c), &dec, NULL),
                CUBED_OK);
            for (int noise = 0; noise < 2; noise++) {
                make_data(data, n, noise);
                memset(back, 0xAB, n * 8);
                if (cb_codec_chain_encode(&c, data, NULL, bytes, &got, enc, &err) != CUBED_OK)
                    fail_msg("%s: %s", chains[k], err.message);
                assert_true(got <= cb_codec_chain_bound(&c));
                if (cb_codec_chain_decode(&c, bytes, got, back, dec, &err) != CUBED_OK)
                    fail_msg("%s: %s", chains[k], err.message);
                assert_memory_equal(data, back, n * 8);
                assert_int_equal(cb_arena_mark(dec), 0);
            }
            cb_arena_free(enc);
            cb_arena_free(dec);
            free(data);
            free(back);
            free(bytes);
        }
    }
}

/* Truncated bytes and flipped bits give an error or some data, never a crash (sanitizers check). */
static void test_damage(void **state)
{
    (void)state;
    static const int64_t shape[3] = {6, 7, 8};
    for (int k = 0; k < NCHAINS; k++) {
        cb_codec_chain c;
        cb_arena *enc, *dec;
        size_t got;
        assert_int_equal(parse(chains[k], shape, &c), CUBED_OK);
        uint64_t data[6 * 7 * 8], back[6 * 7 * 8];
        size_t bound = cb_codec_chain_bound(&c);
        uint8_t *bytes = malloc(bound);
        assert_int_equal(
            cb_arena_new(&cb_system_allocator, cb_codec_chain_encode_need(&c), &enc, NULL),
            CUBED_OK);
        assert_int_equal(
            cb_arena_new(&cb_system_allocator, cb_codec_chain_decode_need(&c), &dec, NULL),
            CUBED_OK);
        make_data(data, sizeof data / sizeof *data, false);
        assert_int_equal(cb_codec_chain_encode(&c, data, NULL, bytes, &got, enc, NULL), CUBED_OK);
        for (size_t n = 0; n < got; n += 1 + got / 97)
            assert_int_not_equal(cb_codec_chain_decode(&c, bytes, n, back, dec, NULL), CUBED_OK);
        for (size_t bit = 0; bit < 8 * got; bit += 1 + got / 61) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cubed_status st = cb_codec_chain_decode(&c, bytes, got, back, dec, NULL);
            if (strstr(chains[k], "crc32c")) assert_int_equal(st, CUBED_E_FORMAT);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(cb_codec_chain_decode(&c, bytes, got, back, dec, NULL), CUBED_OK);
        assert_memory_equal(data, back, sizeof data);
        cb_arena_free(enc);
        cb_arena_free(dec);
        free(bytes);
    }
}

static void test_wrong_chains(void **state)
{
    (void)state;
    static const int64_t shape[3] = {2, 2, 2};
    static const struct {
        const char *text;
        cubed_status status;
    } wrong[] = {
        {"{}", CUBED_E_FORMAT},
        {"[]", CUBED_E_FORMAT},
        {"[{\"name\": \"bytes\"}]", CUBED_E_FORMAT},
        {"[{\"name\": \"zstd\"}]", CUBED_E_FORMAT},
        {"[{\"name\": \"lzma\"}]", CUBED_E_UNSUPPORTED},
        {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [0, 0, 1]}}]", CUBED_E_FORMAT},
        {"[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"middle\"}}]", CUBED_E_FORMAT},
        {"[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
         "\"gzip\", \"configuration\": {\"level\": 12}}]",
         CUBED_E_FORMAT},
        {"[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
         "\"blosc\", \"configuration\": {\"cname\": \"rar\"}}]",
         CUBED_E_UNSUPPORTED},
#ifndef CB_HAVE_LZMA
        {"[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, \"numcodecs.lzma\"]",
         CUBED_E_UNSUPPORTED},
#endif
#ifndef CB_HAVE_ZFP
        {"[\"numcodecs.zfpy\"]", CUBED_E_UNSUPPORTED},
#endif
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cb_codec_chain c;
        assert_int_equal(parse(wrong[i].text, shape, &c), wrong[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
