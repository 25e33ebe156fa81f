/* Compares plans of the same request whose sources have grown in between. Two plans are of the same request if their nodes are
 * equal apart from extents.
 *
 * For each kind of node, cb_kind.fix_axes marks the extents that affect the values of existing elements. If no marked extent has
 * changed, and no array has shrunk, both plans compute the same values at the positions that both have. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "plan/kinds/kind_rows.h"
#include "plan/plan.h"

/* How an extent may change. The numbers are serialised. */
enum { GROWS, GROWS_FROM_2, STAYS };

void cb_fix_no_axes(const cb_ir *ir, int node, cb_fixed_axes *fixed)
{
    (void)ir;
    (void)node;
    (void)fixed;
}

/* Marks the axes of a reduction whose states are kept. Blocks are numbered in C order of the reduced axes. So if the first
 * reduced axis grows, existing blocks and positions keep their numbers, and only groups from the last one on get elements. */
static void fix_axes_of_states(const cb_node *n, cb_fixed_axes *fixed)
{
    const uint32_t first = n->reduced ? 1u << __builtin_ctz(n->reduced) : 0;
    fixed[n->inputs[0]].exact |= n->reduced & ~first;
    fixed[n->inputs[0]].not_one |= ~n->reduced | first;
}

static void fix_axes(const cb_ir *ir, bool states, cb_fixed_axes *fixed)
{
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        if (states && n->kind == CB_NODE_REDUCE) {
            fix_axes_of_states(n, fixed);
            continue;
        }
        if (cb_kinds[n->kind]->fix_axes) {
            cb_kinds[n->kind]->fix_axes(ir, i, fixed);
            continue;
        }
        fixed[i].exact = UINT32_MAX;
        for (int k = 0; k < n->ninputs; k++) fixed[n->inputs[k]].exact = UINT32_MAX;
    }
}

static void put_axes(cb_buf *b, const cb_ir *ir, const cb_fixed_axes *fixed)
{
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_grid *g = ir->nodes[i].grid;
        for (int d = 0; d < g->ndim; d++) {
            cb_put_u(b, fixed[i].exact >> d & 1     ? STAYS
                        : fixed[i].not_one >> d & 1 ? GROWS_FROM_2
                                                    : GROWS);
            cb_put_u(b, (uint64_t)g->axis[d].extent);
        }
    }
}

/* Sets is_free[i] if the chunks of node i cannot affect results: the node is computed from constants alone, and other nodes read
 * only its elements. Such nodes may have chunks that depend on their extents. */
static void find_free_chunks(const cb_ir *ir, bool *is_free)
{
    const unsigned moves = CB_KIND_ELEMENTWISE | CB_KIND_PULLED;
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        bool all = n->ninputs > 0 && cb_node_is(n, moves);
        for (int k = 0; k < n->ninputs; k++) all = all && is_free[n->inputs[k]];
        is_free[i] = all || cb_node_is(n, CB_KIND_CONSTANT);
    }
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        if (n->is_target) is_free[i] = false;
        for (int k = 0; k < n->ninputs && !cb_node_is(n, moves); k++) is_free[n->inputs[k]] = false;
    }
}

static void put_chunks(cb_buf *b, const cb_ir *ir, const bool *is_free)
{
    for (int i = 0; i < ir->nnodes; i++) {
        cb_put_u(b, is_free[i]);
        if (!is_free[i]) cb_put_grid_chunks(b, ir->nodes[i].grid);
    }
}

/* Hashes a request without the extents of its arrays, and serialises the extents. `p` needs only nodes, places and targets.
 *
 * states  true if the states of all reductions are kept for updates
 * zone    owns out->axes */
static cubed_status note_growth(const cubed_plan *p, bool states, cb_zone *zone, cb_growth *out,
                                cubed_error *err)
{
    const cubed_allocator *a = &p->ctx->alloc;
    const size_t n = (size_t)p->ir.nnodes, size = n * sizeof(cb_fixed_axes);
    XXH128_canonical_t hash;
    cubed_status st;
    cb_buf bytes, axes;
    _Static_assert(sizeof hash == sizeof out->hash, "the bytes of a hash");
    cb_fixed_axes *fixed = cb_alloc_zero(a, size);
    bool *is_free = cb_alloc_zero(a, n * sizeof *is_free);
    cb_buf_init(&bytes, a);
    cb_buf_init(&axes, a);
    if (!fixed || !is_free) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: the axes of a plan"));
    fix_axes(&p->ir, states, fixed);
    put_axes(&axes, &p->ir, fixed);
    find_free_chunks(&p->ir, is_free);
    CB_GO(cb_plan_write(p, CB_PLAN_FOR_GROWTH, &bytes, err));
    put_chunks(&bytes, &p->ir, is_free);
    if (bytes.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: the axes of a plan"));
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data, bytes.size));
    if (axes.size > 0) out->axes = cb_zone_memdup(zone, axes.data, axes.size);
    if (axes.failed || (axes.size > 0 && !out->axes))
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: the axes of a plan"));
    memcpy(out->hash, hash.digest, sizeof hash.digest);
    out->size = axes.size;
out:
    cb_free(a, fixed, size);
    cb_free(a, is_free, n * sizeof *is_free);
    cb_buf_free(&bytes);
    cb_buf_free(&axes);
    return st;
}

/* Returns true if the plan has something to update: a target and a source that are both in stores. */
static bool has_stores(const cb_ir *ir)
{
    bool source = false, target = false;
    for (int i = 0; i < ir->nnodes; i++) {
        source = source || cb_node_has_chunks(&ir->nodes[i]);
        target = target || (ir->nodes[i].is_target && ir->nodes[i].url);
    }
    return source && target;
}

cubed_status cb_plan_note_growth(cubed_plan *p, cubed_error *err)
{
    p->growth = (cb_growth){.axes = NULL};
    return has_stores(&p->ir) ? note_growth(p, false, p->zone, &p->growth, err) : CUBED_OK;
}

/* Copies the nodes with wanted[i] to part->ir, and their places to part->storage. */
static cubed_status copy_part(const cubed_plan *p, const bool *wanted, cubed_plan *part,
                              cubed_error *err)
{
    const size_t n = (size_t)p->ir.nnodes;
    int *number = cb_zone_alloc(part->ir.zone, n * sizeof *number + 1);
    part->storage = cb_zone_alloc(part->ir.zone, n * sizeof(cb_storage *) + 1);
    if (!number || !part->storage) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_node node = p->ir.nodes[i];
        if (!wanted[i]) continue;
        node.inputs = cb_zone_memdup(part->ir.zone, node.inputs,
                                     (size_t)node.ninputs * sizeof(int) + (node.ninputs == 0));
        if (node.ninputs > 0 && !node.inputs)
            return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
        for (int k = 0; k < node.ninputs; k++) node.inputs[k] = number[node.inputs[k]];
        CB_TRY(cb_ir_add(&part->ir, &node, &number[i], err));
        part->storage[number[i]] = p->storage[i];
    }
    return CUBED_OK;
}

cubed_status cb_plan_note_states_growth(cubed_plan *p, const bool *keeps, cubed_error *err)
{
    const cubed_allocator *a = &p->ctx->alloc;
    const size_t n = (size_t)p->ir.nnodes;
    cubed_plan part = *p;
    cubed_status st;
    part.ir = (cb_ir){0};
    part.ntargets = 0;
    bool *wanted = cb_alloc(a, n * sizeof *wanted);
    if (!wanted) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    memcpy(wanted, keeps, n * sizeof *wanted);
    cb_ir_mark_inputs(&p->ir, wanted);
    CB_GO(cb_zone_new(a, &part.ir.zone, err));
    CB_GO(cb_ir_reserve(&part.ir, p->ir.nnodes, err));
    CB_GO(copy_part(p, wanted, &part, err));
    st = note_growth(&part, true, p->zone, &p->states_growth, err);
out:
    cb_zone_free(part.ir.zone);
    cb_free(a, wanted, n * sizeof *wanted);
    return st;
}

cb_grown cb_growth_compare(const void *before, size_t size, const cb_growth *now)
{
    cb_reader old = {.at = before, .end = (const uint8_t *)before + size};
    cb_reader new = {.at = now->axes, .end = (const uint8_t *)now->axes + now->size};
    cb_grown grown = CB_GROWN_SAME;
    while (new.at < new.end && !old.bad && !new.bad) {
        const uint64_t rule = cb_get_u(&new), was = cb_get_u(&old);
        const uint64_t to = cb_get_u(&new), from = cb_get_u(&old);
        if (rule != was) return CB_GROWN_UNKNOWN;
        if (to < from) return CB_GROWN_SHRUNK;
        if (to == from) continue;
        if (rule == STAYS || (rule == GROWS_FROM_2 && from < 2)) return CB_GROWN_FIXED;
        grown = CB_GROWN_LONGER;
    }
    return old.bad || new.bad || old.at < old.end ? CB_GROWN_UNKNOWN : grown;
}
