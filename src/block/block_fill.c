/* Replaces missing elements of fields by means of the nearest elements that are there, weighted by inverse distance
 * (Shepard 1968). Distances are straight lines through the sphere, as in CDO. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "block/space_index.h"

/* CELLS  number of cells between checks for cancellation
 * ASIDE  cells on each side in which a bound of the distances is sought, in addition to the number of neighbours */
enum { CELLS = 1024, ASIDE = 4 };

/* The cells of a plane, and the plane that is filled. */
typedef struct fill {
    int64_t cells, across; /* across: elements of the axis of longitudes */
    bool regular;
    const double *lat, *lon;
    cubed_dtype dtype;
    const void *plane;
} fill;

/* Returns the number of axes of x that are cells. */
static int cell_axes(const cubed_block_call *call)
{
    const cb_fill_params *p = call->params;
    return p->regular ? 2 : call->in[1].ndim;
}

static bool shapes_fit(const cubed_block_call *call)
{
    const cb_fill_params *p = call->params;
    const cubed_block *x = &call->in[0], *lat = &call->in[1], *lon = &call->in[2];
    const cubed_block *y = &call->out[0];
    const int n = cell_axes(call), first = x->ndim - n;
    bool fit = lat->ndim == lon->ndim && lat->ndim >= 1 && lat->ndim <= (p->regular ? 1 : 2) &&
               first >= 0 && x->ndim == y->ndim;
    for (int d = 0; d < x->ndim && fit; d++) fit = x->shape[d] == y->shape[d];
    if (!fit) return false;
    if (p->regular) return x->shape[first] == lat->shape[0] && x->shape[first + 1] == lon->shape[0];
    for (int d = 0; d < n && fit; d++)
        fit = x->shape[first + d] == lat->shape[d] && x->shape[first + d] == lon->shape[d];
    return fit;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_fill_params *p = call->params;
    (void)ctx;
    bool fits = call->params_size == sizeof *p && call->nin == 3 && call->nout == 1;
    fits = fits && p->neighbours >= 1 && p->neighbours <= CB_MOST_NEIGHBOURS;
    fits = fits && (call->in[0].dtype == CUBED_FLOAT32 || call->in[0].dtype == CUBED_FLOAT64) &&
           call->out[0].dtype == call->in[0].dtype && call->in[1].dtype == CUBED_FLOAT64 &&
           call->in[2].dtype == CUBED_FLOAT64;
    if (!fits || !shapes_fit(call))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the types, shapes or parameters do not match the function");
    const int64_t cells =
        cb_block_extents(&call->in[0], call->in[0].ndim - cell_axes(call), call->in[0].ndim);
    if (cells < 0 || cells > INT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "fields have %" PRId64 " cells, expected at most %d", cells, INT32_MAX);
    return CUBED_OK;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cubed_block *x = &call->in[0];
    (void)ctx;
    return (cubed_block_need){
        .scratch = cb_space_points_bytes(cb_block_extents(x, x->ndim - cell_axes(call), x->ndim))};
}

/* Returns the position of a cell; NaN if its coordinates are not finite. */
static cb_vec position(const void *ctx, int64_t i)
{
    const fill *f = ctx;
    const double lat = f->lat[f->regular ? i / f->across : i];
    const double lon = f->lon[f->regular ? i % f->across : i];
    return isfinite(lat) && isfinite(lon) ? cb_vec_of(lat, lon) : (cb_vec){NAN, NAN, NAN};
}

static double element(const fill *f, int64_t i)
{
    return f->dtype == CUBED_FLOAT32 ? (double)((const float *)f->plane)[i]
                                     : ((const double *)f->plane)[i];
}

static bool is_there(const void *ctx, int64_t i) { return !isnan(element(ctx, i)); }

/* Returns a squared distance within which k elements can be used. Elements before and after a cell are near on most grids. */
static double distance_bound(const fill *f, int64_t cell, cb_vec at, int k)
{
    const int64_t last = k + ASIDE;
    double most = 0;
    for (int64_t step = 1; step <= last; step++) {
        for (int side = -1; side <= 1; side += 2) {
            const int64_t i = cell + side * step;
            if (i < 0 || i >= f->cells || !is_there(f, i)) continue;
            const cb_vec v = position(f, i);
            if (isnan(v.x)) continue;
            most = fmax(most, cb_vec_distance2(v, at));
            if (--k == 0) return most;
        }
    }
    return CB_SPACE_FARTHEST;
}

/* Returns the mean of the k usable elements that are nearest to a cell at `at`. An element less than a micrometre (on the earth)
 * away gets the full weight. */
static double mean_near(const fill *f, const cb_space_index *index, int64_t cell, cb_vec at, int k)
{
    cb_space_near found[CB_MOST_NEIGHBOURS];
    const int n = cb_space_nearest_within(index, at, k, distance_bound(f, cell, at, k), found);
    double sum = 0, weights = 0;
    if (n > 0 && (n == 1 || found[0].distance2 < 1e-26)) return element(f, found[0].item);
    for (int i = 0; i < n; i++) {
        const double weight = 1 / sqrt(found[i].distance2);
        sum += weight * element(f, found[i].item);
        weights += weight;
    }
    return sum / weights; /* NaN if no element was found */
}

/* Fills the elements of a plane that are missing. Returns false if the call was cancelled. */
static bool fill_plane(const cubed_block_call *call, const fill *f, const cb_space_index *index,
                       void *to)
{
    const cb_fill_params *p = call->params;
    for (int64_t i = 0; i < f->cells; i++) {
        if (i % CELLS == 0 && cubed_block_cancelled(call)) return false;
        if (is_there(f, i)) continue;
        const cb_vec at = position(f, i);
        if (isnan(at.x)) continue;
        const double value = mean_near(f, index, i, at, p->neighbours);
        if (f->dtype == CUBED_FLOAT32)
            ((float *)to)[i] = (float)value;
        else
            ((double *)to)[i] = value;
    }
    return true;
}

static cubed_status check_degrees(const char *who, const cubed_block *x, bool is_lon,
                                  cubed_error *err)
{
    const double *v = x->data, most = is_lon ? CB_MOST_LON : CB_MOST_LAT;
    const int64_t i = cb_degrees_find_far(v, cb_block_extents(x, 0, x->ndim), most);
    char cell[160];
    if (i < 0) return CUBED_OK;
    cb_block_position(x, i, cell, sizeof cell);
    return cb_fail(err, CUBED_E_ARG, "%s: %s %s%s%s is %g, " CB_DEGREES_EXPECTED, who,
                   is_lon ? "longitude" : "latitude", x->ndim > 1 ? "(" : "", cell,
                   x->ndim > 1 ? ")" : "", v[i], most, most);
}

static int64_t count_missing(const fill *f)
{
    int64_t n = 0;
    for (int64_t i = 0; i < f->cells; i++) n += !is_there(f, i);
    return n;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_fill_params *p = call->params;
    const cubed_block *x = &call->in[0];
    const int first = x->ndim - cell_axes(call);
    const int64_t planes = cb_block_extents(x, 0, first);
    fill f = {.cells = cb_block_extents(x, first, x->ndim),
              .across = x->shape[x->ndim - 1],
              .regular = p->regular,
              .lat = call->in[1].data,
              .lon = call->in[2].data,
              .dtype = x->dtype};
    const size_t bytes = (size_t)f.cells * cubed_dtype_size(x->dtype);
    cb_space_index index;
    bool has_index = false;
    (void)ctx;
    CB_TRY(check_degrees(CB_FILL_NAME(p->neighbours), &call->in[1], false, err));
    CB_TRY(check_degrees(CB_FILL_NAME(p->neighbours), &call->in[2], true, err));
    if (!call->out[0].data || f.cells == 0) return CUBED_OK;
    for (int64_t i = 0; i < planes; i++) {
        char *to = (char *)call->out[0].data + (size_t)i * bytes;
        f.plane = (const char *)x->data + (size_t)i * bytes;
        memcpy(to, f.plane, bytes);
        const int64_t missing = count_missing(&f);
        if (missing == 0 || missing == f.cells) continue;
        if (!has_index) cb_space_points(call->scratch, f.cells, position, &f, &index);
        has_index = true;
        if (cb_space_use(&index, is_there, &f) == 0) continue;
        if (!fill_plane(call, &f, &index, to)) return CUBED_OK;
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_fill_missing = {
    .name = "fill_missing", .check = check, .need = need, .run = run, .divisible = true};
