/* A user-defined executor: runs tasks in the caller's thread. The range that was submitted last runs first. */
#include <stdio.h>
#include <stdlib.h>

#include <cubed/cubed.h>
#include <cubed/sys/executor.h>

enum { SLOTS = 8, N = 800 };

typedef struct backwards {
    cubed_executor head;
    cubed_runner *runner;
    cubed_task_range ranges[SLOTS]; /* a stack */
    int n;
} backwards;

static const cubed_executor_vtable vtable;

static cubed_status open_it(const cubed_executor_args *args, cubed_executor **out, cubed_error *err)
{
    backwards *b = calloc(1, sizeof *b);
    if (!b) return CUBED_E_NOMEM;
    b->head = (cubed_executor){.vt = &vtable, .slots = SLOTS, .workers = 1};
    cubed_status st = cubed_runner_new(args, &b->runner, err);
    if (st == CUBED_OK)
        *out = &b->head;
    else
        free(b);
    return st;
}

static cubed_status submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    backwards *b = (backwards *)ex;
    (void)err;
    b->ranges[b->n++] = *range; /* at most as many ranges as the executor has slots */
    return CUBED_OK;
}

static cubed_status poll_it(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                            bool *got, cubed_error *err)
{
    backwards *b = (backwards *)ex;
    (void)timeout_ms;
    (void)err;
    *got = b->n > 0;
    if (!*got) return CUBED_OK;
    cubed_task_range *r = &b->ranges[b->n - 1];
    report->token = r->token;
    report->worker = 0;
    cubed_runner_run(b->runner, r->stage, r->first, report);
    /* Do not run the tasks after a failed task of the range: the driver submits them again. */
    if (++r->first == r->last || report->error.status != CUBED_OK) b->n--;
    return CUBED_OK;
}

static void close_it(cubed_executor *ex)
{
    backwards *b = (backwards *)ex;
    cubed_runner_free(b->runner);
    free(b);
}

static const cubed_executor_vtable vtable = {
    .struct_size = sizeof vtable,
    .name = "backwards",
    .caps = {.shares_memory = true, .max_workers = 1},
    .open = open_it,
    .submit = submit,
    .poll = poll_it,
    .close = close_it,
};

static void show(void *ctx, const cubed_event *e)
{
    (void)ctx;
    if (e->kind == CUBED_EVENT_TASK_END) printf("task %d of stage %d\n", (int)e->task, e->stage);
}

/* Computes the numbers 0, 1, 2, ... by the executor with this name. */
static cubed_status compute(cubed_context *ctx, const char *executor, void *numbers,
                            cubed_error *err)
{
    const int64_t chunk = N / 8;
    cubed_array *x = NULL;
    cubed_plan *plan = NULL;
    cubed_plan_options p = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    p.optimize = false; /* otherwise so few numbers would be a single task */
    o.executor = executor;
    o.on_event = show;
    cubed_status st = cubed_array_arange(ctx, 0, N, 1, CUBED_FLOAT64, &chunk, &x, err);
    if (st == CUBED_OK) {
        const cubed_target target = {.array = x, .data = numbers};
        st = cubed_plan_new(ctx, &target, 1, &p, &plan, err);
    }
    if (st == CUBED_OK) st = cubed_run(plan, &o, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    return st;
}

int main(void)
{
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    double numbers[N] = {0};
    int right = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = cubed_context_add_executor(ctx, &vtable, NULL, &err);
        if (st == CUBED_OK) st = compute(ctx, vtable.name, numbers, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) fprintf(stderr, "executor: %s\n", err.message);
    for (int i = 0; i < N; i++) right += numbers[i] == i;
    printf("%d of %d numbers\n", right, N);
    return st == CUBED_OK && right == N ? EXIT_SUCCESS : EXIT_FAILURE;
}
