/* Codec chains: convert between a chunk's encoded bytes and its elements in native byte order and C layout. Immutable after
 * parsing; thread-safe. */
#ifndef CB_CODEC_CODEC_H
#define CB_CODEC_CODEC_H

#include <jansson.h>

#include "codec/codec_registry.h"
#include "mem/arena.h"

#define CB_MAX_CODECS 20
#define CB_MAX_ITEM   16 /* maximum size in bytes of a fill value */

/* A part of a chain: `n` consecutive steps from number `first` on, in the order of encoding (from array to bytes). */
typedef struct cb_codec_subread {
    int first, n;
} cb_codec_subread;

typedef struct cb_codec_step {
    const cubed_codec_vtable *vt;
    cubed_codec_conf conf;
    cubed_codec_ctx ctx;
    int64_t shape[CUBED_MAX_NDIM]; /* ctx.shape points here after cb_codec_chain_fix */
    size_t raw_size;               /* maximum size in bytes of the input when encoding */
    bool skip;                     /* the step changes no bytes, so it is skipped */
    /* sharding_indexed only: the codecs of the inner chunks, and those of the index. The first inner step has the shape of
     * an inner chunk. */
    cb_codec_subread inner, index;
    int64_t ninner;      /* number of inner chunks in a shard */
    bool index_in_front; /* false: the index follows the chunks */
} cb_codec_step;

/* Plain data except for step[].ctx.shape: call cb_codec_chain_fix after a copy. */
typedef struct cb_codec_chain {
    cb_codec_subread all; /* steps of a whole chunk */
    int nsteps;           /* number of steps, including the steps of nested parts */
    /* number of steps after "bytes" that are v2 filters; the next step is the compressor */
    int n_filters;
    size_t chunk_bytes;              /* decoded size of a chunk */
    unsigned char fill[CB_MAX_ITEM]; /* value of missing inner chunks */
    bool skip_empty; /* do not encode inner chunks that contain only the fill value */
    cb_codec_step step[CB_MAX_CODECS];
} cb_codec_chain;

void cb_codec_chain_fix(cb_codec_chain *c);
/* Checks whether the codecs accept chunks of another shape, which must not be longer along any axis. A shard must consist
 * of whole inner chunks. `where` names the document. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_check_shape(const char *where, const cb_codec_chain *c,
                                                         const int64_t *shape, cubed_error *err);
/* Adapts a chain to chunks of a shape that cb_codec_chain_check_shape accepted. Inner chunks of shards keep their shape;
 * the index gets shorter. */
void cb_codec_chain_resize(const cb_codec_chain *c, const int64_t *shape, cb_codec_chain *out);

/* Properties of the array that codecs receive. `chunk` is in C order; `fill` has item_size bytes. */
typedef struct cb_codec_array {
    size_t item_size, unit_size;
    int ndim;
    const int64_t *chunk;
    const void *fill;
    cubed_dtype dtype;
    const cb_codecs *codecs; /* codecs that a list may name; NULL: built-in codecs only */
} cb_codec_array;

/* Parses the "codecs" list of Zarr v3. `where` names the document.
 *
 * The list must contain exactly one "bytes" or "sharding_indexed" (or another array-to-bytes codec), array codecs before it
 * and byte codecs after it.
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
/* Makes a chain from Zarr v2 metadata. The errors are the same as for v3 metadata (cb_codec_chain_parse_v3). */
CUBED_MUST_CHECK cubed_status cb_codec_chain_parse_v2(const char *where, const cb_codec_v2 *v2,
                                                      const cb_codec_array *array,
                                                      cb_codec_chain *out, cubed_error *err);
/* Converts the chain to JSON: for v3 the "codecs" list, for v2 the filters (a list or null) and the compressor (an object
 * or null). The caller owns the new references. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v3(const cb_codec_chain *c, json_t **out,
                                                      cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v2(const cb_codec_chain *c, json_t **filters,
                                                      json_t **compressor, cubed_error *err);

/* Return the maximum encoded size in bytes of a chunk, and of the output of a part of the chain. */
size_t cb_codec_chain_bound(const cb_codec_chain *c);
size_t cb_subread_bound(const cb_codec_chain *c, cb_codec_subread part);
/* Return the arena memory that cb_codec_chain_decode and cb_codec_chain_encode need in addition to src and dst. */
cb_need cb_codec_chain_decode_need(const cb_codec_chain *c);
cb_need cb_codec_chain_encode_need(const cb_codec_chain *c);
/* Returns true if encoded and decoded bytes are equal, so a chunk can be read directly into its destination. */
bool cb_codec_chain_is_raw(const cb_codec_chain *c);

/* Layout of encoded elements that differ from the decoded ones only by the order of axes and bytes. */
typedef struct cb_codec_layout {
    int axis[CUBED_MAX_NDIM]; /* stored axis d is axis[d] of the array */
    /* The step that reverses the bytes of each element; NULL: native byte order. */
    const cb_codec_step *swap;
    /* Unit size in bytes of the codec "shuffle", which stores the first bytes of all units, then all second bytes, and so
     * on; 0 if the chain has no such step. */
    size_t shuffled;
} cb_codec_layout;
/* Finds the layout that the first encoding steps of a part of the chain give to the elements, as long as the steps only move
 * bytes. Returns the number of the first step that *out does not contain; part.first + part.n if *out contains all. For a
 * whole chunk, `part` is c->all. */
int cb_codec_part_layout(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *out);

/* Decodes a chunk to `dst`, which has chunk_bytes. CUBED_E_FORMAT if the decoded size differs from chunk_bytes. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode(const cb_codec_chain *c, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);
/* Decodes a chunk of unknown size to `dst`, which has room for chunk_bytes. Sets *got to the decoded size, at most
 * chunk_bytes. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode_some(const cb_codec_chain *c, const void *src,
                                                         size_t src_size, void *dst, size_t *got,
                                                         cb_arena *scratch, cubed_error *err);
/* Encodes a chunk to `dst`, which has cb_codec_chain_bound bytes. `src` is not changed. `used` is the part of the chunk
 * within the array (NULL: all): a shard omits inner chunks entirely outside it. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src,
                                                    const int64_t *used, void *dst, size_t *got,
                                                    cb_arena *scratch, cubed_error *err);

/* Result of checking an encoded chunk without decoding it. */
typedef enum cb_codec_looks {
    CB_CODEC_WHOLE,   /* all sizes are as expected */
    CB_CODEC_DAMAGED, /* a size differs, or a header is not valid */
    CB_CODEC_UNTOLD   /* unknown, because the codecs do not store sizes */
} cb_codec_looks;
typedef struct cb_codec_object {
    cubed_status (*read)(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                         cubed_error *err);
    void *ctx;
    uint64_t size;
} cb_codec_object;
/* Checks headers, trailers and indices of an encoded chunk. Returns only errors of `read`. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_look(const cb_codec_chain *c, const cb_codec_object *o,
                                                  cb_arena *scratch, cb_codec_looks *out,
                                                  cubed_error *err);
cb_need cb_codec_chain_look_need(const cb_codec_chain *c);

/* Returns the step if the part has exactly one step that acts and can decode ranges; otherwise NULL. */
const cb_codec_step *cb_codec_part_ranged(const cb_codec_chain *c, cb_codec_subread part);
static inline const cb_codec_step *cb_codec_chain_ranged(const cb_codec_chain *c)
{
    return cb_codec_part_ranged(c, c->all);
}
/* Returns the maximum decoded size in bytes of a codec block, or 0 if the codec cannot locate blocks. */
size_t cb_codec_block_bound(const cb_codec_step *s);
/* Returns the memory that cb_codec_runs_decode needs in addition to the encoded chunk and the range. */
cb_need cb_codec_range_need(const cb_codec_step *s);
/* Finds the encoded bytes that a range needs: see cubed_codec_vtable.locate. */
CUBED_MUST_CHECK cubed_status cb_codec_range_locate(const cb_codec_step *s, const void *src,
                                                    size_t src_size, size_t from, size_t size,
                                                    cubed_codec_extent *out, cubed_error *err);
/* Decodes n >= 1 runs to `dst`, one after another. Runs are ascending ranges of the decoded chunk that do not overlap. `src`
 * contains the bytes located for the range from the first run to the end of the last one: the head, followed directly by the
 * blocks. The call may change `src`. */
CUBED_MUST_CHECK cubed_status cb_codec_runs_decode(const cb_codec_step *s, void *src,
                                                   const cubed_codec_extent *located,
                                                   const cubed_range *runs, size_t n, void *dst,
                                                   cb_arena *scratch, cubed_error *err);

/* Returns the sharding step if the chain has no other step, so that inner chunks can be read separately; otherwise NULL. */
const cb_codec_step *cb_codec_chain_shard(const cb_codec_chain *c);
/* Returns the sharding step if a part of the chain, such as the inner codecs of a shard, has no other step; otherwise NULL. */
const cb_codec_step *cb_codec_part_shard(const cb_codec_chain *c, cb_codec_subread part);
/* Returns the encoded size in bytes of a shard's index, which is at the start or the end of its object. */
size_t cb_codec_index_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
/* Returns how many numbers a decoded index contains: two for each inner chunk. */
static inline size_t cb_codec_index_numbers(const cb_codec_step *shard)
{
    return 2 * (size_t)shard->ninner;
}
CUBED_MUST_CHECK cubed_status cb_codec_index_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *encoded,
                                                    uint64_t *index, cb_arena *scratch,
                                                    cubed_error *err);
/* Looks up inner chunk `i` in the index. Sets *size to 0 if it is missing. Checks the entry against the object's size and
 * `most`, the maximum encoded size of an inner chunk. */
CUBED_MUST_CHECK cubed_status cb_codec_index_find(const uint64_t *index, size_t most,
                                                  uint64_t object_size, int64_t i, uint64_t *offset,
                                                  uint64_t *size, cubed_error *err);
size_t cb_codec_inner_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
size_t cb_codec_inner_bound(const cb_codec_chain *c, const cb_codec_step *shard);
/* Return the memory for decoding the index of a shard, and for decoding an inner chunk, in addition to the encoded and decoded
 * bytes. */
cb_need cb_codec_index_need(const cb_codec_chain *c, const cb_codec_step *shard);
cb_need cb_codec_inner_need(const cb_codec_chain *c, const cb_codec_step *shard);
CUBED_MUST_CHECK cubed_status cb_codec_inner_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);

#endif
