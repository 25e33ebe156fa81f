/* Chooses the blocks of block functions, and how their inputs are read.
 *
 * When an operation is created, its blocks are chosen without knowing the memory limit. If a task would not fit in memory and the
 * function is divisible, the blocks are divided. Then a copy stores the result in the chunks that were reported to the user.
 *
 * A block of an input is gathered from the chunks that overlap it. If gathering would decode chunks or compute values repeatedly,
 * the input is first stored with one chunk for each block, and tasks read these chunks directly. */
#include <string.h>

#include "base/error.h"
#include "context/context.h"
#include "exec/operators/operands.h"
#include "exec/plan/limits.h"
#include "exec/plan/load_need.h"
#include "opt/opt.h"

/* An input is stored in blocks only if that saves at least this fraction of the bytes that are read otherwise. */
#define WORTH 0.2
/* Preferred size in bytes of the input blocks of one call. */
#define PIECE_BYTES ((size_t)2 << 20)

/* Creates a stage with a single output. */
static cubed_status single_stage(cubed_plan *p, int node, cb_stage *s, cubed_error *err)
{
    memset(s, 0, sizeof *s);
    s->nouts = 1;
    s->outs = cb_zone_alloc(p->ir.zone, sizeof *s->outs);
    if (!s->outs) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    s->outs[0].node = node;
    CB_TRY(cb_stage_compile(p, s, err));
    cb_stage_project(p, s);
    return CUBED_OK;
}

/* The first node of each call of a block function. There is one list of nodes for each array, with the calls whose last input
 * is this array, because few calls have the same last input. */
typedef struct calls {
    int *head; /* first node of each list, by the number of the last input; -1: empty */
    int *next; /* next entry of a list, by the node's number; -1: end */
} calls;

static cubed_status new_calls(const cb_ir *ir, cb_zone *zone, calls *c, cubed_error *err)
{
    const size_t bytes = ((size_t)ir->nnodes + 1) * sizeof *c->head;
    c->head = cb_zone_alloc(zone, bytes);
    c->next = cb_zone_alloc(zone, bytes);
    if (!c->head || !c->next) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i <= ir->nnodes; i++) c->head[i] = -1;
    return CUBED_OK;
}

/* Returns the first node of the same call, whose decisions apply to all its nodes. Must be called for nodes in ascending
 * order. */
static int first_of_call(const cb_ir *ir, calls *c, int node)
{
    const cb_node *n = &ir->nodes[node];
    int last = ir->nnodes; /* the last list is for calls without inputs */
    for (int k = 0; k < n->ninputs; k++) last = k == 0 || n->inputs[k] > last ? n->inputs[k] : last;
    for (int i = c->head[last]; i >= 0; i = c->next[i]) {
        if (cb_ir_same_call(ir, i, node)) return i;
    }
    c->next[node] = c->head[last];
    c->head[last] = node;
    return node;
}

/* --- Smaller blocks ----------------------------------------------------------------------------------- */

/* Gets the extent of the axes with the label `symbol`, and the extent of blocks along them. Returns false if operands differ
 * in these extents, or if blocks cannot be divided along these axes. */
static bool symbol_extent(const cb_blockwise *op, int symbol, int64_t *extent, int64_t *chunk)
{
    *extent = *chunk = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < op->nin + op->nout; i++) {
            const cb_block_operand *x = i < op->nin ? &op->in[i] : &op->out[i - op->nin];
            for (int d = 0; d < x->blocks.ndim; d++) {
                const cb_axis *a = &x->blocks.axis[d];
                /* An input of extent 1 is passed to all blocks; an output is divided with the other operands. */
                if (x->symbol[d] != symbol || (a->extent <= 1 && i < op->nin)) continue;
                if (pass == 0) *extent = cb_max_i64(*extent, a->extent);
                if (pass == 0) *chunk = cb_max_i64(*chunk, cb_min_i64(a->extent, a->chunk));
                if (pass == 1 && a->extent != *extent) return false;
            }
        }
    }
    return *chunk > 1;
}

static void cut(cb_block_operand *x, int symbol, int64_t chunk)
{
    for (int d = 0; d < x->blocks.ndim; d++) {
        cb_axis *a = &x->blocks.axis[d];
        if (x->symbol[d] == symbol && a->extent > 1) *a = cb_axis_regular(a->extent, chunk);
    }
}

static cb_blockwise *with_chunk(cb_zone *zone, const cb_blockwise *op, int symbol, int64_t chunk)
{
    cb_blockwise *finer = cb_zone_memdup(zone, op, sizeof *op);
    if (!finer) return NULL;
    finer->in = cb_zone_memdup(zone, op->in, (size_t)op->nin * sizeof *op->in);
    finer->out = cb_zone_memdup(zone, op->out, (size_t)op->nout * sizeof *op->out);
    if (!finer->in || !finer->out) return NULL;
    for (int i = 0; i < op->nin; i++) cut(&finer->in[i], symbol, chunk);
    for (int i = 0; i < op->nout; i++) cut(&finer->out[i], symbol, chunk);
    return finer;
}

/* Returns true if a target's chunks may differ from the chunks that were reported to the user. They may not differ if another
 * node reads the target. */
static bool may_change(const cb_ir *ir, int node)
{
    if (!ir->nodes[node].any_chunks) return false;
    for (int i = node + 1; i < ir->nnodes; i++) {
        for (int k = 0; k < ir->nodes[i].ninputs; k++) {
            if (ir->nodes[i].inputs[k] == node) return false;
        }
    }
    return true;
}

/* Replaces the operation of a node. If a copy of the node's result will be the target, the node itself is no longer a target. */
static cubed_status set_operation(cubed_plan *p, int node, const cb_node *was,
                                  const cb_blockwise *op, cubed_error *err)
{
    cb_node *n = &p->ir.nodes[node];
    n->block = op;
    n->grid = &op->out[n->output].blocks;
    bool itself = may_change(&p->ir, node) || cb_grid_equal(n->grid, was->grid);
    n->is_target = was->is_target && itself;
    n->to_memory = was->to_memory && itself;
    n->url = itself ? was->url : NULL;
    return n->url ? cb_plan_target(p, node, err) : CUBED_OK;
}

/* Divides blocks into `parts` along the axes of one symbol, chosen such that a task needs the least memory. Sets *best to NULL
 * if no division reduces the memory. */
static cubed_status try_parts(cubed_plan *p, int node, const cb_node *was, const cb_stage *s,
                              int64_t parts, const cb_blockwise **best, cubed_error *err)
{
    uint64_t least = cb_opt_need(p, s->need);
    *best = NULL;
    for (int k = 0; k < s->call->symbols.n; k++) {
        int64_t extent, chunk;
        cb_stage trial;
        if (!symbol_extent(s->call->op, k, &extent, &chunk)) continue;
        const cb_blockwise *finer =
            with_chunk(p->ir.zone, s->call->op, k, cb_ceil_div(chunk, parts));
        if (!finer) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
        CB_TRY(set_operation(p, node, was, finer, err));
        CB_TRY(single_stage(p, node, &trial, err));
        if (cb_opt_need(p, trial.need) >= least) continue;
        least = cb_opt_need(p, trial.need);
        *best = finer;
    }
    return CUBED_OK;
}

/* --- Inputs stored in blocks -------------------------------------------------------------------------- */

static size_t input_bytes(const cubed_plan *p, const cb_stage *s)
{
    size_t bytes = 0;
    for (int i = 0; i < s->call->op->nin; i++)
        bytes = cb_sat_add(bytes, cb_block_in_bytes(p, s, i));
    return bytes;
}

/* Returns the total size of the arrays that a program reads, each counted once. */
static uint64_t read_once(const cubed_plan *p, const cb_program *prog)
{
    uint64_t bytes = 0;
    for (int i = 0; i < prog->nreads; i++)
        bytes = cb_sat_add(bytes, cb_stored_bytes(p, prog->reads[i]));
    return bytes;
}

static uint64_t grid_bytes(const cb_grid *g, cubed_dtype dtype)
{
    size_t bytes = cubed_dtype_size(dtype);
    for (int d = 0; d < g->ndim; d++) bytes = cb_sat_mul(bytes, (size_t)g->axis[d].chunk);
    return cb_sat_mul(bytes, (size_t)cb_grid_count(g));
}

static bool is_worth_storing(const cubed_plan *p, cb_stage *s, int input)
{
    uint64_t times, visit = cb_block_input_reads(p, s, input, &times);
    const cb_block_operand *x = &s->call->op->in[input];
    double size = (double)grid_bytes(&x->blocks, x->dtype);
    double once = (double)read_once(p, &s->call->inputs[input].program);
    double direct = (double)times * (double)visit;
    double detour = (once < (double)visit ? once : (double)visit) + size + (double)times * size;
    return detour < (1 - WORTH) * direct;
}

/* Returns the memory of a call whose blocks are read directly: its blocks, and the memory of the function and its
 * libraries. */
static uint64_t block_bytes(const cubed_plan *p, const cb_stage *s)
{
    uint64_t bytes = input_bytes(p, s);
    bytes = cb_sat_add(bytes, cb_sat_add(s->call->need.scratch, s->call->need.library));
    for (int i = 0; i < s->call->op->nout; i++)
        bytes = cb_sat_add(bytes, cb_block_out_bytes(p, s, i));
    return bytes;
}

/* Returns true if a call with blocks that are read directly fits in half of the memory. The stages that store the blocks may
 * use the same amount. */
static bool fits_when_stored(const cubed_plan *p, const cb_stage *s)
{
    return block_bytes(p, s) <= (p->allowed_mem - p->reserved_mem) / 2;
}

/* Returns true if an input is to be written once, in blocks that are read directly. This is done if it moves less data, or if the
 * chunks that the input would be gathered from do not fit. */
static bool is_stored_in_blocks(const cubed_plan *p, cb_stage *s, int input)
{
    const cb_block_operand *x = &s->call->op->in[input];
    const bool too_large = cb_opt_need(p, s->need) > cb_opt_task_mem(p) && fits_when_stored(p, s);
    if (cb_block_overlaps(x) || x->gather.most > 0) return false;
    if (!is_worth_storing(p, s, input) && !too_large) return false;
    const cb_grid storable = cb_grid_storable(&x->blocks);
    return cb_grid_equal(&storable, &x->blocks);
}

/* Returns the bytes of metadata that a run keeps for inputs that are stored in blocks. */
static uint64_t kept_of_inputs(const cubed_plan *p, cb_stage *s)
{
    uint64_t bytes = 0;
    for (int k = 0; k < s->call->op->nin; k++) {
        const size_t chunks = (size_t)cb_grid_count(&s->call->op->in[k].blocks);
        if (is_stored_in_blocks(p, s, k))
            bytes = cb_sat_add(bytes, cb_sat_mul(chunks, CB_RUN_CHUNK_BYTES + 1));
    }
    return cb_plan_counted_metadata(bytes, p->reserved_mem);
}

/* Returns the maximum bytes of metadata for inputs that are stored in blocks: an eighth of the memory. */
static uint64_t most_kept(const cubed_plan *p) { return (p->allowed_mem - p->reserved_mem) / 8; }

/* --- More tasks ----------------------------------------------------------------------------------- */

/* Maximum numbers of bytes if blocks are divided: of the reads of all tasks, and of the inputs of one block. */
typedef struct piece_limits {
    uint64_t read, input;
} piece_limits;

/* Divides blocks along the first possible axis of the results, unless that exceeds the limits. Tries pieces[0] pieces, then
 * pieces[1], a smaller number. If chunks are encoded, each piece reads and decodes some bytes that it does not need, so a smaller
 * number may be acceptable if the larger is not. Sets *done if the blocks were divided. */
static cubed_status try_pieces(cubed_plan *p, int node, const cb_node *was, const cb_stage *s,
                               const int64_t pieces[2], piece_limits most, bool *done,
                               cubed_error *err)
{
    const cb_symbols *symbols = &s->call->symbols;
    int64_t extent, chunk;
    *done = false;
    for (int k = 0; k < symbols->n; k++) {
        if (!symbols->kept[k] || !symbol_extent(s->call->op, k, &extent, &chunk)) continue;
        for (int i = 0; i < 2; i++) {
            cb_stage trial;
            const cb_blockwise *finer =
                with_chunk(p->ir.zone, s->call->op, k, cb_ceil_div(chunk, pieces[i]));
            if (!finer) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
            CB_TRY(set_operation(p, node, was, finer, err));
            CB_TRY(single_stage(p, node, &trial, err));
            *done = trial.bytes_read <= most.read && input_bytes(p, &trial) <= most.input &&
                    kept_of_inputs(p, &trial) <= most_kept(p);
            if (*done) return CUBED_OK;
        }
    }
    return set_operation(p, node, was, s->call->op, err);
}

/* Divides blocks further if there are fewer tasks than workers. Small pieces have another advantage: they are still in the
 * processor's cache when the function is called. */
static cubed_status spread_blocks(cubed_plan *p, int node, const cb_node *was, const cb_stage *s,
                                  cubed_error *err)
{
    int64_t workers = (int64_t)p->max_workers, pieces[2];
    bool done;
    if (s->ntasks == 0 || s->ntasks >= workers || !s->call->fn->divisible || was->is_target)
        return CUBED_OK;
    pieces[0] = cb_min_i64((int64_t)(input_bytes(p, s) / PIECE_BYTES) + 1, 64 * workers);
    pieces[0] = cb_max_i64(pieces[0], 2 * workers);
    pieces[1] = workers;
    const piece_limits most = {s->bytes_read / 8 * 9, UINT64_MAX};
    return try_pieces(p, node, was, s, pieces, most, &done, err);
}

/* Makes blocks small enough for the processor's cache if the results are in memory, because such results have no chunks.
 * Blocks do not become smaller if more data would be read, or if they would still be large: the pieces of a product of matrices
 * have all of one factor, so each piece would copy it again. */
static cubed_status small_blocks(cubed_plan *p, int node, const cb_node *was, const cb_stage *s,
                                 cubed_error *err)
{
    const int64_t n = (int64_t)(input_bytes(p, s) / PIECE_BYTES),
                  pieces[2] = {n, cb_ceil_div(n, 4)};
    bool done;
    if (n < 2 || !s->call->fn->divisible) return CUBED_OK;
    for (int i = node; i < p->ir.nnodes; i++) {
        if (!cb_ir_same_call(&p->ir, node, i)) continue;
        if (!p->ir.nodes[i].to_memory || !may_change(&p->ir, i)) return CUBED_OK;
    }
    const piece_limits most = {s->bytes_read, 8 * PIECE_BYTES};
    return try_pieces(p, node, was, s, pieces, most, &done, err);
}

/* --- Longer blocks -------------------------------------------------------------------------------- */

/* Makes blocks longer along contracted axes (axes that no output has), if the metadata of stored inputs would exceed an eighth
 * of the memory. Longer blocks need less metadata but larger tasks. Half of the memory is left for the stages that store the
 * inputs. */
static cubed_status longer_blocks(cubed_plan *p, int node, const cb_node *was, cb_stage *s,
                                  cubed_error *err)
{
    while (s->call->fn->divisible && kept_of_inputs(p, s) > most_kept(p)) {
        const cb_blockwise *best = NULL;
        uint64_t least = (p->allowed_mem - p->reserved_mem) / 2;
        for (int k = 0; k < s->call->symbols.n; k++) {
            int64_t extent, chunk;
            cb_stage trial;
            if (s->call->symbols.kept[k] || !symbol_extent(s->call->op, k, &extent, &chunk) ||
                chunk >= extent)
                continue;
            const cb_blockwise *longer =
                with_chunk(p->ir.zone, s->call->op, k, chunk > extent / 2 ? extent : 2 * chunk);
            if (!longer) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
            CB_TRY(set_operation(p, node, was, longer, err));
            CB_TRY(single_stage(p, node, &trial, err));
            if (block_bytes(p, &trial) > least) continue;
            least = block_bytes(p, &trial);
            best = longer;
        }
        CB_TRY(set_operation(p, node, was, best ? best : s->call->op, err));
        if (!best) break;
        CB_TRY(single_stage(p, node, s, err));
    }
    return CUBED_OK;
}

/* Halves blocks until a task fits, each time along the symbol that saves the most memory. If halving saves nothing, divides
 * blocks into more parts. (A block that equals a chunk needs less memory to read than half of a chunk.) If no division helps,
 * the error is reported after planning. */
static cubed_status fit(cubed_plan *p, int node, bool spread, cubed_error *err)
{
    const cb_node was = p->ir.nodes[node];
    const cubed_block_fn *fn;
    void *fn_ctx;
    /* an operation whose tasks fit if inputs are stored in blocks; NULL: none was found */
    const cb_blockwise *stored = NULL;
    cb_stage s;
    if (cb_node_is(&was, CB_KIND_CALL)) {
        CB_TRY(cb_context_find_block_fn(p->ctx, was.block->function, &fn, &fn_ctx, err));
        if (!fn->divisible) return CUBED_OK;
    }
    CB_TRY(single_stage(p, node, &s, err));
    while (cb_opt_need(p, s.need) > cb_opt_task_mem(p) && s.call->fn->divisible) {
        if (!stored && fits_when_stored(p, &s)) stored = s.call->op;
        const cb_blockwise *best = NULL;
        for (int64_t parts = 2; parts <= 16 && !best; parts *= 2)
            CB_TRY(try_parts(p, node, &was, &s, parts, &best, err));
        CB_TRY(set_operation(p, node, &was, best ? best : s.call->op, err));
        if (!best) break;
        CB_TRY(single_stage(p, node, &s, err));
    }
    if (spread && was.kind == CB_NODE_BLOCKWISE) {
        const bool fits = cb_opt_need(p, s.need) <= cb_opt_task_mem(p);
        if (stored && (!fits || kept_of_inputs(p, &s) > most_kept(p))) {
            CB_TRY(set_operation(p, node, &was, stored, err));
            CB_TRY(single_stage(p, node, &s, err));
        }
        CB_TRY(longer_blocks(p, node, &was, &s, err));
    }
    if (spread) CB_TRY(spread_blocks(p, node, &was, &s, err));
    if (spread) CB_TRY(small_blocks(p, node, &was, &s, err));
    cb_node *n = &p->ir.nodes[node];
    n->is_target = was.is_target;
    n->to_memory = was.to_memory;
    n->url = was.url;
    return CUBED_OK;
}

typedef struct rewrite {
    const cb_node *was; /* the nodes as they were before blocks were divided */
    int *made;          /* new number of each node, by its old number */
    calls calls;
} rewrite;

/* Adds node i to the new plan. If its new chunks differ from the chunks that were reported to the user, also adds a copy with the
 * reported chunks. */
static cubed_status add_copy(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                             cubed_error *err)
{
    const rewrite *r = ctx;
    if (!n->block || may_change(&p->ir, i) || cb_grid_equal(n->grid, r->was[i].grid))
        return cb_ir_add(to, n, out, err);
    cb_node finer = {.kind = n->kind,
                     .dtype = n->dtype,
                     .grid = n->grid,
                     .ninputs = n->ninputs,
                     .inputs = n->inputs,
                     .block = n->block,
                     .output = n->output,
                     .stored = true,
                     .origin = n->origin,
                     .why = CB_WHY_FINER};
    int index;
    CB_TRY(cb_ir_add(to, &finer, &index, err));
    cb_node copy = *n;
    copy.kind = CB_NODE_COPY;
    copy.grid = r->was[i].grid;
    copy.ninputs = 1;
    copy.inputs = &index;
    copy.block = NULL;
    copy.output = 0;
    copy.stored = n->is_target;
    copy.why = n->is_target ? CB_WHY_TARGET : CB_WHY_NOT;
    return cb_ir_add(to, &copy, out, err);
}

/* Calls fit() with a temporary zone, so that the operations that it tries are freed. Copies the chosen operation to the plan's
 * zone. A node with a URL is fitted in the plan's zone, because its location must be kept. */
static cubed_status fit_apart(cubed_plan *p, int node, bool spread, cubed_error *err)
{
    cb_node *const n = &p->ir.nodes[node];
    const cb_blockwise *const was = n->block;
    cb_zone *const zone = p->ir.zone;
    if (n->url) return fit(p, node, spread, err);
    CB_TRY(cb_zone_new(cb_zone_allocator(zone), &p->ir.zone, err));
    cubed_status st = fit(p, node, spread, err);
    cb_zone *const trials = p->ir.zone;
    p->ir.zone = zone;
    if (st == CUBED_OK && n->block != was) {
        n->block = cb_blockwise_keep(zone, n->block, &p->ir.last_block, 1);
        if (n->block) {
            n->grid = &n->block->out[n->output].blocks;
            p->ir.last_block = n->block;
        } else {
            st = cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
        }
    }
    cb_zone_free(trials);
    return st;
}

static cubed_status fit_all(cubed_plan *p, const cb_ir *was, bool spread, cubed_error *err)
{
    rewrite r = {.was = was->nodes};
    bool changed = false;
    CB_TRY(new_calls(was, p->ir.zone, &r.calls, err));
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node *n = &p->ir.nodes[i];
        if (!n->block) continue;
        int first = first_of_call(was, &r.calls, i);
        if (first == i) {
            CB_TRY(fit_apart(p, i, spread, err));
        } else {
            n->block = p->ir.nodes[first].block;
            n->grid = &n->block->out[n->output].blocks;
            if (n->url && may_change(&p->ir, i)) CB_TRY(cb_plan_target(p, i, err));
        }
        changed = changed || !cb_grid_equal(n->grid, r.was[i].grid);
    }
    return changed ? cb_opt_rewrite(p, add_copy, &r, err) : CUBED_OK;
}

cubed_status cb_opt_fit_blocks(cubed_plan *p, bool spread, cubed_error *err)
{
    const size_t bytes = (size_t)p->ir.nnodes * sizeof *p->ir.nodes;
    cb_ir was = {.nnodes = p->ir.nnodes};
    if (!cb_ir_has_blocks(&p->ir)) return CUBED_OK;
    was.nodes = cb_alloc(&p->ctx->alloc, bytes);
    if (!was.nodes) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    memcpy(was.nodes, p->ir.nodes, bytes);
    cubed_status st = fit_all(p, &was, spread, err);
    cb_free(&p->ctx->alloc, was.nodes, bytes);
    return st;
}

/* --- Inputs --------------------------------------------------------------------------------------- */

static cubed_status store_inputs(cubed_plan *p, cb_ir *to, int i, cb_node *node, cubed_error *err)
{
    cb_stage s;
    CB_TRY(single_stage(p, i, &s, err));
    for (int k = 0; k < node->ninputs; k++) {
        const cb_block_operand *x = &node->block->in[k];
        if (!is_stored_in_blocks(p, &s, k)) continue;
        cb_node copy = {.kind = CB_NODE_COPY,
                        .dtype = x->dtype,
                        .grid = &x->blocks,
                        .ninputs = 1,
                        .inputs = &node->inputs[k],
                        .stored = true,
                        .origin = node->origin,
                        .why = CB_WHY_BLOCK_INPUT};
        CB_TRY(cb_ir_add(to, &copy, &node->inputs[k], err));
    }
    return CUBED_OK;
}

static cubed_status add_inputs(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n,
                               int *out, cubed_error *err)
{
    rewrite *r = ctx;
    cb_zone *const zone = p->ir.zone;
    cb_node node = *n;
    int first = n->block ? first_of_call(&p->ir, &r->calls, i) : i;
    if (first != i) {
        node.inputs = to->nodes[r->made[first]].inputs;
    } else if (n->block) { /* make the stage in a temporary zone, which is then freed */
        CB_TRY(cb_zone_new(cb_zone_allocator(zone), &p->ir.zone, err));
        cubed_status st = store_inputs(p, to, i, &node, err);
        cb_zone_free(p->ir.zone);
        p->ir.zone = zone;
        if (st != CUBED_OK) return st;
    }
    CB_TRY(cb_ir_add(to, &node, out, err));
    r->made[i] = *out;
    return CUBED_OK;
}

cubed_status cb_opt_block_inputs(cubed_plan *p, cubed_error *err)
{
    rewrite r = {.made = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof(int) + 1)};
    if (!r.made) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    if (!cb_ir_has_blocks(&p->ir)) return CUBED_OK;
    CB_TRY(new_calls(&p->ir, p->ir.zone, &r.calls, err));
    return cb_opt_rewrite(p, add_inputs, &r, err);
}
