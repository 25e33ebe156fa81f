/* Worker processes: each is a program that loads the plan and serves ranges over a socket. One that
 * dies is replaced; the task that it was at fails with an error that may be tried again. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/executor.h"
#include "runtime/shared.h"
#include "runtime/wire.h"

/* The connection's descriptor in a worker; what is shared comes behind it. */
#define WORKER_FD 3
/* Descriptors that a worker inherits are made above this, out of the way of where they go. */
#define SPAWN_FD   100
#define STOP_NS    ((int64_t)10000000000)
#define STOP_STEP  ((int64_t)2000000)
#define MAX_ARGV   16
#define NAME_BYTES 24

typedef struct worker {
    pid_t pid; /* 0: is to be started */
    int fd;
    bool busy;
    cubed_task_range range; /* first: the task that reports next */
} worker;

typedef struct processes {
    cubed_executor head;
    cb_executor_args args;
    worker *workers;
    struct pollfd *polls; /* one per worker */
    cb_shared *shared;
    int nshared;
    unsigned turn; /* where the next poll starts to look */
} processes;

/* --- Starting ----------------------------------------------------------------------------------------- */

/* Sends a new worker what it works on. That it died already shows when it is polled. */
static void greet(const processes *x, int fd)
{
    cb_wire_hello hello;
    cb_wire_hello_init(&hello);
    hello.plan_size = x->args.blob_size;
    hello.resume = x->args.resume;
    hello.nshared = (uint64_t)x->nshared;
    if (cb_wire_send(fd, &hello, sizeof hello)) {
        bool ignored = cb_wire_send(fd, x->args.blob, x->args.blob_size);
        (void)ignored;
    }
}

static int spawn(const processes *x, int fd, pid_t *pid)
{
    char number[NAME_BYTES], *argv[MAX_ARGV];
    int n = 0;
    posix_spawn_file_actions_t actions;
    for (; x->args.worker_command[n]; n++) {
        if (n == MAX_ARGV - 2) return E2BIG;
        argv[n] = (char *)(uintptr_t)x->args.worker_command[n];
    }
    snprintf(number, sizeof number, "%d", WORKER_FD);
    argv[n] = number;
    argv[n + 1] = NULL;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) return rc;
    rc = posix_spawn_file_actions_adddup2(&actions, fd, WORKER_FD);
    for (int i = 0; i < x->nshared && rc == 0; i++)
        rc = posix_spawn_file_actions_adddup2(&actions, x->shared[i].fd, WORKER_FD + 1 + i);
    if (rc == 0) rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static cubed_status start_worker(const processes *x, worker *w, cubed_error *err)
{
    int ends[2], rc = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cb_fail_errno(err, errno, "cannot make a connection to a worker");
    int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, SPAWN_FD);
    if (theirs < 0) rc = errno;
    close(ends[1]);
    if (rc == 0) rc = spawn(x, theirs, &w->pid);
    if (theirs >= 0) close(theirs);
    if (rc != 0) {
        w->pid = 0;
        close(ends[0]);
        return cb_fail_errno(err, rc, "cannot start the worker %s", x->args.worker_command[0]);
    }
    w->fd = ends[0];
    greet(x, w->fd);
    return CUBED_OK;
}

/* --- Stopping ----------------------------------------------------------------------------------------- */

/* Waits for a process; its wait status, -1 if that is not known. */
static int reap(pid_t pid)
{
    int status;
    int64_t until = cb_clock_ns() + STOP_NS;
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid) return status;
        if (got < 0 && errno != EINTR) return -1;
        if (cb_clock_ns() > until) break;
        cb_sleep_ns(STOP_STEP);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return status;
}

static void end_worker(worker *w, cubed_error *err)
{
    int status;
    pid_t pid = w->pid;
    close(w->fd);
    status = reap(pid);
    *w = (worker){.pid = 0};
    if (status == -1)
        (void)cb_fail(err, CUBED_E_IO, "worker process %d ended", (int)pid);
    else if (WIFSIGNALED(status))
        (void)cb_fail(err, CUBED_E_IO, "worker process %d was ended by signal %d (%s)", (int)pid,
                      WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)cb_fail(err, CUBED_E_IO, "worker process %d ended with status %d", (int)pid,
                      WEXITSTATUS(status));
}

/* --- The vtable --------------------------------------------------------------------------------------- */

static cubed_status processes_submit(cubed_executor *ex, const cubed_task_range *range,
                                     cubed_error *err)
{
    processes *x = (processes *)ex;
    worker *w = x->workers, *end = x->workers + x->head.workers;
    while (w < end && w->busy) w++;
    CB_CHECK(w < end, err);
    if (!w->pid) CB_TRY(start_worker(x, w, err));
    w->busy = true;
    w->range = *range;
    /* If it is dead, the poll says so. */
    bool ignored = cb_wire_send(w->fd, range, sizeof *range);
    (void)ignored;
    return CUBED_OK;
}

/* A worker has something to say, or ended. */
static cubed_status hear(const processes *x, worker *w, cubed_task_report *report, cubed_error *err)
{
    if (!cb_wire_receive_report(x->args.plan->ctx, w->fd, report)) {
        cubed_task_range range = w->range;
        memset(report, 0, sizeof *report);
        report->token = range.token;
        report->task = range.first;
        report->start_ns = report->end_ns = cb_clock_ns();
        end_worker(w, &report->error);
        report->error.status = CUBED_E_IO;
        return CUBED_OK;
    }
    if (report->token == CB_WIRE_NO_START) {
        if (err) *err = report->error;
        return cb_context(err, report->error.status, "a worker process cannot start");
    }
    CB_CHECK(w->busy && report->token == w->range.token && report->task == w->range.first, err);
    if (++w->range.first == w->range.last || report->error.status != CUBED_OK) w->busy = false;
    return CUBED_OK;
}

static cubed_status processes_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                                   bool *got, cubed_error *err)
{
    processes *x = (processes *)ex;
    unsigned n = x->head.workers;
    *got = false;
    for (unsigned i = 0; i < n; i++) {
        worker *w = &x->workers[i];
        x->polls[i] = (struct pollfd){w->busy ? w->fd : -1, POLLIN, 0};
    }
    int ready = poll(x->polls, n, timeout_ms);
    if (ready < 0 && errno != EINTR) return cb_fail_errno(err, errno, "cannot wait for workers");
    for (unsigned k = 0; ready > 0 && k < n; k++) {
        unsigned i = (x->turn + k) % n;
        if (!x->polls[i].revents) continue;
        x->turn = i + 1;
        CB_TRY(hear(x, &x->workers[i], report, err));
        report->worker = i;
        *got = true;
        return CUBED_OK;
    }
    return CUBED_OK;
}

static size_t most_shared(const cubed_plan *p)
{
    return (size_t)p->ntargets + (size_t)p->ir.nnodes;
}

static void processes_free(processes *x)
{
    const cubed_allocator *a = &x->args.plan->ctx->alloc;
    cb_shared_close(x->shared, x->nshared);
    cb_free(a, x->workers, x->head.workers * sizeof *x->workers);
    cb_free(a, x->polls, x->head.workers * sizeof *x->polls);
    cb_free(a, x->shared, most_shared(x->args.plan) * sizeof *x->shared);
    cb_free(a, x, sizeof *x);
}

static void processes_close(cubed_executor *ex)
{
    processes *x = (processes *)ex;
    cubed_error ignored;
    for (unsigned i = 0; i < x->head.workers; i++) {
        const worker *w = &x->workers[i];
        /* Idle ones end when the connection does. */
        if (w->pid && w->busy) kill(w->pid, SIGTERM);
    }
    for (unsigned i = 0; i < x->head.workers; i++) {
        if (x->workers[i].pid) end_worker(&x->workers[i], &ignored);
    }
    /* Also after a failed run, whose results are unspecified. */
    cb_shared_fetch(x->args.plan, x->shared, x->nshared);
    processes_free(x);
}

static const cubed_executor_vtable processes_vtable = {
    "processes",
    processes_submit,
    processes_poll,
    processes_close,
};

cubed_status cb_executor_processes_open(const cb_executor_args *args, cubed_executor **out,
                                        cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    unsigned n = args->plan->max_workers;
    processes *x = cb_alloc_zero(a, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    x->head = (cubed_executor){&processes_vtable, n, n};
    x->args = *args;
    x->workers = cb_alloc_zero(a, n * sizeof *x->workers);
    x->polls = cb_alloc_zero(a, n * sizeof *x->polls);
    x->shared = cb_alloc_zero(a, most_shared(args->plan) * sizeof *x->shared);
    cubed_status st = x->workers && x->polls && x->shared
                          ? cb_shared_open(args->plan, SPAWN_FD, x->shared, &x->nshared, err)
                          : cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", n);
    if (st != CUBED_OK) {
        processes_free(x);
        return st;
    }
    *out = &x->head;
    return CUBED_OK;
}
