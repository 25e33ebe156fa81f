/* Decodes a chunk sequentially in pieces, so that neither the whole chunk nor all of its encoded bytes are in memory. */
#ifndef CB_CODEC_STREAM_H
#define CB_CODEC_STREAM_H

#include "codec/codec.h"

/* Size in bytes of the buffer for encoded bytes, and of each buffer between two codecs. */
enum { CB_STREAM_SOURCE = 1 << 20, CB_STREAM_BETWEEN = 64 << 10 };
/* Size in bytes of the zstd window that the projection (the memory bound of a task) allows for. RFC 8878, 3.1.1.1.2, recommends
 * that decoders support it. If the level in the metadata has a longer window, the projection allows for that window. */
enum { CB_STREAM_ZSTD_WINDOW = 8 << 20 };

/* Input and output of one call of a stream decoder. The call advances `in` and `out`, and decreases `left` and `room`. */
typedef struct cb_stream_io {
    const char *in;
    size_t left; /* bytes at `in` */
    bool last;   /* the bytes at `in` are the last ones */
    char *out;
    size_t room; /* bytes available at `out` */
    bool ended;  /* set by the call after all encoded bytes were decoded and complete */
} cb_stream_io;

/* Stream decoder of a codec. Its state is in the arena, aligned for any type, and does not move. */
typedef struct cb_codec_streaming {
    const cubed_codec_vtable *codec;
    /* Returns the size of the state in bytes. */
    size_t (*state_bytes)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    /* Initialises the state, which has `size` bytes. */
    cubed_status (*begin)(void *state, size_t size, const void *conf, cubed_error *err);
    /* Decodes some bytes. Reads or writes at least one byte unless the call fails, or no input and no output space is left. */
    cubed_status (*step)(void *state, cb_stream_io *io, cubed_error *err);
} cb_codec_streaming;

/* Callback that reads the next encoded bytes of the chunk, at most `cap`. Sets *got to their number; 0 at the end. */
typedef cubed_status (*cb_stream_source)(void *ctx, void *dst, size_t cap, size_t *got,
                                         cubed_error *err);

/* One codec of a stream, with the buffer for its encoded input. */
typedef struct cb_stream_stage {
    const cb_codec_streaming *how;
    const char *name; /* name of the codec */
    void *state;
    char *buffer;      /* `cap` bytes: the input */
    size_t cap, at, n; /* bytes at .. n - 1 of the buffer have not been decoded yet */
    bool last, ended;  /* last: there is no further input. ended: all output was returned */
} cb_stream_stage;

/* A chunk that is being decoded: the source of its encoded bytes, and one stage for each codec. */
typedef struct cb_codec_stream {
    cb_stream_source source;
    void *ctx;
    int nstages; /* number of stages; they are in the order of decoding */
    cb_stream_stage stage[CB_MAX_CODECS];
} cb_codec_stream;

/* Returns true if chunks with the codecs of a part of the chain can be decoded as a stream. A stream does not undo the steps that
 * only move bytes: *layout receives the layout of its elements (cb_codec_part_layout). */
bool cb_codec_part_streams(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *layout);
/* Returns the memory that cb_codec_stream_open allocates. */
cb_need cb_codec_stream_need(const cb_codec_chain *c, cb_codec_subread part);
/* Opens a stream. Allocates its memory in `arena`, which must not be released to an earlier mark (fill level) while the stream is
 * used. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_open(const cb_codec_chain *c, cb_codec_subread part,
                                                   cb_stream_source source, void *ctx,
                                                   cb_arena *arena, cb_codec_stream *out,
                                                   cubed_error *err);
/* Decodes the next bytes to `dst`, at most `cap`. Sets *got to their number. At the end, checks that the chunk is complete, and
 * sets *got to 0. */
CUBED_MUST_CHECK cubed_status cb_codec_stream_read(cb_codec_stream *s, void *dst, size_t cap,
                                                   size_t *got, cubed_error *err);

#endif
