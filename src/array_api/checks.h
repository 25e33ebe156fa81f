/* Steps (functions that build lazy arrays) that make a run fail if it computes invalid values; and a step on strings. */
#ifndef CB_API_CHECKS_H
#define CB_API_CHECKS_H

#include "ops/steps.h"

/* Returns an array with the elements of x. The array is stored. The run fails with CUBED_E_ARG, with `text` as message, if an
 * element of `holds` is false. `holds` has the shape of x, and `text` less than 200 characters. */
cubed_array *cb_step_required(cb_steps *s, cubed_array *x, cubed_array *holds, const char *text);
/* Returns an array of positions along an axis of `extent` elements. The array is stored. Negative positions are converted to
 * positions from the start of the axis. The run fails with CUBED_E_INDEX if a position is out of range. */
cubed_array *cb_step_wrapped(cb_steps *s, cubed_array *positions, int axis, int64_t extent);
/* Returns an array of strings: the string of `value` where the mask is true, otherwise the string of x. All three arrays have the
 * same shape. */
cubed_array *cb_step_replaced_texts(cb_steps *s, cubed_array *x, cubed_array *mask,
                                    cubed_array *value);

#endif
