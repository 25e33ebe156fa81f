/* The order of reductions, which determines the bits of results.
 *
 * Blocks. The blocks of a reduction's input along the reduced axes are numbered in C order. Every CB_REDUCE_GROUP consecutive
 * blocks are a group, which is reduced in order into one state (partial result). Groups of groups are merged in the same way,
 * level by level, so n blocks use ceil(log16 n) states ("levels"). This tree depends only on the grid of the input. It does not
 * depend on workers, on tasks, or on whether the input is stored or recomputed. It is the same if one task reduces all groups,
 * or if PARTIAL tasks reduce the lowest levels, MERGE_PARTIAL tasks some levels above them, and a MERGE the others.
 *
 * Within a block. The "inner run" is the longest run of trailing axes that are all reduced or all kept (axes of extent 1 count
 * as either).
 * - If the inner run is kept, states are updated with elements in C order of the reduced axes.
 * - If it is reduced, element i of a run goes to partial result ("lane") i % CB_LANES. After every CB_STRETCH elements, and at
 *   the end of the run, the lanes are combined and added to the state, in the order that kernel.h defines for `join`.
 * - Variances process vectors of CB_VECTOR elements from the start of the run, each in the order that kernel.h defines for
 *   `run`.
 * - Runs of a block that are shorter than CB_VECTOR are reduced many at a time, in the order that kernel.h defines for `runs`. */
#ifndef CB_PLAN_REDUCE_H
#define CB_PLAN_REDUCE_H

#include "kernel/kernel.h"
#include "plan/geom.h"

#define CB_REDUCE_GROUP      16
#define CB_REDUCE_MAX_LEVELS 16 /* 16^16 blocks */

static inline bool cb_reduce_has_position(cb_reduction kind)
{
    return kind == CB_REDUCE_ARGMIN || kind == CB_REDUCE_ARGMAX;
}
static inline int cb_reduce_planes(cb_reduction kind)
{
    return kind == CB_REDUCE_NAN_M2                               ? 3
           : kind == CB_REDUCE_M2 || cb_reduce_has_position(kind) ? 2
                                                                  : 1;
}

/* Returns the name of a reduction for reports. */
const char *cb_reduction_name(cb_reduction kind);
/* Returns the grid of the kept axes, in order. */
cb_grid cb_reduce_kept_grid(const cb_grid *in, uint32_t reduced);
/* Returns the grid of the reduced axes, in order. */
cb_grid cb_reduced_grid(const cb_grid *in, uint32_t reduced);
/* Returns the grid of the states of groups of `span` blocks, with one group per chunk. Its axes are: groups, planes (arrays of
 * a state), kept axes. `span` is a power of CB_REDUCE_GROUP. */
cb_grid cb_reduce_partial_grid(const cb_grid *in, uint32_t reduced, int planes, int64_t span);
/* Returns the span (number of blocks per group) for which `nblocks` blocks form `ngroups` groups; 0 if there is no such span. */
int64_t cb_reduce_span(int64_t nblocks, int64_t ngroups);
/* Returns the number of groups of CB_REDUCE_GROUP blocks that keep their elements if the first reduced axis grows. It excludes
 * groups with a block that is shorter than a chunk along that axis, and a group with fewer blocks. */
int64_t cb_reduce_full_groups(const cb_grid *in, uint32_t reduced);
/* Returns the number of levels of merges by which `span` blocks become one state; 0 if `span` is 1. */
int cb_reduce_depth(int64_t span);
/* Returns the number of levels of states for this many blocks, at least 1. */
int cb_reduce_levels(int64_t nblocks);
/* Returns the first axis of the inner run, and whether the run is reduced. */
int cb_reduce_inner(const cb_grid *in, uint32_t reduced, bool *is_reduced);

#endif
