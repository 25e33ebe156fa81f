/* Chunks of an intermediate that are stored contiguously, put by several threads at once. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "chunks/state.h"
#include "plan/plan.h"
#include "plan_test.h"
#include "remove_dir.h"
#include "store/core/store.h"
#include "store/services/store_registry.h"
#include "test_path.h"

enum { N = 8000, CHUNK = 1000, CHUNKS = N / CHUNK, THREADS = 4, ROUNDS = 50 };
static const size_t chunk_size = CHUNK * sizeof(double);

typedef struct fixture {
    char dir[64], work[96], out[96];
    cubed_context *ctx;
    cubed_plan *plan;
    cb_chunks *chunks;
    cubed_store *store; /* store of the work folder, whose objects are counted */
    int node;           /* the intermediate */
    pthread_barrier_t together;
} fixture;

static cubed_status open_folder(void *ctx, cubed_store **store, const char **folder,
                                cubed_error *err)
{
    fixture *f = ctx;
    *folder = "run";
    const cubed_status st =
        f->store ? CUBED_OK : cb_store_open(&f->ctx->stores, f->work, false, &f->store, err);
    *store = f->store;
    return st;
}

/* Plans exp(x) in chunks of CHUNK elements. Marks them as pieces that a copy joins, as the optimiser does. */
static int set_up(void **state)
{
    const int64_t shape = N, chunk = CHUNK, stride = sizeof(double);
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x, *y, *z;
    fixture *f = calloc(1, sizeof *f);
    double *data = calloc(N, sizeof *data);
    assert_non_null(f);
    assert_non_null(data);
    test_path(f->dir, sizeof f->dir, "cubed-intermediates-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->work, sizeof f->work, "%s/work", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    must(cubed_context_new(NULL, &f->ctx, &err), &err);
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 1, &shape, &shape, &stride, data, &x, &err),
         &err);
    must(cubed_elementwise(CUBED_OP_EXP, &x, 1, &y, &err), &err);
    must(cubed_rechunk(y, &chunk, &z, &err), &err);
    o.optimize = false;
    o.work_dir = f->work;
    o.allowed_mem = 100 << 20;
    const cubed_target t = {.array = z, .url = f->out, .chunks = &shape};
    must(cubed_plan_new(f->ctx, &t, 1, &o, &f->plan, &err), &err);
    cubed_array_unref(z);
    cubed_array_unref(y);
    cubed_array_unref(x);
    free(data);
    f->node = -1;
    for (int i = 0; i < f->plan->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&f->plan->ir.nodes[i])) f->node = i;
    }
    assert_true(f->node >= 0);
    assert_int_equal(cb_grid_count(f->plan->ir.nodes[f->node].grid), CHUNKS);
    f->plan->ir.nodes[f->node].why = CB_WHY_SPREAD;
    pthread_barrier_init(&f->together, NULL, THREADS);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    pthread_barrier_destroy(&f->together);
    cb_store_close(f->store);
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    assert_int_equal(remove_dir(f->dir), 0);
    free(f);
    return 0;
}

static void open_chunks(fixture *f, size_t spare)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cb_chunks_options o = {.own = true,
                                 .counts = true,
                                 .spare = spare,
                                 .workers = THREADS,
                                 .open = open_folder,
                                 .open_ctx = f};
    must(cb_chunks_new(f->plan, &o, &f->chunks, &err), &err);
    for (int64_t k = 0; k < CHUNKS; k++) cb_chunks_add_reader(f->chunks, f->node, k);
}

static double value(int64_t chunk, int i) { return (double)(chunk * CHUNK + i); }

static cb_arena *new_arena(void)
{
    cb_arena *a;
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, (cb_need){4 * chunk_size, 1 << 20}, &a, NULL), CUBED_OK);
    return a;
}

typedef struct writer {
    fixture *f;
    int64_t first; /* first chunk that the thread puts; the next ones are THREADS apart */
    cubed_status status;
} writer;

static void *put_chunks(void *ctx)
{
    writer *w = ctx;
    fixture *f = w->f;
    cb_arena *arena = new_arena();
    double own[CHUNK];
    pthread_barrier_wait(&f->together);
    for (int64_t k = w->first; k < CHUNKS && w->status == CUBED_OK; k += THREADS) {
        cb_task_count count = {0};
        void *place = cb_chunks_place(f->chunks, f->node, &k);
        double *to = place ? place : own;
        for (int i = 0; i < CHUNK; i++) to[i] = value(k, i);
        w->status = cb_chunks_put(f->chunks, f->node, &k, to, arena, &count, NULL);
    }
    cb_arena_free(arena);
    return NULL;
}

static void put_all(fixture *f)
{
    pthread_t threads[THREADS];
    writer writers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){.f = f, .first = i};
        assert_int_equal(pthread_create(&threads[i], NULL, put_chunks, &writers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(writers[i].status, CUBED_OK);
    }
}

static void check_all(fixture *f)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_arena *arena = new_arena();
    double buffer[CHUNK];
    for (int64_t k = 0; k < CHUNKS; k++) {
        cb_task_count count = {0};
        cb_pinned out;
        const cb_want want = {.node = f->node, .idx = &k, .buffer = buffer};
        must(cb_chunks_want(f->chunks, &(cb_chunk_reader){.arena = arena, .count = &count}, &want,
                            &out, &err),
             &err);
        for (int i = 0; i < CHUNK; i++)
            assert_true(((const double *)(const void *)out.data)[i] == value(k, i));
        cb_chunks_release(f->chunks, f->node, k);
        assert_false(cb_chunks_has_readers(f->chunks, f->node, k));
    }
    cb_arena_free(arena);
}

/* The first thread finds that there is no memory for all chunks, while the other threads put theirs. */
static void test_no_memory_for_all(void **state)
{
    fixture *f = *state;
    for (int round = 0; round < ROUNDS; round++) {
        open_chunks(f, 0);
        put_all(f);
        assert_int_equal(cb_chunks_spilled(f->chunks), N * sizeof(double));
        check_all(f);
        cb_chunks_free(f->chunks);
    }
}

/* Enough memory for some chunks, not for all: chunks have separate memory, or go to the work folder. */
static void test_memory_for_some(void **state)
{
    fixture *f = *state;
    for (int round = 0; round < ROUNDS; round++) {
        open_chunks(f, 3 * cb_pages_round(chunk_size));
        put_all(f);
        assert_int_equal(cb_chunks_spilled(f->chunks), (CHUNKS - 3) * chunk_size);
        check_all(f);
        assert_int_equal(cb_chunks_intermediates(f->chunks)->used, 0);
        cb_chunks_free(f->chunks);
    }
}

static void test_memory_for_all(void **state)
{
    fixture *f = *state;
    const cb_box all = {.ndim = 1, .lo = {0}, .hi = {N}};
    for (int round = 0; round < ROUNDS; round++) {
        cb_task_count count = {0};
        open_chunks(f, (size_t)1 << 20);
        assert_null(cb_chunks_together(f->chunks, f->node, &all, &count));
        put_all(f);
        const char *data = cb_chunks_together(f->chunks, f->node, &all, &count);
        assert_non_null(data);
        for (int64_t i = 0; i < N; i++)
            assert_true(((const double *)(const void *)data)[i] == (double)i);
        assert_int_equal(cb_chunks_spilled(f->chunks), 0);
        check_all(f);
        assert_int_equal(cb_chunks_intermediates(f->chunks)->used, 0);
        cb_chunks_free(f->chunks);
    }
}

static cubed_status want_chunk(fixture *f, int64_t k, const cb_box *part, double *to,
                               cb_task_count *count, cubed_error *err)
{
    cb_arena *arena = new_arena();
    const cb_chunk_reader reader = {.arena = arena, .count = count};
    const cb_want want = {.node = f->node, .idx = &k, .subread = part, .buffer = to};
    cb_pinned out;
    const cubed_status st = cb_chunks_want(f->chunks, &reader, &want, &out, err);
    if (st == CUBED_OK) assert_ptr_equal(out.data, to);
    cb_arena_free(arena);
    return st;
}

/* Chunks in the work folder are read like those of arrays: also in parts; damaged or missing chunks are errors. */
static void test_chunks_in_the_work_folder(void **state)
{
    fixture *f = *state;
    const cb_box part = {.ndim = 1, .lo = {CHUNK + 10}, .hi = {CHUNK + 25}};
    cb_task_count count = {0};
    cubed_error err = CUBED_ERROR_INIT;
    double read[CHUNK];
    char path[256];
    open_chunks(f, 0);
    put_all(f);
    must(want_chunk(f, 1, &part, read, &count, &err), &err);
    for (int i = 0; i < 15; i++) assert_true(read[i] == value(1, 10 + i));
    assert_int_equal(count.stored_read, 15 * sizeof(double));
    assert_int_equal(count.bytes_read, 15 * sizeof(double));
    assert_int_equal(count.present, 1);
    snprintf(path, sizeof path, "%s/run/%d/1", f->work, f->node);
    assert_int_equal(truncate(path, 64), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(want_chunk(f, 1, i ? &part : NULL, read, &count, &err), CUBED_E_FORMAT);
        assert_non_null(strstr(err.message, "/1"));
        assert_non_null(strstr(err.message, f->work));
    }
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(want_chunk(f, 1, i ? &part : NULL, read, &count, &err), CUBED_E_NOT_FOUND);
    assert_int_equal(count.present, 1);
    cb_chunks_free(f->chunks);
}

static void chunk_path(const fixture *f, int64_t k, char path[256])
{
    snprintf(path, 256, "%s/run/%d/%d", f->work, f->node, (int)k);
}

static bool has_file(const fixture *f, int64_t k)
{
    char path[256];
    chunk_path(f, k, path);
    return access(path, F_OK) == 0;
}

/* Returns whether the broker finds the chunk in the work folder. Checks its key. */
static bool in_folder(fixture *f, int64_t k)
{
    char key[CB_INTERMEDIATE_KEY_CAP], expected[64];
    cubed_store *store = NULL;
    if (!cb_intermediate_place(f->chunks, f->node, k, &store, key)) return false;
    snprintf(expected, sizeof expected, "run/%d/%d", f->node, (int)k);
    assert_string_equal(key, expected);
    assert_ptr_equal(store, f->store);
    return true;
}

static void write_object(fixture *f, int64_t k, size_t size)
{
    static const double zeros[CHUNK];
    char key[64];
    snprintf(key, sizeof key, "run/%d/%d", f->node, (int)k);
    assert_int_equal(cb_store_put(f->store, key, zeros, size, NULL), CUBED_OK);
}

static void put_chunk(fixture *f, int64_t k)
{
    static const double zeros[CHUNK];
    cb_arena *arena = new_arena();
    cb_task_count count = {0};
    assert_int_equal(cb_chunks_put(f->chunks, f->node, &k, zeros, arena, &count, NULL), CUBED_OK);
    cb_arena_free(arena);
}

/* A chunk is in memory or in the work folder. A task that is retried puts the chunk again only in the folder. A released chunk
 * is removed from there, and is not wanted any more. */
static void test_places_of_chunks(void **state)
{
    enum { IN_MEMORY = 3 };
    fixture *f = *state;
    const size_t room = IN_MEMORY * cb_pages_round(chunk_size);
    int outside = 0;
    open_chunks(f, room);
    for (int64_t k = 0; k < CHUNKS; k++) assert_false(in_folder(f, k));
    put_all(f);
    for (int64_t k = 0; k < CHUNKS; k++) {
        const bool is = in_folder(f, k);
        assert_int_equal(has_file(f, k), is);
        outside += is;
        const uint64_t spilled = cb_chunks_spilled(f->chunks);
        put_chunk(f, k);
        assert_int_equal(cb_chunks_spilled(f->chunks), spilled + (is ? chunk_size : 0));
        assert_int_equal(in_folder(f, k), is);
        assert_int_equal(cb_chunks_intermediates(f->chunks)->used, room);
    }
    assert_int_equal(outside, CHUNKS - IN_MEMORY);
    uint64_t used = room;
    for (int64_t k = 0; k < CHUNKS; k++) {
        const bool is = in_folder(f, k);
        if (!is) write_object(f, k, chunk_size); /* of another writer */
        cb_chunks_release(f->chunks, f->node, k);
        used -= is ? 0 : cb_pages_round(chunk_size);
        assert_int_equal(cb_chunks_intermediates(f->chunks)->used, used);
        assert_int_equal(has_file(f, k), !is);
        assert_false(in_folder(f, k));
        const uint64_t spilled = cb_chunks_spilled(f->chunks);
        assert_null(cb_chunks_place(f->chunks, f->node, &k));
        put_chunk(f, k);
        assert_int_equal(cb_chunks_spilled(f->chunks), spilled);
        assert_int_equal(cb_chunks_intermediates(f->chunks)->used, used);
    }
    cb_chunks_free(f->chunks);
}

/* If other processes write the chunks, each chunk may be in the work folder. It is removed after its last reader. */
static void test_chunks_of_other_processes(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    const cb_chunks_options o = {
        .counts = true, .workers = THREADS, .open = open_folder, .open_ctx = f};
    bool found;
    must(cb_chunks_new(f->plan, &o, &f->chunks, &err), &err);
    for (int i = 0; i < 2; i++) cb_chunks_add_reader(f->chunks, f->node, 1);
    cb_chunks_add_reader(f->chunks, f->node, 2);
    assert_false(in_folder(f, 1)); /* the folder is not open */
    put_chunk(f, 1);
    assert_int_equal(cb_chunks_spilled(f->chunks), chunk_size);
    assert_true(in_folder(f, 1));
    assert_true(in_folder(f, 2));
    cb_chunks_release(f->chunks, f->node, 1);
    assert_true(has_file(f, 1));
    write_object(f, 2, chunk_size);
    must(cb_intermediate_find(f->chunks, f->node, 2, &found, &err), &err);
    assert_true(found);
    cb_chunks_release(f->chunks, f->node, 2);
    assert_false(has_file(f, 2));
    cb_chunks_release(f->chunks, f->node, 1);
    assert_false(has_file(f, 1));
    write_object(f, 1, chunk_size);
    cb_chunks_release(f->chunks, f->node, 1); /* it has no readers */
    assert_true(has_file(f, 1));
    cb_chunks_free(f->chunks);
}

/* A run that is resumed finds chunks of the right size in the work folder. Chunks are read together only if all are in memory. */
static void test_chunks_that_are_found(void **state)
{
    fixture *f = *state;
    const cb_box front = {.ndim = 1, .lo = {100}, .hi = {(int64_t)3 * CHUNK}};
    const cb_box back = {.ndim = 1, .lo = {3 * CHUNK - 1}, .hi = {N}};
    cubed_error err = CUBED_ERROR_INIT;
    cb_task_count count = {0};
    bool found = true;
    open_chunks(f, (size_t)1 << 20);
    must(cb_intermediate_find(f->chunks, f->node, 3, &found, &err), &err);
    assert_false(found); /* there is no folder */
    cb_work work;
    must(cb_chunks_get_work(f->chunks, &work, &err), &err);
    assert_ptr_equal(work.store, f->store);
    write_object(f, 3, chunk_size);
    write_object(f, 4, chunk_size - 8);
    must(cb_intermediate_find(f->chunks, f->node, 3, &found, &err), &err);
    assert_true(found && in_folder(f, 3));
    for (int64_t k = 4; k < 6; k++) {
        must(cb_intermediate_find(f->chunks, f->node, k, &found, &err), &err);
        assert_false(found || in_folder(f, k));
    }
    for (int64_t k = 0; k < CHUNKS; k++) {
        if (k != 3 && k != 1) put_chunk(f, k);
    }
    assert_null(cb_chunks_together(f->chunks, f->node, &front, &count)); /* chunk 1 is missing */
    put_chunk(f, 1);
    assert_non_null(cb_chunks_together(f->chunks, f->node, &front, &count));
    assert_int_equal(count.bytes_read, (3 * CHUNK - 100) * sizeof(double));
    assert_int_equal(count.present, 1);
    assert_null(cb_chunks_together(f->chunks, f->node, &back, &count)); /* chunk 3 is elsewhere */
    put_chunk(f, 3);
    assert_non_null(cb_chunks_together(f->chunks, f->node, &back, &count));
    cb_chunks_free(f->chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_memory_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_for_some, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunks_in_the_work_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places_of_chunks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunks_of_other_processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunks_that_are_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
