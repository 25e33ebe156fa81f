#include "dtype/scalar.h"

#include <string.h>

#include "dtype/half.h"

/* Holds a number of any type, or a bool, without loss. */
typedef struct wide {
    cubed_kind kind;
    int64_t i;
    uint64_t u;
    double re, im;
} wide;

static wide widen(cubed_dtype dtype, const cubed_scalar *v)
{
    wide w = {.kind = cubed_dtype_kind(dtype)};
    switch (dtype) {
    case CUBED_BOOL: w.u = v->u8 != 0; break;
    case CUBED_INT8: w.i = v->i8; break;
    case CUBED_INT16: w.i = v->i16; break;
    case CUBED_INT32: w.i = v->i32; break;
    case CUBED_INT64: w.i = v->i64; break;
    case CUBED_UINT8: w.u = v->u8; break;
    case CUBED_UINT16: w.u = v->u16; break;
    case CUBED_UINT32: w.u = v->u32; break;
    case CUBED_UINT64: w.u = v->u64; break;
    case CUBED_FLOAT32: w.re = (double)v->f32; break;
    case CUBED_FLOAT64: w.re = v->f64; break;
    case CUBED_COMPLEX64:
        w.re = (double)v->c64[0];
        w.im = (double)v->c64[1];
        break;
    case CUBED_FLOAT16: w.re = (double)cb_half_to_float(v->u16); break;
    case CUBED_BFLOAT16: w.re = (double)cb_float32((uint32_t)v->u16 << 16); break;
    default:
        w.re = v->c128[0];
        w.im = v->c128[1];
        break;
    }
    return w;
}

void cb_scalar_cast(cubed_dtype from, const cubed_scalar *value, cubed_dtype to, cubed_scalar *out)
{
    wide w = widen(from, value);
    bool is_int = w.kind == CUBED_KIND_INT;
    bool is_uint = w.kind == CUBED_KIND_UINT || w.kind == CUBED_KIND_BOOL;
    double re = is_int ? (double)w.i : is_uint ? (double)w.u : w.re;
    uint64_t bits = is_int ? (uint64_t)w.i : is_uint ? w.u : (uint64_t)cb_f64_to_i64(w.re);
    memset(out, 0, sizeof *out);
    switch (to) {
    case CUBED_BOOL: out->b = is_int || is_uint ? bits != 0 : w.re != 0 || w.im != 0; break;
    case CUBED_INT8:
    case CUBED_UINT8: out->u8 = (uint8_t)bits; break;
    case CUBED_INT16:
    case CUBED_UINT16: out->u16 = (uint16_t)bits; break;
    case CUBED_INT32:
    case CUBED_UINT32: out->u32 = (uint32_t)bits; break;
    case CUBED_INT64: out->u64 = bits; break;
    case CUBED_UINT64: out->u64 = is_int || is_uint ? bits : cb_f64_to_u64(w.re); break;
    /* Round only once: do not convert int64 to float32 via double. */
    case CUBED_FLOAT32: out->f32 = is_int ? (float)w.i : is_uint ? (float)w.u : (float)w.re; break;
    case CUBED_FLOAT64: out->f64 = re; break;
    case CUBED_COMPLEX64:
        out->c64[0] = is_int ? (float)w.i : is_uint ? (float)w.u : (float)w.re;
        out->c64[1] = (float)w.im;
        break;
    case CUBED_FLOAT16: out->u16 = cb_double_to_half(re); break;
    case CUBED_BFLOAT16: out->u16 = cb_double_to_bfloat(re); break;
    default:
        out->c128[0] = re;
        out->c128[1] = w.im;
        break;
    }
}

cubed_scalar cb_scalar_from_double(cubed_dtype dtype, double v)
{
    cubed_scalar in = {.f64 = v}, out;
    cb_scalar_cast(CUBED_FLOAT64, &in, dtype, &out);
    return out;
}

cubed_scalar cb_scalar_from_i64(cubed_dtype dtype, int64_t v)
{
    cubed_scalar in = {.i64 = v}, out;
    cb_scalar_cast(CUBED_INT64, &in, dtype, &out);
    return out;
}

double cb_dtype_epsilon(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_FLOAT16: return 0x1p-10;
    case CUBED_BFLOAT16: return 0x1p-7;
    case CUBED_FLOAT32:
    case CUBED_COMPLEX64: return 0x1p-23;
    default: return 0x1p-52;
    }
}

double cubed_half_value(cubed_dtype dtype, uint16_t bits)
{
    return (double)(dtype == CUBED_FLOAT16 ? cb_half_to_float(bits)
                                           : cb_float32((uint32_t)bits << 16));
}

uint16_t cubed_half_bits(cubed_dtype dtype, double value)
{
    return dtype == CUBED_FLOAT16 ? cb_double_to_half(value) : cb_double_to_bfloat(value);
}
