/* The chunk broker: loading chunks, their location, and files that change while they are mapped. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "chunks/offers.h"
#include "cubed/cubed.h"
#include "exec/plan/reuse.h"
#include "plan_test.h"
#include "remove_dir.h"
#include "store/local/local_map.h"
#include "test_path.h"

/* Chunks of 1 MiB, which are mapped if they are not encoded; the result has other chunks. */
enum { CHUNK = 1 << 17, N = 3 * CHUNK - 1000, RESULT = CHUNK / 2 + 100, THREADS = 4 };
static const size_t chunk_size = CHUNK * sizeof(double);
static const char raw[] = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";

typedef struct fixture {
    char dir[64], src[96], out[96];
    cubed_context *ctx;
    double *data;
    cubed_plan *plan;
    cb_chunks *chunks;
    int node; /* the source */
} fixture;

static cubed_status no_folder(void *ctx, cubed_store **store, const char **folder, cubed_error *err)
{
    (void)ctx;
    (void)store;
    (void)folder;
    (void)err;
    return CUBED_E_INTERNAL;
}

static void write_source(fixture *f, const char *codecs)
{
    const int64_t shape = N, chunk = CHUNK;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x;
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 1, &shape, NULL, &chunk, f->data, &x, &err),
         &err);
    const cubed_target t = {.array = x, .url = f->src, .codecs = codecs};
    must(cubed_plan_new(f->ctx, &t, 1, &o, &f->plan, &err), &err);
    must(cubed_run(f->plan, NULL, NULL, &err), &err);
    cubed_plan_unref(f->plan);
    cubed_array_unref(x);
}

/* Makes a plan that copies x to an array with other chunks, in tasks of one chunk each. */
static void set_up(fixture *f, const char *codecs)
{
    const int64_t chunk = RESULT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x, *y;
    memset(f, 0, sizeof *f);
    test_path(f->dir, sizeof f->dir, "cubed-chunks-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    f->data = malloc(N * sizeof *f->data);
    assert_non_null(f->data);
    for (int i = 0; i < N; i++) f->data[i] = i + 0.5;
    must(cubed_context_new(NULL, &f->ctx, &err), &err);
    write_source(f, codecs);
    must(cubed_array_open(f->ctx, f->src, &x, &err), &err);
    must(cubed_rechunk(x, &chunk, &y, &err), &err);
    const cubed_target t = {.array = y, .url = f->out};
    o.optimize = false;
    must(cubed_plan_new(f->ctx, &t, 1, &o, &f->plan, &err), &err);
    cubed_array_unref(x);
    cubed_array_unref(y);
    while (f->plan->ir.nodes[f->node].kind != CB_NODE_ZARR) f->node++;
    /* Counts chunks as if every task read all chunks of the array. */
    f->plan->reused[f->node] = true;
    f->plan->cache_bytes = (uint64_t)16 << 20;
    const cb_chunks_options own = {.own = true,
                                   .counts = true,
                                   .spare = (size_t)64 << 20,
                                   .reads = cb_plan_chunk_reads,
                                   .open = no_folder};
    must(cb_chunks_new(f->plan, &own, &f->chunks, &err), &err);
}

static void tear_down(fixture *f)
{
    cb_chunks_free(f->chunks);
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    free(f->data);
    assert_int_equal(remove_dir(f->dir), 0);
}

static cb_arena *new_arena(void)
{
    cb_arena *a;
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, (cb_need){4 * chunk_size, 1 << 22}, &a, NULL), CUBED_OK);
    return a;
}

static void chunk_path(const fixture *f, int chunk, char path[160])
{
    snprintf(path, 160, "%s/c/%d", f->src, chunk);
}

/* --- Several threads that want one chunk -------------------------------------------------------------- */

typedef struct reader {
    fixture *f;
    pthread_barrier_t *together;
    cb_task_count count;
    int wrong;
} reader;

static void *read_all(void *ctx)
{
    reader *r = ctx;
    cb_arena *arena = new_arena();
    void *buffer;
    if (cb_arena_alloc(arena, chunk_size, "chunk", &buffer, NULL) != CUBED_OK) return NULL;
    for (int64_t k = 0; k < 3; k++) {
        const size_t mark = cb_arena_mark(arena);
        const cb_want want = {.node = r->f->node, .idx = &k, .reuse = true, .buffer = buffer};
        cb_pinned held;
        pthread_barrier_wait(r->together);
        r->wrong +=
            cb_chunks_want(r->f->chunks, &(cb_chunk_reader){.arena = arena, .count = &r->count},
                           &want, &held, NULL) != CUBED_OK;
        const int64_t n = k < 2 ? CHUNK : N - 2 * CHUNK;
        r->wrong += memcmp(held.data, r->f->data + k * CHUNK, (size_t)n * sizeof(double)) != 0;
        r->wrong += held.lo[0] != k * CHUNK || held.stride[0] != sizeof(double);
        pthread_barrier_wait(r->together); /* wait here until all threads hold the chunk */
        cb_arena_release(arena, mark);
    }
    cb_arena_free(arena);
    return NULL;
}

static void test_a_chunk_is_brought_once(void **state)
{
    fixture f;
    pthread_barrier_t together;
    pthread_t thread[THREADS];
    reader r[THREADS];
    uint64_t read = 0, stored = 0;
    (void)state;
    set_up(&f, NULL);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        r[i] = (reader){.f = &f, .together = &together};
        assert_int_equal(pthread_create(&thread[i], NULL, read_all, &r[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(r[i].wrong, 0);
        assert_int_equal(r[i].count.bytes_read, 3 * chunk_size);
        read += r[i].count.stored_read;
    }
    for (int k = 0; k < 3; k++) {
        char path[160];
        struct stat info;
        chunk_path(&f, k, path);
        assert_int_equal(stat(path, &info), 0);
        stored += (uint64_t)info.st_size;
    }
    assert_int_equal(read, stored);
    assert_in_range(cb_chunks_cache_peak(f.chunks), chunk_size, 4 * chunk_size);
    pthread_barrier_destroy(&together);
    tear_down(&f);
}

/* A chunk that cannot be loaded is an error for all waiting threads, and uses no memory. */
static void test_a_chunk_that_is_damaged(void **state)
{
    fixture f;
    char path[160];
    const int64_t k = 1;
    cb_pinned held;
    cb_task_count count = {0};
    void *buffer;
    (void)state;
    set_up(&f, NULL);
    chunk_path(&f, 1, path);
    assert_int_equal(truncate(path, 20), 0);
    cb_arena *arena = new_arena();
    assert_int_equal(cb_arena_alloc(arena, chunk_size, "chunk", &buffer, NULL), CUBED_OK);
    const size_t mark = cb_arena_mark(arena);
    for (int i = 0; i < 4; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cb_want want = {.node = f.node, .idx = &k, .reuse = i < 2, .buffer = buffer};
        assert_int_equal(cb_chunks_want(f.chunks,
                                        &(cb_chunk_reader){.arena = arena, .count = &count}, &want,
                                        &held, &err),
                         CUBED_E_FORMAT);
        assert_non_null(strstr(err.message, "c/1"));
        assert_int_equal(cb_arena_mark(arena), mark);
    }
    cb_arena_free(arena);
    tear_down(&f);
}

/* --- Chunks that one worker decodes for another -------------------------------------------------------- */

/* Visits the chunks of a task in reverse order. Only the caller of the broker knows the order of a task's reads. */
static cubed_status visit_backwards(const cubed_plan *p, int stage, int64_t task, int64_t step,
                                    bool *there, cb_chunks_fn fn, void *ctx)
{
    int node = 0;
    (void)stage;
    (void)task;
    while (p->ir.nodes[node].kind != CB_NODE_ZARR) node++;
    *there = step == 0;
    for (int64_t k = 2; *there && k >= 0; k--) {
        const cb_box chunk = {.ndim = 1, .lo = {k}, .hi = {k + 1}};
        CB_TRY(fn(ctx, node, &chunk, NULL));
    }
    return CUBED_OK;
}

/* A helper offers the chunks of a task in the order of the task, except the first. The broker then serves the offered chunks to
 * the task. */
static void test_offers_follow_the_order_of_the_task(void **state)
{
    fixture f;
    cb_mutex lock;
    cb_cond wake, decoded;
    cubed_error err = CUBED_ERROR_INIT;
    void *buffer;
    (void)state;
    set_up(&f, NULL);
    cb_chunks_free(f.chunks);
    f.plan->reused[f.node] = false;
    const cb_chunks_options o = {.own = true,
                                 .counts = true,
                                 .reads = cb_plan_chunk_reads,
                                 .visit = visit_backwards,
                                 .open = no_folder};
    must(cb_chunks_new(f.plan, &o, &f.chunks, &err), &err);
    cb_mutex_init(&lock);
    cb_cond_init(&wake);
    cb_cond_init(&decoded);
    const cb_offer_sync sync = {.lock = &lock, .idle = &wake, .decoded = &decoded};
    assert_null(cb_chunks_helper(f.chunks, 0));
    must(cb_chunks_begin_offers(f.chunks, 2, sync, &err), &err);
    cb_helper *busy = cb_chunks_helper(f.chunks, 0), *idle = cb_chunks_helper(f.chunks, 1);
    cb_arena *arena = new_arena(), *others = new_arena();
    assert_int_equal(cb_arena_alloc(arena, chunk_size, "chunk", &buffer, NULL), CUBED_OK);
    const size_t mark = cb_arena_mark(arena), unused = cb_arena_mark(others);
    cb_offers_begin(busy, 0, 0);
    cb_mutex_lock(idle->offers->lock);
    const unsigned most = idle->offers->most;
    idle->offers->most = 1; /* one processor, which the task uses */
    assert_false(cb_offers_make(idle, others));
    idle->offers->most = most;
    for (int i = 0; i < 2; i++) assert_true(cb_offers_make(idle, others));
    /* no third offer: chunk 2 is left to the task itself */
    assert_false(cb_offers_make(idle, others));
    cb_mutex_unlock(idle->offers->lock);
    for (int64_t k = 2; k >= 0; k--) {
        cb_task_count count = {0};
        cb_pinned held;
        const cb_want want = {.node = f.node, .idx = &k, .buffer = buffer};
        const cb_chunk_reader by = {.arena = arena, .count = &count, .helper = busy};
        must(cb_chunks_want(f.chunks, &by, &want, &held, &err), &err);
        assert_int_equal(held.data == buffer, k == 2);
        assert_int_equal(held.lo[0], k * CHUNK);
        const int64_t n = k < 2 ? CHUNK : N - 2 * CHUNK;
        assert_memory_equal(held.data, f.data + k * CHUNK, (size_t)n * sizeof(double));
        assert_true(count.stored_read > 0);
        assert_int_equal(count.present, 1);
        cb_arena_release(arena, mark);
    }
    cb_offers_end(busy);
    cb_mutex_lock(idle->offers->lock);
    assert_false(cb_offers_make(idle, others));
    cb_offers_leave(idle);
    cb_mutex_unlock(idle->offers->lock);
    assert_int_equal(cb_arena_mark(others), unused);
    cb_arena_free(arena);
    cb_arena_free(others);
    cb_chunks_end_offers(f.chunks);
    assert_null(cb_chunks_helper(f.chunks, 0));
    cb_cond_destroy(&decoded);
    cb_cond_destroy(&wake);
    cb_mutex_destroy(&lock);
    tear_down(&f);
}

/* --- Blocks of the codec ------------------------------------------------------------------------------- */

static const char blocks[] =
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"blosc\", "
    "\"configuration\": {\"typesize\": 8, \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": "
    "\"noshuffle\", \"blocksize\": 8192}}]";

/* MEET: position in the fourth block where two runs meet. FOUND: size of the first bytes of a chunk, which are read to locate
 * blocks. */
#define BLOCK ((size_t)65536)
#define MEET  (3 * BLOCK + 4000)
#define FOUND ((size_t)4096)

static cubed_status want_block(fixture *f, size_t at, cubed_range run, void *buffer,
                               cb_arena *arena, cb_pinned_codec_block *out, cb_task_count *count)
{
    const int64_t chunk = 1;
    const cb_want_codec_block want = {f->node, &chunk, at, run, buffer};
    return cb_chunks_want_codec_block(f->chunks, &want, arena, out, count, NULL);
}

/* Reads block number `k` of the second chunk, as run `run` requests it. Returns true if the block is cached for another run. */
static bool bring_block(fixture *f, int k, cubed_range run, cb_arena *arena, cb_task_count *count)
{
    const size_t mark = cb_arena_mark(arena);
    void *buffer;
    cb_pinned_codec_block got;
    assert_int_equal(cb_arena_alloc(arena, chunk_size, "block", &buffer, NULL), CUBED_OK);
    const size_t first = (size_t)k * BLOCK, at = first < run.offset ? (size_t)run.offset : first;
    assert_int_equal(want_block(f, at, run, buffer, arena, &got, count), CUBED_OK);
    const bool kept = got.kept != NULL;
    assert_int_equal(got.bytes.offset, first);
    assert_int_equal(got.bytes.size, BLOCK);
    assert_true(kept == (got.data != buffer));
    assert_memory_equal(got.data, (char *)(f->data + CHUNK) + first, BLOCK);
    cb_chunks_unpin_codec_block(f->chunks, &got);
    assert_null(got.kept);
    cb_arena_release(arena, mark);
    return kept;
}

static void test_blocks_that_runs_share(void **state)
{
    fixture f;
    cb_task_count count[4] = {{0}};
    const cubed_range whole = {0, chunk_size}, first = {0, MEET}, second = {MEET, 4 * BLOCK},
                      within = {MEET, 1000};
    (void)state;
    set_up(&f, blocks);
    cb_arena *arena = new_arena();
    for (int k = 0; k < 16; k++) {
        assert_false(bring_block(&f, k, whole, arena, &count[0]));
        if (k <= 3) assert_true(bring_block(&f, k, first, arena, &count[1]) == (k == 3));
    }
    assert_in_range(count[1].stored_read, 4 * BLOCK / 2, 4 * BLOCK);
    assert_true(bring_block(&f, 3, second, arena, &count[2]));
    assert_int_equal(count[2].stored_read, FOUND);
    assert_int_equal(count[2].bytes_read, BLOCK);
    assert_int_equal(count[2].present, 1);
    for (int k = 4; k < 7; k++) assert_false(bring_block(&f, k, second, arena, &count[2]));
    assert_true(bring_block(&f, 7, second, arena, &count[2]));
    /* A block is cached only for exactly two runs. With more runs, it is unknown which of them need the block. */
    assert_false(bring_block(&f, 3, within, arena, &count[3]));
    assert_in_range(count[3].stored_read, FOUND + BLOCK / 2, 2 * BLOCK);
    /* The cache had at most one block at a time: the memory of the first block was reused for the next one. */
    assert_in_range(cb_chunks_cache_peak(f.chunks), BLOCK, 2 * BLOCK - 1);
    cb_arena_free(arena);
    tear_down(&f);
}

static void *read_shared(void *ctx)
{
    reader *r = ctx;
    cb_arena *arena = new_arena();
    pthread_barrier_wait(r->together);
    if (!bring_block(r->f, 3, (cubed_range){0, MEET}, arena, &r->count)) r->wrong++;
    cb_arena_free(arena);
    return NULL;
}

static void test_a_block_is_decoded_once(void **state)
{
    fixture f;
    pthread_barrier_t together;
    pthread_t thread[2];
    reader r[2];
    uint64_t stored = 0;
    (void)state;
    set_up(&f, blocks);
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++) {
        r[i] = (reader){.f = &f, .together = &together};
        assert_int_equal(pthread_create(&thread[i], NULL, read_shared, &r[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(r[i].wrong, 0);
        stored += r[i].count.stored_read;
    }
    assert_in_range(stored, 3 * FOUND + BLOCK / 2, 3 * FOUND + BLOCK * 3 / 4);
    pthread_barrier_destroy(&together);
    tear_down(&f);
}

/* Blocks that are missing, or cannot be decoded, are not cached. */
static void test_blocks_of_chunks_that_change(void **state)
{
    fixture f;
    char path[160], aside[176];
    cb_task_count count = {0};
    cb_pinned_codec_block got;
    const cubed_range run = {0, MEET};
    void *buffer;
    (void)state;
    set_up(&f, blocks);
    chunk_path(&f, 1, path);
    snprintf(aside, sizeof aside, "%s.aside", path);
    cb_arena *arena = new_arena();
    assert_int_equal(cb_arena_alloc(arena, chunk_size, "block", &buffer, NULL), CUBED_OK);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(want_block(&f, 3 * BLOCK, run, buffer, arena, &got, &count), CUBED_OK);
    assert_null(got.kept);
    assert_true(got.bytes.size >= MEET - 3 * BLOCK);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(truncate(path, 3 * BLOCK), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(want_block(&f, 3 * BLOCK, run, buffer, arena, &got, &count),
                         CUBED_E_FORMAT);
        assert_null(got.kept);
    }
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(want_block(&f, 3 * BLOCK, run, buffer, arena, &got, &count), CUBED_E_FORMAT);
    cb_arena_free(arena);
    tear_down(&f);
}

/* --- Mapped files -------------------------------------------------------------------------------------- */

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static bool is_mapped(const fixture *f, const char *data)
{
    char line[512], path[160];
    FILE *maps = fopen("/proc/self/maps", "r");
    bool found = false;
    chunk_path(f, 0, path);
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        char *end;
        const uintptr_t lo = strtoull(line, &end, 16), hi = strtoull(end + 1, NULL, 16);
        if ((uintptr_t)data >= lo && (uintptr_t)data < hi) found = strstr(line, path) != NULL;
    }
    fclose(maps);
    return found;
}

/* Truncates the mapped file of chunk 0 to `left` bytes. Reads of the remaining pages return zeros. */
static void cut_while_mapped(off_t left)
{
    fixture f;
    char path[160];
    const int64_t k = 0;
    cb_pinned held;
    cb_task_count count = {0};
    struct sigaction before, now;
    void *buffer;
    const int files = open_files();
    assert_int_equal(sigaction(SIGBUS, NULL, &before), 0);
    set_up(&f, raw);
    chunk_path(&f, 0, path);
    cb_arena *arena = new_arena();
    assert_int_equal(cb_arena_alloc(arena, chunk_size, "chunk", &buffer, NULL), CUBED_OK);
    const size_t mark = cb_arena_mark(arena);
    cb_want want = {.node = f.node, .idx = &k, .mapped = true, .buffer = buffer};
    must(cb_chunks_want(f.chunks, &(cb_chunk_reader){.arena = arena, .count = &count}, &want, &held,
                        NULL),
         &(cubed_error){0});
    assert_true(is_mapped(&f, held.data));
    assert_int_equal(count.stored_read, chunk_size);
    assert_memory_equal(held.data, f.data, chunk_size);
    if (left >= 0) assert_int_equal(truncate(path, left), 0);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t there = left < 0 ? chunk_size : (size_t)left / page * page;
    assert_memory_equal(held.data, f.data, there);
    for (size_t i = there + page; i < chunk_size; i += page) assert_int_equal(held.data[i], 0);
    cb_arena_release(arena, mark);
    assert_false(is_mapped(&f, held.data));
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_chunks_check(f.chunks, &err), left < 0 ? CUBED_OK : CUBED_E_IO);
    if (left >= 0) assert_non_null(strstr(err.message, "src: a chunk has been changed"));
    /* Readers that do not map the file read its present contents. */
    want.mapped = false;
    assert_int_equal(cb_chunks_want(f.chunks, &(cb_chunk_reader){.arena = arena, .count = &count},
                                    &want, &held, NULL),
                     left < 0 ? CUBED_OK : CUBED_E_FORMAT);
    assert_ptr_equal(held.data, buffer);
    cb_arena_free(arena);
    tear_down(&f);
    assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
    assert_ptr_equal(before.sa_handler, now.sa_handler);
    assert_int_equal(open_files(), files);
}

static void test_mapped_files(void **state)
{
    (void)state;
    cut_while_mapped(-1);
    cut_while_mapped(0);
    cut_while_mapped((off_t)chunk_size / 2 + 100);
    cut_while_mapped((off_t)chunk_size - 1); /* raises nothing */
}

/* Reads the part of chunk 0 from element `lo` on: the whole chunk is mapped if the part is long enough. */
static void want_part(const fixture *f, int64_t lo, int64_t n, bool mapped)
{
    const int64_t k = 0;
    const cb_box part = {.ndim = 1, .lo = {lo}, .hi = {lo + n}};
    cb_task_count count = {0};
    cb_pinned held;
    void *buffer;
    cb_arena *arena = new_arena();
    assert_int_equal(cb_arena_alloc(arena, (size_t)n * sizeof *f->data, "part", &buffer, NULL),
                     CUBED_OK);
    const cb_want want = {
        .node = f->node, .idx = &k, .subread = &part, .mapped = true, .buffer = buffer};
    must(cb_chunks_want(f->chunks, &(cb_chunk_reader){.arena = arena, .count = &count}, &want,
                        &held, NULL),
         &(cubed_error){0});
    assert_int_equal(is_mapped(f, held.data), mapped);
    assert_int_equal(held.lo[0], mapped ? 0 : lo);
    assert_int_equal(held.stride[0], sizeof *f->data);
    assert_memory_equal(held.data + (lo - held.lo[0]) * held.stride[0], f->data + lo,
                        (size_t)n * sizeof *f->data);
    assert_int_equal(count.bytes_read, (size_t)n * sizeof *f->data);
    assert_int_equal(count.stored_read, (size_t)n * sizeof *f->data);
    cb_arena_free(arena);
}

static void test_mapped_parts(void **state)
{
    const int64_t least = (32 << 10) / sizeof(double);
    fixture f;
    (void)state;
    set_up(&f, raw);
    want_part(&f, 0, least, true);
    want_part(&f, 1001, least, true);
    want_part(&f, CHUNK - least, least, true);
    want_part(&f, 1001, least - 1, false);
    tear_down(&f);
}

/* Some parts are mapped and some copied; then the cheaper method is used, including the cost of unmapping. */
static void test_mapping_where_it_pays(void **state)
{
    const uint64_t kib = 1 << 10, mib = kib << 10;
    cb_map_costs mapped = {0}, copied = {0};
    (void)state;
    assert_true(cb_map_pays(&mapped, &copied));
    mapped = (cb_map_costs){7 * mib, UINT64_MAX};
    assert_true(cb_map_pays(&mapped, &copied));
    mapped = (cb_map_costs){8 * mib, 8 * kib * 5};
    assert_false(cb_map_pays(&mapped, &copied));
    copied = (cb_map_costs){64 * mib, 64 * kib * 114};
    assert_true(cb_map_pays(&mapped, &copied));
    mapped = (cb_map_costs){80 * mib, 80 * kib * 40};
    assert_true(cb_map_pays(&mapped, &copied));
    mapped = (cb_map_costs){80 * mib, 80 * kib * 74};
    assert_false(cb_map_pays(&mapped, &copied));
}

/* A task that reads the file fails, and puts nothing. */
static void test_nothing_is_put_when_a_file_changed(void **state)
{
    fixture f;
    char path[160];
    const int64_t k = 0;
    cb_pinned held;
    cb_task_count count = {0};
    (void)state;
    set_up(&f, raw);
    cb_arena *arena = new_arena();
    const cb_want want = {.node = f.node, .idx = &k, .mapped = true};
    assert_int_equal(cb_chunks_want(f.chunks, &(cb_chunk_reader){.arena = arena, .count = &count},
                                    &want, &held, NULL),
                     CUBED_OK);
    chunk_path(&f, 0, path);
    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(held.data[chunk_size - 1], 0);
    assert_int_equal(
        cb_chunks_put(f.chunks, f.plan->stages[0].outs[0].node, &k, f.data, arena, &count, NULL),
        CUBED_E_IO);
    cb_arena_free(arena);
    tear_down(&f);
}

static sigjmp_buf back;

static void theirs(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

/* Faults outside of mappings go to the previous handler; a handler that the program installs later is kept. */
static void test_handlers_of_others(void **state)
{
    struct sigaction own = {.sa_handler = theirs}, before, now;
    char path[64];
    const int fd = mkstemp(test_path(path, sizeof path, "cubed-chunks-XXXXXX"));
    (void)state;
    assert_int_equal(sigaction(SIGBUS, &own, &before), 0);
    assert_true(cb_map_begin());
    assert_true(cb_map_begin());
    const volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    bool came = sigsetjmp(back, 1) != 0;
    if (!came) (void)*p; /* raises SIGBUS, because the file is empty */
    assert_true(came);
    cb_map_end();
    cb_map_end();
    assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, theirs);
    assert_true(cb_map_begin());
    own.sa_handler = SIG_DFL;
    assert_int_equal(sigaction(SIGBUS, &own, &now), 0);
    assert_false(cb_map_begin()); /* mapping is not used if no handler would report the fault */
    cb_map_end();
    own.sa_handler = theirs;
    assert_int_equal(sigaction(SIGBUS, &own, NULL), 0);
    /* returns our handler, so nobody has replaced it */
    assert_int_equal(sigaction(SIGBUS, &now, NULL), 0);
    assert_true(cb_map_begin());
    cb_map_end();
    assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
    munmap((void *)(uintptr_t)p, 4096);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chunk_is_brought_once),
        cmocka_unit_test(test_a_chunk_that_is_damaged),
        cmocka_unit_test(test_offers_follow_the_order_of_the_task),
        cmocka_unit_test(test_blocks_that_runs_share),
        cmocka_unit_test(test_a_block_is_decoded_once),
        cmocka_unit_test(test_blocks_of_chunks_that_change),
        cmocka_unit_test(test_mapped_files),
        cmocka_unit_test(test_mapped_parts),
        cmocka_unit_test(test_mapping_where_it_pays),
        cmocka_unit_test(test_nothing_is_put_when_a_file_changed),
        cmocka_unit_test(test_handlers_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
