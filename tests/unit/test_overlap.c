/* Blocks with halos: elements that calls receive, plans as bytes, memory, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/block.h"

enum { N = 23, CHUNK = 5 };

/* "window" of x: for each element of the output the sum of the whole block that the call receives. */
static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    return call->nin == 1 && call->nout == 1 && call->in[0].ndim == 1 ? CUBED_OK : CUBED_E_TYPE;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const double *in = call->in[0].data;
    double *out = call->out[0].data, sum = 0;
    (void)ctx;
    (void)err;
    for (int64_t i = 0; i < call->in[0].shape[0]; i++) sum += in[i];
    for (int64_t i = 0; i < call->out[0].shape[0]; i++) out[i] = sum;
    return CUBED_OK;
}

static const cubed_block_fn window = {.struct_size = sizeof(cubed_block_fn),
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "window",
                                      .check = check,
                                      .run = run};

/* Makes blocks with halos of x[0..n), and an output of N elements. */
static cubed_status make(cubed_context *ctx, const double *data, int64_t n, cubed_block_halo halo,
                         cubed_array **out, cubed_error *err)
{
    const int64_t chunks[1] = {7}, blocks[1] = {CHUNK}, shape[1] = {N};
    const int symbols[1] = {0};
    const cubed_block_halo *const halos[1] = {&halo};
    cubed_array *x;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &n, NULL, chunks, data, &x, err);
    if (st != CUBED_OK) return st;
    const cubed_block_input in = {x, symbols, blocks};
    const cubed_block_output to = {CUBED_FLOAT64, 1, shape, blocks, symbols, NULL};
    const cubed_block_operation operation = {.function = "window",
                                             .params = "",
                                             .params_size = 1,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1,
                                             .halos = halos};
    st = cubed_blockwise(ctx, &operation, out, err);
    cubed_array_unref(x);
    return st;
}

static int setup(void **state)
{
    cubed_context *ctx;
    if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) return -1;
    if (cubed_context_add_block_fn(ctx, &window, NULL) != CUBED_OK) return -1;
    *state = ctx;
    return 0;
}

static int teardown(void **state)
{
    cubed_context_unref(*state);
    return 0;
}

static void run_plan(cubed_plan *plan)
{
    cubed_run_stats stats;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_run(plan, NULL, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_true(stats.measured_mem <= stats.projected_mem);
}

/* Checks the result, from the plan and from its bytes. */
static void compute(cubed_context *ctx, cubed_array *x, bool optimize, double *result)
{
    cubed_target t = {.array = x, .data = result};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan, *again;
    double other[N];
    void *bytes;
    size_t size;
    o.max_workers = 2;
    o.allowed_mem = (uint64_t)64 << 20;
    o.optimize = optimize;
    if (cubed_plan_new(ctx, &t, 1, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    run_plan(plan);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    assert_int_equal(cubed_plan_load(ctx, bytes, size, &again, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(again, 0, other, sizeof other, &err), CUBED_OK);
    run_plan(again);
    assert_memory_equal(result, other, sizeof other);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(again);
    cubed_plan_unref(plan);
}

static double sum(const double *data, int64_t lo, int64_t hi)
{
    double sum = 0;
    for (int64_t i = lo; i < hi; i++) sum += data[i];
    return sum;
}

static void test_values(void **state)
{
    static const cubed_block_halo halos[] = {{0, 0, false},  {1, 2, false}, {9, 0, false},
                                             {0, 23, false}, {1, 2, true},  {0, 9, true},
                                             {7, 7, true}};
    double data[2 * N];
    for (int i = 0; i < 2 * N; i++) data[i] = i * i;
    for (size_t k = 0; k < sizeof halos / sizeof *halos; k++) {
        cubed_block_halo h = halos[k];
        int64_t n = h.padded ? N + h.before + h.after : N;
        cubed_array *x;
        cubed_error err = CUBED_ERROR_INIT;
        if (make(*state, data, n, h, &x, &err) != CUBED_OK) fail_msg("%s", err.message);
        for (int optimize = 0; optimize < 2; optimize++) {
            double result[N];
            compute(*state, x, optimize, result);
            for (int64_t i = 0; i < N; i++) {
                int64_t lo = i / CHUNK * CHUNK, hi = lo + CHUNK < N ? lo + CHUNK : N;
                int64_t shift = h.padded ? h.before : 0;
                lo += shift - h.before;
                hi += shift + h.after;
                assert_true(result[i] == sum(data, lo < 0 ? 0 : lo, hi > n ? n : hi));
            }
        }
        cubed_array_unref(x);
    }
}

/* Forged plans: they are refused, or run within their memory. */
static void test_flipped_bits(void **state)
{
    enum { HEADER = 16, SUM = 12 };
    double data[N + 3] = {0}, result[N];
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (make(*state, data, N + 3, (cubed_block_halo){1, 2, true}, &x, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_target t = {.array = x, .data = result};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan, *other;
    void *bytes;
    size_t size;
    int loaded = 0;
    o.max_workers = 1;
    o.allowed_mem = (uint64_t)64 << 20;
    assert_int_equal(cubed_plan_new(*state, &t, 1, &o, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    uint8_t *b = bytes;
    for (size_t bit = (size_t)8 * HEADER; bit < 8 * size; bit++) {
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
        uint32_t sum = (uint32_t)crc32(0, b + HEADER, (uInt)(size - HEADER));
        for (int k = 0; k < 4; k++) b[SUM + k] = (uint8_t)(sum >> (8 * k));
        if (cubed_plan_load(*state, bytes, size, &other, &err) == CUBED_OK) {
            cubed_run_stats stats;
            loaded++;
            if (cubed_plan_bind_result(other, 0, result, sizeof result, &err) == CUBED_OK &&
                cubed_run(other, NULL, &stats, &err) == CUBED_OK)
                assert_true(stats.measured_mem <= stats.projected_mem);
            cubed_plan_unref(other);
        }
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(loaded > 0);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void test_refusals(void **state)
{
    static const struct {
        cubed_block_halo halo;
        int64_t n;
        const char *message;
    } cases[] = {{{-1, 0, false}, N, "axis 0 of input 0 has a halo of -1 and 0"},
                 {{0, N + 1, false}, N, "expected 0 to 23"},
                 {{3, 2, true}, 4, "less than its padding"},
                 {{1, 1, true}, N + 30, "blocks along the symbol 0"}};
    double data[3 * N] = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_array *x;
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(make(*state, data, cases[k].n, cases[k].halo, &x, &err), CUBED_E_ARG);
        if (!strstr(err.message, cases[k].message)) fail_msg("%s", err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flipped_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
