/* Intermediates: chunks in memory while its budget lasts, else in the work folder. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "chunks/state.h"

cubed_status cb_intermediates_init(cb_chunks *c, int node, cubed_error *err)
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    const size_t n = (size_t)cb_grid_count(&c->plan->ir.nodes[node].grid);
    chunks_of_node *x = &c->nodes[node];
    x->chunk_bytes = cb_chunk_bytes(c->plan, node);
    if (!c->options.counts) return CUBED_OK;
    x->kept = cb_alloc_zero(a, n * sizeof *x->kept);
    x->readers = cb_alloc_zero(a, n * sizeof *x->readers);
    if (x->kept && x->readers) return CUBED_OK;
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a table of %zu chunks", n);
}

void cb_intermediates_free(cb_chunks *c, int node)
{
    const cubed_allocator *a = &c->plan->ctx->alloc;
    chunks_of_node *x = &c->nodes[node];
    if (!x->kept && !x->readers) return;
    const size_t n = (size_t)cb_grid_count(&c->plan->ir.nodes[node].grid);
    for (size_t k = 0; x->kept && k < n; k++) {
        if (x->kept[k] != cb_chunks_in_work(c))
            cb_pages_unmap(x->kept[k], cb_pages_round(x->chunk_bytes));
    }
    cb_free(a, x->kept, n * sizeof *x->kept);
    cb_free(a, x->readers, n * sizeof *x->readers);
}

enum { KEY_CAP = 512 };

static void chunk_key(const cb_chunks *c, int node, int64_t chunk, char key[KEY_CAP])
{
    snprintf(key, KEY_CAP, "%s/%d/%" PRId64, c->folder, node, chunk);
}

/* Chunks that are kept for later make room for intermediates. */
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

/* --- Readers ------------------------------------------------------------------------------------------ */

void cb_chunks_add_reader(cb_chunks *c, int node, int64_t chunk)
{
    uint32_t *readers = &c->nodes[node].readers[chunk];
    *readers += *readers < UINT32_MAX;
}

bool cb_chunks_has_readers(const cb_chunks *c, int node, int64_t chunk)
{
    return c->nodes[node].readers[chunk] > 0;
}

void cb_chunks_release(cb_chunks *c, int node, int64_t chunk)
{
    chunks_of_node *x = &c->nodes[node];
    uint32_t *readers = &x->readers[chunk];
    void *ptr = NULL;
    bool in_work = false;
    pthread_mutex_lock(&c->lock);
    if (*readers > 0 && *readers < UINT32_MAX && --*readers == 0) {
        ptr = x->kept[chunk];
        /* What worker processes wrote is not noted here. */
        in_work = c->work && (ptr == cb_chunks_in_work(c) || !c->options.own);
        x->kept[chunk] = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    if (ptr && ptr != cb_chunks_in_work(c)) {
        cb_pages_unmap(ptr, cb_pages_round(x->chunk_bytes));
        give_memory(c, cb_pages_round(x->chunk_bytes));
    }
    if (in_work) {
        char key[KEY_CAP];
        chunk_key(c, node, chunk, key);
        /* What cannot be deleted now goes with the run's whole folder. */
        cubed_status ignored = cb_store_del(c->work, key, NULL);
        (void)ignored;
    }
}

cubed_status cb_intermediate_find(cb_chunks *c, int node, int64_t chunk, bool *found,
                                  cubed_error *err)
{
    int64_t idx[CUBED_MAX_NDIM];
    char key[KEY_CAP];
    cubed_object_info info;
    *found = false;
    if (!c->work) return CUBED_OK;
    cb_grid_unravel(&c->plan->ir.nodes[node].grid, chunk, idx);
    chunk_key(c, node, chunk, key);
    CB_TRY(cb_store_find(c->work, key, &info, err));
    *found =
        !cb_version_is_none(&info.version) && info.size == cb_chunk_bytes_at(c->plan, node, idx);
    c->nodes[node].kept[chunk] = *found ? cb_chunks_in_work(c) : NULL;
    return CUBED_OK;
}

/* --- Writing ------------------------------------------------------------------------------------------ */

static cubed_status spill(cb_chunks *c, int node, int64_t chunk, const void *src, size_t bytes,
                          cb_task_count *count, cubed_error *err)
{
    char key[KEY_CAP];
    CB_TRY(cb_chunks_open_work(c, err));
    chunk_key(c, node, chunk, key);
    CB_TRY(cb_store_put(c->work, key, src, bytes, err));
    count->stored_written += bytes;
    atomic_fetch_add(&c->spilled, bytes);
    return CUBED_OK;
}

cubed_status cb_intermediate_put(cb_chunks *c, int node, const int64_t *idx, const void *src,
                                 cb_task_count *count, cubed_error *err)
{
    chunks_of_node *x = &c->nodes[node];
    int64_t chunk = cb_grid_ravel(&c->plan->ir.nodes[node].grid, idx);
    size_t bytes = cb_chunk_bytes_at(c->plan, node, idx);
    if (!c->options.own) return spill(c, node, chunk, src, bytes, count, err);
    pthread_mutex_lock(&c->lock);
    /* A task that runs again finds what its first attempt left. */
    bool in_memory = x->kept[chunk] && x->kept[chunk] != cb_chunks_in_work(c);
    bool wanted = x->readers[chunk] > 0 && !in_memory;
    pthread_mutex_unlock(&c->lock);
    if (!wanted) return CUBED_OK;
    size_t taken = cb_pages_round(x->chunk_bytes);
    void *ptr = NULL;
    if (take_memory(c, taken)) {
        ptr = cb_pages_map(taken);
        if (!ptr) give_memory(c, taken); /* the machine is short: spill instead */
    }
    if (ptr)
        memcpy(ptr, src, bytes);
    else
        CB_TRY(spill(c, node, chunk, src, bytes, count, err));
    pthread_mutex_lock(&c->lock);
    x->kept[chunk] = ptr ? ptr : cb_chunks_in_work(c);
    pthread_mutex_unlock(&c->lock);
    return CUBED_OK;
}

/* --- Reading ------------------------------------------------------------------------------------------ */

static cubed_status get(cb_chunks *c, const char *key, size_t offset, size_t size, void *dst,
                        cb_task_count *count, cubed_error *err)
{
    size_t got;
    CB_TRY(cb_store_get(c->work, key, offset, dst, size, &got, err));
    if (got != size)
        return cb_fail(err, CUBED_E_FORMAT, "%s has %zu bytes from byte %zu on, expected %zu", key,
                       got, offset, size);
    count->stored_read += got;
    return CUBED_OK;
}

/* The elements from lo to hi of a chunk with these extents, run by run. */
static cubed_status get_part(cb_chunks *c, const char *key, const cb_grid *g,
                             const int64_t *extents, const int64_t *lo, const int64_t *hi,
                             size_t item, char *to, cb_task_count *count, cubed_error *err)
{
    cb_box runs = {.ndim = g->ndim};
    int64_t at[CUBED_MAX_NDIM];
    size_t run = item;
    bool whole = true;
    for (int d = g->ndim - 1; d >= 0; d--) {
        at[d] = runs.lo[d] = lo[d];
        runs.hi[d] = whole ? lo[d] + 1 : hi[d];
        if (whole) run *= (size_t)(hi[d] - lo[d]);
        whole = whole && hi[d] - lo[d] == extents[d];
    }
    do {
        size_t offset = 0;
        for (int d = 0; d < g->ndim; d++) offset = offset * (size_t)extents[d] + (size_t)at[d];
        CB_TRY(get(c, key, offset * item, run, to, count, err));
        to += run;
    } while (cb_odometer_next(&runs, at));
    return CUBED_OK;
}

cubed_status cb_intermediate_want(cb_chunks *c, const cb_want *want, cb_pinned *out,
                                  cb_task_count *count, cubed_error *err)
{
    const cb_grid *g = &c->plan->ir.nodes[want->node].grid;
    const size_t item = cubed_dtype_size(c->plan->ir.nodes[want->node].dtype);
    const int64_t chunk = cb_grid_ravel(g, want->idx);
    int64_t extents[CUBED_MAX_NDIM], lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
    char key[KEY_CAP];
    cb_grid_stored(g, want->idx, extents);
    for (int d = 0; want->part && d < g->ndim; d++) {
        const int64_t first = cb_axis_lo(&g->axis[d], want->idx[d]);
        lo[d] = want->part->lo[d] - first;
        hi[d] = want->part->hi[d] - first;
    }
    if (c->options.own) {
        pthread_mutex_lock(&c->lock);
        const char *ptr = c->nodes[want->node].kept[chunk];
        pthread_mutex_unlock(&c->lock);
        CB_CHECK(ptr, err);
        if (ptr != cb_chunks_in_work(c)) {
            cb_dense_strides(g->ndim, extents, item, out->stride);
            for (int d = 0; want->part && d < g->ndim; d++) ptr += lo[d] * out->stride[d];
            out->data = ptr;
            return CUBED_OK;
        }
    }
    CB_TRY(cb_chunks_open_work(c, err));
    chunk_key(c, want->node, chunk, key);
    if (want->part) return get_part(c, key, g, extents, lo, hi, item, want->buffer, count, err);
    return get(c, key, 0, cb_chunk_bytes_at(c->plan, want->node, want->idx), want->buffer, count,
               err);
}
