/* Rows of filters of images, with the names of scipy.ndimage. */
#include "array_api/image_filters.h"
#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"
#include "image_args.h"

#define CATEGORY .category = "ndimage"

/* --- Gaussians ----------------------------------------------------------------------------------------- */

#define SIGMA                                                                                      \
    {                                                                                              \
        PARAM("sigma", ACCEPTS(FLOAT) | ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,                     \
              "Standard deviation, or one for each axis.")                                         \
    }
#define TRUNCATE                                                                                   \
    {                                                                                              \
        PARAM("truncate", ACCEPTS(FLOAT), 0,                                                       \
              "Half-width at which the Gaussian is cut off, in standard deviations."),             \
            FLOAT_DEFAULT(4.0)                                                                     \
    }

static const cubed_param gaussian_params[] = {
    IMAGE,
    SIGMA,
    {PARAM("order", ACCEPTS(INT) | ACCEPTS(INTS), 0,
           "Order of the derivative, or one for each axis."),
     INT_DEFAULT(0)},
    BOUNDARY,
    TRUNCATE,
    AXES,
};

static int clamp_order(int64_t order)
{
    return order < 0 ? -1 : order > INT32_MAX ? INT32_MAX : (int)order;
}

static cubed_status call_gaussian(const cb_call *c)
{
    double sigma[CUBED_MAX_NDIM];
    int64_t orders[CUBED_MAX_NDIM];
    int order[CUBED_MAX_NDIM];
    cb_image image;
    CB_TRY(cb_image_take(c, (cb_image_places){3, -1, 7}, &image));
    CB_TRY(cb_image_reals(c, 1, &image, 0, sigma));
    CB_TRY(cb_image_integers(c, 2, &image, 0, orders));
    for (int d = 0; d < image.ndim; d++) order[d] = clamp_order(orders[d]);
    return cubed_filter_gaussian(image.x, sigma, order, cb_call_real(c, 6), &image.options, c->out,
                                 c->err);
}

static const cubed_param gaussian1d_params[] = {
    IMAGE,    {PARAM("sigma", ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED, "Standard deviation.")},
    AN_AXIS,  PARAM_INT("order", 0, 0, "Order of the derivative."),
    BOUNDARY, TRUNCATE,
};

static cubed_status call_gaussian1d(const cb_call *c)
{
    double sigma[CUBED_MAX_NDIM] = {0};
    int order[CUBED_MAX_NDIM] = {0}, axis;
    cb_image image;
    CB_TRY(cb_image_take(c, (cb_image_places){4, -1, -1}, &image));
    CB_TRY(cb_image_axis(c, 2, &image, &axis));
    sigma[axis] = cb_call_real(c, 1);
    order[axis] = clamp_order(cb_call_int(c, 3));
    return cubed_filter_gaussian(image.x, sigma, order, cb_call_real(c, 7), &image.options, c->out,
                                 c->err);
}

/* --- Weights ------------------------------------------------------------------------------------------- */

/* Values of `which`, for functions that share a body. */
enum { CORRELATES, CONVOLVES };

static const cubed_param line_params[] = {
    IMAGE,
    {PARAM("weights", ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
           "Real factors for neighbouring elements.")},
    AN_AXIS,
    BOUNDARY,
    PARAM_INT("origin", 0, 0, "Offset of the element from the middle of the weights."),
};

static void reverse(double *numbers, int64_t n)
{
    for (int64_t i = 0; i < n / 2; i++) {
        const double moved = numbers[i];
        numbers[i] = numbers[n - 1 - i];
        numbers[n - 1 - i] = moved;
    }
}

/* Returns the origin of the correlation that equals a convolution. The middle of an even number of reversed weights is on
 * the other side. */
static int64_t turn(int64_t origin, int64_t n)
{
    return origin == INT64_MIN ? origin : n % 2 == 0 ? ~origin : -origin;
}

static cubed_status call_line(const cb_call *c)
{
    const cubed_value *w = &c->values[1];
    const bool turns = c->which == CONVOLVES;
    const int64_t given = cb_call_int(c, 6), origin = turns ? turn(given, w->n) : given;
    cb_image image;
    int axis;
    CB_TRY(cb_image_take(c, (cb_image_places){3, -1, -1}, &image));
    CB_TRY(cb_image_axis(c, 2, &image, &axis));
    if (w->n > 0) CB_TRY(cb_image_check_origin(c, 6, w->n, given));
    double *weights = cb_alloc(&c->ctx->alloc, (size_t)w->n * sizeof *weights);
    if (!weights && w->n > 0)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %d weights", w->n);
    for (int i = 0; i < w->n; i++) weights[i] = w->as.reals[turns ? w->n - 1 - i : i];
    const cb_filter_line line = {axis, weights, w->n, origin};
    const cubed_status st =
        cb_filter_correlate1d(c->function->name, image.x, &line, &image.options, c->out, c->err);
    cb_free(&c->ctx->alloc, weights, (size_t)w->n * sizeof *weights);
    return st;
}

static const cubed_param weights_params[] = {
    IMAGE,
    {PARAM("weights", ACCEPTS(LIST), CUBED_PARAM_REQUIRED,
           "An array of real factors for neighbouring elements.")},
    BOUNDARY,
    ORIGIN,
    AXES,
};

static cubed_status call_weights(const cb_call *c)
{
    cb_image image;
    cb_image_box box;
    CB_TRY(cb_image_take(c, (cb_image_places){2, 5, 6}, &image));
    cubed_status st = cb_image_box_take(c, 1, &image, &box);
    for (int d = 0; d < image.ndim && st == CUBED_OK; d++)
        st = cb_image_check_origin(c, 5, box.size[d], image.origins[d]);
    if (st == CUBED_OK && c->which == CONVOLVES) {
        reverse(box.numbers, box.n);
        for (int d = 0; d < image.ndim; d++) image.origins[d] = turn(image.origins[d], box.size[d]);
    }
    if (st == CUBED_OK)
        st = cb_filter_correlate(c->function->name, image.x, box.numbers, box.size, &image.options,
                                 c->out, c->err);
    cb_image_box_free(c, &box);
    return st;
}

/* --- Boxes --------------------------------------------------------------------------------------------- */

static const cubed_param uniform_params[] = {
    IMAGE,    {PARAM("size", ACCEPTS(INT) | ACCEPTS(INTS), 0, EXTENT), INT_DEFAULT(3)},
    BOUNDARY, ORIGIN,
    AXES,
};

static cubed_status call_uniform(const cb_call *c)
{
    int64_t size[CUBED_MAX_NDIM];
    cb_image image;
    CB_TRY(cb_image_take(c, (cb_image_places){2, 5, 6}, &image));
    CB_TRY(cb_image_integers(c, 1, &image, 1, size));
    return cubed_filter_mean(image.x, size, &image.options, c->out, c->err);
}

static const cubed_param box1d_params[] = {
    IMAGE,
    PARAM_REQUIRED_INT("size", 0, "Number of elements in a box."),
    AN_AXIS,
    BOUNDARY,
    PARAM_INT("origin", 0, 0, "Offset of the element from the middle of its box."),
};

enum { MEAN = CUBED_FILTER_RANKS };

static cubed_status call_box1d(const cb_call *c)
{
    int64_t size[CUBED_MAX_NDIM];
    cb_image image;
    int axis;
    CB_TRY(cb_image_take(c, (cb_image_places){3, -1, -1}, &image));
    CB_TRY(cb_image_axis(c, 2, &image, &axis));
    for (int d = 0; d < image.ndim; d++) size[d] = 1;
    size[axis] = cb_call_int(c, 1);
    image.origins[axis] = cb_call_int(c, 6);
    image.options.origins = image.origins;
    if (c->which == MEAN) return cubed_filter_mean(image.x, size, &image.options, c->out, c->err);
    return cubed_filter_rank(image.x, (cubed_filter_rank_kind)c->which, size, NULL, &image.options,
                             c->out, c->err);
}

/* Parameters of rank filters: the image, then a rank or percentile if the filter has one, then the other parameters. */
static const cubed_param extreme_params[] = {IMAGE, SIZE_OR_FOOTPRINT, BOUNDARY, ORIGIN, AXES};
static const cubed_param rank_params[] = {
    IMAGE,
    PARAM_REQUIRED_INT("rank", 0,
                       "Rank among the elements of a box: 0 is the smallest, -1 the largest."),
    SIZE_OR_FOOTPRINT,
    BOUNDARY,
    ORIGIN,
    AXES,
};
static const cubed_param percentile_params[] = {
    IMAGE,
    {PARAM("percentile", ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED,
           "Percentile of the elements of a box, 0 to 100; negative numbers count from 100.")},
    SIZE_OR_FOOTPRINT,
    BOUNDARY,
    ORIGIN,
    AXES,
};

enum { BY_RANK = CUBED_FILTER_RANKS, BY_PERCENTILE };

static cubed_status call_rank(const cb_call *c)
{
    const int at = c->which < BY_RANK ? 1 : 2;
    cb_image image;
    cb_image_structure s;
    CB_TRY(cb_image_take(c, (cb_image_places){at + 2, at + 5, at + 6}, &image));
    cubed_status st = cb_image_structure_take(c, at, at + 1, -1, &image, &s);
    if (st != CUBED_OK) goto out;
    if (c->which == BY_RANK)
        st = cubed_filter_by_rank(image.x, cb_call_int(c, 1), s.of.size, s.of.footprint,
                                  &image.options, c->out, c->err);
    else if (c->which == BY_PERCENTILE)
        st = cubed_filter_percentile(image.x, cb_call_real(c, 1), s.of.size, s.of.footprint,
                                     &image.options, c->out, c->err);
    else
        st = cubed_filter_rank(image.x, (cubed_filter_rank_kind)c->which, s.of.size, s.of.footprint,
                               &image.options, c->out, c->err);
out:
    cb_image_structure_free(c, &s);
    return st;
}

/* --- Derivatives --------------------------------------------------------------------------------------- */

static const cubed_param derivative_params[] = {IMAGE, AN_AXIS, BOUNDARY};

static cubed_status call_derivative(const cb_call *c)
{
    cb_image image;
    int axis;
    CB_TRY(cb_image_take(c, (cb_image_places){2, -1, -1}, &image));
    CB_TRY(cb_image_axis(c, 1, &image, &axis));
    return cubed_filter_derivative(image.x, (cubed_filter_derivative_kind)c->which, axis,
                                   &image.options, c->out, c->err);
}

static const cubed_param laplace_params[] = {IMAGE, BOUNDARY, AXES};

static cubed_status call_laplace(const cb_call *c)
{
    cb_image image;
    CB_TRY(cb_image_take(c, (cb_image_places){1, -1, 4}, &image));
    return cubed_filter_laplace(image.x, image.mask, &image.options, c->out, c->err);
}

static const cubed_param gaussians_params[] = {IMAGE, SIGMA, BOUNDARY, TRUNCATE, AXES};

enum { LAPLACE, GRADIENT };

/* As in SciPy, gradients smooth along all axes, even along axes without a derivative. */
static cubed_status call_gaussians(const cb_call *c)
{
    double sigma[CUBED_MAX_NDIM], truncate = cb_call_real(c, 5);
    cb_image image, all;
    CB_TRY(cb_image_take(c, (cb_image_places){2, -1, 6}, &image));
    if (c->which == LAPLACE) {
        CB_TRY(cb_image_reals(c, 1, &image, 0, sigma));
        return cubed_filter_gaussian_laplace(image.x, image.mask, sigma, truncate, &image.options,
                                             c->out, c->err);
    }
    all = image;
    all.naxes = all.ndim;
    for (int d = 0; d < all.ndim; d++) all.axes[d] = d;
    CB_TRY(cb_image_reals(c, 1, &all, 0, sigma));
    return cubed_filter_gaussian_gradient(image.x, image.mask, sigma, truncate, &image.options,
                                          c->out, c->err);
}

#define ROW(NAME, PARAMETERS, CALL, WHICH, SUMMARY)                                                \
    {                                                                                              \
        {(NAME), CATEGORY, .summary = (SUMMARY), .returns = SAME, PARAMS(PARAMETERS)},             \
            .call = (CALL), .which = (WHICH)                                                       \
    }
/* Rows of functions whose results have the units of the image. */
#define ROW_SAME(NAME, PARAMETERS, CALL, WHICH, SUMMARY)                                           \
    {                                                                                              \
        {(NAME),          CATEGORY,           .summary = (SUMMARY),                                \
         .returns = SAME, PARAMS(PARAMETERS), .attrs = CUBED_ATTRS_SAME},                          \
            .call = (CALL), .which = (WHICH)                                                       \
    }

static const cb_row rows[] = {
    ROW("convolve_filter", weights_params, call_weights, CONVOLVES,
        "The convolution of an image with an array of weights."),
    ROW("convolve1d", line_params, call_line, CONVOLVES,
        "The convolution of an image with weights along an axis."),
    ROW("correlate_filter", weights_params, call_weights, CORRELATES,
        "The correlation of an image with an array of weights."),
    ROW("correlate1d", line_params, call_line, CORRELATES,
        "The correlation of an image with weights along an axis."),
    ROW("gaussian_filter", gaussian_params, call_gaussian, 0,
        "Smooths an image with a Gaussian, or with a derivative of a Gaussian."),
    ROW("gaussian_filter1d", gaussian1d_params, call_gaussian1d, 0,
        "Smooths an image with a Gaussian along an axis, or with a derivative of a Gaussian."),
    ROW("gaussian_gradient_magnitude", gaussians_params, call_gaussians, GRADIENT,
        "The magnitude of the gradient, computed with derivatives of Gaussians."),
    ROW("gaussian_laplace", gaussians_params, call_gaussians, LAPLACE,
        "The sum of second derivatives of Gaussians along all axes."),
    ROW("laplace", laplace_params, call_laplace, 0,
        "The Laplace filter: the sum of second differences along all axes."),
    ROW_SAME("maximum_filter", extreme_params, call_rank, CUBED_FILTER_MAXIMUM,
             "The maximum of a box or footprint around each element."),
    ROW_SAME("maximum_filter1d", box1d_params, call_box1d, CUBED_FILTER_MAXIMUM,
             "The maximum of a box along an axis around each element."),
    ROW_SAME("median_filter", extreme_params, call_rank, CUBED_FILTER_MEDIAN,
             "The median of a box or footprint around each element."),
    ROW_SAME("minimum_filter", extreme_params, call_rank, CUBED_FILTER_MINIMUM,
             "The minimum of a box or footprint around each element."),
    ROW_SAME("minimum_filter1d", box1d_params, call_box1d, CUBED_FILTER_MINIMUM,
             "The minimum of a box along an axis around each element."),
    ROW_SAME("percentile_filter", percentile_params, call_rank, BY_PERCENTILE,
             "A percentile of a box or footprint around each element."),
    ROW("prewitt", derivative_params, call_derivative, CUBED_FILTER_PREWITT,
        "Prewitt's filter: the derivative along an axis, smoothed along the others by 1, 1, 1."),
    ROW_SAME("rank_filter", rank_params, call_rank, BY_RANK,
             "The element of a given rank in a box or footprint around each element."),
    ROW("sobel", derivative_params, call_derivative, CUBED_FILTER_SOBEL,
        "Sobel's filter: the derivative along an axis, smoothed along the others by 1, 2, 1."),
    ROW_SAME("uniform_filter", uniform_params, call_uniform, 0,
             "The mean of a box around each element."),
    ROW_SAME("uniform_filter1d", box1d_params, call_box1d, MEAN,
             "The mean of a box along an axis around each element."),
};

const cb_rows cb_ndimage_rows = ROWS(rows);
