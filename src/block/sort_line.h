/* Sorting one line of elements: shared by the functions that sort. */
#ifndef CB_BLOCK_SORT_LINE_H
#define CB_BLOCK_SORT_LINE_H

#include "block/block_order.h"

/* n elements, `stride` bytes apart. */
typedef struct cb_line {
    const char *from;
    int64_t stride, n;
    cubed_dtype dtype;
    cb_order order;
} cb_line;

/* Scratch of a line of so many elements, in order. */
typedef struct cb_sort_room {
    char *keys, *spare; /* `keys` may be elsewhere */
    uint32_t *pos, *spare_pos;
} cb_sort_room;

cb_line cb_line_of(const void *from, int64_t stride, int64_t n, cubed_dtype dtype, bool descending);

/* Bytes of the room for a line of n elements; of what is left out pointers are NULL or do not matter.
 * `scratch` NULL: only counts. */
size_t cb_sort_room_make(int64_t n, cubed_dtype dtype, bool keys, bool positions, void *scratch,
                         cb_sort_room *room);
/* Complex numbers and texts are sorted by their positions. */
bool cb_sort_needs_positions(cubed_dtype dtype);
/* The elements in order, dense in `keys` (n elements), which need not be the room's; not of what is sorted by
 * positions. */
void cb_sort_values(const cb_kernels *k, const cb_line *l, void *keys, const cb_sort_room *room);
/* room->pos: the positions in order; equal elements stay in theirs. */
void cb_sort_positions(const cb_line *l, const cb_sort_room *room);

#endif
