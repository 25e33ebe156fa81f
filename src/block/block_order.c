#include "block/block_order.h"

#include <string.h>

#include "base/checked.h"

/* Maximum number of keys for insertion sort. Measured with random float64: counting sort is faster from 60 keys on. */
#define FEW 48
/* Maximum number of keys for a bucket sort, which is twice as fast as a radix sort by bytes. More keys would need two passes
 * of bucket sort, which are slower. */
#define MOST_IN_BUCKETS 16384
/* Maximum number of keys in a bucket for insertion sort. */
#define FEW_IN_BUCKET 32
/* Counts are on the stack, 8 KiB per level of recursion. */
#define MOST_BUCKET_BITS 11
#define MOST_DEPTH       3
/* Number of rows to prefetch. */
#define ROWS_AHEAD 16

#define CB_ORDER_JOIN(a, b)  a##b
#define CB_ORDER_PASTE(a, b) CB_ORDER_JOIN(a, b)
#define CB_KEY_TEMPLATE      "block/block_order.inc.h"
#include "block/each_key.inc.h"

static const cb_order_width widths[] = {
    {make_keys8, make_values8, make_lines8, put_lines8, value_of8, sort_keys8},
    {make_keys16, make_values16, make_lines16, put_lines16, value_of16, sort_keys16},
    {make_keys32, make_values32, make_lines32, put_lines32, value_of32, sort_keys32},
    {make_keys64, make_values64, make_lines64, put_lines64, value_of64, sort_keys64},
};

const cb_order_width *cb_order_width_of(size_t key_size)
{
    return &widths[key_size == 1 ? 0 : key_size == 2 ? 1 : key_size == 4 ? 2 : 3];
}

void cb_order_sort(const cb_kernels *k, size_t key_size, void *keys, int64_t n, void *temp)
{
    if (key_size == 8 && k->sort64 && k->sort64(keys, n, temp)) return;
    if (key_size == 4 && k->sort32 && k->sort32(keys, n, temp)) return;
    cb_order_width_of(key_size)->sort_keys(keys, NULL, n, temp, NULL);
}

size_t cb_order_key_size(cubed_dtype dtype)
{
    size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT) return 0;
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? size / 2 : size;
}

cb_order cb_order_of(cubed_dtype dtype, bool descending)
{
    cb_order o = {.descending = descending};
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_INT: o.kind = CB_ORDER_SIGNED; break;
    case CUBED_KIND_TIME: o.kind = CB_ORDER_TIME; break;
    case CUBED_KIND_FLOAT:
    case CUBED_KIND_COMPLEX: o.kind = CB_ORDER_FLOAT; break;
    default: o.kind = CB_ORDER_PLAIN; break;
    }
    switch (cb_order_key_size(dtype)) {
    case 2: o.infinity = dtype == CUBED_BFLOAT16 ? 0x7f80 : 0x7c00; break;
    case 4: o.infinity = 0x7f800000; break;
    default: o.infinity = 0x7ff0000000000000; break;
    }
    return o;
}
