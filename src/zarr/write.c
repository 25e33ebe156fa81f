/* Writes whole chunks, and parts of chunks that other writers share. */
#include <string.h>

#include "base/clock.h"
#include "zarr/zarr_pkg.h"

/* A merge fails only if another merge succeeds, so all writers of a chunk finish. The limit is for a store whose conditions
 * always fail. */
#define MERGE_TRIES    100
#define FIRST_PAUSE_NS ((int64_t)500000)
#define MOST_PAUSE_NS  ((int64_t)250000000)

cb_need cb_zarr_write_need(const cb_zarr_meta *m)
{
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_chain_encode_need(&m->codecs));
}

cb_need cb_zarr_merge_need(const cb_zarr_meta *m)
{
    const cb_need chunk = {cb_arena_round(m->codecs.chunk_bytes), 0};
    return cb_need_both(chunk, cb_need_either(cb_zarr_read_need(m), cb_zarr_write_need(m)));
}

bool cb_zarr_is_fill(const cb_zarr_meta *m, const char *p, size_t n)
{
    const size_t item = cubed_dtype_size(m->dtype);
    size_t kept = m->wide_fill ? item : cb_fill_size(m->dtype);
    if (n == 0) return true;
    if (memcmp(p, m->wide_fill ? m->wide_fill : m->fill.bytes, kept) != 0) return false;
    while (kept < item && p[kept] == 0) kept++;
    /* The elements are all equal if each equals the next. */
    return kept == item && memcmp(p, p + item, (n - 1) * item) == 0;
}

/* Returns the index of an element of a chunk in C order. */
static size_t number_of(int ndim, const int64_t *shape, const int64_t *at)
{
    size_t n = 0;
    for (int d = 0; d < ndim; d++) n = n * (size_t)shape[d] + (size_t)at[d];
    return n;
}

/* Returns true if the bits of all elements within the array equal the fill value. */
static bool is_empty(const cb_zarr_meta *m, const char *src, const int64_t *shape,
                     const int64_t *used)
{
    size_t item = cubed_dtype_size(m->dtype);
    int64_t idx[CUBED_MAX_NDIM] = {0}, extent[CUBED_MAX_NDIM];
    int last = m->ndim - 1;
    for (int d = 0; d <= last; d++) extent[d] = cb_min_i64(used[d], shape[d]);
    do {
        const size_t at = number_of(m->ndim, shape, idx);
        if (!cb_zarr_is_fill(m, src + at * item, last < 0 ? 1 : (size_t)extent[last])) return false;
    } while (cb_next_index(last, extent, idx));
    return true;
}

/* Encodes the chunk to arena memory; without codecs returns it in place. */
static cubed_status encode(const cb_codec_chain *c, const void *src, const int64_t *used,
                           cb_arena *scratch, const void **bytes, size_t *size, cubed_error *err)
{
    void *encoded;
    *bytes = src;
    *size = c->chunk_bytes;
    if (cb_codec_chain_is_raw(c)) return CUBED_OK;
    CB_TRY(cb_arena_alloc(scratch, cb_codec_chain_bound(c), "encoded chunk", &encoded, err));
    *bytes = encoded;
    return cb_codec_chain_encode(c, src, used, encoded, size, scratch, err);
}

/* Called for an empty chunk, which need not be stored. Without a fence, deletes the chunk of an earlier attempt. With a fence,
 * sets *stored if that chunk exists, or if fence->all is set; the caller then stores the empty chunk. That chunk is not deleted,
 * because a deletion without a condition could remove another run's object. */
static cubed_status leave_out(const cb_zarr_array *z, const char *key, bool *stored,
                              cubed_error *err)
{
    *stored = z->fence && z->fence->all;
    if (*stored) return CUBED_OK;
    return z->fence ? cb_store_exists(z->store, key, stored, err)
                    : cb_store_del(z->store, key, err);
}

cubed_status cb_zarr_write_chunk(const cb_zarr_array *z, const int64_t *idx, const void *src,
                                 bool missing, cb_arena *scratch, uint64_t *stored,
                                 cubed_error *err)
{
    char key[4096];
    cb_codec_chain own;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    cb_zarr_chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *c = cb_zarr_codecs_of(&z->meta, shape, &own);
    const size_t mark = cb_arena_mark(scratch);
    const void *bytes;
    size_t size;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    /* If the fill value is null, a missing chunk has no defined contents: each reader chooses a value. This also holds for chunks
     * that were computed from such missing chunks. */
    if (z->meta.skip_empty && (!z->meta.fill_is_null || missing) &&
        is_empty(&z->meta, src, shape, used)) {
        bool needed;
        CB_GO(leave_out(z, key, &needed, err));
        if (!needed) {
            if (stored) *stored = 0;
            return CUBED_OK;
        }
    }
    CB_GO(encode(c, src, used, scratch, &bytes, &size, err));
    const cb_zarr_fence *fence = z->fence;
    if (fence && fence->in_parts) {
        CB_GO(fence->check(fence->ctx, err));
        fence = NULL;
    }
    CB_GO(cb_zarr_put(z->store, fence, key, bytes, size, scratch->cancel, err));
    if (stored) *stored = size;
out:
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "%s: chunk %s", z->store->url, key);
}

/* --- Chunks that several writers share ------------------------------------------------------------------ */

/* A chunk, and this writer's part of it, in elements relative to the chunk's first element. */
typedef struct shared_chunk {
    const cb_zarr_array *z;
    const char *key;
    const cb_codec_chain *codecs;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    const cb_zarr_part *part;
    const char *src;
    char *all; /* the stored chunk, into which this writer's part is merged */
    cb_arena *scratch;
    cb_zarr_merged *done;
} shared_chunk;

/* Copies this writer's part into the chunk. */
static void overlay(const shared_chunk *x)
{
    const cb_zarr_meta *m = &x->z->meta;
    const cb_zarr_part *p = x->part;
    const size_t item = cubed_dtype_size(m->dtype);
    const int last = m->ndim - 1;
    const size_t run = last < 0 ? item : (size_t)(p->hi[last] - p->lo[last]) * item;
    int64_t at[CUBED_MAX_NDIM];
    memcpy(at, p->lo, sizeof at);
    for (;;) {
        const size_t offset = number_of(m->ndim, x->shape, at) * item;
        memcpy(x->all + offset, x->src + offset, run);
        int d = last - 1;
        for (; d >= 0 && ++at[d] == p->hi[d]; d--) at[d] = p->lo[d];
        if (d < 0) return;
    }
}

/* Returns true if elements of the chunk differ from the fill value, but are beyond the shape of the array that this writer has
 * read. Then another writer has extended the array. */
static bool holds_beyond(const shared_chunk *x)
{
    const cb_zarr_meta *m = &x->z->meta;
    const size_t item = cubed_dtype_size(m->dtype);
    const int last = m->ndim - 1;
    int64_t at[CUBED_MAX_NDIM] = {0};
    if (last < 0) return false;
    do {
        bool beyond = false;
        for (int d = 0; d < last; d++) beyond = beyond || at[d] >= x->used[d];
        at[last] = beyond ? 0 : cb_min_i64(x->used[last], x->shape[last]);
        const char *from = x->all + number_of(m->ndim, x->shape, at) * item;
        if (!cb_zarr_is_fill(m, from, (size_t)(x->shape[last] - at[last]))) return true;
    } while (cb_next_index(last, x->shape, at));
    return false;
}

static bool part_is(const cb_zarr_meta *m, const cb_zarr_part *p, const int64_t *shape,
                    const int64_t *used)
{
    for (int d = 0; d < m->ndim; d++) {
        if (p->lo[d] > 0 || p->hi[d] < (used ? cb_min_i64(shape[d], used[d]) : shape[d]))
            return false;
    }
    return true;
}

/* Reads the stored chunk and its version. If the chunk is missing, the version is "". */
static cubed_status read_old(const shared_chunk *x, cubed_object_version *version, cubed_error *err)
{
    cubed_object_info info = {.size = 0};
    const size_t mark = cb_arena_mark(x->scratch);
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st =
        cb_zarr_read_object(x->z, x->codecs, x->key, NULL, x->all, x->scratch, &info, &why);
    cb_arena_release(x->scratch, mark);
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&x->z->meta, x->all, x->codecs->chunk_bytes);
        *version = (cubed_object_version){""};
        return CUBED_OK;
    }
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    x->done->read += info.size;
    *version = info.version;
    if (!cb_version_is_none(version)) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_UNSUPPORTED,
        "the store does not report versions of objects, so a part of this chunk cannot be "
        "written safely next to other writers: write regions of whole chunks");
}

/* Puts the chunk if it still has this version. Otherwise returns CUBED_E_EXISTS. */
static cubed_status put_merged(const shared_chunk *x, const cubed_object_version *version,
                               cubed_error *err)
{
    const bool absent = cb_version_is_none(version);
    cubed_store_request r = {.op = CUBED_STORE_PUT,
                             .key = x->key,
                             .if_match = absent ? NULL : version->text,
                             .if_none_match = absent ? "*" : NULL};
    const size_t mark = cb_arena_mark(x->scratch);
    cubed_status st;
    overlay(x);
    const int64_t *used = !absent && holds_beyond(x) ? NULL : x->used;
    CB_GO(encode(x->codecs, x->all, used, x->scratch, &r.src, &r.size, err));
    CB_GO(cb_store_do_until(x->z->store, &r, x->scratch->cancel, err));
    x->done->stored = r.size;
out:
    cb_arena_release(x->scratch, mark);
    return st;
}

/* Waits for a random part of a pause that doubles with each attempt, so that writers do not collide again. */
static void pause_before(int tries, const void *salt)
{
    const int64_t most = cb_min_i64(FIRST_PAUSE_NS << cb_min_i64(tries, 16), MOST_PAUSE_NS);
    const uint64_t mixed =
        ((uint64_t)cb_clock_ns() ^ (uint64_t)(uintptr_t)salt >> 4) * 0x9e3779b97f4a7c15u;
    cb_sleep_ns((int64_t)((mixed >> 32) % (uint64_t)most));
}

static cubed_status merge(const shared_chunk *x, cubed_error *err)
{
    /* If the part covers all of an edge chunk within the array, first try to put it as a new chunk. The chunk is usually new, so
     * reading it first would be useless. */
    bool blind = part_is(&x->z->meta, x->part, x->shape, x->used);
    for (int tries = 0; tries < MERGE_TRIES; tries++) {
        cubed_object_version version = {""};
        cubed_error why = CUBED_ERROR_INIT;
        if (blind)
            cb_zarr_fill(&x->z->meta, x->all, x->codecs->chunk_bytes);
        else
            CB_TRY(read_old(x, &version, err));
        cubed_status st = put_merged(x, &version, &why);
        if (st != CUBED_E_EXISTS) {
            if (st != CUBED_OK && err) *err = why;
            return st;
        }
        if (cubed_cancel_is_set(x->scratch->cancel))
            return cb_fail(err, CUBED_E_CANCELLED,
                           "cancelled between two attempts to write the chunk");
        if (!blind) {
            x->done->conflicts++;
            pause_before(tries, x->all);
        }
        blind = false;
    }
    cubed_status st = cb_fail(err, CUBED_E_IO,
                              "other writers replaced the chunk %d times between reading and "
                              "writing: use fewer concurrent writers for one chunk",
                              MERGE_TRIES);
    if (err) err->transient = true;
    return st;
}

cubed_status cb_zarr_merge_chunk(const cb_zarr_array *z, const int64_t *idx,
                                 const cb_zarr_part *part, const void *src, cb_arena *scratch,
                                 cb_zarr_merged *done, cubed_error *err)
{
    char key[4096];
    cb_codec_chain own;
    void *all;
    shared_chunk x = {
        .z = z, .key = key, .part = part, .src = src, .scratch = scratch, .done = done};
    *done = (cb_zarr_merged){.stored = 0};
    cb_zarr_chunk_shape(&z->meta, idx, x.shape, x.used);
    x.codecs = cb_zarr_codecs_of(&z->meta, x.shape, &own);
    if (part_is(&z->meta, part, x.shape, NULL))
        return cb_zarr_write_chunk(z, idx, src, false, scratch, &done->stored, err);
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    const size_t mark = cb_arena_mark(scratch);
    cubed_status st;
    CB_GO(cb_arena_alloc(scratch, x.codecs->chunk_bytes, "chunk as it is stored", &all, err));
    x.all = all;
    st = merge(&x, err);
out:
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "%s: chunk %s", z->store->url, key);
}
