/* Operations of floats only. Parameters: T, TAG, DT, FABS, SQRT and M(f), the C library's name for the precision. */
#define FN(name)   CB_PASTE(name, TAG)
#define R          T
#define NAME       divide
#define EXPR(x, y) ((x) / (y))
#include "kernel/loop2.inc.h"
#define NAME    negative
#define EXPR(x) (-(x))
#include "kernel/loop1.inc.h"
#define NAME    abs
#define EXPR(x) FABS(x)
#include "kernel/loop1.inc.h"
#define NAME    sqrt
#define EXPR(x) SQRT(x)
#include "kernel/loop1.inc.h"
/* sign(NaN) is NaN, and sign(-0) is +0. */
#define NAME    sign
#define EXPR(x) ((x) > 0 ? 1 : (x) < 0 ? -1 : (x) == 0 ? 0 : (x))
#include "kernel/loop1.inc.h"
#define NAME    reciprocal
#define EXPR(x) (1 / (x))
#include "kernel/loop1.inc.h"
#define NAME    floor
#define EXPR(x) M(floor)(x)
#include "kernel/loop1.inc.h"
#define NAME    ceil
#define EXPR(x) M(ceil)(x)
#include "kernel/loop1.inc.h"
#define NAME    trunc
#define EXPR(x) M(trunc)(x)
#include "kernel/loop1.inc.h"
/* Rounds halves to even: the default rounding mode. */
#define NAME    round
#define EXPR(x) M(rint)(x)
#include "kernel/loop1.inc.h"

/* Compute the remainder and floor_divide as Python's float_divmod does: the quotient is computed from the remainder, so
 * rounding of x / y cannot make it too large. If an operand is infinite, the quotient is floor(x / y), as the Array API
 * standard requires. */
static inline T FN(remainder1)(T x, T y)
{
    T r = M(fmod)(x, y);
    if (y == 0 || r != r) return r;
    if (r == 0) return M(copysign)(0, y);
    return (r < 0) != (y < 0) ? r + y : r;
}
static inline T FN(floor_divide1)(T x, T y)
{
    const T inf = (T)INFINITY;
    if (y == 0 || M(fabs)(x) == inf || M(fabs)(y) == inf) return x / y;
    T r = M(fmod)(x, y);
    T q = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) q -= 1;
    if (q == 0) return M(copysign)(0, x / y);
    T f = M(floor)(q);
    return q - f > (T)0.5 ? f + 1 : f;
}
#define NAME       floor_divide
#define EXPR(x, y) FN(floor_divide1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       remainder
#define EXPR(x, y) FN(remainder1)((x), (y))
#include "kernel/loop2.inc.h"
#undef R
#define R       uint8_t
#define NAME    signbit
#define EXPR(x) (signbit(x) != 0)
#include "kernel/loop1.inc.h"
#undef R

static void FN(fill_float)(cb_kernels *k)
{
    k->CB_ELEM[CUBED_OP_DIVIDE][DT] = FN(divide);
    k->CB_ELEM[CUBED_OP_NEGATIVE][DT] = FN(negative);
    k->CB_ELEM[CUBED_OP_ABS][DT] = FN(abs);
    k->CB_ELEM[CUBED_OP_SQRT][DT] = FN(sqrt);
    k->CB_ELEM[CUBED_OP_SIGN][DT] = FN(sign);
    k->CB_ELEM[CUBED_OP_RECIPROCAL][DT] = FN(reciprocal);
    k->CB_ELEM[CUBED_OP_FLOOR][DT] = FN(floor);
    k->CB_ELEM[CUBED_OP_CEIL][DT] = FN(ceil);
    k->CB_ELEM[CUBED_OP_TRUNC][DT] = FN(trunc);
    k->CB_ELEM[CUBED_OP_ROUND][DT] = FN(round);
    k->CB_ELEM[CUBED_OP_FLOOR_DIVIDE][DT] = FN(floor_divide);
    k->CB_ELEM[CUBED_OP_REMAINDER][DT] = FN(remainder);
    k->CB_ELEM[CUBED_OP_SIGNBIT][DT] = FN(signbit);
}
#undef FN
