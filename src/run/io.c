#include "chunks/io.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exec/need.h"
#include "exec/vm.h"
#include "run/io_state.h"

static cubed_status open_nodes(cb_io *io, bool resume, cubed_error *err)
{
    CB_TRY(io->mode == CB_IO_WORKER ? cb_targets_join(io, resume, err)
                                    : cb_targets_begin(io, resume, err));
    const cubed_plan *p = io->plan;
    const cubed_allocator *a = &p->ctx->alloc;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->is_target && n->to_memory && !n->result && cb_grid_count(&n->grid) > 0)
            return cb_fail(err, CUBED_E_ARG,
                           "a result of the plan has no memory: bind it before the run");
        if (!cb_node_is_intermediate(n)) continue;
        node_io *x = &io->nodes[i];
        x->chunk_bytes = cb_chunk_bytes(p, i);
        if (io->mode != CB_IO_RUN || (resume && io->plan->work_dir))
            CB_TRY(cb_intermediate_open(io, err));
        if (!cb_io_drives(io)) continue;
        x->nchunks = (size_t)cb_grid_count(&n->grid);
        x->kept = cb_alloc_zero(a, x->nchunks * sizeof *x->kept);
        x->readers = cb_alloc_zero(a, x->nchunks * sizeof *x->readers);
        if (!x->kept || !x->readers)
            return cb_fail(err, CUBED_E_NOMEM, "no memory for a table of %zu chunks", x->nchunks);
    }
    return CUBED_OK;
}

cubed_status cb_io_open(cubed_plan *plan, const cb_io_options *options, cb_io **out,
                        cubed_error *err)
{
    const cubed_allocator *a = &plan->ctx->alloc;
    const cb_io_mode mode = options->mode;
    const bool detached =
        mode == CB_IO_BEGIN || mode == CB_IO_FINISH || (mode == CB_IO_WORKER && !options->plan);
    cubed_status st;
    cb_io *io = cb_alloc_zero(a, sizeof *io);
    if (!io) return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    io->plan = plan;
    io->mode = mode;
    io->nodes = cb_alloc_zero(a, (size_t)plan->ir.nnodes * sizeof *io->nodes);
    if (!io->nodes || pthread_mutex_init(&io->lock, NULL) != 0) {
        cb_free(a, io->nodes, (size_t)plan->ir.nnodes * sizeof *io->nodes);
        cb_free(a, io, sizeof *io);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to run a plan");
    }
    cb_budget_init(&io->spare, mode == CB_IO_DRIVER ? 0 : cb_plan_spare(plan, mode == CB_IO_RUN));
    cb_budget_init(&io->intermediates, SIZE_MAX);
    io->remember = detached || options->resume || options->keep != 0;
    if (mode != CB_IO_WORKER) CB_GO(cb_plan_check_places(plan, true, err));
    CB_GO(cb_zone_new(a, &io->zone, err));
    CB_GO(cb_run_self_init(plan, options->run, io->remember && !options->plan, detached, io->zone,
                           &io->self, err));
    if (options->plan) snprintf(io->self.plan, sizeof io->self.plan, "%s", options->plan);
    io->may_keep = *io->self.plan ? options->keep : 0;
    CB_GO(open_nodes(io, options->resume || mode == CB_IO_FINISH, err));
    size_t most = cb_min_size(plan->cache_bytes, io->spare.limit);
    /* Without a cache a run is only slower. */
    if (most > 0) io->cache = cb_cache_new(a, most, &io->spare);
    *out = io;
    return CUBED_OK;
out:
    /* What a resumed run left stays as it was; what a run in parts has begun is not left to it. */
    io->keep = options->resume ? io->may_keep | CUBED_KEEP_CHUNKS | CUBED_KEEP_INTERMEDIATES : 0;
    io->self.detached = false;
    cb_io_close(io);
    return st;
}

void cb_io_sweep(const cb_io *io)
{
    cubed_status ignored = CUBED_OK; /* the next one who writes there, or cleans, finds it */
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        const cb_zarr_array *array = io->nodes[i].array;
        if (array)
            ignored =
                cb_store_sweep(cb_zarr_store(array), cb_zarr_path(array), false, NULL, NULL, NULL);
    }
    if (io->spills) ignored = cb_store_sweep(io->work, io->prefix, false, NULL, NULL, NULL);
    (void)ignored;
}

void cb_io_keep(cb_io *io) { io->keep = io->may_keep; }

void cb_io_close(cb_io *io)
{
    if (!io) return;
    const cubed_allocator *a = &io->plan->ctx->alloc;
    cb_targets_end(io);
    for (int i = 0; i < io->plan->ir.nnodes; i++) {
        node_io *x = &io->nodes[i];
        for (size_t k = 0; x->kept && k < x->nchunks; k++) {
            if (x->kept[k] != cb_intermediate_spilled(io))
                cb_pages_unmap(x->kept[k], cb_pages_round(x->chunk_bytes));
        }
        cb_free(a, x->kept, x->nchunks * sizeof *x->kept);
        cb_free(a, x->readers, x->nchunks * sizeof *x->readers);
    }
    cb_intermediate_close(io);
    cb_cache_free(io->cache);
    cb_zone_free(io->zone);
    pthread_mutex_destroy(&io->lock);
    cb_free(a, io->nodes, (size_t)io->plan->ir.nnodes * sizeof *io->nodes);
    cb_free(a, io, sizeof *io);
}

bool cb_io_finished(const cb_io *io) { return io->finished; }

const char *cb_io_run(const cb_io *io) { return io->self.run; }

const char *cb_io_plan(const cb_io *io) { return io->self.plan; }

const cb_budget *cb_io_intermediates(const cb_io *io) { return &io->intermediates; }

uint64_t cb_io_cache_peak(const cb_io *io)
{
    return io->cache ? cb_cache_used(io->cache)->high_water : 0;
}

uint64_t cb_io_spilled(const cb_io *io) { return atomic_load(&((cb_io *)(uintptr_t)io)->spilled); }

bool cb_io_resumes(const cb_io *io, int node)
{
    const target_io *t = io->nodes[node].target;
    return t && t->resumed;
}

cubed_status cb_io_find_whole(cb_io *io, int node, int64_t chunk, bool *found, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    node_io *x = &io->nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    char key[96];
    cubed_object_info info;
    *found = false;
    cb_grid_unravel(&n->grid, chunk, idx);
    if (cb_io_resumes(io, node)) return cb_zarr_find_whole(x->array, idx, found, err);
    if (!cb_node_is_intermediate(n) || !io->spills) return CUBED_OK;
    cb_intermediate_key(io, node, chunk, key);
    CB_TRY(cb_store_find(io->work, key, &info, err));
    *found = !cb_version_is_none(&info.version) &&
             info.size == cb_intermediate_chunk_bytes(io, node, idx);
    x->kept[chunk] = *found ? cb_intermediate_spilled(io) : NULL;
    return CUBED_OK;
}

cubed_status cb_io_exists(cb_io *io, int node, int64_t chunk, bool *found, cubed_error *err)
{
    const node_io *x = &io->nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    char key[4096];
    *found = false;
    if (!cb_io_resumes(io, node)) return CUBED_OK;
    cb_grid_unravel(&io->plan->ir.nodes[node].grid, chunk, idx);
    CB_TRY(cb_zarr_chunk_key(cb_zarr_get_meta(x->array), cb_zarr_path(x->array), idx, key,
                             sizeof key, err));
    return cb_store_exists(cb_zarr_store(x->array), key, found, err);
}

/* --- Chunks ------------------------------------------------------------------------------------------ */

/* A box of what a function reads, with library memory charged. */
static cubed_status read_source(const cb_node *n, const cb_box *box, const int64_t *strides,
                                void *dst, cb_arena *scratch, cb_io_count *count, cubed_error *err)
{
    size_t bytes = (size_t)cb_box_count(box) * cubed_dtype_size(n->dtype);
    size_t library = cb_source_need(n->source, bytes);
    CB_TRY(cb_arena_charge(scratch, library, "what a source allocates", err));
    cubed_status st = cb_source_read(n->source, box, strides, dst, err);
    cb_arena_uncharge(scratch, library);
    count->stored_read += bytes;
    return st;
}

/* The same of a chunk, whose elements behind the array's end are 0. */
static cubed_status read_source_chunk(const cb_node *n, const int64_t *idx, void *dst,
                                      size_t chunk_bytes, cb_arena *scratch, cb_io_count *count,
                                      cubed_error *err)
{
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM];
    size_t size = cubed_dtype_size(n->dtype);
    cb_box box;
    cb_grid_box(&n->grid, idx, &box);
    cb_grid_stored(&n->grid, idx, extents);
    cb_dense_strides(n->grid.ndim, extents, size, strides);
    if ((size_t)cb_box_count(&box) * size < chunk_bytes) memset(dst, 0, chunk_bytes);
    return read_source(n, &box, strides, dst, scratch, count, err);
}

static void let_go(void *io, void *entry) { cb_cache_unpin(((cb_io *)io)->cache, entry); }

/* The array that a source is; NULL of everything else. */
static const cb_zarr_array *array_of(const cb_io *io, int node)
{
    const cb_storage *s = io->plan->storage[node];
    return s ? s->array : NULL;
}

/* An inner chunk of a shard, whose index may be known. */
static cubed_status read_from_shard(const cb_io *io, int node, const int64_t *idx, void *dst,
                                    cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_zarr_array *array = io->plan->storage[node]->array;
    const cb_zarr_meta *meta = &io->plan->storage[node]->meta;
    size_t size = cb_zarr_index_bytes(meta), mark = cb_arena_mark(scratch);
    cb_cache_key key = {node, CB_CACHE_INDEX, cb_zarr_shard_number(meta, idx)};
    cb_cache_found found = CB_CACHE_FULL;
    cb_cache_entry *entry = NULL;
    cubed_status st = CUBED_OK;
    void *index;
    CB_TRY(cb_arena_alloc(scratch, size, "shard index", &index, err));
    if (io->cache) found = cb_cache_pin(io->cache, key, size, SIZE_MAX, &entry);
    if (entry) index = cb_cache_data(entry);
    if (found != CB_CACHE_HIT) st = cb_zarr_read_index(array, idx, index, scratch, stored, err);
    if (found == CB_CACHE_FILL) cb_cache_filled(io->cache, entry, st == CUBED_OK);
    if (st == CUBED_OK) {
        st = cb_zarr_read_inner(array, idx, index, dst, scratch, stored, err);
        if (entry) cb_cache_unpin(io->cache, entry);
    }
    cb_arena_release(scratch, mark);
    return st;
}

/* A chunk of what has a store or a function behind it. */
static cubed_status read_stored(const cb_io *io, int node, const int64_t *idx, void *dst,
                                cb_arena *scratch, cb_io_count *count, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    const cb_storage *s = io->plan->storage[node];
    uint64_t stored = 0;
    if (n->source)
        return read_source_chunk(n, idx, dst, cb_chunk_bytes(io->plan, node), scratch, count, err);
    if (s->array && cb_zarr_index_bytes(&s->meta) > 0)
        CB_TRY(read_from_shard(io, node, idx, dst, scratch, &stored, err));
    else /* a source, or a target that a later stage reads */
        CB_TRY(cb_zarr_read_chunk(s->array ? s->array : io->nodes[node].array, idx, dst, scratch,
                                  &stored, err));
    count->stored_read += stored;
    return CUBED_OK;
}

static cb_cache_key chunk_key(const cb_io *io, int node, const int64_t *idx)
{
    return (cb_cache_key){node, CB_CACHE_CHUNK, cb_grid_ravel(&io->plan->ir.nodes[node].grid, idx)};
}

/* *entry: where the chunk is kept, which the caller lets go; NULL: it is where *direct says. */
static cubed_status read_chunk(cb_io *io, int node, const int64_t *idx, bool reuse, void *dst,
                               cb_arena *scratch, const void **direct, cb_cache_entry **entry,
                               cb_io_count *count, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    size_t size = cb_intermediate_chunk_bytes(io, node, idx);
    cb_cache_found found = CB_CACHE_FULL;
    cubed_status st = CUBED_OK;
    *entry = NULL;
    count->bytes_read += size;
    if (!n->source && !array_of(io, node) && !io->nodes[node].array)
        return cb_intermediate_read(io, node, idx, 0, size, dst, direct, count, err);
    if (io->cache && reuse && io->plan->reused[node])
        found = cb_cache_pin(io->cache, chunk_key(io, node, idx), size,
                             cb_plan_chunk_reads(io->plan, node, idx), entry);
    if (*entry) dst = cb_cache_data(*entry);
    if (found != CB_CACHE_HIT) st = read_stored(io, node, idx, dst, scratch, count, err);
    if (found == CB_CACHE_FILL) cb_cache_filled(io->cache, *entry, st == CUBED_OK);
    if (st != CUBED_OK) *entry = NULL;
    *direct = dst;
    return st;
}

cubed_status cb_io_read(cb_io *io, int node, const int64_t *idx, bool reuse, void *dst,
                        cb_arena *scratch, const void **direct, cb_io_count *count,
                        cubed_error *err)
{
    cb_cache_entry *entry;
    CB_TRY(read_chunk(io, node, idx, reuse, dst, scratch, direct, &entry, count, err));
    if (!entry) return CUBED_OK;
    memcpy(dst, *direct, cb_chunk_bytes(io->plan, node));
    *direct = dst;
    cb_cache_unpin(io->cache, entry);
    return CUBED_OK;
}

cubed_status cb_io_pin(cb_io *io, int node, const int64_t *idx, bool reuse, void *dst,
                       cb_arena *scratch, const void **direct, cb_io_count *count, cubed_error *err)
{
    cb_cache_entry *entry;
    CB_TRY(read_chunk(io, node, idx, reuse, dst, scratch, direct, &entry, count, err));
    cubed_status st = entry ? cb_arena_defer(scratch, let_go, io, entry, err) : CUBED_OK;
    if (st != CUBED_OK) cb_cache_unpin(io->cache, entry);
    return st;
}

void cb_io_pass(cb_io *io, int node, const int64_t *idx)
{
    if (io->cache && io->plan->reused[node]) cb_cache_pass(io->cache, chunk_key(io, node, idx));
}

cubed_status cb_io_subread(cb_io *io, int node, const cb_box *box, void *dst, cb_arena *scratch,
                           const void **direct, cb_io_count *count, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    const cb_zarr_array *source = array_of(io, node);
    int64_t idx[CUBED_MAX_NDIM], lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
    size_t size = cubed_dtype_size(n->dtype);
    uint64_t stored = 0;
    *direct = dst;
    count->bytes_read += (size_t)cb_box_count(box) * size;
    if (n->source) {
        int64_t strides[CUBED_MAX_NDIM];
        for (int d = 0; d < box->ndim; d++) hi[d] = box->hi[d] - box->lo[d];
        cb_dense_strides(box->ndim, hi, size, strides);
        return read_source(n, box, strides, dst, scratch, count, err);
    }
    for (int d = 0; d < box->ndim; d++) {
        idx[d] = cb_axis_find(&n->grid.axis[d], box->lo[d]);
        int64_t first = cb_axis_lo(&n->grid.axis[d], idx[d]);
        lo[d] = box->lo[d] - first;
        hi[d] = box->hi[d] - first;
    }
    if (!source && !io->nodes[node].array)
        return cb_intermediate_subread(io, node, idx, lo, hi, dst, direct, count, err);
    CB_TRY(cb_zarr_subread(source ? source : io->nodes[node].array, idx, lo, hi, dst, scratch,
                           &stored, err));
    count->stored_read += stored;
    return CUBED_OK;
}

cubed_status cb_io_write(cb_io *io, int node, const int64_t *idx, const void *src,
                         cb_arena *scratch, cb_io_count *count, cubed_error *err)
{
    uint64_t stored = 0;
    count->bytes_written += cb_intermediate_chunk_bytes(io, node, idx);
    if (!io->nodes[node].array) return cb_intermediate_write(io, node, idx, src, count, err);
    const cb_node *n = &io->plan->ir.nodes[node];
    int64_t at[CUBED_MAX_NDIM];
    for (int d = 0; d < n->grid.ndim; d++) at[d] = idx[d] + (n->region ? n->first_chunk[d] : 0);
    CB_TRY(cb_zarr_write_chunk(io->nodes[node].array, at, src, scratch, &stored, err));
    count->stored_written += stored;
    return CUBED_OK;
}
