/* Areas of grid cells on a sphere. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "cubed/blockwise.h"
#include "cubed/fields.h"
#include "ops/shapes.h"
#include "ops/steps.h"

#define TURN         360.0
#define POLE         90.0
#define NEARLY_POLAR 88.0 /* edges beyond this latitude are moved to the pole */
#define RADIANS      0.017453292519943295

static cubed_array *by(cb_steps *s, cubed_op op, cubed_array *a, double b)
{
    return cb_step_binary(s, op, a, cb_step_float(s, b));
}

/* --- Regular grids ------------------------------------------------------------------------------------------------- */

/* The lower and upper edges of cells along an axis. */
typedef struct edges {
    cubed_array *low, *high;
} edges;

static edges ends_of(cb_steps *s, cubed_array *bounds)
{
    cubed_array *column[2];
    for (int k = 0; k < 2; k++) {
        column[k] = cb_step_part(s, bounds, 1, k, 1, 1);
        column[k] = column[k] ? cb_step_reshaped(s, column[k], 1, bounds->shape) : NULL;
    }
    return (edges){column[0], column[1]};
}

/* Computes an outermost edge. It is as far from x[at] as the midpoint between x[at] and x[next]. Near a pole, the edge is at
 * the pole. */
static cubed_array *outermost(cb_steps *s, cubed_array *x, int64_t at, int64_t next)
{
    cubed_array *own = by(s, CUBED_OP_MULTIPLY, cb_step_part(s, x, 0, at, 1, 1), 1.5);
    cubed_array *edge =
        cb_step_binary(s, CUBED_OP_SUBTRACT, own,
                       by(s, CUBED_OP_MULTIPLY, cb_step_part(s, x, 0, next, 1, 1), 0.5));
    edge =
        cb_step_where(s, by(s, CUBED_OP_GREATER, edge, NEARLY_POLAR), cb_step_float(s, POLE), edge);
    return cb_step_where(s, by(s, CUBED_OP_LESS, edge, -NEARLY_POLAR), cb_step_float(s, -POLE),
                         edge);
}

/* Returns cells whose edges are the midpoints of neighbouring latitudes. */
static edges latitudes(cb_steps *s, cubed_array *x)
{
    const int64_t n = x->shape[0];
    cubed_array *sum = cb_step_binary(s, CUBED_OP_ADD, cb_step_part(s, x, 0, 0, n - 1, 1),
                                      cb_step_part(s, x, 0, 1, n - 1, 1));
    cubed_array *parts[3] = {outermost(s, x, 0, 1), by(s, CUBED_OP_MULTIPLY, sum, 0.5),
                             outermost(s, x, n - 1, n - 2)};
    cubed_array *all = parts[0] && parts[1] && parts[2] ? cb_step_concat(s, parts, 3, 0) : NULL;
    return (edges){cb_step_part(s, all, 0, 0, n, 1), cb_step_part(s, all, 0, 1, n, 1)};
}

/* Returns differences of longitudes, modulo 360, in the range from -180 to 180 degrees. */
static cubed_array *shortest(cb_steps *s, cubed_array *x)
{
    cubed_array *turns = cb_step_unary(s, CUBED_OP_ROUND, by(s, CUBED_OP_DIVIDE, x, TURN));
    return cb_step_binary(s, CUBED_OP_SUBTRACT, x, by(s, CUBED_OP_MULTIPLY, turns, TURN));
}

/* Returns the widths of cells whose edges are the midpoints of neighbouring longitudes. */
static cubed_array *widths(cb_steps *s, cubed_array *x)
{
    const int64_t n = x->shape[0];
    cubed_array *steps =
        shortest(s, cb_step_binary(s, CUBED_OP_SUBTRACT, cb_step_part(s, x, 0, 1, n - 1, 1),
                                   cb_step_part(s, x, 0, 0, n - 1, 1)));
    cubed_array *parts[3] = {cb_step_part(s, steps, 0, 0, 1, 1), steps,
                             cb_step_part(s, steps, 0, n - 2, 1, 1)};
    cubed_array *both = steps && parts[0] && parts[2] ? cb_step_concat(s, parts, 3, 0) : NULL;
    both = cb_step_binary(s, CUBED_OP_ADD, cb_step_part(s, both, 0, 0, n, 1),
                          cb_step_part(s, both, 0, 1, n, 1));
    return cb_step_unary(s, CUBED_OP_ABS, by(s, CUBED_OP_MULTIPLY, both, 0.5));
}

/* Returns the widths of cells with bounds. Bounds such as (359, 1) cross the origin. If there are only one or two cells, a
 * cell may be wider than half a turn. */
static cubed_array *widths_of(cb_steps *s, cubed_array *bounds)
{
    const edges e = ends_of(s, bounds);
    cubed_array *w = cb_step_binary(s, CUBED_OP_SUBTRACT, e.high, e.low);
    cubed_array *is_back = by(s, CUBED_OP_LESS, w, -TURN / 2);
    w = cb_step_where(s, is_back, by(s, CUBED_OP_ADD, w, TURN), w);
    if (bounds->shape[0] > 2)
        w = cb_step_where(s, by(s, CUBED_OP_GREATER, w, TURN / 2),
                          by(s, CUBED_OP_SUBTRACT, w, TURN), w);
    return cb_step_unary(s, CUBED_OP_ABS, w);
}

/* Computes the areas of cells on the unit sphere from a column of latitudes of their edges and a row of widths in longitude. */
static cubed_array *between(cb_steps *s, edges lat, cubed_array *width, cubed_cell_edges shape)
{
    cubed_array *low = by(s, CUBED_OP_MULTIPLY, lat.low, RADIANS);
    cubed_array *high = by(s, CUBED_OP_MULTIPLY, lat.high, RADIANS);
    cubed_array *angle = by(s, CUBED_OP_MULTIPLY, width, RADIANS);
    /* sin(high) - sin(low), in a form without cancellation for narrow cells */
    cubed_array *middle = cb_step_binary(s, CUBED_OP_ADD, low, high);
    cubed_array *half = cb_step_binary(s, CUBED_OP_SUBTRACT, high, low);
    middle = cb_step_unary(s, CUBED_OP_COS, by(s, CUBED_OP_MULTIPLY, middle, 0.5));
    half = cb_step_unary(s, CUBED_OP_SIN, by(s, CUBED_OP_MULTIPLY, half, 0.5));
    cubed_array *height =
        by(s, CUBED_OP_MULTIPLY, cb_step_binary(s, CUBED_OP_MULTIPLY, middle, half), 2);
    height = cb_step_unary(s, CUBED_OP_ABS, height);
    cubed_array *band = cb_step_binary(s, CUBED_OP_MULTIPLY, height, angle);
    if (shape == CUBED_EDGES_LATITUDES) return band;
    /* The area between the equator and a great circle through two points of latitude p, `angle` apart, is 2 atan(tan(angle /
     * 2) sin p). The tangents of two such areas are subtracted. */
    cubed_array *t = cb_step_unary(s, CUBED_OP_TAN, by(s, CUBED_OP_MULTIPLY, angle, 0.5));
    cubed_array *sines = cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_unary(s, CUBED_OP_SIN, low),
                                        cb_step_unary(s, CUBED_OP_SIN, high));
    cubed_array *below =
        cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_unary(s, CUBED_OP_SQUARE, t), sines);
    below = by(s, CUBED_OP_ADD, below, 1);
    cubed_array *area =
        cb_step_binary(s, CUBED_OP_ATAN2, cb_step_binary(s, CUBED_OP_MULTIPLY, t, height), below);
    area = by(s, CUBED_OP_MULTIPLY, area, 2);
    return cb_step_where(s, by(s, CUBED_OP_LESS, width, TURN / 2), area, band);
}

/* --- Cells with any number of corners ------------------------------------------------------------------------------ */

/* Calls a function whose result has the first axes of x. The last axis of the inputs is not split. */
static cubed_array *called(cb_steps *s, const char *function, cubed_array *const *x, int n,
                           int out_ndim, const void *params, size_t params_size)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_block_input in[2];
    cubed_array *y = NULL;
    if (!x[0] || !x[n - 1]) return NULL;
    const int ndim = x[0]->node.grid->ndim;
    cb_api_blocks(x[0], 1u << (ndim - 1), sizeof(double), chunks);
    for (int d = 0; d < ndim; d++) symbols[d] = d;
    for (int i = 0; i < n; i++) in[i] = (cubed_block_input){x[i], symbols, chunks};
    const cubed_block_output to = {CUBED_FLOAT64, out_ndim, x[0]->shape, chunks, symbols, NULL};
    const cubed_block_operation operation = {.function = function,
                                             .params = params,
                                             .params_size = params_size,
                                             .inputs = in,
                                             .nin = n,
                                             .outputs = &to,
                                             .nout = 1};
    return cb_step(s, cubed_blockwise(s->ctx, &operation, &y, s->err), &y);
}

/* Computes areas of polygons on the unit sphere. */
static cubed_array *polygons(cb_steps *s, cubed_array *lat, cubed_array *lon)
{
    cubed_array *const corners[2] = {lat, lon};
    const int ndim = lat ? lat->node.grid->ndim : 1;
    return called(s, "cell_areas", corners, 2, ndim - 1, NULL, 0);
}

/* Returns an axis, or its bounds, after a check of its numbers. */
static cubed_array *degrees(cb_steps *s, cubed_array *x, bool is_lon, bool is_bound)
{
    const cb_degrees_params params = {is_lon, is_bound};
    const int ndim = is_bound ? 2 : 1;
    return called(s, "degrees", &x, 1, ndim, &params, sizeof params);
}

/* --- Checks -------------------------------------------------------------------------------------------------------- */

static cubed_status check_numbers(const char *name, const cubed_array *x, cubed_error *err)
{
    if (!x || cubed_dtype_kind(x->node.dtype) <= CUBED_KIND_FLOAT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "gridarea: %s is %s, expected real numbers", name,
                   cubed_dtype_name(x->node.dtype));
}

/* Checks the shape of bounds. *corners receives their number of corners, or 0 without bounds. */
static cubed_status check_bounds(const char *name, const cubed_array *x, const cubed_array *bounds,
                                 int64_t *corners, cubed_error *err)
{
    char own[CB_SHAPE_TEXT_CAP], theirs[CB_SHAPE_TEXT_CAP];
    const int ndim = x->node.grid->ndim;
    *corners = 0;
    if (!bounds) return CUBED_OK;
    bool fits = bounds->node.grid->ndim == ndim + 1 && bounds->shape[ndim] > 1;
    for (int d = 0; d < ndim && fits; d++) fits = bounds->shape[d] == x->shape[d];
    if (!fits)
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: %s_bounds has shape %s, expected the shape %s of %s and a last "
                       "axis with the corners of a cell",
                       name, cb_shape_text(bounds, theirs), cb_shape_text(x, own), name);
    *corners = bounds->shape[ndim];
    return CUBED_OK;
}

static cubed_status check_axis(const char *name, const cubed_array *x, const cubed_array *bounds,
                               cubed_error *err)
{
    if (x->node.grid->ndim != 1)
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: %s has %d dimensions and no corners of cells, expected 1 "
                       "dimension, or lat_bounds and lon_bounds with at least 3 corners",
                       name, x->node.grid->ndim);
    if (x->shape[0] == 0 || (x->shape[0] == 1 && !bounds))
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: %s has %lld elements, expected at least 2, because cell sizes "
                       "are distances between elements; otherwise give %s_bounds",
                       name, (long long)x->shape[0], name);
    return CUBED_OK;
}

static cubed_status check(const cubed_array *lat, const cubed_array *lon,
                          const cubed_area_options *o, bool *is_polygons, cubed_error *err)
{
    int64_t nlat, nlon;
    CB_TRY(check_numbers("lat", lat, err));
    CB_TRY(check_numbers("lon", lon, err));
    CB_TRY(check_numbers("lat_bounds", o->lat_bounds, err));
    CB_TRY(check_numbers("lon_bounds", o->lon_bounds, err));
    CB_TRY(check_bounds("lat", lat, o->lat_bounds, &nlat, err));
    CB_TRY(check_bounds("lon", lon, o->lon_bounds, &nlon, err));
    *is_polygons = nlat > 2 || nlon > 2;
    if (!(o->radius > 0 && isfinite(o->radius)))
        return cb_fail(err, CUBED_E_ARG, "gridarea: radius is %g, expected a positive number",
                       o->radius);
    if (!*is_polygons) {
        CB_TRY(check_axis("lat", lat, o->lat_bounds, err));
        return check_axis("lon", lon, o->lon_bounds, err);
    }
    bool fits = nlat == nlon && lat->node.grid->ndim == lon->node.grid->ndim;
    for (int d = 0; d < lat->node.grid->ndim && fits; d++) fits = lat->shape[d] == lon->shape[d];
    if (!fits)
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: cells have %lld latitudes and %lld longitudes of corners, "
                       "expected equal numbers, and lat and lon of the same shape",
                       (long long)nlat, (long long)nlon);
    if (o->edges == CUBED_EDGES_LATITUDES)
        return cb_fail(err, CUBED_E_ARG,
                       "gridarea: edges are 'latitudes' and cells have %lld corners, expected "
                       "edges 'great_circles', or bounds with two ends",
                       (long long)nlat);
    return CUBED_OK;
}

static cubed_array *angles(cb_steps *s, cubed_array *x)
{
    return x ? cb_step_cast(s, x, CUBED_FLOAT64) : NULL;
}

/* Splits an axis into chunks of at most n elements, so that blocks of areas are not too large. */
static cubed_array *in_chunks(cb_steps *s, cubed_array *x, int64_t n)
{
    cubed_array *y = NULL;
    if (!x || cubed_array_chunks(x)[0] <= n) return x;
    return cb_step(s, cubed_rechunk(x, &n, &y, s->err), &y);
}

static cubed_array *regular(cb_steps *s, cubed_array *lat, cubed_array *lon,
                            const cubed_area_options *o)
{
    enum { SIDE = 2048 }; /* 2048 x 2048 areas of 8 bytes are 32 MiB */
    cubed_array *y = angles(s, o->lat_bounds ? o->lat_bounds : lat);
    cubed_array *x = angles(s, o->lon_bounds ? o->lon_bounds : lon);
    y = degrees(s, y, false, o->lat_bounds);
    x = degrees(s, x, true, o->lon_bounds);
    if (!y || !x) return NULL;
    edges e = o->lat_bounds ? ends_of(s, y) : latitudes(s, y);
    cubed_array *width = o->lon_bounds ? widths_of(s, x) : widths(s, x);
    const int64_t column[2] = {lat->shape[0], 1};
    e.low = cb_step_reshaped(s, in_chunks(s, e.low, SIDE), 2, column);
    e.high = cb_step_reshaped(s, in_chunks(s, e.high, SIDE), 2, column);
    return between(s, e, in_chunks(s, width, SIDE), o->edges);
}

static cubed_array *named_as(cb_steps *s, cubed_array *x, const cubed_array *lat,
                             const cubed_array *lon)
{
    cubed_array *y = NULL;
    const char *names[CUBED_MAX_NDIM];
    if (!x) return NULL;
    for (int d = 0; d < x->node.grid->ndim; d++)
        names[d] = lon ? cubed_array_dim_name(d == 0 ? lat : lon, 0) : cubed_array_dim_name(lat, d);
    return cb_step(s, cubed_array_with_dim_names(x, names, &y, s->err), &y);
}

cubed_status cubed_grid_area(cubed_array *lat, cubed_array *lon, const cubed_area_options *options,
                             cubed_array **out, cubed_error *err)
{
    cubed_area_options o = CUBED_AREA_OPTIONS_INIT;
    bool is_polygons;
    CB_TRY(CB_OPTIONS_TAKE("gridarea", options, &o, err));
    if ((unsigned)o.edges > CUBED_EDGES_LATITUDES)
        return cb_fail(err, CUBED_E_ARG, "gridarea: edges are number %d, expected 0 to %d",
                       (int)o.edges, CUBED_EDGES_LATITUDES);
    CB_TRY(check(lat, lon, &o, &is_polygons, err));
    cb_steps s = {.ctx = lat->ctx, .err = err};
    cubed_array *y;
    if (is_polygons)
        y = polygons(&s, angles(&s, o.lat_bounds), angles(&s, o.lon_bounds));
    else
        y = regular(&s, lat, lon, &o);
    y = by(&s, CUBED_OP_MULTIPLY, y, o.radius * o.radius);
    return cb_steps_end(&s, named_as(&s, y, lat, is_polygons ? NULL : lon), out);
}
