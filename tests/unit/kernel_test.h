/* Common parts of the kernel tests: every instruction set of this machine, edge values, and comparison of results. */
#ifndef CB_TESTS_KERNEL_TEST_H
#define CB_TESTS_KERNEL_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dtype/scalar.h"
#include "kernel/kernel.h"

/* Runs `check` on the table of every instruction set that the machine has. */
static inline void for_each_isa(void (*check)(const cb_kernels *k))
{
    const char *names[5];
    cb_kernels_available(names);
    assert_non_null(names[0]);
    for (int i = 0; names[i]; i++) {
        cb_kernels k;
        assert_true(cb_kernels_init(names[i], &k));
        assert_string_equal(k.isa, names[i]);
        check(&k);
    }
}

/* A small generator with a fixed seed, so that failures are reproducible. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#define EDGES 18

/* Edge values of a type; the last ones are ordinary. */
static inline cubed_scalar edge(cubed_dtype dtype, int i)
{
    static const int64_t ints[EDGES] = {
        0,         1,         -1, 2, -2,  INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX,
        INT16_MIN, INT16_MAX, -3, 7, 255, 65535,     0x7f80,    100,       -100};
    static const double f64[EDGES] = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      0x1p-1074,
                                      -0x1.8p-1030,
                                      0x1p-1022,
                                      0x1.fffffffffffffp1023,
                                      -0x1.fffffffffffffp1023,
                                      0.1,
                                      -2.5,
                                      3.0,
                                      1e-300,
                                      -7.25e200,
                                      12345.678};
    static const float f32[EDGES] = {
        0.0f, -0.0f,     1.0f,         -1.0f,     INFINITY,        -INFINITY,
        NAN,  0x1p-149f, -0x1.8p-130f, 0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f,
        0.1f, -2.5f,     3.0f,         1e-30f,    -7.25e20f,       12345.678f};
    cubed_scalar s = {{0}};
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL: s.u8 = (uint8_t)(i % 2); break;
    case CUBED_KIND_INT:
    case CUBED_KIND_UINT: s = cb_scalar_from_i64(dtype, ints[i]); break;
    case CUBED_KIND_FLOAT:
        if (dtype == CUBED_FLOAT32)
            s.f32 = f32[i];
        else
            s.f64 = f64[i];
        break;
    /* Imaginary parts take the same values in another order. */
    default:
        if (dtype == CUBED_COMPLEX64) {
            s.c64[0] = f32[i];
            s.c64[1] = f32[(i * 5 + 3) % EDGES];
        } else {
            s.c128[0] = f64[i];
            s.c128[1] = f64[(i * 5 + 3) % EDGES];
        }
        break;
    }
    return s;
}

/* Compares bits, except that all NaNs are equal: which of two NaNs is returned depends on the compiler. */
static inline bool same_value(cubed_dtype dtype, const void *x, const void *y)
{
    size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT) return memcmp(x, y, size) == 0;
    bool is_single = dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
    size_t step = is_single ? 4 : 8;
    for (size_t at = 0; at < size; at += step) {
        const char *p = (const char *)x + at, *q = (const char *)y + at;
        double a, b;
        if (is_single) {
            float fa, fb;
            memcpy(&fa, p, 4);
            memcpy(&fb, q, 4);
            a = (double)fa;
            b = (double)fb;
        } else {
            memcpy(&a, p, 8);
            memcpy(&b, q, 8);
        }
        if (memcmp(p, q, step) != 0 && !(isnan(a) && isnan(b))) return false;
    }
    return true;
}

/* For messages: the real part, or the integer. */
static inline double shown(cubed_dtype dtype, const void *x)
{
    cubed_scalar in = {{0}}, out;
    memcpy(&in, x, cubed_dtype_size(dtype));
    cb_scalar_cast(dtype, &in, CUBED_FLOAT64, &out);
    return out.f64;
}

/* Distance in units of the last place of the type at `want`, also for subnormal numbers. Beyond the range of the type the
 * exponent is unlimited. */
static inline double ulps(double got, long double want, int digits, int min_exponent)
{
    long double largest = ldexpl(1.0L - ldexpl(1.0L, -digits), 1 - min_exponent + 2);
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got)) {
        if (isinf(want)) return (got < 0) == (want < 0) ? 0 : INFINITY;
        if ((got < 0) != (want < 0)) return INFINITY;
        int e;
        (void)frexpl(largest, &e);
        long double next = ldexpl(1.0L, e);
        long double over = (next - fabsl(want)) / ldexpl(1.0L, e - digits);
        return over > 0 ? (double)over : 0;
    }
    if (isinf(want)) return INFINITY;
    int e;
    (void)frexpl(want, &e);
    if (want == 0 || e < min_exponent) e = min_exponent;
    return (double)fabsl(((long double)got - want) / ldexpl(1.0L, e - digits));
}

/* Random bits: all exponents are equally likely, with infinities and NaN. */
static inline double any_double(uint64_t *seed, bool single)
{
    uint64_t r = next_random(seed);
    if (single) {
        uint32_t half = (uint32_t)r;
        float f;
        memcpy(&f, &half, 4);
        return (double)f;
    }
    double d;
    memcpy(&d, &r, 8);
    return d;
}

static inline double within(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ((double)(next_random(seed) >> 11) * 0x1p-53);
}

#endif
