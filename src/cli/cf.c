/* CF Conventions, sections 8.1 (packed data) and 2.5.1 (missing data). */
#include "cf.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli.h"

static bool get_number(const json_t *attrs, const char *name, double *out)
{
    const json_t *v = json_object_get(attrs, name);
    if (json_is_array(v) && json_array_size(v) == 1) v = json_array_get(v, 0);
    if (!json_is_number(v)) return false;
    *out = json_number_value(v);
    return true;
}

/* x = op(x, value), with the value in x's type. */
static cubed_status with_scalar(cubed_op op, cubed_array **x, double value, cubed_error *err)
{
    cubed_dtype dtype = cubed_array_dtype(*x);
    cubed_scalar s = {.f64 = value};
    cubed_array *scalar, *y;
    if (dtype == CUBED_FLOAT32) s.f32 = (float)value;
    cubed_status st =
        cubed_array_full(cubed_array_context(*x), dtype, 0, NULL, NULL, &s, &scalar, err);
    if (st != CUBED_OK) return st;
    cubed_array *args[2] = {*x, scalar};
    st = cubed_elementwise(op, args, 2, &y, err);
    cubed_array_unref(scalar);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* The double in the 12 characters of base64 that Xarray writes into Zarr format 3 for it. */
static bool double_of_base64(const char *text, double *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t bits = 0;
    uint32_t part = 0;
    if (strlen(text) != 12 || text[11] != '=') return false;
    for (int i = 0, byte = 0; i < 12; i++) {
        const char *d = i < 11 ? strchr(digits, text[i]) : digits;
        if (!d) return false;
        part = part << 6 | (uint32_t)(d - digits);
        if (i % 4 != 3) continue;
        for (int k = 16; k >= 0 && byte < 8; k -= 8, byte++)
            bits |= (uint64_t)(part >> k & 0xff) << (8 * byte);
        part = 0;
    }
    memcpy(out, &bits, sizeof bits);
    return true;
}

static bool set_integer(cubed_dtype dtype, int64_t i, cubed_scalar *out)
{
    size_t bits = 8 * cubed_dtype_size(dtype);
    bool is_signed = cubed_dtype_kind(dtype) == CUBED_KIND_INT;
    int64_t least = is_signed ? -((int64_t)1 << (bits - 2)) * 2 : 0;
    int64_t most =
        is_signed || bits < 64 ? (int64_t)(~(uint64_t)0 >> (64 - bits + is_signed)) : INT64_MAX;
    if (i < least || i > most) return false;
    switch (bits) {
    case 8: out->u8 = (uint8_t)i; break;
    case 16: out->u16 = (uint16_t)i; break;
    case 32: out->u32 = (uint32_t)i; break;
    default: out->i64 = i; break;
    }
    return true;
}

/* A missing value in the stored type. False if no element can equal it, NaN included. */
static bool stored_scalar(const json_t *v, cubed_dtype dtype, cubed_scalar *out)
{
    double real = (double)NAN;
    bool is_float = cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT;
    *out = (cubed_scalar){.c128 = {0, 0}};
    if (json_is_string(v)) {
        if (!is_float || !double_of_base64(json_string_value(v), &real)) return false;
    } else if (json_is_number(v)) {
        real = json_number_value(v);
    }
    if (isnan(real)) return false;
    if (dtype == CUBED_FLOAT32) out->f32 = (float)real;
    if (dtype == CUBED_FLOAT64) out->f64 = real;
    if (is_float) return true;
    if (json_is_integer(v)) return set_integer(dtype, json_integer_value(v), out);
    return real == floor(real) && fabs(real) < 9e18 && set_integer(dtype, (int64_t)real, out);
}

/* Where the stored element is `fill`, *x becomes NaN. */
static cubed_status mask_one(cubed_array *raw, const cubed_scalar *fill, cubed_array **x,
                             cubed_error *err)
{
    cubed_array *key = NULL, *hit = NULL, *nan = NULL, *y = NULL;
    cubed_scalar missing = {.f64 = (double)NAN};
    cubed_context *ctx = cubed_array_context(raw);
    if (cubed_array_dtype(*x) == CUBED_FLOAT32) missing.f32 = NAN;
    cubed_status st = cubed_array_full(ctx, cubed_array_dtype(raw), 0, NULL, NULL, fill, &key, err);
    cubed_array *compare[2] = {raw, key};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_EQUAL, compare, 2, &hit, err);
    if (st == CUBED_OK)
        st = cubed_array_full(ctx, cubed_array_dtype(*x), 0, NULL, NULL, &missing, &nan, err);
    cubed_array *args[3] = {hit, nan, *x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, args, 3, &y, err);
    if (st == CUBED_OK) {
        cubed_array_unref(*x);
        *x = y;
    }
    cubed_array_unref(key);
    cubed_array_unref(hit);
    cubed_array_unref(nan);
    return st;
}

/* `fills` is a value, or a list of some. */
static cubed_status mask(cubed_array *raw, const json_t *fills, cubed_array **x, cubed_error *err)
{
    cubed_scalar fill;
    cubed_status st = CUBED_OK;
    size_t n = json_is_array(fills) ? json_array_size(fills) : fills != NULL;
    for (size_t i = 0; i < n && st == CUBED_OK; i++) {
        const json_t *v = json_is_array(fills) ? json_array_get(fills, i) : fills;
        if (stored_scalar(v, cubed_array_dtype(raw), &fill)) st = mask_one(raw, &fill, x, err);
    }
    return st;
}

/* *x with these attributes, but for those that described the packing. */
static cubed_status set_attrs(cubed_array **x, json_t *attrs, bool packed, cubed_error *err)
{
    /* Those behind the first two are in packed units. */
    static const char *const names[] = {
        "_FillValue",  "missing_value", "scale_factor", "add_offset",
        "valid_range", "valid_min",     "valid_max",    "number_of_significant_digits"};
    cubed_array *y;
    for (size_t k = 0; k < (packed ? sizeof names / sizeof *names : 2); k++)
        json_object_del(attrs, names[k]);
    char *text = json_dumps(attrs, JSON_REAL_PRECISION(17));
    cubed_status st = cubed_array_with_attrs(*x, text ? text : "{}", &y, err);
    cli_free(text);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

static bool is_nan(cubed_dtype dtype, const cubed_scalar *v)
{
    return (dtype == CUBED_FLOAT32 && isnan(v->f32)) || (dtype == CUBED_FLOAT64 && isnan(v->f64));
}

cubed_status cf_decode(cubed_array **x, cubed_error *err)
{
    cubed_dtype from = cubed_array_dtype(*x);
    cubed_kind kind = cubed_dtype_kind(from);
    double scale = 1, offset = 0;
    if (kind == CUBED_KIND_BOOL || kind == CUBED_KIND_COMPLEX || kind == CUBED_KIND_TEXT)
        return CUBED_OK;
    json_t *attrs = json_loads(cubed_array_attrs(*x), 0, NULL);
    /* Integers beyond int64, of an attribute that nobody asks for perhaps. */
    if (!attrs) attrs = json_loads(cubed_array_attrs(*x), JSON_DECODE_INT_AS_REAL, NULL);
    bool scaled = get_number(attrs, "scale_factor", &scale);
    bool shifted = get_number(attrs, "add_offset", &offset);
    const json_t *fill = json_object_get(attrs, "_FillValue");
    const json_t *missing = json_object_get(attrs, "missing_value");
    cubed_array *y = NULL;
    cubed_status st = CUBED_OK;
    cubed_scalar own;
    /* What Xarray takes for _FillValue in format 2, unless the attributes have one. */
    bool has_own = !fill && cubed_array_missing_value(*x, &own) && !is_nan(from, &own);
    if (!scaled && !shifted && !fill && !missing && !has_own) goto out;
    bool keep = from == CUBED_FLOAT32 && !scaled && !shifted;
    st = cubed_astype(*x, keep ? from : CUBED_FLOAT64, &y, err);
    if (st == CUBED_OK) st = mask(*x, fill, &y, err);
    if (st == CUBED_OK) st = mask(*x, missing, &y, err);
    if (st == CUBED_OK && has_own) st = mask_one(*x, &own, &y, err);
    if (st == CUBED_OK && scaled) st = with_scalar(CUBED_OP_MULTIPLY, &y, scale, err);
    if (st == CUBED_OK && shifted) st = with_scalar(CUBED_OP_ADD, &y, offset, err);
    if (st == CUBED_OK) st = set_attrs(&y, attrs, scaled || shifted, err);
    if (st == CUBED_OK) {
        cubed_array_unref(*x);
        *x = y;
        y = NULL;
    }
out:
    cubed_array_unref(y);
    json_decref(attrs);
    return st;
}
