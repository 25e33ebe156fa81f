/* Sizes of the buffers of tasks. The functions that list a task's buffers (`frame` in exec/plan/operator.h) use these sizes. */
#ifndef CB_EXEC_NEED_H
#define CB_EXEC_NEED_H

#include "chunks/chunk_need.h"

/* Maximum number of elements of a vector, the unit that the register machine evaluates in one step. Several reductions may read
 * the same vector one after another, so it must fit into the first-level cache. */
#define CB_LONGEST_VECTOR ((size_t)4 * CB_VECTOR)

/* Returns true if the branch (a piece of a program) has no instructions and only loads a stored array. Returns false if the
 * load has both a reshape and a view of the reshaped array. */
bool cb_branch_is_bare(const cb_branch *b);
/* A block with these extents needs elements of one chunk of the loaded array. Returns the maximum length along axis d, in
 * elements of the array, from the first to the last needed element. */
int64_t cb_load_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents);
/* Returns the size in bytes of a load's buffer for blocks with these extents. The buffer holds a chunk, or the part of a chunk
 * that the block needs. If chunks are decoded piecewise, the buffer holds one piece. It also has space for the remainder of the
 * previous piece, for vectors that cross the border between two pieces. */
size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents);
/* Returns the size in bytes of a load's tile for a block with these extents. A tile is a dense copy of the elements that the
 * block needs; if the load has a reshape, of all elements from the first to the last needed element along each axis. */
size_t cb_tile_bytes(const cb_load *load, const int64_t *extents);
/* Returns the size in bytes of the tile that a group of loads shares (`window` of cb_load). If `more` is not negative, load
 * `more` counts as another load of the group.
 *
 * first  number of the first load of the group */
size_t cb_window_bytes(const cb_branch *b, int first, int more, const int64_t *extents);

#endif
