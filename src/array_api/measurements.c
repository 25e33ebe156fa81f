/* Measurements of labelled objects: reductions by group, in SciPy's types. */
#include "cubed/measurements.h"

#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/complex_median.h"
#include "array_api/objects.h"
#include "base/checked.h"
#include "base/error.h"
#include "cubed/groupby.h"

/* Names of the catalogue's functions, for messages, and the kinds of elements that they accept. */
static const struct measurement {
    const char *name;
    bool complex, times;
} measurements[CUBED_MEASUREMENTS] = {
    [CUBED_MEASURE_SUM] = {.name = "sum_labels", .complex = true},
    [CUBED_MEASURE_MEAN] = {.name = "mean_labels", .complex = true},
    [CUBED_MEASURE_VARIANCE] = {.name = "variance_labels", .complex = true},
    [CUBED_MEASURE_STANDARD_DEVIATION] = {.name = "standard_deviation_labels", .complex = true},
    [CUBED_MEASURE_MINIMUM] = {.name = "minimum_labels", .times = true},
    [CUBED_MEASURE_MAXIMUM] = {.name = "maximum_labels", .times = true},
    [CUBED_MEASURE_MEDIAN] = {.name = "median_labels"},
    [CUBED_MEASURE_MINIMUM_POSITION] = {.name = "minimum_position", .times = true},
    [CUBED_MEASURE_MAXIMUM_POSITION] = {.name = "maximum_position", .times = true},
    [CUBED_MEASURE_CENTER_OF_MASS] = {.name = "center_of_mass", .complex = true},
};

typedef struct measuring {
    cb_steps *s;
    cb_grouped_image g;
    uint64_t task_mem;
} measuring;

/* Reduces each group of x, whose shape is the shape of the image. Groups without elements get `fill`, or the default of
 * cubed_group_options if `fill` is NULL. */
static cubed_array *reduced(const measuring *m, cubed_array *x, cubed_group_reduction reduction,
                            const cubed_scalar *fill)
{
    cb_steps *s = m->s;
    cubed_group_options o = CUBED_GROUP_OPTIONS_INIT;
    cubed_array *made = NULL;
    int axes[CUBED_MAX_NDIM];
    if (!x || !m->g.codes || s->st != CUBED_OK) return NULL;
    for (int d = 0; d < x->node.grid->ndim; d++) axes[d] = d;
    o.task_mem = m->task_mem;
    o.fill = fill;
    o.min_count = fill != NULL;
    return cb_step(s,
                   cubed_groupby_reduce(x, m->g.codes, axes, x->node.grid->ndim, m->g.ngroups,
                                        reduction, &o, &made, s->err),
                   &made);
}

static cubed_array *in_order(const measuring *m, cubed_array *made)
{
    return cb_api_objects_in_order(m->s, &m->g, made);
}

static bool is_complex(const cubed_array *x)
{
    return cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
}

/* Casts real numbers to float64. */
static cubed_array *widened(cb_steps *s, cubed_array *x)
{
    return cb_step_cast(s, x, is_complex(x) ? CUBED_COMPLEX128 : CUBED_FLOAT64);
}

/* --- Sums ---------------------------------------------------------------------------------------------- */

/* Computes a reduction for each group: sums or means of numbers of any type, or variances of real numbers. */
static cubed_array *total(const measuring *m, cubed_array *x, cubed_group_reduction reduction)
{
    cb_steps *s = m->s;
    if (!x || s->st != CUBED_OK) return NULL;
    if (!is_complex(x)) return reduced(m, x, reduction, NULL);
    cubed_array *re = reduced(m, cb_step_unary(s, CUBED_OP_REAL, x), reduction, NULL);
    cubed_array *im = reduced(m, cb_step_unary(s, CUBED_OP_IMAG, x), reduction, NULL);
    return re && im ? cb_api_join_parts(s, re, im, x->node.dtype) : NULL;
}

/* For a single object (no labels, or an index without axes), the result has the type of a sum of the elements. */
static cubed_array *sum(const measuring *m)
{
    cb_steps *s = m->s;
    cubed_array *x = m->g.x;
    const bool is_one = !m->g.objects->labels || m->g.objects->ndim == 0;
    if (!x) return NULL;
    if (!is_one) return total(m, widened(s, x), CUBED_GROUP_SUM);
    cubed_array *made = total(m, x, CUBED_GROUP_SUM);
    return cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT
               ? cb_step_cast(s, made, x->node.dtype)
               : made;
}

static cubed_array *variance(const measuring *m, cubed_group_reduction reduction)
{
    cb_steps *s = m->s;
    if (!m->g.x) return NULL;
    cubed_array *x = widened(s, m->g.x);
    if (!x || !is_complex(x)) return reduced(m, x, reduction, NULL);
    cubed_array *re = reduced(m, cb_step_unary(s, CUBED_OP_REAL, x), CUBED_GROUP_VAR, NULL);
    cubed_array *im = reduced(m, cb_step_unary(s, CUBED_OP_IMAG, x), CUBED_GROUP_VAR, NULL);
    cubed_array *both = cb_step_binary(s, CUBED_OP_ADD, re, im);
    return reduction == CUBED_GROUP_STD ? cb_step_unary(s, CUBED_OP_SQRT, both) : both;
}

/* --- Extremes ------------------------------------------------------------------------------------------ */

static cubed_array *extreme(const measuring *m, cubed_group_reduction reduction)
{
    const cubed_scalar zero = {.c128 = {0, 0}};
    if (!m->g.x) return NULL;
    return cb_step_cast(m->s, reduced(m, m->g.x, reduction, &zero), m->g.x->node.dtype);
}

/* Stacks arrays along a new last axis. There is one array for each axis of the image, with one number for each object. */
static cubed_array *stacked(cb_steps *s, cubed_array *const *parts, int n)
{
    cubed_array *made = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_stack(parts, n, -1, &made, s->err), &made);
}

static cubed_array *positions(const measuring *m, cubed_group_reduction reduction)
{
    cb_steps *s = m->s;
    const cubed_scalar zero = {.i64 = 0};
    cubed_array *flat = in_order(m, reduced(m, m->g.x, reduction, &zero));
    cubed_array *parts[CUBED_MAX_NDIM] = {NULL};
    int64_t shape[CUBED_MAX_NDIM];
    if (!flat || s->st != CUBED_OK) return NULL;
    const int ndim = m->g.x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) shape[d] = cb_max_i64(1, m->g.x->shape[d]);
    const cubed_status st = cubed_unravel_index(flat, ndim, shape, false, parts, s->err);
    for (int d = 0; d < ndim; d++) parts[d] = cb_step(s, st, &parts[d]);
    return stacked(s, parts, ndim);
}

/* Returns the numbers 0, 1, 2, ... along an axis of the image, with extent 1 along the other axes. */
static cubed_array *along(cb_steps *s, const cubed_array *x, int axis)
{
    cubed_array *numbers = NULL;
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < x->node.grid->ndim; d++) shape[d] = d == axis ? x->shape[d] : 1;
    if (s->st != CUBED_OK) return NULL;
    numbers = cb_step(s,
                      cubed_array_arange(s->ctx, 0, (double)x->shape[axis], 1, CUBED_FLOAT64, NULL,
                                         &numbers, s->err),
                      &numbers);
    return cb_step_reshaped(s, numbers, x->node.grid->ndim, shape);
}

static cubed_array *center(const measuring *m)
{
    cb_steps *s = m->s;
    cubed_array *parts[CUBED_MAX_NDIM] = {NULL};
    if (!m->g.x) return NULL;
    const int ndim = m->g.x->node.grid->ndim;
    cubed_array *x = widened(s, m->g.x), *mass = total(m, x, CUBED_GROUP_SUM);
    for (int d = 0; d < ndim && mass; d++) {
        cubed_array *moment = cb_step_binary(s, CUBED_OP_MULTIPLY, x, along(s, m->g.x, d));
        parts[d] = in_order(
            m, cb_step_binary(s, CUBED_OP_DIVIDE, total(m, moment, CUBED_GROUP_SUM), mass));
    }
    return stacked(s, parts, ndim);
}

/* --- Medians ------------------------------------------------------------------------------------------- */

/* Computes the medians by a function that needs all elements in one task. */
static cubed_array *gathered_median(const measuring *m)
{
    cb_steps *s = m->s;
    const double half = 0.5;
    const int first = 0;
    const cubed_groups groups = {m->g.codes, 0, m->g.ngroups};
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *made = NULL, *one = NULL;
    o.task_mem = m->task_mem;
    made = cb_step(s, cubed_group_quantiles(m->g.x, &groups, &half, 1, false, &o, &made, s->err),
                   &made);
    if (made) one = cb_step(s, cubed_squeeze(made, &first, 1, &one, s->err), &one);
    return in_order(m, one);
}

/* Appends n axes of extent 1 to x, which has one axis. */
static cubed_array *deepened(cb_steps *s, cubed_array *x, int n)
{
    int64_t shape[CUBED_MAX_NDIM];
    if (!x) return NULL;
    shape[0] = x->shape[0];
    for (int d = 1; d <= n; d++) shape[d] = 1;
    return cb_step_reshaped(s, x, n + 1, shape);
}

/* Returns a floating-point type that represents all values of a type, or that rounds 64-bit integers as SciPy does. */
static cubed_dtype float_for(cubed_dtype dtype)
{
    if (cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) return dtype;
    return cubed_dtype_size(dtype) <= 2 ? CUBED_FLOAT32 : CUBED_FLOAT64;
}

/* Builds one copy of the image for each label of the index. Elements of other objects are NaN in the copy. The medians of these
 * lines are computed by counting, in passes. */
static cubed_array *counted_median(const measuring *m)
{
    cb_steps *s = m->s;
    const int ndim = m->g.x->node.grid->ndim;
    const int64_t chunk = 1;
    const cubed_dtype dtype = float_for(m->g.x->node.dtype);
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *wanted = NULL, *same = NULL, *median = NULL;
    int axes[CUBED_MAX_NDIM];
    if (ndim + 1 > CUBED_MAX_NDIM) {
        s->st = cb_fail(s->err, CUBED_E_UNSUPPORTED, "%s of %d dimensions", m->g.name, ndim);
        return NULL;
    }
    for (int d = 0; d < ndim; d++) axes[d] = d + 1;
    if (m->g.place)
        wanted = cb_step(s, cubed_rechunk(m->g.place, &chunk, &same, s->err), &same);
    else
        wanted =
            cb_step(s, cubed_array_index(s->ctx, 1, &m->g.n, &chunk, 0, &wanted, s->err), &wanted);
    cubed_array *x = cb_step_cast(s, m->g.x, dtype);
    cubed_array *is_inside =
        cb_step_binary(s, CUBED_OP_EQUAL, m->g.codes, deepened(s, wanted, ndim));
    cubed_array *lines =
        cb_step_op(s, CUBED_OP_WHERE, is_inside, x, cb_step_number(s, x, (double)NAN));
    if (!lines) return NULL;
    o.axes = axes;
    o.naxes = ndim;
    o.skip_nan = true;
    o.task_mem = m->task_mem;
    median = cb_step(s, cubed_quantile(lines, 0.5, &o, &median, s->err), &median);
    median = cb_api_objects_shaped(s, &m->g, median);
    if (cubed_dtype_kind(m->g.x->node.dtype) != CUBED_KIND_FLOAT)
        return cb_step_cast(s, median, CUBED_FLOAT64);
    cubed_array *is_missing = cb_step_unary(s, CUBED_OP_ISNAN, m->g.x);
    cubed_array *has_missing = in_order(m, reduced(m, is_missing, CUBED_GROUP_ANY, NULL));
    return cb_step_op(s, CUBED_OP_WHERE, has_missing, cb_step_number(s, median, (double)NAN),
                      median);
}

static cubed_array *median(const measuring *m)
{
    const cubed_array *x = m->g.x;
    int64_t n;
    if (!x || !m->g.codes || m->s->st != CUBED_OK) return NULL;
    const size_t each = cubed_dtype_size(x->node.dtype) + sizeof(int64_t);
    if (!cb_count(x->node.grid->ndim, x->shape, &n) &&
        cb_sat_mul((size_t)n, each) <= cb_api_line_bytes(m->task_mem))
        return gathered_median(m);
    return counted_median(m);
}

/* --- Calls --------------------------------------------------------------------------------------------- */

static cubed_array *measured(const measuring *m, cubed_measurement which)
{
    switch (which) {
    case CUBED_MEASURE_SUM: return in_order(m, sum(m));
    case CUBED_MEASURE_MEAN:
        return m->g.x ? in_order(m, total(m, widened(m->s, m->g.x), CUBED_GROUP_MEAN)) : NULL;
    case CUBED_MEASURE_VARIANCE: return in_order(m, variance(m, CUBED_GROUP_VAR));
    case CUBED_MEASURE_STANDARD_DEVIATION: return in_order(m, variance(m, CUBED_GROUP_STD));
    case CUBED_MEASURE_MINIMUM: return in_order(m, extreme(m, CUBED_GROUP_MIN));
    case CUBED_MEASURE_MAXIMUM: return in_order(m, extreme(m, CUBED_GROUP_MAX));
    case CUBED_MEASURE_MEDIAN: return median(m);
    case CUBED_MEASURE_MINIMUM_POSITION: return positions(m, CUBED_GROUP_ARGMIN);
    case CUBED_MEASURE_MAXIMUM_POSITION: return positions(m, CUBED_GROUP_ARGMAX);
    default: return center(m);
    }
}

static cubed_status check_type(const char *name, const cubed_array *x, bool complex, bool times,
                               cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    char text[CUBED_DTYPE_TEXT_CAP];
    if (kind <= CUBED_KIND_FLOAT || (complex && kind == CUBED_KIND_COMPLEX) ||
        (times && kind == CUBED_KIND_TIME))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected %s", name,
                   cubed_dtype_text(x->node.dtype, text),
                   complex ? "numbers"
                   : times ? "real numbers or times"
                           : "real numbers");
}

cubed_status cubed_measure_objects(cubed_array *x, const cubed_objects *objects,
                                   cubed_measurement which, uint64_t task_mem, cubed_array **out,
                                   cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    measuring m = {.s = &s, .task_mem = task_mem};
    cubed_array *made = NULL;
    if ((unsigned)which >= CUBED_MEASUREMENTS)
        return cb_fail(err, CUBED_E_ARG, "unknown measurement number %d", (int)which);
    const struct measurement *of = &measurements[which];
    CB_TRY(check_type(of->name, x, of->complex, of->times, err));
    cb_api_group_objects(&s, of->name, x, objects, &m.g);
    if (s.st == CUBED_OK && m.g.is_flat && which >= CUBED_MEASURE_MINIMUM_POSITION)
        s.st = cb_fail(err, CUBED_E_ARG, "%s: the image is 0-d, expected axes: reshape it to (1,)",
                       of->name);
    if (s.st == CUBED_OK) made = measured(&m, which);
    return cb_steps_end(&s, made, out);
}

/* Returns a code for each element: the number of its group times the number of intervals, plus the number of its interval. The
 * code is -1 if the element has no group or no interval. */
static cubed_array *interval_codes(cb_steps *s, const cb_grouped_image *g, double low, double high,
                                   int64_t bins)
{
    cubed_array *edges = NULL, *at = NULL, *x = cb_step_cast(s, g->x, CUBED_FLOAT64);
    cubed_array *zero = cb_step_whole(s, 0), *n = cb_step_whole(s, bins);
    if (s->st != CUBED_OK) return NULL;
    edges = cb_step(
        s, cubed_array_linspace(s->ctx, low, high, bins + 1, true, NULL, &edges, s->err), &edges);
    if (edges) at = cb_step(s, cubed_searchsorted(edges, x, true, NULL, &at, s->err), &at);
    at = cb_step_binary(s, CUBED_OP_SUBTRACT, at, cb_step_whole(s, 1));
    at = cb_step_op(s, CUBED_OP_WHERE, cb_step_binary(s, CUBED_OP_EQUAL, x, cb_step_float(s, high)),
                    cb_step_whole(s, bins - 1), at);
    cubed_array *is_inside = cb_step_binary(
        s, CUBED_OP_LOGICAL_AND, cb_step_binary(s, CUBED_OP_GREATER_EQUAL, at, zero),
        cb_step_binary(s, CUBED_OP_LOGICAL_AND, cb_step_binary(s, CUBED_OP_LESS, at, n),
                       cb_step_binary(s, CUBED_OP_GREATER_EQUAL, g->codes, zero)));
    return cb_step_op(
        s, CUBED_OP_WHERE, is_inside,
        cb_step_binary(s, CUBED_OP_ADD, cb_step_binary(s, CUBED_OP_MULTIPLY, g->codes, n), at),
        cb_step_whole(s, -1));
}

cubed_status cubed_histogram_objects(cubed_array *x, const cubed_objects *objects, double low,
                                     double high, int64_t bins, uint64_t task_mem,
                                     cubed_array **out, cubed_error *err)
{
    static const char name[] = "histogram_labels";
    cb_steps s = {.ctx = x->ctx, .err = err};
    measuring m = {.s = &s, .task_mem = task_mem};
    int64_t shape[2] = {0, bins};
    CB_TRY(check_type(name, x, false, false, err));
    if (bins < 1 || bins > INT32_MAX || !isfinite(low) || !isfinite(high) || !(low < high))
        return cb_fail(err, CUBED_E_ARG,
                       "%s: %lld bins from %g to %g, expected at least 1 between finite ends", name,
                       (long long)bins, low, high);
    if (!objects->labels && objects->index)
        return cb_fail(err, CUBED_E_ARG, "%s: an index without labels, expected labels", name);
    cb_api_group_objects(&s, name, x, objects, &m.g);
    shape[0] = m.g.ngroups;
    if (s.st == CUBED_OK && m.g.x && m.g.codes) {
        m.g.codes = interval_codes(&s, &m.g, low, high, bins);
        m.g.ngroups *= bins; /* cannot overflow, because both are less than 2**32 */
    }
    cubed_array *made = reduced(&m, m.g.x, CUBED_GROUP_COUNT, NULL);
    return cb_steps_end(&s, in_order(&m, cb_step_reshaped(&s, made, 2, shape)), out);
}
