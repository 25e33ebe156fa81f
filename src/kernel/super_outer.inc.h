/* Superinstructions in which one inner operation is followed by one outer operation, in the order of super_rows.inc.h.
 * Parameters: T, TAG, INNER(x, y) (the inner operation), IN (its name), FABS, SQRT. */
#define FN(name) CB_PASTE(CB_PASTE(IN, name), TAG)

#define NAME          add0
#define EXPR(x, y, z) INNER(x, y) + (z)
#include "kernel/loop3.inc.h"
#define NAME          add1
#define EXPR(x, y, z) (z) + INNER(x, y)
#include "kernel/loop3.inc.h"
#define NAME          subtract0
#define EXPR(x, y, z) INNER(x, y) - (z)
#include "kernel/loop3.inc.h"
#define NAME          subtract1
#define EXPR(x, y, z) (z) - INNER(x, y)
#include "kernel/loop3.inc.h"
#define NAME          multiply0
#define EXPR(x, y, z) INNER(x, y) * (z)
#include "kernel/loop3.inc.h"
#define NAME          multiply1
#define EXPR(x, y, z) (z) * INNER(x, y)
#include "kernel/loop3.inc.h"
#define NAME          divide0
#define EXPR(x, y, z) INNER(x, y) / (z)
#include "kernel/loop3.inc.h"
#define NAME          divide1
#define EXPR(x, y, z) (z) / INNER(x, y)
#include "kernel/loop3.inc.h"
#define NAME          square0
#define EXPR(x, y, z) INNER(x, y) * INNER(x, y)
#include "kernel/loop3.inc.h"
#define NAME          sqrt0
#define EXPR(x, y, z) SQRT(INNER(x, y))
#include "kernel/loop3.inc.h"
#define NAME          abs0
#define EXPR(x, y, z) FABS(INNER(x, y))
#include "kernel/loop3.inc.h"
#define NAME          negative0
#define EXPR(x, y, z) -INNER(x, y)
#include "kernel/loop3.inc.h"

static const cb_elem_fn CB_PASTE(CB_PASTE(IN, all), TAG)[CB_SUPER_OUTERS] = {
    FN(add0),    FN(add1),    FN(subtract0), FN(subtract1), FN(multiply0), FN(multiply1),
    FN(divide0), FN(divide1), FN(square0),   FN(sqrt0),     FN(abs0),      FN(negative0),
};
#undef FN
#undef IN
#undef INNER
