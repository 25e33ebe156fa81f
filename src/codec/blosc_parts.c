/* Decodes parts of blocks that c-blosc has encoded with LZ4, as its README_CHUNK_FORMAT describes them. The library decodes whole
 * blocks only, and allocates buffers of three blocks for each call. */
#include "codec/blosc_parts.h"

#include <limits.h>
#include <lz4.h>
#include <string.h>

#include "base/checked.h"
#include "base/le.h"

enum { ENTRY = 4, IS_BITSHUFFLED = 0x04, INNER_SHIFT = 5, INNER_LZ4 = 1, SHRANK_A_LOT = 32 };

cubed_range cb_blosc_next_part(cb_blosc_cursor *c, size_t from, size_t end, unsigned char **to)
{
    if (c->n == 0) return (cubed_range){0, 0};
    const size_t at = (size_t)c->runs->offset + c->done, left = c->runs->size - c->done;
    if (at < from || at >= end) return (cubed_range){0, 0};
    const cubed_range part = {at, cb_min_size(left, end - at)};
    *to = c->to;
    c->to += part.size;
    c->done += part.size;
    if (c->done == c->runs->size) {
        c->runs++;
        c->n--;
        c->done = 0;
    }
    return part;
}

bool cb_blosc_has_parts(const cb_blosc_block *b, unsigned flags)
{
    return flags >> INNER_SHIFT == INNER_LZ4 && !(flags & IS_BITSHUFFLED) &&
           b->size % b->streams == 0 && b->size % b->elem == 0 &&
           (b->streams == 1 || b->elem == 1 || b->streams == b->elem);
}

/* Byte i of a plane is byte i * step + first of the decoded block. */
typedef struct plane {
    size_t first, step, size;
} plane;

/* Returns the plane with number `j` of stream `s`. A stream contains all byte planes, one of them, or unshuffled bytes. */
static plane plane_of(const cb_blosc_block *b, size_t s, size_t j)
{
    const size_t stream = b->size / b->streams;
    if (b->elem == 1) return (plane){s * stream, 1, stream};
    return (plane){b->streams == 1 ? j : s, b->elem, b->size / b->elem};
}

/* Returns the index of the plane's first byte that is at or after byte `at` of the block; the plane's size if there is no such
 * byte. */
static size_t index_in(const plane *p, size_t at)
{
    const size_t i = at <= p->first ? 0 : (at - p->first + p->step - 1) / p->step;
    return cb_min_size(i, p->size);
}

/* Returns the end of the bytes of the plane that the parts need, and their start in *least. Parts are in ascending order, so the
 * first and the last part with bytes of the plane determine this range. */
static size_t needed(const cb_blosc_block *b, const plane *p, cb_blosc_cursor parts, size_t *least)
{
    size_t most = 0;
    *least = 0;
    unsigned char *to;
    for (;;) {
        const cubed_range part = cb_blosc_next_part(&parts, b->from, b->from + b->size, &to);
        if (part.size == 0) return most;
        const size_t at = (size_t)part.offset - b->from;
        const size_t lo = index_in(p, at), end = index_in(p, at + part.size);
        if (end == lo) continue;
        if (most == 0) *least = lo;
        most = end;
    }
}

static void copy_plane(const cb_blosc_block *b, const plane *p, const unsigned char *src,
                       cb_blosc_cursor *parts)
{
    unsigned char *to;
    for (;;) {
        const cubed_range part = cb_blosc_next_part(parts, b->from, b->from + b->size, &to);
        if (part.size == 0) return;
        const size_t at = (size_t)part.offset - b->from;
        const size_t lo = index_in(p, at), hi = index_in(p, at + part.size);
        if (lo == hi) continue;
        unsigned char *dst = to + (lo * p->step + p->first - at);
        if (p->step == 1) {
            memcpy(dst, src + lo, hi - lo);
            continue;
        }
        for (size_t i = lo; i < hi; i++, dst += p->step) *dst = src[i];
    }
}

/* Decodes bytes `least` to most - 1 of an LZ4 stream that repeats one byte: a few literals, a match with offset 1, and a few
 * literals at the end. The high bytes of small numbers are such streams, and LZ4 takes several times as long as memset. Returns
 * false for all other streams. `encoded` is at least 1. */
static bool decode_run(const unsigned char *src, size_t encoded, unsigned char *dst, size_t least,
                       size_t most, size_t size)
{
    enum { OFFSET = 2, LEAST_MATCH = 4, LEAST_LAST = 5, LONG = 15 };
    const unsigned char *const end = src + encoded, *const literals = src + 1;
    const size_t nfirst = *src >> 4;
    size_t run = nfirst + LEAST_MATCH + (*src & LONG); /* bytes before the last literals */
    if (nfirst == 0 || nfirst == LONG || encoded < 1 + nfirst + OFFSET) return false;
    const unsigned char *at = literals + nfirst + OFFSET;
    if (cb_le_get(at - OFFSET, OFFSET) != 1) return false;
    if ((*src & LONG) == LONG) {
        do {
            if (at == end) return false;
            run += *at;
        } while (*at++ == UINT8_MAX);
    }
    if (at == end) return false;
    const size_t nlast = *at++ >> 4;
    if (nlast < LEAST_LAST || nlast == LONG) return false;
    if ((size_t)(end - at) != nlast || run + nlast != size) return false;
    memcpy(dst, literals, cb_min_size(nfirst, most));
    const size_t lo = cb_max_size(nfirst, least), hi = cb_min_size(run, most);
    if (hi > lo) memset(dst + lo, literals[nfirst - 1], hi - lo);
    if (most > run) memcpy(dst + run, at, most - run);
    return true;
}

/* Decodes at least bytes `least` to most - 1 of the `size` bytes of an LZ4 stream. LZ4 copies the match that contains the last
 * byte one byte at a time. In a stream that shrank a lot this match is probably long, and the whole stream is decoded
 * faster. */
static bool decode_prefix(const unsigned char *src, size_t encoded, unsigned char *dst,
                          size_t least, size_t most, size_t size)
{
    const char *from = (const char *)src;
    const bool shrank = encoded < size / SHRANK_A_LOT;
    if (shrank && decode_run(src, encoded, dst, least, most, size)) return true;
    const int got =
        shrank ? LZ4_decompress_safe(from, (char *)dst, (int)encoded, (int)size)
               : LZ4_decompress_safe_partial(from, (char *)dst, (int)encoded, (int)most, (int)size);
    return got >= 0 && (size_t)got >= most;
}

bool cb_blosc_copy_parts(const cb_blosc_block *b, cb_blosc_cursor *c, unsigned char *buffer)
{
    const size_t stream = b->size / b->streams;
    const size_t planes = b->elem > 1 && b->streams == 1 ? b->elem : 1;
    const unsigned char *src = b->src;
    size_t left = b->src_size;
    for (size_t s = 0; s < b->streams; s++) {
        if (left < ENTRY) return false;
        const size_t encoded = cb_le_get(src, ENTRY);
        src += ENTRY;
        left -= ENTRY;
        if (encoded == 0 || encoded > left || encoded > INT_MAX) return false;
        const unsigned char *bytes = src;
        const plane last = plane_of(b, s, planes - 1);
        size_t least, most = needed(b, &last, *c, &least);
        if (planes > 1) {
            least = 0;
            most += (planes - 1) * last.size;
        }
        if (most > 0 && encoded != stream) {
            if (!decode_prefix(src, encoded, buffer, least, most, stream)) return false;
            bytes = buffer;
        }
        for (size_t j = 0; j < planes && most > 0; j++) {
            const plane p = plane_of(b, s, j);
            cb_blosc_cursor parts = *c;
            copy_plane(b, &p, bytes + j * p.size, &parts);
        }
        src += encoded;
        left -= encoded;
    }
    unsigned char *to;
    while (cb_blosc_next_part(c, b->from, b->from + b->size, &to).size > 0) {
    }
    return true;
}
