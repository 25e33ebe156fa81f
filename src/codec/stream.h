/* Decoding a chunk from its first byte to its last in pieces, so that neither the chunk nor its encoded bytes are in memory. */
#ifndef CB_CODEC_STREAM_H
#define CB_CODEC_STREAM_H

#include "codec/codec.h"

/* Bytes of the buffer of encoded bytes, and of each buffer between two codecs. */
enum { CB_STREAM_SOURCE = 1 << 20, CB_STREAM_BETWEEN = 64 << 10 };
/* Maximum bytes of a window of zstd that a projection has room for, as decoders should have (RFC 8878, 3.1.1.1.2). Metadata that
 * states a level with a longer window gets it. */
enum { CB_STREAM_ZSTD_WINDOW = 8 << 20 };

/* What one call may read and write; the call moves `in` and `out` ahead. */
typedef struct cb_stream_io {
    const char *in;
    size_t left; /* bytes at `in` */
    bool last;   /* no bytes follow those at `in` */
    char *out;
    size_t room; /* bytes at `out` */
    bool ended;  /* set by the call: the encoded bytes were complete, and all are decoded */
} cb_stream_io;

/* How a codec decodes a stream. A state is in the arena, aligned for any type, and is not moved. */
typedef struct cb_codec_streaming {
    const cubed_codec_vtable *codec;
    size_t (*state_bytes)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    cubed_status (*begin)(void *state, size_t size, const void *conf, cubed_error *err);
    /* Reads or writes at least one byte, unless there is neither input nor output left, or it fails. */
    cubed_status (*step)(void *state, cb_stream_io *io, cubed_error *err);
} cb_codec_streaming;

/* Reads the next encoded bytes, at most `cap`; *got is 0 at their end. */
typedef cubed_status (*cb_stream_source)(void *ctx, void *dst, size_t cap, size_t *got,
                                         cubed_error *err);

typedef struct cb_stream_stage {
    const cb_codec_streaming *how;
    const char *name; /* of the codec */
    void *state;
    char *buffer; /* of its input */
    size_t cap, at, n;
    bool last, ended;
} cb_stream_stage;

typedef struct cb_codec_stream {
    cb_stream_source source;
    void *ctx;
    int nstages; /* in the order of decoding */
    cb_stream_stage stage[CB_MAX_CODECS];
} cb_codec_stream;

/* Whether a part of a chain can be decoded as a stream of bytes, which are then elements in the order of `layout`. */
bool cb_codec_part_streams(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *layout);
/* Memory of such a stream. */
cb_need cb_codec_stream_need(const cb_codec_chain *c, cb_codec_subread part);
/* Memory of the stream is in `arena`. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_open(const cb_codec_chain *c, cb_codec_subread part,
                                                   cb_stream_source source, void *ctx,
                                                   cb_arena *arena, cb_codec_stream *out,
                                                   cubed_error *err);
/* Decodes the next bytes, at most `cap`; *got is 0 when the chunk has ended and was complete. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_read(cb_codec_stream *s, void *dst, size_t cap,
                                                   size_t *got, cubed_error *err);

#endif
