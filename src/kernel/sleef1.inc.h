/* One unary function of floats, computed by the library SLEEF or, for the instruction set "base", by the C library. The including
 * file defines these macros; NAME and SCALAR are undefined at the end:
 *
 * NAME                     name of the function
 * T, FN                    type of the numbers, and macro for the names of functions
 * M(f)                     name of the C library's function f for this precision
 * SCALAR(x)                replaces the C library's function if it is unsuitable
 * N, CALL, VLOAD, VSTORE   for SLEEF: number of lanes, name of a function, load and store of a vector
 *
 * SLEEF 3.5.1 overflows too early (sinh, cosh, asinh, acosh, log1p), loses the smallest numbers (tan, asinh, log1p), and is
 * inaccurate for small numbers (tanh). So lanes with an infinite, NaN or small result are recomputed by SCALAR or the C library,
 * which also returns the special values of C99. */
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
