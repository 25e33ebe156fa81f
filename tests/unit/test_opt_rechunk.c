/* The rechunk planner, compared with enumeration of every task, and with known numbers of copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "opt/rechunk_memo.h"
#include "rechunk_test.h"

/* Checks that each pass reads the grid that the previous pass writes, that the sums over passes are right, and that the memory is
 * sufficient. */
static void check_plan(const cb_rechunk_in *in, const cb_rechunk_plan *p)
{
    uint64_t read = 0, written = 0, requests = 0;
    const cb_grid *from = &in->source;
    assert_in_range(p->npasses, 1, CB_RECHUNK_MAX_PASSES);
    for (int i = 0; i < p->npasses; i++) {
        const cb_rechunk_pass *pass = &p->pass[i];
        bool last = i == p->npasses - 1;
        int64_t ntasks = 1;
        uint64_t chunks = 1, bytes = in->item_size;
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
            assert_int_equal(a->clipped, !last);
            chunks = cb_sat_mul(chunks, cb_axis_touched(a, pass->task_chunks[d], 0, 1, b));
            bytes = cb_sat_mul(bytes, cb_axis_touched_length(a, pass->task_chunks[d], 0, 1, b));
        }
        assert_int_equal(pass->ntasks, ntasks);
        assert_int_equal(pass->requests_read, chunks);
        assert_int_equal(pass->bytes_read, bytes);
        assert_int_equal(pass->requests_written, cb_grid_count(&pass->target));
        assert_int_equal(pass->bytes_written, cb_tile_grid_bytes(&pass->target, in->item_size));
        /* A pass reads each element at least once. */
        assert_true(pass->bytes_read >= cb_tile_grid_bytes(from, in->item_size));
        cb_tile_source s = {.grid = from,
                            .item_size = in->item_size,
                            .read_extra = i ? in->middle_extra : in->read_extra};
        cb_tile_in tile = {.out = &pass->target,
                           .coop = pass->coop,
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

/* Plans from maps to time series, and back. */
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
            /* Each pass reads its input exactly once, and the pieces are large enough for a request. */
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

static void test_aligned(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[2], from[2], to[2];
    } cases[] = {
        {{10000, 10000}, {100, 100}, {1000, 1000}},   /* merge */
        {{10000, 10000}, {1000, 1000}, {100, 100}},   /* split */
        {{10000, 10000}, {1000, 100}, {100, 1000}},   /* both */
        {{9999, 10001}, {300, 300}, {100, 900}},      /* the last chunks are shorter */
        {{10000, 10000}, {60, 40}, {40, 60}},         /* common multiple */
        {{10000, 10000}, {500, 500}, {500, 500}},     /* both grids are equal */
        {{10000, 10000}, {1, 1}, {1, 10000}},         /* the source has chunks of one element */
        {{10000, 10000}, {20000, 100}, {100, 20000}}, /* chunks are longer than the array */
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
    /* A task of 999 target chunks has exactly 1000 source chunks. */
    in.mem = 9000000;
    p = make_plan(&in);
    assert_int_equal(p.pass[0].task_chunks[0], 999);
    assert_int_equal(p.bytes_read, cb_tile_grid_bytes(&in.source, 8));
    /* A source whose first chunk is short. */
    in.source.axis[0] = (cb_axis){.extent = 10000000, .first = 400, .chunk = 1000};
    in.target.axis[0] = cb_axis_regular(10000000, 1000);
    in.mem = 1000000;
    p = make_plan(&in);
    assert_int_equal(p.npasses, 1);
    assert_true(p.bytes_read <= cb_tile_grid_bytes(&in.source, 8) / 100 * 101);
    /* The source and the target have first chunks of the same length. */
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
    /* an array without axes has one chunk, which is copied in place */
    cb_rechunk_plan p = make_plan(&in);
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

/* The error names an amount of memory. The test checks that this amount is sufficient. */
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

/* Small arrays, task by task: every chunk is written once, and read as often as the plan states. */
static void test_enumerate(void **state)
{
    (void)state;
    random_state = 5;
    int passes[CB_RECHUNK_MAX_PASSES + 1] = {0};
    for (int i = 0; i < 1000; i++) {
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
    assert_true(passes[1] > 50 && passes[2] > 5);
}

/* Makes random grids of an array of about n bytes with 1 to 4 dimensions. A chunk has at most `most` bytes. cut: first chunks may
 * be short. */
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
            /* In a random order of axes, chunks of the source are long along the first axes, and chunks of the target along the
             * last. */
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

/* If one intermediate should suffice, it does: at most 2 copies, and almost nothing is read twice. */
static void test_bound(void **state)
{
    (void)state;
    random_state = 6;
    int two = 0, slow = 0;
    for (int i = 0; i < 80 / SLOW; i++) {
        double mem = between_log(2e7, 4e9);
        /* Tasks of the first pass begin at multiples of the intermediate's chunks: if the source's first chunk is short, they
         * do not match its borders. */
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
        /* Allow some additional time: lengths without suitable divisors cost padding or smaller pieces. */
        double fair = (ends + 2 * n) / CB_RECHUNK_BANDWIDTH + requests * CB_RECHUNK_LATENCY;
        /* Plans that were found for less memory restrict the search, so the best plan may not be found. */
        assert_true(p.seconds <= 1.5 * fair);
        slow += p.seconds > 1.25 * fair;
        /* If requests cost no time, more than two copies are rarely needed. */
        in.latency = 1e-12;
        p = make_plan(&in);
        assert_true(p.npasses <= 2);
        double total = (double)p.bytes_read + (double)p.bytes_written;
        assert_true(total <= (cut ? 1.25 : 1.1) * (ends + 2 * n));
        if (p.npasses == 1) continue;
        double once = (double)cb_tile_grid_bytes(&in.source, 4) + (double)p.pass[0].bytes_written;
        assert_true((double)p.bytes_read <= (cut ? 1.5 : 1.15) * once);
        two++;
    }
    assert_true(two > 8 / SLOW && slow <= 4);
}

/* A cooperative task reads no more than one worker with less memory would; and two copies suffice if they do for the memory of
 * all workers. */
static void test_coop(void **state)
{
    (void)state;
    random_state = 12;
    int shared = 0, fewer = 0;
    for (int i = 0; i < 40 / SLOW; i++) {
        unsigned coop = (unsigned)between(2, 16);
        double mem = between_log(2e6, 1e9), all = mem * coop;
        cb_rechunk_in in =
            random_in(between_log(all, fmin(1e13, all * all / 1048576)), mem / 4, false);
        in.mem = (size_t)mem + 1024;
        cb_rechunk_plan alone = make_plan(&in);
        in.coop = coop;
        cb_rechunk_plan p = make_plan(&in);
        check_plan(&in, &p);
        /* allow a margin, because the search is not exhaustive */
        assert_true(p.seconds <= alone.seconds * 1.25);
        for (int k = 0; k < p.npasses; k++) {
            assert_true(p.pass[k].coop == 1 || p.pass[k].coop == coop);
            shared += p.pass[k].coop > 1;
        }
        fewer += p.npasses < alone.npasses;
        in.latency = 1e-12;
        p = make_plan(&in);
        assert_true(p.npasses <= 2);
    }
    assert_true(shared > 4 / SLOW && fewer > 1 / SLOW);
}

/* Metadata of a run, parts of chunks, and bytes in addition to chunks. */
static void random_details(cb_rechunk_in *in)
{
    in->coop = (unsigned)between(1, 8);
    in->fixed = (size_t)between(0, 3000);
    in->read_extra = (size_t)between(0, 100000);
    in->write_extra = (size_t)between(0, 100000);
    if (between(0, 2) == 0) in->part_run = 65536;
    if (between(0, 1))
        in->run = (cb_rechunk_run){
            .chunk = 13, .pass = 170, .others = 5000, .unreserved = (uint64_t)between(0, 4 << 20)};
}

/* With more memory, a plan never moves more bytes or makes more requests, and is never refused. */
static void test_monotonic(void **state)
{
    (void)state;
    random_state = 21;
    int better = 0, passes[CB_RECHUNK_MAX_PASSES + 1] = {0};
    for (int i = 0; i < 8 + 72 / SLOW; i++) {
        double mem = between_log(1e4, 1e9), factor = between_log(1.01, 2);
        cb_rechunk_in in = random_in(between_log(1e3, 1e13), mem, i % 4 == 0);
        cb_rechunk_plan before = {.bytes_read = UINT64_MAX, .requests = UINT64_MAX}, p;
        random_details(&in);
        for (int k = 0; k < 6; k++) {
            in.mem = (size_t)(mem * pow(factor, k));
            if (cb_rechunk_plan_make(&in, &p, NULL) != CUBED_OK) {
                assert_int_equal(before.bytes_read, UINT64_MAX);
                continue;
            }
            assert_true(p.need <= in.mem);
            assert_true(before.bytes_read == UINT64_MAX ||
                        p.bytes_read + p.bytes_written <= before.bytes_read + before.bytes_written);
            assert_true(p.requests <= before.requests);
            better += before.bytes_read < UINT64_MAX && p.requests < before.requests;
            passes[p.npasses]++;
            before = p;
        }
    }
    assert_true(better > 24 / SLOW && passes[1] > 24 / SLOW && passes[2] > 24 / SLOW);
}

/* Plans from maps to time series: an array that was once read 10,512 times, a plan with three copies, and one without
 * rereading. */
static void test_maps_to_series(void **state)
{
    (void)state;
    int64_t shape[] = {350640, 721, 1440}, maps[] = {31, 721, 1440}, series[] = {350640, 10, 10};
    for (unsigned coop = 1; coop <= 64; coop *= 8) {
        uint64_t bytes = UINT64_MAX, requests = UINT64_MAX;
        for (int k = 6; k <= 40; k += k < 24 ? 3 : 8) {
            double mem = 50e6 * k;
            cb_rechunk_in in = make_in(3, shape, maps, series, 4, mem);
            cb_rechunk_plan p;
            in.coop = coop;
            in.run = (cb_rechunk_run){.chunk = 13, .unreserved = 4 << 20};
            assert_int_equal(cb_rechunk_plan_make(&in, &p, NULL), CUBED_OK);
            assert_true(p.bytes_read + p.bytes_written <= bytes && p.requests <= requests);
            bytes = p.bytes_read + p.bytes_written;
            requests = p.requests;
            assert_true((double)p.bytes_read <= 8 * array_bytes(&in));
            if (mem >= 1.3e9) assert_true((double)bytes <= 4.02 * array_bytes(&in));
        }
    }
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Tests arbitrary grids with arbitrarily little memory. */
static void test_any(void **state)
{
    (void)state;
    random_state = 7;
    double slowest = 0;
    for (int i = 0; i < 60 / SLOW; i++) {
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
        /* A plan is not much slower than a direct copy. */
        in.max_passes = 1;
        cb_rechunk_plan direct = make_plan(&in);
        assert_true(p.seconds <= 1.5 * direct.seconds);
    }
    print_message("slowest plan: %.2f ms\n", slowest);
    /* A search that grew with the number of chunks would take hours; a busy machine takes a hundred times as long at most. */
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
    /* The chunks change along all of 32 axes. */
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

/* Each pass has its own entry in the table, however many passes there are. */
static void test_passes_are_remembered(void **state)
{
    (void)state;
    enum { PASSES = 3000 };
    int64_t shape[] = {1000, 1000}, from[] = {1, 1}, to[] = {1, 1};
    cb_pass_memo *m = cb_pass_memo_new(&cb_system_allocator, 2);
    int remembered = 0;
    bool known;
    assert_non_null(m);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < PASSES; i++) {
            /* Each pass differs from the one before it in one parameter. */
            from[1] = 1 + i % 10 / 3;
            to[0] = 1 + i / 10 % 150;
            cb_grid a = cb_grid_regular(2, shape, from), b = cb_grid_regular(2, shape, to);
            cb_pass_key key = {&a, &b, i % 10 % 3 == 1, i % 10 % 3 == 2, 1000 + (size_t)i / 1500};
            cb_pass_found *f = cb_pass_memo_find(m, &key, &known);
            if (turn == 0) assert_false(known);
            if (known) assert_int_equal(f->tile.ntasks, i);
            remembered += known;
            *f = (cb_pass_found){.fits = true, .tile = {.ntasks = i}};
            f = cb_pass_memo_find(m, &key, &known);
            assert_true(known && f->fits && f->tile.ntasks == i);
        }
    }
    assert_in_range(remembered, 1, PASSES);
    cb_pass_memo_free(m);
    cb_pass_memo_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_copies),
        cmocka_unit_test(test_more_passes),
        cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_nearly_aligned),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_bad_grids),
        cmocka_unit_test(test_enumerate),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_coop),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_fast),
        cmocka_unit_test(test_monotonic),
        cmocka_unit_test(test_maps_to_series),
        cmocka_unit_test(test_passes_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
