#include "chunks/chunks.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "chunks/ahead.h"
#include "chunks/state.h"
#include "store/local/local_map.h"

/* Takes no lock: no other thread uses the broker yet. */
cubed_status cb_chunks_new(const cubed_plan *plan, const cb_chunks_options *options,
                           cb_chunks **out, cubed_error *err) CB_UNCHECKED_LOCKS
{
    const cubed_allocator *a = &plan->ctx->alloc;
    const size_t most = cb_min_size(plan->cache_bytes, options->spare);
    cubed_status st = CUBED_OK;
    cb_chunks *c = cb_alloc_zero(a, sizeof *c);
    if (!c) return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    c->plan = plan;
    c->options = *options;
    c->nodes = cb_alloc_zero(a, (size_t)plan->ir.nnodes * sizeof *c->nodes);
    c->kept = cb_alloc_zero(a, (size_t)plan->ir.nnodes * sizeof *c->kept);
    if (!c->nodes || !c->kept) {
        cb_free(a, c->nodes, (size_t)plan->ir.nnodes * sizeof *c->nodes);
        cb_free(a, c->kept, (size_t)plan->ir.nnodes * sizeof *c->kept);
        cb_free(a, c, sizeof *c);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    }
    cb_mutex_init(&c->lock);
    cb_budget_init(&c->spare, options->spare);
    cb_budget_init(&c->intermediates, SIZE_MAX);
    for (int i = 0; i < plan->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&plan->ir.nodes[i])) CB_GO(cb_intermediates_init(c, i, err));
    }
    for (int i = 0; i < plan->ir.nnodes && !c->maps; i++) c->maps = cb_node_is_mappable(plan, i);
    c->maps = c->maps && cb_map_begin();
    /* The cache and the prefetch pool are optional: without them a run is only slower. */
    if (most > 0) c->cache = cb_cache_new(a, most, &c->spare);
    if (plan->fetch_depth > 0 && options->workers > 0)
        c->fetcher = cb_fetcher_new(a, plan->fetch_depth * options->workers,
                                    (size_t)plan->fetch_buffers * options->workers);
    *out = c;
    return CUBED_OK;
out:
    cb_chunks_free(c);
    return st;
}

/* Takes no lock: no other thread uses the broker any more. */
void cb_chunks_free(cb_chunks *c) CB_UNCHECKED_LOCKS
{
    if (!c) return;
    const cubed_allocator *a = &c->plan->ctx->alloc;
    const size_t nnodes = (size_t)c->plan->ir.nnodes;
    cb_fetcher_free(c->fetcher);
    for (int i = 0; i < c->plan->ir.nnodes; i++) cb_intermediates_free(c, i);
    cb_cache_free(c->cache);
    if (c->maps) cb_map_end();
    cb_mutex_destroy(&c->lock);
    if (c->released) cb_free(a, c->released, sizeof *c->released);
    cb_free(a, c->nodes, nnodes * sizeof *c->nodes);
    cb_free(a, c->kept, nnodes * sizeof *c->kept);
    cb_free(a, c, sizeof *c);
}

void cb_chunks_set_array(cb_chunks *c, int node, const cb_zarr_array *array, bool resumed)
{
    c->nodes[node].array = array;
    c->nodes[node].resumed = resumed;
}

cubed_status cb_chunks_open_work(cb_chunks *c, cubed_error *err)
{
    cb_work ignored;
    return cb_chunks_get_work(c, &ignored, err);
}

const cb_budget *cb_chunks_intermediates(const cb_chunks *c) { return &c->intermediates; }

uint64_t cb_chunks_cache_peak(const cb_chunks *c)
{
    return c->cache ? cb_cache_used(c->cache)->high_water : 0;
}

uint64_t cb_chunks_spilled(const cb_chunks *c)
{
    return atomic_load(&((cb_chunks *)(uintptr_t)c)->spilled);
}

/* --- Existing chunks ------------------------------------------------------------------------------------ */

bool cb_chunks_resumes(const cb_chunks *c, int node) { return c->nodes[node].resumed; }

bool cb_chunks_updates(const cb_chunks *c) { return c->options.keeps != NULL; }

cubed_status cb_chunks_find_whole(cb_chunks *c, int node, int64_t chunk, bool *found,
                                  cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    *found = false;
    /* An update must not use intermediates of earlier runs. So only chunks of targets can be complete, if the update does not
     * recompute them. */
    if (c->options.keeps) {
        *found = n->is_target && c->options.keeps(c->options.keeps_ctx, node, chunk);
        return CUBED_OK;
    }
    if (cb_node_is_intermediate(n)) return cb_intermediate_find(c, node, chunk, found, err);
    if (!cb_chunks_resumes(c, node)) return CUBED_OK;
    cb_grid_unravel(n->grid, chunk, idx);
    return cb_zarr_find_whole(c->nodes[node].array, idx, found, err);
}

cubed_status cb_chunks_exists(const cb_chunks *c, int node, int64_t chunk, bool *found,
                              cubed_error *err)
{
    const cb_zarr_array *array = c->nodes[node].array;
    int64_t idx[CUBED_MAX_NDIM];
    char key[4096];
    *found = false;
    if (!cb_chunks_resumes(c, node)) return CUBED_OK;
    cb_grid_unravel(c->plan->ir.nodes[node].grid, chunk, idx);
    CB_TRY(
        cb_zarr_chunk_key(cb_zarr_get_meta(array), cb_zarr_path(array), idx, key, sizeof key, err));
    return cb_store_exists(cb_zarr_store(array), key, found, err);
}

/* --- Reading ------------------------------------------------------------------------------------------ */

cubed_status cb_chunks_want(cb_chunks *c, const cb_chunk_reader *r, const cb_want *want,
                            cb_pinned *out, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[want->node];
    const size_t item = cubed_dtype_size(n->dtype);
    const int ndim = n->grid->ndim;
    int64_t extents[CUBED_MAX_NDIM];
    cb_want w = *want;
    cb_taken_offer taken = {.data = NULL};
    if (r->helper && !w.subread) CB_TRY(cb_chunks_take_offer(c, r, want, &taken, err));
    /* If another worker has decoded the chunk for this worker into the cache, use the cached chunk, even if no other block
     * will read it. */
    w.reuse = w.reuse || taken.cached;
    if (w.subread) {
        r->count->bytes_read += (size_t)cb_box_count(w.subread) * item;
        memcpy(out->lo, w.subread->lo, sizeof out->lo);
        for (int d = 0; d < ndim; d++) extents[d] = w.subread->hi[d] - w.subread->lo[d];
    } else {
        for (int d = 0; d < ndim; d++) out->lo[d] = cb_axis_lo(&n->grid->axis[d], w.idx[d]);
        cb_grid_stored(n->grid, w.idx, extents);
        r->count->bytes_read += cb_chunk_bytes_at(c->plan, w.node, w.idx);
    }
    out->data = taken.data ? taken.data : w.buffer;
    cb_dense_strides(ndim, extents, item, out->stride);
    if (!taken.data) CB_TRY(cb_chunks_read(c, r, &w, out, err));
    if (r->ahead) cb_ahead_pass(r->ahead, w.node, w.idx, r->count);
    return CUBED_OK;
}

/* --- Writing ------------------------------------------------------------------------------------------ */

/* Chunks of a region have other indices in the array than in the node. */
static cubed_status put_region(const cb_chunks *c, int node, const int64_t *idx, const void *src,
                               cb_arena *scratch, cb_task_count *count, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    int64_t at[CUBED_MAX_NDIM];
    cb_zarr_part part;
    cb_zarr_merged done;
    for (int d = 0; d < n->grid->ndim; d++) at[d] = idx[d] + n->first_chunk[d];
    cb_node_part(c->plan, node, at, &part);
    CB_TRY(cb_zarr_merge_chunk(c->nodes[node].array, at, &part, src, scratch, &done, err));
    count->stored_read += done.read;
    count->stored_written += done.stored;
    return CUBED_OK;
}

cubed_status cb_chunks_put(cb_chunks *c, int node, const int64_t *idx, const void *src,
                           cb_arena *scratch, cb_task_count *count, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    uint64_t stored = 0;
    CB_TRY(cb_chunks_check(c, err));
    count->bytes_written += cb_chunk_bytes_at(c->plan, node, idx);
    if (cb_node_is_intermediate(n))
        return cb_intermediate_put(c, node, idx, src, scratch->cancel, count, err);
    if (n->region) return put_region(c, node, idx, src, scratch, count, err);
    const bool missing = count->missing > 0 && count->present == 0;
    CB_TRY(cb_zarr_write_chunk(c->nodes[node].array, idx, src, missing, scratch, &stored, err));
    count->stored_written += stored;
    return CUBED_OK;
}
