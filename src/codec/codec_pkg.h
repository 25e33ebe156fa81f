/* Declarations shared by the codecs of this folder only. */
#ifndef CB_CODEC_PKG_H
#define CB_CODEC_PKG_H

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/stream.h"

#define CUBED_CODEC(name) extern const cubed_codec_vtable cb_codec_##name;
#include "codec/codecs.def"
#undef CUBED_CODEC

/* Codecs that can decode streams: rows of the table in stream.c. */
extern const cb_codec_streaming cb_streaming_zstd, cb_streaming_gzip, cb_streaming_zlib,
    cb_streaming_lz4, cb_streaming_crc32c, cb_streaming_crc32, cb_streaming_adler32,
    cb_streaming_fletcher32;

/* An optional integer key of a configuration: its default, and its limits lo and hi (inclusive). */
typedef struct cb_conf_key {
    const char *codec, *key;
    int64_t missing, lo, hi;
} cb_conf_key;
CUBED_MUST_CHECK cubed_status cb_conf_int(const json_t *conf, const cb_conf_key *key, int64_t *out,
                                          cubed_error *err);
/* Parses a JSON string and reads a configuration from it with `read`. */
typedef cubed_status (*cb_conf_read_fn)(const json_t *doc, int format, const cubed_codec_ctx *ctx,
                                        void *conf, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_conf_parse(const char *json, const char *codec, int format,
                                            const cubed_codec_ctx *ctx, cb_conf_read_fn read,
                                            void *conf, cubed_error *err);
/* Parse and print a configuration that consists of one integer (cb_conf_key). */
CUBED_MUST_CHECK cubed_status cb_conf_parse_int(const char *json, const cb_conf_key *key,
                                                int64_t *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_conf_print_int(int64_t value, const cb_conf_key *key, char *json,
                                                size_t cap, cubed_error *err);

/* cb_codec_same_bound is the bound of codecs whose output is as long as their input; cb_codec_needs_nothing is the need of
 * codecs that use no memory. */
size_t cb_codec_same_bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
cubed_codec_need cb_codec_needs_nothing(const void *conf, const cubed_codec_ctx *ctx,
                                        size_t raw_size);

/* Parse and print the empty configuration {}. cb_codec_four_more is the bound of codecs that add a four-byte checksum. */
CUBED_MUST_CHECK cubed_status cb_codec_parse_nothing(const char *json, int format,
                                                     const cubed_codec_ctx *ctx, void *conf,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_codec_print_nothing(const void *conf, int format,
                                                     const cubed_codec_ctx *ctx, char *json,
                                                     size_t cap, cubed_error *err);
size_t cb_codec_four_more(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);

/* Configuration of "transpose", from which the chain computes layouts: stored axis d is axis[d] of the array. */
typedef struct cb_transpose_conf {
    uint8_t axis[CUBED_MAX_NDIM];
} cb_transpose_conf;
/* Configuration of "shuffle", from which the chain computes layouts. */
typedef struct cb_shuffle_conf {
    int64_t elementsize; /* bytes per element; may differ from the array's item size */
} cb_shuffle_conf;

/* Sizes and memory of parts of a chain: see codec.h. */
size_t cb_step_bound(const cb_codec_chain *c, const cb_codec_step *s);
size_t cb_subread_bytes(const cb_codec_chain *c, cb_codec_subread part);
typedef enum cb_codec_way { CB_ENCODE, CB_DECODE } cb_codec_way;
cb_need cb_subread_need(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way);
/* Buffers of the steps of one call. */
typedef struct cb_codec_io {
    const void *src;
    size_t src_size;
    void *dst;
    size_t dst_cap;
    const int64_t *used; /* encoding: part of the chunk within the array; NULL: all */
    cb_arena *scratch;
} cb_codec_io;
CUBED_MUST_CHECK cubed_status cb_subread_run(const cb_codec_chain *c, cb_codec_subread part,
                                             cb_codec_way way, const cb_codec_io *io, size_t *got,
                                             cubed_error *err);
/* Decodes a part to `dst`, which has cb_subread_bytes. CUBED_E_FORMAT if the output has another size. */
CUBED_MUST_CHECK cubed_status cb_subread_decode(const cb_codec_chain *c, cb_codec_subread part,
                                                const void *src, size_t src_size, void *dst,
                                                cb_arena *scratch, cubed_error *err);

/* Returns the memory in bytes that zstd needs to compress up to `most` bytes in one call. */
size_t cb_zstd_encode_memory(int level, size_t most);

/* State of decoding a stream with a four-byte little-endian checksum before or after the data. */
typedef struct cb_sum_stream {
    bool in_front;
    uint32_t sum[3];
    /* the checksum if it is in front; otherwise the last bytes read, which may be the checksum */
    uint8_t stored[4];
    size_t n; /* bytes in `stored` */
    void (*add)(struct cb_sum_stream *s, const void *data, size_t n);
    uint32_t (*end)(struct cb_sum_stream *s);
    /* maps a sum to an alternative that is also valid; may be NULL */
    uint32_t (*other)(uint32_t sum);
} cb_sum_stream;
size_t cb_sum_stream_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
CUBED_MUST_CHECK cubed_status cb_sum_stream_step(void *state, cb_stream_io *io, cubed_error *err);

/* Bump allocator over scratch, for C libraries that take alloc and free functions. Never frees. */
typedef struct cb_bump {
    char *at, *end;
} cb_bump;
static inline void *cb_bump_alloc(cb_bump *b, size_t size)
{
    size_t rounded = cb_arena_round(size);
    if (rounded > (size_t)(b->end - b->at)) return NULL;
    void *p = b->at;
    b->at += rounded;
    return p;
}
static inline cb_bump cb_bump_of(const cubed_codec_call *call)
{
    return (cb_bump){call->scratch, (char *)call->scratch + call->scratch_size};
}

#endif
