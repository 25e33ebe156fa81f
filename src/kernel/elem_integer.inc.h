/* Operations that are specific to integers. Parameters: T, TAG, DT, W and IS_SIGNED (0 or 1). */
#define FN(name) CB_PASTE(name, TAG)

/* Computes the power by squaring. Integers wrap. A negative exponent gives the truncated reciprocal: 1, -1 or 0. */
static T FN(ipow)(T base, T exponent)
{
#if IS_SIGNED
    if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return (T)(exponent % 2 ? -1 : 1);
        return 0;
    }
#endif
    W b = (W)base, r = 1;
    for (W e = (W)exponent; e; e >>= 1) {
        if (e & 1) r *= b;
        b *= b;
    }
    return (T)r;
}

/* Returns the quotient, rounded towards minus infinity. Division by 0 gives 0; the smallest number divided by -1 gives itself
 * (wrapping), as in NumPy. */
static inline T FN(floor_divide1)(T x, T y)
{
    if (y == 0) return 0;
#if IS_SIGNED
    if (y == -1) return (T)((W)0 - (W)x);
    return (T)(x / y - (x % y != 0 && (x < 0) != (y < 0)));
#else
    return (T)(x / y);
#endif
}

/* Returns the remainder of x / y, which has the sign of y; 0 if y is 0. */
static inline T FN(remainder1)(T x, T y)
{
    if (y == 0) return 0;
#if IS_SIGNED
    if (y == -1) return 0;
    T r = (T)(x % y);
    return r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;
#else
    return (T)(x % y);
#endif
}

/* Shifts by at least the width, and by negative numbers, shift out all bits. */
static inline T FN(left1)(T x, T y) { return (uint64_t)y < 8 * sizeof(T) ? (T)((W)x << y) : 0; }
static inline T FN(right1)(T x, T y)
{
    if ((uint64_t)y < 8 * sizeof(T)) return (T)(x >> y);
#if IS_SIGNED
    return x < 0 ? -1 : 0;
#else
    return 0;
#endif
}

#define R          T
#define NAME       floor_divide
#define EXPR(x, y) FN(floor_divide1)((x), (y))
#include "kernel/loop2.inc.h"
/* The reciprocal is 1 / x, rounded towards zero. The reciprocal of 0 is 0, like quotients by 0. */
#define NAME reciprocal
#if IS_SIGNED
#define EXPR(x) ((x) == 1 || (x) == -1 ? (x) : 0)
#else
#define EXPR(x) ((x) == 1)
#endif
#include "kernel/loop1.inc.h"
#define NAME       remainder
#define EXPR(x, y) FN(remainder1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       bitwise_left_shift
#define EXPR(x, y) FN(left1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       bitwise_right_shift
#define EXPR(x, y) FN(right1)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME       bitwise_and
#define EXPR(x, y) ((x) & (y))
#include "kernel/loop2.inc.h"
#define NAME       bitwise_or
#define EXPR(x, y) ((x) | (y))
#include "kernel/loop2.inc.h"
#define NAME       bitwise_xor
#define EXPR(x, y) ((x) ^ (y))
#include "kernel/loop2.inc.h"
#define NAME    bitwise_invert
#define EXPR(x) (~(x))
#include "kernel/loop1.inc.h"
#define NAME       pow
#define EXPR(x, y) FN(ipow)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME    negative
#define EXPR(x) ((W)0 - (W)(x))
#include "kernel/loop1.inc.h"
/* floor, ceil, trunc and round */
#define NAME    whole
#define EXPR(x) (x)
#include "kernel/loop1.inc.h"
#define NAME sign
#if IS_SIGNED
#define EXPR(x) (((x) > 0) - ((x) < 0))
#else
#define EXPR(x) ((x) != 0)
#endif
#include "kernel/loop1.inc.h"
#define NAME abs
#if IS_SIGNED
#define EXPR(x) ((x) < 0 ? (W)0 - (W)(x) : (W)(x))
#else
#define EXPR(x) (x)
#endif
#include "kernel/loop1.inc.h"
#undef R

static void FN(fill_integer)(cb_kernels *k)
{
    k->elem[CUBED_OP_POW][DT] = FN(pow);
    k->elem[CUBED_OP_NEGATIVE][DT] = FN(negative);
    k->elem[CUBED_OP_RECIPROCAL][DT] = FN(reciprocal);
    k->elem[CUBED_OP_ABS][DT] = FN(abs);
    k->elem[CUBED_OP_FLOOR_DIVIDE][DT] = FN(floor_divide);
    k->elem[CUBED_OP_REMAINDER][DT] = FN(remainder);
    k->elem[CUBED_OP_BITWISE_LEFT_SHIFT][DT] = FN(bitwise_left_shift);
    k->elem[CUBED_OP_BITWISE_RIGHT_SHIFT][DT] = FN(bitwise_right_shift);
    k->elem[CUBED_OP_BITWISE_AND][DT] = FN(bitwise_and);
    k->elem[CUBED_OP_BITWISE_OR][DT] = FN(bitwise_or);
    k->elem[CUBED_OP_BITWISE_XOR][DT] = FN(bitwise_xor);
    k->elem[CUBED_OP_BITWISE_INVERT][DT] = FN(bitwise_invert);
    k->elem[CUBED_OP_SIGN][DT] = FN(sign);
    k->elem[CUBED_OP_FLOOR][DT] = FN(whole);
    k->elem[CUBED_OP_CEIL][DT] = FN(whole);
    k->elem[CUBED_OP_TRUNC][DT] = FN(whole);
    k->elem[CUBED_OP_ROUND][DT] = FN(whole);
}
#undef FN
