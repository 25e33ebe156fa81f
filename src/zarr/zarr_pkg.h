/* Declarations shared by the files of this folder only. */
#ifndef CB_ZARR_PKG_H
#define CB_ZARR_PKG_H

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "dtype/attribute.h"
#include "dtype/typestr.h"
#include "store/services/store_registry.h"
#include "zarr/zarr.h"

/* Maximum size in bytes of a metadata document. */
#define CB_ZARR_MAX_DOC ((size_t)64 << 20)

/* Convert fill values from JSON (spellings of both formats) and to JSON. */
CUBED_MUST_CHECK cubed_status cb_fill_parse(const char *where, const json_t *v, cubed_dtype dtype,
                                            cubed_scalar *out, cubed_error *err);
json_t *cb_fill_print(cubed_dtype dtype, const cubed_scalar *v, int format);
/* Replaces a NaN by the only NaN that format 2 can represent. */
void cb_fill_for_v2(cubed_dtype dtype, cubed_scalar *v);

/* Advances to the next index in C order. Returns false after the last one. No extent may be 0. */
static inline bool cb_next_index(int ndim, const int64_t *extents, int64_t *at)
{
    int d = ndim - 1;
    while (d >= 0 && ++at[d] == extents[d]) at[d--] = 0;
    return d >= 0;
}

/* Adds the store and key of a chunk to an error. */
static inline cubed_status cb_zarr_chunk_failed(const cubed_store *store, const char *key,
                                                cubed_status st, const cubed_error *why,
                                                cubed_error *err)
{
    if (err) *err = *why;
    return cb_context(err, st, "%s: chunk %s", store->url, key);
}

/* Returns the stored bytes of a fill value; longer items are padded with zeros. */
static inline size_t cb_fill_size(cubed_dtype dtype)
{
    return cb_min_size(cubed_dtype_size(dtype), sizeof(cubed_scalar));
}

/* Convert data types of Zarr formats 2 and 3. CUBED_E_UNSUPPORTED if unknown. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_typestr(const char *where, const char *s,
                                                    cubed_dtype *out, bool *big_endian,
                                                    cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_print_typestr(cubed_dtype dtype, bool big_endian,
                                                    char text[CB_TYPESTR_CAP], cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_type_v3(const char *where, const json_t *doc,
                                                    cubed_dtype *out, cubed_error *err);
json_t *cb_zarr_print_type_v3(cubed_dtype dtype);

/* Set type and fields of records from the list of format 2 or the extension type of format 3. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_record_v2(const char *where, const json_t *list,
                                                      cb_zone *zone, cb_zarr_meta *m,
                                                      cubed_error *err);
bool cb_zarr_is_record_v3(const json_t *type);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_record_v3(const char *where, const json_t *type,
                                                      cb_zone *zone, cb_zarr_meta *m,
                                                      cubed_error *err);
/* Checks that the format can represent the fields; CUBED_OK for other types. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_record(const cb_zarr_meta *m, cubed_error *err);
/* Returns the type of records in the array's format, or NULL if out of memory. */
json_t *cb_zarr_print_record(const cb_zarr_meta *m);
/* Parses the fill value, of any size. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_fill(const char *where, const json_t *v, cb_zone *zone,
                                                 cb_zarr_meta *m, cubed_error *err);

struct cb_zarr_array {
    cubed_store *store; /* not owned */
    cb_zone *zone;      /* owns this struct and its strings */
    const char *path;
    cb_zarr_meta meta;
    cubed_object_version version; /* version of the metadata */
    const cb_zarr_fence *fence;   /* NULL: puts have no conditions */
};

/* Returns the status of a prefetched get. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_fetched(const cb_zarr_fetched *f, cubed_error *err);
/* Reads a chunk's object and decodes it with the codecs for its shape. CUBED_E_NOT_FOUND if it is missing. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_object(const cb_zarr_array *z, const cb_codec_chain *c,
                                                  const char *key, const cb_zarr_fetched *there,
                                                  void *dst, cb_arena *scratch,
                                                  cubed_object_info *info, cubed_error *err);
/* Gets the stored shape of a chunk, and the extents of its part within the array, which may be larger than the shape. */
void cb_zarr_chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used);
/* Returns the codecs for a chunk's shape. For an irregular chunk these are adapted codecs in *own. */
const cb_codec_chain *cb_zarr_codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                        cb_codec_chain *own);

/* Parses the "rectilinear" chunk grid. The array's shape must be set. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_rectilinear(const char *where, const json_t *conf,
                                                        cb_zone *zone, cb_zarr_meta *meta,
                                                        cubed_error *err);
json_t *cb_zarr_print_rectilinear(const cb_zarr_meta *meta);
/* Checks that the codecs accept all lengths of irregular chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_irregular(const char *where, const cb_zarr_meta *meta,
                                                      cubed_error *err);
/* Fills n bytes of a chunk with the fill value. */
void cb_zarr_fill(const cb_zarr_meta *meta, void *dst, size_t n);
/* Returns true if the bits of n elements equal the fill value. */
bool cb_zarr_is_fill(const cb_zarr_meta *meta, const char *elements, size_t n);

/* Properties of the array for codecs. Type, chunk and fill value must be set. */
cb_codec_array cb_zarr_codec_array(const cb_zarr_meta *meta, const cb_codecs *codecs);
/* Sets `inner` from chunk and codecs. */
void cb_zarr_set_inner(cb_zarr_meta *meta);
/* Checks shape and chunks of a document. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_shape(const char *where, const cb_zarr_meta *meta,
                                                  cubed_error *err);

/* Parse documents with an unknown type or codecs: everything except type, fill value and codecs. */
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v2(const char *where, const json_t *zarray,
                                                 const json_t *zattrs, cb_zone *zone,
                                                 cb_zarr_meta *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v3(const char *where, const json_t *doc,
                                                 cb_zone *zone, cb_zarr_meta *out,
                                                 cubed_error *err);

/* Sets the version of a document for comparisons, not for conditions of requests. It includes the modification time,
 * because an array that is rewritten often has identical metadata and some stores derive versions from the bytes alone.
 * If the store has no versions, it consists of the size. */
void cb_zarr_set_version(const cubed_object_info *info, cubed_object_version *out);
/* Reads and parses the document at path/name, and gets its version. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_version(cubed_store *store, const char *path,
                                                   const char *name, json_t **out,
                                                   cubed_object_version *version, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_read_doc(cubed_store *store, const char *path,
                                               const char *name, json_t **out, cubed_error *err);
/* Puts an object of an array under the conditions of its fence; NULL: without conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_put(cubed_store *store, const cb_zarr_fence *fence,
                                          const char *key, const void *src, size_t size,
                                          const cubed_cancel *cancel, cubed_error *err);
/* Puts a JSON document, under the conditions of its fence; NULL: without conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_doc(cubed_store *store, const cb_zarr_fence *fence,
                                              const char *path, const char *name, const json_t *doc,
                                              cubed_error *err);
/* Changes a document and sets *changed if it differs. May be called again with another version of the document. */
typedef cubed_status (*cb_zarr_change_fn)(void *ctx, json_t *doc, bool *changed, cubed_error *err);
/* Applies `change` to the document ({} if missing) and puts the result. If another process has replaced the document in the
 * meantime, repeats both with the new version. */
CUBED_MUST_CHECK cubed_status cb_zarr_change_doc(cubed_store *store, const char *path,
                                                 const char *name, cb_zarr_change_fn change,
                                                 void *ctx, cubed_error *err);
/* Puts a new document. CUBED_E_EXISTS if it exists. */
CUBED_MUST_CHECK cubed_status cb_zarr_new_doc(cubed_store *store, const char *path,
                                              const char *name, const json_t *doc,
                                              cubed_error *err);

#endif
