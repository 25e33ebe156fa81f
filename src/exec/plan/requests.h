/* Requests of runs to stores on other machines (cubed_plan_get_traffic). */
#ifndef CB_EXEC_REQUESTS_H
#define CB_EXEC_REQUESTS_H

#include "plan/plan.h"

/* Allocates counters for the reads of each node by stages, if a store has latency. */
CUBED_MUST_CHECK cubed_status cb_requests_open(cubed_plan *p, cubed_error *err);
/* Returns true if chunks of a node are so large that they are uploaded in parts. */
bool cb_node_goes_in_parts(const cubed_plan *p, int node);
/* Memory for a worker's connections without prefetching: for concurrent reads and writes, and a fixed part. */
uint64_t cb_requests_bytes(const cubed_plan *p);
/* Memory of each prefetch of a node in addition to its buffer. */
size_t cb_requests_ahead_bytes(const cubed_plan *p, int node);

#endif
