/* Conservative weights (Jones 1999): the share of a target cell's area that each source cell covers.
 *
 * In second order, the field has a gradient inside each source cell, computed from differences of its neighbours
 * (gradient.h). The gradient is multiplied by the distance from the centroid of the cell to the centroid of the shared area.
 * This conserves integrals.
 *
 * Areas shared by cells of two regular grids are products of overlaps along both axes. Cells of other grids are found by
 * their boxes in space and clipped (sphere.h). */
#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/space_index.h"
#include "grid/gradient.h"
#include "grid/grid.h"

/* Cells that touch overlap by rounding errors, which are smaller than this fraction of the smaller cell. */
static const double SLIVER = 1e-13;

/* If effects of gradients cancel within a target cell, rounding leaves weights of about this size. Such weights are removed,
 * because a missing value in their source cell would make the target cell missing. */
static const double RESIDUE = 1e-12;

enum { MOST_CORNERS = CB_POLYGON_MOST / 4 };

/* --- Two regular grids --------------------------------------------------------------------------------- */

/* The interval of a cell along one axis of a regular grid. */
typedef struct span {
    double lo, hi;
    int64_t i;
} span;

typedef struct overlap {
    int64_t i; /* index along the source's axis */
    double size;
    /* distance in radians from the centroid of the source's cell to the centroid of the overlap */
    double offset;
} overlap;

/* Lists the source's cells that overlap each cell of the target's axis. */
typedef struct overlaps {
    int64_t *starts;
    overlap *list;
} overlaps;

static int by_start(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
    return p->i < q->i ? -1 : p->i > q->i;
}

static span *spans_of(cb_zone *zone, const double *bounds, int64_t n, bool sines)
{
    span *s = cb_zone_alloc(zone, (size_t)n * sizeof *s);
    for (int64_t i = 0; s && i < n; i++) {
        double lo = fmin(bounds[2 * i], bounds[2 * i + 1]);
        double hi = fmax(bounds[2 * i], bounds[2 * i + 1]);
        /* moves a cell by a multiple of 360, so that it begins between 0 and 360 degrees */
        if (!sines) {
            const double turns = 360 * floor(lo / 360);
            lo -= turns;
            hi -= turns;
        }
        s[i] = sines ? (span){sin(lo * CB_DEGREE), sin(hi * CB_DEGREE), i}
                     : (span){lo * CB_DEGREE, hi * CB_DEGREE, i};
    }
    return s;
}

/* Returns the centroid of a cell in radians. If `period` is not 0, lo and hi are longitudes. Otherwise they are sines of
 * latitudes, because the mean of the sines is the mean over the area. */
static double centroid(double lo, double hi, double period)
{
    if (period != 0) return (lo + hi) / 2;
    const double low = lo * asin(lo) + sqrt(fmax(0, 1 - lo * lo));
    const double high = hi * asin(hi) + sqrt(fmax(0, 1 - hi * hi));
    return (high - low) / (hi - lo);
}

/* Lists overlaps along an axis. If `period` is not 0, values repeat after it. */
static cubed_status find_overlaps(cb_zone *zone, const span *target, int64_t nt, span *source,
                                  int64_t ns, double period, overlaps *out, cubed_error *err)
{
    double widest = 0;
    size_t n = 0, room = 0;
    const cubed_allocator *a = cb_zone_allocator(zone);
    overlap *list = NULL;
    cubed_status st = CUBED_OK;
    qsort(source, (size_t)ns, sizeof *source, by_start);
    for (int64_t i = 0; i < ns; i++) widest = fmax(widest, source[i].hi - source[i].lo);
    out->starts = cb_zone_alloc(zone, ((size_t)nt + 1) * sizeof *out->starts);
    if (!out->starts) goto no_memory;
    for (int64_t t = 0; t < nt; t++) {
        for (int turn = period != 0 ? -2 : 0; turn <= (period != 0 ? 2 : 0); turn++) {
            const double lo = target[t].lo + turn * period, hi = target[t].hi + turn * period;
            int64_t first = 0, end = ns;
            while (first < end) { /* finds the first cell that may reach lo */
                const int64_t middle = first + (end - first) / 2;
                if (source[middle].lo < lo - widest)
                    first = middle + 1;
                else
                    end = middle;
            }
            for (int64_t i = first; i < ns && source[i].lo < hi; i++) {
                const span *s = &source[i];
                const double size = fmin(hi, s->hi) - fmax(lo, s->lo);
                if (!(size > SLIVER * fmin(hi - lo, s->hi - s->lo))) continue;
                if (!cb_list_grow(a, &list, n, &room, sizeof *list)) goto no_memory;
                const double own = centroid(s->lo, s->hi, period);
                const double of_both = centroid(fmax(lo, s->lo), fmin(hi, s->hi), period);
                list[n++] = (overlap){s->i, size, of_both - own};
            }
        }
        out->starts[t + 1] = (int64_t)n;
    }
    out->list = cb_zone_memdup(zone, list, n * sizeof *list);
    if (out->list) goto out;
no_memory:
    st = cb_fail(err, CUBED_E_NOMEM, "out of memory: overlaps of cells");
out:
    cb_free(a, list, room * sizeof *list);
    return st;
}

/* The slope in a cell along an axis of the source: (value[after] - value[before]) / apart. */
typedef struct slope {
    int64_t before, after;
    double apart; /* distance in radians; 0 if the cell has no neighbours */
} slope;

static slope *slopes_of(cb_zone *zone, const double *bounds, int64_t n, bool sines, bool circular)
{
    slope *s = cb_zone_alloc(zone, (size_t)n * sizeof *s);
    double *at = cb_zone_alloc(zone, (size_t)n * sizeof *at);
    if (!s || !at) return NULL;
    for (int64_t i = 0; i < n; i++) {
        const double a = bounds[2 * i] * CB_DEGREE, b = bounds[2 * i + 1] * CB_DEGREE;
        at[i] = sines ? centroid(fmin(sin(a), sin(b)), fmax(sin(a), sin(b)), 0) : (a + b) / 2;
    }
    const double turn = n > 1 && at[1] < at[0] ? -2 * CB_PI : 2 * CB_PI;
    for (int64_t i = 0; i < n; i++) {
        s[i] = (slope){i > 0      ? i - 1
                       : circular ? n - 1
                                  : i,
                       i < n - 1  ? i + 1
                       : circular ? 0
                                  : i,
                       0};
        s[i].apart = at[s[i].after] - at[s[i].before];
        if (circular && i == 0) s[i].apart += turn;
        if (circular && i == n - 1) s[i].apart += turn;
        if (n == 1) s[i].apart = 0;
    }
    return s;
}

/* Adds the effect of the slope in cell i along an axis. `step` is the distance between neighbours in C order. `moment` is
 * the area times the offset. */
static cubed_status add_slope(cb_weights_builder *b, int64_t column, int64_t step, int64_t i,
                              const slope *s, double moment, cubed_error *err)
{
    if (s->apart == 0) return CUBED_OK;
    CB_TRY(cb_weights_add(b, column + (s->after - i) * step, moment / s->apart, err));
    return cb_weights_add(b, column + (s->before - i) * step, -moment / s->apart, err);
}

static cubed_status of_regular(cb_weights_builder *b, const cubed_grid *source,
                               const cubed_grid *target, bool second_order, cb_zone *zone,
                               cubed_error *err)
{
    const int64_t height = source->shape[0], width = source->shape[1];
    span *ty = spans_of(zone, target->lat_bounds, target->shape[0], true);
    span *tx = spans_of(zone, target->lon_bounds, target->shape[1], false);
    span *sy = spans_of(zone, source->lat_bounds, height, true);
    span *sx = spans_of(zone, source->lon_bounds, width, false);
    const slope *v = slopes_of(zone, source->lat_bounds, height, true, false);
    const slope *u = slopes_of(zone, source->lon_bounds, width, false, source->circular);
    overlaps y, x;
    if (!ty || !tx || !sy || !sx || !u || !v)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: axes of grids");
    CB_TRY(find_overlaps(zone, ty, target->shape[0], sy, height, 0, &y, err));
    CB_TRY(find_overlaps(zone, tx, target->shape[1], sx, width, 2 * CB_PI, &x, err));
    for (int64_t j = 0; j < target->shape[0]; j++) {
        for (int64_t i = 0; i < target->shape[1]; i++) {
            for (int64_t p = y.starts[j]; p < y.starts[j + 1]; p++) {
                for (int64_t q = x.starts[i]; q < x.starts[i + 1]; q++) {
                    const overlap *of_y = &y.list[p], *of_x = &x.list[q];
                    const int64_t column = of_y->i * width + of_x->i;
                    const double area = of_y->size * of_x->size;
                    CB_TRY(cb_weights_add(b, column, area, err));
                    if (!second_order) continue;
                    CB_TRY(add_slope(b, column, width, of_y->i, &v[of_y->i], area * of_y->offset,
                                     err));
                    CB_TRY(add_slope(b, column, 1, of_x->i, &u[of_x->i], area * of_x->offset, err));
                }
            }
            cb_weights_end_row(b, true);
        }
    }
    return CUBED_OK;
}

/* --- Cells of any shape -------------------------------------------------------------------------------- */

/* A cell: a box of a regular grid, between latitudes and longitudes in degrees, or a polygon. */
typedef struct cell {
    bool is_box, is_convex;
    double south, north, west, east;
    cb_polygon polygon;
    double area;
    cb_space_box around;
} cell;

static void set_box(cell *c, double y0, double y1, double x0, double x1)
{
    c->is_box = c->is_convex = true;
    c->south = fmin(y0, y1);
    c->north = fmax(y0, y1);
    c->west = fmin(x0, x1);
    c->east = fmin(fmax(x0, x1), c->west + 360);
    c->area =
        (sin(c->north * CB_DEGREE) - sin(c->south * CB_DEGREE)) * (c->east - c->west) * CB_DEGREE;
    cb_lonlat_box(c->south, c->north, c->west, c->east, &c->around);
}

/* Returns the difference in degrees from longitude a to longitude b, from -180 to 180. */
static double from_to(double a, double b)
{
    const double d = b - a;
    return d - 360 * floor((d + 180) / 360);
}

/* Compares degrees. The tolerance allows for coordinates that were rounded to float32. */
static bool is_same(double a, double b) { return fabs(a - b) < 1e-5; }

/* Returns true if four corners are those of a cell between two latitudes and two longitudes, and sets *c to this cell. Corners at
 * a pole may have any longitude. */
static bool find_box(const double *lat, const double *lon, cell *c)
{
    /* tries the edge from corner k to corner k + 1 as the edge along a latitude */
    for (int k = 0; k < 2; k++) {
        const int a = k, b = k + 1, d = k + 2, e = (k + 3) % 4;
        if (!is_same(lat[a], lat[b]) || !is_same(lat[d], lat[e]) || is_same(lat[a], lat[d]))
            continue;
        const bool pole_ab = is_same(fabs(lat[a]), 90), pole_de = is_same(fabs(lat[d]), 90);
        const double across = from_to(lon[a], lon[b]), back = from_to(lon[e], lon[d]);
        const double wide = pole_ab ? back : across, west = pole_ab ? lon[e] : lon[a];
        const bool sides =
            pole_ab || pole_de || (is_same(across, back) && is_same(from_to(lon[a], lon[e]), 0));
        if (!sides || (pole_ab && pole_de) || is_same(wide, 0) || is_same(fabs(wide), 180))
            continue;
        set_box(c, lat[a], lat[d], west, west + wide);
        return true;
    }
    return false;
}

/* Copies the corners of cell i, a closed polygon, except those that repeat the previous corner. The corner before the first
 * one is the last one. Returns the number of copied corners. */
static int distinct_corners(const cubed_grid *g, int64_t i, double *lat, double *lon)
{
    const double *y = g->lat_bounds + i * g->corners, *x = g->lon_bounds + i * g->corners;
    int n = 0;
    for (int k = 0; k < g->corners; k++) {
        if (n > 0 && y[k] == lat[n - 1] && x[k] == lon[n - 1]) continue;
        lat[n] = y[k];
        lon[n++] = x[k];
    }
    while (n > 1 && lat[n - 1] == lat[0] && lon[n - 1] == lon[0]) n--;
    return n;
}

static void cell_of(const cubed_grid *g, int64_t i, cell *c)
{
    if (g->regular) {
        const double *y = g->lat_bounds + 2 * (i / g->shape[1]);
        const double *x = g->lon_bounds + 2 * (i % g->shape[1]);
        set_box(c, y[0], y[1], x[0], x[1]);
        return;
    }
    double lat[MOST_CORNERS], lon[MOST_CORNERS];
    const int n = distinct_corners(g, i, lat, lon);
    if (n == 4 && find_box(lat, lon, c)) return;
    c->is_box = false;
    cb_polygon_of(&c->polygon, lat, lon, n);
    c->is_convex = cb_polygon_is_convex(&c->polygon);
    c->area = cb_polygon_area(&c->polygon);
    if (c->polygon.n > 0)
        cb_polygon_box(&c->polygon, &c->around);
    else
        /* an empty box, which overlaps no other box */
        c->around = (cb_space_box){{2, 2, 2}, {-2, -2, -2}};
}

/* Gets the polygon of cell i. Fails if the cell is not masked and its edges cross. */
static cubed_status checked_cell(const cubed_grid *g, const char *grid, int64_t i, cell *c,
                                 cubed_error *err)
{
    char at[CB_GRID_CELL_CAP];
    cell_of(g, i, c);
    if (c->is_box || (g->mask && !g->mask[i]) || !cb_polygon_crosses_itself(&c->polygon))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "remap: edges of cell %s of the %s cross, " CB_CORNERS_EXPECTED
                   ", or mask the cell",
                   cb_grid_cell_text(g->ndim, g->shape, i, at), grid);
}

/* Returns the normal of a meridian's plane: its half-space has the points to the east of this longitude. */
static cb_vec east_of(double lon)
{
    return (cb_vec){-sin(lon * CB_DEGREE), cos(lon * CB_DEGREE), 0};
}

static void add_moment(cb_vec *to, cb_vec v)
{
    to->x += v.x;
    to->y += v.y;
    to->z += v.z;
}

/* Returns the area that a box shares with another cell, and adds its moment to *moment, if that is not NULL. A box wider than 90
 * degrees is divided, because two planes of meridians bound at most half of the sphere. */
static double box_overlap(const cell *box, const cell *other, cb_vec *moment)
{
    const int parts = (int)ceil((box->east - box->west) / 90);
    const double step = (box->east - box->west) / parts;
    const cb_band band = cb_band_of(box->south, box->north);
    double area = 0;
    for (int k = 0; k < parts; k++) {
        const cb_vec west = east_of(box->west + k * step);
        cb_vec east = east_of(box->west + (k + 1) * step);
        cb_polygon p = other->polygon;
        east = (cb_vec){-east.x, -east.y, 0};
        cb_polygon_cut(&p, west);
        cb_polygon_cut(&p, east);
        if (p.n > 0) area += cb_polygon_band_area(&p, &band);
        if (p.n > 0 && moment) add_moment(moment, cb_polygon_band_moment(&p, &band));
    }
    return area;
}

static double common_box(const cell *a, const cell *b, cb_vec *moment)
{
    const double north = fmin(a->north, b->north), south = fmax(a->south, b->south);
    const double turns = 360 * floor((a->west - b->west) / 360);
    double wide = 0;
    if (!(north > south)) return 0;
    for (int k = -1; k <= 2; k++) {
        const double west = fmax(a->west, b->west + turns + 360 * k);
        const double east = fmin(a->east, b->east + turns + 360 * k);
        wide += fmax(0, east - west);
        if (moment && east > west) add_moment(moment, cb_lonlat_moment(south, north, west, east));
    }
    return (sin(north * CB_DEGREE) - sin(south * CB_DEGREE)) * wide * CB_DEGREE;
}

/* Returns the area that two polygons share, by one triangle of `by` after another. The signed areas of the triangles add up to
 * the area of `by`, even if `by` is concave. */
static double triangles_overlap(const cb_polygon *of, const cb_polygon *by, cb_vec *moment)
{
    double area = 0;
    for (int k = 1; k + 1 < by->n; k++) {
        cb_polygon p = *of, t = {.n = 3, .at = {by->at[0], by->at[k], by->at[k + 1]}};
        const double sign = cb_polygon_area(&t) < 0 ? -1 : 1;
        if (sign < 0) {
            t.at[1] = by->at[k + 1];
            t.at[2] = by->at[k];
        }
        cb_polygon_clip(&p, &t);
        if (p.n == 0) continue;
        area += sign * cb_polygon_area(&p);
        const cb_vec m = moment ? cb_polygon_moment(&p) : (cb_vec){0, 0, 0};
        if (moment) add_moment(moment, (cb_vec){sign * m.x, sign * m.y, sign * m.z});
    }
    return area;
}

/* Returns the area that two cells share. Sets *moment to the integral of the position over the shared area, if `moment` is not
 * NULL. */
static double shared_area(const cell *a, const cell *b, cb_vec *moment)
{
    if (moment) *moment = (cb_vec){0, 0, 0};
    if (a->is_box && b->is_box) return common_box(a, b, moment);
    if (a->is_box) return box_overlap(a, b, moment);
    if (b->is_box) return box_overlap(b, a, moment);
    if (!a->is_convex && !b->is_convex) return triangles_overlap(&a->polygon, &b->polygon, moment);
    cb_polygon p = b->is_convex ? a->polygon : b->polygon;
    cb_polygon_clip(&p, b->is_convex ? &b->polygon : &a->polygon);
    if (p.n > 0 && moment) *moment = cb_polygon_moment(&p);
    return p.n > 0 ? cb_polygon_area(&p) : 0;
}

typedef struct clipping {
    cb_weights_builder *b;
    const cubed_grid *source;
    cell target, other;
    cb_gradients gradients; /* its `centroids` is NULL if weights are of first order */
} clipping;

/* Returns the mean position of a cell's points; the zero vector if the cell is empty. */
static cb_vec centroid_of(const cell *c)
{
    if (!(c->area > 0)) return (cb_vec){0, 0, 0};
    const cb_vec m = c->is_box ? cb_lonlat_moment(c->south, c->north, c->west, c->east)
                               : cb_polygon_moment(&c->polygon);
    return (cb_vec){m.x / c->area, m.y / c->area, m.z / c->area};
}

/* Adds the effect of the gradient in source cell i. `area` and `moment` are those of the shared part. */
static cubed_status add_gradient(clipping *c, int32_t i, double area, cb_vec moment,
                                 cubed_error *err)
{
    const cb_vec own = c->gradients.centroids[i];
    const cb_vec offset = {moment.x - area * own.x, moment.y - area * own.y,
                           moment.z - area * own.z};
    const cb_gradient *g;
    double sum = 0;
    CB_TRY(cb_gradient_of(&c->gradients, i, &c->other.around, &g, err));
    for (int k = 0; k < g->n; k++) {
        const double weight = cb_vec_dot(g->by[k], offset);
        sum += weight;
        CB_TRY(cb_weights_add(c->b, g->cell[k], weight, err));
    }
    return cb_weights_add(c->b, i, -sum, err);
}

static cubed_status add_shared(void *ctx, int32_t i, cubed_error *err)
{
    clipping *c = ctx;
    const bool second_order = c->gradients.centroids != NULL;
    cb_vec moment;
    cell_of(c->source, i, &c->other);
    const double area = shared_area(&c->target, &c->other, second_order ? &moment : NULL);
    if (!(area > SLIVER * fmin(c->target.area, c->other.area))) return CUBED_OK;
    CB_TRY(cb_weights_add(c->b, i, area, err));
    /* Over a whole cell, the effects of the gradient cancel. */
    const bool is_part = area < c->other.area * (1 - 10 * SLIVER);
    return second_order && is_part ? add_gradient(c, i, area, moment, err) : CUBED_OK;
}

/* Allocates the memory for gradients: the centroids, which the caller computes, and the cache. */
static cubed_status begin_gradients(clipping *c, const cb_space_index *index, cb_zone *zone,
                                    cb_vec **centroids, cubed_error *err)
{
    const size_t n = (size_t)c->source->n;
    *centroids = cb_zone_alloc(zone, n * sizeof **centroids);
    cb_gradient *cache = cb_zone_alloc(zone, CB_GRADIENT_CACHE * sizeof *cache);
    if (!*centroids || !cache)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: centroids of %zu cells", n);
    for (int k = 0; k < CB_GRADIENT_CACHE; k++) cache[k].of = -1;
    c->gradients =
        (cb_gradients){.grid = c->source, .index = index, .centroids = *centroids, .cache = cache};
    return CUBED_OK;
}

static cubed_status of_cells(cb_weights_builder *b, const cubed_grid *source,
                             const cubed_grid *target, bool second_order, cb_zone *zone,
                             cubed_error *err)
{
    const cubed_allocator *a = source->alloc;
    cb_space_index index;
    cb_vec *centroids = NULL;
    CB_TRY(cb_weights_hold_index(b, source->n, err));
    if (second_order)
        CB_TRY(cb_weights_hold(
            b, (size_t)source->n * sizeof *centroids + CB_GRADIENT_CACHE * sizeof(cb_gradient),
            err));
    clipping *c = cb_zone_alloc(zone, sizeof *c);
    cb_space_box *boxes = cb_alloc(a, (size_t)source->n * sizeof *boxes);
    cubed_status st = CUBED_OK;
    if (!c || !boxes) {
        st =
            cb_fail(err, CUBED_E_NOMEM, "out of memory: boxes of %lld cells", (long long)source->n);
        goto out;
    }
    c->b = b;
    c->source = source;
    c->gradients = (cb_gradients){.centroids = NULL};
    if (second_order) CB_GO(begin_gradients(c, &index, zone, &centroids, err));
    for (int64_t i = 0; i < source->n; i++) {
        CB_GO(checked_cell(source, "source", i, &c->other, err));
        boxes[i] = c->other.around;
        if (second_order) centroids[i] = centroid_of(&c->other);
    }
    CB_GO(cb_space_sort(zone, boxes, source->n, &index, err));
    for (int64_t i = 0; i < target->n; i++) {
        CB_GO(checked_cell(target, "target", i, &c->target, err));
        CB_GO(cb_space_overlaps(&index, &c->target.around, add_shared, c, err));
        cb_weights_end_row(b, true);
    }
out:
    cb_free(a, boxes, (size_t)source->n * sizeof *boxes);
    return st;
}

cubed_status cb_weights_of_areas(cb_weights_builder *b, const cubed_grid *source,
                                 const cubed_grid *target, bool second_order, cubed_error *err)
{
    cb_zone *zone;
    if (!source->lat_bounds || !target->lat_bounds)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "remap: conservative weights need the bounds of cells, but the %s has no "
                       "bounds; pass bounds or choose another method",
                       source->lat_bounds ? "target" : "source");
    if (source->corners > MOST_CORNERS || target->corners > MOST_CORNERS)
        return cb_fail(
            err, CUBED_E_UNSUPPORTED, "remap: cells have up to %d corners, expected at most %d",
            source->corners > target->corners ? source->corners : target->corners, MOST_CORNERS);
    CB_TRY(cb_zone_new(source->alloc, &zone, err));
    if (second_order) b->residue = RESIDUE;
    cubed_status st = source->regular && target->regular
                          ? of_regular(b, source, target, second_order, zone, err)
                          : of_cells(b, source, target, second_order, zone, err);
    cb_zone_free(zone);
    return st;
}
