/* What only floats do. Takes T, TAG, DT, FABS, SQRT. */
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
#undef R

static void FN(fill_float)(cb_kernels *k)
{
    k->elem[CUBED_OP_DIVIDE][DT] = FN(divide);
    k->elem[CUBED_OP_NEGATIVE][DT] = FN(negative);
    k->elem[CUBED_OP_ABS][DT] = FN(abs);
    k->elem[CUBED_OP_SQRT][DT] = FN(sqrt);
}
#undef FN
