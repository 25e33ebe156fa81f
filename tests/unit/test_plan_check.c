/* Plans that run one after another: cubed_plan_check makes all of them, and its advice is valid for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "failing_allocator.h"
#include "plan_test.h"

enum { LONG = 40000, CHUNK = 1000, SHORT = 100 };

typedef struct fixture {
    failing memory;
    cubed_allocator alloc;
    cubed_context *ctx;
    /* small: a sum of a few elements; sorted: a long line that is sorted */
    cubed_array *small, *sorted;
    int remade;
} fixture;

/* Makes a line of equal elements in chunks. */
static cubed_array *line(const fixture *f, int64_t n)
{
    const int64_t chunk = n < CHUNK ? n : CHUNK;
    const cubed_scalar one = {.f64 = 1};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_array_full(f->ctx, CUBED_FLOAT64, 1, &n, &chunk, &one, &x, &err), &err);
    return x;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    f->alloc = failing_allocator(&f->memory);
    o.allocator = &f->alloc;
    must(cubed_context_new(&o, &f->ctx, &err), &err);
    cubed_array *few = line(f, SHORT), *many = line(f, LONG);
    must(cubed_reduce(CUBED_REDUCE_SUM, few, NULL, &f->small, &err), &err);
    must(cubed_sort(many, 0, false, &f->sorted, &err), &err);
    cubed_array_unref(few);
    cubed_array_unref(many);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_array_unref(f->small);
    cubed_array_unref(f->sorted);
    cubed_context_unref(f->ctx);
    assert_int_equal(f->memory.live, 0);
    free(f);
    return 0;
}

static cubed_plan_options limits(uint64_t allowed)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = 1;
    o.reserved_mem = 0;
    o.allowed_mem = allowed;
    return o;
}

static bool fits(const fixture *f, cubed_array *x, uint64_t allowed)
{
    const cubed_plan_options o = limits(allowed);
    const cubed_target t = {.array = x};
    cubed_plan *plan = NULL;
    const cubed_status st = cubed_plan_new(f->ctx, &t, 1, &o, &plan, NULL);
    assert_true(st == CUBED_OK || st == CUBED_E_BUDGET);
    cubed_plan_unref(plan);
    return st == CUBED_OK;
}

/* Recreates the same arrays for any allowed memory. */
static cubed_status same(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err)
{
    fixture *f = ctx;
    (void)allowed_mem;
    (void)err;
    assert_ptr_equal(arrays[0], f->small);
    assert_ptr_equal(arrays[1], f->sorted);
    f->remade++;
    return CUBED_OK;
}

static void test_advice_holds_for_all(void **state)
{
    fixture *f = *state;
    cubed_array *const orders[2][2] = {{f->small, f->sorted}, {f->sorted, f->small}};
    const int counts[2] = {1, 1};
    for (int i = 0; i < 2; i++) {
        const cubed_target t[2] = {{.array = orders[i][0]}, {.array = orders[i][1]}};
        cubed_plan_options o = limits(1);
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(cubed_plan_check(f->ctx, t, counts, 2, &o, &err), CUBED_E_BUDGET);
        const uint64_t advised = err.enough_mem;
        /* The message describes the first plan. The advice is sufficient for both, although a sum alone needs less. */
        assert_non_null(strstr(err.message, i == 0 ? "sum" : "sort"));
        assert_true(fits(f, f->small, advised) && fits(f, f->sorted, advised));
        assert_true(fits(f, f->small, advised / 4) && !fits(f, f->sorted, advised / 4));
        o.allowed_mem = advised;
        err = (cubed_error)CUBED_ERROR_INIT;
        must(cubed_plan_check(f->ctx, t, counts, 2, &o, &err), &err);
    }
}

static void test_arrays_of_all_plans_are_remade(void **state)
{
    fixture *f = *state;
    const cubed_target t[2] = {{.array = f->small}, {.array = f->sorted}};
    const int counts[2] = {1, 1};
    cubed_plan_options o = limits(1);
    cubed_error err = CUBED_ERROR_INIT;
    o.remake = same;
    o.remake_ctx = f;
    assert_int_equal(cubed_plan_check(f->ctx, t, counts, 2, &o, &err), CUBED_E_BUDGET);
    assert_true(err.enough_mem > 1 && f->remade > 1);
}

static void test_no_plan_fits(void **state)
{
    const fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    must(cubed_plan_check(f->ctx, NULL, NULL, 0, NULL, &err), &err);
}

/* A failing trial counts as one that does not fit: then the advice is larger, or there is none. */
static void test_every_allocation_may_fail(void **state)
{
    fixture *f = *state;
    const cubed_target t[2] = {{.array = f->small}, {.array = f->sorted}};
    const int counts[2] = {1, 1};
    const cubed_plan_options o = limits(1);
    const size_t before = f->memory.live;
    bool failed = true;
    for (long i = 1; failed; i++) {
        f->memory.calls = 0;
        f->memory.at = i;
        const cubed_status st = cubed_plan_check(f->ctx, t, counts, 2, &o, NULL);
        failed = f->memory.calls >= i;
        assert_true(st == CUBED_E_BUDGET || (failed && st == CUBED_E_NOMEM));
        assert_int_equal(f->memory.live, before);
        f->memory.at = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_advice_holds_for_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_arrays_of_all_plans_are_remade, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_plan_fits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
