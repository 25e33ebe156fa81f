/* Rows of the superinstruction table that cast an integer, multiply it, and perhaps add a number. They have the order of the
 * functions in super_chain.inc.h. Parameter: FROM, the integer type. */
/* clang-format off: one row per line. */
{2, {CB_SUPER_CAST, CUBED_OP_MULTIPLY}, {0}, 0, FROM},
    {2, {CB_SUPER_CAST, CUBED_OP_MULTIPLY}, {1}, 0, FROM},
    {3, {CB_SUPER_CAST, CUBED_OP_MULTIPLY, CUBED_OP_ADD}, {0, 0}, 1, FROM},
    {3, {CB_SUPER_CAST, CUBED_OP_MULTIPLY, CUBED_OP_ADD}, {0, 1}, 1, FROM},
    {3, {CB_SUPER_CAST, CUBED_OP_MULTIPLY, CUBED_OP_ADD}, {1, 0}, 1, FROM},
    {3, {CB_SUPER_CAST, CUBED_OP_MULTIPLY, CUBED_OP_ADD}, {1, 1}, 1, FROM},
    /* clang-format on */
