/* Divides stages that read too many arrays. A task holds a chunk of every array that its stage reads. If these chunks do not
 * fit in memory, or if the stage exceeds the limits of a program, a node in the middle of the expression is stored. Then both
 * halves are checked again. The additional array is written and read once. */

#include "base/error.h"
#include "exec/plan/load_need.h"
#include "opt/opt.h"

/* Maximum number of divisions, which exceeds the need of any plan that can be compiled. */
enum { MAX_DIVISIONS = 4096 };

typedef struct weights {
    const cubed_plan *p;
    double *bytes; /* total size of chunks read below a node, counted for each path */
    int *seen;     /* number of the last search that visited the node */
    int search;
} weights;

/* Returns true if a node is virtual (computed in the stages that use it), so that it could be stored instead. */
static bool is_virtual(const cb_node *n) { return !n->stored && !cb_node_is_source(n); }

static bool is_step(const cb_node *n)
{
    return cb_node_is(n, CB_KIND_ELEMENTWISE) || n->kind == CB_NODE_CONCAT;
}

/* Sets the weight of each node. Inputs precede users, so one pass is sufficient. */
static void weigh(weights *w)
{
    for (int i = 0; i < w->p->ir.nnodes; i++) {
        const cb_node *n = &w->p->ir.nodes[i];
        double inner = 0;
        for (int k = 0; k < n->ninputs; k++) {
            bool leaf = !is_virtual(&w->p->ir.nodes[n->inputs[k]]);
            inner +=
                leaf ? (double)cb_chunk_bytes(w->p, n->inputs[k]) + 1024 : w->bytes[n->inputs[k]];
        }
        w->bytes[i] = inner;
    }
}

/* Finds the virtual node below `node` whose weight is nearest to half of the root's. */
static void find_half(weights *w, int node, double half, int *best)
{
    const cb_node *n = &w->p->ir.nodes[node];
    for (int k = 0; k < n->ninputs; k++) {
        int below = n->inputs[k];
        const cb_node *in = &w->p->ir.nodes[below];
        if (w->seen[below] == w->search || !is_virtual(in)) continue;
        w->seen[below] = w->search;
        double off = w->bytes[below] > half ? w->bytes[below] - half : half - w->bytes[below];
        double now = *best < 0                ? 0
                     : w->bytes[*best] > half ? w->bytes[*best] - half
                                              : half - w->bytes[*best];
        /* Each of the two halves must read at least one array. */
        bool divides = w->bytes[below] > 0 && w->bytes[below] < 2 * half && in->ninputs > 1;
        if (is_step(in) && divides && (*best < 0 || off < now)) *best = below;
        /* recursion depth is at most CB_MAX_DEPTH, the maximum length of a chain of virtual nodes */
        find_half(w, below, half, best);
    }
}

static cubed_status try_alone(cubed_plan *p, int root, bool *too_large, cubed_error *err)
{
    cb_stage s = {.nouts = 1};
    cubed_error why = CUBED_ERROR_INIT;
    *too_large = false;
    s.outs = cb_zone_alloc(p->ir.zone, sizeof *s.outs);
    if (!s.outs) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    s.outs[0].node = root;
    cubed_status st = cb_stage_compile(p, &s, &why);
    if (st == CUBED_OK) {
        cb_stage_project(p, &s);
        *too_large = cb_opt_need(p, s.need) > cb_opt_task_mem(p);
        return CUBED_OK;
    }
    if (st == CUBED_E_BUDGET) {
        *too_large = true;
        return CUBED_OK;
    }
    if (err) *err = why;
    return st;
}

/* Sets *too_large if the stage of node `root` would be too large even without other outputs. Compiles the stage in a temporary
 * zone. */
static cubed_status is_too_large(cubed_plan *p, int root, bool *too_large, cubed_error *err)
{
    cb_zone *const zone = p->ir.zone;
    CB_TRY(cb_zone_new(cb_zone_allocator(zone), &p->ir.zone, err));
    cubed_status st = try_alone(p, root, too_large, err);
    cb_zone_free(p->ir.zone);
    p->ir.zone = zone;
    return st;
}

cubed_status cb_opt_divide(cubed_plan *p, cubed_error *err)
{
    int n = p->ir.nnodes, divisions = 0;
    weights w = {.p = p};
    w.bytes = cb_zone_alloc(p->ir.zone, (size_t)n * sizeof *w.bytes + 1);
    w.seen = cb_zone_alloc(p->ir.zone, (size_t)n * sizeof *w.seen + 1);
    if (!w.bytes || !w.seen) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < n; i++) {
            bool too_large = false;
            int half = -1;
            if (!p->ir.nodes[i].stored) continue;
            CB_TRY(is_too_large(p, i, &too_large, err));
            if (!too_large || divisions == MAX_DIVISIONS) continue;
            weigh(&w);
            w.search++;
            find_half(&w, i, w.bytes[i] / 2, &half);
            /* An expression that cannot be divided remains too large, and the checks after planning report the error. */
            if (half < 0) continue;
            cb_node_store(&p->ir.nodes[half], CB_WHY_MEMORY);
            divisions++;
            changed = true;
        }
        /* Decide again: reductions that belonged to another stage may read the newly stored nodes. */
        if (changed) CB_TRY(cb_opt_fuse(p, err));
    }
    return CUBED_OK;
}
