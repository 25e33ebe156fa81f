#include "plan/stage.h"

#include <string.h>

#include "base/error.h"
#include "exec/block_stage.h"
#include "exec/lower.h"
#include "exec/need.h"
#include "plan/plan.h"
#include "plan/reduction.h"
#include "plan/seen.h"

/* --- Which reductions belong to a root ----------------------------------------------------------------- */

typedef struct reduce_walk {
    const cb_ir *ir;
    cb_reduce_fn fn;
    void *ctx;
    cb_seen seen; /* in a zone of this walk */
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
    cb_map identity = cb_map_identity(ir->nodes[root].grid.ndim);
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

bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b)
{
    const cb_node *a = &ir->nodes[reduce_a], *b = &ir->nodes[reduce_b];
    return a->kind == b->kind && a->reduced == b->reduced &&
           cb_grid_equal(cb_ir_reduced_grid(ir, a), cb_ir_reduced_grid(ir, b));
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
    if (n->kind != CB_NODE_PARTIAL) {
        cb_grid kept = cb_reduce_kept_grid(cb_ir_reduced_grid(c->ir, n), n->reduced);
        int axis[CUBED_MAX_NDIM];
        if (!cb_stage_reduce_fits(map, &kept, &root->grid, axis))
            return cb_fail(err, CUBED_E_FORMAT, "a reduction is read across the axes of its stage");
        memcpy(s->outs[c->out].axis, axis, sizeof axis);
    }
    if (s->nreductions > 0 && !cb_stage_same_domain(c->ir, s->reductions[0].node, node))
        return cb_fail(err, CUBED_E_FORMAT, "one stage reduces over two domains");
    for (int k = 0; k < s->nreductions; k++) {
        if (s->reductions[k].node == node) return CUBED_OK;
    }
    if (s->nreductions == c->cap) {
        int cap = c->cap ? 2 * c->cap : 4;
        cb_stage_reduction *reductions = cb_zone_alloc(c->zone, (size_t)cap * sizeof *reductions);
        if (!reductions) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
        if (s->nreductions)
            memcpy(reductions, s->reductions, (size_t)s->nreductions * sizeof *reductions);
        s->reductions = reductions;
        c->cap = cap;
    }
    s->reductions[s->nreductions++] =
        (cb_stage_reduction){.kind = n->reduction,
                             .dtype = n->dtype,
                             .value = n->dtype,
                             .nplanes = cb_reduce_planes(n->reduction),
                             .node = node,
                             .states = n->kind == CB_NODE_MERGE ? n->inputs[0] : -1};
    return CUBED_OK;
}

/* The tail's domain from the reductions, or from the first output. */
static cubed_status set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    const cb_node *first = &ir->nodes[s->outs[0].node];
    if (s->nreductions == 0) {
        s->kept = first->grid;
        for (int o = 0; o < s->nouts; o++) {
            const cb_node *n = &ir->nodes[s->outs[o].node];
            if (!cb_grid_equal(&n->grid, &s->kept))
                return cb_fail(err, CUBED_E_FORMAT, "siblings of one stage have other chunks");
            for (int d = 0; d < n->grid.ndim; d++) s->outs[o].axis[d] = d;
        }
        return CUBED_OK;
    }
    const cb_node *reduction = &ir->nodes[s->reductions[0].node];
    s->partial = reduction->kind == CB_NODE_PARTIAL;
    s->merge = reduction->kind == CB_NODE_MERGE;
    s->reduced = reduction->reduced;
    s->domain = *cb_ir_reduced_grid(ir, reduction);
    cb_grid kept = cb_reduce_kept_grid(&s->domain, s->reduced);
    if (s->partial) {
        s->kept.ndim = kept.ndim + 1;
        s->kept.axis[0] = first->grid.axis[0];
        for (int d = 0; d < kept.ndim; d++) s->kept.axis[d + 1] = first->grid.axis[d + 2];
        for (int o = 0; o < s->nouts; o++) {
            cb_stage_out *out = &s->outs[o];
            out->axis[0] = 0;
            out->axis[1] = -1;
            for (int d = 0; d < kept.ndim; d++) out->axis[d + 2] = d + 1;
        }
    } else {
        s->kept = kept;
    }
    /* Chunks of the outputs decide the tasks; axes that outputs lack have extent 1. */
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        for (int r = 0; r < n->grid.ndim; r++) {
            int d = s->outs[o].axis[r];
            if (d < 0) continue;
            if (o == 0) s->kept.axis[d] = n->grid.axis[r];
            cb_grid a = {1, {s->kept.axis[d]}}, b = {1, {n->grid.axis[r]}};
            if (!cb_grid_equal(&a, &b))
                return cb_fail(err, CUBED_E_FORMAT, "siblings of one stage have other chunks");
        }
    }
    return CUBED_OK;
}

cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err)
{
    s->ntasks = 1;
    for (int d = 0; d < s->kept.ndim; d++) {
        if (s->task_chunks[d] < 1) s->task_chunks[d] = 1;
        int64_t n = cb_ceil_div(cb_axis_count(&s->kept.axis[d]), s->task_chunks[d]);
        if (cb_mul_i64(s->ntasks, n, &s->ntasks))
            return cb_fail(err, CUBED_E_BUDGET, "a stage has more than 2**63 tasks");
    }
    return CUBED_OK;
}

/* Before tasks are set: they are not chosen. */
static cubed_status set_scan(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        if (n->kind != CB_NODE_SCAN) continue;
        if (s->nouts > 1 || s->nreductions > 0)
            return cb_fail(err, CUBED_E_FORMAT, "running totals share a stage");
        s->scan = true;
        s->scan_axis = n->axis;
        for (int d = 0; d < s->kept.ndim; d++) s->task_chunks[d] = 1;
        s->task_chunks[n->axis] = cb_max_i64(1, cb_axis_count(&s->kept.axis[n->axis]));
    }
    return CUBED_OK;
}

/* A result that alone uses a reduction's state, of elements of the same size, may overwrite it. */
static void set_aliases(const cb_ir *ir, cb_zone *zone, cb_stage *s)
{
    const cb_program *p = &s->tail;
    for (int o = 0; o < s->nouts; o++) s->outs[o].alias = -1;
    if (s->nreductions == 0 || s->partial || p->nbranches != 1) return;
    const cb_branch *b = &p->branches[0];
    int nvalues = b->nloads + b->ninstrs;
    /* users[v]: 0 none, o+1 only result o, -1 several */
    int *users = cb_zone_alloc(zone, (size_t)nvalues * sizeof *users + 1);
    if (!users) return; /* only an optimisation */
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

static bool is_copy(const cb_stage *s)
{
    if (s->nreductions || s->nouts != 1 || s->scan) return false;
    for (int i = 0; i < s->tail.nbranches; i++) {
        if (!cb_branch_is_bare(&s->tail.branches[i])) return false;
    }
    return true;
}

static void put_ops(cb_buf *text, const cb_program *p, const cb_kernels *k)
{
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
                cb_buf_printf(text, "%s, %s", cubed_op_name((cubed_op)k->super[in->op].inner),
                              cubed_op_name((cubed_op)k->super[in->op].outer));
            else
                cb_buf_puts(text, cubed_op_name((cubed_op)in->op));
        }
    }
}

/* "sum(multiply), divide -> uu" */
static cubed_status set_name(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, &p->ctx->alloc);
    for (int k = 0; k < s->nreductions && k < 3; k++) {
        cb_buf_printf(&text, "%s%s%s", k ? ", " : "", s->merge ? "merge " : "",
                      cb_reduction_name(s->reductions[k].kind));
    }
    if (s->nreductions && s->body.nbranches && s->body.branches[0].ninstrs) {
        cb_buf_puts(&text, "(");
        put_ops(&text, &s->body, &p->ctx->kernels);
        cb_buf_puts(&text, ")");
    }
    if (s->call)
        cb_buf_puts(&text, s->call->fn->title ? s->call->fn->title(s->call->op->params)
                                              : s->call->fn->name);
    else if (s->scan)
        cb_buf_printf(&text, "cumulative %s%s",
                      cb_reduction_name(p->ir.nodes[s->outs[0].node].reduction),
                      s->tail.nbranches && s->tail.branches[0].ninstrs ? ", " : "");
    else if (!s->nreductions && (s->copy || !s->tail.nbranches || !s->tail.branches[0].ninstrs))
        cb_buf_puts(&text, s->tail.nbranches > 1  ? "concat"
                           : cb_stage_reshapes(s) ? "reshape"
                                                  : "copy");
    if (s->tail.nbranches && s->tail.branches[0].ninstrs) {
        if (s->nreductions) cb_buf_puts(&text, ", ");
        put_ops(&text, &s->tail, &p->ctx->kernels);
    }
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
        else
            cb_buf_printf(&text, n->to_memory ? "result-%d" : "array-%d", s->outs[o].node);
    }
    s->name = text.failed ? NULL : cb_zone_strdup(p->ir.zone, text.data);
    cb_buf_free(&text);
    return s->name ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
}

/* The input of a reduction, or what is below a cast that the reduction's kernel does as it goes. */
static int reduced_values(const cubed_plan *p, const cb_stage_reduction *reduction)
{
    int input = p->ir.nodes[reduction->node].inputs[0];
    const cb_node *n = &p->ir.nodes[input];
    bool widens = n->kind == CB_NODE_CAST && !n->stored && n->dtype == CUBED_FLOAT64 &&
                  p->ir.nodes[n->inputs[0]].dtype == CUBED_FLOAT32 &&
                  p->ctx->kernels.reduce_float32[reduction->kind].rows;
    return widens ? n->inputs[0] : input;
}

static cubed_status lower_body(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < s->domain.ndim; d++) shape[d] = s->domain.axis[d].extent;
    cb_lower_root *roots = cb_zone_alloc(scratch, (size_t)s->nreductions * sizeof *roots);
    if (!roots) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    for (int k = 0; k < s->nreductions; k++) {
        roots[k].node = reduced_values(p, &s->reductions[k]);
        roots[k].map = cb_map_identity(s->domain.ndim);
        s->reductions[k].value = p->ir.nodes[roots[k].node].dtype;
        /* A stored input is loaded; only outputs of this stage are recomputed. */
    }
    return cb_lower(&p->ir, p->ir.zone, &p->ctx->kernels, s->domain.ndim, shape, roots,
                    s->nreductions, true, NULL, 0, &s->body, err);
}

static cubed_status lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < s->kept.ndim; d++) shape[d] = s->kept.axis[d].extent;
    cb_lower_root *roots = cb_zone_alloc(scratch, (size_t)s->nouts * sizeof *roots);
    int *reductions = cb_zone_alloc(scratch, (size_t)s->nreductions * sizeof *reductions + 1);
    if (!roots || !reductions) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    for (int k = 0; k < s->nreductions; k++) reductions[k] = s->reductions[k].node;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        cb_map *m = &roots[o].map;
        roots[o].node = s->outs[o].node;
        m->ndim_in = s->kept.ndim;
        m->ndim_out = n->grid.ndim;
        for (int r = 0; r < n->grid.ndim; r++) {
            m->dim[r].axis = s->outs[o].axis[r];
            m->dim[r].stride = m->dim[r].axis >= 0;
        }
    }
    return cb_lower(&p->ir, p->ir.zone, &p->ctx->kernels, s->kept.ndim, shape, roots, s->nouts,
                    false, reductions, s->nreductions, &s->tail, err);
}

static cubed_status compile_programs(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    const cb_ir *ir = &p->ir;
    collect c = {.ir = ir, .s = s, .zone = ir->zone};
    for (c.out = 0; c.out < s->nouts; c.out++) {
        int before = s->nreductions;
        CB_TRY(cb_stage_find_reductions(ir, s->outs[c.out].node, add_reduce, &c, err));
        if (c.out > 0 && (before > 0) != (s->nreductions > 0))
            return cb_fail(err, CUBED_E_FORMAT,
                           "a stage mixes outputs with and without reductions");
    }
    CB_TRY(set_domain(ir, s, err));
    CB_TRY(set_scan(ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    if (s->nreductions && !s->merge) CB_TRY(lower_body(p, s, scratch, err));
    if (!s->partial) CB_TRY(lower_tail(p, s, scratch, err));
    set_aliases(ir, scratch, s);
    s->copy = is_copy(s);
    return CUBED_OK;
}

/* Of all programs, and states that are merged. */
static cubed_status find_inputs(const cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                cubed_error *err)
{
    const cb_program *prog;
    size_t n = (size_t)s->nreductions;
    for (int i = 0; (prog = cb_stage_program(s, i)) != NULL; i++) n += (size_t)prog->nreads;
    int *inputs = cb_zone_alloc(scratch, n * sizeof *inputs);
    if (!inputs) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    n = 0;
    for (int k = 0; k < s->nreductions; k++) {
        if (s->reductions[k].states >= 0) inputs[n++] = s->reductions[k].states;
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
    bool block = p->ir.nodes[s->outs[0].node].block != NULL;
    s->nreductions = 0;
    s->reductions = NULL;
    s->call = NULL;
    s->scan = s->copy = s->partial = s->merge = false;
    memset(&s->body, 0, sizeof s->body);
    memset(&s->tail, 0, sizeof s->tail);
    cb_zone *scratch;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &scratch, err));
    cubed_status st = block ? cb_block_compile(p, s, err) : compile_programs(p, s, scratch, err);
    if (st == CUBED_OK) st = find_inputs(p, s, scratch, err);
    cb_zone_free(scratch);
    return st == CUBED_OK ? set_name(p, s, err) : st;
}

const cb_program *cb_stage_program(const cb_stage *s, int i)
{
    if (i < 2) return i == 0 ? &s->body : &s->tail;
    return s->call && i - 2 < s->call->op->nin ? &s->call->inputs[i - 2].program : NULL;
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
