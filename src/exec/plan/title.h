/* Titles of stages: what they compute, as a person would write it. */
#ifndef CB_EXEC_TITLE_H
#define CB_EXEC_TITLE_H

#include "plan/plan.h"

/* Appends an expression for a node, such as "mean(u*v)". Sources are named by the last part of their URLs. The expression goes
 * through stored intermediates down to sources, so it is the same whatever the planner stores. If it is long, its innermost
 * parts are "...". */
void cb_title_put(const cubed_plan *p, int node, cb_buf *text);

#endif
