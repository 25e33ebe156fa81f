/* Geometry, the bytes of plans, and faults while planning and running. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "exec/plan/lower.h"
#include "failing_allocator.h"
#include "plan/geom.h"
#include "plan/plan.h"
#include "plan/reduction.h"

static void test_grids(void **state)
{
    (void)state;
    /* Every position is in the chunk that find() returns, and each chunk begins where the previous one ends. */
    for (int64_t extent = 0; extent < 12; extent++) {
        for (int64_t chunk = 1; chunk < 6; chunk++) {
            for (int64_t first = 1; first <= chunk; first++) {
                cb_axis a = {.extent = extent, .first = first, .chunk = chunk};
                int64_t n = cb_axis_count(&a), at = 0;
                for (int64_t i = 0; i < n; i++) {
                    assert_int_equal(cb_axis_lo(&a, i), at);
                    assert_true(cb_axis_hi(&a, i) > at);
                    for (at = cb_axis_lo(&a, i); at < cb_axis_hi(&a, i); at++)
                        assert_int_equal(cb_axis_find(&a, at), i);
                }
                assert_int_equal(at, extent);
            }
        }
    }
}

static void test_maps(void **state)
{
    (void)state;
    /* Composes x[::-1] of 9 elements with a slice [::2] of the result: source = 8 - 2 j. */
    cb_map flip = cb_map_identity(1), step = cb_map_identity(1);
    flip.dim[0].offset = 8;
    flip.dim[0].stride = -1;
    step.dim[0].offset = 8;
    step.dim[0].stride = -2;
    cb_map both;
    assert_int_equal(cb_map_compose(&flip, &step, &both, NULL), CUBED_OK);
    cb_box domain = {1, {1}, {4}}, source;
    cb_map_image(&both, &domain, &source);
    assert_int_equal(source.lo[0], 2);
    assert_int_equal(source.hi[0], 7);
    assert_false(cb_map_is_identity(&both));
}

static void test_reduce_levels(void **state)
{
    (void)state;
    assert_int_equal(cb_reduce_levels(0), 1);
    assert_int_equal(cb_reduce_levels(16), 1);
    assert_int_equal(cb_reduce_levels(17), 2);
    assert_int_equal(cb_reduce_levels(256), 2);
    assert_int_equal(cb_reduce_levels(257), 3);
}

/* Results of one plan: the mean over rows of x*x, the deviations of the rows from it, and x*x by columns as one dimension. */
typedef struct sample {
    double x[6][50], mean[50], off[6][50], flat[300];
} sample;

static cubed_status make_plan(cubed_context *ctx, sample *s, bool optimize, cubed_plan **plan,
                              cubed_error *err)
{
    const int64_t shape[2] = {6, 50}, chunks[2] = {2, 16};
    cubed_array *x = NULL, *sq = NULL, *mean = NULL, *off = NULL, *turned = NULL, *flat = NULL;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_options po = CUBED_PLAN_OPTIONS_INIT;
    const int axis = 0;
    o.axes = &axis;
    o.naxes = 1;
    po.allowed_mem = (uint64_t)32 << 20;
    po.max_workers = 2;
    po.optimize = optimize;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, s->x, &x, err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SQUARE, &x, 1, &sq, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, sq, &o, &mean, err);
    cubed_array *args[2] = {sq, mean};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &off, err);
    if (st == CUBED_OK) st = cubed_permute_dims(sq, (const int[]){1, 0}, &turned, err);
    if (st == CUBED_OK) st = cubed_reshape(turned, 1, (const int64_t[]){-1}, &flat, err);
    cubed_target t[3] = {{.array = mean, .data = s->mean},
                         {.array = off, .data = s->off},
                         {.array = flat, .data = s->flat}};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, t, 3, &po, plan, err);
    cubed_array_unref(turned);
    cubed_array_unref(flat);
    cubed_array_unref(x);
    cubed_array_unref(sq);
    cubed_array_unref(mean);
    cubed_array_unref(off);
    return st;
}

static void fill(sample *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 50; j++) s->x[i][j] = 0.25 * (i - 2) + j * 0.125;
    }
}

static void check(const sample *s)
{
    for (int j = 0; j < 50; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += s->x[i][j] * s->x[i][j];
        assert_true(s->mean[j] == sum / 6);
        for (int i = 0; i < 6; i++) assert_true(s->off[i][j] == s->x[i][j] * s->x[i][j] - sum / 6);
        for (int i = 0; i < 6; i++) assert_true(s->flat[6 * j + i] == s->x[i][j] * s->x[i][j]);
    }
}

static void test_run(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        sample s;
        cubed_context *ctx;
        cubed_plan *plan;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
        cubed_run_stats stats;
        fill(&s);
        o.executor = k & 1 ? "threads" : "single-threaded";
        assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
        if (make_plan(ctx, &s, k < 2, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
        if (cubed_run(plan, &o, &stats, &err) != CUBED_OK) fail_msg("%s", err.message);
        check(&s);
        assert_true(stats.measured_mem <= stats.projected_mem && stats.measured_mem > 0);
        o.executor = "nobody";
        assert_int_equal(cubed_run(plan, &o, &stats, &err), CUBED_E_ARG);
        cubed_plan_unref(plan);
        cubed_context_unref(ctx);
    }
}

/* Every truncation and every flipped bit of a plan is refused. The fuzzer of plans tests the reader with valid checksums. */
static void test_damaged_bytes(void **state)
{
    (void)state;
    sample s;
    cubed_context *ctx;
    cubed_plan *plan, *loaded;
    cubed_error err = CUBED_ERROR_INIT;
    void *bytes;
    size_t size;
    fill(&s);
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(make_plan(ctx, &s, true, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, &err), CUBED_OK);
    assert_int_equal(cubed_plan_load(ctx, bytes, size, &loaded, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 0, s.mean, sizeof s.mean, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 1, s.off, 8, &err), CUBED_E_ARG);
    /* the second result has no buffer */
    assert_int_equal(cubed_run(loaded, NULL, NULL, &err), CUBED_E_ARG);
    assert_int_equal(cubed_plan_bind_result(loaded, 1, s.off, sizeof s.off, &err), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 2, s.flat, sizeof s.flat, &err), CUBED_OK);
    assert_int_equal(cubed_run(loaded, NULL, NULL, &err), CUBED_OK);
    check(&s);
    cubed_plan_unref(loaded);
    for (size_t n = 0; n < size; n += 1 + n / 64)
        assert_int_not_equal(cubed_plan_load(ctx, bytes, n, &loaded, &err), CUBED_OK);
    uint8_t *copy = malloc(size + 1);
    for (size_t bit = 0; bit < 8 * size; bit += bit < 2048 ? 1 : 61) {
        memcpy(copy, bytes, size);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(cubed_plan_load(ctx, copy, size, &loaded, &err), CUBED_OK);
    }
    memcpy(copy, bytes, size);
    copy[8]--; /* another version of the format */
    assert_int_equal(cubed_plan_load(ctx, copy, size, &loaded, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "format has version"));
    assert_non_null(strstr(err.message, CUBED_VERSION_STRING " reads version"));
    assert_non_null(strstr(err.message, "save it again"));
    free(copy);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
}

/* Whichever allocation fails, planning and running end with CUBED_E_NOMEM and free everything (the address sanitizer checks);
 * without failure the result is right. */
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (long at = 1; at < 5000; at++) {
        sample s;
        failing f = {.at = at};
        const cubed_allocator a = failing_allocator(&f);
        cubed_context_options co = CUBED_CONTEXT_OPTIONS_INIT;
        cubed_context *ctx = NULL;
        cubed_plan *plan = NULL;
        cubed_error err = CUBED_ERROR_INIT;
        fill(&s);
        co.allocator = &a;
        cubed_status st = cubed_context_new(&co, &ctx, &err);
        if (st == CUBED_OK) st = make_plan(ctx, &s, true, &plan, &err);
        if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, &err);
        cubed_plan_unref(plan);
        cubed_context_unref(ctx);
        if (f.calls < at) {
            assert_int_equal(st, CUBED_OK);
            check(&s);
            assert_true(at > 50);
            return;
        }
        assert_true(st == CUBED_E_NOMEM ||
                    /* succeeds if the failed allocation was only for an optimisation */
                    st == CUBED_OK);
    }
    fail_msg("never succeeded");
}

/* Operations on strided memory. The results are in the caller's memory, so the arena has only registers. */
static void test_strided_memory(void **state)
{
    (void)state;
    double data[40], out[2][5];
    const int64_t shape[2] = {2, 5}, strides[2] = {160, -16};
    cubed_context *ctx;
    cubed_array *x;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    for (int i = 0; i < 40; i++) data[i] = i;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, strides, NULL, data + 8, &x, &err),
        CUBED_OK);
    cubed_target t = {.array = x, .data = out};
    if (cubed_plan_new(ctx, &t, 1, NULL, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    if (cubed_run(plan, NULL, NULL, &err) != CUBED_OK) fail_msg("%s", err.message);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 5; j++) assert_true(out[i][j] == 8 + 20 * i - 2 * j);
    }
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

static void count_release(void *owner) { ++*(int *)owner; }

/* Memory with an owner is released once, when no array or plan reads it. */
static void test_owned_memory(void **state)
{
    (void)state;
    double data[4] = {1, 2, 3, 4}, out[4];
    const int64_t shape[1] = {4};
    int released = 0;
    cubed_context *ctx;
    cubed_array *x, *y;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, NULL, data, &x, NULL),
        CUBED_OK);
    cubed_array_set_owner(x, count_release, &released);
    assert_int_equal(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, NULL), CUBED_OK);
    cubed_array_unref(x);
    cubed_target t = {.array = y, .data = out};
    if (cubed_plan_new(ctx, &t, 1, NULL, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_array_unref(y);
    assert_int_equal(released, 0);
    if (cubed_run(plan, NULL, NULL, &err) != CUBED_OK) fail_msg("%s", err.message);
    for (int i = 0; i < 4; i++) assert_true(out[i] == -data[i]);
    cubed_plan_unref(plan);
    assert_int_equal(released, 1);
    cubed_context_unref(ctx);
}

/* Every kind of node has a complete row, and either a way to compile it or a stage that computes it. */
static void test_kinds(void **state)
{
    (void)state;
    for (int k = 0; k < CB_NODE_KINDS; k++) {
        const cb_kind *kind = cb_kinds[k];
        assert_non_null(kind);
        assert_true(kind->name && kind->name[0] && kind->check && kind->find_chunks_from);
        for (int other = 0; other < k; other++)
            assert_string_not_equal(kind->name, cb_kinds[other]->name);
        assert_true(kind->max_inputs < 0 || kind->min_inputs <= kind->max_inputs);
        assert_int_equal(!kind->put && !kind->put_data, kind->get == NULL);
        assert_true(cb_lower_has_kind((cb_node_kind)k));
        const bool source = kind->is & CB_KIND_SOURCE, chunked = kind->is & CB_KIND_CHUNKED;
        assert_true((source || !chunked) && (!source || kind->max_inputs == 0));
        if (kind->is & CB_KIND_CONSTANT) assert_int_equal(kind->max_inputs, 0);
        /* A kind that is always stored is not a source, and is never computed while it is read. */
        if (kind->is & CB_KIND_STORES_ITSELF) assert_false(source || (kind->is & CB_KIND_PULLED));
        if (kind->is & CB_KIND_ELEMENTWISE) assert_true(kind->is & CB_KIND_PULLED);
        /* A kind that computes must have a name in reports. */
        if (kind->is & (CB_KIND_STORES_ITSELF | CB_KIND_REDUCTION | CB_KIND_ELEMENTWISE))
            assert_non_null(kind->operation);
    }
}

/* The chunks of a result that is a region of an array have other numbers than those of a stored node. */
static void test_regions_are_not_read(void **state)
{
    (void)state;
    const int64_t shape[1] = {4};
    int index;
    cb_ir ir = {.nnodes = 0};
    cubed_error err = CUBED_ERROR_INIT;
    cb_node one = {.kind = CB_NODE_FULL, .dtype = CUBED_FLOAT64};
    const cb_grid grid = cb_grid_regular(1, shape, shape);
    one.grid = &grid;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &ir.zone, NULL), CUBED_OK);
    assert_int_equal(cb_ir_add(&ir, &one, &index, NULL), CUBED_OK);
    cb_node copy = {.kind = CB_NODE_COPY,
                    .dtype = CUBED_FLOAT64,
                    .grid = one.grid,
                    .ninputs = 1,
                    .inputs = &index,
                    .url = "somewhere",
                    .is_target = true,
                    .region = true};
    cb_node_store(&copy, CB_WHY_TARGET);
    assert_int_equal(cb_ir_add(&ir, &copy, &index, NULL), CUBED_OK);
    assert_int_equal(cb_ir_check(&ir, &err), CUBED_OK);
    assert_int_equal(cb_ir_add(&ir, &copy, &index, NULL), CUBED_OK);
    assert_int_equal(cb_ir_check(&ir, &err), CUBED_E_FORMAT);
    assert_string_equal(err.message, "plan node 2: a region of an array that is read again");
    ir.nodes[1].region = false;
    assert_int_equal(cb_ir_check(&ir, &err), CUBED_OK);
    cb_zone_free(ir.zone);
}

/* Each stage fits in memory alone. But the largest arena and the largest memory of libraries belong to different stages. */
static void test_arenas_and_libraries(void **state)
{
    (void)state;
    enum { ROWS = 64, COLUMNS = 1009 };
    static double data[ROWS * COLUMNS], sorted[ROWS * COLUMNS], row[2 * COLUMNS];
    const int64_t shape[2] = {ROWS, COLUMNS};
    const cubed_slice first[2] = {{0, 1, 1, false}, {0, COLUMNS, 1, false}};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_context *ctx;
    cubed_array *x, *x0, *y, *z;
    cubed_plan *plan;
    cubed_plan_info info;
    cubed_stage_info s;
    cubed_error err = CUBED_ERROR_INIT;
    uint64_t all = 0;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, NULL, data, &x, NULL),
        CUBED_OK);
    assert_int_equal(cubed_slice_array(x, first, &x0, NULL), CUBED_OK);
    assert_int_equal(cubed_fft(x0, NULL, 1, CUBED_FFT_BACKWARD, &y, NULL), CUBED_OK);
    assert_int_equal(cubed_sort(x, 1, false, &z, NULL), CUBED_OK);
    const cubed_target t[2] = {{.array = y, .data = row}, {.array = z, .data = sorted}};
    o.max_workers = 1;
    o.reserved_mem = 0;
    if (cubed_plan_new(ctx, t, 2, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_plan_get_info(plan, &info);
    for (int i = 0; i < info.num_stages; i++) {
        assert_int_equal(cubed_plan_get_stage(plan, i, &s, NULL), CUBED_OK);
        all += s.projected_mem;
    }
    o.allowed_mem = info.projected_mem; /* the memory of the largest stage */
    assert_int_equal(cubed_plan_set_limits(plan, &o, &err), CUBED_E_BUDGET);
    assert_non_null(strstr(err.message, "each stage fits"));
    o.allowed_mem = info.projected_mem - 1;
    assert_int_equal(cubed_plan_set_limits(plan, &o, &err), CUBED_E_BUDGET);
    assert_non_null(strstr(err.message, "a task needs"));
    o.allowed_mem = all;
    assert_int_equal(cubed_plan_set_limits(plan, &o, NULL), CUBED_OK);
    cubed_plan_unref(plan);
    cubed_array *const made[] = {x, x0, y, z};
    for (int i = 0; i < 4; i++) cubed_array_unref(made[i]);
    cubed_context_unref(ctx);
}

/* Groups that keep their elements if the first reduced axis grows: those without a block that is not full along this axis. */
static void test_full_groups(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, columns; /* with chunks of 4 and 3 */
        uint32_t reduced;
        int64_t full;
    } cases[] = {
        {64, 3, 1, 1}, {63, 3, 1, 0},   {127, 3, 1, 1},  {128, 7, 1, 2},
        {0, 3, 1, 0},  {64, 48, 3, 16}, {62, 48, 3, 15}, {62, 50, 3, 15},
        {3, 60, 3, 0}, {5, 48, 2, 1},   {5, 47, 2, 0},   {64, 0, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t shape[] = {cases[i].rows, cases[i].columns}, chunks[] = {4, 3};
        const cb_grid g = cb_grid_regular(2, shape, chunks);
        assert_int_equal(cb_reduce_full_groups(&g, cases[i].reduced), cases[i].full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_reduce_levels),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_strided_memory),
        cmocka_unit_test(test_owned_memory),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_regions_are_not_read),
        cmocka_unit_test(test_arenas_and_libraries),
        cmocka_unit_test(test_full_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
