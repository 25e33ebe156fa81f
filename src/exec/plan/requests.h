/* Counts the requests that a run sends to stores on other machines, and their memory (cubed_plan_get_traffic). */
#ifndef CB_EXEC_REQUESTS_H
#define CB_EXEC_REQUESTS_H

#include "plan/plan.h"

/* Allocates p->reads, the counters of the reads of each node, if a node is in a store on another machine. Otherwise sets
 * p->reads to NULL. */
CUBED_MUST_CHECK cubed_status cb_requests_open(cubed_plan *p, cubed_error *err);
/* Returns true if chunks of a node are so large that each is uploaded by several requests (a multipart upload). */
bool cb_node_goes_in_parts(const cubed_plan *p, int node);
/* Returns the memory in bytes that a worker's connections to stores use without prefetches: the memory of concurrent reads and
 * writes, and the memory that a process needs once. */
uint64_t cb_requests_bytes(const cubed_plan *p);
/* Returns the memory in bytes that one prefetch of a chunk of the node uses in addition to the buffer for the chunk: the memory
 * of its connection. */
size_t cb_requests_ahead_bytes(const cubed_plan *p, int node);

/* Returns true if the plan's intermediates are stored in the work directory: because workers do not share memory (`apart`), or
 * because the intermediates do not fit into memory. */
bool cb_plan_spills(const cubed_plan *p, bool apart);
/* Returns the number of the service that stores a node, from 0 to CB_SERVICES - 1, or -1 if the node is not on another machine.
 *
 * spills  true if intermediates are in the work directory, false if they are in memory */
enum { CB_SERVICES = 6 };
int cb_plan_service(const cubed_plan *p, int node, bool spills);
/* Counts the requests of a run to each service, and sets each service's limits of requests. Does not set rates.
 *
 * apart  true if workers do not share memory
 * of     receives CB_SERVICES entries; `scheme` of an entry is NULL if the plan does not use the service */
void cb_plan_count_requests(const cubed_plan *p, bool apart, cubed_store_traffic *of);

#endif
