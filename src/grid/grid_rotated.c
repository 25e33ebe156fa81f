/* Grids whose axes are latitudes and longitudes about a rotated pole (CF conventions, appendix F: rotated_latitude_longitude). */
#include <math.h>

#include "base/error.h"
#include "block/sphere.h"
#include "grid/grid.h"

/* Sines and cosines of the pole. */
typedef struct rotation {
    double sin_lat, cos_lat, sin_lon, cos_lon;
    double grid_lon; /* longitude of the earth's north pole in the rotated grid, in degrees */
} rotation;

/* Converts a latitude and a longitude of the rotated grid to a latitude and a longitude on the earth. All are in degrees. */
static void unrotate(const rotation *r, double at_lat, double at_lon, double *lat, double *lon)
{
    const double phi = at_lat * CB_DEGREE, lambda = (at_lon - r->grid_lon) * CB_DEGREE;
    const double x = cos(phi) * cos(lambda), y = cos(phi) * sin(lambda), z = sin(phi);
    /* component in the direction of the pole's meridian */
    const double along = r->cos_lat * z - r->sin_lat * x;
    const double up = fmin(1, fmax(-1, r->cos_lat * x + r->sin_lat * z));
    *lat = asin(up) / CB_DEGREE;
    *lon =
        atan2(r->sin_lon * along - r->cos_lon * y, r->cos_lon * along + r->sin_lon * y) / CB_DEGREE;
}

/* Fills the numbers of cells on the earth from a regular grid of rotated axes. */
static void fill(const rotation *r, const cubed_grid *axes, double *lat, double *lon,
                 double *lat_bounds, double *lon_bounds)
{
    const int64_t width = axes->shape[1];
    for (int64_t i = 0; i < axes->n; i++) {
        const int64_t j = i / width, k = i % width;
        unrotate(r, axes->lat[j], axes->lon[k], &lat[i], &lon[i]);
        for (int corner = 0; corner < 4 && lat_bounds; corner++) {
            const bool second_lat = corner >= 2, second_lon = corner == 1 || corner == 2;
            unrotate(r, axes->lat_bounds[2 * j + second_lat], axes->lon_bounds[2 * k + second_lon],
                     &lat_bounds[4 * i + corner], &lon_bounds[4 * i + corner]);
        }
    }
}

static cubed_status check_pole(const double pole[3], cubed_error *err)
{
    static const char *const names[3] = {"grid_north_pole_latitude", "grid_north_pole_longitude",
                                         "north_pole_grid_longitude"};
    static const double most[3] = {90, 3600, 3600};
    for (int i = 0; i < 3; i++) {
        if (fabs(pole[i]) <= most[i]) continue;
        if (isnan(pole[i]))
            return cb_fail(err, CUBED_E_ARG,
                           "grid: the grid mapping of the rotated pole has no number %s, expected "
                           "degrees",
                           names[i]);
        return cb_fail(err, CUBED_E_ARG,
                       "grid: %s of the rotated pole is %g, expected degrees from %g to %g",
                       names[i], pole[i], -most[i], most[i]);
    }
    return CUBED_OK;
}

cubed_status cubed_grid_new_rotated(cubed_context *ctx, const cubed_grid_cells *cells,
                                    const double pole[3], cubed_grid **out, cubed_error *err)
{
    if (!pole) return cubed_grid_new(ctx, cells, out, err);
    cubed_grid *axes = NULL;
    cb_zone *zone = NULL;
    CB_TRY(check_pole(pole, err));
    CB_TRY(cubed_grid_new(ctx, cells, &axes, err));
    cubed_status st = CUBED_OK;
    if (!axes->regular) {
        st = cb_fail(err, CUBED_E_ARG, "grid: rotated cells are not regular, expected two axes");
        goto out;
    }
    const rotation r = {sin(pole[0] * CB_DEGREE), cos(pole[0] * CB_DEGREE),
                        sin(pole[1] * CB_DEGREE), cos(pole[1] * CB_DEGREE), pole[2]};
    const size_t n = (size_t)axes->n, corners = axes->corners ? 4 : 0;
    CB_GO(cb_zone_new(&ctx->alloc, &zone, err));
    double *numbers = cb_zone_alloc(zone, (2 + 2 * corners) * n * sizeof *numbers);
    if (!numbers) {
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: a grid of %lld cells", (long long)n);
        goto out;
    }
    double *bounds = corners ? numbers + 2 * n : NULL;
    fill(&r, axes, numbers, numbers + n, bounds, bounds ? bounds + corners * n : NULL);
    const cubed_grid_cells made = {.struct_size = sizeof made,
                                   .regular = false,
                                   .ndim = 2,
                                   .shape = {axes->shape[0], axes->shape[1]},
                                   .lat = numbers,
                                   .lon = numbers + n,
                                   .corners = (int)corners,
                                   .lat_bounds = bounds,
                                   .lon_bounds = bounds ? bounds + corners * n : NULL,
                                   .mask = axes->mask};
    CB_GO(cubed_grid_new(ctx, &made, out, err));
out:
    if (zone) cb_zone_free(zone);
    cubed_grid_free(axes);
    return st;
}
