/* The bits of reductions, which follow from the order that plan/reduction.h documents: whole plans on every instruction set,
 * by one worker and by three, with and without partial reductions. Another program, which follows only the documentation, made
 * the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "kernel/kernel.h"

enum { CHUNK = 4500, LONGEST = 100000, PARTS = 2 * LONGEST, FAR = 1000003 };

/* Results for n elements. For float32 and float64: sum, product, mean and variance. For complex64 and complex128: both parts of
 * sum and product. Products are of 1 + x / 64. */
typedef struct row {
    int64_t n;
    double want[16];
} row;

/* clang-format off */
static const row table[] = {
    {0,{0, 1, NAN, NAN, 0, 1, NAN, NAN, 0, 0, 1, 0, 0, 0, 1, 0}},
    {1,{-1, 0x1.f800000000000p-1, -1, 0, -1, 0x1.f800000000000p-1, -1, 0, -1, 0x1.0151e80000000p-17, 0x1.f800000000000p-1, 0x1.0151e80000000p-23, -1, 0x1.0151e80000000p-17, 0x1.f800000000000p-1, 0x1.0151e80000000p-23}},
    {7,{-0x1.b8b5140000000p+0, 0x1.f2535c0000000p-1, -0x1.f7aa600000000p-3, 0x1.1ce2180000000p-3, -0x1.b8b513d0f2800p+0, 0x1.f2535fc45908fp-1, -0x1.f7aa5fca39b6ep-3, 0x1.1ce2173abd4c1p-3, -0x1.b8b5140000000p+0, -0x1.7a17de0000000p-4, 0x1.f2535c0000000p-1, -0x1.6fff600000000p-10, -0x1.b8b513d0f2800p+0, -0x1.7a17ddd178a00p-4, 0x1.f253602d03f33p-1, -0x1.6fff629741944p-10}},
    {8,{-0x1.b8b5140000000p+0, 0x1.f2535c0000000p-1, -0x1.b8b5140000000p-3, 0x1.06d2180000000p-3, -0x1.b8b513d1739f3p+0, 0x1.f2535fc4551bap-1, -0x1.b8b513d1739f3p-3, 0x1.06d218af8637ap-3, -0x1.b8b5140000000p+0, -0x1.9a7eb20000000p-3, 0x1.f2530e0000000p-1, -0x1.8f885e0000000p-9, -0x1.b8b513d1739f3p+0, -0x1.9a7eb2e8bc500p-3, 0x1.f2531097e3a05p-1, -0x1.8f8861a362628p-9}},
    {31,{-0x1.6307360000000p+0, 0x1.f4ee940000000p-1, -0x1.6e7b0e0000000p-5, 0x1.7cd8ea0000000p-5, -0x1.630735be4b36ap+0, 0x1.f4ee9724707aap-1, -0x1.6e7b0e2fc982bp-5, 0x1.7cd8e9bc59360p-5, -0x1.6307360000000p+0, 0x1.54cb620000000p-2, 0x1.f4f1a60000000p-1, 0x1.4b96a40000000p-8, -0x1.630735be4b36ap+0, 0x1.54cb6228af8f4p-2, 0x1.f4f1a86b2baacp-1, 0x1.4b96a5a2aea68p-8}},
    {32,{-0x1.62e9b00000000p+0, 0x1.f4ef7c0000000p-1, -0x1.62e9b00000000p-5, 0x1.7173c40000000p-5, -0x1.62e9aff74b36ap+0, 0x1.f4ef7e37a25f3p-1, -0x1.62e9aff74b36ap-5, 0x1.7173c48e0a274p-5, -0x1.62e9b00000000p+0, 0x1.54e1080000000p-2, 0x1.f4f28c0000000p-1, 0x1.4bac6c0000000p-8, -0x1.62e9aff74b36ap+0, 0x1.54e108c9af8f4p-2, 0x1.f4f28f47b16d1p-1, 0x1.4bac6d8955ca4p-8}},
    {33,{-0x1.62e9b00000000p+0, 0x1.f4ef7c0000000p-1, -0x1.58286c0000000p-5, 0x1.66b5620000000p-5, -0x1.62e9affb1bde2p+0, 0x1.f4ef7e378482dp-1, -0x1.58286c9668995p-5, 0x1.66b562018b2fcp-5, -0x1.62e9b00000000p+0, 0x1.3effb60000000p-2, 0x1.f4f2c60000000p-1, 0x1.3644020000000p-8, -0x1.62e9affb1bde2p+0, 0x1.3effb549af8f4p-2, 0x1.f4f2c7f9baff1p-1, 0x1.3644045e4b5e7p-8}},
    {127,{-0x1.91573e0000000p+0, 0x1.f383e20000000p-1, -0x1.94803e0000000p-7, 0x1.8a5a040000000p-7, -0x1.91573dd970364p+0, 0x1.f383ea4a2c056p-1, -0x1.94803e561c6f2p-7, 0x1.8a5a047a66e70p-7, -0x1.91573e0000000p+0, 0x1.9eabb60000000p+0, 0x1.f3931a0000000p-1, 0x1.943e400000000p-6, -0x1.91573dd970364p+0, 0x1.9eabb66ee7482p+0, 0x1.f393219bd9ef6p-1, 0x1.943e45f746083p-6}},
    {128,{-0x1.91573e0000000p+0, 0x1.f383e20000000p-1, -0x1.91573e0000000p-7, 0x1.874f3a0000000p-7, -0x1.91573e8e57de4p+0, 0x1.f383ea44a811ep-1, -0x1.91573e8e57de4p-7, 0x1.874f3907ef788p-7, -0x1.91573e0000000p+0, 0x1.a3387a0000000p+0, 0x1.f392340000000p-1, 0x1.98aec00000000p-6, -0x1.91573e8e57de4p+0, 0x1.a3387a6ee7482p+0, 0x1.f3923bae41177p-1, 0x1.98aec5af8a90ep-6}},
    {129,{-0x1.91573e0000000p+0, 0x1.f383e20000000p-1, -0x1.8e3ac80000000p-7, 0x1.84505a0000000p-7, -0x1.91573e0b47de4p+0, 0x1.f383ea48a700dp-1, -0x1.8e3ac87a5337dp-7, 0x1.8450599f114f2p-7, -0x1.91573e0000000p+0, 0x1.a3387a0000000p+0, 0x1.f392340000000p-1, 0x1.98aec00000000p-6, -0x1.91573e0b47de4p+0, 0x1.a3387a7456836p+0, 0x1.f3923bb23f0e2p-1, 0x1.98aec5b81cf27p-6}},
    {1000,{0x1.3bf5260000000p+1, 0x1.098bc20000000p+0, 0x1.438a640000000p-9, 0x1.0701480000000p-6, 0x1.3bf52501aedb2p+1, 0x1.098bc14124059p+0, 0x1.438a6355b1012p-9, 0x1.070148e88fc1fp-6, 0x1.3bf5260000000p+1, -0x1.3268d40000000p+1, 0x1.09d5a40000000p+0, -0x1.3ea63c0000000p-5, 0x1.3bf52501aedb2p+1, -0x1.3268d4230c3bap+1, 0x1.09d5a30eb38fbp+0, -0x1.3ea63bb1c6e33p-5}},
    {100000,{-0x1.e18a7a0000000p+3, 0x1.5466b20000000p-1, -0x1.3b952a0000000p-13, 0x1.d07b040000000p-7, -0x1.e18a7a1225006p+3, 0x1.5469972a4a7b1p-1, -0x1.3b95294090d5ep-13, 0x1.d07b03c6af72fp-7, -0x1.e18a7a0000000p+3, 0x1.54cc740000000p+1, 0x1.911a460000000p-1, 0x1.04d99c0000000p-5, -0x1.e18a7a1225006p+3, 0x1.54cc74e200ce8p+1, 0x1.911daedbbaa2bp-1, 0x1.04dbceed79f30p-5}},
};
/* clang-format on */

/* Returns input number i: a float32 between -1 and 1, of any of many magnitudes. */
static double value(uint32_t i)
{
    uint32_t r = i * 2654435761u;
    r ^= r >> 15;
    r *= 2246822519u;
    r ^= r >> 13;
    return ldexp((double)(r >> 8) - 0x1p23, -23 - (int)(r & 31));
}

static double *real_values, *near_one, *complex_values, *complex_near_one;
static float *narrow[4]; /* the same four inputs in single precision */

static int make_values(void **state)
{
    (void)state;
    double **wide[4] = {&real_values, &near_one, &complex_values, &complex_near_one};
    for (size_t k = 0; k < 4; k++) {
        *wide[k] = calloc(PARTS, sizeof(double));
        narrow[k] = calloc(PARTS, sizeof(float));
        if (!*wide[k] || !narrow[k]) return -1;
    }
    for (size_t i = 0; i < LONGEST; i++) {
        double re = value((uint32_t)i), im = value((uint32_t)i + FAR);
        real_values[i] = complex_values[2 * i] = re;
        complex_values[2 * i + 1] = im;
        near_one[i] = complex_near_one[2 * i] = 1 + re / 64;
        complex_near_one[2 * i + 1] = im / 64;
    }
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < PARTS; i++) narrow[k][i] = (float)(*wide[k])[i];
    }
    return 0;
}

static int free_values(void **state)
{
    (void)state;
    free(real_values);
    free(near_one);
    free(complex_values);
    free(complex_near_one);
    for (size_t k = 0; k < 4; k++) free(narrow[k]);
    return 0;
}

static cubed_error err;

typedef struct way {
    cubed_context *ctx;
    unsigned workers;
    bool optimize;
} way;

/* The parts of the result, as float64. */
static void compute(const way *w, cubed_reduction reduction, cubed_dtype dtype, const void *x,
                    int64_t n, double out[2])
{
    const int64_t chunk = CHUNK;
    union {
        float f4[2];
        double f8[2];
    } got = {.f8 = {0, 0}};
    cubed_array *in, *y;
    cubed_plan *plan;
    assert_int_equal(cubed_array_from_memory(w->ctx, dtype, 1, &n, NULL, &chunk, x, &in, &err),
                     CUBED_OK);
    assert_int_equal(cubed_reduce(reduction, in, NULL, &y, &err), CUBED_OK);
    cubed_target target = {.array = y, .data = &got};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = w->workers;
    o.optimize = w->optimize;
    o.allowed_mem = (uint64_t)64 << 20;
    assert_int_equal(cubed_plan_new(w->ctx, &target, 1, &o, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, &err), CUBED_OK);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(in);
    bool is_narrow = dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
    for (int i = 0; i < 2; i++) out[i] = is_narrow ? (double)got.f4[i] : got.f8[i];
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_table(const way *w)
{
    static const cubed_reduction kinds[4] = {CUBED_REDUCE_SUM, CUBED_REDUCE_PROD, CUBED_REDUCE_MEAN,
                                             CUBED_REDUCE_VAR};
    static const cubed_dtype types[4] = {CUBED_FLOAT32, CUBED_FLOAT64, CUBED_COMPLEX64,
                                         CUBED_COMPLEX128};
    const void *data[4][2] = {{narrow[0], narrow[1]},
                              {real_values, near_one},
                              {narrow[2], narrow[3]},
                              {complex_values, complex_near_one}};
    for (size_t r = 0; r < sizeof table / sizeof *table; r++) {
        for (int t = 0; t < 4; t++) {
            for (int k = 0; k < (t < 2 ? 4 : 2); k++) {
                double got[2];
                compute(w, kinds[k], types[t], data[t][k == 1], table[r].n, got);
                const double *want = &table[r].want[t < 2 ? 4 * t + k : 4 * t + 2 * k];
                for (int part = 0; part < (t < 2 ? 1 : 2); part++) {
                    if (!same(got[part], want[part]))
                        fail_msg("%s: reduction %d of %s, n = %d: %a, expected %a",
                                 cubed_context_isa(w->ctx), k, cubed_dtype_name(types[t]),
                                 (int)table[r].n, got[part], want[part]);
                }
            }
        }
    }
}

/* A NaN or an infinity anywhere, and only negative zeros. */
static void check_edges(const way *w)
{
    double *x = calloc(LONGEST, sizeof *x), got[2];
    assert_non_null(x);
    for (size_t r = 0; r < sizeof table / sizeof *table; r++) {
        int64_t n = table[r].n, at[3] = {0, n / 2, n - 1};
        for (int64_t i = 0; i < n; i++) x[i] = -0.0;
        compute(w, CUBED_REDUCE_SUM, CUBED_FLOAT64, x, n, got);
        assert_true(same(got[0], n ? -0.0 : 0.0));
        memcpy(x, real_values, (size_t)n * sizeof *x);
        for (int k = 0; k < 3 && n > 0; k++) {
            double before = x[at[k]];
            x[at[k]] = INFINITY;
            compute(w, CUBED_REDUCE_SUM, CUBED_FLOAT64, x, n, got);
            assert_true(got[0] == INFINITY);
            x[at[0]] = -INFINITY;
            compute(w, CUBED_REDUCE_SUM, CUBED_FLOAT64, x, n, got);
            assert_true(at[k] == at[0] ? got[0] == -INFINITY : isnan(got[0]));
            x[at[0]] = real_values[0];
            x[at[k]] = NAN;
            for (cubed_reduction f = 0; f < CUBED_REDUCE_COUNT; f++) {
                if (f == CUBED_REDUCE_ANY || f == CUBED_REDUCE_ALL) continue;
                compute(w, f, CUBED_FLOAT64, x, n, got);
                assert_true(isnan(got[0]));
            }
            x[at[k]] = before;
        }
    }
    free(x);
}

/* Compares sums of products that are computed together with sums of the same products in memory, along `axis`, in one plan. If
 * `cut` is not 0, each factor is concatenated from two arrays along axis `join`, in the middle of a chunk. */
static void check_product(const way *w, cubed_dtype dtype, bool square, const void *a,
                          const void *b, const void *product, const int64_t shape[2], int axis,
                          int64_t cut, int join)
{
    const int64_t chunks[2] = {130, 270};
    int64_t first[2] = {shape[0], shape[1]}, second[2] = {shape[0], shape[1]};
    size_t kept = (size_t)shape[1 - axis], size = cubed_dtype_size(dtype);
    const int64_t strides[2] = {shape[1] * (int64_t)size, (int64_t)size};
    if (cut) first[join] = cut;
    second[join] -= cut;
    const void *data[3] = {a, square ? a : b, product};
    cubed_array *x[3], *y[2];
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    char *got = calloc(2, kept * size);
    assert_non_null(got);
    r.axes = &axis;
    r.naxes = 1;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(
            cubed_array_from_memory(w->ctx, dtype, 2, first, strides, chunks, data[k], &x[k], &err),
            CUBED_OK);
        if (!cut) continue;
        cubed_array *pieces[2] = {x[k], NULL};
        assert_int_equal(cubed_array_from_memory(w->ctx, dtype, 2, second, strides, chunks,
                                                 (const char *)data[k] + cut * strides[join],
                                                 &pieces[1], &err),
                         CUBED_OK);
        assert_int_equal(cubed_concat(pieces, 2, join, &x[k], &err), CUBED_OK);
        cubed_array_unref(pieces[0]);
        cubed_array_unref(pieces[1]);
    }
    cubed_array *multiplied;
    assert_int_equal(cubed_elementwise(square ? CUBED_OP_SQUARE : CUBED_OP_MULTIPLY, x,
                                       square ? 1 : 2, &multiplied, &err),
                     CUBED_OK);
    assert_int_equal(cubed_reduce(CUBED_REDUCE_SUM, multiplied, &r, &y[0], &err), CUBED_OK);
    assert_int_equal(cubed_reduce(CUBED_REDUCE_SUM, x[2], &r, &y[1], &err), CUBED_OK);
    cubed_target targets[2] = {{.array = y[0], .data = got},
                               {.array = y[1], .data = got + kept * size}};
    o.max_workers = w->workers;
    o.optimize = w->optimize;
    o.allowed_mem = (uint64_t)64 << 20;
    assert_int_equal(cubed_plan_new(w->ctx, targets, 2, &o, &plan, &err), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, &err), CUBED_OK);
    assert_memory_equal(got, got + kept * size, kept * size);
    cubed_plan_unref(plan);
    for (int k = 0; k < 3; k++) cubed_array_unref(x[k]);
    for (int k = 0; k < 2; k++) cubed_array_unref(y[k]);
    cubed_array_unref(multiplied);
    free(got);
}

static void check_products(const way *w)
{
    static const int64_t shapes[4][2] = {{300, 333}, {3333, 3}, {2000, 40}, {20, 4999}};
    double *wide = calloc(LONGEST, sizeof *wide);
    float *thin = calloc(LONGEST, sizeof *thin);
    assert_non_null(wide);
    assert_non_null(thin);
    for (int square = 0; square < 2; square++) {
        for (size_t i = 0; i < LONGEST; i++) {
            wide[i] = real_values[i] * (square ? real_values : near_one)[i];
            thin[i] = narrow[0][i] * narrow[square ? 0 : 1][i];
        }
        for (int s = 0; s < 4; s++) {
            for (int axis = 0; axis < 2; axis++) {
                for (int place = 0; place < 4; place++) {
                    static const int64_t cuts[4] = {0, 17, 1, 40};
                    const int join = place >= 2;
                    const int64_t cut = cuts[place];
                    if (cut >= shapes[s][join]) continue;
                    check_product(w, CUBED_FLOAT64, square, real_values, near_one, wide, shapes[s],
                                  axis, cut, join);
                    check_product(w, CUBED_FLOAT32, square, narrow[0], narrow[1], thin, shapes[s],
                                  axis, cut, join);
                }
            }
        }
    }
    free(wide);
    free(thin);
}

static void each_way(void (*check)(const way *w))
{
    const char *names[5];
    cb_kernels_available(names);
    for (int i = 0; names[i]; i++) {
        cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
        way w = {.optimize = true};
        o.isa = names[i];
        assert_int_equal(cubed_context_new(&o, &w.ctx, &err), CUBED_OK);
        for (int k = 0; k < 3; k++) {
            w.workers = k == 0 ? 1 : 3;
            w.optimize = k < 2;
            check(&w);
        }
        cubed_context_unref(w.ctx);
    }
}

static void test_table(void **state)
{
    (void)state;
    each_way(check_table);
}

static void test_products(void **state)
{
    (void)state;
    each_way(check_products);
}

static void test_edges(void **state)
{
    (void)state;
    each_way(check_edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, make_values, free_values);
}
