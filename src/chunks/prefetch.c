/* Requests chunks from stores before tasks read them, and gets requested chunks from the pool (chunks/fetch.h). */
#include "base/error.h"
#include "chunks/state.h"

uint64_t cb_chunks_fetch_peak(const cb_chunks *c)
{
    return c->fetcher ? (cb_fetcher_used(c->fetcher)->high_water + c->options.workers - 1) /
                            c->options.workers
                      : 0;
}

/* --- Requesting -------------------------------------------------------------------------------------------- */

bool cb_chunks_may_ask(cb_chunks *c, int node)
{
    const cubed_store *store;
    if (!c->fetcher) return false;
    if (cb_node_is_intermediate(&c->plan->ir.nodes[node])) {
        cb_mutex_lock(&c->lock);
        store = c->work.store;
        cb_mutex_unlock(&c->lock);
    } else {
        const cb_zarr_array *array = cb_array_of(c, node);
        store = array ? cb_zarr_store(array) : NULL;
    }
    return store && !(store->vt->flags & CUBED_STORE_AT_ONCE);
}

void cb_chunks_forget(cb_chunks *c, const void *owner, int64_t task)
{
    if (c->fetcher) cb_fetch_drop(c->fetcher, owner, task);
}

/* Pins the index of a shard in the cache. Returns CB_FETCH_NEEDLESS if chunks of this shard cannot be prefetched. */
static cb_fetch_answer pin_index(cb_chunks *c, const cb_zarr_array *array, cb_cache_key key,
                                 const int64_t *idx, cb_cache_entry **entry, cb_task_count *count)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(array);
    const cb_need need = cb_zarr_index_need(m);
    cb_zarr_fetched there;
    uint64_t stored = 0;
    const cb_cache_found found = cb_cache_look(c->cache, key, entry);
    if (found == CB_CACHE_HIT) return CB_FETCH_ASKED;
    if (found == CB_CACHE_FILL || need.library > 0) return CB_FETCH_LATER;
    cb_fetch *slot = cb_fetch_try(c->fetcher, key, &there);
    if (!slot) return CB_FETCH_LATER;
    const cb_cache_found room =
        cb_cache_pin(c->cache, key, cb_zarr_index_bytes(m), SIZE_MAX, entry);
    bool pinned = room != CB_CACHE_FULL;
    if (room == CB_CACHE_FILL) {
        cb_arena scratch = cb_arena_within(cb_fetch_room(slot, cb_zarr_index_bound(m)), need);
        /* Ignore errors: the reader of the chunk reads the index again and reports them. */
        pinned = cb_zarr_read_index(array, idx, &there, cb_cache_data(*entry), &scratch, &stored,
                                    NULL) == CUBED_OK;
        cb_arena_leave(&scratch);
        cb_cache_filled(c->cache, *entry, pinned);
        count->stored_read += stored;
    }
    cb_fetch_done(c->fetcher, slot);
    return pinned ? CB_FETCH_ASKED : CB_FETCH_NEEDLESS;
}

static cb_fetch_answer ask_inner(cb_chunks *c, cb_fetch_batch *b, const cb_zarr_array *array,
                                 cb_fetch_what *w, const int64_t *idx, cb_task_count *count)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(array);
    const cb_cache_key key = {w->key.node, CB_CACHE_INDEX, cb_zarr_shard_number(m, idx)};
    cubed_object_version version;
    cb_cache_entry *entry;
    if (!c->cache) return CB_FETCH_NEEDLESS;
    const cb_fetch_answer pinned = pin_index(c, array, key, idx, &entry, count);
    if (pinned == CB_FETCH_LATER) {
        const cb_fetch_what index = {.key = key,
                                     .store = w->store,
                                     .path = w->path,
                                     .range = cb_zarr_index_range(m, idx),
                                     .cap = w->cap,
                                     .cached = true};
        (void)cb_fetch_ask(c->fetcher, b, &index);
    }
    if (pinned != CB_FETCH_ASKED) return pinned;
    const cubed_status st =
        cb_zarr_find_inner(array, idx, cb_cache_data(entry), &w->range, &version, NULL);
    cb_cache_unpin(c->cache, entry);
    if (st != CUBED_OK || w->range.size == 0) return CB_FETCH_NEEDLESS;
    cb_fetch_what inner = *w;
    inner.version = &version;
    return cb_fetch_ask(c->fetcher, b, &inner);
}

cb_fetch_answer cb_chunks_ask(cb_chunks *c, cb_fetch_batch *b, int node, const int64_t *idx,
                              cb_task_count *count)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    const cb_zarr_array *array = cb_array_of(c, node);
    char key[4096];
    cb_fetch_what w = {
        .key = {node, CB_CACHE_CHUNK, cb_grid_ravel(n->grid, idx)},
        .path = key,
        .cap = cb_fetch_cap(c->plan, node),
        .cached = c->cache && c->plan->reused[node],
    };
    b->cache = c->cache;
    if (cb_node_is_intermediate(n)) {
        return cb_intermediate_place(c, node, w.key.number, &w.store, key)
                   ? cb_fetch_ask(c->fetcher, b, &w)
                   : CB_FETCH_NEEDLESS;
    }
    const cb_zarr_meta *m = cb_zarr_get_meta(array);
    w.store = cb_zarr_store(array);
    if (cb_source_of(c, node) && cb_zarr_index_bytes(m) > 0)
        return cb_zarr_shard_key(array, idx, key, sizeof key, NULL) == CUBED_OK
                   ? ask_inner(c, b, array, &w, idx, count)
                   : CB_FETCH_NEEDLESS;
    return cb_zarr_chunk_key(m, cb_zarr_path(array), idx, key, sizeof key, NULL) == CUBED_OK
               ? cb_fetch_ask(c->fetcher, b, &w)
               : CB_FETCH_NEEDLESS;
}
