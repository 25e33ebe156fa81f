/* Selects the k-th of many keys (block_order.h) without sorting them. */
#ifndef CB_BLOCK_SELECT_H
#define CB_BLOCK_SELECT_H

#include "cubed/base.h"

/* Entry of `places` (see scatter) for a key that is not copied. */
#define CB_SELECT_NOWHERE UINT32_MAX

typedef struct cb_select_width {
    /* Removes keys whose bits are all 1 (NaN). Moves the other keys to the front, in order, and returns their number. */
    int64_t (*drop_ones)(void *keys, int64_t n);
    bool (*has_ones)(const void *keys, int64_t n);
    /* Finds the k-th smallest key, counted from 0, and the key after it in sorted order, which may be equal (the same key if k is
     * n - 1). 0 <= k < n < 2**32. `spare` is as large as `keys`. */
    void (*select)(const void *keys, int64_t n, int64_t k, void *spare, uint64_t out[2]);
    /* Copies key i to index places[i]. */
    void (*scatter)(const void *keys, int64_t n, const uint32_t *places, void *to);
    uint64_t (*get)(const void *keys, int64_t i);
} cb_select_width;

const cb_select_width *cb_select_width_of(size_t key_size);

#endif
