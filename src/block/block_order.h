/* Converts elements to unsigned integers, called keys, for sorting and selecting. Keys have the width and the order of the
 * elements, or the reverse order for descending sorts. Both zeros have the same key. NaN is greater than all numbers, and "not a
 * time" greater than all times: all bits of their keys are 1, or 0 in the reverse order. */
#ifndef CB_BLOCK_ORDER_H
#define CB_BLOCK_ORDER_H

#include "cubed/dtype.h"
#include "kernel/kernel.h"

/* Kinds of elements, by the conversion of their bits to keys. */
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

/* Whether keys were computed for NaN or -0.0. The keys of these elements do not determine their bits. */
typedef struct cb_order_seen {
    bool nan, minus_zero;
} cb_order_seen;

/* Returns the conversion to keys for a type of numbers or times. For complex types, it converts one part. */
cb_order cb_order_of(cubed_dtype dtype, bool descending);
/* Returns the size of an element's key in bytes. For complex numbers, it is the size of one part. Strings have no keys. */
size_t cb_order_key_size(cubed_dtype dtype);

/* Lines of n elements whose keys are computed together. The first elements of the lines are adjacent in `from`; the elements of a
 * line are `stride` bytes apart. In `to`, the keys of a line are contiguous, and the lines are `to_stride` bytes apart. */
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
    /* Converts sorted keys to elements in place. Elements whose keys are equal but whose bits may differ (zeros and NaN) are
     * copied from the original elements in `from`, in their order. `seen` is the result of `make_keys`. */
    void (*make_values)(void *keys, int64_t n, const cb_order *o, cb_order_seen seen,
                        const char *from, int64_t stride);
    /* Computes keys of adjacent lines. */
    void (*make_lines)(const cb_order_lines *l, const cb_order *o, cb_order_seen *seen);
    /* Writes values back to lines in the layout that `make_lines` reads. In `from`, the n values of a line are contiguous, and
     * the lines are `from_stride` bytes apart. In `to`, the first values of the lines are adjacent, and the values of a line are
     * `stride` bytes apart. */
    void (*put_lines)(const char *from, size_t from_stride, int64_t n, int lines, char *to,
                      int64_t stride);
    /* Returns the bits of the element that has the key. */
    uint64_t (*value_of)(uint64_t key, const cb_order *o);
    /* Sorts keys stably, and moves the positions `pos` with them unless `pos` is NULL. `temp` and `temp_pos` are as large as
     * `keys` and `pos`. n < 2**32. */
    void (*sort_keys)(void *keys, uint32_t *pos, int64_t n, void *temp, uint32_t *temp_pos);
} cb_order_width;

const cb_order_width *cb_order_width_of(size_t key_size);
/* Sorts keys without positions, by vectorised kernels if there are any for this width. `temp` is scratch of the size of
 * `keys`. */
void cb_order_sort(const cb_kernels *k, size_t key_size, void *keys, int64_t n, void *temp);

#endif
