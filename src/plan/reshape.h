/* Reshapes: the same elements in C order under another shape.
 *
 * Axes of both shapes fall into groups with the same number of elements, which have nothing to do
 * with each other. Within a group a box of one shape is a list of intervals of positions, and an
 * interval is a few boxes of the other shape. */
#ifndef CB_PLAN_RESHAPE_H
#define CB_PLAN_RESHAPE_H

#include "plan/geom.h"

typedef struct cb_reshape {
    int nfrom, nto;
    int64_t from[CUBED_MAX_NDIM], to[CUBED_MAX_NDIM];
    int ngroups;
    struct {
        int from, nfrom, to, nto; /* first axis, and how many: none or more */
    } group[2 * CUBED_MAX_NDIM];
} cb_reshape;

/* Both shapes have the same number of elements; with none of them all axes are one group. */
void cb_reshape_make(cb_reshape *r, int nfrom, const int64_t *from, int nto, const int64_t *to);

/* The smallest box of `from` that group by group holds the interval around a box of `to`. */
void cb_reshape_image(const cb_reshape *r, const cb_box *to, cb_box *from);

/* A piece: a box of `from`, the first element of which is `at` bytes behind the first one of the box of
 * `to`, and the bytes from one element along its axes to the next. */
typedef bool (*cb_piece_fn)(void *ctx, const cb_box *from, const int64_t *stride, int64_t at);
/* Cuts a box of `to`, which lies in memory with these strides, into boxes of `from`, as far as they
 * are within one. Ends when fn gives true, which it returns then. */
bool cb_reshape_pieces(const cb_reshape *r, const cb_box *to, const int64_t *stride,
                       const cb_box *within, cb_piece_fn fn, void *ctx);

#endif
