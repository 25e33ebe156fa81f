/* Arrays in stores: chunks of all codecs, keys, edges, and creation of arrays. */
#define _GNU_SOURCE
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

#include "remove_dir.h"
#include "test_path.h"
#include "zarr_test.h"

static const struct {
    int format;
    const char *codecs;
} kinds[] = {
    {2, NULL},
    {2, "null"},
    {2, "{\"id\": \"zlib\", \"level\": 1}"},
    {2, "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 1}"},
    {3, NULL},
    {3, "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"},
    {3, "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]"},
    {3, "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, {\"name\": "
        "\"bytes\", \"configuration\": {\"endian\": \"big\"}}, {\"name\": \"gzip\", "
        "\"configuration\": {\"level\": 1}}, {\"name\": \"crc32c\"}]"},
};
enum { NKINDS = (int)(sizeof kinds / sizeof *kinds) };

/* Reads and writes chunks in arenas of exactly the declared size. */
static void test_chunks(void **state)
{
    (void)state;
    for (int k = 0; k < NKINDS; k++) {
        cubed_store *s = memory();
        cubed_error err = CUBED_ERROR_INIT;
        cb_zarr_array *z = make_array(s, "g/u", kinds[k].format, kinds[k].codecs), *r;
        const cb_zarr_meta *m = cb_zarr_get_meta(z);
        cb_arena *w_arena = arena(cb_zarr_write_need(m)), *r_arena = arena(cb_zarr_read_need(m));
        double data[12], back[12];
        uint64_t stored, size;
        assert_string_equal(cb_zarr_path(z), "g/u");
        assert_int_equal(cb_zarr_open(s, NULL, "g/u", &r, NULL), CUBED_OK);
        for (int64_t i = 0; i < 3; i++) {
            for (int64_t j = 0; j < 3; j++) {
                char key[128];
                int64_t idx[2] = {i, j};
                for (int n = 0; n < 12; n++) data[n] = (double)(i * 100 + j * 10) + n / 16.0;
                if (cb_zarr_write_chunk(z, idx, data, false, w_arena, &stored, &err) != CUBED_OK)
                    fail_msg("%s", err.message);
                assert_int_equal(cb_zarr_chunk_key(m, "g/u", idx, key, sizeof key, NULL), CUBED_OK);
                assert_int_equal(cb_store_size(s, key, &size, NULL), CUBED_OK);
                assert_int_equal(size, stored);
                memset(back, 0xAB, sizeof back);
                if (cb_zarr_read_chunk(r, idx, NULL, back, r_arena, &stored, &err) != CUBED_OK)
                    fail_msg("%s", err.message);
                assert_int_equal(size, stored);
                assert_memory_equal(data, back, sizeof data);
            }
        }
        assert_int_equal(cb_arena_mark(w_arena), 0);
        assert_int_equal(cb_arena_mark(r_arena), 0);
        uint64_t chunks, bytes;
        assert_int_equal(cb_zarr_stored(s, cb_zarr_path(r), &chunks, &bytes, NULL), CUBED_OK);
        assert_int_equal(chunks, 9);
        assert_true(bytes >= 9 * stored / 2);
        cb_arena_free(w_arena);
        cb_arena_free(r_arena);
        cb_zarr_close(z);
        cb_zarr_close(r);
        cb_store_close(s);
    }
}

static cb_zarr_array *array_for_pieces(cubed_store *s, int kind, bool skip_empty)
{
    cb_zarr_meta m;
    cb_zarr_array *z;
    make_meta(&m, kinds[kind].format, kinds[kind].codecs);
    m.skip_empty = skip_empty;
    assert_int_equal(cb_zarr_attach(s, "u", &m, &z, NULL), CUBED_OK);
    return z;
}

/* A chunk that contains only the fill value is not stored, if such chunks are to be omitted. */
static void put_in_pieces(cubed_store *s, bool skip_empty, bool zeros)
{
    enum { RAW_KIND = 5, HALF = 6 };
    static const int64_t idx[2] = {1, 1};
    cb_zarr_array *z = array_for_pieces(s, RAW_KIND, skip_empty);
    cubed_store_pieces *p;
    double data[2 * HALF] = {0};
    bool holds = false;
    uint64_t stored;
    if (!zeros) data[2 * HALF - 1] = -0.0;
    assert_true(cb_zarr_takes_pieces(z));
    put(s, "u/c/1/1", "of an attempt before");
    assert_int_equal(cb_zarr_begin_pieces(z, idx, &p, NULL), CUBED_OK);
    assert_int_equal(
        cb_zarr_put_piece(z, p, sizeof data / 2, data + HALF, sizeof data / 2, &holds, NULL),
        CUBED_OK);
    assert_int_equal(holds, !zeros || !skip_empty);
    assert_int_equal(cb_zarr_put_piece(z, p, 0, data, sizeof data / 2, &holds, NULL), CUBED_OK);
    assert_int_equal(cb_zarr_end_pieces(z, idx, p, holds, &stored, NULL), CUBED_OK);
    cb_zarr_free_pieces(z, p);
    assert_int_equal(stored, holds ? sizeof data : 0);
    assert_int_equal(exists(s, "u/c/1/1"), holds);
    if (holds) {
        double back[2 * HALF];
        cb_arena *a = arena(cb_zarr_read_need(cb_zarr_get_meta(z)));
        assert_int_equal(cb_zarr_read_chunk(z, idx, NULL, back, a, &stored, NULL), CUBED_OK);
        cb_arena_free(a);
        assert_memory_equal(data, back, sizeof back);
    }
    cb_zarr_close(z);
}

static void test_pieces(void **state)
{
    (void)state;
    char dir[64];
    cubed_store *s, *m = memory();
    assert_non_null(mkdtemp(test_path(dir, sizeof dir, "cubed-test-XXXXXX")));
    assert_int_equal(cb_store_open_local(&cb_system_allocator, dir, false, &s, NULL), CUBED_OK);
    for (int i = 0; i < 4; i++) put_in_pieces(s, i & 1, i & 2);
    /* Chunks with codecs are put as a whole; not every store accepts pieces. */
    for (int k = 0; k < NKINDS; k++) {
        cb_zarr_array *there = array_for_pieces(s, k, false),
                      *other = array_for_pieces(m, k, false);
        assert_int_equal(cb_zarr_takes_pieces(there), k == 1 || k == 5);
        assert_false(cb_zarr_takes_pieces(other));
        cb_zarr_close(there);
        cb_zarr_close(other);
    }
    cb_store_close(s);
    cb_store_close(m);
    assert_int_equal(remove_dir(dir), 0);
}

/* Damage is an error that names array and chunk; the arena is released. */
static void test_damaged_chunks(void **state)
{
    (void)state;
    for (int k = 0; k < NKINDS; k++) {
        cubed_store *s = memory();
        cb_zarr_array *z = make_array(s, "u", kinds[k].format, kinds[k].codecs);
        const cb_zarr_meta *m = cb_zarr_get_meta(z);
        cb_arena *a = arena(cb_need_either(cb_zarr_read_need(m), cb_zarr_write_need(m)));
        double data[12] = {1, 2, 3};
        int64_t idx[2] = {2, 1};
        const char *key = kinds[k].format == 2 ? "u/2.1" : "u/c/2/1";
        size_t bound = cb_codec_chain_bound(&m->codecs), got;
        char *bytes = calloc(bound + 100, 1);
        assert_int_equal(cb_zarr_write_chunk(z, idx, data, false, a, NULL, NULL), CUBED_OK);
        assert_int_equal(cb_store_get(s, key, 0, bytes, bound + 100, &got, NULL), CUBED_OK);
        const size_t sizes[] = {0, 1, got - 1, bound + 1, bound + 100};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            cubed_error err = CUBED_ERROR_INIT;
            assert_int_equal(cb_store_put(s, key, bytes, sizes[i], NULL), CUBED_OK);
            assert_int_equal(cb_zarr_read_chunk(z, idx, NULL, data, a, NULL, &err), CUBED_E_FORMAT);
            if (!strstr(err.message, key) || !strstr(err.message, "memory://t"))
                fail_msg("\"%s\" does not say %s", err.message, key);
            assert_int_equal(cb_zarr_read_chunk(z, idx, NULL, data, a, NULL, NULL), CUBED_E_FORMAT);
            assert_int_equal(cb_arena_mark(a), 0);
        }
        free(bytes);
        cb_arena_free(a);
        cb_zarr_close(z);
        cb_store_close(s);
    }
}

static void test_missing_chunks(void **state)
{
    (void)state;
    static const char doc[] =
        "{\"zarr_format\": 2, \"shape\": [5], \"chunks\": [4], \"dtype\": \"%s\", \"fill_value\": "
        "%s, \"order\": \"C\", \"filters\": null, \"compressor\": %s}";
    static const char *const compressors[] = {"null", "{\"id\": \"zstd\", \"level\": 1}"};
    for (int k = 0; k < 2; k++) {
        static const struct {
            const char *type, *fill;
            uint8_t bytes[4];
        } fills[] = {{"<f4", "\"NaN\"", {0, 0, 0xC0, 0x7F}},
                     /* in memory, the value has the machine's byte order */
                     {">f4", "1", {0, 0, 0x80, 0x3F}},
                     {"<i4", "-2", {0xFE, 0xFF, 0xFF, 0xFF}},
                     {"<u4", "null", {0, 0, 0, 0}}};
        for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
            char text[512];
            uint8_t data[16];
            uint64_t stored = 99;
            int64_t idx = 1;
            cb_zarr_array *z;
            cubed_store *s = memory();
            snprintf(text, sizeof text, doc, fills[i].type, fills[i].fill, compressors[k]);
            put(s, ".zarray", text);
            assert_int_equal(cb_zarr_open(s, NULL, "", &z, NULL), CUBED_OK);
            cb_arena *a = arena(cb_zarr_read_need(cb_zarr_get_meta(z)));
            memset(data, 0xAB, sizeof data);
            assert_int_equal(cb_zarr_read_chunk(z, &idx, NULL, data, a, &stored, NULL), CUBED_OK);
            assert_int_equal(stored, 0);
            for (size_t n = 0; n < 16; n += 4) assert_memory_equal(data + n, fills[i].bytes, 4);
            cb_arena_free(a);
            cb_zarr_close(z);
            cb_store_close(s);
        }
    }
}

static void test_keys(void **state)
{
    (void)state;
    cb_zarr_meta m = {.ndim = 3, .separator = '/'};
    int64_t idx[CUBED_MAX_NDIM] = {3, 0, INT64_MAX};
    char key[4096];
    cubed_error err = CUBED_ERROR_INIT;
    static const struct {
        bool v2_keys;
        char separator;
        const char *three, *none;
    } rules[] = {{false, '/', "a/c/3/0/9223372036854775807", "a/c"},
                 {false, '.', "a/c.3.0.9223372036854775807", "a/c"},
                 {true, '.', "a/3.0.9223372036854775807", "a/0"},
                 {true, '/', "a/3/0/9223372036854775807", "a/0"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        m.v2_keys = rules[i].v2_keys;
        m.separator = rules[i].separator;
        m.ndim = 3;
        assert_int_equal(cb_zarr_chunk_key(&m, "a", idx, key, sizeof key, NULL), CUBED_OK);
        assert_string_equal(key, rules[i].three);
        assert_int_equal(cb_zarr_chunk_key(&m, "", idx, key, sizeof key, NULL), CUBED_OK);
        assert_string_equal(key, rules[i].three + 2);
        m.ndim = 0;
        assert_int_equal(cb_zarr_chunk_key(&m, "a", NULL, key, sizeof key, NULL), CUBED_OK);
        assert_string_equal(key, rules[i].none);
        /* The key has its maximum length. */
        m.ndim = CUBED_MAX_NDIM;
        for (int d = 0; d < CUBED_MAX_NDIM; d++) idx[d] = INT64_MAX;
        assert_int_equal(cb_zarr_chunk_key(&m, "a", idx, key, sizeof key, NULL), CUBED_OK);
        assert_int_equal(strlen(key), 20 * CUBED_MAX_NDIM + 1 + (rules[i].v2_keys ? 0 : 2));
        assert_int_equal(cb_zarr_chunk_key(&m, "a", idx, key, 100, &err), CUBED_E_ARG);
        idx[0] = 3;
        idx[1] = 0;
    }
}

/* Tests an array without axes, and one without elements. */
static void test_edge_shapes(void **state)
{
    (void)state;
    for (int format = 2; format <= 3; format++) {
        cubed_store *s = memory();
        cb_zarr_meta m = {.format = format, .dtype = CUBED_INT32};
        cb_zarr_array *z;
        int32_t v = 42, back = 0;
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, NULL), CUBED_OK);
        cb_codec_chain_fix(&m.codecs);
        assert_int_equal(cb_zarr_chunk_bytes(&m), 4);
        assert_int_equal(cb_zarr_prepare(s, "", &m, &z, NULL), CUBED_OK);
        cb_arena *a = arena(cb_need_either(cb_zarr_read_need(&m), cb_zarr_write_need(&m)));
        assert_int_equal(cb_zarr_write_chunk(z, NULL, &v, false, a, NULL, NULL), CUBED_OK);
        assert_int_equal(cb_zarr_commit(z, NULL), CUBED_OK);
        cb_zarr_close(z);
        assert_true(exists(s, format == 2 ? "0" : "c"));
        assert_int_equal(cb_zarr_open(s, NULL, "", &z, NULL), CUBED_OK);
        assert_int_equal(cb_zarr_get_meta(z)->ndim, 0);
        assert_int_equal(cb_zarr_read_chunk(z, NULL, NULL, &back, a, NULL, NULL), CUBED_OK);
        assert_int_equal(back, 42);
        cb_zarr_close(z);
        m.ndim = 2;
        m.shape[1] = 5;
        m.chunk[0] = m.chunk[1] = 3;
        assert_int_equal(cb_store_clear(s, "", NULL), CUBED_OK);
        assert_int_equal(cb_zarr_meta_defaults(&m, NULL, NULL, NULL), CUBED_OK);
        cb_codec_chain_fix(&m.codecs);
        assert_int_equal(cb_zarr_prepare(s, "", &m, &z, NULL), CUBED_OK);
        assert_int_equal(cb_zarr_commit(z, NULL), CUBED_OK);
        cb_zarr_close(z);
        assert_false(exists(s, format == 2 ? "0" : "c"));
        assert_int_equal(cb_zarr_open(s, NULL, "", &z, NULL), CUBED_OK);
        assert_int_equal(cb_zarr_get_meta(z)->shape[0], 0);
        assert_int_equal(cb_zarr_get_meta(z)->shape[1], 5);
        cb_zarr_close(z);
        cb_arena_free(a);
        cb_store_close(s);
    }
}

static void test_prepare(void **state)
{
    (void)state;
    for (int format = 2; format <= 3; format++) {
        cubed_store *s = memory();
        cubed_error err = CUBED_ERROR_INIT;
        const char *doc = format == 2 ? "a/b/u/.zarray" : "a/b/u/zarr.json";
        const char *groups[] = {format == 2 ? ".zgroup" : "zarr.json",
                                format == 2 ? "a/.zgroup" : "a/zarr.json",
                                format == 2 ? "a/b/.zgroup" : "a/b/zarr.json"};
        cb_zarr_meta m;
        cb_zarr_array *z, *r;
        make_meta(&m, format, NULL);
        m.attrs = "{\"units\": \"K\"}";
        m.dim_names[0] = "y";
        m.dim_names[1] = "x";
        assert_int_equal(cb_zarr_prepare(s, "a/b/u", &m, &z, NULL), CUBED_OK);
        for (int i = 0; i < 3; i++) assert_true(exists(s, groups[i]));
        /* A partly written array does not exist for readers. */
        assert_false(exists(s, doc));
        assert_int_equal(cb_zarr_open(s, NULL, "a/b/u", &r, &err), CUBED_E_NOT_FOUND);
        assert_int_equal(cb_zarr_commit(z, NULL), CUBED_OK);
        cb_zarr_close(z);
        assert_true(exists(s, doc));
        assert_int_equal(cb_zarr_open(s, NULL, "a/b/u", &r, NULL), CUBED_OK);
        assert_string_equal(cb_zarr_get_meta(r)->attrs, "{\"units\": \"K\"}");
        assert_string_equal(cb_zarr_get_meta(r)->dim_names[1], "x");
        cb_zarr_close(r);

        /* An existing array or group is not overwritten by default, and an array is not taken for a group. */
        assert_int_equal(cb_zarr_prepare(s, "a/b/u", &m, &z, &err), CUBED_E_EXISTS);
        assert_non_null(strstr(err.message, "memory://t::a/b/u"));
        assert_int_equal(cb_zarr_prepare(s, "a/b", &m, &z, &err), CUBED_E_EXISTS);
        assert_int_equal(cb_zarr_prepare(s, "a/b/u/v", &m, &z, &err), CUBED_E_EXISTS);
        assert_non_null(strstr(err.message, "a/b/u of memory://t is an array"));
        assert_true(exists(s, doc));
        assert_int_equal(cb_zarr_prepare(s, "../u", &m, &z, &err), CUBED_E_ARG);
        assert_int_equal(cb_zarr_prepare(s, "a//u", &m, &z, &err), CUBED_E_ARG);

        cb_store_close(s);
    }
}

/* Other libraries trust consolidated metadata, so adding an array must remove it. */
static void test_consolidated_metadata_is_dropped(void **state)
{
    (void)state;
    cb_zarr_meta m;
    cb_zarr_array *z;
    cubed_store *s = memory();
    put(s, ".zgroup", "{\"zarr_format\": 2}");
    put(s, ".zmetadata", "{\"zarr_consolidated_format\": 1, \"metadata\": {}}");
    make_meta(&m, 2, NULL);
    assert_int_equal(cb_zarr_prepare(s, "u", &m, &z, NULL), CUBED_OK);
    cb_zarr_close(z);
    assert_false(exists(s, ".zmetadata"));
    assert_true(exists(s, ".zgroup"));
    cb_store_close(s);

    s = memory();
    put(s, "zarr.json",
        "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {\"a\": 1.5}, "
        "\"consolidated_metadata\": {\"kind\": \"inline\", \"metadata\": {}}}");
    make_meta(&m, 3, NULL);
    assert_int_equal(cb_zarr_prepare(s, "g/u", &m, &z, NULL), CUBED_OK);
    cb_zarr_close(z);
    assert_false(says(s, "zarr.json", "consolidated"));
    assert_true(says(s, "zarr.json", "\"a\": 1.5"));
    cb_store_close(s);
}

static void test_no_array(void **state)
{
    (void)state;
    cb_zarr_array *z;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *s = memory();
    assert_int_equal(cb_zarr_open(s, NULL, "", &z, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "no Zarr array at memory://t"));
    for (int i = 0; i < 25; i++) {
        char path[32];
        snprintf(path, sizeof path, "g/u%02d", i);
        cb_zarr_close(make_array(s, path, 2 + i % 2, NULL));
    }
    /* The error for a group lists its members, up to a limit. */
    assert_int_equal(cb_zarr_open(s, NULL, "g", &z, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "memory://t::g is a group"));
    assert_non_null(strstr(err.message, "g/u00, g/u01"));
    assert_non_null(strstr(err.message, "g/u19, ..."));
    assert_null(strstr(err.message, "u20"));
    assert_int_equal(cb_zarr_open(s, NULL, "g", &z, NULL), CUBED_E_NOT_FOUND);

    /* Metadata that is not JSON, is missing, or belongs to another kind of node. */
    put(s, "bad/.zarray", "{\"zarr_format\": ");
    assert_int_equal(cb_zarr_open(s, NULL, "bad", &z, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "bad/.zarray"));
    put(s, "bad/.zarray", "");
    assert_int_equal(cb_zarr_open(s, NULL, "bad", &z, &err), CUBED_E_FORMAT);
    put(s, "bad/zarr.json", "[]");
    assert_int_equal(cb_zarr_open(s, NULL, "bad", &z, &err), CUBED_E_FORMAT);
    put(s, "bad/zarr.json", "{\"node_type\": \"tree\"}");
    assert_int_equal(cb_zarr_open(s, NULL, "bad", &z, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "\"tree\""));
    put(s, "bad/zarr.json", "{\"node_type\": \"array\"}");
    assert_int_equal(cb_zarr_open(s, NULL, "bad", &z, &err), CUBED_E_FORMAT);
    put(s, "bad2/.zarray", "{}");
    put(s, "bad2/.zattrs", "7");
    assert_int_equal(cb_zarr_open(s, NULL, "bad2", &z, &err), CUBED_E_FORMAT);
    cb_store_close(s);
}

/* Reads arrays of format 2 with blosc, which other programs wrote years ago. */
static void test_real_data(void **state)
{
    (void)state;
    const char *dir = getenv("CUBED_TEST_DATA");
    char path[4096];
    cubed_store *s;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(path, sizeof path, "%s/era5_t2m_uk.zarr", dir ? dir : "");
    assert_int_equal(cb_store_open_local(&cb_system_allocator, path, false, &s, NULL), CUBED_OK);
    if (!dir || !exists(s, ".zgroup")) {
        print_message("skipped: CUBED_TEST_DATA has no era5_t2m_uk.zarr\n");
        cb_store_close(s);
        skip();
    }
    cb_zarr_array *z;
    if (cb_zarr_open(s, NULL, "t2m", &z, &err) != CUBED_OK) fail_msg("%s", err.message);
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    assert_int_equal(m->format, 2);
    assert_int_equal(m->dtype, CUBED_FLOAT32);
    assert_int_equal(m->ndim, 3);
    assert_string_equal(m->dim_names[0], "time");
    cb_arena *a = arena(cb_zarr_read_need(m));
    float *data = malloc(cb_zarr_chunk_bytes(m));
    int64_t idx[3] = {0, 0, 0};
    uint64_t stored;
    if (cb_zarr_read_chunk(z, idx, NULL, data, a, &stored, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    assert_true(stored > 0);
    /* The values are plausible temperatures in kelvins. */
    assert_true(data[0] > 180 && data[0] < 340);
    free(data);
    cb_arena_free(a);
    cb_zarr_close(z);
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_damaged_chunks),
        cmocka_unit_test(test_missing_chunks),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_edge_shapes),
        cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_consolidated_metadata_is_dropped),
        cmocka_unit_test(test_no_array),
        cmocka_unit_test(test_real_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
