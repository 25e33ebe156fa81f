/* Kernels for reductions. kernel.h defines the order of their operations. */
#include <math.h>
#include <string.h>

#include "kernel/kernel_isa.h"

typedef struct {
    float re, im;
} complex64;
typedef struct {
    double re, im;
} complex128;

#define AT_ONCE 8
/* Sums of integers wrap around (-fwrapv). */
#define START(T)   0
#define JOIN(a, b) ((a) + (b))
#define T          int64_t
#define TAG        sum_i8
#include "kernel/reduction.inc.h"
#define T   uint64_t
#define TAG sum_u8
#include "kernel/reduction.inc.h"
/* -0.0 is the neutral element, so that a sum of negative zeros is a negative zero. */
#undef START
#define START(T) (-0.0)
#define T        double
#define TAG      sum_f8
#include "kernel/reduction.inc.h"
/* Process more lanes per loop, because conversions to double add latency. */
#undef AT_ONCE
#define AT_ONCE 16
#define T       double
#define V       float
#define TAG     sum_f8_of_f4
#include "kernel/reduction.inc.h"
#undef AT_ONCE
#define AT_ONCE 8
#undef START
#undef JOIN

#define START(T)   1
#define JOIN(a, b) ((a) * (b))
#define T          int64_t
#define TAG        prod_i8
#include "kernel/reduction.inc.h"
#define T   uint64_t
#define TAG prod_u8
#include "kernel/reduction.inc.h"
#define T   double
#define TAG prod_f8
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN

/* Complex states are structs. Sums add the parts separately; products multiply as complex numbers. */
static inline complex128 complex_add(complex128 a, complex128 b)
{
    return (complex128){a.re + b.re, a.im + b.im};
}
static inline complex128 complex_mul(complex128 a, complex128 b)
{
    return (complex128){CB_ROUNDED(a.re * b.re) - CB_ROUNDED(a.im * b.im),
                        CB_ROUNDED(a.re * b.im) + CB_ROUNDED(a.im * b.re)};
}
#define T          complex128
#define START(T)   ((complex128){-0.0, -0.0})
#define JOIN(a, b) complex_add((a), (b))
#define TAG        sum_c16
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN
#define T          complex128
#define START(T)   ((complex128){1, 0})
#define JOIN(a, b) complex_mul((a), (b))
#define TAG        prod_c16
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN

#define C    complex64
#define REAL float
#define MIN  min_c8
#define MAX  max_c8
#include "kernel/reduction_complex.inc.h"
#define C    complex128
#define REAL double
#define MIN  min_c16
#define MAX  max_c16
#include "kernel/reduction_complex.inc.h"

#undef AT_ONCE
#define AT_ONCE CB_LANES
/* NaN propagates. If the state a is NaN, b < a is false and a stays. If the element b is NaN, b != b is true. */
#define JOIN(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#define START(T)   1
#define T          uint8_t
#define TAG        min_b1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT8_MAX
#define T        int8_t
#define TAG      min_i1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT16_MAX
#define T        int16_t
#define TAG      min_i2
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT32_MAX
#define T        int32_t
#define TAG      min_i4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT64_MAX
#define T        int64_t
#define TAG      min_i8
#include "kernel/reduction.inc.h"
#undef START
#define START(T) UINT8_MAX
#define T        uint8_t
#define TAG      min_u1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) UINT16_MAX
#define T        uint16_t
#define TAG      min_u2
#include "kernel/reduction.inc.h"
#undef START
#define START(T) UINT32_MAX
#define T        uint32_t
#define TAG      min_u4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) UINT64_MAX
#define T        uint64_t
#define TAG      min_u8
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INFINITY
#define T        float
#define TAG      min_f4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) (double)INFINITY
#define T        double
#define TAG      min_f8
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN

/* NaN propagates. If the state a is NaN, b > a is false and a stays. If the element b is NaN, b != b is true. */
#define JOIN(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define START(T)   0
#define T          uint8_t
#define TAG        max_b1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT8_MIN
#define T        int8_t
#define TAG      max_i1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT16_MIN
#define T        int16_t
#define TAG      max_i2
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT32_MIN
#define T        int32_t
#define TAG      max_i4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) INT64_MIN
#define T        int64_t
#define TAG      max_i8
#include "kernel/reduction.inc.h"
#undef START
#define START(T) 0
#define T        uint8_t
#define TAG      max_u1
#include "kernel/reduction.inc.h"
#undef START
#define START(T) 0
#define T        uint16_t
#define TAG      max_u2
#include "kernel/reduction.inc.h"
#undef START
#define START(T) 0
#define T        uint32_t
#define TAG      max_u4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) 0
#define T        uint64_t
#define TAG      max_u8
#include "kernel/reduction.inc.h"
#undef START
#define START(T) (-INFINITY)
#define T        float
#define TAG      max_f4
#include "kernel/reduction.inc.h"
#undef START
#define START(T) (-(double)INFINITY)
#define T        double
#define TAG      max_f8
#include "kernel/reduction.inc.h"
#undef START
#undef JOIN

#define V   float
#define TAG product_f4
#include "kernel/reduction_product.inc.h"
#define V   double
#define TAG product_f8
#include "kernel/reduction_product.inc.h"

/* --- Variance: s[0] is M2, the sum of squared deviations; s[1] the mean. --- */

static void init_m2(void *const *s, size_t n)
{
    memset(s[0], 0, n * sizeof(double));
    memset(s[1], 0, n * sizeof(double));
}

static void rows_m2(void *const *s, const void *x, size_t n, int64_t count)
{
    double *m2 = s[0], *mean = s[1], k = (double)(count + 1);
    const double *v = x;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        double delta = v[i] - mean[i];
        double m = mean[i] + delta / k;
        m2[i] += delta * (v[i] - m);
        mean[i] = m;
    }
}

/* Merges by the method of Chan, Golub and LeVeque (1983). If one side is empty, the bits of the other side are unchanged. */
static void merge_m2(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt)
{
    double *m2 = s[0], *mean = s[1];
    const double *tm2 = t[0], *tmean = t[1];
    if (nt == 0) return;
    if (ns == 0) {
        memcpy(m2, tm2, n * sizeof *m2);
        memcpy(mean, tmean, n * sizeof *mean);
        return;
    }
    double a = (double)ns, b = (double)nt, share = b / (a + b), weight = a * share;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        double delta = tmean[i] - mean[i];
        mean[i] += delta * share;
        m2[i] += tm2[i] + delta * delta * weight;
    }
}

static inline double lanes_sum(const double lane[8])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Computes the mean of a run and its M2, each in the order of lanes. */
static inline void lanes_m2(const double *v, size_t n, double *m2, double *mean)
{
    double lane[8] = {0}, m;
    size_t whole = n / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        for (size_t l = 0; l < 8; l++) lane[l] += v[i + l];
    }
    for (size_t i = whole; i < n; i++) lane[i - whole] += v[i];
    m = lanes_sum(lane) / (double)n;
    memset(lane, 0, sizeof lane);
    for (size_t i = 0; i < whole; i += 8) {
        for (size_t l = 0; l < 8; l++) lane[l] += (v[i + l] - m) * (v[i + l] - m);
    }
    for (size_t i = whole; i < n; i++) lane[i - whole] += (v[i] - m) * (v[i] - m);
    *mean = m;
    *m2 = lanes_sum(lane);
}

static void run_m2(void *const *s, const void *x, size_t n, int64_t count)
{
    double m2, mean;
    void *t[2] = {&m2, &mean};
    if (n == 0) return;
    lanes_m2(x, n, &m2, &mean);
    merge_m2(s, t, 1, count, (int64_t)n);
}

static void runs_m2(void *const *s, const void *x, size_t r, size_t n, int64_t count)
{
    const double *v = x;
    double m2[CB_VECTOR], mean[CB_VECTOR];
    void *t[2] = {m2, mean};
    for (size_t i = 0; i < n; i++, v += r) {
        if (r >= 8) {
            lanes_m2(v, r, &m2[i], &mean[i]);
            continue;
        }
        double sum = 0, squares = 0;
        for (size_t j = 0; j < r; j++) sum += v[j];
        mean[i] = sum / (double)r;
        for (size_t j = 0; j < r; j++) squares += (v[j] - mean[i]) * (v[j] - mean[i]);
        m2[i] = squares;
    }
    merge_m2(s, t, n, count, (int64_t)r);
}

/* --- Variance of values other than NaN: s[2] is their number. Without NaN the bits equal the plain variance. --- */

/* Replaces NaN by 0, the neutral element of a sum. */
static inline double number(double v) { return v == v ? v : 0; }
static inline double is_number(double v) { return v == v ? 1.0 : 0.0; }
static inline double square_off(double v, double mean)
{
    double off = v == v ? v - mean : 0;
    return off * off;
}

static void init_nan_m2(void *const *s, size_t n)
{
    init_m2(s, n);
    memset(s[2], 0, n * sizeof(double));
}

static void rows_nan_m2(void *const *s, const void *x, size_t n, int64_t count)
{
    double *m2 = s[0], *mean = s[1], *seen = s[2];
    const double *v = x;
    (void)count;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        bool is_nan = v[i] != v[i];
        double w = is_nan ? mean[i] : v[i];
        double k = seen[i] + is_number(v[i]);
        double delta = w - mean[i];
        double m = mean[i] + delta / (k > 0 ? k : 1.0);
        m2[i] += delta * (w - m);
        mean[i] = m;
        seen[i] = k;
    }
}

static void merge_nan_m2(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt)
{
    double *m2 = s[0], *mean = s[1], *seen = s[2];
    const double *tm2 = t[0], *tmean = t[1], *tseen = t[2];
    (void)ns;
    (void)nt;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        double a = seen[i], b = tseen[i], k = a + b;
        double share = b / (k > 0 ? k : 1.0), weight = a * share;
        double delta = tmean[i] - mean[i];
        double joint_mean = mean[i] + delta * share;
        double joint_m2 = m2[i] + (tm2[i] + delta * delta * weight);
        mean[i] = b == 0 ? mean[i] : a == 0 ? tmean[i] : joint_mean;
        m2[i] = b == 0 ? m2[i] : a == 0 ? tm2[i] : joint_m2;
        seen[i] = k;
    }
}

static inline void lanes_nan_m2(const double *v, size_t n, double *m2, double *mean, double *seen)
{
    double lane[8] = {0}, count[8] = {0}, k;
    size_t whole = n / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        for (size_t l = 0; l < 8; l++) {
            lane[l] += number(v[i + l]);
            count[l] += is_number(v[i + l]);
        }
    }
    for (size_t i = whole; i < n; i++) {
        lane[i - whole] += number(v[i]);
        count[i - whole] += is_number(v[i]);
    }
    *seen = k = lanes_sum(count);
    *mean = lanes_sum(lane) / (k > 0 ? k : 1.0);
    memset(lane, 0, sizeof lane);
    for (size_t i = 0; i < whole; i += 8) {
        for (size_t l = 0; l < 8; l++) lane[l] += square_off(v[i + l], *mean);
    }
    for (size_t i = whole; i < n; i++) lane[i - whole] += square_off(v[i], *mean);
    *m2 = lanes_sum(lane);
}

/* Computes the squared deviations, the mean and the count of the numbers of a short run, in the order of the elements. */
static inline void short_nan_m2(const double *v, size_t n, double *m2, double *mean, double *seen)
{
    double sum = 0, squares = 0, k = 0;
    for (size_t j = 0; j < n; j++) {
        sum += number(v[j]);
        k += is_number(v[j]);
    }
    *seen = k;
    *mean = sum / (k > 0 ? k : 1.0);
    for (size_t j = 0; j < n; j++) squares += square_off(v[j], *mean);
    *m2 = squares;
}

static void run_nan_m2(void *const *s, const void *x, size_t n, int64_t count)
{
    double m2, mean, seen;
    void *t[3] = {&m2, &mean, &seen};
    lanes_nan_m2(x, n, &m2, &mean, &seen);
    merge_nan_m2(s, t, 1, count, (int64_t)n);
}

static void runs_nan_m2(void *const *s, const void *x, size_t r, size_t n, int64_t count)
{
    const double *v = x;
    double m2[CB_VECTOR], mean[CB_VECTOR], seen[CB_VECTOR];
    void *t[3] = {m2, mean, seen};
    for (size_t i = 0; i < n; i++, v += r) {
        if (r >= 8)
            lanes_nan_m2(v, r, &m2[i], &mean[i], &seen[i]);
        else
            short_nan_m2(v, r, &m2[i], &mean[i], &seen[i]);
    }
    merge_nan_m2(s, t, n, count, (int64_t)r);
}

#define FNS(tag)                                                                                   \
    ((cb_reduce_fns){init_##tag, rows_##tag, lanes_##tag, join_##tag, NULL, runs_##tag,            \
                     merge_##tag})
#define RUN_FNS(tag)                                                                               \
    ((cb_reduce_fns){init_##tag, rows_##tag, NULL, NULL, run_##tag, runs_##tag, merge_##tag})

void CB_ISA_NAME(cb_fill_reduce)(cb_kernels *k)
{
    cb_reduce_fns(*f)[CUBED_DTYPE_COUNT] = k->reduction;
    k->sum_of_products[CUBED_FLOAT32] =
        (cb_product_fns){rows_product_f4, lanes_product_f4, runs_product_f4};
    k->sum_of_products[CUBED_FLOAT64] =
        (cb_product_fns){rows_product_f8, lanes_product_f8, runs_product_f8};
    f[CB_REDUCE_M2][CUBED_FLOAT64] = RUN_FNS(m2);
    f[CB_REDUCE_NAN_M2][CUBED_FLOAT64] = RUN_FNS(nan_m2);
    f[CB_REDUCE_SUM][CUBED_INT64] = FNS(sum_i8);
    f[CB_REDUCE_SUM][CUBED_UINT64] = FNS(sum_u8);
    f[CB_REDUCE_SUM][CUBED_FLOAT64] = FNS(sum_f8);
    k->reduce_float32[CB_REDUCE_SUM] = FNS(sum_f8_of_f4);
    f[CB_REDUCE_SUM][CUBED_COMPLEX128] = FNS(sum_c16);
    f[CB_REDUCE_PROD][CUBED_INT64] = FNS(prod_i8);
    f[CB_REDUCE_PROD][CUBED_UINT64] = FNS(prod_u8);
    f[CB_REDUCE_PROD][CUBED_FLOAT64] = FNS(prod_f8);
    f[CB_REDUCE_PROD][CUBED_COMPLEX128] = FNS(prod_c16);
    f[CB_REDUCE_MIN][CUBED_BOOL] = FNS(min_b1);
    f[CB_REDUCE_MIN][CUBED_INT8] = FNS(min_i1);
    f[CB_REDUCE_MIN][CUBED_INT16] = FNS(min_i2);
    f[CB_REDUCE_MIN][CUBED_INT32] = FNS(min_i4);
    f[CB_REDUCE_MIN][CUBED_INT64] = FNS(min_i8);
    f[CB_REDUCE_MIN][CUBED_UINT8] = FNS(min_u1);
    f[CB_REDUCE_MIN][CUBED_UINT16] = FNS(min_u2);
    f[CB_REDUCE_MIN][CUBED_UINT32] = FNS(min_u4);
    f[CB_REDUCE_MIN][CUBED_UINT64] = FNS(min_u8);
    f[CB_REDUCE_MIN][CUBED_FLOAT32] = FNS(min_f4);
    f[CB_REDUCE_MIN][CUBED_FLOAT64] = FNS(min_f8);
    f[CB_REDUCE_MIN][CUBED_COMPLEX64] = FNS(min_c8);
    f[CB_REDUCE_MIN][CUBED_COMPLEX128] = FNS(min_c16);
    f[CB_REDUCE_MAX][CUBED_BOOL] = FNS(max_b1);
    f[CB_REDUCE_MAX][CUBED_INT8] = FNS(max_i1);
    f[CB_REDUCE_MAX][CUBED_INT16] = FNS(max_i2);
    f[CB_REDUCE_MAX][CUBED_INT32] = FNS(max_i4);
    f[CB_REDUCE_MAX][CUBED_INT64] = FNS(max_i8);
    f[CB_REDUCE_MAX][CUBED_UINT8] = FNS(max_u1);
    f[CB_REDUCE_MAX][CUBED_UINT16] = FNS(max_u2);
    f[CB_REDUCE_MAX][CUBED_UINT32] = FNS(max_u4);
    f[CB_REDUCE_MAX][CUBED_UINT64] = FNS(max_u8);
    f[CB_REDUCE_MAX][CUBED_FLOAT32] = FNS(max_f4);
    f[CB_REDUCE_MAX][CUBED_FLOAT64] = FNS(max_f8);
    f[CB_REDUCE_MAX][CUBED_COMPLEX64] = FNS(max_c8);
    f[CB_REDUCE_MAX][CUBED_COMPLEX128] = FNS(max_c16);
}
