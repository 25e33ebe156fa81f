/* Tile search and rechunk planner against enumeration of every task, and against what is known of
 * their best plans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* cmocka wants those first. */
#include <cmocka.h>

#include "cubed/cubed.h"
#include "opt/rechunk.h"
#include "plan/need.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 20
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW 20
#endif
#endif
#ifndef SLOW
#define SLOW 1
#endif

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
/* lo <= x <= hi */
static int64_t between(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(next_random() % (uint64_t)(hi - lo + 1));
}
/* The same, small numbers as likely as large ones. */
static double between_log(double lo, double hi)
{
    return lo * pow(hi / lo, (double)(next_random() >> 11) * 0x1p-53);
}

static cb_axis random_axis(int64_t extent, int64_t longest)
{
    int64_t chunk = between(1, longest);
    return (cb_axis){
        .extent = extent, .first = between(0, 1) ? chunk : between(1, chunk), .chunk = chunk};
}

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
        assert_int_equal(cb_tile_touched(&out, per, offset, stride, &source),
                         count_touched(&out, per, offset, stride, &source));
    }
}

/* Axes near the largest there are. */
static void test_touched_far(void **state)
{
    (void)state;
    int64_t extent = INT64_MAX / 2;
    cb_axis ones = cb_axis_regular(extent, 1), whole = cb_axis_regular(extent, extent);
    cb_axis two = cb_axis_regular(extent, 2), three = cb_axis_regular(extent, 3);
    cb_axis odd = cb_axis_regular(extent, 1000003);
    uint64_t n = (uint64_t)extent;
    assert_int_equal(cb_tile_touched(&ones, 1, 0, 1, &whole), n);
    assert_int_equal(cb_tile_touched(&whole, 1, 0, 1, &ones), n);
    assert_int_equal(cb_tile_touched(&ones, 7, 0, 1, &ones), n);
    assert_int_equal(cb_tile_touched(&ones, 1, extent - 1, -1, &ones), n);
    /* Of every three chunks of two the second straddles the border between threes. */
    cb_axis sixes = cb_axis_regular(6000000000000, 2), threes = cb_axis_regular(6000000000000, 3);
    assert_int_equal(cb_tile_touched(&sixes, 1, 0, 1, &threes), 4000000000000);
    assert_int_equal(cb_tile_touched(&sixes, 3, 0, 1, &threes), 2000000000000);
    /* Pieces of the common refinement: borders of either, those of both once. */
    uint64_t borders = (uint64_t)(cb_axis_count(&two) - 1) + (uint64_t)(cb_axis_count(&three) - 1);
    assert_int_equal(cb_tile_touched(&two, 1, 0, 1, &three), borders - (n - 1) / 6 + 1);
    borders = (uint64_t)(cb_axis_count(&odd) - 1) + (uint64_t)(cb_axis_count(&three) - 1);
    assert_int_equal(cb_tile_touched(&odd, 1, 0, 1, &three), borders - (n - 1) / 3000009 + 1);
}

/* --- Tiles ----------------------------------------------------------------------------------- */

/* What plan/need.c says of a copy: output chunks one beside the other, or a tile of them all and one that
 * is written, whichever takes less; teams divide the former. */
static size_t copy_mem(const cb_tile_in *in, const int64_t *per)
{
    size_t chunk = in->item_size, source = in->item_size, tile = in->item_size, held = 1;
    size_t team = in->team > 1 ? in->team : 1;
    bool single = true, same = true;
    for (int d = 0; d < in->out->ndim; d++) {
        const cb_axis *a = &in->out->axis[d], *b = &in->sources[0].grid->axis[d];
        chunk *= (size_t)a->chunk;
        source *= (size_t)b->chunk;
        tile *= (size_t)cb_min_i64(a->extent, a->chunk * per[d]);
        held *= (size_t)cb_min_i64(cb_axis_count(a), per[d]);
        single = single && per[d] == 1;
        same = same && a->first == b->first && a->chunk == b->chunk;
    }
    size_t reading = in->sources[0].read_extra, writing = in->write_extra;
    if (!(single && same)) reading += cb_arena_round(source);
    held = cb_arena_round((held + team - 1) / team * chunk) + cb_max_size(reading, writing);
    tile = cb_arena_round(tile) + cb_max_size(reading, writing + cb_arena_round(chunk));
    return in->fixed + (single || team > 1 ? held : cb_min_size(held, tile));
}

/* Walks the tasks and the chunks of each. `seen`, if there, counts who writes each target chunk. */
static void walk_tasks(const cb_grid *out, const cb_grid *source, const int64_t *per,
                       int64_t *ntasks, uint64_t *reads, uint8_t *seen)
{
    cb_grid tasks = {.ndim = out->ndim};
    *ntasks = 0;
    *reads = 0;
    for (int d = 0; d < out->ndim; d++)
        tasks.axis[d] = cb_axis_regular(cb_axis_count(&out->axis[d]), per[d]);
    *ntasks = cb_grid_count(&tasks);
    for (int64_t t = 0; t < *ntasks; t++) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_box chunks, elements = {.ndim = out->ndim}, cover;
        cb_grid_unravel(&tasks, t, idx);
        cb_grid_box(&tasks, idx, &chunks);
        for (int d = 0; d < out->ndim; d++) {
            elements.lo[d] = cb_axis_lo(&out->axis[d], chunks.lo[d]);
            elements.hi[d] = cb_axis_hi(&out->axis[d], chunks.hi[d] - 1);
        }
        cb_grid_cover(source, &elements, &cover);
        *reads += (uint64_t)cb_box_count(&cover);
        memcpy(idx, chunks.lo, sizeof idx);
        do {
            if (seen) seen[cb_grid_ravel(out, idx)]++;
        } while (cb_odometer_next(&chunks, idx));
    }
}

static void random_grids(int ndim, int64_t longest, cb_grid *a, cb_grid *b)
{
    a->ndim = b->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        int64_t extent = between(1, longest);
        a->axis[d] = random_axis(extent, extent + 2);
        b->axis[d] = random_axis(extent, extent + 2);
    }
}

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
                         .team = (unsigned)between(0, 4),
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

/* Against what plans project for a copy from one stored array to another. */
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
            if (!s.copy || l->kind != CB_LOAD_STORED) continue;
            const cb_node *out = &p->ir.nodes[s.outs[0].node];
            cb_tile_source source = {.grid = &p->ir.nodes[l->node].grid,
                                     .map = l->map,
                                     .item_size = cubed_dtype_size(l->dtype),
                                     .read_extra = cb_read_need(p, l->node).arena};
            cb_tile_in in = {.out = &out->grid,
                             .item_size = cubed_dtype_size(out->dtype),
                             .write_extra = cb_write_need(p, s.outs[0].node).arena,
                             .copy = true,
                             .nsources = 1,
                             .sources = &source,
                             .fixed = cb_bookkeeping_bytes(&s)};
            for (int trial = 0; trial < 5; trial++) {
                cb_tile t;
                s.team = in.team = (unsigned)between(1, 4);
                for (int d = 0; d < ndim; d++)
                    s.task_chunks[d] = trial ? between(1, cb_axis_count(&out->grid.axis[d])) : 1;
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

/* Against every choice that there is. */
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

/* An expression over a transposed array, one broadcast along the first axis, and one aligned. */
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
    /* A single block lies in one chunk of each, but not as the transposed array's does. */
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
    /* The output's tile and those of the two that lie otherwise, and one chunk of each. */
    size_t elements = (size_t)t.task_chunks[0] * 20 * 400;
    assert_int_equal(t.task_mem, elements * (8 + 4 + 4) + 32000 + 1600 + 1600);
    /* Seven rows fit, but six make as few tasks. */
    assert_int_equal(t.task_chunks[0], 6);
}

/* More axes and sources than the search looks at. */
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

/* One task that reads everything once, which is large: all work at it, or it alone where it is small. */
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
    in.team = 4;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.team, 1);
    in.worth--;
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.team, 4);
    assert_int_equal(t.chunks_read, 100);
    assert_int_equal(t.task_mem, alone - 600000);
    /* Nobody would read more than one chunk of two. */
    source = cb_grid_regular(2, shape, (int64_t[]){50, 1000});
    assert_int_equal(cb_tile_choose(&in, &t, NULL), CUBED_OK);
    assert_int_equal(t.team, 1);
}

/* --- Plans ----------------------------------------------------------------------------------- */

/* Grids chain up, numbers are those of the passes, memory holds. */
static void check_plan(const cb_rechunk_in *in, const cb_rechunk_plan *p)
{
    uint64_t read = 0, written = 0, requests = 0;
    const cb_grid *from = &in->source;
    assert_in_range(p->npasses, 1, CB_RECHUNK_MAX_PASSES);
    for (int i = 0; i < p->npasses; i++) {
        const cb_rechunk_pass *pass = &p->pass[i];
        bool last = i == p->npasses - 1;
        int64_t ntasks = 1;
        uint64_t chunks = 1;
        assert_int_equal(pass->target.ndim, in->target.ndim);
        if (last) assert_memory_equal(&pass->target, &in->target, sizeof in->target);
        for (int d = 0; d < pass->target.ndim; d++) {
            const cb_axis *a = &pass->target.axis[d], *b = &from->axis[d];
            int64_t n = cb_axis_count(a);
            assert_int_equal(a->extent, b->extent);
            if (!last) assert_int_equal(a->first, a->chunk);
            assert_true(a->chunk >= 1 && (last || a->chunk <= a->extent));
            assert_true(pass->task_chunks[d] >= 1 && pass->task_chunks[d] <= cb_max_i64(1, n));
            ntasks *= cb_ceil_div(n, pass->task_chunks[d]);
            chunks = cb_sat_mul(chunks, cb_tile_touched(a, pass->task_chunks[d], 0, 1, b));
        }
        assert_int_equal(pass->ntasks, ntasks);
        assert_int_equal(pass->requests_read, chunks);
        assert_int_equal(pass->bytes_read,
                         cb_sat_mul(chunks, cb_tile_chunk_bytes(from, in->item_size)));
        assert_int_equal(pass->requests_written, cb_grid_count(&pass->target));
        assert_int_equal(pass->bytes_written, cb_tile_grid_bytes(&pass->target, in->item_size));
        /* Nothing is read less than once. */
        assert_true(pass->bytes_read >= cb_tile_grid_bytes(from, in->item_size));
        cb_tile_source s = {.grid = from,
                            .item_size = in->item_size,
                            .read_extra = i ? in->middle_extra : in->read_extra};
        cb_tile_in tile = {.out = &pass->target,
                           .team = pass->team,
                           .item_size = in->item_size,
                           .write_extra = last ? in->write_extra : in->middle_extra,
                           .fixed = in->fixed,
                           .copy = true,
                           .nsources = 1,
                           .sources = &s};
        assert_int_equal(pass->task_mem, copy_mem(&tile, pass->task_chunks));
        assert_true(pass->task_mem <= in->mem);
        read = cb_sat_add(read, pass->bytes_read);
        written = cb_sat_add(written, pass->bytes_written);
        requests = cb_sat_add(requests, cb_sat_add(pass->requests_read, pass->requests_written));
        from = &pass->target;
    }
    assert_int_equal(p->bytes_read, read);
    assert_int_equal(p->bytes_written, written);
    assert_int_equal(p->requests, requests);
    assert_true(p->seconds >= 0 && p->seconds < INFINITY);
}

static double array_bytes(const cb_rechunk_in *in)
{
    double n = (double)in->item_size;
    for (int d = 0; d < in->source.ndim; d++) n *= (double)in->source.axis[d].extent;
    return n;
}

static cb_rechunk_in make_in(int ndim, const int64_t *shape, const int64_t *from, const int64_t *to,
                             size_t item_size, double mem)
{
    return (cb_rechunk_in){.source = cb_grid_regular(ndim, shape, from),
                           .target = cb_grid_regular(ndim, shape, to),
                           .item_size = item_size,
                           .mem = (size_t)mem};
}

static cb_rechunk_plan make_plan(const cb_rechunk_in *in)
{
    cb_rechunk_plan p;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_rechunk_plan_make(in, &p, &err) != CUBED_OK) fail_msg("%s", err.message);
    check_plan(in, &p);
    return p;
}

/* From maps to series, and back. */
static void test_two_copies(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[3], maps[3], series[3];
        double mem;
    } cases[] = {
        {{350640, 721, 1440}, {31, 721, 1440}, {350640, 10, 10}, 1.6e9},
        {{10000, 1000, 1000}, {10, 1000, 1000}, {10000, 25, 25}, 1.6e9},
        {{10000, 1000, 1000}, {1, 1000, 1000}, {10000, 10, 10}, 1.6e9},
        {{1000, 1000, 1000}, {1, 1000, 1000}, {1000, 10, 10}, 400e6},
        {{1000, 1000, 1000}, {5, 1000, 1000}, {1000, 20, 20}, 400e6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int back = 0; back < 2; back++) {
            const int64_t *from = back ? cases[i].series : cases[i].maps;
            const int64_t *to = back ? cases[i].maps : cases[i].series;
            cb_rechunk_in in = make_in(3, cases[i].shape, from, to, 4, cases[i].mem);
            cb_rechunk_plan p = make_plan(&in);
            double n = array_bytes(&in);
            assert_int_equal(p.npasses, 2);
            assert_true((double)(p.bytes_read + p.bytes_written) <= 4.04 * n);
            /* What both passes read is what was written, once; pieces are worth a request. */
            assert_int_equal(p.pass[0].bytes_read, cb_tile_grid_bytes(&in.source, 4));
            assert_int_equal(p.pass[1].bytes_read, p.pass[0].bytes_written);
            assert_true(cb_tile_chunk_bytes(&p.pass[0].target, 4) >= CB_RECHUNK_BETA);
        }
    }
}

static void test_more_passes(void **state)
{
    (void)state;
    int64_t shape[] = {350640, 721, 1440}, maps[] = {31, 721, 1440}, series[] = {350640, 10, 10};
    cb_rechunk_in in = make_in(3, shape, maps, series, 4, 300e6);
    cb_rechunk_plan p = make_plan(&in);
    assert_int_equal(p.npasses, 3);
    assert_true((double)(p.bytes_read + p.bytes_written) <= 6.3 * array_bytes(&in));
    in.max_passes = 2;
    p = make_plan(&in);
    assert_int_equal(p.npasses, 2);
    in.max_passes = 1;
    p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
    int64_t square[] = {1000000, 1000000}, rows[] = {1, 1000000}, columns[] = {1000000, 1};
    in = make_in(2, square, rows, columns, 4, 1e8);
    p = make_plan(&in);
    assert_int_equal(p.npasses, 3);
    assert_true((double)(p.bytes_read + p.bytes_written) <= 6.1 * array_bytes(&in));
}

/* Cheap reading tips the scales: two raw copies cost more than reading compressed chunks thrice. */
static void test_ratio(void **state)
{
    (void)state;
    int64_t shape[] = {4000, 4000}, rows[] = {100, 4000}, columns[] = {4000, 100};
    cb_rechunk_in in = make_in(2, shape, rows, columns, 8, 32e6);
    cb_rechunk_plan p = make_plan(&in);
    assert_int_equal(p.npasses, 2);
    in.source_ratio = 0.1;
    in.codec_bandwidth = 1e12;
    p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
}

static void test_aligned(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[2], from[2], to[2];
    } cases[] = {
        {{10000, 10000}, {100, 100}, {1000, 1000}},   /* merge */
        {{10000, 10000}, {1000, 1000}, {100, 100}},   /* split */
        {{10000, 10000}, {1000, 100}, {100, 1000}},   /* both */
        {{9999, 10001}, {300, 300}, {100, 900}},      /* with short ends */
        {{10000, 10000}, {60, 40}, {40, 60}},         /* common multiple */
        {{10000, 10000}, {500, 500}, {500, 500}},     /* nothing to do */
        {{10000, 10000}, {1, 1}, {1, 10000}},         /* one-element chunks */
        {{10000, 10000}, {20000, 100}, {100, 20000}}, /* longer than the array */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_rechunk_in in = make_in(2, cases[i].shape, cases[i].from, cases[i].to, 8, 1e9);
        in.max_passes = i == 7 ? 0 : 1;
        cb_rechunk_plan p = make_plan(&in);
        assert_int_equal(p.npasses, 1);
        assert_int_equal(p.bytes_read, cb_tile_grid_bytes(&in.source, 8));
    }
}

static void test_nearly_aligned(void **state)
{
    (void)state;
    int64_t shape[] = {10000000}, from[] = {999}, to[] = {1000};
    cb_rechunk_in in = make_in(1, shape, from, to, 8, 1e6);
    cb_rechunk_plan p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
    assert_true(p.bytes_read <= cb_tile_grid_bytes(&in.source, 8) / 100 * 101);
    /* 999 target chunks are 1000 source chunks. */
    in.mem = 9000000;
    p = make_plan(&in);
    assert_int_equal(p.pass[0].task_chunks[0], 999);
    assert_int_equal(p.bytes_read, cb_tile_grid_bytes(&in.source, 8));
    /* A source that was cut so that its first chunk is short. */
    in.source.axis[0] = (cb_axis){.extent = 10000000, .first = 400, .chunk = 1000};
    in.target.axis[0] = cb_axis_regular(10000000, 1000);
    in.mem = 1000000;
    p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
    assert_true(p.bytes_read <= cb_tile_grid_bytes(&in.source, 8) / 100 * 101);
    /* Cut at the same place. */
    in.target.axis[0] = (cb_axis){.extent = 10000000, .first = 400, .chunk = 500};
    p = make_plan(&in);
    assert_true(p.bytes_read <= cb_tile_grid_bytes(&in.source, 8) / 100 * 101);
    in.target.axis[0] = (cb_axis){.extent = 10000000, .first = 400, .chunk = 2000};
    p = make_plan(&in);
    assert_int_equal(p.bytes_read, cb_tile_grid_bytes(&in.source, 8));
}

static void test_degenerate(void **state)
{
    (void)state;
    cb_rechunk_in in = {.item_size = 8, .mem = 64};
    cb_rechunk_plan p = make_plan(&in); /* 0-d: one chunk, in place */
    assert_int_equal(p.npasses, 1);
    assert_int_equal(p.pass[0].ntasks, 1);
    assert_int_equal(p.bytes_read, 8);
    int64_t shape[] = {0, 100}, from[] = {1, 7}, to[] = {5, 3};
    in = make_in(2, shape, from, to, 8, 1000);
    p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
    assert_int_equal(p.pass[0].ntasks, 0);
    assert_int_equal(p.bytes_read + p.bytes_written, 0);
    int64_t one[] = {1, 1}, wide[] = {50, 1};
    in = make_in(2, one, wide, one, 8, 1000);
    p = make_plan(&in);
    assert_int_equal(p.bytes_read, 400);
    assert_int_equal(p.bytes_written, 8);
}

/* The message names the memory that would do, and it does. */
static void test_budget(void **state)
{
    (void)state;
    random_state = 4;
    for (int i = 0; i < 500; i++) {
        cb_rechunk_in in = {.item_size = 4};
        random_grids((int)between(0, 3), 20, &in.source, &in.target);
        in.read_extra = (size_t)between(0, 1000);
        in.write_extra = (size_t)between(0, 1000);
        in.middle_extra = (size_t)between(0, 1000);
        in.fixed = (size_t)between(0, 1000);
        cb_rechunk_plan p;
        cubed_error err = CUBED_ERROR_INIT;
        size_t least;
        assert_int_equal(cb_rechunk_plan_make(&in, &p, &err), CUBED_E_BUDGET);
        const char *number = strstr(err.message, "at least ");
        assert_non_null(number);
        least = strtoull(number + strlen("at least "), NULL, 10);
        in.mem = least - 1;
        assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_BUDGET);
        in.mem = least;
        p = make_plan(&in);
    }
}

static void test_bad_grids(void **state)
{
    (void)state;
    int64_t shape[] = {10, 10}, chunk[] = {5, 5};
    const cb_rechunk_in good = make_in(2, shape, chunk, chunk, 8, 1e6);
    cb_rechunk_plan p;
    cubed_error err = CUBED_ERROR_INIT;
    cb_rechunk_in in = good;
    in.target.axis[1].extent = 11;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, &err), CUBED_E_ARG);
    assert_string_equal(err.message, "axis 1 of the target grid is 11 long, expected 10");
    in = good;
    in.target.ndim = 1;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.source.axis[0].first = 6;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.target.axis[0].first = in.target.axis[0].chunk = 0;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.source.axis[0].extent = in.target.axis[0].extent = INT64_MAX / 10;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.target.axis[0].chunk = INT64_MAX;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.max_passes = 5;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
    in = good;
    in.source.axis[0].extent = in.target.axis[0].extent = -1;
    assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_E_ARG);
}

/* Small arrays, task by task: every chunk is made once, and read as often as the plan says. */
static void test_enumerate(void **state)
{
    (void)state;
    random_state = 5;
    int passes[CB_RECHUNK_MAX_PASSES + 1] = {0};
    for (int i = 0; i < 3000; i++) {
        cb_rechunk_in in = {.item_size = 4, .latency = 1e-12, .middle_extra = 16};
        random_grids((int)between(1, 3), 16, &in.source, &in.target);
        size_t least = cb_arena_round(cb_tile_chunk_bytes(&in.source, 4)) +
                       cb_arena_round(cb_tile_chunk_bytes(&in.target, 4)) + 16;
        in.mem = (size_t)between_log((double)least, 4.0 * (double)least);
        cb_rechunk_plan p = make_plan(&in);
        const cb_grid *from = &in.source;
        for (int k = 0; k < p.npasses; k++) {
            uint8_t seen[16 * 16 * 16] = {0};
            int64_t ntasks;
            uint64_t reads;
            walk_tasks(&p.pass[k].target, from, p.pass[k].task_chunks, &ntasks, &reads, seen);
            assert_int_equal(ntasks, p.pass[k].ntasks);
            assert_int_equal(reads, p.pass[k].requests_read);
            for (int64_t c = 0; c < cb_grid_count(&p.pass[k].target); c++)
                assert_int_equal(seen[c], 1);
            from = &p.pass[k].target;
        }
        passes[p.npasses]++;
    }
    assert_true(passes[1] > 100 && passes[2] > 10);
}

/* An array of about n bytes in 1 to 4 dimensions, with chunks of at most `most` bytes.
 * cut: first chunks may be short. */
static cb_rechunk_in random_in(double n, double most, bool cut)
{
    cb_rechunk_in in = {.item_size = 4};
    int ndim = (int)between(1, 4);
    double share[4],
        sum = 0,
        chunk[2] = {between_log(most / 1000, most) / 4, between_log(most / 1000, most) / 4};
    for (int d = 0; d < ndim; d++) sum += share[d] = between_log(0.2, 1.2);
    in.source.ndim = in.target.ndim = ndim;
    int first = (int)between(0, ndim - 1);
    for (int i = 0; i < ndim; i++) {
        int d = (first + i) % ndim;
        for (int k = 0; k < 2; k++) {
            /* The source is long on the first axes of this order, the target on the last. */
            int e = k ? (first + ndim - 1 - i) % ndim : d;
            int64_t whole = (int64_t)fmax(1, pow(n / 4, share[e] / sum));
            double length = fmin((double)whole, chunk[k]);
            if (i < ndim - 1 && between(0, 1)) length = between_log(1, length);
            cb_axis a = cb_axis_regular(whole, (int64_t)fmax(1, length));
            if (cut && between(0, 3) == 0) a.first = between(1, a.chunk);
            (k ? &in.target : &in.source)->axis[e] = a;
            chunk[k] = fmax(1, chunk[k] / (double)a.chunk);
        }
    }
    return in;
}

/* Wherever one intermediate should do, it does: 2 copies at most, and nearly nothing read twice. */
static void test_bound(void **state)
{
    (void)state;
    random_state = 6;
    int two = 0;
    for (int i = 0; i < 5000 / SLOW; i++) {
        double mem = between_log(2e7, 4e9);
        /* Tasks of the first pass begin at multiples of the intermediate's chunks: where the source
         * was cut they do not meet its borders. */
        bool cut = i % 4 == 0;
        cb_rechunk_in in =
            random_in(between_log(mem, fmin(1e13, mem * mem / 1048576)), mem / 4, cut);
        in.mem = (size_t)mem + 1024;
        cb_rechunk_plan p = make_plan(&in);
        double ends =
            (double)cb_tile_grid_bytes(&in.source, 4) + (double)cb_tile_grid_bytes(&in.target, 4);
        double n = array_bytes(&in), requests = (double)cb_grid_count(&in.source) +
                                                (double)cb_grid_count(&in.target) + 2 * n / 1048576;
        assert_true((double)p.bytes_read + (double)p.bytes_written >= 2 * n);
        assert_true(p.npasses <= 2);
        /* Odd lengths cost some padding, or some smaller pieces. */
        assert_true(p.seconds <=
                    1.25 * ((ends + 2 * n) / CB_RECHUNK_BANDWIDTH + requests * CB_RECHUNK_LATENCY));
        /* Where only bytes count, there are hardly more than 2 copies. */
        in.latency = 1e-12;
        p = make_plan(&in);
        assert_true(p.npasses <= 2);
        double total = (double)p.bytes_read + (double)p.bytes_written;
        assert_true(total <= (cut ? 1.25 : 1.05) * (ends + 2 * n));
        if (p.npasses == 1) continue;
        double once = (double)cb_tile_grid_bytes(&in.source, 4) + (double)p.pass[0].bytes_written;
        assert_true((double)p.bytes_read <= (cut ? 1.5 : 1.05) * once);
        two++;
    }
    assert_true(two > 500 / SLOW);
}

/* A team reads no more than one worker with as much memory less would; and two copies do for what the
 * memory of all can do it for. */
static void test_team(void **state)
{
    (void)state;
    random_state = 12;
    int shared = 0, fewer = 0;
    for (int i = 0; i < 3000 / SLOW; i++) {
        unsigned team = (unsigned)between(2, 16);
        double mem = between_log(2e6, 1e9), all = mem * team;
        cb_rechunk_in in =
            random_in(between_log(all, fmin(1e13, all * all / 1048576)), mem / 4, false);
        in.mem = (size_t)mem + 1024;
        cb_rechunk_plan alone = make_plan(&in);
        in.team = team;
        cb_rechunk_plan p = make_plan(&in);
        check_plan(&in, &p);
        assert_true(p.seconds <= alone.seconds * 1.02); /* searches are not exhaustive */
        for (int k = 0; k < p.npasses; k++) {
            assert_true(p.pass[k].team == 1 || p.pass[k].team == team);
            shared += p.pass[k].team > 1;
        }
        fewer += p.npasses < alone.npasses;
        in.latency = 1e-12;
        p = make_plan(&in);
        assert_true(p.npasses <= 2);
    }
    assert_true(shared > 300 / SLOW && fewer > 100 / SLOW);
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Whatever the grids, and however small memory is. */
static void test_any(void **state)
{
    (void)state;
    random_state = 7;
    double slowest = 0;
    for (int i = 0; i < 3000 / SLOW; i++) {
        double mem = between_log(1e4, 4e9);
        cb_rechunk_in in = random_in(between_log(1, 1e15), mem, true);
        cb_rechunk_plan p;
        in.mem = (size_t)(2 * mem) + 1024;
        double best = INFINITY;
        for (int again = 0; again < 2; again++) {
            double start = milliseconds();
            assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_OK);
            best = fmin(best, milliseconds() - start);
        }
        check_plan(&in, &p);
        slowest = fmax(slowest, best);
        /* Never worse than going there at once. */
        in.max_passes = 1;
        cb_rechunk_plan direct = make_plan(&in);
        assert_true(p.seconds <= direct.seconds);
    }
    print_message("slowest plan: %.2f ms\n", slowest);
    /* A search that grew with the number of chunks would take hours; a busy machine a hundred times as long. */
    assert_true(slowest < 500 * SLOW);
}

static void test_fast(void **state)
{
    (void)state;
    int64_t shape[32], ones[32], twos[32];
    /* 10^18 chunks on one axis. */
    int64_t line[] = {1000000000000000000}, unit[] = {1}, odd[] = {999983};
    cb_rechunk_in in[3];
    in[0] = make_in(1, line, unit, odd, 1, 1e8);
    /* 32 axes, which all change. */
    for (int d = 0; d < 32; d++) {
        shape[d] = 3;
        ones[d] = 1 + d % 2;
        twos[d] = 2 - d % 2;
    }
    in[1] = make_in(32, shape, ones, twos, 4, 1e6);
    int64_t square[] = {31623, 31623}, point[] = {1, 1}, row[] = {1, 31623};
    in[2] = make_in(2, square, point, row, 8, 1e6);
    for (int i = 0; i < 3; i++) {
        double start = milliseconds();
        cb_rechunk_plan p = make_plan(&in[i]);
        double took = milliseconds() - start;
        print_message("%d axes: %d passes, %.2f ms\n", in[i].source.ndim, p.npasses, took);
        assert_true(took < 500 * SLOW);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_touched),     cmocka_unit_test(test_touched_far),
        cmocka_unit_test(test_measure),     cmocka_unit_test(test_projection),
        cmocka_unit_test(test_choose),      cmocka_unit_test(test_choose_sources),
        cmocka_unit_test(test_choose_many), cmocka_unit_test(test_group),
        cmocka_unit_test(test_few_tasks),   cmocka_unit_test(test_two_copies),
        cmocka_unit_test(test_more_passes), cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_aligned),     cmocka_unit_test(test_nearly_aligned),
        cmocka_unit_test(test_degenerate),  cmocka_unit_test(test_budget),
        cmocka_unit_test(test_bad_grids),   cmocka_unit_test(test_enumerate),
        cmocka_unit_test(test_bound),       cmocka_unit_test(test_team),
        cmocka_unit_test(test_any),         cmocka_unit_test(test_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
