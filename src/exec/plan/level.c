/* Computes the level of a stage: the minimum number of stages that must run before it, one after another. */
#include "exec/plan/stage.h"

int cb_stage_level(const cubed_plan *p, const cb_stage *s, const int *level)
{
    int most = 0;
    for (int k = 0; k < s->ninputs; k++) {
        const int node = s->inputs[k];
        if (p->ir.nodes[node].stored && level[node] + 1 > most) most = level[node] + 1;
    }
    return most;
}
