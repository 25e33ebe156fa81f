/* States of reductions by group. A state is a partial result of one group, with several components such as sum and count. Each
 * component is an array, called a plane (kernel/group.h). */
#ifndef CB_API_GROUP_STATES_H
#define CB_API_GROUP_STATES_H

#include "kernel/group.h"
#include "ops/steps.h"

/* A reduction by group. The grouped axes are the `naxes` axes of x from `axis` on. The int64 array `codes` has the number of the
 * group of each element along these axes. */
typedef struct cb_grouping {
    cubed_array *x, *codes;
    int axis, naxes;
    int64_t ngroups;
    cb_group_kind kind;
    cb_group_variant variant;
    bool time;                      /* x contains times, stored as int64 */
    int64_t chunks[CUBED_MAX_NDIM]; /* extents of x's blocks */
} cb_grouping;

/* Sets the extents of blocks to x's chunks. If the states of a block would exceed `most` bytes, makes blocks shorter along the
 * axes that are not grouped. */
void cb_group_set_blocks(cb_grouping *g, uint64_t most);

typedef struct cb_group_states {
    cubed_array *plane[CB_GROUP_MAX_PLANES];
} cb_group_states;

/* Computes the states of all groups: reduces parts of x separately, and merges the states of the parts. */
void cb_group_reduce(cb_steps *s, const cb_grouping *g, cb_group_states *out);
/* Merges the states of two parts. */
void cb_group_merge(cb_steps *s, const cb_grouping *g, const cb_group_states *a,
                    const cb_group_states *b, cb_group_states *out);

#endif
