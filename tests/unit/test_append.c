/* Targets that extend arrays: cubed_append_target, and changes of lengths by metadata alone. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "chunks/chunk_need.h"
#include "cubed/cubed.h"
#include "remove_dir.h"
#include "test_path.h"

enum { ROWS = 3, OLD = 5, MORE = 4, CHUNK = 3 };

static char dir[64], url[96];
static cubed_context *ctx;

/* Makes an array whose element [i, k] is i * 100 + first + k. */
static cubed_array *numbers(int64_t first, int64_t n, int32_t *data)
{
    const int64_t shape[2] = {ROWS, n};
    cubed_array *x;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < n; k++) data[i * n + k] = (int32_t)(i * 100 + first + k);
    }
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_INT32, 2, shape, NULL, NULL, data, &x, NULL), CUBED_OK);
    return x;
}

/* Runs a plan for a target, after it was saved and loaded. */
static cubed_status run(const cubed_target *t, cubed_error *err)
{
    cubed_plan *plan, *loaded;
    void *bytes;
    size_t size;
    cubed_status st = cubed_plan_new(ctx, t, 1, NULL, &plan, err);
    if (st != CUBED_OK) return st;
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, NULL), CUBED_OK);
    st = cubed_plan_load(ctx, bytes, size, &loaded, err);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    if (st != CUBED_OK) return st;
    st = cubed_run(loaded, NULL, NULL, err);
    cubed_plan_unref(loaded);
    return st;
}

static int set_up(void **state)
{
    int32_t data[ROWS * OLD];
    const int64_t chunks[2] = {2, CHUNK};
    (void)state;
    test_path(dir, sizeof dir, "cubed-test-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    snprintf(url, sizeof url, "%s/a.zarr", dir);
    if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) return -1;
    cubed_array *x = numbers(0, OLD, data);
    const cubed_target t = {.array = x, .url = url, .chunks = chunks};
    assert_int_equal(run(&t, NULL), CUBED_OK);
    cubed_array_unref(x);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cubed_context_unref(ctx);
    return remove_dir(dir);
}

/* Checks that the stored array has columns 0 to n - 1. */
static void check(int64_t n)
{
    int32_t data[64];
    cubed_array *x;
    assert_int_equal(cubed_array_open(ctx, url, &x, NULL), CUBED_OK);
    assert_int_equal(cubed_array_shape(x)[1], n);
    cubed_target t = {.array = x, .data = data};
    /* a loaded plan cannot write to the buffer of this process */
    assert_int_equal(run(&t, NULL), CUBED_E_ARG);
    cubed_plan *plan;
    assert_int_equal(cubed_plan_new(ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < n; k++) assert_int_equal(data[i * n + k], i * 100 + k);
    }
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void test_an_array_becomes_longer(void **state)
{
    int32_t data[ROWS * MORE];
    (void)state;
    for (int64_t n = OLD; n < OLD + 3 * MORE; n += MORE) {
        cubed_array *x = numbers(n, MORE, data), *into;
        cubed_target t;
        assert_int_equal(cubed_array_open(ctx, url, &into, NULL), CUBED_OK);
        assert_int_equal(cubed_append_target(x, into, 1, &t, NULL), CUBED_OK);
        assert_int_equal(run(&t, NULL), CUBED_OK);
        check(n + MORE);
        cubed_array_unref(t.array);
        cubed_array_unref(into);
        cubed_array_unref(x);
    }
}

static void test_a_length_that_has_changed(void **state)
{
    int32_t data[ROWS * MORE];
    cubed_array *x = numbers(OLD, MORE, data), *into;
    cubed_target t;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cubed_array_open(ctx, url, &into, NULL), CUBED_OK);
    assert_int_equal(cubed_append_target(x, into, 1, &t, NULL), CUBED_OK);
    assert_int_equal(cubed_zarr_set_length(ctx, url, 1, OLD, OLD + 1, NULL), CUBED_OK);
    assert_int_equal(run(&t, &err), CUBED_E_EXISTS);
    assert_non_null(strstr(err.message, "another process has changed its length"));
    assert_int_equal(cubed_zarr_set_length(ctx, url, 1, OLD, OLD, &err), CUBED_E_EXISTS);
    assert_int_equal(cubed_zarr_set_length(ctx, url, 1, OLD + 1, OLD, NULL), CUBED_OK);
    check(OLD);
    cubed_array_unref(t.array);
    cubed_array_unref(into);
    cubed_array_unref(x);
}

static void test_arrays_that_do_not_fit(void **state)
{
    int32_t data[ROWS * MORE];
    cubed_array *x = numbers(OLD, MORE, data), *into;
    cubed_target t;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cubed_array_open(ctx, url, &into, NULL), CUBED_OK);
    assert_int_equal(cubed_append_target(x, into, 2, &t, &err), CUBED_E_AXIS);
    assert_int_equal(cubed_append_target(x, into, -1, &t, &err), CUBED_E_AXIS);
    assert_int_equal(cubed_append_target(x, into, 0, &t, &err), CUBED_E_ARG);
    assert_int_equal(cubed_append_target(x, x, 1, &t, &err), CUBED_E_ARG);
    assert_int_equal(cubed_zarr_set_length(ctx, url, 2, 1, 2, &err), CUBED_E_FORMAT);
    assert_int_equal(cubed_zarr_set_length(ctx, dir, 0, 1, 2, &err), CUBED_E_NOT_FOUND);
    check(OLD);
    cubed_array_unref(into);
    cubed_array_unref(x);
}

/* The number of chunks that a region covers in part, of the array of 2 x 2 chunks. */
static void expect_merged(int64_t from, int64_t n, int64_t merged, int64_t with_edges)
{
    int32_t data[ROWS * OLD];
    const int64_t start[2] = {0, from};
    cubed_array *into, *x = numbers(0, n, data);
    cubed_target t;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    int node = 0;
    assert_int_equal(cubed_array_open(ctx, url, &into, &err), CUBED_OK);
    assert_int_equal(cubed_region_target(x, into, start, &t, &err), CUBED_OK);
    assert_int_equal(cubed_plan_new(ctx, &t, 1, NULL, &plan, &err), CUBED_OK);
    while (!plan->ir.nodes[node].region) node++;
    assert_int_equal(cb_node_merged(plan, node, false), merged);
    assert_int_equal(cb_node_merged(plan, node, true), with_edges);
    cubed_plan_unref(plan);
    cubed_array_unref(t.array);
    cubed_array_unref(x);
    cubed_array_unref(into);
}

/* Chunks at the end of the array are complete for a region that covers their elements. With `edges` they are not, because they
 * would have more elements in a longer array. */
static void test_chunks_in_part(void **state)
{
    (void)state;
    expect_merged(0, OLD, 0, 3);
    expect_merged(1, OLD - 1, 2, 4);
    expect_merged(CHUNK, OLD - CHUNK, 0, 2);
    expect_merged(0, CHUNK, 0, 1);
    expect_merged(0, CHUNK + 1, 2, 3);
    expect_merged(1, 1, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_array_becomes_longer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_length_that_has_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays_that_do_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunks_in_part, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
