/* Sizes of what tasks have in memory, from which frames are made (exec/operator.h). */
#ifndef CB_EXEC_NEED_H
#define CB_EXEC_NEED_H

#include "chunks/need.h"

/* A load and nothing else. */
bool cb_branch_is_bare(const cb_branch *b);
/* The most elements along axis d of a load's array that lie between the first and the last that a block of these
 * extents needs of one chunk. */
int64_t cb_load_extent(const cubed_plan *p, const cb_load *load, int d, const int64_t *extents);
/* Bytes of a load's buffer for a chunk, or the part of it that a block of these extents needs. */
size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents);
/* Bytes of a load's tile over a block of these extents. */
size_t cb_tile_bytes(const cb_load *load, const int64_t *extents);

#endif
