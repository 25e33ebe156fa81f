#include "kernel/super.h"

#define CUBED_OP_PASTE2(name) CUBED_OP_##name
#define CUBED_OP_PASTE(name)  CUBED_OP_PASTE2(name)

/* Rows in the order of the functions in super.isa.c. */
const cb_super cb_super_rows[CB_SUPER_ROWS] = {
#define INNER ADD
#include "kernel/super_rows.inc.h"
#undef INNER
#define INNER SUBTRACT
#include "kernel/super_rows.inc.h"
#undef INNER
#define INNER MULTIPLY
#include "kernel/super_rows.inc.h"
#undef INNER
#define INNER SQUARE
#include "kernel/super_rows.inc.h"
#undef INNER
#define INNER NEGATIVE
#include "kernel/super_rows.inc.h"
#undef INNER
#define INNER ABS
#include "kernel/super_rows.inc.h"
#undef INNER
    /* Rows in the order of super_chain.inc.h. */
    {3, {CUBED_OP_SQUARE, CUBED_OP_ADD, CUBED_OP_SQRT}, {0, 0}, 2, 0},
    {3, {CUBED_OP_SQUARE, CUBED_OP_ADD, CUBED_OP_SQRT}, {1, 0}, 2, 0},
    {3, {CUBED_OP_MULTIPLY, CUBED_OP_ADD, CUBED_OP_SQRT}, {0, 0}, 2, 0},
    {3, {CUBED_OP_MULTIPLY, CUBED_OP_ADD, CUBED_OP_SQRT}, {1, 0}, 2, 0},
    {3, {CUBED_OP_SUBTRACT, CUBED_OP_SQUARE, CUBED_OP_ADD}, {0, 0}, 2, 0},
    {3, {CUBED_OP_SUBTRACT, CUBED_OP_SQUARE, CUBED_OP_ADD}, {0, 1}, 2, 0},
#define FROM CUBED_INT8
#include "kernel/super_unpack.inc.h"
#undef FROM
#define FROM CUBED_UINT8
#include "kernel/super_unpack.inc.h"
#undef FROM
#define FROM CUBED_INT16
#include "kernel/super_unpack.inc.h"
#undef FROM
#define FROM CUBED_UINT16
#include "kernel/super_unpack.inc.h"
#undef FROM
};
