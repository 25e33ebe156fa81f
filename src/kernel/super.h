/* The table of superinstructions (several elementwise operations in one pass; see cb_super). In this order, it has:
 *
 *   CB_SUPER_PAIRS   every pair of an inner and an outer operation. The inner operation runs first. An outer operation with two
 *                    operands counts twice: the inner result is its left or its right operand
 *   CB_SUPER_CHAINS  combinations of three operations
 *   the rest         rows that cast a small integer, then multiply it, and perhaps add a number */
#ifndef CB_KERNEL_SUPER_H
#define CB_KERNEL_SUPER_H

#include "kernel/kernel.h"

#define CB_SUPER_INNERS 6
#define CB_SUPER_OUTERS 12
#define CB_SUPER_CHAINS 6
/* Number of integer types that are cast (int8, uint8, int16, uint16), and number of rows for each type. */
#define CB_SUPER_PACKED  4
#define CB_SUPER_UNPACKS 6

#define CB_SUPER_PAIRS (CB_SUPER_INNERS * CB_SUPER_OUTERS)
#define CB_SUPER_ROWS  (CB_SUPER_PAIRS + CB_SUPER_CHAINS + CB_SUPER_PACKED * CB_SUPER_UNPACKS)

_Static_assert(CB_SUPER_ROWS <= CB_MAX_SUPER, "CB_MAX_SUPER");

extern const cb_super cb_super_rows[CB_SUPER_ROWS];

#endif
