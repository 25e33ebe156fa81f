/* Parts of shards ("sharding_indexed" of Zarr v3), which readers decode one by one. */
#include "codec/codec_pkg.h"
#include "codec/shard_layout.h"

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

/* --- The index --------------------------------------------------------------------------------------- */

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
    cubed_status st = cb_shard_find(index, i, most, object_size, offset, size, err);
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

const cb_codec_step *cb_codec_part_shard(const cb_codec_chain *c, cb_codec_subread part)
{
    const cb_codec_step *s = &c->step[part.first];
    return part.n == 1 && s->vt == &cb_codec_sharding_indexed ? s : NULL;
}

const cb_codec_step *cb_codec_chain_shard(const cb_codec_chain *c)
{
    return cb_codec_part_shard(c, c->all);
}
