/* Superinstructions of one type that combine three operations or cast an integer, in the order of cb_super_rows (super.c).
 * Parameters: T, TAG, SQRT. */
#define FN(name) CB_PASTE(CB_PASTE(chain, name), TAG)

#define NAME          square_add0_sqrt
#define EXPR(x, y, z) SQRT((x) * (x) + (z))
#include "kernel/loop3.inc.h"
#define NAME          square_add1_sqrt
#define EXPR(x, y, z) SQRT((z) + (x) * (x))
#include "kernel/loop3.inc.h"
#define NAME          multiply_add0_sqrt
#define EXPR(x, y, z) SQRT((x) * (y) + (z))
#include "kernel/loop3.inc.h"
#define NAME          multiply_add1_sqrt
#define EXPR(x, y, z) SQRT((z) + (x) * (y))
#include "kernel/loop3.inc.h"
#define NAME          subtract_square_add0
#define EXPR(x, y, z) ((x) - (y)) * ((x) - (y)) + (z)
#include "kernel/loop3.inc.h"
#define NAME          subtract_square_add1
#define EXPR(x, y, z) (z) + ((x) - (y)) * ((x) - (y))
#include "kernel/loop3.inc.h"

#define X             int8_t
#define NAME          scale_i1
#define EXPR(x, y, z) (T)(x) * (z)
#include "kernel/loop3.inc.h"
#define NAME          unpack_i1
#define EXPR(x, y, z) (T)(x) * (z) + (y)
#include "kernel/loop3.inc.h"
#undef X
#define X             uint8_t
#define NAME          scale_u1
#define EXPR(x, y, z) (T)(x) * (z)
#include "kernel/loop3.inc.h"
#define NAME          unpack_u1
#define EXPR(x, y, z) (T)(x) * (z) + (y)
#include "kernel/loop3.inc.h"
#undef X
#define X             int16_t
#define NAME          scale_i2
#define EXPR(x, y, z) (T)(x) * (z)
#include "kernel/loop3.inc.h"
#define NAME          unpack_i2
#define EXPR(x, y, z) (T)(x) * (z) + (y)
#include "kernel/loop3.inc.h"
#undef X
#define X             uint16_t
#define NAME          scale_u2
#define EXPR(x, y, z) (T)(x) * (z)
#include "kernel/loop3.inc.h"
#define NAME          unpack_u2
#define EXPR(x, y, z) (T)(x) * (z) + (y)
#include "kernel/loop3.inc.h"
#undef X

/* Rows that differ only in the order of operands share a function. The order affects only results of two NaN operands, and
 * integers are never NaN. */
static const cb_elem_fn FN(all)[CB_SUPER_ROWS - CB_SUPER_PAIRS] = {
    FN(square_add0_sqrt),
    FN(square_add1_sqrt),
    FN(multiply_add0_sqrt),
    FN(multiply_add1_sqrt),
    FN(subtract_square_add0),
    FN(subtract_square_add1),
    FN(scale_i1),
    FN(scale_i1),
    FN(unpack_i1),
    FN(unpack_i1),
    FN(unpack_i1),
    FN(unpack_i1),
    FN(scale_u1),
    FN(scale_u1),
    FN(unpack_u1),
    FN(unpack_u1),
    FN(unpack_u1),
    FN(unpack_u1),
    FN(scale_i2),
    FN(scale_i2),
    FN(unpack_i2),
    FN(unpack_i2),
    FN(unpack_i2),
    FN(unpack_i2),
    FN(scale_u2),
    FN(scale_u2),
    FN(unpack_u2),
    FN(unpack_u2),
    FN(unpack_u2),
    FN(unpack_u2),
};
#undef FN
