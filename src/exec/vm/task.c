#include "exec/vm/task.h"

#include "base/error.h"
#include "exec/plan/operator.h"
#include "exec/vm/helping.h"
#include "exec/vm/resume.h"

cubed_status cb_task_begin(const cb_task *t, int64_t task, cb_box *chunks, cb_box *kept,
                           cubed_error *err)
{
    cb_stage_task_chunks(t->stage, task, chunks);
    CB_TRY(cb_task_skip_present(t, chunks, err));
    cb_stage_elements(t->stage, chunks, kept);
    return CUBED_OK;
}

cubed_status cb_task_want(const cb_task *t, const cb_want *want, cb_pinned *out, cubed_error *err)
{
    const cb_chunk_reader reader = {t->arena, t->count, t->ahead, t->helper};
    return cb_chunks_want(t->chunks, &reader, want, out, err);
}

#ifndef NDEBUG
/* Checks that a task's memory is between the lower and the upper bound that its frame measures. The bounds differ if the need
 * depends on data. A task may use less than the lower bound if an earlier run has written some chunks, or if members of a
 * cooperative task share the chunks. */
static cubed_status check_frame(const cb_task *t, int64_t task, cubed_error *err)
{
    const cb_stage *s = t->stage;
    const size_t taken = cb_arena_high_water(t->arena);
    size_t least, most;
    bool all = !t->coop;
    cb_box box;
    for (int o = 0; o < s->nouts; o++) all = all && !cb_chunks_resumes(t->chunks, s->outs[o].node);
    cb_stage_task_box(s, task, &box);
    cb_need need = cb_stage_measure(t->plan, s, &box, CB_ARENA_MOST, &most);
    CB_CHECK(need.arena <= s->need.arena && need.library <= s->need.library, err);
    (void)cb_stage_measure(t->plan, s, &box, CB_ARENA_LEAST, &least);
    if (taken <= most && (taken >= least || !all)) return CUBED_OK;
    return cb_fail(err, CUBED_E_INTERNAL,
                   "bug: a task (%s) used %zu bytes, but its frame is %zu to %zu", s->op->name,
                   taken, least, most);
}
#endif

cubed_status cb_task_run(const cb_task *t, int64_t task, cubed_error *err)
{
    size_t mark = cb_arena_mark(t->arena);
    if (t->ahead) cb_ahead_run(t->ahead, task, t->count);
    if (t->helper && cb_stage_is_helped(t->plan, t->stage))
        cb_offers_begin(t->helper, t->stage->index, task);
    cubed_status st = t->stage->op->run(t, task, err);
    cb_arena_release(t->arena, mark);
    if (t->helper) cb_offers_end(t->helper);
#ifndef NDEBUG
    if (st == CUBED_OK) st = check_frame(t, task, err);
#endif
    if (st == CUBED_OK) st = cb_chunks_check(t->chunks, err);
    if (st == CUBED_OK || st == CUBED_E_CANCELLED) return st;
    return cb_context(err, st, "stage %d (%s), task %lld", t->stage->index, t->stage->name,
                      (long long)task);
}
