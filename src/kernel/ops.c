/* Names, operand types and result types of operations and reductions, from the tables cubed/ops.def and cubed/reductions.def. */
#include <string.h>

#include "kernel/kernel.h"

static const struct {
    const char *name, *accepts, *result;
    int arity;
} ops[CUBED_OP_COUNT] = {
#define CUBED_OP(NAME, name, number, arity, accepts, result, summary)                              \
    [number] = {#name, accepts, #result, arity},
#include "cubed/ops.def"
#undef CUBED_OP
};

static const struct {
    const char *name, *accepts, *result;
} reductions[CUBED_REDUCE_COUNT] = {
#define CUBED_REDUCTION(NAME, name, number, accepts, result) [number] = {#name, accepts, #result},
#include "cubed/reductions.def"
#undef CUBED_REDUCTION
};

const char *cubed_op_name(cubed_op op)
{
    return (unsigned)op < CUBED_OP_COUNT ? ops[op].name : NULL;
}

const char *cubed_reduction_name(cubed_reduction reduction)
{
    return (unsigned)reduction < CUBED_REDUCE_COUNT ? reductions[reduction].name : NULL;
}

bool cubed_op_parse(const char *name, cubed_op *op, int *arity)
{
    for (int i = 0; i < CUBED_OP_COUNT; i++) {
        if (strcmp(ops[i].name, name) != 0) continue;
        *op = (cubed_op)i;
        *arity = ops[i].arity;
        return true;
    }
    return false;
}

bool cubed_reduction_parse(const char *name, cubed_reduction *reduction)
{
    for (int i = 0; i < CUBED_REDUCE_COUNT; i++) {
        if (strcmp(reductions[i].name, name) != 0) continue;
        *reduction = (cubed_reduction)i;
        return true;
    }
    return false;
}

static bool accepts(const char *kinds, cubed_dtype dtype)
{
    return (unsigned)dtype < CUBED_DTYPE_COUNT &&
           strchr(kinds, "biufc"[cubed_dtype_kind(dtype)]) != NULL;
}

bool cb_op_accepts(cubed_op op, cubed_dtype dtype) { return accepts(ops[op].accepts, dtype); }

cb_result_rule cb_op_rule(cubed_op op)
{
    static const char *const names[] = {"SAME",  "BOOL",  "FLOAT",     "REAL",
                                        "LAST2", "INDEX", "INDEX_F32", "INDEX_INT"};
    for (int r = 0; r < (int)(sizeof names / sizeof *names); r++) {
        if (strcmp(ops[op].result, names[r]) == 0) return (cb_result_rule)r;
    }
    return CB_RESULT_SAME;
}

bool cb_op_takes_index(cubed_op op)
{
    cb_result_rule rule = cb_op_rule(op);
    return rule == CB_RESULT_INDEX || rule == CB_RESULT_INDEX_F32 || rule == CB_RESULT_INDEX_INT;
}

bool cb_reduce_accepts(cubed_reduction reduction, cubed_dtype dtype)
{
    return accepts(reductions[reduction].accepts, dtype);
}

cubed_dtype cb_dtype_real(cubed_dtype type)
{
    if (type == CUBED_COMPLEX64) return CUBED_FLOAT32;
    return type == CUBED_COMPLEX128 ? CUBED_FLOAT64 : type;
}

cubed_dtype cb_op_result(cubed_op op, cubed_dtype type)
{
    switch (cb_op_rule(op)) {
    case CB_RESULT_BOOL: return CUBED_BOOL;
    case CB_RESULT_REAL: return cb_dtype_real(type);
    case CB_RESULT_INDEX: return CUBED_FLOAT64;
    case CB_RESULT_INDEX_F32: return CUBED_FLOAT32;
    case CB_RESULT_INDEX_INT: return CUBED_INT64;
    default: return type;
    }
}

bool cb_kernel_has_op(cubed_op op, cubed_dtype dtype)
{
    if (!cb_op_accepts(op, dtype)) return false;
    cubed_kind kind = cubed_dtype_kind(dtype);
    /* If an operation's results are floats, integer operands are converted to float64. */
    if (cb_op_rule(op) == CB_RESULT_FLOAT) return kind >= CUBED_KIND_FLOAT;
    return !cb_op_takes_index(op) || dtype == CUBED_INT64;
}

bool cb_kernel_has_reduce(cb_reduction reduction, cubed_dtype dtype)
{
    switch (reduction) {
    case CB_REDUCE_SUM:
    case CB_REDUCE_PROD:
        return dtype == CUBED_INT64 || dtype == CUBED_UINT64 || dtype == CUBED_FLOAT64 ||
               dtype == CUBED_COMPLEX128;
    case CB_REDUCE_MIN:
    case CB_REDUCE_MAX: return (unsigned)dtype < CUBED_DTYPE_COUNT;
    case CB_REDUCE_ARGMIN:
    case CB_REDUCE_ARGMAX:
        return dtype == CUBED_INT64 || dtype == CUBED_UINT64 || dtype == CUBED_FLOAT64;
    case CB_REDUCE_M2:
    case CB_REDUCE_NAN_M2: return dtype == CUBED_FLOAT64;
    default: return false;
    }
}

/* Returns the index of a cast from or to half precision, or -1 if there is none. */
static int half_cast(cubed_dtype from, cubed_dtype to)
{
    if (to == CUBED_FLOAT32 && from == CUBED_FLOAT16) return CB_HALF_TO_FLOAT32;
    if (to == CUBED_FLOAT32 && from == CUBED_BFLOAT16) return CB_BFLOAT_TO_FLOAT32;
    if (from != CUBED_FLOAT32 && from != CUBED_FLOAT64) return -1;
    bool wide = from == CUBED_FLOAT64;
    if (to == CUBED_FLOAT16) return wide ? CB_HALF_FROM_FLOAT64 : CB_HALF_FROM_FLOAT32;
    if (to == CUBED_BFLOAT16) return wide ? CB_BFLOAT_FROM_FLOAT64 : CB_BFLOAT_FROM_FLOAT32;
    return -1;
}

static bool is_time_cast(cubed_dtype from, cubed_dtype to)
{
    return (from == CUBED_INT64 && cubed_dtype_kind(to) == CUBED_KIND_TIME) ||
           (to == CUBED_INT64 && cubed_dtype_kind(from) == CUBED_KIND_TIME);
}

bool cb_kernel_has_cast(cubed_dtype from, cubed_dtype to)
{
    return ((unsigned)from < CUBED_DTYPE_COUNT && (unsigned)to < CUBED_DTYPE_COUNT) ||
           half_cast(from, to) >= 0 || is_time_cast(from, to);
}

cb_cast_fn cb_kernel_cast(const cb_kernels *k, cubed_dtype from, cubed_dtype to)
{
    if ((unsigned)from < CUBED_DTYPE_COUNT && (unsigned)to < CUBED_DTYPE_COUNT)
        return k->cast[from][to];
    if (is_time_cast(from, to)) return k->cast[CUBED_INT64][CUBED_INT64];
    int half = half_cast(from, to);
    return half < 0 ? NULL : k->half[half];
}
