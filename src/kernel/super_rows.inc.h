/* Rows of the superinstruction table for one inner operation. Parameter: INNER, its NAME in ops.def. */
/* clang-format off: one row per line, in the order of super_outer.inc.h. */
{2, {CUBED_OP_PASTE(INNER), CUBED_OP_ADD}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_ADD}, {1}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_SUBTRACT}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_SUBTRACT}, {1}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_MULTIPLY}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_MULTIPLY}, {1}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_DIVIDE}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_DIVIDE}, {1}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_SQUARE}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_SQRT}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_ABS}, {0}, 0, 0},
    {2, {CUBED_OP_PASTE(INNER), CUBED_OP_NEGATIVE}, {0}, 0, 0},
    /* clang-format on */
