/* Statistics of fields: weighted reductions that skip missing elements. */
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/fields.h"
#include "ops/shapes.h"
#include "ops/steps.h"

/* --- Weights ------------------------------------------------------------------------------------------------------- */

/* Returns true if the axes of w have the extents of x's axes in the list `axes`, in this order. */
static bool is_along(const cubed_array *x, const cubed_array *w, const int *axes, int naxes)
{
    if (w->node.grid->ndim != naxes) return false;
    for (int i = 0; i < naxes; i++) {
        const int d = axes[i] < 0 ? axes[i] + x->node.grid->ndim : axes[i];
        if (w->shape[i] != x->shape[d]) return false;
    }
    return true;
}

cubed_array *cb_api_weights(cb_steps *s, const cubed_array *x, cubed_array *w, const int *axes,
                            int naxes)
{
    const int ndim = x->node.grid->ndim;
    int64_t shape[CUBED_MAX_NDIM];
    int order[CUBED_MAX_NDIM], n = 0, first = ndim;
    if (s->st != CUBED_OK || !axes || !is_along(x, w, axes, naxes)) return NULL;
    for (int d = 0; d < ndim; d++) {
        shape[d] = 1;
        for (int i = 0; i < naxes; i++) {
            if (d != (axes[i] < 0 ? axes[i] + ndim : axes[i])) continue;
            order[n++] = i;
            shape[d] = x->shape[d];
            if (first == ndim) first = d;
        }
    }
    return cb_step_reshaped(s, cb_step_permuted(s, w, order), ndim - first, shape + first);
}

/* --- Statistics ---------------------------------------------------------------------------------------------------- */

/* A field and its weights, both float64. `w` is NULL if all weights are 1. */
typedef struct field {
    cb_steps *s;
    cubed_array *x, *w;
    bool may_miss; /* elements or weights may be NaN */
    cubed_reduce_options o;
} field;

static cubed_array *reduced(const field *f, cubed_reduction which, cubed_array *x)
{
    cubed_array *y = NULL;
    if (!x) return NULL;
    if (!f->may_miss) return cb_step_reduce(f->s, which, x, &f->o);
    return cb_step(f->s, cubed_nan_reduce(which, x, &f->o, &y, f->s->err), &y);
}

/* Returns the elements times their weights. The product is NaN if the element or the weight is NaN. */
static cubed_array *products(const field *f, cubed_array *x)
{
    return f->w ? cb_step_binary(f->s, CUBED_OP_MULTIPLY, x, f->w) : x;
}

/* Returns the weights in the shape of x, or ones if there are no weights. Weights of missing elements are NaN. */
static cubed_array *weights_there(const field *f)
{
    cubed_array *own = f->w ? f->w : cb_step_float(f->s, 1);
    cubed_array *is_missing = cb_step_unary(f->s, CUBED_OP_ISNAN, products(f, f->x));
    if (!own || !is_missing) return NULL;
    return cb_step_op(f->s, CUBED_OP_WHERE, is_missing, cb_step_float(f->s, (double)NAN), own);
}

/* Returns y with NaN where the sum of weights, `total`, is 0. */
static cubed_array *unless_empty(const field *f, cubed_array *total, cubed_array *y)
{
    cubed_array *is_empty = cb_step_binary(f->s, CUBED_OP_EQUAL, total, cb_step_float(f->s, 0));
    if (!is_empty || !y) return NULL;
    return cb_step_op(f->s, CUBED_OP_WHERE, is_empty, cb_step_float(f->s, (double)NAN), y);
}

/* Sums squared distances from the mean, and divides the sum. If `correct` is set, uses the divisor of VAR1. */
static cubed_array *variance(field *f, bool correct)
{
    const bool keepdims = f->o.keepdims;
    f->o.keepdims = true;
    cubed_array *w = weights_there(f);
    cubed_array *total = reduced(f, CUBED_REDUCE_SUM, w);
    cubed_array *sum = reduced(f, CUBED_REDUCE_SUM, products(f, f->x));
    cubed_array *mean = cb_step_binary(f->s, CUBED_OP_DIVIDE, sum, total);
    cubed_array *away =
        cb_step_unary(f->s, CUBED_OP_SQUARE, cb_step_binary(f->s, CUBED_OP_SUBTRACT, f->x, mean));
    cubed_array *squares = reduced(f, CUBED_REDUCE_SUM, products(f, away));
    cubed_array *divisor = total;
    if (correct) {
        /* the divisor of VAR1: W - (sum of w^2) / W */
        cubed_array *lost = reduced(f, CUBED_REDUCE_SUM, cb_step_unary(f->s, CUBED_OP_SQUARE, w));
        divisor = cb_step_binary(f->s, CUBED_OP_SUBTRACT, total,
                                 cb_step_binary(f->s, CUBED_OP_DIVIDE, lost, total));
    }
    cubed_array *y = cb_step_binary(f->s, CUBED_OP_DIVIDE, squares, divisor), *plain = NULL;
    if (!y || keepdims) return y;
    return cb_step(f->s, cubed_squeeze(y, f->o.axes, f->o.naxes, &plain, f->s->err), &plain);
}

static cubed_array *statistic(field *f, cubed_field_statistic which)
{
    cubed_array *y, *total;
    switch (which) {
    case CUBED_FIELD_MIN: return reduced(f, CUBED_REDUCE_MIN, f->x);
    case CUBED_FIELD_MAX: return reduced(f, CUBED_REDUCE_MAX, f->x);
    case CUBED_FIELD_RANGE:
        y = reduced(f, CUBED_REDUCE_MAX, f->x);
        return cb_step_binary(f->s, CUBED_OP_SUBTRACT, y, reduced(f, CUBED_REDUCE_MIN, f->x));
    case CUBED_FIELD_STD:
    case CUBED_FIELD_STD1:
        return cb_step_unary(f->s, CUBED_OP_SQRT, variance(f, which == CUBED_FIELD_STD1));
    case CUBED_FIELD_VAR:
    case CUBED_FIELD_VAR1: return variance(f, which == CUBED_FIELD_VAR1);
    default: break;
    }
    /* AVG does not skip missing elements, so an element that is NaN makes both sums NaN. */
    if (which == CUBED_FIELD_AVG) f->may_miss = false;
    y = reduced(f, CUBED_REDUCE_SUM, products(f, f->x));
    total = reduced(f, CUBED_REDUCE_SUM, weights_there(f));
    if (which == CUBED_FIELD_MEAN || which == CUBED_FIELD_AVG)
        return cb_step_binary(f->s, CUBED_OP_DIVIDE, y, total);
    return unless_empty(f, total, y);
}

static bool has_weights(cubed_field_statistic which)
{
    return which != CUBED_FIELD_SUM && which != CUBED_FIELD_MIN && which != CUBED_FIELD_MAX &&
           which != CUBED_FIELD_RANGE;
}

/* Converts weights to float64 in a shape that broadcasts to x. */
static cubed_array *take_weights(cb_steps *s, const cubed_array *x, cubed_array *w,
                                 const cubed_field_options *o)
{
    char own[CB_SHAPE_TEXT_CAP], theirs[CB_SHAPE_TEXT_CAP];
    const int ndim = x->node.grid->ndim, more = ndim - w->node.grid->ndim;
    cubed_array *along = cb_api_weights(s, x, w, o->axes, o->naxes);
    bool fits = along || more >= 0;
    for (int d = more; d < ndim && fits && !along; d++)
        fits = w->shape[d - more] == 1 || w->shape[d - more] == x->shape[d];
    if (!fits && s->st == CUBED_OK)
        s->st = cb_fail(s->err, CUBED_E_ARG,
                        "weights have shape %s, expected one weight for each element along the %d "
                        "axes, or a shape that broadcasts to %s",
                        cb_shape_text(w, theirs), o->axes ? o->naxes : ndim, cb_shape_text(x, own));
    return fits ? cb_step_cast(s, along ? along : w, CUBED_FLOAT64) : NULL;
}

static cubed_status check_types(const cubed_array *x, const cubed_array *w,
                                cubed_field_statistic which, cubed_error *err)
{
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "x is %s, expected real numbers",
                       cubed_dtype_name(x->node.dtype));
    if (w && cubed_dtype_kind(w->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "weights are %s, expected real numbers",
                       cubed_dtype_name(w->node.dtype));
    if (w && !has_weights(which))
        return cb_fail(err, CUBED_E_ARG,
                       "weights are given, expected NULL: this statistic has no weights");
    return CUBED_OK;
}

cubed_status cubed_field_reduce(cubed_array *x, cubed_array *weights, cubed_field_statistic which,
                                const cubed_field_options *options, cubed_array **out,
                                cubed_error *err)
{
    cubed_field_options o = CUBED_FIELD_OPTIONS_INIT;
    uint32_t mask;
    CB_TRY(CB_OPTIONS_TAKE("field_reduce", options, &o, err));
    if ((unsigned)which > CUBED_FIELD_STD1)
        return cb_fail(err, CUBED_E_ARG, "field_reduce: statistic number %d, expected 0 to %d",
                       (int)which, CUBED_FIELD_STD1);
    CB_TRY(check_types(x, weights, which, err));
    if (o.axes)
        CB_TRY(cb_api_axes("field_reduce", x->node.grid->ndim, o.axes, o.naxes, &mask, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    field f = {.s = &s, .o = CUBED_REDUCE_OPTIONS_INIT};
    const bool is_float = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT;
    /* The range (maximum minus minimum) of small integers may exceed their type, so the result is float64. */
    const bool keeps_type = which == CUBED_FIELD_MIN || which == CUBED_FIELD_MAX ||
                            (which == CUBED_FIELD_RANGE && is_float);
    f.o.axes = o.axes;
    f.o.naxes = o.naxes;
    f.o.keepdims = o.keepdims;
    f.may_miss = is_float || weights;
    f.x = keeps_type ? x : cb_step_cast(&s, x, CUBED_FLOAT64);
    if (weights) f.w = take_weights(&s, x, weights, &o);
    cubed_array *y = f.x && (f.w || !weights) ? statistic(&f, which) : NULL;
    if (y && is_float) y = cb_step_cast(&s, y, x->node.dtype);
    return cb_steps_end(&s, y, out);
}
