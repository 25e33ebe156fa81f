#include "exec/block_stage.h"

#include "base/error.h"
#include "exec/lower.h"
#include "exec/need.h"

/* --- Blocks --------------------------------------------------------------------------------------- */

void cb_block_box(const cb_block_operand *x, const int64_t *first, const int64_t *last,
                  cb_box *elements)
{
    elements->ndim = x->blocks.ndim;
    for (int d = 0; d < x->blocks.ndim; d++) {
        const cb_axis *a = &x->blocks.axis[d];
        bool one = x->symbol[d] < 0 || cb_axis_count(a) <= 1;
        int64_t per = x->gather.most > 0 && d == x->gather.axis ? x->gather.per : 1;
        elements->lo[d] = one ? 0 : cb_axis_lo(a, first[x->symbol[d]] / per);
        elements->hi[d] = one ? a->extent : cb_axis_hi(a, last[x->symbol[d]] / per);
        cb_halo_widen(&x->halo[d], a->extent, &elements->lo[d], &elements->hi[d]);
    }
}

cb_box cb_block_contracted(const cb_stage_call *c)
{
    cb_box box = {.ndim = c->symbols.n};
    for (int s = 0; s < c->symbols.n; s++) box.hi[s] = c->axis[s] < 0 ? c->symbols.nblocks[s] : 1;
    return box;
}

/* --- Compiling ------------------------------------------------------------------------------------ */

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to compile the plan");
}

static cubed_status refuse_reduce(void *ctx, int node, const cb_map *map, cubed_error *err)
{
    (void)ctx;
    (void)map;
    return cb_fail(err, CUBED_E_FORMAT, "node %d reduces below a function on blocks", node);
}

/* Tasks are counted in blocks of the kept symbols. */
static void set_domain(const cb_ir *ir, cb_stage *s)
{
    cb_stage_call *c = s->call;
    bool empty = true;
    s->kept.ndim = 0;
    for (int k = 0; k < c->symbols.n; k++) {
        c->axis[k] = c->symbols.kept[k] ? s->kept.ndim : -1;
        if (c->axis[k] >= 0)
            s->kept.axis[s->kept.ndim++] = cb_axis_regular(c->symbols.nblocks[k], 1);
    }
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &ir->nodes[s->outs[o].node];
        for (int d = 0; d < n->grid.ndim; d++) {
            int symbol = c->op->out[n->output].symbol[d];
            s->outs[o].axis[d] = symbol < 0 ? -1 : c->axis[symbol];
        }
        s->outs[o].alias = -1;
        empty = empty && cb_grid_count(&n->grid) == 0;
    }
    if (!empty) return;
    /* Nothing is written: no tasks. */
    if (s->kept.ndim == 0) s->kept.ndim = 1;
    s->kept.axis[0] = cb_axis_regular(0, 1);
}

static cubed_status find_outputs(const cb_ir *ir, cb_zone *zone, cb_stage *s, cubed_error *err)
{
    cb_stage_call *c = s->call;
    c->outs = cb_zone_alloc(zone, (size_t)c->op->nout * sizeof *c->outs);
    if (!c->outs) return no_memory(err);
    for (int k = 0; k < c->op->nout; k++) c->outs[k] = -1;
    for (int o = 0; o < s->nouts; o++) {
        int node = s->outs[o].node;
        if (!cb_ir_same_call(ir, s->outs[0].node, node) || c->outs[ir->nodes[node].output] >= 0)
            return cb_fail(err, CUBED_E_FORMAT, "a stage mixes functions on blocks");
        c->outs[ir->nodes[node].output] = o;
    }
    return CUBED_OK;
}

static bool is_in_place(const cb_ir *ir, const cb_stage_input *in, const cb_block_operand *x)
{
    if (in->program.nbranches != 1 || in->program.branches[0].ninstrs > 0) return false;
    const cb_load *l = &in->program.branches[0].loads[in->program.branches[0].results[0]];
    return l->kind == CB_LOAD_STORED && !l->reshape && cb_map_is_identity(l->map) &&
           cb_grid_equal(&ir->nodes[l->node].grid, &x->blocks) && !cb_block_has_halo(x);
}

/* Gathering copies ranges of chunks that are as they are in memory or in the work directory. */
static cubed_status check_gathered(const cb_ir *ir, const cb_stage_input *in,
                                   const cb_block_operand *x, cubed_error *err)
{
    const cb_node *n = &ir->nodes[in->node];
    bool sound = in->program.nbranches == 1 && cb_branch_is_bare(&in->program.branches[0]) &&
                 n->stored && cb_node_is_intermediate(n);
    for (int d = 0; d < n->grid.ndim; d++)
        sound = sound && (d == x->gather.axis || n->grid.axis[d].chunk == 1);
    return sound
               ? CUBED_OK
               : cb_fail(err, CUBED_E_FORMAT, "node %d is gathered, but no intermediate", in->node);
}

static cubed_status lower_inputs(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[s->outs[0].node];
    cb_stage_call *c = s->call;
    c->inputs = cb_zone_alloc(p->ir.zone, (size_t)n->ninputs * sizeof *c->inputs);
    if (!c->inputs) return no_memory(err);
    for (int i = 0; i < n->ninputs; i++) {
        cb_stage_input *in = &c->inputs[i];
        int64_t shape[CUBED_MAX_NDIM];
        in->node = n->inputs[i];
        const cb_node *x = &p->ir.nodes[in->node];
        cb_lower_root root = {in->node, cb_map_identity(x->grid.ndim)};
        cb_node_shape(x, shape);
        CB_TRY(cb_lower(&p->ir, p->ir.zone, &p->ctx->kernels, x->grid.ndim, shape, &root, 1, true,
                        NULL, 0, &in->program, err));
        in->in_place = is_in_place(&p->ir, in, &c->op->in[i]) && c->op->in[i].gather.most == 0;
        if (c->op->in[i].gather.most > 0) CB_TRY(check_gathered(&p->ir, in, &c->op->in[i], err));
    }
    return CUBED_OK;
}

/* The largest blocks; shapes are in `shapes`, CUBED_MAX_NDIM each. */
static void largest(const cb_block_operand *x, int n, cubed_block *blocks, int64_t *shapes)
{
    static const int64_t origin[CUBED_MAX_NDIM] = {0};
    for (int i = 0; i < n; i++) {
        int64_t *shape = shapes + (ptrdiff_t)i * CUBED_MAX_NDIM;
        for (int d = 0; d < x[i].blocks.ndim; d++)
            shape[d] = x[i].gather.most > 0 && d == x[i].gather.axis
                           ? x[i].gather.most
                           : cb_halo_most(&x[i].halo[d], &x[i].blocks.axis[d]);
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
    if (!blocks || !shapes) return no_memory(err);
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

static cubed_status compile_function(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    cb_stage_call *c = s->call;
    CB_TRY(cb_context_find_block_fn(p->ctx, c->op->function, &c->fn, &c->fn_ctx, err));
    CB_TRY(cb_blockwise_symbols(c->op, &c->symbols, err));
    cubed_status st = cb_block_ask(p->ir.zone, c->fn, c->fn_ctx, c->op, &c->symbols, &c->need, err);
    if (st != CUBED_OK) return cb_context(err, st, "%s", c->fn->name);
    set_domain(&p->ir, s);
    for (int d = 0; d < s->kept.ndim; d++) s->task_chunks[d] = 1;
    return CUBED_OK;
}

/* One symbol, of the inputs. A task makes one chunk; as nobody knows yet from which blocks, it waits for all
 * of them. */
static void compile_compress(cb_stage *s)
{
    static const cubed_block_fn compress = {.name = "compress"};
    cb_stage_call *c = s->call;
    const cb_grid *chunks = &c->op->out[0].blocks;
    int64_t nchunks = cb_axis_count(&chunks->axis[0]);
    c->compress = true;
    c->fn = &compress;
    c->symbols.n = 1;
    c->symbols.nblocks[0] = cb_axis_count(&c->op->in[0].blocks.axis[0]);
    c->axis[0] = -1;
    s->kept.ndim = 1;
    s->kept.axis[0] = cb_axis_regular(nchunks, 1);
    s->task_chunks[0] = 1;
    s->outs[0].axis[0] = 0;
    s->outs[0].alias = -1;
}

cubed_status cb_block_compile(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    const cb_ir *ir = &p->ir;
    cb_stage_call *c = cb_zone_alloc(ir->zone, sizeof *c);
    if (!c) return no_memory(err);
    s->call = c;
    c->op = ir->nodes[s->outs[0].node].block;
    CB_TRY(find_outputs(ir, ir->zone, s, err));
    if (cb_node_is(&ir->nodes[s->outs[0].node], CB_KIND_CALL))
        CB_TRY(compile_function(p, s, err));
    else
        compile_compress(s);
    CB_TRY(cb_stage_find_reductions(ir, s->outs[0].node, refuse_reduce, NULL, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    return lower_inputs(p, s, err);
}

/* --- Projecting ----------------------------------------------------------------------------------- */

static size_t block_bytes(const cb_block_operand *x)
{
    size_t bytes = cubed_dtype_size(x->dtype);
    if (x->gather.most > 0) return cb_sat_mul(bytes, (size_t)x->gather.most);
    for (int d = 0; d < x->blocks.ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)cb_halo_most(&x->halo[d], &x->blocks.axis[d]));
    return bytes;
}

/* A chunk that is shorter at the edge is closed up where it is. */
size_t cb_block_in_bytes(const cubed_plan *p, const cb_stage *s, int in)
{
    const cb_stage_input *input = &s->call->inputs[in];
    if (!input->in_place) return block_bytes(&s->call->op->in[in]);
    const cb_branch *b = &input->program.branches[0];
    return cb_chunk_bytes(p, b->loads[b->results[0]].node);
}

bool cb_block_is_carried(const cb_stage_call *c, int out)
{
    return out < 32 && c->fn->carried >> out & 1;
}

/* The other way round. */
size_t cb_block_out_bytes(const cubed_plan *p, const cb_stage *s, int out)
{
    int o = s->call->outs[out];
    if (o < 0) return cb_block_is_carried(s->call, out) ? block_bytes(&s->call->op->out[out]) : 0;
    return p->ir.nodes[s->outs[o].node].to_memory ? block_bytes(&s->call->op->out[out])
                                                  : cb_chunk_bytes(p, s->outs[o].node);
}

/* How often a block of the input is brought: once for every call, but while it stays the same. */
static uint64_t times_read(const cb_stage_call *c, const cb_block_operand *x)
{
    uint32_t has = 0;
    int last = -1;
    uint64_t times = 1;
    for (int d = 0; d < x->blocks.ndim; d++) {
        int k = x->symbol[d];
        if (k < 0 || cb_axis_count(&x->blocks.axis[d]) <= 1) continue;
        has |= 1u << k;
        if (c->axis[k] < 0 && k > last) last = k;
    }
    for (int k = 0; k < c->symbols.n; k++) {
        if (!(has >> k & 1) && (c->axis[k] >= 0 || k < last))
            times = cb_sat_mul(times, (size_t)c->symbols.nblocks[k]);
    }
    return times;
}

/* Of how many blocks of an input that has a symbol twice one is on its diagonal. */
static uint64_t blocks_per_call(const cb_stage_call *c, const cb_block_operand *x)
{
    uint64_t all = 1;
    uint32_t has = 0;
    for (int d = 0; d < x->blocks.ndim; d++) {
        int k = x->symbol[d];
        if (k >= 0 && has >> k & 1) all = cb_sat_mul(all, (size_t)c->symbols.nblocks[k]);
        if (k >= 0) has |= 1u << k;
    }
    return all ? all : 1;
}

/* What visiting all blocks of an input once takes; sets the stage's counts. */
static cb_need visit_need(const cubed_plan *p, cb_stage *s, int i)
{
    cb_blocks axes[CUBED_MAX_NDIM] = {{NULL, 0, NULL}};
    const cb_block_operand *x = &s->call->op->in[i];
    bool halo = cb_block_has_halo(x);
    for (int d = 0; d < x->blocks.ndim; d++)
        axes[d] = (cb_blocks){&x->blocks.axis[d], 1, halo ? &x->halo[d] : NULL};
    s->bytes_read = s->chunks_read = 0;
    cb_need need = cb_program_need(p, s, &s->call->inputs[i].program, axes, true);
    uint64_t per = blocks_per_call(s->call, x);
    s->bytes_read = s->bytes_read / per + (s->bytes_read % per != 0);
    s->chunks_read = s->chunks_read / per + (s->chunks_read % per != 0);
    return need;
}

uint64_t cb_block_input_reads(const cubed_plan *p, const cb_stage *s, int in, uint64_t *times)
{
    cb_stage visit = *s;
    cb_need unused = visit_need(p, &visit, in);
    (void)unused;
    *times = times_read(s->call, &s->call->op->in[in]);
    return visit.bytes_read;
}

/* Ranges are copied to where the function gets them. Each task may meet all chunks of its block. */
static void count_gathered(cb_stage *s, const cb_block_operand *x, const cb_axis *chunks)
{
    const cb_axis *blocks = &x->blocks.axis[x->gather.axis];
    size_t tasks = (size_t)s->ntasks;
    size_t met = (size_t)cb_ceil_div(cb_min_i64(blocks->extent, blocks->chunk), chunks->chunk);
    s->chunks_read = cb_sat_add(s->chunks_read, cb_sat_mul(tasks, met));
    s->bytes_read = cb_sat_add(s->bytes_read, cb_sat_mul(tasks, block_bytes(x)));
}

static cb_need input_need(const cubed_plan *p, cb_stage *s, int i)
{
    const cb_stage_input *in = &s->call->inputs[i];
    const cb_block_operand *x = &s->call->op->in[i];
    if (x->gather.most > 0) {
        count_gathered(s, x, &p->ir.nodes[in->node].grid.axis[x->gather.axis]);
        return (cb_need){0, 0};
    }
    uint64_t chunks = s->chunks_read, bytes = s->bytes_read;
    uint64_t times = times_read(s->call, x);
    cb_need need = visit_need(p, s, i);
    s->chunks_read = cb_sat_add(chunks, cb_sat_mul(s->chunks_read, times));
    s->bytes_read = cb_sat_add(bytes, cb_sat_mul(s->bytes_read, times));
    for (int b = 0; b < in->program.nbranches && times > 1; b++) {
        const cb_branch *branch = &in->program.branches[b];
        for (int v = 0; v < branch->nloads; v++) branch->loads[v].reuse = CB_REUSE_ALL;
    }
    if (!in->in_place) return need;
    return cb_read_need(p, in->program.branches[0].loads[in->program.branches[0].results[0]].node);
}

void cb_block_project(const cubed_plan *p, cb_stage *s)
{
    const cb_stage_call *c = s->call;
    size_t tiles = 0, results = 0;
    cb_need call = {cb_arena_round(c->need.scratch), c->need.library}, write = {0, 0};
    s->bytes_read = s->chunks_read = s->bytes_written = s->chunks_written = 0;
    for (int i = 0; i < c->op->nin; i++) {
        tiles = cb_sat_add(tiles, cb_arena_round(cb_block_in_bytes(p, s, i)));
        call = cb_need_either(call, input_need(p, s, i));
    }
    for (int k = 0; k < c->op->nout; k++) {
        results = cb_sat_add(results, cb_arena_round(cb_block_out_bytes(p, s, k)));
        if (c->outs[k] < 0) continue;
        int node = s->outs[c->outs[k]].node;
        uint64_t chunks = (uint64_t)cb_grid_count(&p->ir.nodes[node].grid);
        write = cb_need_either(write, cb_write_need(p, node));
        s->chunks_written = cb_sat_add(s->chunks_written, chunks);
        s->bytes_written =
            cb_sat_add(s->bytes_written, cb_sat_mul(chunks, cb_chunk_bytes(p, node)));
    }
    call.arena = cb_sat_add(call.arena, tiles);
    size_t operands = cb_sat_mul((size_t)c->op->nin + (size_t)c->op->nout, CB_BLOCK_OPERAND_BYTES);
    s->need = cb_need_either(call, write);
    s->need.arena = cb_sat_add(s->need.arena, cb_sat_add(results, cb_arena_round(operands)));
}

/* --- Tasks ---------------------------------------------------------------------------------------- */

cubed_status cb_block_task_reads(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                 cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    const cb_stage_call *c = s->call;
    int64_t first[CUBED_MAX_NDIM], last[CUBED_MAX_NDIM];
    cb_box contracted = cb_block_contracted(c), elements;
    if (cb_box_empty(&contracted)) return CUBED_OK;
    for (int k = 0; k < c->symbols.n; k++) {
        int j = c->axis[k];
        first[k] = j < 0 ? 0 : kept->lo[j];
        last[k] = (j < 0 ? contracted.hi[k] : kept->hi[j]) - 1;
    }
    for (int i = 0; i < c->op->nin; i++) {
        cb_block_box(&c->op->in[i], first, last, &elements);
        CB_TRY(cb_program_reads(p, &c->inputs[i].program, &elements, fn, ctx, err));
    }
    return CUBED_OK;
}
