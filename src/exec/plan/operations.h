/* The operations of stages, and their processor time. */
#ifndef CB_EXEC_OPERATIONS_H
#define CB_EXEC_OPERATIONS_H

#include "plan/plan.h"

/* Estimates the processor time of each stage. */
CUBED_MUST_CHECK cubed_status cb_plan_estimate(cubed_plan *p, cubed_error *err);
/* Sets the times of a stage. */
void cb_stage_seconds(const cubed_plan *p, const cb_stage *s, cubed_stage_info *info);
/* Adds the program lines that created the stage's arrays to an error. */
void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err);

#endif
