/* Shards: chunks of inner chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

#define LITTLE "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define ZSTD   "{\"name\": \"zstd\", \"configuration\": {\"level\": 1}}"
#define SHARD(shape, codecs, index, where)                                                         \
    "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " shape                 \
    ", \"codecs\": [" codecs "], \"index_codecs\": [" index "], \"index_location\": \"" where      \
    "\"}}"
#define CHECKED LITTLE ", \"crc32c\""

static const int64_t shape[3] = {6, 4, 8};
enum { COUNT = 6 * 4 * 8 };

static const char *const chains[] = {
    "[" SHARD("[3, 2, 4]", LITTLE, CHECKED, "end") "]",
    "[" SHARD("[3, 2, 4]", BIG ", " ZSTD, CHECKED, "start") "]",
    "[" SHARD("[1, 2, 8]", LITTLE ", " ZSTD, LITTLE, "end") "]",
    "[" SHARD("[6, 4, 8]", LITTLE, BIG, "start") "]",
    "[" SHARD("[1, 1, 1]", LITTLE, CHECKED, "end") "]",
    "[" SHARD("[6, 2, 4]", SHARD("[2, 1, 4]", LITTLE ", " ZSTD, CHECKED, "start"), CHECKED,
              "end") "]",
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 0, 1]}}, " SHARD(
        "[4, 3, 2]", LITTLE, CHECKED, "end") ", " ZSTD "]",
    "[" SHARD("[2, 4, 2]",
              "{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 2, 0]}}, " BIG, CHECKED,
              "end") ", \"crc32c\"]",
};
enum { NCHAINS = (int)(sizeof chains / sizeof *chains) };

typedef struct fixture {
    cb_codec_chain c;
    cb_arena *enc, *dec;
    unsigned char *bytes;
    size_t size;
} fixture;

static cubed_status parse(const char *text, const double *fill, cb_codec_chain *c, cubed_error *err)
{
    json_t *doc;
    assert_int_equal(cb_json_parse("test", text, strlen(text), &doc, err), CUBED_OK);
    cb_codec_array array = {8, 8, 3, shape, fill, CUBED_FLOAT64, NULL};
    cubed_status st = cb_codec_chain_parse_v3("test", doc, &array, c, err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

static void open_chain(fixture *f, const char *text, const double *fill)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse(text, fill, &f->c, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, cb_codec_chain_encode_need(&f->c), &f->enc, NULL),
        CUBED_OK);
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, cb_codec_chain_decode_need(&f->c), &f->dec, NULL),
        CUBED_OK);
    f->bytes = malloc(cb_codec_chain_bound(&f->c));
}

static void encode(fixture *f, const double *x, const int64_t *used)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_codec_chain_encode(&f->c, x, used, f->bytes, &f->size, f->enc, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    assert_true(f->size <= cb_codec_chain_bound(&f->c));
    assert_int_equal(cb_arena_mark(f->enc), 0);
}

static cubed_status decode(fixture *f, size_t size, double *back)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cb_codec_chain_decode(&f->c, f->bytes, size, back, f->dec, &err);
    assert_true(st == CUBED_OK || (st == CUBED_E_FORMAT && err.message[0]));
    assert_int_equal(cb_arena_mark(f->dec), 0);
    return st;
}

static void close_chain(fixture *f)
{
    cb_arena_free(f->enc);
    cb_arena_free(f->dec);
    free(f->bytes);
}

static void count_up(double *x)
{
    for (int i = 0; i < COUNT; i++) x[i] = i;
}

static void test_round_trips(void **state)
{
    double x[COUNT], back[COUNT];
    (void)state;
    count_up(x);
    for (int k = 0; k < NCHAINS; k++) {
        fixture f;
        open_chain(&f, chains[k], NULL);
        encode(&f, x, NULL);
        memset(back, 0xAB, sizeof back);
        assert_int_equal(decode(&f, f.size, back), CUBED_OK);
        assert_memory_equal(x, back, sizeof x);
        json_t *printed, *expected;
        assert_int_equal(cb_codec_chain_print_v3(&f.c, &printed, NULL), CUBED_OK);
        char *text = json_dumps(printed, 0);
        fixture again;
        open_chain(&again, text, NULL);
        assert_int_equal(cb_codec_chain_print_v3(&again.c, &expected, NULL), CUBED_OK);
        assert_true(json_equal(printed, expected));
        encode(&again, x, NULL);
        assert_int_equal(again.size, f.size);
        assert_memory_equal(again.bytes, f.bytes, f.size);
        free(text);
        json_decref(printed);
        json_decref(expected);
        close_chain(&again);
        close_chain(&f);
    }
}

/* Inner chunks that are decoded separately equal the parts of the decoded shard. */
static void test_inner_chunks(void **state)
{
    double x[COUNT];
    (void)state;
    count_up(x);
    for (int k = 0; k < NCHAINS; k++) {
        fixture f;
        open_chain(&f, chains[k], NULL);
        const cb_codec_step *s = cb_codec_chain_shard(&f.c);
        /* these chains have other codecs before or after the shard */
        assert_int_equal(s == NULL, k >= 6);
        if (s) {
            encode(&f, x, NULL);
            const int64_t *inner = f.c.step[s->inner.first].shape;
            size_t bytes = cb_codec_inner_bytes(&f.c, s), index = cb_codec_index_bytes(&f.c, s);
            cb_arena *arena;
            cb_need need =
                cb_need_either(cb_codec_index_need(&f.c, s), cb_codec_inner_need(&f.c, s));
            assert_int_equal(cb_arena_new(&cb_system_allocator, need, &arena, NULL), CUBED_OK);
            double *chunk = malloc(bytes);
            uint64_t *where = malloc(cb_codec_index_numbers(s) * sizeof *where);
            const void *at = f.bytes + (s->index_in_front ? 0 : f.size - index);
            assert_int_equal(cb_codec_index_decode(&f.c, s, at, where, arena, NULL), CUBED_OK);
            for (int64_t i = 0; i < s->ninner; i++) {
                uint64_t offset, size;
                assert_int_equal(cb_codec_index_find(where, cb_codec_inner_bound(&f.c, s), f.size,
                                                     i, &offset, &size, NULL),
                                 CUBED_OK);
                assert_true(size > 0 && size <= cb_codec_inner_bound(&f.c, s));
                assert_int_equal(
                    cb_codec_inner_decode(&f.c, s, f.bytes + offset, size, chunk, arena, NULL),
                    CUBED_OK);
                int64_t n1 = shape[1] / inner[1], n2 = shape[2] / inner[2];
                int64_t c0 = i / (n1 * n2), c1 = i / n2 % n1, c2 = i % n2;
                for (size_t e = 0; e < bytes / 8; e++) {
                    int64_t at2 = (int64_t)e % inner[2], rest = (int64_t)e / inner[2];
                    int64_t at1 = rest % inner[1], at0 = rest / inner[1];
                    int64_t expected =
                        ((c0 * inner[0] + at0) * shape[1] + c1 * inner[1] + at1) * shape[2] +
                        c2 * inner[2] + at2;
                    assert_true(chunk[e] == (double)expected);
                }
            }
            free(chunk);
            free(where);
            cb_arena_free(arena);
        }
        close_chain(&f);
    }
}

static int present(const fixture *f, const cb_codec_step *s)
{
    cb_arena *arena;
    int n = 0;
    const unsigned char *at =
        f->bytes + (s->index_in_front ? 0 : f->size - cb_codec_index_bytes(&f->c, s));
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, cb_codec_index_need(&f->c, s), &arena, NULL), CUBED_OK);
    uint64_t *where = malloc(cb_codec_index_numbers(s) * sizeof *where);
    assert_int_equal(cb_codec_index_decode(&f->c, s, at, where, arena, NULL), CUBED_OK);
    for (int64_t i = 0; i < s->ninner; i++) {
        uint64_t offset, size;
        assert_int_equal(cb_codec_index_find(where, cb_codec_inner_bound(&f->c, s), f->size, i,
                                             &offset, &size, NULL),
                         CUBED_OK);
        n += size > 0;
    }
    free(where);
    cb_arena_free(arena);
    return n;
}

/* Inner chunks beyond the array are not stored. Inner chunks that contain only the fill value are not stored if the caller
 * requests that. */
static void test_left_out(void **state)
{
    static const double fill = -0.0;
    static const int64_t used[3] = {4, 4, 4};
    double x[COUNT], back[COUNT];
    (void)state;
    for (int k = 0; k < 2; k++) {
        fixture f;
        open_chain(&f, chains[k], &fill);
        const cb_codec_step *s = cb_codec_chain_shard(&f.c);
        count_up(x);
        encode(&f, x, used);
        assert_int_equal(present(&f, s), 4); /* of 2 x 2 x 2 */
        assert_int_equal(decode(&f, f.size, back), CUBED_OK);
        for (int i = 0; i < COUNT; i++) {
            double expected = i % 8 < 4 ? i : fill;
            assert_memory_equal(&back[i], &expected, 8);
        }
        for (int i = 0; i < COUNT; i++) x[i] = i == 100 ? 7 : fill;
        encode(&f, x, NULL);
        assert_int_equal(present(&f, s), 8);
        f.c.skip_empty = true;
        encode(&f, x, NULL);
        assert_int_equal(present(&f, s), 1);
        assert_int_equal(decode(&f, f.size, back), CUBED_OK);
        assert_memory_equal(x, back, sizeof x);
        /* 0 compares equal to the fill value -0, but has other bits */
        for (int i = 0; i < COUNT; i++) x[i] = 0;
        encode(&f, x, NULL);
        assert_int_equal(present(&f, s), 8);
        close_chain(&f);
    }
}

/* Truncated bytes and flipped bits are an error or other values, never more memory or a crash. */
static void test_damage(void **state)
{
    double x[COUNT], back[COUNT];
    (void)state;
    count_up(x);
    for (int k = 0; k < NCHAINS; k++) {
        fixture f;
        open_chain(&f, chains[k], NULL);
        encode(&f, x, NULL);
        for (size_t n = 0; n < f.size; n += 1 + f.size / 211)
            assert_int_equal(decode(&f, n, back), CUBED_E_FORMAT);
        for (size_t bit = 0; bit < 8 * f.size; bit += 1 + f.size / 997) {
            f.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            (void)!decode(&f, f.size, back);
            f.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        const cb_codec_step *s = cb_codec_chain_shard(&f.c);
        size_t index = s ? cb_codec_index_bytes(&f.c, s) : 0;
        /* for an index with a checksum, any change must be detected */
        for (size_t i = 0; s && s->index.n == 2 && i < index; i++) {
            unsigned char *at = f.bytes + (s->index_in_front ? 0 : f.size - index) + i;
            *at ^= 1;
            assert_int_equal(decode(&f, f.size, back), CUBED_E_FORMAT);
            *at ^= 1;
        }
        assert_int_equal(decode(&f, f.size, back), CUBED_OK);
        assert_memory_equal(x, back, sizeof x);
        close_chain(&f);
    }
}

static void test_wrong_configurations(void **state)
{
    static const struct {
        const char *text, *says;
        cubed_status status;
    } wrong[] = {
        {"[\"sharding_indexed\"]", "chunk_shape", CUBED_E_FORMAT},
        {"[" SHARD("[3, 2]", LITTLE, LITTLE, "end") "]", "2 entries, expected 3", CUBED_E_FORMAT},
        {"[" SHARD("[3, 3, 4]", LITTLE, LITTLE, "end") "]", "a divisor of 4", CUBED_E_FORMAT},
        {"[" SHARD("[3, 0, 4]", LITTLE, LITTLE, "end") "]", "chunk_shape", CUBED_E_FORMAT},
        {"[" SHARD("[12, 4, 8]", LITTLE, LITTLE, "end") "]", "a divisor of 6", CUBED_E_FORMAT},
        {"[" SHARD("[3, 2, 4]", LITTLE, LITTLE, "middle") "]", "\"middle\"", CUBED_E_FORMAT},
        {"[" SHARD("[3, 2, 4]", "", LITTLE, "end") "]",
         "\"codecs\" has no codec from arrays to bytes", CUBED_E_FORMAT},
        {"[" SHARD("[3, 2, 4]", LITTLE, "", "end") "]",
         "\"index_codecs\" has no codec from arrays to bytes", CUBED_E_FORMAT},
        {"[" SHARD("[3, 2, 4]", LITTLE, LITTLE ", " ZSTD, "end") "]", "index of a shard",
         CUBED_E_UNSUPPORTED},
        {"[" SHARD("[3, 2, 4]", "\"rar\"", LITTLE, "end") "]", "\"rar\"", CUBED_E_UNSUPPORTED},
        {"[" LITTLE ", " SHARD("[3, 2, 4]", LITTLE, LITTLE, "end") "]", "after", CUBED_E_FORMAT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cb_codec_chain c;
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(parse(wrong[i].text, NULL, &c, &err), wrong[i].status);
        if (!strstr(err.message, wrong[i].says)) fail_msg("%s: %s", wrong[i].text, err.message);
    }
}

/* Nested shards are limited by the maximum number of steps of a chain. */
static void test_too_deep(void **state)
{
    cb_buf text, outer;
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    cb_buf_init(&text, &cb_system_allocator);
    cb_buf_puts(&text, LITTLE);
    for (int k = 0; k <= CB_MAX_CODECS; k++) {
        const bool last = k == CB_MAX_CODECS;
        cb_buf_init(&outer, &cb_system_allocator);
        cb_buf_puts(&outer, last ? "["
                                 : "{\"name\": \"sharding_indexed\", \"configuration\": "
                                   "{\"chunk_shape\": [3, 2, 4], \"codecs\": [");
        cb_buf_puts(&outer, text.data);
        cb_buf_puts(&outer, last ? "]" : "], \"index_codecs\": [" LITTLE "]}}");
        cb_buf_free(&text);
        text = outer;
    }
    assert_false(text.failed);
    assert_int_equal(parse(text.data, NULL, &c, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "codecs"));
    cb_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_inner_chunks),
        cmocka_unit_test(test_left_out),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_too_deep),    cmocka_unit_test(test_wrong_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
