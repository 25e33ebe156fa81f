/* Files that hold arrays, and chunks of every codec, where one allocation after the other fails, or one request to the store of
 * the file: an error, or all objects with the bytes that they have without faults. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <cmocka.h>

#include "base/error.h"
#include "fault_steps.h"
#include "files/files.h"
#include "zarr/zarr.h"

enum { MOST_FILE = 1 << 20, MOST_OBJECT = 1 << 18 };

/* A file of fuzz/corpus, whose bytes are the object `key` of a store in memory. */
typedef struct input {
    char name[300];
    unsigned char *bytes;
    size_t size;
    uint64_t hash;     /* hash of all objects that are read if nothing fails */
    long at, requests; /* at: number of the request that fails; requests: number of all requests */
    bool found;        /* `hash` was computed by a run in which every operation succeeded */
} input;

static unsigned char *object;

/* --- A store in which one request fails ----------------------------------------------------------------- */

typedef struct failing_store {
    cubed_store head;
    cubed_store *inner;
    input *of;
} failing_store;

static void failing_submit(cubed_store *s, cubed_store_request *const *requests, size_t n)
{
    failing_store *f = (failing_store *)s;
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i];
        if (++f->of->requests == f->of->at) {
            r->status = cb_fail(r->err, CUBED_E_IO, "the disk is gone");
            r->complete(r);
        } else {
            f->inner->vt->submit(f->inner, &r, 1);
        }
    }
}

static void failing_close(cubed_store *s)
{
    failing_store *f = (failing_store *)s;
    cb_store_close(f->inner);
    cb_free(s->alloc, f, sizeof *f);
}

static const cubed_store_vtable failing_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE,
    .scheme = "failing",
    .close = failing_close,
    .submit = failing_submit,
};

/* --- One file ----------------------------------------------------------------------------------------- */

typedef struct reader {
    cubed_store *file;
    XXH3_state_t *hash;
} reader;

/* Reads an object, and adds its key and its bytes to the hash. An object that cannot be read without faults has a status
 * that is hashed in place of bytes. */
static cubed_status read_object(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const reader *r = ctx;
    cubed_error why = CUBED_ERROR_INIT;
    size_t got = 0;
    (void)size;
    const cubed_status st = cb_store_get(r->file, key, 0, object, MOST_OBJECT, &got, &why);
    if (st == CUBED_E_NOMEM || (st == CUBED_E_IO && strstr(why.message, "the disk is gone"))) {
        *err = why;
        return st;
    }
    XXH3_64bits_update(r->hash, key, strlen(key));
    XXH3_64bits_update(r->hash, &st, sizeof st);
    XXH3_64bits_update(r->hash, object, st == CUBED_OK ? got : 0);
    return CUBED_OK;
}

/* Opens the file in a store whose requests may fail. *file takes the store over. */
static cubed_status open_file(input *in, cb_stores *stores, const cubed_allocator *a,
                              cubed_store **file, cubed_error *err)
{
    cubed_store *inner;
    cubed_status st = cb_store_open_memory(a, "memory://x", &inner, err);
    if (st != CUBED_OK) return st;
    failing_store *f = NULL;
    st = cb_store_put(inner, "file", in->bytes, in->size, err);
    if (st == CUBED_OK) {
        f = cb_alloc_zero(a, sizeof *f);
        if (!f) st = cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    }
    if (st != CUBED_OK) {
        cb_store_close(inner);
        return st;
    }
    *f = (failing_store){{&failing_vtable, a, "memory://x"}, inner, in};
    in->requests = 0;
    return cb_file_open(stores, &f->head, "file", "memory://x/file", file, err);
}

static cubed_status read_file(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    input *in = ctx;
    cb_stores stores;
    reader r = {.hash = XXH3_createState()};
    assert_non_null(r.hash);
    XXH3_64bits_reset(r.hash);
    cb_stores_init(&stores, a);
    cubed_status st = open_file(in, &stores, a, &r.file, err);
    if (st == CUBED_OK) {
        st = cb_store_list(r.file, "", read_object, &r, err);
        cb_store_close(r.file);
    }
    cb_stores_free(&stores);
    if (st == CUBED_OK) {
        const uint64_t hash = XXH3_64bits_digest(r.hash);
        if (in->found && hash != in->hash)
            fail_msg("%s: other bytes than without faults", in->name);
        in->hash = hash;
        in->found = true;
    }
    XXH3_freeState(r.hash);
    return st;
}

static void fail_each_request(input *in)
{
    for (in->at = 1;; in->at++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cubed_status st = read_file(in, &cb_system_allocator, &err);
        const bool failed = in->requests >= in->at;
        /* Only an allocation for a cache may fail without an error. Every request is needed. */
        if (failed && (st != CUBED_E_IO || !strstr(err.message, "the disk is gone")))
            fail_msg("%s: request %ld: status %d, \"%s\"", in->name, in->at, st, err.message);
        if (!failed) break;
    }
    in->at = 0;
}

/* Returns false if the file is refused without faults: the corpora have such files. */
static bool try_file(const char *folder, const char *name)
{
    input in = {.bytes = malloc(MOST_FILE)};
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(in.name, sizeof in.name, "%s/%s", folder, name);
    FILE *f = fopen(in.name, "rb");
    assert_non_null(f);
    assert_non_null(in.bytes);
    in.size = fread(in.bytes, 1, MOST_FILE, f);
    fclose(f);
    const bool opens = read_file(&in, &cb_system_allocator, &err) == CUBED_OK;
    if (opens) {
        fail_each_allocation(in.name, read_file, NULL, &in);
        fail_each_request(&in);
    }
    free(in.bytes);
    return opens;
}

static void try_folder(const char *folder, int least)
{
    DIR *dir = opendir(folder);
    int n = 0;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] != '.') n += try_file(folder, e->d_name);
    }
    closedir(dir);
    assert_true(n >= least);
}

static void test_files(void **state)
{
    (void)state;
    try_folder(CORPUS "/file", 10);
    try_folder(CORPUS "/references", 1);
}

/* --- Codecs --------------------------------------------------------------------------------------------- */

#define LITTLE                "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define NUMCODECS(name, conf) "{\"name\": \"numcodecs." name "\", \"configuration\": {" conf "}}"
#define BLOSC                                                                                      \
    "{\"name\": \"blosc\", \"configuration\": {\"cname\": \"zstd\", \"clevel\": 1, \"shuffle\": "  \
    "\"shuffle\", \"typesize\": 4, \"blocksize\": 0}}"

static const char *const chains[] = {
    "[" LITTLE "]",
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, " LITTLE ", \"crc32c\"]",
    "[" LITTLE ", {\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": true}}]",
    "[" LITTLE ", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]",
    "[" LITTLE ", " BLOSC "]",
    "[" LITTLE ", \"numcodecs.shuffle\", \"numcodecs.zlib\", \"numcodecs.fletcher32\"]",
    "[" LITTLE ", \"numcodecs.lz4\", \"numcodecs.bz2\", \"numcodecs.adler32\"]",
#ifdef CB_HAVE_LZMA
    "[" LITTLE ", " NUMCODECS("lzma", "\"preset\": 0") "]",
#endif
#ifdef CB_HAVE_ZFP
    "[" NUMCODECS("zfpy", "\"mode\": 4, \"tolerance\": 0.0001") "]",
#endif
    "[" NUMCODECS("bitround", "\"keepbits\": 20") ", " NUMCODECS(
        "quantize", "\"dtype\": \"<f4\", \"digits\": 3") ", " LITTLE "]",
    "[" NUMCODECS("fixedscaleoffset",
                  "\"dtype\": \"<f4\", \"astype\": \"<i4\", \"offset\": 0, "
                  "\"scale\": 1") ", " NUMCODECS("delta", "\"dtype\": \"<i4\"") ", " LITTLE "]",
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [4, 4], \"codecs\": "
    "[" LITTLE ", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}], \"index_codecs\": "
    "[" LITTLE ", \"crc32c\"]}}]",
};

enum { SIDE = 8 };

/* Makes an array with these codecs, writes its chunk, opens the array again, and reads the chunk. */
static cubed_status write_and_read(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    const char *codecs = ctx;
    const int64_t origin[2] = {0, 0};
    float data[SIDE][SIDE], back[SIDE][SIDE];
    cubed_store *store = NULL;
    cb_zarr_array *z = NULL;
    cb_arena *arena = NULL;
    cubed_status st;
    char meta[2048];
    for (int i = 0; i < SIDE * SIDE; i++) data[i / SIDE][i % SIDE] = (float)i;
    snprintf(meta, sizeof meta,
             "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [%d, %d], \"data_type\": "
             "\"float32\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
             "{\"chunk_shape\": [%d, %d]}}, \"chunk_key_encoding\": {\"name\": \"default\"}, "
             "\"fill_value\": 0, \"codecs\": %s}",
             SIDE, SIDE, SIDE, SIDE, codecs);
    CB_GO(cb_store_open_memory(a, "memory://t", &store, err));
    CB_GO(cb_store_put(store, "u/zarr.json", meta, strlen(meta), err));
    CB_GO(cb_zarr_open(store, NULL, "u", &z, err));
    CB_GO(cb_arena_new(a, cb_zarr_write_need(cb_zarr_get_meta(z)), &arena, err));
    CB_GO(cb_zarr_write_chunk(z, origin, data, false, arena, NULL, err));
    cb_arena_free(arena);
    arena = NULL;
    CB_GO(cb_arena_new(a, cb_zarr_read_need(cb_zarr_get_meta(z)), &arena, err));
    CB_GO(cb_zarr_read_chunk(z, origin, NULL, back, arena, NULL, err));
    assert_memory_equal(back, data, sizeof data);
out:
    cb_arena_free(arena);
    cb_zarr_close(z);
    if (store) cb_store_close(store);
    return st;
}

static void test_codecs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
        const long n =
            fail_each_allocation(chains[k], write_and_read, NULL, (void *)(uintptr_t)chains[k]);
        assert_true(n > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_codecs),
    };
    object = malloc(MOST_OBJECT);
    const int failed = object ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    free(object);
    return failed;
}
