/* The layout of a shard. A shard contains inner chunks and an index. The index has a pair of numbers (offset and size in bytes)
 * for each inner chunk, in C order of the inner chunks' grid. Both numbers are 2**64-1 for a missing inner chunk. */
#ifndef CB_SHARD_LAYOUT_H
#define CB_SHARD_LAYOUT_H

#include "codec/codec.h"

/* Returns the shape of the inner chunks of a sharding step. */
const int64_t *cb_shard_inner(const cb_codec_chain *c, const cb_codec_step *s);

/* Gets the offset and the size of inner chunk i in an encoded shard of `object_size` bytes. Sets *size to 0 if the chunk is
 * missing. CUBED_E_FORMAT if the index points outside the shard, or to more than `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_shard_find(const uint64_t *index, int64_t i, size_t most,
                                            uint64_t object_size, uint64_t *offset, uint64_t *size,
                                            cubed_error *err);

/* An iterator over the inner chunks of a decoded shard, in C order. */
typedef struct cb_shard_walk {
    int ndim;
    size_t item;                  /* size of an element in bytes */
    const int64_t *shape, *inner; /* shapes of the shard and of an inner chunk */
    bool contiguous;              /* an inner chunk is contiguous in the decoded shard */
    int64_t at[CUBED_MAX_NDIM];   /* index in the shard of the first element of this inner chunk */
} cb_shard_walk;

cb_shard_walk cb_shard_walk_start(const cb_codec_chain *c, const cb_codec_step *s);
void cb_shard_walk_next(cb_shard_walk *w);
/* Returns true if the current inner chunk is entirely outside the array. `used` is the shape of the part of the shard inside
 * the array; NULL if the whole shard is inside. */
bool cb_shard_walk_outside(const cb_shard_walk *w, const int64_t *used);
/* Returns the byte offset in the decoded shard of element `idx` of the current inner chunk. */
size_t cb_shard_walk_offset(const cb_shard_walk *w, const int64_t *idx);
/* Copies the current inner chunk: from `inner` to the decoded shard if `into` is true, otherwise from the shard to `inner`. */
void cb_shard_walk_copy(const cb_shard_walk *w, char *shard, char *inner, bool into);

/* cb_shard_fill fills `bytes` bytes with elements that equal the chain's fill value. cb_shard_is_fill returns true if all
 * elements equal it. `item` is the size of an element in bytes; if it exceeds CB_MAX_ITEM, the other bytes of the fill value are
 * zeros. */
void cb_shard_fill(const cb_codec_chain *c, size_t item, char *dst, size_t bytes);
bool cb_shard_is_fill(const cb_codec_chain *c, size_t item, const char *src, size_t bytes);

#endif
