/* Chunks that an earlier run left, some of them perhaps only in part: what was not synced when the power
 * failed is shorter, empty, or zeros. */
#include "zarr/zarr_pkg.h"

typedef struct object {
    cubed_store *store;
    const char *key;
} object;

static cubed_status read_object(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                                cubed_error *err)
{
    const object *o = ctx;
    return cb_store_get(o->store, o->key, offset, dst, size, got, err);
}

/* Where codecs say nothing of sizes, the chunk is decoded. */
static cubed_status decodes(const cb_zarr_array *z, const int64_t *idx, bool *ok, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cb_arena *scratch;
    void *chunk;
    size_t bytes = cb_zarr_chunk_bytes(&z->meta);
    cb_need need = cb_need_both((cb_need){cb_arena_round(bytes), 0}, cb_zarr_read_need(&z->meta));
    CB_TRY(cb_arena_new(z->store->alloc, need, &scratch, err));
    cubed_status st = cb_arena_alloc(scratch, bytes, "chunk", &chunk, &why);
    if (st == CUBED_OK) st = cb_zarr_read_chunk(z, idx, chunk, scratch, NULL, &why);
    cb_arena_free(scratch);
    *ok = st == CUBED_OK;
    if (st == CUBED_OK || st == CUBED_E_FORMAT) return CUBED_OK;
    if (err) *err = why;
    return st;
}

static cubed_status look(const cb_zarr_array *z, const cb_codec_chain *codecs, object *at,
                         uint64_t size, cb_codec_looks *looks, cubed_error *err)
{
    const cb_codec_object o = {read_object, at, size};
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
    uint64_t size;
    *found = false;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cubed_status st = cb_store_size(z->store, key, &size, &why);
    if (st == CUBED_E_NOT_FOUND) return CUBED_OK;
    object at = {z->store, key};
    cb_zarr_chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *codecs = cb_zarr_codecs_of(&z->meta, shape, &own);
    if (st == CUBED_OK) st = look(z, codecs, &at, size, &looks, &why);
    *found = st == CUBED_OK && looks == CB_CODEC_WHOLE;
    if (st == CUBED_OK && looks == CB_CODEC_UNTOLD) st = decodes(z, idx, found, &why);
    /* Nobody shall take it for one that is there. */
    if (st == CUBED_OK && !*found) st = cb_store_del(z->store, key, &why);
    if (st == CUBED_OK) return CUBED_OK;
    if (err) *err = why;
    return cb_context(err, st, "%s: chunk %s", z->store->url, key);
}
