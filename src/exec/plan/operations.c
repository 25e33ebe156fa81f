/* Lists the operations of a stage by kind, and the program lines that created them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exec/plan/costs.h"
#include "exec/plan/operations.h"
#include "exec/plan/stage.h"
#include "plan/plan.h"
#include "plan/reduction.h"

/* Nodes that a stage computes, and sources that it reads: its outputs, and the unstored nodes below them. A node is listed before
 * its inputs. */
typedef struct walk {
    const cubed_plan *p;
    int n, *list;
    double *wanted; /* by node: number of its elements to compute; negative: not in the list */
} walk;

static cubed_status open_walk(const cubed_plan *p, walk *w, cubed_error *err)
{
    const size_t n = (size_t)p->ir.nnodes;
    *w = (walk){.p = p};
    w->list = cb_alloc(&p->ctx->alloc, n * sizeof *w->list);
    w->wanted = cb_alloc(&p->ctx->alloc, n * sizeof *w->wanted);
    for (size_t i = 0; w->wanted && i < n; i++) w->wanted[i] = -1;
    return w->list && w->wanted ? CUBED_OK
                                : cb_fail(err, CUBED_E_NOMEM, "no memory to inspect a plan");
}

static void close_walk(const walk *w)
{
    const size_t n = (size_t)w->p->ir.nnodes;
    cb_free(&w->p->ctx->alloc, w->list, n * sizeof *w->list);
    cb_free(&w->p->ctx->alloc, w->wanted, n * sizeof *w->wanted);
}

static int last_first(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

static void list_nodes(walk *w, const cb_stage *s)
{
    for (int i = 0; i < w->n; i++) w->wanted[w->list[i]] = -1;
    w->n = 0;
    for (int o = 0; o < s->nouts; o++) {
        const int out = s->outs[o].node;
        if (w->wanted[out] < 0) w->list[w->n++] = out;
        w->wanted[out] = 0;
    }
    for (int i = 0; i < w->n; i++) {
        const cb_node *node = &w->p->ir.nodes[w->list[i]];
        for (int k = 0; k < node->ninputs; k++) {
            const int below = node->inputs[k];
            if (w->p->ir.nodes[below].stored || w->wanted[below] >= 0) continue;
            w->list[w->n++] = below;
            w->wanted[below] = 0;
        }
    }
    qsort(w->list, (size_t)w->n, sizeof *w->list, last_first);
}

static cubed_status check_stage(const cubed_plan *p, int stage, cubed_error *err)
{
    if (stage >= 0 && stage < p->nstages) return CUBED_OK;
    return cb_fail(err, CUBED_E_INDEX, "stage %d does not exist: the plan has %d stages", stage,
                   p->nstages);
}

cubed_status cubed_plan_get_block(const cubed_plan *p, int stage, int64_t task,
                                  int64_t block[CUBED_MAX_NDIM], int *ndim, cubed_error *err)
{
    cb_box chunks;
    CB_TRY(check_stage(p, stage, err));
    if (task < 0 || task >= p->stages[stage].ntasks)
        return cb_fail(err, CUBED_E_INDEX,
                       "task %" PRId64 " does not exist: stage %d has %" PRId64 " tasks", task,
                       stage, p->stages[stage].ntasks);
    cb_stage_task_chunks(&p->stages[stage], task, &chunks);
    *ndim = chunks.ndim;
    for (int d = 0; d < chunks.ndim; d++) block[d] = chunks.lo[d];
    return CUBED_OK;
}

/* --- Lines ------------------------------------------------------------------------------------------- */

static bool has(const uint32_t *list, int n, uint32_t value)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == value) return true;
    }
    return false;
}

cubed_status cubed_plan_get_origins(const cubed_plan *p, int stage, uint32_t *origins, int cap,
                                    int *n, cubed_error *err)
{
    *n = 0;
    CB_TRY(check_stage(p, stage, err));
    walk w;
    cubed_status st = open_walk(p, &w, err);
    if (st == CUBED_OK) list_nodes(&w, &p->stages[stage]);
    for (int i = 0; i < w.n; i++) {
        uint32_t origin = p->ir.nodes[w.list[i]].origin;
        if (!origin || has(origins, *n < cap ? *n : cap, origin)) continue;
        if (*n < cap) origins[*n] = origin;
        ++*n;
    }
    close_walk(&w);
    return st;
}

void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err)
{
    int n;
    if (!err) return;
    memset(err->origins, 0, sizeof err->origins);
    /* Ignore failures of this call: the original error without program lines is better than another error. */
    (void)!cubed_plan_get_origins(p, stage, err->origins, CUBED_ERROR_ORIGINS, &n, NULL);
}

/* --- Operations -------------------------------------------------------------------------------------- */

static double count(const cb_grid *g)
{
    double n = 1;
    for (int d = 0; d < g->ndim; d++) n *= (double)g->axis[d].extent;
    return n;
}

/* Returns the number of elements that a function on blocks processes. The extent of an axis that several inputs have and no
 * output has is a factor of this number, as in products of matrices. For an axis of a single input, as in a search or in take,
 * the factor is the axis's number of blocks, because there is one call for each block. */
static double block_count(const cb_blockwise *op)
{
    double met = 1, most = 0;
    for (int s = 0; s < CUBED_MAX_NDIM; s++) {
        double extent = 1, blocks = 1;
        int inputs = 0;
        bool kept = false;
        for (int i = 0; i < op->nin + op->nout; i++) {
            const cb_block_operand *x = i < op->nin ? &op->in[i] : &op->out[i - op->nin];
            for (int d = 0; d < x->blocks.ndim; d++) {
                if (x->symbol[d] != s) continue;
                extent = fmax(extent, (double)x->blocks.axis[d].extent);
                blocks = fmax(blocks, (double)cb_axis_count(&x->blocks.axis[d]));
                inputs += i < op->nin;
                kept = kept || i >= op->nin;
            }
        }
        met *= kept || inputs > 1 ? extent : blocks;
    }
    for (int i = 0; i < op->nin; i++) most = fmax(most, count(&op->in[i].blocks));
    return fmax(met, most);
}

/* Describes the node's operation. The name is NULL if the node computes nothing: it moves data, or is a source. */
static cubed_operation_info operation_of(const cb_ir *ir, const cb_node *n, double wanted)
{
    cubed_operation_info op = {.elements = wanted, .item_size = cubed_dtype_size(n->dtype)};
    const cb_node *in = n->ninputs > 0 ? &ir->nodes[n->inputs[0]] : NULL;
    const cb_kind *kind = cb_kinds[n->kind];
    if (kind->operation) op.name = kind->operation(n);
    if (kind->is & CB_KIND_CALL) {
        op.elements = block_count(n->block);
    } else if (op.name && in && !(kind->is & CB_KIND_ELEMENTWISE)) {
        op.elements = count(in->grid);
    }
    if (in) op.item_size = cb_max_size(op.item_size, cubed_dtype_size(in->dtype));
    op.seconds = op.elements * (double)op.item_size * cb_node_cost(n);
    return op;
}

/* Returns the number of elements of an input that the node needs to compute `wanted` of its own elements. */
static double asks_for(const cb_node *n, const cb_node *in, double wanted)
{
    double all = count(in->grid);
    return cb_node_is(n, CB_KIND_PULLED) && wanted < all ? wanted : all;
}

static void add_operation(cubed_operation_info op, cubed_operation_info *list, int cap, int *n)
{
    for (int i = 0; i < *n && i < cap; i++) {
        if (strcmp(list[i].name, op.name) != 0 || list[i].item_size != op.item_size) continue;
        list[i].elements += op.elements;
        list[i].seconds += op.seconds;
        return;
    }
    if (*n < cap) list[*n] = op;
    ++*n;
}

/* Returns true if an earlier node of the list is an output of the same call. Such nodes are skipped, because each call is
 * reported once. */
static bool is_reported(const walk *w, int at)
{
    if (!w->p->ir.nodes[w->list[at]].block) return false;
    for (int i = 0; i < at; i++) {
        if (cb_ir_same_call(&w->p->ir, w->list[i], w->list[at])) return true;
    }
    return false;
}

/* Sets the operation of node number `at` of the list. Returns false if there is no operation to report. Call it in the order of
 * the list. */
static bool next_operation(const walk *w, int at, cubed_operation_info *op)
{
    const cb_ir *ir = &w->p->ir;
    const cb_node *node = &ir->nodes[w->list[at]];
    const double wanted = w->wanted[w->list[at]];
    for (int k = 0; k < node->ninputs; k++) {
        double *below = &w->wanted[node->inputs[k]];
        const double asked = asks_for(node, &ir->nodes[node->inputs[k]], wanted);
        if (*below >= 0 && asked > *below) *below = asked;
    }
    *op = operation_of(ir, node, wanted);
    return op->name && !is_reported(w, at);
}

static void want_outputs(const walk *w, const cb_stage *s)
{
    for (int o = 0; o < s->nouts; o++)
        w->wanted[s->outs[o].node] = count(w->p->ir.nodes[s->outs[o].node].grid);
}

cubed_status cubed_plan_get_operations(const cubed_plan *p, int stage, cubed_operation_info *list,
                                       int cap, int *n, cubed_error *err)
{
    *n = 0;
    CB_TRY(check_stage(p, stage, err));
    walk w;
    cubed_operation_info op;
    cubed_status st = open_walk(p, &w, err);
    if (st == CUBED_OK) {
        list_nodes(&w, &p->stages[stage]);
        want_outputs(&w, &p->stages[stage]);
    }
    for (int i = 0; i < w.n; i++) {
        if (next_operation(&w, i, &op)) add_operation(op, list, cap, n);
    }
    close_walk(&w);
    return st;
}

/* --- Estimated time ---------------------------------------------------------------------------------- */

cubed_status cb_plan_estimate(cubed_plan *p, cubed_error *err)
{
    walk w;
    cubed_operation_info op;
    cubed_status st = open_walk(p, &w, err);
    for (int k = 0; st == CUBED_OK && k < p->nstages; k++) {
        cb_stage *s = &p->stages[k];
        list_nodes(&w, s);
        want_outputs(&w, s);
        s->moves = cb_stage_moves(p, s);
        s->operations = 0;
        for (int i = 0; i < w.n; i++) {
            if (next_operation(&w, i, &op)) s->operations += op.seconds;
        }
    }
    close_walk(&w);
    return st;
}

/* A task reads, computes and writes one after another, concurrently with tasks of other workers. So all of this time is
 * divided by the number of workers, but the speed of the disk does not grow with this number. */
void cb_stage_seconds(const cubed_plan *p, const cb_stage *s, cubed_stage_info *info)
{
    const double bytes = (double)s->bytes_read + (double)s->bytes_written;
    const double requests = (double)s->chunks_read + (double)s->chunks_written;
    const double moved = bytes / CUBED_ASSUMED_BANDWIDTH + requests * CUBED_ASSUMED_LATENCY;
    const double tasks = fmax(1, (double)s->ntasks * s->coop);
    info->read_seconds = s->moves.read;
    info->write_seconds = s->moves.write;
    info->compute_seconds = s->operations + s->moves.memory;
    const double busy = info->read_seconds + info->write_seconds + info->compute_seconds;
    info->seconds = fmax(moved, (moved + busy) / fmin(tasks, p->max_workers));
}
