/* Sources that a function reads: regions, memory, plans as bytes, and all refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/source.h"

enum { ROWS = 40, COLUMNS = 30 };

/* State of a source whose element (i, j) is first + 100 i + j. */
typedef struct handle {
    double first;
    cubed_status status; /* status that all reads return */
    atomic_int reads, elements;
    atomic_int *closed;
} handle;

static cubed_status read_region(void *h, const cubed_source_region *r, cubed_error *err)
{
    handle *x = h;
    (void)err;
    atomic_fetch_add(&x->reads, 1);
    atomic_fetch_add(&x->elements, (int)(r->shape[0] * r->shape[1]));
    for (int64_t i = 0; i < r->shape[0]; i++) {
        for (int64_t j = 0; j < r->shape[1]; j++) {
            double v = x->first + (double)(100 * (r->offset[0] + i) + r->offset[1] + j);
            memcpy((char *)r->data + i * r->strides[0] + j * r->strides[1], &v, sizeof v);
        }
    }
    return x->status;
}

static size_t need(void *h, size_t size)
{
    (void)h;
    return 3 * size;
}

static cubed_status save(void *h, cubed_source_sink put, void *sink, cubed_error *err)
{
    return put(sink, &((handle *)h)->first, sizeof(double), err);
}

static cubed_status open_handle(const void *params, size_t size, void *ctx, void **out,
                                cubed_error *err)
{
    handle *x = calloc(1, sizeof *x);
    (void)err;
    if (!x) return CUBED_E_NOMEM;
    if (size != sizeof x->first) {
        free(x);
        return CUBED_E_FORMAT;
    }
    memcpy(&x->first, params, sizeof x->first);
    x->closed = ctx;
    *out = x;
    return CUBED_OK;
}

static void close_handle(void *h)
{
    atomic_fetch_add(((handle *)h)->closed, 1);
    free(h);
}

typedef struct fixture {
    cubed_context *ctx;
    atomic_int closed;
    cubed_source_fn fn;
    handle *h;
    cubed_array *x;
} fixture;

static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {16, 8};

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    void *h = NULL;
    const double first = 7;
    if (!f) return 1;
    f->fn = (cubed_source_fn){.struct_size = sizeof f->fn,
                              .version = CUBED_SOURCE_VERSION,
                              .name = "sums",
                              .read = read_region,
                              .need = need,
                              .save = save,
                              .open = open_handle,
                              .close = close_handle,
                              .ctx = &f->closed};
    assert_int_equal(cubed_context_new(NULL, &f->ctx, NULL), CUBED_OK);
    assert_int_equal(cubed_context_add_source_fn(f->ctx, &f->fn, NULL), CUBED_OK);
    assert_int_equal(open_handle(&first, sizeof first, &f->closed, &h, NULL), CUBED_OK);
    f->h = h;
    assert_int_equal(
        cubed_array_from_source(f->ctx, &f->fn, h, CUBED_FLOAT64, 2, shape, chunks, &f->x, NULL),
        CUBED_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    free(f);
    return 0;
}

static double value(int64_t i, int64_t j) { return 7 + (double)(100 * i + j); }

static cubed_status run(cubed_array *x, const cubed_plan_options *o, void *out, size_t size,
                        cubed_run_stats *stats, cubed_error *err)
{
    const cubed_target t = {.array = x};
    cubed_plan *plan;
    cubed_status st = cubed_plan_new(cubed_array_context(x), &t, 1, o, &plan, err);
    if (st != CUBED_OK) return st;
    st = cubed_plan_bind_result(plan, 0, out, size, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, stats, err);
    cubed_plan_unref(plan);
    return st;
}

static void test_values_and_memory(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats = {0};
    double out[ROWS * COLUMNS];
    cubed_array *square;
    assert_int_equal(cubed_elementwise(CUBED_OP_SQUARE, &f->x, 1, &square, &err), CUBED_OK);
    assert_int_equal(run(square, NULL, out, sizeof out, &stats, &err), CUBED_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_float_equal(out[i],
                           value(i / COLUMNS, i % COLUMNS) * value(i / COLUMNS, i % COLUMNS), 0);
    /* reads each chunk once, and nothing beyond the end of the array */
    assert_int_equal(atomic_load(&f->h->reads), 12);
    assert_int_equal(atomic_load(&f->h->elements), ROWS * COLUMNS);
    size_t chunk = (size_t)16 * 8 * sizeof(double);
    assert_true(stats.measured_mem >= 4 * chunk);
    assert_true(stats.measured_mem <= stats.projected_mem);
    cubed_array_unref(square);
    assert_int_equal(atomic_load(&f->closed), 0);
    cubed_array_unref(f->x);
    assert_int_equal(atomic_load(&f->closed), 1);
}

static void test_reshaped(void **state)
{
    fixture *f = *state;
    cubed_array *flat;
    double out[ROWS * COLUMNS];
    const int64_t one[1] = {-1};
    assert_int_equal(cubed_reshape(f->x, 1, one, &flat, NULL), CUBED_OK);
    assert_int_equal(run(flat, NULL, out, sizeof out, NULL, NULL), CUBED_OK);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_float_equal(out[i], value(i / COLUMNS, i % COLUMNS), 0);
    cubed_array_unref(flat);
    cubed_array_unref(f->x);
}

static void test_plans_travel(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_target t = {.array = f->x};
    cubed_plan *plan, *loaded;
    void *bytes;
    size_t size;
    double out[ROWS * COLUMNS];
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, &err), CUBED_OK);
    cubed_array_unref(f->x); /* the plan holds a reference to x */
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    assert_int_equal(cubed_plan_load(f->ctx, bytes, size, &loaded, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 0, out, sizeof out, &err), CUBED_OK);
    assert_int_equal(cubed_run(loaded, NULL, NULL, &err), CUBED_OK);
    assert_float_equal(out[COLUMNS * 39 + 29], value(39, 29), 0);
    assert_int_equal(atomic_load(&f->closed), 0);
    cubed_plan_unref(loaded);
    assert_int_equal(atomic_load(&f->closed), 1);

    cubed_context *other;
    assert_int_equal(cubed_context_new(NULL, &other, &err), CUBED_OK);
    assert_int_equal(cubed_plan_load(other, bytes, size, &loaded, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "\"sums\""));
    cubed_context_unref(other);

    f->fn.save = NULL;
    void *none;
    assert_int_equal(cubed_plan_save(plan, &none, &size, &err), CUBED_E_UNSUPPORTED);
    f->fn.save = save;
    assert_int_equal(cubed_plan_save(plan, &none, &size, &err), CUBED_OK);
    cubed_plan_free_bytes(plan, none, size);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    assert_int_equal(atomic_load(&f->closed), 2);
}

static void test_refusals(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    double out[ROWS * COLUMNS];
    cubed_source_fn nameless = f->fn;
    nameless.name = NULL;
    assert_int_equal(cubed_context_add_source_fn(f->ctx, &nameless, &err), CUBED_E_ARG);
    cubed_source_fn older = f->fn;
    older.name = "older";
    older.version--;
    assert_int_equal(cubed_context_add_source_fn(f->ctx, &older, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "headers of libcubed"));
    older.version++;
    older.struct_size -= sizeof(void *);
    assert_int_equal(
        cubed_array_from_source(f->ctx, &older, f->h, CUBED_FLOAT64, 2, shape, chunks, &x, &err),
        CUBED_E_ARG);
    assert_non_null(strstr(err.message, "headers of libcubed"));
    assert_int_equal(cubed_context_add_source_fn(f->ctx, &f->fn, &err), CUBED_E_EXISTS);
    assert_int_equal(
        cubed_array_from_source(f->ctx, &f->fn, NULL, CUBED_FLOAT64, 2, shape, chunks, &x, &err),
        CUBED_E_ARG);
    const int64_t bad[2] = {0, 8};
    assert_int_equal(
        cubed_array_from_source(f->ctx, &f->fn, f->h, CUBED_FLOAT64, 2, shape, bad, &x, &err),
        CUBED_E_ARG);
    f->h->status = CUBED_E_FORMAT;
    assert_int_equal(run(f->x, NULL, out, sizeof out, NULL, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "sums, region ["));
    cubed_plan_options small = CUBED_PLAN_OPTIONS_INIT;
    small.reserved_mem = 0;
    small.allowed_mem =
        /* too little for the reads and for the program that evaluates them */
        (size_t)2 * 16 * 8 * sizeof(double);
    assert_int_equal(run(f->x, &small, out, sizeof out, NULL, &err), CUBED_E_BUDGET);
    cubed_array_unref(f->x);
    assert_int_equal(atomic_load(&f->closed), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values_and_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reshaped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plans_travel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
