/* Chooses how the blocks of a reduction are processed, when a stage is compiled. The choice depends on the stage's reads and on
 * the size of blocks. */
#include "base/error.h"
#include "exec/operators/reducer.h"

/* Maximum size in bytes of the parts of chunks that are in buffers at the same time, except that one slice has at least one
 * element along its axis. A limit saves time, because the operating system clears new pages on first use, which takes as long
 * as decoding. */
#define SLICE_BYTES ((size_t)32 << 20)

/* A part of a chunk is decoded piecewise only if it has at least this many codec blocks. */
#define LEAST_PIECES 4

/* Returns true if rows of a block are contiguous runs of a chunk, in stored order. */
static bool is_in_order(const cubed_plan *p, const cb_stage_reduce *r, const cb_load *l, int inner,
                        const int64_t *extents)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    const int64_t origin[CUBED_MAX_NDIM] = {0};
    int64_t chunk[CUBED_MAX_NDIM], stride[CUBED_MAX_NDIM], seen[CUBED_MAX_NDIM] = {0};
    int64_t next = (int64_t)cubed_dtype_size(l->dtype), before = INT64_MAX;
    for (int d = 0; d < g->ndim; d++) chunk[d] = g->axis[d].chunk;
    cb_dense_strides(g->ndim, chunk, (size_t)next, stride);
    (void)cb_map_strides(l->map, origin, stride, origin, seen);
    for (int d = r->domain->ndim - 1; d >= inner; d--) {
        if (extents[d] <= 1) continue;
        if (seen[d] != next) return false;
        /* If a block does not include this axis entirely, the axes before it can be part of the run only if their extent is 1. */
        next = extents[d] == r->domain->axis[d].extent ? next * extents[d] : -1;
    }
    for (int reduced = 0; reduced < 2; reduced++) {
        for (int d = 0; d < inner; d++) {
            if ((int)(r->reduced >> d & 1) != reduced || extents[d] <= 1) continue;
            if (seen[d] <= 0 || seen[d] > before) return false;
            before = seen[d];
        }
    }
    return true;
}

static void set_pieces(const cubed_plan *p, const cb_stage_reduce *r, int inner,
                       const int64_t *extents)
{
    const cb_branch *b = &r->body.branches[0];
    for (int d = 0; d < r->domain->ndim; d++) {
        if (b->lo[d] > 0 || b->hi[d] < r->domain->axis[d].extent) return;
    }
    for (int v = 0; v < b->nloads; v++) {
        cb_load *l = &b->loads[v];
        if (l->kind != CB_LOAD_STORED || !l->subread || l->tile) continue;
        const size_t block = cb_node_codec_block_bytes(p, l->node);
        l->piecewise = block > 0 && cb_load_bytes(p, l, extents) / block >= LEAST_PIECES &&
                       is_in_order(p, r, l, inner, extents);
    }
}

/* If runs are shorter than this number of elements, it is faster to evaluate all values before they are reduced. */
#define LEAST_RUN 32

bool cb_reduce_goes_along(const cb_stage_reduce *r, const cb_branch *b)
{
    int d = r->domain->ndim - 1;
    while (d > 0 && r->domain->axis[d].extent == 1) d--;
    const int64_t run = b->hi[d] - b->lo[d];
    return r->reduced >> d & 1 || run >= LEAST_RUN || run == r->domain->axis[d].extent;
}

static bool is_apart(const cb_stage_reduce *r)
{
    for (int i = 0; i < r->body.nbranches; i++) {
        const cb_branch *b = &r->body.branches[i];
        for (int d = 0; d < r->domain->ndim; d++) {
            if (r->reduced >> d & 1 && b->hi[d] - b->lo[d] < r->domain->axis[d].extent)
                return false;
        }
    }
    return true;
}

/* Returns the number of rows that are reduced together for blocks with these extents. It is 1 unless all loads are decoded
 * piecewise. The pieces of additional rows use at most a quarter of the size of the states. */
static int choose_rows(const cubed_plan *p, const cb_stage_reduce *r, int inner,
                       const int64_t *extents)
{
    const cb_branch *b = &r->body.branches[0];
    int64_t rows = 1;
    size_t bytes = 0, states = 0;
    for (int v = 0; v < b->nloads; v++) {
        if (b->loads[v].kind != CB_LOAD_STORED) continue;
        if (!b->loads[v].piecewise) return 1;
        bytes = cb_sat_add(bytes, cb_load_bytes(p, &b->loads[v], extents));
    }
    if (bytes == 0) return 1;
    for (int k = 0; k < r->n; k++)
        states += (size_t)r->list[k].nplanes * cubed_dtype_size(r->list[k].dtype);
    for (int d = 0; d < r->domain->ndim; d++) {
        if (!(r->reduced >> d & 1))
            states = cb_sat_mul(states, (size_t)extents[d]);
        else if (d < inner)
            rows = cb_min_i64(CB_REDUCE_MOST_ROWS,
                              rows * cb_min_i64(CB_REDUCE_MOST_ROWS, cb_max_i64(1, extents[d])));
    }
    return (int)cb_min_size((size_t)rows, 1 + states / 4 / bytes);
}

void cb_reduce_set_ways(const cubed_plan *p, cb_stage *s)
{
    cb_stage_reduce *r = s->reduce;
    cb_blocks domain[CUBED_MAX_NDIM + 1];
    int64_t extents[CUBED_MAX_NDIM];
    bool inner_reduced;
    size_t bytes = 0;
    int d = 0;
    r->slice = 0;
    r->rows = 1;
    r->apart = is_apart(r);
    const int inner = cb_reduce_inner(r->domain, r->reduced, &inner_reduced);
    if (inner_reduced || r->body.nbranches != 1) return;
    cb_program_blocks(s, 0, domain);
    for (int j = 0; j < r->domain->ndim; j++) extents[j] = cb_blocks_most(&domain[j]);
    set_pieces(p, r, inner, extents);
    r->rows = choose_rows(p, r, inner, extents);
    while (d < r->domain->ndim && (!(r->reduced >> d & 1) || extents[d] <= 1)) d++;
    if (d == r->domain->ndim) return;
    const int64_t all = extents[d];
    extents[d] = 1;
    for (int v = 0; v < r->body.branches[0].nloads; v++) {
        const cb_load *l = &r->body.branches[0].loads[v];
        if (l->kind != CB_LOAD_STORED || l->piecewise) continue;
        /* Do not slice such loads: slices would cause more calls of source functions, or more requests to stores with latency. */
        if (!l->subread || l->tile || !p->ir.nodes[l->node].url || cb_node_waits_for(p, l->node))
            return;
        bytes = cb_sat_add(bytes, cb_load_bytes(p, l, extents));
    }
    const int64_t steps = bytes ? cb_max_i64(1, (int64_t)(SLICE_BYTES / bytes)) : all;
    if (steps >= all) return;
    r->slice_axis = d;
    r->slice = steps;
}
