/* Casts of every instruction set: all pairs of types equal a cast of a constant at plan time, and known values. */
#include "kernel_test.h"

#define LONGEST 130

/* Returns an edge value of the type. For floats, this includes the bounds of every integer type. */
static cubed_scalar value(cubed_dtype t, size_t i, uint64_t *seed)
{
    static const double borders[] = {127.9,
                                     128,
                                     -128.9,
                                     -129,
                                     255.9,
                                     256,
                                     -0.9,
                                     32767.5,
                                     65536,
                                     2147483647.5,
                                     2147483648.0,
                                     4294967295.5,
                                     4294967296.0,
                                     0x1p63,
                                     0x1.fffffffffffffp62,
                                     -0x1p63,
                                     -0x1.0000000000001p63,
                                     0x1p64,
                                     0x1.fffffffffffffp63};
    size_t nborders = sizeof borders / sizeof *borders;
    if (i < EDGES) return edge(t, (int)i);
    if (i < EDGES + nborders) return cb_scalar_from_double(t, borders[i - EDGES]);
    uint64_t r = next_random(seed);
    if (cubed_dtype_kind(t) < CUBED_KIND_FLOAT) return cb_scalar_from_i64(t, (int64_t)r);
    return cb_scalar_from_double(t, (double)(int64_t)r * (i % 2 ? 1 : 0x1p-40));
}

static void check_pair(const cb_kernels *k, cubed_dtype from, cubed_dtype to)
{
    static _Alignas(64) char src[(LONGEST + 4) * 16], dst[(LONGEST + 4) * 16];
    size_t fs = cubed_dtype_size(from), ts = cubed_dtype_size(to);
    cubed_scalar x[LONGEST];
    uint64_t seed = 5;
    for (size_t i = 0; i < LONGEST; i++) {
        x[i] = value(from, i, &seed);
        if (from == CUBED_BOOL) x[i].u8 = x[i].u8 != 0;
    }
    for (size_t n = 0; n <= LONGEST; n++) {
        bool in_place = fs == ts && n % 2;
        size_t shift = n % 3, at = n < 64 ? n % 40 : 0;
        if (at + n > LONGEST) at = 0;
        char *s = src + shift * fs, *d = in_place ? s : dst + shift * ts;
        memset(src, 0x5A, sizeof src);
        memset(dst, 0x5A, sizeof dst);
        for (size_t i = 0; i < n; i++) memcpy(s + i * fs, &x[at + i], fs);
        k->cast[from][to](d, s, n);
        for (size_t i = 0; i < n; i++) {
            cubed_scalar want;
            cb_scalar_cast(from, &x[at + i], to, &want);
            if (same_value(to, d + i * ts, &want)) continue;
            fail_msg("%s: %s %.17g to %s is %.17g, expected %.17g", k->isa, cubed_dtype_name(from),
                     shown(from, &x[at + i]), cubed_dtype_name(to), shown(to, d + i * ts),
                     shown(to, &want));
        }
        for (size_t i = 0; i < ts; i++) assert_int_equal(d[n * ts + i], 0x5A);
    }
}

static void check_pairs(const cb_kernels *k)
{
    for (int from = 0; from < CUBED_DTYPE_COUNT; from++) {
        for (int to = 0; to < CUBED_DTYPE_COUNT; to++) {
            assert_non_null(k->cast[from][to]);
            check_pair(k, (cubed_dtype)from, (cubed_dtype)to);
        }
    }
}
static void test_pairs(void **state)
{
    (void)state;
    for_each_isa(check_pairs);
}

static void check_known(const cb_kernels *k)
{
    const double x[] = {NAN, INFINITY, -INFINITY, 0x1p63, -0x1p63, 1e19, -1.5, 300.7, -0.0};
    enum { N = sizeof x / sizeof *x };
    const int64_t i8[N] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN,
                           INT64_MIN, -1,        300,       0};
    const uint8_t u1[N] = {0, 0, 0, 0, 0, 0, 255, 44, 0};
    const uint8_t b1[N] = {1, 1, 1, 1, 1, 1, 1, 1, 0};
    int64_t got8[N];
    uint64_t gotu[N];
    uint8_t got1[N];
    k->cast[CUBED_FLOAT64][CUBED_INT64](got8, x, N);
    assert_memory_equal(got8, i8, sizeof i8);
    k->cast[CUBED_FLOAT64][CUBED_UINT8](got1, x, N);
    assert_memory_equal(got1, u1, sizeof u1);
    k->cast[CUBED_FLOAT64][CUBED_BOOL](got1, x, N);
    assert_memory_equal(got1, b1, sizeof b1);
    k->cast[CUBED_FLOAT64][CUBED_UINT64](gotu, x, N);
    assert_true(gotu[3] == (uint64_t)1 << 63 && gotu[5] == 10000000000000000000u);
    /* Each cast rounds once. Casts through float64 would round twice. */
    const int64_t big[2] = {0x7fffff4000000001, -0x7fffff4000000001};
    float f[2];
    k->cast[CUBED_INT64][CUBED_FLOAT32](f, big, 2);
    assert_true(f[0] == 0x1.fffffep62f && f[1] == -0x1.fffffep62f);
    /* A number is true if one of its parts is not 0. */
    const double z[4] = {0, 0, -0.0, 1e-300};
    k->cast[CUBED_COMPLEX128][CUBED_BOOL](got1, z, 2);
    assert_int_equal(got1[0], 0);
    assert_int_equal(got1[1], 1);
    /* A byte other than 0 and 1 in a bool becomes 1. */
    const uint8_t odd[3] = {0, 1, 200}, even[3] = {0, 1, 1};
    k->cast[CUBED_BOOL][CUBED_BOOL](got1, odd, 3);
    assert_memory_equal(got1, even, 3);
}
static void test_known(void **state)
{
    (void)state;
    for_each_isa(check_known);
}

/* Returns the value of a binary16 number, by the definition of the format. */
static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
    double v = exponent == 31  ? (mantissa ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp(mantissa, -24)
                               : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -v : v;
}

/* Checks all numbers of binary16, and numbers near the middle of two neighbours, which round to the even one. */
static void check_half(const cb_kernels *k)
{
    cb_cast_fn widen = cb_kernel_cast(k, CUBED_FLOAT16, CUBED_FLOAT32);
    cb_cast_fn from4 = cb_kernel_cast(k, CUBED_FLOAT32, CUBED_FLOAT16);
    cb_cast_fn from8 = cb_kernel_cast(k, CUBED_FLOAT64, CUBED_FLOAT16);
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t h = (uint16_t)bits, back4, back8;
        float f;
        widen(&f, &h, 1);
        double d = (double)f;
        assert_true(isnan(d) ? isnan(half_value(bits)) : d == half_value(bits));
        from4(&back4, &f, 1);
        from8(&back8, &d, 1);
        if (isnan(d)) {
            assert_true((back4 & 0x7fff) > 0x7c00 && (back8 & 0x7fff) > 0x7c00);
            continue;
        }
        assert_int_equal(back4, bits);
        assert_int_equal(back8, bits);
        if ((bits & 0x7fff) >= 0x7c00) continue;
        double next = (bits & 0x7fff) == 0x7bff ? (d < 0 ? -65536 : 65536) : half_value(bits + 1);
        double middle = (d + next) / 2;
        for (int step = -1; step <= 1; step++) {
            double x = step ? nextafter(middle, step < 0 ? d : next) : middle;
            float y = step ? nextafterf((float)middle, step < 0 ? f : (float)next) : (float)middle;
            unsigned want = step < 0 || (step == 0 && bits % 2 == 0) ? bits : bits + 1;
            from8(&back8, &x, 1);
            from4(&back4, &y, 1);
            assert_int_equal(back8, want);
            assert_int_equal(back4, want);
        }
    }
}
static void test_half(void **state)
{
    (void)state;
    for_each_isa(check_half);
}

/* bfloat16 is float32 without its lower half; middles as above, from float64 with digits beyond float32. */
static void check_bfloat(const cb_kernels *k)
{
    cb_cast_fn widen = cb_kernel_cast(k, CUBED_BFLOAT16, CUBED_FLOAT32);
    cb_cast_fn from4 = cb_kernel_cast(k, CUBED_FLOAT32, CUBED_BFLOAT16);
    cb_cast_fn from8 = cb_kernel_cast(k, CUBED_FLOAT64, CUBED_BFLOAT16);
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t h = (uint16_t)bits, above = (uint16_t)(bits + 1), back4, back8;
        float f, g;
        uint32_t raw;
        widen(&f, &h, 1);
        memcpy(&raw, &f, 4);
        assert_int_equal(raw, bits << 16);
        double d = (double)f;
        from4(&back4, &f, 1);
        from8(&back8, &d, 1);
        if (isnan(f)) {
            assert_true((back4 & 0x7fff) > 0x7f80 && (back8 & 0x7fff) > 0x7f80);
            continue;
        }
        assert_int_equal(back4, bits);
        assert_int_equal(back8, bits);
        if ((bits & 0x7fff) >= 0x7f80) continue;
        widen(&g, &above, 1);
        double next = isinf(g) ? (f < 0 ? -0x1p128 : 0x1p128) : (double)g, middle = (d + next) / 2;
        for (int step = -1; step <= 1; step++) {
            double x = step ? nextafter(middle, step < 0 ? d : next) : middle;
            unsigned want = step < 0 || (step == 0 && bits % 2 == 0) ? bits : bits + 1;
            from8(&back8, &x, 1);
            assert_int_equal(back8, want);
        }
    }
    const double tiny[4] = {1e-300, -1e-300, 1e300, -1e300};
    uint16_t got[4];
    from8(got, tiny, 4);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 0x8000);
    assert_int_equal(got[2], 0x7f80);
    assert_int_equal(got[3], 0xff80);
}
static void test_bfloat(void **state)
{
    (void)state;
    for_each_isa(check_bfloat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_bfloat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
