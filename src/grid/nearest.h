/* Weights of the nearest centres, for the methods that use them. */
#ifndef CB_GRID_NEAREST_H
#define CB_GRID_NEAREST_H

#include "block/space_index.h"
#include "grid/grid.h"

/* Builds a spatial index of the centres of a grid. */
CUBED_MUST_CHECK cubed_status cb_centres_sort(cb_zone *zone, const cubed_grid *g,
                                              cb_space_index *out, cubed_error *err);
/* Adds weights of the k centres that are nearest to the point `at`. The weights are the inverse distances: along the surface of
 * the earth if `along_earth` is set, otherwise along a straight line. Does not normalise the weights. */
CUBED_MUST_CHECK cubed_status cb_weights_near(cb_weights_builder *b, const cb_space_index *centres,
                                              cb_vec at, int k, bool along_earth, cubed_error *err);

#endif
