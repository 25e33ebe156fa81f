/* Chooses the decoded chunks that are worth caching. */
#ifndef CB_EXEC_REUSE_H
#define CB_EXEC_REUSE_H

#include "plan/plan.h"

/* Marks arrays with chunks that are worth caching, in p->reused. Returns the total size in bytes of these chunks and of the
 * indices of shards. */
uint64_t cb_plan_find_reuse(cubed_plan *p);
/* Returns the number of times that all stages together read a chunk of an array in p->reused through the cache, or SIZE_MAX if
 * the number is unknown. `idx` is the index of the chunk in the array's grid. */
size_t cb_plan_chunk_reads(const cubed_plan *p, int node, const int64_t *idx);

#endif
