/* Lists the operations of stages, such as additions and reductions, and estimates their processor time. */
#ifndef CB_EXEC_OPERATIONS_H
#define CB_EXEC_OPERATIONS_H

#include "plan/plan.h"

/* Estimates the processor time of each stage in seconds, and sets its `moves` and `operations`. */
CUBED_MUST_CHECK cubed_status cb_plan_estimate(cubed_plan *p, cubed_error *err);
/* Sets the members of *info that end in `seconds`: estimated times for reading, computing and writing, summed over all tasks,
 * and the estimated duration of the stage with the plan's number of workers. Requires cb_plan_estimate. */
void cb_stage_seconds(const cubed_plan *p, const cb_stage *s, cubed_stage_info *info);
/* Sets err->origins to the origins of the stage's arrays: numbers that identify the lines of the user's program that created the
 * arrays. `err` may be NULL. */
void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err);

#endif
