/* The last step of making or loading a plan: compiles and projects stages, and checks the limits. */
#include "exec/operators/finish.h"
#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/load_need.h"
#include "exec/plan/operations.h"
#include "exec/plan/requests.h"
#include "exec/plan/stage.h"

cubed_status cb_plan_finish(cubed_plan *p, cubed_error *err)
{
    int *level = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof *level + 1);
    if (!level) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    p->need = (cb_need){0, 0};
    CB_TRY(cb_requests_open(p, err));
    for (int i = 0; i < p->nstages; i++) {
        cb_stage *s = &p->stages[i];
        s->index = i;
        CB_TRY(cb_stage_compile(p, s, err));
        s->level = cb_stage_level(p, s, level);
        for (int o = 0; o < s->nouts; o++) level[s->outs[o].node] = s->level;
        s->reads = p->reads;
        cb_stage_project(p, s);
        s->reads = NULL;
        p->need = cb_need_either(p->need, s->need);
    }
    CB_TRY(cb_plan_know_chunks(p, err));
    CB_TRY(cb_plan_estimate(p, err));
    p->metadata = cb_plan_metadata(p);
    p->metadata_mem = cb_plan_counted_metadata(p->metadata, p->reserved_mem);
    CB_TRY(cb_plan_check_limits(p, err));
    p->result_bytes = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        const bool stays =
            n->is_target && n->url && cb_store_is_of_process(&p->ctx->stores, n->url);
        if (!n->to_memory && !stays) continue;
        int64_t shape[CUBED_MAX_NDIM], count = 0;
        cb_node_shape(n, shape);
        if (cb_count(n->grid->ndim, shape, &count)) count = 0;
        p->result_bytes += (uint64_t)count * cubed_dtype_size(n->dtype);
    }
    cb_plan_share_out(p);
    return CUBED_OK;
}

cubed_status cb_plan_load(cubed_context *ctx, const void *data, size_t size, cb_plan_trust trust,
                          cubed_plan **out, cubed_error *err)
{
    cubed_plan *p;
    CB_TRY(cb_plan_read(ctx, data, size, trust, &p, err));
    cubed_status st = cb_plan_finish(p, err);
    if (st == CUBED_OK)
        *out = p;
    else
        cubed_plan_unref(p);
    return st;
}

cubed_status cubed_plan_load(cubed_context *ctx, const void *data, size_t size, cubed_plan **out,
                             cubed_error *err)
{
    return cb_plan_load(ctx, data, size, CB_TRUST_DATA, out, err);
}

cubed_status cubed_plan_load_code(cubed_context *ctx, const void *data, size_t size,
                                  cubed_plan **out, cubed_error *err)
{
    return cb_plan_load(ctx, data, size, CB_TRUST_CODE, out, err);
}
