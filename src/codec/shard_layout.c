#include "codec/shard_layout.h"

#include <inttypes.h>
#include <string.h>

#include "codec/codec_pkg.h"

/* The vtable has no functions, because chain.c runs the parts of the chain that a shard consists of. */
const cubed_codec_vtable cb_codec_sharding_indexed = {
    .kind = CUBED_CODEC_ARRAY_TO_BYTES,
    .name = "sharding_indexed",
};

const int64_t *cb_shard_inner(const cb_codec_chain *c, const cb_codec_step *s)
{
    return c->step[s->inner.first].shape;
}

cubed_status cb_shard_find(const uint64_t *index, int64_t i, size_t most, uint64_t object_size,
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
                       "the index has inner chunk %" PRId64 " at byte %" PRIu64 " with %" PRIu64
                       " bytes, in an object of %" PRIu64 " bytes (at most %zu bytes for a chunk)",
                       i, *offset, *size, object_size, most);
    return CUBED_OK;
}

cb_shard_walk cb_shard_walk_start(const cb_codec_chain *c, const cb_codec_step *s)
{
    cb_shard_walk w = {.ndim = s->ctx.ndim,
                       .item = s->ctx.item_size,
                       .shape = s->shape,
                       .inner = cb_shard_inner(c, s),
                       .contiguous = true};
    int d = 0;
    while (d < w.ndim && w.inner[d] == 1) d++;
    for (d++; d < w.ndim; d++) w.contiguous = w.contiguous && w.inner[d] == w.shape[d];
    return w;
}

void cb_shard_walk_next(cb_shard_walk *w)
{
    for (int d = w->ndim - 1; d >= 0; d--) {
        w->at[d] += w->inner[d];
        if (w->at[d] < w->shape[d]) return;
        w->at[d] = 0;
    }
}

bool cb_shard_walk_outside(const cb_shard_walk *w, const int64_t *used)
{
    for (int d = 0; d < w->ndim && used; d++) {
        if (w->at[d] >= used[d]) return true;
    }
    return false;
}

size_t cb_shard_walk_offset(const cb_shard_walk *w, const int64_t *idx)
{
    size_t n = 0;
    for (int d = 0; d < w->ndim; d++) n = n * (size_t)w->shape[d] + (size_t)(w->at[d] + idx[d]);
    return n * w->item;
}

void cb_shard_walk_copy(const cb_shard_walk *w, char *shard, char *inner, bool into)
{
    int64_t idx[CUBED_MAX_NDIM] = {0};
    int last = w->ndim - 1;
    size_t row = w->item * (last < 0 ? 1 : (size_t)w->inner[last]);
    for (;;) {
        char *at = shard + cb_shard_walk_offset(w, idx);
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

void cb_shard_fill(const cb_codec_chain *c, size_t item, char *dst, size_t bytes)
{
    size_t kept = cb_min_size(item, CB_MAX_ITEM);
    if (kept < item) memset(dst, 0, bytes);
    for (size_t i = 0; i < bytes; i += item) memcpy(dst + i, c->fill, kept);
}

bool cb_shard_is_fill(const cb_codec_chain *c, size_t item, const char *src, size_t bytes)
{
    size_t kept = cb_min_size(item, CB_MAX_ITEM);
    if (memcmp(src, c->fill, kept) != 0) return false;
    for (size_t k = kept; k < item; k++) {
        if (src[k] != 0) return false;
    }
    /* All elements are equal if each equals the next one. */
    return memcmp(src, src + item, bytes - item) == 0;
}
