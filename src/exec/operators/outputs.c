/* Allocates and writes the outputs of tasks. */
#include <string.h>

#include "base/error.h"
#include "exec/vm/frames.h"

bool cb_stage_is_single(const cb_stage *s)
{
    for (int d = 0; d < s->kept->ndim; d++) {
        if (cb_stage_step(s, d) != 1) return false;
    }
    return true;
}

/* --- Memory -------------------------------------------------------------------------------------------- */

/* Returns true if a task computes an output in a buffer for a whole chunk, instead of a dense tile over the task's box. */
static bool is_chunk(const cb_stage *s, int out)
{
    return s->outs[out].alias < 0 && cb_stage_is_single(s);
}

cubed_status cb_output_frame(const cb_frame *f, int out, void **data, cubed_error *err)
{
    const cb_stage *s = f->stage;
    const cb_node *n = &f->plan->ir.nodes[s->outs[out].node];
    size_t bytes = cubed_dtype_size(n->dtype);
    *data = NULL;
    if (n->to_memory || s->outs[out].alias >= 0) return CUBED_OK;
    if (is_chunk(s, out))
        return cb_arena_alloc(f->arena, cb_chunk_bytes(f->plan, s->outs[out].node), "output chunk",
                              data, err);
    for (int d = 0; d < f->box.ndim; d++)
        bytes = cb_sat_mul(bytes, (size_t)(f->box.hi[d] - f->box.lo[d]));
    return cb_arena_alloc(f->arena, bytes, "output tile", data, err);
}

cubed_status cb_outputs_frame(const cb_frame *f, cb_view **outs, cubed_error *err)
{
    void *p;
    CB_TRY(cb_arena_alloc(f->arena, (size_t)f->stage->nouts * sizeof **outs, "outputs", &p, err));
    *outs = p;
    for (int o = 0; o < f->stage->nouts; o++) {
        void *data;
        CB_TRY(cb_output_frame(f, o, &data, err));
        if (*outs) (*outs)[o].base = data;
    }
    return CUBED_OK;
}

/* Sets the strides of a view over the axes of the stage's outputs (the domain of cb_stage.tail), from strides over the node's
 * axes. */
static void to_domain(const cb_task *t, int out, const int64_t *node_strides, cb_view *view)
{
    const cb_node *n = &t->plan->ir.nodes[t->stage->outs[out].node];
    memset(view->stride, 0, sizeof view->stride);
    for (int d = 0; d < n->grid->ndim; d++) {
        int j = t->stage->outs[out].axis[d];
        if (j >= 0) view->stride[j] = node_strides[d];
    }
}

/* Creates a view of the output in a buffer for a whole chunk. Sets the chunk's part after the array's end to zero. */
static void open_chunk(const cb_task *t, int out, const cb_box *kept, cb_view *view)
{
    const cb_stage_out *o = &t->stage->outs[out];
    const cb_node *n = &t->plan->ir.nodes[o->node];
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM], idx[CUBED_MAX_NDIM];
    bool edge = false;
    for (int d = 0; d < n->grid->ndim; d++) {
        int j = o->axis[d];
        edge = edge || (j < 0 ? 1 : kept->hi[j] - kept->lo[j]) != n->grid->axis[d].chunk;
        idx[d] = j < 0 ? 0 : cb_axis_find(&n->grid->axis[d], kept->lo[j]);
    }
    if (edge) memset(view->base, 0, cb_chunk_bytes(t->plan, o->node));
    cb_grid_stored(n->grid, idx, extents);
    cb_dense_strides(n->grid->ndim, extents, cubed_dtype_size(n->dtype), strides);
    to_domain(t, out, strides, view);
}

void cb_output_open(const cb_task *t, int out, const cb_box *kept, void *state, cb_view *view)
{
    const cb_stage *s = t->stage;
    const cb_node *n = &t->plan->ir.nodes[s->outs[out].node];
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM];
    if (n->to_memory) {
        cb_node_shape(n, extents);
        cb_dense_strides(n->grid->ndim, extents, cubed_dtype_size(n->dtype), strides);
        to_domain(t, out, strides, view);
        view->base = n->result;
        for (int j = 0; j < kept->ndim; j++) view->base += kept->lo[j] * view->stride[j];
        return;
    }
    if (is_chunk(s, out)) {
        open_chunk(t, out, kept, view);
        return;
    }
    if (s->outs[out].alias >= 0) view->base = state;
    for (int j = 0; j < kept->ndim; j++) extents[j] = kept->hi[j] - kept->lo[j];
    cb_dense_strides(kept->ndim, extents, cubed_dtype_size(n->dtype), view->stride);
}

/* --- Writing ------------------------------------------------------------------------------------------- */

/* Returns true if each chunk of an output is copied to a staging chunk (a buffer for one whole chunk) before it is written. */
static bool is_staged(const cubed_plan *p, const cb_stage *s, int out)
{
    const cb_node *n = &p->ir.nodes[s->outs[out].node];
    if (n->to_memory || is_chunk(s, out)) return false;
    if (!cb_stage_is_single(s)) return true;
    for (int d = 0; d < n->grid->ndim; d++) {
        const cb_axis *a = &n->grid->axis[d];
        if (a->starts || a->first != a->chunk || a->extent % a->chunk != 0) return true;
    }
    return false;
}

/* Allocates a staging chunk if is_staged() is true, and measures the memory of writing. */
static cubed_status writing_frame(const cubed_plan *p, const cb_stage *s, int out, cb_arena *arena,
                                  void **staging, cubed_error *err)
{
    const int node = s->outs[out].node;
    *staging = NULL;
    if (is_staged(p, s, out))
        CB_TRY(cb_arena_alloc(arena, cb_chunk_bytes(p, node), "staging chunk", staging, err));
    if (cb_arena_measures(arena)) cb_arena_may_take(arena, cb_write_need(p, node));
    return CUBED_OK;
}

cubed_status cb_writings_frame(const cb_frame *f, cubed_error *err)
{
    for (int o = 0; o < f->stage->nouts; o++) {
        size_t mark = cb_arena_mark(f->arena);
        void *staging;
        CB_TRY(writing_frame(f->plan, f->stage, o, f->arena, &staging, err));
        cb_arena_release(f->arena, mark);
    }
    return CUBED_OK;
}

void cb_chunk_stage(const cubed_plan *p, int node, const int64_t *idx, const void *from,
                    const int64_t *lo, const int64_t *stride, void *to)
{
    const cb_node *n = &p->ir.nodes[node];
    const size_t size = cubed_dtype_size(n->dtype), bytes = cb_chunk_bytes(p, node);
    int64_t extents[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM];
    cb_box box;
    cb_grid_box(n->grid, idx, &box);
    cb_grid_stored(n->grid, idx, extents);
    cb_dense_strides(n->grid->ndim, extents, size, strides);
    if ((size_t)cb_box_count(&box) * size != bytes) memset(to, 0, bytes);
    cb_box_copy(&box, size, to, box.lo, strides, from, lo, stride);
}

/* Copies the elements of one output chunk from a view to the staging chunk. */
static void stage_chunk(const cb_task *t, int out, const int64_t *idx, const cb_box *kept,
                        const cb_view *view, void *to)
{
    const cb_stage_out *o = &t->stage->outs[out];
    int64_t lo[CUBED_MAX_NDIM] = {0}, stride[CUBED_MAX_NDIM] = {0};
    for (int d = 0; d < t->plan->ir.nodes[o->node].grid->ndim; d++) {
        if (o->axis[d] < 0) continue;
        lo[d] = kept->lo[o->axis[d]];
        stride[d] = view->stride[o->axis[d]];
    }
    cb_chunk_stage(t->plan, o->node, idx, view->base, lo, stride, to);
}

cubed_status cb_output_write(const cb_task *t, int out, const cb_box *kept, const cb_view *view,
                             const cb_box *chunks, cubed_error *err)
{
    const int node = t->stage->outs[out].node;
    int64_t idx[CUBED_MAX_NDIM];
    /* Results in the caller's memory were computed in place. */
    if (t->plan->ir.nodes[node].to_memory) return CUBED_OK;
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        size_t mark = cb_arena_mark(t->arena);
        void *staging;
        CB_TRY(writing_frame(t->plan, t->stage, out, t->arena, &staging, err));
        void *place = staging ? cb_chunks_place(t->chunks, node, idx) : NULL;
        if (place) staging = place;
        if (staging) stage_chunk(t, out, idx, kept, view, staging);
        CB_TRY(cb_chunks_put(t->chunks, node, idx, staging ? staging : view->base, t->arena,
                             t->count, err));
        cb_arena_release(t->arena, mark);
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

typedef struct writer {
    const cb_task *t;
    const cb_box *kept;
    const cb_view *outs;
} writer;

static cubed_status write_one(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    const writer *w = ctx;
    int o = 0;
    while (w->t->stage->outs[o].node != node) o++;
    return cb_output_write(w->t, o, w->kept, &w->outs[o], chunks, err);
}

cubed_status cb_outputs_write(const cb_task *t, const cb_box *kept, const cb_view *outs,
                              const cb_box *chunks, cubed_error *err)
{
    writer w = {t, kept, outs};
    return cb_stage_box_writes(t->plan, t->stage, chunks, write_one, &w, err);
}
