/* Codec chains. A chain converts a chunk's elements, in native byte order and C order, to its encoded bytes, and back. It is a
 * list of steps, one for each codec, in the order of encoding. A chain is immutable after parsing, and thread-safe. */
#ifndef CB_CODEC_CODEC_H
#define CB_CODEC_CODEC_H

#include <jansson.h>

#include "codec/codec_registry.h"
#include "mem/arena.h"

#define CB_MAX_CODECS 20
#define CB_MAX_ITEM   16 /* maximum size in bytes of a fill value */

/* A part of a chain: n consecutive steps, from number `first` on. */
typedef struct cb_codec_subread {
    int first, n;
} cb_codec_subread;

/* A step of a chain: a codec with its configuration. */
typedef struct cb_codec_step {
    const cubed_codec_vtable *vt;
    cubed_codec_conf conf;
    cubed_codec_ctx ctx;           /* facts about the input of the step when encoding */
    int64_t shape[CUBED_MAX_NDIM]; /* ctx.shape points here after cb_codec_chain_fix */
    size_t raw_size;               /* maximum size in bytes of the input when encoding */
    bool skip;                     /* the step changes no bytes, so it is skipped */
    /* sharding_indexed only: the codecs of the inner chunks, and those of the index. The first inner step has the shape of
     * an inner chunk. */
    cb_codec_subread inner, index;
    int64_t ninner;      /* number of inner chunks in a shard */
    bool index_in_front; /* the index precedes the inner chunks; otherwise it follows them */
} cb_codec_step;

/* A chain, with the steps of shards' inner chunks and indices. Call cb_codec_chain_fix after a copy of this structure. */
typedef struct cb_codec_chain {
    cb_codec_subread all; /* the steps of a whole chunk */
    int nsteps;           /* number of steps in `step`, including `inner` and `index` of shards */
    /* v2: number of steps after "bytes" that are filters; the next step is the compressor */
    int n_filters;
    size_t chunk_bytes;              /* decoded size of a chunk in bytes */
    unsigned char fill[CB_MAX_ITEM]; /* value of missing inner chunks */
    bool skip_empty; /* do not encode inner chunks that contain only the fill value */
    cb_codec_step step[CB_MAX_CODECS];
} cb_codec_chain;

/* Sets ctx.shape of all steps to the arrays `shape` of the same structure. */
void cb_codec_chain_fix(cb_codec_chain *c);
/* Fails if the codecs do not accept chunks of another shape, which must not be longer along any axis. A shard must consist of
 * whole inner chunks. `where` names the document in messages. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_check_shape(const char *where, const cb_codec_chain *c,
                                                         const int64_t *shape, cubed_error *err);
/* Copies a chain to *out, for chunks of a shape that cb_codec_chain_check_shape has accepted. Inner chunks of shards keep their
 * shape, so a smaller shard has fewer of them and a shorter index. */
void cb_codec_chain_resize(const cb_codec_chain *c, const int64_t *shape, cb_codec_chain *out);

/* Properties of an array that determine its chain. */
typedef struct cb_codec_array {
    /* Size in bytes of an element, and of the units whose bytes are reversed if the byte order differs. */
    size_t item_size, unit_size;
    int ndim;
    const int64_t *chunk; /* shape of a chunk */
    const void *fill;     /* the first bytes of the fill value, at most CB_MAX_ITEM; NULL: zeros */
    cubed_dtype dtype;
    const cb_codecs *codecs; /* codecs that a list may name; NULL: built-in codecs only */
} cb_codec_array;

/* Parses the list "codecs" of Zarr v3. `where` names the document in messages.
 *
 * The list must have exactly one array-to-bytes codec, such as "bytes" or "sharding_indexed". Array-to-array codecs precede it,
 * and bytes-to-bytes codecs follow it.
 *
 * Errors: CUBED_E_UNSUPPORTED names an unknown codec; CUBED_E_FORMAT if the list is not valid. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_parse_v3(const char *where, const json_t *codecs,
                                                      const cb_codec_array *array,
                                                      cb_codec_chain *out, cubed_error *err);
/* The entries of Zarr v2 metadata that determine how chunks are encoded. */
typedef struct cb_codec_v2 {
    bool big_endian;          /* byte order of the dtype */
    bool order_f;             /* "order": "F" */
    const json_t *filters;    /* NULL or null if the array has no filters */
    const json_t *compressor; /* NULL or null if the array has no compressor */
} cb_codec_v2;
/* Creates a chain from Zarr v2 metadata. The errors are the same as for v3 metadata (cb_codec_chain_parse_v3). */
CUBED_MUST_CHECK cubed_status cb_codec_chain_parse_v2(const char *where, const cb_codec_v2 *v2,
                                                      const cb_codec_array *array,
                                                      cb_codec_chain *out, cubed_error *err);
/* Convert a chain to JSON: for v3 to the list "codecs", for v2 to the filters (a list or null) and the compressor (an object or
 * null). The caller owns the new references. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v3(const cb_codec_chain *c, json_t **out,
                                                      cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v2(const cb_codec_chain *c, json_t **filters,
                                                      json_t **compressor, cubed_error *err);

/* Returns the maximum encoded size in bytes of a chunk; 0 if it overflows. */
size_t cb_codec_chain_bound(const cb_codec_chain *c);
/* Returns the maximum size in bytes of the encoded output of a part of the chain; 0 if it overflows. */
size_t cb_subread_bound(const cb_codec_chain *c, cb_codec_subread part);
/* Return the memory that cb_codec_chain_decode and cb_codec_chain_encode use in addition to src and dst. */
cb_need cb_codec_chain_decode_need(const cb_codec_chain *c);
cb_need cb_codec_chain_encode_need(const cb_codec_chain *c);
/* Returns true if encoded and decoded bytes are equal, so that a chunk can be read directly to its destination. */
bool cb_codec_chain_is_raw(const cb_codec_chain *c);

/* Layout of encoded elements that differ from the decoded elements only by the order of axes and of bytes. */
typedef struct cb_codec_layout {
    int axis[CUBED_MAX_NDIM]; /* stored axis d is axis axis[d] of the array */
    /* The step that reverses the bytes of each unit; NULL: native byte order. */
    const cb_codec_step *swap;
    /* Unit size in bytes of the codec "shuffle", which stores the first bytes of all units, then all second bytes, and so
     * on; 0 if the chain has no such step. */
    size_t shuffled;
} cb_codec_layout;
/* A part of the chain may begin with steps that only move bytes (transpose, bytes, shuffle). Finds the layout of the elements
 * after these steps. Returns the number of the next step, which *out does not include; part.first + part.n if *out includes all
 * steps. For a whole chunk, `part` is c->all. */
int cb_codec_part_layout(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *out);

/* Decodes a chunk to `dst`, which has c->chunk_bytes bytes. CUBED_E_FORMAT if the decoded size differs. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode(const cb_codec_chain *c, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);
/* Decodes a chunk of unknown size to `dst`, which has room for c->chunk_bytes bytes. Sets *got to the decoded size, which is at
 * most c->chunk_bytes. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode_some(const cb_codec_chain *c, const void *src,
                                                         size_t src_size, void *dst, size_t *got,
                                                         cb_arena *scratch, cubed_error *err);
/* Encodes a chunk to `dst`, which has room for cb_codec_chain_bound bytes. Sets *got to the encoded size. Does not change `src`.
 * `used` is the shape of the part of the chunk that is within the array, NULL if it is the whole chunk: a shard omits inner
 * chunks that are entirely outside this part. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src,
                                                    const int64_t *used, void *dst, size_t *got,
                                                    cb_arena *scratch, cubed_error *err);

/* Result of checking an encoded chunk without decoding it. */
typedef enum cb_codec_looks {
    CB_CODEC_WHOLE,   /* all sizes are as expected */
    CB_CODEC_DAMAGED, /* a size differs, or a header is not valid */
    CB_CODEC_UNTOLD   /* unknown, because the codecs do not store sizes */
} cb_codec_looks;
/* An encoded chunk of `size` bytes, and a callback that reads some of them. */
typedef struct cb_codec_object {
    cubed_status (*read)(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                         cubed_error *err);
    void *ctx;
    uint64_t size;
} cb_codec_object;
/* Checks the size of an encoded chunk, and the sizes in its headers, trailers and indices. Fails only if `read` fails; *out
 * receives the result of the check. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_look(const cb_codec_chain *c, const cb_codec_object *o,
                                                  cb_arena *scratch, cb_codec_looks *out,
                                                  cubed_error *err);
cb_need cb_codec_chain_look_need(const cb_codec_chain *c);

/* Returns the only step of a part of the chain that changes bytes, if this step can decode ranges of a chunk; otherwise NULL. */
const cb_codec_step *cb_codec_part_ranged(const cb_codec_chain *c, cb_codec_subread part);
/* Like cb_codec_part_ranged, for whole chunks. */
static inline const cb_codec_step *cb_codec_chain_ranged(const cb_codec_chain *c)
{
    return cb_codec_part_ranged(c, c->all);
}
/* Returns the maximum decoded size in bytes of a codec block: a part of an encoded chunk that can be decoded alone. Returns 0 if
 * the codec cannot locate blocks. Here and below, `s` is the result of cb_codec_part_ranged. */
size_t cb_codec_block_bound(const cb_codec_step *s);
/* Returns the memory that cb_codec_runs_decode uses in addition to `src` and `dst`. */
cb_need cb_codec_range_need(const cb_codec_step *s);
/* Finds the encoded bytes that are needed to decode bytes `from` to from + size - 1 of the chunk: see cubed_codec_vtable.locate.
 * `src` has the first src_size bytes of the encoded chunk. */
CUBED_MUST_CHECK cubed_status cb_codec_range_locate(const cb_codec_step *s, const void *src,
                                                    size_t src_size, size_t from, size_t size,
                                                    cubed_codec_extent *out, cubed_error *err);
/* Decodes n >= 1 runs to `dst`, one after another.
 *
 * src      the encoded bytes of `located`: its first `head` bytes, directly followed by bytes `lo` to hi - 1; may be changed
 * located  the result of cb_codec_range_locate for the range from the start of the first run to the end of the last run
 * runs     byte ranges of the decoded chunk, in ascending order, which do not overlap */
CUBED_MUST_CHECK cubed_status cb_codec_runs_decode(const cb_codec_step *s, void *src,
                                                   const cubed_codec_extent *located,
                                                   const cubed_range *runs, size_t n, void *dst,
                                                   cb_arena *scratch, cubed_error *err);

/* Returns the codec step "sharding_indexed" if whole chunks have no other step, so that inner chunks can be read separately.
 * Returns NULL otherwise. The functions below receive this step as the parameter `shard`. */
const cb_codec_step *cb_codec_chain_shard(const cb_codec_chain *c);
/* Returns the codec step "sharding_indexed" if it is the only step of a part of the chain, such as the inner codecs of a shard.
 * Returns NULL otherwise. */
const cb_codec_step *cb_codec_part_shard(const cb_codec_chain *c, cb_codec_subread part);
/* Returns the encoded size in bytes of a shard's index, which is at the start or the end of its object. */
size_t cb_codec_index_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
/* Returns the number of integers in a decoded index, which has the offset and the size of each inner chunk. */
static inline size_t cb_codec_index_numbers(const cb_codec_step *shard)
{
    return 2 * (size_t)shard->ninner;
}
/* Decodes an index. `encoded` has cb_codec_index_bytes bytes. `index` receives cb_codec_index_numbers numbers. */
CUBED_MUST_CHECK cubed_status cb_codec_index_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *encoded,
                                                    uint64_t *index, cb_arena *scratch,
                                                    cubed_error *err);
/* Looks up inner chunk i in a decoded index. Sets *size to 0 if the chunk is missing. CUBED_E_FORMAT if the entry points outside
 * the shard of object_size bytes, or to more than `most` bytes, the maximum encoded size of an inner chunk. */
CUBED_MUST_CHECK cubed_status cb_codec_index_find(const uint64_t *index, size_t most,
                                                  uint64_t object_size, int64_t i, uint64_t *offset,
                                                  uint64_t *size, cubed_error *err);
/* Return the decoded size in bytes of an inner chunk, and its maximum encoded size. */
size_t cb_codec_inner_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
size_t cb_codec_inner_bound(const cb_codec_chain *c, const cb_codec_step *shard);
/* Return the memory of cb_codec_index_decode and of cb_codec_inner_decode in addition to the encoded and decoded bytes. */
cb_need cb_codec_index_need(const cb_codec_chain *c, const cb_codec_step *shard);
cb_need cb_codec_inner_need(const cb_codec_chain *c, const cb_codec_step *shard);
/* Decodes an inner chunk to `dst`, which has cb_codec_inner_bytes bytes. */
CUBED_MUST_CHECK cubed_status cb_codec_inner_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);

#endif
