/* Chains of codecs: from a chunk's encoded bytes to its elements in native byte order and C
 * layout, and back. Immutable after parsing; thread-safe. */
#ifndef CB_CODEC_CODEC_H
#define CB_CODEC_CODEC_H

#include <jansson.h>

#include "codec/codec_registry.h"
#include "mem/arena.h"

#define CB_MAX_CODECS 20
#define CB_MAX_ITEM   16 /* bytes of a fill value */

/* A list of steps within the chain's, in the order of encoding: array -> ... -> bytes. */
typedef struct cb_codec_subread {
    int first, n;
} cb_codec_subread;

typedef struct cb_codec_step {
    const cubed_codec_vtable *vt;
    cubed_codec_conf conf;
    cubed_codec_ctx ctx;
    int64_t shape[CUBED_MAX_NDIM]; /* ctx.shape points here after cb_codec_chain_fix */
    size_t raw_size;               /* the most bytes this step is given to encode */
    bool skip;                     /* identity */
    /* sharding_indexed only: what its inner chunks and its index go through. The shape of an inner
     * chunk is that of the first inner step. */
    cb_codec_subread inner, index;
    int64_t ninner;      /* inner chunks of a shard */
    bool index_in_front; /* else behind the chunks */
} cb_codec_step;

/* Plain data but for step[].ctx.shape: after a copy call cb_codec_chain_fix. */
typedef struct cb_codec_chain {
    cb_codec_subread all; /* what a chunk goes through */
    int nsteps;           /* with those of nested parts */
    int n_filters;        /* steps behind "bytes" that are v2 filters; the rest is the compressor */
    size_t chunk_bytes;   /* decoded size of a chunk */
    unsigned char fill[CB_MAX_ITEM]; /* of inner chunks that are not there */
    bool skip_empty; /* inner chunks that hold nothing but the fill value are not encoded */
    cb_codec_step step[CB_MAX_CODECS];
} cb_codec_chain;

void cb_codec_chain_fix(cb_codec_chain *c);
/* Whether the codecs can have a chunk of another shape, none of whose lengths is greater: as a shard it must be of whole
 * inner chunks. `where` names the document. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_check_shape(const char *where, const cb_codec_chain *c,
                                                         const int64_t *shape, cubed_error *err);
/* The same codecs for such a chunk. Inner chunks of shards stay as they are, an index gets shorter. */
void cb_codec_chain_resize(const cb_codec_chain *c, const int64_t *shape, cb_codec_chain *out);

/* What codecs are told about the array. `chunk` in C order; `fill` has item_size bytes. */
typedef struct cb_codec_array {
    size_t item_size, unit_size;
    int ndim;
    const int64_t *chunk;
    const void *fill;
    cubed_dtype dtype;
    const cb_codecs *codecs; /* that a list may name; NULL: the library's own */
} cb_codec_array;

/* Parses Zarr v3's "codecs" list. CUBED_E_UNSUPPORTED names an unknown codec; CUBED_E_FORMAT for
 * a list that does not go from an array to bytes (exactly one of "bytes", array codecs before it,
 * byte codecs after; "sharding_indexed" may stand for "bytes"). `where` names the document. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_parse_v3(const char *where, const json_t *codecs,
                                                      const cb_codec_array *array,
                                                      cb_codec_chain *out, cubed_error *err);
/* The same from Zarr v2's dtype byte order, order, filters and compressor. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_parse_v2(const char *where, bool big_endian,
                                                      bool order_f, const json_t *filters,
                                                      const json_t *compressor,
                                                      const cb_codec_array *array,
                                                      cb_codec_chain *out, cubed_error *err);
/* JSON of the chain: v3 the "codecs" list; v2 the filters (a list, or null) and the compressor (an
 * object, or null). New references, the caller's. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v3(const cb_codec_chain *c, json_t **out,
                                                      cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_codec_chain_print_v2(const cb_codec_chain *c, json_t **filters,
                                                      json_t **compressor, cubed_error *err);

/* The most encoded bytes of one chunk; of what goes through a part of the chain. */
size_t cb_codec_chain_bound(const cb_codec_chain *c);
size_t cb_subread_bound(const cb_codec_chain *c, cb_codec_subread part);
/* What cb_codec_chain_decode needs from the arena beside src and dst (and for encode). */
cb_need cb_codec_chain_decode_need(const cb_codec_chain *c);
cb_need cb_codec_chain_encode_need(const cb_codec_chain *c);
/* True when encoded bytes are the decoded ones: a chunk can be read straight into place. */
bool cb_codec_chain_is_raw(const cb_codec_chain *c);

/* Encoded elements that are the decoded ones in another order of axes and bytes. */
typedef struct cb_codec_layout {
    int axis[CUBED_MAX_NDIM]; /* stored axis d is axis[d] of the array */
    const cb_codec_step
        *swap; /* exchanges the bytes of each element; NULL: they are in the machine's order */
    /* Bytes of the units that codec "shuffle" divided: first bytes of all units come first. 0: it did not. */
    size_t shuffled;
} cb_codec_layout;
/* What a chunk goes through first when it is encoded, as far as that only moves bytes. Returns the number of the first step that does
 * more; c->all is the part of all chunks. */
int cb_codec_part_layout(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *out);

/* dst has chunk_bytes; CUBED_E_FORMAT if the bytes do not decode to exactly that many. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode(const cb_codec_chain *c, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);
/* The same of chunks whose size is not known before: *got bytes, chunk_bytes at most. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_decode_some(const cb_codec_chain *c, const void *src,
                                                         size_t src_size, void *dst, size_t *got,
                                                         cb_arena *scratch, cubed_error *err);
/* dst has cb_codec_chain_bound bytes. src is not changed. `used` (may be NULL: all) is the part of
 * the chunk within the array: of a shard, inner chunks without any of it are left out. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src,
                                                    const int64_t *used, void *dst, size_t *got,
                                                    cb_arena *scratch, cubed_error *err);

/* What a look at an encoded chunk, without decoding it, says of it. */
typedef enum cb_codec_looks {
    CB_CODEC_WHOLE, /* sizes are what they should be */
    CB_CODEC_DAMAGED,
    CB_CODEC_UNTOLD /* its codecs say nothing of sizes */
} cb_codec_looks;
typedef struct cb_codec_object {
    cubed_status (*read)(void *ctx, uint64_t offset, void *dst, size_t size, size_t *got,
                         cubed_error *err);
    void *ctx;
    uint64_t size;
} cb_codec_object;
/* Reads headers, trailers and indices; errors are those of `read`. */
CUBED_MUST_CHECK cubed_status cb_codec_chain_look(const cb_codec_chain *c, const cb_codec_object *o,
                                                  cb_arena *scratch, cb_codec_looks *out,
                                                  cubed_error *err);
cb_need cb_codec_chain_look_need(const cb_codec_chain *c);

/* The step if the part of the chain is but one, and ranges of what it decodes to can be had by themselves; else
 * NULL. */
const cb_codec_step *cb_codec_part_ranged(const cb_codec_chain *c, cb_codec_subread part);
static inline const cb_codec_step *cb_codec_chain_ranged(const cb_codec_chain *c)
{
    return cb_codec_part_ranged(c, c->all);
}
/* The most bytes that a block decodes to; 0: it does not tell where blocks are. */
size_t cb_codec_block_bound(const cb_codec_step *s);
/* Beside the encoded chunk and the range. */
cb_need cb_codec_range_need(const cb_codec_step *s);
/* What of the encoded chunk it takes: see cubed_codec_vtable.locate. */
CUBED_MUST_CHECK cubed_status cb_codec_range_locate(const cb_codec_step *s, const void *src,
                                                    size_t src_size, size_t from, size_t size,
                                                    cubed_codec_extent *out, cubed_error *err);
/* src is changed meanwhile, and has what was located: the first bytes and, right behind them, the others. */
CUBED_MUST_CHECK cubed_status cb_codec_range_decode(const cb_codec_step *s, void *src,
                                                    const cubed_codec_extent *located, size_t from,
                                                    size_t size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);

/* The sharding step if the chain is nothing else, so that inner chunks can be read by themselves;
 * else NULL. */
const cb_codec_step *cb_codec_chain_shard(const cb_codec_chain *c);
/* The same of a part of it, such as what inner chunks of shards go through. */
const cb_codec_step *cb_codec_part_shard(const cb_codec_chain *c, cb_codec_subread part);
/* Encoded bytes of a shard's index, which stands at the start or the end of its object. */
size_t cb_codec_index_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
/* The index decoded: two numbers for each inner chunk. */
static inline size_t cb_codec_index_numbers(const cb_codec_step *shard)
{
    return 2 * (size_t)shard->ninner;
}
CUBED_MUST_CHECK cubed_status cb_codec_index_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *encoded,
                                                    uint64_t *index, cb_arena *scratch,
                                                    cubed_error *err);
/* Where inner chunk number i lies (*size 0: it is not there) by the index; checked against the
 * object's size, and against the most bytes that one may have. */
CUBED_MUST_CHECK cubed_status cb_codec_index_find(const uint64_t *index, size_t most,
                                                  uint64_t object_size, int64_t i, uint64_t *offset,
                                                  uint64_t *size, cubed_error *err);
size_t cb_codec_inner_bytes(const cb_codec_chain *c, const cb_codec_step *shard);
size_t cb_codec_inner_bound(const cb_codec_chain *c, const cb_codec_step *shard);
/* Beside the encoded index or inner chunk, and the decoded one. */
cb_need cb_codec_index_need(const cb_codec_chain *c, const cb_codec_step *shard);
cb_need cb_codec_inner_need(const cb_codec_chain *c, const cb_codec_step *shard);
CUBED_MUST_CHECK cubed_status cb_codec_inner_decode(const cb_codec_chain *c,
                                                    const cb_codec_step *shard, const void *src,
                                                    size_t src_size, void *dst, cb_arena *scratch,
                                                    cubed_error *err);

#endif
