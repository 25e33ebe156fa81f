/* Reductions of every instruction set, compared bit by bit with a scalar reference of the documented order. */
#include "kernel_test.h"

static bool has_reduce(int reduction, cubed_dtype t)
{
    if (reduction == CB_REDUCE_LAST) return false; /* running only */
    if (reduction == CB_REDUCE_M2 || reduction == CB_REDUCE_NAN_M2) return t == CUBED_FLOAT64;
    if (reduction == CB_REDUCE_ARGMIN || reduction == CB_REDUCE_ARGMAX)
        return t == CUBED_INT64 || t == CUBED_UINT64 || t == CUBED_FLOAT64;
    if (reduction == CB_REDUCE_MIN || reduction == CB_REDUCE_MAX) return t < CUBED_DTYPE_COUNT;
    return t == CUBED_INT64 || t == CUBED_UINT64 || t == CUBED_FLOAT64 || t == CUBED_COMPLEX128;
}

static bool has_lanes(int reduction) { return reduction <= CB_REDUCE_MAX; }

static void check_holes(const cb_kernels *k)
{
    for (int f = 0; f < CB_REDUCTIONS; f++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            const cb_reduce_fns *fns = &k->reduction[f][t];
            bool want = has_reduce(f, (cubed_dtype)t);
            assert_int_equal(cb_kernel_has_reduce((cb_reduction)f, (cubed_dtype)t), want);
            assert_int_equal(fns->init != NULL, want);
            assert_int_equal(fns->rows != NULL, want);
            assert_int_equal(fns->run != NULL, want && !has_lanes(f));
            assert_int_equal(fns->lanes != NULL, want && has_lanes(f));
            assert_int_equal(fns->join != NULL, want && has_lanes(f));
            assert_int_equal(fns->runs != NULL, want);
            assert_int_equal(fns->merge != NULL, want);
        }
    }
}
static void test_holes(void **state)
{
    (void)state;
    for_each_isa(check_holes);
}

/* --- Sum, product, minimum, maximum ----------------------------------------------------------- */

static double join_real(int reduction, double a, double b)
{
    switch (reduction) {
    case CB_REDUCE_SUM: return a + b;
    case CB_REDUCE_PROD: return a * b;
    case CB_REDUCE_MIN: return isnan(a) ? a : isnan(b) || b < a ? b : a;
    default: return isnan(a) ? a : isnan(b) || b > a ? b : a;
    }
}

/* Complex numbers are ordered by real parts, then by imaginary parts. A NaN in one part makes both parts of the result NaN. */
static cubed_scalar join_complex_extreme(int reduction, cubed_dtype t, cubed_scalar a,
                                         cubed_scalar b)
{
    const cubed_scalar nan = {.c128 = {NAN, NAN}};
    const double sign = reduction == CB_REDUCE_MAX ? 1 : -1;
    cubed_scalar x, y, r;
    cb_scalar_cast(t, &a, CUBED_COMPLEX128, &x);
    cb_scalar_cast(t, &b, CUBED_COMPLEX128, &y);
    if (isnan(y.c128[0]) || isnan(y.c128[1])) {
        cb_scalar_cast(CUBED_COMPLEX128, &nan, t, &r);
        return r;
    }
    if (sign * y.c128[0] > sign * x.c128[0]) return b;
    return y.c128[0] == x.c128[0] && sign * y.c128[1] > sign * x.c128[1] ? b : a;
}

static cubed_scalar join(int reduction, cubed_dtype t, cubed_scalar a, cubed_scalar b)
{
    cubed_scalar r = {{0}};
    cubed_scalar wa, wb;
    if (cubed_dtype_kind(t) == CUBED_KIND_COMPLEX && reduction > CB_REDUCE_PROD)
        return join_complex_extreme(reduction, t, a, b);
    switch (cubed_dtype_kind(t)) {
    case CUBED_KIND_FLOAT:
        cb_scalar_cast(t, &a, CUBED_FLOAT64, &wa);
        cb_scalar_cast(t, &b, CUBED_FLOAT64, &wb);
        wa.f64 = join_real(reduction, wa.f64, wb.f64);
        cb_scalar_cast(CUBED_FLOAT64, &wa, t, &r);
        return r;
    case CUBED_KIND_COMPLEX:
        if (reduction == CB_REDUCE_SUM) {
            r.c128[0] = a.c128[0] + b.c128[0];
            r.c128[1] = a.c128[1] + b.c128[1];
        } else {
            r.c128[0] = a.c128[0] * b.c128[0] - a.c128[1] * b.c128[1];
            r.c128[1] = a.c128[0] * b.c128[1] + a.c128[1] * b.c128[0];
        }
        return r;
    case CUBED_KIND_INT:
        cb_scalar_cast(t, &a, CUBED_INT64, &wa);
        cb_scalar_cast(t, &b, CUBED_INT64, &wb);
        if (reduction == CB_REDUCE_MIN) return wa.i64 < wb.i64 ? a : b;
        if (reduction == CB_REDUCE_MAX) return wa.i64 > wb.i64 ? a : b;
        break;
    default:
        cb_scalar_cast(t, &a, CUBED_UINT64, &wa);
        cb_scalar_cast(t, &b, CUBED_UINT64, &wb);
        if (reduction == CB_REDUCE_MIN) return wa.u64 < wb.u64 ? a : b;
        if (reduction == CB_REDUCE_MAX) return wa.u64 > wb.u64 ? a : b;
        break;
    }
    r.u64 = reduction == CB_REDUCE_SUM ? wa.u64 + wb.u64 : wa.u64 * wb.u64;
    return r;
}

/* Neutral by definition: joined with any value, it gives that value. */
static cubed_scalar neutral(const cb_kernels *k, int reduction, cubed_dtype t)
{
    cubed_scalar s = {{0}};
    k->reduction[reduction][t].init((void *[]){&s}, 1);
    return s;
}

static cubed_scalar reference_lanes(int reduction, cubed_dtype t, cubed_scalar start,
                                    cubed_scalar state, size_t width, const cubed_scalar *x,
                                    size_t n)
{
    cubed_scalar lane[CB_LANES];
    for (size_t l = 0; l < width; l++) lane[l] = start;
    for (size_t i = 0; i < n; i++) lane[i % width] = join(reduction, t, lane[i % width], x[i]);
    for (size_t half = width / 2; half; half /= 2) {
        for (size_t l = 0; l < half; l++) lane[l] = join(reduction, t, lane[l], lane[l + half]);
    }
    return join(reduction, t, state, lane[0]);
}

/* Short runs have 8 lanes; runs of fewer than 8 elements are reduced in order. */
static cubed_scalar reference_short(int reduction, cubed_dtype t, cubed_scalar start,
                                    cubed_scalar state, const cubed_scalar *x, size_t r)
{
    if (r >= 8) return reference_lanes(reduction, t, start, state, 8, x, r);
    for (size_t j = 0; j < r; j++) state = join(reduction, t, state, x[j]);
    return state;
}

/* Reduces one stretch of a run, in vectors of CB_VECTOR elements. */
static void stretch(const cb_reduce_fns *fns, void *state, size_t size, const char *x, size_t n)
{
    _Alignas(64) char lanes[CB_LANES_BYTES];
    fns->init((void *[]){lanes}, CB_LANES);
    for (size_t p = 0; p < n; p += CB_VECTOR)
        fns->lanes(lanes, x + p * size, n - p < CB_VECTOR ? n - p : CB_VECTOR);
    fns->join((void *[]){state}, lanes);
    /* Elements after the end are not reduced. */
    char before[sizeof(cubed_scalar)];
    memcpy(before, state, size);
    fns->join((void *[]){state}, lanes);
    assert_memory_equal(state, before, size);
}

static void fail_reduce(const cb_kernels *k, int reduction, cubed_dtype t, const char *what,
                        size_t n, const void *got, const void *want)
{
    fail_msg("%s: reduction %d of %s, %s, n = %zu: %.17g, expected %.17g", k->isa, reduction,
             cubed_dtype_name(t), what, n, shown(t, got), shown(t, want));
}

/* Fills x and `packed` with ordinary values. `wild` adds edge values. */
static void fill(cubed_dtype t, cubed_scalar *x, char *packed, size_t n, bool wild, uint64_t *seed)
{
    size_t size = cubed_dtype_size(t);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = next_random(seed);
        if (wild && r % 3 == 0)
            x[i] = edge(t, (int)(r / 3 % EDGES));
        else if (cubed_dtype_kind(t) < CUBED_KIND_FLOAT)
            x[i] = cb_scalar_from_i64(t, (int64_t)(next_random(seed) >> (r % 60)));
        else
            x[i] = cb_scalar_from_double(t, ((double)(r >> 11) * 0x1p-53 - 0.5) * 4);
        if (t == CUBED_BOOL) x[i].u8 = (uint8_t)(r & 1);
        if (t == CUBED_COMPLEX64) x[i].c64[1] = (float)(r % 7) / 2 - 1.5F;
        if (t == CUBED_COMPLEX128 && !wild) x[i].c128[1] = (double)(r % 1001) / 300 - 1.5;
        memcpy(packed + i * size, &x[i], size);
    }
}

static void check_reductions(const cb_kernels *k)
{
    cubed_scalar x[3 * CB_VECTOR], y[CB_VECTOR];
    _Alignas(64) char px[3 * CB_VECTOR * 16 + 16], py[CB_VECTOR * 16];
    uint64_t seed = 1;
    for (int f = CB_REDUCE_SUM; f <= CB_REDUCE_MAX; f++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            cubed_dtype dt = (cubed_dtype)t;
            const cb_reduce_fns *fns = &k->reduction[f][t];
            if (!fns->init) continue;
            size_t size = cubed_dtype_size(dt);
            cubed_scalar start = neutral(k, f, dt);
            for (size_t n = 0; n <= CB_VECTOR; n++) {
                /* Reduce a run of up to three vectors, whose address is a multiple only of the element size. */
                size_t length = n + n % 3 * CB_VECTOR;
                fill(dt, x, px + size, length, n % 2, &seed);
                cubed_scalar state = start, want;
                if (n % 4 == 3) state = edge(dt, 14);
                want = reference_lanes(f, dt, start, state, CB_LANES, x, length);
                stretch(fns, &state, size, px + size, length);
                if (!same_value(dt, &state, &want))
                    fail_reduce(k, f, dt, "run", length, &state, &want);
                /* Update n adjacent states with one element each, then merge two such rows of states. */
                fill(dt, x, px, n, n % 2, &seed);
                fill(dt, y, py, n, n % 2, &seed);
                fns->rows((void *[]){px}, py, n, 1);
                for (size_t i = 0; i < n; i++) {
                    want = x[i] = join(f, dt, x[i], y[i]);
                    if (!same_value(dt, px + i * size, &want))
                        fail_reduce(k, f, dt, "rows", n, px + i * size, &want);
                }
                fns->merge((void *[]){px}, (void *[]){py}, n, 2, 1);
                for (size_t i = 0; i < n; i++) {
                    want = join(f, dt, x[i], y[i]);
                    if (!same_value(dt, px + i * size, &want))
                        fail_reduce(k, f, dt, "merge", n, px + i * size, &want);
                }
                /* Adjacent runs of n elements. */
                size_t runs = n > 0 ? CB_VECTOR / n : 0;
                fill(dt, x, px + size, n * runs, n % 2, &seed);
                fill(dt, y, py, runs, n % 2, &seed);
                if (n > 0) fns->runs((void *[]){py}, px + size, n, runs, 1);
                for (size_t i = 0; i < runs; i++) {
                    want = reference_short(f, dt, start, y[i], x + i * n, n);
                    if (!same_value(dt, py + i * size, &want))
                        fail_reduce(k, f, dt, "runs", n, py + i * size, &want);
                }
            }
        }
    }
}
static void test_reductions(void **state)
{
    (void)state;
    for_each_isa(check_reductions);
}

static void check_neutral(const cb_kernels *k)
{
    for (int f = CB_REDUCE_SUM; f <= CB_REDUCE_MAX; f++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            if (!k->reduction[f][t].init) continue;
            cubed_dtype dt = (cubed_dtype)t;
            for (int e = 0; e < EDGES; e++) {
                cubed_scalar s = neutral(k, f, dt), x = edge(dt, e);
                /* A product of 1+0j with a number that has an infinite or NaN part has a NaN part, so skip it. */
                if (dt == CUBED_COMPLEX128 && f == CB_REDUCE_PROD) continue;
                k->reduction[f][t].rows((void *[]){&s}, &x, 1, 0);
                if (cubed_dtype_kind(dt) == CUBED_KIND_COMPLEX && f >= CB_REDUCE_MIN)
                    x = join(f, dt, x, x); /* a complex number whose parts are both NaN */
                if (!same_value(dt, &s, &x)) fail_reduce(k, f, dt, "neutral", 1, &s, &x);
            }
        }
    }
    /* A sum of negative zeros is -0. */
    double zeros[11] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0}, s;
    for (size_t r = 1; r <= 11; r++) {
        k->reduction[CB_REDUCE_SUM][CUBED_FLOAT64].init((void *[]){&s}, 1);
        stretch(&k->reduction[CB_REDUCE_SUM][CUBED_FLOAT64], &s, 8, (const char *)zeros, r);
        k->reduction[CB_REDUCE_SUM][CUBED_FLOAT64].runs((void *[]){&s}, zeros, r, 1, 0);
        assert_true(s == 0 && signbit(s));
    }
}
static void test_neutral(void **state)
{
    (void)state;
    for_each_isa(check_neutral);
}

/* Each part of a complex number may be infinite, and a NaN in either part determines the result. */
static void check_complex_extremes(const cb_kernels *k)
{
    static const double parts[4] = {-INFINITY, -1, 2, INFINITY};
    for (int f = CB_REDUCE_MIN; f <= CB_REDUCE_MAX; f++) {
        const cb_reduce_fns *fns = &k->reduction[f][CUBED_COMPLEX128];
        for (int pair = 0; pair < 256; pair++) {
            double x[2][2], s[2];
            for (int i = 0; i < 4; i++) x[i / 2][i % 2] = parts[pair >> (2 * i) & 3];
            bool first = x[0][0] != x[1][0] ? x[0][0] > x[1][0] : x[0][1] >= x[1][1];
            const double *want = x[first == (f == CB_REDUCE_MAX) ? 0 : 1];
            fns->init((void *[]){s}, 1);
            fns->runs((void *[]){s}, x, 2, 1, 0);
            assert_true(s[0] == want[0] && s[1] == want[1]);
            x[pair / 2 % 2][pair % 2] = NAN;
            fns->runs((void *[]){s}, x, 2, 1, 0);
            assert_true(isnan(s[0]) && isnan(s[1]));
        }
    }
}
static void test_complex_extremes(void **state)
{
    (void)state;
    for_each_isa(check_complex_extremes);
}

/* One NaN anywhere makes a minimum or maximum NaN, whatever follows. */
static void check_nan(const cb_kernels *k)
{
    double x[CB_VECTOR], s;
    for (int f = CB_REDUCE_MIN; f <= CB_REDUCE_MAX; f++) {
        for (size_t at = 0; at < CB_VECTOR; at++) {
            for (size_t i = 0; i < CB_VECTOR; i++) x[i] = i % 2 ? INFINITY : -INFINITY;
            x[at] = NAN;
            void *planes[1] = {&s};
            k->reduction[f][CUBED_FLOAT64].init(planes, 1);
            stretch(&k->reduction[f][CUBED_FLOAT64], &s, 8, (const char *)x, CB_VECTOR);
            assert_true(isnan(s));
            k->reduction[f][CUBED_FLOAT64].rows(planes, &x[(at + 1) % CB_VECTOR], 1, CB_VECTOR);
            assert_true(isnan(s));
            k->reduction[f][CUBED_FLOAT64].init(planes, 1);
            k->reduction[f][CUBED_FLOAT64].runs(planes, x, at + 1, 1, 0);
            k->reduction[f][CUBED_FLOAT64].runs(planes, &x[(at + 1) % CB_VECTOR], 1, 1, 0);
            assert_true(isnan(s));
        }
    }
}
static void test_nan(void **state)
{
    (void)state;
    for_each_isa(check_nan);
}

/* --- Sums of products --------------------------------------------------------------------------- */

/* Sums of products have the same bits if a separate operation multiplies first. Checks each function. */
static void check_products(const cb_kernels *k)
{
    static const cubed_dtype types[2] = {CUBED_FLOAT32, CUBED_FLOAT64};
    cubed_scalar ignored[CB_VECTOR];
    _Alignas(64) char x[CB_VECTOR * 8 + 8], y[CB_VECTOR * 8 + 8], product[CB_VECTOR * 8];
    double got[CB_VECTOR], want[CB_VECTOR];
    uint64_t seed = 11;
    for (int t = 0; t < CUBED_DTYPE_COUNT; t++)
        assert_int_equal(k->sum_of_products[t].rows != NULL,
                         t == CUBED_FLOAT32 || t == CUBED_FLOAT64);
    for (int t = 0; t < 2; t++) {
        const cb_product_fns *fns = &k->sum_of_products[types[t]];
        const cb_reduce_fns *sum = t == 0 ? &k->reduce_float32[CB_REDUCE_SUM]
                                          : &k->reduction[CB_REDUCE_SUM][CUBED_FLOAT64];
        size_t size = cubed_dtype_size(types[t]);
        for (size_t n = 0; n <= CB_VECTOR; n++) {
            /* Addresses are multiples only of the element size. In every fourth case, both factors are the same. */
            const char *a = x + size, *b = n % 4 == 3 ? a : y + size;
            size_t runs = n > 0 ? CB_VECTOR / n : 0;
            fill(types[t], ignored, x + size, CB_VECTOR, n % 2, &seed);
            fill(types[t], ignored, y + size, CB_VECTOR, n % 2, &seed);
            k->elem[CUBED_OP_MULTIPLY][types[t]](product, a, b, a, CB_VECTOR);
            for (int way = 0; way < 3; way++) {
                void *w = want;
                for (size_t i = 0; i < CB_VECTOR; i++) got[i] = want[i] = (double)i / 3;
                if (way == 0) {
                    fns->rows(got, a, b, n);
                    sum->rows(&w, product, n, 0);
                } else if (way == 1) {
                    fns->lanes(got, a, b, n);
                    sum->lanes(w, product, n);
                } else if (n > 0) {
                    fns->runs(got, a, b, n, runs);
                    sum->runs(&w, product, n, runs, 0);
                }
                for (size_t i = 0; i < CB_VECTOR; i++) {
                    if (!same_value(CUBED_FLOAT64, &got[i], &want[i]))
                        fail_reduce(k, CB_REDUCE_SUM, types[t], "product", n, &got[i], &want[i]);
                }
            }
        }
    }
}
static void test_products(void **state)
{
    (void)state;
    for_each_isa(check_products);
}

/* --- Variance --------------------------------------------------------------------------------- */

static void reference_m2_merge(double *m2, double *mean, double tm2, double tmean, int64_t ns,
                               int64_t nt)
{
    if (nt == 0) return;
    if (ns == 0) {
        *m2 = tm2;
        *mean = tmean;
        return;
    }
    double a = (double)ns, b = (double)nt, share = b / (a + b), delta = tmean - *mean;
    *mean += delta * share;
    *m2 += tm2 + delta * delta * (a * share);
}

static double lanes(const double *x, size_t n, double mean, bool squares)
{
    double lane[8] = {0};
    for (size_t i = 0; i < n; i++) lane[i % 8] += squares ? (x[i] - mean) * (x[i] - mean) : x[i];
    for (int half = 4; half; half /= 2) {
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    }
    return lane[0];
}

/* Sums a short run in the order of its elements, and a longer one by lanes. */
static double ordered(const double *x, size_t n, double mean, bool squares)
{
    double sum = 0;
    if (n >= 8) return lanes(x, n, mean, squares);
    for (size_t i = 0; i < n; i++) sum += squares ? (x[i] - mean) * (x[i] - mean) : x[i];
    return sum;
}

static void check_m2(const cb_kernels *k)
{
    const cb_reduce_fns *fns = &k->reduction[CB_REDUCE_M2][CUBED_FLOAT64];
    double x[CB_VECTOR + 1], m2[CB_VECTOR], mean[CB_VECTOR], s0[CB_VECTOR], s1[CB_VECTOR];
    uint64_t seed = 7;
    for (size_t n = 0; n <= CB_VECTOR; n++) {
        for (size_t i = 0; i <= n; i++) x[i] = (double)(next_random(&seed) % 10000) / 7 - 300;
        for (int64_t count = 0; count < 3; count++) {
            double a = 12.5 * (double)count, b = count ? 3.25 : 0, wa = a, wb = b;
            if (n > 0) {
                double center = lanes(x + 1, n, 0, false) / (double)n;
                reference_m2_merge(&wa, &wb, lanes(x + 1, n, center, true), center, count,
                                   (int64_t)n);
            }
            fns->run((void *[]){&a, &b}, x + 1, n, count);
            assert_memory_equal(&a, &wa, 8);
            assert_memory_equal(&b, &wb, 8);
            for (size_t i = 0; i < CB_VECTOR; i++) {
                m2[i] = s0[i] = 12.5 * (double)count;
                mean[i] = s1[i] = count ? 3.25 + (double)i : 0;
            }
            size_t runs = n > 0 ? CB_VECTOR / n : 0;
            for (size_t i = 0; i <= CB_VECTOR; i++)
                x[i] = (double)(next_random(&seed) % 10000) / 7 - 300;
            if (n > 0) fns->runs((void *[]){m2, mean}, x + 1, n, runs, count);
            for (size_t i = 0; i < runs; i++) {
                const double *v = x + 1 + i * n;
                double center = ordered(v, n, 0, false) / (double)n;
                reference_m2_merge(&s0[i], &s1[i], ordered(v, n, center, true), center, count,
                                   (int64_t)n);
            }
            assert_memory_equal(m2, s0, sizeof m2);
            assert_memory_equal(mean, s1, sizeof mean);
        }
        /* Welford's method row by row, and merges with all combinations of empty states. */
        fns->init((void *[]){m2, mean}, n);
        for (size_t i = 0; i < n; i++) s0[i] = s1[i] = 0;
        for (int64_t count = 0; count < 5; count++) {
            fns->rows((void *[]){m2, mean}, x, n, count);
            for (size_t i = 0; i < n; i++) {
                double delta = x[i] - s1[i];
                s1[i] += delta / (double)(count + 1);
                s0[i] += delta * (x[i] - s1[i]);
            }
            assert_memory_equal(m2, s0, n * 8);
            assert_memory_equal(mean, s1, n * 8);
            for (size_t i = 0; i < n; i++) x[i] = x[i] * 1.5 - (double)i;
        }
        const int64_t sides[3][2] = {{5, 0}, {0, 3}, {5, 3}};
        for (int v = 0; v < 3; v++) {
            fns->merge((void *[]){m2, mean}, (void *[]){x, x + 1}, n, sides[v][0], sides[v][1]);
            for (size_t i = 0; i < n; i++)
                reference_m2_merge(&s0[i], &s1[i], x[i], x[i + 1], sides[v][0], sides[v][1]);
            assert_memory_equal(m2, s0, n * 8);
            assert_memory_equal(mean, s1, n * 8);
        }
    }
    /* Deviations are accurate with a large mean: 4, 7, 13, 16 have mean 10 and a sum of squares of 90. */
    double big[4] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, a = 0, b = 0;
    fns->run((void *[]){&a, &b}, big, 4, 0);
    assert_true(a == 90 && b == 1e9 + 10);
    a = b = 0;
    for (int i = 0; i < 4; i++) fns->rows((void *[]){&a, &b}, &big[i], 1, i);
    assert_true(fabs(a - 90) < 1e-6);
}
static void test_m2(void **state)
{
    (void)state;
    for_each_isa(check_m2);
}

/* --- Variance without NaN --------------------------------------------------------------------- */

enum { PLANES = 3 };

/* Without NaN the bits equal those of the plain variance; with NaN those of the remaining elements. */
static void check_nan_m2(const cb_kernels *k)
{
    const cb_reduce_fns *nan = &k->reduction[CB_REDUCE_NAN_M2][CUBED_FLOAT64];
    const cb_reduce_fns *plain = &k->reduction[CB_REDUCE_M2][CUBED_FLOAT64];
    double x[CB_VECTOR], a[PLANES][CB_VECTOR], b[2][CB_VECTOR];
    void *pa[PLANES] = {a[0], a[1], a[2]}, *pb[2] = {b[0], b[1]};
    uint64_t seed = 11;
    for (size_t n = 1; n <= CB_VECTOR; n++) {
        for (size_t i = 0; i < CB_VECTOR; i++) x[i] = within(&seed, -300, 700);
        size_t runs = CB_VECTOR / n;
        nan->init(pa, runs);
        plain->init(pb, runs);
        nan->runs(pa, x, n, runs, 0);
        plain->runs(pb, x, n, runs, 0);
        nan->rows(pa, x, runs, (int64_t)n);
        plain->rows(pb, x, runs, (int64_t)n);
        nan->run(pa, x, n, (int64_t)n + 1);
        plain->run(pb, x, n, (int64_t)n + 1);
        assert_true(a[2][0] == (double)(2 * n + 1));
        if (runs > 1) assert_true(a[2][1] == (double)(n + 1));
        assert_memory_equal(a[0], b[0], runs * 8);
        assert_memory_equal(a[1], b[1], runs * 8);
        /* NaN has no effect, neither as an element nor as a state without values. */
        double before[PLANES][CB_VECTOR], none[PLANES][CB_VECTOR];
        memcpy(before, a, sizeof a);
        for (size_t i = 0; i < CB_VECTOR; i++) x[i] = NAN;
        nan->runs(pa, x, n, runs, 5);
        nan->rows(pa, x, runs, 5);
        nan->run(pa, x, n, 5);
        void *pn[PLANES] = {none[0], none[1], none[2]};
        nan->init(pn, runs);
        nan->rows(pn, x, runs, 0);
        nan->merge(pa, pn, runs, 5, 1);
        for (int p = 0; p < PLANES; p++) assert_memory_equal(a[p], before[p], runs * 8);
        nan->merge(pn, pa, runs, 1, 5);
        for (int p = 0; p < PLANES; p++) assert_memory_equal(none[p], before[p], runs * 8);
    }
    /* 4, 7, 13, 16 between NaN have a sum of squares of 90 around 10, by each function. */
    double some[8] = {1e9 + 4, NAN, 1e9 + 7, NAN, NAN, 1e9 + 13, NAN, 1e9 + 16};
    nan->init(pa, 1);
    nan->run(pa, some, 8, 0);
    assert_true(a[0][0] == 90 && a[1][0] == 1e9 + 10 && a[2][0] == 4);
    nan->init(pa, 1);
    for (int i = 0; i < 8; i++) nan->rows(pa, &some[i], 1, i);
    assert_true(fabs(a[0][0] - 90) < 1e-6 && a[2][0] == 4);
    nan->init(pa, 1);
    nan->run(pa, some, 3, 0);
    nan->runs(pa, some + 3, 5, 1, 3);
    assert_true(fabs(a[0][0] - 90) < 1e-6 && a[2][0] == 4);
}
static void test_nan_m2(void **state)
{
    (void)state;
    for_each_isa(check_nan_m2);
}

/* --- Positions -------------------------------------------------------------------------------- */

/* Returns true if x is to be preferred to y: x is more extreme, or x is NaN and y is not. */
static bool comes_before(int reduction, cubed_dtype t, const cubed_scalar *x, const cubed_scalar *y)
{
    if (t == CUBED_FLOAT64) {
        if (isnan(x->f64) || isnan(y->f64)) return isnan(x->f64) && !isnan(y->f64);
        return reduction == CB_REDUCE_ARGMIN ? x->f64 < y->f64 : x->f64 > y->f64;
    }
    if (t == CUBED_INT64) return reduction == CB_REDUCE_ARGMIN ? x->i64 < y->i64 : x->i64 > y->i64;
    return reduction == CB_REDUCE_ARGMIN ? x->u64 < y->u64 : x->u64 > y->u64;
}

static int64_t first_of(int reduction, cubed_dtype t, const cubed_scalar *x, size_t step, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++) {
        if (comes_before(reduction, t, &x[i * step], &x[at * step])) at = i;
    }
    return (int64_t)at;
}

static int64_t as_position(cubed_dtype t, cubed_scalar s)
{
    cubed_scalar to;
    cb_scalar_cast(t, &s, CUBED_INT64, &to);
    return to.i64;
}

/* Reduces x to a position by each function, in one piece, and in pieces in another order. */
static void check_position(const cb_kernels *k, int reduction, cubed_dtype t, const cubed_scalar *x,
                           size_t n)
{
    const cb_reduce_fns *fns = &k->reduction[reduction][t];
    int64_t want = first_of(reduction, t, x, 1, n), packed[CB_VECTOR];
    for (size_t i = 0; i < n; i++) packed[i] = x[i].i64;
    for (int way = 0; way < 4; way++) {
        cubed_scalar s[2], u[2];
        size_t half = n / 2;
        void *state[2] = {&s[0], &s[1]}, *other[2] = {&u[0], &u[1]};
        fns->init(state, 1);
        fns->init(other, 1);
        switch (way) {
        case 0: fns->run(state, packed, n, 100); break;
        case 1: fns->runs(state, packed, n, 1, 100); break;
        case 2: /* reduce the second half first */
            fns->run(state, packed + half, n - half, 100 + (int64_t)half);
            fns->run(state, packed, half, 100);
            break;
        default: /* reduce backwards, alternating between two states */
            for (size_t i = n; i-- > 0;)
                fns->rows(i < half ? state : other, &packed[i], 1, 100 + (int64_t)i);
            fns->merge(state, other, 1, (int64_t)half, (int64_t)(n - half));
        }
        if (as_position(t, s[0]) != 100 + want)
            fail_msg("%s: reduction %d of %s, way %d, n = %zu: %lld, expected %lld", k->isa,
                     reduction, cubed_dtype_name(t), way, n, (long long)as_position(t, s[0]),
                     (long long)(100 + want));
        assert_true(!comes_before(reduction, t, &s[1], &x[want]) &&
                    !comes_before(reduction, t, &x[want], &s[1]));
    }
}

static void check_positions(const cb_kernels *k)
{
    static const cubed_dtype types[] = {CUBED_INT64, CUBED_UINT64, CUBED_FLOAT64};
    uint64_t seed = 3;
    for (int reduction = CB_REDUCE_ARGMIN; reduction <= CB_REDUCE_ARGMAX; reduction++) {
        for (int i = 0; i < 3; i++) {
            cubed_dtype t = types[i];
            const cb_reduce_fns *fns = &k->reduction[reduction][t];
            cubed_scalar x[CB_VECTOR];
            int64_t packed[CB_VECTOR], at[CB_VECTOR], best[CB_VECTOR];
            for (size_t n = 1; n <= CB_VECTOR; n++) {
                /* Ordinary values, edge values, a few distinct values with many ties, and all equal. */
                for (int what = 0; what < 4 + EDGES; what++) {
                    fill(t, x, (char *)packed, CB_VECTOR, what == 1, &seed);
                    for (size_t j = 0; j < CB_VECTOR && what > 1; j++)
                        x[j] = what >= 4 ? edge(t, what - 4)
                                         : edge(t, (int)(next_random(&seed) % (what == 2 ? 2 : 7)));
                    check_position(k, reduction, t, x, n);
                    for (size_t j = 0; j < CB_VECTOR; j++) packed[j] = x[j].i64;
                    /* Adjacent runs, and rows, into separate states. */
                    for (int rows = 0; rows < 2; rows++) {
                        size_t runs = CB_VECTOR / n;
                        fns->init((void *[]){at, best}, runs);
                        if (!rows) fns->runs((void *[]){at, best}, packed, n, runs, 7);
                        for (size_t j = 0; rows && j < n; j++)
                            fns->rows((void *[]){at, best}, packed + j * runs, runs,
                                      7 + (int64_t)j);
                        for (size_t j = 0; j < runs; j++) {
                            cubed_scalar got = {.i64 = at[j]};
                            int64_t want = rows ? first_of(reduction, t, x + j, runs, n)
                                                : first_of(reduction, t, x + j * n, 1, n);
                            assert_int_equal(as_position(t, got), 7 + want);
                        }
                    }
                }
            }
        }
    }
}
static void test_positions(void **state)
{
    (void)state;
    for_each_isa(check_positions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),     cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_neutral),   cmocka_unit_test(test_complex_extremes),
        cmocka_unit_test(test_nan),       cmocka_unit_test(test_products),
        cmocka_unit_test(test_m2),        cmocka_unit_test(test_nan_m2),
        cmocka_unit_test(test_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
