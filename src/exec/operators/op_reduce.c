/* Reductions.
 *
 * A stage with reductions processes the blocks of its body's domain (reduce_block.c), and its tail computes results from the
 * states. A large reduction is split into several stages, which keep the order of operations: `partial` outputs states of groups
 * of blocks, `merge_partial` outputs states of groups of groups, and `merge` outputs the result. */
#include <string.h>

#include "base/error.h"
#include "exec/operators/reducer.h"
#include "exec/plan/lower.h"
#include "exec/vm/frames.h"
#include "plan/reduction.h"

/* --- Compiling ------------------------------------------------------------------------------------ */

/* Sets the grid of tasks to the chunks of the outputs. Axes that an output lacks have extent 1. */
static cubed_status set_kept(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    cb_grid kept = cb_reduce_kept_grid(s->reduce->domain, s->reduce->reduced);
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        for (int r = 0; r < n->grid->ndim; r++) {
            int d = s->outs[o].axis[r];
            if (d < 0) continue;
            if (o == 0) kept.axis[d] = n->grid->axis[r];
            if (!cb_axis_equal(&kept.axis[d], &n->grid->axis[r]))
                return cb_fail(err, CUBED_E_FORMAT,
                               "the outputs of one stage have different chunks");
        }
    }
    return cb_stage_keep(ir, s, &kept, err);
}

/* Sets the grid of tasks that output states: the axis of groups, then the axes that are not reduced. */
static cubed_status set_groups(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    const cb_grid *first = ir->nodes[s->outs[0].node].grid;
    const int nkept = cb_reduce_kept_grid(s->reduce->domain, s->reduce->reduced).ndim;
    cb_grid kept = {.ndim = nkept + 1, .axis = {first->axis[0]}};
    s->reduce->groups = 1;
    for (int d = 0; d < nkept; d++) kept.axis[d + 1] = first->axis[d + 2];
    for (int o = 0; o < s->nouts; o++) {
        const cb_grid *g = ir->nodes[s->outs[o].node].grid;
        cb_stage_out *out = &s->outs[o];
        out->axis[0] = 0;
        out->axis[1] = -1;
        for (int d = 0; d < nkept; d++) out->axis[d + 2] = d + 1;
        for (int r = 0; r < g->ndim; r++) {
            if (out->axis[r] < 0) continue;
            if (!cb_axis_equal(&kept.axis[out->axis[r]], &g->axis[r]))
                return cb_fail(err, CUBED_E_FORMAT,
                               "the outputs of one stage have different chunks");
        }
    }
    return cb_stage_keep(ir, s, &kept, err);
}

/* Marks results that are written in place of a reduction's state. This requires that no other result uses the state, and that
 * elements of both have the same size. */
static void set_aliases(const cb_ir *ir, cb_zone *zone, cb_stage *s)
{
    const cb_program *p = &s->tail;
    if (p->nbranches != 1) return;
    const cb_branch *b = &p->branches[0];
    int nvalues = b->nloads + b->ninstrs;
    /* users[v]: o + 1 if only result o uses value v; 0 if no result uses it; -1 if several results use it */
    int *users = cb_zone_alloc(zone, (size_t)nvalues * sizeof *users + 1);
    /* If memory is exhausted, no result is written in place of a state, and results need tiles. */
    if (!users) return;
    for (int o = 0; o < s->nouts; o++) {
        int *u = &users[b->results[o]];
        *u = *u == 0 ? o + 1 : -1;
    }
    for (int i = b->ninstrs - 1; i >= 0; i--) {
        for (int k = 0; k < b->instrs[i].nargs; k++) {
            int *u = &users[b->instrs[i].arg[k]], mine = users[b->nloads + i];
            *u = *u == 0 || *u == mine ? mine : -1;
        }
    }
    for (int v = 0; v < b->nloads; v++) {
        if (b->loads[v].kind != CB_LOAD_REDUCE || users[v] <= 0) continue;
        cb_stage_out *out = &s->outs[users[v] - 1];
        const cb_node *n = &ir->nodes[out->node];
        if (out->alias < 0 && !n->to_memory &&
            cubed_dtype_size(n->dtype) == cubed_dtype_size(b->loads[v].dtype))
            out->alias = b->loads[v].reduction;
    }
}

/* Returns the node whose values a reduction reads. It is the input of the reduction, or the node below a cast that the
 * reduction's kernel includes. */
static int reduced_values(const cubed_plan *p, const cb_stage_reduction *reduction)
{
    int input = p->ir.nodes[reduction->node].inputs[0];
    const cb_node *n = &p->ir.nodes[input];
    bool widens = n->kind == CB_NODE_CAST && !n->stored && n->dtype == CUBED_FLOAT64 &&
                  p->ir.nodes[n->inputs[0]].dtype == CUBED_FLOAT32 &&
                  p->ctx->kernels.reduce_float32[reduction->kind].rows;
    return widens ? n->inputs[0] : input;
}

/* Vector length in bytes for programs whose instructions are as fast as memory. Other programs are faster with shorter
 * vectors. */
#define PACED_BYTES ((size_t)2 * CB_VECTOR * sizeof(double))
_Static_assert(PACED_BYTES <= CB_VM_REGISTER_BYTES,
               "stages are joined by the most bytes of a register");

static void choose_vector(const cb_kernels *k, cb_program *body)
{
    if (body->nbranches == 0 || PACED_BYTES % body->reg_size != 0) return;
    for (int i = 0; i < body->nbranches; i++) {
        const cb_branch *b = &body->branches[i];
        for (int j = 0; j < b->ninstrs; j++) {
            if (!cb_instr_keeps_pace(k, &b->instrs[j])) continue;
            body->vector *= (int64_t)(PACED_BYTES / body->reg_size);
            body->reg_size = PACED_BYTES;
            return;
        }
    }
}

static cubed_status lower_body(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    cb_stage_reduce *r = s->reduce;
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < r->domain->ndim; d++) shape[d] = r->domain->axis[d].extent;
    cb_lower_root *roots = cb_zone_alloc(scratch, (size_t)r->n * sizeof *roots);
    if (!roots) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    for (int k = 0; k < r->n; k++) {
        roots[k].node = reduced_values(p, &r->list[k]);
        roots[k].map = cb_map_identity(r->domain->ndim);
        roots[k].summed = r->list[k].kind == CB_REDUCE_SUM && r->list[k].dtype == CUBED_FLOAT64;
        r->list[k].value = p->ir.nodes[roots[k].node].dtype;
        /* The program loads this value if it is stored (load_roots), and computes it otherwise. */
    }
    const cb_lower_request q = {.ir = &p->ir,
                                .zone = p->ir.zone,
                                .kernels = &p->ctx->kernels,
                                .ndim = r->domain->ndim,
                                .shape = shape,
                                .roots = roots,
                                .nroots = r->n,
                                .load_roots = true};
    CB_TRY(cb_lower(&q, &r->body, err));
    choose_vector(&p->ctx->kernels, &r->body);
    return CUBED_OK;
}

static void set_domain(const cb_ir *ir, cb_stage *s)
{
    cb_stage_reduce *r = s->reduce;
    const cb_node *n = &ir->nodes[r->list[0].node];
    r->reduced = n->reduced;
    r->domain = cb_ir_reduced_grid(ir, n);
    const int64_t blocks = cb_stage_nblocks(s);
    r->from = r->to = 0;
    if (n->reduce_grid)
        r->from = cb_reduce_span(blocks, ir->nodes[n->inputs[0]].grid->axis[0].extent);
    if (cb_node_leaves_states(n)) r->to = cb_reduce_span(blocks, n->grid->axis[0].extent);
    r->from = cb_max_i64(1, r->from);
    for (int o = 0; o < s->nouts; o++) s->outs[o].alias = -1;
}

static cubed_status compile_results(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    CB_TRY(cb_stage_lower_tail(p, s, scratch, err));
    set_aliases(&p->ir, scratch, s);
    return CUBED_OK;
}

static cubed_status compile(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    set_domain(&p->ir, s);
    CB_TRY(set_kept(&p->ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    CB_TRY(lower_body(p, s, scratch, err));
    return compile_results(p, s, scratch, err);
}

static cubed_status compile_partial(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    set_domain(&p->ir, s);
    CB_TRY(set_groups(&p->ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    return lower_body(p, s, scratch, err);
}

static cubed_status compile_merge(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    set_domain(&p->ir, s);
    CB_TRY(set_kept(&p->ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    return compile_results(p, s, scratch, err);
}

static cubed_status compile_merge_partial(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                          cubed_error *err)
{
    (void)scratch;
    set_domain(&p->ir, s);
    CB_TRY(set_groups(&p->ir, s, err));
    return cb_stage_set_tasks(s, err);
}

/* --- Reads of tasks ------------------------------------------------------------------------------- */

static void prepare_body(const cubed_plan *p, cb_stage *s)
{
    cb_blocks domain[CUBED_MAX_NDIM + 1];
    cb_program_blocks(s, 0, domain);
    cb_traffic_add_program(p, s, &s->reduce->body, domain);
    cb_reduce_set_ways(p, s);
}

static void prepare(const cubed_plan *p, cb_stage *s)
{
    prepare_body(p, s);
    cb_stage_prepare_tail(p, s);
}

static void prepare_states(const cubed_plan *p, cb_stage *s)
{
    for (int k = 0; k < s->reduce->n; k++) {
        const int states = s->reduce->list[k].states;
        uint64_t chunks = (uint64_t)cb_grid_count(p->ir.nodes[states].grid);
        cb_traffic_add(p, s, states, chunks, cb_sat_mul(chunks, cb_chunk_bytes(p, states)));
    }
}

static void prepare_merge(const cubed_plan *p, cb_stage *s)
{
    prepare_states(p, s);
    cb_stage_prepare_tail(p, s);
}

/* The blocks of a group are reported one by one, because together they are not a box of the domain. */
static cubed_status reads_partial(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                  cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    int64_t first, last;
    cb_box block;
    cb_stage_task_blocks(s, kept, &first, &last);
    for (int64_t b = first; b < last; b++) {
        cb_stage_block(s, kept, b, &block);
        CB_TRY(cb_program_reads(p, &s->reduce->body, &block, fn, ctx, err));
    }
    return CUBED_OK;
}

static cubed_status reads(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                          cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    const int64_t nblocks = cb_stage_nblocks(s);
    if (nblocks > 0) {
        cb_box all, last;
        cb_stage_block(s, kept, 0, &all);
        cb_stage_block(s, kept, nblocks - 1, &last);
        memcpy(all.hi, last.hi, sizeof all.hi);
        CB_TRY(cb_program_reads(p, &s->reduce->body, &all, fn, ctx, err));
    }
    return cb_stage_read_tail(p, s, kept, fn, ctx, err);
}

/* Reports the chunks that a task reads for its blocks, in the order of the blocks, and then the chunks that the tail reads. */
static cubed_status visit(const cubed_plan *p, const cb_stage *s, const cb_visited_step *v,
                          bool *there, cubed_error *err)
{
    int64_t first, last;
    cb_box block;
    cb_stage_task_blocks(s, &v->kept, &first, &last);
    *there = v->step <= last - first;
    if (v->step < last - first) {
        cb_stage_block(s, &v->kept, first + v->step, &block);
        return cb_program_visit(p, &s->reduce->body, &block, v, err);
    }
    return *there && !s->reduce->groups ? cb_program_visit(p, &s->tail, &v->kept, v, err)
                                        : CUBED_OK;
}

/* Calls fn for the chunks of stored states that a task reads: for each reduction, the states `first` to `last` - 1. */
static cubed_status read_states(const cubed_plan *p, const cb_stage *s, const cb_box *task,
                                int64_t first, int64_t last, cb_chunks_fn fn, void *ctx,
                                cubed_error *err)
{
    const cb_stage_reduce *r = s->reduce;
    for (int k = 0; k < r->n && first < last; k++) {
        const cb_grid *g = p->ir.nodes[r->list[k].states].grid;
        cb_box states = {.ndim = g->ndim, .lo = {first}, .hi = {last, g->axis[1].extent}};
        cb_box chunks;
        for (int d = 2; d < g->ndim; d++) {
            states.lo[d] = task->lo[d - 2 + r->groups];
            states.hi[d] = task->hi[d - 2 + r->groups];
        }
        cb_grid_cover(g, &states, &chunks);
        CB_TRY(fn(ctx, r->list[k].states, &chunks, err));
    }
    return CUBED_OK;
}

/* Reports the stored states that a task reads, group by group for all reductions, then the chunks that the tail reads. */
static cubed_status visit_merge(const cubed_plan *p, const cb_stage *s, const cb_visited_step *v,
                                bool *there, cubed_error *err)
{
    int64_t first, last;
    cb_stage_task_blocks(s, &v->kept, &first, &last);
    *there = v->step <= last - first;
    const int64_t state = first + v->step;
    if (state < last) return read_states(p, s, &v->kept, state, state + 1, v->fn, v->ctx, err);
    return *there && !s->reduce->groups ? cb_program_visit(p, &s->tail, &v->kept, v, err)
                                        : CUBED_OK;
}

static cubed_status reads_merge(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    int64_t first, last;
    cb_stage_task_blocks(s, kept, &first, &last);
    CB_TRY(read_states(p, s, kept, first, last, fn, ctx, err));
    return s->reduce->groups ? CUBED_OK : cb_stage_read_tail(p, s, kept, fn, ctx, err);
}

/* --- Tasks ---------------------------------------------------------------------------------------- */

/* Returns the task's box without the axis of groups, if it has one. */
static cb_box kept_of(const cb_stage *s, const cb_box *box)
{
    const int groups = s->reduce->groups;
    cb_box kept = {.ndim = box->ndim - groups};
    memcpy(kept.lo, box->lo + groups, (size_t)kept.ndim * sizeof *kept.lo);
    memcpy(kept.hi, box->hi + groups, (size_t)kept.ndim * sizeof *kept.hi);
    return kept;
}

typedef struct buffers {
    cb_state *states; /* states of the reductions */
    cb_view *outs;
    cb_view *seen; /* views through which the tail loads the states of the reductions */
} buffers;

_Static_assert(sizeof(buffers) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

/* Allocates the outputs of the tail, and the list of views from which it loads the states of reductions. */
static cubed_status results_frame(const cb_frame *f, buffers *b, cubed_error *err)
{
    void *p;
    CB_TRY(cb_outputs_frame(f, &b->outs, err));
    CB_TRY(cb_arena_alloc(f->arena, (size_t)f->stage->reduce->n * sizeof *b->seen, "reductions", &p,
                          err));
    b->seen = p;
    return CUBED_OK;
}

static cubed_status frame(const cb_frame *f, void *out, cubed_error *err)
{
    buffers *b = out;
    const cb_stage *s = f->stage;
    const cb_evaluation tail = {.prog = &s->tail, .nstates = s->reduce->n};
    const cb_box kept = kept_of(s, &f->box);
    cb_view one, *views = &one;
    CB_TRY(cb_states_frame(s, &kept, f->arena, &b->states, err));
    if (!cb_arena_measures(f->arena)) return CUBED_OK;
    size_t mark = cb_arena_mark(f->arena);
    CB_TRY(cb_reduce_frame(f, err));
    cb_arena_release(f->arena, mark);
    CB_TRY(results_frame(f, b, err));
    mark = cb_arena_mark(f->arena);
    CB_TRY(cb_evaluate_frame(f->plan, &tail, &f->box, f->largest, f->arena, &views, err));
    cb_arena_release(f->arena, mark);
    return cb_writings_frame(f, err);
}

/* Returns a view of a reduction's states, which are dense over the task's kept box. */
static cb_view view_of_states(const cb_stage_reduction *reduction, const cb_state *state,
                              const cb_box *kept)
{
    const cb_view planes = cb_view_of_planes(reduction, state, kept);
    cb_view view = {.base = planes.base};
    memcpy(view.stride, planes.stride + 1, (size_t)kept->ndim * sizeof *view.stride);
    return view;
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_stage_reduce *r = s->reduce;
    cb_frame f;
    cb_box chunks;
    buffers b;
    cb_frame_init(&f, t);
    CB_TRY(cb_task_begin(t, task, &chunks, &f.box, err));
    CB_TRY(frame(&f, &b, err));
    CB_TRY(cb_reduce_task(t, &f.box, &f.box, b.states, err));
    CB_TRY(results_frame(&f, &b, err));
    for (int k = 0; k < r->n; k++) b.seen[k] = view_of_states(&r->list[k], &b.states[k], &f.box);
    for (int o = 0; o < s->nouts; o++) {
        const int alias = s->outs[o].alias;
        cb_output_open(t, o, &f.box, alias < 0 ? NULL : b.states[alias].plane[0], &b.outs[o]);
    }
    const cb_evaluation tail = {.prog = &s->tail,
                                .nstates = r->n,
                                .states = b.seen,
                                .outs = b.outs,
                                .stream = cb_stage_streams(t->plan, s, &f.box)};
    size_t mark = cb_arena_mark(t->arena);
    CB_TRY(cb_evaluate(t, &tail, &f.box, err));
    cb_arena_release(t->arena, mark);
    return cb_outputs_write(t, &f.box, b.outs, &chunks, err);
}

/* --- Tasks that store states ---------------------------------------------------------------------- */

/* Allocates the staging chunk of a reduction, whose planes form one chunk. */
static cubed_status planes_frame(const cubed_plan *p, int node, cb_arena *arena, void **staging,
                                 cubed_error *err)
{
    CB_TRY(cb_arena_alloc(arena, cb_chunk_bytes(p, node), "staging chunk", staging, err));
    if (cb_arena_measures(arena)) cb_arena_may_take(arena, cb_write_need(p, node));
    return CUBED_OK;
}

static cubed_status frame_partial(const cb_frame *f, void *out, cubed_error *err)
{
    buffers *b = out;
    const cb_stage *s = f->stage;
    const cb_box kept = kept_of(s, &f->box);
    CB_TRY(cb_states_frame(s, &kept, f->arena, &b->states, err));
    if (!cb_arena_measures(f->arena)) return CUBED_OK;
    size_t mark = cb_arena_mark(f->arena);
    CB_TRY(cb_reduce_frame(f, err));
    cb_arena_release(f->arena, mark);
    for (int o = 0; o < s->nouts; o++) {
        void *staging;
        CB_TRY(planes_frame(f->plan, s->outs[o].node, f->arena, &staging, err));
        cb_arena_release(f->arena, mark);
    }
    return CUBED_OK;
}

static cubed_status write_states(const cb_task *t, const cb_box *task_box, const cb_box *kept,
                                 const cb_stage_reduction *reduction, const cb_state *state,
                                 cubed_error *err)
{
    const cb_grid *g = t->plan->ir.nodes[reduction->node].grid;
    const cb_view planes = cb_view_of_planes(reduction, state, kept);
    const size_t mark = cb_arena_mark(t->arena);
    int64_t idx[CUBED_MAX_NDIM] = {task_box->lo[0]}, lo[CUBED_MAX_NDIM] = {task_box->lo[0]};
    int64_t stride[CUBED_MAX_NDIM] = {0};
    void *p;
    CB_TRY(planes_frame(t->plan, reduction->node, t->arena, &p, err));
    memcpy(lo + 2, kept->lo, (size_t)kept->ndim * sizeof *lo);
    memcpy(stride + 1, planes.stride, ((size_t)kept->ndim + 1) * sizeof *stride);
    for (int d = 2; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], lo[d]);
    cb_chunk_stage(t->plan, reduction->node, idx, planes.base, lo, stride, p);
    CB_TRY(cb_chunks_put(t->chunks, reduction->node, idx, p, t->arena, t->count, err));
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}

static cubed_status run_partial(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    cb_frame f;
    buffers b;
    cb_frame_init(&f, t);
    cb_stage_task_box(s, task, &f.box);
    const cb_box kept = kept_of(s, &f.box);
    CB_TRY(frame_partial(&f, &b, err));
    CB_TRY(cb_reduce_task(t, &f.box, &kept, b.states, err));
    for (int o = 0; o < s->nouts; o++) {
        int k = 0;
        while (s->reduce->list[k].node != s->outs[o].node) k++;
        CB_TRY(write_states(t, &f.box, &kept, &s->reduce->list[k], &b.states[k], err));
    }
    return CUBED_OK;
}

/* --- The rows ------------------------------------------------------------------------------------- */

/* Returns the same key for all merges of states. Merges of different reductions load different states, but may be combined in one
 * stage. */
static int merge_key(const cubed_plan *p, const cb_stage *s)
{
    (void)s;
    return p->ir.nnodes;
}

const cb_operator cb_operator_reduce = {
    .name = "reduce",
    .compile = compile,
    .prepare = prepare,
    .frame = frame,
    .reads = reads,
    .visit = visit,
    .run = run,
    .joined = &cb_operator_reduce,
    .adds_up = true,
    .tiles = true,
    .by_blocks = true,
};

const cb_operator cb_operator_partial = {
    .name = "partial",
    .compile = compile_partial,
    .prepare = prepare_body,
    .frame = frame_partial,
    .reads = reads_partial,
    .visit = visit,
    .run = run_partial,
    .joined = &cb_operator_partial,
    .adds_up = true,
    .by_blocks = true,
};

const cb_operator cb_operator_merge_partial = {
    .name = "merge_partial",
    .compile = compile_merge_partial,
    .prepare = prepare_states,
    .frame = frame_partial,
    .reads = reads_merge,
    .visit = visit_merge,
    .run = run_partial,
    .joined = &cb_operator_merge_partial,
    .sibling_key = merge_key,
    .adds_up = true,
    .by_blocks = true,
};

const cb_operator cb_operator_merge = {
    .name = "merge",
    .compile = compile_merge,
    .prepare = prepare_merge,
    .frame = frame,
    .reads = reads_merge,
    .visit = visit_merge,
    .run = run,
    .joined = &cb_operator_merge,
    .sibling_key = merge_key,
    .adds_up = true,
    .by_blocks = true,
};
