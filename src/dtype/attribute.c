#include "dtype/attribute.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "dtype/typestr.h"

size_t cb_attribute_count(const json_t *v) { return json_is_array(v) ? json_array_size(v) : 1; }

const json_t *cb_attribute_item(const json_t *v, size_t i)
{
    return json_is_array(v) ? json_array_get(v, i) : v;
}

/* --- Values ------------------------------------------------------------------------------------------- */

/* Reads a number, or one of the strings that encode numbers without a JSON representation, such as "NaN". */
static bool get_real(const json_t *v, double *out)
{
    const char *s = json_string_value(v), *big = cb_json_big(v);
    unsigned char bytes[8];
    size_t n;
    if (json_is_number(v)) *out = json_number_value(v);
    if (!s) return json_is_number(v);
    if (big)
        *out = strtod(big, NULL);
    else if (strcmp(s, "NaN") == 0)
        *out = (double)NAN;
    else if (strcmp(s, "Infinity") == 0)
        *out = HUGE_VAL;
    else if (strcmp(s, "-Infinity") == 0)
        *out = -HUGE_VAL;
    else if (strlen(s) == 12 && cb_base64_decode(s, bytes, sizeof bytes, &n) && n == 8)
        /* For Zarr format 3, Xarray encodes the attribute _FillValue as the base64 of a double. */
        memcpy(out, bytes, sizeof *out);
    else
        return false;
    return true;
}

/* Reads a 64-bit integer. Sets *negative if it is less than 0; then *bits has its two's complement. */
static bool get_integer(const json_t *v, uint64_t *bits, bool *negative)
{
    const char *big = cb_json_big(v);
    if (big) {
        errno = 0;
        *negative = false;
        *bits = strtoull(big, NULL, 10);
        return *big != '-' && errno == 0;
    }
    int64_t i = 0;
    if (json_is_integer(v))
        i = json_integer_value(v);
    else if (json_is_real(v) && json_real_value(v) == floor(json_real_value(v)) &&
             fabs(json_real_value(v)) < 9e15)
        i = (int64_t)json_real_value(v);
    else
        return false;
    *bits = (uint64_t)i;
    *negative = i < 0;
    return true;
}

bool cb_attribute_number(const json_t *v, cubed_dtype dtype, void *out)
{
    const size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT) {
        double real;
        if (size < 4 || !get_real(v, &real)) return false;
        const float narrow = (float)real;
        memcpy(out, size == 4 ? (const void *)&narrow : (const void *)&real, size);
        return true;
    }
    uint64_t bits;
    bool negative;
    if (!get_integer(v, &bits, &negative)) return false;
    const bool is_signed = cubed_dtype_kind(dtype) == CUBED_KIND_INT;
    if (!is_signed && cubed_dtype_kind(dtype) != CUBED_KIND_UINT) return false;
    const uint64_t most = UINT64_MAX >> (64 - 8 * size + is_signed);
    if (negative ? !is_signed || ~bits > most : bits > most) return false;
    memcpy(out, &bits, size); /* little-endian: the lowest bytes are first */
    return true;
}

static bool are_numbers(const json_t *v, cubed_dtype dtype)
{
    uint64_t out;
    for (size_t i = 0; i < cb_attribute_count(v); i++) {
        if (!cb_attribute_number(cb_attribute_item(v, i), dtype, &out)) return false;
    }
    return true;
}

static bool is_string(const json_t *v) { return json_is_string(v) && !cb_json_big(v); }

static bool are_strings(const json_t *v)
{
    for (size_t i = 0; i < cb_attribute_count(v); i++) {
        if (!is_string(cb_attribute_item(v, i))) return false;
    }
    return true;
}

/* --- Types -------------------------------------------------------------------------------------------- */

static bool parse_type(const char *text, cb_attribute_type *out)
{
    bool big_endian;
    out->is_stated = true;
    if (!text) return false;
    if (*text && text[1] == 'S') {
        out->kind = strcmp(text + 1, "S1") == 0 ? CUBED_ATTRIBUTE_CHARS : CUBED_ATTRIBUTE_STRINGS;
        return true;
    }
    out->kind = CUBED_ATTRIBUTE_NUMBERS;
    if (!cb_typestr_parse(text, &out->dtype, &big_endian)) return false;
    const cubed_kind kind = cubed_dtype_kind(out->dtype);
    return kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT || out->dtype == CUBED_FLOAT32 ||
           out->dtype == CUBED_FLOAT64;
}

static bool is_of_type(const json_t *v, const cb_attribute_type *t)
{
    switch (t->kind) {
    case CUBED_ATTRIBUTE_NUMBERS: return are_numbers(v, t->dtype);
    case CUBED_ATTRIBUTE_CHARS: return is_string(v);
    case CUBED_ATTRIBUTE_STRINGS: return are_strings(v);
    default: return false;
    }
}

/* Returns true for attributes that CF requires to have the type of their variable. */
static bool has_type_of_variable(const char *name)
{
    static const char *const names[] = {"_FillValue", "missing_value", "valid_min",
                                        "valid_max",  "valid_range",   "flag_values",
                                        "flag_masks", "actual_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

cubed_dtype cb_attribute_dtype(cubed_dtype dtype)
{
    if (dtype == CUBED_BOOL) return CUBED_INT8;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TIME) return CUBED_INT64;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const bool is_number = kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT ||
                           dtype == CUBED_FLOAT32 || dtype == CUBED_FLOAT64;
    return is_number ? dtype : CUBED_DTYPE_COUNT;
}

static cb_attribute_type infer(const json_t *v, const char *name, cubed_dtype dtype)
{
    static const cubed_dtype integers[] = {CUBED_INT32, CUBED_INT64, CUBED_UINT64};
    const cubed_dtype own = dtype == CUBED_DTYPE_COUNT ? dtype : cb_attribute_dtype(dtype);
    cb_attribute_type t = {CUBED_ATTRIBUTE_NUMBERS, own, false};
    bool whole = true;
    if (json_is_array(v) && json_array_size(v) == 0)
        return (cb_attribute_type){CUBED_ATTRIBUTE_JSON, CUBED_DTYPE_COUNT, false};
    if (own != CUBED_DTYPE_COUNT && has_type_of_variable(name) && are_numbers(v, own)) return t;
    if (are_strings(v)) {
        t.kind = json_is_array(v) ? CUBED_ATTRIBUTE_STRINGS : CUBED_ATTRIBUTE_CHARS;
        return t;
    }
    for (size_t i = 0; i < cb_attribute_count(v); i++) {
        const json_t *x = cb_attribute_item(v, i);
        whole = whole && (json_is_integer(x) || cb_json_big(x));
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers && whole; i++) {
        t.dtype = integers[i];
        if (are_numbers(v, t.dtype)) return t;
    }
    t.dtype = CUBED_FLOAT64;
    if (!are_numbers(v, t.dtype)) t.kind = CUBED_ATTRIBUTE_JSON;
    return t;
}

static json_t *stated_types(const json_t *attrs)
{
    return json_object_get(json_object_get(attrs, CUBED_ATTRIBUTE_TYPES), "types");
}

cb_attribute_type cb_attribute_type_of(const json_t *attrs, const char *name, cubed_dtype dtype)
{
    const json_t *v = json_object_get(attrs, name);
    cb_attribute_type t;
    if (parse_type(json_string_value(json_object_get(stated_types(attrs), name)), &t) &&
        is_of_type(v, &t))
        return t;
    return infer(v, name, dtype);
}

/* --- Recorded types in metadata ------------------------------------------------------------------------- */

bool cb_attributes_state(json_t *attrs, const char *name, const char *type)
{
    json_t *types = stated_types(attrs);
    if (!types) {
        json_t *member = json_pack("{s:{}}", "types");
        if (json_object_set_new(attrs, CUBED_ATTRIBUTE_TYPES, member) != 0) return false;
        types = json_object_get(member, "types");
    }
    return json_object_set_new(types, name, json_string(type)) == 0;
}

/* Copies from `types` to `to` the types that are valid for attributes that exist. */
static bool take(json_t *to, const json_t *attrs, json_t *types)
{
    const char *name;
    json_t *type;
    json_object_foreach(types, name, type)
    {
        cb_attribute_type t;
        const json_t *v = json_object_get(attrs, name);
        const bool keep = v && strcmp(name, CUBED_ATTRIBUTE_TYPES) != 0 &&
                          parse_type(json_string_value(type), &t) && is_of_type(v, &t);
        if (keep && json_object_set(to, name, type) != 0) return false;
    }
    return true;
}

bool cb_attributes_gather(json_t *attrs)
{
    /* The first name is the spelling of NetCDF-C 4.8 to 4.9.2. */
    static const char *const names[] = {"_NCZARR_ATTR", CUBED_ATTRIBUTE_TYPES};
    json_t *all = json_object(), *inner = NULL;
    const json_t *text = json_object_get(attrs, CB_ATTRIBUTE_TYPES_V3);
    const char *s = json_string_value(text);
    bool ok = all != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && ok; i++) {
        ok = take(all, attrs, json_object_get(json_object_get(attrs, names[i]), "types"));
        json_object_del(attrs, names[i]);
    }
    if (ok && s) ok = cb_json_try(CB_ATTRIBUTE_TYPES_V3, s, strlen(s), &inner, NULL) == CUBED_OK;
    if (ok && inner) {
        ok = take(all, attrs, inner);
        json_object_del(attrs, CB_ATTRIBUTE_TYPES_V3);
    }
    json_decref(inner);
    if (ok && json_object_size(all) > 0)
        ok = json_object_set_new(attrs, CUBED_ATTRIBUTE_TYPES, json_pack("{s:O}", "types", all)) ==
             0;
    json_decref(all);
    return ok;
}

void cb_attributes_prune(json_t *attrs)
{
    json_t *types = stated_types(attrs), *type;
    const char *name;
    void *next;
    json_object_foreach_safe(types, next, name, type)
    {
        if (!json_object_get(attrs, name)) json_object_del(types, name);
    }
    if (json_object_size(types) == 0) json_object_del(attrs, CUBED_ATTRIBUTE_TYPES);
}

bool cb_attributes_stow(json_t *attrs, cubed_dtype dtype)
{
    const json_t *had = stated_types(attrs);
    json_t *types = cb_json_deep_copy(had), *type;
    const char *name;
    void *next;
    bool ok = types || !had;
    json_object_del(attrs, CUBED_ATTRIBUTE_TYPES);
    json_object_foreach_safe(types, next, name, type)
    {
        const json_t *v = json_object_get(attrs, name);
        cb_attribute_type stated;
        bool keep = v && parse_type(json_string_value(type), &stated);
        if (keep && dtype != CUBED_DTYPE_COUNT) {
            const cb_attribute_type inferred = infer(v, name, dtype);
            keep = inferred.kind != stated.kind ||
                   (stated.kind == CUBED_ATTRIBUTE_NUMBERS && inferred.dtype != stated.dtype);
        }
        if (!keep) json_object_del(types, name);
    }
    if (json_object_size(types) > 0) {
        cb_buf text;
        cb_buf_init(&text, &cb_system_allocator);
        ok = cb_json_dump(types, JSON_COMPACT, &text) &&
             json_object_set_new(attrs, CB_ATTRIBUTE_TYPES_V3, json_string(text.data)) == 0;
        cb_buf_free(&text);
    }
    json_decref(types);
    return ok;
}

/* --- Attributes as public values ---------------------------------------------------------------------- */

typedef struct owned {
    cubed_attribute head;
    cb_zone *zone;
} owned;

static const char *json_of(cb_zone *zone, const json_t *v)
{
    cb_buf text;
    cb_buf_init(&text, cb_zone_allocator(zone));
    const bool ok = cb_json_dump(v, JSON_ENCODE_ANY, &text);
    const char *out = ok ? cb_zone_strdup(zone, text.data) : NULL;
    cb_buf_free(&text);
    return out;
}

/* Sets the value of an attribute from JSON. Returns false if out of memory. */
static bool set_value(owned *o, const json_t *v)
{
    cubed_attribute *a = &o->head;
    const size_t n = cb_attribute_count(v);
    a->n = n;
    if (a->kind == CUBED_ATTRIBUTE_NUMBERS) {
        const size_t size = cubed_dtype_size(a->dtype);
        char *numbers = cb_zone_alloc(o->zone, n * size + sizeof(uint64_t));
        for (size_t i = 0; numbers && i < n; i++)
            (void)cb_attribute_number(cb_attribute_item(v, i), a->dtype, numbers + i * size);
        a->numbers = numbers;
        return numbers;
    }
    const bool is_list = a->kind == CUBED_ATTRIBUTE_STRINGS;
    const char **strings = cb_zone_alloc(o->zone, (n + 1) * sizeof *strings);
    bool ok = strings != NULL;
    for (size_t i = 0; ok && i < (is_list ? n : 1); i++) {
        const json_t *x = is_list ? cb_attribute_item(v, i) : v;
        strings[i] = a->kind == CUBED_ATTRIBUTE_JSON
                         ? json_of(o->zone, x)
                         : cb_zone_strdup(o->zone, json_string_value(x));
        ok = strings[i] != NULL;
        if (ok && !is_list) a->n = strlen(strings[i]);
    }
    a->strings = strings;
    return ok;
}

cubed_status cubed_attribute_get(const char *attrs, const char *name, cubed_dtype dtype,
                                 cubed_attribute **out, cubed_error *err)
{
    json_t *doc = NULL;
    cb_zone *zone = NULL;
    const json_t *v;
    owned *o;
    CB_TRY(cb_json_parse("attributes", attrs, strlen(attrs), &doc, err));
    cubed_status st = cb_attributes_gather(doc)
                          ? cb_zone_new(&cb_system_allocator, &zone, err)
                          : cb_fail(err, CUBED_E_NOMEM, "out of memory: attribute \"%s\"", name);
    if (st != CUBED_OK) goto out;
    v = strcmp(name, CUBED_ATTRIBUTE_TYPES) == 0 ? NULL : json_object_get(doc, name);
    if (!v) {
        st = cb_fail(err, CUBED_E_NOT_FOUND, "the object has no attribute \"%s\"", name);
        goto out;
    }
    o = cb_zone_alloc(zone, sizeof *o);
    if (o) {
        const cb_attribute_type t = cb_attribute_type_of(doc, name, dtype);
        *o = (owned){.head = {.kind = t.kind, .dtype = t.dtype, .is_stated = t.is_stated},
                     .zone = zone};
    }
    if (!o || !set_value(o, v)) {
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: attribute \"%s\"", name);
        goto out;
    }
    *out = &o->head;
    zone = NULL;
out:
    if (zone) cb_zone_free(zone);
    json_decref(doc);
    return st;
}

void cubed_attribute_free(cubed_attribute *a)
{
    if (a) cb_zone_free(((owned *)a)->zone);
}
