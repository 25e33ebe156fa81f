#include "plan/ir.h"

#include <inttypes.h>
#include <string.h>

#include "dtype/record_fields.h"
#include "plan/kinds/kind_rows.h"

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan node");
}

static bool copy_text(cb_zone *z, const char **s)
{
    if (*s) *s = cb_zone_strdup(z, *s);
    return *s != NULL;
}

static bool copy_numbers(cb_zone *z, const int64_t **list, int n)
{
    if (*list) *list = cb_zone_memdup(z, *list, (size_t)n * sizeof **list);
    return *list != NULL;
}

/* Copies the names of dimensions, unless there are none. Most arrays have no names. In a plan only results have names. */
static bool own_names(cb_zone *zone, int ndim, const char *const **names)
{
    static const char *const none[CUBED_MAX_NDIM] = {NULL};
    bool any = false;
    for (int d = 0; d < ndim && *names; d++) any = any || (*names)[d];
    const char **own = any ? cb_zone_alloc(zone, (size_t)ndim * sizeof *own) : NULL;
    for (int d = 0; d < ndim && own; d++) {
        own[d] = (*names)[d];
        if (own[d] && !copy_text(zone, &own[d])) return false;
    }
    *names = any ? own : none;
    return *names != NULL;
}

cubed_status cb_node_own(cb_zone *zone, cb_node *n, const cb_known *known, cubed_error *err)
{
    const char **texts[] = {&n->url,   &n->references, &n->writes, &n->name,  &n->version,
                            &n->place, &n->codecs,     &n->attrs,  &n->fields};
    const int ndim = n->grid->ndim;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (*texts[i] && !copy_text(zone, texts[i])) return no_memory(err);
    }
    if (!own_names(zone, ndim, &n->dim_names)) return no_memory(err);
    const cb_kind *kind = cb_kinds[n->kind];
    if ((kind->own && !kind->own(zone, n)) ||
        (n->first_chunk && !copy_numbers(zone, &n->first_chunk, ndim)) ||
        (n->part && !copy_numbers(zone, &n->part, 2 * ndim)) ||
        (n->task_chunks && !copy_numbers(zone, &n->task_chunks, CUBED_MAX_NDIM)) ||
        (n->block &&
         !(n->block = cb_blockwise_keep(zone, n->block, known->blocks, known->nblocks))))
        return no_memory(err);
    if (n->reduce_grid)
        CB_TRY(cb_grid_keep(zone, &n->reduce_grid, known->grids, known->ngrids, err));
    return cb_grid_keep(zone, &n->grid, known->grids, known->ngrids, err);
}

cubed_status cb_ir_set(cb_ir *ir, int index, const cb_node *node, cubed_error *err)
{
    const cb_grid *few[16], **known = few;
    const cubed_allocator *a = cb_zone_allocator(ir->zone);
    const size_t bytes = ((size_t)node->ninputs + 1) * sizeof *known;
    cb_node copy = *node;
    int nknown = 0;
    if (bytes > sizeof few) known = cb_alloc(a, bytes);
    if (!known) return no_memory(err);
    while (nknown < node->ninputs) {
        known[nknown] = ir->nodes[node->inputs[nknown]].grid;
        nknown++;
    }
    if (index > 0) known[nknown++] = ir->nodes[index - 1].grid;
    const cb_known have = {known, nknown, &ir->last_block, 1};
    cubed_status st = cb_node_own(ir->zone, &copy, &have, err);
    if (known != few) cb_free(a, known, bytes);
    if (st != CUBED_OK) return st;
    if (node->ninputs) {
        copy.inputs = cb_zone_memdup(ir->zone, node->inputs, (size_t)node->ninputs * sizeof(int));
        if (!copy.inputs) return no_memory(err);
    }
    const cb_kind *kind = cb_kinds[node->kind];
    if (kind->derive && !kind->derive(ir, &copy)) return no_memory(err);
    ir->nodes[index] = copy;
    if (copy.block) ir->last_block = copy.block;
    return CUBED_OK;
}

cubed_status cb_ir_reserve(cb_ir *ir, int cap, cubed_error *err)
{
    if (cap <= ir->cap) return CUBED_OK;
    cb_node *nodes = cb_zone_alloc(ir->zone, (size_t)cap * sizeof *nodes);
    if (!nodes) return cb_fail(err, CUBED_E_NOMEM, "no memory for %d plan nodes", cap);
    if (ir->nnodes) memcpy(nodes, ir->nodes, (size_t)ir->nnodes * sizeof *nodes);
    ir->nodes = nodes;
    ir->cap = cap;
    return CUBED_OK;
}

cubed_status cb_ir_add(cb_ir *ir, const cb_node *node, int *index, cubed_error *err)
{
    if (ir->nnodes >= CB_MAX_NODES)
        return cb_fail(err, CUBED_E_BUDGET, "the plan has more than %d operations", CB_MAX_NODES);
    if (ir->nnodes == ir->cap) CB_TRY(cb_ir_reserve(ir, ir->cap ? 2 * ir->cap : 16, err));
    CB_TRY(cb_ir_set(ir, ir->nnodes, node, err));
    *index = ir->nnodes++;
    return CUBED_OK;
}

/* Inputs have lower numbers than the nodes that read them. */
void cb_ir_mark_inputs(const cb_ir *ir, bool *marked)
{
    for (int i = ir->nnodes - 1; i >= 0; i--) {
        for (int k = 0; marked[i] && k < ir->nodes[i].ninputs; k++)
            marked[ir->nodes[i].inputs[k]] = true;
    }
}

bool cb_ir_has_blocks(const cb_ir *ir)
{
    for (int i = 0; i < ir->nnodes; i++) {
        if (ir->nodes[i].block) return true;
    }
    return false;
}

bool cb_ir_same_call(const cb_ir *ir, int a, int b)
{
    const cb_node *x = &ir->nodes[a], *y = &ir->nodes[b];
    return x->block && y->block && x->ninputs == y->ninputs &&
           memcmp(x->inputs, y->inputs, (size_t)x->ninputs * sizeof *x->inputs) == 0 &&
           cb_blockwise_equal(x->block, y->block);
}

cubed_status cb_grid_check(const cb_grid *g, cubed_dtype dtype, cubed_error *err)
{
    if (g->ndim < 0 || g->ndim > CUBED_MAX_NDIM) return BAD("ndim is %d", g->ndim);
    int64_t shape[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM], n;
    for (int d = 0; d < g->ndim; d++) {
        const cb_axis *a = &g->axis[d];
        if (a->extent < 0 || a->extent > INT64_MAX / 4)
            return BAD("extent of axis %d is %" PRId64, d, a->extent);
        if (a->first < 1 || a->chunk < 1 || a->first > a->chunk || a->chunk > INT64_MAX / 4)
            return BAD("chunks of axis %d are %" PRId64 " and %" PRId64, d, a->first, a->chunk);
        if (a->starts && !cb_axis_is_sound(a))
            return BAD("chunks of axis %d, with lengths of their own, do not make it up", d);
        if (a->clipped && (a->starts || a->first != a->chunk))
            return BAD("chunks of axis %d are not regular, and the last one is clipped", d);
        shape[d] = a->extent;
        chunk[d] = a->chunk;
    }
    int64_t size = (int64_t)cubed_dtype_size(dtype);
    if (cb_count(g->ndim, shape, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return BAD("the array has more than 2**61 bytes");
    if (cb_count(g->ndim, chunk, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return BAD("a chunk has more than 2**61 bytes");
    return CUBED_OK;
}

bool cb_grid_same_shape(const cb_grid *a, const cb_grid *b)
{
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++) {
        if (a->axis[d].extent != b->axis[d].extent) return false;
    }
    return true;
}

cubed_status cb_kind_check_same_shape(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cb_grid *in = ir->nodes[n->inputs[0]].grid;
    return cb_grid_same_shape(in, n->grid) ? CUBED_OK : BAD("another shape");
}

cubed_status cb_ir_input_map(const cb_ir *ir, const cb_node *n, int input, const cb_map *map,
                             cb_map *out, cubed_error *err)
{
    const int ndim = ir->nodes[n->inputs[input]].grid->ndim;
    if (n->kind == CB_NODE_VIEW) return cb_map_compose(n->map, map, out, err);
    if (ndim == 0)
        *out = (cb_map){.ndim_in = map->ndim_in};
    else
        *out = n->block ? cb_map_identity(ndim) : *map;
    return CUBED_OK;
}

const cb_grid *cb_ir_reduced_grid(const cb_ir *ir, const cb_node *reduction)
{
    return reduction->reduce_grid ? reduction->reduce_grid : ir->nodes[reduction->inputs[0]].grid;
}

int cb_ir_below_copies(const cb_ir *ir, int node)
{
    while (ir->nodes[node].kind == CB_NODE_COPY && !ir->nodes[node].stored)
        node = ir->nodes[node].inputs[0];
    return node;
}

/* Checks the optimiser's decisions: which nodes are stored, and where. */
static cubed_status check_decisions(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (n->stored && cb_node_is_source(n)) return BAD("a stored source");
    if (n->stored != (n->why != CB_WHY_NOT)) return BAD("an array stored for no reason");
    if (n->is_target && (!n->stored || (!n->url && !n->to_memory))) return BAD("a target nowhere");
    bool asked = n->kind == CB_NODE_COPY && n->why == CB_WHY_BLOCK_INPUT;
    if (ir->is_graph && ((n->stored && !asked) || n->is_target || n->to_memory))
        return BAD("a decision in what nothing is decided of");
    if (!ir->is_graph && !n->stored && cb_node_stores_itself(n))
        return BAD("%s that is not stored", cb_kinds[n->kind]->name);
    return CUBED_OK;
}

static cubed_status check_types(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (cb_node_is(n, CB_KIND_MIXED)) return CUBED_OK;
    for (int k = 0; k < n->ninputs; k++) {
        if (ir->nodes[n->inputs[k]].dtype != n->dtype) return BAD("input %d has another type", k);
    }
    return CUBED_OK;
}

static cubed_status check_fields(const cb_node *n, cubed_error *err)
{
    cubed_dtype dtype;
    json_t *fields;
    if (!n->fields) return CUBED_OK;
    if (cb_record_parse("fields", n->fields, &fields, &dtype, err) != CUBED_OK)
        return BAD("a description of fields that is not valid");
    json_decref(fields);
    return dtype == n->dtype ? CUBED_OK : BAD("a description of other records");
}

static cubed_status check_node(const cb_ir *ir, int i, cubed_error *err)
{
    const cb_node *n = &ir->nodes[i];
    if ((unsigned)n->kind >= CB_NODE_KINDS) return BAD("kind number %d", (int)n->kind);
    const cb_kind *kind = cb_kinds[n->kind];
    if (!cubed_dtype_is_valid(n->dtype)) return BAD("type number %d", (int)n->dtype);
    CB_TRY(cb_grid_check(n->grid, n->dtype, err));
    for (int d = 0; d < n->grid->ndim; d++) {
        if (n->grid->axis[d].clipped && (n->kind != CB_NODE_COPY || !cb_node_is_intermediate(n)))
            return BAD("the last chunk of axis %d is clipped", d);
    }
    if (n->ninputs < kind->min_inputs || (kind->max_inputs >= 0 && n->ninputs > kind->max_inputs))
        return BAD("%d inputs", n->ninputs);
    for (int k = 0; k < n->ninputs; k++) {
        if (n->inputs[k] < 0 || n->inputs[k] >= i) return BAD("input number %d", n->inputs[k]);
        /* Reject a node that reads a region: its chunks have other numbers in the stored array than in the node. */
        const cb_node *in = &ir->nodes[n->inputs[k]];
        if (in->is_target && in->region) return BAD("a region of an array that is read again");
    }
    CB_TRY(check_decisions(ir, n, err));
    CB_TRY(check_types(ir, n, err));
    CB_TRY(check_fields(n, err));
    return kind->check(ir, n, err);
}

/* Checks that no chain of virtual nodes is deeper than CB_MAX_DEPTH + 2, including the node at the top of the chain. */
static cubed_status check_depth(const cb_ir *ir, cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(ir->zone);
    size_t size = (size_t)ir->nnodes * sizeof(int);
    int *depth = cb_alloc_zero(a, size), deepest = 0;
    if (!depth) return cb_fail(err, CUBED_E_NOMEM, "no memory to check a plan");
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        for (int k = 0; k < n->ninputs; k++) {
            int below = n->inputs[k];
            int d = ir->nodes[below].stored ? 0 : depth[below];
            if (d + 1 > depth[i]) depth[i] = d + 1;
        }
        if (depth[i] > deepest) deepest = depth[i];
    }
    cb_free(a, depth, size);
    if (deepest > CB_MAX_DEPTH + 2)
        return BAD("%d virtual nodes one above the other, at most %d are allowed", deepest,
                   CB_MAX_DEPTH + 2);
    return CUBED_OK;
}

cubed_status cb_ir_check(const cb_ir *ir, cubed_error *err)
{
    int64_t operands = 0;
    for (int i = 0; i < ir->nnodes; i++) {
        cubed_status st = check_node(ir, i, err);
        if (st != CUBED_OK) return cb_context(err, st, "plan node %d", i);
        const cb_blockwise *op = ir->nodes[i].block;
        if (op) operands += (int64_t)op->nin + op->nout;
    }
    if (operands > CB_MAX_OPERANDS)
        return cb_fail(err, CUBED_E_BUDGET,
                       "functions on blocks have %" PRId64
                       " inputs and outputs in all, expected at most %d in a plan",
                       operands, CB_MAX_OPERANDS);
    return ir->is_graph ? CUBED_OK : check_depth(ir, err);
}
