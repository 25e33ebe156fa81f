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

cubed_value expr_literal_value(const expr_value *v)
{
    switch (v->kind) {
    case EXPR_BOOL: return (cubed_value){.kind = CUBED_VALUE_BOOL, .as.boolean = v->i != 0};
    case EXPR_INT: return (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = v->i};
    case EXPR_FLOAT: return (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = v->re};
    default: return (cubed_value){.kind = CUBED_VALUE_COMPLEX, .as.complex_parts = {v->re, v->im}};
    }
}

static cubed_dtype literal_dtype(const expr_value *v, const cubed_array *other, bool any_integer)
{
    const cubed_value number = expr_literal_value(v);
    return cubed_number_dtype(&number, other ? cubed_array_dtype(other) : CUBED_BOOL, any_integer);
}

cubed_dtype expr_literal_dtype(const expr_value *v, const cubed_array *other)
{
    return literal_dtype(v, other, false);
}

cubed_dtype expr_literal_wide_dtype(const expr_value *v, const cubed_array *other)
{
    return literal_dtype(v, other, true);
}

bool expr_literal_scalar(const expr_value *v, cubed_dtype dtype, cubed_scalar *out)
{
    const cubed_value number = expr_literal_value(v);
    return cubed_number_scalar(&number, dtype, out);
}

const char *expr_literal_negate(const expr_value *v, expr_value *out)
{
    int64_t i = 0;
    if (is_whole(v) && __builtin_sub_overflow((int64_t)0, v->i, &i)) return too_large;
    *out = expr_literal(is_whole(v) ? EXPR_INT : v->kind, i, -v->re, -v->im);
    return NULL;
}

/* Computes i**n by repeated squaring. Returns true if the result overflows int64. */
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
