/* Finds groups of equal elements in sorted arrays, in which equal elements are adjacent (sets.c). */
#ifndef CB_API_SETS_H
#define CB_API_SETS_H

#include "ops/steps.h"

/* Returns a bool for each element of a sorted vector: true if the element is the first of a group of equal elements. If
 * `equal_nan` is set, all NaN are one group; otherwise each NaN is a group. All NaT are one group. */
cubed_array *cb_step_first(cb_steps *s, cubed_array *sorted, bool equal_nan);

#endif
