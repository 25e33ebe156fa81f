/* Stores chunks of intermediates in memory up to a budget, and further chunks in the work folder. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "chunks/prefixes.h"
#include "chunks/state.h"

/* Returns the total size in bytes of an intermediate if its chunks are stored contiguously, otherwise 0. Chunks are stored
 * contiguously if a copy concatenates them to larger chunks, and if the chunks in order are the whole array in C order. Such
 * chunks are pieces along one axis, and all axes before this axis have length 1. */
static size_t bytes_together(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    int d = 0;
    if (n->why != CB_WHY_SPREAD || cb_grid_is_irregular(n->grid)) return 0;
    while (d < n->grid->ndim && n->grid->axis[d].extent == 1) d++;
    for (int k = d; k < n->grid->ndim; k++) {
        const cb_axis *a = &n->grid->axis[k];
        if (a->first != a->chunk || (k > d && a->chunk != a->extent)) return 0;
    }
    return cb_sat_mul((size_t)cb_grid_count(n->grid), cb_chunk_bytes(p, node));
}

/* Takes no lock: no other thread uses the broker yet. */
cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err) CB_UNCHECKED_LOCKS
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    const size_t n = (size_t)cb_grid_count(c->plan->ir.nodes[node].grid);
    chunks_kept *x = &c->kept[node];
    c->nodes[node].chunk_bytes = cb_chunk_bytes(c->plan, node);
    if (!c->options.counts) return CUBED_OK;
    x->kept = cb_alloc_zero(a, n * sizeof *x->kept);
    x->readers = cb_alloc_zero(a, n * sizeof *x->readers);
    const size_t together = c->options.own ? bytes_together(c->plan, node) : 0;
    if (together > 0) x->together = cb_alloc_zero(a, sizeof *x->together);
    /* `together` is optional: without it each chunk has its own memory. */
    if (x->together)
        *x->together =
            (chunks_together){.bytes = cb_pages_round(together), .left = (int64_t)n, .target = -1};
    if (x->kept && x->readers) return CUBED_OK;
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a table of %zu chunks", n);
}

/* Takes no lock: no other thread uses the broker any more. */
void cb_intermediates_free(cb_chunks *c, int node) CB_UNCHECKED_LOCKS
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    chunks_kept *x = &c->kept[node];
    if (!x->kept && !x->readers) return;
    const size_t n = (size_t)cb_grid_count(c->plan->ir.nodes[node].grid);
    const bool each = !x->together || x->together->refused;
    if (x->together) cb_pages_unmap(x->together->data, x->together->bytes);
    if (x->together) cb_pieces_free(c, node);
    for (size_t k = 0; x->kept && each && k < n; k++) {
        if (x->kept[k] != cb_chunks_in_work(c))
            cb_pages_unmap(x->kept[k], cb_pages_round(c->nodes[node].chunk_bytes));
    }
    if (x->together) cb_free(a, x->together, sizeof *x->together);
    cb_free(a, x->kept, n * sizeof *x->kept);
    cb_free(a, x->readers, n * sizeof *x->readers);
}

enum { KEY_CAP = CB_INTERMEDIATE_KEY_CAP };

/* Writes the key FOLDER/NODE/CHUNK or FOLDER/PREFIX/NODE/CHUNK. PREFIX, NODE and CHUNK are digits, so that a takeover moves
 * these objects as chunks (cb_zarr_may_be_chunk). */
static void chunk_key(const cb_chunks *c, const cb_work *work, int node, int64_t chunk,
                      char key[KEY_CAP])
{
    const char *slash = *work->folder ? "/" : "";
    const unsigned n = work->store->vt->flags & CUBED_STORE_PREFIXES
                           ? cb_prefixes(cb_grid_count(c->plan->ir.nodes[node].grid))
                           : 1;
    if (n > 1)
        snprintf(key, KEY_CAP, "%s%s%03u/%d/%" PRId64, work->folder, slash, cb_prefix_of(chunk, n),
                 node, chunk);
    else
        snprintf(key, KEY_CAP, "%s%s%d/%" PRId64, work->folder, slash, node, chunk);
}

bool cb_intermediate_place(cb_chunks *c, int node, int64_t chunk, cubed_store **store,
                           char key[KEY_CAP])
{
    cb_mutex_lock(&c->lock);
    const cb_work work = c->work;
    const bool there = work.store && (!c->options.own ||
                                      cb_chunks_kept(c, node)->kept[chunk] == cb_chunks_in_work(c));
    cb_mutex_unlock(&c->lock);
    if (!there) return false;
    *store = work.store;
    chunk_key(c, &work, node, chunk, key);
    return true;
}

/* Allocates memory for intermediates from the budget, evicting cached chunks if necessary. */
static bool take_memory(cb_chunks *c, size_t size)
{
    while (!cb_budget_take(&c->spare, size)) {
        if (!c->cache || !cb_cache_evict(c->cache)) return false;
    }
    return cb_budget_take(&c->intermediates, size);
}

static void give_memory(cb_chunks *c, size_t size)
{
    cb_budget_give(&c->intermediates, size);
    cb_budget_give(&c->spare, size);
}

/* Returns the address of a chunk of a node with contiguous chunks. The first call allocates memory for all chunks. Returns
 * NULL if that fails: each chunk then has its own memory. */
static void *place_together(cb_chunks *c, int node, int64_t chunk)
{
    void *ptr = NULL;
    cb_mutex_lock(&c->lock);
    chunks_together *all = cb_chunks_kept(c, node)->together;
    if (all && !all->data && !all->refused) {
        const bool taken = take_memory(c, all->bytes);
        if (taken) all->data = cb_pages_map(all->bytes);
        if (taken && !all->data) give_memory(c, all->bytes);
        all->refused = !all->data;
    }
    if (all && all->data) ptr = all->data + (size_t)chunk * c->nodes[node].chunk_bytes;
    cb_mutex_unlock(&c->lock);
    return ptr;
}

/* Frees a chunk in memory. Contiguous chunks are freed together, after the last one. */
static void free_chunk(cb_chunks *c, int node, void *ptr)
{
    size_t bytes = cb_pages_round(c->nodes[node].chunk_bytes);
    cb_mutex_lock(&c->lock);
    chunks_together *all = cb_chunks_kept(c, node)->together;
    if (all && !all->refused) {
        const bool last = --all->left == 0;
        ptr = last ? all->data : NULL;
        if (last) all->data = NULL;
        bytes = all->bytes;
    }
    cb_mutex_unlock(&c->lock);
    if (!ptr) return;
    cb_pages_unmap(ptr, bytes);
    give_memory(c, bytes);
}

const char *cb_chunks_together(cb_chunks *c, int node, const cb_box *box, cb_task_count *count)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    const char *data = NULL;
    size_t offset = 0;
    cb_box cover;
    int64_t idx[CUBED_MAX_NDIM];
    bool there = cb_node_is_intermediate(n);
    for (int d = 0; there && d < n->grid->ndim; d++) {
        const cb_axis *a = &n->grid->axis[d];
        there = cb_axis_count(a) > 1 || (box->lo[d] == 0 && box->hi[d] == a->extent);
        offset = offset * (size_t)a->extent + (size_t)box->lo[d];
    }
    if (!there) return NULL;
    cb_grid_cover(n->grid, box, &cover);
    memcpy(idx, cover.lo, sizeof idx);
    cb_mutex_lock(&c->lock);
    const chunks_kept *x = cb_chunks_kept(c, node);
    if (x->together) data = x->together->data;
    there = data;
    while (there) {
        const void *chunk = x->kept[cb_grid_ravel(n->grid, idx)];
        /* Use the memory only if all chunks are in it: in a resumed run, some chunks may be in the work folder. */
        there = chunk && chunk != cb_chunks_in_work(c);
        if (!cb_odometer_next(&cover, idx)) break;
    }
    cb_mutex_unlock(&c->lock);
    if (!there) return NULL;
    count->bytes_read += (size_t)cb_box_count(box) * cubed_dtype_size(n->dtype);
    count->present++;
    return data + offset * cubed_dtype_size(n->dtype);
}

/* --- Readers ------------------------------------------------------------------------------------------ */

void cb_chunks_add_reader(cb_chunks *c, int node, int64_t chunk)
{
    cb_mutex_lock(&c->lock);
    uint32_t *readers = &cb_chunks_kept(c, node)->readers[chunk];
    *readers += *readers < UINT32_MAX;
    cb_mutex_unlock(&c->lock);
}

bool cb_chunks_has_readers(cb_chunks *c, int node, int64_t chunk)
{
    cb_mutex_lock(&c->lock);
    const bool has = cb_chunks_kept(c, node)->readers[chunk] > 0;
    cb_mutex_unlock(&c->lock);
    return has;
}

/* Deletes objects of the run's folder. Ignores errors, because the run deletes the whole folder at its end. */
static void delete_objects(const cb_chunks *c, const cb_work *work, const chunks_released *x)
{
    const char *keys[CB_STORE_BATCH];
    char key[KEY_CAP];
    cb_buf text;
    cb_buf_init(&text, &c->plan->ctx->alloc);
    for (size_t i = 0; i < x->n; i++) {
        chunk_key(c, work, x->of[i].node, x->of[i].chunk, key);
        cb_buf_put(&text, key, strlen(key) + 1);
    }
    const char *at = text.data;
    for (size_t i = 0; !text.failed && i < x->n; i++, at += strlen(at) + 1) keys[i] = at;
    if (!text.failed && x->n > 0) {
        cubed_status ignored = cb_store_del_all(work->store, keys, x->n, NULL);
        (void)ignored;
    }
    cb_buf_free(&text);
}

/* Adds a chunk to the group of chunks that are to be deleted together. Returns the group if it is full; the caller then frees it.
 * Otherwise returns NULL. */
static chunks_released *add_released(cb_chunks *c, int node, int64_t chunk)
{
    cb_mutex_lock(&c->lock);
    if (!c->released) c->released = cb_alloc_zero(&c->plan->ctx->alloc, sizeof *c->released);
    chunks_released *x = c->released;
    /* If there is no memory for the group, the chunk stays in the work folder, which the run deletes at its end. */
    if (x) {
        x->of[x->n].node = node;
        x->of[x->n++].chunk = chunk;
    }
    const bool complete = x && x->n == CB_STORE_BATCH;
    if (complete) c->released = NULL;
    cb_mutex_unlock(&c->lock);
    return complete ? x : NULL;
}

static void delete_chunk(cb_chunks *c, const cb_work *work, int node, int64_t chunk)
{
    if (work->store->vt->flags & CUBED_STORE_AT_ONCE) {
        char key[KEY_CAP];
        chunk_key(c, work, node, chunk, key);
        cubed_status ignored = cb_store_del(work->store, key, NULL);
        (void)ignored;
        return;
    }
    chunks_released *x = add_released(c, node, chunk);
    if (!x) return;
    delete_objects(c, work, x);
    cb_free(&c->plan->ctx->alloc, x, sizeof *x);
}

void cb_chunks_release(cb_chunks *c, int node, int64_t chunk)
{
    void *ptr = NULL;
    bool in_work = false;
    cb_mutex_lock(&c->lock);
    const cb_work work = c->work;
    const chunks_kept *x = cb_chunks_kept(c, node);
    uint32_t *readers = &x->readers[chunk];
    if (*readers > 0 && *readers < UINT32_MAX && --*readers == 0) {
        ptr = x->kept[chunk];
        /* If worker processes write chunks, this process does not know which chunks exist. So a chunk may be in the work
         * folder. */
        in_work = work.store && (ptr == cb_chunks_in_work(c) || !c->options.own);
        x->kept[chunk] = NULL;
    }
    cb_mutex_unlock(&c->lock);
    if (ptr && ptr != cb_chunks_in_work(c)) free_chunk(c, node, ptr);
    if (in_work) delete_chunk(c, &work, node, chunk);
}

cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk, bool *found,
                                  cubed_error *err)
{
    int64_t idx[CUBED_MAX_NDIM];
    char key[KEY_CAP];
    cubed_object_info info;
    *found = false;
    cb_mutex_lock(&c->lock);
    const cb_work work = c->work;
    cb_mutex_unlock(&c->lock);
    if (!work.store) return CUBED_OK;
    cb_grid_unravel(c->plan->ir.nodes[node].grid, chunk, idx);
    chunk_key(c, &work, node, chunk, key);
    CB_TRY(cb_store_find(work.store, key, &info, err));
    *found =
        !cb_version_is_none(&info.version) && info.size == cb_chunk_bytes_at(c->plan, node, idx);
    cb_mutex_lock(&c->lock);
    cb_chunks_kept(c, node)->kept[chunk] = *found ? cb_chunks_in_work(c) : NULL;
    cb_mutex_unlock(&c->lock);
    return CUBED_OK;
}

/* --- Writing ------------------------------------------------------------------------------------------ */

static cubed_status spill(cb_chunks *c, int node, int64_t chunk, const void *src, size_t bytes,
                          const cubed_cancel *cancel, cb_task_count *count, cubed_error *err)
{
    char key[KEY_CAP];
    cubed_store_request r = {.op = CUBED_STORE_PUT, .key = key, .src = src, .size = bytes};
    cb_work work;
    CB_TRY(cb_chunks_get_work(c, &work, err));
    chunk_key(c, &work, node, chunk, key);
    CB_TRY(cb_store_do_until(work.store, &r, cancel, err));
    count->stored_written += bytes;
    atomic_fetch_add(&c->spilled, bytes);
    return CUBED_OK;
}

/* Returns true if the chunk has future reads and is not in memory. It may already be in memory if its task is retried. If the
 * chunks are written to a target as pieces of its chunk, sets *target to this target, otherwise to -1. */
static bool is_wanted(cb_chunks *c, int node, int64_t chunk, int *target)
{
    cb_mutex_lock(&c->lock);
    const chunks_kept *x = cb_chunks_kept(c, node);
    *target = x->together ? x->together->target : -1;
    const bool in_memory = x->kept[chunk] && x->kept[chunk] != cb_chunks_in_work(c);
    const bool wanted = x->readers[chunk] > 0 && !in_memory;
    cb_mutex_unlock(&c->lock);
    return wanted;
}

void *cb_chunks_place(cb_chunks *c, int node, const int64_t *idx)
{
    const cb_node *n = &c->plan->ir.nodes[node];
    const int64_t chunk = cb_grid_ravel(n->grid, idx);
    int target;
    if (!cb_node_is_intermediate(n) || !c->options.own || !is_wanted(c, node, chunk, &target))
        return NULL;
    return target < 0 ? place_together(c, node, chunk) : NULL;
}

cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx, const void *src,
                                 const cubed_cancel *cancel, cb_task_count *count, cubed_error *err)
{
    int target;
    int64_t chunk = cb_grid_ravel(c->plan->ir.nodes[node].grid, idx);
    size_t bytes = cb_chunk_bytes_at(c->plan, node, idx);
    if (!c->options.own) return spill(c, node, chunk, src, bytes, cancel, count, err);
    if (!is_wanted(c, node, chunk, &target)) return CUBED_OK;
    if (target >= 0) return cb_pieces_put(c, node, chunk, src, err);
    size_t taken = cb_pages_round(c->nodes[node].chunk_bytes);
    void *ptr = place_together(c, node, chunk);
    if (!ptr && take_memory(c, taken)) {
        ptr = cb_pages_map(taken);
        if (!ptr) give_memory(c, taken);
        if (!ptr && !c->plan->work_dir)
            return cb_fail(
                err, CUBED_E_NOMEM,
                "the machine does not have %zu bytes for a chunk of an intermediate, and the "
                "run has no work directory to store it in",
                taken);
    }
    if (ptr && ptr != src) memcpy(ptr, src, bytes);
    if (!ptr) CB_TRY(spill(c, node, chunk, src, bytes, cancel, count, err));
    cb_mutex_lock(&c->lock);
    cb_chunks_kept(c, node)->kept[chunk] = ptr ? ptr : cb_chunks_in_work(c);
    cb_mutex_unlock(&c->lock);
    return CUBED_OK;
}

/* --- Reading ------------------------------------------------------------------------------------------ */

cubed_status cb_intermediate_object(cb_chunks *c, int node, const int64_t *idx, cubed_store **store,
                                    char key[KEY_CAP], cubed_error *err)
{
    cb_work work;
    CB_TRY(cb_chunks_get_work(c, &work, err));
    *store = work.store;
    chunk_key(c, &work, node, cb_grid_ravel(c->plan->ir.nodes[node].grid, idx), key);
    return CUBED_OK;
}

cubed_status cb_intermediate_in_memory(cb_chunks *c, const cb_want *want, cb_pinned *out,
                                       bool *there, cb_task_count *count, cubed_error *err)
{
    const cb_node *n = &c->plan->ir.nodes[want->node];
    int64_t extents[CUBED_MAX_NDIM];
    *there = false;
    if (!c->options.own) return CUBED_OK;
    cb_mutex_lock(&c->lock);
    const char *ptr = cb_chunks_kept(c, want->node)->kept[cb_grid_ravel(n->grid, want->idx)];
    cb_mutex_unlock(&c->lock);
    CB_CHECK(ptr, err);
    if (ptr == cb_chunks_in_work(c)) return CUBED_OK;
    cb_grid_stored(n->grid, want->idx, extents);
    cb_dense_strides(n->grid->ndim, extents, cubed_dtype_size(n->dtype), out->stride);
    for (int d = 0; want->subread && d < n->grid->ndim; d++) {
        const int64_t first = cb_axis_lo(&n->grid->axis[d], want->idx[d]);
        ptr += (want->subread->lo[d] - first) * out->stride[d];
    }
    out->data = ptr;
    count->present++;
    *there = true;
    return CUBED_OK;
}
