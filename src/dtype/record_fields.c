#include "dtype/record_fields.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "dtype/typestr.h"

/* Checks the shape of a field, and gets its number of elements. */
static cubed_status check_shape(const char *where, const char *name, const json_t *shape,
                                cb_field *f, cubed_error *err)
{
    const size_t n = json_array_size(shape);
    if (!shape) return CUBED_OK;
    if (!json_is_integer(shape) && (!json_is_array(shape) || n > CUBED_MAX_NDIM))
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: the shape of field \"%s\" is not a list of at most %d extents", where,
                       name, CUBED_MAX_NDIM);
    f->ndim = json_is_integer(shape) ? 1 : (int)n;
    for (int d = 0; d < f->ndim; d++) {
        const json_t *v = json_is_integer(shape) ? shape : json_array_get(shape, (size_t)d);
        f->shape[d] = json_integer_value(v);
        if (!json_is_integer(v) || f->shape[d] < 1 || cb_mul_i64(f->count, f->shape[d], &f->count))
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: extent %d of field \"%s\" is not a positive integer, or too large",
                           where, d, name);
    }
    return CUBED_OK;
}

/* Checks a description, and gets the size of a record in bytes. Recursion depth: CB_RECORD_DEPTH. */
static cubed_status check_fields(const char *where, const json_t *fields, int depth, size_t *bytes,
                                 cubed_error *err);

/* Checks a field, and adds its size to *bytes. */
static cubed_status check_field(const char *where, const json_t *item, size_t i, int depth,
                                size_t *bytes, cubed_error *err)
{
    const json_t *type = json_array_get(item, 1);
    const char *name = json_string_value(json_array_get(item, 0));
    cb_field f = {.count = 1};
    size_t size, all;
    if (json_array_size(item) < 2 || json_array_size(item) > 3 || !name)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s: field %zu is not a list of a name, a type and, optionally, a shape",
                       where, i);
    if (name[0] == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: field %zu has no name, expected one", where, i);
    CB_TRY(check_shape(where, name, json_array_get(item, 2), &f, err));
    if (json_is_array(type)) {
        CB_TRY(check_fields(where, type, depth + 1, &size, err));
    } else if (json_is_string(type) &&
               cb_typestr_parse(json_string_value(type), &f.dtype, &f.big_endian)) {
        size = cubed_dtype_size(f.dtype);
    } else {
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: field \"%s\" has data type \"%s\", which is not supported", where, name,
                       json_is_string(type) ? json_string_value(type) : "?");
    }
    if (cb_mul_size(size, (size_t)f.count, &all) || cb_add_size(*bytes, all, bytes))
        *bytes = SIZE_MAX; /* too long for a record, and rejected as such later */
    return CUBED_OK;
}

static cubed_status check_fields(const char *where, const json_t *fields, int depth, size_t *bytes,
                                 cubed_error *err)
{
    const size_t n = json_array_size(fields);
    cubed_dtype dtype;
    if (!json_is_array(fields) || n == 0)
        return cb_fail(err, CUBED_E_FORMAT, "%s: the fields of a record are not a list", where);
    if (n > CB_RECORD_FIELDS || depth > CB_RECORD_DEPTH)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: records of more than %d fields, or of more than %d levels, are not "
                       "supported",
                       where, CB_RECORD_FIELDS, CB_RECORD_DEPTH);
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(fields, i);
        CB_TRY(check_field(where, item, i, depth, bytes, err));
        const char *name = json_string_value(json_array_get(item, 0));
        for (size_t k = 0; k < i; k++) {
            const json_t *other = json_array_get(json_array_get(fields, k), 0);
            if (strcmp(name, json_string_value(other)) == 0)
                return cb_fail(err, CUBED_E_FORMAT, "%s: fields %zu and %zu have the name \"%s\"",
                               where, k, i, name);
        }
        const int64_t length = *bytes > INT32_MAX ? INT32_MAX : (int64_t)*bytes;
        if (cubed_dtype_fixed(CUBED_RECORD, length, &dtype, NULL) != CUBED_OK)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: records of more than 65535 bytes are not supported", where);
    }
    return CUBED_OK;
}

cubed_status cb_record_check(const char *where, const json_t *fields, cubed_dtype *out,
                             cubed_error *err)
{
    size_t bytes;
    CB_TRY(check_fields(where, fields, 1, &bytes, err));
    return cubed_dtype_fixed(CUBED_RECORD, (int64_t)bytes, out, err);
}

cubed_status cb_record_parse(const char *where, const char *text, json_t **out, cubed_dtype *dtype,
                             cubed_error *err)
{
    CB_TRY(cb_json_parse(where, text, strlen(text), out, err));
    const cubed_status st = cb_record_check(where, *out, dtype, err);
    if (st != CUBED_OK) json_decref(*out);
    return st;
}

cb_field cb_record_field(const json_t *fields, size_t i, const cb_field *after)
{
    const json_t *item = json_array_get(fields, i), *type = json_array_get(item, 1);
    cb_field f = {.name = json_string_value(json_array_get(item, 0)),
                  .offset = after ? after->offset + cb_field_bytes(after) : 0,
                  .count = 1};
    /* Cannot fail, because the description has been checked. */
    bool ok = check_shape("", f.name, json_array_get(item, 2), &f, NULL) == CUBED_OK;
    if (json_is_array(type)) {
        f.fields = type;
        ok = ok && cb_record_check("", type, &f.dtype, NULL) == CUBED_OK;
    } else {
        ok = ok && cb_typestr_parse(json_string_value(type), &f.dtype, &f.big_endian);
    }
    (void)ok;
    return f;
}

bool cb_record_find(const json_t *fields, const char *name, cb_field *out)
{
    cb_field f;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        if (strcmp(f.name, name) != 0) continue;
        *out = f;
        return true;
    }
    return false;
}

bool cb_field_is_swapped(const cb_field *f)
{
    return !f->fields && cb_unit_size(f->dtype) > 1 &&
           f->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

void cb_record_add(json_t *out, const cb_field *f, json_t *type, bool *ok)
{
    json_t *item = json_array();
    cb_json_add(item, json_string(f->name), ok);
    cb_json_add(item, type, ok);
    if (f->ndim > 0) cb_json_add(item, cb_json_ints(f->ndim, f->shape), ok);
    cb_json_add(out, item, ok);
}

/* The recursion depth is at most CB_RECORD_DEPTH. */
void cb_record_spell(const json_t *fields, bool native, json_t *out, bool *ok)
{
    cb_field f;
    for (size_t i = 0; i < json_array_size(fields) && *ok; i++) {
        f = cb_record_field(fields, i, i ? &f : NULL);
        char text[CB_TYPESTR_CAP];
        json_t *type;
        if (f.fields) {
            type = json_array();
            cb_record_spell(f.fields, native, type, ok);
        } else {
            /* Succeeds, because the type was parsed from such a string. */
            *ok = cb_typestr_print(f.dtype, f.big_endian != (native && cb_field_is_swapped(&f)),
                                   text) &&
                  *ok;
            type = json_string(text);
        }
        cb_record_add(out, &f, type, ok);
    }
}

const char *cb_record_text(const json_t *fields, cb_zone *zone)
{
    json_t *same = json_array();
    cb_buf text;
    bool ok = true;
    cb_buf_init(&text, cb_zone_allocator(zone));
    cb_record_spell(fields, false, same, &ok);
    ok = ok && same && cb_json_dump(same, JSON_COMPACT, &text);
    const char *out = ok ? cb_zone_strdup(zone, text.data) : NULL;
    cb_buf_free(&text);
    json_decref(same);
    return out;
}
