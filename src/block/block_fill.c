/* Replaces missing elements of fields by averages of the nearest elements that are not missing, weighted by inverse distance
 * (Shepard 1968). Distances are straight lines through the sphere, as in CDO. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "block/regular_index.h"
#include "block/space_index.h"

/* CELLS  number of cells between checks for cancellation
 * ROWS   maximum number of rows that are searched one by one once a tree exists. For more rows, the tree is faster
 * TREE   work of searches by rows, per cell, before which no tree is built. Building the tree costs about as much */
enum { CELLS = 1024, ROWS = 24, TREE = 64 };

/* The cells of a plane, the plane that is filled, and indexes of the cells. */
typedef struct fill {
    int64_t cells, across; /* across: number of elements of the axis of longitudes */
    bool regular;
    const double *lat, *lon;
    cubed_dtype dtype;
    const void *plane;
    void *tree_memory;
    bool has_rows, has_tree,
        tree_is_current; /* tree_is_current: the usable cells of `tree` are those of the plane */
    cb_regular_index rows;
    cb_space_index tree;
} fill;

/* The cells that the previous search in the plane found. */
typedef struct nearby {
    int n;
    bool in_tree;
    cb_space_near found[CB_MOST_NEIGHBOURS];
} nearby;

/* Returns how many of the last axes of x index cells. */
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
    const cb_fill_params *p = call->params;
    size_t bytes = cb_space_points_bytes(cb_block_extents(x, x->ndim - cell_axes(call), x->ndim));
    (void)ctx;
    if (p->regular)
        bytes = cb_sat_add(bytes, cb_regular_bytes(x->shape[x->ndim - 2], x->shape[x->ndim - 1]));
    return (cubed_block_need){.scratch = bytes};
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

static cb_vec position_at(const fill *f, int64_t i)
{
    return f->has_rows ? cb_regular_at(&f->rows, i / f->across, i % f->across) : position(f, i);
}

/* Returns a squared distance within which there are at least k elements: the largest distance to an element that the previous
 * search found, or CB_SPACE_FARTHEST if it found fewer than k. It is small if the cells of both searches are close to each
 * other. */
static double distance_bound(const fill *f, const nearby *last, cb_vec at, int k)
{
    double most = 0;
    if (last->n < k) return CB_SPACE_FARTHEST;
    for (int i = 0; i < k; i++) {
        const cb_space_near *found = &last->found[i];
        const cb_vec v = last->in_tree ? f->tree.points[found->place] : position_at(f, found->item);
        most = fmax(most, cb_vec_distance2(v, at));
    }
    return most;
}

static bool needs_tree(const fill *f)
{
    return !f->has_rows || f->has_tree || f->rows.work > TREE * f->cells;
}

static void use_tree(fill *f)
{
    if (!f->has_tree) cb_space_points(f->tree_memory, f->cells, position, f, &f->tree);
    if (!f->tree_is_current) cb_space_use(&f->tree, is_there, f);
    f->has_tree = f->tree_is_current = true;
}

/* Finds the k elements nearest to a cell at `at`. On entry, `last` has the elements that the previous search found. It receives
 * the elements that this search finds. */
static void find_nearest(fill *f, int64_t cell, cb_vec at, int k, nearby *last)
{
    const double most = distance_bound(f, last, at, k);
    bool by_rows = f->has_rows;
    if (by_rows && needs_tree(f)) {
        const double rows = 2 * sqrt(most) / f->rows.step;
        /* At the first cell of a gap, the bound is too large, but the previous cell has an element. So few rows are searched. */
        by_rows = rows <= ROWS || (cell > 0 && is_there(f, cell - 1));
        if (!by_rows) use_tree(f);
    }
    last->in_tree = !by_rows;
    last->n = by_rows ? cb_regular_nearest(&f->rows, cell, k, most, last->found)
                      : cb_space_nearest_within(&f->tree, at, k, most, last->found);
}

/* Returns the mean of the n elements that are nearest to a cell. An element less than a micrometre (on the earth) away gets the
 * full weight. */
static double mean_of(const fill *f, const cb_space_near *found, int n)
{
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
static bool fill_plane(const cubed_block_call *call, fill *f, void *to)
{
    const cb_fill_params *p = call->params;
    nearby last = {.n = 0};
    f->tree_is_current = false;
    if (f->has_rows)
        cb_regular_use(&f->rows, is_there, f);
    else
        use_tree(f);
    for (int64_t i = 0; i < f->cells; i++) {
        if (i % CELLS == 0 && cubed_block_cancelled(call)) return false;
        if (is_there(f, i)) continue;
        const cb_vec at = position_at(f, i);
        if (isnan(at.x)) continue;
        find_nearest(f, i, at, p->neighbours, &last);
        const double value = mean_of(f, last.found, last.n);
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
              .dtype = x->dtype,
              .tree_memory = call->scratch};
    const size_t bytes = (size_t)f.cells * cubed_dtype_size(x->dtype);
    (void)ctx;
    CB_TRY(check_degrees(CB_FILL_NAME(p->neighbours), &call->in[1], false, err));
    CB_TRY(check_degrees(CB_FILL_NAME(p->neighbours), &call->in[2], true, err));
    if (!call->out[0].data || f.cells == 0) return CUBED_OK;
    if (f.regular) {
        const int64_t rows = x->shape[first];
        f.has_rows = cb_regular_build(call->scratch, f.lat, rows, f.lon, f.across, &f.rows);
        f.tree_memory = (char *)call->scratch + cb_regular_bytes(rows, f.across);
    }
    for (int64_t i = 0; i < planes; i++) {
        char *to = (char *)call->out[0].data + (size_t)i * bytes;
        f.plane = (const char *)x->data + (size_t)i * bytes;
        memcpy(to, f.plane, bytes);
        const int64_t missing = count_missing(&f);
        if (missing == 0 || missing == f.cells) continue;
        if (!fill_plane(call, &f, to)) return CUBED_OK;
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_fill_missing = {
    .name = "fill_missing", .check = check, .need = need, .run = run, .divisible = true};
