#include "run/executors/executor.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "exec/task.h"

static const struct {
    const char *name;
    bool remote;
    cubed_status (*open)(const cb_executor_args *args, cubed_executor **out, cubed_error *err);
} executors[] = {
    {"threads", false, cb_executor_threads_open},
    {"single-threaded", false, cb_executor_single_open},
    {"processes", true, cb_executor_processes_open},
};

static cubed_status find(const char *name, size_t *row, cubed_error *err)
{
    for (*row = 0; *row < sizeof executors / sizeof *executors; ++*row) {
        if (strcmp(executors[*row].name, name ? name : "threads") == 0) return CUBED_OK;
    }
    return cb_fail(
        err, CUBED_E_ARG,
        "executor \"%s\" is none of those there are: threads, single-threaded, processes", name);
}

cubed_status cb_executor_check(const char *name, bool *remote, cubed_error *err)
{
    size_t row;
    CB_TRY(find(name, &row, err));
    *remote = executors[row].remote;
    return CUBED_OK;
}

cubed_status cb_executor_open(const char *name, const cb_executor_args *args, cubed_executor **out,
                              cubed_error *err)
{
    size_t row;
    CB_TRY(find(name, &row, err));
    return executors[row].open(args, out, err);
}

static void run(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                cb_team *team, unsigned member, cb_task_count *count, cubed_task_report *report)
{
    const cubed_plan *p = args->plan;
    cb_task t = {.plan = p,
                 .stage = &p->stages[stage],
                 .kernels = &p->ctx->kernels,
                 .chunks = cb_io_chunks(args->io),
                 .arena = arena,
                 .count = count,
                 .cancel = args->cancel,
                 .team = team,
                 .member = member};
    memset(&report->error, 0, sizeof report->error);
    report->task = task;
    report->start_ns = cb_clock_ns();
    cb_arena_reset_high_water(arena);
    cubed_status st = cb_task_run(&t, task, &report->error);
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

void cb_executor_run_task(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                          cubed_task_report *report)
{
    cb_task_count count = {.bytes_read = 0};
    run(args, arena, stage, task, NULL, 0, &count, report);
    report->team = 1;
    report->cache_peak = cb_chunks_cache_peak(cb_io_chunks(args->io));
    clear_counts(report);
    count_task(report, &count, cb_arena_high_water(arena));
}

void cb_executor_run_member(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                            cb_team *team, unsigned member, cubed_task_report *report)
{
    cb_member *self = &team->members[member];
    self->count = (cb_task_count){.bytes_read = 0};
    run(args, arena, stage, task, team, member, &self->count, report);
    self->measured = cb_arena_high_water(arena);
    (void)cb_team_meet(team); /* all have counted */
    report->team = team->size;
    report->cache_peak = cb_chunks_cache_peak(cb_io_chunks(args->io));
    clear_counts(report);
    for (unsigned i = 0; i < team->size; i++)
        count_task(report, &team->members[i].count, team->members[i].measured);
    (void)cb_team_meet(team); /* and nobody counts the next one yet */
}
