/* Derivatives of images: sums of filters along axes. Each intermediate has the type of the result, as in SciPy. */
#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/filters.h"
#include "ops/steps.h"

/* Copies the options to *out. Sets the type of the result, by default the type of x. */
static cubed_status take_typed(const char *name, const cubed_array *x,
                               const cubed_filter_options *options, cubed_dtype *dtype,
                               cubed_filter_options *out, cubed_error *err)
{
    *out = (cubed_filter_options)CUBED_FILTER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE(name, options, out, err));
    *dtype = out->dtype ? *out->dtype : x->node.dtype;
    out->dtype = dtype;
    return CUBED_OK;
}

cubed_status cubed_filter_derivative(cubed_array *x, cubed_filter_derivative_kind kind, int axis,
                                     const cubed_filter_options *options, cubed_array **out,
                                     cubed_error *err)
{
    static const double difference[] = {-1, 0, 1};
    static const double smooth[CUBED_FILTER_DERIVATIVES][3] = {
        [CUBED_FILTER_PREWITT] = {1, 1, 1}, [CUBED_FILTER_SOBEL] = {1, 2, 1}};
    if ((unsigned)kind >= CUBED_FILTER_DERIVATIVES)
        return cb_fail(err, CUBED_E_ARG, "filter: derivative is %d, expected prewitt or sobel",
                       (int)kind);
    const char *name = kind == CUBED_FILTER_SOBEL ? "sobel" : "prewitt";
    const int ndim = x->node.grid->ndim;
    cubed_filter_options o;
    cubed_dtype dtype;
    CB_TRY(take_typed(name, x, options, &dtype, &o, err));
    CB_TRY(cb_api_axis(name, ndim, &axis, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    y = cb_step(&s, cubed_filter_correlate1d(x, axis, difference, 3, 0, &o, &y, err), &y);
    for (int d = 0; d < ndim && y; d++) {
        cubed_array *next = NULL;
        if (d == axis) continue;
        y = cb_step(&s, cubed_filter_correlate1d(y, d, smooth[kind], 3, 0, &o, &next, err), &next);
    }
    return cb_steps_end(&s, y, out);
}

/* A derivative along an axis. As in SciPy, the Gaussian of this derivative filters all axes with the boundary of the derivative's
 * axis. */
typedef struct derivative {
    const double *sigma; /* standard deviations of Gaussians; NULL for second differences */
    double truncate;
    int order;
} derivative;

static cubed_array *along(cb_steps *s, cubed_array *x, int axis, const derivative *of,
                          const cubed_filter_options *options)
{
    static const double second[] = {1, -2, 1};
    cubed_filter_options one = *options;
    const cubed_filter_options *o = &one;
    int order[CUBED_MAX_NDIM] = {0};
    cubed_array *y = NULL;
    order[axis] = of->order;
    if (one.boundaries) one.boundary = one.boundaries[axis];
    one.boundaries = NULL;
    return of->sigma
               ? cb_step(s, cubed_filter_gaussian(x, of->sigma, order, of->truncate, o, &y, s->err),
                         &y)
               : cb_step(s, cubed_filter_correlate1d(x, axis, second, 3, 0, o, &y, s->err), &y);
}

/* Sums derivatives along axes, or their squares. Returns x if there are no axes. Sums of integers wrap around. */
static cubed_array *total(cb_steps *s, cubed_array *x, uint32_t axes, const derivative *of,
                          bool squares, const cubed_filter_options *o)
{
    cubed_array *sum = NULL;
    for (int d = 0; d < x->node.grid->ndim && s->st == CUBED_OK; d++) {
        if (!(axes >> d & 1)) continue;
        cubed_array *y = along(s, x, d, of, o);
        if (squares) y = cb_step_op(s, CUBED_OP_MULTIPLY, y, y, NULL);
        sum = sum ? cb_step_op(s, CUBED_OP_ADD, sum, y, NULL) : y;
    }
    return cb_step_cast(s, sum || s->st != CUBED_OK ? sum : x, *o->dtype);
}

static cubed_status check_axes(const char *name, const cubed_array *x, uint32_t axes,
                               cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (ndim == CUBED_MAX_NDIM || axes >> ndim == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_AXIS, "%s: axes are %#x, expected only bits of %d axes", name,
                   (unsigned)axes, ndim);
}

cubed_status cubed_filter_laplace(cubed_array *x, uint32_t axes,
                                  const cubed_filter_options *options, cubed_array **out,
                                  cubed_error *err)
{
    const derivative of = {.order = 2};
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_filter_options o;
    cubed_dtype dtype;
    CB_TRY(take_typed("laplace", x, options, &dtype, &o, err));
    CB_TRY(check_axes("laplace", x, axes, err));
    return cb_steps_end(&s, total(&s, x, axes, &of, false, &o), out);
}

/* Sets the standard deviations of all axes. Axes that are not in `axes` get 0, so they are not filtered. */
static void take_sigma(const cubed_array *x, uint32_t axes, const double *sigma, double *out)
{
    for (int d = 0; d < x->node.grid->ndim; d++) out[d] = axes >> d & 1 ? sigma[d] : 0;
}

cubed_status cubed_filter_gaussian_laplace(cubed_array *x, uint32_t axes, const double *sigma,
                                           double truncate, const cubed_filter_options *options,
                                           cubed_array **out, cubed_error *err)
{
    double each[CUBED_MAX_NDIM];
    const derivative of = {each, truncate, 2};
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_filter_options o;
    cubed_dtype dtype;
    CB_TRY(take_typed("gaussian_laplace", x, options, &dtype, &o, err));
    CB_TRY(check_axes("gaussian_laplace", x, axes, err));
    take_sigma(x, axes, sigma, each);
    return cb_steps_end(&s, total(&s, x, axes, &of, false, &o), out);
}

cubed_status cubed_filter_gaussian_gradient(cubed_array *x, uint32_t axes, const double *sigma,
                                            double truncate, const cubed_filter_options *options,
                                            cubed_array **out, cubed_error *err)
{
    static const char name[] = "gaussian_gradient_magnitude";
    const derivative of = {sigma, truncate, 1};
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_filter_options o;
    cubed_dtype dtype;
    CB_TRY(take_typed(name, x, options, &dtype, &o, err));
    CB_TRY(check_axes(name, x, axes, err));
    if (cubed_dtype_kind(dtype) == CUBED_KIND_BOOL || cubed_dtype_kind(dtype) >= CUBED_KIND_COMPLEX)
        return cb_fail(err, CUBED_E_TYPE,
                       "%s is not defined for results of type %s, expected real numbers", name,
                       cubed_dtype_name(dtype));
    cubed_array *y = total(&s, x, axes, &of, axes != 0, &o);
    if (axes != 0 && cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT)
        y = cb_step_cast(&s, y, CUBED_FLOAT64);
    if (axes != 0) y = cb_step_op(&s, CUBED_OP_SQRT, y, NULL, NULL);
    return cb_steps_end(&s, cb_step_cast(&s, y, dtype), out);
}
