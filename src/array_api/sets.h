/* Groups of equal elements, which are next to each other when they are sorted (sets.c). */
#ifndef CB_API_SETS_H
#define CB_API_SETS_H

#include "ops/steps.h"

/* Which elements of a sorted vector are the first of their group: every NaN is, or the first one with `equal_nan`, but only the
 * first NaT. */
cubed_array *cb_step_first(cb_steps *s, cubed_array *sorted, bool equal_nan);

#endif
