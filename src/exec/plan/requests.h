/* Requests of runs to stores on other machines (cubed_plan_get_traffic). */
#ifndef CB_EXEC_REQUESTS_H
#define CB_EXEC_REQUESTS_H

#include "plan/plan.h"

/* Allocates counters for the reads of each node by stages, if a store has latency. */
CUBED_MUST_CHECK cubed_status cb_requests_open(cubed_plan *p, cubed_error *err);
/* Returns true if chunks of a node are so large that they are uploaded in parts. */
bool cb_node_goes_in_parts(const cubed_plan *p, int node);
/* Returns the memory in bytes of a worker's connections without prefetches: for concurrent reads and writes, and a fixed part. */
uint64_t cb_requests_bytes(const cubed_plan *p);
/* Returns the memory in bytes of each prefetch of a chunk of the node in addition to its buffer. */
size_t cb_requests_ahead_bytes(const cubed_plan *p, int node);

/* Returns true if intermediates are stored for other workers (`apart`), or because they do not fit into memory. */
bool cb_plan_spills(const cubed_plan *p, bool apart);
/* Returns the number of the service that stores a node, below CB_SERVICES; -1 if the node is not on another machine. `spills`:
 * intermediates are in the work directory. */
enum { CB_SERVICES = 6 };
int cb_plan_service(const cubed_plan *p, int node, bool spills);
/* Counts the requests to each service, and sets the limits of services. Does not set rates. of[CB_SERVICES].scheme is NULL if
 * the plan does not use the service. */
void cb_plan_count_requests(const cubed_plan *p, bool apart, cubed_store_traffic *of);

#endif
