/* Kernels of one complex type. Parameters: REAL (type of the parts), T, TAG, DT (the cubed_dtype), M(f) (name of the C library's
 * function f for this precision) and MAKE(re, im). */
#define FN(name) CB_PASTE(name, TAG)

/* Multiplies by the textbook formula, like NumPy, because C's own multiplication recovers infinities at a high cost. */
static inline T FN(mul1)(T x, T y)
{
    REAL a = M(creal)(x), b = M(cimag)(x), c = M(creal)(y), d = M(cimag)(y);
    return MAKE(CB_ROUNDED(a * c) - CB_ROUNDED(b * d), CB_ROUNDED(a * d) + CB_ROUNDED(b * c));
}

/* Divides: Smith, "Algorithm 116: complex division", CACM 1962. */
static inline T FN(div1)(T x, T y)
{
    REAL a = M(creal)(x), b = M(cimag)(x), c = M(creal)(y), d = M(cimag)(y);
    if (M(fabs)(c) >= M(fabs)(d)) {
        if (c == 0 && d == 0) return MAKE(a / M(fabs)(c), b / M(fabs)(d));
        REAL r = d / c, s = 1 / (c + d * r);
        return MAKE((a + b * r) * s, (b - a * r) * s);
    }
    REAL r = c / d, s = 1 / (c * r + d);
    return MAKE((a * r + b) * s, (b * r - a) * s);
}

/* Computes x**y with small integer exponents by squaring, as NumPy does, so that (1+2j)**2 is exact and x**1 is x. Powers of
 * zero are 0 if the exponent's real part is positive, 1 for exponent 0, otherwise undefined. */
static inline T FN(pow1)(T x, T y)
{
    REAL e = M(creal)(y);
    bool whole = M(cimag)(y) == 0 && e == M(trunc)(e);
    if (whole && e == 0) return MAKE(1, 0);
    if (M(creal)(x) == 0 && M(cimag)(x) == 0) return e > 0 ? MAKE(0, 0) : MAKE(NAN, NAN);
    if (whole && M(fabs)(e) <= 100) {
        unsigned k = (unsigned)M(fabs)(e);
        T p = x;
        for (; !(k & 1); k >>= 1) p = FN(mul1)(p, p);
        T r = p;
        while (k >>= 1) {
            p = FN(mul1)(p, p);
            if (k & 1) r = FN(mul1)(r, p);
        }
        return e < 0 ? FN(div1)(MAKE(1, 0), r) : r;
    }
    return M(cpow)(x, y);
}

/* Computes log2 or log10: divides both parts of log by `unit`. */
static inline T FN(scaled_log)(T x, REAL unit)
{
    T l = M(clog)(x);
    return MAKE(M(creal)(l) / unit, M(cimag)(l) / unit);
}

/* Computes tanh. For infinite real parts the Array API standard requires +-1 with a zero that has the imaginary part's sign;
 * C uses the sign of sin(2b). */
static inline T FN(tanh1)(T x)
{
    REAL a = M(creal)(x), b = M(cimag)(x);
    if (a - a != 0 && a == a && b - b == 0) return MAKE(M(copysign)(1, a), M(copysign)(0, b));
    return M(ctanh)(x);
}

/* Computes exp(a + bi) - 1 as expm1(a) cos(b) - 2 sin(b/2)^2 + exp(a) sin(b) i. For small arguments, this formula has no
 * cancellation. For the argument -0 + 0i, the Array API standard requires a real part of +0. */
static inline T FN(expm11)(T x)
{
    REAL a = M(creal)(x), b = M(cimag)(x);
    if (b == 0) return MAKE(a == 0 && !signbit(b) ? 0 : M(expm1)(a), b);
    if (!(a - a == 0 && b - b == 0)) return M(cexp)(x) - 1;
    REAL h = M(sin)(b / 2);
    return MAKE(M(expm1)(a) * M(cos)(b) - 2 * h * h, M(exp)(a) * M(sin)(b));
}

/* Computes log(1 + a + bi). For small arguments, |1 + a + bi|^2 - 1 is computed without adding the 1. */
static inline T FN(log1p1)(T x)
{
    REAL a = M(creal)(x), b = M(cimag)(x);
    if (M(fabs)(a) < (REAL)0.5 && M(fabs)(b) < (REAL)0.5)
        return MAKE(M(log1p)(a * (2 + a) + b * b) / 2, M(atan2)(b, 1 + a));
    return M(clog)(MAKE(1 + a, b));
}

/* Computes x / |x|. If one part is infinite, returns the direction of this part, as NumPy does; if both are, returns NaN. Halves
 * x if |x| overflows. */
static inline T FN(sign1)(T x)
{
    REAL a = M(creal)(x), b = M(cimag)(x);
    if (a == 0 && b == 0) return MAKE(0, 0);
    if (isinf(a) && !isinf(b)) return MAKE(M(copysign)(1, a), 0);
    if (isinf(b) && !isinf(a)) return MAKE(0, M(copysign)(1, b));
    REAL h = (REAL)cb_hypot(a, b);
    if (!isinf(h)) return MAKE(a / h, b / h);
    a /= 2;
    b /= 2;
    h = (REAL)cb_hypot(a, b);
    return MAKE(a / h, b / h);
}

#define R          T
#define NAME       add
#define EXPR(x, y) ((x) + (y))
#include "kernel/loop2.inc.h"
#define NAME       subtract
#define EXPR(x, y) ((x) - (y))
#include "kernel/loop2.inc.h"
#define NAME       multiply
#define EXPR(x, y) FN(mul1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       divide
#define EXPR(x, y) FN(div1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       pow
#define EXPR(x, y) FN(pow1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME    negative
#define EXPR(x) (-(x))
#include "kernel/loop1.inc.h"
#define NAME    square
#define EXPR(x) FN(mul1)((x), (x))
#include "kernel/loop1.inc.h"
#define NAME    sqrt
#define EXPR(x) M(csqrt)(x)
#include "kernel/loop1.inc.h"
#define NAME    exp
#define EXPR(x) M(cexp)(x)
#include "kernel/loop1.inc.h"
#define NAME    log
#define EXPR(x) M(clog)(x)
#include "kernel/loop1.inc.h"
#define NAME    sin
#define EXPR(x) M(csin)(x)
#include "kernel/loop1.inc.h"
#define NAME    cos
#define EXPR(x) M(ccos)(x)
#include "kernel/loop1.inc.h"
#define NAME    tan
#define EXPR(x) M(ctan)(x)
#include "kernel/loop1.inc.h"
#define NAME    asin
#define EXPR(x) M(casin)(x)
#include "kernel/loop1.inc.h"
#define NAME    acos
#define EXPR(x) M(cacos)(x)
#include "kernel/loop1.inc.h"
#define NAME    atan
#define EXPR(x) M(catan)(x)
#include "kernel/loop1.inc.h"
#define NAME    sinh
#define EXPR(x) M(csinh)(x)
#include "kernel/loop1.inc.h"
#define NAME    cosh
#define EXPR(x) M(ccosh)(x)
#include "kernel/loop1.inc.h"
#define NAME    tanh
#define EXPR(x) FN(tanh1)(x)
#include "kernel/loop1.inc.h"
#define NAME    asinh
#define EXPR(x) M(casinh)(x)
#include "kernel/loop1.inc.h"
#define NAME    acosh
#define EXPR(x) M(cacosh)(x)
#include "kernel/loop1.inc.h"
#define NAME    atanh
#define EXPR(x) M(catanh)(x)
#include "kernel/loop1.inc.h"
#define NAME    log2
#define EXPR(x) FN(scaled_log)((x), (REAL)0.693147180559945309417)
#include "kernel/loop1.inc.h"
#define NAME    log10
#define EXPR(x) FN(scaled_log)((x), (REAL)2.302585092994045684018)
#include "kernel/loop1.inc.h"
#define NAME    expm1
#define EXPR(x) FN(expm11)(x)
#include "kernel/loop1.inc.h"
#define NAME    log1p
#define EXPR(x) FN(log1p1)(x)
#include "kernel/loop1.inc.h"
#define NAME    reciprocal
#define EXPR(x) FN(div1)(MAKE(1, 0), (x))
#include "kernel/loop1.inc.h"
#define NAME    round
#define EXPR(x) MAKE(M(rint)(M(creal)(x)), M(rint)(M(cimag)(x)))
#include "kernel/loop1.inc.h"
#define NAME    sign
#define EXPR(x) FN(sign1)(x)
#include "kernel/loop1.inc.h"
#define NAME    positive
#define EXPR(x) (x)
#include "kernel/loop1.inc.h"
#define NAME    conj
#define EXPR(x) M(conj)(x)
#include "kernel/loop1.inc.h"
#undef R
#define R       REAL
#define NAME    real
#define EXPR(x) M(creal)(x)
#include "kernel/loop1.inc.h"
#define NAME    imag
#define EXPR(x) M(cimag)(x)
#include "kernel/loop1.inc.h"
#define NAME    abs
#define EXPR(x) cb_hypot(M(creal)(x), M(cimag)(x))
#include "kernel/loop1.inc.h"
#undef R
#define R          uint8_t
#define NAME       equal
#define EXPR(x, y) ((x) == (y))
#include "kernel/loop2.inc.h"
#define NAME       not_equal
#define EXPR(x, y) ((x) != (y))
#include "kernel/loop2.inc.h"
#define NAME    isnan
#define EXPR(x) ((x) != (x))
#include "kernel/loop1.inc.h"
#define NAME    isfinite
#define EXPR(x) (isfinite(M(creal)(x)) && isfinite(M(cimag)(x)))
#include "kernel/loop1.inc.h"
#define NAME    isinf
#define EXPR(x) (isinf(M(creal)(x)) || isinf(M(cimag)(x)))
#include "kernel/loop1.inc.h"
#undef R

static void FN(where)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const uint8_t *m = a;
    const T *x = b, *y = c;
    for (size_t i = 0; i < n; i++) d[i] = m[i] ? x[i] : y[i];
}

static void FN(fill_complex)(cb_kernels *k)
{
    k->elem[CUBED_OP_ADD][DT] = FN(add);
    k->elem[CUBED_OP_SUBTRACT][DT] = FN(subtract);
    k->elem[CUBED_OP_MULTIPLY][DT] = FN(multiply);
    k->elem[CUBED_OP_DIVIDE][DT] = FN(divide);
    k->elem[CUBED_OP_POW][DT] = FN(pow);
    k->elem[CUBED_OP_NEGATIVE][DT] = FN(negative);
    k->elem[CUBED_OP_SQUARE][DT] = FN(square);
    k->elem[CUBED_OP_SQRT][DT] = FN(sqrt);
    k->elem[CUBED_OP_EXP][DT] = FN(exp);
    k->elem[CUBED_OP_LOG][DT] = FN(log);
    k->elem[CUBED_OP_ABS][DT] = FN(abs);
    k->elem[CUBED_OP_EQUAL][DT] = FN(equal);
    k->elem[CUBED_OP_NOT_EQUAL][DT] = FN(not_equal);
    k->elem[CUBED_OP_ISNAN][DT] = FN(isnan);
    k->elem[CUBED_OP_SIN][DT] = FN(sin);
    k->elem[CUBED_OP_COS][DT] = FN(cos);
    k->elem[CUBED_OP_TAN][DT] = FN(tan);
    k->elem[CUBED_OP_ASIN][DT] = FN(asin);
    k->elem[CUBED_OP_ACOS][DT] = FN(acos);
    k->elem[CUBED_OP_ATAN][DT] = FN(atan);
    k->elem[CUBED_OP_SINH][DT] = FN(sinh);
    k->elem[CUBED_OP_COSH][DT] = FN(cosh);
    k->elem[CUBED_OP_TANH][DT] = FN(tanh);
    k->elem[CUBED_OP_ASINH][DT] = FN(asinh);
    k->elem[CUBED_OP_ACOSH][DT] = FN(acosh);
    k->elem[CUBED_OP_ATANH][DT] = FN(atanh);
    k->elem[CUBED_OP_LOG2][DT] = FN(log2);
    k->elem[CUBED_OP_LOG10][DT] = FN(log10);
    k->elem[CUBED_OP_EXPM1][DT] = FN(expm1);
    k->elem[CUBED_OP_LOG1P][DT] = FN(log1p);
    k->elem[CUBED_OP_RECIPROCAL][DT] = FN(reciprocal);
    k->elem[CUBED_OP_ROUND][DT] = FN(round);
    k->elem[CUBED_OP_SIGN][DT] = FN(sign);
    k->elem[CUBED_OP_POSITIVE][DT] = FN(positive);
    k->elem[CUBED_OP_CONJ][DT] = FN(conj);
    k->elem[CUBED_OP_REAL][DT] = FN(real);
    k->elem[CUBED_OP_IMAG][DT] = FN(imag);
    k->elem[CUBED_OP_ISFINITE][DT] = FN(isfinite);
    k->elem[CUBED_OP_ISINF][DT] = FN(isinf);
    k->elem[CUBED_OP_WHERE][DT] = FN(where);
}
#undef FN
