#include "exec/vm/helping.h"

#include "chunks/offers.h"
#include "exec/plan/operator.h"

/* Workers decode chunks for others only if the plan has a stage that reads at least this many chunks. */
#define LEAST_CHUNKS 4

/* Returns true if other workers may decode chunks for this stage. Operands that are read directly and copies of unchanged data
 * are excluded, because they do not use loads (cb_load_chunk). */
bool cb_stage_is_helped(const cubed_plan *p, const cb_stage *s)
{
    bool any = false;
    for (int k = 0; k < s->ninputs && !any; k++) any = cb_node_is_offered(p, s->inputs[k]);
    return any && s->op->visit && !s->call && !cb_stage_copied(s);
}

bool cb_plan_is_helped(const cubed_plan *p)
{
    for (int i = 0; i < p->nstages; i++) {
        if (p->stages[i].chunks_read >= LEAST_CHUNKS && cb_stage_is_helped(p, &p->stages[i]))
            return true;
    }
    return false;
}
