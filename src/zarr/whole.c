/* Checks chunks that an earlier run has left, because some may be incomplete: after a power failure, a file that was not
 * synced may be shorter, empty, or full of zeros. */
#include <string.h>

#include "zarr/zarr_pkg.h"

/* The object of a chunk. The first request reads its size and some bytes: the last bytes of a shard whose index is at the end,
 * otherwise the first bytes. For unencoded chunks it reads only the size. */
typedef struct object {
    cubed_store *store;
    const char *key;
    cubed_object_info info;
    uint64_t from; /* position of `bytes` in the object */
    size_t n;
    char bytes[4096];
} object;

static cubed_status read_object(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                                cubed_error *err)
{
    const object *o = ctx;
    if (offset >= o->from && offset - o->from <= o->n && size <= o->n - (offset - o->from)) {
        memcpy(dst, o->bytes + (offset - o->from), size);
        *got = size;
        return CUBED_OK;
    }
    return cb_store_get(o->store, o->key, offset, dst, size, got, err);
}

/* Sets *ok to whether the chunk can be decoded. Called if its codecs state no sizes. */
static cubed_status decodes(const cb_zarr_array *z, const int64_t *idx, bool *ok, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cb_arena *scratch;
    void *chunk;
    size_t bytes = cb_zarr_chunk_bytes(&z->meta);
    cb_need need = cb_need_both((cb_need){cb_arena_round(bytes), 0}, cb_zarr_read_need(&z->meta));
    CB_TRY(cb_arena_new(z->store->alloc, need, &scratch, err));
    cubed_status st = cb_arena_alloc(scratch, bytes, "chunk", &chunk, &why);
    if (st == CUBED_OK) st = cb_zarr_read_chunk(z, idx, NULL, chunk, scratch, NULL, &why);
    cb_arena_free(scratch);
    *ok = st == CUBED_OK;
    if (st == CUBED_OK || st == CUBED_E_FORMAT) return CUBED_OK;
    if (err) *err = why;
    return st;
}

static cubed_status open_object(const cb_codec_chain *codecs, object *o, cubed_error *err)
{
    const cb_codec_step *shard = cb_codec_chain_shard(codecs);
    const bool end = shard && !shard->index_in_front;
    const cubed_range range = {end ? CUBED_RANGE_SUFFIX : 0, sizeof o->bytes};
    if (cb_codec_chain_is_raw(codecs)) return cb_store_head(o->store, o->key, &o->info, err);
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = o->key,
                             .ranges = &range,
                             .nranges = 1,
                             .dst = o->bytes,
                             .cap = sizeof o->bytes};
    CB_TRY(cb_store_do(o->store, &r, err));
    o->info = r.info;
    o->n = r.got;
    o->from = end ? o->info.size - o->n : 0;
    return CUBED_OK;
}

static cubed_status look(const cb_zarr_array *z, const cb_codec_chain *codecs, object *at,
                         cb_codec_looks *looks, cubed_error *err)
{
    const cb_codec_object o = {read_object, at, at->info.size};
    cb_arena *scratch;
    CB_TRY(cb_arena_new(z->store->alloc, cb_codec_chain_look_need(codecs), &scratch, err));
    cubed_status st = cb_codec_chain_look(codecs, &o, scratch, looks, err);
    cb_arena_free(scratch);
    return st;
}

cubed_status cb_zarr_find_whole(const cb_zarr_array *z, const int64_t *idx, bool *found,
                                cubed_error *err)
{
    char key[4096];
    cb_codec_chain own;
    cb_codec_looks looks;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    cubed_error why = CUBED_ERROR_INIT;
    *found = false;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_zarr_chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *codecs = cb_zarr_codecs_of(&z->meta, shape, &own);
    object at = {.store = z->store, .key = key};
    cubed_status st = open_object(codecs, &at, &why);
    if (st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (st == CUBED_OK) st = look(z, codecs, &at, &looks, &why);
    *found = st == CUBED_OK && looks == CB_CODEC_WHOLE;
    if (st == CUBED_OK && looks == CB_CODEC_UNTOLD) st = decodes(z, idx, found, &why);
    /* Delete the damaged chunk. If the object was replaced, it belongs to a run that has taken over the place. */
    if (st == CUBED_OK && !*found) {
        st = cb_store_del_if(z->store, key, &at.info.version, &why);
        if (st == CUBED_E_EXISTS) return CUBED_OK;
    }
    if (st == CUBED_OK) return CUBED_OK;
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}
