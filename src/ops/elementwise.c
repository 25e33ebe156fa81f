/* Creates elementwise operations and casts. The types of the operands determine whether the functions for numbers, times or
 * strings are used. */
#include "base/error.h"
#include "ops/ops_pkg.h"

cubed_status cb_op_cast(cubed_array *x, cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    const cubed_dtype from = x->node.dtype;
    const cubed_kind a = cubed_dtype_kind(from), b = cubed_dtype_kind(dtype);
    if (from == dtype) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    if (cb_op_is_time_cast(from, dtype)) return cb_op_cast_time(x, dtype, out, err);
    if (a == CUBED_KIND_TEXT &&
        (cubed_dtype_family(from) == cubed_dtype_family(dtype) || dtype == CUBED_BOOL))
        return cb_op_cast_text(x, dtype, out, err);
    if (a >= CUBED_KIND_TEXT || b >= CUBED_KIND_TEXT) {
        char t[CUBED_DTYPE_TEXT_CAP], u[CUBED_DTYPE_TEXT_CAP];
        return cb_fail(err, CUBED_E_TYPE, "astype: %s cannot be cast to %s",
                       cubed_dtype_text(from, t), cubed_dtype_text(dtype, u));
    }
    return cb_op_cast_plain(x, dtype, out, err);
}

cubed_status cubed_astype(cubed_array *x, cubed_dtype dtype, cubed_array **out, cubed_error *err)
{
    if (!cubed_dtype_is_valid(dtype))
        return cb_fail(err, CUBED_E_TYPE, "astype: unknown dtype %d", (int)dtype);
    return cb_op_cast(x, dtype, out, err);
}

/* Adding strings concatenates them: the result has room for both. */
static cubed_status joined_type(cubed_array *const *args, cubed_dtype *type, cubed_error *err)
{
    const int64_t unit = cubed_dtype_family(*type) == CUBED_STRING ? 4 : 1;
    int64_t size = 0;
    for (int i = 0; i < 2; i++) size += (int64_t)cubed_dtype_size(args[i]->node.dtype);
    return cubed_dtype_fixed(cubed_dtype_family(*type), size / unit, type, err);
}

/* Computes an operation on strings. */
static cubed_status on_texts(cubed_op op, cubed_array *const *args, int nargs, cubed_array **out,
                             cubed_error *err)
{
    cb_broadcast b;
    cubed_dtype type;
    CB_TRY(cb_op_promote(op, args, nargs, &type, err));
    if (op != CUBED_OP_WHERE && op != CUBED_OP_ADD && !cb_op_is_comparison(op))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", cubed_op_name(op),
                       cubed_dtype_name(type));
    if (op == CUBED_OP_ADD) CB_TRY(joined_type(args, &type, err));
    CB_TRY(cb_op_broadcast(op, args, nargs, type, &b, err));
    return cb_op_text(op, args, nargs, cb_op_result(op, type), b.names, out, err);
}

static cubed_status check_operands(cubed_op op, cubed_array *const *args, int nargs,
                                   cubed_error *err)
{
    cubed_op same;
    int arity = 0;
    const char *name = cubed_op_name(op);
    if (!name || !cubed_op_parse(name, &same, &arity))
        return cb_fail(err, CUBED_E_ARG, "unknown operation number %d", (int)op);
    if (nargs != arity)
        return cb_fail(err, CUBED_E_ARG, "%s takes %d operands, got %d", name, arity, nargs);
    for (int i = 1; i < nargs; i++) {
        if (args[i]->ctx != args[0]->ctx)
            return cb_fail(err, CUBED_E_ARG, "%s: operands are of different contexts", name);
    }
    if (op == CUBED_OP_WHERE && args[0]->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_TYPE, "where: the condition is %s, expected bool",
                       cubed_dtype_name(args[0]->node.dtype));
    return CUBED_OK;
}

static bool has_kind(cubed_array *const *args, int first, int nargs, cubed_kind kind)
{
    for (int i = first; i < nargs; i++) {
        if (cubed_dtype_kind(args[i]->node.dtype) == kind) return true;
    }
    return false;
}

cubed_status cubed_elementwise(cubed_op op, cubed_array *const *args, int nargs, cubed_array **out,
                               cubed_error *err)
{
    CB_TRY(check_operands(op, args, nargs, err));
    const int first = op == CUBED_OP_WHERE;
    if (has_kind(args, first, nargs, CUBED_KIND_RECORD))
        return cb_op_records(op, args, nargs, out, err);
    if (has_kind(args, first, nargs, CUBED_KIND_TIME)) return cb_op_time(op, args, nargs, out, err);
    if (has_kind(args, first, nargs, CUBED_KIND_TEXT)) return on_texts(op, args, nargs, out, err);
    return cb_op_numbers(op, args, nargs, out, err);
}
