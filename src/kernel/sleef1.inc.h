/* One unary function of floats. Parameters: NAME, T, FN, M(f), the C library's name for the precision; above the base also
 * N (lanes), CALL(f), VLOAD, VSTORE of SLEEF; SCALAR(x) if the C library's function is unsuitable; NAME and SCALAR are
 * undefined at the end.
 *
 * SLEEF 3.5.1 overflows too early (sinh, cosh, asinh, acosh, log1p), loses the smallest numbers (tan, asinh, log1p) and
 * accuracy for small ones (tanh). So lanes with an infinite, NaN or small result are recomputed by the C library, which
 * also has C99's special values. */
#ifndef SCALAR
#define SCALAR(x) M(NAME)(x)
#endif
#if CB_ISA_LEVEL >= 1
static void FN(NAME)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a;
    (void)b;
    (void)c;
    for (size_t i = 0; i < n; i += N) {
        T t[N] = {0}, r[N];
        size_t lanes = n - i < N ? n - i : N;
        bool special = false;
        memcpy(t, x + i, lanes * sizeof(T));
        VSTORE(r, CALL(NAME)(VLOAD(t)));
        for (size_t j = 0; j < N; j++) special |= !FN(is_plain)(r[j]);
        for (size_t j = 0; special && j < lanes; j++) {
            if (!FN(is_plain)(r[j])) r[j] = SCALAR(t[j]);
        }
        memcpy(d + i, r, lanes * sizeof(T));
    }
}
#undef NAME
#else
#define R       T
#define EXPR(x) SCALAR(x)
#include "kernel/loop1.inc.h"
#undef R
#endif
#undef SCALAR
