/* Parts of chunks, and of inner chunks of shards, with chains of codecs of every kind: the elements, the declared memory, and
 * damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "zarr/parts.h"
#include "zarr_test.h"

enum { NDIM = 3, CHUNK0 = 6, CHUNK1 = 30, CHUNK2 = 64, NCHUNK = CHUNK0 * CHUNK1 * CHUNK2 };
enum { INNER0 = 3, INNER1 = 30, INNER2 = 32 };
/* A chunk of more than 8 MiB: too large for the buffer of encoded blocks. */
enum { LARGE0 = 720, NLARGE = LARGE0 * CHUNK1 * CHUNK2 };

#define LITTLE  "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define BIG     "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}"
#define MOVED   "{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 0, 1]}}"
#define GZIP    "{\"name\": \"gzip\", \"configuration\": {\"level\": 1}}"
#define ZSTD    "{\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": true}}"
#define SHUFFLE "{\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 8}}"
#define BLOSC                                                                                      \
    "{\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 1, \"shuffle\": "   \
    "\"shuffle\", \"typesize\": 8, \"blocksize\": 2048}}"

static const struct {
    const char *codecs;
    cb_zarr_parts chunk, inner; /* how parts of chunks and of inner chunks are read */
} cases[] = {
    {LITTLE, CB_ZARR_RANGES, CB_ZARR_RANGES},
    {BIG, CB_ZARR_RANGES, CB_ZARR_RANGES},
    {MOVED ", " BIG, CB_ZARR_RANGES, CB_ZARR_RANGES},
    {LITTLE ", " GZIP, CB_ZARR_STREAM, CB_ZARR_STREAM},
    {BIG ", " ZSTD, CB_ZARR_STREAM, CB_ZARR_STREAM},
    {LITTLE ", {\"name\": \"crc32c\"}", CB_ZARR_STREAM, CB_ZARR_STREAM},
    {MOVED ", " LITTLE ", " ZSTD ", {\"name\": \"crc32c\"}", CB_ZARR_STREAM, CB_ZARR_STREAM},
    {LITTLE ", " SHUFFLE ", {\"name\": \"numcodecs.zlib\"}", CB_ZARR_STREAM, CB_ZARR_STREAM},
    {LITTLE ", " BLOSC, CB_ZARR_BLOCKS, CB_ZARR_BLOCKS},
    {LITTLE ", {\"name\": \"numcodecs.bz2\"}", CB_ZARR_NO_PARTS, CB_ZARR_NO_PARTS},
};
enum { NCASES = (int)(sizeof cases / sizeof *cases) };

static double data[NLARGE], part_of_data[NLARGE];

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 1;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % below;
}

/* Makes an array with the chunks (0, 0, 0), whose elements are `data`, and (1, 0, 0), which is missing. */
static cb_zarr_array *make(cubed_store *s, const char *codecs, int64_t chunk0, bool sharded)
{
    static const int64_t idx[NDIM] = {0};
    char text[1024];
    cubed_error err = CUBED_ERROR_INIT;
    cb_zarr_array *z;
    cb_zarr_meta m = {.format = 3,
                      .dtype = CUBED_FLOAT64,
                      .ndim = NDIM,
                      .shape = {2 * chunk0, CHUNK1, CHUNK2},
                      .chunk = {chunk0, CHUNK1, CHUNK2}};
    if (sharded)
        snprintf(text, sizeof text,
                 "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [%d, %d, "
                 "%d], \"codecs\": [%s], \"index_codecs\": [" LITTLE ", {\"name\": \"crc32c\"}]}}]",
                 INNER0, INNER1, INNER2, codecs);
    else
        snprintf(text, sizeof text, "[%s]", codecs);
    m.fill.f64 = -7;
    if (cb_zarr_meta_defaults(&m, NULL, text, &err) != CUBED_OK) fail_msg("%s", err.message);
    cb_codec_chain_fix(&m.codecs);
    assert_int_equal(cb_zarr_prepare(s, "a", &m, &z, NULL), CUBED_OK);
    assert_int_equal(cb_zarr_commit(z, NULL), CUBED_OK);
    /* Half of the elements are noise, so that no codec stores blocks of one kind only. */
    for (int i = 0; i < (int)chunk0 * CHUNK1 * CHUNK2; i++)
        data[i] = i % 128 < 64 ? (double)draw(1 << 24) : (i - i % 128) / 128.0;
    cb_arena *a = arena(cb_zarr_write_need(cb_zarr_get_meta(z)));
    assert_int_equal(cb_zarr_write_chunk(z, idx, data, false, a, NULL, NULL), CUBED_OK);
    cb_arena_free(a);
    return z;
}

/* Draws a part of a box: single elements, whole axes, and parts of axes. */
static void draw_part(const int64_t *shape, cb_zarr_extract *part)
{
    for (int d = 0; d < NDIM; d++) {
        const bool whole = draw(3) == 0;
        part->lo[d] = whole ? 0 : draw((uint32_t)shape[d]);
        part->hi[d] = whole ? shape[d] : part->lo[d] + 1 + draw((uint32_t)(shape[d] - part->lo[d]));
    }
}

/* Compares a part that was read with the elements of the chunk; the box of the part begins at `at`. */
static void check_part(const char *codecs, const cb_zarr_extract *p, const int64_t *at,
                       bool missing)
{
    const double *x = part_of_data;
    for (int64_t i = p->lo[0]; i < p->hi[0]; i++) {
        for (int64_t j = p->lo[1]; j < p->hi[1]; j++) {
            for (int64_t k = p->lo[2]; k < p->hi[2]; k++, x++) {
                const int64_t n = ((at[0] + i) * CHUNK1 + at[1] + j) * CHUNK2 + at[2] + k;
                const double expected = missing ? -7 : data[n];
                if (*x != expected)
                    fail_msg("%s: element %d %d %d is %g, expected %g", codecs, (int)i, (int)j,
                             (int)k, *x, expected);
            }
        }
    }
}

enum { TIMES = 60 };

static void read_parts(const char *codecs, int64_t chunk0, cb_zarr_parts how, int times)
{
    const int64_t shape[NDIM] = {chunk0, CHUNK1, CHUNK2};
    static const int64_t origin[NDIM] = {0};
    cubed_store *s = memory();
    cubed_error err = CUBED_ERROR_INIT;
    cb_zarr_array *z = make(s, codecs, chunk0, false);
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    assert_int_equal(cb_zarr_parts_of(m, false), how);
    cb_arena *a = arena(cb_zarr_part_need(m, false));
    for (int t = 0; t < times && how != CB_ZARR_NO_PARTS; t++) {
        const int64_t idx[NDIM] = {t % 10 == 9};
        uint64_t stored = 0;
        cb_zarr_extract part = {.dst = part_of_data};
        draw_part(shape, &part);
        if (cb_zarr_subread(z, idx, &part, a, &stored, &err) != CUBED_OK)
            fail_msg("%s: %s", codecs, err.message);
        check_part(codecs, &part, origin, idx[0]);
        memset(part_of_data, 0xAB, cb_zarr_part_bytes(m, &part));
        assert_int_equal(stored == 0, idx[0]);
        assert_int_equal(cb_arena_mark(a), 0);
    }
    cb_arena_free(a);
    cb_zarr_close(z);
    cb_store_close(s);
}

static void test_parts_of_chunks(void **state)
{
    (void)state;
    for (int c = 0; c < NCASES; c++) read_parts(cases[c].codecs, CHUNK0, cases[c].chunk, TIMES);
    read_parts(LITTLE ", " BLOSC, LARGE0, CB_ZARR_BLOCKS_ONCE, 11);
}

static void test_parts_of_inner_chunks(void **state)
{
    static const int64_t shape[NDIM] = {INNER0, INNER1, INNER2};
    (void)state;
    for (int c = 0; c < NCASES; c++) {
        cubed_store *s = memory();
        cubed_error err = CUBED_ERROR_INIT;
        cb_zarr_array *z = make(s, cases[c].codecs, CHUNK0, true);
        const cb_zarr_meta *m = cb_zarr_get_meta(z);
        assert_int_equal(cb_zarr_parts_of(m, true), cases[c].inner);
        cb_arena *a = arena(cb_zarr_subread_inner_need(m));
        void *index = malloc(cb_zarr_index_bytes(m));
        for (int t = 0; t < TIMES && cases[c].inner != CB_ZARR_NO_PARTS; t++) {
            const bool missing = t % 10 == 9;
            const int64_t idx[NDIM] = {missing ? 2 : draw(2), 0, draw(2)};
            const int64_t at[NDIM] = {idx[0] * INNER0, 0, idx[2] * INNER2};
            uint64_t stored = 0;
            cb_zarr_extract part = {.dst = part_of_data};
            draw_part(shape, &part);
            memset(part_of_data, 0xAB, NCHUNK * sizeof *part_of_data);
            assert_int_equal(cb_zarr_shard_number(m, idx), missing);
            if (cb_zarr_read_index(z, idx, NULL, index, a, &stored, &err) != CUBED_OK ||
                cb_zarr_subread_inner(z, idx, index, &part, a, &stored, &err) != CUBED_OK)
                fail_msg("%s: %s", cases[c].codecs, err.message);
            check_part(cases[c].codecs, &part, at, missing);
            assert_int_equal(cb_arena_mark(a), 0);
        }
        free(index);
        cb_arena_free(a);
        cb_zarr_close(z);
        cb_store_close(s);
    }
}

/* --- Damage -------------------------------------------------------------------------------------------- */

static void replace(cubed_store *s, const char *key, const cb_buf *object, size_t cut,
                    const char *more)
{
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    cb_buf_put(&b, object->data, object->size - cut);
    cb_buf_puts(&b, more);
    assert_int_equal(cb_store_put(s, key, b.data, b.size, NULL), CUBED_OK);
    cb_buf_free(&b);
}

/* An object that is shorter or longer than the chunk is damaged, even if the part itself is there. */
static void test_damaged_chunks(void **state)
{
    static const int64_t idx[NDIM] = {0};
    (void)state;
    for (int c = 0; c < NCASES; c++) {
        if (cases[c].chunk == CB_ZARR_NO_PARTS) continue;
        cubed_store *s = memory();
        cb_zarr_array *z = make(s, cases[c].codecs, CHUNK0, false);
        cb_arena *a = arena(cb_zarr_part_need(cb_zarr_get_meta(z), false));
        cb_zarr_extract part = {.hi = {1, 1, 1}, .dst = part_of_data};
        uint64_t stored = 0;
        cb_buf object;
        cb_buf_init(&object, &cb_system_allocator);
        assert_int_equal(cb_store_read_all(s, "a/c/0/0/0", 1 << 20, &object, NULL), CUBED_OK);
        for (int k = 0; k < 3; k++) {
            cubed_error err = CUBED_ERROR_INIT;
            replace(s, "a/c/0/0/0", &object,
                    k == 0   ? 1
                    : k == 1 ? object.size
                             : 0,
                    k == 2 ? "more bytes" : "");
            const cubed_status st = cb_zarr_subread(z, idx, &part, a, &stored, &err);
            if (st != CUBED_E_FORMAT || !strstr(err.message, "a/c/0/0/0"))
                fail_msg("%s, damage %d: status %d, \"%s\"", cases[c].codecs, k, st, err.message);
            assert_int_equal(cb_arena_mark(a), 0);
        }
        cb_buf_free(&object);
        cb_arena_free(a);
        cb_zarr_close(z);
        cb_store_close(s);
    }
}

/* A shard that is shorter than its index, or whose index points behind the end. */
static void test_damaged_shards(void **state)
{
    static const int64_t idx[NDIM] = {0};
    (void)state;
    cubed_store *s = memory();
    cb_zarr_array *z = make(s, LITTLE ", " ZSTD, CHUNK0, true);
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    cb_arena *a = arena(cb_zarr_subread_inner_need(m));
    cb_zarr_extract part = {.hi = {1, 1, 1}, .dst = part_of_data};
    void *index = malloc(cb_zarr_index_bytes(m));
    uint64_t stored = 0;
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf object;
    cb_buf_init(&object, &cb_system_allocator);
    assert_int_equal(cb_store_read_all(s, "a/c/0/0/0", 1 << 20, &object, NULL), CUBED_OK);
    replace(s, "a/c/0/0/0", &object, object.size - 10, "");
    assert_int_equal(cb_zarr_read_index(z, idx, NULL, index, a, &stored, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "10 bytes, expected a shard index of 68"));
    /* the index without the chunks in front of it */
    cb_buf end = {.data = object.data + object.size - 68, .size = 68};
    replace(s, "a/c/0/0/0", &end, 0, "");
    err = (cubed_error)CUBED_ERROR_INIT;
    cubed_status st = cb_zarr_read_index(z, idx, NULL, index, a, &stored, &err);
    if (st == CUBED_OK) st = cb_zarr_subread_inner(z, idx, index, &part, a, &stored, &err);
    assert_int_equal(st, CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "a/c/0/0/0"));
    cb_buf_free(&object);
    free(index);
    cb_arena_free(a);
    cb_zarr_close(z);
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_chunks), cmocka_unit_test(test_parts_of_inner_chunks),
        cmocka_unit_test(test_damaged_chunks), cmocka_unit_test(test_damaged_shards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
