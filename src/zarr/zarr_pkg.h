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

/* Converts a fill value from JSON, in the spelling of either format. */
CUBED_MUST_CHECK cubed_status cb_fill_parse(const char *where, const json_t *v, cubed_dtype dtype,
                                            cubed_scalar *out, cubed_error *err);
/* Converts a fill value to JSON. Returns a new reference. */
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

/* Copies the error `why` to *err, and adds the store and key of the chunk to its message. Returns `st`. */
static inline cubed_status cb_zarr_chunk_failed(const cubed_store *store, const char *key,
                                                cubed_status st, const cubed_error *why,
                                                cubed_error *err)
{
    if (err) *err = *why;
    return cb_context(err, st, "%s: chunk %s", store->url, key);
}

/* Returns how many bytes of a fill value a cubed_scalar holds. If elements are longer, cb_zarr_meta.wide_fill has all bytes; if
 * wide_fill is NULL, the other bytes are zeros. */
static inline size_t cb_fill_size(cubed_dtype dtype)
{
    return cb_min_size(cubed_dtype_size(dtype), sizeof(cubed_scalar));
}

/* Convert the data types of Zarr format 2 (type strings) and 3 to and from a cubed_dtype. CUBED_E_UNSUPPORTED if the type is
 * unknown. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_typestr(const char *where, const char *s,
                                                    cubed_dtype *out, bool *big_endian,
                                                    cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_print_typestr(cubed_dtype dtype, bool big_endian,
                                                    char text[CB_TYPESTR_CAP], cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_type_v3(const char *where, const json_t *doc,
                                                    cubed_dtype *out, cubed_error *err);
json_t *cb_zarr_print_type_v3(cubed_dtype dtype);

/* Set `dtype` and `fields` of m for records: from the list of fields of format 2, or from the extension type of format 3. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_record_v2(const char *where, const json_t *list,
                                                      cb_zone *zone, cb_zarr_meta *m,
                                                      cubed_error *err);
bool cb_zarr_is_record_v3(const json_t *type);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_record_v3(const char *where, const json_t *type,
                                                      cb_zone *zone, cb_zarr_meta *m,
                                                      cubed_error *err);
/* Fails if the array's format cannot represent the fields of its records. CUBED_OK if the elements are not records. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_record(const cb_zarr_meta *m, cubed_error *err);
/* Returns the type of records in the spelling of the array's format, as a new reference; NULL if out of memory. */
json_t *cb_zarr_print_record(const cb_zarr_meta *m);
/* Sets `fill` and `wide_fill` of m from the fill value of a document, which may have any size. */
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

/* Returns the status of a prefetch, and copies its error to *err. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_fetched(const cb_zarr_fetched *f, cubed_error *err);
/* Reads and decodes the object of a chunk. `c` has the codecs for the shape of this chunk (cb_zarr_codecs_of). `there` is the
 * object if it was prefetched; otherwise NULL. CUBED_E_NOT_FOUND if there is no object. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_object(const cb_zarr_array *z, const cb_codec_chain *c,
                                                  const char *key, const cb_zarr_fetched *there,
                                                  void *dst, cb_arena *scratch,
                                                  cubed_object_info *info, cubed_error *err);
/* Gets the stored shape of a chunk. used[d] receives the number of elements from the start of the chunk to the end of the array
 * along axis d, which may be larger than shape[d]. */
void cb_zarr_chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used);
/* Returns the codecs for chunks of this shape. If chunks are irregular, fills *own with adapted codecs and returns it. */
const cb_codec_chain *cb_zarr_codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                        cb_codec_chain *own);

/* Parses the configuration of the chunk grid "rectilinear" (irregular chunks). The array's shape must be set. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_rectilinear(const char *where, const json_t *conf,
                                                        cb_zone *zone, cb_zarr_meta *meta,
                                                        cubed_error *err);
json_t *cb_zarr_print_rectilinear(const cb_zarr_meta *meta);
/* Checks that the codecs accept all lengths of irregular chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_irregular(const char *where, const cb_zarr_meta *meta,
                                                      cubed_error *err);
/* Fills n bytes, which are whole elements, with the fill value. */
void cb_zarr_fill(const cb_zarr_meta *meta, void *dst, size_t n);
/* Returns true if the bits of n elements equal the fill value. */
bool cb_zarr_is_fill(const cb_zarr_meta *meta, const char *elements, size_t n);

/* Returns the properties of the array that codecs receive. Type, chunk and fill value must be set. */
cb_codec_array cb_zarr_codec_array(const cb_zarr_meta *meta, const cb_codecs *codecs);
/* Sets meta->inner from `chunk` and `codecs`. */
void cb_zarr_set_inner(cb_zarr_meta *meta);
/* Fails if the array or a chunk has more than 2**61 bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_shape(const char *where, const cb_zarr_meta *meta,
                                                  cubed_error *err);

/* Parse documents whose type or codecs are unknown: set everything in *out except type, fill value and codecs. */
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v2(const char *where, const json_t *zarray,
                                                 const json_t *zattrs, cb_zone *zone,
                                                 cb_zarr_meta *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_outline_v3(const char *where, const json_t *doc,
                                                 cb_zone *zone, cb_zarr_meta *out,
                                                 cubed_error *err);

/* Read and parse the JSON document at path/name. The caller owns *out. cb_zarr_read_version also gets its version
 * (cb_zarr_set_version). */
CUBED_MUST_CHECK cubed_status cb_zarr_read_version(cubed_store *store, const char *path,
                                                   const char *name, json_t **out,
                                                   cubed_object_version *version, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_read_doc(cubed_store *store, const char *path,
                                               const char *name, json_t **out, cubed_error *err);
/* Puts an object of an array. If `fence` is not NULL, the put has its conditions (cb_zarr_set_fence). */
CUBED_MUST_CHECK cubed_status cb_zarr_put(cubed_store *store, const cb_zarr_fence *fence,
                                          const char *key, const void *src, size_t size,
                                          const cubed_cancel *cancel, cubed_error *err);
/* Puts a JSON document at path/name. If `fence` is not NULL, the put has its conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_doc(cubed_store *store, const cb_zarr_fence *fence,
                                              const char *path, const char *name, const json_t *doc,
                                              cubed_error *err);
/* Callback that changes a document in memory, and sets *changed if it must be put. It may be called again with a newer version of
 * the document. */
typedef cubed_status (*cb_zarr_change_fn)(void *ctx, json_t *doc, bool *changed, cubed_error *err);
/* Reads the document at path/name ({} if it does not exist), applies `change`, and puts the result. If another process has
 * replaced the document in the meantime, repeats all three steps. */
CUBED_MUST_CHECK cubed_status cb_zarr_change_doc(cubed_store *store, const char *path,
                                                 const char *name, cb_zarr_change_fn change,
                                                 void *ctx, cubed_error *err);
/* Puts a new document at path/name. CUBED_E_EXISTS if there is a document. */
CUBED_MUST_CHECK cubed_status cb_zarr_new_doc(cubed_store *store, const char *path,
                                              const char *name, const json_t *doc,
                                              cubed_error *err);

#endif
