/* Which of the program's own lines a stage comes from. */
#include "base/error.h"
#include "plan/plan.h"

static bool has(const uint32_t *list, int n, uint32_t value)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == value) return true;
    }
    return false;
}

cubed_status cubed_plan_get_origins(const cubed_plan *p, int stage, uint32_t *origins, int cap,
                                    int *n, cubed_error *err)
{
    *n = 0;
    if (stage < 0 || stage >= p->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d: the plan has %d stages", stage, p->nstages);
    const cb_stage *s = &p->stages[stage];
    size_t size = (size_t)p->ir.nnodes;
    bool *in_stage = cb_alloc_zero(&p->ctx->alloc, size);
    if (!in_stage) return cb_fail(err, CUBED_E_NOMEM, "no memory to look at a plan");
    for (int o = 0; o < s->nouts; o++) in_stage[s->outs[o].node] = true;
    /* Inputs come before users. */
    for (int i = p->ir.nnodes - 1; i >= 0; i--) {
        const cb_node *node = &p->ir.nodes[i];
        if (!in_stage[i]) continue;
        for (int k = 0; k < node->ninputs; k++) {
            int below = node->inputs[k];
            if (!p->ir.nodes[below].stored) in_stage[below] = true;
        }
        if (!node->origin || has(origins, *n < cap ? *n : cap, node->origin)) continue;
        if (*n < cap) origins[*n] = node->origin;
        ++*n;
    }
    cb_free(&p->ctx->alloc, in_stage, size);
    return CUBED_OK;
}
