/* Reads a part of a chunk: decodes the whole chunk sequentially, and stores only the bytes of the part. */
#include <string.h>

#include "codec/stream.h"
#include "zarr/parts.h"

/* Receives the decoded bytes of the chunk. */
typedef struct sink {
    cb_zarr_runs *r;
    size_t chunk_bytes, unit; /* unit: unit size of codec "shuffle" in bytes; 0: not shuffled */
    uint64_t came;            /* number of bytes decoded so far */
    cubed_range run; /* the next contiguous byte range of the part; size 0: no range is left */
    size_t run_at;   /* position of `run` in the part, in stored order */
    /* buffer: collects elements, which are then moved to their positions together */
    char *buffer, *dst;
    size_t buffered, cap;
} sink;

typedef struct source {
    cb_zarr_encoded *e;
    uint64_t at;
} source;

static cubed_status read_source(void *ctx, void *dst, size_t cap, size_t *got, cubed_error *err)
{
    source *s = ctx;
    CB_TRY(cb_zarr_get_some(s->e, s->at, dst, cap, got, err));
    s->at += *got;
    return CUBED_OK;
}

static void next_run(sink *s)
{
    s->run_at += s->run.size;
    s->run = s->r->more ? cb_zarr_runs_next(s->r) : (cubed_range){UINT64_MAX, 0};
}

static void first_run(sink *s)
{
    cb_zarr_runs_restart(s->r);
    s->run = cb_zarr_runs_next(s->r);
    s->run_at = 0;
}

static void place(sink *s)
{
    cb_zarr_runs_place(s->r, s->buffer, s->buffered, s->dst);
    s->buffered = 0;
}

/* Stores the next bytes of the part, at offset `at` in stored order. */
static void keep(sink *s, size_t at, const char *bytes, size_t n)
{
    if (!s->r->moves) {
        memcpy(s->dst + at, bytes, n);
        return;
    }
    while (n > 0) {
        const size_t some = cb_min_size(n, s->cap - s->buffered);
        memcpy(s->buffer + s->buffered, bytes, some);
        s->buffered += some;
        bytes += some;
        n -= some;
        if (s->buffered == s->cap) place(s);
    }
}

static void take_plain(sink *s, const char *bytes, size_t n)
{
    const uint64_t end = s->came + n;
    while (s->run.size > 0 && s->run.offset < end) {
        const uint64_t to = s->run.offset + s->run.size;
        const uint64_t lo = s->run.offset > s->came ? s->run.offset : s->came;
        const uint64_t hi = to < end ? to : end;
        if (lo < hi)
            keep(s, s->run_at + (size_t)(lo - s->run.offset), bytes + (lo - s->came),
                 (size_t)(hi - lo));
        if (to > end) break;
        next_run(s);
    }
}

/* Stores bytes of a row of shuffled data. The row has byte number `byte` of each unit, and these bytes belong to units
 * first..first+n-1. */
static void take_row(sink *s, size_t byte, uint64_t first, const char *bytes, size_t n)
{
    const uint64_t end = first + n;
    while (s->run.size > 0 && s->run.offset / s->unit < end) {
        const uint64_t from = s->run.offset / s->unit, to = from + s->run.size / s->unit;
        char *dst = s->dst + s->run_at + byte;
        for (uint64_t i = from > first ? from : first; i < to && i < end; i++)
            dst[(i - from) * s->unit] = bytes[i - first];
        if (to > end) break;
        next_run(s);
    }
}

static void take_shuffled(sink *s, const char *bytes, size_t n)
{
    const uint64_t units = s->chunk_bytes / s->unit;
    for (size_t done = 0; done < n;) {
        const uint64_t at = s->came + done, row = at / units, first = at % units;
        const size_t some = units - first < n - done ? (size_t)(units - first) : n - done;
        if (first == 0) first_run(s);
        take_row(s, (size_t)row, first, bytes + done, some);
        done += some;
    }
}

/* Returns the size of the pieces in which decoded bytes arrive. Without codecs these are the pieces of encoded bytes. */
static size_t piece_bytes(const cb_codec_chain *c, cb_codec_subread part)
{
    return cb_codec_stream_need(c, part).arena == 0 ? CB_STREAM_SOURCE : CB_STREAM_BETWEEN;
}

cb_need cb_zarr_streamed_need(const cb_zarr_meta *m, cb_codec_subread part)
{
    const cb_need piece = {cb_arena_round(piece_bytes(&m->codecs, part)), 0};
    return cb_need_both(piece, cb_codec_stream_need(&m->codecs, part));
}

cubed_status cb_zarr_read_stream(const cb_zarr_meta *m, const cb_zarr_streamed *to,
                                 cb_zarr_encoded *e, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    const size_t chunk_bytes = to->chunk_bytes;
    source from = {e, 0};
    cb_codec_stream stream;
    void *piece;
    size_t got = 1;
    sink s = {.r = to->runs,
              .chunk_bytes = chunk_bytes,
              .unit = to->layout->shuffled,
              .buffer = to->buffer,
              .cap = to->cap,
              .dst = to->dst};
    const size_t most = piece_bytes(&m->codecs, to->codecs);
    CB_TRY(cb_arena_alloc(scratch, most, "piece of a chunk", &piece, err));
    CB_TRY(cb_codec_stream_open(&m->codecs, to->codecs, read_source, &from, scratch, &stream, err));
    first_run(&s);
    /* Decode up to the end even after the last run: a checksum or the end of the chunk may reveal damage. */
    while (got > 0) {
        CB_TRY(cb_codec_stream_read(&stream, piece, most, &got, err));
        if (got > chunk_bytes - s.came)
            return cb_fail(err, CUBED_E_FORMAT,
                           "the chunk decodes to more than %zu bytes, expected exactly this size",
                           chunk_bytes);
        if (s.unit)
            take_shuffled(&s, piece, got);
        else
            take_plain(&s, piece, got);
        s.came += got;
    }
    if (s.buffered > 0) place(&s);
    *stored += from.at;
    if (s.came == chunk_bytes) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "the chunk decodes to %llu bytes, expected %zu",
                   (unsigned long long)s.came, chunk_bytes);
}
