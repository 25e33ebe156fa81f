/* Maps: results are made element by element, all of a task's box at once. */
#include "base/error.h"
#include "exec/vm/frames.h"

/* Results this large in the caller's memory are written past the caches. */
#define STREAM_BYTES ((size_t)8 << 20)

/* Whether the stage computes nothing: such a stage is a copy. */
static bool is_copy(const cb_stage *s)
{
    if (s->nouts != 1) return false;
    for (int i = 0; i < s->tail.nbranches; i++) {
        if (!cb_branch_is_bare(&s->tail.branches[i])) return false;
    }
    return true;
}

static cubed_status compile(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    CB_TRY(cb_stage_set_domain(&p->ir, s, err));
    CB_TRY(cb_stage_set_tasks(s, err));
    CB_TRY(cb_stage_lower_tail(p, s, scratch, err));
    if (is_copy(s)) s->op = &cb_operator_copy;
    return CUBED_OK;
}

static void describe(const cubed_plan *p, const cb_stage *s, cb_buf *text)
{
    if (s->tail.nbranches && s->tail.branches[0].ninstrs)
        cb_describe_program(p, &s->tail, text);
    else
        cb_operator_copy.describe(p, s, text);
}

void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s)
{
    cb_blocks kept[CUBED_MAX_NDIM + 1];
    cb_program_blocks(s, 1, kept);
    cb_traffic_add_program(p, s, &s->tail, kept);
}

cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s, const cb_box *kept,
                                cb_chunks_fn fn, void *ctx, cubed_error *err)
{
    return cb_program_reads(p, &s->tail, kept, fn, ctx, err);
}

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

/* Whole arrays, not tasks: small tasks of a large result pollute the cache as much. */
bool cb_stage_streams(const cubed_plan *p, const cb_stage *s, const cb_box *kept)
{
    size_t bytes = 0;
    for (int o = 0; o < s->nouts; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        if (!n->to_memory) return false;
        bytes += (size_t)cb_box_count(kept) * cubed_dtype_size(n->dtype);
    }
    return bytes * (size_t)s->ntasks >= STREAM_BYTES;
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
    .compile = compile,
    .describe = describe,
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
};
