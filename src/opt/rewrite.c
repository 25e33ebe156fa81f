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
