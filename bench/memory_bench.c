/* Compares in-memory expressions with the machine's streaming bandwidth, in the same process.
 *
 *   memory_bench [THREADS [MEGABYTES]]     megabytes of each of the four arrays
 *
 * The limit is a loop over three inputs and one output (no output for the sum) with stores that bypass the caches, by as
 * many threads. Hand-written code reaches this limit. Rounds of (limit, engine, limit) are interleaved, because bandwidth on
 * shared machines varies. The result is the median of the ratios. Prints one JSON object per line. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cubed/cubed.h"

enum { ROUNDS = 11, MAX_THREADS = 256 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Adds integers, which is equally fast for all values of the bytes. */
typedef struct part {
    pthread_t id;
    const __m256i *a, *b, *c;
    __m256i *out; /* array for the results; NULL if the sum is computed */
    size_t n;
    __m256i sum;
} part;

static __m256i add3(const part *p, size_t i)
{
    return _mm256_add_epi64(
        _mm256_loadu_si256(p->a + i),
        _mm256_add_epi64(_mm256_loadu_si256(p->b + i), _mm256_loadu_si256(p->c + i)));
}

static void *limit_part(void *arg)
{
    part *p = arg;
    if (p->out) {
        for (size_t i = 0; i < p->n; i++) _mm256_stream_si256(p->out + i, add3(p, i));
        _mm_sfence();
        return NULL;
    }
    __m256i s[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                    _mm256_setzero_si256()};
    for (size_t i = 0; i + 4 <= p->n; i += 4) {
        for (size_t k = 0; k < 4; k++) s[k] = _mm256_add_epi64(s[k], add3(p, i + k));
    }
    p->sum = _mm256_add_epi64(_mm256_add_epi64(s[0], s[1]), _mm256_add_epi64(s[2], s[3]));
    return NULL;
}

typedef struct arrays {
    void *in[3], *out;
    size_t bytes; /* bytes of each array */
    cubed_dtype dtype;
} arrays;

static double run_limit(const arrays *x, bool sum, unsigned threads)
{
    part parts[MAX_THREADS];
    size_t each = x->bytes / threads / sizeof(__m256i);
    double start = now();
    for (unsigned t = 0; t < threads; t++) {
        size_t at = t * each;
        parts[t] = (part){.a = (const __m256i *)x->in[0] + at,
                          .b = (const __m256i *)x->in[1] + at,
                          .c = (const __m256i *)x->in[2] + at,
                          .out = sum ? NULL : (__m256i *)x->out + at,
                          .n = each};
        if (pthread_create(&parts[t].id, NULL, limit_part, &parts[t]) != 0) exit(1);
    }
    for (unsigned t = 0; t < threads; t++) pthread_join(parts[t].id, NULL);
    return now() - start;
}

static cubed_error err;
static void ok(cubed_status status)
{
    if (status == CUBED_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

/* Plans sqrt((a-b)**2 + c**2), or its sum. */
static cubed_plan *make_plan(cubed_context *ctx, const arrays *in, void *result, bool sum,
                             unsigned threads)
{
    int64_t n = (int64_t)(in->bytes / cubed_dtype_size(in->dtype));
    const int64_t shape[1] = {n}, chunk[1] = {n / threads / 64};
    cubed_array *x[3], *y, *z;
    for (int k = 0; k < 3; k++)
        ok(cubed_array_from_memory(ctx, in->dtype, 1, shape, NULL, chunk, in->in[k], &x[k], &err));
    ok(cubed_elementwise(CUBED_OP_SUBTRACT, x, 2, &y, &err));
    ok(cubed_elementwise(CUBED_OP_SQUARE, &y, 1, &z, &err));
    cubed_array *args[2] = {z, NULL};
    ok(cubed_elementwise(CUBED_OP_SQUARE, &x[2], 1, &args[1], &err));
    ok(cubed_elementwise(CUBED_OP_ADD, args, 2, &y, &err));
    ok(cubed_elementwise(CUBED_OP_SQRT, &y, 1, &z, &err));
    if (sum) {
        y = z;
        ok(cubed_reduce(CUBED_REDUCE_SUM, y, NULL, &z, &err));
    }
    cubed_target target = {.array = z, .data = result};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    o.max_workers = threads;
    ok(cubed_plan_new(ctx, &target, 1, &o, &plan, &err));
    return plan; /* arrays are not freed, because the process ends with the benchmark */
}

static void fill(const arrays *x)
{
    size_t n = x->bytes / cubed_dtype_size(x->dtype);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) {
            double v = (double)(i % 1000) * (k + 1);
            if (x->dtype == CUBED_FLOAT64)
                ((double *)x->in[k])[i] = v;
            else
                ((float *)x->in[k])[i] = (float)v;
        }
    }
}

/* Returns true if a result is right. Element i of the arrays is i % 1000 times 1, 2 and 3, so the result is sqrt(10) times i %
 * 1000. */
static bool right(const arrays *x, bool sum, const void *result)
{
    size_t n = x->bytes / cubed_dtype_size(x->dtype);
    bool wide = x->dtype == CUBED_FLOAT64;
    double tolerance = wide ? 1e-12 : 1e-6, total = 0;
    if (!sum) {
        for (size_t i = 0; i < n; i++) {
            double v = wide ? ((const double *)result)[i] : ((const float *)result)[i];
            double e = sqrt(10.0) * (double)(i % 1000);
            if (!(fabs(v - e) <= tolerance * e)) return false;
        }
        return true;
    }
    for (size_t i = 0; i < n; i++) total += (double)(i % 1000);
    double v = wide ? *(const double *)result : *(const float *)result;
    return fabs(v - sqrt(10.0) * total) <= tolerance * v;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(cubed_context *ctx, const arrays *x, bool sum, unsigned threads)
{
    double one = 0, ratio[ROUNDS], limit[ROUNDS];
    void *result = sum ? (void *)&one : x->out;
    cubed_plan *plan = make_plan(ctx, x, result, sum, threads);
    for (int r = 0; r < ROUNDS; r++) {
        double before = run_limit(x, sum, threads), start = now();
        ok(cubed_run(plan, NULL, NULL, &err));
        double engine = now() - start;
        if (r == 0 && !right(x, sum, result)) {
            fprintf(stderr, "memory_bench: wrong values\n");
            exit(1);
        }
        limit[r] = (before + run_limit(x, sum, threads)) / 2;
        ratio[r] = limit[r] / engine;
    }
    qsort(ratio, ROUNDS, sizeof *ratio, by_value);
    qsort(limit, ROUNDS, sizeof *limit, by_value);
    cubed_plan_unref(plan);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("{\"sum\": %s, \"dtype\": \"%s\", \"threads\": %u, \"limit_bytes_per_s\": %.4g, "
           "\"ratio\": [%.3f, %.3f, %.3f], \"arrays\": %zu, \"peak_rss\": %ld}\n",
           sum ? "true" : "false", x->dtype == CUBED_FLOAT64 ? "float64" : "float32", threads,
           (sum ? 3.0 : 4.0) * (double)x->bytes / limit[ROUNDS / 2], ratio[0], ratio[ROUNDS / 2],
           ratio[ROUNDS - 1], 4 * x->bytes, use.ru_maxrss * 1024);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    long megabytes = argc > 2 ? atol(argv[2]) : 512;
    if (threads < 1 || threads > MAX_THREADS || megabytes < 1) return 2;
    arrays x = {.bytes = (size_t)megabytes << 20};
    cubed_context *ctx;
    for (int k = 0; k < 4; k++) {
        void *p = aligned_alloc(64, x.bytes);
        if (!p) return 1;
        memset(p, 0, x.bytes);
        *(k < 3 ? &x.in[k] : &x.out) = p;
    }
    ok(cubed_context_new(NULL, &ctx, &err));
    static const cubed_dtype types[2] = {CUBED_FLOAT64, CUBED_FLOAT32};
    for (int t = 0; t < 2; t++) {
        x.dtype = types[t];
        fill(&x);
        measure(ctx, &x, false, threads);
        measure(ctx, &x, true, threads);
    }
    return 0;
}
