#include "runtime/executor.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "runtime/task.h"

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

void cb_executor_run_task(const cb_executor_args *args, cb_arena *arena, int stage, int64_t task,
                          cubed_task_report *report)
{
    cb_io_count count = {.bytes_read = 0};
    memset(&report->error, 0, sizeof report->error);
    report->task = task;
    report->start_ns = cb_clock_ns();
    cb_arena_reset_high_water(arena);
    cubed_status st = cb_task_run(args->plan, &args->plan->stages[stage], task, args->io, arena,
                                  args->cancel, &count, &report->error);
    report->error.status = st;
    report->end_ns = cb_clock_ns();
    report->bytes_read = count.bytes_read;
    report->bytes_written = count.bytes_written;
    report->stored_read = count.stored_read;
    report->stored_written = count.stored_written;
    report->measured_mem = cb_arena_high_water(arena);
    report->function_mem = count.function_mem;
}
