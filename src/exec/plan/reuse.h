/* Which decoded chunks are worth keeping. */
#ifndef CB_EXEC_REUSE_H
#define CB_EXEC_REUSE_H

#include "plan/plan.h"

/* Notes the arrays of which they are; bytes of all of them, and of indices of shards. */
uint64_t cb_plan_find_reuse(cubed_plan *p);
/* How often loads that want it kept read a chunk of such an array, in all; SIZE_MAX: not known. */
size_t cb_plan_chunk_reads(const cubed_plan *p, int node, const int64_t *idx);

#endif
