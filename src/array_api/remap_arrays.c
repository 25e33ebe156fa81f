/* Converts arrays in memory to grids and weights, and grids and weights to arrays. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/remap.h"
#include "grid/grid.h"
#include "ops/shapes.h"
#include "ops/steps.h"

/* --- From arrays --------------------------------------------------------------------------------------- */

static void read_number(const cb_node *n, int64_t at, void *to)
{
    const char *from = (const char *)n->data + at;
    if (n->dtype == CUBED_FLOAT32) {
        float v;
        memcpy(&v, from, sizeof v);
        *(double *)to = (double)v;
    } else {
        memcpy(to, from, 8);
    }
}

/* Reads all elements, in C order, into memory of the zone. Elements have 8 bytes or are float32. */
static cubed_status read_elements(cb_zone *zone, const char *what, const cubed_array *x, bool real,
                                  void **out, cubed_error *err)
{
    const cb_node *n = &x->node;
    const int ndim = n->grid->ndim;
    char text[CUBED_DTYPE_TEXT_CAP];
    int64_t count = 0, idx[CUBED_MAX_NDIM] = {0};
    const bool fits =
        real ? n->dtype == CUBED_FLOAT64 || n->dtype == CUBED_FLOAT32 : n->dtype == CUBED_INT64;
    if (!fits)
        return cb_fail(err, CUBED_E_TYPE, "%s: the type is %s, expected %s", what,
                       cubed_dtype_text(n->dtype, text), real ? "float64" : "int64");
    if (n->kind != CB_NODE_MEMORY)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: the array is lazy, expected elements in memory; compute it first",
                       what);
    if (cb_count(ndim, x->shape, &count) || count > INT64_MAX / 8)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: %s", what);
    char *to = cb_zone_alloc(zone, (size_t)count * 8 + 8);
    if (!to) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %s", what);
    for (int64_t i = 0; i < count; i++, to += 8) {
        int64_t at = 0;
        for (int d = 0; d < ndim; d++) at += idx[d] * n->strides[d];
        read_number(n, at, to);
        for (int d = ndim - 1; d >= 0 && ++idx[d] == x->shape[d]; d--) idx[d] = 0;
    }
    *out = to - count * 8;
    return CUBED_OK;
}

/* Checks that `bounds` has x's shape and one additional axis. */
static cubed_status check_bounds(const char *what, const cubed_array *x, const cubed_array *bounds,
                                 int corners, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    bool same = bounds->node.grid->ndim == ndim + 1;
    for (int d = 0; d < ndim && same; d++) same = bounds->shape[d] == x->shape[d];
    if (same && bounds->shape[ndim] == corners) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s have another shape than expected: that of the coordinate and a last axis "
                   "with %d corners",
                   what, corners);
}

static cubed_status set_shape(const cubed_array *lat, const cubed_array *lon, bool unstructured,
                              cubed_grid_cells *c, cubed_error *err)
{
    const int ndim = lat->node.grid->ndim;
    if (ndim != lon->node.grid->ndim || ndim < 1 || ndim > 2 || (unstructured && ndim != 1))
        return cb_fail(err, CUBED_E_ARG,
                       "grid: latitudes have %d dimensions and longitudes %d, expected %s", ndim,
                       lon->node.grid->ndim, unstructured ? "1" : "1 or 2");
    c->regular = ndim == 1 && !unstructured;
    c->ndim = unstructured ? 1 : 2;
    c->shape[0] = lat->shape[0];
    c->shape[1] = c->regular ? lon->shape[0] : ndim == 2 ? lat->shape[1] : 1;
    if (c->regular) return CUBED_OK;
    for (int d = 0; d < ndim; d++) {
        if (lat->shape[d] != lon->shape[d])
            return cb_fail(
                err, CUBED_E_ARG,
                "grid: axis %d has %lld latitudes and %lld longitudes, expected equal numbers", d,
                (long long)lat->shape[d], (long long)lon->shape[d]);
    }
    return CUBED_OK;
}

cubed_status cubed_grid_from_arrays(cubed_array *lat, cubed_array *lon, cubed_array *lat_bounds,
                                    cubed_array *lon_bounds, bool unstructured, cubed_grid **out,
                                    cubed_error *err)
{
    cubed_grid_cells c = CUBED_GRID_CELLS_INIT;
    cb_zone *zone;
    void *numbers[4] = {NULL};
    CB_TRY(set_shape(lat, lon, unstructured, &c, err));
    CB_TRY(cb_zone_new(&lat->ctx->alloc, &zone, err));
    cubed_status st = CUBED_OK;
    CB_GO(read_elements(zone, "latitudes", lat, true, &numbers[0], err));
    CB_GO(read_elements(zone, "longitudes", lon, true, &numbers[1], err));
    if (lat_bounds && lon_bounds) {
        const int64_t last =
            lat_bounds
                ->shape[lat_bounds->node.grid->ndim > 0 ? lat_bounds->node.grid->ndim - 1 : 0];
        c.corners = c.regular ? 2 : last > 0 && last < 1000 ? (int)last : 0;
        CB_GO(check_bounds("bounds of latitude", lat, lat_bounds, c.corners, err));
        CB_GO(check_bounds("bounds of longitude", lon, lon_bounds, c.corners, err));
        CB_GO(read_elements(zone, "bounds of latitude", lat_bounds, true, &numbers[2], err));
        CB_GO(read_elements(zone, "bounds of longitude", lon_bounds, true, &numbers[3], err));
    }
    c.lat = numbers[0];
    c.lon = numbers[1];
    c.lat_bounds = numbers[2];
    c.lon_bounds = numbers[3];
    CB_GO(cubed_grid_new(lat->ctx, &c, out, err));
out:
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_grid_set_mask(cubed_grid *grid, cubed_array *mask, cubed_error *err)
{
    const cb_node *n = &mask->node;
    const int ndim = grid->ndim;
    bool fits = n->grid->ndim == ndim;
    int64_t idx[2] = {0, 0};
    for (int d = 0; d < ndim && fits; d++) fits = mask->shape[d] == grid->shape[d];
    if (n->dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "grid: the mask is %s, expected bool",
                       cubed_dtype_name(n->dtype));
    if (!fits) {
        char is[CB_SHAPE_TEXT_CAP], wanted[CB_SHAPE_TEXT_CAP];
        return cb_fail(err, CUBED_E_ARG, "grid: the mask has shape %s, expected %s",
                       cb_shape_text(mask, is), cb_extents_text(ndim, grid->shape, wanted));
    }
    if (n->kind != CB_NODE_MEMORY)
        return cb_fail(err, CUBED_E_ARG,
                       "grid: the mask is lazy, expected elements in memory; compute it first");
    grid->mask = cb_zone_alloc(grid->zone, (size_t)grid->n * sizeof *grid->mask);
    if (!grid->mask)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a mask of %lld cells",
                       (long long)grid->n);
    for (int64_t i = 0; i < grid->n; i++) {
        int64_t at = 0;
        for (int d = 0; d < ndim; d++) at += idx[d] * n->strides[d];
        grid->mask[i] = *((const char *)n->data + at) != 0;
        for (int d = ndim - 1; d >= 0 && ++idx[d] == grid->shape[d]; d--) idx[d] = 0;
    }
    return CUBED_OK;
}

cubed_status cubed_weights_from_arrays(const cubed_weights_shape *shape, cubed_array *rows,
                                       cubed_array *columns, cubed_array *values,
                                       cubed_weights **out, cubed_error *err)
{
    cubed_array *const given[3] = {rows, columns, values};
    const char *const names[3] = {"rows", "columns", "weights"};
    void *numbers[3];
    cb_zone *zone;
    CB_TRY(cb_zone_new(&rows->ctx->alloc, &zone, err));
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 3; i++) {
        if (given[i]->node.grid->ndim != 1 || given[i]->shape[0] != rows->shape[0]) {
            st = cb_fail(err, CUBED_E_ARG,
                         "weights: %s have %d dimensions, expected 1 with as many elements as rows",
                         names[i], given[i]->node.grid->ndim);
            goto out;
        }
        CB_GO(read_elements(zone, names[i], given[i], i == 2, &numbers[i], err));
    }
    CB_GO(cubed_weights_from_links(rows->ctx, shape, rows->shape[0], numbers[0], numbers[1],
                                   numbers[2], out, err));
out:
    cb_zone_free(zone);
    return st;
}

/* --- As arrays ----------------------------------------------------------------------------------------- */

/* Numbers in C order, with the type and shape of the array that they fill. */
typedef struct numbers {
    cubed_dtype dtype;
    int ndim;
    int64_t shape[3];
    const void *data;
} numbers;

static cubed_array *owned(cb_steps *s, const numbers *n)
{
    return cb_api_copied(s, n->dtype, n->ndim, n->shape, NULL, n->data);
}

cubed_status cubed_grid_arrays(cubed_context *ctx, const cubed_grid *grid, cubed_array **out,
                               cubed_error *err)
{
    cb_steps s = {.ctx = ctx, .err = err};
    cubed_array *made[4], **outs[4] = {&out[0], &out[1], &out[2], &out[3]};
    const double *const data[4] = {grid->lat, grid->lon, grid->lat_bounds, grid->lon_bounds};
    for (int i = 0; i < 4; i++) {
        numbers n = {.dtype = CUBED_FLOAT64, .ndim = grid->regular ? 1 : grid->ndim};
        for (int d = 0; d < n.ndim; d++) n.shape[d] = grid->shape[grid->regular ? i % 2 : d];
        if (i >= 2) n.shape[n.ndim++] = grid->corners;
        n.data = data[i];
        made[i] = owned(&s, &n);
    }
    return cb_steps_end_all(&s, made, outs, 4);
}

cubed_status cubed_grid_mask(cubed_context *ctx, const cubed_grid *grid, cubed_array **out,
                             cubed_error *err)
{
    cb_steps s = {.ctx = ctx, .err = err};
    const numbers n = {
        CUBED_BOOL, grid->ndim, {grid->shape[0], grid->shape[1], 0}, .data = grid->mask};
    *out = NULL;
    if (!grid->mask) return CUBED_OK;
    return cb_steps_end(&s, owned(&s, &n), out);
}

cubed_status cubed_weights_arrays(cubed_weights *weights, cubed_array **out, cubed_error *err)
{
    cubed_context *ctx = weights->ctx;
    cb_steps s = {.ctx = ctx, .err = err};
    cubed_array *made[3] = {NULL}, **outs[3] = {&out[0], &out[1], &out[2]};
    const size_t bytes = (size_t)weights->n * sizeof(int64_t);
    int64_t *rows = cb_alloc(&ctx->alloc, bytes), *columns = cb_alloc(&ctx->alloc, bytes);
    cubed_status st;
    if (!rows || !columns) {
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: %lld weights", (long long)weights->n);
    } else {
        for (int64_t r = 0; r < weights->rows; r++) {
            for (int64_t k = weights->starts[r]; k < weights->starts[r + 1]; k++) {
                rows[k] = r;
                columns[k] = weights->column[k];
            }
        }
        const numbers of[3] = {{CUBED_INT64, 1, {weights->n}, rows},
                               {CUBED_INT64, 1, {weights->n}, columns},
                               {CUBED_FLOAT64, 1, {weights->n}, weights->value}};
        for (int i = 0; i < 3; i++) made[i] = owned(&s, &of[i]);
        st = cb_steps_end_all(&s, made, outs, 3);
    }
    cb_free(&ctx->alloc, rows, bytes);
    cb_free(&ctx->alloc, columns, bytes);
    return st;
}
