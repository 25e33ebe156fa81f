/* Fill values: numbers, the names of those that JSON cannot say, hexadecimal bits, and pairs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dtype/scalar.h"
#include "zarr/zarr_pkg.h"

static cubed_status wrong(const char *where, const json_t *v, cubed_dtype dtype, cubed_error *err)
{
    const char *s = json_string_value(v), *big = cb_json_big(v);
    if (s)
        return cb_fail(err, CUBED_E_FORMAT, "%s: fill value %s%s%s is no %s", where,
                       big ? "" : "\"", big ? big : s, big ? "" : "\"", cubed_dtype_name(dtype));
    if (json_is_number(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: fill value %.17g is no %s", where,
                       json_number_value(v), cubed_dtype_name(dtype));
    return cb_fail(err, CUBED_E_FORMAT, "%s: the fill value is no %s", where,
                   cubed_dtype_name(dtype));
}

/* One real number: false if it is none. */
static bool parse_real(const json_t *v, cubed_dtype dtype, double *out)
{
    if (json_is_number(v)) {
        *out = json_number_value(v);
        return true;
    }
    const char *s = json_string_value(v), *big = cb_json_big(v);
    if (!s) return false;
    if (big) {
        *out = strtod(big, NULL);
        return true;
    }
    if (strcmp(s, "NaN") == 0) {
        *out = (double)NAN;
        return true;
    }
    if (strcmp(s, "Infinity") == 0 || strcmp(s, "-Infinity") == 0) {
        *out = s[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    size_t digits = 2 * cb_unit_size(dtype);
    if (s[0] != '0' || s[1] != 'x' || strlen(s) != 2 + digits ||
        strspn(s + 2, "0123456789abcdefABCDEF") != digits)
        return false;
    uint64_t bits = strtoull(s + 2, NULL, 16);
    if (digits == 4) {
        cubed_scalar half = {.u16 = (uint16_t)bits}, wide;
        cb_scalar_cast(dtype, &half, CUBED_FLOAT64, &wide);
        *out = wide.f64;
    } else if (digits == 8) {
        uint32_t b = (uint32_t)bits;
        float f;
        memcpy(&f, &b, 4);
        *out = (double)f;
    } else {
        memcpy(out, &bits, 8);
    }
    return true;
}

static bool parse_integer(const json_t *v, cubed_dtype dtype, cubed_scalar *out)
{
    cubed_scalar back;
    if (json_is_boolean(v)) {
        *out = cb_scalar_from_i64(dtype, json_is_true(v));
        return true;
    }
    if (json_is_integer(v)) {
        *out = cb_scalar_from_i64(dtype, json_integer_value(v));
        cb_scalar_cast(dtype, out, CUBED_INT64, &back);
        return back.i64 == json_integer_value(v) &&
               (cubed_dtype_kind(dtype) != CUBED_KIND_UINT || json_integer_value(v) >= 0);
    }
    const char *big = cb_json_big(v);
    if (big) {
        errno = 0;
        out->u64 = strtoull(big, NULL, 10);
        return dtype == CUBED_UINT64 && big[0] != '-' && errno == 0;
    }
    /* 1.0 is taken for 1. */
    if (!json_is_real(v)) return false;
    double d = json_real_value(v);
    *out = cb_scalar_from_double(dtype, d);
    cb_scalar_cast(dtype, out, CUBED_FLOAT64, &back);
    return back.f64 == d;
}

/* Format 2 has the bytes of "bytes" in base64, format 3 too; strings are strings in both. */
static bool parse_text(const json_t *v, cubed_dtype dtype, cubed_scalar *out)
{
    size_t size = cubed_dtype_size(dtype), n = 0;
    const char *s = json_string_value(v);
    if (json_is_integer(v) && json_integer_value(v) == 0) return true; /* old writers' empty text */
    if (!s || cb_json_big(v)) return false;
    if (cubed_dtype_family(dtype) == CUBED_STRING) {
        uint32_t c;
        while ((s = cb_utf8_next(s, &c)) != NULL) {
            if (n + 4 > size || n + 4 > sizeof *out) return false;
            memcpy(out->bytes + n, &c, 4);
            n += 4;
        }
        return true;
    }
    unsigned char bytes[64];
    if (!cb_base64_decode(s, bytes, sizeof bytes, &n)) return false;
    while (n > 0 && bytes[n - 1] == 0) n--;
    if (n > size || n > sizeof *out) return false;
    memcpy(out->bytes, bytes, n);
    return true;
}

cubed_status cb_fill_parse(const char *where, const json_t *v, cubed_dtype dtype, cubed_scalar *out,
                           cubed_error *err)
{
    double re = 0, im = 0;
    memset(out, 0, sizeof *out);
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL:
        if (!json_is_boolean(v) && !(json_is_integer(v) && (json_integer_value(v) & ~1LL) == 0))
            return wrong(where, v, dtype, err);
        out->b = json_is_boolean(v) ? json_is_true(v) : json_integer_value(v) != 0;
        return CUBED_OK;
    case CUBED_KIND_INT:
    case CUBED_KIND_UINT:
        return parse_integer(v, dtype, out) ? CUBED_OK : wrong(where, v, dtype, err);
    case CUBED_KIND_FLOAT:
        if (!parse_real(v, dtype, &re)) return wrong(where, v, dtype, err);
        *out = cb_scalar_from_double(dtype, re);
        return CUBED_OK;
    case CUBED_KIND_COMPLEX:
        if (json_is_array(v) && json_array_size(v) == 2) {
            if (!parse_real(json_array_get(v, 0), dtype, &re) ||
                !parse_real(json_array_get(v, 1), dtype, &im))
                return wrong(where, v, dtype, err);
        } else if (!parse_real(v, dtype, &re)) {
            return wrong(where, v, dtype, err);
        }
        if (dtype == CUBED_COMPLEX64) {
            out->c64[0] = (float)re;
            out->c64[1] = (float)im;
        } else {
            out->c128[0] = re;
            out->c128[1] = im;
        }
        return CUBED_OK;
    case CUBED_KIND_TIME:
        if (json_string_value(v) && strcmp(json_string_value(v), "NaT") == 0) {
            out->i64 = INT64_MIN;
            return CUBED_OK;
        }
        return parse_integer(v, CUBED_INT64, out) ? CUBED_OK : wrong(where, v, dtype, err);
    case CUBED_KIND_TEXT: return parse_text(v, dtype, out) ? CUBED_OK : wrong(where, v, dtype, err);
    }
    return wrong(where, v, dtype, err);
}

static json_t *print_real(double v)
{
    if (isnan(v)) return json_string("NaN");
    if (isinf(v)) return json_string(v < 0 ? "-Infinity" : "Infinity");
    return json_real(v);
}

static json_t *print_text(cubed_dtype dtype, const cubed_scalar *v)
{
    char text[64];
    size_t n = 0, size = cb_fill_size(dtype);
    if (cubed_dtype_family(dtype) == CUBED_STRING) {
        for (size_t i = 0; i < size; i += 4) {
            uint32_t c;
            memcpy(&c, v->bytes + i, 4);
            if (c == 0) break;
            n += cb_utf8_put(c, text + n);
        }
        return json_stringn(text, n);
    }
    while (size > 0 && v->bytes[size - 1] == 0) size--;
    cb_base64_encode(v->bytes, size, text);
    return json_string(text);
}

json_t *cb_fill_print(cubed_dtype dtype, const cubed_scalar *v)
{
    cubed_scalar wide;
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL: return json_boolean(v->b);
    case CUBED_KIND_INT:
        cb_scalar_cast(dtype, v, CUBED_INT64, &wide);
        return json_integer(wide.i64);
    case CUBED_KIND_UINT:
        cb_scalar_cast(dtype, v, CUBED_UINT64, &wide);
        return cb_json_uint64(wide.u64);
    case CUBED_KIND_FLOAT:
        cb_scalar_cast(dtype, v, CUBED_FLOAT64, &wide);
        return print_real(wide.f64);
    case CUBED_KIND_TIME: return json_integer(v->i64);
    case CUBED_KIND_TEXT: return print_text(dtype, v);
    default: break;
    }
    json_t *pair = json_array();
    cb_scalar_cast(dtype, v, CUBED_COMPLEX128, &wide);
    json_array_append_new(pair, print_real(wide.c128[0]));
    json_array_append_new(pair, print_real(wide.c128[1]));
    return pair;
}

/* What Xarray takes for a double in attributes of format 3. */
static json_t *base64_of_double(double v)
{
    unsigned char bytes[8];
    char text[16];
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    for (int k = 0; k < 8; k++) bytes[k] = (unsigned char)(bits >> (8 * k));
    cb_base64_encode(bytes, sizeof bytes, text);
    return json_string(text);
}

cubed_status cb_zarr_attrs_with_fill(const char *attrs, cubed_dtype dtype, const cubed_scalar *fill,
                                     cb_zone *zone, const char **out, cubed_error *err)
{
    json_t *doc = NULL, *v;
    cubed_scalar wide;
    *out = attrs;
    if (cubed_dtype_kind(dtype) >= CUBED_KIND_COMPLEX) return CUBED_OK; /* there is no spelling */
    CB_TRY(
        cb_json_parse("attributes", attrs ? attrs : "{}", strlen(attrs ? attrs : "{}"), &doc, err));
    cubed_status st = CUBED_OK;
    if (json_is_object(doc) && !json_object_get(doc, "_FillValue")) {
        if (cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) {
            cb_scalar_cast(dtype, fill, CUBED_FLOAT64, &wide);
            v = base64_of_double(wide.f64);
        } else {
            v = cb_fill_print(dtype, fill);
        }
        json_object_set_new(doc, "_FillValue", v);
        st = cb_json_text(doc, zone, out, err);
    }
    json_decref(doc);
    return st;
}
