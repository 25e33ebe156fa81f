/* Intermediates whose chunks are pieces of a target's only chunk. Pieces are written directly to the target's store. */
#include <assert.h>

#include "base/error.h"
#include "chunks/state.h"

static const int64_t first_chunk[CUBED_MAX_NDIM];

void cb_chunks_join(cb_chunks *c, int node, int target)
{
    const cb_zarr_array *array = c->nodes[target].array;
    if (!array || !cb_zarr_takes_pieces(array)) return;
    cb_mutex_lock(&c->lock);
    chunks_together *all = cb_chunks_kept(c, node)->together;
    if (all) all->target = target;
    cb_mutex_unlock(&c->lock);
}

/* Gets the pieces of a node, and their target. Begins the pieces at the first call. */
static cubed_status begin(cb_chunks *c, int node, cubed_store_pieces **out, int *target,
                          cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&c->lock);
    chunks_together *all = cb_chunks_kept(c, node)->together;
    *target = all->target;
    if (!all->pieces)
        st = cb_zarr_begin_pieces(c->nodes[all->target].array, first_chunk, &all->pieces, err);
    *out = all->pieces;
    cb_mutex_unlock(&c->lock);
    return st;
}

cubed_status cb_pieces_put(cb_chunks *c, int node, int64_t chunk, const void *src, cubed_error *err)
{
    const size_t bytes = c->nodes[node].chunk_bytes, offset = (size_t)chunk * bytes;
    cubed_store_pieces *pieces;
    bool holds = false;
    int target;
    CB_TRY(begin(c, node, &pieces, &target, err));
    const size_t whole = cb_chunk_bytes(c->plan, target);
    /* Do not write the part of the last piece that is beyond the end of the array. */
    CB_TRY(cb_zarr_put_piece(c->nodes[target].array, pieces, offset, src,
                             cb_min_size(bytes, whole - offset), &holds, err));
    cb_mutex_lock(&c->lock);
    chunks_kept *x = cb_chunks_kept(c, node);
    x->together->holds = x->together->holds || holds;
    x->kept[chunk] = cb_chunks_in_target(c);
    cb_mutex_unlock(&c->lock);
    return CUBED_OK;
}

/* Takes no lock: all pieces have been written, so no other thread accesses them. */
cubed_status cb_chunks_end_join(cb_chunks *c, int node, bool *joined, cb_task_count *count,
                                cubed_error *err) CB_UNCHECKED_LOCKS
{
    chunks_together *all = c->kept[node].together;
    uint64_t stored = 0;
    *joined = all && all->target >= 0;
    if (!*joined) return CUBED_OK;
    const size_t whole = cb_chunk_bytes(c->plan, all->target);
    CB_TRY(cb_chunks_check(c, err));
    assert(all->pieces);
    if (!all->ended) {
        CB_TRY(cb_zarr_end_pieces(c->nodes[all->target].array, first_chunk, all->pieces, all->holds,
                                  &stored, err));
        all->ended = true;
    }
    count->bytes_read += whole;
    count->bytes_written += whole;
    count->stored_written += stored;
    count->present++;
    return CUBED_OK;
}

/* Takes no lock: no other thread uses the broker any more. */
void cb_pieces_free(cb_chunks *c, int node) CB_UNCHECKED_LOCKS
{
    const chunks_together *all = c->kept[node].together;
    if (all->pieces) cb_zarr_free_pieces(c->nodes[all->target].array, all->pieces);
}
