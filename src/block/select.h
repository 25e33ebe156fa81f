/* The k-th of many keys (block_order.h), without sorting them. */
#ifndef CB_BLOCK_SELECT_H
#define CB_BLOCK_SELECT_H

#include "cubed/base.h"

/* The place of a key that is left out. */
#define CB_SELECT_NOWHERE UINT32_MAX

typedef struct cb_select_width {
    /* Moves keys of ones (NaN) out: the others are in front, in their order. Returns how many. */
    int64_t (*drop_ones)(void *keys, int64_t n);
    bool (*has_ones)(const void *keys, int64_t n);
    /* The k-th smallest key, from 0, and the one behind it (the same if there is none); 0 <= k < n < 2**32.
     * `spare` is as large as keys. */
    void (*select)(const void *keys, int64_t n, int64_t k, void *spare, uint64_t out[2]);
    /* Moves each key to its place. */
    void (*scatter)(const void *keys, int64_t n, const uint32_t *places, void *to);
    uint64_t (*get)(const void *keys, int64_t i);
} cb_select_width;

const cb_select_width *cb_select_width_of(size_t key_size);

#endif
