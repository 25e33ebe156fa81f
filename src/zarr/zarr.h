/* Arrays and groups of Zarr v2 and v3 in a store (store/core/store.h). PATH is the path of an array or a group in the store; ""
 * is the root. */
#ifndef CB_ZARR_ZARR_H
#define CB_ZARR_ZARR_H

#include "codec/codec.h"
#include "cubed/dtype.h"
#include "store/core/store.h"

/* Metadata of an array. The array's zone owns the strings and lists. */
typedef struct cb_zarr_meta {
    int format; /* 2 or 3 */
    cubed_dtype dtype;
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    /* shape of a chunk, which is one stored object; shards are chunks in this sense; >= 1, even if the array's shape is 0 */
    int64_t chunk[CUBED_MAX_NDIM];
    /* Irregular chunks (v3's "rectilinear" grid): the boundaries along an axis, nchunks + 1 numbers. `chunk` is then the longest
     * chunk. NULL: the chunks are regular along this axis. */
    const int64_t *starts[CUBED_MAX_NDIM];
    int64_t nchunks[CUBED_MAX_NDIM];
    /* shape of the smallest unit that can be read: an inner chunk of a shard; without shards, `chunk` */
    int64_t inner[CUBED_MAX_NDIM];
    const char *
        fields; /* description of the fields of records (dtype/record_fields.h), as the chunks have them; otherwise NULL */
    /* the whole fill value, if it is longer than `fill` and its other bytes are not all zeros; otherwise NULL */
    const unsigned char *wide_fill;
    cubed_scalar fill; /* fill value; if it is null, the value that readers show: NaT or 0 */
    bool fill_is_null; /* the fill value is null; v2 only */
    bool big_endian;   /* byte order of stored elements */
    bool order_f;      /* v2 only; v3 uses a transpose codec */
    char separator;    /* '.' or '/' */
    bool v2_keys;      /* chunk keys "0.0" instead of "c/0/0" */
    /* Do not write chunks that contain only the fill value. Not part of the metadata. */
    bool skip_empty;
    const char *dim_names[CUBED_MAX_NDIM]; /* NULL if an axis has no name */
    /* attributes as a JSON object, "{}" if there are none: unchanged, except that v2's _ARRAY_DIMENSIONS is removed, and Python's
     * NaN and Infinity are strings */
    const char *attrs;
    cb_codec_chain codecs;
} cb_zarr_meta;

/* An open array. */
typedef struct cb_zarr_array cb_zarr_array;
/* Returns the memory in bytes of an open array. */
size_t cb_zarr_bytes(const cb_zarr_array *z);

/* Returns true if the store is a NetCDF or HDF5 file, whose metadata is presented as Zarr documents. */
bool cb_zarr_is_foreign(const cubed_store *store);
/* Returns the error CUBED_E_NOT_FOUND: there is no `what` (such as "array") at PATH. The message mentions Zarr, unless the store
 * is a file of another format. */
CUBED_MUST_CHECK cubed_status cb_zarr_not_there(cubed_store *store, const char *what,
                                                const char *path, cubed_error *err);
/* Opens the array at PATH: in format 3 if it has metadata of this format, otherwise in format 2. The array is immutable and
 * thread-safe. The store must outlive it.
 *
 * codecs  codecs that the metadata may name (also in other functions); NULL: built-in codecs only
 *
 * CUBED_E_NOT_FOUND if there is no array at PATH; if there is a group, the message lists its arrays. */
CUBED_MUST_CHECK cubed_status cb_zarr_open(cubed_store *store, const cb_codecs *codecs,
                                           const char *path, cb_zarr_array **out, cubed_error *err);
/* Begins the creation of an array at PATH: creates its parent groups, and returns a handle that can write chunks. The metadata
 * are written later, by cb_zarr_commit, so a partly written array never looks complete. Copies the strings of `meta`.
 * CUBED_E_EXISTS if PATH has an array or a group. */
CUBED_MUST_CHECK cubed_status cb_zarr_prepare(cubed_store *store, const char *path,
                                              const cb_zarr_meta *meta, cb_zarr_array **out,
                                              cubed_error *err);
/* Finds the kind of node at PATH (nothing, array, group) and its format. */
typedef enum cb_zarr_kind { CB_ZARR_NOTHING, CB_ZARR_ARRAY, CB_ZARR_GROUP } cb_zarr_kind;
CUBED_MUST_CHECK cubed_status cb_zarr_probe(cubed_store *store, const char *path,
                                            cb_zarr_kind *kind, int *format, cubed_error *err);
/* Like cb_zarr_probe, and returns the document that it has read: *doc receives the contents of zarr.json, which the caller owns,
 * and *version its version (cb_zarr_set_version). *doc is NULL if there is no zarr.json. */
CUBED_MUST_CHECK cubed_status cb_zarr_probe_doc(cubed_store *store, const char *path,
                                                cb_zarr_kind *kind, int *format, json_t **doc,
                                                cubed_object_version *version, cubed_error *err);
/* Creates missing groups above `path` and, if `self` is set, at `path`. Removes the consolidated metadata of existing groups. */
CUBED_MUST_CHECK cubed_status cb_zarr_make_parents(cubed_store *store, const char *path, int format,
                                                   bool self, cubed_error *err);
/* Creates a version of a document for the detection of changes, not for conditions of requests. It consists of the store's
 * version of the object (its size if the store has no versions) and the modification time. The time is needed because a rewritten
 * array often has identical metadata, and some stores derive versions from the bytes alone. */
void cb_zarr_set_version(const cubed_object_info *info, cubed_object_version *out);
/* Gets the version of an array's metadata document in this format, to detect changes; "" if there is no document. */
CUBED_MUST_CHECK cubed_status cb_zarr_version(cubed_store *store, const char *path, int format,
                                              cubed_object_version *version, cubed_error *err);
/* Fails with CUBED_E_EXISTS if PATH has an array or a group. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_absent(cubed_store *store, const char *path,
                                                   cubed_error *err);
/* Checks write access by putting and deleting an object below PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_writable(cubed_store *store, const char *path,
                                                     cubed_error *err);
/* Writes the metadata of an array from cb_zarr_prepare or cb_zarr_attach. */
CUBED_MUST_CHECK cubed_status cb_zarr_commit(const cb_zarr_array *z, cubed_error *err);
/* Creates a handle to an array that another process prepares. Does not access the store. */
CUBED_MUST_CHECK cubed_status cb_zarr_attach(cubed_store *store, const char *path,
                                             const cb_zarr_meta *meta, cb_zarr_array **out,
                                             cubed_error *err);
/* A fence prevents late requests of a run from changing the result of another run, which has taken over its place (the location
 * of the array). A fence is needed in stores in which a place is only a name, such as object stores, because late requests still
 * reach the same keys. */
typedef struct cb_zarr_fence {
    /* Fails with CUBED_E_EXISTS if the place no longer belongs to the caller's run. Called from any thread. */
    cubed_status (*check)(const void *ctx, cubed_error *err);
    const void *ctx;
    /* Call `check` before each put of a chunk, and put the chunk without conditions. Set for chunks that are uploaded in parts if
     * the store supports no conditions for such uploads. */
    bool in_parts;
    /* Also put chunks that contain only the fill value, because processes of the previous run may still put chunks. */
    bool all;
} cb_zarr_fence;
/* From now on, puts of chunks and metadata through this handle have a condition: the object must not exist, or must still be the
 * object that was read before `check` succeeded. So an object of another run is never replaced. The fence must outlive the
 * handle. Call this function before other threads use the handle. */
void cb_zarr_set_fence(cb_zarr_array *z, const cb_zarr_fence *fence);
/* Returns true if a key ("c", "c/0/1", "c.0.1", "0.1", "0/1") may be a chunk of an array, or a prefix of chunks. */
bool cb_zarr_may_be_chunk(const char *key);
/* Removes all objects below PATH whose keys may be chunks: passes them to `remove` in batches, or deletes them if `remove` is
 * NULL. Keeps other objects, which may belong to the user. */
CUBED_MUST_CHECK cubed_status cb_zarr_remove_chunks(cubed_store *store, const char *path,
                                                    cb_store_batch_fn remove, void *ctx,
                                                    cubed_error *err);
void cb_zarr_close(cb_zarr_array *z);
const cb_zarr_meta *cb_zarr_get_meta(const cb_zarr_array *z);
const char *cb_zarr_path(const cb_zarr_array *z);
/* Returns the version of the metadata document that cb_zarr_open has read (cb_zarr_set_version); "" for other handles. */
const cubed_object_version *cb_zarr_opened_version(const cb_zarr_array *z);
cubed_store *cb_zarr_store(const cb_zarr_array *z);

/* Completes the metadata of a new array: form of the chunk keys, separator, codecs and `inner`. The caller has set format, dtype,
 * ndim, shape, chunk and fill value. The attributes must be a JSON object; NULL becomes "{}".
 *
 * codecs_json  v3: the list "codecs". v2: the compressor (an object or null), or a list of filters that ends with the compressor.
 *              NULL: zstd at level 1
 *
 * In format 2, a fill value of 0 (NaT for times) becomes null. Otherwise many readers would treat these elements as missing. If
 * the fill value is null, chunks that contain only this value are stored, too (but see `missing` of cb_zarr_write_chunk). */
CUBED_MUST_CHECK cubed_status cb_zarr_meta_defaults(cb_zarr_meta *meta, const cb_codecs *codecs,
                                                    const char *codecs_json, cubed_error *err);
/* Returns the list "codecs" of format 3 for shards, as a JSON string that is allocated in the zone. `chunk` is the shape of the
 * inner chunks, and `codecs_json` their codecs (NULL: the default). The index is at the end of a shard. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_codecs(cb_zone *zone, int ndim, const int64_t *chunk,
                                                   const char *codecs_json, const char **out,
                                                   cubed_error *err);
/* Returns the value that readers show for missing chunks without a fill value: NaT for times, otherwise zeros. */
cubed_scalar cb_fill_default(cubed_dtype dtype);
/* Returns true if the value is NaN or NaT, which marks missing values whatever the attributes say. */
bool cb_fill_is_nan(cubed_dtype dtype, const cubed_scalar *v);

/* The marker of missing values (CF's _FillValue), as Xarray reads and writes it. In format 2, the marker is the fill value. In
 * format 3, the marker is the attribute _FillValue, and the fill value is only the value of missing chunks. */
typedef struct cb_zarr_missing {
    cubed_dtype dtype;
    int from; /* format from which attributes and fill value were read; 0: not from an array */
    const char *attrs; /* attributes as a JSON object; may be NULL */
    bool has_fill;     /* the fill value is defined and must be kept */
    cubed_scalar fill;
} cb_zarr_missing;
/* Converts the marker from the format m->from to the format `to`, which may be the same: changes `attrs` and the fill value.
 * Strings are allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_convert_missing(cb_zarr_missing *m, int to, cb_zone *zone,
                                                      cubed_error *err);
/* Returns the number of chunks (stored objects) along axis d. */
int64_t cb_zarr_count(const cb_zarr_meta *meta, int d);
/* Returns the index, along axis d, of the chunk that contains position `at` of the array. */
int64_t cb_zarr_find(const cb_zarr_meta *meta, int d, int64_t at);
/* Sets idx[ndim] to the index of chunk number i. Chunks are numbered in C order of their grid. */
void cb_zarr_unravel(const cb_zarr_meta *meta, int64_t i, int64_t *idx);
/* Returns true if chunks (for shards: the shards) are irregular along an axis. Inner chunks of shards are always regular. */
bool cb_zarr_is_irregular(const cb_zarr_meta *meta);
/* Returns "chunk_shapes" of the metadata of irregular chunks or shards, as a JSON string that is allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_shapes(const cb_zarr_meta *meta, cb_zone *zone,
                                                   const char **out, cubed_error *err);
/* Returns true if all bits of the fill value are zero. */
bool cb_zarr_fill_is_zero(const cb_zarr_meta *meta);
/* The functions with names in _need return the memory of an operation in addition to the decoded data. */

/* Reading a whole chunk. */
cb_need cb_zarr_read_need(const cb_zarr_meta *meta);
/* Reading a whole inner chunk of a shard and the shard's index; without shards, reading a whole chunk. */
cb_need cb_zarr_read_inner_need(const cb_zarr_meta *meta);
/* Reading a part of an inner chunk and the shard's index. */
cb_need cb_zarr_subread_inner_need(const cb_zarr_meta *meta);
/* Writing a whole chunk. */
cb_need cb_zarr_write_need(const cb_zarr_meta *meta);
/* Returns the decoded size in bytes of a chunk; the maximum if chunks are irregular. */
size_t cb_zarr_chunk_bytes(const cb_zarr_meta *meta);

/* Result of a prefetch: the whole object of a chunk, or the range of an inner chunk or of an index. */
typedef struct cb_zarr_fetched {
    cubed_status status;
    const cubed_error *err; /* error if status is neither CUBED_OK nor CUBED_E_NOT_FOUND */
    const void *data;
    size_t size;
    cubed_object_info info; /* size and version of the whole object */
} cb_zarr_fetched;
/* Returns the maximum encoded size in bytes of a chunk. */
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
/* The following functions read only the index of a shard and the inner chunks that are needed. idx[ndim] is the index of an inner
 * chunk in the grid of all inner chunks of the array. `index` is a decoded shard index from cb_zarr_read_index. */

/* Returns the size in bytes of a decoded index, including the size and version of the shard; 0 if chunks are not shards. */
size_t cb_zarr_index_bytes(const cb_zarr_meta *meta);
/* Returns the number, in the grid of shards, of the shard with this inner chunk. */
int64_t cb_zarr_shard_number(const cb_zarr_meta *meta, const int64_t *idx);
/* Reads and decodes the index of the shard with this inner chunk.
 *
 * there   the encoded index if it was prefetched; otherwise NULL
 * index   receives cb_zarr_index_bytes; if the shard is missing, all inner chunks are marked as missing
 * stored  is increased by the number of encoded bytes */
CUBED_MUST_CHECK cubed_status cb_zarr_read_index(const cb_zarr_array *z, const int64_t *idx,
                                                 const cb_zarr_fetched *there, void *index,
                                                 cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* A part of a chunk to read: elements lo[d] to hi[d] - 1 along axis d, counted from the chunk's first element. `dst` receives
 * them, contiguous in C order. */
typedef struct cb_zarr_extract {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
    void *dst;
} cb_zarr_extract;
/* Reads a part of an inner chunk. A missing chunk is filled with the fill value. Increases *stored by the encoded bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread_inner(const cb_zarr_array *z, const int64_t *idx,
                                                    const void *index, const cb_zarr_extract *part,
                                                    cb_arena *scratch, uint64_t *stored,
                                                    cubed_error *err);
/* Reads and decodes an inner chunk to `dst`. `there` has its encoded bytes if they were prefetched; otherwise NULL. A missing
 * chunk is filled with the fill value. Increases *stored by the encoded bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, const cb_zarr_fetched *there,
                                                 void *dst, cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Gets the key of the shard with this inner chunk. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_key(const cb_zarr_array *z, const int64_t *idx,
                                                char *key, size_t cap, cubed_error *err);
/* Returns the byte range of the encoded index in the shard with this inner chunk. */
cubed_range cb_zarr_index_range(const cb_zarr_meta *meta, const int64_t *idx);
/* Returns the maximum encoded size in bytes of an index. */
size_t cb_zarr_index_bound(const cb_zarr_meta *meta);
/* Returns the memory to decode an index, in addition to the encoded and the decoded index. */
cb_need cb_zarr_index_need(const cb_zarr_meta *meta);
/* Returns the maximum encoded size in bytes of an inner chunk. */
size_t cb_zarr_inner_bound(const cb_zarr_meta *meta);
/* Looks up an inner chunk in the index: *where receives its byte range in the shard (size 0 if it is missing), *version the
 * version of the shard from which the index was read. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, cubed_range *where,
                                                 cubed_object_version *version, cubed_error *err);
/* Returns the minimum length in bytes of a contiguous run of elements for which reading a part of a chunk is faster than reading
 * the whole chunk. Returns 0 if parts cannot be read: the chunk must be stored without codecs, or in independent blocks, and
 * chunks must be regular. */
size_t cb_zarr_subread_run(const cb_zarr_meta *meta);
/* Methods of reading a part of a chunk, or of an inner chunk of a shard, without memory for the whole chunk. A run is a
 * contiguous piece of the part, in the chunk's stored order. */
typedef enum cb_zarr_parts {
    CB_ZARR_NO_PARTS, /* not possible */
    /* Elements are stored unencoded, possibly with another order of axes or bytes: only the bytes of the part are read. */
    CB_ZARR_RANGES,
    /* The codec encodes a chunk in blocks. Only blocks with runs are decoded: once for all their runs, or once for each run if a
     * block may have more than MOST_RUNS runs (zarr/codec_ranges.c). */
    CB_ZARR_BLOCKS,
    /* Like CB_ZARR_BLOCKS, but a block with more runs is also decoded only once, and kept in memory for all its runs. */
    CB_ZARR_BLOCKS_ONCE,
    CB_ZARR_STREAM, /* the whole chunk is read and decoded in pieces; bytes outside the part are dropped */
} cb_zarr_parts;
/* Returns the method for chunks or, if `inner` is set, for inner chunks of shards. */
cb_zarr_parts cb_zarr_parts_of(const cb_zarr_meta *meta, bool inner);
/* Returns the memory for reading a part of a chunk in addition to the part; for an inner chunk of a shard (`inner`), also in
 * addition to the shard's index. */
cb_need cb_zarr_part_need(const cb_zarr_meta *meta, bool inner);
/* Reads a part of chunk idx[ndim]. A missing chunk is filled with the fill value. *stored receives the number of encoded bytes
 * that were read, 0 if the chunk is missing. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread(const cb_zarr_array *z, const int64_t *idx,
                                              const cb_zarr_extract *part, cb_arena *scratch,
                                              uint64_t *stored, cubed_error *err);
/* A chunk that is not part of a Zarr array: an object that contains the elements, unencoded and in C order. */
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
/* Returns the maximum decoded size in bytes of a codec block (a part of an encoded chunk that can be decoded alone); 0 if chunks
 * cannot be decoded block by block. */
size_t cb_zarr_codec_block_bytes(const cb_zarr_meta *meta);
/* Finds the codec block that contains byte `at` of the decoded chunk, without decoding it: reads only the first bytes of the
 * encoded chunk. *block receives the block's byte range in the decoded chunk; its size is 0 if the chunk is missing. Needs the
 * memory of cb_zarr_subread. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Reads and decodes the codec block that contains byte `at` of the decoded chunk, to `dst` with room for
 * cb_zarr_codec_block_bytes. *block receives the block's byte range in the decoded chunk. If the chunk is missing, a block of
 * fill values is returned. Needs the memory of cb_zarr_subread. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, void *dst, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Encodes and writes a whole chunk. Thread-safe for different chunks.
 *
 * src      the chunk in C order; the caller has padded it beyond the array's edge
 * missing  the chunk was computed from missing chunks only, so it may be omitted even if the fill value is null
 * stored   receives the encoded size, 0 if the chunk was omitted; may be NULL */
CUBED_MUST_CHECK cubed_status cb_zarr_write_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const void *src, bool missing, cb_arena *scratch,
                                                  uint64_t *stored, cubed_error *err);
/* A part of a chunk, not empty: elements lo[d] to hi[d] - 1 along axis d, counted from the chunk's first element. */
typedef struct cb_zarr_part {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
} cb_zarr_part;
/* Statistics of cb_zarr_merge_chunk. */
typedef struct cb_zarr_merged {
    uint64_t read, stored; /* encoded bytes that were read and written */
    uint64_t conflicts;    /* number of repetitions because another writer had replaced the chunk */
} cb_zarr_merged;
/* Writes a part of a chunk and keeps the rest of the stored chunk, even if other processes write other parts at the same time.
 * Reads the stored chunk, changes the part, and puts the chunk under the condition that it has not changed in the store. If it
 * has changed, repeats these steps. If the part covers the whole chunk, puts it without reading.
 *
 * src  a whole chunk in C order, of which only the part is used
 *
 * CUBED_E_UNSUPPORTED if the store has no versions of objects. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_zarr_merge_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const cb_zarr_part *part, const void *src,
                                                  cb_arena *scratch, cb_zarr_merged *done,
                                                  cubed_error *err);
/* Returns the arena memory for cb_zarr_merge_chunk in addition to `src`. */
cb_need cb_zarr_merge_need(const cb_zarr_meta *meta);
/* Sets *honoured to whether the store enforces conditions of puts. Puts an object below PATH several times, then deletes it. */
CUBED_MUST_CHECK cubed_status cb_zarr_try_conditions(cubed_store *store, const char *path,
                                                     bool *honoured, cubed_error *err);
/* Fails with CUBED_E_UNSUPPORTED if the store does not enforce conditions. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_conditions(cubed_store *store, const char *path,
                                                       cubed_error *err);
/* Returns true if chunks can be written in pieces, which are byte ranges of the chunk in C order: chunks must be regular and
 * without codecs, and the store must support pieces. */
bool cb_zarr_takes_pieces(const cb_zarr_array *z);
/* Begins to write chunk idx[ndim] in pieces. The caller frees *out with cb_zarr_free_pieces. */
CUBED_MUST_CHECK cubed_status cb_zarr_begin_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                   cubed_store_pieces **out, cubed_error *err);
/* Writes one piece: `size` bytes at byte `offset` of the chunk. Sets *holds to true if the piece must be stored, because an
 * element differs from the fill value, or because empty chunks are also stored; otherwise leaves *holds unchanged. Thread-safe
 * for different pieces. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_piece(const cb_zarr_array *z, cubed_store_pieces *pieces,
                                                uint64_t offset, const void *src, size_t size,
                                                bool *holds, cubed_error *err);
/* Completes the chunk from its pieces. `holds` is true if a piece has set it. Otherwise the chunk is empty: the chunk of an
 * earlier attempt is deleted instead. May be retried after a failure. */
CUBED_MUST_CHECK cubed_status cb_zarr_end_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                 cubed_store_pieces *pieces, bool holds,
                                                 uint64_t *stored, cubed_error *err);
/* Frees the pieces. Discards them if the chunk was not completed. */
void cb_zarr_free_pieces(const cb_zarr_array *z, cubed_store_pieces *pieces);
/* Sets *found to true if the stored chunk exists and is complete. An interrupted run may have left an incomplete chunk. Checks
 * the size of the object and the sizes in headers, trailers and indices; decodes the chunk if its codecs state no sizes. Deletes
 * a damaged chunk. Allocates memory outside the arenas: at most a decoded chunk and cb_zarr_read_need. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_whole(const cb_zarr_array *z, const int64_t *idx,
                                                 bool *found, cubed_error *err);
/* Gets the key of chunk idx[ndim] of the array at `path`. */
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_key(const cb_zarr_meta *meta, const char *path,
                                                const int64_t *idx, char *key, size_t cap,
                                                cubed_error *err);

/* Parse metadata documents. Strings are allocated in the zone. `where` names the document in messages. `zattrs` is NULL if there
 * is no .zattrs. */
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

/* Converts a JSON value to a string that is allocated in the zone. Real numbers have 17 digits. */
CUBED_MUST_CHECK cubed_status cb_json_text(const json_t *v, cb_zone *zone, const char **out,
                                           cubed_error *err);

/* Converts the attributes of an array or a group to a JSON string that is allocated in the zone. The types of attributes are
 * recorded in it as in cubed_array_attrs. */
CUBED_MUST_CHECK cubed_status cb_zarr_attrs_text(const json_t *attrs, cb_zone *zone,
                                                 const char **out, cubed_error *err);

/* Creates a group at `path`, and its parent groups. If a group exists there, its contents are kept, and only its attributes are
 * replaced.
 *
 * fence      if not NULL, the metadata are put only if they have not changed since fence->check succeeded
 * attrs      attributes as a JSON object; NULL: none for a new group, and those of an existing group are kept. The attributes of
 *            an existing group of the other format are also kept
 * overwrite  remove everything at the path first; otherwise an array at the path is CUBED_E_EXISTS */
CUBED_MUST_CHECK cubed_status cb_zarr_create_group(cubed_store *store, const cb_zarr_fence *fence,
                                                   const char *path, int format, const char *attrs,
                                                   bool overwrite, cubed_error *err);
/* Consolidates the metadata of a group: copies the metadata of all arrays and groups below the group, if they have the same
 * format, into the group's own metadata, which many libraries read first. cb_zarr_prepare and cb_zarr_create_group remove these
 * copies when they add something. If `fence` is not NULL, the metadata are put only if they have not changed since fence->check
 * succeeded. A damaged .zmetadata is replaced, because it contains only copies. */
CUBED_MUST_CHECK cubed_status cb_zarr_consolidate(cubed_store *store, const cb_zarr_fence *fence,
                                                  const char *path, cubed_error *err);
/* Changes the length of an array along an axis from `from` to `to`, in its metadata only. CUBED_E_EXISTS if the present length is
 * not `from`; CUBED_E_UNSUPPORTED if the array has irregular chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_set_length(cubed_store *store, const char *path, int format,
                                                 int axis, int64_t from, int64_t to,
                                                 cubed_error *err);
/* A group or an array that a listing has found. */
typedef struct cb_zarr_entry {
    /* Relative to the store's root, or in cb_zarr_members to the group. Valid during the callback. */
    const char *path;
    bool is_array;
    int format;
} cb_zarr_entry;
typedef cubed_status (*cb_zarr_walk_fn)(void *ctx, const cb_zarr_entry *entry, cubed_error *err);
/* Lists the store, and calls `fn` for every group and array at and below PATH, in the order of their paths, so parents come
 * first. CUBED_E_NOT_FOUND if there is none. */
CUBED_MUST_CHECK cubed_status cb_zarr_walk(cubed_store *store, const char *path, cb_zarr_walk_fn fn,
                                           void *ctx, cubed_error *err);
/* Calls `fn` for every group and array directly in the group at PATH, and sets *format to the format of the group. If
 * `consolidated` is set, takes the members from the group's consolidated metadata if it has any; these may be out of date.
 * Otherwise lists the store. CUBED_E_NOT_FOUND if there is no group. */
CUBED_MUST_CHECK cubed_status cb_zarr_members(cubed_store *store, const char *path,
                                              bool consolidated, int *format, cb_zarr_walk_fn fn,
                                              void *ctx, cubed_error *err);
/* Appends the attributes of a group to `out` as a JSON string. */
CUBED_MUST_CHECK cubed_status cb_zarr_group_attrs(cubed_store *store, const char *path, cb_buf *out,
                                                  cubed_error *err);
/* Counts the stored chunks of the array at PATH, and their encoded bytes: all objects below PATH except metadata. */
CUBED_MUST_CHECK cubed_status cb_zarr_stored(cubed_store *store, const char *path, uint64_t *chunks,
                                             uint64_t *bytes, cubed_error *err);

#endif
