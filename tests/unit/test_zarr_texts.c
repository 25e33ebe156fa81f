/* Variable-length strings in both formats, and arrays that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/le.h"
#include "zarr/zarr_texts.h"
#include "zarr_test.h"

/* Maximum bytes of a chunk and of all strings. */
enum { MOST = 1 << 16 };

/* The bytes of an object that a test builds. */
typedef struct bytes {
    unsigned char data[512];
    size_t size;
} bytes;

static void add_number(bytes *b, uint64_t number, int size)
{
    cb_le_put(b->data + b->size, number, size);
    b->size += (size_t)size;
}

/* Adds a chunk: the number of strings, and each string after its size. */
static void add_chunk(bytes *b, int n, const char *const *texts)
{
    add_number(b, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(texts[i]);
        add_number(b, size, 4);
        memcpy(b->data + b->size, texts[i], size);
        b->size += size;
    }
}

static void put_bytes(cubed_store *s, const char *key, const bytes *b)
{
    assert_int_equal(cb_store_put(s, key, b->data, b->size, NULL), CUBED_OK);
}

static void put_chunk(cubed_store *s, const char *key, int n, const char *const *texts)
{
    bytes b = {.size = 0};
    add_chunk(&b, n, texts);
    put_bytes(s, key, &b);
}

/* Fields of metadata of format 3 that differ from the defaults. */
typedef struct fields {
    const char *shape, *chunk, *type, *codecs;
} fields;

#define PLAIN "[{\"name\": \"vlen-utf8\"}]"

static void put_meta(cubed_store *s, fields f)
{
    char text[2048];
    const int n = snprintf(
        text, sizeof text,
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": %s, \"data_type\": \"%s\", "
        "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": %s}}, "
        "\"chunk_key_encoding\": {\"name\": \"default\"}, \"fill_value\": \"?\", \"codecs\": %s}",
        f.shape, f.type ? f.type : "string", f.chunk, f.codecs ? f.codecs : PLAIN);
    assert_true(n > 0 && (size_t)n < sizeof text);
    put(s, "zarr.json", text);
}

/* Reads the array, and compares its elements, each as UTF-32 of `length` characters. */
static void expect_texts(cubed_store *s, size_t length, int n, const uint32_t *expected)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_texts x;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    if (cb_zarr_read_texts(s, NULL, "", MOST, zone, &x, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cubed_dtype_family(x.dtype), CUBED_STRING);
    assert_int_equal(cubed_dtype_size(x.dtype), 4 * length);
    assert_memory_equal(x.data, expected, (size_t)n * 4 * length);
    cb_arena_free(x.owner);
    cb_zone_free(zone);
}

static void expect_error(cubed_store *s, size_t most, cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_texts x;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    const cubed_status st = cb_zarr_read_texts(s, NULL, "", most, zone, &x, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", st, err.message, status, part);
    cb_zone_free(zone);
}

static void test_chunks(void **state)
{
    (void)state;
    cubed_store *s = memory();
    put_meta(s, (fields){.shape = "[5]", .chunk = "[2]"});
    put_chunk(s, "c/0", 2, (const char *[]){"ab", "\xc3\xa9"});
    /* Chunk c/1 is missing. A string of the last chunk is beyond the end of the array, and longer than all others. */
    put_chunk(s, "c/2", 2, (const char *[]){"\xf0\x9f\x98\x80", "outside"});
    expect_texts(s, 2, 5, (const uint32_t[]){'a', 'b', 0xe9, 0, '?', 0, '?', 0, 0x1f600, 0});
    cb_store_close(s);
}

static void test_shapes(void **state)
{
    (void)state;
    cubed_store *s = memory();
    put_meta(s, (fields){.shape = "[]", .chunk = "[]"});
    put_chunk(s, "c", 1, (const char *[]){"one"});
    expect_texts(s, 3, 1, (const uint32_t[]){'o', 'n', 'e'});
    /* If all strings are empty, elements have room for one character. */
    put_chunk(s, "c", 1, (const char *[]){""});
    expect_texts(s, 1, 1, (const uint32_t[]){0});
    put_meta(s, (fields){.shape = "[0, 3]", .chunk = "[1, 2]"});
    expect_texts(s, 1, 0, (const uint32_t[]){0});
    put_meta(s, (fields){.shape = "[2, 3]", .chunk = "[2, 2]"});
    put_chunk(s, "c/0/0", 4, (const char *[]){"a", "b", "d", "e"});
    put_chunk(s, "c/0/1", 4, (const char *[]){"c", "x", "f", "y"});
    expect_texts(s, 1, 6, (const uint32_t[]){'a', 'b', 'c', 'd', 'e', 'f'});
    cb_store_close(s);
}

#define FORMAT_2                                                                                   \
    "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [2], \"dtype\": \"|O\", \"order\": \"C\", "  \
    "\"fill_value\": \"\", \"compressor\": {\"id\": \"zlib\", \"level\": 1}, "

static void test_format_2(void **state)
{
    (void)state;
    cubed_store *s = memory();
    bytes b = {.size = 0}, compressed;
    uLongf size = sizeof compressed.data;
    put(s, ".zarray", FORMAT_2 "\"filters\": [{\"id\": \"vlen-utf8\"}]}");
    add_chunk(&b, 2, (const char *[]){"left", "right"});
    assert_int_equal(compress(compressed.data, &size, b.data, b.size), Z_OK);
    compressed.size = size;
    put_bytes(s, "0", &compressed);
    expect_texts(s, 5, 3,
                 (const uint32_t[]){'l', 'e', 'f', 't', 0, 'r', 'i', 'g', 'h', 't', 0, 0, 0, 0, 0});
    /* If the chunk has the order F, its strings are in that order too. */
    put(s, ".zarray",
        "{\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": \"|O\", \"order\": "
        "\"F\", \"fill_value\": \"\", \"compressor\": null, \"filters\": [{\"id\": "
        "\"vlen-utf8\"}]}");
    put_chunk(s, "0.0", 6, (const char *[]){"a", "d", "b", "e", "c", "f"});
    expect_texts(s, 1, 6, (const uint32_t[]){'a', 'b', 'c', 'd', 'e', 'f'});
    put(s, ".zarray", FORMAT_2 "\"filters\": [{\"id\": \"vlen-bytes\"}]}");
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "cannot be read as strings");
    put(s, ".zarray", FORMAT_2 "\"filters\": [{\"id\": \"vlen-utf8\"}, {\"id\": \"delta\"}]}");
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "cannot be read as strings");
    cb_store_close(s);
}

#define SHARDS(where)                                                                              \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2], \"codecs\": "     \
    "[{\"name\": \"vlen-utf8\"}], \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": "    \
    "{\"endian\": \"little\"}}], \"index_location\": \"" where "\"}}]"

/* A shard of two inner chunks, of which the second is missing. */
static void add_index(bytes *b, uint64_t offset, uint64_t size)
{
    add_number(b, offset, 8);
    add_number(b, size, 8);
    add_number(b, UINT64_MAX, 8);
    add_number(b, UINT64_MAX, 8);
}

static void test_shards(void **state)
{
    (void)state;
    const char *const texts[] = {"ab", "c"};
    const uint32_t expected[] = {'a', 'b', 'c', 0, '?', 0};
    cubed_store *s = memory();
    bytes end = {.size = 0}, start = {.size = 0}, outside = {.size = 0}, few = {.size = 8};
    put_meta(s, (fields){.shape = "[3]", .chunk = "[4]", .codecs = SHARDS("end")});
    add_chunk(&end, 2, texts);
    add_index(&end, 0, end.size);
    put_bytes(s, "c/0", &end);
    expect_texts(s, 2, 3, expected);

    put_meta(s, (fields){.shape = "[3]", .chunk = "[4]", .codecs = SHARDS("start")});
    add_index(&start, 32, end.size - 32);
    add_chunk(&start, 2, texts);
    put_bytes(s, "c/0", &start);
    expect_texts(s, 2, 3, expected);

    add_index(&outside, 1000, 8);
    put_bytes(s, "c/0", &outside);
    expect_error(s, MOST, CUBED_E_FORMAT, "c/0");
    memset(few.data, 0, few.size);
    put_bytes(s, "c/0", &few);
    expect_error(s, MOST, CUBED_E_FORMAT, "the object does not contain the strings of a chunk");
    put_meta(s, (fields){.shape = "[40000]", .chunk = "[40000]", .codecs = SHARDS("end")});
    expect_error(s, MOST, CUBED_E_BUDGET, "the index of a shard has more than 65536 bytes");
    cb_store_close(s);
}

#define INDEX                                                                                      \
    "\"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"
/* Shards of `outer` strings that contain shards of `inner` strings, which contain chunks of one string; `behind` is added to
 * the codecs of the inner shards. */
#define NESTED(outer, inner, behind)                                                               \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " outer ", " INDEX     \
    ", \"codecs\": [{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " inner  \
    ", \"codecs\": [{\"name\": \"vlen-utf8\"}], " INDEX "}}" behind "]}}]"

static void test_shards_within_shards(void **state)
{
    (void)state;
    const uint32_t expected[] = {'?', 0, '?', 0, '?', 0, 'a', 'b', '?', 0};
    cubed_store *s = memory();
    bytes b = {.size = 0};
    put_meta(s, (fields){.shape = "[5]", .chunk = "[8]", .codecs = NESTED("[2]", "[1]", "")});
    /* Only the second inner shard exists. Of its chunks, only the second exists. */
    add_chunk(&b, 1, (const char *const[]){"ab"});
    const uint64_t size = b.size;
    add_number(&b, UINT64_MAX, 8);
    add_number(&b, UINT64_MAX, 8);
    add_number(&b, 0, 8);
    add_number(&b, size, 8);
    const uint64_t inner = b.size;
    for (int i = 0; i < 8; i++) add_number(&b, i == 2 ? 0 : i == 3 ? inner : UINT64_MAX, 8);
    put_bytes(s, "c/0", &b);
    expect_texts(s, 2, 5, expected);

    /* Offsets of an inner shard's index are relative to the inner shard, not to the object. */
    cb_le_put(b.data + size + 16, size + 32, 8);
    put_bytes(s, "c/0", &b);
    expect_error(s, MOST, CUBED_E_FORMAT, "c/0: inner chunk 1: shard index");
    /* the stated size of the inner shard is one byte less than its index */
    cb_le_put(b.data + inner + 24, 31, 8);
    put_bytes(s, "c/0", &b);
    expect_error(s, MOST, CUBED_E_FORMAT,
                 "inner chunk 1: the object does not contain the strings of a chunk");

    put_meta(
        s,
        (fields){.shape = "[40000]", .chunk = "[40000]", .codecs = NESTED("[40000]", "[1]", "")});
    expect_error(s, MOST, CUBED_E_BUDGET, "the index of a shard has more than 65536 bytes");
    put_meta(s, (fields){.shape = "[5]",
                         .chunk = "[8]",
                         .codecs = NESTED("[2]", "[1]", ", {\"name\": \"crc32c\"}")});
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "cannot be read as strings");
    put_meta(s, (fields){.shape = "[5]", .chunk = "[8]", .codecs = NESTED("[4]", "[3]", "")});
    expect_error(s, MOST, CUBED_E_FORMAT, "expected a divisor of 4");
    cb_store_close(s);
}

static void test_damaged_chunks(void **state)
{
    (void)state;
    const struct {
        /* count: stated number of strings; first: stated size of the first one. The object has two strings. */
        uint32_t count, first;
        const char *text;
        const char *says;
    } cases[] = {
        {3, 1, "a", "the object does not contain the strings of a chunk"},
        {1, 1, "a", "the object does not contain the strings of a chunk"},
        {2, 100, "a", "the object does not contain the strings of a chunk"},
        {2, UINT32_MAX, "a", "the object does not contain the strings of a chunk"},
        {2, 5, "a",
         /* the size of the second string is missing */
         "the object does not contain the strings of a chunk"},
        {2, 1, "\xff", "a string is not valid UTF-8"},
        /* a surrogate, which UTF-8 must not contain */
        {2, 3, "\xed\xa0\x80", "a string is not valid UTF-8"},
        {2, 1, "\xc3", "a string is not valid UTF-8"},
    };
    cubed_store *s = memory();
    put_meta(s, (fields){.shape = "[2]", .chunk = "[2]"});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes b = {.size = 0};
        add_number(&b, cases[i].count, 4);
        add_number(&b, cases[i].first, 4);
        memcpy(b.data + b.size, cases[i].text, strlen(cases[i].text));
        b.size += strlen(cases[i].text);
        add_number(&b, 0, 4);
        put_bytes(s, "c/0", &b);
        expect_error(s, MOST, CUBED_E_FORMAT, cases[i].says);
        expect_error(s, MOST, CUBED_E_FORMAT, "chunk c/0");
    }
    const bytes nothing = {.size = 0};
    put_bytes(s, "c/0", &nothing);
    expect_error(s, MOST, CUBED_E_FORMAT, "the object does not contain the strings of a chunk");
    cb_store_close(s);
}

static void test_limits(void **state)
{
    (void)state;
    char longest[300];
    cubed_store *s = memory();
    put_meta(s, (fields){.shape = "[2]", .chunk = "[2]"});
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    put_chunk(s, "c/0", 2, (const char *[]){longest, ""});
    expect_error(s, 4 * 2 * 299 - 1, CUBED_E_BUDGET, "2 strings of up to 299 characters need more");
    put_meta(s, (fields){.shape = "[1000000]", .chunk = "[2]"});
    expect_error(s, MOST, CUBED_E_BUDGET, "more than 65536 strings");
    cb_store_close(s);
}

static void test_other_arrays(void **state)
{
    (void)state;
    cubed_store *s = memory();
    expect_error(s, MOST, CUBED_E_NOT_FOUND, "there is no Zarr array at memory://t");
    put(s, "zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}");
    expect_error(s, MOST, CUBED_E_NOT_FOUND, "there is no Zarr array at memory://t");
    put_meta(s, (fields){.shape = "[2]", .chunk = "[2]", .type = "bytes"});
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "elements of type \"bytes\"");
    put_meta(s, (fields){.shape = "[2]", .chunk = "[2]", .codecs = "[\"bytes\"]"});
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "cannot be read as strings");
    put_meta(s, (fields){.shape = "[2]",
                         .chunk = "[2]",
                         .codecs = "[{\"name\": \"vlen-utf8\"}, {\"name\": \"nobodys\"}]"});
    expect_error(s, MOST, CUBED_E_UNSUPPORTED, "nobodys");
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),       cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_format_2),     cmocka_unit_test(test_shards),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_damaged_chunks),
        cmocka_unit_test(test_other_arrays), cmocka_unit_test(test_shards_within_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
