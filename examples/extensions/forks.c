/* An executor whose workers share only a directory with the driver. It forks a process for each range of tasks. The process gets
 * a message and answers with reports. Adapters of engines on many machines exchange the same messages and reports through the
 * engine. The program writes means.zarr in the current directory. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cubed/cubed.h>
#include <cubed/sys/executor.h>
#include <cubed/sys/message.h>

enum { SLOTS = 2, CAP = 1 << 16 };

/* A range in flight, and the reports that its process has sent so far. */
typedef struct child {
    pid_t pid;
    int fd;
    cubed_task_range range; /* tasks whose reports were not polled yet */
    char reports[CAP];
    size_t size;
} child;

typedef struct forks {
    cubed_executor head;
    cubed_context *ctx; /* context in which reports are read */
    cubed_executor_args own;
    child children[SLOTS];
} forks;

static const cubed_executor_vtable vtable;

static cubed_status open_it(const cubed_executor_args *args, cubed_executor **out, cubed_error *err)
{
    forks *f = calloc(1, sizeof *f);
    if (!f) return CUBED_E_NOMEM;
    f->head = (cubed_executor){.vt = &vtable, .slots = SLOTS, .workers = SLOTS};
    f->own = *args;
    const cubed_status st = cubed_context_new(NULL, &f->ctx, err);
    if (st == CUBED_OK)
        *out = &f->head;
    else
        free(f);
    return st;
}

/* The worker. It uses only the bytes of the message, although it is a fork of the driver. */
static int work(const forks *f, const cubed_task_range *range, int fd)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_worker_options o = CUBED_WORKER_OPTIONS_INIT;
    cubed_work_input in = CUBED_WORK_INPUT_INIT;
    cubed_context *ctx;
    cubed_worker *worker;
    cubed_range_message m = {.range = *range};
    uint8_t bytes[CUBED_RANGE_BYTES];
    const void *reports;
    size_t size;
    o.max_message_bytes = CAP;
    snprintf(m.run, sizeof m.run, "%s", f->own.run);
    cubed_range_write(&m, bytes);
    in.plan = f->own.plan_bytes;
    in.plan_size = f->own.plan_size;
    in.message = bytes;
    in.message_size = sizeof bytes;
    if (cubed_context_new(NULL, &ctx, &err) != CUBED_OK ||
        cubed_worker_new(ctx, &o, &worker, &err) != CUBED_OK ||
        cubed_work(worker, &in, &reports, &size, &err) != CUBED_OK)
        return EXIT_FAILURE;
    return write(fd, reports, size) == (ssize_t)size ? EXIT_SUCCESS : EXIT_FAILURE;
}

static cubed_status submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    forks *f = (forks *)ex;
    child *c = f->children;
    int ends[2];
    (void)err;
    while (c->pid) c++; /* a slot is free: the driver submits at most one range per slot */
    if (pipe(ends) != 0) return CUBED_E_IO;
    c->range = *range;
    c->size = 0;
    c->fd = ends[0];
    c->pid = fork();
    if (c->pid == 0) _exit(work(f, range, ends[1]));
    close(ends[1]);
    return c->pid < 0 ? CUBED_E_IO : CUBED_OK;
}

/* Takes the next report that a process has sent. If the process ended before it sent all reports, makes the report of a failure
 * after which the task may be retried. */
static bool take_report(forks *f, child *c, cubed_task_report *report)
{
    cubed_error err = CUBED_ERROR_INIT;
    size_t used;
    if (c->size > 0 &&
        cubed_report_read(f->ctx, c->reports, c->size, report, &used, &err) == CUBED_OK) {
        c->size -= used;
        memmove(c->reports, c->reports + used, c->size);
    } else {
        *report = (cubed_task_report){.token = c->range.token, .task = c->range.first, .coop = 1};
        report->error.status = CUBED_E_IO;
        report->error.transient = true;
        snprintf(report->error.message, sizeof report->error.message, "a worker process died");
    }
    report->worker = (unsigned)(c - f->children);
    if (++c->range.first == c->range.last || report->error.status != CUBED_OK) {
        close(c->fd);
        waitpid(c->pid, NULL, 0);
        c->pid = 0;
    }
    return true;
}

static cubed_status poll_it(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                            bool *got, cubed_error *err)
{
    forks *f = (forks *)ex;
    (void)err;
    *got = false;
    for (int i = 0; i < SLOTS && !*got; i++) {
        child *c = &f->children[i];
        struct pollfd p = {c->fd, POLLIN, 0};
        if (!c->pid || poll(&p, 1, timeout_ms / SLOTS) <= 0) continue;
        const ssize_t n = read(c->fd, c->reports + c->size, CAP - c->size);
        if (n > 0)
            c->size += (size_t)n;
        else /* the process has sent all reports, so take one of them */
            *got = take_report(f, c, report);
    }
    return CUBED_OK;
}

static void close_it(cubed_executor *ex)
{
    forks *f = (forks *)ex;
    for (int i = 0; i < SLOTS; i++) {
        if (!f->children[i].pid) continue;
        close(f->children[i].fd);
        waitpid(f->children[i].pid, NULL, 0);
    }
    cubed_context_unref(f->ctx);
    free(f);
}

static const cubed_executor_vtable vtable = {
    .struct_size = sizeof vtable,
    .name = "forks",
    .caps = {.max_in_flight = SLOTS},
    .open = open_it,
    .submit = submit,
    .poll = poll_it,
    .close = close_it,
};

/* Stores the means of the columns of random numbers, in several stages. */
static cubed_status compute(cubed_context *ctx, const char *out, const char *work_dir,
                            cubed_run_stats *stats, cubed_error *err)
{
    const int64_t shape[2] = {400, 300}, chunks[2] = {100, 100};
    const int axis = 0;
    cubed_array *x = NULL, *mean = NULL;
    cubed_plan *plan = NULL;
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_options p = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    r.axes = &axis;
    r.naxes = 1;
    p.optimize = false;
    p.work_dir = work_dir;
    o.executor = vtable.name;
    cubed_status st = cubed_array_random(ctx, 2, shape, chunks, 42, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &r, &mean, err);
    if (st == CUBED_OK) {
        const cubed_target target = {.array = mean, .url = out, .overwrite = true};
        st = cubed_plan_new(ctx, &target, 1, &p, &plan, err);
    }
    if (st == CUBED_OK) st = cubed_run(plan, &o, stats, err);
    cubed_plan_unref(plan);
    cubed_array_unref(mean);
    cubed_array_unref(x);
    return st;
}

int main(void)
{
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = cubed_context_add_executor(ctx, &vtable, NULL, &err);
        if (st == CUBED_OK) st = compute(ctx, "means.zarr", "work", &stats, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) fprintf(stderr, "forks: %s\n", err.message);
    printf("%d tasks\n", (int)stats.num_tasks);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
