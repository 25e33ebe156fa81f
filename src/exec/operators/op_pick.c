/* Selects the elements of an array for which a mask is true. The input OFFSETS has the number of true elements before each
 * block. A task needs it to know which blocks it must read, so tasks wait until all blocks of the inputs exist. */
#include <string.h>

#include "base/error.h"
#include "exec/operators/operands.h"

/* The inputs are the values, the mask and the offsets; the output's operand follows them. */
enum { VALUES, MASK, OFFSETS, PICKED };

/* Compiles the stage. The operation has one symbol: the axis of the inputs. A task computes one chunk of the output. */
static cubed_status compile(cubed_plan *p, cb_stage *s, cb_zone *scratch, cubed_error *err)
{
    static const cubed_block_fn none = {.name = "compress"};
    (void)scratch;
    CB_TRY(cb_operands_compile(p, s, err));
    cb_stage_call *c = s->call;
    c->fn = &none;
    c->symbols.n = 1;
    c->symbols.nblocks[0] = cb_axis_count(&c->op->in[VALUES].blocks.axis[0]);
    c->axis[0] = -1;
    const int64_t one = 1, tasks = cb_axis_count(&c->op->out[0].blocks.axis[0]);
    const cb_grid kept = cb_grid_regular(1, &tasks, &one);
    CB_TRY(cb_stage_keep(&p->ir, s, &kept, err));
    s->task_chunks[0] = 1;
    s->outs[0].axis[0] = 0;
    s->outs[0].alias = -1;
    return cb_stage_set_tasks(s, err);
}

static cubed_status frame(const cb_frame *f, void *out, cubed_error *err)
{
    cb_operands *x = out;
    CB_TRY(cb_operands_frame(f->stage, f->arena, x, err));
    CB_TRY(cb_results_frame(f, x->operand, err));
    return cb_arena_measures(f->arena) ? cb_inputs_frame(f, NULL, err) : CUBED_OK;
}

static cubed_status other_mask(const cb_operands *r, cubed_error *err)
{
    return cb_fail(
        err, CUBED_E_ARG,
        "the mask does not have %lld true elements at the positions that were counted before",
        (long long)r->c->op->out[0].blocks.axis[0].extent);
}

/* Copies up to `room` elements of a block that its mask selects, from selected element number `from` on. `n` is the number of
 * true elements that the block must have. */
static cubed_status pick_block(const cb_operands *r, int64_t from, int64_t n, char *to,
                               int64_t room, int64_t *picked, cubed_error *err)
{
    const cubed_block *x = &r->block[VALUES], *mask = &r->block[MASK];
    const uint8_t *flags = mask->data;
    int64_t at = 0;
    *picked = 0;
    if (cb_count_true(flags, x->shape[0]) != n) return other_mask(r, err);
    while (from > 0) from -= flags[at++] != 0;
    *picked = cb_compress(cubed_dtype_size(x->dtype), x->data, flags, x->shape[0], &at, to, room);
    return CUBED_OK;
}

static bool are_offsets(const int64_t *offsets, int64_t nblocks, int64_t total)
{
    for (int64_t b = 0; b < nblocks; b++) {
        if (offsets[b] > offsets[b + 1]) return false;
    }
    return offsets[0] == 0 && offsets[nblocks] == total;
}

static cubed_status pick_chunk(cb_operands *r, cubed_error *err)
{
    const cb_task *t = r->t;
    const cb_operand *to = &r->operand[PICKED];
    const int64_t nblocks = r->c->symbols.nblocks[0], *offsets = r->block[OFFSETS].data;
    const size_t size = cubed_dtype_size(r->block[PICKED].dtype);
    int64_t element = to->box.lo[0];
    if (!are_offsets(offsets, nblocks, r->c->op->out[0].blocks.axis[0].extent))
        return other_mask(r, err);
    for (int64_t b = cb_find_start(offsets, nblocks, element); element < to->box.hi[0]; b++) {
        int64_t n = offsets[b + 1] - offsets[b], picked;
        if (n == 0) continue;
        CB_TRY(cb_task_check(t, err));
        r->index[0] = b;
        CB_TRY(cb_operand_bring(r, VALUES, err));
        CB_TRY(cb_operand_bring(r, MASK, err));
        CB_TRY(pick_block(r, element - offsets[b], n,
                          (char *)to->tile + (size_t)(element - to->box.lo[0]) * size,
                          to->box.hi[0] - element, &picked, err));
        element += picked;
    }
    return CUBED_OK;
}

static cubed_status run(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage_call *c = t->stage->call;
    const cb_frame f = {.plan = t->plan, .stage = t->stage, .arena = t->arena};
    cb_operands r = {.t = t, .c = c};
    const cb_block_operand *of = &c->op->out[0];
    cb_box kept;
    cb_stage_task_box(t->stage, task, &kept);
    CB_TRY(frame(&f, &r, err));
    cb_operand *to = &r.operand[PICKED];
    size_t inner = cb_arena_mark(t->arena);
    CB_TRY(cb_inputs_frame(&f, r.operand, err));
    for (int i = VALUES; i <= OFFSETS; i++) r.block[i].data = NULL;
    cb_grid_box(&of->blocks, kept.lo, &to->box);
    to->shape[0] = to->box.hi[0] - to->box.lo[0];
    r.block[PICKED] = (cubed_block){to->tile, of->dtype, 1, to->shape, to->box.lo};
    CB_TRY(cb_operand_bring(&r, OFFSETS, err));
    CB_TRY(pick_chunk(&r, err));
    cb_arena_release(t->arena, inner);
    return cb_operand_write(&r, 0, err);
}

const cb_operator cb_operator_pick = {
    .name = "pick",
    .compile = compile,
    .prepare = cb_operands_prepare,
    .frame = frame,
    .reads = cb_operands_read,
    .run = run,
    .apart = "a function on whole blocks needs separate tasks",
};
