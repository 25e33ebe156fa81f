/* Moves reshapes down in the graph, to stored nodes. A stage can reshape only an array that it loads. So elementwise
 * operations between a reshape and a stored array are moved above the reshape, because they work in any shape. Views become
 * part of the reshape. Constants, and arrays in memory in C order, get the new shape without a reshape. All other nodes below
 * a reshape are stored. This includes copies, unless the plan is tried without copies below reshapes. */
#include <string.h>

#include "base/error.h"
#include "opt/opt.h"

/* The reshape of `node` with the map `map` is node `out` of the new plan. */
typedef struct sunk {
    int node, out;
    const cb_map *map;
} sunk;

typedef struct sinker {
    cb_ir *to;
    const cb_node *reshape;
    bool through_copies;
    sunk *done;
    int ndone, cap;
} sinker;

/* Maximum depth to which a reshape is moved. If the chain of nodes below a reshape is longer, a node of the chain is stored. */
enum { MAX_SINK_DEPTH = CB_MAX_DEPTH / 2 };

static cubed_status remember(sinker *s, int node, const cb_map *map, int out, cubed_error *err)
{
    if (!cb_zone_grow(s->to->zone, &s->done, s->ndone, &s->cap, sizeof *s->done))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    const cb_map *own = cb_map_own(s->to->zone, map);
    if (!own) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    s->done[s->ndone++] = (sunk){node, out, own};
    return CUBED_OK;
}

/* Adds the reshape of `node`, which reads stored chunks. If `node` is not stored, stores it or, if that is impossible, a copy
 * of it. */
static cubed_status over_stored(sinker *s, int node, const cb_map *map, int *out, cubed_error *err)
{
    cb_node *n = &s->to->nodes[node], made = *s->reshape;
    made.dtype = n->dtype;
    made.map = map;
    made.inputs = &node;
    if (cb_node_has_chunks(n)) return cb_ir_add(s->to, &made, out, err);
    bool regular = true;
    for (int d = 0; d < n->grid->ndim; d++)
        regular = regular && n->grid->axis[d].first == n->grid->axis[d].chunk;
    if (n->ninputs > 0 && !n->to_memory && regular) {
        cb_node_store(n, CB_WHY_RESHAPE);
        return cb_ir_add(s->to, &made, out, err);
    }
    int below = node;
    const cb_grid grid = cb_grid_storable(n->grid);
    cb_node copy = {.kind = CB_NODE_COPY,
                    .dtype = n->dtype,
                    .grid = &grid,
                    .ninputs = 1,
                    .inputs = &below,
                    .stored = true,
                    .origin = n->origin,
                    .why = CB_WHY_RESHAPE};
    CB_TRY(cb_ir_add(s->to, &copy, &node, err));
    return cb_ir_add(s->to, &made, out, err);
}

/* Sets the strides for the new shape if the elements are in C order, so that the memory can be used directly. Returns false for
 * any other order. */
static bool reshape_memory(const cb_node *n, const cb_grid *to, int64_t *strides)
{
    int64_t stride = (int64_t)cubed_dtype_size(n->dtype);
    for (int d = n->grid->ndim - 1; d >= 0; d--) {
        if (n->grid->axis[d].extent != 1 && n->strides[d] != stride) return false;
        stride *= n->grid->axis[d].extent;
    }
    stride = (int64_t)cubed_dtype_size(n->dtype);
    for (int d = to->ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= to->axis[d].extent;
    }
    return true;
}

static cubed_status sink(sinker *s, int node, const cb_map *map, int depth, int *out,
                         cubed_error *err)
{
    for (int i = 0; i < s->ndone; i++) {
        if (s->done[i].node != node || !cb_map_equal(s->done[i].map, map)) continue;
        *out = s->done[i].out;
        return CUBED_OK;
    }
    cb_node n = s->to->nodes[node]; /* a copy, because the list may be reallocated */
    bool whole = cb_map_is_identity(map), deep = depth == MAX_SINK_DEPTH;
    for (int d = 0; d < n.grid->ndim && whole; d++)
        whole = n.grid->axis[d].extent == s->reshape->from[d];
    bool flat = n.kind == CB_NODE_FULL || (n.kind == CB_NODE_INDEX && whole);
    bool step = cb_node_is(&n, CB_KIND_ELEMENTWISE);
    const cb_grid *grid = n.grid;
    int64_t strides[CUBED_MAX_NDIM];
    n.grid = s->reshape->grid;
    if (n.kind == CB_NODE_MEMORY && whole) {
        flat = reshape_memory(&s->to->nodes[node], n.grid, strides);
        n.strides = strides;
    }
    if (flat) {
        CB_TRY(cb_ir_add(s->to, &n, out, err));
    } else if (n.kind == CB_NODE_COPY && !n.stored && !deep && s->through_copies) {
        CB_TRY(sink(s, n.inputs[0], map, depth + 1, out, err));
    } else if (n.stored || deep || (!step && n.kind != CB_NODE_VIEW)) {
        CB_TRY(over_stored(s, node, map, out, err));
    } else if (n.kind == CB_NODE_VIEW) {
        cb_map below;
        CB_TRY(cb_map_compose(n.map, map, &below, err));
        CB_TRY(sink(s, n.inputs[0], &below, depth + 1, out, err));
    } else {
        int inputs[3];
        for (int k = 0; k < n.ninputs; k++) {
            inputs[k] = n.inputs[k];
            /* A single element is broadcast, and needs no reshape. */
            if (s->to->nodes[n.inputs[k]].grid->ndim == 0 && grid->ndim > 0) continue;
            CB_TRY(sink(s, n.inputs[k], map, depth + 1, &inputs[k], err));
        }
        n.inputs = inputs;
        CB_TRY(cb_ir_add(s->to, &n, out, err));
    }
    return remember(s, node, map, *out, err);
}

static cubed_status each(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                         cubed_error *err)
{
    const bool *through_copies = ctx;
    (void)p;
    (void)i;
    if (n->kind != CB_NODE_RESHAPE) return cb_ir_add(to, n, out, err);
    sinker s = {.to = to, .reshape = n, .through_copies = *through_copies};
    return sink(&s, n->inputs[0], n->map, 0, out, err);
}

cubed_status cb_opt_sink_reshapes(cubed_plan *p, bool through_copies, cubed_error *err)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (p->ir.nodes[i].kind == CB_NODE_RESHAPE)
            return cb_opt_rewrite(p, each, &through_copies, err);
    }
    return CUBED_OK;
}

bool cb_opt_reshapes_copies(const cubed_plan *p)
{
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->kind == CB_NODE_RESHAPE && p->ir.nodes[n->inputs[0]].kind == CB_NODE_COPY)
            return true;
    }
    return false;
}
