/* Workers without a task decode chunks for workers with one. */
#define _GNU_SOURCE
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

#include "base/clock.h"
#include "base/lock.h"
#include "cubed/cubed.h"
#include "cubed/sys/codec.h"
#include "plan_test.h"

/* Chunks have about a megabyte. */
enum { CHUNKS = 11, ROWS = 3, COLUMNS = 40000 };

/* A codec that changes nothing, and records the threads that decode. */
typedef struct meeting {
    cb_mutex lock;
    cb_cond changed;
    int decoding;    /* number of threads that are decoding now */
    int most, total; /* most: maximum of `decoding`; total: number of decoded chunks */
    bool waits;      /* if true, the first threads wait until several of them decode */
    int fails;       /* number of malformed chunks; they follow the first chunk */
} meeting;

/* Codecs have no context of their own. */
static meeting here = {.lock = CB_MUTEX_INITIALIZER};

static void reset(bool waits, int fails)
{
    here.decoding = here.most = here.total = 0;
    here.waits = waits;
    here.fails = fails;
}

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
    const int64_t deadline = cb_clock_ns() + 20 * (int64_t)1000000000;
    bool fails;
    cb_mutex_lock(&here.lock);
    here.total++;
    fails = here.total > 1 && here.total <= 1 + here.fails;
    if (++here.decoding > here.most) here.most = here.decoding;
    cb_cond_broadcast(&here.changed);
    while (here.waits && here.most < 2 && cb_cond_wait_until(&here.changed, &here.lock, deadline)) {
    }
    here.decoding--;
    cb_mutex_unlock(&here.lock);
    return fails ? CUBED_E_FORMAT : encode(call, got, err);
}

static const cubed_codec_vtable telling = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .name = "test.telling",
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
    "{\"name\": \"test.telling\"}]";

typedef struct world {
    cubed_context *ctx;
    cubed_array *x, *y; /* chunks of x have all rows of a block; y has other chunks */
    cubed_run_stats stats;
} world;

static cubed_status compute(world *w, cubed_array *x, unsigned workers, cubed_target target,
                            cubed_error *err)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options run = CUBED_RUN_OPTIONS_INIT;
    cubed_plan *plan;
    target.array = x;
    options.max_workers = workers;
    options.allowed_mem = (uint64_t)64 << 20;
    run.retries = 0;
    cubed_status st = cubed_plan_new(w->ctx, &target, 1, &options, &plan, err);
    if (st != CUBED_OK) return st;
    st = cubed_run(plan, &run, &w->stats, err);
    cubed_plan_unref(plan);
    return st;
}

static int setup(void **state)
{
    static const int64_t shape[2] = {(int64_t)ROWS * CHUNKS, COLUMNS}, chunks[2] = {ROWS, COLUMNS};
    cubed_error err = CUBED_ERROR_INIT;
    world *w = calloc(1, sizeof *w);
    if (!w || cubed_context_new(NULL, &w->ctx, NULL) != CUBED_OK) return -1;
    must(cubed_context_add_codec(w->ctx, &telling, &err), &err);
    cubed_array **const arrays[2] = {&w->x, &w->y};
    for (int i = 0; i < 2; i++) {
        char url[64];
        cubed_array *numbers;
        snprintf(url, sizeof url, "memory://help::%d", i);
        must(cubed_array_uniform(w->ctx, 2, shape, chunks, 0.0, 1.0, 7 + i, &numbers, &err), &err);
        must(compute(w, numbers, 1, (cubed_target){.url = url, .codecs = codecs}, &err), &err);
        cubed_array_unref(numbers);
        must(cubed_array_open(w->ctx, url, arrays[i], &err), &err);
    }
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world *w = *state;
    cubed_array_unref(w->x);
    cubed_array_unref(w->y);
    cubed_context_unref(w->ctx);
    free(w);
    return 0;
}

/* Computes sums of x * y over rows. The result has one chunk, so there is one task. If y is x, these are sums of squares. */
static cubed_array *new_sums(cubed_array *x, cubed_array *y)
{
    const int axis = 0;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *product, *sums, *both[2] = {x, y};
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    r.axes = &axis;
    r.naxes = 1;
    must(cubed_elementwise(CUBED_OP_MULTIPLY, both, 2, &product, &err), &err);
    must(cubed_reduce(CUBED_REDUCE_SUM, product, &r, &sums, &err), &err);
    cubed_array_unref(product);
    return sums;
}

static double *new_row(void)
{
    double *row = calloc(COLUMNS, sizeof *row);
    assert_non_null(row);
    return row;
}

/* Although there is one task, two workers decode at the same time. Each chunk is decoded once, the bits are the same, and the
 * memory is within the projection. */
static void test_one_task(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    double *alone = new_row(), *helped = new_row();
    cubed_array *turned;
    must(cubed_flip(w->x, (const int[]){0}, 1, &turned, &err), &err);
    /* Chunks of a transposed array are read twice, and cached in between. */
    cubed_array *const others[] = {w->x, turned, w->y};
    for (int i = 0; i < 3; i++) {
        const int arrays = i < 2 ? 1 : 2;
        cubed_array *sums = new_sums(w->x, others[i]);
        reset(false, 0);
        must(compute(w, sums, 1, (cubed_target){.data = alone}, &err), &err);
        assert_int_equal(here.most, 1);
        assert_int_equal(here.total, arrays * CHUNKS);
        const uint64_t stored = w->stats.stored_read;
        for (unsigned workers = 2; workers <= 5; workers++) {
            memset(helped, 0, COLUMNS * sizeof *helped);
            reset(true, 0);
            must(compute(w, sums, workers, (cubed_target){.data = helped}, &err), &err);
            assert_true(here.most >= 2);
            assert_int_equal(here.total, arrays * CHUNKS);
            assert_int_equal(w->stats.stored_read, stored);
            assert_memory_equal(helped, alone, COLUMNS * sizeof *helped);
            assert_true(w->stats.measured_mem <= w->stats.projected_mem);
        }
        cubed_array_unref(sums);
    }
    cubed_array_unref(turned);
    free(alone);
    free(helped);
}

/* A task that needs a chunk that another worker could not decode decodes it itself, and reports the error. */
static void test_failures(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    double *row = new_row();
    cubed_array *sums = new_sums(w->x, w->y);
    for (int fails = 1; fails <= 1000; fails *= 1000) {
        reset(true, fails);
        const cubed_status st = compute(w, sums, 3, (cubed_target){.data = row}, &err);
        assert_true(here.total <= 4 * CHUNKS);
        /* The failing chunk may be another worker's. */
        if (st == CUBED_OK && fails == 1) continue;
        assert_int_equal(st, CUBED_E_FORMAT);
        if (!strstr(err.message, "help")) fail_msg("%s", err.message);
    }
    cubed_array_unref(sums);
    free(row);
}

int main(void)
{
    cb_cond_init(&here.changed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_task, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
