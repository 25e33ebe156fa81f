/* Executor that runs tasks in the driver's own thread, when the driver polls it. */
#include "base/error.h"
#include "run/executors/executor.h"

typedef struct single {
    cubed_executor head;
    cubed_plan *plan;
    cubed_runner *runner;
    cubed_task_range range; /* remaining tasks; empty if first == last */
} single;

static cubed_status single_submit(cubed_executor *ex, const cubed_task_range *range,
                                  cubed_error *err)
{
    single *s = (single *)ex;
    CB_CHECK(s->range.first == s->range.last, err);
    s->range = *range;
    cubed_runner_expect(s->runner, range);
    return CUBED_OK;
}

static cubed_status single_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                                bool *got, cubed_error *err)
{
    single *s = (single *)ex;
    (void)timeout_ms;
    (void)err;
    *got = s->range.first < s->range.last;
    if (!*got) return CUBED_OK;
    report->token = s->range.token;
    report->worker = 0;
    cubed_runner_run(s->runner, s->range.stage, s->range.first++, report);
    if (report->error.status != CUBED_OK) s->range.first = s->range.last;
    return CUBED_OK;
}

static void single_close(cubed_executor *ex)
{
    single *s = (single *)ex;
    cubed_runner_free(s->runner);
    cb_free(&s->plan->ctx->alloc, s, sizeof *s);
}

static cubed_status single_open(const cubed_executor_args *args, cubed_executor **out,
                                cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    single *s = cb_alloc_zero(a, sizeof *s);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    s->head = (cubed_executor){.vt = &cb_executor_single, .slots = 1, .workers = 1};
    s->plan = args->plan;
    cubed_status st = cubed_runner_new(args, &s->runner, err);
    if (st != CUBED_OK) {
        cb_free(a, s, sizeof *s);
        return st;
    }
    *out = &s->head;
    return CUBED_OK;
}

const cubed_executor_vtable cb_executor_single = {
    .struct_size = sizeof cb_executor_single,
    .name = "single-threaded",
    .caps = {.shares_memory = true, .max_workers = 1},
    .open = single_open,
    .submit = single_submit,
    .poll = single_poll,
    .close = single_close,
};
