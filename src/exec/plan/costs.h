/* What operations cost, by their kind: processor time of one worker. */
#ifndef CB_EXEC_COSTS_H
#define CB_EXEC_COSTS_H

#include "plan/plan.h"

/* Seconds for each byte of the elements that a node's operation is done on. */
double cb_node_cost(const cb_node *n);

/* The time that moving a stage's chunks takes. */
cb_moves cb_stage_moves(const cubed_plan *p, const cb_stage *s);

#endif
