/* What a stage computes: its operations by kind, and the lines of the program that it comes from. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "plan/fold.h"
#include "plan/plan.h"

/* The nodes that the stage computes, and the sources that it reads: its outputs, and what is not stored
 * below them. NULL if there is no memory; ir.nnodes bytes. */
static bool *nodes_of(const cubed_plan *p, const cb_stage *s)
{
    bool *in_stage = cb_alloc_zero(&p->ctx->alloc, (size_t)p->ir.nnodes);
    if (!in_stage) return NULL;
    for (int o = 0; o < s->nouts; o++) in_stage[s->outs[o].node] = true;
    /* Inputs come before users. */
    for (int i = p->ir.nnodes - 1; i >= 0; i--) {
        const cb_node *node = &p->ir.nodes[i];
        for (int k = 0; in_stage[i] && k < node->ninputs; k++) {
            int below = node->inputs[k];
            if (!p->ir.nodes[below].stored) in_stage[below] = true;
        }
    }
    return in_stage;
}

static cubed_status check_stage(const cubed_plan *p, int stage, cubed_error *err)
{
    if (stage >= 0 && stage < p->nstages) return CUBED_OK;
    return cb_fail(err, CUBED_E_INDEX, "stage %d: the plan has %d stages", stage, p->nstages);
}

/* --- Lines ------------------------------------------------------------------------------------------- */

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
    CB_TRY(check_stage(p, stage, err));
    bool *in_stage = nodes_of(p, &p->stages[stage]);
    if (!in_stage) return cb_fail(err, CUBED_E_NOMEM, "no memory to look at a plan");
    for (int i = p->ir.nnodes - 1; i >= 0; i--) {
        uint32_t origin = p->ir.nodes[i].origin;
        if (!in_stage[i] || !origin || has(origins, *n < cap ? *n : cap, origin)) continue;
        if (*n < cap) origins[*n] = origin;
        ++*n;
    }
    cb_free(&p->ctx->alloc, in_stage, (size_t)p->ir.nnodes);
    return CUBED_OK;
}

void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err)
{
    int n;
    if (!err) return;
    memset(err->origins, 0, sizeof err->origins);
    /* An error without lines is better than another error. */
    (void)!cubed_plan_get_origins(p, stage, err->origins, CUBED_ERROR_ORIGINS, &n, NULL);
}

/* --- Operations -------------------------------------------------------------------------------------- */

static double count(const cb_grid *g)
{
    double n = 1;
    for (int d = 0; d < g->ndim; d++) n *= (double)g->axis[d].extent;
    return n;
}

/* An axis of several inputs that no output has is multiplied with the others, as of matrices. One of a single
 * input (what is searched, or taken from) has a call for each of its blocks. */
static double block_count(const cb_blockwise *op)
{
    double met = 1, most = 0;
    for (int s = 0; s < CUBED_MAX_NDIM; s++) {
        double extent = 1, blocks = 1;
        int inputs = 0;
        bool kept = false;
        for (int i = 0; i < op->nin + op->nout; i++) {
            const cb_block_operand *x = i < op->nin ? &op->in[i] : &op->out[i - op->nin];
            for (int d = 0; d < x->blocks.ndim; d++) {
                if (x->symbol[d] != s) continue;
                extent = fmax(extent, (double)x->blocks.axis[d].extent);
                blocks = fmax(blocks, (double)cb_axis_count(&x->blocks.axis[d]));
                inputs += i < op->nin;
                kept = kept || i >= op->nin;
            }
        }
        met *= kept || inputs > 1 ? extent : blocks;
    }
    for (int i = 0; i < op->nin; i++) most = fmax(most, count(&op->in[i].blocks));
    return fmax(met, most);
}

/* What the node does; no name: it moves data, or is data. */
static cubed_operation_info operation_of(const cb_ir *ir, const cb_node *n, double wanted)
{
    cubed_operation_info op = {.elements = wanted, .item_size = cubed_dtype_size(n->dtype)};
    const cb_node *in = n->ninputs > 0 ? &ir->nodes[n->inputs[0]] : NULL;
    switch (n->kind) {
    case CB_NODE_ELEM: op.name = cubed_op_name(n->op); break;
    case CB_NODE_CAST: op.name = "cast"; break;
    case CB_NODE_FOLD:
    case CB_NODE_PARTIAL:
    case CB_NODE_MERGE:
    case CB_NODE_SCAN: op.name = cb_fold_kind_name(n->fold); break;
    case CB_NODE_COMPRESS: op.name = "compress"; break;
    case CB_NODE_BLOCKWISE: op.name = n->block->function; break;
    default: break;
    }
    if (n->kind == CB_NODE_BLOCKWISE) {
        op.elements = block_count(n->block);
    } else if (op.name && in && n->kind != CB_NODE_ELEM) {
        op.elements = count(&in->grid);
    }
    if (in) op.item_size = cb_max_size(op.item_size, cubed_dtype_size(in->dtype));
    return op;
}

/* How many elements of each input the node asks for. */
static double asks_for(const cb_node *n, const cb_node *in, double wanted)
{
    bool some = n->kind == CB_NODE_ELEM || n->kind == CB_NODE_CAST || n->kind == CB_NODE_VIEW ||
                n->kind == CB_NODE_COPY || n->kind == CB_NODE_RESHAPE || n->kind == CB_NODE_CONCAT;
    double all = count(&in->grid);
    return some && wanted < all ? wanted : all;
}

static void add_operation(cubed_operation_info op, cubed_operation_info *list, int cap, int *n)
{
    for (int i = 0; i < *n && i < cap; i++) {
        if (strcmp(list[i].name, op.name) != 0 || list[i].item_size != op.item_size) continue;
        list[i].elements += op.elements;
        return;
    }
    if (*n < cap) list[*n] = op;
    ++*n;
}

/* Outputs of one call are several nodes. */
static bool is_told(const cubed_plan *p, const bool *in_stage, int node)
{
    if (p->ir.nodes[node].kind != CB_NODE_BLOCKWISE) return false;
    for (int i = node + 1; i < p->ir.nnodes; i++) {
        if (in_stage[i] && cb_ir_same_call(&p->ir, i, node)) return true;
    }
    return false;
}

cubed_status cubed_plan_get_operations(const cubed_plan *p, int stage, cubed_operation_info *list,
                                       int cap, int *n, cubed_error *err)
{
    *n = 0;
    CB_TRY(check_stage(p, stage, err));
    size_t size = (size_t)p->ir.nnodes * sizeof(double);
    bool *in_stage = nodes_of(p, &p->stages[stage]);
    double *wanted = cb_alloc_zero(&p->ctx->alloc, size);
    cubed_status st = CUBED_OK;
    if (!in_stage || !wanted) {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory to look at a plan");
        goto out;
    }
    for (int o = 0; o < p->stages[stage].nouts; o++) {
        int node = p->stages[stage].outs[o].node;
        wanted[node] = count(&p->ir.nodes[node].grid);
    }
    for (int i = p->ir.nnodes - 1; i >= 0; i--) {
        const cb_node *node = &p->ir.nodes[i];
        if (!in_stage[i]) continue;
        for (int k = 0; k < node->ninputs; k++) {
            double asked = asks_for(node, &p->ir.nodes[node->inputs[k]], wanted[i]);
            if (asked > wanted[node->inputs[k]]) wanted[node->inputs[k]] = asked;
        }
        cubed_operation_info op = operation_of(&p->ir, node, wanted[i]);
        if (op.name && !is_told(p, in_stage, i)) add_operation(op, list, cap, n);
    }
out:
    cb_free(&p->ctx->alloc, in_stage, (size_t)p->ir.nnodes);
    cb_free(&p->ctx->alloc, wanted, size);
    return st;
}
