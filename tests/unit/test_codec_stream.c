/* Streams of encoded chunks: read in pieces of any size, they give the bytes of decoding as a whole, and damage is an error. */
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
#include "base/error.h"
#include "base/json.h"
#include "codec/stream.h"

enum { N = 200000, ITEM = 8 };

static uint8_t plain[N], packed[3 * N + 4096], out[N + 1];

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 1;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % below;
}

static void parse(const char *codecs, cb_codec_chain *c)
{
    char text[512];
    json_t *doc;
    int64_t shape = N / ITEM;
    cb_codec_array array = {ITEM, ITEM, 1, &shape, NULL, CUBED_FLOAT64, NULL};
    snprintf(text, sizeof text,
             "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, %s]", codecs);
    assert_int_equal(cb_json_parse("test", text, strlen(text), &doc, NULL), CUBED_OK);
    assert_int_equal(cb_codec_chain_parse_v3("test", doc, &array, c, NULL), CUBED_OK);
    json_decref(doc);
    cb_codec_chain_fix(c);
}

static cb_arena *new_arena(cb_need need)
{
    cb_arena *a;
    assert_int_equal(cb_arena_new(&cb_system_allocator, need, &a, NULL), CUBED_OK);
    return a;
}

typedef struct source {
    size_t size, at, most;
} source;

static cubed_status read_source(void *ctx, void *dst, size_t cap, size_t *got, cubed_error *err)
{
    source *s = ctx;
    size_t n = s->size - s->at;
    (void)err;
    if (n > cap) n = cap;
    if (n > s->most) n = 1 + draw((uint32_t)s->most);
    memcpy(dst, packed + s->at, n);
    s->at += n;
    *got = n;
    return CUBED_OK;
}

/* Reads a stream of `size` encoded bytes to its end, at most `most` bytes at a time. */
static cubed_status read_all(const cb_codec_chain *c, size_t size, size_t most, size_t *came)
{
    cb_arena *arena = new_arena(cb_codec_stream_need(c, c->all));
    source from = {size, 0, most};
    cb_codec_stream s;
    cubed_error err = CUBED_ERROR_INIT;
    size_t got = 1;
    *came = 0;
    cubed_status st = cb_codec_stream_open(c, c->all, read_source, &from, arena, &s, &err);
    while (st == CUBED_OK && got > 0 && *came <= N) {
        size_t room = sizeof out - *came;
        if (room > most) room = 1 + draw((uint32_t)most);
        st = cb_codec_stream_read(&s, out + *came, room, &got, &err);
        if (st == CUBED_OK) *came += got;
    }
    if (st != CUBED_OK) assert_true(err.message[0]);
    cb_arena_free(arena);
    return st;
}

static size_t encode(const cb_codec_chain *c)
{
    size_t size;
    cubed_error err = CUBED_ERROR_INIT;
    cb_arena *arena = new_arena(cb_codec_chain_encode_need(c));
    assert_true(cb_codec_chain_bound(c) <= sizeof packed);
    if (cb_codec_chain_encode(c, plain, NULL, packed, &size, arena, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cb_arena_free(arena);
    return size;
}

/* Noise, or runs and repetitions near and far. */
static void make_plain(int kind)
{
    for (size_t i = 0; i < N; i++) {
        if (kind == 0)
            plain[i] = (uint8_t)draw(256);
        else if (kind == 1 || i < 70000)
            plain[i] = (uint8_t)(draw(100) == 0 ? draw(256) : i % 13);
        else
            plain[i] =
                draw(200) == 0 ? (uint8_t)draw(256) : plain[i - 65535 + (size_t)draw(3) * 40];
    }
}

static const struct {
    const char *codecs;
    bool checks; /* a change of any byte is detected */
} cases[] = {
    {"{\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": true}}", true},
    {"{\"name\": \"zstd\", \"configuration\": {\"level\": 19, \"checksum\": false}}", false},
    {"{\"name\": \"gzip\", \"configuration\": {\"level\": 1}}", true},
    {"{\"name\": \"numcodecs.zlib\"}", true},
    {"{\"name\": \"numcodecs.lz4\"}", false},
    {"{\"name\": \"crc32c\"}", true},
    {"{\"name\": \"numcodecs.crc32\"}", true},
    {"{\"name\": \"numcodecs.adler32\"}", true},
    {"{\"name\": \"numcodecs.fletcher32\"}", true},
    {"{\"name\": \"numcodecs.lz4\"}, {\"name\": \"numcodecs.fletcher32\"}, {\"name\": \"crc32c\"}",
     true},
};

static void test_streams_are_what_was_encoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_codec_chain c;
        cb_codec_layout layout;
        parse(cases[i].codecs, &c);
        assert_true(cb_codec_part_streams(&c, c.all, &layout));
        for (int kind = 0; kind < 3; kind++) {
            make_plain(kind);
            const size_t size = encode(&c);
            for (size_t most = 1 << 20; most > 0; most /= most > 7 ? 64 : 8) {
                size_t came;
                if (read_all(&c, size, most, &came) != CUBED_OK)
                    fail_msg("%s: pieces of at most %zu bytes fail", cases[i].codecs, most);
                assert_int_equal(came, N);
                assert_memory_equal(out, plain, N);
            }
        }
    }
}

static void test_damage_is_found(void **state)
{
    (void)state;
    make_plain(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_codec_chain c;
        size_t came;
        parse(cases[i].codecs, &c);
        const size_t size = encode(&c);
        for (int k = 0; k < 50; k++) {
            /* Some checksums are right by chance for one byte in 2^32. */
            if (read_all(&c, k == 0 ? size - 1 : draw((uint32_t)size), 4096, &came) == CUBED_OK)
                fail_msg("%s: truncated, and read", cases[i].codecs);
            const size_t at = draw((uint32_t)size);
            packed[at] ^= 1;
            const cubed_status st = read_all(&c, size, 4096, &came);
            packed[at] ^= 1;
            /* More than N bytes are an error for the reader. */
            if (cases[i].checks && st == CUBED_OK && came <= N && memcmp(out, plain, came) != 0)
                fail_msg("%s: byte %zu differs, and it is read", cases[i].codecs, at);
        }
        packed[size] = 1;
        if (read_all(&c, size + 1, 4096, &came) == CUBED_OK && came == N)
            fail_msg("%s: a byte behind the end is not found", cases[i].codecs);
    }
}

/* These codecs cannot decode a stream, or need all bytes at once. */
static void test_other_chains_do_not_stream(void **state)
{
    static const char *const others[] = {
        "{\"name\": \"numcodecs.bz2\"}",
        "{\"name\": \"blosc\"}",
        ("{\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": false}}, {\"name\": "
         "\"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 8}}"),
        "{\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 3}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cb_codec_chain c;
        cb_codec_layout layout;
        parse(others[i], &c);
        assert_false(cb_codec_part_streams(&c, c.all, &layout));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_what_was_encoded),
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_other_chains_do_not_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
