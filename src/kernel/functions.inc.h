/* The elementwise functions of one floating-point type T. functions.isa.c includes this file once for each type, with these
 * macros, in addition to those of sleef1.inc.h:
 *
 * TAG      suffix of the names of functions that are defined here
 * DT       the cubed_dtype of T
 * LARGEST  the largest finite number of T
 * WIDE     a floating-point type with more digits than T
 * W(f)     the name of the C library's function f for WIDE */
#define FN(name) CB_PASTE(name, TAG)

/* Returns false if r is infinite, NaN, or of a magnitude below 2**-26. */
static inline bool FN(is_plain)(T r)
{
    T size = M(fabs)(r);
    return (size >= (T)0x1p-26) & (size <= LARGEST);
}

#define NAME sin
#include "kernel/sleef1.inc.h"
#define NAME cos
#include "kernel/sleef1.inc.h"
#define NAME tan
#include "kernel/sleef1.inc.h"
#define NAME asin
#include "kernel/sleef1.inc.h"
#define NAME acos
#include "kernel/sleef1.inc.h"
#define NAME atan
#include "kernel/sleef1.inc.h"
#define NAME sinh
#include "kernel/sleef1.inc.h"
#define NAME cosh
#include "kernel/sleef1.inc.h"
/* Computes tanh. For small numbers uses the first terms of the series, because there glibc is wrong by more than one unit in
 * the last place. Further terms are negligible. */
static inline T FN(tanh1)(T x)
{
    if (x == 0 || !(M(fabs)(x) < (T)0x1p-20)) return M(tanh)(x);
    return x - x * x * x / 3;
}
#define NAME      tanh
#define SCALAR(x) FN(tanh1)(x)
#include "kernel/sleef1.inc.h"
#define NAME asinh
#include "kernel/sleef1.inc.h"
#define NAME acosh
#include "kernel/sleef1.inc.h"
#define NAME atanh
#include "kernel/sleef1.inc.h"
#define NAME expm1
#include "kernel/sleef1.inc.h"
#define NAME log1p
#include "kernel/sleef1.inc.h"
#define NAME log2
#include "kernel/sleef1.inc.h"
#define NAME log10
#include "kernel/sleef1.inc.h"

/* Computes log(exp(x) + exp(y)) without overflow: applies exp only to the difference of the operands. */
static inline T FN(logaddexp1)(T x, T y)
{
    if (x == y) return (T)((WIDE)x + W(log)(2));
    WIDE high = x > y ? x : y, low = x > y ? y : x;
    if (isnan(x) || isnan(y)) return x + y;
    return (T)(high + W(log1p)(W(exp)(low - high)));
}

#include "kernel/student.inc.h"

#define R    T
#define NAME atan2
/* float32 also uses the double function atan2, because C libraries differ in the bits of atan2f, and atan2f is slower. */
#define EXPR(x, y) atan2((double)(x), (double)(y))
#include "kernel/loop2.inc.h"
#define NAME       hypot
#define EXPR(x, y) cb_hypot((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       logaddexp
#define EXPR(x, y) FN(logaddexp1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       copysign
#define EXPR(x, y) M(copysign)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       nextafter
#define EXPR(x, y) M(nextafter)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       stdtr
#define EXPR(x, y) FN(stdtr1)((x), (y))
#include "kernel/loop2.inc.h"
#undef R

static void FN(fill_functions)(cb_kernels *k)
{
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
    k->elem[CUBED_OP_EXPM1][DT] = FN(expm1);
    k->elem[CUBED_OP_LOG1P][DT] = FN(log1p);
    k->elem[CUBED_OP_LOG2][DT] = FN(log2);
    k->elem[CUBED_OP_LOG10][DT] = FN(log10);
    k->elem[CUBED_OP_ATAN2][DT] = FN(atan2);
    k->elem[CUBED_OP_HYPOT][DT] = FN(hypot);
    k->elem[CUBED_OP_LOGADDEXP][DT] = FN(logaddexp);
    k->elem[CUBED_OP_COPYSIGN][DT] = FN(copysign);
    k->elem[CUBED_OP_NEXTAFTER][DT] = FN(nextafter);
    k->elem[CUBED_OP_STDTR][DT] = FN(stdtr);
}
#undef FN
