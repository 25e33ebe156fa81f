/* Computes areas of cells on the sphere, and checks coordinates in degrees. A coordinate that is not finite is a missing
 * coordinate: the area of its cell is NaN. The run fails if another coordinate is out of range, or if edges of a cell cross. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "block/sphere.h"

static cubed_status mismatch(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT,
                   "the types, shapes or parameters do not match the function");
}

/* --- Areas of cells ------------------------------------------------------------------------------------ */

/* Maximum number of corners of a cell. */
enum { MOST_CORNERS = 1 << 20 };

static cubed_status check_areas(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->params_size != 0 || call->nin != 2 || call->nout != 1) return mismatch(err);
    const cubed_block *y = &call->out[0];
    const int ndim = y->ndim;
    for (int i = 0; i < 2; i++) {
        const cubed_block *x = &call->in[i];
        if (x->dtype != CUBED_FLOAT64 || x->ndim != ndim + 1) return mismatch(err);
        for (int d = 0; d < ndim; d++) {
            if (x->shape[d] != y->shape[d]) return mismatch(err);
        }
    }
    const int64_t corners = call->in[0].shape[ndim];
    if (y->dtype != CUBED_FLOAT64 || call->in[1].shape[ndim] != corners) return mismatch(err);
    if (corners < 1 || corners > MOST_CORNERS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "cells have %" PRId64 " corners, expected at most %d", corners,
                       (int)MOST_CORNERS);
    return CUBED_OK;
}

static cubed_block_need need_areas(const cubed_block_call *largest, void *ctx)
{
    const cubed_block *lat = &largest->in[0];
    (void)ctx;
    return (cubed_block_need){.scratch = (size_t)lat->shape[lat->ndim - 1] * sizeof(cb_vec)};
}

/* Reduces a difference of longitudes to -180 to 180 degrees. */
static double shortest(double x) { return fabs(x) <= 180 ? x : x - 360 * nearbyint(x / 360); }

/* Limits for a cell in goes_around: its extent in radians, and its extent as a fraction of the distance of a corner from the
 * pole. */
static const double SMALL = 0.2, OFF_POLE = 0.19;

/* Returns true only if no edges of the cell cross: the corners go around the first corner in one direction, by less than half a
 * turn. Returns false if this would need exact arithmetic on the sphere: near poles, and for large, concave or flat cells.
 *
 * Let u and x be differences of latitude and longitude from the first corner, and p its latitude. Corners j and k are in one
 * direction around the first corner if the determinant of the three positions is positive. Divided by positive numbers, it is
 *     U_k sin(x_j) - U_j sin(x_k) + sin(p) cos(p) S,   U = tan(u) / (1 - tan(p) tan(u)),
 *     S = 4 sin(x_j / 2) sin(x_k / 2) sin((x_k - x_j) / 2).
 * Let D and X be the largest |u| and |x|, and h = pi/2 - |p|. Because tan(|p|) <= 1/h, and with the limits above, |U - u| is at
 * most 1.5 |u| D/h. The difference between the determinant and u_k x_j - u_j x_k is therefore below
 * D X (3 D/h + X^2/2) + X^3/2. */
static bool goes_around(const double *lat, const double *lon, int64_t n)
{
    double high = 0, wide = 0, least = INFINITY, most = -INFINITY;
    double u1 = 0, x1 = 0, u = 0, x = 0; /* u and x of corner 1, and of the previous corner */
    for (int64_t i = 1; i < n; i++) {
        const double v = (lat[i] - lat[0]) * CB_DEGREE, y = shortest(lon[i] - lon[0]) * CB_DEGREE;
        high = fabs(v) > high ? fabs(v) : high;
        wide = fabs(y) > wide ? fabs(y) : wide;
        if (i == 1) u1 = v, x1 = y;
        const double from_first = v * x1 - u1 * y, from_last = v * x - u * y;
        if (i > 1) {
            least = from_first < least ? from_first : least;
            least = from_last < least ? from_last : least;
            most = from_first > most ? from_first : most;
            most = from_last > most ? from_last : most;
        }
        u = v;
        x = y;
    }
    const double h = CB_PI / 2 - fabs(lat[0]) * CB_DEGREE;
    if (high > SMALL || wide > SMALL || high > OFF_POLE * h) return false;
    /* The last term bounds rounding errors: coordinates in radians are rounded by at most 1e-14. */
    const double error = high * wide * (3 * high / h + wide * wide / 2) + wide * wide * wide / 2 +
                         1e-13 * (high + wide);
    return least > error || most < -error;
}

/* Returns the area of a polygon on the unit sphere. Each edge adds the area between the edge and the equator. */
static double polygon_area(const double *lat, const double *lon, int64_t n)
{
    double sum = 0, turn = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t next = i + 1 < n ? i + 1 : 0;
        const double apart = shortest(lon[next] - lon[i]) * CB_DEGREE;
        if (apart == 0) continue; /* the area between the equator and a meridian is exactly 0 */
        const double p = lat[i] * (CB_DEGREE / 2), q = lat[next] * (CB_DEGREE / 2);
        /* This formula for the area E between the equator and an edge is exact: tan(E/2) = sin((p + q) / 2) / cos((p - q) / 2)
         * tan(apart / 2). Chamberlain and Duquette, "Some Algorithms for Polygons on a Sphere", 2007, approximate the area. */
        sum += 2 * atan(tan(apart / 2) * (sin(q + p) / cos(q - p)));
        turn += apart;
    }
    sum = fabs(sum);
    /* If a cell contains a pole, the sum is the area between the equator and the cell. */
    return fabs(turn) > CB_PI ? 2 * CB_PI - sum : sum;
}

static bool are_finite(const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return false;
    }
    return true;
}

/* Checks finite corners of cell `at` of the block. */
static cubed_status check_cell(const cubed_block_call *call, int64_t at, const double *lat,
                               const double *lon, int64_t n, cubed_error *err)
{
    const cubed_block *y = &call->out[0];
    cb_vec *corner = call->scratch;
    char cell[160];
    const int64_t far_lat = cb_degrees_find_far(lat, n, CB_MOST_LAT);
    const int64_t far_lon = far_lat < 0 ? cb_degrees_find_far(lon, n, CB_MOST_LON) : -1;
    if (far_lat >= 0 || far_lon >= 0) {
        const int64_t k = far_lat >= 0 ? far_lat : far_lon;
        const double most = far_lat >= 0 ? CB_MOST_LAT : CB_MOST_LON;
        cb_block_position(y, at, cell, sizeof cell);
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: bound of %s of cell %s%s%s, corner %" PRId64
                       ", is %g, " CB_DEGREES_EXPECTED,
                       far_lat >= 0 ? "latitude" : "longitude", y->ndim > 1 ? "(" : "", cell,
                       y->ndim > 1 ? ")" : "", k, far_lat >= 0 ? lat[k] : lon[k], most, most);
    }
    if (n < 4 || goes_around(lat, lon, n)) return CUBED_OK;
    for (int64_t i = 0; i < n; i++) corner[i] = cb_vec_of(lat[i], lon[i]);
    if (!cb_corners_cross(corner, cb_corners_distinct(corner, n))) return CUBED_OK;
    cb_block_position(y, at, cell, sizeof cell);
    return cb_fail(err, CUBED_E_ARG,
                   "gridarea: edges of cell %s%s%s cross, " CB_CORNERS_EXPECTED
                   ", or set them to NaN",
                   y->ndim > 1 ? "(" : "", cell, y->ndim > 1 ? ")" : "");
}

static cubed_status run_areas(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *y = &call->out[0];
    const int64_t n = call->in[0].shape[y->ndim], count = cb_block_extents(y, 0, y->ndim);
    const double *lat = call->in[0].data, *lon = call->in[1].data;
    double *area = y->data;
    (void)ctx;
    for (int64_t i = 0; i < count; i++, lat += n, lon += n) {
        if (i % 4096 == 0 && cubed_block_cancelled(call)) return CUBED_OK;
        const bool is_there = are_finite(lat, n) && are_finite(lon, n);
        if (is_there) CB_TRY(check_cell(call, i, lat, lon, n, err));
        if (area) area[i] = is_there ? polygon_area(lat, lon, n) : NAN;
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_cell_areas = {.name = "cell_areas",
                                            .check = check_areas,
                                            .need = need_areas,
                                            .run = run_areas,
                                            .divisible = true};

/* --- Degrees ------------------------------------------------------------------------------------------- */

static cubed_status check_degrees(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_degrees_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 1 || call->nout != 1) return mismatch(err);
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const int ndim = p->is_bound ? 2 : 1;
    bool same = x->dtype == CUBED_FLOAT64 && y->dtype == CUBED_FLOAT64 && x->ndim == ndim &&
                y->ndim == ndim;
    for (int d = 0; d < ndim && same; d++) same = x->shape[d] == y->shape[d];
    return same ? CUBED_OK : mismatch(err);
}

/* Returns the position of the first finite number that is not in ascending or descending order, or n. *before becomes the finite
 * number before this position. With `jumps`, numbers may jump by multiples of 360. */
static int64_t find_disorder(const double *v, int64_t n, bool jumps, double *before)
{
    int direction = 0;
    double last = NAN; /* the number before, shifted by a multiple of 360 */
    *before = NAN;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) continue;
        const bool is_first = isnan(last);
        const double now = jumps && !is_first ? last + shortest(v[i] - last) : v[i];
        const int step = is_first ? 0 : (now > last) - (now < last);
        if (!is_first && (step == 0 || step == -direction)) return i;
        direction = step;
        last = now;
        *before = v[i];
    }
    return n;
}

static cubed_status check_order(const double *v, int64_t n, bool is_lon, cubed_error *err)
{
    double before;
    int64_t at = find_disorder(v, n, false, &before);
    if (at < n && is_lon) at = find_disorder(v, n, true, &before);
    if (at == n) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "gridarea: %s %" PRId64 " is %.12g after %.12g, expected values in ascending or "
                   "descending order; sort them, or give %s_bounds",
                   is_lon ? "longitude" : "latitude", at, v[at], before, is_lon ? "lon" : "lat");
}

static cubed_status run_degrees(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_degrees_params *p = call->params;
    const cubed_block *x = &call->in[0];
    const double *v = x->data, most = p->is_lon ? CB_MOST_LON : CB_MOST_LAT;
    const int64_t n = cb_block_extents(x, 0, x->ndim);
    (void)ctx;
    const int64_t i = cb_degrees_find_far(v, n, most);
    if (i >= 0)
        return cb_fail(err, CUBED_E_ARG, "gridarea: %s%s %" PRId64 " is %g, " CB_DEGREES_EXPECTED,
                       p->is_bound ? "bound of " : "", p->is_lon ? "longitude" : "latitude",
                       p->is_bound ? i + x->offset[0] * x->shape[1] : i, v[i], most, most);
    if (!p->is_bound) CB_TRY(check_order(v, n, p->is_lon, err));
    if (call->out[0].data) memcpy(call->out[0].data, v, (size_t)n * sizeof *v);
    return CUBED_OK;
}

const cubed_block_fn cb_block_degrees = {
    .name = "degrees", .check = check_degrees, .run = run_degrees};
