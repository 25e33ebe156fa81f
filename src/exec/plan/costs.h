/* Estimates the processor time that one worker needs for operations, and for reading and writing. */
#ifndef CB_EXEC_COSTS_H
#define CB_EXEC_COSTS_H

#include "plan/plan.h"

/* Returns the estimated processor time of a node's operation, in seconds per byte of the elements that it processes. */
double cb_node_cost(const cb_node *n);

/* Returns estimated processor times of all tasks of a stage in seconds: `read` includes decoding, `write` includes encoding,
 * and `memory` is for inputs that are in memory. */
cb_moves cb_stage_moves(const cubed_plan *p, const cb_stage *s);

#endif
