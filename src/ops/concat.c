/* Concatenates arrays along an axis. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

/* Checks types and shapes of concatenated arrays; `shape` is the shape of the result. */
static cubed_status check_parts(cubed_array *const *args, int nargs, int at, cubed_dtype *dtype,
                                int64_t *shape, cubed_error *err)
{
    int ndim = args[0]->node.grid->ndim;
    memcpy(shape, args[0]->shape, sizeof args[0]->shape);
    shape[at] = 0;
    *dtype = args[0]->node.dtype;
    for (int i = 0; i < nargs; i++) {
        const cubed_array *x = args[i];
        if (x->ctx != args[0]->ctx)
            return cb_fail(err, CUBED_E_ARG, "concat: arrays are of different contexts");
        if (x->node.grid->ndim != ndim)
            return cb_fail(err, CUBED_E_ARG,
                           "concat: array %d has %d dimensions, expected %d as in the first array",
                           i, x->node.grid->ndim, ndim);
        for (int d = 0; d < ndim; d++) {
            if (d != at && x->shape[d] != shape[d])
                return cb_fail(err, CUBED_E_ARG,
                               "concat: axis %d of array %d has extent %" PRId64
                               ", expected %" PRId64 " as in the first array",
                               d, i, x->shape[d], shape[d]);
        }
        cubed_dtype both = cubed_dtype_promote(*dtype, x->node.dtype);
        if (cubed_dtype_kind(*dtype) == CUBED_KIND_TIME && *dtype != x->node.dtype)
            CB_TRY(cb_op_common_time_type("concat", *dtype, x->node.dtype, &both, err));
        if (!cubed_dtype_is_valid(both))
            return cb_fail(err, CUBED_E_TYPE, "concat: %s and %s have no type in common",
                           cubed_dtype_name(*dtype), cubed_dtype_name(x->node.dtype));
        *dtype = both;
        if (cb_add_i64(shape[at], x->shape[at], &shape[at]))
            return cb_fail(err, CUBED_E_ARG, "concat: the result has more than 2**63 elements");
    }
    return cb_check_shape("concat", ndim, shape, *dtype, err);
}

/* Returns true if all arrays have the same type and missing value. */
static bool have_equal_fills(cubed_array *const *args, int nargs)
{
    cubed_scalar first, own;
    bool equal = cubed_array_missing_value(args[0], &first);
    for (int i = 1; i < nargs && equal; i++)
        equal = args[i]->node.dtype == args[0]->node.dtype &&
                cubed_array_missing_value(args[i], &own) &&
                memcmp(&own, &first, cubed_dtype_size(args[0]->node.dtype)) == 0;
    return equal;
}

cubed_status cubed_concat(cubed_array *const *args, int nargs, int axis, cubed_array **out,
                          cubed_error *err)
{
    if (nargs < 1)
        return cb_fail(err, CUBED_E_ARG, "concat: no arrays are given, expected at least one");
    int ndim = args[0]->node.grid->ndim;
    uint32_t mask;
    cubed_dtype dtype;
    int64_t shape[CUBED_MAX_NDIM];
    CB_TRY(cb_op_axes("concat", ndim, &axis, 1, &mask, err));
    int at = axis < 0 ? axis + ndim : axis;
    CB_TRY(check_parts(args, nargs, at, &dtype, shape, err));
    cb_node n = cb_graph_like(args[0], CB_NODE_CONCAT, dtype);
    cb_grid grid;
    /* For each axis, use the first name of an array. Arrays of padding or of initial values have no names. */
    const char *names[CUBED_MAX_NDIM] = {NULL};
    for (int d = 0; d < ndim; d++) {
        for (int i = 0; i < nargs && !names[d]; i++) names[d] = args[i]->node.dim_names[d];
    }
    n.dim_names = names;
    n.grid = &grid;
    n.ninputs = nargs;
    n.axis = at;
    if (have_equal_fills(args, nargs)) cb_op_keep_fill(args[0], &n);
    cubed_context *ctx = args[0]->ctx;
    size_t size = (size_t)nargs * sizeof(cubed_array *);
    cb_zone *zone = NULL;
    cubed_status st = CUBED_OK;
    cubed_array **in = cb_alloc_zero(&ctx->alloc, size);
    if (!in) return cb_fail(err, CUBED_E_NOMEM, "no memory for %d arrays", nargs);
    CB_GO(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(cb_op_concat_grid(zone, args, nargs, at, shape, &grid, err));
    for (int i = 0; i < nargs; i++) CB_GO(cb_op_cast(args[i], dtype, &in[i], err));
    CB_GO(cb_graph_add(ctx, &n, in, out, err));
out:
    for (int i = 0; i < nargs; i++) cubed_array_unref(in[i]);
    cb_free(&ctx->alloc, in, size);
    cb_zone_free(zone);
    return st;
}

cubed_array *cb_step_concat(cb_steps *s, cubed_array *const *parts, int n, int axis)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    if (n == 1) return parts[0];
    return cb_step(s, cubed_concat(parts, n, axis, &y, s->err), &y);
}
