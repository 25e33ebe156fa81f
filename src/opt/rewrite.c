#include <string.h>

#include "base/error.h"
#include "opt/opt.h"

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
}

/* Moves the storage of nodes in `from` to the nodes of p, which have the same URLs in the same order. */
static cubed_status move_storage(cubed_plan *p, const cubed_plan *from, cubed_error *err)
{
    if (!from->storage) return CUBED_OK;
    CB_TRY(cb_plan_alloc_storage(p, err));
    for (int i = 0, k = 0; i < p->ir.nnodes; i++) {
        if (!p->ir.nodes[i].url) continue;
        while (k < from->ir.nnodes && !from->storage[k]) k++;
        CB_TRY(cb_plan_add_storage(p, i, from->storage[k++], err));
        const bool is_open = p->storage[i]->meta.format != 0;
        if (is_open && p->ir.nodes[i].kind != CB_NODE_ZARR) CB_TRY(cb_plan_target(p, i, err));
    }
    return CUBED_OK;
}

/* Fills the new p->ir from the nodes of `from`. */
static cubed_status copy_nodes(cubed_plan *p, cubed_plan *from, cb_rewrite_fn each, void *ctx,
                               cubed_error *err)
{
    const size_t n = (size_t)from->ir.nnodes;
    int *renamed = cb_alloc_zero(&p->ctx->alloc, n * sizeof *renamed);
    cubed_status st = renamed ? cb_ir_reserve(&p->ir, from->ir.nnodes, err) : no_memory(err);
    for (int i = 0; st == CUBED_OK && i < from->ir.nnodes; i++) {
        cb_node node = from->ir.nodes[i];
        node.inputs =
            cb_zone_memdup(from->ir.zone, node.inputs, (size_t)node.ninputs * sizeof(int));
        if (!node.inputs) {
            st = no_memory(err);
            break;
        }
        for (int k = 0; k < node.ninputs; k++) node.inputs[k] = renamed[node.inputs[k]];
        st = each(ctx, from, &p->ir, i, &node, &renamed[i], err);
    }
    for (int i = 0; st == CUBED_OK && i < p->ntargets; i++)
        p->targets[i] = renamed[from->targets[i]];
    cb_free(&p->ctx->alloc, renamed, n * sizeof *renamed);
    return st;
}

/* Creates the rewritten plan `to` from `from`. Both plans are complete afterwards and have separate zones; the caller frees one
 * of the plans. */
static cubed_status rewrite(cubed_plan *from, cb_rewrite_fn each, void *ctx, cubed_plan *to,
                            cubed_error *err)
{
    *to = *from;
    to->ir = (cb_ir){0};
    to->stages = NULL;
    to->nstages = 0;
    to->storage = NULL;
    CB_TRY(cb_zone_new(&from->ctx->alloc, &to->ir.zone, err));
    to->targets = cb_zone_alloc(to->ir.zone, (size_t)from->ntargets * sizeof *to->targets + 1);
    cubed_status st = to->targets ? copy_nodes(to, from, each, ctx, err) : no_memory(err);
    if (st == CUBED_OK) st = move_storage(to, from, err);
    if (st != CUBED_OK) cb_zone_free(to->ir.zone);
    return st;
}

/* Replaces the contents of plan p by the contents of `to`. */
static void replace_contents(cubed_plan *p, const cubed_plan *to)
{
    cb_zone_free(p->ir.zone);
    *p = *to;
}

cubed_status cb_opt_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx, cubed_error *err)
{
    cubed_plan to;
    CB_TRY(rewrite(p, each, ctx, &to, err));
    replace_contents(p, &to);
    return CUBED_OK;
}

static cubed_status keep_node(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *node,
                              int *out, cubed_error *err)
{
    (void)ctx;
    (void)p;
    (void)i;
    return cb_ir_add(to, node, out, err);
}

/* Copies the data from which stages are compiled; node numbers are unchanged. */
static cubed_status copy_stages(cubed_plan *to, const cubed_plan *from, cubed_error *err)
{
    to->stages = cb_zone_alloc(to->ir.zone, (size_t)from->nstages * sizeof *to->stages + 1);
    if (!to->stages) return no_memory(err);
    for (; to->nstages < from->nstages; to->nstages++) {
        const cb_stage *s = &from->stages[to->nstages];
        cb_stage *made = &to->stages[to->nstages];
        made->nouts = s->nouts;
        made->coop = s->coop;
        memcpy(made->task_chunks, s->task_chunks, sizeof made->task_chunks);
        made->outs = cb_zone_memdup(to->ir.zone, s->outs, (size_t)s->nouts * sizeof *s->outs);
        if (!made->outs) return no_memory(err);
    }
    return CUBED_OK;
}

cubed_status cb_opt_tidy(cubed_plan *p, cubed_error *err)
{
    cubed_plan to;
    CB_TRY(rewrite(p, keep_node, NULL, &to, err));
    cubed_status st = copy_stages(&to, p, err);
    if (st == CUBED_OK)
        replace_contents(p, &to);
    else
        cb_zone_free(to.ir.zone);
    return st;
}

uint64_t cb_opt_traffic(const cubed_plan *p)
{
    uint64_t bytes = 0;
    for (int i = 0; i < p->nstages; i++)
        bytes = cb_sat_add(bytes, cb_sat_add(p->stages[i].bytes_read, p->stages[i].bytes_written));
    return bytes;
}

static bool fits(const cubed_plan *p)
{
    for (int i = 0; i < p->nstages; i++) {
        if (cb_opt_need(p, p->stages[i].need) > cb_opt_task_mem(p)) return false;
    }
    return true;
}

cubed_status cb_opt_try_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx, cb_better_fn better,
                                bool *done, cubed_error *err)
{
    cubed_plan to;
    *done = false;
    CB_TRY(rewrite(p, each, ctx, &to, err));
    cubed_status st = cb_opt_make_stages(&to, true, err);
    *done = st == CUBED_OK && fits(&to) && better(ctx, &to, p);
    if (*done)
        replace_contents(p, &to);
    else
        cb_zone_free(to.ir.zone);
    return st;
}
