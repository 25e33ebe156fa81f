/* Finds decoded chunks that are worth caching.
 *
 * Adjacent tasks read the same chunks if blocks cross the chunks of an array. Functions on whole blocks and several loads of
 * one array also read chunks repeatedly. Unencoded data are not cached here, because the system caches them. If chunks are
 * decoded piecewise, a codec block in which one run of elements ends and another begins is cached until both runs have been
 * read. */
#include "exec/plan/limits.h"
#include <string.h>

#include "exec/plan/operator.h"
#include "exec/plan/reuse.h"
#include "exec/plan/traffic.h"
#include "mem/pages.h"

/* Returns the memory that is needed to cache `count` chunks. Each chunk has a header, and large chunks use whole pages. */
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

/* Visits the loads that decode chunks. The first call counts the loads of each array, and finds arrays with a load that reads
 * chunks repeatedly. The second call (`marked` is set) marks all loads of these arrays if an array has several loads. */
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

/* Returns the memory that is needed to cache the codec blocks that two runs share. Each worker processes several rows at once,
 * and reaches the end of the last row before it begins the next rows. */
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
    if (!loads) return 0; /* out of memory: plans no cache, so the run is only slower */
    for (int i = 0; i < p->ir.nnodes; i++) p->reused[i] = false;
    visit_loads(p, loads, false);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (loads[i] == 0) continue;
        uint64_t bytes = kept_bytes((uint64_t)cb_grid_count(n->grid), cb_chunk_bytes(p, i));
        /* If several loads read one array, the later loads find a chunk in the cache only if it stays there after the first
         * load. */
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

/* Returns the number of blocks along an axis that have elements in [lo, hi). */
static size_t blocks_between(const cb_blocks *b, int64_t lo, int64_t hi)
{
    int64_t first = cb_axis_find(b->axis, lo), last = cb_axis_find(b->axis, hi - 1);
    return (size_t)(last / b->per - first / b->per + 1);
}

/* Returns the number of blocks of a branch for which this load reads the chunk. It is the product of such numbers for each
 * axis. */
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
