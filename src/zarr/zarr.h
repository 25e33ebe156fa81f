/* Zarr v2 and v3 arrays and groups over a store. */
#ifndef CB_ZARR_ZARR_H
#define CB_ZARR_ZARR_H

#include "codec/codec.h"
#include "cubed/dtype.h"
#include "store/core/store.h"

/* Everything that metadata says. `zone` of the array owns the strings. */
typedef struct cb_zarr_meta {
    int format; /* 2 or 3 */
    cubed_dtype dtype;
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    int64_t chunk[CUBED_MAX_NDIM]; /* of one stored object; >= 1, also where the shape is 0 */
    /* Irregular chunks (v3's "rectilinear"): where they begin along an axis, nchunks + 1 numbers; `chunk`
     * has the longest then. NULL: all are alike. */
    const int64_t *starts[CUBED_MAX_NDIM];
    int64_t nchunks[CUBED_MAX_NDIM];
    int64_t inner[CUBED_MAX_NDIM]; /* what can be read alone: of shards inner chunks, else chunks */
    cubed_scalar fill;             /* where v2 says null: what readers show, NaT or 0 */
    bool fill_is_null;             /* v2 only */
    bool big_endian;               /* of the stored bytes */
    bool order_f;                  /* v2 only; v3 says it with a transpose codec */
    char separator;                /* '.' or '/' */
    bool v2_keys;                  /* chunk keys "0.0" instead of "c/0/0" */
    /* Chunks that hold nothing but the fill value are not written; not part of the metadata. */
    bool skip_empty;
    const char *dim_names[CUBED_MAX_NDIM]; /* NULL where there is none */
    const char *attrs;                     /* JSON object text, never NULL ("{}"): kept as it is,
                                              without v2's _ARRAY_DIMENSIONS; Python's NaN and
                                              Infinity have become strings */
    cb_codec_chain codecs;
} cb_zarr_meta;

typedef struct cb_zarr_array cb_zarr_array;
/* Memory that an open one takes. */
size_t cb_zarr_bytes(const cb_zarr_array *z);

/* Whether the store is a file of NetCDF or HDF5, whose metadata only look like documents of Zarr. */
bool cb_zarr_is_foreign(const cubed_store *store);
/* CUBED_E_NOT_FOUND: there is no `what` ("array") at a path. Zarr is named unless the store is a file of another format. */
CUBED_MUST_CHECK cubed_status cb_zarr_not_there(cubed_store *store, const char *what,
                                                const char *path, cubed_error *err);
/* Opens PATH ("" for the root) of a store, format 3 first, then 2. The store must outlive it. `codecs` (NULL: the
 * library's own), here and below: those that metadata may name.
 * CUBED_E_NOT_FOUND if there is no array there; if there is a group, the message says so and lists
 * its arrays. Immutable and thread-safe afterwards. */
CUBED_MUST_CHECK cubed_status cb_zarr_open(cubed_store *store, const cb_codecs *codecs,
                                           const char *path, cb_zarr_array **out, cubed_error *err);
/* A new array in two steps, so that one that is half written never looks whole. prepare: an
 * existing array or group at PATH is CUBED_E_EXISTS; makes the groups above. The handle writes chunks. commit: writes the metadata. Strings are copied. */
CUBED_MUST_CHECK cubed_status cb_zarr_prepare(cubed_store *store, const char *path,
                                              const cb_zarr_meta *meta, cb_zarr_array **out,
                                              cubed_error *err);
/* What is at PATH, and in which format. */
typedef enum cb_zarr_kind { CB_ZARR_NOTHING, CB_ZARR_ARRAY, CB_ZARR_GROUP } cb_zarr_kind;
CUBED_MUST_CHECK cubed_status cb_zarr_probe(cubed_store *store, const char *path,
                                            cb_zarr_kind *kind, int *format, cubed_error *err);
/* The same; *doc is zarr.json, which has been read for that, of which version; NULL where there is none. */
CUBED_MUST_CHECK cubed_status cb_zarr_probe_doc(cubed_store *store, const char *path,
                                                cb_zarr_kind *kind, int *format, json_t **doc,
                                                cubed_object_version *version, cubed_error *err);
/* Groups above `path`, and at it if `self`, made where nothing is. Those that are there lose their
 * consolidated metadata. */
CUBED_MUST_CHECK cubed_status cb_zarr_make_parents(cubed_store *store, const char *path, int format,
                                                   bool self, cubed_error *err);
/* The version of the metadata of an array of that format, for comparing: "" where there is none. */
CUBED_MUST_CHECK cubed_status cb_zarr_version(cubed_store *store, const char *path, int format,
                                              cubed_object_version *version, cubed_error *err);
/* CUBED_E_EXISTS where there is an array or a group at PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_absent(cubed_store *store, const char *path,
                                                   cubed_error *err);
/* Writes and deletes an object below PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_writable(cubed_store *store, const char *path,
                                                     cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_commit(const cb_zarr_array *z, cubed_error *err);
/* A handle to an array that is prepared by somebody else: touches no store. */
CUBED_MUST_CHECK cubed_status cb_zarr_attach(cubed_store *store, const char *path,
                                             const cb_zarr_meta *meta, cb_zarr_array **out,
                                             cubed_error *err);
/* Keeps late requests of a run from changing the result of another run that has taken its place over, in stores where a place
 * is nothing but a name. */
typedef struct cb_zarr_fence {
    /* CUBED_E_EXISTS if the place is no longer the caller's. Called from any thread. */
    cubed_status (*check)(const void *ctx, cubed_error *err);
    const void *ctx;
    /* Chunks are put without conditions, each after a check: they are so large that the store puts them in parts, and it has no
     * conditions for those. */
    bool in_parts;
    /* Chunks of nothing but the fill value are put, too: processes of a run that had the place may still put chunks. */
    bool all;
} cb_zarr_fence;
/* From now on chunks and metadata are put under conditions: an object must not exist, or must be the one that was seen before
 * `check` succeeded. So an object of another run is never replaced. Borrowed; before other threads use the handle. */
void cb_zarr_set_fence(cb_zarr_array *z, const cb_zarr_fence *fence);
/* Whether an array may have a chunk of that key ("c", "c/0/1", "c.0.1", "0.1", "0/1"), or chunks below it. */
bool cb_zarr_may_be_chunk(const char *key);
/* Removes every object at PATH that may be a chunk, by `remove`, or at once if that is NULL; other files stay, they may be the
 * user's. */
CUBED_MUST_CHECK cubed_status cb_zarr_remove_chunks(cubed_store *store, const char *path,
                                                    cb_store_batch_fn remove, void *ctx,
                                                    cubed_error *err);
void cb_zarr_close(cb_zarr_array *z);
const cb_zarr_meta *cb_zarr_get_meta(const cb_zarr_array *z);
const char *cb_zarr_path(const cb_zarr_array *z);
/* Of the metadata that it was opened by; "" where stores have none, or it was attached. */
const cubed_object_version *cb_zarr_opened_version(const cb_zarr_array *z);
cubed_store *cb_zarr_store(const cb_zarr_array *z);

/* Sets default keys and separator and the codecs of a new array: format, dtype, ndim, shape and chunk are set
 * before. `codecs_json`: v3 "codecs" list, or for format 2 the compressor object or null, or a list of filters
 * that ends with one of those; NULL for zstd at level 1. A fill value of 0 (NaT of times) becomes null in format
 * 2, where it would mean "missing" to many readers; where it is null no chunk is skipped. The attributes must be
 * an object. */
CUBED_MUST_CHECK cubed_status cb_zarr_meta_defaults(cb_zarr_meta *meta, const cb_codecs *codecs,
                                                    const char *codecs_json, cubed_error *err);
/* JSON text, in the zone, of format 3 codecs that store chunks of this shape in shards, each through
 * `codecs_json` (NULL: the default), with an index behind them. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_codecs(cb_zone *zone, int ndim, const int64_t *chunk,
                                                   const char *codecs_json, const char **out,
                                                   cubed_error *err);
/* What readers show of chunks that are not there and have no fill value: NaT of times, else zeros. */
cubed_scalar cb_fill_default(cubed_dtype dtype);
/* Whether the fill value is a NaN or NaT, and so missing whatever metadata says. */
bool cb_fill_is_nan(cubed_dtype dtype, const cubed_scalar *v);

/* What marks missing values (CF's _FillValue) is the fill value in format 2, and in format 3 an attribute, in
 * which the fill value only stands for chunks that are not there: as Xarray reads and writes them. */
typedef struct cb_zarr_missing {
    cubed_dtype dtype;
    int from;          /* the format that attributes and fill value have been read from; 0: none */
    const char *attrs; /* JSON object text, may be NULL */
    bool has_fill;     /* a fill value is to be kept */
    cubed_scalar fill;
} cb_zarr_missing;
/* The same in another format, or in the same: changes `attrs` and the fill value. Text goes to the zone. */
CUBED_MUST_CHECK cubed_status cb_zarr_convert_missing(cb_zarr_missing *m, int to, cb_zone *zone,
                                                      cubed_error *err);
/* Along an axis, irregular or not: objects, and that which holds position `at`, within the axis. */
int64_t cb_zarr_count(const cb_zarr_meta *meta, int d);
int64_t cb_zarr_find(const cb_zarr_meta *meta, int d, int64_t at);
/* Of stored objects. Chunks within shards are all alike: those can be read in a regular grid. */
bool cb_zarr_is_irregular(const cb_zarr_meta *meta);
/* JSON text, in the zone, of "chunk_shapes" in the metadata of irregular chunks or shards. */
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_shapes(const cb_zarr_meta *meta, cb_zone *zone,
                                                   const char **out, cubed_error *err);
/* Whether the fill value has no bit set. */
bool cb_zarr_fill_is_zero(const cb_zarr_meta *meta);
/* Memory that reading (writing) one chunk takes from the arena beside the decoded chunk itself. */
cb_need cb_zarr_read_need(const cb_zarr_meta *meta);
/* Of what can be read alone: of shards, an inner chunk and the index. */
cb_need cb_zarr_read_inner_need(const cb_zarr_meta *meta);
/* Of a part of an inner chunk of a shard, with the index. */
cb_need cb_zarr_subread_inner_need(const cb_zarr_meta *meta);
cb_need cb_zarr_write_need(const cb_zarr_meta *meta);
size_t cb_zarr_chunk_bytes(const cb_zarr_meta *meta);

/* What a get came to that somebody else has made: of the whole object of a chunk, or of the range that an inner chunk
 * or an index is. */
typedef struct cb_zarr_fetched {
    cubed_status status;
    const cubed_error *err; /* if that is none of CUBED_OK and CUBED_E_NOT_FOUND */
    const void *data;
    size_t size;
    cubed_object_info info;
} cb_zarr_fetched;
/* The most bytes of a chunk's object. */
size_t cb_zarr_chunk_bound(const cb_zarr_meta *meta);

/* Reads and decodes the chunk at grid position idx[ndim] into dst (a whole chunk in C order, also at the edge,
 * where what is beyond the shape is unspecified; an irregular one in its own shape). A missing chunk is
 * filled. `there`: its object, or NULL. *stored (may be NULL) is the encoded size, 0 if missing. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                 const cb_zarr_fetched *there, void *dst,
                                                 cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Of a shard only its index and the inner chunks that are wanted need be read. Bytes of an index in
 * memory, which begins with the size of the object; 0 if chunks are no shards. */
size_t cb_zarr_index_bytes(const cb_zarr_meta *meta);
/* The number in the grid of shards of the one that holds inner chunk idx[ndim]. */
int64_t cb_zarr_shard_number(const cb_zarr_meta *meta, const int64_t *idx);
CUBED_MUST_CHECK cubed_status cb_zarr_read_index(const cb_zarr_array *z, const int64_t *idx,
                                                 const cb_zarr_fetched *there, void *index,
                                                 cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* Reads the elements lo..hi-1 of inner chunk idx[ndim], like cb_zarr_subread. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread_inner(const cb_zarr_array *z, const int64_t *idx,
                                                    const void *index, const int64_t *lo,
                                                    const int64_t *hi, void *dst, cb_arena *scratch,
                                                    uint64_t *stored, cubed_error *err);
/* Reads inner chunk idx[ndim] by the index of its shard. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, const cb_zarr_fetched *there,
                                                 void *dst, cb_arena *scratch, uint64_t *stored,
                                                 cubed_error *err);
/* The object of the shard that holds it. */
CUBED_MUST_CHECK cubed_status cb_zarr_shard_key(const cb_zarr_array *z, const int64_t *idx,
                                                char *key, size_t cap, cubed_error *err);
/* Where the encoded index of the shard that holds it lies, the most bytes of one, and what decoding one takes. */
cubed_range cb_zarr_index_range(const cb_zarr_meta *meta, const int64_t *idx);
size_t cb_zarr_index_bound(const cb_zarr_meta *meta);
cb_need cb_zarr_index_need(const cb_zarr_meta *meta);
/* The most bytes of an encoded inner chunk. */
size_t cb_zarr_inner_bound(const cb_zarr_meta *meta);
/* Where it lies (size 0: it is not there), and the version of the shard that the index is of. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_inner(const cb_zarr_array *z, const int64_t *idx,
                                                 const void *index, cubed_range *where,
                                                 cubed_object_version *version, cubed_error *err);
/* Parts of a chunk can be read by themselves where it is stored as it is, or in blocks that are
 * decoded by themselves: bytes of a run of elements from which on this is worth its while; 0 if it
 * cannot be done. */
size_t cb_zarr_subread_run(const cb_zarr_meta *meta);
/* How a part of a chunk, or of an inner chunk of a shard, can be read without memory for all of it. */
typedef enum cb_zarr_parts {
    CB_ZARR_NO_PARTS,
    CB_ZARR_RANGES,      /* elements are stored as they are, in some order: their bytes are read */
    CB_ZARR_BLOCKS,      /* the blocks that hold a run of elements are decoded, for each run */
    CB_ZARR_BLOCKS_ONCE, /* the same; a block that holds several runs is decoded once */
    CB_ZARR_STREAM,      /* all of the chunk is decoded, piece by piece */
} cb_zarr_parts;
cb_zarr_parts cb_zarr_parts_of(const cb_zarr_meta *meta, bool inner);
/* Memory that this takes beside the part, and the index of a shard. */
cb_need cb_zarr_part_need(const cb_zarr_meta *meta, bool inner);
/* Reads the elements lo..hi-1 of a chunk, counted from its first one, into dst: densely, in C
 * order. */
CUBED_MUST_CHECK cubed_status cb_zarr_subread(const cb_zarr_array *z, const int64_t *idx,
                                              const int64_t *lo, const int64_t *hi, void *dst,
                                              cb_arena *scratch, uint64_t *stored,
                                              cubed_error *err);
/* The most bytes of a block, where chunks can be decoded block by block; else 0. */
size_t cb_zarr_codec_block_bytes(const cb_zarr_meta *meta);
/* Which block of a chunk byte `at` of the decoded chunk is in, by the chunk's first bytes: *block says which bytes of the
 * chunk that are, none where the chunk is not there. Takes what cb_zarr_subread takes. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Decodes the block of a chunk that byte `at` of the decoded chunk is in: all of it, to dst, which has room for
 * cb_zarr_codec_block_bytes. *block says which bytes of the chunk that are. Takes what cb_zarr_subread takes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_codec_block(const cb_zarr_array *z, const int64_t *idx,
                                                       size_t at, void *dst, cubed_range *block,
                                                       cb_arena *scratch, uint64_t *stored,
                                                       cubed_error *err);
/* Encodes and stores a whole chunk in C order; at the edge the caller has filled what is beyond
 * the shape. `missing`: it is made of chunks that are not there, so that where the fill value is null it need not be
 * either. Thread-safe for different chunks. */
CUBED_MUST_CHECK cubed_status cb_zarr_write_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const void *src, bool missing, cb_arena *scratch,
                                                  uint64_t *stored, cubed_error *err);
/* The part of a chunk that a caller has, in elements from the chunk's first one: lo[d] to hi[d] - 1 along each axis, not
 * empty. */
typedef struct cb_zarr_part {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
} cb_zarr_part;
typedef struct cb_zarr_merged {
    uint64_t read, stored; /* encoded bytes */
    uint64_t conflicts; /* puts that were repeated because another writer had replaced the chunk */
} cb_zarr_merged;
/* Stores the elements of a part and keeps the rest of the chunk, also if other processes do the same with other parts at
 * the same time: the chunk is read, and put if it still is what was read. A part that covers the whole chunk is put as
 * cb_zarr_write_chunk does. `src` is a whole chunk in C order, of which only the part counts. Thread-safe.
 * CUBED_E_UNSUPPORTED if the store has no versions. */
CUBED_MUST_CHECK cubed_status cb_zarr_merge_chunk(const cb_zarr_array *z, const int64_t *idx,
                                                  const cb_zarr_part *part, const void *src,
                                                  cb_arena *scratch, cb_zarr_merged *done,
                                                  cubed_error *err);
/* Memory that it takes from the arena in addition to `src`. */
cb_need cb_zarr_merge_need(const cb_zarr_meta *meta);
/* Whether the store refuses puts whose conditions do not hold. Writes and deletes an object below PATH. */
CUBED_MUST_CHECK cubed_status cb_zarr_try_conditions(cubed_store *store, const char *path,
                                                     bool *honoured, cubed_error *err);
/* CUBED_E_UNSUPPORTED if it does not. */
CUBED_MUST_CHECK cubed_status cb_zarr_check_conditions(cubed_store *store, const char *path,
                                                       cubed_error *err);
/* A chunk without codecs may be put piece by piece, as bytes of it in C order, where the store takes pieces. */
bool cb_zarr_takes_pieces(const cb_zarr_array *z);
CUBED_MUST_CHECK cubed_status cb_zarr_begin_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                   cubed_store_pieces **out, cubed_error *err);
/* *holds becomes true if not all elements are the fill value that chunks which are not there have. Thread-safe for different
 * pieces. */
CUBED_MUST_CHECK cubed_status cb_zarr_put_piece(const cb_zarr_array *z, cubed_store_pieces *pieces,
                                                uint64_t offset, const void *src, size_t size,
                                                bool *holds, cubed_error *err);
/* They become the chunk, if it holds anything, and are the caller's to free. It may be tried again. */
CUBED_MUST_CHECK cubed_status cb_zarr_end_pieces(const cb_zarr_array *z, const int64_t *idx,
                                                 cubed_store_pieces *pieces, bool holds,
                                                 uint64_t *stored, cubed_error *err);
void cb_zarr_free_pieces(const cb_zarr_array *z, cubed_store_pieces *pieces);
/* Whether a whole chunk is there, of what an earlier run left: by its size and what its codecs say of it in headers,
 * trailers and indices, or by decoding it where they say nothing. One that is not whole is deleted. Takes memory
 * of its own, up to a chunk and what reading it takes. */
CUBED_MUST_CHECK cubed_status cb_zarr_find_whole(const cb_zarr_array *z, const int64_t *idx,
                                                 bool *found, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_chunk_key(const cb_zarr_meta *meta, const char *path,
                                                const int64_t *idx, char *key, size_t cap,
                                                cubed_error *err);

/* Metadata documents and back; strings go to the zone. `where` names the document in messages.
 * v2: .zarray and, if not NULL, .zattrs. */
CUBED_MUST_CHECK cubed_status cb_zarr_parse_v2(const char *where, const cb_codecs *codecs,
                                               const json_t *zarray, const json_t *zattrs,
                                               cb_zone *zone, cb_zarr_meta *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_parse_v3(const char *where, const cb_codecs *codecs,
                                               const json_t *doc, cb_zone *zone, cb_zarr_meta *out,
                                               cubed_error *err);
/* New references, the caller's. */
CUBED_MUST_CHECK cubed_status cb_zarr_print_v2(const cb_zarr_meta *meta, json_t **zarray,
                                               json_t **zattrs, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_zarr_print_v3(const cb_zarr_meta *meta, json_t **doc,
                                               cubed_error *err);

/* JSON text in the zone; reals with 17 digits. */
CUBED_MUST_CHECK cubed_status cb_json_text(const json_t *v, cb_zone *zone, const char **out,
                                           cubed_error *err);

/* Attributes of an array or a group as JSON text in the zone, with their types as in cubed_array_attrs. */
CUBED_MUST_CHECK cubed_status cb_zarr_attrs_text(const json_t *attrs, cb_zone *zone,
                                                 const char **out, cubed_error *err);

/* Groups. Attributes are JSON object text. One that exists is kept unless `overwrite`, which
 * removes everything in it. Metadata are put if they are still those that were read before the fence (NULL: none) was checked. */
CUBED_MUST_CHECK cubed_status cb_zarr_create_group(cubed_store *store, const cb_zarr_fence *fence,
                                                   const char *path, int format, const char *attrs,
                                                   bool overwrite, cubed_error *err);
/* Copies all metadata at and below a group, of its format, into the group's own, where readers of other
 * libraries look first. What is added later is not in it: cb_zarr_prepare and cb_zarr_create_group take
 * it away. `fence` as above. A damaged .zmetadata, which has nothing of its own, is replaced. */
CUBED_MUST_CHECK cubed_status cb_zarr_consolidate(cubed_store *store, const cb_zarr_fence *fence,
                                                  const char *path, cubed_error *err);
typedef struct cb_zarr_entry {
    const char *path; /* relative to the store's root; valid during the callback */
    bool is_array;
    int format;
} cb_zarr_entry;
typedef cubed_status (*cb_zarr_walk_fn)(void *ctx, const cb_zarr_entry *entry, cubed_error *err);
/* Calls fn for every group and array at and below PATH, parents first, in name order, found by
 * listing the store. CUBED_E_NOT_FOUND if there is none. */
CUBED_MUST_CHECK cubed_status cb_zarr_walk(cubed_store *store, const char *path, cb_zarr_walk_fn fn,
                                           void *ctx, cubed_error *err);
/* Calls fn for every group and array directly in the group at PATH, whose format is stored in *format, with
 * paths below it. `consolidated`: as its consolidated metadata has them, if there is some; it may be out
 * of date. Else they are found by listing the store. CUBED_E_NOT_FOUND if there is no group. */
CUBED_MUST_CHECK cubed_status cb_zarr_members(cubed_store *store, const char *path,
                                              bool consolidated, int *format, cb_zarr_walk_fn fn,
                                              void *ctx, cubed_error *err);
/* Attributes of a group as JSON text in `out`. */
CUBED_MUST_CHECK cubed_status cb_zarr_group_attrs(cubed_store *store, const char *path, cb_buf *out,
                                                  cubed_error *err);
/* Number of chunks present of the array at PATH, and their stored bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_stored(cubed_store *store, const char *path, uint64_t *chunks,
                                             uint64_t *bytes, cubed_error *err);

#endif
