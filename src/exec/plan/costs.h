/* Cost of operations by kind, as the processor time of one worker. */
#ifndef CB_EXEC_COSTS_H
#define CB_EXEC_COSTS_H

#include "plan/plan.h"

/* Returns the seconds per byte of the elements that a node's operation processes. */
double cb_node_cost(const cb_node *n);

/* Returns the estimated time in which a stage reads, decodes, encodes and writes. */
cb_moves cb_stage_moves(const cubed_plan *p, const cb_stage *s);

#endif
