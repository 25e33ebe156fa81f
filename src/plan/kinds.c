#include "plan/kinds.h"

#include "plan/kinds/kind_rows.h"

const cb_kind *const cb_kinds[CB_NODE_KINDS] = {
#define CB_KIND(number, NAME, row) [number] = &cb_kind_##row,
#include "plan/kinds.def"
#undef CB_KIND
};
