/* Selects the k-th of many keys (block_order.h) without sorting them. */
#ifndef CB_BLOCK_SELECT_H
#define CB_BLOCK_SELECT_H

#include "cubed/base.h"

/* Entry of the list `places` of `scatter` for a key that is not copied. */
#define CB_SELECT_NOWHERE UINT32_MAX

/* Functions for keys of one width (1, 2, 4 or 8 bytes). */
typedef struct cb_select_width {
    /* Removes keys whose bits are all 1 (NaN). Moves the other keys to the front, in order, and returns their number. */
    int64_t (*drop_ones)(void *keys, int64_t n);
    /* Returns true if a key has only bits that are 1. */
    bool (*has_ones)(const void *keys, int64_t n);
    /* Sets out[0] to the k-th smallest key, counted from 0, and out[1] to the next key in sorted order, which may be equal. If k
     * is n - 1, both are the same key. 0 <= k < n < 2**32. `temp` is scratch of the size of `keys`. */
    void (*select)(const void *keys, int64_t n, int64_t k, void *temp, uint64_t out[2]);
    /* Copies key i to position places[i] of the output. */
    void (*scatter)(const void *keys, int64_t n, const uint32_t *places, void *to);
    /* Returns key i. */
    uint64_t (*get)(const void *keys, int64_t i);
} cb_select_width;

const cb_select_width *cb_select_width_of(size_t key_size);

#endif
