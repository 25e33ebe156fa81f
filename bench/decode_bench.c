/* The quadratic means of two stored winds beside the limit: reading and decoding the same chunks
 * with the same libraries and threads, and nothing else. Interleaved; medians of the ratio. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cubed/cubed.h"
#include "plan/geom.h"
#include "zarr/zarr.h"

enum { ROUNDS = 9, MAX_THREADS = 64 };

static cubed_error err;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != CUBED_OK) {                                                                  \
            fprintf(stderr, "%s\n", err.message);                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct decoding {
    cb_zarr_array *array[2];
    cb_grid grid;
    atomic_long next;
} decoding;

static void *decode_chunks(void *arg)
{
    decoding *d = arg;
    const cb_zarr_meta *m = cb_zarr_get_meta(d->array[0]);
    cubed_error e = CUBED_ERROR_INIT;
    cb_arena *scratch;
    void *dst = aligned_alloc(64, (cb_zarr_chunk_bytes(m) + 63) / 64 * 64);
    long n = (long)cb_grid_count(&d->grid);
    if (!dst || cb_arena_new(&cb_system_allocator, cb_zarr_read_need(m), &scratch, &e)) exit(1);
    for (long i; (i = atomic_fetch_add(&d->next, 1)) < 2 * n;) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_grid_unravel(&d->grid, i / 2, idx);
        if (cb_zarr_read_chunk(d->array[i % 2], idx, dst, scratch, NULL, &e)) exit(1);
    }
    cb_arena_free(scratch);
    free(dst);
    return NULL;
}

static double run_limit(decoding *d, unsigned threads)
{
    pthread_t id[MAX_THREADS];
    double start = now();
    atomic_store(&d->next, 0);
    for (unsigned t = 0; t < threads; t++) {
        if (pthread_create(&id[t], NULL, decode_chunks, d) != 0) exit(1);
    }
    for (unsigned t = 0; t < threads; t++) pthread_join(id[t], NULL);
    return now() - start;
}

static cubed_plan *make_plan(cubed_context *ctx, const char *dir, double *const *out,
                             unsigned threads)
{
    char url[4096];
    cubed_array *wind[2];
    cubed_target targets[3];
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_fold_options fold = CUBED_FOLD_OPTIONS_INIT;
    const int axis = 0;
    cubed_plan *plan;
    fold.axes = &axis;
    fold.naxes = 1;
    o.allowed_mem = 100000000;
    o.max_workers = threads;
    memset(targets, 0, sizeof targets);
    for (int k = 0; k < 2; k++) {
        snprintf(url, sizeof url, "%s::%c", dir, "uv"[k]);
        OK(cubed_array_open(ctx, url, &wind[k], &err));
    }
    for (int k = 0; k < 3; k++) {
        cubed_array *args[2] = {wind[k == 1], wind[k != 0]}, *product;
        OK(cubed_elementwise(CUBED_OP_MULTIPLY, args, 2, &product, &err));
        OK(cubed_reduce(CUBED_FOLD_MEAN, product, &fold, &targets[k].array, &err));
        targets[k].data = out[k];
    }
    OK(cubed_plan_new(ctx, targets, 3, &o, &plan, &err));
    return plan;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    unsigned threads = (unsigned)atoi(argv[2]);
    decoding d;
    cubed_store *store;
    cubed_context *ctx;
    double *out[3], ratio[ROUNDS], best = 1e9;
    if (threads < 1 || threads > MAX_THREADS) return 2;
    OK(cb_store_open(&cb_system_allocator, argv[1], &store, &err));
    OK(cb_zarr_open(store, "u", &d.array[0], &err));
    OK(cb_zarr_open(store, "v", &d.array[1], &err));
    const cb_zarr_meta *m = cb_zarr_get_meta(d.array[0]);
    d.grid = cb_grid_regular(m->ndim, m->shape, m->chunk);
    size_t result = (size_t)(m->shape[1] * m->shape[2] * m->shape[3]);
    for (int k = 0; k < 3; k++) out[k] = calloc(result, sizeof(double));
    OK(cubed_context_new(NULL, &ctx, &err));
    cubed_plan *plan = make_plan(ctx, argv[1], out, threads);
    for (int r = 0; r < ROUNDS; r++) {
        double before = run_limit(&d, threads), start = now();
        OK(cubed_run(plan, NULL, NULL, &err));
        double engine = now() - start, after = run_limit(&d, threads);
        ratio[r] = (before + after) / 2 / engine;
        if (before < best) best = before;
    }
    qsort(ratio, ROUNDS, sizeof *ratio, by_value);
    double bytes = 2.0 * 8 * (double)result * (double)m->shape[0];
    printf("%-10s %u threads  read+decode %5.1f GB/s  engine/limit %.2f (%.2f to %.2f)\n", argv[3],
           threads, bytes / best * 1e-9, ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1]);
    return 0;
}
