/* A run that stores an array over itself, and is killed before its nth change of a file or a name, for every n and in both
 * formats: the old array or the new one is complete, and neither the next run nor a clean-up is blocked. All calls of the
 * library are made in separate processes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "plan_test.h"
#include "remove_dir.h"
#include "test_path.h"

/* --- Calls that change files and names ----------------------------------------------------------------- */

/* deadly: number of the change before which the process is killed; 0: never */
static int deadly, changes;

static void count_change(void)
{
    if (++changes == deadly) raise(SIGKILL);
}

typedef long (*syscall_fn)(long number, ...);

static long call(long number, long a, long b, long c, long d, long e)
{
    static syscall_fn real;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e);
}

/* These functions replace those of the C library in everything that is linked into this test. */
long syscall(long number, ...)
{
    long arg[5];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 5; i++) arg[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_renameat2) count_change();
    return call(number, arg[0], arg[1], arg[2], arg[3], arg[4]);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    count_change();
    return call(SYS_pwrite64, fd, (long)buf, (long)n, offset, 0);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    count_change();
    return (int)call(SYS_renameat2, from_dir, (long)from, to_dir, (long)to, 0);
}

int unlinkat(int dir, const char *name, int flags)
{
    count_change();
    return (int)call(SYS_unlinkat, dir, (long)name, flags, 0, 0);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    count_change();
    return (int)call(SYS_mkdirat, dir, (long)path, mode, 0, 0);
}

/* --- Steps ---------------------------------------------------------------------------------------------- */

enum { N = 10, CHUNK = 3 };

typedef struct fixture {
    char dir[64], path[96], notes[128];
    int zarr_format;
    double *found; /* numbers that a process has read; shared by all processes */
} fixture;

typedef void (*step_fn)(const fixture *f, cubed_context *ctx);

/* Runs a step in a separate process; returns whether the step ended. */
static bool do_step(const fixture *f, step_fn fn, int deadly_change)
{
    int status;
    assert_int_equal(fflush(NULL), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        cubed_context *ctx;
        if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) _exit(2);
        deadly = deadly_change;
        changes = 0;
        fn(f, ctx);
        deadly = 0;
        cubed_context_unref(ctx);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && deadly_change > 0) return false;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

static void end(const cubed_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    _exit(1);
}

/* `target` has everything except the array, which the function takes over. */
static void compute(cubed_context *ctx, cubed_array *x, cubed_target to)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_plan *plan;
    to.array = x;
    o.executor = "single-threaded";
    if (cubed_plan_new(ctx, &to, 1, NULL, &plan, &err) != CUBED_OK) end(&err);
    if (cubed_run(plan, &o, NULL, &err) != CUBED_OK) end(&err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static cubed_target place_of(const fixture *f)
{
    return (cubed_target){.url = f->path, .zarr_format = f->zarr_format, .overwrite = true};
}

static cubed_array *open_array(const fixture *f, cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    if (cubed_array_open(ctx, f->path, &x, &err) != CUBED_OK) end(&err);
    return x;
}

/* Stores 1, 2, 3, ..., so no element equals the fill value. */
static void store(const fixture *f, cubed_context *ctx)
{
    static const int64_t shape = N, chunk = CHUNK;
    static double values[N];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    for (int i = 0; i < N; i++) values[i] = i + 1;
    if (cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &shape, NULL, &chunk, values, &x, &err) !=
        CUBED_OK)
        end(&err);
    compute(ctx, x, place_of(f));
}

static void negate(const fixture *f, cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x = open_array(f, ctx), *y;
    if (cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err) != CUBED_OK) end(&err);
    cubed_array_unref(x);
    compute(ctx, y, place_of(f));
}

static void read_back(const fixture *f, cubed_context *ctx)
{
    compute(ctx, open_array(f, ctx), (cubed_target){.data = f->found});
}

static void clean(const fixture *f, cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_clean(ctx, f->dir, 0, NULL, NULL, NULL, &err) != CUBED_OK) end(&err);
}

/* --- Tests ---------------------------------------------------------------------------------------------- */

/* Returns the sign of the stored numbers, which tells which of the two arrays exists. */
static int which_is_there(const fixture *f)
{
    memset(f->found, 0, N * sizeof *f->found);
    assert_true(do_step(f, read_back, 0));
    const int sign = f->found[0] < 0 ? -1 : 1;
    for (int i = 0; i < N; i++) assert_true(f->found[i] == sign * (i + 1));
    return sign;
}

/* No other file is left next to the array, and the user's file still exists. */
static void check_alone(const fixture *f)
{
    assert_int_equal(access(f->notes, F_OK), 0);
    DIR *dir = opendir(f->dir);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        assert_true(e->d_name[0] == 'x' || strcmp(e->d_name, ".") == 0 ||
                    strcmp(e->d_name, "..") == 0);
    closedir(dir);
}

static void set_up(fixture *f)
{
    if (access(f->path, F_OK) == 0) assert_int_equal(remove_dir(f->path), 0);
    assert_true(do_step(f, store, 0));
    const int fd = open(f->notes, O_CREAT | O_WRONLY, 0600); /* the user's file, which is kept */
    assert_true(fd >= 0);
    close(fd);
}

static void kill_each(int zarr_format)
{
    fixture f = {.zarr_format = zarr_format};
    int old = 0, new = 0;
    f.found =
        mmap(NULL, N * sizeof *f.found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(f.found != MAP_FAILED);
    assert_non_null(mkdtemp(test_path(f.dir, sizeof f.dir, "cubed-killed-XXXXXX")));
    snprintf(f.path, sizeof f.path, "%s/x", f.dir);
    snprintf(f.notes, sizeof f.notes, "%s/notes.txt", f.path);
    for (int n = 1;; n++) {
        assert_true(n < 1000);
        set_up(&f);
        const bool whole = do_step(&f, negate, n);
        int sign = which_is_there(&f);
        *(sign > 0 ? &old : &new) += 1;
        if (n % 2 == 0) {
            assert_true(do_step(&f, clean, 0));
            assert_int_equal(which_is_there(&f), sign);
            check_alone(&f);
        }
        assert_true(do_step(&f, negate, 0));
        assert_int_equal(which_is_there(&f), -sign);
        check_alone(&f);
        if (whole) break;
    }
    /* Some processes were killed before the new array replaced the old one, and some after that. */
    print_message("format %d: %d times the old one, %d the new one\n", zarr_format, old, new);
    assert_true(old > 10 && new > 5);
    assert_int_equal(munmap(f.found, N * sizeof *f.found), 0);
    assert_int_equal(remove_dir(f.dir), 0);
}

static void test_format_2(void **state)
{
    (void)state;
    kill_each(2);
}

static void test_format_3(void **state)
{
    (void)state;
    kill_each(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_2),
        cmocka_unit_test(test_format_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
