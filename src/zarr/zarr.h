/* Arrays and groups of Zarr v2 and v3 in a store. */
#ifndef CB_ZARR_ZARR_H
#define CB_ZARR_ZARR_H

#include "codec/codec.h"
#include "cubed/dtype.h"
#include "store/core/store.h"

/* Metadata of an array. The array's zone owns the strings. */
typedef struct cb_zarr_meta {
    int format; /* 2 or 3 */
    cubed_dtype dtype;
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    /* shape of a stored object; >= 1, even if the array's shape is 0 */
    int64_t chunk[CUBED_MAX_NDIM];
    /* Irregular chunks (v3's "rectilinear"): boundaries along an axis, nchunks + 1 numbers; then `chunk` is the longest.
     * NULL: regular chunks. */
    const int64_t *starts[CUBED_MAX_NDIM];
    int64_t nchunks[CUBED_MAX_NDIM];
    /* shape of the unit of reading: the inner chunks of shards, otherwise `chunk` */
    int64_t inner[CUBED_MAX_NDIM];
    const char *
        fields; /* description of the fields of records (dtype/record_fields.h), as the chunks have them; otherwise NULL */
    /* the whole fill value if its bytes after those of `fill` are not all zeros; otherwise NULL */
    const unsigned char *wide_fill;
    cubed_scalar fill; /* the fill value; NaT or 0 for a null in v2, as shown by readers */
    bool fill_is_null; /* v2 only */
    bool big_endian;   /* byte order of stored elements */
    bool order_f;      /* v2 only; v3 uses a transpose codec */
    char separator;    /* '.' or '/' */
    bool v2_keys;      /* chunk keys "0.0" instead of "c/0/0" */
    /* Do not write chunks that contain only the fill value. Not part of the metadata. */
    bool skip_empty;
    const char *dim_names[CUBED_MAX_NDIM]; /* NULL if an axis has no name */
    /* string of a JSON object, never NULL ("{}"): unchanged, except that v2's _ARRAY_DIMENSIONS is removed and Python's NaN
     * and Infinity are strings */
    const char *attrs;
    cb_codec_chain codecs;
} cb_zarr_meta;

typedef struct cb_zarr_array cb_zarr_array;
/* Returns the memory of an open array. */
size_t cb_zarr_bytes(const cb_zarr_array *z);

/* Returns true if the store is a file of NetCDF or HDF5, whose metadata is presented as Zarr documents. */
bool cb_zarr_is_foreign(const cubed_store *store);
/* Reports that there is no `what` ("array") at a path, with CUBED_E_NOT_FOUND. The message mentions Zarr unless the store
 * is a file of another format. */
CUBED_MUST_CHECK cubed_status cb_zarr_not_there(cubed_store *store, const char *what,
                                                const char *path, cubed_error *err);
/* Opens the array at PATH ("": the root), in format 3 if present, otherwise 2. The store must outlive the array, which is
 * immutable and thread-safe. `codecs`, here and below: codecs that the metadata may name; NULL: built-in codecs only.
 * CUBED_E_NOT_FOUND if there is no array at PATH; if it is a group, the message lists its arrays. */
CUBED_MUST_CHECK cubed_status cb_zarr_open(cubed_store *store, const cb_codecs *codecs,
                                           const char *path, cb_zarr_array **out, cubed_error *err);
/* Create an array in two steps, so that a partly written array never looks complete. cb_zarr_prepare creates parent groups
 * and copies strings; the returned handle can write chunks. cb_zarr_commit writes the metadata. CUBED_E_EXISTS if PATH has
 * an array or a group. */
CUBED_MUST_CHECK cubed_status cb_zarr_prepare(cubed_store *store, const char *path,
                                              const cb_zarr_meta *meta, cb_zarr_array **out,
                                              cubed_error *err);
/* Finds the kind of node at PATH (nothing, array, group) and its format. */
typedef enum cb_zarr_kind { CB_ZARR_NOTHING, CB_ZARR_ARRAY, CB_ZARR_GROUP } cb_zarr_kind;
CUBED_MUST_CHECK cubed_status cb_zarr_probe(cubed_store *store, const char *path,
                                            cb_zarr_kind *kind, int *format, cubed_error *err);
/* Finds the kind of node at PATH (nothing, array, group) and its format. *doc receives the contents of zarr.json, which the
 * caller owns, and *version the version of this object. *doc is NULL if there is no zarr.json. */
CUBED_MUST_CHECK cubed_status cb_zarr_probe_doc(cubed_store *store, const char *path,
                                                cb_zarr_kind *kind, int *format, json_t **doc,
                                                cubed_object_version *version, cubed_error *err);
/* Creates missing groups above `path` and, if `self` is set, at `path`. Removes the consolidated metadata of existing groups. */
CUBED_MUST_CHECK cubed_status cb_zarr_make_parents(cubed_store *store, const char *path, int format,
                                                   bool self, cubed_error *err);
/* Gets the version of the metadata of an array in this format, for comparisons; "" if it does not exist. */
CUBED_MUST_CHECK cubed_status cb_zarr_version(cubed_store *store, const char *path, int format,
                                              cubed_object_version *version, cubed_error *err);
/* Fails with CUBED_E_EXISTS if PATH has an array or a group. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_absent(cubed_store *store, const char *path,
                                                   cubed_error *err);
/* Checks write access by putting and deleting an object below PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_writable(cubed_store *store, const char *path,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_commit(const cb_zarr_array *z, cubed_error *err);
/* Creates a handle to an array that another process prepares. Does not access the store. */
CUBED_MUST_CHECK cubed_status cb_zarr_attach(cubed_store *store, const char *path,
                                             const cb_zarr_meta *meta, cb_zarr_array **out,
                                             cubed_error *err);
/* Prevents late requests of a run from changing the result of another run that took over its place. For stores in which a place
 * is only a name. */
typedef struct cb_zarr_fence {
    /* Fails with CUBED_E_EXISTS if the place no longer belongs to the caller. Called from any thread. */
    cubed_status (*check)(const void *ctx, cubed_error *err);
    const void *ctx;
    /* Put each chunk without conditions after a check, because the chunks are uploaded in parts and the store supports no
     * conditions for such uploads. */
    bool in_parts;
    /* Also put chunks that contain only the fill value, because processes of the previous run may still put chunks. */
    bool all;
} cb_zarr_fence;
/* Puts chunks and metadata under conditions from now on: an object must not exist, or must still be the object that was seen
 * before `check` succeeded. So an object of another run is never replaced. The fence must outlive the handle. Call it before
 * other threads use the handle. */
void cb_zarr_set_fence(cb_zarr_array *z, const cb_zarr_fence *fence);
/* Returns true if a key ("c", "c/0/1", "c.0.1", "0.1", "0/1") may be a chunk of an array, or a prefix of chunks. */
bool cb_zarr_may_be_chunk(const char *key);
/* Removes all objects at PATH that may be chunks, by `remove` or, if that is NULL, immediately. Other files may be the
 * user's and are kept. */
CUBED_MUST_CHECK cubed_status cb_zarr_remove_chunks(cubed_store *store, const char *path,
                                                    cb_store_batch_fn remove, void *ctx,
                                                    cubed_error *err);
void cb_zarr_close(cb_zarr_array *z);
const cb_zarr_meta *cb_zarr_get_meta(const cb_zarr_array *z);
const char *cb_zarr_path(const cb_zarr_array *z);
/* Returns the version of the metadata when the array was opened, or "" if the store has no versions, or the array was
 * attached. */
const cubed_object_version *cb_zarr_opened_version(const cb_zarr_array *z);
cubed_store *cb_zarr_store(const cb_zarr_array *z);

/* Sets default keys, separator and codecs of a new array; format, dtype, ndim, shape and chunk must be set.
 *
 * codecs_json  v3: "codecs" list. v2: the compressor (an object or null), or a list of filters ending with the compressor.
 *              NULL: zstd at level 1
 *
 * In format 2 a fill value of 0 (NaT for times) becomes null, because many readers treat the fill value as missing. With
 * null no chunk is skipped. The attributes must be an object. */
CUBED_MUST_CHECK cubed_status cb_zarr_meta_defaults(cb_zarr_meta *meta, const cb_codecs *codecs,
                                                    const char *codecs_json, cubed_error *err);
/* Returns a JSON string, allocated in the zone, of format 3 codecs that store inner chunks of this shape in shards, each
 * encoded by `codecs_json` (NULL: the default), with the index at the end. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_codecs(cb_zone *zone, int ndim, const int64_t *chunk,
                                                   const char *codecs_json, const char **out,
                                                   cubed_error *err);
/* Returns the value that readers show for missing chunks without a fill value: NaT for times, otherwise zeros. */
cubed_scalar cb_fill_default(cubed_dtype dtype);
/* Returns true if the fill value is NaN or NaT, which marks missing values regardless of attributes. */
bool cb_fill_is_nan(cubed_dtype dtype, const cubed_scalar *v);

/* The marker of missing values (CF's _FillValue), as Xarray reads and writes it: in format 2 it is the fill value, in format 3 an
 * attribute. In format 3 the fill value is only the value of missing chunks. */
typedef struct cb_zarr_missing {
    cubed_dtype dtype;
    int from; /* format from which attributes and fill value were read; 0: not from an array */
    const char *attrs; /* string of a JSON object; may be NULL */
    bool has_fill;     /* the fill value is defined and must be kept */
    cubed_scalar fill;
} cb_zarr_missing;
/* Converts the marker from the format m->from to the format `to`, which may be the same: changes `attrs` and the fill value.
 * Strings are allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_convert_missing(cb_zarr_missing *m, int to, cb_zone *zone,
                                                      cubed_error *err);
/* Return the number of stored objects along axis `d`, and the index of the one that contains position `at`. */
int64_t cb_zarr_count(const cb_zarr_meta *meta, int d);
int64_t cb_zarr_find(const cb_zarr_meta *meta, int d, int64_t at);
/* Sets the index of stored object number i, in C order of their grid. */
void cb_zarr_unravel(const cb_zarr_meta *meta, int64_t i, int64_t *idx);
/* Returns true if stored objects are irregular. Inner chunks of shards are always regular. */
bool cb_zarr_is_irregular(const cb_zarr_meta *meta);
/* Returns a JSON string, allocated in the zone: "chunk_shapes" in the metadata of irregular chunks or shards. */
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_shapes(const cb_zarr_meta *meta, cb_zone *zone,
                                                   const char **out, cubed_error *err);
/* Returns true if all bits of the fill value are zero. */
bool cb_zarr_fill_is_zero(const cb_zarr_meta *meta);
/* Returns the arena memory to read a chunk, in addition to the decoded chunk. */
cb_need cb_zarr_read_need(const cb_zarr_meta *meta);
/* Returns the memory to read one unit: for shards an inner chunk and the index. */
cb_need cb_zarr_read_inner_need(const cb_zarr_meta *meta);
/* Returns the memory to read a part of an inner chunk, including the index. */
cb_need cb_zarr_subread_inner_need(const cb_zarr_meta *meta);
cb_need cb_zarr_write_need(const cb_zarr_meta *meta);
size_t cb_zarr_chunk_bytes(const cb_zarr_meta *meta);

/* Result of a prefetched get: the whole object of a chunk, or the range of an inner chunk or index. */
typedef struct cb_zarr_fetched {
    cubed_status status;
    const cubed_error *err; /* error if status is neither CUBED_OK nor CUBED_E_NOT_FOUND */
    const void *data;
    size_t size;
    cubed_object_info info;
} cb_zarr_fetched;
/* Returns the maximum size in bytes of a chunk's object. */
size_t cb_zarr_chunk_bound(const cb_zarr_meta *meta);

/* Reads and decodes a chunk.
 *
 * idx     position in the chunk grid
 * there   the chunk's object if it was prefetched; otherwise NULL
 * dst     receives the whole chunk in C order; beyond the array's edge its contents are unspecified. An irregular chunk has
 *         its own shape
 * stored  receives the encoded size, 0 if the chunk is missing; may be NULL
 *
 * A missing chunk is filled with the fill value. Thread safety: thread-safe. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                 const cb_zarr_fetched *there, void *dst,
                                                 cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Functions for shards, from which only the index and the needed inner chunks are read. Returns the memory of a decoded index,
 * which starts with the object's size; 0 if chunks are not shards. */
size_t cb_zarr_index_bytes(const cb_zarr_meta *meta);
/* Returns the number, in the grid of shards, of the shard with inner chunk idx[ndim]. */
int64_t cb_zarr_shard_number(const cb_zarr_meta *meta, const int64_t *idx);
CUBED_MUST_CHECK cubed_status cb_zarr_read_index(const cb_zarr_array *z, const int64_t *idx,
                                                 const cb_zarr_fetched *there, void *index,
                                                 cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Elements lo..hi-1 of a chunk, relative to its first element, and their destination, contiguous in C order. */
typedef struct cb_zarr_extract {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
    void *dst;
} cb_zarr_extract;
/* Reads a part of inner chunk idx[ndim]. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread_inner(const cb_zarr_array *z, const int64_t *idx,
                                                    const void *index, const cb_zarr_extract *part,
                                                    cb_arena *scratch, uint64_t *stored,
                                                    cubed_error *err);
/* Reads inner chunk idx[ndim] by the index of its shard. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, const cb_zarr_fetched *there,
                                                 void *dst, cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Gets the key of the shard with inner chunk idx[ndim]. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_key(const cb_zarr_array *z, const int64_t *idx,
                                                char *key, size_t cap, cubed_error *err);
/* Return the range of the encoded index of the shard with inner chunk idx[ndim], the maximum encoded size of an index, and the
 * memory to decode one. */
cubed_range cb_zarr_index_range(const cb_zarr_meta *meta, const int64_t *idx);
size_t cb_zarr_index_bound(const cb_zarr_meta *meta);
cb_need cb_zarr_index_need(const cb_zarr_meta *meta);
/* Returns the maximum encoded size in bytes of an inner chunk. */
size_t cb_zarr_inner_bound(const cb_zarr_meta *meta);
/* Gets the range of an inner chunk (size 0: missing), and the version of the shard that the index belongs to. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, cubed_range *where,
                                                 cubed_object_version *version, cubed_error *err);
/* Parts of a chunk can be read separately if it is stored without codecs or in independent blocks. Returns the minimum
 * length in bytes of a contiguous run for which that is worthwhile; 0: not possible. */
size_t cb_zarr_subread_run(const cb_zarr_meta *meta);
/* How to read a part of a chunk, or of an inner chunk of a shard, without memory for the whole chunk. */
typedef enum cb_zarr_parts {
    CB_ZARR_NO_PARTS,
    /* elements are stored unencoded, possibly in another order: only their bytes are read */
    CB_ZARR_RANGES,
    /* Blocks that contain runs of elements are decoded. The runs of a block are decoded together if the block has at most
     * MOST_RUNS runs (zarr/codec_ranges.c), otherwise the block is decoded once for each run. */
    CB_ZARR_BLOCKS,
    /* like CB_ZARR_BLOCKS, but a block with more runs is decoded once and kept */
    CB_ZARR_BLOCKS_ONCE,
    CB_ZARR_STREAM, /* the whole chunk is decoded, in pieces */
} cb_zarr_parts;
cb_zarr_parts cb_zarr_parts_of(const cb_zarr_meta *meta, bool inner);
/* Returns the memory that cb_zarr_subread uses in addition to the part and, for an inner chunk (`inner`), to the shard's
 * index. */
cb_need cb_zarr_part_need(const cb_zarr_meta *meta, bool inner);
/* Reads a part of chunk idx[ndim]. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread(const cb_zarr_array *z, const int64_t *idx,
                                              const cb_zarr_extract *part, cb_arena *scratch,
                                              uint64_t *stored, cubed_error *err);
/* A chunk without metadata: an object with its elements, unencoded and in C order. */
typedef struct cb_zarr_unencoded {
    cubed_store *store;
    const char *key;
    int ndim;
    size_t item; /* size in bytes of an element */
    const int64_t *shape;
} cb_zarr_unencoded;
/* Read a whole unencoded chunk into `dst`, or a part of it into part->dst, in C order.
 *
 * there   the chunk's object if it was prefetched; otherwise NULL
 * cancel  ends the read when it is set; may be NULL
 * stored  for a whole chunk, receives the size of the object; for a part, is increased by the number of bytes read
 *
 * CUBED_E_NOT_FOUND if the object does not exist. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_unencoded(const cb_zarr_unencoded *chunk,
                                                     const cb_zarr_fetched *there, void *dst,
                                                     const cubed_cancel *cancel, uint64_t *stored,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_subread_unencoded(const cb_zarr_unencoded *chunk,
                                                        const cb_zarr_extract *part,
                                                        const cubed_cancel *cancel,
                                                        uint64_t *stored, cubed_error *err);
/* Returns the maximum decoded size in bytes of a codec block, if chunks can be decoded block by block; otherwise 0. */
size_t cb_zarr_codec_block_bytes(const cb_zarr_meta *meta);
/* Finds the block that contains byte `at` of the decoded chunk, from the chunk's first bytes. *block receives the block's
 * range in the chunk; size 0 if the chunk is missing. Needs the memory of cb_zarr_subread. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Decodes the whole block that contains byte `at` of the decoded chunk, to dst with room for cb_zarr_codec_block_bytes.
 * *block receives the block's range in the chunk. Needs the memory of cb_zarr_subread. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, void *dst, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Encodes and stores a whole chunk in C order, which the caller has padded beyond the array's edge. `missing`: it was
 * computed from missing chunks, so it may be omitted even if the fill value is null. Thread-safe for different chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_write_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const void *src, bool missing, cb_arena *scratch,
                                                  uint64_t *stored, cubed_error *err);
/* Part of a chunk in elements relative to the chunk's first: lo[d] to hi[d] - 1 along each axis, not empty. */
typedef struct cb_zarr_part {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
} cb_zarr_part;
typedef struct cb_zarr_merged {
    uint64_t read, stored; /* encoded bytes */
    uint64_t conflicts; /* number of puts repeated because another writer had replaced the chunk */
} cb_zarr_merged;
/* Stores the elements of a part and keeps the rest of the chunk, even if other processes write other parts simultaneously: reads
 * the chunk, and puts it under the condition that it has not changed.
 *
 * A part that covers the whole chunk is stored without reading the chunk. `src` is a whole chunk in C order; only the part of it
 * is used. Thread-safe. CUBED_E_UNSUPPORTED if the store has no versions. */
CUBED_MUST_CHECK cubed_status cb_zarr_merge_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const cb_zarr_part *part, const void *src,
                                                  cb_arena *scratch, cb_zarr_merged *done,
                                                  cubed_error *err);
/* Returns the arena memory for cb_zarr_merge_chunk in addition to `src`. */
cb_need cb_zarr_merge_need(const cb_zarr_meta *meta);
/* Tests whether the store enforces conditions of puts, by putting and deleting an object below PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_try_conditions(cubed_store *store, const char *path,
                                                     bool *honoured, cubed_error *err);
/* Fails with CUBED_E_UNSUPPORTED if the store does not enforce conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_conditions(cubed_store *store, const char *path,
                                                       cubed_error *err);
/* A chunk without codecs may be written in pieces, which are ranges of its bytes in C order, if the store accepts
 * pieces. */
bool cb_zarr_takes_pieces(const cb_zarr_array *z);
CUBED_MUST_CHECK cubed_status cb_zarr_begin_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                   cubed_store_pieces **out, cubed_error *err);
/* Sets *holds to true if an element differs from the fill value of missing chunks. Thread-safe for different pieces. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_piece(const cb_zarr_array *z, cubed_store_pieces *pieces,
                                                uint64_t offset, const void *src, size_t size,
                                                bool *holds, cubed_error *err);
/* Completes the chunk from its pieces if `holds`, otherwise removes the chunk. May be retried after a failure. The caller
 * frees the pieces. */
CUBED_MUST_CHECK cubed_status cb_zarr_end_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                 cubed_store_pieces *pieces, bool holds,
                                                 uint64_t *stored, cubed_error *err);
void cb_zarr_free_pieces(const cb_zarr_array *z, cubed_store_pieces *pieces);
/* Checks whether an earlier run left the whole chunk: by its size and the sizes in headers, trailers and indices, or by
 * decoding it if the codecs state no sizes. Deletes a damaged chunk. Allocates memory outside the arena, up to a chunk and
 * the memory to read it. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_whole(const cb_zarr_array *z, const int64_t *idx,
                                                 bool *found, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_key(const cb_zarr_meta *meta, const char *path,
                                                const int64_t *idx, char *key, size_t cap,
                                                cubed_error *err);

/* Parse metadata documents. Strings are allocated in the zone. `where` names the document in messages. v2: .zarray, and
 * .zattrs if not NULL. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_v2(const char *where, const cb_codecs *codecs,
                                               const json_t *zarray, const json_t *zattrs,
                                               cb_zone *zone, cb_zarr_meta *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_v3(const char *where, const cb_codecs *codecs,
                                               const json_t *doc, cb_zone *zone, cb_zarr_meta *out,
                                               cubed_error *err);
/* Print metadata documents. The caller owns the new references. */
CUBED_MUST_CHECK cubed_status cb_zarr_print_v2(const cb_zarr_meta *meta, json_t **zarray,
                                               json_t **zattrs, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_print_v3(const cb_zarr_meta *meta, json_t **doc,
                                               cubed_error *err);

/* Converts to a JSON string, allocated in the zone; reals have 17 digits. */
CUBED_MUST_CHECK cubed_status cb_json_text(const json_t *v, cb_zone *zone, const char **out,
                                           cubed_error *err);

/* Converts attributes of an array or a group to a JSON string, allocated in the zone, with their types as in
 * cubed_array_attrs. */
CUBED_MUST_CHECK cubed_status cb_zarr_attrs_text(const json_t *attrs, cb_zone *zone,
                                                 const char **out, cubed_error *err);

/* Creates a group. `attrs` has its attributes, a JSON object as string. If a group exists at the path, its contents are kept.
 * Then `attrs` replaces its attributes, unless `attrs` is NULL or the existing group has the other Zarr format. If `overwrite`
 * is set, everything at the path is removed first; otherwise an array at the path is CUBED_E_EXISTS. If `fence` is not NULL,
 * the metadata is put only if it has not changed since fence->check succeeded. */
CUBED_MUST_CHECK cubed_status cb_zarr_create_group(cubed_store *store, const cb_zarr_fence *fence,
                                                   const char *path, int format, const char *attrs,
                                                   bool overwrite, cubed_error *err);
/* Copies all metadata at and below a group, of the group's format, into the group's own metadata, which other libraries read
 * first. cb_zarr_prepare and cb_zarr_create_group remove it when they add something. If `fence` is not NULL, the metadata is put
 * only if it has not changed since fence->check succeeded. A damaged .zmetadata is replaced, because it contains only copies. */
CUBED_MUST_CHECK cubed_status cb_zarr_consolidate(cubed_store *store, const cb_zarr_fence *fence,
                                                  const char *path, cubed_error *err);
/* Changes the length of an array along an axis from `from` to `to` in its metadata. CUBED_E_EXISTS if the array has another
 * length, CUBED_E_UNSUPPORTED if it has irregular chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_set_length(cubed_store *store, const char *path, int format,
                                                 int axis, int64_t from, int64_t to,
                                                 cubed_error *err);
typedef struct cb_zarr_entry {
    const char *path; /* relative to the store's root; valid during the callback */
    bool is_array;
    int format;
} cb_zarr_entry;
typedef cubed_status (*cb_zarr_walk_fn)(void *ctx, const cb_zarr_entry *entry, cubed_error *err);
/* Calls fn for every group and array at and below PATH, parents first, in name order, by listing the store.
 * CUBED_E_NOT_FOUND if there is none. */
CUBED_MUST_CHECK cubed_status cb_zarr_walk(cubed_store *store, const char *path, cb_zarr_walk_fn fn,
                                           void *ctx, cubed_error *err);
/* Calls fn for every group and array directly in the group at PATH, with paths relative to it, and sets *format to the
 * group's. `consolidated` uses consolidated metadata if present, which may be out of date; otherwise lists the store.
 * CUBED_E_NOT_FOUND if there is no group. */
CUBED_MUST_CHECK cubed_status cb_zarr_members(cubed_store *store, const char *path,
                                              bool consolidated, int *format, cb_zarr_walk_fn fn,
                                              void *ctx, cubed_error *err);
/* Appends the attributes of a group to `out` as a JSON string. */
CUBED_MUST_CHECK cubed_status cb_zarr_group_attrs(cubed_store *store, const char *path, cb_buf *out,
                                                  cubed_error *err);
/* Counts the existing chunks of the array at PATH and their stored bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_stored(cubed_store *store, const char *path, uint64_t *chunks,
                                             uint64_t *bytes, cubed_error *err);

#endif
