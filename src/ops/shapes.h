/* Shapes of several arrays. */
#ifndef CB_SHAPES_H
#define CB_SHAPES_H

#include "plan/graph.h"

/* Size of a buffer for a shape of any number of dimensions, terminating NUL included. */
#define CB_SHAPE_TEXT_CAP (CUBED_MAX_NDIM * 22 + 4)

/* Write a shape, such as "(3, 4)" or "(3)", to `text`. Return `text`. */
const char *cb_extents_text(int ndim, const int64_t *shape, char text[CB_SHAPE_TEXT_CAP]);
const char *cb_shape_text(const cubed_array *x, char text[CB_SHAPE_TEXT_CAP]);
/* Broadcasts a shape with the shape of x by NumPy's rule: shapes are aligned at their ends, and extents are equal or 1. Returns
 * -1, or the axis of `shape` along which the shapes do not fit. */
int cb_shape_join(int *ndim, int64_t shape[CUBED_MAX_NDIM], const cubed_array *x);
/* Sets the shape that all arrays broadcast to. `name` is for the message of CUBED_E_ARG. */
CUBED_MUST_CHECK cubed_status cb_op_broadcast_shape(const char *name, cubed_array *const *args,
                                                    int nargs, int *ndim,
                                                    int64_t shape[CUBED_MAX_NDIM],
                                                    cubed_error *err);

#endif
