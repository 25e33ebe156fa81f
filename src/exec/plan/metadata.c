/* Computes the memory of a plan and its run in addition to the memory of tasks. This memory is known before the run, and counts
 * towards the memory limits. */
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "exec/plan/limits.h"
#include "exec/plan/operator.h"
#include "exec/plan/requests.h"
#include "files/files.h"

/* Returns the number of bytes of a set with one bit per chunk, in words of 64 bits. */
static uint64_t bits(const cb_grid *g) { return (uint64_t)cb_ceil_div(cb_grid_count(g), 64) * 8; }

/* Returns the memory of a run in addition to its tasks. If `most` is set, assumes that the maximum number of tasks waits for
 * chunks. */
static uint64_t run_bytes(const cubed_plan *p, bool most)
{
    uint64_t held = most ? UINT64_MAX : 0, waiting = most ? (size_t)p->nstages : 0;
    uint64_t bytes = cb_sat_mul((size_t)p->ir.nnodes, CB_RUN_NODE_BYTES);
    bytes += cb_sat_mul((size_t)p->nstages, CB_RUN_STAGE_BYTES);
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        /* a user-defined function and its data stay in memory until the run ends */
        if (cb_stage_code(s)) bytes = cb_sat_add(bytes, s->call->op->params_size);
        if (s->level == 0) continue;
        held = cb_sat_add(held, (size_t)s->ntasks);
        waiting += !most;
    }
    held = cb_min_size(held, cb_max_size((size_t)CB_RUN_WINDOW, waiting));
    bytes = cb_sat_add(bytes, cb_sat_mul(held, CB_RUN_HELD_BYTES));
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->stored && waiting > 0) bytes = cb_sat_add(bytes, bits(n->grid));
        if (n->is_target && n->url) bytes = cb_sat_add(bytes, CB_RUN_TARGET_BYTES);
        if (cb_node_is_intermediate(n))
            bytes =
                cb_sat_add(bytes, cb_sat_mul((size_t)cb_grid_count(n->grid), CB_RUN_CHUNK_BYTES));
    }
    return bytes;
}

/* Extends a box by the part of a source that a branch reads. The box is empty before the first branch. */
static void add_image(const cubed_plan *p, const cb_program *prog, const cb_branch *b, int node,
                      cb_box *all)
{
    cb_box domain = {.ndim = prog->ndim}, image;
    memcpy(domain.lo, b->lo, (size_t)prog->ndim * sizeof *b->lo);
    memcpy(domain.hi, b->hi, (size_t)prog->ndim * sizeof *b->hi);
    if (cb_box_empty(&domain)) return;
    for (int v = 0; v < b->nloads; v++) {
        const cb_load *l = &b->loads[v];
        if (l->kind != CB_LOAD_STORED || l->node != node) continue;
        cb_load_image(&p->ir, l, &domain, &image);
        all->ndim = image.ndim;
        for (int d = 0; d < image.ndim; d++) {
            all->lo[d] = cb_min_i64(all->lo[d], image.lo[d]);
            all->hi[d] = cb_max_i64(all->hi[d], image.hi[d]);
        }
    }
}

/* Sets *all to a box with all elements of a source that stages read. Returns false if no stage reads the source. */
static bool find_read(const cubed_plan *p, int node, cb_box *all)
{
    const cb_program *prog;
    all->ndim = -1;
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        all->lo[d] = INT64_MAX;
        all->hi[d] = 0;
    }
    for (int i = 0; i < p->nstages; i++) {
        for (int k = 0; (prog = cb_stage_program(&p->stages[i], k)) != NULL; k++) {
            for (int b = 0; b < prog->nbranches; b++)
                add_image(p, prog, &prog->branches[b], node, all);
        }
    }
    return all->ndim >= 0;
}

static cubed_status know_chunks(void *plan, size_t i, cubed_error *err)
{
    const cubed_plan *p = plan;
    const cb_storage *s = p->storage[i];
    cb_box elements, objects;
    if (!s || !s->store || !cb_file_refers(s->store) || !find_read(p, (int)i, &elements))
        return CUBED_OK;
    const cb_box whole = cb_box_whole(s->meta.ndim, s->meta.shape);
    cb_box_intersect(&elements, &whole, &elements);
    if (cb_box_empty(&elements)) return CUBED_OK;
    const cb_grid grid = cb_plan_object_grid(&s->meta);
    cb_grid_cover(&grid, &elements, &objects);
    return cb_file_know_chunks(s->store, s->place.path, objects.ndim, objects.lo, objects.hi, err);
}

cubed_status cb_plan_know_chunks(cubed_plan *p, cubed_error *err)
{
    bool any = false;
    for (int i = 0; p->storage && i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage[i];
        any = any || (s && s->store && cb_file_refers(s->store));
    }
    return any ? cb_pool_each(&p->ctx->alloc, (size_t)p->ir.nnodes, cb_plan_sources_at_once(p),
                              know_chunks, p, err)
               : CUBED_OK;
}

/* Returns the memory of open arrays, each with its store. Sources are open as long as the plan exists. Results are included,
 * because a run opens them in the same way. */
static uint64_t open_bytes(const cubed_plan *p)
{
    uint64_t bytes = 0;
    for (int i = 0; p->storage && i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage[i];
        if (!s) continue;
        bytes += CB_STORE_BYTES + strlen(s->place.store);
        if (s->store) bytes += cb_file_bytes(s->store);
        bytes += s->array ? cb_zarr_bytes(s->array) : 2 * sizeof s->meta;
    }
    return bytes;
}

uint64_t cb_plan_run_bytes(const cubed_plan *p) { return run_bytes(p, false); }

static uint64_t own_bytes(const cubed_plan *p)
{
    const uint64_t own = cb_zone_bytes(p->zone) + cb_zone_bytes(p->ir.zone);
    return cb_sat_add(own + open_bytes(p) + cb_requests_bytes(p), p->graph_mem);
}

uint64_t cb_plan_metadata(const cubed_plan *p)
{
    return cb_sat_add(own_bytes(p), run_bytes(p, false));
}

uint64_t cb_plan_most_metadata(const cubed_plan *p)
{
    return cb_sat_add(own_bytes(p), run_bytes(p, true));
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
