/* Checks whether an object can be a whole encoded chunk. Reads only its size and the sizes in headers, trailers and
 * indices. */
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/le.h"
#include "codec/codec_pkg.h"

/* Reads `size` bytes. *got is less if the object is shorter. */
static cubed_status read_at(const cb_codec_object *o, uint64_t offset, void *dst, size_t size,
                            size_t *got, cubed_error *err)
{
    *got = 0;
    if (offset >= o->size) return CUBED_OK;
    return o->read(o->ctx, offset, dst, cb_min_size(size, (size_t)(o->size - offset)), got, err);
}

/* Skips the blocks of a frame by their headers. */
static cubed_status skip_blocks(const cb_codec_object *o, uint64_t *at, bool *ok, cubed_error *err)
{
    for (bool last = false; !last;) {
        unsigned char head[3];
        size_t got;
        CB_TRY(read_at(o, *at, head, sizeof head, &got, err));
        *ok = got == sizeof head;
        if (!*ok) return CUBED_OK;
        uint32_t bits = (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16;
        uint32_t type = bits >> 1 & 3, size = type == 1 ? 1 : bits >> 3;
        last = bits & 1;
        /* Reject zeros, as in unwritten parts of a file: they would be an endless row of empty blocks. */
        *ok = type != 3 && (size > 0 || last);
        if (!*ok) return CUBED_OK;
        *at += sizeof head + size;
    }
    return CUBED_OK;
}

static cb_codec_looks looks_of(bool whole) { return whole ? CB_CODEC_WHOLE : CB_CODEC_DAMAGED; }

static cubed_status look_at_zstd(const cb_codec_object *o, size_t raw_size, cb_codec_looks *out,
                                 cubed_error *err)
{
    uint64_t at = 0, content = 0;
    *out = CB_CODEC_DAMAGED;
    while (at < o->size) {
        unsigned char head[ZSTD_FRAMEHEADERSIZE_MAX];
        ZSTD_frameHeader frame;
        size_t got;
        bool ok = true;
        CB_TRY(read_at(o, at, head, sizeof head, &got, err));
        if (ZSTD_getFrameHeader(&frame, head, got) != 0) return CUBED_OK;
        /* Older versions of zstd do not return the header size of skippable frames. */
        if (frame.frameType == ZSTD_skippableFrame) {
            at += ZSTD_SKIPPABLEHEADERSIZE + frame.frameContentSize;
            continue;
        }
        at += frame.headerSize;
        CB_TRY(skip_blocks(o, &at, &ok, err));
        if (!ok) return CUBED_OK;
        if (frame.checksumFlag) at += 4;
        bool known = frame.frameContentSize != ZSTD_CONTENTSIZE_UNKNOWN;
        content = known ? cb_sat_add(content, frame.frameContentSize) : UINT64_MAX;
    }
    *out = looks_of(at == o->size && (content == raw_size || content == UINT64_MAX));
    return CUBED_OK;
}

static cubed_status look_at_blosc(const cb_codec_object *o, size_t raw_size, cb_codec_looks *out,
                                  cubed_error *err)
{
    unsigned char head[16];
    size_t got;
    CB_TRY(read_at(o, 0, head, sizeof head, &got, err));
    *out = looks_of(got == sizeof head && cb_le_get(head + 4, 4) == raw_size &&
                    cb_le_get(head + 12, 4) == o->size);
    return CUBED_OK;
}

/* Checks header and trailer. Other writers may write several members, followed by zeros, and the last member's trailer contains
 * only its own size. So a size in the trailer that is below the size of the chunk does not mean that the object is damaged. */
static cubed_status look_at_gzip(const cb_codec_object *o, size_t raw_size, cb_codec_looks *out,
                                 cubed_error *err)
{
    unsigned char head[3], tail[4];
    size_t got = 0, got_tail = 0;
    *out = CB_CODEC_DAMAGED;
    if (o->size < 18) return CUBED_OK; /* minimum size of header plus trailer */
    CB_TRY(read_at(o, 0, head, sizeof head, &got, err));
    CB_TRY(read_at(o, o->size - sizeof tail, tail, sizeof tail, &got_tail, err));
    if (got != sizeof head || got_tail != sizeof tail || head[0] != 0x1f || head[1] != 0x8b ||
        head[2] != 8 || cb_le_get(tail, 4) > raw_size)
        return CUBED_OK;
    *out = cb_le_get(tail, 4) == raw_size ? CB_CODEC_WHOLE : CB_CODEC_UNTOLD;
    return CUBED_OK;
}

typedef cubed_status (*look_fn)(const cb_codec_object *o, size_t raw_size, cb_codec_looks *out,
                                cubed_error *err);

static look_fn look_of(const cubed_codec_vtable *vt)
{
    return vt == &cb_codec_zstd    ? look_at_zstd
           : vt == &cb_codec_blosc ? look_at_blosc
           : vt == &cb_codec_gzip  ? look_at_gzip
                                   : NULL;
}

/* Checks that all inner chunks in the index are within the object. Also checks that no bytes are between the last chunk and the
 * index, or after both. */
static cubed_status look_at_shard(const cb_codec_chain *c, const cb_codec_step *s,
                                  const cb_codec_object *o, cb_arena *scratch, cb_codec_looks *out,
                                  cubed_error *err)
{
    const size_t bytes = cb_codec_index_bytes(c, s);
    uint64_t end = s->index_in_front ? bytes : 0, offset, size;
    size_t got;
    void *encoded, *index;
    cubed_error why = CUBED_ERROR_INIT;
    *out = CB_CODEC_DAMAGED;
    if (o->size < bytes) return CUBED_OK;
    CB_TRY(cb_arena_alloc(scratch, bytes, "encoded index", &encoded, err));
    CB_TRY(cb_arena_alloc(scratch, cb_codec_index_numbers(s) * sizeof(uint64_t), "shard index",
                          &index, err));
    CB_TRY(read_at(o, s->index_in_front ? 0 : o->size - bytes, encoded, bytes, &got, err));
    cubed_status st =
        got == bytes ? cb_codec_index_decode(c, s, encoded, index, scratch, &why) : CUBED_E_FORMAT;
    for (int64_t i = 0; st == CUBED_OK && i < s->ninner; i++) {
        st = cb_codec_index_find(index, cb_codec_inner_bound(c, s), o->size, i, &offset, &size,
                                 &why);
        if (st == CUBED_OK && size > 0 && offset + size > end) end = offset + size;
    }
    *out = looks_of(st == CUBED_OK && end + (s->index_in_front ? 0 : bytes) == o->size);
    if (st == CUBED_OK || st == CUBED_E_FORMAT) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cb_need cb_codec_chain_look_need(const cb_codec_chain *c)
{
    const cb_codec_step *s = cb_codec_chain_shard(c);
    if (!s) return (cb_need){0, 0};
    size_t both = cb_sat_add(cb_arena_round(cb_codec_index_bytes(c, s)),
                             cb_arena_round(cb_codec_index_numbers(s) * sizeof(uint64_t)));
    return cb_need_both((cb_need){both, 0}, cb_codec_index_need(c, s));
}

cubed_status cb_codec_chain_look(const cb_codec_chain *c, const cb_codec_object *o,
                                 cb_arena *scratch, cb_codec_looks *out, cubed_error *err)
{
    const cb_codec_step *shard = cb_codec_chain_shard(c), *one = NULL;
    int n = 0;
    for (int i = c->all.first; i < c->all.first + c->all.n; i++) {
        if (c->step[i].skip || c->step[i].vt->kind != CUBED_CODEC_BYTES_TO_BYTES) continue;
        one = &c->step[i];
        n++;
    }
    *out = CB_CODEC_DAMAGED;
    if (o->size == 0 || o->size > cb_codec_chain_bound(c)) return CUBED_OK;
    look_fn look = n == 1 && one->raw_size == c->chunk_bytes ? look_of(one->vt) : NULL;
    if (shard) return look_at_shard(c, shard, o, scratch, out, err);
    if (cb_codec_chain_is_raw(c)) {
        *out = looks_of(o->size == c->chunk_bytes);
        return CUBED_OK;
    }
    *out = CB_CODEC_UNTOLD;
    return look ? look(o, one->raw_size, out, err) : CUBED_OK;
}
