/* What a plan and a run of it keep beside the memory of tasks: known before the run, and part of the limits. */
#include <string.h>

#include "plan/plan.h"

/* Chunks of intermediates that the tasks of a stage wait for, at most: each as often as a task reads it. What is
 * gathered or picked is waited for as a whole. */
static uint64_t edges(const cubed_plan *p, const cb_stage *s)
{
    uint64_t n = s->chunks_read, all = 0;
    for (int i = 0; s->call && i < s->call->op->nin; i++) {
        if (s->call->compress || s->call->op->in[i].gather.most > 0)
            all += (uint64_t)cb_grid_count(&p->ir.nodes[s->call->inputs[i].node].grid);
    }
    return cb_sat_add(n, cb_sat_mul(all, (size_t)s->ntasks));
}

uint64_t cb_plan_run_bytes(const cubed_plan *p)
{
    bool waits = false;
    uint64_t bytes = cb_sat_mul((size_t)p->ir.nnodes, CB_RUN_NODE_BYTES);
    bytes += cb_sat_mul((size_t)p->nstages, CB_RUN_STAGE_BYTES);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->is_target && n->url) bytes = cb_sat_add(bytes, CB_RUN_TARGET_BYTES);
        if (!cb_node_is_intermediate(n)) continue;
        waits = true;
        bytes = cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(&n->grid), CB_RUN_CHUNK_BYTES));
    }
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        bytes = cb_sat_add(bytes, cb_sat_mul((size_t)s->ntasks, CB_RUN_TASK_BYTES));
        /* What is made of code, and of the data that came with it, is kept until the run is over. */
        if (s->call && s->call->fn && s->call->fn->code)
            bytes = cb_sat_add(bytes, s->call->op->params_size);
        if (waits && s->level > 0)
            bytes = cb_sat_add(bytes, cb_sat_mul((size_t)edges(p, s), CB_RUN_EDGE_BYTES));
    }
    return bytes;
}

/* Arrays that are open while the plan lives, each with its store, and results, which a run opens the same way. */
static uint64_t open_bytes(const cubed_plan *p)
{
    uint64_t bytes = 0;
    for (int i = 0; p->storage && i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage[i];
        if (!s) continue;
        bytes += CB_STORE_BYTES + strlen(s->where);
        bytes += s->array ? cb_zarr_bytes(s->array) : 2 * sizeof s->meta;
    }
    return bytes;
}

uint64_t cb_plan_metadata(const cubed_plan *p)
{
    const uint64_t own = cb_zone_bytes(p->zone) + cb_zone_bytes(p->ir.zone);
    return cb_sat_add(cb_sat_add(own + open_bytes(p), p->graph_mem), cb_plan_run_bytes(p));
}

uint64_t cb_plan_uncounted_metadata(uint64_t reserved_mem)
{
    return reserved_mem / 4 < CB_PLAN_FREE_BYTES ? CB_PLAN_FREE_BYTES : reserved_mem / 4;
}

uint64_t cb_plan_counted_metadata(uint64_t metadata, uint64_t reserved_mem)
{
    const uint64_t uncounted = cb_plan_uncounted_metadata(reserved_mem);
    return metadata > uncounted ? metadata - uncounted : 0;
}
