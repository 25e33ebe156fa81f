/* Operator for elementwise stages: a task evaluates the stage's program over its whole box in one pass. */
#include "base/error.h"
#include "exec/vm/frames.h"

typedef struct buffers {
    cb_view *outs;
} buffers;

_Static_assert(sizeof(buffers) <= CB_FRAME_BUFFERS, "CB_FRAME_BUFFERS");

static cubed_status frame(const cb_frame *f, void *out, cubed_error *err)
{
    buffers *b = out;
    const cb_evaluation tail = {.prog = &f->stage->tail};
    cb_view one, *views = &one;
    CB_TRY(cb_outputs_frame(f, &b->outs, err));
    if (!cb_arena_measures(f->arena)) return CUBED_OK;
    size_t mark = cb_arena_mark(f->arena);
    CB_TRY(cb_evaluate_frame(f->plan, &tail, &f->box, f->largest, f->arena, &views, err));
    cb_arena_release(f->arena, mark);
    return cb_writings_frame(f, err);
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    cb_frame f;
    cb_box chunks;
    buffers b;
    cb_frame_init(&f, t);
    CB_TRY(cb_task_begin(t, task, &chunks, &f.box, err));
    CB_TRY(frame(&f, &b, err));
    for (int o = 0; o < s->nouts; o++) cb_output_open(t, o, &f.box, NULL, &b.outs[o]);
    const cb_evaluation tail = {
        .prog = &s->tail, .outs = b.outs, .stream = cb_stage_streams(t->plan, s, &f.box)};
    size_t mark = cb_arena_mark(t->arena);
    CB_TRY(cb_evaluate(t, &tail, &f.box, err));
    cb_arena_release(t->arena, mark);
    return cb_outputs_write(t, &f.box, b.outs, &chunks, err);
}

const cb_operator cb_operator_map = {
    .name = "map",
    .compile = cb_stage_compile_tail,
    .prepare = cb_stage_prepare_tail,
    .frame = frame,
    .reads = cb_stage_read_tail,
    .visit = cb_stage_visit_tail,
    .run = run,
    .joined = &cb_operator_map,
    .adds_up = true,
    .tiles = true,
    .local = true,
    .by_blocks = true,
    .may_copy = true,
};
