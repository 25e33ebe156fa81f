/* Titles of stages: the computation of a stage as an expression, such as "mean(u*v)". */
#ifndef CB_EXEC_TITLE_H
#define CB_EXEC_TITLE_H

#include "plan/plan.h"

/* Appends an expression for a node, such as "mean(u*v)". Sources are named by the last part of their URLs. The expression
 * continues through stored intermediates down to sources, so it does not depend on what the planner stores. The innermost
 * parts of long expressions are "...". */
void cb_title_put(const cubed_plan *p, int node, cb_buf *text);

#endif
