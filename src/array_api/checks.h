/* Steps of expressions in which a run fails if values are invalid, and steps on strings. */
#ifndef CB_API_CHECKS_H
#define CB_API_CHECKS_H

#include "ops/steps.h"

/* Returns x, stored. The run fails with CUBED_E_ARG and the text (less than 200 characters) unless all elements of `holds`,
 * of x's shape, are true. */
cubed_array *cb_step_required(cb_steps *s, cubed_array *x, cubed_array *holds, const char *text);
/* Returns positions along an axis of `extent` elements, stored, after negative positions were counted from the end. The run fails
 * with CUBED_E_INDEX if a position is out of range. */
cubed_array *cb_step_wrapped(cb_steps *s, cubed_array *positions, int axis, int64_t extent);
/* Returns the strings x, replaced by the strings of `value` where the mask is true. All have x's shape. */
cubed_array *cb_step_replaced_texts(cb_steps *s, cubed_array *x, cubed_array *mask,
                                    cubed_array *value);

#endif
