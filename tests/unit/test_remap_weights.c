/* Compares weights of every method with searches over all cells, with formulas, and with each other. Tests masks and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/remap.h"
#include "failing_allocator.h"

static cubed_context *ctx;
static const double degree = 3.14159265358979323846 / 180;

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

/* --- Grids --------------------------------------------------------------------------------------------- */

static cubed_grid *named(const char *name)
{
    cubed_grid *grid;
    assert_int_equal(cubed_grid_parse(ctx, name, &grid, NULL), CUBED_OK);
    return grid;
}

static cubed_grid_cells cells_of(const cubed_grid *grid)
{
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    assert_int_equal(cubed_grid_get(grid, &c, NULL), CUBED_OK);
    return c;
}

/* Makes a grid of cells, and then frees `from`, whose numbers `cells` may use. */
static cubed_grid *made(const cubed_grid_cells *cells, cubed_grid *from)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_grid *grid = NULL;
    if (cubed_grid_new(ctx, cells, &grid, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_grid_free(from);
    return grid;
}

static cubed_grid *masked(const char *name, const bool *mask)
{
    cubed_grid *grid = named(name);
    cubed_grid_cells c = cells_of(grid);
    c.mask = mask;
    return made(&c, grid);
}

/* Makes a grid of the cells of a regular grid with their corners, in one or two dimensions. There are at most MOST cells. */
enum { MOST = 1024 };
static cubed_grid *as_cells(const char *name, int ndim)
{
    static double lat[MOST], lon[MOST], lat_bounds[4 * MOST], lon_bounds[4 * MOST];
    cubed_grid *grid = named(name);
    cubed_grid_cells c = cells_of(grid);
    const int64_t nx = c.shape[1], n = c.shape[0] * nx;
    assert_true(n <= MOST);
    for (int64_t i = 0; i < n; i++) {
        lat[i] = c.lat[i / nx];
        lon[i] = c.lon[i % nx];
        for (int k = 0; k < 4; k++) {
            lat_bounds[4 * i + k] = c.lat_bounds[2 * (i / nx) + (k >= 2)];
            lon_bounds[4 * i + k] = c.lon_bounds[2 * (i % nx) + (k == 1 || k == 2)];
        }
    }
    c.regular = false;
    c.ndim = ndim;
    if (ndim == 1) c.shape[0] = n;
    c.lat = lat;
    c.lon = lon;
    c.corners = 4;
    c.lat_bounds = lat_bounds;
    c.lon_bounds = lon_bounds;
    return made(&c, grid);
}

/* A grid around the earth whose pole is at 50 N, 30 E. */
static cubed_grid *rotated(const char *name)
{
    cubed_grid *axes = named(name), *grid = NULL;
    const cubed_grid_cells c = cells_of(axes);
    assert_int_equal(cubed_grid_new_rotated(ctx, &c, (double[]){50, 30, 0}, &grid, NULL), CUBED_OK);
    cubed_grid_free(axes);
    return grid;
}

static int64_t count(const cubed_grid_cells *c)
{
    return c->shape[0] * (c->ndim == 2 ? c->shape[1] : 1);
}

static double lat_of(const cubed_grid_cells *c, int64_t i)
{
    return c->lat[c->regular ? i / c->shape[1] : i];
}

static double lon_of(const cubed_grid_cells *c, int64_t i)
{
    return c->lon[c->regular ? i % c->shape[1] : i];
}

/* The area of cell i of a regular grid on the unit sphere. */
static double area_of(const cubed_grid_cells *c, int64_t i)
{
    const double *y = &c->lat_bounds[2 * (i / c->shape[1])];
    const double *x = &c->lon_bounds[2 * (i % c->shape[1])];
    return fabs(sin(y[1] * degree) - sin(y[0] * degree)) * fabs(x[1] - x[0]) * degree;
}

/* Squared straight-line distance between the centres of two cells. */
static double distance2(const cubed_grid_cells *a, int64_t i, const cubed_grid_cells *b, int64_t k)
{
    const double p = lat_of(a, i) * degree, q = lat_of(b, k) * degree;
    const double turn = (lon_of(a, i) - lon_of(b, k)) * degree;
    const double h = sin((p - q) / 2), w = sin(turn / 2);
    return 4 * (h * h + cos(p) * cos(q) * w * w);
}

/* --- Weights ------------------------------------------------------------------------------------------- */

static cubed_weights *weights_of(const cubed_grid *source, const cubed_grid *target,
                                 cubed_remap_method method)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    cubed_weights *w = NULL;
    o.method = method;
    if (cubed_weights_new(ctx, source, target, &o, &w, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return w;
}

/* Copies the weights of one cell of the target to `out`. Returns the number of weights. */
static int64_t row_of(const cubed_weights *w, int64_t row, double *out, int64_t n)
{
    const int64_t *starts;
    const int32_t *columns;
    const double *values;
    (void)cubed_weights_get(w, NULL, &starts, &columns, &values);
    for (int64_t i = 0; i < n; i++) out[i] = 0;
    for (int64_t k = starts[row]; k < starts[row + 1]; k++) {
        assert_in_range(columns[k], 0, n - 1);
        assert_true(k == starts[row] || columns[k - 1] < columns[k]);
        out[columns[k]] = values[k];
    }
    return starts[row + 1] - starts[row];
}

static void check_near(const char *what, int64_t row, int64_t column, double got, double want,
                       double most)
{
    if (!(fabs(got - want) <= most))
        fail_msg("%s: cell %lld from %lld is %.17g, expected %.17g", what, (long long)row,
                 (long long)column, got, want);
}

/* Applies weights to a field. An empty row is NaN. */
static void apply(const cubed_weights *w, const double *x, double *out, int64_t rows)
{
    const int64_t *starts;
    const int32_t *columns;
    const double *values;
    (void)cubed_weights_get(w, NULL, &starts, &columns, &values);
    for (int64_t r = 0; r < rows; r++) {
        out[r] = starts[r] < starts[r + 1] ? 0 : NAN;
        for (int64_t k = starts[r]; k < starts[r + 1]; k++) out[r] += values[k] * x[columns[k]];
    }
}

/* The n centres that are nearest to cell `row` of the target, by looking at all of them; equal distances by number. */
static int nearest_of(const cubed_grid_cells *s, const cubed_grid_cells *t, int64_t row, int n,
                      int64_t *out)
{
    double last = -1;
    int64_t before = -1;
    int found = 0;
    for (; found < n; found++) {
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t i = 0; i < count(s); i++) {
            const double d = distance2(s, i, t, row);
            if (s->mask && !s->mask[i]) continue;
            if (d < last || (d == last && i <= before)) continue;
            if (d < least) least = d, best = i;
        }
        if (best < 0) break;
        out[found] = best;
        last = least;
        before = best;
    }
    return found;
}

static void check_nearest(cubed_grid *source, cubed_grid *target, int neighbours)
{
    static double row[MOST];
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    const cubed_grid_cells s = cells_of(source), t = cells_of(target);
    cubed_weights *w;
    o.method = neighbours == 1 ? CUBED_REMAP_NEAREST : CUBED_REMAP_DISTANCE;
    o.neighbours = neighbours;
    assert_int_equal(cubed_weights_new(ctx, source, target, &o, &w, NULL), CUBED_OK);
    for (int64_t r = 0; r < count(&t); r++) {
        int64_t near[64];
        double sum = 0;
        const int n = nearest_of(&s, &t, r, neighbours, near);
        if (t.mask && !t.mask[r]) {
            assert_int_equal(row_of(w, r, row, count(&s)), 0);
            continue;
        }
        assert_int_equal(row_of(w, r, row, count(&s)), n);
        for (int k = 0; k < n; k++) sum += 1 / sqrt(distance2(&s, near[k], &t, r));
        for (int k = 0; k < n; k++)
            check_near("nearest", r, near[k], row[near[k]],
                       1 / sqrt(distance2(&s, near[k], &t, r)) / sum, 1e-9);
    }
    cubed_weights_unref(w);
    cubed_grid_free(source);
    cubed_grid_free(target);
}

/* Target cells whose centres are not equally far from two source cells. */
static const char target_text[] =
    "gridtype = unstructured\ngridsize = 6\nxvals = 13.1 -97.3 171.9 -179.2 55.7 301.4\n"
    "yvals = 4.3 -71.7 33.9 88.1 -24.6 61.2\n";

static void test_nearest(void **state)
{
    (void)state;
    static const bool used[12] = {true,  true,  false, true,  false, false,
                                  false, false, true,  false, true,  true};
    static const bool some[6] = {true, false, true, true, true, true};
    for (int neighbours = 1; neighbours <= 9; neighbours += 4) {
        check_nearest(named("r18x10"), named(target_text), neighbours);
        check_nearest(as_cells("r18x10", 1), named(target_text), neighbours);
        check_nearest(rotated("r18x10"), masked(target_text, some), neighbours);
        check_nearest(masked("r3x4", used), named(target_text), neighbours);
    }
    /* If a source centre is at the target centre, it has the whole weight. If all source cells are masked, rows are empty. */
    static const bool none[12] = {false};
    static double row[12];
    cubed_grid *same = named("r4x3"), *empty = masked("r4x3", none);
    cubed_weights *w = weights_of(same, same, CUBED_REMAP_DISTANCE);
    for (int64_t r = 4; r < 8; r++) {
        assert_int_equal(row_of(w, r, row, 12), 1);
        assert_true(row[r] == 1);
    }
    cubed_weights_unref(w);
    w = weights_of(empty, same, CUBED_REMAP_DISTANCE);
    assert_int_equal(cubed_weights_get(w, NULL, NULL, NULL, NULL), 0);
    cubed_weights_unref(w);
    cubed_grid_free(same);
    cubed_grid_free(empty);
}

/* A field that interpolation between cells reproduces: a polynomial of latitude and longitude. */
static double polynomial(double lat, double lon, bool quadratic)
{
    const double linear = 3 + 0.5 * lat - 0.25 * lon;
    return quadratic ? linear + 0.01 * lat * lat + 0.02 * lat * lon - 0.03 * lon * lon : linear;
}

/* Makes a regional grid with latitudes from north to south: a regular grid, or cells that are sheared. */
static cubed_grid *region(bool regular, double shear)
{
    static double lat[42], lon[42];
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    c.regular = regular;
    c.shape[0] = 6;
    c.shape[1] = 7;
    for (int i = 0; i < 42; i++) {
        const int j = regular ? i : i / 7, k = regular ? i : i % 7;
        lat[i] = 50 - 4 * j + shear * k;
        lon[i] = -6 + 5 * k + shear * j;
    }
    c.lat = lat;
    c.lon = lon;
    return made(&c, NULL);
}

static void check_polynomial(cubed_grid *source, const char *target, cubed_remap_method method,
                             bool quadratic)
{
    static double x[MOST], got[MOST];
    cubed_grid *points = named(target);
    const cubed_grid_cells s = cells_of(source), t = cells_of(points);
    cubed_weights *w = weights_of(source, points, method);
    for (int64_t i = 0; i < count(&s); i++)
        x[i] = polynomial(lat_of(&s, i), lon_of(&s, i), quadratic);
    apply(w, x, got, count(&t));
    for (int64_t r = 0; r < count(&t); r++)
        check_near("polynomial", r, 0, got[r], polynomial(lat_of(&t, r), lon_of(&t, r), quadratic),
                   1e-9);
    cubed_weights_unref(w);
    cubed_grid_free(points);
    cubed_grid_free(source);
}

/* Target points inside the region. Some of them are source centres. */
static const char inside_text[] = "gridtype = unstructured\ngridsize = 5\nxvals = 4 6.3 11.9 14 "
                                  "16.01\nyvals = 46 41.2 38.7 42 44.4\n";

static void test_bilinear_of_polynomials(void **state)
{
    (void)state;
    check_polynomial(region(true, 0), inside_text, CUBED_REMAP_BILINEAR, false);
    check_polynomial(region(false, 0), inside_text, CUBED_REMAP_BILINEAR, false);
    check_polynomial(region(false, 0.7), inside_text, CUBED_REMAP_BILINEAR, false);
    check_polynomial(region(true, 0), inside_text, CUBED_REMAP_BICUBIC, false);
    check_polynomial(region(true, 0), inside_text, CUBED_REMAP_BICUBIC, true);
    check_polynomial(region(false, 0.7), inside_text, CUBED_REMAP_BICUBIC, true);
    /* Target points near the edges, where slopes are one-sided differences. */
    static const char edge[] = "gridtype = unstructured\ngridsize = 4\nxvals = -6 -5 23 24\n"
                               "yvals = 31 50 30 49\n";
    check_polynomial(region(true, 0), edge, CUBED_REMAP_BILINEAR, false);
    check_polynomial(region(true, 0), edge, CUBED_REMAP_BICUBIC, false);
    check_polynomial(region(false, 0), edge, CUBED_REMAP_BICUBIC, false);
}

static void test_bilinear_outside(void **state)
{
    (void)state;
    cubed_grid *beyond = named("gridtype = unstructured\ngridsize = 3\nxvals = 60 0 -7\n"
                               "yvals = 40 51 40\n");
    for (int regular = 0; regular < 2; regular++) {
        cubed_grid *source = region(regular, 0);
        cubed_weights *w = weights_of(source, beyond, CUBED_REMAP_BILINEAR);
        assert_int_equal(cubed_weights_get(w, NULL, NULL, NULL, NULL), 0);
        cubed_weights_unref(w);
        cubed_grid_free(source);
    }
    cubed_grid_free(beyond);
}

/* Tests bilinear weights between the last longitude and the first, and beyond the outermost latitudes, where inverse distances
 * are used. */
static void test_bilinear_around(void **state)
{
    (void)state;
    static double row[32];
    cubed_grid *target = named("gridtype = unstructured\ngridsize = 2\nxvals = 337.5 20\n"
                               "yvals = 0 80\n");
    cubed_grid *sources[] = {named("r8x4"), as_cells("r8x4", 2)};
    for (int i = 0; i < 2; i++) {
        cubed_weights *w = weights_of(sources[i], target, CUBED_REMAP_BILINEAR);
        /* The point is between rows 1 and 2, at -22.5 and 22.5 degrees, and between columns 7 and 0, at 315 and 360 degrees. */
        assert_int_equal(row_of(w, 0, row, 32), 4);
        for (int k = 0; k < 4; k++)
            check_near("around", 0, k, row[8 * (1 + k / 2) + (k % 2 ? 0 : 7)], 0.25, 1e-12);
        const int64_t polar = row_of(w, 1, row, 32);
        if (i == 0) {
            const cubed_grid_cells s = cells_of(sources[0]), t = cells_of(target);
            int64_t near[4];
            double sum = 0;
            assert_int_equal(polar, 4);
            assert_int_equal(nearest_of(&s, &t, 1, 4, near), 4);
            for (int k = 0; k < 4; k++) sum += 1 / asin(sqrt(distance2(&s, near[k], &t, 1)) / 2);
            for (int k = 0; k < 4; k++)
                check_near("polar", 1, near[k], row[near[k]],
                           1 / asin(sqrt(distance2(&s, near[k], &t, 1)) / 2) / sum, 1e-9);
        }
        cubed_weights_unref(w);
        cubed_grid_free(sources[i]);
    }
    cubed_grid_free(target);
}

/* --- Areas --------------------------------------------------------------------------------------------- */

/* Returns the length that two intervals share, after the second one is shifted by `turn`. */
static double shared(const double *a, const double *b, double turn)
{
    const double a0 = fmin(a[0], a[1]), a1 = fmax(a[0], a[1]);
    const double b0 = fmin(b[0], b[1]), b1 = fmax(b[0], b[1]);
    double sum = 0;
    for (int k = turn > 0 ? -2 : 0; k <= (turn > 0 ? 2 : 0); k++)
        sum += fmax(0, fmin(a1, b1 + k * turn) - fmax(a0, b0 + k * turn));
    return sum;
}

/* Conservative weights between grids of latitudes and longitudes are products of shared lengths. Grids given by their corners
 * have the same weights. */
static void test_areas_of_axes(void **state)
{
    (void)state;
    static double row[MOST];
    static const char *const pairs[][2] = {
        {"r10x5", "r7x4"}, {"r7x4", "n4"}, {"global_30", "r5x3"}, {"n2", "global_45"}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        cubed_grid *axes = named(pairs[p][0]), *target = named(pairs[p][1]);
        cubed_grid *sources[] = {axes, as_cells(pairs[p][0], 2), as_cells(pairs[p][0], 1)};
        const cubed_grid_cells s = cells_of(axes), t = cells_of(target);
        for (int i = 0; i < 3; i++) {
            cubed_weights *w = weights_of(sources[i], target, CUBED_REMAP_CONSERVATIVE);
            for (int64_t r = 0; r < count(&t); r++) {
                const double *ty = &t.lat_bounds[2 * (r / t.shape[1])];
                const double *tx = &t.lon_bounds[2 * (r % t.shape[1])];
                const double y[] = {sin(ty[0] * degree), sin(ty[1] * degree)};
                (void)row_of(w, r, row, count(&s));
                for (int64_t c = 0; c < count(&s); c++) {
                    const double *sy = &s.lat_bounds[2 * (c / s.shape[1])];
                    const double *sx = &s.lon_bounds[2 * (c % s.shape[1])];
                    const double z[] = {sin(sy[0] * degree), sin(sy[1] * degree)};
                    const double part = shared(y, z, 0) * shared(tx, sx, 360) * degree;
                    check_near(pairs[p][0], r, c, row[c], part / area_of(&t, r), 1e-9);
                }
            }
            cubed_weights_unref(w);
        }
        for (int i = 0; i < 3; i++) cubed_grid_free(sources[i]);
        cubed_grid_free(target);
    }
}

/* Checks that the area that two cells share does not depend on their order, and that the parts of a cell add up to its area. */
static void check_symmetry(cubed_grid *axes, cubed_grid *cells)
{
    static double row[MOST], part[MOST][64];
    const cubed_grid_cells a = cells_of(axes), c = cells_of(cells);
    const int64_t n = count(&a), m = count(&c);
    assert_true(m <= 64);
    cubed_weights *w = weights_of(cells, axes, CUBED_REMAP_CONSERVATIVE);
    for (int64_t r = 0; r < n; r++) {
        double sum = 0;
        (void)row_of(w, r, row, m);
        for (int64_t i = 0; i < m; i++) {
            part[r][i] = row[i] * area_of(&a, r);
            sum += row[i];
        }
        check_near("sum", r, 0, sum, 1, 1e-12);
    }
    cubed_weights_unref(w);
    w = weights_of(axes, cells, CUBED_REMAP_CONSERVATIVE);
    for (int64_t i = 0; i < m; i++) {
        double whole = 0;
        for (int64_t r = 0; r < n; r++) whole += part[r][i];
        (void)row_of(w, i, row, n);
        for (int64_t r = 0; r < n; r++) check_near("part", i, r, row[r], part[r][i] / whole, 1e-9);
    }
    cubed_weights_unref(w);
    cubed_grid_free(axes);
    cubed_grid_free(cells);
}

static void test_areas_of_cells(void **state)
{
    (void)state;
    check_symmetry(named("r6x4"), rotated("r8x4"));
    check_symmetry(named("r9x7"), rotated("r5x3"));
    /* Makes eight triangles with edges on the equator and on meridians. They are the cells of a grid with two latitudes and four
     * longitudes. */
    static double lat[8], lon[8], lat_bounds[24], lon_bounds[24], row[8];
    for (ptrdiff_t i = 0; i < 8; i++) {
        const double pole = i < 4 ? -90 : 90, west = 90 * (double)(i % 4);
        lat[i] = pole / 2;
        lon[i] = west + 45;
        memcpy(&lat_bounds[3 * i], (double[]){0, 0, pole}, 3 * sizeof *lat);
        memcpy(&lon_bounds[3 * i], (double[]){west, west + 90, west + 45}, 3 * sizeof *lat);
    }
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    c.regular = false;
    c.ndim = 1;
    c.shape[0] = 8;
    c.lat = lat;
    c.lon = lon;
    c.corners = 3;
    c.lat_bounds = lat_bounds;
    c.lon_bounds = lon_bounds;
    cubed_grid *octants = made(&c, NULL), *quarters = named("global_90");
    cubed_weights *w = weights_of(octants, quarters, CUBED_REMAP_CONSERVATIVE);
    /* index of the triangle at each longitude of the other grid, which begins at -180 */
    static const int octant[4] = {2, 3, 0, 1};
    for (int64_t r = 0; r < 8; r++) {
        (void)row_of(w, r, row, 8);
        check_near("octant", r, r, row[r / 4 * 4 + octant[r % 4]], 1, 1e-12);
    }
    cubed_weights_unref(w);
    cubed_grid_free(octants);
    cubed_grid_free(quarters);
}

/* Sets `out` to the areas of all cells of a grid. Those of other than regular grids are sums of the parts that they share with
 * a regular grid. */
static void areas_of(const cubed_grid *grid, double *out)
{
    static double row[MOST];
    const cubed_grid_cells c = cells_of(grid);
    const int64_t n = count(&c);
    for (int64_t i = 0; i < n; i++) out[i] = c.regular ? area_of(&c, i) : 0;
    if (c.regular) return;
    cubed_grid *axes = named("r6x5");
    const cubed_grid_cells a = cells_of(axes);
    cubed_weights *w = weights_of(grid, axes, CUBED_REMAP_CONSERVATIVE);
    for (int64_t r = 0; r < count(&a); r++) {
        (void)row_of(w, r, row, n);
        for (int64_t i = 0; i < n; i++) out[i] += row[i] * area_of(&a, r);
    }
    cubed_weights_unref(w);
    cubed_grid_free(axes);
}

static double smooth(const cubed_grid_cells *c, int64_t i)
{
    return 2 + sin(lat_of(c, i) * degree) +
           0.5 * cos(lat_of(c, i) * degree) * cos(lon_of(c, i) * degree);
}

/* Checks that the sum over the earth is preserved, and that a smooth field is approximated better in second order than in first
 * order. */
static void check_second_order(cubed_grid *source, cubed_grid *target)
{
    static double x[MOST], got[MOST], from[MOST], to[MOST];
    const cubed_grid_cells s = cells_of(source), t = cells_of(target);
    double whole = 0, off[2] = {0, 0};
    areas_of(source, from);
    areas_of(target, to);
    for (int64_t i = 0; i < count(&s); i++) {
        x[i] = smooth(&s, i);
        whole += x[i] * from[i];
    }
    for (int k = 0; k < 2; k++) {
        cubed_weights *w =
            weights_of(source, target, k ? CUBED_REMAP_CONSERVATIVE2 : CUBED_REMAP_CONSERVATIVE);
        double sum = 0;
        apply(w, x, got, count(&t));
        for (int64_t r = 0; r < count(&t); r++) {
            sum += got[r] * to[r];
            off[k] += fabs(got[r] - smooth(&t, r)) * to[r];
        }
        check_near("sum over the earth", k, 0, sum / whole, 1, 1e-9);
        cubed_weights_unref(w);
    }
    assert_true(off[1] < 0.5 * off[0]);
    cubed_grid_free(source);
    cubed_grid_free(target);
}

static void test_second_order(void **state)
{
    (void)state;
    check_second_order(named("r24x12"), named("r30x16"));
    check_second_order(as_cells("r24x12", 2), named("r30x16"));
    check_second_order(as_cells("r24x12", 1), named("r30x16"));
    check_second_order(rotated("r24x12"), named("r30x16"));
    check_second_order(named("r24x12"), rotated("r30x16"));
}

static void test_masks(void **state)
{
    (void)state;
    static const bool used[8] = {true, false, true, true, true, true, false, true};
    static double row[8];
    cubed_grid *source = masked("r4x2", used), *target = named("r2x1");
    const cubed_remap_method methods[] = {CUBED_REMAP_CONSERVATIVE, CUBED_REMAP_LARGEST};
    for (int i = 0; i < 2; i++) {
        cubed_weights *w = weights_of(source, target, methods[i]);
        /* The target cell reaches from -90 to 90 degrees. It covers column 0 and half of columns 1 and 3, in both rows, except
         * masked cells. */
        assert_int_equal(row_of(w, 0, row, 8), 5);
        const double want[8] = {2, 0, 0, 1, 2, 1, 0, 1};
        for (int k = 0; k < 8; k++) check_near("mask", 0, k, row[k], want[k] / 7, 1e-12);
        cubed_weights_unref(w);
    }
    /* A row with a negative weight that loses a cell is empty. */
    static const bool but_one[42] = {[0] = true, [1] = true, [41] = true};
    cubed_grid *whole = region(true, 0), *inside = named(inside_text);
    cubed_grid_cells c = cells_of(whole);
    c.mask = but_one;
    whole = made(&c, whole);
    cubed_weights *w = weights_of(whole, inside, CUBED_REMAP_BICUBIC);
    assert_int_equal(cubed_weights_get(w, NULL, NULL, NULL, NULL), 0);
    cubed_weights_unref(w);
    cubed_grid_free(whole);
    cubed_grid_free(inside);
    cubed_grid_free(source);
    cubed_grid_free(target);
}

/* --- Links --------------------------------------------------------------------------------------------- */

static void test_links(void **state)
{
    (void)state;
    enum { N = 50 };
    int64_t rows[N], columns[N];
    double values[N], row[N];
    const cubed_weights_shape shape = {
        .source_ndim = 1, .target_ndim = 2, .source = {40}, .target = {1, 2}};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_weights *w;
    /* 40 columns in an irregular order, ten of them twice. Row 0 has no links. */
    for (int i = 0; i < N; i++) {
        rows[i] = 1;
        columns[i] = i * 13 % 40;
        values[i] = i + 1;
    }
    assert_int_equal(cubed_weights_from_links(ctx, &shape, N, rows, columns, values, &w, NULL),
                     CUBED_OK);
    assert_int_equal(row_of(w, 0, row, 40), 0);
    assert_int_equal(row_of(w, 1, row, 40), 40);
    for (int i = 0; i < 40; i++) {
        const double twice = i < 10 ? i + 41 : 0;
        check_near("link", 1, i, row[i * 13 % 40], i + 1 + twice, 0);
    }
    assert_int_equal(cubed_weights_set_nearest(w, &err), CUBED_E_ARG);
    assert_non_null(
        strstr(err.message, "row 1 has 40 weights, the first of 42, expected one of 1"));
    cubed_weights *again = cubed_weights_ref(w);
    cubed_array *arrays[3];
    assert_int_equal(cubed_weights_arrays(again, arrays, NULL), CUBED_OK);
    cubed_weights_unref(again);
    assert_int_equal(cubed_array_shape(arrays[0])[0], 40);
    cubed_weights_unref(w);
    assert_int_equal(cubed_weights_from_arrays(&shape, arrays[0], arrays[1], arrays[2], &w, NULL),
                     CUBED_OK);
    assert_int_equal(row_of(w, 1, row, 40), 40);
    check_near("array", 1, 13, row[13], 2 + 42, 0);
    cubed_weights_unref(w);
    assert_int_equal(cubed_weights_from_arrays(&shape, arrays[0], arrays[2], arrays[2], &w, &err),
                     CUBED_E_TYPE);
    assert_non_null(strstr(err.message, "the type is float64, expected int64"));
    for (int i = 0; i < 3; i++) cubed_array_unref(arrays[i]);

    columns[7] = 40;
    assert_int_equal(cubed_weights_from_links(ctx, &shape, N, rows, columns, values, &w, &err),
                     CUBED_E_INDEX);
    assert_non_null(strstr(err.message, "link 7 is from cell 40 to cell 1, expected 0 to 39"));
    columns[7] = 0;
    values[3] = INFINITY;
    assert_int_equal(cubed_weights_from_links(ctx, &shape, N, rows, columns, values, &w, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "link 3 has weight inf, expected a finite number"));
    assert_int_equal(cubed_weights_from_links(ctx, &shape, -1, rows, columns, values, &w, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "the number of links is -1"));
    cubed_weights_shape wrong = shape;
    wrong.source_ndim = 3;
    assert_int_equal(cubed_weights_from_links(ctx, &wrong, 1, rows, columns, values, &w, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "grids of 3 and 2 dimensions, expected 1 or 2"));
    wrong = shape;
    wrong.target[0] = 0;
    assert_int_equal(cubed_weights_from_links(ctx, &wrong, 1, rows, columns, values, &w, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "a grid has no cells, or more than 2147483647"));
    /* Each row has one weight of 1, as for the method "nearest". */
    columns[1] = rows[0] = 0;
    values[0] = values[1] = 1;
    assert_int_equal(cubed_weights_from_links(ctx, &shape, 2, rows, columns, values, &w, &err),
                     CUBED_OK);
    assert_int_equal(cubed_weights_set_nearest(w, &err), CUBED_OK);
    cubed_weights_unref(w);
}

/* --- Refusals ------------------------------------------------------------------------------------------ */

static void refuse(const cubed_grid *source, const cubed_grid *target, cubed_weights_options o,
                   cubed_status status, const char *words)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_weights *w = NULL;
    const cubed_status st = cubed_weights_new(ctx, source, target, &o, &w, &err);
    if (st != status || !strstr(err.message, words))
        fail_msg("status %d, \"%s\", expected %d, \"%s\"", st, err.message, status, words);
    assert_null(w);
}

static void test_refusals(void **state)
{
    (void)state;
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    cubed_grid *axes = named("r8x4"), *points = named(target_text), *cells = as_cells("r8x4", 2);
    cubed_grid *row = named("gridtype = curvilinear\nxsize=3\nysize=1\nxvals=1 2 3\nyvals=1 2 3\n");
    refuse(points, axes, o, CUBED_E_UNSUPPORTED,
           "bilinear weights need a source with two dimensions");
    refuse(row, axes, o, CUBED_E_UNSUPPORTED,
           "bilinear weights need two rows and columns of cells, but the source has 1 and 3");
    o.method = CUBED_REMAP_BICUBIC;
    refuse(points, axes, o, CUBED_E_UNSUPPORTED,
           "bicubic weights need a source with two dimensions");
    o.method = CUBED_REMAP_CONSERVATIVE;
    refuse(points, axes, o, CUBED_E_UNSUPPORTED, "but the source has no bounds");
    refuse(axes, points, o, CUBED_E_UNSUPPORTED, "but the target has no bounds");
    cubed_grid *crossed = named("gridtype = unstructured\ngridsize=1\nnvertex=4\nxvals=5\nyvals=5\n"
                                "xbounds = 0 10 10 0\nybounds = 0 10 0 10\n");
    refuse(crossed, axes, o, CUBED_E_ARG, "of the source cross, expected bounds in the order");
    refuse(axes, crossed, o, CUBED_E_ARG, "of the target cross, expected bounds in the order");
    cubed_grid_free(crossed);
    o.method = CUBED_REMAP_METHODS;
    refuse(axes, axes, o, CUBED_E_ARG, "remap: unknown method number 7");
    o.method = CUBED_REMAP_DISTANCE;
    o.neighbours = 0;
    refuse(axes, axes, o, CUBED_E_ARG, "remap: neighbours is 0, expected 1 to 64");
    o.neighbours = 65;
    refuse(axes, axes, o, CUBED_E_ARG, "remap: neighbours is 65, expected 1 to 64");
    /* 32 rows with four weights each need 33 * 8 + 128 * 12 bytes. The spatial index of 32 cells needs memory in addition. */
    o.neighbours = 4;
    o.memory = 33 * 8 + 128 * 12 - 1;
    refuse(axes, axes, o, CUBED_E_BUDGET, "computing the weights needs at least 1800 bytes");
    o.memory = 33 * 8 + 128 * 12;
    refuse(axes, axes, o, CUBED_E_BUDGET, "but a task may use 1800");
    o.method = CUBED_REMAP_CONSERVATIVE;
    refuse(cells, cells, o, CUBED_E_BUDGET, "but a task may use 1800");
    cubed_grid_free(axes);
    cubed_grid_free(points);
    cubed_grid_free(cells);
    cubed_grid_free(row);
}

/* --- Memory -------------------------------------------------------------------------------------------- */

/* Makes grids and weights in a separate context. */
static cubed_status make_all(cubed_remap_method method, int kind, cubed_error *err)
{
    static const double pole[] = {50, 30, 0};
    static const bool used[32] = {true, true, false, true, true, true};
    cubed_weights_options o = CUBED_WEIGHTS_OPTIONS_INIT;
    cubed_grid *source = NULL, *target = NULL, *cells = NULL;
    cubed_weights *w = NULL;
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    o.method = method;
    cubed_status st = cubed_grid_parse(ctx,
                                       "gridtype=lonlat\nxsize=8\nysize=4\nxfirst=0\nxinc=45\n"
                                       "yvals=-67.5 -22.5 22.5 67.5\n",
                                       &source, err);
    if (st == CUBED_OK) st = cubed_grid_parse(ctx, "n2", &target, err);
    if (st == CUBED_OK) st = cubed_grid_get(source, &c, err);
    c.mask = kind == 1 ? used : NULL;
    if (st == CUBED_OK) st = kind ? cubed_grid_new_rotated(ctx, &c, pole, &cells, err) : CUBED_OK;
    if (st == CUBED_OK) st = cubed_weights_new(ctx, cells ? cells : source, target, &o, &w, err);
    cubed_weights_unref(w);
    cubed_grid_free(source);
    cubed_grid_free(target);
    cubed_grid_free(cells);
    return st;
}

static void test_memory(void **state)
{
    (void)state;
    for (int method = 0; method < CUBED_REMAP_METHODS; method++) {
        for (int kind = 0; kind < 3; kind++) {
            long done = 0;
            for (long at = 1; !done; at++) {
                failing memory = {.at = 0};
                cubed_error err = CUBED_ERROR_INIT;
                const cubed_allocator a = failing_allocator(&memory);
                cubed_context_options options = CUBED_CONTEXT_OPTIONS_INIT;
                options.allocator = &a;
                assert_int_equal(cubed_context_new(&options, &ctx, NULL), CUBED_OK);
                memory.at = memory.calls + at;
                const cubed_status st = make_all(method, kind, &err);
                done = memory.calls < memory.at;
                cubed_context_unref(ctx);
                assert_true(memory.live == 0);
                if (st != CUBED_OK && (done || st != CUBED_E_NOMEM || !err.message[0]))
                    fail_msg("method %d, allocation %ld: status %d, \"%s\"", method, at, st,
                             err.message);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bilinear_of_polynomials, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bilinear_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bilinear_around, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_areas_of_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_areas_of_cells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
