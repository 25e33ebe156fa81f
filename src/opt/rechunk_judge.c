#include "opt/rechunk_judge.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/load_need.h"
#include "exec/plan/traffic.h"
#include "opt/opt.h"

/* Maximum number of arrays that the planner's search considers. The arrays with the most bytes are chosen. */
#define MAX_SOURCES 8
/* Number of bytes that can be read in the time of one search for tasks, which is 1 to 8 ms. */
#define SEARCH_BYTES ((size_t)4 << 20)

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
}

/* --- Lower bounds of reading -------------------------------------------------------------------------- */

/* Adds to `least` the chunks and bytes that a load must read at least in one branch: the chunks that overlap the viewed part of
 * the array, and their bytes. If parts of chunks can be read, adds only the bytes of the viewed part. */
static void add_least(const cubed_plan *p, const cb_branch *b, const cb_load *l,
                      cb_rechunk_cost *least)
{
    const cb_grid *g = p->ir.nodes[l->node].grid;
    const bool parts = cb_node_subread_run(p, l->node) > 0;
    uint64_t chunks = 1, bytes = cubed_dtype_size(l->dtype);
    for (int k = 0; k < l->map->ndim_out; k++) {
        const cb_axis *a = &g->axis[k];
        const int d = l->map->dim[k].axis;
        const int64_t stride = l->map->dim[k].stride, lo = d < 0 ? 0 : b->lo[d];
        const int64_t n = d < 0 ? 1 : b->hi[d] - lo;
        if (n <= 0) return;
        const int64_t x = l->map->dim[k].offset + stride * lo, y = x + stride * (n - 1);
        const int64_t from = cb_min_i64(x, y), to = cb_max_i64(x, y);
        const int64_t last = cb_axis_find(a, to), span = last - cb_axis_find(a, from) + 1;
        const int64_t count = cb_min_i64(span, n), end = cb_axis_count(a) - 1;
        int64_t length = count * a->chunk - (last == end ? a->chunk - cb_axis_last(a) : 0);
        if (parts) {
            int64_t seen = n;
            if (from == 0) seen += a->chunk - a->first;
            if (to == a->extent - 1) seen += cb_axis_lo(a, last) + cb_axis_last(a) - a->extent;
            length = cb_min_i64(length, seen);
        }
        chunks = cb_sat_mul(chunks, (size_t)count);
        bytes = cb_sat_mul(bytes, (size_t)length);
    }
    least->requests = cb_sat_add(least->requests, chunks);
    least->bytes = cb_sat_add(least->bytes, bytes);
}

/* Returns true if the reshape uses every element of the array. */
static bool uses_all(const cb_branch *b, const cb_load *l, const cb_grid *g)
{
    uint64_t seen = 1, all = 1;
    uint32_t axes = 0;
    for (int k = 0; k < g->ndim; k++) all = cb_sat_mul(all, (size_t)g->axis[k].extent);
    for (int k = 0; k < l->map->ndim_out; k++) {
        const int d = l->map->dim[k].axis;
        if (d < 0 || l->map->dim[k].stride == 0) continue;
        if (axes >> d & 1) return false;
        axes |= (uint32_t)1 << d;
        seen = cb_sat_mul(seen, (size_t)(b->hi[d] - b->lo[d]));
    }
    return seen == all;
}

/* Returns the minimum cost of reading the inputs of a stage. Arrays that are cheap to read again are not counted. If `reshaped`
 * is set, includes reshaped arrays that are used as a whole. If a reshaped array is used in part, its used elements are unknown.
 */
static cb_rechunk_cost find_least(const cubed_plan *p, const cb_stage *s, bool reshaped)
{
    cb_rechunk_cost least = {0, 0, 0};
    for (int i = 0; i < s->tail.nbranches; i++) {
        const cb_branch *b = &s->tail.branches[i];
        for (int v = 0; v < b->nloads; v++) {
            const cb_load *l = &b->loads[v];
            if (l->kind != CB_LOAD_STORED || cb_node_is_cheap(p, l->node)) continue;
            const cb_grid *g = p->ir.nodes[l->node].grid;
            if (!l->reshape) {
                add_least(p, b, l, &least);
            } else if (reshaped && uses_all(b, l, g)) {
                least.requests = cb_sat_add(least.requests, (uint64_t)cb_grid_count(g));
                least.bytes =
                    cb_sat_add(least.bytes, cb_tile_grid_bytes(g, cubed_dtype_size(l->dtype)));
            }
        }
    }
    return least;
}

bool cb_judge_is_needed(const cubed_plan *p, const cb_stage *s)
{
    for (int d = 0; d < s->kept->ndim; d++) {
        if (s->task_chunks[d] > 1) return true;
    }
    const cb_rechunk_cost least = find_least(p, s, true);
    /* If each chunk is read once, other tasks can only avoid the decoding of unused parts of chunks. Search for such tasks only
     * if this saves more time than the search takes. */
    if (s->chunks_read - s->chunks_cheap <= least.requests)
        return s->bytes_read - s->bytes_cheap > cb_sat_add(least.bytes, SEARCH_BYTES);
    return true;
}

/* --- Sources of the search ---------------------------------------------------------------------------- */

static uint64_t source_bytes(const cb_tile_source *s)
{
    return cb_tile_grid_bytes(s->grid, s->item_size);
}

/* Inserts a source in the list of the MAX_SOURCES sources with the most bytes, largest first. */
static void add_source(cb_judge *j, const cb_tile_source *s)
{
    int k = j->nsources < MAX_SOURCES ? j->nsources++ : MAX_SOURCES;
    for (; k > 0 && source_bytes(&j->sources[k - 1]) < source_bytes(s); k--) {
        if (k < MAX_SOURCES) j->sources[k] = j->sources[k - 1];
    }
    if (k < MAX_SOURCES) j->sources[k] = *s;
}

/* Finds the arrays that the search considers, without those that are cheap to read again. There are none if the stage reads a
 * concatenation or a reshape. */
static cubed_status find_sources(cb_judge *j, cubed_error *err)
{
    const cb_program *prog = &j->first.tail;
    j->sources = cb_zone_alloc(j->zone, MAX_SOURCES * sizeof *j->sources);
    if (!j->sources) return no_memory(err);
    if (prog->nbranches != 1 || cb_stage_reshapes(&j->first)) return CUBED_OK;
    for (int v = 0; v < prog->branches[0].nloads; v++) {
        const cb_load *l = &prog->branches[0].loads[v];
        if (l->kind != CB_LOAD_STORED || cb_node_is_cheap(&j->plan, l->node)) continue;
        const cb_grid even = cb_grid_evened(j->plan.ir.nodes[l->node].grid);
        const cb_need read = cb_read_need(&j->plan, l->node);
        cb_tile_source s = {.grid = cb_zone_memdup(j->zone, &even, sizeof even),
                            .map = l->map,
                            .item_size = cubed_dtype_size(l->dtype),
                            .read_extra = cb_sat_add(read.arena, read.library)};
        if (!s.grid) return no_memory(err);
        add_source(j, &s);
    }
    return CUBED_OK;
}

/* --- Projected stages of the passes ------------------------------------------------------------------- */

/* Replaces the loads of the stage by copies, because projections of trial stages modify their flags. */
static cubed_status own_loads(cb_judge *j, cubed_error *err)
{
    cb_program *prog = &j->first.tail;
    prog->branches =
        cb_zone_memdup(j->zone, prog->branches, (size_t)prog->nbranches * sizeof *prog->branches);
    if (!prog->branches) return no_memory(err);
    for (int i = 0; i < prog->nbranches; i++) {
        cb_branch *b = &prog->branches[i];
        b->loads = cb_zone_memdup(j->zone, b->loads, (size_t)b->nloads * sizeof *b->loads);
        if (!b->loads) return no_memory(err);
    }
    return CUBED_OK;
}

static cubed_status own_outs(cb_judge *j, cb_stage *s, cubed_error *err)
{
    s->outs = cb_zone_memdup(j->zone, j->first.outs, sizeof *s->outs);
    return s->outs ? CUBED_OK : no_memory(err);
}

/* Creates a stage that copies an array of the shape of the root node. It is used to project the passes after the first. */
static cubed_status make_copy(cb_judge *j, cubed_error *err)
{
    const cb_grid *g = j->plan.ir.nodes[j->root].grid;
    const cb_map identity = cb_map_identity(g->ndim);
    int64_t *box = cb_zone_alloc(j->zone, (size_t)2 * CUBED_MAX_NDIM * sizeof *box);
    cb_branch *b = cb_zone_alloc(j->zone, sizeof *b);
    if (!box || !b) return no_memory(err);
    for (int d = 0; d < g->ndim; d++) {
        box[d] = 0;
        box[CUBED_MAX_NDIM + d] = g->axis[d].extent;
    }
    *b = (cb_branch){.lo = box, .hi = box + CUBED_MAX_NDIM, .nloads = 1};
    b->loads = cb_zone_alloc(j->zone, sizeof *b->loads);
    b->results = cb_zone_alloc(j->zone, sizeof *b->results);
    if (!b->loads || !b->results) return no_memory(err);
    *b->loads = (cb_load){.kind = CB_LOAD_STORED,
                          .dtype = j->plan.ir.nodes[j->root].dtype,
                          .map = cb_map_own(j->zone, &identity)};
    *b->results = 0;
    if (!b->loads->map) return no_memory(err);
    j->copy = (cb_stage){.nouts = 1, .op = &cb_operator_copy, .column = -1};
    j->copy.tail =
        (cb_program){.ndim = g->ndim, .nresults = 1, .nbranches = 1, .branches = b, .cut = -1};
    return own_outs(j, &j->copy, err);
}

static cubed_status make(cb_judge *j, cubed_plan *p, const cb_stage *s, cubed_error *err)
{
    CB_TRY(cb_ir_reserve(&p->ir, p->ir.nnodes + 2, err));
    j->plan = *p;
    j->root = s->outs[0].node;
    j->first = *s;
    CB_TRY(own_outs(j, &j->first, err));
    CB_TRY(own_loads(j, err));
    CB_TRY(make_copy(j, err));
    j->least = find_least(p, s, false);
    return find_sources(j, err);
}

cubed_status cb_judge_new(cubed_plan *p, const cb_stage *s, cb_judge *out, cubed_error *err)
{
    *out = (cb_judge){.root = 0};
    CB_TRY(cb_zone_new(&p->ctx->alloc, &out->zone, err));
    cubed_status st = make(out, p, s, err);
    if (st != CUBED_OK) cb_judge_free(out);
    return st;
}

void cb_judge_free(cb_judge *j)
{
    if (j->zone) cb_zone_free(j->zone);
    j->zone = NULL;
}

/* Returns the node of the array that pass k of a plan writes. Intermediates use two nodes in turn, because only the next pass
 * reads an intermediate. */
static int target_of(cb_judge *j, const cb_rechunk_plan *plan, int k)
{
    if (k == plan->npasses - 1) return j->root;
    const int node = j->plan.ir.nnodes + k % 2;
    j->plan.ir.nodes[node] = (cb_node){.kind = CB_NODE_COPY,
                                       .dtype = j->plan.ir.nodes[j->root].dtype,
                                       .grid = &plan->pass[k].target,
                                       .stored = true};
    return node;
}

static void add_up(void *ctx, const cb_rechunk_plan *plan, cb_rechunk_cost *cost)
{
    cb_judge *j = ctx;
    cb_need most = {0, 0};
    int from = -1;
    *cost = (cb_rechunk_cost){0, 0, 0};
    for (int k = 0; k < plan->npasses; k++) {
        cb_stage s = k == 0 ? j->first : j->copy;
        const int to = target_of(j, plan, k);
        if (k > 0) s.tail.branches[0].loads[0].node = from;
        s.outs[0].node = to;
        s.kept = j->plan.ir.nodes[to].grid;
        s.coop = plan->pass[k].coop;
        memcpy(s.task_chunks, plan->pass[k].task_chunks, sizeof s.task_chunks);
        if (cb_stage_set_tasks(&s, NULL) != CUBED_OK) {
            cost->task_mem = SIZE_MAX;
            return;
        }
        cb_stage_project(&j->plan, &s);
        most = cb_need_either(most, s.need);
        cost->bytes =
            cb_sat_add(cost->bytes, cb_sat_add(s.bytes_read - s.bytes_cheap, s.bytes_written));
        cost->requests = cb_sat_add(cost->requests,
                                    cb_sat_add(s.chunks_read - s.chunks_cheap, s.chunks_written));
        from = to;
    }
    /* The memory of libraries of other stages is subtracted, because it is not part of the memory that the planner may use. */
    const uint64_t known = j->plan.making.library_mem;
    cost->task_mem = cb_sat_add(most.arena, most.library > known ? most.library - known : 0);
}

void cb_judge_ask(cb_judge *j, bool plain, cb_rechunk_in *in)
{
    int64_t ones[CUBED_MAX_NDIM];
    for (int d = 0; d < in->target.ndim; d++) ones[d] = 1;
    in->judge = add_up;
    in->judge_ctx = j;
    in->least_bytes = j->least.bytes;
    in->least_requests = j->least.requests;
    if (plain || j->nsources == 0) return;
    in->copies = j->first.op->cooperates;
    in->sources = j->sources;
    in->nsources = j->nsources;
    /* The model assumes that tasks of any size need as much memory for the program as the smallest tasks, in addition to chunks
     * and tiles. */
    cb_tile_in model = {.out = &in->target,
                        .item_size = in->item_size,
                        .write_extra = in->write_extra,
                        .copy = in->copies,
                        .nsources = in->nsources,
                        .sources = in->sources};
    cb_rechunk_plan single = {.npasses = 1, .pass = {{.target = in->target, .coop = 1}}};
    cb_rechunk_cost cost;
    cb_tile t;
    memcpy(single.pass[0].task_chunks, ones, sizeof ones);
    cb_tile_measure(&model, ones, &t);
    add_up(j, &single, &cost);
    if (cost.task_mem > t.task_mem) in->fixed = cb_max_size(in->fixed, cost.task_mem - t.task_mem);
}
