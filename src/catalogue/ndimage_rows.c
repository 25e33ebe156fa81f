/* Filters of images, by the names of scipy.ndimage. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/filters.h"
#include "rows.h"

#define CATEGORY .category = "ndimage"
#define SAME     "The shape and type of `input`."

static const cubed_choice boundaries[] = {{"reflect", CUBED_BOUNDARY_REFLECT},
                                          {"nearest", CUBED_BOUNDARY_NEAREST},
                                          {"wrap", CUBED_BOUNDARY_WRAP},
                                          {"constant", CUBED_BOUNDARY_CONSTANT},
                                          {NULL, 0}};

#define IMAGE PARAM_LIKE("input", "An image, of any number of axes.")
#define BOUNDARY                                                                                   \
    PARAM_CHOICE("mode", 0, CUBED_BOUNDARY_REFLECT, boundaries,                                    \
                 "The elements beyond the ends: mirrored, the nearest one, those of the other "    \
                 "end, or `cval`."),                                                               \
    {                                                                                              \
        PARAM("cval", ACCEPTS(FLOAT), 0, "The element beyond the ends for ``\"constant\"``."),     \
            FLOAT_DEFAULT(0)                                                                       \
    }

static cubed_filter_options boundary_of(const cb_call *c, int i)
{
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    o.boundary = (cubed_filter_boundary)cb_call_choice(c, i);
    o.value = cb_call_real(c, i + 1);
    return o;
}

static cubed_status wrong_count(const cb_call *c, int i, int n, int ndim)
{
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG, "%s: %s has %d entries for %d axes",
                                 c->function->name, c->function->params[i].name, n, ndim));
}

/* An integer for each axis: the one at position i for all, or a list. */
static cubed_status integers_of(const cb_call *c, int i, int64_t *out)
{
    const int ndim = cubed_array_ndim(cb_call_array(c, 0));
    int n;
    const int64_t *given = cb_call_ints(c, i, &n);
    const bool is_one = c->values[i].kind == CUBED_VALUE_INT;
    if (!is_one && n != ndim) return wrong_count(c, i, n, ndim);
    for (int d = 0; d < ndim; d++) out[d] = given[is_one ? 0 : d];
    return CUBED_OK;
}

/* --- Gaussians ----------------------------------------------------------------------------------------- */

static const cubed_param gaussian_params[] = {
    IMAGE,
    {PARAM("sigma", ACCEPTS(FLOAT) | ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
           "Standard deviation, or one for each axis.")},
    {PARAM("order", ACCEPTS(INT) | ACCEPTS(INTS), 0,
           "Order of the derivative, or one for each axis."),
     INT_DEFAULT(0)},
    BOUNDARY,
    {PARAM("truncate", ACCEPTS(FLOAT), 0, "Standard deviations at which the Gaussian ends."),
     FLOAT_DEFAULT(4.0)},
};

static cubed_status call_gaussian(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    const cubed_value *given = &c->values[1];
    const bool is_list = given->kind == CUBED_VALUE_FLOATS;
    const int ndim = cubed_array_ndim(x);
    double sigma[CUBED_MAX_NDIM];
    int64_t orders[CUBED_MAX_NDIM];
    int order[CUBED_MAX_NDIM];
    if (is_list && given->n != ndim) return wrong_count(c, 1, given->n, ndim);
    for (int d = 0; d < ndim; d++) sigma[d] = is_list ? given->as.reals[d] : cb_call_real(c, 1);
    CB_TRY(integers_of(c, 2, orders));
    for (int d = 0; d < ndim; d++)
        order[d] = orders[d] < 0 ? -1 : orders[d] > INT32_MAX ? INT32_MAX : (int)orders[d];
    const cubed_filter_options o = boundary_of(c, 3);
    return cubed_filter_gaussian(x, sigma, order, cb_call_real(c, 5), &o, c->out, c->err);
}

/* --- Weights ------------------------------------------------------------------------------------------- */

static const cubed_param weights_params[] = {
    IMAGE,
    {PARAM("weights", ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
           "Real factors of neighbouring elements.")},
    PARAM_AXIS("axis", 0, -1, "Axis of the neighbours; negative ones count from the last."),
    BOUNDARY,
    PARAM_INT("origin", 0, 0,
              "Position of the element itself among the weights, from the middle on."),
};

static cubed_status call_correlate1d(const cb_call *c)
{
    const cubed_value *w = &c->values[1];
    const cubed_filter_options o = boundary_of(c, 3);
    return cubed_filter_correlate1d(cb_call_array(c, 0), cb_call_axis(c, 2), w->as.reals, w->n,
                                    cb_call_int(c, 5), &o, c->out, c->err);
}

/* --- Boxes --------------------------------------------------------------------------------------------- */

#define EXTENT "Extent of a box, or one for each axis."

static const cubed_param uniform_params[] = {
    IMAGE,
    {PARAM("size", ACCEPTS(INT) | ACCEPTS(INTS), 0, EXTENT), INT_DEFAULT(3)},
    BOUNDARY,
};

static cubed_status call_uniform(const cb_call *c)
{
    int64_t size[CUBED_MAX_NDIM];
    CB_TRY(integers_of(c, 1, size));
    const cubed_filter_options o = boundary_of(c, 2);
    return cubed_filter_mean(cb_call_array(c, 0), size, &o, c->out, c->err);
}

static const cubed_param rank_params[] = {
    IMAGE,
    {PARAM("size", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_REQUIRED, EXTENT)},
    {PARAM("footprint", ACCEPTS(INTS) | ACCEPTS(NONE), 0,
           "Whether each element of a box counts, in C order: 1 or 0. None: all count.")},
    BOUNDARY,
};

static cubed_status call_rank(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0);
    int64_t size[CUBED_MAX_NDIM], box = 1;
    int n = 0;
    CB_TRY(integers_of(c, 1, size));
    const cubed_filter_options o = boundary_of(c, 3);
    const int64_t *given = cb_call_has(c, 2) ? cb_call_ints(c, 2, &n) : NULL;
    const cubed_filter_rank_kind kind = (cubed_filter_rank_kind)c->which;
    if (!given) return cubed_filter_rank(x, kind, size, NULL, &o, c->out, c->err);
    for (int d = 0; d < cubed_array_ndim(x); d++)
        if (cb_mul_i64(box, size[d] > 0 ? size[d] : 1, &box)) box = INT64_MAX;
    if (box != n)
        return cb_call_blame(
            c, 2,
            cb_fail(c->err, CUBED_E_ARG,
                    "%s: footprint has %d elements, expected one for each of the box",
                    c->function->name, n));
    uint8_t *flags = cb_alloc(&c->ctx->alloc, (size_t)n);
    if (!flags) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: a box of %d elements", n);
    for (int i = 0; i < n; i++) flags[i] = given[i] != 0;
    cubed_status st = cubed_filter_rank(x, kind, size, flags, &o, c->out, c->err);
    cb_free(&c->ctx->alloc, flags, (size_t)n);
    return st;
}

static const cb_row rows[] = {
    {{"correlate1d", CATEGORY,
      .summary = "Sums of neighbouring elements along an axis, multiplied by weights.",
      .returns = SAME, PARAMS(weights_params)},
     .call = call_correlate1d},
    {{"gaussian_filter", CATEGORY,
      .summary = "An image smoothed by a Gaussian, or its derivatives.", .returns = SAME,
      PARAMS(gaussian_params)},
     .call = call_gaussian},
    {{"maximum_filter", CATEGORY, .summary = "The greatest elements of boxes around elements.",
      .returns = SAME, PARAMS(rank_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_rank,
     .which = CUBED_FILTER_MAXIMUM},
    {{"median_filter", CATEGORY,
      .summary = "The medians of boxes around elements; of even numbers the greater one of two.",
      .returns = SAME, PARAMS(rank_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_rank,
     .which = CUBED_FILTER_MEDIAN},
    {{"minimum_filter", CATEGORY, .summary = "The least elements of boxes around elements.",
      .returns = SAME, PARAMS(rank_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_rank,
     .which = CUBED_FILTER_MINIMUM},
    {{"uniform_filter", CATEGORY, .summary = "The means of boxes around elements.", .returns = SAME,
      PARAMS(uniform_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_uniform},
};

const cb_rows cb_ndimage_rows = ROWS(rows);
