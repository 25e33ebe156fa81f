/* Bilinear and bicubic weights, in longitude and latitude (Jones 1998, SCRIP user's guide, sections 2.2 and 2.3).
 *
 * A point in a regular grid lies between two latitudes and two longitudes. In a grid with two dimensions, four centres form
 * a quadrilateral around the point, whose bilinear map is inverted by Newton's method. Both cases give fractions from 0 to 1
 * along rows and columns. The plane is that of longitude and latitude, or the tangent plane if the quadrilateral contains a pole.
 *
 * Bicubic weights are those of cubic Hermite polynomials in both fractions. Slopes are differences of the neighbours on both
 * sides, or on one side at the end of an axis (Keys 1981). So 16 centres have weights. */
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "grid/nearest.h"

/* --- Regular sources ----------------------------------------------------------------------------------- */

/* Two positions along an axis. `part` is the weight of the second position. */
typedef struct between {
    int64_t first, second;
    double part;
} between;

/* Finds the interval of a monotonic axis that contains v. Returns false if v is beyond the ends. */
static bool find_between(const double *axis, int64_t n, double v, between *out)
{
    const bool up = n < 2 || axis[1] > axis[0];
    int64_t lo = 0, hi = n - 1;
    if (up ? v < axis[0] || v > axis[hi] : v > axis[0] || v < axis[hi]) return false;
    while (hi - lo > 1) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (up ? axis[middle] <= v : axis[middle] >= v)
            lo = middle;
        else
            hi = middle;
    }
    *out = (between){lo, hi, hi > lo ? (v - axis[lo]) / (axis[hi] - axis[lo]) : 0};
    return true;
}

/* Finds the interval of longitudes that contains v. v may differ from the longitudes of the grid by multiples of 360. */
static bool find_longitude(const cubed_grid *g, double v, between *out)
{
    const int64_t n = g->shape[1];
    const double *axis = g->lon, first = fmin(axis[0], axis[n - 1]);
    const double at = v - 360 * floor((v - first) / 360); /* first <= at < first + 360 */
    if (find_between(axis, n, at, out)) return true;
    /* Rounding may move v from the first longitude to just below the first longitude + 360. */
    if (360 - (at - first) < 1e-9 && find_between(axis, n, first, out)) return true;
    if (!g->circular || n < 2) return false;
    const bool up = axis[1] > axis[0];
    const int64_t last = up ? n - 1 : 0, next = up ? 0 : n - 1;
    *out = (between){last, next, (at - axis[last]) / (axis[next] + 360 - axis[last])};
    return true;
}

/* Weights of up to four positions along an axis. */
typedef struct taps {
    int n;
    int64_t at[4];
    double weight[4];
} taps;

/* Returns the neighbour of position i, `step` further along an axis of n cells. Returns i itself at an end of the axis. */
static int64_t beside(int64_t i, int step, int64_t n, bool circular)
{
    if (i + step >= 0 && i + step < n) return i + step;
    return circular ? (i + step + n) % n : i;
}

/* Computes weights along an axis. `step` is the step from the first to the second position, 1 or -1. */
static taps taps_of(between p, int step, int64_t n, bool circular, bool cubic)
{
    const double t = p.part;
    if (!cubic || p.first == p.second)
        return (taps){2, {p.first, p.second, 0, 0}, {1 - t, t, 0, 0}};
    const int64_t before = beside(p.first, -step, n, circular);
    const int64_t after = beside(p.second, step, n, circular);
    /* Slopes are differences over two steps, or over one step at an end of the axis. */
    const double left = before == p.first ? 1 : 0.5, right = after == p.second ? 1 : 0.5;
    const double value0 = (1 + 2 * t) * (1 - t) * (1 - t), value1 = t * t * (3 - 2 * t);
    const double slope0 = t * (1 - t) * (1 - t), slope1 = t * t * (t - 1);
    taps v = {4,
              {before, p.first, p.second, after},
              {-left * slope0, value0 - right * slope1, value1 + left * slope0, right * slope1}};
    if (before == p.first) v.weight[1] += v.weight[0], v.weight[0] = 0;
    if (after == p.second) v.weight[2] += v.weight[3], v.weight[3] = 0;
    return v;
}

static cubed_status add_taps(cb_weights_builder *b, int64_t width, const taps *y, const taps *x,
                             cubed_error *err)
{
    for (int j = 0; j < y->n; j++) {
        for (int i = 0; i < x->n; i++)
            CB_TRY(
                cb_weights_add(b, y->at[j] * width + x->at[i], y->weight[j] * x->weight[i], err));
    }
    return CUBED_OK;
}

static cubed_status of_regular(cb_weights_builder *b, const cubed_grid *source,
                               const cubed_grid *target, bool cubic, cb_zone *zone,
                               cubed_error *err)
{
    const int64_t height = source->shape[0], width = source->shape[1];
    cb_space_index centres = {.n = 0};
    /* In a grid around the earth, only points near the poles are beyond the outermost centres. */
    if (source->circular) {
        CB_TRY(cb_weights_hold_index(b, source->n, err));
        CB_TRY(cb_centres_sort(zone, source, &centres, err));
    }
    for (int64_t i = 0; i < target->n; i++) {
        const double lat = cb_grid_lat(target, i), lon = cb_grid_lon(target, i);
        between x, y;
        if (find_between(source->lat, height, lat, &y)) {
            if (find_longitude(source, lon, &x)) {
                const int along = x.second == (x.first + 1) % width ? 1 : -1;
                const taps ty = taps_of(y, 1, height, false, cubic);
                const taps tx = taps_of(x, along, width, source->circular, cubic);
                CB_TRY(add_taps(b, width, &ty, &tx, err));
            }
        } else if (source->circular) {
            CB_TRY(cb_weights_near(b, &centres, cb_vec_of(lat, lon), 4, true, err));
        }
        cb_weights_end_row(b, true);
    }
    return CUBED_OK;
}

/* --- Sources with two dimensions ------------------------------------------------------------------------ */

typedef struct quads {
    cb_weights_builder *b;
    const cubed_grid *source;
    bool cubic, around;
    int64_t across;  /* number of quadrilaterals per row */
    double lat, lon; /* latitude and longitude of the point */
    /* Latitudes of a southern and a northern circle that enclose the quadrilaterals with a pole; -91 and 91: none. Near such
     * quadrilaterals, those whose edges are straight in longitude and latitude leave gaps. So points within the circles that
     * are not found in longitude and latitude are searched again in the tangent plane. */
    double cap[2];
    bool in_tangent; /* all quadrilaterals are placed in the tangent plane */
    bool found;
} quads;

/* Gets the positions of the four corners of quadrilateral q, in order. */
static void corners_of(const quads *s, int64_t q, int64_t corner[4])
{
    const int64_t width = s->source->shape[1], j = q / s->across, i = q % s->across;
    const int64_t next = i + 1 < width ? i + 1 : 0;
    corner[0] = j * width + i;
    corner[1] = j * width + next;
    corner[2] = (j + 1) * width + next;
    corner[3] = (j + 1) * width + i;
}

/* Returns the longitude relative to `from`, in -180 to 180 degrees. */
static double lon_from(double lon, double from)
{
    const double d = lon - from;
    return d - 360 * floor((d + 180) / 360);
}

/* A centre that is at most this many degrees from a pole counts as being at the pole, where its longitude is undefined. */
static const double AT_POLE = 1e-9;

static bool is_pole(double lat) { return fabs(lat) > 90 - AT_POLE; }

/* Gives the two ends of an edge at a pole the longitudes of the corners opposite to them, as in a regular grid. Returns false if
 * a corner at a pole remains without a longitude: if one corner, two corners that are not neighbours, or more than two are at
 * poles. */
static bool open_pole(const double lat[4], double lon[4])
{
    int poles = 0;
    for (int k = 0; k < 4; k++) poles += is_pole(lat[k]);
    if (poles == 0) return true;
    for (int k = 0; k < 4 && poles == 2; k++) {
        const int next = (k + 1) % 4;
        if (!is_pole(lat[k]) || !is_pole(lat[next])) continue;
        lon[k] = lon[(k + 3) % 4];
        lon[next] = lon[(k + 2) % 4];
        return true;
    }
    return false;
}

/* Sets x and y to the positions of corners in longitude and latitude, relative to the point. Returns false if the corners have no
 * positions in this plane: the quadrilateral contains a pole, or open_pole finds no longitude for a corner at a pole. */
static bool place_in_degrees(const quads *s, const double lat[4], double lon[4], double x[4],
                             double y[4])
{
    if (!open_pole(lat, lon)) return false;
    double turn = 0, least = 0, most = 0;
    x[0] = lon_from(lon[0], s->lon);
    for (int k = 0; k < 4; k++) {
        const double step = lon_from(lon[(k + 1) % 4], lon[k]);
        if (fabs(step) > 180 - AT_POLE) return false; /* the edge goes over a pole */
        if (k < 3) x[k + 1] = x[k] + step;
        turn += step;
        y[k] = lat[k] - s->lat;
        least = fmin(k > 0 ? least : x[0], x[k]);
        most = fmax(k > 0 ? most : x[0], x[k]);
    }
    if (fabs(turn) > 180) return false;
    const double shift = most < -1e-12 ? 360 : least > 1e-12 ? -360 : 0;
    for (int k = 0; k < 4; k++) x[k] += shift;
    return true;
}

/* Sets x and y to the positions of corners in the plane that touches the sphere at the point, in which great circles are straight
 * (gnomonic projection), in degrees near the point. Returns false for corners in the opposite half of the sphere. */
static bool place_in_tangent(const quads *s, const double lat[4], const double lon[4], double x[4],
                             double y[4])
{
    const cb_vec up = cb_vec_of(s->lat, s->lon);
    const double c = cos(s->lon * CB_DEGREE), sine = sin(s->lon * CB_DEGREE);
    const cb_vec east = {-sine, c, 0}, north = cb_vec_cross(up, east);
    for (int k = 0; k < 4; k++) {
        const cb_vec v = cb_vec_of(lat[k], lon[k]);
        const double far = cb_vec_dot(v, up);
        if (far < 0.01) return false;
        x[k] = cb_vec_dot(v, east) / far / CB_DEGREE;
        y[k] = cb_vec_dot(v, north) / far / CB_DEGREE;
    }
    return true;
}

/* Gets the latitudes and longitudes of the corners of a quadrilateral. */
static void angles_of(const quads *s, const int64_t corner[4], double lat[4], double lon[4])
{
    for (int k = 0; k < 4; k++) {
        lat[k] = s->source->lat[corner[k]];
        lon[k] = s->source->lon[corner[k]];
    }
}

/* Sets x and y to the positions of the corners of a quadrilateral in a plane, whose origin is the point. */
static bool place(const quads *s, const int64_t corner[4], double x[4], double y[4])
{
    double lat[4], lon[4];
    angles_of(s, corner, lat, lon);
    if (!s->in_tangent && place_in_degrees(s, lat, lon, x, y)) return true;
    return place_in_tangent(s, lat, lon, x, y);
}

/* If a quadrilateral contains a pole, extends the circle of latitude around this pole. */
static void widen_cap(quads *s, const int64_t corner[4])
{
    double lat[4], lon[4], x[4], y[4];
    angles_of(s, corner, lat, lon);
    if (place_in_degrees(s, lat, lon, x, y)) return;
    for (int k = 0; k < 4; k++) {
        double *edge = &s->cap[lat[k] > 0];
        if (fabs(lat[k]) < fabs(*edge)) *edge = lat[k];
    }
}

/* Returns true if the origin is inside a quadrilateral or on its edge. The corners may be in clockwise or counterclockwise
 * order. */
static bool surrounds(const double x[4], const double y[4])
{
    bool left = true, right = true;
    for (int i = 0; i < 4; i++) {
        const int j = (i + 1) % 4;
        const double side = x[i] * y[j] - x[j] * y[i];
        left = left && side >= -1e-12;
        right = right && side <= 1e-12;
    }
    return left || right;
}

/* Inverts the bilinear map of the quadrilateral: finds the fractions u, v that it maps to the origin. */
static bool invert(const double x[4], const double y[4], double *u, double *v)
{
    *u = *v = 0.5;
    for (int turn = 0; turn < 100; turn++) {
        const double a = *u, c = *v;
        const double fx = (1 - c) * ((1 - a) * x[0] + a * x[1]) + c * ((1 - a) * x[3] + a * x[2]);
        const double fy = (1 - c) * ((1 - a) * y[0] + a * y[1]) + c * ((1 - a) * y[3] + a * y[2]);
        const double xu = (1 - c) * (x[1] - x[0]) + c * (x[2] - x[3]);
        const double yu = (1 - c) * (y[1] - y[0]) + c * (y[2] - y[3]);
        const double xv = (1 - a) * (x[3] - x[0]) + a * (x[2] - x[1]);
        const double yv = (1 - a) * (y[3] - y[0]) + a * (y[2] - y[1]);
        const double det = xu * yv - xv * yu;
        if (det == 0) return false;
        const double du = (fx * yv - fy * xv) / det, dv = (fy * xu - fx * yu) / det;
        *u -= du;
        *v -= dv;
        if (fabs(du) < 1e-14 && fabs(dv) < 1e-14) break;
    }
    const double slack = 1e-9;
    if (!(*u > -slack && *u<1 + slack && * v> - slack && *v < 1 + slack)) return false;
    *u = fmin(1, fmax(0, *u));
    *v = fmin(1, fmax(0, *v));
    return true;
}

static cubed_status try_quad(void *ctx, int32_t q, cubed_error *err)
{
    quads *s = ctx;
    int64_t corner[4];
    double x[4], y[4], u, v;
    if (s->found) return CUBED_OK;
    corners_of(s, q, corner);
    if (!place(s, corner, x, y) || !surrounds(x, y) || !invert(x, y, &u, &v)) return CUBED_OK;
    s->found = true;
    const int64_t height = s->source->shape[0], width = s->source->shape[1];
    const int64_t row = corner[0] / width, i = corner[0] % width;
    const taps ty = taps_of((between){row, row + 1, v}, 1, height, false, s->cubic);
    const taps tx = taps_of((between){i, corner[1] % width, u}, 1, width, s->around, s->cubic);
    return add_taps(s->b, width, &ty, &tx, err);
}

/* Returns true if the last column is next to the first one: in the middle row, they are as near as other neighbouring
 * columns. */
static bool columns_go_around(const cubed_grid *g)
{
    const int64_t width = g->shape[1], row = g->shape[0] / 2 * width;
    if (width < 3) return false;
    double sum = 0;
    cb_vec first = cb_vec_of(g->lat[row], g->lon[row]), before = first;
    for (int64_t i = 1; i < width; i++) {
        const cb_vec v = cb_vec_of(g->lat[row + i], g->lon[row + i]);
        sum += sqrt(cb_vec_distance2(v, before));
        before = v;
    }
    return sqrt(cb_vec_distance2(before, first)) < 1.5 * sum / (double)(width - 1);
}

/* Fails if edges of quadrilateral `corner`, with centres `at`, cross and none of the centres is masked. Such a quadrilateral has
 * no inside, so points would get no value, or the value of a quadrilateral elsewhere in the grid. */
static cubed_status check_edges(const cubed_grid *g, const int64_t corner[4], const cb_vec at[4],
                                cubed_error *err)
{
    char first[CB_GRID_CELL_CAP], last[CB_GRID_CELL_CAP];
    cb_vec own[4];
    for (int k = 0; k < 4; k++) {
        if (g->mask && !g->mask[corner[k]]) return CUBED_OK;
        own[k] = at[k];
    }
    if (!cb_corners_cross(own, cb_corners_distinct(own, 4))) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "remap: lines between the four centres from cell %s to cell %s of the source "
                   "cross, expected rows and columns of centres that are neighbours; correct the "
                   "coordinates, mask the cells, or choose the method nearest or distance",
                   cb_grid_cell_text(g->ndim, g->shape, corner[0], first),
                   cb_grid_cell_text(g->ndim, g->shape, corner[2], last));
}

/* Builds a spatial index of the quadrilaterals between the centres. */
static cubed_status sort_quads(quads *s, cb_zone *zone, cb_space_index *index, cubed_error *err)
{
    const cubed_grid *g = s->source;
    const cubed_allocator *a = cb_zone_allocator(zone);
    const int64_t n = (g->shape[0] - 1) * s->across;
    cubed_status st = CUBED_OK;
    cb_space_box *boxes = cb_alloc(a, (size_t)n * sizeof *boxes);
    if (!boxes) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %lld cells", (long long)n);
    for (int64_t q = 0; q < n; q++) {
        int64_t corner[4];
        cb_polygon p = {.n = 4};
        corners_of(s, q, corner);
        for (int k = 0; k < 4; k++) p.at[k] = cb_vec_of(g->lat[corner[k]], g->lon[corner[k]]);
        CB_GO(check_edges(g, corner, p.at, err));
        cb_polygon_box(&p, &boxes[q]);
        widen_cap(s, corner);
    }
    CB_GO(cb_space_sort(zone, boxes, n, index, err));
out:
    cb_free(a, boxes, (size_t)n * sizeof *boxes);
    return st;
}

static cubed_status of_quads(cb_weights_builder *b, const cubed_grid *source,
                             const cubed_grid *target, bool cubic, cb_zone *zone, cubed_error *err)
{
    quads s = {.b = b,
               .source = source,
               .cubic = cubic,
               .around = columns_go_around(source),
               .cap = {-91, 91}};
    cb_space_index index;
    s.across = source->shape[1] - (s.around ? 0 : 1);
    if (source->shape[0] < 2 || s.across < 1)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "remap: bilinear weights need two rows and columns of cells, but the source "
                       "has %lld and %lld; choose another method",
                       (long long)source->shape[0], (long long)source->shape[1]);
    CB_TRY(cb_weights_hold_index(b, (source->shape[0] - 1) * s.across, err));
    CB_TRY(sort_quads(&s, zone, &index, err));
    for (int64_t i = 0; i < target->n; i++) {
        s.lat = cb_grid_lat(target, i);
        s.lon = cb_grid_lon(target, i);
        s.found = false;
        const cb_vec v = cb_vec_of(s.lat, s.lon);
        const cb_space_box box = {{v.x, v.y, v.z}, {v.x, v.y, v.z}};
        s.in_tangent = false;
        CB_TRY(cb_space_overlaps(&index, &box, try_quad, &s, err));
        s.in_tangent = s.lat <= s.cap[0] || s.lat >= s.cap[1];
        if (!s.found && s.in_tangent) CB_TRY(cb_space_overlaps(&index, &box, try_quad, &s, err));
        cb_weights_end_row(b, true);
    }
    return CUBED_OK;
}

cubed_status cb_weights_bilinear(cb_weights_builder *b, const cubed_grid *source,
                                 const cubed_grid *target, bool cubic, cubed_error *err)
{
    cb_zone *zone;
    if (source->ndim != 2)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "remap: %s weights need a source with two dimensions, but this source is "
                       "unstructured; choose distance, nearest or conservative",
                       cubic ? "bicubic" : "bilinear");
    CB_TRY(cb_zone_new(source->alloc, &zone, err));
    cubed_status st = source->regular ? of_regular(b, source, target, cubic, zone, err)
                                      : of_quads(b, source, target, cubic, zone, err);
    cb_zone_free(zone);
    return st;
}
