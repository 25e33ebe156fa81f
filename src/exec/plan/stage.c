#include "exec/plan/stage.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/lower.h"
#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "plan/reduction.h"
#include "plan/seen.h"

/* --- Which reductions belong to a root ----------------------------------------------------------------- */

typedef struct reduce_walk {
    const cb_ir *ir;
    cb_reduce_fn fn;
    void *ctx;
    cb_seen seen; /* The nodes that were met, in a zone of this walk. */
} reduce_walk;

static cubed_status walk_reductions(reduce_walk *w, int node, const cb_map *map, bool is_root,
                                    cubed_error *err)
{
    const cb_node *n = &w->ir->nodes[node];
    if (n->ninputs == 0 || (n->stored && !is_root)) return CUBED_OK;
    if (n->kind == CB_NODE_RESHAPE) return CUBED_OK; /* of what is stored */
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

typedef struct collect {
    const cb_ir *ir;
    cb_stage *s;
    int out; /* whose reductions are collected */
    int cap;
    cb_zone *zone;
} collect;

static cubed_status add_reduce(void *ctx, int node, const cb_map *map, cubed_error *err)
{
    collect *c = ctx;
    cb_stage *s = c->s;
    const cb_node *n = &c->ir->nodes[node];
    const cb_node *root = &c->ir->nodes[s->outs[c->out].node];
    if (!cb_node_leaves_states(n)) {
        cb_grid kept = cb_reduce_kept_grid(cb_ir_reduced_grid(c->ir, n), n->reduced);
        int axis[CUBED_MAX_NDIM];
        if (!cb_stage_reduce_fits(map, &kept, root->grid, axis))
            return cb_fail(err, CUBED_E_FORMAT, "a reduction is read across the axes of its stage");
        memcpy(s->outs[c->out].axis, axis, sizeof axis);
    }
    if (!s->reduce) {
        s->reduce = cb_zone_alloc(c->zone, sizeof *s->reduce);
        if (!s->reduce) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    }
    cb_stage_reduce *r = s->reduce;
    if (r->n > 0 && !cb_stage_same_domain(c->ir, r->list[0].node, node))
        return cb_fail(err, CUBED_E_FORMAT, "one stage reduces over two domains");
    for (int k = 0; k < r->n; k++) {
        if (r->list[k].node == node) return CUBED_OK;
    }
    if (!cb_zone_grow(c->zone, &r->list, r->n, &c->cap, sizeof *r->list))
        return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    r->list[r->n++] = (cb_stage_reduction){.kind = n->reduction,
                                           .dtype = n->dtype,
                                           .value = n->dtype,
                                           .nplanes = cb_reduce_planes(n->reduction),
                                           .node = node,
                                           .states = n->reduce_grid ? n->inputs[0] : -1};
    return CUBED_OK;
}

cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    s->kept = ir->nodes[s->outs[0].node].grid;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        if (!cb_grid_equal(n->grid, s->kept))
            return cb_fail(err, CUBED_E_FORMAT, "siblings of one stage have other chunks");
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

/* Operation i of an instruction, as it was written. */
static const char *name_operation(const cb_instr *in, int op, int i)
{
    if (op == CB_SUPER_CAST) return cubed_dtype_name((cubed_dtype)in->to);
    return cubed_op_name(in->quotients >> i & 1 ? CUBED_OP_DIVIDE : (cubed_op)op);
}

static void describe_super(const cb_instr *in, const cb_super *row, cb_buf *text)
{
    for (int i = 0; i < row->n; i++) {
        if (i > 0) cb_buf_puts(text, ", ");
        cb_buf_puts(text, name_operation(in, row->op[i], i));
    }
}

void cb_describe_program(const cubed_plan *plan, const cb_program *p, cb_buf *text)
{
    const cb_kernels *k = &plan->ctx->kernels;
    int shown = 0;
    for (int b = 0; b < p->nbranches && b < 1; b++) {
        for (int i = 0; i < p->branches[b].ninstrs; i++) {
            const cb_instr *in = &p->branches[b].instrs[i];
            if (++shown > 4) {
                cb_buf_puts(text, ", ...");
                return;
            }
            if (shown > 1) cb_buf_puts(text, ", ");
            if (in->kind == CB_INSTR_CAST)
                cb_buf_puts(text, cubed_dtype_name((cubed_dtype)in->to));
            else if (in->kind == CB_INSTR_SUPER)
                describe_super(in, &k->super[in->op], text);
            else
                cb_buf_puts(text, name_operation(in, in->op, 0));
        }
    }
}

/* "sum(multiply), divide -> uu" */
static cubed_status set_name(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, &p->ctx->alloc);
    s->op->describe(p, s, &text);
    cb_buf_puts(&text, " -> ");
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        if (o == 4) {
            cb_buf_puts(&text, ", ...");
            break;
        }
        if (o) cb_buf_puts(&text, ", ");
        const char *slash = n->url ? strrchr(n->url, '/') : NULL;
        const char *colon = n->url ? strrchr(n->url, ':') : NULL;
        const char *last = slash > colon ? slash : colon;
        if (n->url)
            cb_buf_puts(&text, last && last[1] ? last + 1 : n->url);
        else if (n->name)
            cb_buf_puts(&text, n->name);
        else
            cb_buf_printf(&text, n->to_memory ? "result-%d" : "array-%d", s->outs[o].node);
    }
    s->name = text.failed ? NULL : cb_zone_strdup(p->ir.zone, text.data);
    cb_buf_free(&text);
    return s->name ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
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

/* The reductions of all outputs. Functions on blocks have none: what is below them is theirs to refuse. */
static cubed_status collect_reductions(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    collect c = {.ir = ir, .s = s, .zone = ir->zone};
    if (ir->nodes[s->outs[0].node].block) return CUBED_OK;
    for (c.out = 0; c.out < s->nouts; c.out++) {
        const bool before = s->reduce;
        CB_TRY(cb_stage_find_reductions(ir, s->outs[c.out].node, add_reduce, &c, err));
        if (c.out > 0 && before != (s->reduce != NULL))
            return cb_fail(err, CUBED_E_FORMAT,
                           "a stage mixes outputs with and without reductions");
    }
    return CUBED_OK;
}

/* The operator that the node's kind asks for; it may change to another one when it compiles or prepares the stage. */
static const cb_operator *operator_of(const cb_ir *ir, const cb_stage *s)
{
    int node = s->reduce ? s->reduce->list[0].node : s->outs[0].node;
    for (int o = 0; o < s->nouts && !s->reduce; o++) {
        if (ir->nodes[s->outs[o].node].kind == CB_NODE_SCAN) node = s->outs[o].node;
    }
    switch (ir->nodes[node].kind) {
    case CB_NODE_BLOCKWISE: return &cb_operator_call;
    case CB_NODE_COMPRESS: return &cb_operator_pick;
    case CB_NODE_SCAN: return &cb_operator_scan;
    case CB_NODE_PARTIAL: return &cb_operator_partial;
    case CB_NODE_MERGE: return &cb_operator_merge;
    case CB_NODE_MERGE_PARTIAL: return &cb_operator_merge_partial;
    case CB_NODE_REDUCE: return &cb_operator_reduce;
    default: return &cb_operator_map;
    }
}

/* Lists the nodes that any of the programs load, and states that are merged. */
static cubed_status find_inputs(const cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                cubed_error *err)
{
    const cb_program *prog;
    const int nreductions = s->reduce ? s->reduce->n : 0;
    size_t n = (size_t)nreductions;
    for (int i = 0; (prog = cb_stage_program(s, i)) != NULL; i++) n += (size_t)prog->nreads;
    int *inputs = cb_zone_alloc(scratch, n * sizeof *inputs);
    if (!inputs) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    n = 0;
    for (int k = 0; k < nreductions; k++) {
        if (s->reduce->list[k].states >= 0) inputs[n++] = s->reduce->list[k].states;
    }
    for (int i = 0; (prog = cb_stage_program(s, i)) != NULL; i++) {
        for (int k = 0; k < prog->nreads; k++) inputs[n++] = prog->reads[k];
    }
    s->ninputs = cb_sort_unique(inputs, (int)n);
    s->inputs = cb_zone_memdup(p->ir.zone, inputs, (size_t)s->ninputs * sizeof *inputs);
    return s->inputs ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
}

cubed_status cb_stage_compile(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    cb_zone *scratch;
    s->reduce = NULL;
    s->call = NULL;
    s->column = -1;
    memset(&s->tail, 0, sizeof s->tail);
    CB_TRY(cb_zone_new(&p->ctx->alloc, &scratch, err));
    cubed_status st = collect_reductions(&p->ir, s, err);
    if (st == CUBED_OK) {
        s->op = operator_of(&p->ir, s);
        st = s->op->compile(p, s, scratch, err);
    }
    if (st == CUBED_OK) st = find_inputs(p, s, scratch, err);
    cb_zone_free(scratch);
    return st == CUBED_OK ? set_name(p, s, err) : st;
}

const cb_program *cb_stage_program(const cb_stage *s, int i)
{
    static const cb_program none = {.cut = -1};
    if (i == 0) return s->reduce ? &s->reduce->body : &none;
    if (i == 1) return &s->tail;
    return s->call && i - 2 < s->call->op->nin ? &s->call->inputs[i - 2].program : NULL;
}

/* --- Projecting ----------------------------------------------------------------------------------- */

/* The most elements of a task along each axis, from 0 on. */
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
    /* Measuring arenas have room for everything. */
    cubed_status st = s->op->frame(&f, buffers, NULL);
    if (high_water) *high_water = cb_arena_high_water(&arena);
    return st == CUBED_OK ? cb_arena_measured(&arena) : (cb_need){SIZE_MAX, SIZE_MAX};
}

void cb_stage_project(const cubed_plan *p, cb_stage *s)
{
    s->bytes_read = s->chunks_read = s->bytes_written = s->chunks_written = 0;
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

void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part)
{
    part->ndim = box->ndim;
    for (int d = 0; d < box->ndim; d++) {
        part->lo[d] = cb_max_i64(b->lo[d], box->lo[d]);
        part->hi[d] = cb_min_i64(b->hi[d], box->hi[d]);
    }
}

bool cb_programs_share_a_load(const cb_program *a, const cb_program *b)
{
    for (int i = 0, k = 0; i < a->nreads && k < b->nreads;) {
        if (a->reads[i] == b->reads[k]) return true;
        if (a->reads[i] < b->reads[k])
            i++;
        else
            k++;
    }
    return false;
}

/* The first branch whose end (else: beginning) along the cut axis is beyond x. */
static int first_beyond(const cb_program *p, bool end, int64_t x)
{
    int lo = 0, hi = p->nbranches;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        const cb_branch *b = &p->branches[middle];
        if ((end ? b->hi : b->lo)[p->cut] > x)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last)
{
    const bool cut = prog->nbranches > 1;
    *first = cut ? first_beyond(prog, true, box->lo[prog->cut]) : 0;
    *last = cut ? first_beyond(prog, false, box->hi[prog->cut] - 1) : prog->nbranches;
}

bool cb_stage_reshapes(const cb_stage *s)
{
    for (int i = 0; i < s->tail.nbranches; i++) {
        for (int v = 0; v < s->tail.branches[i].nloads; v++) {
            if (s->tail.branches[i].loads[v].reshape) return true;
        }
    }
    return false;
}
