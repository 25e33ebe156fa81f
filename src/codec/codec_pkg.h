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

/* Stream decoders (codec/stream.h), one for each codec that can decode sequentially. stream.c lists them. */
extern const cb_codec_streaming cb_streaming_zstd, cb_streaming_gzip, cb_streaming_zlib,
    cb_streaming_lz4, cb_streaming_crc32c, cb_streaming_crc32, cb_streaming_adler32,
    cb_streaming_fletcher32;

/* An optional key of a codec's configuration whose value is an integer. */
typedef struct cb_conf_key {
    const char *codec, *key;
    int64_t missing, lo, hi; /* value if the key is missing; minimum and maximum */
} cb_conf_key;
/* Reads the value of a key. Booleans count as 0 and 1. CUBED_E_FORMAT if the value is not valid. */
CUBED_MUST_CHECK cubed_status cb_conf_int(const json_t *conf, const cb_conf_key *key, int64_t *out,
                                          cubed_error *err);
/* Parses the string `json`, and calls `read`, which fills the codec's structure `conf` from the document. */
typedef cubed_status (*cb_conf_read_fn)(const json_t *doc, int format, const cubed_codec_ctx *ctx,
                                        void *conf, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_conf_parse(const char *json, const char *codec, int format,
                                            const cubed_codec_ctx *ctx, cb_conf_read_fn read,
                                            void *conf, cubed_error *err);
/* Parse and print a configuration that has only one key. */
CUBED_MUST_CHECK cubed_status cb_conf_parse_int(const char *json, const cb_conf_key *key,
                                                int64_t *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_conf_print_int(int64_t value, const cb_conf_key *key, char *json,
                                                size_t cap, cubed_error *err);

/* Functions for vtables: `bound` of codecs whose output is as long as their input, and decode_need or encode_need of codecs that
 * use no memory. */
size_t cb_codec_same_bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
cubed_codec_need cb_codec_needs_nothing(const void *conf, const cubed_codec_ctx *ctx,
                                        size_t raw_size);

/* Functions for vtables: `parse` and `print` of codecs whose configuration is {}, and `bound` of codecs that add a checksum of
 * four bytes. */
CUBED_MUST_CHECK cubed_status cb_codec_parse_nothing(const char *json, int format,
                                                     const cubed_codec_ctx *ctx, void *conf,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_codec_print_nothing(const void *conf, int format,
                                                     const cubed_codec_ctx *ctx, char *json,
                                                     size_t cap, cubed_error *err);
size_t cb_codec_four_more(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);

/* Configuration of "transpose". chain.c also reads it, for cb_codec_part_layout. */
typedef struct cb_transpose_conf {
    uint8_t axis[CUBED_MAX_NDIM]; /* stored axis d is axis axis[d] of the codec's input */
} cb_transpose_conf;
/* Configuration of "shuffle". chain.c also reads it, for cb_codec_part_layout. */
typedef struct cb_shuffle_conf {
    int64_t elementsize; /* bytes per element; may differ from the array's item size */
} cb_shuffle_conf;

/* Returns the maximum encoded size in bytes of a step's output; 0 if it overflows. */
size_t cb_step_bound(const cb_codec_chain *c, const cb_codec_step *s);
/* Returns the decoded size in bytes of a part of a chain: the size of the input of its first step. */
size_t cb_subread_bytes(const cb_codec_chain *c, cb_codec_subread part);
typedef enum cb_codec_way { CB_ENCODE, CB_DECODE } cb_codec_way;
/* Returns the memory of cb_subread_run in addition to its source and destination. */
cb_need cb_subread_need(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way);
/* Source and destination of a run of a part of a chain. */
typedef struct cb_codec_io {
    const void *src;
    size_t src_size;
    void *dst;
    size_t dst_cap;
    const int64_t *used; /* encoding: shape of the part of the chunk within the array; NULL: all */
    cb_arena *scratch;
} cb_codec_io;
/* Encodes or decodes with the steps of a part of a chain. Sets *got to the size of the output. */
CUBED_MUST_CHECK cubed_status cb_subread_run(const cb_codec_chain *c, cb_codec_subread part,
                                             cb_codec_way way, const cb_codec_io *io, size_t *got,
                                             cubed_error *err);
/* Decodes a part to `dst`, which has cb_subread_bytes bytes. CUBED_E_FORMAT if the output has another size. */
CUBED_MUST_CHECK cubed_status cb_subread_decode(const cb_codec_chain *c, cb_codec_subread part,
                                                const void *src, size_t src_size, void *dst,
                                                cb_arena *scratch, cubed_error *err);

/* Returns the memory in bytes that zstd needs to compress up to `most` bytes in one call. */
size_t cb_zstd_encode_memory(int level, size_t most);

/* State of the stream decoder of a codec that adds a checksum of four bytes (little-endian) before or after the data. */
typedef struct cb_sum_stream {
    bool in_front;   /* the checksum precedes the data */
    uint32_t sum[3]; /* state of the checksum, which `add` and `end` define */
    /* the checksum if it precedes the data; otherwise the last bytes read, which may be the checksum */
    uint8_t stored[4];
    size_t n;                                                         /* bytes in `stored` */
    void (*add)(struct cb_sum_stream *s, const void *data, size_t n); /* adds data to the sum */
    uint32_t (*end)(struct cb_sum_stream *s);                         /* returns the checksum */
    /* returns an alternative checksum that is also valid; may be NULL */
    uint32_t (*other)(uint32_t sum);
} cb_sum_stream;
/* Members state_bytes and step of cb_codec_streaming for these codecs. */
size_t cb_sum_stream_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
CUBED_MUST_CHECK cubed_status cb_sum_stream_step(void *state, cb_stream_io *io, cubed_error *err);

/* Allocator in the scratch memory of a call, for C libraries that accept functions for allocation. It never frees memory. */
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
