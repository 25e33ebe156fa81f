/* Products of matrices and vectors of every instruction set: small whole numbers, whose sums are exact, compared with two
 * loops; and bits of other numbers, which are equal wherever operations are fused. */
#include "kernel_test.h"

enum { MOST = 70, GAP = 3 };

static const int64_t sizes[][2] = {{0, 5}, {5, 0}, {1, 1},  {3, 7},
                                   {4, 8}, {6, 9}, {9, 31}, {70, 67}};

typedef struct operands {
    double a[MOST * (MOST + GAP) * 2], x[MOST * 2], y[MOST * 2], p[MOST * 2], q[MOST * 2];
} operands;

static void fill(operands *o, bool whole, uint64_t *seed)
{
    double *all = (double *)o;
    for (size_t i = 0; i < sizeof *o / sizeof *all; i++) {
        uint64_t r = next_random(seed);
        all[i] = whole ? (double)(r % 7) - 3 : (double)r / 0x1p63 - 1;
    }
}

/* p += a x and q += a^H y, with numbers of one or two parts. */
static void add_products(operands *o, int64_t m, int64_t n, int parts)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            const double *a = o->a + (i * (n + GAP) + j) * parts, *x = o->x + j * parts;
            const double *y = o->y + i * parts;
            double *p = o->p + i * parts, *q = o->q + j * parts, im = parts == 2 ? a[1] : 0;
            p[0] += a[0] * x[0] - (parts == 2 ? im * x[1] : 0);
            q[0] += a[0] * y[0] + (parts == 2 ? im * y[1] : 0);
            if (parts == 1) continue;
            p[1] += a[0] * x[1] + im * x[0];
            q[1] += a[0] * y[1] - im * y[0];
        }
    }
}

static void check_values(const cb_kernels *k)
{
    static operands o, want, before;
    uint64_t seed = 7;
    for (int parts = 1; parts <= 2; parts++) {
        cb_matvec_fn fn = k->matvec[parts == 1 ? CUBED_FLOAT64 : CUBED_COMPLEX128];
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int which = 1; which <= 3; which++) {
                const int64_t m = sizes[s][0], n = sizes[s][1];
                fill(&o, true, &seed);
                before = want = o;
                add_products(&want, m, n, parts);
                fn(&(cb_matvec){m, n, o.a, n + GAP, which & 1 ? o.x : NULL, which & 1 ? o.p : NULL,
                                which & 2 ? o.y : NULL, which & 2 ? o.q : NULL});
                assert_memory_equal(o.p, which & 1 ? want.p : before.p, sizeof o.p);
                assert_memory_equal(o.q, which & 2 ? want.q : before.q, sizeof o.q);
            }
        }
    }
}

static void test_values(void **state)
{
    (void)state;
    for_each_isa(check_values);
}

static operands first_result;
static bool have_first;

static void check_bits(const cb_kernels *k)
{
    static operands o;
    uint64_t seed = 9;
    fill(&o, false, &seed);
    k->matvec[CUBED_FLOAT64](&(cb_matvec){MOST, 67, o.a, MOST, o.x, o.p, o.y, o.q});
    k->matvec[CUBED_COMPLEX128](&(cb_matvec){MOST, 67, o.a, MOST, o.x, o.p, o.y, o.q});
    /* this instruction set has no fused operations, so its bits may differ */
    if (strcmp(k->isa, "x86-64-v2") == 0) return;
    if (have_first) assert_memory_equal(&o, &first_result, sizeof o);
    first_result = o;
    have_first = true;
}

static void test_same_bits(void **state)
{
    (void)state;
    for_each_isa(check_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
