/* Reads inner chunks of shards separately. */
#include <inttypes.h>
#include <string.h>

#include "zarr/parts.h"

/* The decoded index of a shard, with information about the shard's object. */
typedef struct shard_index {
    cubed_object_info object; /* the shard's object; its size is 0 if the shard is missing */
    uint64_t where[];
} shard_index;

static size_t index_bytes(const cb_codec_chain *c)
{
    const cb_codec_step *s = cb_codec_chain_shard(c);
    return s ? sizeof(shard_index) + cb_codec_index_numbers(s) * sizeof(uint64_t) : 0;
}

size_t cb_zarr_index_bytes(const cb_zarr_meta *m) { return index_bytes(&m->codecs); }

/* Returns the memory for an index, followed by the memory of reads that use it. */
static cb_need index_need(const cb_zarr_meta *m, cb_need inner)
{
    const cb_codec_step *s = cb_codec_chain_shard(&m->codecs);
    const cb_need encoded = {cb_arena_round(cb_codec_index_bytes(&m->codecs, s)), 0};
    return cb_need_both(
        (cb_need){cb_arena_round(cb_zarr_index_bytes(m)), 0},
        cb_need_either(cb_need_both(encoded, cb_codec_index_need(&m->codecs, s)), inner));
}

cb_need cb_zarr_read_inner_need(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_codec_chain_shard(&m->codecs);
    if (!s) return cb_zarr_read_need(m);
    const cb_need inner = {cb_arena_round(cb_codec_inner_bound(&m->codecs, s)), 0};
    return index_need(m, cb_need_both(inner, cb_codec_inner_need(&m->codecs, s)));
}

cb_need cb_zarr_subread_inner_need(const cb_zarr_meta *m)
{
    return index_need(m, cb_zarr_part_need(m, true));
}

/* Finds the shard with an inner chunk, and the chunk's number in it. */
static int64_t find_shard(const cb_zarr_meta *m, const int64_t *idx, int64_t *shard)
{
    int64_t i = 0;
    for (int d = 0; d < m->ndim; d++) {
        const int64_t inner = m->inner[d], at = idx[d] * inner, *starts = m->starts[d];
        shard[d] = cb_zarr_find(m, d, at);
        const int64_t lo = starts ? starts[shard[d]] : shard[d] * m->chunk[d];
        const int64_t hi = starts ? starts[shard[d] + 1] : lo + m->chunk[d];
        i = i * ((hi - lo) / inner) + (at - lo) / inner;
    }
    return i;
}

/* Returns the codecs of the shard with an inner chunk. Irregular shards have indices of different sizes: their adapted
 * codecs are in *own. */
static const cb_codec_chain *codecs_at(const cb_zarr_meta *m, const int64_t *idx,
                                       cb_codec_chain *own)
{
    int64_t shard[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    if (!cb_zarr_is_irregular(m)) return &m->codecs;
    find_shard(m, idx, shard);
    cb_zarr_chunk_shape(m, shard, shape, used);
    return cb_zarr_codecs_of(m, shape, own);
}

int64_t cb_zarr_shard_number(const cb_zarr_meta *m, const int64_t *idx)
{
    int64_t number = 0;
    for (int d = 0; d < m->ndim; d++)
        number = number * cb_zarr_count(m, d) + cb_zarr_find(m, d, idx[d] * m->inner[d]);
    return number;
}

static cubed_range index_range(const cb_codec_chain *c)
{
    const cb_codec_step *s = cb_codec_chain_shard(c);
    return (cubed_range){s->index_in_front ? 0 : CUBED_RANGE_SUFFIX, cb_codec_index_bytes(c, s)};
}

cubed_range cb_zarr_index_range(const cb_zarr_meta *m, const int64_t *idx)
{
    cb_codec_chain own;
    return index_range(codecs_at(m, idx, &own));
}

size_t cb_zarr_index_bound(const cb_zarr_meta *m) { return index_range(&m->codecs).size; }

cb_need cb_zarr_index_need(const cb_zarr_meta *m)
{
    return cb_codec_index_need(&m->codecs, cb_codec_chain_shard(&m->codecs));
}

size_t cb_zarr_inner_bound(const cb_zarr_meta *m)
{
    return cb_codec_inner_bound(&m->codecs, cb_codec_chain_shard(&m->codecs));
}

static cubed_status read_index(const cb_zarr_array *z, const cb_codec_chain *c, const char *key,
                               const cb_zarr_fetched *there, shard_index *index, cb_arena *scratch,
                               uint64_t *stored, cubed_error *err)
{
    const cubed_range range = index_range(c);
    cubed_store_request r = {
        .op = CUBED_STORE_GET, .key = key, .ranges = &range, .nranges = 1, .cap = range.size};
    const void *encoded;
    if (there) {
        CB_TRY(cb_zarr_check_fetched(there, err));
        encoded = there->data;
        r.info = there->info;
        r.got = there->size;
    } else {
        CB_TRY(cb_arena_alloc(scratch, range.size, "encoded index", &r.dst, err));
        encoded = r.dst;
        CB_TRY(cb_store_do_until(z->store, &r, scratch->cancel, err));
    }
    index->object = r.info;
    if (r.got != range.size)
        return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected a shard index of %zu",
                       r.info.size, range.size);
    *stored += range.size;
    return cb_codec_index_decode(c, cb_codec_chain_shard(c), encoded, index->where, scratch, err);
}

cubed_status cb_zarr_shard_key(const cb_zarr_array *z, const int64_t *idx, char *key, size_t cap,
                               cubed_error *err)
{
    int64_t shard[CUBED_MAX_NDIM];
    find_shard(&z->meta, idx, shard);
    return cb_zarr_chunk_key(&z->meta, z->path, shard, key, cap, err);
}

cubed_status cb_zarr_read_index(const cb_zarr_array *z, const int64_t *idx,
                                const cb_zarr_fetched *there, void *index, cb_arena *scratch,
                                uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    shard_index *x = index;
    cb_codec_chain own;
    const cb_codec_chain *codecs = codecs_at(&z->meta, idx, &own);
    CB_TRY(cb_zarr_shard_key(z, idx, key, sizeof key, err));
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_index(z, codecs, key, there, x, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        x->object = (cubed_object_info){.size = 0};
        /* the shard is missing: mark all inner chunks as missing */
        memset(x->where, 0xff, index_bytes(codecs) - sizeof *x);
        return CUBED_OK;
    }
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}

cubed_status cb_zarr_find_inner(const cb_zarr_array *z, const int64_t *idx, const void *index,
                                cubed_range *where, cubed_object_version *version, cubed_error *err)
{
    const shard_index *x = index;
    int64_t shard[CUBED_MAX_NDIM], i = find_shard(&z->meta, idx, shard);
    uint64_t size;
    *version = x->object.version;
    CB_TRY(cb_codec_index_find(x->where, cb_zarr_inner_bound(&z->meta), x->object.size, i,
                               &where->offset, &size, err));
    where->size = (size_t)size; /* fits, because cb_codec_index_find checked it against the bound */
    return CUBED_OK;
}

/* Sets the position, the size and the version of the inner chunk at idx. If it is missing, sets e->size to 0. */
static cubed_status find_encoded(const cb_zarr_array *z, cb_zarr_encoded *e, const int64_t *idx,
                                 const void *index, cubed_error *err)
{
    cubed_range where;
    CB_TRY(cb_zarr_find_inner(z, idx, index, &where, &e->version, err));
    e->offset = where.offset;
    e->size = where.size;
    return CUBED_OK;
}

/* Gets the encoded bytes of an inner chunk. Uses prefetched bytes in place; if there are none, reads the bytes into the arena. */
static cubed_status get_inner(cb_zarr_encoded *e, const cb_zarr_fetched *there, cb_arena *scratch,
                              const void **encoded, cubed_error *err)
{
    cubed_range all = {0, (size_t)e->size};
    void *to;
    if (there) {
        *encoded = there->data;
        CB_TRY(cb_zarr_check_fetched(there, err));
        if (there->size == e->size) return CUBED_OK;
        return cb_fail(err, CUBED_E_FORMAT, "the shard ends before the end of this chunk");
    }
    CB_TRY(cb_arena_alloc(scratch, all.size, "encoded chunk", &to, err));
    *encoded = to;
    return cb_zarr_get_ranges(e, &all, 1, to, err);
}

/* Reads an inner chunk. If it is missing, leaves dst unchanged and sets e->size to 0. */
static cubed_status read_inner(const cb_zarr_array *z, cb_zarr_encoded *e, const int64_t *idx,
                               const void *index, const cb_zarr_fetched *there, void *dst,
                               cb_arena *scratch, cubed_error *err)
{
    const cb_codec_chain *c = &z->meta.codecs;
    const void *encoded;
    int64_t shard[CUBED_MAX_NDIM];
    CB_TRY(find_encoded(z, e, idx, index, err));
    if (e->size == 0) return CUBED_OK;
    cubed_status st = get_inner(e, there, scratch, &encoded, err);
    if (st == CUBED_OK)
        st = cb_codec_inner_decode(c, cb_codec_chain_shard(c), encoded, (size_t)e->size, dst,
                                   scratch, err);
    return st == CUBED_OK
               ? st
               : cb_context(err, st, "inner chunk %" PRId64, find_shard(&z->meta, idx, shard));
}

cubed_status cb_zarr_read_inner(const cb_zarr_array *z, const int64_t *idx, const void *index,
                                const cb_zarr_fetched *there, void *dst, cb_arena *scratch,
                                uint64_t *stored, cubed_error *err)
{
    const cb_zarr_meta *m = &z->meta;
    char key[4096];
    CB_TRY(cb_zarr_shard_key(z, idx, key, sizeof key, err));
    cb_zarr_encoded e = cb_zarr_encoded_object(z, key, scratch->cancel);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_inner(z, &e, idx, index, there, dst, scratch, err);
    cb_arena_release(scratch, mark);
    if (st != CUBED_OK) return cb_context(err, st, "%s: chunk %s", z->store->url, key);
    *stored += e.size;
    if (e.size == 0)
        cb_zarr_fill(m, dst, cb_codec_inner_bytes(&m->codecs, cb_codec_chain_shard(&m->codecs)));
    return CUBED_OK;
}

/* Reads a part of an inner chunk. If the chunk is missing, sets e->size to 0. */
static cubed_status read_part(const cb_zarr_array *z, cb_zarr_encoded *e, const int64_t *idx,
                              const void *index, const cb_zarr_extract *part, cb_arena *scratch,
                              uint64_t *stored, cubed_error *err)
{
    int64_t shard[CUBED_MAX_NDIM];
    CB_TRY(find_encoded(z, e, idx, index, err));
    if (e->size == 0) return CUBED_OK;
    cubed_status st = cb_zarr_read_part(&z->meta, true, e, part, scratch, stored, err);
    return st == CUBED_OK
               ? st
               : cb_context(err, st, "inner chunk %" PRId64, find_shard(&z->meta, idx, shard));
}

cubed_status cb_zarr_subread_inner(const cb_zarr_array *z, const int64_t *idx, const void *index,
                                   const cb_zarr_extract *part, cb_arena *scratch, uint64_t *stored,
                                   cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_zarr_shard_key(z, idx, key, sizeof key, err));
    cb_zarr_encoded e = cb_zarr_encoded_object(z, key, scratch->cancel);
    const size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_part(z, &e, idx, index, part, scratch, stored, err);
    cb_arena_release(scratch, mark);
    if (st != CUBED_OK) return cb_context(err, st, "%s: chunk %s", z->store->url, key);
    if (e.size == 0) cb_zarr_fill(&z->meta, part->dst, cb_zarr_part_bytes(&z->meta, part));
    return CUBED_OK;
}
