/* Reads chunks. A chunk in memory is used in place. Other chunks come from the cache, a mapped file, or the store. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "chunks/state.h"
#include "store/local/local_map.h"

/* Minimum size in bytes of a contiguous run of a part for which mapping is faster than copying. */
#define LEAST_MAPPED_RUN ((size_t)32 << 10)

static cb_cache_key chunk_key(const cb_chunks *c, int node, const int64_t *idx)
{
    return (cb_cache_key){node, CB_CACHE_CHUNK, cb_grid_ravel(c->plan->ir.nodes[node].grid, idx)};
}

/* --- Reads from storage ------------------------------------------------------------------------------- */

/* A read of a chunk, or of a part of one, to `dst`. */
typedef struct stored_read {
    cb_chunks *c;
    const cb_chunk_reader *r;
    const cb_want *want;
    const cb_zarr_array *array; /* array that has the chunk; NULL if the chunk is not in an array */
    cb_box box;                 /* box of the chunk's elements within the array */
    void *dst;
    cb_zarr_extract part; /* the part to read; used only if want->subread is set */
    cb_pinned *out;
    uint64_t stored; /* number of bytes that were read from the store or the source function */
} stored_read;

/* Reads from a source function, and charges the arena for the memory of the function's libraries. */
static cubed_status read_function(stored_read *x, cubed_error *err)
{
    const cb_want *w = x->want;
    const cb_node *n = &x->c->plan->ir.nodes[w->node];
    const cb_box *box = w->subread ? w->subread : &x->box;
    const size_t bytes = (size_t)cb_box_count(box) * cubed_dtype_size(n->dtype);
    const size_t library = cb_source_need(n->source, bytes);
    const size_t size = w->subread ? bytes : cb_chunk_bytes_at(x->c->plan, w->node, w->idx);
    /* set the part of the chunk beyond the end of the array to zero */
    if (bytes < size) memset(x->dst, 0, size);
    CB_TRY(cb_arena_charge(x->r->arena, library, "what a source allocates", err));
    const cubed_status st = cb_source_read(n->source, box, x->out->stride, x->dst, err);
    cb_arena_uncharge(x->r->arena, library);
    x->stored = bytes;
    return st;
}

/* Reads an inner chunk of a shard, with the shard's cached index if available. */
static cubed_status read_from_shard(stored_read *x, cubed_error *err)
{
    cb_chunks *c = x->c;
    const cb_want *w = x->want;
    cb_arena *scratch = x->r->arena;
    const cb_zarr_meta *meta = cb_zarr_get_meta(x->array);
    const size_t size = cb_zarr_index_bytes(meta), mark = cb_arena_mark(scratch);
    const cb_cache_key key = {w->node, CB_CACHE_INDEX, cb_zarr_shard_number(meta, w->idx)};
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
        st = cb_zarr_read_index(x->array, w->idx, there, index, scratch, &x->stored, err);
        cb_chunks_done(c, slot);
    }
    if (found == CB_CACHE_FILL) cb_cache_filled(c->cache, entry, st == CUBED_OK);
    const bool known = st == CUBED_OK;
    if (known && w->subread) {
        st = cb_zarr_subread_inner(x->array, w->idx, index, &x->part, scratch, &x->stored, err);
    } else if (known) {
        there = cb_chunks_take(c, chunk_key(c, w->node, w->idx), scratch->cancel, &slot, &fetched);
        st = cb_zarr_read_inner(x->array, w->idx, index, there, x->dst, scratch, &x->stored, err);
        cb_chunks_done(c, slot);
    }
    if (known && entry) cb_cache_unpin(c->cache, entry);
    cb_arena_release(scratch, mark);
    return st;
}

/* Reads a chunk that is a separate object: of an array, or of an intermediate in the work folder. A prefetched object without
 * codecs is used in place if the caller allows it. */
static cubed_status read_object(stored_read *x, cubed_error *err)
{
    cb_chunks *c = x->c;
    const cb_want *w = x->want;
    cb_arena *scratch = x->r->arena;
    int64_t shape[CUBED_MAX_NDIM];
    char key[CB_INTERMEDIATE_KEY_CAP];
    cb_zarr_unencoded plain = {.key = key, .shape = shape};
    if (!x->array) {
        cb_grid_stored(c->plan->ir.nodes[w->node].grid, w->idx, shape);
        plain.ndim = x->box.ndim;
        plain.item = cubed_dtype_size(c->plan->ir.nodes[w->node].dtype);
        CB_TRY(cb_intermediate_object(c, w->node, w->idx, &plain.store, key, err));
    }
    if (w->subread && x->array)
        return cb_zarr_subread(x->array, w->idx, &x->part, scratch, &x->stored, err);
    if (w->subread)
        return cb_zarr_subread_unencoded(&plain, &x->part, scratch->cancel, &x->stored, err);
    const size_t size = cb_chunk_bytes_at(c->plan, w->node, w->idx);
    const bool raw = !x->array || cb_codec_chain_is_raw(&cb_zarr_get_meta(x->array)->codecs);
    cb_zarr_fetched fetched;
    cb_fetch *slot;
    const cb_zarr_fetched *there =
        cb_chunks_take(c, chunk_key(c, w->node, w->idx), scratch->cancel, &slot, &fetched);
    if (there && w->mapped && x->dst == w->buffer && there->status == CUBED_OK &&
        there->size == size && there->info.size == size && raw) {
        x->out->data = there->data;
        x->stored = size;
        return cb_chunks_keep(c, slot, scratch, err);
    }
    const cubed_status st =
        x->array ? cb_zarr_read_chunk(x->array, w->idx, there, x->dst, scratch, &x->stored, err)
                 : cb_zarr_read_unencoded(&plain, there, x->dst, scratch->cancel, &x->stored, err);
    cb_chunks_done(c, slot);
    return st;
}

void cb_count_stored(const cb_zarr_array *array, uint64_t stored, cb_task_count *count)
{
    count->stored_read += stored;
    if (stored == 0 && array && cb_zarr_get_meta(array)->fill_is_null)
        count->missing++;
    else
        count->present++;
}

/* Reads a chunk or a part from where it is stored. */
static cubed_status read_stored(cb_chunks *c, const cb_chunk_reader *r, const cb_want *w, void *dst,
                                cb_pinned *out, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[w->node];
    stored_read x = {
        .c = c, .r = r, .want = w, .array = cb_array_of(c, w->node), .dst = dst, .out = out};
    cb_grid_box(n->grid, w->idx, &x.box);
    x.part.dst = dst;
    for (int d = 0; w->subread && d < x.box.ndim; d++) {
        x.part.lo[d] = w->subread->lo[d] - x.box.lo[d];
        x.part.hi[d] = w->subread->hi[d] - x.box.lo[d];
    }
    if (!x.array && !cb_node_is_intermediate(n)) {
        CB_TRY(read_function(&x, err));
    } else if (cb_source_of(c, w->node) && cb_zarr_index_bytes(cb_zarr_get_meta(x.array)) > 0) {
        CB_TRY(read_from_shard(&x, err));
    } else {
        CB_TRY(read_object(&x, err));
    }
    cb_count_stored(x.array, x.stored, r->count);
    return CUBED_OK;
}

/* --- Chunks in memory, in the cache or in mapped files ------------------------------------------------ */

static void unpin(void *cache, void *entry) { cb_cache_unpin(cache, entry); }

/* Finds a chunk in the cache, or reads it into the cache, or into w->buffer if the cache does not keep it. A chunk in the cache
 * is copied to w->buffer, or pinned until the arena is released to a mark before this call. */
static cubed_status want_kept(cb_chunks *c, const cb_chunk_reader *r, const cb_want *w,
                              cb_pinned *out, cubed_error *err)
{
    const size_t size = cb_chunk_bytes_at(c->plan, w->node, w->idx);
    cb_cache_entry *entry;
    cubed_status st = CUBED_OK;
    cb_cache_found found = cb_cache_pin(c->cache, chunk_key(c, w->node, w->idx), size,
                                        c->options.reads(c->plan, w->node, w->idx), &entry);
    void *dst = entry ? cb_cache_data(entry) : w->buffer;
    if (found != CB_CACHE_HIT) st = read_stored(c, r, w, dst, out, err);
    if (found == CB_CACHE_HIT) r->count->present++;
    if (found == CB_CACHE_FILL) cb_cache_filled(c->cache, entry, st == CUBED_OK);
    if (st != CUBED_OK || !entry) return st;
    if (w->copied) {
        memcpy(w->buffer, dst, size);
        cb_cache_unpin(c->cache, entry);
        return CUBED_OK;
    }
    out->data = dst;
    st = cb_arena_defer(r->arena, unpin, c->cache, entry, err);
    if (st != CUBED_OK) cb_cache_unpin(c->cache, entry);
    return st;
}

bool cb_chunks_bring(cb_chunks *c, const cb_chunk_reader *r, int node, const int64_t *idx,
                     void *buffer)
{
    const cb_want want = {.node = node, .idx = idx};
    const size_t size = cb_chunk_bytes_at(c->plan, node, idx);
    cb_cache_entry *entry;
    cb_pinned out;
    if (!c->plan->reused[node]) return read_stored(c, r, &want, buffer, &out, NULL) == CUBED_OK;
    if (!c->cache) return false;
    const cb_cache_found found = cb_cache_fill(c->cache, chunk_key(c, node, idx), size,
                                               c->options.reads(c->plan, node, idx), &entry);
    if (found != CB_CACHE_FILL) return found == CB_CACHE_HIT;
    const bool there = read_stored(c, r, &want, cb_cache_data(entry), &out, NULL) == CUBED_OK;
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

/* Loads the pages of the requested parts of a mapped chunk into memory. */
static void load_pages(const cb_box *first, size_t run, const cb_pinned *chunk)
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

/* Makes a chunk available by mapping its file into memory. If only a part is requested, either maps or copies it, as the costs
 * measured so far suggest (cb_map_pays). Sets *there to false if the chunk must be read instead. */
static cubed_status want_mapped(cb_chunks *c, const cb_chunk_reader *r, const cb_want *w,
                                cb_pinned *out, bool *there, cubed_error *err)
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
        CB_TRY(read_stored(c, r, w, w->buffer, out, err));
        add_cost(&c->copied, bytes, begun);
        *there = true;
        return CUBED_OK;
    }
    CB_TRY(cb_zarr_chunk_key(cb_zarr_get_meta(array), cb_zarr_path(array), w->idx, key, sizeof key,
                             err));
    void *data = cb_map_open(cb_zarr_store(array), key, size, !w->subread, &c->cut, w->node + 1);
    *there = data != NULL;
    if (!data) return CUBED_OK;
    r->count->present++;
    out->data = data;
    r->count->stored_read += bytes;
    if (w->subread) {
        int64_t extents[CUBED_MAX_NDIM];
        for (int d = 0; d < n->grid->ndim; d++)
            out->lo[d] = cb_axis_lo(&n->grid->axis[d], w->idx[d]);
        cb_grid_stored(n->grid, w->idx, extents);
        cb_dense_strides(n->grid->ndim, extents, item, out->stride);
        load_pages(&first, run, out);
        add_cost(&c->mapped, bytes, begun);
    }
    cubed_status st = cb_arena_defer(r->arena, unmap, (void *)size, data, err);
    if (st != CUBED_OK) cb_map_close(data, size);
    return st;
}

cubed_status cb_chunks_read(cb_chunks *c, const cb_chunk_reader *r, const cb_want *want,
                            cb_pinned *out, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[want->node];
    bool there = false;
    if (cb_node_is_intermediate(n))
        CB_TRY(cb_intermediate_in_memory(c, want, out, &there, r->count, err));
    if (there) return CUBED_OK;
    if (want->reuse && !want->subread && c->cache && c->plan->reused[want->node])
        return want_kept(c, r, want, out, err);
    if (want->mapped && c->maps && cb_node_is_mappable(c->plan, want->node)) {
        CB_TRY(want_mapped(c, r, want, out, &there, err));
        if (there) return CUBED_OK;
    }
    return read_stored(c, r, want, want->buffer, out, err);
}

void cb_chunks_pass(cb_chunks *c, int node, const int64_t *idx)
{
    if (c->cache && c->plan->reused[node]) cb_cache_pass(c->cache, chunk_key(c, node, idx));
}
