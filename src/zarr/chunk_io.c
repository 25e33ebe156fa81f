/* Reads chunks of arrays and parts of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "zarr/parts.h"

size_t cb_zarr_chunk_bytes(const cb_zarr_meta *m) { return m->codecs.chunk_bytes; }

size_t cb_zarr_chunk_bound(const cb_zarr_meta *m)
{
    return cb_codec_chain_is_raw(&m->codecs) ? m->codecs.chunk_bytes
                                             : cb_codec_chain_bound(&m->codecs);
}

cubed_status cb_zarr_check_fetched(const cb_zarr_fetched *f, cubed_error *err)
{
    if (f->status != CUBED_OK && err) *err = *f->err;
    return f->status;
}

cb_need cb_zarr_read_need(const cb_zarr_meta *m)
{
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_chain_decode_need(&m->codecs));
}

/* Gets a prefetched object of at most `bound` bytes in place. */
static cubed_status use_fetched(const cb_zarr_fetched *there, size_t bound, const void **object,
                                cubed_object_info *info, cubed_error *err)
{
    CB_TRY(cb_zarr_check_fetched(there, err));
    *object = there->data;
    *info = there->info;
    if (there->size != info->size && info->size <= bound)
        return cb_fail(err, CUBED_E_FORMAT, "the object is shorter than its stated size");
    return CUBED_OK;
}

/* Reads an object that contains the `size` bytes of a chunk unencoded. */
static cubed_status read_unencoded(cubed_store *store, const char *key, size_t size,
                                   const cb_zarr_fetched *there, void *dst, cubed_object_info *info,
                                   const cubed_cancel *cancel, cubed_error *err)
{
    const void *object = dst;
    CB_TRY(there ? use_fetched(there, size, &object, info, err)
                 : cb_store_get_whole(store, key, dst, size, info, cancel, err));
    if (info->size != size)
        return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", info->size, size);
    if (object != dst) memcpy(dst, object, size);
    return CUBED_OK;
}

cubed_status cb_zarr_read_object(const cb_zarr_array *z, const cb_codec_chain *c, const char *key,
                                 const cb_zarr_fetched *there, void *dst, cb_arena *scratch,
                                 cubed_object_info *info, cubed_error *err)
{
    const void *object;
    if (cb_codec_chain_is_raw(c))
        return read_unencoded(z->store, key, c->chunk_bytes, there, dst, info, scratch->cancel,
                              err);
    const size_t bound = cb_codec_chain_bound(c);
    if (there) {
        CB_TRY(use_fetched(there, bound, &object, info, err));
    } else {
        void *to;
        CB_TRY(cb_arena_alloc(scratch, bound, "encoded chunk", &to, err));
        CB_TRY(cb_store_get_whole(z->store, key, to, bound, info, scratch->cancel, err));
        object = to;
    }
    if (info->size > bound)
        return cb_fail(err, CUBED_E_FORMAT, "more than the %zu bytes that a chunk can have", bound);
    return cb_codec_chain_decode(c, object, (size_t)info->size, dst, scratch, err);
}

cubed_status cb_zarr_read_unencoded(const cb_zarr_unencoded *chunk, const cb_zarr_fetched *there,
                                    void *dst, const cubed_cancel *cancel, uint64_t *stored,
                                    cubed_error *err)
{
    cubed_object_info info = {.size = 0};
    cubed_error why = CUBED_ERROR_INIT;
    size_t size = chunk->item;
    for (int d = 0; d < chunk->ndim; d++) size *= (size_t)chunk->shape[d];
    const cubed_status st =
        read_unencoded(chunk->store, chunk->key, size, there, dst, &info, cancel, &why);
    if (st != CUBED_OK) return cb_zarr_chunk_failed(chunk->store, chunk->key, st, &why, err);
    *stored = info.size;
    return CUBED_OK;
}

void cb_zarr_chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used)
{
    for (int d = 0; d < m->ndim; d++) {
        const int64_t *s = m->starts[d];
        shape[d] = s ? s[idx[d] + 1] - s[idx[d]] : m->chunk[d];
        used[d] = m->shape[d] - (s ? s[idx[d]] : idx[d] * m->chunk[d]);
    }
}

const cb_codec_chain *cb_zarr_codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                        cb_codec_chain *own)
{
    if (!cb_zarr_is_irregular(m)) return &m->codecs;
    cb_codec_chain_resize(&m->codecs, shape, own);
    return own;
}

cubed_status cb_zarr_read_chunk(const cb_zarr_array *z, const int64_t *idx,
                                const cb_zarr_fetched *there, void *dst, cb_arena *scratch,
                                uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cubed_object_info info = {.size = 0};
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_codec_chain own;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    cb_zarr_chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *codecs = cb_zarr_codecs_of(&z->meta, shape, &own);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = cb_zarr_read_object(z, codecs, key, there, dst, scratch, &info, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, dst, codecs->chunk_bytes);
        info.size = 0;
    } else if (st != CUBED_OK) {
        return cb_zarr_chunk_failed(z->store, key, st, &why, err);
    }
    if (stored) *stored = info.size;
    return CUBED_OK;
}

/* Minimum length in bytes of a run (a contiguous byte range) that is read separately.
 * - RAW_RUN: for unencoded chunks. A system call costs as much as copying some KiB.
 * - ENCODED_RUN: for chunks that are compressed in blocks of about half a MiB. At both ends of a run, a part of a block is
 *   decoded unnecessarily. */
#define RAW_RUN     ((size_t)16 << 10)
#define ENCODED_RUN ((size_t)2 << 20)

size_t cb_zarr_subread_run(const cb_zarr_meta *m)
{
    if (cb_zarr_is_irregular(m)) return 0;
    if (cb_codec_chain_is_raw(&m->codecs)) return RAW_RUN;
    return cb_codec_chain_ranged(&m->codecs) ? ENCODED_RUN : 0;
}

cubed_status cb_zarr_subread(const cb_zarr_array *z, const int64_t *idx,
                             const cb_zarr_extract *part, cb_arena *scratch, uint64_t *stored,
                             cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    const size_t mark = cb_arena_mark(scratch);
    *stored = 0;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_zarr_encoded e = cb_zarr_encoded_object(z, key, scratch->cancel);
    cubed_status st = cb_zarr_read_part(&z->meta, false, &e, part, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, part->dst, cb_zarr_part_bytes(&z->meta, part));
        *stored = 0;
        return CUBED_OK;
    }
    return cb_zarr_chunk_failed(z->store, key, st, &why, err);
}
