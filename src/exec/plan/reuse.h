/* Chooses the decoded chunks that are worth caching. */
#ifndef CB_EXEC_REUSE_H
#define CB_EXEC_REUSE_H

#include "plan/plan.h"

/* Marks arrays with chunks that are worth caching. Returns the bytes of all these chunks and of shard indices. */
uint64_t cb_plan_find_reuse(cubed_plan *p);
/* Returns the total number of reads of a chunk of a marked array by loads that use the cache; SIZE_MAX: unknown. */
size_t cb_plan_chunk_reads(const cubed_plan *p, int node, const int64_t *idx);

#endif
