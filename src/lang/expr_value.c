#include "lang/expr_value.h"

#include <complex.h>
#include <math.h>

static const char too_large[] = "the whole number is beyond int64: use floats";
static const char by_zero[] = "division by zero";

static bool is_whole(const expr_value *v) { return v->kind == EXPR_INT || v->kind == EXPR_BOOL; }

expr_value expr_literal(expr_kind kind, int64_t i, double re, double im)
{
    bool whole = kind == EXPR_INT || kind == EXPR_BOOL;
    return (expr_value){NULL, kind, i, whole ? (double)i : re, whole ? 0 : im};
}

cubed_dtype expr_literal_dtype(const expr_value *v, const cubed_array *other)
{
    cubed_dtype dtype = other ? cubed_array_dtype(other) : CUBED_BOOL;
    cubed_kind kind = cubed_dtype_kind(dtype);
    if (dtype >=
        CUBED_DTYPE_COUNT) { /* no operation has it, or any number beside it, as of times */
        dtype = kind == CUBED_KIND_FLOAT ? CUBED_FLOAT32 : CUBED_INT64;
        kind = cubed_dtype_kind(dtype);
    }
    switch (v->kind) {
    case EXPR_BOOL: return dtype;
    case EXPR_INT: return kind == CUBED_KIND_BOOL ? CUBED_INT64 : dtype;
    case EXPR_FLOAT: return kind >= CUBED_KIND_FLOAT ? dtype : CUBED_FLOAT64;
    default:
        if (kind == CUBED_KIND_COMPLEX) return dtype;
        return dtype == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    }
}

/* Whether a whole number is one of the type's values. */
static bool int_fits(int64_t i, cubed_dtype dtype)
{
    size_t bits = 8 * cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_UINT)
        return i >= 0 && (bits == 64 || i < (int64_t)1 << bits);
    if (cubed_dtype_kind(dtype) != CUBED_KIND_INT || bits == 64) return true;
    return i >= -((int64_t)1 << (bits - 1)) && i < (int64_t)1 << (bits - 1);
}

cubed_dtype expr_literal_wide_dtype(const expr_value *v, const cubed_array *other)
{
    cubed_dtype dtype = expr_literal_dtype(v, other);
    return is_whole(v) && !int_fits(v->i, dtype) ? CUBED_INT64 : dtype;
}

bool expr_literal_scalar(const expr_value *v, cubed_dtype dtype, cubed_scalar *out)
{
    *out = (cubed_scalar){.c128 = {0, 0}};
    if (is_whole(v) && !int_fits(v->i, dtype)) return false;
    switch (dtype) {
    case CUBED_BOOL: out->b = v->i != 0; break;
    case CUBED_INT8: out->i8 = (int8_t)v->i; break;
    case CUBED_INT16: out->i16 = (int16_t)v->i; break;
    case CUBED_INT32: out->i32 = (int32_t)v->i; break;
    case CUBED_INT64: out->i64 = v->i; break;
    case CUBED_UINT8: out->u8 = (uint8_t)v->i; break;
    case CUBED_UINT16: out->u16 = (uint16_t)v->i; break;
    case CUBED_UINT32: out->u32 = (uint32_t)v->i; break;
    case CUBED_UINT64: out->u64 = (uint64_t)v->i; break;
    case CUBED_FLOAT16:
    case CUBED_BFLOAT16: out->u16 = cubed_half_bits(dtype, v->re); break;
    case CUBED_FLOAT32: out->f32 = (float)v->re; break;
    case CUBED_FLOAT64: out->f64 = v->re; break;
    case CUBED_COMPLEX64:
        out->c64[0] = (float)v->re;
        out->c64[1] = (float)v->im;
        break;
    default:
        out->c128[0] = v->re;
        out->c128[1] = v->im;
        break;
    }
    return true;
}

const char *expr_literal_negate(const expr_value *v, expr_value *out)
{
    int64_t i = 0;
    if (is_whole(v) && __builtin_sub_overflow((int64_t)0, v->i, &i)) return too_large;
    *out = expr_literal(is_whole(v) ? EXPR_INT : v->kind, i, -v->re, -v->im);
    return NULL;
}

/* i**n by squaring; true if it is beyond int64. */
static bool power_overflows(int64_t i, int64_t n, int64_t *out)
{
    *out = 1;
    for (;; n /= 2) {
        if (n % 2 && __builtin_mul_overflow(*out, i, out)) return true;
        if (n < 2) return false;
        if (__builtin_mul_overflow(i, i, &i)) return true;
    }
}

static const char *combine_whole(char op, int64_t x, int64_t y, expr_value *out)
{
    int64_t i = 0;
    bool over;
    switch (op) {
    case '+': over = __builtin_add_overflow(x, y, &i); break;
    case '-': over = __builtin_sub_overflow(x, y, &i); break;
    case '*': over = __builtin_mul_overflow(x, y, &i); break;
    default: over = power_overflows(x, y, &i); break;
    }
    if (over) return too_large;
    *out = expr_literal(EXPR_INT, i, 0, 0);
    return NULL;
}

static const char *combine_real(char op, double x, double y, expr_value *out)
{
    double r;
    switch (op) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/':
        if (y == 0) return by_zero;
        r = x / y;
        break;
    default:
        if (x == 0 && y < 0) return by_zero;
        if (x < 0 && isfinite(y) && y != floor(y))
            return "a root of a negative number is complex: write the base as a complex number";
        r = pow(x, y);
        break;
    }
    *out = expr_literal(EXPR_FLOAT, 0, r, 0);
    return NULL;
}

static const char *combine_complex(char op, double _Complex x, double _Complex y, expr_value *out)
{
    double _Complex r;
    switch (op) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/':
        if (creal(y) == 0 && cimag(y) == 0) return by_zero;
        r = x / y;
        break;
    default: r = cpow(x, y); break;
    }
    *out = expr_literal(EXPR_COMPLEX, 0, creal(r), cimag(r));
    return NULL;
}

const char *expr_literal_combine(char op, const expr_value *x, const expr_value *y, expr_value *out)
{
    if (op != '+' && op != '-' && op != '*' && op != '/' && op != 'p')
        return "this operator needs an array";
    if (x->kind == EXPR_COMPLEX || y->kind == EXPR_COMPLEX)
        return combine_complex(op, __builtin_complex(x->re, x->im), __builtin_complex(y->re, y->im),
                               out);
    if (is_whole(x) && is_whole(y) && op != '/' && (op != 'p' || y->i >= 0))
        return combine_whole(op, x->i, y->i, out);
    return combine_real(op, x->re, y->re, out);
}
