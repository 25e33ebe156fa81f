/* Decides which nodes are stored. Elementwise operations, views and concatenations are recomputed by their users, because they
 * move no data. A reduction can be part of a stage if its result has the layout of the stage's output, and if all reductions of
 * the stage have the same domain. Any other reduction is stored. */
#include <string.h>

#include "base/error.h"
#include "opt/opt.h"
#include "plan/reduction.h"

void cb_opt_store_all(cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node *n = &p->ir.nodes[i];
        if (n->ninputs > 0 || n->block) cb_node_store(n, CB_WHY_AS_WRITTEN);
    }
}

typedef struct finder {
    cubed_plan *p;
    int root;
    int primary; /* node of the first reduction that belongs to the stage; -1: none yet */
    int axis[CUBED_MAX_NDIM];
    bool changed;
} finder;

static void store(finder *f, int node, cb_why why)
{
    cb_node_store(&f->p->ir.nodes[node], why);
    f->changed = true;
}

/* Handles a reduction whose result the tail of a stage reads (cb_stage.tail): makes it part of the stage, or stores it. */
static cubed_status in_tail(void *ctx, int node, const cb_map *map, cubed_error *err)
{
    finder *f = ctx;
    const cb_ir *ir = &f->p->ir;
    const cb_node *n = &ir->nodes[node];
    int axis[CUBED_MAX_NDIM];
    (void)err;
    if (cb_node_leaves_states(n)) return CUBED_OK;
    /* Tasks of functions on blocks, of scans and of selections process blocks one after another, so they cannot contain a
     * reduction. */
    if (cb_node_stores_itself(&ir->nodes[f->root])) {
        store(f, node, CB_WHY_UNDER_BLOCKS);
        return CUBED_OK;
    }
    cb_grid kept = cb_reduce_kept_grid(cb_ir_reduced_grid(ir, n), n->reduced);
    const cb_grid *root = ir->nodes[f->root].grid;
    if (!cb_stage_reduce_fits(map, &kept, root, axis)) {
        store(f, node, CB_WHY_OTHER_AXES);
        return CUBED_OK;
    }
    if (f->primary < 0) {
        f->primary = node;
        memcpy(f->axis, axis, sizeof axis);
        return CUBED_OK;
    }
    if (!cb_stage_same_domain(ir, f->primary, node) ||
        memcmp(f->axis, axis, (size_t)root->ndim * sizeof *axis) != 0)
        store(f, node, CB_WHY_OTHER_REDUCE);
    return CUBED_OK;
}

/* Stores a reduction in the body of another reduction, because it must be computed first. */
static cubed_status in_body(void *ctx, int node, const cb_map *map, cubed_error *err)
{
    (void)map;
    (void)err;
    store(ctx, node, CB_WHY_UNDER_REDUCE);
    return CUBED_OK;
}

static cubed_status look_into_body(void *ctx, int node, const cb_map *map, cubed_error *err)
{
    finder *f = ctx;
    const cb_node *n = &f->p->ir.nodes[node];
    int below = n->inputs[0];
    const cb_node *b = &f->p->ir.nodes[below];
    (void)map;
    if (n->reduce_grid || b->stored) return CUBED_OK;
    if (b->kind == CB_NODE_REDUCE) {
        store(f, below, CB_WHY_UNDER_REDUCE);
        return CUBED_OK;
    }
    return cb_stage_find_reductions(&f->p->ir, below, in_body, f, err);
}

static cubed_status fuse_root(cubed_plan *p, int root, bool *changed, cubed_error *err)
{
    finder f = {.p = p, .root = root, .primary = -1};
    CB_TRY(cb_stage_find_reductions(&p->ir, root, in_tail, &f, err));
    /* Also store the reductions that the bodies of this stage's reductions contain. */
    CB_TRY(cb_stage_find_reductions(&p->ir, root, look_into_body, &f, err));
    *changed = f.changed;
    return CUBED_OK;
}

/* Stores nodes of long chains, because the compiler recurses over virtual nodes and programs have a maximum length. */
static void cut_chains(cubed_plan *p, int *depth)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node *n = &p->ir.nodes[i];
        depth[i] = 0;
        for (int k = 0; k < n->ninputs; k++) {
            int d = p->ir.nodes[n->inputs[k]].stored ? 0 : depth[n->inputs[k]];
            if (d + 1 > depth[i]) depth[i] = d + 1;
        }
        if (depth[i] >= CB_MAX_DEPTH - 1) cb_node_store(n, CB_WHY_LONG);
    }
}

cubed_status cb_opt_fuse(cubed_plan *p, cubed_error *err)
{
    int *depth = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof *depth + 1);
    if (!depth) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node *n = &p->ir.nodes[i];
        /* A reshape of strings or records is stored by a copy, because the virtual machine has no registers for these types. */
        bool text = n->kind == CB_NODE_RESHAPE && cubed_dtype_kind(n->dtype) >= CUBED_KIND_TEXT;
        if (cb_node_stores_itself(n) || text)
            cb_node_store(n, text ? CB_WHY_TEXT : n->block ? CB_WHY_BLOCKS : CB_WHY_SCAN);
    }
    cut_chains(p, depth);
    bool again = true;
    while (again) {
        again = false;
        /* Visit nodes from the last to the first, so that a node is decided before its inputs. */
        for (int i = p->ir.nnodes - 1; i >= 0; i--) {
            bool changed = false;
            if (!p->ir.nodes[i].stored) continue;
            CB_TRY(fuse_root(p, i, &changed, err));
            again = again || changed;
        }
    }
    return CUBED_OK;
}
