#include "literal.h"

#include <math.h>

#include "cubed/array.h"

bool cb_is_number(const cubed_value *v)
{
    return v->kind >= CUBED_VALUE_BOOL && v->kind <= CUBED_VALUE_COMPLEX;
}

static bool is_whole(const cubed_value *v)
{
    return v->kind == CUBED_VALUE_BOOL || v->kind == CUBED_VALUE_INT;
}

static int64_t whole(const cubed_value *v)
{
    return v->kind == CUBED_VALUE_BOOL ? v->as.boolean : v->as.integer;
}

static double real_part(const cubed_value *v)
{
    if (v->kind == CUBED_VALUE_COMPLEX) return v->as.complex_parts[0];
    return is_whole(v) ? (double)whole(v) : v->as.real;
}

static cubed_dtype weak_dtype(const cubed_value *v, cubed_dtype beside)
{
    cubed_kind kind = cubed_dtype_kind(beside);
    /* No operation computes float16, times or strings, so a number that is an operand together with such an array gets another
     * type. */
    if (beside >= CUBED_DTYPE_COUNT) {
        beside = kind == CUBED_KIND_FLOAT ? CUBED_FLOAT32 : CUBED_INT64;
        kind = cubed_dtype_kind(beside);
    }
    switch (v->kind) {
    case CUBED_VALUE_BOOL: return beside;
    case CUBED_VALUE_INT: return kind == CUBED_KIND_BOOL ? CUBED_INT64 : beside;
    case CUBED_VALUE_FLOAT: return kind >= CUBED_KIND_FLOAT ? beside : CUBED_FLOAT64;
    default:
        if (kind == CUBED_KIND_COMPLEX) return beside;
        return beside == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    }
}

/* Returns true if the type can represent an integer. Floating-point types represent all integers, rounded if necessary. */
static bool has_integer(cubed_dtype dtype, int64_t i)
{
    const size_t bits = 8 * cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_UINT)
        return i >= 0 && (bits == 64 || i < (int64_t)1 << bits);
    if (cubed_dtype_kind(dtype) != CUBED_KIND_INT || bits == 64) return true;
    return i >= -((int64_t)1 << (bits - 1)) && i < (int64_t)1 << (bits - 1);
}

cubed_dtype cubed_number_dtype(const cubed_value *number, cubed_dtype beside, bool any_integer)
{
    const cubed_dtype dtype = weak_dtype(number, beside);
    return any_integer && is_whole(number) && !has_integer(dtype, whole(number)) ? CUBED_INT64
                                                                                 : dtype;
}

bool cubed_number_scalar(const cubed_value *number, cubed_dtype dtype, cubed_scalar *out)
{
    const cubed_value *v = number;
    const double re = real_part(v);
    const double im = v->kind == CUBED_VALUE_COMPLEX ? v->as.complex_parts[1] : 0;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    *out = (cubed_scalar){.c128 = {0, 0}};
    if (kind == CUBED_KIND_TIME) {
        /* A time is an integer in the type's unit, or NaT. */
        const bool missing = v->kind == CUBED_VALUE_FLOAT && isnan(re);
        out->i64 = missing || !is_whole(v) ? INT64_MIN : whole(v);
        return missing || is_whole(v);
    }
    if (is_whole(v) && !has_integer(dtype, whole(v))) return false;
    if (!is_whole(v) && kind < CUBED_KIND_FLOAT) return false;
    if (v->kind == CUBED_VALUE_COMPLEX && kind != CUBED_KIND_COMPLEX) return false;
    switch (dtype) {
    case CUBED_BOOL: out->b = whole(v) != 0; break;
    case CUBED_INT8: out->i8 = (int8_t)whole(v); break;
    case CUBED_INT16: out->i16 = (int16_t)whole(v); break;
    case CUBED_INT32: out->i32 = (int32_t)whole(v); break;
    case CUBED_INT64: out->i64 = whole(v); break;
    case CUBED_UINT8: out->u8 = (uint8_t)whole(v); break;
    case CUBED_UINT16: out->u16 = (uint16_t)whole(v); break;
    case CUBED_UINT32: out->u32 = (uint32_t)whole(v); break;
    case CUBED_UINT64: out->u64 = (uint64_t)whole(v); break;
    case CUBED_FLOAT16:
    case CUBED_BFLOAT16: out->u16 = cubed_half_bits(dtype, re); break;
    case CUBED_FLOAT32: out->f32 = (float)re; break;
    case CUBED_FLOAT64: out->f64 = re; break;
    case CUBED_COMPLEX64:
        out->c64[0] = (float)re;
        out->c64[1] = (float)im;
        break;
    case CUBED_COMPLEX128:
        out->c128[0] = re;
        out->c128[1] = im;
        break;
    default: return false;
    }
    return true;
}

bool cubed_op_takes_any_integer(cubed_op op)
{
    switch (op) {
    case CUBED_OP_DIVIDE:
    case CUBED_OP_ATAN2:
    case CUBED_OP_HYPOT:
    case CUBED_OP_LOGADDEXP:
    case CUBED_OP_COPYSIGN:
    case CUBED_OP_NEXTAFTER:
    case CUBED_OP_STDTR: return true;
    default: return op >= CUBED_OP_EQUAL && op <= CUBED_OP_GREATER_EQUAL;
    }
}
