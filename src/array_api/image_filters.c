/* Filters of images. The padded image is a view, which is read in overlapping blocks. The function "filter" computes one block of
 * the result from each block. */
#include "cubed/filters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/image_filters.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "dtype/scalar.h"
#include "ops/steps.h"

/* Maximum radius of a Gaussian, size of a box, and order of a derivative. They are limited because the weights are part of
 * the plan. */
enum { MOST_AROUND = 1 << 20, MOST_BOX = 1 << 24 /* bytes */, MOST_ORDER = 16 };
/* SciPy does not filter along axes with smaller standard deviations. */
#define NO_SIGMA 1e-15

/* Options of a filter after checks, with an entry for each axis. */
typedef struct settings {
    cubed_filter_boundary boundary[CUBED_MAX_NDIM];
    int64_t origin[CUBED_MAX_NDIM];
    double value;
    cubed_dtype dtype; /* type of the result */
    /* pad the image before the filter along each axis instead of once, because each filter changes the padding */
    bool each_axis;
} settings;

static cubed_status take_options(const char *name, const cubed_array *x,
                                 const cubed_filter_options *options, settings *to,
                                 cubed_error *err)
{
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE(name, options, &o, err));
    *to = (settings){.value = o.value, .dtype = o.dtype ? *o.dtype : x->node.dtype};
    for (int d = 0; d < x->node.grid->ndim; d++) {
        to->boundary[d] = o.boundaries ? o.boundaries[d] : o.boundary;
        to->origin[d] = o.origins ? o.origins[d] : 0;
        if ((unsigned)to->boundary[d] >= CUBED_BOUNDARY_COUNT)
            return cb_fail(
                err, CUBED_E_ARG,
                "%s: boundary is %d, expected reflect, nearest, wrap, constant or mirror", name,
                (int)to->boundary[d]);
    }
    return CUBED_OK;
}

/* --- Steps -------------------------------------------------------------------------------------------- */

/* Pads each axis of x with as many elements as the filter needs. */
static cubed_status pad(cubed_array *x, const cb_filter_params *p, const settings *o,
                        cubed_array **out, cubed_error *err)
{
    static const cubed_pad_mode modes[CUBED_BOUNDARY_COUNT] = {
        [CUBED_BOUNDARY_REFLECT] = CUBED_PAD_SYMMETRIC,
        [CUBED_BOUNDARY_NEAREST] = CUBED_PAD_EDGE,
        [CUBED_BOUNDARY_WRAP] = CUBED_PAD_WRAP,
        [CUBED_BOUNDARY_CONSTANT] = CUBED_PAD_CONSTANT,
        [CUBED_BOUNDARY_MIRROR] = CUBED_PAD_REFLECT};
    const cubed_scalar value = cb_scalar_from_double(x->node.dtype, o->value);
    cubed_scalar values[CUBED_MAX_NDIM][2];
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x;
    for (int d = 0; d < x->node.grid->ndim; d++) values[d][0] = values[d][1] = value;
    for (int d = 0; d < x->node.grid->ndim && y; d++) {
        int64_t before[CUBED_MAX_NDIM] = {0}, after[CUBED_MAX_NDIM] = {0};
        cubed_pad_options padding = CUBED_PAD_OPTIONS_INIT;
        cubed_array *next = NULL;
        if (p->before[d] == 0 && p->after[d] == 0) continue;
        before[d] = p->before[d];
        after[d] = p->after[d];
        padding.mode = modes[o->boundary[d]];
        padding.constant_values = (const cubed_scalar(*)[2])values;
        y = cb_step(&s, cubed_pad_with(y, before, after, &padding, &next, err), &next);
    }
    return cb_steps_end(&s, y, out);
}

/* Filters a padded image block by block. */
static cubed_status run(const cubed_array *x, cubed_array *padded, const cb_filter_params *p,
                        size_t size, cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_block_halo halo[CUBED_MAX_NDIM];
    cb_api_blocks_within(x, 0, INT64_MAX, 1, chunks);
    for (int d = 0; d < ndim; d++) {
        symbols[d] = d;
        halo[d] = (cubed_block_halo){p->before[d], p->after[d], p->before[d] || p->after[d]};
    }
    const cubed_block_halo *const halos[] = {halo};
    const cubed_block_input in = {padded, symbols, chunks};
    const cubed_block_output to = {x->node.dtype, ndim,    x->shape,
                                   chunks,        symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = "filter",
                                             .params = p,
                                             .params_size = size,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1,
                                             .halos = halos};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

/* Gets the type in which elements are filtered. */
static cubed_status work_type(const char *name, cubed_dtype dtype, bool takes_complex,
                              cubed_dtype *out, cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    if (kind > (takes_complex ? CUBED_KIND_COMPLEX : CUBED_KIND_FLOAT))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected %s", name,
                       cubed_dtype_name(dtype), takes_complex ? "numbers" : "real numbers");
    *out = dtype == CUBED_BOOL                                        ? CUBED_UINT8
           : kind == CUBED_KIND_FLOAT && cubed_dtype_size(dtype) == 2 ? CUBED_FLOAT32
                                                                      : dtype;
    return CUBED_OK;
}

static bool takes_complex(int32_t kind)
{
    return kind == CB_FILTER_CORRELATE || kind == CB_FILTER_MEAN || kind == CB_FILTER_WEIGHTS;
}

/* Pads and filters x in one pass, in its type. */
static cubed_status filter_once(cubed_array *x, const cb_filter_params *p, size_t size,
                                const settings *o, cubed_array **out, cubed_error *err)
{
    cubed_array *padded = NULL;
    CB_TRY(pad(x, p, o, &padded, err));
    const cubed_status st = run(x, padded, p, size, out, err);
    cubed_array_unref(padded);
    return st;
}

/* Filters along one axis after another, in the type `wide`. Intermediates are cast to the type of the result. */
static cubed_status filter_axes(cubed_array *x, const cb_filter_params *p, const settings *o,
                                cubed_dtype wide, cubed_array **out, cubed_error *err)
{
    const double *weights = (const double *)(p + 1);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x;
    for (int d = 0; d < x->node.grid->ndim && y; d++) {
        const size_t n =
            p->kind == CB_FILTER_CORRELATE ? (size_t)(p->before[d] + 1 + p->after[d]) : 0;
        const size_t size = sizeof *p + n * sizeof *weights;
        cubed_array *next = NULL;
        if (!(p->axes >> d & 1)) continue;
        cb_filter_params *one = cb_alloc(&x->ctx->alloc, size);
        if (!one) {
            s.st = cb_fail(err, CUBED_E_NOMEM, "out of memory: %zu weights", n);
            y = NULL;
            break;
        }
        *one = (cb_filter_params){.kind = p->kind, .axes = 1u << d};
        one->before[d] = p->before[d];
        one->after[d] = p->after[d];
        memcpy(one + 1, weights, n * sizeof *weights);
        weights += n;
        y = cb_step_cast(&s, y, wide);
        if (y) y = cb_step(&s, filter_once(y, one, size, o, &next, err), &next);
        y = cb_step_cast(&s, y, o->dtype);
        cb_free(&x->ctx->alloc, one, size);
    }
    return cb_steps_end(&s, cb_step_cast(&s, y, o->dtype), out);
}

/* Returns true if the type can represent the constant that pads the image. */
static bool has_value(cubed_dtype dtype, const cb_filter_params *p, const settings *o)
{
    const cubed_scalar value = cb_scalar_from_double(dtype, o->value);
    cubed_scalar back;
    bool is_needed = false;
    for (int d = 0; d < CUBED_MAX_NDIM; d++)
        is_needed = is_needed || ((p->before[d] > 0 || p->after[d] > 0) &&
                                  o->boundary[d] == CUBED_BOUNDARY_CONSTANT);
    if (!is_needed) return true;
    cb_scalar_cast(dtype, &value, CUBED_FLOAT64, &back);
    return back.f64 == o->value || (isnan(back.f64) && isnan(o->value));
}

/* Applies a filter with `size` bytes of parameters. Filters that compute extremes or ranks refuse complex numbers. */
static cubed_status filter(const char *name, cubed_array *x, const cb_filter_params *p, size_t size,
                           const settings *o, cubed_array **out, cubed_error *err)
{
    const bool is_sum = takes_complex(p->kind), moves = !is_sum && cb_filter_takes_box(p->kind);
    const bool is_complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    const cubed_dtype wide = is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    const int naxes = __builtin_popcount(p->axes);
    cubed_dtype dtype = x->node.dtype, to = o->dtype;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x, *made = NULL;
    bool is_empty = false;
    CB_TRY(work_type(name, x->node.dtype, is_sum, &dtype, err));
    CB_TRY(work_type(name, o->dtype, is_sum, &to, err));
    if (is_complex && cubed_dtype_kind(to) != CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE,
                       "%s: the type of the result is %s, expected a complex one for %s", name,
                       cubed_dtype_name(o->dtype), cubed_dtype_name(x->node.dtype));
    for (int d = 0; d < x->node.grid->ndim; d++) is_empty = is_empty || x->shape[d] == 0;
    if (is_empty || (naxes == 0 && !cb_filter_takes_box(p->kind)))
        return cubed_astype(x, o->dtype, out, err);
    const bool is_wide = (dtype != to && !moves) || !has_value(dtype, p, o);
    if (naxes > 1 && (o->each_axis || (is_wide && to != wide))) {
        settings narrow = *o;
        narrow.dtype = to;
        y = cb_step(&s, filter_axes(x, p, &narrow, is_wide ? wide : dtype, &made, err), &made);
    } else {
        y = cb_step_cast(&s, x, is_wide ? wide : dtype);
        if (y) y = cb_step(&s, filter_once(y, p, size, o, &made, err), &made);
        y = cb_step_cast(&s, y, to);
    }
    return cb_steps_end(&s, cb_step_cast(&s, y, o->dtype), out);
}

/* --- Gaussians ---------------------------------------------------------------------------------------- */

/* Sets the polynomial q by which a Gaussian is multiplied to get its derivative. The polynomial of the next derivative is q'
 * - q x / sigma^2. */
static void derive(double *q, int order, double sigma)
{
    double next[MOST_ORDER + 1];
    for (int step = 0; step < order; step++) {
        for (int i = 0; i <= order; i++)
            next[i] =
                (i < order ? q[i + 1] * (i + 1) : 0) - (i > 0 ? q[i - 1] / (sigma * sigma) : 0);
        memcpy(q, next, sizeof *q * (size_t)(order + 1));
    }
}

/* Sets the weights at -radius to radius. They are in reverse order, because a correlation applies the weights of a
 * convolution reversed. */
static void set_gaussian(double sigma, int order, int64_t radius, double *w)
{
    double q[MOST_ORDER + 1] = {1}, sum = 0;
    for (int64_t i = -radius; i <= radius; i++) {
        w[i + radius] = exp(-0.5 / (sigma * sigma) * (double)(i * i));
        sum += w[i + radius];
    }
    derive(q, order, sigma);
    for (int64_t i = -radius; i <= radius; i++) {
        const double x = (double)-i;
        double value = 0, power = 1;
        for (int k = 0; k <= order; k++) {
            value += power * q[k];
            power *= x;
        }
        w[i + radius] = w[i + radius] / sum * (order ? value : 1);
    }
}

static cubed_status check_gaussian(int ndim, const double *sigma, const int *order, double truncate,
                                   cb_filter_params *p, cubed_error *err)
{
    *p = (cb_filter_params){.kind = CB_FILTER_CORRELATE};
    for (int d = 0; d < ndim; d++) {
        const double radius = truncate * sigma[d] + 0.5;
        const int n = order ? order[d] : 0;
        if (!(sigma[d] >= 0))
            return cb_fail(err, CUBED_E_ARG, "gaussian_filter: sigma is %g, expected 0 or more",
                           sigma[d]);
        if (n < 0 || n > MOST_ORDER)
            return cb_fail(err, CUBED_E_ARG, "gaussian_filter: order is %d, expected 0 to %d", n,
                           MOST_ORDER);
        if (!(radius >= 0 && radius < MOST_AROUND))
            return cb_fail(err, CUBED_E_ARG,
                           "gaussian_filter: truncate * sigma is %g, expected 0 to %d",
                           truncate * sigma[d], MOST_AROUND);
        if (sigma[d] <= NO_SIGMA) continue;
        p->before[d] = p->after[d] = (int64_t)radius;
        p->axes |= 1u << d;
    }
    return CUBED_OK;
}

static cubed_status gaussian(cubed_array *x, const double *sigma, const int *order, double truncate,
                             const settings *o, cubed_array **out, cubed_error *err)
{
    cb_filter_params p;
    size_t n = 0;
    CB_TRY(check_gaussian(x->node.grid->ndim, sigma, order, truncate, &p, err));
    for (int d = 0; d < x->node.grid->ndim; d++)
        if (p.axes >> d & 1) n += (size_t)(2 * p.before[d] + 1);
    const size_t size = sizeof p + n * sizeof(double);
    cb_filter_params *all = cb_alloc(&x->ctx->alloc, size);
    if (!all) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %zu weights", n);
    *all = p;
    double *w = (double *)(all + 1);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (!(p.axes >> d & 1)) continue;
        set_gaussian(sigma[d], order ? order[d] : 0, p.before[d], w);
        w += 2 * p.before[d] + 1;
    }
    cubed_status st = filter("gaussian_filter", x, all, size, o, out, err);
    cb_free(&x->ctx->alloc, all, size);
    return st;
}

/* SciPy filters one axis after another and pads each intermediate with `value`. A derivative filter changes the padding. So, if
 * there are derivatives and `value` is not 0, this function also pads before each axis. */
cubed_status cubed_filter_gaussian(cubed_array *x, const double *sigma, const int *order,
                                   double truncate, const cubed_filter_options *options,
                                   cubed_array **out, cubed_error *err)
{
    settings o;
    CB_TRY(take_options("gaussian_filter", x, options, &o, err));
    for (int d = 0; d < x->node.grid->ndim; d++)
        o.each_axis = o.each_axis || (order && order[d] != 0 && o.value != 0);
    return gaussian(x, sigma, order, truncate, &o, out, err);
}

/* --- Weights ------------------------------------------------------------------------------------------ */

/* Positions a box with a given extent along an axis. */
static cubed_status place_box(const char *name, int d, int64_t extent, int64_t origin,
                              cb_filter_params *p, cubed_error *err)
{
    const int64_t least = -(extent / 2), most = extent - 1 - extent / 2;
    if (origin < least || origin > most)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: origin is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for %" PRId64
                       " elements along axis %d",
                       name, origin, least, most, extent, d);
    p->before[d] = extent / 2 + origin;
    p->after[d] = extent - 1 - p->before[d];
    return CUBED_OK;
}

cubed_status cb_filter_correlate1d(const char *name, cubed_array *x, const cb_filter_line *line,
                                   const cubed_filter_options *options, cubed_array **out,
                                   cubed_error *err)
{
    cb_filter_params head = {.kind = CB_FILTER_CORRELATE};
    const int64_t n = line->n;
    int axis = line->axis;
    settings o;
    CB_TRY(take_options(name, x, options, &o, err));
    CB_TRY(cb_api_axis(name, x->node.grid->ndim, &axis, err));
    if (n < 1 || n > MOST_AROUND)
        return cb_fail(err, CUBED_E_ARG, "%s: there are %" PRId64 " weights, expected 1 to %d",
                       name, n, MOST_AROUND);
    CB_TRY(place_box(name, axis, n, line->origin, &head, err));
    const size_t size = sizeof head + (size_t)n * sizeof(double);
    cb_filter_params *p = cb_alloc(&x->ctx->alloc, size);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " weights", n);
    head.axes = 1u << axis;
    *p = head;
    memcpy(p + 1, line->weights, (size_t)n * sizeof(double));
    cubed_status st = filter(name, x, p, size, &o, out, err);
    cb_free(&x->ctx->alloc, p, size);
    return st;
}

cubed_status cubed_filter_correlate1d(cubed_array *x, int axis, const double *weights, int64_t n,
                                      int64_t origin, const cubed_filter_options *options,
                                      cubed_array **out, cubed_error *err)
{
    const cb_filter_line line = {axis, weights, n, origin};
    return cb_filter_correlate1d("correlate1d", x, &line, options, out, err);
}

cubed_status cb_filter_correlate_axes(const char *name, cubed_array *x, uint32_t axes,
                                      const double *weights, int n,
                                      const cubed_filter_options *options, cubed_array **out,
                                      cubed_error *err)
{
    const size_t part = (size_t)n * sizeof *weights;
    const size_t size = sizeof(cb_filter_params) + part * (size_t)__builtin_popcount(axes);
    settings o;
    CB_TRY(take_options(name, x, options, &o, err));
    cb_filter_params *p = cb_alloc(&x->ctx->alloc, size);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %d weights", n);
    *p = (cb_filter_params){.kind = CB_FILTER_CORRELATE, .axes = axes};
    char *to = (char *)(p + 1);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (!(axes >> d & 1)) continue;
        p->before[d] = p->after[d] = n / 2;
        memcpy(to, weights, part);
        to += part;
    }
    const cubed_status st = filter(name, x, p, size, &o, out, err);
    cb_free(&x->ctx->alloc, p, size);
    return st;
}

/* --- Boxes -------------------------------------------------------------------------------------------- */

static cubed_status set_box(const char *name, int ndim, const int64_t *size, const settings *o,
                            int32_t kind, cb_filter_params *p, cubed_error *err)
{
    *p = (cb_filter_params){.kind = kind};
    for (int d = 0; d < ndim; d++) {
        if (size[d] < 1 || size[d] > MOST_AROUND)
            return cb_fail(err, CUBED_E_ARG, "%s: size is %" PRId64 ", expected 1 to %d", name,
                           size[d], MOST_AROUND);
        CB_TRY(place_box(name, d, size[d], o->origin[d], p, err));
        if (size[d] > 1 && !cb_filter_takes_box(kind)) p->axes |= 1u << d;
    }
    return CUBED_OK;
}

/* Allocates the parameters of a filter with a box, followed by `part` bytes for each of the *n elements of the box. Does not
 * initialise these bytes. */
static cubed_status new_box(const char *name, const cubed_array *x, const cb_filter_params *p,
                            size_t part, cb_filter_params **out, size_t *n, cubed_error *err)
{
    *n = 1;
    for (int d = 0; d < x->node.grid->ndim; d++)
        *n = cb_sat_mul(*n, (size_t)(p->before[d] + 1 + p->after[d]));
    if (*n > MOST_BOX / part)
        return cb_fail(err, CUBED_E_ARG, "%s: the box has %zu elements, expected at most %zu", name,
                       *n, MOST_BOX / part);
    *out = cb_alloc(&x->ctx->alloc, sizeof *p + *n * part);
    if (!*out) return cb_fail(err, CUBED_E_NOMEM, "out of memory: a box of %zu elements", *n);
    **out = *p;
    return CUBED_OK;
}

cubed_status cb_filter_correlate(const char *name, cubed_array *x, const double *weights,
                                 const int64_t *shape, const cubed_filter_options *options,
                                 cubed_array **out, cubed_error *err)
{
    cb_filter_params p, *all;
    settings o;
    size_t n;
    CB_TRY(take_options(name, x, options, &o, err));
    CB_TRY(set_box(name, x->node.grid->ndim, shape, &o, CB_FILTER_WEIGHTS, &p, err));
    CB_TRY(new_box(name, x, &p, sizeof *weights, &all, &n, err));
    memcpy(all + 1, weights, n * sizeof *weights);
    cubed_status st = filter(name, x, all, sizeof p + n * sizeof *weights, &o, out, err);
    cb_free(&x->ctx->alloc, all, sizeof p + n * sizeof *weights);
    return st;
}

cubed_status cubed_filter_correlate(cubed_array *x, const double *weights, const int64_t *shape,
                                    const cubed_filter_options *options, cubed_array **out,
                                    cubed_error *err)
{
    return cb_filter_correlate("correlate", x, weights, shape, options, out, err);
}

cubed_status cubed_filter_mean(cubed_array *x, const int64_t *size,
                               const cubed_filter_options *options, cubed_array **out,
                               cubed_error *err)
{
    settings o;
    cb_filter_params p;
    CB_TRY(take_options("uniform_filter", x, options, &o, err));
    CB_TRY(set_box("uniform_filter", x->node.grid->ndim, size, &o, CB_FILTER_MEAN, &p, err));
    return filter("uniform_filter", x, &p, sizeof p, &o, out, err);
}

cubed_status cb_filter_extreme(const char *name, cubed_array *x, bool greatest,
                               const cubed_structure *structure,
                               const cubed_filter_options *options, cubed_array **out,
                               cubed_error *err)
{
    const uint8_t *footprint = structure->footprint;
    const double *added = structure->heights;
    settings o;
    cb_filter_params p, *all;
    size_t n, count = 0;
    const bool along_axes = !footprint && !added;
    const int32_t kind = along_axes ? (greatest ? CB_FILTER_MAX : CB_FILTER_MIN)
                                    : (greatest ? CB_FILTER_GREATEST : CB_FILTER_LEAST);
    CB_TRY(take_options(name, x, options, &o, err));
    CB_TRY(set_box(name, x->node.grid->ndim, structure->size, &o, kind, &p, err));
    if (along_axes) return filter(name, x, &p, sizeof p, &o, out, err);
    CB_TRY(new_box(name, x, &p, sizeof *added, &all, &n, err));
    double *numbers = (double *)(all + 1);
    for (size_t i = 0; i < n; i++) {
        const bool counts = !footprint || footprint[i];
        numbers[i] = !counts ? (double)NAN : !added ? 0 : greatest ? added[i] : -added[i];
        count += counts;
    }
    /* The elements, and the numbers that the structure adds to them, are added in float64. */
    cubed_array *values = NULL;
    cubed_status st = CUBED_OK;
    if (count == 0)
        st = cb_fail(err, CUBED_E_ARG, "%s: footprint has no true element, expected at least one",
                     name);
    else if (added && cubed_dtype_kind(x->node.dtype) <= CUBED_KIND_FLOAT)
        st = cubed_astype(x, CUBED_FLOAT64, &values, err);
    if (st == CUBED_OK)
        st = filter(name, values ? values : x, all, sizeof p + n * sizeof *added, &o, out, err);
    cubed_array_unref(values);
    cb_free(&x->ctx->alloc, all, sizeof p + n * sizeof *added);
    return st;
}

/* --- Ranks -------------------------------------------------------------------------------------------- */

/* The requested rank among n elements: a named rank such as the median, a `given` rank, or the rank of a percentile. */
typedef struct wanted_rank {
    cubed_filter_rank_kind kind; /* CUBED_FILTER_RANKS if the rank has no name */
    const int64_t *given;
    double percentile;
} wanted_rank;

static cubed_status find_rank(const char *name, const wanted_rank *w, int64_t n, int64_t *out,
                              cubed_error *err)
{
    if (w->kind == CUBED_FILTER_MEDIAN) {
        *out = n / 2;
    } else if (w->given) {
        *out = *w->given < 0 ? *w->given + n : *w->given;
        if (*out < 0 || *out >= n)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: rank is %" PRId64 ", expected %" PRId64 " to %" PRId64
                           " for the true elements of footprint",
                           name, *w->given, -n, n - 1);
    } else {
        const double p = w->percentile < 0 ? w->percentile + 100 : w->percentile;
        if (!(p >= 0 && p <= 100))
            return cb_fail(err, CUBED_E_ARG, "%s: percentile is %g, expected -100 to 100", name,
                           w->percentile);
        *out = p == 100 ? n - 1 : (int64_t)((double)n * p / 100);
    }
    return CUBED_OK;
}

static cubed_status by_rank(const char *name, cubed_array *x, const wanted_rank *wanted,
                            const int64_t *size, const uint8_t *footprint,
                            const cubed_filter_options *options, cubed_array **out,
                            cubed_error *err)
{
    settings o;
    cb_filter_params p, *all;
    size_t n;
    int64_t count = 0;
    CB_TRY(take_options(name, x, options, &o, err));
    CB_TRY(set_box(name, x->node.grid->ndim, size, &o, CB_FILTER_RANK, &p, err));
    CB_TRY(new_box(name, x, &p, 1, &all, &n, err));
    uint8_t *flags = (uint8_t *)(all + 1);
    for (size_t i = 0; i < n; i++) count += flags[i] = !footprint || footprint[i];
    cubed_status st = CUBED_OK;
    if (count == 0)
        st = cb_fail(err, CUBED_E_ARG, "%s: footprint has no true element, expected at least one",
                     name);
    else
        st = find_rank(name, wanted, count, &all->rank, err);
    if (st == CUBED_OK && (all->rank == 0 || all->rank == count - 1))
        st = cb_filter_extreme(name, x, all->rank > 0, &(cubed_structure){size, footprint, NULL},
                               options, out, err);
    else if (st == CUBED_OK)
        st = filter(name, x, all, sizeof p + n, &o, out, err);
    cb_free(&x->ctx->alloc, all, sizeof p + n);
    return st;
}

cubed_status cubed_filter_rank(cubed_array *x, cubed_filter_rank_kind kind, const int64_t *size,
                               const uint8_t *footprint, const cubed_filter_options *options,
                               cubed_array **out, cubed_error *err)
{
    static const char *const names[CUBED_FILTER_RANKS] = {"minimum_filter", "median_filter",
                                                          "maximum_filter"};
    if ((unsigned)kind >= CUBED_FILTER_RANKS)
        return cb_fail(err, CUBED_E_ARG, "filter: kind is %d, expected minimum, median or maximum",
                       (int)kind);
    if (kind != CUBED_FILTER_MEDIAN)
        return cb_filter_extreme(names[kind], x, kind == CUBED_FILTER_MAXIMUM,
                                 &(cubed_structure){size, footprint, NULL}, options, out, err);
    const wanted_rank wanted = {.kind = kind};
    return by_rank(names[kind], x, &wanted, size, footprint, options, out, err);
}

cubed_status cubed_filter_by_rank(cubed_array *x, int64_t rank, const int64_t *size,
                                  const uint8_t *footprint, const cubed_filter_options *options,
                                  cubed_array **out, cubed_error *err)
{
    const wanted_rank wanted = {.kind = CUBED_FILTER_RANKS, .given = &rank};
    return by_rank("rank_filter", x, &wanted, size, footprint, options, out, err);
}

cubed_status cubed_filter_percentile(cubed_array *x, double percentile, const int64_t *size,
                                     const uint8_t *footprint, const cubed_filter_options *options,
                                     cubed_array **out, cubed_error *err)
{
    const wanted_rank wanted = {.kind = CUBED_FILTER_RANKS, .percentile = percentile};
    return by_rank("percentile_filter", x, &wanted, size, footprint, options, out, err);
}
