/* Decodes any bytes as an encoded chunk. The first two bytes choose the codecs and the shape of the chunk. Decoded data are
 * encoded and decoded again. All calls have exactly the memory that the codecs declare. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NUMCODECS(name, conf) "{\"name\": \"numcodecs." name "\", \"configuration\": {" conf "}}"

/* Append new rows at the end, because the inputs of the corpus contain row numbers. A row is raw if this build lacks its
 * codec. */
static const struct {
    const char *codecs;
    cubed_dtype dtype;
    bool lossy; /* encoding changes values */
} chains[] = {
    {"[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]", CUBED_FLOAT64, false},
    {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, \"little\"]",
     CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"zstd\", \"configuration\": {\"level\": 1}}]", CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": true}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]", CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 6}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", \"crc32c\"]", CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, "
     "\"shuffle\": \"shuffle\"}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"blosclz\", \"clevel\": "
     "9, "
     "\"shuffle\": \"bitshuffle\"}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"zstd\", \"clevel\": 1, "
     "\"shuffle\": \"noshuffle\", \"blocksize\": 4096}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"zlib\", \"clevel\": 1, "
     "\"shuffle\": \"shuffle\", \"typesize\": 3}}]",
     CUBED_FLOAT64, false},
    {"[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, {\"name\": \"bytes\", "
     "\"configuration\": {\"endian\": \"big\"}}, {\"name\": \"zstd\", \"configuration\": "
     "{\"level\": 1}}, {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}, \"crc32c\"]",
     CUBED_FLOAT64, false},
    {"[\"little\", \"numcodecs.lz4\"]", CUBED_FLOAT64, false},
    {"[\"little\", {\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 1}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", \"numcodecs.shuffle\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]",
     CUBED_FLOAT64, false},
    {"[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1], \"codecs\": "
     "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"gzip\", "
     "\"configuration\": {\"level\": 1}}], \"index_codecs\": [{\"name\": \"bytes\", "
     "\"configuration\": {\"endian\": \"little\"}}], \"index_location\": \"start\"}}]",
     CUBED_FLOAT64, false},
    {"[\"little\", \"numcodecs.crc32\", {\"name\": \"numcodecs.adler32\", \"configuration\": "
     "{\"location\": \"end\"}}]",
     CUBED_FLOAT64, false},
    {"[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1], \"codecs\": "
     "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], \"index_codecs\": "
     "[{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 1, 0]}}, {\"name\": \"bytes\", "
     "\"configuration\": {\"endian\": \"little\"}}, \"crc32c\"]}}]",
     CUBED_FLOAT64, false},
#ifdef CB_HAVE_ZFP
    {"[{\"name\": \"numcodecs.zfpy\", \"configuration\": {\"tolerance\": 0.5}}]", CUBED_FLOAT64,
     false},
#else
    {"[\"little\"]", CUBED_FLOAT64, false},
#endif
#ifdef CB_HAVE_LZMA
    {"[\"little\", {\"name\": \"numcodecs.lzma\", \"configuration\": {\"preset\": 0}}]",
     CUBED_FLOAT64, false},
#else
    {"[\"little\"]", CUBED_FLOAT64, false},
#endif
#ifdef CB_HAVE_PCODEC
    {"[\"numcodecs.pcodec\"]", CUBED_FLOAT64, false},
#else
    {"[\"little\"]", CUBED_FLOAT64, false},
#endif
    {"[" NUMCODECS("delta", "\"dtype\": \"<i2\", \"astype\": \"|i1\"") ", \"little\"]", CUBED_INT16,
     true},
    {"[" NUMCODECS("delta", "\"dtype\": \"<i8\"") ", \"little\", \"numcodecs.lz4\"]", CUBED_INT64,
     false},
    {"[" NUMCODECS("delta", "\"dtype\": \"<f4\"") ", \"little\"]", CUBED_FLOAT32, true},
    {"[" NUMCODECS(
         "fixedscaleoffset",
         "\"dtype\": \"<f4\", \"astype\": \"|u1\", \"offset\": 1, \"scale\": 10") ", \"little\"]",
     CUBED_FLOAT32, true},
    {"[" NUMCODECS("quantize", "\"dtype\": \"<f4\", \"digits\": 1") ", \"little\"]", CUBED_FLOAT32,
     true},
    {"[" NUMCODECS("bitround", "\"keepbits\": 3") ", \"little\"]", CUBED_FLOAT64, true},
    {"[" NUMCODECS("astype",
                   "\"encode_dtype\": \"|u1\", \"decode_dtype\": \"<i2\"") ", \"little\"]",
     CUBED_INT16, true},
    {"[{\"name\": \"scale_offset\", \"configuration\": {\"offset\": 1, \"scale\": 4}}, \"little\"]",
     CUBED_FLOAT32, true},
    {"[" NUMCODECS("packbits", "") ", \"little\"]", CUBED_BOOL, false},
    {"[\"little\", \"numcodecs.fletcher32\"]", CUBED_FLOAT64, false},
    {"[\"little\", " NUMCODECS("shuffle",
                               "\"elementsize\": 3") ", \"numcodecs.bz2\", \"numcodecs.adler32\"]",
     CUBED_UINT8, false},
    {"[\"little\", \"cubed.hdf5_lz4\"]", CUBED_UINT16, false},
    {"[\"little\", \"numcodecs.shuffle\", \"numcodecs.zlib\", \"numcodecs.fletcher32\", "
     "\"cubed.filter_mask\"]",
     CUBED_FLOAT64, false},
    {"[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1], \"codecs\": "
     "[" NUMCODECS(
         "bitround",
         "\"keepbits\": 1") ", {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}, "
                            "\"crc32c\"], \"index_codecs\": [{\"name\": \"bytes\", "
                            "\"configuration\": {\"endian\": \"little\"}}, \"crc32c\"]}}]",
     CUBED_FLOAT32, true},
};
static const int64_t shapes[][2] = {{1, 1}, {7, 5}, {64, 128}, {1, 1000}};

/* "little" stands for the most frequent element of the lists. */
static json_t *codec_list(const char *text)
{
    json_t *list;
    if (cb_json_parse("chains", text, strlen(text), &list, NULL) != CUBED_OK) abort();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name && strcmp(name, "little") == 0)
            json_array_set_new(
                list, i,
                json_pack("{s:s, s:{s:s}}", "name", "bytes", "configuration", "endian", "little"));
    }
    return list;
}

static void check(cubed_status st, const cubed_error *err)
{
    if (st == CUBED_OK) return;
    /* Another writer may use larger blocks than the memory is for. In all other cases the declared memory must be enough. */
    bool budget = st == CUBED_E_BUDGET && strstr(err->message, "blocks of");
    if (st != CUBED_E_FORMAT && !budget) abort();
    if (err->status != st || err->message[0] == 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cb_codec_chain c;
    cb_arena *decoding, *encoding;
    cubed_error err = CUBED_ERROR_INIT;
    if (size < 2) return 0;
    const int64_t *shape = shapes[data[1] % (sizeof shapes / sizeof *shapes)];
    const size_t row = data[0] % (sizeof chains / sizeof *chains);
    json_t *list = codec_list(chains[row].codecs);
    const cubed_dtype dtype = chains[row].dtype;
    const size_t item = cubed_dtype_size(dtype);
    /* Elements of float64 have two units, as complex ones do. */
    const cb_codec_array array = {item, dtype == CUBED_FLOAT64 ? 4 : item, 2, shape, NULL, dtype,
                                  NULL};
    if (cb_codec_chain_parse_v3("chains", list, &array, &c, &err) != CUBED_OK) abort();
    json_decref(list);
    cb_codec_chain_fix(&c);
    const cubed_allocator *a = &cb_system_allocator;
    if (cb_arena_new(a, cb_codec_chain_decode_need(&c), &decoding, NULL) != CUBED_OK) abort();
    if (cb_arena_new(a, cb_codec_chain_encode_need(&c), &encoding, NULL) != CUBED_OK) abort();
    /* Allocate buffers of exactly the needed size, so that sanitizers detect an overrun. */
    uint8_t *src = malloc(size - 1), *chunk = malloc(c.chunk_bytes);
    uint8_t *again = malloc(c.chunk_bytes), *encoded = malloc(cb_codec_chain_bound(&c));
    if (!src || !chunk || !again || !encoded) abort();
    memcpy(src, data + 2, size - 2);
    cubed_status st = cb_codec_chain_decode(&c, src, size - 2, chunk, decoding, &err);
    check(st, &err);
    if (st == CUBED_OK) {
        size_t got = 0;
        st = cb_codec_chain_encode(&c, chunk, NULL, encoded, &got, encoding, &err);
        if (st == CUBED_OK && got > cb_codec_chain_bound(&c)) abort();
        if (st == CUBED_OK) st = cb_codec_chain_decode(&c, encoded, got, again, decoding, &err);
        if (st != CUBED_OK && !chains[row].lossy) abort();
        if (!chains[row].lossy && memcmp(chunk, again, c.chunk_bytes) != 0) abort();
    }
    free(src);
    free(chunk);
    free(again);
    free(encoded);
    cb_arena_free(decoding);
    cb_arena_free(encoding);
    return 0;
}
