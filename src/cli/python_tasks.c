#define _GNU_SOURCE
#include "python_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "cubed/sys/message.h"
#include "cubed/sys/python_code.h"
#include "python.h"

/* Descriptors of the child: it reads the plan from one, and writes the reports to the other. */
enum { PLAN_FD = 3, REPORTS_FD = 4 };
/* Exit status of a process if a task exceeded its time limit. timeout(1) uses the same number. */
enum { EXIT_STUCK = 124 };

/* --- Loading plans ------------------------------------------------------------------------------------ */

static cubed_status fail(cubed_error *err, cubed_status status, const char *text)
{
    err->status = status;
    err->os_errno = 0;
    snprintf(err->message, sizeof err->message, "%s", text);
    return status;
}

/* Called when a plan with the function is loaded. */
static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    ((python_functions *)ctx)->found = true;
    return cubed_python_check(call, NULL, err);
}

cubed_status python_refuse(cubed_error *err)
{
    return fail(err, CUBED_E_UNSUPPORTED,
                "the plan has Python functions: run it in Python, by cubed.load_plan(data, "
                "allow_code=True).execute(), or as jobs, by cubed submit --allow-code");
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)call, (void)ctx;
    return python_refuse(err);
}

cubed_status python_add_functions(cubed_context *ctx, python_functions *f, cubed_error *err)
{
    *f = (python_functions){.fn = {.struct_size = sizeof f->fn,
                                   .version = CUBED_BLOCK_VERSION,
                                   .name = CUBED_PYTHON_NAME,
                                   .check = check,
                                   .need = cubed_python_need,
                                   .run = run,
                                   .title = cubed_python_title,
                                   .code = true,
                                   .ctx = f}};
    return cubed_context_add_block_fn(ctx, &f->fn, err);
}

cubed_status python_load_plan(cubed_context *ctx, python_functions *f, const void *data,
                              size_t size, bool allow_code, cubed_plan **plan, cubed_error *err)
{
    const cubed_status st = python_add_functions(ctx, f, err);
    if (st != CUBED_OK) return st;
    return (allow_code ? cubed_plan_load_code : cubed_plan_load)(ctx, data, size, plan, err);
}

/* --- Running tasks ------------------------------------------------------------------------------------ */

static cubed_status fail_call(cubed_error *err, const char *what, int e)
{
    err->status = CUBED_E_IO;
    err->os_errno = e;
    snprintf(err->message, sizeof err->message, "%s for Python functions: %s", what, strerror(e));
    return CUBED_E_IO;
}

/* Returns a descriptor of a file in memory with the plan, at its start; -1 on an error. */
static int plan_file(const python_range *r)
{
    const char *at = r->plan;
    size_t left = r->plan_size;
    const int fd = memfd_create("plan", MFD_CLOEXEC);
    while (fd >= 0 && left > 0) {
        const ssize_t n = write(fd, at, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            close(fd);
            return -1;
        }
        at += n;
        left -= (size_t)n;
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

/* Starts the process. Returns 0, or an errno. */
static int start(const python_range *r, int plan, int reports, pid_t *pid)
{
    char hex[2 * CUBED_RANGE_BYTES + 1], *name = (char *)(uintptr_t)python_name();
    posix_spawn_file_actions_t actions;
    for (size_t i = 0; i < r->message_size; i++) snprintf(hex + 2 * i, 3, "%02x", r->message[i]);
    char *argv[] = {name, "-m", "cubed.runtime.saved_plan", hex, r->skip_done ? "missing" : "all",
                    NULL};
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    /* The first dup2 must not overwrite the descriptor that the second dup2 copies. */
    const int spare =
        reports == PLAN_FD ? fcntl(reports, F_DUPFD_CLOEXEC, REPORTS_FD + 1) : reports;
    int failed = spare < 0 ? errno : posix_spawn_file_actions_adddup2(&actions, plan, PLAN_FD);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, spare, REPORTS_FD);
    (void)fflush(NULL);
    if (!failed) failed = posix_spawnp(pid, name, &actions, NULL, argv, environ);
    if (spare >= 0 && spare != reports) close(spare);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Reads all of a pipe. If a signal sets cli_cancel meanwhile, ends the process at the other end. Returns 0, or an errno. */
static int read_reports(int fd, pid_t pid, char **bytes, size_t *size)
{
    size_t room = 0;
    *bytes = NULL;
    *size = 0;
    for (;;) {
        if (*size == room) *bytes = cli_resize(*bytes, room = 2 * room + 4096);
        const ssize_t n = read(fd, *bytes + *size, room - *size);
        if (n == 0) return 0;
        if (n < 0 && errno != EINTR) return errno;
        if (n < 0 && cubed_cancel_is_set(&cli_cancel)) kill(pid, SIGTERM);
        if (n > 0) *size += (size_t)n;
    }
}

/* Waits for the process to end. Sets an error that describes how it failed. */
static cubed_status end(pid_t pid, cubed_error *err)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return fail_call(err, "cannot wait for the process", errno);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return CUBED_OK;
    if (cubed_cancel_is_set(&cli_cancel)) return fail(err, CUBED_E_CANCELLED, "interrupted");
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STUCK) exit(EXIT_STUCK);
    err->status = CUBED_E_IO;
    err->os_errno = 0;
    /* Python itself failed if the status is 1: its standard error says why. */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_FAILURE)
        err->failure = CUBED_FAILURE_LOST;
    if (WIFSIGNALED(status))
        snprintf(err->message, sizeof err->message,
                 "the process that ran Python functions was ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGKILL ? ", as the system does if memory is short" : "");
    else
        snprintf(err->message, sizeof err->message,
                 "the process of %s that runs Python functions ended with status %d", python_name(),
                 WEXITSTATUS(status));
    return CUBED_E_IO;
}

cubed_status python_perform(const python_range *range, void **reports, size_t *reports_size,
                            cubed_error *err)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    int ends[2];
    pid_t pid;
    char *bytes = NULL;
    if (python_check("worker", needed, 1, "runs the plan's functions", NULL) != EXIT_SUCCESS)
        return fail(err, CUBED_E_UNSUPPORTED, "the plan has Python functions");
    const int plan = plan_file(range);
    if (plan < 0) return fail_call(err, "cannot store the plan", errno);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        const int e = errno;
        close(plan);
        return fail_call(err, "cannot make a pipe", e);
    }
    int failed = start(range, plan, ends[1], &pid);
    close(plan);
    close(ends[1]);
    cubed_status st = failed ? fail_call(err, "cannot start Python", failed) : CUBED_OK;
    if (st == CUBED_OK) {
        failed = read_reports(ends[0], pid, &bytes, reports_size);
        if (failed) kill(pid, SIGKILL);
        st = end(pid, err);
        if (st == CUBED_OK && failed) st = fail_call(err, "cannot read reports", failed);
    }
    close(ends[0]);
    if (st == CUBED_OK)
        *reports = bytes;
    else
        cli_free(bytes);
    return st;
}
