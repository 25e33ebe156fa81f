/* Shared by the files of this folder only. */
#ifndef CB_ZARR_PKG_H
#define CB_ZARR_PKG_H

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "dtype/attribute.h"
#include "dtype/typestr.h"
#include "store/services/store_registry.h"
#include "zarr/zarr.h"

/* The largest metadata document that is read. */
#define CB_ZARR_MAX_DOC ((size_t)64 << 20)

/* A fill value from JSON (both formats' spellings), and to JSON. */
CUBED_MUST_CHECK cubed_status cb_fill_parse(const char *where, const json_t *v, cubed_dtype dtype,
                                            cubed_scalar *out, cubed_error *err);
json_t *cb_fill_print(cubed_dtype dtype, const cubed_scalar *v, int format);
/* What metadata of format 2 can say: all NaN are one there. */
void cb_fill_for_v2(cubed_dtype dtype, cubed_scalar *v);

/* Goes on to the next index in C order; false behind the last. No extent is 0. */
static inline bool cb_next_index(int ndim, const int64_t *extents, int64_t *at)
{
    int d = ndim - 1;
    while (d >= 0 && ++at[d] == extents[d]) at[d--] = 0;
    return d >= 0;
}

/* The error of what was done with a chunk's object, and which that is. */
static inline cubed_status cb_zarr_chunk_failed(const cubed_store *store, const char *key,
                                                cubed_status st, const cubed_error *why,
                                                cubed_error *err)
{
    if (err) *err = *why;
    return cb_context(err, st, "%s: chunk %s", store->url, key);
}

/* Bytes of a fill value that are kept: longer items go on with zeros. */
static inline size_t cb_fill_size(cubed_dtype dtype)
{
    return cb_min_size(cubed_dtype_size(dtype), sizeof(cubed_scalar));
}

/* Data types in both formats. Unknown ones are CUBED_E_UNSUPPORTED. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_typestr(const char *where, const char *s,
                                                    cubed_dtype *out, bool *big_endian,
                                                    cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_print_typestr(cubed_dtype dtype, bool big_endian,
                                                    char text[CB_TYPESTR_CAP], cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_type_v3(const char *where, const json_t *doc,
                                                    cubed_dtype *out, cubed_error *err);
json_t *cb_zarr_print_type_v3(cubed_dtype dtype);

struct cb_zarr_array {
    cubed_store *store; /* borrowed */
    cb_zone *zone;      /* owns the struct's strings and the struct */
    const char *path;
    cb_zarr_meta meta;
    cubed_object_version version; /* of the metadata */
    const cb_zarr_fence *fence;   /* NULL: puts have no conditions */
};

/* What it came to. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_fetched(const cb_zarr_fetched *f, cubed_error *err);
/* Reads the object of a chunk and decodes it with the codecs of its shape. CUBED_E_NOT_FOUND if it is not there. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_object(const cb_zarr_array *z, const cb_codec_chain *c,
                                                  const char *key, const cb_zarr_fetched *there,
                                                  void *dst, cb_arena *scratch,
                                                  cubed_object_info *info, cubed_error *err);
/* The shape of a chunk as it is stored, and its elements within the array (or more). */
void cb_zarr_chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used);
/* Irregular chunks go through the same codecs in their own shape: those, in *own. */
const cb_codec_chain *cb_zarr_codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                        cb_codec_chain *own);

/* The "rectilinear" chunk grid: shape is set before. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_rectilinear(const char *where, const json_t *conf,
                                                        cb_zone *zone, cb_zarr_meta *meta,
                                                        cubed_error *err);
json_t *cb_zarr_print_rectilinear(const cb_zarr_meta *meta);
/* Whether the codecs can have chunks of these lengths. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_irregular(const char *where, const cb_zarr_meta *meta,
                                                      cubed_error *err);
/* Fills n bytes of a chunk with the fill value. */
void cb_zarr_fill(const cb_zarr_meta *meta, void *dst, size_t n);
/* Whether n elements are the fill value, bit by bit. */
bool cb_zarr_is_fill(const cb_zarr_meta *meta, const char *elements, size_t n);

/* What codecs are told of an array whose type, chunk and fill value are known. */
cb_codec_array cb_zarr_codec_array(const cb_zarr_meta *meta, const cb_codecs *codecs);
/* Sets `inner` from chunk and codecs. */
void cb_zarr_set_inner(cb_zarr_meta *meta);
/* Shape and chunks of a document, checked. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_shape(const char *where, const cb_zarr_meta *meta,
                                                  cubed_error *err);

/* What documents say of arrays whose types or codecs are not known: all but type, fill value and codecs. */
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v2(const char *where, const json_t *zarray,
                                                 const json_t *zattrs, cb_zone *zone,
                                                 cb_zarr_meta *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v3(const char *where, const json_t *doc,
                                                 cb_zone *zone, cb_zarr_meta *out,
                                                 cubed_error *err);

/* Of a document, also where a store's versions are of bytes alone: who writes an array anew often writes the same
 * metadata. It is for comparing, and no condition of requests. If the store tells no version, the version is the size. */
void cb_zarr_set_version(const cubed_object_info *info, cubed_object_version *out);
/* Reads and parses the document at path/name, and says of which version it is. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_version(cubed_store *store, const char *path,
                                                   const char *name, json_t **out,
                                                   cubed_object_version *version, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_read_doc(cubed_store *store, const char *path,
                                               const char *name, json_t **out, cubed_error *err);
/* A put of an array's object under the conditions of the array's fence; NULL: without conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_put(cubed_store *store, const cb_zarr_fence *fence,
                                          const char *key, const void *src, size_t size,
                                          const cubed_cancel *cancel, cubed_error *err);
/* Puts a document so. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_doc(cubed_store *store, const cb_zarr_fence *fence,
                                              const char *path, const char *name, const json_t *doc,
                                              cubed_error *err);
/* Changes a document; *changed: it differs. May be called again, with another version of the document. */
typedef cubed_status (*cb_zarr_change_fn)(void *ctx, json_t *doc, bool *changed, cubed_error *err);
/* Puts what `change` makes of the document ({} if there is none), unless another one has replaced the document meanwhile: then
 * its new version is changed. */
CUBED_MUST_CHECK cubed_status cb_zarr_change_doc(cubed_store *store, const char *path,
                                                 const char *name, cb_zarr_change_fn change,
                                                 void *ctx, cubed_error *err);
/* CUBED_E_EXISTS if there is one. */
CUBED_MUST_CHECK cubed_status cb_zarr_new_doc(cubed_store *store, const char *path,
                                              const char *name, const json_t *doc,
                                              cubed_error *err);

#endif
