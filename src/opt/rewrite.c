#include <string.h>

#include "base/error.h"
#include "opt/opt.h"

static cubed_status move_storage(cubed_plan *p, int nold, const cb_ir *to, cubed_error *err)
{
    const cb_storage *old = p->storage;
    cb_storage *storage = cb_zone_alloc(p->ir.zone, (size_t)to->nnodes * sizeof *storage + 1);
    if (!storage) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    for (int i = 0, k = 0; i < to->nnodes; i++) {
        if (!to->nodes[i].url) continue;
        while (k < nold && !old[k].where) k++;
        storage[i] = old[k++];
        cb_codec_chain_fix(&storage[i].meta.codecs);
    }
    p->storage = storage;
    return CUBED_OK;
}

cubed_status cb_opt_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx, cubed_error *err)
{
    cb_ir to = {.zone = p->ir.zone};
    int *renamed = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof(int) + 1);
    if (!renamed) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node n = p->ir.nodes[i];
        n.inputs = cb_zone_memdup(p->ir.zone, n.inputs, (size_t)n.ninputs * sizeof(int));
        if (!n.inputs) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
        for (int k = 0; k < n.ninputs; k++) n.inputs[k] = renamed[n.inputs[k]];
        CB_TRY(each(ctx, p, &to, i, &n, &renamed[i], err));
    }
    if (p->storage) CB_TRY(move_storage(p, p->ir.nnodes, &to, err));
    for (int i = 0; i < p->ntargets; i++) p->targets[i] = renamed[p->targets[i]];
    p->ir = to;
    return CUBED_OK;
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
    const cubed_plan before = *p; /* nodes and stages are replaced, never changed */
    int *targets = cb_zone_memdup(p->ir.zone, p->targets, (size_t)p->ntargets * sizeof(int));
    *done = false;
    if (!targets) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    cubed_status st = cb_opt_rewrite(p, each, ctx, err);
    if (st == CUBED_OK) st = cb_opt_make_stages(p, true, err);
    *done = st == CUBED_OK && fits(p) && better(ctx, p, &before);
    if (*done) return CUBED_OK;
    p->ir = before.ir;
    p->storage = before.storage;
    p->stages = before.stages;
    p->nstages = before.nstages;
    p->targets = targets;
    return st;
}
