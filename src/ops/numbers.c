/* Elementwise operations on numbers: promotion, broadcasting and one node. Operations on times and strings consist of such
 * operations (time.c, texts.c). */
#include <string.h>

#include "base/error.h"
#include "dtype/scalar.h"
#include "ops/ops_pkg.h"
#include "ops/shapes.h"

static bool is_half(cubed_dtype dtype) { return dtype == CUBED_FLOAT16 || dtype == CUBED_BFLOAT16; }

/* Returns `to` if there is a cast between the types, otherwise the type of an intermediate step. */
static cubed_dtype cast_step(cubed_dtype from, cubed_dtype to)
{
    if (cb_kernel_has_cast(from, to)) return to;
    if (cubed_dtype_kind(from) == CUBED_KIND_TIME) return CUBED_INT64;
    if (cubed_dtype_kind(to) == CUBED_KIND_TIME) to = CUBED_INT64;
    if (cb_kernel_has_cast(from, to)) return to;
    if (is_half(from)) return CUBED_FLOAT32;
    if (is_half(to)) return CUBED_FLOAT64; /* rounds integers beyond the precision of halves */
    return CUBED_INT64;
}

cubed_status cb_op_cast_plain(cubed_array *x, cubed_dtype dtype, cubed_array **out,
                              cubed_error *err)
{
    const cubed_dtype from = x->node.dtype, way = cast_step(from, dtype);
    if (from == dtype) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    cb_node n = cb_graph_like(x, CB_NODE_CAST, way);
    n.attrs = x->node.attrs;
    if (way == dtype) return cb_graph_add(x->ctx, &n, &x, out, err);
    cubed_array *between;
    CB_TRY(cb_graph_add(x->ctx, &n, &x, &between, err));
    const cubed_status st = cb_op_cast_plain(between, dtype, out, err);
    cubed_array_unref(between);
    return st;
}

static cubed_status prepare_operand(cubed_array *x, cubed_dtype dtype, int ndim,
                                    const int64_t *shape, cubed_array **out, cubed_error *err)
{
    cubed_array *cast;
    CB_TRY(cb_op_cast_plain(x, dtype, &cast, err));
    bool same =
        x->node.grid->ndim == 0 ||
        (x->node.grid->ndim == ndim && memcmp(x->shape, shape, (size_t)ndim * sizeof *shape) == 0);
    if (same) {
        *out = cast;
        return CUBED_OK;
    }
    cubed_status st = cubed_broadcast_to(cast, ndim, shape, out, err);
    cubed_array_unref(cast);
    return st;
}

/* Computes x**k in `type` with a special operation, which rounds once and costs less. This is possible for the exponents 2, 1, -1
 * and, for real numbers, 0.5. As in NumPy's operator, (-inf)**0.5 is nan. Sets *out to NULL for other exponents. */
static cubed_status simple_power(cubed_array *x, const cubed_array *k, cubed_dtype type,
                                 cubed_array **out, cubed_error *err)
{
    cubed_kind kind = cubed_dtype_kind(type);
    cubed_array *args[2] = {NULL, NULL};
    cubed_scalar re, im = {.f64 = 0};
    cubed_status st = CUBED_OK;
    *out = NULL;
    if (k->node.kind != CB_NODE_FULL || k->node.grid->ndim) return CUBED_OK;
    cb_scalar_cast(k->node.dtype, &k->node.value, CUBED_FLOAT64, &re);
    if (k->node.dtype == CUBED_COMPLEX64) im.f64 = (double)k->node.value.c64[1];
    if (k->node.dtype == CUBED_COMPLEX128) im.f64 = k->node.value.c128[1];
    if (im.f64 != 0) return CUBED_OK;
    if (kind < CUBED_KIND_FLOAT && re.f64 < 0)
        return cb_fail(
            err, CUBED_E_ARG,
            "pow: integers have no negative powers (the exponent is %.0f): make the base a "
            "float",
            re.f64);
    bool root = kind == CUBED_KIND_FLOAT && re.f64 == 0.5;
    bool inverse = re.f64 == -1, same = re.f64 == 1;
    if (!root && !inverse && !same && re.f64 != 2) return CUBED_OK;
    CB_GO(cb_op_cast_plain(x, type, &args[inverse], err));
    if (same) {
        *out = cubed_array_ref(args[0]);
    } else if (inverse) {
        cubed_scalar one = cb_scalar_from_i64(type, 1);
        CB_GO(cubed_array_full(x->ctx, type, 0, NULL, NULL, &one, &args[0], err));
        CB_GO(cb_op_numbers(CUBED_OP_DIVIDE, args, 2, out, err));
    } else {
        CB_GO(cb_op_numbers(root ? CUBED_OP_SQRT : CUBED_OP_SQUARE, args, 1, out, err));
    }
out:
    for (int i = 0; i < 2; i++) cubed_array_unref(args[i]);
    return st;
}

cubed_status cb_op_broadcast(cubed_op op, cubed_array *const *args, int nargs, cubed_dtype dtype,
                             cb_broadcast *out, cubed_error *err)
{
    CB_TRY(cb_op_broadcast_shape(cubed_op_name(op), args, nargs, &out->ndim, out->shape, err));
    CB_TRY(cb_check_shape(cubed_op_name(op), out->ndim, out->shape, dtype, err));
    for (int d = 0; d < out->ndim; d++) {
        out->names[d] = NULL;
        for (int i = 0; i < nargs && !out->names[d]; i++) {
            const int lead = out->ndim - args[i]->node.grid->ndim;
            if (d >= lead) out->names[d] = args[i]->node.dim_names[d - lead];
        }
    }
    return CUBED_OK;
}

cubed_status cb_op_promote(cubed_op op, cubed_array *const *args, int nargs, cubed_dtype *type,
                           cubed_error *err)
{
    const int first = op == CUBED_OP_WHERE;
    *type = args[first]->node.dtype;
    for (int i = first; i < nargs; i++) {
        const cubed_dtype both = cubed_dtype_promote(*type, args[i]->node.dtype);
        if (both == CUBED_DTYPE_COUNT)
            return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s and %s", cubed_op_name(op),
                           cubed_dtype_name(*type), cubed_dtype_name(args[i]->node.dtype));
        *type = both;
    }
    return CUBED_OK;
}

bool cb_op_is_comparison(cubed_op op)
{
    return op >= CUBED_OP_EQUAL && op <= CUBED_OP_GREATER_EQUAL;
}

/* Returns the comparison that gives for (y, x) the result that `op` gives for (x, y). */
static cubed_op mirrored(cubed_op op)
{
    switch (op) {
    case CUBED_OP_LESS: return CUBED_OP_GREATER;
    case CUBED_OP_LESS_EQUAL: return CUBED_OP_GREATER_EQUAL;
    case CUBED_OP_GREATER: return CUBED_OP_LESS;
    case CUBED_OP_GREATER_EQUAL: return CUBED_OP_LESS_EQUAL;
    default: return op;
    }
}

/* Returns true if promotion would convert both operands to float64, in which different integers may be equal. */
static bool compares_inexactly(cubed_op op, cubed_array *const *args)
{
    cubed_dtype a = args[0]->node.dtype, b = args[1]->node.dtype;
    return cb_op_is_comparison(op) &&
           ((a == CUBED_UINT64 && cubed_dtype_kind(b) == CUBED_KIND_INT) ||
            (b == CUBED_UINT64 && cubed_dtype_kind(a) == CUBED_KIND_INT));
}

/* Compares a signed integer with uint64. A negative integer is smaller; any other integer is compared as uint64. */
static cubed_status compare_with_uint64(cubed_op op, cubed_array *const *args, cubed_array **out,
                                        cubed_error *err)
{
    bool swapped = args[0]->node.dtype == CUBED_UINT64;
    cubed_array *x = args[swapped], *y = args[!swapped];
    cubed_array *cast = NULL, *zero = NULL, *as_uint = NULL, *sign = NULL;
    cubed_status st = CUBED_OK;
    if (swapped) op = mirrored(op);
    bool less = op == CUBED_OP_NOT_EQUAL || op == CUBED_OP_LESS || op == CUBED_OP_LESS_EQUAL;
    CB_GO(cb_op_cast_plain(x, CUBED_UINT64, &cast, err));
    CB_GO(cb_op_numbers(op, (cubed_array *[]){cast, y}, 2, &as_uint, err));
    CB_GO(cb_op_scalar(x->ctx, x->node.dtype, 0, &zero, err));
    CB_GO(cb_op_numbers(less ? CUBED_OP_LESS : CUBED_OP_GREATER_EQUAL, (cubed_array *[]){x, zero},
                        2, &sign, err));
    CB_GO(
        cb_op_numbers(less ? CUBED_OP_LOGICAL_OR : CUBED_OP_LOGICAL_AND,
                      swapped ? (cubed_array *[]){as_uint, sign} : (cubed_array *[]){sign, as_uint},
                      2, out, err));
out:
    cubed_array_unref(cast);
    cubed_array_unref(zero);
    cubed_array_unref(as_uint);
    cubed_array_unref(sign);
    return st;
}

cubed_status cb_op_numbers(cubed_op op, cubed_array *const *args, int nargs, cubed_array **out,
                           cubed_error *err)
{
    const int first = op == CUBED_OP_WHERE;
    const char *name = cubed_op_name(op);
    cb_broadcast b;
    cubed_dtype type;
    if (nargs == 2 && compares_inexactly(op, args)) return compare_with_uint64(op, args, out, err);
    CB_TRY(cb_op_promote(op, args, nargs, &type, err));
    if (is_half(type)) type = CUBED_FLOAT32;
    if (!cb_op_accepts(op, type))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s", name, cubed_dtype_name(type));
    if (cb_op_rule(op) == CB_RESULT_FLOAT && cubed_dtype_kind(type) < CUBED_KIND_FLOAT)
        type = CUBED_FLOAT64;
    if (cb_op_takes_index(op)) type = CUBED_INT64;
    if (op == CUBED_OP_POW) {
        CB_TRY(simple_power(args[0], args[1], type, out, err));
        if (*out) return CUBED_OK;
    }
    CB_TRY(cb_op_broadcast(op, args, nargs, type, &b, err));
    cb_node n = {.kind = CB_NODE_ELEM,
                 .op = op,
                 .ninputs = nargs,
                 .dtype = cb_op_result(op, type),
                 .dim_names = b.names};
    const cb_grid grid = cb_op_broadcast_grid(args, nargs, b.ndim, b.shape, n.dtype);
    n.grid = &grid;
    cubed_array *in[3] = {NULL, NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int i = 0; i < nargs; i++)
        CB_GO(
            prepare_operand(args[i], i < first ? CUBED_BOOL : type, b.ndim, b.shape, &in[i], err));
    CB_GO(cb_graph_add(args[0]->ctx, &n, in, out, err));
out:
    for (int i = 0; i < nargs; i++) cubed_array_unref(in[i]);
    return st;
}
