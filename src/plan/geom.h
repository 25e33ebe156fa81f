/* Boxes, chunk grids, and affine maps between index spaces. */
#ifndef CB_PLAN_GEOM_H
#define CB_PLAN_GEOM_H

#include "base/alloc.h"
#include "base/checked.h"
#include "cubed/base.h"

/* Sets the strides of a dense array with these extents, last axis fastest. */
void cb_dense_strides(int ndim, const int64_t *extents, size_t item_size, int64_t *strides);

/* A half-open box lo <= x < hi. Empty if any hi <= lo; a box of 0 dimensions is one point. */
typedef struct cb_box {
    int ndim;
    int64_t lo[CUBED_MAX_NDIM];
    int64_t hi[CUBED_MAX_NDIM];
} cb_box;

bool cb_box_empty(const cb_box *b);
/* Returns the number of elements. It must fit int64_t, as for boxes in arrays whose size was checked. */
int64_t cb_box_count(const cb_box *b);
/* Returns true if the element or chunk with this index is in the box. */
bool cb_box_has(const cb_box *b, const int64_t *idx);
void cb_box_intersect(const cb_box *a, const cb_box *b, cb_box *out);
cb_box cb_box_whole(int ndim, const int64_t *shape);

/* An axis of `extent` elements divided into chunks. The chunks of a regular axis have the length `first` (the first chunk),
 * `chunk` (the others), and the remainder (the last chunk). Slices with step 1 and flips may shorten the first chunk. 1 <= first
 * <= chunk; extent >= 0.
 *
 * An irregular axis has a list of the starts of its chunks. Then `first` and `chunk` are the length of the longest chunk, so a
 * buffer of this length fits any chunk. The list is borrowed; owners of a grid copy it with cb_grid_own (irregular.c). */
typedef struct cb_axis {
    int64_t extent, first, chunk;
    const int64_t *starts; /* n + 1 starts, from 0 to the extent or more; NULL: regular */
    int64_t n : 63;
    /* The last chunk is stored without padding, as in intermediates of rechunking. A bit field, to save memory: a plan has
     * many axes. */
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
/* Returns the length of the longest chunk; 0 if there are no chunks. The longest chunk of a slice may be shorter than `chunk`. */
static inline int64_t cb_axis_longest(const cb_axis *a)
{
    if (a->starts) return a->chunk;
    if (a->extent <= a->first) return a->extent;
    return cb_max_i64(a->first, cb_min_i64(a->chunk, a->extent - a->first));
}
/* Returns the length of a chunk as stored, including padding after the end of the array. */
static inline int64_t cb_axis_stored(const cb_axis *a, int64_t i)
{
    if (a->starts) return a->starts[i + 1] - a->starts[i];
    return a->clipped ? cb_axis_hi(a, i) - cb_axis_lo(a, i) : a->chunk;
}
/* Returns the length of the last chunk of a regular axis as it is stored. */
static inline int64_t cb_axis_last(const cb_axis *a)
{
    return a->clipped ? cb_axis_stored(a, cb_axis_count(a) - 1) : a->chunk;
}
/* Returns the sum of the stored lengths of all chunks. Chunks of an irregular axis count as the longest one. */
static inline int64_t cb_axis_stored_all(const cb_axis *a)
{
    return a->clipped ? a->extent : cb_axis_count(a) * a->chunk;
}
/* Returns the number of the chunk that contains position x, 0 <= x < extent. */
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
/* Returns an axis with the same chunks, whose nominal length `chunk` is reduced to the length of the longest chunk if it is
 * larger. Stored chunks are padded to the nominal length. */
cb_axis cb_axis_trimmed(const cb_axis *a);
/* Creates an axis with chunks that begin at `starts` (n + 1 entries). The result is regular if the lengths are. */
cb_axis cb_axis_irregular(int64_t extent, const int64_t *starts, int64_t n);
/* Selects `extent` elements of an irregular axis, from `offset` on, `stride` apart. Each new chunk has the selected elements of
 * one chunk of `a`. The list is allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_axis_slice(cb_zone *zone, const cb_axis *a, int64_t offset,
                                            int64_t stride, int64_t extent, cb_axis *out,
                                            cubed_error *err);
/* Adds elements before and after the axis. Lists are allocated in the zone.
 * - A regular axis gets chunks of its nominal length.
 * - An irregular axis keeps its chunks. Elements are added to its first and last chunk if these chunks do not become longer than
 *   the longest chunk. Otherwise the elements form new chunks, which are at most as long as the longest chunk. If too many chunks
 *   would be added, the result is regular. */
CUBED_MUST_CHECK cubed_status cb_axis_extend(cb_zone *zone, const cb_axis *a, int64_t before,
                                             int64_t after, cb_axis *out, cubed_error *err);
/* Checks the list of the starts of the chunks of an irregular axis, and the length of its longest chunk. Both may come from an
 * untrusted file. Returns true if they are valid. */
bool cb_axis_is_sound(const cb_axis *a);

/* Returns the number of blocks of `per` chunks each. */
static inline int64_t cb_axis_blocks(const cb_axis *a, int64_t per)
{
    return cb_ceil_div(cb_axis_count(a), per);
}
/* Returns the number of chunks that all blocks of an axis touch: the number of pairs of a block of `out` (`per` chunks) and a
 * chunk of `source` that the block touches. The number is exact, and computed without a loop over blocks (touched.c).
 *
 * Position x of a block is position offset + stride * x of the source, which is in bounds. If strides are longer than a chunk,
 * the chunks in between count as well. Both axes are regular. */
uint64_t cb_axis_touched(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                         const cb_axis *source);
/* Returns the sum of the stored lengths of the source chunks over all pairs that cb_axis_touched counts. */
uint64_t cb_axis_touched_length(const cb_axis *out, int64_t per, int64_t offset, int64_t stride,
                                const cb_axis *source);
/* Returns the greatest common divisor of positive numbers. */
static inline int64_t cb_gcd_i64(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The division of an array into chunks, axis by axis. */
typedef struct cb_grid {
    int ndim;
    cb_axis axis[CUBED_MAX_NDIM];
} cb_grid;

cb_grid cb_grid_regular(int ndim, const int64_t *shape, const int64_t *chunk);
/* Returns a regular grid whose chunks have the size of the largest chunk of g, for estimates. */
cb_grid cb_grid_evened(const cb_grid *g);
bool cb_grid_is_irregular(const cb_grid *g);
cb_grid cb_grid_copy(const cb_grid *g);
/* Returns a grid with the same chunks if a stored array can have them. Otherwise, if the first chunk of an axis is shorter than
 * the others, returns regular chunks. */
cb_grid cb_grid_storable(const cb_grid *g);
/* Applies cb_axis_trimmed to all axes. */
cb_grid cb_grid_trimmed(const cb_grid *g);
/* Copies the lists of irregular axes to the zone. Lists of the grids in `known`, which live at least as long as the zone, are
 * shared instead. */
CUBED_MUST_CHECK cubed_status cb_grid_own(cb_zone *zone, cb_grid *g, const cb_grid *const *known,
                                          int nknown, cubed_error *err);
/* Replaces *g by an equal grid of `known`, or else by a copy in the zone. The copy has memory only for its own axes, so it must
 * not be copied by value; use cb_grid_copy. */
CUBED_MUST_CHECK cubed_status cb_grid_keep(cb_zone *zone, const cb_grid **g,
                                           const cb_grid *const *known, int nknown,
                                           cubed_error *err);
/* Gets the extents of a chunk as stored, in memory and on disk. */
void cb_grid_stored(const cb_grid *g, const int64_t *idx, int64_t *extents);
/* Returns the number of chunks, possibly 0. Saturates at INT64_MAX. */
int64_t cb_grid_count(const cb_grid *g);
/* Convert between the number of a chunk in C order and its position in the grid. */
void cb_grid_unravel(const cb_grid *g, int64_t i, int64_t *idx);
int64_t cb_grid_ravel(const cb_grid *g, const int64_t *idx);
/* Gets the box of the elements of a chunk. */
void cb_grid_box(const cb_grid *g, const int64_t *idx, cb_box *out);
/* Sets the range of chunks (a box in the grid) that a non-empty box of elements touches. */
void cb_grid_cover(const cb_grid *g, const cb_box *elements, cb_box *chunks);
bool cb_grid_equal(const cb_grid *a, const cb_grid *b);
/* Returns the number of elements of the largest chunk. */
int64_t cb_grid_max_chunk(const cb_grid *g);

/* An affine map (index transform) from the coordinates of a domain to those of a source:
 *
 *   source[d] = offset[d] + stride[d] * domain[axis[d]],   axis[d] = -1: offset[d] alone.
 *
 * Slices, transposes, flips, broadcasts, expand_dims and squeeze have this form, and their compositions as well. Each axis of
 * the domain is used by at most one axis of the source. */
typedef struct cb_map {
    int ndim_in;  /* dimensions of the domain */
    int ndim_out; /* dimensions of the source */
    struct {
        int axis;
        int64_t offset, stride;
    } dim[CUBED_MAX_NDIM];
} cb_map;

/* Returns a copy of a map in the zone, or NULL if out of memory. The copy has memory only for the map's axes, so it must not
 * be copied by value, but by cb_map_copy. */
const cb_map *cb_map_own(cb_zone *zone, const cb_map *m);
void cb_map_copy(cb_map *to, const cb_map *from);
cb_map cb_map_identity(int ndim);
bool cb_map_is_identity(const cb_map *m);
bool cb_map_equal(const cb_map *a, const cb_map *b);
/* Composes outer (domain -> middle) and inner (middle -> source) to a map domain -> source. CUBED_E_UNSUPPORTED on overflow,
 * which is possible for maps that are valid only in a part of their domain (a piece of a concatenation). */
CUBED_MUST_CHECK cubed_status cb_map_compose(const cb_map *inner, const cb_map *outer, cb_map *out,
                                             cubed_error *err);
/* Gets the smallest box of the source that contains the image of a non-empty box of the domain. */
void cb_map_image(const cb_map *m, const cb_box *domain, cb_box *source);

/* Narrows a box of the domain to the part whose image is within a box of the source. Returns false if this part is empty. */
bool cb_map_preimage(const cb_map *m, const cb_box *source, cb_box *domain);
/* Computes how the domain is laid out in the memory of a source.
 *
 * lo      the source's element at which its pointer is
 * stride  bytes between elements of the source along each axis
 * at      a position in the domain
 * seen    receives the bytes between elements along each axis of the domain, except for axes on which the source does not
 *         depend
 *
 * Returns the offset in bytes of the element at position `at`. */
int64_t cb_map_strides(const cb_map *m, const int64_t *lo, const int64_t *stride, const int64_t *at,
                       int64_t *seen);

/* Copies a box of elements from one array to another. Each pointer leads to the element at position `to_lo` or `from_lo` of its
 * array; strides are in bytes per axis. Along an axis with stride 0 in both arrays, one element is copied. */
void cb_box_copy(const cb_box *part, size_t item_size, void *to, const int64_t *to_lo,
                 const int64_t *to_stride, const void *from, const int64_t *from_lo,
                 const int64_t *from_stride);

/* Advances idx through a box in C order, beginning at lo. Returns false after the last position. */
bool cb_odometer_next(const cb_box *b, int64_t *idx);

#endif
