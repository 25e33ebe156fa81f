/* The stages in whose tasks idle workers decode chunks for others (chunks/offers.h). */
#ifndef CB_EXEC_HELPING_H
#define CB_EXEC_HELPING_H

#include "exec/plan/stage.h"

/* Returns true if workers that wait may decode chunks of the stage's inputs for its tasks. Only loads (cb_load) accept such
 * chunks. */
bool cb_stage_is_helped(const cubed_plan *p, const cb_stage *s);
/* Returns true if any stage that accepts help reads more than a few chunks. */
bool cb_plan_is_helped(const cubed_plan *p);

#endif
