/* Lets block functions read the last intermediate of a rechunk.
 *
 * A rechunk of an input of a block function (block_inputs.c) may need intermediates (passes.c). Its last pass stores the array
 * with one chunk for each block of the function. This file removes the last pass if that is faster. Then the intermediate has
 * smaller chunks that do not cross borders of blocks, and the function gathers each block from these chunks. So every byte is
 * written and read once less. */

#include "base/error.h"
#include "opt/opt.h"

/* The last pass is removed only if the time of the plan is then at most this fraction of its time with the last pass. */
#define WORTH_GATHERING 0.97

typedef struct last_pass {
    int copy;   /* the pass that is removed */
    int middle; /* the intermediate that the removed pass reads */
    cb_grid pieces;
    int64_t task_chunks[CUBED_MAX_NDIM]; /* number of pieces that a task produces, by axis */
} last_pass;

static cubed_status without_pass(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n,
                                 int *out, cubed_error *err)
{
    const last_pass *l = ctx;
    cb_node node = *n;
    (void)p;
    if (i == l->copy) {
        *out = n->inputs[0];
        return CUBED_OK;
    }
    if (i == l->middle) {
        node.grid = &l->pieces;
        node.task_chunks = cb_zone_memdup(to->zone, l->task_chunks, sizeof l->task_chunks);
        if (!node.task_chunks) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    }
    return cb_ir_add(to, &node, out, err);
}

static double seconds_of(const cubed_plan *p)
{
    double seconds = 0;
    for (int i = 0; i < p->nstages; i++) seconds += cb_opt_stage_seconds(&p->stages[i]);
    return seconds;
}

static bool is_faster(const void *ctx, const cubed_plan *now, const cubed_plan *before)
{
    const uint64_t need = cb_opt_whole_need(now);
    (void)ctx;
    if (need > now->allowed_mem - now->reserved_mem && need > cb_opt_whole_need(before))
        return false;
    return seconds_of(now) < WORTH_GATHERING * seconds_of(before);
}

/* Returns true if pieces are large enough to be read by one request each, or if the store has no latency. In a store with
 * latency, a request for a small piece takes much longer than the transfer of its bytes. */
static bool are_large(const cubed_plan *p, const last_pass *l)
{
    size_t bytes = cubed_dtype_size(p->ir.nodes[l->middle].dtype);
    for (int d = 0; d < l->pieces.ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)l->pieces.axis[d].chunk);
    return bytes >= CB_OPT_TASK_BYTES || !cb_node_waits_for(p, l->middle);
}

/* Divides the chunks of the intermediate at the borders of blocks. Returns false if blocks or chunks are irregular, if the first
 * block or chunk is shorter than the others, or if neither of the two lengths is a multiple of the other. */
static bool divide(const cubed_plan *p, last_pass *l)
{
    const cb_node *middle = &p->ir.nodes[l->middle];
    const cb_grid *blocks = p->ir.nodes[l->copy].grid;
    l->pieces = cb_grid_copy(middle->grid);
    for (int d = 0; d < blocks->ndim; d++) {
        cb_axis *a = &l->pieces.axis[d];
        const int64_t chunk = a->chunk, block = blocks->axis[d].chunk;
        l->task_chunks[d] = middle->task_chunks[d];
        if (a->starts || blocks->axis[d].starts) return false;
        if (cb_axis_count(&blocks->axis[d]) <= 1) continue;
        if (a->first != chunk || blocks->axis[d].first != block) return false;
        if (block >= chunk && block % chunk == 0) continue;
        if (chunk % block != 0) return false;
        a->first = a->chunk = block;
        l->task_chunks[d] = cb_min_i64(
            cb_min_i64(l->task_chunks[d], cb_axis_count(&middle->grid->axis[d])) * (chunk / block),
            cb_axis_count(a));
    }
    return true;
}

/* Returns true if all users of a node are block functions. */
static bool is_for_blocks(const cb_ir *ir, int node)
{
    for (int i = node + 1; i < ir->nnodes; i++) {
        for (int k = 0; k < ir->nodes[i].ninputs; k++) {
            if (ir->nodes[i].inputs[k] == node && !ir->nodes[i].block) return false;
        }
    }
    return true;
}

static bool is_only_user(const cb_ir *ir, int node, int user)
{
    for (int i = node + 1; i < ir->nnodes; i++) {
        for (int k = 0; k < ir->nodes[i].ninputs; k++) {
            if (ir->nodes[i].inputs[k] == node && i != user) return false;
        }
    }
    return true;
}

static bool is_last_pass(const cubed_plan *p, last_pass *l)
{
    const cb_node *copy = &p->ir.nodes[l->copy], *middle;
    if (copy->kind != CB_NODE_COPY || copy->why != CB_WHY_BLOCK_INPUT || copy->is_target)
        return false;
    l->middle = copy->inputs[0];
    middle = &p->ir.nodes[l->middle];
    return middle->kind == CB_NODE_COPY && middle->why == CB_WHY_RECHUNK && middle->task_chunks &&
           is_for_blocks(&p->ir, l->copy) && is_only_user(&p->ir, l->middle, l->copy) &&
           divide(p, l) && are_large(p, l);
}

cubed_status cb_opt_skip_last_passes(cubed_plan *p, cubed_error *err)
{
    if (!cb_ir_has_blocks(&p->ir)) return CUBED_OK;
    for (int i = 0; i < p->ir.nnodes; i++) {
        last_pass l = {.copy = i};
        bool done = false;
        if (is_last_pass(p, &l))
            CB_TRY(cb_opt_try_rewrite(p, without_pass, &l, is_faster, &done, err));
        if (done) i--; /* the nodes after the pass have moved up by one */
    }
    return CUBED_OK;
}
