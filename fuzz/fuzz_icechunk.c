/* Takes any bytes as the snapshot and the manifest of an Icechunk repository. The first four bytes are the length of the
 * snapshot, which follows, then the manifest. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "files/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 39, MOST = 200, READ = 4096 };
#define ID "00000000000000000000"

typedef struct keys {
    char list[MOST][256];
    int n;
} keys;

static cubed_status keep(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    keys *k = ctx;
    (void)size;
    if (k->n == MOST) return cb_fail(err, CUBED_E_CANCELLED, "enough");
    const size_t n = strlen(key) + 1;
    if (n <= sizeof k->list[0]) memcpy(k->list[k->n++], key, n);
    return CUBED_OK;
}

static void put(cubed_store *s, const char *key, uint8_t type, const uint8_t *data, size_t size)
{
    uint8_t *all = calloc(1, HEADER + size);
    if (!all) abort();
    memcpy(all,
           "ICE\xf0\x9f\xa7\x8a"
           "CHUNK",
           12);
    all[36] = 1;
    all[37] = type;
    memcpy(all + HEADER, data, size);
    if (cb_store_put(s, key, all, HEADER + size, NULL) != CUBED_OK) abort();
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static keys k;
    static uint8_t bytes[READ];
    cb_stores stores;
    cubed_store *within, *file;
    if (size < 4) return 0;
    const size_t n = cb_le_get(data, 4) < size - 4 ? (size_t)cb_le_get(data, 4) : size - 4;
    cb_stores_init(&stores, &cb_system_allocator);
    if (cb_store_open_memory(&cb_system_allocator, "memory://x", &within, NULL) != CUBED_OK)
        abort();
    put(within, "snapshots/" ID, 1, data + 4, n);
    put(within, "manifests/" ID, 2, data + 4 + n, size - 4 - n);
    k.n = 0;
    if (cb_file_open(&stores, within, "@snapshot." ID, "memory://x/y", &file, NULL) == CUBED_OK) {
        cubed_status st = cb_store_list(file, "", keep, &k, NULL);
        for (int i = 0; i < k.n; i++) {
            size_t got;
            cb_buf version;
            cb_buf_init(&version, &cb_system_allocator);
            st = cb_store_get(file, k.list[i], 0, bytes, READ, &got, NULL);
            st = cb_file_put_version(file, k.list[i], &version, NULL);
            cb_buf_free(&version);
        }
        (void)st;
        cb_store_close(file);
    }
    cb_stores_free(&stores);
    return 0;
}
