/* Splits reductions with few output chunks into tree reductions. Separate tasks reduce groups of blocks to states (partial
 * results), and a last task merges the states. If there are many states, further tasks first merge groups of states. The
 * result is bitwise equal to the result of a reduction by one task (plan/reduction.h). So the split may depend on the number
 * of workers. */

#include "base/error.h"
#include "opt/opt.h"
#include "plan/reduction.h"

/* Returns the number of states from which a merge by one task would leave other workers idle too long. If workers are on other
 * machines and states are so large that split_output.c divides merges into tasks, the number is smaller. In that case one more
 * stage is faster than reading three states. */
static int64_t many_states(const cubed_plan *p, const cb_node *n)
{
    const size_t state = (size_t)cb_grid_max_chunk(n->grid) * cubed_dtype_size(n->dtype);
    return p->other_machines && state >= CB_OPT_TASK_BYTES ? 3 : (int64_t)4 * CB_REDUCE_GROUP;
}

static int64_t count_blocks(const cubed_plan *p, const cb_node *n)
{
    const cb_grid reduced = cb_reduced_grid(p->ir.nodes[n->inputs[0]].grid, n->reduced);
    return cb_grid_count(&reduced);
}

/* Returns the cost of reducing groups of `span` blocks, as a fraction of the cost of reading the reduction's input. It is the
 * sum of the cost of writing and reading the states, and of the time of idle workers during the last tasks. On average, each
 * worker is then idle for half of a task. */
static double cost(const cubed_plan *p, const cb_node *n, int64_t span)
{
    const cb_grid *in = p->ir.nodes[n->inputs[0]].grid;
    const double block = (double)cb_grid_max_chunk(in) / (double)cb_grid_max_chunk(n->grid);
    const double tasks =
        (double)cb_grid_count(n->grid) * (double)cb_ceil_div(count_blocks(p, n), span);
    return 2.0 * cb_reduce_planes(n->reduction) / (block * (double)span) +
           p->max_workers / (2 * tasks);
}

/* Returns the number of blocks per group. Returns 0 if the reduction keeps all workers busy, or if its states are not small
 * relative to its input. */
static int64_t choose_span(const cubed_plan *p, const cb_node *n)
{
    if (n->kind != CB_NODE_REDUCE) return 0;
    const cb_grid *in = p->ir.nodes[n->inputs[0]].grid;
    const int64_t tasks = cb_grid_count(n->grid), blocks = count_blocks(p, n);
    if (n->grid->ndim + 2 > CUBED_MAX_NDIM || blocks <= CB_REDUCE_GROUP || tasks == 0) return 0;
    if (p->max_workers == 1 || tasks >= CB_OPT_TASKS_PER_WORKER * (int64_t)p->max_workers) return 0;
    /* The size of a state is compared with the CB_REDUCE_GROUP blocks that it represents. With long blocks, a state is
     * negligible. */
    int64_t per_state = cb_grid_max_chunk(in) / cb_max_i64(1, cb_grid_max_chunk(n->grid));
    if (per_state * CB_REDUCE_GROUP < (int64_t)8 * cb_reduce_planes(n->reduction)) return 0;
    int64_t best = CB_REDUCE_GROUP;
    for (int64_t span = best; span <= (blocks - 1) / CB_REDUCE_GROUP;) {
        span *= CB_REDUCE_GROUP;
        if (cost(p, n, span) < cost(p, n, best)) best = span;
    }
    return best;
}

/* Adds a node for the states of groups of `span` blocks. */
static cubed_status add_states(const cb_node *reduction, const cb_grid *in, int64_t span,
                               bool of_states, cb_ir *to, int *index, cubed_error *err)
{
    const cb_grid states = cb_reduce_partial_grid(in, reduction->reduced,
                                                  cb_reduce_planes(reduction->reduction), span);
    const int input = *index;
    const cb_node n = {.kind = of_states ? CB_NODE_MERGE_PARTIAL : CB_NODE_PARTIAL,
                       .dtype = reduction->dtype,
                       .grid = &states,
                       .reduction = reduction->reduction,
                       .reduced = reduction->reduced,
                       .reduce_grid = of_states ? in : NULL,
                       .ninputs = 1,
                       .inputs = (int[]){input},
                       .stored = true,
                       .origin = reduction->origin,
                       .why = CB_WHY_PARTIAL};
    return cb_ir_add(to, &n, index, err);
}

static cubed_status each(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                         cubed_error *err)
{
    const cb_node *before = &p->ir.nodes[i];
    int64_t span = choose_span(p, before);
    (void)ctx;
    if (span == 0) return cb_ir_add(to, n, out, err);
    const cb_grid *in = p->ir.nodes[before->inputs[0]].grid;
    const int64_t blocks = count_blocks(p, before);
    const bool idle = cb_grid_count(before->grid) < (int64_t)p->max_workers;
    int index = n->inputs[0];
    CB_TRY(add_states(n, in, span, false, to, &index, err));
    while (idle && cb_ceil_div(blocks, span) >= many_states(p, before)) {
        span *= CB_REDUCE_GROUP;
        CB_TRY(add_states(n, in, span, true, to, &index, err));
    }
    cb_node merge = *n;
    merge.kind = CB_NODE_MERGE;
    merge.inputs = &index;
    merge.reduce_grid = in;
    return cb_ir_add(to, &merge, out, err);
}

cubed_status cb_opt_split_reductions(cubed_plan *p, cubed_error *err)
{
    return cb_opt_rewrite(p, each, NULL, err);
}
