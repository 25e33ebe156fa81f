#include "exec/task.h"

#include <string.h>

#include "base/error.h"
#include "exec/block_run.h"
#include "exec/copy_run.h"
#include "exec/reduce_run.h"
#include "exec/resume.h"
#include "exec/vm.h"
#include "plan/reduction.h"

/* One output of a task: where its elements go. */
typedef struct output {
    cb_view view; /* over the task's kept box */
} output;

/* Results this large in the caller's memory are written past the caches. */
#define STREAM_BYTES ((size_t)8 << 20)

/* Whether the largest chunk has more elements. */
static bool at_edge(const cb_task *t, int out, const cb_box *kept)
{
    const cb_node *n = &t->plan->ir.nodes[t->stage->outs[out].node];
    for (int d = 0; d < n->grid.ndim; d++) {
        int j = t->stage->outs[out].axis[d];
        int64_t have = j < 0 ? 1 : kept->hi[j] - kept->lo[j];
        if (have != n->grid.axis[d].chunk) return true;
    }
    return false;
}

/* The chunk that the box is, or is the first of. */
static void chunk_of(const cb_task *t, int out, const cb_box *kept, int64_t *idx)
{
    const cb_stage_out *o = &t->stage->outs[out];
    const cb_grid *g = &t->plan->ir.nodes[o->node].grid;
    for (int d = 0; d < g->ndim; d++)
        idx[d] = o->axis[d] < 0 ? 0 : cb_axis_find(&g->axis[d], kept->lo[o->axis[d]]);
}

/* Strides of the node's axes turned into strides of the tail's domain. */
static void to_domain(const cb_task *t, int out, const int64_t *node_strides, cb_view *view)
{
    const cb_node *n = &t->plan->ir.nodes[t->stage->outs[out].node];
    memset(view->stride, 0, sizeof view->stride);
    for (int d = 0; d < n->grid.ndim; d++) {
        int j = t->stage->outs[out].axis[d];
        if (j >= 0) view->stride[j] = node_strides[d];
    }
}

static cubed_status make_output(const cb_task *t, int o, const cb_box *kept,
                                const cb_state *reductions, output *out, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_node *n = &t->plan->ir.nodes[s->outs[o].node];
    size_t size = cubed_dtype_size(n->dtype);
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    void *p;
    for (int j = 0; j < kept->ndim; j++) extents[j] = kept->hi[j] - kept->lo[j];
    if (n->to_memory) {
        cb_node_shape(n, extents);
        cb_dense_strides(n->grid.ndim, extents, size, strides);
        to_domain(t, o, strides, &out->view);
        out->view.base = n->result;
        for (int j = 0; j < kept->ndim; j++) out->view.base += kept->lo[j] * out->view.stride[j];
        return CUBED_OK;
    }
    if (s->outs[o].alias >= 0) {
        out->view.base = reductions[s->outs[o].alias].plane[0];
        cb_dense_strides(kept->ndim, extents, size, out->view.stride);
        return CUBED_OK;
    }
    if (!cb_out_is_chunk(s, o)) {
        CB_TRY(cb_arena_alloc(t->arena, (size_t)cb_box_count(kept) * size, "output tile", &p, err));
        out->view.base = p;
        cb_dense_strides(kept->ndim, extents, size, out->view.stride);
        return CUBED_OK;
    }
    size_t bytes = cb_chunk_bytes(t->plan, s->outs[o].node);
    CB_TRY(cb_arena_alloc(t->arena, bytes, "output chunk", &p, err));
    if (at_edge(t, o, kept)) memset(p, 0, bytes);
    chunk_of(t, o, kept, idx);
    cb_grid_stored(&n->grid, idx, extents);
    cb_dense_strides(n->grid.ndim, extents, size, strides);
    to_domain(t, o, strides, &out->view);
    out->view.base = p;
    return CUBED_OK;
}

/* A view over the box `all`, of the part of it. */
static cb_view view_of_part(const cb_view *v, const cb_box *all, const cb_box *part)
{
    cb_view out = *v;
    for (int j = 0; j < all->ndim; j++) out.base += (part->lo[j] - all->lo[j]) * v->stride[j];
    return out;
}

/* The states of a reduction, which are dense over the task's kept box. */
static cb_view view_of_states(const cb_stage_reduction *reduction, const cb_state *state,
                              const cb_box *kept, const cb_box *part)
{
    cb_view all = {.base = state->plane[0]};
    int64_t extents[CUBED_MAX_NDIM];
    for (int j = 0; j < kept->ndim; j++) extents[j] = kept->hi[j] - kept->lo[j];
    cb_dense_strides(kept->ndim, extents, cubed_dtype_size(reduction->dtype), all.stride);
    return view_of_part(&all, kept, part);
}

static cubed_status run_copy(const cb_task *t, const cb_branch *b, const cb_box *part,
                             const cb_view *view, cubed_error *err)
{
    const cb_load *l = &b->loads[b->results[0]];
    size_t mark = cb_arena_mark(t->arena);
    void *chunk = view->base;
    if (cb_copy_in_place(t->plan, t->stage)) {
        int64_t idx[CUBED_MAX_NDIM];
        const cb_grid *g = &t->plan->ir.nodes[l->node].grid;
        cb_pinned held;
        const cb_want want = {.node = l->node, .idx = idx, .buffer = chunk};
        for (int d = 0; d < g->ndim; d++) idx[d] = cb_axis_find(&g->axis[d], part->lo[d]);
        CB_TRY(cb_chunks_want(t->chunks, &want, t->arena, &held, t->count, err));
        if (held.data != chunk) memcpy(chunk, held.data, cb_chunk_bytes(t->plan, l->node));
        return CUBED_OK;
    }
    int64_t extents[CUBED_MAX_NDIM];
    for (int d = 0; d < part->ndim; d++) extents[d] = part->hi[d] - part->lo[d];
    CB_TRY(cb_arena_alloc(t->arena, cb_load_bytes(t->plan, l, extents), "chunk", &chunk, err));
    CB_TRY(cb_load_gather(t, l, part, view, chunk, err));
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}

static cubed_status run_tail(const cb_task *t, const cb_box *kept, const cb_state *reductions,
                             const output *outs, cubed_error *err)
{
    const cb_program *prog = &t->stage->tail;
    void *p;
    CB_TRY(cb_arena_alloc(t->arena, (size_t)t->stage->nouts * sizeof(cb_view), "views", &p, err));
    cb_view *views = p;
    CB_TRY(cb_arena_alloc(t->arena, (size_t)t->stage->nreductions * sizeof(cb_view), "reductions",
                          &p, err));
    cb_view *states = p;
    size_t bytes = 0;
    bool to_caller = true;
    for (int o = 0; o < t->stage->nouts; o++) {
        const cb_node *n = &t->plan->ir.nodes[t->stage->outs[o].node];
        to_caller = to_caller && n->to_memory;
        bytes += (size_t)cb_box_count(kept) * cubed_dtype_size(n->dtype);
    }
    /* Whole arrays, not tasks: small tasks of a large result pollute the cache as much. */
    bool stream = to_caller && bytes * (size_t)t->stage->ntasks >= STREAM_BYTES;
    int i, last;
    for (cb_program_branches(prog, kept, &i, &last); i < last; i++) {
        cb_box part;
        cb_branch_part(&prog->branches[i], kept, &part);
        if (cb_box_empty(&part)) continue;
        CB_TRY(cb_task_check(t, err));
        for (int o = 0; o < t->stage->nouts; o++)
            views[o] = view_of_part(&outs[o].view, kept, &part);
        for (int k = 0; k < t->stage->nreductions; k++)
            states[k] = view_of_states(&t->stage->reductions[k], &reductions[k], kept, &part);
        if (t->stage->copy) {
            CB_TRY(run_copy(t, &prog->branches[i], &part, &views[0], err));
            continue;
        }
        size_t mark = cb_arena_mark(t->arena);
        cb_vm *vm;
        CB_TRY(cb_vm_open(t, prog, &prog->branches[i], &part, states, views, -1, &vm, err));
        CB_TRY(cb_vm_store(vm, stream, err));
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
}

/* Writes the chunks of one output that the task made. */
static cubed_status write_chunks(const cb_task *t, int o, const cb_box *kept, const cb_view *view,
                                 const cb_box *chunks, cubed_error *err)
{
    int node = t->stage->outs[o].node;
    const cb_node *n = &t->plan->ir.nodes[node];
    size_t size = cubed_dtype_size(n->dtype), bytes = cb_chunk_bytes(t->plan, node);
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    memcpy(idx, chunks->lo, sizeof idx);
    bool staging = cb_out_needs_staging(t->plan, t->stage, o);
    do {
        size_t mark = cb_arena_mark(t->arena);
        const void *whole = view->base;
        if (staging) {
            cb_box box;
            int64_t shape[CUBED_MAX_NDIM], from_strides[CUBED_MAX_NDIM], used = 1;
            const char *from = view->base;
            void *p;
            cb_grid_box(&n->grid, idx, &box);
            cb_grid_stored(&n->grid, idx, extents);
            cb_dense_strides(n->grid.ndim, extents, size, strides);
            CB_TRY(cb_arena_alloc(t->arena, bytes, "staging chunk", &p, err));
            for (int d = 0; d < n->grid.ndim; d++) {
                int j = t->stage->outs[o].axis[d];
                shape[d] = box.hi[d] - box.lo[d];
                used *= shape[d];
                from_strides[d] = j < 0 ? 0 : view->stride[j];
                if (j >= 0) from += (box.lo[d] - kept->lo[j]) * view->stride[j];
            }
            if ((size_t)used * size != bytes) memset(p, 0, bytes);
            cb_copy_box(n->grid.ndim, shape, size, p, strides, from, from_strides);
            whole = p;
        }
        CB_TRY(cb_chunks_put(t->chunks, node, idx, whole, t->arena, t->count, err));
        cb_arena_release(t->arena, mark);
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* PARTIAL: the planes of each reduction make one chunk. */
static cubed_status write_states(const cb_task *t, const cb_box *task_box, const cb_box *kept,
                                 const cb_state *reductions, cubed_error *err)
{
    for (int o = 0; o < t->stage->nouts; o++) {
        int node = t->stage->outs[o].node, k = 0;
        const cb_node *n = &t->plan->ir.nodes[node];
        while (t->stage->reductions[k].node != node) k++;
        size_t size = cubed_dtype_size(n->dtype), bytes = cb_chunk_bytes(t->plan, node);
        size_t mark = cb_arena_mark(t->arena);
        int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
        int64_t idx[CUBED_MAX_NDIM];
        void *p;
        CB_TRY(cb_arena_alloc(t->arena, bytes, "staging chunk", &p, err));
        memset(p, 0, bytes);
        idx[0] = task_box->lo[0];
        idx[1] = 0;
        for (int d = 0; d < kept->ndim; d++)
            idx[d + 2] = cb_axis_find(&n->grid.axis[d + 2], kept->lo[d]);
        cb_grid_stored(&n->grid, idx, extents);
        cb_dense_strides(n->grid.ndim, extents, size, strides);
        for (int d = 0; d < kept->ndim; d++) extents[d] = kept->hi[d] - kept->lo[d];
        cb_dense_strides(kept->ndim, extents, size, dense);
        for (int i = 0; i < t->stage->reductions[k].nplanes; i++)
            cb_copy_box(kept->ndim, extents, size, (char *)p + i * strides[1], strides + 2,
                        reductions[k].plane[i], dense);
        CB_TRY(cb_chunks_put(t->chunks, node, idx, p, t->arena, t->count, err));
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
}

typedef struct write_ctx {
    const cb_task *t;
    const cb_box *kept;
    const output *outs;
    int next;
} write_ctx;

/* cb_stage_task_writes gives the outputs in order. */
static cubed_status write_one(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    write_ctx *w = ctx;
    int o = w->next++;
    if (w->t->plan->ir.nodes[node].to_memory) return CUBED_OK; /* is in place */
    return write_chunks(w->t, o, w->kept, &w->outs[o].view, chunks, err);
}

/* The chunks of a column one after another, each from the totals of those before it. */
static cubed_status run_scan(const cb_task *t, int64_t task, const cb_box *box, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_node *n = &t->plan->ir.nodes[s->outs[0].node];
    const cb_axis *axis = &s->kept.axis[s->scan_axis];
    int64_t shape[CUBED_MAX_NDIM], count = 1;
    cb_box chunks, kept = *box;
    void *carry;
    CB_TRY(cb_arena_alloc(t->arena, cb_scan_carry_bytes(t->plan, s, box), "carried totals", &carry,
                          err));
    for (int d = 0; d < box->ndim; d++) {
        shape[d] = box->hi[d] - box->lo[d];
        if (d != s->scan_axis) count *= shape[d];
    }
    cb_scan_start(n->reduction, n->dtype, carry, count);
    cb_stage_task_chunks(s, task, &chunks);
    for (int64_t i = 0; i < cb_axis_count(axis); i++) {
        output out;
        size_t mark = cb_arena_mark(t->arena);
        kept.lo[s->scan_axis] = cb_axis_lo(axis, i);
        kept.hi[s->scan_axis] = cb_axis_hi(axis, i);
        chunks.lo[s->scan_axis] = i;
        chunks.hi[s->scan_axis] = i + 1;
        shape[s->scan_axis] = kept.hi[s->scan_axis] - kept.lo[s->scan_axis];
        CB_TRY(make_output(t, 0, &kept, NULL, &out, err));
        size_t inner = cb_arena_mark(t->arena);
        CB_TRY(run_tail(t, &kept, NULL, &out, err));
        cb_arena_release(t->arena, inner);
        cb_scan_box(t->kernels, n->reduction, n->dtype, kept.ndim, shape, s->scan_axis,
                    out.view.base, out.view.stride, carry);
        if (!n->to_memory) CB_TRY(write_chunks(t, 0, &kept, &out.view, &chunks, err));
        cb_arena_release(t->arena, mark);
    }
    return CUBED_OK;
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    cb_box box, kept, chunks;
    void *p;
    if (s->call) return cb_block_task(t, task, err);
    cb_stage_task_chunks(s, task, &chunks);
    if (s->scatter) return cb_copy_task(t, &chunks, err);
    if (!s->scan) CB_TRY(cb_task_skip_present(t, &chunks, err));
    cb_stage_elements(s, &chunks, &box);
    if (s->scan) return run_scan(t, task, &box, err);
    kept = box;
    if (s->partial) { /* without the groups */
        kept.ndim--;
        memmove(kept.lo, kept.lo + 1, sizeof kept.lo - sizeof *kept.lo);
        memmove(kept.hi, kept.hi + 1, sizeof kept.hi - sizeof *kept.hi);
    }
    CB_TRY(cb_arena_alloc(t->arena, (size_t)s->nreductions * sizeof(cb_state), "states", &p, err));
    cb_state *reductions = p;
    for (int k = 0; k < s->nreductions; k++) {
        for (int i = 0; i < s->reductions[k].nplanes; i++) {
            CB_TRY(cb_arena_alloc(
                t->arena, (size_t)cb_box_count(&kept) * cubed_dtype_size(s->reductions[k].dtype),
                "reduction state", &p, err));
            reductions[k].plane[i] = p;
        }
    }
    if (s->nreductions) CB_TRY(cb_reduce_task(t, &box, &kept, reductions, err));
    if (s->partial) return write_states(t, &box, &kept, reductions, err);

    CB_TRY(cb_arena_alloc(t->arena, (size_t)s->nouts * sizeof(output), "outputs", &p, err));
    output *outs = p;
    for (int o = 0; o < s->nouts; o++) CB_TRY(make_output(t, o, &kept, reductions, &outs[o], err));
    size_t mark = cb_arena_mark(t->arena);
    CB_TRY(run_tail(t, &kept, reductions, outs, err));
    cb_arena_release(t->arena, mark);
    write_ctx w = {t, &kept, outs, 0};
    return cb_stage_box_writes(t->plan, s, &chunks, write_one, &w, err);
}

cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err)
{
    size_t mark = cb_arena_mark(t->arena);
    cubed_status st = run(t, task, err);
    cb_arena_release(t->arena, mark);
    if (st == CUBED_OK || st == CUBED_E_CANCELLED) return st;
    return cb_context(err, st, "stage %d (%s), task %lld", t->stage->index, t->stage->name,
                      (long long)task);
}
