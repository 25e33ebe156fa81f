/* Reads FlatBuffers, a binary format: finds the fields of tables. The bytes are untrusted, so every position is checked.
 * Positions are byte offsets from the start of the buffer. Position 0 means that a field is missing or beyond the end. */
#ifndef CB_FILES_FLAT_H
#define CB_FILES_FLAT_H

#include "base/le.h"

typedef struct cb_flat {
    const uint8_t *p;
    uint64_t n;
} cb_flat;

typedef struct cb_flat_list {
    uint64_t at; /* position of the first element */
    uint32_t n;  /* number of elements, all within the buffer */
} cb_flat_list;

static inline uint64_t cb_flat_number(const cb_flat *b, uint64_t at, uint64_t size)
{
    return at > 0 && at <= b->n && size <= b->n - at ? cb_le_get(b->p + at, (int)size) : 0;
}

/* Reads the offset (four bytes) at a position, and returns the position that it points to; 0 if this is outside the buffer. */
static inline uint64_t cb_flat_follow(const cb_flat *b, uint64_t at)
{
    const uint64_t to = b->n < 4 || at > b->n - 4 ? 0 : at + cb_le_get(b->p + at, 4);
    return to > at && to <= b->n - 4 ? to : 0;
}

static inline uint64_t cb_flat_root(const cb_flat *b) { return cb_flat_follow(b, 0); }

/* Returns the position of a field of a table, if all its `size` bytes are in the buffer. */
static inline uint64_t cb_flat_field(const cb_flat *b, uint64_t table, unsigned number,
                                     uint64_t size)
{
    if (table == 0 || b->n < 4 || table > b->n - 4) return 0;
    const int64_t vtable = (int64_t)table - (int32_t)(uint32_t)cb_le_get(b->p + table, 4);
    if (vtable <= 0 || (uint64_t)vtable > b->n - 4) return 0;
    const uint64_t slot = 4 + 2 * (uint64_t)number, slots = cb_le_get(b->p + vtable, 2);
    if (slot + 2 > slots || slots > b->n - (uint64_t)vtable) return 0;
    const uint64_t offset = cb_le_get(b->p + vtable + slot, 2);
    return offset > 0 && table + offset <= b->n && size <= b->n - table - offset ? table + offset
                                                                                 : 0;
}

/* Gets a list field with elements of `size` bytes; empty if missing. */
static inline cb_flat_list cb_flat_list_of(const cb_flat *b, uint64_t table, unsigned number,
                                           uint64_t size)
{
    const uint64_t field = cb_flat_field(b, table, number, 4);
    const uint64_t to = field ? cb_flat_follow(b, field) : 0;
    const uint64_t n = to ? cb_le_get(b->p + to, 4) : 0;
    if (n == 0 || n * size > b->n - to - 4) return (cb_flat_list){0, 0};
    return (cb_flat_list){to + 4, (uint32_t)n};
}

/* Returns the position of element `i` of a list of tables. */
static inline uint64_t cb_flat_table(const cb_flat *b, cb_flat_list list, uint32_t i)
{
    return cb_flat_follow(b, list.at + 4 * (uint64_t)i);
}

#endif
