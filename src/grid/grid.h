/* Horizontal grids and sparse weights (cubed/remap.h): their fields, which only this folder and the functions on arrays
 * access. */
#ifndef CB_GRID_GRID_H
#define CB_GRID_GRID_H

#include <stdatomic.h>

#include "context/context.h"
#include "cubed/remap.h"

struct cubed_grid {
    const cubed_allocator *alloc;
    cb_zone *zone; /* owns all numbers */
    bool regular;
    bool circular; /* the grid is regular, and its longitudes cover 360 degrees */
    int ndim, corners;
    int64_t shape[2], n; /* n: number of cells */
    /* Centres of cells in degrees: shape[0] latitudes and shape[1] longitudes if the grid is regular, otherwise n of each. */
    double *lat, *lon;
    /* Corners of cells in degrees: `corners` numbers for each centre. NULL if the grid has no bounds. */
    double *lat_bounds, *lon_bounds;
    bool *mask; /* n bools, true for cells in use; NULL: all */
};

struct cubed_weights {
    atomic_int refs;
    cubed_context *ctx;
    cubed_weights_shape shape;
    bool nearest; /* each row copies at most one value */
    bool largest; /* each row copies the value with the largest weight */
    bool full;    /* no row is empty */
    int64_t rows, columns, n;
    int64_t *starts; /* rows + 1 entries: index of the first weight of each row, followed by n */
    int32_t *column; /* columns of the n weights */
    double *value;   /* values of the n weights */
    size_t room;     /* capacity of `column` and `value`, in weights */
};

/* Maximum number of cells of a grid, because numbers of columns are int32. */
#define CB_GRID_MOST_CELLS ((int64_t)INT32_MAX)

/* Return the latitude and the longitude, in degrees, of the centre of cell i. Cells are counted in C order. */
static inline double cb_grid_lat(const cubed_grid *g, int64_t i)
{
    return g->lat[g->regular ? i / g->shape[1] : i];
}
static inline double cb_grid_lon(const cubed_grid *g, int64_t i)
{
    return g->lon[g->regular ? i % g->shape[1] : i];
}

enum { CB_GRID_CELL_CAP = 48 };
/* Writes the position of cell i to out, such as "(2, 3)" or "7", and returns out. */
const char *cb_grid_cell_text(int ndim, const int64_t *shape, int64_t i,
                              char out[CB_GRID_CELL_CAP]);

/* Builder that appends rows of weights one after another. */
typedef struct cb_weights_builder {
    cubed_weights *w;
    int64_t row; /* number of finished rows */
    uint64_t
        memory;    /* maximum number of bytes for the weights and `held`; 0 if there is no limit */
    uint64_t held; /* bytes in use in addition to the weights, such as an index of cells */
    const bool *source_mask, *target_mask; /* masks of the grids; NULL: all cells are in use */
    /* Fraction of the sum of a row's weights. Weights whose magnitude is at most this fraction are removed, because they are
     * rounding errors of sums that should be 0. 0: no weight is removed. */
    double residue;
} cb_weights_builder;

/* Fails with CUBED_E_BUDGET if weights need more than `allowed` bytes. If `allowed` is 0, there is no limit. */
CUBED_MUST_CHECK cubed_status cb_weights_check_memory(uint64_t need, uint64_t allowed,
                                                      cubed_error *err);
/* Begins the weights between two grids, without rows. The weights and b->held may use `memory` bytes; 0: no limit. If a later
 * function fails, the caller frees b->w. */
CUBED_MUST_CHECK cubed_status cb_weights_begin(cubed_context *ctx, const cubed_weights_shape *shape,
                                               uint64_t memory, cb_weights_builder *b,
                                               cubed_error *err);
/* Adds `bytes` to b->held, the memory in use in addition to the weights. Call it before this memory is allocated. CUBED_E_BUDGET
 * if this memory and the weights exceed b->memory. */
CUBED_MUST_CHECK cubed_status cb_weights_hold(cb_weights_builder *b, size_t bytes,
                                              cubed_error *err);
/* Like cb_weights_hold, for the memory of a spatial index of n boxes (space_index.h). */
CUBED_MUST_CHECK cubed_status cb_weights_hold_index(cb_weights_builder *b, int64_t n,
                                                    cubed_error *err);
/* Adds a weight to the current row, which cb_weights_end_row finishes. Ignores weights of 0. */
CUBED_MUST_CHECK cubed_status cb_weights_add(cb_weights_builder *b, int64_t column, double value,
                                             cubed_error *err);
/* Finishes the current row: sorts its weights by column, adds up weights of equal columns, and removes rounding errors
 * (b->residue) and weights of masked source cells. The row of a masked target cell becomes empty. If `normalise` is set, divides
 * the weights by their sum, unless the sum is 0. */
void cb_weights_end_row(cb_weights_builder *b, bool normalise);

/* Frees the memory that was reserved for more weights. */
void cb_weights_finish(cb_weights_builder *b);

/* Each of these functions computes the weights of one method. Each is in a separate file. */
CUBED_MUST_CHECK cubed_status cb_weights_of_points(cb_weights_builder *b, const cubed_grid *source,
                                                   const cubed_grid *target,
                                                   const cubed_weights_options *o,
                                                   cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_weights_bilinear(cb_weights_builder *b, const cubed_grid *source,
                                                  const cubed_grid *target, bool cubic,
                                                  cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_weights_of_areas(cb_weights_builder *b, const cubed_grid *source,
                                                  const cubed_grid *target, bool second_order,
                                                  cubed_error *err);

#endif
