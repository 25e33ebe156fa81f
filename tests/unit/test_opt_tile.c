/* The tile search, compared with enumeration of every task, and of every choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "exec/plan/load_need.h"
#include "exec/plan/operator.h"
#include "plan/plan.h"
#include "rechunk_test.h"

/* --- Counting along one axis ----------------------------------------------------------------- */

/* Walks every task. */
static uint64_t count_touched(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                              const cb_axis *source)
{
    uint64_t total = 0;
    int64_t chunks = cb_axis_count(out);
    for (int64_t c = 0; c < chunks; c += per) {
        int64_t last = cb_min_i64(chunks, c + per) - 1;
        int64_t a = cb_axis_find(source, offset + stride * cb_axis_lo(out, c));
        int64_t z = cb_axis_find(source, offset + stride * (cb_axis_hi(out, last) - 1));
        total += (uint64_t)(a < z ? z - a : a - z) + 1;
    }
    return total;
}

static void test_touched(void **state)
{
    (void)state;
    random_state = 1;
    for (int i = 0; i < 200000; i++) {
        int64_t extent = between(0, 60), stride = between(-4, 4), slack = between(0, 9);
        cb_axis out = random_axis(extent, 12);
        if (stride == 0) stride = 1;
        int64_t reach = (stride < 0 ? -stride : stride) * cb_max_i64(0, extent - 1) + 1;
        cb_axis source = random_axis(reach + slack, 20);
        int64_t offset = (stride < 0 ? reach - 1 : 0) + between(0, slack);
        int64_t per = between(1, cb_max_i64(1, cb_axis_count(&out)));
        assert_int_equal(cb_axis_touched(&out, per, offset, stride, &source),
                         count_touched(&out, per, offset, stride, &source));
    }
}

/* Axes near the maximum length. */
static void test_touched_far(void **state)
{
    (void)state;
    int64_t extent = INT64_MAX / 2;
    cb_axis ones = cb_axis_regular(extent, 1), whole = cb_axis_regular(extent, extent);
    cb_axis two = cb_axis_regular(extent, 2), three = cb_axis_regular(extent, 3);
    cb_axis odd = cb_axis_regular(extent, 1000003);
    uint64_t n = (uint64_t)extent;
    assert_int_equal(cb_axis_touched(&ones, 1, 0, 1, &whole), n);
    assert_int_equal(cb_axis_touched(&whole, 1, 0, 1, &ones), n);
    assert_int_equal(cb_axis_touched(&ones, 7, 0, 1, &ones), n);
    assert_int_equal(cb_axis_touched(&ones, 1, extent - 1, -1, &ones), n);
    /* Of every three chunks of length two, the second crosses the border between chunks of length three. */
    cb_axis sixes = cb_axis_regular(6000000000000, 2), threes = cb_axis_regular(6000000000000, 3);
    assert_int_equal(cb_axis_touched(&sixes, 1, 0, 1, &threes), 4000000000000);
    assert_int_equal(cb_axis_touched(&sixes, 3, 0, 1, &threes), 2000000000000);
    /* The number of pieces follows from the borders of both grids. Borders that both have are counted once. */
    uint64_t borders = (uint64_t)(cb_axis_count(&two) - 1) + (uint64_t)(cb_axis_count(&three) - 1);
    assert_int_equal(cb_axis_touched(&two, 1, 0, 1, &three), borders - (n - 1) / 6 + 1);
    borders = (uint64_t)(cb_axis_count(&odd) - 1) + (uint64_t)(cb_axis_count(&three) - 1);
    assert_int_equal(cb_axis_touched(&odd, 1, 0, 1, &three), borders - (n - 1) / 3000009 + 1);
}

/* --- Tiles ----------------------------------------------------------------------------------- */

static void test_measure(void **state)
{
    (void)state;
    random_state = 2;
    for (int i = 0; i < 5000; i++) {
        cb_grid from, to;
        int64_t per[CUBED_MAX_NDIM], ntasks;
        uint64_t reads;
        cb_tile t;
        random_grids((int)between(0, 3), 12, &from, &to);
        cb_tile_source s = {.grid = &from, .item_size = 4, .read_extra = (size_t)between(0, 300)};
        cb_tile_in in = {.out = &to,
                         .item_size = 4,
                         .write_extra = (size_t)between(0, 300),
                         .fixed = 11,
                         .copy = true,
                         .coop = (unsigned)between(0, 4),
                         .nsources = 1,
                         .sources = &s};
        for (int d = 0; d < to.ndim; d++) per[d] = between(1, cb_axis_count(&to.axis[d]));
        cb_tile_measure(&in, per, &t);
        walk_tasks(&to, &from, per, &ntasks, &reads, NULL);
        assert_int_equal(t.ntasks, ntasks);
        assert_int_equal(t.chunks_read, reads);
        assert_int_equal(t.bytes_read, reads * cb_tile_chunk_bytes(&from, 4));
        assert_int_equal(t.task_mem, copy_mem(&in, per));
        assert_memory_equal(t.task_chunks, per, (size_t)to.ndim * sizeof *per);
    }
}

/* Compared with the projections of plans for a copy from one stored array to another. */
static void test_projection(void **state)
{
    (void)state;
    random_state = 8;
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    int compared = 0;
    for (int i = 0; i < 100; i++) {
        int ndim = (int)between(1, 3);
        int64_t shape[3], from[3], to[3];
        cubed_array *x, *y;
        cubed_plan *p;
        cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
        o.optimize = false;
        for (int d = 0; d < ndim; d++) {
            shape[d] = between(1, 40);
            from[d] = between(1, shape[d]);
            to[d] = between(1, shape[d]);
        }
        assert_int_equal(cubed_array_index(ctx, ndim, shape, from, 0, &x, NULL), CUBED_OK);
        assert_int_equal(cubed_rechunk(x, to, &y, NULL), CUBED_OK);
        /* Planning writes nothing. */
        cubed_target target = {.array = y, .url = "never-written.zarr"};
        assert_int_equal(cubed_plan_new(ctx, &target, 1, &o, &p, NULL), CUBED_OK);
        for (int k = 0; k < p->nstages; k++) {
            cb_stage s = p->stages[k];
            const cb_load *l = &s.tail.branches[0].loads[s.tail.branches[0].results[0]];
            if (!cb_stage_copied(&s)) continue;
            const cb_node *out = &p->ir.nodes[s.outs[0].node];
            cb_tile_source source = {.grid = p->ir.nodes[l->node].grid,
                                     .map = l->map,
                                     .item_size = cubed_dtype_size(l->dtype),
                                     .read_extra = cb_read_need(p, l->node).arena};
            cb_tile_in in = {.out = out->grid,
                             .item_size = cubed_dtype_size(out->dtype),
                             .write_extra = cb_write_need(p, s.outs[0].node).arena,
                             .copy = true,
                             .nsources = 1,
                             .sources = &source};
            for (int trial = 0; trial < 5; trial++) {
                cb_tile t;
                s.coop = in.coop = (unsigned)between(1, 4);
                for (int d = 0; d < ndim; d++)
                    s.task_chunks[d] = trial ? between(1, cb_axis_count(&out->grid->axis[d])) : 1;
                assert_int_equal(cb_stage_set_tasks(&s, NULL), CUBED_OK);
                cb_stage_project(p, &s);
                cb_tile_measure(&in, s.task_chunks, &t);
                assert_int_equal(t.task_mem, s.need.arena);
                assert_int_equal(t.bytes_read, s.bytes_read);
                assert_int_equal(t.chunks_read, s.chunks_read);
                assert_int_equal(t.ntasks, s.ntasks);
                compared++;
            }
        }
        cubed_plan_unref(p);
        cubed_array_unref(x);
        cubed_array_unref(y);
    }
    cubed_context_unref(ctx);
    assert_true(compared >= 500);
}

/* Compares the choice with every possible choice. */
static void test_choose(void **state)
{
    (void)state;
    random_state = 3;
    int refused = 0;
    for (int i = 0; i < 4000; i++) {
        cb_grid from, to;
        random_grids((int)between(1, 3), 14, &from, &to);
        cb_tile_source s = {.grid = &from, .item_size = 8};
        cb_tile_in in = {.out = &to,
                         .item_size = 8,
                         .copy = true,
                         .nsources = 1,
                         .sources = &s,
                         .mem = (size_t)between_log(64, 40000)};
        cb_box all = {.ndim = to.ndim};
        int64_t per[CUBED_MAX_NDIM];
        cb_tile t, best, trial;
        cubed_error err = CUBED_ERROR_INIT;
        for (int d = 0; d < to.ndim; d++) {
            all.lo[d] = per[d] = 1;
            all.hi[d] = cb_axis_count(&to.axis[d]) + 1;
        }
        cb_tile_measure(&in, per, &best);
        if (best.task_mem > in.mem) {
            assert_int_equal(cb_tile_choose(&in, &t, &err), CUBED_E_BUDGET);
            assert_non_null(strstr(err.message, "chunk"));
            refused++;
            continue;
        }
        assert_int_equal(cb_tile_choose(&in, &t, &err), CUBED_OK);
        do {
            cb_tile_measure(&in, per, &trial);
            if (trial.task_mem <= in.mem && trial.bytes_read < best.bytes_read) best = trial;
        } while (cb_odometer_next(&all, per));
        cb_tile_measure(&in, t.task_chunks, &trial);
        assert_memory_equal(&t, &trial, sizeof t);
        assert_true(t.task_mem <= in.mem);
        assert_int_equal(t.bytes_read, best.bytes_read);
    }
    assert_in_range(refused, 100, 3000);
}

/* Chooses tasks for an expression with three arrays: one transposed, one broadcast along the first axis, and one aligned with the
 * result. */
static void test_choose_sources(void **state)
{
    (void)state;
    int64_t shape[] = {600, 400}, turned[] = {400, 600}, row[] = {400};
    int64_t chunk[] = {20, 20}, long_chunk[] = {400, 20}, row_chunk[] = {400};
    cb_grid out = cb_grid_regular(2, shape, chunk), a = cb_grid_regular(2, turned, long_chunk);
    cb_grid b = cb_grid_regular(1, row, row_chunk);
    cb_map turn = {.ndim_in = 2, .ndim_out = 2}, pick = {.ndim_in = 2, .ndim_out = 1};
    turn.dim[0].axis = 1;
    turn.dim[1].axis = 0;
    turn.dim[0].stride = turn.dim[1].stride = 1;
    pick.dim[0].axis = 1;
    pick.dim[0].stride = 1;
    cb_tile_source sources[] = {{.grid = &a, .map = &turn, .item_size = 4},
                                {.grid = &b, .map = &pick, .item_size = 4},
                                {.grid = &out, .item_size = 4}};
    cb_tile_in in = {
        .out = &out, .item_size = 8, .nsources = 3, .sources = sources, .mem = 1 << 20};
    cb_tile t;
    /* A task of one block reads one chunk of each array. The transposed array has another layout, so it needs a tile. */
    int64_t single[] = {1, 1};
    cb_tile_measure(&in, single, &t);
    assert_int_equal(t.task_mem, 3200 + 32000 + 1600 + 1600 + 1600);
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    /* A whole row of blocks needs one chunk of the transposed array, which is read once; several
     * rows save reads of the broadcast array until memory is full. */
    assert_int_equal(t.task_chunks[1], 20);
    assert_true(t.task_chunks[0] > 1);
    assert_int_equal(t.ntasks, cb_ceil_div(30, t.task_chunks[0]));
    assert_int_equal(t.chunks_read, 30 + t.ntasks + 600);
    /* The task's memory: the tiles of the output and of the two arrays with another layout, and one chunk of each array. */
    size_t elements = (size_t)t.task_chunks[0] * 20 * 400;
    assert_int_equal(t.task_mem, elements * (8 + 4 + 4) + 32000 + 1600 + 1600);
    /* Seven rows per task would fit, but six rows give no more tasks. */
    assert_int_equal(t.task_chunks[0], 6);
}

/* More axes and sources than the search considers. */
static void test_choose_many(void **state)
{
    (void)state;
    cb_grid out = {.ndim = 16}, from[24];
    cb_tile_source sources[24];
    for (int d = 0; d < 16; d++) out.axis[d] = cb_axis_regular(4, 1);
    for (int s = 0; s < 24; s++) {
        from[s].ndim = 16;
        for (int d = 0; d < 16; d++) from[s].axis[d] = cb_axis_regular(4, 1 + (d + s) % 2);
        sources[s] = (cb_tile_source){.grid = &from[s], .item_size = (size_t)(1 + s % 8)};
    }
    cb_tile_in in = {.out = &out, .item_size = 1, .nsources = 24, .sources = sources};
    in.mem = 1 << 20;
    cb_tile t, one;
    int64_t per[16];
    for (int d = 0; d < 16; d++) per[d] = 1;
    cb_tile_measure(&in, per, &one);
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_true(t.bytes_read < one.bytes_read);
    assert_true(t.task_mem <= in.mem);
    /* Everything fits. */
    out.ndim = from[0].ndim = 10;
    for (int d = 0; d < 10; d++) from[0].axis[d] = cb_axis_regular(4, 4);
    in.nsources = 1;
    in.copy = true;
    in.mem = 4 << 20;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.chunks_read, 1);
}

static void test_group(void **state)
{
    (void)state;
    int64_t shape[] = {1000, 1000}, chunk[] = {10, 10};
    cb_grid g = cb_grid_regular(2, shape, chunk);
    cb_tile_source s = {.grid = &g, .item_size = 8};
    cb_tile_in in = {
        .out = &g, .item_size = 8, .copy = true, .nsources = 1, .sources = &s, .mem = 100000000};
    cb_tile t;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.ntasks, 10000);
    in.worth = 1000000;
    in.min_tasks = 4;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_in_range(t.ntasks, 8, 30);
    assert_int_equal(t.chunks_read, 10000);
    in.min_tasks = 500;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_in_range(t.ntasks, 500, 1000);
    in.mem = 20000;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_true(t.task_mem <= 20000);
}

/* Compares tasks that read everything once. If one task is large, all workers share it; if it is small, one worker runs it. */
static void test_few_tasks(void **state)
{
    (void)state;
    int64_t shape[] = {100, 1000}, from[] = {1, 1000}, to[] = {100, 10};
    cb_grid source = cb_grid_regular(2, shape, from), target = cb_grid_regular(2, shape, to);
    cb_tile_source s = {.grid = &source, .item_size = 8};
    cb_tile_in in = {.out = &target,
                     .item_size = 8,
                     .copy = true,
                     .nsources = 1,
                     .sources = &s,
                     .mem = 1000000,
                     .worth = 800000};
    cb_tile t;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.ntasks, 1);
    size_t alone = t.task_mem;
    in.coop = 4;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.coop, 1);
    in.worth--;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.coop, 4);
    assert_int_equal(t.chunks_read, 100);
    assert_int_equal(t.task_mem, alone - 600000);
    /* Each task reads one of the two chunks, so workers have no reads to share. */
    source = cb_grid_regular(2, shape, (int64_t[]){50, 1000});
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.coop, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_touched),     cmocka_unit_test(test_touched_far),
        cmocka_unit_test(test_measure),     cmocka_unit_test(test_projection),
        cmocka_unit_test(test_choose),      cmocka_unit_test(test_choose_sources),
        cmocka_unit_test(test_choose_many), cmocka_unit_test(test_group),
        cmocka_unit_test(test_few_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
