/* Completes a plan that was made from arrays or loaded from bytes. */
#ifndef CB_EXEC_FINISH_H
#define CB_EXEC_FINISH_H

#include "plan/plan.h"

/* Compiles the stages of a plan, computes the memory of their tasks, and checks the plan's limits. Requires the outputs and the
 * numbers of chunks per task (task_chunks) of each stage. */
CUBED_MUST_CHECK cubed_status cb_plan_finish(cubed_plan *p, cubed_error *err);
/* Creates a plan from bytes of cubed_plan_save, and completes it with cb_plan_finish (cubed_plan_load). In a plan for workers,
 * the data of sources in shared memory is still NULL. */
CUBED_MUST_CHECK cubed_status cb_plan_load(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);

#endif
