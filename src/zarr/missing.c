/* Markers of missing values in the two formats, as in Xarray. In format 2 the fill value is the marker. In format 3 it is the
 * attribute _FillValue, in which a real is a little-endian double in base64. */
#include <string.h>

#include "base/text.h"
#include "dtype/scalar.h"
#include "zarr/zarr_pkg.h"

static const char marker[] = "_FillValue";

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

static bool double_of_base64(const json_t *v, double *out)
{
    unsigned char bytes[8];
    size_t n = 0;
    uint64_t bits = 0;
    const char *s = json_string_value(v);
    if (!s || !cb_base64_decode(s, bytes, sizeof bytes, &n) || n != sizeof bytes) return false;
    for (int k = 0; k < 8; k++) bits |= (uint64_t)bytes[k] << (8 * k);
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* Converts a value to the spelling of fill values in metadata. The value is a number, the name of a special value, or a double in
 * base64. Returns a new reference, or NULL for any other value. */
static json_t *plain_real(const json_t *v)
{
    double d;
    cubed_scalar x = {.u64 = 0};
    if (double_of_base64(v, &d)) {
        x.f64 = d;
        return cb_fill_print(CUBED_FLOAT64, &x, 2);
    }
    return cb_fill_parse("", v, CUBED_FLOAT64, &x, NULL) == CUBED_OK
               ? cb_fill_print(CUBED_FLOAT64, &x, 2)
               : NULL;
}

/* Converts a fill value to its spelling in metadata. Applies plain_real to real numbers and to both parts of complex numbers.
 * Other values stay unchanged, except real numbers in base64. Returns a new reference, or NULL if plain_real returns NULL. */
static json_t *plain(const json_t *v, cubed_dtype dtype)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    double d;
    if (kind == CUBED_KIND_FLOAT) return plain_real(v);
    if (kind == CUBED_KIND_COMPLEX && json_array_size(v) == 2) {
        json_t *re = plain_real(json_array_get(v, 0)), *im = plain_real(json_array_get(v, 1));
        if (re && im) return json_pack("[o, o]", re, im);
        json_decref(re);
        json_decref(im);
        return NULL;
    }
    /* The array is a cast of real numbers to integers, and the attributes still have the marker of the real numbers. */
    if ((kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT) && double_of_base64(v, &d))
        return json_real(d);
    return json_incref((json_t *)(uintptr_t)v);
}

/* Returns true if elements of the type can have exactly this value, and stores it in *out. For example, returns false for a
 * double between two adjacent float32 numbers, which no element can equal. */
static bool is_exact(const json_t *v, cubed_dtype dtype, cubed_scalar *out)
{
    cubed_scalar wide, back;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TIME) return false;
    if (cb_fill_parse("", v, dtype, out, NULL) != CUBED_OK) return false;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) {
        if (cb_fill_parse("", v, CUBED_FLOAT64, &wide, NULL) != CUBED_OK) return false;
        cb_scalar_cast(dtype, out, CUBED_FLOAT64, &back);
        return back.f64 == wide.f64 || cb_fill_is_nan(dtype, out);
    }
    if (cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX) {
        if (cb_fill_parse("", v, CUBED_COMPLEX128, &wide, NULL) != CUBED_OK) return false;
        cb_scalar_cast(dtype, out, CUBED_COMPLEX128, &back);
        return cb_fill_is_nan(dtype, out) ||
               (back.c128[0] == wide.c128[0] && back.c128[1] == wide.c128[1]);
    }
    return true;
}

/* Converts the spelling of fill values to the spelling of the attribute. Returns NULL for types whose readers do not accept the
 * attribute: times, and strings, which cannot be opened with it. */
static json_t *spelled_v3(const json_t *v, cubed_dtype dtype)
{
    cubed_scalar x;
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_FLOAT:
        return cb_fill_parse("", v, CUBED_FLOAT64, &x, NULL) == CUBED_OK ? base64_of_double(x.f64)
                                                                         : NULL;
    case CUBED_KIND_COMPLEX:
        if (cb_fill_parse("", v, CUBED_COMPLEX128, &x, NULL) != CUBED_OK ||
            cb_fill_is_nan(CUBED_COMPLEX128, &x))
            return NULL;
        return json_pack("[o, o]", base64_of_double(x.c128[0]), base64_of_double(x.c128[1]));
    case CUBED_KIND_TIME:
    case CUBED_KIND_TEXT:
    case CUBED_KIND_RECORD: return NULL;
    default:
        return cb_fill_parse("", v, dtype, &x, NULL) == CUBED_OK
                   ? cb_fill_print(dtype, &x, 3)
                   : json_incref((json_t *)(uintptr_t)v);
    }
}

/* Returns true if the attribute has the spelling of format 3. A name such as "NaN" is another spelling. It occurs in arrays that
 * are computed from an array of format 3. */
static bool is_spelled_v3(const json_t *v, cubed_dtype dtype)
{
    double d;
    return !(json_is_string(v) && cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) ||
           double_of_base64(v, &d);
}

static cubed_status to_v3(cb_zarr_missing *m, json_t *attrs, cubed_error *err)
{
    const json_t *have = json_object_get(attrs, marker);
    const bool own =
        m->from == 2 && m->has_fill; /* the fill value takes precedence over the attribute */
    if (!own && (!have || (m->from == 3 && is_spelled_v3(have, m->dtype)))) return CUBED_OK;
    json_t *v = own ? cb_fill_print(m->dtype, &m->fill, 2) : plain(have, m->dtype);
    json_t *spelled = v ? spelled_v3(v, m->dtype) : NULL;
    bool ok = true;
    if (spelled)
        ok = json_object_set_new(attrs, marker, spelled) == 0;
    else if (v && m->from == 2 && cubed_dtype_family(m->dtype) == CUBED_STRING) {
        /* for strings, write the attribute that readers of format 3 support */
        json_object_del(attrs, marker);
        ok = json_object_get(attrs, "missing_value") ||
             json_object_set(attrs, "missing_value", v) == 0;
    }
    json_decref(v);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for attributes");
}

static cubed_status to_v2(cb_zarr_missing *m, json_t *attrs, cubed_error *err)
{
    const json_t *have = json_object_get(attrs, marker);
    cubed_scalar x;
    if (m->from == 2) return CUBED_OK;
    json_t *v = have ? plain(have, m->dtype) : NULL;
    /* Without the attribute, no element is missing. So the fill value must not mark missing elements either. */
    m->has_fill = m->has_fill && cb_fill_is_nan(m->dtype, &m->fill);
    bool ok = true;
    if (v && is_exact(v, m->dtype, &x)) {
        m->has_fill = true;
        m->fill = x;
        json_object_del(attrs, marker);
    } else if (v) {
        ok = json_object_set(attrs, marker, v) == 0;
    }
    json_decref(v);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for attributes");
}

cubed_status cb_zarr_convert_missing(cb_zarr_missing *m, int to, cb_zone *zone, cubed_error *err)
{
    const char *text = m->attrs ? m->attrs : "{}";
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("attributes", text, strlen(text), &doc, err));
    cubed_status st = CUBED_OK;
    if (json_is_object(doc)) {
        st = to == 2 ? to_v2(m, doc, err) : to_v3(m, doc, err);
        if (st == CUBED_OK && m->attrs) st = cb_json_text(doc, zone, &m->attrs, err);
        if (st == CUBED_OK && !m->attrs && json_object_size(doc) > 0)
            st = cb_json_text(doc, zone, &m->attrs, err);
    }
    json_decref(doc);
    return st;
}
