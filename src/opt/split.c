/* Tree reductions: with few output chunks the groups of blocks are reduced by tasks of their own. The
 * bits are those of the streaming reduction (plan/reduction.h), so the number of workers may decide. */

#include "base/error.h"
#include "opt/opt.h"
#include "plan/reduction.h"

/* Whether a reduction would leave workers idle, and its states are small beside what is reduced. */
static bool should_split(const cubed_plan *p, const cb_node *n)
{
    if (n->kind != CB_NODE_REDUCE) return false;
    const cb_grid *in = &p->ir.nodes[n->inputs[0]].grid;
    cb_grid reduced = cb_reduced_grid(in, n->reduced);
    int64_t groups = cb_ceil_div(cb_grid_count(&reduced), CB_REDUCE_GROUP);
    int64_t tasks = cb_grid_count(&n->grid);
    if (n->grid.ndim + 2 > CUBED_MAX_NDIM || groups < 2 || tasks == 0) return false;
    if (tasks >= 2 * (int64_t)p->max_workers) return false;
    /* One state stands for CB_REDUCE_GROUP blocks: with long blocks it is next to nothing. */
    int64_t per_state = cb_grid_max_chunk(in) / cb_max_i64(1, cb_grid_max_chunk(&n->grid));
    return per_state * CB_REDUCE_GROUP >= (int64_t)8 * cb_reduce_planes(n->reduction);
}

static cubed_status each(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                         cubed_error *err)
{
    (void)ctx;
    if (!should_split(p, &p->ir.nodes[i])) return cb_ir_add(to, n, out, err);
    const cb_grid in = p->ir.nodes[p->ir.nodes[i].inputs[0]].grid;
    cb_node partial = {.kind = CB_NODE_PARTIAL,
                       .dtype = n->dtype,
                       .reduction = n->reduction,
                       .reduced = n->reduced,
                       .ninputs = 1,
                       .inputs = n->inputs,
                       .stored = true,
                       .origin = n->origin,
                       .why = CB_WHY_PARTIAL};
    partial.grid = cb_reduce_partial_grid(&in, n->reduced, cb_reduce_planes(n->reduction));
    int states;
    CB_TRY(cb_ir_add(to, &partial, &states, err));
    cb_node merge = *n;
    merge.kind = CB_NODE_MERGE;
    merge.inputs = &states;
    merge.reduce_grid = &in;
    return cb_ir_add(to, &merge, out, err);
}

cubed_status cb_opt_split_reductions(cubed_plan *p, cubed_error *err)
{
    return cb_opt_rewrite(p, each, NULL, err);
}
