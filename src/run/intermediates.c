/* Intermediates: chunks in memory while its budget lasts, else in the work directory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/io_state.h"

cubed_status cb_intermediate_open(cb_io *io, cubed_error *err)
{
    if (io->spills) return CUBED_OK;
    if (!io->plan->work_dir)
        return cb_fail(err, CUBED_E_BUDGET,
                       "intermediates need more than the %" PRIu64 " bytes of memory that the plan "
                       "has for them, and there is no work directory to put them in: name one, or "
                       "allow more memory",
                       io->plan->intermediate_budget);
    if (!io->work)
        CB_TRY(
            cb_place_open_store(&io->plan->ctx->alloc, io->plan->work_dir, false, &io->work, err));
    /* By its record a folder of intermediates is known as such when the run has been killed. */
    if (io->mode != CB_IO_WORKER) {
        CB_TRY(cb_claim_look(io->work, io->prefix, io->zone, &io->folder, err));
        CB_TRY(cb_claim_check_free(&io->folder, &io->self, err));
        if (io->mode != CB_IO_FINISH) CB_TRY(cb_claim_take(&io->folder, &io->self, "", err));
    }
    io->spills = true;
    return CUBED_OK;
}

cubed_status cb_io_spill(cb_io *io, cubed_error *err) { return cb_intermediate_open(io, err); }

cubed_status cb_io_note(cb_io *io, const char *name, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_intermediate_open(io, err));
    CB_TRY(cb_key_join(key, sizeof key, io->prefix, name, err));
    return cb_store_put(io->work, key, "", 0, err);
}

cubed_status cb_io_notes(cb_io *io, const char *folder, cubed_store_member_fn fn, void *ctx,
                         cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, io->prefix, folder, err));
    return cb_store_members(io->work, key, fn, ctx, err);
}

void cb_intermediate_close(cb_io *io)
{
    /* Nobody is left who could do anything about what fails. */
    cubed_status ignored = CUBED_OK;
    const bool over = cb_io_drives(io) || (io->mode == CB_IO_FINISH && io->committed);
    if (io->spills && over && (io->keep & CUBED_KEEP_INTERMEDIATES))
        ignored = cb_claim_say(&io->folder, CB_RUN_LEFT, NULL);
    else if (io->spills && over && cb_claim_check_own(&io->folder, NULL) == CUBED_OK)
        ignored = cb_store_clear(io->work, io->prefix, NULL);
    (void)ignored;
    cb_store_close(io->work);
}

void cb_intermediate_key(const cb_io *io, int node, int64_t chunk, char key[96])
{
    snprintf(key, 96, "%s/%d/%" PRId64, io->prefix, node, chunk);
}

/* Chunks that are kept for later make room for intermediates. */
static bool take_intermediates(cb_io *io, size_t size)
{
    while (!cb_budget_take(&io->spare, size)) {
        if (!io->cache || !cb_cache_evict(io->cache)) return false;
    }
    return cb_budget_take(&io->intermediates, size);
}

static void give_intermediates(cb_io *io, size_t size)
{
    cb_budget_give(&io->intermediates, size);
    cb_budget_give(&io->spare, size);
}

void cb_io_add_reader(cb_io *io, int node, int64_t chunk)
{
    uint32_t *readers = &io->nodes[node].readers[chunk];
    *readers += *readers < UINT32_MAX;
}

bool cb_io_has_readers(const cb_io *io, int node, int64_t chunk)
{
    return io->nodes[node].readers[chunk] > 0;
}

void cb_io_release(cb_io *io, int node, int64_t chunk)
{
    node_io *x = &io->nodes[node];
    uint32_t *readers = &x->readers[chunk];
    void *ptr = NULL;
    bool spilled = false;
    pthread_mutex_lock(&io->lock);
    if (*readers > 0 && *readers < UINT32_MAX && --*readers == 0) {
        ptr = x->kept[chunk];
        /* What worker processes wrote is not noted here. */
        spilled = ptr == cb_intermediate_spilled(io) || io->mode == CB_IO_DRIVER;
        x->kept[chunk] = NULL;
    }
    pthread_mutex_unlock(&io->lock);
    if (ptr && ptr != cb_intermediate_spilled(io)) {
        cb_pages_unmap(ptr, cb_pages_round(x->chunk_bytes));
        give_intermediates(io, cb_pages_round(x->chunk_bytes));
    }
    if (spilled) {
        char key[96];
        cb_intermediate_key(io, node, chunk, key);
        /* What cannot be deleted now goes with the run's whole folder. */
        cubed_status ignored = cb_store_del(io->work, key, NULL);
        (void)ignored;
    }
}

size_t cb_intermediate_chunk_bytes(const cb_io *io, int node, const int64_t *idx)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    size_t bytes = cubed_dtype_size(n->dtype);
    for (int d = 0; d < n->grid.ndim; d++) {
        const cb_axis *a = &n->grid.axis[d];
        bytes *= (size_t)(a->clipped ? cb_axis_stored(a, idx[d]) : a->chunk);
    }
    return bytes;
}

static cubed_status spill(cb_io *io, int node, int64_t chunk, const void *src, size_t bytes,
                          cb_io_count *count, cubed_error *err)
{
    char key[96];
    pthread_mutex_lock(&io->lock);
    cubed_status st = cb_intermediate_open(io, err);
    pthread_mutex_unlock(&io->lock);
    if (st != CUBED_OK) return st;
    cb_intermediate_key(io, node, chunk, key);
    CB_TRY(cb_store_put(io->work, key, src, bytes, err));
    count->stored_written += bytes;
    atomic_fetch_add(&io->spilled, bytes);
    return CUBED_OK;
}

cubed_status cb_intermediate_write(cb_io *io, int node, const int64_t *idx, const void *src,
                                   cb_io_count *count, cubed_error *err)
{
    node_io *x = &io->nodes[node];
    int64_t chunk = cb_grid_ravel(&io->plan->ir.nodes[node].grid, idx);
    size_t bytes = cb_intermediate_chunk_bytes(io, node, idx);
    if (io->mode != CB_IO_RUN) return spill(io, node, chunk, src, bytes, count, err);
    pthread_mutex_lock(&io->lock);
    /* A task that runs again finds what its first attempt left. */
    bool in_memory = x->kept[chunk] && x->kept[chunk] != cb_intermediate_spilled(io);
    bool wanted = x->readers[chunk] > 0 && !in_memory;
    pthread_mutex_unlock(&io->lock);
    if (!wanted) return CUBED_OK;
    size_t taken = cb_pages_round(x->chunk_bytes);
    void *ptr = NULL;
    if (take_intermediates(io, taken)) {
        ptr = cb_pages_map(taken);
        if (!ptr) give_intermediates(io, taken); /* the machine is short: spill instead */
    }
    if (ptr)
        memcpy(ptr, src, bytes);
    else
        CB_TRY(spill(io, node, chunk, src, bytes, count, err));
    pthread_mutex_lock(&io->lock);
    x->kept[chunk] = ptr ? ptr : cb_intermediate_spilled(io);
    pthread_mutex_unlock(&io->lock);
    return CUBED_OK;
}

/* `size` bytes of a chunk from `offset` on. */
cubed_status cb_intermediate_read(cb_io *io, int node, const int64_t *idx, size_t offset,
                                  size_t size, void *dst, const void **direct, cb_io_count *count,
                                  cubed_error *err)
{
    node_io *x = &io->nodes[node];
    int64_t chunk = cb_grid_ravel(&io->plan->ir.nodes[node].grid, idx);
    size_t got;
    char key[96];
    if (io->mode == CB_IO_RUN) {
        pthread_mutex_lock(&io->lock);
        const char *ptr = x->kept[chunk];
        pthread_mutex_unlock(&io->lock);
        CB_CHECK(ptr, err);
        if (ptr != cb_intermediate_spilled(io)) {
            *direct = ptr + offset;
            return CUBED_OK;
        }
    }
    cb_intermediate_key(io, node, chunk, key);
    CB_TRY(cb_store_get(io->work, key, offset, dst, size, &got, err));
    if (got != size)
        return cb_fail(err, CUBED_E_FORMAT, "%s has %zu bytes from byte %zu on, expected %zu", key,
                       got, offset, size);
    count->stored_read += got;
    *direct = dst;
    return CUBED_OK;
}

cubed_status cb_io_read_range(cb_io *io, int node, const int64_t *idx, size_t offset, size_t size,
                              void *dst, cb_io_count *count, cubed_error *err)
{
    const void *data;
    count->bytes_read += size;
    CB_TRY(cb_intermediate_read(io, node, idx, offset, size, dst, &data, count, err));
    if (data != dst) memcpy(dst, data, size);
    return CUBED_OK;
}

/* The elements from lo to hi of a chunk, run by run. *direct points to the chunk if they are one. */
cubed_status cb_intermediate_subread(cb_io *io, int node, const int64_t *idx, const int64_t *lo,
                                     const int64_t *hi, void *dst, const void **direct,
                                     cb_io_count *count, cubed_error *err)
{
    const cb_node *n = &io->plan->ir.nodes[node];
    size_t size = cubed_dtype_size(n->dtype), run = size;
    cb_box runs = {.ndim = n->grid.ndim};
    int64_t at[CUBED_MAX_NDIM];
    bool whole = true, more = true, one = true;
    char *to = dst;
    for (int d = n->grid.ndim - 1; d >= 0; d--) {
        int64_t extent = hi[d] - lo[d];
        at[d] = runs.lo[d] = lo[d];
        runs.hi[d] = whole ? lo[d] + 1 : hi[d];
        one = one && (whole || extent == 1);
        if (whole) run *= (size_t)extent;
        whole = whole && extent == n->grid.axis[d].chunk;
    }
    while (more) {
        size_t offset = 0;
        for (int d = 0; d < runs.ndim; d++)
            offset = offset * (size_t)n->grid.axis[d].chunk + (size_t)at[d];
        CB_TRY(cb_intermediate_read(io, node, idx, offset * size, run, to, direct, count, err));
        if (!one && *direct != to) memcpy(to, *direct, run);
        to += run;
        more = cb_odometer_next(&runs, at);
    }
    if (!one) *direct = dst;
    return CUBED_OK;
}
