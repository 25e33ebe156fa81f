/* Decisions of the functions that make arrays, before anything is planned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "dtype/scalar.h"
#include "failing_allocator.h"
#include "plan/graph.h"

static cubed_array *ramp(cubed_context *ctx, cubed_dtype dtype)
{
    cubed_array *k = NULL, *x = NULL;
    const int64_t n = 5;
    assert_int_equal(cubed_array_index(ctx, 1, &n, NULL, 1, &k, NULL), CUBED_OK);
    assert_int_equal(cubed_astype(k, dtype, &x, NULL), CUBED_OK);
    cubed_array_unref(k);
    return x;
}

/* Returns x ** k for a number k. Returns NULL with *err if the operation is refused. */
static cubed_array *power(cubed_array *x, cubed_dtype dtype, cubed_scalar k, cubed_error *err)
{
    cubed_array *args[2] = {x, NULL}, *out = NULL;
    assert_int_equal(cubed_array_full(x->ctx, dtype, 0, NULL, NULL, &k, &args[1], NULL), CUBED_OK);
    (void)!cubed_elementwise(CUBED_OP_POW, args, 2, &out, err);
    cubed_array_unref(args[1]);
    return out;
}

static void test_powers_with_an_operation_of_their_own(void **state)
{
    static const struct {
        cubed_dtype x, k;
        double value;
        int op; /* the operation that is expected; -1: the result is x itself, or a cast of it */
        cubed_dtype result;
    } cases[] = {
        {CUBED_FLOAT64, CUBED_FLOAT64, 2, CUBED_OP_SQUARE, CUBED_FLOAT64},
        {CUBED_FLOAT64, CUBED_FLOAT64, 0.5, CUBED_OP_SQRT, CUBED_FLOAT64},
        {CUBED_FLOAT32, CUBED_FLOAT32, -1, CUBED_OP_DIVIDE, CUBED_FLOAT32},
        {CUBED_FLOAT32, CUBED_FLOAT32, 1, -1, CUBED_FLOAT32},
        {CUBED_FLOAT64, CUBED_FLOAT64, 3, CUBED_OP_POW, CUBED_FLOAT64},
        {CUBED_FLOAT64, CUBED_FLOAT64, -0.5, CUBED_OP_POW, CUBED_FLOAT64},
        {CUBED_INT16, CUBED_INT16, 1, -1, CUBED_INT16},
        {CUBED_INT16, CUBED_INT16, 2, CUBED_OP_SQUARE, CUBED_INT16},
        {CUBED_INT16, CUBED_FLOAT64, 0.5, CUBED_OP_SQRT, CUBED_FLOAT64},
        {CUBED_INT16, CUBED_FLOAT64, 1, -1, CUBED_FLOAT64},
        {CUBED_INT16, CUBED_FLOAT64, -1, CUBED_OP_DIVIDE, CUBED_FLOAT64},
        {CUBED_FLOAT16, CUBED_FLOAT16, 1, -1, CUBED_FLOAT32},
        {CUBED_COMPLEX64, CUBED_COMPLEX64, -1, CUBED_OP_DIVIDE, CUBED_COMPLEX64},
        {CUBED_COMPLEX128, CUBED_FLOAT64, 0.5, CUBED_OP_POW, CUBED_COMPLEX128},
    };
    cubed_context *ctx;
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_scalar value = cb_scalar_from_double(cases[i].k, cases[i].value);
        cubed_array *x = ramp(ctx, cases[i].x), *y = power(x, cases[i].k, value, &err);
        if (!y) fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(y->node.dtype, cases[i].result);
        if (cases[i].op >= 0) {
            assert_int_equal(y->node.kind, CB_NODE_ELEM);
            assert_int_equal(y->node.op, cases[i].op);
        } else {
            assert_true(y == x || (y->node.kind == CB_NODE_CAST && y->in[0] == x));
        }
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
    cubed_context_unref(ctx);
}

static void test_powers_of_complex_exponents_and_of_integers(void **state)
{
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    cubed_array *x = ramp(ctx, CUBED_COMPLEX128), *i = ramp(ctx, CUBED_INT64);
    cubed_array *y = power(x, CUBED_COMPLEX128, (cubed_scalar){.c128 = {2, 1}}, &err);
    assert_int_equal(y->node.op, CUBED_OP_POW);
    assert_null(power(i, CUBED_INT64, (cubed_scalar){.i64 = -1}, &err));
    assert_int_equal(err.status, CUBED_E_ARG);
    assert_non_null(strstr(err.message, "negative powers (the exponent is -1)"));
    cubed_array_unref(y);
    cubed_array_unref(x);
    cubed_array_unref(i);
    cubed_context_unref(ctx);
}

/* Arrays without elements may have axes whose lengths together overflow. */
static void test_reductions_of_no_elements(void **state)
{
    const int64_t shape[3] = {0, (int64_t)1 << 40, (int64_t)1 << 40};
    const int axes[2] = {1, 2};
    const cubed_scalar zero = {.f64 = 0};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_context *ctx;
    cubed_array *x, *y, *none = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    o.axes = axes;
    o.naxes = 2;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(cubed_array_full(ctx, CUBED_FLOAT64, 3, shape, NULL, &zero, &x, &err),
                     CUBED_OK);
    if (cubed_reduce(CUBED_REDUCE_MIN, x, &o, &y, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(cubed_array_ndim(y), 1);
    assert_int_equal(cubed_array_shape(y)[0], 0);
    o.naxes = 0;
    o.axes = NULL;
    assert_int_equal(cubed_reduce(CUBED_REDUCE_MIN, x, &o, &none, &err), CUBED_E_ARG);
    cubed_array_unref(y);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

static void test_axes_beyond_the_most(void **state)
{
    int64_t shape[CUBED_MAX_NDIM];
    const cubed_scalar zero = {.f64 = 0};
    cubed_context *ctx;
    cubed_array *x, *y = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    for (int d = 0; d < CUBED_MAX_NDIM; d++) shape[d] = 1;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(
        cubed_array_full(ctx, CUBED_FLOAT64, CUBED_MAX_NDIM, shape, NULL, &zero, &x, &err),
        CUBED_OK);
    assert_int_equal(cubed_expand_dims(x, 0, &y, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "has 32 dimensions already"));
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

static void test_regions_are_of_stored_arrays(void **state)
{
    const int64_t start[1] = {0};
    cubed_context *ctx;
    cubed_target t = {.array = NULL};
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    cubed_array *x = ramp(ctx, CUBED_FLOAT64);
    assert_int_equal(cubed_region_target(x, x, start, &t, &err), CUBED_E_ARG);
    assert_null(t.array);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

/* After a failure an output is unchanged. */
static void test_outputs_of_failures(void **state)
{
    (void)state;
    for (long at = 1; at < 1000; at++) {
        failing f = {.at = 0};
        const cubed_allocator a = failing_allocator(&f);
        cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
        cubed_context *ctx;
        cubed_array *y = NULL;
        o.allocator = &a;
        assert_int_equal(cubed_context_new(&o, &ctx, NULL), CUBED_OK);
        cubed_array *x = ramp(ctx, CUBED_INT16);
        f.at = f.calls + at;
        cubed_status st = cubed_cumulative(CUBED_REDUCE_PROD, x, 0, true, &y, NULL);
        bool done = f.calls < f.at;
        f.at = 0;
        if (st != CUBED_OK) assert_null(y);
        cubed_array_unref(y);
        cubed_array_unref(x);
        cubed_context_unref(ctx);
        if (!done) continue;
        assert_int_equal(st, CUBED_OK);
        assert_true(at > 3);
        return;
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_with_an_operation_of_their_own),
        cmocka_unit_test(test_powers_of_complex_exponents_and_of_integers),
        cmocka_unit_test(test_reductions_of_no_elements),
        cmocka_unit_test(test_axes_beyond_the_most),
        cmocka_unit_test(test_regions_are_of_stored_arrays),
        cmocka_unit_test(test_outputs_of_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
