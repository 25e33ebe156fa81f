/* Size of the superinstruction table: every inner operation with every outer one, and longer combinations. */
#ifndef CB_KERNEL_SUPER_H
#define CB_KERNEL_SUPER_H

#include "kernel/kernel.h"

#define CB_SUPER_INNERS 6
#define CB_SUPER_OUTERS 12
#define CB_SUPER_CHAINS 6
/* Number of small integer types that are unpacked, and rows for each. */
#define CB_SUPER_PACKED  4
#define CB_SUPER_UNPACKS 6

#define CB_SUPER_PAIRS (CB_SUPER_INNERS * CB_SUPER_OUTERS)
#define CB_SUPER_ROWS  (CB_SUPER_PAIRS + CB_SUPER_CHAINS + CB_SUPER_PACKED * CB_SUPER_UNPACKS)

_Static_assert(CB_SUPER_ROWS <= CB_MAX_SUPER, "CB_MAX_SUPER");

extern const cb_super cb_super_rows[CB_SUPER_ROWS];

#endif
