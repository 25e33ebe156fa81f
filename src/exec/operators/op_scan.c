/* Operator for scans, such as running sums along an axis. The output chunks of a task are a column along this axis. The task
 * computes them in order, each from the running values at the end of the previous chunk. */
#include "base/error.h"
#include "exec/vm/frames.h"
#include "plan/reduction.h"

static cubed_status compile(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[s->outs[0].node];
    if (s->nouts > 1)
        return cb_fail(err, CUBED_E_FORMAT,
                       "several running totals share a stage, expected one per stage");
    CB_TRY(cb_stage_set_domain(&p->ir, s, err));
    s->column = n->axis;
    for (int d = 0; d < s->kept->ndim; d++) s->task_chunks[d] = 1;
    s->task_chunks[n->axis] = cb_max_i64(1, cb_axis_count(&s->kept->axis[n->axis]));
    CB_TRY(cb_stage_set_tasks(s, err));
    return cb_stage_lower_tail(p, s, scratch, err);
}

static cubed_status visit(const cubed_plan *p, const cb_stage *s, const cb_visited_step *v,
                          bool *there, cubed_error *err)
{
    const cb_axis *axis = &s->kept->axis[s->column];
    cb_box box = v->kept;
    *there = v->step < cb_axis_count(axis);
    if (!*there) return CUBED_OK;
    box.lo[s->column] = cb_axis_lo(axis, v->step);
    box.hi[s->column] = cb_axis_hi(axis, v->step);
    return cb_program_visit(p, &s->tail, &box, v, err);
}

typedef struct buffers {
    void *carry; /* running value for each position along the other axes */
} buffers;

_Static_assert(sizeof(buffers) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

/* Returns the frame of the first chunk of a column. If `largest` is set, the frame has the extents of the largest chunk. */
static cb_frame chunk_frame(const cb_frame *f)
{
    cb_frame chunk = *f;
    const cb_axis *axis = &f->stage->kept->axis[f->stage->column];
    chunk.box.lo[f->stage->column] = 0;
    chunk.box.hi[f->stage->column] = cb_axis_hi(axis, 0);
    if (f->arena->kind == CB_ARENA_LEAST) return chunk;
    chunk.box.hi[f->stage->column] = cb_blocks_most(&(cb_blocks){axis, 1, NULL});
    chunk.largest = true;
    return chunk;
}

static cubed_status frame(const cb_frame *f, void *out, cubed_error *err)
{
    buffers *b = out;
    const cb_stage *s = f->stage;
    const cb_evaluation tail = {.prog = &s->tail};
    size_t bytes = cb_scan_carry_size(f->plan->ir.nodes[s->outs[0].node].dtype);
    cb_view one, *views = &one;
    void *data;
    for (int d = 0; d < f->box.ndim; d++) {
        if (d != s->column) bytes = cb_sat_mul(bytes, (size_t)(f->box.hi[d] - f->box.lo[d]));
    }
    CB_TRY(cb_arena_alloc(f->arena, bytes, "carried totals", &b->carry, err));
    if (!cb_arena_measures(f->arena) || cb_axis_count(&s->kept->axis[s->column]) == 0)
        return CUBED_OK;
    const cb_frame chunk = chunk_frame(f);
    CB_TRY(cb_output_frame(&chunk, 0, &data, err));
    size_t mark = cb_arena_mark(f->arena);
    CB_TRY(cb_evaluate_frame(f->plan, &tail, &chunk.box, chunk.largest, f->arena, &views, err));
    cb_arena_release(f->arena, mark);
    return cb_writings_frame(&chunk, err);
}

/* Computes one chunk of the column. `f` has the chunk's box. */
static cubed_status run_chunk(const cb_task *t, const cb_frame *f, const cb_box *chunk, void *carry,
                              cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_node *n = &t->plan->ir.nodes[s->outs[0].node];
    int64_t shape[CUBED_MAX_NDIM];
    size_t mark = cb_arena_mark(t->arena);
    void *data;
    cb_view out;
    CB_TRY(cb_output_frame(f, 0, &data, err));
    out.base = data;
    cb_output_open(t, 0, &f->box, NULL, &out);
    size_t inner = cb_arena_mark(t->arena);
    CB_TRY(cb_evaluate(t, &(cb_evaluation){.prog = &s->tail, .outs = &out}, &f->box, err));
    cb_arena_release(t->arena, inner);
    for (int d = 0; d < f->box.ndim; d++) shape[d] = f->box.hi[d] - f->box.lo[d];
    const cb_scan_elements x = {n->dtype, f->box.ndim, shape, out.stride, out.base};
    cb_scan_box(t->kernels, n->reduction, &x, s->column, carry);
    CB_TRY(cb_output_write(t, 0, &f->box, &out, chunk, err));
    cb_arena_release(t->arena, mark);
    return CUBED_OK;
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const cb_node *n = &t->plan->ir.nodes[s->outs[0].node];
    const cb_axis *axis = &s->kept->axis[s->column];
    cb_frame f;
    int64_t count = 1;
    cb_box chunks;
    buffers b;
    cb_frame_init(&f, t);
    cb_stage_task_chunks(s, task, &chunks);
    cb_stage_elements(s, &chunks, &f.box);
    CB_TRY(frame(&f, &b, err));
    for (int d = 0; d < f.box.ndim; d++) {
        if (d != s->column) count *= f.box.hi[d] - f.box.lo[d];
    }
    cb_scan_start(n->reduction, n->dtype, b.carry, count);
    for (int64_t i = 0; i < cb_axis_count(axis); i++) {
        f.box.lo[s->column] = cb_axis_lo(axis, i);
        f.box.hi[s->column] = cb_axis_hi(axis, i);
        chunks.lo[s->column] = i;
        chunks.hi[s->column] = i + 1;
        CB_TRY(run_chunk(t, &f, &chunks, b.carry, err));
    }
    return CUBED_OK;
}

const cb_operator cb_operator_scan = {
    .name = "scan",
    .compile = compile,
    .prepare = cb_stage_prepare_tail,
    .frame = frame,
    .reads = cb_stage_read_tail,
    .visit = visit,
    .run = run,
    .apart = "one computes its chunks in order, each from the previous chunk",
    .local = true,
    .by_blocks = true,
};
