/* Interpolation of images. A filter computes the coefficients of splines. "interpolate" computes a block of the result from the
 * part of the image that an affine map selects. "interpolate_at" visits one block of the image after another, and adds the
 * block's share to each position. */
#include "cubed/interpolation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/image_filters.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "ops/blockwise_array.h"
#include "ops/steps.h"

enum {
    MOST_ORDER = 5,
    /* Number of elements that SciPy adds at each end if it has no exact coefficients for a boundary mode. */
    EDGE = 12,
    MOST_POLES = 2,
    LONGEST = 50 /* maximum length of the filter's response on one side */
};

/* Options after checks. */
typedef struct settings {
    cubed_spline_options o;
    cubed_dtype dtype; /* type of the result */
    cubed_dtype made;  /* type in which results are computed; they are cast to `dtype` at the end */
    cubed_dtype wide;  /* float64 or complex128 */
} settings;

static cubed_status take_options(const char *name, const cubed_array *x,
                                 const cubed_spline_options *options, settings *to,
                                 cubed_error *err)
{
    const bool is_complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    cubed_spline_options *o = &to->o;
    *o = (cubed_spline_options)CUBED_SPLINE_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE(name, options, o, err));
    to->dtype = o->dtype ? *o->dtype : x->node.dtype;
    to->wide = is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    const cubed_kind kind = cubed_dtype_kind(to->dtype);
    if (o->order < 0 || o->order > MOST_ORDER)
        return cb_fail(err, CUBED_E_ARG, "%s: order is %d, expected 0 to %d", name, o->order,
                       MOST_ORDER);
    if ((unsigned)o->boundary >= CUBED_SPLINE_BOUNDARIES)
        return cb_fail(err, CUBED_E_ARG, "%s: boundary is number %d, expected less than %d", name,
                       (int)o->boundary, CUBED_SPLINE_BOUNDARIES);
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_COMPLEX || kind > CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected numbers", name,
                       cubed_dtype_name(kind > CUBED_KIND_COMPLEX ? to->dtype : x->node.dtype));
    if (is_complex && kind != CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE,
                       "%s: the type of the result is %s, expected a complex one for %s", name,
                       cubed_dtype_name(to->dtype), cubed_dtype_name(x->node.dtype));
    const bool is_half = kind == CUBED_KIND_FLOAT && cubed_dtype_size(to->dtype) == 2;
    to->made = is_half || (!is_complex && kind == CUBED_KIND_COMPLEX) ? CUBED_FLOAT64 : to->dtype;
    return CUBED_OK;
}

/* --- Coefficients -------------------------------------------------------------------------------------- */

/* Sets the impulse response, at -*n to *n, of the filter 1 / b, where b has the values of a spline at integers. The response
 * is a sum of powers of the poles (listed by Unser, Aldroubi and Eden). */
static void set_response(int order, double response[2 * LONGEST + 1], int *n)
{
    static const double poles[MOST_ORDER + 1][MOST_POLES] = {
        [2] = {-0.17157287525380990239662},
        [3] = {-0.26794919243112270647255},
        [4] = {-0.36134122590022017709221, -0.01372542929733912136033},
        [5] = {-0.43057534709997379185143, -0.04309628820326465382271}};
    /* Numbers of elements after which powers of the larger pole are below 2**-60. */
    static const int lengths[MOST_ORDER + 1] = {[2] = 24, [3] = 32, [4] = 41, [5] = LONGEST};
    double made[2 * LONGEST + 1] = {0};
    *n = lengths[order];
    for (int i = 0; i <= 2 * *n; i++) response[i] = i == *n;
    for (int k = 0; k < order / 2; k++) {
        const double z = poles[order][k], scale = -(1 - z) * (1 - 1 / z) * z / (1 - z * z);
        double power[2 * LONGEST + 1] = {scale};
        for (int i = 1; i <= 2 * *n; i++) power[i] = z * power[i - 1];
        for (int i = 0; i <= 2 * *n; i++) {
            made[i] = 0;
            for (int j = 0; j <= 2 * *n; j++) made[i] += power[i < j ? j - i : i - j] * response[j];
        }
        memcpy(response, made, sizeof made);
    }
}

static cubed_status filter(const char *name, cubed_array *x, uint32_t axes,
                           const cubed_spline_options *o, const cubed_dtype *dtype,
                           cubed_array **out, cubed_error *err)
{
    static const cubed_filter_boundary boundaries[CUBED_SPLINE_BOUNDARIES] = {
        [CUBED_SPLINE_REFLECT] = CUBED_BOUNDARY_REFLECT,
        [CUBED_SPLINE_NEAREST] = CUBED_BOUNDARY_REFLECT,
        [CUBED_SPLINE_GRID_WRAP] = CUBED_BOUNDARY_WRAP,
        [CUBED_SPLINE_MIRROR] = CUBED_BOUNDARY_MIRROR,
        [CUBED_SPLINE_WRAP] = CUBED_BOUNDARY_MIRROR,
        [CUBED_SPLINE_CONSTANT] = CUBED_BOUNDARY_MIRROR,
        [CUBED_SPLINE_GRID_CONSTANT] = CUBED_BOUNDARY_MIRROR};
    double response[2 * LONGEST + 1];
    cubed_filter_options options = CUBED_FILTER_OPTIONS_INIT;
    int n;
    options.boundary = boundaries[o->boundary];
    options.dtype = dtype;
    if (o->order < 2) return cubed_astype(x, *dtype, out, err);
    for (int d = 0; d < x->node.grid->ndim; d++)
        if (x->shape[d] == 1) axes &= ~(1u << d);
    set_response(o->order, response, &n);
    return cb_filter_correlate_axes(name, x, axes, response, 2 * n + 1, &options, out, err);
}

cubed_status cubed_spline_filter(cubed_array *x, uint32_t axes, const cubed_spline_options *options,
                                 cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    settings s;
    CB_TRY(take_options("spline_filter", x, options, &s, err));
    if (ndim < CUBED_MAX_NDIM && axes >> ndim != 0)
        return cb_fail(err, CUBED_E_AXIS, "spline_filter: axes are %#x, expected bits of %d axes",
                       (unsigned)axes, ndim);
    return filter("spline_filter", x, axes, &s.o, &s.dtype, out, err);
}

/* --- Images -------------------------------------------------------------------------------------------- */

/* Computes the coefficients of x in float64 or complex128, with *pad additional elements at each end. Does not filter axes
 * in `kept`. */
static cubed_array *coefficients(cb_steps *s, const char *name, cubed_array *x, const settings *of,
                                 uint32_t kept, int64_t *pad)
{
    const cubed_spline_options *o = &of->o;
    const uint32_t axes = UINT32_MAX >> (CUBED_MAX_NDIM - x->node.grid->ndim) & ~kept;
    const bool is_padded =
        o->boundary == CUBED_SPLINE_NEAREST || o->boundary == CUBED_SPLINE_GRID_CONSTANT;
    cubed_array *y = NULL, *padded = NULL;
    *pad = 0;
    if (o->order < 2 || !o->prefilter) return cb_step_cast(s, x, of->wide);
    if (is_padded) {
        int64_t around[CUBED_MAX_NDIM];
        cubed_scalar values[CUBED_MAX_NDIM][2], value = {.c128 = {o->value, o->imaginary}};
        cubed_pad_options options = CUBED_PAD_OPTIONS_INIT;
        if (of->wide == CUBED_FLOAT64) value = (cubed_scalar){.f64 = o->value};
        for (int d = 0; d < CUBED_MAX_NDIM; d++) {
            around[d] = kept >> d & 1 ? 0 : EDGE;
            values[d][0] = values[d][1] = value;
        }
        *pad = EDGE;
        options.mode = o->boundary == CUBED_SPLINE_NEAREST ? CUBED_PAD_EDGE : CUBED_PAD_CONSTANT;
        options.constant_values = (const cubed_scalar(*)[2])values;
        x = cb_step_cast(s, x, of->wide);
        if (!x) return NULL;
        x = cb_step(s, cubed_pad_with(x, around, around, &options, &padded, s->err), &padded);
    }
    if (!x) return NULL;
    return cb_step(s, filter(name, x, axes, o, &of->wide, &y, s->err), &y);
}

static cubed_status check_image(const char *name, const cubed_array *x, cubed_error *err)
{
    if (x->node.grid->ndim == 0)
        return cb_fail(err, CUBED_E_ARG, "%s: the image has no axis, expected at least one", name);
    for (int d = 0; d < x->node.grid->ndim; d++)
        if (x->shape[d] == 0)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: the image has no elements along axis %d, expected at least one",
                           name, d);
    return CUBED_OK;
}

static cb_interpolate_params parameters(const settings *s, const cubed_array *image, int64_t pad)
{
    cb_interpolate_params p = {.pad = pad,
                               .value = s->o.value,
                               .imaginary = s->o.imaginary,
                               .order = s->o.order,
                               .end = (int32_t)s->o.boundary};
    memcpy(p.extent, image->shape, (size_t)image->node.grid->ndim * sizeof *p.extent);
    return p;
}

/* --- Affine maps --------------------------------------------------------------------------------------- */

static const cb_reach_end reach_ends[CUBED_SPLINE_BOUNDARIES] = {
    [CUBED_SPLINE_REFLECT] = CB_REACH_REFLECT,     [CUBED_SPLINE_MIRROR] = CB_REACH_MIRROR,
    [CUBED_SPLINE_NEAREST] = CB_REACH_CLAMP,       [CUBED_SPLINE_WRAP] = CB_REACH_WRAP_POINTS,
    [CUBED_SPLINE_CONSTANT] = CB_REACH_CLAMP,      [CUBED_SPLINE_GRID_WRAP] = CB_REACH_WRAP,
    [CUBED_SPLINE_GRID_CONSTANT] = CB_REACH_CLAMP,
};

/* Sets the blocks of the result. They are as large as the chunks of x, or smaller if the map shrinks the image. So each block
 * needs about one chunk of x. */
static void set_chunks(const cubed_array *x, const double *matrix, const int64_t *shape,
                       int64_t *chunks)
{
    const int ndim = x->node.grid->ndim;
    for (int j = 0; j < ndim; j++) {
        double most = 1;
        for (int d = 0; d < ndim; d++) most = fmax(most, fabs(matrix[d * ndim + j]));
        const int64_t chunk = cb_min_i64(x->shape[j], x->node.grid->axis[j].chunk);
        chunks[j] = cb_max_i64(1, cb_min_i64(shape[j], (int64_t)ceil((double)chunk / most)));
    }
}

/* Builds the result from `image`, an array of spline coefficients. `map` has a matrix, an offset and the result's shape. `p`
 * points to `size` bytes of parameters of the block function: the structure, and after it the map in the form of
 * block/params.h: offsets, then the matrix or the factors. */
static cubed_status reach(const cubed_array *x, cubed_array *image, const settings *s,
                          const cb_interpolate_params *p, size_t size, const cubed_affine *map,
                          cubed_array **out, cubed_error *err)
{
    const int ndim = image->node.grid->ndim;
    int symbols[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    cb_reach r = {.margin = s->o.order / 2 + 1, .matrix = map->matrix};
    const cb_reach *const reaches[] = {&r};
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d;
        r.extent[d] = image->shape[d];
        r.end[d] = reach_ends[s->o.boundary];
        r.offset[d] = map->offset[d] + (p->kept >> d & 1 ? 0 : (double)p->pad);
    }
    set_chunks(x, map->matrix, map->shape, chunks);
    const cubed_block_input in = {image, symbols, chunks};
    const cubed_block_output to = {s->made, ndim, map->shape, chunks, symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = "interpolate",
                                             .params = p,
                                             .params_size = size,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cb_blockwise_reach(x->ctx, &operation, reaches, out, err);
}

static cubed_status check_map(const cubed_affine *map, int ndim, cubed_error *err)
{
    const double *numbers = map->matrix ? map->matrix : map->factors;
    if (!numbers)
        return cb_fail(err, CUBED_E_ARG,
                       "affine_transform: matrix and factors are NULL, expected one of the two");
    for (int i = 0; i < (map->matrix ? ndim * ndim : ndim); i++)
        if (!isfinite(numbers[i]))
            return cb_fail(err, CUBED_E_ARG,
                           "affine_transform: the matrix contains %g, expected finite numbers",
                           numbers[i]);
    for (int d = 0; map->offset && d < ndim; d++)
        if (!isfinite(map->offset[d]))
            return cb_fail(err, CUBED_E_ARG,
                           "affine_transform: the offset contains %g, expected finite numbers",
                           map->offset[d]);
    for (int d = 0; map->shape && d < ndim; d++)
        if (map->shape[d] < 0)
            return cb_fail(err, CUBED_E_ARG,
                           "affine_transform: axis %d of the result has %" PRId64
                           " elements, expected 0 or more",
                           d, map->shape[d]);
    return CUBED_OK;
}

cubed_status cubed_affine_transform(cubed_array *x, const cubed_affine *map,
                                    const cubed_spline_options *options, cubed_array **out,
                                    cubed_error *err)
{
    const char *const name = "affine_transform";
    const int ndim = x->node.grid->ndim;
    const size_t n = (size_t)ndim, tail = (n + n * n) * sizeof(double);
    settings s;
    CB_TRY(take_options(name, x, options, &s, err));
    CB_TRY(check_image(name, x, err));
    CB_TRY(check_map(map, ndim, err));
    cb_steps steps = {.ctx = x->ctx, .err = err};
    cb_interpolate_params *p = cb_alloc(&x->ctx->alloc, sizeof *p + 2 * tail);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "out of memory: a map of %d axes", ndim);
    /* Store the map in two forms: as the block function expects it, and as a matrix with an offset. */
    double *given = (double *)(p + 1), *offset = given + n + n * n, *matrix = offset + n;
    size_t size = sizeof *p + tail;
    int64_t pad;
    cubed_array *made = NULL, *y = coefficients(&steps, name, x, &s, map->kept, &pad);
    if (!y) goto out;
    *p = parameters(&s, y, pad);
    p->kept = map->kept;
    for (int d = 0; d < ndim; d++) given[d] = offset[d] = map->offset ? map->offset[d] : 0;
    if (map->matrix) {
        memcpy(given + n, map->matrix, n * n * sizeof *given);
        memcpy(matrix, map->matrix, n * n * sizeof *given);
    } else {
        memset(matrix, 0, n * n * sizeof *matrix);
        size = sizeof *p + 2 * n * sizeof *given;
        p->diagonal = 1;
        p->centred = map->centred;
        for (int d = 0; d < ndim; d++) {
            const double f = map->factors[d], edge = map->centred ? 0.5 : 0;
            given[ndim + d] = matrix[d * ndim + d] = f;
            offset[d] = (offset[d] + edge) * f - edge;
        }
    }
    const cubed_affine whole = {
        .matrix = matrix, .offset = offset, .shape = map->shape ? map->shape : x->shape};
    y = cb_step(&steps, reach(x, y, &s, p, size, &whole, &made, err), &made);
    y = cb_step_cast(&steps, y, s.dtype);
out:
    cb_free(&x->ctx->alloc, p, sizeof *p + 2 * tail);
    return cb_steps_end(&steps, y, out);
}

/* --- Coordinates --------------------------------------------------------------------------------------- */

static cubed_status sum_blocks(cubed_array *image, cubed_array *at, const settings *s, int64_t pad,
                               cubed_array **out, cubed_error *err)
{
    const int ndim = image->node.grid->ndim, rank = at->node.grid->ndim - 1;
    const cb_interpolate_params p = parameters(s, image, pad);
    int symbols[2 * CUBED_MAX_NDIM], *const of_image = symbols + CUBED_MAX_NDIM;
    int64_t chunks[CUBED_MAX_NDIM], of_at[CUBED_MAX_NDIM];
    cubed_array *outs[2] = {NULL, NULL};
    if (rank + ndim > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_ARG,
                       "map_coordinates: the image has %d axes and the result %d, expected at most "
                       "%d together",
                       ndim, rank, CUBED_MAX_NDIM);
    cb_api_blocks_within(image, 0, INT64_MAX, 1, chunks);
    cb_api_blocks_within(at, 1, INT64_MAX, 1, of_at);
    symbols[0] = -1;
    for (int d = 0; d < rank; d++) symbols[d + 1] = d;
    for (int d = 0; d < ndim; d++) of_image[d] = rank + d;
    const cubed_block_input in[] = {{image, of_image, chunks}, {at, symbols, of_at}};
    const cubed_block_output to[] = {{s->wide, rank, at->shape + 1, of_at + 1, symbols + 1, NULL},
                                     {s->made, rank, at->shape + 1, of_at + 1, symbols + 1, NULL}};
    const cubed_block_operation operation = {.function = "interpolate_at",
                                             .params = &p,
                                             .params_size = sizeof p,
                                             .inputs = in,
                                             .nin = 2,
                                             .outputs = to,
                                             .nout = 2};
    CB_TRY(cubed_blockwise(image->ctx, &operation, outs, err));
    cubed_array_unref(outs[0]);
    *out = outs[1];
    return CUBED_OK;
}

cubed_status cubed_map_coordinates(cubed_array *x, cubed_array *coordinates,
                                   const cubed_spline_options *options, cubed_array **out,
                                   cubed_error *err)
{
    const char *const name = "map_coordinates";
    const int ndim = x->node.grid->ndim;
    settings s;
    CB_TRY(take_options(name, x, options, &s, err));
    CB_TRY(check_image(name, x, err));
    if (cubed_dtype_kind(coordinates->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s: coordinates are %s, expected real numbers", name,
                       cubed_dtype_name(coordinates->node.dtype));
    if (coordinates->node.grid->ndim == 0 || coordinates->shape[0] != ndim)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: coordinates have %" PRId64
                       " positions along the first axis, expected one for each axis of the image: "
                       "%d",
                       name, coordinates->node.grid->ndim ? coordinates->shape[0] : 0, ndim);
    cb_steps steps = {.ctx = x->ctx, .err = err};
    int64_t pad = 0;
    cubed_array *made = NULL, *y = coefficients(&steps, name, x, &s, 0, &pad);
    cubed_array *at = cb_step_cast(&steps, coordinates, CUBED_FLOAT64);
    if (y && at) y = cb_step(&steps, sum_blocks(y, at, &s, pad, &made, err), &made);
    return cb_steps_end(&steps, cb_step_cast(&steps, y, s.dtype), out);
}
