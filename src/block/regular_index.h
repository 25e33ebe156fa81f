/* An index of the cells of a regular grid, which finds the nearest cells row by row. */
#ifndef CB_BLOCK_REGULAR_INDEX_H
#define CB_BLOCK_REGULAR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/near_list.h"
#include "block/sphere.h"

/* The cosine and the sine of a coordinate. */
typedef struct cb_turn {
    double cosine, sine;
} cb_turn;

/* Cells are numbered along the rows, which are circles of latitude. */
typedef struct cb_regular_index {
    int64_t rows, columns;
    int64_t words; /* number of 64-bit words of `usable` per row */
    double step;   /* mean distance between adjacent rows */
    cb_turn *lat, *lon;
    uint64_t *usable; /* one bit per cell: 1 if cb_regular_nearest may find the cell */
    int64_t work;     /* work of all searches so far, in units of about 3 ns */
} cb_regular_index;

/* Returns the bytes of memory for cb_regular_build. */
size_t cb_regular_bytes(int64_t rows, int64_t columns);
/* Builds the index in `memory`, of cb_regular_bytes() bytes and aligned to 8 bytes. Returns false if the coordinates (in degrees)
 * are not suitable: both axes must be sorted and finite, latitudes must be from -90 to 90, and longitudes must span at most 360
 * degrees. */
bool cb_regular_build(void *memory, const double *lat, int64_t rows, const double *lon,
                      int64_t columns, cb_regular_index *out);
/* Returns the position of a cell, equal to the result of cb_vec_of. */
static inline cb_vec cb_regular_at(const cb_regular_index *s, int64_t row, int64_t column)
{
    const cb_turn lat = s->lat[row], lon = s->lon[column];
    return (cb_vec){lat.cosine * lon.cosine, lat.cosine * lon.sine, lat.sine};
}
/* Like cb_space_use. */
void cb_regular_use(cb_regular_index *s, bool (*is_usable)(const void *ctx, int64_t i),
                    const void *ctx);
/* Finds the usable cells that are nearest to a cell: the same cells as cb_space_nearest_within. */
int cb_regular_nearest(cb_regular_index *s, int64_t cell, int k, double most, cb_space_near *out);

#endif
