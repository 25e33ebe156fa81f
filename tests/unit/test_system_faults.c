/* Whole runs in which the nth read, write, rename, sync or start of a thread fails, for every n: a right result or an error,
 * never an array that only looks complete, and nothing that blocks the next run. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "whole_runs.h"

/* --- System calls that fail on demand ----------------------------------------------------------------- */

typedef enum call {
    CALL_NONE,
    CALL_READ,
    CALL_WRITE,
    CALL_RENAME,
    CALL_SYNC,
    CALL_THREAD,
    CALL_OPEN,
    CALL_MAKE,
    CALL_LOOK,
    CALL_UNLINK,
} call;

static struct {
    call which;
    int nth;   /* number of the call that fails, counted from 1 */
    bool once; /* if false, all later calls fail too */
    int error;
} fault;
static atomic_int calls, hits;

static bool fails(call which)
{
    if (fault.which != which) return false;
    int n = atomic_fetch_add(&calls, 1) + 1;
    if (fault.once ? n != fault.nth : n < fault.nth) return false;
    atomic_fetch_add(&hits, 1);
    errno = fault.error;
    return true;
}

static void arm(call which, int nth, bool once, int error)
{
    atomic_store(&calls, 0);
    atomic_store(&hits, 0);
    fault.nth = nth;
    fault.once = once;
    fault.error = error;
    fault.which = which;
}

static int disarm(void)
{
    fault.which = CALL_NONE;
    return atomic_load(&hits);
}

/* These functions replace those of the C library in everything that is linked into this test. */
ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
    return fails(CALL_READ) ? -1 : (ssize_t)syscall(SYS_pread64, fd, buf, n, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    return fails(CALL_WRITE) ? -1 : (ssize_t)syscall(SYS_pwrite64, fd, buf, n, offset);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return fails(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int openat(int dir, const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return fails(CALL_MAKE) ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

int fstatat(int dir, const char *path, struct stat *out, int flags)
{
    return fails(CALL_LOOK) ? -1 : (int)syscall(SYS_newfstatat, dir, path, out, flags);
}

int unlinkat(int dir, const char *path, int flags)
{
    return fails(CALL_UNLINK) ? -1 : (int)syscall(SYS_unlinkat, dir, path, flags);
}

/* The linker replaces this function in the library (--wrap), because sanitizers need their own pthread_create. */
int real_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *),
                void *arg) __asm__("__real_pthread_create");
int create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *),
           void *arg) __asm__("__wrap_pthread_create");

int create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return fails(CALL_THREAD) ? fault.error : real_create(id, attr, fn, arg);
}

int fsync(int fd) { return fails(CALL_SYNC) ? -1 : (int)syscall(SYS_fsync, fd); }

/* --- Runs -------------------------------------------------------------------------------------------- */

/* Lets the nth call fail, for n = 1, 2, ..., until a run makes fewer calls. Returns the number of calls of a run. */
static int fail_each(fixture *f, const char *executor, call which, bool once, int error,
                     int retries)
{
    for (int n = 1;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        arm(which, n, once, error);
        cubed_status st = run(f, executor, retries, &err);
        int failed = disarm();
        if (st == CUBED_OK) {
            check_output(f);
        } else {
            assert_true(failed > 0);
            assert_int_equal(st, CUBED_E_IO);
            assert_true(strlen(err.message) > 10);
            assert_false(looks_whole(f));
            /* Leftovers do not block the next run. */
            if (run(f, executor, 0, &err) != CUBED_OK) fail_msg("call %d: %s", n, err.message);
            check_output(f);
        }
        /* If a retry is left, a transient fault of a task must not fail the run. */
        remove_tree(f->out);
        if (failed == 0) return n - 1;
        assert_true(n < 1000);
    }
}

static void test_reads(void **state)
{
    fixture *f = *state;
    int n = fail_each(f, "single-threaded", CALL_READ, false, EIO, 0);
    assert_true(n >= N / CHUNK);
    fail_each(f, "threads", CALL_READ, false, EIO, 0);
    fail_each(f, "threads", CALL_READ, true, EIO, 1);
}

static void test_writes(void **state)
{
    fixture *f = *state;
    int n = fail_each(f, "single-threaded", CALL_WRITE, false, ENOSPC, 0);
    assert_true(n > N / 20);
    fail_each(f, "threads", CALL_WRITE, false, ENOSPC, 0);
    fail_each(f, "threads", CALL_WRITE, true, EIO, 1);
}

static void test_renames(void **state)
{
    fixture *f = *state;
    int n = fail_each(f, "single-threaded", CALL_RENAME, false, EIO, 0);
    assert_true(n > N / 20);
    fail_each(f, "threads", CALL_RENAME, true, EIO, 1);
}

static void test_opens(void **state)
{
    fixture *f = *state;
    assert_true(fail_each(f, "single-threaded", CALL_OPEN, false, EIO, 0) > N / 20);
    fail_each(f, "single-threaded", CALL_OPEN, true, EMFILE, 0);
    fail_each(f, "threads", CALL_OPEN, true, EIO, 1);
}

static void test_directories(void **state)
{
    fixture *f = *state;
    assert_true(fail_each(f, "single-threaded", CALL_MAKE, false, EIO, 0) > 1);
    fail_each(f, "single-threaded", CALL_MAKE, true, ENOSPC, 0);
    /* Let only one call fail. If all later calls failed too, the record of the run would stay, and its process is alive. */
    assert_true(fail_each(f, "single-threaded", CALL_LOOK, true, EIO, 0) > 1);
}

/* Files that cannot be removed do not hinder the next run. */
static void test_removals(void **state)
{
    fixture *f = *state;
    fail_each(f, "single-threaded", CALL_UNLINK, true, EIO, 0);
    f->spill = true;
    fail_each(f, "single-threaded", CALL_UNLINK, true, EIO, 0);
}

/* By default nothing is synced. If the user requests it, everything is synced, and a failing sync is an error. */
static void test_syncs(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    arm(CALL_SYNC, 1, false, EIO);
    assert_int_equal(run(f, "threads", 0, &err), CUBED_OK);
    assert_int_equal(disarm(), 0);
    remove_tree(f->out);
    f->durable = true;
    int n = fail_each(f, "single-threaded", CALL_SYNC, false, EIO, 0);
    assert_true(n >= 2 * (N / 20 + 1)); /* syncs the file and the directory of each chunk */
}

/* Threads of workers, and the thread that writes heartbeats: the started ones are stopped, and the run ends with the reason. */
static void test_thread_starts(void **state)
{
    fixture *f = *state;
    assert_int_equal(fail_each(f, "threads", CALL_THREAD, false, EAGAIN, 3), WORKERS + 1);
    assert_int_equal(fail_each(f, "threads", CALL_THREAD, true, EAGAIN, 3), WORKERS + 1);
}

/* A call that fails once while tasks run is retried: only tasks read the chunks of the source. */
static void test_one_failed_read_of_a_chunk_is_retried(void **state)
{
    fixture *f = *state;
    /* Start with the second read, because the first one is of the metadata. One of the others is of the run's own record. */
    for (int n = 2; n < 3 + N / CHUNK; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        arm(CALL_READ, n, true, EIO);
        cubed_status st = run(f, "threads", 1, &err);
        assert_int_equal(disarm(), 1);
        if (st != CUBED_OK && strstr(err.message, "zarr.json")) continue;
        if (st != CUBED_OK && strstr(err.message, ".cubed-run")) continue;
        if (st != CUBED_OK) fail_msg("read %d: %s", n, err.message);
        check_output(f);
        remove_tree(f->out);
    }
}

/* The same faults in stages of every kind, with intermediates in memory and in the work directory. */
static void test_kinds_of_stages(void **state)
{
    static const shape_of_work kinds[] = {AS_IT_IS, SORTED, PICKED, RESHAPED, TOTALS, GROUPED};
    fixture *f = *state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int writes[2];
        expect_work(f, kinds[k]);
        for (int spill = 0; spill < 2; spill++) {
            f->spill = spill;
            fail_each(f, "single-threaded", CALL_READ, false, EIO, 0);
            writes[spill] = fail_each(f, "single-threaded", CALL_WRITE, false, ENOSPC, 0);
            fail_each(f, "threads", CALL_WRITE, false, EIO, 0);
            fail_each(f, "single-threaded", CALL_RENAME, false, EIO, 0);
        }
        assert_true(writes[1] > writes[0]); /* the second plan has written intermediates as well */
    }
}

/* A chunk that is assembled in its file leaves nothing behind, whichever piece fails. */
static void test_pieces_of_a_chunk(void **state)
{
    static const int64_t shape[2] = {ROWS, ROW}, chunk[2] = {ROWS_OF_CHUNK, ROW};
    static double data[ROWS][ROW];
    fixture *f = *state;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROW; j++) data[i][j] = i + j;
    }
    for (int j = 0; j < ROW; j++) f->expected[j] = (ROWS - 1) / 2.0 + j;
    remove_tree(f->src);
    assert_int_equal(store(f, 2, shape, chunk, data[0], RAW), CUBED_OK);
    f->rows = true;
    f->count = ROW;
    fail_each(f, "threads", CALL_READ, false, EIO, 0);
    const int whole = fail_each(f, "single-threaded", CALL_WRITE, false, ENOSPC, 0);
    assert_true(whole > 4); /* writes of the pieces and of documents */
    fail_each(f, "threads", CALL_WRITE, false, ENOSPC, 0);
    fail_each(f, "threads", CALL_WRITE, true, EIO, 1);
    fail_each(f, "threads", CALL_RENAME, false, EIO, 0);
    fail_each(f, "threads", CALL_RENAME, true, EIO, 1);
    f->durable = true;
    fail_each(f, "threads", CALL_SYNC, false, EIO, 0);
    fail_each(f, "threads", CALL_SYNC, true, EIO, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reads),
        TEST(test_writes),
        TEST(test_renames),
        TEST(test_opens),
        TEST(test_directories),
        TEST(test_removals),
        TEST(test_syncs),
        TEST(test_kinds_of_stages),
        TEST(test_thread_starts),
        TEST(test_pieces_of_a_chunk),
        TEST(test_one_failed_read_of_a_chunk_is_retried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
