/* The layout of a shard: inner chunks in C order of their grid, and an index of pairs (offset, bytes), both 2**64-1 for
 * an inner chunk that is missing. */
#ifndef CB_SHARD_LAYOUT_H
#define CB_SHARD_LAYOUT_H

#include "codec/codec.h"

/* Shape of the inner chunks of a sharding step. */
const int64_t *cb_shard_inner(const cb_codec_chain *c, const cb_codec_step *s);

/* Offset and size of inner chunk i in an object of `object_size` bytes; size 0 if the chunk is missing. CUBED_E_FORMAT
 * if the index points outside the object, or to more than `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_shard_find(const uint64_t *index, int64_t i, size_t most,
                                            uint64_t object_size, uint64_t *offset, uint64_t *size,
                                            cubed_error *err);

/* Iterates over the inner chunks of a shard in C order. */
typedef struct cb_shard_walk {
    int ndim;
    size_t item;
    const int64_t *shape, *inner;
    bool contiguous; /* an inner chunk is contiguous in the shard */
    int64_t at[CUBED_MAX_NDIM];
} cb_shard_walk;

cb_shard_walk cb_shard_walk_start(const cb_codec_chain *c, const cb_codec_step *s);
void cb_shard_walk_next(cb_shard_walk *w);
/* Returns true if the inner chunk is outside the array. `used` are the extents of the shard inside the array; NULL: the whole
 * shard. */
bool cb_shard_walk_outside(const cb_shard_walk *w, const int64_t *used);
/* Byte offset in the shard of the element `idx` of the inner chunk. */
size_t cb_shard_walk_offset(const cb_shard_walk *w, const int64_t *idx);
/* Copies the inner chunk at the walk's position out of the shard, or into it. */
void cb_shard_walk_copy(const cb_shard_walk *w, char *shard, char *inner, bool into);

/* Fills `bytes` bytes with the chain's fill value; whether they are filled with it. Items that are longer than
 * CB_MAX_ITEM end with zeros. */
void cb_shard_fill(const cb_codec_chain *c, size_t item, char *dst, size_t bytes);
bool cb_shard_is_fill(const cb_codec_chain *c, size_t item, const char *src, size_t bytes);

#endif
