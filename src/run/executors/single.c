/* Tasks run in the driver's own thread, when it polls. */
#include "base/error.h"
#include "run/executors/executor.h"

typedef struct single {
    cubed_executor head;
    cb_executor_args args;
    cb_arena *arena;
    cubed_task_range range; /* what is left of it: empty if first == last */
} single;

static cubed_status single_submit(cubed_executor *ex, const cubed_task_range *range,
                                  cubed_error *err)
{
    single *s = (single *)ex;
    CB_CHECK(s->range.first == s->range.last, err);
    s->range = *range;
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
    cb_executor_run_task(&s->args, s->arena, s->range.stage, s->range.first++, report);
    if (report->error.status != CUBED_OK) s->range.first = s->range.last;
    return CUBED_OK;
}

static void single_close(cubed_executor *ex)
{
    single *s = (single *)ex;
    cb_arena_free(s->arena);
    cb_free(&s->args.plan->ctx->alloc, s, sizeof *s);
}

static const cubed_executor_vtable single_vtable = {
    "single-threaded",
    single_submit,
    single_poll,
    single_close,
};

cubed_status cb_executor_single_open(const cb_executor_args *args, cubed_executor **out,
                                     cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    single *s = cb_alloc_zero(a, sizeof *s);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    s->head = (cubed_executor){&single_vtable, 1, 1};
    s->args = *args;
    cubed_status st = cb_arena_new(a, args->plan->need, &s->arena, err);
    if (st != CUBED_OK) {
        cb_free(a, s, sizeof *s);
        return st;
    }
    *out = &s->head;
    return CUBED_OK;
}
