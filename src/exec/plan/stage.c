#include "exec/plan/stage.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/lower.h"
#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "plan/reduction.h"
#include "plan/seen.h"

/* --- Reductions of a root ------------------------------------------------------------------------------ */

typedef struct reduce_walk {
    const cb_ir *ir;
    cb_reduce_fn fn;
    void *ctx;
    cb_seen seen; /* visited nodes, in a zone of this walk */
} reduce_walk;

static cubed_status walk_reductions(reduce_walk *w, int node, const cb_map *map, bool is_root,
                                    cubed_error *err)
{
    const cb_node *n = &w->ir->nodes[node];
    if (n->ninputs == 0 || (n->stored && !is_root)) return CUBED_OK;
    /* the input of a reshape is stored, so no reduction of this stage is below a reshape */
    if (n->kind == CB_NODE_RESHAPE) return CUBED_OK;
    if (cb_node_is(n, CB_KIND_REDUCTION)) return w->fn(w->ctx, node, map, err);
    if (cb_seen_find(&w->seen, node, map, NULL)) return CUBED_OK;
    CB_TRY(cb_seen_add(&w->seen, node, map, NULL, 0, err));
    for (int i = 0; i < n->ninputs; i++) {
        cb_map m;
        CB_TRY(cb_ir_input_map(w->ir, n, i, map, &m, err));
        CB_TRY(walk_reductions(w, n->inputs[i], &m, false, err));
    }
    return CUBED_OK;
}

cubed_status cb_stage_find_reductions(const cb_ir *ir, int root, cb_reduce_fn fn, void *ctx,
                                      cubed_error *err)
{
    reduce_walk w = {.ir = ir, .fn = fn, .ctx = ctx};
    CB_TRY(cb_zone_new(cb_zone_allocator(ir->zone), &w.seen.zone, err));
    cb_map identity = cb_map_identity(ir->nodes[root].grid->ndim);
    cubed_status st = walk_reductions(&w, root, &identity, true, err);
    cb_zone_free(w.seen.zone);
    return st;
}

bool cb_stage_reduce_fits(const cb_map *map, const cb_grid *kept, const cb_grid *root,
                          int axis[CUBED_MAX_NDIM])
{
    for (int r = 0; r < root->ndim; r++) axis[r] = -1;
    int previous = -1;
    for (int d = 0; d < kept->ndim; d++) {
        int r = map->dim[d].axis;
        if (map->dim[d].offset != 0) return false;
        if (r < 0) {
            if (kept->axis[d].extent != 1) return false;
            continue;
        }
        if (r <= previous || map->dim[d].stride != 1 ||
            kept->axis[d].extent != root->axis[r].extent)
            return false;
        previous = r;
        axis[r] = d;
    }
    for (int r = 0; r < root->ndim; r++) {
        if (axis[r] < 0 && root->axis[r].extent != 1) return false;
    }
    return true;
}

static bool same_groups(const cb_node *a, const cb_node *b)
{
    return !cb_node_leaves_states(a) || a->grid->axis[0].extent == b->grid->axis[0].extent;
}

bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b)
{
    const cb_node *a = &ir->nodes[reduce_a], *b = &ir->nodes[reduce_b];
    return a->kind == b->kind && a->reduced == b->reduced &&
           cb_grid_equal(cb_ir_reduced_grid(ir, a), cb_ir_reduced_grid(ir, b)) &&
           same_groups(a, b) &&
           (!a->reduce_grid || same_groups(&ir->nodes[a->inputs[0]], &ir->nodes[b->inputs[0]]));
}

/* --- Compiling ------------------------------------------------------------------------------------ */

cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    s->kept = ir->nodes[s->outs[0].node].grid;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        if (!cb_grid_equal(n->grid, s->kept))
            return cb_fail(err, CUBED_E_FORMAT, "the outputs of one stage have different chunks");
        for (int d = 0; d < n->grid->ndim; d++) s->outs[o].axis[d] = d;
        s->outs[o].alias = -1;
    }
    return CUBED_OK;
}

cubed_status cb_stage_keep(const cb_ir *ir, cb_stage *s, const cb_grid *kept, cubed_error *err)
{
    s->kept = kept;
    return cb_grid_keep(ir->zone, &s->kept, &ir->nodes[s->outs[0].node].grid, 1, err);
}

cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err)
{
    s->ntasks = 1;
    for (int d = 0; d < s->kept->ndim; d++) {
        if (s->task_chunks[d] < 1) s->task_chunks[d] = 1;
        int64_t n = cb_ceil_div(cb_axis_count(&s->kept->axis[d]), s->task_chunks[d]);
        if (cb_mul_i64(s->ntasks, n, &s->ntasks))
            return cb_fail(err, CUBED_E_BUDGET, "a stage has more than 2**63 tasks");
    }
    return CUBED_OK;
}

cubed_status cb_stage_lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    const int nreductions = s->reduce ? s->reduce->n : 0;
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < s->kept->ndim; d++) shape[d] = s->kept->axis[d].extent;
    cb_lower_root *roots = cb_zone_alloc(scratch, (size_t)s->nouts * sizeof *roots);
    int *reductions = cb_zone_alloc(scratch, (size_t)nreductions * sizeof *reductions + 1);
    if (!roots || !reductions) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    for (int k = 0; k < nreductions; k++) reductions[k] = s->reduce->list[k].node;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        cb_map *m = &roots[o].map;
        roots[o].node = s->outs[o].node;
        m->ndim_in = s->kept->ndim;
        m->ndim_out = n->grid->ndim;
        for (int r = 0; r < n->grid->ndim; r++) {
            m->dim[r].axis = s->outs[o].axis[r];
            m->dim[r].stride = m->dim[r].axis >= 0;
        }
    }
    const cb_lower_request q = {.ir = &p->ir,
                                .zone = p->ir.zone,
                                .kernels = &p->ctx->kernels,
                                .ndim = s->kept->ndim,
                                .shape = shape,
                                .roots = roots,
                                .nroots = s->nouts,
                                .reduce_nodes = reductions,
                                .nreductions = nreductions};
    return cb_lower(&q, &s->tail, err);
}

const cb_program *cb_stage_program(const cb_stage *s, int i)
{
    static const cb_program none = {.cut = -1};
    if (i == 0) return s->reduce ? &s->reduce->body : &none;
    if (i == 1) return &s->tail;
    return s->call && i - 2 < s->call->op->nin ? &s->call->inputs[i - 2].program : NULL;
}

/* --- Projecting ----------------------------------------------------------------------------------- */

/* Sets a box from 0 to the maximum extents of a task. */
static void largest_box(const cb_stage *s, cb_box *kept)
{
    *kept = (cb_box){.ndim = s->kept->ndim};
    for (int d = 0; d < s->kept->ndim; d++)
        kept->hi[d] = cb_blocks_most(&(cb_blocks){&s->kept->axis[d], cb_stage_step(s, d), NULL});
}

cb_need cb_stage_measure(const cubed_plan *p, const cb_stage *s, const cb_box *box,
                         cb_arena_kind kind, size_t *high_water)
{
    cb_arena arena = cb_arena_measuring(kind);
    cb_frame f = {.plan = p, .stage = s, .largest = !box, .arena = &arena};
    max_align_t buffers[CB_FRAME_BUFFERS / sizeof(max_align_t)];
    if (box)
        f.box = *box;
    else
        largest_box(s, &f.box);
    /* This call cannot fail, because a measuring arena only adds up sizes. */
    cubed_status st = s->op->frame(&f, buffers, NULL);
    if (high_water) *high_water = cb_arena_high_water(&arena);
    return st == CUBED_OK ? cb_arena_measured(&arena) : (cb_need){SIZE_MAX, SIZE_MAX};
}

void cb_stage_project(const cubed_plan *p, cb_stage *s)
{
    s->bytes_read = s->chunks_read = s->bytes_written = s->chunks_written = 0;
    s->chunks_cheap = s->bytes_cheap = 0;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        uint64_t bytes = cubed_dtype_size(n->dtype);
        for (int d = 0; d < n->grid->ndim; d++)
            bytes = cb_sat_mul(bytes, (size_t)cb_axis_stored_all(&n->grid->axis[d]));
        s->chunks_written = cb_sat_add(s->chunks_written, (size_t)cb_grid_count(n->grid));
        s->bytes_written = cb_sat_add(s->bytes_written, bytes);
    }
    if (s->coop < 1 || !s->op->cooperates) s->coop = 1;
    s->op->prepare(p, s);
    s->need = cb_stage_measure(p, s, NULL, CB_ARENA_MOST, NULL);
}
