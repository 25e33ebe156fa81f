/* Merging runs: ranges found in samples contain each part, and are as short as promised; forged ranges are refused. */
#include "kernel_test.h"

#include "block/block.h"
#include "block/runs.h"

enum { PART = 20, PER_RUN = 2, FAN = 3, N = 97, STEP = 4, ROW = 2 * FAN };
enum { PARTS = (N + PART - 1) / PART };

static const cb_runs runs = {
    .axis = 0, .extent = N, .part = PART, .run = (int64_t)PER_RUN * PART, .fan = FAN};
static const int64_t origin[1] = {0}, index0[1] = {0};

typedef struct sort_params {
    cb_sort_run_params p;
    int64_t step[1];
} sort_params;

static cubed_block block(void *data, cubed_dtype dtype, const int64_t *n, const int64_t *offset)
{
    return (cubed_block){data, dtype, 1, n, offset};
}

static cubed_status call(const char *name, const cubed_block *in, int nin, const cubed_block *out,
                         int nout, const void *params, size_t size)
{
    const cubed_block_fn *fn = cb_block_fn(name);
    cubed_block_call c = {.nin = nin,
                          .nout = nout,
                          .in = in,
                          .out = out,
                          .params = params,
                          .params_size = size,
                          .first = true,
                          .last = true,
                          .index = index0};
    cubed_status st = fn->check(&c, NULL, NULL);
    if (st != CUBED_OK) return st;
    size_t need = (fn->need(&c, NULL).scratch + 127) / 64 * 64;
    c.scratch = aligned_alloc(64, need);
    cb_kernels kernels;
    assert_true(cb_kernels_init(NULL, &kernels));
    st = fn->run(&c, &kernels, NULL);
    free(c.scratch);
    return st;
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* N elements in sorted runs. */
static void make_runs(int64_t *x, int64_t different, uint64_t *seed)
{
    for (int64_t i = 0; i < N; i++) x[i] = (int64_t)(next_random(seed) % (uint64_t)different) - 9;
    for (int64_t at = 0; at < N; at += runs.run)
        qsort(x + at, (size_t)cb_min_i64(runs.run, N - at), sizeof *x, compare_i64);
}

static int64_t make_samples(const int64_t *x, int64_t step, int64_t *samples)
{
    int64_t n = cb_runs_sample(&runs, step, N);
    for (int64_t i = 0; i < n; i++) samples[i] = x[cb_runs_position(&runs, step, i) - 1];
    return n;
}

/* Collects the elements, or the samples, that are in the ranges. Returns their number. */
static int64_t gather(const int64_t *from, const int64_t *ranges, int64_t *to)
{
    int64_t n = 0;
    for (int64_t k = 0; k < FAN; k++) {
        for (int64_t i = ranges[2 * k]; i < ranges[2 * k + 1]; i++) to[n++] = from[i];
    }
    return n;
}

static void check_part(const int64_t *x, const int64_t *ranges, int64_t part, const int64_t *want)
{
    int64_t there[N], got[PART], sample[PART / STEP], at = part * PART;
    int64_t n = cb_min_i64(PART, N - at), m = gather(x, ranges, there), row = ROW;
    int64_t nsamples = cb_ceil_div(n, STEP);
    const sort_params params = {.p = {runs, 0, 1}, .step = {STEP}};
    const cubed_block in[2] = {block((void *)(uintptr_t)ranges, CUBED_INT64, &row, origin),
                               block(there, CUBED_INT64, &m, origin)};
    const cubed_block out[2] = {block(got, CUBED_INT64, &n, &at),
                                block(sample, CUBED_INT64, &nsamples, &at)};
    assert_true(m <= PART + 2 * (FAN + 1) * STEP);
    assert_int_equal(call("merge_runs", in, 2, out, 2, &params, sizeof params), CUBED_OK);
    assert_memory_equal(got, want + at, (size_t)n * sizeof *got);
    for (int64_t i = 0; i < nsamples; i++)
        assert_int_equal(sample[i], got[cb_min_i64(n, (i + 1) * STEP) - 1]);
}

static void check_merge(int64_t different, uint64_t *seed)
{
    int64_t x[N], want[N], coarse[N], fine[N], some[N], wide[PARTS * ROW], ranges[ROW];
    const int64_t all = (int64_t)PARTS * ROW, row = ROW;
    make_runs(x, different, seed);
    memcpy(want, x, sizeof x);
    qsort(want, N, sizeof *want, compare_i64);
    int64_t n = make_samples(x, (int64_t)2 * STEP, coarse);
    make_samples(x, STEP, fine);
    const cb_bounds_params first = {runs, (int64_t)2 * STEP, STEP}, second = {runs, STEP, 1};
    const cubed_block samples = block(coarse, CUBED_INT64, &n, origin);
    const cubed_block bounds = block(wide, CUBED_INT64, &all, origin);
    assert_int_equal(call("merge_bounds", &samples, 1, &bounds, 1, &first, sizeof first), CUBED_OK);
    for (int64_t part = 0; part < PARTS; part++) {
        int64_t m = gather(fine, wide + part * ROW, some), at = part * ROW;
        const cubed_block in[2] = {block(wide + part * ROW, CUBED_INT64, &row, origin),
                                   block(some, CUBED_INT64, &m, origin)};
        const cubed_block out = block(ranges, CUBED_INT64, &row, &at);
        assert_int_equal(call("merge_bounds", in, 2, &out, 1, &second, sizeof second), CUBED_OK);
        check_part(x, ranges, part, want);
    }
}

static void test_merge(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 200; i++) check_merge(i % 3 == 0 ? 3 : i % 3 == 1 ? 50 : 1000000, &seed);
}

static void test_ranges_of_others(void **state)
{
    int64_t x[N], got[PART], n = PART, m = 30, row = ROW, at = PART;
    int64_t ranges[ROW] = {10, 20, 40, 50, 80, 90};
    sort_params params = {.p = {runs, 0, 0}};
    uint64_t seed = 4;
    (void)state;
    make_runs(x, 100, &seed);
    const cubed_block in[2] = {block(ranges, CUBED_INT64, &row, origin),
                               block(x, CUBED_INT64, &m, origin)};
    const cubed_block out = block(got, CUBED_INT64, &n, &at);
    const size_t size = sizeof params.p;
    assert_int_equal(call("merge_runs", in, 2, &out, 1, &params, size), CUBED_OK);
    ranges[0] = 31; /* the part has fewer elements than are stated to precede it */
    assert_int_equal(call("merge_runs", in, 2, &out, 1, &params, size), CUBED_E_ARG);
    ranges[0] = 0;
    m = 25; /* the result has too few elements for the part and those before it */
    assert_int_equal(call("merge_runs", in, 2, &out, 1, &params, size), CUBED_E_ARG);
    params.p.runs.run = PART + 1;
    assert_int_equal(call("merge_runs", in, 2, &out, 1, &params, size), CUBED_E_FORMAT);

    cb_bounds_params bounds = {runs, STEP, 1};
    const cubed_block to = block(got, CUBED_INT64, &row, origin);
    ranges[1] = 11; /* exceeds the number of samples of the second run */
    assert_int_equal(call("merge_bounds", in, 2, &to, 1, &bounds, sizeof bounds), CUBED_E_ARG);
    bounds.finer = 3;
    assert_int_equal(call("merge_bounds", in, 2, &to, 1, &bounds, sizeof bounds), CUBED_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_ranges_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
