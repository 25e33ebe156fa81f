/* Returns the number of planes of the states of a reduction by group. */
#include "kernel/group.h"

int cb_group_planes(cb_group_kind kind, cb_group_variant variant)
{
    if (kind == CB_GROUP_COUNT) return 1;
    if (kind == CB_GROUP_M2) return 3;
    if (kind >= CB_GROUP_ARGMIN) return 2;
    return variant == CB_GROUP_SKIP_COUNT ? 2 : 1;
}
