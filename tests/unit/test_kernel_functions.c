/* The standard's functions of floats, in every instruction set: error in units of the last place against long double, special
 * values of C99 annex F; and rounding, division, shifts at edge values. */
#include "kernel_test.h"

/* --- Accuracy --------------------------------------------------------------------------------- */

typedef long double wide;

static wide logaddexp_wide(wide x, wide y)
{
    if (isnan(x) || isnan(y)) return x + y;
    wide high = x > y ? x : y, low = x > y ? y : x;
    return high == low ? high + logl(2) : high + log1pl(expl(low - high));
}

static const struct {
    cubed_op op;
    wide (*one)(wide x);
    wide (*two)(wide x, wide y);
    double low, high; /* range of x in which the result is neither constant nor undefined */
} functions[] = {
    {CUBED_OP_SIN, sinl, NULL, -100, 100},
    {CUBED_OP_COS, cosl, NULL, -100, 100},
    {CUBED_OP_TAN, tanl, NULL, -100, 100},
    {CUBED_OP_ASIN, asinl, NULL, -1, 1},
    {CUBED_OP_ACOS, acosl, NULL, -1, 1},
    {CUBED_OP_ATAN, atanl, NULL, -20, 20},
    {CUBED_OP_SINH, sinhl, NULL, -89, 89},
    {CUBED_OP_COSH, coshl, NULL, -89, 89},
    {CUBED_OP_TANH, tanhl, NULL, -10, 10},
    {CUBED_OP_ASINH, asinhl, NULL, -1e4, 1e4},
    {CUBED_OP_ACOSH, acoshl, NULL, 1, 1e4},
    {CUBED_OP_ATANH, atanhl, NULL, -1, 1},
    {CUBED_OP_EXPM1, expm1l, NULL, -40, 88},
    {CUBED_OP_LOG1P, log1pl, NULL, -1, 1e4},
    {CUBED_OP_LOG2, log2l, NULL, 0, 1e4},
    {CUBED_OP_LOG10, log10l, NULL, 0, 1e4},
    {CUBED_OP_ATAN2, NULL, atan2l, -10, 10},
    {CUBED_OP_HYPOT, NULL, hypotl, -1e4, 1e4},
    {CUBED_OP_LOGADDEXP, NULL, logaddexp_wide, -30, 30},
};
enum { FUNCTIONS = (int)(sizeof functions / sizeof *functions) };

static double run_one(const cb_kernels *k, cubed_op op, bool single, double x, double y)
{
    if (single) {
        float a = (float)x, b = (float)y, r;
        k->elem[op][CUBED_FLOAT32](&r, &a, &b, NULL, 1);
        return (double)r;
    }
    double r;
    k->elem[op][CUBED_FLOAT64](&r, &x, &y, NULL, 1);
    return r;
}

static double error_at(const cb_kernels *k, int f, bool single, double x, double y)
{
    if (single) {
        x = (double)(float)x;
        y = (double)(float)y;
    }
    wide want = functions[f].one ? functions[f].one((wide)x) : functions[f].two((wide)x, (wide)y);
    return ulps(run_one(k, functions[f].op, single, x, y), want, single ? 24 : 53,
                single ? -125 : -1021);
}

static void check_accuracy(const cb_kernels *k)
{
    enum { SAMPLES = 12000 };
    for (int f = 0; f < FUNCTIONS; f++) {
        for (int single = 0; single < 2; single++) {
            double worst = 0, at[2] = {0, 0};
            uint64_t seed = 5;
            double low = functions[f].low, high = functions[f].high;
            for (int i = 0; i < SAMPLES + EDGES * EDGES; i++) {
                double x = within(&seed, low, high), y = within(&seed, low, high);
                switch (i < SAMPLES ? i % 4 : 4) {
                case 1:
                    x = any_double(&seed, single);
                    y = any_double(&seed, single);
                    break;
                case 2: x *= exp2(-within(&seed, 0, 60)); break; /* small arguments */
                case 4:
                    x = edge(CUBED_FLOAT64, (i - SAMPLES) % EDGES).f64;
                    y = edge(CUBED_FLOAT64, (i - SAMPLES) / EDGES).f64;
                    break;
                default: break;
                }
                double e = error_at(k, f, single, x, y);
                if (e <= worst) continue;
                worst = e;
                at[0] = x;
                at[1] = y;
            }
            print_message("%s %s of %s: at most %.3f ULP, at (%a, %a)\n", k->isa,
                          cubed_op_name(functions[f].op), single ? "float32" : "float64", worst,
                          at[0], at[1]);
            assert_true(worst <= (single ? 4.0 : 1.0));
        }
    }
}
static void test_accuracy(void **state)
{
    (void)state;
    for_each_isa(check_accuracy);
}

/* --- Exact cases ------------------------------------------------------------------------------ */

typedef struct exact_case {
    cubed_op op;
    double x, y, want;
} exact_case;

static const exact_case cases[] = {
    {CUBED_OP_SIN, -0.0, 0, -0.0},
    {CUBED_OP_TAN, -0x1p-1074, 0, -0x1p-1074},
    {CUBED_OP_COS, INFINITY, 0, NAN},
    {CUBED_OP_SINH, -INFINITY, 0, -INFINITY},
    {CUBED_OP_TANH, INFINITY, 0, 1},
    {CUBED_OP_TANH, -0.0, 0, -0.0},
    {CUBED_OP_ASINH, -0x1p-1074, 0, -0x1p-1074},
    {CUBED_OP_LOG1P, -1, 0, -INFINITY},
    {CUBED_OP_LOG1P, -0x1p-1074, 0, -0x1p-1074},
    {CUBED_OP_EXPM1, -INFINITY, 0, -1},
    {CUBED_OP_LOG2, 1024, 0, 10},
    {CUBED_OP_LOG2, 0x1p-1074, 0, -1074},
    {CUBED_OP_LOG10, 1000, 0, 3},
    {CUBED_OP_LOG10, -1, 0, NAN},
    {CUBED_OP_ATANH, 1, 0, INFINITY},
    {CUBED_OP_ACOSH, 0.5, 0, NAN},
    {CUBED_OP_ATAN2, -0.0, -0.0, -0x1.921fb54442d18p1},
    {CUBED_OP_ATAN2, 0.0, -1, 0x1.921fb54442d18p1},
    {CUBED_OP_HYPOT, INFINITY, NAN, INFINITY},
    {CUBED_OP_HYPOT, 0x3p1000, 0x4p1000, 0x5p1000},
    {CUBED_OP_LOGADDEXP, -INFINITY, -INFINITY, -INFINITY},
    {CUBED_OP_LOGADDEXP, INFINITY, -INFINITY, INFINITY},
    {CUBED_OP_LOGADDEXP, 1000, 1000, 1000.693147180559945309},
    {CUBED_OP_COPYSIGN, 2, -0.0, -2},
    {CUBED_OP_NEXTAFTER, 0, -1, -0x1p-1074},
    {CUBED_OP_NEXTAFTER, 1, 2, 1 + 0x1p-52},
    {CUBED_OP_RECIPROCAL, -0.0, 0, -INFINITY},
    {CUBED_OP_ROUND, 2.5, 0, 2},
    {CUBED_OP_ROUND, -3.5, 0, -4},
    {CUBED_OP_ROUND, -0.4, 0, -0.0},
    {CUBED_OP_FLOOR, -0.5, 0, -1},
    {CUBED_OP_CEIL, -0.5, 0, -0.0},
    {CUBED_OP_TRUNC, -1.9, 0, -1},
    {CUBED_OP_SIGN, -0.0, 0, 0.0},
    {CUBED_OP_SIGN, -1e-300, 0, -1},
    {CUBED_OP_SIGN, NAN, 0, NAN},
    {CUBED_OP_FLOOR_DIVIDE, -7, 2, -4},
    {CUBED_OP_FLOOR_DIVIDE, 1, 0.1, 9},
    {CUBED_OP_FLOOR_DIVIDE, 1, 0, INFINITY},
    {CUBED_OP_FLOOR_DIVIDE, 0, 0, NAN},
    {CUBED_OP_FLOOR_DIVIDE, -1, INFINITY, -0.0},
    {CUBED_OP_FLOOR_DIVIDE, INFINITY, 2, INFINITY},
    {CUBED_OP_REMAINDER, -7, 2, 1},
    {CUBED_OP_REMAINDER, 7, -2, -1},
    {CUBED_OP_REMAINDER, 6, -2, -0.0},
    {CUBED_OP_REMAINDER, 1, 0, NAN},
    {CUBED_OP_REMAINDER, -1, INFINITY, INFINITY},
    {CUBED_OP_IMAG, 3, 0, 0},
    {CUBED_OP_REAL, 3, 0, 3},
};

static void check_cases(const cb_kernels *k)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const exact_case *c = &cases[i];
        double got = run_one(k, c->op, false, c->x, c->y);
        bool same =
            isnan(c->want) ? isnan(got) : got == c->want && !signbit(got) == !signbit(c->want);
        if (!same)
            fail_msg("%s: %s(%g, %g) is %g, expected %g", k->isa, cubed_op_name(c->op), c->x, c->y,
                     got, c->want);
    }
}
static void test_cases(void **state)
{
    (void)state;
    for_each_isa(check_cases);
}

/* --- Integers --------------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    __int128 q = (__int128)x / y;
    if ((__int128)x % y != 0 && (x < 0) != (y < 0)) q--;
    return (int64_t)q;
}

static int64_t remainder_of(int64_t x, int64_t y)
{
    return y == 0 ? 0 : (int64_t)((__int128)x - (__int128)y * floor_divide(x, y));
}

static int64_t shift(int64_t x, int64_t y, int bits, bool left)
{
    bool out = y < 0 || y >= bits;
    if (left) return out ? 0 : (int64_t)((uint64_t)x << y);
    return out ? (x < 0 ? -1 : 0) : x >> y;
}

static int64_t of_scalar(cubed_dtype t, const cubed_scalar *s)
{
    cubed_scalar w;
    cb_scalar_cast(t, s, CUBED_INT64, &w);
    return w.i64;
}

/* All pairs of edge values. uint64 has values beyond int64, whose wrapping depends on signs, so uint64 is left out. */
static void check_integers(const cb_kernels *k)
{
    static const cubed_op ops[] = {
        CUBED_OP_FLOOR_DIVIDE,        CUBED_OP_REMAINDER,      CUBED_OP_BITWISE_LEFT_SHIFT,
        CUBED_OP_BITWISE_RIGHT_SHIFT, CUBED_OP_BITWISE_AND,    CUBED_OP_BITWISE_OR,
        CUBED_OP_BITWISE_XOR,         CUBED_OP_BITWISE_INVERT, CUBED_OP_SIGN};
    for (int t = CUBED_INT8; t <= CUBED_UINT32; t++) {
        int bits = 8 * (int)cubed_dtype_size((cubed_dtype)t);
        for (int i = 0; i < EDGES * EDGES * 9; i++) {
            cubed_op op = ops[i % 9];
            cubed_scalar x = edge((cubed_dtype)t, i / 9 % EDGES), got = {{0}}, want;
            cubed_scalar y = edge((cubed_dtype)t, i / 9 / EDGES);
            int64_t a = of_scalar((cubed_dtype)t, &x), b = of_scalar((cubed_dtype)t, &y), w = 0;
            switch (op) {
            case CUBED_OP_FLOOR_DIVIDE: w = floor_divide(a, b); break;
            case CUBED_OP_REMAINDER: w = remainder_of(a, b); break;
            case CUBED_OP_BITWISE_LEFT_SHIFT: w = shift(a, b, bits, true); break;
            case CUBED_OP_BITWISE_RIGHT_SHIFT: w = shift(a, b, bits, false); break;
            case CUBED_OP_BITWISE_AND: w = a & b; break;
            case CUBED_OP_BITWISE_OR: w = a | b; break;
            case CUBED_OP_BITWISE_XOR: w = a ^ b; break;
            case CUBED_OP_BITWISE_INVERT: w = ~a; break;
            default: w = (a > 0) - (a < 0); break;
            }
            want = cb_scalar_from_i64((cubed_dtype)t, w);
            k->elem[op][t](&got, &x, &y, NULL, 1);
            if (!same_value((cubed_dtype)t, &got, &want))
                fail_msg("%s: %s of %s (%lld, %lld) is %g, expected %lld", k->isa,
                         cubed_op_name(op), cubed_dtype_name((cubed_dtype)t), (long long)a,
                         (long long)b, shown((cubed_dtype)t, &got), (long long)w);
        }
    }
}
static void test_integers(void **state)
{
    (void)state;
    for_each_isa(check_integers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
