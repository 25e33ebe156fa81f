/* Reductions that pass over NaN: the plain ones over values in which NaN is neutral, and counts. The
 * reductions of one result share their pass over the input. Calculated in float64 or complex128, as the
 * plain ones. */
#include <math.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* A list of references that are given up together. */
typedef struct keep {
    cubed_context *ctx;
    cubed_array *list[32]; /* std, the longest, makes 15 */
    int n;
} keep;

static cubed_array *op(keep *k, cubed_op which, cubed_array *a, cubed_array *b, cubed_array *c,
                       cubed_status *st, cubed_error *err)
{
    cubed_array *args[3] = {a, b, c}, *out = NULL;
    if (*st != CUBED_OK) return NULL;
    *st = cubed_elementwise(which, args, c ? 3 : b ? 2 : 1, &out, err);
    if (*st == CUBED_OK) k->list[k->n++] = out;
    return out;
}

static cubed_array *reduction(keep *k, cubed_reduction which, cubed_array *x,
                              const cubed_reduce_options *o, cubed_status *st, cubed_error *err)
{
    cubed_array *out = NULL;
    if (*st != CUBED_OK) return NULL;
    *st = cubed_reduce(which, x, o, &out, err);
    if (*st == CUBED_OK) k->list[k->n++] = out;
    return out;
}

static cubed_array *constant(keep *k, cubed_dtype dtype, double value, cubed_status *st,
                             cubed_error *err)
{
    cubed_array *out = NULL;
    if (*st != CUBED_OK) return NULL;
    *st = cb_op_scalar(k->ctx, dtype, value, &out, err);
    if (*st == CUBED_OK) k->list[k->n++] = out;
    return out;
}

static cubed_array *cast(keep *k, cubed_array *x, cubed_dtype dtype, cubed_status *st,
                         cubed_error *err)
{
    cubed_array *out = NULL;
    if (*st != CUBED_OK) return NULL;
    *st = cubed_astype(x, dtype, &out, err);
    if (*st == CUBED_OK) k->list[k->n++] = out;
    return out;
}

/* min and max: infinity is neutral, and what has nothing but NaN is NaN. */
static cubed_array *extreme(keep *k, cubed_reduction which, cubed_array *x, cubed_array *is_nan,
                            const cubed_reduce_options *o, cubed_status *st, cubed_error *err)
{
    cubed_dtype t = x->node.dtype;
    cubed_reduce_options plain = *o;
    cubed_array *neutral =
        constant(k, t, which == CUBED_REDUCE_MIN ? (double)INFINITY : -(double)INFINITY, st, err);
    cubed_array *seen = op(k, CUBED_OP_WHERE, is_nan, neutral, x, st, err);
    cubed_array *found = reduction(k, which, seen, &plain, st, err);
    cubed_array *none = reduction(k, CUBED_REDUCE_ALL, is_nan, &plain, st, err);
    return op(k, CUBED_OP_WHERE, none, constant(k, t, (double)NAN, st, err), found, st, err);
}

static cubed_array *sum_of(keep *k, cubed_reduction which, cubed_array *x, cubed_array *is_nan,
                           const cubed_reduce_options *o, cubed_status *st, cubed_error *err)
{
    cubed_array *neutral = constant(k, x->node.dtype, which == CUBED_REDUCE_PROD ? 1 : 0, st, err);
    return reduction(k, which, op(k, CUBED_OP_WHERE, is_nan, neutral, x, st, err), o, st, err);
}

/* Numbers that are not NaN, as float64. */
static cubed_array *count_of(keep *k, cubed_array *is_nan, const cubed_reduce_options *o,
                             cubed_status *st, cubed_error *err)
{
    cubed_array *present = op(k, CUBED_OP_LOGICAL_NOT, is_nan, NULL, NULL, st, err);
    return cast(k, reduction(k, CUBED_REDUCE_SUM, present, o, st, err), CUBED_FLOAT64, st, err);
}

/* Squared deviations from the mean of all that are not NaN, summed. */
static cubed_array *squares_of(keep *k, cubed_array *x, const cubed_reduce_options *o,
                               cubed_status *st, cubed_error *err)
{
    cubed_array *out = NULL;
    uint32_t reduced;
    int ndim = x->node.grid->ndim;
    if (*st == CUBED_OK) *st = cb_op_reduce_axes("nanvar", ndim, o, &reduced, err);
    if (*st == CUBED_OK) *st = cb_op_reduce("nanvar", x, CB_REDUCE_NAN_M2, reduced, &out, err);
    if (*st == CUBED_OK && o->keepdims) *st = cb_op_restore_axes(&out, ndim, reduced, err);
    if (*st == CUBED_OK)
        k->list[k->n++] = out;
    else
        cubed_array_unref(out);
    return *st == CUBED_OK ? out : NULL;
}

static cubed_array *variance(keep *k, cubed_array *x, cubed_array *is_nan,
                             const cubed_reduce_options *o, cubed_status *st, cubed_error *err)
{
    cubed_array *sum = squares_of(k, x, o, st, err);
    cubed_array *zero = constant(k, CUBED_FLOAT64, 0, st, err);
    cubed_array *freedom = op(k, CUBED_OP_SUBTRACT, count_of(k, is_nan, o, st, err),
                              constant(k, CUBED_FLOAT64, o->correction, st, err), NULL, st, err);
    cubed_array *enough = op(k, CUBED_OP_GREATER, freedom, zero, NULL, st, err);
    return op(k, CUBED_OP_WHERE, enough, op(k, CUBED_OP_DIVIDE, sum, freedom, NULL, st, err),
              constant(k, CUBED_FLOAT64, (double)NAN, st, err), st, err);
}

cubed_status cubed_nan_reduce(cubed_reduction which, cubed_array *x,
                              const cubed_reduce_options *options, cubed_array **out,
                              cubed_error *err)
{
    cubed_dtype t = x->node.dtype;
    cubed_kind kind = cubed_dtype_kind(t);
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    if (options) o = *options;
    if (which == CUBED_REDUCE_ALL || which == CUBED_REDUCE_ANY)
        return cb_fail(err, CUBED_E_ARG, "nan%s: there is none", cubed_reduction_name(which));
    if (kind == CUBED_KIND_TIME) return cb_op_reduce_time(which, x, true, options, out, err);
    bool ordered = which == CUBED_REDUCE_MIN || which == CUBED_REDUCE_MAX;
    if (kind == CUBED_KIND_COMPLEX && ordered)
        return cb_op_reduce_complex(which, x, true, options, out, err);
    /* Checks the axes and the type, and is all there is to do where nothing can be NaN. */
    cubed_array *plain;
    CB_TRY(cubed_reduce(which, x, options, &plain, err));
    if (kind < CUBED_KIND_FLOAT) {
        *out = plain;
        return CUBED_OK;
    }
    cubed_dtype result = plain->node.dtype;
    cubed_array_unref(plain);
    keep k = {.ctx = x->ctx};
    cubed_status st = CUBED_OK;
    cubed_array *y = x, *r = NULL;
    if (!ordered)
        y = cast(&k, x, kind == CUBED_KIND_COMPLEX ? CUBED_COMPLEX128 : CUBED_FLOAT64, &st, err);
    cubed_array *is_nan = op(&k, CUBED_OP_ISNAN, y, NULL, NULL, &st, err);
    switch (which) {
    case CUBED_REDUCE_MIN:
    case CUBED_REDUCE_MAX: r = extreme(&k, which, x, is_nan, &o, &st, err); break;
    case CUBED_REDUCE_SUM:
    case CUBED_REDUCE_PROD: r = sum_of(&k, which, y, is_nan, &o, &st, err); break;
    case CUBED_REDUCE_MEAN:
        r = op(&k, CUBED_OP_DIVIDE, sum_of(&k, CUBED_REDUCE_SUM, y, is_nan, &o, &st, err),
               count_of(&k, is_nan, &o, &st, err), NULL, &st, err);
        break;
    default:
        r = variance(&k, y, is_nan, &o, &st, err);
        if (which == CUBED_REDUCE_STD) r = op(&k, CUBED_OP_SQRT, r, NULL, NULL, &st, err);
        break;
    }
    if (st == CUBED_OK) st = cubed_astype(r, result, out, err);
    for (int i = 0; i < k.n; i++) cubed_array_unref(k.list[i]);
    return st;
}

cubed_status cubed_count_nonzero(cubed_array *x, const cubed_reduce_options *options,
                                 cubed_array **out, cubed_error *err)
{
    cubed_array *truth;
    CB_TRY(cubed_astype(x, CUBED_BOOL, &truth, err));
    cubed_status st = cubed_reduce(CUBED_REDUCE_SUM, truth, options, out, err);
    cubed_array_unref(truth);
    return st;
}
