#include "plan/graph.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

cubed_status cb_check_shape(const char *what, int ndim, const int64_t *shape, cubed_dtype dtype,
                            cubed_error *err)
{
    if (ndim < 0 || ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_ARG, "%s: ndim is %d, expected 0 to %d", what, ndim,
                       CUBED_MAX_NDIM);
    for (int d = 0; d < ndim; d++) {
        if (shape[d] < 0)
            return cb_fail(err, CUBED_E_ARG, "%s: shape[%d] is %" PRId64 ", expected >= 0", what, d,
                           shape[d]);
    }
    int64_t n;
    if (cb_count(ndim, shape, &n) || cb_mul_i64(n, (int64_t)cubed_dtype_size(dtype), &n))
        return cb_fail(err, CUBED_E_ARG, "%s: the array has more than 2**63 bytes", what);
    return CUBED_OK;
}

void cb_auto_chunks(int ndim, const int64_t *shape, size_t item_size, int64_t target,
                    int64_t *chunks)
{
    int64_t left = cb_max_i64(1, target / (int64_t)item_size);
    for (int d = ndim - 1; d >= 0; d--) {
        chunks[d] = cb_max_i64(1, cb_min_i64(shape[d], left));
        left = cb_max_i64(1, left / chunks[d]);
    }
}

cb_node cb_graph_like(const cubed_array *x, cb_node_kind kind, cubed_dtype dtype)
{
    cb_node n = {.kind = kind,
                 .dtype = dtype,
                 .grid = x->node.grid,
                 .ninputs = 1,
                 .dim_names = x->node.dim_names,
                 .fields = dtype == x->node.dtype ? x->node.fields : NULL};
    return n;
}

/* If the node has records and no description of their fields, uses the description of an input of the same type. */
static cubed_status take_fields(cubed_array *x, cubed_error *err)
{
    const bool is_call = cb_node_is(&x->node, CB_KIND_CALL);
    const char *own = x->node.fields;
    if (cubed_dtype_family(x->node.dtype) != CUBED_RECORD)
        x->node.fields = own = NULL;
    else if (own)
        return CUBED_OK;
    for (int i = 0; i < x->node.ninputs; i++) {
        const char *other = x->in[i]->node.fields;
        if (x->in[i]->node.dtype != x->node.dtype || !other) continue;
        if (!own) own = other;
        if (strcmp(own, other) != 0 && !is_call)
            return cb_fail(err, CUBED_E_TYPE,
                           "records with the fields %.200s and records with the fields %.200s, "
                           "expected equal fields",
                           own, other);
    }
    x->node.fields = own;
    return CUBED_OK;
}

/* Copies the data that the node points to. Lists of an input are shared, because they live as long as x. */
static cubed_status own_node(cubed_array *x, cubed_error *err)
{
    const int n = x->node.ninputs;
    const size_t bytes = (size_t)n * sizeof(cb_grid *),
                 block_bytes = x->node.block ? (size_t)n * sizeof(cb_blockwise *) : 0;
    const cb_grid **grids = cb_alloc(&x->ctx->alloc, bytes);
    const cb_blockwise **blocks = cb_alloc(&x->ctx->alloc, block_bytes);
    cb_known known = {.grids = grids, .ngrids = n, .blocks = blocks};
    cubed_status st = CUBED_OK;
    if (grids && blocks) {
        for (int i = 0; i < n; i++) grids[i] = x->in[i]->node.grid;
        for (int i = 0; i < n && x->node.block; i++) blocks[known.nblocks++] = x->in[i]->node.block;
        st = cb_node_own(x->zone, &x->node, &known, err);
    } else {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for an array's inputs");
    }
    cb_free(&x->ctx->alloc, blocks, block_bytes);
    cb_free(&x->ctx->alloc, grids, bytes);
    return st;
}

cubed_status cb_graph_add(cubed_context *ctx, const cb_node *node, cubed_array *const *inputs,
                          cubed_array **out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cubed_array *x = cb_alloc_zero(&ctx->alloc, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory for an array");
    atomic_init(&x->refs, 1);
    x->ctx = cubed_context_ref(ctx);
    x->node = *node;
    x->node.ninputs = 0;
    x->node.inputs = NULL;
    x->node.origin = 0;
    x->node.array = NULL;
    for (int d = 0; d < node->grid->ndim; d++) {
        x->shape[d] = node->grid->axis[d].extent;
        x->chunks[d] = node->grid->axis[d].chunk;
    }
    CB_GO(cb_zone_new(&ctx->alloc, &x->zone, err));
    if (node->ninputs > 0) {
        x->in = cb_zone_alloc(x->zone, (size_t)node->ninputs * sizeof *x->in);
        if (!x->in) {
            st = cb_fail(err, CUBED_E_NOMEM, "no memory for an array's inputs");
            goto out;
        }
        for (int i = 0; i < node->ninputs; i++) x->in[i] = cubed_array_ref(inputs[i]);
        x->node.ninputs = node->ninputs;
    }
    CB_GO(take_fields(x, err));
    CB_GO(own_node(x, err));
    cb_graph_find_chunks_from(x);
    *out = x;
    x = NULL;
out:
    cubed_array_unref(x);
    return st;
}

cubed_status cb_graph_restore(cubed_context *ctx, const cb_node *node, cubed_array **made, int i,
                              cubed_error *err)
{
    cubed_array **inputs = NULL;
    cubed_status st = CUBED_OK;
    if (node->ninputs) {
        inputs = cb_alloc(&ctx->alloc, (size_t)node->ninputs * sizeof(cubed_array *));
        if (!inputs) return cb_fail(err, CUBED_E_NOMEM, "no memory for an array's inputs");
        for (int k = 0; k < node->ninputs; k++) inputs[k] = made[node->inputs[k]];
    }
    st = cb_graph_add(ctx, node, inputs, &made[i], err);
    cb_free(&ctx->alloc, inputs, (size_t)node->ninputs * sizeof(cubed_array *));
    const cb_kind *kind = cb_kinds[node->kind];
    if (st == CUBED_OK && kind->restore) st = kind->restore(made[i], node, err);
    return st;
}

cubed_array *cubed_array_ref(cubed_array *x)
{
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return x;
}

/* Frees long chains (a million operations) without recursion, with a list of dead nodes. */
void cubed_array_unref(cubed_array *x)
{
    if (!x || atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1) return;
    x->next_dead = NULL;
    while (x) {
        cubed_array *dead = x;
        x = dead->next_dead;
        for (int i = 0; i < dead->node.ninputs; i++) {
            cubed_array *in = dead->in[i];
            if (atomic_fetch_sub_explicit(&in->refs, 1, memory_order_acq_rel) == 1) {
                in->next_dead = x;
                x = in;
            }
        }
        cubed_context *ctx = dead->ctx;
        if (dead->release) dead->release(dead->owner);
        cb_zone_free(dead->zone);
        cb_free(&ctx->alloc, dead, sizeof *dead);
        cubed_context_unref(ctx);
    }
}

void cubed_array_set_owner(cubed_array *x, void (*release)(void *owner), void *owner)
{
    x->release = release;
    x->owner = owner;
}

void cubed_array_set_made(cubed_array *x)
{
    x->made_mem = cubed_dtype_size(x->node.dtype);
    for (int d = 0; d < x->node.grid->ndim; d++)
        x->made_mem = cb_sat_mul(x->made_mem, (size_t)x->shape[d]);
}

/* Sets the origin of the nodes that one call created. Such nodes are few levels deep; `levels` limits the depth in
 * deserialised arrays. Nodes with a nonzero origin have been visited. The origin must not be 0, because each node would then
 * be visited once for each path to it. */
static void set_origin(cubed_array *x, uint32_t origin, int levels)
{
    if (x->node.origin || levels == 0) return;
    x->node.origin = origin;
    for (int i = 0; i < x->node.ninputs; i++) set_origin(x->in[i], origin, levels - 1);
}

void cubed_array_set_origin(cubed_array *x, uint32_t origin)
{
    if (origin) set_origin(x, origin, 64);
}

const void *cubed_array_tag(const cubed_array *x) { return x->tag; }

/* Uses an explicit stack, because chains may be long. */
cubed_status cubed_array_retag(cubed_array *x, const void *to,
                               void (*visit)(void *ctx, const void *tag), void *ctx,
                               cubed_error *err)
{
    const cubed_allocator *a = &x->ctx->alloc;
    const void *from = x->tag;
    cubed_array *own[32], **stack = own;
    size_t n = 1, cap = sizeof own / sizeof *own;
    cubed_status st = CUBED_OK;
    if (from == to) return CUBED_OK;
    own[0] = x;
    x->tag = to;
    while (n > 0) {
        const cubed_array *now = stack[--n];
        for (int i = 0; i < now->node.ninputs; i++) {
            cubed_array *in = now->in[i];
            if (in->tag != from) {
                if (visit && in->tag != to) visit(ctx, in->tag);
                continue;
            }
            if (n == cap) {
                cubed_array **wider = cb_alloc(a, 2 * cap * sizeof *wider);
                if (!wider) {
                    st = cb_fail(err, CUBED_E_NOMEM, "no memory to inspect an array");
                    goto out;
                }
                memcpy(wider, stack, n * sizeof *wider);
                if (stack != own) cb_free(a, stack, cap * sizeof *stack);
                stack = wider;
                cap *= 2;
            }
            in->tag = to;
            stack[n++] = in;
        }
    }
out:
    if (stack != own) cb_free(a, stack, cap * sizeof *stack);
    return st;
}

cubed_context *cubed_array_context(const cubed_array *x) { return x->ctx; }
cubed_dtype cubed_array_dtype(const cubed_array *x) { return x->node.dtype; }
int cubed_array_ndim(const cubed_array *x) { return x->node.grid->ndim; }
const int64_t *cubed_array_shape(const cubed_array *x) { return x->shape; }
const int64_t *cubed_array_chunks(const cubed_array *x) { return x->chunks; }
int64_t cubed_array_num_chunks(const cubed_array *x, int dim)
{
    return cb_axis_count(&x->node.grid->axis[dim]);
}
int64_t cubed_array_chunk_length(const cubed_array *x, int dim, int64_t i)
{
    const cb_axis *axis = &x->node.grid->axis[dim];
    return cb_axis_hi(axis, i) - cb_axis_lo(axis, i);
}
bool cubed_array_is_irregular(const cubed_array *x, int dim)
{
    return x->node.grid->axis[dim].starts != NULL;
}
const char *cubed_array_dim_name(const cubed_array *x, int dim)
{
    return dim < 0 || dim >= x->node.grid->ndim ? NULL : x->node.dim_names[dim];
}
bool cubed_array_missing_value(const cubed_array *x, cubed_scalar *out)
{
    if (x->node.fill_is_missing) *out = x->node.fill;
    return x->node.fill_is_missing;
}

const char *cubed_array_fields(const cubed_array *x) { return x->node.fields; }

const char *cubed_array_attrs(const cubed_array *x) { return x->node.attrs ? x->node.attrs : "{}"; }
