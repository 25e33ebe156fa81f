/* In-memory expressions beside the machine's streaming bandwidth, in the same run.
 *
 * The limit is a fused loop over three inputs and one output (or none, for the sum) with stores past
 * the caches, by as many threads: what hand-written code reaches. Rounds of (limit, engine, limit)
 * are interleaved, because bandwidth on shared machines swings; the median of the ratios counts. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cubed/cubed.h"

enum { ROUNDS = 11, MAX_THREADS = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct part {
    pthread_t id;
    const double *a, *b, *c;
    double *out; /* NULL: sum */
    size_t n;
    double sum;
} part;

static void *limit_part(void *arg)
{
    part *p = arg;
    const double *a = p->a, *b = p->b, *c = p->c;
    if (!p->out) {
        __m256d s[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
                        _mm256_setzero_pd()};
        for (size_t i = 0; i + 16 <= p->n; i += 16) {
            for (size_t k = 0; k < 4; k++) {
                size_t j = i + 4 * k;
                s[k] = _mm256_add_pd(s[k], _mm256_add_pd(_mm256_loadu_pd(a + j),
                                                         _mm256_add_pd(_mm256_loadu_pd(b + j),
                                                                       _mm256_loadu_pd(c + j))));
            }
        }
        double t[4];
        _mm256_storeu_pd(t, _mm256_add_pd(_mm256_add_pd(s[0], s[1]), _mm256_add_pd(s[2], s[3])));
        p->sum = t[0] + t[1] + t[2] + t[3];
        return NULL;
    }
    for (size_t i = 0; i + 4 <= p->n; i += 4)
        _mm256_stream_pd(p->out + i, _mm256_add_pd(_mm256_loadu_pd(a + i),
                                                   _mm256_add_pd(_mm256_loadu_pd(b + i),
                                                                 _mm256_loadu_pd(c + i))));
    _mm_sfence();
    return NULL;
}

static double run_limit(double *const *in, double *out, size_t n, unsigned threads)
{
    part parts[MAX_THREADS];
    size_t each = n / threads / 16 * 16;
    double start = now();
    for (unsigned t = 0; t < threads; t++) {
        size_t at = t * each;
        parts[t] = (part){.a = in[0] + at,
                          .b = in[1] + at,
                          .c = in[2] + at,
                          .out = out ? out + at : NULL,
                          .n = each};
        if (pthread_create(&parts[t].id, NULL, limit_part, &parts[t]) != 0) exit(1);
    }
    for (unsigned t = 0; t < threads; t++) pthread_join(parts[t].id, NULL);
    return now() - start;
}

static cubed_error err;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != CUBED_OK) {                                                                  \
            fprintf(stderr, "%s\n", err.message);                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* sqrt((a-b)**2 + c**2), or its sum. */
static cubed_plan *make_plan(cubed_context *ctx, double *const *in, void *out, size_t n, bool sum,
                             unsigned threads)
{
    const int64_t shape[1] = {(int64_t)n}, chunk[1] = {(int64_t)(n / threads / 64)};
    cubed_array *x[3], *y, *z;
    for (int k = 0; k < 3; k++)
        OK(cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, chunk, in[k], &x[k], &err));
    OK(cubed_elementwise(CUBED_OP_SUBTRACT, x, 2, &y, &err));
    OK(cubed_elementwise(CUBED_OP_SQUARE, &y, 1, &z, &err));
    cubed_array *args[2] = {z, NULL};
    OK(cubed_elementwise(CUBED_OP_SQUARE, &x[2], 1, &args[1], &err));
    OK(cubed_elementwise(CUBED_OP_ADD, args, 2, &y, &err));
    OK(cubed_elementwise(CUBED_OP_SQRT, &y, 1, &z, &err));
    if (sum) {
        y = z;
        OK(cubed_reduce(CUBED_FOLD_SUM, y, NULL, &z, &err));
    }
    cubed_target target = {.array = z, .data = out};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    o.max_workers = threads;
    OK(cubed_plan_new(ctx, &target, 1, &o, &plan, &err));
    return plan; /* the benchmark ends with the process: arrays are left to it */
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    size_t n = (size_t)1 << 26; /* 512 MiB each */
    double *in[3], *out = aligned_alloc(64, n * sizeof *out), sum = 0;
    cubed_context *ctx;
    if (threads < 1 || threads > MAX_THREADS || !out) return 1;
    for (int k = 0; k < 3; k++) {
        in[k] = aligned_alloc(64, n * sizeof(double));
        if (!in[k]) return 1;
        for (size_t i = 0; i < n; i++) in[k][i] = (double)(i % 1000) * (k + 1);
    }
    for (size_t i = 0; i < n; i++) out[i] = 0;
    OK(cubed_context_new(NULL, &ctx, &err));
    for (int with_sum = 0; with_sum < 2; with_sum++) {
        cubed_plan *plan = make_plan(ctx, in, with_sum ? (void *)&sum : out, n, with_sum, threads);
        double ratio[ROUNDS], best = 1e9, bytes = (with_sum ? 3.0 : 4.0) * 8 * (double)n;
        for (int r = 0; r < ROUNDS; r++) {
            double before = run_limit(in, with_sum ? NULL : out, n, threads), start = now();
            OK(cubed_run(plan, NULL, NULL, &err));
            double engine = now() - start;
            if (!with_sum && out[7] != sqrt(49.0 + 441.0)) {
                fprintf(stderr, "wrong: %g\n", out[7]);
                return 1;
            }
            double after = run_limit(in, with_sum ? NULL : out, n, threads);
            ratio[r] = (before + after) / 2 / engine;
            if (before < best) best = before;
        }
        qsort(ratio, ROUNDS, sizeof *ratio, by_value);
        printf("%-28s %u threads  limit %5.1f GB/s  engine/limit %.2f (%.2f to %.2f)\n",
               with_sum ? "sum(sqrt((a-b)**2+c**2))" : "sqrt((a-b)**2+c**2)", threads,
               bytes / best * 1e-9, ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1]);
    }
    return 0;
}
