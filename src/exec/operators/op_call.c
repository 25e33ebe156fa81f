/* Operator for functions on whole blocks. A task calls the function once for each combination of blocks along the contracted
 * symbols (axes that no output has), in C order. Before a call it loads the inputs' blocks that the previous call did not use.
 * The function adds to the outputs' blocks. */
#include <string.h>

#include "base/error.h"
#include "exec/operators/operands.h"

/* --- Compiling ------------------------------------------------------------------------------------ */

/* Sets the grid of tasks: one axis for each symbol that is not contracted, counted in blocks. */
static cubed_status set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err)
{
    cb_grid kept = {.ndim = 0};
    cb_stage_call *c = s->call;
    bool empty = true;
    for (int k = 0; k < c->symbols.n; k++) {
        c->axis[k] = c->symbols.kept[k] ? kept.ndim : -1;
        if (c->axis[k] >= 0) kept.axis[kept.ndim++] = cb_axis_regular(c->symbols.nblocks[k], 1);
    }
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        for (int d = 0; d < n->grid->ndim; d++) {
            int symbol = c->op->out[n->output].symbol[d];
            s->outs[o].axis[d] = symbol < 0 ? -1 : c->axis[symbol];
        }
        s->outs[o].alias = -1;
        empty = empty && cb_grid_count(n->grid) == 0;
    }
    if (empty) { /* The stage has no tasks if all outputs are empty. */
        if (kept.ndim == 0) kept.ndim = 1;
        kept.axis[0] = cb_axis_regular(0, 1);
    }
    return cb_stage_keep(ir, s, &kept, err);
}

/* Describes the largest block of each operand, without data. The shape of each block is stored in `shapes`, which has
 * CUBED_MAX_NDIM extents for each block. */
static void largest(const cb_block_operand *x, int n, cubed_block *blocks, int64_t *shapes)
{
    static const int64_t origin[CUBED_MAX_NDIM] = {0};
    for (int i = 0; i < n; i++) {
        int64_t *shape = shapes + (ptrdiff_t)i * CUBED_MAX_NDIM;
        for (int d = 0; d < x[i].blocks.ndim; d++)
            shape[d] = x[i].gather.most > 0 && d == x[i].gather.axis ? x[i].gather.most
                                                                     : cb_block_most(&x[i], d);
        blocks[i] = (cubed_block){NULL, x[i].dtype, x[i].blocks.ndim, shape, origin};
    }
}

cubed_status cb_block_ask(cb_zone *zone, const cubed_block_fn *fn, void *fn_ctx,
                          const cb_blockwise *op, const cb_symbols *symbols, cubed_block_need *need,
                          cubed_error *err)
{
    size_t n = (size_t)op->nin + (size_t)op->nout;
    cubed_block *blocks = cb_zone_alloc(zone, n * sizeof *blocks);
    int64_t *shapes = cb_zone_alloc(zone, n * CUBED_MAX_NDIM * sizeof *shapes);
    const int64_t index[CUBED_MAX_NDIM] = {0};
    if (!blocks || !shapes) return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
    largest(op->in, op->nin, blocks, shapes);
    largest(op->out, op->nout, blocks + op->nin, shapes + (ptrdiff_t)op->nin * CUBED_MAX_NDIM);
    cubed_block_call call = {.nin = op->nin,
                             .nout = op->nout,
                             .in = blocks,
                             .out = blocks + op->nin,
                             .params = op->params,
                             .params_size = op->params_size,
                             .first = true,
                             .last = true,
                             .nsymbols = symbols->n,
                             .index = index};
    if (fn->check) CB_TRY(fn->check(&call, fn_ctx, err));
    *need = fn->need ? fn->need(&call, fn_ctx) : (cubed_block_need){0, 0};
    return CUBED_OK;
}

/* Sets the index of the block along each symbol for call number `step` of a task. */
static void call_index(const cb_stage_call *c, const cb_box *kept, const cb_box *contracted,
                       int64_t step, int64_t *index)
{
    for (int k = c->symbols.n - 1; k >= 0; k--) {
        const int64_t n = contracted->hi[k];
        index[k] = step % n;
        step /= n;
    }
    for (int j = kept->ndim - 1; j >= 0; j--) {
        const int64_t n = kept->hi[j] - kept->lo[j];
        for (int k = 0; k < c->symbols.n; k++) {
            if (c->axis[k] == j) index[k] = kept->lo[j] + step % n;
        }
        step /= n;
    }
}

static cubed_status compile(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    (void)scratch;
    CB_TRY(cb_operands_compile(p, s, err));
    cb_stage_call *c = s->call;
    CB_TRY(cb_context_find_block_fn(p->ctx, c->op->function, &c->fn, &c->fn_ctx, err));
    CB_TRY(cb_blockwise_symbols(c->op, &c->symbols, err));
    cubed_status st = cb_block_ask(p->ir.zone, c->fn, c->fn_ctx, c->op, &c->symbols, &c->need, err);
    if (st != CUBED_OK) return cb_context(err, st, "%s", c->fn->name);
    CB_TRY(set_domain(&p->ir, s, err));
    for (int d = 0; d < s->kept->ndim; d++) s->task_chunks[d] = 1;
    return cb_stage_set_tasks(s, err);
}

/* Returns a key that stages with outputs of the same call share: the last input of the call. Other inputs may be inputs of
 * thousands of calls. The key is 0 if the call has no inputs. */
static int sibling_key(const cubed_plan *p, const cb_stage *s)
{
    const cb_node *n = &p->ir.nodes[s->outs[0].node];
    int last = 0;
    for (int k = 0; k < n->ninputs; k++) last = n->inputs[k] > last ? n->inputs[k] : last;
    return last;
}

/* Reports the chunks of the inputs of a task's calls, in the order of the calls. For each call, reports only inputs whose
 * block differs from the block of the previous call, or whose block the function overwrites (`clobbers`). Does not report
 * gathered inputs. */
static cubed_status visit(const cubed_plan *p, const cb_stage *s, const cb_visited_step *v,
                          bool *there, cubed_error *err)
{
    const cb_stage_call *c = s->call;
    const cb_box contracted = cb_block_contracted(c);
    const int64_t calls = cb_box_count(&contracted);
    int64_t now[CUBED_MAX_NDIM], before[CUBED_MAX_NDIM];
    *there = calls > 0 && v->step < calls * cb_box_count(&v->kept);
    if (!*there) return CUBED_OK;
    call_index(c, &v->kept, &contracted, v->step, now);
    if (v->step % calls > 0) call_index(c, &v->kept, &contracted, v->step - 1, before);
    for (int i = 0; i < c->op->nin; i++) {
        const bool clobbered = i < 32 && c->fn->clobbers >> i & 1;
        cb_box box, last;
        if (c->op->in[i].gather.most > 0) continue;
        cb_block_box(&c->op->in[i], now, now, &box);
        if (v->step % calls > 0 && !clobbered) {
            cb_block_box(&c->op->in[i], before, before, &last);
            const size_t corner = (size_t)box.ndim * sizeof *box.lo;
            if (memcmp(box.lo, last.lo, corner) == 0 && memcmp(box.hi, last.hi, corner) == 0)
                continue;
        }
        if (!cb_box_empty(&box)) CB_TRY(cb_program_visit(p, &c->inputs[i].program, &box, v, err));
    }
    return CUBED_OK;
}

/* --- Calls ---------------------------------------------------------------------------------------- */

typedef struct call {
    cb_operands x;
    cubed_block_call call;
} call;

/* Allocates the function's scratch memory, and charges the memory of its libraries to the arena until the function has
 * returned. */
static cubed_status function_frame(const cb_stage_call *c, cb_arena *arena, void **scratch,
                                   cubed_error *err)
{
    CB_TRY(cb_arena_alloc(arena, c->need.scratch, "scratch", scratch, err));
    return cb_arena_charge(arena, c->need.library, "function on blocks", err);
}

static cubed_status frame(const cb_frame *f, void *out, cubed_error *err)
{
    const cb_stage_call *c = f->stage->call;
    const cb_box contracted = cb_block_contracted(c);
    cb_operands *x = out;
    void *scratch;
    CB_TRY(cb_operands_frame(f->stage, f->arena, x, err));
    if (!cb_arena_measures(f->arena)) return CUBED_OK;
    CB_TRY(cb_results_frame(f, NULL, err));
    CB_TRY(cb_inputs_frame(f, NULL, err));
    if (f->arena->kind == CB_ARENA_LEAST && cb_box_empty(&contracted)) return CUBED_OK;
    CB_TRY(function_frame(c, f->arena, &scratch, err));
    cb_arena_uncharge(f->arena, c->need.library);
    return CUBED_OK;
}

static cubed_status call_function(call *r, cubed_error *err)
{
    const cubed_block_fn *fn = r->x.c->fn;
    size_t mark = cb_arena_mark(r->x.t->arena);
    if (fn->check) CB_TRY(fn->check(&r->call, r->x.c->fn_ctx, err));
    CB_TRY(function_frame(r->x.c, r->x.t->arena, &r->call.scratch, err));
    uint64_t taken = 0;
    r->call.library_taken = &taken;
    cubed_status st = fn->run(&r->call, r->x.c->fn_ctx, err);
    if (st == CUBED_E_IO && err) err->transient = true;
    if (taken > r->x.t->count->function_mem) r->x.t->count->function_mem = taken;
    cb_arena_uncharge(r->x.t->arena, r->x.c->need.library);
    cb_arena_release(r->x.t->arena, mark);
    /* If the run is cancelled during the call, the function may leave its outputs incomplete. So return an error, and do not
     * use the outputs. */
    return cb_task_cancelled(r->x.t) ? cb_task_check(r->x.t, err) : st;
}

/* Makes all calls of the function that add to the outputs' blocks. */
static cubed_status make_blocks(call *r, cubed_error *err)
{
    const cb_blockwise *op = r->x.c->op;
    const cb_task *t = r->x.t;
    cb_box contracted = cb_block_contracted(r->x.c);
    int64_t at[CUBED_MAX_NDIM] = {0};
    const cb_frame f = {.plan = t->plan, .stage = t->stage, .arena = t->arena};
    CB_TRY(cb_inputs_frame(&f, r->x.operand, err));
    for (int i = 0; i < op->nin; i++) r->x.block[i].data = NULL;
    for (bool more = !cb_box_empty(&contracted); more;) {
        CB_TRY(cb_task_check(t, err));
        r->call.first = r->call.last = true;
        for (int k = 0; k < r->x.c->symbols.n; k++) {
            if (r->x.c->axis[k] >= 0) continue;
            r->x.index[k] = at[k];
            r->call.first = r->call.first && at[k] == 0;
            r->call.last = r->call.last && at[k] == contracted.hi[k] - 1;
        }
        for (int i = 0; i < op->nin; i++) CB_TRY(cb_operand_bring(&r->x, i, err));
        CB_TRY(call_function(r, err));
        more = cb_odometer_next(&contracted, at);
    }
    return CUBED_OK;
}

static cubed_status run_block(call *r, const int64_t *kept, cubed_error *err)
{
    const cb_blockwise *op = r->x.c->op;
    const cb_task *t = r->x.t;
    for (int k = 0; k < r->x.c->symbols.n; k++)
        r->x.index[k] = r->x.c->axis[k] < 0 ? 0 : kept[r->x.c->axis[k]];
    size_t mark = cb_arena_mark(t->arena);
    cb_box contracted = cb_block_contracted(r->x.c);
    const cb_frame f = {.plan = t->plan, .stage = t->stage, .arena = t->arena};
    CB_TRY(cb_results_frame(&f, r->x.operand, err));
    for (int k = 0; k < op->nout; k++) {
        cb_operand *x = &r->x.operand[op->nin + k];
        cb_operand_set(x, &r->x.block[op->nin + k], &op->out[k], r->x.index);
        if (!x->tile) continue;
        if (cb_box_empty(&contracted)) memset(x->tile, 0, cb_block_out_bytes(t->plan, t->stage, k));
        r->x.block[op->nin + k].data = x->tile;
    }
    size_t inner = cb_arena_mark(t->arena);
    CB_TRY(make_blocks(r, err));
    cb_arena_release(t->arena, inner);
    for (int k = 0; k < op->nout; k++) {
        if (r->x.c->outs[k] >= 0) CB_TRY(cb_operand_write(&r->x, k, err));
    }
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage_call *c = t->stage->call;
    const cb_frame f = {.plan = t->plan, .stage = t->stage, .arena = t->arena};
    call r = {.x = {.t = t, .c = c}};
    cb_box kept;
    int64_t idx[CUBED_MAX_NDIM];
    CB_TRY(frame(&f, &r.x, err));
    r.call = (cubed_block_call){.nin = c->op->nin,
                                .nout = c->op->nout,
                                .in = r.x.block,
                                .out = r.x.block + c->op->nin,
                                .params = c->op->params,
                                .params_size = c->op->params_size,
                                .nsymbols = c->symbols.n,
                                .index = r.x.index,
                                .cancel = t->cancel};
    cb_stage_task_box(t->stage, task, &kept);
    memcpy(idx, kept.lo, sizeof idx);
    do {
        CB_TRY(run_block(&r, idx, err));
    } while (cb_odometer_next(&kept, idx));
    return CUBED_OK;
}

_Static_assert(sizeof(cb_operands) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

const cb_operator cb_operator_call = {
    .name = "call",
    .compile = compile,
    .prepare = cb_operands_prepare,
    .frame = frame,
    .reads = cb_operands_read,
    .visit = visit,
    .run = run,
    .joined = &cb_operator_call,
    .apart = "a function on whole blocks needs separate tasks",
    .sibling_key = sibling_key,
};
