/* Sizes of buffers in tasks, from which frames are computed (exec/plan/operator.h). */
#ifndef CB_EXEC_NEED_H
#define CB_EXEC_NEED_H

#include "chunks/chunk_need.h"

/* Maximum number of elements of a vector. If several reductions used a longer vector, the vector would no longer be in the
 * first-level cache when the second reduction reads it. */
#define CB_LONGEST_VECTOR ((size_t)4 * CB_VECTOR)

/* Returns true if the branch only loads a stored array: without instructions, and not through a reshape and a view. */
bool cb_branch_is_bare(const cb_branch *b);
/* Returns the maximum number of elements along axis d of a load's array from the first to the last element that a block of these
 * extents needs from one chunk. */
int64_t cb_load_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents);
/* Returns the number of bytes of a load's buffer for a chunk, or for the part of it that a block of these extents needs. If
 * chunks are decoded piecewise, the buffer holds one piece, and the rest of the previous piece if a vector crosses the border
 * between both. */
size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents);
/* Returns the bytes of a load's tile over a block of these extents. */
size_t cb_tile_bytes(const cb_load *load, const int64_t *extents);

#endif
