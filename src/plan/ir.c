#include "plan/ir.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "plan/reduction.h"

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

cubed_status cb_node_own(cb_zone *zone, cb_node *n, const cb_grid *const *known, int nknown,
                         cubed_error *err)
{
    const char **texts[] = {&n->url, &n->writes, &n->codecs, &n->attrs};
    const int ndim = n->grid.ndim;
    n->begins = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (*texts[i] && !copy_text(zone, texts[i])) return no_memory(err);
    }
    for (int d = 0; d < ndim; d++) {
        if (n->dim_names[d] && !copy_text(zone, &n->dim_names[d])) return no_memory(err);
    }
    if ((n->from && !copy_numbers(zone, &n->from, n->map->ndim_in)) ||
        (n->map && !(n->map = cb_map_own(zone, n->map))) ||
        (n->first_chunk && !copy_numbers(zone, &n->first_chunk, ndim)) ||
        (n->strides && !copy_numbers(zone, &n->strides, ndim)) ||
        (n->block && !(n->block = cb_blockwise_copy(zone, n->block))))
        return no_memory(err);
    if (n->reduce_grid) {
        cb_grid *copy = cb_zone_memdup(zone, n->reduce_grid, sizeof *copy);
        if (!copy) return no_memory(err);
        CB_TRY(cb_grid_own(zone, copy, known, nknown, err));
        n->reduce_grid = copy;
    }
    return cb_grid_own(zone, &n->grid, known, nknown, err);
}

/* Of a node that is not checked yet: sums may be nonsense, but there are as many as there are inputs. */
static bool find_begins(const cb_ir *ir, cb_node *n)
{
    int64_t *begins = cb_zone_alloc(ir->zone, ((size_t)n->ninputs + 1) * sizeof *begins);
    for (int i = 0; begins && i < n->ninputs; i++) {
        const cb_grid *in = &ir->nodes[n->inputs[i]].grid;
        const int64_t extent = n->axis >= 0 && n->axis < in->ndim ? in->axis[n->axis].extent : 0;
        if (cb_add_i64(begins[i], extent, &begins[i + 1])) begins[i + 1] = begins[i];
    }
    n->begins = begins;
    return begins != NULL;
}

cubed_status cb_ir_set(cb_ir *ir, int index, const cb_node *node, cubed_error *err)
{
    const cb_grid *few[16], **known = few;
    const cubed_allocator *a = cb_zone_allocator(ir->zone);
    const size_t bytes = (size_t)node->ninputs * sizeof *known;
    cb_node copy = *node;
    if (node->ninputs > (int)(sizeof few / sizeof *few)) known = cb_alloc(a, bytes);
    if (!known) return no_memory(err);
    for (int i = 0; i < node->ninputs; i++) known[i] = &ir->nodes[node->inputs[i]].grid;
    cubed_status st = cb_node_own(ir->zone, &copy, known, node->ninputs, err);
    if (known != few) cb_free(a, known, bytes);
    if (st != CUBED_OK) return st;
    if (node->ninputs) {
        copy.inputs = cb_zone_memdup(ir->zone, node->inputs, (size_t)node->ninputs * sizeof(int));
        if (!copy.inputs) return no_memory(err);
    }
    if (node->kind == CB_NODE_CONCAT && !find_begins(ir, &copy)) return no_memory(err);
    ir->nodes[index] = copy;
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

bool cb_ir_same_call(const cb_ir *ir, int a, int b)
{
    const cb_node *x = &ir->nodes[a], *y = &ir->nodes[b];
    return x->block && y->block && x->ninputs == y->ninputs &&
           memcmp(x->inputs, y->inputs, (size_t)x->ninputs * sizeof *x->inputs) == 0 &&
           cb_blockwise_equal(x->block, y->block);
}

#define BAD(...) cb_fail(err, CUBED_E_FORMAT, __VA_ARGS__)

static cubed_status check_grid(const cb_grid *g, cubed_dtype dtype, cubed_error *err)
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

static bool same_shape(const cb_grid *a, const cb_grid *b)
{
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++) {
        if (a->axis[d].extent != b->axis[d].extent) return false;
    }
    return true;
}

static cubed_status check_elem(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if ((unsigned)n->op >= CUBED_OP_COUNT) return BAD("operation number %d", (int)n->op);
    int arity = 0;
    cubed_op same;
    if (!cubed_op_parse(cubed_op_name(n->op), &same, &arity) || n->ninputs != arity)
        return BAD("%s has %d inputs", cubed_op_name(n->op), n->ninputs);
    cubed_dtype type = ir->nodes[n->inputs[arity - 1]].dtype;
    for (int i = 0; i < arity; i++) {
        const cb_node *in = &ir->nodes[n->inputs[i]];
        if (in->grid.ndim != 0 && !same_shape(&in->grid, &n->grid))
            return BAD("input %d of %s has another shape", i, cubed_op_name(n->op));
        cubed_dtype want = n->op == CUBED_OP_WHERE && i == 0 ? CUBED_BOOL : type;
        if (in->dtype != want)
            return BAD("input %d of %s has another type", i, cubed_op_name(n->op));
    }
    if (!cb_kernel_has_op(n->op, type))
        return BAD("%s is not for %s", cubed_op_name(n->op), cubed_dtype_name(type));
    if (n->dtype != cb_op_result(n->op, type))
        return BAD("%s of %s is not %s", cubed_op_name(n->op), cubed_dtype_name(type),
                   cubed_dtype_name(n->dtype));
    return CUBED_OK;
}

/* Of `ndim` axes of these extents. */
static cubed_status check_view(const cb_ir *ir, const cb_node *n, int ndim, const int64_t *shape,
                               cubed_error *err)
{
    const cb_grid *in = &ir->nodes[n->inputs[0]].grid;
    if (n->map->ndim_in != ndim || n->map->ndim_out != in->ndim)
        return BAD("the view maps %d to %d dimensions", n->map->ndim_in, n->map->ndim_out);
    uint64_t used = 0;
    for (int d = 0; d < in->ndim; d++) {
        int j = n->map->dim[d].axis;
        int64_t lo = n->map->dim[d].offset, stride = n->map->dim[d].stride, hi = lo;
        int64_t last = cb_max_i64(0, in->axis[d].extent - 1);
        if (j < -1 || j >= ndim) return BAD("axis %d of the view is %d", d, j);
        if (j >= 0) {
            if (used & (1ull << j)) return BAD("axis %d of the view is used twice", j);
            used |= 1ull << j;
            int64_t longest = cb_max_i64(1, last), steps = shape[j] - 1;
            if (stride == 0 || stride < -longest || stride > longest)
                return BAD("axis %d of the view goes by %" PRId64, d, stride);
            if (steps > 0 && (cb_mul_i64(stride, steps, &hi) || cb_add_i64(lo, hi, &hi)))
                return BAD("the view overflows");
        }
        bool none = j >= 0 && shape[j] == 0;
        if (lo < 0 || lo > last || hi < 0 || hi > last || (in->axis[d].extent == 0 && !none))
            return BAD("axis %d of the view leaves its source", d);
    }
    return CUBED_OK;
}

int cb_ir_below_copies(const cb_ir *ir, int node)
{
    while (ir->nodes[node].kind == CB_NODE_COPY && !ir->nodes[node].stored)
        node = ir->nodes[node].inputs[0];
    return node;
}

static cubed_status check_reshape(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cb_node *in = &ir->nodes[cb_ir_below_copies(ir, n->inputs[0])];
    int64_t shape[CUBED_MAX_NDIM], count, same;
    cb_node_shape(n, shape);
    if (!ir->is_graph && !cb_node_has_chunks(in) && (!in->stored || in->to_memory))
        return BAD("a reshape of what is not stored");
    for (int d = 0; d < n->map->ndim_in; d++) {
        if (n->from[d] < 0) return BAD("axis %d of a reshape has extent %" PRId64, d, n->from[d]);
    }
    if (cb_count(n->map->ndim_in, n->from, &count) || cb_count(n->grid.ndim, shape, &same) ||
        count != same)
        return BAD("a reshape to another number of elements");
    return check_view(ir, n, n->map->ndim_in, n->from, err);
}

static cubed_status check_concat(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (n->axis < 0 || n->axis >= n->grid.ndim) return BAD("concat along axis %d", n->axis);
    int64_t sum = 0;
    for (int i = 0; i < n->ninputs; i++) {
        const cb_grid *in = &ir->nodes[n->inputs[i]].grid;
        if (in->ndim != n->grid.ndim) return BAD("concat of different dimensions");
        for (int d = 0; d < in->ndim; d++) {
            if (d != n->axis && in->axis[d].extent != n->grid.axis[d].extent)
                return BAD("concat of different shapes");
        }
        sum += in->axis[n->axis].extent;
        if (sum > n->grid.axis[n->axis].extent) break;
    }
    if (sum != n->grid.axis[n->axis].extent) return BAD("concat of other extents");
    return CUBED_OK;
}

static cubed_status check_reduce(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cb_node *in = &ir->nodes[n->inputs[0]];
    if ((unsigned)n->reduction >= CB_REDUCTIONS || !cb_kernel_has_reduce(n->reduction, n->dtype) ||
        in->dtype != n->dtype)
        return BAD("reduction number %d of %s to %s", (int)n->reduction,
                   cubed_dtype_name(in->dtype), cubed_dtype_name(n->dtype));
    const cb_grid *from = n->kind == CB_NODE_MERGE ? n->reduce_grid : &in->grid;
    if (n->kind == CB_NODE_MERGE) CB_TRY(check_grid(from, n->dtype, err));
    if (from->ndim < CUBED_MAX_NDIM && n->reduced >> from->ndim) return BAD("reduced axes");
    if (n->reduced == 0) return BAD("no reduced axes");
    cb_grid want = n->kind == CB_NODE_REDUCE || n->kind == CB_NODE_MERGE
                       ? cb_reduce_kept_grid(from, n->reduced)
                       : cb_reduce_partial_grid(from, n->reduced, cb_reduce_planes(n->reduction));
    if (!same_shape(&want, &n->grid)) return BAD("the shape of a reduction");
    if (n->kind == CB_NODE_MERGE) {
        want = cb_reduce_partial_grid(from, n->reduced, cb_reduce_planes(n->reduction));
        if (in->kind != CB_NODE_PARTIAL || in->reduction != n->reduction ||
            !cb_grid_equal(&want, &in->grid))
            return BAD("a merge of something else than its states");
    }
    return CUBED_OK;
}

/* One dimension; the mask is cut as what it is for. */
static cubed_status check_compress(const cb_blockwise *op, cubed_error *err)
{
    const cb_block_operand *x = &op->in[0], *mask = &op->in[1], *offsets = &op->in[2];
    const cb_block_operand *out = &op->out[0];
    if (op->nout != 1 || x->blocks.ndim != 1 || out->blocks.ndim != 1 || x->dtype != out->dtype ||
        mask->dtype != CUBED_BOOL || !cb_grid_equal(&x->blocks, &mask->blocks) ||
        x->symbol[0] != 0 || mask->symbol[0] != 0 || out->symbol[0] != -1)
        return BAD("operands of other types or shapes");
    if (offsets->dtype != CUBED_INT64 || offsets->blocks.ndim != 1 || offsets->symbol[0] != -1 ||
        offsets->blocks.axis[0].extent != cb_axis_count(&x->blocks.axis[0]) + 1 ||
        cb_axis_count(&offsets->blocks.axis[0]) != 1)
        return BAD("offsets that are not of the mask's blocks");
    if (out->blocks.axis[0].extent > x->blocks.axis[0].extent)
        return BAD("more elements than there are");
    return CUBED_OK;
}

static cubed_status check_blockwise(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    const cb_blockwise *op = n->block;
    cubed_error why = CUBED_ERROR_INIT;
    cb_symbols symbols;
    if (!op || !op->function) return BAD("an operation on blocks without a function");
    if (!n->stored && !ir->is_graph) return BAD("an operation on blocks that is not stored");
    if (op->nin != n->ninputs) return BAD("%d inputs of %d", n->ninputs, op->nin);
    for (int i = 0; i < op->nin; i++) {
        const cb_node *in = &ir->nodes[n->inputs[i]];
        if (op->in[i].dtype != in->dtype || !cb_block_covers(&op->in[i], &in->grid))
            return BAD("input %d of %s is another array", i, op->function);
        if (n->kind == CB_NODE_COMPRESS && (cb_block_has_halo(&op->in[i]) || op->in[i].gather.most))
            return BAD("input %d with elements around its blocks, or gathered", i);
        CB_TRY(check_grid(&op->in[i].blocks, in->dtype, err));
    }
    if (op->nout < 1) return BAD("an operation on blocks without outputs");
    for (int i = 0; i < op->nout; i++) {
        const cb_block_operand *out = &op->out[i];
        if (!cubed_dtype_is_valid(out->dtype)) return BAD("type number %d", (int)out->dtype);
        if (cb_block_has_halo(out) || out->gather.most)
            return BAD("output %d with elements around its blocks, or gathered", i);
        CB_TRY(check_grid(&out->blocks, out->dtype, err));
        for (int d = 0; d < out->blocks.ndim; d++) {
            if (out->blocks.axis[d].first != out->blocks.axis[d].chunk)
                return BAD("the first chunk of output %d is another", i);
        }
    }
    if (n->output < 0 || n->output >= op->nout) return BAD("output number %d", n->output);
    if (op->out[n->output].dtype != n->dtype ||
        !cb_grid_equal(&op->out[n->output].blocks, &n->grid))
        return BAD("output %d of %s is another array", n->output, op->function);
    if (n->kind == CB_NODE_COMPRESS) return check_compress(op, err);
    if (cb_blockwise_symbols(op, &symbols, &why) != CUBED_OK)
        return BAD("%s: %s", op->function, why.message);
    return CUBED_OK;
}

/* What is stored, and where. */
static cubed_status check_decisions(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (n->stored && cb_node_is_source(n)) return BAD("a stored source");
    if (n->stored != (n->why != CB_WHY_NOT)) return BAD("an array stored for no reason");
    if (n->is_target && (!n->stored || (!n->url && !n->to_memory))) return BAD("a target nowhere");
    bool asked = n->kind == CB_NODE_COPY && n->why == CB_WHY_BLOCK_INPUT;
    if (ir->is_graph &&
        ((n->stored && !asked) || n->is_target || n->to_memory || n->kind == CB_NODE_PARTIAL))
        return BAD("a decision in what nothing is decided of");
    if (n->kind == CB_NODE_PARTIAL && !n->stored)
        return BAD("reduction states that are not stored");
    return CUBED_OK;
}

static cubed_status check_types(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    if (n->kind == CB_NODE_ELEM || n->kind == CB_NODE_CAST || n->block) return CUBED_OK;
    for (int k = 0; k < n->ninputs; k++) {
        if (ir->nodes[n->inputs[k]].dtype != n->dtype) return BAD("input %d has another type", k);
    }
    return CUBED_OK;
}

static cubed_status check_node(const cb_ir *ir, int i, cubed_error *err)
{
    const cb_node *n = &ir->nodes[i];
    static const struct {
        int8_t min, max;
    } inputs[CB_NODE_KINDS] = {
        [CB_NODE_ELEM] = {1, 3},       [CB_NODE_CAST] = {1, 1},     [CB_NODE_VIEW] = {1, 1},
        [CB_NODE_CONCAT] = {1, -1},    [CB_NODE_REDUCE] = {1, 1},   [CB_NODE_PARTIAL] = {1, 1},
        [CB_NODE_MERGE] = {1, 1},      [CB_NODE_COPY] = {1, 1},     [CB_NODE_SCAN] = {1, 1},
        [CB_NODE_BLOCKWISE] = {0, -1}, [CB_NODE_COMPRESS] = {3, 3}, [CB_NODE_RESHAPE] = {1, 1}};
    if ((unsigned)n->kind >= CB_NODE_KINDS) return BAD("kind number %d", (int)n->kind);
    if (!cubed_dtype_is_valid(n->dtype)) return BAD("type number %d", (int)n->dtype);
    CB_TRY(check_grid(&n->grid, n->dtype, err));
    for (int d = 0; d < n->grid.ndim; d++) {
        if (n->grid.axis[d].clipped && (n->kind != CB_NODE_COPY || !cb_node_is_intermediate(n)))
            return BAD("the last chunk of axis %d is clipped", d);
    }
    if (n->ninputs < inputs[n->kind].min ||
        (inputs[n->kind].max >= 0 && n->ninputs > inputs[n->kind].max))
        return BAD("%d inputs", n->ninputs);
    for (int k = 0; k < n->ninputs; k++) {
        if (n->inputs[k] < 0 || n->inputs[k] >= i) return BAD("input number %d", n->inputs[k]);
        /* Its chunks are other ones of the array. */
        const cb_node *in = &ir->nodes[n->inputs[k]];
        if (in->is_target && in->region) return BAD("a region of an array that is read again");
    }
    CB_TRY(check_decisions(ir, n, err));
    CB_TRY(check_types(ir, n, err));
    const cb_node *in = n->ninputs ? &ir->nodes[n->inputs[0]] : NULL;
    switch (n->kind) {
    case CB_NODE_ZARR: return n->url ? CUBED_OK : BAD("a source without a URL");
    case CB_NODE_READER: return n->source ? CUBED_OK : BAD("a source that nothing reads");
    case CB_NODE_MEMORY: return n->data || n->token ? CUBED_OK : BAD("a source without data");
    case CB_NODE_FULL:
        return cubed_dtype_kind(n->dtype) == CUBED_KIND_TEXT
                   ? BAD("a constant of type %d", (int)n->dtype)
                   : CUBED_OK;
    case CB_NODE_INDEX: return n->dtype == CUBED_INT64 ? CUBED_OK : BAD("an index type");
    case CB_NODE_BLOCKS:
        return n->dtype == CUBED_INT64 && cb_blocks_fit(&n->grid) ? CUBED_OK : BAD("a block index");
    case CB_NODE_ELEM: return check_elem(ir, n, err);
    case CB_NODE_CAST:
        if (in->dtype != n->dtype && !cb_kernel_has_cast(in->dtype, n->dtype))
            return BAD("a cast of %s to %s", cubed_dtype_name(in->dtype),
                       cubed_dtype_name(n->dtype));
        return same_shape(&in->grid, &n->grid) ? CUBED_OK : BAD("another shape");
    case CB_NODE_COPY: return same_shape(&in->grid, &n->grid) ? CUBED_OK : BAD("another shape");
    case CB_NODE_SCAN:
        if (!n->stored && !ir->is_graph) return BAD("a running total that is not stored");
        if (!cb_kernel_has_scan(n->reduction, n->dtype)) return BAD("a running total of its type");
        if (n->axis < 0 || n->axis >= n->grid.ndim) return BAD("axis %d", n->axis);
        return same_shape(&in->grid, &n->grid) ? CUBED_OK : BAD("another shape");
    case CB_NODE_VIEW: {
        int64_t shape[CUBED_MAX_NDIM];
        cb_node_shape(n, shape);
        return check_view(ir, n, n->grid.ndim, shape, err);
    }
    case CB_NODE_RESHAPE: return check_reshape(ir, n, err);
    case CB_NODE_CONCAT: return check_concat(ir, n, err);
    case CB_NODE_REDUCE:
    case CB_NODE_PARTIAL:
    case CB_NODE_MERGE: return check_reduce(ir, n, err);
    case CB_NODE_BLOCKWISE:
    case CB_NODE_COMPRESS: return check_blockwise(ir, n, err);
    case CB_NODE_KINDS: break;
    }
    return BAD("kind number %d", (int)n->kind);
}

/* Depth of the virtual nodes below and including each one. */
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
                   CB_MAX_DEPTH);
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
                       "functions on blocks have %" PRId64 " inputs and outputs in all, at most %d "
                       "are allowed in a plan",
                       operands, CB_MAX_OPERANDS);
    return ir->is_graph ? CUBED_OK : check_depth(ir, err);
}
