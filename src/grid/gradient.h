/* Gradients of fields inside cells, as linear combinations of values of the cell and its neighbours. */
#ifndef CB_GRID_GRADIENT_H
#define CB_GRID_GRADIENT_H

#include "block/space_index.h"
#include "grid/grid.h"

enum { CB_GRADIENT_MOST = 24, CB_GRADIENT_CACHE = 1024 };

/* The gradient in a cell: the sum of by[k] * (value of cell[k] - value of the cell itself). */
typedef struct cb_gradient {
    int32_t of; /* number of the cell; -1: an empty entry of the cache */
    int n;
    int32_t cell[CB_GRADIENT_MOST];
    cb_vec by[CB_GRADIENT_MOST];
} cb_gradient;

/* Computes gradients, and caches the most recent ones. The caller sets all fields, and sets `of` of each cache entry to -1. */
typedef struct cb_gradients {
    const cubed_grid *grid;
    const cb_space_index *index; /* bounding boxes of the cells */
    const cb_vec *centroids; /* mean position of each cell's points; 0 if the cell has no area */
    cb_gradient *cache;      /* CB_GRADIENT_CACHE entries */
} cb_gradients;

/* Computes the gradient in a cell. `around` is the bounding box of the cell. *out is valid until the next call.
 *
 * Neighbours are the next cells along both axes of a regular grid, otherwise up to 24 cells that share a corner. The gradient
 * fits their differences by least squares, so it is exact for linear fields. It is 0 in a direction without neighbours, and
 * in a cell that is larger than about half of the sphere. */
CUBED_MUST_CHECK cubed_status cb_gradient_of(const cb_gradients *g, int32_t cell,
                                             const cb_space_box *around, const cb_gradient **out,
                                             cubed_error *err);

#endif
