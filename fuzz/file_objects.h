/* Opens bytes as a file that holds arrays, and reads its objects: whole, in parts, and the strings that elements refer to. */
#ifndef CB_FUZZ_FILE_OBJECTS_H
#define CB_FUZZ_FILE_OBJECTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "files/files.h"
#include "zarr/zarr_texts.h"

/* Number of objects that are read, and bytes of each; a chunk of a file may be as large as the file says. */
enum { OBJECTS_MOST = 500, OBJECTS_READ = 1 << 16 };

typedef struct object_keys {
    cb_zone *zone;
    char *list[OBJECTS_MOST];
    int n;
} object_keys;

static inline void require(bool holds)
{
    if (!holds) abort();
}

static inline cubed_status keep_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    object_keys *k = ctx;
    (void)size;
    if (k->n == OBJECTS_MOST) return cb_fail(err, CUBED_E_CANCELLED, "enough");
    k->list[k->n++] = cb_zone_strdup(k->zone, key);
    return CUBED_OK;
}

/* If the whole object can be read, its parts have the same bytes. */
static inline void read_object(cubed_store *s, const char *key)
{
    static const cubed_range ranges[] = {{0, 4}, {17, 20}, {CUBED_RANGE_SUFFIX, 3}};
    static uint8_t whole[OBJECTS_READ], part[OBJECTS_READ];
    cubed_object_info info;
    cubed_error err = CUBED_ERROR_INIT;
    size_t got = 0;
    const cubed_status st = cb_store_get(s, key, 0, whole, OBJECTS_READ, &got, &err);
    require((st == CUBED_OK) == (err.message[0] == 0) && got <= OBJECTS_READ);
    for (int i = 0; i < 3; i++) {
        const size_t n = ranges[i].size;
        const cb_store_parts one = {NULL, ranges + i, 1};
        /* A range beyond the end is an error. */
        if (cb_store_get_parts(s, key, &one, part, &info, NULL, NULL) != CUBED_OK) continue;
        if (st != CUBED_OK || got == OBJECTS_READ) continue;
        const size_t at = ranges[i].offset == CUBED_RANGE_SUFFIX ? got - n : ranges[i].offset;
        require(at + n <= got && memcmp(part, whole + at, n) == 0);
    }
}

static inline void read_strings(cubed_store *s, const char *key, cb_zone *zone)
{
    static const char name[] = "zarr.json";
    const size_t n = strlen(key), end = sizeof name - 1;
    char path[4096];
    cb_zarr_texts texts;
    if (n < end || n >= sizeof path || strcmp(key + n - end, name) != 0) return;
    memcpy(path, key, n);
    path[n > end ? n - end - 1 : 0] = 0;
    if (cb_zarr_read_texts(s, NULL, path, OBJECTS_READ, zone, &texts, NULL) == CUBED_OK)
        cb_arena_free(texts.owner);
}

/* Opens object `key` of a store, and reads everything in it. */
static inline void read_file(cb_stores *stores, cubed_store *within, const char *key,
                             const char *url)
{
    cubed_store *file;
    object_keys k = {.n = 0};
    cubed_error err = CUBED_ERROR_INIT;
    require(cb_zone_new(&cb_system_allocator, &k.zone, NULL) == CUBED_OK);
    cubed_status st = cb_file_open(stores, within, key, url, &file, &err);
    require((st == CUBED_OK) == (err.message[0] == 0));
    if (st == CUBED_OK) {
        st = cb_store_list(file, "", keep_key, &k, NULL);
        for (int i = 0; i < k.n; i++) {
            if (k.list[i]) read_object(file, k.list[i]);
            if (k.list[i]) read_strings(file, k.list[i], k.zone);
        }
        cb_store_close(file);
    }
    (void)st;
    cb_zone_free(k.zone);
}

/* Opens bytes as the file `key` of a store in memory. */
static inline void read_bytes(const uint8_t *data, size_t size)
{
    cb_stores stores;
    cubed_store *within;
    cb_stores_init(&stores, &cb_system_allocator);
    require(cb_store_open_memory(&cb_system_allocator, "memory://x", &within, NULL) == CUBED_OK);
    require(cb_store_put(within, "file", data, size, NULL) == CUBED_OK);
    read_file(&stores, within, "file", "memory://x/file");
    cb_stores_free(&stores);
}

#endif
