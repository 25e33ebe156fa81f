/* Reductions with a result type, an initial value, and a mask of the elements to reduce. */
#include "array_api/chosen_reductions.h"

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "cubed/stats.h"
#include "ops/steps.h"

typedef struct chosen {
    cb_steps *s;
    const cb_chosen_options *o;
    cubed_reduce_options reduce; /* the reduced axes, listed even if all axes are reduced */
    int axes[CUBED_MAX_NDIM];
} chosen;

static bool is_spread(const cb_chosen_options *o)
{
    return o->reduction == CUBED_REDUCE_VAR || o->reduction == CUBED_REDUCE_STD;
}

static bool is_truth(const cb_chosen_options *o)
{
    return o->reduction == CUBED_REDUCE_ALL || o->reduction == CUBED_REDUCE_ANY;
}

static bool is_extreme(const cb_chosen_options *o)
{
    return o->reduction == CUBED_REDUCE_MIN || o->reduction == CUBED_REDUCE_MAX;
}

static cubed_kind kind_of(const cubed_array *x) { return cubed_dtype_kind(x->node.dtype); }

static bool has_nan(const cubed_array *x)
{
    return kind_of(x) == CUBED_KIND_FLOAT || kind_of(x) == CUBED_KIND_COMPLEX;
}

/* Returns true for bool and integer types, in which sums wrap around and quotients lose their fractions. */
static bool is_whole(cubed_dtype dtype)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    return kind == CUBED_KIND_BOOL || kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
}

static cubed_array *cast(const chosen *c, cubed_array *x, const cubed_dtype *dtype)
{
    return dtype ? cb_step_cast(c->s, x, *dtype) : x;
}

/* Returns x where a mask is true, else `value`, in the type of x. */
static cubed_array *choose(const chosen *c, cubed_array *mask, cubed_array *x, cubed_array *value)
{
    cubed_array *out = cb_step_op(c->s, CUBED_OP_WHERE, mask, x, value);
    return out ? cb_step_cast(c->s, out, x->node.dtype) : NULL;
}

static cubed_array *zero_of(const chosen *c, const cubed_array *x)
{
    cubed_array *zero = NULL;
    return cb_step(c->s, cb_op_zero(x->ctx, x->node.dtype, &zero, c->s->err), &zero);
}

static cubed_array *known(const chosen *c, cubed_array *x)
{
    return cb_step_unary(c->s, CUBED_OP_LOGICAL_NOT, cb_step_unary(c->s, CUBED_OP_ISNAN, x));
}

static cubed_array *sum(const chosen *c, cubed_array *x, bool keepdims)
{
    cubed_reduce_options o = c->reduce;
    o.keepdims = keepdims;
    return cb_step_reduce(c->s, CUBED_REDUCE_SUM, x, &o);
}

/* Returns the number of elements that a mask of x's shape selects, as float64. */
static cubed_array *count(const chosen *c, cubed_array *mask, bool keepdims)
{
    cubed_array *n = NULL;
    cubed_reduce_options o = c->reduce;
    o.keepdims = keepdims;
    if (c->s->st != CUBED_OK) return NULL;
    n = cb_step(c->s, cubed_count_nonzero(mask, &o, &n, c->s->err), &n);
    return n ? cb_step_cast(c->s, n, CUBED_FLOAT64) : NULL;
}

static double count_all(const chosen *c, const cubed_array *x)
{
    double n = 1;
    for (int i = 0; i < c->reduce.naxes; i++) n *= (double)x->shape[c->axes[i]];
    return n;
}

/* --- Without a mask and an initial value --------------------------------------------------------------- */

static cubed_array *reduce_plain(const chosen *c, cubed_array *x, const cubed_dtype *dtype)
{
    cubed_array *in = cast(c, x, dtype), *out = NULL;
    if (!in) return NULL;
    out = cb_step(c->s,
                  (c->o->skip_nan ? cubed_nan_reduce : cubed_reduce)(
                      c->o->reduction, in, &c->o->reduce, &out, c->s->err),
                  &out);
    return out ? cast(c, out, dtype) : NULL;
}

/* Sums x in an integer type, divides in float64, and casts to the integer type, as NumPy computes integer means. `mask` may
 * be NULL. `correction` is subtracted from the number of elements. */
static cubed_array *whole_mean(const chosen *c, cubed_array *x, cubed_array *mask,
                               cubed_dtype dtype, double correction, bool keepdims)
{
    const cubed_dtype real = CUBED_FLOAT64;
    const double n = x ? count_all(c, x) - correction : 0;
    cubed_array *divisor = NULL, *total;
    if (x && mask) {
        x = choose(c, mask, x, zero_of(c, x));
        divisor = count(c, mask, keepdims);
        divisor = cb_step_binary(c->s, CUBED_OP_SUBTRACT, divisor, cb_step_float(c->s, correction));
        divisor = cb_step_binary(c->s, CUBED_OP_MAXIMUM, divisor, cb_step_float(c->s, 0));
    } else if (x) {
        divisor = cb_step_float(c->s, n > 0 ? n : 0);
    }
    if (!x || !divisor) return NULL;
    total = sum(c, cast(c, x, &dtype), keepdims);
    if (!total) return NULL;
    total = cast(c, cast(c, total, &dtype), &real);
    return cast(c, cb_step_binary(c->s, CUBED_OP_DIVIDE, total, divisor), &dtype);
}

/* Computes variances with each step in an integer type, as NumPy does. */
static cubed_array *whole_variance(const chosen *c, cubed_array *x, cubed_array *mask,
                                   cubed_dtype dtype)
{
    const cubed_dtype real = CUBED_FLOAT64;
    const bool is_complex = kind_of(x) == CUBED_KIND_COMPLEX;
    cubed_array *part = is_complex ? cb_step_unary(c->s, CUBED_OP_REAL, x) : x;
    cubed_array *mean = whole_mean(c, part, mask, dtype, 0, true);
    cubed_array *off = mean ? cb_step_binary(c->s, CUBED_OP_SUBTRACT, part, mean) : NULL;
    cubed_array *squares = off ? cb_step_binary(c->s, CUBED_OP_MULTIPLY, off, off) : NULL;
    if (squares && is_complex) {
        cubed_array *other = cb_step_unary(c->s, CUBED_OP_IMAG, x);
        squares = cb_step_binary(c->s, CUBED_OP_ADD, squares,
                                 cb_step_binary(c->s, CUBED_OP_MULTIPLY, other, other));
    }
    cubed_array *out =
        whole_mean(c, squares, mask, dtype, c->o->reduce.correction, c->reduce.keepdims);
    if (!out || c->o->reduction != CUBED_REDUCE_STD) return out;
    return cast(c, cb_step_unary(c->s, CUBED_OP_SQRT, cast(c, out, &real)), &dtype);
}

/* --- Masks --------------------------------------------------------------------------------------------- */

/* Broadcasts the mask to the shape of x. */
static cubed_array *mask_of(const chosen *c, const cubed_array *x)
{
    cubed_array *mask = c->o->where;
    const int ndim = x->node.grid->ndim;
    if (mask->node.dtype != CUBED_BOOL) {
        c->s->st = cb_fail(c->s->err, CUBED_E_TYPE, "%s: where is of type %s, expected bool",
                           c->o->name, cubed_dtype_name(mask->node.dtype));
        return NULL;
    }
    bool is_same = mask->node.grid->ndim == ndim;
    for (int d = 0; is_same && d < ndim; d++) is_same = mask->shape[d] == x->shape[d];
    if (is_same) return mask;
    cubed_array *wide = cb_step_broadcast(c->s, mask, ndim, x->shape);
    if (!wide) c->s->st = cb_context(c->s->err, c->s->st, "%s: where", c->o->name);
    return wide;
}

static cubed_array *mean_of_chosen(const chosen *c, cubed_array *x)
{
    const cubed_dtype real = CUBED_FLOAT64;
    const cubed_dtype *dtype = c->o->dtype;
    cubed_array *mask = mask_of(c, x);
    if (mask && c->o->skip_nan && has_nan(x))
        mask = cb_step_binary(c->s, CUBED_OP_LOGICAL_AND, mask, known(c, x));
    if (mask && dtype && is_whole(*dtype))
        return whole_mean(c, x, mask, *dtype, 0, c->reduce.keepdims);
    if (dtype || kind_of(x) < CUBED_KIND_FLOAT) x = cast(c, x, dtype ? dtype : &real);
    if (!mask || !x) return NULL;
    cubed_array *terms = choose(c, mask, x, zero_of(c, x));
    cubed_array *total = terms ? sum(c, terms, c->reduce.keepdims) : NULL;
    if (!total) return NULL;
    return cast(c, cb_step_binary(c->s, CUBED_OP_DIVIDE, total, count(c, mask, c->reduce.keepdims)),
                dtype ? dtype : &total->node.dtype);
}

/* Converts the options of a variance or standard deviation. */
static cubed_variance_options variance_options(const chosen *c)
{
    cubed_variance_options options = CUBED_VARIANCE_OPTIONS_INIT;
    options.axes = c->o->reduce.axes;
    options.naxes = c->o->reduce.naxes;
    options.keepdims = c->o->reduce.keepdims;
    options.correction = c->o->reduce.correction;
    options.skip_nan = c->o->skip_nan;
    options.root = c->o->reduction == CUBED_REDUCE_STD;
    return options;
}

static cubed_array *variance(const chosen *c, cubed_array *x, cubed_array *mask,
                             const cubed_variance_options *options)
{
    cubed_array *out = NULL;
    if (!x || c->s->st != CUBED_OK) return NULL;
    return cb_step(c->s, cubed_variance(x, mask, options, &out, c->s->err), &out);
}

/* Returns the variance of complex numbers about the mean of their real parts. NumPy does the same for a real result type: only
 * the mean is cast to a real number. */
static cubed_array *variance_about_real_mean(const chosen *c, cubed_array *x, cubed_array *mask)
{
    const cubed_dtype *dtype = c->o->dtype;
    const double free = c->o->reduce.correction;
    if (c->o->skip_nan)
        mask = mask ? cb_step_binary(c->s, CUBED_OP_LOGICAL_AND, mask, known(c, x)) : known(c, x);
    cubed_variance_options options = variance_options(c);
    options.skip_nan = options.root = false;
    cubed_array *along =
        variance(c, cast(c, cb_step_unary(c->s, CUBED_OP_REAL, x), dtype), mask, &options);
    cubed_array *part = cb_step_unary(c->s, CUBED_OP_IMAG, x);
    cubed_array *squares = cast(c, cb_step_binary(c->s, CUBED_OP_MULTIPLY, part, part), dtype),
                *divisor;
    if (!along || !squares) return NULL;
    if (mask) {
        squares = choose(c, mask, squares, zero_of(c, squares));
        divisor = cb_step_binary(c->s, CUBED_OP_SUBTRACT, count(c, mask, c->reduce.keepdims),
                                 cb_step_float(c->s, free));
        divisor = cb_step_binary(c->s, CUBED_OP_MAXIMUM, divisor, cb_step_float(c->s, 0));
    } else {
        const double n = count_all(c, x) - free;
        divisor = cb_step_number(c->s, squares, n > 0 ? n : 0);
    }
    if (!squares || !divisor) return NULL;
    cubed_array *total = sum(c, squares, c->reduce.keepdims);
    cubed_array *made = cast(c,
                             cb_step_binary(c->s, CUBED_OP_ADD, along,
                                            cb_step_binary(c->s, CUBED_OP_DIVIDE, total, divisor)),
                             dtype);
    if (c->o->reduction != CUBED_REDUCE_STD) return made;
    return cast(c, cb_step_unary(c->s, CUBED_OP_SQRT, made), dtype);
}

static cubed_array *variance_of_chosen(const chosen *c, cubed_array *x)
{
    const cubed_dtype *dtype = c->o->dtype;
    cubed_array *mask = c->o->where ? mask_of(c, x) : NULL;
    if (c->s->st != CUBED_OK) return NULL;
    if (dtype && is_whole(*dtype)) return whole_variance(c, x, mask, *dtype);
    if (dtype && kind_of(x) == CUBED_KIND_COMPLEX && cubed_dtype_kind(*dtype) == CUBED_KIND_FLOAT)
        return variance_about_real_mean(c, x, mask);
    const cubed_variance_options options = variance_options(c);
    cubed_array *made = variance(c, cast(c, x, dtype), mask, &options);
    return made ? cast(c, made, dtype) : NULL;
}

/* Replaces elements where the mask is false by the neutral element of the reduction. */
static cubed_array *fill_unchosen(const chosen *c, cubed_array *x)
{
    cubed_array *mask = mask_of(c, x), *neutral = zero_of(c, x);
    if (!mask || !neutral) return NULL;
    if (is_extreme(c->o)) {
        if (c->o->initial) return choose(c, mask, x, cast(c, c->o->initial, &x->node.dtype));
        c->s->st = cb_fail(c->s->err, CUBED_E_ARG,
                           "%s: where is given without initial, expected both: initial is the "
                           "result if where selects no element",
                           c->o->name);
        return NULL;
    }
    if (c->o->reduction == CUBED_REDUCE_PROD || c->o->reduction == CUBED_REDUCE_ALL)
        neutral = cast(c, cb_step_whole(c->s, 1), &x->node.dtype);
    return choose(c, mask, x, neutral);
}

/* --- First values -------------------------------------------------------------------------------------- */

/* Returns the larger or smaller of two complex numbers. If one is NaN, the result is NaN; if both are NaN, the first. */
static cubed_array *complex_extreme(const chosen *c, cubed_op which, cubed_array *a, cubed_array *b)
{
    cubed_array *is_b =
        cb_step_binary(c->s, CUBED_OP_LOGICAL_OR, cb_step_unary(c->s, CUBED_OP_ISNAN, b),
                       cb_api_complex_beyond(c->s, which, b, a));
    cubed_array *made = cb_step_op(c->s, CUBED_OP_WHERE, is_b, b, a);
    return cb_step_op(c->s, CUBED_OP_WHERE, cb_step_unary(c->s, CUBED_OP_ISNAN, a), a, made);
}

/* Broadcasts the initial value to the shape of the result. */
static cubed_array *spread_initial(const chosen *c, const cubed_array *x, cubed_array *initial)
{
    int64_t shape[CUBED_MAX_NDIM];
    uint32_t reduced = 0;
    int ndim = 0;
    for (int i = 0; i < c->reduce.naxes; i++) reduced |= UINT32_C(1) << c->axes[i];
    for (int d = 0; d < x->node.grid->ndim; d++) {
        const bool is_reduced = reduced >> d & 1;
        if (!is_reduced || c->reduce.keepdims) shape[ndim++] = is_reduced ? 1 : x->shape[d];
    }
    return cb_step_broadcast(c->s, initial, ndim, shape);
}

/* Returns the extreme of a result and the initial value. With skip_nan, a NaN or NaT is ignored if the other operand is
 * valid. */
static cubed_array *extreme_of_two(const chosen *c, cubed_array *a, cubed_array *b)
{
    const cubed_op which =
        c->o->reduction == CUBED_REDUCE_MAX ? CUBED_OP_MAXIMUM : CUBED_OP_MINIMUM;
    const bool is_complex = kind_of(a) == CUBED_KIND_COMPLEX;
    cubed_array *made =
        is_complex ? complex_extreme(c, which, a, b) : cb_step_binary(c->s, which, a, b);
    if (!c->o->skip_nan || !(has_nan(a) || kind_of(a) == CUBED_KIND_TIME)) return made;
    made =
        cb_step_op(c->s, CUBED_OP_WHERE, cb_step_binary(c->s, CUBED_OP_NOT_EQUAL, b, b), a, made);
    return cb_step_op(c->s, CUBED_OP_WHERE, cb_step_binary(c->s, CUBED_OP_NOT_EQUAL, a, a), b,
                      made);
}

static cubed_array *reduce_filled(const chosen *c, cubed_array *x);

static cubed_array *reduce_from(const chosen *c, cubed_array *x)
{
    cubed_array *initial = c->o->initial;
    if (initial->node.grid->ndim > 0) {
        c->s->st = cb_fail(c->s->err, CUBED_E_ARG, "%s: initial has %d axes, expected a number",
                           c->o->name, initial->node.grid->ndim);
        return NULL;
    }
    if (is_extreme(c->o) && count_all(c, x) == 0)
        return spread_initial(c, x, cast(c, initial, &x->node.dtype));
    cubed_array *out = reduce_filled(c, x);
    if (!out) return NULL;
    initial = cast(c, initial, &out->node.dtype);
    if (!is_extreme(c->o))
        return cb_step_binary(
            c->s, c->o->reduction == CUBED_REDUCE_SUM ? CUBED_OP_ADD : CUBED_OP_MULTIPLY, out,
            initial);
    return initial ? extreme_of_two(c, out, initial) : NULL;
}

/* --- Any ----------------------------------------------------------------------------------------------- */

/* Reduces all elements of x, without the mask and without the initial value. */
static cubed_array *reduce_filled(const chosen *c, cubed_array *x)
{
    /* Times are not cast to another type. */
    const cubed_dtype *dtype = kind_of(x) == CUBED_KIND_TIME ? NULL : c->o->dtype;
    if (dtype && is_spread(c->o) && is_whole(*dtype)) return whole_variance(c, x, NULL, *dtype);
    if (dtype && c->o->reduction == CUBED_REDUCE_MEAN && is_whole(*dtype))
        return whole_mean(c, x, NULL, *dtype, 0, c->reduce.keepdims);
    if (dtype && is_spread(c->o) && cubed_dtype_kind(*dtype) == CUBED_KIND_COMPLEX) {
        const cubed_variance_options options = variance_options(c);
        cubed_array *real = variance(c, cast(c, x, dtype), NULL, &options);
        return real ? cast(c, real, dtype) : NULL;
    }
    if (dtype && c->o->skip_nan && has_nan(x) && cubed_dtype_kind(*dtype) != CUBED_KIND_FLOAT &&
        cubed_dtype_kind(*dtype) != CUBED_KIND_COMPLEX) {
        /* NaN cannot be cast to an integer, so the neutral element replaces it. */
        const double neutral = c->o->reduction == CUBED_REDUCE_PROD;
        cubed_array *value = cb_step_number(c->s, x, neutral);
        x = choose(c, known(c, x), x, value);
    }
    return x ? reduce_plain(c, x, dtype) : NULL;
}

static cubed_array *reduce_any(const chosen *c, cubed_array *x)
{
    const cb_chosen_options *o = c->o;
    const bool is_chosen = o->where != NULL;
    if (is_spread(o) && !(o->dtype && !is_chosen && is_whole(*o->dtype)) &&
        (is_chosen || kind_of(x) == CUBED_KIND_COMPLEX))
        return variance_of_chosen(c, x);
    if (is_chosen && o->reduction == CUBED_REDUCE_MEAN) return mean_of_chosen(c, x);
    if (is_truth(o) && kind_of(x) >= CUBED_KIND_COMPLEX) {
        const cubed_dtype truth = kind_of(x) == CUBED_KIND_TIME ? CUBED_INT64 : CUBED_BOOL;
        x = cast(c, x, &truth);
    }
    if (is_chosen && x) x = fill_unchosen(c, x);
    if (!x) return NULL;
    return o->initial ? reduce_from(c, x) : reduce_filled(c, x);
}

/* Fails if a result would be NaN in an integer type. */
static cubed_status check_type(const cubed_array *x, const cb_chosen_options *o, cubed_error *err)
{
    const bool is_total = o->reduction == CUBED_REDUCE_SUM || o->reduction == CUBED_REDUCE_PROD;
    if (!o->dtype || !o->skip_nan || !has_nan(x) || is_total ||
        cubed_dtype_kind(*o->dtype) == CUBED_KIND_FLOAT ||
        cubed_dtype_kind(*o->dtype) == CUBED_KIND_COMPLEX)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE, "%s: dtype is %s for an array of %s, expected floats",
                   o->name, cubed_dtype_name(*o->dtype), cubed_dtype_name(x->node.dtype));
}

cubed_status cb_reduce_chosen(cubed_array *x, const cb_chosen_options *options, cubed_array **out,
                              cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    chosen c = {.s = &s, .o = options, .reduce = options->reduce};
    const int ndim = x->node.grid->ndim;
    CB_TRY(check_type(x, options, err));
    if (!options->reduce.axes) c.reduce.naxes = ndim;
    for (int i = 0; i < c.reduce.naxes; i++) {
        c.axes[i] = options->reduce.axes ? options->reduce.axes[i] : i;
        CB_TRY(cb_api_axis(options->name, ndim, &c.axes[i], err));
    }
    c.reduce.axes = c.axes;
    return cb_steps_end(&s, reduce_any(&c, x), out);
}
