/* What runs ask of stores on other machines: see cubed_plan_get_traffic. */
#ifndef CB_EXEC_REQUESTS_H
#define CB_EXEC_REQUESTS_H

#include "plan/plan.h"

/* Room to count what stages read of each node, if a store has to wait. */
CUBED_MUST_CHECK cubed_status cb_requests_open(cubed_plan *p, cubed_error *err);
/* Whether chunks of a node are so large that they are put in parts. */
bool cb_node_goes_in_parts(const cubed_plan *p, int node);
/* Memory of connections that a worker has without reading ahead: for what it reads and writes at a time, and what asking
 * takes at all. */
uint64_t cb_requests_bytes(const cubed_plan *p);
/* What each request that reads a node ahead takes beside its buffer. */
size_t cb_requests_ahead_bytes(const cubed_plan *p, int node);

#endif
