/* Products of matrices and vectors. Rows are summed in 8 lanes, and columns one row after another. Every product is fused with
 * its sum if there is an instruction for it. So vectors of any length give the same bits. Unless intrinsics are used, this file
 * is compiled with contraction, like gemm.isa.c. */
#include <string.h>

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL == 4
#include <immintrin.h>
#define VECTOR_BYTES   64
#define SWAPPED        1, 0, 3, 2, 5, 4, 7, 6
#define FUSED(a, b, c) ((vec)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif CB_ISA_LEVEL == 3
#include <immintrin.h>
#define VECTOR_BYTES   32
#define SWAPPED        1, 0, 3, 2
#define FUSED(a, b, c) ((vec)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define VECTOR_BYTES   16
#define SWAPPED        1, 0
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

typedef double vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias));
enum { LANES = 8, NV = LANES * (int)sizeof(double) / VECTOR_BYTES, ROWS = 4 };

typedef struct lanes {
    vec v[NV];
} lanes;

static inline lanes load(const double *x)
{
    lanes r;
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) r.v[i] = ((const vec *)x)[i];
    return r;
}

static inline void store(double *x, lanes r)
{
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) ((vec *)x)[i] = r.v[i];
}

/* sum + a * b */
static inline lanes add_product(lanes sum, lanes a, lanes b)
{
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) sum.v[i] = FUSED(a.v[i], b.v[i], sum.v[i]);
    return sum;
}

static inline lanes add_scaled(lanes sum, lanes a, double b)
{
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) sum.v[i] = FUSED(a.v[i], (vec){0} + b, sum.v[i]);
    return sum;
}

static inline double add_lanes(lanes r)
{
    double x[LANES];
    store(x, r);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* Exchanges the parts of complex numbers. */
static inline lanes swap_parts(lanes r)
{
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) r.v[i] = __builtin_shufflevector(r.v[i], r.v[i], SWAPPED);
    return r;
}

static inline lanes negate_imaginary(lanes r)
{
    static const double signs[LANES] = {1, -1, 1, -1, 1, -1, 1, -1};
    lanes by = load(signs);
#pragma GCC unroll 4
    for (int i = 0; i < NV; i++) r.v[i] = r.v[i] * by.v[i];
    return r;
}

/* Flags of `does`. SUMS: add the products of rows with x to `sum`. ADDS: add the multiples y[r] of rows to q. */
enum { SUMS = 1, ADDS = 2 };

/* Inlined with constant arguments, so that branches that do not depend on data are removed. */
#define INLINE static inline __attribute__((always_inline))

/* --- Real numbers ------------------------------------------------------------------------------------- */

INLINE void real_columns(int rows, int does, const double *a, int64_t lda, const double *x,
                         lanes *sum, const double *y, double *q)
{
    lanes of_x, of_q;
    if (does & SUMS) of_x = load(x);
    if (does & ADDS) of_q = load(q);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        lanes row = load(a + r * lda);
        if (does & SUMS) sum[r] = add_product(sum[r], row, of_x);
        if (does & ADDS) of_q = add_scaled(of_q, row, y[r]);
    }
    if (does & ADDS) store(q, of_q);
}

/* Processes `rows` rows, starting with row i. */
INLINE void real_rows(int rows, int does, const cb_matvec *g, int64_t i)
{
    const int64_t n = g->n, lda = g->lda;
    const double *a = (const double *)g->a + i * lda, *x = g->x, *y = (const double *)g->y + i;
    double *p = (double *)g->p + i, *q = g->q;
    lanes sum[ROWS];
    int64_t j = 0;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) sum[r] = (lanes){{{0}}};
    for (; j + LANES <= n; j += LANES) real_columns(rows, does, a + j, lda, x + j, sum, y, q + j);
    if (j < n) {
        double rest[ROWS][LANES] = {{0}}, of_x[LANES] = {0}, of_q[LANES] = {0};
        size_t bytes = (size_t)(n - j) * sizeof *a;
        for (int r = 0; r < rows; r++) memcpy(rest[r], a + r * lda + j, bytes);
        if (does & SUMS) memcpy(of_x, x + j, bytes);
        if (does & ADDS) memcpy(of_q, q + j, bytes);
        real_columns(rows, does, rest[0], LANES, of_x, sum, y, of_q);
        if (does & ADDS) memcpy(q + j, of_q, bytes);
    }
    for (int r = 0; does & SUMS && r < rows; r++) p[r] += add_lanes(sum[r]);
}

INLINE void real(const cb_matvec *g, int does)
{
    int64_t i = 0;
    const int64_t m = g->m;
    for (; i + ROWS <= m; i += ROWS) real_rows(ROWS, does, g, i);
    for (; i < m; i++) real_rows(1, does, g, i);
}

static void matvec_f8(const cb_matvec *g)
{
    if (g->p && g->q)
        real(g, SUMS | ADDS);
    else if (g->p)
        real(g, SUMS);
    else
        real(g, ADDS);
}

/* --- Complex numbers ---------------------------------------------------------------------------------- */

INLINE void complex_columns(int does, const double *a, const double *x, lanes *sum, const double *y,
                            double *q)
{
    lanes row = load(a);
    if (does & SUMS) {
        lanes of_x = load(x);
        sum[0] = add_product(sum[0], row, negate_imaginary(of_x));
        sum[1] = add_product(sum[1], row, swap_parts(of_x));
    }
    if (does & ADDS) {
        lanes of_q = add_scaled(load(q), negate_imaginary(row), y[0]);
        store(q, add_scaled(of_q, swap_parts(row), y[1]));
    }
}

/* Processes a row of n doubles, two for each complex number. */
INLINE void complex_row(int does, int64_t n, const double *a, const double *x, double *p,
                        const double *y, double *q)
{
    lanes sum[2] = {{{{0}}}, {{{0}}}};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) complex_columns(does, a + j, x + j, sum, y, q + j);
    if (j < n) {
        double rest[LANES] = {0}, of_x[LANES] = {0}, of_q[LANES] = {0};
        size_t bytes = (size_t)(n - j) * sizeof *a;
        memcpy(rest, a + j, bytes);
        if (does & SUMS) memcpy(of_x, x + j, bytes);
        if (does & ADDS) memcpy(of_q, q + j, bytes);
        complex_columns(does, rest, of_x, sum, y, of_q);
        if (does & ADDS) memcpy(q + j, of_q, bytes);
    }
    if (!(does & SUMS)) return;
    p[0] += add_lanes(sum[0]);
    p[1] += add_lanes(sum[1]);
}

static void matvec_c16(const cb_matvec *g)
{
    const double *a = g->a, *y = g->y;
    double *p = g->p;
    for (int64_t i = 0; i < g->m; i++) {
        const double *row = a + 2 * i * g->lda;
        if (g->p && g->q)
            complex_row(SUMS | ADDS, 2 * g->n, row, g->x, p + 2 * i, y + 2 * i, g->q);
        else if (g->p)
            complex_row(SUMS, 2 * g->n, row, g->x, p + 2 * i, NULL, NULL);
        else
            complex_row(ADDS, 2 * g->n, row, NULL, NULL, y + 2 * i, g->q);
    }
}

void CB_ISA_NAME(cb_fill_matvec)(cb_kernels *k)
{
    k->matvec[CUBED_FLOAT64] = matvec_f8;
    k->matvec[CUBED_COMPLEX128] = matvec_c16;
}
