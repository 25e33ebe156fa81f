/* Axes with irregular chunks: their arithmetic, their plans, and faults. */
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
#include "plan/geom.h"

static const int64_t starts[] = {0, 5, 6, 15, 25};
enum { EXTENT = 23, CHUNKS = 4 };

static void test_chunks(void **state)
{
    (void)state;
    cb_axis a = cb_axis_irregular(EXTENT, starts, CHUNKS);
    assert_true(cb_axis_is_sound(&a));
    assert_int_equal(a.chunk, 10);
    assert_int_equal(cb_axis_count(&a), CHUNKS);
    assert_int_equal(cb_axis_stored(&a, 3), 10);
    for (int64_t i = 0, at = 0; i < CHUNKS; i++) {
        assert_int_equal(cb_axis_lo(&a, i), at);
        for (; at < cb_axis_hi(&a, i); at++) assert_int_equal(cb_axis_find(&a, at), i);
    }
    assert_int_equal(cb_axis_hi(&a, 3), EXTENT);
}

static void test_lists_of_equal_chunks_are_regular(void **state)
{
    (void)state;
    const int64_t equal[] = {0, 8, 16, 23}, behind[] = {0, 8, 16, 25}, shorter[] = {0, 7, 15, 23};
    assert_null(cb_axis_irregular(EXTENT, equal, 3).starts);
    assert_int_equal(cb_axis_irregular(EXTENT, equal, 3).chunk, 8);
    assert_null(cb_axis_irregular(EXTENT, behind, 3).starts);
    assert_null(cb_axis_irregular(EXTENT, (const int64_t[]){0, 30}, 1).starts);
    assert_non_null(cb_axis_irregular(EXTENT, shorter, 3).starts);
    assert_null(cb_axis_irregular(0, equal, 0).starts);
}

static void test_what_is_not_sound(void **state)
{
    (void)state;
    static const int64_t bad[][5] = {
        {1, 5, 6, 15, 25}, {0, 5, 5, 15, 25}, {0, 5, 4, 15, 25},
        {0, 5, 6, 15, 22}, {0, 5, 6, 23, 25}, {0, 5, 6, 15, INT64_MAX},
    };
    cb_axis a = cb_axis_irregular(EXTENT, starts, CHUNKS);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cb_axis b = cb_axis_irregular(EXTENT, bad[i], CHUNKS);
        assert_false(b.starts && cb_axis_is_sound(&b));
    }
    a.chunk = a.first = 9;
    assert_false(cb_axis_is_sound(&a));
    a.n = 0;
    assert_false(cb_axis_is_sound(&a));
}

/* Two elements of any slice are in one chunk of the slice exactly if they are in one chunk of the axis. */
static void test_slices(void **state)
{
    (void)state;
    cb_axis a = cb_axis_irregular(EXTENT, starts, CHUNKS), s;
    for (int64_t stride = -7; stride <= 7; stride++) {
        for (int64_t offset = 0; offset < EXTENT && stride != 0; offset++) {
            int64_t most = 1 + (stride > 0 ? EXTENT - 1 - offset : offset) / llabs(stride);
            for (int64_t extent = 1; extent <= most; extent++) {
                cb_zone *zone;
                assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
                assert_int_equal(cb_axis_slice(zone, &a, offset, stride, extent, &s, NULL),
                                 CUBED_OK);
                assert_true(!s.starts || cb_axis_is_sound(&s));
                for (int64_t i = 1; i < extent; i++) {
                    bool same = cb_axis_find(&a, offset + (i - 1) * stride) ==
                                cb_axis_find(&a, offset + i * stride);
                    assert_int_equal(same, cb_axis_find(&s, i - 1) == cb_axis_find(&s, i));
                }
                cb_zone_free(zone);
            }
        }
    }
}

/* Extends an axis. Its irregular chunks stay unchanged, other chunks are regular, and none is longer than the longest chunk
 * was. */
static void check_extended(const cb_axis *a, int64_t before, int64_t after)
{
    cb_axis b;
    cb_zone *zone;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_axis_extend(zone, a, before, after, &b, NULL), CUBED_OK);
    assert_int_equal(b.extent, before + a->extent + after);
    assert_true(b.chunk <= a->chunk);
    assert_true(b.starts ? cb_axis_is_sound(&b) : b.first >= 1 && b.first <= b.chunk);
    assert_true(cb_axis_count(&b) <=
                cb_axis_count(a) + cb_ceil_div(before, a->chunk) + cb_ceil_div(after, a->chunk));
    for (int64_t i = 0, at = 0; i < cb_axis_count(&b); i++) {
        int64_t length = cb_axis_hi(&b, i) - cb_axis_lo(&b, i);
        assert_int_equal(cb_axis_lo(&b, i), at);
        assert_true(length >= 1 && length <= a->chunk);
        at += length;
    }
    const bool same_extent = before + after == 0;
    if (!a->starts) assert_true(!b.starts && b.first == (same_extent ? a->first : a->chunk));
    for (int64_t i = 1; i < a->extent && (a->starts || same_extent); i++) {
        bool same = cb_axis_find(a, i - 1) == cb_axis_find(a, i);
        bool now = cb_axis_find(&b, before + i - 1) == cb_axis_find(&b, before + i);
        assert_int_equal(same, now);
    }
    cb_zone_free(zone);
}

static void test_what_is_around_an_axis(void **state)
{
    (void)state;
    const int64_t chunk = 5;
    cb_axis listed = cb_axis_irregular(EXTENT, starts, CHUNKS), one = listed;
    static const int64_t short_starts[] = {0, 3, 4, 6};
    cb_axis few = cb_axis_irregular(6, short_starts, 3);
    assert_non_null(few.starts);
    for (int64_t before = 0; before < 13; before++) {
        for (int64_t after = 0; after < 13; after++) {
            check_extended(&listed, before, after);
            check_extended(&few, before, after);
            for (int64_t first = 1; first <= chunk; first++) {
                for (int64_t extent = 0; extent < 13; extent++) {
                    one = (cb_axis){.extent = extent, .first = first, .chunk = chunk};
                    check_extended(&one, before, after);
                }
            }
        }
    }
    /* No list is copied for the padding of a few elements. */
    cb_zone *zone;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_axis_extend(zone, &few, 0, INT64_C(1) << 40, &one, NULL), CUBED_OK);
    assert_null(one.starts);
    assert_int_equal(one.chunk, few.chunk);
    cb_zone_free(zone);
}

/* Lists are copied once: a node shares the lists of its input. */
static void test_who_owns_lists(void **state)
{
    (void)state;
    cb_zone *zone;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    cb_grid one = {1, {cb_axis_irregular(EXTENT, starts, CHUNKS)}}, two = one;
    const cb_grid *known = &one;
    assert_int_equal(cb_grid_own(zone, &one, NULL, 0, NULL), CUBED_OK);
    assert_ptr_not_equal(one.axis[0].starts, starts);
    assert_int_equal(cb_grid_own(zone, &two, &known, 1, NULL), CUBED_OK);
    assert_ptr_equal(one.axis[0].starts, two.axis[0].starts);
    cb_zone_free(zone);
}

typedef struct sample {
    double x[12][6], back[6][6], sum[6];
} sample;

static void fill(sample *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 6; j++) s->x[i][j] = 10 * i + j;
    }
}

/* x[::-2] and its sums by columns, of an array in chunks of 3, 4 and 5 rows. */
static cubed_status make_plan(cubed_context *ctx, sample *s, cubed_plan **plan, cubed_error *err)
{
    const int64_t shape[2] = {12, 6}, lengths[] = {3, 4, 5}, few[] = {3, 4}, chunks[2] = {5, 6};
    const int axis = 0;
    cubed_array *x = NULL, *cut = NULL, *back = NULL, *sum = NULL;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_options po = CUBED_PLAN_OPTIONS_INIT;
    const cubed_slice slices[2] = {{11, 6, -2, false}, {0, 6, 1, false}};
    const cubed_chunk_list lists[2] = {{lengths, 3}}, wrong[2] = {{few, 2}};
    o.axes = &axis;
    o.naxes = 1;
    po.allowed_mem = (uint64_t)32 << 20;
    po.max_workers = 2;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, s->x, &x, err);
    if (st == CUBED_OK) st = cubed_rechunk_irregular(x, lists, &cut, err);
    if (st == CUBED_OK) {
        assert_int_equal(cubed_array_num_chunks(cut, 0), 3);
        assert_int_equal(cubed_array_chunk_length(cut, 0, 1), 4);
        assert_true(cubed_array_is_irregular(cut, 0) && !cubed_array_is_irregular(cut, 1));
        assert_int_not_equal(cubed_rechunk_irregular(x, wrong, &back, NULL), CUBED_OK);
        st = cubed_slice_array(cut, slices, &back, err);
    }
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_SUM, back, &o, &sum, err);
    cubed_target t[2] = {{.array = back, .data = s->back}, {.array = sum, .data = s->sum}};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, t, 2, &po, plan, err);
    cubed_array_unref(x);
    cubed_array_unref(cut);
    cubed_array_unref(back);
    cubed_array_unref(sum);
    return st;
}

static void check(const sample *s)
{
    for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) {
            assert_true(s->back[i][j] == s->x[11 - 2 * i][j]);
            sum += s->back[i][j];
        }
        assert_true(s->sum[j] == sum);
    }
}

static void test_plans(void **state)
{
    (void)state;
    sample s;
    cubed_context *ctx;
    cubed_plan *plan, *loaded;
    cubed_run_stats stats;
    void *bytes;
    size_t size;
    fill(&s);
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(make_plan(ctx, &s, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, &stats, NULL), CUBED_OK);
    assert_true(stats.measured_mem <= stats.projected_mem);
    check(&s);
    memset(s.back, 0, sizeof s.back);
    assert_int_equal(cubed_plan_save(plan, &bytes, &size, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_load(ctx, bytes, size, &loaded, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 0, s.back, sizeof s.back, NULL), CUBED_OK);
    assert_int_equal(cubed_plan_bind_result(loaded, 1, s.sum, sizeof s.sum, NULL), CUBED_OK);
    assert_int_equal(cubed_run(loaded, NULL, NULL, NULL), CUBED_OK);
    check(&s);
    cubed_plan_free_bytes(plan, bytes, size);
    cubed_plan_unref(loaded);
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
}

/* Every rectangle of an array whose shards have different shapes along both axes: each of its elements is found in the shard, and
 * at the place in the shard, that it was written to. */
static void test_shards(void **state)
{
    (void)state;
    enum { ROWS = 12, COLUMNS = 8 };
    static const int64_t shape[2] = {ROWS, COLUMNS}, inner[2] = {2, 2}, rows[] = {2, 6, 4},
                         columns[] = {6, 2}, kept[2] = {CUBED_CHUNKS_KEPT, CUBED_CHUNKS_KEPT};
    const cubed_chunk_list lists[2] = {{rows, 3}, {columns, 2}};
    double data[ROWS][COLUMNS], back[ROWS * COLUMNS];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    cubed_array *x, *cut, *stored, *part;
    cubed_plan *plan;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) data[i][j] = 100 * i + j + 1;
    }
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    assert_int_equal(
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, shape, data, &x, &err),
        CUBED_OK);
    if (cubed_rechunk_irregular(x, lists, &cut, &err) != CUBED_OK) fail_msg("%s", err.message);
    const cubed_target to = {
        .array = cut, .url = "memory://irregular-shards", .chunks = inner, .shards = kept};
    if (cubed_plan_new(ctx, &to, 1, NULL, &plan, &err) != CUBED_OK ||
        cubed_run(plan, NULL, NULL, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_plan_unref(plan);
    if (cubed_array_open(ctx, to.url, &stored, &err) != CUBED_OK) fail_msg("%s", err.message);
    for (int64_t top = 0; top < ROWS; top += 1 + top / 5) {
        for (int64_t left = 0; left < COLUMNS; left++) {
            const int64_t height = 1 + (top + left) % (ROWS - top), width = COLUMNS - left;
            const cubed_slice s[2] = {{top, height, 1, false}, {left, width, 1, false}};
            assert_int_equal(cubed_slice_array(stored, s, &part, &err), CUBED_OK);
            const cubed_target t = {.array = part, .data = back};
            if (cubed_plan_new(ctx, &t, 1, NULL, &plan, &err) != CUBED_OK ||
                cubed_run(plan, NULL, NULL, &err) != CUBED_OK)
                fail_msg("%s", err.message);
            for (int64_t i = 0; i < height * width; i++)
                assert_true(back[i] == data[top + i / width][left + i % width]);
            cubed_plan_unref(plan);
            cubed_array_unref(part);
        }
    }
    cubed_array_unref(stored);
    cubed_array_unref(cut);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (long at = 1; at < 5000; at++) {
        failing f = {.at = at};
        const cubed_allocator a = failing_allocator(&f);
        cubed_context_options co = CUBED_CONTEXT_OPTIONS_INIT;
        cubed_context *ctx = NULL;
        cubed_plan *plan = NULL;
        sample s;
        fill(&s);
        co.allocator = &a;
        cubed_status st = cubed_context_new(&co, &ctx, NULL);
        if (st == CUBED_OK) st = make_plan(ctx, &s, &plan, NULL);
        cubed_plan_unref(plan);
        cubed_context_unref(ctx);
        if (f.calls < at) {
            assert_int_equal(st, CUBED_OK);
            return;
        }
        assert_true(st == CUBED_E_NOMEM ||
                    /* succeeds if the failed allocation was only for an optimisation */
                    st == CUBED_OK);
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_lists_of_equal_chunks_are_regular),
        cmocka_unit_test(test_what_is_not_sound),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_what_is_around_an_axis),
        cmocka_unit_test(test_who_owns_lists),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
