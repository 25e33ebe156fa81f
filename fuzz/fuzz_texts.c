/* Reads any bytes as an array of variable-length strings: its metadata (format 3), a line break, and the object of each of its
 * chunks. Strings are read twice: to find the longest, and to store them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/core/store.h"
#include "zarr/zarr_pkg.h"
#include "zarr/zarr_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maximum bytes of a chunk, and of all strings. */
enum { MOST = 1 << 16 };

static void require(bool holds)
{
    if (!holds) abort();
}

/* Puts the same object for the first chunks along each axis. */
static void put_chunks(cubed_store *store, const cb_zarr_meta *m, const void *object, size_t size)
{
    int64_t idx[CUBED_MAX_NDIM] = {0};
    char key[4096];
    for (int i = 0; i < 4; i++) {
        require(cb_zarr_chunk_key(m, "", idx, key, sizeof key, NULL) == CUBED_OK);
        require(cb_store_put(store, key, object, size, NULL) == CUBED_OK);
        for (int d = 0; d < m->ndim; d++) idx[d] = i >> (d % 2) & 1;
    }
}

static void check(const cb_zarr_texts *x)
{
    const cb_zarr_meta *m = &x->about.meta;
    int64_t n;
    require(cubed_dtype_family(x->dtype) == CUBED_STRING && cubed_dtype_size(x->dtype) >= 4);
    require(cb_count(m->ndim, m->shape, &n) == false);
    require((size_t)n * cubed_dtype_size(x->dtype) <= MOST);
    /* All bytes must be readable, and every character must be valid. */
    for (size_t i = 0; i < (size_t)n * cubed_dtype_size(x->dtype); i += 4) {
        uint32_t code;
        memcpy(&code, (const char *)x->data + i, sizeof code);
        require(code < 0x110000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    const size_t meta = line ? (size_t)(line - data) : size;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *store;
    cb_zone *zone;
    cb_zarr_outline o;
    cb_zarr_texts texts;
    require(cb_store_open_memory(&cb_system_allocator, "texts", &store, NULL) == CUBED_OK);
    require(cb_zone_new(&cb_system_allocator, &zone, NULL) == CUBED_OK);
    require(cb_store_put(store, "zarr.json", data, meta, NULL) == CUBED_OK);
    if (cb_zarr_read_outline(store, "", 3, zone, &o, NULL) == CUBED_OK)
        put_chunks(store, &o.meta, line ? line + 1 : data, line ? size - meta - 1 : 0);
    const cubed_status st = cb_zarr_read_texts(store, NULL, "", MOST, zone, &texts, &err);
    /* Every failure must have a message. */
    require((st == CUBED_OK) == (err.message[0] == 0) && st == err.status);
    if (st == CUBED_OK) {
        check(&texts);
        cb_arena_free(texts.owner);
    }
    cb_zone_free(zone);
    cb_store_close(store);
    return 0;
}
