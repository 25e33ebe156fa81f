/* Runs tasks in this process, alone or as members of a cooperative task, and fills their reports. */
#include "run/executors/runner.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "exec/vm/task.h"
#include "run/executors/executor.h"

/* Runs a task. `t` has the arena, the counters, and the other members of a cooperative task. */
static void run(const cb_task_env *env, cb_task *t, int stage, int64_t task,
                cubed_task_report *report)
{
    t->plan = env->plan;
    t->stage = &env->plan->stages[stage];
    t->kernels = &env->plan->ctx->kernels;
    t->chunks = cb_io_chunks(env->io);
    t->cancel = env->cancel;
    memset(&report->error, 0, sizeof report->error);
    report->task = task;
    report->start_ns = cb_clock_ns();
    t->arena->cancel = env->cancel;
    cb_arena_reset_high_water(t->arena);
    cubed_status st = cb_task_run(t, task, &report->error);
    report->error.status = st;
    report->end_ns = cb_clock_ns();
}

static void count_task(cubed_task_report *report, const cb_task_count *count, size_t measured)
{
    report->bytes_read += count->bytes_read;
    report->bytes_written += count->bytes_written;
    report->stored_read += count->stored_read;
    report->stored_written += count->stored_written;
    if (measured > report->measured_mem) report->measured_mem = measured;
    if (count->function_mem > report->function_mem) report->function_mem = count->function_mem;
}

static void clear_counts(cubed_task_report *report)
{
    report->bytes_read = report->bytes_written = 0;
    report->stored_read = report->stored_written = 0;
    report->measured_mem = report->function_mem = 0;
}

void cb_runner_expect(const cb_task_env *env, cb_ahead *ahead, const cubed_task_range *range)
{
    cb_ahead_begin(ahead, cb_io_chunks(env->io), range->stage, range->first, range->last);
}

/* Returns the peak memory of a task, including this worker's share of prefetched chunks. */
static size_t measured(const cb_task_env *env, const cb_arena *arena)
{
    return cb_arena_high_water(arena) + cb_chunks_fetch_peak(cb_io_chunks(env->io));
}

void cb_runner_run_task(const cb_task_env *env, cb_arena *arena, cb_ahead *ahead, cb_helper *helper,
                        int stage, int64_t task, cubed_task_report *report)
{
    cb_task_count count = {.bytes_read = 0};
    cb_task t = {.arena = arena,
                 .count = &count,
                 .ahead = ahead && ahead->chunks ? ahead : NULL,
                 .helper = helper};
    run(env, &t, stage, task, report);
    report->coop = 1;
    report->cache_peak = cb_chunks_cache_peak(cb_io_chunks(env->io));
    clear_counts(report);
    count_task(report, &count, measured(env, arena));
}

void cb_runner_run_member(const cb_task_env *env, cb_arena *arena, int stage, int64_t task,
                          cb_coop *coop, unsigned member, cubed_task_report *report)
{
    cb_member *self = &coop->members[member];
    /* Count one chunk as present, because other members of the task may load existing chunks. Otherwise this member's part of
     * the result would count as missing. */
    self->count = (cb_task_count){.present = 1};
    cb_task t = {.arena = arena, .count = &self->count, .coop = coop, .member = member};
    run(env, &t, stage, task, report);
    self->measured = measured(env, arena);
    (void)cb_coop_meet(coop); /* wait until all members have counted */
    report->coop = coop->size;
    report->cache_peak = cb_chunks_cache_peak(cb_io_chunks(env->io));
    clear_counts(report);
    for (unsigned i = 0; i < coop->size; i++)
        count_task(report, &coop->members[i].count, coop->members[i].measured);
    (void)cb_coop_meet(coop); /* members start counting the next task only after this */
}

struct cubed_runner {
    cb_task_env env;
    cb_arena *arena;
    cb_ahead ahead;
};

cubed_status cubed_runner_new(const cubed_executor_args *args, cubed_runner **out, cubed_error *err)
{
    /* `args` is the first member of this struct */
    const cb_executor_args *full = (const cb_executor_args *)args;
    const cubed_allocator *a = &args->plan->ctx->alloc;
    cubed_runner *r = cb_alloc_zero(a, sizeof *r);
    if (!r) return cb_fail(err, CUBED_E_NOMEM, "no memory for a worker");
    r->env = full->env;
    cubed_status st = cb_spare_take(&args->plan->ctx->spare, a, args->plan->need, &r->arena, err);
    if (st == CUBED_OK)
        *out = r;
    else
        cb_free(a, r, sizeof *r);
    return st;
}

void cubed_runner_expect(cubed_runner *r, const cubed_task_range *range)
{
    cb_runner_expect(&r->env, &r->ahead, range);
}

void cubed_runner_run(cubed_runner *r, int stage, int64_t task, cubed_task_report *report)
{
    if (!cb_ahead_has(&r->ahead, stage, task))
        cubed_runner_expect(r,
                            &(cubed_task_range){.stage = stage, .first = task, .last = task + 1});
    cb_runner_run_task(&r->env, r->arena, &r->ahead, NULL, stage, task, report);
}

void cubed_runner_free(cubed_runner *r)
{
    if (!r) return;
    const cubed_allocator *a = &r->env.plan->ctx->alloc;
    cb_ahead_end(&r->ahead);
    cb_spare_give(&r->env.plan->ctx->spare, r->arena);
    cb_free(a, r, sizeof *r);
}
