/* Storage of the arrays of a plan: see cb_storage in plan/plan.h, and the functions there that open it. */
#ifndef CB_PLAN_STORAGE_H
#define CB_PLAN_STORAGE_H

#include "plan/plan.h"

/* Closes storage that no other plan shares. No thread may use the plan any more. */
void cb_plan_close_storage(cubed_plan *p);

#endif
