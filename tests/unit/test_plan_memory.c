/* Memory of arrays, plans and runs in addition to tasks: allocated bytes, for plans of many stages. */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "counting_allocator.h"
#include "cubed/cubed.h"
#include "plan/serial.h"
#include "plan_test.h"
#include "remove_dir.h"
#include "test_path.h"

/* a plan of STAGES operations, each in its own stage */
enum { STAGES = 400, SIDE = 64, BLOCK = 16 };

typedef struct fixture {
    counting bytes;
    cubed_allocator alloc;
    cubed_context *ctx;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    f->alloc = counting_allocator(&f->bytes);
    o.allocator = &f->alloc;
    must(cubed_context_new(&o, &f->ctx, &err), &err);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    assert_int_equal(f->bytes.now, 0);
    free(f);
    return 0;
}

/* Makes a matrix with a dominant diagonal, so that Cholesky's method succeeds. */
static cubed_array *matrix(const fixture *f, double *data, int64_t n)
{
    const int64_t shape[] = {n, n}, chunks[] = {BLOCK, BLOCK};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    for (int64_t i = 0; i < n * n; i++) data[i] = i % (n + 1) == 0 ? (double)(2 * n) : 1;
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err),
         &err);
    return x;
}

static cubed_plan *plan_of(const fixture *f, cubed_array *x, void *out, uint64_t mem)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    const cubed_target t = {.array = x, .data = out};
    cubed_plan *plan;
    o.allowed_mem = mem;
    o.reserved_mem = 0;
    o.max_workers = 2;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    return plan;
}

/* Running totals are stored, each in its own stage. */
static void test_chain(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    double *data = calloc((size_t)2 * SIDE * SIDE, sizeof *data);
    cubed_array *x = matrix(f, data, SIDE), *y;
    cubed_plan_info info;
    cubed_run_stats stats;
    int64_t before = f->bytes.now;
    for (int i = 0; i < STAGES; i++) {
        must(cubed_cumulative(CUBED_REDUCE_SUM, x, i % 2, false, &y, &err), &err);
        cubed_array_unref(x);
        x = y;
    }
    int64_t graph = f->bytes.now - before;
    before = f->bytes.now;
    f->bytes.most = before;
    cubed_plan *plan = plan_of(f, x, data + (size_t)SIDE * SIDE, 64 << 20);
    cubed_plan_get_info(plan, &info);
    int64_t kept = f->bytes.now - before, while_planning = f->bytes.most - before;
    before = f->bytes.most = f->bytes.now;
    must(cubed_run(plan, NULL, &stats, &err), &err);
    int64_t run = f->bytes.most - before;
    assert_int_equal(info.num_stages, STAGES);
    assert_in_range(graph / STAGES, 1, 1500);
    assert_in_range(kept / STAGES, 1, 1800);
    assert_in_range(while_planning / STAGES, 1, 4500);
    assert_in_range(run / STAGES, 1, 1500);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    free(data);
}

/* The allocated memory is within the plan's statements: for the plan, its arrays, its tables and tasks. Limits that leave no
 * room for it are refused. */
static void test_counted(void **state)
{
    enum {
        MANY = 4000,
        WORKERS = 2,
        QUEUES = 128 << 10 /* QUEUES: memory of the queues for reports of a worker */
    };
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    double *data = calloc((size_t)2 * SIDE * SIDE, sizeof *data);
    cubed_array *x = matrix(f, data, SIDE), *y;
    cubed_plan_info info;
    const int64_t before = f->bytes.now;
    for (int i = 0; i < MANY; i++) {
        must(cubed_cumulative(CUBED_REDUCE_SUM, x, i % 2, false, &y, &err), &err);
        cubed_array_unref(x);
        x = y;
    }
    cubed_plan *plan = plan_of(f, x, data + (size_t)SIDE * SIDE, 64 << 20), *none;
    cubed_plan_get_info(plan, &info);
    f->bytes.most = f->bytes.now;
    must(cubed_run(plan, NULL, NULL, &err), &err);
    const int64_t reserved = 4 << 20; /* memory that a run may use in addition to metadata_mem */
    const int64_t counted = (int64_t)info.metadata_mem + reserved;
    assert_in_range(f->bytes.most - before, counted / 2,
                    counted + WORKERS * ((int64_t)info.projected_mem + QUEUES));
    assert_in_range(info.metadata_mem / MANY, 1000, 3000);

    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    const cubed_target t = {.array = x, .data = data};
    o.reserved_mem = 0;
    o.max_workers = WORKERS;
    o.allowed_mem = info.metadata_mem + info.projected_mem - 1;
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, &o, &none, &err), CUBED_E_BUDGET);
    assert_non_null(strstr(err.message, "of a plan of 4000 stages"));
    o.allowed_mem = info.metadata_mem + info.projected_mem;
    err = (cubed_error)CUBED_ERROR_INIT;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &none, &err), &err);
    cubed_plan_unref(none);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    free(data);
}

/* Panels read all panels to their left: their inputs are many small views. Nothing is run. */
static void test_panels(void **state)
{
    enum { N = 8000, MEM = 22 << 20 };
    const int64_t shape[] = {N, N}, chunks[] = {500, 500};
    const cubed_scalar one = {.f64 = 1};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *y;
    cubed_plan_info info;
    must(cubed_array_full(f->ctx, CUBED_FLOAT64, 2, shape, chunks, &one, &x, &err), &err);
    must(cubed_cholesky(x, false, MEM, &y, &err), &err);
    int64_t before = f->bytes.now;
    f->bytes.most = before;
    cubed_plan *plan = plan_of(f, y, NULL, MEM);
    cubed_plan_get_info(plan, &info);
    assert_in_range(info.num_stages, 35, 50);
    assert_in_range((f->bytes.now - before) / info.num_stages, 1, 60000);
    assert_in_range((f->bytes.most - before) / info.num_stages, 1, 200000);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
}

/* Each concatenated array is a branch of the program. The table that finds the branch of a position must be small. */
static void test_pieces(void **state)
{
    enum { PIECES = 4000, EXTENT = 20 };
    const int64_t shape[] = {EXTENT}, chunks[] = {EXTENT};
    static double data[EXTENT];
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array **x = calloc(PIECES, sizeof *x), *y;
    cubed_plan_info info;
    assert_non_null(x);
    for (int i = 0; i < PIECES; i++) {
        cubed_array *one;
        must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 1, shape, NULL, chunks, data, &one,
                                     &err),
             &err);
        must(cubed_elementwise(CUBED_OP_NEGATIVE, &one, 1, &x[i], &err), &err);
        cubed_array_unref(one);
    }
    must(cubed_concat(x, PIECES, 0, &y, &err), &err);
    int64_t before = f->bytes.now;
    f->bytes.most = before;
    cubed_plan *plan = plan_of(f, y, NULL, 256 << 20);
    cubed_plan_get_info(plan, &info);
    assert_int_equal(info.num_stages, 1);
    assert_in_range((f->bytes.now - before) / PIECES, 1, 5000);
    assert_in_range((f->bytes.most - before) / PIECES, 1, 10000);
    /* The plan counts the memory that it and its arrays hold. */
    assert_true((int64_t)info.metadata_mem + (4 << 20) >= f->bytes.now - before);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    for (int i = 0; i < PIECES; i++) cubed_array_unref(x[i]);
    free(x);
}

/* Intermediates use the memory of their contents, not of their nominal chunks: chunks may be longer than the array, or than
 * the part that a view selects. */
static void test_chunks_longer_than_arrays(void **state)
{
    enum { ROWS = 3333, COLUMNS = 3, CHUNK = 130, WIDE = 270, PAGE = 4096 };
    const int64_t shape[] = {ROWS, COLUMNS}, chunks[] = {CHUNK, WIDE};
    const cubed_slice from[] = {{0, (int64_t)2 * ROWS, 1, false}, {1, 2, 1, false}};
    static double data[ROWS * COLUMNS], out[2 * ROWS * 2];
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *both, *part, *y;
    cubed_plan *plan;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_stats stats;
    for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = i;
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err),
         &err);
    must(cubed_concat((cubed_array *[]){x, x}, 2, 0, &both, &err), &err);
    must(cubed_slice_array(both, from, &part, &err), &err);
    must(cubed_elementwise(CUBED_OP_NEGATIVE, &part, 1, &y, &err), &err);
    const cubed_target t = {.array = y, .data = out};
    o.optimize = false;
    o.max_workers = 3;
    o.allowed_mem = 64 << 20;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    must(cubed_run(plan, NULL, &stats, &err), &err);
    for (int i = 0; i < 2 * ROWS; i++) {
        for (int j = 0; j < 2; j++)
            assert_true(out[2 * i + j] == -data[i % ROWS * COLUMNS + j + 1]);
    }
    const int64_t pages =
        /* number of pages of each of the three intermediates; each page belongs to one chunk */
        2 * ROWS / CHUNK + 1;
    assert_in_range(stats.intermediate_peak, PAGE, 3 * pages * PAGE);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(part);
    cubed_array_unref(both);
    cubed_array_unref(x);
}

/* Copies the metadata of an array to another place. */
static void copy_metadata(const char *from, const char *to)
{
    char path[96], text[4096];
    snprintf(path, sizeof path, "%s/zarr.json", from);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_int_equal(mkdir(to, 0777), 0);
    snprintf(path, sizeof path, "%s/zarr.json", to);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

/* Arrays in stores stay open as long as a plan exists, and the plan counts them. An array that is opened twice is open once. */
static void test_stored_pieces(void **state)
{
    enum { PIECES = 1000 };
    char dir[64], url[80];
    const int64_t shape[] = {20};
    const cubed_scalar one = {.f64 = 1};
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array **x = calloc(PIECES, sizeof *x), *y;
    cubed_plan_info info;
    assert_non_null(x);
    assert_non_null(mkdtemp(test_path(dir, sizeof dir, "cubed-plan-XXXXXX")));
    snprintf(url, sizeof url, "%s/a", dir);
    must(cubed_array_full(f->ctx, CUBED_FLOAT64, 1, shape, shape, &one, &y, &err), &err);
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    const cubed_target t = {.array = y, .url = url};
    cubed_plan *plan;
    o.reserved_mem = 0;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    cubed_array_unref(y);

    for (int again = 0; again < 2; again++) {
        const int64_t before = f->bytes.now;
        for (int i = 0; i < PIECES; i++) {
            char piece[80];
            snprintf(piece, sizeof piece, "%s/%d", dir, i);
            if (!again) copy_metadata(url, piece);
            must(cubed_array_open(f->ctx, again ? url : piece, &x[i], &err), &err);
        }
        must(cubed_concat(x, PIECES, 0, &y, &err), &err);
        plan = plan_of(f, y, NULL, 256 << 20);
        cubed_plan_get_info(plan, &info);
        const int64_t kept = f->bytes.now - before;
        if (again)
            assert_int_equal(info.metadata_mem, 0);
        else
            assert_in_range((int64_t)info.metadata_mem + (4 << 20), kept, kept + kept / 4);
        cubed_plan_unref(plan);
        cubed_array_unref(y);
        for (int i = 0; i < PIECES; i++) cubed_array_unref(x[i]);
    }
    free(x);
    assert_int_equal(remove_dir(dir), 0);
}

/* Writes the bytes of a plan with a valid checksum: one operation without inputs, which claims this number of outputs. Each
 * output has at least 4 bytes, which are 0 here. */
static size_t claim_outputs(uint8_t *bytes, size_t size, uint32_t outputs)
{
    static const uint8_t node[] = {CB_NODE_BLOCKWISE, CUBED_FLOAT64, 0, 0, 2, 'f', 0};
    size_t at = CB_PLAN_HEADER_BYTES;
    memset(bytes, 0, size);
    memcpy(bytes, CB_PLAN_MAGIC, 8);
    bytes[8] = CB_PLAN_VERSION;
    /* the fields allowed_mem, reserved_mem, workers, goal, work directory (none) and number of nodes */
    bytes[at++] = 1;
    bytes[at++] = 0;
    bytes[at++] = 1;
    at += sizeof(((cubed_plan *)0)->goal);
    bytes[at++] = 0;
    bytes[at++] = 1;
    memcpy(bytes + at, node, sizeof node);
    at += sizeof node;
    for (; outputs > 127; outputs >>= 7) bytes[at++] = (uint8_t)(outputs | 128);
    bytes[at++] = (uint8_t)outputs;
    uint32_t sum = (uint32_t)crc32_z(0, bytes + CB_PLAN_HEADER_BYTES, size - CB_PLAN_HEADER_BYTES);
    for (int k = 0; k < 4; k++) bytes[12 + k] = (uint8_t)(sum >> 8 * k);
    return size - at;
}

/* Loading a plan allocates at most the memory that its bytes could fill, and at most the memory of the largest allowed plan. */
static void test_claimed_outputs(void **state)
{
    enum { SIZE = 1 << 21, HEADER = 64 };
    const uint32_t claims[] = {SIZE / 4 + 1, SIZE - HEADER, CB_MAX_OPERANDS + 1, UINT32_MAX};
    fixture *f = *state;
    uint8_t *bytes = malloc(SIZE);
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        assert_in_range(claim_outputs(bytes, SIZE, claims[i]), SIZE - HEADER, SIZE);
        f->bytes.most = f->bytes.now;
        int64_t before = f->bytes.now;
        assert_int_equal(cubed_plan_load(f->ctx, bytes, SIZE, &plan, &err), CUBED_E_FORMAT);
        assert_string_equal(err.message, "the bytes are malformed: a node");
        assert_in_range(f->bytes.most - before, 1, 1 << 20);
    }
    /* If the bytes contain all claimed outputs, reading ends at the first invalid one. */
    (void)claim_outputs(bytes, SIZE, 100);
    assert_int_equal(cubed_plan_load(f->ctx, bytes, SIZE, &plan, &err), CUBED_E_FORMAT);
    assert_null(strstr(err.message, "a node"));
    free(bytes);
}

/* A small intermediate in memory is read again by each task. Tasks of several chunks would read it less often, but would need
 * more memory. On other machines each reading is a request, so tasks have several chunks. */
static void test_cheap_reads(void **state)
{
    enum { ROWS = 40 };
    const int first = 0;
    const int64_t shape[] = {ROWS, 1 << 20}, chunks[] = {1, 1 << 20};
    const fixture *f = *state;
    char dir[64], work[96], url[96];
    test_path(dir, sizeof dir, "cubed-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(work, sizeof work, "%s/work", dir);
    snprintf(url, sizeof url, "%s/out", dir);
    for (int far = 0; far < 2; far++) {
        cubed_array *x, *sum, *y;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
        cubed_reduce_options axis = CUBED_REDUCE_OPTIONS_INIT;
        cubed_plan *plan;
        cubed_plan_info info;
        cubed_stage_info last;
        axis.axes = &first;
        axis.naxes = 1;
        axis.keepdims = true;
        o.allowed_mem = 1 << 30;
        o.max_workers = 2;
        o.other_machines = far;
        o.work_dir = work;
        must(cubed_array_index(f->ctx, 2, shape, chunks, 0, &x, &err), &err);
        must(cubed_reduce(CUBED_REDUCE_SUM, x, &axis, &sum, &err), &err);
        must(cubed_elementwise(CUBED_OP_SUBTRACT, (cubed_array *[]){x, sum}, 2, &y, &err), &err);
        const cubed_target t = {.array = y, .url = url};
        must(cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err), &err);
        cubed_plan_get_info(plan, &info);
        must(cubed_plan_get_stage(plan, info.num_stages - 1, &last, &err), &err);
        if (far)
            assert_in_range(last.num_tasks, 2, ROWS / 2);
        else
            assert_int_equal(last.num_tasks, ROWS);
        cubed_plan_unref(plan);
        cubed_array_unref(y);
        cubed_array_unref(sum);
        cubed_array_unref(x);
    }
    assert_int_equal(remove_dir(dir), 0);
}

/* A product of matrices in memory has one task for each chunk. Smaller pieces would each copy a whole factor. */
static void test_products_are_not_divided(void **state)
{
    const int64_t shape[] = {4000, 4000}, chunks[] = {2000, 2000};
    const fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_info info;
    cubed_array *x, *y;
    double unused;
    must(cubed_array_index(f->ctx, 2, shape, chunks, 0, &x, &err), &err);
    must(cubed_matmul(x, x, &y, &err), &err);
    cubed_plan *plan = plan_of(f, y, &unused, 1 << 30);
    cubed_plan_get_info(plan, &info);
    assert_int_equal(info.num_tasks, 4);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_panels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chunks_longer_than_arrays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stored_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claimed_outputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cheap_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_products_are_not_divided, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
