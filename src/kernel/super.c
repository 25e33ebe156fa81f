#include "kernel/super.h"

#define CUBED_OP_PASTE2(name) CUBED_OP_##name
#define CUBED_OP_PASTE(name)  CUBED_OP_PASTE2(name)

/* In the order in which super.isa.c lists its functions. */
const cb_super cb_super_rows[CB_SUPER_INNERS * CB_SUPER_OUTERS] = {
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
};
