/* Parses and prints fill values: numbers, names of values that JSON cannot represent, hexadecimal bits, pairs of these for
 * complex numbers, strings, and records. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dtype/record_fields.h"
#include "dtype/scalar.h"
#include "zarr/zarr_pkg.h"

static cubed_status wrong(const char *where, const json_t *v, cubed_dtype dtype, cubed_error *err)
{
    const char *s = json_string_value(v), *big = cb_json_big(v);
    if (s)
        return cb_fail(err, CUBED_E_FORMAT, "%s: fill value %s%s%s is not a valid %s", where,
                       big ? "" : "\"", big ? big : s, big ? "" : "\"", cubed_dtype_name(dtype));
    if (json_is_number(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: fill value %.17g is not a valid %s", where,
                       json_number_value(v), cubed_dtype_name(dtype));
    return cb_fail(err, CUBED_E_FORMAT, "%s: the fill value is not a valid %s", where,
                   cubed_dtype_name(dtype));
}

/* Returns the NaN that both formats spell "NaN". Other NaNs are preserved bit by bit. */
static uint64_t plain_nan(cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_FLOAT16: return 0x7e00;
    case CUBED_BFLOAT16: return 0x7fc0;
    case CUBED_FLOAT32: return 0x7fc00000;
    default: return 0x7ff8000000000000;
    }
}

/* Parses the hexadecimal bits of a floating-point number. Avoids conversions to other types, which would quiet a signalling
 * NaN. */
static bool parse_bits(const char *s, size_t size, uint64_t *bits)
{
    size_t digits = 2 * size;
    if (s[0] != '0' || s[1] != 'x' || strlen(s) != 2 + digits ||
        strspn(s + 2, "0123456789abcdefABCDEF") != digits)
        return false;
    *bits = strtoull(s + 2, NULL, 16);
    return true;
}

/* Parses a number of a floating-point type. Returns false if it is not valid. */
static bool parse_real(const json_t *v, cubed_dtype dtype, void *out)
{
    const char *s = json_string_value(v), *big = cb_json_big(v);
    double real = 0;
    uint64_t bits;
    if (json_is_number(v)) {
        real = json_number_value(v);
    } else if (big) {
        real = strtod(big, NULL);
    } else if (s && (strcmp(s, "Infinity") == 0 || strcmp(s, "-Infinity") == 0)) {
        real = s[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    } else if (s && (strcmp(s, "NaN") == 0 || parse_bits(s, cubed_dtype_size(dtype), &bits))) {
        if (s[0] == 'N') bits = plain_nan(dtype);
        memcpy(out, &bits, cubed_dtype_size(dtype));
        return true;
    } else {
        return false;
    }
    cubed_scalar x = cb_scalar_from_double(dtype, real);
    memcpy(out, x.bytes, cubed_dtype_size(dtype));
    return true;
}

/* Returns the type of the parts of a complex number. */
static cubed_dtype part_of(cubed_dtype dtype)
{
    return dtype == CUBED_COMPLEX64 ? CUBED_FLOAT32 : CUBED_FLOAT64;
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
    /* Accept 1.0 for 1. */
    if (!json_is_real(v)) return false;
    double d = json_real_value(v);
    *out = cb_scalar_from_double(dtype, d);
    cb_scalar_cast(dtype, out, CUBED_FLOAT64, &back);
    return back.f64 == d;
}

/* Parses strings, or bytes and records, which are in base64 in both formats, into the first `size` bytes of an element. These
 * bytes must be zeros. Returns false if the value is longer. */
static bool parse_text(const json_t *v, cubed_dtype dtype, unsigned char *out, size_t size)
{
    size_t n = 0;
    const char *s = json_string_value(v);
    /* old writers stored the empty string as 0 */
    if (json_is_integer(v) && json_integer_value(v) == 0) return true;
    if (!s || cb_json_big(v)) return false;
    if (cubed_dtype_family(dtype) == CUBED_STRING) {
        uint32_t c;
        for (; (s = cb_utf8_next(s, &c)) != NULL; n += 4) {
            if (n + 4 > size) return false;
            memcpy(out + n, &c, 4);
        }
        return true;
    }
    return cb_base64_decode(s, out, size, &n);
}

/* Parses the fill value of records, in base64 or as an object with a value for each field. The bytes in `out` must be zeros.
 * Recursion depth: CB_RECORD_DEPTH. */
static cubed_status parse_record(const char *where, const json_t *v, const json_t *fields,
                                 cubed_dtype dtype, unsigned char *out, cubed_error *err)
{
    cb_field f;
    if (!json_is_object(v))
        return parse_text(v, dtype, out, cubed_dtype_size(dtype)) ? CUBED_OK
                                                                  : wrong(where, v, dtype, err);
    for (size_t i = 0; i < json_array_size(fields); i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        const json_t *value = json_object_get(v, f.name);
        unsigned char *at = out + f.offset;
        cubed_scalar x;
        if (!value || f.ndim > 0)
            return cb_fail(err, CUBED_E_FORMAT, "%s: the fill value has no element \"%s\"", where,
                           f.name);
        if (f.fields) {
            CB_TRY(parse_record(where, value, f.fields, f.dtype, at, err));
        } else if (cubed_dtype_kind(f.dtype) == CUBED_KIND_TEXT) {
            if (!parse_text(value, f.dtype, at, cubed_dtype_size(f.dtype)))
                return wrong(where, value, f.dtype, err);
        } else {
            CB_TRY(cb_fill_parse(where, value, f.dtype, &x, err));
            memcpy(at, x.bytes, cubed_dtype_size(f.dtype));
        }
    }
    return CUBED_OK;
}

/* Parses the fill value of elements of any size. Bytes beyond the size of a scalar are in the zone. */
static cubed_status parse_wide(const char *where, const json_t *v, cb_zone *zone, cb_zarr_meta *m,
                               cubed_error *err)
{
    const size_t size = cubed_dtype_size(m->dtype);
    /* The decoder writes groups of three bytes, so up to two bytes more than `size`. */
    unsigned char *bytes = cb_zone_alloc(zone, size + 3);
    cubed_dtype dtype;
    json_t *fields = NULL;
    if (!bytes) return cb_fail(err, CUBED_E_NOMEM, "no memory for a fill value");
    memset(bytes, 0, size + 3);
    cubed_status st = CUBED_OK;
    if (m->fields) {
        CB_TRY(cb_record_parse(where, m->fields, &fields, &dtype, err));
        st = parse_record(where, v, fields, m->dtype, bytes, err);
        json_decref(fields);
    } else if (!parse_text(v, m->dtype, bytes, size)) {
        st = wrong(where, v, m->dtype, err);
    }
    memset(&m->fill, 0, sizeof m->fill);
    memcpy(m->fill.bytes, bytes, cb_fill_size(m->dtype));
    for (size_t i = sizeof m->fill; i < size; i++) {
        if (bytes[i] != 0) m->wide_fill = bytes;
    }
    /* A copy of records needs no fill value, because it has all elements. Readers of strings need the fill value, so arrays of
     * strings can only be copied unchanged. */
    if (st == CUBED_OK && m->wide_fill && !m->fields)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: a fill value of more than %zu bytes is not supported", where,
                       sizeof m->fill);
    return st;
}

cubed_status cb_zarr_parse_fill(const char *where, const json_t *v, cb_zone *zone, cb_zarr_meta *m,
                                cubed_error *err)
{
    return cubed_dtype_kind(m->dtype) >= CUBED_KIND_TEXT
               ? parse_wide(where, v, zone, m, err)
               : cb_fill_parse(where, v, m->dtype, &m->fill, err);
}

cubed_status cb_fill_parse(const char *where, const json_t *v, cubed_dtype dtype, cubed_scalar *out,
                           cubed_error *err)
{
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
        return parse_real(v, dtype, out->bytes) ? CUBED_OK : wrong(where, v, dtype, err);
    case CUBED_KIND_COMPLEX: {
        const cubed_dtype part = part_of(dtype);
        const bool pair = json_is_array(v) && json_array_size(v) == 2;
        if (parse_real(pair ? json_array_get(v, 0) : v, part, out->bytes) &&
            (!pair || parse_real(json_array_get(v, 1), part, out->bytes + cubed_dtype_size(part))))
            return CUBED_OK;
        return wrong(where, v, dtype, err);
    }
    case CUBED_KIND_TIME:
        if (json_string_value(v) && strcmp(json_string_value(v), "NaT") == 0) {
            out->i64 = INT64_MIN;
            return CUBED_OK;
        }
        return parse_integer(v, CUBED_INT64, out) ? CUBED_OK : wrong(where, v, dtype, err);
    case CUBED_KIND_TEXT:
        if (parse_text(v, dtype, out->bytes, cb_fill_size(dtype))) return CUBED_OK;
        break;
    case CUBED_KIND_RECORD: break;
    }
    return wrong(where, v, dtype, err);
}

/* Prints a real number. Format 2 cannot represent a NaN other than the plain one. */
static json_t *print_real(cubed_dtype dtype, const void *at, int format)
{
    cubed_scalar x = {.u64 = 0}, wide;
    char text[2 + 16 + 1];
    memcpy(x.bytes, at, cubed_dtype_size(dtype));
    cb_scalar_cast(dtype, &x, CUBED_FLOAT64, &wide);
    if (isinf(wide.f64)) return json_string(wide.f64 < 0 ? "-Infinity" : "Infinity");
    if (!isnan(wide.f64)) return json_real(wide.f64);
    if (format == 2 || x.u64 == plain_nan(dtype)) return json_string("NaN");
    snprintf(text, sizeof text, "0x%0*" PRIx64, (int)(2 * cubed_dtype_size(dtype)), x.u64);
    return json_string(text);
}

/* Prints all bytes of a record, as readers expect. */
static json_t *print_record(cubed_dtype dtype, const cubed_scalar *v)
{
    const size_t size = cubed_dtype_size(dtype), room = size + 4 * (size / 3 + 1) + 1;
    unsigned char *bytes = cb_alloc_zero(&cb_system_allocator, room);
    if (!bytes) return NULL;
    char *text = (char *)bytes + size;
    memcpy(bytes, v->bytes, cb_fill_size(dtype));
    cb_base64_encode(bytes, size, text);
    json_t *out = json_string(text);
    cb_free(&cb_system_allocator, bytes, room);
    return out;
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

json_t *cb_fill_print(cubed_dtype dtype, const cubed_scalar *v, int format)
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
    case CUBED_KIND_FLOAT: return print_real(dtype, v->bytes, format);
    case CUBED_KIND_TIME: return json_integer(v->i64);
    case CUBED_KIND_TEXT: return print_text(dtype, v);
    case CUBED_KIND_RECORD: return print_record(dtype, v);
    default: break;
    }
    json_t *pair = json_array();
    bool ok = pair != NULL;
    const cubed_dtype part = part_of(dtype);
    for (size_t k = 0; k < 2; k++)
        cb_json_add(pair, print_real(part, v->bytes + k * cubed_dtype_size(part), format), &ok);
    return cb_json_if(ok, pair);
}

static bool is_nan(cubed_dtype dtype, const void *at)
{
    cubed_scalar x = {.u64 = 0}, wide;
    memcpy(x.bytes, at, cubed_dtype_size(dtype));
    cb_scalar_cast(dtype, &x, CUBED_FLOAT64, &wide);
    return isnan(wide.f64);
}

bool cb_fill_is_nan(cubed_dtype dtype, const cubed_scalar *v)
{
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_FLOAT: return is_nan(dtype, v->bytes);
    case CUBED_KIND_COMPLEX:
        return is_nan(part_of(dtype), v->bytes) ||
               is_nan(part_of(dtype), v->bytes + cubed_dtype_size(part_of(dtype)));
    case CUBED_KIND_TIME: return v->i64 == INT64_MIN;
    default: return false;
    }
}

cubed_scalar cb_fill_default(cubed_dtype dtype)
{
    cubed_scalar v = {.c128 = {0, 0}};
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TIME) v.i64 = INT64_MIN;
    return v;
}

void cb_fill_for_v2(cubed_dtype dtype, cubed_scalar *v)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    if (kind != CUBED_KIND_FLOAT && kind != CUBED_KIND_COMPLEX) return;
    const cubed_dtype part = kind == CUBED_KIND_FLOAT ? dtype : part_of(dtype);
    const uint64_t nan = plain_nan(part);
    const size_t size = cubed_dtype_size(part);
    for (size_t at = 0; at < cubed_dtype_size(dtype); at += size) {
        if (is_nan(part, v->bytes + at)) memcpy(v->bytes + at, &nan, size);
    }
}
