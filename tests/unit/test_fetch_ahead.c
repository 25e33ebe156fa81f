/* Chunks that are prefetched from a store with latency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "chunks/fetch.h"
#include "cubed/cubed.h"
#include "later_store.h"
#include "plan_test.h"

enum { N = 64, CHUNK = 500, TOTAL = N * CHUNK, IN_FLIGHT = 8 };
#define MS ((int64_t)1000000)

typedef struct world {
    later_store *s;
    cubed_context *ctx;
    cubed_plan_options plan;
    cubed_run_options run;
    cubed_run_stats stats;
    cubed_plan_info info;
} world;

static cubed_status compute(world *w, cubed_array *x, const cubed_target *to, cubed_error *err)
{
    cubed_target target = *to;
    cubed_plan *plan = NULL;
    target.array = x;
    cubed_status st = cubed_plan_new(w->ctx, &target, 1, &w->plan, &plan, err);
    if (st == CUBED_OK) {
        cubed_plan_get_info(plan, &w->info);
        st = cubed_run(plan, &w->run, &w->stats, err);
    }
    cubed_plan_unref(plan);
    return st;
}

/* Makes an array of numbers whose sums depend on rounding. */
static cubed_array *numbers(world *w, int ndim, const int64_t *shape, const int64_t *chunks)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_array_uniform(w->ctx, ndim, shape, chunks, 0.0, 1.0, 7, &x, &err), &err);
    return x;
}

static void store_numbers(world *w, int ndim, const int64_t *shape, const int64_t *chunks,
                          const int64_t *shards, const char *codecs, const char *name)
{
    static const char *const schemes[] = {"slow", "memory"};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x = numbers(w, ndim, shape, chunks);
    char url[64];
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "%s://here::%s", schemes[i], name);
        must(compute(w, x, &(cubed_target){.url = url, .shards = shards, .codecs = codecs}, &err),
             &err);
    }
    cubed_array_unref(x);
}

static int setup(void **state)
{
    static const int64_t shape[1] = {TOTAL}, chunks[1] = {CHUNK};
    world *w = calloc(1, sizeof *w);
    if (!w || cubed_context_new(NULL, &w->ctx, NULL) != CUBED_OK) return -1;
    w->s = later_new("slow");
    w->s->vt.flags = CUBED_STORE_OF_PROCESS;
    w->s->vt.max_in_flight = IN_FLIGHT;
    w->plan = (cubed_plan_options)CUBED_PLAN_OPTIONS_INIT;
    w->plan.max_workers = 1;
    w->plan.allowed_mem = (uint64_t)64 << 20;
    w->run = (cubed_run_options)CUBED_RUN_OPTIONS_INIT;
    w->run.executor = "single-threaded";
    if (cubed_context_add_store(w->ctx, &w->s->vt, NULL) != CUBED_OK) return -1;
    store_numbers(w, 1, shape, chunks, NULL, NULL, "x");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world *w = *state;
    cubed_context_unref(w->ctx);
    later_free(w->s);
    free(w);
    return 0;
}

static cubed_array *open_array(world *w, const char *scheme, const char *name)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    char url[64];
    snprintf(url, sizeof url, "%s://here::%s", scheme, name);
    must(cubed_array_open(w->ctx, url, &x, &err), &err);
    return x;
}

static cubed_status sum_of(world *w, const char *scheme,
                           double *sum, /* NOLINT(readability-non-const-parameter): is made */
                           double *seconds, cubed_error *err)
{
    cubed_array *x = open_array(w, scheme, "x"), *total;
    must(cubed_reduce(CUBED_REDUCE_SUM, x, NULL, &total, err), err);
    const cubed_target to = {.data = sum};
    const int64_t before = cb_clock_ns();
    const cubed_status st = compute(w, total, &to, err);
    *seconds = (double)(cb_clock_ns() - before) * 1e-9;
    cubed_array_unref(total);
    cubed_array_unref(x);
    return st;
}

static double local_sum(world *w)
{
    cubed_error err = CUBED_ERROR_INIT;
    double sum, seconds;
    must(sum_of(w, "memory", &sum, &seconds, &err), &err);
    return sum;
}

/* One task reads 64 chunks. Eight requests are in flight at a time, and each chunk is requested once. */
static void test_a_reduction(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const double expected = local_sum(w);
    double sum, seconds;
    const uint64_t without = w->info.projected_mem;
    later_reset(w->s, 10 * MS);
    must(sum_of(w, "slow", &sum, &seconds, &err), &err);
    assert_memory_equal(&sum, &expected, sizeof sum);
    assert_int_equal(w->s->gets, N);
    assert_int_equal(w->s->most, IN_FLIGHT);
    /* At the end, a request checks whether the source is still the one that was opened. */
    assert_int_equal(w->s->requests[CUBED_STORE_HEAD], 1);
    assert_int_equal(w->s->requests[CUBED_STORE_LIST], 0);
    /* One after another they would need 640 ms. */
    if (seconds >= 0.4) fail_msg("it took %g s", seconds);
    assert_true(w->info.projected_mem >= without + (uint64_t)IN_FLIGHT * CHUNK * 8);
    assert_true(w->stats.measured_mem >= (uint64_t)IN_FLIGHT * CHUNK * 8);
    assert_true(w->stats.measured_mem <= w->stats.projected_mem);
    assert_int_equal(w->stats.projected_mem, w->info.projected_mem);
}

/* Whatever memory is left, results have the same bits, and the number of requests is the same. */
static void test_depths(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const double expected = local_sum(w);
    const uint64_t least = w->info.projected_mem + w->info.reserved_mem + w->info.metadata_mem + 1;
    static const int depths[] = {0, 1, 2, 5};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        double sum, seconds;
        /* Allow as many prefetches as `depths` states: each needs a buffer for 4000 bytes and the memory of its request. */
        w->plan.allowed_mem = least + (uint64_t)depths[i] * (16 << 10);
        later_reset(w->s, MS / 10);
        must(sum_of(w, "slow", &sum, &seconds, &err), &err);
        assert_memory_equal(&sum, &expected, sizeof sum);
        assert_int_equal(w->s->gets, N);
        /* Chunks that were not prefetched are read when they are needed, next to one that was prefetched. */
        assert_in_range(w->s->most, 1, depths[i] + 1);
        assert_true(w->s->most >= depths[i]);
        assert_true(w->stats.measured_mem <= w->stats.projected_mem);
        assert_true(w->stats.projected_mem <= w->plan.allowed_mem - w->info.reserved_mem);
    }
}

/* If a request fails, the error names the chunk that it was to read. */
static void test_errors(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const double expected = local_sum(w);
    double sum, seconds;
    w->run.retries = 2;
    for (int k = 0; k < N; k += 3) {
        later_reset(w->s, 0);
        later_fail(w->s, LATER_CHUNKS, k, 1, 1);
        must(sum_of(w, "slow", &sum, &seconds, &err), &err);
        assert_memory_equal(&sum, &expected, sizeof sum);
        assert_int_equal(w->stats.num_retries, 1);
        later_reset(w->s, 0);
        later_fail(w->s, LATER_CHUNKS, k, 1, 0);
        assert_int_equal(sum_of(w, "slow", &sum, &seconds, &err), CUBED_E_IO);
        assert_non_null(strstr(err.message, "the network is gone"));
        assert_non_null(strstr(err.message, "chunk x/c/"));
        assert_false(err.transient);
    }
}

static void *stop_soon(void *cancel)
{
    cb_sleep_ns(50 * MS);
    cubed_cancel_set(cancel);
    return NULL;
}

/* Requests that never complete end with the run: prefetches, and requests that a thread waits for. */
static void test_cancelling(void **state)
{
    world *w = *state;
    const uint64_t least = (local_sum(w), w->info.projected_mem + w->info.reserved_mem);
    cubed_error err = CUBED_ERROR_INIT;
    for (int ahead = 0; ahead < 2; ahead++) {
        cubed_cancel stop = CUBED_CANCEL_INIT;
        cubed_array *x, *total;
        pthread_t thread;
        double sum;
        w->plan.allowed_mem = ahead ? (uint64_t)64 << 20 : least;
        w->run.cancel = &stop;
        later_reset(w->s, 0);
        x = open_array(w, "slow", "x");
        must(cubed_reduce(CUBED_REDUCE_SUM, x, NULL, &total, &err), &err);
        cubed_target target = {.array = total, .data = &sum};
        cubed_plan *plan;
        must(cubed_plan_new(w->ctx, &target, 1, &w->plan, &plan, &err), &err);
        later_hold(w->s, LATER_CHUNKS);
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stop), 0);
        const int64_t before = cb_clock_ns();
        assert_int_equal(cubed_run(plan, &w->run, NULL, &err), CUBED_E_CANCELLED);
        assert_true(cb_clock_ns() - before < 5000 * MS);
        pthread_join(thread, NULL);
        assert_int_equal(w->s->cancelled, ahead ? IN_FLIGHT : 1);
        assert_int_equal(w->s->in_flight, 0);
        later_hold(w->s, LATER_NONE);
        cubed_plan_unref(plan);
        cubed_array_unref(total);
        cubed_array_unref(x);
    }
}

/* Tasks of one chunk each: chunks of tasks that a worker gets together are fetched together. */
static void test_next_tasks(void **state)
{
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    static double back[TOTAL], expected[TOTAL];
    for (int i = 0; i < 2; i++) {
        cubed_array *x = open_array(w, i ? "slow" : "memory", "x"), *y;
        const cubed_target to = {.data = i ? back : expected};
        must(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err), &err);
        later_reset(w->s, 2 * MS);
        w->run.executor = "threads";
        w->plan.max_workers = 2;
        must(compute(w, y, &to, &err), &err);
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
    assert_memory_equal(back, expected, sizeof back);
    assert_int_equal(w->s->gets, N);
    assert_in_range(w->s->most, IN_FLIGHT / 2, IN_FLIGHT);
    assert_true(w->stats.measured_mem <= w->stats.projected_mem);
}

/* Ranges of one task with one chunk: a worker also waits for the chunk of the next range. */
static void test_next_ranges(void **state)
{
    static const cubed_slice part[1] = {{0, (int64_t)8 * CHUNK, 1, false}};
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    static double back[8 * CHUNK], expected[8 * CHUNK];
    for (int i = 0; i < 2; i++) {
        cubed_array *x = open_array(w, i ? "slow" : "memory", "x"), *y, *z;
        const cubed_target to = {.data = i ? back : expected};
        must(cubed_slice_array(x, part, &y, &err), &err);
        must(cubed_elementwise(CUBED_OP_NEGATIVE, &y, 1, &z, &err), &err);
        later_reset(w->s, 20 * MS);
        w->run.executor = "threads";
        w->plan.max_workers = 2;
        must(compute(w, z, &to, &err), &err);
        cubed_array_unref(z);
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
    assert_memory_equal(back, expected, sizeof back);
    assert_int_equal(w->s->gets, 8);
    assert_in_range(w->s->most, 3, 4);
    assert_true(w->stats.measured_mem <= w->stats.projected_mem);
}

/* Adjacent inner chunks are read as one range, all of the version of the index. */
static void test_shards(void **state)
{
    static const int64_t shape[2] = {96, 100}, chunks[2] = {8, 25}, shards[2] = {32, 100};
    static const int axis = 0;
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    double back[100], expected[100];
    store_numbers(w, 2, shape, chunks, shards, NULL, "s");
    for (int i = 0; i < 2; i++) {
        cubed_array *x = open_array(w, i ? "slow" : "memory", "s"), *y;
        const cubed_target to = {.data = i ? back : expected};
        cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
        o.axes = &axis;
        o.naxes = 1;
        must(cubed_reduce(CUBED_REDUCE_SUM, x, &o, &y, &err), &err);
        later_reset(w->s, MS);
        must(compute(w, y, &to, &err), &err);
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
    assert_memory_equal(back, expected, sizeof back);
    assert_int_equal(w->s->gets, w->s->ranges);
    /* At most 24 requests are needed for three indices and 48 inner chunks. */
    if (w->s->gets > 24) fail_msg("%d requests", w->s->gets);
    assert_true(w->stats.measured_mem <= w->stats.projected_mem);
}

/* --- Operators ---------------------------------------------------------------------------------------- */

typedef cubed_status (*made_of)(cubed_array *x, cubed_array *y, cubed_array **out,
                                cubed_error *err);

static cubed_status make_mean(cubed_array *x, cubed_array *y, cubed_array **out, cubed_error *err)
{
    static const int axis = 1;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *const both[2] = {x, y};
    cubed_array *sum;
    o.axes = &axis;
    o.naxes = 1;
    CB_TRY(cubed_elementwise(CUBED_OP_MULTIPLY, both, 2, &sum, err));
    cubed_status st = cubed_reduce(CUBED_REDUCE_SUM, sum, &o, out, err);
    cubed_array_unref(sum);
    return st;
}

static cubed_status make_shifted(cubed_array *x, cubed_array *y, cubed_array **out,
                                 cubed_error *err)
{
    const cubed_slice a[2] = {{3, 50, 1, false}, {0, 40, 2, false}};
    const cubed_slice b[2] = {{57, 50, -1, false}, {7, 40, 1, false}};
    cubed_array *both[2];
    CB_TRY(cubed_slice_array(x, a, &both[0], err));
    CB_TRY(cubed_slice_array(y, b, &both[1], err));
    cubed_status st = cubed_elementwise(CUBED_OP_SUBTRACT, both, 2, out, err);
    cubed_array_unref(both[0]);
    cubed_array_unref(both[1]);
    return st;
}

static cubed_status make_totals(cubed_array *x, cubed_array *y, cubed_array **out, cubed_error *err)
{
    (void)y;
    return cubed_cumulative(CUBED_REDUCE_SUM, x, 1, false, out, err);
}

static cubed_status make_copy(cubed_array *x, cubed_array *y, cubed_array **out, cubed_error *err)
{
    static const int64_t chunks[2] = {60, 5};
    (void)y;
    return cubed_rechunk(x, chunks, out, err);
}

static cubed_status make_product(cubed_array *x, cubed_array *y, cubed_array **out,
                                 cubed_error *err)
{
    static const int axes[2] = {1, 0};
    cubed_array *t;
    CB_TRY(cubed_permute_dims(y, axes, &t, err));
    cubed_status st = cubed_matmul(x, t, out, err);
    cubed_array_unref(t);
    return st;
}

static cubed_status make_sorted(cubed_array *x, cubed_array *y, cubed_array **out, cubed_error *err)
{
    (void)y;
    return cubed_sort(x, 0, false, out, err);
}

static cubed_status make_reshaped(cubed_array *x, cubed_array *y, cubed_array **out,
                                  cubed_error *err)
{
    static const int64_t shape[1] = {(int64_t)60 * 80};
    (void)y;
    return cubed_reshape(x, 1, shape, out, err);
}

/* Runs every operator on chunks with codecs, without codecs and in shards, by one worker and by several, with and without memory
 * for prefetches. The bits equal those from a store without latency. */
static void test_operators(void **state)
{
    static const made_of all[] = {make_mean,    make_shifted, make_totals,  make_copy,
                                  make_product, make_sorted,  make_reshaped};
    static const char *const executors[] = {"single-threaded", "threads"};
    static const char *const names[] = {"encoded", "raw", "shards"};
    static const int64_t shape[2] = {60, 80}, chunks[2] = {7, 16}, shards[2] = {28, 32};
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    static double back[80 * 80], expected[80 * 80];
    store_numbers(w, 2, shape, chunks, NULL, NULL, names[0]);
    store_numbers(w, 2, shape, chunks, NULL,
                  "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]", names[1]);
    store_numbers(w, 2, shape, chunks, shards, NULL, names[2]);
    later_reset(w->s, MS / 20);
    for (size_t k = 0; k < 3 * sizeof all / sizeof *all; k++) {
        for (int way = 0; way < 5; way++) {
            cubed_array *x = open_array(w, way ? "slow" : "memory", names[k % 3]);
            cubed_array *y = open_array(w, way ? "slow" : "memory", names[(k + 1) % 3]), *z;
            const cubed_target to = {.data = way ? back : expected};
            w->run.executor = executors[way / 2 % 2];
            w->plan.max_workers = 3;
            w->plan.allowed_mem = (uint64_t)(way % 2 ? 64 : 17) << 20;
            memset(to.data, 0, sizeof back);
            must(all[k / 3](x, y, &z, &err), &err);
            must(compute(w, z, &to, &err), &err);
            assert_memory_equal(to.data, expected, sizeof back);
            assert_true(w->stats.measured_mem <= w->stats.projected_mem);
            cubed_array_unref(z);
            cubed_array_unref(y);
            cubed_array_unref(x);
        }
    }
    assert_int_equal(w->s->in_flight, 0);
}

/* A copy whose tasks all workers perform together. */
static void test_cooperative_tasks(void **state)
{
    static const int64_t shape[2] = {384, 256}, chunks[2] = {8, 256}, to[2] = {384, 8};
    world *w = *state;
    cubed_error err = CUBED_ERROR_INIT;
    static double back[384 * 256], expected[384 * 256];
    store_numbers(w, 2, shape, chunks, NULL, NULL, "rows");
    later_reset(w->s, MS);
    w->run.executor = "threads";
    w->plan.max_workers = 3;
    w->plan.allowed_mem = w->plan.reserved_mem + ((uint64_t)640 << 10);
    cubed_array *x = open_array(w, "slow", "rows"), *y;
    must(cubed_rechunk(x, to, &y, &err), &err);
    must(compute(w, y, &(cubed_target){.url = "memory://here::columns"}, &err), &err);
    assert_true(w->stats.measured_mem <= w->stats.projected_mem);
    assert_int_equal(w->info.coop, 3);
    /* Some chunks are read twice: one member takes a chunk while another is about to request it. */
    assert_in_range(w->s->gets, 384 / 8, 384 / 8 + 6);
    assert_in_range(w->s->most, 4, IN_FLIGHT + 3);
    cubed_array_unref(y);
    cubed_array_unref(x);
    for (int i = 0; i < 2; i++) {
        x = open_array(w, "memory", i ? "columns" : "rows");
        must(compute(w, x, &(cubed_target){.data = i ? back : expected}, &err), &err);
        cubed_array_unref(x);
    }
    assert_memory_equal(back, expected, sizeof back);
}

/* --- The pool alone --------------------------------------------------------------------------------------- */

static cb_fetch_what object(cubed_store *s, const char *key, int64_t number)
{
    return (cb_fetch_what){
        .key = {0, CB_CACHE_CHUNK, number}, .store = s, .path = key, .cap = 64, .cached = true};
}

typedef struct taker {
    cb_fetcher *f;
    cb_fetch *got;
    cb_zarr_fetched there;
} taker;

static void *take(void *ctx)
{
    taker *t = ctx;
    t->got = cb_fetch_take(t->f, (cb_cache_key){0, CB_CACHE_CHUNK, 1}, NULL, &t->there);
    return NULL;
}

/* An object that one worker requested may be taken by another one, once. A failure is reported only if the object is needed,
 * and dropped with its task. */
static void test_who_takes_what(void **state)
{
    world *w = *state;
    later_handle h = {.head = {&w->s->vt, &cb_system_allocator, "slow://test"}, .s = w->s};
    cb_fetch_batch mine = {.owner = w, .most = 4}, other = {.owner = &h, .most = 4};
    const cb_fetch_what one = object(&h.head, "x/c/1", 1), none = object(&h.head, "x/c/none", 2);
    cb_fetcher *f = cb_fetcher_new(&cb_system_allocator, 8, (size_t)1 << 20);
    taker first = {.f = f}, second = {.f = f};
    pthread_t thread;
    assert_non_null(f);
    later_reset(w->s, 20 * MS);
    later_fail(w->s, LATER_CHUNKS, 1, 1, 0);
    assert_int_equal(cb_fetch_ask(f, &mine, &one), CB_FETCH_ASKED);
    assert_int_equal(cb_fetch_ask(f, &other, &one), CB_FETCH_NEEDLESS);
    assert_int_equal(cb_fetch_ask(f, &mine, &none), CB_FETCH_ASKED);
    cb_fetch_submit(&mine);
    assert_int_equal(pthread_create(&thread, NULL, take, &first), 0);
    pthread_join(thread, NULL);
    take(&second);
    assert_non_null(first.got);
    assert_null(second.got);
    assert_int_equal(first.there.info.size > 0, true);
    assert_int_equal(w->s->gets, 2);
    cb_fetch_done(f, first.got);
    cb_fetch_drop(f, w, 1);
    assert_null(cb_fetch_try(f, none.key, &second.there));
    /* When the pool ends, it waits for no request in flight. */
    assert_int_equal(cb_fetch_ask(f, &other, &one), CB_FETCH_ASKED);
    cb_fetch_submit(&other);
    cb_fetcher_free(f);
    assert_int_equal(w->s->in_flight, 0);
}

/* Ranges of one object are one request. Each reader gets its range, or the part of it that the object has. */
static void test_ranges_of_a_request(void **state)
{
    static const char text[] = "0123456789abcdefghijklmno";
    static const struct {
        cubed_range range;
        size_t size; /* bytes that the object has of the range */
    } parts[] = {{{0, 10}, 10}, {{12, 5}, 5}, {{20, 10}, 5}, {{30, 10}, 0}};
    enum { RANGES = sizeof parts / sizeof *parts };
    world *w = *state;
    later_handle h = {.head = {&w->s->vt, &cb_system_allocator, "slow://test"}, .s = w->s};
    cb_fetch_batch b = {.owner = w, .most = 4};
    cubed_object_info info;
    cb_fetcher *f = cb_fetcher_new(&cb_system_allocator, 8, (size_t)1 << 20);
    cb_fetch *x;
    cb_zarr_fetched there;
    assert_int_equal(cb_store_put(w->s->inner, "x/c/9", text, 25, NULL), CUBED_OK);
    assert_int_equal(cb_store_find(w->s->inner, "x/c/9", &info, NULL), CUBED_OK);
    later_reset(w->s, 0);
    for (int i = 0; i < RANGES; i++) {
        cb_fetch_what what = object(&h.head, "x/c/9", 10 + i);
        what.range = parts[i].range;
        what.version = &info.version;
        assert_int_equal(cb_fetch_ask(f, &b, &what), CB_FETCH_ASKED);
    }
    const cb_fetch_what whole = object(&h.head, "x/c/9", 20);
    assert_int_equal(cb_fetch_ask(f, &b, &whole), CB_FETCH_ASKED);
    assert_int_equal(b.n, 2);
    cb_fetch_submit(&b);
    for (int i = 0; i < RANGES; i++) {
        const cb_cache_key key = {0, CB_CACHE_CHUNK, 10 + i};
        x = cb_fetch_take(f, key, NULL, &there);
        assert_non_null(x);
        assert_int_equal(there.status, CUBED_OK);
        assert_int_equal(there.size, parts[i].size);
        assert_memory_equal(there.data, text + (parts[i].size ? parts[i].range.offset : 0),
                            parts[i].size);
        assert_int_equal(there.info.size, 25);
        cb_fetch_done(f, x);
    }
    x = cb_fetch_take(f, whole.key, NULL, &there);
    assert_non_null(x);
    assert_int_equal(there.size, 25);
    assert_memory_equal(there.data, text, 25);
    cb_fetch_done(f, x);
    assert_int_equal(w->s->gets, 2);
    cb_fetcher_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_reduction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_next_tasks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_next_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shards, setup, teardown),
        cmocka_unit_test_setup_teardown(test_operators, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cooperative_tasks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_takes_what, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranges_of_a_request, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
