/* Replaces missing elements of fields by the nearest elements, or by their means (cubed/fields.h). */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "cubed/fields.h"
#include "ops/shapes.h"
#include "ops/steps.h"

static cubed_status check_numbers(const char *who, const char *name, const cubed_array *x,
                                  cubed_error *err)
{
    if (cubed_dtype_kind(x->node.dtype) <= CUBED_KIND_FLOAT) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s: %s is %s, expected real numbers", who, name,
                   cubed_dtype_name(x->node.dtype));
}

/* Checks the shapes of the coordinates. *naxes receives how many of the last axes of x index cells. */
static cubed_status check_cells(const char *who, const cubed_array *x, const cubed_array *lat,
                                const cubed_array *lon, bool regular, int *naxes, cubed_error *err)
{
    char own[CB_SHAPE_TEXT_CAP], of_lat[CB_SHAPE_TEXT_CAP], of_lon[CB_SHAPE_TEXT_CAP];
    const int ndim = x->node.grid->ndim, n = lat->node.grid->ndim;
    bool fits = lon->node.grid->ndim == n && n >= 1 && n <= 2;
    *naxes = regular ? 2 : n;
    const int first = ndim - *naxes;
    fits = fits && first >= 0;
    if (fits && regular)
        fits = x->shape[first] == lat->shape[0] && x->shape[first + 1] == lon->shape[0];
    for (int d = 0; d < n && fits && !regular; d++)
        fits = x->shape[first + d] == lat->shape[d] && x->shape[first + d] == lon->shape[d];
    if (fits) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_ARG,
        "%s: x has shape %s, lat %s and lon %s; expected the last two axes of x for axes "
        "of a regular grid, or its last axes with the shape of lat and lon, which are "
        "those of cells if they have two dimensions or `unstructured` is true",
        who, cb_shape_text(x, own), cb_shape_text(lat, of_lat), cb_shape_text(lon, of_lon));
}

/* Calls the function "fill_missing" on planes of x. */
static cubed_array *filled(cb_steps *s, cubed_array *x, cubed_array *lat, cubed_array *lon,
                           int naxes, const cb_fill_params *params)
{
    static const int whole[2] = {-1, -1};
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (!x || !lat || !lon) return NULL;
    const int ndim = x->node.grid->ndim, first = ndim - naxes;
    uint32_t cells = 0;
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d < first ? d : -1;
        cells |= d < first ? 0 : 1u << d;
    }
    cb_api_blocks(x, cells, cubed_dtype_size(x->node.dtype), chunks);
    const cubed_block_input in[3] = {{x, symbols, chunks}, {lat, whole, NULL}, {lon, whole, NULL}};
    const cubed_block_output to = {x->node.dtype, ndim,    x->shape,
                                   chunks,        symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = "fill_missing",
                                             .params = params,
                                             .params_size = sizeof *params,
                                             .inputs = in,
                                             .nin = 3,
                                             .outputs = &to,
                                             .nout = 1};
    return cb_step(s, cubed_blockwise(s->ctx, &operation, &y, s->err), &y);
}

cubed_status cubed_fill_missing(cubed_array *x, cubed_array *lat, cubed_array *lon,
                                const cubed_fill_options *options, cubed_array **out,
                                cubed_error *err)
{
    cubed_fill_options o = CUBED_FILL_OPTIONS_INIT;
    int naxes;
    CB_TRY(CB_OPTIONS_TAKE("setmisstodis", options, &o, err));
    if (o.neighbours < 1 || o.neighbours > CB_MOST_NEIGHBOURS)
        return cb_fail(err, CUBED_E_ARG, "setmisstodis: neighbours is %d, expected 1 to %d",
                       o.neighbours, CB_MOST_NEIGHBOURS);
    const char *who = CB_FILL_NAME(o.neighbours);
    CB_TRY(check_numbers(who, "x", x, err));
    CB_TRY(check_numbers(who, "lat", lat, err));
    CB_TRY(check_numbers(who, "lon", lon, err));
    const bool regular = lat->node.grid->ndim == 1 && !o.unstructured;
    CB_TRY(check_cells(who, x, lat, lon, regular, &naxes, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    const cubed_dtype own = x->node.dtype;
    /* Integers and bools have no missing elements. */
    if (cubed_dtype_kind(own) != CUBED_KIND_FLOAT)
        return cb_steps_end(&s, cb_step_cast(&s, x, own), out);
    const cubed_dtype wide = own == CUBED_FLOAT64 ? CUBED_FLOAT64 : CUBED_FLOAT32;
    const cb_fill_params params = {regular, o.neighbours};
    cubed_array *y = filled(&s, cb_step_cast(&s, x, wide), cb_step_cast(&s, lat, CUBED_FLOAT64),
                            cb_step_cast(&s, lon, CUBED_FLOAT64), naxes, &params);
    y = y ? cb_step_cast(&s, y, own) : NULL;
    return cb_steps_end(&s, y, out);
}
