/* Matrix products of every instruction set, compared with three loops: each type, sizes around those of tiles, panels and
 * blocks. */
#include "kernel_test.h"

enum { MOST = 700 };

static const int64_t sizes[][3] = {{0, 3, 2},   {3, 0, 2},    {1, 1, 1},   {2, 3, 0},
                                   {5, 7, 3},   {8, 24, 9},   {6, 8, 17},  {9, 9, 257},
                                   {7, 97, 33}, {195, 25, 5}, {3, 1600, 3}};

static void *room(size_t size)
{
    void *p = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    assert_non_null(p);
    return p;
}

static bool is_whole(cubed_dtype t)
{
    return t != CUBED_BOOL && cubed_dtype_kind(t) < CUBED_KIND_FLOAT;
}

/* Fills x with small whole numbers, so that sums are exact in every type. Unsigned numbers wrap like signed ones. */
static void fill(cubed_dtype t, char *x, int64_t n, uint64_t *seed)
{
    size_t size = cubed_dtype_size(t);
    for (int64_t i = 0; i < n; i++) {
        int64_t whole = (int64_t)(next_random(seed) % 7) - 3;
        cubed_scalar v = {.c128 = {(double)whole, 0}}, to;
        if (cubed_dtype_kind(t) == CUBED_KIND_COMPLEX)
            v.c128[1] = (double)(next_random(seed) % 5) - 2;
        if (t == CUBED_BOOL) v.c128[0] = next_random(seed) % 16 == 0;
        if (is_whole(t))
            to.i64 = whole;
        else
            cb_scalar_cast(CUBED_COMPLEX128, &v, t, &to);
        memcpy(x + (size_t)i * size, &to, size);
    }
}

static void get(cubed_dtype t, const char *x, int64_t i, double out[2])
{
    size_t size = cubed_dtype_size(t);
    cubed_scalar v = {.c128 = {0, 0}}, wide;
    memcpy(&v, x + (size_t)i * size, size);
    out[1] = 0;
    if (is_whole(t)) {
        out[0] = size == 1 ? v.i8 : size == 2 ? v.i16 : size == 4 ? v.i32 : (double)v.i64;
        return;
    }
    cb_scalar_cast(t, &v, CUBED_COMPLEX128, &wide);
    out[0] = wide.c128[0];
    out[1] = wide.c128[1];
}

static void expect(cubed_dtype t, int64_t n, int64_t k, const char *a, const char *b, int64_t i,
                   int64_t j, int times, cubed_scalar *out)
{
    double sum[2] = {0, 0}, x[2], y[2];
    cubed_scalar wide;
    for (int64_t p = 0; p < k; p++) {
        get(t, a, i * k + p, x);
        get(t, b, p * n + j, y);
        sum[0] += x[0] * y[0] - x[1] * y[1];
        sum[1] += x[0] * y[1] + x[1] * y[0];
    }
    wide.c128[0] = sum[0] * times;
    wide.c128[1] = sum[1] * times;
    *out = (cubed_scalar){.c128 = {0, 0}};
    if (is_whole(t))
        out->i64 = (int64_t)wide.c128[0];
    else
        cb_scalar_cast(CUBED_COMPLEX128, &wide, t, out);
}

/* Copies rows to a new buffer with `gap` elements after each row. The product must not change the gaps. */
static char *apart(const char *x, int64_t rows, int64_t columns, int64_t gap, size_t size)
{
    size_t row = (size_t)columns * size, ld = (size_t)(columns + gap) * size;
    char *to = room((size_t)rows * ld);
    memset(to, 0x5a, (size_t)rows * ld);
    for (int64_t i = 0; i < rows; i++) memcpy(to + (size_t)i * ld, x + (size_t)i * row, row);
    return to;
}

static void check_one(const cb_kernels *k, cubed_dtype t, const int64_t *s, uint64_t *seed)
{
    size_t size = cubed_dtype_size(t);
    char *a = room((size_t)(s[0] * s[2]) * size), *b = room((size_t)(s[2] * s[1]) * size);
    char *c = room((size_t)(s[0] * s[1]) * size);
    void *scratch = room(cb_gemm_scratch(t, s[0], s[1], s[2]));
    static const struct {
        cb_gemm_mode mode;
        int times; /* after this step, c has this multiple of the product */
    } steps[] = {{CB_GEMM_SET, 1}, {CB_GEMM_ADD, 2}, {CB_GEMM_SUBTRACT, 1}};
    fill(t, a, s[0] * s[2], seed);
    fill(t, b, s[2] * s[1], seed);
    char *wide_a = apart(a, s[0], s[2], 3, size), *wide_b = apart(b, s[2], s[1], 1, size);
    char *wide_c = apart(c, s[0], s[1], 2, size);
    for (int i = 0; i < (t == CUBED_BOOL ? 2 : 3); i++) {
        const cb_gemm g = {s[0],     s[1],     s[2],     wide_a,        wide_b,  wide_c,
                           s[2] + 3, s[1] + 1, s[1] + 2, steps[i].mode, scratch, NULL};
        k->gemm[t](&g);
        for (int64_t e = 0; e < s[0] * (s[1] + 2); e++) {
            int64_t row = e / (s[1] + 2), column = e % (s[1] + 2);
            cubed_scalar want;
            if (column < s[1])
                expect(t, s[1], s[2], a, b, row, column, steps[i].times, &want);
            else
                memset(&want, 0x5a, sizeof want);
            if (memcmp(wide_c + (size_t)e * size, &want, size) != 0)
                fail_msg("%s: %s, %d x %d x %d, step %d, element %d", k->isa, cubed_dtype_name(t),
                         (int)s[0], (int)s[1], (int)s[2], i, (int)e);
        }
    }
    free(wide_a);
    free(wide_b);
    free(wide_c);
    free(a);
    free(b);
    free(c);
    free(scratch);
}

static void check(const cb_kernels *k)
{
    uint64_t seed = 5;
    for (cubed_dtype t = CUBED_BOOL; t < CUBED_DTYPE_COUNT; t++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_one(k, t, sizes[i], &seed);
    }
}

static void test_products(void **state)
{
    (void)state;
    for_each_isa(check);
}

static double first_result[16 * 16];
static bool have_first;

/* Instruction sets with fused operations give the same bits. */
static void check_bits(const cb_kernels *k)
{
    enum { N = 16, K = MOST };
    double *a = room(sizeof(double) * N * K), *b = room(sizeof(double) * N * K);
    double *c = room(sizeof(double) * N * N);
    void *scratch = room(cb_gemm_scratch(CUBED_FLOAT64, N, N, K));
    uint64_t seed = 3;
    for (int i = 0; i < N * K; i++) {
        a[i] = (double)next_random(&seed) / 0x1p64;
        b[i] = (double)next_random(&seed) / 0x1p64;
    }
    const cb_gemm g = {N, N, K, a, b, c, K, N, N, CB_GEMM_SET, scratch, NULL};
    k->gemm[CUBED_FLOAT64](&g);
    if (strcmp(k->isa, "x86-64-v2") != 0) {
        if (have_first) assert_memory_equal(c, first_result, sizeof first_result);
        memcpy(first_result, c, sizeof first_result);
        have_first = true;
    }
    free(a);
    free(b);
    free(c);
    free(scratch);
}

static void test_same_bits(void **state)
{
    (void)state;
    for_each_isa(check_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
