/* Steps of long expressions that a run fails in where values are not what they have to be, and texts. */
#ifndef CB_API_CHECKS_H
#define CB_API_CHECKS_H

#include "ops/steps.h"

/* x, stored, where all elements of `holds`, of its shape, are true; a run fails with CUBED_E_ARG and the text,
 * of less than 200 characters, otherwise. */
cubed_array *cb_step_required(cb_steps *s, cubed_array *x, cubed_array *holds, const char *text);
/* Positions along an axis from its start, stored: a run fails with CUBED_E_INDEX if one is not in it. */
cubed_array *cb_step_wrapped(cb_steps *s, cubed_array *positions, int axis, int64_t extent);
/* Texts x, those of `value` where the mask is true; all have x's shape. */
cubed_array *cb_step_replaced_texts(cb_steps *s, cubed_array *x, cubed_array *mask,
                                    cubed_array *value);

#endif
