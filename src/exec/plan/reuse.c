/* Finds decoded chunks that are worth caching.
 *
 * Adjacent tasks read the same chunks if blocks cross the chunks of an array. Functions on whole blocks and several loads of one
 * array also read chunks repeatedly. Unencoded data are not cached here, because the operating system caches them. If chunks are
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

/* Visits the loads that decode chunks. The first call counts the loads of each array, with each group of loads as one load. It
 * also finds arrays with a load that reads chunks repeatedly. The second call (`marked` is set) marks all loads of these arrays
 * if an array has several loads. */
static void visit_loads(cubed_plan *p, int *count, bool marked)
{
    const cb_program *prog;
    for (int s = 0; s < p->nstages; s++) {
        for (int k = 0; (prog = cb_stage_program(&p->stages[s], k)) != NULL; k++) {
            for (int b = 0; b < prog->nbranches; b++) {
                for (int v = 0; v < prog->branches[b].nloads; v++) {
                    cb_load *l = &prog->branches[b].loads[v];
                    if (l->kind != CB_LOAD_STORED || l->subread || !cb_node_is_decoded(p, l->node))
                        continue;
                    if (!marked) {
                        count[l->node] += !l->follows;
                        p->reused[l->node] = p->reused[l->node] || l->reuse != CB_REUSE_NONE;
                    } else if (p->reused[l->node] && count[l->node] > 1) {
                        l->reuse = CB_REUSE_ALL;
                    }
                }
            }
        }
    }
}

/* Returns the memory that is needed to cache the codec blocks that two runs share. Each worker processes several rows at the same
 * time, and reaches the end of the last row before it begins the next rows. */
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

/* Returns true if a block needs a chunk exactly if it has elements of the chunk: no load of the group skips whole chunks, and
 * the offsets of the loads differ along one axis at most, by at most the length of a chunk. */
static bool is_countable(const cubed_plan *p, const cb_branch *b, int first)
{
    const cb_load *l = &b->loads[first];
    const cb_grid *g = p->ir.nodes[l->node].grid;
    int differ = 0;
    for (int d = 0; d < l->map->ndim_out; d++) {
        const int64_t stride = l->map->dim[d].stride, chunk = g->axis[d].chunk;
        int64_t least = l->map->dim[d].offset, most = least;
        for (int v = l->next; v > 0; v = b->loads[v].next) {
            least = cb_min_i64(least, b->loads[v].map->dim[d].offset);
            most = cb_max_i64(most, b->loads[v].map->dim[d].offset);
        }
        differ += most > least;
        if (most - least > chunk || differ > 1) return false;
        if (l->map->dim[d].axis < 0) continue;
        if (stride != 1 && stride != -1 && (stride > chunk || -stride > chunk || g->axis[d].starts))
            return false;
    }
    return true;
}

/* Returns the number of blocks of a branch for which this load, or the group that begins with it, reads the chunk. It is the
 * product of the numbers of blocks along each axis. */
static size_t load_reads(const cubed_plan *p, const cb_branch *b, int first, const cb_blocks *axes,
                         const int64_t *idx)
{
    const cb_load *l = &b->loads[first];
    const int ndim = l->map->ndim_in;
    cb_box chunk, all = {.ndim = -1};
    size_t reads = 1;
    int v = first;
    if (!is_countable(p, b, first)) return SIZE_MAX;
    cb_grid_box(p->ir.nodes[l->node].grid, idx, &chunk);
    do {
        cb_box part = {.ndim = ndim};
        memcpy(part.lo, b->lo, (size_t)ndim * sizeof *part.lo);
        memcpy(part.hi, b->hi, (size_t)ndim * sizeof *part.hi);
        if (!cb_map_preimage(b->loads[v].map, &chunk, &part)) continue;
        for (int j = 0; j < ndim && all.ndim == ndim; j++) {
            part.lo[j] = cb_min_i64(part.lo[j], all.lo[j]);
            part.hi[j] = cb_max_i64(part.hi[j], all.hi[j]);
        }
        all = part;
    } while ((v = b->loads[v].next) > 0);
    if (all.ndim < 0) return 0;
    for (int j = 0; j < ndim; j++)
        reads = cb_sat_mul(reads, blocks_between(&axes[j], all.lo[j], all.hi[j]));
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
                    if (l->kind != CB_LOAD_STORED || l->node != node || l->follows ||
                        l->reuse == CB_REUSE_NONE)
                        continue;
                    if (k > 1 || l->reshape || !p->stages[s].op->by_blocks) return SIZE_MAX;
                    if (!known) cb_program_blocks(&p->stages[s], k, axes);
                    known = true;
                    reads = cb_sat_add(reads, load_reads(p, &prog->branches[b], v, axes, idx));
                }
            }
        }
    }
    return reads ? reads : SIZE_MAX;
}
