/* Reshapes: the same elements in C order with another shape.
 *
 * The axes of both shapes form independent groups. In each group, the axes of the old shape have as many elements as the axes of
 * the new shape. Within a group, a box of one shape is a list of intervals of positions in C order. An interval consists of a few
 * boxes of the other shape. */
#ifndef CB_PLAN_RESHAPE_H
#define CB_PLAN_RESHAPE_H

#include "plan/geom.h"

/* A reshape from one shape to another, and its groups of axes. */
typedef struct cb_reshape {
    int nfrom, nto;
    int64_t from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM];
    int ngroups;
    struct {
        /* first axis, and number of axes (possibly 0), in the old shape and in the new shape */
        int from, nfrom, to, nto;
    } group[2 * CUBED_MAX_NDIM];
} cb_reshape;

/* Creates the groups of axes of two shapes with the same number of elements. If this number is 0, all axes are one group. */
void cb_reshape_make(cb_reshape *r, int nfrom, const int64_t *from, int nto, const int64_t *to);

/* Gets a box of `from` that contains all elements of a box of `to`. In each group it is the smallest box that contains the
 * interval from the first to the last position of the box of `to`. */
void cb_reshape_image(const cb_reshape *r, const cb_box *to, cb_box *from);

/* Receives one piece of a box of `to`: a box of `from`. Both have the same elements in the memory of the box of `to`.
 *
 * stride  bytes between elements along each axis of `from`
 * at      offset in bytes of the piece's first element from the first element of the box of `to` */
typedef bool (*cb_piece_fn)(void *ctx, const cb_box *from, const int64_t *stride, int64_t at);
/* Divides a box of `to`, in memory with these strides, into boxes of `from`, clipped to `within`. Stops and returns true if
 * `fn` returns true. */
bool cb_reshape_pieces(const cb_reshape *r, const cb_box *to, const int64_t *stride,
                       const cb_box *within, cb_piece_fn fn, void *ctx);

#endif
