/* Executor with worker processes. Each worker loads the plan and receives ranges over a socket. A worker that dies is replaced.
 * Its current task fails with an error after which the task can be retried.
 *
 * The driver never waits for a single worker. Connections are non-blocking: unsent bytes (the bytes of the plan, which all
 * connections share, and one range) stay in memory here, and reports are assembled as they arrive.
 *
 * A range is assigned when a worker is ready for it, so the first worker that has started gets the first range. A worker
 * is started for an unassigned range only if fewer workers are starting than ranges are unassigned. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "mem/pages.h"
#include "run/executors/executor.h"
#include "run/executors/shared.h"
#include "run/executors/watchdog.h"
#include "run/executors/wire.h"
#include "store/http/net.h"

/* Descriptor of the connection in a worker; descriptors of shared memory follow. */
#define WORKER_FD 3
/* Descriptors that a worker inherits are created above this number, so that none of them has a number that another descriptor
 * will get in the worker. */
#define SPAWN_FD 100
/* Maximum nanoseconds until a worker has ended: an idle worker, a worker that was requested to end, and a worker that was killed.
 * The last limit includes the time that the system needs to free its memory. */
#define LEAVE_NS   ((int64_t)10000000000)
#define GRACE_NS   ((int64_t)500000000)
#define KILL_NS    ((int64_t)5000000000)
#define STOP_STEP  ((int64_t)2000000)
#define MAX_ARGV   16
#define NAME_BYTES 24

typedef enum worker_state {
    NONE, /* not started */
    STARTING,
    IDLE,
    BUSY
} worker_state;

typedef struct worker {
    worker_state state;
    pid_t pid; /* 0: no process */
    int fd;
    cubed_task_range range;             /* the tasks without a report, if the state is BUSY */
    uint8_t message[CUBED_RANGE_BYTES]; /* the range as it is sent */
    /* Numbers of bytes already sent of the greeting, the plan and the range. */
    size_t said_hello, said_plan, said_range;
    cb_wire_inbox in;
    /* Deadline for the end of the process, and how it ended. */
    int64_t until;
    bool killed;
    int status;
    uint64_t peak; /* resident bytes */
} worker;

typedef struct processes {
    cubed_executor head;
    cubed_executor_args args;
    cubed_range_message names; /* the names that the messages of all ranges have in common */
    uint8_t hello[CB_WIRE_HELLO_BYTES];
    worker *workers;
    struct pollfd *polls;     /* poll descriptors of the workers */
    cubed_task_range *ranges; /* ring of unassigned ranges */
    unsigned range_at, range_n;
    cb_shared *shared;
    int nshared;
    unsigned turn; /* index of the worker that is checked first after the next poll */
    /* number of kills in cb_oom_kills() that happened before the run, or are attributed to a worker */
    uint64_t oom_kills;
} processes;

/* --- Starting ----------------------------------------------------------------------------------------- */

/* Blocks SIGINT in workers. Only the driver gets Ctrl-C, and then stops the workers. */
static int set_signals(posix_spawnattr_t *attr)
{
    sigset_t mask;
    int rc = pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigaddset(&mask, SIGINT);
    sigdelset(&mask, SIGTERM);
    if (rc == 0) rc = posix_spawnattr_setsigmask(attr, &mask);
    return rc ? rc : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK);
}

/* Creates the environment of a worker. The environment contains the storage options, because plans do not contain them. *value
 * receives the options. */
static int make_environment(const processes *x, cb_buf *value, const char ***out)
{
    static const char name[] = CB_NET_OPTIONS "=";
    cubed_context *ctx = x->args.plan->ctx;
    size_t n = 0, k = 0;
    while (environ[n]) n++;
    cb_buf_puts(value, name);
    if (cb_net_put_options(&ctx->stores.net, value, NULL) != CUBED_OK) return ENOMEM;
    const char **all = cb_alloc(&ctx->alloc, (n + 2) * sizeof *all);
    if (!all) return ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], name, sizeof name - 1) != 0) all[k++] = environ[i];
    }
    all[k++] = value->data;
    while (k < n + 2) all[k++] = NULL;
    *out = all;
    return 0;
}

static void free_environment(const processes *x, cb_buf *value, const char **all)
{
    size_t n = 0;
    while (environ[n]) n++;
    if (value->data) explicit_bzero(value->data, value->cap);
    cb_buf_free(value);
    cb_free(&x->args.plan->ctx->alloc, all, (n + 2) * sizeof *all);
}

static int spawn(const processes *x, int fd, pid_t *pid)
{
    const char **environment = NULL;
    cb_buf value;
    char number[NAME_BYTES], *argv[MAX_ARGV];
    int n = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    for (; x->args.worker_command[n]; n++) {
        if (n == MAX_ARGV - 2) return E2BIG;
        argv[n] = (char *)(uintptr_t)x->args.worker_command[n];
    }
    snprintf(number, sizeof number, "%d", WORKER_FD);
    argv[n] = number;
    argv[n + 1] = NULL;
    int rc = posix_spawnattr_init(&attr);
    if (rc != 0) return rc;
    rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) {
        posix_spawnattr_destroy(&attr);
        return rc;
    }
    rc = set_signals(&attr);
    if (rc == 0) rc = posix_spawn_file_actions_adddup2(&actions, fd, WORKER_FD);
    for (int i = 0; i < x->nshared && rc == 0; i++)
        rc = posix_spawn_file_actions_adddup2(&actions, x->shared[i].fd, WORKER_FD + 1 + i);
    cb_buf_init(&value, &x->args.plan->ctx->alloc);
    if (rc == 0) rc = make_environment(x, &value, &environment);
    if (rc == 0)
        rc = posix_spawnp(pid, argv[0], &actions, &attr, argv,
                          (char *const *)(uintptr_t)environment);
    free_environment(x, &value, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return rc;
}

/* Sends as many of the worker's unsent bytes as possible without waiting. Ignores errors, because the death of a worker is
 * noticed when its connection is read. */
static void send_unsent(const processes *x, worker *w)
{
    bool open = cb_wire_send_some(w->fd, x->hello, sizeof x->hello, &w->said_hello);
    if (open && w->said_hello == sizeof x->hello)
        open = cb_wire_send_some(w->fd, x->args.plan_bytes, x->args.plan_size, &w->said_plan);
    if (open && w->said_plan == x->args.plan_size && w->state == BUSY)
        open = cb_wire_send_some(w->fd, w->message, sizeof w->message, &w->said_range);
    if (open) return;
    w->said_hello = sizeof x->hello;
    w->said_plan = x->args.plan_size;
    w->said_range = sizeof w->message;
}

static bool has_to_tell(const processes *x, const worker *w)
{
    return w->said_plan < x->args.plan_size ||
           (w->state == BUSY && w->said_range < sizeof w->message);
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
    w->state = STARTING;
    send_unsent(x, w);
    return CUBED_OK;
}

/* --- Stopping ----------------------------------------------------------------------------------------- */

/* Returns true if a worker whose connection is closed has ended. Kills the worker after its deadline. */
static bool has_ended(const processes *x, worker *w)
{
    struct rusage used;
    pid_t got = wait4(w->pid, &w->status, WNOHANG, &used);
    if (got == w->pid) {
        w->peak = (uint64_t)used.ru_maxrss * 1024;
        return true;
    }
    if (got == 0 || errno == EINTR) {
        int64_t now = cb_clock_ns();
        if (!w->killed && cubed_cancel_is_set(x->args.cancel))
            w->until = cb_min_i64(w->until, now + GRACE_NS);
        if (now <= w->until) return false;
        if (!w->killed) {
            kill(w->pid, SIGKILL);
            w->killed = true;
            w->until = now + KILL_NS;
            return false;
        }
    }
    w->status = -1; /* unknown */
    return true;
}

/* Closes the connection to a worker. shutdown() ends it even if a process that was forked from this one has it open. */
static void close_connection(const worker *w)
{
    shutdown(w->fd, SHUT_RDWR);
    close(w->fd);
}

/* Returns the reason why a worker ended, if the driver did not stop the worker. The system sends SIGTERM if it needs the worker's
 * resources. */
static cubed_failure failure_of(int status)
{
    if (status == -1) return CUBED_FAILURE_LOST;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGTERM ? CUBED_FAILURE_PREEMPTED : CUBED_FAILURE_LOST;
    if (WEXITSTATUS(status) == CB_STUCK_STATUS) return CUBED_FAILURE_TIMED_OUT;
    return WEXITSTATUS(status) == 0 ? CUBED_FAILURE_PREEMPTED : CUBED_FAILURE_LOST;
}

/* Returns true if the system killed a worker for lack of memory. Kills of other processes in the cgroup count as well. */
static bool was_out_of_memory(processes *x, const worker *w)
{
    if (w->killed || w->status == -1 || !WIFSIGNALED(w->status) || WTERMSIG(w->status) != SIGKILL ||
        cb_oom_kills() <= x->oom_kills)
        return false;
    x->oom_kills++;
    return true;
}

/* Ends a worker whose connection has ended. Returns its peak of resident memory. */
static uint64_t end_worker(processes *x, worker *w, cubed_error *err)
{
    pid_t pid = w->pid;
    close_connection(w);
    w->until = cb_clock_ns() + LEAVE_NS;
    while (!has_ended(x, w)) cb_sleep_ns(STOP_STEP);
    const int status = w->status;
    const uint64_t peak = w->peak;
    const bool out_of_memory = was_out_of_memory(x, w);
    cb_wire_inbox_clear(x->args.plan->ctx, &w->in);
    *w = (worker){.state = NONE};
    if (out_of_memory)
        (void)cb_fail(err, CUBED_E_NOMEM,
                      "worker process %d was killed by the system, which had no more memory for it",
                      (int)pid);
    else if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == CB_STUCK_STATUS)
        (void)cb_fail(
            err, CUBED_E_IO,
            "worker process %d ended itself: its task did not end within its time limit of %g s",
            (int)pid, x->args.task_timeout_ms / 1000.0);
    else if (status == -1)
        (void)cb_fail(err, CUBED_E_IO, "worker process %d ended", (int)pid);
    else if (WIFSIGNALED(status))
        (void)cb_fail(err, CUBED_E_IO, "worker process %d was ended by signal %d (%s)", (int)pid,
                      WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)cb_fail(err, CUBED_E_IO, "worker process %d ended with status %d", (int)pid,
                      WEXITSTATUS(status));
    err->failure = out_of_memory ? CUBED_FAILURE_MEMORY : failure_of(status);
    return peak;
}

/* Ends all workers immediately: an idle worker ends when its connection is closed, other workers get a signal. */
static void end_all(processes *x)
{
    const int64_t now = cb_clock_ns();
    for (unsigned i = 0; i < x->head.workers; i++) {
        worker *w = &x->workers[i];
        if (!w->pid) continue;
        if (w->state != IDLE) kill(w->pid, SIGTERM);
        w->until = now + (w->state == IDLE ? LEAVE_NS : GRACE_NS);
        close_connection(w);
        cb_wire_inbox_clear(x->args.plan->ctx, &w->in);
    }
    for (bool left = true; left;) {
        left = false;
        for (unsigned i = 0; i < x->head.workers; i++) {
            worker *w = &x->workers[i];
            if (w->pid && has_ended(x, w)) w->pid = 0;
            left = left || w->pid;
        }
        if (left) cb_sleep_ns(STOP_STEP);
    }
}

/* --- The vtable --------------------------------------------------------------------------------------- */

static cubed_task_range pop_range(processes *x)
{
    cubed_task_range range = x->ranges[x->range_at];
    x->range_at = (x->range_at + 1) % x->head.slots;
    x->range_n--;
    return range;
}

/* Assigns waiting ranges to idle workers. */
static void assign_ranges(processes *x)
{
    for (unsigned i = 0; i < x->head.workers && x->range_n > 0; i++) {
        worker *w = &x->workers[i];
        if (w->state != IDLE) continue;
        w->state = BUSY;
        w->range = x->names.range = pop_range(x);
        cubed_range_write(&x->names, w->message);
        w->said_range = 0;
        send_unsent(x, w);
    }
}

static cubed_status processes_submit(cubed_executor *ex, const cubed_task_range *range,
                                     cubed_error *err)
{
    processes *x = (processes *)ex;
    worker *none = NULL;
    unsigned coming = 0;
    CB_CHECK(x->range_n < x->head.slots, err);
    x->ranges[(x->range_at + x->range_n++) % x->head.slots] = *range;
    assign_ranges(x);
    for (unsigned i = 0; i < x->head.workers; i++) {
        worker *w = &x->workers[i];
        coming += w->state == STARTING;
        if (w->state == NONE) none = w;
    }
    if (coming >= x->range_n) return CUBED_OK;
    CB_CHECK(none, err);
    return start_worker(x, none, err);
}

/* Handles the end of a worker. Reports its range as lost or, if it had no range yet, one of the unassigned ranges. */
static void report_lost(processes *x, worker *w, cubed_task_report *report, bool *got)
{
    cubed_task_range range = w->range;
    *got = w->state == BUSY || (w->state == STARTING && x->range_n > 0);
    if (*got && w->state == STARTING) range = pop_range(x);
    memset(report, 0, sizeof *report);
    report->measured_mem = end_worker(x, w, &report->error);
    report->token = range.token;
    report->task = range.first;
    report->start_ns = report->end_ns = cb_clock_ns();
}

/* Handles a report or the end of a worker. */
static cubed_status handle_worker(processes *x, worker *w, cubed_task_report *report, bool *got,
                                  cubed_error *err)
{
    const cubed_task_report *r = &w->in.report;
    cb_wire_came came;
    CB_TRY(cb_wire_receive_some(x->args.plan->ctx, w->fd, &w->in, &came, err));
    if (came == CB_WIRE_END) report_lost(x, w, report, got);
    if (came != CB_WIRE_WHOLE) return CUBED_OK;
    if (r->token == CB_WIRE_NO_START) {
        if (err) *err = r->error;
        return cb_context(err, r->error.status, "a worker process cannot start");
    }
    if (r->token == CB_WIRE_READY) {
        CB_CHECK(w->state == STARTING, err);
        w->state = IDLE;
    } else {
        CB_CHECK(w->state == BUSY && r->token == w->range.token && r->task == w->range.first, err);
        if (++w->range.first == w->range.last || r->error.status != CUBED_OK) w->state = IDLE;
        *report = *r;
        *got = true;
    }
    assign_ranges(x);
    return CUBED_OK;
}

static cubed_status processes_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                                   bool *got, cubed_error *err)
{
    processes *x = (processes *)ex;
    unsigned n = x->head.workers;
    *got = false;
    for (unsigned i = 0; i < n; i++) {
        const worker *w = &x->workers[i];
        short events = has_to_tell(x, w) ? POLLIN | POLLOUT : POLLIN;
        x->polls[i] = (struct pollfd){w->pid ? w->fd : -1, events, 0};
    }
    int ready = poll(x->polls, n, timeout_ms);
    if (ready < 0 && errno != EINTR) return cb_fail_errno(err, errno, "cannot wait for workers");
    if (ready <= 0) return CUBED_OK;
    for (unsigned i = 0; i < n; i++) {
        if (x->polls[i].revents & POLLOUT) send_unsent(x, &x->workers[i]);
    }
    for (unsigned k = 0; k < n && !*got; k++) {
        unsigned i = (x->turn + k) % n;
        if (!(x->polls[i].revents & ~POLLOUT)) continue;
        CB_TRY(handle_worker(x, &x->workers[i], report, got, err));
        if (*got) x->turn = i + 1;
        if (*got) report->worker = i;
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
    cb_free(a, x->ranges, x->head.slots * sizeof *x->ranges);
    cb_free(a, x->shared, most_shared(x->args.plan) * sizeof *x->shared);
    cb_free(a, x, sizeof *x);
}

static void processes_close(cubed_executor *ex)
{
    processes *x = (processes *)ex;
    end_all(x);
    /* Fetch results even after a failed run; their values are then unspecified. */
    cb_shared_fetch(x->args.plan, x->shared, x->nshared);
    processes_free(x);
}

static cubed_status processes_open(const cubed_executor_args *args, cubed_executor **out,
                                   cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    const cb_executor_args *own = (const cb_executor_args *)args;
    unsigned n = args->workers;
    processes *x = cb_alloc_zero(a, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    x->head = (cubed_executor){.vt = &cb_executor_processes, .slots = n, .workers = n};
    x->oom_kills = cb_oom_kills();
    x->args = *args;
    x->workers = cb_alloc_zero(a, n * sizeof *x->workers);
    x->polls = cb_alloc_zero(a, n * sizeof *x->polls);
    x->ranges = cb_alloc_zero(a, n * sizeof *x->ranges);
    x->shared = cb_alloc_zero(a, most_shared(args->plan) * sizeof *x->shared);
    cubed_status st = x->workers && x->polls && x->ranges && x->shared
                          ? cb_shared_open(args->plan, SPAWN_FD, x->shared, &x->nshared, err)
                          : cb_fail(err, CUBED_E_NOMEM, "no memory for %u workers", n);
    if (st != CUBED_OK) {
        processes_free(x);
        return st;
    }
    cb_wire_hello hello = {.plan_size = args->plan_size,
                           .nshared = (uint32_t)x->nshared,
                           .resume = own->resume,
                           .timeout_ms = args->task_timeout_ms};
    snprintf(hello.plan, sizeof hello.plan, "%s", cb_io_plan(own->env.io));
    snprintf(hello.run, sizeof hello.run, "%s", args->run);
    cb_wire_put_hello(&hello, x->hello);
    memcpy(x->names.plan, hello.plan, sizeof hello.plan);
    memcpy(x->names.run, hello.run, sizeof hello.run);
    *out = &x->head;
    return CUBED_OK;
}

const cubed_executor_vtable cb_executor_processes = {
    .struct_size = sizeof cb_executor_processes,
    .name = "processes",
    .caps = {.maps_memory = true, .enforces_memory = true, .takes_command = true},
    .open = processes_open,
    .submit = processes_submit,
    .poll = processes_poll,
    .close = processes_close,
};
