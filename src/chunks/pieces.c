/* Intermediates whose chunks are pieces of a target's only chunk: the target's store has them, and no memory does. */
#include <assert.h>

#include "base/error.h"
#include "chunks/state.h"

static const int64_t first_chunk[CUBED_MAX_NDIM];

void cb_chunks_join(cb_chunks *c, int node, int target)
{
    const chunks_of_node *x = &c->nodes[node];
    const cb_zarr_array *array = c->nodes[target].array;
    if (x->together && array && cb_zarr_takes_pieces(array)) x->together->target = target;
}

/* The first piece begins them. */
static cubed_status begin(cb_chunks *c, chunks_together *all, cubed_store_pieces **out,
                          cubed_error *err)
{
    cubed_status st = CUBED_OK;
    pthread_mutex_lock(&c->lock);
    if (!all->pieces)
        st = cb_zarr_begin_pieces(c->nodes[all->target].array, first_chunk, &all->pieces, err);
    *out = all->pieces;
    pthread_mutex_unlock(&c->lock);
    return st;
}

cubed_status cb_pieces_put(cb_chunks *c, int node, int64_t chunk, const void *src, cubed_error *err)
{
    const chunks_of_node *x = &c->nodes[node];
    chunks_together *all = x->together;
    const size_t whole = cb_chunk_bytes(c->plan, all->target);
    const size_t offset = (size_t)chunk * x->chunk_bytes;
    cubed_store_pieces *pieces;
    bool holds = false;
    CB_TRY(begin(c, all, &pieces, err));
    /* The last one may be longer than what is left of the array. */
    CB_TRY(cb_zarr_put_piece(c->nodes[all->target].array, pieces, offset, src,
                             cb_min_size(x->chunk_bytes, whole - offset), &holds, err));
    pthread_mutex_lock(&c->lock);
    all->holds = all->holds || holds;
    x->kept[chunk] = cb_chunks_in_target(c);
    pthread_mutex_unlock(&c->lock);
    return CUBED_OK;
}

/* All pieces have been put, so nobody else looks at them. */
cubed_status cb_chunks_end_join(cb_chunks *c, int node, bool *joined, cb_task_count *count,
                                cubed_error *err)
{
    chunks_together *all = c->nodes[node].together;
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

void cb_pieces_free(cb_chunks *c, int node)
{
    const chunks_together *all = c->nodes[node].together;
    if (all->pieces) cb_zarr_free_pieces(c->nodes[all->target].array, all->pieces);
}
