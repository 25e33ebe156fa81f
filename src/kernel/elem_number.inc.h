/* Arithmetic of integers and floats. Parameters: T, TAG, DT and W, the type of intermediate results: T itself for floats;
 * for integers an unsigned type of at least 32 bits, so that results wrap (a product of two uint16 would overflow the int
 * that they promote to). */
#define FN(name) CB_PASTE(name, TAG)
#define R        T

#define NAME       add
#define EXPR(x, y) ((W)(x) + (W)(y))
#include "kernel/loop2.inc.h"
#define NAME       subtract
#define EXPR(x, y) ((W)(x) - (W)(y))
#include "kernel/loop2.inc.h"
#define NAME       multiply
#define EXPR(x, y) ((W)(x) * (W)(y))
#include "kernel/loop2.inc.h"
#define NAME    square
#define EXPR(x) ((W)(x) * (W)(x))
#include "kernel/loop1.inc.h"
/* The operations conj and real use this kernel as well. */
#define NAME    positive
#define EXPR(x) (x)
#include "kernel/loop1.inc.h"
#define NAME    imag
#define EXPR(x) ((void)(x), 0)
#include "kernel/loop1.inc.h"
#undef R

static void FN(fill_number)(cb_kernels *k)
{
    k->CB_ELEM[CUBED_OP_ADD][DT] = FN(add);
    k->CB_ELEM[CUBED_OP_SUBTRACT][DT] = FN(subtract);
    k->CB_ELEM[CUBED_OP_MULTIPLY][DT] = FN(multiply);
    k->CB_ELEM[CUBED_OP_SQUARE][DT] = FN(square);
    k->CB_ELEM[CUBED_OP_POSITIVE][DT] = FN(positive);
    k->CB_ELEM[CUBED_OP_CONJ][DT] = FN(positive);
    k->CB_ELEM[CUBED_OP_REAL][DT] = FN(positive);
    k->CB_ELEM[CUBED_OP_IMAG][DT] = FN(imag);
}
#undef FN
