/* Decoding of ranges, compared with decoding of the whole chunk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <blosc.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/le.h"
#include "codec/blosc_parts.h"
#include "codec/codec.h"

enum { N = 100040, ITEM = 8 }; /* N is such that chunks end with a short block for any block size */

static uint8_t plain[N], out[N], packed[N + BLOSC_MAX_OVERHEAD], parts[sizeof packed];
static uint8_t kept[sizeof packed];

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 1;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % below;
}

static void parse(const char *codec, cb_codec_chain *c)
{
    char text[512];
    json_t *doc;
    int64_t shape = N / ITEM;
    cb_codec_array array = {ITEM, ITEM, 1, &shape, NULL, CUBED_FLOAT64, NULL};
    snprintf(text, sizeof text,
             "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, %s]", codec);
    assert_int_equal(cb_json_parse("test", text, strlen(text), &doc, NULL), CUBED_OK);
    assert_int_equal(cb_codec_chain_parse_v3("test", doc, &array, c, NULL), CUBED_OK);
    json_decref(doc);
    cb_codec_chain_fix(c);
}

static cb_arena *range_arena(const cb_codec_chain *c)
{
    cb_arena *a;
    cb_need need = cb_codec_range_need(cb_codec_chain_ranged(c));
    assert_int_equal(cb_arena_new(&cb_system_allocator, need, &a, NULL), CUBED_OK);
    return a;
}

/* Copies the located parts of an encoded chunk to `to`; returns their size. */
static size_t take_parts(const uint8_t *encoded, const cubed_codec_extent *x, uint8_t *to)
{
    assert_true(x->head <= x->lo && x->lo <= x->hi && x->hi <= x->total);
    memcpy(to, encoded, x->head);
    memcpy(to + x->head, encoded + x->lo, x->hi - x->lo);
    return x->head + (x->hi - x->lo);
}

#define BLOSC "{\"name\": \"blosc\", \"configuration\": {\"cname\": \"zstd\"}}"

static void test_every_kind_of_buffer(void **state)
{
    static const char *const inner[] = {"lz4", "zstd", "blosclz", "zlib"};
    static const size_t blocks[] = {0, 1024, 4096, 30000, 1 << 20};
    cb_codec_chain c;
    (void)state;
    parse(BLOSC, &c);
    const cb_codec_step *step = cb_codec_chain_ranged(&c);
    cb_arena *scratch = range_arena(&c);
    for (int k = 0; k < 4 * 5 * 3 * 2; k++) {
        int shuffle = k / 20 % 3, level = k / 60 ? 5 : 0; /* level 0 stores uncompressed bytes */
        for (size_t i = 0; i < N; i++) plain[i] = (uint8_t)(i % 64 == 0 ? draw(256) : i / 999);
        int n = blosc_compress_ctx(level, shuffle, ITEM, N, plain, packed, sizeof packed,
                                   inner[k % 4], blocks[k / 4 % 5], 1);
        assert_true(n > 0);
        for (int t = 0; t < 40; t++) {
            size_t from = draw(N), size = t % 4 ? draw((uint32_t)(N - from)) + 1 : N - from;
            cubed_error err = CUBED_ERROR_INIT;
            cubed_codec_extent x;
            memset(out, 0xAA, sizeof out);
            if (cb_codec_range_locate(step, packed, (size_t)n, from, size, &x, &err) != CUBED_OK)
                fail_msg("%s", err.message);
            const size_t taken = take_parts(packed, &x, parts);
            memcpy(kept, parts, taken);
            if (cb_codec_runs_decode(step, parts, &x, &(cubed_range){from, size}, 1, out, scratch,
                                     &err) != CUBED_OK)
                fail_msg("%s", err.message);
            assert_memory_equal(out, plain + from, size);
            assert_true(size == N || out[size] == 0xAA);
            assert_memory_equal(kept, parts, taken);
        }
    }
    cb_arena_free(scratch);
}

/* Draws ascending runs that do not overlap, one element or more each; returns their number. */
static size_t draw_runs(cubed_range *runs, size_t most, size_t item)
{
    const size_t gap = draw(2) ? 40 : 3000, length = draw(2) ? 1 : 700;
    size_t n = 0;
    for (size_t at = draw(N / ITEM); n < most;) {
        const size_t size = item * (1 + draw((uint32_t)length));
        if (at * item >= N || size > N - at * item) break;
        runs[n++] = (cubed_range){at * item, size};
        at += size / item + draw((uint32_t)gap);
    }
    return n;
}

/* Elements whose size differs from that of the codec's, many runs in a block, and runs across blocks. */
static void test_runs(void **state)
{
    static const char *const inner[] = {"lz4", "lz4hc", "zstd", "blosclz"};
    static const size_t typesizes[] = {1, 2, 3, 4, 8, 12, 17, 255}, items[] = {1, 2, 8};
    static const size_t blocks[] = {0, 128, 1000, 4096, 30000};
    cb_codec_chain c;
    size_t decoded = 0;
    (void)state;
    parse(BLOSC, &c);
    const cb_codec_step *step = cb_codec_chain_ranged(&c);
    cb_arena *scratch = range_arena(&c);
    for (int k = 0; k < 4 * 8 * 5 * 3; k++) {
        for (size_t i = 0; i < N; i++)
            plain[i] = (uint8_t)(i % 8 < 3 && k % 7 ? draw(256) : i / 999);
        const int n = blosc_compress_ctx(5, k / 160, typesizes[k / 4 % 8], N, plain, packed,
                                         sizeof packed, inner[k % 4], blocks[k / 32 % 5], 1);
        assert_true(n > 0);
        for (int t = 0; t < 12; t++) {
            cubed_range runs[500];
            cubed_error err = CUBED_ERROR_INIT;
            cubed_codec_extent x;
            const size_t many = draw_runs(runs, t ? 500 : 1, items[t % 3]);
            if (many == 0) continue;
            const size_t from = runs[0].offset, end = runs[many - 1].offset + runs[many - 1].size;
            if (cb_codec_range_locate(step, packed, (size_t)n, from, end - from, &x, &err) !=
                CUBED_OK)
                fail_msg("%s", err.message);
            const size_t taken = take_parts(packed, &x, parts);
            memcpy(kept, parts, taken);
            memset(out, 0xAA, sizeof out);
            if (cb_codec_runs_decode(step, parts, &x, runs, many, out, scratch, &err) != CUBED_OK)
                fail_msg("%s", err.message);
            const uint8_t *got = out;
            for (size_t i = 0; i < many; i++) {
                assert_memory_equal(got, plain + runs[i].offset, runs[i].size);
                got += runs[i].size;
            }
            assert_true(got == out + N || *got == 0xAA);
            assert_memory_equal(kept, parts, taken);
            decoded += many;
        }
    }
    assert_true(decoded > 10000);
    cb_arena_free(scratch);
}

/* Writes an LZ4 stream of `size` bytes: literals, a match with offset 1, and literals. LZ4 itself ends with 5 literals or more.
 * Returns the encoded size. */
static int put_run(uint8_t *to, size_t literals, size_t last, size_t size)
{
    uint8_t *at = to;
    size_t left = size - literals - last - 4 - 15;
    *at++ = (uint8_t)(literals << 4 | 15);
    for (size_t i = 0; i < literals; i++) *at++ = (uint8_t)draw(256);
    *at++ = 1;
    *at++ = 0;
    for (; left >= 255; left -= 255) *at++ = 255;
    *at++ = (uint8_t)left;
    *at++ = (uint8_t)(last << 4);
    for (size_t i = 0; i < last; i++) *at++ = (uint8_t)draw(256);
    return (int)(at - to);
}

/* Streams that repeat one byte, except a few bytes at both ends, and damaged ones. They have a decoder of their own, whose results
 * must be those of LZ4. */
static void test_streams_of_one_byte(void **state)
{
    enum { SIZE = 4096, ENTRY = 4, SHRANK = SIZE / 32 };
    static uint8_t expected[SIZE], buffer[SIZE];
    int decoded = 0, refused = 0;
    (void)state;
    for (int k = 0; k < 20000; k++) {
        memset(plain, (int)draw(256), SIZE);
        for (uint32_t i = draw(20); i > 0; i--) plain[i - 1] = (uint8_t)draw(256);
        for (uint32_t i = draw(20); i > 0; i--) plain[SIZE - i] = (uint8_t)draw(256);
        const int n = k % 3 ? LZ4_compress_default((const char *)plain, (char *)packed + ENTRY,
                                                   SIZE, (int)sizeof packed - ENTRY)
                            : put_run(packed + ENTRY, draw(16), draw(16), SIZE);
        assert_true(n > 0 && n < SHRANK);
        cb_le_put(packed, (uint64_t)n, ENTRY);
        if (k % 2) packed[ENTRY + draw(k % 4 == 1 ? 24 : (uint32_t)n)] = (uint8_t)draw(256);
        if (k % 5 == 1) packed[ENTRY + n - 1 - (int)draw(20)] = (uint8_t)draw(256);
        memset(expected, 0xAA, sizeof expected);
        const int got =
            LZ4_decompress_safe((const char *)packed + ENTRY, (char *)expected, n, SIZE);
        const uint32_t from = draw(8) ? draw(SIZE) : draw(24);
        const cubed_range run = {from, 1 + draw(SIZE - from)};
        const cb_blosc_block b = {packed, ENTRY + (size_t)n, 0, SIZE, 1, 1};
        cb_blosc_cursor c = {&run, 1, 0, out};
        memset(out, 0xAA, SIZE + 1);
        const bool ok = cb_blosc_copy_parts(&b, &c, buffer);
        assert_int_equal(ok, got >= (int)(run.offset + run.size));
        if (ok) assert_memory_equal(out, expected + run.offset, run.size);
        assert_int_equal(out[run.size], 0xAA);
        decoded += ok;
        refused += !ok;
    }
    assert_true(decoded > 10000 && refused > 1000);
}

/* Blocks in another order, as several threads of a writer store them. */
static size_t swap_blocks(uint8_t *p, size_t size)
{
    uint32_t block, first, second, third, at[2];
    uint8_t copy[sizeof packed];
    memcpy(copy, p, size);
    memcpy(&block, p + 8, 4);
    size_t n = (N + block - 1) / block;
    if (p[2] & 2 || n < 3) return size;
    memcpy(&first, p + 16, 4);
    memcpy(&second, p + 20, 4);
    memcpy(&third, p + 24, 4);
    at[1] = first;
    at[0] = first + (third - second);
    memcpy(p + at[1], copy + second, third - second);
    memcpy(p + at[0], copy + first, second - first);
    memcpy(p + 16, at, 8);
    return size;
}

/* Decodes each block alone, from the located bytes only. */
static void test_block_by_block(void **state)
{
    cb_codec_chain c;
    (void)state;
    parse(BLOSC, &c);
    const cb_codec_step *step = cb_codec_chain_ranged(&c);
    const size_t bound = cb_codec_block_bound(step);
    cb_arena *scratch = range_arena(&c);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < N; i++) plain[i] = (uint8_t)(i % 16 == 0 ? draw(256) : i / 999);
        int n = blosc_compress_ctx(k == 2 ? 0 : 5, 1, ITEM, N, plain, packed, sizeof packed,
                                   k == 1 ? "zstd" : "lz4", k == 1 ? 30000 : 4096, 1);
        size_t blocks = 0;
        assert_true(n > 0);
        for (size_t at = 0; at < N; blocks++) {
            cubed_codec_extent x, y;
            assert_int_equal(cb_codec_range_locate(step, packed, (size_t)n, at, 1, &x, NULL),
                             CUBED_OK);
            assert_true(x.from == at && x.size > 0 && x.size <= bound);
            assert_int_equal(
                cb_codec_range_locate(step, packed, (size_t)n, at + x.size - 1, 1, &y, NULL),
                CUBED_OK);
            assert_true(y.from == x.from && y.size == x.size);
            assert_int_equal(
                cb_codec_range_locate(step, packed, (size_t)n, x.from, x.size, &y, NULL), CUBED_OK);
            (void)take_parts(packed, &y, parts);
            assert_int_equal(cb_codec_runs_decode(step, parts, &y, &(cubed_range){x.from, x.size},
                                                  1, out, scratch, NULL),
                             CUBED_OK);
            assert_memory_equal(out, plain + at, x.size);
            at += x.size;
        }
        assert_true(blocks > 1 || k == 2);
    }
    cb_arena_free(scratch);
}

/* Decoding a range needs only the located bytes. */
static void test_located_bytes_are_enough(void **state)
{
    static uint8_t sparse[sizeof packed];
    cb_codec_chain c;
    (void)state;
    parse(BLOSC, &c);
    const cb_codec_step *step = cb_codec_chain_ranged(&c);
    cb_arena *scratch = range_arena(&c);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < N; i++) plain[i] = (uint8_t)(i % 16 == 0 ? draw(256) : i / 999);
        int n = blosc_compress_ctx(k == 3 ? 0 : 5, 1, ITEM, N, plain, packed, sizeof packed, "lz4",
                                   k == 1 ? 30000 : 4096, 1);
        assert_true(n > 0);
        size_t total = swap_blocks(packed, (size_t)n);
        for (int t = 0; t < 50; t++) {
            size_t from = draw(N), size = draw((uint32_t)(N - from)) + 1, head = 0;
            cubed_codec_extent x;
            do {
                memset(sparse, 0xEE, sizeof sparse);
                memcpy(sparse, packed, head);
                assert_int_equal(cb_codec_range_locate(step, sparse, head, from, size, &x, NULL),
                                 CUBED_OK);
                if (x.head <= head) break;
                head = x.head;
            } while (head <= total);
            assert_int_equal(x.total, total);
            assert_true(x.lo < x.hi && x.hi <= total);
            memset(sparse, 0xEE, sizeof sparse);
            (void)take_parts(packed, &x, sparse);
            assert_int_equal(cb_codec_runs_decode(step, sparse, &x, &(cubed_range){from, size}, 1,
                                                  out, scratch, NULL),
                             CUBED_OK);
            assert_memory_equal(out, plain + from, size);
        }
    }
    cb_arena_free(scratch);
}

/* The result is right or an error, and never exceeds the buffers; sanitizers check. */
static void test_damaged_buffers(void **state)
{
    cb_codec_chain c;
    (void)state;
    parse(BLOSC, &c);
    cb_arena *scratch = range_arena(&c);
    for (size_t i = 0; i < N; i++) plain[i] = (uint8_t)(i % 16 == 0 ? draw(256) : i / 999);
    int n = blosc_compress_ctx(5, 1, ITEM, N, plain, kept, sizeof kept, "lz4", 4096, 1);
    assert_true(n > 0);
    int decoded = 0;
    for (int t = 0; t < 4000; t++) {
        size_t have = t % 5 ? (size_t)n : draw((uint32_t)n + 1), from = draw(N);
        size_t want = draw((uint32_t)(N - from)) + 1;
        uint8_t *copy = malloc(have + 1), *dst = malloc(want), *taken = NULL;
        assert_non_null(copy);
        assert_non_null(dst);
        memcpy(copy, kept, have);
        /* Most flipped bits are in the header and in the table of offsets. */
        for (uint32_t flips = draw(4); flips && have; flips--)
            copy[draw(t % 2 ? (uint32_t)cb_min_size(have, 120) : (uint32_t)have)] ^=
                (uint8_t)(1u << draw(8));
        cubed_codec_extent x;
        cubed_status located =
            cb_codec_range_locate(cb_codec_chain_ranged(&c), copy, have, from, want, &x, NULL);
        assert_true(located != CUBED_OK || (x.lo <= x.total && x.hi <= x.total));
        if (located == CUBED_OK && x.head <= have && x.hi <= have) {
            taken = malloc(x.head + x.hi - x.lo);
            assert_non_null(taken);
            (void)take_parts(copy, &x, taken);
            const cubed_range run = {from, want};
            cubed_status st = cb_codec_runs_decode(cb_codec_chain_ranged(&c), taken, &x, &run, 1,
                                                   dst, scratch, NULL);
            assert_true(st == CUBED_OK || st == CUBED_E_FORMAT || st == CUBED_E_BUDGET);
            decoded++;
        }
        free(taken);
        free(copy);
        free(dst);
    }
    assert_true(decoded > 1000);
    cb_arena_free(scratch);
}

static void test_only_one_step_has_ranges(void **state)
{
    cb_codec_chain c;
    (void)state;
    parse(BLOSC, &c);
    assert_non_null(cb_codec_chain_ranged(&c));
    parse(BLOSC ", {\"name\": \"crc32c\"}", &c);
    assert_null(cb_codec_chain_ranged(&c));
    parse("{\"name\": \"gzip\", \"configuration\": {\"level\": 1}}", &c);
    assert_null(cb_codec_chain_ranged(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_buffer),     cmocka_unit_test(test_runs),
        cmocka_unit_test(test_streams_of_one_byte),      cmocka_unit_test(test_block_by_block),
        cmocka_unit_test(test_located_bytes_are_enough), cmocka_unit_test(test_damaged_buffers),
        cmocka_unit_test(test_only_one_step_has_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
