/* How many stages have to be done before one, at least. */
#include "exec/stage.h"

static int level_of_program(const cubed_plan *p, const cb_program *prog, const int *level)
{
    int most = 0;
    for (int b = 0; b < prog->nbranches; b++) {
        for (int v = 0; v < prog->branches[b].nloads; v++) {
            const cb_load *l = &prog->branches[b].loads[v];
            if (l->kind != CB_LOAD_STORED || !p->ir.nodes[l->node].stored) continue;
            if (level[l->node] + 1 > most) most = level[l->node] + 1;
        }
    }
    return most;
}

int cb_stage_level(const cubed_plan *p, const cb_stage *s, const int *level)
{
    int most = 0;
    const cb_program *prog;
    for (int g = 0; (prog = cb_stage_program(s, g)) != NULL; g++) {
        int l = level_of_program(p, prog, level);
        if (l > most) most = l;
    }
    for (int k = 0; s->reduce && k < s->reduce->n; k++) {
        const int states = s->reduce->list[k].states;
        if (states >= 0 && level[states] + 1 > most) most = level[states] + 1;
    }
    return most;
}
