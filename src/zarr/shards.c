/* Inner chunks of shards, read by themselves. */
#include <inttypes.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

/* A shard's index in memory. */
typedef struct shard_index {
    cubed_object_info object; /* size 0: there is none */
    uint64_t where[];
} shard_index;

size_t cb_zarr_index_bytes(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_codec_chain_shard(&m->codecs);
    return s ? sizeof(shard_index) + cb_codec_index_numbers(s) * sizeof(uint64_t) : 0;
}

cb_need cb_zarr_read_inner_need(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_codec_chain_shard(&m->codecs);
    if (!s) return cb_zarr_read_need(m);
    cb_need encoded = {cb_arena_round(cb_codec_index_bytes(&m->codecs, s)), 0};
    cb_need inner = {cb_arena_round(cb_codec_inner_bound(&m->codecs, s)), 0};
    return cb_need_both((cb_need){cb_arena_round(cb_zarr_index_bytes(m)), 0},
                        cb_need_either(cb_need_both(encoded, cb_codec_index_need(&m->codecs, s)),
                                       cb_need_both(inner, cb_codec_inner_need(&m->codecs, s))));
}

/* The shard that holds an inner chunk, and the number of the chunk in it. */
static int64_t find_shard(const cb_zarr_meta *m, const int64_t *idx, int64_t *shard)
{
    int64_t i = 0;
    for (int d = 0; d < m->ndim; d++) {
        int64_t per = m->chunk[d] / m->inner[d];
        shard[d] = idx[d] / per;
        i = i * per + idx[d] % per;
    }
    return i;
}

int64_t cb_zarr_shard_number(const cb_zarr_meta *m, const int64_t *idx)
{
    int64_t number = 0;
    for (int d = 0; d < m->ndim; d++) {
        int64_t shard = idx[d] / (m->chunk[d] / m->inner[d]);
        number = number * cb_ceil_div(m->shape[d], m->chunk[d]) + shard;
    }
    return number;
}

static cubed_status read_index(const cb_zarr_array *z, const char *key, shard_index *index,
                               cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_codec_chain *c = &z->meta.codecs;
    const cb_codec_step *s = cb_codec_chain_shard(c);
    size_t bytes = cb_codec_index_bytes(c, s);
    const cubed_range range = {s->index_in_front ? 0 : CUBED_RANGE_SUFFIX, bytes};
    void *encoded;
    CB_TRY(cb_arena_alloc(scratch, bytes, "encoded index", &encoded, err));
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = key,
                             .ranges = &range,
                             .nranges = 1,
                             .dst = encoded,
                             .cap = bytes};
    CB_TRY(cb_store_do(z->store, &r, err));
    index->object = r.info;
    if (r.got != bytes)
        return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected a shard index of %zu",
                       r.info.size, bytes);
    *stored += bytes;
    return cb_codec_index_decode(c, s, encoded, index->where, scratch, err);
}

cubed_status cb_zarr_read_index(const cb_zarr_array *z, const int64_t *idx, void *index,
                                cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_zarr_meta *m = &z->meta;
    char key[4096];
    int64_t shard[CUBED_MAX_NDIM];
    cubed_error why = CUBED_ERROR_INIT;
    shard_index *x = index;
    find_shard(m, idx, shard);
    CB_TRY(cb_zarr_chunk_key(m, z->path, shard, key, sizeof key, err));
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_index(z, key, x, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        x->object = (cubed_object_info){.size = 0};
        memset(x->where, 0xff, cb_zarr_index_bytes(m) - sizeof *x); /* nothing is there */
        return CUBED_OK;
    }
    if (err) *err = why;
    return cb_context(err, st, "%s: chunk %s", z->store->url, key);
}

/* Leaves dst as it is, and *stored 0, if the chunk is not there. */
static cubed_status read_inner(const cb_zarr_array *z, const char *key, const shard_index *index,
                               int64_t i, void *dst, cb_arena *scratch, uint64_t *stored,
                               cubed_error *err)
{
    const cb_codec_chain *c = &z->meta.codecs;
    const cb_codec_step *s = cb_codec_chain_shard(c);
    uint64_t offset, size;
    cubed_object_info info;
    void *encoded;
    CB_TRY(cb_codec_index_find(c, s, index->where, index->object.size, i, &offset, &size, err));
    if (size == 0) return CUBED_OK;
    /* Not more than the bound: index_find has checked it. */
    CB_TRY(cb_arena_alloc(scratch, (size_t)size, "encoded chunk", &encoded, err));
    const cubed_range range = {offset, (size_t)size};
    const cubed_object_version *same = &index->object.version;
    cubed_status st = cb_store_get_parts(z->store, key, cb_version_is_none(same) ? NULL : same,
                                         &range, 1, encoded, &info, err);
    if (st == CUBED_OK) {
        *stored = size;
        st = cb_codec_inner_decode(c, s, encoded, (size_t)size, dst, scratch, err);
    }
    return st == CUBED_OK ? st : cb_context(err, st, "inner chunk %" PRId64, i);
}

cubed_status cb_zarr_read_inner(const cb_zarr_array *z, const int64_t *idx, const void *index,
                                void *dst, cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_zarr_meta *m = &z->meta;
    char key[4096];
    int64_t shard[CUBED_MAX_NDIM], i = find_shard(m, idx, shard);
    uint64_t size = 0;
    CB_TRY(cb_zarr_chunk_key(m, z->path, shard, key, sizeof key, err));
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_inner(z, key, index, i, dst, scratch, &size, err);
    cb_arena_release(scratch, mark);
    if (st != CUBED_OK) return cb_context(err, st, "%s: chunk %s", z->store->url, key);
    *stored += size;
    if (size == 0)
        cb_zarr_fill(m, dst, cb_codec_inner_bytes(&m->codecs, cb_codec_chain_shard(&m->codecs)));
    return CUBED_OK;
}
