/* A plan's needs beside its limits. */
#ifndef CB_EXEC_LIMITS_H
#define CB_EXEC_LIMITS_H

#include "plan/plan.h"

static inline uint64_t cb_need_total(cb_need n) { return cb_sat_add(n.arena, n.library); }

/* CUBED_E_BUDGET if a worker needs more than is allowed, or all workers may use more than the machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_limits(const cubed_plan *p, cubed_error *err);
/* Shares out what projections leave: to intermediates, and to chunks that are worth keeping. */
void cb_plan_share_out(cubed_plan *p);

#endif
