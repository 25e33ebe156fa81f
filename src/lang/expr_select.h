/* Selections of elements along a dimension. */
#ifndef CUBED_LANG_EXPR_SELECT_H
#define CUBED_LANG_EXPR_SELECT_H

#include "lang/axis_values.h"

/* Replaces *x by its elements at n positions along axis d. Also records the coordinate of the result.
 *
 * v   the coordinate of axis d
 * at  n >= 1 positions in increasing order; the function takes ownership */
CUBED_MUST_CHECK cubed_status expr_select_positions(expr_builder *b, const expr *e,
                                                    const axis_values *v, int d, int64_t n,
                                                    int64_t *at, cubed_array **x);

#endif
