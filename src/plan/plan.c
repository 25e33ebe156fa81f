#include "plan/plan.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "mem/pages.h"
#include "plan/storage.h"

cubed_status cb_plan_alloc(cubed_context *ctx, cubed_plan **out, cubed_error *err)
{
    cubed_plan *p = cb_alloc_zero(&ctx->alloc, sizeof *p);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    cubed_status st = cb_zone_new(&ctx->alloc, &p->zone, err);
    if (st == CUBED_OK) st = cb_zone_new(&ctx->alloc, &p->ir.zone, err);
    if (st != CUBED_OK) {
        cb_zone_free(p->zone);
        cb_free(&ctx->alloc, p, sizeof *p);
        return st;
    }
    atomic_init(&p->refs, 1);
    p->ctx = cubed_context_ref(ctx);
    *out = p;
    return CUBED_OK;
}

cubed_plan *cubed_plan_ref(cubed_plan *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void cubed_plan_unref(cubed_plan *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    void (*close_opened)(cubed_plan *) = atomic_load(&p->worker.close_opened);
    if (close_opened) close_opened(p);
    cb_plan_close_storage(p);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_source *s = p->ir.nodes[i].source;
        if (s && s->opened) s->fn->close(s->handle);
    }
    for (int i = 0; i < p->nowned; i++) cubed_array_unref(p->owned[i]);
    for (int i = 0; p->maps_sources && i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        size_t size;
        if (cb_plan_is_shared(n, &size) && n->data) munmap((void *)(uintptr_t)n->data, size);
    }
    cubed_context *ctx = p->ctx;
    cb_zone_free(p->ir.zone);
    cb_zone_free(p->zone);
    cb_free(&ctx->alloc, p, sizeof *p);
    cubed_context_unref(ctx);
}

/* --- Memory of the caller ---------------------------------------------------------------------------- */

bool cb_plan_is_shared(const cb_node *n, size_t *size)
{
    int64_t shape[CUBED_MAX_NDIM], count = 0;
    if (n->kind != CB_NODE_MEMORY) return false;
    cb_node_shape(n, shape);
    /* cb_ir_check rejects nodes whose size in bytes overflows */
    if (cb_count(n->grid->ndim, shape, &count)) count = 0;
    *size = (size_t)count * cubed_dtype_size(n->dtype);
    return *size > CB_PLAN_EMBED_BYTES;
}

bool cb_plan_keeps_states(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->is_target && cb_node_leaves_states(n);
}

bool cb_plan_memory_result(const cubed_plan *p, int target, size_t *size)
{
    const cb_node *n = &p->ir.nodes[p->targets[target]];
    int64_t shape[CUBED_MAX_NDIM], count = 0;
    if (!n->to_memory) return false;
    cb_node_shape(n, shape);
    /* cb_ir_check rejects nodes whose size in bytes overflows */
    if (cb_count(n->grid->ndim, shape, &count)) count = 0;
    *size = (size_t)count * cubed_dtype_size(n->dtype);
    return true;
}

/* Sets the range of bytes of a source in memory; strides may be negative. */
static void memory_range(const cb_node *n, uintptr_t *from, uintptr_t *to)
{
    *from = *to = (uintptr_t)n->data;
    for (int d = 0; d < n->grid->ndim; d++) {
        const int64_t extent = n->grid->axis[d].extent;
        if (extent == 0) {
            *from = *to = (uintptr_t)n->data;
            return;
        }
        const int64_t reach = (extent - 1) * n->strides[d];
        if (reach < 0)
            *from -= (uintptr_t)-reach;
        else
            *to += (uintptr_t)reach;
    }
    *to += cubed_dtype_size(n->dtype);
}

/* Returns true if the plan reads any of the `size` bytes at `data`, to which a result is to be written. */
static bool reads_memory(const cubed_plan *p, const void *data, size_t size)
{
    const uintptr_t first = (uintptr_t)data;
    for (int i = 0; i < p->ir.nnodes; i++) {
        uintptr_t from, to;
        if (p->ir.nodes[i].kind != CB_NODE_MEMORY) continue;
        memory_range(&p->ir.nodes[i], &from, &to);
        if (from < first + size && first < to) return true;
    }
    return false;
}

cubed_status cubed_plan_bind_result(cubed_plan *p, int target, void *data, size_t size,
                                    cubed_error *err)
{
    size_t expected;
    if (target < 0 || target >= p->ntargets || !cb_plan_memory_result(p, target, &expected))
        return cb_fail(err, CUBED_E_ARG, "result %d of the plan is not in memory", target);
    if (size != expected)
        return cb_fail(err, CUBED_E_ARG, "result %d has %zu bytes, got a buffer of %zu", target,
                       expected, size);
    if (reads_memory(p, data, size))
        return cb_fail(err, CUBED_E_ARG,
                       "result %d overlaps memory that the plan reads, expected separate memory",
                       target);
    p->ir.nodes[p->targets[target]].result = data;
    return CUBED_OK;
}
