/* Encoded chunks that an interrupted run left: complete, damaged or unknown, from few of their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/error.h"
#include "codec_test.h"

#define ZSTD  "[\"bytes\", {\"name\": \"zstd\", \"configuration\": {\"level\": 1}}]"
#define GZIP  "[\"bytes\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]"
#define BLOSC "[\"bytes\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\"}}]"

typedef struct object {
    const uint8_t *data;
    size_t size, read;
    int fail_at; /* number of the read that fails, counted from 1 */
} object;

static cubed_status read_object(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                                cubed_error *err)
{
    object *o = ctx;
    if (o->fail_at && --o->fail_at == 0) return cb_fail(err, CUBED_E_IO, "the disk is gone");
    assert_true(offset <= o->size);
    *got = size < o->size - offset ? size : o->size - (size_t)offset;
    memcpy(dst, o->data + offset, *got);
    o->read += *got;
    return CUBED_OK;
}

static cubed_status try_look(const cb_codec_chain *c, object *o, cb_codec_looks *out,
                             cubed_error *err)
{
    const cb_codec_object of = {read_object, o, o->size};
    cb_arena *scratch;
    assert_int_equal(cb_arena_new(&cb_system_allocator, cb_codec_chain_look_need(c), &scratch, err),
                     CUBED_OK);
    cubed_status st = cb_codec_chain_look(c, &of, scratch, out, err);
    cb_arena_free(scratch);
    return st;
}

static cb_codec_looks look(const cb_codec_chain *c, const uint8_t *data, size_t size)
{
    object o = {data, size, 0, 0};
    cb_codec_looks out;
    cubed_error err = CUBED_ERROR_INIT;
    if (try_look(c, &o, &out, &err) != CUBED_OK) fail_msg("%s", err.message);
    return out;
}

static void must_parse(const char *text, int64_t n, cb_codec_chain *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse_v3(text, 1, 1, 1, &n, c, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
}

/* Damage is found if the object is shorter or longer, or has zeros in place of the data that a system lost. The last bytes of a
 * part of a gzip chunk may look like a valid size: then the chunk has to be decoded. */
static void expect_damage_is_seen(const cb_codec_chain *c, size_t size)
{
    static uint8_t zeros[2 * N];
    assert_int_equal(look(c, packed, size), CB_CODEC_WHOLE);
    for (size_t less = 0; less < size; less += size < 2000 ? 1 : 97)
        assert_int_not_equal(look(c, packed, less), CB_CODEC_WHOLE);
    assert_int_not_equal(look(c, packed, size - 1), CB_CODEC_WHOLE);
    packed[size] = 0;
    assert_int_not_equal(look(c, packed, size + 1), CB_CODEC_WHOLE);
    assert_int_equal(look(c, zeros, size), CB_CODEC_DAMAGED);
    assert_int_equal(look(c, packed, cb_codec_chain_bound(c) + 1), CB_CODEC_DAMAGED);
}

static void test_compressed_chunks(void **state)
{
    static const char *const chains[] = {ZSTD, GZIP, BLOSC};
    (void)state;
    for (int k = 0; k < 3; k++) {
        for (int noise = 0; noise < 2; noise++) {
            cb_codec_chain c, other;
            object o = {packed, 0, 0, 0};
            cb_codec_looks out;
            must_parse(chains[k], N, &c);
            fill(noise);
            o.size = encode(&c, plain, packed);
            expect_damage_is_seen(&c, o.size);
            assert_int_equal(try_look(&c, &o, &out, NULL), CUBED_OK);
            assert_true(o.read < 100); /* another chunk */
            /* An object of N elements is damaged if the chunk has one element less. */
            must_parse(chains[k], N - 1, &other);
            assert_int_equal(look(&other, packed, o.size), CB_CODEC_DAMAGED);
        }
    }
}

/* Other writers write several members, followed by zeros. Only the size of the last member is in the trailer. */
static void test_gzip_of_several_members(void **state)
{
    cb_codec_chain parts, c;
    (void)state;
    must_parse(GZIP, N / 2, &parts);
    must_parse(GZIP, N, &c);
    fill(false);
    size_t size = encode(&parts, plain, packed);
    size += encode(&parts, plain + N / 2, packed + size);
    assert_int_equal(look(&c, packed, size), CB_CODEC_UNTOLD);
    memset(packed + size, 0, 8);
    assert_int_equal(look(&c, packed, size + 8), CB_CODEC_UNTOLD);
    assert_int_equal(look(&parts, packed, size), CB_CODEC_WHOLE); /* only decoding detects it */
}

static void test_raw_chunks_have_their_size(void **state)
{
    cb_codec_chain c;
    (void)state;
    must_parse("[\"bytes\"]", 1000, &c);
    assert_int_equal(look(&c, plain, 1000), CB_CODEC_WHOLE);
    assert_int_equal(look(&c, plain, 999), CB_CODEC_DAMAGED);
    assert_int_equal(look(&c, plain, 1001), CB_CODEC_DAMAGED);
    assert_int_equal(look(&c, plain, 0), CB_CODEC_DAMAGED);
}

/* Chains that state no sizes, and a chain whose second codec hides the sizes of the first. */
static void test_untold(void **state)
{
    static const char *const chains[] = {
        "[\"bytes\", {\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 1}}]",
        "[\"bytes\", {\"name\": \"zstd\", \"configuration\": {\"level\": 1}}, \"crc32c\"]",
    };
    (void)state;
    fill(false);
    for (int k = 0; k < 2; k++) {
        cb_codec_chain c;
        must_parse(chains[k], N, &c);
        const size_t size = encode(&c, plain, packed);
        assert_int_equal(look(&c, packed, size), CB_CODEC_UNTOLD);
        assert_int_equal(look(&c, packed, size / 2), CB_CODEC_UNTOLD);
        assert_int_equal(look(&c, packed, 0), CB_CODEC_DAMAGED);
        assert_int_equal(look(&c, packed, cb_codec_chain_bound(&c) + 1), CB_CODEC_DAMAGED);
    }
}

/* --- zstd of other writers ---------------------------------------------------------------------------- */

static size_t zstd_part(size_t from, size_t n, bool sized, bool checked, uint8_t *dst)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    assert_non_null(z);
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, sized);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, checked);
    const size_t got =
        ZSTD_compress2(z, dst, (size_t)(packed + sizeof packed - dst), plain + from, n);
    assert_false(ZSTD_isError(got));
    ZSTD_freeCCtx(z);
    return got;
}

static void test_zstd_frames(void **state)
{
    static const uint8_t skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'n', 'y'};
    cb_codec_chain c;
    (void)state;
    must_parse(ZSTD, N, &c);
    for (int noise = 0; noise < 2; noise++) {
        fill(noise);
        for (int how = 0; how < 4; how++) {
            const bool sized = how & 1, checked = how & 2;
            expect_damage_is_seen(&c, zstd_part(0, N, sized, checked, packed));
            /* Two frames with a skippable frame between them. */
            size_t size = zstd_part(0, 777, sized, checked, packed);
            const size_t first = size;
            memcpy(packed + size, skippable, sizeof skippable);
            size += sizeof skippable;
            size += zstd_part(777, N - 777, sized, !checked, packed + size);
            assert_int_equal(look(&c, packed, size), CB_CODEC_WHOLE);
            assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
            assert_memory_equal(unpacked, plain, N);
            assert_int_equal(look(&c, packed, size - 1), CB_CODEC_DAMAGED);
            /* After the end of a frame another frame may begin: only sizes reveal that one is missing. */
            assert_int_equal(look(&c, packed, first), sized ? CB_CODEC_DAMAGED : CB_CODEC_WHOLE);
        }
    }
    /* Runs of one byte are blocks of one byte. */
    memset(plain, 7, N);
    expect_damage_is_seen(&c, zstd_part(0, N, true, true, packed));
}

static void test_zstd_blocks_that_are_none(void **state)
{
    cb_codec_chain c;
    (void)state;
    must_parse(ZSTD, N, &c);
    fill(true);
    const size_t size = zstd_part(0, N, true, false, packed);
    /* Magic number, descriptor and a size of four bytes; then the first block's header. */
    const size_t at = 4 + 1 + 4;
    assert_int_equal(packed[4] & 0xe0, 0xa0);
    const uint8_t kept = packed[at];
    packed[at] = (uint8_t)(kept | 6); /* set the block type that is reserved */
    assert_int_equal(look(&c, packed, size), CB_CODEC_DAMAGED);
    packed[at] = kept;
    assert_int_equal(look(&c, packed, size), CB_CODEC_WHOLE);
    memset(packed + at, 0, size - at);
    assert_int_equal(look(&c, packed, size), CB_CODEC_DAMAGED);
    packed[0] ^= 1;
    assert_int_equal(look(&c, packed, size), CB_CODEC_DAMAGED);
}

/* --- Shards ------------------------------------------------------------------------------------------- */

#define SHARD(where)                                                                               \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [250], \"codecs\": "   \
    "[\"bytes\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}], \"index_codecs\": "     \
    "[" LITTLE ", \"crc32c\"], \"index_location\": \"" where "\"}}]"

static void test_shards(void **state)
{
    (void)state;
    fill(true);
    for (int front = 0; front < 2; front++) {
        cb_codec_chain c;
        must_parse(front ? SHARD("start") : SHARD("end"), 1000, &c);
        const size_t size = encode(&c, plain, packed), index = 4 * 16 + 4;
        expect_damage_is_seen(&c, size);
        /* A changed index. */
        for (size_t i = 0; i < index; i++) {
            uint8_t *p = packed + (front ? i : size - 1 - i);
            *p ^= 1;
            assert_int_equal(look(&c, packed, size), CB_CODEC_DAMAGED);
            *p ^= 1;
        }
        object o = {packed, size, 0, 0};
        cb_codec_looks out;
        assert_int_equal(try_look(&c, &o, &out, NULL), CUBED_OK);
        assert_int_equal(out, CB_CODEC_WHOLE);
        /* only the index was read, so missing chunks cost no reads */
        assert_int_equal(o.read, index);
    }
}

/* A shard in which all inner chunks are missing consists of its index alone. */
static void test_empty_shards(void **state)
{
    cb_codec_chain c;
    (void)state;
    must_parse(SHARD("end"), 1000, &c);
    c.skip_empty = true;
    memset(plain, 0, 1000);
    const size_t size = encode(&c, plain, packed);
    assert_int_equal(size, 4 * 16 + 4);
    assert_int_equal(look(&c, packed, size), CB_CODEC_WHOLE);
    memmove(packed + 1, packed, size);
    assert_int_equal(look(&c, packed, size + 1), CB_CODEC_DAMAGED);
}

/* --- Stores ------------------------------------------------------------------------------------------- */

/* A chunk that cannot be read does not count as damaged. */
static void test_errors_of_reading(void **state)
{
    static const char *const chains[] = {ZSTD, GZIP, BLOSC, SHARD("end")};
    static const int reads[] = {2, 2, 1, 1};
    (void)state;
    fill(true);
    for (int k = 0; k < 4; k++) {
        cb_codec_chain c;
        must_parse(chains[k], 1000, &c);
        const size_t size = encode(&c, plain, packed);
        for (int at = 1; at <= reads[k]; at++) {
            object o = {packed, size, 0, at};
            cb_codec_looks out;
            cubed_error err = CUBED_ERROR_INIT;
            assert_int_equal(try_look(&c, &o, &out, &err), CUBED_E_IO);
            assert_string_equal(err.message, "the disk is gone");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compressed_chunks),
        cmocka_unit_test(test_gzip_of_several_members),
        cmocka_unit_test(test_raw_chunks_have_their_size),
        cmocka_unit_test(test_untold),
        cmocka_unit_test(test_zstd_frames),
        cmocka_unit_test(test_zstd_blocks_that_are_none),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_empty_shards),
        cmocka_unit_test(test_errors_of_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
