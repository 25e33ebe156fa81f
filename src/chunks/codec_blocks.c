/* Decodes chunks one codec block at a time. If two runs (contiguous requested bytes) each need a part of the same block, the
 * block is cached between the two reads. */
#include <string.h>

#include "base/error.h"
#include "chunks/state.h"

static cubed_status read_block(const cb_chunks *c, const cb_want_codec_block *w, void *dst,
                               cb_pinned_codec_block *out, cb_arena *scratch, cb_task_count *count,
                               cubed_error *err)
{
    const cb_zarr_array *array = cb_array_of(c, w->node);
    uint64_t stored;
    CB_TRY(cb_zarr_read_codec_block(array, w->idx, w->at, dst, &out->bytes, scratch, &stored, err));
    cb_count_stored(array, stored, count);
    return CUBED_OK;
}

/* Returns true if a run begins or ends inside a block. Usually exactly two runs need such a block. */
static bool is_shared(cubed_range block, cubed_range run)
{
    return (block.offset < run.offset) != (block.offset + block.size > run.offset + run.size);
}

/* Finds the block that contains `at` if two runs share it; otherwise sets block->size to 0. Does not look up blocks in the
 * middle of a run. */
static cubed_status find_shared(const cb_chunks *c, const cb_want_codec_block *w,
                                cubed_range *block, cb_arena *scratch, cb_task_count *count,
                                cubed_error *err)
{
    const uint64_t end = w->run.offset + w->run.size;
    uint64_t stored;
    block->size = 0;
    if (!c->cache) return CUBED_OK;
    if (w->at > w->run.offset && end - w->at >= cb_node_codec_block_bytes(c->plan, w->node))
        return CUBED_OK;
    CB_TRY(cb_zarr_find_codec_block(cb_array_of(c, w->node), w->idx, w->at, block, scratch, &stored,
                                    err));
    count->stored_read += stored;
    if (!is_shared(*block, w->run)) block->size = 0;
    return CUBED_OK;
}

/* Pins the entry of a shared block. The entry is large enough for any block of the array, because another writer may replace
 * chunks. The block's byte range is stored before its data. */
static cb_cache_found pin_block(const cb_chunks *c, const cb_want_codec_block *w, uint64_t first,
                                cb_cache_entry **entry)
{
    const int64_t chunk = cb_grid_ravel(c->plan->ir.nodes[w->node].grid, w->idx);
    const cb_cache_key key = {w->node, CB_CACHE_CODEC_BLOCK,
                              chunk * (int64_t)cb_chunk_bytes(c->plan, w->node) + (int64_t)first};
    return cb_cache_pin(c->cache, key, cb_kept_codec_block_bytes(c->plan, w->node), 2, entry);
}

cubed_status cb_chunks_want_codec_block(const cb_chunks *c, const cb_want_codec_block *w,
                                        cb_arena *scratch, cb_pinned_codec_block *out,
                                        cb_task_count *count, cubed_error *err)
{
    _Static_assert(sizeof out->bytes <= CB_ARENA_ALIGN, "which bytes a block has");
    cb_cache_entry *entry = NULL;
    cb_cache_found found = CB_CACHE_FULL;
    cubed_status st = CUBED_OK;
    cubed_range shared;
    CB_TRY(find_shared(c, w, &shared, scratch, count, err));
    if (shared.size > 0) found = pin_block(c, w, shared.offset, &entry);
    char *kept = entry ? cb_cache_data(entry) : NULL;
    char *data = kept ? kept + CB_ARENA_ALIGN : w->buffer;
    *out = (cb_pinned_codec_block){.data = data, .kept = entry};
    if (found == CB_CACHE_HIT) {
        memcpy(&out->bytes, kept, sizeof out->bytes);
        count->present++;
    } else {
        st = read_block(c, w, data, out, scratch, count, err);
    }
    if (found == CB_CACHE_FILL) {
        memcpy(kept, &out->bytes, sizeof out->bytes);
        cb_cache_filled(c->cache, entry, st == CUBED_OK);
        if (st != CUBED_OK) out->kept = NULL;
    }
    count->bytes_read += out->bytes.size;
    return st;
}

void cb_chunks_unpin_codec_block(const cb_chunks *c, cb_pinned_codec_block *block)
{
    if (block->kept) cb_cache_unpin(c->cache, block->kept);
    block->kept = NULL;
}
