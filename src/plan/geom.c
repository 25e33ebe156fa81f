#include "plan/geom.h"

#include <string.h>

#include "base/error.h"
#include "kernel/kernel.h"

void cb_dense_strides(int ndim, const int64_t *extents, size_t item_size, int64_t *strides)
{
    int64_t s = (int64_t)item_size;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = s;
        s *= extents[d];
    }
}

bool cb_box_empty(const cb_box *b)
{
    for (int d = 0; d < b->ndim; d++) {
        if (b->hi[d] <= b->lo[d]) return true;
    }
    return false;
}

int64_t cb_box_count(const cb_box *b)
{
    int64_t n = 1;
    for (int d = 0; d < b->ndim; d++) {
        if (b->hi[d] <= b->lo[d]) return 0;
        n *= b->hi[d] - b->lo[d];
    }
    return n;
}

bool cb_box_has(const cb_box *b, const int64_t *idx)
{
    for (int d = 0; d < b->ndim; d++) {
        if (idx[d] < b->lo[d] || idx[d] >= b->hi[d]) return false;
    }
    return true;
}

void cb_box_intersect(const cb_box *a, const cb_box *b, cb_box *out)
{
    int ndim = a->ndim;
    for (int d = 0; d < ndim; d++) {
        int64_t lo = cb_max_i64(a->lo[d], b->lo[d]);
        out->hi[d] = cb_max_i64(lo, cb_min_i64(a->hi[d], b->hi[d]));
        out->lo[d] = lo;
    }
    out->ndim = ndim;
}

cb_box cb_box_whole(int ndim, const int64_t *shape)
{
    cb_box b = {.ndim = ndim};
    for (int d = 0; d < ndim; d++) b.hi[d] = shape[d];
    return b;
}

cb_grid cb_grid_regular(int ndim, const int64_t *shape, const int64_t *chunk)
{
    cb_grid g = {.ndim = ndim};
    for (int d = 0; d < ndim; d++) g.axis[d] = cb_axis_regular(shape[d], chunk[d]);
    return g;
}

cb_grid cb_grid_copy(const cb_grid *g)
{
    cb_grid copy = {.ndim = g->ndim};
    memcpy(copy.axis, g->axis, (size_t)g->ndim * sizeof g->axis[0]);
    return copy;
}

int64_t cb_grid_count(const cb_grid *g)
{
    int64_t n = 1, counts[CUBED_MAX_NDIM];
    for (int d = 0; d < g->ndim; d++) counts[d] = cb_axis_count(&g->axis[d]);
    return cb_count(g->ndim, counts, &n) ? INT64_MAX : n;
}

void cb_grid_unravel(const cb_grid *g, int64_t i, int64_t *idx)
{
    for (int d = g->ndim - 1; d >= 0; d--) {
        int64_t n = cb_axis_count(&g->axis[d]);
        idx[d] = i % n;
        i /= n;
    }
}

int64_t cb_grid_ravel(const cb_grid *g, const int64_t *idx)
{
    int64_t i = 0;
    for (int d = 0; d < g->ndim; d++) i = i * cb_axis_count(&g->axis[d]) + idx[d];
    return i;
}

void cb_grid_box(const cb_grid *g, const int64_t *idx, cb_box *out)
{
    out->ndim = g->ndim;
    for (int d = 0; d < g->ndim; d++) {
        out->lo[d] = cb_axis_lo(&g->axis[d], idx[d]);
        out->hi[d] = cb_axis_hi(&g->axis[d], idx[d]);
    }
}

void cb_grid_cover(const cb_grid *g, const cb_box *elements, cb_box *chunks)
{
    chunks->ndim = g->ndim;
    for (int d = 0; d < g->ndim; d++) {
        chunks->lo[d] = cb_axis_find(&g->axis[d], elements->lo[d]);
        chunks->hi[d] = cb_axis_find(&g->axis[d], elements->hi[d] - 1) + 1;
    }
}

bool cb_axis_equal(const cb_axis *a, const cb_axis *b)
{
    if (a->extent != b->extent || !a->starts != !b->starts || a->clipped != b->clipped)
        return false;
    if (a->starts)
        return a->n == b->n &&
               (a->starts == b->starts ||
                memcmp(a->starts, b->starts, ((size_t)a->n + 1) * sizeof *a->starts) == 0);
    /* A chunk length that exceeds the remainder of the axis gives the same chunks as the length of the remainder. */
    const int64_t rest = a->extent - a->first;
    return cb_min_i64(a->first, a->extent) == cb_min_i64(b->first, b->extent) &&
           (rest <= 0 || cb_min_i64(a->chunk, rest) == cb_min_i64(b->chunk, rest));
}

cb_axis cb_axis_trimmed(const cb_axis *a)
{
    cb_axis out = *a;
    if (a->starts) return out;
    out.chunk = cb_max_i64(1, cb_axis_longest(a));
    out.first = cb_min_i64(a->first, out.chunk);
    return out;
}

bool cb_grid_equal(const cb_grid *a, const cb_grid *b)
{
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++) {
        if (!cb_axis_equal(&a->axis[d], &b->axis[d])) return false;
    }
    return true;
}

int64_t cb_grid_max_chunk(const cb_grid *g)
{
    int64_t n = 1;
    for (int d = 0; d < g->ndim; d++) n *= cb_axis_longest(&g->axis[d]);
    return n;
}

static size_t map_bytes(const cb_map *m)
{
    return offsetof(cb_map, dim) + (size_t)m->ndim_out * sizeof m->dim[0];
}

const cb_map *cb_map_own(cb_zone *zone, const cb_map *m)
{
    return cb_zone_memdup(zone, m, map_bytes(m));
}

void cb_map_copy(cb_map *to, const cb_map *from) { memcpy(to, from, map_bytes(from)); }

cb_map cb_map_identity(int ndim)
{
    cb_map m = {.ndim_in = ndim, .ndim_out = ndim};
    for (int d = 0; d < ndim; d++) {
        m.dim[d].axis = d;
        m.dim[d].stride = 1;
    }
    return m;
}

bool cb_map_is_identity(const cb_map *m)
{
    if (m->ndim_in != m->ndim_out) return false;
    for (int d = 0; d < m->ndim_out; d++) {
        if (m->dim[d].axis != d || m->dim[d].offset != 0 || m->dim[d].stride != 1) return false;
    }
    return true;
}

bool cb_map_equal(const cb_map *a, const cb_map *b)
{
    if (a->ndim_in != b->ndim_in || a->ndim_out != b->ndim_out) return false;
    for (int d = 0; d < a->ndim_out; d++) {
        if (a->dim[d].axis != b->dim[d].axis || a->dim[d].offset != b->dim[d].offset ||
            a->dim[d].stride != b->dim[d].stride)
            return false;
    }
    return true;
}

/* Returns true if x is so small that a sum of a few such numbers cannot overflow. */
static bool is_position(int64_t x) { return x >= -(INT64_MAX / 4) && x <= INT64_MAX / 4; }

cubed_status cb_map_compose(const cb_map *inner, const cb_map *outer, cb_map *out, cubed_error *err)
{
    cb_map m = {.ndim_in = outer->ndim_in, .ndim_out = inner->ndim_out};
    for (int d = 0; d < inner->ndim_out; d++) {
        int mid = inner->dim[d].axis;
        int64_t first = 0, stride = 0;
        m.dim[d].offset = inner->dim[d].offset;
        m.dim[d].axis = mid < 0 ? -1 : outer->dim[mid].axis;
        if (mid < 0) continue;
        if (cb_mul_i64(inner->dim[d].stride, outer->dim[mid].offset, &first) ||
            cb_add_i64(inner->dim[d].offset, first, &m.dim[d].offset) ||
            cb_mul_i64(inner->dim[d].stride, outer->dim[mid].stride, &stride) ||
            !is_position(m.dim[d].offset) || !is_position(stride))
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "nested views reach over more than 2**61 elements");
        m.dim[d].stride = m.dim[d].axis < 0 ? 0 : stride;
    }
    *out = m;
    return CUBED_OK;
}

void cb_map_image(const cb_map *m, const cb_box *domain, cb_box *source)
{
    source->ndim = m->ndim_out;
    for (int d = 0; d < m->ndim_out; d++) {
        int j = m->dim[d].axis;
        int64_t a = m->dim[d].offset, b = a;
        if (j >= 0) {
            a += m->dim[d].stride * domain->lo[j];
            b += m->dim[d].stride * (domain->hi[j] - 1);
        }
        source->lo[d] = cb_min_i64(a, b);
        source->hi[d] = cb_max_i64(a, b) + 1;
    }
}

/* Sets the positions x of [lo, hi) with offset + stride * x in [first, last). */
static void narrow(int64_t offset, int64_t stride, int64_t first, int64_t last, int64_t *lo,
                   int64_t *hi)
{
    int64_t a, z;
    if (stride > 0) {
        a = cb_ceil_div(cb_max_i64(0, first - offset), stride);
        z = cb_ceil_div(cb_max_i64(0, last - offset), stride);
    } else {
        /* offset - |s| x < last  and  offset - |s| x >= first */
        a = offset < last ? 0 : (offset - last) / -stride + 1;
        z = offset < first ? 0 : (offset - first) / -stride + 1;
    }
    *lo = cb_max_i64(*lo, a);
    *hi = cb_min_i64(*hi, z);
}

bool cb_map_preimage(const cb_map *m, const cb_box *source, cb_box *domain)
{
    for (int d = 0; d < m->ndim_out; d++) {
        const int j = m->dim[d].axis;
        const int64_t offset = m->dim[d].offset;
        if (j < 0 && (offset < source->lo[d] || offset >= source->hi[d])) return false;
        if (j >= 0)
            narrow(offset, m->dim[d].stride, source->lo[d], source->hi[d], &domain->lo[j],
                   &domain->hi[j]);
    }
    return !cb_box_empty(domain);
}

int64_t cb_map_strides(const cb_map *m, const int64_t *lo, const int64_t *stride, const int64_t *at,
                       int64_t *seen)
{
    int64_t bytes = 0;
    for (int d = 0; d < m->ndim_out; d++) {
        const int j = m->dim[d].axis;
        int64_t x = m->dim[d].offset;
        if (j >= 0) {
            x += m->dim[d].stride * at[j];
            seen[j] = m->dim[d].stride * stride[d];
        }
        bytes += (x - lo[d]) * stride[d];
    }
    return bytes;
}

void cb_box_copy(const cb_box *part, size_t item_size, void *to, const int64_t *to_lo,
                 const int64_t *to_stride, const void *from, const int64_t *from_lo,
                 const int64_t *from_stride)
{
    int64_t shape[CUBED_MAX_NDIM];
    char *t = to;
    const char *f = from;
    for (int d = 0; d < part->ndim; d++) {
        shape[d] = to_stride[d] == 0 && from_stride[d] == 0 ? 1 : part->hi[d] - part->lo[d];
        t += (part->lo[d] - to_lo[d]) * to_stride[d];
        f += (part->lo[d] - from_lo[d]) * from_stride[d];
    }
    cb_copy_box(part->ndim, shape, item_size, t, to_stride, f, from_stride);
}

bool cb_odometer_next(const cb_box *b, int64_t *idx)
{
    for (int d = b->ndim - 1; d >= 0; d--) {
        if (++idx[d] < b->hi[d]) return true;
        idx[d] = b->lo[d];
    }
    return false;
}
