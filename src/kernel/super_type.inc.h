/* All superinstructions of one type. Parameters: T, TAG, FABS, SQRT. */
#define IN          add
#define INNER(x, y) ((x) + (y))
#include "kernel/super_outer.inc.h"
#define IN          subtract
#define INNER(x, y) ((x) - (y))
#include "kernel/super_outer.inc.h"
#define IN          multiply
#define INNER(x, y) ((x) * (y))
#include "kernel/super_outer.inc.h"
#define IN          square
#define INNER(x, y) ((x) * (x))
#include "kernel/super_outer.inc.h"
#define IN          negative
#define INNER(x, y) (-(x))
#include "kernel/super_outer.inc.h"
#define IN          abs
#define INNER(x, y) (FABS(x))
#include "kernel/super_outer.inc.h"
