/* Divides the outputs of reductions with fewer output chunks than workers. If there are too few blocks for a tree reduction
 * (split.c), a reduction has one task for each output chunk. If parts of the input can be read separately, the result is stored
 * in an intermediate with smaller chunks, which more tasks can compute. Then a copy concatenates the chunks of the intermediate.
 *
 * The states of tree reductions are divided without a copy, because merges accept any chunks. This is done if workers are on
 * other machines and there are too few groups of blocks. */
#include <math.h>

#include "base/error.h"
#include "exec/plan/load_need.h"
#include "opt/opt.h"

/* Preferred size of a task's input. Each piece of a mapped chunk is a separate mapping, so larger pieces cost less. Larger copied
 * pieces would leave the processor's cache before they are reduced (docs/benchmarks.md). */
#define PIECE_BYTES ((size_t)12 << 20)

#define FAR_TASKS_PER_WORKER 6

/* GETs per second of a prefix of an object store (Amazon S3 User Guide: at least 5,500). */
#define PREFIX_GETS 5500.0
/* Maximum ratio of the time that the stage's requests to a prefix take (PREFIX_GETS) to the time of its bytes. FULL: the bytes
 * that all workers read during the whole stage. FREE: the bytes of one task, if there is a worker for each task, so that smaller
 * tasks shorten the stage. */
#define REQUEST_SHARE_FULL 0.75
#define REQUEST_SHARE_FREE 4

typedef struct spread {
    const cubed_plan *p; /* plan before the change */
    const cb_stage *stage;
    int axis; /* axis to divide, in the stage's domain without reduced axes */
    int64_t step;
} spread;

/* Returns the minimum number of tasks that keeps all workers busy. It is larger if workers are on other machines, so that many
 * workers do not wait for the last task. */
static int64_t enough_tasks(const cubed_plan *p)
{
    return (int64_t)p->max_workers * (p->other_machines ? FAR_TASKS_PER_WORKER : 1);
}

/* Returns the memory of a task's buffers for one chunk of each array that the stage reads. */
static size_t block_bytes(const cubed_plan *p, const cb_stage *s)
{
    size_t bytes = 0;
    for (int v = 0; v < s->reduce->body.branches[0].nloads; v++) {
        const cb_load *l = &s->reduce->body.branches[0].loads[v];
        if (l->kind == CB_LOAD_STORED) bytes = cb_sat_add(bytes, cb_chunk_bytes(p, l->node));
    }
    return bytes;
}

/* Returns true if chunks are encoded, so that every piece reads and decodes slightly too much. If `in_blocks` is set, also
 * returns true if pieces are read by codec blocks. */
static bool is_encoded(const cubed_plan *p, const cb_stage *s, bool in_blocks)
{
    for (int v = 0; v < s->reduce->body.branches[0].nloads; v++) {
        const cb_load *l = &s->reduce->body.branches[0].loads[v];
        if (l->kind != CB_LOAD_STORED) continue;
        const cb_storage *x = p->storage[l->node];
        const cb_zarr_parts parts = x ? cb_zarr_parts_of(&x->meta, false) : CB_ZARR_NO_PARTS;
        const bool blocks = parts == CB_ZARR_BLOCKS || parts == CB_ZARR_BLOCKS_ONCE;
        if (p->ir.nodes[l->node].source || (in_blocks && blocks) ||
            (parts == CB_ZARR_RANGES && !cb_codec_chain_is_raw(&x->meta.codecs)))
            return true;
    }
    return false;
}

/* Returns the maximum number of pieces of an output for which the time of the requests is not much longer than the time of the
 * transferred bytes. Every task that computes a piece sends one request for each chunk that it reads. States are already stored
 * in `stored` pieces, so reading these pieces needs no further requests. Requests are limited by the rate of a prefix: each
 * source has its own prefix, and all intermediates share one prefix. */
static double pieces_in_time(const cubed_plan *p, const cb_stage *s, int64_t stored)
{
    const double prefixes = s->reduce->body.nbranches > 0 ? fmax(1, s->ninputs) : 1;
    const double chunks = fmax(1, (double)s->chunks_read / (double)stored / prefixes);
    const double requests = (double)s->bytes_read / CB_OPT_FAR_BYTES * PREFIX_GETS / chunks;
    const double pieces = fmax(REQUEST_SHARE_FULL * requests / p->max_workers,
                               sqrt(REQUEST_SHARE_FREE * requests / (double)s->ntasks));
    return fmax(pieces, (double)stored);
}

/* Returns the number of pieces along axis d if workers are on other machines, where the size of the processor's cache does not
 * matter. */
static int64_t far_pieces(const cubed_plan *p, const cb_stage *s, int d)
{
    const uint64_t most = s->bytes_read / (uint64_t)s->ntasks / CB_OPT_TASK_BYTES;
    const int64_t want = cb_ceil_div(enough_tasks(p), s->ntasks);
    const int64_t useful = most < (uint64_t)want ? (int64_t)most : want;
    return (int64_t)fmin((double)useful, pieces_in_time(p, s, cb_opt_stored_pieces(p, s, d)));
}

/* Returns true if the stage reads chunks from a store with latency. */
static bool waits_for_requests(const cubed_plan *p, const cb_stage *s)
{
    for (int v = 0; v < s->reduce->body.branches[0].nloads; v++) {
        const cb_load *l = &s->reduce->body.branches[0].loads[v];
        if (l->kind == CB_LOAD_STORED && cb_node_waits_for(p, l->node)) return true;
    }
    return false;
}

static int64_t near_pieces(const cubed_plan *p, const cb_stage *s)
{
    const int64_t workers = (int64_t)p->max_workers;
    if (is_encoded(p, s, true)) return workers;
    /* In a store with latency, each piece of a chunk costs at least one request, so use larger pieces. */
    const bool waits = waits_for_requests(p, s);
    const size_t share = (p->allowed_mem - p->reserved_mem) / 4 + 1;
    const size_t piece = waits ? share : cb_min_size(PIECE_BYTES, share);
    /* rounded up to a multiple of the number of workers */
    const int64_t pieces = cb_ceil_div((int64_t)(block_bytes(p, s) / piece) + 1, workers) * workers;
    return cb_min_i64(cb_max_i64(pieces, waits ? workers : 2 * workers), 64 * workers);
}

/* Chooses the first axis that can be divided, and the number of pieces. */
static bool choose(const cubed_plan *p, const cb_stage *s, spread *out, int64_t *pieces)
{
    int d = 0;
    while (d < s->kept->ndim && s->kept->axis[d].chunk < 2) d++;
    if (d == s->kept->ndim) return false;
    *out = (spread){.p = p, .stage = s, .axis = d};
    *pieces = p->other_machines ? cb_min_i64(far_pieces(p, s, d), s->kept->axis[d].chunk)
                                : near_pieces(p, s);
    return !p->other_machines || *pieces > 1;
}

/* Returns true if the stage's outputs are states of partial reductions, and workers are on other machines. Such states are
 * divided without copies. */
static bool leaves_states(const cubed_plan *p, const cb_stage *s)
{
    return p->other_machines && s->nouts > 0 &&
           cb_node_leaves_states(&p->ir.nodes[s->outs[0].node]);
}

/* Returns true if the stage writes or merges states that are kept for updates. Their chunks must not depend on workers. */
static bool keeps_states(const cubed_plan *p, const cb_stage *s)
{
    for (int r = 0; r < s->reduce->n; r++) {
        const int node = s->reduce->list[r].node, states = s->reduce->list[r].states;
        if (cb_plan_keeps_states(p, node) || (states >= 0 && cb_plan_keeps_states(p, states)))
            return true;
    }
    return false;
}

static bool may_spread(const cubed_plan *p, const cb_stage *s)
{
    if (!s->reduce || (!s->op->tiles && !leaves_states(p, s)) || s->reduce->body.nbranches > 1)
        return false;
    if (keeps_states(p, s)) return false;
    if (s->ntasks == 0 || s->ntasks >= enough_tasks(p)) return false;
    /* A merge of states has no branches, because it loads stored states, which are unencoded. */
    if (s->reduce->body.nbranches == 0) return p->other_machines && s->reduce->list[0].states >= 0;
    if (p->other_machines && is_encoded(p, s, false)) return false;
    for (int v = 0; v < s->reduce->body.branches[0].nloads; v++) {
        const cb_load *l = &s->reduce->body.branches[0].loads[v];
        if (l->kind == CB_LOAD_STORED && (l->reshape || cb_node_subread_run(p, l->node) == 0))
            return false;
    }
    return true;
}

static int output_of(const spread *s, int node)
{
    for (int o = 0; o < s->stage->nouts; o++) {
        if (s->stage->outs[o].node == node) return o;
    }
    return -1;
}

/* A reduction of an intermediate must process the original chunks, because their grid determines the order of its terms.
 * Other reductions in the same stage have the same grid. */
static cubed_status insert_reduce(const spread *s, cb_ir *to, int i, const cb_node *n, int *out,
                                  cubed_error *err)
{
    const cb_node *nodes = s->p->ir.nodes;
    const int under = nodes[i].kind == CB_NODE_REDUCE || nodes[i].kind == CB_NODE_PARTIAL
                          ? nodes[i].inputs[0]
                          : -1;
    if (under < 0 || output_of(s, under) < 0) return cb_ir_add(to, n, out, err);
    int index;
    const cb_node whole = {.kind = CB_NODE_COPY,
                           .dtype = nodes[under].dtype,
                           .grid = nodes[under].grid,
                           .ninputs = 1,
                           .inputs = n->inputs,
                           .origin = nodes[under].origin};
    cb_node reduction = *n;
    CB_TRY(cb_ir_add(to, &whole, &index, err));
    reduction.inputs = &index;
    return cb_ir_add(to, &reduction, out, err);
}

/* Inserts an intermediate whose chunks are the pieces of an output. If the output is a target, a copy writes it from the
 * pieces. If the output is an intermediate, the new intermediate replaces it. States only get the smaller chunks. */
static cubed_status insert(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                           cubed_error *err)
{
    const spread *s = ctx;
    int o = output_of(s, i), index;
    (void)p;
    if (o < 0) return insert_reduce(s, to, i, n, out, err);
    cb_grid grid = cb_grid_copy(n->grid);
    cb_node pieces = {.kind = CB_NODE_COPY,
                      .dtype = n->dtype,
                      .grid = &grid,
                      .ninputs = 1,
                      .inputs = &index,
                      .stored = true,
                      .origin = n->origin,
                      .why = CB_WHY_SPREAD};
    for (int d = 0; d < n->grid->ndim; d++) {
        cb_axis *a = &grid.axis[d];
        if (s->stage->outs[o].axis[d] == s->axis) *a = cb_axis_regular(a->extent, s->step);
    }
    if (cb_node_leaves_states(n)) {
        cb_node states = *n;
        states.grid = &grid;
        return cb_ir_add(to, &states, out, err);
    }
    if (!n->is_target || n->kind != CB_NODE_COPY) {
        cb_node virtual = *n;
        virtual.stored = false;
        virtual.why = CB_WHY_NOT;
        CB_TRY(cb_ir_add(to, &virtual, &index, err));
        return cb_ir_add(to, &pieces, out, err);
    }
    cb_node root = *n;
    index = n->inputs[0];
    CB_TRY(cb_ir_add(to, &pieces, &index, err));
    root.inputs = &index;
    return cb_ir_add(to, &root, out, err);
}

static int64_t tasks(const cubed_plan *p)
{
    int64_t n = 0;
    for (int i = 0; i < p->nstages; i++) n += p->stages[i].ntasks;
    return n;
}

/* Accepts the new plan if it has more tasks, and moves hardly more data than the old plan and the copies of the pieces. The
 * copies must move less than a quarter of the bytes that the stage reads. States are not copied, but their padding grows with
 * the number of chunks. */
static bool is_worth(const void *ctx, const cubed_plan *now, const cubed_plan *before)
{
    const spread *s = ctx;
    uint64_t added = 0;
    for (int o = 0; o < s->stage->nouts; o++) {
        int node = s->stage->outs[o].node;
        added +=
            2 * (uint64_t)cb_grid_count(s->p->ir.nodes[node].grid) * cb_chunk_bytes(s->p, node);
    }
    const bool is_small = added < s->stage->bytes_read / 4 || leaves_states(s->p, s->stage);
    return tasks(now) > tasks(before) + s->stage->nouts && is_small &&
           cb_opt_traffic(now) <= cb_opt_traffic(before) + added + added / 8;
}

/* Divides the outputs of a stage. A worker on another machine reads a part of an encoded chunk only if the part is long. So
 * fewer pieces are tried if the first number is not accepted. */
static cubed_status split_stage(cubed_plan *p, const cubed_plan *before, const cb_stage *stage,
                                bool *done, cubed_error *err)
{
    spread s;
    int64_t pieces;
    if (!may_spread(p, stage) || !choose(before, stage, &s, &pieces)) return CUBED_OK;
    const int64_t chunk = stage->kept->axis[s.axis].chunk;
    const bool fewer =
        p->other_machines && stage->reduce->body.nbranches > 0 && is_encoded(p, stage, true);
    do {
        s.step = p->other_machines ? chunk / pieces : cb_ceil_div(chunk, pieces);
        CB_TRY(cb_opt_try_rewrite(p, insert, &s, is_worth, done, err));
        pieces /= 2;
    } while (!*done && fewer && pieces > 1);
    return CUBED_OK;
}

cubed_status cb_opt_split_outputs(cubed_plan *p, cubed_error *err)
{
    for (int i = 0; i < p->nstages; i++) {
        const cubed_plan before = *p;
        bool done = false;
        CB_TRY(split_stage(p, &before, &before.stages[i], &done, err));
        /* Start again from the first stage, because stages were reordered. Divided stages are skipped, because they now have
         * many tasks. */
        if (done) i = -1;
    }
    return CUBED_OK;
}
