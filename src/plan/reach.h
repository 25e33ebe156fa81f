/* Reach of an input of a function on blocks: the elements around the positions that an affine map gives. It is used to rotate,
 * scale or shift images. */
#ifndef CB_PLAN_REACH_H
#define CB_PLAN_REACH_H

#include "plan/geom.h"

/* Replacement for elements at positions beyond the ends of an axis. */
typedef enum cb_reach_end {
    CB_REACH_CLAMP,   /* the first or the last element of the axis */
    CB_REACH_REFLECT, /* elements mirrored about the edge: positions have a period of 2 n */
    /* Elements mirrored about the last element: positions have a period of 2 n - 2. */
    CB_REACH_MIRROR,
    CB_REACH_WRAP, /* elements from the other end: positions have a period of n */
    CB_REACH_WRAP_POINTS, /* elements from the other end, where the last element equals the first: period of n - 1 */
    CB_REACH_ENDS
} cb_reach_end;

/* Element i of the domain needs the elements of an array around the position matrix * i + offset. The domain and the array
 * have the same number of axes. */
typedef struct cb_reach {
    int64_t extent[CUBED_MAX_NDIM]; /* extents of the array */
    int64_t margin; /* number of elements on each side of a position, at most CB_REACH_MARGIN */
    cb_reach_end end[CUBED_MAX_NDIM];
    double offset[CUBED_MAX_NDIM];
    /* Matrix of ndim rows (axes of the array) and ndim columns (axes of the domain). */
    const double *matrix;
} cb_reach;
#define CB_REACH_MARGIN 64

/* Returns false for numbers that are not finite, a margin or an end out of range, or an array without elements. */
bool cb_reach_is_valid(const cb_reach *r, int ndim);
bool cb_reach_equal(const cb_reach *a, const cb_reach *b, int ndim);
/* Gets the box of the array's elements that a box of the domain needs. It is empty if the box of the domain is empty. */
void cb_reach_box(const cb_reach *r, const cb_box *domain, cb_box *out);
/* Returns the maximum elements along axis d of the array that a block of the domain needs. */
int64_t cb_reach_most(const cb_reach *r, const cb_grid *blocks, int d);

#endif
