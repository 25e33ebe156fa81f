/* Information about plans (cubed/plan.h). */
#include <string.h>

#include "base/error.h"
#include "chunks/chunk_need.h"
#include "exec/plan/limits.h"
#include "exec/plan/operations.h"
#include "exec/plan/operator.h"

void cubed_plan_get_info(const cubed_plan *p, cubed_plan_info *info)
{
    memset(info, 0, sizeof *info);
    info->num_stages = p->nstages;
    info->coop = 1;
    info->allowed_mem = p->allowed_mem;
    info->reserved_mem = p->reserved_mem;
    info->metadata_mem = p->metadata_mem;
    info->max_workers = p->max_workers;
    info->intermediate_budget = p->intermediate_budget;
    info->cache_budget = cb_min_size(p->cache_bytes, cb_plan_spare(p, true));
    info->result_bytes = p->result_bytes;
    info->work_dir = p->work_dir;
    info->resumable = cb_plan_is_known(p);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        info->num_arrays += n->stored;
        info->code = info->code || (n->source && n->source->fn && n->source->fn->code);
        info->waits = info->waits || n->source || cb_node_waits_for(p, i);
        size_t size = 1;
        for (int d = 0; d < n->grid->ndim; d++)
            size = cb_sat_mul(size, (size_t)n->grid->axis[d].extent);
        info->elements = cb_sat_add(info->elements, size);
    }
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        info->num_tasks += s->ntasks;
        if (s->coop > info->coop) info->coop = s->coop;
        info->bytes_read = cb_sat_add(info->bytes_read, s->bytes_read);
        info->bytes_written = cb_sat_add(info->bytes_written, s->bytes_written);
        info->requests = cb_sat_add(info->requests, cb_sat_add(s->chunks_read, s->chunks_written));
        info->code = info->code || cb_stage_code(s) ||
                     (s->call && cb_block_fn_is_shared(s->call->op->function));
        if (cb_plan_projected(p, s) > info->projected_mem)
            info->projected_mem = cb_plan_projected(p, s);
    }
    uint64_t kept = p->cache_bytes;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        const size_t chunks = (size_t)cb_grid_count(n->grid);
        if (cb_node_is_intermediate(n))
            kept = cb_sat_add(kept, cb_sat_mul(chunks, cb_chunk_bytes(p, i)));
    }
    kept = cb_min_size(kept, cb_plan_spare(p, true));
    info->process_mem = cb_sat_add(cb_sat_mul(p->max_workers, cb_plan_worker_mem(p)), kept);
    for (int i = 0; i < p->nstages; i++) {
        cubed_stage_info s;
        cb_stage_seconds(p, &p->stages[i], &s);
        info->seconds += s.seconds;
        info->compute_seconds += s.read_seconds + s.compute_seconds + s.write_seconds;
    }
}

cubed_status cubed_plan_get_stage(const cubed_plan *p, int stage, cubed_stage_info *info,
                                  cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d does not exist: the plan has %d stages", stage,
                       p->nstages);
    const cb_stage *s = &p->stages[stage];
    *info = (cubed_stage_info){.name = s->name,
                               .num_tasks = s->ntasks,
                               .coop = s->coop,
                               .projected_mem = cb_plan_projected(p, s),
                               .bytes_read = s->bytes_read,
                               .bytes_written = s->bytes_written,
                               .chunks_read = s->chunks_read,
                               .chunks_written = s->chunks_written,
                               .num_inputs = s->ninputs,
                               .num_outputs = s->nouts};
    cb_stage_seconds(p, s, info);
    return CUBED_OK;
}

const char *cubed_plan_get_codec(const cubed_plan *p, int id, int i)
{
    if (id < 0 || id >= p->ir.nnodes || !p->storage[id]) return NULL;
    const cb_codec_chain *c = &p->storage[id]->meta.codecs;
    return i >= 0 && i < c->nsteps ? c->step[i].vt->name : NULL;
}

static void describe(const cubed_plan *p, int node, cubed_stored_info *info)
{
    const cb_node *n = &p->ir.nodes[node];
    *info = (cubed_stored_info){.id = node,
                                .name = n->url,
                                .is_source = cb_node_is_source(n),
                                .is_target = n->is_target,
                                .why = cb_why_text(n->why),
                                .array = n->array,
                                .dtype = n->dtype,
                                .ndim = n->grid->ndim};
    if (!info->name)
        info->name = n->source              ? n->source->name
                     : n->name              ? n->name
                     : n->to_memory         ? "result"
                     : cb_node_is_source(n) ? "memory"
                                            : "intermediate";
    for (int d = 0; d < n->grid->ndim; d++) {
        info->shape[d] = n->grid->axis[d].extent;
        info->chunks[d] = n->grid->axis[d].chunk;
    }
}

cubed_status cubed_plan_get_input(const cubed_plan *p, int stage, int i, cubed_stored_info *info,
                                  cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages || i < 0 || i >= p->stages[stage].ninputs)
        return cb_fail(err, CUBED_E_INDEX, "there is no input %d of stage %d", i, stage);
    describe(p, p->stages[stage].inputs[i], info);
    return CUBED_OK;
}

cubed_status cubed_plan_get_output(const cubed_plan *p, int stage, int i, cubed_stored_info *info,
                                   cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages || i < 0 || i >= p->stages[stage].nouts)
        return cb_fail(err, CUBED_E_INDEX, "there is no output %d of stage %d", i, stage);
    describe(p, p->stages[stage].outs[i].node, info);
    return CUBED_OK;
}
