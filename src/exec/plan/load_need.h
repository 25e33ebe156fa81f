/* Sizes of what tasks have in memory, from which frames are made (exec/plan/operator.h). */
#ifndef CB_EXEC_NEED_H
#define CB_EXEC_NEED_H

#include "chunks/chunk_need.h"

/* Elements of the longest vector that programs are evaluated by. Longer ones would not be in the first-level cache for
 * the second of several reductions. */
#define CB_LONGEST_VECTOR ((size_t)4 * CB_VECTOR)

/* A load and nothing else. */
bool cb_branch_is_bare(const cb_branch *b);
/* The most elements along axis d of a load's array that lie between the first and the last that a block of these
 * extents needs of one chunk. */
int64_t cb_load_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents);
/* Bytes of a load's buffer for a chunk, or the part of it that a block of these extents needs; where chunks are decoded
 * piecewise for one piece, behind what is left of the one before it when a vector does not end with it. */
size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents);
/* Bytes of a load's tile over a block of these extents. */
size_t cb_tile_bytes(const cb_load *load, const int64_t *extents);

#endif
