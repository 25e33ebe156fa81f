/* Inputs and outputs of stages that call functions on whole blocks. */
#include "exec/operators/operands.h"

#include <string.h>

#include "base/error.h"
#include "exec/plan/lower.h"

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
    if (x->reach) {
        const cb_box domain = *elements;
        cb_reach_box(x->reach, &domain, elements);
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
    return cb_fail(err, CUBED_E_FORMAT, "node %d is a reduction below a function on blocks", node);
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
           cb_grid_equal(ir->nodes[l->node].grid, &x->blocks) && !cb_block_overlaps(x);
}

/* Checks the input of a gather, which copies ranges of unencoded chunks in memory or in the work directory. */
static cubed_status check_gathered(const cb_ir *ir, const cb_stage_input *in,
                                   const cb_block_operand *x, cubed_error *err)
{
    const cb_node *n = &ir->nodes[in->node];
    bool sound = in->program.nbranches == 1 && cb_branch_is_bare(&in->program.branches[0]) &&
                 n->stored && cb_node_is_intermediate(n);
    for (int d = 0; d < n->grid->ndim; d++)
        sound = sound && (d == x->gather.axis || n->grid->axis[d].chunk == 1);
    return sound ? CUBED_OK
                 : cb_fail(err, CUBED_E_FORMAT, "node %d is gathered, but is not an intermediate",
                           in->node);
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
        cb_lower_root root = {in->node, cb_map_identity(x->grid->ndim), false};
        cb_node_shape(x, shape);
        const cb_lower_request q = {.ir = &p->ir,
                                    .zone = p->ir.zone,
                                    .kernels = &p->ctx->kernels,
                                    .ndim = x->grid->ndim,
                                    .shape = shape,
                                    .roots = &root,
                                    .nroots = 1,
                                    .load_roots = true};
        CB_TRY(cb_lower(&q, &in->program, err));
        in->in_place = is_in_place(&p->ir, in, &c->op->in[i]) && c->op->in[i].gather.most == 0;
        if (c->op->in[i].gather.most > 0) CB_TRY(check_gathered(&p->ir, in, &c->op->in[i], err));
    }
    return CUBED_OK;
}

cubed_status cb_operands_compile(cubed_plan *p, cb_stage *s, cubed_error *err)
{
    const cb_ir *ir = &p->ir;
    s->call = cb_zone_alloc(ir->zone, sizeof *s->call);
    if (!s->call) return no_memory(err);
    s->call->op = ir->nodes[s->outs[0].node].block;
    CB_TRY(find_outputs(ir, ir->zone, s, err));
    CB_TRY(cb_stage_find_reductions(ir, s->outs[0].node, refuse_reduce, NULL, err));
    return lower_inputs(p, s, err);
}

/* --- Sizes ---------------------------------------------------------------------------------------- */

static size_t block_bytes(const cb_block_operand *x)
{
    size_t bytes = cubed_dtype_size(x->dtype);
    if (x->gather.most > 0) return cb_sat_mul(bytes, (size_t)x->gather.most);
    for (int d = 0; d < x->blocks.ndim; d++) bytes = cb_sat_mul(bytes, (size_t)cb_block_most(x, d));
    return bytes;
}

/* Returns the size in bytes of an input's buffer. A chunk that is used as a block is read as a whole and, at the end of the
 * array, packed in place. So the buffer then has the size of a chunk. */
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

/* Returns the size in bytes of an output's buffer. If the output is stored, it is the size of a whole chunk, because a block
 * that is smaller than its chunk is unpacked in place. If the output is unused and not carried, the size is 0. */
size_t cb_block_out_bytes(const cubed_plan *p, const cb_stage *s, int out)
{
    int o = s->call->outs[out];
    if (o < 0) return cb_block_is_carried(s->call, out) ? block_bytes(&s->call->op->out[out]) : 0;
    return p->ir.nodes[s->outs[o].node].to_memory ? block_bytes(&s->call->op->out[out])
                                                  : cb_chunk_bytes(p, s->outs[o].node);
}

/* --- Reads of tasks ------------------------------------------------------------------------------- */

/* Sets the blocks of an input along each axis. For an input with a reach (plan/reach.h), sets adjacent blocks of the largest
 * size. `largest` receives the axes of such blocks. */
static void input_axes(const cb_block_operand *x, cb_blocks *axes, cb_axis *largest)
{
    const bool halo = cb_block_has_halo(x);
    for (int d = 0; d < x->blocks.ndim; d++) {
        axes[d] = (cb_blocks){&x->blocks.axis[d], 1, halo ? &x->halo[d] : NULL};
        if (!x->reach) continue;
        largest[d] = cb_axis_regular(x->reach->extent[d], cb_max_i64(1, cb_block_most(x, d)));
        axes[d].axis = &largest[d];
    }
}

/* Marks the loads of an input that is read through an affine map. The blocks of such an input overlap, and may begin anywhere in
 * a chunk. */
static void mark_overlap(const cb_program *prog)
{
    for (int b = 0; b < prog->nbranches; b++) {
        for (int v = 0; v < prog->branches[b].nloads; v++) {
            cb_load *l = &prog->branches[b].loads[v];
            if (l->kind != CB_LOAD_STORED) continue;
            l->tile = true;
            l->reuse = CB_REUSE_ALL;
        }
    }
}

/* Returns how often all tasks load each block of the input. A call loads its block unless the previous call used the same
 * block. */
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

/* Returns the ratio of the number of blocks of an input to the number of blocks that calls read. It exceeds 1 if a symbol
 * occurs twice in the input, because calls then read only blocks on the diagonal. */
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

/* Counts the chunks that the blocks of an input touch: visits each block once, and sets the stage's counts. */
static void visit_input(const cubed_plan *p, cb_stage *s, int i)
{
    cb_blocks axes[CUBED_MAX_NDIM];
    cb_axis largest[CUBED_MAX_NDIM];
    const cb_block_operand *x = &s->call->op->in[i];
    input_axes(x, axes, largest);
    s->bytes_read = s->chunks_read = 0;
    cb_traffic_add_program(p, s, &s->call->inputs[i].program, axes);
    if (x->reach) mark_overlap(&s->call->inputs[i].program);
    uint64_t per = blocks_per_call(s->call, x);
    s->bytes_read = s->bytes_read / per + (s->bytes_read % per != 0);
    s->chunks_read = s->chunks_read / per + (s->chunks_read % per != 0);
}

uint64_t cb_block_input_reads(const cubed_plan *p, const cb_stage *s, int in, uint64_t *times)
{
    cb_stage visit = *s;
    visit.reads = NULL;
    visit_input(p, &visit, in);
    *times = times_read(s->call, &s->call->op->in[in]);
    return visit.bytes_read;
}

/* Counts the reads of a gathered input: each task may read all chunks of its block. */
static void count_gathered(const cubed_plan *p, cb_stage *s, const cb_block_operand *x, int node,
                           const cb_axis *chunks)
{
    const cb_axis *blocks = &x->blocks.axis[x->gather.axis];
    size_t tasks = (size_t)s->ntasks;
    size_t met = (size_t)cb_ceil_div(cb_min_i64(blocks->extent, blocks->chunk), chunks->chunk);
    cb_traffic_add(p, s, node, cb_sat_mul(tasks, met), cb_sat_mul(tasks, block_bytes(x)));
}

static void prepare_input(const cubed_plan *p, cb_stage *s, int i)
{
    const cb_stage_input *in = &s->call->inputs[i];
    const cb_block_operand *x = &s->call->op->in[i];
    if (x->gather.most > 0) {
        count_gathered(p, s, x, in->node, &p->ir.nodes[in->node].grid->axis[x->gather.axis]);
        return;
    }
    uint64_t chunks = s->chunks_read, bytes = s->bytes_read;
    uint64_t times = times_read(s->call, x);
    if (s->reads) {
        s->reads->times = times;
        s->reads->per = blocks_per_call(s->call, x);
    }
    visit_input(p, s, i);
    if (s->reads) s->reads->times = s->reads->per = 1;
    s->chunks_read = cb_sat_add(chunks, cb_sat_mul(s->chunks_read, times));
    s->bytes_read = cb_sat_add(bytes, cb_sat_mul(s->bytes_read, times));
    for (int b = 0; b < in->program.nbranches && times > 1; b++) {
        const cb_branch *branch = &in->program.branches[b];
        for (int v = 0; v < branch->nloads; v++) branch->loads[v].reuse = CB_REUSE_ALL;
    }
}

void cb_operands_prepare(const cubed_plan *p, cb_stage *s)
{
    for (int i = 0; i < s->call->op->nin; i++) prepare_input(p, s, i);
    s->chunks_cheap = s->bytes_cheap = 0;
}

cubed_status cb_operands_read(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
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

/* --- Memory --------------------------------------------------------------------------------------- */

cubed_status cb_operands_frame(const cb_stage *s, cb_arena *arena, cb_operands *out,
                               cubed_error *err)
{
    const size_t n = (size_t)s->call->op->nin + (size_t)s->call->op->nout;
    void *p;
    CB_TRY(cb_arena_alloc(arena, n * sizeof *out->operand, "operands", &p, err));
    out->operand = p;
    CB_TRY(cb_arena_alloc(arena, n * sizeof *out->block, "blocks", &p, err));
    out->block = p;
    return CUBED_OK;
}

/* Measures the memory for loading the largest block of input i. */
static cubed_status measure_loading(const cb_frame *f, int i, cubed_error *err)
{
    const cb_stage_input *in = &f->stage->call->inputs[i];
    const cb_block_operand *x = &f->stage->call->op->in[i];
    const cb_program *prog = &in->program;
    cb_blocks axes[CUBED_MAX_NDIM];
    cb_axis largest[CUBED_MAX_NDIM];
    cb_box block = {.ndim = x->blocks.ndim};
    cb_view one, *views = &one;
    if (x->gather.most > 0) return CUBED_OK;
    if (in->in_place) {
        const cb_branch *b = &prog->branches[0];
        cb_arena_may_take(f->arena, cb_read_need(f->plan, b->loads[b->results[0]].node));
        return CUBED_OK;
    }
    input_axes(x, axes, largest);
    for (int d = 0; d < block.ndim; d++) block.hi[d] = cb_blocks_most(&axes[d]);
    return cb_evaluate_frame(f->plan, &(cb_evaluation){.prog = prog, .gather = true}, &block, true,
                             f->arena, &views, err);
}

cubed_status cb_inputs_frame(const cb_frame *f, cb_operand *operands, cubed_error *err)
{
    const int nin = f->stage->call->op->nin;
    for (int i = 0; i < nin; i++) {
        void *tile;
        CB_TRY(cb_arena_alloc(f->arena, cb_block_in_bytes(f->plan, f->stage, i), "input block",
                              &tile, err));
        if (operands) operands[i].tile = tile;
    }
    for (int i = 0; cb_arena_measures(f->arena) && i < nin; i++) {
        size_t mark = cb_arena_mark(f->arena);
        CB_TRY(measure_loading(f, i, err));
        cb_arena_release(f->arena, mark);
    }
    return CUBED_OK;
}

cubed_status cb_results_frame(const cb_frame *f, cb_operand *operands, cubed_error *err)
{
    const cb_stage_call *c = f->stage->call;
    for (int k = 0; k < c->op->nout; k++) {
        size_t bytes = cb_block_out_bytes(f->plan, f->stage, k);
        void *tile = NULL;
        if (c->outs[k] >= 0 || cb_block_is_carried(c, k))
            CB_TRY(cb_arena_alloc(f->arena, bytes, "output block", &tile, err));
        if (operands) operands[c->op->nin + k].tile = tile;
    }
    for (int o = 0; cb_arena_measures(f->arena) && o < f->stage->nouts; o++)
        cb_arena_may_take(f->arena, cb_write_need(f->plan, f->stage->outs[o].node));
    return CUBED_OK;
}

/* --- Operands ------------------------------------------------------------------------------------- */

void cb_operand_set(cb_operand *x, cubed_block *block, const cb_block_operand *of,
                    const int64_t *index)
{
    cb_block_box(of, index, index, &x->box);
    for (int d = 0; d < x->box.ndim; d++) x->shape[d] = x->box.hi[d] - x->box.lo[d];
    *block = (cubed_block){NULL, of->dtype, x->box.ndim, x->shape, x->box.lo};
}

static bool is_clobbered(const cb_operands *r, int input)
{
    return input < 32 && r->c->fn->clobbers >> input & 1;
}

static size_t dense_bytes(const cubed_block *block)
{
    size_t bytes = cubed_dtype_size(block->dtype);
    for (int d = 0; d < block->ndim; d++) bytes *= (size_t)block->shape[d];
    return bytes;
}

/* --- Inputs --------------------------------------------------------------------------------------- */

/* Sets the strides of a chunk and returns its size in bytes. */
static size_t chunk_strides(const cb_task *t, int node, const int64_t *idx, int64_t *strides)
{
    const cb_node *n = &t->plan->ir.nodes[node];
    int64_t extents[CUBED_MAX_NDIM];
    size_t bytes = cubed_dtype_size(n->dtype);
    cb_grid_stored(n->grid, idx, extents);
    cb_dense_strides(n->grid->ndim, extents, bytes, strides);
    for (int d = 0; d < n->grid->ndim; d++) bytes *= (size_t)extents[d];
    return bytes;
}

/* Packs the rows of a partial chunk, so that they are contiguous. Rows are moved in order, each to memory of the row itself or
 * of earlier rows. */
static void pack_rows(const cb_operand *x, const int64_t *strides, size_t item)
{
    int ndim = x->box.ndim, last = ndim - 1;
    cb_box rows = {.ndim = last < 0 ? 0 : last};
    int64_t idx[CUBED_MAX_NDIM] = {0};
    size_t row = item * (size_t)(last < 0 ? 1 : x->shape[last]);
    char *to = x->tile;
    memcpy(rows.hi, x->shape, sizeof rows.hi);
    do {
        const char *from = x->tile;
        for (int d = 0; d < last; d++) from += idx[d] * strides[d];
        if (to != from) memmove(to, from, row);
        to += row;
    } while (cb_odometer_next(&rows, idx));
}

/* Gets a block that is one whole chunk. Uses the chunk in place if it is in memory and has no padding, and the function does not
 * overwrite this input. Otherwise copies the chunk to the tile, or reads it into the tile. */
static cubed_status read_in_place(const cb_operands *r, int i, cubed_error *err)
{
    const cb_task *t = r->t;
    const cb_branch *b = &r->c->inputs[i].program.branches[0];
    const cb_operand *x = &r->operand[i];
    int node = b->loads[b->results[0]].node;
    const cb_grid *g = t->plan->ir.nodes[node].grid;
    bool reuse = b->loads[b->results[0]].reuse != CB_REUSE_NONE;
    size_t item = cubed_dtype_size(r->block[i].dtype);
    int64_t idx[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM];
    const cb_want want = {
        .node = node, .idx = idx, .reuse = reuse, .copied = true, .buffer = x->tile};
    cb_pinned pinned;
    for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], x->box.lo[d]);
    CB_TRY(cb_task_want(t, &want, &pinned, err));
    bool whole = dense_bytes(&r->block[i]) == chunk_strides(t, node, idx, strides);
    if (pinned.data == x->tile) {
        if (!whole) pack_rows(x, strides, item);
    } else if (whole && !is_clobbered(r, i)) {
        r->block[i].data = (void *)(uintptr_t)pinned.data;
        return CUBED_OK;
    } else {
        int64_t dense[CUBED_MAX_NDIM];
        cb_dense_strides(g->ndim, x->shape, item, dense);
        cb_box_copy(&x->box, item, x->tile, x->box.lo, dense, pinned.data, pinned.lo,
                    pinned.stride);
    }
    r->block[i].data = x->tile;
    return CUBED_OK;
}

/* Computes the elements of input i's block into its tile. */
static cubed_status evaluate(const cb_operands *r, int i, cubed_error *err)
{
    const cb_operand *x = &r->operand[i];
    cb_view tile = {.base = x->tile};
    const cb_evaluation e = {.prog = &r->c->inputs[i].program, .outs = &tile, .gather = true};
    cb_dense_strides(x->box.ndim, x->shape, cubed_dtype_size(r->block[i].dtype), tile.stride);
    r->block[i].data = x->tile;
    return cb_evaluate(r->t, &e, &x->box, err);
}

/* Copies one range of a gathered input, from each of its chunks. */
static cubed_status copy_range(const cb_operands *r, int i, int64_t lo, int64_t hi, char *to,
                               cubed_error *err)
{
    const cb_task *t = r->t;
    const int axis = r->c->op->in[i].gather.axis, node = r->c->inputs[i].node;
    const cb_grid *g = t->plan->ir.nodes[node].grid;
    const size_t size = cubed_dtype_size(r->block[i].dtype);
    int64_t idx[CUBED_MAX_NDIM];
    /* Chunks have extent 1 along the other axes. So the copied part also has extent 1 along these axes. */
    cb_box part = r->operand[i].box;
    for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], part.lo[d]);
    while (lo < hi) {
        idx[axis] = cb_axis_find(&g->axis[axis], lo);
        int64_t end = cb_min_i64(hi, cb_axis_hi(&g->axis[axis], idx[axis]));
        size_t bytes = (size_t)(end - lo) * size;
        part.lo[axis] = lo;
        part.hi[axis] = end;
        const cb_want want = {.node = node, .idx = idx, .subread = &part, .buffer = to};
        cb_pinned pinned;
        CB_TRY(cb_task_want(t, &want, &pinned, err));
        if (pinned.data != to) memcpy(to, pinned.data, bytes);
        to += bytes;
        lo = end;
    }
    return CUBED_OK;
}

/* Copies the ranges of a gathered input that another input lists, one after another. */
static cubed_status gather(cb_operands *r, int i, cubed_error *err)
{
    const cb_gather *g = &r->c->op->in[i].gather;
    const cubed_block *ranges = &r->block[g->ranges];
    const int64_t *pairs = ranges->data;
    const size_t size = cubed_dtype_size(r->block[i].dtype);
    const int64_t n = (int64_t)(dense_bytes(ranges) / sizeof *pairs / 2);
    cb_operand *x = &r->operand[i];
    int64_t lo = x->box.lo[g->axis], hi = x->box.hi[g->axis], filled = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t from = pairs[2 * k], to = pairs[2 * k + 1];
        if (from < lo || to < from || to > hi || to - from > g->most - filled)
            return cb_fail(err, CUBED_E_ARG,
                           "range %lld of the gathered ranges is %lld to %lld, expected at most "
                           "%lld elements within %lld to %lld",
                           (long long)k, (long long)from, (long long)to,
                           (long long)(g->most - filled), (long long)lo, (long long)hi);
        CB_TRY(copy_range(r, i, from, to, (char *)x->tile + (size_t)filled * size, err));
        filled += to - from;
    }
    x->shape[g->axis] = filled;
    r->block[i].data = x->tile;
    return CUBED_OK;
}

cubed_status cb_operand_bring(cb_operands *r, int i, cubed_error *err)
{
    cb_operand *x = &r->operand[i];
    const cb_box before = x->box;
    const bool there = r->block[i].data && !is_clobbered(r, i);
    void *data = r->block[i].data;
    cb_operand_set(x, &r->block[i], &r->c->op->in[i], r->index);
    if (r->c->op->in[i].gather.most > 0) return gather(r, i, err);
    size_t corner = (size_t)x->box.ndim * sizeof *before.lo;
    if (there && memcmp(before.lo, x->box.lo, corner) == 0 &&
        memcmp(before.hi, x->box.hi, corner) == 0) {
        r->block[i].data = data;
        return CUBED_OK;
    }
    if (dense_bytes(&r->block[i]) == 0) {
        r->block[i].data = x->tile;
        return CUBED_OK;
    }
    return r->c->inputs[i].in_place ? read_in_place(r, i, err) : evaluate(r, i, err);
}

/* --- Outputs -------------------------------------------------------------------------------------- */

/* Unpacks dense rows, and fills the gaps between them with zeros. Begins with the last row, so that no row is overwritten
 * before it has been moved. */
static void spread_out(const cb_operand *x, const int64_t *strides, size_t item, size_t chunk_bytes)
{
    int last = x->box.ndim - 1;
    size_t row = item * (size_t)x->shape[last], end = chunk_bytes;
    int64_t rows = 1;
    for (int d = 0; d < last; d++) rows *= x->shape[d];
    for (int64_t k = rows - 1; k >= 0; k--) {
        size_t at = 0;
        int64_t rest = k;
        for (int d = last - 1; d >= 0; d--) {
            at += (size_t)((rest % x->shape[d]) * strides[d]);
            rest /= x->shape[d];
        }
        memmove((char *)x->tile + at, (char *)x->tile + (size_t)k * row, row);
        memset((char *)x->tile + at + row, 0, end - at - row);
        end = at;
    }
}

cubed_status cb_operand_write(const cb_operands *r, int out, cubed_error *err)
{
    const cb_task *t = r->t;
    int node = t->stage->outs[r->c->outs[out]].node;
    const cb_node *n = &t->plan->ir.nodes[node];
    const cb_operand *x = &r->operand[r->c->op->nin + out];
    const cubed_block *block = &r->block[r->c->op->nin + out];
    size_t item = cubed_dtype_size(n->dtype), chunk = cb_chunk_bytes(t->plan, node);
    int64_t strides[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    /* An output may be empty although another output of the stage is not. */
    if (dense_bytes(block) == 0) return CUBED_OK;
    if (n->to_memory) {
        const int64_t origin[CUBED_MAX_NDIM] = {0};
        int64_t dense[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
        cb_node_shape(n, shape);
        cb_dense_strides(n->grid->ndim, shape, item, strides);
        cb_dense_strides(n->grid->ndim, x->shape, item, dense);
        cb_box_copy(&x->box, item, n->result, origin, strides, x->tile, x->box.lo, dense);
        return CUBED_OK;
    }
    for (int d = 0; d < n->grid->ndim; d++) idx[d] = cb_axis_find(&n->grid->axis[d], x->box.lo[d]);
    size_t stored = chunk_strides(t, node, idx, strides);
    if (dense_bytes(block) != stored) spread_out(x, strides, item, stored);
    memset((char *)x->tile + stored, 0, chunk - stored);
    return cb_chunks_put(t->chunks, node, idx, x->tile, t->arena, t->count, err);
}
