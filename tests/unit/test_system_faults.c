/* Whole runs in which the nth read, write, rename, sync or start of a thread fails, for every n: a
 * right result or an error, never an array that looks whole, and nothing that hinders the next run. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "remove_dir.h"

/* --- System calls that fail when they are told to ----------------------------------------------------- */

typedef enum call { CALL_NONE, CALL_READ, CALL_WRITE, CALL_RENAME, CALL_SYNC, CALL_THREAD } call;

static struct {
    call which;
    int nth;   /* the call that fails, from 1 */
    bool once; /* else those behind it, too */
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

/* These stand before the C library's for everything that is linked into this test. */
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

/* The linker puts this one in the library's way (--wrap): sanitizers need theirs behind it. */
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

enum { N = 48, CHUNK = 16, WORKERS = 2 };
/* A reduction of rows so long that workers share the result's only chunk. */
enum { ROWS = 40, ROWS_OF_CHUNK = 10, ROW = 8190 };

/* What is made of x - mean(x), by stages of another kind each. */
typedef enum shape_of_work { AS_IT_IS, SORTED, PICKED, RESHAPED, TOTALS, GROUPED } shape_of_work;
enum { NGROUPS = 4 };

#define RAW "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"

typedef struct fixture {
    char dir[64], src[128], out[128], work[128];
    cubed_context *ctx;
    double data[N], expected[ROW];
    int count; /* elements of the result */
    bool rows; /* the source has them, and the result is their mean */
    shape_of_work work_on;
    bool durable, spill; /* intermediates have no room in memory */
} fixture;

static void remove_tree(const char *path)
{
    if (access(path, F_OK) == 0) assert_int_equal(remove_dir(path), 0);
}

static cubed_status pick_positive(const fixture *f, cubed_array *x, cubed_array **out,
                                  cubed_error *err)
{
    static const cubed_scalar zero;
    cubed_array *nothing = NULL, *mask = NULL;
    cubed_status st = cubed_array_full(f->ctx, CUBED_FLOAT64, 0, NULL, NULL, &zero, &nothing, err);
    cubed_array *args[2] = {x, nothing};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_GREATER, args, 2, &mask, err);
    if (st == CUBED_OK) st = cubed_compress(x, mask, NULL, N / 2, out, err);
    cubed_array_unref(nothing);
    cubed_array_unref(mask);
    return st;
}

static cubed_status sum_groups(const fixture *f, cubed_array *x, cubed_array **out,
                               cubed_error *err)
{
    static const int64_t shape[1] = {N};
    static const int axis = 0;
    static int32_t groups[N];
    cubed_array *codes;
    for (int i = 0; i < N; i++) groups[i] = i % NGROUPS;
    cubed_status st =
        cubed_array_from_memory(f->ctx, CUBED_INT32, 1, shape, NULL, shape, groups, &codes, err);
    if (st != CUBED_OK) return st;
    st = cubed_groupby_reduce(x, codes, &axis, 1, NGROUPS, CUBED_GROUP_SUM, NULL, out, err);
    cubed_array_unref(codes);
    return st;
}

static cubed_status work_on(const fixture *f, cubed_array *x, cubed_array **out, cubed_error *err)
{
    static const int64_t shape[2] = {6, 8}, chunk[1] = {20}, chunks[2] = {4, 8};
    cubed_array *y = NULL;
    cubed_status st = CUBED_OK;
    switch (f->work_on) {
    case AS_IT_IS: y = cubed_array_ref(x); break;
    case SORTED: st = cubed_sort(x, 0, true, &y, err); break;
    case PICKED: st = pick_positive(f, x, &y, err); break;
    case RESHAPED: st = cubed_reshape(x, 2, shape, &y, err); break;
    case TOTALS: st = cubed_cumulative(CUBED_REDUCE_SUM, x, 0, false, &y, err); break;
    case GROUPED: st = sum_groups(f, x, &y, err); break;
    }
    if (st == CUBED_OK) st = cubed_rechunk(y, f->work_on == RESHAPED ? chunks : chunk, out, err);
    cubed_array_unref(y);
    return st;
}

/* Leaves nothing to intermediates. */
static cubed_status take_the_rest(cubed_plan *plan, cubed_error *err)
{
    cubed_plan_info info;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_get_info(plan, &info);
    o.reserved_mem = info.allowed_mem - info.projected_mem;
    return cubed_plan_set_limits(plan, &o, err);
}

/* Stored as written: every operation's result is an intermediate. */
static cubed_status make_plan(fixture *f, cubed_plan **plan, cubed_error *err)
{
    cubed_array *x = NULL, *mean = NULL, *y = NULL, *z = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_reduce_options keep = CUBED_REDUCE_OPTIONS_INIT;
    keep.keepdims = true;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &keep, &mean, err);
    cubed_array *args[2] = {x, mean};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &y, err);
    if (st == CUBED_OK) st = work_on(f, y, &z, err);
    cubed_target t = {.array = z, .url = f->out, .durable = f->durable};
    o.max_workers = WORKERS;
    o.reserved_mem = 1;
    o.allowed_mem = (uint64_t)8 << 20;
    o.work_dir = f->work;
    o.optimize = false;
    if (st == CUBED_OK) st = cubed_plan_new(f->ctx, &t, 1, &o, plan, err);
    if (st == CUBED_OK && f->spill) st = take_the_rest(*plan, err);
    cubed_array_unref(x);
    cubed_array_unref(mean);
    cubed_array_unref(y);
    cubed_array_unref(z);
    return st;
}

/* Pieces of the result go into the file of its chunk as they are made. */
static cubed_status make_plan_of_rows(const fixture *f, cubed_plan **plan, cubed_error *err)
{
    static const int axis = 0;
    cubed_array *x = NULL, *y = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_reduce_options first = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_info info;
    first.axes = &axis;
    first.naxes = 1;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &first, &y, err);
    const cubed_target t = {.array = y, .url = f->out, .durable = f->durable, .codecs = RAW};
    o.max_workers = WORKERS;
    if (st == CUBED_OK) st = cubed_plan_new(f->ctx, &t, 1, &o, plan, err);
    if (st == CUBED_OK) {
        cubed_plan_get_info(*plan, &info);
        assert_int_equal(info.num_stages, 2);
        assert_true(info.num_tasks > 2);
    }
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}

static cubed_status run(fixture *f, const char *executor, int retries, cubed_error *err)
{
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_status st = f->rows ? make_plan_of_rows(f, &plan, err) : make_plan(f, &plan, err);
    if (st != CUBED_OK) return st;
    o.executor = executor;
    o.retries = retries;
    st = cubed_run(plan, &o, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

static void check_output(fixture *f)
{
    cubed_array *x;
    cubed_plan *plan;
    static double back[ROW];
    assert_int_equal(cubed_array_open(f->ctx, f->out, &x, NULL), CUBED_OK);
    cubed_target t = {.array = x, .data = back};
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    assert_memory_equal(back, f->expected, (size_t)f->count * sizeof *back);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static bool looks_whole(const fixture *f)
{
    char path[160];
    snprintf(path, sizeof path, "%s/zarr.json", f->out);
    return access(path, F_OK) == 0;
}

static cubed_status store(const fixture *f, int ndim, const int64_t *shape, const int64_t *chunk,
                          double *data, const char *codecs)
{
    cubed_array *x;
    cubed_plan *plan;
    cubed_status st =
        cubed_array_from_memory(f->ctx, CUBED_FLOAT64, ndim, shape, NULL, chunk, data, &x, NULL);
    if (st != CUBED_OK) return st;
    const cubed_target t = {.array = x, .url = f->src, .codecs = codecs};
    st = cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, NULL);
    if (st == CUBED_OK) cubed_plan_unref(plan);
    cubed_array_unref(x);
    return st;
}

static int setup(void **state)
{
    static const int64_t shape[1] = {N}, chunk[1] = {CHUNK};
    fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->work, sizeof f->work, "%s/work", f->dir);
    for (int i = 0; i < N; i++) {
        f->data[i] = i;
        f->expected[i] = i - (N - 1) / 2.0;
    }
    f->count = N;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (store(f, 1, shape, chunk, f->data, NULL) != CUBED_OK) return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    int rc = remove_dir(f->dir);
    free(f);
    return rc;
}

/* Every nth call in turn, until a run has fewer: returns how many there were. */
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
            /* Nothing that is left stands in the way. */
            if (run(f, executor, 0, &err) != CUBED_OK) fail_msg("call %d: %s", n, err.message);
            check_output(f);
        }
        /* With a retry left, a fault that passes must not end a run in the middle of its tasks. */
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

/* Nothing is synced unless it is asked for; then everything is, and a failure is one. */
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
    assert_true(n >= 2 * (N / 20 + 1)); /* of every chunk the file and the directory */
}

/* Of workers and of the one that gives signs of life: those that did start are told to stop, the run ends and says why. */
static void test_thread_starts(void **state)
{
    fixture *f = *state;
    assert_int_equal(fail_each(f, "threads", CALL_THREAD, false, EAGAIN, 3), WORKERS + 1);
    assert_int_equal(fail_each(f, "threads", CALL_THREAD, true, EAGAIN, 3), WORKERS + 1);
}

/* What fails once while tasks run is tried again: the chunks of the source are read by tasks only. */
static void test_one_failed_read_of_a_chunk_is_retried(void **state)
{
    fixture *f = *state;
    /* The first read is of the metadata, another one of the run's own record. */
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

static void expect(fixture *f, shape_of_work w)
{
    double total = 0, sums[NGROUPS] = {0};
    f->work_on = w;
    f->count = w == PICKED ? N / 2 : w == GROUPED ? NGROUPS : N;
    for (int i = 0; i < N; i++) {
        double v = i - (N - 1) / 2.0;
        total += v;
        sums[i % NGROUPS] += v;
        f->expected[i] = w == SORTED ? -v : w == PICKED ? v + N / 2.0 : w == TOTALS ? total : v;
    }
    if (w == GROUPED) memcpy(f->expected, sums, sizeof sums);
}

/* The same faults in stages of every kind, with intermediates in memory and in the work directory. */
static void test_kinds_of_stages(void **state)
{
    static const shape_of_work kinds[] = {AS_IT_IS, SORTED, PICKED, RESHAPED, TOTALS, GROUPED};
    fixture *f = *state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int writes[2];
        expect(f, kinds[k]);
        for (int spill = 0; spill < 2; spill++) {
            f->spill = spill;
            fail_each(f, "single-threaded", CALL_READ, false, EIO, 0);
            writes[spill] = fail_each(f, "single-threaded", CALL_WRITE, false, ENOSPC, 0);
            fail_each(f, "threads", CALL_WRITE, false, EIO, 0);
            fail_each(f, "single-threaded", CALL_RENAME, false, EIO, 0);
        }
        assert_true(writes[1] > writes[0]); /* intermediates were written, too */
    }
}

/* Nothing is left of chunks that are put together in their file, whichever piece of them fails. */
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
    assert_true(whole > 4); /* the pieces, and documents */
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
        TEST(test_syncs),
        TEST(test_kinds_of_stages),
        TEST(test_thread_starts),
        TEST(test_pieces_of_a_chunk),
        TEST(test_one_failed_read_of_a_chunk_is_retried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
