/* Creates grids from coordinates: checks the coordinates, and computes bounds of regular grids. */
#include "grid/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/sphere.h"

static cubed_status check_numbers(const char *what, const double *v, int64_t n, double most,
                                  cubed_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(v[i]) <= most))
            return cb_fail(err, CUBED_E_ARG, "grid: %s %lld is %g, " CB_DEGREES_EXPECTED, what,
                           (long long)i, v[i], most, most);
    }
    return CUBED_OK;
}

const char *cb_grid_cell_text(int ndim, const int64_t *shape, int64_t i, char out[CB_GRID_CELL_CAP])
{
    if (ndim == 1)
        snprintf(out, CB_GRID_CELL_CAP, "%" PRId64, i);
    else
        snprintf(out, CB_GRID_CELL_CAP, "(%" PRId64 ", %" PRId64 ")", i / shape[1], i % shape[1]);
    return out;
}

/* Checks the coordinates of cells: the `corners` bounds of each cell, or the centre of each cell if `corners` is 0. */
static cubed_status check_cell_numbers(const cubed_grid_cells *c, const char *what, const double *v,
                                       int64_t n, int corners, double most, cubed_error *err)
{
    char at[CB_GRID_CELL_CAP], corner[32] = "";
    const int each = corners ? corners : 1;
    for (int64_t i = 0; i < n * each; i++) {
        if (fabs(v[i]) <= most) continue;
        if (corners) snprintf(corner, sizeof corner, ", corner %d,", (int)(i % each));
        return cb_fail(err, CUBED_E_ARG, "grid: %s of cell %s%s is %g, " CB_DEGREES_EXPECTED, what,
                       cb_grid_cell_text(c->ndim, c->shape, i / each, at), corner, v[i], most,
                       most);
    }
    return CUBED_OK;
}

static bool is_monotonic(const double *v, int64_t n)
{
    bool up = true, down = true;
    for (int64_t i = 1; i < n; i++) {
        up = up && v[i] > v[i - 1];
        down = down && v[i] < v[i - 1];
    }
    return up || down;
}

static cubed_status check_monotonic(const char *what, const double *v, int64_t n, cubed_error *err)
{
    for (int64_t i = 1; i < n; i++) {
        if (v[i] == v[i - 1] || (v[i] > v[i - 1]) != (v[1] > v[0]))
            return cb_fail(err, CUBED_E_ARG,
                           "grid: %s %lld is %.12g after %.12g, expected values in ascending or "
                           "descending order",
                           what, (long long)i, v[i], v[i - 1]);
    }
    return CUBED_OK;
}

static cubed_status check_cells(const cubed_grid_cells *c, int64_t *n, cubed_error *err)
{
    const int least = c->regular ? 2 : 3;
    if (c->ndim < 1 || c->ndim > 2 || (c->regular && c->ndim != 2))
        return cb_fail(err, CUBED_E_ARG, "grid: ndim is %d, expected %s", c->ndim,
                       c->regular ? "2 for a regular grid" : "1 or 2");
    for (int d = 0; d < c->ndim; d++) {
        if (c->shape[d] < 1)
            return cb_fail(err, CUBED_E_ARG, "grid: extent %d is %lld, expected at least 1", d,
                           (long long)c->shape[d]);
    }
    if (cb_count(c->ndim, c->shape, n) || *n > CB_GRID_MOST_CELLS)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "grid: more than %lld cells",
                       (long long)CB_GRID_MOST_CELLS);
    if (c->corners != 0 && (c->corners < least || (c->regular && c->corners != 2)))
        return cb_fail(err, CUBED_E_ARG, "grid: cells have %d bounds, expected %s", c->corners,
                       c->regular ? "2 along each axis" : "at least 3");
    if (!c->lat || !c->lon || (c->corners && (!c->lat_bounds || !c->lon_bounds)))
        return cb_fail(err, CUBED_E_ARG, "grid: latitudes, longitudes or bounds are NULL");
    const int64_t nlat = c->regular ? c->shape[0] : *n, nlon = c->regular ? c->shape[1] : *n;
    if (c->corners > 0 &&
        (nlat > INT64_MAX / 16 / c->corners || nlon > INT64_MAX / 16 / c->corners))
        return cb_fail(err, CUBED_E_UNSUPPORTED, "grid: cells have %d bounds", c->corners);
    if (!c->regular) {
        CB_TRY(check_cell_numbers(c, "latitude", c->lat, *n, 0, CB_MOST_LAT, err));
        CB_TRY(check_cell_numbers(c, "longitude", c->lon, *n, 0, CB_MOST_LON, err));
        if (c->corners == 0) return CUBED_OK;
        CB_TRY(check_cell_numbers(c, "bound of latitude", c->lat_bounds, *n, c->corners,
                                  CB_MOST_LAT, err));
        return check_cell_numbers(c, "bound of longitude", c->lon_bounds, *n, c->corners,
                                  CB_MOST_LON, err);
    }
    CB_TRY(check_numbers("latitude", c->lat, nlat, CB_MOST_LAT, err));
    CB_TRY(check_numbers("longitude", c->lon, nlon, CB_MOST_LON, err));
    if (c->corners) {
        CB_TRY(
            check_numbers("bound of latitude", c->lat_bounds, nlat * c->corners, CB_MOST_LAT, err));
        CB_TRY(check_numbers("bound of longitude", c->lon_bounds, nlon * c->corners, CB_MOST_LON,
                             err));
    }
    return check_monotonic("latitude", c->lat, nlat, err);
}

static double clamp_lat(double v) { return fmin(90, fmax(-90, v)); }

/* Sets bounds midway between at least two centres. The outermost cells extend as far outwards as inwards. */
static void midway(const double *v, int64_t n, double *bounds)
{
    for (int64_t i = 0; i < n; i++) {
        const double before = i > 0 ? v[i] - v[i - 1] : v[1] - v[0];
        const double after = i < n - 1 ? v[i + 1] - v[i] : before;
        bounds[2 * i] = i > 0 ? v[i - 1] + before / 2 : v[i] - before / 2;
        bounds[2 * i + 1] = v[i] + after / 2;
    }
}

/* Extends an outermost cell to the pole if the centre of a further neighbour would be beyond the pole. */
static void reach_poles(const double *v, int64_t n, double *bounds)
{
    for (int end = 0; end < 2; end++) {
        const int64_t i = end ? n - 1 : 0;
        const double step = end ? v[n - 1] - v[n - 2] : v[0] - v[1];
        if (fabs(v[i] + step) > 90) bounds[2 * i + end] = step > 0 ? 90 : -90;
    }
}

/* Adds multiples of 360 to longitudes that jump within an axis, such as 179, -180. Bounds are moved with their centres. */
static void unwrap(cubed_grid *g, bool bounds)
{
    const int64_t n = g->shape[1];
    const bool jumps = !is_monotonic(g->lon, n);
    for (int64_t i = 1; jumps && i < n; i++)
        g->lon[i] += 360 * round((g->lon[i - 1] - g->lon[i]) / 360);
    for (int64_t k = 0; bounds && k < 2 * n; k++) {
        const double off = g->lon[k / 2] - g->lon_bounds[k];
        if (fabs(off) > 180 + 1e-9) g->lon_bounds[k] += 360 * round(off / 360);
    }
}

/* Returns true if the cells cover 360 degrees. The tolerance allows for longitudes that were stored as float32. */
static bool goes_around(const cubed_grid *g)
{
    const int64_t n = g->shape[1];
    const double *b = g->lon_bounds;
    double turn = 0;
    for (int64_t i = 0; b && i < n; i++) turn += fabs(b[2 * i + 1] - b[2 * i]);
    return fabs(turn - 360) < 1e-3 * 360 / (double)n;
}

static double *copy(cb_zone *zone, const double *v, int64_t n)
{
    return cb_zone_memdup(zone, v, (size_t)n * sizeof *v);
}

static cubed_status fill(cubed_grid *g, const cubed_grid_cells *c, cubed_error *err)
{
    const int64_t nlat = c->regular ? c->shape[0] : g->n, nlon = c->regular ? c->shape[1] : g->n;
    g->lat = copy(g->zone, c->lat, nlat);
    g->lon = copy(g->zone, c->lon, nlon);
    if (c->corners) {
        g->lat_bounds = copy(g->zone, c->lat_bounds, nlat * c->corners);
        g->lon_bounds = copy(g->zone, c->lon_bounds, nlon * c->corners);
    } else if (g->corners) {
        g->lat_bounds = cb_zone_alloc(g->zone, (size_t)nlat * 2 * sizeof *g->lat);
        g->lon_bounds = cb_zone_alloc(g->zone, (size_t)nlon * 2 * sizeof *g->lat);
    }
    if (c->mask) g->mask = cb_zone_memdup(g->zone, c->mask, (size_t)g->n * sizeof *c->mask);
    if (!g->lat || !g->lon || (c->mask && !g->mask) ||
        ((g->corners > 0) && (!g->lat_bounds || !g->lon_bounds)))
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a grid of %lld cells", (long long)g->n);
    if (c->regular) {
        unwrap(g, c->corners > 0);
        CB_TRY(check_monotonic("longitude", g->lon, nlon, err));
    }
    if (g->corners && !c->corners) {
        midway(g->lat, nlat, g->lat_bounds);
        reach_poles(g->lat, nlat, g->lat_bounds);
        midway(g->lon, nlon, g->lon_bounds);
    }
    const int64_t ncorners = g->corners ? nlat * g->corners : 0;
    for (int64_t i = 0; i < nlat; i++) g->lat[i] = clamp_lat(g->lat[i]);
    for (int64_t i = 0; i < ncorners; i++) g->lat_bounds[i] = clamp_lat(g->lat_bounds[i]);
    g->circular = g->regular && goes_around(g);
    return CUBED_OK;
}

cubed_status cubed_grid_new(cubed_context *ctx, const cubed_grid_cells *cells, cubed_grid **out,
                            cubed_error *err)
{
    cubed_grid_cells taken = CUBED_GRID_CELLS_INIT;
    cb_zone *zone;
    int64_t n = 0;
    CB_TRY(CB_OPTIONS_TAKE("cubed_grid_new", cells, &taken, err));
    CB_TRY(check_cells(&taken, &n, err));
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_grid *g = cb_zone_alloc(zone, sizeof *g);
    cubed_status st = CUBED_OK;
    if (!g) {
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: a grid");
        goto out;
    }
    /* The bounds of an axis with one cell cannot be computed, because its width is unknown. */
    const bool wide = taken.regular && taken.shape[0] > 1 && taken.shape[1] > 1;
    *g = (cubed_grid){.alloc = &ctx->alloc,
                      .zone = zone,
                      .regular = taken.regular,
                      .ndim = taken.ndim,
                      .corners = wide ? 2 : taken.corners,
                      .shape = {taken.shape[0], taken.ndim > 1 ? taken.shape[1] : 1},
                      .n = n};
    CB_GO(fill(g, &taken, err));
    *out = g;
out:
    if (st != CUBED_OK) cb_zone_free(zone);
    return st;
}

void cubed_grid_free(cubed_grid *grid)
{
    if (grid) cb_zone_free(grid->zone);
}

cubed_status cubed_grid_get(const cubed_grid *grid, cubed_grid_cells *out, cubed_error *err)
{
    cubed_grid_cells found = {.struct_size = sizeof found,
                              .regular = grid->regular,
                              .ndim = grid->ndim,
                              .shape = {grid->shape[0], grid->shape[1]},
                              .lat = grid->lat,
                              .lon = grid->lon,
                              .corners = grid->corners,
                              .lat_bounds = grid->lat_bounds,
                              .lon_bounds = grid->lon_bounds,
                              .mask = grid->mask};
    if (out->struct_size < sizeof found)
        return cb_fail(err, CUBED_E_ARG, "cubed_grid_get: struct_size is %zu, expected %zu",
                       out->struct_size, sizeof found);
    *out = found;
    return CUBED_OK;
}
