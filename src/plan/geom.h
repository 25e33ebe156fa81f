/* Boxes, chunk grids and index transforms: the arithmetic of regions. */
#ifndef CB_PLAN_GEOM_H
#define CB_PLAN_GEOM_H

#include "base/alloc.h"
#include "base/checked.h"
#include "cubed/base.h"

/* Dense strides over these extents, last axis fastest. */
void cb_dense_strides(int ndim, const int64_t *extents, size_t item_size, int64_t *strides);

/* A half-open box lo <= x < hi. Empty if any hi <= lo; ndim 0 is one point. */
typedef struct cb_box {
    int ndim;
    int64_t lo[CUBED_MAX_NDIM];
    int64_t hi[CUBED_MAX_NDIM];
} cb_box;

bool cb_box_empty(const cb_box *b);
/* Elements; the caller knows that it fits (boxes lie within arrays whose size was checked). */
int64_t cb_box_count(const cb_box *b);
void cb_box_intersect(const cb_box *a, const cb_box *b, cb_box *out);
cb_box cb_box_whole(int ndim, const int64_t *shape);

/* One axis cut into chunks: the first is `first` long, the others `chunk`, the last what is left.
 * Closed under slicing with step 1 and flipping. 1 <= first <= chunk; extent >= 0. An irregular axis
 * says where its chunks begin; first and chunk are the longest then, which bounds whatever holds one. The
 * list is borrowed: what keeps a grid takes it over with cb_grid_own (irregular.c). */
typedef struct cb_axis {
    int64_t extent, first, chunk;
    const int64_t *starts; /* n + 1 of them, from 0 to the extent or more; NULL: regular */
    int64_t n : 63;
    /* The last chunk is stored as long as it is, not padded: of intermediates on the way to other chunks. Nodes have
     * many axes, so it takes no room of its own. */
    uint64_t clipped : 1;
} cb_axis;

static inline int64_t cb_axis_count(const cb_axis *a)
{
    if (a->extent == 0) return 0;
    if (a->starts) return a->n;
    if (a->extent <= a->first) return 1;
    return 1 + cb_ceil_div(a->extent - a->first, a->chunk);
}
static inline int64_t cb_axis_lo(const cb_axis *a, int64_t i)
{
    if (a->starts) return a->starts[i];
    return i == 0 ? 0 : a->first + (i - 1) * a->chunk;
}
static inline int64_t cb_axis_hi(const cb_axis *a, int64_t i)
{
    return cb_min_i64(a->extent, a->starts ? a->starts[i + 1] : a->first + i * a->chunk);
}
/* The length of the longest chunk; 0 if there is none. That of a slice may be less than `chunk`. */
static inline int64_t cb_axis_longest(const cb_axis *a)
{
    if (a->starts) return a->chunk;
    if (a->extent <= a->first) return a->extent;
    return cb_max_i64(a->first, cb_min_i64(a->chunk, a->extent - a->first));
}
/* Elements of a chunk as it is stored, with those behind the end of the array. */
static inline int64_t cb_axis_stored(const cb_axis *a, int64_t i)
{
    if (a->starts) return a->starts[i + 1] - a->starts[i];
    return a->clipped ? cb_axis_hi(a, i) - cb_axis_lo(a, i) : a->chunk;
}
/* The stored length of the last chunk of a regular axis. */
static inline int64_t cb_axis_last(const cb_axis *a)
{
    return a->clipped ? cb_axis_stored(a, cb_axis_count(a) - 1) : a->chunk;
}
/* The sum of the stored lengths of all chunks; those of an irregular axis count as the longest. */
static inline int64_t cb_axis_stored_all(const cb_axis *a)
{
    return a->clipped ? a->extent : cb_axis_count(a) * a->chunk;
}
/* The chunk that holds position x, 0 <= x < extent. */
static inline int64_t cb_axis_find(const cb_axis *a, int64_t x)
{
    if (a->starts) return cb_find_start(a->starts, a->n, x);
    return x < a->first ? 0 : 1 + (x - a->first) / a->chunk;
}
static inline cb_axis cb_axis_regular(int64_t extent, int64_t chunk)
{
    return (cb_axis){.extent = extent, .first = chunk, .chunk = chunk};
}

bool cb_axis_equal(const cb_axis *a, const cb_axis *b);
/* The same chunks, and the nominal length, which what is stored is padded to, no greater than that of the longest. */
cb_axis cb_axis_trimmed(const cb_axis *a);
/* Chunks that begin at `starts`, n + 1 of them; a regular axis where that is the same. */
cb_axis cb_axis_irregular(int64_t extent, const int64_t *starts, int64_t n);
/* `extent` elements from `offset` on by `stride`, in chunks of those that lie in one chunk of `a`, which is
 * irregular; the list is in the zone. */
CUBED_MUST_CHECK cubed_status cb_axis_slice(cb_zone *zone, const cb_axis *a, int64_t offset,
                                            int64_t stride, int64_t extent, cb_axis *out,
                                            cubed_error *err);
/* The axis with elements in front of it and behind it, in equal chunks of its nominal length; an irregular one keeps
 * its own, and none gets longer than its longest. Lists are in the zone. */
CUBED_MUST_CHECK cubed_status cb_axis_extend(cb_zone *zone, const cb_axis *a, int64_t before,
                                             int64_t after, cb_axis *out, cubed_error *err);
/* Whether the list of an irregular axis is sound; anything may be in it. */
bool cb_axis_is_sound(const cb_axis *a);

/* Blocks of `per` chunks each along an axis. */
static inline int64_t cb_axis_blocks(const cb_axis *a, int64_t per)
{
    return cb_ceil_div(cb_axis_count(a), per);
}
/* Pairs of a block of `per` chunks of `out` and a chunk of `source` that it touches, exactly and in closed form
 * (touched.c): position x of a block is offset + stride * x of the source, in bounds. With strides longer than a chunk
 * those in between count too. Both axes are regular. */
uint64_t cb_axis_touched(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                         const cb_axis *source);
/* The same pairs, each counted with the length of the source chunk as it is stored. */
uint64_t cb_axis_touched_length(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                                const cb_axis *source);
/* The greatest common divisor of positive numbers. */
static inline int64_t cb_gcd_i64(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

typedef struct cb_grid {
    int ndim;
    cb_axis axis[CUBED_MAX_NDIM];
} cb_grid;

cb_grid cb_grid_regular(int ndim, const int64_t *shape, const int64_t *chunk);
/* A regular one whose chunks are as large as the largest, for estimates. */
cb_grid cb_grid_evened(const cb_grid *g);
bool cb_grid_is_irregular(const cb_grid *g);
cb_grid cb_grid_copy(const cb_grid *g);
/* The same chunks, or, as the first one of a stored array is none shorter than others, regular ones. */
cb_grid cb_grid_storable(const cb_grid *g);
/* All axes as cb_axis_trimmed gives them. */
cb_grid cb_grid_trimmed(const cb_grid *g);
/* Puts the lists of irregular axes into the zone, but for those that `known` has, which live as long. */
CUBED_MUST_CHECK cubed_status cb_grid_own(cb_zone *zone, cb_grid *g, const cb_grid *const *known,
                                          int nknown, cubed_error *err);
/* The same grid of `known`, or a copy in the zone with room for its own axes and no more: to be looked at, and copied
 * by cb_grid_copy alone. */
CUBED_MUST_CHECK cubed_status cb_grid_keep(cb_zone *zone, const cb_grid **g,
                                           const cb_grid *const *known, int nknown,
                                           cubed_error *err);
/* Extents of a chunk as it is stored, in memory and on disk. */
void cb_grid_stored(const cb_grid *g, const int64_t *idx, int64_t *extents);
/* The number of chunks, which may be 0. Sticks at INT64_MAX. */
int64_t cb_grid_count(const cb_grid *g);
/* Position in the grid of chunk number `i` in C order, and back. */
void cb_grid_unravel(const cb_grid *g, int64_t i, int64_t *idx);
int64_t cb_grid_ravel(const cb_grid *g, const int64_t *idx);
/* The elements of a chunk. */
void cb_grid_box(const cb_grid *g, const int64_t *idx, cb_box *out);
/* The range of chunks (a box in the grid) that a non-empty box of elements touches. */
void cb_grid_cover(const cb_grid *g, const cb_box *elements, cb_box *chunks);
bool cb_grid_equal(const cb_grid *a, const cb_grid *b);
/* Elements of the largest chunk. */
int64_t cb_grid_max_chunk(const cb_grid *g);

/* An affine map from the coordinates of a domain to those of a source:
 *   source[d] = offset[d] + stride[d] * domain[axis[d]],   axis[d] = -1: offset[d] alone.
 * Slices, transposes, flips, broadcasts, expand_dims and squeeze are all of this form, and
 * compositions of them too. Each domain axis is used by at most one source axis. */
typedef struct cb_map {
    int ndim_in;  /* of the domain */
    int ndim_out; /* of the source */
    struct {
        int axis;
        int64_t offset, stride;
    } dim[CUBED_MAX_NDIM];
} cb_map;

/* A copy with room for its own axes and no more: to be looked at, not copied as a whole. NULL when there is no
 * memory. */
const cb_map *cb_map_own(cb_zone *zone, const cb_map *m);
cb_map cb_map_identity(int ndim);
bool cb_map_is_identity(const cb_map *m);
bool cb_map_equal(const cb_map *a, const cb_map *b);
/* outer: domain -> middle, inner: middle -> source; result: domain -> source. CUBED_E_UNSUPPORTED where
 * it overflows, as maps can that describe part of their domain only (a piece of a concatenation). */
CUBED_MUST_CHECK cubed_status cb_map_compose(const cb_map *inner, const cb_map *outer, cb_map *out,
                                             cubed_error *err);
/* The smallest box of the source that holds the image of a non-empty box of the domain. */
void cb_map_image(const cb_map *m, const cb_box *domain, cb_box *source);

/* Narrows a box of the domain to what the map takes into a box of the source; false if nothing is left. */
bool cb_map_preimage(const cb_map *m, const cb_box *source, cb_box *domain);
/* How a source that lies in memory is seen from the domain. Its element at `lo` is followed by the next one along an
 * axis `stride` bytes behind: the same for axes of the domain, but for those that it does not depend on; gives the
 * bytes from there to what is seen at position `at`. */
int64_t cb_map_strides(const cb_map *m, const int64_t *lo, const int64_t *stride, const int64_t *at,
                       int64_t *seen);

/* Moves a box of elements from one array to another. Each array has its element `lo` where the pointer is, and the next
 * one along an axis `stride` bytes behind. What neither of them has an axis for is moved once. */
void cb_box_copy(const cb_box *part, size_t item_size, void *to, const int64_t *to_lo,
                 const int64_t *to_stride, const void *from, const int64_t *from_lo,
                 const int64_t *from_stride);

/* Walks a box in C order: idx starts at lo; false when it is past the end. */
bool cb_odometer_next(const cb_box *b, int64_t *idx);

#endif
