/* "sharding_indexed" (Zarr v3): a chunk that is a grid of inner chunks, each encoded separately. An index has a pair
 * (offset, bytes) per inner chunk; both are 2**64-1 if the inner chunk is missing. */
#include <inttypes.h>
#include <string.h>

#include "codec/codec_pkg.h"

/* The vtable has no functions: those in this file run nested parts of the chain. */
const cubed_codec_vtable cb_codec_sharding_indexed = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "sharding_indexed",
};

const int64_t *cb_shard_inner(const cb_codec_chain *c, const cb_codec_step *s)
{
    return c->step[s->inner.first].shape;
}

size_t cb_codec_inner_bytes(const cb_codec_chain *c, const cb_codec_step *s)
{
    return cb_subread_bytes(c, s->inner);
}

size_t cb_codec_inner_bound(const cb_codec_chain *c, const cb_codec_step *s)
{
    return cb_subread_bound(c, s->inner);
}

/* Codecs of an index do not compress, so the bound is the exact size. */
size_t cb_codec_index_bytes(const cb_codec_chain *c, const cb_codec_step *s)
{
    return cb_subread_bound(c, s->index);
}

size_t cb_shard_bound(const cb_codec_chain *c, const cb_codec_step *s)
{
    size_t n;
    if (cb_mul_size((size_t)s->ninner, cb_subread_bound(c, s->inner), &n) ||
        cb_add_size(n, cb_subread_bound(c, s->index), &n))
        return 0;
    return n;
}

cb_need cb_shard_need(const cb_codec_chain *c, const cb_codec_step *s, cb_codec_way way)
{
    size_t own = cb_sat_add(cb_arena_round(cb_subread_bytes(c, s->index)),
                            cb_arena_round(cb_subread_bytes(c, s->inner)));
    return cb_need_both((cb_need){own, 0}, cb_need_either(cb_subread_need(c, s->inner, way),
                                                          cb_subread_need(c, s->index, way)));
}

/* --- The index --------------------------------------------------------------------------------------- */

static cubed_status find(const uint64_t *index, int64_t i, size_t most, uint64_t object_size,
                         uint64_t *offset, uint64_t *size, cubed_error *err)
{
    *offset = index[2 * i];
    *size = index[2 * i + 1];
    if (*offset == UINT64_MAX && *size == UINT64_MAX) {
        *size = 0;
        return CUBED_OK;
    }
    if (*size == 0 || *size > most || *offset > object_size || *size > object_size - *offset)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the index has inner chunk %" PRId64 " at %" PRIu64 ", %" PRIu64
                       " bytes, of an object of %" PRIu64 " (at most %zu for one)",
                       i, *offset, *size, object_size, most);
    return CUBED_OK;
}

cubed_status cb_codec_index_decode(const cb_codec_chain *c, const cb_codec_step *s,
                                   const void *encoded, uint64_t *index, cb_arena *scratch,
                                   cubed_error *err)
{
    cubed_status st =
        cb_subread_decode(c, s->index, encoded, cb_subread_bound(c, s->index), index, scratch, err);
    return st == CUBED_OK ? st : cb_context(err, st, "shard index");
}

cubed_status cb_codec_index_find(const uint64_t *index, size_t most, uint64_t object_size,
                                 int64_t i, uint64_t *offset, uint64_t *size, cubed_error *err)
{
    cubed_status st = find(index, i, most, object_size, offset, size, err);
    return st == CUBED_OK ? st : cb_context(err, st, "shard index");
}

cb_need cb_codec_index_need(const cb_codec_chain *c, const cb_codec_step *s)
{
    return cb_subread_need(c, s->index, CB_DECODE);
}

cb_need cb_codec_inner_need(const cb_codec_chain *c, const cb_codec_step *s)
{
    return cb_subread_need(c, s->inner, CB_DECODE);
}

cubed_status cb_codec_inner_decode(const cb_codec_chain *c, const cb_codec_step *s, const void *src,
                                   size_t src_size, void *dst, cb_arena *scratch, cubed_error *err)
{
    return cb_subread_decode(c, s->inner, src, src_size, dst, scratch, err);
}

/* --- Inner chunks in a shard --------------------------------------------------------------------------- */

/* Iterates over the inner chunks of a shard in C order. */
typedef struct walk {
    int ndim;
    size_t item;
    const int64_t *shape, *inner;
    bool contiguous; /* an inner chunk is contiguous in the shard */
    int64_t at[CUBED_MAX_NDIM];
} walk;

static walk start_walk(const cb_codec_chain *c, const cb_codec_step *s)
{
    walk w = {.ndim = s->ctx.ndim,
              .item = s->ctx.item_size,
              .shape = s->shape,
              .inner = cb_shard_inner(c, s),
              .contiguous = true};
    int d = 0;
    while (d < w.ndim && w.inner[d] == 1) d++;
    for (d++; d < w.ndim; d++) w.contiguous = w.contiguous && w.inner[d] == w.shape[d];
    return w;
}

static void next(walk *w)
{
    for (int d = w->ndim - 1; d >= 0; d--) {
        w->at[d] += w->inner[d];
        if (w->at[d] < w->shape[d]) return;
        w->at[d] = 0;
    }
}

static bool outside(const walk *w, const int64_t *used)
{
    for (int d = 0; d < w->ndim && used; d++) {
        if (w->at[d] >= used[d]) return true;
    }
    return false;
}

/* Byte offset in the shard of element `idx` of the inner chunk. */
static size_t offset_of(const walk *w, const int64_t *idx)
{
    size_t n = 0;
    for (int d = 0; d < w->ndim; d++) n = n * (size_t)w->shape[d] + (size_t)(w->at[d] + idx[d]);
    return n * w->item;
}

/* Copies the inner chunk at the current position out of the shard, or into it. */
static void copy_inner(const walk *w, char *shard, char *inner, bool into)
{
    int64_t idx[CUBED_MAX_NDIM] = {0};
    int last = w->ndim - 1;
    size_t row = w->item * (last < 0 ? 1 : (size_t)w->inner[last]);
    for (;;) {
        char *at = shard + offset_of(w, idx);
        memcpy(into ? at : inner, into ? inner : at, row);
        inner += row;
        int d = last - 1;
        for (; d >= 0; d--) {
            if (++idx[d] < w->inner[d]) break;
            idx[d] = 0;
        }
        if (d < 0) return;
    }
}

/* Fills with the fill value. Items longer than CB_MAX_ITEM are padded with zeros. */
static void fill(const cb_codec_chain *c, size_t item, char *dst, size_t bytes)
{
    size_t kept = cb_min_size(item, CB_MAX_ITEM);
    if (kept < item) memset(dst, 0, bytes);
    for (size_t i = 0; i < bytes; i += item) memcpy(dst + i, c->fill, kept);
}

static bool is_fill(const cb_codec_chain *c, size_t item, const char *src, size_t bytes)
{
    size_t kept = cb_min_size(item, CB_MAX_ITEM);
    if (memcmp(src, c->fill, kept) != 0) return false;
    for (size_t k = kept; k < item; k++) {
        if (src[k] != 0) return false;
    }
    /* All elements are equal if each equals the next one. */
    return memcmp(src, src + item, bytes - item) == 0;
}

cubed_status cb_shard_decode(const cb_codec_chain *c, const cb_codec_step *s, const cb_codec_io *io,
                             size_t *got, cubed_error *err)
{
    cb_arena *scratch = io->scratch;
    size_t index_bytes = cb_subread_bound(c, s->index), bytes = cb_subread_bytes(c, s->inner);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = CUBED_OK;
    walk w = start_walk(c, s);
    void *index, *buffer;
    CB_CHECK(io->dst_cap >= s->raw_size, err);
    if (io->src_size < index_bytes)
        return cb_fail(err, CUBED_E_FORMAT, "a shard of %zu bytes, expected an index of %zu",
                       io->src_size, index_bytes);
    const char *src = io->src;
    const char *at = src + (s->index_in_front ? 0 : io->src_size - index_bytes);
    CB_GO(cb_arena_alloc(scratch, cb_subread_bytes(c, s->index), "shard index", &index, err));
    CB_GO(cb_arena_alloc(scratch, bytes, "inner chunk", &buffer, err));
    CB_GO(cb_subread_decode(c, s->index, at, index_bytes, index, scratch, err));
    for (int64_t i = 0; i < s->ninner; i++, next(&w)) {
        static const int64_t origin[CUBED_MAX_NDIM];
        uint64_t offset, size;
        char *to = w.contiguous ? (char *)io->dst + offset_of(&w, origin) : buffer;
        CB_GO(find(index, i, cb_subread_bound(c, s->inner), io->src_size, &offset, &size, err));
        if (size)
            CB_GO(cb_subread_decode(c, s->inner, src + offset, (size_t)size, to, scratch, err));
        else
            fill(c, w.item, to, bytes);
        if (!w.contiguous) copy_inner(&w, io->dst, buffer, true);
    }
    *got = s->raw_size;
out:
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec sharding_indexed");
}

cubed_status cb_shard_encode(const cb_codec_chain *c, const cb_codec_step *s, const cb_codec_io *io,
                             size_t *got, cubed_error *err)
{
    static const int64_t origin[CUBED_MAX_NDIM];
    size_t index_bytes = cb_subread_bound(c, s->index), bytes = cb_subread_bytes(c, s->inner);
    size_t bound = cb_subread_bound(c, s->inner), mark = cb_arena_mark(io->scratch), n;
    size_t at = s->index_in_front ? index_bytes : 0;
    cubed_status st = CUBED_OK;
    walk w = start_walk(c, s);
    void *p, *buffer;
    CB_CHECK(io->dst_cap >= cb_shard_bound(c, s), err);
    CB_GO(cb_arena_alloc(io->scratch, cb_subread_bytes(c, s->index), "shard index", &p, err));
    CB_GO(cb_arena_alloc(io->scratch, bytes, "inner chunk", &buffer, err));
    uint64_t *index = p;
    cb_codec_io inner = {.src_size = bytes, .dst_cap = bound, .scratch = io->scratch};
    for (int64_t i = 0; i < s->ninner; i++, next(&w)) {
        index[2 * i] = index[2 * i + 1] = UINT64_MAX;
        if (outside(&w, io->used)) continue;
        const char *from = (const char *)io->src + offset_of(&w, origin);
        if (!w.contiguous) {
            copy_inner(&w, (char *)(uintptr_t)io->src, buffer, false);
            from = buffer;
        }
        if (c->skip_empty && is_fill(c, w.item, from, bytes)) continue;
        inner.src = from;
        inner.dst = (char *)io->dst + at;
        CB_GO(cb_subread_run(c, s->inner, CB_ENCODE, &inner, &n, err));
        index[2 * i] = at;
        index[2 * i + 1] = n;
        at += n;
    }
    const cb_codec_io last = {.src = index,
                              .src_size = cb_subread_bytes(c, s->index),
                              .dst = (char *)io->dst + (s->index_in_front ? 0 : at),
                              .dst_cap = index_bytes,
                              .scratch = io->scratch};
    CB_GO(cb_subread_run(c, s->index, CB_ENCODE, &last, &n, err));
    CB_CHECK(n == index_bytes, err);
    *got = at + (s->index_in_front ? 0 : index_bytes);
out:
    cb_arena_release(io->scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec sharding_indexed");
}

const cb_codec_step *cb_codec_part_shard(const cb_codec_chain *c, cb_codec_subread part)
{
    const cb_codec_step *s = &c->step[part.first];
    return part.n == 1 && s->vt == &cb_codec_sharding_indexed ? s : NULL;
}

const cb_codec_step *cb_codec_chain_shard(const cb_codec_chain *c)
{
    return cb_codec_part_shard(c, c->all);
}
