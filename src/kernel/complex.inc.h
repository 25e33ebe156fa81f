/* Kernels of one complex type. Takes REAL, T, TAG, DT, M(f) (the C library's name for the
 * precision) and MAKE(re, im). */
#define FN(name) CB_PASTE(name, TAG)

/* Products by the textbook formula, as NumPy: C's own recovers infinities at a great cost. */
static inline T FN(mul1)(T x, T y)
{
    REAL a = M(creal)(x), b = M(cimag)(x), c = M(creal)(y), d = M(cimag)(y);
    return MAKE(CB_ROUNDED(a * c) - CB_ROUNDED(b * d), CB_ROUNDED(a * d) + CB_ROUNDED(b * c));
}

/* Smith, "Algorithm 116: complex division", CACM 1962. */
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

/* As NumPy: small whole exponents by squaring, so that (1+2j)**2 is exact and x**1 is x; powers of
 * zero are 0 where the exponent's real part is positive, 1 for exponent 0, otherwise undefined. */
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
#undef R
#define R       REAL
#define NAME    abs
#define EXPR(x) M(cabs)(x)
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
    k->elem[CUBED_OP_WHERE][DT] = FN(where);
}
#undef FN
