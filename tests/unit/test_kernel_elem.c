/* Elementwise kernels of every instruction set, compared with a scalar reference at edge values. The accuracy of exp, log and
 * pow of floats has a test of its own: test_kernel_math. */
#include <complex.h>

#include "kernel_test.h"

static const struct {
    const char *accepts, *result;
    int arity;
} rows[CUBED_OP_COUNT] = {
#define CUBED_OP(NAME, name, number, arity, accepts, result, summary)                              \
    [number] = {accepts, #result, arity},
#include "cubed/ops.def"
#undef CUBED_OP
};

/* Operations that the planner may request, spelled from the table and not from the code under test. */
static bool expected(int op, cubed_dtype dtype)
{
    cubed_kind kind = cubed_dtype_kind(dtype);
    if (!strchr(rows[op].accepts, "biufc"[kind])) return false;
    if (strcmp(rows[op].result, "FLOAT") == 0) return strchr("fc", "biufc"[kind]) != NULL;
    if (strncmp(rows[op].result, "INDEX", 5) == 0) return dtype == CUBED_INT64;
    return true;
}

static void check_holes(const cb_kernels *k)
{
    for (int op = 0; op < CUBED_OP_COUNT; op++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            bool want = expected(op, (cubed_dtype)t);
            if ((k->elem[op][t] != NULL) == want &&
                cb_kernel_has_op((cubed_op)op, (cubed_dtype)t) == want)
                continue;
            fail_msg("%s: %s of %s should %sexist", k->isa, cubed_op_name((cubed_op)op),
                     cubed_dtype_name((cubed_dtype)t), want ? "" : "not ");
        }
    }
}
static void test_holes(void **state)
{
    (void)state;
    for_each_isa(check_holes);
}

/* --- The reference ---------------------------------------------------------------------------- */

/* Computes an operation on integers of up to 64 bits with 128 bits. Callers truncate the result. */
static __int128 ref_integer(int op, __int128 x, __int128 y, __int128 largest)
{
    switch (op) {
    case CUBED_OP_ADD: return x + y;
    case CUBED_OP_SUBTRACT: return x - y;
    case CUBED_OP_MULTIPLY: return (__int128)((unsigned __int128)x * (unsigned __int128)y);
    case CUBED_OP_SQUARE: return (__int128)((unsigned __int128)x * (unsigned __int128)x);
    case CUBED_OP_NEGATIVE: return -x;
    case CUBED_OP_ABS: return x < 0 ? -x : x;
    case CUBED_OP_MINIMUM: return x < y ? x : y;
    case CUBED_OP_MAXIMUM: return x > y ? x : y;
    case CUBED_OP_POW: {
        if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
        unsigned __int128 r = 1, b = (unsigned __int128)x;
        /* Bases wrap, so only the bits of an exponent count. */
        for (__int128 bit = largest + 1; bit > 0; bit >>= 1) {
            r *= r;
            if (y & bit) r *= b;
        }
        return (__int128)r;
    }
    default: fail_msg("no reference for operation %d", op); return 0;
    }
}

static double ref_float(int op, double x, double y)
{
    switch (op) {
    case CUBED_OP_ADD: return x + y;
    case CUBED_OP_SUBTRACT: return x - y;
    case CUBED_OP_MULTIPLY: return x * y;
    case CUBED_OP_DIVIDE: return x / y;
    case CUBED_OP_SQUARE: return x * x;
    case CUBED_OP_NEGATIVE: return -x;
    case CUBED_OP_ABS: return fabs(x);
    case CUBED_OP_SQRT: return sqrt(x);
    case CUBED_OP_MINIMUM: return isnan(x) || isnan(y) ? (double)NAN : x < y ? x : y;
    case CUBED_OP_MAXIMUM: return isnan(x) || isnan(y) ? (double)NAN : x > y ? x : y;
    default: fail_msg("no reference for operation %d", op); return 0;
    }
}

static bool ref_compare(int op, int order, bool unordered)
{
    switch (op) {
    case CUBED_OP_EQUAL: return !unordered && order == 0;
    case CUBED_OP_NOT_EQUAL: return unordered || order != 0;
    case CUBED_OP_LESS: return !unordered && order < 0;
    case CUBED_OP_LESS_EQUAL: return !unordered && order <= 0;
    case CUBED_OP_GREATER: return !unordered && order > 0;
    default: return !unordered && order >= 0;
    }
}

static __int128 integer_of(cubed_dtype dtype, const cubed_scalar *v)
{
    cubed_scalar wide;
    bool is_unsigned = cubed_dtype_kind(dtype) == CUBED_KIND_UINT;
    cb_scalar_cast(dtype, v, is_unsigned ? CUBED_UINT64 : CUBED_INT64, &wide);
    return is_unsigned ? (__int128)wide.u64 : (__int128)wide.i64;
}

static double complex complex_of(cubed_dtype dtype, const cubed_scalar *v)
{
    cubed_scalar w;
    cb_scalar_cast(dtype, v, CUBED_COMPLEX128, &w);
    return __builtin_complex(w.c128[0], w.c128[1]);
}

static cubed_scalar scalar_of(cubed_dtype dtype, double complex v)
{
    cubed_scalar w = {.c128 = {creal(v), cimag(v)}}, out;
    cb_scalar_cast(CUBED_COMPLEX128, &w, dtype, &out);
    return out;
}

/* Rounds one step of complex arithmetic to the precision of `dtype`. For + - * / and sqrt, rounding a double result to float
 * equals a float operation. */
static double step(cubed_dtype dtype, double v)
{
    return dtype == CUBED_COMPLEX64 ? (double)(float)v : v;
}

static cubed_scalar ref_complex(int op, cubed_dtype t, const cubed_scalar *x, const cubed_scalar *y)
{
    double complex u = complex_of(t, x), v = complex_of(t, y);
    double a = creal(u), b = cimag(u), c = creal(v), d = cimag(v);
    bool single = t == CUBED_COMPLEX64;
    switch (op) {
    case CUBED_OP_ADD: return scalar_of(t, __builtin_complex(a + c, b + d));
    case CUBED_OP_SUBTRACT: return scalar_of(t, __builtin_complex(a - c, b - d));
    case CUBED_OP_SQUARE: c = a; d = b; /* fall through */
    case CUBED_OP_MULTIPLY:
        return scalar_of(
            t, __builtin_complex(step(t, a * c) - step(t, b * d), step(t, a * d) + step(t, b * c)));
    case CUBED_OP_NEGATIVE: return scalar_of(t, __builtin_complex(-a, -b));
    case CUBED_OP_ABS: {
        cubed_scalar s = {.f64 = hypot(a, b)};
        if (single) s = (cubed_scalar){.f32 = (float)hypot(a, b)};
        return s;
    }
    case CUBED_OP_SQRT: return scalar_of(t, single ? csqrtf((float complex)u) : csqrt(u));
    case CUBED_OP_EXP: return scalar_of(t, single ? cexpf((float complex)u) : cexp(u));
    case CUBED_OP_LOG: return scalar_of(t, single ? clogf((float complex)u) : clog(u));
    case CUBED_OP_DIVIDE: {
        if (fabs(c) >= fabs(d)) {
            if (c == 0 && d == 0) return scalar_of(t, __builtin_complex(a / 0.0, b / 0.0));
            double r = step(t, d / c), s = step(t, 1 / step(t, c + step(t, d * r)));
            return scalar_of(t, __builtin_complex(step(t, a + step(t, b * r)) * s,
                                                  step(t, b - step(t, a * r)) * s));
        }
        double r = step(t, c / d), s = step(t, 1 / step(t, step(t, c * r) + d));
        return scalar_of(
            t, __builtin_complex(step(t, step(t, a * r) + b) * s, step(t, step(t, b * r) - a) * s));
    }
    default: fail_msg("no reference for operation %d", op); return *x;
    }
}

static bool has_reference(int op, cubed_dtype dtype)
{
    bool is_math = op == CUBED_OP_EXP || op == CUBED_OP_LOG || op == CUBED_OP_POW;
    cubed_kind kind = cubed_dtype_kind(dtype);
    if (op >= CUBED_OP_RANDOM_UNIFORM)
        return false; /* test_kernel_functions tests these operations */
    return !(is_math && kind == CUBED_KIND_FLOAT) &&
           !(op == CUBED_OP_POW && kind == CUBED_KIND_COMPLEX);
}

static cubed_scalar reference(int op, cubed_dtype t, const cubed_scalar *x, const cubed_scalar *y,
                              const cubed_scalar *z)
{
    cubed_kind kind = cubed_dtype_kind(t);
    cubed_scalar out = {{0}};
    if (op == CUBED_OP_WHERE) return x->u8 ? *y : *z;
    if (op == CUBED_OP_ISNAN) {
        double complex v = kind >= CUBED_KIND_FLOAT ? complex_of(t, x) : 0;
        out.u8 = isnan(creal(v)) || isnan(cimag(v));
        return out;
    }
    if (op >= CUBED_OP_EQUAL && op <= CUBED_OP_GREATER_EQUAL) {
        if (kind >= CUBED_KIND_FLOAT) {
            double complex u = complex_of(t, x), v = complex_of(t, y);
            double a = creal(u), b = creal(v);
            bool unordered = isnan(a) || isnan(b) || isnan(cimag(u)) || isnan(cimag(v));
            out.u8 = ref_compare(op, a < b ? -1 : a > b || cimag(u) != cimag(v), unordered);
        } else {
            __int128 a = integer_of(t, x), b = integer_of(t, y);
            out.u8 = ref_compare(op, a < b ? -1 : a > b, false);
        }
        return out;
    }
    if (kind == CUBED_KIND_BOOL) {
        switch (op) {
        case CUBED_OP_LOGICAL_NOT: out.u8 = !x->u8; break;
        case CUBED_OP_ADD:
        case CUBED_OP_MAXIMUM:
        case CUBED_OP_LOGICAL_OR: out.u8 = x->u8 || y->u8; break;
        default: out.u8 = x->u8 && y->u8; break;
        }
        return out;
    }
    if (kind == CUBED_KIND_COMPLEX) return ref_complex(op, t, x, y);
    if (kind == CUBED_KIND_FLOAT)
        return scalar_of(t, ref_float(op, creal(complex_of(t, x)), creal(complex_of(t, y))));
    __int128 v = ref_integer(op, integer_of(t, x), integer_of(t, y), INT64_MAX);
    out.u64 = (uint64_t)v;
    memset(out.bytes + cubed_dtype_size(t), 0, 16 - cubed_dtype_size(t));
    return out;
}

/* --- Every pair of edges ---------------------------------------------------------------------- */

#define PAIRS   ((size_t)EDGES * EDGES)
#define LONGEST 130

typedef struct operands {
    cubed_scalar x[PAIRS], y[PAIRS], z[PAIRS];
    /* elements of x, y and z without gaps between them */
    char a[PAIRS * 16], b[PAIRS * 16], c[PAIRS * 16];
    size_t sa, sb; /* sa: element size of a; sb: of b and c */
} operands;

static void fill_operands(operands *o, int op, cubed_dtype t)
{
    o->sb = cubed_dtype_size(t);
    o->sa = op == CUBED_OP_WHERE ? 1 : o->sb;
    for (int i = 0; i < (int)PAIRS; i++) {
        o->x[i] = edge(op == CUBED_OP_WHERE ? CUBED_BOOL : t, i % EDGES);
        o->y[i] = edge(t, (i / EDGES + (op == CUBED_OP_WHERE ? i : 0)) % EDGES);
        o->z[i] = edge(t, (i * 7 + i / EDGES) % EDGES);
        memcpy(o->a + (size_t)i * o->sa, &o->x[i], o->sa);
        memcpy(o->b + (size_t)i * o->sb, &o->y[i], o->sb);
        memcpy(o->c + (size_t)i * o->sb, &o->z[i], o->sb);
    }
}

/* Minimum and maximum of zeros of both signs may be either. */
static bool either_zero(int op, cubed_dtype t, const void *got, const void *want)
{
    return (op == CUBED_OP_MINIMUM || op == CUBED_OP_MAXIMUM) &&
           cubed_dtype_kind(t) == CUBED_KIND_FLOAT && shown(t, got) == 0 && shown(t, want) == 0;
}

static operands one;

static void check_values(const cb_kernels *k)
{
    static char got[PAIRS * 16];
    for (int op = 0; op < CUBED_OP_COUNT; op++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            if (!k->elem[op][t] || !has_reference(op, (cubed_dtype)t)) continue;
            cubed_dtype rt = cb_op_result((cubed_op)op, (cubed_dtype)t);
            size_t size = cubed_dtype_size(rt);
            fill_operands(&one, op, (cubed_dtype)t);
            k->elem[op][t](got, one.a, one.b, one.c, PAIRS);
            for (size_t i = 0; i < PAIRS; i++) {
                cubed_scalar want = reference(op, (cubed_dtype)t, &one.x[i], &one.y[i], &one.z[i]);
                const char *g = got + i * size;
                if (same_value(rt, g, &want) || either_zero(op, rt, g, &want)) continue;
                fail_msg("%s: %s of %s at pair %zu (%g, %g) is %g, expected %g", k->isa,
                         cubed_op_name((cubed_op)op), cubed_dtype_name((cubed_dtype)t), i,
                         shown((cubed_dtype)t, &one.x[i]), shown((cubed_dtype)t, &one.y[i]),
                         shown(rt, g), shown(rt, &want));
            }
        }
    }
}
static void test_values(void **state)
{
    (void)state;
    for_each_isa(check_values);
}

/* --- Lengths, alignment, in-place --------------------------------------------------------------- */

/* Runs n elements from index `at` on. All pointers are `shift` elements beyond a cache line. Compares the result with that of one
 * run over all elements. `in_place`: 0 if dst is a separate buffer, otherwise the operand (1, 2 or 3) that is overwritten. */
static void check_slice(const cb_kernels *k, int op, cubed_dtype t, const char *all, size_t n,
                        size_t at, size_t shift, int in_place)
{
    static _Alignas(64) char room[4][(LONGEST + 16) * 16];
    size_t size = cubed_dtype_size(cb_op_result((cubed_op)op, t)), sa = one.sa, sb = one.sb;
    char *p[4] = {room[0] + shift * size, room[1] + shift * sa, room[2] + shift * sb,
                  room[3] + shift * sb};
    memset(room, 0xA5, sizeof room);
    memcpy(p[1], one.a + at * sa, n * sa);
    memcpy(p[2], one.b + at * sb, n * sb);
    memcpy(p[3], one.c + at * sb, n * sb);
    k->elem[op][t](p[in_place], p[1], p[2], p[3], n);
    const char *got = p[in_place];
    for (size_t i = 0; i < n; i++) {
        if (same_value(cb_op_result((cubed_op)op, t), got + i * size, all + (at + i) * size))
            continue;
        fail_msg("%s: %s of %s, n = %zu, shift %zu, in place %d: element %zu depends on its place",
                 k->isa, cubed_op_name((cubed_op)op), cubed_dtype_name(t), n, shift, in_place, i);
    }
    for (const char *q = got + n * size; q < room[in_place] + sizeof room[0]; q++)
        assert_int_equal((unsigned char)*q, 0xA5);
    for (const char *q = room[in_place]; q < got; q++) assert_int_equal((unsigned char)*q, 0xA5);
}

static void check_slices(const cb_kernels *k)
{
    static char all[PAIRS * 16];
    for (int op = 0; op < CUBED_OP_COUNT; op++) {
        for (int t = 0; t < CUBED_DTYPE_COUNT; t++) {
            if (!k->elem[op][t]) continue;
            cubed_dtype dt = (cubed_dtype)t;
            fill_operands(&one, op, dt);
            k->elem[op][t](all, one.a, one.b, one.c, PAIRS);
            size_t size = cubed_dtype_size(cb_op_result((cubed_op)op, dt));
            for (size_t n = 0; n <= LONGEST; n++) {
                /* Stay within one group of EDGES elements, because a call has one seed. */
                size_t at = op == CUBED_OP_RANDOM_UNIFORM ? n % EDGES * EDGES : n * 3 % 190;
                if (op == CUBED_OP_RANDOM_UNIFORM && n > EDGES) break;
                check_slice(k, op, dt, all, n, at, n % 5, 0);
                if (one.sa == size) check_slice(k, op, dt, all, n, at, (n + 1) % 5, 1);
                if (rows[op].arity > 1 && one.sb == size)
                    check_slice(k, op, dt, all, n, at, (n + 2) % 5, 2);
                if (rows[op].arity > 2 && one.sb == size)
                    check_slice(k, op, dt, all, n, at, (n + 3) % 5, 3);
            }
        }
    }
}
static void test_slices(void **state)
{
    (void)state;
    for_each_isa(check_slices);
}

/* --- Complex powers: as in NumPy, where C uses the logarithm ------------------------------------ */

static void check_power(const cb_kernels *k, double complex x, double complex y,
                        double complex want, double tolerance)
{
    cubed_scalar got;
    double in[2][2] = {{creal(x), cimag(x)}, {creal(y), cimag(y)}};
    k->elem[CUBED_OP_POW][CUBED_COMPLEX128](&got, in[0], in[1], NULL, 1);
    double complex z = __builtin_complex(got.c128[0], got.c128[1]);
    bool right = isnan(creal(want)) ? isnan(creal(z)) && isnan(cimag(z))
                                    : cabs(z - want) <= tolerance * cabs(want);
    if (!right)
        fail_msg("%s: (%g%+gj)**(%g%+gj) is %g%+gj", k->isa, creal(x), cimag(x), creal(y), cimag(y),
                 creal(z), cimag(z));
}

static void check_powers(const cb_kernels *k)
{
    check_power(k, 1 + 2 * I, 2, -3 + 4 * I, 0);
    check_power(k, 1 + 2 * I, 3, -11 - 2 * I, 0);
    check_power(k, I, 100, 1, 0);
    check_power(k, I, -1, -I, 0);
    check_power(k, 2, -2, 0.25, 0);
    check_power(k, 3 - I, 0, 1, 0);
    check_power(k, 0, 0, 1, 0);
    check_power(k, 0, 2.5 + I, 0, 0);
    check_power(k, 0, -1, NAN, 0);
    check_power(k, 0, I, NAN, 0);
    check_power(k, 2 + I, 0.5, csqrt(2 + I), 1e-15);
    check_power(k, 1.01 + 0.001 * I, 101, cpow(1.01 + 0.001 * I, 101), 1e-13);
    /* z ** 1 is z itself, even where a multiplication by 1 gives other bits. */
    double x[2] = {INFINITY, -0.0}, y[2] = {1, 0}, z[2];
    k->elem[CUBED_OP_POW][CUBED_COMPLEX128](z, x, y, NULL, 1);
    assert_memory_equal(z, x, sizeof x);
}
static void test_complex_powers(void **state)
{
    (void)state;
    for_each_isa(check_powers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_complex_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
