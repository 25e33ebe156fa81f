/* Filters of images. An array in its boundary, which is a view, is read in blocks that overlap; "filter" makes one block of
 * the result of each. */
#include "cubed/filters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "dtype/scalar.h"

/* Longest Gaussian, and largest box: parameters are part of the plan. */
enum { MOST_AROUND = 1 << 20, MOST_BOX = 1 << 24, MOST_ORDER = 16 };
/* Standard deviations that SciPy takes for 0. */
#define NO_SIGMA 1e-15

static cubed_status take_options(const char *name, const cubed_filter_options *options,
                                 cubed_filter_options *o, cubed_error *err)
{
    *o = (cubed_filter_options)CUBED_FILTER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE(name, options, o, err));
    if ((unsigned)o->boundary < CUBED_BOUNDARY_COUNT) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s: boundary is %d, expected reflect, nearest, wrap or constant", name,
                   (int)o->boundary);
}

/* --- Steps -------------------------------------------------------------------------------------------- */

static cubed_status pad(const char *name, cubed_array *x, const cb_filter_params *p,
                        const cubed_filter_options *o, cubed_array **out, cubed_error *err)
{
    static const cubed_pad_mode modes[CUBED_BOUNDARY_COUNT] = {
        [CUBED_BOUNDARY_REFLECT] = CUBED_PAD_SYMMETRIC,
        [CUBED_BOUNDARY_NEAREST] = CUBED_PAD_EDGE,
        [CUBED_BOUNDARY_WRAP] = CUBED_PAD_WRAP,
        [CUBED_BOUNDARY_CONSTANT] = CUBED_PAD_CONSTANT};
    const cubed_dtype dtype = x->node.dtype;
    const cubed_scalar value = cb_scalar_from_double(dtype, o->value);
    cubed_scalar values[CUBED_MAX_NDIM][2], back;
    cubed_pad_options padding = CUBED_PAD_OPTIONS_INIT;
    padding.mode = modes[o->boundary];
    if (o->boundary == CUBED_BOUNDARY_CONSTANT) {
        cb_scalar_cast(dtype, &value, CUBED_FLOAT64, &back);
        if (cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT && back.f64 != o->value)
            return cb_fail(err, CUBED_E_ARG, "%s: cval is %g, which is not of type %s", name,
                           o->value, cubed_dtype_name(dtype));
        for (int d = 0; d < x->node.grid->ndim; d++) values[d][0] = values[d][1] = value;
        padding.constant_values = (const cubed_scalar(*)[2])values;
    }
    return cubed_pad_with(x, p->before, p->after, &padding, out, err);
}

/* x in its boundary, block by block. */
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

/* The type that elements are filtered in. */
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

/* Applies a filter with `size` bytes of parameters. Filters by rank, minimum and maximum refuse complex numbers. */
static cubed_status filter(const char *name, cubed_array *x, const cb_filter_params *p, size_t size,
                           const cubed_filter_options *o, cubed_array **out, cubed_error *err)
{
    const bool takes_complex = p->kind == CB_FILTER_CORRELATE || p->kind == CB_FILTER_MEAN;
    cubed_array *values = NULL, *padded = NULL, *made = NULL;
    cubed_dtype dtype = x->node.dtype;
    cubed_status st = CUBED_OK;
    bool is_whole = true;
    CB_TRY(work_type(name, x->node.dtype, takes_complex, &dtype, err));
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (x->shape[d] == 0) { /* nothing is around nothing */
            *out = cubed_array_ref(x);
            return CUBED_OK;
        }
        if (cb_max_i64(p->before[d], p->after[d]) > x->shape[d])
            return cb_fail(err, CUBED_E_ARG,
                           "%s: it needs %" PRId64
                           " elements around a block of axis %d, which has %" PRId64,
                           name, cb_max_i64(p->before[d], p->after[d]), d, x->shape[d]);
        is_whole = is_whole && p->before[d] == 0 && p->after[d] == 0;
    }
    if (is_whole && p->kind != CB_FILTER_RANK && p->axes == 0) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    CB_GO(cubed_astype(x, dtype, &values, err));
    CB_GO(pad(name, values, p, o, &padded, err));
    CB_GO(run(values, padded, p, size, &made, err));
    CB_GO(cubed_astype(made, x->node.dtype, out, err));
out:
    cubed_array_unref(made);
    cubed_array_unref(padded);
    cubed_array_unref(values);
    return st;
}

/* --- Gaussians ---------------------------------------------------------------------------------------- */

/* The derivative of a Gaussian is the Gaussian times a polynomial q, from which the next one follows: q' - q x / sigma^2. */
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

/* Weights at -radius to radius. Correlation turns a convolution's weights around. */
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
                             const cubed_filter_options *o, cubed_array **out, cubed_error *err)
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

/* SciPy filters one axis after another, and pads each intermediate with `value`. A derivative of the padding differs from
 * `value`, so with derivatives each axis is padded and filtered by itself here, too. */
cubed_status cubed_filter_gaussian(cubed_array *x, const double *sigma, const int *order,
                                   double truncate, const cubed_filter_options *options,
                                   cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    cubed_filter_options o;
    bool derives = false;
    cubed_status st = CUBED_OK;
    CB_TRY(take_options("gaussian_filter", options, &o, err));
    for (int d = 0; d < ndim; d++) derives = derives || (order && order[d] != 0);
    if (o.boundary != CUBED_BOUNDARY_CONSTANT || o.value == 0 || !derives)
        return gaussian(x, sigma, order, truncate, &o, out, err);
    cubed_array *y = cubed_array_ref(x), *next;
    for (int d = 0; d < ndim; d++) {
        double one[CUBED_MAX_NDIM] = {0};
        one[d] = sigma[d];
        CB_GO(gaussian(y, one, order, truncate, &o, &next, err));
        cubed_array_unref(y);
        y = next;
    }
    *out = cubed_array_ref(y);
out:
    cubed_array_unref(y);
    return st;
}

/* --- Weights ------------------------------------------------------------------------------------------ */

cubed_status cubed_filter_correlate1d(cubed_array *x, int axis, const double *weights, int64_t n,
                                      int64_t origin, const cubed_filter_options *options,
                                      cubed_array **out, cubed_error *err)
{
    static const char name[] = "correlate1d";
    cubed_filter_options o;
    CB_TRY(take_options(name, options, &o, err));
    CB_TRY(cb_api_axis(name, x->node.grid->ndim, &axis, err));
    if (n < 1 || n > MOST_AROUND)
        return cb_fail(err, CUBED_E_ARG, "%s: there are %" PRId64 " weights, expected 1 to %d",
                       name, n, MOST_AROUND);
    if (origin < -(n / 2) || origin > n - 1 - n / 2)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: origin is %" PRId64 ", expected %" PRId64 " to %" PRId64 " for %" PRId64
                       " weights",
                       name, origin, -(n / 2), n - 1 - n / 2, n);
    const size_t size = sizeof(cb_filter_params) + (size_t)n * sizeof(double);
    cb_filter_params *p = cb_alloc(&x->ctx->alloc, size);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " weights", n);
    *p = (cb_filter_params){.kind = CB_FILTER_CORRELATE, .axes = 1u << axis};
    p->before[axis] = n / 2 + origin;
    p->after[axis] = n - 1 - p->before[axis];
    memcpy(p + 1, weights, (size_t)n * sizeof(double));
    cubed_status st = filter(name, x, p, size, &o, out, err);
    cb_free(&x->ctx->alloc, p, size);
    return st;
}

/* --- Boxes -------------------------------------------------------------------------------------------- */

static cubed_status set_box(const char *name, int ndim, const int64_t *size, int32_t kind,
                            cb_filter_params *p, cubed_error *err)
{
    *p = (cb_filter_params){.kind = kind};
    for (int d = 0; d < ndim; d++) {
        if (size[d] < 1 || size[d] > MOST_AROUND)
            return cb_fail(err, CUBED_E_ARG, "%s: size is %" PRId64 ", expected 1 to %d", name,
                           size[d], MOST_AROUND);
        p->before[d] = size[d] / 2;
        p->after[d] = (size[d] - 1) / 2;
        if (size[d] > 1) p->axes |= 1u << d;
    }
    return CUBED_OK;
}

cubed_status cubed_filter_mean(cubed_array *x, const int64_t *size,
                               const cubed_filter_options *options, cubed_array **out,
                               cubed_error *err)
{
    cubed_filter_options o;
    cb_filter_params p;
    CB_TRY(take_options("uniform_filter", options, &o, err));
    CB_TRY(set_box("uniform_filter", x->node.grid->ndim, size, CB_FILTER_MEAN, &p, err));
    return filter("uniform_filter", x, &p, sizeof p, &o, out, err);
}

/* Filters by the rank among the elements of a box that the footprint selects. */
static cubed_status by_rank(const char *name, cubed_array *x, cubed_filter_rank_kind kind,
                            const cb_filter_params *p, const uint8_t *footprint,
                            const cubed_filter_options *o, cubed_array **out, cubed_error *err)
{
    size_t n = 1, count = 0;
    for (int d = 0; d < x->node.grid->ndim; d++)
        n = cb_sat_mul(n, (size_t)(p->before[d] + 1 + p->after[d]));
    if (n > MOST_BOX)
        return cb_fail(err, CUBED_E_ARG, "%s: a box of %zu elements, expected at most %d", name, n,
                       MOST_BOX);
    const size_t size = sizeof *p + n;
    cb_filter_params *all = cb_alloc(&x->ctx->alloc, size);
    if (!all) return cb_fail(err, CUBED_E_NOMEM, "out of memory: a box of %zu elements", n);
    *all = *p;
    all->kind = CB_FILTER_RANK;
    all->axes = 0;
    uint8_t *flags = (uint8_t *)(all + 1);
    for (size_t i = 0; i < n; i++) count += flags[i] = !footprint || footprint[i];
    all->rank = kind == CUBED_FILTER_MEDIAN    ? (int64_t)(count / 2)
                : kind == CUBED_FILTER_MAXIMUM ? (int64_t)count - 1
                                               : 0;
    cubed_status st =
        count > 0 ? filter(name, x, all, size, o, out, err)
                  : cb_fail(err, CUBED_E_ARG, "%s: footprint has no element that counts", name);
    cb_free(&x->ctx->alloc, all, size);
    return st;
}

cubed_status cubed_filter_rank(cubed_array *x, cubed_filter_rank_kind kind, const int64_t *size,
                               const uint8_t *footprint, const cubed_filter_options *options,
                               cubed_array **out, cubed_error *err)
{
    static const char *const names[CUBED_FILTER_RANKS] = {"minimum_filter", "median_filter",
                                                          "maximum_filter"};
    cubed_filter_options o;
    cb_filter_params p;
    if ((unsigned)kind >= CUBED_FILTER_RANKS)
        return cb_fail(err, CUBED_E_ARG, "filter: kind is %d, expected minimum, median or maximum",
                       (int)kind);
    CB_TRY(take_options(names[kind], options, &o, err));
    const int32_t box = kind == CUBED_FILTER_MINIMUM ? CB_FILTER_MIN : CB_FILTER_MAX;
    CB_TRY(set_box(names[kind], x->node.grid->ndim, size, box, &p, err));
    if (kind == CUBED_FILTER_MEDIAN || footprint)
        return by_rank(names[kind], x, kind, &p, footprint, &o, out, err);
    return filter(names[kind], x, &p, sizeof p, &o, out, err);
}
