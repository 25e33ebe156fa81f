/* Functions for axes with irregular chunks. */
#include <inttypes.h>

#include "base/error.h"
#include "plan/geom.h"

/* Maximum number of chunks that cb_axis_extend adds at each end of an irregular axis, to limit the size of the list. */
#define MOST_FILLED ((int64_t)1 << 20)

static size_t list_bytes(const cb_axis *a) { return ((size_t)a->n + 1) * sizeof *a->starts; }

/* Returns true if all chunks have the length of the first; only the last may be shorter. */
static bool is_regular(int64_t extent, const int64_t *starts, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (starts[i] != i * starts[1]) return false;
    }
    return extent <= n * starts[1];
}

cb_axis cb_axis_irregular(int64_t extent, const int64_t *starts, int64_t n)
{
    int64_t longest = 1;
    if (n == 0) return cb_axis_regular(extent, 1);
    if (is_regular(extent, starts, n)) return cb_axis_regular(extent, starts[1]);
    for (int64_t i = 0; i < n; i++) longest = cb_max_i64(longest, starts[i + 1] - starts[i]);
    return (cb_axis){
        .extent = extent, .first = longest, .chunk = longest, .starts = starts, .n = n};
}

cubed_status cb_axis_slice(cb_zone *zone, const cb_axis *a, int64_t offset, int64_t stride,
                           int64_t extent, cb_axis *out, cubed_error *err)
{
    int64_t step = stride < 0 ? -stride : stride, n = 0;
    int64_t last = cb_axis_find(a, offset + (extent - 1) * stride);
    int64_t *starts = cb_zone_alloc(zone, list_bytes(a));
    if (!starts)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " chunks", (int64_t)a->n);
    starts[n++] = 0;
    for (int64_t i = cb_axis_find(a, offset); i != last; i += stride < 0 ? -1 : 1) {
        /* The first element in the view after this chunk. A step may skip whole chunks. */
        int64_t next = stride < 0 ? (offset - a->starts[i]) / step + 1
                                  : cb_ceil_div(a->starts[i + 1] - offset, step);
        if (next > starts[n - 1] && next < extent) starts[n++] = next;
    }
    starts[n] = extent;
    *out = cb_axis_irregular(extent, starts, n);
    return CUBED_OK;
}

/* Returns the number of new chunks for `more` elements next to a chunk of `length` elements. Returns 0 if the chunk can be
 * extended without exceeding the length `longest`. */
static int64_t chunks_beside(int64_t length, int64_t more, int64_t longest)
{
    return length + more <= longest ? 0 : cb_ceil_div(more, longest);
}

cubed_status cb_axis_extend(cb_zone *zone, const cb_axis *a, int64_t before, int64_t after,
                            cb_axis *out, cubed_error *err)
{
    const int64_t extent = before + a->extent + after, longest = a->chunk;
    if (!a->starts || extent == a->extent) {
        *out = extent == a->extent ? *a : cb_axis_regular(extent, longest);
        return CUBED_OK;
    }
    int64_t front = chunks_beside(cb_axis_hi(a, 0), before, longest);
    /* If there is only one chunk, the elements before it may already extend it. */
    int64_t last = a->extent - a->starts[a->n - 1] + (a->n == 1 && front == 0 ? before : 0);
    int64_t behind = chunks_beside(last, after, longest), n = 0;
    if (front > MOST_FILLED || behind > MOST_FILLED) {
        *out = cb_axis_regular(extent, longest);
        return CUBED_OK;
    }
    int64_t *starts = cb_zone_alloc(zone, (size_t)(front + a->n + behind + 1) * sizeof *starts);
    if (!starts)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " chunks", (int64_t)a->n);
    starts[n++] = 0;
    for (int64_t i = front; i-- > 0;) starts[n++] = before - i * longest;
    for (int64_t i = 1; i < a->n; i++) starts[n++] = before + a->starts[i];
    for (int64_t i = 0; i < behind; i++) starts[n++] = before + a->extent + i * longest;
    starts[n] = extent;
    *out = cb_axis_irregular(extent, starts, n);
    return CUBED_OK;
}

bool cb_axis_is_sound(const cb_axis *a)
{
    int64_t longest = 0;
    if (a->n < 1 || a->starts[0] != 0 || a->starts[a->n - 1] >= a->extent ||
        a->starts[a->n] < a->extent || a->starts[a->n] > INT64_MAX / 4)
        return false;
    for (int64_t i = 0; i < a->n; i++) {
        if (a->starts[i] >= a->starts[i + 1]) return false;
        longest = cb_max_i64(longest, a->starts[i + 1] - a->starts[i]);
    }
    return a->first == longest && a->chunk == longest;
}

cb_grid cb_grid_evened(const cb_grid *g)
{
    cb_grid even = cb_grid_copy(g);
    for (int d = 0; d < g->ndim; d++) even.axis[d].starts = NULL;
    return even;
}

cb_grid cb_grid_storable(const cb_grid *g)
{
    cb_grid stored = cb_grid_copy(g);
    for (int d = 0; d < g->ndim; d++) {
        cb_axis *a = &stored.axis[d];
        if (!a->starts) *a = cb_axis_regular(a->extent, cb_axis_trimmed(a).chunk);
    }
    return stored;
}

cb_grid cb_grid_trimmed(const cb_grid *g)
{
    cb_grid out = cb_grid_copy(g);
    for (int d = 0; d < g->ndim; d++) out.axis[d] = cb_axis_trimmed(&g->axis[d]);
    return out;
}

bool cb_grid_is_irregular(const cb_grid *g)
{
    for (int d = 0; d < g->ndim; d++) {
        if (g->axis[d].starts) return true;
    }
    return false;
}

/* Returns the list of chunk starts of an axis in `known` that equals `a`. Returns NULL if there is no such axis. */
static const int64_t *find_list(const cb_axis *a, const cb_grid *const *known, int nknown)
{
    for (int i = 0; i < nknown; i++) {
        for (int d = 0; d < known[i]->ndim; d++) {
            if (cb_axis_equal(a, &known[i]->axis[d])) return known[i]->axis[d].starts;
        }
    }
    return NULL;
}

cubed_status cb_grid_own(cb_zone *zone, cb_grid *g, const cb_grid *const *known, int nknown,
                         cubed_error *err)
{
    for (int d = 0; d < g->ndim; d++) {
        cb_axis *a = &g->axis[d];
        if (!a->starts) continue;
        const int64_t *starts = find_list(a, known, nknown);
        if (!starts) starts = cb_zone_memdup(zone, a->starts, list_bytes(a));
        if (!starts)
            return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " chunks", (int64_t)a->n);
        a->starts = starts;
    }
    return CUBED_OK;
}

static bool is_same_axis(const cb_axis *a, const cb_axis *b)
{
    return a->first == b->first && a->chunk == b->chunk && cb_axis_equal(a, b);
}

static bool is_same_grid(const cb_grid *a, const cb_grid *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = is_same_axis(&a->axis[d], &b->axis[d]);
    return same;
}

cubed_status cb_grid_keep(cb_zone *zone, const cb_grid **g, const cb_grid *const *known, int nknown,
                          cubed_error *err)
{
    const cb_grid *from = *g;
    for (int i = 0; i < nknown; i++) {
        *g = known[i];
        if (is_same_grid(from, known[i])) return CUBED_OK;
    }
    cb_grid *own = cb_zone_memdup(
        zone, from, offsetof(cb_grid, axis) + (size_t)from->ndim * sizeof from->axis[0]);
    if (!own) return cb_fail(err, CUBED_E_NOMEM, "no memory for a grid of chunks");
    *g = own;
    return cb_grid_own(zone, own, known, nknown, err);
}

void cb_grid_stored(const cb_grid *g, const int64_t *idx, int64_t *extents)
{
    for (int d = 0; d < g->ndim; d++) extents[d] = cb_axis_stored(&g->axis[d], idx[d]);
}
