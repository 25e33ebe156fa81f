/* Reads parts of chunks without the whole chunk in memory. */
#include "zarr/parts.h"

#include <inttypes.h>
#include <string.h>

#include "codec/stream.h"

/* Maximum number of ranges in a request, and size in bytes of the buffer for elements that are moved. */
enum { MAX_RANGES = 64, BUFFER_BYTES = 64 << 10 };

/* --- Choice of method ---------------------------------------------------------------------------------- */

/* Codecs of a chunk, or of an inner chunk of a shard. */
static cb_codec_subread part_of(const cb_zarr_meta *m, bool inner)
{
    return inner ? cb_codec_chain_shard(&m->codecs)->inner : m->codecs.all;
}

static bool moves(const cb_zarr_meta *m, const cb_codec_layout *l)
{
    for (int d = 0; d < m->ndim; d++) {
        if (l->axis[d] != d) return true;
    }
    return false;
}

cb_zarr_parts cb_zarr_parts_of(const cb_zarr_meta *m, bool inner)
{
    cb_codec_layout l;
    const size_t item = cubed_dtype_size(m->dtype);
    if (item == 0 || (!inner && cb_zarr_is_irregular(m))) return CB_ZARR_NO_PARTS;
    const cb_codec_subread part = part_of(m, inner);
    const int known = cb_codec_part_layout(&m->codecs, part, &l);
    const bool fits = !moves(m, &l) || item <= BUFFER_BYTES;
    if (known == part.first + part.n && !l.shuffled)
        return fits ? CB_ZARR_RANGES : CB_ZARR_NO_PARTS;
    if (cb_codec_part_ranged(&m->codecs, part))
        return cb_zarr_keeps_block(m, part) ? CB_ZARR_BLOCKS_ONCE : CB_ZARR_BLOCKS;
    return fits && cb_codec_part_streams(&m->codecs, part, &l) ? CB_ZARR_STREAM : CB_ZARR_NO_PARTS;
}

/* Returns the size of the buffer, in whole elements. */
static size_t buffer_bytes(size_t item) { return BUFFER_BYTES / item * item; }

cb_need cb_zarr_part_need(const cb_zarr_meta *m, bool inner)
{
    cb_codec_layout l;
    const size_t item = cubed_dtype_size(m->dtype);
    switch (cb_zarr_parts_of(m, inner)) {
    case CB_ZARR_RANGES:
        cb_codec_part_layout(&m->codecs, part_of(m, inner), &l);
        return (cb_need){moves(m, &l) ? cb_arena_round(buffer_bytes(item)) : 0, 0};
    case CB_ZARR_BLOCKS:
    case CB_ZARR_BLOCKS_ONCE: return cb_zarr_blocks_need(m, part_of(m, inner));
    case CB_ZARR_STREAM:
        cb_codec_part_layout(&m->codecs, part_of(m, inner), &l);
        return cb_need_both(cb_zarr_streamed_need(m, part_of(m, inner)),
                            (cb_need){moves(m, &l) ? cb_arena_round(buffer_bytes(item)) : 0, 0});
    case CB_ZARR_NO_PARTS: break;
    }
    return (cb_need){0, 0};
}

/* --- Ranges ------------------------------------------------------------------------------------------- */

static cubed_status read_ranges(cb_zarr_encoded *e, size_t chunk_bytes, cb_zarr_runs *r,
                                char *buffer, char *dst, uint64_t *stored, cubed_error *err)
{
    cubed_range left = {0, 0};
    const size_t most = r->moves ? buffer_bytes(r->item) : SIZE_MAX;
    size_t done = 0;
    while (r->more || left.size > 0) {
        cubed_range ranges[MAX_RANGES];
        size_t n = 0, bytes = 0;
        while (n < MAX_RANGES && bytes < most && (r->more || left.size > 0)) {
            if (left.size == 0) left = cb_zarr_runs_next(r);
            const size_t size = cb_min_size(left.size, most - bytes);
            ranges[n++] = (cubed_range){left.offset, size};
            left.offset += size;
            left.size -= size;
            bytes += size;
        }
        CB_TRY(cb_zarr_get_ranges(e, ranges, n, r->moves ? buffer : dst + done, err));
        if (e->size != chunk_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", e->size,
                           chunk_bytes);
        if (r->moves) cb_zarr_runs_place(r, buffer, bytes, dst);
        done += bytes;
        *stored += bytes;
    }
    return CUBED_OK;
}

size_t cb_zarr_part_bytes(const cb_zarr_meta *m, const cb_zarr_extract *part)
{
    size_t bytes = cubed_dtype_size(m->dtype);
    for (int d = 0; d < m->ndim; d++) bytes *= (size_t)(part->hi[d] - part->lo[d]);
    return bytes;
}

cubed_status cb_zarr_read_part(const cb_zarr_meta *m, bool inner, cb_zarr_encoded *e,
                               const cb_zarr_extract *part, cb_arena *scratch, uint64_t *stored,
                               cubed_error *err)
{
    const cb_codec_subread codecs = part_of(m, inner);
    const cb_zarr_chunk chunk = {m->ndim, cubed_dtype_size(m->dtype), inner ? m->inner : m->chunk};
    const cb_zarr_parts way = cb_zarr_parts_of(m, inner);
    cb_codec_layout l;
    cb_zarr_runs r;
    void *buffer = NULL;
    const size_t bytes = cb_zarr_part_bytes(m, part);
    size_t chunk_bytes = chunk.item;
    for (int d = 0; d < m->ndim; d++) chunk_bytes *= (size_t)chunk.shape[d];
    if (way == CB_ZARR_NO_PARTS)
        return cb_fail(err, CUBED_E_INTERNAL, "bug: the chunk cannot be read in parts");
    cb_codec_part_layout(&m->codecs, codecs, &l);
    cb_zarr_runs_start(&r, &chunk, &l, part->lo, part->hi);
    if (way == CB_ZARR_BLOCKS || way == CB_ZARR_BLOCKS_ONCE)
        return cb_zarr_read_blocks(m, codecs, e, &r, part->dst, scratch, stored, err);
    if (r.moves)
        CB_TRY(cb_arena_alloc(scratch, buffer_bytes(r.item), "part of a chunk", &buffer, err));
    const cb_zarr_streamed to = {.codecs = codecs,
                                 .layout = &l,
                                 .chunk_bytes = chunk_bytes,
                                 .runs = &r,
                                 .buffer = buffer,
                                 .cap = buffer_bytes(r.item),
                                 .dst = part->dst};
    if (way == CB_ZARR_STREAM)
        CB_TRY(cb_zarr_read_stream(m, &to, e, scratch, stored, err));
    else
        CB_TRY(read_ranges(e, chunk_bytes, &r, buffer, part->dst, stored, err));
    if (!l.swap) return CUBED_OK;
    size_t got;
    const cubed_codec_call in_place = {.conf = &l.swap->conf,
                                       .ctx = &l.swap->ctx,
                                       .src = part->dst,
                                       .src_size = bytes,
                                       .dst = part->dst,
                                       .dst_cap = bytes};
    return l.swap->vt->decode(&in_place, &got, err);
}

cubed_status cb_zarr_subread_unencoded(const cb_zarr_unencoded *chunk, const cb_zarr_extract *part,
                                       const cubed_cancel *cancel, uint64_t *stored,
                                       cubed_error *err)
{
    const cb_zarr_chunk layout = {chunk->ndim, chunk->item, chunk->shape};
    cb_zarr_encoded e = {
        .store = chunk->store, .key = chunk->key, .size = UINT64_MAX, .cancel = cancel};
    cubed_error why = CUBED_ERROR_INIT;
    size_t chunk_bytes = chunk->item;
    cb_codec_layout in_order = {.swap = NULL};
    cb_zarr_runs r;
    for (int d = 0; d < chunk->ndim; d++) {
        in_order.axis[d] = d;
        chunk_bytes *= (size_t)chunk->shape[d];
    }
    cb_zarr_runs_start(&r, &layout, &in_order, part->lo, part->hi);
    const cubed_status st = read_ranges(&e, chunk_bytes, &r, NULL, part->dst, stored, &why);
    return st == CUBED_OK ? st : cb_zarr_chunk_failed(chunk->store, chunk->key, st, &why, err);
}
