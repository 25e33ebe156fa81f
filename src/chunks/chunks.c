#include "chunks/chunks.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "chunks/state.h"
#include "store/local/local_map.h"

/* Minimum size of a chunk, and of a contiguous run in a part, for which mapping is faster than copying. */
#define LEAST_MAPPED     ((size_t)1 << 20)
#define LEAST_MAPPED_RUN ((size_t)32 << 10)

/* Whether the chunks of a source are files that contain the elements unencoded. */
static bool is_mappable(const cubed_plan *p, int node)
{
    const cb_storage *s = p->storage[node];
    return s && s->array && !cb_zarr_is_irregular(&s->meta) &&
           cb_codec_chain_is_raw(&s->meta.codecs) && cb_chunk_bytes(p, node) >= LEAST_MAPPED &&
           cb_store_has_files(cb_zarr_store(s->array));
}

/* No other thread uses the broker yet. */
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
    if (!c->nodes || !c->kept || !cb_mutex_init(&c->lock)) {
        cb_free(a, c->nodes, (size_t)plan->ir.nnodes * sizeof *c->nodes);
        cb_free(a, c->kept, (size_t)plan->ir.nnodes * sizeof *c->kept);
        cb_free(a, c, sizeof *c);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    }
    cb_budget_init(&c->spare, options->spare);
    cb_budget_init(&c->intermediates, SIZE_MAX);
    for (int i = 0; i < plan->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&plan->ir.nodes[i])) CB_GO(cb_intermediates_init(c, i, err));
    }
    for (int i = 0; i < plan->ir.nnodes && !c->maps; i++) c->maps = is_mappable(plan, i);
    c->maps = c->maps && cb_map_begin();
    /* Optional: without them a run is only slower. */
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

/* No other thread uses the broker any more. */
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

cubed_status cb_chunks_find_whole(cb_chunks *c, int node, int64_t chunk, bool *found,
                                  cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    *found = false;
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

/* Reads a box from a source function, and charges its library memory. */
static cubed_status read_function(const cb_node *n, const cb_box *box, const int64_t *strides,
                                  void *dst, cb_arena *scratch, cb_task_count *count,
                                  cubed_error *err)
{
    size_t bytes = (size_t)cb_box_count(box) * cubed_dtype_size(n->dtype);
    size_t library = cb_source_need(n->source, bytes);
    CB_TRY(cb_arena_charge(scratch, library, "what a source allocates", err));
    cubed_status st = cb_source_read(n->source, box, strides, dst, err);
    cb_arena_uncharge(scratch, library);
    count->stored_read += bytes;
    count->present++;
    return st;
}

static cb_cache_key chunk_key(const cb_chunks *c, int node, const int64_t *idx)
{
    return (cb_cache_key){node, CB_CACHE_CHUNK, cb_grid_ravel(c->plan->ir.nodes[node].grid, idx)};
}

/* Reads an inner chunk of a shard to dst, or a part of one to part->dst, with the shard's cached index if available. `part`
 * may be NULL. */
static cubed_status read_from_shard(const cb_chunks *c, int node, const int64_t *idx,
                                    const cb_zarr_extract *part, void *dst, cb_arena *scratch,
                                    uint64_t *stored, cubed_error *err)
{
    const cb_zarr_array *array = cb_source_of(c, node);
    const cb_zarr_meta *meta = &c->plan->storage[node]->meta;
    size_t size = cb_zarr_index_bytes(meta), mark = cb_arena_mark(scratch);
    cb_cache_key key = {node, CB_CACHE_INDEX, cb_zarr_shard_number(meta, idx)};
    cb_zarr_fetched fetched;
    const cb_zarr_fetched *there = NULL;
    cb_fetch *slot = NULL;
    cb_cache_found found = CB_CACHE_FULL;
    cb_cache_entry *entry = NULL;
    cubed_status st = CUBED_OK;
    void *index;
    CB_TRY(cb_arena_alloc(scratch, size, "shard index", &index, err));
    if (c->cache) found = cb_cache_pin(c->cache, key, size, SIZE_MAX, &entry);
    if (entry) index = cb_cache_data(entry);
    if (found != CB_CACHE_HIT) {
        there = cb_chunks_take(c, key, scratch->cancel, &slot, &fetched);
        st = cb_zarr_read_index(array, idx, there, index, scratch, stored, err);
        cb_chunks_done(c, slot);
    }
    if (found == CB_CACHE_FILL) cb_cache_filled(c->cache, entry, st == CUBED_OK);
    const bool known = st == CUBED_OK;
    if (known && part) {
        st = cb_zarr_subread_inner(array, idx, index, part, scratch, stored, err);
    } else if (known) {
        there = cb_chunks_take(c, chunk_key(c, node, idx), scratch->cancel, &slot, &fetched);
        st = cb_zarr_read_inner(array, idx, index, there, dst, scratch, stored, err);
        cb_chunks_done(c, slot);
    }
    if (known && entry) cb_cache_unpin(c->cache, entry);
    cb_arena_release(scratch, mark);
    return st;
}

/* Reads a chunk's object, which may have been prefetched. An object without codecs is used in place if the caller allows
 * it. */
static cubed_status read_object(const cb_chunks *c, const cb_want *w, void *dst, cb_pinned *out,
                                cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_zarr_array *array = cb_array_of(c, w->node);
    const size_t size = cb_chunk_bytes_at(c->plan, w->node, w->idx);
    cb_zarr_fetched fetched;
    cb_fetch *slot;
    const cb_zarr_fetched *there =
        cb_chunks_take(c, chunk_key(c, w->node, w->idx), scratch->cancel, &slot, &fetched);
    if (there && w->mapped && dst == w->buffer && there->status == CUBED_OK &&
        there->size == size && there->info.size == size &&
        cb_codec_chain_is_raw(&cb_zarr_get_meta(array)->codecs)) {
        out->data = there->data;
        *stored = size;
        return cb_chunks_keep(c, slot, scratch, err);
    }
    cubed_status st = cb_zarr_read_chunk(array, w->idx, there, dst, scratch, stored, err);
    cb_chunks_done(c, slot);
    return st;
}

void cb_count_stored(const cb_zarr_array *array, uint64_t stored, cb_task_count *count)
{
    count->stored_read += stored;
    if (stored == 0 && cb_zarr_get_meta(array)->fill_is_null)
        count->missing++;
    else
        count->present++;
}

/* Reads a chunk or a part from a store or a source function. */
static cubed_status read_stored(const cb_chunks *c, const cb_want *w, void *dst, cb_pinned *out,
                                cb_arena *scratch, cb_task_count *count, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[w->node];
    const cb_zarr_array *array = cb_array_of(c, w->node);
    uint64_t stored = 0;
    cb_box box;
    cb_grid_box(n->grid, w->idx, &box);
    if (!array) {
        const size_t size = cb_chunk_bytes_at(c->plan, w->node, w->idx);
        const size_t used = (size_t)cb_box_count(&box) * cubed_dtype_size(n->dtype);
        if (!w->subread && used < size) memset(dst, 0, size); /* padding beyond the array's end */
        return read_function(n, w->subread ? w->subread : &box, out->stride, dst, scratch, count,
                             err);
    }
    cb_zarr_extract part;
    part.dst = dst; /* bounds are set below, for a part only */
    for (int d = 0; w->subread && d < box.ndim; d++) {
        part.lo[d] = w->subread->lo[d] - box.lo[d];
        part.hi[d] = w->subread->hi[d] - box.lo[d];
    }
    if (cb_source_of(c, w->node) && cb_zarr_index_bytes(cb_zarr_get_meta(array)) > 0) {
        CB_TRY(read_from_shard(c, w->node, w->idx, w->subread ? &part : NULL, dst, scratch, &stored,
                               err));
    } else if (w->subread) {
        CB_TRY(cb_zarr_subread(array, w->idx, &part, scratch, &stored, err));
    } else {
        CB_TRY(read_object(c, w, dst, out, scratch, &stored, err));
    }
    cb_count_stored(array, stored, count);
    return CUBED_OK;
}

static void unpin(void *cache, void *entry) { cb_cache_unpin(cache, entry); }

/* Like read_stored, through the cache. */
static cubed_status want_kept(cb_chunks *c, const cb_want *w, cb_arena *scratch, cb_pinned *out,
                              cb_task_count *count, cubed_error *err)
{
    const size_t size = cb_chunk_bytes_at(c->plan, w->node, w->idx);
    cb_cache_entry *entry;
    cubed_status st = CUBED_OK;
    cb_cache_found found = cb_cache_pin(c->cache, chunk_key(c, w->node, w->idx), size,
                                        c->options.reads(c->plan, w->node, w->idx), &entry);
    void *dst = entry ? cb_cache_data(entry) : w->buffer;
    if (found != CB_CACHE_HIT) st = read_stored(c, w, dst, out, scratch, count, err);
    if (found == CB_CACHE_HIT) count->present++;
    if (found == CB_CACHE_FILL) cb_cache_filled(c->cache, entry, st == CUBED_OK);
    if (st != CUBED_OK || !entry) return st;
    if (w->copied) {
        memcpy(w->buffer, dst, size);
        cb_cache_unpin(c->cache, entry);
        return CUBED_OK;
    }
    out->data = dst;
    st = cb_arena_defer(scratch, unpin, c->cache, entry, err);
    if (st != CUBED_OK) cb_cache_unpin(c->cache, entry);
    return st;
}

bool cb_chunks_bring(cb_chunks *c, int node, const int64_t *idx, cb_arena *scratch,
                     cb_task_count *count)
{
    const cb_want want = {.node = node, .idx = idx};
    const size_t size = cb_chunk_bytes_at(c->plan, node, idx);
    cb_cache_entry *entry;
    cb_pinned out;
    if (!c->cache) return false;
    const cb_cache_found found = cb_cache_fill(c->cache, chunk_key(c, node, idx), size,
                                               c->options.reads(c->plan, node, idx), &entry);
    if (found != CB_CACHE_FILL) return found == CB_CACHE_HIT;
    const bool there =
        read_stored(c, &want, cb_cache_data(entry), &out, scratch, count, NULL) == CUBED_OK;
    cb_cache_filled(c->cache, entry, there);
    if (there) cb_cache_unpin(c->cache, entry);
    return there;
}

bool cb_chunks_is_kept(const cb_chunks *c, int node, int64_t chunk)
{
    return c->cache && cb_cache_has(c->cache, (cb_cache_key){node, CB_CACHE_CHUNK, chunk});
}

static void unmap(void *size, void *data) { cb_map_close(data, (uintptr_t)size); }

/* Splits a part of a chunk into contiguous runs. Returns their length in bytes; `first` contains the index of each run's
 * first element. */
static size_t runs_of(const cb_grid *g, const cb_want *w, size_t item, cb_box *first)
{
    size_t run = item;
    bool whole = true;
    first->ndim = g->ndim;
    for (int d = g->ndim - 1; d >= 0; d--) {
        const int64_t at = cb_axis_lo(&g->axis[d], w->idx[d]),
                      n = w->subread->hi[d] - w->subread->lo[d];
        first->lo[d] = w->subread->lo[d] - at;
        first->hi[d] = first->lo[d] + (whole ? 1 : n);
        if (whole) run *= (size_t)n;
        whole = whole && n == g->axis[d].chunk;
    }
    return run;
}

/* Loads the pages of the wanted parts of a mapped chunk. */
static void bring_runs(const cb_box *first, size_t run, const cb_pinned *chunk)
{
    int64_t at[CUBED_MAX_NDIM];
    memcpy(at, first->lo, sizeof at);
    do {
        size_t offset = 0;
        for (int d = 0; d < first->ndim; d++) offset += (size_t)(at[d] * chunk->stride[d]);
        cb_map_bring(chunk->data, offset, run);
    } while (cb_odometer_next(first, at));
}

static void add_cost(cb_map_costs *costs, size_t bytes, int64_t begun)
{
    atomic_fetch_add(&costs->ns, (uint64_t)(cb_clock_thread_ns() - begun));
    atomic_fetch_add(&costs->bytes, bytes);
}

/* Maps the chunk's file, which makes all of it available, or copies the wanted part from a mapping. Sets *there to false if
 * the chunk must be read instead. */
static cubed_status want_mapped(cb_chunks *c, const cb_want *w, cb_arena *scratch, cb_pinned *out,
                                bool *there, cb_task_count *count, cubed_error *err)
{
    const cb_zarr_array *array = cb_source_of(c, w->node);
    const cb_node *n = &c->plan->ir.nodes[w->node];
    const size_t size = cb_chunk_bytes(c->plan, w->node), item = cubed_dtype_size(n->dtype);
    char key[4096];
    cb_box first;
    const size_t run = w->subread ? runs_of(n->grid, w, item, &first) : size;
    const size_t bytes = w->subread ? (size_t)cb_box_count(w->subread) * item : size;
    *there = false;
    if (w->subread && run < LEAST_MAPPED_RUN) return CUBED_OK;
    const int64_t begun = cb_clock_thread_ns();
    if (w->subread && !cb_map_pays(&c->mapped, &c->copied)) {
        CB_TRY(read_stored(c, w, w->buffer, out, scratch, count, err));
        add_cost(&c->copied, bytes, begun);
        *there = true;
        return CUBED_OK;
    }
    CB_TRY(cb_zarr_chunk_key(cb_zarr_get_meta(array), cb_zarr_path(array), w->idx, key, sizeof key,
                             err));
    void *data = cb_map_open(cb_zarr_store(array), key, size, !w->subread, &c->cut, w->node + 1);
    *there = data != NULL;
    if (!data) return CUBED_OK;
    count->present++;
    out->data = data;
    count->stored_read += bytes;
    if (w->subread) {
        int64_t extents[CUBED_MAX_NDIM];
        for (int d = 0; d < n->grid->ndim; d++)
            out->lo[d] = cb_axis_lo(&n->grid->axis[d], w->idx[d]);
        cb_grid_stored(n->grid, w->idx, extents);
        cb_dense_strides(n->grid->ndim, extents, item, out->stride);
        bring_runs(&first, run, out);
        add_cost(&c->mapped, bytes, begun);
    }
    cubed_status st = cb_arena_defer(scratch, unmap, (void *)size, data, err);
    if (st != CUBED_OK) cb_map_close(data, size);
    return st;
}

cubed_status cb_chunks_want(cb_chunks *c, const cb_want *want, cb_arena *scratch, cb_pinned *out,
                            cb_task_count *count, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[want->node];
    const size_t item = cubed_dtype_size(n->dtype);
    const int ndim = n->grid->ndim;
    int64_t extents[CUBED_MAX_NDIM];
    if (want->subread) {
        count->bytes_read += (size_t)cb_box_count(want->subread) * item;
        memcpy(out->lo, want->subread->lo, sizeof out->lo);
        for (int d = 0; d < ndim; d++) extents[d] = want->subread->hi[d] - want->subread->lo[d];
    } else {
        for (int d = 0; d < ndim; d++) out->lo[d] = cb_axis_lo(&n->grid->axis[d], want->idx[d]);
        cb_grid_stored(n->grid, want->idx, extents);
        count->bytes_read += cb_chunk_bytes_at(c->plan, want->node, want->idx);
    }
    out->data = want->there ? want->there : want->buffer;
    cb_dense_strides(ndim, extents, item, out->stride);
    if (want->there) return CUBED_OK;
    if (cb_node_is_intermediate(n)) count->present++;
    if (cb_node_is_intermediate(n)) return cb_intermediate_want(c, want, scratch, out, count, err);
    if (want->reuse && !want->subread && c->cache && c->plan->reused[want->node])
        return want_kept(c, want, scratch, out, count, err);
    if (want->mapped && c->maps && is_mappable(c->plan, want->node)) {
        bool there;
        CB_TRY(want_mapped(c, want, scratch, out, &there, count, err));
        if (there) return CUBED_OK;
    }
    return read_stored(c, want, want->buffer, out, scratch, count, err);
}

void cb_chunks_pass(cb_chunks *c, int node, const int64_t *idx)
{
    if (c->cache && c->plan->reused[node]) cb_cache_pass(c->cache, chunk_key(c, node, idx));
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
