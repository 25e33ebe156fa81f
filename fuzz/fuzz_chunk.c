/* Reads any bytes as a stored chunk or shard. Parts of it (inner chunks of shards, blocks of blosc, streams) must have the same
 * values as the whole. The first byte chooses the codecs and the kind of shard. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/core/store.h"
#include "zarr/zarr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 16, COLS = 64, NPARTS = 4, PART_ROWS = 8, PART_COLS = 32 };

/* Append new rows at the end, because the inputs of the corpus contain row numbers. */
static const struct {
    const char *index; /* location of a shard's index; NULL: not a shard */
    const char *codecs;
} stored_as[] = {
    {"end", ""},
    {"start", ""},
    {"end", ", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}"},
    {"start", ", {\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": false}}"},
    {"end", ", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, "
            "\"shuffle\": \"shuffle\", \"typesize\": 2, \"blocksize\": 256}}"},
    {"end", ", {\"name\": \"crc32c\"}"},
    {NULL, ""},
    {NULL, ", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, "
           "\"shuffle\": \"shuffle\", \"typesize\": 2, \"blocksize\": 256}}"},
    {NULL, ", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}"},
    {NULL, ", {\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": true}}"},
    {NULL, ", {\"name\": \"numcodecs.lz4\"}"},
    {NULL,
     ", {\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 2}}, {\"name\": "
     "\"numcodecs.zlib\"}"},
    {NULL, ", {\"name\": \"crc32c\"}"},
    {NULL, ", {\"name\": \"numcodecs.fletcher32\"}, {\"name\": \"numcodecs.adler32\"}"},
    {NULL, ", {\"name\": \"numcodecs.lz4\"}, {\"name\": \"numcodecs.crc32\"}"},
};

static void require(bool holds)
{
    if (!holds) abort();
}

static bool no_room; /* a chunk needed more memory than plans have for it */

/* Returns true on success. Checks that a failure has a message and is caused by the bytes. */
static bool worked(cubed_status st, const cubed_error *err)
{
    /* Another writer may use larger blocks, or a longer window, than the memory is for. */
    bool budget = st == CUBED_E_BUDGET &&
                  (strstr(err->message, "blocks of") || strstr(err->message, "a window of"));
    no_room = no_room || budget;
    require(st == CUBED_OK || ((st == CUBED_E_FORMAT || budget) && err->message[0]));
    return st == CUBED_OK;
}

static const char bytes_codec[] =
    "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}";

static void describe_codecs(size_t row, char *text, size_t cap)
{
    const char *index = stored_as[row].index, *codecs = stored_as[row].codecs;
    int n = index
                ? snprintf(text, cap,
                           "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": "
                           "[%d, %d], \"codecs\": [%s%s], \"index_codecs\": [%s], "
                           "\"index_location\": \"%s\"}}",
                           PART_ROWS, PART_COLS, bytes_codec, codecs, bytes_codec, index)
                : snprintf(text, cap, "%s%s", bytes_codec, codecs);
    require(n > 0 && n < (int)cap);
}

static cb_zarr_array *open_array(cubed_store *store, size_t row, const uint8_t *data, size_t size)
{
    char codecs[512], meta[1024];
    cb_zarr_array *z;
    describe_codecs(row, codecs, sizeof codecs);
    int n = snprintf(meta, sizeof meta,
                     "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [20, 100], "
                     "\"data_type\": \"uint16\", \"chunk_grid\": {\"name\": \"regular\", "
                     "\"configuration\": {\"chunk_shape\": [%d, %d]}}, \"chunk_key_encoding\": "
                     "{\"name\": \"default\"}, \"fill_value\": 7, \"codecs\": [%s]}",
                     ROWS, COLS, codecs);
    require(n > 0 && n < (int)sizeof meta);
    require(cb_store_put(store, "zarr.json", meta, (size_t)n, NULL) == CUBED_OK);
    require(cb_store_put(store, "c/0/0", data, size, NULL) == CUBED_OK);
    require(cb_zarr_open(store, NULL, "", &z, NULL) == CUBED_OK);
    return z;
}

static cb_arena *new_arena(cb_need need)
{
    cb_arena *arena;
    require(cb_arena_new(&cb_system_allocator, need, &arena, NULL) == CUBED_OK);
    return arena;
}

static bool read_whole(const cb_zarr_array *z, uint16_t *values)
{
    static const int64_t origin[2];
    cubed_error err = CUBED_ERROR_INIT;
    cb_arena *scratch = new_arena(cb_zarr_read_need(cb_zarr_get_meta(z)));
    uint64_t stored = 0;
    bool ok = worked(cb_zarr_read_chunk(z, origin, NULL, values, scratch, &stored, &err), &err);
    cb_arena_free(scratch);
    return ok;
}

static void put_part(uint16_t *values, const int64_t *idx, const uint16_t *part)
{
    uint16_t *to = values + idx[0] * PART_ROWS * COLS + idx[1] * PART_COLS;
    for (int r = 0; r < PART_ROWS; r++, to += COLS, part += PART_COLS)
        memcpy(to, part, PART_COLS * sizeof *part);
}

/* Returns true if an inner chunk that is read row by row has the same values as when it is read whole. */
static bool is_same_in_rows(const cb_zarr_array *z, const int64_t *idx, const void *index,
                            const uint16_t *part, cb_arena *scratch)
{
    cubed_error err = CUBED_ERROR_INIT;
    uint64_t stored = 0;
    for (int64_t row = 0; row < PART_ROWS; row++) {
        uint16_t values[PART_COLS - 1];
        const cb_zarr_extract some = {.lo = {row, 1}, .hi = {row + 1, PART_COLS}, .dst = values};
        if (!worked(cb_zarr_subread_inner(z, idx, index, &some, scratch, &stored, &err), &err)) {
            require(no_room);
            return false;
        }
        require(memcmp(values, part + row * PART_COLS + 1, sizeof values) == 0);
    }
    return true;
}

static bool read_inner_chunks(const cb_zarr_array *z, uint16_t *values)
{
    static const int64_t origin[2];
    cubed_error err = CUBED_ERROR_INIT;
    cb_arena *scratch = new_arena(cb_zarr_read_inner_need(cb_zarr_get_meta(z)));
    cb_arena *less = new_arena(cb_zarr_subread_inner_need(cb_zarr_get_meta(z)));
    uint64_t stored = 0;
    void *index = malloc(cb_zarr_index_bytes(cb_zarr_get_meta(z)));
    require(index != NULL);
    bool ok = worked(cb_zarr_read_index(z, origin, NULL, index, scratch, &stored, &err), &err);
    for (int64_t i = 0; i < NPARTS && ok; i++) {
        uint16_t part[PART_ROWS * PART_COLS];
        const int64_t idx[2] = {i / 2, i % 2};
        ok = worked(cb_zarr_read_inner(z, idx, index, NULL, part, scratch, &stored, &err), &err);
        if (ok) ok = is_same_in_rows(z, idx, index, part, less);
        if (ok) put_part(values, idx, part);
    }
    cb_arena_free(less);
    cb_arena_free(scratch);
    free(index);
    return ok;
}

static bool read_runs(const cb_zarr_array *z, uint16_t *values)
{
    require(cb_zarr_parts_of(cb_zarr_get_meta(z), false) != CB_ZARR_NO_PARTS);
    static const int64_t origin[2];
    cubed_error err = CUBED_ERROR_INIT;
    cb_arena *scratch = new_arena(cb_zarr_part_need(cb_zarr_get_meta(z), false));
    uint64_t stored = 0;
    bool ok = true;
    for (int64_t i = 0; i < NPARTS && ok; i++) {
        uint16_t part[PART_ROWS * PART_COLS];
        const int64_t idx[2] = {i / 2, i % 2}, lo[2] = {idx[0] * PART_ROWS, idx[1] * PART_COLS};
        const cb_zarr_extract some = {
            .lo = {lo[0], lo[1]}, .hi = {lo[0] + PART_ROWS, lo[1] + PART_COLS}, .dst = part};
        ok = worked(cb_zarr_subread(z, origin, &some, scratch, &stored, &err), &err);
        if (ok) put_part(values, idx, part);
    }
    cb_arena_free(scratch);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t whole[ROWS * COLS], parts[ROWS * COLS];
    cubed_store *store;
    if (size == 0) return 0;
    no_room = false;
    size_t row = data[0] % (sizeof stored_as / sizeof *stored_as);
    require(cb_store_open_memory(&cb_system_allocator, "chunk", &store, NULL) == CUBED_OK);
    cb_zarr_array *z = open_array(store, row, data + 1, size - 1);
    bool ok = read_whole(z, whole);
    /* Reads of parts need not detect damage outside of the parts. */
    bool some = cb_zarr_index_bytes(cb_zarr_get_meta(z)) ? read_inner_chunks(z, parts)
                                                         : read_runs(z, parts);
    require(some || !ok || no_room);
    require(!some || !ok || memcmp(whole, parts, sizeof whole) == 0);
    cb_zarr_close(z);
    cb_store_close(store);
    return 0;
}
