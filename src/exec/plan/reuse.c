/* What is worth keeping when it has been decoded.
 *
 * Where blocks lie across the chunks of an array, neighbouring tasks read the same chunks; so do functions
 * on whole blocks, and several loads of one array. What is stored as it is the system keeps by itself. Of chunks that are
 * decoded piecewise, blocks of the codec in which one run ends and another begins are kept from the one to the other. */
#include "exec/plan/limits.h"
#include <string.h>

#include "exec/plan/operator.h"
#include "exec/plan/reuse.h"
#include "exec/plan/traffic.h"
#include "mem/pages.h"

/* The memory that keeping `count` chunks takes: each is behind a header, and large ones have pages of their own. */
static uint64_t kept_bytes(uint64_t count, size_t size)
{
    size_t each = cb_sat_add(size, 256);
    return cb_sat_mul(count, size < 1 << 15 ? each : cb_pages_round(each));
}

static bool is_decoded(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->source || (n->url && !cb_codec_chain_is_raw(&p->storage[node]->meta.codecs));
}

/* Goes through the loads of arrays that are decoded twice: first to count the loads of each array, and to find arrays
 * of which a load reads chunks again; then to tell all loads of an array that was found, if it has several. */
static void visit_loads(cubed_plan *p, int *count, bool marked)
{
    const cb_program *prog;
    for (int s = 0; s < p->nstages; s++) {
        for (int k = 0; (prog = cb_stage_program(&p->stages[s], k)) != NULL; k++) {
            for (int b = 0; b < prog->nbranches; b++) {
                for (int v = 0; v < prog->branches[b].nloads; v++) {
                    cb_load *l = &prog->branches[b].loads[v];
                    if (l->kind != CB_LOAD_STORED || l->subread || !is_decoded(p, l->node))
                        continue;
                    if (!marked) {
                        count[l->node]++;
                        p->reused[l->node] = p->reused[l->node] || l->reuse != CB_REUSE_NONE;
                    } else if (p->reused[l->node] && count[l->node] > 1) {
                        l->reuse = CB_REUSE_ALL;
                    }
                }
            }
        }
    }
}

/* What it takes to keep the blocks that runs share: each worker goes through some rows at once, and comes to the end of the
 * last one's before the next. */
static uint64_t shared_blocks(const cubed_plan *p)
{
    uint64_t all = 0;
    for (int s = 0; s < p->nstages; s++) {
        const cb_stage_reduce *r = p->stages[s].reduce;
        uint64_t bytes = 0;
        for (int v = 0; r && r->body.nbranches == 1 && v < r->body.branches[0].nloads; v++) {
            const cb_load *l = &r->body.branches[0].loads[v];
            if (l->kind != CB_LOAD_STORED || !l->piecewise) continue;
            const uint64_t count = cb_sat_mul((size_t)r->rows + 1, p->max_workers);
            bytes = cb_sat_add(bytes, kept_bytes(count, cb_kept_codec_block_bytes(p, l->node)));
        }
        all = cb_max_size(all, bytes);
    }
    return all;
}

uint64_t cb_plan_find_reuse(cubed_plan *p)
{
    uint64_t all = shared_blocks(p), spare = cb_plan_spare(p, true);
    const size_t size = (size_t)p->ir.nnodes * sizeof(int);
    int *loads = cb_alloc_zero(&p->ctx->alloc, size);
    if (!loads) return 0; /* a run without a cache is only slower */
    for (int i = 0; i < p->ir.nnodes; i++) p->reused[i] = false;
    visit_loads(p, loads, false);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (loads[i] == 0) continue;
        uint64_t bytes = kept_bytes((uint64_t)cb_grid_count(n->grid), cb_chunk_bytes(p, i));
        /* Loads that come one after another find only what is kept until then. */
        if (loads[i] > 1 && bytes <= spare) p->reused[i] = true;
        if (p->reused[i]) all = cb_sat_add(all, bytes);
        size_t index = n->kind == CB_NODE_ZARR ? cb_zarr_index_bytes(&p->storage[i]->meta) : 0;
        if (index == 0) continue;
        const cb_grid shards = cb_plan_object_grid(&p->storage[i]->meta);
        all = cb_sat_add(all, kept_bytes((uint64_t)cb_grid_count(&shards), index));
    }
    visit_loads(p, loads, true);
    cb_free(&p->ctx->alloc, loads, size);
    return all;
}

/* --- How often a chunk is read ------------------------------------------------------------------------ */

/* Blocks along an axis that have elements in [lo, hi). */
static size_t blocks_between(const cb_blocks *b, int64_t lo, int64_t hi)
{
    int64_t first = cb_axis_find(b->axis, lo), last = cb_axis_find(b->axis, hi - 1);
    return (size_t)(last / b->per - first / b->per + 1);
}

/* Blocks of a branch that read the chunk by this load: the product over axes. */
static size_t load_reads(const cubed_plan *p, const cb_branch *b, const cb_load *l,
                         const cb_blocks *axes, const int64_t *idx)
{
    cb_box chunk, part = {.ndim = l->map->ndim_in};
    size_t reads = 1;
    for (int d = 0; d < l->map->ndim_out; d++) {
        const int64_t stride = l->map->dim[d].stride;
        if (l->map->dim[d].axis >= 0 && stride != 1 && stride != -1) return SIZE_MAX;
    }
    memcpy(part.lo, b->lo, (size_t)part.ndim * sizeof *part.lo);
    memcpy(part.hi, b->hi, (size_t)part.ndim * sizeof *part.hi);
    cb_grid_box(p->ir.nodes[l->node].grid, idx, &chunk);
    if (!cb_map_preimage(l->map, &chunk, &part)) return 0;
    for (int j = 0; j < part.ndim; j++)
        reads = cb_sat_mul(reads, blocks_between(&axes[j], part.lo[j], part.hi[j]));
    return reads;
}

size_t cb_plan_chunk_reads(const cubed_plan *p, int node, const int64_t *idx)
{
    const cb_program *prog;
    size_t reads = 0;
    for (int s = 0; s < p->nstages; s++) {
        for (int k = 0; (prog = cb_stage_program(&p->stages[s], k)) != NULL; k++) {
            cb_blocks axes[CUBED_MAX_NDIM + 1];
            bool known = false;
            for (int b = 0; b < prog->nbranches; b++) {
                for (int v = 0; v < prog->branches[b].nloads; v++) {
                    const cb_load *l = &prog->branches[b].loads[v];
                    if (l->kind != CB_LOAD_STORED || l->node != node || l->reuse == CB_REUSE_NONE)
                        continue;
                    if (k > 1 || l->reshape || !p->stages[s].op->by_blocks) return SIZE_MAX;
                    if (!known) cb_program_blocks(&p->stages[s], k, axes);
                    known = true;
                    reads = cb_sat_add(reads, load_reads(p, &prog->branches[b], l, axes, idx));
                }
            }
        }
    }
    return reads ? reads : SIZE_MAX;
}
