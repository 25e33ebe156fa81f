/* Loads of one array with the same strides and different offsets read each chunk once for all of them, with one buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/codec.h"
#include "plan_test.h"

/* --- A codec that counts the chunks that it decodes ----------------------------------------------------- */

static atomic_int decoded;

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    (void)json;
    (void)format;
    (void)ctx;
    (void)conf;
    (void)err;
    return CUBED_OK;
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    (void)conf;
    (void)format;
    (void)ctx;
    (void)err;
    snprintf(json, cap, "{}");
    return CUBED_OK;
}

static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size;
}

static cubed_codec_need need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){.arena = 0};
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    (void)err;
    assert_true(call->dst_cap >= call->src_size);
    memcpy(call->dst, call->src, call->src_size);
    *got = call->src_size;
    return CUBED_OK;
}

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    atomic_fetch_add(&decoded, 1);
    return encode(call, got, err);
}

static const cubed_codec_vtable counting = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .name = "test.counting",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = need,
    .encode_need = need,
    .decode = decode,
    .encode = encode,
};

static const char *const codecs =
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
    "{\"name\": \"test.counting\"}]";

/* --- Arrays --------------------------------------------------------------------------------------------- */

typedef struct source {
    cubed_context *ctx;
    cubed_array *x;
    double *data; /* integers, whose sums are exact */
    int64_t rows, columns;
} source;

static void run_targets(cubed_context *ctx, const cubed_target *targets, int n,
                        cubed_plan_options o, cubed_plan_info *info)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan *plan;
    o.reserved_mem = 1;
    must(cubed_plan_new(ctx, targets, n, &o, &plan, &err), &err);
    cubed_plan_get_info(plan, info);
    atomic_store(&decoded, 0);
    must(cubed_run(plan, NULL, &stats, &err), &err);
    assert_true(stats.measured_mem <= stats.projected_mem);
    assert_true(stats.cache_peak <= info->cache_budget);
    cubed_plan_unref(plan);
}

static void set_up(source *s, int64_t rows, int64_t columns, int64_t row_chunk, int64_t col_chunk)
{
    const int64_t shape[] = {rows, columns}, chunks[] = {row_chunk, col_chunk};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_info info;
    cubed_array *x;
    *s = (source){.rows = rows, .columns = columns};
    s->data = malloc((size_t)(rows * columns) * sizeof *s->data);
    assert_non_null(s->data);
    for (int64_t i = 0; i < rows * columns; i++) s->data[i] = (double)(i % 1009);
    must(cubed_context_new(NULL, &s->ctx, &err), &err);
    must(cubed_context_add_codec(s->ctx, &counting, &err), &err);
    must(cubed_array_from_memory(s->ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, s->data, &x, &err),
         &err);
    const cubed_target t = {.array = x, .url = "memory://strided::x", .codecs = codecs};
    run_targets(s->ctx, &t, 1, o, &info);
    cubed_array_unref(x);
    must(cubed_array_open(s->ctx, "memory://strided::x", &s->x, &err), &err);
}

static void tear_down(source *s)
{
    cubed_array_unref(s->x);
    cubed_context_unref(s->ctx);
    free(s->data);
}

static cubed_array *slice_of(const source *s, cubed_slice rows, cubed_slice columns)
{
    const cubed_slice both[] = {rows, columns};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *y;
    must(cubed_slice_array(s->x, both, &y, &err), &err);
    return y;
}

/* --- Tests ---------------------------------------------------------------------------------------------- */

enum { MONTHS = 12 };

/* Computes the sums of rows k, k + 12, ... for each k, beginning with row `first`. */
static void sum_months(const source *s, int64_t first, cubed_plan_options o, cubed_plan_info *info)
{
    const int axis = 0;
    const int64_t n = (s->rows - first) / MONTHS;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    cubed_target t[MONTHS];
    double *sums = calloc((size_t)(MONTHS * s->columns), sizeof *sums);
    assert_non_null(sums);
    r.axes = &axis;
    r.naxes = 1;
    for (int k = 0; k < MONTHS; k++) {
        cubed_array *month = slice_of(s, (cubed_slice){first + k, n, MONTHS, false},
                                      (cubed_slice){0, s->columns, 1, false});
        t[k] = (cubed_target){.data = sums + k * s->columns};
        must(cubed_reduce(CUBED_REDUCE_SUM, month, &r, &t[k].array, &err), &err);
        cubed_array_unref(month);
    }
    run_targets(s->ctx, t, MONTHS, o, info);
    for (int k = 0; k < MONTHS; k++) {
        for (int64_t c = 0; c < s->columns; c++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += s->data[(first + k + i * MONTHS) * s->columns + c];
            if (sums[k * s->columns + c] != sum) fail_msg("month %d, column %d", k, (int)c);
        }
        cubed_array_unref(t[k].array);
    }
    free(sums);
}

/* Sums of each month read each chunk once, although twelve chunks do not fit in the memory of a task. */
static void test_months(void **state)
{
    enum { COLUMNS = 2048, CHUNKS = 12 };
    static const int64_t rows[] = {40, 36, 100, 7};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t chunk = (size_t)rows[i] * COLUMNS * sizeof(double);
        source s;
        set_up(&s, rows[i] * CHUNKS, COLUMNS, rows[i], COLUMNS);
        for (int64_t first = 0; first < 24; first += 7) {
            for (unsigned workers = 1; workers <= 2; workers++) {
                cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
                cubed_plan_info info;
                o.max_workers = workers;
                o.allowed_mem = 6 * chunk + ((uint64_t)4 << 20);
                sum_months(&s, first, o, &info);
                const int64_t last = first + (s.rows - first) / MONTHS * MONTHS - 1;
                const int read = (int)(last / rows[i] - first / rows[i] + 1);
                /* If chunks have whole years but the first year begins in a chunk, months have one of two grids of blocks. Months
                 * with different grids are in different stages. */
                const int times = rows[i] % MONTHS == 0 && first % MONTHS != 0 ? 2 : 1;
                if (decoded > times * read || decoded < read)
                    fail_msg("chunks of %d rows from row %d, %u workers: decoded %d, expected %d",
                             (int)rows[i], (int)first, workers, decoded, times * read);
            }
        }
        tear_down(&s);
    }
}

/* Without room for the cache, adjacent blocks read a chunk again, but not each load. */
static void test_no_cache(void **state)
{
    enum { ROWS = 40, COLUMNS = 2048, CHUNKS = 12 };
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_info info;
    source s;
    (void)state;
    set_up(&s, (int64_t)ROWS * CHUNKS, COLUMNS, ROWS, COLUMNS);
    o.max_workers = 1;
    o.allowed_mem = (uint64_t)64 << 20;
    sum_months(&s, 0, o, &info);
    o.allowed_mem = info.projected_mem + info.metadata_mem + 1000;
    sum_months(&s, 0, o, &info);
    const size_t chunk = (size_t)ROWS * COLUMNS * sizeof(double);
    assert_in_range(info.cache_budget, 0, chunk - 1);
    assert_in_range(decoded, CHUNKS, 2 * CHUNKS);
    /* The plan states the reads, without those that the cache saves. */
    assert_in_range(info.bytes_read / chunk, CHUNKS, 2 * CHUNKS);
    tear_down(&s);
}

/* A sum of slices with steps. `n` slices, of which slice i begins at row[i] and column[i]. */
enum { MOST_SLICES = 24 };
typedef struct sum_of_slices {
    int n;
    int64_t row[MOST_SLICES], column[MOST_SLICES], row_step, column_step, rows, columns;
} sum_of_slices;

/* Computes the sum, and compares it. Returns the projected memory of a task. */
static uint64_t check_sum(const source *s, const sum_of_slices *x, unsigned workers, bool optimize,
                          uint64_t mem)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_info info;
    cubed_target t = {0};
    t.data = calloc((size_t)(x->rows * x->columns), sizeof(double));
    assert_non_null(t.data);
    for (int k = 0; k < x->n; k++) {
        cubed_array *y = slice_of(s, (cubed_slice){x->row[k], x->rows, x->row_step, false},
                                  (cubed_slice){x->column[k], x->columns, x->column_step, false});
        cubed_array *both[] = {t.array, y}, *sum;
        if (k == 0) {
            t.array = y;
            continue;
        }
        must(cubed_elementwise(CUBED_OP_ADD, both, 2, &sum, &err), &err);
        cubed_array_unref(y);
        cubed_array_unref(t.array);
        t.array = sum;
    }
    o.max_workers = workers;
    o.optimize = optimize;
    o.allowed_mem = mem;
    run_targets(s->ctx, &t, 1, o, &info);
    for (int64_t i = 0; i < x->rows * x->columns; i++) {
        double sum = 0;
        for (int k = 0; k < x->n; k++)
            sum += s->data[(x->row[k] + i / x->columns * x->row_step) * s->columns + x->column[k] +
                           i % x->columns * x->column_step];
        if (((double *)t.data)[i] != sum) fail_msg("element %d", (int)i);
    }
    cubed_array_unref(t.array);
    free(t.data);
    return info.projected_mem;
}

static void test_sums(void **state)
{
    static const sum_of_slices sums[] = {
        {3, {0, 1, 2}, {0}, 3, 1, 40, 90},                           /* means of three rows */
        {4, {0, 0, 1, 1}, {0, 1, 0, 1}, 2, 2, 60, 45},               /* squares of four elements */
        {4, {0, 1, 7, 30}, {5, 0, 3, 1}, 2, 1, 40, 80},              /* unrelated offsets */
        {2, {118, 119}, {0}, -2, 1, 60, 90},                         /* negative steps */
        {2, {0, 60}, {0}, 2, 1, 30, 90},                             /* different chunks */
        {3, {0, 5, 11}, {0, 0, 0}, 40, 1, 3, 90},                    /* steps longer than a chunk */
        {4, {119, 117, 118, 119}, {89, 89, 88, 87}, -4, -3, 29, 29}, /* along both axes */
        {2, {0, 1}, {0}, 1, 1, 119, 90},                             /* differences */
        {4, {0, 2, 1, 1}, {1, 1, 0, 2}, 1, 1, 118, 88},      /* neighbours along both axes */
        {4, {3, 0, 60, 61}, {0}, 1, 1, 50, 90},              /* two groups */
        {3, {118, 119, 117}, {80, 85, 89}, -1, -1, 110, 70}, /* negative steps of 1 */
        {3, {0, 40, 80}, {0}, 1, 1, 40, 90},                 /* different chunks */
        {4, {0, 3, 1, 2}, {0, 0, 45, 45}, 1, 1, 5, 45}       /* parts of one chunk */
    };
    static const int64_t chunks[][2] = {{10, 90}, {7, 20}, {1, 90}, {120, 1}, {12, 33}};
    (void)state;
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
        source s;
        set_up(&s, 120, 90, chunks[c][0], chunks[c][1]);
        const int64_t count = ((120 - 1) / chunks[c][0] + 1) * ((90 - 1) / chunks[c][1] + 1);
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
            for (int how = 0; how < 4; how++) {
                check_sum(&s, &sums[i], 1 + how % 2, how < 2, (uint64_t)16 << 20);
                /* A plan that is not optimised may store each slice. */
                const bool stores = how >= 2 && sums[i].row_step * sums[i].column_step == 1;
                const int most = (int)count * (stores ? sums[i].n : 1);
                if (decoded > most)
                    fail_msg("sum %zu of chunks %zu: decoded %d, expected at most %d", i, c,
                             decoded, most);
            }
        }
        tear_down(&s);
    }
}

/* A running sum of 24 rows reads each chunk once. All 24 loads together use a chunk, a tile and an output. */
static void test_running_sum(void **state)
{
    enum { ROWS = 40, COLUMNS = 2048, CHUNKS = 6, LENGTH = MOST_SLICES };
    const uint64_t chunk = (uint64_t)ROWS * COLUMNS * sizeof(double);
    sum_of_slices x = {.n = LENGTH,
                       .row_step = 1,
                       .column_step = 1,
                       .rows = ROWS * CHUNKS - LENGTH + 1,
                       .columns = COLUMNS};
    source s;
    (void)state;
    set_up(&s, (int64_t)ROWS * CHUNKS, COLUMNS, ROWS, COLUMNS);
    for (int i = 0; i < LENGTH; i++) x.row[i] = i;
    for (unsigned workers = 1; workers <= 2; workers++) {
        const uint64_t need = check_sum(&s, &x, workers, true, 8 * chunk + ((uint64_t)4 << 20));
        assert_int_equal(decoded, CHUNKS);
        assert_in_range(need, 2 * chunk, 4 * chunk);
    }
    tear_down(&s);
}

/* Blocks with overlapping halos read each chunk once. */
static void test_halo(void **state)
{
    enum { ROWS = 40, COLUMNS = 2048, CHUNKS = 6 };
    const uint64_t chunk = (uint64_t)ROWS * COLUMNS * sizeof(double);
    const cubed_window window = {.axis = 0, .before = 11};
    cubed_error err = CUBED_ERROR_INIT;
    source s;
    (void)state;
    set_up(&s, (int64_t)ROWS * CHUNKS, COLUMNS, ROWS, COLUMNS);
    cubed_target t = {.data = malloc(CHUNKS * chunk)};
    assert_non_null(t.data);
    must(cubed_rolling_reduce(s.x, &window, 1, CUBED_GROUP_MAX, NULL, &t.array, &err), &err);
    for (unsigned workers = 1; workers <= 2; workers++) {
        cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
        cubed_plan_info info;
        o.max_workers = workers;
        o.allowed_mem = 8 * chunk + ((uint64_t)4 << 20);
        run_targets(s.ctx, &t, 1, o, &info);
        assert_int_equal(decoded, CHUNKS);
    }
    cubed_array_unref(t.array);
    free(t.data);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_months), cmocka_unit_test(test_no_cache), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_running_sum), cmocka_unit_test(test_halo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
