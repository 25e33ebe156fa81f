/* What is worth keeping when it has been decoded.
 *
 * Where blocks lie across the chunks of an array, neighbouring tasks read the same chunks; so do functions
 * on whole blocks, and several loads of one array. What is stored as it is the system keeps by itself. */
#include "mem/pages.h"
#include "plan/need.h"

/* Behind a header, and of large ones in pages of their own. */
static uint64_t kept_bytes(uint64_t count, size_t size)
{
    size_t each = cb_sat_add(size, 256);
    return cb_sat_mul(count, size < 1 << 15 ? each : cb_pages_round(each));
}

static bool is_decoded(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->source || (n->url && !cb_codec_chain_is_raw(&p->storage[node].meta.codecs));
}

/* Visits loads of what is decoded, chunk by chunk: first to count those of each array and to mark arrays of
 * which a load reads chunks again, then to say so to all loads of a marked array that has several. */
static void visit_loads(cubed_plan *p, int *count, bool marked)
{
    const cb_program *prog;
    for (int s = 0; s < p->nstages; s++) {
        for (int k = 0; (prog = cb_stage_program(&p->stages[s], k)) != NULL; k++) {
            for (int b = 0; b < prog->nbranches; b++) {
                for (int v = 0; v < prog->branches[b].nloads; v++) {
                    cb_load *l = &prog->branches[b].loads[v];
                    if (l->kind != CB_LOAD_STORED || l->part || !is_decoded(p, l->node)) continue;
                    cb_storage *x = &p->storage[l->node];
                    if (!marked) {
                        count[l->node]++;
                        x->again = x->again || l->again != CB_AGAIN_NONE;
                    } else if (x->again && count[l->node] > 1) {
                        l->again = CB_AGAIN_ALL;
                    }
                }
            }
        }
    }
}

uint64_t cb_plan_mark_again(cubed_plan *p)
{
    uint64_t all = 0, spare = cb_plan_spare(p, true);
    int *loads = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof *loads + 1);
    if (!loads) return 0; /* a run without a cache is only slower */
    for (int i = 0; i < p->ir.nnodes; i++) p->storage[i].again = false;
    visit_loads(p, loads, false);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (loads[i] == 0) continue;
        uint64_t bytes = kept_bytes((uint64_t)cb_grid_count(&n->grid), cb_chunk_bytes(p, i));
        /* Loads that come one after another find only what is kept until then. */
        if (loads[i] > 1 && bytes <= spare) p->storage[i].again = true;
        if (p->storage[i].again) all = cb_sat_add(all, bytes);
        size_t index = n->kind == CB_NODE_ZARR ? cb_zarr_index_bytes(&p->storage[i].meta) : 0;
        if (index == 0) continue;
        const cb_zarr_meta *m = &p->storage[i].meta;
        uint64_t shards = 1;
        for (int d = 0; d < m->ndim; d++)
            shards = cb_sat_mul(shards, (size_t)cb_ceil_div(m->shape[d], m->chunk[d]));
        all = cb_sat_add(all, kept_bytes(shards, index));
    }
    visit_loads(p, loads, true);
    return all;
}
