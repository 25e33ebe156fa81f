/* Decodes any bytes as an encoded chunk. The first two bytes choose the codecs and the shape of the chunk. Decoded data are
 * encoded and decoded again. All calls have exactly the memory that the codecs declare. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Append new rows at the end, because the inputs of the corpus contain row numbers. */
static const char *const chains[] = {
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]",
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, \"little\"]",
    "[\"little\", {\"name\": \"zstd\", \"configuration\": {\"level\": 1}}]",
    "[\"little\", {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": true}}]",
    "[\"little\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]",
    "[\"little\", {\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 6}}]",
    "[\"little\", \"crc32c\"]",
    "[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"lz4\", \"clevel\": 5, "
    "\"shuffle\": \"shuffle\"}}]",
    "[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"blosclz\", \"clevel\": 9, "
    "\"shuffle\": \"bitshuffle\"}}]",
    "[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"zstd\", \"clevel\": 1, "
    "\"shuffle\": \"noshuffle\", \"blocksize\": 4096}}]",
    "[\"little\", {\"name\": \"blosc\", \"configuration\": {\"cname\": \"zlib\", \"clevel\": 1, "
    "\"shuffle\": \"shuffle\", \"typesize\": 3}}]",
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}}, {\"name\": \"bytes\", "
    "\"configuration\": {\"endian\": \"big\"}}, {\"name\": \"zstd\", \"configuration\": "
    "{\"level\": 1}}, {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}, \"crc32c\"]",
    "[\"little\", \"numcodecs.lz4\"]",
    "[\"little\", {\"name\": \"numcodecs.bz2\", \"configuration\": {\"level\": 1}}]",
    "[\"little\", \"numcodecs.shuffle\", {\"name\": \"gzip\", \"configuration\": {\"level\": 1}}]",
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1], \"codecs\": "
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"gzip\", "
    "\"configuration\": {\"level\": 1}}], \"index_codecs\": [{\"name\": \"bytes\", "
    "\"configuration\": {\"endian\": \"little\"}}], \"index_location\": \"start\"}}]",
    "[\"little\", \"numcodecs.crc32\", {\"name\": \"numcodecs.adler32\", \"configuration\": "
    "{\"location\": \"end\"}}]",
    "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 1], \"codecs\": "
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], \"index_codecs\": "
    "[{\"name\": \"transpose\", \"configuration\": {\"order\": [2, 1, 0]}}, {\"name\": \"bytes\", "
    "\"configuration\": {\"endian\": \"little\"}}, \"crc32c\"]}}]",
#ifdef CB_HAVE_ZFP
    "[{\"name\": \"numcodecs.zfpy\", \"configuration\": {\"tolerance\": 0.5}}]",
#endif
#ifdef CB_HAVE_LZMA
    "[\"little\", {\"name\": \"numcodecs.lzma\", \"configuration\": {\"preset\": 0}}]",
#endif
#ifdef CB_HAVE_PCODEC
    "[\"numcodecs.pcodec\"]",
#endif
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
    json_t *list = codec_list(chains[data[0] % (sizeof chains / sizeof *chains)]);
    if (cb_codec_chain_parse_v3("chains", list,
                                &(cb_codec_array){8, 4, 2, shape, NULL, CUBED_FLOAT64, NULL}, &c,
                                &err) != CUBED_OK)
        abort();
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
        if (cb_codec_chain_encode(&c, chunk, NULL, encoded, &got, encoding, &err) != CUBED_OK)
            abort();
        if (got > cb_codec_chain_bound(&c)) abort();
        if (cb_codec_chain_decode(&c, encoded, got, again, decoding, &err) != CUBED_OK) abort();
        if (memcmp(chunk, again, c.chunk_bytes) != 0) abort();
    }
    free(src);
    free(chunk);
    free(again);
    free(encoded);
    cb_arena_free(decoding);
    cb_arena_free(encoding);
    return 0;
}
