/* Quantiles of times, computed in int64, because floating point would round times. */
#include "array_api/time_quantiles.h"

#include <math.h>

#include "array_api/known_lines.h"
#include "base/error.h"
#include "ops/steps.h"

/* Times, and the same times as int64. The smallest int64 is NaT. */
typedef struct times {
    cb_steps *s;
    cubed_array *x, *ints;
    cb_quantiles wanted;
    cb_known_lines lines; /* sorted int64, used only if missing elements are skipped */
} times;

static double reduced_elements(const cubed_array *x, uint32_t reduced)
{
    double elements = 1;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (reduced >> d & 1) elements *= (double)x->shape[d];
    }
    return elements;
}

/* --- Quantiles that skip missing elements --------------------------------------------------------------------- */

static cubed_array *is_missing(cb_steps *s, cubed_array *lines)
{
    return cb_step_is_nat(s, cb_step_cast(s, lines, CUBED_INT64));
}

/* Returns the fractional position of a quantile among the elements of each line that are not missing. */
static cubed_array *place(times *t, double q)
{
    cb_steps *s = t->s;
    cubed_array *last = cb_step_op(s, CUBED_OP_SUBTRACT, t->lines.known, cb_step_whole(s, 1), NULL);
    return cb_step_op(s, CUBED_OP_MULTIPLY, cb_step_cast(s, last, CUBED_FLOAT64),
                      cb_step_float(s, q), NULL);
}

static cubed_array *known_element(times *t, double q, cubed_quantile_method method)
{
    cb_steps *s = t->s;
    cubed_array *at = place(t, q);
    switch (method) {
    case CUBED_QUANTILE_LOWER: at = cb_step_op(s, CUBED_OP_FLOOR, at, NULL, NULL); break;
    case CUBED_QUANTILE_HIGHER: at = cb_step_op(s, CUBED_OP_CEIL, at, NULL, NULL); break;
    case CUBED_QUANTILE_NEAREST: at = cb_step_op(s, CUBED_OP_ROUND, at, NULL, NULL); break;
    default:
        if (s->st == CUBED_OK)
            s->st = cb_fail(s->err, CUBED_E_TYPE,
                            "quantile: method '%s' is not defined for times if missing ones are "
                            "skipped, expected 'linear', 'lower', 'higher' or 'nearest'",
                            cb_api_quantile_method_name(method));
    }
    return cb_known_lines_take(&t->lines, cb_step_cast(s, at, CUBED_INT64));
}

static cubed_array *known_way(times *t, double q)
{
    cubed_array *at = place(t, q), *whole = cb_step_op(t->s, CUBED_OP_FLOOR, at, NULL, NULL);
    return cb_known_lines_result(&t->lines, cb_step_op(t->s, CUBED_OP_SUBTRACT, at, whole, NULL));
}

/* --- Elements, and interpolation between two of them -------------------------------------------------------------- */

/* Stacks the results parts[0..t->wanted.n) along a new first axis if the result has an axis for the quantiles. Frees `parts`. */
static cubed_array *stacked(times *t, cubed_array **parts)
{
    cb_steps *s = t->s;
    cubed_array *y = t->wanted.n > 0 ? parts[0] : NULL;
    if (t->wanted.in_front && s->st == CUBED_OK)
        y = cb_step(s, cubed_stack(parts, t->wanted.n, 0, &y, s->err), &y);
    cb_free(&s->ctx->alloc, parts, (size_t)t->wanted.n * sizeof *parts);
    return s->st == CUBED_OK ? y : NULL;
}

static cubed_array **new_parts(times *t)
{
    cubed_array **parts = cb_alloc(&t->s->ctx->alloc, (size_t)t->wanted.n * sizeof *parts);
    if (!parts) t->s->st = cb_fail(t->s->err, CUBED_E_NOMEM, "no memory for quantiles");
    return parts;
}

/* Takes one element for each quantile. */
static cubed_array *element(times *t, cubed_quantile_method method)
{
    cubed_array *y = NULL;
    t->wanted.o.method = method;
    if (!t->ints || t->s->st != CUBED_OK) return NULL;
    if (t->wanted.o.skip_nan && t->wanted.n > 0) {
        cubed_array **parts = new_parts(t);
        if (!parts) return NULL;
        for (int i = 0; i < t->wanted.n; i++) parts[i] = known_element(t, t->wanted.q[i], method);
        return stacked(t, parts);
    }
    return cb_step(t->s, cb_api_number_quantiles(t->ints, &t->wanted, &y, t->s->err), &y);
}

/* Casts y to times. The result is NaT if an element is NaT, or, if missing elements are skipped, if all elements are NaT. */
static cubed_array *as_times(times *t, cubed_array *y)
{
    cubed_reduce_options reduce = CUBED_REDUCE_OPTIONS_INIT;
    reduce.axes = t->wanted.o.axes;
    reduce.naxes = t->wanted.o.naxes;
    reduce.keepdims = t->wanted.o.keepdims;
    cubed_array *missing =
        cb_step_reduce(t->s, t->wanted.o.skip_nan ? CUBED_REDUCE_ALL : CUBED_REDUCE_ANY,
                       cb_step_is_nat(t->s, t->ints), &reduce);
    return cb_step_cast(t->s, cb_step_nat_where(t->s, missing, y), t->x->node.dtype);
}

/* Returns, for each quantile, its position between the two adjacent elements as a fraction of their distance. The array
 * broadcasts with results that have ndim axes. */
static cubed_array *fractions(times *t, int ndim)
{
    cb_steps *s = t->s;
    int64_t shape[CUBED_MAX_NDIM];
    const double last = reduced_elements(t->x, t->wanted.reduced) - 1;
    cubed_array **parts = new_parts(t);
    if (!parts) return NULL;
    for (int i = 0; i < t->wanted.n; i++) {
        const double at = t->wanted.q[i] * last;
        parts[i] =
            t->wanted.o.skip_nan ? known_way(t, t->wanted.q[i]) : cb_step_float(s, at - floor(at));
    }
    cubed_array *y = stacked(t, parts);
    for (int d = 0; d < ndim; d++) shape[d] = d == 0 ? t->wanted.n : 1;
    return t->wanted.in_front && !t->wanted.o.skip_nan ? cb_step_reshaped(s, y, ndim, shape) : y;
}

/* Interpolates between two elements. As in NumPy, starts from the nearer element and truncates. */
static cubed_array *between(times *t)
{
    cb_steps *s = t->s;
    cubed_array *low = element(t, CUBED_QUANTILE_LOWER), *high = element(t, CUBED_QUANTILE_HIGHER);
    if (!low || !high || t->wanted.n == 0) return low;
    cubed_array *part = fractions(t, low->node.grid->ndim);
    cubed_array *way = cb_step_op(s, CUBED_OP_SUBTRACT, high, low, NULL);
    way = cb_step_cast(s, way, CUBED_FLOAT64);
    cubed_array *rest = cb_step_op(s, CUBED_OP_SUBTRACT, cb_step_float(s, 1), part, NULL);
    cubed_array *up =
        cb_step_cast(s, cb_step_op(s, CUBED_OP_MULTIPLY, way, part, NULL), CUBED_INT64);
    cubed_array *down =
        cb_step_cast(s, cb_step_op(s, CUBED_OP_MULTIPLY, way, rest, NULL), CUBED_INT64);
    cubed_array *is_near = cb_step_op(s, CUBED_OP_LESS, part, cb_step_float(s, 0.5), NULL);
    return cb_step_op(s, CUBED_OP_WHERE, is_near, cb_step_op(s, CUBED_OP_ADD, low, up, NULL),
                      cb_step_op(s, CUBED_OP_SUBTRACT, high, down, NULL));
}

static void begin(times *t)
{
    t->ints = cb_step_cast(t->s, t->x, CUBED_INT64);
    if (!t->wanted.o.skip_nan) return;
    t->lines = (cb_known_lines){
        .s = t->s, .x = t->x, .reduced = t->wanted.reduced, .keepdims = t->wanted.o.keepdims};
    cb_known_lines_sort(&t->lines, t->wanted.o.task_mem, is_missing);
    t->lines.sorted = cb_step_cast(t->s, t->lines.sorted, CUBED_INT64);
}

cubed_status cb_api_time_quantiles(cubed_array *x, const cb_quantiles *wanted, cubed_array **out,
                                   cubed_error *err)
{
    const cubed_quantile_method method = wanted->o.method;
    char text[CUBED_DTYPE_TEXT_CAP];
    cb_steps s = {.ctx = x->ctx, .err = err};
    times t = {.s = &s, .x = x, .wanted = *wanted};
    cubed_dtype_text(x->node.dtype, text);
    for (int i = 0; i < wanted->n; i++) {
        if (!(wanted->q[i] >= 0 && wanted->q[i] <= 1))
            return cb_fail(err, CUBED_E_ARG, "quantile: q is %g, expected a number from 0 to 1",
                           wanted->q[i]);
    }
    if (reduced_elements(x, wanted->reduced) == 0)
        return cb_fail(err, CUBED_E_ARG,
                       "quantile: the array of %s has no elements, expected at least one", text);
    begin(&t);
    cubed_array *y = method == CUBED_QUANTILE_LINEAR ? between(&t) : element(&t, method);
    if (y && y->node.dtype != CUBED_INT64) {
        s.st = cb_fail(err, CUBED_E_TYPE,
                       "quantile: method '%s' is not defined for %s, expected 'linear' or a method "
                       "that returns an element",
                       cb_api_quantile_method_name(method), text);
        y = NULL;
    }
    return cb_steps_end(&s, y ? as_times(&t, y) : NULL, out);
}

cubed_status cb_api_time_median(cubed_array *x, const cubed_quantile_options *o, cubed_array **out,
                                cubed_error *err)
{
    const double half = 0.5;
    const int ndim = x->node.grid->ndim;
    cb_quantiles wanted = {
        .q = &half, .n = 1, .o = *o, .reduced = (uint32_t)((uint64_t)1 << ndim) - 1};
    if (o->axes) CB_TRY(cb_api_axes("median", ndim, o->axes, o->naxes, &wanted.reduced, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    times t = {.s = &s, .x = x, .wanted = wanted};
    cubed_array *y;
    /* If there are no elements to reduce, all quantiles are NaT. The shape of the result is the shape of a sum. */
    if (reduced_elements(x, wanted.reduced) == 0) {
        cubed_reduce_options shape = CUBED_REDUCE_OPTIONS_INIT;
        shape.axes = o->axes;
        shape.naxes = o->naxes;
        shape.keepdims = o->keepdims;
        t.ints = cb_step_cast(&s, x, CUBED_INT64);
        y = cb_step_op(&s, CUBED_OP_ADD, cb_step_reduce(&s, CUBED_REDUCE_SUM, t.ints, &shape),
                       cb_step_whole(&s, INT64_MIN), NULL);
    } else {
        begin(&t);
        cubed_array *low = element(&t, CUBED_QUANTILE_LOWER);
        cubed_array *high = element(&t, CUBED_QUANTILE_HIGHER);
        y = cb_step_divided_time(&s, cb_step_op(&s, CUBED_OP_ADD, low, high, NULL),
                                 cb_step_whole(&s, 2));
    }
    return cb_steps_end(&s, as_times(&t, y), out);
}
