/* What stages compute, and how long it takes. */
#ifndef CB_EXEC_OPERATIONS_H
#define CB_EXEC_OPERATIONS_H

#include "plan/plan.h"

/* How long stages take: sets the processor time of each. */
CUBED_MUST_CHECK cubed_status cb_plan_estimate(cubed_plan *p, cubed_error *err);
/* The times of a stage. */
void cb_stage_seconds(const cubed_plan *p, const cb_stage *s, cubed_stage_info *info);
/* Puts where the program made what the stage computes into its error. */
void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err);

#endif
