/* Decodes a chunk sequentially in pieces, so that neither the chunk nor its encoded bytes are fully in memory. */
#ifndef CB_CODEC_STREAM_H
#define CB_CODEC_STREAM_H

#include "codec/codec.h"

/* Size in bytes of the buffer for encoded bytes, and of each buffer between two codecs. */
enum { CB_STREAM_SOURCE = 1 << 20, CB_STREAM_BETWEEN = 64 << 10 };
/* Maximum size in bytes of a zstd window that the projection reserves; RFC 8878, 3.1.1.1.2, recommends that decoders
 * support it. If the metadata states a level with a longer window, the projection reserves that window. */
enum { CB_STREAM_ZSTD_WINDOW = 8 << 20 };

/* Input and output of one call. The call advances `in` and `out`. */
typedef struct cb_stream_io {
    const char *in;
    size_t left; /* bytes at `in` */
    bool last;   /* no bytes follow those at `in` */
    char *out;
    size_t room; /* bytes available at `out` */
    bool ended;  /* set by the call after all encoded bytes were decoded and complete */
} cb_stream_io;

/* Stream decoder of a codec. Its state is in the arena, aligned for any type, and does not move. */
typedef struct cb_codec_streaming {
    const cubed_codec_vtable *codec;
    size_t (*state_bytes)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    cubed_status (*begin)(void *state, size_t size, const void *conf, cubed_error *err);
    /* Reads or writes at least one byte unless the call fails, or no input and no output space is left. */
    cubed_status (*step)(void *state, cb_stream_io *io, cubed_error *err);
} cb_codec_streaming;

/* Reads the next encoded bytes, at most `cap`. Sets *got to 0 at the end. */
typedef cubed_status (*cb_stream_source)(void *ctx, void *dst, size_t cap, size_t *got,
                                         cubed_error *err);

typedef struct cb_stream_stage {
    const cb_codec_streaming *how;
    const char *name; /* name of the codec */
    void *state;
    char *buffer; /* encoded input */
    size_t cap, at, n;
    bool last, ended;
} cb_stream_stage;

typedef struct cb_codec_stream {
    cb_stream_source source;
    void *ctx;
    int nstages; /* number of stages; they are in the order of decoding */
    cb_stream_stage stage[CB_MAX_CODECS];
} cb_codec_stream;

/* Checks whether a part can be decoded as a stream of bytes. The decoded elements have the given `layout`. */
bool cb_codec_part_streams(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *layout);
/* Returns the memory of a stream opened by cb_codec_stream_open. */
cb_need cb_codec_stream_need(const cb_codec_chain *c, cb_codec_subread part);
/* Opens a stream. Allocates its memory from `arena`. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_open(const cb_codec_chain *c, cb_codec_subread part,
                                                   cb_stream_source source, void *ctx,
                                                   cb_arena *arena, cb_codec_stream *out,
                                                   cubed_error *err);
/* Decodes the next bytes, at most `cap`. Sets *got to 0 at the end, after checking that the chunk is complete. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_read(cb_codec_stream *s, void *dst, size_t cap,
                                                   size_t *got, cubed_error *err);

#endif
