#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARISED = 1000, EDGE = 3 };

/* The shortest of 17 digits that read back the same. */
static void real_text(double v, int most, char *text, size_t cap)
{
    if (isnan(v)) {
        snprintf(text, cap, "nan");
        return;
    }
    for (int digits = 1; digits <= most; digits++) {
        snprintf(text, cap, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (most > 9 ? back == v : (float)back == (float)v) return;
    }
}

static void element_text(cubed_dtype dtype, const void *p, char *text, size_t cap)
{
    cubed_scalar v;
    char re[40], im[40];
    memcpy(&v, p, cubed_dtype_size(dtype));
    switch (dtype) {
    case CUBED_BOOL: snprintf(text, cap, v.b ? "True" : "False"); return;
    case CUBED_INT8: snprintf(text, cap, "%d", v.i8); return;
    case CUBED_INT16: snprintf(text, cap, "%d", v.i16); return;
    case CUBED_INT32: snprintf(text, cap, "%d", v.i32); return;
    case CUBED_INT64: snprintf(text, cap, "%" PRId64, v.i64); return;
    case CUBED_UINT8: snprintf(text, cap, "%u", v.u8); return;
    case CUBED_UINT16: snprintf(text, cap, "%u", v.u16); return;
    case CUBED_UINT32: snprintf(text, cap, "%u", v.u32); return;
    case CUBED_UINT64: snprintf(text, cap, "%" PRIu64, v.u64); return;
    case CUBED_FLOAT32: real_text((double)v.f32, 9, text, cap); return;
    case CUBED_FLOAT64: real_text(v.f64, 17, text, cap); return;
    case CUBED_COMPLEX64:
        real_text((double)v.c64[0], 9, re, sizeof re);
        real_text((double)v.c64[1], 9, im, sizeof im);
        break;
    default:
        real_text(v.c128[0], 17, re, sizeof re);
        real_text(v.c128[1], 17, im, sizeof im);
        break;
    }
    snprintf(text, cap, "%s%s%sj", re, im[0] == '-' ? "" : "+", im);
}

static void print_axis(FILE *f, const cubed_array *x, int d, const char *p, size_t bytes,
                       bool brief)
{
    int ndim = cubed_array_ndim(x);
    const int64_t *shape = cubed_array_shape(x);
    if (d == ndim) {
        char text[96];
        element_text(cubed_array_dtype(x), p, text, sizeof text);
        fputs(text, f);
        return;
    }
    size_t step = shape[d] ? bytes / (size_t)shape[d] : 0;
    fputc('[', f);
    for (int64_t i = 0; i < shape[d]; i++) {
        if (i > 0) {
            fputs(d == ndim - 1 ? ", " : ",\n", f);
            for (int k = 0; d < ndim - 1 && k <= d; k++) fputc(' ', f);
        }
        if (brief && i == EDGE && shape[d] > (int64_t)2 * EDGE) {
            fputs("...", f);
            i = shape[d] - EDGE - 1;
            continue;
        }
        print_axis(f, x, d + 1, p + (size_t)i * step, step, brief);
    }
    fputc(']', f);
}

static size_t data_bytes(const cubed_array *x)
{
    size_t n = cubed_dtype_size(cubed_array_dtype(x));
    for (int d = 0; d < cubed_array_ndim(x); d++) n *= (size_t)cubed_array_shape(x)[d];
    return n;
}

void values_print(FILE *f, const cubed_array *x, const void *data)
{
    size_t n = data_bytes(x);
    print_axis(f, x, 0, data, n, n / cubed_dtype_size(cubed_array_dtype(x)) > SUMMARISED);
    fputc('\n', f);
}

static json_t *real_json(double v)
{
    if (isnan(v)) return json_string("NaN");
    if (isinf(v)) return json_string(v < 0 ? "-Infinity" : "Infinity");
    return json_real(v);
}

static json_t *pair_json(double re, double im)
{
    json_t *pair = json_array();
    json_array_append_new(pair, real_json(re));
    json_array_append_new(pair, real_json(im));
    return pair;
}

static json_t *element_json(cubed_dtype dtype, const void *p)
{
    cubed_scalar v;
    memcpy(&v, p, cubed_dtype_size(dtype));
    switch (dtype) {
    case CUBED_BOOL: return json_boolean(v.b);
    case CUBED_INT8: return json_integer(v.i8);
    case CUBED_INT16: return json_integer(v.i16);
    case CUBED_INT32: return json_integer(v.i32);
    case CUBED_INT64: return json_integer(v.i64);
    case CUBED_UINT8: return json_integer(v.u8);
    case CUBED_UINT16: return json_integer(v.u16);
    case CUBED_UINT32: return json_integer(v.u32);
    case CUBED_UINT64: {
        /* JSON's integers end at 2^63 in this library: larger ones are strings of digits. */
        char text[24];
        if (v.u64 <= INT64_MAX) return json_integer((json_int_t)v.u64);
        snprintf(text, sizeof text, "%" PRIu64, v.u64);
        return json_string(text);
    }
    case CUBED_FLOAT32: return real_json((double)v.f32);
    case CUBED_FLOAT64: return real_json(v.f64);
    case CUBED_COMPLEX64: return pair_json((double)v.c64[0], (double)v.c64[1]);
    default: return pair_json(v.c128[0], v.c128[1]);
    }
}

static json_t *axis_json(const cubed_array *x, int d, const char *p, size_t bytes)
{
    if (d == cubed_array_ndim(x)) return element_json(cubed_array_dtype(x), p);
    int64_t n = cubed_array_shape(x)[d];
    size_t step = n ? bytes / (size_t)n : 0;
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, axis_json(x, d + 1, p + (size_t)i * step, step));
    return list;
}

json_t *values_json(const cubed_array *x, const void *data)
{
    return axis_json(x, 0, data, data_bytes(x));
}
