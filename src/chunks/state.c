/* State shared by the files of the broker: the work folder, errors of mapped files, and prefetched chunks. */
#include "chunks/state.h"

#include "base/error.h"

cubed_status cb_chunks_get_work(cb_chunks *c, cb_work *out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&c->lock);
    if (!c->work.store)
        st = c->options.open(c->options.open_ctx, &c->work.store, &c->work.folder, err);
    *out = c->work;
    cb_mutex_unlock(&c->lock);
    return st;
}

cubed_status cb_chunks_check(const cb_chunks *c, cubed_error *err)
{
    const int node = atomic_load(&c->cut) - 1;
    if (node < 0) return CUBED_OK;
    const cb_zarr_array *array = cb_source_of(c, node);
    const char *path = cb_zarr_path(array);
    return cb_fail(err, CUBED_E_IO,
                   "%s%s%s: a chunk has been changed, or could not be read, while it was in use",
                   cb_zarr_store(array)->url, *path ? "/" : "", path);
}

const cb_zarr_fetched *cb_chunks_take(const cb_chunks *c, cb_cache_key key,
                                      const cubed_cancel *cancel, cb_fetch **slot,
                                      cb_zarr_fetched *out)
{
    *slot = c->fetcher ? cb_fetch_take(c->fetcher, key, cancel, out) : NULL;
    return *slot ? out : NULL;
}

void cb_chunks_done(const cb_chunks *c, cb_fetch *slot)
{
    if (slot) cb_fetch_done(c->fetcher, slot);
}

static void done(void *fetcher, void *slot) { cb_fetch_done(fetcher, slot); }

cubed_status cb_chunks_keep(const cb_chunks *c, cb_fetch *slot, cb_arena *scratch, cubed_error *err)
{
    cubed_status st = cb_arena_defer(scratch, done, c->fetcher, slot, err);
    if (st != CUBED_OK) cb_fetch_done(c->fetcher, slot);
    return st;
}
