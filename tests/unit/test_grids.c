/* Horizontal grids: names, descriptions, numbers, arrays, masks, rotated poles; and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/remap.h"

static cubed_context *ctx;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cubed_context_unref(ctx);
    return 0;
}

/* --- Text ---------------------------------------------------------------------------------------------- */

static cubed_grid *parse(const char *text, cubed_grid_cells *cells)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_grid *grid = NULL;
    if (cubed_grid_parse(ctx, text, &grid, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
    *cells = (cubed_grid_cells)CUBED_GRID_CELLS_INIT;
    assert_int_equal(cubed_grid_get(grid, cells, NULL), CUBED_OK);
    return grid;
}

static void check_numbers(const char *what, const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(got[i] - want[i]) < 1e-12))
            fail_msg("%s %lld is %.17g, expected %.17g", what, (long long)i, got[i], want[i]);
    }
}

/* Checks the axes of the grid that a text names. lat_bounds and lon_bounds are NULL if the grid has no bounds. */
static void check_axes(const char *text, int64_t ny, int64_t nx, const double *lat,
                       const double *lon, const double *lat_bounds, const double *lon_bounds)
{
    cubed_grid_cells c;
    cubed_grid *grid = parse(text, &c);
    assert_true(c.regular);
    assert_int_equal(c.ndim, 2);
    assert_int_equal(c.shape[0], ny);
    assert_int_equal(c.shape[1], nx);
    check_numbers("latitude", c.lat, lat, ny);
    check_numbers("longitude", c.lon, lon, nx);
    assert_int_equal(c.corners, lat_bounds ? 2 : 0);
    if (lat_bounds) {
        check_numbers("bound of latitude", c.lat_bounds, lat_bounds, 2 * ny);
        check_numbers("bound of longitude", c.lon_bounds, lon_bounds, 2 * nx);
    }
    cubed_grid_free(grid);
}

static void test_names(void **state)
{
    (void)state;
    check_axes("r2x3", 3, 2, (double[]){-90, 0, 90}, (double[]){0, 180},
               (double[]){-90, -45, -45, 45, 45, 90}, (double[]){-90, 90, 90, 270});
    check_axes("r4x2", 2, 4, (double[]){-45, 45}, (double[]){0, 90, 180, 270},
               (double[]){-90, 0, 0, 90}, (double[]){-45, 45, 45, 135, 135, 225, 225, 315});
    check_axes("r1x1", 1, 1, (double[]){0}, (double[]){0}, (double[]){-90, 90},
               (double[]){-180, 180});
    check_axes("global_90", 2, 4, (double[]){-45, 45}, (double[]){-135, -45, 45, 135},
               (double[]){-90, 0, 0, 90}, (double[]){-180, -90, -90, 0, 0, 90, 90, 180});
    check_axes("lon=-10.5_lat=50", 1, 1, (double[]){50}, (double[]){-10.5}, NULL, NULL);
    /* Gaussian latitudes are the arcsines of roots of Legendre polynomials: 1 / sqrt(3) for degree 2; those of degree 4
     * follow. */
    const double two = asin(1 / sqrt(3)) * 180 / acos(-1);
    check_axes("n1", 2, 4, (double[]){two, -two}, (double[]){0, 90, 180, 270},
               (double[]){90, 0, 0, -90}, (double[]){-45, 45, 45, 135, 135, 225, 225, 315});
    const double inner = asin(sqrt(3. / 7 - 2. / 7 * sqrt(1.2))) * 180 / acos(-1);
    const double outer = asin(sqrt(3. / 7 + 2. / 7 * sqrt(1.2))) * 180 / acos(-1);
    cubed_grid_cells c;
    cubed_grid *grid = parse("F2", &c);
    check_numbers("latitude", c.lat, (double[]){outer, inner, -inner, -outer}, 4);
    assert_int_equal(c.shape[1], 8);
    cubed_grid_free(grid);
}

static void test_descriptions(void **state)
{
    (void)state;
    check_axes("gridtype = lonlat\n# a comment\nxsize=3 # three\nysize= 2\nxfirst = 10\nxinc=5\n"
               "yvals = 0\n  30 # and no more\n",
               2, 3, (double[]){0, 30}, (double[]){10, 15, 20}, (double[]){-15, 15, 15, 45},
               (double[]){7.5, 12.5, 12.5, 17.5, 17.5, 22.5});
    check_axes("gridtype = \"latlon\"\nxsize=2\nysize=2\nxvals=0,1.5707963267948966\n"
               "xunits = radians\nyvals=-10 20\nyunits = \"degrees_north\"\n"
               "ybounds = -20 0 0 50\nxbounds = 0 1 1 2\n",
               2, 2, (double[]){-10, 20}, (double[]){0, 90}, (double[]){-20, 0, 0, 50},
               (double[]){0, 180 / acos(-1), 180 / acos(-1), 360 / acos(-1)});
    const double two = asin(1 / sqrt(3)) * 180 / acos(-1);
    check_axes("gridtype = gaussian\nxsize = 4\nysize = 2\n", 2, 4, (double[]){two, -two},
               (double[]){0, 90, 180, 270}, (double[]){90, 0, 0, -90},
               (double[]){-45, 45, 45, 135, 135, 225, 225, 315});
    check_axes("gridtype = gaussian\nxsize = 2\nysize = 3\nyvals = 60 0 -60\nxfirst=5\nxinc=10\n",
               3, 2, (double[]){60, 0, -60}, (double[]){5, 15},
               (double[]){90, 30, 30, -30, -30, -90}, (double[]){0, 10, 10, 20});
}

static void test_described_cells(void **state)
{
    (void)state;
    cubed_grid_cells c;
    cubed_grid *grid = parse("gridtype = curvilinear\nxsize=2\nysize=1\nxvals=1 2\nyvals=3 4\n"
                             "xbounds = 0 2 2 0  1 3 3 1\nybounds = 2 2 4 4  3 3 5 5\nmask = 1 0\n",
                             &c);
    assert_false(c.regular);
    assert_int_equal(c.ndim, 2);
    assert_int_equal(c.shape[0], 1);
    assert_int_equal(c.shape[1], 2);
    assert_int_equal(c.corners, 4);
    check_numbers("latitude", c.lat, (double[]){3, 4}, 2);
    check_numbers("longitude", c.lon, (double[]){1, 2}, 2);
    check_numbers("bound", c.lat_bounds, (double[]){2, 2, 4, 4, 3, 3, 5, 5}, 8);
    check_numbers("bound", c.lon_bounds, (double[]){0, 2, 2, 0, 1, 3, 3, 1}, 8);
    assert_true(c.mask[0]);
    assert_false(c.mask[1]);
    cubed_grid_free(grid);
    grid = parse("gridtype = unstructured\ngridsize=3\nnvertex=3\nxvals=1 2 3\nyvals=3 4 5\n"
                 "xbounds = 0 1 2\n 1 2 3\n 2 3 4\nybounds = 3 4 3  4 5 4  5 6 5\n",
                 &c);
    assert_int_equal(c.ndim, 1);
    assert_int_equal(c.shape[0], 3);
    assert_int_equal(c.corners, 3);
    assert_null(c.mask);
    check_numbers("bound", c.lon_bounds, (double[]){0, 1, 2, 1, 2, 3, 2, 3, 4}, 9);
    cubed_grid_free(grid);
    grid = parse("gridtype = cell\nxsize=2\nxvals=1 2\nyvals=3 4\n", &c);
    assert_int_equal(c.shape[0], 2);
    assert_int_equal(c.corners, 0);
    cubed_grid_free(grid);
}

static void refuse_text(const char *text, const char *words)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_grid *grid = NULL;
    const cubed_status st = cubed_grid_parse(ctx, text, &grid, &err);
    if (st == CUBED_OK || !strstr(err.message, words))
        fail_msg("%s: status %d, \"%s\", expected \"%s\"", text, st, err.message, words);
    assert_null(grid);
}

static void test_refused_texts(void **state)
{
    (void)state;
    static const char *const list[][2] = {
        {"r0x3", "grid: 0 longitudes and 3 latitudes, expected at least one each"},
        {"r99999x99999", "grid: 99999 longitudes and 99999 latitudes"},
        {"r1234567890x3", "\"r1234567890x3\" is not a grid"},
        {"r3x", "\"r3x\" is not a grid"},
        {"gridtype = gaussian\nxsize = 1\nysize = 20001\n",
         "grid: 20001 Gaussian latitudes, expected at most 20000"},
        {"global_0.0001", "steps of 0.0001 degrees, expected from 0.001 to 180"},
        {"global_x", "\"global_x\" is not a grid"},
        {"lon=1_lat=", "\"lon=1_lat=\" is not a grid"},
        {"lon=1_lat=91", "grid: latitude 0 is 91, expected degrees from -90"},
        {"lon=nan_lat=1", "grid: longitude 0 is nan"},
        {"gridtype", "\"gridtype\" is not a grid"},
        {"mygridtype = lonlat", "grid description: gridtype is missing"},
        {"gridtype = projection\n", "gridtype is \"projection\", expected lonlat, gaussian"},
        {"gridtype = lonlat\nxsize = two\n", "grid description: xsize is not a number"},
        {"gridtype = lonlat\nxsize = 1 2\n", "grid description: xsize is not a number"},
        {"gridtype = lonlat\nxsize = -1\n", "xsize is -1, expected a whole number"},
        {"gridtype = lonlat\nxsize = 1.5\n", "xsize is 1.5, expected a whole number"},
        {"gridtype = lonlat\nxsize = 2\n", "grid: 2 longitudes and 0 latitudes"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\n",
         "expected yvals, or yfirst and yinc, got neither"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\nyvals = 1 2\nxfirst = 1\n",
         "expected xvals, or xfirst and xinc, got neither"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\nyvals = 1 2 3\n",
         "yvals has more than 2 numbers, expected 2"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\nyvals = 1\n", "yvals has 1 numbers, expected 2"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\nyvals = a b\n",
         "yvals has 0 numbers, expected 2"},
        {"gridtype = lonlat\nxsize = 2\nysize = 2\nyvals = 1 2\nyunits = m\n",
         "yunits is \"m\", expected degrees or radians"},
        {"gridtype = lonlat\nxsize = 3\nysize = 1\nyvals = 1\nxvals = 0 2 1\n",
         "grid: longitude 2 is 1 after 2, expected values in ascending or descending order"},
        {"gridtype = lonlat\nxsize = 1\nysize = 3\nyvals = 1 0 0\nxvals = 0\n",
         "grid: latitude 2 is 0 after 0"},
        {"gridtype = curvilinear\nxsize = 2\n", "xsize is 2 and ysize 0, expected positive"},
        {"gridtype = curvilinear\nxsize = 2\nysize = 2\ngridsize = 5\n",
         "gridsize is 5, expected xsize * ysize, 4"},
        {"gridtype = unstructured\ngridsize = 2\nxvals = 1 2\nyvals = 1 91\n",
         "latitude of cell 1 is 91, expected"},
        {"gridtype = curvilinear\nxsize = 1\nysize = 2\nxvals = 1 2\nyvals = 1 -91\n",
         "latitude of cell (1, 0) is -91"},
        {"gridtype = unstructured\ngridsize = 1\nxvals = 1\nyvals = 1\nnvertex = 65\n",
         "nvertex is 65, expected 3 to 64"},
        {"gridtype = unstructured\ngridsize = 1\nxvals = 1\nyvals = 1\nnvertex = 2\n"
         "xbounds = 1 2\nybounds = 1 2\n",
         "grid: cells have 2 bounds, expected at least 3"},
        {"gridtype = unstructured\ngridsize = 1\nxvals = 1\nyvals = 1\nmask = 1 0\n",
         "mask has more than 1 numbers, expected 1"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) refuse_text(list[i][0], list[i][1]);
    static const char key[] = "k = 1\n";
    char many[64 * sizeof key + 32] = "gridtype = lonlat\n";
    for (size_t i = 0, at = strlen(many); i < 64; i++, at += sizeof key - 1)
        memcpy(many + at, key, sizeof key);
    refuse_text(many, "grid description: more than 64 keys");
}

/* --- Numbers ------------------------------------------------------------------------------------------- */

static void refuse_cells(cubed_grid_cells cells, cubed_status status, const char *words)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_grid *grid = NULL;
    const cubed_status st = cubed_grid_new(ctx, &cells, &grid, &err);
    if (st != status || !strstr(err.message, words))
        fail_msg("status %d, \"%s\", expected %d, \"%s\"", st, err.message, status, words);
}

static void test_numbers(void **state)
{
    (void)state;
    static const double lat[] = {60, 0, -60}, lon[] = {179, -180, -179}, far[] = {0, 1, 3601};
    static const double rounded[] = {90 + 1e-7, 0, -90 - 1e-7};
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT, got = CUBED_GRID_CELLS_INIT;
    c.shape[0] = c.shape[1] = 3;
    refuse_cells(c, CUBED_E_ARG, "grid: latitudes, longitudes or bounds are NULL");
    c.lat = lat;
    c.lon = far;
    refuse_cells(c, CUBED_E_ARG, "grid: longitude 2 is 3601, expected degrees from -3600 to 3600");
    c.lon = lon;
    c.ndim = 1;
    refuse_cells(c, CUBED_E_ARG, "grid: ndim is 1, expected 2 for a regular grid");
    c.regular = false;
    c.ndim = 3;
    refuse_cells(c, CUBED_E_ARG, "grid: ndim is 3, expected 1 or 2");
    c = (cubed_grid_cells)CUBED_GRID_CELLS_INIT;
    c.lat = lat;
    c.lon = lon;
    c.shape[0] = 3;
    refuse_cells(c, CUBED_E_ARG, "grid: extent 1 is 0, expected at least 1");
    c.shape[1] = INT32_MAX;
    refuse_cells(c, CUBED_E_UNSUPPORTED, "grid: more than 2147483647 cells");
    c.shape[1] = 3;
    c.corners = 3;
    refuse_cells(c, CUBED_E_ARG, "grid: cells have 3 bounds, expected 2 along each axis");
    c.corners = 2;
    refuse_cells(c, CUBED_E_ARG, "grid: latitudes, longitudes or bounds are NULL");
    static const double bounds[] = {91, 0, 0, 0, 0, 0};
    c.lat_bounds = c.lon_bounds = bounds;
    refuse_cells(c, CUBED_E_ARG, "grid: bound of latitude 0 is 91");
    /* Longitudes that jump at the date line, and latitudes that exceed the poles by rounding. */
    c.corners = 0;
    c.lat = rounded;
    cubed_grid *grid = NULL;
    assert_int_equal(cubed_grid_new(ctx, &c, &grid, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &got, NULL), CUBED_OK);
    check_numbers("longitude", got.lon, (double[]){179, 180, 181}, 3);
    check_numbers("bound", got.lon_bounds, (double[]){178.5, 179.5, 179.5, 180.5, 180.5, 181.5}, 6);
    assert_true(got.lat[0] == 90 && got.lat[2] == -90);
    check_numbers("bound", got.lat_bounds,
                  (double[]){90, 45 + 5e-8, 45 + 5e-8, -45 - 5e-8, -45 - 5e-8, -90}, 6);
    cubed_error err = CUBED_ERROR_INIT;
    got.struct_size = 8;
    assert_int_equal(cubed_grid_get(grid, &got, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "cubed_grid_get: struct_size is 8"));
    cubed_grid_free(grid);
    cubed_grid_free(NULL);
}

/* --- Rotated poles ------------------------------------------------------------------------------------- */

static void test_rotated(void **state)
{
    (void)state;
    /* EURO-CORDEX: the origin of the rotated grid is at 50.75 N, 18 E, and its pole at 39.25 N, 162 W. */
    static const double lat[] = {0, 90}, lon[] = {0, 180};
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT, got = CUBED_GRID_CELLS_INIT;
    cubed_grid *grid = NULL;
    c.shape[0] = c.shape[1] = 2;
    c.lat = lat;
    c.lon = lon;
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){39.25, -162, 0}, &grid, NULL),
                     CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &got, NULL), CUBED_OK);
    assert_false(got.regular);
    assert_int_equal(got.ndim, 2);
    assert_int_equal(got.corners, 4);
    check_numbers("latitude", got.lat, (double[]){50.75, -50.75, 39.25, 39.25}, 4);
    check_numbers("longitude", got.lon, (double[]){18, -162, -162, -162}, 4);
    cubed_grid_free(grid);
    /* If the pole is not rotated, cells keep their latitudes. north_pole_grid_longitude then only shifts longitudes. */
    c.lat = (double[]){10, 20};
    c.lon = (double[]){30, 40};
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){90, 180, 5}, &grid, NULL),
                     CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &got, NULL), CUBED_OK);
    check_numbers("latitude", got.lat, (double[]){10, 10, 20, 20}, 4);
    check_numbers("longitude", got.lon, (double[]){25, 35, 25, 35}, 4);
    check_numbers("bound", got.lat_bounds, (double[]){5, 5, 15, 15}, 4);
    check_numbers("bound", got.lon_bounds, (double[]){20, 30, 30, 20}, 4);
    cubed_grid_free(grid);
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, NULL, &grid, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &got, NULL), CUBED_OK);
    assert_true(got.regular);
    cubed_grid_free(grid);
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){91, 0, 0}, &grid, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "grid_north_pole_latitude of the rotated pole is 91"));
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){0, NAN, 0}, &grid, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "has no number grid_north_pole_longitude"));
    c.regular = false;
    c.lat = c.lon = (double[]){1, 2, 3, 4};
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){45, 0, 0}, &grid, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "rotated cells are not regular, expected two axes"));
}

/* --- Arrays -------------------------------------------------------------------------------------------- */

static cubed_array *array_of(cubed_dtype dtype, int ndim, const int64_t *shape, const void *data)
{
    cubed_array *x;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, ndim, shape, NULL, NULL, data, &x, NULL),
                     CUBED_OK);
    return x;
}

static void refuse_arrays(cubed_array *const a[4], bool unstructured, cubed_status status,
                          const char *words)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_grid *grid = NULL;
    const cubed_status st =
        cubed_grid_from_arrays(a[0], a[1], a[2], a[3], unstructured, &grid, &err);
    if (st != status || !strstr(err.message, words))
        fail_msg("status %d, \"%s\", expected %d, \"%s\"", st, err.message, status, words);
}

static void test_arrays(void **state)
{
    (void)state;
    static const float lat[] = {10, 20}, lon[] = {30, 40};
    static const double bounds[] = {5, 15, 15, 25}, lon_bounds[] = {25, 35, 35, 45};
    static const int64_t two[] = {2, 2}, n3[] = {3}, corners[] = {2, 1};
    cubed_array *y = array_of(CUBED_FLOAT32, 1, two, lat);
    cubed_array *x = array_of(CUBED_FLOAT32, 1, two, lon);
    cubed_array *yb = array_of(CUBED_FLOAT64, 2, two, bounds);
    cubed_array *xb = array_of(CUBED_FLOAT64, 2, two, lon_bounds);
    cubed_array *whole = array_of(CUBED_INT32, 1, two, lat), *lazy;
    cubed_array *three = array_of(CUBED_FLOAT32, 1, n3, (float[]){1, 2, 3});
    cubed_array *one = array_of(CUBED_FLOAT64, 2, corners, bounds), *out[4], *mask = NULL;
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    cubed_grid *grid = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cubed_elementwise(CUBED_OP_NEGATIVE, &y, 1, &lazy, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_from_arrays(y, x, yb, xb, false, &grid, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &c, NULL), CUBED_OK);
    assert_true(c.regular);
    check_numbers("latitude", c.lat, (double[]){10, 20}, 2);
    check_numbers("bound", c.lon_bounds, lon_bounds, 4);
    assert_int_equal(cubed_grid_arrays(ctx, grid, out, NULL), CUBED_OK);
    assert_int_equal(cubed_array_ndim(out[2]), 2);
    assert_int_equal(cubed_array_shape(out[2])[1], 2);
    for (int i = 0; i < 4; i++) cubed_array_unref(out[i]);

    /* A new grid has no mask. Then a mask with the shape of arrays on the grid is set. */
    static const bool used[] = {true, false, true, true};
    assert_int_equal(cubed_grid_mask(ctx, grid, &mask, NULL), CUBED_OK);
    assert_null(mask);
    assert_int_equal(cubed_grid_set_mask(grid, whole, &err), CUBED_E_TYPE);
    assert_non_null(strstr(err.message, "grid: the mask is int32, expected bool"));
    cubed_array *flat = array_of(CUBED_BOOL, 1, two, used);
    assert_int_equal(cubed_grid_set_mask(grid, flat, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "grid: the mask has shape (2), expected (2, 2)"));
    cubed_array_unref(flat);
    flat = array_of(CUBED_BOOL, 2, two, used);
    cubed_array *inverse;
    assert_int_equal(cubed_elementwise(CUBED_OP_LOGICAL_NOT, &flat, 1, &inverse, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_set_mask(grid, inverse, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "grid: the mask is lazy"));
    assert_int_equal(cubed_grid_set_mask(grid, flat, &err), CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &c, NULL), CUBED_OK);
    assert_memory_equal(c.mask, used, sizeof used);
    assert_int_equal(cubed_grid_mask(ctx, grid, &mask, NULL), CUBED_OK);
    assert_int_equal(cubed_array_ndim(mask), 2);
    cubed_array_unref(mask);
    cubed_array_unref(inverse);
    cubed_array_unref(flat);
    cubed_grid_free(grid);

    assert_int_equal(cubed_grid_from_arrays(y, x, NULL, NULL, true, &grid, NULL), CUBED_OK);
    assert_int_equal(cubed_grid_get(grid, &c, NULL), CUBED_OK);
    assert_int_equal(c.ndim, 1);
    assert_int_equal(cubed_grid_arrays(ctx, grid, out, NULL), CUBED_OK);
    assert_int_equal(cubed_array_shape(out[3])[1], 0); /* without bounds */
    for (int i = 0; i < 4; i++) cubed_array_unref(out[i]);
    cubed_grid_free(grid);

    refuse_arrays((cubed_array *[]){y, whole, NULL, NULL}, false, CUBED_E_TYPE,
                  "the type is int32, expected float64");
    refuse_arrays((cubed_array *[]){lazy, x, NULL, NULL}, false, CUBED_E_ARG,
                  "the array is lazy, expected elements in memory");
    refuse_arrays((cubed_array *[]){y, xb, NULL, NULL}, false, CUBED_E_ARG,
                  "grid: latitudes have 1 dimensions and longitudes 2, expected 1 or 2");
    refuse_arrays((cubed_array *[]){yb, xb, NULL, NULL}, true, CUBED_E_ARG,
                  "grid: latitudes have 2 dimensions and longitudes 2, expected 1");
    refuse_arrays((cubed_array *[]){y, three, NULL, NULL}, true, CUBED_E_ARG,
                  "grid: axis 0 has 2 latitudes and 3 longitudes, expected equal numbers");
    refuse_arrays((cubed_array *[]){y, x, yb, one}, false, CUBED_E_ARG,
                  "a last axis with 2 corners");
    cubed_array *const all[] = {x, y, xb, yb, whole, lazy, three, one};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cubed_array_unref(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_described_cells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rotated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
