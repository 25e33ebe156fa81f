/* Kernels common to bool, integers and floats, and where(). Parameters: T, TAG, DT (the cubed_dtype). */
#define FN(name) CB_PASTE(name, TAG)

#define R          uint8_t
#define NAME       equal
#define EXPR(x, y) ((x) == (y))
#include "kernel/loop2.inc.h"
#define NAME       not_equal
#define EXPR(x, y) ((x) != (y))
#include "kernel/loop2.inc.h"
#define NAME       less
#define EXPR(x, y) ((x) < (y))
#include "kernel/loop2.inc.h"
#define NAME       less_equal
#define EXPR(x, y) ((x) <= (y))
#include "kernel/loop2.inc.h"
#define NAME       greater
#define EXPR(x, y) ((x) > (y))
#include "kernel/loop2.inc.h"
#define NAME       greater_equal
#define EXPR(x, y) ((x) >= (y))
#include "kernel/loop2.inc.h"
#define NAME    isnan
#define EXPR(x) ((x) != (x))
#include "kernel/loop1.inc.h"
/* x * 0 is NaN for infinities and NaN, and 0 for finite numbers. */
#define NAME    isfinite
#define EXPR(x) ((x)*0 == 0)
#include "kernel/loop1.inc.h"
#define NAME    isinf
#define EXPR(x) ((x) == (x) && !((x)*0 == 0))
#include "kernel/loop1.inc.h"
#undef R
#define R T
/* NaN propagates, as in NumPy: the second test returns a NaN x; for a NaN y, x < y is false. */
#define NAME       minimum
#define EXPR(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#include "kernel/loop2.inc.h"
#define NAME       maximum
#define EXPR(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#include "kernel/loop2.inc.h"
#undef R

static void FN(where)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const uint8_t *m = a;
    const T *x = b, *y = c;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) d[i] = m[i] ? x[i] : y[i];
}

static void FN(fill_real)(cb_kernels *k)
{
    k->elem[CUBED_OP_EQUAL][DT] = FN(equal);
    k->elem[CUBED_OP_NOT_EQUAL][DT] = FN(not_equal);
    k->elem[CUBED_OP_LESS][DT] = FN(less);
    k->elem[CUBED_OP_LESS_EQUAL][DT] = FN(less_equal);
    k->elem[CUBED_OP_GREATER][DT] = FN(greater);
    k->elem[CUBED_OP_GREATER_EQUAL][DT] = FN(greater_equal);
    k->elem[CUBED_OP_ISNAN][DT] = FN(isnan);
    k->elem[CUBED_OP_ISFINITE][DT] = FN(isfinite);
    k->elem[CUBED_OP_ISINF][DT] = FN(isinf);
    k->elem[CUBED_OP_MINIMUM][DT] = FN(minimum);
    k->elem[CUBED_OP_MAXIMUM][DT] = FN(maximum);
    k->elem[CUBED_OP_WHERE][DT] = FN(where);
}
#undef FN
