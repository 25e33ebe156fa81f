/* Sorts one line of elements. Shared by the sorting functions. */
#ifndef CB_BLOCK_SORT_LINE_H
#define CB_BLOCK_SORT_LINE_H

#include "block/block_order.h"

/* A line to be sorted: n elements, `stride` bytes apart. */
typedef struct cb_line {
    const char *from;
    int64_t stride, n;
    cubed_dtype dtype;
    cb_order order;
} cb_line;

/* Scratch memory for a line. */
typedef struct cb_sort_room {
    char *keys, *temp; /* `keys` may instead point to memory of the caller */
    uint32_t *pos, *temp_pos;
} cb_sort_room;

cb_line cb_line_of(const void *from, int64_t stride, int64_t n, cubed_dtype dtype, bool descending);

/* Flags of the arrays that cb_sort_room_make allocates in addition to `temp`: CB_SORT_KEYS for `keys`, CB_SORT_POSITIONS for
 * `pos` and `temp_pos`. */
typedef enum cb_sort_parts {
    CB_SORT_SPARE = 0,
    CB_SORT_KEYS = 1,
    CB_SORT_POSITIONS = 2
} cb_sort_parts;
/* Returns the size in bytes of the scratch memory for a line of n elements. Unless `scratch` is NULL, divides `scratch` into the
 * arrays of *room. `parts` has the flags of cb_sort_parts; pointers to other arrays may be undefined. */
size_t cb_sort_room_make(int64_t n, cubed_dtype dtype, unsigned parts, void *scratch,
                         cb_sort_room *room);
/* Returns true for complex numbers and strings. Their elements have no single key, so only cb_sort_positions sorts them. */
bool cb_sort_needs_positions(cubed_dtype dtype);
/* Writes the sorted elements contiguously to `keys`, which may equal room->keys. Not for complex numbers and strings. */
void cb_sort_values(const cb_kernels *k, const cb_line *l, void *keys, const cb_sort_room *room);
/* Writes the positions of the elements, in the order of the sorted elements, to room->pos. Equal elements keep their order. */
void cb_sort_positions(const cb_line *l, const cb_sort_room *room);

#endif
