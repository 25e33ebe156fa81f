/* Opens any bytes as a file of arrays (NetCDF, HDF5, ZIP, references). Reads its documents and chunks, and the strings that
 * elements refer to. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "files/files.h"
#include "zarr/zarr_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* MOST: maximum number of objects that are read. READ: maximum bytes of each, because a chunk of a file may be as large as the
 * file states. */
enum { MOST = 500, READ = 1 << 16 };

typedef struct keys {
    cb_zone *zone;
    char *list[MOST];
    int n;
} keys;

static cubed_status keep(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    keys *k = ctx;
    (void)size;
    if (k->n == MOST) return cb_fail(err, CUBED_E_CANCELLED, "enough");
    k->list[k->n++] = cb_zone_strdup(k->zone, key);
    return CUBED_OK;
}

static void read_object(cubed_store *s, const char *key)
{
    static uint8_t bytes[READ];
    const cubed_range ranges[] = {{0, READ / 4}, {17, READ / 4}, {CUBED_RANGE_SUFFIX, READ / 4}};
    cubed_object_info info;
    size_t got;
    cubed_status st = cb_store_get(s, key, 0, bytes, READ, &got, NULL);
    if (st == CUBED_OK && got > READ) abort();
    for (int i = 0; i < 3; i++)
        st = cb_store_get_parts(s, key, NULL, ranges + i, 1, bytes, &info, NULL, NULL);
    (void)st;
}

static void read_texts(cubed_store *s, const char *key, cb_zone *zone)
{
    static const char name[] = "zarr.json";
    const size_t n = strlen(key), end = sizeof name - 1;
    char path[4096];
    cb_zarr_texts texts;
    if (n < end || n >= sizeof path || strcmp(key + n - end, name) != 0) return;
    memcpy(path, key, n);
    path[n > end ? n - end - 1 : 0] = 0;
    if (cb_zarr_read_texts(s, NULL, path, READ, zone, &texts, NULL) == CUBED_OK)
        cb_arena_free(texts.owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cb_stores stores;
    cubed_store *within, *file;
    keys k = {.n = 0};
    if (cb_stores_init(&stores, &cb_system_allocator, NULL) != CUBED_OK) abort();
    if (cb_store_open_memory(&cb_system_allocator, "memory://x", &within, NULL) != CUBED_OK ||
        cb_store_put(within, "file", data, size, NULL) != CUBED_OK ||
        cb_zone_new(&cb_system_allocator, &k.zone, NULL) != CUBED_OK)
        abort();
    if (cb_file_open(&stores, within, "file", "memory://x/file", &file, NULL) == CUBED_OK) {
        cubed_status st = cb_store_list(file, "", keep, &k, NULL);
        for (int i = 0; i < k.n; i++) {
            if (k.list[i]) read_object(file, k.list[i]);
            if (k.list[i]) read_texts(file, k.list[i], k.zone);
        }
        (void)st;
        cb_store_close(file);
    }
    cb_zone_free(k.zone);
    cb_stores_free(&stores);
    return 0;
}
