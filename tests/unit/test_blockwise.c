/* A user-defined function on whole blocks: arguments of its calls, outputs that are not needed, plans as bytes, and all
 * refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/block.h"

enum { ROWS = 10, COLUMNS = 23, HIGH = 4, WIDE = 5 };

/* "tally" of x in blocks (i, j): sums over j, and the number of calls times ten thousand plus the row
 * and column where the last block begins. Scales by its parameter. */
static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    bool fits = call->nin == 1 && call->nout == 2 && call->params_size == sizeof(double) &&
                call->in[0].ndim == 2 && call->in[0].dtype == CUBED_FLOAT64 &&
                call->out[0].ndim == 1 && call->out[1].ndim == 1 &&
                call->out[0].shape[0] == call->in[0].shape[0];
    return fits ? CUBED_OK : CUBED_E_TYPE;
}

static cubed_block_need need(const cubed_block_call *largest, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){(size_t)largest->in[0].shape[0] * sizeof(double), 1000};
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    int *status = ctx;
    const cubed_block *x = &call->in[0];
    double *in = x->data, *sums = call->out[0].data, *scratch = call->scratch, scale;
    int64_t *told = call->out[1].data;
    (void)err;
    if (*status) return (cubed_status)*status;
    memcpy(&scale, call->params, sizeof scale);
    for (int64_t i = 0; i < x->shape[0]; i++) {
        scratch[i] = 0;
        for (int64_t j = 0; j < x->shape[1]; j++) {
            scratch[i] += in[i * x->shape[1] + j];
            in[i * x->shape[1] + j] = -1e9; /* the function may overwrite its input */
        }
        if (sums && call->first) sums[i] = 0;
        if (sums) sums[i] += scratch[i];
        if (sums && call->last) sums[i] *= scale;
    }
    if (!told) return CUBED_OK;
    int64_t calls = call->first ? 0 : *told / 10000;
    *told = (calls + 1) * 10000 + x->offset[0] * 100 + x->offset[1];
    if (call->index[0] * HIGH != x->offset[0] || call->index[1] * WIDE != x->offset[1] ||
        call->first != (call->index[1] == 0) || call->last != (call->index[1] == 4))
        return CUBED_E_INTERNAL;
    return CUBED_OK;
}

typedef struct fixture {
    cubed_context *ctx;
    double data[ROWS * COLUMNS];
    int status; /* status that run returns, if not 0 */
    cubed_block_fn fn;
    cubed_array *out[2];
} fixture;

static cubed_status make(fixture *f, const char *function, const int *symbols, cubed_error *err)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {3, 7}, blocks[2] = {HIGH, WIDE};
    const int64_t rows[1] = {ROWS}, high[1] = {HIGH}, parts[1] = {3}, one[1] = {1};
    const int row[1] = {0};
    const double scale = 2;
    cubed_array *x;
    cubed_status st =
        cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, f->data, &x, err);
    if (st != CUBED_OK) return st;
    const cubed_block_input in = {x, symbols, blocks};
    const cubed_block_output out[2] = {{CUBED_FLOAT64, 1, rows, high, row, NULL},
                                       {CUBED_INT64, 1, parts, one, row, NULL}};
    const cubed_block_operation operation = {.function = function,
                                             .params = &scale,
                                             .params_size = sizeof scale,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = out,
                                             .nout = 2};
    st = cubed_blockwise(f->ctx, &operation, f->out, err);
    cubed_array_unref(x);
    return st;
}

static const int usual[2] = {0, 1};

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < ROWS * COLUMNS; i++) f->data[i] = i % 31;
    f->fn = (cubed_block_fn){.struct_size = sizeof f->fn,
                             .version = CUBED_BLOCK_VERSION,
                             .name = "tally",
                             .check = check,
                             .need = need,
                             .run = run,
                             .clobbers = 1,
                             .ctx = &f->status};
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (cubed_context_add_block_fn(f->ctx, &f->fn, NULL) != CUBED_OK) return -1;
    if (make(f, "tally", usual, NULL) != CUBED_OK) return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_array_unref(f->out[0]);
    cubed_array_unref(f->out[1]);
    cubed_context_unref(f->ctx);
    free(f);
    return 0;
}

static cubed_plan *make_plan(fixture *f, int first, int n, bool optimize, double *sums,
                             int64_t *told)
{
    void *data[2] = {sums, told};
    cubed_target t[2] = {{.array = f->out[first], .data = data[first]},
                         {.array = f->out[1], .data = data[1]}};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    o.allowed_mem = (uint64_t)32 << 20;
    o.max_workers = 2;
    o.optimize = optimize;
    if (cubed_plan_new(f->ctx, t, n, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    return plan;
}

static void check_results(const fixture *f, const double *sums, const int64_t *told)
{
    for (int i = 0; sums && i < ROWS; i++) {
        double want = 0;
        for (int j = 0; j < COLUMNS; j++) want += 2 * f->data[i * COLUMNS + j];
        assert_true(sums[i] == want);
    }
    for (int i = 0; told && i < 3; i++) assert_int_equal(told[i], 50000 + i * HIGH * 100 + 20);
}

static void test_calls(void **state)
{
    fixture *f = *state;
    for (int k = 0; k < 6; k++) {
        double sums[ROWS] = {0};
        int64_t told[3] = {0};
        int n = k % 3 == 2 ? 2 : 1;
        cubed_plan *plan = make_plan(f, k % 3 == 1, n, k < 3, sums, told);
        cubed_run_stats stats;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_plan_info info;
        cubed_plan_get_info(plan, &info);
        assert_int_equal(info.num_stages, n == 2 && k >= 3 ? 2 : 1);
        if (cubed_run(plan, NULL, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
        assert_true(stats.measured_mem <= stats.projected_mem);
        /* exceeds 1000 because the memory that libraries allocate is included */
        assert_true(stats.measured_mem > 1000);
        check_results(f, k % 3 == 1 ? NULL : sums, k % 3 == 0 ? NULL : told);
        cubed_plan_unref(plan);
    }
}

static void test_saved_plan(void **state)
{
    fixture *f = *state;
    double sums[ROWS] = {0};
    int64_t told[3] = {0};
    void *bytes;
    size_t size;
    cubed_plan *plan = make_plan(f, 0, 2, true, NULL, NULL), *again;
    cubed_context *stranger;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_load(f->ctx, bytes, size, &again, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(again, 0, sums, sizeof sums, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(again, 1, told, sizeof told, &err), CUBED_OK);
    assert_int_equal(cubed_run(again, NULL, NULL, &err), CUBED_OK);
    check_results(f, sums, told);
    cubed_plan_unref(again);
    /* A context that does not know the function cannot load the plan. */
    assert_int_equal(cubed_context_new(NULL, &stranger, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_load(stranger, bytes, size, &again, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "\"tally\""));
    cubed_context_unref(stranger);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
}

static void test_failing_function(void **state)
{
    fixture *f = *state;
    double sums[ROWS] = {0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = make_plan(f, 0, 1, true, sums, NULL);
    f->status = CUBED_E_INDEX;
    assert_int_equal(cubed_run(plan, NULL, NULL, &err), CUBED_E_INDEX);
    f->status = 0;
    cubed_plan_unref(plan);
}

static void test_refusals(void **state)
{
    fixture *f = *state;
    cubed_array *before[2] = {f->out[0], f->out[1]};
    cubed_error err = CUBED_ERROR_INIT;
    static const int twice[2] = {0, 0}, none[2] = {0, -1}, other[2] = {1, 0}, wild[2] = {0, 99};
    assert_int_equal(cubed_context_add_block_fn(f->ctx, &f->fn, &err), CUBED_E_EXISTS);
    cubed_block_fn sort = f->fn;
    sort.name = "sort";
    assert_int_equal(cubed_context_add_block_fn(f->ctx, &sort, &err), CUBED_E_EXISTS);
    assert_int_equal(make(f, "nothing", usual, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "nothing"));
    assert_int_equal(make(f, "sort", usual, &err), CUBED_E_FORMAT); /* other operands */
    assert_int_equal(make(f, "tally", twice, &err), CUBED_E_ARG);
    assert_int_equal(make(f, "tally", wild, &err), CUBED_E_ARG);
    /* x has 5 blocks along the symbol, but the output has 3 */
    assert_int_equal(make(f, "tally", other, &err), CUBED_E_ARG);
    /* An output with one block of all columns is accepted. */
    assert_int_equal(make(f, "tally", none, &err), CUBED_OK);
    cubed_array_unref(f->out[0]);
    cubed_array_unref(f->out[1]);
    f->out[0] = before[0];
    f->out[1] = before[1];
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_saved_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failing_function, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
