/* What runs ask of stores on other machines: see cubed_plan_get_traffic. */
#ifndef CB_EXEC_REQUESTS_H
#define CB_EXEC_REQUESTS_H

#include "plan/plan.h"

/* Room to count what stages read of each node, if a store has to wait. */
CUBED_MUST_CHECK cubed_status cb_requests_open(cubed_plan *p, cubed_error *err);

#endif
