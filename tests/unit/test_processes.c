/* The executor "processes", whose workers are this program: workers that end, that send nonsense or cannot start, and runs in
 * which an allocation or a system call fails, in the driver or in a worker. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#define FAULT_STEPS_FEW
#include "cubed/cubed.h"
#include "fault_steps.h"
#include "remove_dir.h"
#include "test_path.h"

/* The source is too large for the plan's bytes, so that workers map it. */
enum { N = 16384, CHUNK = 4096, WORKERS = 2 };

/* --- System calls that fail on demand -------------------------------------------------------------------- */

typedef enum call {
    CALL_NONE,
    CALL_SOCKETS,
    CALL_MEMORY_FILE,
    CALL_LENGTH,
    CALL_SPACE,
    CALL_NAMELESS,
    CALL_POLL,
    NCALLS
} call;

static call failing_call;

static bool fails(call which, int error)
{
    if (failing_call == which) errno = error;
    return failing_call == which;
}

/* These functions replace those of the C library. */
int socketpair(int domain, int type, int protocol, int fds[2])
{
    return fails(CALL_SOCKETS, EMFILE) ? -1
                                       : (int)syscall(SYS_socketpair, domain, type, protocol, fds);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(CALL_MEMORY_FILE, EMFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t size)
{
    return fails(CALL_LENGTH, ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int posix_fallocate(int fd, off_t from, off_t size)
{
    if (fails(CALL_SPACE, ENOSPC)) return ENOSPC;
    return syscall(SYS_fallocate, fd, 0, from, size) == 0 ? 0 : errno;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (fails(CALL_POLL, ENOMEM)) return -1;
    const struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &t, NULL, 0);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if ((flags & O_TMPFILE) == O_TMPFILE && fails(CALL_NAMELESS, EOPNOTSUPP)) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* --- Workers --------------------------------------------------------------------------------------------- */

/* Returns true for the first worker only: it creates the file. */
static bool is_first(const char *path)
{
    const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Runs a worker. `how` says what the first one does, or the number of the allocation that fails. `file` exists if there was an
 * earlier one. */
static int serve(const char *how, const char *file, int fd)
{
    failing memory = {.at = 0};
    cubed_context *ctx;
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    const cubed_allocator a = failing_allocator(&memory);
    if (strcmp(how, "serve") != 0 && is_first(file)) {
        static const char nonsense[256] = "these bytes are no report";
        if (strcmp(how, "killed") == 0) raise(SIGKILL);
        if (strcmp(how, "terminated") == 0) raise(SIGTERM);
        if (strncmp(how, "exit ", 5) == 0) return (int)strtol(how + 5, NULL, 10);
        if (strcmp(how, "nonsense") == 0 && write(fd, nonsense, sizeof nonsense) < 0) return 1;
        if (strncmp(how, "memory ", 7) == 0) memory.at = strtol(how + 7, NULL, 10);
    }
    o.allocator = &a;
    if (cubed_context_new(&o, &ctx, NULL) != CUBED_OK) return 3;
    const cubed_status st = cubed_worker_serve(ctx, fd, NULL, NULL);
    cubed_context_unref(ctx);
    if (memory.live) return 4;
    return st == CUBED_OK ? 0 : 5;
}

/* --- Runs ------------------------------------------------------------------------------------------------ */

typedef struct fixture {
    char dir[64], work[96], file[96];
    char how[32];
    const char *program; /* NULL: this program */
    int retries;
    cubed_run_stats stats;
    double data[N], got[N];
} fixture;

static char self[4096];

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_path(f->dir, sizeof f->dir, "cubed-test-processes-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->work, sizeof f->work, "%s/a/work", f->dir);
    snprintf(f->file, sizeof f->file, "%s/first", f->dir);
    for (int i = 0; i < N; i++) f->data[i] = i;
    strcpy(f->how, "serve");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    const int rc = remove_dir(f->dir);
    free(f);
    return rc;
}

/* Computes x - mean(x) into memory. */
static cubed_status make_plan(fixture *f, cubed_context *ctx, cubed_plan **out, cubed_error *err)
{
    static const int64_t shape = N, chunk = CHUNK;
    cubed_array *x = NULL, *mean = NULL, *y = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_reduce_options keep = CUBED_REDUCE_OPTIONS_INIT;
    keep.keepdims = true;
    o.max_workers = WORKERS;
    o.reserved_mem = (uint64_t)2 << 30; /* the private memory of a worker, with sanitizers too */
    o.allowed_mem = (uint64_t)2 << 30 | (uint64_t)16 << 20;
    o.work_dir = f->work;
    o.other_machines = true;
    o.optimize = false;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &shape, NULL, &chunk, f->data, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &keep, &mean, err);
    cubed_array *args[2] = {x, mean};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &y, err);
    const cubed_target t = {.array = y, .data = f->got};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &t, 1, &o, out, err);
    cubed_array_unref(x);
    cubed_array_unref(mean);
    cubed_array_unref(y);
    return st;
}

static cubed_status run_with(void *state, const cubed_allocator *a, cubed_error *err)
{
    fixture *f = state;
    const char *const command[] = {f->program ? f->program : self, "--worker", f->how, f->file,
                                   NULL};
    cubed_context *ctx;
    cubed_plan *plan;
    cubed_context_options c = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    memset(f->got, 0, sizeof f->got);
    (void)unlink(f->file);
    c.allocator = a;
    cubed_status st = cubed_context_new(&c, &ctx, err);
    if (st != CUBED_OK) return st;
    o.executor = "processes";
    o.worker_command = command;
    o.retries = f->retries;
    o.backups = false;
    st = make_plan(f, ctx, &plan, err);
    if (st == CUBED_OK) {
        st = cubed_run(plan, &o, &f->stats, err);
        cubed_plan_unref(plan);
    }
    cubed_context_unref(ctx);
    return st;
}

static void check_result(void *state, cubed_status st)
{
    const fixture *f = state;
    for (int i = 0; st == CUBED_OK && i < N; i++) assert_true(f->got[i] == i - (N - 1) / 2.0);
}

static void expect(fixture *f, cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = run_with(f, NULL, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("%s: status %d, \"%s\"", f->how, st, err.message);
    check_result(f, st);
}

/* A worker that ends is replaced. Its task counts as tried, unless the worker was asked to end. */
static void test_workers_that_end(void **state)
{
    static const struct {
        const char *how, *says;
        bool counts;
    } cases[] = {{"killed", "was ended by signal 9 (Killed)", true},
                 {"terminated", "", false},
                 {"exit 0", "", false},
                 {"exit 3", "ended with status 3", true},
                 {"exit 124", "its task did not end within its time limit", true}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(f->how, sizeof f->how, "%s", cases[i].how);
        f->retries = 0;
        if (cases[i].counts) expect(f, CUBED_E_IO, cases[i].says);
        f->retries = cases[i].counts;
        expect(f, CUBED_OK, "");
        assert_int_equal(f->stats.num_retries, 1);
    }
}

static void test_workers_that_cannot_work(void **state)
{
    fixture *f = *state;
    strcpy(f->how, "nonsense");
    expect(f, CUBED_E_FORMAT, "");
    strcpy(f->how, "serve");
    f->program = "/no/such/program";
    expect(f, CUBED_E_NOT_FOUND, "cannot start the worker /no/such/program");
}

/* The worker reports its error, and frees all memory: it ends with status 4 otherwise. */
static void test_memory_of_workers(void **state)
{
    fixture *f = *state;
    for (long n = 1; n < 400; n += 1 + n / 8) {
        cubed_error err = CUBED_ERROR_INIT;
        snprintf(f->how, sizeof f->how, "memory %ld", n);
        const cubed_status st = run_with(f, NULL, &err);
        if (st != CUBED_OK && st != CUBED_E_NOMEM && !strstr(err.message, "ended with status 3"))
            fail_msg("allocation %ld: status %d, \"%s\"", n, st, err.message);
        check_result(f, st);
    }
}

static void test_memory_of_the_driver(void **state)
{
    assert_true(fail_each_allocation("processes", run_with, check_result, *state) > 20);
}

static void test_system_calls(void **state)
{
    static const struct {
        cubed_status status;
        const char *says;
    } cases[NCALLS] = {
        [CALL_SOCKETS] = {CUBED_E_IO, "cannot make a connection to a worker"},
        [CALL_MEMORY_FILE] = {CUBED_E_IO, "cannot share a result of 131072 bytes with workers"},
        [CALL_LENGTH] = {CUBED_E_IO, "cannot share a result of 131072 bytes with workers"},
        [CALL_SPACE] = {CUBED_E_IO, "cannot put 131072 bytes of the caller's memory into"},
        [CALL_NAMELESS] = {CUBED_OK, ""}, /* a file with a name, which is removed at once */
        [CALL_POLL] = {CUBED_E_NOMEM, "cannot wait for workers"}};
    fixture *f = *state;
    for (int c = 1; c < NCALLS; c++) {
        failing_call = (call)c;
        expect(f, cases[c].status, cases[c].says);
        failing_call = CALL_NONE;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_workers_that_end), TEST(test_workers_that_cannot_work),
        TEST(test_memory_of_workers), TEST(test_memory_of_the_driver), TEST(test_system_calls)};
    if (argc == 5 && strcmp(argv[1], "--worker") == 0)
        return serve(argv[2], argv[3], (int)strtol(argv[4], NULL, 10));
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
