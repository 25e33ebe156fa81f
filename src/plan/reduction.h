/* The order of reductions, on which their bits depend.
 *
 * The blocks of a reduction's input along the reduced axes are numbered in C order. Every CB_REDUCE_GROUP
 * consecutive blocks are one group: they are reduced one after another into one state. Groups of
 * groups are merged the same way, level by level, so that n blocks take ceil(log16 n) states
 * ("levels"). The tree depends on the input's logical grid only: not on workers, on tasks, on
 * whether the input is stored or recomputed, nor on whether the groups are reduced by one task or
 * by PARTIAL tasks (the lowest levels), MERGE_PARTIAL tasks (some above them) and a MERGE (the others).
 *
 * Within a block, let the "inner run" be the longest run of trailing axes that are all reduced or
 * all kept (axes of extent 1 count as either). If it is kept, states take in elements in C order of
 * the reduced axes. If it is reduced, element i of a run goes to lane i % CB_LANES; after every CB_STRETCH
 * elements, and at the end of the run, the lanes are joined and the state takes them in, in the order that
 * kernel.h fixes for `join`. Variances take in vectors of CB_VECTOR elements from the start of the run, each in
 * the order that it fixes for `run`. Runs of a block that are shorter than CB_VECTOR are reduced many at a
 * time, in the order that it fixes for `runs`.
 */
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

/* The name of a reduction in reports. */
const char *cb_reduction_name(cb_reduction kind);
/* The grid of the axes that are kept, in order. */
cb_grid cb_reduce_kept_grid(const cb_grid *in, uint32_t reduced);
/* The grid of the axes that are reduced, in order. */
cb_grid cb_reduced_grid(const cb_grid *in, uint32_t reduced);
/* States by group of `span` blocks, a power of CB_REDUCE_GROUP: (groups, planes, kept...), one group to a chunk. */
cb_grid cb_reduce_partial_grid(const cb_grid *in, uint32_t reduced, int planes, int64_t span);
/* The span of which there are so many groups; 0: there is none. */
int64_t cb_reduce_span(int64_t nblocks, int64_t ngroups);
/* Levels of states up to those of `span` blocks; 0 of one block. */
int cb_reduce_depth(int64_t span);
/* Levels of states for this many blocks; at least 1. */
int cb_reduce_levels(int64_t nblocks);
/* First axis of the inner run, and whether the run is reduced. */
int cb_reduce_inner(const cb_grid *in, uint32_t reduced, bool *is_reduced);

#endif
