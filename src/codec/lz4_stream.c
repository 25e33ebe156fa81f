/* Decodes numcodecs' "lz4" as a stream. liblz4 needs all output of a block in memory. This decoder keeps only the last 64
 * KiB, the maximum distance of a match (lz4_Block_format.md). */
#include "base/le.h"
#include "codec/codec_pkg.h"

enum { HISTORY = 64 << 10, LEAST_MATCH = 4, MORE = 15 };

typedef enum lz4_state {
    HEADER,
    TOKEN,
    LITERAL_LENGTH,
    LITERALS,
    OFFSET,
    MATCH_LENGTH,
    MATCH
} lz4_state;

typedef struct lz4_stream {
    lz4_state state;
    uint8_t bytes[4]; /* bytes of a number that is still incomplete */
    size_t n;         /* count of `bytes` */
    uint64_t size, made;
    /* numbers of bytes that remain of the current literals and of the current match */
    uint64_t literals, match;
    size_t offset;
    uint8_t history[HISTORY]; /* output byte i is at i % HISTORY */
} lz4_stream;

static size_t state_bytes(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return sizeof(lz4_stream);
}

static cubed_status begin(void *state, size_t size, const void *conf, cubed_error *err)
{
    (void)size;
    (void)conf;
    (void)err;
    memset(state, 0, offsetof(lz4_stream, history));
    return CUBED_OK;
}

/* Reads a number of `want` bytes. Returns false if more input is needed. */
static bool take(lz4_stream *s, cb_stream_io *io, size_t want)
{
    const size_t n = cb_min_size(want - s->n, io->left);
    memcpy(s->bytes + s->n, io->in, n);
    s->n += n;
    io->in += n;
    io->left -= n;
    if (s->n < want) return false;
    s->n = 0;
    return true;
}

/* Adds the bytes that continue a length; a byte below 255 is the last. Returns false if more input is needed. */
static bool take_length(cb_stream_io *io, uint64_t *length)
{
    while (io->left > 0) {
        const uint8_t b = (uint8_t)*io->in++;
        io->left--;
        *length += b;
        if (b < 255) return true;
    }
    return false;
}

/* Limits n contiguous bytes from output position `at` to those before the end of the ring buffer. */
static size_t until_end(uint64_t at, size_t n)
{
    return cb_min_size(n, HISTORY - (size_t)(at % HISTORY));
}

static void put_literals(lz4_stream *s, cb_stream_io *io)
{
    size_t n = cb_min_size(io->left, io->room);
    if (s->literals < n) n = (size_t)s->literals;
    memcpy(io->out, io->in, n);
    for (size_t done = 0; done < n;) {
        const size_t some = until_end(s->made, n - done);
        memcpy(s->history + s->made % HISTORY, io->in + done, some);
        s->made += some;
        done += some;
    }
    s->literals -= n;
    io->in += n;
    io->left -= n;
    io->out += n;
    io->room -= n;
}

static void put_match(lz4_stream *s, cb_stream_io *io)
{
    size_t n = io->room;
    if (s->match < n) n = (size_t)s->match;
    for (size_t done = 0; done < n;) {
        /* A match may overlap its own output. */
        size_t some = cb_min_size(n - done, s->offset);
        some = until_end(s->made, until_end(s->made - s->offset, some));
        memmove(s->history + s->made % HISTORY, s->history + (s->made - s->offset) % HISTORY, some);
        memcpy(io->out + done, s->history + s->made % HISTORY, some);
        s->made += some;
        done += some;
    }
    s->match -= n;
    io->out += n;
    io->room -= n;
}

static cubed_status check(const lz4_stream *s, uint64_t more, cubed_error *err)
{
    if (more <= s->size - s->made) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "the block decodes to more than the %llu bytes stated",
                   (unsigned long long)s->size);
}

static cubed_status one_state(lz4_stream *s, cb_stream_io *io, cubed_error *err)
{
    switch (s->state) {
    case HEADER:
        if (!take(s, io, 4)) break;
        s->size = cb_le_get(s->bytes, 4);
        s->state = TOKEN;
        break;
    case TOKEN:
        if (!take(s, io, 1)) break;
        s->literals = s->bytes[0] >> 4;
        s->match = (s->bytes[0] & 15) + LEAST_MATCH;
        s->state = s->literals == MORE ? LITERAL_LENGTH : LITERALS;
        break;
    case LITERAL_LENGTH:
        if (take_length(io, &s->literals)) s->state = LITERALS;
        break;
    case LITERALS:
        CB_TRY(check(s, s->literals, err));
        put_literals(s, io);
        if (s->literals > 0) break;
        if (s->made == s->size)
            io->ended = io->last && io->left == 0;
        else
            s->state = OFFSET;
        if (s->made == s->size && io->left > 0)
            return cb_fail(err, CUBED_E_FORMAT, "there are bytes after the block");
        break;
    case OFFSET:
        if (!take(s, io, 2)) break;
        s->offset = (size_t)cb_le_get(s->bytes, 2);
        if (s->offset == 0 || s->offset > s->made)
            return cb_fail(err, CUBED_E_FORMAT, "the block refers to bytes before its start");
        s->state = s->match == MORE + LEAST_MATCH ? MATCH_LENGTH : MATCH;
        break;
    case MATCH_LENGTH:
        if (take_length(io, &s->match)) s->state = MATCH;
        break;
    case MATCH:
        CB_TRY(check(s, s->match, err));
        put_match(s, io);
        if (s->match == 0) s->state = TOKEN;
        break;
    }
    return CUBED_OK;
}

static cubed_status step(void *state, cb_stream_io *io, cubed_error *err)
{
    lz4_stream *s = state;
    lz4_state before;
    size_t left, room;
    do {
        before = s->state;
        left = io->left;
        room = io->room;
        CB_TRY(one_state(s, io, err));
    } while (!io->ended && (s->state != before || io->left != left || io->room != room));
    return CUBED_OK;
}

const cb_codec_streaming cb_streaming_lz4 = {
    .codec = &cb_codec_lz4, .state_bytes = state_bytes, .begin = begin, .step = step};
