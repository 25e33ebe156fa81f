/* Prints nanoseconds per element and GB/s of kernels on vectors that stay in the first-level cache, for each instruction set of
 * this machine. Then prints those of copies of boxes, compared with memcpy.
 *
 *   kernel_bench [name]    only kernels whose name contains `name` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/kernel.h"

typedef struct bench {
    const cb_kernels *k;
    const char *filter;
    char *dst, *a, *b, *c;
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Repeats `call` until a run takes two milliseconds. Returns the best of five such runs, in seconds. */
typedef void (*call_fn)(void *ctx);
static double best_time(call_fn call, void *ctx)
{
    double best = 1e9;
    long repeats = 1;
    for (int run = 0; run < 5;) {
        double start = now();
        for (long i = 0; i < repeats; i++) call(ctx);
        double t = now() - start;
        if (t < 2e-3) {
            repeats *= 2;
            continue;
        }
        if (t / (double)repeats < best) best = t / (double)repeats;
        run++;
    }
    return best;
}

static void report(const bench *b, const char *name, const char *type, call_fn call, void *ctx,
                   double elements, double bytes)
{
    char label[64];
    snprintf(label, sizeof label, "%s %s", name, type);
    if (b->filter && !strstr(label, b->filter)) return;
    double t = best_time(call, ctx);
    printf("%-10s %-32s %8.3f ns/element %8.2f GB/s\n", b->k ? b->k->isa : "", label,
           t / elements * 1e9, bytes / t * 1e-9);
    (void)fflush(stdout);
}

/* Fills a vector with values around 1 that no operation treats specially, or with small numbers for integers. */
static void fill(char *p, cubed_dtype t)
{
    size_t size = cubed_dtype_size(t);
    for (size_t i = 0; i < CB_VECTOR; i++) {
        double v = 0.5 + (double)(i * 37 % CB_VECTOR) / CB_VECTOR;
        float f = (float)v;
        memset(p + i * size, 0, size);
        if (t == CUBED_FLOAT32 || t == CUBED_COMPLEX64)
            memcpy(p + i * size, &f, 4);
        else if (t == CUBED_FLOAT64 || t == CUBED_COMPLEX128)
            memcpy(p + i * size, &v, 8);
        else
            p[i * size] = (char)(t == CUBED_BOOL ? i * 37 % 3 == 0 : i % 11);
    }
}

typedef struct elem_call {
    cb_elem_fn fn;
    const bench *b;
} elem_call;
static void call_elem(void *ctx)
{
    elem_call *e = ctx;
    e->fn(e->b->dst, e->b->a, e->b->b, e->b->c, CB_VECTOR);
}

static void bench_elem(const bench *b)
{
    for (int op = 0; op < CUBED_OP_COUNT; op++) {
        const char *name = cubed_op_name((cubed_op)op);
        cubed_op found;
        int arity = 0;
        cubed_op_parse(name, &found, &arity);
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            if (!b->k->elem[op][t]) continue;
            elem_call e = {b->k->elem[op][t], b};
            fill(b->a, op == CUBED_OP_WHERE ? CUBED_BOOL : (cubed_dtype)t);
            if (op == CUBED_OP_RANDOM_UNIFORM) b->k->index((int64_t *)b->a, 1000, 1, CB_VECTOR);
            fill(b->b, (cubed_dtype)t);
            fill(b->c, (cubed_dtype)t);
            double bytes = (double)cubed_dtype_size((cubed_dtype)t) * arity +
                           (double)cubed_dtype_size(cb_op_result((cubed_op)op, (cubed_dtype)t));
            report(b, name, cubed_dtype_name((cubed_dtype)t), call_elem, &e, CB_VECTOR,
                   bytes * CB_VECTOR);
        }
    }
    for (int s = 0; s < b->k->nsuper; s++) {
        char name[64] = "";
        const cb_super *row = &b->k->super[s];
        elem_call e = {b->k->super_fn[s][CUBED_FLOAT64], b};
        fill(b->a, row->op[0] == CB_SUPER_CAST ? (cubed_dtype)row->from : CUBED_FLOAT64);
        fill(b->b, CUBED_FLOAT64);
        fill(b->c, CUBED_FLOAT64);
        for (int i = 0; i < row->n; i++) {
            const size_t at = strlen(name);
            if (i > 0)
                snprintf(name + at, sizeof name - at, " %s/%d", cubed_op_name((cubed_op)row->op[i]),
                         row->pos[i - 1]);
            else
                snprintf(name, sizeof name, "%s",
                         row->op[0] == CB_SUPER_CAST ? cubed_dtype_name((cubed_dtype)row->from)
                                                     : cubed_op_name((cubed_op)row->op[0]));
        }
        report(b, name, "float64", call_elem, &e, CB_VECTOR, 32.0 * CB_VECTOR);
    }
}

typedef struct cast_call {
    cb_cast_fn fn;
    const bench *b;
} cast_call;
static void call_cast(void *ctx)
{
    cast_call *e = ctx;
    e->fn(e->b->dst, e->b->a, CB_VECTOR);
}

static void bench_cast(const bench *b)
{
    for (int from = 0; from < CUBED_DTYPE_COUNT; from++) {
        for (int to = 0; to < CUBED_DTYPE_COUNT; to++) {
            char name[64];
            cast_call e = {b->k->cast[from][to], b};
            fill(b->a, (cubed_dtype)from);
            snprintf(name, sizeof name, "cast %s", cubed_dtype_name((cubed_dtype)from));
            double bytes =
                (double)(cubed_dtype_size((cubed_dtype)from) + cubed_dtype_size((cubed_dtype)to));
            report(b, name, cubed_dtype_name((cubed_dtype)to), call_cast, &e, CB_VECTOR,
                   bytes * CB_VECTOR);
        }
    }
}

typedef struct reduce_call {
    const cb_reduce_fns *fns;
    const bench *b;
    void *planes[CB_REDUCE_MAX_PLANES];
    size_t r; /* for `runs`: number of elements of each run */
} reduce_call;
static void call_run(void *ctx)
{
    reduce_call *e = ctx;
    if (e->fns->lanes) {
        e->fns->lanes(e->planes[0], e->b->a, CB_VECTOR);
        /* Reset the state, because the products would become denormal. */
        if (++e->r % (CB_STRETCH / CB_VECTOR) == 0) e->fns->init(e->planes, CB_LANES);
    } else
        e->fns->run(e->planes, e->b->a, CB_VECTOR, 1);
}
static void call_rows(void *ctx)
{
    reduce_call *e = ctx;
    e->fns->rows(e->planes, e->b->a, CB_VECTOR, 1);
}
static void call_runs(void *ctx)
{
    reduce_call *e = ctx;
    e->fns->runs(e->planes, e->b->a, e->r, CB_VECTOR / e->r, 1);
}

static void bench_reduce(const bench *b)
{
    static const char *const names[CB_REDUCTIONS] = {"sum", "prod",   "min",    "max",
                                                     "m2",  "argmin", "argmax", "nan m2"};
    for (int f = 0; f < CB_REDUCTIONS; f++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            reduce_call e = {&b->k->reduction[f][t], b, {b->dst, b->c, b->b}, 0};
            char name[64];
            if (!e.fns->init) continue;
            fill(b->a, (cubed_dtype)t);
            fill(b->c, (cubed_dtype)t);
            e.fns->init(e.planes, CB_VECTOR);
            double bytes = (double)cubed_dtype_size((cubed_dtype)t) * CB_VECTOR;
            snprintf(name, sizeof name, "%s run", names[f]);
            report(b, name, cubed_dtype_name((cubed_dtype)t), call_run, &e, CB_VECTOR, bytes);
            e.fns->init(e.planes, CB_VECTOR);
            snprintf(name, sizeof name, "%s rows", names[f]);
            report(b, name, cubed_dtype_name((cubed_dtype)t), call_rows, &e, CB_VECTOR, 3 * bytes);
            for (e.r = 3; e.r <= 12; e.r *= 2) {
                e.fns->init(e.planes, CB_VECTOR);
                snprintf(name, sizeof name, "%s runs of %zu", names[f], e.r);
                report(b, name, cubed_dtype_name((cubed_dtype)t), call_runs, &e, CB_VECTOR, bytes);
            }
        }
    }
}

enum { GEMM = 768 };
typedef struct gemm_call {
    cb_gemm_fn fn;
    void *a, *b, *c, *scratch;
} gemm_call;
static void call_gemm(void *ctx)
{
    gemm_call *e = ctx;
    const cb_gemm g = {GEMM, GEMM, GEMM, e->a,        e->b,       e->c,
                       GEMM, GEMM, GEMM, CB_GEMM_SET, e->scratch, NULL};
    e->fn(&g);
}

/* An element is one multiplication and one addition, so 2 / (ns/element) is GFLOP/s. */
static void bench_gemm(bench *b)
{
    for (int t = CUBED_BOOL; t < CUBED_DTYPE_COUNT; t++) {
        size_t size = (size_t)GEMM * GEMM * cubed_dtype_size((cubed_dtype)t);
        size_t scratch = cb_gemm_scratch((cubed_dtype)t, GEMM, GEMM, GEMM);
        gemm_call e = {b->k->gemm[t], calloc(1, size), calloc(1, size), calloc(1, size), NULL};
        e.scratch = aligned_alloc(64, (scratch + 63) / 64 * 64);
        if (e.a && e.b && e.c && e.scratch)
            report(b, "matmul", cubed_dtype_name((cubed_dtype)t), call_gemm, &e,
                   (double)GEMM * GEMM * GEMM, 3 * (double)size);
        free(e.a);
        free(e.b);
        free(e.c);
        free(e.scratch);
    }
}

typedef struct box_call {
    int64_t shape[2], ds[2], ss[2];
    size_t size;
    char *dst, *src;
    const cb_kernels *k;
} box_call;
static void call_box(void *ctx)
{
    box_call *e = ctx;
    cb_copy_box(2, e->shape, e->size, e->dst, e->ds, e->src, e->ss);
}
static void call_memcpy(void *ctx)
{
    box_call *e = ctx;
    memcpy(e->dst, e->src, (size_t)(e->shape[0] * e->shape[1]) * e->size);
}
static void call_stream(void *ctx)
{
    box_call *e = ctx;
    e->k->stream(e->dst, e->src, (size_t)(e->shape[0] * e->shape[1]) * e->size);
    cb_stream_fence();
}

static void bench_boxes(bench *b)
{
    const size_t room = (size_t)64 << 20;
    char *dst = malloc(room), *src = malloc(room);
    cb_kernels k;
    b->k = NULL;
    if (dst && src && cb_kernels_init(NULL, &k)) {
        memset(dst, 1, room);
        memset(src, 1, room);
        for (size_t size = 1; size <= 16; size *= 2) {
            int64_t s = (int64_t)size, rows = 2000, columns = (int64_t)(room / 2000 / size);
            double n = (double)(rows * columns), bytes = 2 * n * (double)size;
            char type[16];
            snprintf(type, sizeof type, "%zu bytes", size);
            box_call e = {{rows, columns}, {columns * s, s}, {columns * s, s}, size, dst, src, &k};
            report(b, "memcpy", type, call_memcpy, &e, n, bytes);
            report(b, "stream", type, call_stream, &e, n, bytes);
            e.ss[0] = s;
            e.ss[1] = rows * s;
            report(b, "transpose", type, call_box, &e, n, bytes);
            e.ss[0] = columns * s;
            e.ss[1] = -s;
            box_call flip = e;
            flip.src = src + (columns - 1) * s;
            report(b, "flip", type, call_box, &flip, n, bytes);
            e.ss[0] = e.ss[1] = 0;
            report(b, "fill", type, call_box, &e, n, bytes / 2);
        }
    }
    free(dst);
    free(src);
}

int main(int argc, char **argv)
{
    static _Alignas(64) char dst[CB_VECTOR * 16], x[CB_VECTOR * 16], y[CB_VECTOR * 16],
        z[CB_VECTOR * 16];
    bench b = {.filter = argc > 1 ? argv[1] : NULL, .dst = dst, .a = x, .b = y, .c = z};
    const char *names[5];
    cb_kernels_available(names);
    for (int i = 0; names[i]; i++) {
        cb_kernels k;
        if (!cb_kernels_init(names[i], &k)) return 1;
        b.k = &k;
        bench_elem(&b);
        bench_gemm(&b);
        bench_cast(&b);
        bench_reduce(&b);
    }
    bench_boxes(&b);
    return 0;
}
