/* Decides for which stages idle workers decode chunks that tasks of other workers need (chunks/offers.h). */
#ifndef CB_EXEC_HELPING_H
#define CB_EXEC_HELPING_H

#include "exec/plan/stage.h"

/* Returns true if idle workers may decode chunks of the stage's inputs for the workers that run its tasks. Returns false for
 * stages that copy an array unchanged or call a function on whole blocks, because their tasks would not use such chunks. */
bool cb_stage_is_helped(const cubed_plan *p, const cb_stage *s);
/* Returns true if cb_stage_is_helped is true for at least one stage of the plan that reads more than a few chunks. */
bool cb_plan_is_helped(const cubed_plan *p);

#endif
