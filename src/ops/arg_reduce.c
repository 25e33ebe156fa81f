/* argmin and argmax: the least position at which the extreme value stands. Two passes over the input:
 * the extreme, then the position. NaN is the extreme where there is one, as in NumPy. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* Positions along the axis (-1: in C order of the whole array), as int64 that broadcast against x. */
static cubed_status positions(cubed_array *x, int axis, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid.ndim;
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < ndim; d++) shape[d] = axis < 0 || d == axis ? x->shape[d] : 1;
    return cubed_array_index(x->ctx, ndim, shape, NULL, 0, out, err);
}

/* True where x is the extreme of its lane. */
static cubed_status hits(cubed_array *x, cubed_fold fold, const cubed_fold_options *o,
                         cubed_array **out, cubed_error *err)
{
    cubed_fold_options keepdims = *o;
    cubed_array *two[2] = {x, NULL}, *either[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    keepdims.keepdims = true;
    CB_GO(cubed_reduce(fold, x, &keepdims, &two[1], err));
    CB_GO(cubed_elementwise(CUBED_OP_EQUAL, two, 2, &either[0], err));
    CB_GO(cubed_elementwise(CUBED_OP_ISNAN, &x, 1, &either[1], err));
    CB_GO(cubed_elementwise(CUBED_OP_LOGICAL_OR, either, 2, out, err));
out:
    cubed_array_unref(two[1]);
    cubed_array_unref(either[0]);
    cubed_array_unref(either[1]);
    return st;
}

static cubed_status arg_reduce(const char *name, cubed_fold fold, cubed_array *x, const int *axis,
                               bool keepdims, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid.ndim, at = -1;
    uint32_t mask;
    cubed_fold_options o = CUBED_FOLD_OPTIONS_INIT;
    cubed_scalar far = {.i64 = INT64_MAX};
    cubed_array *args[3] = {NULL, NULL, NULL}, *place = NULL;
    cubed_status st = CUBED_OK;
    if (axis) {
        CB_TRY(cb_op_axes(name, ndim, axis, 1, &mask, err));
        at = *axis < 0 ? *axis + ndim : *axis;
        o.axes = &at;
        o.naxes = 1;
    }
    for (int d = 0; d < ndim; d++) {
        if (x->shape[d] == 0 && (at < 0 || d == at))
            return cb_fail(err, CUBED_E_ARG, "%s: axis %d has no elements, expected at least one",
                           name, d);
    }
    o.keepdims = keepdims;
    CB_GO(hits(x, fold, &o, &args[0], err));
    CB_GO(positions(x, at, &args[1], err));
    CB_GO(cubed_array_full(x->ctx, CUBED_INT64, 0, NULL, NULL, &far, &args[2], err));
    CB_GO(cubed_elementwise(CUBED_OP_WHERE, args, 3, &place, err));
    CB_GO(cubed_reduce(CUBED_FOLD_MIN, place, &o, out, err));
out:
    for (int i = 0; i < 3; i++) cubed_array_unref(args[i]);
    cubed_array_unref(place);
    return st;
}

cubed_status cubed_argmin(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                          cubed_error *err)
{
    return arg_reduce("argmin", CUBED_FOLD_MIN, x, axis, keepdims, out, err);
}

cubed_status cubed_argmax(cubed_array *x, const int *axis, bool keepdims, cubed_array **out,
                          cubed_error *err)
{
    return arg_reduce("argmax", CUBED_FOLD_MAX, x, axis, keepdims, out, err);
}
