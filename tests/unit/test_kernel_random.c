/* Random numbers in every instruction set: the generator's known answers, NumPy's numbers, and every kernel compared with
 * plain references over the same words. */
#include "kernel/philox.h"
#include "kernel/random_math.h"
#include "kernel_test.h"

/* The known answers that come with the paper's library. */
static void test_known_answers(void **state)
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
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t got[4];
        cb_philox(known[i].counter, known[i].key, got);
        assert_memory_equal(got, known[i].want, sizeof got);
    }
}

/* --- Mathematics ------------------------------------------------------------------------------ */

static void test_minus_log(void **state)
{
    double worst = 0;
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 400000; i++) {
        /* Choose numbers from (0, 1], and numbers close to 1, whose logarithms are close to 0. */
        double x = i % 2 ? exp2(-within(&seed, 0, 65)) : 1 - exp2(-within(&seed, 1, 53));
        double e = ulps(cb_minus_log(x), -logl((long double)x), 53, -1021);
        if (e > worst) worst = e;
    }
    print_message("-log: at most %.3f ULP\n", worst);
    assert_true(worst < 1.5);
    assert_true(cb_minus_log(1) == 0 && !signbit(cb_minus_log(1)));
}

/* Compares quantiles with the distribution function. Divides the error of the probability by the density, which gives the error
 * of the quantile. */
static void test_quantile(void **state)
{
    double worst = 0;
    uint64_t seed = 2;
    (void)state;
    for (int i = 0; i < 400000; i++) {
        double p = i % 2 ? exp2(-within(&seed, 1, 65)) : within(&seed, 0, 0.5);
        double z = cb_normal_quantile(p);
        long double beyond = erfcl((long double)z * sqrtl(0.5L)) / 2;
        long double density = expl(-(long double)z * z / 2) / sqrtl(2 * acosl(-1));
        double error = (double)(fabsl(beyond - p) / density) / z;
        if (error > worst) worst = error;
    }
    print_message("normal quantile: at most %.3g relative\n", worst);
    assert_true(worst < 1e-15);
    assert_true(cb_normal_quantile(0.5) == 0);
    /* Tables give these to 10 digits. */
    assert_true(fabs(cb_normal_quantile(0.1) - 1.2815515655) < 1e-10);
    assert_true(fabs(cb_normal_quantile(0.001) - 3.0902323062) < 1e-10);
}

/* --- Kernels ---------------------------------------------------------------------------------- */

/* Makes a row of element indices: in order from several starts, backwards, or spread. */
enum { ROWS = 7 };

static void positions(int row, int64_t *index)
{
    static const int64_t starts[ROWS] = {0, 1, 7, INT64_C(1) << 40, 1000, 5, INT64_MAX - CB_VECTOR};
    static const int64_t steps[ROWS] = {1, 1, 1, 1, -1, 1000003, 1};
    for (int64_t i = 0; i < CB_VECTOR; i++) index[i] = starts[row] + steps[row] * i;
}

static void words(uint64_t counter, uint64_t key0, uint64_t key1, uint64_t out[4])
{
    cb_philox((const uint64_t[4]){counter, 0, 0, 0}, (const uint64_t[2]){key0, key1}, out);
}

static void run(const cb_kernels *k, cubed_op op, void *dst, const int64_t *index, int64_t b,
                int64_t c)
{
    int64_t second[CB_VECTOR], third[CB_VECTOR];
    for (size_t i = 0; i < CB_VECTOR; i++) {
        second[i] = b;
        third[i] = c;
    }
    k->elem[op][CUBED_INT64](dst, index, second, third, CB_VECTOR);
}

/* Numbers that numpy.random.Generator(numpy.random.Philox(key=key + block)) draws. Some keys overflow their low word, or both
 * words, when the block number is added. */
static const struct {
    uint64_t low, high;
    int64_t block;
    double want[5];
    float want_f32[9];
} numpy[] = {
    {12345,
     0,
     0,
     {0x1.4af258141dad4p-1, 0x1.8c6ccd7516eacp-1, 0x1.92a7c623ec684p-1, 0x1.46daa026c1fd4p-3,
      0x1.499c63aace168p-3},
     {0x1.dad4ap-5f, 0x1.4af258p-1f, 0x1.16eacap-1f, 0x1.8c6cccp-1f, 0x1.ec684p-1f, 0x1.92a7c6p-1f,
      0x1.b07f58p-1f, 0x1.46daap-3f, 0x1.670b4cp-2f}},
    {UINT64_MAX,
     0,
     1,
     {0x1.a06ff187f343ap-1, 0x1.80ae833698420p-1, 0x1.57e2622a22f60p-1, 0x1.eeb80d77a9ba8p-2,
      0x1.690f5905cfbbap-1},
     {0x1.f343a2p-1f, 0x1.a06ffp-1f, 0x1.30841cp-2f, 0x1.80ae82p-1f, 0x1.17bp-4f, 0x1.57e262p-1f,
      0x1.d4dd4ap-1f, 0x1.eeb80cp-2f, 0x1.cfbba8p-1f}},
    {UINT64_MAX - 1,
     UINT64_MAX,
     1,
     {0x1.b51b3039c7c2ep-2, 0x1.249d42d27f351p-1, 0x1.fb86be0331922p-1, 0x1.694623e2f54cap-1,
      0x1.9f84b07bfe378p-2},
     {0x1.c7c2f8p-2f, 0x1.b51b3p-2f, 0x1.fcd458p-3f, 0x1.249d42p-1f, 0x1.319222p-1f, 0x1.fb86bep-1f,
      0x1.ea9958p-2f, 0x1.694622p-1f, 0x1.ff1bcap-1f}},
};

static void check_blocks(const cb_kernels *k)
{
    int64_t index[CB_VECTOR];
    double f64[CB_VECTOR];
    float f32[CB_VECTOR];
    for (size_t t = 0; t < sizeof numpy / sizeof *numpy; t++) {
        int64_t low = (int64_t)numpy[t].low, high = (int64_t)numpy[t].high;
        for (int64_t i = 0; i < CB_VECTOR; i++) index[i] = numpy[t].block << 32 | i;
        run(k, CUBED_OP_RANDOM_BLOCKS, f64, index, low, high);
        run(k, CUBED_OP_RANDOM_BLOCKS_F32, f32, index, low, high);
        assert_memory_equal(f64, numpy[t].want, sizeof numpy[t].want);
        assert_memory_equal(f32, numpy[t].want_f32, sizeof numpy[t].want_f32);
        for (int row = 0; row < ROWS; row++) {
            positions(row, index);
            run(k, CUBED_OP_RANDOM_BLOCKS, f64, index, low, high);
            run(k, CUBED_OP_RANDOM_BLOCKS_F32, f32, index, low, high);
            for (size_t i = 0; i < CB_VECTOR; i++) {
                uint64_t block = (uint64_t)index[i] >> 32, x = (uint64_t)index[i] & UINT32_MAX;
                unsigned __int128 key =
                    ((unsigned __int128)numpy[t].high << 64 | numpy[t].low) + block;
                uint64_t w[4], key0 = (uint64_t)key, key1 = (uint64_t)(key >> 64);
                words(1 + x / 4, key0, key1, w);
                assert_true(f64[i] == (double)(w[x % 4] >> 11) * 0x1p-53);
                words(1 + x / 8, key0, key1, w);
                uint64_t half = x % 2 ? w[x / 2 % 4] >> 32 : w[x / 2 % 4] & UINT32_MAX;
                assert_true((double)f32[i] == (double)(half >> 8) * 0x1p-24);
            }
        }
    }
}
static void test_blocks(void **state)
{
    (void)state;
    for_each_isa(check_blocks);
}

static void check_distributions(const cb_kernels *k)
{
    int64_t index[CB_VECTOR];
    double normal[CB_VECTOR], exponential[CB_VECTOR];
    for (int row = 0; row < ROWS; row++) {
        for (int64_t seed = -1; seed < 40; seed++) {
            positions(row, index);
            run(k, CUBED_OP_RANDOM_NORMAL, normal, index, seed, 0);
            run(k, CUBED_OP_RANDOM_EXPONENTIAL, exponential, index, seed, 0);
            for (size_t i = 0; i < CB_VECTOR; i++) {
                uint64_t x = (uint64_t)index[i], w[4];
                words(x / 4, (uint64_t)seed, 1, w);
                double z = cb_normal_quantile((double)(w[x % 4] | 1) * 0x1p-65);
                assert_true(normal[i] == (w[x % 4] % 2 ? z : -z));
                words(x / 4, (uint64_t)seed, 2, w);
                assert_true(exponential[i] == cb_minus_log((double)(w[x % 4] | 1) * 0x1p-64));
            }
        }
    }
}
static void test_distributions(void **state)
{
    (void)state;
    for_each_isa(check_distributions);
}

/* The upper half of a product of 128 and 64 bits, with digits of 32 bits. */
static uint64_t scaled(const uint64_t u[2], uint64_t values)
{
    uint64_t sum[7] = {0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            uint64_t a = u[i / 2] >> 32 * (i % 2) & UINT32_MAX;
            uint64_t product = a * (values >> 32 * j & UINT32_MAX);
            sum[i + j] += product & UINT32_MAX;
            sum[i + j + 1] += product >> 32;
        }
    }
    for (int i = 0; i < 6; i++) sum[i + 1] += sum[i] >> 32;
    return (sum[4] & UINT32_MAX) | sum[5] << 32;
}

static void check_integers(const cb_kernels *k)
{
    static const uint64_t counts[] = {
        1, 2, 3, 6, 256, 1000003, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    int64_t index[CB_VECTOR], got[CB_VECTOR];
    for (int row = 0; row < ROWS; row++) {
        positions(row, index);
        for (int64_t seed = -3; seed < 3; seed++) {
            for (size_t c = 0; c <= sizeof counts / sizeof *counts; c++) {
                bool all = c == sizeof counts / sizeof *counts; /* 2**64 values */
                uint64_t values = all ? 0 : counts[c];
                run(k, CUBED_OP_RANDOM_INTEGERS, got, index, seed, (int64_t)values);
                for (size_t i = 0; i < CB_VECTOR; i++) {
                    uint64_t x = (uint64_t)index[i], w[4];
                    words(x / 2, (uint64_t)seed, 3, w);
                    const uint64_t *u = w + 2 * (x % 2);
                    assert_true((uint64_t)got[i] == (all ? u[1] : scaled(u, values)));
                    assert_true(all || (uint64_t)got[i] < values);
                }
            }
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
        cmocka_unit_test(test_known_answers), cmocka_unit_test(test_minus_log),
        cmocka_unit_test(test_quantile),      cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_distributions), cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
