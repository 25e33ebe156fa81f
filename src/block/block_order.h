/* Elements as unsigned keys of the same width that have their order: sorting and selecting know keys only.
 *
 * Zeros of either sign have one key. NaN is the largest of floats, "not a time" of times: a key of ones. */
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
    uint64_t infinity; /* its bits; what is larger without its sign is a NaN */
} cb_order;

/* What there was among the elements. */
typedef struct cb_order_seen {
    bool nan, minus_zero;
} cb_order_seen;

/* Of numbers and times; of complex numbers, the order of their parts. */
cb_order cb_order_of(cubed_dtype dtype, bool descending);
/* Bytes of an element's key: half of a complex number; texts have none. */
size_t cb_order_key_size(cubed_dtype dtype);

/* Functions for keys of one width. `from`: n elements, `stride` bytes apart. */
typedef struct cb_order_width {
    void (*make_keys)(const char *from, int64_t stride, int64_t n, const cb_order *o, void *keys,
                      cb_order_seen *seen);
    /* Sorted keys become elements where they are. What keys do not tell apart is taken from the original
     * elements in order. */
    void (*make_values)(void *keys, int64_t n, const cb_order *o, cb_order_seen seen,
                        const char *from, int64_t stride);
    /* Keys of lines whose elements lie beside each other; in lines `to_stride` bytes apart. */
    void (*make_lines)(const char *from, int64_t stride, int64_t n, int lines, const cb_order *o,
                       char *to, size_t to_stride, cb_order_seen *seen);
    /* The other way round: values that lie in lines are written beside each other. */
    void (*put_lines)(const char *from, size_t from_stride, int64_t n, int lines, char *to,
                      int64_t stride);
    /* The bits of a key's element. */
    uint64_t (*value_of)(uint64_t key, const cb_order *o);
    /* Stable. With positions (NULL: none), those move as their keys do. `spare` and `spare_pos` are as
     * large as keys and pos. n < 2**32. */
    void (*sort_keys)(void *keys, uint32_t *pos, int64_t n, void *spare, uint32_t *spare_pos);
} cb_order_width;

const cb_order_width *cb_order_width_of(size_t key_size);
/* Keys without positions, by the kernels where they have something for the width. `spare` is as large. */
void cb_order_sort(const cb_kernels *k, size_t key_size, void *keys, int64_t n, void *spare);

#endif
