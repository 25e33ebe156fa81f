/* Keys with integers, slices, new axes and arrays of positions: x[key] and x[key] = value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"

enum { ROWS = 2, COLUMNS = 3 };
static const int64_t values[ROWS * COLUMNS] = {0, 1, 2, 10, 11, 12};
static const cubed_slice rows = {0, ROWS, 1, false}, columns = {0, COLUMNS, 1, false};

static cubed_array *array(cubed_context *ctx, int ndim, const int64_t *shape, const int64_t *data)
{
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_array_from_memory(ctx, CUBED_INT64, ndim, shape, NULL, NULL, data, &x, &err) !=
        CUBED_OK)
        fail_msg("%s", err.message);
    return x;
}

static cubed_array *matrix(cubed_context *ctx)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    return array(ctx, 2, shape, values);
}

/* Takes over y. */
static void check(cubed_context *ctx, cubed_array *y, int ndim, const int64_t *shape,
                  const int64_t *want)
{
    int64_t got[64], n = 1;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_target target = {.array = y, .data = got};
    cubed_plan *plan = NULL;
    assert_int_equal(cubed_array_ndim(y), ndim);
    for (int d = 0; d < ndim; d++) {
        assert_int_equal(cubed_array_shape(y)[d], shape[d]);
        n *= shape[d];
    }
    cubed_status st = cubed_plan_new(ctx, &target, 1, &options, &plan, &err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, &err);
    if (st != CUBED_OK) fail_msg("%s", err.message);
    assert_memory_equal(got, want, (size_t)n * sizeof *got);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
}

static int set_up(void **state)
{
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    *state = ctx;
    return 0;
}

static int tear_down(void **state)
{
    cubed_context_unref(*state);
    return 0;
}

static void test_order_of_axes(void **state)
{
    cubed_context *ctx = *state;
    const int64_t n = 2, at[2] = {2, 0};
    cubed_array *x = matrix(ctx), *p = array(ctx, 1, &n, at), *y;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_key second = {CUBED_KEY_SLICE, {1, 1, 1, true}, NULL, false};
    const cubed_key all = {.kind = CUBED_KEY_SLICE, .slice = rows}, new = {.kind = CUBED_KEY_NEW};
    const cubed_key picked = {.kind = CUBED_KEY_POSITIONS, .positions = p};
    /* Keys x[:, p], x[1, p] and x[1, None, p]. In the last, the new axis separates the integer from the positions, so axes of
     * positions are in front. */
    const cubed_key keys[][3] = {{all, picked}, {second, picked}, {second, new, picked}};
    const int lengths[] = {2, 2, 3}, ndims[] = {2, 1, 2};
    const int64_t shapes[][2] = {{2, 2}, {2}, {2, 1}};
    const int64_t want[][4] = {{2, 0, 12, 10}, {12, 10}, {12, 10}}, in_front[] = {2, 12, 0, 10};
    for (int i = 0; i < 3; i++) {
        if (cubed_index(x, keys[i], lengths[i], false, &y, &err) != CUBED_OK)
            fail_msg("%s", err.message);
        check(ctx, y, ndims[i], shapes[i], want[i]);
    }
    assert_int_equal(cubed_index(x, keys[0], 2, true, &y, &err), CUBED_OK);
    check(ctx, y, 2, shapes[0], in_front);
    /* Axes without an entry in the key are selected as a whole. */
    assert_int_equal(cubed_index(x, &second, 1, false, &y, &err), CUBED_OK);
    check(ctx, y, 1, (const int64_t[]){COLUMNS}, values + COLUMNS);
    cubed_array_unref(p);
    cubed_array_unref(x);
}

static void test_assigning(void **state)
{
    cubed_context *ctx = *state;
    const int64_t two[2] = {2, 1}, at[2] = {2, 0}, fresh[2] = {-1, -2}, shape[2] = {ROWS, COLUMNS};
    const int64_t want[6] = {-1, 1, -1, -2, 11, -2};
    cubed_array *x = matrix(ctx), *p = array(ctx, 1, two, at), *v = array(ctx, 2, two, fresh), *y;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_key keys[] = {{.kind = CUBED_KEY_SLICE, .slice = rows},
                              {.kind = CUBED_KEY_POSITIONS, .positions = p}};
    if (cubed_index_assign(x, keys, 2, v, &y, &err) != CUBED_OK) fail_msg("%s", err.message);
    check(ctx, y, 2, shape, want);
    assert_int_equal(cubed_index_assign(x, keys, 2, x, &y, &err), CUBED_E_ARG);
    assert_string_equal(err.message, "assign: a value of shape (2, 3) does not fit into (2, 2)");
    cubed_array_unref(v);
    cubed_array_unref(p);
    cubed_array_unref(x);
}

static void test_masks_of_rows(void **state)
{
    cubed_context *ctx = *state;
    const int64_t n = ROWS, line[COLUMNS] = {7, 8, 9}, length = COLUMNS, shape[2] = {ROWS, COLUMNS};
    const int64_t flags[ROWS] = {0, 1}, want[6] = {0, 1, 2, 7, 8, 9};
    cubed_array *x = matrix(ctx), *f = array(ctx, 1, &n, flags), *v = array(ctx, 1, &length, line),
                *m, *y;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_astype(f, CUBED_BOOL, &m, &err), CUBED_OK);
    if (cubed_assign_where(x, m, v, &y, &err) != CUBED_OK) fail_msg("%s", err.message);
    check(ctx, y, 2, shape, want);
    assert_int_equal(cubed_assign_where(x, f, v, &y, &err), CUBED_E_ARG); /* no mask */
    assert_int_equal(cubed_assign_where(x, m, f, &y, &err), CUBED_E_ARG);
    assert_string_equal(err.message, "assign: a value of shape (2) does not fit into (3)");
    cubed_array *const all[] = {x, f, v, m};
    for (int i = 0; i < 4; i++) cubed_array_unref(all[i]);
}

static void test_keys_that_do_not_fit(void **state)
{
    cubed_context *ctx = *state;
    const int64_t two = 2, three = 3, at[3] = {0, 1, 0};
    cubed_array *x = matrix(ctx), *p = array(ctx, 1, &two, at), *q = array(ctx, 1, &three, at), *y;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_key both[] = {{.kind = CUBED_KEY_POSITIONS, .positions = p},
                              {.kind = CUBED_KEY_POSITIONS, .positions = q}};
    const cubed_key all = {.kind = CUBED_KEY_SLICE, .slice = columns}, many[] = {all, all, all};
    cubed_key fresh[CUBED_MAX_NDIM];
    for (int d = 0; d < CUBED_MAX_NDIM; d++) fresh[d] = (cubed_key){.kind = CUBED_KEY_NEW};
    assert_int_equal(cubed_index(x, both, 2, false, &y, &err), CUBED_E_INDEX);
    assert_string_equal(err.message, "index: positions of shapes (2) and (3) do not broadcast");
    assert_int_equal(cubed_index(x, many, 3, false, &y, &err), CUBED_E_INDEX);
    assert_int_equal(cubed_index(x, fresh, CUBED_MAX_NDIM, false, &y, &err), CUBED_E_UNSUPPORTED);
    /* Positions with many axes, next to an axis of x: the result has too many. */
    int64_t ones[CUBED_MAX_NDIM];
    for (int d = 0; d < CUBED_MAX_NDIM; d++) ones[d] = 1;
    cubed_array *deep = array(ctx, CUBED_MAX_NDIM, ones, at);
    const cubed_key wide = {.kind = CUBED_KEY_POSITIONS, .positions = deep};
    assert_int_equal(cubed_index(x, &wide, 1, false, &y, &err), CUBED_E_UNSUPPORTED);
    assert_int_equal(cubed_index_assign(x, &wide, 1, x, &y, &err), CUBED_E_UNSUPPORTED);
    assert_string_equal(err.message, "index: the result has 33 axes, expected at most 32");
    /* Numbers between elements of an array with the maximum number of axes have too many axes, too. */
    assert_int_equal(cubed_spaced(deep, deep, NULL, &y, &err), CUBED_E_UNSUPPORTED);
    cubed_array_unref(deep);
    cubed_array_unref(q);
    cubed_array_unref(p);
    cubed_array_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_of_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_assigning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks_of_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys_that_do_not_fit, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
