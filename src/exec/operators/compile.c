/* Compiles stages: chooses the operator of a stage, and does the work that all operators share. */
#include <string.h>

#include "base/error.h"
#include "exec/plan/lower.h"
#include "exec/plan/operator.h"
#include "exec/plan/title.h"
#include "plan/reduction.h"

typedef struct collect {
    const cb_ir *ir;
    cb_stage *s;
    int out; /* number of the output whose reductions are being collected */
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

/* Collects the reductions that the outputs of a stage need. Stages of functions on blocks have no reductions, and their
 * operator checks their inputs. */
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

/* A stage's name lists at most this many outputs. */
enum { NAMED_OUTPUTS = 4 };

/* Writes the titles of the first NAMED_OUTPUTS outputs. Omits a title that equals the title before it, because all outputs of
 * one call have equal titles. */
static void put_titles(cubed_plan *p, const cb_stage *s, cb_buf *text)
{
    size_t before = 0;
    for (int o = 0; o < s->nouts && o < NAMED_OUTPUTS; o++) {
        const size_t end = text->size;
        if (o) cb_buf_puts(text, ", ");
        const size_t start = text->size;
        cb_title_put(p, s->outs[o].node, text);
        if (text->failed) return;
        if (o && strcmp(text->data + before, text->data + start) == 0)
            text->size = end;
        else
            before = start;
    }
    if (s->nouts > NAMED_OUTPUTS) cb_buf_puts(text, ", ...");
}

/* Names a stage, for example "mean(u*u), mean(u*v) -> uu, uv". */
static cubed_status set_name(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, &p->ctx->alloc);
    put_titles(p, s, &text);
    cb_buf_puts(&text, " -> ");
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        if (o == NAMED_OUTPUTS) {
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

/* Returns the operator for the kind of the stage's nodes. This operator may choose another one when it compiles or prepares the
 * stage. */
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

/* Returns true if the stage has one output, only moves elements and computes nothing. */
static bool is_copy(const cb_stage *s)
{
    if (s->nouts != 1) return false;
    for (int i = 0; i < s->tail.nbranches; i++) {
        if (!cb_branch_is_bare(&s->tail.branches[i])) return false;
    }
    return true;
}

/* Lists the nodes whose chunks or memory the stage's programs load, and the nodes whose states the stage merges. */
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
    if (st == CUBED_OK && s->op->may_copy && is_copy(s)) s->op = &cb_operator_copy;
    if (st == CUBED_OK) st = find_inputs(p, s, scratch, err);
    cb_zone_free(scratch);
    return st == CUBED_OK ? set_name(p, s, err) : st;
}
