/* An index of boxes in space: a tree whose nodes have eight children each, over boxes that are sorted along a space-filling
 * curve. */
#ifndef CB_GRID_SPACE_INDEX_H
#define CB_GRID_SPACE_INDEX_H

#include "base/alloc.h"
#include "block/near_list.h"
#include "block/sphere.h"
#include "cubed/base.h"

enum { CB_SPACE_FAN = 8, CB_SPACE_LEVELS = 12 };

typedef struct cb_space_index {
    int64_t n;
    int32_t *order;      /* number of each item, in the order of the curve */
    cb_space_box *items; /* boxes of the items in that order; NULL if the items are points */
    cb_vec *points;      /* items that are points, in that order; otherwise NULL */
    int nlevels;
    int64_t count[CB_SPACE_LEVELS];
    cb_space_box *level
        [CB_SPACE_LEVELS]; /* each box contains eight boxes of the level below; level 0: eight items */
    /* Marks of the items, and of the boxes of each level: 1 if cb_space_nearest may find the item, or an item in the box;
     * otherwise 0. NULL: all items may be found. */
    uint8_t *usable, *usable_of[CB_SPACE_LEVELS];
} cb_space_index;

/* Returns the maximum memory in bytes for the boxes of n items and their index, including memory for sorting. */
size_t cb_space_bytes(int64_t n);

/* Builds the index of n boxes, which are borrowed only during the call. All memory is in the zone.
 *
 * Errors: CUBED_E_NOMEM. */
CUBED_MUST_CHECK cubed_status cb_space_sort(cb_zone *zone, const cb_space_box *boxes, int64_t n,
                                            cb_space_index *out, cubed_error *err);

/* Returns the bytes of memory for cb_space_points. */
size_t cb_space_points_bytes(int64_t n);
/* Builds the index of points without allocating memory. `at` returns the position of point i; the index has no point whose
 * position is NaN. `memory`, of cb_space_points_bytes(n) bytes and aligned to 8 bytes, must live as long as the index. All points
 * may be found until cb_space_use has been called. */
void cb_space_points(void *memory, int64_t n, cb_vec (*at)(const void *ctx, int64_t i),
                     const void *ctx, cb_space_index *out);
/* Lets cb_space_nearest find only points i for which is_usable(ctx, i) returns true. The index must have been built by
 * cb_space_points. Returns the number of usable points. */
int64_t cb_space_use(cb_space_index *s, bool (*is_usable)(const void *ctx, int64_t i),
                     const void *ctx);

/* Calls `found` for each item whose box overlaps `box`, in the order of the curve, until it fails. */
typedef cubed_status (*cb_space_fn)(void *ctx, int32_t item, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_space_overlaps(const cb_space_index *s, const cb_space_box *box,
                                                cb_space_fn found, void *ctx, cubed_error *err);

/* Finds the k nearest usable items, which are points, in the order of their distance. If distances are equal except for rounding,
 * the item with the lower number comes first. Returns the number of items found. */
int cb_space_nearest(const cb_space_index *s, cb_vec at, int k, cb_space_near *out);
/* Like cb_space_nearest, but faster if the caller knows that k usable items have at most the squared distance `most`. */
int cb_space_nearest_within(const cb_space_index *s, cb_vec at, int k, double most,
                            cb_space_near *out);

/* An upper bound of all squared distances in the sphere of radius 1. */
#define CB_SPACE_FARTHEST 8.0

#endif
