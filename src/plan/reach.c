#include "plan/reach.h"

#include <math.h>
#include <string.h>

/* Positions are limited to this magnitude, in which sums of positions and margins are exact. */
#define FARTHEST ((double)((int64_t)1 << 50))
/* Number of elements that are added to the margin on each side, because positions are rounded. */
enum { ROUNDING = 1 };

bool cb_reach_is_valid(const cb_reach *r, int ndim)
{
    bool is_valid = r->margin >= 0 && r->margin <= CB_REACH_MARGIN;
    for (int d = 0; d < ndim; d++) {
        is_valid = is_valid && isfinite(r->offset[d]) && r->extent[d] > 0 &&
                   (unsigned)r->end[d] < CB_REACH_ENDS;
        for (int j = 0; j < ndim; j++) is_valid = is_valid && isfinite(r->matrix[d * ndim + j]);
    }
    return is_valid;
}

bool cb_reach_equal(const cb_reach *a, const cb_reach *b, int ndim)
{
    const size_t n = (size_t)ndim;
    return a->margin == b->margin && memcmp(a->extent, b->extent, n * sizeof *a->extent) == 0 &&
           memcmp(a->end, b->end, n * sizeof *a->end) == 0 &&
           memcmp(a->offset, b->offset, n * sizeof *a->offset) == 0 &&
           memcmp(a->matrix, b->matrix, n * n * sizeof *a->matrix) == 0;
}

static int64_t to_position(double v) { return (int64_t)fmin(fmax(v, -FARTHEST), FARTHEST); }

/* Sets the range *lo to *hi - 1 of the positions, including margins, that a box of the domain needs along axis d. If a sum
 * overflows, the range has all positions. */
static void find_range(const cb_reach *r, const cb_box *domain, int d, int64_t *lo, int64_t *hi)
{
    const double *row = r->matrix + (ptrdiff_t)d * domain->ndim;
    double least = r->offset[d], most = r->offset[d];
    for (int j = 0; j < domain->ndim; j++) {
        const double a = row[j] * (double)domain->lo[j], z = row[j] * (double)(domain->hi[j] - 1);
        least += fmin(a, z);
        most += fmax(a, z);
    }
    if (isnan(least)) least = -FARTHEST;
    if (isnan(most)) most = FARTHEST;
    *lo = to_position(floor(least)) - r->margin - ROUNDING;
    *hi = to_position(ceil(most)) + r->margin + ROUNDING + 1;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Returns the element at position i of an axis that is mirrored at both ends repeatedly. Each segment of `length` positions is
 * traversed backwards if the segment before it is traversed forwards. */
static int64_t fold(int64_t i, int64_t length, bool reflect)
{
    const int64_t k = floor_div(i, length), at = i - k * length;
    return k % 2 == 0 ? at : reflect ? length - 1 - at : length - at;
}

static void mirror_range(int64_t n, bool reflect, int64_t *lo, int64_t *hi)
{
    const int64_t length = reflect ? n : cb_max_i64(1, n - 1);
    const int64_t first = floor_div(*lo, length), last = floor_div(*hi - 1, length);
    const int64_t a = fold(*lo, length, reflect), z = fold(*hi - 1, length, reflect);
    /* the range spans more than two segments, so it contains all elements */
    if (last - first > 1) {
        *lo = 0;
        *hi = n;
    } else if (last == first) {
        *lo = cb_min_i64(a, z);
        *hi = cb_max_i64(a, z) + 1;
    } else if (last % 2 == 0) { /* the range includes the mirror at the first element */
        *lo = 0;
        *hi = cb_max_i64(a, z) + 1;
    } else {
        *lo = cb_min_i64(a, z);
        *hi = n;
    }
}

static void wrap_range(int64_t n, int64_t period, int64_t *lo, int64_t *hi)
{
    const int64_t first = floor_div(*lo, period);
    if (first != floor_div(*hi - 1, period)) {
        *lo = 0;
        *hi = n;
        return;
    }
    *lo -= first * period;
    *hi -= first * period;
}

/* Replaces a range that exceeds the axis by a range of elements that contains all values used beyond the ends. */
static void fold_range(const cb_reach *r, int d, int64_t *lo, int64_t *hi)
{
    const int64_t n = r->extent[d], around = r->margin + ROUNDING;
    if (*lo >= 0 && *hi <= n) return;
    switch (r->end[d]) {
    case CB_REACH_CLAMP:
        *lo = cb_min_i64(*lo, n - 1 - around);
        *hi = cb_max_i64(*hi, around + 1);
        break;
    case CB_REACH_REFLECT:
    case CB_REACH_MIRROR: mirror_range(n, r->end[d] == CB_REACH_REFLECT, lo, hi); break;
    case CB_REACH_WRAP: wrap_range(n, n, lo, hi); break;
    case CB_REACH_WRAP_POINTS: wrap_range(n, cb_max_i64(1, n - 1), lo, hi); break;
    case CB_REACH_ENDS: break;
    }
    *lo = cb_max_i64(*lo, 0);
    *hi = cb_min_i64(*hi, n);
}

void cb_reach_box(const cb_reach *r, const cb_box *domain, cb_box *out)
{
    const bool is_empty = cb_box_empty(domain);
    out->ndim = domain->ndim;
    for (int d = 0; d < domain->ndim; d++) {
        out->lo[d] = out->hi[d] = 0;
        if (is_empty) continue;
        find_range(r, domain, d, &out->lo[d], &out->hi[d]);
        fold_range(r, d, &out->lo[d], &out->hi[d]);
    }
}

int64_t cb_reach_most(const cb_reach *r, const cb_grid *blocks, int d)
{
    const double *row = r->matrix + (ptrdiff_t)d * blocks->ndim;
    const bool wraps = r->end[d] == CB_REACH_WRAP || r->end[d] == CB_REACH_WRAP_POINTS;
    cb_box all = {.ndim = blocks->ndim};
    double span = 0;
    for (int j = 0; j < blocks->ndim; j++) {
        const cb_axis *a = &blocks->axis[j];
        all.hi[j] = a->extent;
        if (a->extent == 0) return 0;
        span += fabs(row[j]) * (double)(cb_min_i64(a->extent, a->chunk) - 1);
    }
    if (wraps) { /* A block that wraps around needs elements from both ends of the axis. */
        int64_t lo, hi;
        find_range(r, &all, d, &lo, &hi);
        if (lo < 0 || hi > r->extent[d]) return r->extent[d];
    }
    /* Add 2, because both ends of the range are rounded to whole positions. */
    return cb_min_i64(r->extent[d],
                      to_position(ceil(span)) + 2 * (r->margin + ROUNDING) + 2 + ROUNDING);
}
