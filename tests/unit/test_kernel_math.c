/* exp, log and pow of floats: error in units of the last place against long double, identities,
 * special values of C99 annex F; and random numbers. */
#include "kernel/philox.h"
#include "kernel_test.h"

/* --- Accuracy --------------------------------------------------------------------------------- */

static long double exact(int op, double x, double y)
{
    if (op == CUBED_OP_EXP) return expl((long double)x);
    if (op == CUBED_OP_LOG) return logl((long double)x);
    return powl((long double)x, (long double)y);
}

typedef struct worst {
    double error, x, y;
} worst;

static void measure(const cb_kernels *k, int op, bool single, const double *x, const double *y,
                    size_t n, worst *w)
{
    double got[CB_VECTOR];
    if (single) {
        float a[CB_VECTOR] = {0}, b[CB_VECTOR] = {0}, r[CB_VECTOR];
        for (size_t i = 0; i < n; i++) {
            a[i] = (float)x[i];
            b[i] = (float)y[i];
        }
        k->elem[op][CUBED_FLOAT32](r, a, b, NULL, n);
        for (size_t i = 0; i < n; i++) got[i] = (double)r[i];
    } else {
        k->elem[op][CUBED_FLOAT64](got, x, y, NULL, n);
    }
    for (size_t i = 0; i < n; i++) {
        double a = single ? (double)(float)x[i] : x[i], b = single ? (double)(float)y[i] : y[i];
        double e = ulps(got[i], exact(op, a, b), single ? 24 : 53, single ? -125 : -1021);
        if (e > w->error) *w = (worst){e, a, b};
    }
}

static void check_accuracy(const cb_kernels *k)
{
    static const int ops[3] = {CUBED_OP_EXP, CUBED_OP_LOG, CUBED_OP_POW};
    enum { KINDS = 7, ROUNDS = 40 };
    for (int o = 0; o < 3; o++) {
        for (int single = 0; single < 2; single++) {
            cubed_dtype t = single ? CUBED_FLOAT32 : CUBED_FLOAT64;
            double top = single ? 89 : 710, low = single ? -104 : -746;
            worst w = {0, 0, 0};
            uint64_t seed = 11;
            for (int round = 0; round < KINDS * ROUNDS; round++) {
                double x[CB_VECTOR], y[CB_VECTOR];
                for (size_t i = 0; i < CB_VECTOR; i++) {
                    x[i] = any_double(&seed, single);
                    y[i] = any_double(&seed, single);
                    switch (round % KINDS) {
                    case 0: break;
                    case 1: x[i] = within(&seed, low, top); break;
                    case 2: x[i] = within(&seed, 0.9, 1.1); break;
                    /* Where results leave the range: overflow and subnormal numbers. */
                    case 3: x[i] = within(&seed, top - 1.5, top); break;
                    case 4: x[i] = within(&seed, low, low + 45); break;
                    case 5: x[i] = within(&seed, 0, single ? 0x1p-126 : 0x1p-1022); break;
                    default: x[i] = within(&seed, 0, 1000); break;
                    }
                    if (o == 2 && round % KINDS) {
                        /* Choose exponents for which results cover the whole range of the type. */
                        double l = x[i] > 0 ? fabs(log(x[i])) : 1;
                        y[i] = within(&seed, low, top) / (l > 0 ? l : 1);
                        if (round % KINDS > 4) y[i] = within(&seed, -3, 3);
                    }
                }
                measure(k, ops[o], single, x, y, CB_VECTOR, &w);
            }
            for (int i = 0; i < EDGES; i++) {
                double x[EDGES], y[EDGES];
                for (int j = 0; j < EDGES; j++) {
                    cubed_scalar a = edge(CUBED_FLOAT64, i), b = edge(CUBED_FLOAT64, j);
                    x[j] = a.f64;
                    y[j] = b.f64;
                }
                measure(k, ops[o], single, x, y, EDGES, &w);
            }
            print_message("%s %s of %s: at most %.3f ULP, at (%a, %a)\n", k->isa,
                          cubed_op_name((cubed_op)ops[o]), cubed_dtype_name(t), w.error, w.x, w.y);
            assert_true(w.error <= (single ? 4.0 : 1.0));
        }
    }
}
static void test_accuracy(void **state)
{
    (void)state;
    for_each_isa(check_accuracy);
}

/* --- Exact cases ------------------------------------------------------------------------------ */

typedef struct special {
    double x, y, want;
} special;

/* Special cases of C99 F.9.4.4, and some well-known values. */
static const special powers[] = {
    {0.0, -1, INFINITY},
    {-0.0, -1, -INFINITY},
    {-0.0, -3, -INFINITY},
    {0.0, -2, INFINITY},
    {-0.0, -2, INFINITY},
    {-0.0, -2.5, INFINITY},
    {0.0, -INFINITY, INFINITY},
    {-0.0, 3, -0.0},
    {-0.0, 2, 0.0},
    {-0.0, 2.5, 0.0},
    {0.0, 3, 0.0},
    {-1, INFINITY, 1},
    {-1, -INFINITY, 1},
    {1, NAN, 1},
    {1, INFINITY, 1},
    {1, -INFINITY, 1},
    {NAN, 0.0, 1},
    {NAN, -0.0, 1},
    {INFINITY, 0.0, 1},
    {-INFINITY, -0.0, 1},
    {0.0, 0.0, 1},
    {NAN, 1, NAN},
    {2, NAN, NAN},
    {-8, 1.0 / 3, NAN},
    {0.5, -INFINITY, INFINITY},
    {-2, -INFINITY, 0},
    {-0.5, INFINITY, 0},
    {3, INFINITY, INFINITY},
    {-INFINITY, -3, -0.0},
    {-INFINITY, -2, 0},
    {-INFINITY, -2.5, 0},
    {-INFINITY, 3, -INFINITY},
    {-INFINITY, 2, INFINITY},
    {-INFINITY, 2.5, INFINITY},
    {INFINITY, -1e-3, 0},
    {INFINITY, 1e-3, INFINITY},
    {-1, 1e15, 1},
    {-1, 9007199254740991.0, -1},
    {-2, 3, -8},
    {-3, 2, 9},
    {10, -1, 0.1},
    {10, 2, 100},
    {10, 5, 100000},
    {9, 0.5, 3},
    {2, -1074, 0x1p-1074},
    {2, 1023, 0x1p1023},
    {2, 1024, INFINITY},
    {-2, 1025, -INFINITY},
    {2, -1080, 0},
    {-0x1p-1074, 1, -0x1p-1074},
    {0x1.fffffffffffffp1023, 1, 0x1.fffffffffffffp1023},
    {-0x1.fffffffffffffp1023, 1, -0x1.fffffffffffffp1023},
    {0x1.fffffep127, 1, 0x1.fffffep127},
    {0x1p-1022, -1, 0x1p1022},
};
static const special exps[] = {
    {0.0, 0, 1},        {-0.0, 0, 1}, {-INFINITY, 0, 0}, {INFINITY, 0, INFINITY}, {NAN, 0, NAN},
    {710, 0, INFINITY}, {-746, 0, 0}, {0x1p-1074, 0, 1}, {1e308, 0, INFINITY},    {-1e308, 0, 0},
};
static const special logs[] = {
    {1, 0, 0.0},         {0.0, 0, -INFINITY}, {-0.0, 0, -INFINITY},    {-1, 0, NAN},
    {-INFINITY, 0, NAN}, {NAN, 0, NAN},       {INFINITY, 0, INFINITY},
};

/* Checks a special value in float64, and in float32 if operands and result are exactly representable. Uses a full vector, and a
 * vector of one element, which is padded. */
static void check_special(const cb_kernels *k, int op, const special *s)
{
    double x[17], y[17], r[17];
    float xf[17], yf[17], rf[17];
    for (size_t n = 1; n <= 17; n += 16) {
        for (size_t i = 0; i < n; i++) {
            x[i] = s->x;
            y[i] = s->y;
            xf[i] = (float)s->x;
            yf[i] = (float)s->y;
        }
        k->elem[op][CUBED_FLOAT64](r, x, y, NULL, n);
        k->elem[op][CUBED_FLOAT32](rf, xf, yf, NULL, n);
        bool fits =
            ((double)xf[0] == s->x || isnan(s->x)) && ((double)yf[0] == s->y || isnan(s->y));
        for (size_t i = 0; i < n; i++) {
            if (!same_value(CUBED_FLOAT64, &r[i], &s->want))
                fail_msg("%s: %s of float64 (%g, %g) is %.17g, expected %.17g", k->isa,
                         cubed_op_name((cubed_op)op), s->x, s->y, r[i], s->want);
            float want = (float)s->want;
            if (fits && !same_value(CUBED_FLOAT32, &rf[i], &want))
                fail_msg("%s: %s of float32 (%g, %g) is %.9g, expected %.9g", k->isa,
                         cubed_op_name((cubed_op)op), s->x, s->y, (double)rf[i], (double)want);
        }
    }
}

static void check_exact(const cb_kernels *k)
{
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        check_special(k, CUBED_OP_POW, &powers[i]);
    for (size_t i = 0; i < sizeof exps / sizeof *exps; i++)
        check_special(k, CUBED_OP_EXP, &exps[i]);
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        check_special(k, CUBED_OP_LOG, &logs[i]);
    uint64_t seed = 3;
    for (int i = 0; i < 4000; i++) {
        double x = any_double(&seed, i % 2);
        check_special(k, CUBED_OP_POW, &(special){x, 1, x});
        check_special(k, CUBED_OP_POW, &(special){x, 0, 1});
        check_special(k, CUBED_OP_POW, &(special){1, x, 1});
        int e = (int)(next_random(&seed) % 2098) - 1074;
        check_special(k, CUBED_OP_POW, &(special){2, e, ldexp(1, e)});
    }
}
static void test_exact(void **state)
{
    (void)state;
    for_each_isa(check_exact);
}

/* Both instruction sets with a fused multiply-add give the same bits. */
static void test_levels(void **state)
{
    static const int ops[3] = {CUBED_OP_EXP, CUBED_OP_LOG, CUBED_OP_POW};
    cb_kernels v3, v4;
    (void)state;
    if (!cb_kernels_init("x86-64-v3", &v3) || !cb_kernels_init("x86-64-v4", &v4)) {
        print_message("skipped: this machine does not have x86-64-v3 and v4\n");
        skip();
    }
    uint64_t seed = 21;
    for (int round = 0; round < 300; round++) {
        uint64_t bits[CB_VECTOR * 2], p[CB_VECTOR], q[CB_VECTOR];
        bool single = round % 2;
        cubed_dtype t = single ? CUBED_FLOAT32 : CUBED_FLOAT64;
        size_t n = 1 + next_random(&seed) % CB_VECTOR;
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            double v = round % 3 ? within(&seed, -20, 20) : any_double(&seed, single);
            float f = (float)v;
            memcpy(single ? (char *)bits + i * 4 : (char *)(bits + i), single ? (void *)&f : &v,
                   single ? 4 : 8);
        }
        for (int o = 0; o < 3; o++) {
            v3.elem[ops[o]][t](p, bits, bits + CB_VECTOR, NULL, n);
            v4.elem[ops[o]][t](q, bits, bits + CB_VECTOR, NULL, n);
            for (size_t i = 0; i < n; i++) {
                size_t at = i * cubed_dtype_size(t);
                assert_true(same_value(t, (char *)p + at, (char *)q + at));
            }
        }
    }
}

/* --- Random numbers --------------------------------------------------------------------------- */

/* The Philox generator as published, for any counter and key. */
static void philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
    uint64_t c[4], k[2] = {key[0], key[1]};
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        unsigned __int128 p = (unsigned __int128)0xD2E7470EE14C6C93u * c[0];
        unsigned __int128 q = (unsigned __int128)0xCA5A826395121157u * c[2];
        uint64_t next[4] = {(uint64_t)(q >> 64) ^ c[1] ^ k[0], (uint64_t)q,
                            (uint64_t)(p >> 64) ^ c[3] ^ k[1], (uint64_t)p};
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B97F4A7C15u;
        k[1] += 0xBB67AE8584CAA73Bu;
    }
    memcpy(out, c, sizeof c);
}

/* The known answers that come with the paper's library. */
static void test_philox(void **state)
{
    static const struct {
        uint64_t counter[4], key[2], want[4];
    } known[] = {
        {{0, 0, 0, 0},
         {0, 0},
         {0x16554d9eca36314cu, 0xdb20fe9d672d0fdcu, 0xd7e772cee186176bu, 0x7e68b68aec7ba23bu}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {UINT64_MAX, UINT64_MAX},
         {0x87b092c3013fe90bu, 0x438c3c67be8d0224u, 0x9cc7d7c69cd777b6u, 0xa09caebf594f0ba0u}},
        {{0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u},
         {0x452821e638d01377u, 0xbe5466cf34e90c6cu},
         {0xa528f45403e61d95u, 0x38c72dbd566e9788u, 0xa5a1610e72fd18b5u, 0x57bd43b5e52b7fe6u}},
    };
    (void)state;
    uint64_t got[4];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        philox(known[i].counter, known[i].key, got);
        assert_memory_equal(got, known[i].want, sizeof got);
    }
    cb_philox4x64(0, 0, got);
    assert_memory_equal(got, known[0].want, sizeof got);
    /* Result of numpy.random.Philox(key=12345).random_raw(8). The counter of NumPy's first block is 1. */
    static const uint64_t numpy[8] = {0xa5792c0a0ed6a560u, 0xc63666ba8b756514u, 0xc953e311f634209du,
                                      0x28db5404d83fac91u, 0x29338c7559c2d300u, 0xd18141f9add77140u,
                                      0xeadb7c4b44e7c87bu, 0x101aa335768a55edu};
    for (uint64_t c = 0; c < 2; c++) {
        cb_philox4x64(c + 1, 12345, got);
        assert_memory_equal(got, numpy + c * 4, sizeof got);
    }
}

static void check_uniform(const cb_kernels *k)
{
    static const int64_t starts[] = {0, 1, 3, 1 << 20, INT64_MAX - 200, -5};
    static const int64_t steps[] = {1, 0, -1, 3, 1000003};
    int64_t index[CB_VECTOR], seeds[CB_VECTOR];
    double got[CB_VECTOR];
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        for (size_t v = 0; v < sizeof steps / sizeof *steps; v++) {
            for (size_t i = 0; i < CB_VECTOR; i++) {
                index[i] = (int64_t)((uint64_t)starts[s] + (uint64_t)steps[v] * i);
                seeds[i] = s % 2 ? -77 : 123456789;
            }
            k->elem[CUBED_OP_RANDOM_UNIFORM][CUBED_INT64](got, index, seeds, NULL, CB_VECTOR);
            for (size_t i = 0; i < CB_VECTOR; i++) {
                uint64_t x = (uint64_t)index[i], block[4];
                uint64_t counter[4] = {x / 4, 0, 0, 0}, key[2] = {(uint64_t)seeds[i], 0};
                philox(counter, key, block);
                assert_true(got[i] == (double)(block[x % 4] >> 11) * 0x1p-53);
                assert_true(got[i] >= 0 && got[i] < 1);
            }
        }
    }
}
static void test_uniform(void **state)
{
    (void)state;
    for_each_isa(check_uniform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_levels),   cmocka_unit_test(test_philox),
        cmocka_unit_test(test_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
