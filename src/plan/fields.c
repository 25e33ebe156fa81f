#include "plan/fields.h"

#include <limits.h>
#include <string.h>

void cb_put_u(cb_buf *b, uint64_t v)
{
    do {
        uint8_t byte = v & 127;
        v >>= 7;
        if (v) byte |= 128;
        cb_buf_put(b, &byte, 1);
    } while (v);
}

void cb_put_i(cb_buf *b, int64_t v) { cb_put_u(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63)); }

void cb_put_string(cb_buf *b, const char *s)
{
    cb_put_u(b, s ? strlen(s) + 1 : 0);
    if (s) cb_buf_puts(b, s);
}

void cb_put_params(cb_buf *b, const void *params, size_t size)
{
    cb_put_u(b, size);
    if (size) cb_buf_put(b, params, size);
}

/* Writes the number of chunks of an irregular axis and their lengths. For a regular axis, writes the number 0. */
static void put_lengths(cb_buf *b, const cb_axis *a)
{
    cb_put_u(b, a->starts ? (uint64_t)a->n : 0);
    for (int64_t i = 0; a->starts && i < a->n; i++) cb_put_i(b, cb_axis_stored(a, i));
}

static void put_axis_chunks(cb_buf *b, const cb_axis *a)
{
    cb_put_i(b, a->first);
    cb_put_i(b, a->chunk);
    put_lengths(b, a);
    cb_put_u(b, a->clipped);
}

void cb_put_grid(cb_buf *b, const cb_grid *g)
{
    cb_put_u(b, (uint64_t)g->ndim);
    for (int d = 0; d < g->ndim; d++) {
        cb_put_i(b, g->axis[d].extent);
        put_axis_chunks(b, &g->axis[d]);
    }
}

void cb_put_grid_chunks(cb_buf *b, const cb_grid *g)
{
    cb_put_u(b, (uint64_t)g->ndim);
    for (int d = 0; d < g->ndim; d++) put_axis_chunks(b, &g->axis[d]);
}

void cb_put_map(cb_buf *b, const cb_map *m)
{
    cb_put_u(b, (uint64_t)m->ndim_in);
    cb_put_u(b, (uint64_t)m->ndim_out);
    for (int d = 0; d < m->ndim_out; d++) {
        cb_put_i(b, m->dim[d].axis);
        cb_put_i(b, m->dim[d].offset);
        cb_put_i(b, m->dim[d].stride);
    }
}

uint64_t cb_get_u(cb_reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64 && !r->bad; shift += 7) {
        if (r->at == r->end) break;
        uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1) break;
        v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return v;
    }
    r->bad = true;
    return 0;
}

int64_t cb_get_i(cb_reader *r)
{
    uint64_t v = cb_get_u(r);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

int cb_get_n(cb_reader *r, uint64_t limit)
{
    uint64_t v = cb_get_u(r);
    if (v >= limit || v > INT_MAX) r->bad = true;
    return r->bad ? 0 : (int)v;
}

const void *cb_get_bytes(cb_reader *r, size_t n)
{
    if (r->bad || n > (size_t)(r->end - r->at)) {
        r->bad = true;
        return NULL;
    }
    const void *p = r->at;
    r->at += n;
    return p;
}

const char *cb_get_string(cb_reader *r)
{
    uint64_t n = cb_get_u(r);
    if (r->bad || n == 0) return NULL;
    const char *p = cb_get_bytes(r, (size_t)(n - 1));
    if (!p || memchr(p, 0, (size_t)(n - 1))) {
        r->bad = true;
        return NULL;
    }
    char *s = cb_zone_alloc(r->zone, (size_t)n);
    if (!s) {
        r->bad = true;
        return NULL;
    }
    memcpy(s, p, (size_t)(n - 1));
    return s;
}

const void *cb_get_params(cb_reader *r, size_t *size)
{
    *size = (size_t)cb_get_u(r);
    const void *p = cb_get_bytes(r, *size), *copy = p ? cb_zone_memdup(r->zone, p, *size) : NULL;
    if (!copy) r->bad = true;
    return copy;
}

/* Reads the chunk lengths of an irregular axis. They are checked together with the node. */
static void get_lengths(cb_reader *r, cb_axis *a)
{
    a->starts = NULL;
    a->n = cb_get_n(r, (uint64_t)(r->end - r->at) + 1);
    if (a->n == 0) return;
    int64_t *starts = cb_zone_alloc(r->zone, ((size_t)a->n + 1) * sizeof *starts), at = 0;
    if (!starts) r->bad = true;
    for (int64_t i = 0; i < a->n && !r->bad; i++) {
        int64_t length = cb_get_i(r);
        starts[i] = at;
        if (length < 1 || cb_add_i64(at, length, &at)) r->bad = true;
        starts[i + 1] = at;
    }
    a->starts = starts;
}

void cb_get_grid(cb_reader *r, cb_grid *g)
{
    g->ndim = cb_get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < g->ndim && !r->bad; d++) {
        g->axis[d].extent = cb_get_i(r);
        g->axis[d].first = cb_get_i(r);
        g->axis[d].chunk = cb_get_i(r);
        get_lengths(r, &g->axis[d]);
        g->axis[d].clipped = cb_get_n(r, 2) == 1;
    }
}

const cb_map *cb_get_map(cb_reader *r)
{
    cb_map map = {0}, *m = &map;
    m->ndim_in = cb_get_n(r, CUBED_MAX_NDIM + 1);
    m->ndim_out = cb_get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < m->ndim_out && !r->bad; d++) {
        int64_t axis = cb_get_i(r);
        if (axis < -1 || axis >= CUBED_MAX_NDIM) r->bad = true;
        m->dim[d].axis = (int)axis;
        m->dim[d].offset = cb_get_i(r);
        m->dim[d].stride = cb_get_i(r);
        if (axis < 0) m->dim[d].stride = 0;
    }
    const cb_map *own = r->bad ? NULL : cb_map_own(r->zone, m);
    if (!own) r->bad = true;
    return own;
}

int64_t *cb_get_list(cb_reader *r, int n)
{
    int64_t *list = cb_zone_alloc(r->zone, (size_t)n * sizeof *list);
    if (!list) r->bad = true;
    return list;
}

const int64_t *cb_get_numbers(cb_reader *r, int n)
{
    int64_t *list = cb_get_list(r, n);
    for (int d = 0; d < n && !r->bad; d++) list[d] = cb_get_i(r);
    return list;
}
