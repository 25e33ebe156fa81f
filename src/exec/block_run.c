#include "exec/block_run.h"

#include <string.h>

#include "base/error.h"
#include "exec/block_stage.h"

/* One operand of the task's calls. */
typedef struct operand {
    cb_box box; /* its elements in the call */
    int64_t shape[CUBED_MAX_NDIM];
    void *tile;
} operand;

_Static_assert(sizeof(operand) + sizeof(cubed_block) <= CB_BLOCK_OPERAND_BYTES,
               "CB_BLOCK_OPERAND_BYTES");

typedef struct run {
    const cb_task *t;
    const cb_stage_call *c;
    operand *operand; /* inputs, then outputs */
    cubed_block *block;
    cubed_block_call call;
    int64_t index[CUBED_MAX_NDIM];
} run;

static void set_shape(operand *x, cubed_block *block, const cb_block_operand *of,
                      const int64_t *index)
{
    cb_block_box(of, index, index, &x->box);
    for (int d = 0; d < x->box.ndim; d++) x->shape[d] = x->box.hi[d] - x->box.lo[d];
    *block = (cubed_block){NULL, of->dtype, x->box.ndim, x->shape, x->box.lo};
}

static bool is_clobbered(const run *r, int input)
{
    return input < 32 && r->c->fn->clobbers >> input & 1;
}

static size_t dense_bytes(const cubed_block *block)
{
    size_t bytes = cubed_dtype_size(block->dtype);
    for (int d = 0; d < block->ndim; d++) bytes *= (size_t)block->shape[d];
    return bytes;
}

/* --- Inputs ---------------------------------------------------------------------------------------- */

/* How a chunk lies, and its bytes. */
static size_t chunk_strides(const cb_task *t, int node, const int64_t *idx, int64_t *strides)
{
    const cb_node *n = &t->plan->ir.nodes[node];
    int64_t extents[CUBED_MAX_NDIM];
    size_t bytes = cubed_dtype_size(n->dtype);
    cb_grid_stored(&n->grid, idx, extents);
    cb_dense_strides(n->grid.ndim, extents, bytes, strides);
    for (int d = 0; d < n->grid.ndim; d++) bytes *= (size_t)extents[d];
    return bytes;
}

/* Moves the rows of a chunk at the edge together. Each goes to where it or one before it was. */
static void close_up(const operand *x, const int64_t *strides, size_t item)
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

/* The block is a chunk: used where it lies, or read into the tile. */
static cubed_status read_in_place(const run *r, int i, cubed_error *err)
{
    const cb_task *t = r->t;
    const cb_branch *b = &r->c->inputs[i].program.branches[0];
    const operand *x = &r->operand[i];
    int node = b->loads[b->results[0]].node;
    const cb_grid *g = &t->plan->ir.nodes[node].grid;
    bool reuse = b->loads[b->results[0]].reuse != CB_REUSE_NONE;
    size_t item = cubed_dtype_size(r->block[i].dtype);
    int64_t idx[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM];
    const cb_want want = {
        .node = node, .idx = idx, .reuse = reuse, .copied = true, .buffer = x->tile};
    cb_pinned held;
    for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], x->box.lo[d]);
    CB_TRY(cb_chunks_want(t->chunks, &want, t->arena, &held, t->count, err));
    bool whole = dense_bytes(&r->block[i]) == chunk_strides(t, node, idx, strides);
    if (held.data == x->tile) {
        if (!whole) close_up(x, strides, item);
    } else if (whole && !is_clobbered(r, i)) {
        r->block[i].data = (void *)(uintptr_t)held.data;
        return CUBED_OK;
    } else {
        int64_t dense[CUBED_MAX_NDIM];
        cb_dense_strides(g->ndim, x->shape, item, dense);
        cb_copy_box(g->ndim, x->shape, item, x->tile, dense, held.data, strides);
    }
    r->block[i].data = x->tile;
    return CUBED_OK;
}

/* Evaluates the block into its tile. */
static cubed_status evaluate(const run *r, int i, cubed_error *err)
{
    const cb_task *t = r->t;
    const cb_program *prog = &r->c->inputs[i].program;
    const operand *x = &r->operand[i];
    cb_view tile, view;
    tile.base = x->tile;
    cb_dense_strides(x->box.ndim, x->shape, cubed_dtype_size(r->block[i].dtype), tile.stride);
    int k, last;
    for (cb_program_branches(prog, &x->box, &k, &last); k < last; k++) {
        const cb_branch *b = &prog->branches[k];
        cb_box part;
        cb_branch_part(b, &x->box, &part);
        if (cb_box_empty(&part)) continue;
        view = tile;
        for (int d = 0; d < part.ndim; d++)
            view.base += (part.lo[d] - x->box.lo[d]) * tile.stride[d];
        size_t mark = cb_arena_mark(t->arena);
        if (cb_branch_is_bare(b)) {
            const cb_load *l = &b->loads[b->results[0]];
            int64_t extents[CUBED_MAX_NDIM];
            void *chunk;
            for (int d = 0; d < part.ndim; d++) extents[d] = part.hi[d] - part.lo[d];
            CB_TRY(
                cb_arena_alloc(t->arena, cb_load_bytes(t->plan, l, extents), "chunk", &chunk, err));
            CB_TRY(cb_load_gather(t, l, &part, &view, chunk, err));
        } else {
            cb_vm *vm;
            CB_TRY(cb_vm_open(t, prog, b, &part, NULL, &view, -1, &vm, err));
            CB_TRY(cb_vm_store(vm, false, err));
        }
        cb_arena_release(t->arena, mark);
    }
    r->block[i].data = x->tile;
    return CUBED_OK;
}

/* One range of a gathered input, from each of its chunks. */
static cubed_status copy_range(const run *r, int i, int64_t lo, int64_t hi, char *to,
                               cubed_error *err)
{
    const cb_task *t = r->t;
    const int axis = r->c->op->in[i].gather.axis, node = r->c->inputs[i].node;
    const cb_grid *g = &t->plan->ir.nodes[node].grid;
    const size_t size = cubed_dtype_size(r->block[i].dtype);
    int64_t idx[CUBED_MAX_NDIM];
    cb_box part = r->operand[i].box; /* one long along the other axes, as its chunks are */
    for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], part.lo[d]);
    while (lo < hi) {
        idx[axis] = cb_axis_find(&g->axis[axis], lo);
        int64_t end = cb_min_i64(hi, cb_axis_hi(&g->axis[axis], idx[axis]));
        size_t bytes = (size_t)(end - lo) * size;
        part.lo[axis] = lo;
        part.hi[axis] = end;
        const cb_want want = {.node = node, .idx = idx, .part = &part, .buffer = to};
        cb_pinned held;
        CB_TRY(cb_chunks_want(t->chunks, &want, t->arena, &held, t->count, err));
        if (held.data != to) memcpy(to, held.data, bytes);
        to += bytes;
        lo = end;
    }
    return CUBED_OK;
}

/* The ranges that another input names, one behind another. */
static cubed_status gather(run *r, int i, cubed_error *err)
{
    const cb_gather *g = &r->c->op->in[i].gather;
    const cubed_block *ranges = &r->block[g->ranges];
    const int64_t *pairs = ranges->data;
    const size_t size = cubed_dtype_size(r->block[i].dtype);
    const int64_t n = (int64_t)(dense_bytes(ranges) / sizeof *pairs / 2);
    operand *x = &r->operand[i];
    int64_t lo = x->box.lo[g->axis], hi = x->box.hi[g->axis], filled = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t from = pairs[2 * k], to = pairs[2 * k + 1];
        if (from < lo || to < from || to > hi || to - from > g->most - filled)
            return cb_fail(err, CUBED_E_ARG,
                           "range %lld of those to be gathered is %lld to %lld, expected at most "
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

static cubed_status bring_input(run *r, int i, cubed_error *err)
{
    operand *x = &r->operand[i];
    const cb_box before = x->box;
    const bool there = r->block[i].data && !is_clobbered(r, i);
    void *data = r->block[i].data;
    set_shape(x, &r->block[i], &r->c->op->in[i], r->index);
    if (r->c->op->in[i].gather.most > 0) return gather(r, i, err);
    size_t corner = (size_t)before.ndim * sizeof *before.lo;
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

/* --- Outputs --------------------------------------------------------------------------------------- */

/* Moves dense rows apart, from the last to the first, so that none is overwritten before it has moved,
 * and fills what is between them with zeros. */
static void spread_out(const operand *x, const int64_t *strides, size_t item, size_t chunk_bytes)
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

static cubed_status write_output(const run *r, int out, cubed_error *err)
{
    const cb_task *t = r->t;
    int node = t->stage->outs[r->c->outs[out]].node;
    const cb_node *n = &t->plan->ir.nodes[node];
    const operand *x = &r->operand[r->c->op->nin + out];
    const cubed_block *block = &r->block[r->c->op->nin + out];
    size_t item = cubed_dtype_size(n->dtype), chunk = cb_chunk_bytes(t->plan, node);
    int64_t strides[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    if (dense_bytes(block) == 0) return CUBED_OK; /* beside another output that is not empty */
    if (n->to_memory) {
        int64_t dense[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
        char *to = n->result;
        cb_node_shape(n, shape);
        cb_dense_strides(n->grid.ndim, shape, item, strides);
        cb_dense_strides(n->grid.ndim, x->shape, item, dense);
        for (int d = 0; d < n->grid.ndim; d++) to += x->box.lo[d] * strides[d];
        cb_copy_box(n->grid.ndim, x->shape, item, to, strides, x->tile, dense);
        return CUBED_OK;
    }
    for (int d = 0; d < n->grid.ndim; d++) idx[d] = cb_axis_find(&n->grid.axis[d], x->box.lo[d]);
    size_t stored = chunk_strides(t, node, idx, strides);
    if (dense_bytes(block) != stored) spread_out(x, strides, item, stored);
    memset((char *)x->tile + stored, 0, chunk - stored);
    return cb_chunks_put(t->chunks, node, idx, x->tile, t->arena, t->count, err);
}

/* --- Calls ----------------------------------------------------------------------------------------- */

static cubed_status call_function(run *r, cubed_error *err)
{
    const cubed_block_fn *fn = r->c->fn;
    size_t mark = cb_arena_mark(r->t->arena);
    if (fn->check) CB_TRY(fn->check(&r->call, r->c->fn_ctx, err));
    CB_TRY(cb_arena_alloc(r->t->arena, r->c->need.scratch, "scratch", &r->call.scratch, err));
    CB_TRY(cb_arena_charge(r->t->arena, r->c->need.library, "function on blocks", err));
    uint64_t taken = 0;
    r->call.library_taken = &taken;
    cubed_status st = fn->run(&r->call, r->c->fn_ctx, err);
    if (st == CUBED_E_IO && err) err->transient = true;
    if (taken > r->t->count->function_mem) r->t->count->function_mem = taken;
    cb_arena_uncharge(r->t->arena, r->c->need.library);
    cb_arena_release(r->t->arena, mark);
    /* Functions that see it leave what they make as it is. */
    return cb_task_cancelled(r->t) ? cb_task_check(r->t, err) : st;
}

/* All calls that add up to the outputs' blocks. */
static cubed_status make_blocks(run *r, cubed_error *err)
{
    const cb_blockwise *op = r->c->op;
    const cb_task *t = r->t;
    cb_box contracted = cb_block_contracted(r->c);
    int64_t at[CUBED_MAX_NDIM] = {0};
    for (int i = 0; i < op->nin; i++) {
        CB_TRY(cb_arena_alloc(t->arena, cb_block_in_bytes(t->plan, t->stage, i), "input block",
                              &r->operand[i].tile, err));
        r->block[i].data = NULL;
    }
    for (bool more = !cb_box_empty(&contracted); more;) {
        CB_TRY(cb_task_check(t, err));
        r->call.first = r->call.last = true;
        for (int k = 0; k < r->c->symbols.n; k++) {
            if (r->c->axis[k] >= 0) continue;
            r->index[k] = at[k];
            r->call.first = r->call.first && at[k] == 0;
            r->call.last = r->call.last && at[k] == contracted.hi[k] - 1;
        }
        for (int i = 0; i < op->nin; i++) CB_TRY(bring_input(r, i, err));
        CB_TRY(call_function(r, err));
        more = cb_odometer_next(&contracted, at);
    }
    return CUBED_OK;
}

static cubed_status run_block(run *r, const int64_t *kept, cubed_error *err)
{
    const cb_blockwise *op = r->c->op;
    const cb_task *t = r->t;
    for (int k = 0; k < r->c->symbols.n; k++)
        r->index[k] = r->c->axis[k] < 0 ? 0 : kept[r->c->axis[k]];
    size_t mark = cb_arena_mark(t->arena);
    cb_box contracted = cb_block_contracted(r->c);
    for (int k = 0; k < op->nout; k++) {
        operand *x = &r->operand[op->nin + k];
        cubed_block *block = &r->block[op->nin + k];
        set_shape(x, block, &op->out[k], r->index);
        if (r->c->outs[k] < 0 && !cb_block_is_carried(r->c, k)) continue;
        size_t bytes = cb_block_out_bytes(t->plan, t->stage, k);
        CB_TRY(cb_arena_alloc(t->arena, bytes, "output block", &x->tile, err));
        if (cb_box_empty(&contracted)) memset(x->tile, 0, bytes);
        block->data = x->tile;
    }
    size_t inner = cb_arena_mark(t->arena);
    CB_TRY(make_blocks(r, err));
    cb_arena_release(t->arena, inner);
    for (int k = 0; k < op->nout; k++) {
        if (r->c->outs[k] >= 0) CB_TRY(write_output(r, k, err));
    }
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}

/* --- Picking elements ------------------------------------------------------------------------------ */

static cubed_status other_mask(const run *r, cubed_error *err)
{
    return cb_fail(err, CUBED_E_ARG,
                   "the mask has not the %lld true elements that were announced, or not where they "
                   "were counted",
                   (long long)r->c->op->out[0].blocks.axis[0].extent);
}

/* The elements from number `from` on that the mask picks in a block with `n` of them; as many as there is
 * room for. */
static cubed_status pick_block(const run *r, int64_t from, int64_t n, char *to, int64_t room,
                               int64_t *picked, cubed_error *err)
{
    const cubed_block *x = &r->block[0], *mask = &r->block[1];
    const uint8_t *flags = mask->data;
    int64_t at = 0;
    *picked = 0;
    if (cb_count_true(flags, x->shape[0]) != n) return other_mask(r, err);
    while (from > 0) from -= flags[at++] != 0;
    *picked = cb_compress(cubed_dtype_size(x->dtype), x->data, flags, x->shape[0], &at, to, room);
    return CUBED_OK;
}

/* The block with element number `element` of those picked. */
static int64_t find_block(const int64_t *offsets, int64_t nblocks, int64_t element)
{
    int64_t lo = 0, hi = nblocks - 1;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo + 1) / 2;
        if (offsets[middle] <= element)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

static bool are_offsets(const int64_t *offsets, int64_t nblocks, int64_t total)
{
    for (int64_t b = 0; b < nblocks; b++) {
        if (offsets[b] > offsets[b + 1]) return false;
    }
    return offsets[0] == 0 && offsets[nblocks] == total;
}

static cubed_status pick_chunk(run *r, cubed_error *err)
{
    const cb_task *t = r->t;
    const operand *to = &r->operand[3];
    const int64_t nblocks = r->c->symbols.nblocks[0], *offsets = r->block[2].data;
    const size_t size = cubed_dtype_size(r->block[3].dtype);
    int64_t element = to->box.lo[0];
    if (!are_offsets(offsets, nblocks, r->c->op->out[0].blocks.axis[0].extent))
        return other_mask(r, err);
    for (int64_t b = find_block(offsets, nblocks, element); element < to->box.hi[0]; b++) {
        int64_t n = offsets[b + 1] - offsets[b], picked;
        if (n == 0) continue;
        CB_TRY(cb_task_check(t, err));
        r->index[0] = b;
        for (int i = 0; i < 2; i++) CB_TRY(bring_input(r, i, err));
        CB_TRY(pick_block(r, element - offsets[b], n,
                          (char *)to->tile + (size_t)(element - to->box.lo[0]) * size,
                          to->box.hi[0] - element, &picked, err));
        element += picked;
    }
    return CUBED_OK;
}

static cubed_status compress(run *r, int64_t chunk, cubed_error *err)
{
    const cb_task *t = r->t;
    const cb_block_operand *of = &r->c->op->out[0];
    operand *to = &r->operand[3];
    CB_TRY(cb_arena_alloc(t->arena, cb_block_out_bytes(t->plan, t->stage, 0), "output block",
                          &to->tile, err));
    size_t inner = cb_arena_mark(t->arena);
    for (int i = 0; i < 3; i++) {
        CB_TRY(cb_arena_alloc(t->arena, cb_block_in_bytes(t->plan, t->stage, i), "input block",
                              &r->operand[i].tile, err));
        r->block[i].data = NULL;
    }
    cb_grid_box(&of->blocks, &chunk, &to->box);
    to->shape[0] = to->box.hi[0] - to->box.lo[0];
    r->block[3] = (cubed_block){to->tile, of->dtype, 1, to->shape, to->box.lo};
    CB_TRY(bring_input(r, 2, err));
    CB_TRY(pick_chunk(r, err));
    cb_arena_release(t->arena, inner);
    return write_output(r, 0, err);
}

/* --- Tasks ----------------------------------------------------------------------------------------- */

cubed_status cb_block_task(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage_call *c = t->stage->call;
    size_t n = (size_t)c->op->nin + (size_t)c->op->nout;
    run r = {.t = t, .c = c};
    cb_box kept;
    int64_t idx[CUBED_MAX_NDIM];
    void *p;
    CB_TRY(cb_arena_alloc(t->arena, n * CB_BLOCK_OPERAND_BYTES, "operands", &p, err));
    r.operand = p;
    r.block = (cubed_block *)(r.operand + n);
    r.call = (cubed_block_call){.nin = c->op->nin,
                                .nout = c->op->nout,
                                .in = r.block,
                                .out = r.block + c->op->nin,
                                .params = c->op->params,
                                .params_size = c->op->params_size,
                                .nsymbols = c->symbols.n,
                                .index = r.index,
                                .cancel = t->cancel};
    cb_stage_task_box(t->stage, task, &kept);
    memcpy(idx, kept.lo, sizeof idx);
    if (c->compress) return compress(&r, idx[0], err);
    do {
        CB_TRY(run_block(&r, idx, err));
    } while (cb_odometer_next(&kept, idx));
    return CUBED_OK;
}
