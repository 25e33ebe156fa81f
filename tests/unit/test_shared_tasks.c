/* Copies whose tasks several workers perform together, and copies into several chunks: the same values as in one piece, the
 * planned reads and memory, and one failing member that ends the task for all. */
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
#include "plan_test.h"
#include "random_test.h"
#include "remove_dir.h"
#include "test_path.h"

static const char raw[] = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";

enum { ROWS = 240, COLUMNS = 200, ITEMS = ROWS * COLUMNS, WORKERS = 4 };

typedef struct fixture {
    char dir[64], src[128], out[128], chunk[160];
    cubed_context *ctx;
    int32_t data[ITEMS], back[ITEMS];
    /* For the event callback: */
    int ends, coop;
    uint64_t measured;
    cubed_cancel cancel;
    int cancel_after;
} fixture;

/* Runs x -> url (or data) with these options; the caller owns the plan. */
static cubed_plan *plan_of(const fixture *f, cubed_array *x, const cubed_target *where,
                           const cubed_plan_options *o)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    cubed_target t = *where;
    t.array = x;
    t.overwrite = t.url != NULL;
    must(cubed_plan_new(f->ctx, &t, 1, o, &plan, &err), &err);
    return plan;
}

static void read_back(fixture *f, cubed_array *x)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_target t = {.data = f->back};
    cubed_plan *plan = plan_of(f, x, &t, NULL);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
}

static cubed_array *open_array(const fixture *f, const char *url)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_array_open(f->ctx, url, &x, &err), &err);
    return x;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    const int64_t shape[] = {ROWS, COLUMNS}, chunk[] = {ROWS / 2, 5};
    cubed_array *x;
    test_path(f->dir, sizeof f->dir, "cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->chunk, sizeof f->chunk, "%s/src/c/0/33", f->dir);
    for (int i = 0; i < ITEMS; i++) f->data[i] = i * 7;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (cubed_array_from_memory(f->ctx, CUBED_INT32, 2, shape, NULL, chunk, f->data, &x, NULL) !=
        CUBED_OK)
        return -1;
    cubed_plan *plan = plan_of(f, x, &(cubed_target){.url = f->src, .codecs = raw}, NULL);
    if (cubed_run(plan, NULL, NULL, NULL) != CUBED_OK) return -1;
    cubed_plan_unref(plan);
    cubed_array_unref(x);
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

static void on_event(void *ctx, const cubed_event *e)
{
    fixture *f = ctx;
    if (e->kind != CUBED_EVENT_TASK_END) return;
    if ((int)e->coop > f->coop) f->coop = (int)e->coop;
    if (e->measured_mem > f->measured) f->measured = e->measured_mem;
    if (++f->ends == f->cancel_after) cubed_cancel_set(&f->cancel);
}

static cubed_plan_options small(uint64_t mem)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = WORKERS;
    o.allowed_mem = mem;
    o.reserved_mem = 0;
    return o;
}

/* Plans a copy from chunks of columns to chunks of rows. A task reads a part of every source chunk. */
static cubed_plan *plan_rows(const fixture *f, uint64_t mem)
{
    cubed_error err = CUBED_ERROR_INIT;
    const int64_t chunk[] = {6, COLUMNS};
    cubed_array *x = open_array(f, f->src), *y;
    cubed_plan_options o = small(mem);
    must(cubed_rechunk(x, chunk, &y, &err), &err);
    cubed_plan *plan = plan_of(f, y, &(cubed_target){.url = f->out, .codecs = raw}, &o);
    cubed_array_unref(x);
    cubed_array_unref(y);
    return plan;
}

static void check_output(fixture *f)
{
    cubed_array *x = open_array(f, f->out);
    read_back(f, x);
    assert_memory_equal(f->back, f->data, sizeof f->back);
    cubed_array_unref(x);
}

static cubed_status run(fixture *f, cubed_plan *plan, const char *executor, unsigned keep,
                        bool resume, cubed_run_stats *stats, cubed_error *err)
{
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    f->ends = f->coop = 0;
    f->measured = 0;
    o.executor = executor;
    o.retries = 0;
    o.on_event = on_event;
    o.event_ctx = f;
    o.cancel = &f->cancel;
    o.keep = keep;
    o.resume = resume;
    return cubed_run(plan, &o, stats, err);
}

static unsigned coop_of(const cubed_plan *plan)
{
    cubed_plan_info info;
    cubed_plan_get_info(plan, &info);
    return info.coop;
}

/* A cooperative task reads everything once. With the same memory, a single worker would read everything once for each share. */
static void test_reads(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan_info info;
    cubed_plan *plan = plan_rows(f, 60000);
    cubed_plan_get_info(plan, &info);
    assert_int_equal(info.coop, WORKERS);
    assert_int_equal(info.num_stages, 1);
    assert_int_equal(info.num_tasks, 2);
    assert_int_equal(info.bytes_read, sizeof f->data);
    must(run(f, plan, "threads", 0, false, &stats, &err), &err);
    assert_int_equal(stats.bytes_read, info.bytes_read);
    assert_int_equal(stats.bytes_written, info.bytes_written);
    assert_int_equal(f->coop, WORKERS);
    assert_int_equal(f->ends, 2);
    assert_true(stats.measured_mem <= info.projected_mem && info.projected_mem <= 60000);
    check_output(f);
    must(run(f, plan, "single-threaded", 0, false, &stats, &err), &err);
    assert_int_equal(f->coop, 1);
    assert_true(stats.bytes_read > info.bytes_read);
    assert_true(stats.bytes_read <= WORKERS * info.bytes_read);
    assert_true(stats.measured_mem <= info.projected_mem);
    check_output(f);
    cubed_plan_unref(plan);
}

/* Runs a saved and loaded plan with fewer and with more workers than planned. */
static void test_other_workers(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = plan_rows(f, 60000), *loaded;
    void *bytes;
    size_t size;
    must(cubed_plan_save(plan, &bytes, &size, &err), &err);
    must(cubed_plan_load(f->ctx, bytes, size, &loaded, &err), &err);
    cubed_plan_free_bytes(plan, bytes, size);
    assert_int_equal(coop_of(loaded), WORKERS);
    for (unsigned n = 1; n <= 7; n += 2) {
        cubed_run_stats stats;
        cubed_plan_options o = {.struct_size = sizeof o, .max_workers = n};
        must(cubed_plan_set_limits(loaded, &o, &err), &err);
        must(run(f, loaded, "threads", 0, false, &stats, &err), &err);
        assert_int_equal(f->coop, n);
        assert_true(stats.measured_mem <= stats.projected_mem);
        check_output(f);
    }
    cubed_plan_unref(loaded);
    cubed_plan_unref(plan);
}

static void test_not_shared(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const int64_t chunk[] = {6, COLUMNS};
    cubed_array *x = open_array(f, f->src), *y;
    cubed_plan_options o = small(60000);
    o.work_dir = f->dir;
    o.share_tasks = false;
    must(cubed_rechunk(x, chunk, &y, &err), &err);
    cubed_plan *plan = plan_of(f, y, &(cubed_target){.url = f->out, .codecs = raw}, &o);
    assert_int_equal(coop_of(plan), 1);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_array_unref(y);
}

/* A symbolic link to itself cannot be opened. One member detects it; all end, and report it once. */
static void test_one_fails(void **state)
{
    fixture *f = *state;
    cubed_run_stats stats;
    cubed_plan *plan = plan_rows(f, 60000);
    assert_int_equal(unlink(f->chunk), 0);
    assert_int_equal(symlink("33", f->chunk), 0);
    for (int i = 0; i < 20; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(run(f, plan, "threads", 0, false, &stats, &err), CUBED_E_IO);
        assert_non_null(strstr(err.message, "c/0/33"));
        assert_non_null(strstr(err.message, "task 0"));
        assert_int_equal(f->ends, 0);
    }
    cubed_plan_unref(plan);
}

static void count_chunks(const fixture *f, const char *name, int *n)
{
    *n = 0;
    for (int i = 0; i < ROWS / 6; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s/c/%d/0", f->dir, name, i);
        *n += access(path, F_OK) == 0;
    }
}

static void test_cancel_and_resume(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan *plan = plan_rows(f, 60000);
    cubed_plan_info info;
    int n;
    cubed_plan_get_info(plan, &info);
    assert_true(info.num_tasks == 2 && info.coop == WORKERS);
    cubed_cancel_set(&f->cancel);
    assert_int_equal(run(f, plan, "threads", 0, false, &stats, &err), CUBED_E_CANCELLED);
    cubed_cancel_clear(&f->cancel);
    f->cancel_after = 1;
    assert_int_equal(run(f, plan, "single-threaded", CUBED_KEEP_CHUNKS, false, &stats, &err),
                     CUBED_E_CANCELLED);
    cubed_cancel_clear(&f->cancel);
    f->cancel_after = 0;
    count_chunks(f, "out", &n);
    assert_in_range(n, 1, ROWS / 6);
    /* Delete two chunks of the first task. A resumed run then makes these chunks and those between them, but no others. */
    char path[256];
    for (int i = 1; i <= 3; i += 2) {
        snprintf(path, sizeof path, "%s/c/%d/0", f->out, i);
        assert_int_equal(unlink(path), 0);
    }
    must(run(f, plan, "threads", 0, true, &stats, &err), &err);
    assert_int_equal(stats.num_resumed + stats.num_tasks, info.num_tasks);
    assert_true(stats.bytes_written < info.bytes_written);
    check_output(f);
    cubed_plan_unref(plan);
}

/* --- Any copy ------------------------------------------------------------------------------------ */

static cubed_array *random_view(cubed_array *x)
{
    cubed_error err = CUBED_ERROR_INIT;
    int ndim = cubed_array_ndim(x), axes[3];
    cubed_array *y;
    if (between(0, 2) == 0) {
        for (int d = 0; d < ndim; d++) axes[d] = ndim - 1 - d;
        must(cubed_permute_dims(x, axes, &y, &err), &err);
    } else if (between(0, 2) == 0) {
        must(cubed_flip(x, NULL, 0, &y, &err), &err);
    } else {
        return cubed_array_ref(x);
    }
    return y;
}

static void random_copy(fixture *f, int *shared)
{
    cubed_error err = CUBED_ERROR_INIT;
    int64_t shape[3], from[3], to[3];
    int ndim = (int)between(1, 3);
    const char *codecs = between(0, 4) ? raw : NULL;
    size_t items = 1, source = 4, target = 4;
    cubed_array *x, *y, *z, *back;
    cubed_run_stats stats;
    cubed_plan_info info;
    for (int d = 0; d < ndim; d++) {
        shape[d] = between(1, ndim == 1 ? 4000 : ndim == 2 ? 120 : 30);
        from[d] = between(1 + shape[d] / 8, shape[d]);
        items *= (size_t)shape[d];
        source *= (size_t)from[d];
    }
    must(cubed_array_from_memory(f->ctx, CUBED_INT32, ndim, shape, NULL, from, f->data, &x, &err),
         &err);
    cubed_plan *plan = plan_of(f, x, &(cubed_target){.url = f->src, .codecs = codecs}, NULL);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    x = open_array(f, f->src);
    y = random_view(x);
    for (int d = 0; d < ndim; d++) {
        to[d] = between(1 + cubed_array_shape(y)[d] / 8, cubed_array_shape(y)[d]);
        target *= (size_t)to[d];
    }
    must(cubed_rechunk(y, to, &z, &err), &err);
    cubed_plan_options o = small(source + target + 6000 + (uint64_t)between(0, 10000));
    if (codecs == NULL) o.allowed_mem += 3 * (source + target) + 400000;
    o.max_workers = (unsigned)between(1, WORKERS);
    o.work_dir = f->dir;
    plan = plan_of(f, z, &(cubed_target){.url = f->out, .codecs = codecs}, &o);
    cubed_plan_get_info(plan, &info);
    *shared += info.coop > 1;
    must(run(f, plan, "threads", 0, false, &stats, &err), &err);
    assert_int_equal(stats.bytes_read, info.bytes_read);
    assert_int_equal(stats.bytes_written, info.bytes_written);
    assert_true(stats.measured_mem <= info.projected_mem);
    assert_true(info.projected_mem <= o.allowed_mem);
    back = open_array(f, f->out);
    int32_t *expected = malloc(items * sizeof *expected);
    read_back(f, y);
    memcpy(expected, f->back, items * sizeof *expected);
    read_back(f, back);
    assert_memory_equal(f->back, expected, items * sizeof *expected);
    free(expected);
    cubed_plan_unref(plan);
    cubed_array_unref(back);
    cubed_array_unref(z);
    cubed_array_unref(y);
    cubed_array_unref(x);
}

static void test_any_copy(void **state)
{
    fixture *f = *state;
    int shared = 0;
    random_state = 3;
    for (int i = 0; i < 50; i++) random_copy(f, &shared);
    assert_true(shared > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reads),     TEST(test_other_workers),     TEST(test_not_shared),
        TEST(test_one_fails), TEST(test_cancel_and_resume), TEST(test_any_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
