/* Writes chunks in pieces. */
#include "zarr/zarr_pkg.h"

bool cb_zarr_takes_pieces(const cb_zarr_array *z)
{
    return cb_store_takes_pieces(z->store) && !cb_zarr_is_irregular(&z->meta) &&
           cb_codec_chain_is_raw(&z->meta.codecs);
}

static cubed_status failed(const cb_zarr_array *z, cubed_status st, cubed_error *err)
{
    return cb_context(err, st, "%s: a piece of a chunk of %s", z->store->url, z->path);
}

cubed_status cb_zarr_begin_pieces(const cb_zarr_array *z, const int64_t *idx,
                                  cubed_store_pieces **out, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cubed_status st = cb_store_begin_pieces(z->store, key, out, err);
    return st == CUBED_OK ? st : failed(z, st, err);
}

cubed_status cb_zarr_put_piece(const cb_zarr_array *z, cubed_store_pieces *pieces, uint64_t offset,
                               const void *src, size_t size, bool *holds, cubed_error *err)
{
    const cb_zarr_meta *m = &z->meta;
    if (!m->skip_empty || m->fill_is_null ||
        !cb_zarr_is_fill(m, src, size / cubed_dtype_size(m->dtype)))
        *holds = true;
    cubed_status st = z->store->vt->put_piece(pieces, offset, src, size, err);
    return st == CUBED_OK ? st : failed(z, st, err);
}

cubed_status cb_zarr_end_pieces(const cb_zarr_array *z, const int64_t *idx,
                                cubed_store_pieces *pieces, bool holds, uint64_t *stored,
                                cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    /* An empty chunk is not stored: delete the chunk of an earlier attempt. */
    cubed_status st =
        holds ? z->store->vt->end_pieces(pieces, err) : cb_store_del(z->store, key, err);
    *stored = holds ? z->meta.codecs.chunk_bytes : 0;
    return st == CUBED_OK ? st : cb_context(err, st, "%s: chunk %s", z->store->url, key);
}

void cb_zarr_free_pieces(const cb_zarr_array *z, cubed_store_pieces *pieces)
{
    z->store->vt->free_pieces(pieces);
}
