/* Selects the k-th of many keys (block_order.h) without sorting them. */
#ifndef CB_BLOCK_SELECT_H
#define CB_BLOCK_SELECT_H

#include "cubed/base.h"

/* Place of a key that is not copied. */
#define CB_SELECT_NOWHERE UINT32_MAX

typedef struct cb_select_width {
    /* Removes keys of all ones (NaN): moves the others to the front in order, and returns their number. */
    int64_t (*drop_ones)(void *keys, int64_t n);
    bool (*has_ones)(const void *keys, int64_t n);
    /* Finds the k-th smallest key, counted from 0, and the next one (the same if k is the last); 0 <= k < n < 2**32.
     * `spare` is as large as keys. */
    void (*select)(const void *keys, int64_t n, int64_t k, void *spare, uint64_t out[2]);
    /* Copies each key to its place. */
    void (*scatter)(const void *keys, int64_t n, const uint32_t *places, void *to);
    uint64_t (*get)(const void *keys, int64_t i);
} cb_select_width;

const cb_select_width *cb_select_width_of(size_t key_size);

#endif
