/* Runs with failures: reads that fail transiently, reads that fail permanently, and cancellation. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "remove_dir.h"
#include "test_path.h"

static const char raw[] = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";

enum { N = 64, CHUNK = 8 };

typedef struct fixture {
    char dir[64];
    char src[128], out[128], chunk[160];
    cubed_context *ctx;
    double data[N];
    /* Members for the event callback: */
    int retries, ends;
    bool mend;
    cubed_cancel cancel;
    int cancel_after;
} fixture;

/* Plans a copy of `data`, or of the array at `from`, to the URL `to`. */
static cubed_status plan_copy(fixture *f, const char *from, const char *to, cubed_plan **plan,
                              cubed_error *err)
{
    const int64_t shape[1] = {N}, chunk[1] = {CHUNK};
    cubed_array *x, *y;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_status st = from ? cubed_array_open(f->ctx, from, &x, err)
                           : cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 1, shape, NULL, chunk,
                                                     f->data, &x, err);
    if (st != CUBED_OK) return st;
    st = cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, err);
    cubed_array_unref(x);
    if (st != CUBED_OK) return st;
    cubed_target t = {.array = y, .url = to, .codecs = raw};
    o.max_workers = 2;
    o.allowed_mem = (uint64_t)32 << 20;
    st = cubed_plan_new(f->ctx, &t, 1, &o, plan, err);
    cubed_array_unref(y);
    return st;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_plan *plan;
    test_path(f->dir, sizeof f->dir, "cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->chunk, sizeof f->chunk, "%s/src/c/3", f->dir);
    for (int i = 0; i < N; i++) f->data[i] = i;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (plan_copy(f, NULL, f->src, &plan, NULL) != CUBED_OK) return -1;
    if (cubed_run(plan, NULL, NULL, NULL) != CUBED_OK) return -1;
    cubed_plan_unref(plan);
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

/* A symbolic link to itself cannot be opened: an input/output error that ends when the link is repaired. */
static void break_chunk(const fixture *f)
{
    assert_int_equal(unlink(f->chunk), 0);
    assert_int_equal(symlink("3", f->chunk), 0);
}

static void mend_chunk(const fixture *f)
{
    double values[CHUNK];
    for (int i = 0; i < CHUNK; i++) values[i] = -(3.0 * CHUNK + i);
    assert_int_equal(unlink(f->chunk), 0);
    FILE *file = fopen(f->chunk, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(values, sizeof values, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void on_event(void *ctx, const cubed_event *e)
{
    fixture *f = ctx;
    if (e->kind == CUBED_EVENT_TASK_RETRY && ++f->retries == 1 && f->mend) mend_chunk(f);
    if (e->kind == CUBED_EVENT_TASK_END && ++f->ends == f->cancel_after)
        cubed_cancel_set(&f->cancel);
}

static cubed_status run(fixture *f, const char *executor, int retries, cubed_run_stats *stats,
                        cubed_error *err)
{
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    assert_int_equal(plan_copy(f, f->src, f->out, &plan, err), CUBED_OK);
    o.executor = executor;
    o.retries = retries;
    o.on_event = on_event;
    o.event_ctx = f;
    o.cancel = &f->cancel;
    cubed_status st = cubed_run(plan, &o, stats, err);
    cubed_plan_unref(plan);
    return st;
}

static bool exists(const char *dir, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void check_output(fixture *f)
{
    cubed_array *x;
    cubed_plan *plan;
    double back[N];
    assert_int_equal(cubed_array_open(f->ctx, f->out, &x, NULL), CUBED_OK);
    cubed_target t = {.array = x, .data = back};
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    assert_memory_equal(back, f->data, sizeof back);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void test_a_failure_that_passes(void **state)
{
    fixture *f = *state;
    cubed_run_stats stats;
    cubed_error err = CUBED_ERROR_INIT;
    break_chunk(f);
    f->mend = true;
    if (run(f, "threads", 2, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(stats.num_retries, 1);
    assert_int_equal(f->retries, 1);
    assert_int_equal(f->ends, N / CHUNK);
    check_output(f);
}

static void test_a_failure_that_stays(void **state)
{
    fixture *f = *state;
    cubed_run_stats stats;
    static const char *const executors[] = {"threads", "single-threaded"};
    break_chunk(f);
    for (int k = 0; k < 2; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        f->retries = 0;
        assert_int_equal(run(f, executors[k], 1, &stats, &err), CUBED_E_IO);
        assert_int_equal(f->retries, 2); /* the first attempt and the second are both reported */
        assert_non_null(strstr(err.message, "c/3"));
        assert_non_null(strstr(err.message, "task 3"));
        assert_false(exists(f->out, "zarr.json"));
        assert_false(exists(f->out, "c/0"));
    }
}

static void test_cancel(void **state)
{
    fixture *f = *state;
    cubed_run_stats stats;
    cubed_error err = CUBED_ERROR_INIT;
    f->cancel_after = 2;
    assert_int_equal(run(f, "single-threaded", 0, &stats, &err), CUBED_E_CANCELLED);
    assert_string_equal(err.message, "interrupted after 2 of 8 tasks");
    assert_false(exists(f->out, "zarr.json"));
    assert_false(exists(f->out, "c/0"));
    cubed_cancel_clear(&f->cancel);
    f->cancel_after = 0;
    assert_int_equal(run(f, "threads", 0, &stats, &err), CUBED_OK);
    check_output(f);
}

/* A source that changed after planning is not read with the old plan's metadata. */
static void test_changed_source(void **state)
{
    fixture *f = *state;
    cubed_plan *plan, *loaded;
    void *bytes;
    size_t size;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(plan_copy(f, f->src, f->out, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    char *path = f->chunk; /* f->chunk has room for the path of the metadata */
    snprintf(path, sizeof f->chunk, "%s/zarr.json", f->src);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cubed_plan_load(f->ctx, bytes, size, &loaded, &err), CUBED_E_NOT_FOUND);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_failure_that_passes),
        TEST(test_a_failure_that_stays),
        TEST(test_cancel),
        TEST(test_changed_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
