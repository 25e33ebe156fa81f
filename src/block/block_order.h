/* Converts elements to unsigned integers ("keys") of the same width and order, for sorting and selecting. Both zeros have the
 * same key. NaN is the largest float, and "not a time" the largest time: all bits of their keys are 1. */
#ifndef CB_BLOCK_ORDER_H
#define CB_BLOCK_ORDER_H

#include "cubed/dtype.h"
#include "kernel/kernel.h"

typedef enum cb_order_kind {
    CB_ORDER_PLAIN,
    CB_ORDER_SIGNED,
    CB_ORDER_FLOAT,
    CB_ORDER_TIME
} cb_order_kind;

typedef struct cb_order {
    cb_order_kind kind;
    bool descending;
    uint64_t infinity; /* bits of infinity; elements with a larger magnitude are NaN */
} cb_order;

/* Special values that were found while keys were made. */
typedef struct cb_order_seen {
    bool nan, minus_zero;
} cb_order_seen;

/* Returns how elements of a type of numbers or times are converted to keys. For complex types, returns how one part is
 * converted. */
cb_order cb_order_of(cubed_dtype dtype, bool descending);
/* Returns the size of an element's key in bytes. For complex numbers, it is the size of one part. Strings have no keys. */
size_t cb_order_key_size(cubed_dtype dtype);

/* Adjacent lines of n elements. Elements of a line are `stride` bytes apart in `from`; keys of a line are contiguous in `to`,
 * and lines of keys are `to_stride` bytes apart. */
typedef struct cb_order_lines {
    const char *from;
    int64_t stride, n;
    int lines;
    char *to;
    size_t to_stride;
} cb_order_lines;

/* Functions for keys of one width. `from` has n elements, `stride` bytes apart. */
typedef struct cb_order_width {
    void (*make_keys)(const char *from, int64_t stride, int64_t n, const cb_order *o, void *keys,
                      cb_order_seen *seen);
    /* Converts sorted keys to elements in place. Elements with equal keys are taken from the original elements in order. */
    void (*make_values)(void *keys, int64_t n, const cb_order *o, cb_order_seen seen,
                        const char *from, int64_t stride);
    /* Makes keys of adjacent lines. */
    void (*make_lines)(const cb_order_lines *l, const cb_order *o, cb_order_seen *seen);
    /* Writes values from separate lines as adjacent lines. */
    void (*put_lines)(const char *from, size_t from_stride, int64_t n, int lines, char *to,
                      int64_t stride);
    /* Returns the bits of the element that has the key. */
    uint64_t (*value_of)(uint64_t key, const cb_order *o);
    /* Sorts keys stably, and moves the positions `pos` with them unless `pos` is NULL. `spare` and `spare_pos` are as large as
     * `keys` and `pos`. n < 2**32. */
    void (*sort_keys)(void *keys, uint32_t *pos, int64_t n, void *spare, uint32_t *spare_pos);
} cb_order_width;

const cb_order_width *cb_order_width_of(size_t key_size);
/* Sorts keys without positions, using kernels if available for the width. `spare` is as large as `keys`. */
void cb_order_sort(const cb_kernels *k, size_t key_size, void *keys, int64_t n, void *spare);

#endif
