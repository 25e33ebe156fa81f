/* What only integers do their own way. Takes T, TAG, DT, W and IS_SIGNED (0 or 1). */
#define FN(name) CB_PASTE(name, TAG)

/* By squaring, wrapping. A negative exponent gives what the reciprocal truncates to: 1, -1 or 0. */
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

#define R          T
#define NAME       pow
#define EXPR(x, y) FN(ipow)((x), (y))
#include "kernel/loop2.inc.h"
#define NAME    negative
#define EXPR(x) ((W)0 - (W)(x))
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
    k->elem[CUBED_OP_ABS][DT] = FN(abs);
}
#undef FN
