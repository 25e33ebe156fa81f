/* User-defined kernels on blocks: by name, by shared object, in plans; and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../examples/map_blocks/kernel.h"

enum { ROWS = 5, COLUMNS = 7 };

/* "add": the sum of two arrays' blocks; one of them may have one column. */
static cubed_status add(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *x = &call->in[0], *y = &call->in[1], *z = &call->out[0];
    (void)ctx;
    (void)err;
    for (int64_t i = 0; i < z->shape[0]; i++) {
        for (int64_t j = 0; j < z->shape[1]; j++) {
            int64_t column = y->shape[y->ndim - 1] == 1 ? 0 : j;
            ((double *)z->data)[i * z->shape[1] + j] =
                ((const double *)x->data)[i * x->shape[1] + j] +
                ((const double *)y->data)[(y->ndim == 2 ? i * y->shape[1] : 0) + column];
        }
    }
    return CUBED_OK;
}

static const cubed_block_fn add_fn = {.struct_size = sizeof(cubed_block_fn),
                                      .version = CUBED_BLOCK_VERSION,
                                      .name = "add",
                                      .run = add};

/* "automatic": a copy that uses 4 MiB of the stack, as Fortran functions do. */
static cubed_status automatic(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    enum { N = (4 << 20) / sizeof(double) };
    volatile double room[N];
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const int64_t n = y->shape[0] * y->shape[1];
    (void)ctx;
    (void)err;
    for (int64_t i = 0; i < N; i++) room[i] = i < n ? ((const double *)x->data)[i] : 0;
    for (int64_t i = 0; i < n; i++) ((double *)y->data)[i] = room[i];
    return CUBED_OK;
}

static const cubed_block_fn automatic_fn = {.struct_size = sizeof(cubed_block_fn),
                                            .version = CUBED_BLOCK_VERSION,
                                            .name = "automatic",
                                            .run = automatic};

static const limits percent = {0, 100};
static const cubed_kernel shared = {.library = KERNEL_LIBRARY,
                                    .symbol = "between",
                                    .params = &percent,
                                    .params_size = sizeof percent};
static const cubed_kernel named = {.name = "add"};

typedef struct fixture {
    cubed_context *ctx;
    cubed_array *x;
    double data[ROWS * COLUMNS];
} fixture;

static cubed_array *from(fixture *f, int64_t rows, int64_t columns, int64_t chunk)
{
    const int64_t shape[2] = {rows, columns}, chunks[2] = {chunk, chunk};
    cubed_array *x;
    assert_int_equal(
        cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, f->data, &x, NULL),
        CUBED_OK);
    return x;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    for (int i = 0; i < ROWS * COLUMNS; i++) f->data[i] = i;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (cubed_context_add_block_fn(f->ctx, &add_fn, NULL) != CUBED_OK) return -1;
    if (cubed_context_add_block_fn(f->ctx, &automatic_fn, NULL) != CUBED_OK) return -1;
    f->x = from(f, ROWS, COLUMNS, 3);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_array_unref(f->x);
    cubed_context_unref(f->ctx);
    free(f);
    return 0;
}

static cubed_plan *plan_of(fixture *f, cubed_array *x, void *result)
{
    cubed_target t = {.array = x, .data = result};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    o.max_workers = 2;
    o.allowed_mem = (uint64_t)64 << 20;
    if (cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    return plan;
}

static void run(cubed_plan *plan)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    if (cubed_run(plan, NULL, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_true(stats.measured_mem <= stats.projected_mem);
}

static void test_several_arrays(void **state)
{
    fixture *f = *state;
    const int64_t columns[3] = {COLUMNS, COLUMNS, 1};
    for (int k = 0; k < 3; k++) {
        double result[ROWS * COLUMNS];
        cubed_array *y = from(f, ROWS, columns[k], k + 1), *in[2] = {f->x, y}, *z;
        cubed_error err = CUBED_ERROR_INIT;
        if (cubed_map_blocks(f->ctx, &named, in, 2, CUBED_FLOAT64, NULL, &z, &err) != CUBED_OK)
            fail_msg("%s", err.message);
        cubed_plan *plan = plan_of(f, z, result);
        run(plan);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            assert_true(result[i] == i + (columns[k] == 1 ? i / COLUMNS : i));
        cubed_plan_unref(plan);
        cubed_array_unref(z);
        cubed_array_unref(y);
    }
}

static void check_between(const double *result)
{
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_true(result[i] == i / 100.0);
}

static void test_shared_object(void **state)
{
    fixture *f = *state;
    double result[ROWS * COLUMNS], again[ROWS * COLUMNS];
    cubed_array *y;
    cubed_plan *loaded;
    cubed_plan_info info;
    cubed_context *stranger;
    void *bytes;
    size_t size;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_map_blocks(f->ctx, &shared, &f->x, 1, CUBED_FLOAT64, NULL, &y, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_plan *plan = plan_of(f, y, result);
    run(plan);
    check_between(result);
    cubed_plan_get_info(plan, &info);
    assert_true(info.code);
    /* The plan has the path of the shared object. So a process that does not know the kernel can run it, but only if code is
     * allowed. */
    assert_int_equal(cubed_context_new(NULL, &stranger, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_load(stranger, bytes, size, &loaded, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "between"));
    assert_int_equal(cubed_plan_load_code(stranger, bytes, size, &loaded, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 0, again, sizeof again, &err), CUBED_OK);
    run(loaded);
    check_between(again);
    cubed_plan_unref(loaded);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_context_unref(stranger);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
}

static void test_large_automatic_arrays(void **state)
{
    static const cubed_kernel kernel = {.name = "automatic"};
    fixture *f = *state;
    double result[ROWS * COLUMNS];
    cubed_array *y;
    assert_int_equal(cubed_map_blocks(f->ctx, &kernel, &f->x, 1, CUBED_FLOAT64, NULL, &y, NULL),
                     CUBED_OK);
    cubed_plan *plan = plan_of(f, y, result);
    run(plan);
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_true(result[i] == i);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
}

static void test_other_blocks(void **state)
{
    fixture *f = *state;
    const int64_t ones[2] = {1, 1}, none[2] = {0, 1};
    cubed_array *y;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_map_blocks(f->ctx, &shared, &f->x, 1, CUBED_FLOAT64, ones, &y, &err),
                     CUBED_OK);
    assert_int_equal(cubed_array_shape(y)[0], 2);
    assert_int_equal(cubed_array_shape(y)[1], 3);
    cubed_array_unref(y);
    assert_int_equal(cubed_map_blocks(f->ctx, &shared, &f->x, 1, CUBED_FLOAT64, none, &y, &err),
                     CUBED_E_ARG);
}

static void test_refusals(void **state)
{
    cubed_block_fn older = add_fn;
    static const struct {
        cubed_kernel kernel;
        cubed_status status;
        const char *message;
    } cases[] = {
        {{.name = NULL}, CUBED_E_ARG, "either a name"},
        {{.name = "a", .library = "b", .symbol = "c"}, CUBED_E_ARG, "either a name"},
        {{.library = "b"}, CUBED_E_ARG, "either a name"},
        {{.name = "wind"}, CUBED_E_UNSUPPORTED, "function on blocks \"wind\" is unknown"},
        {{.library = "/nowhere.so", .symbol = "s"}, CUBED_E_NOT_FOUND, "/nowhere.so"},
        {{.library = "/dev/null", .symbol = "s"}, CUBED_E_UNSUPPORTED, "cannot be opened"},
        {{.library = KERNEL_LIBRARY, .symbol = "s"},
         CUBED_E_UNSUPPORTED,
         "function on blocks \"s\""},
        {{.library = KERNEL_LIBRARY, .symbol = "between"}, CUBED_E_TYPE, "one float64 array"},
    };
    fixture *f = *state;
    cubed_array *y, *longer = from(f, ROWS - 1, COLUMNS, 2), *both[2] = {f->x, longer};
    cubed_error err = CUBED_ERROR_INIT;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_status st =
            cubed_map_blocks(f->ctx, &cases[k].kernel, &f->x, 1, CUBED_FLOAT64, NULL, &y, &err);
        if (st != cases[k].status || !strstr(err.message, cases[k].message))
            fail_msg("%d: %s", (int)st, err.message);
    }
    assert_int_equal(cubed_map_blocks(f->ctx, &named, both, 2, CUBED_FLOAT64, NULL, &y, &err),
                     CUBED_E_ARG);
    assert_int_equal(cubed_map_blocks(f->ctx, &named, both, 0, CUBED_FLOAT64, NULL, &y, &err),
                     CUBED_E_ARG);
    cubed_array_unref(longer);
    older.name = "older";
    older.struct_size -= sizeof(void *);
    assert_int_equal(cubed_context_add_block_fn(f->ctx, &older, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "headers of libcubed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_several_arrays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_object, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_automatic_arrays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
