/* Makes codec chains from text, and passes a chunk through them: for tests. */
#ifndef CB_TESTS_CODEC_TEST_H
#define CB_TESTS_CODEC_TEST_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"

static inline json_t *json(const char *text)
{
    json_t *doc;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_json_parse("test", text, strlen(text), &doc, &err) != CUBED_OK) fail_msg("%s", text);
    return doc;
}

static inline cubed_status parse_v3(const char *text, size_t item, size_t unit, int ndim,
                                    const int64_t *shape, cb_codec_chain *c, cubed_error *err)
{
    json_t *doc = json(text);
    cubed_status st = cb_codec_chain_parse_v3(
        "test", doc, &(cb_codec_array){item, unit, ndim, shape, NULL, CUBED_FLOAT64, NULL}, c, err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

static inline cubed_status parse_v2(const char *compressor, bool big, bool f, size_t item, int ndim,
                                    const int64_t *shape, cb_codec_chain *c, cubed_error *err)
{
    json_t *doc = json(compressor);
    cubed_status st = cb_codec_chain_parse_v2(
        "test", &(cb_codec_v2){.big_endian = big, .order_f = f, .compressor = doc},
        &(cb_codec_array){item, item, ndim, shape, NULL, CUBED_FLOAT64, NULL}, c, err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

static inline size_t encode(const cb_codec_chain *c, const void *src, void *dst)
{
    cb_arena *scratch;
    cubed_error err = CUBED_ERROR_INIT;
    size_t got = 0;
    cubed_status st =
        cb_arena_new(&cb_system_allocator, cb_codec_chain_encode_need(c), &scratch, &err);
    assert_int_equal(st, CUBED_OK);
    st = cb_codec_chain_encode(c, src, NULL, dst, &got, scratch, &err);
    cb_arena_free(scratch);
    if (st != CUBED_OK) fail_msg("%s", err.message);
    return got;
}

static inline cubed_status decode(const cb_codec_chain *c, const void *src, size_t size, void *dst,
                                  cubed_error *err)
{
    cb_arena *scratch;
    cubed_status st =
        cb_arena_new(&cb_system_allocator, cb_codec_chain_decode_need(c), &scratch, err);
    assert_int_equal(st, CUBED_OK);
    st = cb_codec_chain_decode(c, src, size, dst, scratch, err);
    cb_arena_free(scratch);
    return st;
}

/* The memory has exactly the declared size, so that a sanitizer detects an overrun. */
static inline cubed_status decode_exact(const cb_codec_chain *c, const uint8_t *src, size_t size,
                                        void *dst, cubed_error *err)
{
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, src, size);
    cubed_status st = decode(c, exact, size, dst, err);
    free(exact);
    return st;
}

/* The bytes of a chunk: decoded, encoded (or written by another program), and decoded again. */
enum { N = 100000 };
static uint8_t plain[N], packed[2 * N], unpacked[N];

/* Noise, or runs of equal bytes. */
static inline void fill(bool noise)
{
    uint32_t x = 2463534242u;
    for (size_t i = 0; i < N; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        plain[i] = noise ? (uint8_t)x : (uint8_t)(i / 50);
    }
}

#endif
