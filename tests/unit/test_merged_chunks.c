/* Chunks that several writers share: another one writes between a writer's read and its put. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <pthread.h>
#include <stdio.h>
#include <cmocka.h>

#include "remove_dir.h"
#include "test_path.h"
#include "zarr_test.h"

enum { ITEMS = 12 };
#define SHARDS                                                                                     \
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 3], \"codecs\": "  \
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], \"index_codecs\": "     \
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "             \
    "\"crc32c\"}]}}]"
static const char *const codecs[] = {
    NULL, "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]", SHARDS};

/* A store that forwards calls to a store in memory, and calls `before_put` before each put. */
typedef struct meeting {
    cubed_store head;
    cubed_store *inner;
    void (*before_put)(struct meeting *m);
    int times; /* number of writes that the other writer still makes */
    bool ignores_conditions, tells_no_versions;
    int gets, puts;
} meeting;

static cubed_status forward(meeting *m, cubed_store_request *r, cubed_error *err)
{
    cubed_store_request x = *r;
    if (m->ignores_conditions) x.if_match = x.if_none_match = NULL;
    cubed_status st = cb_store_do(m->inner, &x, err);
    r->got = x.got;
    r->info = x.info;
    if (m->tells_no_versions) r->info.version.text[0] = 0;
    return st;
}

static cubed_status get(cubed_store *s, cubed_store_request *r, cubed_error *err)
{
    ((meeting *)s)->gets++;
    return forward((meeting *)s, r, err);
}

static cubed_status put_object(cubed_store *s, cubed_store_request *r, cubed_error *err)
{
    meeting *m = (meeting *)s;
    m->puts++;
    if (m->before_put && m->times-- > 0) m->before_put(m);
    return forward(m, r, err);
}

static cubed_status other(cubed_store *s, cubed_store_request *r, cubed_error *err)
{
    return forward((meeting *)s, r, err);
}

static cubed_status del(cubed_store *s, const char *key, cubed_error *err)
{
    return cb_store_del(((meeting *)s)->inner, key, err);
}

static void submit(cubed_store *s, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions f = {get, put_object, del, other, other};
    cubed_store_serve(s, &f, requests, n);
}

static void close_meeting(cubed_store *s) { cb_store_close(((meeting *)s)->inner); }

static const cubed_store_vtable vtable = {.struct_size = sizeof vtable,
                                          .version = CUBED_STORE_VERSION,
                                          .flags = CUBED_STORE_AT_ONCE,
                                          .scheme = "meeting",
                                          .close = close_meeting,
                                          .submit = submit};

static void open_meeting(meeting *m)
{
    *m = (meeting){.head = {&vtable, &cb_system_allocator, "meeting://x"}, .inner = memory()};
}

/* Writes one value to rows lo..hi-1 of the first chunk, in an arena of the declared size. */
static cubed_status write_rows(cubed_store *s, const cb_zarr_meta *meta, int64_t lo, int64_t hi,
                               double value, cb_zarr_merged *done, cubed_error *err)
{
    static const int64_t first[2] = {0, 0};
    const cb_zarr_part part = {{lo, 0}, {hi, 3}};
    double data[ITEMS];
    cb_zarr_array *z;
    cb_arena *a = arena(cb_zarr_merge_need(meta));
    for (int i = 0; i < ITEMS; i++) data[i] = i / 3 < lo || i / 3 >= hi ? -77 : value;
    assert_int_equal(cb_zarr_attach(s, "u", meta, &z, NULL), CUBED_OK);
    cubed_status st = cb_zarr_merge_chunk(z, first, &part, data, a, done, err);
    assert_int_equal(cb_arena_mark(a), 0);
    cb_arena_free(a);
    cb_zarr_close(z);
    return st;
}

static void expect_rows(cubed_store *s, const cb_zarr_meta *meta, const double *rows)
{
    static const int64_t first[2] = {0, 0};
    double data[ITEMS];
    cb_zarr_array *z;
    cb_arena *a = arena(cb_zarr_read_need(meta));
    assert_int_equal(cb_zarr_attach(s, "u", meta, &z, NULL), CUBED_OK);
    assert_int_equal(cb_zarr_read_chunk(z, first, NULL, data, a, NULL, NULL), CUBED_OK);
    for (int i = 0; i < ITEMS; i++) assert_true(data[i] == rows[i / 3]);
    cb_arena_free(a);
    cb_zarr_close(z);
}

static cb_zarr_meta meta_of(int k, int64_t rows)
{
    cb_zarr_meta m;
    cubed_error err = CUBED_ERROR_INIT;
    m = (cb_zarr_meta){
        .format = 3, .dtype = CUBED_FLOAT64, .ndim = 2, .shape = {rows, 3}, .chunk = {4, 3}};
    m.fill.f64 = 5;
    if (cb_zarr_meta_defaults(&m, NULL, codecs[k], &err) != CUBED_OK) fail_msg("%s", err.message);
    return m;
}

static cb_zarr_meta now; /* metadata with the length of the array that the other writer knows */

static void write_row_two(meeting *m)
{
    cb_zarr_merged done;
    assert_int_equal(write_rows(m->inner, &now, 2, 3, 30 + m->times, &done, NULL), CUBED_OK);
}

/* The parts of all writers are kept, whether or not the chunk existed, and however often the other writer is first. */
static void test_meetings(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        for (int there = 0; there < 2; there++) {
            for (int times = 0; times < 3; times++) {
                meeting m;
                cb_zarr_merged done;
                cubed_error err = CUBED_ERROR_INIT;
                open_meeting(&m);
                now = meta_of(k, 8);
                cb_codec_chain_fix(&now.codecs);
                if (there)
                    assert_int_equal(write_rows(m.inner, &now, 0, 4, 1, &done, NULL), CUBED_OK);
                m.before_put = write_row_two;
                m.times = times;
                if (write_rows(&m.head, &now, 1, 2, 9, &done, &err) != CUBED_OK)
                    fail_msg("%s", err.message);
                assert_int_equal(done.conflicts, times);
                assert_int_equal(m.gets, times + 1);
                assert_int_equal(m.puts, times + 1);
                const double old = there ? 1 : 5;
                expect_rows(m.inner, &now, (double[]){old, 9, times ? 30 : old, old});
                close_meeting(&m.head);
            }
        }
    }
}

/* A part up to the array's end is put without a read if the chunk is missing. If another writer has extended the array and
 * writes beyond that end, its elements are kept; in shards also those of an inner chunk that is wholly beyond the end. */
static void test_extended_meanwhile(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        meeting m;
        cb_zarr_merged done;
        cubed_error err = CUBED_ERROR_INIT;
        open_meeting(&m);
        cb_zarr_meta before = meta_of(k, 2);
        cb_codec_chain_fix(&before.codecs);
        now = meta_of(k, 4);
        cb_codec_chain_fix(&now.codecs);
        assert_int_equal(write_rows(&m.head, &before, 0, 2, 9, &done, NULL), CUBED_OK);
        assert_int_equal(m.gets, 0);
        assert_int_equal(m.puts, 1);
        expect_rows(m.inner, &now, (double[]){9, 9, 5, 5});
        m.before_put = write_row_two;
        m.times = 1;
        if (write_rows(&m.head, &before, 0, 2, 8, &done, &err) != CUBED_OK)
            fail_msg("%s", err.message);
        assert_int_equal(done.conflicts, 0);
        expect_rows(m.inner, &now, (double[]){8, 8, 30, 5});
        assert_int_equal(write_rows(&m.head, &before, 1, 2, 7, &done, NULL), CUBED_OK);
        expect_rows(m.inner, &now, (double[]){8, 7, 30, 5});
        close_meeting(&m.head);
    }
}

static void test_stores_that_cannot(void **state)
{
    (void)state;
    meeting m;
    cb_zarr_merged done;
    cubed_error err = CUBED_ERROR_INIT;
    open_meeting(&m);
    now = meta_of(0, 8);
    cb_codec_chain_fix(&now.codecs);
    assert_int_equal(cb_zarr_check_conditions(&m.head, "u", &err), CUBED_OK);
    assert_int_equal(write_rows(&m.head, &now, 0, 4, 1, &done, NULL), CUBED_OK);
    m.tells_no_versions = true;
    assert_int_equal(cb_zarr_check_conditions(&m.head, "u", &err), CUBED_OK);
    assert_int_equal(write_rows(&m.head, &now, 1, 2, 2, &done, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "write regions of whole chunks"));
    assert_int_equal(write_rows(&m.head, &now, 0, 4, 3, &done, NULL), CUBED_OK);
    m.tells_no_versions = false;
    m.ignores_conditions = true;
    assert_int_equal(cb_zarr_check_conditions(&m.head, "u", &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "ignores the conditions of puts"));
    expect_rows(m.inner, &now, (double[]){3, 3, 3, 3});
    close_meeting(&m.head);
}

/* --- Files, by many threads at once --------------------------------------------------------------------- */

enum { WRITERS = 6, ROUNDS = 40, COLUMNS = 3 };

typedef struct writer {
    const cb_zarr_array *z;
    int number;
    uint64_t conflicts;
} writer;

/* Increments one element of the chunk repeatedly. Each thread has its own element. */
static void *write_often(void *ctx)
{
    static const int64_t first[2] = {0, 0};
    writer *w = ctx;
    const int at = w->number;
    const cb_zarr_part part = {{at / COLUMNS, at % COLUMNS}, {at / COLUMNS + 1, at % COLUMNS + 1}};
    double data[ITEMS] = {0};
    cb_arena *a = arena(cb_zarr_merge_need(cb_zarr_get_meta(w->z)));
    for (int i = 1; i <= ROUNDS; i++) {
        cb_zarr_merged done;
        data[at] = i;
        if (cb_zarr_merge_chunk(w->z, first, &part, data, a, &done, NULL) != CUBED_OK) break;
        w->conflicts += done.conflicts;
    }
    cb_arena_free(a);
    return NULL;
}

static void test_threads_and_files(void **state)
{
    (void)state;
    char dir[64];
    cubed_store *s;
    cb_zarr_array *z;
    pthread_t threads[WRITERS];
    writer writers[WRITERS];
    assert_non_null(mkdtemp(test_path(dir, sizeof dir, "cubed-test-XXXXXX")));
    assert_int_equal(cb_store_open_local(&cb_system_allocator, dir, false, &s, NULL), CUBED_OK);
    now = meta_of(1, 4);
    cb_codec_chain_fix(&now.codecs);
    assert_int_equal(cb_zarr_attach(s, "u", &now, &z, NULL), CUBED_OK);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){z, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    static const int64_t first[2] = {0, 0};
    double data[ITEMS];
    cb_arena *a = arena(cb_zarr_read_need(&now));
    assert_int_equal(cb_zarr_read_chunk(z, first, NULL, data, a, NULL, NULL), CUBED_OK);
    for (int i = 0; i < ITEMS; i++) assert_true(data[i] == (i < WRITERS ? ROUNDS : 5));
    cb_arena_free(a);
    cb_zarr_close(z);
    cb_store_close(s);
    assert_int_equal(remove_dir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meetings), cmocka_unit_test(test_extended_meanwhile),
        cmocka_unit_test(test_stores_that_cannot), cmocka_unit_test(test_threads_and_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
