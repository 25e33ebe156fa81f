/* Running totals of every instruction set, compared with plain loops: each type, axis and layout, in one box and in several
 * boxes that pass on their totals. */
#include "kernel_test.h"

enum { A = 5, B = 4, C = 37, COUNT = A * B * C };

static const cubed_dtype types[] = {CUBED_INT64,   CUBED_UINT64,    CUBED_FLOAT32,
                                    CUBED_FLOAT64, CUBED_COMPLEX64, CUBED_COMPLEX128};
static const int64_t shape[3] = {A, B, C};

static bool is_extreme(cb_reduction kind) { return kind == CB_REDUCE_MAX || kind == CB_REDUCE_MIN; }

/* Returns true if an element replaces the largest (or smallest) one so far. */
static bool beats(bool largest, cubed_dtype t, const cubed_scalar *v, const cubed_scalar *best)
{
    switch (t) {
    case CUBED_INT64: return largest ? v->i64 > best->i64 : v->i64 < best->i64;
    case CUBED_UINT64: return largest ? v->u64 > best->u64 : v->u64 < best->u64;
    case CUBED_FLOAT32:
        return !isnan(best->f32) &&
               (isnan(v->f32) || (largest ? v->f32 > best->f32 : v->f32 < best->f32));
    default:
        return !isnan(best->f64) &&
               (isnan(v->f64) || (largest ? v->f64 > best->f64 : v->f64 < best->f64));
    }
}

/* Computes the total of a line from its start up to element i, in the type of the carry. */
static void expected(cb_reduction kind, cubed_dtype t, const cubed_scalar *x, int axis, int i,
                     cubed_scalar *out)
{
    static const int step[3] = {B * C, C, 1};
    int at = i / step[axis] % (int)shape[axis], first = i - at * step[axis];
    if (is_extreme(kind)) {
        *out = x[first];
        for (int k = 1; k <= at; k++) {
            const cubed_scalar *v = &x[first + k * step[axis]];
            if (beats(kind == CB_REDUCE_MAX, t, v, out)) *out = *v;
        }
        return;
    }
    bool sum = kind == CB_REDUCE_SUM, last = kind == CB_REDUCE_LAST;
    double zr = sum ? -0.0 : 1, zi = sum ? -0.0 : 0;
    double d = sum ? -0.0 : 1;
    uint64_t u = sum ? 0 : 1;
    if (last) d = zr = zi = NAN, u = (uint64_t)INT64_MIN;
    for (int k = 0; k <= at; k++) {
        const cubed_scalar *v = &x[first + k * step[axis]];
        cubed_scalar wide;
        cb_scalar_cast(t, v, CUBED_COMPLEX128, &wide);
        double re = wide.c128[0], im = wide.c128[1];
        if (last) {
            if (!isnan(re)) d = zr = re, zi = im;
            if (v->i64 != INT64_MIN) u = v->u64;
            continue;
        }
        u = sum ? u + v->u64 : u * v->u64;
        d = sum ? d + re : d * re;
        volatile double p = zr * re, q = zi * im, r = zr * im, s = zi * re; /* rounded products */
        zr = sum ? zr + re : p - q;
        zi = sum ? zi + im : r + s;
    }
    *out = (cubed_scalar){.c128 = {0, 0}};
    switch (t) {
    case CUBED_FLOAT32: out->f32 = (float)d; break;
    case CUBED_FLOAT64: out->f64 = d; break;
    case CUBED_COMPLEX64:
        out->c64[0] = (float)zr;
        out->c64[1] = (float)zi;
        break;
    case CUBED_COMPLEX128:
        out->c128[0] = zr;
        out->c128[1] = zi;
        break;
    default: out->u64 = u; break;
    }
}

/* Scans `piece` elements of the axis per call. `wide`: elements of the last axis have gaps between them. */
static void check_one(const cb_kernels *k, cb_reduction kind, cubed_dtype t, int axis,
                      int64_t piece, bool wide)
{
    static _Alignas(64) char data[COUNT * 16 * 2], carry[COUNT * 16];
    cubed_scalar x[COUNT];
    uint64_t seed = 11;
    size_t size = cubed_dtype_size(t);
    int64_t last = (int64_t)size * (wide ? 2 : 1), part[3] = {A, B, C};
    int64_t strides[3] = {(int64_t)B * C * last, C * last, last};
    for (int i = 0; i < COUNT; i++) {
        cubed_scalar z = {.c128 = {(double)(next_random(&seed) % 19) / 8 - 1,
                                   (double)(next_random(&seed) % 7) / 4 - 0.5}};
        if (kind == CB_REDUCE_LAST && next_random(&seed) % 3) z.c128[0] = NAN;
        if (is_extreme(kind) && next_random(&seed) % 61 == 0) z.c128[0] = NAN;
        if (i % C == 3) z.c128[0] = z.c128[1] = -0.0;
        cb_scalar_cast(CUBED_COMPLEX128, &z, t, &x[i]);
        if (t == CUBED_INT64 || t == CUBED_UINT64) x[i].u64 = next_random(&seed);
        if (kind == CB_REDUCE_LAST && t == CUBED_INT64 && next_random(&seed) % 3)
            x[i].i64 = INT64_MIN;
        memcpy(data + i * last, &x[i], size);
    }
    cb_scan_start(kind, t, carry, COUNT / shape[axis]);
    for (int64_t at = 0; at < shape[axis]; at += piece) {
        part[axis] = shape[axis] - at < piece ? shape[axis] - at : piece;
        const cb_scan_elements box = {t, 3, part, strides, data + at * strides[axis]};
        cb_scan_box(k, kind, &box, axis, carry);
    }
    for (int i = 0; i < COUNT; i++) {
        cubed_scalar want;
        expected(kind, t, x, axis, i, &want);
        if (memcmp(data + i * last, &want, size) != 0)
            fail_msg("%s: %s of %s along axis %d by %d: element %d", k->isa,
                     kind == CB_REDUCE_SUM    ? "sum"
                     : kind == CB_REDUCE_PROD ? "prod"
                     : kind == CB_REDUCE_MAX  ? "max"
                     : kind == CB_REDUCE_MIN  ? "min"
                                              : "last",
                     cubed_dtype_name(t), axis, (int)piece, i);
    }
}

static void check(const cb_kernels *k)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int axis = 0; axis < 3; axis++) {
            for (int64_t piece = 1; piece <= 40; piece += 13) {
                for (int wide = 0; wide < 2; wide++) {
                    check_one(k, CB_REDUCE_SUM, types[t], axis, piece, wide);
                    check_one(k, CB_REDUCE_PROD, types[t], axis, piece, wide);
                    if (cb_kernel_has_scan(CB_REDUCE_LAST, types[t]))
                        check_one(k, CB_REDUCE_LAST, types[t], axis, piece, wide);
                    if (!cb_kernel_has_scan(CB_REDUCE_MAX, types[t])) continue;
                    check_one(k, CB_REDUCE_MAX, types[t], axis, piece, wide);
                    check_one(k, CB_REDUCE_MIN, types[t], axis, piece, wide);
                }
            }
        }
    }
}
static void test_totals(void **state)
{
    (void)state;
    for_each_isa(check);
}

static void test_which_there_are(void **state)
{
    (void)state;
    assert_true(cb_kernel_has_scan(CB_REDUCE_MIN, CUBED_FLOAT64));
    assert_true(cb_kernel_has_scan(CB_REDUCE_MAX, CUBED_UINT64));
    assert_false(cb_kernel_has_scan(CB_REDUCE_MAX, CUBED_COMPLEX128));
    assert_false(cb_kernel_has_scan(CB_REDUCE_M2, CUBED_FLOAT64));
    assert_false(cb_kernel_has_scan(CB_REDUCE_SUM, CUBED_INT32));
    assert_false(cb_kernel_has_scan(CB_REDUCE_SUM, CUBED_FLOAT16));
    assert_true(cb_kernel_has_scan(CB_REDUCE_PROD, CUBED_COMPLEX64));
    assert_true(cb_kernel_has_scan(CB_REDUCE_LAST, CUBED_COMPLEX64));
    assert_true(cb_kernel_has_scan(CB_REDUCE_LAST, CUBED_INT64)); /* of times */
    assert_false(cb_kernel_has_scan(CB_REDUCE_LAST, CUBED_UINT64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_which_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
