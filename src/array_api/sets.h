/* Groups of equal elements, which are next to each other when they are sorted (sets.c). */
#ifndef CB_API_SETS_H
#define CB_API_SETS_H

#include "ops/steps.h"

/* Returns, as bool, which elements of a sorted vector are the first of their group. Every NaN is the first of a group, or with
 * `equal_nan` only the first NaN. Of several NaT, only the first one is the first of its group. */
cubed_array *cb_step_first(cb_steps *s, cubed_array *sorted, bool equal_nan);

#endif
