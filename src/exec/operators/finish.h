/* The last step of making and of loading a plan. */
#ifndef CB_EXEC_FINISH_H
#define CB_EXEC_FINISH_H

#include "plan/plan.h"

/* Compiles and projects the stages of a plan, and checks the limits. Requires the outputs and the tasks of each stage. */
CUBED_MUST_CHECK cubed_status cb_plan_finish(cubed_plan *p, cubed_error *err);
/* Makes a plan from the bytes of cubed_plan_save (cubed_plan_load). In a plan for workers the data of shared sources is still
 * NULL. */
CUBED_MUST_CHECK cubed_status cb_plan_load(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);

#endif
